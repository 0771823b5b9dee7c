//! The report as Markdown, for a comment on a change or a page of a wiki.
//!
//! In: [`Contents`]. Out: a heading for each finding, its steps as a list, its source in a fence. Nothing of what names and messages hold is markup.

use std::io::{self, Write};

use super::{Contents, place};
use crate::finding::{Finding, Level, identity};
use crate::source::{Sources, inert};
use crate::triage::{Entry, Known, State};

/// Writes the report.
pub fn write(out: &mut dyn Write, contents: &Contents<'_>) -> io::Result<()> {
    let shown: Vec<&Entry> = contents.shown().collect();
    let s = if shown.len() == 1 { "" } else { "s" };
    let root = text(&contents.about.root);
    writeln!(out, "# {} finding{s} of Cassini in {root}\n", shown.len())?;
    for level in [Level::Error, Level::Warning, Level::Note, Level::Explained] {
        let count = shown.iter().filter(|e| e.finding.level == level).count();
        if count > 0 {
            writeln!(out, "* {}: {count}", level.name())?;
        }
    }
    let silenced = contents.silenced();
    if !silenced.is_empty() {
        writeln!(out, "* {silenced}")?;
    }
    if let Some(baseline) = contents.baseline {
        let new = shown.iter().filter(|e| e.state == Some(State::New)).count();
        let unchanged = match baseline.whole {
            true => shown.len() - new,
            false => contents.left_out.known,
        };
        let fixed = baseline.fixed.len();
        writeln!(out, "* {new} new, {unchanged} unchanged, {fixed} fixed")?;
    }
    let fingerprints: Vec<&str> = shown.iter().map(|e| &*e.finding.fingerprint).collect();
    let ids = identity::short(&fingerprints);
    let mut sources = Sources::default();
    for (entry, id) in shown.iter().zip(ids) {
        write_finding(out, entry, id, contents, &mut sources)?;
    }
    let fixed = contents.baseline.map_or(&[][..], |baseline| baseline.fixed);
    if !fixed.is_empty() {
        writeln!(out, "\n## Fixed\n")?;
        for Known {
            file,
            line,
            message,
            rule,
            ..
        } in fixed
        {
            let place = text(&place(file, *line, 0));
            writeln!(out, "* {place}: {} ({})", text(message), text(rule))?;
        }
    }
    Ok(())
}

fn write_finding(
    out: &mut dyn Write,
    entry: &Entry,
    id: &str,
    contents: &Contents<'_>,
    sources: &mut Sources,
) -> io::Result<()> {
    let finding: &Finding = &entry.finding;
    let level = finding.level.name();
    let here = text(&place(&finding.file, finding.line, finding.column));
    let state = match entry.state {
        Some(State::New) => " (new)",
        _ => "",
    };
    writeln!(
        out,
        "\n## {here}: {level}: {}{state}\n",
        text(&finding.message)
    )?;
    writeln!(
        out,
        "Rule {}, function {}, id {id}\n",
        text(&finding.rule),
        text(&finding.function)
    )?;
    if let Some(line) = sources.line(contents.root, &finding.file, finding.line) {
        let line = inert(line);
        let fence = "`".repeat(longest_run(&line, '`').max(2) + 1);
        writeln!(out, "{fence}c\n{line}\n{fence}\n")?;
    }
    for (number, step) in (1..).zip(&finding.trace) {
        let place = text(&place(&step.file, step.line, 0));
        let function = match step.depth {
            0 => String::new(),
            _ => format!("in {}: ", text(&step.function)),
        };
        writeln!(out, "{number}. {place}: {function}{}", text(&step.message))?;
    }
    if !finding.trace.is_empty() {
        writeln!(out)?;
    }
    if !finding.programs.is_empty() {
        writeln!(out, "* only in {}", text(&finding.programs.join(", ")))?;
    }
    for explanation in &finding.explanations {
        writeln!(out, "* not a bug if {}", text(&explanation.text))?;
    }
    if let Some(judged) = &entry.judged {
        let colon = if judged.note.is_empty() { "" } else { ": " };
        writeln!(
            out,
            "* judged {}{colon}{}",
            judged.verdict.name(),
            text(&judged.note)
        )?;
    }
    Ok(())
}

fn longest_run(text: &str, of: char) -> usize {
    let runs = text.split(|c| c != of);
    runs.map(str::len).max().unwrap_or(0)
}

/// A text on one line, none of which is markup.
fn text(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 8);
    for c in inert(text).chars() {
        match c {
            '\t' => out.push(' '),
            // Entities, so that no code host takes it for somebody's name or for an entity.
            '&' => out.push_str("&amp;"),
            '@' => out.push_str("&#64;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '.' | ',' | ':' | ';' | '/' | '\'' | '"' | '(' | ')' | '=' | '%' | '$' | '?' => {
                out.push(c)
            }
            c if c.is_ascii_punctuation() => out.extend(['\\', c]),
            c => out.push(c),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::tests::{entry, finding, hostile, rendered};
    use crate::source::is_inert;

    #[test]
    fn a_finding_is_a_heading_with_its_steps() {
        let report = rendered(
            &[entry(finding("a.c", 3, "0123456789abcdef.aa"))],
            None,
            write,
        );
        for expected in [
            "\n## a.c:3: error: dev\\-&gt;lock is locked twice\n",
            "id 01234567\n",
            "\n3. a.c:7: in reset: spin\\_lock(&amp;d\\-&gt;lock) locks it again\n",
            "\n* not a bug if flag == 0\n",
        ] {
            assert!(report.contains(expected), "{expected} in\n{report}");
        }
    }

    #[test]
    fn hostile_text_is_no_markup() {
        let report = rendered(&hostile(), None, write);
        assert!(report.chars().all(|c| c == '\n' || is_inert(c)), "{report}");
        assert!(
            !report.contains("<script>") && !report.contains("[y]"),
            "{report}"
        );
        assert_eq!(
            report.lines().filter(|line| line.starts_with('#')).count(),
            2
        );
        assert_eq!(longest_run("a ``` b `", '`'), 3);
    }
}
