//! Function summaries (paper §5.1–5.2, Figure 7): ⟨P_in, P_out, M, R⟩ over interface objects.
//!
//! In: the entry and exit states of a function's symbolic execution. Out: a [`Summary`] that callers
//! apply (Figure 9), the database stores and people query.

pub mod apply;
pub mod assertion;
mod contents;
pub mod convert;
pub mod counted;
pub mod elsewhere;
pub mod handles;
pub mod infer;
pub mod initialisation;
pub mod interface;
pub mod memory;
mod null_result;
pub mod predicates;
mod returns;
pub mod seeds;
mod shared;
pub mod sleep;
pub mod stats;
pub mod trace;
mod unknowns;

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use crate::finding::TraceStep;
use crate::property::{StateId, Target};
use crate::symbolic::arena::Arena;
use crate::symbolic::callee::Answers;
use crate::symbolic::class::Class;
use crate::symbolic::guard::Guard;
use crate::symbolic::term::Term;
pub use interface::{Choice, IExpr, IObj, Offset, Root, Told, When};

/// A valuation of some predicates: `None` where both values behave alike (`_` in Figure 8). One entry
/// for each predicate of the list that it belongs to.
pub type Cube = Vec<Option<bool>>;

/// An object that the function moves between states.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct SummaryObject {
    pub object: IObj,
    /// As the function's own source would write it: `*l`, `dev->lock`.
    pub name: String,
    /// What it has in common with other instances, where the function tells.
    pub class: Option<Class>,
    /// Name of the machine.
    pub machine: String,
    /// The function also does its work where there is no such object, its pointer being null.
    pub optional: bool,
    /// How some callee has left it was not known: it may come out in another way than any row says.
    pub open: bool,
    /// The function has made it, and has left pointers to it where others than its callers find them.
    pub shared: bool,
    /// It is what the function returns, and pointers to it lie where these parameters lead, too, if that is anywhere: `if (end) *end = text + length;`.
    pub left_at: Vec<u32>,
    /// The function operates on it by primitives alone, and no execution was cut: its rows are all that may become of it.
    pub exact: bool,
    /// The same with callees of which that is said: they leave alone what the object leads to, but for what the summary tells.
    pub alone: bool,
    /// What the pointers in it lead to leads back to it.
    pub leads_back: bool,
    /// The function has made it, and pointers to it lie in blocks of memory, be it the object itself: who is given what lies there may find it.
    pub found_in_blocks: bool,
    /// The function makes it only where these conditions on what is there on entry have these values.
    pub only_if: Vec<(IExpr, bool)>,
    /// It is what the result leads to; where the function does not make it the result may lead to something else, which it has not made.
    pub or_another: bool,
}

/// One element of R: (sm, incond, s, outcond, s').
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Row {
    /// Index into [`Summary::objects`].
    pub object: u32,
    /// Over [`Summary::inputs`], evaluated on entry.
    pub incond: Cube,
    pub from: StateId,
    /// Over [`Summary::outputs`], evaluated on exit.
    pub outcond: Cube,
    pub to: Target,
    /// The function operates on the object on all paths that take this row, so that its state is known
    /// afterwards whatever it was before.
    pub touched: bool,
    /// Whether it can be taken at all was not settled within the budget: no finding rests on it.
    pub doubtful: bool,
    /// Part of a mistake that is reported in this function itself. Callers take it as mended: the
    /// object leaves in the state it came in.
    pub reported: bool,
    /// An argument alone decides between this way out, on which the object stays held, and one that gives it back. That
    /// is a mistake of the function's unless some caller shows that it is meant: who calls it with which argument
    /// is known only when all functions are done. To callers the row is as true as any.
    pub contested: bool,
    /// A number in the block that the function changes decides that it is freed: a count of those who hold it.
    pub counted: bool,
    /// Of the rows for the same conditions, what the world outside the program has answered decides which one is taken, and nothing else
    /// does: each may be.
    pub answered: bool,
    /// One way through the function that takes this row: the operations on the object, outermost
    /// call first.
    pub trace: Vec<TraceStep>,
}

impl Row {
    /// Whether no call takes both rows: some condition holds for the one and not for the other.
    pub fn excludes(&self, other: &Row) -> bool {
        let differ = |one: &Cube, other: &Cube| {
            let mut conditions = one.iter().zip(other);
            conditions.any(|(one, other)| one.is_some() && other.is_some() && one != other)
        };
        differ(&self.incond, &other.incond) || differ(&self.outcond, &other.outcond)
    }
}

