//! The report as one HTML file: nothing is fetched, nothing is run, and it is readable in light and dark, on wide and narrow screens.
//!
//! In: [`Contents`]. Out: a list of the findings, each finding's source with the steps of its path beside it, and the manual pages of
//! their rules. All texts are escaped by the templates.

use std::collections::BTreeSet;
use std::io::{self, Write};

use maud::{DOCTYPE, Markup, PreEscaped, html};

use super::excerpt::{AROUND, Excerpt, Line, excerpts};
use super::{Contents, place};
use crate::finding::{Finding, Level, identity};
use crate::source::{Sources, inert};
use crate::triage::{Entry, Known, State};

const STYLE: &str = include_str!("html/style.css");
/// Pages of this kind may fetch and run nothing, whatever is in them.
const POLICY: &str = "default-src 'none'; style-src 'unsafe-inline'";

/// Writes the page.
pub fn write(out: &mut dyn Write, contents: &Contents<'_>) -> io::Result<()> {
    let shown: Vec<&Entry> = contents.shown().collect();
    let fingerprints: Vec<&str> = shown.iter().map(|e| &*e.finding.fingerprint).collect();
    let ids = identity::short(&fingerprints);
    let root = inert(&contents.about.root);
    let s = if shown.len() == 1 { "" } else { "s" };
    let title = format!("{} finding{s} in {root}", shown.len());
    let head = html! {
        (DOCTYPE)
        html lang="en";
        head {
            meta charset="utf-8";
            meta name="viewport" content="width=device-width, initial-scale=1";
            meta http-equiv="Content-Security-Policy" content=(POLICY);
            title { "Cassini: " (title) }
            style { (PreEscaped(STYLE)) }
        }
        body;
        header { h1 { (title) } (overview(&shown, contents)) }
        (list(&shown, &ids))
    };
    // Piece by piece: a report may have thousands of findings.
    out.write_all(head.into_string().as_bytes())?;
    let mut sources = Sources::default();
    for (entry, id) in shown.iter().zip(&ids) {
        let article = article(entry, id, contents, &mut sources);
        out.write_all(article.into_string().as_bytes())?;
    }
    let fixed = contents.baseline.map_or(&[][..], |baseline| baseline.fixed);
    let foot = html! {
        (fixed_list(fixed))
        (manual(&shown, contents))
        footer { "Cassini " (env!("CARGO_PKG_VERSION")) }
    };
    out.write_all(foot.into_string().as_bytes())?;
    writeln!(out)
}

fn overview(shown: &[&Entry], contents: &Contents<'_>) -> Markup {
    let count = |level: Level| shown.iter().filter(|e| e.finding.level == level).count();
    let levels = [Level::Error, Level::Warning, Level::Note, Level::Explained];
    let silenced = contents.silenced();
    html! {
        p.overview {
            @for level in levels.into_iter().filter(|level| count(*level) > 0) {
                span class=(format!("badge {}", level.name())) { (count(level)) " " (level.name()) }
                " "
            }
            @if !silenced.is_empty() { span { (silenced) } }
            @if let Some(baseline) = contents.baseline {
                @let new = shown.iter().filter(|e| e.state == Some(State::New)).count();
                @let unchanged = if baseline.whole { shown.len() - new } else { contents.left_out.known };
                span { (new) " new, " (unchanged) " unchanged, " (baseline.fixed.len()) " fixed" }
            }
        }
    }
}

fn list(shown: &[&Entry], ids: &[&str]) -> Markup {
    html! {
        nav {
            table {
                thead { tr { th { "Level" } th { "Rule" } th { "What" } th { "Where" } } }
                tbody {
                    @for (entry, id) in shown.iter().zip(ids) {
                        @let finding = &entry.finding;
                        tr {
                            td { (badge(finding.level)) (state(entry)) }
                            td { (inert(&finding.rule)) }
                            td { a href=(format!("#f{id}")) { (inert(&finding.message)) } }
                            td.place { (inert(&place(&finding.file, finding.line, 0))) }
                        }
                    }
                }
            }
        }
    }
}

fn badge(level: Level) -> Markup {
    html! { span class=(format!("badge {}", level.name())) { (level.name()) } }
}

fn state(entry: &Entry) -> Markup {
    html! { @if entry.state == Some(State::New) { " " span.badge { "new" } } }
}

