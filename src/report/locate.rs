//! Points at the operation in the source line, and quotes conditions.
//!
//! In: findings with lines, and columns counted in the preprocessed line (a macro earlier on the line
//! shifts those). Out: columns in the source line as it is in the file; steps that speak of a condition
//! say which.

use std::path::Path;

use crate::finding::{Finding, TraceStep};
use crate::source::Sources;

/// Completes findings and their traces' steps from the source.
pub(super) fn complete(findings: &mut [Finding], root: &Path) {
    let mut sources = Sources::default();
    for finding in findings {
        for step in &mut finding.trace {
            if let Some(text) = sources.line(root, &step.file, step.line) {
                step.column = column(text, step.column, [step.message.as_str()]);
                quote_condition(&mut step.message, text);
            }
        }
        if let Some(text) = sources.line(root, &finding.file, finding.line) {
            // What happens there is said by the step of that line, else by the finding itself.
            let here = |step: &&TraceStep| {
                step.depth == 0 && step.file == finding.file && step.line == finding.line
            };
            let step = finding.trace.iter().rev().find(here);
            let said = step.map_or("", |step| step.message.as_str());
            finding.column = column(text, finding.column, [said, finding.message.as_str()]);
        }
    }
}

/// Adds the source of the condition to "… condition is true".
fn quote_condition(message: &mut String, line: &str) {
    const LENGTH: usize = 60;
    if !(message.ends_with("condition is true") || message.ends_with("condition is false")) {
        return;
    }
    let line = line.trim().trim_end_matches('{').trim_end();
    if line.is_empty() {
        return;
    }
    let quoted: String = line.chars().take(LENGTH).collect();
    let rest = if quoted.len() < line.len() { "…" } else { "" };
    message.push_str(&format!(": `{quoted}{rest}`"));
}

/// The 1-based column, in characters, of the first function called in `said` that the line names too, of its
/// calls the one that stands where given, else the first one;
/// else `given` if the line has something there; else the line's first character that is not blank.
fn column<'a>(line: &str, given: u32, said: impl IntoIterator<Item = &'a str>) -> u32 {
    let named = said
        .into_iter()
        .flat_map(called)
        .find_map(|name| word(line, name, given as usize));
    let shown = |column: &usize| {
        let character = column
            .checked_sub(1)
            .and_then(|index| line.chars().nth(index));
        character.is_some_and(|c| !c.is_whitespace())
    };
    let column = named
        .or_else(|| Some(given as usize).filter(shown))
        .or_else(|| line.chars().position(|c| !c.is_whitespace()).map(|i| i + 1));
    column.map_or(given, |column| column as u32)
}

/// The names in `text` that an opening parenthesis follows.
fn called(text: &str) -> impl Iterator<Item = &str> {
    text.match_indices('(').filter_map(|(at, _)| {
        let before = &text[..at];
        let start = before.rfind(|c: char| !is_identifier(c)).map_or(0, |i| {
            i + before[i..].chars().next().map_or(1, char::len_utf8)
        });
        Some(&before[start..]).filter(|name| !name.is_empty())
    })
}

/// The 1-based column, in characters, of `name` as a whole word of `line`: `given` if it stands there, else the
/// first one.
fn word(line: &str, name: &str, given: usize) -> Option<usize> {
    let columns = line.match_indices(name).filter_map(|(at, _)| {
        let before = line[..at].chars().next_back();
        let after = line[at + name.len()..].chars().next();
        let whole = !before.is_some_and(is_identifier) && !after.is_some_and(is_identifier);
        whole.then(|| line[..at].chars().count() + 1)
    });
    let mut columns = columns.peekable();
    let first = columns.peek().copied();
    columns.find(|&column| column == given).or(first)
}

pub(super) fn is_identifier(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_column_is_that_of_the_call_spoken_of() {
        let line = "\tif (x) try_lock(a), lock(&p->lock);";
        assert_eq!(column(line, 3, ["lock(&p->lock) locks p->lock"]), 22);
        assert_eq!(column(line, 5, ["leaves p->lock locked"]), 5);
        assert_eq!(column(line, 1, ["leaves p->lock locked"]), 2);
        assert_eq!(column(line, 400, ["é(x)"]), 2);
        assert_eq!(column("", 3, ["lock(x)"]), 3);
        let twice = "{ lock(a); lock(a); }";
        assert_eq!(column(twice, 12, ["lock(a) again"]), 12);
        assert_eq!(column(twice, 7, ["lock(a) again"]), 3);
    }

    #[test]
    fn a_condition_is_quoted_from_the_source() {
        let mut message = "the condition is false".to_owned();
        quote_condition(&mut message, "\t} else if (a < b) {");
        assert_eq!(message, "the condition is false: `} else if (a < b)`");
        let mut other = "calls f".to_owned();
        quote_condition(&mut other, "if (x)");
        assert_eq!(other, "calls f");
    }
}
