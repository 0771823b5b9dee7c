//! What a person should know of how the tree was read and put together.
//!
//! In: the linked program, and problems of the reading. Out: problems of the linking, and the errors among problems as text.

use crate::capture::{Problem, Severity};
use crate::program::Program;
use crate::program::link::MAX_VARIANTS;

/// What went wrong while the tree was read.
pub(super) fn errors(problems: &[Problem]) -> Vec<String> {
    let errors = problems.iter().filter(|p| p.severity == Severity::Error);
    errors.map(Problem::to_string).collect()
}

/// What a person should know of how the program was put together.
pub(super) fn linking_problems(program: &Program) -> Vec<Problem> {
    let mut problems = Vec::new();
    let mut tell = |severity, message| problems.push(Problem::new(severity, None, message));
    for ambiguity in &program.ambiguous {
        tell(Severity::Note, ambiguity.to_string());
    }
    if program.shared_variants > 0 {
        let message = format!(
            "{} functions differ in more than {MAX_VARIANTS} programs; those beyond share one analysis of them",
            program.shared_variants
        );
        tell(Severity::Warning, message);
    }
    if program.images_left_out > 0 {
        let message = format!(
            "{} programs of the tree are not put together: there are too many; record the build with `cassini capture`",
            program.images_left_out
        );
        tell(Severity::Warning, message);
    }
    problems
}
