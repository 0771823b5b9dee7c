//! Word-level terms: a hash-consed, constant-folding bit-vector DAG (paper Figure 1, one level up
//! from bits).

use serde::{Deserialize, Serialize};

/// Operators over bit-vectors. Comparisons give width 1. Addition, subtraction, negation and
/// multiplication by a constant are not operators: they are canonical linear sums.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Op {
    /// Bitwise complement.
    Not,
    And,
    Or,
    Xor,
    /// Shifts by at least the width give 0 (`Ashr`: all sign bits).
    Shl,
    Lshr,
    Ashr,
    /// Product of two non-constants, modulo 2^width.
    Mul,
    /// Division by 0 gives all ones, remainder by 0 the dividend (SMT-LIB).
    Udiv,
    Urem,
    Sdiv,
    Srem,
    Eq,
    Ult,
    Ule,
    Slt,
    Sle,
    /// `args[0] ? args[1] : args[2]`, the condition of width 1.
    Ite,
    /// `args[0]` above `args[1]`.
    Concat,
    /// Bits `lo .. lo + width` of the argument.
    Extract {
        lo: u16,
    },
    Zext,
    Sext,
}
