//! Reading property files: TOML with the place of every mistake.
//!
//! In: the text of files. Out: rows as Rust values, and a [`LoadError`] for each row that could not
//! be used; the other rows of the file still count. Nothing here touches the file system.

use std::collections::BTreeMap;
use std::ops::Range;

use serde::Deserialize;
use serde::de::DeserializeOwned;
use toml::Spanned;
use toml::de::{DeTable, DeValue, ValueDeserializer};

use include_dir::Dir;

use super::{
    Checker, Event, Machine, MachineRule, Property, Role, Rule, State, StateId, States, Target,
};
use crate::finding::Level;

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

/// The sections of a property file and its only plain key.
const KEYS: [&str; 6] = ["name", "machine", "rule", "function", "sleep", "assert"];

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
    fn name(&mut self) -> Option<String> {
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

    /// Reports top-level keys that mean nothing.
    fn check_keys(&mut self) {
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

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct MachineRow {
    name: Spanned<String>,
    /// Another machine, whose states, operations and rules this one has, too.
    like: Option<Spanned<String>>,
    #[serde(default)]
    states: Vec<Spanned<StateRow>>,
    /// The first state where it is missing.
    initial: Option<Spanned<String>>,
    /// For each state the value in which a program keeps it.
    saved: Option<Spanned<BTreeMap<Spanned<String>, u64>>>,
    /// Whether objects count, see [`Machine::counts`].
    #[serde(default)]
    counts: bool,
    /// Whether objects are bits of words, see [`Machine::bits`].
    #[serde(default)]
    bits: bool,
    /// What is wrong beyond operations that fail.
    #[serde(default)]
    rules: Vec<MachineRuleRow>,
    #[serde(default)]
    operations: BTreeMap<Spanned<String>, Spanned<TargetRow>>,
}

/// A state: its name, or more of it.
#[derive(Deserialize)]
#[serde(untagged)]
enum StateRow {
    Name(String),
    State(FullStateRow),
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct FullStateRow {
    name: String,
    /// `free` for the initial state and `held` for all others where it is missing.
    role: Option<Role>,
    /// The name where it is missing.
    text: Option<String>,
}

impl StateRow {
    fn name(&self) -> &str {
        match self {
            StateRow::Name(name) => name,
            StateRow::State(row) => &row.name,
        }
    }
}

/// A rule of a machine.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct MachineRuleRow {
    event: Event,
    /// The states in which the event breaks the rule; those that are held where it is missing, for a release those that are not.
    when: Option<Vec<Spanned<String>>>,
    id: Spanned<String>,
}

impl MachineRuleRow {
    /// The rule, or `None` (reported) if it names what does not exist.
    fn rule(
        self,
        states: &[State],
        known_rule: &dyn Fn(&str) -> bool,
        document: &mut Document,
    ) -> Option<MachineRule> {
        if !known_rule(self.id.get_ref()) {
            document.error(self.id.span(), format!("no rule `{}`", self.id.get_ref()));
            return None;
        }
        let mut when = States::default();
        let Some(named) = &self.when else {
            for (at, state) in (0..).zip(states) {
                if (state.role == Role::Held) != (self.event == Event::Release) {
                    when.insert(StateId(at));
                }
            }
            return Some(self.with(when));
        };
        for name in named {
            match find_state(states, name.get_ref()) {
                Some(state) => when.insert(state),
                None => {
                    document.error(name.span(), no_such_state(name.get_ref(), states));
                    return None;
                }
            }
        }
        Some(self.with(when))
    }

    fn with(self, when: States) -> MachineRule {
        MachineRule {
            event: self.event,
            when,
            id: self.id.into_inner(),
        }
    }
}

/// An operation's target from each state, by name.
type TargetRow = BTreeMap<Spanned<String>, Spanned<String>>;

/// Reads every file's machines and rules into `property`, in order.
pub(crate) fn load(files: &[SourceFile], property: &mut Property) -> Vec<LoadError> {
    let mut errors = Vec::new();
    for file in files {
        let mut document = Document::parse(file);
        document.check_keys();
        let mut checker = Checker {
            name: document.name().unwrap_or_else(|| stem(&file.name)),
            machines: Vec::new(),
            rules: Vec::new(),
        };
        for row in document.rows::<RuleRow>("rule") {
            add_rule(row, &mut document, property, &mut checker);
        }
        for row in document.rows::<MachineRow>("machine") {
            add_machine(row, &mut document, property, &mut checker);
        }
        errors.extend(document.into_errors());
        if !checker.machines.is_empty() || !checker.rules.is_empty() {
            property.checkers.push(checker);
        }
    }
    errors
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
const PLACEHOLDERS: [&str; 4] = ["{object}", "{state}", "{function}", "{held}"];

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

fn add_machine(
    row: MachineRow,
    document: &mut Document,
    property: &Property,
    checker: &mut Checker,
) {
    let name = row.name.get_ref().clone();
    if property.machine(&name).is_some() || checker.machines.iter().any(|m| m.name == name) {
        let message = format!("machine `{name}` is already defined");
        document.error(row.name.span(), message);
        return;
    }
    let model = match &row.like {
        None => None,
        Some(like) => {
            let known = property.machines().chain(&checker.machines);
            let Some(model) = known.into_iter().find(|m| m.name == *like.get_ref()) else {
                document.error(like.span(), format!("no machine `{}`", like.get_ref()));
                return;
            };
            Some(model.clone())
        }
    };
    let mut states = match &model {
        Some(model) if row.states.is_empty() => model.states.clone(),
        Some(_) => {
            let message = "a machine that is `like` another has that one's states";
            document.error(row.name.span(), message);
            return;
        }
        None => match state_names(&row, document) {
            Some(states) => states,
            None => return,
        },
    };
    let known_rule =
        |id: &str| property.rule(id).is_some() || checker.rules.iter().any(|rule| rule.id == id);

    let mut initial = StateId(0);
    if let Some(state) = &row.initial {
        match find_state(&states, state.get_ref()) {
            Some(id) => initial = id,
            None => document.error(state.span(), no_such_state(state.get_ref(), &states)),
        }
    }
    if model.is_none() {
        give_roles(&row.states, initial, &mut states);
    }
    let saved = row
        .saved
        .and_then(|saved| saved_states(&saved, &states, document));
    let mut rules: Vec<MachineRule> = Vec::new();
    for rule in row.rules {
        let span = rule.id.span();
        let Some(rule) = rule.rule(&states, &known_rule, document) else {
            continue;
        };
        if rules.iter().any(|other| other.event == rule.event) {
            document.error(span, "this machine has a rule for that event already");
            continue;
        }
        rules.push(rule);
    }
    let mut operations = BTreeMap::new();
    for (operation, targets) in row.operations {
        if let Some(targets) =
            operation_targets(&operation, &targets, &states, &known_rule, document)
        {
            operations.insert(operation.into_inner(), targets);
        }
    }
    let mut machine = Machine {
        name,
        states,
        initial,
        operations,
        saved,
        counts: row.counts,
        bits: row.bits,
        rules,
    };
    if let Some(model) = model {
        machine.initial = model.initial;
        machine.operations.extend(model.operations);
        machine.saved = machine.saved.or(model.saved);
        let own: Vec<Event> = machine.rules.iter().map(|rule| rule.event).collect();
        let others = model.rules.into_iter();
        machine
            .rules
            .extend(others.filter(|rule| !own.contains(&rule.event)));
    }
    checker.machines.push(machine);
}

/// The machine's states, or `None` (reported) if they cannot serve as such.
fn state_names(row: &MachineRow, document: &mut Document) -> Option<Vec<State>> {
    let mut states: Vec<State> = Vec::new();
    for state in &row.states {
        let name = state.get_ref().name();
        let problem = if name == "error" {
            "`error` is no state: every machine has it"
        } else if find_state(&states, name).is_some() {
            "this state is named twice"
        } else if name.is_empty() || name.contains(char::is_whitespace) {
            "a state's name is one word"
        } else {
            states.push(State {
                name: name.to_owned(),
                role: Role::Held,
                text: name.to_owned(),
            });
            continue;
        };
        document.error(state.span(), problem);
        return None;
    }
    if states.is_empty() || states.len() > usize::from(u8::MAX) {
        document.error(row.name.span(), "a machine has 1 to 255 states");
        return None;
    }
    Some(states)
}

/// Roles and texts, where the rows say some.
fn give_roles(rows: &[Spanned<StateRow>], initial: StateId, states: &mut [State]) {
    for ((at, row), state) in (0..).zip(rows).zip(states) {
        let usual = match StateId(at) == initial {
            true => Role::Free,
            false => Role::Held,
        };
        state.role = usual;
        if let StateRow::State(row) = row.get_ref() {
            state.role = row.role.unwrap_or(usual);
            state.text = row.text.clone().unwrap_or_else(|| state.name.clone());
        }
    }
}

/// The value of each state in order, or `None` (reported) if two could not be told apart.
fn saved_states(
    saved: &Spanned<BTreeMap<Spanned<String>, u64>>,
    states: &[State],
    document: &mut Document,
) -> Option<Vec<u64>> {
    let mut values = vec![None; states.len()];
    let mut sound = true;
    for (name, value) in saved.get_ref() {
        match find_state(states, name.get_ref()) {
            Some(state) => values[usize::from(state.0)] = Some(*value),
            None => {
                document.error(name.span(), no_such_state(name.get_ref(), states));
                sound = false;
            }
        }
    }
    if let Some(missing) = values.iter().position(Option::is_none)
        && sound
    {
        let message = format!("`saved` has no value for state `{}`", states[missing].name);
        document.error(saved.span(), message);
    }
    let mut values: Vec<u64> = values.into_iter().collect::<Option<_>>()?;
    let all = values.clone();
    values.sort_unstable();
    values.dedup();
    if values.len() < all.len() {
        document.error(saved.span(), "two states are saved as the same value");
        return None;
    }
    Some(all)
}

fn find_state(states: &[State], name: &str) -> Option<StateId> {
    states
        .iter()
        .position(|state| state.name == name)
        .map(|index| StateId(index as u8))
}

fn no_such_state(name: &str, states: &[State]) -> String {
    let offer = expected(states.iter().map(|state| state.name.as_str()));
    format!("this machine has no state `{name}`{offer}")
}

/// One operation's target from each state in order, or `None` (reported) if a state is missing or
/// a target is wrong.
fn operation_targets(
    operation: &Spanned<String>,
    targets: &Spanned<TargetRow>,
    states: &[State],
    known_rule: &dyn Fn(&str) -> bool,
    document: &mut Document,
) -> Option<Vec<Target>> {
    if ["none", "query"].contains(&operation.get_ref().as_str()) {
        let message = format!(
            "no operation can be called `{}`: in a [[function]] it has a meaning of its own",
            operation.get_ref()
        );
        document.error(operation.span(), message);
        return None;
    }
    let mut found: Vec<Option<Target>> = vec![None; states.len()];
    let mut sound = true;
    for (from, to) in targets.get_ref() {
        let Some(state) = find_state(states, from.get_ref()) else {
            document.error(from.span(), no_such_state(from.get_ref(), states));
            sound = false;
            continue;
        };
        match parse_target(to.get_ref(), states, known_rule) {
            Ok(target) => found[usize::from(state.0)] = Some(target),
            Err(message) => {
                document.error(to.span(), message);
                sound = false;
            }
        }
    }
    if sound && let Some(missing) = found.iter().position(Option::is_none) {
        let message = format!(
            "operation `{}` does not say what happens in state `{}`",
            operation.get_ref(),
            states[missing].name
        );
        document.error(targets.span(), message);
    }
    found
        .into_iter()
        .collect::<Option<Vec<_>>>()
        .filter(|_| sound)
}

/// `state`, `error` or `error RULE`.
fn parse_target(
    text: &str,
    states: &[State],
    known_rule: &dyn Fn(&str) -> bool,
) -> Result<Target, String> {
    let mut words = text.split_whitespace();
    match (words.next(), words.next(), words.next()) {
        (Some("error"), None, _) => Ok(Target::Error(None)),
        (Some("error"), Some(rule), None) if known_rule(rule) => {
            Ok(Target::Error(Some(rule.to_owned())))
        }
        (Some("error"), Some(rule), None) => Err(format!("no rule `{rule}`")),
        (Some(name), None, _) => find_state(states, name)
            .map(Target::State)
            .ok_or_else(|| no_such_state(name, states)),
        _ => Err(format!(
            "`{text}` is no target; expected a state, `error` or `error RULE`"
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn errors_of(text: &str) -> Vec<String> {
        let (_, errors) = Property::load(&[SourceFile::new("my.toml", text)]);
        errors.iter().map(ToString::to_string).collect()
    }

    #[test]
    fn the_built_in_checker_loads_without_errors() {
        let (property, errors) = Property::load(&[]);
        assert_eq!(errors, []);
        let names: Vec<_> = property.machines().map(|m| m.name.as_str()).collect();
        assert_eq!(
            names,
            [
                "mutex",
                "spinlock",
                "thread_mutex",
                "bitlock",
                "rwlock",
                "rwspinlock",
                "semaphore",
                "interrupts"
            ]
        );
        for rule in property.rules() {
            assert!(rule.explanation.starts_with(&format!("# {}\n", rule.id)));
        }
    }

    #[test]
    fn a_trylock_on_a_held_lock_is_an_error_without_a_rule() {
        let (property, _) = Property::load(&[]);
        let mutex = property.machine("mutex").unwrap();
        assert_eq!(
            mutex.operations["trylock"],
            [Target::State(StateId(1)), Target::Error(None)]
        );
        assert_eq!(
            mutex.operations["lock"][1],
            Target::Error(Some("lock/double-lock".into()))
        );
    }

    #[test]
    fn a_machine_like_another_has_all_of_it_and_what_it_says_itself() {
        let (property, _) = Property::load(&[]);
        let mutex = property.machine("mutex").unwrap();
        let spinlock = property.machine("spinlock").unwrap();
        assert_eq!(spinlock.operations, mutex.operations);
        assert_eq!(spinlock.rule(Event::Exit), mutex.rule(Event::Exit));
        assert_eq!(spinlock.rule(Event::Sleep), Some("lock/sleep-in-atomic"));
        assert_eq!(mutex.rule(Event::Sleep), None);
        assert_eq!(
            errors_of("[[machine]]\nname = \"m\"\nlike = \"x\"\n"),
            ["my.toml:3:8: no machine `x`"]
        );
    }

    #[test]
    fn two_nested_readers_come_back_to_where_they_started() {
        let (property, _) = Property::load(&[]);
        let rwlock = property.machine("rwlock").unwrap();
        let mut state = rwlock.state("unlocked").unwrap();
        for operation in ["read_lock", "read_lock", "read_unlock", "unlock"] {
            match rwlock.operations[operation][usize::from(state.0)] {
                Target::State(next) => state = next,
                Target::Error(_) => panic!("{operation} fails in {}", rwlock.state_name(state)),
            }
        }
        assert_eq!(rwlock.state_name(state), "unlocked");
    }

    #[test]
    fn a_user_file_adds_a_machine_and_a_rule() {
        let text = r#"
            [[rule]]
            id = "file/leak"
            level = "warning"
            message = "`{object}` is not closed"
            explanation = "Close it."

            [[machine]]
            name = "file"
            states = ["closed", "open"]
            rules = [{ event = "exits-differ", id = "lock/inconsistent-exit" }]
            operations.open = { closed = "open", open = "error file/leak" }
        "#;
        let (property, errors) = Property::load(&[SourceFile::new("a/my.toml", text)]);
        assert_eq!(errors, []);
        assert_eq!(property.checkers[1].name, "my");
        assert_eq!(property.rule("file/leak").unwrap().level, Level::Warning);
        assert!(property.machine("file").is_some());
    }

    #[test]
    fn an_unknown_state_is_reported_at_its_place_and_costs_its_operation_only() {
        let text = "[[machine]]\nname = \"m\"\nstates = [\"a\", \"b\"]\n\
                    operations.bad = { a = \"b\", b = \"c\" }\n\
                    operations.good = { a = \"b\", b = \"a\" }\n";
        let (property, errors) = Property::load(&[SourceFile::new("my.toml", text)]);
        assert_eq!(
            errors[0].to_string(),
            "my.toml:4:33: this machine has no state `c`; expected one of a, b"
        );
        let machine = property.machine("m").unwrap();
        assert_eq!(machine.operations.keys().collect::<Vec<_>>(), ["good"]);
    }

    #[test]
    fn mistakes_name_what_was_expected() {
        let machine = |rest: &str| format!("[[machine]]\nname = \"m\"\nstates = [\"a\"]\n{rest}\n");
        for (text, message) in [
            (
                machine("operations.o = { a = \"error no/rule\" }"),
                "my.toml:4:22: no rule `no/rule`",
            ),
            (
                machine("operations.o = { }"),
                "my.toml:4:16: operation `o` does not say what happens in state `a`",
            ),
            (
                machine("operations = {}\ninitial = \"x\""),
                "my.toml:5:11: this machine has no state `x`; expected a",
            ),
            (
                "[[rule]]\nid = \"a/b\"\nlevel = \"grave\"\nmessage = \"\"\nexplanation = \"\"".into(),
                "my.toml:3:9: in this rule: unknown variant `grave`, expected one of `error`, `warning`, `note`",
            ),
            (
                "[[rule]]\nid = \"a/b\"\nlevel = \"note\"\nmessage = \"{lock}\"\nexplanation = \"\"".into(),
                "my.toml:4:11: the message mentions `{lock}`; expected one of {object}, {state}, {function}, {held}",
            ),
            (
                "[[machines]]".into(),
                "my.toml:1:3: unknown key `machines`; expected one of name, machine, rule, function, sleep, assert",
            ),
            (
                machine("operations = {}\nsaved = { b = 1 }"),
                "my.toml:5:11: this machine has no state `b`; expected a",
            ),
            (
                "[[machine]]\nname = \"m\"\nstates = [\"a\", \"b\"]\noperations = {}\n\
                 saved = { a = 1, b = 1 }"
                    .into(),
                "my.toml:5:9: two states are saved as the same value",
            ),
            (
                "[[machine]]\nname = \"mutex\"\nstates = [\"a\"]\noperations = {}".into(),
                "my.toml:2:8: machine `mutex` is already defined",
            ),
        ] {
            assert_eq!(errors_of(&text), [message]);
        }
    }

    #[test]
    fn broken_toml_is_reported_where_it_breaks() {
        let errors = errors_of("[[rule]]\nid = \n");
        assert!(
            errors.iter().any(|error| error.starts_with("my.toml:2:")),
            "{errors:?}"
        );
    }
}
