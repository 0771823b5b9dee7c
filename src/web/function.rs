//! One function: its summary, what is found in it, who calls it and what it calls.
//!
//! In: a name, and a file if several functions have it. Out: its page. The specification is a page of its own, as the function is executed again
//! for it.

use std::sync::Arc;

use axum::extract::{Query, State};
use axum::http::HeaderMap;
use axum::response::{IntoResponse, Response};
use maud::{Markup, html};
use serde::Deserialize;

use super::frame::{self, Tab, address, badge, function_link, lock_link, place_link};
use super::picture::{Arrow, Box, Picture};
use super::{App, Failure, Visit, answer};
use crate::engine::filtering::Told;
use crate::finding::Level;
use crate::ir::SymbolName;
use crate::property::Property;
use crate::query::constants::{MAX_FUNCTIONS, constants};
use crate::query::{merge_variants, specification as specifications, summary_of};
use crate::report::place;
use crate::report::roles::{Role, roles};
use crate::report::summary::constants::{Constants, NO_CONSTANTS};
use crate::report::summary::{self, Extent};
use crate::source::inert;
use crate::store::query::FunctionRow;
use crate::summary::Summary;

/// Callers and callees that are listed; the others are counted.
const LISTED: usize = 60;
/// Callers and callees in the picture.
const DRAWN: usize = 8;

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Asked {
    name: String,
    file: String,
    /// Long values are shown whole.
    full: String,
}

pub(super) async fn page(
    State(app): State<Arc<App>>,
    headers: HeaderMap,
    Query(asked): Query<Asked>,
) -> Response {
    answer(app, headers, move |visit| function(visit, &asked)).await
}

/// The functions of a name, in a file if one is named.
fn rows(visit: &Visit<'_>, asked: &Asked) -> Result<Vec<FunctionRow>, Failure> {
    let mut rows = visit.session.reader.functions(&asked.name)?;
    if !asked.file.is_empty() {
        let in_file = |row: &FunctionRow| row.file == asked.file;
        // A finding's file is the one that its function was compiled in, which need not be the one that defines it.
        if rows.iter().any(in_file) {
            rows.retain(in_file);
        }
    }
    Ok(rows)
}

fn function(visit: &Visit<'_>, asked: &Asked) -> Result<Response, Failure> {
    let rows = rows(visit, asked)?;
    if rows.is_empty() {
        return undefined(visit, &asked.name);
    }
    let mut shown = Vec::new();
    for row in rows {
        let summary = summary_of(&visit.session.reader, &row, &visit.session.shared.seeds)?;
        shown.push((row, summary));
    }
    merge_variants(&mut shown);
    let findings = findings(visit, &shown)?;
    let full = address(
        "/function",
        &[("name", &asked.name), ("file", &asked.file), ("full", "1")],
    );
    let session = &visit.session;
    let named = shown.len() <= MAX_FUNCTIONS;
    let constants_of = |row: &FunctionRow| match named {
        true => constants(&session.reader, &session.folder, &session.root, row),
        false => Constants::default(),
    };
    let body = html! {
        h1.code { (inert(&asked.name)) }
        @for (row, summary) in &shown {
            section {
                (heading(row))
                @let constants = constants_of(row);
                @if let Some(summary) = summary { (summary_table(visit, summary, &constants, asked)?) }
                (of_accesses(visit, row, &constants, asked)?)
                @if asked.full.is_empty() { p { a href=(full) { "long values and lists whole" } } }
                @if row.body.is_some() {
                    p { a href=(address("/specification", &[("name", &row.name.name), ("file", &row.file)])) { "Specification" }
                        span.faint { ": what callers and callees have to see to (the function is executed again)" } }
                }
            }
        }
        (findings)
        @if let Some((row, _)) = shown.first() { (calls(visit, row)?) }
    };
    Ok(frame::page(visit, Tab::Functions, &asked.name, &body))
}

/// Where a function is, and what became of it.
fn heading(row: &FunctionRow) -> Markup {
    let reason = inert(row.reason.as_deref().unwrap_or_default());
    html! {
        p.where {
            (place_link(&row.file, row.line))
            @if !row.programs.is_empty() { ", in " (inert(&row.programs.join(", "))) }
            @match row.outcome.as_deref() {
                None => ", not reached: the last check was stopped before it",
                Some("no-op") => ", touches no lock, and neither does what it calls",
                Some("seeded") => ", a known primitive",
                Some("analysed") => "",
                Some(outcome) => { ", " (outcome) ": " (reason) }
            }
        }
    }
}

