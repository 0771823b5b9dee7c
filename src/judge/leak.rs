//! The last pointer to an object goes, and nobody has ended its state: a block of memory that is never freed.
//!
//! In: the exit of an execution and its escapes. Out: one failure for each object that the function has got from a call, that is in such a
//! state when the function returns, and that nobody can find any more.

use rustc_hash::FxHashMap;

use super::explanation::callee::perhaps_ended;
use super::findings::{Failing, Findings, Place, possible_unchanged};
use super::{handed, lost_results};
use crate::finding::{ExplanationKind as Kind, TraceStep};
use crate::property::{Event, StateId, Target};
use crate::sat::oracle::Oracle;
use crate::summary::counted;
use crate::summary::elsewhere::known_elsewhere;
use crate::summary::infer::Exit;
use crate::summary::trace;
use crate::symbolic::arena::Arena;
use crate::symbolic::execution::Execution;
use crate::symbolic::guard::Guard;
use crate::symbolic::log::{Holder, LoopEvent, OpEvent};
use crate::symbolic::model::Model;
use crate::symbolic::origin::Origin;
use crate::symbolic::region::{RegionId, RegionKind, SymbolicOffset};
use crate::symbolic::state::{MachineId, Object, Status};
use crate::symbolic::term::{Node, Op, Term};
use crate::symbolic::unroll::LoopId;

/// Blocks that lead to each other are gone through so often.
const MAX_ROUNDS: usize = 4;

impl Findings<'_> {
    /// Objects of the function's own that it loses.
    pub fn lost_objects(
        &mut self,
        execution: &Execution,
        oracle: &mut Oracle<'_>,
        exit: &Exit<'_>,
    ) {
        // What a process has goes with it.
        if oracle.owned.is_empty() || self.function_name() == "main" {
            return;
        }
        let escapes = handed::believed(execution, oracle, (exit, self.returns_pointer()));
        let known = known_elsewhere(execution, oracle, exit, &escapes);
        let objects: Vec<Object> = exit.state.objects.keys().copied().collect();
        let mut lost = Vec::new();
        for object in objects {
            if !oracle.is_owned(object.loc.region) || self.has_failed(object) {
                continue;
            }
            let machine = oracle.machine_of(object);
            for state in machine.state_ids() {
                if let Some(rule) = machine.rule_in(Event::Lost, state) {
                    let paths = lost_on(execution, oracle, exit, &known, (object, state));
                    lost.push(Lost {
                        object,
                        state,
                        rule,
                        paths,
                    });
                }
            }
        }
        let together = lost_together(execution, oracle, &lost);
        for mut lost in lost {
            if let Some(&together) = together.get(&lost.key()) {
                lost.paths = oracle.formula.guards.and_not(lost.paths, together);
            }
            self.lost(execution, oracle, exit, &lost);
        }
    }

    fn lost(
        &mut self,
        execution: &Execution,
        oracle: &mut Oracle<'_>,
        exit: &Exit<'_>,
        lost: &Lost<'_>,
    ) {
        let &Lost {
            object,
            state,
            rule,
            mut paths,
        } = lost;
        // That a callee's effect is not known on others is nothing that a specification of the function could count on.
        let all = paths;
        let Some(model) = oracle.run_of_known_effect(execution, object, paths) else {
            return;
        };
        paths = execution.with_known_effect(oracle, object, paths);
        let made = |event: &&OpEvent| {
            event.object == object
                && event.to == Some(Status::At(state))
                && event.moves()
                && model.eval_guard(&oracle.formula, event.guard)
        };
        let Some(event) = execution.log.ops.iter().find(made) else {
            return;
        };
        let Some(site) = event.stack.first().cloned() else {
            return;
        };
        let place = Place::of(&site);
        let name = oracle.name_of_block(object.loc.region);
        let mut steps = trace::path(execution, oracle, &model, object, paths, None);
        steps.extend(last_step(execution, oracle, &model, (object, state), &name));
        let text = oracle.machine_of(object).state_text(state).to_owned();
        let Some(mut finding) = self.finding(rule, place, &name, &text, steps) else {
            return;
        };
        if skips_loop(execution, oracle, object, paths) {
            finding.explain_by(Kind::LoopRuns);
        }
        if is_ended_in_loop(execution, oracle, object, paths) {
            finding.explain_by(Kind::EndedInLoop);
        }
        if is_counted(execution, oracle, exit, object, paths) {
            finding.explain_by(Kind::Counted);
        }
        if !possible_unchanged(execution, oracle, paths) {
            finding.explain_by(Kind::ChangedByCallee);
        }
        let told_by_summary = event.stack.len() == 1 && !event.primitive && !event.by_result;
        if told_by_summary && decided_by_result(oracle, object, paths, &event.text) {
            finding.explain_by(Kind::CalleeOutcome);
        }
        let result = lost_results::lost(execution, oracle, event, &finding);
        self.lost_results.extend(result);
        self.fail(object);
        let at = Failing::AtExit {
            site,
            objects: vec![(object, all)],
        };
        self.keep_value(finding, at);
    }
}

