//! Guesses for a declaration that does not parse because a header was not found: which of its words
//! are type names, and which are left over from macros.
//!
//! In: the tokens of a declaration. Out: [`Guess`]: names to take for types, tokens to leave out. Only
//! patterns that are no C otherwise are followed: two words in a row, a lone word in a cast, a
//! "multiplication" where a declaration must stand. That one parses as a statement of a body, and is looked for in all of them.

use std::collections::BTreeSet;

use super::attribute::takes_list;
use super::{Form, Kind, Token, undigraph};
use crate::frontend::keywords::{is_keyword, is_specifier_keyword, is_type_keyword};
use crate::frontend::outline::shouts;

#[derive(Debug, Default, PartialEq, Eq)]
pub struct Guess<'t> {
    /// Names that must be types, sorted.
    pub types: Vec<&'t [u8]>,
    /// Tokens that must be what is left of macros, sorted.
    pub dropped: Vec<usize>,
}

/// Guesses from the tokens of a declaration; `typedef` tells the type names that are known.
pub fn guess<'t>(
    text: &'t [u8],
    tokens: &[Token],
    form: Form,
    typedef: &dyn Fn(&[u8]) -> bool,
) -> Guess<'t> {
    let mut guesser = Guesser::new(text, tokens, form, typedef);
    guesser.brackets = guesser.brackets();
    for at in 0..tokens.len() {
        if !guesser.is_unknown(at) || guesser.dropped.contains(&at) {
            continue;
        }
        let leftover = guesser.leftover(at);
        if !leftover.is_empty() {
            guesser.dropped.extend(leftover);
        } else if guesser.is_type(at) {
            guesser.types.insert(guesser.spelling(at));
        }
    }
    Guess {
        types: guesser.types.into_iter().collect(),
        dropped: guesser.dropped.into_iter().collect(),
    }
}

/// The type names of a missing header by which a function's body declares pointers: `FILE *in = open_it();` parses as a product that is assigned to,
/// and `FILE *in;` as one that nothing is done with.
pub fn types_of_pointers<'t>(
    text: &'t [u8],
    tokens: &[Token],
    form: Form,
    typedef: &dyn Fn(&[u8]) -> bool,
) -> Guess<'t> {
    let guesser = Guesser::new(text, tokens, form, typedef);
    let found = (guesser.head..tokens.len()).filter(|at| guesser.declares_pointer(*at));
    let types: BTreeSet<_> = found.map(|at| guesser.spelling(at)).collect();
    let types = types.into_iter().filter(|name| !guesser.is_variable(name));
    Guess {
        types: types.collect(),
        dropped: Vec::new(),
    }
}

/// A declaration that begins more tokens before, and a call that ends more behind, are not looked at.
const FARTHEST: usize = 1000;

/// Of a token: the bracket around it, and for a bracket its mate.
#[derive(Clone, Copy, Default)]
struct Bracket {
    around: Option<usize>,
    open: Option<usize>,
    close: Option<usize>,
}

struct Guesser<'t, 'a> {
    text: &'t [u8],
    tokens: &'a [Token],
    typedef: &'a dyn Fn(&[u8]) -> bool,
    brackets: Vec<Bracket>,
    /// Where a function's body begins.
    head: usize,
    types: BTreeSet<&'t [u8]>,
    dropped: BTreeSet<usize>,
}

impl<'t, 'a> Guesser<'t, 'a> {
    fn new(
        text: &'t [u8],
        tokens: &'a [Token],
        form: Form,
        typedef: &'a dyn Fn(&[u8]) -> bool,
    ) -> Self {
        Guesser {
            text,
            tokens,
            typedef,
            brackets: Vec::new(),
            head: match form {
                Form::Definition { body } => tokens.partition_point(|token| token.start < body),
                _ => tokens.len(),
            },
            types: BTreeSet::new(),
            dropped: BTreeSet::new(),
        }
    }

    /// `; T *x;`, `{ T **x = y;`, `} T *x, *y;`
    fn declares_pointer(&self, at: usize) -> bool {
        let starts = matches!(self.before(at, 1), b";" | b"{" | b"}");
        if !starts || !self.is_unknown(at) || self.spelling(at + 1) != b"*" {
            return false;
        }
        let name = self.past_pointers(at + 1);
        self.is_name(name) && matches!(self.spelling(name + 1), b";" | b"=" | b"," | b"[")
    }

    /// The first token from `at` on that is neither `*` nor a qualifier.
    fn past_pointers(&self, mut at: usize) -> usize {
        while matches!(self.spelling(at), b"*" | b"const" | b"volatile") {
            at += 1;
        }
        at
    }

