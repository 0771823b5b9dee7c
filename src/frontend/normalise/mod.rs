//! Rewrites one declaration's tokens into C11 with a little GNU syntax, keeping every meaning that the
//! analysis uses (DESIGN §3, step 3).
//!
//! In: the tokens of a declaration and which of its words are typedef names. Out: [`Normalised`]: the
//! text, the typedef names that it mentions, the place of each of its tokens, and how much stack the
//! parser may need for it.
//!
//! What lang-c's syntax tree has no place for is encoded with names that begin with `__cassini_`; lowering gives
//! them their meaning back:
//!
//! | source | text |
//! |---|---|
//! | `a ?: b` | `a ? __cassini_elvis : b` |
//! | `__auto_type`, C23 `auto x = e` | type `__cassini_auto` |
//! | `__int128`, `unsigned __int128`, `__float128`, `__bf16` | types `__cassini_int128`, `__cassini_uint128`, `__cassini_float128`, `__cassini_float16` |
//! | `_BitInt(N)` | the integer type that holds it; where there is none, attribute `__cassini_words(size, alignment)` |
//! | `asm goto (… : l)` | `{ __asm__ (…); if (__cassini_nondet) goto l; }` |
//! | `goto *e;`, `&&l` | `__cassini_goto(e);`, `__cassini_label("l")` |
//! | `__builtin_types_compatible_p(A, B)` | `__cassini_types_compatible(sizeof(A), sizeof(B))` |
//! | `__builtin_convertvector(v, T)` | `__cassini_convertvector(v, sizeof(T))` |
//! | `{}` as an initialiser | `{ __cassini_empty }` |
//! | `__real__ e`, `__imag__ e` | `__cassini_real(e)`, `__cassini_imag(e)` |
//! | `#pragma pack(n)` | attribute `__cassini_pack(n)` on the records under it |
//! | `__label__ l;` | `l` renamed in its block |
//! | `enum e : T { … }` | attribute `__cassini_underlying(sizeof(T))` on the enumeration |
//! | `constexpr` | `const` with the attribute `__cassini_constexpr` |
//! | `typeof_unqual(…)` | `typeof(…)` with the attribute `__cassini_unqualified` |
//! | a nested function | a declaration of it under a name of its own |
//! | `int f(int n; int a[n], int n)` | without the forward declarations |
//! | `__alignof__(e)` | `__cassini_alignof(e)` |

mod attribute;
mod expression;
mod guess;
mod literal;
mod statement;

pub use self::guess::{Guess, guess, types_of_pointers};
use super::dialect::Dialect;
use super::keywords::{is_keyword, is_specifier_keyword, is_type_keyword};
use super::lex::{Kind, Token, undigraph};
use super::outline;
use super::{LossReason, Stage};

/// A declaration as the parser reads it.
#[derive(Debug, Default)]
pub struct Normalised {
    pub text: String,
    /// The typedef names that it mentions.
    pub types: Vec<String>,
    /// `(offset into text, index of the source token)`, ascending.
    pub places: Vec<(u32, u32)>,
    /// Bytes of stack that parsing may need, generously.
    pub stack: usize,
    /// Nested functions, whose bodies are not in the text: the tokens of their names.
    pub skipped: Vec<u32>,
}

/// Brackets nested deeper than this are not parsed.
pub const MAX_NESTING: usize = 200;
/// A declaration that may need more stack than this is not parsed.
const MAX_STACK: usize = 1 << 30;

/// What brackets stand around a token.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Context {
    File,
    Record,
    Enum,
    /// Statements.
    Block,
    /// Braces of an initialiser.
    Initialiser,
    /// Round or square brackets.
    Inner,
}

/// What the tokens are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    Declaration,
    /// A function definition whose body's `{` stands at this offset.
    Definition {
        body: u32,
    },
    /// What comes before a function's body; it is written as a declaration.
    Head,
}

/// What is said of a declaration outside of it.
#[derive(Clone, Copy, Debug, Default)]
pub struct Setting {
    /// Alignment that `#pragma pack` sets, 0 for none.
    pub pack: u8,
    pub dialect: Dialect,
}

