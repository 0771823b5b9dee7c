//! From declaration syntax to types: specifiers, declarators, records, enumerations, attributes.
//!
//! In: lang-c's specifiers and declarators. Out: [`Type`]s. What differs between file scope (names and
//! numbers stay symbolic, see [`super::declared`]) and block scope (they are resolved on the spot) is
//! behind [`TypeContext`].

use std::sync::Arc;

use lang_c::ast::{self, DeclarationSpecifier, DerivedDeclarator, Expression, TypeSpecifier};
use lang_c::span::Node;

use super::model::{Model, VaList};
use super::scope::TagKind;
use super::types::{
    EnumDef, Field, FloatKind, IntKind, Kind, Lazy, Len, Name, Param, Quals, RecordDef, Signature,
    Type,
};
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
    underlying: Option<Type>,
    unqualified: bool,
    mode: Option<String>,
    vector_size: Option<Lazy>,
    /// Size and alignment of a type of which nothing else is known.
    words: Option<(Lazy, Lazy)>,
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
    fn apply(&self, mut ty: Type, model: &Model) -> Type {
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
fn int_mode(mode: &str, model: &Model) -> Option<IntKind> {
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
        TypeSpecifier::Atomic(name) => *other = Some(type_name(cx, &name.node)?),
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

fn record_type<C: TypeContext>(
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

fn enum_type<C: TypeContext>(
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

fn finish(ty: Type, attributes: &mut Attributes, model: &Model) -> Type {
    let ty = attributes.apply(ty, model);
    attributes.mode = None;
    attributes.vector_size = None;
    attributes.words = None;
    ty
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
