//! What happened during a symbolic execution, for findings and their traces.
//!
//! Events are in execution order; each carries the guard of the paths on which it happens.

mod calls;

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;

use rustc_hash::FxHashSet;

pub use self::calls::{CallEvent, MayEnd, MetFailure, Question, UnknownCall};
use super::guard::{Cond, Guard};
use super::region::{Loc, RegionId};
use super::state::{Object, Status};
use super::term::{Term, Var};
use super::unroll::LoopId;
use crate::finding::TraceStep;
use crate::ir::{BlockId, ExprId, Pos, Says, SymbolName};
use crate::property::{Machine, Role, StateId, States, Target};

/// A place in the source within a function.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Site {
    pub file: Arc<str>,
    pub line: u32,
    pub column: u32,
    pub function: Arc<str>,
}

impl Site {
    /// Whether it has the line and the column of a position, in whichever file that is.
    pub fn is_at(&self, pos: Pos) -> bool {
        (self.line, self.column) == (pos.line, u32::from(pos.column))
    }
}

/// A conditional branch whose condition does not fold.
#[derive(Clone, Debug)]
pub struct BranchEvent {
    /// The paths that reach the branch.
    pub path: Guard,
    /// The condition of the first edge.
    pub guard: Guard,
    pub says: Says,
    /// The block that it ends, and those that its edges lead to, in the body that is executed there.
    pub block: BlockId,
    pub targets: [BlockId; 2],
    pub site: Site,
    pub depth: u32,
    /// Number of operations logged before it.
    pub order: usize,
}

/// A callee writes to a variable of the function's that holds a pointer, on some paths.
#[derive(Clone, Debug)]
pub struct PointerWrite {
    /// The pointer before the call.
    pub old: Term,
    /// The unknowns that stand for what the callee's summary does not tell of the paths.
    pub unknowns: std::ops::Range<Var>,
    /// Number of operations logged before it.
    pub order: usize,
}

/// A case of a `switch`.
#[derive(Clone, Debug)]
pub struct CaseEvent {
    /// The block that the `switch` ends, and the one of the case.
    pub block: BlockId,
    pub target: BlockId,
    /// The paths that reach the `switch`, and those that take the case.
    pub path: Guard,
    pub guard: Guard,
    /// The line of the case's first statement.
    pub goes_on: u32,
    pub site: Site,
    pub depth: u32,
    /// Number of operations, and of branches, logged before it.
    pub order: usize,
    pub branches: usize,
}

/// A pointer that the function compares with null where all paths have followed it already, in whatever round of a loop.
#[derive(Clone, Debug)]
pub struct LateTest {
    pub pointer: Term,
    /// What is compared where.
    pub place: (BlockId, ExprId),
    /// The paths that reach the comparison.
    pub guard: Guard,
    pub site: Site,
    /// Number of operations, and of branches, logged before it.
    pub order: usize,
    pub branches: usize,
}

/// A tracked object moves along one row of a summary.
#[derive(Clone, Debug)]
pub struct OpEvent {
    pub object: Object,
    /// The paths on which it does.
    pub guard: Guard,
    /// Those among them on which the function itself had put the object into the state before.
    pub touched: Guard,
    /// The paths on which the object is in the error state after the operation, from whatever state it
    /// entered the function in.
    pub errors: Guard,
    pub from: Status,
    /// `None` for the error state.
    pub to: Option<Status>,
    /// The rule broken, if this is a failure that is reported.
    pub rule: Option<String>,
    /// Where the callee leads an object of each state that it tells of, if accesses are checked.
    pub from_states: Arc<[(StateId, Target)]>,
    /// The callee is a primitive.
    pub primitive: bool,
    /// The callee's row, if it has an inside.
    pub source: Option<Source>,
    /// The callee saves the state that the object was in before, to be restored later.
    pub saves: bool,
    /// The callee ends nothing that the object leads to, but for what its summary tells.
    pub alone: bool,
    /// Whether the callee does it at all was not settled.
    pub doubtful: bool,
    /// The callee has other outcomes on these paths.
    pub open: bool,
    /// The paths on which it may have one of those, as far as is known from its arguments and what it returns. What it has found in memory
    /// is not asked for: a callee in between may have changed it.
    pub others: Guard,
    /// What the callee returns tells all that it can of whether the row is taken: the row was asked for it.
    pub by_result: bool,
    /// Whether the callee leaves the object held on purpose is decided by its callers, when all functions are done.
    pub contested: bool,
    /// The callee ends the block if a count in it says that nobody else holds it, which is not known here.
    pub counted: bool,
    /// The outermost loop of the analysed function that it happens in.
    pub in_loop: Option<LoopId>,
    /// The call that it is part of, as counted by [`Log::call`].
    pub call: u32,
    /// Call sites from the analysed function's own frame down to the operation.
    pub stack: Vec<Site>,
    /// The call as the source shows it.
    pub text: Arc<str>,
    /// The object as the source would write it.
    pub name: String,
    /// What leads to the object in the analysed function's own text: the argument that is a pointer to it or the number that names it, or
    /// the address of an access.
    pub written: Option<ExprId>,
    /// What happens within the callee.
    pub inside: Arc<[TraceStep]>,
}

