//! Byte-addressed memory (DESIGN §5): what was written, over ψ0, what was there on entry.
//!
//! In: reads and writes of terms and byte ranges at locations. Out: terms. A [`Memory`] holds only
//! written cells, in a persistent map, so that states share what they have in common. What was never
//! written is read from the [`Initial`] memory, which makes up values on demand (the paper's lazy
//! DefVal, §3.2) and gives every state the same ones.

use std::cell::RefCell;
use std::rc::Rc;

use imbl::OrdMap;
use imbl::ordmap::DiffItem;
use rustc_hash::FxHashMap;

use super::formula::Formula;
use super::guard::Guard;
use super::region::{Loc, RegionId, RegionKind, Regions, SymbolicOffset};
use super::state::Object;
use super::term::{Node, Op, Term, Terms, Var};
use crate::ir::POINTER_BITS;
use crate::property::StateId;

/// A scalar in memory: so many bytes, and the bits of the term that stands for them. Only a pointer of a 32-bit target has
/// more bits than bytes for them: the upper ones repeat the sign.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Shape {
    pub bytes: u64,
    pub bits: u16,
}

impl Shape {
    /// A pointer of so many bytes.
    pub fn pointer(bytes: u64) -> Shape {
        Shape {
            bytes,
            bits: POINTER_BITS,
        }
    }

    fn is_narrow(self) -> bool {
        u64::from(self.bits) != self.bytes * 8
    }
}

impl From<u64> for Shape {
    fn from(bytes: u64) -> Shape {
        Shape {
            bytes,
            bits: (bytes * 8) as u16,
        }
    }
}

/// Where an unknown value comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Origin {
    /// The value of the analysed function's parameter.
    Param(u32),
    /// What a location held on entry.
    Initial { loc: Loc, size: u64 },
    /// Whether an object was in the state on entry.
    State { object: Object, state: StateId },
    /// Result of the call that this text shows.
    Call { text: Rc<str> },
    /// Anything else.
    Unknown,
}

/// Unknown values with their origins.
#[derive(Debug, Default)]
pub struct Origins {
    by_var: Vec<Origin>,
    params: Vec<(u32, Term)>,
}

impl Origins {
    pub fn fresh(&mut self, terms: &mut Terms, width: u16, origin: Origin) -> Term {
        let (var, term) = terms.fresh(width);
        self.by_var
            .resize(self.by_var.len().max(var.0 as usize), Origin::Unknown);
        if let Origin::Param(index) = origin {
            self.params.push((index, term));
        }
        self.by_var.push(origin);
        term
    }

    /// The values of the parameters, by number.
    pub fn params(&self) -> &[(u32, Term)] {
        &self.params
    }

    pub fn of(&self, var: Var) -> &Origin {
        self.by_var.get(var.0 as usize).unwrap_or(&Origin::Unknown)
    }
}

#[derive(Clone, Debug)]
enum Content {
    /// A value that was written as so many bytes: of `8 * bytes` bits, or the whole of a narrow pointer ([`Shape`]).
    Scalar {
        value: Term,
        bytes: u64,
    },
    Zero,
    /// Unknown bytes, the same for every reader: read from the initial memory of a region of its own.
    Unknown(RegionId),
    /// The bytes at `source` in an earlier memory.
    Copy {
        memory: Memory,
        source: Loc,
        read: Known,
    },
    /// From one of two memories, at the cell's own place.
    Choice {
        guard: Guard,
        then: Memory,
        els: Memory,
        read: Known,
    },
}

/// What was read through a compound content before. Such contents nest, and two ways into one of them
/// double at each level.
type Known = Rc<RefCell<FxHashMap<(Loc, Shape), Term>>>;

