//! Byte-addressed memory (DESIGN §5): what was written, over ψ0, what was there on entry.
//!
//! In: reads and writes of terms and byte ranges at locations. Out: terms. A [`Memory`] holds only
//! written cells, in a persistent map, so that states share what they have in common. What was never
//! written is read from the memory on entry ([`super::heap`]).

use std::cell::RefCell;
use std::rc::Rc;

use imbl::OrdMap;
use imbl::ordmap::DiffItem;
use rustc_hash::FxHashMap;

use super::guard::{Guard, Guards};
use super::heap::{Heap, Shape, end, same_line, slice, widened};
use super::origin::Origin;
use super::region::{Loc, RegionId, RegionKind, SymbolicOffset};
use super::term::{Term, Terms};
use crate::ir::POINTER_BITS;

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

/// Copied records that are looked into for what they hold.
const MAX_COPIES: usize = 32;

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

    /// Whether something was written to these bytes.
    pub fn is_written(&self, loc: Loc, size: u64) -> bool {
        !self.overlapping(loc, size).is_empty()
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
        let mut words = self.scalars(loc, size);
        words.retain(|&(_, value)| terms.width(value) == POINTER_BITS);
        words
    }

    /// The whole words and halves of words among them.
    pub fn scalars(&self, loc: Loc, size: u64) -> Vec<(Loc, Term)> {
        let stop = Loc {
            offset: end(loc, size),
            ..loc
        };
        let written = self.cells.range(loc..stop);
        let whole = written.filter_map(|(&at, cell)| {
            let value = cell.whole_scalar()?;
            matches!(cell.size, 4 | 8).then_some((at, value))
        });
        whole.collect()
    }

    /// What the places in these bytes hold at which whole words or halves of words were written, here or in the records that were copied
    /// here or that are chosen between.
    pub fn scalars_within(&self, heap: &mut Heap<'_>, loc: Loc, size: u64) -> Vec<(Loc, Term)> {
        let mut places = self.scalar_places(&heap.formula.terms, loc, size);
        places.sort_unstable();
        places.dedup();
        let values = places.into_iter();
        let values = values.map(|(place, shape)| (place, self.read(heap, place, shape)));
        values.collect()
    }

    /// The places, with the shapes of what was written there; of the records no more than [`MAX_COPIES`] are looked into.
    fn scalar_places(&self, terms: &Terms, loc: Loc, size: u64) -> Vec<(Loc, Shape)> {
        let mut found = Vec::new();
        let mut work = vec![(self, loc, size, 0)];
        for _ in 0..MAX_COPIES {
            let Some((memory, from, size, moved)) = work.pop() else {
                break;
            };
            let here = |place: Loc| Loc {
                offset: place.offset.wrapping_add(moved),
                ..loc
            };
            let scalars = memory.scalars(from, size).into_iter();
            found.extend(scalars.map(|(place, value)| {
                let bits = terms.width(value);
                let bytes = memory.cells.get(&place).map_or(0, |cell| cell.size);
                (here(place), Shape { bytes, bits })
            }));
            let stop = Loc {
                offset: end(from, size),
                ..from
            };
            for (&at, cell) in memory.cells.range(from..stop) {
                match &cell.content {
                    Content::Copy { memory, source, .. } => {
                        let source = source.plus(cell.skipped as i64);
                        let moved = here(at).offset.wrapping_sub(source.offset);
                        work.push((memory, source, cell.size, moved));
                    }
                    Content::Choice { then, els, .. } => {
                        work.push((els, at, cell.size, moved));
                        work.push((then, at, cell.size, moved));
                    }
                    _ => {}
                }
            }
        }
        found
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

    /// The paths, of these, on which something was written to these bytes; `budget`: the choices that are looked at.
    pub fn written_on(
        &self,
        guards: &mut Guards,
        (loc, size): (Loc, u64),
        paths: Guard,
        budget: &mut u32,
    ) -> Guard {
        let mut written = Guard::FALSE;
        if paths == Guard::FALSE {
            return written;
        }
        for (_, cell) in self.overlapping(loc, size) {
            let here = match &cell.content {
                Content::Choice {
                    guard, then, els, ..
                } if *budget > 0 => {
                    *budget -= 1;
                    let yes = guards.and(paths, *guard);
                    let no = guards.and_not(paths, *guard);
                    let yes = then.written_on(guards, (loc, size), yes, budget);
                    let no = els.written_on(guards, (loc, size), no, budget);
                    guards.or(yes, no)
                }
                _ => paths,
            };
            written = guards.or(written, here);
        }
        written
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
mod tests;
