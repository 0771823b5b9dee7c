//! The atomic operations of the kernel, whose bodies are `asm` (Linux, `Documentation/atomic_t.txt`).
//!
//! In: a call by its name (`arch_atomic_fetch_add_release`, `arch_atomic64_dec_and_test`). Out: the result, with the counter changed in one
//! step. Only open programs have them; what is not of these names is executed as it is written.

use super::machine::{Datum, Machine, Run};
use super::state::State;
use super::threads::Done;
use super::values::Value;
use crate::ir::{BinOp, CmpOp, Ty};
use crate::symbolic::term::{Node, Op};

const FAMILIES: [&str; 4] = [
    "arch_atomic_",
    "arch_atomic64_",
    "raw_atomic_",
    "raw_atomic64_",
];
/// The kernel's functions that change a count of references, with the number of the argument that points to it.
const COUNTING: [(&str, usize); 7] = [
    ("__refcount_add", 1),
    ("__refcount_dec", 0),
    ("__refcount_sub_and_test", 1),
    ("refcount_add", 1),
    ("refcount_inc", 0),
    ("refcount_dec", 0),
    ("refcount_sub_and_test", 1),
];
/// Bytes of a count.
const COUNT: u64 = 4;
const ORDERS: [&str; 3] = ["_acquire", "_release", "_relaxed"];

/// What an operation returns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Returned {
    Nothing,
    Old,
    New,
    /// Whether the counter is 0 now, or less than that.
    Zero,
    Negative,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Operation {
    /// By the first argument; the counter is the second.
    By(BinOp, Returned),
    /// By one; the counter is the only argument.
    One(BinOp, Returned),
    /// The second argument is stored.
    Exchange,
    /// The third is, if the counter is the second.
    CompareExchange,
}

/// The operation of a name, and the bits of its counter.
fn operation(name: &str) -> Option<(Operation, u16)> {
    let mut families = FAMILIES.iter();
    let (family, rest) = families.find_map(|family| Some((family, name.strip_prefix(family)?)))?;
    let bits = if family.contains("64") { 64 } else { 32 };
    let mut orders = ORDERS.iter();
    let rest = orders
        .find_map(|order| rest.strip_suffix(order))
        .unwrap_or(rest);
    let operation = match rest {
        "xchg" => Operation::Exchange,
        "cmpxchg" => Operation::CompareExchange,
        "add_negative" => Operation::By(BinOp::Add, Returned::Negative),
        _ => arithmetic(rest)?,
    };
    Some((operation, bits))
}

/// `fetch_add`, `sub_return`, `dec_and_test`, `or`.
fn arithmetic(name: &str) -> Option<Operation> {
    let (name, result) = if let Some(name) = name.strip_prefix("fetch_") {
        (name, Returned::Old)
    } else if let Some(name) = name.strip_suffix("_return") {
        (name, Returned::New)
    } else if let Some(name) = name.strip_suffix("_and_test") {
        (name, Returned::Zero)
    } else {
        (name, Returned::Nothing)
    };
    Some(match name {
        "inc" => Operation::One(BinOp::Add, result),
        "dec" => Operation::One(BinOp::Sub, result),
        "add" => Operation::By(BinOp::Add, result),
        "sub" => Operation::By(BinOp::Sub, result),
        "and" => Operation::By(BinOp::And, result),
        "or" => Operation::By(BinOp::Or, result),
        "xor" => Operation::By(BinOp::Xor, result),
        _ => return None,
    })
}

/// Whether a function is such an operation.
pub fn is_atomic(name: &str) -> bool {
    operation(name).is_some()
}