impl PartialEq for Content {
    /// Equality that may fail to see that two compound contents are equal.
    fn eq(&self, other: &Self) -> bool {
        match (self, other) {
            (Content::Scalar { value: a, bytes: m }, Content::Scalar { value: b, bytes: n }) => {
                a == b && m == n
            }
            (Content::Zero, Content::Zero) => true,
            (Content::Unknown(a), Content::Unknown(b)) => a == b,
            (
                Content::Copy {
                    memory: a,
                    source: from_a,
                    ..
                },
                Content::Copy {
                    memory: b,
                    source: from_b,
                    ..
                },
            ) => from_a == from_b && a.cells.ptr_eq(&b.cells),
            (
                Content::Choice {
                    guard: g,
                    then: a,
                    els: b,
                    ..
                },
                Content::Choice {
                    guard: h,
                    then: c,
                    els: d,
                    ..
                },
            ) => g == h && a.cells.ptr_eq(&c.cells) && b.cells.ptr_eq(&d.cells),
            _ => false,
        }
    }
}

#[derive(Clone, Debug, PartialEq)]
struct Cell {
    /// Bytes, at least 1.
    size: u64,
    content: Content,
    /// Where the cell's content starts, which its key no longer tells once its front was overwritten.
    skipped: u64,
}

impl Cell {
    /// The value that was written here, if nothing has overwritten a part of it. The front half of a 64-bit number
    /// has the size and the bits of a narrow pointer and is none.
    fn whole_scalar(&self) -> Option<Term> {
        match self.content {
            Content::Scalar { value, bytes } if self.skipped == 0 && self.size == bytes => {
                Some(value)
            }
            _ => None,
        }
    }
}

/// Written cells; those of one region and symbolic offset do not overlap.
#[derive(Clone, Debug, Default)]
pub struct Memory {
    cells: OrdMap<Loc, Cell>,
}

/// ψ0: values on entry, made up when first read.
#[derive(Debug, Default)]
pub struct Initial {
    cells: std::collections::BTreeMap<Loc, (u64, Term)>,
    unknown_regions: u32,
}

/// What reading and writing need besides the memory itself.
pub struct Heap<'a> {
    pub formula: &'a mut Formula,
    pub regions: &'a mut Regions,
    pub origins: &'a mut Origins,
    pub initial: &'a mut Initial,
}

/// The end of `size` bytes from `loc`, saturating.
fn end(loc: Loc, size: u64) -> i64 {
    loc.offset
        .saturating_add(i64::try_from(size).unwrap_or(i64::MAX))
}

/// Whether the distance between the two is a constant.
fn same_line(a: Loc, b: Loc) -> bool {
    a.region == b.region && a.symbolic == b.symbolic
}

impl Initial {
    /// What lies at `loc` on entry, little-endian, as one term.
    pub fn read(&mut self, heap: &mut HeapParts<'_>, loc: Loc, shape: Shape) -> Term {
        let size = shape.bytes;
        if let Some(&(known, term)) = self.cells.get(&loc)
            && known == size
            && heap.formula.terms.width(term) == shape.bits
        {
            return term;
        }
        let mut pieces: Vec<(i64, u64, Term)> = Vec::new();
        let line_start = Loc {
            offset: loc.offset.saturating_sub(16),
            ..loc
        };
        let line_end = Loc {
            offset: end(loc, size),
            ..loc
        };
        for (&start, &(known, term)) in self.cells.range(line_start..line_end) {
            if end(start, known) > loc.offset {
                pieces.push((start.offset, known, term));
            }
        }
        if shape.is_narrow() {
            return match pieces.is_empty() {
                true => self.make(heap, loc, shape),
                false => {
                    let word = self.read(heap, loc, size.into());
                    widened(&mut heap.formula.terms, word)
                }
            };
        }
        let mut value: Option<Term> = None;
        let mut at = loc.offset;
        let stop = end(loc, size);
        let mut pieces = pieces.into_iter().peekable();
        while at < stop {
            let part = match pieces.peek().copied() {
                Some((start, known, term)) if start <= at => {
                    pieces.next();
                    let stop_here = stop.min(start + known as i64);
                    let part = slice(
                        &mut heap.formula.terms,
                        term,
                        (at - start) as u64,
                        (stop_here - at) as u64,
                    );
                    at = stop_here;
                    part
                }
                next => {
                    let stop_here = next.map_or(stop, |piece| stop.min(piece.0));
                    let gap = Loc { offset: at, ..loc };
                    let bytes = (stop_here - at) as u64;
                    let part = self.make(heap, gap, bytes.into());
                    at = stop_here;
                    part
                }
            };
            value = Some(match value {
                Some(low) => heap.formula.terms.concat(part, low),
                None => part,
            });
        }
        value.unwrap_or_else(|| heap.formula.terms.constant(0, 1))
    }