/// A call that may sleep.
#[derive(Clone, Debug)]
pub struct SleepEvent {
    /// The paths on which it may.
    pub guard: Guard,
    /// What the callee makes it depend on.
    pub condition: Guard,
    /// The part of it that says only that pointers are valid.
    pub there: Guard,
    /// The atomic objects in another state than their initial one, which the function itself has put them
    /// into, and the paths on which they are.
    pub held: Vec<(Object, Status, Guard)>,
    /// The paths on which callers are not concerned: an atomic object of theirs was released before, or is in error.
    pub released: Guard,
    /// Number of operations, and of branches, logged before it.
    pub order: usize,
    pub branches: usize,
    /// Call sites from the analysed function's own frame down to the call.
    pub stack: Vec<Site>,
    /// The call as the source shows it.
    pub text: Arc<str>,
    /// What happens within the callee.
    pub inside: Arc<[TraceStep]>,
}

/// A call that states what is held where it is made.
#[derive(Clone, Debug)]
pub struct AssertEvent {
    /// Where the object lies.
    pub loc: Loc,
    /// The paths on which it is stated.
    pub guard: Guard,
    /// What the callee makes it depend on.
    pub condition: Guard,
    /// The objects there of which something is known, and the paths on which they are in their initial state.
    pub unheld: Vec<(Object, Guard)>,
    /// The paths on which one of them is not, or another object of the class is not: that may be meant.
    pub held: Guard,
    pub held_otherwise: Guard,
    /// The rule that is broken where nothing is.
    pub rule: String,
    /// Number of operations, and of branches, logged before it.
    pub order: usize,
    pub branches: usize,
    /// Call sites from the analysed function's own frame down to the call.
    pub stack: Vec<Site>,
    /// The call as the source shows it, and the function called.
    pub text: Arc<str>,
    pub callee: Arc<SymbolName>,
    /// The object as the source would write it.
    pub name: String,
    /// What happens within the callee.
    pub inside: Arc<[TraceStep]>,
}

/// A call initialises an object.
#[derive(Clone, Debug)]
pub struct InitEvent {
    pub loc: Loc,
    /// The paths on which it does.
    pub guard: Guard,
    /// Those on which the object is recursive; `None`: that is not known.
    pub recursive: Option<Guard>,
    /// Where the number is that decides it, as far as it is the one that was there on entry.
    pub kept_in: Vec<(Guard, Loc)>,
    /// Call sites from the analysed function's own frame down to the call.
    pub stack: Vec<Site>,
}

