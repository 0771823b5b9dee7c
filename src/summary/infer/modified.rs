//! M of paper §5.3: what may differ between ψ0 and ψ.
//!
//! In: a finished execution, and the rest of its summary. Out: the cells that callers have a name for with their values on exit, and whether
//! there are more.

use std::collections::BTreeSet;

use rustc_hash::FxHashSet;

use super::super::convert::Converter;
use super::super::null_result::may_be_null;
use super::super::predicates::{Predicate, needed};
use super::super::{
    IExpr, IObj, Modified, NullResult, Offset, Replaced, Root, Row, Sign, Summary, Told,
};
use super::by_result::by_result;
use super::{Exit, apart, pointer_on};
use crate::ir::POINTER_BITS;
use crate::property::Target;
use crate::sat::oracle::Oracle;
use crate::symbolic::access::start_of;
use crate::symbolic::arena::Arena;
use crate::symbolic::execution::Execution;
use crate::symbolic::formula::Formula;
use crate::symbolic::guard::Guard;
use crate::symbolic::heap::Shape;
use crate::symbolic::naming::Named;
use crate::symbolic::region::{Loc, NUMBER_BITS, RegionId, RegionKind};
use crate::symbolic::term::{Node, Op, Term};

/// Cells of M, at most.
const MAX_MODIFIED: usize = 48;
/// Records that callees may write to, at most, and pointers to one of them.
const MAX_DISTURBED: usize = 8;
const MAX_WAY: usize = 3;
/// Joins of paths with something else in a cell that are looked at.
const MAX_CHOICES: u32 = 64;
/// Alternatives of one value that are looked at.
const MAX_ALTERNATIVES: u32 = 32;