/// An interface object that a call may change (an element of M).
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Modified {
    pub object: IObj,
    /// Bytes.
    pub size: u64,
    /// Its value on exit where the analysis has it in terms of entry values.
    pub value: Option<IExpr>,
    /// The source keeps a pointer there.
    pub pointer: Told<bool>,
    /// Whether the pointer that is left there may be null because a function has failed.
    pub null: NullResult,
    /// It is the constant null, or null because a function has failed if [`Self::null`] says that it may be, only where the result is so.
    pub null_with: Option<Sign>,
    /// The function writes it only where these conditions on what is there on entry have these values; none if the value tells.
    pub only_if: Vec<(IExpr, bool)>,
    /// Where the function ends the block that the pointer there has led to on entry.
    pub replaced: Replaced,
}

/// Whether a pointer is another one wherever the block that it has led to has ended.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Replaced {
    #[default]
    Unknown,
    Always,
    /// It is left as it was only where the result is so.
    Unless(Sign),
}

/// The size of what has no end that is known.
pub const OPEN_SIZE: u64 = 1 << 40;

/// A primitive writes to what a parameter leads to: [`Summary::size`] says how many bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Fill {
    pub to: u32,
    /// The parameter that leads to the bytes that it copies.
    pub from: Option<u32>,
}

/// The function may sleep.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Sleep {
    /// Over [`Summary::inputs`], evaluated on entry.
    pub incond: Cube,
    /// The columns of `incond` that say only that a pointer leads somewhere through which the function goes: one
    /// that is there as a rule.
    pub there: Vec<u32>,
    /// Down to what sleeps; empty for a primitive.
    pub trace: Vec<TraceStep>,
}

/// The function states that an object is held when it is called.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Assertion {
    pub object: IObj,
    /// As the function's own source would write it.
    pub name: String,
    pub class: Option<Class>,
    /// The rule that is broken where it is not.
    pub rule: String,
    /// Over [`Summary::inputs`], evaluated on entry.
    pub incond: Cube,
    /// Down to where that is stated; empty for a primitive.
    pub trace: Vec<TraceStep>,
}

/// The function initialises an object, and only its callers know which, or as what.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Initialisation {
    pub object: IObj,
    /// As the function's own source would write it.
    pub name: String,
    pub class: Option<Class>,
    /// Of width 1, over entry values: the object is recursive. `None`: it is not known what decides that.
    pub recursive: Option<IExpr>,
    /// The object that keeps the number by which the one above is decided: an attribute.
    pub kept_in: Option<IObj>,
}

/// The function accesses what a pointer leads to: its caller must see to it that it leads somewhere.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Use {
    /// What the pointer leads to.
    pub object: IObj,
    /// As the function's own source would write the pointer.
    pub name: String,
    /// Over [`Summary::inputs`], evaluated on entry: where this holds, the access is made.
    pub incond: Cube,
    /// What the world outside the program answers decides as well whether it is made, and nothing else does.
    pub answered: bool,
    /// A callee of which that is not known may have put another pointer there before.
    pub changed: bool,
    /// The function ends the program behind it, and comes back on other ways.
    pub ends: bool,
    /// Down to the access; empty for a primitive.
    pub trace: Vec<TraceStep>,
}

/// Whether a function's result, a pointer, may be null.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum NullResult {
    /// As the result's value says.
    #[default]
    Unknown,
    /// It is when the function fails, which its callers have to look at.
    May,
    /// It is on some of the function's paths, for reasons of its own, be they failures or not: there is nothing to be found.
    AtTimes,
    Never,
}

/// Objects that the function moves between states and that its callers have no name for.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Unnamed {
    pub class: Class,
    pub machine: String,
    /// Calls down to where they are moved.
    pub calls: u8,
}