    /// Whether a name is used in the function as that of a variable.
    fn is_variable(&self, name: &[u8]) -> bool {
        let mut places = (0..self.tokens.len()).filter(|&at| self.spelling(at) == name);
        places.any(|at| {
            let before = at.checked_sub(1);
            let declared = before.is_some_and(|before| self.is_name(before))
                || is_type_keyword(self.before(at, 1))
                || self.before(at, 1) == b"*";
            let used = matches!(
                self.spelling(at + 1),
                b"=" | b"[" | b"." | b"->" | b"++" | b"--" | b";" | b"," | b"+" | b"-" | b"("
            );
            declared || used
        })
    }

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

    fn brackets(&self) -> Vec<Bracket> {
        let mut brackets = vec![Bracket::default(); self.tokens.len()];
        let mut open: Vec<usize> = Vec::new();
        for at in 0..self.tokens.len() {
            let spelling = self.spelling(at);
            if matches!(spelling, b")" | b"]" | b"}")
                && let Some(from) = open.pop()
            {
                brackets[from].close = Some(at);
                brackets[at].open = Some(from);
            }
            brackets[at].around = open.last().copied();
            if matches!(spelling, b"(" | b"[" | b"{") {
                open.push(at);
            }
        }
        brackets
    }

    fn close(&self, open: usize) -> Option<usize> {
        self.brackets.get(open).and_then(|bracket| bracket.close)
    }

    fn kind(&self, at: usize) -> Option<Kind> {
        self.tokens.get(at).map(|token| token.kind)
    }

    fn is_name(&self, at: usize) -> bool {
        self.kind(at) == Some(Kind::Ident) && !is_keyword(self.spelling(at))
    }

    fn is_unknown(&self, at: usize) -> bool {
        self.is_name(at)
            && !matches!(
                self.before(at, 1),
                b"." | b"->" | b"struct" | b"union" | b"enum" | b"goto"
            )
            && !(self.typedef)(self.spelling(at))
    }

