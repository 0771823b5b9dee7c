//! Counterparts: functions that do the other half of what a finding reports. A lock that one function leaves held may
//! be released by its counterpart.
//!
//! In: the findings of all functions, and what each function takes and releases. Out: the findings that a counterpart
//! explains.

use rustc_hash::FxHashMap;

use super::{Explained, Matching};
use crate::finding::ExplanationKind;
use crate::judge::obligation::{Ambiguous, ByName, Kind, Place};
use crate::judge::record::{Record, with_ids};
use crate::program::FunctionId;
use crate::symbolic::class::Class;

/// Uncalled functions that release what another uncalled function of their file takes, with the object's class, and
/// that other function.
pub(super) type Halves<'p> = FxHashMap<(FunctionId, &'p Class), FunctionId>;

pub(super) struct Explanations<'p> {
    pub(super) explained: Explained,
    pub(super) halves: Halves<'p>,
}

/// The counterpart that explains a finding, if there is one. Another function raises the semaphore, which then
/// signals an event and locks nothing. Or another operation of the same table releases the object, and the table's
/// user knows when to call which. Or a caller also calls a function that releases the object on some paths. Or the
/// function stores a function that releases it later, or starts a thread that does so while the function waits to
/// take it a second time.
pub(super) fn explanations<'p>(
    matching: &Matching<'_>,
    records: &'p [Option<Record>],
) -> Explanations<'p> {
    let mut signals: FxHashMap<&Class, Vec<FunctionId>> = FxHashMap::default();
    for (id, record) in with_ids(records) {
        let raised = record.facts.obligations.raised.iter();
        let raised = raised.filter(|(_, place)| !matching.is_used(id, *place));
        for (class, _) in raised {
            signals.entry(class).or_default().push(id);
        }
    }
    let mut found = Explanations {
        explained: Explained::default(),
        halves: Halves::default(),
    };
    for (id, record) in with_ids(records) {
        for ambiguous in &record.facts.obligations.ambiguous {
            let mut explain = |kind: ExplanationKind, other: Option<FunctionId>| {
                let kinds = found.explained.entry((id, ambiguous.finding)).or_default();
                kinds.entry(kind).or_insert(other);
            };
            if matching.may_be_one_half(id, ambiguous) {
                explain(ExplanationKind::OtherHalf, None);
            }
            if ambiguous.again
                && let Some(other) = matching.started_counterpart(id, ambiguous.class.as_ref())
            {
                explain(ExplanationKind::OtherThread, Some(other));
            }
            let Some(class) = &ambiguous.class else {
                continue;
            };
            let raisers = signals.get(class).into_iter().flatten();
            let mut raisers = raisers.filter(|raiser| matching.program.are_together(**raiser, id));
            let raiser = raisers.next().filter(|_| ambiguous.counts);
            if raiser.is_some() {
                explain(ExplanationKind::Signal, raiser.copied());
            }
            if !ambiguous.exits {
                continue;
            }
            let pair = matching.other_of_a_pair(id, class);
            let counterpart = pair
                .or_else(|| matching.counterpart_of_a_caller(id, class))
                .or_else(|| matching.named_counterpart(id, class));
            if let Some(other) = counterpart {
                explain(ExplanationKind::Counterpart, Some(other));
            }
            if let Some(other) = pair.filter(|_| raiser.is_none()) {
                found.halves.entry((other, class)).or_insert(id);
            }
        }
    }
    found
}

impl Matching<'_> {
    /// Whether a function that keeps an object at times, and never gives it back, may be half of a pair: its name says so, or
    /// another function gives such objects back that it has not taken.
    fn may_be_one_half(&self, function: FunctionId, ambiguous: &Ambiguous) -> bool {
        let Some(by_name) = ambiguous.one_half else {
            return false;
        };
        let other_half = |class| self.is_handed_over(function, Kind::Required, class);
        by_name != ByName::No || ambiguous.class.as_ref().is_none_or(other_half)
    }

    /// Another function of the same file that releases what this one takes. Neither is exported or called by name:
    /// both are operations of one table.
    fn other_of_a_pair(&self, function: FunctionId, class: &Class) -> Option<FunctionId> {
        let file = |id: FunctionId| self.program.function(id).name.file.as_ref();
        let file_of_both = file(function).filter(|_| !self.named.contains(&function))?;
        let others = self.hands_over.get(&(Kind::Required, class))?;
        let mut others = others.iter().filter(|(id, _)| !self.named.contains(id));
        let other = others.find(|&&(id, _)| {
            self.program.is_another(id, function) && file(id) == Some(file_of_both)
        });
        other.map(|(id, _)| *id)
    }

    /// A function that one of the callers also calls, and that releases, on some paths only, what this one takes on
    /// some paths only: both depend on the same condition.
    fn counterpart_of_a_caller(&self, function: FunctionId, class: &Class) -> Option<FunctionId> {
        let callers = self.callers.get(&function)?;
        let mut others = self.hands_over.get(&(Kind::Required, class))?.iter();
        let other = others.find(|(other, at_times)| {
            let callers_of_other = self.callers.get(other);
            let both = callers_of_other.is_some_and(|others| !others.is_disjoint(callers));
            *at_times && both && self.program.is_another(*other, function)
        });
        other.map(|(other, _)| *other)
    }

    /// A function that releases what this one takes, and a pointer to which this one stores, to be called later.
    fn named_counterpart(&self, function: FunctionId, class: &Class) -> Option<FunctionId> {
        let mut others = self.hands_over.get(&(Kind::Required, class))?.iter();
        let callees = &self.program.function(function).callees;
        let other = others.find(|&&(other, _)| {
            let mut named = callees.iter().filter(|callee| callee.taken);
            named.any(|callee| callee.function == Some(other))
        });
        other.map(|(other, _)| *other)
    }

    /// A function that releases such an object without having taken it, and a pointer to which this one passes on or
    /// stores: mostly the start of another thread. Then to take the object a second time is to wait for that thread.
    fn started_counterpart(
        &self,
        function: FunctionId,
        class: Option<&Class>,
    ) -> Option<FunctionId> {
        let taken = self.program.function(function).callees.iter();
        let taken = taken.filter(|callee| callee.taken);
        let mut others = taken.filter_map(|callee| callee.function);
        others.find(|&other| match class {
            Some(class) => {
                let needing = self.hands_over.get(&(Kind::Required, class));
                let mut needing = needing.into_iter().flatten();
                needing.any(|(id, _)| *id == other)
            }
            // Known by a variable here, by a parameter there.
            None => {
                let record = self.records[other.index()].as_ref();
                let obligations = record.map(|record| &record.facts.obligations.own);
                let mut obligations = obligations.into_iter().flatten();
                obligations.any(|obligation| obligation.kind == Kind::Required)
            }
        })
    }

    /// Whether a caller, or one of its callers, holds what the function releases. True of a function that is inlined,
    /// too, since its callers are not known.
    fn is_used(&self, function: FunctionId, place: Option<Place>) -> bool {
        if self.program.function(function).small && self.mentioned.contains(&function) {
            return true;
        }
        place.is_some_and(|place| self.has_other_half_above((function, place), true))
    }
}
