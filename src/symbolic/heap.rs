//! What lay in memory on entry (ψ0), made up when it is first read: the paper's lazy DefVal (§3.2).
//!
//! In: locations. Out: terms, the same ones for every state. A [`Heap`] is what reading and writing need besides a memory.

use std::collections::hash_map::Entry;

use rustc_hash::FxHashMap;

use super::formula::Formula;
use super::origin::{Origin, Origins};
use super::region::{Loc, RegionId, RegionKind, Regions, SymbolicOffset};
use super::term::{Node, Op, Term, Terms};
use crate::ir::{Image, POINTER_BITS, Scalar};

/// A scalar in memory: so many bytes, and the bits of the term that stands for them. Only a pointer of a 32-bit target has
/// more bits than bytes for them: the upper ones repeat the sign.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
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

    pub(super) fn is_narrow(self) -> bool {
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

/// ψ0: values on entry, made up when first read.
#[derive(Debug, Default)]
pub struct Initial {
    cells: std::collections::BTreeMap<Loc, (u64, Term)>,
    /// What the objects hold that nothing changes; `None` for those that something may change.
    images: FxHashMap<RegionId, Option<Image>>,
    pub(super) unknown_regions: u32,
}

/// What reading and writing need besides the memory itself.
pub struct Heap<'a> {
    pub formula: &'a mut Formula,
    pub regions: &'a mut Regions,
    pub origins: &'a mut Origins,
    pub initial: &'a mut Initial,
}

/// The end of `size` bytes from `loc`, saturating.
pub(super) fn end(loc: Loc, size: u64) -> i64 {
    loc.offset
        .saturating_add(i64::try_from(size).unwrap_or(i64::MAX))
}

/// Whether the distance between the two is a constant.
pub(super) fn same_line(a: Loc, b: Loc) -> bool {
    a.region == b.region && a.symbolic == b.symbolic
}

impl Initial {
    /// Takes an object to hold what `image` says, if that is known of it, and gives it back when the object is first met.
    pub fn meet<'i>(
        &mut self,
        object: RegionId,
        image: impl FnOnce() -> Option<&'i Image>,
    ) -> Option<&'i Image> {
        let Entry::Vacant(place) = self.images.entry(object) else {
            return None;
        };
        let image = image();
        place.insert(image.cloned());
        image
    }

    /// What an object holds that nothing changes.
    fn constant(&self, heap: &mut HeapParts<'_>, loc: Loc, shape: Shape) -> Option<Term> {
        let image = self.images.get(&loc.region)?.as_ref()?;
        let offset = u64::try_from(loc.offset).ok()?;
        // A pointer is not there to be null for ever: code that is not in the tree sets it.
        let set_elsewhere = image.implicit && shape.bits == POINTER_BITS;
        if loc.symbolic != SymbolicOffset::NONE || set_elsewhere {
            return None;
        }
        let start = |heap: &mut HeapParts<'_>, kind: RegionKind, offset: i64| {
            let loc = Loc {
                region: heap.regions.region(kind),
                symbolic: SymbolicOffset::NONE,
                offset,
            };
            heap.regions.address(&mut heap.formula.terms, loc)
        };
        match image.read(offset, shape.bytes) {
            Scalar::Bits(bits) if shape.is_narrow() => {
                let word = heap.formula.terms.constant(bits, (shape.bytes * 8) as u16);
                Some(widened(&mut heap.formula.terms, word))
            }
            Scalar::Bits(bits) => Some(heap.formula.terms.constant(bits, shape.bits)),
            Scalar::Address { symbol, offset } if shape.bits == POINTER_BITS => {
                Some(start(heap, RegionKind::Symbol(symbol), offset))
            }
            Scalar::Text(text) if shape.bits == POINTER_BITS => {
                Some(start(heap, RegionKind::String(text), 0))
            }
            _ => None,
        }
    }

    /// What lies at `loc` on entry, little-endian, as one term.
    pub fn read(&mut self, heap: &mut HeapParts<'_>, loc: Loc, shape: Shape) -> Term {
        if let Some(constant) = self.constant(heap, loc, shape) {
            return constant;
        }
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

    /// Whether something was read that begins in these bytes.
    pub fn is_read(&self, loc: Loc, size: u64) -> bool {
        let stop = Loc {
            offset: end(loc, size),
            ..loc
        };
        self.cells.range(loc..stop).next().is_some()
    }

    /// Whether so many bytes were read there at once.
    pub fn is_read_whole(&self, loc: Loc, size: u64) -> bool {
        self.cells
            .get(&loc)
            .is_some_and(|&(known, _)| known == size)
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

pub(super) fn slice(terms: &mut Terms, value: Term, from: u64, bytes: u64) -> Term {
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