/// What a caller needs to know of a function.
/// Bounds of a result, of a primitive that says so.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct ResultRange {
    /// The least number. With one the result is signed.
    pub least: Option<i32>,
    /// The parameter that it is never greater than.
    pub most: Option<u32>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Summary {
    /// P_in: conditions over entry values.
    pub inputs: Vec<IExpr>,
    /// P_out: conditions over exit values.
    pub outputs: Vec<IExpr>,
    /// M.
    pub modified: Vec<Modified>,
    /// What lies in the blocks that the function has made and returns, or leaves where a parameter leads, as far as it is constants and arguments.
    pub contents: Vec<Modified>,
    pub objects: Vec<SummaryObject>,
    /// R, in the order of objects, then of conditions.
    pub rows: Vec<Row>,
    /// When it may sleep in the hands of its callers: where it does not with an object of its own held, which
    /// is reported in it, nor after it has given up an object of theirs.
    pub sleeps: Vec<Sleep>,
    /// What must be held where it is called, if the function itself has no part in that.
    pub assertions: Vec<Assertion>,
    pub unnamed: Vec<Unnamed>,
    /// It, or a function that it calls, moves objects that it has no name for, be they among [`Self::unnamed`] or not.
    pub moves_more: bool,
    pub initialises: Vec<Initialisation>,
    /// What it accesses in any case, or under conditions that its callers know.
    pub uses: Vec<Use>,
    /// The parameter that says how much of that it accesses, of a primitive: nothing if it is 0.
    pub size: Option<u32>,
    /// What a primitive writes.
    pub fills: Option<Fill>,
    /// Parameters that may be found elsewhere when it has returned.
    pub keeps: Vec<u32>,
    /// A parameter among them that is not found elsewhere where this condition on the result has this value: what could not be put into a full table.
    pub keeps_unless: Vec<(u32, IExpr, bool)>,
    /// Parameters that lead to pointers which may be found elsewhere when it has returned.
    pub keeps_contents: Vec<u32>,
    /// From this argument on, behind the parameters, those that are pointers may be found elsewhere afterwards, and what they lead to may be changed.
    pub keeps_from: Option<u32>,
    /// So may those of a list of variable arguments that it gets.
    pub keeps_listed: bool,
    pub null_result: NullResult,
    /// Of width 1, over entry values: if it does not hold, a result that may be null is not. `None`: it always does.
    pub null_when: Option<IExpr>,
    /// The same of the null for which `null_result` says the reason, a failure or another one of the function's own: besides, it is null
    /// where the arguments alone, or what it finds in memory, say so.
    pub null_reason_when: Option<IExpr>,
    /// The parameter that leads to the string that the result is the length of.
    pub length_of: Option<u32>,
    /// The result says how the first two parameters' strings compare.
    pub compares: Option<Comparison>,
    /// Between what the result lies, where no more is known of it.
    pub range: ResultRange,
    /// The parameter that is a format as `printf` has it: it says which of the arguments behind it are text that is read.
    pub format: Option<u32>,
    /// The result is what the world outside the program has answered: no caller and no callee sees to it that it is the one or the other.
    pub outside: bool,
    /// Called again with the same arguments, it has the same result, until something is written or a function is called that may change it.
    pub repeats: bool,
    /// The result leads to the number of the last error.
    pub error_number: bool,
    /// The results of functions that repeat theirs which it changes, beside what it writes.
    pub changes_answers: Answers,
    /// Nothing more is known of it: it may change what it gets pointers to.
    pub opaque: bool,
    /// Seed data gives it: it was not inferred from a body.
    pub given: bool,
    /// It comes of an execution that was made cheaper to end within the budget ([`Summary::reduce`]): the function may do more.
    pub partial: bool,
    /// It may write more than M tells, itself or in a callee.
    pub writes_more: bool,
    /// The records that callees get of which it is not known what they write: those may write there.
    pub disturbs: Vec<IObj>,
    /// The result in terms of entry values, where it is known and small.
    pub result: Option<IExpr>,
    /// Control never comes back.
    pub noreturn: bool,
    /// What the result tells of what the function was called with, where not all of its value is told to callers.
    pub result_tells: Vec<ResultTells>,
    /// What holds before a call on which a failure comes about that is told of the function; only of one that nobody calls but the program.
    pub fails_when: Vec<FailsWhen>,
    /// Conditions over its parameters without which control does not come back, and whether they hold then.
    pub returns_when: Vec<(IExpr, bool)>,
    /// The function itself ends the program on some of its paths.
    pub may_end: bool,
    /// The parameters' names, for display; empty for seeds.
    pub params: Vec<String>,
}

/// How a function compares two strings.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Comparison {
    /// Letters of both cases are alike.
    pub folded: bool,
    /// The parameter that says how many bytes are compared at most.
    pub most: Option<u32>,
}

/// What a result says of whether a function has failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Sign {
    Zero,
    Nonzero,
    Negative,
}

