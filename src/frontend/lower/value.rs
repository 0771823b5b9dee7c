//! Values and places: reading, converting, writing.
//!
//! In: evaluated operands. Out: scalar expressions of the wanted type, loads, stores, copies; bit-fields
//! as shifts and masks of the smallest naturally placed unit that covers them.

use std::sync::Arc;

use super::Lowerer;
use super::build::Extent;
use super::size::{Class, Slot};
use crate::frontend::declare::{Lower, lost};
use crate::frontend::types::{IntKind, Kind, Type};
use crate::ir::{
    BinOp, ExprId, ExprKind, FIRST_POINTER, FunctionHolder, GUESSED_MEMBERS, Method, StmtKind,
    SymbolId, SymbolKind, SymbolName, TermKind, Ty,
};

/// An lvalue or function designator.
#[derive(Clone, Debug)]
pub struct Place {
    pub addr: ExprId,
    pub ty: Type,
    pub bits: Option<BitField>,
    /// The record's member that it was reached through, or for a function the variable.
    pub holder: Option<FunctionHolder>,
    /// What the object itself is aligned to, where that may differ from its type.
    pub align: Option<u64>,
}

/// A bit-field inside its unit, which lies at the place's address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BitField {
    /// Size of the unit in bits.
    pub unit: u16,
    pub shift: u16,
    pub width: u16,
}

/// An rvalue.
#[derive(Clone, Debug)]
pub struct Value {
    pub ty: Type,
    pub repr: Repr,
}

#[derive(Clone, Copy, Debug)]
pub enum Repr {
    Void,
    Scalar(ExprId),
    /// The address of a record, vector or complex number.
    Memory(ExprId),
}

/// An evaluated expression.
#[derive(Clone, Debug)]
pub enum Operand {
    Place(Place),
    Value(Value),
}

impl Place {
    pub fn new(addr: ExprId, ty: Type) -> Place {
        Place {
            addr,
            ty,
            bits: None,
            holder: None,
            align: None,
        }
    }
}

impl Value {
    pub fn scalar_of(expr: ExprId, ty: Type) -> Value {
        Value {
            ty,
            repr: Repr::Scalar(expr),
        }
    }

    pub fn void() -> Value {
        Value {
            ty: Type::void(),
            repr: Repr::Void,
        }
    }

    pub fn scalar(&self) -> Option<ExprId> {
        match self.repr {
            Repr::Scalar(expr) => Some(expr),
            _ => None,
        }
    }
}

impl From<Value> for Operand {
    fn from(value: Value) -> Operand {
        Operand::Value(value)
    }
}

impl From<Place> for Operand {
    fn from(place: Place) -> Operand {
        Operand::Place(place)
    }
}

/// The smallest naturally placed unit of a power-of-two size that covers the bits: its offset in
/// bytes, and the field in it. Where a packed field crosses even 16-byte units, the unit starts at the
/// field's first byte.
pub fn bit_unit(slot: Slot) -> Option<(u64, BitField)> {
    const UNITS: [u64; 5] = [8, 16, 32, 64, 128];
    let width = slot.width?;
    let last = slot.bit + width.max(1) - 1;
    let natural = UNITS
        .into_iter()
        .find(|unit| slot.bit / unit == last / unit)
        .map(|unit| (unit, slot.bit / unit * unit));
    let (unit, start) = natural.or_else(|| {
        let start = slot.bit / 8 * 8;
        let unit = UNITS.into_iter().find(|unit| last < start + unit)?;
        Some((unit, start))
    })?;
    let field = BitField {
        unit: u16::try_from(unit).ok()?,
        shift: u16::try_from(slot.bit - start).ok()?,
        width: u16::try_from(width).ok()?,
    };
    Some((start / 8, field))
}

