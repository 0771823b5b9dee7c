//! Memory regions and locations (DESIGN §5 Values).
//!
//! In: locals, symbols, strings and unknown pointer terms. Out: for each a region with a base address,
//! and [`Loc`]s, `(region, byte offset)`, that address terms take apart into.
//!
//! Regions that the program itself allocates (locals, globals, functions, strings) get constant fake
//! addresses far apart, so that comparisons between their addresses and with null fold. A region of
//! the environment lies wherever an unknown pointer points: its base address is that pointer's term.

use rustc_hash::FxHashMap;

use super::term::{Node, Op, Term, Terms};
use super::validity;
use crate::ir::{LocalId, POINTER_BITS, SymbolName};

/// A region, an index into [`Regions`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct RegionId(u32);

/// One activation of a body: the analysed function is frame 0, inlined leaves count up.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct FrameId(pub u32);

/// The symbolic part of an offset, interned; [`SymbolicOffset::NONE`] is 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct SymbolicOffset(u32);

impl SymbolicOffset {
    pub const NONE: SymbolicOffset = SymbolicOffset(0);
}

/// A byte in memory: region, and the canonical linear form `offset + symbolic` of its distance from
/// the region's base. Two locations with different symbolic parts are taken not to overlap.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Loc {
    pub region: RegionId,
    pub symbolic: SymbolicOffset,
    pub offset: i64,
}

impl Loc {
    /// The location `bytes` further on.
    pub fn plus(self, bytes: i64) -> Loc {
        Loc {
            offset: self.offset.wrapping_add(bytes),
            ..self
        }
    }
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum RegionKind {
    Local {
        frame: FrameId,
        local: LocalId,
    },
    /// A global object or function.
    Symbol(SymbolName),
    /// A string literal's bytes.
    String(Vec<u8>),
    /// What the unknown pointer `base` points to.
    Environment {
        base: Term,
    },
    /// Integer constants used as addresses.
    Absolute,
    /// No memory: what a number names that the system gave out, a file descriptor.
    Value {
        of: Term,
    },
}

/// Bits of the numbers that name objects: an `int`.
pub const NUMBER_BITS: u16 = 32;

/// Choices and sums within each other that are looked through for an address.
const MAX_NESTED: u32 = 4;
const SLOT_BITS: u32 = 32;
/// Lies in the upper half like a kernel address, below the error-pointer range.
const FIRST_SLOT: u64 = 0xffff_8000_0000_0000;

#[derive(Debug, Default)]
pub struct Regions {
    kinds: Vec<RegionKind>,
    ids: FxHashMap<RegionKind, RegionId>,
    symbolic: Vec<Vec<(i64, Term)>>,
    symbolic_ids: FxHashMap<Vec<(i64, Term)>, SymbolicOffset>,
}

impl Regions {
    pub fn new() -> Self {
        let mut regions = Regions::default();
        regions.symbolic.push(Vec::new());
        regions
            .symbolic_ids
            .insert(Vec::new(), SymbolicOffset::NONE);
        regions
    }

    pub fn region(&mut self, kind: RegionKind) -> RegionId {
        if let Some(&id) = self.ids.get(&kind) {
            return id;
        }
        let id = RegionId(self.kinds.len() as u32);
        self.kinds.push(kind.clone());
        self.ids.insert(kind, id);
        id
    }

    /// The text of a string literal, without what ends it.
    pub fn literal(&self, id: RegionId) -> Option<String> {
        match self.kind(id) {
            RegionKind::String(bytes) => {
                let text = String::from_utf8_lossy(bytes);
                Some(text.trim_end_matches('\0').to_owned())
            }
            _ => None,
        }
    }

    pub fn kind(&self, id: RegionId) -> &RegionKind {
        &self.kinds[id.0 as usize]
    }

    /// The `(coefficient, term)` sum of a symbolic offset.
    pub fn symbolic(&self, id: SymbolicOffset) -> &[(i64, Term)] {
        &self.symbolic[id.0 as usize]
    }

    pub fn intern_symbolic(&mut self, sum: Vec<(i64, Term)>) -> SymbolicOffset {
        if let Some(&id) = self.symbolic_ids.get(&sum) {
            return id;
        }
        let id = SymbolicOffset(self.symbolic.len() as u32);
        self.symbolic.push(sum.clone());
        self.symbolic_ids.insert(sum, id);
        id
    }

    /// Whether the region belongs to the function itself, so that its contents start out unwritten.
    pub fn is_local(&self, id: RegionId) -> bool {
        matches!(self.kind(id), RegionKind::Local { .. })
    }

    /// Whether the region is an object that the program itself declares.
    pub fn is_program(&self, id: RegionId) -> bool {
        !matches!(
            self.kind(id),
            RegionKind::Environment { .. } | RegionKind::Absolute | RegionKind::Value { .. }
        )
    }

    /// The unknown pointer that leads to a region, or the number that names it.
    pub fn base(&self, id: RegionId) -> Option<Term> {
        match *self.kind(id) {
            RegionKind::Environment { base } | RegionKind::Value { of: base } => Some(base),
            _ => None,
        }
    }

    /// What an unknown pointer leads to, or a number names.
    pub fn at_base(&mut self, terms: &Terms, base: Term) -> Loc {
        let region = match terms.width(base) {
            NUMBER_BITS => self.region(RegionKind::Value { of: base }),
            _ => self.region(RegionKind::Environment { base }),
        };
        Loc {
            region,
            symbolic: SymbolicOffset::NONE,
            offset: 0,
        }
    }

