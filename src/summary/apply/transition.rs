//! How a call moves one object (paper Figure 9).
//!
//! In: the rows that may be taken, and the object's states before the call. Out: its states after it, an [`OpEvent`] for each
//! row taken, and the paths that the callee does not rule out.

use std::sync::Arc;

use smallvec::SmallVec;

use super::rows::Enabled;
use crate::property::{StateId, Target};
use crate::summary::{IExpr, Row};
use crate::symbolic::callee::CallSite;
use crate::symbolic::exec::Executor;
use crate::symbolic::guard::Guard;
use crate::symbolic::log::OpEvent;
use crate::symbolic::state::{Object, State, Status, Tracked};

/// What a call moves.
pub(super) struct Moved<'m, 'c> {
    pub object: Object,
    /// As the source would write it.
    pub name: &'m str,
    /// The callee tells the state that the object was in before.
    pub saves: bool,
    /// The callee ends nothing that the object leads to, but for what its summary tells.
    pub alone: bool,
    /// The callee may be passed what leads to no object: `munmap(MAP_FAILED, n)`.
    pub optional: bool,
    /// What the callee returns tells all that it can of whether it has made the object.
    pub by_result: bool,
    /// The argument that leads to the object itself.
    pub argument: Option<u32>,
    pub site: &'m CallSite<'c>,
}

