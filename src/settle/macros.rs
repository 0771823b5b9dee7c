//! Comparisons with null that a macro makes.
//!
//! In: findings about pointers, with the place of the comparison in their trace, and the sources. Out: the findings, explained where no
//! comparison is seen in the source: the statement there is the use of a macro, such as an assertion.

use std::path::Path;

use crate::finding::{ExplanationKind as Kind, Finding};
use crate::source::Sources;
use crate::summary::trace::{COMPARED, DECIDED, MADE_NULL, MAKES_NULL};

/// The words of C that a statement with a test of its own begins with.
const STATEMENTS: [&str; 7] = ["if", "while", "for", "switch", "return", "do", "else"];

/// What is in the names of macros and functions that are there for a test of their argument: `likely(p)`, `IS_NULL(p)`.
const FOR_TESTS: [&str; 3] = ["likely", "expect", "null"];

/// Explains a finding if only macros give a reason for it.
pub fn explain(finding: &mut Finding, sources: &mut Sources, root: &Path) {
    let compared = finding.trace.iter();
    let mut compared = compared
        .filter(|step| step.depth == 0 && step.message.ends_with(COMPARED))
        .peekable();
    let by_macro = match compared.peek() {
        Some(_) => compared.all(|step| {
            let line = sources.line(root, &step.file, step.line);
            line.is_some_and(|line| {
                is_use_of_macro(line) || calls_without_test(line) || tests_what_is_called(line)
            })
        }),
        None => made_null_by_macro(finding, sources, root),
    };
    if by_macro {
        finding.explain_by(Kind::TestedByMacro);
    }
}

/// Whether a pointer is followed that is null only on a way that macros alone have chosen (`p = entry_or_null(node); p->next`).
fn made_null_by_macro(finding: &Finding, sources: &mut Sources, root: &Path) -> bool {
    let is_null = finding
        .trace
        .iter()
        .any(|step| step.message.ends_with(MADE_NULL));
    let decisions = |how: &'static str| {
        let steps = finding.trace.iter();
        steps.filter(move |step| step.depth == 0 && step.message.starts_with(how))
    };
    // What decides that it is null, if that is known.
    let how = match decisions(MAKES_NULL).next() {
        Some(_) => MAKES_NULL,
        None => DECIDED,
    };
    is_null
        && decisions(how).next().is_some()
        && decisions(how).all(|step| {
            let line = sources.line(root, &step.file, step.line);
            line.is_some_and(|line| is_use_of_macro(assigned(line)))
        })
}

/// Whether a letter is one of a word of C.
fn is_of_word(letter: char) -> bool {
    letter.is_ascii_alphanumeric() || letter == '_'
}

/// What a line assigns, without a cast before it: all of the line, if it assigns nothing.
fn assigned(line: &str) -> &str {
    let assigned = line
        .split_once(" = ")
        .filter(|(left, _)| !left.contains('('));
    let assigned = assigned.map_or(line, |(_, right)| right);
    let cast = assigned
        .trim_start()
        .strip_prefix('(')
        .and_then(|rest| rest.split_once(')'))
        .filter(|(cast, _)| is_type(cast));
    cast.map_or(assigned, |(_, value)| value)
}

/// Whether words in parentheses are a type, as far as their letters tell.
fn is_type(words: &str) -> bool {
    words.chars().all(|c| is_of_word(c) || c == '*' || c == ' ')
}

/// Whether a line begins with something that looks like a call, and has no test of its own but what may be its arguments.
fn is_use_of_macro(line: &str) -> bool {
    let line = line.trim_start_matches(|c: char| c.is_whitespace() || "{}".contains(c));
    let end = line.find(|c: char| !is_of_word(c));
    let (word, rest) = line.split_at(end.unwrap_or(line.len()));
    !word.is_empty()
        && !STATEMENTS.contains(&word)
        && rest.trim_start().starts_with('(')
        && !rest.contains('?')
}

/// Whether a line calls something, and asks nothing itself: what is asked there, a macro asks (`kind = kind_of(p);`).
fn calls_without_test(line: &str) -> bool {
    let mut words = line.split(|c: char| !is_of_word(c));
    let calls = line.match_indices('(').any(|(at, _)| {
        let before = line[..at].trim_end();
        before.ends_with(is_of_word)
    });
    let whole = line.matches('(').count() == line.matches(')').count();
    let asks = ["?", "&&", "||", "!", "=="];
    calls
        && whole
        && !asks.iter().any(|token| line.contains(token))
        && !words.any(|word| STATEMENTS.contains(&word) && word != "return")
}

