//! What can go wrong in an execution.
//!
//! In: a failing step. Out: a [`Failure`] with the words for it. CBUGS calls all of them assertions that fail.

use crate::ir::Pos;

/// A kind of failure. Deadlocks are apart: they are no assertion (CBUGS §4.2, remark).
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Kind {
    Assertion(String),
    NullDereference,
    UseAfterFree,
    DoubleFree,
    BadFree,
    /// An access where no object is, or beyond its end.
    WildAccess(&'static str),
    /// What a thread may not do with a lock or another object that threads share.
    Misuse(String),
    Arithmetic(&'static str),
    Aborted,
    Deadlock,
}

impl Kind {
    /// Whether a failure of two functions is one of the program that they are part of: sizes of objects are not known there, nor who else
    /// may wake a thread that waits.
    pub fn holds_in_open(&self) -> bool {
        match self {
            Kind::Assertion(_)
            | Kind::NullDereference
            | Kind::UseAfterFree
            | Kind::DoubleFree
            | Kind::Misuse(_) => true,
            Kind::BadFree
            | Kind::WildAccess(_)
            | Kind::Arithmetic(_)
            | Kind::Aborted
            | Kind::Deadlock => false,
        }
    }

    pub fn message(&self) -> String {
        match self {
            Kind::Assertion(text) if text.is_empty() => "an assertion fails".to_owned(),
            Kind::Assertion(text) => format!("assertion `{text}` fails"),
            Kind::NullDereference => "a null pointer is dereferenced".to_owned(),
            Kind::UseAfterFree => "freed memory is used".to_owned(),
            Kind::DoubleFree => "memory is freed twice".to_owned(),
            Kind::BadFree => "what is no allocated memory is freed".to_owned(),
            Kind::WildAccess(what) => (*what).to_owned(),
            Kind::Misuse(what) => what.clone(),
            Kind::Arithmetic(what) => (*what).to_owned(),
            Kind::Aborted => "the program aborts".to_owned(),
            Kind::Deadlock => "no thread can go on".to_owned(),
        }
    }
}

/// A failure at a place, in a thread.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failure {
    pub kind: Kind,
    pub thread: usize,
    /// The body, by its number in the program.
    pub code: usize,
    pub pos: Pos,
}
