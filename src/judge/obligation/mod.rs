//! Who gives an object back: what one function says.
//!
//! The types in which a function's obligations are kept (it returns with an object held that it took; it
//! gives back one that it has not taken), and what it does with its callees' obligations. [`crate::judge::obligation::collect`] collects them,
//! [`crate::settle`] brings them together.

pub mod collect;
mod held;
mod intent;
mod required;
mod uses;

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use crate::finding::Finding;
use crate::ir::SymbolName;
use crate::judge::requirement::Assertions;
use crate::symbolic::class::Class;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Kind {
    /// Returns with an object held that was not on entry.
    Held,
    /// Gives back an object that must be held on entry.
    Required,
}

impl Kind {
    pub fn other_half(self) -> Kind {
        match self {
            Kind::Held => Kind::Required,
            Kind::Required => Kind::Held,
        }
    }
}

/// Where an obligation stands in a function's summary: a row for what is kept, an object for what is needed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Place {
    pub kind: Kind,
    pub index: u32,
}

/// A callee's obligation.
pub type CalleeObligation = (SymbolName, Place);

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Obligation {
    pub kind: Kind,
    /// `None`: callers have no name for the object.
    pub place: Option<Place>,
    /// The object's class, and those of pointers to it that the function leaves; none for an object that is
    /// known by a variable only.
    pub classes: Vec<Class>,
    /// The callee's obligation that this one comes from.
    pub inherited: Option<CalleeObligation>,
    /// Whether the function itself has the other half, too.
    pub other_half: OtherHalf,
    /// Whether it is taken to be meant where nobody calls the function.
    pub intent: Intent,
    /// Whether the function's name says that it is there for its callers' sake.
    pub by_name: ByName,
    /// The result tells whether the object is kept, and the function itself gives it back where it is not: it does not
    /// only try for it.
    pub given_back_otherwise: bool,
    /// A callee has the other half on some paths, on which its summary may have lost: this is no finding,
    /// but the other half for others.
    pub perhaps_discharged: bool,
    /// It is about the processor, no object that callers have at hand.
    pub processor: Option<Processor>,
    /// The function's own finding, by its number, that goes if this obligation is surely discharged by nobody: it is about what
    /// becomes of an object that is held on entry.
    pub instead_of: Option<u32>,
    /// The function's own finding, by its number, that an argument alone decides whether this object is kept: while that
    /// stands it says what is wrong, and no other obligation about the object does.
    pub contested: Option<u32>,
    /// The function's own findings, by their numbers, that this may follow from: it is reported only if all of them are less grave.
    pub after: Vec<u32>,
    /// A function of which nothing is known may have taken what is given back here.
    pub perhaps_taken: bool,
    /// The function has the other half for another member of the same record: to call it once more does not help.
    pub exchanged: bool,
    /// What to report if it is not discharged.
    pub finding: Finding,
}

impl Obligation {
    /// The object is kept where the function fails, and given back where it succeeds.
    pub fn is_on_failure(&self) -> bool {
        self.other_half == OtherHalf::OnSuccess
    }

    /// See [`Processor::unusual`].
    pub fn is_unusual(&self) -> bool {
        self.processor.is_some_and(|processor| processor.unusual)
    }

    pub fn is_restored(&self, how: Restored) -> bool {
        self.processor
            .is_some_and(|processor| processor.restored == how)
    }

    /// The function keeps the object with one result and gives it back with another, and nothing says that it means to.
    pub fn is_forgotten(&self) -> bool {
        self.given_back_otherwise && self.intent == Intent::Nothing
    }
}

/// Whether a function that has one half of a pair has the other one at other times.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum OtherHalf {
    Never,
    /// The object is kept where the function fails, and given back where it succeeds.
    OnSuccess,
    /// On other paths.
    AtTimes,
}

/// What more there is to say of an obligation that is about the processor: a function that is only handed to others as a callback
/// must leave that as it came.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Processor {
    /// It comes about only where another object is held on entry: who holds that answers for it.
    pub unusual: bool,
    pub restored: Restored,
}

/// Who can restore the state that the processor was in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Restored {
    ByCallers,
    /// It is changed by itself, with nothing kept to restore it from: to shut down, say.
    Never,
    /// The function has saved the state, and nobody gets to know it: it cannot be restored.
    Lost,
}

/// What speaks for an obligation where nobody calls the function.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Intent {
    Nothing,
    /// The result tells whether an object was got that the function only tries for, as far as the function itself shows.
    Tried,
    /// The result leads to the object, or an argument says which half is wanted.
    Meant,
}

/// Whether a function's name says that it does one half for its callers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum ByName {
    No,
    /// Unless it is stored as a method, whose name is that of the method.
    UnlessStored,
    Yes,
}

/// What a function does with a callee's obligation.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Use {
    /// It has the other half.
    Discharged,
    /// It is an obligation of its own to its callers.
    PassedOn(Place),
    /// It is found where its callers cannot look.
    Unnamed,
    /// Neither: the object stays as the callee left it.
    Undischarged,
}

/// A function's part in the question who gives what back.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Obligations {
    pub own: Vec<Obligation>,
    pub uses: BTreeSet<(CalleeObligation, Use)>,
    /// The functions with an effect that it calls, not only mentions.
    pub calls: BTreeSet<SymbolName>,
    /// Those that it passes to functions of which nothing is known, as callbacks.
    pub handed_out: BTreeSet<SymbolName>,
    /// What its findings of ways out that callers cannot tell apart are about, and all those of semaphores.
    pub ambiguous: Vec<Ambiguous>,
    /// Its findings that rest on what callees keep and may not be meant to.
    pub conditional: Vec<Conditional>,
    /// The objects that it leaves in another state than it finds them in.
    pub hands_over: BTreeSet<HandOver>,
    /// The classes of the objects that it itself takes, and gives back on all its ways out.
    pub gives_back: BTreeSet<Class>,
    /// Semaphores that it raises and never lowers, with their place in its summary.
    pub raised: BTreeSet<(Class, Option<Place>)>,
    /// What it does with what its callees state to be held.
    pub assertions: Assertions,
}

impl Obligations {
    /// What is reported of those that nobody discharges.
    pub fn findings_mut(&mut self) -> impl Iterator<Item = &mut Finding> {
        self.own.iter_mut().map(|own| &mut own.finding)
    }
}

/// A finding that another function may explain.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Ambiguous {
    /// Index into the function's findings.
    pub finding: u32,
    /// `None` for an object that is known by a variable only.
    pub class: Option<Class>,
    /// The object counts: it is a semaphore.
    pub counts: bool,
    /// It is about ways out that callers cannot tell apart.
    pub exits: bool,
    /// The function keeps the object and never gives it back: whether its name says that it is there for that.
    pub one_half: Option<ByName>,
    /// It is about an object that is taken again.
    pub again: bool,
    /// Where an argument alone decides which way out is taken: what the function keeps on the one that keeps
    /// the object. No mistake if some caller gives it back.
    pub keeps: Vec<Place>,
    /// That argument is tested for the release alone.
    pub for_release_only: bool,
}

/// A finding that is none if callees were not meant to keep what they keep.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Conditional {
    /// Index into the function's findings.
    pub finding: u32,
    pub on: Vec<CalleeObligation>,
}

/// A function leaves objects in another state than it finds them in.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct HandOver {
    /// Which half of that it has.
    pub kind: Kind,
    pub class: Class,
    /// And as it finds them at other times.
    pub at_times: bool,
    /// It does nothing else: it is a lock function of the program's.
    pub only: bool,
}
