//! Whether an obligation is discharged: by a caller, one further up, or an entry that belongs to it.
//!
//! In: an obligation of one function. Out: whether anybody has the other half of it.

use std::collections::{BTreeSet, VecDeque};
use std::ops::ControlFlow;

use rustc_hash::FxHashSet;

use super::{Matching, Node, of_header};
use crate::judge::obligation::{ByName, Intent, Kind, Obligation, Restored, Use};
use crate::program::FunctionId;
use crate::symbolic::class::Class;

/// Calls between who holds an object and a function that gives it back without a name for it.
const MAX_CALLS_UP: u8 = 4;

impl<'p> Matching<'p> {
    pub(super) fn is_discharged(&self, function: FunctionId, obligation: &Obligation) -> bool {
        // What a header has for others to inline is judged where it is inlined.
        if self.program.function(function).small && of_header(self.program, function) {
            return true;
        }
        // Whoever moves the object back does not know where it was.
        if obligation.is_restored(Restored::Lost) {
            return false;
        }
        match obligation.place {
            Some(place) => self.node_is_discharged((function, place), obligation),
            None => self.unnamed_is_discharged(function, obligation),
        }
    }

    /// Whether callers hold what the same operation gives back in another round: a function that goes through a list gives back what one of the
    /// elements leads to, and each caller has that at the element that it knows.
    pub(super) fn is_discharged_elsewhere(
        &self,
        function: FunctionId,
        obligation: &Obligation,
    ) -> bool {
        let place = |of: &Obligation| (of.finding.line, of.finding.column);
        let record = self.records.get(function.index());
        let record = record.and_then(Option::as_ref);
        let own = record
            .into_iter()
            .flat_map(|record| &record.facts.obligations.own);
        obligation.kind == Kind::Required
            && own
                .filter(|other| other.kind == Kind::Required && other.place != obligation.place)
                .filter(|other| place(other) == place(obligation))
                .any(|other| {
                    self.some_caller_takes_part(function, other)
                        && self.is_discharged(function, other)
                })
    }

    /// Whether some caller has the other half, or passes the obligation on to its own callers.
    pub(super) fn some_caller_takes_part(
        &self,
        function: FunctionId,
        obligation: &Obligation,
    ) -> bool {
        let uses = obligation
            .place
            .and_then(|place| self.uses.get(&(function, place)));
        let mut uses = uses.into_iter().flatten();
        uses.any(|(_, usage)| matches!(usage, Use::Discharged | Use::PassedOn(_)))
    }

    /// Whether an obligation for which callers have no name is discharged.
    fn unnamed_is_discharged(&self, function: FunctionId, obligation: &Obligation) -> bool {
        self.is_discharged_by_an_entry(function, obligation, obligation)
            || self.is_held_by_callers(function, obligation)
    }

    /// Whether some caller, or one not far up, holds something of the class that the function needs where it calls it (an
    /// element of a table, found again), or nothing is known of it.
    pub(super) fn is_held_by_callers(&self, function: FunctionId, obligation: &Obligation) -> bool {
        let mut seen: FxHashSet<FunctionId> = FxHashSet::default();
        let mut work = VecDeque::from([(function, 0)]);
        while obligation.kind == Kind::Required
            && let Some((callee, calls)) = work.pop_front()
        {
            if self.unknown_callers.contains(&callee) {
                return true;
            }
            for &caller in self.callers.get(&callee).into_iter().flatten() {
                let held = self.held_at_calls(caller, callee);
                if held
                    .is_some_and(|held| obligation.classes.iter().any(|class| held.contains(class)))
                {
                    return true;
                }
                if calls < MAX_CALLS_UP && seen.insert(caller) {
                    work.push_back((caller, calls + 1));
                }
            }
        }
        false
    }

