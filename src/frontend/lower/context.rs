//! Types inside a function: names are resolved and numbers evaluated on the spot.

use std::sync::Arc;

use lang_c::ast::Expression;
use lang_c::span::Node;

use super::{Binding, Lowerer};
use crate::frontend::declare::{Lower, TypeContext, lost};
use crate::frontend::model::Model;
use crate::frontend::scope::TagKind;
use crate::frontend::types::{EnumDef, Kind, Lazy, Len, Name, RecordDef, Type};

impl TypeContext for Lowerer<'_> {
    fn model(&self) -> Model {
        self.model
    }

    fn number(&mut self, expr: &Node<Expression>) -> Lower<Lazy> {
        let value = self.integer_constant(expr)?;
        match u64::try_from(value) {
            Ok(value) => Ok(Lazy::Value(value)),
            Err(_) => lost("negative size"),
        }
    }

    fn length(&mut self, expr: &Node<Expression>) -> Lower<Len> {
        match self.integer_constant(expr) {
            Ok(value) => match u64::try_from(value) {
                Ok(value) => Ok(Len::Known(value)),
                Err(_) => lost("array of negative size"),
            },
            // Lengths in a parameter list may speak of parameters that are not bound.
            Err(_) if self.prototypes > 0 => Ok(Len::Unknown),
            Err(_) => self.variable_length(expr),
        }
    }

    fn type_of(&mut self, expr: &Node<Expression>) -> Lower<Type> {
        self.type_of_expression(expr)
    }

    fn typedef(&mut self, name: &str) -> Lower<Type> {
        match self.local_binding(name) {
            Some(Binding::Typedef(ty)) => Ok(ty.clone()),
            _ => Ok(Type::new(Kind::Typedef(Name::from(name)))),
        }
    }

    fn tag(&mut self, kind: TagKind, name: &str) -> Lower<Type> {
        let key = (kind, Name::from(name));
        let known = self.scopes.iter().rev().find_map(|s| s.tags.get(&key));
        Ok(match known {
            Some(ty) => ty.clone(),
            None => Type::new(Kind::Tag(kind, key.1)),
        })
    }

    fn begin_record(&mut self, kind: TagKind, tag: Option<&str>) -> Option<u32> {
        let id = u32::try_from(self.local_records.len()).ok()?;
        self.local_records.push((None, None));
        if let Some(tag) = tag
            && let Some(scope) = self.scopes.last_mut()
        {
            let ty = Type::new(Kind::LocalRecord(id));
            scope.tags.insert((kind, Name::from(tag)), ty);
        }
        Some(id)
    }

    fn end_record(&mut self, begun: Option<u32>, _: TagKind, def: RecordDef) -> Type {
        let id = begun.unwrap_or_default();
        if let Some(entry) = self.local_records.get_mut(id as usize) {
            entry.0 = Some(Arc::new(def));
        }
        Type::new(Kind::LocalRecord(id))
    }

    fn define_enum(&mut self, tag: Option<&str>, def: EnumDef) -> Lower<Type> {
        let values = self.enumerate(&def, |_, _, _| {})?;
        for ((name, _), (value, kind)) in def.enumerators.iter().zip(&values.values) {
            self.bind(name.clone(), Binding::Enumerator(*value, *kind));
        }
        let ty = Type::int(values.kind);
        if let Some(tag) = tag
            && let Some(scope) = self.scopes.last_mut()
        {
            scope
                .tags
                .insert((TagKind::Enum, Name::from(tag)), ty.clone());
        }
        Ok(ty)
    }

    fn prototype(&mut self, enter: bool) {
        if enter {
            self.prototypes += 1;
        } else {
            self.prototypes -= 1;
        }
    }
}
