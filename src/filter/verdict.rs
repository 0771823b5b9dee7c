//! What the filters say of each failure of a function.
//!
//! In: a [`View`] and the number of a check. Out: the filters that report its failure, and the specification under which it is none.
//!
//! Small functions are looked at as a whole (ACSpec Algorithm 1), for inputs as they usually are: no block is gone on entry, and different
//! pointers lead to different objects, as long as that leaves no code dead. In a larger one a failure is looked at by itself: if even the weakest
//! specification that blocks this failure alone makes code dead, then every almost-correct specification lets it fail.

use super::angelic::{self, Angelic, Vocabulary};
use super::clauses::{self, Clause};
use super::costs::{Costs, Stage};
use super::cover::{Cover, MAX_PREDICATES};
use super::predicates::{Atom, Configuration, predicates};
use super::specs::{self, Inconsistency};
use super::view::{Check, Event, View};
use super::words;
use crate::finding::{Filter, Filtered};
use crate::sat::oracle::{Oracle, OutOfBudget};
use crate::symbolic::guard::{Cond, Guard};
use crate::symbolic::term::Node;

/// Nodes of a guard without the conditions that are no predicates.
const MAX_PROJECTED: usize = 2_000;

const INCONSISTENT: [(Filter, Configuration); 3] = [
    (Filter::Conc, Configuration::CONC),
    (Filter::A1, Configuration::A1),
    (Filter::A2, Configuration::A2),
];

/// A function's failures before the filters.
pub struct Filters<'v> {
    view: &'v View,
    /// Literals that the clauses of a specification may have (PruneClauses for `k`); `None`: any number.
    most: Option<u32>,
    /// For each configuration what the whole function says, once it was asked.
    whole: Vec<(Configuration, Result<Whole, OutOfBudget>)>,
    angelic: Option<Result<Angelic, OutOfBudget>>,
    pub costs: Costs,
}

/// What Algorithm 1 says of a function, with its predicates.
#[derive(Clone)]
pub struct Whole {
    pub predicates: Vec<Cond>,
    pub answer: Inconsistency,
    /// The cover itself: under what no check fails at all.
    pub correct: Vec<Clause>,
}