/// An access to what a pointer leads to.
#[derive(Clone, Debug)]
pub struct UseEvent {
    /// The address of the access.
    pub address: Term,
    /// The unknown pointer, if the address is not null by a constant.
    pub base: Option<Term>,
    /// The paths on which it is made.
    pub guard: Guard,
    /// Those on which the pointer is null.
    pub null: Guard,
    /// Where the function has compared the pointer with null before.
    pub tested: Option<Tested>,
    /// The expression for the address, if the analysed function makes the access itself.
    pub expr: Option<ExprId>,
    /// Number of operations, and of branches, logged before it.
    pub order: usize,
    pub branches: usize,
    /// What callees may have done before it that is not known.
    pub before: Unknowns,
    /// Call sites from the analysed function's own frame down to the access.
    pub stack: Vec<Site>,
    /// The call as the source shows it, if the access is made in a callee.
    pub text: Option<Arc<str>>,
    /// The access is made by a function that is called through a member of a record, where another one may be called.
    pub by_method: bool,
    /// The access and the call that has returned the pointer are both in a function that is executed in place of its call.
    pub of_inlined: bool,
    /// The paths that reach the call, of the analysed function itself, in which it is made.
    pub called_on: Option<Guard>,
    /// The callee that makes it ends the program behind it, and comes back on other ways.
    pub ends: bool,
    /// What happens within the callee.
    pub inside: Arc<[TraceStep]>,
}

/// What the accesses of one statement have in common.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Followed {
    /// The address, whichever of several pointers it is.
    Address(Term),
    /// The expression for it, in whichever round of a loop.
    Expression(ExprId),
}

impl UseEvent {
    /// Of two accesses at one place that have one of these in common, one statement makes both.
    pub fn followed(&self) -> impl Iterator<Item = Followed> {
        let expression = self.expr.map(Followed::Expression);
        let address = Followed::Address(self.address);
        expression.into_iter().chain([address])
    }

    /// The same, with the place.
    pub fn statement(&self) -> impl Iterator<Item = (Followed, Option<&Site>)> {
        let place = self.stack.first();
        self.followed().map(move |followed| (followed, place))
    }
}

/// How a scalar in memory is accessed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Access {
    pub write: bool,
    pub volatile: bool,
    /// It is a pointer.
    pub pointer: bool,
}

impl Access {
    /// Of what is no pointer by itself, as the source writes it.
    pub const READ: Access = Access {
        write: false,
        volatile: false,
        pointer: false,
    };
    pub const WRITE: Access = Access {
        write: true,
        ..Access::READ
    };
}

/// The analysed function's own text reads or writes a member of a record, or a global object.
#[derive(Clone, Debug)]
pub struct MemberEvent {
    pub address: Term,
    pub loc: Loc,
    /// The paths on which it does.
    pub guard: Guard,
    pub how: Access,
    /// Number of operations, and of [`GivenEvent`]s, logged before it.
    pub order: usize,
    pub given: usize,
    pub site: Site,
}

/// A call, known or not, with what its arguments point to.
#[derive(Clone, Debug)]
pub struct GivenEvent {
    pub callee: SymbolName,
    pub arguments: Vec<Option<Loc>>,
    pub guard: Guard,
    /// Number of operations logged before it.
    pub order: usize,
}

/// A comparison of a pointer with null in the function's own text.
#[derive(Clone, Debug)]
pub struct Tested {
    /// There is one that does not end a loop.
    pub plain: bool,
    /// The first of those, or else the first.
    pub site: Site,
    /// The paths on which there was one.
    pub guard: Guard,
}

/// An assertion of the user's, where it does not hold.
#[derive(Clone, Debug)]
pub struct AssertionEvent {
    pub kind: Asserted,
    /// The paths on which it is come to and does not hold.
    pub guard: Guard,
    /// The paths on which it is come to.
    pub reached: Guard,
    /// The conditions that it asks for.
    pub asked: Vec<Cond>,
    /// The condition as the source has it, if that is known.
    pub text: Option<Arc<str>>,
    /// Number of operations, and of branches, logged before it.
    pub order: usize,
    pub branches: usize,
    /// What callees may have done before it that is not known.
    pub before: Unknowns,
    /// Call sites from the analysed function's own frame down to it.
    pub stack: Vec<Site>,
}

