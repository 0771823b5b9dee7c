//! Findings as a good compiler writes them: place, what is wrong, the source line with a caret, the
//! way there step by step, and what would make it no bug.

use std::io::{self, Write};
use std::path::Path;

use anstyle::{AnsiColor, Style};

use super::locate::is_identifier;
use super::{Contents, Places, place};
use crate::finding::{Finding, Level, TraceStep, identity};
use crate::source::{Inert, Sources, inert};
use crate::triage::{Entry, Known, State};

const BOLD: Style = Style::new().bold();
const FAINT: Style = Style::new().dimmed();

/// Writes the report. Styles are always written; the stream strips them where they are not wanted.
pub fn write_report(out: &mut dyn Write, contents: &Contents<'_>) -> io::Result<()> {
    let shown: Vec<&Entry> = contents.shown().collect();
    let Some(baseline) = contents.baseline.filter(|baseline| baseline.whole) else {
        return write(out, &shown, contents.root, contents.places);
    };
    let is_new = |entry: &&&Entry| entry.state == Some(State::New);
    let new: Vec<&Entry> = shown.iter().filter(is_new).copied().collect();
    write(out, &new, contents.root, contents.places)?;
    let unchanged = shown.iter().filter(|entry| !is_new(entry));
    for entry in unchanged {
        let Finding {
            file,
            line,
            column,
            message,
            rule,
            ..
        } = &entry.finding;
        let place = place(&contents.places.name(file), *line, *column);
        let (place, message) = (Inert(&place), Inert(message));
        writeln!(
            out,
            "{FAINT}unchanged:{FAINT:#} {place}: {message} [{}]",
            Inert(rule)
        )?;
    }
    for Known {
        file,
        line,
        message,
        rule,
        ..
    } in baseline.fixed
    {
        let place = place(&contents.places.name(file), *line, 0);
        let (place, message) = (Inert(&place), Inert(message));
        writeln!(
            out,
            "{FAINT}fixed:{FAINT:#} {place}: {message} [{}]",
            Inert(rule)
        )?;
    }
    Ok(())
}

/// Writes these findings. `root` is the folder that their files are relative to, and `places` names these to the
/// reader.
pub fn write(
    out: &mut dyn Write,
    entries: &[&Entry],
    root: &Path,
    places: &Places,
) -> io::Result<()> {
    let mut sources = Sources::default();
    let fingerprints: Vec<&str> = entries.iter().map(|e| &*e.finding.fingerprint).collect();
    let ids = identity::short(&fingerprints);
    for (entry, id) in entries.iter().zip(ids) {
        write_finding(out, &entry.finding, root, places, &mut sources)?;
        write_judgement(out, entry, id)?;
        writeln!(out)?;
    }
    Ok(())
}

/// Writes what people say of a finding, and what it is known by.
fn write_judgement(out: &mut dyn Write, entry: &Entry, id: &str) -> io::Result<()> {
    if let Some(judged) = &entry.judged {
        write!(out, "  judged: {}", judged.verdict.name())?;
        match judged.note.as_str() {
            "" => writeln!(out)?,
            note => writeln!(out, " ({})", Inert(note))?,
        }
    }
    if let Some(reason) = &entry.ignored {
        writeln!(out, "  ignored by a comment: {}", Inert(reason))?;
    }
    writeln!(out, "  {FAINT}id: {id}{FAINT:#}")
}

fn write_finding(
    out: &mut dyn Write,
    finding: &Finding,
    root: &Path,
    places: &Places,
    sources: &mut Sources,
) -> io::Result<()> {
    let (style, level) = level(finding.level);
    let place = place(&places.name(&finding.file), finding.line, finding.column);
    writeln!(
        out,
        "{BOLD}{}:{BOLD:#} {style}{level}:{style:#} {BOLD}{}{BOLD:#} [{}]",
        Inert(&place),
        Inert(&finding.message),
        Inert(&finding.rule)
    )?;
    if let Some(text) = sources.line(root, &finding.file, finding.line) {
        write_source(out, text, finding.line, finding.column, style)?;
    }
    let width = finding.trace.len().to_string().len();
    for (number, step) in (1..).zip(&finding.trace) {
        write_step(out, number, width, step, (finding, places))?;
    }
    match finding.programs.as_slice() {
        [] => {}
        [one] => writeln!(out, "  only in the program {}", Inert(one))?,
        several => writeln!(out, "  only in the programs {}", Inert(&several.join(", ")))?,
    }
    for explanation in &finding.explanations {
        writeln!(out, "  not a bug if {}", Inert(&explanation.text))?;
    }
    Ok(())
}

