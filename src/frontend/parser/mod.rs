//! Parses one normalised declaration into lang-c's syntax tree, by recursive descent (C11 6.5 to 6.9).
//!
//! In: text of one external declaration, C11 with the GNU syntax that [`super::normalise`] leaves in
//! (attributes, `typeof`, statement expressions, `asm`, ranges), and its typedef names. Out: the tree
//! that lang-c's own parser gives, or where the text stops being C. That parser reads a token once for
//! every rule that might begin with it, and an initialiser of a hundred kilobytes in seconds; this one
//! reads it once. It needs no look-ahead beyond a token or two because it knows what each name means
//! where it stands: a typedef name, or what hides one.
//!
//! Recursion is as deep as the text is nested, which the normaliser bounds.

mod declaration;
mod declarator;
mod expression;
mod number;
mod statement;
#[cfg(test)]
mod tests;
mod token;

use lang_c::ast::{ExternalDeclaration, Identifier};
use lang_c::span::{Node, Span};
use rustc_hash::FxHashMap;

use self::token::{Tag, Token, tokens};

/// The text is no declaration: offset of the first token that cannot stand where it does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SyntaxError {
    pub offset: usize,
}

type Parsed<T> = Result<T, SyntaxError>;

/// Parses a text of exactly one external declaration; `types` are the typedef names it begins with.
pub fn parse<'t>(
    text: &'t str,
    types: impl IntoIterator<Item = &'t str>,
) -> Parsed<Node<ExternalDeclaration>> {
    let mut parser = Parser {
        text,
        tokens: tokens(text),
        at: 0,
        names: Names::default(),
    };
    parser.names.declare("__builtin_va_list", Meaning::Type);
    for name in types {
        parser.names.declare(name, Meaning::Type);
    }
    let declaration = parser.external_declaration()?;
    while parser.take(Tag::Semicolon) {}
    match parser.tag() {
        Tag::End => Ok(declaration),
        _ => parser.unexpected(),
    }
}

/// What an identifier is in an expression or among specifiers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Meaning {
    Type,
    Other,
}

/// A scope to go back to.
#[derive(Clone, Copy)]
struct Mark(usize);

/// The meanings of names here, and how to undo those of the scopes that are open.
#[derive(Default)]
struct Names<'t> {
    meanings: FxHashMap<&'t str, Meaning>,
    undo: Vec<(&'t str, Option<Meaning>)>,
}

impl<'t> Names<'t> {
    fn declare(&mut self, name: &'t str, meaning: Meaning) {
        // What is no type anyway needs no entry.
        if meaning == Meaning::Other && !self.is_type(name) {
            return;
        }
        let before = self.meanings.insert(name, meaning);
        self.undo.push((name, before));
    }

    fn is_type(&self, name: &str) -> bool {
        self.meanings.get(name) == Some(&Meaning::Type)
    }

    fn enter(&self) -> Mark {
        Mark(self.undo.len())
    }

    fn leave(&mut self, mark: Mark) {
        for (name, before) in self.undo.drain(mark.0..).rev() {
            match before {
                Some(meaning) => self.meanings.insert(name, meaning),
                None => self.meanings.remove(name),
            };
        }
    }
}

struct Parser<'t> {
    text: &'t str,
    /// [`Tag::End`] last.
    tokens: Vec<Token>,
    /// The next token.
    at: usize,
    names: Names<'t>,
}

impl<'t> Parser<'t> {
    fn token(&self, ahead: usize) -> Token {
        let last = self.tokens.len() - 1;
        self.tokens[(self.at + ahead).min(last)]
    }

    fn tag(&self) -> Tag {
        self.token(0).tag
    }

    fn spelling(&self, ahead: usize) -> &'t str {
        let token = self.token(ahead);
        &self.text[token.start as usize..token.end as usize]
    }

    /// Where the next token starts.
    fn start(&self) -> usize {
        self.token(0).start as usize
    }

    /// From `start` to the end of the last token read.
    fn span(&self, start: usize) -> Span {
        let last = self.at.checked_sub(1).and_then(|at| self.tokens.get(at));
        Span::span(
            start,
            last.map_or(start, |token| token.end as usize).max(start),
        )
    }

    fn node<T>(&self, start: usize, node: T) -> Node<T> {
        Node::new(node, self.span(start))
    }

    /// Takes the next token, whatever it is, as this.
    fn this<T>(&mut self, node: T) -> Node<T> {
        let start = self.start();
        self.advance();
        self.node(start, node)
    }

    fn advance(&mut self) {
        self.at = (self.at + 1).min(self.tokens.len() - 1);
    }

    fn take(&mut self, tag: Tag) -> bool {
        let found = self.tag() == tag;
        if found {
            self.advance();
        }
        found
    }

    fn expect(&mut self, tag: Tag) -> Parsed<()> {
        match self.take(tag) {
            true => Ok(()),
            false => self.unexpected(),
        }
    }

    fn unexpected<T>(&self) -> Parsed<T> {
        Err(SyntaxError {
            offset: self.start(),
        })
    }

    fn identifier(&mut self) -> Parsed<Node<Identifier>> {
        if self.tag() != Tag::Identifier {
            return self.unexpected();
        }
        let name = self.spelling(0).to_owned();
        Ok(self.this(Identifier { name }))
    }

    /// A typedef name that nothing hides stands `ahead`.
    fn is_type_name(&self, ahead: usize) -> bool {
        self.token(ahead).tag == Tag::Identifier && self.names.is_type(self.spelling(ahead))
    }

    /// One or more of these with commas between.
    fn list<T>(&mut self, mut item: impl FnMut(&mut Self) -> Parsed<T>) -> Parsed<Vec<T>> {
        let mut items = vec![item(self)?];
        while self.take(Tag::Comma) {
            items.push(item(self)?);
        }
        Ok(items)
    }
}