/// Rewrites a declaration. `typedef` tells which identifiers are typedef names before it; `guess` is
/// empty unless the declaration did not parse without it.
pub fn normalise(
    text: &[u8],
    tokens: &[Token],
    form: Form,
    typedef: &dyn Fn(&[u8]) -> bool,
    guess: &Guess<'_>,
    setting: Setting,
) -> Result<Normalised, LossReason> {
    let mates = mates(text, tokens)?;
    let parameters = match form {
        Form::Definition { body } => shadowed(text, tokens, body, typedef),
        _ => Vec::new(),
    };
    let mut types: Vec<&[u8]> = tokens
        .iter()
        .filter(|token| token.kind == Kind::Ident)
        .map(|token| &text[token.start as usize..token.end as usize])
        .filter(|name| {
            let is_type = typedef(name) || guess.types.binary_search(name).is_ok();
            is_type && !is_keyword(name) && !parameters.contains(name)
        })
        .collect();
    types.sort_unstable();
    types.dedup();
    let mut normaliser = Normaliser {
        text,
        tokens,
        mates: mates.mates,
        typedefs: &types,
        encoded: Vec::new(),
        dropped: guess.dropped.clone(),
        extended: Vec::new(),
        body: match form {
            Form::Definition { body } => tokens.iter().position(|token| token.start == body),
            _ => None,
        },
        setting,
        out: String::with_capacity(tokens.len() * 6),
        places: Vec::with_capacity(tokens.len()),
        insert_int: None,
        local_labels: Vec::new(),
        nested: Vec::new(),
        skipped: Vec::new(),
        renamed: 0,
    };
    normaliser.mark_extended_types();
    let end = if form == Form::Head {
        normaliser.prototype_end()
    } else {
        tokens.len()
    };
    normaliser.sequence(0, end, Context::File)?;
    if form == Form::Head {
        normaliser.add(";");
    }
    let Normaliser {
        encoded,
        out,
        places,
        skipped,
        ..
    } = normaliser;
    let skipped = skipped.into_iter().map(|at| at as u32).collect();
    let mut types: Vec<String> = types.iter().map(|name| identifier(name)).collect();
    types.extend(encoded.into_iter().map(str::to_owned));
    Ok(Normalised {
        text: out,
        types,
        places,
        stack: mates.stack,
        skipped,
    })
}

/// The typedef names that a definition's parameters hide in its body: no types for what looks at single
/// tokens here. A name that the head also uses as a type stays one.
fn shadowed<'t>(
    text: &'t [u8],
    tokens: &[Token],
    body: u32,
    typedef: &dyn Fn(&[u8]) -> bool,
) -> Vec<&'t [u8]> {
    let head = &tokens[..tokens.partition_point(|token| token.start < body)];
    let spelling = |token: &Token| &text[token.start as usize..token.end as usize];
    let mut names = Vec::new();
    for window in head.windows(3) {
        let [before, name, after] = [&window[0], &window[1], &window[2]].map(spelling);
        let declared = matches!(after, b"," | b")" | b"[" | b";")
            && window[1].kind == Kind::Ident
            && (before == b"*"
                || typedef(before)
                || (is_type_keyword(before) && !matches!(before, b"struct" | b"union" | b"enum")));
        if declared && typedef(name) && !is_keyword(name) {
            let uses = head.iter().filter(|token| spelling(token) == name).count();
            if uses == 1 {
                names.push(name);
            }
        }
    }
    names
}

/// A loss of this stage.
fn lost(message: impl Into<String>) -> LossReason {
    LossReason {
        stage: Stage::Parse,
        message: message.into(),
    }
}

struct Mates {
    mates: Vec<u32>,
    stack: usize,
}

