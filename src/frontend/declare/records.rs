//! Records and enumerations as they are declared.
//!
//! In: their syntax, with or without a list of members. Out: [`Type`]s; definitions go to the [`TypeContext`].

use std::sync::Arc;

use lang_c::ast;
use lang_c::span::Node;

use super::attributes::int_mode;
use super::{Attributes, Lower, TypeContext, declared, lost, qualifiers};
use crate::frontend::scope::TagKind;
use crate::frontend::types::{EnumDef, Field, Kind, Name, RecordDef, Type};

pub(super) fn record_type<C: TypeContext>(
    cx: &mut C,
    record: &ast::StructType,
    after: &[&[Node<ast::Extension>]],
) -> Lower<Type> {
    let kind = match record.kind.node {
        ast::StructKind::Struct => TagKind::Struct,
        ast::StructKind::Union => TagKind::Union,
    };
    let tag = record.identifier.as_ref().map(|id| id.node.name.as_str());
    let Some(declarations) = &record.declarations else {
        return match tag {
            Some(tag) => cx.tag(kind, tag),
            None => lost("record without tag and members"),
        };
    };
    let begun = cx.begin_record(kind, tag);
    let mut attributes = Attributes::default();
    for extensions in after {
        attributes.add(cx, extensions)?;
    }
    let mut fields = Vec::new();
    for declaration in declarations {
        if let ast::StructDeclaration::Field(field) = &declaration.node {
            members(cx, &field.node, &mut fields)?;
        }
    }
    let def = RecordDef {
        union: kind == TagKind::Union,
        tag: tag.map(Name::from),
        fields,
        packed: attributes.packed,
        aligns: attributes.aligns,
        pack: attributes.pack,
        transparent: attributes.transparent_union,
    };
    Ok(cx.end_record(begun, kind, def))
}

fn members<C: TypeContext>(
    cx: &mut C,
    field: &ast::StructField,
    fields: &mut Vec<Field>,
) -> Lower<()> {
    let specified = qualifiers(cx, &field.specifiers)?;
    if field.declarators.is_empty() {
        // An anonymous record; a mere tag definition declares no member.
        let anonymous = matches!(
            specified.ty.kind,
            Kind::Record(_) | Kind::LocalRecord(_) | Kind::Tag(TagKind::Struct | TagKind::Union, _)
        );
        if anonymous {
            fields.push(Field {
                name: None,
                ty: specified.ty,
                width: None,
                packed: specified.attributes.packed,
                aligns: specified.attributes.aligns,
            });
        }
        return Ok(());
    }
    for declarator in &field.declarators {
        let declarator = &declarator.node;
        let mut attributes = specified.attributes.clone();
        let (name, ty) = match &declarator.declarator {
            Some(node) => declared(cx, specified.ty.clone(), &node.node, &mut attributes)?,
            None => (None, specified.ty.clone()),
        };
        if name.as_deref() == Some("__cassini_empty_record") {
            continue;
        }
        let width = match &declarator.bit_width {
            Some(expr) => Some(cx.number(expr)?),
            None => None,
        };
        fields.push(Field {
            name,
            ty,
            width,
            packed: attributes.packed,
            aligns: attributes.aligns,
        });
    }
    Ok(())
}

pub(super) fn enum_type<C: TypeContext>(
    cx: &mut C,
    node: &ast::EnumType,
    after: &[&[Node<ast::Extension>]],
) -> Lower<Type> {
    let tag = node.identifier.as_ref().map(|id| id.node.name.as_str());
    if node.enumerators.is_empty() {
        return match tag {
            Some(tag) => cx.tag(TagKind::Enum, tag),
            None => lost("enumeration without tag and enumerators"),
        };
    }
    let mut attributes = Attributes::default();
    for extensions in after {
        attributes.add(cx, extensions)?;
    }
    let enumerators = node
        .enumerators
        .iter()
        .map(|enumerator| {
            let name = Name::from(enumerator.node.identifier.node.name.as_str());
            let value = enumerator.node.expression.as_deref().cloned();
            (name, value.map(Arc::new))
        })
        .collect();
    let def = EnumDef {
        enumerators,
        packed: attributes.packed,
        underlying: attributes.underlying,
        mode: attributes
            .mode
            .as_deref()
            .and_then(|mode| int_mode(mode, &cx.model())),
    };
    cx.define_enum(tag, def)
}