    fn make(&mut self, heap: &mut HeapParts<'_>, loc: Loc, shape: Shape) -> Term {
        let Shape {
            bytes: size,
            bits: width,
        } = shape;
        if let RegionKind::String(bytes) = heap.regions.kind(loc.region)
            && loc.symbolic == SymbolicOffset::NONE
        {
            let byte = |index: i64| -> u128 {
                let index = loc.offset + index;
                usize::try_from(index)
                    .ok()
                    .and_then(|i| bytes.get(i))
                    .map_or(0, |&b| b.into())
            };
            let value = (0..size as i64)
                .rev()
                .fold(0, |value, index| value << 8 | byte(index));
            return heap.formula.terms.constant(value, width);
        }
        let origin = Origin::Initial { loc, size };
        let term = heap.origins.fresh(&mut heap.formula.terms, width, origin);
        self.cells.insert(loc, (size, term));
        term
    }
}

/// [`Heap`] without the initial memory.
pub struct HeapParts<'a> {
    pub formula: &'a mut Formula,
    pub regions: &'a mut Regions,
    pub origins: &'a mut Origins,
}

impl Heap<'_> {
    /// Value on entry.
    pub fn initial(&mut self, loc: Loc, shape: impl Into<Shape>) -> Term {
        let mut parts = HeapParts {
            formula: self.formula,
            regions: self.regions,
            origins: self.origins,
        };
        self.initial.read(&mut parts, loc, shape.into())
    }
}

fn slice(terms: &mut Terms, value: Term, from: u64, bytes: u64) -> Term {
    if from == 0 && u64::from(terms.width(value)) == bytes * 8 {
        return value;
    }
    terms.extract(value, (from * 8) as u16, (bytes * 8) as u16)
}

/// The pointer that a number in memory is: one of which the lower half was taken, or the number, sign-extended.
pub(super) fn widened(terms: &mut Terms, word: Term) -> Term {
    if let Node::Op {
        op: Op::Extract { lo: 0 },
        args,
    } = terms.node(word)
        && terms.width(args[0]) == POINTER_BITS
        && terms.is_pointer(args[0])
    {
        return args[0];
    }
    terms.sext(word, POINTER_BITS)
}

impl Memory {
    /// Whether the two are the same without looking inside.
    pub fn same(&self, other: &Memory) -> bool {
        self.cells.ptr_eq(&other.cells)
    }

