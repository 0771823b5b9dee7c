//! Mining P_in and P_out: the conditions that tell a function's exits apart.
//!
//! In: the paths between each entry and exit state of an object. Out: a few conditions over entry
//! values, the result and out-parameters under which the exit state is determined as far as it can be.

use super::convert::Converter;
use super::infer::{Exit, Exits, Move, is_nonzero, nonzero};
use super::{IExpr, IObj, Offset, Root, Told, When};
use crate::ir::POINTER_BITS;
use crate::property::StateId;
use crate::sat::oracle::Oracle;
use crate::symbolic::arena::Arena;
use crate::symbolic::execution::Execution;
use crate::symbolic::guard::Guard;
use crate::symbolic::region::RegionKind;
use crate::symbolic::state::Object;
use crate::symbolic::term::{Node, Op, Term, eval, mask};
use crate::symbolic::validity::MAX_ERRNO;

/// Predicates kept for one object; the table has up to 2^n rows for each entry state.
const MAX_PREDICATES: usize = 5;
const MAX_INPUT_CANDIDATES: usize = 12;
/// From here on error numbers are the kernel's own.
const FIRST_OWN_ERROR: u128 = 512;
const MAX_OUT_PARAMETERS: usize = 4;
const MAX_CONSTANTS: usize = 4;

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
        let mut only = self.side == Side::Input;
        self.expr.each(&mut |part| {
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
}

/// Candidates, those tried first first.
pub fn mine(
    execution: &Execution,
    arena: &mut Arena<'_>,
    converter: &mut Converter,
    exit: &Exit<'_>,
    exits: &Exits,
) -> Vec<Predicate> {
    let mut found = outputs(execution, arena, exit);
    found.extend(inputs(arena, converter, &exits.moves));
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

/// The conditions on the result and on out-parameters.
pub fn outputs(execution: &Execution, arena: &mut Arena<'_>, exit: &Exit<'_>) -> Vec<Predicate> {
    let mut found = Vec::new();
    if let Some(result) = exit.result {
        on_result(execution, arena, result, &mut found);
    }
    on_out_parameters(arena, exit, &mut found);
    found.retain(|predicate| predicate.guard != Guard::TRUE && predicate.guard != Guard::FALSE);
    found
}

/// Whether a pointer that the caller receives leads to the object.
pub fn received(arena: &mut Arena<'_>, exit: &Exit<'_>, object: Object) -> Predicate {
    let result = IObj {
        root: Root::Return,
        path: Vec::new(),
    };
    Predicate {
        side: Side::Output,
        expr: nonzero(result, POINTER_BITS, true),
        guard: Converter::new(exit).received_on(arena, object.loc),
    }
}

fn on_result(
    execution: &Execution,
    arena: &mut Arena<'_>,
    result: Term,
    found: &mut Vec<Predicate>,
) {
    let object = || IObj {
        root: Root::Return,
        path: Vec::new(),
    };
    let width = arena.formula.terms.width(result);
    let pointer = arena.is_told_pointer(result, 6);
    let value = IExpr::Value {
        object: object(),
        width,
        when: When::Exit,
        narrow: false,
        pointer: Told(pointer),
    };
    let constant = |value: u128| IExpr::Const { value, width };
    let mut add = |arena: &mut Arena<'_>, expr: IExpr, term: Term| {
        let guard = arena.formula.guard_of(term);
        found.push(Predicate {
            side: Side::Output,
            expr,
            guard,
        });
    };
    let truth = arena.nonzero(result);
    add(arena, nonzero(object(), width, pointer), truth);
    if width < 32 {
        return;
    }
    let zero = arena.formula.terms.constant(0, width);
    let negative = arena.formula.terms.slt(result, zero);
    let less = IExpr::Op {
        op: Op::Slt,
        width: 1,
        args: vec![value.clone(), constant(0)],
    };
    add(arena, less, negative);
    let positive = arena.formula.terms.slt(zero, result);
    let more = IExpr::Op {
        op: Op::Slt,
        width: 1,
        args: vec![constant(0), value.clone()],
    };
    add(arena, more, positive);
    if width == POINTER_BITS {
        let last = (1u128 << width) - 1 - MAX_ERRNO;
        let bound = arena.formula.terms.constant(last, width);
        let is_error = arena.formula.terms.ult(bound, result);
        let expr = IExpr::Op {
            op: Op::Ult,
            width: 1,
            args: vec![constant(last), value.clone()],
        };
        add(arena, expr, is_error);
    }
    let params = arena.origins.params().to_vec();
    for (index, param) in params {
        if arena.formula.terms.width(param) != width || !is_choice_of(arena, result, param, 6) {
            continue;
        }
        let same = arena.formula.terms.eq(result, param);
        let argument = IExpr::Value {
            object: IObj {
                root: Root::Param(index),
                path: Vec::new(),
            },
            width,
            when: When::Entry,
            narrow: false,
            pointer: Told(pointer),
        };
        let expr = IExpr::Op {
            op: Op::Eq,
            width: 1,
            args: vec![value.clone(), argument],
        };
        add(arena, expr, same);
    }
    let mut constants = Vec::new();
    told_constants(arena, result, &mut constants);
    compared_constants(execution, arena, result, &mut constants);
    for number in constants.into_iter().take(MAX_CONSTANTS) {
        let term = arena.formula.terms.constant(number, width);
        let equal = arena.formula.terms.eq(result, term);
        let expr = IExpr::Op {
            op: Op::Eq,
            width: 1,
            args: vec![value.clone(), constant(number)],
        };
        add(arena, expr, equal);
    }
    let mut bits = Vec::new();
    bits_set(arena, result, &mut bits, 6);
    for bit in bits.into_iter().take(MAX_CONSTANTS) {
        let mask = arena.formula.terms.constant(bit, width);
        let masked = arena.formula.terms.and(result, mask);
        let set = arena.nonzero(masked);
        let masked = IExpr::Op {
            op: Op::And,
            width,
            args: vec![value.clone(), constant(bit)],
        };
        add(arena, is_nonzero(masked, width), set);
    }
}

/// The constants that the function itself compares what it returns with, but for 0 and for error numbers that user
/// programs know: those of the kernel's own (`-EIOCBQUEUED`) tell its parts from each other what to do next.
fn compared_constants(
    execution: &Execution,
    arena: &Arena<'_>,
    result: Term,
    found: &mut Vec<u128>,
) {
    let width = arena.formula.terms.width(result);
    let mut parts: Vec<Term> = Vec::new();
    let mut work = vec![(result, 6)];
    while let Some((term, depth)) = work.pop() {
        match arena.formula.terms.node(term) {
            Node::Op { op: Op::Ite, args } if depth > 0 => {
                work.extend(args[1..].iter().map(|&arg| (arg, depth - 1)));
            }
            Node::Op {
                op: Op::Sext | Op::Zext,
                args,
            } => parts.push(args[0]),
            Node::Const(_) => {}
            _ => parts.push(term),
        }
    }
    for branch in execution
        .log
        .branches
        .iter()
        .filter(|branch| branch.depth == 0)
    {
        for &condition in arena.formula.guards.support(branch.guard) {
            if let Node::Op { op: Op::Eq, args } =
                arena.formula.terms.node(arena.formula.cond_term(condition))
                && let &[value, number] = &args[..]
                && parts.contains(&value)
                && let Some(number) = arena.formula.terms.as_const(number)
            {
                let narrow = arena.formula.terms.width(value);
                let number = eval::apply(Op::Sext, width, &[(number, narrow)]);
                let error = number.wrapping_neg() & mask(width);
                if number != 0 && !(1..FIRST_OWN_ERROR).contains(&error) && !found.contains(&number)
                {
                    found.push(number);
                }
            }
        }
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

/// Whether a value is one of the choices of a term.
fn is_choice_of(arena: &Arena<'_>, term: Term, value: Term, depth: u32) -> bool {
    match arena.formula.terms.node(term) {
        _ if term == value => true,
        Node::Op { op: Op::Ite, args } if depth > 0 => {
            is_choice_of(arena, args[1], value, depth - 1)
                || is_choice_of(arena, args[2], value, depth - 1)
        }
        _ => false,
    }
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

/// Positive constants that a result may take. Error numbers are no such: callers tell failure from
/// success, not one failure from another; but -1 is, where the result may also be a value from elsewhere.
fn told_constants(arena: &Arena<'_>, result: Term, found: &mut Vec<u128>) {
    let minus_one = mask(arena.formula.terms.width(result));
    let (mut none, mut others) = (false, false);
    let mut work = vec![(result, 6)];
    while let Some((term, depth)) = work.pop() {
        match arena.formula.terms.node(term) {
            Node::Const(value) => {
                let negative = value >> (arena.formula.terms.width(term) - 1) == 1;
                if *value != 0 && !negative && !found.contains(value) {
                    found.push(*value);
                }
                none |= *value == minus_one;
            }
            Node::Op { op: Op::Ite, args } if depth > 0 => {
                work.extend([(args[2], depth - 1), (args[1], depth - 1)]);
            }
            _ => others = true,
        }
    }
    if none && others {
        found.push(minus_one);
    }
}

/// Bits that a result has for sure on some path, and others beside: `ret | VM_FAULT_RETRY`.
fn bits_set(arena: &Arena<'_>, term: Term, found: &mut Vec<u128>, depth: u32) {
    let Node::Op { op, args } = arena.formula.terms.node(term) else {
        return;
    };
    match op {
        Op::Ite if depth > 0 => {
            bits_set(arena, args[1], found, depth - 1);
            bits_set(arena, args[2], found, depth - 1);
        }
        Op::Or => {
            let bits = args
                .iter()
                .filter_map(|&arg| arena.formula.terms.as_const(arg));
            let single = bits.filter(|bits| bits.is_power_of_two());
            let new: Vec<u128> = single.filter(|bit| !found.contains(bit)).collect();
            found.extend(new);
        }
        _ => {}
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

/// The candidates that tell an object's exits apart, few: added while each takes ambiguity away,
/// then those dropped that turn out not to be needed.
pub fn select(oracle: &mut Oracle<'_>, candidates: &[Predicate], moves: &[Move]) -> Vec<Predicate> {
    let mut chosen: Vec<Predicate> = Vec::new();
    let whole = Partition::new(oracle, moves);
    let mut partition = whole.clone();
    while !partition.open.is_empty() && chosen.len() < MAX_PREDICATES {
        let mut best = partition.ambiguity();
        let mut refined: Option<(Predicate, Partition)> = None;
        for candidate in candidates {
            if best == 0 || chosen.contains(candidate) {
                continue;
            }
            let split = partition.split(oracle, candidate, best);
            if let Some(split) = split.filter(|split| split.ambiguity() < best) {
                best = split.ambiguity();
                refined = Some((candidate.clone(), split));
            }
        }
        let Some((candidate, split)) = refined else {
            break;
        };
        chosen.push(candidate);
        partition = split;
    }
    let ambiguity = partition.ambiguity();
    for index in (0..chosen.len()).rev() {
        let dropped = chosen.remove(index);
        if !whole.stays_within(oracle, &chosen, ambiguity) {
            chosen.insert(index, dropped);
        }
    }
    // Inputs first, each side in the order of mining.
    chosen.sort_by_key(|predicate| {
        let place = candidates
            .iter()
            .position(|candidate| candidate == predicate);
        (predicate.side == Side::Output, place)
    });
    chosen
}

/// The combinations of some conditions under which more than one exit of an entry state is possible.
#[derive(Clone)]
struct Partition {
    open: Vec<Open>,
}

#[derive(Clone)]
struct Open {
    /// The part of the space of conditions that this is, in units of 2^-MAX_PREDICATES for each entry
    /// state.
    weight: u64,
    /// The paths to each exit; two or more.
    exits: Vec<Guard>,
}

impl Partition {
    /// Without any condition.
    fn new(oracle: &mut Oracle<'_>, moves: &[Move]) -> Self {
        let mut entries: Vec<StateId> = moves.iter().map(|entry| entry.from).collect();
        entries.dedup();
        let mut partition = Partition { open: Vec::new() };
        for from in entries {
            let of_entry = moves
                .iter()
                .filter(|entry| entry.from == from && !entry.reported);
            let targets: Vec<Guard> = of_entry.map(|entry| entry.paths).collect();
            let live = possible(oracle, &targets);
            partition.add(1 << MAX_PREDICATES, live);
        }
        partition
    }

    fn add(&mut self, weight: u64, exits: Vec<Guard>) {
        if exits.len() > 1 {
            self.open.push(Open { weight, exits });
        }
    }

    /// How much of the space of conditions leaves an exit open.
    fn ambiguity(&self) -> u64 {
        self.open.iter().map(|open| open.weight).sum()
    }

    /// With one more condition; `None` as soon as it is clear that `bound` or more stays open.
    fn split(
        &self,
        oracle: &mut Oracle<'_>,
        predicate: &Predicate,
        bound: u64,
    ) -> Option<Partition> {
        let mut refined = Partition { open: Vec::new() };
        let mut ambiguity = 0;
        for open in &self.open {
            let guards = &mut oracle.formula.guards;
            let (with, without): (Vec<Guard>, Vec<Guard>) = open
                .exits
                .iter()
                .map(|&exit| {
                    (
                        guards.and(exit, predicate.guard),
                        guards.and_not(exit, predicate.guard),
                    )
                })
                .unzip();
            let with = possible(oracle, &with);
            let without = possible(oracle, &without);
            // A predicate that is the same on all paths here tells nothing.
            let weight = match with.is_empty() || without.is_empty() {
                true => open.weight,
                false => open.weight / 2,
            };
            for side in [with, without] {
                if side.len() > 1 {
                    ambiguity += weight;
                }
                refined.add(weight, side);
            }
            if ambiguity >= bound {
                return None;
            }
        }
        Some(refined)
    }

    /// Whether with these conditions no more than `bound` stays open.
    fn stays_within(&self, oracle: &mut Oracle<'_>, predicates: &[Predicate], bound: u64) -> bool {
        let mut partition = self.clone();
        for predicate in predicates {
            if let Some(split) = partition.split(oracle, predicate, u64::MAX) {
                partition = split;
            }
        }
        partition.ambiguity() <= bound
    }
}

fn possible(oracle: &mut Oracle<'_>, targets: &[Guard]) -> Vec<Guard> {
    let mut possible = targets.to_vec();
    possible.retain(|&target| target != Guard::FALSE && oracle.possible(target));
    possible
}
