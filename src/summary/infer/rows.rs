//! R: the rows of one object.
//!
//! In: how an object leaves the function, and the predicates chosen to tell its exits apart. Out: [`Row`]s, and for each the paths
//! in the execution that it was made from.

use std::rc::Rc;

use super::{Exits, Move};
use crate::property::{Machine, Role, StateId, Target};
use crate::sat::oracle::Oracle;
use crate::summary::predicates::{Predicate, Side};
use crate::summary::{Cube, Row, Summary, counted, trace};
use crate::symbolic::arena::Arena;
use crate::symbolic::execution::Execution;
use crate::symbolic::guard::Guard;
use crate::symbolic::model::Model;
use crate::symbolic::state::{Object, Status};
use crate::symbolic::term::Term;

/// A chosen predicate, and where it stands in the summary.
type Column<'p> = (&'p Predicate, (Side, usize));

/// One row for each feasible (entry state, conditions, exit), merged where a condition does not matter; and
/// the paths of each. `of_result`: the conditions on the result that the rows of a new block are asked for besides.
pub(super) fn rows(
    execution: &Execution,
    oracle: &mut Oracle<'_>,
    summary: &mut Summary,
    index: u32,
    exits: &Exits,
    (chosen, of_result): (&[Predicate], &[&Predicate]),
) -> Vec<Guard> {
    let machine = oracle.machine_of(exits.object);
    let mut made: Vec<(Row, Guard)> = Vec::new();
    let columns = columns(summary, chosen);
    for (entry, contested, cubes) in ways(execution, oracle, exits, chosen) {
        let Move {
            from,
            to,
            paths,
            reported,
        } = &entry;
        for cube in cubes {
            let guard = within(oracle, *paths, cube.iter().zip(chosen));
            let idle = oracle.formula.guards.and_not(guard, exits.touched);
            let touched = idle == Guard::FALSE || !oracle.possible(idle);
            let mut model = oracle.run_of_known_effect(execution, exits.object, guard);
            if model.is_none() && matches!(to, Target::Error(_)) {
                let literals = cube.iter().zip(chosen);
                let literals = literals.filter(|(_, predicate)| predicate.side == Side::Input);
                model = failing(execution, oracle, exits.object, *from, literals);
            }
            let given_up = *from != machine.initial && *to == Target::State(machine.initial);
            let doubtful = model.is_none()
                || given_up
                    && execution
                        .log
                        .takes_what_is_held(exits.object, *from, machine);
            let trace = match model {
                Some(model) => trace::inside(execution, oracle, &model, exits.object),
                None => Vec::new(),
            };
            let ends = matches!(to, Target::State(to) if machine.role(*to) == Role::Dead);
            let counted = ends
                && to != &Target::State(*from)
                && execution.exit.as_ref().is_some_and(|exit| {
                    counted::only_by_count(execution, oracle, exit, exits.object, guard)
                });
            let (incond, outcond) = in_columns(summary, &cube, &columns);
            let row = Row {
                object: index,
                incond,
                from: *from,
                outcond,
                to: to.clone(),
                touched,
                doubtful,
                reported: *reported,
                contested,
                counted,
                answered: false,
                trace,
            };
            made.push((row, guard));
        }
    }
    if let Some(from) = exits.undecided {
        let calls = |oracle: &Oracle<'_>, value| oracle.is_from_calls(value);
        mark_answered(oracle, &mut made, |row| row.from == from, calls);
    }
    if machine.watches_accesses() {
        let outside = |oracle: &Oracle<'_>, value| oracle.is_from_outside(value);
        mark_answered(oracle, &mut made, |_| true, outside);
        let mut others: Vec<(Row, Guard)> = Vec::new();
        for (row, guard) in &made {
            let ended = from_other_states(execution, (exits.object, machine), row);
            for ended in ended {
                // Once for each of the other states.
                if others.iter().all(|(row, _)| row.from != ended.from) {
                    others.extend(spared(&made, row.from, ended.from));
                }
                others.push((ended, *guard));
            }
        }
        made.extend(others);
        let known: Vec<_> = chosen.iter().zip(columns).collect();
        tell_by_result(oracle, summary, (of_result, &known), &mut made);
    }
    made.sort_by_key(|(row, _)| rank(row));
    let (rows, paths): (Vec<Row>, Vec<Guard>) = made.into_iter().unzip();
    summary.rows.extend(rows);
    paths
}

