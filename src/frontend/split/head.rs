//! What a declaration's first bytes are: read backwards from a brace, or over a parameter list.
//!
//! In: text without directives. Out: whether a brace opens a function body, and whether a parameter
//! list is an old-style one.

use memchr::{memchr, memmem};

use crate::frontend::keywords::is_keyword;
use crate::frontend::lex;

/// Whether a `{` after this text at file level opens a function body, not a record, an enumeration
/// or an initialiser.
pub(super) fn opens_body(head: &[u8]) -> bool {
    let mut rest = head.trim_ascii_end();
    loop {
        // Attributes may stand between the parameters and the body, and after `struct`.
        match rest.last() {
            Some(b')') => {
                let Some(open) = matching_open(rest) else {
                    return true;
                };
                rest = rest[..open].trim_ascii_end();
                let word = last_word(rest);
                if word.is_empty() {
                    // `int (*f(void))(int) {`, but not `x = (struct point) {`.
                    return rest.ends_with(b")");
                }
                if !is_attribute_word(word) {
                    return !is_keyword(word);
                }
                rest = rest[..rest.len() - word.len()].trim_ascii_end();
            }
            Some(b']') if rest.ends_with(b"]]") => {
                let Some(open) = memmem::rfind(rest, b"[[") else {
                    return false;
                };
                rest = rest[..open].trim_ascii_end();
            }
            Some(byte) if lex::is_word(*byte) => return !follows_tag_keyword(rest),
            // Of an old-style definition, the last parameter's declaration.
            Some(b';') => return true,
            _ => return false,
        }
    }
}

/// Whether the text ends in `struct`, `struct name`, `enum name : type` and the like.
fn follows_tag_keyword(text: &[u8]) -> bool {
    let mut rest = text;
    for _ in 0..8 {
        let word = last_word(rest);
        if matches!(word, b"struct" | b"union" | b"enum") {
            return true;
        }
        rest = rest[..rest.len() - word.len()].trim_ascii_end();
        match rest.last() {
            Some(b')') => {
                let Some(open) = matching_open(rest) else {
                    return false;
                };
                let before = rest[..open].trim_ascii_end();
                if !is_attribute_word(last_word(before)) {
                    return false;
                }
                rest = before[..before.len() - last_word(before).len()].trim_ascii_end();
            }
            Some(b':') => rest = rest[..rest.len() - 1].trim_ascii_end(),
            Some(b']') => match memmem::rfind(rest, b"[[") {
                Some(open) => rest = rest[..open].trim_ascii_end(),
                None => return false,
            },
            Some(byte) if lex::is_word(*byte) => {}
            _ => return false,
        }
    }
    false
}

fn is_attribute_word(word: &[u8]) -> bool {
    matches!(
        word,
        b"__attribute__"
            | b"__attribute"
            | b"__declspec"
            | b"_Alignas"
            | b"alignas"
            | b"asm"
            | b"__asm__"
            | b"__asm"
    )
}

fn last_word(text: &[u8]) -> &[u8] {
    let length = text.iter().rev().take_while(|b| lex::is_word(**b)).count();
    &text[text.len() - length..]
}

/// Offset of the `(` that the `)` at the end closes. Brackets in strings are passed over.
fn matching_open(text: &[u8]) -> Option<usize> {
    let mut depth = 0usize;
    let mut quoted = false;
    for (at, byte) in text.iter().enumerate().rev() {
        let escaped = at > 0 && text[at - 1] == b'\\';
        match byte {
            b'"' if !escaped => quoted = !quoted,
            b')' if !quoted => depth += 1,
            b'(' if !quoted => {
                depth -= 1;
                if depth == 0 {
                    return Some(at);
                }
            }
            _ => {}
        }
    }
    None
}

/// Offset of the `)` that closes the `(` at the front.
pub(super) fn matching_close(text: &[u8]) -> Option<usize> {
    let mut depth = 0usize;
    let mut at = 0;
    while let Some(&byte) = text.get(at) {
        match byte {
            b'(' => depth += 1,
            b')' => {
                depth -= 1;
                if depth == 0 {
                    return Some(at);
                }
            }
            b'"' | b'\'' => at += 1 + lex::closing_quote(&text[at + 1..], byte),
            _ => {}
        }
        at += 1;
    }
    None
}

/// Whether the piece goes on with a word after a parameter list of plain names: `f(a, b) int a;`.
pub(super) fn names_parameters(text: &[u8]) -> bool {
    let Some(open) = memchr(b'(', text) else {
        return false;
    };
    let Some(length) = memchr(b')', &text[open..]) else {
        return false;
    };
    let list = &text[open + 1..open + length];
    let after = text[open + length + 1..].trim_ascii_start();
    let plain = list
        .iter()
        .all(|b| lex::is_word(*b) || b.is_ascii_whitespace() || *b == b',');
    let words = list
        .split(|b| *b == b',')
        .all(|name| name.trim_ascii().split(u8::is_ascii_whitespace).count() == 1);
    let word: usize = after.iter().take_while(|b| lex::is_word(**b)).count();
    plain && words && word > 0 && !is_attribute_word(&after[..word])
}
