//! Unknowns that nothing reads any more are taken out of the path's conditions, so that a loop on unknown values comes back to a state
//! that is known.
//!
//! In: a state. Out: the state with conditions on what is still read, and on inputs, alone: they hold exactly if the conditions before did
//! for some values of the other unknowns. The conditions that were taken out are kept apart ([`State::past`]), for an execution's values.

use rustc_hash::FxHashSet;

use super::Machine;
use crate::concurrency::state::State;
use crate::symbolic::term::{Node, Op, Term, Var, mask};

/// Conditions on one unknown that are looked at.
const CONDITIONS: usize = 8;

impl Machine<'_> {
    /// Takes out what says nothing of inputs and of what the future may read.
    pub(super) fn put_aside(&mut self, state: &mut State) {
        if state.path.is_empty() {
            return;
        }
        let mut live: FxHashSet<Var> = FxHashSet::default();
        let terms = state.terms(self.program);
        self.takes((terms.len() + state.path.len()) as u64);
        for term in terms {
            live.extend(self.values.vars(term).iter());
        }
        self.drop_unconnected(state, live.clone());
        self.project(state, &live);
    }

    /// Drops the conditions that share no unknown with what is live, not by way of others either.
    fn drop_unconnected(&mut self, state: &mut State, mut live: FxHashSet<Var>) {
        let mut open: Vec<Term> = state.conditions();
        let mut kept: FxHashSet<Term> = FxHashSet::default();
        loop {
            let before = open.len();
            open.retain(|cond| {
                let vars = self.values.vars(*cond);
                let bears = vars
                    .iter()
                    .any(|var| self.values.is_input(*var) || live.contains(var));
                if bears {
                    live.extend(vars.iter());
                    kept.insert(*cond);
                }
                !bears
            });
            if open.len() == before {
                break;
            }
        }
        if !open.is_empty() {
            state.path.retain(|cond| kept.contains(cond));
            state.past.extend(open);
        }
    }

    /// Takes unknowns out of conditions that are on what is live, too, where that can be said without a quantifier.
    fn project(&mut self, state: &mut State, live: &FxHashSet<Var>) {
        let mut gone: Vec<Var> = Vec::new();
        for cond in &state.path {
            let vars = self.values.vars(*cond);
            let read = |var: &&Var| !live.contains(*var) && !self.values.is_input(**var);
            gone.extend(vars.iter().filter(read));
        }
        gone.sort_unstable();
        gone.dedup();
        for var in gone {
            let mentions =
                |machine: &mut Self, cond: Term| machine.values.vars(cond).contains(&var);
            let path = state.conditions();
            let (own, rest): (Vec<Term>, Vec<Term>) =
                path.into_iter().partition(|cond| mentions(self, *cond));
            if own.is_empty() || own.len() > CONDITIONS {
                continue;
            }
            let Some(without) = self.without(var, &own) else {
                continue;
            };
            state.past.extend(own);
            state.path = rest.into_iter().collect();
            for cond in without {
                if cond != Term::TRUE && !state.path.contains(&cond) {
                    state.path.push_back(cond);
                }
            }
        }
    }

    /// Conditions that hold exactly if some value of an unknown makes these hold.
    fn without(&mut self, var: Var, conds: &[Term]) -> Option<Vec<Term>> {
        let own = self.values.formula.terms.var_term(var);
        if let Some((at, value)) = conds.iter().enumerate().find_map(|(at, cond)| {
            let value = self.equal_to(*cond, own)?;
            (!self.values.vars(value).contains(&var)).then_some((at, value))
        }) {
            // The value is known: it stands for the unknown.
            let others = conds.iter().enumerate().filter(|(other, _)| *other != at);
            let others: Vec<Term> = others.map(|(_, cond)| *cond).collect();
            return self.replaced(var, &others, value);
        }
        let width = self.values.formula.terms.var_width(var);
        let values = 1_u128.checked_shl(u32::from(width)).unwrap_or(u128::MAX);
        let differs = |cond: &Term| {
            let negation = self.values.formula.terms.node(*cond);
            let Node::Op { op: Op::Not, args } = negation else {
                return None;
            };
            self.equal_to(args[0], own)
        };
        let excluded: Option<Vec<Term>> = conds.iter().map(differs).collect();
        if let Some(excluded) = excluded
            && (excluded.len() as u128) < values
            && !excluded
                .iter()
                .any(|value| self.values.vars(*value).contains(&var))
        {
            // There are more values than those that it must not have.
            return Some(Vec::new());
        }
        let highest = mask(width) >> 1;
        let mut examples = [0, mask(width), highest, highest + 1].into_iter();
        let satisfied = examples.any(|value| {
            let value = self.values.formula.terms.constant(value, width);
            let conds = self.replaced(var, conds, value);
            conds.is_some_and(|conds| conds.iter().all(|cond| *cond == Term::TRUE))
        });
        satisfied.then(Vec::new)
    }

    /// What a condition says that a term is equal to.
    fn equal_to(&self, cond: Term, term: Term) -> Option<Term> {
        let terms = &self.values.formula.terms;
        match terms.node(cond) {
            Node::Op { op: Op::Eq, args } if args[0] == term => Some(args[1]),
            Node::Op { op: Op::Eq, args } if args[1] == term => Some(args[0]),
            // A truth value that holds, or does not.
            Node::Op { op: Op::Not, args } if args[0] == term => Some(Term::FALSE),
            _ => (cond == term).then_some(Term::TRUE),
        }
    }

    /// Conditions with a value for an unknown; `None` if one of them still mentions it.
    fn replaced(&mut self, var: Var, conds: &[Term], value: Term) -> Option<Vec<Term>> {
        let mut known = [(self.values.formula.terms.var_term(var), value)]
            .into_iter()
            .collect();
        let mut replaced = Vec::with_capacity(conds.len());
        for cond in conds {
            let cond = self.values.replaced(*cond, &mut known);
            if self.values.vars(cond).contains(&var) {
                return None;
            }
            replaced.push(cond);
        }
        Some(replaced)
    }
}
