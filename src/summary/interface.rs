//! Interface objects, expressions and conditions (paper §5.1): the names that a function and its
//! callers share.

use std::cmp::Ordering;
use std::hash::{Hash, Hasher};
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::ir::SymbolName;
use crate::property::StateId;
use crate::symbolic::member::MemberOf;
use crate::symbolic::term::{Op, eval};

/// Where an interface path starts.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Root {
    /// The n-th parameter's value, from 0.
    Param(u32),
    /// A global object's storage.
    Global(SymbolName),
    /// The result.
    Return,
    /// The pointer, or the number, that the object holds when the function returns.
    Exit(Box<IObj>),
    /// The number that the object holds when the function is called.
    Entry(Box<IObj>),
}

impl Root {
    /// Whether it is an output of the call: the caller has no name for it before.
    pub fn is_output(&self) -> bool {
        matches!(self, Root::Return | Root::Exit(_))
    }

    /// Where the way to it starts, through the pointers that the call leaves in memory.
    pub fn first(&self) -> &Root {
        match self {
            Root::Exit(pointer) => pointer.root.first(),
            _ => self,
        }
    }

    /// Whether callers find it by a pointer that the function has left in their memory. What the result itself leads to is there where the
    /// result is.
    pub fn is_left_in_memory(&self) -> bool {
        self.is_output() && *self.first() != Root::Return
    }
}

/// Something that is told besides of an object, to a reader or to the analysis: with it or without, two objects are the
/// same.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Told<T>(pub T);

impl<T> PartialEq for Told<T> {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

impl<T> Eq for Told<T> {}

impl<T> PartialOrd for Told<T> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl<T> Ord for Told<T> {
    fn cmp(&self, _: &Self) -> Ordering {
        Ordering::Equal
    }
}

impl<T> Hash for Told<T> {
    fn hash<H: Hasher>(&self, _: &mut H) {}
}

/// An offset in bytes: a constant and a sum of coefficient · value (array elements).
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Offset {
    pub constant: i64,
    /// `(coefficient, 64-bit value)`, sorted.
    pub terms: Vec<(i64, IExpr)>,
    /// The members and elements that the source names there, seen from where the offset counts: `port.flags`, `[3].lock`.
    pub members: Told<Option<Arc<str>>>,
    /// The member of a record that the pointer there is.
    pub member: Told<Option<MemberOf>>,
}

impl Offset {
    pub fn bytes(constant: i64) -> Self {
        Offset {
            constant,
            ..Offset::default()
        }
    }
}

/// A memory object named from the interface: start at the root and, for each offset but the last,
/// add it and load a pointer; the last gives the object's address. `Param(0)` with path `[8]` is
/// `*(param0 + 8)`; with `[8, 16]` it is `*(*(param0 + 8) + 16)`; an empty path is the root's own
/// value (a parameter's, the result's), or what it is the number of. For a global the first offset is within its storage.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct IObj {
    pub root: Root,
    pub path: Vec<Offset>,
}

impl IObj {
    /// The number of the parameter that is a pointer to the object, or the number that names it.
    pub fn argument(&self) -> Option<u32> {
        match (&self.root, &self.path[..]) {
            (Root::Param(index), [] | [_]) => Some(*index),
            _ => None,
        }
    }
}

/// Which value of an object an expression reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub enum When {
    Entry,
    Exit,
}

/// What is known of an unknown value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Choice {
    /// Nothing.
    Any,
    /// The world outside the program has chosen it.
    Outside,
    /// It is a condition under which a store through a pointer that a block holds has changed where the block's own pointer was read from.
    Link,
    /// It is a pointer that a callee has returned, which is null where that has failed.
    MayBeNull,
}

impl Choice {
    /// Of a value that hangs on two.
    pub fn with(self, other: Choice) -> Choice {
        match self == other {
            true => self,
            false => Choice::Any,
        }
    }
}

/// An interface expression: a term over interface objects' values. Conditions (ICond) are those of
/// width 1.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub enum IExpr {
    Const {
        value: u128,
        width: u16,
    },
    /// The scalar of `width` bits stored in the object.
    Value {
        object: IObj,
        width: u16,
        when: When,
        /// It is a pointer in half as many bits (`ir::Body::pointer_size`).
        narrow: bool,
        /// It is a pointer in the source.
        pointer: Told<bool>,
    },
    /// A value that cannot be named from the interface, the same at each occurrence of `id` in one summary.
    Unknown {
        id: u32,
        width: u16,
        choice: Choice,
    },
    /// Whether the object is in the state on entry: what a saved state tells. Of width 1.
    InState {
        object: IObj,
        /// Name of the machine.
        machine: String,
        state: StateId,
    },
    /// The address of the object, 64 bits.
    Address(IObj),
    Op {
        op: Op,
        width: u16,
        args: Vec<IExpr>,
    },
    /// constant + Σ coefficient · argument, modulo 2^width.
    Linear {
        width: u16,
        constant: u128,
        terms: Vec<(u128, IExpr)>,
    },
}

