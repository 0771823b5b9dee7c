//! One external declaration, parsed.
//!
//! In: a normalised declaration. Out: its syntax tree with the places of its tokens, or why there is
//! none. The parser recurses, and runs on as much stack as the normaliser estimates.

use std::sync::{Arc, OnceLock};

use lang_c::ast::ExternalDeclaration;
use lang_c::span::Node;

use super::declared::Declared;
use super::lex::Token;
use super::model::Model;
use super::normalise::Normalised;
use super::{LossReason, Stage, parser};

/// Content hash of a normalised declaration (tokens, typedef names and, for function definitions, place).
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
    /// Of the units that contain it.
    pub model: Model,
    /// Lines of the nested functions that were left out of it.
    pub nested: Vec<u32>,
    /// What it declares, read off the tree once for all units.
    declared: OnceLock<Result<Arc<Declared>, LossReason>>,
}

impl Declaration {
    fn new(
        key: DeclKey,
        ast: Node<ExternalDeclaration>,
        places: Places,
        model: Model,
        nested: Vec<u32>,
    ) -> Declaration {
        Declaration {
            key,
            ast,
            places,
            model,
            nested,
            declared: OnceLock::new(),
        }
    }

    /// Everything that the declaration declares.
    pub fn declared(&self) -> Result<Arc<Declared>, LossReason> {
        let declared = || Declared::of(self).map(Arc::new);
        self.declared.get_or_init(declared).clone()
    }
}

/// Maps byte offsets of the normalised text (the tree's spans) to source places.
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

/// Parses a normalised declaration. `files` names the files that tokens index.
pub fn parse(
    key: DeclKey,
    model: Model,
    normalised: Normalised,
    tokens: &[Token],
    files: &dyn Fn(u32) -> String,
) -> Result<Declaration, LossReason> {
    let places = places(&normalised, tokens, files);
    let Normalised {
        text,
        types,
        stack,
        skipped,
        ..
    } = normalised;
    let nested = skipped
        .iter()
        .filter_map(|at| tokens.get(*at as usize))
        .map(|token| token.line)
        .collect();
    let stack = stack + (1 << 20);
    let parsed = stacker::maybe_grow(stack, stack, || {
        parser::parse(&text, types.iter().map(String::as_str))
    });
    match parsed {
        Ok(ast) => Ok(Declaration::new(key, ast, places, model, nested)),
        Err(error) => {
            let rest = text.get(error.offset..).unwrap_or("");
            let token: String = rest.chars().take_while(|c| *c != ' ').take(40).collect();
            let message = if token.is_empty() {
                "syntax error at the end of the declaration".to_owned()
            } else {
                format!("syntax error before `{token}`")
            };
            Err(LossReason {
                stage: Stage::Parse,
                message,
            })
        }
    }
}

fn places(normalised: &Normalised, tokens: &[Token], files: &dyn Fn(u32) -> String) -> Places {
    let mut places = Places {
        files: Vec::new(),
        tokens: Vec::with_capacity(normalised.places.len()),
    };
    let mut indices: Vec<u32> = Vec::new();
    // The file that the declaration starts in comes first.
    let first = tokens.first().map(|token| token.file);
    for file in first.into_iter().chain(
        normalised
            .places
            .iter()
            .filter_map(|place| tokens.get(place.1 as usize))
            .map(|token| token.file),
    ) {
        if !indices.contains(&file) && indices.len() < usize::from(u16::MAX) {
            indices.push(file);
            places.files.push(files(file));
        }
    }
    let mut last = (u32::MAX, 0);
    for &(offset, index) in &normalised.places {
        let Some(token) = tokens.get(index as usize) else {
            continue;
        };
        if token.file != last.0 {
            let at = indices.iter().position(|file| *file == token.file);
            last = (token.file, at.unwrap_or(0) as u16);
        }
        places
            .tokens
            .push((offset, last.1, token.line, token.column));
    }
    places
}