/// An object in a state in which it must not be lost.
struct Lost<'r> {
    object: Object,
    state: StateId,
    rule: &'r str,
    /// The paths on which nobody finds it when the function has returned.
    paths: Guard,
}

impl Lost<'_> {
    fn key(&self) -> (RegionId, MachineId) {
        (self.object.loc.region, self.object.machine)
    }
}

/// The paths on which nobody finds an object any more that is in a state. `known`: those on which others find each block.
fn lost_on(
    execution: &Execution,
    oracle: &mut Oracle<'_>,
    exit: &Exit<'_>,
    known: &FxHashMap<RegionId, Guard>,
    (object, state): (Object, StateId),
) -> Guard {
    let tracked = oracle.now(exit.state, object);
    let exists = oracle.exists(object.loc);
    let known = known.get(&object.loc.region).copied().unwrap_or_default();
    let by_inlined = lost_by_inlined(execution, oracle, object.loc.region);
    let crashed = oracle.crashed;
    let guards = &mut oracle.formula.guards;
    let mut paths = guards.and(exit.state.guard, tracked.guard_of(Status::At(state)));
    paths = guards.and(paths, exists);
    paths = guards.and_not(paths, known);
    paths = guards.and_not(paths, crashed);
    paths = guards.and_not(paths, by_inlined);
    let ended = perhaps_ended(execution, oracle, object);
    paths = oracle.formula.guards.and_not(paths, ended);
    let named = named_otherwise(oracle, object, paths);
    paths = oracle.formula.guards.and_not(paths, named);
    oracle.on_valid_pointers(exit.state, paths)
}

/// The paths on which a function that was inlined has got a block, and nothing leads to it where that function returns: it is told of that
/// itself.
fn lost_by_inlined(execution: &Execution, arena: &mut Arena<'_>, region: RegionId) -> Guard {
    let mut all = Guard::FALSE;
    for inlined in &execution.log.inlined {
        if !inlined.made.contains(&region) {
            continue;
        }
        let escaped = &execution.log.escapes[inlined.escapes.clone()];
        let escaped = escaped.iter().filter(|event| event.region == region);
        let mut found: Vec<Guard> = escaped.map(|event| event.guard).collect();
        if let Some(result) = inlined.result {
            let places = arena.locations(result);
            let places = places.iter().filter(|(_, loc)| loc.region == region);
            found.extend(places.map(|(paths, _)| *paths));
        }
        let guards = &mut arena.formula.guards;
        let found = guards.union(found);
        let lost = guards.and_not(inlined.guard, found);
        all = guards.or(all, lost);
    }
    all
}

