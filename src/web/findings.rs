//! The list of findings, by rank, with its filters in the address.
//!
//! In: the parameters of the address. Out: a page of the list; each finding's link keeps the parameters, so that the finding's page knows
//! which one is next.

use std::collections::BTreeMap;
use std::sync::Arc;

use axum::extract::{Query, State};
use axum::http::HeaderMap;
use axum::response::Response;
use maud::{Markup, html};
use serde::Deserialize;

use super::frame::{self, Tab, address, badge};
use super::{App, Failure, Visit, answer};
use crate::finding::{Filter, Level, identity};
use crate::query::findings::{FilePattern, Selection, Wanted, by_rank, judgement};
use crate::report::place;
use crate::source::inert;
use crate::triage::Entry;
use crate::triage::owners::Owners;

/// Findings on one page of the list.
const PAGE: usize = 200;

const LEVELS: [Level; 4] = [Level::Error, Level::Warning, Level::Note, Level::Explained];

/// What an address asks of the list. Empty is no wish.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(default)]
pub(super) struct Asked {
    pub rule: String,
    pub level: String,
    pub filter: String,
    pub file: String,
    pub function: String,
    pub verdict: String,
    pub text: String,
    pub owner: String,
    pub page: String,
}

impl Asked {
    /// The address of this list, or of a finding in it.
    pub(super) fn address(&self, path: &str) -> String {
        address(
            path,
            &[
                ("rule", &self.rule),
                ("level", &self.level),
                ("filter", &self.filter),
                ("file", &self.file),
                ("function", &self.function),
                ("verdict", &self.verdict),
                ("text", &self.text),
                ("owner", &self.owner),
                ("page", &self.page),
            ],
        )
    }

    pub(super) fn finding(&self, fingerprint: &str) -> String {
        self.address(&format!("/finding/{}", frame::encoded(fingerprint)))
    }

    /// Where in the list's findings are those that are asked for, the gravest first.
    pub(super) fn select(
        &self,
        visit: &Visit<'_>,
        entries: &[Entry],
    ) -> anyhow::Result<Vec<usize>> {
        let wish = |text: &'_ str| (!text.is_empty()).then(|| text.to_owned());
        let (rule, function, text) = (
            wish(&self.rule),
            wish(&self.function),
            wish(self.text.trim()),
        );
        let file = Some(self.file.trim()).filter(|file| !file.is_empty());
        let selection = Selection {
            level: self.level(visit),
            rule: rule.as_deref(),
            file: file.map(FilePattern::new).transpose()?,
            function: function.as_deref(),
            filter: Filter::ALL
                .into_iter()
                .find(|filter| filter.name() == self.filter),
            verdict: Wanted::ALL
                .into_iter()
                .find(|wanted| wanted.name() == self.verdict),
            text: text.as_deref(),
            owner: match self.owner.trim() {
                "" => None,
                owner => Some((owner, &*visit.session.owners)),
            },
        };
        let all = 0..entries.len();
        let mut found: Vec<usize> = all
            .filter(|&at| selection.has(&entries[at], &visit.session.places))
            .collect();
        found.sort_by(|&a, &b| by_rank(&entries[a], &entries[b]));
        Ok(found)
    }

    fn level(&self, visit: &Visit<'_>) -> Level {
        let mut levels = LEVELS.into_iter();
        levels
            .find(|level| level.name() == self.level)
            .unwrap_or(visit.app.level)
    }
}

pub(super) async fn page(
    State(app): State<Arc<App>>,
    headers: HeaderMap,
    Query(asked): Query<Asked>,
) -> Response {
    answer(app, headers, move |visit| list(visit, &asked)).await
}

