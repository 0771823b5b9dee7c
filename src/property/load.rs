//! Reading property files: the rules and machines of a checker.
//!
//! In: files. Out: [`Checker`]s, and a [`LoadError`] for each row that could not be used; the other rows of the file still
//! count.

mod machine;

use serde::Deserialize;
use toml::Spanned;

use self::machine::{MachineRow, add_machine};
use super::document::{Document, expected};
use super::{AssertionRule, Checker, LoadError, PointerRules, Property, Rule, SourceFile};
use crate::finding::Level;

/// The level of a rule's findings that have no explanation.
#[derive(Clone, Copy, Deserialize)]
#[serde(rename_all = "lowercase")]
enum RuleLevel {
    Error,
    Warning,
    Note,
}

impl From<RuleLevel> for Level {
    fn from(level: RuleLevel) -> Level {
        match level {
            RuleLevel::Error => Level::Error,
            RuleLevel::Warning => Level::Warning,
            RuleLevel::Note => Level::Note,
        }
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RuleRow {
    id: Spanned<String>,
    level: RuleLevel,
    message: Spanned<String>,
    call_message: Option<Spanned<String>>,
    explanation: String,
}

/// The rules about pointers, as written.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct PointerRow {
    null: Spanned<String>,
    unchecked: Spanned<String>,
}

/// The rule about variables of functions, as written.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct LocalRow {
    returned: Spanned<String>,
}

/// The rule about assertions, as written.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct CheckRow {
    rule: Spanned<String>,
    failed: Vec<String>,
    #[serde(default)]
    angelic: Vec<String>,
}

/// Whether a checker has a rule; reported if not.
fn is_rule(id: &Spanned<String>, document: &mut Document, checker: &Checker) -> bool {
    let known = checker.rules.iter().any(|rule| rule.id == *id.get_ref());
    if !known {
        let message = format!("no rule `{}` in this file", id.get_ref());
        document.error(id.span(), message);
    }
    known
}

impl PointerRow {
    fn add_to(self, document: &mut Document, checker: &mut Checker) {
        let known = is_rule(&self.null, document, checker);
        if !known || !is_rule(&self.unchecked, document, checker) {
            return;
        }
        checker.pointers = Some(PointerRules {
            null: self.null.into_inner(),
            unchecked: self.unchecked.into_inner(),
        });
    }
}

/// Reads every file's machines and rules into `property`, in order.
pub(super) fn load(files: &[SourceFile], property: &mut Property) -> Vec<LoadError> {
    let mut errors = Vec::new();
    for file in files {
        let mut document = Document::parse(file);
        document.check_keys();
        let mut checker = Checker {
            name: document.name().unwrap_or_else(|| stem(&file.name)),
            in_force: document.in_force(),
            pointers: None,
            returned_local: None,
            assertions: None,
            machines: Vec::new(),
            rules: Vec::new(),
        };
        for row in document.rows::<RuleRow>("rule") {
            add_rule(row, &mut document, property, &mut checker);
        }
        for row in document.rows::<MachineRow>("machine") {
            add_machine(row, &mut document, property, &mut checker);
        }
        for row in document.rows::<PointerRow>("pointers") {
            row.add_to(&mut document, &mut checker);
        }
        for row in document.rows::<LocalRow>("locals") {
            if is_rule(&row.returned, &mut document, &checker) {
                checker.returned_local = Some(row.returned.into_inner());
            }
        }
        for row in document.rows::<CheckRow>("checks") {
            if is_rule(&row.rule, &mut document, &checker) {
                checker.assertions = Some(AssertionRule {
                    rule: row.rule.into_inner(),
                    failed: row.failed,
                    angelic: row.angelic,
                });
            }
        }
        errors.extend(document.into_errors());
        if !checker.machines.is_empty() || !checker.rules.is_empty() {
            property.checkers.push(checker);
        }
    }
    errors
}

/// The file's name without folders and extension.
fn stem(name: &str) -> String {
    let base = name.rsplit('/').next().unwrap_or(name);
    base.strip_suffix(".toml").unwrap_or(base).to_owned()
}

fn add_rule(row: RuleRow, document: &mut Document, property: &Property, checker: &mut Checker) {
    let id = row.id.get_ref();
    if property.rule(id).is_some() || checker.rules.iter().any(|rule| rule.id == *id) {
        document.error(row.id.span(), format!("rule `{id}` is already defined"));
        return;
    }
    for message in std::iter::once(&row.message).chain(&row.call_message) {
        if let Some(unknown) = unknown_placeholder(message.get_ref()) {
            let offer = expected(PLACEHOLDERS);
            document.error(
                message.span(),
                format!("the message mentions `{unknown}`{offer}"),
            );
            return;
        }
    }
    checker.rules.push(Rule {
        id: row.id.into_inner(),
        level: row.level.into(),
        message: row.message.into_inner(),
        call_message: row.call_message.map(Spanned::into_inner),
        explanation: row.explanation.trim().to_owned(),
    });
}

/// What a report fills in.
const PLACEHOLDERS: [&str; 5] = ["{object}", "{state}", "{function}", "{held}", "{callee}"];

/// The first `{…}` that no report fills in.
fn unknown_placeholder(message: &str) -> Option<&str> {
    let mut rest = message;
    while let Some(open) = rest.find('{') {
        let end = rest[open..]
            .find('}')
            .map_or(rest.len(), |close| open + close + 1);
        let name = &rest[open..end];
        if !PLACEHOLDERS.contains(&name) {
            return Some(name);
        }
        rest = &rest[end..];
    }
    None
}

#[cfg(test)]
mod tests;