/// What the pass that checks accesses to memory says of the function, if there was one.
fn of_accesses(
    visit: &Visit<'_>,
    row: &FunctionRow,
    constants: &Constants,
    asked: &Asked,
) -> Result<Markup, Failure> {
    let result = row
        .access_result
        .map(|key| visit.session.reader.result(key));
    let Some(result) = result.transpose()?.flatten() else {
        return Ok(html! {});
    };
    let words = (&visit.session.shared.rules, constants);
    let text = summary_text(&result.summary, words, extent(asked))?;
    Ok(html! { h2 { "Memory and files" } (preformatted(&text)) })
}

fn summary_text(
    summary: &Summary,
    words: (&Property, &Constants),
    extent: Extent,
) -> Result<String, Failure> {
    let mut text = Vec::new();
    summary::write(&mut text, &[summary], words, extent)?;
    // The page has a link for the option.
    Ok(String::from_utf8_lossy(&text).replace(" (--full)", ""))
}

fn extent(asked: &Asked) -> Extent {
    match asked.full.is_empty() {
        true => Extent::Short,
        false => Extent::Full,
    }
}

fn preformatted(text: &str) -> Markup {
    html! { pre.summary { @for line in text.lines() { (inert(line)) "\n" } } }
}

fn summary_table(
    visit: &Visit<'_>,
    summary: &Summary,
    constants: &Constants,
    asked: &Asked,
) -> Result<Markup, Failure> {
    let extent = extent(asked);
    let words = (&visit.session.shared.locks, constants);
    let text = summary_text(summary, words, extent)?;
    let roles = roles(summary, &visit.session.shared.locks);
    Ok(html! {
        @if !roles.is_empty() {
            table.roles { tbody { @for role in &roles { (role_row(role)) } } }
        }
        (preformatted(&text))
    })
}

fn role_row(role: &Role) -> Markup {
    html! { tr {
        td { (role.act.name()) }
        td.code { (inert(&role.object)) }
        td { @if !role.class.is_empty() { (lock_link(&role.class)) } }
        td.faint { (inert(&role.machine)) }
    } }
}

/// What the last run has found in these functions.
fn findings(
    visit: &Visit<'_>,
    shown: &[(FunctionRow, Option<Summary>)],
) -> Result<Markup, Failure> {
    let entries = visit.session.entries()?;
    let is_own = |function: &str, file: &str| {
        let mut rows = shown.iter().map(|(row, _)| row);
        rows.any(|row| row.name.name == function && row.file == file)
    };
    let of_these = entries
        .iter()
        .map(|entry| &entry.finding)
        .filter(|finding| is_own(&finding.function, &finding.file));
    let (told, explained): (Vec<_>, Vec<_>) =
        of_these.partition(|finding| finding.level < Level::Explained);
    Ok(html! {
        @for (findings, title) in [(told, "Findings"), (explained, "Failures that an explanation covers")] {
            @if !findings.is_empty() { section {
                h2 { (title) }
                ul { @for finding in findings { li {
                    (badge(finding.level)) " "
                    a href=(format!("/finding/{}", frame::encoded(&finding.fingerprint))) { (inert(&finding.message)) }
                    " " span.faint { (inert(&place(&finding.file, finding.line, 0))) }
                } } }
            } }
        }
    })
}

/// A caller or a callee, and what is held during the call.
struct Neighbour {
    name: SymbolName,
    row: Option<FunctionRow>,
    held: Vec<String>,
}

/// The first callers and callees, and how many there are of each.
fn neighbours(
    visit: &Visit<'_>,
    row: &FunctionRow,
) -> anyhow::Result<[(Vec<Neighbour>, usize); 2]> {
    let reader = &visit.session.reader;
    let mut calling = reader.calling(row.id)?;
    // A function compiled in two ways is two functions of one place.
    calling.dedup_by(|a, b| (&a.file, a.line) == (&b.file, b.line));
    let count = calling.len();
    let mut callers = Vec::new();
    for caller in calling.into_iter().take(LISTED) {
        let held = reader.held_during(&caller, &row.name)?;
        callers.push(Neighbour {
            name: caller.name.clone(),
            row: Some(caller),
            held,
        });
    }
    let mut callees = Vec::new();
    let called = reader.called(row.id)?;
    let called_count = called.len();
    for (name, callee) in called.into_iter().take(LISTED) {
        let held = reader.held_during(row, &name)?;
        callees.push(Neighbour {
            name,
            row: callee,
            held,
        });
    }
    Ok([(callers, count), (callees, called_count)])
}

