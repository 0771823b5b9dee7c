//! What an execution asks about the functions that are called.
//!
//! In: a callee's name, or the member or variable that is called through. Out: whether the callee is known, its body
//! if it is to be inlined, else what applies its effects to the state before the call. Who implements these
//! traits decides what a callee's effects are made of; the executor does not know.

use std::fmt;
use std::rc::Rc;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::exec::{ArgValue, Executor};
use super::guard::Guard;
use super::log::Site;
use super::state::State;
use super::term::Term;
use crate::ir::{Arg, Body, ExprId, FunctionHolder, Image, Methods, SymbolName};

/// How deep tiny leaves may call each other and still be inlined: `folio_test_swapcache` is four calls from the bit.
pub const INLINE_DEPTH: u8 = 4;

/// What the function at hand may ask about other functions.
pub trait Callees: Sync {
    fn view(&self, name: &SymbolName) -> CalleeView;
    /// The functions that a call through a member of records or a variable may mean, if that is known.
    fn methods(&self, holder: &FunctionHolder) -> Option<&Methods>;
    /// The body of a tiny leaf that touches no object of any machine, to be inlined; `None` for all
    /// other functions.
    fn inline_body(&self, name: &SymbolName) -> Option<Arc<Body>>;
    /// What an object of static storage holds, if nothing changes it.
    fn constant(&self, name: &SymbolName) -> Option<&Image>;
    /// Whether a type (`struct mutex`, `spinlock_t`) is one that primitives operate on.
    fn is_object_type(&self, type_name: &str) -> bool;
}

/// What a call site knows of the function it calls.
#[derive(Clone, Debug)]
pub enum CalleeView {
    /// Not defined in the tree, and no data says what it does.
    Unknown,
    /// Defined in the tree, but not analysable, or part of a circle of calls and not analysed yet.
    Lost,
    /// Touches no object of any machine. Its results, if it has these only.
    NoOp(Arc<[u128]>),
    Known(Arc<dyn Effects>),
}

/// What a call of a known function does, in place of the function's body.
pub trait Effects: fmt::Debug + Send + Sync {
    /// A call moves an object that the caller has a name for.
    fn moves_objects(&self) -> bool;
    /// A call touches no object of any machine, asks for none to be held, and does not sleep.
    fn is_noop(&self) -> bool;
    /// The function is given by data, and has no body to look into.
    fn is_primitive(&self) -> bool;
    /// The function may change what it gets pointers to.
    fn is_opaque(&self) -> bool;
    /// The function may do more than this says: its execution was cut short.
    fn is_partial(&self) -> bool;
    /// Control never comes back from a call.
    fn is_noreturn(&self) -> bool;
    /// The function itself ends the program on some of its paths.
    fn may_end(&self) -> bool;
    /// The arguments tell on which of its paths the function ends the program.
    fn tells_when_it_ends(&self) -> bool;
    /// The result is null on some of the function's paths, whatever callers pass.
    fn may_return_null(&self) -> bool;
    /// The function changes nothing that its callers know: it answers a question.
    fn only_answers(&self) -> bool;
    /// The function has one result, whatever it is called with.
    fn has_one_result(&self) -> bool;
    /// Called again with the same arguments, the function has the same result, until something changes it.
    fn repeats(&self) -> bool;
    /// The world outside the program decides about the result.
    fn is_outside(&self) -> bool;
    /// The results that a call may change of functions that repeat theirs.
    fn changes_answers(&self) -> Answers;
    /// Parameters that the function passes on, or leaves where others may find them.
    fn kept(&self) -> &[u32];

    /// The parameters that lead to pointers which may be found elsewhere afterwards.
    fn kept_contents(&self) -> &[u32];
    /// From this argument on it may keep all that are pointers.
    fn kept_from(&self) -> Option<u32>;
    /// A call touches no object of any machine and does not sleep, but asks for some to be held.
    fn only_asserts(&self) -> bool;
    /// Applies the effects of a call to the state before it. The scalar result, if there is one.
    fn apply(
        &self,
        exec: &mut Executor<'_>,
        state: &mut State,
        site: &CallSite<'_>,
    ) -> Option<Term>;
    /// Failures are told of the function itself, and when they come about.
    fn tells_failures(&self) -> bool;
    /// Notes whether a call brings these about, and nothing else.
    fn note_failures(&self, exec: &mut Executor<'_>, state: &mut State, site: &CallSite<'_>);
    /// Notes what a call asks to be held, and nothing else.
    fn note_assertions(&self, exec: &mut Executor<'_>, state: &mut State, site: &CallSite<'_>);
}

/// Results of functions that repeat theirs, as far as a call may change them.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
pub enum Answers {
    #[default]
    None,
    /// Those that hang on what lies in memory.
    OfMemory,
    /// Those of the world outside the program, too: its environment.
    All,
}

/// What a function is called with.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct CalledWith {
    pub callee: Arc<SymbolName>,
    /// The arguments but for records.
    pub args: Rc<[Term]>,
}

impl CalledWith {
    pub fn new(callee: Arc<SymbolName>, args: &[ArgValue]) -> Self {
        let args = args.iter().filter_map(ArgValue::value).collect();
        CalledWith { callee, args }
    }
}

impl CallSite<'_> {
    /// The callee, and what it is called with.
    pub fn called(&self) -> CalledWith {
        CalledWith::new(Arc::clone(self.callee), self.args)
    }

    /// The argument of this number as the analysed function itself has it.
    pub fn written(&self, argument: u32) -> Option<ExprId> {
        Some(self.written?.get(argument as usize)?.expr())
    }
}

/// Where a callee's effects are applied.
pub struct CallSite<'c> {
    pub args: &'c [ArgValue],
    /// The arguments as they are written, if the call stands in the analysed function itself.
    pub written: Option<&'c [Arg]>,
    /// Of arguments that are addresses of first members, which have the address of what they lie in: the members' names,
    /// `port` of `&state->port`, by the argument's index.
    pub first_members: Vec<(u32, String)>,
    /// The arguments that are constants in the source, by index.
    pub constants: Vec<u32>,
    /// The bytes from where each argument leads to the end of the member that it is the address of; 0 where that is not known.
    pub rooms: Vec<u64>,
    /// Bits of the result, `None` for void and records.
    pub result_width: Option<u16>,
    /// The result is a pointer, or its type is guessed.
    pub may_return_pointer: bool,
    pub text: &'c str,
    pub callee: &'c Arc<SymbolName>,
    /// Call sites down to this one, inclusive.
    pub stack: Vec<Site>,
    /// The paths that reach it.
    pub reached_on: Guard,
}