    /// Reads 1 to 16 bytes as one little-endian term.
    pub fn read(&self, heap: &mut Heap<'_>, loc: Loc, shape: impl Into<Shape>) -> Term {
        let shape = shape.into();
        let size = shape.bytes;
        if let Some(cell) = self.cells.get(&loc)
            && cell.size == size
            && let Some(term) = cell.whole_scalar()
            && heap.formula.terms.width(term) == shape.bits
        {
            return term;
        }
        let overlapping = self.overlapping(loc, size);
        if overlapping.is_empty() {
            return heap.initial(loc, shape);
        }
        if shape.is_narrow() {
            return match &overlapping[..] {
                [(start, cell)]
                    if start.offset <= loc.offset && end(*start, cell.size) >= end(loc, size) =>
                {
                    let from = (loc.offset - start.offset) as u64 + cell.skipped;
                    read_content(heap, &cell.content, loc, from, shape)
                }
                _ => {
                    let word = self.read(heap, loc, size);
                    widened(&mut heap.formula.terms, word)
                }
            };
        }
        let stop = end(loc, size);
        let mut at = loc.offset;
        let mut value: Option<Term> = None;
        let mut cells = overlapping.into_iter().peekable();
        while at < stop {
            let here = Loc { offset: at, ..loc };
            let (part, next) = match cells.peek() {
                Some((start, _)) if start.offset <= at => {
                    let (start, cell) = match cells.next() {
                        Some(found) => found,
                        None => break,
                    };
                    let next = stop.min(end(start, cell.size));
                    let from = (at - start.offset) as u64 + cell.skipped;
                    let part =
                        read_content(heap, &cell.content, here, from, ((next - at) as u64).into());
                    (part, next)
                }
                other => {
                    let next = other.map_or(stop, |(start, _)| stop.min(start.offset));
                    (heap.initial(here, (next - at) as u64), next)
                }
            };
            at = next;
            value = Some(match value {
                Some(low) => heap.formula.terms.concat(part, low),
                None => part,
            });
        }
        value.unwrap_or_else(|| heap.formula.terms.constant(0, 1))
    }

    /// Writes a value of a whole number of bytes.
    pub fn write(&mut self, terms: &Terms, loc: Loc, value: Term) {
        let bytes = u64::from(terms.width(value)) / 8;
        self.put(loc, bytes, Content::Scalar { value, bytes });
    }

    /// Writes a value of the shape's width.
    pub fn write_shape(&mut self, loc: Loc, value: Term, shape: Shape) {
        let bytes = shape.bytes;
        self.put(loc, bytes, Content::Scalar { value, bytes });
    }

    /// The shape of these bytes: that of the value written just there, if one is.
    pub fn shape(&self, terms: &Terms, loc: Loc, size: u64) -> Shape {
        let here = self.cells.get(&loc).filter(|cell| cell.size == size);
        match here.and_then(Cell::whole_scalar) {
            Some(value) => Shape {
                bytes: size,
                bits: terms.width(value),
            },
            None => size.into(),
        }
    }

    pub fn zero(&mut self, loc: Loc, size: u64) {
        self.put(loc, size, Content::Zero);
    }

    /// Makes the bytes unknown.
    pub fn havoc(&mut self, heap: &mut Heap<'_>, loc: Loc, size: u64) {
        heap.initial.unknown_regions += 1;
        let base = heap.origins.fresh(
            &mut heap.formula.terms,
            crate::ir::POINTER_BITS,
            Origin::Unknown,
        );
        let region = heap.regions.region(RegionKind::Environment { base });
        self.put(loc, size, Content::Unknown(region));
    }

    /// The whole words among the values written to these bytes, as wide as pointers.
    pub fn words(&self, terms: &Terms, loc: Loc, size: u64) -> Vec<(Loc, Term)> {
        let stop = Loc {
            offset: end(loc, size),
            ..loc
        };
        let written = self.cells.range(loc..stop);
        let whole = written.filter_map(|(&at, cell)| {
            let value = cell.whole_scalar()?;
            (matches!(cell.size, 4 | 8) && terms.width(value) == POINTER_BITS)
                .then_some((at, value))
        });
        whole.collect()
    }

    /// Moves `size` bytes within this memory.
    pub fn copy(&mut self, to: Loc, from: Loc, size: u64) {
        if to != from {
            let memory = self.clone();
            self.copy_from(&memory, to, from, size);
        }
    }

    /// Copies the bytes that `source` holds at `from`. Nothing is read until somebody asks.
    pub fn copy_from(&mut self, source: &Memory, to: Loc, from: Loc, size: u64) {
        self.put(
            to,
            size,
            Content::Copy {
                memory: source.clone(),
                source: from,
                read: Known::default(),
            },
        );
    }

