//! A function returns the address of a variable of its own, which is gone when it has returned.
//!
//! In: the result and the exit's state. Out: one failure for each variable. An address that is stored is none: what has stored it
//! may take it back, or wants to know how deep the stack is.

use super::findings::{Failing, Findings, Place, possible_unchanged};
use crate::finding::ExplanationKind as Kind;
use crate::ir::{Body, RetTy, Ty};
use crate::sat::oracle::Oracle;
use crate::summary::infer::Exit;
use crate::summary::trace;
use crate::symbolic::execution::Execution;
use crate::symbolic::region::RegionKind;

impl Findings<'_> {
    /// Addresses of the function's own variables that it returns.
    pub fn returned_locals(
        &mut self,
        execution: &Execution,
        oracle: &mut Oracle<'_>,
        exit: &Exit<'_>,
        body: &Body,
    ) {
        let pointer = matches!(body.ret, RetTy::Scalar(Ty::Ptr));
        let (Some(rule), Some(result)) = (self.property().returned_local(), exit.result) else {
            return;
        };
        for (guard, loc) in oracle.locations(result).to_vec() {
            let local = matches!(oracle.regions.kind(loc.region), RegionKind::Local { .. });
            if !pointer || !local {
                continue;
            }
            let paths = oracle.formula.guards.and(exit.state.guard, guard);
            let Some(model) = oracle.model(paths) else {
                continue;
            };
            let Some(event) = trace::returns(execution, oracle, &model) else {
                continue;
            };
            let name = oracle.name_of(loc);
            let end = (execution.log.ops.len(), execution.log.branches.len());
            let mut steps = trace::decisions(execution, oracle, &model, paths, end);
            steps.push(trace::returned_local(&event.site, &name));
            let place = Place::of(&event.site);
            if let Some(mut finding) = self.finding(rule, place, &name, "", steps) {
                if !possible_unchanged(execution, oracle, paths) {
                    finding.explain_by(Kind::ChangedByCallee);
                }
                self.keep_value(finding, Failing::Otherwise);
            }
        }
    }
}
