//! Comparisons with null that a macro makes.
//!
//! In: findings about pointers, with the place of the comparison in their trace, and the sources. Out: the findings, explained where no
//! comparison is seen in the source: the statement there is the use of a macro, such as an assertion.

use std::path::Path;

use crate::finding::{ExplanationKind as Kind, Finding};
use crate::source::Sources;
use crate::summary::trace::COMPARED;

/// The words of C that a statement with a test of its own begins with.
const STATEMENTS: [&str; 7] = ["if", "while", "for", "switch", "return", "do", "else"];

/// Explains a finding if only macros give a reason for it.
pub fn explain(finding: &mut Finding, sources: &mut Sources, root: &Path) {
    let compared = finding.trace.iter();
    let mut compared = compared
        .filter(|step| step.depth == 0 && step.message.ends_with(COMPARED))
        .peekable();
    if compared.peek().is_none() {
        return;
    }
    let by_macro = compared.all(|step| {
        let line = sources.line(root, &step.file, step.line);
        line.is_some_and(is_use_of_macro)
    });
    if by_macro {
        finding.explain_by(Kind::TestedByMacro);
    }
}

/// Whether a line begins with something that looks like a call, and has no test of its own but what may be its arguments.
fn is_use_of_macro(line: &str) -> bool {
    let line = line.trim_start_matches(|c: char| c.is_whitespace() || "{}".contains(c));
    let end = line.find(|c: char| !(c.is_ascii_alphanumeric() || c == '_'));
    let (word, rest) = line.split_at(end.unwrap_or(line.len()));
    !word.is_empty()
        && !STATEMENTS.contains(&word)
        && rest.trim_start().starts_with('(')
        && !rest.contains('?')
}

#[cfg(test)]
mod tests {
    use super::*;

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
}
