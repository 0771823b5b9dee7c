//! Sizes and alignments of types, the layouts of records, and how values are kept.
//!
//! In: [`Type`]s as written. Out: bytes, a [`Layout`] for each record (cached for the unit, see [`TypeCache`](super::TypeCache)),
//! a [`Class`] for each type.

use std::sync::Arc;

use rustc_hash::FxHashMap;

use super::Lowerer;
use super::names::{LOOK_LIMIT, Record};
use crate::frontend::declare::{Lower, lost};
use crate::frontend::layout::{self, MemberShape};
use crate::frontend::types::{Field, FloatKind, Kind, Lazy, Len, Name, RecordDef, Type};
use crate::ir::Ty;

/// A record's layout, members of anonymous records included by name. Offsets in bits.
#[derive(Debug)]
pub struct Layout {
    pub size: u64,
    pub align: u64,
    /// Parallel to the definition's fields.
    pub fields: Vec<Slot>,
    pub members: FxHashMap<Name, (Slot, Type)>,
}

/// Where a member lies: its first bit, and its width if it is a bit-field.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Slot {
    pub bit: u64,
    pub width: Option<u64>,
    /// Of the member itself, in bytes.
    pub align: u64,
    /// Other members may have the same bytes: it is one of a union, or of a record without a name in a union.
    pub overlaps: bool,
}

/// How values of a type are kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Class {
    Void,
    Scalar(Ty),
    /// Bytes in memory: records, vectors, complex numbers.
    Memory(u64),
    Array,
    Function,
}

/// Size and alignment given to a member whose type is incomplete.
const OPAQUE: (u64, u64) = (64, 8);

