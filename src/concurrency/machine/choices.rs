//! Unknown values, and the ways that a condition on them leaves open.
//!
//! In: a state and an unknown. Out: one way to go on; the others are kept, to be followed later from the beginning of the
//! step ([`Machine::transition`]).

use super::{ADDRESSES, Machine, Run, Stop};
use crate::concurrency::search::slicing::View;
use crate::concurrency::state::State;
use crate::concurrency::values::{Drawn, Source, Truth, Value};
use crate::ir::Ty;
use crate::symbolic::term::Term;

impl Machine<'_> {
    /// A new unknown.
    pub fn draw(&mut self, state: &mut State, thread: usize, width: u16) -> Value {
        if self.before.is_none() {
            self.before = Some(state.clone());
        }
        let number = state.thread(thread).drawn;
        state.thread_mut(thread).drawn += 1;
        let input = state.inputs;
        let thread = u32::try_from(thread).unwrap_or(0);
        let drawn = Drawn {
            source: Source::Thread { thread, number },
            width: width.max(1),
        };
        self.values.draw(drawn, input)
    }

    /// Decides a condition; where it is open the other way is followed later, from the step's beginning.
    pub fn decide(&mut self, state: &mut State, cond: Term) -> bool {
        let path = state.conditions();
        let truth = self.values.truth(&path, cond);
        let not = self.values.formula.terms.not(cond);
        match truth {
            Truth::Always => self.remember(state, cond),
            Truth::Never => self.remember(state, not),
            Truth::Open => {
                let mut other = self.restarted(state);
                other.path.push_back(not);
                self.forks.push(other);
                state.path.push_back(cond);
            }
        }
        truth != Truth::Never
    }

    /// Where the input is given, what follows from it is a condition of the path all the same (CBUGS §3.4: `pre`).
    fn remember(&self, state: &mut State, cond: Term) {
        let constant = self.values.formula.terms.as_const(cond).is_some();
        if self.sequential && !constant && !state.path.contains(&cond) {
            state.path.push_back(cond);
        }
    }

    /// A copy of a state in which the step being taken is to be begun again.
    fn restarted(&self, state: &State) -> State {
        let (thread, permit) = self.stepping;
        let mut other = match &self.before {
            Some(before) => {
                let mut other = before.clone();
                other.path = state.path.clone();
                other
            }
            None => state.clone(),
        };
        if other.thread(thread).permit != permit {
            other.thread_mut(thread).permit = permit;
        }
        other
    }

    /// One of so many ways to go on, which are all followed.
    pub fn pick(&mut self, state: &mut State, thread: usize, count: usize) -> usize {
        if let Some(picked) = state.thread(thread).picked {
            state.thread_mut(thread).picked = None;
            return picked;
        }
        for way in 1..count {
            let mut other = self.restarted(state);
            other.thread_mut(thread).picked = Some(way);
            self.forks.push(other);
        }
        0
    }

    /// Whether a scalar is not 0.
    pub fn truth(&mut self, state: &mut State, value: Value, ty: Ty) -> bool {
        match value {
            Value::Bits(bits) => bits != 0,
            Value::Term(_) => {
                let cond = self.values.holds(value, ty);
                self.decide(state, cond)
            }
        }
    }

    /// Follows only executions in which a scalar is not 0.
    pub fn assume(&mut self, state: &mut State, value: Value, ty: Ty) -> Run<()> {
        match value {
            Value::Bits(0) => Err(Stop::Over),
            Value::Bits(_) => Ok(()),
            Value::Term(_) => {
                let cond = self.values.holds(value, ty);
                let path = state.conditions();
                match self.values.truth(&path, cond) {
                    Truth::Always => {
                        self.remember(state, cond);
                        Ok(())
                    }
                    Truth::Never => Err(Stop::Over),
                    Truth::Open => {
                        state.path.push_back(cond);
                        Ok(())
                    }
                }
            }
        }
    }

    /// A number for a value; the other numbers it may be are followed later, a few of them.
    pub fn concrete(&mut self, state: &mut State, value: Value, width: u16) -> Run<u128> {
        if let Value::Bits(bits) = value {
            return Ok(bits);
        }
        if self.view.as_ref().is_some_and(View::is_over) {
            // It may be any address, where a read may give any value.
            return Err(Stop::Cut("an unknown address".to_owned()));
        }
        if self.program.open {
            return self.one_number(state, value, width);
        }
        for _ in 0..ADDRESSES {
            let path = state.conditions();
            let Some(number) = self.values.example(&path, value) else {
                return Err(Stop::Over);
            };
            let same = self.values.is(value, width, number);
            if self.decide(state, same) {
                return Ok(number);
            }
        }
        Err(Stop::Cut("an address has many values".to_owned()))
    }

    /// In an open program one number for a value, and one element of an array: what is told of the others would be the same most often.
    fn one_number(&mut self, state: &mut State, value: Value, width: u16) -> Run<u128> {
        let path = state.conditions();
        if let Some(first) = self.first_element(state, value) {
            let number = u128::from(first);
            let same = self.values.is(value, width, number);
            if self.values.truth(&path, same) != Truth::Never {
                state.path.push_back(same);
                return Ok(number);
            }
        }
        let number = self.values.example(&path, value).ok_or(Stop::Over)?;
        let same = self.values.is(value, width, number);
        state.path.push_back(same);
        Ok(number)
    }

    pub fn address(&mut self, state: &mut State, value: Value) -> Run<u64> {
        let value = match self.program.open {
            true => self.followed(state, value)?,
            false => value,
        };
        let bits = self.concrete(state, value, 64)?;
        Ok((bits & u128::from(u64::MAX)) as u64)
    }
}
