//! The Saturn language (paper §2): what lowering produces and the executor runs.
//!
//! In: lowered C functions. Out: a typed, explicit control-flow graph per function, [`Body`], that
//! stands alone: it holds sizes and byte offsets instead of C types, and names instead of
//! declarations, so that one body serves every file that includes its header.
//!
//! Memory is byte-addressed. Every variable is an object with an address; scalars are read with
//! [`ExprKind::Load`] and written with [`StmtKind::Store`]. Expressions have no side effects: calls,
//! assignments and `++` inside a C expression become statements in evaluation order.

mod body;
#[allow(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    clippy::cast_precision_loss
)]
pub mod eval;
pub mod fold;
mod followed;
pub mod image;
mod liveness;
mod loop_variance;
mod null_tests;
mod objects;
mod operands;
pub mod print;
mod results;

use serde::{Deserialize, Serialize};

pub use image::{Image, Scalar};
pub use loop_variance::{Change, Counted};
pub use objects::ObjectUse;
pub use results::constant_results;

/// Width of a pointer's value in bits. Where the target keeps pointers in fewer ([`Body::pointer_size`]), the value is sign-extended:
/// so they compare, and errors look, as those of the target do.
pub const POINTER_BITS: u16 = 64;

/// Addresses below this are null or members of a record at null: no object lies there.
pub const FIRST_POINTER: u128 = 4096;

/// Declares a dense index into one of a body's tables.
macro_rules! index {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
        pub struct $name(pub u32);
        impl $name {
            pub fn index(self) -> usize {
                self.0 as usize
            }
        }
    };
}

index!(
    /// A parameter or local variable of a body.
    LocalId
);
index!(
    /// A global object or function that a body mentions.
    SymbolId
);
index!(
    /// A string literal of a body.
    StringId
);
index!(
    /// An expression in a body's arena; operands precede their users.
    ExprId
);
index!(
    /// A basic block; `BlockId(0)` is the entry.
    BlockId
);

/// The type of a scalar value: all that the executor needs to know of a C type.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Ty {
    /// An integer, enumeration or boolean of 1 to 128 bits. C's `_Bool` is 8 bits wide, unsigned.
    Int { bits: u16, signed: bool },
    /// Any pointer, 64 bits.
    Ptr,
    /// A floating-point value: an unknown bit pattern of this width.
    Float { bits: u16 },
}

impl Ty {
    pub const INT: Ty = Ty::Int {
        bits: 32,
        signed: true,
    };
    pub const SIZE: Ty = Ty::Int {
        bits: 64,
        signed: false,
    };
    pub const SSIZE: Ty = Ty::Int {
        bits: 64,
        signed: true,
    };

    /// Width in bits.
    pub fn bits(self) -> u16 {
        match self {
            Ty::Int { bits, .. } | Ty::Float { bits } => bits,
            Ty::Ptr => POINTER_BITS,
        }
    }

    /// Bytes in the memory of a target whose pointers have `pointer` there.
    pub fn size(self, pointer: u8) -> u64 {
        match self {
            Ty::Ptr => u64::from(pointer),
            _ => u64::from(self.bits()).div_ceil(8),
        }
    }

    /// Whether the value is interpreted as two's complement.
    pub fn signed(self) -> bool {
        matches!(self, Ty::Int { signed: true, .. })
    }
}

/// What a function returns.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum RetTy {
    Void,
    Scalar(Ty),
    /// A record, vector, complex or long double of this many bytes.
    Record {
        size: u64,
    },
}

/// A place in the source as the compiler's line markers name it.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize,
)]
pub struct Pos {
    /// Index into [`Body::files`].
    pub file: u16,
    /// 1-based; 0 when unknown.
    pub line: u32,
    /// 1-based column in the preprocessed line (equal to the source's where no macro precedes it on
    /// the line); 0 when unknown.
    pub column: u16,
}

/// The identity of a function or file-scope object across the program. A `static` one is told apart
/// by the file that defines it (as line markers name it, so a header's inline function is one
/// function however many units include it).
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct SymbolName {
    pub name: String,
    /// Defining file for internal linkage, `None` for external linkage.
    pub file: Option<String>,
}

impl std::fmt::Display for SymbolName {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match &self.file {
            Some(file) => write!(f, "{file}::{}", self.name),
            None => f.write_str(&self.name),
        }
    }
}

/// A member of records: their tag, or the typedef name of those without one, and the member's name.
pub type MemberName = (String, String);

/// What a function pointer lies in that calls go through.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub enum FunctionHolder {
    /// A member of records, of whichever record.
    Member(MemberName),
    /// A variable of static storage.
    Variable(SymbolName),
}

impl std::fmt::Display for FunctionHolder {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            FunctionHolder::Member((record, name)) => write!(f, "{record}.{name}"),
            FunctionHolder::Variable(symbol) => f.write_str(&symbol.name),
        }
    }
}

/// A function pointer that is stored where calls may find it: `.open = device_open`, `ops->open = device_open`, `handler = f`.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Method {
    pub holder: FunctionHolder,
    /// `None` where a variable is set to what is no function's name: a parameter, another variable.
    pub function: Option<SymbolName>,
}

