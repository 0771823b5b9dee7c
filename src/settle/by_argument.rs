//! Whether callers mean what only an argument decides: that a function keeps an object.
//!
//! In: the findings about ways out that an argument alone tells apart, those that rest on what callees keep so, and what
//! callers do with it. Out: the findings that are none, and what is kept by mistake.
//!
//! It is meant if some caller gives the object back, or one further up to whom it is handed on.

use rustc_hash::FxHashSet;

use super::{Matching, Node, Settled};
use crate::finding::ExplanationKind;
use crate::judge::obligation::{Ambiguous, Obligation};
use crate::judge::record::{Record, with_ids};
use crate::program::FunctionId;

/// What functions keep by mistake, as the findings in them tell: what follows from that is told by them, too.
pub(super) type Standing = FxHashSet<Node>;

impl Matching<'_> {
    /// Settles the findings that an argument alone decides what is kept, and those that rest on such.
    pub(super) fn contested(&self, records: &[Option<Record>], settled: &mut Settled) -> Standing {
        let mut standing = Standing::default();
        for (id, record) in with_ids(records) {
            let contested = record.facts.obligations.ambiguous.iter();
            for ambiguous in contested.filter(|ambiguous| !ambiguous.keeps.is_empty()) {
                let nodes = || ambiguous.keeps.iter().map(|place| (id, *place));
                if nodes().any(|node| self.has_other_half_above(node, false)) {
                    settled.dropped.insert((id, ambiguous.finding));
                } else {
                    standing.extend(nodes());
                    if self.is_interface(id, ambiguous) {
                        let kinds = settled
                            .explained
                            .entry((id, ambiguous.finding))
                            .or_default();
                        kinds.insert(ExplanationKind::AskedFor, None);
                    }
                }
            }
        }
        for (id, record) in with_ids(records) {
            for conditional in &record.facts.obligations.conditional {
                let mut on = conditional.on.iter().filter_map(|(callee, place)| {
                    let callee = self.program.function(id).callee(callee)?;
                    Some((callee.function?, *place))
                });
                if on.any(|node| self.is_by_mistake(&standing, node)) {
                    settled.dropped.insert((id, conditional.finding));
                }
            }
        }
        standing
    }

    /// Whether an obligation of a function comes from what a callee, or one of its callees, keeps by mistake.
    pub(super) fn rests_on(
        &self,
        standing: &Standing,
        function: FunctionId,
        obligation: &Obligation,
    ) -> bool {
        let inherited = self.inherited(function, obligation);
        inherited.is_some_and(|(node, _)| self.is_by_mistake(standing, node))
    }

    fn is_by_mistake(&self, standing: &Standing, node: Node) -> bool {
        let mut seen: FxHashSet<Node> = FxHashSet::default();
        let mut next = Some(node);
        while let Some(node) = next.filter(|node| seen.insert(*node)) {
            if standing.contains(&node) {
                return true;
            }
            let obligation = self.own.get(&node);
            next = obligation.and_then(|obligation| Some(self.inherited(node.0, obligation)?.0));
        }
        false
    }

    /// Whether nobody is seen to ask for what a function keeps, and the argument is there for nothing else: callers that
    /// are not in the tree may.
    fn is_interface(&self, function: FunctionId, ambiguous: &Ambiguous) -> bool {
        let mut places = ambiguous.keeps.iter();
        ambiguous.for_release_only
            && places.all(|place| !self.uses.contains_key(&(function, *place)))
    }
}
