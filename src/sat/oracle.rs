//! What judges, inference and filters may ask of an execution: whether some run takes these paths, and which.
//!
//! In: an execution's [`Arena`], which the oracle dereferences to, and guards. Out: models. Each guard is answered once, within one
//! budget for the function.

use std::ops::{Deref, DerefMut};
use std::rc::Rc;

use rustc_hash::FxHashMap;

use super::{Budget, Outcome, Session};
use crate::symbolic::arena::Arena;
use crate::symbolic::execution::Execution;
use crate::symbolic::guard::{Cond, Guard};
use crate::symbolic::model::Model;
use crate::symbolic::state::Object;
use crate::symbolic::term::Term;

/// Clauses learned for one query: what decides a lock's state is simple, or hopeless.
const QUERY_EFFORT: u64 = 100;
const QUERY_CLAUSES: usize = 12_000;
/// Runs that are tried before all paths of which a callee's effect is not known are left out at once.
const MAX_RUNS: usize = 8;

pub struct Oracle<'a> {
    arena: Arena<'a>,
    known: FxHashMap<Guard, Answer>,
    /// By condition and its value, [`Arena::impossible`].
    impossible: FxHashMap<(Cond, bool), Rc<[Guard]>>,
    session: Session,
    work: u64,
}

/// A question was left open.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OutOfBudget;

/// What is known about a guard.
#[derive(Clone)]
enum Answer {
    Possible(Rc<Model>),
    Impossible,
    /// The budget ended first.
    Unknown,
}

impl<'a> Deref for Oracle<'a> {
    type Target = Arena<'a>;

    fn deref(&self) -> &Arena<'a> {
        &self.arena
    }
}

impl<'a> DerefMut for Oracle<'a> {
    fn deref_mut(&mut self) -> &mut Arena<'a> {
        &mut self.arena
    }
}

impl<'a> Oracle<'a> {
    /// `work`: clauses given to the solver in all, see [`Budget::work`].
    pub fn new(arena: Arena<'a>, work: u64) -> Self {
        Oracle {
            arena,
            known: FxHashMap::default(),
            impossible: FxHashMap::default(),
            session: Session::new(Budget {
                effort: QUERY_EFFORT,
                clauses: QUERY_CLAUSES,
                work,
            }),
            work,
        }
    }

    /// An execution that satisfies the guard; `None` if there is none, or the budget ends first.
    pub fn model(&mut self, guard: Guard) -> Option<Rc<Model>> {
        match self.ask(guard) {
            Answer::Possible(model) => Some(model),
            Answer::Impossible | Answer::Unknown => None,
        }
    }

    /// A run that takes these paths, on which all effects of callees on an object are known: of those that are found first, one on which they are.
    pub fn run_of_known_effect(
        &mut self,
        execution: &Execution,
        object: Object,
        paths: Guard,
    ) -> Option<Rc<Model>> {
        let open = execution.open.of(object);
        let mut paths = self.formula.guards.and_not(paths, open);
        for _ in 0..MAX_RUNS {
            let run = self.model(paths)?;
            let Some(unknown) = execution.unknown_effect.taken(&self.formula, &run) else {
                return Some(run);
            };
            paths = self.formula.guards.and_not(paths, unknown);
        }
        let paths = execution.with_known_effect(self, object, paths);
        self.model(paths)
    }

    /// Whether some execution satisfies the guard. When the budget ends first: taken as possible.
    pub fn possible(&mut self, guard: Guard) -> bool {
        !matches!(self.ask(guard), Answer::Impossible)
    }

    /// The next questions leave a quarter of the budget.
    pub fn reserve_for_findings(&mut self) {
        self.session.reserve(self.work / 4);
    }

    /// The whole budget is there again; what was left open may be asked again.
    pub fn release_reserved(&mut self) {
        self.session.reserve(0);
        self.forget_unknown();
    }

    /// Leaves the whole budget for the questions to come, whatever was spent before: what one judge asks must not take away what another
    /// finds. What was left open may be asked again.
    pub fn renew(&mut self) {
        self.session.renew(self.work);
        self.forget_unknown();
    }

    fn forget_unknown(&mut self) {
        self.known
            .retain(|_, answer| !matches!(answer, Answer::Unknown));
    }

    /// The questions that were asked, and those among them that the solver was needed for.
    pub fn asked(&self) -> (u64, u64) {
        let queries = &self.session.queries;
        (queries.total(), queries.solved)
    }

