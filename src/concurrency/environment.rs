//! The memory of an open program: what was there before anything ran.
//!
//! In: an unknown pointer. Out: the object that it leads to, which is there from when it is first followed (the lazy environment of Xie and
//! Aiken, §3.1, for the machine). Different unknown pointers lead to different objects, and an unknown pointer that is followed is valid unless the path
//! says that it is null: a failure that rests on the input alone is one of a sequential order, too. What the object holds is unknown in turn.

use super::machine::{Machine, Run, Stop};
use super::memory::{Fill, Storage};
use super::state::State;
use super::values::{Truth, Value};
use crate::ir::{CmpOp, Ty};
use crate::symbolic::term::{Node, Op, Term, Var};

/// Bytes of an object before the place that pointers to it lead to: they may point into a record.
pub const BEFORE: u64 = 1 << 12;

/// The address that a pointer to the object of this number has.
pub fn object(number: u64, pointer: u8) -> u64 {
    let room = Room::of(pointer);
    room.first + number * room.apart + BEFORE
}

/// Most objects that can be told apart.
const OBJECTS: u64 = 1 << 13;

/// Where objects lie, how far apart, and how large they are.
struct Room {
    first: u64,
    apart: u64,
    size: u64,
}

impl Room {
    /// Where pointers have eight bytes, members of which no declaration is known have room, too ([`crate::ir::GUESSED_MEMBERS`]).
    fn of(pointer: u8) -> Room {
        match pointer {
            8 => Room {
                first: 1 << 44,
                apart: 1 << 32,
                size: 1 << 31,
            },
            _ => Room {
                first: 0x5000_0000,
                apart: 1 << 16,
                size: 3 << 14,
            },
        }
    }
}

impl Machine<'_> {
    /// The address that a pointer of the environment has, and those that are computed from it: its object is there from now on.
    pub fn followed(&mut self, state: &mut State, value: Value) -> Run<Value> {
        let Value::Term(mut term) = value else {
            return Ok(value);
        };
        while let Node::Op { op: Op::Ite, args } = self.values.formula.terms.node(term)
            && let &[cond, then, els] = args.as_slice()
        {
            term = match self.decide(state, cond) {
                true => then,
                false => els,
            };
        }
        let Some(var) = self.pointer_in(state, term) else {
            return Ok(self.values.value(term));
        };
        let addr = match state.bound.get(&var) {
            Some(addr) => *addr,
            None => self.bind(state, var)?,
        };
        Ok(self.values.placed(term, var, addr))
    }

    /// The address of an array's first element, for that of an unknown one: nearer than what the solver comes up with, and in the object.
    pub fn first_element(&self, state: &State, value: Value) -> Option<u64> {
        let Value::Term(term) = value else {
            return None;
        };
        let Node::Linear { constant, .. } = self.values.formula.terms.node(term) else {
            return None;
        };
        let addr = u64::try_from(*constant).ok()?;
        state.memory.object(addr).map(|_| addr)
    }

    /// Whether one is a pointer that was there before anything ran, and the other the address of what was made since.
    pub fn cannot_be_equal(&self, state: &State, one: Value, other: Value) -> bool {
        let (Value::Term(pointer), Value::Bits(addr)) = (match one {
            Value::Bits(_) => (other, one),
            Value::Term(_) => (one, other),
        }) else {
            return false;
        };
        let var = self.values.pointer_var(pointer);
        let was_there = var.is_some_and(|var| self.values.is_input(var));
        let Ok(addr) = u64::try_from(addr) else {
            return false;
        };
        let object = state.memory.object(addr);
        let made_since = object.is_some_and(|(_, object)| match object.storage {
            Storage::Static | Storage::Constant => false,
            Storage::Stack | Storage::Heap => !is_object(addr, self.program.pointer),
        });
        was_there && made_since
    }

    /// What is counted was not negative, and far from overflow: a value that an unknown one is changed to by a constant says so of the
    /// unknown one.
    pub fn counted(&mut self, state: &mut State, value: Value) -> Run<()> {
        let Value::Term(term) = value else {
            return Ok(());
        };
        let Node::Linear { constant, terms } = self.values.formula.terms.node(term) else {
            return Ok(());
        };
        let (true, &[(1, counted)]) = (*constant != 0, terms.as_slice()) else {
            return Ok(());
        };
        let bits = self.values.formula.terms.width(counted);
        let ty = Ty::Int {
            bits,
            signed: false,
        };
        let most = Value::Bits(1 << bits.saturating_sub(2));
        match self
            .values
            .compare(CmpOp::Lt, ty, Value::Term(counted), most)
        {
            Some(holds) => self.assume(state, holds, Ty::INT),
            None => Ok(()),
        }
    }

    /// The pointer that an address is computed from: of several unknowns that are added, one that leads to an object already.
    fn pointer_in(&self, state: &State, term: Term) -> Option<Var> {
        let parts: Vec<Term> = match self.values.formula.terms.node(term) {
            Node::Linear { terms, .. } => {
                let single = terms.iter().filter(|(by, _)| *by == 1);
                single.map(|(_, part)| *part).collect()
            }
            _ => vec![term],
        };
        let vars = parts
            .iter()
            .filter_map(|part| self.values.pointer_var(*part));
        let vars: Vec<Var> = vars.collect();
        let known = vars.iter().find(|var| state.bound.contains_key(*var));
        known.or(vars.first()).copied()
    }

    /// Gives an unknown pointer its object.
    fn bind(&mut self, state: &mut State, var: Var) -> Run<u64> {
        let pointer = self.program.pointer;
        let width = u16::from(pointer) * 8;
        let addr = self.values.object_of(var);
        let value = Value::Term(self.values.formula.terms.var_term(var));
        let own = self.values.is(value, width, u128::from(addr));
        let path = state.conditions();
        let found = match self.values.truth(&path, own) {
            Truth::Never => {
                // The path says what else it is: null, or equal to another pointer.
                let known = self.values.example(&path, value).ok_or(Stop::Over)?;
                let known = u64::try_from(known).map_err(|_| Stop::Over)?;
                let is_known = known == 0 || state.memory.object(known).is_some();
                let same = self.values.is(value, width, u128::from(known));
                if !is_known || !self.decide(state, same) {
                    return Err(Stop::Over);
                }
                known
            }
            Truth::Always => addr,
            Truth::Open => {
                state.path.push_back(own);
                addr
            }
        };
        if found == addr && state.memory.object(addr).is_none() {
            let (base, size) = (addr - BEFORE, Room::of(pointer).size);
            state
                .memory
                .place(base, size, Storage::Heap, Fill::Environment);
        }
        state.bound.insert(var, found);
        Ok(found)
    }
}

/// Whether an address lies in an object of the environment.
pub fn is_object(addr: u64, pointer: u8) -> bool {
    let room = Room::of(pointer);
    (room.first..room.first + room.apart * OBJECTS).contains(&addr)
}
