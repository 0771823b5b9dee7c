//! Findings in the protocol's words.
//!
//! In: findings of one file. Out: diagnostics, the text of a finding under the pointer, and what can be done about one.

use std::path::Path;

use lsp_types::{
    CodeAction, CodeActionKind, Command, Diagnostic, DiagnosticRelatedInformation,
    DiagnosticSeverity, Location, NumberOrString, Position, Range, Url,
};
use serde_json::json;

use crate::finding::{Finding, Level, TraceStep};
use crate::report::{Places, text};
use crate::source::{Sources, inert};
use crate::triage::{Entry, Verdict};

/// The command that keeps a verdict: a fingerprint and a verdict, or `open`.
pub(super) const JUDGE: &str = "cassini.judge";
/// In place of a verdict: takes it back.
pub(super) const OPEN: &str = "open";

/// A finding as the editor shows it in its line, with the path's steps as related places.
pub(super) fn diagnostic(entry: &Entry, root: &Path, sources: &mut Sources) -> Diagnostic {
    let finding = &entry.finding;
    let related = finding.trace.iter().filter_map(|step| {
        Some(DiagnosticRelatedInformation {
            location: Location {
                uri: address(root, &step.file)?,
                range: range(root, (&step.file, step.line, step.column), sources),
            },
            message: step_text(finding, step),
        })
    });
    Diagnostic {
        related_information: Some(related.collect()),
        range: range(root, (&finding.file, finding.line, finding.column), sources),
        severity: Some(match finding.level {
            Level::Error => DiagnosticSeverity::ERROR,
            Level::Warning => DiagnosticSeverity::WARNING,
            Level::Note => DiagnosticSeverity::INFORMATION,
            Level::Explained => DiagnosticSeverity::HINT,
        }),
        code: Some(NumberOrString::String(inert(&finding.rule).into_owned())),
        source: Some("cassini".to_owned()),
        message: message(entry),
        data: Some(json!({ "fingerprint": finding.fingerprint })),
        ..Diagnostic::default()
    }
}

/// What is wrong, what would make it none, and what it was judged.
fn message(entry: &Entry) -> String {
    let mut lines = vec![inert(&entry.finding.message).into_owned()];
    for explanation in &entry.finding.explanations {
        lines.push(format!("not a bug if {}", inert(&explanation.text)));
    }
    if let Some(judged) = &entry.judged {
        lines.push(match judged.note.as_str() {
            "" => format!("judged: {}", judged.verdict.name()),
            note => format!("judged: {} ({})", judged.verdict.name(), inert(note)),
        });
    }
    lines.join("\n")
}

fn step_text(finding: &Finding, step: &TraceStep) -> String {
    let own = step.depth == 0 && step.function == finding.function;
    match own || step.function.is_empty() {
        true => inert(&step.message).into_owned(),
        false => format!("in {}: {}", inert(&step.function), inert(&step.message)),
    }
}

/// A file's address; none of what is no file, as `<built-in>`.
fn address(root: &Path, file: &str) -> Option<Url> {
    match file.is_empty() || file.starts_with('<') {
        true => None,
        false => Url::from_file_path(root.join(file)).ok(),
    }
}

/// The identifier that a place points at, or the line's text if no column is known.
fn range(root: &Path, (file, line, column): (&str, u32, u32), sources: &mut Sources) -> Range {
    let text = sources.line(root, file, line).unwrap_or_default();
    let before = match column as usize {
        0 => text.chars().take_while(|c| c.is_whitespace()).count(),
        column => column - 1,
    };
    let length = match column {
        0 => text.trim().chars().count(),
        _ => {
            let word = text.chars().skip(before);
            let word = word.take_while(|c| c.is_alphanumeric() || *c == '_');
            word.count().max(1)
        }
    };
    // The protocol counts units of UTF-16.
    let units = |count: usize| -> u32 {
        let units: usize = text.chars().take(count).map(char::len_utf16).sum();
        u32::try_from(units).unwrap_or(0)
    };
    let line = line.saturating_sub(1);
    Range {
        start: Position::new(line, units(before)),
        end: Position::new(line, units(before + length)),
    }
}

/// The findings of these lines, counted from 0.
pub(super) fn in_lines<'e>(entries: &[&'e Entry], lines: Range) -> Vec<&'e Entry> {
    let lines = lines.start.line..=lines.end.line;
    let entries = entries.iter().copied();
    let there = |entry: &&Entry| lines.contains(&entry.finding.line.saturating_sub(1));
    entries.filter(there).collect()
}

/// Findings as the terminal's report shows them.
pub(super) fn whole(entries: &[&Entry], root: &Path) -> anyhow::Result<String> {
    let mut out = anstream::StripStream::new(Vec::new());
    text::write(&mut out, entries, root, &Places::new(root, root))?;
    let text = String::from_utf8(out.into_inner())?;
    Ok(text.trim_end().to_owned())
}

/// The verdicts that can be given on a finding.
pub(super) fn actions(entry: &Entry, diagnostic: &Diagnostic) -> Vec<CodeAction> {
    let given = entry.judged.as_ref().map(|judged| judged.verdict);
    let verdicts = Verdict::ALL
        .into_iter()
        .filter(|verdict| given != Some(*verdict));
    let mut actions: Vec<(String, &str)> = verdicts
        .map(|verdict| {
            let name = verdict.name();
            (format!("Cassini: judge as {name}"), name)
        })
        .collect();
    if given.is_some() {
        actions.push(("Cassini: take the verdict back".to_owned(), OPEN));
    }
    let fingerprint = &entry.finding.fingerprint;
    let action = |(title, verdict): (String, &str)| CodeAction {
        command: Some(Command {
            title: title.clone(),
            command: JUDGE.to_owned(),
            arguments: Some(vec![json!(fingerprint), json!(verdict)]),
        }),
        title,
        kind: Some(CodeActionKind::QUICKFIX),
        diagnostics: Some(vec![diagnostic.clone()]),
        ..CodeAction::default()
    };
    actions.into_iter().map(action).collect()
}