/// Adds M to a summary that has its rows and its result.
pub(super) fn modified(
    execution: &Execution,
    oracle: &mut Oracle<'_>,
    converter: &mut Converter,
    (exit, of_result): (&Exit<'_>, &[Predicate]),
    summary: &mut Summary,
) {
    let holders = holders_of_moved(summary);
    let regions = &oracle.regions;
    let cells = exit.state.memory.written(|region| {
        matches!(
            regions.kind(region),
            RegionKind::Symbol(_) | RegionKind::Environment { .. }
        )
    });
    let mut named: Vec<_> = cells
        .into_iter()
        .filter_map(|cell| Some((converter.object(oracle, cell.0)?, cell)))
        .filter(|(object, _)| !object.root.is_output())
        .collect();
    // Out-parameters first, which tell the caller what happened; and then the pointers to what the function has ended, of which callers
    // have to know that they lead elsewhere now.
    named.sort_by_cached_key(|(object, cell)| {
        let out = matches!(object.root, Root::Param(_)) && object.path == [Offset::bytes(0)];
        let ended = holders.iter().any(|holder| holder.lies_in(object, cell.1));
        (!out, !ended, object.path.len())
    });
    let mut modified = Vec::new();
    let mut values: Vec<Option<Term>> = Vec::new();
    let mut more = execution.writes_more;
    for (mut object, (loc, size, value)) in named {
        let value = value.or_else(|| oracle.scalar_at(exit.state, loc, size));
        let whole = value.filter(|&term| oracle.is_whole(size, oracle.formula.terms.width(term)));
        if let Some(term) = whole
            && size <= 16
            && oracle.is_initial(loc, size, term)
        {
            continue;
        }
        if modified.len() >= MAX_MODIFIED {
            more = true;
            break;
        }
        let whole = whole.map(|term| where_there(oracle, exit, (loc, term)));
        let value = whole.and_then(|term| converter.expr(oracle, term));
        let value = match whole.filter(|_| value.as_ref().is_none_or(IExpr::is_open)) {
            Some(term) => compared(oracle, converter, exit, (loc, term))
                .or_else(|| by_result(oracle, converter, exit, of_result, (&object, term)))
                .or(value),
            None => value,
        };
        if whole.is_none()
            && let Some(last) = object.path.last_mut()
        {
            let members = oracle.members_of(loc, Named::Whole);
            last.members = Told(members.map(Into::into));
        }
        let pointer = Told(oracle.keeps_pointer(loc, whole));
        let null = whole.map(|term| may_be_null(oracle, exit, term));
        let null = null.unwrap_or_default();
        let only_if = match oracle.watches && value.as_ref().is_none_or(IExpr::is_open) {
            true => {
                let written = written_on(oracle, exit, (loc, size), whole);
                needed(oracle, &mut Converter::of_entry(), written)
            }
            false => Vec::new(),
        };
        let open = value.as_ref().is_none_or(IExpr::is_open);
        let left = whole.filter(|_| oracle.watches);
        let replaced = left.map(|term| replaced(oracle, exit, (loc, size, term), open));
        modified.push(Modified {
            object,
            size,
            value,
            pointer,
            null,
            null_with: whole.and_then(|term| null_with(oracle, exit, (term, null))),
            only_if,
            replaced: replaced.unwrap_or_default(),
        });
        values.push(whole);
    }
    if oracle.watches {
        apart::tell_apart(oracle, exit, &summary.result, (&mut modified, &values));
    }
    summary.writes_more = more;
    summary.disturbs = disturbed(execution, oracle);
    summary.changes_answers = execution.changes_answers;
    summary.modified = modified;
}

/// The value of a cell on the paths on which there is such a cell: what `if (p) p->n = 0;` leaves in `p->n` is 0, and never what was there
/// before, for where `p` is null there is nothing that callers would look at.
fn where_there(arena: &mut Arena<'_>, exit: &Exit<'_>, (loc, value): (Loc, Term)) -> Term {
    if !arena.watches || arena.surely_exists(exit.state, loc) {
        return pointer_on(arena, exit, value);
    }
    let exists = arena.exists(loc);
    let paths = arena.formula.guards.and(exit.state.guard, exists);
    match paths == Guard::FALSE {
        true => pointer_on(arena, exit, value),
        false => arena.formula.without_others(value, paths),
    }
}

/// The records that callers know and that callees get of which it is not known what they write there.
fn disturbed(execution: &Execution, oracle: &mut Oracle<'_>) -> Vec<IObj> {
    let open = execution.log.disturbed.iter().filter(|event| event.open);
    let regions: BTreeSet<RegionId> = open.map(|event| event.region).collect();
    let mut converter = Converter::of_entry();
    let known = regions.into_iter().filter_map(|region| {
        let object = converter.object(oracle, start_of(region))?;
        (object.path.len() <= MAX_WAY && !object.root.is_output()).then_some(object)
    });
    known.take(MAX_DISTURBED).collect()
}

/// What a pointer that callers know nothing of has been found to be wherever the function returns: null, or the address of the place that it is
/// in, as in a list that is empty (`while (head->next != head) free_first(head);`).
fn compared(
    arena: &mut Arena<'_>,
    converter: &mut Converter,
    exit: &Exit<'_>,
    (loc, value): (Loc, Term),
) -> Option<IExpr> {
    if !arena.watches || arena.formula.terms.width(value) != POINTER_BITS {
        return None;
    }
    let before = Loc {
        offset: loc.offset.checked_sub(i64::from(POINTER_BITS / 8))?,
        ..loc
    };
    let terms = &mut arena.formula.terms;
    let mut candidates = vec![terms.constant(0, POINTER_BITS)];
    // The second pointer of a list's head leads to the first, as that does.
    candidates.extend([loc, before].map(|at| arena.regions.address(terms, at)));
    let paths = exit.state.guard;
    let mut found = |formula: &mut Formula, alternative: Term, paths: Guard| {
        let mut candidates = candidates.iter();
        let equal = candidates.find(|&&candidate| {
            let equal = formula.terms.eq(alternative, candidate);
            let known = formula.known_guard(equal);
            known.is_some_and(|known| formula.guards.implies(paths, known))
        });
        equal.copied().unwrap_or(alternative)
    };
    let formula = &mut arena.formula;
    let other = formula.replace_alternatives(value, paths, &mut found);
    match other == value {
        true => None,
        false => converter.expr(arena, other),
    }
}

/// The paths on which a cell has another value on exit than on entry, as far as its value is looked at.
fn written_on(
    arena: &mut Arena<'_>,
    exit: &Exit<'_>,
    (loc, size): (Loc, u64),
    value: Option<Term>,
) -> Guard {
    let paths = exit.state.guard;
    let Some(value) = value else {
        let memory = &exit.state.memory;
        let guards = &mut arena.formula.guards;
        return memory.written_on(guards, (loc, size), paths, &mut { MAX_CHOICES });
    };
    let mut written = Guard::FALSE;
    for (paths, value) in arena.formula.alternatives(value, paths, MAX_ALTERNATIVES) {
        if !arena.is_initial(loc, size, value) {
            written = arena.formula.guards.or(written, paths);
        }
    }
    written
}

/// Whether the function ends what a pointer has led to on entry, or a number has named, and no way is known on which it does and leaves the
/// pointer, but for those on which its result tells, and those on which the block says that it is found by another pointer. `open`: callers are not told
/// what is there behind the call; if they are, they see the other ways by themselves.
fn replaced(
    oracle: &mut Oracle<'_>,
    exit: &Exit<'_>,
    (loc, size, value): (Loc, u64, Term),
    open: bool,
) -> Replaced {
    let bits = oracle.formula.terms.width(value);
    if bits != POINTER_BITS && bits != NUMBER_BITS {
        return Replaced::Unknown;
    }
    let shape = Shape { bytes: size, bits };
    let old = oracle.heap().initial(loc, shape);
    let [(_, block)] = oracle.locations(old)[..] else {
        return Replaced::Unknown;
    };
    let ended = oracle.ended_on(exit.state, block.region);
    let ended = oracle.formula.guards.and(exit.state.guard, ended);
    let formula = &mut oracle.formula;
    let left = formula.alternatives(value, ended, MAX_ALTERNATIVES);
    let is_choice = |value| matches!(formula.terms.node(value), Node::Op { op: Op::Ite, .. });
    if left.is_empty() || left.iter().any(|&(_, value)| is_choice(value)) {
        return Replaced::Unknown;
    }
    let unchanged = left.iter().filter(|&&(_, value)| value == old);
    let unchanged = unchanged.map(|&(paths, _)| paths);
    let unchanged = oracle.formula.guards.union(unchanged);
    let changes = left.iter().any(|&(_, value)| value != old);
    if changes && told_by_block(oracle, unchanged, block.region) {
        return Replaced::Always;
    }
    if !open {
        return Replaced::Unknown;
    }
    if oracle.model(unchanged).is_none() {
        return Replaced::Always;
    }
    let Some(result) = exit.result else {
        return Replaced::Unknown;
    };
    // A pointer has no sign.
    let signs = match oracle.formula.terms.width(result) {
        POINTER_BITS => &[Sign::Zero, Sign::Nonzero][..],
        _ => &[Sign::Negative, Sign::Zero, Sign::Nonzero],
    };
    let told = signs.iter().find(|sign| {
        let told = sign.of(oracle, result);
        let other = oracle.formula.guards.and_not(unchanged, told);
        oracle.model(other).is_none()
    });
    told.map_or(Replaced::Unknown, |&sign| Replaced::Unless(sign))
}

/// Whether a pointer in a block leads somewhere on all these paths: an element of a list tells by its neighbours which pointers lead to it, and
/// is taken out of the list by them (`if (node->prev) node->prev->next = node->next; else list->head = node->next;`).
fn told_by_block(oracle: &mut Oracle<'_>, paths: Guard, block: RegionId) -> bool {
    let literals = oracle.formula.guards.implied_literals(paths);
    literals.into_iter().any(|(condition, null)| {
        let is_null = oracle.formula.guards.literal(condition, true);
        let places = oracle.compared_with_null(is_null).into_iter();
        let mut places = places.filter_map(|pointer| oracle.initial_place(pointer));
        !null && places.any(|place| place.region == block)
    })
}

/// Where callers find the pointers to the objects that the function leaves in another state, and the numbers that name such objects.
fn holders_of_moved(summary: &Summary) -> Vec<Holder<'_>> {
    let moves = |row: &&Row| matches!(row.to, Target::State(to) if to != row.from);
    let moved = summary.rows.iter().filter(moves);
    let moved: FxHashSet<u32> = moved.map(|row| row.object).collect();
    let objects = (0..).zip(&summary.objects);
    let objects = objects.filter(|(index, _)| moved.contains(index));
    objects
        .filter_map(|(_, known)| Holder::of(&known.object))
        .collect()
}