    /// The classes of what a function holds where it calls another.
    fn held_at_calls(&self, caller: FunctionId, callee: FunctionId) -> Option<&'p BTreeSet<Class>> {
        let record = self.records.get(caller.index())?.as_ref()?;
        let mut callees = self.program.function(caller).callees.iter();
        let callee = callees.find(|reference| reference.function == Some(callee))?;
        record.facts.lock_order.under_at_times.get(&callee.name)
    }

    /// Follows an obligation up the call graph.
    fn node_is_discharged(&self, start: Node, first: &Obligation) -> bool {
        // Where nothing else ever leaves such an object held, and no caller holds one, a caller that cannot say what
        // becomes of it is none that has taken it.
        let alone = first.kind == Kind::Required
            && !self.is_discharged_by_an_entry(start.0, first, first)
            && self.is_alone(start.0, first)
            && !self.is_held_by_callers(start.0, first);
        // The function gives the object back itself but where it forgets to, and nothing else ever does: nor does who calls
        // it through a pointer.
        let nobody_else = first.kind == Kind::Held
            && (first.is_on_failure() || first.is_forgotten())
            && self.is_alone(start.0, first);
        let mut seen: FxHashSet<Node> = FxHashSet::default();
        let mut work = vec![(start, first)];
        while let Some((node, obligation)) = work.pop() {
            if !seen.insert(node) {
                continue;
            }
            let (function, _) = node;
            if self.unknown_callers.contains(&function) {
                return true;
            }
            let Some(users) = self.uses.get(&node) else {
                // Its callers never come to the point, or there are none.
                let only_through_pointers = nobody_else && !self.called.contains(&function);
                if !only_through_pointers && self.may_be_called(function, obligation, alone)
                    || self.is_discharged_by_an_entry(function, obligation, first)
                {
                    return true;
                }
                continue;
            };
            for &(caller, usage) in users {
                match usage {
                    Use::Discharged => return true,
                    Use::PassedOn(place) => match self.own.get(&(caller, *place)) {
                        Some(next) if next.perhaps_discharged || next.perhaps_taken && !alone => {
                            return true;
                        }
                        Some(next) => work.push(((caller, *place), next)),
                        None if alone => {}
                        // Too much for the caller to say: it may be discharged.
                        None => return true,
                    },
                    Use::Unnamed => {
                        let obligations = self.unnamed.get(&node).into_iter().flatten();
                        let mut obligations =
                            obligations.filter(|(other, _)| *other == caller).peekable();
                        let discharged = |&(caller, obligation): &(FunctionId, &Obligation)| {
                            obligation.perhaps_discharged
                                || obligation.perhaps_taken && !alone
                                || self.unnamed_is_discharged(caller, obligation)
                        };
                        if obligations.peek().is_none() && !alone || obligations.any(discharged) {
                            return true;
                        }
                    }
                    Use::Undischarged => {}
                }
            }
        }
        false
    }

    /// Whether some caller has the other half of an obligation, or hands it on to one who does; `if_unnamed`: what to take of one
    /// whose callers cannot name the object.
    pub(super) fn has_other_half_above(&self, start: Node, if_unnamed: bool) -> bool {
        let found = self.find_above(start, |caller, usage| match usage {
            Use::Discharged => ControlFlow::Break(()),
            Use::PassedOn(place) => ControlFlow::Continue(Some((caller, *place))),
            Use::Unnamed if if_unnamed => ControlFlow::Break(()),
            Use::Unnamed | Use::Undischarged => ControlFlow::Continue(None),
        });
        found.is_some()
    }

    /// Looks at what callers do with an obligation, and goes on from there as `look` says, until it finds something.
    pub(super) fn find_above<T>(
        &self,
        start: Node,
        look: impl Fn(FunctionId, &'p Use) -> ControlFlow<T, Option<Node>>,
    ) -> Option<T> {
        let mut seen: FxHashSet<Node> = FxHashSet::default();
        let mut work = vec![start];
        while let Some(node) = work.pop() {
            if !seen.insert(node) {
                continue;
            }
            for &(caller, usage) in self.uses.get(&node).into_iter().flatten() {
                match look(caller, usage) {
                    ControlFlow::Break(found) => return Some(found),
                    ControlFlow::Continue(next) => work.extend(next),
                }
            }
        }
        None
    }

    /// Whether a function that may do the obligation's other half calls this one, or has it called, as far as can be seen. `alone`: none of
    /// those that call it by its name does.
    fn may_be_called(&self, function: FunctionId, obligation: &Obligation, alone: bool) -> bool {
        if obligation.processor.is_none() && obligation.kind == Kind::Held {
            return self.mentioned.contains(&function);
        }
        // What a library takes before it calls back is no global lock of the program's.
        let elsewhere =
            obligation.processor.is_none() && !obligation.classes.iter().any(Class::is_single);
        !alone && self.called.contains(&function)
            || elsewhere && self.handed_out.contains(&function)
    }

    /// Whether another function that may be called from elsewhere has the other half (and not only for callers in the tree
    /// all of whom do the rest, as those of a lock function's wrapper do), or this one's name says that it is
    /// there for its callers' sake. `first` is the callee's obligation that this one comes from, or the obligation itself: one that is
    /// a mistake there (kept on failure, given back on success) is no intent of those who pass it on.
    fn is_discharged_by_an_entry(
        &self,
        function: FunctionId,
        obligation: &Obligation,
        first: &Obligation,
    ) -> bool {
        if obligation.is_on_failure() || first.is_on_failure() {
            return false;
        }
        let offered = match obligation.intent {
            Intent::Nothing => false,
            Intent::Tried => !first.is_forgotten(),
            Intent::Meant => true,
        };
        let named = match obligation.by_name {
            ByName::No => false,
            ByName::UnlessStored => !self.program.function(function).stored,
            ByName::Yes => true,
        };
        offered
            || of_header(self.program, function)
            || obligation.classes.is_empty()
            || self.other_entry(function, obligation).is_some()
            || named
    }

    /// A function that may be called from elsewhere and has the other half of an obligation.
    pub(super) fn other_entry(
        &self,
        function: FunctionId,
        obligation: &Obligation,
    ) -> Option<FunctionId> {
        let half = obligation.kind.other_half();
        let with_half = |class: &Class| {
            let others = self.entries.get(&(half, class))?.iter().copied();
            let mut others = others.filter(|&other| {
                let itself = obligation.exchanged && other == function;
                !itself
                    && self.program.are_together(other, function)
                    && self.belong(other, function, obligation, class)
                    && !self.all_have_the_rest(other, half, class)
                    && !self.is_for_others(other, function, (half, class))
            });
            others.next()
        };
        obligation.classes.iter().find_map(with_half)
    }

    /// Whether an entry that takes an object is the other half of one that gives it back: no other one that
    /// does has a name more like it. (`seq_start` is that of `seq_stop`, and of nothing else.)
    fn belong(
        &self,
        other: FunctionId,
        function: FunctionId,
        obligation: &Obligation,
        class: &Class,
    ) -> bool {
        if obligation.kind == Kind::Held {
            return true;
        }
        let likeness = |one: FunctionId| {
            let words = |id: FunctionId| self.program.function(id).name.name.split('_');
            words(one)
                .filter(|word| words(other).any(|there| there == *word))
                .count()
        };
        let rivals = self.entries.get(&(obligation.kind, class));
        let mut rivals = rivals.into_iter().flatten();
        rivals.all(|&rival| likeness(rival) <= likeness(function))
    }
}