impl Lowerer<'_> {
    // ---- reading ----

    /// Lvalue conversion: the value of an operand; arrays and functions decay to pointers.
    pub fn rvalue(&mut self, operand: Operand) -> Lower<Value> {
        let place = match operand {
            Operand::Value(value) => return Ok(value),
            Operand::Place(place) => place,
        };
        if let Some(bits) = place.bits {
            return self.read_bits(&place, bits);
        }
        match self.class(&place.ty)? {
            Class::Scalar(ty) => {
                let volatile = self.resolve(&place.ty)?.quals.volatile;
                let expr = match self.low_address(place.addr) {
                    Some(_) => self.b.unknown(ty),
                    None => self.b.load(place.addr, ty, volatile),
                };
                Ok(Value::scalar_of(expr, place.ty.unqualified()))
            }
            Class::Memory(_) => Ok(Value {
                ty: place.ty.unqualified(),
                repr: Repr::Memory(place.addr),
            }),
            Class::Array => {
                let resolved = self.resolve(&place.ty)?;
                match resolved.kind {
                    Kind::Array(of, _) => {
                        Ok(Value::scalar_of(place.addr, Type::new(Kind::Pointer(of))))
                    }
                    _ => lost("array without an element type"),
                }
            }
            Class::Function => Ok(Value::scalar_of(place.addr, Type::pointer(place.ty))),
            Class::Void => Ok(Value::void()),
        }
    }

    fn read_bits(&mut self, place: &Place, bits: BitField) -> Lower<Value> {
        let resolved = self.resolve(&place.ty)?;
        let Kind::Int(kind) = resolved.kind else {
            return lost("bit-field of a type that is no integer");
        };
        let unit = Ty::Int {
            bits: bits.unit,
            signed: false,
        };
        let loaded = self.b.load(place.addr, unit, resolved.quals.volatile);
        let value = self.extract(loaded, bits, kind);
        // Narrow bit-fields promote to int whatever their sign.
        let promoted = match bits.width {
            width if width < 32 => IntKind::Int,
            32 if kind.signed() => IntKind::Int,
            32 => IntKind::UInt,
            width if width < kind.bits() => IntKind::Field {
                width: u8::try_from(width).unwrap_or(u8::MAX),
                signed: kind.signed(),
            },
            _ => kind,
        };
        let value = self.b.cast(value, promoted.ty());
        Ok(Value::scalar_of(value, Type::int(promoted)))
    }

    /// The field's value in its declared type, out of the unit.
    fn extract(&mut self, unit: ExprId, bits: BitField, kind: IntKind) -> ExprId {
        let ty = self.b.ty(unit);
        let value = if kind.signed() {
            let signed = Ty::Int {
                bits: bits.unit,
                signed: true,
            };
            let left = i128::from(bits.unit - bits.shift - bits.width);
            let right = i128::from(bits.unit - bits.width);
            let unit = self.b.cast(unit, signed);
            let left = self.b.int(left, Ty::INT);
            let up = self.b.binary(BinOp::Shl, unit, left);
            let right = self.b.int(right, Ty::INT);
            self.b.binary(BinOp::Shr, up, right)
        } else {
            let shift = self.b.int(i128::from(bits.shift), Ty::INT);
            let down = self.b.binary(BinOp::Shr, unit, shift);
            let mask = self.b.bits(ones(bits.width), ty);
            self.b.binary(BinOp::And, down, mask)
        };
        self.b.cast(value, kind.ty())
    }

    /// A scalar rvalue's expression; void and memory have none.
    pub fn scalar(&mut self, value: &Value) -> Lower<ExprId> {
        match value.repr {
            Repr::Scalar(expr) => Ok(expr),
            Repr::Void => lost("void value used"),
            Repr::Memory(_) => lost(format!("{} used as a scalar", value.ty)),
        }
    }

    // ---- converting ----

    /// Converts a value to a scalar type, as if by assignment or cast.
    pub fn convert(&mut self, value: &Value, to: &Type) -> Lower<ExprId> {
        let resolved = self.resolve(to)?;
        let Class::Scalar(ty) = self.class(&resolved)? else {
            return lost(format!("conversion to {to}"));
        };
        match value.repr {
            Repr::Scalar(expr) => Ok(match resolved.kind {
                Kind::Int(IntKind::Bool) => {
                    let truth = self.b.is_true(expr);
                    self.b.cast(truth, ty)
                }
                _ => self.b.cast(expr, ty),
            }),
            // A void value or a complex number where a scalar is wanted.
            Repr::Void | Repr::Memory(_) => Ok(self.b.unknown(ty)),
        }
    }

    /// A value converted to a scalar type, with that type.
    pub fn converted(&mut self, value: &Value, to: &Type) -> Lower<Value> {
        match self.class(to)? {
            Class::Void => Ok(Value::void()),
            Class::Scalar(_) => {
                let expr = self.convert(value, to)?;
                Ok(Value::scalar_of(expr, to.clone().unqualified()))
            }
            Class::Memory(size) => {
                let addr = self.memory_address(value, to, size)?;
                Ok(Value {
                    ty: to.clone().unqualified(),
                    repr: Repr::Memory(addr),
                })
            }
            Class::Array | Class::Function => lost(format!("conversion to {to}")),
        }
    }

    /// The address of a value of a type kept in memory; a scalar is put into a new object of it (a
    /// member of a union, a real number made complex).
    pub fn memory_address(&mut self, value: &Value, to: &Type, size: u64) -> Lower<ExprId> {
        match value.repr {
            Repr::Memory(addr) => Ok(addr),
            Repr::Scalar(expr) => {
                let name = self.spelling(to);
                let temporary = self.b.temporary_memory(size, name);
                let addr = self.b.addr_local(temporary);
                if matches!(self.resolve(to)?.kind, Kind::Complex(_) | Kind::Vector(..)) {
                    self.b.stmt(StmtKind::Havoc { dst: addr, size });
                } else {
                    self.b.stmt(StmtKind::Zero { dst: addr, size });
                    self.b.store(addr, expr);
                }
                Ok(addr)
            }
            Repr::Void => lost("void value used"),
        }
    }

    /// The address in the first page that the source itself states for an access. No object lies there, and nobody writes that by mistake: a store
    /// at address 0 is there to end the program, as `*(volatile int *)0 = 0;` does, and what lies elsewhere is a register of some device.
    fn low_address(&self, addr: ExprId) -> Option<u128> {
        self.b
            .bits_of(addr)
            .filter(|address| *address < FIRST_POINTER)
    }

    // ---- writing ----

    /// Stores a value, converted to the place's type.
    pub fn write(&mut self, place: &Place, value: &Value) -> Lower<()> {
        if let Some(bits) = place.bits {
            let expr = self.convert(value, &place.ty)?;
            return self.write_bits(place, bits, expr);
        }
        match self.class(&place.ty)? {
            Class::Scalar(_) => {
                let expr = self.convert(value, &place.ty)?;
                self.note_method(place, expr)?;
                match self.low_address(place.addr) {
                    Some(0) if self.dry_runs == 0 => self.b.terminate(TermKind::Unreachable),
                    Some(_) => {}
                    None => self.b.store(place.addr, expr),
                }
                Ok(())
            }
            Class::Memory(size) => {
                let src = self.memory_address(value, &place.ty, size)?;
                let dst = place.addr;
                if size > 0 && src != dst {
                    self.b.stmt(StmtKind::Copy { dst, src, size });
                }
                Ok(())
            }
            Class::Array => lost("assignment to an array"),
            Class::Void | Class::Function => lost(format!("assignment to {}", place.ty)),
        }
    }

    /// Notes a function that is stored in a member or variable, or what else a variable of a function pointer is set to.
    fn note_method(&mut self, place: &Place, value: ExprId) -> Lower<()> {
        let function = self.function_at(value).map(|(_, name)| name.clone());
        if function.is_none() && (place.holder.is_some() || !self.may_be_function(place, value)?) {
            return Ok(());
        }
        let holder = self.holder(place).filter(
            |holder| !matches!(holder, FunctionHolder::Member((record, _)) if record.is_empty()),
        );
        self.methods
            .extend(holder.map(|holder| Method { holder, function }));
        Ok(())
    }

    /// The function whose address a value is.
    pub fn function_at(&self, value: ExprId) -> Option<(SymbolId, &SymbolName)> {
        let ExprKind::AddrSymbol(id) = *self.b.kind(value) else {
            return None;
        };
        let symbol = self.b.symbols.get(id.index())?;
        matches!(symbol.kind, SymbolKind::Function { .. }).then_some((id, &symbol.name))
    }

    /// Whether a value that is stored in a place may be the address of a function.
    fn may_be_function(&mut self, place: &Place, value: ExprId) -> Lower<bool> {
        if !matches!(self.b.kind(place.addr), ExprKind::AddrSymbol(_))
            || matches!(self.b.kind(value), ExprKind::Const(_))
        {
            return Ok(false);
        }
        let Kind::Pointer(to) = self.resolve(&place.ty)?.kind else {
            return Ok(false);
        };
        Ok(matches!(self.class(&to)?, Class::Function))
    }

    /// What a function pointer that lies there is called through.
    pub fn holder(&self, place: &Place) -> Option<FunctionHolder> {
        if place.holder.is_some() {
            return place.holder.clone();
        }
        let ExprKind::AddrSymbol(id) = *self.b.kind(place.addr) else {
            return None;
        };
        let symbol = self.b.symbols.get(id.index())?;
        let is_object = matches!(symbol.kind, SymbolKind::Object { .. });
        is_object.then(|| FunctionHolder::Variable(symbol.name.clone()))
    }

    fn write_bits(&mut self, place: &Place, bits: BitField, value: ExprId) -> Lower<()> {
        let ty = Ty::Int {
            bits: bits.unit,
            signed: false,
        };
        let value = self.b.cast(value, ty);
        if bits.width == bits.unit {
            self.b.store(place.addr, value);
            return Ok(());
        }
        let volatile = self.resolve(&place.ty)?.quals.volatile;
        let addr = self.b.stable(place.addr);
        let mask = self.b.bits(ones(bits.width), ty);
        let shift = self.b.int(i128::from(bits.shift), Ty::INT);
        let value = self.b.binary(BinOp::And, value, mask);
        let value = self.b.binary(BinOp::Shl, value, shift);
        let hole = self.b.bits(!(ones(bits.width) << bits.shift), ty);
        let old = self.b.load(addr, ty, volatile);
        let kept = self.b.binary(BinOp::And, old, hole);
        let new = self.b.binary(BinOp::Or, kept, value);
        self.b.store(addr, new);
        Ok(())
    }

    /// The value of an assignment to a place just written: what a read of it gives.
    pub fn written(&mut self, place: &Place, value: &Value) -> Lower<Value> {
        match self.class(&place.ty)? {
            Class::Scalar(_) => {
                let expr = self.convert(value, &place.ty)?;
                let ty = place.ty.clone().unqualified();
                let Some(bits) = place.bits else {
                    return Ok(Value::scalar_of(expr, ty));
                };
                let Kind::Int(kind) = self.resolve(&place.ty)?.kind else {
                    return Ok(Value::scalar_of(expr, ty));
                };
                let unit = Ty::Int {
                    bits: bits.unit,
                    signed: false,
                };
                let unit = self.b.cast(expr, unit);
                let low = BitField { shift: 0, ..bits };
                let expr = self.extract(unit, low, kind);
                Ok(Value::scalar_of(expr, ty))
            }
            Class::Memory(_) => Ok(Value {
                ty: place.ty.clone().unqualified(),
                repr: Repr::Memory(place.addr),
            }),
            _ => Ok(Value::void()),
        }
    }

    // ---- members ----

    /// The member `name` of the record of type `ty` at `base`.
    pub fn member_place(&mut self, base: ExprId, ty: &Type, name: &str) -> Lower<Place> {
        let layout = match self.record(ty)? {
            Some(record) => Some(self.layout(&record)?),
            None => None,
        };
        let Some((slot, member)) = layout.as_ref().and_then(|layout| layout.members.get(name))
        else {
            return Ok(self.guessed_member(base, name));
        };
        let quals = self.resolve(ty)?.quals;
        let member = member.clone().with_quals(quals);
        let tag = self.record_name(ty)?;
        let spelling = self.record_spelling(ty, &tag)?;
        let mut place = self.slot_place(base, *slot, (&spelling, name), member)?;
        place.holder = Some(FunctionHolder::Member((tag, name.to_owned())));
        Ok(place)
    }

    /// A member that is not known: a number far behind all others, at the same place for each use of
    /// the name.
    fn guessed_member(&mut self, base: ExprId, name: &str) -> Place {
        let hash = name.bytes().fold(0x811c_9dc5_u32, |hash, byte| {
            (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193)
        });
        let room = GUESSED_MEMBERS.end - GUESSED_MEMBERS.start;
        let offset = GUESSED_MEMBERS.start + (u64::from(hash) << 4) % room;
        let addr = self.b.member(base, Extent::at(offset), "", name);
        Place::new(addr, Type::guessed())
    }

    /// The place of a member by its slot; the record's spelling and the member's name.
    pub fn slot_place(
        &mut self,
        base: ExprId,
        slot: Slot,
        (record, name): (&str, &str),
        ty: Type,
    ) -> Lower<Place> {
        if slot.width.is_none() {
            let size = self.size_of(&ty).unwrap_or(0);
            let extent = Extent {
                offset: slot.bit / 8,
                size,
                overlaps: slot.overlaps,
            };
            let addr = self.b.member(base, extent, record, name);
            let mut place = Place::new(addr, ty);
            place.align = Some(slot.align);
            return Ok(place);
        }
        let Some((offset, bits)) = bit_unit(slot) else {
            return lost(format!("bit-field {name} in no unit"));
        };
        let extent = Extent {
            overlaps: slot.overlaps,
            ..Extent::at(offset)
        };
        let addr = self.b.member(base, extent, record, name);
        let mut place = Place::new(addr, ty);
        place.bits = Some(bits);
        Ok(place)
    }

    /// A record as a declaration names it: `struct inode`, or the typedef name of one without a tag.
    pub fn record_spelling(&mut self, ty: &Type, name: &str) -> Lower<String> {
        let Some(record) = self.record(ty)? else {
            return Ok(name.to_owned());
        };
        Ok(match (&record.def().tag, record.def().union) {
            (Some(tag), false) => format!("struct {tag}"),
            (Some(tag), true) => format!("union {tag}"),
            (None, _) => name.to_owned(),
        })
    }

    /// The tag of a record, or the typedef name of one without a tag.
    pub fn record_name(&mut self, ty: &Type) -> Lower<String> {
        let mut name = String::new();
        let mut current = ty.clone();
        loop {
            current = match &current.kind {
                Kind::Typedef(typedef) => {
                    name = typedef.to_string();
                    let typedef = Arc::clone(typedef);
                    match self.typedef_target(&typedef)? {
                        Some(ty) => ty,
                        None => break,
                    }
                }
                Kind::Tag(_, tag) => return Ok(tag.to_string()),
                Kind::TypeOf(_) => self.resolve(&current)?,
                _ => break,
            };
        }
        if let Some(record) = self.record(&current)?
            && let Some(tag) = &record.def().tag
        {
            return Ok(tag.to_string());
        }
        Ok(name)
    }
}

/// `width` one bits.
fn ones(width: u16) -> u128 {
    match u32::from(width) {
        width @ 0..128 => (1u128 << width) - 1,
        _ => u128::MAX,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bit_field_is_read_from_the_smallest_unit_that_covers_it() {
        let slot = |bit, width| Slot {
            bit,
            width: Some(width),
            align: 1,
            overlaps: false,
        };
        let unit = |slot| bit_unit(slot).map(|(offset, field)| (offset, field.unit, field.shift));
        assert_eq!(unit(slot(35, 3)), Some((4, 8, 3)));
        assert_eq!(unit(slot(6, 4)), Some((0, 16, 6)));
        assert_eq!(unit(slot(30, 5)), Some((0, 64, 30)));
        assert_eq!(unit(slot(126, 5)), Some((15, 16, 6)));
    }
}