/// The moves in parts, with the cubes of conditions that each is possible under. Where accesses are checked, a cube that another move is possible
/// under, too, is joined with none that is this one's alone: nothing but what others have answered may decide between the two.
fn ways(
    execution: &Execution,
    oracle: &mut Oracle<'_>,
    exits: &Exits,
    chosen: &[Predicate],
) -> Vec<(Move, bool, Vec<Cube>)> {
    let mut ways = Vec::new();
    for (entry, contested) in parts(execution, oracle, exits) {
        let mut cubes = Vec::new();
        enumerate(oracle, entry.paths, chosen, &mut Vec::new(), &mut cubes);
        ways.push((entry, contested, cubes));
    }
    let apart = oracle.machine_of(exits.object).watches_accesses();
    let joined: Vec<_> = ways
        .iter()
        .map(|(entry, _, cubes)| {
            let competes = |cube: &Cube| {
                let mut others = ways.iter();
                apart
                    && others.any(|(other, _, cubes)| {
                        other.from == entry.from && other.to != entry.to && cubes.contains(cube)
                    })
            };
            let (open, own): (Vec<_>, Vec<_>) = cubes.iter().cloned().partition(competes);
            let mut all = merge_cubes(own);
            all.extend(merge_cubes(open));
            all
        })
        .collect();
    let ways = ways.into_iter().zip(joined);
    ways.map(|((entry, contested, _), cubes)| (entry, contested, cubes))
        .collect()
}

