//! What the source states of who holds a lock, where the preprocessor leaves nothing of it: Sparse's annotations between a
//! function's head and its body, lockdep's assertions before the place.
//!
//! In: a finding about a function's obligation, the function, the tree's root. Out: whether the source says that the obligation is meant. Only
//! the text around reported places is read.

use std::path::Path;

use crate::finding::Finding;
use crate::frontend::annotate::{ASSERTS, CHECKS, QUERIES, is_name, up_to_end};
use crate::judge::obligation::Kind;
use crate::program::Function;
use crate::source::Sources;

/// Lines between a function's name and its body, at most.
const MAX_HEAD: u32 = 16;

/// At a function's head: it is called with the lock held.
const NEEDS: [&str; 4] = [
    "__releases",
    "__must_hold",
    "__must_hold_shared",
    "__releases_shared",
];
/// At a function's head: it returns with the lock held.
const KEEPS: [&str; 3] = ["__acquires", "__acquires_shared", "__cond_acquires"];

/// Whether the source states that a function is called with the object held, or returns with it held.
pub fn stated(
    sources: &mut Sources,
    root: &Path,
    function: &Function,
    (kind, finding): (Kind, &Finding),
) -> bool {
    let mut line = |number: u32| {
        let line = sources.line(root, &function.file, number);
        line.map(|line| line.split("//").next().unwrap_or(line).to_owned())
    };
    let mut number = function.line;
    let mut head = String::new();
    while number < function.line + MAX_HEAD
        && let Some(text) = line(number)
    {
        head.push_str(&text);
        head.push('\n');
        if text.contains('{') {
            break;
        }
        number += 1;
    }
    let head = head.split('{').next().unwrap_or_default();
    let words: &[&str] = match kind {
        Kind::Required => &NEEDS,
        Kind::Held => &KEEPS,
    };
    if says(head, words, &finding.object) {
        return true;
    }
    if kind == Kind::Held || finding.file != function.file {
        return false;
    }
    let mut body = (number..finding.line).map_while(line);
    body.any(|text| asserts(&text, &finding.object))
}

/// Whether a line says that the object is held there.
fn asserts(text: &str, object: &str) -> bool {
    let checks = || CHECKS.iter().any(|check| text.contains(check));
    says(text, &ASSERTS, object) || checks() && says(text, &QUERIES, object)
}

/// Whether a text has one of these words with an argument that names the object.
fn says(text: &str, words: &[&str], object: &str) -> bool {
    words.iter().any(|word| {
        let mut places = text.match_indices(word);
        places.any(|(at, _)| {
            let begins = !text[..at].ends_with(is_name);
            let argument = text[at + word.len()..].trim_start().strip_prefix('(');
            begins
                && argument.is_some_and(|argument| {
                    last_name(up_to_end(argument).unwrap_or(argument)) == last_name(object)
                })
        })
    })
}

/// The member or the variable that an expression ends in, without what the kernel wraps in a lock.
fn last_name(expression: &str) -> &str {
    let expression = expression
        .trim()
        .trim_end_matches(".rlock")
        .trim_end_matches(')');
    let start = expression.rfind(|c| !is_name(c)).map_or(0, |at| at + 1);
    &expression[start..]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_annotation_names_the_lock_as_the_function_sees_it() {
        let head = "void f(struct q *q)\n\t__releases(&q->bdev->lock) __acquires(&q->other)\n";
        assert!(says(head, &NEEDS, "q->bdev->lock"));
        assert!(says(head, &NEEDS, "q->bdev->lock.rlock"));
        assert!(!says(head, &NEEDS, "q->other"));
        assert!(says(head, &KEEPS, "q->other"));
        assert!(says(
            "\tlockdep_assert_held(this_rq_lock(q));",
            &ASSERTS,
            "q"
        ));
        assert!(!says(
            "\tmy_lockdep_assert_held(&q->lock);",
            &ASSERTS,
            "q->lock"
        ));
        assert!(!says("lockdep_assert_held(", &ASSERTS, "q->lock"));
    }

    #[test]
    fn a_question_is_no_assertion() {
        assert!(asserts("\tWARN_ON(!mutex_is_locked(&q->lock));", "q->lock"));
        assert!(!asserts("\tif (mutex_is_locked(&q->lock))", "q->lock"));
    }
}