/// Those of these paths on which the number that names an object is known to be another one, by which others can name it:
/// `return open(path, mode) == number;`.
fn named_otherwise(arena: &mut Arena<'_>, object: Object, paths: Guard) -> Guard {
    let RegionKind::Value { of } = *arena.regions.kind(object.loc.region) else {
        return Guard::FALSE;
    };
    let conditions = arena.formula.guards.support(paths).to_vec();
    let mut named = Guard::FALSE;
    for condition in conditions {
        let terms = &arena.formula.terms;
        // A result within bounds is a choice between the bound and the number.
        let is_number = |&arg: &Term| match terms.node(arg) {
            Node::Op { op: Op::Ite, args } => args[1..].contains(&of),
            _ => arg == of,
        };
        if let Node::Op { op: Op::Eq, args } = terms.node(arena.formula.cond_term(condition))
            && args.iter().any(is_number)
        {
            let guards = &mut arena.formula.guards;
            let equal = guards.literal(condition, true);
            named = guards.or(named, equal);
        }
    }
    named
}

/// The paths on which a block goes with another one of its kind that leads to it and is lost itself, without another one that leads to that: that
/// is one mistake.
fn lost_together(
    execution: &Execution,
    arena: &mut Arena<'_>,
    lost: &[Lost<'_>],
) -> FxHashMap<(RegionId, MachineId), Guard> {
    let holders = holders(execution);
    let holders_of = |lost: &Lost<'_>| {
        let of_block = holders.get(&lost.object.loc.region);
        of_block.into_iter().flatten().copied()
    };
    // What is lost by itself, and then what goes with it.
    let mut gone: FxHashMap<(RegionId, MachineId), Guard> = FxHashMap::default();
    for lost in lost {
        let mut paths = lost.paths;
        for (_, here) in holders_of(lost) {
            paths = arena.formula.guards.and_not(paths, here);
        }
        let known = gone.entry(lost.key()).or_default();
        *known = arena.formula.guards.or(*known, paths);
    }
    let mut together: FxHashMap<(RegionId, MachineId), Guard> = FxHashMap::default();
    for _ in 0..MAX_ROUNDS {
        let mut changed = false;
        for lost in lost {
            for (holder, here) in holders_of(lost) {
                let by = gone.get(&(holder, lost.object.machine));
                let guards = &mut arena.formula.guards;
                let here = guards.and(here, by.copied().unwrap_or_default());
                let here = guards.and(here, lost.paths);
                for known in [&mut together, &mut gone] {
                    let before = known.entry(lost.key()).or_default();
                    let after = guards.or(*before, here);
                    changed |= std::mem::replace(before, after) != after;
                }
            }
        }
        if !changed {
            break;
        }
    }
    together
}

/// By block, the other blocks that a pointer to it is put into, and the paths on which it is.
fn holders(execution: &Execution) -> FxHashMap<RegionId, Vec<(RegionId, Guard)>> {
    let mut holders: FxHashMap<RegionId, Vec<(RegionId, Guard)>> = FxHashMap::default();
    for event in &execution.log.escapes {
        if let Some(holder) = event.block()
            && holder != event.region
        {
            let of_block = holders.entry(event.region).or_default();
            of_block.push((holder, event.guard));
        }
    }
    holders
}

pub(super) fn last_step(
    execution: &Execution,
    arena: &Arena<'_>,
    model: &Model,
    (object, state): (Object, StateId),
    name: &str,
) -> Option<TraceStep> {
    let event = trace::returns(execution, arena, model)?;
    let to = Target::State(state);
    Some(trace::return_step(arena, name, event, object, &to))
}