/// Adds to the rows of a block that is new to callers what the function returns wherever it makes the block: the pointer that it leaves may tell
/// the ways out apart already, but a caller asks for the result, and may not see what one says of the other. With any other result there is
/// no such block.
fn tell_by_result(
    oracle: &mut Oracle<'_>,
    summary: &mut Summary,
    (of_result, known): (&[&Predicate], &[Column<'_>]),
    made: &mut Vec<(Row, Guard)>,
) {
    let mut without_block: Vec<Row> = Vec::new();
    for (row, paths) in made.iter_mut() {
        let moves = row.to != Target::State(row.from) && matches!(row.to, Target::State(_));
        if !moves || row.answered || row.doubtful {
            continue;
        }
        // What is told so far.
        let told = known.iter().map(|&(predicate, (side, column))| {
            let cube = match side {
                Side::Input => &row.incond,
                Side::Output => &row.outcond,
            };
            (cube.get(column).unwrap_or(&None), predicate)
        });
        let mut told = within(oracle, Guard::TRUE, told);
        let mut by_result = Guard::TRUE;
        for &predicate in of_result {
            let guards = &mut oracle.formula.guards;
            let with = guards.and(*paths, predicate.guard);
            let without = guards.and_not(*paths, predicate.guard);
            let (holds, literal) = match (oracle.possible(with), oracle.possible(without)) {
                (true, false) => (true, predicate.guard),
                (false, true) => (false, oracle.formula.guards.not(predicate.guard)),
                _ => continue,
            };
            let more = oracle.formula.guards.and_not(by_result, literal);
            if !oracle.possible(more) {
                continue;
            }
            by_result = oracle.formula.guards.and(by_result, literal);
            let column = columns(summary, std::slice::from_ref(predicate))[0].1;
            row.outcond.resize(summary.outputs.len(), None);
            row.outcond[column] = Some(holds);
            let more = oracle.formula.guards.and_not(told, literal);
            if !oracle.possible(more) {
                continue;
            }
            told = oracle.formula.guards.and(told, literal);
            let mut outcond = vec![None; summary.outputs.len()];
            outcond[column] = Some(!holds);
            let idle = Row {
                incond: vec![None; row.incond.len()],
                outcond,
                to: Target::State(row.from),
                touched: false,
                contested: false,
                trace: Vec::new(),
                ..row.clone()
            };
            if !without_block.contains(&idle) {
                without_block.push(idle);
            }
        }
    }
    made.extend(without_block.into_iter().map(|row| (row, Guard::FALSE)));
}

/// The literals of a cube over the chosen predicates, as literals over the summary's.
fn in_columns(summary: &Summary, cube: &[Option<bool>], columns: &[(Side, usize)]) -> (Cube, Cube) {
    let mut incond: Cube = vec![None; summary.inputs.len()];
    let mut outcond: Cube = vec![None; summary.outputs.len()];
    for (wanted, &(side, column)) in cube.iter().zip(columns) {
        match side {
            Side::Input => incond[column] = *wanted,
            Side::Output => outcond[column] = *wanted,
        }
    }
    (incond, outcond)
}

/// Marks the rows, of those that are asked for, of which nothing but what others have answered decides which one is taken: values
/// that `answers` says are theirs.
fn mark_answered(
    oracle: &mut Oracle<'_>,
    made: &mut [(Row, Guard)],
    asked_for: impl Fn(&Row) -> bool,
    answers: impl Fn(&Oracle<'_>, Term) -> bool,
) {
    for one in 0..made.len() {
        for other in 0..one {
            let [(row, paths), (another, others)] = [&made[one], &made[other]];
            let compete = row.from == another.from
                && row.to != another.to
                && (&row.incond, &row.outcond) == (&another.incond, &another.outcond);
            if !compete || !asked_for(row) {
                continue;
            }
            let open = [*paths, *others].map(|paths| for_any_answers(oracle, paths, &answers));
            if open[0] == open[1] && open[0] != *paths && open[1] != *others {
                made[one].0.answered = true;
                made[other].0.answered = true;
            }
        }
    }
}

/// The paths for any answers of others.
pub fn for_any_answers(
    oracle: &mut Oracle<'_>,
    paths: Guard,
    answers: impl Fn(&Oracle<'_>, Term) -> bool,
) -> Guard {
    let mut left = paths;
    for condition in oracle.formula.guards.support(paths).to_vec() {
        let value = oracle.formula.cond_term(condition);
        // A caller knows the arguments and what lay in memory, also where these decide that a callee returns null.
        if oracle.is_from_entry(value) {
            continue;
        }
        // That a function of a library fails, the world decides.
        let literal = oracle.formula.guards.literal(condition, true);
        let mut null = oracle.compared_with_null(literal).into_iter();
        if oracle.failing_conditions.contains(&condition)
            || null.any(|pointer| oracle.nullable.contains_key(&pointer))
            || answers(oracle, value)
        {
            left = oracle.formula.guards.for_either(left, condition);
        }
    }
    left
}

/// What becomes of a block that the function ends the state of, where its caller passes what is none, or what is gone: execution takes
/// all blocks to be in order on entry.
fn from_other_states(
    execution: &Execution,
    (object, machine): (Object, &Machine),
    row: &Row,
) -> Vec<Row> {
    let Target::State(to) = row.to else {
        return Vec::new();
    };
    // What the function has made itself, no caller passes.
    if row.from != machine.expected() {
        return Vec::new();
    }
    let mut ends = execution.log.ops.iter().filter(|event| {
        event.object == object && event.to == Some(Status::At(to)) && event.moves()
    });
    let Some(end) = ends.next().filter(|_| machine.role(to) == Role::Dead) else {
        return Vec::new();
    };
    let others = machine.state_ids().filter(|from| *from != row.from);
    let target = |from: StateId| {
        // That a callee may leave it alone, too, is told besides ([`spared`]).
        let targets = end.from_states.iter().filter(|(state, _)| *state == from);
        let (_, to) = targets.min_by_key(|(_, to)| *to == Target::State(from))?;
        Some((from, to.clone()))
    };
    others
        .filter_map(target)
        .map(|(from, to)| Row {
            from,
            to,
            ..row.clone()
        })
        .collect()
}

/// What else may become of a block that a row ends from one state: where the function leaves one in order, it leaves one in another state, too.
fn spared(made: &[(Row, Guard)], from: StateId, other: StateId) -> Vec<(Row, Guard)> {
    let left = made
        .iter()
        .filter(|(row, _)| row.from == from && row.to == Target::State(from));
    let spared = left.map(|(row, guard)| {
        let spared = Row {
            from: other,
            to: Target::State(other),
            ..row.clone()
        };
        (spared, *guard)
    });
    spared.collect()
}

/// Columns of the summary's predicate lists for the chosen predicates, added where they are missing.
fn columns(summary: &mut Summary, chosen: &[Predicate]) -> Vec<(Side, usize)> {
    let mut columns = Vec::new();
    for predicate in chosen {
        let list = match predicate.side {
            Side::Input => &mut summary.inputs,
            Side::Output => &mut summary.outputs,
        };
        let column = match list.iter().position(|known| *known == predicate.expr) {
            Some(known) => known,
            None => {
                list.push(predicate.expr.clone());
                list.len() - 1
            }
        };
        columns.push((predicate.side, column));
    }
    columns
}

/// Orders the rows of one object as application prefers: what leaves the object as it was before what changes it, failures
/// last.
fn rank(row: &Row) -> (bool, u8, bool) {
    let kind = match &row.to {
        Target::State(to) if *to == row.from => 0,
        Target::State(_) => 1,
        Target::Error(_) => 2,
    };
    (row.reported, kind, row.contested)
}

/// The moves, those with contested paths in two parts, so that no row is both.
fn parts(execution: &Execution, arena: &mut Arena<'_>, exits: &Exits) -> Vec<(Move, bool)> {
    let mut all = Vec::new();
    let contested_by_callees = execution.contested(arena, exits.object, usize::MAX);
    for entry in &exits.moves {
        let keeps = matches!(entry.to, Target::State(to) if to != entry.from) && !entry.reported;
        let own = exits.contested.filter(|own| own.from == entry.from);
        let own = own.map_or(Guard::FALSE, |own| own.paths);
        let guards = &mut arena.formula.guards;
        let contested = match keeps {
            true => guards.or(own, contested_by_callees),
            false => Guard::FALSE,
        };
        let (inside, outside) = (
            guards.and(entry.paths, contested),
            guards.and_not(entry.paths, contested),
        );
        for (paths, contested) in [(outside, false), (inside, true)] {
            if paths != Guard::FALSE {
                let paths = Move {
                    paths,
                    ..entry.clone()
                };
                all.push((paths, contested));
            }
        }
    }
    all
}

/// The paths on which predicates have the values wanted.
fn within<'p>(
    arena: &mut Arena<'_>,
    paths: Guard,
    wanted: impl Iterator<Item = (&'p Option<bool>, &'p Predicate)>,
) -> Guard {
    let guards = &mut arena.formula.guards;
    wanted.fold(paths, |paths, (wanted, predicate)| match wanted {
        None => paths,
        Some(true) => guards.and(paths, predicate.guard),
        Some(false) => guards.and_not(paths, predicate.guard),
    })
}

/// A way to an operation that fails from an entry state: what comes after it, up to the exit, may be more than can be
/// settled.
fn failing<'p>(
    execution: &Execution,
    oracle: &mut Oracle<'_>,
    object: Object,
    from: StateId,
    inputs: impl Iterator<Item = (&'p Option<bool>, &'p Predicate)>,
) -> Option<Rc<Model>> {
    let entered = oracle.entry_state(object).guard_of(Status::At(from));
    let entered = within(oracle, entered, inputs);
    let fails = execution
        .log
        .ops
        .iter()
        .filter(|event| event.object == object && event.to.is_none());
    let fails: Vec<Guard> = fails.map(|event| event.guard).collect();
    fails.into_iter().find_map(|paths| {
        let paths = oracle.formula.guards.and(paths, entered);
        oracle.run_of_known_effect(execution, object, paths)
    })
}

fn enumerate(
    oracle: &mut Oracle<'_>,
    paths: Guard,
    chosen: &[Predicate],
    prefix: &mut Vec<Option<bool>>,
    cubes: &mut Vec<Vec<Option<bool>>>,
) {
    if paths == Guard::FALSE || !oracle.possible(paths) {
        return;
    }
    let Some(predicate) = chosen.get(prefix.len()) else {
        cubes.push(prefix.clone());
        return;
    };
    for wanted in [true, false] {
        let narrowed = match wanted {
            true => oracle.formula.guards.and(paths, predicate.guard),
            false => oracle.formula.guards.and_not(paths, predicate.guard),
        };
        prefix.push(Some(wanted));
        enumerate(oracle, narrowed, chosen, prefix, cubes);
        prefix.pop();
    }
}

/// Joins cubes that differ in one condition only, until none do.
fn merge_cubes(mut cubes: Vec<Vec<Option<bool>>>) -> Vec<Vec<Option<bool>>> {
    'again: loop {
        for left in 0..cubes.len() {
            for right in left + 1..cubes.len() {
                let mut differing =
                    (0..cubes[left].len()).filter(|&at| cubes[left][at] != cubes[right][at]);
                let (Some(at), None) = (differing.next(), differing.next()) else {
                    continue;
                };
                if cubes[left][at].is_some() && cubes[right][at].is_some() {
                    cubes[left][at] = None;
                    cubes.remove(right);
                    continue 'again;
                }
            }
        }
        return cubes;
    }
}
