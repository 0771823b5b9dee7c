//! The machine's memory: objects at fixed addresses, in pages that states share.
//!
//! In: addresses and bytes. Out: bytes, or the [`Fault`] of an access. A copy of a memory costs next to nothing, and its
//! hash is kept up to date with each write, so that states can be stored and compared by the thousands.

use std::rc::Rc;

use imbl::{HashMap, OrdMap};
use smallvec::SmallVec;

use super::environment;
use super::values::{Value, Values};
use crate::symbolic::term::Term;

const PAGE: u64 = 32;
/// Below this nothing lies: an access is one through a null pointer.
pub const NULL_PAGE: u64 = 4096;
/// Most bytes of one object that a program makes.
const LARGEST: u64 = 1 << 28;

/// What kind of storage an object has.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Storage {
    Static,
    /// String literals.
    Constant,
    Stack,
    Heap,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Object {
    pub size: u64,
    pub storage: Storage,
    pub freed: bool,
    /// What its bytes are before they are written.
    pub fill: Fill,
}

/// What bytes are that were never written.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Fill {
    Zero,
    /// Anything, another thing each time that it is asked for.
    Unset,
    /// Whatever was there before anything ran: the same for whoever reads it ([`Values::before`]).
    Environment,
}

/// One byte.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Byte {
    /// Never written, and not zeroed.
    Unset,
    Known(u8),
    /// This byte of a term.
    Part(Term, u8),
}

/// Why an address cannot be accessed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Fault {
    Null,
    Freed,
    Wild,
    /// Beyond the end of an object.
    Outside,
    Constant,
}

impl Object {
    /// The address that pointers to the object have, which [`Memory::place`] has put at another one.
    pub fn start(&self, base: u64) -> u64 {
        match (self.fill, self.storage) {
            (Fill::Environment, Storage::Heap) => base + environment::BEFORE,
            _ => base,
        }
    }
}

#[derive(Clone)]
pub struct Memory {
    objects: OrdMap<u64, Object>,
    pages: HashMap<u64, Rc<[Byte; PAGE as usize]>>,
    /// The terms in it, with the number of bytes that are parts of each.
    terms: OrdMap<Term, u32>,
    hash: u128,
}

