//! One finding: its source with the path beside it, what would make it no bug, and the keys for a verdict.
//!
//! In: a fingerprint, and the parameters of the list that it was opened from. Out: its page, with links to the one before and the next.

use std::sync::Arc;

use axum::extract::{Path, Query, State};
use axum::http::HeaderMap;
use axum::response::Response;
use maud::{Markup, html};

use super::findings::Asked;
use super::frame::{self, Tab, address, badge, function_link, lock_link, place_link};
use super::picture::{Arrow, Box, Picture};
use super::{App, Failure, Visit, answer};
use crate::finding::{Filter, Finding, TraceStep};
use crate::query::findings::judgement;
use crate::report::excerpt::{Excerpt, Line, excerpts};
use crate::report::place;
use crate::source::{Sources, inert};
use crate::triage::{Entry, Verdict};

/// Lines of source before and behind each step.
const AROUND: u32 = 8;

pub(super) async fn page(
    State(app): State<Arc<App>>,
    headers: HeaderMap,
    Path(fingerprint): Path<String>,
    Query(asked): Query<Asked>,
) -> Response {
    answer(app, headers, move |visit| {
        finding(visit, &fingerprint, &asked)
    })
    .await
}

/// The findings before and behind one in the list that it was opened from.
struct Around<'e> {
    /// Counted from 1; `None` if the list has it not.
    number: Option<usize>,
    count: usize,
    before: Option<&'e Entry>,
    next: Option<&'e Entry>,
}

/// The entry of a fingerprint.
pub(super) fn find<'e>(entries: &'e [Entry], fingerprint: &str) -> Result<&'e Entry, Failure> {
    let mut entries = entries.iter();
    entries
        .find(|entry| entry.finding.fingerprint == fingerprint)
        .ok_or_else(|| {
            Failure::NotFound(
                "The last run has no such finding: it may be fixed, or changed.".to_owned(),
            )
        })
}

fn around<'e>(
    visit: &Visit<'_>,
    asked: &Asked,
    entries: &'e [Entry],
    entry: &Entry,
) -> anyhow::Result<Around<'e>> {
    let found = asked.select(visit, entries)?;
    let own = &entry.finding.fingerprint;
    let at = found
        .iter()
        .position(|&at| entries[at].finding.fingerprint == *own);
    let there = |at: Option<usize>| Some(&entries[*found.get(at?)?]);
    Ok(Around {
        number: at.map(|at| at + 1),
        count: found.len(),
        before: there(at.and_then(|at| at.checked_sub(1))),
        // One that its verdict has taken out of the list is followed by the list's first.
        next: there(at.map_or(Some(0), |at| at.checked_add(1))),
    })
}

fn finding(visit: &Visit<'_>, fingerprint: &str, asked: &Asked) -> Result<Response, Failure> {
    let entries = visit.session.entries()?;
    let entry = find(&entries, fingerprint)?;
    let finding = &entry.finding;
    let around = around(visit, asked, &entries, entry)?;
    let mut sources = Sources::default();
    let excerpts = excerpts(finding, &visit.session.root, &mut sources, AROUND);
    let body = html! {
        (way(&around, asked))
        h1 { (badge(finding.level)) " " (inert(&finding.message)) }
        p.where {
            (place_link(&finding.file, finding.line)) " in " (function_link(&finding.function, &finding.file))
            ", " a href=(address("/rule", &[("id", &finding.rule)])) { (inert(&finding.rule)) }
            @if finding.rule.starts_with("lock/") && finding.object.contains('.') { ", lock " (lock_link(&finding.object)) }
            @if !finding.programs.is_empty() { ", only in " (inert(&finding.programs.join(", "))) }
        }
        (verdict_form(visit, entry, asked))
        div.walk {
            div.sources { @for excerpt in &excerpts { (source(excerpt, finding)) } }
            aside.path {
                h2 { "The path" span.help { " " kbd { "j" } " " kbd { "k" } } }
                ol.steps { @for (index, step) in finding.trace.iter().enumerate() { (step_line(index, step)) } }
            }
        }
        (doubts(finding))
        (calls(finding))
    };
    Ok(frame::page(visit, Tab::Findings, &finding.message, &body))
}

/// Links to the list and to the findings around.
fn way(around: &Around<'_>, asked: &Asked) -> Markup {
    let link = |entry: Option<&Entry>, id: &str, text: &str| {
        html! { @if let Some(entry) = entry { a id=(id) href=(asked.finding(&entry.finding.fingerprint)) { (text) } } }
    };
    html! {
        p.way {
            a #list href=(asked.address("/")) { "↑ list" } " "
            (link(around.before, "before", "← before")) " "
            @if let Some(number) = around.number { (number) " of " (around.count) }
            " " (link(around.next, "next", "next →"))
        }
    }
}