    /// Leaves at each place where the two differ `guard ? self : other`.
    pub fn merge(&self, heap: &mut Heap<'_>, guard: Guard, other: &Memory) -> Memory {
        if self.same(other) {
            return self.clone();
        }
        // Ranges in which the two differ, joined where they overlap.
        let mut ranges: Vec<(Loc, i64)> = Vec::new();
        for item in self.cells.diff(&other.cells) {
            let mut add = |loc: &Loc, cell: &Cell| ranges.push((*loc, end(*loc, cell.size)));
            match item {
                DiffItem::Add(loc, cell) | DiffItem::Remove(loc, cell) => add(loc, cell),
                DiffItem::Update { old, new } => {
                    add(old.0, old.1);
                    add(new.0, new.1);
                }
            }
        }
        ranges.sort();
        let mut merged = self.clone();
        let mut ranges = ranges.into_iter().peekable();
        while let Some((loc, mut stop)) = ranges.next() {
            while let Some(&(next, next_stop)) = ranges.peek()
                && same_line(loc, next)
                && next.offset < stop
            {
                stop = stop.max(next_stop);
                ranges.next();
            }
            let size = stop.wrapping_sub(loc.offset) as u64;
            if size <= 16 && self.is_scalar_at(loc, size) && other.is_scalar_at(loc, size) {
                let terms = &heap.formula.terms;
                let (mine, others) = (self.shape(terms, loc, size), other.shape(terms, loc, size));
                let shape = if others.is_narrow() { others } else { mine };
                let then = self.read(heap, loc, shape);
                let els = other.read(heap, loc, shape);
                let value = heap.formula.ite_guard(guard, then, els);
                merged.write_shape(loc, value, shape);
            } else {
                let content = Content::Choice {
                    guard,
                    then: self.clone(),
                    els: other.clone(),
                    read: Known::default(),
                };
                merged.put(loc, size, content);
            }
        }
        merged
    }

    /// The cells written in regions that `keep` accepts: place, size and value (for compound contents
    /// and odd sizes `None`).
    pub fn written(&self, mut keep: impl FnMut(RegionId) -> bool) -> Vec<(Loc, u64, Option<Term>)> {
        self.cells
            .iter()
            .filter(|(loc, _)| keep(loc.region))
            .map(|(loc, cell)| (*loc, cell.size, cell.whole_scalar()))
            .collect()
    }

    /// Forgets the cells of a region that no longer exists.
    pub fn forget(&mut self, region: RegionId) {
        let first = Loc {
            region,
            symbolic: SymbolicOffset::NONE,
            offset: i64::MIN,
        };
        let gone: Vec<Loc> = self
            .cells
            .range(first..)
            .map(|(loc, _)| *loc)
            .take_while(|loc| loc.region == region)
            .collect();
        for loc in gone {
            self.cells.remove(&loc);
        }
    }

    /// Whether the range holds exactly one scalar or nothing that was written.
    fn is_scalar_at(&self, loc: Loc, size: u64) -> bool {
        match self.cells.get(&loc) {
            Some(cell) if cell.size == size => match &cell.content {
                Content::Zero => size <= 8,
                _ => cell.whole_scalar().is_some(),
            },
            Some(_) => false,
            None => self.overlapping(loc, size).is_empty(),
        }
    }

    fn overlapping(&self, loc: Loc, size: u64) -> Vec<(Loc, Cell)> {
        let stop = Loc {
            offset: end(loc, size),
            ..loc
        };
        let mut found = Vec::new();
        if let Some((start, cell)) = self.cells.get_prev(&loc)
            && same_line(*start, loc)
            && end(*start, cell.size) > loc.offset
        {
            found.push((*start, cell.clone()));
        }
        for (start, cell) in self.cells.range(loc..stop) {
            if found
                .last()
                .is_none_or(|last: &(Loc, Cell)| last.0 != *start)
            {
                found.push((*start, cell.clone()));
            }
        }
        found
    }