/// How much was logged, at some time, of what callees do that is not known.
#[derive(Clone, Copy, Debug)]
pub struct Unknowns {
    /// Calls of unknown functions.
    pub calls: usize,
    /// Disturbances.
    pub disturbed: usize,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Asserted {
    /// It has to hold.
    Plain,
    /// It may fail to hold: no specification is to exclude that.
    Angelic,
}

/// A function may have changed what it was given pointers to, in a way that is not known.
#[derive(Clone, Debug)]
pub struct Disturbance {
    pub region: RegionId,
    pub guard: Guard,
    /// Number of operations logged before it.
    pub order: usize,
    /// See [`OpEvent::call`].
    pub call: u32,
    /// What it has written is not all known.
    pub open: bool,
}

/// A pointer is stored where somebody else may find it, or handed to a function that may keep it.
#[derive(Clone, Debug)]
pub struct EscapeEvent {
    /// What it leads to.
    pub region: RegionId,
    /// The paths on which it does.
    pub guard: Guard,
    pub to: Holder,
    /// The loop that it happens in.
    pub in_loop: Option<LoopId>,
}

/// A function that was inlined returns, and has got blocks.
#[derive(Clone, Debug)]
pub struct InlinedReturn {
    pub made: FxHashSet<RegionId>,
    /// The paths on which it returns.
    pub guard: Guard,
    pub result: Option<Term>,
    /// The numbers of the escapes that were logged in it.
    pub escapes: Range<usize>,
}

/// The program ends: what is called does not return.
#[derive(Clone, Debug)]
pub struct EndEvent {
    pub guard: Guard,
    pub site: Site,
}

/// What an outermost loop of the analysed function was seen to do.
#[derive(Clone, Debug, Default)]
pub struct LoopEvent {
    /// The paths on which execution comes to it.
    pub reached: Guard,
    /// The paths on which its body is executed.
    pub entered: Guard,
    /// The conditions under which the loop is left out, though execution comes to where it stands.
    pub skipped: Vec<Guard>,
    /// The conditions of its own tests.
    pub tests: Vec<Guard>,
    /// The paths on which it is left before its constant number of rounds is done.
    pub unfinished: Guard,
}

/// Where a pointer is found afterwards.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Holder {
    /// At this place in a block of memory, as long as there is one.
    Block(Loc),
    /// At this location, which others know of.
    Location(Loc),
    /// Wherever a callee puts it.
    Callee,
    /// Not the pointer to the block is meant, but those that are found in it: somebody else may have copied them.
    Contents,
}

impl EscapeEvent {
    /// The block that the pointer is put into.
    pub fn block(&self) -> Option<RegionId> {
        match self.to {
            Holder::Block(place) => Some(place.region),
            _ => None,
        }
    }
}

/// A row of a callee's summary.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Source {
    pub callee: Arc<SymbolName>,
    pub object: u32,
    pub row: u32,
}

/// An object that the function does not hold is taken, by a primitive that waits for it or within a callee
/// that does, whether or not it is held afterwards.
#[derive(Clone, Debug)]
pub struct TakeEvent {
    pub object: Object,
    /// The paths on which it is.
    pub guard: Guard,
    /// The states in which another holder is waited for.
    pub waits_for: States,
    /// The call itself takes it, or a callee that does so on all its paths.
    pub always: bool,
    /// See [`OpEvent::call`].
    pub call: u32,
    /// Number of operations logged before it.
    pub order: usize,
    pub stack: Vec<Site>,
    pub text: Arc<str>,
    pub name: String,
    pub inside: Arc<[TraceStep]>,
}

#[derive(Clone, Debug)]
pub struct ReturnEvent {
    pub guard: Guard,
    pub site: Site,
    pub depth: u32,
}

impl OpEvent {
    /// Whether the object is in another state afterwards.
    pub fn moves(&self) -> bool {
        self.to.is_some_and(|to| to != self.from)
    }

    /// Whether the object leaves its machine's initial state.
    pub fn takes(&self, initial: Status) -> bool {
        self.from == initial && self.moves()
    }

    /// Whether the object comes back to its machine's initial state.
    pub fn gives_back(&self, initial: Status) -> bool {
        self.to == Some(initial) && self.moves()
    }

