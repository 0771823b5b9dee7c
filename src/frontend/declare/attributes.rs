//! Attributes that matter to meaning or layout.
//!
//! In: attribute syntax, those that [`normalise`](crate::frontend::normalise) writes among it. Out: [`Attributes`], and types
//! as they change them.

use std::sync::Arc;

use lang_c::ast::{self, Expression};
use lang_c::span::Node;

use super::{Lower, TypeContext, type_name};
use crate::frontend::model::Model;
use crate::frontend::types::{FloatKind, IntKind, Kind, Lazy, Name, Type};

/// The attributes that matter to meaning or layout.
#[derive(Clone, Debug, Default)]
pub struct Attributes {
    pub aligns: Vec<Lazy>,
    pub packed: bool,
    pub noreturn: bool,
    pub transparent_union: bool,
    pub gnu_inline: bool,
    /// The function of `cleanup(f)`.
    pub cleanup: Option<Name>,
    /// A flag that says whether something has happened before.
    pub once: bool,
    /// The limit of `#pragma pack(n)`.
    pub pack: Option<Lazy>,
    /// The value may be used in constant expressions.
    pub constexpr: bool,
    /// What C23 gives as the underlying type of an enumeration.
    pub(super) underlying: Option<Type>,
    pub(super) unqualified: bool,
    pub(super) mode: Option<String>,
    pub(super) vector_size: Option<Lazy>,
    /// Size and alignment of a type of which nothing else is known.
    pub(super) words: Option<(Lazy, Lazy)>,
}

impl Attributes {
    pub fn add<C: TypeContext>(
        &mut self,
        cx: &mut C,
        extensions: &[Node<ast::Extension>],
    ) -> Lower<()> {
        for extension in extensions {
            let ast::Extension::Attribute(attribute) = &extension.node else {
                continue;
            };
            let name = attribute.name.node.trim_matches('_');
            let first = attribute.arguments.first();
            let identifier = || match first.map(|e| &e.node) {
                Some(Expression::Identifier(name)) => Some(name.node.name.as_str()),
                _ => None,
            };
            match name {
                "aligned" => self.aligns.push(match first {
                    Some(expr) => cx.number(expr)?,
                    None => Lazy::Value(cx.model().strictest.into()),
                }),
                "packed" => self.packed = true,
                "cassini_pack" => {
                    if let Some(expr) = first {
                        self.pack = Some(cx.number(expr)?);
                    }
                }
                "cassini_once" => self.once = true,
                "cassini_constexpr" => self.constexpr = true,
                "cassini_unqualified" => self.unqualified = true,
                "cassini_underlying" => {
                    if let Some(Expression::SizeOfTy(of)) = first.map(|e| &e.node) {
                        self.underlying = Some(type_name(cx, &of.node.0.node)?);
                    }
                }
                "cassini_words" => {
                    if let [size, align] = attribute.arguments.as_slice() {
                        self.words = Some((cx.number(size)?, cx.number(align)?));
                    }
                }
                "noreturn" => self.noreturn = true,
                "transparent_union" => self.transparent_union = true,
                "gnu_inline" => self.gnu_inline = true,
                "cleanup" => self.cleanup = identifier().map(Name::from),
                "mode" => self.mode = identifier().map(|m| m.trim_matches('_').to_owned()),
                "vector_size" => {
                    if let Some(expr) = first {
                        self.vector_size = Some(cx.number(expr)?);
                    }
                }
                _ => {}
            }
        }
        Ok(())
    }

    /// `mode` and `vector_size` change the declared type itself.
    pub(super) fn apply(&self, mut ty: Type, model: &Model) -> Type {
        if let Some(mode) = &self.mode {
            ty = with_mode(ty, mode, model);
        }
        if let Some(size) = &self.vector_size {
            ty = Type::new(Kind::Vector(Arc::new(ty), size.clone()));
        }
        if let Some((size, align)) = &self.words {
            ty = Type::new(Kind::Vector(Arc::new(ty), size.clone()));
            ty.align = Some(Arc::new(align.clone()));
        }
        ty
    }
}

fn with_mode(ty: Type, mode: &str, model: &Model) -> Type {
    let signed = !matches!(&ty.kind, Kind::Int(kind) if !kind.signed());
    if let Some(int) = int_mode(mode, model) {
        return Type::int(if signed { int } else { int.unsigned() }).with_quals(ty.quals);
    }
    let float = match mode {
        "HF" => FloatKind::Half,
        "SF" => FloatKind::Float,
        "DF" => FloatKind::Double,
        "XF" => FloatKind::LongDouble,
        "TF" => FloatKind::Quad,
        _ => return ty,
    };
    Type::new(Kind::Float(float))
}

/// The signed integer of a machine mode.
pub(super) fn int_mode(mode: &str, model: &Model) -> Option<IntKind> {
    Some(match mode {
        "QI" | "byte" => IntKind::SChar,
        "HI" => IntKind::Short,
        "SI" => IntKind::Int,
        "DI" => model.double_word(),
        "word" | "unwind_word" if model.wide_words => model.double_word(),
        "word" | "unwind_word" => IntKind::Int,
        "pointer" if model.pointer == 8 => model.double_word(),
        "pointer" => IntKind::Int,
        "TI" => IntKind::Int128,
        _ => return None,
    })
}

/// The type as the attributes of its declarator change it, which count once.
pub(super) fn finish(ty: Type, attributes: &mut Attributes, model: &Model) -> Type {
    let mut ty = attributes.apply(ty, model);
    if attributes.noreturn {
        mark_noreturn(&mut ty);
    }
    attributes.mode = None;
    attributes.vector_size = None;
    attributes.words = None;
    ty
}

/// Marks the function that something is or points to as one that never returns.
fn mark_noreturn(ty: &mut Type) {
    match &mut ty.kind {
        Kind::Function(signature) => Arc::make_mut(signature).noreturn = true,
        Kind::Pointer(to) | Kind::Array(to, _) => mark_noreturn(Arc::make_mut(to)),
        _ => {}
    }
}