/// A cell of the caller's: what leads to the record that it is in, and its place there.
struct Holder<'s> {
    root: &'s Root,
    way: &'s [Offset],
    place: &'s Offset,
}

impl<'s> Holder<'s> {
    /// Where the pointer to an object lies, or the number that names it.
    fn of(object: &'s IObj) -> Option<Holder<'s>> {
        let (root, path) = match (&object.root, object.path.split_last()) {
            (Root::Entry(number), None) => (&number.root, &number.path[..]),
            (root, Some((_, holder))) => (root, holder),
            (_, None) => return None,
        };
        let (place, way) = path.split_last()?;
        Some(Holder { root, way, place })
    }

    /// Whether the cell is among these bytes.
    fn lies_in(&self, object: &IObj, size: u64) -> bool {
        let Some((start, way)) = object.path.split_last() else {
            return false;
        };
        let before = self.place.constant.checked_sub(start.constant);
        let within = before.is_some_and(|before| (0..size as i64).contains(&before));
        within && (&object.root, way) == (self.root, self.way) && start.terms == self.place.terms
    }
}

/// What the result says wherever a value is null as [`Modified::null_with`] has it. Of what decides that and the result callers may be told too little
/// to see it themselves.
fn null_with(
    oracle: &mut Oracle<'_>,
    exit: &Exit<'_>,
    (value, failed): (Term, NullResult),
) -> Option<Sign> {
    let result = exit.result?;
    if !oracle.watches {
        return None;
    }
    let null = match failed {
        NullResult::May => oracle.null_paths(value),
        _ => oracle.chosen_null(value),
    };
    let null = oracle.formula.guards.and(exit.state.guard, null);
    if null == Guard::FALSE {
        return None;
    }
    // A pointer has no sign.
    if oracle.formula.terms.width(result) < POINTER_BITS {
        let negative = Sign::Negative.of(oracle, result);
        let other = oracle.formula.guards.and_not(null, negative);
        if other != null && !oracle.possible(other) {
            return Some(Sign::Negative);
        }
    }
    let nonzero = Sign::Nonzero.of(oracle, result);
    let guards = &mut oracle.formula.guards;
    match (
        guards.implies(null, nonzero),
        guards.excludes(null, nonzero),
    ) {
        (true, false) => Some(Sign::Nonzero),
        (false, true) => Some(Sign::Zero),
        _ => None,
    }
}
