//! C types as they are written; names are looked through only when somebody asks.
//!
//! In: nothing (built by [`super::declare`] from syntax). Out: [`Type`], in which typedef names and
//! tags stay names. A pointer to `struct foo` therefore needs no look-up of `foo`, and a function
//! depends on just those declarations whose meaning it uses (DESIGN §3, step 6).

use std::cmp::Ordering;
use std::fmt;
use std::sync::Arc;

use lang_c::ast::Expression;
use lang_c::span::Node;

use super::model::Model;
use super::scope::TagKind;
use crate::ir::Ty;

/// A shared identifier.
pub type Name = Arc<str>;

/// The integer types. A `long` has 64 bits, or 32 where the target's is narrow ([`super::model`]).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum IntKind {
    Bool,
    Char,
    SChar,
    UChar,
    Short,
    UShort,
    Int,
    UInt,
    NarrowLong,
    NarrowULong,
    Long,
    ULong,
    LongLong,
    ULongLong,
    Int128,
    UInt128,
    /// The value of a bit-field wider than `int`: gcc computes in the field's own width.
    Field {
        width: u8,
        signed: bool,
    },
}

impl IntKind {
    /// Width in bits, for all but bit-fields that of the object representation.
    pub fn bits(self) -> u16 {
        use IntKind::*;
        match self {
            Field { width, .. } => u16::from(width),
            Bool | Char | SChar | UChar => 8,
            Short | UShort => 16,
            Int | UInt | NarrowLong | NarrowULong => 32,
            Long | ULong | LongLong | ULongLong => 64,
            Int128 | UInt128 => 128,
        }
    }

    pub fn signed(self) -> bool {
        use IntKind::*;
        match self {
            Field { signed, .. } => signed,
            _ => matches!(
                self,
                Char | SChar | Short | Int | NarrowLong | Long | LongLong | Int128
            ),
        }
    }

    /// Conversion rank (C11 6.3.1.1).
    fn rank(self) -> u8 {
        use IntKind::*;
        match self {
            Bool => 0,
            Char | SChar | UChar => 1,
            Short | UShort => 2,
            Int | UInt => 3,
            Field { .. } => 4,
            NarrowLong | NarrowULong | Long | ULong => 5,
            LongLong | ULongLong => 6,
            Int128 | UInt128 => 7,
        }
    }

    pub fn unsigned(self) -> IntKind {
        use IntKind::*;
        match self {
            Char | SChar => UChar,
            Short => UShort,
            Int => UInt,
            NarrowLong => NarrowULong,
            Long => ULong,
            LongLong => ULongLong,
            Int128 => UInt128,
            Field { width, .. } => Field {
                width,
                signed: false,
            },
            other => other,
        }
    }

    /// The type a bit-field's value has outside of arithmetic.
    pub fn declared(self) -> IntKind {
        match self {
            IntKind::Field { signed: true, .. } => IntKind::Long,
            IntKind::Field { signed: false, .. } => IntKind::ULong,
            other => other,
        }
    }

    pub fn ty(self) -> Ty {
        Ty::Int {
            bits: self.bits(),
            signed: self.signed(),
        }
    }

    /// Integer promotion.
    pub fn promoted(self) -> IntKind {
        if self.rank() < IntKind::Int.rank() {
            IntKind::Int
        } else {
            self
        }
    }

    /// The common type of two promoted operands (usual arithmetic conversions).
    pub fn common(self, other: IntKind) -> IntKind {
        let (a, b) = (self.promoted(), other.promoted());
        if a == b {
            return a;
        }
        if matches!(a, IntKind::Field { .. }) || matches!(b, IntKind::Field { .. }) {
            return match a.bits().cmp(&b.bits()) {
                Ordering::Greater => a,
                Ordering::Less => b,
                Ordering::Equal => a.unsigned(),
            };
        }
        if a.signed() == b.signed() {
            return if a.rank() >= b.rank() { a } else { b };
        }
        let (unsigned, signed) = if a.signed() { (b, a) } else { (a, b) };
        if unsigned.rank() >= signed.rank() {
            unsigned
        } else if signed.bits() > unsigned.bits() {
            signed
        } else {
            signed.unsigned()
        }
    }

    /// Whether a mathematical value is representable.
    pub fn holds(self, value: i128) -> bool {
        let bits = u32::from(self.bits());
        if self == IntKind::Bool {
            return value == 0 || value == 1;
        }
        if bits == 128 {
            return self.signed() || value >= 0;
        }
        if self.signed() {
            let limit = 1i128 << (bits - 1);
            (-limit..limit).contains(&value)
        } else {
            (0..1i128 << bits).contains(&value)
        }
    }