    fn put(&mut self, loc: Loc, size: u64, content: Content) {
        if size == 0 {
            return;
        }
        let exact = self.cells.get(&loc).is_some_and(|cell| cell.size == size);
        if !exact {
            self.clear(loc, size);
        }
        self.cells.insert(
            loc,
            Cell {
                size,
                content,
                skipped: 0,
            },
        );
    }

    /// Cuts the range out of the cells that overlap it.
    fn clear(&mut self, loc: Loc, size: u64) {
        let stop = end(loc, size);
        for (start, cell) in self.overlapping(loc, size) {
            self.cells.remove(&start);
            let cell_end = end(start, cell.size);
            if start.offset < loc.offset {
                let front = Cell {
                    size: (loc.offset - start.offset) as u64,
                    ..cell.clone()
                };
                self.cells.insert(start, front);
            }
            if cell_end > stop {
                let cut = (stop - start.offset) as u64;
                let back = Cell {
                    size: cell.size - cut,
                    skipped: cell.skipped + cut,
                    content: cell.content,
                };
                self.cells.insert(
                    Loc {
                        offset: stop,
                        ..loc
                    },
                    back,
                );
            }
        }
    }
}

/// Reads what lies at `from` within a content whose own place in memory is `here`.
fn read_content(
    heap: &mut Heap<'_>,
    content: &Content,
    here: Loc,
    from: u64,
    shape: Shape,
) -> Term {
    match content {
        Content::Scalar { value, .. } => {
            let part = slice(&mut heap.formula.terms, *value, from, shape.bytes);
            match shape.is_narrow() {
                true => widened(&mut heap.formula.terms, part),
                false => part,
            }
        }
        Content::Zero => heap.formula.terms.constant(0, shape.bits),
        Content::Unknown(region) => {
            let offset = i64::try_from(from).unwrap_or(i64::MAX);
            let loc = Loc {
                region: *region,
                symbolic: SymbolicOffset::NONE,
                offset,
            };
            heap.initial(loc, shape)
        }
        Content::Copy {
            memory,
            source,
            read,
        } => {
            let offset = i64::try_from(from).unwrap_or(i64::MAX);
            let place = source.plus(offset);
            once(read, (place, shape), || memory.read(heap, place, shape))
        }
        Content::Choice {
            guard,
            then,
            els,
            read,
        } => once(read, (here, shape), || {
            let then = then.read(heap, here, shape);
            let els = els.read(heap, here, shape);
            heap.formula.ite_guard(*guard, then, els)
        }),
    }
}

