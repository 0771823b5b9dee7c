//! The outline of an external declaration: what it declares, read off its tokens.
//!
//! In: tokens of one declaration. Out: an [`Outline`]: the names it declares in each name space, its
//! linkage, and the identifiers that could be typedef names in it. Nothing here depends on the unit,
//! so one outline serves every unit that contains the declaration; telling a declared name from a
//! type name needs no typedef table because a declarator's name is the last of its words.

use xxhash_rust::xxh3::xxh3_64;

use super::keywords::{is_keyword, is_tag_name, is_type_keyword};
use super::lex::{Kind, Token, undigraph};
use super::normalise::identifier;

/// Names are compared by hash: 64 bits, equal in every run.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, serde::Serialize, serde::Deserialize,
)]
pub struct NameId(pub u64);

impl NameId {
    pub fn of(name: &[u8]) -> NameId {
        if name.iter().all(|b| *b != b'$' && b.is_ascii()) {
            return NameId(xxh3_64(name));
        }
        // As later stages spell it.
        NameId(xxh3_64(identifier(name).as_bytes()))
    }
}

/// Name spaces of C, tags by kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[repr(u8)]
pub enum Space {
    Typedef,
    Struct,
    Union,
    Enum,
    Ordinary,
    /// Pseudo-space: does any declaration of the function say `noreturn`?
    Noreturn,
    /// Pseudo-space: does any declaration of the function say `weak`?
    Weak,
}

/// A name that a declaration gives a meaning to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Declared {
    pub space: Space,
    pub name: NameId,
    /// How much the declaration says: of several declarations of one name, the highest counts.
    pub rank: u8,
    /// Internal linkage is given here.
    pub internal: bool,
}

/// What kind of external declaration it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    Function,
    Declaration,
    /// `_Static_assert`, top-level `asm`: nothing that the analysis reads.
    Inert,
}

#[derive(Debug)]
pub struct Outline {
    pub form: Form,
    pub declared: Box<[Declared]>,
    /// Spelling of the first declared ordinary name, typedef name or tag.
    pub name: Option<Box<str>>,
    /// Identifiers that are no keywords, sorted.
    pub idents: Box<[NameId]>,
    /// Those before a function's body, sorted.
    pub head_idents: Box<[NameId]>,
    /// The names that it gives to functions of the unit that have another one.
    pub aliases: Box<[Alias]>,
}

/// Another name of a function: `int open_file(void) __attribute__((alias("open_file_v2")));`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Alias {
    pub name: Box<str>,
    /// The name that it is defined with, in the same unit.
    pub defined: Box<str>,
}

/// Rank of the declarations of an ordinary name.
pub mod rank {
    pub const UNPROTOTYPED: u8 = 1;
    pub const EXTERN: u8 = 2;
    pub const PROTOTYPE: u8 = 3;
    pub const TENTATIVE: u8 = 4;
    pub const INITIALISED: u8 = 5;
    pub const DEFINITION: u8 = 6;
}

/// The outline of a declaration; `body` is the offset of a function's `{`.
pub fn outline(text: &[u8], tokens: &[Token], body: Option<u32>) -> Outline {
    let head = match body {
        Some(body) => tokens.partition_point(|token| token.start < body),
        None => tokens.len(),
    };
    let mut reader = Reader::new(text, &tokens[..head], body.is_some());
    let first = reader.spelling(0);
    let inert = matches!(
        first,
        b"_Static_assert" | b"static_assert" | b"asm" | b"__asm__" | b"__asm" | b""
    );
    if !inert {
        reader.tags();
        reader.declaration();
    }
    let idents = |tokens: &[Token]| -> Box<[NameId]> {
        let mut names: Vec<NameId> = tokens
            .iter()
            .filter(|token| token.kind == Kind::Ident)
            .map(|token| &text[token.start as usize..token.end as usize])
            .filter(|spelling| !is_keyword(spelling))
            .map(NameId::of)
            .collect();
        names.sort_unstable();
        names.dedup();
        names.into_boxed_slice()
    };
    Outline {
        form: match (inert, body) {
            (true, _) => Form::Inert,
            (false, Some(_)) => Form::Function,
            (false, None) => Form::Declaration,
        },
        name: reader.name,
        declared: reader.declared.into_boxed_slice(),
        aliases: reader.aliases.into_boxed_slice(),
        idents: idents(tokens),
        head_idents: if body.is_some() {
            idents(&tokens[..head])
        } else {
            Box::default()
        },
    }
}