fn article(entry: &Entry, id: &str, contents: &Contents<'_>, sources: &mut Sources) -> Markup {
    let finding = &entry.finding;
    let here = place(&finding.file, finding.line, finding.column);
    let excerpts = excerpts(finding, contents.root, sources, AROUND);
    html! {
        article id=(format!("f{id}")) {
            h2 { (badge(finding.level)) " " (inert(&finding.message)) (state(entry)) }
            p.where {
                span.place { (inert(&here)) }
                " in " code { (inert(&finding.function)) }
                ", " a href=(format!("#rule-{}", anchor(&finding.rule))) { (inert(&finding.rule)) }
                ", id " code { (id) }
            }
            @for excerpt in &excerpts { (source(excerpt, finding)) }
            ul.notes {
                @if !finding.programs.is_empty() {
                    li { "only in " (inert(&finding.programs.join(", "))) }
                }
                @for explanation in &finding.explanations {
                    li { "not a bug if " (inert(&explanation.text)) }
                }
                @if let Some(judged) = &entry.judged {
                    li {
                        "judged " strong { (judged.verdict.name()) }
                        @if !judged.note.is_empty() { ": " (inert(&judged.note)) }
                    }
                }
            }
        }
    }
}

fn source(excerpt: &Excerpt<'_>, finding: &Finding) -> Markup {
    html! {
        div.source {
            div.file { (inert(excerpt.file)) }
            @for line in &excerpt.lines {
                @if line.gap { div.gap { "⋮" } }
                (source_line(line, finding))
            }
        }
    }
}

fn source_line(line: &Line, finding: &Finding) -> Markup {
    let class = match (line.reported, line.steps.is_empty()) {
        (true, _) => format!("line reported {}", finding.level.name()),
        (false, false) => "line step".to_owned(),
        (false, true) => "line".to_owned(),
    };
    html! {
        div class=(class) {
            span.number { @if line.number > 0 { (line.number) } }
            code { @if let Some(text) = &line.text { (inert(text)) } }
            @if !line.steps.is_empty() {
                ol.steps {
                    @for &index in &line.steps {
                        @let step = &finding.trace[index];
                        li style=(format!("margin-left:{}em", step.depth.min(8))) {
                            span.ordinal { (index + 1) }
                            " "
                            @if step.depth > 0 { "in " (inert(&step.function)) ": " }
                            (inert(&step.message))
                        }
                    }
                }
            }
        }
    }
}

fn fixed_list(fixed: &[Known]) -> Markup {
    html! {
        @if !fixed.is_empty() {
            section {
                h2 { "Fixed" }
                ul {
                    @for known in fixed {
                        li {
                            span.place { (inert(&place(&known.file, known.line, 0))) }
                            ": " (inert(&known.message)) " (" (inert(&known.rule)) ")"
                        }
                    }
                }
            }
        }
    }
}

/// The manual pages of the rules of these findings.
fn manual(shown: &[&Entry], contents: &Contents<'_>) -> Markup {
    let used: BTreeSet<&str> = shown.iter().map(|e| &*e.finding.rule).collect();
    html! {
        @for rule in contents.rules.rules().filter(|rule| used.contains(&*rule.id)) {
            details.rule id=(format!("rule-{}", anchor(&rule.id))) {
                summary { "What " (rule.id) " means" }
                pre { (rule.explanation.trim()) }
            }
        }
    }
}

/// A rule's name as part of an address in the page.
fn anchor(rule: &str) -> String {
    let plain = |c: char| if c.is_ascii_alphanumeric() { c } else { '-' };
    rule.chars().map(plain).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::tests::{entry, finding, hostile, rendered};
    use crate::source::is_inert;

    #[test]
    fn a_finding_has_its_path_and_its_rules_page() {
        let page = rendered(
            &[entry(finding("a.c", 3, "0123456789abcdef.aa"))],
            None,
            write,
        );
        for expected in [
            "<title>Cassini: 1 finding in ",
            "<a href=\"#f01234567\">dev-&gt;lock is locked twice</a>",
            "<article id=\"f01234567\">",
            "<span class=\"ordinal\">3</span> in reset: spin_lock(&amp;d-&gt;lock) locks it again",
            "not a bug if flag == 0",
            "<details class=\"rule\" id=\"rule-lock-double-lock\">",
        ] {
            assert!(page.contains(expected), "{expected} in\n{page}");
        }
        assert!(
            !page.contains("<script") && !page.contains("src=") && !page.contains("url("),
            "{page}"
        );
    }

    #[test]
    fn hostile_text_is_no_markup() {
        let page = rendered(&hostile(), None, write);
        assert!(
            !page.contains("<script") && !page.contains("</pre><s"),
            "{page}"
        );
        let shown = |c: char| c == '\n' || is_inert(c);
        assert!(page.chars().all(shown), "{page}");
        assert_eq!(page.matches("<article").count(), 1);
    }
}