impl Sign {
    /// The paths on which a result is so.
    fn of(self, arena: &mut Arena<'_>, result: Term) -> Guard {
        if self == Sign::Negative {
            let terms = &mut arena.formula.terms;
            let zero = terms.constant(0, terms.width(result));
            let negative = terms.slt(result, zero);
            return arena.formula.guard_of(negative);
        }
        let nonzero = arena.nonzero(result);
        let nonzero = arena.formula.guard_of(nonzero);
        nonzero.negated_if(self == Sign::Zero)
    }
}

/// What held before a call wherever the result is so.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct ResultTells {
    /// A condition on the result, and whether it holds.
    pub result: (IExpr, bool),
    /// Conditions over entry values, and whether they hold.
    pub entry: Vec<(IExpr, bool)>,
}

/// What held before a call wherever a failure comes about.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct FailsWhen {
    /// The finding that tells of it, by its number among the function's own.
    pub finding: u32,
    /// Comparisons of pointers with null, and whether they hold.
    pub pointers: Vec<(IExpr, bool)>,
    /// Other conditions over entry values, and whether they hold.
    pub others: Vec<(IExpr, bool)>,
}

impl Summary {
    /// The no-op summary: touches no object of any machine, asks for none to be held, and does not sleep.
    pub fn is_noop(&self) -> bool {
        self.assertions.is_empty() && self.is_idle()
    }

    /// Where it leaves pointers that may be null because a function has failed.
    fn leaves_null(&self) -> Vec<&IObj> {
        let modified = self.modified.iter();
        let may = modified.filter(|modified| modified.null == NullResult::May);
        may.map(|modified| &modified.object).collect()
    }

    fn is_idle(&self) -> bool {
        self.rows.is_empty() && self.sleeps.is_empty() && self.unnamed.is_empty()
    }

    /// Whether all that a caller sees of the function is what becomes of one object.
    pub fn does_nothing_else(&self) -> bool {
        let silent = self.modified.is_empty() && self.keeps.is_empty() && self.unnamed.is_empty();
        self.objects.len() == 1
            && silent
            && self.assertions.is_empty()
            && self.initialises.is_empty()
            && !(self.moves_more || self.opaque || self.partial)
    }

    /// The function touches no object of any machine and does not sleep, but asks for some to be held.
    pub fn only_asserts(&self) -> bool {
        !self.assertions.is_empty() && self.is_idle()
    }

    /// What is left to say if the execution was a cheaper one, of fewer rounds and with less known of callees: that the
    /// function may move its objects like this, on which no finding is to rest.
    pub fn reduce(&mut self) {
        self.rows
            .retain(|row| matches!(row.to, Target::State(_)) && !row.reported);
        for row in &mut self.rows {
            row.doubtful = true;
            row.contested = false;
            row.answered = false;
        }
        for object in &mut self.objects {
            object.open = true;
            object.exact = false;
            object.alone = false;
            object.only_if.clear();
            object.found_in_blocks = object.object.root.is_output();
        }
        self.modified.clear();
        self.contents.clear();
        self.sleeps.clear();
        self.assertions.clear();
        self.initialises.clear();
        self.uses.clear();
        self.null_result = NullResult::Unknown;
        self.null_when = None;
        self.null_reason_when = None;
        self.result_tells.clear();
        self.fails_when.clear();
        self.returns_when.clear();
        self.result = None;
        self.open();
    }

    /// Takes it that the function does more than is told: with all that it gets, and with objects that it has no name for.
    pub fn open(&mut self) {
        self.moves_more = true;
        self.keep_all();
        self.opaque = true;
        self.partial = true;
        self.writes_more = true;
    }

