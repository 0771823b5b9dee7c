//! The alignment of objects: that of a variable or a member may be another than its type's.
//!
//! In: the operand of `__alignof__`, a variable's `aligned`. Out: bytes, as gcc has them.

use lang_c::ast::{Expression, UnaryOperator};
use lang_c::span::Node;

use super::Lowerer;
use super::value::{Operand, Place};
use crate::frontend::declare::{self, Lower};
use crate::frontend::types::{Kind, Lazy, Name, Type};

impl Lowerer<'_> {
    /// `__alignof__(e)`
    pub fn alignment(&mut self, expr: &Node<Expression>) -> Lower<u64> {
        if let Expression::UnaryOperator(unary) = &expr.node
            && unary.node.operator.node == UnaryOperator::Indirection
        {
            return self.alignment_behind(&unary.node.operand);
        }
        let (operand, _) = self.dry(|this| this.operand(expr));
        match operand? {
            Operand::Place(Place {
                align: Some(align), ..
            }) => Ok(align),
            Operand::Place(place) => self.align_of(&place.ty),
            Operand::Value(value) => self.align_of(&value.ty),
        }
    }

    /// Of what a pointer leads to: that of the strictest type that the pointer was cast from.
    fn alignment_behind(&mut self, mut pointer: &Node<Expression>) -> Lower<u64> {
        let mut strictest = 0;
        loop {
            let ty = match &pointer.node {
                Expression::Cast(cast) => declare::type_name(self, &cast.node.type_name.node)?,
                Expression::UnaryOperator(unary)
                    if strictest == 0 && unary.node.operator.node == UnaryOperator::Address =>
                {
                    return self.alignment(&unary.node.operand);
                }
                _ => self.type_of_value(pointer)?,
            };
            match self.resolve(&ty)?.kind {
                Kind::Pointer(to) => strictest = strictest.max(self.align_of(&to)?),
                _ => break,
            }
            match &pointer.node {
                Expression::Cast(cast) => pointer = &cast.node.expression,
                _ => break,
            }
        }
        Ok(strictest.max(1))
    }

    /// Notes what `aligned` gives a variable of the innermost block.
    pub fn align_variable(&mut self, name: &Name, ty: &Type, aligns: &[Lazy]) -> Lower<()> {
        if let Some(align) = self.given_alignment(ty, aligns)?
            && let Some(scope) = self.scopes.last_mut()
        {
            scope.aligns.insert(name.clone(), align);
        }
        Ok(())
    }

    /// The place of a variable of a block, with what `aligned` gave it.
    pub fn aligned_local(&self, mut place: Place, name: &str) -> Place {
        let mut scopes = self.scopes.iter().rev();
        let scope = scopes.find(|scope| scope.names.contains_key(name));
        place.align = scope.and_then(|scope| scope.aligns.get(name).copied());
        place
    }

    /// The alignment of an object that is declared `aligned`, which makes it no smaller.
    pub fn given_alignment(&mut self, ty: &Type, aligns: &[Lazy]) -> Lower<Option<u64>> {
        let mut given = None;
        for align in aligns {
            given = given.max(Some(self.lazy(align)?));
        }
        match given {
            Some(given) => Ok(Some(given.max(self.align_of(ty)?))),
            None => Ok(None),
        }
    }
}
