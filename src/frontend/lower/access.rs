//! Members, indirection and addresses.
//!
//! In: `record.member`, `*pointer`, `pointer[index]`, `&place`, `offsetof`. Out: [`Place`]s and pointers to them.

use std::sync::Arc;

use lang_c::ast::{self, Expression};
use lang_c::span::Node;

use super::Lowerer;
use super::value::{Operand, Place, Repr, Value};
use crate::frontend::declare::{self, Lower, lost};
use crate::frontend::types::{Kind, Type};
use crate::ir::{ExprId, ExprKind, LocalId, Ty};

impl Lowerer<'_> {
    pub(super) fn member_access(&mut self, member: &ast::MemberExpression) -> Lower<Operand> {
        let name = &member.identifier.node.name;
        let base = match member.operator.node {
            ast::MemberOperator::Direct => self.operand(&member.expression)?,
            ast::MemberOperator::Indirect => {
                let pointer = self.value(&member.expression)?;
                self.dereference(&pointer)?.into()
            }
        };
        let place = match base {
            Operand::Place(place) => self.member_place(place.addr, &place.ty, name)?,
            Operand::Value(value) => match value.repr {
                Repr::Memory(addr) => self.member_place(addr, &value.ty, name)?,
                Repr::Scalar(expr) => {
                    let base = self.b.cast(expr, Ty::Ptr);
                    self.member_place(base, &value.ty, name)?
                }
                Repr::Void => return lost(format!("member {name} of {}", value.ty)),
            },
        };
        Ok(place.into())
    }

    /// `*pointer`
    pub fn dereference(&mut self, pointer: &Value) -> Lower<Place> {
        let addr = self.scalar(pointer)?;
        let resolved = self.resolve(&pointer.ty)?;
        match resolved.kind {
            Kind::Pointer(to) => Ok(Place::new(addr, Arc::unwrap_or_clone(to))),
            // A guess that turned out to be a pointer.
            _ => {
                let addr = self.b.cast(addr, Ty::Ptr);
                Ok(Place::new(addr, Type::guessed()))
            }
        }
    }

    /// `pointer[index]`
    pub fn element(&mut self, pointer: &Value, index: &Value) -> Lower<Place> {
        let addr = self.offset_pointer(pointer, index, false)?;
        self.dereference(&Value::scalar_of(addr, pointer.ty.clone()))
    }

    pub(super) fn offset_of(&mut self, offset: &ast::OffsetOfExpression) -> Lower<Operand> {
        let ty = declare::type_name(self, &offset.type_name.node)?;
        let null = self.b.bits(0, Ty::Ptr);
        let designator = &offset.designator.node;
        let mut place = self.member_place(null, &ty, &designator.base.node.name)?;
        let mut way = Some(designator.base.node.name.clone());
        for member in &designator.members {
            place = match &member.node {
                ast::OffsetMember::Member(id) => {
                    way = way.map(|way| format!("{way}.{}", id.node.name));
                    self.member_place(place.addr, &place.ty, &id.node.name)?
                }
                ast::OffsetMember::IndirectMember(id) => {
                    way = None;
                    let pointer = self.rvalue(place.into())?;
                    let place = self.dereference(&pointer)?;
                    self.member_place(place.addr, &place.ty, &id.node.name)?
                }
                ast::OffsetMember::Index(index) => {
                    way = None;
                    let base = self.rvalue(place.into())?;
                    let index = self.value(index)?;
                    self.element(&base, &index)?
                }
            };
        }
        let expr = self.b.cast(place.addr, Ty::SIZE);
        if let (Some(way), Some(offset)) = (way, self.b.constant(expr)) {
            let tag = self.record_name(&ty)?;
            let record = self.record_spelling(&ty, &tag)?;
            let offset = u64::try_from(offset).unwrap_or(0);
            self.b.tell_offset(record, way, offset);
        }
        Ok(self.as_size(expr).into())
    }

    pub fn address_of(&mut self, operand: &Node<Expression>) -> Lower<Operand> {
        match self.operand(operand)? {
            Operand::Place(place) => {
                if place.bits.is_some() {
                    return lost("address of a bit-field");
                }
                Ok(Value::scalar_of(place.addr, Type::pointer(place.ty)).into())
            }
            Operand::Value(value) => match value.repr {
                Repr::Memory(addr) => Ok(Value::scalar_of(addr, Type::pointer(value.ty)).into()),
                _ => lost("address of a value"),
            },
        }
    }

    /// The local that an address lies in.
    pub fn rooted_local(&self, addr: ExprId) -> Option<LocalId> {
        match self.b.kind(addr) {
            ExprKind::AddrLocal(id) => Some(*id),
            ExprKind::Member { base, .. } | ExprKind::Index { base, .. } => {
                self.rooted_local(*base)
            }
            _ => None,
        }
    }
}
