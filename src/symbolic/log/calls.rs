//! The calls of an execution: which functions are called, and what is not known of them.

use std::ops::Range;
use std::sync::Arc;

use super::Site;
use crate::ir::{FunctionHolder, SymbolName};
use crate::symbolic::callee::CalledWith;
use crate::symbolic::guard::Guard;
use crate::symbolic::region::{Loc, RegionId};
use crate::symbolic::term::{Term, Var};

/// A call of a function that is no primitive.
#[derive(Clone, Debug)]
pub struct CallEvent {
    pub callee: Arc<SymbolName>,
    /// The paths that reach it.
    pub guard: Guard,
    /// See [`super::OpEvent::call`].
    pub call: u32,
    /// Number of operations logged before it.
    pub order: usize,
    pub stack: Vec<Site>,
    /// Its operations are logged as the caller's own.
    pub inlined: bool,
}

/// A call behind which the program may have ended.
#[derive(Clone, Debug)]
pub struct MayEnd {
    /// The paths on which it is made.
    pub guard: Guard,
    /// Its arguments tell on which paths it ends the program: those are left out behind the call.
    pub told: bool,
    /// What the callee gets, and may decide by. None if it has a summary, which tells when it does not return as far as that is known.
    pub args: Vec<Term>,
    /// Number of operations logged before it.
    pub order: usize,
}

/// A call of a function that changes nothing: it answers a question about its arguments.
#[derive(Clone, Debug)]
pub struct Question {
    pub called: CalledWith,
    /// The unknown values that were made up in the call.
    pub unknowns: Range<Var>,
}

/// A call of a function of which a failure is told.
#[derive(Clone, Debug)]
pub struct MetFailure {
    pub callee: Arc<SymbolName>,
    /// The finding that tells of it, by its number among the callee's own.
    pub finding: u32,
    /// The pointers that it hangs on.
    pub compared: Vec<Term>,
    /// The paths on which they are as it needs them, and so are the arguments that are constants in the source.
    pub fixed: Guard,
    /// Those among these on which all else is, too.
    pub all: Guard,
}

/// A call of a function of which nothing is known.
#[derive(Clone, Debug)]
pub struct UnknownCall {
    /// The member or variable that the function is called through.
    pub holder: Option<FunctionHolder>,
    pub guard: Guard,
    /// Through a pointer.
    pub indirect: bool,
    /// What its arguments point to.
    pub given: Vec<Loc>,
    /// Of that what is meant by itself, not the record that begins with it.
    pub itself: Vec<Loc>,
    /// The records that this is in.
    pub reached: Vec<RegionId>,
    /// The unknown that is its result.
    pub result: Option<Term>,
    /// Terms made before it, and before it was over: what it has left behind pointers that it was given is between them.
    pub terms: usize,
    pub made: usize,
    /// Number of operations logged before it.
    pub order: usize,
    /// What it may keep: its part of [`Log::escapes`].
    ///
    /// [`Log::escapes`]: super::Log::escapes
    pub escapes: Range<usize>,
    /// Number of disturbances logged before it was over.
    pub disturbed: usize,
    /// The call as the source shows it.
    pub text: Arc<str>,
}

impl UnknownCall {
    /// The function, as the source names it.
    pub fn called(&self) -> &str {
        self.text.split('(').next().unwrap_or_default()
    }
}