/// The functions that calls through a holder may mean.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Methods {
    pub functions: Vec<SymbolName>,
    /// Others are stored there, too, of which nothing is known.
    pub open: bool,
}

/// An enumeration constant in the initialiser of an object of static storage: `{ .lock = { { 0, PTHREAD_MUTEX_RECURSIVE_NP } } }`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Enumerated {
    pub constant: String,
    pub object: SymbolName,
    /// The members that lead to where it is stored, outermost first.
    pub way: Vec<Step>,
}

/// A member on the way to a place in an object.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Step {
    /// Bytes from the beginning of the object to the record that the member is one of.
    pub at: u64,
    pub member: MemberName,
    /// Bytes from the beginning of the record.
    pub offset: u64,
}

/// A function that another one names.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Mention {
    pub name: SymbolName,
    /// Called directly.
    pub called: bool,
    /// Its address is taken, so that it may be called later, from anywhere.
    pub taken: bool,
}

/// A global object or function mentioned by a body.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Symbol {
    pub name: SymbolName,
    pub kind: SymbolKind,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum SymbolKind {
    Function {
        /// Declared `noreturn`: control does not come back from a call.
        noreturn: bool,
        /// The unit declares it, or the compiler does. Else it may be a macro of a header that is missing.
        declared: bool,
    },
    Object {
        /// Size in bytes, 0 when the type is incomplete.
        size: u64,
        /// `_Thread_local`/`__thread`.
        thread_local: bool,
    },
}

/// A parameter, local variable or temporary.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Local {
    /// Source name; empty for a temporary.
    pub name: String,
    /// Size in bytes; 0 for a variable-length array.
    pub size: u64,
    /// The scalar type if it is one.
    pub ty: Option<Ty>,
    /// For a pointer: the C type pointed to as written after resolving typedefs of pointers
    /// (`struct mutex`, `spinlock_t`, `void`); otherwise the type's own name. For display and for
    /// matching seed summaries to look-alikes.
    pub type_name: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum UnOp {
    Neg,
    /// Bitwise complement.
    Not,
}