/// Matches brackets, and bounds what recursion the declaration can ask for.
fn mates(text: &[u8], tokens: &[Token]) -> Result<Mates, LossReason> {
    let mut mates = vec![u32::MAX; tokens.len()];
    let mut open: Vec<(usize, u8)> = Vec::new();
    let (mut deepest, mut elses, mut run, mut longest) = (0, 0usize, 0usize, 0usize);
    for (index, token) in tokens.iter().enumerate() {
        // Strings in a row are one operand.
        run += usize::from(token.kind != Kind::Str);
        let spelling = undigraph(&text[token.start as usize..token.end as usize]);
        match (token.kind, spelling) {
            (Kind::Punct, b"(" | b"[" | b"{") => {
                open.push((index, spelling[0]));
                deepest = deepest.max(open.len());
                if open.len() > MAX_NESTING {
                    return Err(lost("brackets nested too deeply"));
                }
                if spelling == b"{" {
                    run = 0;
                }
            }
            (Kind::Punct, b")" | b"]" | b"}") => {
                let wanted = match spelling {
                    b")" => b'(',
                    b"]" => b'[',
                    _ => b'{',
                };
                match open.pop() {
                    Some((at, bracket)) if bracket == wanted => {
                        mates[at] = index as u32;
                        mates[index] = at as u32;
                    }
                    _ => return Err(lost("brackets do not match")),
                }
                if spelling == b"}" {
                    run = 0;
                }
            }
            // In `for (;;)`, it ends nothing.
            (Kind::Punct, b";") if open.last().is_some_and(|last| last.1 == b'(') => {}
            (Kind::Punct, b";" | b",") => run = 0,
            (Kind::Ident, b"else") => elses += 1,
            _ => {}
        }
        longest = longest.max(run);
    }
    if !open.is_empty() {
        return Err(lost("brackets do not match"));
    }
    let stack = (deepest << 16) + (longest << 12) + (elses << 14);
    if stack > MAX_STACK {
        return Err(lost("nested too deeply"));
    }
    Ok(Mates { mates, stack })
}

/// The spelling of an identifier in ASCII letters, digits and `_`.
pub fn identifier(name: &[u8]) -> String {
    let mut text = String::with_capacity(name.len());
    for &byte in name {
        if byte.is_ascii_alphanumeric() || byte == b'_' {
            text.push(char::from(byte));
        } else {
            text.push_str(&format!("_x{byte:02x}"));
        }
    }
    text
}

