//! Functions of which an argument alone decides whether they keep an object: whether their callers mean that.
//!
//! In: the findings about exits that differ by an argument alone, the findings that rest on what such callees keep,
//! and what callers do with the kept object. Out: the findings to drop, and what is kept by mistake.
//!
//! It is meant if some caller releases the object, or passes it on to a caller of its own that does.

use rustc_hash::FxHashSet;

use super::{Matching, Node, Settled};
use crate::finding::ExplanationKind;
use crate::judge::obligation::{Ambiguous, Obligation};
use crate::judge::record::{Record, with_ids};
use crate::program::FunctionId;

/// What functions keep by mistake. The findings in those functions report it, so that nothing is reported in their
/// callers.
pub(super) type Standing = FxHashSet<Node>;

impl Matching<'_> {
    /// Decides the findings about functions of which an argument alone decides what they keep, and the findings that
    /// rest on them.
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

    /// Whether no caller in the tree asks for what a function keeps, and the argument serves nothing else: callers
    /// outside the tree may ask for it.
    fn is_interface(&self, function: FunctionId, ambiguous: &Ambiguous) -> bool {
        let mut places = ambiguous.keeps.iter();
        ambiguous.for_release_only
            && places.all(|place| !self.uses.contains_key(&(function, *place)))
    }
}