    fn spelling(self) -> &'static str {
        use IntKind::*;
        match self {
            Bool => "_Bool",
            Char => "char",
            SChar => "signed char",
            UChar => "unsigned char",
            Short => "short",
            UShort => "unsigned short",
            Int => "int",
            UInt => "unsigned int",
            NarrowLong | Long => "long",
            NarrowULong | ULong => "unsigned long",
            LongLong => "long long",
            ULongLong => "unsigned long long",
            Int128 => "__int128",
            UInt128 => "unsigned __int128",
            Field { signed: true, .. } => "long",
            Field { signed: false, .. } => "unsigned long",
        }
    }
}

/// Floating types.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum FloatKind {
    Half,
    Float,
    Double,
    /// As wide as the target makes it.
    LongDouble,
    Quad,
}

impl FloatKind {
    /// Size in bytes.
    pub fn size(self, model: &Model) -> u8 {
        match self {
            FloatKind::Half => 2,
            FloatKind::Float => 4,
            FloatKind::Double => 8,
            FloatKind::LongDouble => model.long_double,
            FloatKind::Quad => 16,
        }
    }

    /// How a value is kept.
    pub fn ty(self, model: &Model) -> Ty {
        let bits = u16::from(self.size(model)) * 8;
        Ty::Float { bits }
    }

    fn spelling(self) -> &'static str {
        match self {
            FloatKind::Half => "_Float16",
            FloatKind::Float => "float",
            FloatKind::Double => "double",
            FloatKind::LongDouble => "long double",
            FloatKind::Quad => "_Float128",
        }
    }
}

/// The qualifiers that matter: `const` for `_Generic`, `volatile` for reads, `_Atomic` for `op=` where the model
/// asks for atomic sections.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Quals {
    pub constant: bool,
    pub volatile: bool,
    pub atomic: bool,
}

impl Quals {
    pub const NONE: Quals = Quals {
        constant: false,
        volatile: false,
        atomic: false,
    };

    pub fn union(self, other: Quals) -> Quals {
        Quals {
            constant: self.constant || other.constant,
            volatile: self.volatile || other.volatile,
            atomic: self.atomic || other.atomic,
        }
    }
}

/// A number that a file-scope type mentions, evaluated when the type's layout is asked for. Types of
/// a block are evaluated where they stand.
#[derive(Clone, Debug)]
pub enum Lazy {
    Value(u64),
    Expr(Arc<Node<Expression>>),
    /// `_Alignas(type)`
    AlignOf(Box<Type>),
}

/// An array's length.
#[derive(Clone, Debug)]
pub enum Len {
    Known(u64),
    /// `[]`, a flexible member, or `[*]`.
    Unknown,
    Lazy(Arc<Node<Expression>>),
    /// A variable-length array; the local (a `size_t`) holds its number of elements.
    Variable(crate::ir::LocalId),
}

/// A C type: what it is, its qualifiers and an alignment given to a typedef.
#[derive(Clone, Debug)]
pub struct Type {
    pub kind: Kind,
    pub quals: Quals,
    pub align: Option<Arc<Lazy>>,
}

#[derive(Clone, Debug)]
pub enum Kind {
    Void,
    Int(IntKind),
    Float(FloatKind),
    /// Element type: `float`, `double`, `long double` or (GNU) an integer.
    Complex(Arc<Type>),
    /// Element type and size of the whole in bytes.
    Vector(Arc<Type>, Lazy),
    Pointer(Arc<Type>),
    Array(Arc<Type>, Len),
    Function(Arc<Signature>),
    /// A file-scope typedef name.
    Typedef(Name),
    /// A file-scope tag.
    Tag(TagKind, Name),
    /// A file-scope record without a tag.
    Record(Arc<RecordDef>),
    /// A file-scope enumeration without a tag.
    Enum(Arc<EnumDef>),
    /// A record of the function at hand, an index into its table.
    LocalRecord(u32),
    /// `typeof` at file scope.
    TypeOf(Arc<Node<Expression>>),
    /// `__auto_type`: that of the initialiser.
    Auto,
}

/// A function's type.
#[derive(Clone, Debug)]
pub struct Signature {
    pub ret: Type,
    pub params: Vec<Param>,
    pub variadic: bool,
    /// False for `f()` and K&R declarations: arguments are only promoted.
    pub prototyped: bool,
    /// Control never comes back: `void (*fail)(const char *) __attribute__((noreturn))`.
    pub noreturn: bool,
}

#[derive(Clone, Debug)]
pub struct Param {
    pub name: Option<Name>,
    pub ty: Type,
}

/// A structure or union with its members.
#[derive(Clone, Debug)]
pub struct RecordDef {
    pub union: bool,
    pub tag: Option<Name>,
    pub fields: Vec<Field>,
    pub packed: bool,
    pub aligns: Vec<Lazy>,
    /// The limit that `#pragma pack(n)` sets.
    pub pack: Option<Lazy>,
    /// `transparent_union`
    pub transparent: bool,
}

