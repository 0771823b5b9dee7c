//! Accesses to what several threads may share: members of records and global objects (Engler et al., *Bugs as Deviant Behavior*, SOSP'01, §5).
//!
//! In: the addresses that the analysed function reads and writes, and its calls. Out: [`MemberEvent`]s and [`GivenEvent`]s, and for a location the
//! [`Class`] that all instances of the member share, by the whole way from the record that a pointer leads to (`struct foo.list.next`).

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::arena::Arena;
use super::class::Class;
use super::exec::{ArgValue, Executor};
use super::frame::Frame;
use super::guard::Guard;
use super::log::{Access, GivenEvent, MemberEvent};
use super::naming::Link;
use super::region::{FrameId, Loc, RegionKind, SymbolicOffset};
use super::state::State;
use super::term::Term;
use crate::ir::SymbolName;

/// Members one within the other that are followed.
const MAX_NESTED: usize = 8;

/// A member of a record, as the source names both.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct MemberOf {
    pub record: Arc<str>,
    pub name: Arc<str>,
}

impl MemberOf {
    /// Whether no place is both: members of two records that differ in their names, too. A record may begin as another one does, like the head of a
    /// list whose elements lead back to it.
    pub(super) fn is_apart(&self, other: &MemberOf) -> bool {
        self.record != other.record && self.name != other.name
    }
}

impl Executor<'_> {
    /// Logs an access by the analysed function's own text, if that is asked for.
    pub(super) fn note_access(
        &mut self,
        frame: &Frame<'_>,
        state: &State,
        address: Term,
        how: Access,
    ) {
        if !self.limits.members || frame.id != FrameId(0) {
            return;
        }
        let Some(site) = self.site.clone() else {
            return;
        };
        for &(guard, loc) in self.arena.locations(address).iter() {
            let guard = self.arena.formula.guards.and(state.guard, guard);
            let shared = matches!(
                self.arena.regions.kind(loc.region),
                RegionKind::Symbol(_) | RegionKind::Environment { .. }
            );
            if shared && guard != Guard::FALSE {
                self.execution.log.members.push(MemberEvent {
                    address,
                    loc,
                    guard,
                    how,
                    order: self.execution.log.ops.len(),
                    given: self.execution.log.given.len(),
                    site: site.clone(),
                });
            }
        }
    }

    /// Logs a call by the analysed function's own text, if that is asked for.
    pub(super) fn note_given(
        &mut self,
        frame: &Frame<'_>,
        state: &State,
        callee: &SymbolName,
        arguments: &[ArgValue],
    ) {
        if !self.limits.members || frame.id != FrameId(0) {
            return;
        }
        let arguments = arguments.iter().map(|argument| match argument {
            ArgValue::Scalar(value) => match self.arena.locations(*value)[..] {
                [(_, loc)] => Some(loc),
                _ => None,
            },
            ArgValue::Number(_) | ArgValue::Record { .. } => None,
        });
        let arguments = arguments.collect();
        self.execution.log.given.push(GivenEvent {
            callee: callee.clone(),
            arguments,
            guard: state.guard,
            order: self.execution.log.ops.len(),
        });
    }
}

impl Arena<'_> {
    /// The class of a member of any record of its kind, or of a global object or a part of it; `None` for what has no name, and for what
    /// lies in an object of some machine (a lock). An address that may be one of several (`*link`, where that is `&list->first` or
    /// `&node->next`) has no name of its own: then it is the location's.
    pub fn member_class_of(&mut self, address: Term, loc: Loc) -> Option<Class> {
        self.member_named(address, loc).or_else(|| {
            let address = self.regions.address(&mut self.formula.terms, loc);
            self.member_named(address, loc)
        })
    }

    fn member_named(&mut self, address: Term, loc: Loc) -> Option<Class> {
        let callees = self.callees;
        let parts = self.names.parts(address);
        if parts.is_some_and(|parts| {
            let mut records = parts.iter();
            records.any(|part| callees.is_object_type(&part.record))
        }) {
            return None;
        }
        let way = self.way_to(address);
        match self.regions.kind(loc.region) {
            RegionKind::Symbol(symbol) => {
                let member = way.map(|(_, members)| members);
                let offset = match loc.symbolic {
                    SymbolicOffset::NONE => loc.offset,
                    _ => 0,
                };
                // An element of an array is of the array's class.
                let offset = if member.is_some() { offset } else { 0 };
                Some(Class::of_global(symbol, offset, member.as_deref()))
            }
            RegionKind::Environment { .. } => {
                let (record, members) = way?;
                Class::of_member(&record, &members, 0)
            }
            _ => None,
        }
    }

    /// The record that the outermost member at an address is one of, and the members from there on, joined by points.
    fn way_to(&self, address: Term) -> Option<(String, String)> {
        let mut members: Vec<String> = Vec::new();
        let mut record = None;
        let mut at = address;
        // The first members that lie between the place at hand and the member of it that the last step came from.
        let mut within: Option<&[String]> = None;
        for _ in 0..MAX_NESTED {
            let parts = self.names.parts(at).unwrap_or_default();
            let named = parts.iter().find(|part| !part.record.is_empty());
            let outer = match within {
                None => named.map(|part| part.name.to_string()),
                Some([]) => None,
                Some(first) => Some(first.join(".")),
            };
            let outer_record = named.map(|part| part.record.to_string());
            match self.names.link(at) {
                Some(Link::Member { base, name }) => {
                    members.push(match within {
                        Some(first) if !first.is_empty() => format!("{name}.{}", first.join(".")),
                        _ => name.to_string(),
                    });
                    record = outer_record.or(record);
                    within = Some(&base.first);
                    at = base.address;
                }
                Some(Link::Element { base, .. }) => {
                    within = Some(&base.first);
                    at = base.address;
                }
                None => {
                    if let Some(outer) = outer {
                        members.push(outer);
                        record = outer_record.or(record);
                    }
                    break;
                }
            }
        }
        members.reverse();
        Some((record?, members.join(".")))
    }
}
