//! Specifiers: the words before the declarators.
//!
//! In: the specifiers of a declaration, a member or a type name. Out: [`Specified`], the type and storage class that they give.

use std::sync::Arc;

use lang_c::ast::{self, DeclarationSpecifier, TypeSpecifier};
use lang_c::span::Node;

use super::records::{enum_type, record_type};
use super::{Attributes, Lower, TypeContext, type_name};
use crate::frontend::model::{Model, VaList};
use crate::frontend::types::{
    Field, FloatKind, IntKind, Kind, Lazy, Len, Name, Quals, RecordDef, Type,
};

/// What a list of specifiers says.
#[derive(Debug)]
pub struct Specified {
    pub ty: Type,
    pub typedef: bool,
    pub external: bool,
    pub internal: bool,
    pub thread_local: bool,
    pub inline: bool,
    pub attributes: Attributes,
}

/// A specifier of a declaration, a member or a type name.
#[derive(Clone, Copy)]
enum Spec<'a> {
    Storage(&'a ast::StorageClassSpecifier),
    Type(&'a TypeSpecifier),
    Qualifier(&'a ast::TypeQualifier),
    Function(&'a ast::FunctionSpecifier),
    Alignment(&'a ast::AlignmentSpecifier),
    Extensions(&'a [Node<ast::Extension>]),
}

/// The type and storage class of a declaration's specifiers.
pub fn specifiers<C: TypeContext>(
    cx: &mut C,
    list: &[Node<DeclarationSpecifier>],
) -> Lower<Specified> {
    let list: Vec<Spec> = list
        .iter()
        .map(|node| match &node.node {
            DeclarationSpecifier::StorageClass(s) => Spec::Storage(&s.node),
            DeclarationSpecifier::TypeSpecifier(s) => Spec::Type(&s.node),
            DeclarationSpecifier::TypeQualifier(s) => Spec::Qualifier(&s.node),
            DeclarationSpecifier::Function(s) => Spec::Function(&s.node),
            DeclarationSpecifier::Alignment(s) => Spec::Alignment(&s.node),
            DeclarationSpecifier::Extension(s) => Spec::Extensions(s),
        })
        .collect();
    specified(cx, &list)
}

/// The type of a member's or type name's specifiers.
pub fn qualifiers<C: TypeContext>(
    cx: &mut C,
    list: &[Node<ast::SpecifierQualifier>],
) -> Lower<Specified> {
    let list: Vec<Spec> = list
        .iter()
        .map(|node| match &node.node {
            ast::SpecifierQualifier::TypeSpecifier(s) => Spec::Type(&s.node),
            ast::SpecifierQualifier::TypeQualifier(s) => Spec::Qualifier(&s.node),
            ast::SpecifierQualifier::Extension(s) => Spec::Extensions(s),
        })
        .collect();
    specified(cx, &list)
}

/// Counts of the arithmetic type words.
#[derive(Default)]
struct Words {
    char: bool,
    short: bool,
    int: bool,
    long: u8,
    float: bool,
    double: bool,
    signed: bool,
    unsigned: bool,
    bool: bool,
    complex: bool,
    any: bool,
}

impl Words {
    fn base(&self, model: &Model) -> Type {
        use IntKind::*;
        let real = if self.float {
            Kind::Float(FloatKind::Float)
        } else if self.double && self.long > 0 {
            Kind::Float(FloatKind::LongDouble)
        } else if self.double || (self.complex && !(self.char || self.short || self.int)) {
            Kind::Float(FloatKind::Double)
        } else {
            let signed = if self.bool {
                Bool
            } else if self.char {
                if self.signed { SChar } else { Char }
            } else if self.short {
                Short
            } else {
                match self.long {
                    0 => Int,
                    1 => model.long(),
                    _ => LongLong,
                }
            };
            Kind::Int(if self.unsigned {
                signed.unsigned()
            } else {
                signed
            })
        };
        let real = Type::new(real);
        if self.complex {
            Type::new(Kind::Complex(Arc::new(real)))
        } else {
            real
        }
    }
}

fn specified<C: TypeContext>(cx: &mut C, list: &[Spec]) -> Lower<Specified> {
    let mut words = Words::default();
    let mut other: Option<Type> = None;
    let mut quals = Quals::NONE;
    let mut out = Specified {
        ty: Type::void(),
        typedef: false,
        external: false,
        internal: false,
        thread_local: false,
        inline: false,
        attributes: Attributes::default(),
    };
    let mut skip = 0;
    for (i, spec) in list.iter().enumerate() {
        if skip > 0 {
            skip -= 1;
            continue;
        }
        match spec {
            Spec::Storage(class) => match class {
                ast::StorageClassSpecifier::Typedef => out.typedef = true,
                ast::StorageClassSpecifier::Extern => out.external = true,
                ast::StorageClassSpecifier::Static => out.internal = true,
                ast::StorageClassSpecifier::ThreadLocal => out.thread_local = true,
                ast::StorageClassSpecifier::Auto | ast::StorageClassSpecifier::Register => {}
            },
            Spec::Qualifier(qualifier) => match qualifier {
                ast::TypeQualifier::Const => quals.constant = true,
                ast::TypeQualifier::Volatile => quals.volatile = true,
                ast::TypeQualifier::Atomic => quals.atomic = cx.model().atomic_sections,
                _ => {}
            },
            Spec::Function(ast::FunctionSpecifier::Inline) => out.inline = true,
            Spec::Function(ast::FunctionSpecifier::Noreturn) => out.attributes.noreturn = true,
            Spec::Alignment(alignment) => {
                let align = match alignment {
                    ast::AlignmentSpecifier::Type(name) => {
                        Lazy::AlignOf(Box::new(type_name(cx, &name.node)?))
                    }
                    ast::AlignmentSpecifier::Constant(expr) => cx.number(expr)?,
                };
                out.attributes.aligns.push(align);
            }
            Spec::Extensions(list) => out.attributes.add(cx, list)?,
            Spec::Type(specifier) => {
                // Attributes right behind a member list are the record's.
                let after: Vec<_> = list
                    .iter()
                    .skip(i + 1)
                    .map_while(|spec| match spec {
                        Spec::Extensions(extensions) if defines(specifier) => Some(*extensions),
                        _ => None,
                    })
                    .collect();
                skip = after.len();
                type_specifier(cx, specifier, &after, &mut words, &mut other)?;
            }
        }
    }
    let base = match other {
        Some(ty) => unsigned_int128(ty, &words),
        None => words.base(&cx.model()),
    };
    let base = if let Kind::Auto = base.kind {
        base
    } else {
        out.attributes.apply(base, &cx.model())
    };
    out.attributes.mode = None;
    out.attributes.vector_size = None;
    out.attributes.words = None;
    let base = match std::mem::take(&mut out.attributes.unqualified) {
        true => base.unqualified(),
        false => base,
    };
    out.ty = base.with_quals(quals);
    Ok(out)
}

fn unsigned_int128(ty: Type, words: &Words) -> Type {
    match ty.kind {
        Kind::Int(IntKind::Int128) if words.unsigned => Type::int(IntKind::UInt128),
        _ => ty,
    }
}

fn defines(specifier: &TypeSpecifier) -> bool {
    match specifier {
        TypeSpecifier::Struct(s) => s.node.declarations.is_some(),
        TypeSpecifier::Enum(e) => !e.node.enumerators.is_empty(),
        _ => false,
    }
}

fn type_specifier<C: TypeContext>(
    cx: &mut C,
    specifier: &TypeSpecifier,
    after: &[&[Node<ast::Extension>]],
    words: &mut Words,
    other: &mut Option<Type>,
) -> Lower<()> {
    words.any = true;
    match specifier {
        TypeSpecifier::Void => *other = Some(Type::void()),
        TypeSpecifier::Char => words.char = true,
        TypeSpecifier::Short => words.short = true,
        TypeSpecifier::Int => words.int = true,
        TypeSpecifier::Long => words.long += 1,
        TypeSpecifier::Float => words.float = true,
        TypeSpecifier::Double => words.double = true,
        TypeSpecifier::Signed => words.signed = true,
        TypeSpecifier::Unsigned => words.unsigned = true,
        TypeSpecifier::Bool => words.bool = true,
        TypeSpecifier::Complex => words.complex = true,
        TypeSpecifier::Atomic(name) => {
            let mut ty = type_name(cx, &name.node)?;
            ty.quals.atomic = cx.model().atomic_sections;
            *other = Some(ty);
        }
        TypeSpecifier::Struct(record) => *other = Some(record_type(cx, &record.node, after)?),
        TypeSpecifier::Enum(node) => *other = Some(enum_type(cx, &node.node, after)?),
        TypeSpecifier::TypedefName(name) => *other = Some(named(cx, &name.node.name)?),
        TypeSpecifier::TypeOf(of) => {
            *other = Some(match &of.node {
                ast::TypeOf::Expression(expr) => cx.type_of(expr)?,
                ast::TypeOf::Type(name) => type_name(cx, &name.node)?,
            });
        }
        TypeSpecifier::TS18661Float(float) => {
            let extended = float.format == ast::TS18661FloatFormat::BinaryExtended;
            let kind = match (extended, float.width) {
                (_, 16) => FloatKind::Half,
                (false, 32) => FloatKind::Float,
                (true, 32) | (false, 64) => FloatKind::Double,
                (true, 64) => FloatKind::LongDouble,
                _ => FloatKind::Quad,
            };
            *other = Some(Type::new(Kind::Float(kind)));
        }
    }
    Ok(())
}

/// A typedef name, built in or not.
fn named<C: TypeContext>(cx: &mut C, name: &str) -> Lower<Type> {
    Ok(match name {
        "__cassini_int128" => Type::int(IntKind::Int128),
        "__cassini_uint128" => Type::int(IntKind::UInt128),
        "__cassini_auto" => Type::new(Kind::Auto),
        "__builtin_va_list" => va_list(&cx.model()),
        "__cassini_float16" => Type::new(Kind::Float(FloatKind::Half)),
        "__cassini_float128" | "__float128" => Type::new(Kind::Float(FloatKind::Quad)),
        "__float80" => Type::new(Kind::Float(FloatKind::LongDouble)),
        _ => cx.typedef(name)?,
    })
}

/// `__builtin_va_list`: for x86-64 an array of one record with two counts and two pointers. What other targets keep in
/// theirs is no business of a program, so that the size is all that counts.
fn va_list(model: &Model) -> Type {
    let (list, pointer) = (model.va_list, model.pointer);
    let size = match list {
        VaList::Pointer => return Type::pointer(Type::void()),
        VaList::Record(size) | VaList::Array(size) => size,
    };
    let field = |name: &str, ty: Type| Field {
        name: Some(Name::from(name)),
        ty,
        width: None,
        packed: false,
        aligns: Vec::new(),
    };
    let array = matches!(list, VaList::Array(_));
    let fields = match array {
        true => vec![
            field("gp_offset", Type::int(IntKind::UInt)),
            field("fp_offset", Type::int(IntKind::UInt)),
            field("overflow_arg_area", Type::pointer(Type::void())),
            field("reg_save_area", Type::pointer(Type::void())),
        ],
        false => {
            let words = Len::Known(u64::from(size) / u64::from(pointer));
            vec![field(
                "__words",
                Type::array(Type::pointer(Type::void()), words),
            )]
        }
    };
    let def = RecordDef {
        union: false,
        tag: Some(Name::from("__va_list_tag")),
        fields,
        packed: false,
        aligns: Vec::new(),
        pack: None,
        transparent: false,
    };
    let record = Type::new(Kind::Record(Arc::new(def)));
    if array {
        Type::array(record, Len::Known(1))
    } else {
        record
    }
}