    fn ask(&mut self, guard: Guard) -> Answer {
        if guard == Guard::FALSE {
            return Answer::Impossible;
        }
        self.formula.reserve_names();
        if let Some(known) = self.known.get(&guard) {
            return known.clone();
        }
        let mut paths = guard;
        let answer = loop {
            match self.session.check(&mut self.arena.formula, &[paths], &[]) {
                Outcome::Sat(model) => {
                    let possible = self.without_impossible(paths);
                    if possible == paths {
                        break Answer::Possible(model);
                    }
                    paths = possible;
                    self.charge_round(paths);
                    if self.session.spent() {
                        break Answer::Unknown;
                    }
                }
                Outcome::Unsat => break Answer::Impossible,
                Outcome::Unknown => break Answer::Unknown,
            }
        };
        self.known.insert(guard, answer.clone());
        answer
    }

    /// Values of the unknowns for which the guard holds, whether or not its paths follow a null pointer somewhere. The error says that the
    /// budget has ended.
    pub fn solve(&mut self, guard: Guard) -> Result<Option<Rc<Model>>, OutOfBudget> {
        // Guards that were made since mean nothing.
        if self.arena.formula.exhausted().is_some() {
            return Err(OutOfBudget);
        }
        if guard == Guard::FALSE {
            return Ok(None);
        }
        match self.session.check(&mut self.arena.formula, &[guard], &[]) {
            Outcome::Sat(model) => Ok(Some(model)),
            Outcome::Unsat => Ok(None),
            Outcome::Unknown => Err(OutOfBudget),
        }
    }

    /// An execution that satisfies the guard, on whose paths a pointer is followed that is null: that this is impossible is not assumed.
    pub fn model_of_null(&mut self, guard: Guard, pointer: Option<Term>) -> Option<Rc<Model>> {
        self.model_of_nulls(guard, pointer.as_slice())
            .ok()
            .flatten()
    }

    /// Whether an execution satisfies the guard, be these pointers followed where they are null or not.
    pub fn possible_for_nulls(&mut self, guard: Guard, pointers: &[Term]) -> bool {
        !matches!(self.model_of_nulls(guard, pointers), Ok(None))
    }

    fn model_of_nulls(
        &mut self,
        guard: Guard,
        pointers: &[Term],
    ) -> Result<Option<Rc<Model>>, OutOfBudget> {
        let mut paths = guard;
        while paths != Guard::FALSE {
            let model = match self.session.check(&mut self.arena.formula, &[paths], &[]) {
                Outcome::Sat(model) => model,
                Outcome::Unsat => return Ok(None),
                Outcome::Unknown => return Err(OutOfBudget),
            };
            let support = self.arena.formula.guards.support(paths).to_vec();
            let of_others = |arena: &Arena<'_>, condition: Cond| {
                let literal = arena.formula.guards.literal(condition, true);
                let compared = arena.compared_with_null(literal);
                !pointers.iter().any(|pointer| compared.contains(pointer))
            };
            let mut possible = paths;
            for condition in support {
                if of_others(&self.arena, condition) {
                    possible = self.without_impossible_of(possible, condition);
                }
            }
            if possible == paths {
                return Ok(Some(model));
            }
            paths = possible;
            self.charge_round(paths);
        }
        Ok(None)
    }

    /// Counts as work that a model was impossible and another one is looked for: each condition of the guard is asked about. The solver may
    /// not be needed for any of these models, and there may be very many.
    fn charge_round(&mut self, guard: Guard) {
        let conditions = self.arena.formula.guards.support(guard).len();
        self.session.charge(conditions as u64);
    }

    /// A guard without the impossible paths of which the model just found has one. There are few such models:
    /// to take all impossible paths out of every guard would cost more.
    fn without_impossible(&mut self, guard: Guard) -> Guard {
        let support = self.arena.formula.guards.support(guard).to_vec();
        support.into_iter().fold(guard, |guard, condition| {
            self.without_impossible_of(guard, condition)
        })
    }

    /// The same for the paths that one condition makes impossible.
    fn without_impossible_of(&mut self, guard: Guard, condition: Cond) -> Guard {
        let Oracle {
            arena,
            impossible,
            session,
            ..
        } = self;
        let value = session.last_model_says(&arena.formula, condition);
        let impossible = impossible.entry((condition, value));
        let impossible = impossible.or_insert_with(|| arena.impossible(condition, value).into());
        impossible.iter().fold(guard, |guard, &paths| {
            match session.last_model_has(&arena.formula, paths) {
                true => arena.formula.guards.and_not(guard, paths),
                false => guard,
            }
        })
    }
}