#[derive(Clone, Debug)]
pub struct Field {
    /// `None` for an unnamed bit-field or an anonymous record.
    pub name: Option<Name>,
    pub ty: Type,
    pub width: Option<Lazy>,
    pub packed: bool,
    pub aligns: Vec<Lazy>,
}

/// An enumeration with its enumerators.
#[derive(Clone, Debug)]
pub struct EnumDef {
    pub enumerators: Vec<(Name, Option<Arc<Node<Expression>>>)>,
    pub packed: bool,
    /// C23: `enum e : T`
    pub underlying: Option<Type>,
    /// The signed integer of `mode(m)`.
    pub mode: Option<IntKind>,
}

impl Type {
    pub fn new(kind: Kind) -> Type {
        Type {
            kind,
            quals: Quals::NONE,
            align: None,
        }
    }

    pub fn int(kind: IntKind) -> Type {
        Type::new(Kind::Int(kind))
    }

    /// What a name that nothing declares is taken for: a number in which a pointer finds room.
    pub fn guessed() -> Type {
        Type::int(IntKind::Long)
    }

    pub fn void() -> Type {
        Type::new(Kind::Void)
    }

    pub fn pointer(to: Type) -> Type {
        Type::new(Kind::Pointer(Arc::new(to)))
    }

    pub fn array(of: Type, len: Len) -> Type {
        Type::new(Kind::Array(Arc::new(of), len))
    }

    pub fn with_quals(mut self, quals: Quals) -> Type {
        self.quals = self.quals.union(quals);
        self
    }

    /// The qualifiers of an object, or of an array's elements.
    pub fn element_quals(&self) -> Quals {
        match &self.kind {
            Kind::Array(of, _) => self.quals.union(of.element_quals()),
            _ => self.quals,
        }
    }

    pub fn unqualified(mut self) -> Type {
        self.quals = Quals::NONE;
        self
    }

    /// The type of a parameter declared so: arrays and functions become pointers.
    pub fn adjusted(self) -> Type {
        match self.kind {
            Kind::Array(element, _) => {
                let element = Arc::unwrap_or_clone(element).with_quals(self.quals);
                Type::pointer(element)
            }
            Kind::Function(_) => Type::pointer(self),
            _ => self,
        }
    }

    /// The type's name as `Local::type_name` and messages show it.
    pub fn spelling(&self) -> String {
        self.to_string()
    }
}

impl fmt::Display for Type {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.kind {
            Kind::Void => f.write_str("void"),
            Kind::Int(kind) => f.write_str(kind.spelling()),
            Kind::Float(kind) => f.write_str(kind.spelling()),
            Kind::Complex(element) => write!(f, "{element} _Complex"),
            Kind::Vector(element, _) => write!(f, "{element} vector"),
            Kind::Pointer(to) => match &to.kind {
                Kind::Pointer(_) => write!(f, "{to}*"),
                Kind::Function(_) => write!(f, "{to}"),
                _ => write!(f, "{to} *"),
            },
            Kind::Array(..) => {
                let mut element = self;
                let mut lengths = String::new();
                while let Kind::Array(of, len) = &element.kind {
                    match len {
                        Len::Known(len) => lengths.push_str(&format!("[{len}]")),
                        _ => lengths.push_str("[]"),
                    }
                    element = of;
                }
                write!(f, "{element}{lengths}")
            }
            Kind::Function(signature) => {
                write!(f, "{} (", signature.ret)?;
                for (i, param) in signature.params.iter().enumerate() {
                    let separator = if i == 0 { "" } else { ", " };
                    write!(f, "{separator}{}", param.ty)?;
                }
                if signature.variadic {
                    f.write_str(", ...")?;
                }
                f.write_str(")")
            }
            Kind::Typedef(name) => f.write_str(name),
            Kind::Tag(TagKind::Struct, tag) => write!(f, "struct {tag}"),
            Kind::Tag(TagKind::Union, tag) => write!(f, "union {tag}"),
            Kind::Tag(TagKind::Enum, tag) => write!(f, "enum {tag}"),
            Kind::Record(def) => {
                let keyword = if def.union { "union" } else { "struct" };
                match &def.tag {
                    Some(tag) => write!(f, "{keyword} {tag}"),
                    None => write!(f, "{keyword} {{...}}"),
                }
            }
            Kind::Enum(_) => f.write_str("enum {...}"),
            Kind::LocalRecord(_) => f.write_str("struct {...}"),
            Kind::TypeOf(_) => f.write_str("typeof(...)"),
            Kind::Auto => f.write_str("__auto_type"),
        }
    }
}
