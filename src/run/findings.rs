//! What a pass reports of a whole program.
//!
//! In: the records of all functions. Out: the findings in the tree's own functions, with what other functions, the whole program and the
//! filters say of each; those of all variants of a function as one.

use std::path::Path;

use rustc_hash::{FxHashMap, FxHashSet};

use super::checks::Pass;
use crate::finding::{ExplanationKind, Filter, Finding, TraceStep};
use crate::judge::record::{Record, with_ids};
use crate::program::{FunctionId, Program};
use crate::settle::{
    self, annotations, callers, lock_order, lost_results, recursive, requirement, results,
};
use crate::source::Sources;

/// The findings to report: those in functions of the tree's own files.
pub(super) fn of(
    program: &Program,
    records: &[Option<Record>],
    pass: &Pass,
    filter: Option<Filter>,
    root: &Path,
) -> Vec<Finding> {
    let of_tree = |id: FunctionId| program.function(id).own;
    let mut sources = Sources::default();
    let settled = settle::settle(program, records);
    let own = own(program, records, pass, &settled);
    let undischarged = settled.undischarged.into_iter();
    let undischarged = undischarged.filter(|(id, kind, finding)| {
        let function = program.function(*id);
        of_tree(*id) && !annotations::stated(&mut sources, root, function, (*kind, finding))
    });
    let undischarged = undischarged.map(|(id, _, finding)| (id, finding));
    let without = requirement::settle(program, records);
    let all = own.into_iter().chain(undischarged);
    let all = all.chain(without).chain(settled.hidden);
    let of_programs = of_programs(program, all.filter(|(id, _)| of_tree(*id)));
    let mut findings = of_one_text(program, of_programs);
    let rings = lock_order::settle(program, records, &pass.property);
    let rings = rings.into_iter().filter(|(id, _)| of_tree(*id));
    findings.extend(rings.map(|(_, finding)| finding));
    for finding in &mut findings {
        settle::macros::explain(finding, &mut sources, root);
        finding.pass(filter);
    }
    if let Some(pointers) = pass.property.pointers() {
        let about_results = findings.iter_mut();
        let about_results = about_results.filter(|finding| finding.rule == pointers.unchecked);
        results::explain(about_results.collect(), records);
    }
    lost_results::explain(findings.iter_mut().collect(), records);
    findings
}

/// The functions' own findings, with what others say of each.
fn own(
    program: &Program,
    records: &[Option<Record>],
    pass: &Pass,
    settled: &settle::Settled,
) -> Vec<(FunctionId, Finding)> {
    let recursive = recursive::settle(program, records, &pass.seeds);
    let ruled_out = callers::rule_out(program, records, pass.property.pointers());
    let mut own = Vec::new();
    for (id, record) in with_ids(records) {
        for (index, finding) in (0..).zip(&record.facts.findings) {
            if settled.dropped.contains(&(id, index)) {
                continue;
            }
            let mut finding = finding.clone();
            for (&kind, &other) in settled.explained.get(&(id, index)).into_iter().flatten() {
                settle::explain(&mut finding, program, kind, other);
            }
            if ruled_out.contains(&(id, index)) {
                finding.explain_by(ExplanationKind::CallersRuleOut);
            }
            let finding = match recursive.get(&(id, index)) {
                Some(verdict) => verdict.apply(finding),
                None => Some(finding),
            };
            own.extend(finding.map(|finding| (id, finding)));
        }
    }
    own
}

/// The findings of all variants of a function as those of one, each with the programs that it is in if it is not in all.
fn of_programs(
    program: &Program,
    findings: impl Iterator<Item = (FunctionId, Finding)>,
) -> Vec<(FunctionId, Finding)> {
    let mut kept: Vec<(FunctionId, Finding)> = Vec::new();
    let mut known: FxHashMap<_, Vec<(usize, FxHashSet<FunctionId>)>> = FxHashMap::default();
    for (id, finding) in findings {
        let function = program.function(id);
        if function.variant.is_none() {
            kept.push((id, finding));
            continue;
        }
        let key = (
            function.definition,
            finding.rule.clone(),
            (finding.file.clone(), finding.line, finding.column),
            finding.object.clone(),
        );
        let same = known.entry(key).or_default();
        // A variant that has two of them has two findings.
        match same
            .iter_mut()
            .find(|(_, variants)| !variants.contains(&id))
        {
            Some((at, variants)) => {
                variants.insert(id);
                take_more_certain(&mut kept[*at].1, finding);
            }
            None => {
                same.push((kept.len(), FxHashSet::from_iter([id])));
                kept.push((id, finding));
            }
        }
    }
    for (at, variants) in known.into_values().flatten() {
        let (id, finding) = &mut kept[at];
        finding.programs = program.programs_of_variants(*id, &variants);
    }
    kept
}

/// Of two findings that are one the level of the more certain, with its explanations.
fn take_more_certain(first: &mut Finding, other: Finding) {
    if other.level < first.level {
        (first.level, first.explanations) = (other.level, other.explanations);
    }
}

/// The findings of one text as one: a file that is compiled twice may name its functions otherwise the second time. Of two names the shorter one is
/// kept, and what is more certain of the two.
fn of_one_text(program: &Program, findings: Vec<(FunctionId, Finding)>) -> Vec<Finding> {
    let mut kept: Vec<(u32, Finding)> = Vec::new();
    let mut known: FxHashMap<_, Vec<usize>> = FxHashMap::default();
    for (id, finding) in findings {
        let definition = program.function(id).definition;
        // Names that are longer move the columns behind them.
        let step = |step: &TraceStep| (step.file.clone(), step.line);
        let key = (
            finding.rule.clone(),
            (finding.file.clone(), finding.line),
            finding.trace.iter().map(step).collect::<Vec<_>>(),
        );
        let same = known.entry(key).or_default();
        // A function that has two of them has two findings.
        let other = same.iter().find(|&&at| kept[at].0 != definition);
        let Some(&at) = other else {
            same.push(kept.len());
            kept.push((definition, finding));
            continue;
        };
        let first = &mut kept[at].1;
        let mut other = finding;
        let name = |finding: &Finding| (finding.function.len(), finding.message.len());
        if name(&other) < name(first) {
            std::mem::swap(first, &mut other);
        }
        take_more_certain(first, other);
    }
    kept.into_iter().map(|(_, finding)| finding).collect()
}