/// Whether a line tests what something called yields, and nothing else: `if (*text_of(buffer) != '@')`. What compares its argument with null is a macro
/// then, unless it says by its name that this is what it is for.
fn tests_what_is_called(line: &str) -> bool {
    let (left, calls) = without_arguments(line);
    let assigns = left.match_indices('=').any(|(at, _)| {
        let before = left[..at].ends_with(['=', '!', '<', '>']);
        !before && !left[at + 1..].starts_with('=')
    });
    let negates = left.match_indices('!').any(|(at, _)| {
        let behind = &left[at + 1..];
        !behind.starts_with('=') && !begins_with_bits(behind)
    });
    let asks = ["&&", "||", "?", "NULL"];
    calls > 0 && !assigns && !negates && !asks.iter().any(|token| left.contains(token))
}

/// Whether a text begins with bits of a number, in parentheses: `(flags_of & READY)`.
fn begins_with_bits(text: &str) -> bool {
    let inner = text.trim_start().strip_prefix('(');
    let inner = inner.and_then(|inner| inner.split_once(')'));
    inner.is_some_and(|(inner, _)| inner.contains(" & ") && !inner.contains('('))
}

/// A line without the arguments of what is called in it, and how many calls there are. Words of C, and what is there for a test, are no calls.
fn without_arguments(line: &str) -> (String, usize) {
    let mut left = String::new();
    let mut calls = 0;
    // Parentheses within a call that are open.
    let mut depth = 0u32;
    for (at, letter) in line.char_indices() {
        match letter {
            '(' if depth > 0 => depth += 1,
            ')' if depth > 0 => depth -= 1,
            _ if depth > 0 => {}
            '(' => {
                let before = line[..at].trim_end();
                let word = &before[before.trim_end_matches(is_of_word).len()..];
                let lower = word.to_ascii_lowercase();
                let is_call = !word.is_empty()
                    && !STATEMENTS.contains(&word)
                    && !FOR_TESTS.iter().any(|test| lower.contains(test));
                match is_call {
                    true => {
                        calls += 1;
                        depth = 1;
                    }
                    false => left.push(letter),
                }
            }
            _ => left.push(letter),
        }
    }
    (left, calls)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_called_is_tested_and_not_its_argument() {
        assert!(tests_what_is_called("\tif (*(text_of (b)) != '@')"));
        assert!(tests_what_is_called("\tif (IS_LEAF(self)) {"));
        assert!(tests_what_is_called("\t} else if (size_of(b->next) > 4) {"));
        assert!(tests_what_is_called("\tif (!(events_of(n) & IN)) {"));
        assert!(!tests_what_is_called("\tif (!(is_set(p))) {"));
        assert!(!tests_what_is_called("\tif (likely(p))"));
        assert!(!tests_what_is_called("\tif (IS_NULL(p))"));
        assert!(!tests_what_is_called("\tif (!p)"));
        assert!(!tests_what_is_called("\tif ((p = next(q)))"));
        assert!(!tests_what_is_called("\tif (p && is_leaf(p))"));
        assert!(!tests_what_is_called("\tif (!list_empty(p))"));
        assert!(!tests_what_is_called("\twhile (p)"));
    }

    #[test]
    fn what_asks_nothing_itself_has_a_macro_that_asks() {
        assert!(calls_without_test("\tExifIfd ifd = kind_of(e) ;"));
        assert!(calls_without_test("\treturn kind_of(e);"));
        assert!(!calls_without_test("\tkind = e ? kind_of(e) : NONE;"));
        assert!(!calls_without_test("\tif (known(e))"));
        assert!(!calls_without_test("\tkind = kind_of(e"));
        assert!(!calls_without_test("\tkind = e"));
    }

    #[test]
    fn an_assertion_is_a_macro_and_an_if_is_none() {
        assert!(is_use_of_macro("\tassert(p != NULL && q);"));
        assert!(is_use_of_macro("  FREE(p);"));
        assert!(!is_use_of_macro("\tif (p)"));
        assert!(!is_use_of_macro("    } else if (!p) {"));
        assert!(!is_use_of_macro("\t    && p != NULL)"));
        assert!(!is_use_of_macro("\treturn p && p->x;"));
        assert!(!is_use_of_macro("\tx = p ? p->x : 0;"));
        assert!(!is_use_of_macro("\tcall(p ? p->x : 0);"));
    }

    #[test]
    fn what_is_assigned_may_be_a_macro() {
        let line = "\tstruct info *vi = entry_or_null(node, struct info,";
        assert!(is_use_of_macro(assigned(line)));
        assert!(!is_use_of_macro(assigned("\tvi = node ? entry(node) : 0;")));
        assert!(!is_use_of_macro(assigned("\tif ((vi = entry(node)))")));
        assert!(is_use_of_macro(assigned(
            "\tvi = (struct info *) entry(node);"
        )));
        assert!(!is_use_of_macro(assigned(
            "\tvi = (node) ? entry(node) : 0;"
        )));
    }
}
