//! When a function may sleep in the hands of its callers.
//!
//! In: the sleeping calls of a finished execution. Out: conditions over entry values under which it may, and
//! the way down to what sleeps.

use super::convert::Converter;
use super::infer::{Exit, Feasible, Move, enumerate, merge_cubes};
use super::predicates::{self, Predicate, select};
use super::{Cube, Sleep, Summary};
use crate::engine::witness;
use crate::property::{StateId, Target};
use crate::symbolic::exec::Executor;
use crate::symbolic::guard::Guard;

/// Sleeping calls looked at.
const MAX_EVENTS: usize = 64;

/// Adds the conditions under which the function may sleep to its summary.
pub fn add(
    exec: &mut Executor<'_>,
    exit: &Exit<'_>,
    summary: &mut Summary,
    queries: &mut dyn Feasible,
) {
    let mut paths = Guard::FALSE;
    let mut each = Vec::new();
    for index in 0..exec.log.sleeps.len().min(MAX_EVENTS) {
        let event = &exec.log.sleeps[index];
        let (mut guard, released) = (event.guard, event.released);
        let held: Vec<Guard> = event.held.iter().map(|(_, _, held)| *held).collect();
        // What is wrong in this function is reported in it, and not again above.
        for not in held.into_iter().chain([released, exec.doubted]) {
            guard = exec.formula.guards.and_not(guard, not);
        }
        if guard != Guard::FALSE {
            each.push((index, guard));
            paths = exec.formula.guards.or(paths, guard);
        }
    }
    let paths = exec.formula.bound(paths);
    if paths == Guard::FALSE {
        return;
    }
    let awake = exec.formula.guards.and_not(exit.state.guard, paths);
    let (awake_state, asleep_state) = (StateId(0), StateId(1));
    let moved = |to: StateId, paths: Guard| Move {
        from: awake_state,
        to: Target::State(to),
        paths,
        reported: false,
    };
    // Whether the function sleeps is told apart as where an object goes.
    let moves = [moved(awake_state, awake), moved(asleep_state, paths)];
    let mut chosen: Vec<Predicate> = Vec::new();
    if awake != Guard::FALSE {
        let mut converter = Converter::of_entry();
        let candidates = predicates::inputs(exec, &mut converter, &moves);
        if !candidates.is_empty() {
            chosen = select(exec, &candidates, &moves, queries);
        }
    }
    let mut cubes = Vec::new();
    enumerate(exec, paths, &chosen, &mut Vec::new(), &mut cubes, queries);
    let mut columns = Vec::new();
    for predicate in &chosen {
        columns.push(column(summary, predicate));
    }
    for cube in merge_cubes(cubes) {
        let mut incond: Cube = vec![None; summary.inputs.len()];
        let mut here = Guard::TRUE;
        for ((wanted, predicate), &column) in cube.iter().zip(&chosen).zip(&columns) {
            incond[column] = *wanted;
            here = match wanted {
                None => here,
                Some(true) => exec.formula.guards.and(here, predicate.guard),
                Some(false) => exec.formula.guards.and_not(here, predicate.guard),
            };
        }
        let witness = each.iter().find_map(|&(index, guard)| {
            let guard = exec.formula.guards.and(guard, here);
            queries.model(exec, guard).map(|_| index)
        });
        summary.sleeps.push(Sleep {
            incond,
            doubtful: witness.is_none(),
            trace: match witness {
                Some(index) => witness::sleeping(&exec.log.sleeps[index]),
                None => Vec::new(),
            },
        });
    }
    for row in &mut summary.rows {
        row.incond.resize(summary.inputs.len(), None);
    }
    for sleep in &mut summary.sleeps {
        sleep.incond.resize(summary.inputs.len(), None);
    }
}

/// The predicate's place in P_in, added if need be.
fn column(summary: &mut Summary, predicate: &Predicate) -> usize {
    let known = summary
        .inputs
        .iter()
        .position(|known| *known == predicate.expr);
    known.unwrap_or_else(|| {
        summary.inputs.push(predicate.expr.clone());
        summary.inputs.len() - 1
    })
}
