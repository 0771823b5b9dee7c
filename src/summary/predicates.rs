//! Mining P_in and P_out: the conditions that tell a function's exits apart.
//!
//! In: the paths between each entry and exit state of an object. Out: a few conditions over entry
//! values, the result and out-parameters under which the exit state is determined as far as it can be.

mod flags;
mod partition;
mod result;

pub use self::flags::of_flags;
use self::partition::Chooser;
use super::convert::Converter;
use super::infer::{Exit, Move, nonzero};
use super::{IExpr, IObj, Offset, Root};
use crate::ir::POINTER_BITS;
use crate::property::Target;
use crate::sat::oracle::Oracle;
use crate::symbolic::arena::Arena;
use crate::symbolic::execution::Execution;
use crate::symbolic::guard::Guard;
use crate::symbolic::region::RegionKind;
use crate::symbolic::state::Object;
use crate::symbolic::term::{Node, Op, Term};

/// Predicates kept for one object; the table has up to 2^n rows for each entry state.
pub const MAX_PREDICATES: usize = 5;
const MAX_INPUT_CANDIDATES: usize = 12;
const MAX_ON_RESULT: usize = 2;
/// Conditions that callers are told without which an object is not made, or a cell not written.
const MAX_NEEDED: usize = 4;
const MAX_OUT_PARAMETERS: usize = 4;
/// Nodes of the condition on an out-parameter. A larger one hangs on what the function has found in memory.
const MAX_SMALL_OUTPUT: usize = 100;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    Input,
    Output,
}

/// A candidate of P_in or P_out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Predicate {
    pub side: Side,
    pub expr: IExpr,
    /// The same condition within the execution.
    pub guard: Guard,
}

impl Predicate {
    /// Whether the arguments decide it, whatever is in memory: a caller that writes them down knows.
    pub fn is_of_arguments(&self) -> bool {
        self.side == Side::Input && is_of_arguments(&self.expr)
    }

    /// Whether it is about what the function returns alone.
    pub fn is_of_result(&self) -> bool {
        let is_result = |object: &IObj| object.root == Root::Return && object.path.is_empty();
        self.side == Side::Output && self.expr.is_made_of(is_result)
    }
}

/// Whether the arguments decide an expression over entry values.
pub fn is_of_arguments(expr: &IExpr) -> bool {
    let mut only = true;
    expr.each(&mut |part| {
        only &= match part {
            IExpr::Value { object, .. } => {
                matches!(object.root, Root::Param(_)) && object.path.is_empty()
            }
            IExpr::Address(object) => object.path.len() <= 1,
            IExpr::Unknown { .. } | IExpr::InState { .. } => false,
            IExpr::Const { .. } | IExpr::Op { .. } | IExpr::Linear { .. } => true,
        }
    });
    only
}

/// The candidates on the result, and those on out-parameters that are small: each exit of each object is asked for them.
pub fn small_outputs(
    execution: &Execution,
    arena: &mut Arena<'_>,
    exit: &Exit<'_>,
) -> Vec<Predicate> {
    let mut found = outputs(execution, arena, exit);
    let guards = &arena.formula.guards;
    found.retain(|known| known.is_of_result() || guards.size(known.guard) <= MAX_SMALL_OUTPUT);
    found
}

/// The conditions over entry values.
pub fn inputs(arena: &mut Arena<'_>, converter: &mut Converter, moves: &[Move]) -> Vec<Predicate> {
    let mut found = Vec::new();
    let mut conditions = Vec::new();
    for entry in moves {
        conditions.extend_from_slice(arena.formula.guards.support(entry.paths));
    }
    conditions.sort();
    conditions.dedup();
    for condition in conditions {
        let term = arena.formula.cond_term(condition);
        if found.len() < MAX_INPUT_CANDIDATES
            && let Some(expr) = converter.expr(arena, term)
        {
            // `flag != 0` reads better than `flag == 0`: it is how C tests.
            let is_zero_test = matches!(
                &expr,
                IExpr::Op { op: Op::Eq, args, .. }
                    if args.iter().any(|arg| matches!(arg, IExpr::Const { value: 0, .. }))
            );
            let expr = match is_zero_test {
                true => IExpr::Op {
                    op: Op::Not,
                    width: 1,
                    args: vec![expr],
                },
                false => expr,
            };
            let guard = arena.formula.guards.literal(condition, !is_zero_test);
            found.push(Predicate {
                side: Side::Input,
                expr,
                guard,
            });
        }
    }
    found
}