impl<'v> Filters<'v> {
    pub fn new(view: &'v View, most: Option<u32>) -> Filters<'v> {
        Filters {
            view,
            most,
            whole: Vec::new(),
            angelic: None,
            costs: Costs::default(),
        }
    }

    /// What the filters say of a check's failure. One that is not proved to contradict the code within the budget is not reported by a filter.
    pub fn of(&mut self, oracle: &mut Oracle<'_>, check: usize) -> Filtered {
        let mut reported_by = Vec::new();
        let mut specification = None;
        for (filter, configuration) in INCONSISTENT {
            match self.inconsistent(oracle, configuration, check) {
                (true, _) => {
                    reported_by.push(filter);
                    break;
                }
                (false, told) => specification = specification.or(told),
            }
        }
        match self.angelic(oracle) {
            Ok(angelic) if angelic.warnings.contains(&check) => {
                reported_by.push(Filter::Angelic);
            }
            Ok(angelic) => {
                let blocking = angelic.specification.iter().filter(|(at, _)| *at == check);
                let blocking: Vec<_> = blocking.map(|(_, literals)| literals.clone()).collect();
                specification = specification.or_else(|| self::blocking(oracle, &blocking));
            }
            Err(OutOfBudget) => {}
        }
        reported_by.push(Filter::Demonic);
        Filtered {
            reported_by,
            specification,
        }
    }

    /// Whether a check fails under some almost-correct specification; if not, what excludes it.
    fn inconsistent(
        &mut self,
        oracle: &mut Oracle<'_>,
        configuration: Configuration,
        check: usize,
    ) -> (bool, Option<String>) {
        // What is done to an object, or lost at the end, is looked at by itself: that there is an object is for no specification to say.
        let about_object = !self.view.checks[check].exists.is_empty();
        if !about_object && let Ok(whole) = self.whole(oracle, configuration) {
            // A pointer may be null for one of several reasons: a specification that excludes one of them leaves the others.
            let failures = &whole.answer.failures;
            let fails = as_in_source(self.view, check)
                .iter()
                .any(|check| failures.contains(check));
            let specification = whole.answer.specifications.first().cloned();
            let told = specification.unwrap_or_default();
            let told = words::specification(oracle, &whole.predicates, &told);
            // Here code counts as reached by paths that are cut off at a loop's limit, too. On the paths that return it may be dead.
            let by_itself = matches!(self.view.checks[check].event, Event::Operation(_));
            let fails = fails || by_itself && self.alone(oracle, configuration, check).0;
            return (fails, words::is_told(&told).then_some(told));
        }
        // What the whole function has taken does not count.
        oracle.renew();
        self.alone(oracle, configuration, check)
    }

    /// Whether a check fails, looked at by itself; if that is not proved, what excludes it.
    fn alone(
        &mut self,
        oracle: &mut Oracle<'_>,
        configuration: Configuration,
        check: usize,
    ) -> (bool, Option<String>) {
        let stage = Stage::Inconsistency(configuration);
        let work = || alone(self.view, oracle, configuration, check);
        let (fails, specification) = self.costs.measure(stage, work);
        if fails.is_err() {
            self.costs.of(stage).undecided += 1;
        }
        (fails.unwrap_or(false), specification)
    }

    /// Algorithm 1 on the whole function.
    pub fn whole(
        &mut self,
        oracle: &mut Oracle<'_>,
        configuration: Configuration,
    ) -> Result<Whole, OutOfBudget> {
        let mut known = self.whole.iter();
        if let Some((_, known)) = known.find(|(of, _)| *of == configuration) {
            return known.clone();
        }
        let stage = Stage::Inconsistency(configuration);
        let work = || whole(self.view, oracle, configuration, self.most);
        let answer = self.costs.measure(stage, work);
        if let Ok(whole) = &answer {
            let cost = self.costs.of(stage);
            cost.cover = Some((whole.predicates.len(), whole.correct.len()));
        }
        self.whole.push((configuration, answer.clone()));
        answer
    }

    pub fn angelic(&mut self, oracle: &mut Oracle<'_>) -> Result<Angelic, OutOfBudget> {
        let view = self.view;
        let known = self.angelic.get_or_insert_with(|| {
            let verify = || angelic::verify(view, oracle, Vocabulary::DEFAULT);
            let answer = self.costs.measure(Stage::Angelic, verify);
            if answer.is_err() {
                self.costs.of(Stage::Angelic).undecided += 1;
            }
            answer
        });
        known.clone()
    }
}

fn whole(
    view: &View,
    oracle: &mut Oracle<'_>,
    configuration: Configuration,
    most: Option<u32>,
) -> Result<Whole, OutOfBudget> {
    if !view.in_order {
        return Err(OutOfBudget);
    }
    let mut checks: Vec<usize> = (0..view.checks.len()).collect();
    checks.retain(|&check| !matches!(view.checks[check].event, Event::Exit(_)));
    let mut predicates = predicates(view, oracle, configuration, &checks);
    let mut inputs = view.axioms;
    let usual = usual_on_entry(oracle, &predicates);
    let environment = oracle.formula.guards.cube(&usual);
    let environment = oracle.formula.guards.and(environment, view.axioms);
    let goes_without_saying = kills_nothing(view, oracle, environment)?;
    if goes_without_saying {
        inputs = environment;
        predicates.retain(|predicate| !usual.iter().any(|(known, _)| known == predicate));
    }
    let cover = Cover::of(view, oracle, (inputs, predicates), &checks)?;
    let mut whole = Whole {
        answer: specs::find(&cover, most)?,
        correct: specs::correct(&cover),
        predicates: cover.predicates,
    };
    if goes_without_saying {
        whole.add(&usual);
    }
    Ok(whole)
}

impl Whole {
    /// Adds conditions to all specifications.
    fn add(&mut self, conditions: &[(Cond, bool)]) {
        for &(condition, holds) in conditions {
            let number = self.predicates.len();
            if number >= u32::BITS as usize {
                return;
            }
            let bit = 1u32 << number;
            let clause = match holds {
                true => Clause {
                    holds: bit,
                    fails: 0,
                },
                false => Clause {
                    holds: 0,
                    fails: bit,
                },
            };
            self.predicates.push(condition);
            let specifications = self.answer.specifications.iter_mut();
            for clauses in specifications.chain([&mut self.correct]) {
                // What excludes all inputs needs no more.
                if clauses.iter().all(|clause| clause.len() > 0) {
                    clauses.push(clause.clone());
                }
            }
        }
    }
}

/// Whether all locations that some input reaches are reached by these.
fn kills_nothing(view: &View, oracle: &mut Oracle<'_>, inputs: Guard) -> Result<bool, OutOfBudget> {
    for location in &view.locations {
        let left = oracle.formula.guards.and(location.reach, inputs);
        if left != location.reach
            && oracle.solve(left)?.is_none()
            && oracle.solve(location.reach)?.is_some()
        {
            return Ok(false);
        }
    }
    Ok(true)
}

/// Whether the weakest specification that blocks one check alone makes code dead; if that is not proved, that specification. What is lost at the
/// end on one path is looked at with what else is lost, too: code that is come to by both is dead only if both are excluded.
fn alone(
    view: &View,
    oracle: &mut Oracle<'_>,
    configuration: Configuration,
    check: usize,
) -> (Result<bool, OutOfBudget>, Option<String>) {
    let checks = as_in_source(view, check);
    let (excluded, usual) = blocked(view, oracle, configuration, &checks);
    if excluded == Guard::TRUE {
        return (Ok(true), None);
    }
    let mut environment = oracle.formula.guards.cube(&usual);
    let mut environments = vec![environment];
    if matches!(
        view.checks[check].event,
        Event::Exit(_) | Event::Operation(_)
    ) {
        // Of paths that were cut off at a loop's limit nothing is known, and that a callee ends the program is nothing to count on.
        environment = oracle.formula.guards.and(environment, view.returns);
        environments.push(environment);
    }
    let others = other_losses(view, &checks);
    if !others.is_empty() {
        let (lost, usual) = blocked(view, oracle, configuration, &others);
        let guards = &mut oracle.formula.guards;
        let usual = guards.cube(&usual);
        let environment = guards.and(environment, usual);
        environments.push(guards.and_not(environment, lost));
    }
    let mut answer = Ok(false);
    for environment in environments {
        match makes_code_dead(view, oracle, environment, excluded) {
            Ok(true) => return (Ok(true), None),
            Ok(false) => {}
            Err(OutOfBudget) => answer = Err(OutOfBudget),
        }
    }
    (answer, told(oracle, excluded))
}

/// Where any of these checks fails, over the predicates of a configuration, and what goes without saying of the inputs.
fn blocked(
    view: &View,
    oracle: &mut Oracle<'_>,
    configuration: Configuration,
    checks: &[usize],
) -> (Guard, Vec<(Cond, bool)>) {
    let mut failing = Guard::FALSE;
    for &check in checks {
        let check = &view.checks[check];
        let fails = match check.event {
            // A second operation on an object that is in error is no other mistake.
            Event::Operation(_) => view.failing(check),
            // The code behind earlier failures counts as reached, so that what fails behind them counts, too.
            _ => check.alone,
        };
        failing = oracle.formula.guards.or(failing, fails);
    }
    let asked = oracle.formula.guards.support(failing).to_vec();
    let usual = usual_on_entry(oracle, &asked);
    let mut excluded = oracle.formula.guards.restrict(failing, &usual);
    let kept = predicates(view, oracle, configuration, checks);
    for condition in oracle.formula.guards.support(excluded).to_vec() {
        // Where that is too large it stays: to exclude less can only make less code dead.
        if !kept.contains(&condition)
            && let Some(projected) = without(oracle, excluded, condition)
        {
            excluded = projected;
        }
    }
    (excluded, usual)
}

/// Whether some code that is reached in an environment is not without what is excluded. It is an error if no code is proved to be dead, and the
/// budget ended before all of it was proved not to be.
fn makes_code_dead(
    view: &View,
    oracle: &mut Oracle<'_>,
    environment: Guard,
    excluded: Guard,
) -> Result<bool, OutOfBudget> {
    // The simplest first, before the budget ends.
    let mut reached: Vec<Guard> = view.locations.iter().map(|it| it.reach).collect();
    reached.sort_by_key(|&reach| oracle.formula.guards.support(reach).len());
    let asked = oracle.formula.unknowns(&[excluded]);
    let mut answer = Ok(false);
    for reach in reached {
        if oracle.formula.unknowns(&[reach]).is_disjoint(&asked) {
            continue;
        }
        let guards = &mut oracle.formula.guards;
        let usual = guards.and(reach, environment);
        let left = guards.and_not(usual, excluded);
        if left == usual {
            continue;
        }
        match oracle.solve(left) {
            Ok(Some(_)) => {}
            Ok(None) => match oracle.solve(usual) {
                Ok(Some(_)) => return Ok(true),
                Ok(None) => {}
                Err(OutOfBudget) => answer = Err(OutOfBudget),
            },
            Err(OutOfBudget) => answer = Err(OutOfBudget),
        }
    }
    answer
}

/// What else is lost at the end, if that is what these checks are about.
fn other_losses(view: &View, checks: &[usize]) -> Vec<usize> {
    let is_loss = |check: usize| matches!(view.checks[check].event, Event::Exit(_));
    if !checks.iter().all(|&check| is_loss(check)) {
        return Vec::new();
    }
    let others = (0..view.checks.len()).filter(|&check| is_loss(check));
    others.filter(|check| !checks.contains(check)).collect()
}

/// The check, and those that are one statement of the source with it: for what is lost at the end, the same place in other rounds of a loop;
/// for an access, the other pointers that its address may be, there or in other rounds. A specification that excludes one of them alone would
/// leave no code dead only because the code is come to by the other.
fn as_in_source(view: &View, check: usize) -> Vec<usize> {
    let this = &view.checks[check];
    let alike = |other: &Check| match this.event {
        Event::Exit(_) => matches!(other.event, Event::Exit(_)) && other.text == this.text,
        Event::Use(_) => {
            let mut followed = other.followed.iter();
            followed.any(|followed| this.followed.contains(followed))
        }
        Event::Operation(_) | Event::Assertion(_) => false,
    };
    let checks = view.checks.iter().enumerate();
    let checks =
        checks.filter(|(index, other)| *index == check || other.site == this.site && alike(other));
    checks.map(|(index, _)| index).collect()
}

/// The guard for one of a condition's two values, or the other.
fn without(oracle: &mut Oracle<'_>, guard: Guard, condition: Cond) -> Option<Guard> {
    let guards = &mut oracle.formula.guards;
    let [with, without] = [true, false].map(|holds| {
        let left = guards.restrict(guard, &[(condition, holds)]);
        guards.not(left)
    });
    let neither = guards.try_and(with, without, MAX_PROJECTED)?;
    Some(guards.not(neither))
}

/// What goes without saying of the inputs: no block was gone on entry, and different pointers lead to different objects.
fn usual_on_entry(oracle: &Oracle<'_>, conditions: &[Cond]) -> Vec<(Cond, bool)> {
    let unusual = |condition: &Cond| {
        let known_address = || {
            let terms = &oracle.formula.terms;
            let args = match terms.node(oracle.formula.cond_term(*condition)) {
                Node::Op { args, .. } => args.as_slice(),
                _ => &[],
            };
            args.iter().any(|&arg| terms.as_const(arg).is_some())
        };
        match Atom::of(oracle, *condition) {
            Atom::State => true,
            Atom::Alias => !known_address(),
            _ => false,
        }
    };
    let unusual = conditions
        .iter()
        .filter(|condition| unusual(condition) && !oracle.own_conditions.contains_key(condition));
    unusual.map(|&condition| (condition, false)).collect()
}

/// That a guard does not hold, in words, if it is small.
fn told(oracle: &mut Oracle<'_>, excluded: Guard) -> Option<String> {
    let conditions = oracle.formula.guards.support(excluded).to_vec();
    if conditions.len() > MAX_PREDICATES {
        return None;
    }
    let valuations = (0..1u32 << conditions.len()).filter(|valuation| {
        let holds = |condition: Cond| {
            let number = conditions.iter().position(|known| *known == condition);
            number.is_some_and(|number| valuation >> number & 1 == 1)
        };
        oracle.formula.guards.eval(excluded, &mut { holds })
    });
    let maximal = valuations.map(|valuation| Clause::excluding(valuation, conditions.len()));
    let clauses = clauses::normalize(maximal.collect::<Vec<_>>());
    let text = words::specification(oracle, &conditions, &clauses);
    words::is_told(&text).then_some(text)
}

/// What blocks failing traces, in words.
fn blocking(oracle: &mut Oracle<'_>, clauses: &[angelic::Disjunction]) -> Option<String> {
    let mut parts: Vec<String> = Vec::new();
    for clause in clauses {
        let literals: Vec<String> = clause
            .iter()
            .map(|&(condition, holds)| words::condition(oracle, condition, holds))
            .collect();
        let text = literals.join(" || ");
        if !parts.contains(&text) {
            parts.push(text);
        }
    }
    let text = parts.join(" && ");
    (!text.is_empty() && words::is_told(&text)).then_some(text)
}
