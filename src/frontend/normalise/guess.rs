//! Guesses for a declaration that does not parse because a header was not found: which of its words
//! are type names, and which are left over from macros.
//!
//! In: the tokens of a declaration. Out: [`Guess`]: names to take for types, tokens to leave out. Only
//! patterns that are no C otherwise are followed: two words in a row, a lone word in a cast, a
//! "multiplication" where a declaration must stand.

use super::{Form, Kind, Token, undigraph};
use crate::frontend::outline::{is_keyword, is_specifier_keyword, is_type_keyword};

#[derive(Debug, Default, PartialEq, Eq)]
pub struct Guess<'t> {
    /// Names that must be types.
    pub types: Vec<&'t [u8]>,
    /// Tokens that must be what is left of macros.
    pub dropped: Vec<usize>,
}

/// Guesses from the tokens of a declaration; `typedef` tells the type names that are known.
pub fn guess<'t>(
    text: &'t [u8],
    tokens: &[Token],
    form: Form,
    typedef: &dyn Fn(&[u8]) -> bool,
) -> Guess<'t> {
    let guesser = Guesser {
        text,
        tokens,
        typedef,
    };
    let head = match form {
        Form::Definition { body } => tokens.partition_point(|token| token.start < body),
        _ => tokens.len(),
    };
    let mut guess = Guess::default();
    for at in 0..tokens.len() {
        if !guesser.is_unknown(at) {
            continue;
        }
        if guesser.is_leftover(at) {
            guess.dropped.push(at);
        } else if guesser.is_type(at, at < head) {
            guess.types.push(guesser.spelling(at));
        }
    }
    guess.types.sort_unstable();
    guess.types.dedup();
    guess
}

struct Guesser<'t, 'a> {
    text: &'t [u8],
    tokens: &'a [Token],
    typedef: &'a dyn Fn(&[u8]) -> bool,
}

impl<'t> Guesser<'t, '_> {
    fn spelling(&self, at: usize) -> &'t [u8] {
        match self.tokens.get(at) {
            Some(token) => undigraph(&self.text[token.start as usize..token.end as usize]),
            None => b"",
        }
    }

    /// The spelling of the token `back` before `at`.
    fn before(&self, at: usize, back: usize) -> &'t [u8] {
        at.checked_sub(back).map_or(b"", |at| self.spelling(at))
    }

    fn is_name(&self, at: usize) -> bool {
        self.tokens
            .get(at)
            .is_some_and(|token| token.kind == Kind::Ident)
            && !is_keyword(self.spelling(at))
    }

    fn is_unknown(&self, at: usize) -> bool {
        self.is_name(at)
            && !matches!(
                self.before(at, 1),
                b"." | b"->" | b"struct" | b"union" | b"enum" | b"goto"
            )
            && !(self.typedef)(self.spelling(at))
    }

    /// A type stands before `at`, past qualifiers.
    fn follows_type(&self, at: usize) -> bool {
        let Some(before) = at.checked_sub(1) else {
            return false;
        };
        let spelling = self.spelling(before);
        match spelling {
            b"const" | b"volatile" => self.follows_type(before),
            _ if is_type_keyword(spelling) => true,
            _ if self.is_name(before) => {
                (self.typedef)(spelling)
                    || matches!(self.before(before, 1), b"struct" | b"union" | b"enum")
            }
            _ => false,
        }
    }

    /// `int API f(void)`, `void MARK *p`, `API int f(void)`.
    fn is_leftover(&self, at: usize) -> bool {
        let next = self.spelling(at + 1);
        let before_name = self.is_name(at + 1)
            && matches!(
                self.spelling(at + 2),
                b"(" | b";" | b"=" | b"," | b")" | b"["
            );
        let before_pointer = next == b"*" && self.is_name(at + 2);
        if self.follows_type(at) {
            return before_name || before_pointer;
        }
        is_type_keyword(next) || is_specifier_keyword(next) && next != b"const"
    }

    /// Whether the word must be a type name; `head` outside of function bodies.
    fn is_type(&self, at: usize, head: bool) -> bool {
        let (before, next) = (self.before(at, 1), self.spelling(at + 1));
        // `T x`
        if self.is_name(at + 1) {
            return true;
        }
        // `(T *)`, `(T **)`
        if next == b"*" {
            let mut past = at + 1;
            while matches!(self.spelling(past), b"*" | b"const" | b"volatile") {
                past += 1;
            }
            if before == b"(" && self.spelling(past) == b")" {
                return true;
            }
            let starts = matches!(
                before,
                b"" | b";" | b"{" | b"}" | b"static" | b"extern" | b"typedef"
            ) || head && matches!(before, b"(" | b",");
            if starts && self.is_name(past) && (head || before != b"(") {
                return matches!(
                    self.spelling(past + 1),
                    b";" | b"=" | b"," | b")" | b"[" | b"("
                );
            }
        }
        // `const T *p`, but not `* const p`
        if matches!(before, b"const" | b"volatile")
            && !matches!(self.before(at, 2), b"*")
            && !self.follows_type(at)
        {
            return matches!(next, b"*" | b")" | b",");
        }
        // `(T) x`
        if before == b"(" && next == b")" {
            let operand =
                self.tokens.get(at + 2).is_some_and(|token| {
                    matches!(token.kind, Kind::Number | Kind::Str | Kind::Char)
                }) || self.is_name(at + 2);
            let caller = self.before(at, 2);
            let called = at >= 2 && self.is_name(at - 2)
                || matches!(caller, b"if" | b"while" | b"for" | b"switch" | b")" | b"]");
            return operand && !called;
        }
        false
    }
}