    /// Whether callers fare the same with either: what moves which object when, not how it came about or what
    /// else is written.
    pub fn acts_like(&self, other: &Summary) -> bool {
        let same_object = |one: &SummaryObject, other: &SummaryObject| {
            (&one.object, &one.machine, &one.only_if)
                == (&other.object, &other.machine, &other.only_if)
                && (one.optional, one.open, one.alone) == (other.optional, other.open, other.alone)
                && (one.leads_back, one.found_in_blocks)
                    == (other.leads_back, other.found_in_blocks)
                && (one.shared, &one.left_at) == (other.shared, &other.left_at)
        };
        let same_row = |one: &Row, other: &Row| {
            let Row { trace, .. } = one;
            *one == Row {
                trace: trace.clone(),
                ..other.clone()
            }
        };
        let same_sleep =
            |one: &Sleep, other: &Sleep| (&one.incond, &one.there) == (&other.incond, &other.there);
        let same_assertion = |one: &Assertion, other: &Assertion| {
            (&one.object, &one.rule, &one.incond) == (&other.object, &other.rule, &other.incond)
        };
        let same_use = |one: &Use, other: &Use| {
            (&one.object, &one.incond, one.answered, one.changed)
                == (&other.object, &other.incond, other.answered, other.changed)
        };
        self.inputs == other.inputs
            && self.outputs == other.outputs
            && (self.noreturn, self.may_end) == (other.noreturn, other.may_end)
            && self.result_tells == other.result_tells
            && self.returns_when == other.returns_when
            && self.partial == other.partial
            && self.unnamed == other.unnamed
            && (self.moves_more, self.writes_more) == (other.moves_more, other.writes_more)
            && self.disturbs == other.disturbs
            && self.leaves_null() == other.leaves_null()
            && self.initialises == other.initialises
            && self.keeps_like(other)
            && self.null_result == other.null_result
            && self.null_when == other.null_when
            && self.null_reason_when == other.null_reason_when
            && (self.outside, self.range) == (other.outside, other.range)
            && (self.repeats, self.changes_answers) == (other.repeats, other.changes_answers)
            && all_alike(&self.uses, &other.uses, same_use)
            && all_alike(&self.objects, &other.objects, same_object)
            && all_alike(&self.rows, &other.rows, same_row)
            && all_alike(&self.sleeps, &other.sleeps, same_sleep)
            && all_alike(&self.assertions, &other.assertions, same_assertion)
    }

    /// Whether both leave the same where others may find it.
    pub fn keeps_like(&self, other: &Summary) -> bool {
        self.keeps == other.keeps
            && self.keeps_unless == other.keeps_unless
            && self.keeps_contents == other.keeps_contents
            && (self.keeps_from, self.keeps_listed) == (other.keeps_from, other.keeps_listed)
    }

    /// Takes it that the arguments which it stores somewhere may be found elsewhere, too.
    pub fn keep_stored(&mut self) {
        let mut stored = BTreeSet::new();
        for value in self
            .modified
            .iter()
            .filter_map(|modified| modified.value.as_ref())
        {
            value.each(&mut |part| {
                let object = match part {
                    IExpr::Value { object, .. } if object.path.is_empty() => object,
                    IExpr::Address(object) => object,
                    _ => return,
                };
                if let Root::Param(index) = object.root {
                    stored.insert(index);
                }
            });
        }
        self.keeps_unless
            .retain(|(param, _, _)| !stored.contains(param));
        stored.extend(&self.keeps);
        self.keeps = stored.into_iter().collect();
    }

    /// Takes it that all that it gets may be found elsewhere afterwards.
    pub fn keep_all(&mut self) {
        self.keeps = (0..self.params.len() as u32).collect();
        self.keeps_unless.clear();
        self.keeps_contents = self.keeps.clone();
    }

    /// The bits of the result, as far as its conditions tell.
    pub fn result_width(&self) -> Option<u16> {
        let mut found = None;
        for output in &self.outputs {
            output.each(&mut |part| {
                if let IExpr::Value { object, width, .. } = part
                    && object.root == Root::Return
                    && object.path.is_empty()
                {
                    found = Some(*width);
                }
            });
        }
        found
    }

    /// Whether seed data tells what it does to objects: a primitive has no inside.
    pub fn is_primitive(&self) -> bool {
        self.given && !(self.rows.is_empty() && self.assertions.is_empty())
    }

    /// Whether callers get a value that depends on the state that an object was in, to restore it later: `local_irq_save`.
    pub fn saves_state(&self) -> bool {
        let mut tells = false;
        let stored = self
            .modified
            .iter()
            .filter_map(|modified| modified.value.as_ref());
        for value in stored.chain(&self.result) {
            value.each(&mut |part| tells |= matches!(part, IExpr::InState { .. }));
        }
        tells
    }
}

/// Whether two lists are as long as each other and alike at each place.
fn all_alike<T>(one: &[T], other: &[T], alike: impl Fn(&T, &T) -> bool) -> bool {
    one.len() == other.len() && one.iter().zip(other).all(|(one, other)| alike(one, other))
}
