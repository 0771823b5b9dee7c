//! Whether an obligation that nobody discharges can be nothing but a mistake.
//!
//! In: an obligation that is not discharged, and what callers make of it. Out: whether it is certain, and the caller that makes it
//! so.

use std::ops::ControlFlow;

use super::{Matching, Node};
use crate::finding::TraceStep;
use crate::judge::obligation::{Kind, Obligation, OtherHalf, Use};
use crate::program::FunctionId;

/// What makes an obligation that is not discharged a mistake for sure.
pub(super) enum Certainty<'p> {
    None,
    /// The function and what others do with objects of the class.
    OfItself,
    /// A caller hands in an object with which nobody else has to do: the way from there.
    ByCaller(&'p [TraceStep]),
}

impl<'p> Matching<'p> {
    pub(super) fn certainty(
        &self,
        function: FunctionId,
        obligation: &'p Obligation,
    ) -> Certainty<'p> {
        let above = obligation.place.filter(|_| obligation.inherited.is_none());
        if let Some(above) = above.and_then(|place| self.certain_above((function, place))) {
            return Certainty::ByCaller(&above.finding.trace);
        }
        match obligation.processor.is_some() || self.is_certain_of_itself(function, obligation) {
            true => Certainty::OfItself,
            false => Certainty::None,
        }
    }

    /// The obligation of a caller, or of one of its callers, that this one becomes there, where the object is one that no other function has
    /// the other half of. The function itself may know its object as a parameter only, which is any object of its type.
    fn certain_above(&self, start: Node) -> Option<&'p Obligation> {
        self.find_above(start, |caller, usage| {
            let Use::PassedOn(place) = usage else {
                return ControlFlow::Continue(None);
            };
            let above = (caller, *place);
            match self.own.get(&above) {
                Some(&obligation)
                    if obligation.finding.explanations.is_empty()
                        && self.is_alone(caller, obligation) =>
                {
                    ControlFlow::Break(obligation)
                }
                known => ControlFlow::Continue(known.map(|_| above)),
            }
        })
    }

    /// Whether an obligation that is not discharged can be nothing but a mistake, because the function has the other half at other
    /// times; or because it is the function's own, and no other function of the program has the other half for an object
    /// of the same class, if only at times or without a name for it; or because all others for whom the same callee takes
    /// an object give it back, or for whom it gives one back have taken it, and nobody leaves such an object held.
    fn is_certain_of_itself(&self, function: FunctionId, obligation: &Obligation) -> bool {
        if obligation.other_half != OtherHalf::Never {
            return true;
        }
        let Some((node, inherited)) = self.inherited(function, obligation) else {
            return obligation.inherited.is_none() && self.is_alone(function, obligation);
        };
        let uses = self.uses.get(&node).into_iter().flatten();
        let others = uses.filter(|(user, _)| self.program.is_another(*user, function));
        let discharged: Vec<bool> = others
            .map(|(_, usage)| **usage == Use::Discharged)
            .collect();
        if !discharged.contains(&true) {
            return false;
        }
        let of_all = !discharged.contains(&false);
        let (lock_function, held) = (
            self.is_lock_function(node.0, inherited),
            obligation.kind == Kind::Held,
        );
        match (lock_function, of_all) {
            (false, false) => false,
            (false, true) if held => true,
            _ => self.is_alone(function, obligation),
        }
    }

    /// Whether a function stands for a primitive: it does to any object that it gets what its obligation tells, or it is one of a pair of lock
    /// functions. What becomes of the object is its callers' affair alone.
    fn is_lock_function(&self, function: FunctionId, obligation: &Obligation) -> bool {
        let (functions, kind) = (&self.lock_functions, obligation.kind);
        let mut classes = obligation.classes.iter();
        classes.all(|class| functions.is_paired(self.program, function, (kind, class)))
    }
}