fn write_source(
    out: &mut dyn Write,
    text: &str,
    line: u32,
    column: u32,
    style: Style,
) -> io::Result<()> {
    writeln!(out, "{FAINT}{line:>6} |{FAINT:#} {}", Inert(text))?;
    let Some(before) = (column as usize).checked_sub(1) else {
        return Ok(());
    };
    // Tabs stay tabs, so that the caret stands under the character whatever a tab's width.
    let indent: String = text
        .chars()
        .take(before)
        .map(|c| match c {
            '\t' => "\t".to_owned(),
            // What is not shown as it is takes more room.
            c => " ".repeat(inert(c.encode_utf8(&mut [0; 4])).chars().count()),
        })
        .collect();
    let length = text
        .chars()
        .skip(before)
        .take_while(|&c| is_identifier(c))
        .count();
    let tail = "~".repeat(length.saturating_sub(1));
    writeln!(
        out,
        "{FAINT}{:>6} |{FAINT:#} {indent}{style}^{tail}{style:#}",
        ""
    )
}

fn write_step(
    out: &mut dyn Write,
    number: usize,
    width: usize,
    step: &TraceStep,
    (finding, places): (&Finding, &Places),
) -> io::Result<()> {
    let nesting = "  ".repeat(step.depth as usize);
    let place = place(&places.name(&step.file), step.line, 0);
    // The reported function goes without saying.
    let function = match (step.depth, step.function == finding.function) {
        (0, true) => String::new(),
        _ if step.function.is_empty() => String::new(),
        _ => format!("in {}: ", Inert(&step.function)),
    };
    writeln!(
        out,
        "  {number:>width$}. {nesting}{FAINT}{}:{FAINT:#} {function}{}",
        Inert(&place),
        Inert(&step.message)
    )
}

fn level(level: Level) -> (Style, &'static str) {
    let color = match level {
        Level::Error => AnsiColor::Red,
        Level::Warning => AnsiColor::Yellow,
        Level::Note => AnsiColor::Cyan,
        Level::Explained => AnsiColor::Green,
    };
    (color.on_default().bold(), level.name())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::arrange;
    use crate::report::tests::{entry, finding, hostile, rendered};
    use crate::source::is_inert;

    #[test]
    fn hostile_text_is_inert_on_a_terminal() {
        let text = rendered(&hostile(), None, write_report);
        assert!(text.chars().all(|c| c == '\n' || is_inert(c)), "{text}");
        assert!(text.contains("judged: bug (</pre><script>"), "{text}");
        assert_eq!(text.matches("id: ").count(), 1, "{text}");
    }

    fn plain(findings: &[Finding], root: &Path) -> String {
        let entries: Vec<Entry> = findings.iter().cloned().map(entry).collect();
        let entries: Vec<&Entry> = entries.iter().collect();
        let mut out = anstream::StripStream::new(Vec::new());
        write(&mut out, &entries, root, &Places::new(root, root)).unwrap();
        String::from_utf8(out.into_inner()).unwrap()
    }

    #[test]
    fn a_finding_reads_like_a_compilers_diagnostic() {
        let folder = tempfile::tempdir().unwrap();
        let source = "\tspin_lock(&dev->lock);\n\n\tif (flag) reset(dev);\n";
        std::fs::write(folder.path().join("a.c"), source).unwrap();
        let findings = arrange(vec![finding("a.c", 3, "1")], folder.path());
        let expected = "\
a.c:3:12: error: dev->lock is locked twice [lock/double-lock]
     3 | \tif (flag) reset(dev);
       | \t          ^~~~~
  1. a.c:1: spin_lock(&dev->lock) locks dev->lock
  2. a.c:3: calls reset(dev)
  3.   a.c:7: in reset: spin_lock(&d->lock) locks it again
  not a bug if flag == 0
  id: 1.0261db

";
        assert_eq!(plain(&findings, folder.path()), expected);
    }

    #[test]
    fn a_finding_whose_source_is_gone_is_still_shown() {
        let text = plain(&[finding("gone.c", 3, "1")], Path::new("/nonexistent"));
        assert!(
            text.starts_with("gone.c:3: error: dev->lock is locked twice"),
            "{text}"
        );
    }
}