/// The paths on which an object is moved.
pub fn moved_on(arena: &mut Arena<'_>, moves: &[Move]) -> Guard {
    let mut moved = Guard::FALSE;
    for entry in moves {
        if entry.to != Target::State(entry.from) {
            moved = arena.formula.guards.or(moved, entry.paths);
        }
    }
    moved
}

/// The conditions over entry values that hold, or do not, on all of some paths; those first that the arguments decide.
pub fn needed(
    arena: &mut Arena<'_>,
    converter: &mut Converter,
    paths: Guard,
) -> Vec<(IExpr, bool)> {
    let mut needed = Vec::new();
    for (condition, holds) in arena.formula.guards.implied_literals(paths) {
        let term = arena.formula.cond_term(condition);
        needed.extend(converter.expr(arena, term).map(|expr| (expr, holds)));
    }
    needed.sort_by_key(|(expr, _)| !is_of_arguments(expr));
    needed.truncate(MAX_NEEDED);
    needed
}

/// The conditions on the result and on out-parameters.
pub fn outputs(execution: &Execution, arena: &mut Arena<'_>, exit: &Exit<'_>) -> Vec<Predicate> {
    let mut found = Vec::new();
    if let Some(result) = exit.result {
        found.extend(result::mine(execution, arena, result));
    }
    on_out_parameters(arena, exit, &mut found);
    found.retain(|predicate| predicate.guard != Guard::TRUE && predicate.guard != Guard::FALSE);
    found
}

/// The candidates on the result that the rows of a new block are asked for: of a number that it is not 0, and that it is negative.
pub fn on_result<'p>(
    arena: &Arena<'_>,
    exit: &Exit<'_>,
    candidates: &'p [Predicate],
) -> Vec<&'p Predicate> {
    // A pointer is null or not.
    let pointer = exit
        .result
        .is_some_and(|result| arena.names.is_pointer(result));
    let most = if pointer { 1 } else { MAX_ON_RESULT };
    let of_result = candidates.iter().filter(|known| known.is_of_result());
    of_result.take(most).collect()
}

/// The condition that an output pointer leads to the object.
pub fn has_output_pointer(arena: &mut Arena<'_>, exit: &Exit<'_>, object: Object) -> Predicate {
    let result = IObj {
        root: Root::Return,
        path: Vec::new(),
    };
    Predicate {
        side: Side::Output,
        expr: nonzero(result, POINTER_BITS, true),
        guard: Converter::new(exit).output_paths(arena, object.loc),
    }
}

/// Where a result says that the function has failed: it is negative, an error pointer or null. `None` for
/// a result that cannot say so.
pub fn failure(arena: &mut Arena<'_>, result: Term) -> Option<Guard> {
    let width = arena.formula.terms.width(result);
    if width < 32 {
        return None;
    }
    let terms = &mut arena.formula.terms;
    let zero = terms.constant(0, width);
    let negative = terms.slt(result, zero);
    Some(arena.formula.guard_of(negative))
}

/// Whether a value is a choice between constants, or a pointer that is null on some paths.
fn tells(arena: &Arena<'_>, value: Term, depth: u32) -> bool {
    is_one_of_constants(arena, value, depth)
        || arena.formula.terms.width(value) == POINTER_BITS && may_be_null(arena, value, depth)
}

/// Whether a value is a choice with null in it.
fn may_be_null(arena: &Arena<'_>, value: Term, depth: u32) -> bool {
    match arena.formula.terms.node(value) {
        Node::Op { op: Op::Ite, args } if depth > 0 => args[1..].iter().any(|&arg| {
            arena.formula.terms.as_const(arg) == Some(0) || may_be_null(arena, arg, depth - 1)
        }),
        _ => false,
    }
}