    /// The address of a location as a 64-bit term.
    pub fn address(&self, terms: &mut Terms, loc: Loc) -> Term {
        let constant = match *self.kind(loc.region) {
            RegionKind::Value { of } => return terms.sext(of, POINTER_BITS),
            RegionKind::Environment { .. } | RegionKind::Absolute => loc.offset as u64,
            _ => slot_address(loc.region).wrapping_add(loc.offset as u64),
        };
        let mut sum: Vec<(u128, Term)> = self
            .symbolic(loc.symbolic)
            .iter()
            .map(|&(coefficient, term)| (u128::from(coefficient as u64), term))
            .collect();
        if let RegionKind::Environment { base } = self.kind(loc.region) {
            sum.push((1, *base));
        }
        terms.linear(POINTER_BITS, u128::from(constant), &sum)
    }

    /// Whether a value is known to be an address, or one of several of which some are.
    pub fn is_address(&self, terms: &Terms, value: Term) -> bool {
        self.is_address_within(terms, value, MAX_NESTED)
    }

    fn is_address_within(&self, terms: &Terms, value: Term, depth: u32) -> bool {
        let is_address = |part| depth > 0 && self.is_address_within(terms, part, depth - 1);
        match terms.node(value) {
            Node::Const(value) => self.slot_of(*value as u64).is_some(),
            Node::Linear {
                constant,
                terms: sum,
            } => {
                let based =
                    |&(coefficient, term): &(u128, Term)| coefficient == 1 && is_address(term);
                self.slot_of(*constant as u64).is_some() || sum.iter().any(based)
            }
            Node::Op { op: Op::Ite, args } => args[1..].iter().any(|&arm| is_address(arm)),
            _ => terms.is_pointer(value) || is_known_base(&self.ids, value),
        }
    }

    /// Takes an address that is no choice (`ite`) apart. `None` for null and what lies in the first
    /// page, which no object does. A number that is no constant names an object; the system gives out the same constant again and again.
    pub fn locate(&mut self, terms: &Terms, address: Term) -> Option<Loc> {
        match terms.node(address) {
            Node::Const(_) if terms.width(address) == NUMBER_BITS => None,
            _ if terms.width(address) == NUMBER_BITS => Some(self.at_base(terms, address)),
            Node::Const(value) => self.locate_constant(*value as u64),
            Node::Linear {
                constant,
                terms: sum,
            } => {
                let constant = *constant as u64;
                let sum = sum.clone();
                Some(self.locate_sum(terms, constant, &sum))
            }
            _ => Some(self.at_base(terms, address)),
        }
    }

    fn locate_constant(&mut self, value: u64) -> Option<Loc> {
        if validity::is_invalid(value) {
            return None;
        }
        if let Some((region, offset)) = self.slot_of(value) {
            return Some(Loc {
                region,
                symbolic: SymbolicOffset::NONE,
                offset,
            });
        }
        let region = self.region(RegionKind::Absolute);
        Some(Loc {
            region,
            symbolic: SymbolicOffset::NONE,
            offset: value as i64,
        })
    }

    fn locate_sum(&mut self, terms: &Terms, constant: u64, sum: &[(u128, Term)]) -> Loc {
        let rest = |skip: Option<Term>| -> Vec<(i64, Term)> {
            sum.iter()
                .filter(|&&(_, term)| Some(term) != skip)
                .map(|&(coefficient, term)| (coefficient as u64 as i64, term))
                .collect()
        };
        if let Some((region, offset)) = self.slot_of(constant) {
            let symbolic = self.intern_symbolic(rest(None));
            return Loc {
                region,
                symbolic,
                offset,
            };
        }
        let widened = |term: Term| match terms.node(term) {
            Node::Op { op, .. } => matches!(op, Op::Zext | Op::Sext),
            _ => false,
        };
        let unscaled = || {
            let unscaled = sum.iter().filter(|(coefficient, _)| *coefficient == 1);
            unscaled.map(|&(_, term)| term)
        };
        let base = unscaled()
            .find(|&term| terms.is_pointer(term))
            .or_else(|| unscaled().find(|&term| is_known_base(&self.ids, term)))
            // No term is known as a pointer: an unscaled one that is no widened integer.
            .or_else(|| unscaled().find(|&term| !widened(term)));
        match base {
            Some(base) => {
                let symbolic = self.intern_symbolic(rest(Some(base)));
                let region = self.region(RegionKind::Environment { base });
                Loc {
                    region,
                    symbolic,
                    offset: constant as i64,
                }
            }
            None => {
                let symbolic = self.intern_symbolic(rest(None));
                let region = self.region(RegionKind::Absolute);
                Loc {
                    region,
                    symbolic,
                    offset: constant as i64,
                }
            }
        }
    }

    /// The region that a constant address lies in.
    pub fn region_of(&self, address: u64) -> Option<RegionId> {
        self.slot_of(address).map(|(region, _)| region)
    }

    fn slot_of(&self, address: u64) -> Option<(RegionId, i64)> {
        let slot = address.checked_sub(FIRST_SLOT)? >> SLOT_BITS;
        if slot >= self.kinds.len() as u64 {
            return None;
        }
        let id = RegionId(slot as u32);
        match self.kind(id) {
            RegionKind::Environment { .. } | RegionKind::Absolute | RegionKind::Value { .. } => {
                None
            }
            _ => Some((id, address.wrapping_sub(slot_address(id)) as i64)),
        }
    }
}

fn is_known_base(ids: &FxHashMap<RegionKind, RegionId>, term: Term) -> bool {
    ids.contains_key(&RegionKind::Environment { base: term })
}

/// The middle of the region's slot, so that small negative offsets stay inside it.
fn slot_address(id: RegionId) -> u64 {
    FIRST_SLOT + (u64::from(id.0) << SLOT_BITS) + (1 << (SLOT_BITS - 1))
}
