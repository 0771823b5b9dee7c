//! Which objects nobody else knows yet, or any more: those that a function has made or sets up, and those that it ends.
//!
//! In: the calls of all functions, with what their arguments lead to. Out: what of the [`Standing`] says so, by fixed points over the call graph.

use std::collections::BTreeSet;

use super::{MAX_ROUNDS, Standing};
use crate::judge::guarded::{Called, Place, Root};
use crate::program::FunctionId;
use crate::settle::phases;

/// Words in the names of functions that end what they are given.
const ENDING: [&str; 6] = ["free", "kfree", "kvfree", "vfree", "zfree", "destroy"];

impl Standing<'_> {
    /// The objects of which functions initialise a lock: by a call, or by storing into it, which nobody does to a lock that others may hold.
    pub(super) fn find_initialised(&mut self) {
        let taken = self.taken_in.values().flatten();
        let locks: BTreeSet<String> = taken.map(|class| class.to_string()).collect();
        for id in self.program.ids() {
            let Some(accesses) = self.accesses(id) else {
                continue;
            };
            let mut initialised = accesses.initialised.clone();
            let written = accesses.members.iter().filter(|access| access.write);
            for access in written {
                let member = access.member.to_string();
                // The lock itself, or a member around it.
                let within = locks.range(member.clone()..);
                let mut within = within.map_while(|lock| lock.strip_prefix(&member));
                let is_lock = within.any(|rest| rest.is_empty() || rest.starts_with('.'));
                initialised.extend(access.place.objects.first().filter(|_| is_lock));
            }
            self.initialised[id.index()] = initialised;
        }
    }

    /// Whether a function's name says that nobody else works at the time on an object that it is given.
    pub fn is_by_itself(&self, id: FunctionId, place: &Place) -> bool {
        self.sets_up(id, place) || self.tears_down(id, place)
    }

    /// Whether it may say so: of some part of the object, or of what no parameter leads to.
    pub fn may_be_by_itself(&self, id: FunctionId, place: &Place) -> bool {
        let name = &self.program.function(id).name.name;
        let last = self.is_last(id, place) || !matches!(place.root, Root::Param(_));
        let first = place.root == Root::Param(0);
        phases::sets_up(name) && (first || last) || phases::tears_down(name) && last
    }

    /// Whether a function's name says that it sets an object up: the first or the last that it is given.
    fn sets_up(&self, id: FunctionId, place: &Place) -> bool {
        let is_object = place.root == Root::Param(0) || self.is_last(id, place);
        is_object && phases::is_set_up(&self.program.function(id).name.name)
    }

    /// Whether a function's name says that it tears an object down: the last that it is given, as for what a call ends.
    fn tears_down(&self, id: FunctionId, place: &Place) -> bool {
        self.is_last(id, place) && phases::is_tear_down(&self.program.function(id).name.name)
    }

    /// Whether an object is the last that a function is given.
    fn is_last(&self, id: FunctionId, place: &Place) -> bool {
        let Root::Param(number) = place.root else {
            return false;
        };
        self.last_pointer(id).is_none_or(|last| last == number)
    }

    /// The parameters that functions end.
    pub(super) fn find_ends(&mut self) {
        for _ in 0..MAX_ROUNDS {
            let mut changed = false;
            for id in self.program.ids() {
                let Some(accesses) = self.accesses(id) else {
                    continue;
                };
                let mut ended = Vec::new();
                for call in &accesses.calls {
                    for (_, place) in self.ended_by(id, call) {
                        if let Root::Param(number) = place.root
                            && place.objects.len() == 1
                        {
                            ended.push(number);
                        }
                    }
                }
                for number in ended {
                    changed |= self.ends[id.index()].insert(number);
                }
            }
            if !changed {
                break;
            }
        }
    }

    /// What a call ends of what it is given: what the callee ends, and the last pointer where its name says that it ends something (the pool or cache
    /// that an object is from comes before the object).
    fn ended_by<'c>(
        &'c self,
        caller: FunctionId,
        call: &'c Called,
    ) -> impl Iterator<Item = (u32, &'c Place)> {
        let callee = self.callee(caller, &call.callee);
        let by_name = call
            .callee
            .name
            .split('_')
            .any(|word| ENDING.contains(&word));
        let last = call.arguments.iter().rposition(Option::is_some);
        let last = last.filter(|_| by_name);
        call.arguments
            .iter()
            .enumerate()
            .filter_map(move |(index, place)| {
                let number = u32::try_from(index).ok()?;
                let by_callee =
                    callee.is_some_and(|callee| self.ends[callee.index()].contains(&number));
                let ends = by_callee || last == Some(index);
                place.as_ref().filter(|_| ends).map(|place| (number, place))
            })
    }

    /// Whether a function ends an object, or one that it was found through.
    pub fn is_ended(&self, id: FunctionId, place: &Place) -> bool {
        if let Root::Param(number) = place.root
            && self.ended[id.index()].get(number as usize) == Some(&true)
        {
            return true;
        }
        let Some(accesses) = self.accesses(id) else {
            return false;
        };
        let mut ended = accesses
            .calls
            .iter()
            .flat_map(|call| self.ended_by(id, call));
        ended.any(|(_, ended)| {
            let object = ended.objects.first();
            object.is_some_and(|object| place.objects.contains(object))
        })
    }

    /// Whether nobody else knows an object yet: the function has it new, or sets it up, or all its callers do.
    pub fn is_fresh(&self, id: FunctionId, place: &Place) -> bool {
        let initialised = &self.initialised[id.index()];
        let mut objects = place.objects.iter();
        if objects.any(|object| initialised.contains(object)) {
            return true;
        }
        match place.root {
            Root::New => true,
            Root::Param(number) => {
                let fresh = self.fresh[id.index()].get(number as usize);
                fresh.is_some_and(|fresh| *fresh)
            }
            Root::Other => false,
        }
    }

    /// Which parameters are always new, and which are always ended by those who pass them.
    pub(super) fn find_parameters(&mut self) {
        let mut widths = vec![0; self.open.len()];
        for id in self.program.ids() {
            for &(caller, number) in &self.callers[id.index()] {
                if let Some(call) = self.call(caller, number) {
                    widths[id.index()] = call.arguments.len().max(widths[id.index()]);
                }
            }
            let unknown = self.open[id.index()] || self.callers[id.index()].is_empty();
            let width = if unknown { 0 } else { widths[id.index()] };
            self.fresh[id.index()] = vec![true; width];
            self.ended[id.index()] = vec![true; width];
        }
        for _ in 0..MAX_ROUNDS {
            let fresh = self.of_parameters(&self.fresh, |caller, place| {
                self.is_fresh(caller, place) || self.sets_up(caller, place)
            });
            let ended = self.of_parameters(&self.ended, |caller, place| {
                self.is_ended(caller, place) || self.tears_down(caller, place)
            });
            if fresh == self.fresh && ended == self.ended {
                return;
            }
            (self.fresh, self.ended) = (fresh, ended);
        }
        // It has not come to rest: nothing is taken for granted.
        self.fresh.iter_mut().for_each(Vec::clear);
        self.ended.iter_mut().for_each(Vec::clear);
    }

    fn of_parameters(
        &self,
        known: &[Vec<bool>],
        is: impl Fn(FunctionId, &Place) -> bool,
    ) -> Vec<Vec<bool>> {
        let mut next = known.to_vec();
        for (parameters, callers) in next.iter_mut().zip(&self.callers) {
            for (number, parameter) in parameters.iter_mut().enumerate() {
                let mut callers = callers.iter().copied();
                *parameter = *parameter
                    && callers.all(|(caller, at)| {
                        let call = self.call(caller, at);
                        let place = call.and_then(|call| call.arguments.get(number));
                        let place = place.and_then(Option::as_ref);
                        place.is_some_and(|place| is(caller, place))
                    });
            }
        }
        next
    }

    /// The last of the pointers that a function is given, as far as its callers show.
    pub fn last_pointer(&self, id: FunctionId) -> Option<u32> {
        let calls = self.callers[id.index()].iter();
        let calls = calls.filter_map(|&(caller, number)| self.call(caller, number));
        let last = calls.filter_map(|call| call.arguments.iter().rposition(Option::is_some));
        last.max().and_then(|last| u32::try_from(last).ok())
    }
}