fn calls(visit: &Visit<'_>, row: &FunctionRow) -> Result<Markup, Failure> {
    let [callers, callees] = neighbours(visit, row)?;
    let list = |title: &str, (neighbours, count): &(Vec<Neighbour>, usize)| {
        html! {
            section {
                h2 { (title) " " span.faint { (count) } }
                ul { @for one in neighbours { li {
                    @match &one.row {
                        Some(row) => { (function_link(&row.name.name, &row.file)) " " span.faint { (inert(&place(&row.file, row.line, 0))) } }
                        None => { (function_link(&one.name.name, "")) " " span.faint { "not defined in the tree" } }
                    }
                    @if !one.held.is_empty() { " holding " @for lock in &one.held { (lock_link(lock)) " " } }
                } } }
                @if neighbours.len() < *count { p.faint { "and " (count - neighbours.len()) " more" } }
            }
        }
    };
    Ok(html! {
        (picture(row, &callers.0, &callees.0))
        form.way action="/path" {
            input type="hidden" name="from" value=(row.name.name);
            label { "Calls from here to " input name="to" placeholder="function"; }
            " " button { "Show" }
        }
        div.columns { (list("Callers", &callers)) (list("Callees", &callees)) }
    })
}

/// The function between the first of its callers and callees.
fn picture(row: &FunctionRow, callers: &[Neighbour], callees: &[Neighbour]) -> Markup {
    let mut picture = Picture::default();
    let own = Box {
        title: row.name.name.clone(),
        text: place(&row.file, row.line, 0),
        link: String::new(),
        strong: true,
    };
    let boxed = |one: &Neighbour| {
        let place = one
            .row
            .as_ref()
            .map(|row| (row.file.clone(), place(&row.file, row.line, 0)));
        let (file, text) = place.unwrap_or_default();
        Box {
            title: one.name.name.clone(),
            text,
            link: address("/function", &[("name", &one.name.name), ("file", &file)]),
            strong: false,
        }
    };
    let own = picture.add(usize::from(!callers.is_empty()), own);
    for caller in callers.iter().take(DRAWN) {
        let from = picture.add(0, boxed(caller));
        picture.arrow(Arrow {
            from,
            to: own,
            text: caller.held.join(", "),
        });
    }
    for callee in callees.iter().take(DRAWN) {
        let to = picture.add(own.0 + 1, boxed(callee));
        picture.arrow(Arrow {
            from: own,
            to,
            text: callee.held.join(", "),
        });
    }
    html! { @if picture.has_arrows() { (picture.draw()) } }
}

/// A function that the tree does not define: a known primitive, or one that is only called.
fn undefined(visit: &Visit<'_>, name: &str) -> Result<Response, Failure> {
    let session = &visit.session;
    let callers = session.reader.callers_of_undefined(name)?;
    let seed = session.shared.seeds.get(name);
    if callers.is_empty() && seed.is_none() {
        return Err(Failure::NotFound(format!(
            "The last check saw no function `{name}`."
        )));
    }
    let text = match seed {
        Some(seed) => {
            let words = (&session.shared.locks, &NO_CONSTANTS);
            summary_text(&seed.summary, words, Extent::Full)?
        }
        None => String::new(),
    };
    let body = html! {
        h1.code { (inert(name)) }
        p.where { "not defined in the tree" @if seed.is_some() { ", a known primitive" } }
        @if !text.is_empty() { (preformatted(&text)) }
        section {
            h2 { "Callers " span.faint { (callers.len()) } }
            ul { @for caller in callers.iter().take(LISTED) { li {
                @if let Some((file, line)) = &caller.place {
                    (function_link(&caller.name.name, file)) " " span.faint { (inert(&place(file, *line, 0))) }
                }
            } } }
            @if callers.len() > LISTED { p.faint { "and " (callers.len() - LISTED) " more" } }
        }
    };
    Ok(frame::page(visit, Tab::Functions, name, &body))
}

pub(super) async fn specification(
    State(app): State<Arc<App>>,
    headers: HeaderMap,
    Query(asked): Query<Asked>,
) -> Response {
    answer(app, headers, move |visit| {
        let rows = rows(visit, &asked)?;
        let Some(row) = rows.first() else {
            let what = format!("The last check saw no function `{}`.", asked.name);
            return Err(Failure::NotFound(what));
        };
        let text = specifications::filtered(&visit.session.folder, row, Told::Specification)?;
        let body = html! {
            h1 { "Specification of " (function_link(&row.name.name, &row.file)) }
            (heading(row))
            (preformatted(&text))
        };
        Ok(frame::page(visit, Tab::Functions, &asked.name, &body).into_response())
    })
    .await
}