/// What is said of the finding, and the means to say it.
fn verdict_form(visit: &Visit<'_>, entry: &Entry, asked: &Asked) -> Markup {
    let (now, note) = judgement(entry);
    let keys = [
        (Verdict::Bug, "b", "bug"),
        (Verdict::FalsePositive, "f", "false positive"),
        (Verdict::Intended, "i", "intended"),
        (Verdict::Later, "l", "later"),
    ];
    let to = format!(
        "/finding/{}/verdict",
        frame::encoded(&entry.finding.fingerprint)
    );
    html! {
        div.judge {
            span class=(format!("verdict {now}")) { (now) }
            @if !note.is_empty() { " " span.said { (inert(note)) } }
            @if !visit.knows_token {
                p.help { "To give verdicts, open the address with the token that " code { "cassini serve" } " has printed." }
            } @else if visit.busy {
                p.help { "No verdict can be given while a run is writing to the database." }
            } @else {
                form #verdict method="post" action=(asked.address(&to)) {
                    input type="hidden" name="token" value=(visit.app.access.token());
                    @for (verdict, key, text) in keys {
                        button name="verdict" value=(verdict.name()) data-key=(key) { kbd { (key) } " " (text) }
                        " "
                    }
                    @if entry.judged.is_some() {
                        button name="verdict" value="none" data-key="u" { kbd { "u" } " take back" } " "
                    }
                    input #note name="note" maxlength="2000" value=(note_of(entry)) placeholder="note  ( m )" aria-label="Note";
                }
            }
        }
    }
}

/// The note of the verdict that there is.
fn note_of(entry: &Entry) -> &str {
    entry.judged.as_ref().map_or("", |judged| &judged.note)
}

fn source(excerpt: &Excerpt<'_>, finding: &Finding) -> Markup {
    let with_steps = |line: &&Line| !line.steps.is_empty();
    let first = excerpt
        .lines
        .iter()
        .find(with_steps)
        .map(|line| line.number);
    let last = excerpt
        .lines
        .iter()
        .rfind(with_steps)
        .map(|line| line.number);
    html! {
        div.source {
            div.file { (place_link(excerpt.file, first.unwrap_or(1))) }
            @for line in &excerpt.lines {
                @if line.gap { div.gap { "⋮" } }
                @let on_path = first <= Some(line.number) && Some(line.number) <= last;
                (source_line(line, on_path, finding))
            }
        }
    }
}

fn source_line(line: &Line, on_path: bool, finding: &Finding) -> Markup {
    let mut class = "line".to_owned();
    if !line.steps.is_empty() {
        class.push_str(" step");
    }
    if line.reported {
        class.push_str(" reported ");
        class.push_str(finding.level.name());
    }
    if on_path {
        class.push_str(" on");
    }
    html! {
        div class=(class) {
            span.number { @if line.number > 0 { (line.number) } }
            span.rail { @for &index in &line.steps { span.ordinal data-step=(index) { (index + 1) } } }
            code { @if let Some(text) = &line.text { (inert(text)) } }
            @if !line.steps.is_empty() {
                ul.said { @for &index in &line.steps { li { (inert(&finding.trace[index].message)) } } }
            }
        }
    }
}

fn step_line(index: usize, step: &TraceStep) -> Markup {
    html! {
        li class=(format!("depth{}", step.depth.min(8))) data-step=(index) tabindex="0" {
            span.ordinal { (index + 1) }
            div {
                (inert(&step.message))
                div.faint {
                    @if !step.function.is_empty() { span.code { (inert(&step.function)) } ", " }
                    span.place { (inert(&place(&step.file, step.line, 0))) }
                }
            }
        }
    }
}

/// What would make it no bug, and which filters report it.
fn doubts(finding: &Finding) -> Markup {
    html! {
        @if !finding.explanations.is_empty() {
            section {
                h2 { "Not a bug if" }
                ul { @for explanation in &finding.explanations {
                    @let kind = explanation.kind.name();
                    li { (inert(&explanation.text)) " " a.faint href=(address("/explanation", &[("kind", &kind)])) { (kind) } }
                } }
            }
        }
        @if let Some(filtered) = &finding.filtered {
            section {
                h2 { "Filters" }
                p.strip {
                    @for filter in Filter::ALL {
                        @let reports = filtered.reported_by.contains(&filter);
                        span.on[reports].off[!reports] { (filter.name()) @if reports { " reports it" } @else { " excludes it" } }
                        " "
                    }
                }
                @if let Some(specification) = &filtered.specification {
                    p { "Impossible under the specification " code { (inert(specification)) } }
                }
            }
        }
    }
}

/// The calls that the path goes through, as a picture.
fn calls(finding: &Finding) -> Markup {
    let mut picture = Picture::default();
    // The function at each depth that the path is in, as its place in the picture.
    let mut stack: Vec<(usize, usize)> = Vec::new();
    for step in finding
        .trace
        .iter()
        .filter(|step| !step.function.is_empty())
    {
        let depth = step.depth as usize;
        stack.truncate(depth + 1);
        if depth > stack.len() {
            // Steps in between have no function: the chain is not known.
            continue;
        }
        let place = picture.find_or_add(
            depth,
            Box {
                title: step.function.clone(),
                text: place(&step.file, step.line, 0),
                link: address(
                    "/function",
                    &[("name", &step.function), ("file", &step.file)],
                ),
                strong: step.function == finding.function,
            },
        );
        stack.truncate(depth);
        if let Some(&caller) = stack.last() {
            picture.arrow(Arrow {
                from: caller,
                to: place,
                text: String::new(),
            });
        }
        stack.push(place);
    }
    html! { @if picture.has_arrows() { section { h2 { "Calls on the path" } (picture.draw()) } } }
}