/// Whether a value is a choice between constants.
fn is_one_of_constants(arena: &Arena<'_>, value: Term, depth: u32) -> bool {
    let constant = |value: Term| arena.formula.terms.as_const(value).is_some();
    match arena.formula.terms.node(value) {
        Node::Op { op: Op::Ite, args } if depth > 0 => args[1..]
            .iter()
            .all(|&arg| constant(arg) || is_one_of_constants(arena, arg, depth - 1)),
        // `c ? 1 : 0`.
        Node::Op { op: Op::Zext, args } => arena.formula.terms.width(args[0]) == 1,
        _ => false,
    }
}

/// Scalars that the function stores through a parameter: `*success = …`; and members that it sets to one
/// or another constant, or to null on some paths: `iterator->locked = true`, `private->task = NULL`.
fn on_out_parameters(arena: &mut Arena<'_>, exit: &Exit<'_>, found: &mut Vec<Predicate>) {
    let regions = &arena.regions;
    let cells = exit
        .state
        .memory
        .written(|region| matches!(regions.kind(region), RegionKind::Environment { .. }));
    let mut converter = Converter::of_entry();
    let mut count = 0;
    for (loc, size, value) in cells {
        let Some(value) = value else { continue };
        let Some(object) = converter.object(arena, loc) else {
            continue;
        };
        // What lies at offset 0 of a record is a member, no result.
        let address = arena.regions.address(&mut arena.formula.terms, loc);
        let direct = !arena.names.is_record(address) && object.path == [Offset::bytes(0)];
        let is_out = matches!(object.root, Root::Param(_))
            && arena.is_whole(size, arena.formula.terms.width(value))
            && (direct || tells(arena, value, 6));
        if is_out && size <= 8 && count < MAX_OUT_PARAMETERS {
            count += 1;
            let truth = arena.nonzero(value);
            let guard = arena.formula.guard_of(truth);
            let pointer = arena.is_told_pointer(value, 6);
            let expr = nonzero(object, (size * 8) as u16, pointer);
            found.push(Predicate {
                side: Side::Output,
                expr,
                guard,
            });
        }
    }
}

/// The number of predicates for an object whose function has so much room left of what guards had when its first object was told:
/// with many objects those that come last are told with fewer conditions, so that the function is not out of budget.
pub fn most_predicates(left: usize, room: usize) -> usize {
    match left.saturating_mul(4) / room.max(1) {
        3.. => MAX_PREDICATES,
        2 => MAX_PREDICATES / 2,
        1 => 1,
        0 => 0,
    }
}

/// The candidates that tell an object's exits apart, at most so many: added while each takes ambiguity away,
/// then those dropped that turn out not to be needed.
pub fn select(
    oracle: &mut Oracle<'_>,
    candidates: &[Predicate],
    moves: &[Move],
    most: usize,
) -> Vec<Predicate> {
    let mut chooser = Chooser::new(candidates, oracle);
    let mut chosen: Vec<usize> = Vec::new();
    let whole = chooser.whole(moves);
    let mut partition = whole.clone();
    while partition.ambiguity() > 0 && chosen.len() < most {
        let mut best: Option<(usize, u64)> = None;
        for number in chooser.numbers().filter(|number| !chosen.contains(number)) {
            let bound = best.map_or(partition.ambiguity(), |(_, ambiguity)| ambiguity);
            if let Some(ambiguity) = chooser.ambiguity_with(&mut partition, number, bound) {
                best = Some((number, ambiguity));
            }
            if best.is_some_and(|(_, ambiguity)| ambiguity == 0) {
                break;
            }
        }
        let Some((number, _)) = best else {
            break;
        };
        chosen.push(number);
        partition = chooser.refine(&partition, number);
    }
    let ambiguity = partition.ambiguity();
    for index in (0..chosen.len()).rev() {
        let dropped = chosen.remove(index);
        let mut without = whole.clone();
        for &number in &chosen {
            without = chooser.refine(&without, number);
        }
        if without.ambiguity() > ambiguity {
            chosen.insert(index, dropped);
        }
    }
    // Inputs first, each side in the order of mining.
    chosen.sort_by_key(|&number| (candidates[number].side == Side::Output, number));
    let chosen = chosen.into_iter().map(|number| candidates[number].clone());
    chosen.collect()
}
