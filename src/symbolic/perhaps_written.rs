//! What a callee may have written to of which that is not known.
//!
//! In: the log of an execution, a place in memory. Out: whether such a callee was called before something. Execution goes on as if it had left
//! the place alone (DESIGN §5), but nothing that is told should rest on that.

use super::arena::Arena;
use super::execution::Execution;
use super::guard::{Guard, Guards};
use super::log::{Log, Unknowns};
use super::origin::Origin;
use super::region::{Loc, RegionKind};
use super::term::{Node, Term, Var};

impl Log {
    /// How much of what callees do that is not known has been logged so far.
    pub fn unknowns(&self) -> Unknowns {
        Unknowns {
            calls: self.unknown_calls.len(),
            disturbed: self.disturbed.len(),
        }
    }

    /// The paths of the calls before that, of functions that a pointer names and that may be any.
    pub fn calls_of_any(&self, before: Unknowns) -> impl Iterator<Item = Guard> {
        let calls = self.unknown_calls[..before.calls].iter();
        calls.filter(|call| call.indirect).map(|call| call.guard)
    }
}

impl Arena<'_> {
    /// The place in memory that a value was found in on entry.
    pub fn initial_place(&self, value: Term) -> Option<Loc> {
        match *self.formula.terms.node(value) {
            Node::Var(var) => self.place_of(var),
            _ => None,
        }
    }

    /// The place in memory whose value on entry an unknown is.
    pub fn place_of(&self, unknown: Var) -> Option<Loc> {
        match *self.origins.of(unknown) {
            Origin::Initial { loc, .. } => Some(loc),
            _ => None,
        }
    }
}

impl Execution {
    /// Whether on all these paths a function was called before that got what the place lies in, or what leads there, and of which it is not known
    /// what it writes; `where_known`: of those calls, the ones that are made on these paths only.
    pub fn perhaps_written(
        &self,
        arena: &mut Arena<'_>,
        (place, where_known): (Loc, Option<Guard>),
        before: Unknowns,
        paths: Guard,
    ) -> bool {
        let way = arena.access_path(place.region);
        // Whoever is outside the program finds what it has in common with it.
        let is_common = way.last().is_some_and(|&(region, _)| {
            matches!(arena.regions.kind(region), RegionKind::Symbol(name) if name.file.is_none())
        });
        let disturbed = self.log.disturbed[..before.disturbed].iter();
        let disturbed = disturbed
            .filter(|event| event.open && way.iter().any(|&(region, _)| region == event.region));
        let calls = self.log.unknown_calls[..before.calls].iter();
        let calls = calls.filter(|_| is_common).map(|call| call.guard);
        let guards = &mut arena.formula.guards;
        let mut written = Guard::FALSE;
        for called in disturbed.map(|event| event.guard).chain(calls) {
            if where_known.is_none_or(|known| guards.implies(called, known)) {
                written = guards.or(written, called);
            }
        }
        written != Guard::FALSE && guards.implies(paths, written)
    }

    /// Whether on some of these paths a function, other than the one that is called now, got a record of which it is not known what it writes there.
    pub fn perhaps_written_any(&self, guards: &mut Guards, paths: Guard) -> bool {
        let before = self.log.disturbed.iter();
        let mut before = before.filter(|event| event.open && event.call != self.log.call);
        before.any(|event| !guards.excludes(paths, event.guard))
    }
}
