//! What the steps of a closed program may do to each other, without running it.
//!
//! In: a linked program. Out: where pointers lead ([`points_to`]), what each step reads and writes ([`effects`]), which branches
//! decide whether it is reached ([`control`]), all of it together ([`facts`]), and from these the backward slice of a step ([`slice`]; Horwitz, Reps, Binkley). All of
//! it is insensitive to the order of steps and to calling contexts, and takes an object for one cell: a slice is too large
//! rather than too small.

pub mod control;
pub mod effects;
pub mod facts;
pub mod points_to;
pub mod slice;

use super::code::Step;
use super::program::Program;
use crate::ir::{Call, StmtKind};

/// A step of the program: the number of its code, and its place in it.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub struct At {
    pub code: usize,
    pub step: usize,
}

/// One value for each step of a program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PerStep<T>(Vec<Vec<T>>);

impl<T: Clone> PerStep<T> {
    pub fn new(program: &Program<'_>, value: T) -> PerStep<T> {
        let lengths = program.code.iter().map(|linked| linked.code.steps.len());
        PerStep(lengths.map(|length| vec![value.clone(); length]).collect())
    }

    pub fn get(&self, at: At) -> Option<&T> {
        self.0.get(at.code)?.get(at.step)
    }

    pub fn get_mut(&mut self, at: At) -> Option<&mut T> {
        self.0.get_mut(at.code)?.get_mut(at.step)
    }

    /// The steps of one function, in their order.
    pub fn of(&self, code: usize) -> impl Iterator<Item = (At, &T)> {
        let values = self.0.get(code).into_iter().flatten().enumerate();
        values.map(move |(step, value)| (At { code, step }, value))
    }
}

impl PerStep<bool> {
    pub fn is(&self, at: At) -> bool {
        self.get(at).copied().unwrap_or(false)
    }

    /// Whether there is a step for which it is set.
    pub fn any(&self) -> bool {
        self.0.iter().flatten().any(|value| *value)
    }

    /// Whether it was not set before.
    pub fn set(&mut self, at: At) -> bool {
        self.get_mut(at)
            .is_some_and(|value| !std::mem::replace(value, true))
    }
}

/// All steps of a program.
pub fn steps<'r>(program: &'r Program<'_>) -> impl Iterator<Item = (At, &'r Step<'r>)> {
    let codes = program.code.iter().enumerate();
    codes.flat_map(|(code, linked)| {
        let steps = linked.code.steps.iter().enumerate();
        steps.map(move |(step, (kind, _))| (At { code, step }, kind))
    })
}

/// The call that a step is.
pub fn call_at<'r>(program: &'r Program<'_>, at: At) -> Option<&'r Call> {
    match &program.code.get(at.code)?.code.steps.get(at.step)?.0 {
        Step::Statement(StmtKind::Call(call)) => Some(call),
        _ => None,
    }
}