fn list(visit: &Visit<'_>, asked: &Asked) -> Result<Response, Failure> {
    let entries = visit.session.entries()?;
    let found = asked.select(visit, &entries)?;
    let pages = found.len().div_ceil(PAGE).max(1);
    let number = asked.page.parse::<usize>().unwrap_or(1).clamp(1, pages);
    let shown: Vec<&Entry> = found
        .iter()
        .skip((number - 1) * PAGE)
        .take(PAGE)
        .map(|&at| &entries[at])
        .collect();
    let s = if found.len() == 1 { "" } else { "s" };
    let title = format!("{} finding{s}", found.len());
    let root = visit.session.about()?.map(|about| about.root);
    let body = html! {
        h1 { (title) @if let Some(root) = &root { span.faint { " in " (inert(root)) } } }
        @if root.is_none() && !visit.busy {
            p.notice { "The last check did not go through to its end: run " code { "cassini check" } " again." }
        }
        (filters(visit, asked, &entries))
        (table(&shown, asked, &visit.session.owners))
        @if pages > 1 { (pager(asked, number, pages)) }
        p.help { kbd { "j" } " " kbd { "k" } " go through the list, " kbd { "Enter" } " opens a finding, " kbd { "/" } " searches functions" }
    };
    Ok(frame::page(visit, Tab::Findings, &title, &body))
}

/// The form whose fields are the address's parameters.
fn filters(visit: &Visit<'_>, asked: &Asked, entries: &[Entry]) -> Markup {
    let level = asked.level(visit);
    let mut rules: BTreeMap<&str, usize> = BTreeMap::new();
    for entry in entries.iter().filter(|entry| entry.finding.level <= level) {
        *rules.entry(&entry.finding.rule).or_default() += 1;
    }
    if !asked.rule.is_empty() {
        rules.entry(&asked.rule).or_default();
    }
    let option = |value: &str, text: &str, chosen: bool| {
        html! { option value=(value) selected[chosen] { (inert(text)) } }
    };
    html! {
        form.filters action="/" {
            label { "Rule" select name="rule" {
                (option("", "any", asked.rule.is_empty()))
                @for (rule, count) in &rules { (option(rule, &format!("{rule} ({count})"), *rule == asked.rule)) }
            } }
            label { "Level" select name="level" {
                @for one in LEVELS { (option(one.name(), &format!("{} and above", one.name()), one == level)) }
            } }
            label { "Filter" select name="filter" {
                (option("", "any", asked.filter.is_empty()))
                @for one in Filter::ALL { (option(one.name(), one.name(), one.name() == asked.filter)) }
            } }
            label { "Verdict" select name="verdict" {
                (option("", "any", asked.verdict.is_empty()))
                @for one in Wanted::ALL { (option(one.name(), one.name(), one.name() == asked.verdict)) }
            } }
            label { "File" input name="file" value=(asked.file) placeholder="path, folder or glob"; }
            label { "Function" input name="function" value=(asked.function); }
            @if visit.session.owners.has_any() { label { "Owner" input name="owner" value=(asked.owner); } }
            label { "Text" input name="text" value=(asked.text); }
            button { "Show" }
            @if *asked != Asked::default() { a href="/" { "all" } }
        }
    }
}

fn table(shown: &[&Entry], asked: &Asked, owners: &Owners) -> Markup {
    let fingerprints: Vec<&str> = shown.iter().map(|e| &*e.finding.fingerprint).collect();
    let ids = identity::short(&fingerprints);
    html! {
        table.findings {
            thead { tr { th { "Level" } th { "Rule" } th { "What" } th { "Where" } th { "Verdict" } } }
            tbody {
                @for (entry, id) in shown.iter().zip(ids) {
                    @let finding = &entry.finding;
                    @let (verdict, note) = judgement(entry);
                    tr.item title=(id) {
                        td { (badge(finding.level)) }
                        td.rule { (inert(&finding.rule)) }
                        td.what {
                            a href=(asked.finding(&finding.fingerprint)) { (inert(&finding.message)) }
                            div.faint { "in " span.code { (inert(&finding.function)) } }
                        }
                        td.place {
                            (inert(&place(&finding.file, finding.line, 0)))
                            @for owner in owners.of(&finding.file) { div.faint { (inert(owner)) } }
                        }
                        td { span class=(format!("verdict {verdict}")) title=(inert(note)) { (verdict) } }
                    }
                }
            }
        }
        @if shown.is_empty() { p { "No finding is like that." } }
    }
}

fn pager(asked: &Asked, number: usize, pages: usize) -> Markup {
    let to = |page: usize| {
        let page = page.to_string();
        Asked {
            page,
            ..asked.clone()
        }
        .address("/")
    };
    html! {
        p.pager {
            @if number > 1 { a href=(to(number - 1)) rel="prev" { "← before" } " " }
            "page " (number) " of " (pages)
            @if number < pages { " " a href=(to(number + 1)) rel="next" { "next →" } }
        }
    }
}
