//! `[[machine]]` rows: states, operations and the rules of one finite state machine.
//!
//! In: rows as written, the machines and rules known so far. Out: [`Machine`]s; what a row names and what does not exist is
//! reported at its place.

use std::collections::BTreeMap;

use serde::Deserialize;
use toml::Spanned;

use crate::property::document::{Document, expected};
use crate::property::{
    Checker, Event, Key, Machine, MachineRule, Names, Property, Role, State, StateId, States,
    Target,
};

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct MachineRow {
    name: Spanned<String>,
    /// Another machine, whose states, operations and rules this one has, too.
    like: Option<Spanned<String>>,
    #[serde(default)]
    states: Vec<Spanned<StateRow>>,
    /// The first state where it is missing.
    initial: Option<Spanned<String>>,
    /// For each state the value in which a program keeps it.
    saved: Option<Spanned<BTreeMap<Spanned<String>, u64>>>,
    /// What tells objects apart; their location where it is missing.
    key: Option<Key>,
    /// Whether objects count, see [`Machine::counts`].
    #[serde(default)]
    counts: bool,
    /// Whether objects are bits of words, see [`Machine::bits`].
    #[serde(default)]
    bits: bool,
    /// What is wrong beyond operations that fail.
    #[serde(default)]
    rules: Vec<MachineRuleRow>,
    names: Option<Names>,
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

pub(super) fn add_machine(
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
    let rules = rules(row.rules, &states, &known_rule, document);
    let mut operations = BTreeMap::new();
    for (operation, targets) in row.operations {
        if let Some(targets) =
            operation_targets(&operation, &targets, &states, &known_rule, document)
        {
            operations.insert(operation.into_inner(), targets);
        }
    }
    let names = model.as_ref().map(|model| model.names.clone());
    let mut machine = Machine {
        name,
        states,
        initial,
        operations,
        key: row.key.unwrap_or_default(),
        saved,
        counts: row.counts,
        bits: row.bits,
        rules,
        names: row.names.or(names).unwrap_or_default(),
    };
    if let Some(model) = model {
        complete(&mut machine, model);
    }
    checker.machines.push(machine);
}

/// The rules of the machine, one for an event.
fn rules(
    rows: Vec<MachineRuleRow>,
    states: &[State],
    known_rule: &dyn Fn(&str) -> bool,
    document: &mut Document,
) -> Vec<MachineRule> {
    let mut rules: Vec<MachineRule> = Vec::new();
    for rule in rows {
        let span = rule.id.span();
        let Some(rule) = rule.rule(states, known_rule, document) else {
            continue;
        };
        if rules.iter().any(|other| other.event == rule.event) {
            document.error(span, "this machine has a rule for that event already");
            continue;
        }
        rules.push(rule);
    }
    rules
}

/// Gives a machine what it has of the one that it is like.
fn complete(machine: &mut Machine, model: Machine) {
    machine.initial = model.initial;
    machine.key = model.key;
    machine.operations.extend(model.operations);
    machine.saved = machine.saved.take().or(model.saved);
    let own: Vec<Event> = machine.rules.iter().map(|rule| rule.event).collect();
    let others = model.rules.into_iter();
    machine
        .rules
        .extend(others.filter(|rule| !own.contains(&rule.event)));
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
