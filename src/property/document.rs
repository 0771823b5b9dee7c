//! The TOML of a property file, with the place of every mistake.
//!
//! In: the text of a file. Out: the rows of each section as Rust values, and a [`LoadError`] for each row that does not read.
//! Nothing here touches the file system.

use std::ops::Range;

use include_dir::Dir;
use serde::de::DeserializeOwned;
use toml::de::{DeTable, DeValue, ValueDeserializer};

use super::InForce;

/// A property file: any of `[[machine]]`, `[[rule]]`, `[[function]]` and `[[sleep]]` rows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SourceFile {
    /// As error messages show it.
    pub name: String,
    pub text: String,
}

impl SourceFile {
    pub fn new(name: impl Into<String>, text: impl Into<String>) -> Self {
        SourceFile {
            name: name.into(),
            text: text.into(),
        }
    }
}

/// A row that could not be used: where, what is wrong, and what would be right.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{file}:{line}:{column}: {message}")]
pub struct LoadError {
    pub file: String,
    /// 1-based.
    pub line: u32,
    /// 1-based, in characters.
    pub column: u32,
    pub message: String,
}

/// A parsed file whose rows are taken out section by section.
pub(crate) struct Document<'a> {
    file: &'a SourceFile,
    table: DeTable<'a>,
    errors: Vec<LoadError>,
    /// How many of the errors are of the text itself, not of a row.
    syntax_errors: usize,
}

/// The sections of a property file and its plain keys.
const KEYS: [&str; 14] = [
    "name",
    "in_force",
    "pointers",
    "locals",
    "checks",
    "machine",
    "rule",
    "function",
    "library",
    "sleep",
    "initialise",
    "write",
    "initialiser",
    "assert",
];

impl<'a> Document<'a> {
    pub(crate) fn parse(file: &'a SourceFile) -> Self {
        let (table, errors) = DeTable::parse_recoverable(&file.text);
        let mut document = Document {
            file,
            table: table.into_inner(),
            errors: Vec::new(),
            syntax_errors: errors.len(),
        };
        for error in errors {
            document.error(error.span().unwrap_or(0..0), error.message());
        }
        document
    }

    /// Records a mistake at a byte range of the file.
    pub(crate) fn error(&mut self, span: Range<usize>, message: impl Into<String>) {
        let before = self.file.text.get(..span.start).unwrap_or(&self.file.text);
        let line_start = before.rfind('\n').map_or(0, |newline| newline + 1);
        self.errors.push(LoadError {
            file: self.file.name.clone(),
            line: before.matches('\n').count() as u32 + 1,
            column: before[line_start..].chars().count() as u32 + 1,
            message: message.into(),
        });
    }

    /// All errors in the order of the text.
    pub(crate) fn into_errors(mut self) -> Vec<LoadError> {
        self.errors.sort_by_key(|error| (error.line, error.column));
        self.errors
    }

    /// The errors but those of the text itself, in the order of the text.
    pub(crate) fn into_row_errors(mut self) -> Vec<LoadError> {
        self.errors.drain(..self.syntax_errors);
        self.into_errors()
    }

    /// Removes `[[section]]` and reads its rows; a row that does not read is an error of its own.
    pub(crate) fn rows<T: DeserializeOwned>(&mut self, section: &str) -> Vec<T> {
        let Some(value) = self.table.remove(section) else {
            return Vec::new();
        };
        let span = value.span();
        let DeValue::Array(array) = value.into_inner() else {
            self.error(
                span,
                format!("`{section}` is not a list: write [[{section}]]"),
            );
            return Vec::new();
        };
        let mut rows = Vec::new();
        for row in array {
            let whole = row.span();
            match T::deserialize(ValueDeserializer::from(row)) {
                Ok(value) => rows.push(value),
                Err(error) => {
                    let span = error.span().unwrap_or(whole);
                    self.error(span, format!("in this {section}: {}", error.message()));
                }
            }
        }
        rows
    }

    /// The file's `name` key.
    pub(super) fn name(&mut self) -> Option<String> {
        let value = self.table.get("name")?;
        match value.get_ref().as_str() {
            Some(name) => Some(name.to_owned()),
            None => {
                let span = value.span();
                self.error(span, "`name` is not a string");
                None
            }
        }
    }

    /// The file's `in_force` key.
    pub(super) fn in_force(&mut self) -> InForce {
        let Some(value) = self.table.get("in_force") else {
            return InForce::default();
        };
        let span = value.span();
        match value.get_ref().as_str() {
            Some("always") => InForce::Always,
            Some("hosted") => InForce::Hosted,
            Some("asked") => InForce::Asked,
            _ => {
                self.error(span, "`in_force` is none of `always`, `hosted`, `asked`");
                InForce::default()
            }
        }
    }

    /// Reports top-level keys that mean nothing.
    pub(super) fn check_keys(&mut self) {
        let unknown: Vec<_> = self
            .table
            .keys()
            .filter(|key| !KEYS.contains(&key.get_ref().as_ref()))
            .map(|key| (key.span(), key.get_ref().to_string()))
            .collect();
        for (span, key) in unknown {
            self.error(span, format!("unknown key `{key}`{}", expected(KEYS)));
        }
    }
}

/// `; expected one of a, b, c`, or nothing where there is nothing to offer.
pub(crate) fn expected<'a>(names: impl IntoIterator<Item = &'a str>) -> String {
    let names: Vec<_> = names.into_iter().collect();
    match names.as_slice() {
        [] => String::new(),
        [only] => format!("; expected {only}"),
        _ => format!("; expected one of {}", names.join(", ")),
    }
}

/// The files of a folder that comes with the program, by name.
pub(crate) fn built_in(folder: &Dir<'_>) -> Vec<SourceFile> {
    let mut files: Vec<SourceFile> = folder
        .files()
        .filter_map(|file| {
            let name = file.path().file_name()?.to_str()?;
            Some(SourceFile::new(name, file.contents_utf8()?))
        })
        .collect();
    files.sort_by(|a, b| a.name.cmp(&b.name));
    files
}