fn once(known: &Known, what: (Loc, Shape), read: impl FnOnce() -> Term) -> Term {
    if let Some(&term) = known.borrow().get(&what) {
        return term;
    }
    let term = read();
    known.borrow_mut().insert(what, term);
    term
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::ir::LocalId;
    use crate::symbolic::model::Model;
    use crate::symbolic::region::FrameId;

    const SIZE: usize = 48;

    #[derive(Clone, Debug)]
    enum Step {
        Write { at: usize, size: usize, value: u64 },
        Zero { at: usize, size: usize },
        Copy { to: usize, from: usize, size: usize },
    }

    fn step() -> impl Strategy<Value = Step> {
        let size = prop_oneof![Just(1usize), Just(2), Just(4), Just(8)];
        prop_oneof![
            (0..SIZE - 8, size, any::<u64>()).prop_map(|(at, size, value)| Step::Write {
                at,
                size,
                value
            }),
            (0..SIZE, 1..SIZE).prop_map(|(at, size)| Step::Zero {
                at,
                size: size.min(SIZE - at)
            }),
            (0..SIZE, 0..SIZE, 1..SIZE).prop_map(|(to, from, size)| Step::Copy {
                to,
                from,
                size: size.min(SIZE - to).min(SIZE - from)
            }),
        ]
    }

    fn run(steps: &[Step], terms: &mut Terms, base: Loc, memory: &mut Memory, bytes: &mut [u8]) {
        for step in steps {
            match *step {
                Step::Write { at, size, value } => {
                    let term = terms.constant(u128::from(value), (size * 8) as u16);
                    memory.write(terms, base.plus(at as i64), term);
                    bytes[at..at + size].copy_from_slice(&value.to_le_bytes()[..size]);
                }
                Step::Zero { at, size } => {
                    memory.zero(base.plus(at as i64), size as u64);
                    bytes[at..at + size].fill(0);
                }
                Step::Copy { to, from, size } => {
                    memory.copy(base.plus(to as i64), base.plus(from as i64), size as u64);
                    bytes.copy_within(from..from + size, to);
                }
            }
        }
    }

    proptest! {
        /// A memory reads like an array of bytes, and a merged one like the side that was taken.
        #[test]
        fn reads_like_bytes(
            before in prop::collection::vec(step(), 0..6),
            left in prop::collection::vec(step(), 0..6),
            right in prop::collection::vec(step(), 0..6),
            after in prop::collection::vec(step(), 0..4),
            reads in prop::collection::vec((0..SIZE - 8, 1..8usize), 8),
        ) {
            let (mut formula, mut regions) = (Formula::new(), Regions::new());
            let (mut origins, mut initial) = (Origins::default(), Initial::default());
            let kind = RegionKind::Local { frame: FrameId(0), local: LocalId(0) };
            let region = regions.region(kind);
            let base = Loc { region, symbolic: SymbolicOffset::NONE, offset: 0 };
            let (choice, term) = formula.terms.fresh(1);
            let guard = formula.guard_of(term);
            let mut memory = Memory::default();
            let mut bytes = [0u8; SIZE];
            memory.zero(base, SIZE as u64);
            run(&before, &mut formula.terms, base, &mut memory, &mut bytes);
            let (mut then, mut els) = (memory.clone(), memory);
            let (mut then_bytes, mut els_bytes) = (bytes, bytes);
            run(&left, &mut formula.terms, base, &mut then, &mut then_bytes);
            run(&right, &mut formula.terms, base, &mut els, &mut els_bytes);
            let mut heap = Heap {
                formula: &mut formula,
                regions: &mut regions,
                origins: &mut origins,
                initial: &mut initial,
            };
            let mut merged = then.merge(&mut heap, guard, &els);
            for (taken, bytes) in [(1, &mut then_bytes), (0, &mut els_bytes)] {
                let mut merged = merged.clone();
                run(&after, &mut heap.formula.terms, base, &mut merged, bytes);
                let model = Model::new([(choice, taken)]);
                for &(at, size) in &reads {
                    let term = merged.read(&mut heap, base.plus(at as i64), size as u64);
                    let value = model.eval(heap.formula, term);
                    let mut expected = [0u8; 16];
                    expected[..size].copy_from_slice(&bytes[at..at + size]);
                    prop_assert_eq!(value, u128::from_le_bytes(expected));
                }
            }
            merged.forget(region);
            prop_assert!(merged.same(&Memory::default()) || merged.cells.is_empty());
        }
    }

    /// A front of which the rest was overwritten is a number of its own size, however wide the term behind it.
    #[test]
    fn the_front_of_a_number_is_no_narrow_pointer() {
        let (mut formula, mut regions) = (Formula::new(), Regions::new());
        let (mut origins, mut initial) = (Origins::default(), Initial::default());
        let local = LocalId(0);
        let frame = FrameId(0);
        let loc = Loc {
            region: regions.region(RegionKind::Local { frame, local }),
            symbolic: SymbolicOffset::NONE,
            offset: 0,
        };
        let number = formula.terms.constant(0x8877_6655_4433_2211, 64);
        let half = formula.terms.constant(0, 32);
        let mut cut = Memory::default();
        cut.write(&formula.terms, loc, number);
        let whole = cut.clone();
        cut.write(&formula.terms, loc.plus(4), half);
        let mut other = whole.clone();
        other.write(&formula.terms, loc, half);
        let condition = origins.fresh(&mut formula.terms, 1, Origin::Unknown);
        let guard = formula.guard_of(condition);
        assert_eq!(cut.shape(&formula.terms, loc, 4), Shape::from(4));
        let mut heap = Heap {
            formula: &mut formula,
            regions: &mut regions,
            origins: &mut origins,
            initial: &mut initial,
        };
        let pointer = cut.read(&mut heap, loc, Shape::pointer(4));
        assert_eq!(heap.formula.terms.as_const(pointer), Some(0x4433_2211));
        let merged = cut.merge(&mut heap, guard, &other);
        let front = merged.read(&mut heap, loc, 4);
        let low = heap.formula.terms.constant(0x4433_2211, 32);
        assert_eq!(front, heap.formula.ite_guard(guard, low, half));
    }

    /// Two records, one copied to the other or back, again and again: each content is read by two ways.
    #[test]
    fn nested_contents_are_read_once() {
        let (mut formula, mut regions) = (Formula::new(), Regions::new());
        let (mut origins, mut initial) = (Origins::default(), Initial::default());
        let place = |region| Loc {
            region,
            symbolic: SymbolicOffset::NONE,
            offset: 0,
        };
        let local = |regions: &mut Regions, index| {
            let local = LocalId(index);
            place(regions.region(RegionKind::Local {
                frame: FrameId(0),
                local,
            }))
        };
        let (x, y) = (local(&mut regions, 0), local(&mut regions, 1));
        let mut memory = Memory::default();
        for _ in 0..100 {
            let condition = origins.fresh(&mut formula.terms, 1, Origin::Unknown);
            let guard = formula.guard_of(condition);
            let (mut one, mut other) = (memory.clone(), memory.clone());
            one.copy(x, y, SIZE as u64);
            other.copy(y, x, SIZE as u64);
            let mut heap = Heap {
                formula: &mut formula,
                regions: &mut regions,
                origins: &mut origins,
                initial: &mut initial,
            };
            memory = one.merge(&mut heap, guard, &other);
        }
        let mut heap = Heap {
            formula: &mut formula,
            regions: &mut regions,
            origins: &mut origins,
            initial: &mut initial,
        };
        assert_eq!(memory.read(&mut heap, x, 8), memory.read(&mut heap, x, 8));
    }

    #[test]
    fn entry_values_are_the_same_for_every_reader() {
        let (mut formula, mut regions) = (Formula::new(), Regions::new());
        let (mut origins, mut initial) = (Origins::default(), Initial::default());
        let base = origins.fresh(&mut formula.terms, 64, Origin::Param(0));
        let region = regions.region(RegionKind::Environment { base });
        let loc = Loc {
            region,
            symbolic: SymbolicOffset::NONE,
            offset: 8,
        };
        let mut heap = Heap {
            formula: &mut formula,
            regions: &mut regions,
            origins: &mut origins,
            initial: &mut initial,
        };
        let whole = Memory::default().read(&mut heap, loc, 8);
        let upper = Memory::default().read(&mut heap, loc.plus(4), 4);
        assert_eq!(heap.formula.terms.extract(whole, 32, 32), upper);
        // A wider read over known parts and a gap keeps the parts.
        let wide = Memory::default().read(&mut heap, loc.plus(4), 8);
        assert_eq!(heap.formula.terms.extract(wide, 0, 32), upper);
        assert_eq!(Memory::default().read(&mut heap, loc, 8), whole);
    }
}