struct Normaliser<'t> {
    text: &'t [u8],
    tokens: &'t [Token],
    mates: Vec<u32>,
    /// Sorted.
    typedefs: &'t [&'t [u8]],
    /// Names of ours that the text uses as types.
    encoded: Vec<&'static str>,
    /// Tokens that are left out, sorted: `unsigned` beside `__int128`.
    dropped: Vec<usize>,
    /// What to write for the tokens of extended types.
    extended: Vec<(usize, &'static str)>,
    /// Index of the function body's `{`.
    body: Option<usize>,
    setting: Setting,
    out: String,
    places: Vec<(u32, u32)>,
    /// The token before which an implicit `int` belongs.
    insert_int: Option<usize>,
    /// Labels that `__label__` makes local to the blocks around, innermost last, and their new names.
    local_labels: Vec<(&'t [u8], String)>,
    /// Nested functions of the blocks around, innermost last, and their new names.
    nested: Vec<(&'t [u8], String)>,
    /// How many names were given.
    renamed: usize,
    /// Tokens that name the nested functions left out.
    skipped: Vec<usize>,
}

type Done = Result<(), LossReason>;

impl<'t> Normaliser<'t> {
    /// The token's text, `""` beyond the end.
    fn spelling(&self, at: usize) -> &'t [u8] {
        match self.tokens.get(at) {
            Some(token) => undigraph(&self.text[token.start as usize..token.end as usize]),
            None => b"",
        }
    }

    fn kind(&self, at: usize) -> Option<Kind> {
        self.tokens.get(at).map(|token| token.kind)
    }

    /// An identifier that is no keyword.
    fn is_name(&self, at: usize) -> bool {
        self.kind(at) == Some(Kind::Ident) && !is_keyword(self.spelling(at))
    }

    fn is_typedef(&self, at: usize) -> bool {
        self.kind(at) == Some(Kind::Ident)
            && self.typedefs.binary_search(&self.spelling(at)).is_ok()
    }

    /// Where the declarator of a function's head ends: before an old-style definition's declarations
    /// of parameters.
    fn prototype_end(&self) -> usize {
        let mut at = 0;
        let mut parameters = false;
        while at < self.tokens.len() {
            let attributes = self.past_attributes(at);
            if attributes != at {
                at = attributes;
            } else if parameters && self.kind(at) == Some(Kind::Ident) {
                return at;
            } else if self.spelling(at) == b"(" {
                let mark = at > 0 && outline::is_mark(self.text, self.tokens, at - 1, at);
                parameters =
                    !mark && at > 0 && (self.is_name(at - 1) || self.spelling(at - 1) == b")");
                at = self.mate(at) + 1;
            } else {
                at = self.mate(at).max(at) + 1;
            }
        }
        at
    }

    /// The bracket that closes the one at `at`; `at` itself if it is none.
    fn mate(&self, at: usize) -> usize {
        match self.mates.get(at) {
            Some(&mate) if mate != u32::MAX => mate as usize,
            _ => at,
        }
    }

    /// Appends text that stands for the token `at`.
    fn emit(&mut self, at: usize, text: &str) {
        self.places.push((self.out.len() as u32, at as u32));
        if self.insert_int == Some(at) {
            self.insert_int = None;
            self.out.push_str("int ");
        }
        self.out.push_str(text);
        self.out.push(' ');
    }

    /// Appends text with no token of its own.
    fn add(&mut self, text: &str) {
        self.out.push_str(text);
        self.out.push(' ');
    }

    fn emit_token(&mut self, at: usize) {
        let spelling = self.spelling(at);
        let member = at > 0 && matches!(self.spelling(at - 1), b"." | b"->");
        let renamed = self.nested.iter().rfind(|function| function.0 == spelling);
        if let Some((_, name)) = renamed.filter(|_| !member) {
            let name = name.clone();
            return self.emit(at, &name);
        }
        match self.kind(at) {
            Some(Kind::Ident) if spelling.iter().all(|b| *b != b'$' && b.is_ascii()) => {
                self.emit(at, &String::from_utf8_lossy(spelling));
            }
            Some(Kind::Ident) => self.emit(at, &identifier(spelling)),
            Some(Kind::Number) => self.emit(at, &literal::number(spelling)),
            Some(Kind::Str) => self.emit(at, &literal::string(spelling)),
            Some(Kind::Char) if spelling.starts_with(b"u8") => {
                let text = literal::character(spelling);
                self.emit(at, &format!("( ( unsigned char ) {text} )"));
            }
            Some(Kind::Char) => self.emit(at, &literal::character(spelling)),
            Some(Kind::Punct) => self.emit(at, &String::from_utf8_lossy(spelling)),
            None => {}
        }
    }

    /// The name of a label in the text.
    fn label(&self, at: usize) -> String {
        let name = self.spelling(at);
        let local = self.local_labels.iter().rfind(|label| label.0 == name);
        local.map_or_else(|| identifier(name), |label| label.1.clone())
    }

    /// Notes the use of a type name of ours and gives it back.
    fn encode(&mut self, name: &'static str) -> &'static str {
        if !self.encoded.contains(&name) {
            self.encoded.push(name);
        }
        name
    }

    /// `unsigned __int128` becomes one type name: marks the words around the type for dropping.
    fn mark_extended_types(&mut self) {
        for at in 0..self.tokens.len() {
            let (signed, unsigned) = match self.spelling(at) {
                b"__int128" | b"__int128_t" => ("__cassini_int128", "__cassini_uint128"),
                b"__uint128_t" => ("__cassini_uint128", "__cassini_uint128"),
                b"_BitInt" => self.bit_int(at),
                _ => continue,
            };
            let mut is_unsigned = false;
            let past = match self.spelling(at) {
                b"_BitInt" if self.spelling(at + 1) == b"(" => self.mate(at + 1) + 1,
                _ => at + 1,
            };
            let left = (0..at).rev().take_while(|i| self.is_specifier_word(*i));
            let right = (past..self.tokens.len()).take_while(|i| self.is_specifier_word(*i));
            let mut dropped = Vec::new();
            for index in left.chain(right) {
                match self.spelling(index) {
                    b"unsigned" => is_unsigned = true,
                    b"signed" | b"__signed__" | b"__signed" | b"int" => {}
                    _ => continue,
                }
                dropped.push(index);
            }
            if !signed.is_empty() {
                dropped.extend(at + 1..past);
            }
            self.dropped.append(&mut dropped);
            let name = if is_unsigned { unsigned } else { signed };
            if name.starts_with("__cassini") {
                self.encode(name);
            }
            self.extended.push((at, name));
        }
        self.dropped.sort_unstable();
    }

    /// The types, signed and unsigned, in which gcc keeps a `_BitInt(N)`; it wraps around as they do. None if it is wider,
    /// or the width is to be computed.
    fn bit_int(&self, at: usize) -> (&'static str, &'static str) {
        let width = std::str::from_utf8(self.spelling(at + 2)).unwrap_or("");
        let is_number = self.spelling(at + 3) == b")";
        match width.parse::<u32>() {
            Ok(1..=8) if is_number => ("signed char", "unsigned char"),
            Ok(9..=16) if is_number => ("short", "unsigned short"),
            Ok(17..=32) if is_number => ("int", "unsigned int"),
            Ok(33..=64) if is_number => ("long long", "unsigned long long"),
            // Wider ones are words, aligned as such: no `__int128`.
            _ => ("", ""),
        }
    }

    fn is_specifier_word(&self, at: usize) -> bool {
        let spelling = self.spelling(at);
        self.kind(at) == Some(Kind::Ident)
            && (is_specifier_keyword(spelling)
                || matches!(
                    spelling,
                    b"unsigned" | b"signed" | b"__signed__" | b"__signed" | b"int"
                ))
    }

    /// Whether `signed` or `unsigned` stands among the specifiers around `at`.
    fn has_sign(&self, at: usize) -> bool {
        let is_specifier = |at: &usize| self.is_specifier_word(*at) || self.is_type_word(*at);
        let left = (0..at).rev().take_while(is_specifier);
        let right = (at + 1..self.tokens.len()).take_while(is_specifier);
        left.chain(right).any(|at| {
            let spelling = self.spelling(at);
            matches!(
                spelling,
                b"signed" | b"__signed__" | b"__signed" | b"unsigned"
            )
        })
    }

    /// A word of an arithmetic type.
    fn is_type_word(&self, at: usize) -> bool {
        let spelling = self.spelling(at);
        matches!(spelling, b"const" | b"volatile" | b"_Bool" | b"bool")
            || (is_type_keyword(spelling) && !matches!(spelling, b"struct" | b"union" | b"enum"))
    }

    /// Whether a declaration starts at `at`.
    fn starts_declaration(&self, at: usize) -> bool {
        let spelling = self.spelling(at);
        is_type_keyword(spelling)
            || is_specifier_keyword(spelling)
            || (self.is_typedef(at)
                && (self.is_name(at + 1) || matches!(self.spelling(at + 1), b"*")))
    }

    /// Where the type is missing from a declaration that starts at `from` (C89 implicit `int`).
    fn implicit_int(&self, from: usize, to: usize, file: bool) -> Option<usize> {
        let mut at = from;
        let mut specified = false;
        while at < to {
            let spelling = self.spelling(at);
            if attribute::takes_list(spelling) || matches!(spelling, b"_Alignas" | b"alignas") {
                at = self.mate(at + 1).max(at + 1) + 1;
            } else if spelling == b"typedef" {
                // What has no type here has one in a header that was not found.
                return None;
            } else if is_specifier_keyword(spelling) && spelling != b"auto" {
                specified = true;
                at += 1;
            } else {
                break;
            }
        }
        let named = self.is_name(at)
            && !self.is_typedef(at)
            && matches!(self.spelling(at + 1), b"(" | b"=" | b"," | b";" | b"[");
        let pointer = self.spelling(at) == b"*";
        let missing = (named || pointer) && (specified || (file && from == 0));
        missing.then_some(at)
    }
}