/// Moves an object along the rows that are enabled, under `place`, the guard of its being the one
/// that the callee operates on.
pub(super) fn transition(
    exec: &mut Executor<'_>,
    state: &mut State,
    moved: &Moved<'_, '_>,
    place: Guard,
    rows: &[Enabled<'_>],
) {
    let before = exec.arena.now(state, moved.object);
    let first_event = exec.execution.log.ops.len();
    // A mistake that is reported in the callee may not be one.
    let reported = |row: &Row| row.reported && matches!(row.to, Target::State(_));
    let mut transition = Transition {
        moved,
        paths: state.guard,
        touched: before.touched,
        reported: rows.iter().any(|enabled| reported(enabled.row)),
        after: Tracked {
            set: SmallVec::new(),
            touched: before.touched,
        },
        feasible: Guard::FALSE,
        from_states: match exec.arena.watches {
            true => rows
                .iter()
                .map(|enabled| (enabled.row.from, enabled.row.to.clone()))
                .collect(),
            false => Arc::default(),
        },
    };
    for &(status, held) in &before.set {
        let guards = &mut exec.arena.formula.guards;
        let (away, here) = (guards.and_not(held, place), guards.and(held, place));
        transition.stay(exec, status, away);
        if here == Guard::FALSE {
            continue;
        }
        match status {
            Status::At(from) if rows.iter().any(|enabled| enabled.row.from == from) => {
                let enabled = rows.iter().filter(|enabled| enabled.row.from == from);
                transition.leave(exec, from, here, enabled);
            }
            // The error state stays.
            Status::At(_) | Status::Error(_) => transition.stay(exec, status, here),
        }
    }
    let Transition {
        after, feasible, ..
    } = transition;
    let errors = after.errors(&mut exec.arena.formula);
    let errors = exec.arena.formula.guards.and(state.guard, errors);
    for event in &mut exec.execution.log.ops[first_event..] {
        event.errors = errors;
    }
    state.objects.insert(moved.object, after);
    state.guard = exec.arena.formula.guards.and(state.guard, feasible);
}

struct Transition<'m, 'c> {
    moved: &'m Moved<'m, 'c>,
    /// The paths to the call.
    paths: Guard,
    /// Those on which the function itself had put the object into its state.
    touched: Guard,
    /// A row is part of a mistake that is reported in the callee.
    reported: bool,
    after: Tracked,
    /// Combinations of conditions that the callee can end in (Figure 9, line 10).
    feasible: Guard,
    /// See [`OpEvent::from_states`].
    from_states: Arc<[(StateId, Target)]>,
}

/// The rows from one state.
struct RowsFrom<'r, 's> {
    state: StateId,
    /// The paths on which the object is in it.
    here: Guard,
    /// The callee has other outcomes here, and the paths do not tell them apart.
    open: bool,
    /// All that the callee may do here; none if nothing of it can be told from what it returns.
    possible: Vec<&'r Enabled<'s>>,
    moves: Vec<&'r Enabled<'s>>,
}

impl RowsFrom<'_, '_> {
    /// The paths on which the callee may have done something else than what a row says, as far as is known.
    fn others(&self, exec: &mut Executor<'_>, taken: &Enabled<'_>) -> Guard {
        if !self.open || self.possible.is_empty() {
            return Guard::TRUE;
        }
        let others = self.possible.iter();
        let others = others.filter(|other| other.row.to != taken.row.to);
        others.fold(Guard::FALSE, |all, other| {
            exec.arena.formula.guards.or(all, other.certain)
        })
    }
}

impl Transition<'_, '_> {
    fn stay(&mut self, exec: &mut Executor<'_>, status: Status, paths: Guard) {
        self.after.add(&mut exec.arena.formula, status, paths);
        self.feasible = exec.arena.formula.guards.or(self.feasible, paths);
    }

    /// Takes the object out of a state in which it is on the paths `here`.
    fn leave<'r, 's: 'r>(
        &mut self,
        exec: &mut Executor<'_>,
        from: StateId,
        here: Guard,
        enabled: impl Iterator<Item = &'r Enabled<'s>>,
    ) {
        let (moves, errors): (Vec<_>, Vec<_>) =
            enabled.partition(|enabled| matches!(enabled.row.to, Target::State(_)));
        let possible = moves.iter().chain(&errors).filter(|enabled| {
            enabled.inferred && !exec.arena.formula.guards.excludes(here, enabled.guard)
        });
        let possible: Vec<&Enabled<'_>> = possible.copied().collect();
        let untold = exec.execution.log.several || self.reported;
        let rows = RowsFrom {
            state: from,
            here,
            open: untold || leave_open(&possible),
            possible: match untold {
                true => Vec::new(),
                false => possible,
            },
            moves,
        };
        let failures = self.failures(exec, &rows, &errors);
        let mut left = self.take_moves(exec, &rows);
        for (event, guard) in failures {
            let guard = exec.arena.formula.guards.and(left, guard);
            self.after
                .add(&mut exec.arena.formula, Status::Error(event), guard);
            left = exec.arena.formula.guards.and_not(left, guard);
        }
        // Conditions that the callee rules out: the path ends below, the state does not matter.
        self.after
            .add(&mut exec.arena.formula, Status::At(from), left);
    }

    /// Logs the failures that are possible: their events, each with its paths.
    fn failures(
        &mut self,
        exec: &mut Executor<'_>,
        rows: &RowsFrom<'_, '_>,
        errors: &[&Enabled<'_>],
    ) -> Vec<(u32, Guard)> {
        let mut failures = Vec::new();
        for enabled in errors {
            let guards = &mut exec.arena.formula.guards;
            let guard = guards.and(rows.here, enabled.guard);
            self.feasible = guards.or(self.feasible, guard);
            if enabled.row.reported {
                continue;
            }
            // Whether the state was made here or by the caller: two different mistakes.
            let ours = guards.and(guard, self.touched);
            let theirs = guards.and_not(guard, self.touched);
            for guard in [ours, theirs] {
                if guard != Guard::FALSE {
                    failures.push((self.log(exec, rows, enabled, guard), guard));
                }
            }
        }
        failures
    }

    /// Takes the rows that are no failures, each on the paths that those before it leave. The paths that are left over.
    fn take_moves(&mut self, exec: &mut Executor<'_>, rows: &RowsFrom<'_, '_>) -> Guard {
        let mut left = rows.here;
        // If the callee may or may not release what the function itself has taken, it is taken to release it.
        let ours = exec.arena.formula.guards.and(rows.here, self.touched);
        let initial = Target::State(exec.arena.machine_of(self.moved.object).initial);
        let back = rows.moves.iter();
        let back = back.filter(|enabled| enabled.row.to == initial);
        let in_order = back.map(|enabled| (*enabled, ours));
        let in_order = in_order.chain(rows.moves.iter().map(|enabled| (*enabled, Guard::TRUE)));
        for (enabled, within) in in_order {
            let row = enabled.row;
            let guards = &mut exec.arena.formula.guards;
            let guard = guards.and(left, enabled.guard);
            let guard = guards.and(guard, within);
            if guard == Guard::FALSE {
                continue;
            }
            self.feasible = guards.or(self.feasible, guard);
            let to = match row.to {
                Target::State(to) if !row.reported => to,
                _ => rows.state,
            };
            if !row.reported {
                self.log(exec, rows, enabled, guard);
            }
            self.after
                .add(&mut exec.arena.formula, Status::At(to), guard);
            let guards = &mut exec.arena.formula.guards;
            if row.touched {
                self.after.touched = guards.or(self.after.touched, guard);
            }
            left = guards.and_not(left, guard);
        }
        left
    }

    /// Logs that a row is taken on these paths. The event's number.
    fn log(
        &self,
        exec: &mut Executor<'_>,
        rows: &RowsFrom<'_, '_>,
        enabled: &Enabled<'_>,
        guard: Guard,
    ) -> u32 {
        let (row, from) = (enabled.row, Status::At(rows.state));
        let object = self.moved.object;
        let paths = exec.arena.formula.guards.and(self.paths, guard);
        let touched = exec.arena.formula.guards.and(paths, self.touched);
        let others = rows.others(exec, enabled);
        let (to, rule) = match &row.to {
            Target::State(to) => (Some(Status::At(*to)), None),
            Target::Error(rule) => (None, rule.clone()),
        };
        if to.is_some_and(|to| to != from) {
            match self.moved.optional {
                true => exec.arena.reached_on(object.loc, paths),
                false => exec.arena.dereferenced_on(object.loc, paths),
            }
        }
        let site = self.moved.site;
        let log = &mut exec.execution.log;
        log.ops.push(OpEvent {
            object,
            guard: paths,
            touched,
            errors: Guard::FALSE,
            from,
            to,
            rule,
            from_states: Arc::clone(&self.from_states),
            primitive: !enabled.inferred,
            source: enabled.source.clone(),
            saves: self.moved.saves,
            alone: self.moved.alone,
            doubtful: enabled.doubtful,
            open: rows.open,
            others,
            by_result: self.moved.by_result && !row.doubtful,
            contested: row.contested,
            counted: enabled.counted,
            in_loop: exec.in_loop,
            call: log.call,
            stack: site.stack.clone(),
            text: site.text.into(),
            name: self.moved.name.to_string(),
            written: self.moved.argument.and_then(|arg| site.written(arg)),
            inside: row.trace.as_slice().into(),
        });
        log.ops.len() as u32 - 1
    }
}

/// Whether rows of one entry state lead to different states without conditions that tell when, or with some that may
/// know less than the callee's source.
fn leave_open(rows: &[&Enabled<'_>]) -> bool {
    let mut pairs =
        (0..rows.len()).flat_map(|at| rows[..at].iter().map(move |one| (*one, rows[at])));
    pairs.any(|(one, other)| one.row.to != other.row.to && !surely_apart(one, other))
}

/// Whether an answer of the world outside, a condition on exit, or one on entry that is about parameters alone, keeps two rows apart: what is in memory a
/// callee in between may have changed.
fn surely_apart(one: &Enabled<'_>, other: &Enabled<'_>) -> bool {
    // What the world outside has answered the execution has chosen.
    if one.row.answered && other.row.answered {
        return true;
    }
    let Some(inputs) = one.inputs else {
        return false;
    };
    let differ =
        |one: &Option<bool>, other: &Option<bool>| one.is_some() && other.is_some() && one != other;
    let (one, other) = (one.row, other.row);
    // Two exits that differ by an argument of which the caller does not know the value.
    let undecided = one.contested || other.contested;
    let mut inputs = inputs.iter().zip(one.incond.iter().zip(&other.incond));
    let mut outputs = one.outcond.iter().zip(&other.outcond);
    !undecided && inputs.any(|(input, (one, other))| differ(one, other) && !reads_memory(input))
        || outputs.any(|(one, other)| differ(one, other))
}

/// Whether a condition asks for what is in memory.
pub(super) fn reads_memory(condition: &IExpr) -> bool {
    let mut found = false;
    condition.each(&mut |part| {
        found |= matches!(part, IExpr::Value { object, .. } if !object.path.is_empty());
    });
    found
}
