//! The statistics of the last run: what was read, what became of the functions, findings by rule, verdicts, losses.

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::sync::Arc;

use axum::extract::State;
use axum::http::HeaderMap;
use axum::response::Response;
use maud::{Markup, html};

use super::frame::{self, Tab, address};
use super::{App, Failure, Visit, answer};
use crate::engine::ledger;
use crate::finding::Level;
use crate::query::findings::{Accuracy, accuracy};
use crate::source::inert;
use crate::store::query::Failure as Loss;
use crate::triage::{Entry, Verdict};

/// Causes of losses that are listed.
const CAUSES: usize = 40;

pub(super) async fn page(State(app): State<Arc<App>>, headers: HeaderMap) -> Response {
    answer(app, headers, statistics).await
}

fn statistics(visit: &Visit<'_>) -> Result<Response, Failure> {
    let entries = visit.session.entries()?;
    let reading = visit.session.reader.reading()?;
    let functions = visit.session.reader.lock_counts()?.lines();
    let losses = visit.session.reader.failures()?;
    let verdicts = visit.session.reader.verdicts()?;
    let body = html! {
        h1 { "The last run" }
        section { h2 { "What was read" } p { (reading) } }
        (outcomes(visit)?)
        section { h2 { "Findings" } (by_rule(&entries)) }
        section { h2 { "Verdicts" } (judged(&accuracy(verdicts, &entries))) }
        section { h2 { "Functions that" } table { tbody {
            @for (count, what) in functions { tr { td.count { (count) } td { (what) } } }
        } } }
        section { h2 { "What was lost " span.faint { (losses.len()) } } (causes(&losses)) }
    };
    Ok(frame::page(visit, Tab::Statistics, "Statistics", &body))
}

/// What became of the functions of the tree.
fn outcomes(visit: &Visit<'_>) -> Result<Markup, Failure> {
    let outcomes = visit.session.reader.outcomes()?;
    Ok(
        html! { section { h2 { "What became of the functions" } table { tbody {
            @for (outcome, count) in &outcomes {
                tr { td.count { (count) } td { (outcome.as_deref().unwrap_or("not reached")) } }
            }
        } } } },
    )
}

fn by_rule(entries: &[Entry]) -> Markup {
    const LEVELS: [Level; 4] = [Level::Error, Level::Warning, Level::Note, Level::Explained];
    let mut rules: BTreeMap<&str, [usize; LEVELS.len()]> = BTreeMap::new();
    for entry in entries {
        let counts = rules.entry(&entry.finding.rule).or_default();
        counts[entry.finding.level as usize] += 1;
    }
    html! { table {
        thead { tr { th { "Rule" } @for level in LEVELS { th.count { (level.name()) } } } }
        tbody { @for (rule, counts) in &rules { tr {
            td { a href=(address("/rule", &[("id", rule)])) { (inert(rule)) } }
            @for (level, count) in LEVELS.iter().zip(counts) {
                td.count { @if *count > 0 { a href=(address("/", &[("rule", rule), ("level", level.name())])) { (count) } } }
            }
        } } }
    } }
}

fn judged(rules: &BTreeMap<String, Accuracy>) -> Markup {
    html! { table {
        thead { tr { th { "Rule" } @for verdict in Verdict::ALL { th.count { (verdict.name()) } } th.count { "open" } th.count { "accuracy" } } }
        tbody { @for (rule, counts) in rules { tr {
            td { (inert(rule)) }
            @for count in counts.verdicts { td.count { (count) } }
            td.count { (counts.open) }
            td.count { @if let Some(percent) = counts.percent() { (percent) " %" } }
        } } }
    } }
}

/// Losses by cause, the commonest first.
fn causes(losses: &[Loss]) -> Markup {
    let mut causes: BTreeMap<(&str, String), Vec<&Loss>> = BTreeMap::new();
    for loss in losses {
        causes
            .entry((&loss.kind, ledger::cause(&loss.message)))
            .or_default()
            .push(loss);
    }
    let mut causes: Vec<_> = causes.into_iter().collect();
    causes.sort_by_key(|(_, losses)| Reverse(losses.len()));
    html! { table { tbody { @for ((stage, cause), losses) in causes.iter().take(CAUSES) { tr {
        td.count { (losses.len()) }
        td { (inert(stage)) }
        td { (inert(cause))
            @if let Some(first) = losses.first() {
                div.faint { "such as " (inert(&crate::report::place(&first.file, first.line, 0))) " " (inert(first.name.as_deref().unwrap_or_default())) }
            }
        }
    } } } } }
}
