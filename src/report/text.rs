//! Findings as a good compiler writes them: place, what is wrong, the source line with a caret, the
//! way there step by step, and what would make it no bug.

use std::io::{self, Write};
use std::path::Path;

use anstyle::{AnsiColor, Style};

use super::Places;
use super::locate::is_identifier;
use crate::finding::{Finding, Level, TraceStep};
use crate::source::Sources;

const BOLD: Style = Style::new().bold();
const FAINT: Style = Style::new().dimmed();

/// Writes all findings. `root` is the folder that their files are relative to, and `places` names these to the
/// reader. Styles are always written; the stream strips them where they are not wanted.
pub fn write(
    out: &mut dyn Write,
    findings: &[Finding],
    root: &Path,
    places: &Places,
) -> io::Result<()> {
    let mut sources = Sources::default();
    for finding in findings {
        write_finding(out, finding, root, places, &mut sources)?;
        writeln!(out)?;
    }
    Ok(())
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
        "{BOLD}{place}:{BOLD:#} {style}{level}:{style:#} {BOLD}{}{BOLD:#} [{}]",
        finding.message, finding.rule
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
        [one] => writeln!(out, "  only in the program {one}")?,
        several => writeln!(out, "  only in the programs {}", several.join(", "))?,
    }
    for explanation in &finding.explanations {
        writeln!(out, "  not a bug if {}", explanation.text)?;
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
    writeln!(out, "{FAINT}{line:>6} |{FAINT:#} {text}")?;
    let Some(before) = (column as usize).checked_sub(1) else {
        return Ok(());
    };
    // Tabs stay tabs, so that the caret stands under the character whatever a tab's width.
    let indent: String = text
        .chars()
        .take(before)
        .map(|c| if c == '\t' { '\t' } else { ' ' })
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
        _ => format!("in {}: ", step.function),
    };
    writeln!(
        out,
        "  {number:>width$}. {nesting}{FAINT}{place}:{FAINT:#} {function}{}",
        step.message
    )
}

fn place(file: &str, line: u32, column: u32) -> String {
    match (line, column) {
        (0, _) => file.to_owned(),
        (line, 0) => format!("{file}:{line}"),
        (line, column) => format!("{file}:{line}:{column}"),
    }
}

fn level(level: Level) -> (Style, &'static str) {
    let (color, name) = match level {
        Level::Error => (AnsiColor::Red, "error"),
        Level::Warning => (AnsiColor::Yellow, "warning"),
        Level::Note => (AnsiColor::Cyan, "note"),
        Level::Explained => (AnsiColor::Green, "explained"),
    };
    (color.on_default().bold(), name)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::arrange;
    use crate::report::tests::finding;

    fn plain(findings: &[Finding], root: &Path) -> String {
        let mut out = anstream::StripStream::new(Vec::new());
        write(&mut out, findings, root, &Places::new(root, root)).unwrap();
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