    /// Whether the object's life is over afterwards.
    pub fn ends(&self, machine: &Machine) -> bool {
        matches!(self.to, Some(Status::At(to)) if machine.role(to) == Role::Dead)
    }

    /// Whether it goes from one state to another for which `step` holds.
    pub fn moves_as(&self, step: &impl Fn(StateId, StateId) -> bool) -> bool {
        match (self.from, self.to) {
            (Status::At(from), Some(Status::At(to))) => step(from, to),
            _ => false,
        }
    }
}

impl Log {
    /// The operations of one call. They are logged one behind the other.
    pub fn ops_of_call(&self, call: u32) -> &[OpEvent] {
        let from = self.ops.partition_point(|event| event.call < call);
        let to = self.ops.partition_point(|event| event.call <= call);
        &self.ops[from..to]
    }

    /// Leaves out comparisons that are late in some rounds of a loop only: they are asked for the sake of the others.
    pub fn only_late_tests(&mut self) {
        let early = &self.early_tests;
        self.late_tests.retain(|test| !early.contains(&test.place));
    }

    /// Whether the function takes an object somewhere that was held on entry already. No caller does that on purpose,
    /// so other operations on the object say nothing about its callers.
    pub fn takes_what_is_held(&self, object: Object, entry: StateId, machine: &Machine) -> bool {
        self.ops.iter().any(|event| {
            let takes = match (event.to, &event.rule) {
                (Some(Status::At(to)), _) => machine.takes_again(entry, to),
                (_, Some(rule)) => machine.is_about_taking(rule),
                _ => false,
            };
            let as_found = event.from == Status::At(entry) && event.guard != event.touched;
            event.object == object && as_found && takes
        })
    }
}

#[derive(Debug, Default)]
pub struct Log {
    /// The number of the call at hand, among those that are not inlined.
    pub call: u32,
    /// The present call is of one of several functions, and it is not known which.
    pub several: bool,
    /// It is a call through a member of a record.
    pub by_method: bool,
    pub unknown_calls: Vec<UnknownCall>,
    /// The paths on which functions of the tree were called that could not be analysed.
    pub lost: Guard,
    /// Each such call: its paths, and the number of operations before it.
    pub lost_calls: Vec<(Guard, usize)>,
    /// The paths on which an unknown callee got a value that depends on the entry state of an object.
    pub state_passed_on: Guard,
    pub branches: Vec<BranchEvent>,
    pub ops: Vec<OpEvent>,
    pub takes: Vec<TakeEvent>,
    /// Calls of the function's own that change nothing; only where accesses are checked.
    pub questions: Vec<Question>,
    /// Failures of callees that calls may bring about, or not.
    pub met_failures: Vec<MetFailure>,
    pub calls: Vec<CallEvent>,
    pub sleeps: Vec<SleepEvent>,
    pub assertions: Vec<AssertEvent>,
    pub initialised: Vec<InitEvent>,
    pub returns: Vec<ReturnEvent>,
    pub uses: Vec<UseEvent>,
    /// Number of accesses logged before the last call of a function that may write to memory which others know came back.
    pub uses_before_writes: usize,
    /// Logged only if [`super::limits::Limits::members`] asks for it.
    pub members: Vec<MemberEvent>,
    pub given: Vec<GivenEvent>,
    pub escapes: Vec<EscapeEvent>,
    /// Of functions that got no block nothing is logged.
    pub inlined: Vec<InlinedReturn>,
    pub loops: BTreeMap<LoopId, LoopEvent>,
    pub ends: Vec<EndEvent>,
    /// Calls of functions that end the program on some of their paths, or may do so.
    pub may_end: Vec<MayEnd>,
    pub pointer_writes: Vec<PointerWrite>,
    pub disturbed: Vec<Disturbance>,
    pub user_assertions: Vec<AssertionEvent>,
    pub cases: Vec<CaseEvent>,
    pub late_tests: Vec<LateTest>,
    /// Comparisons with null of what nobody has followed yet.
    pub early_tests: FxHashSet<(BlockId, ExprId)>,
}