impl Machine<'_> {
    /// A call of an atomic operation; `None` if the name is none.
    pub fn atomic(
        &mut self,
        state: &mut State,
        thread: usize,
        name: &str,
        arguments: &[Datum],
    ) -> Run<Option<Done>> {
        let Some((operation, bits)) = operation(name) else {
            return Ok(None);
        };
        let ty = Ty::Int { bits, signed: true };
        let counter = usize::from(matches!(operation, Operation::By(..)));
        let addr = self.number(state, arguments, counter)?;
        let argument = |at: usize| match arguments.get(at) {
            Some(Datum::Scalar(value, _)) => *value,
            _ => Value::Bits(0),
        };
        let old = self.load(state, thread, addr, ty)?;
        let (new, result) = match operation {
            Operation::By(op, result) => (self.values.binary(op, ty, old, ty, argument(0)), result),
            Operation::One(op, result) => {
                (self.values.binary(op, ty, old, ty, Value::Bits(1)), result)
            }
            Operation::Exchange => (Some(argument(1)), Returned::Old),
            Operation::CompareExchange => {
                let same = self.values.compare(CmpOp::Eq, ty, old, argument(1));
                let same = same.unwrap_or(Value::Bits(0));
                let stored = self.truth(state, same, Ty::INT);
                (stored.then(|| argument(2)), Returned::Old)
            }
        };
        if let Some(new) = new {
            self.store(state, thread, addr, ty, new)?;
        }
        let new = new.unwrap_or(old);
        Ok(Some(match result {
            Returned::Nothing => Some(None),
            Returned::Old => Some(Some(Datum::Scalar(old, ty))),
            Returned::New => Some(Some(Datum::Scalar(new, ty))),
            Returned::Zero => Some(Some(self.against_zero(CmpOp::Eq, new, ty))),
            Returned::Negative => Some(Some(self.against_zero(CmpOp::Lt, new, ty))),
        }))
    }

    /// Who is given an object has a reference to it: a count that was there before anything ran is not 0.
    pub fn has_reference(&mut self, state: &mut State, name: &str, arguments: &[Datum]) -> Run<()> {
        let Some((_, at)) = COUNTING.iter().find(|(counting, _)| *counting == name) else {
            return Ok(());
        };
        let addr = self.number(state, arguments, *at)?;
        let Ok((_, object)) = state.memory.check(addr, COUNT, false) else {
            return Ok(());
        };
        let count = state
            .memory
            .read(&mut self.values, addr, object.fill, COUNT);
        let Some(Value::Term(count)) = count else {
            return Ok(());
        };
        // A word in memory is one unknown, of which this may be a part.
        let terms = &self.values.formula.terms;
        let mut whole = count;
        if let Node::Op {
            op: Op::Extract { .. },
            args,
        } = terms.node(count)
        {
            whole = args.first().copied().unwrap_or(count);
        }
        let is_input = match terms.node(whole) {
            Node::Var(var) => self.values.is_input(*var),
            _ => false,
        };
        if !is_input {
            return Ok(());
        }
        let count = Value::Term(count);
        match self
            .values
            .compare(CmpOp::Ne, Ty::INT, count, Value::Bits(0))
        {
            Some(holds) => self.assume(state, holds, Ty::INT),
            None => Ok(()),
        }
    }

    fn against_zero(&mut self, op: CmpOp, value: Value, ty: Ty) -> Datum {
        let holds = self.values.compare(op, ty, value, Value::Bits(0));
        Datum::Scalar(holds.unwrap_or(Value::Bits(0)), Ty::INT)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_operations() {
        let of = |name| operation(name).map(|(operation, _)| operation);
        assert_eq!(
            of("arch_atomic_fetch_sub_release"),
            Some(Operation::By(BinOp::Sub, Returned::Old))
        );
        assert_eq!(
            operation("arch_atomic64_inc"),
            Some((Operation::One(BinOp::Add, Returned::Nothing), 64))
        );
        assert_eq!(
            of("raw_atomic_dec_and_test"),
            Some(Operation::One(BinOp::Sub, Returned::Zero))
        );
        assert_eq!(of("arch_atomic_xchg_acquire"), Some(Operation::Exchange));
        for other in [
            "atomic_inc",
            "arch_atomic_read",
            "arch_atomic_add_unless",
            "arch_atomic_try_cmpxchg",
        ] {
            assert_eq!(of(other), None, "{other}");
        }
    }
}