/// A hash of two numbers, of 128 bits.
pub fn mix(a: u64, b: u64) -> u128 {
    let one = |seed: u64| {
        let mut x = a
            .wrapping_mul(0x9E37_79B9_7F4A_7C15)
            .wrapping_add(b.wrapping_mul(0xC2B2_AE3D_27D4_EB4F))
            .wrapping_add(seed);
        x = (x ^ (x >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        x = (x ^ (x >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        x ^ (x >> 31)
    };
    u128::from(one(0x1234_5678)) << 64 | u128::from(one(0x9ABC_DEF0_1122_3344))
}

fn code(byte: Byte) -> u64 {
    match byte {
        Byte::Unset => 1,
        Byte::Known(byte) => 2 + u64::from(byte),
        Byte::Part(term, index) => 1024 + (term.index() as u64) * 16 + u64::from(index),
    }
}

impl Memory {
    pub fn new() -> Memory {
        Memory {
            objects: OrdMap::new(),
            pages: HashMap::new(),
            terms: OrdMap::new(),
            hash: 0,
        }
    }

    /// Of all that is in it.
    pub fn hash(&self) -> u128 {
        self.hash
    }

    /// Addresses that an object of this size takes up.
    pub fn room(size: u64) -> u64 {
        (size.clamp(1, LARGEST).div_ceil(PAGE) + 1) * PAGE
    }

    /// Puts an object at an address, which is a multiple of [`PAGE`]. `false` if it is too large.
    pub fn place(&mut self, base: u64, size: u64, storage: Storage, fill: Fill) -> bool {
        if size > LARGEST && fill != Fill::Environment {
            return false;
        }
        let object = Object {
            size,
            storage,
            freed: false,
            fill,
        };
        self.objects.insert(base, object);
        self.hash ^= mix(base, size << 2);
        true
    }

    /// The object that an address lies in, or just behind.
    pub fn object(&self, addr: u64) -> Option<(u64, Object)> {
        let (base, object) = self.objects.get_prev(&addr)?;
        (addr - base <= object.size).then_some((*base, *object))
    }

    /// The object that an access lies in.
    pub fn check(&self, addr: u64, size: u64, write: bool) -> Result<(u64, Object), Fault> {
        if addr < NULL_PAGE {
            return Err(Fault::Null);
        }
        let Some((base, object)) = self.object(addr) else {
            return Err(Fault::Wild);
        };
        if object.freed {
            return Err(Fault::Freed);
        }
        if (addr - base).saturating_add(size) > object.size {
            return Err(Fault::Outside);
        }
        if write && object.storage == Storage::Constant {
            return Err(Fault::Constant);
        }
        Ok((base, object))
    }

    /// Takes an object out: the end of a frame.
    pub fn remove(&mut self, base: u64) {
        let Some(object) = self.objects.remove(&base) else {
            return;
        };
        self.hash ^= mix(base, object.size << 2 | u64::from(object.freed));
        self.clear(base, object);
    }

    /// Keeps the address of a heap object as one that was freed.
    pub fn free(&mut self, base: u64) {
        let Some(object) = self.objects.get_mut(&base) else {
            return;
        };
        let old = *object;
        object.freed = true;
        self.hash ^= mix(base, old.size << 2) ^ mix(base, old.size << 2 | 1);
        self.clear(base, old);
    }

    fn clear(&mut self, base: u64, object: Object) {
        let pages = base / PAGE..(base + object.size).div_ceil(PAGE);
        // An object of unknown size takes up more pages than are used.
        let used: Vec<u64> = match pages.end - pages.start > self.pages.len() as u64 {
            true => self
                .pages
                .keys()
                .copied()
                .filter(|page| pages.contains(page))
                .collect(),
            false => pages.collect(),
        };
        for number in used {
            let Some(page) = self.pages.remove(&number) else {
                continue;
            };
            for (addr, byte) in (number * PAGE..).zip(page.iter()) {
                self.count(*byte, false);
                self.hash ^= contribution(addr, *byte, object.fill);
            }
        }
    }

    /// A byte of an object that is known to be there.
    pub fn byte(&self, values: &mut Values, addr: u64, fill: Fill) -> Byte {
        let byte = match self.pages.get(&(addr / PAGE)) {
            Some(page) => page[(addr % PAGE) as usize],
            None => fill.byte(),
        };
        match (byte, fill) {
            (Byte::Unset, Fill::Environment) => values.before(addr),
            _ => byte,
        }
    }

    pub fn set(&mut self, addr: u64, fill: Fill, byte: Byte) {
        let page = self
            .pages
            .entry(addr / PAGE)
            .or_insert_with(|| Rc::new([fill.byte(); PAGE as usize]));
        let slot = &mut Rc::make_mut(page)[(addr % PAGE) as usize];
        let old = std::mem::replace(slot, byte);
        if old != byte {
            self.count(old, false);
            self.count(byte, true);
            self.hash ^= contribution(addr, old, fill) ^ contribution(addr, byte, fill);
        }
    }

    /// The terms that some byte is a part of.
    pub fn terms(&self) -> impl Iterator<Item = Term> {
        self.terms.keys().copied()
    }

    fn count(&mut self, byte: Byte, more: bool) {
        let Byte::Part(term, _) = byte else { return };
        let count = self.terms.get(&term).copied().unwrap_or(0);
        match (count, more) {
            (_, true) => _ = self.terms.insert(term, count + 1),
            (0 | 1, false) => _ = self.terms.remove(&term),
            (_, false) => _ = self.terms.insert(term, count - 1),
        }
    }

    /// Writes a scalar of so many bytes.
    pub fn write(&mut self, values: &mut Values, addr: u64, fill: Fill, size: u64, value: Value) {
        match value {
            Value::Bits(bits) => {
                for (index, byte) in (0..size).zip(bits.to_le_bytes()) {
                    self.set(addr + index, fill, Byte::Known(byte));
                }
            }
            Value::Term(_) => {
                let width = u16::try_from(size * 8).unwrap_or(64);
                let term = values.term(value, width);
                for index in 0..size {
                    let part = Byte::Part(term, u8::try_from(index).unwrap_or(0));
                    self.set(addr + index, fill, part);
                }
            }
        }
    }

    /// Reads a scalar of so many bytes; `None` if one of them was never written.
    pub fn read(&self, values: &mut Values, addr: u64, fill: Fill, size: u64) -> Option<Value> {
        let size = size.min(16);
        let mut bytes: SmallVec<[Byte; 16]> = SmallVec::new();
        for index in 0..size {
            match self.byte(values, addr + index, fill) {
                Byte::Unset => return None,
                byte => bytes.push(byte),
            }
        }
        let known = (0..)
            .zip(&bytes)
            .try_fold(0, |bits, (index, byte)| match byte {
                Byte::Known(byte) => Some(bits | u128::from(*byte) << (index * 8)),
                _ => None,
            });
        if let Some(bits) = known {
            return Some(Value::Bits(bits));
        }
        if let Some(Byte::Part(term, 0)) = bytes.first()
            && u64::from(values.formula.terms.width(*term)) == size * 8
            && (0..)
                .zip(&bytes)
                .all(|(index, byte)| *byte == Byte::Part(*term, index))
        {
            return Some(Value::Term(*term));
        }
        let parts = bytes.iter().map(|byte| match byte {
            Byte::Part(term, index) => values.byte(*term, *index),
            Byte::Known(byte) => values.formula.terms.constant(u128::from(*byte), 8),
            Byte::Unset => values.formula.terms.constant(0, 8),
        });
        let parts: Vec<Term> = parts.collect();
        Some(values.joined(&parts))
    }
}

impl Fill {
    fn byte(self) -> Byte {
        match self {
            Fill::Zero => Byte::Known(0),
            Fill::Unset | Fill::Environment => Byte::Unset,
        }
    }
}

fn contribution(addr: u64, byte: Byte, fill: Fill) -> u128 {
    if byte == fill.byte() {
        0
    } else {
        mix(addr, code(byte))
    }
}