/// Whether the paths are told by the result of the call that has left the block in memory: whether it leaves one may be told by the
/// result, too, in a way that its summary does not express.
fn decided_by_result(arena: &Arena<'_>, object: Object, paths: Guard, call: &str) -> bool {
    let base = arena.regions.base(object.loc.region);
    if !base.is_some_and(|base| arena.left_in_memory.contains(&base)) {
        return false;
    }
    // That the result is not null says only that there is an object for the block's pointer to lie in.
    let holder = base.and_then(|base| match *arena.formula.terms.node(base) {
        Node::Var(var) => match *arena.origins.of(var) {
            Origin::Initial { loc, .. } => arena.regions.base(loc.region),
            _ => None,
        },
        _ => None,
    });
    let conditions = arena.formula.guards.support(paths).iter();
    let mut vars = conditions.flat_map(|&condition| {
        let term = arena.formula.cond_term(condition);
        arena.formula.vars(term)
    });
    vars.any(|var| {
        let is_result =
            matches!(arena.origins.of(var), Origin::Call { text, .. } if **text == *call);
        let value = Some(arena.formula.terms.var_term(var));
        is_result && value != base && value != holder
    })
}

/// Whether a count in the block decides that it is not freed on these paths, where it is on others.
fn is_counted(
    execution: &Execution,
    oracle: &mut Oracle<'_>,
    exit: &Exit<'_>,
    object: Object,
    paths: Guard,
) -> bool {
    let ended = counted::ends(execution, oracle, object).map(|event| event.guard);
    let ended: Vec<Guard> = ended.collect();
    let ended = oracle.formula.guards.union(ended);
    counted::decides(oracle, exit.state, object, (paths, ended))
}

/// Whether an object is lost only behind loops that may have ended it: they end it in the first of their rounds, and were left before all rounds
/// were done; or they end others which were read from the table that it was put into, and it is not known where in the table it is.
fn is_ended_in_loop(
    execution: &Execution,
    oracle: &mut Oracle<'_>,
    object: Object,
    paths: Guard,
) -> bool {
    let machine = oracle.machine_of(object);
    let tables = tables(execution, object.loc.region);
    let mut behind = Vec::new();
    for event in &execution.log.ops {
        let Some(around) = event.in_loop.and_then(|it| execution.log.loops.get(&it)) else {
            continue;
        };
        let from = oracle.read_from(event.object.loc.region);
        if !event.ends(machine) || event.object.machine != object.machine {
            continue;
        }
        if event.object == object {
            behind.push(around.unfinished);
        } else if from.is_some_and(|from| tables.contains(&from.region)) {
            behind.push(around.reached);
        }
    }
    let behind = oracle.formula.guards.union(behind);
    let otherwise = oracle.formula.guards.and_not(paths, behind);
    behind != Guard::FALSE && oracle.model(otherwise).is_none()
}

/// The blocks that the pointer to a block is put into, at a place that is not known.
fn tables(execution: &Execution, block: RegionId) -> Vec<RegionId> {
    let events = execution.log.escapes.iter();
    let events = events.filter(|event| event.region == block);
    let places = events.filter_map(|event| match event.to {
        Holder::Block(place) if place.symbolic != SymbolicOffset::NONE => Some(place.region),
        _ => None,
    });
    places.collect()
}

/// Whether an object is lost only where loops that would put it somewhere are left out: what the loop tests is tested, too, to come to it.
fn skips_loop(
    execution: &Execution,
    oracle: &mut Oracle<'_>,
    object: Object,
    paths: Guard,
) -> bool {
    let events = execution.log.escapes.iter();
    let put =
        events.filter(|event| event.region == object.loc.region && event.to != Holder::Contents);
    let mut loops: Vec<LoopId> = put.filter_map(|event| event.in_loop).collect();
    loops.sort_unstable();
    loops.dedup();
    let loops: Vec<&LoopEvent> = loops
        .iter()
        .filter_map(|around| execution.log.loops.get(around))
        .collect();
    let skipped = loops.iter().any(|around| {
        let tested = oracle.formula.unknowns(&around.tests);
        around.skipped.iter().any(|&condition| {
            let formula = &mut oracle.formula;
            formula.guards.implies(paths, condition)
                && formula.guards.excludes(around.entered, condition)
                && !formula.unknowns(&[condition]).is_disjoint(&tested)
        })
    });
    skipped
        && loops.iter().all(|around| {
            let inside = oracle.formula.guards.and(paths, around.entered);
            oracle.model(inside).is_none()
        })
}
