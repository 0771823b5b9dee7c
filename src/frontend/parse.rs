//! One external declaration, parsed by lang-c.

use lang_c::ast::ExternalDeclaration;
use lang_c::span::Node;

/// Content hash of a normalised declaration (tokens, prelude and, for function definitions, place).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct DeclKey(pub [u8; 16]);

/// A place in the original source, as line markers name it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place<'a> {
    pub file: &'a str,
    /// 1-based.
    pub line: u32,
    /// 1-based column in the preprocessed line.
    pub column: u32,
}

/// A parsed external declaration, shared by all units that contain it.
#[derive(Debug)]
pub struct Declaration {
    pub key: DeclKey,
    /// Exactly one external declaration; its spans are byte offsets into the normalised text.
    pub ast: Node<ExternalDeclaration>,
    pub places: Places,
}

/// Maps byte offsets of the normalised text (lang-c's spans) to source places.
#[derive(Debug, Default)]
pub struct Places {
    /// File names, first the one the declaration starts in.
    pub files: Vec<String>,
    /// `(offset, file, line, column)` of each token, ascending by offset.
    pub tokens: Vec<(u32, u16, u32, u16)>,
}

impl Places {
    /// The place of the token at or before `offset`.
    pub fn place(&self, offset: usize) -> Place<'_> {
        let after = self
            .tokens
            .partition_point(|token| token.0 as usize <= offset);
        match self.tokens.get(after.saturating_sub(1)) {
            Some(&(_, file, line, column)) => Place {
                file: self.files.get(usize::from(file)).map_or("", String::as_str),
                line,
                column: u32::from(column),
            },
            None => Place {
                file: "",
                line: 0,
                column: 0,
            },
        }
    }
}