impl IExpr {
    /// The value if the function returns this number; `None` if it depends on anything else.
    pub fn with_result(&self, result: u128) -> Option<u128> {
        match self {
            IExpr::Const { value, .. } => Some(*value),
            IExpr::Value { object, width, .. }
                if object.root == Root::Return && object.path.is_empty() =>
            {
                Some(result & (u128::MAX >> (128 - u32::from((*width).clamp(1, 128)))))
            }
            IExpr::Op { op, width, args } => {
                let args = args
                    .iter()
                    .map(|arg| Some((arg.with_result(result)?, arg.width())));
                let args: Option<Vec<(u128, u16)>> = args.collect();
                Some(eval::apply(*op, *width, &args?))
            }
            _ => None,
        }
    }

    /// The condition that a value of `width` bits is 0.
    pub fn is_zero(value: IExpr, width: u16) -> IExpr {
        IExpr::Op {
            op: Op::Eq,
            width: 1,
            args: vec![value, IExpr::Const { value: 0, width }],
        }
    }

    /// The condition that it is not.
    pub fn is_nonzero(value: IExpr, width: u16) -> IExpr {
        IExpr::Op {
            op: Op::Not,
            width: 1,
            args: vec![IExpr::is_zero(value, width)],
        }
    }

    /// The condition that always or never holds.
    pub fn truth(holds: bool) -> IExpr {
        IExpr::Const {
            value: u128::from(holds),
            width: 1,
        }
    }

    /// One condition where another holds, and a third where it does not.
    pub fn choice(condition: IExpr, [then, els]: [IExpr; 2]) -> IExpr {
        let known = |expr: &IExpr| match expr {
            IExpr::Const { value, .. } => Some(*value == 1),
            _ => None,
        };
        let (op, args) = match (known(&then), known(&els)) {
            _ if let Some(holds) = known(&condition) => return if holds { then } else { els },
            (Some(yes), Some(no)) if yes == no => return then,
            (Some(true), Some(_)) => return condition,
            (Some(_), Some(_)) => (Op::Not, vec![condition]),
            (_, Some(false)) => (Op::And, vec![condition, then]),
            (Some(true), _) => (Op::Or, vec![condition, els]),
            _ => (Op::Ite, vec![condition, then, els]),
        };
        IExpr::Op { op, width: 1, args }
    }

    /// One value where a condition holds, and another of the same width where it does not.
    pub fn either(condition: IExpr, [then, els]: [IExpr; 2]) -> IExpr {
        IExpr::Op {
            op: Op::Ite,
            width: then.width(),
            args: vec![condition, then, els],
        }
    }

    /// Whether the value hangs on something that callers are not told.
    pub fn is_open(&self) -> bool {
        self.unknowns().next().is_some()
    }

    pub fn width(&self) -> u16 {
        match self {
            IExpr::Const { width, .. }
            | IExpr::Value { width, .. }
            | IExpr::Unknown { width, .. }
            | IExpr::Op { width, .. }
            | IExpr::Linear { width, .. } => *width,
            IExpr::InState { .. } => 1,
            IExpr::Address(_) => 64,
        }
    }

    /// Whether it is made of constants and of the values of objects that are wanted.
    pub fn is_made_of(&self, wanted: impl Fn(&IObj) -> bool) -> bool {
        let mut only = true;
        self.each(&mut |part| {
            only &= match part {
                IExpr::Value { object, .. } => wanted(object),
                IExpr::Const { .. } | IExpr::Op { .. } | IExpr::Linear { .. } => true,
                IExpr::Address(_) | IExpr::Unknown { .. } | IExpr::InState { .. } => false,
            }
        });
        only
    }

    /// Visits the expression and its parts, outermost first; not what its objects' offsets are made of.
    pub fn each<'e>(&'e self, visit: &mut dyn FnMut(&'e IExpr)) {
        visit(self);
        match self {
            IExpr::Const { .. }
            | IExpr::Value { .. }
            | IExpr::Unknown { .. }
            | IExpr::InState { .. }
            | IExpr::Address(_) => {}
            IExpr::Op { args, .. } => args.iter().for_each(|part| part.each(visit)),
            IExpr::Linear { terms, .. } => terms.iter().for_each(|(_, part)| part.each(visit)),
        }
    }

    /// The unknowns in it, each at every place, with their widths.
    pub fn unknowns(&self) -> impl Iterator<Item = (u32, u16)> + use<> {
        let mut found = Vec::new();
        self.each(&mut |part| {
            if let IExpr::Unknown { id, width, .. } = *part {
                found.push((id, width));
            }
        });
        found.into_iter()
    }

    /// Gives an unknown another name.
    pub fn rename(&mut self, unknown: u32, name: u32) {
        match self {
            IExpr::Unknown { id, .. } if *id == unknown => *id = name,
            IExpr::Const { .. }
            | IExpr::Value { .. }
            | IExpr::Unknown { .. }
            | IExpr::InState { .. }
            | IExpr::Address(_) => {}
            IExpr::Op { args, .. } => args.iter_mut().for_each(|part| part.rename(unknown, name)),
            IExpr::Linear { terms, .. } => {
                for (_, part) in terms {
                    part.rename(unknown, name);
                }
            }
        }
    }
}
