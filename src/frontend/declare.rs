//! From declaration syntax to types: specifiers ([`specifiers`]), attributes ([`attributes`]), records and enumerations
//! ([`records`]), and here declarators.
//!
//! In: lang-c's specifiers and declarators. Out: [`Type`]s. What differs between file scope (names and
//! numbers stay symbolic, see [`super::declared`]) and block scope (they are resolved on the spot) is
//! behind [`TypeContext`].

mod attributes;
mod records;
mod specifiers;

use std::sync::Arc;

use lang_c::ast::{self, DerivedDeclarator, Expression};
use lang_c::span::Node;

pub use self::attributes::Attributes;
use self::attributes::finish;
pub use self::specifiers::{Specified, qualifiers, specifiers};
use super::model::Model;
use super::scope::TagKind;
use super::types::{EnumDef, Kind, Lazy, Len, Name, Param, RecordDef, Signature, Type};
use super::{LossReason, Stage};

/// Result of lowering something.
pub type Lower<T> = Result<T, LossReason>;

/// A reason why something could not be lowered.
pub fn lost<T>(message: impl Into<String>) -> Lower<T> {
    Err(LossReason {
        stage: Stage::Lower,
        message: message.into(),
    })
}

/// How names and numbers inside a type are treated: symbolically at file scope, resolved in a block.
pub trait TypeContext {
    fn model(&self) -> Model;
    fn number(&mut self, expr: &Node<Expression>) -> Lower<Lazy>;
    fn length(&mut self, expr: &Node<Expression>) -> Lower<Len>;
    fn type_of(&mut self, expr: &Node<Expression>) -> Lower<Type>;
    /// A typedef name that is no built-in one.
    fn typedef(&mut self, name: &str) -> Lower<Type>;
    /// A tag without a member list.
    fn tag(&mut self, kind: TagKind, name: &str) -> Lower<Type>;
    /// Called before the members of a tagged record are read, so that they can point to it.
    fn begin_record(&mut self, kind: TagKind, tag: Option<&str>) -> Option<u32>;
    fn end_record(&mut self, begun: Option<u32>, kind: TagKind, def: RecordDef) -> Type;
    fn define_enum(&mut self, tag: Option<&str>, def: EnumDef) -> Lower<Type>;
    /// Entering and leaving a parameter list.
    fn prototype(&mut self, enter: bool);
}

/// A type name as in a cast or `sizeof`.
pub fn type_name<C: TypeContext>(cx: &mut C, name: &ast::TypeName) -> Lower<Type> {
    let specified = qualifiers(cx, &name.specifiers)?;
    match &name.declarator {
        Some(node) => {
            let mut attributes = specified.attributes;
            Ok(declared(cx, specified.ty, &node.node, &mut attributes)?.1)
        }
        None => Ok(specified.ty),
    }
}

/// Applies a declarator to the specifiers' type: the declared name and its type. The declarator's
/// attributes are added to `attributes`.
pub fn declared<C: TypeContext>(
    cx: &mut C,
    base: Type,
    declarator: &ast::Declarator,
    attributes: &mut Attributes,
) -> Lower<(Option<Name>, Type)> {
    attributes.add(cx, &declarator.extensions)?;
    let mut ty = base;
    let mut suffixes = Vec::new();
    for derived in &declarator.derived {
        match &derived.node {
            DerivedDeclarator::Pointer(list) => ty = pointer(cx, ty, list, attributes)?,
            DerivedDeclarator::Block(_) => return lost("block pointer"),
            _ => suffixes.push(&derived.node),
        }
    }
    for suffix in suffixes.into_iter().rev() {
        ty = match suffix {
            DerivedDeclarator::Array(array) => {
                let len = match &array.node.size {
                    ast::ArraySize::Unknown | ast::ArraySize::VariableUnknown => Len::Unknown,
                    ast::ArraySize::VariableExpression(expr)
                    | ast::ArraySize::StaticExpression(expr) => cx.length(expr)?,
                };
                Type::array(ty, len)
            }
            DerivedDeclarator::Function(function) => {
                Type::new(Kind::Function(Arc::new(signature(cx, ty, &function.node)?)))
            }
            DerivedDeclarator::KRFunction(names) => {
                Type::new(Kind::Function(Arc::new(Signature {
                    ret: ty,
                    params: Vec::new(),
                    variadic: names.is_empty(),
                    prototyped: false,
                    noreturn: false,
                })))
            }
            DerivedDeclarator::Pointer(_) | DerivedDeclarator::Block(_) => ty,
        };
    }
    match &declarator.kind.node {
        ast::DeclaratorKind::Abstract => Ok((None, finish(ty, attributes, &cx.model()))),
        ast::DeclaratorKind::Identifier(id) => Ok((
            Some(Name::from(id.node.name.as_str())),
            finish(ty, attributes, &cx.model()),
        )),
        ast::DeclaratorKind::Declarator(inner) => declared(cx, ty, &inner.node, attributes),
    }
}

fn pointer<C: TypeContext>(
    cx: &mut C,
    to: Type,
    list: &[Node<ast::PointerQualifier>],
    attributes: &mut Attributes,
) -> Lower<Type> {
    let mut ty = Type::pointer(to);
    for qualifier in list {
        match &qualifier.node {
            ast::PointerQualifier::TypeQualifier(q) => match q.node {
                ast::TypeQualifier::Const => ty.quals.constant = true,
                ast::TypeQualifier::Volatile => ty.quals.volatile = true,
                ast::TypeQualifier::Atomic => ty.quals.atomic = cx.model().atomic_sections,
                _ => {}
            },
            ast::PointerQualifier::Extension(list) => attributes.add(cx, list)?,
        }
    }
    Ok(ty)
}

fn signature<C: TypeContext>(
    cx: &mut C,
    ret: Type,
    function: &ast::FunctionDeclarator,
) -> Lower<Signature> {
    cx.prototype(true);
    let params = function
        .parameters
        .iter()
        .map(|node| parameter(cx, &node.node))
        .collect::<Lower<Vec<_>>>();
    cx.prototype(false);
    let mut params = params?;
    let prototyped = !params.is_empty();
    if let [only] = params.as_slice()
        && only.name.is_none()
        && matches!(only.ty.kind, Kind::Void)
    {
        params.clear();
    }
    Ok(Signature {
        ret,
        params,
        variadic: function.ellipsis == ast::Ellipsis::Some,
        prototyped,
        noreturn: false,
    })
}

/// A parameter with its adjusted type.
pub fn parameter<C: TypeContext>(cx: &mut C, node: &ast::ParameterDeclaration) -> Lower<Param> {
    let specified = specifiers(cx, &node.specifiers)?;
    let mut attributes = specified.attributes;
    attributes.add(cx, &node.extensions)?;
    let (name, ty) = match &node.declarator {
        Some(node) => declared(cx, specified.ty, &node.node, &mut attributes)?,
        None => (None, specified.ty),
    };
    Ok(Param {
        name,
        ty: ty.adjusted(),
    })
}