impl Lowerer<'_> {
    pub fn layout(&mut self, record: &Record) -> Lower<Arc<Layout>> {
        match record {
            Record::File(def) => self.cached(
                def,
                |cache| &cache.layouts,
                |this| this.at_file_scope(|this| this.lay_out(def)),
            ),
            Record::Local(id, def) => {
                if let Some((_, Some(known))) = self.local_records.get(*id as usize) {
                    return Ok(Arc::clone(known));
                }
                let layout = Arc::new(self.lay_out(def)?);
                if let Some(entry) = self.local_records.get_mut(*id as usize) {
                    entry.1 = Some(Arc::clone(&layout));
                }
                Ok(layout)
            }
        }
    }

    fn lay_out(&mut self, def: &RecordDef) -> Lower<Layout> {
        self.depth += 1;
        let layout = if self.depth > LOOK_LIMIT {
            lost("record contains itself")
        } else {
            self.lay_out_members(def)
        };
        self.depth -= 1;
        layout
    }

    fn lay_out_members(&mut self, def: &RecordDef) -> Lower<Layout> {
        let limit = match &def.pack {
            Some(pack) => Some(self.lazy(pack)?.max(1)),
            None => None,
        };
        let mut shapes = Vec::with_capacity(def.fields.len());
        for field in &def.fields {
            let shape = self.shape(field, def.packed)?;
            // What closes a unit heeds no pragma, but the option.
            let limit = match (shape.width, self.model.pack) {
                (Some(0), 0) => None,
                (Some(0), pack) => Some(pack.into()),
                _ => limit,
            };
            shapes.push(MemberShape { limit, ..shape });
        }
        // The last counts; of a member it is the strictest.
        let minimum = match def.aligns.last() {
            Some(align) => self.lazy(align)?,
            None => 1,
        };
        let placed = layout::lay_out(def.union, minimum, &shapes);
        let mut members = FxHashMap::default();
        let mut fields = Vec::with_capacity(def.fields.len());
        for ((field, shape), at) in def.fields.iter().zip(&shapes).zip(&placed.members) {
            let slot = Slot {
                bit: at.bit,
                width: shape.width,
                align: at.align,
                overlaps: def.union,
            };
            fields.push(slot);
            if let Some(name) = &field.name {
                members.insert(name.clone(), (slot, field.ty.clone()));
            } else if field.width.is_none()
                && let Some(inner) = self.record(&field.ty)?
            {
                let inner = self.layout(&inner)?;
                for (name, (slot, ty)) in &inner.members {
                    let slot = Slot {
                        bit: slot.bit + at.bit,
                        overlaps: slot.overlaps || def.union,
                        ..*slot
                    };
                    let ty = ty.clone().with_quals(field.ty.quals);
                    members.insert(name.clone(), (slot, ty));
                }
            }
        }
        Ok(Layout {
            size: placed.size,
            align: placed.align,
            fields,
            members,
        })
    }

    fn shape(&mut self, field: &Field, packed: bool) -> Lower<MemberShape> {
        let resolved = self.resolve(&field.ty)?;
        // A flexible array member takes no room.
        let (size, align) = match &resolved.kind {
            Kind::Array(of, Len::Unknown) => (0, self.size_align(of).unwrap_or(OPAQUE).1),
            _ => self.size_align(&resolved).unwrap_or(OPAQUE),
        };
        let most = self.most_as_member(&resolved)?;
        let width = match &field.width {
            Some(width) => Some(self.lazy(width)?),
            None => None,
        };
        if width.is_some_and(|width| width > size.saturating_mul(8)) {
            return lost("bit-field wider than its type");
        }
        Ok(MemberShape {
            size,
            align: align.min(most),
            most: most.saturating_mul(8),
            width,
            aligns_record: field.name.is_some() || self.model.unnamed_fields_align,
            packed: packed || field.packed,
            requested: self.largest(&field.aligns)?,
            limit: None,
        })
    }

    fn largest(&mut self, aligns: &[Lazy]) -> Lower<Option<u64>> {
        let mut largest = None;
        for align in aligns {
            largest = largest.max(Some(self.lazy(align)?));
        }
        Ok(largest)
    }

    pub fn lazy(&mut self, lazy: &Lazy) -> Lower<u64> {
        match lazy {
            Lazy::Value(value) => Ok(*value),
            Lazy::AlignOf(ty) => self.member_align(ty),
            Lazy::Expr(expr) => {
                let value = self.at_file_scope(|this| this.integer_constant(expr))?;
                u64::try_from(value).or_else(|_| lost("negative size"))
            }
        }
    }

    /// Size and alignment in bytes. Incomplete and variable-length types have none.
    pub fn size_align(&mut self, ty: &Type) -> Lower<(u64, u64)> {
        let ty = self.resolve(ty)?;
        let (size, align) = match &ty.kind {
            Kind::Void | Kind::Function(_) => (1, 1),
            Kind::Int(kind) => {
                let bytes = u64::from(kind.bits() / 8);
                (bytes, bytes.min(self.model.scalar_align.into()))
            }
            Kind::Float(kind) => {
                let bytes = u64::from(kind.size(&self.model));
                let align = match kind {
                    FloatKind::LongDouble => self.model.long_double_align.into(),
                    FloatKind::Quad => bytes,
                    _ => bytes.min(self.model.scalar_align.into()),
                };
                (bytes, align)
            }
            Kind::Pointer(_) => {
                let bytes = u64::from(self.model.pointer);
                (bytes, bytes.min(self.model.scalar_align.into()))
            }
            Kind::Complex(of) => {
                let (size, align) = self.size_align(of)?;
                (size * 2, align)
            }
            Kind::Vector(_, bytes) => {
                let bytes = self.lazy(bytes)?;
                (bytes, bytes.max(1))
            }
            Kind::Array(of, len) => {
                let (size, align) = self.size_align(of)?;
                match len {
                    Len::Known(len) => (size.saturating_mul(*len), align),
                    Len::Variable(_) => return lost("size of a variable-length array"),
                    Len::Unknown | Len::Lazy(_) => return lost("size of an incomplete array"),
                }
            }
            _ => match self.record(&ty)? {
                Some(record) => {
                    let layout = self.layout(&record)?;
                    (layout.size, layout.align)
                }
                None => return lost(format!("incomplete type {ty}")),
            },
        };
        match ty.align.clone() {
            Some(given) => Ok((size, self.lazy(&given)?.max(1))),
            None => Ok((size, align)),
        }
    }

    /// Alignment in bytes, which an array has whether or not it is complete.
    pub fn align_of(&mut self, ty: &Type) -> Lower<u64> {
        let ty = self.resolve(ty)?;
        match (&ty.kind, &ty.align) {
            (Kind::Array(of, _), None) => self.align_of(of),
            _ => Ok(self.size_align(&ty)?.1),
        }
    }

    /// The strictest alignment that a member of this type has by itself: some targets align integers and `double` less in
    /// records, unless the program asks for more.
    fn most_as_member(&mut self, ty: &Type) -> Lower<u64> {
        let model = self.model;
        if model.member_align >= model.scalar_align {
            return Ok(u64::MAX);
        }
        let ty = self.resolve(ty)?;
        Ok(match &ty.kind {
            _ if ty.align.is_some() => u64::MAX,
            Kind::Array(of, _) => self.most_as_member(of)?,
            Kind::Int(_) | Kind::Float(FloatKind::Double) | Kind::Pointer(_) => {
                model.member_align.into()
            }
            Kind::Complex(of) => match self.resolve(of)?.kind {
                Kind::Int(_) | Kind::Float(FloatKind::Double) => model.member_align.into(),
                _ => u64::MAX,
            },
            _ => u64::MAX,
        })
    }

    /// The alignment that a type has as a member of a record, and nowhere less.
    pub fn member_align(&mut self, ty: &Type) -> Lower<u64> {
        Ok(self.align_of(ty)?.min(self.most_as_member(ty)?))
    }

    pub fn size_of(&mut self, ty: &Type) -> Lower<u64> {
        Ok(self.size_align(ty)?.0)
    }

    /// How values of a type are kept.
    pub fn class(&mut self, ty: &Type) -> Lower<Class> {
        let ty = self.resolve(ty)?;
        Ok(match &ty.kind {
            Kind::Void => Class::Void,
            Kind::Int(kind) => Class::Scalar(kind.ty()),
            Kind::Float(kind) => Class::Scalar(kind.ty(&self.model)),
            Kind::Pointer(_) => Class::Scalar(Ty::Ptr),
            Kind::Array(..) => Class::Array,
            Kind::Function(_) => Class::Function,
            // Of unknown size if it is incomplete.
            _ if Self::is_record(&ty) && self.record(&ty)?.is_none() => Class::Memory(0),
            _ => Class::Memory(self.size_of(&ty)?),
        })
    }
}