    /// A name that is a type, known or guessed.
    fn names_type(&self, at: usize) -> bool {
        let spelling = self.spelling(at);
        self.is_name(at) && ((self.typedef)(spelling) || self.types.contains(spelling))
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
            _ if self.dropped.contains(&before) => self.follows_type(before),
            _ if self.is_name(before) => {
                self.names_type(before)
                    || matches!(self.before(before, 1), b"struct" | b"union" | b"enum")
            }
            _ => false,
        }
    }

    /// Spelt as only macros are.
    fn shouts(&self, at: usize) -> bool {
        shouts(self.spelling(at))
    }

    /// A declaration, or one of its parts, may end before this token.
    fn ends(&self, at: usize) -> bool {
        matches!(self.spelling(at), b"," | b")" | b";" | b"=" | b"{")
    }

    /// The token before `at` closes a list of parameters or so.
    fn ends_parameters(&self, at: usize) -> bool {
        let closing = at.checked_sub(1).filter(|_| self.before(at, 1) == b")");
        // The arguments of a macro are none: `int MARK(1) f(void)`.
        let closing = closing.filter(|closing| !self.dropped.contains(closing));
        let open = closing.and_then(|at| self.brackets.get(at)?.open);
        open.and_then(|open| open.checked_sub(1))
            .is_some_and(|name| self.is_name(name) || self.spelling(name) == b")")
    }

    /// The tokens that go if `at` is left over from a macro; none if it is not.
    fn leftover(&self, at: usize) -> Vec<usize> {
        let call = (self.spelling(at + 1) == b"(")
            .then(|| self.close(at + 1))
            .flatten();
        let whole = || (at..=call.unwrap_or(at)).collect();
        // `"a" FORMAT "b"`, `"a" NAME(b)`
        if at.checked_sub(1).and_then(|before| self.kind(before)) == Some(Kind::Str) {
            return whole();
        }
        if self.kind(at + 1) == Some(Kind::Str) {
            return vec![at];
        }
        // `int f(void) MARK;`, `int f(void) MARK(1, 2) {`, but not `(T) x,`
        if at < self.head
            && self.ends_parameters(at)
            && self.ends(call.unwrap_or(at).saturating_add(1))
        {
            return whole();
        }
        if let Some(close) = self.prototype(at) {
            return vec![at, at + 1, close];
        }
        if let Some(close) = call {
            // `int PRINTF(1, 2) f(char *)`, `API(int) static int f(void)`
            if at < self.head
                && (self.follows_type(at)
                    && self.is_name(close + 1)
                    && (self.shouts(at) || !self.shouts(close + 1))
                    || is_specifier_keyword(self.spelling(close + 1))
                    || is_type_keyword(self.spelling(close + 1)))
            {
                return whole();
            }
            if self.marks_declaration(at, close) {
                return whole();
            }
            // `AUTO(T) x = f();`, of which `T x` remains
            let starts = matches!(self.before(at, 1), b";" | b"{" | b"}")
                || self.before(at, 1) == b"(" && self.before(at, 2) == b"for";
            let starts = at >= self.head && starts;
            if starts && close == at + 3 && self.is_name(at + 2) && self.is_name(close + 1) {
                return vec![at, at + 1, close];
            }
            return self.type_arguments(at + 1, close);
        }
        if self.is_leftover(at) {
            return vec![at];
        }
        Vec::new()
    }

    /// `MARK(1) T *f(void)`, `static MARK(1) T x;`: what begins a declaration of its own behind it. (`f(a) T a; {` is a definition as
    /// they were before C had prototypes.)
    fn marks_declaration(&self, at: usize, close: usize) -> bool {
        let before = self.before(at, 1);
        let begins = before.is_empty() || is_specifier_keyword(before);
        let old_style = (close..self.head.min(self.tokens.len()))
            .any(|at| self.spelling(at) == b";" && self.head < self.tokens.len());
        if at >= self.head || !begins || old_style || !self.is_name(close + 1) {
            return false;
        }
        let name = self.past_pointers(close + 2);
        let follows = self.spelling(name + 1);
        self.is_name(name) && matches!(follows, b"(" | b";" | b"=" | b"," | b"[")
    }

    /// Types among the arguments of a call, as only macros take them: `new(struct s, n)`, each with a comma.
    fn type_arguments(&self, open: usize, close: usize) -> Vec<usize> {
        let mut dropped = Vec::new();
        let callee = open.checked_sub(1).map(|at| self.spelling(at));
        if open < self.head
            || close - open > FARTHEST
            || callee.is_some_and(|name| name.starts_with(b"__builtin_"))
        {
            return dropped;
        }
        let mut from = open + 1;
        for at in open + 1..=close {
            let ends = at == close || self.spelling(at) == b",";
            let inner = self.brackets.get(at).and_then(|bracket| bracket.around) != Some(open);
            if inner && at != close || !ends {
                continue;
            }
            let first = self.spelling(from);
            let record = matches!(first, b"struct" | b"union" | b"enum");
            let known =
                self.names_type(from) && matches!(self.spelling(from + 1), b"," | b")" | b"*");
            if from < at && (record || is_type_keyword(first) || known) {
                // The comma behind, or that before the last.
                match at == close && from > open + 1 {
                    true => dropped.extend(from - 1..at),
                    false => dropped.extend(from..at + usize::from(at < close)),
                }
            }
            from = at + 1;
        }
        dropped
    }

    /// The last token of `PROTOTYPE((int, char))`, which begins at `at`, after a function's name.
    fn prototype(&self, at: usize) -> Option<usize> {
        let named = at.checked_sub(1).is_some_and(|before| self.is_name(before));
        let doubled = self.spelling(at + 1) == b"(" && self.spelling(at + 2) == b"(";
        if at >= self.head || !named || !doubled {
            return None;
        }
        let close = self.close(at + 1)?;
        (self.close(at + 2)? + 1 == close).then_some(close)
    }

    /// `int API f(void)`, `void MARK *p`, `API int f(void)`, `int x MARK`, `int (API *f)(void)`.
    fn is_leftover(&self, at: usize) -> bool {
        let (before, next) = (self.before(at, 1), self.spelling(at + 1));
        if self.follows_type(at) {
            // Of `int x MARK` it is the second.
            let second = self.shouts(at + 1) && !self.shouts(at) && self.ends(at + 2)
                || self.prototype(at + 1).is_some();
            let before_name = self.is_name(at + 1)
                && (self.ends(at + 2) || matches!(self.spelling(at + 2), b"(" | b"["));
            let before_pointer = next == b"*" && self.is_name(at + 2);
            return before_name && !second || before_pointer;
        }
        let declared = at.checked_sub(1).is_some_and(|name| {
            self.is_name(name)
                && !self.names_type(name)
                && (self.follows_type(name) || self.before(name, 1) == b"*")
        });
        if declared && self.ends(at + 1) {
            return true;
        }
        // `T *MARK x`
        if before == b"*" && self.is_name(at + 1) && (self.shouts(at) || !self.shouts(at + 1)) {
            return self.ends(at + 2) || matches!(self.spelling(at + 2), b"[" | b"(");
        }
        // `{ BEGIN if (x) f(); END }`
        let alone = at >= self.head && matches!(before, b";" | b"{" | b"}");
        let between = matches!(
            next,
            b"}" | b"if" | b"for" | b"while" | b"do" | b"switch" | b"return" | b"goto"
        );
        if alone && between {
            return true;
        }
        if before == b"(" && next == b"*" && self.is_name(at + 2) {
            let after = (self.spelling(at + 3), self.spelling(at + 4));
            return after == (b")", b"(")
                && at.checked_sub(1).is_some_and(|at| self.follows_type(at));
        }
        let before_typedef =
            (self.typedef)(next) && (self.spelling(at + 2) == b"*" || self.is_name(at + 2));
        is_type_keyword(next) || is_specifier_keyword(next) && next != b"const" || before_typedef
    }

    /// Whether the word must be a type name.
    fn is_type(&self, at: usize) -> bool {
        let head = at < self.head;
        let (before, next) = (self.before(at, 1), self.spelling(at + 1));
        // `AUTO(T) x`
        let bared = at
            .checked_sub(1)
            .is_some_and(|at| self.dropped.contains(&at));
        if bared && self.dropped.contains(&(at + 1)) && self.is_name(at + 2) {
            return true;
        }
        // `T x`, but not `*p MARK`
        if self.is_name(at + 1) {
            return before != b"*" && !self.follows_type(at);
        }
        let starts = matches!(before, b"" | b";" | b"{" | b"}") || is_specifier_keyword(before);
        // `(T *)`, `(T **)`
        if next == b"*" {
            let past = self.past_pointers(at + 1);
            if before == b"(" && self.spelling(past) == b")" {
                return true;
            }
            let starts = starts || head && matches!(before, b"(" | b",");
            if starts && self.is_name(past) && (head || before != b"(") {
                let follows = self.spelling(past + 1);
                return matches!(follows, b";" | b"=" | b"," | b")" | b"[" | b"(")
                    || takes_list(follows)
                    || self.is_name(past + 1);
            }
            // `T *(*f)(void)`
            if head && starts && self.spelling(past) == b"(" {
                return self.spelling(past + 1) == b"*";
            }
            // `f(int, T *, int)`
            if head && self.is_parameter(at) && matches!(self.spelling(past), b"," | b")") {
                return true;
            }
        }
        // `T (*f)(void)`, `T (API *f)(void)`
        if head && starts && next == b"(" {
            let past = at + 2 + usize::from(self.is_name(at + 2));
            return self.spelling(past) == b"*"
                && self
                    .close(at + 1)
                    .is_some_and(|close| self.spelling(close + 1) == b"(");
        }
        // `const T *p`, but not `* const p`
        if matches!(before, b"const" | b"volatile")
            && !matches!(self.before(at, 2), b"*")
            && !self.follows_type(at)
        {
            return matches!(next, b"*" | b")" | b",");
        }
        // `f(int, T)`
        if head && matches!(next, b"," | b")") && self.is_parameter(at) {
            return true;
        }
        // `(T) x`, `(T)(void *) x`
        if before == b"(" && next == b")" {
            let operand = matches!(
                self.kind(at + 2),
                Some(Kind::Number | Kind::Str | Kind::Char)
            ) || self.is_name(at + 2)
                || self.spelling(at + 2) == b"(" && is_type_keyword(self.spelling(at + 3));
            let caller = self.before(at, 2);
            let called = at >= 2 && self.is_name(at - 2)
                || matches!(caller, b"if" | b"while" | b"for" | b"switch" | b")" | b"]");
            return operand && !called;
        }
        false
    }

    /// Begins a parameter of a prototype, which is in no attribute and no initialiser.
    fn is_parameter(&self, at: usize) -> bool {
        let Some(open) = self.brackets.get(at).and_then(|bracket| bracket.around) else {
            return false;
        };
        let list = self.spelling(open) == b"("
            && matches!(self.before(at, 1), b"(" | b",")
            && open
                .checked_sub(1)
                .is_some_and(|name| self.is_name(name) || self.spelling(name) == b")")
            && self.close(open).is_some_and(|close| self.ends(close + 1));
        let mut outer = self.brackets.get(open).and_then(|bracket| bracket.around);
        while let Some(open) = outer {
            let before = self.before(open, 1);
            let refused = match self.spelling(open) {
                b"{" => before == b"=",
                b"(" => is_keyword(before),
                _ => true,
            };
            if refused {
                return false;
            }
            outer = self.brackets.get(open).and_then(|bracket| bracket.around);
        }
        let item = (0..open)
            .rev()
            .take(FARTHEST)
            .map(|at| self.spelling(at))
            .find(|spelling| matches!(*spelling, b";" | b"=" | b"{" | b"}"));
        list && item != Some(b"=")
    }
}