/// Whether a word and the bracket behind it are left over from a macro, and the function's name is still to come.
pub fn is_mark(text: &[u8], tokens: &[Token], word: usize, open: usize) -> bool {
    Reader::new(text, tokens, true).marks(word, open)
}

/// Spelt as only macros are.
pub fn shouts(word: &[u8]) -> bool {
    !word.iter().any(u8::is_ascii_lowercase)
}

#[derive(Default)]
struct Flags {
    typedef: bool,
    internal: bool,
    external: bool,
    noreturn: bool,
    weak: bool,
    gnu_inline: bool,
    /// The name in the `alias` attribute of the declarator at hand.
    alias: Option<Box<str>>,
}

struct Reader<'t> {
    text: &'t [u8],
    tokens: &'t [Token],
    declared: Vec<Declared>,
    aliases: Vec<Alias>,
    name: Option<Box<str>>,
    function: bool,
    flags: Flags,
}

impl<'t> Reader<'t> {
    fn new(text: &'t [u8], tokens: &'t [Token], function: bool) -> Self {
        Reader {
            text,
            tokens,
            declared: Vec::new(),
            aliases: Vec::new(),
            name: None,
            function,
            flags: Flags::default(),
        }
    }

    fn spelling(&self, at: usize) -> &'t [u8] {
        match self.tokens.get(at) {
            Some(token) => undigraph(&self.text[token.start as usize..token.end as usize]),
            None => b"",
        }
    }

    fn is_ident(&self, at: usize) -> bool {
        self.tokens
            .get(at)
            .is_some_and(|token| token.kind == Kind::Ident)
            && !is_keyword(self.spelling(at))
    }

    /// Whether the word behind `struct`, `union` or `enum` is a tag.
    fn is_tag(&self, at: usize) -> bool {
        let token = self.tokens.get(at);
        token.is_some_and(|token| token.kind == Kind::Ident) && is_tag_name(self.spelling(at))
    }

    /// Index past the bracket that closes the one at `at`.
    fn past(&self, at: usize) -> usize {
        let mut depth = 0usize;
        let mut index = at;
        while index < self.tokens.len() {
            match self.spelling(index) {
                b"(" | b"[" | b"{" => depth += 1,
                b")" | b"]" | b"}" => {
                    depth = depth.saturating_sub(1);
                    if depth == 0 {
                        return index + 1;
                    }
                }
                _ => {}
            }
            index += 1;
        }
        index
    }

    /// Index past `__attribute__((…))` and `[[…]]` at `at`, if there are any.
    fn past_attributes(&mut self, at: usize) -> usize {
        let mut at = at;
        loop {
            let next = match self.spelling(at) {
                word if takes_attribute_list(word) && self.spelling(at + 1) == b"(" => {
                    self.past(at + 1)
                }
                b"[" if self.spelling(at + 1) == b"[" => self.past(at),
                _ => return at,
            };
            self.flags.noreturn |= (at..next)
                .any(|index| matches!(self.spelling(index), b"noreturn" | b"__noreturn__"));
            self.flags.weak |=
                (at..next).any(|index| matches!(self.spelling(index), b"weak" | b"__weak__"));
            self.flags.gnu_inline |= (at..next)
                .any(|index| matches!(self.spelling(index), b"gnu_inline" | b"__gnu_inline__"));
            let alias = |at: &usize| matches!(self.spelling(*at), b"alias" | b"__alias__");
            if let Some(word) = (at..next).find(alias) {
                self.flags.alias = self.literal(word + 2);
            }
            at = next;
        }
    }

    /// What stands in the string literal at `at`.
    fn literal(&self, at: usize) -> Option<Box<str>> {
        let literal = std::str::from_utf8(self.spelling(at)).ok()?;
        let text = literal.strip_prefix('"')?.strip_suffix('"')?;
        Some(text.into())
    }

    fn declare(&mut self, space: Space, at: usize, rank: u8) {
        let spelling = self.spelling(at);
        self.declared.push(Declared {
            space,
            name: NameId::of(spelling),
            rank,
            internal: self.flags.internal,
        });
        if self.name.is_none() {
            self.name = Some(String::from_utf8_lossy(spelling).into());
        }
    }

    /// Tags with a body, and enumerators, wherever they stand.
    fn tags(&mut self) {
        for at in 0..self.tokens.len() {
            let space = match self.spelling(at) {
                b"struct" => Space::Struct,
                b"union" => Space::Union,
                b"enum" => Space::Enum,
                _ => continue,
            };
            let mut next = self.past_attributes(at + 1);
            let tag = self.is_tag(next).then_some(next);
            if tag.is_some() {
                next = self.past_attributes(next + 1);
            }
            if space == Space::Enum && self.spelling(next) == b":" {
                while !matches!(self.spelling(next), b"{" | b";" | b"," | b"") {
                    next += 1;
                }
            }
            if self.spelling(next) != b"{" {
                continue;
            }
            if let Some(tag) = tag {
                self.declare(space, tag, 0);
            }
            if space == Space::Enum {
                self.enumerators(next);
            }
        }
    }

    fn enumerators(&mut self, open: usize) {
        let end = self.past(open);
        let mut at = open + 1;
        while at < end {
            if self.is_ident(at) {
                self.declare(Space::Ordinary, at, rank::DEFINITION);
            }
            while at < end && self.spelling(at) != b"," {
                at = match self.spelling(at) {
                    b"(" | b"[" | b"{" => self.past(at),
                    _ => at + 1,
                };
            }
            at += 1;
        }
    }

    /// The declarators of the declaration.
    fn declaration(&mut self) {
        let mut at = 0;
        // A type was seen, so that the next word is a name.
        let mut typed = false;
        // The last word, which is the name if no other word follows.
        let mut word: Option<usize> = None;
        while at < self.tokens.len() {
            let attributes = self.past_attributes(at);
            if attributes != at {
                at = attributes;
                continue;
            }
            match self.spelling(at) {
                b"typedef" => self.flags.typedef = true,
                b"static" => self.flags.internal = true,
                b"extern" => self.flags.external = true,
                b"_Noreturn" | b"noreturn" => self.flags.noreturn = true,
                b"struct" | b"union" | b"enum" => {
                    typed = true;
                    at = self.past_attributes(at + 1);
                    if self.is_tag(at) {
                        at = self.past_attributes(at + 1);
                    }
                    if self.spelling(at) == b"{" {
                        at = self.past(at);
                    }
                    continue;
                }
                b"typeof" | b"__typeof__" | b"__typeof" | b"_BitInt" | b"typeof_unqual" => {
                    typed = true;
                    at = self.past(at + 1);
                    continue;
                }
                b"_Atomic" if self.spelling(at + 1) == b"(" => {
                    typed = true;
                    at = self.past(at + 1);
                    continue;
                }
                b"_Alignas" | b"alignas" => {
                    at = self.past(at + 1);
                    continue;
                }
                b"(" if word.is_some_and(|word| self.marks(word, at)) => {
                    at = self.past(at);
                    word = None;
                    continue;
                }
                b"(" | b"[" | b"=" | b"," | b";" | b":" => {
                    at = self.declarator(at, word, typed);
                    word = None;
                    typed = true;
                    continue;
                }
                spelling if is_type_keyword(spelling) => typed = true,
                _ if self.is_ident(at) => {
                    typed |= word.is_some();
                    word = Some(at);
                }
                _ => {}
            }
            at += 1;
        }
    }

    /// One declarator, from the first token after its name (or after the specifiers when the name
    /// is in brackets) to past the `,` or `;` that ends it.
    fn declarator(&mut self, at: usize, word: Option<usize>, typed: bool) -> usize {
        let mut function = false;
        let mut prototyped = true;
        let mut name = word;
        let mut at = at;
        if self.spelling(at) == b"(" {
            let nested = match word {
                None => true,
                Some(_) => !typed && self.nests(at),
            };
            if nested {
                let (found, is_function) = self.nested(at);
                name = found;
                function = is_function && self.spelling(self.past(at)) == b"(";
                at = self.past(at);
            } else {
                function = true;
                prototyped = self.spelling(at + 1) != b")";
            }
        }
        let mut initialised = false;
        let mut sized = false;
        while at < self.tokens.len() {
            let attributes = self.past_attributes(at);
            if attributes != at {
                at = attributes;
                continue;
            }
            match self.spelling(at) {
                b"," | b";" => break,
                b"=" => initialised = true,
                b"[" => sized |= self.spelling(at + 1) != b"]",
                // Parameter declarations of an old-style definition.
                _ if self.function && function && self.is_word(at) => {
                    at = self.tokens.len();
                    break;
                }
                _ => {}
            }
            at = match self.spelling(at) {
                b"(" | b"[" | b"{" => self.past(at),
                _ => at + 1,
            };
        }
        if let Some(name) = name {
            let rank = if self.function && self.flags.external && self.flags.gnu_inline {
                // Only ever inlined: another definition is the function.
                rank::INITIALISED
            } else if self.function {
                rank::DEFINITION
            } else if initialised {
                rank::INITIALISED
            } else if function && !prototyped {
                rank::UNPROTOTYPED
            } else if function {
                rank::PROTOTYPE
            } else if self.flags.external && !sized {
                rank::EXTERN
            } else {
                rank::TENTATIVE
            };
            if self.flags.typedef {
                self.declare(Space::Typedef, name, 0);
            } else {
                self.declare(Space::Ordinary, name, rank);
                if self.flags.noreturn {
                    self.declare(Space::Noreturn, name, 0);
                }
                if self.flags.weak {
                    self.declare(Space::Weak, name, 0);
                }
                if let Some(defined) = self.flags.alias.take() {
                    let name = String::from_utf8_lossy(self.spelling(name)).into();
                    self.aliases.push(Alias { name, defined });
                }
            }
        }
        at + 1
    }

    /// Whether a word and the bracket behind it are left over from the macro of a missing header, with the function's name still to come:
    /// `static void PRINTF(1, 2) say(const char *text)`, but not `void say(const char *text) PRINTF(1, 2)`. Only macros are spelt in capitals.
    fn marks(&self, word: usize, open: usize) -> bool {
        if !shouts(self.spelling(word)) {
            return false;
        }
        let mut at = self.past(open);
        loop {
            let spelling = self.spelling(at);
            let called = self.is_ident(at) && self.spelling(at + 1) == b"(";
            if called && !shouts(spelling) {
                // `RUN(f) call (*f)(); {`
                return self.spelling(at + 2) != b"*";
            }
            let passed = self.is_word(at) && spelling != b"asm" || spelling == b"*";
            if !passed {
                return false;
            }
            at = match called {
                true => self.past(at + 1),
                false => at + 1,
            };
        }
    }

    fn is_word(&self, at: usize) -> bool {
        self.tokens
            .get(at)
            .is_some_and(|token| token.kind == Kind::Ident)
    }

    /// Whether the bracket after the first word of a declaration holds a declarator: `T (*name)`,
    /// `T (name)(int)`; not `name(int)`.
    fn nests(&self, at: usize) -> bool {
        let past = self.past(at);
        match self.spelling(at + 1) {
            b"*" | b"^" | b"(" => true,
            b"__attribute__" | b"__attribute" => true,
            _ => {
                self.is_ident(at + 1)
                    && past == at + 3
                    && matches!(self.spelling(past), b"(" | b"[")
            }
        }
    }

    /// The name inside a bracketed declarator, and whether it declares a function when a parameter
    /// list follows the bracket (`(name)(…)`) or is inside (`(*name(…))`).
    fn nested(&mut self, open: usize) -> (Option<usize>, bool) {
        let end = self.past(open);
        let mut at = open + 1;
        let mut pointer = false;
        while at < end {
            let attributes = self.past_attributes(at);
            if attributes != at {
                at = attributes;
            } else if self.is_ident(at) {
                // `(*name(int))(void)`: a function that returns a pointer.
                return (Some(at), !pointer || self.spelling(at + 1) == b"(");
            } else {
                pointer |= matches!(self.spelling(at), b"*" | b"^");
                at += 1;
            }
        }
        (None, false)
    }
}

fn takes_attribute_list(word: &[u8]) -> bool {
    matches!(
        word,
        b"__attribute__" | b"__attribute" | b"__declspec" | b"asm" | b"__asm__" | b"__asm"
    )
}