/// Binary operators. Both operands have the same type (the usual arithmetic conversions are explicit
/// casts) except for shifts, whose right operand may be of any integer type.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum BinOp {
    Add,
    Sub,
    Mul,
    Div,
    Rem,
    And,
    Or,
    Xor,
    Shl,
    /// Arithmetic for signed left operands, logical otherwise.
    Shr,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum CmpOp {
    Eq,
    Ne,
    Lt,
    Le,
    Gt,
    Ge,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum ExprKind {
    /// Two's complement, truncated to the type's width. A null pointer is 0.
    Const(u128),
    /// An unconstrained value, a fresh one at each evaluation.
    Unknown,
    /// A value that depends on the arguments alone, in a way that is not modelled: the same for the same
    /// ones. `function` indexes [`Body::names`].
    Opaque {
        function: u32,
        args: Vec<ExprId>,
    },
    /// Address of a local.
    AddrLocal(LocalId),
    /// Address of a global object or function.
    AddrSymbol(SymbolId),
    /// Address of a string literal's first byte.
    AddrString(StringId),
    /// Reads a scalar of the expression's type at an address.
    Load {
        addr: ExprId,
        volatile: bool,
    },
    /// 1 as `int` if the value is a known constant where this is evaluated, else 0: `__builtin_constant_p` of a
    /// parameter, which depends on the call that is inlined.
    IsConstant {
        arg: ExprId,
    },
    Unary {
        op: UnOp,
        arg: ExprId,
    },
    Binary {
        op: BinOp,
        lhs: ExprId,
        rhs: ExprId,
    },
    /// 0 or 1 as `int`. Signedness is that of the operands' (equal) types; pointers are unsigned.
    Compare {
        op: CmpOp,
        lhs: ExprId,
        rhs: ExprId,
    },
    /// Converts between scalar types: truncation, sign or zero extension by the *operand's*
    /// signedness. Conversion to `_Bool` is lowered to a comparison with 0.
    Cast {
        arg: ExprId,
    },
    /// `&base->name` (or `&base.name`): the address `offset` bytes past `base`. `name` and `record` index
    /// [`Body::names`]; an unnamed (anonymous) record's member is reached in one step. `record` is what
    /// `base` is: `struct inode`, or the typedef name of a record without a tag, else empty. `size`: the member's bytes; 0 where
    /// that is not known, and of an array without a bound. `overlaps`: other members may have the same bytes, as in a union.
    Member {
        base: ExprId,
        offset: u64,
        name: u32,
        record: u32,
        size: u64,
        overlaps: bool,
    },
    /// `&base[index]`: `base + index * scale`, `index` a 64-bit integer.
    Index {
        base: ExprId,
        index: ExprId,
        scale: u64,
    },
    /// `cond ? then : els` where neither arm has an effect nor can fault.
    Select {
        cond: ExprId,
        then: ExprId,
        els: ExprId,
    },
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Expr {
    pub kind: ExprKind,
    /// The type of the value; addresses are [`Ty::Ptr`].
    pub ty: Ty,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Stmt {
    pub kind: StmtKind,
    pub pos: Pos,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum StmtKind {
    /// `*addr = value`, `value`'s type giving the width.
    Store {
        addr: ExprId,
        value: ExprId,
    },
    /// `memmove(dst, src, size)`: record assignment and `memcpy` of a constant size.
    Copy {
        dst: ExprId,
        src: ExprId,
        size: u64,
    },
    /// `memset(dst, 0, size)`.
    Zero {
        dst: ExprId,
        size: u64,
    },
    /// The bytes become unknown: outputs of `asm`, `memset` with another value.
    Havoc {
        dst: ExprId,
        size: u64,
    },
    /// Code that is not modelled (`asm`) may store the value anywhere; if it is the address of an operand in memory, the pointers that
    /// lie there.
    Expose {
        value: ExprId,
        in_memory: bool,
    },
    Call(Box<Call>),
    /// Only executions with `cond != 0` go on.
    Assume(ExprId),
    /// `cond != 0` must hold here (`assert` that a configuration compiles in).
    Assert(ExprId),
    /// The storage of a local begins, with no value: its declaration without an initialiser, which a loop may come to again.
    ScopeBegin(LocalId),
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Call {
    pub callee: Callee,
    pub args: Vec<Arg>,
    pub ret: RetTy,
    /// Where the result goes; `None` when it is not used. For records, a local of that size.
    pub dst: Option<LocalId>,
    /// The call as a person would write it, shortened: `spin_lock(&dev->lock)`.
    pub text: String,
}

/// Offsets of the members of which no declaration is known: behind all others, and within what one object may take up.
pub const GUESSED_MEMBERS: std::ops::Range<u64> = 1 << 30..(1 << 30) + (1 << 29);

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Arg {
    Scalar(ExprId),
    /// A record passed by value, copied from this address.
    Record {
        addr: ExprId,
        size: u64,
    },
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Callee {
    Direct(SymbolId),
    Indirect {
        function: ExprId,
        /// When the pointer is read from a record's member or a variable of static storage.
        holder: Option<FunctionHolder>,
    },
}

/// What each way out of a branch says of the condition that the source has there: where `x` holds `!x` does not, and
/// where `a` does not hold neither does `a && b`, which is open otherwise.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Says {
    pub then: Option<bool>,
    pub els: Option<bool>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum TermKind {
    Goto(BlockId),
    /// To `then` when `cond != 0`.
    Branch {
        cond: ExprId,
        then: BlockId,
        els: BlockId,
        says: Says,
    },
    Switch {
        value: ExprId,
        /// Inclusive ranges in the value's type, disjoint, with their targets.
        cases: Vec<(i128, i128, BlockId)>,
        default: BlockId,
    },
    /// Any of these: computed `goto`, `asm goto`.
    Nondet(Vec<BlockId>),
    Return(Option<Arg>),
    /// Control cannot get here or does not go on: after a `noreturn` call, `__builtin_unreachable`.
    Unreachable,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Terminator {
    pub kind: TermKind,
    pub pos: Pos,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Block {
    pub stmts: Vec<Stmt>,
    pub term: Terminator,
}

impl Block {
    /// The line of the first statement, or of the end of a block without any.
    pub fn first_line(&self) -> u32 {
        self.stmts
            .first()
            .map_or(self.term.pos, |stmt| stmt.pos)
            .line
    }

    /// Whether it calls a function.
    pub fn calls(&self) -> bool {
        let mut kinds = self.stmts.iter().map(|stmt| &stmt.kind);
        kinds.any(|kind| matches!(kind, StmtKind::Call(_)))
    }
}

/// One lowered function.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Body {
    pub name: SymbolName,
    /// Where the definition's name stands.
    pub pos: Pos,
    /// Line of the closing brace.
    pub end_line: u32,
    /// The first `params` locals are the parameters, in order.
    pub params: u32,
    pub variadic: bool,
    /// Among the arguments behind the parameters, or those of a list that it gets (`va_list`), it takes pointers to other things than text.
    pub takes_pointers: bool,
    pub ret: RetTy,
    /// Bytes of a pointer in memory, 4 or 8.
    pub pointer_size: u8,
    /// Its unit includes a header that only hosted programs have (C11 4p6): it is no part of an operating system's kernel.
    pub hosted: bool,
    pub locals: Vec<Local>,
    pub symbols: Vec<Symbol>,
    /// String literals, each with its terminating zero.
    pub strings: Vec<Vec<u8>>,
    pub names: Vec<String>,
    pub files: Vec<String>,
    pub exprs: Vec<Expr>,
    pub blocks: Vec<Block>,
    /// What the text has names for; for display.
    pub spellings: Spellings,
}

/// Names in a function's text for numbers that stand in its body: enumeration constants and offsets of members. Both are sorted.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Spellings {
    pub constants: Vec<(String, i128)>,
    pub offsets: Vec<MemberOffset>,
}

/// `offsetof(struct sock, lock)`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct MemberOffset {
    /// As [`ExprKind::Member`] has it.
    pub record: String,
    pub member: String,
    pub offset: u64,
}
