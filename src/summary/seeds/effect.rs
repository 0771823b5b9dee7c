//! `[[function]]` rows: what operations functions perform on objects.
//!
//! In: a row as written, the machines that it refers to. Out: an [`Effect`], which adds the object and its rows to the summary of
//! each of the functions.

use std::sync::Arc;

use serde::Deserialize;
use toml::Spanned;

use super::syntax::{self, Condition, When as Happens};
use super::{Replaces, Seed, saved};
use crate::ir::POINTER_BITS;
use crate::property::document::{Document, expected};
use crate::property::{Key, Machine, Property, Role, StateId, Target};
use crate::summary::{
    Choice, Cube, IExpr, IObj, Modified, Root, Row, Summary, SummaryObject, Told,
};
use crate::symbolic::region::NUMBER_BITS;

/// A `[[function]]` row as written.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct FunctionRow {
    pub(super) names: Vec<Spanned<String>>,
    object: Spanned<String>,
    machine: Option<Spanned<String>>,
    /// An operation of the machine; `none`: the function has no effect on any object; `query`: it has
    /// none either, but `when` holds exactly if the object is not in the machine's initial state.
    operation: Spanned<String>,
    /// The condition on the result under which the operation has happened; `always` if missing.
    pub(super) when: Option<Spanned<String>>,
    /// The condition on an argument under which it does.
    #[serde(rename = "if")]
    provided: Option<Spanned<String>>,
    /// The result's type.
    #[serde(default)]
    result: ResultType,
    /// All results there are, where they are few.
    returns: Option<Returns>,
    #[serde(default)]
    pub(super) types: Vec<String>,
    /// Where the pointer to the object is null, the function does nothing.
    #[serde(default)]
    optional: bool,
    /// What the pointers in a new object lead to leads back to it: who has got hold of one of them finds the object.
    #[serde(default)]
    leads_back: bool,
    /// Whatever the tree's own definition of the function says.
    #[serde(default)]
    pub(super) replaces: Replaces,
    /// Where the function keeps the state in which it found the object.
    pub(super) saves: Option<Spanned<String>>,
    /// A value of that kind: the operation leads to the state that it tells.
    pub(super) restores: Option<Spanned<String>>,
}

#[derive(Clone, Deserialize)]
#[serde(untagged)]
enum Returns {
    One(i64),
    OneOf(Vec<i64>),
}

impl Returns {
    /// The result as an expression: a choice between them.
    fn value(&self, width: u16) -> Option<IExpr> {
        let constant = |value: i64| IExpr::Const {
            value: value as u128 & (u128::MAX >> (128 - u32::from(width))),
            width,
        };
        let values = match self {
            Returns::One(value) => std::slice::from_ref(value),
            Returns::OneOf(values) => values,
        };
        let (last, others) = values.split_last()?;
        let choice = |rest: IExpr, (id, value): (usize, &i64)| {
            let chosen = IExpr::Unknown {
                id: id as u32,
                width: 1,
                choice: Choice::Any,
            };
            IExpr::either(chosen, [constant(*value), rest])
        };
        Some(others.iter().enumerate().fold(constant(*last), choice))
    }
}

#[derive(Clone, Copy, Default, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum ResultType {
    Bool,
    #[default]
    Int,
    Long,
    Pointer,
}

impl ResultType {
    /// Bits.
    pub(super) fn width(self) -> u16 {
        match self {
            ResultType::Bool => 8,
            ResultType::Int => 32,
            ResultType::Long | ResultType::Pointer => 64,
        }
    }
}

/// A row that has been checked: what each of its functions does.
pub(super) struct Effect<'a> {
    object: IObj,
    name: &'a str,
    operation: Operation<'a>,
    optional: bool,
    leads_back: bool,
    /// `None`: always.
    condition: Option<Condition>,
    provided: Option<Condition>,
    result: ResultType,
    returns: Option<Returns>,
    saves: Option<IObj>,
    restores: Option<IObj>,
}

/// What a row's `operation` names.
#[derive(Clone, Copy)]
pub(super) enum Operation<'a> {
    None,
    Query(&'a Machine),
    Transition(&'a Machine, &'a [Target]),
}

impl<'a> Effect<'a> {
    /// Looks up what the row mentions; reports what does not exist or does not parse.
    pub(super) fn check(
        row: &'a FunctionRow,
        property: &'a Property,
        document: &mut Document,
    ) -> Option<Self> {
        let operation = find_operation(row, property, document)?;
        let by_value = match operation {
            Operation::None => false,
            Operation::Query(machine) | Operation::Transition(machine, _) => {
                machine.key == Key::Value
            }
        };
        let object = match by_value {
            true => syntax::number(row.object.get_ref()),
            false => syntax::object(row.object.get_ref()),
        };
        let object = object
            .map_err(|message| document.error(row.object.span(), message))
            .ok()?;
        let condition = match &row.when {
            None => None,
            Some(when) => match syntax::when(when.get_ref(), row.result.width()) {
                Ok(Happens::Always) => None,
                Ok(Happens::If(condition)) => Some(condition),
                Err(message) => {
                    document.error(when.span(), message);
                    return None;
                }
            },
        };
        let provided = match &row.provided {
            None => None,
            Some(text) => match syntax::argument(text.get_ref()) {
                Ok(condition) => Some(condition),
                Err(message) => {
                    document.error(text.span(), message);
                    return None;
                }
            },
        };
        if matches!(operation, Operation::Query(_)) && condition.is_none() {
            document.error(
                row.operation.span(),
                "a query tells the state by its result: `when` is missing",
            );
            return None;
        }
        let (saves, restores) = saved::places(row, operation, document)?;
        Some(Effect {
            object,
            name: syntax::name(row.object.get_ref()),
            operation,
            // What no number names is no mistake: `close(-1)`.
            optional: row.optional || by_value,
            leads_back: row.leads_back,
            condition,
            provided,
            result: row.result,
            returns: row.returns.clone(),
            saves,
            restores,
        })
    }

    /// The machine that the row is about; `None`: the function does nothing.
    fn machine(&self) -> Option<&'a Machine> {
        match self.operation {
            Operation::None => None,
            Operation::Query(machine) | Operation::Transition(machine, _) => Some(machine),
        }
    }

    /// What stays of an earlier file's seed: what it says of the machines of other checkers than this row's.
    pub(super) fn beside(&self, known: &Seed, property: &Property) -> Seed {
        let Some(machine) = self.machine() else {
            return Seed::default();
        };
        let own = property.checker_of(&machine.name);
        let stays = |other: &SummaryObject| property.checker_of(&other.machine) != own;
        if !known.summary.objects.iter().any(stays) {
            return Seed::default();
        }
        let mut seed = known.clone();
        retain(Arc::make_mut(&mut seed.summary), stays);
        seed
    }

    /// The parameter that leads to the object.
    pub(super) fn param(&self) -> Option<u32> {
        match self.object.root {
            Root::Param(index) => Some(index),
            Root::Global(_) | Root::Return | Root::Exit(_) | Root::Entry(_) => None,
        }
    }

    /// Adds the object and its rows of R; false if the summary has the object already.
    pub(super) fn add_to(&self, summary: &mut Summary) -> bool {
        let Some(machine) = self.machine() else {
            if let Some(returns) = &self.returns {
                summary.result = returns.value(self.result.width());
            }
            return summary.objects.is_empty();
        };
        let known =
            |other: &SummaryObject| other.object == self.object && other.machine == machine.name;
        if summary.objects.iter().any(known) {
            return false;
        }
        let object = self.add_object(summary, machine);
        let width = self.result.width();
        let happened = self.condition.as_ref().map(|condition| {
            let result = IObj {
                root: Root::Return,
                path: Vec::new(),
            };
            modify(summary, result, u64::from(width / 8));
            (output(summary, &condition.predicate), condition.holds)
        });
        if let Some(returns) = &self.returns {
            summary.result = returns.value(width);
        }
        if let Some(place) = &self.saves {
            saved::save(summary, machine, &self.object, place);
        }
        let kept = match &self.restores {
            Some(value) => saved::conditions(summary, machine, value),
            None => Vec::new(),
        };
        let provided = self.provided.as_ref().map(|condition| {
            let index = input(summary, &condition.predicate);
            (index, condition.holds)
        });
        let incond = |holds: bool| {
            let mut cube: Cube = vec![None; summary_inputs(provided)];
            if let Some((index, wanted)) = provided {
                cube[index] = Some(wanted == holds);
            }
            cube
        };
        if provided.is_some() {
            for from in machine.state_ids() {
                let to = Target::State(otherwise(machine, &self.object).unwrap_or(from));
                let outcond = vec![None; summary.outputs.len()];
                let row = given_row(object, (incond(false), outcond), (from, to), false);
                summary.rows.push(row);
            }
        }
        for from in machine.state_ids() {
            for (outcome, to) in self.outcomes(machine, from) {
                let mut outcond: Cube = vec![None; summary.outputs.len()];
                if let (Some(outcome), Some((index, holds))) = (outcome, happened) {
                    outcond[index] = Some(outcome == holds);
                }
                let row = given_row(object, (incond(true), outcond), (from, to), true);
                match kept.is_empty() {
                    true => summary.rows.push(row),
                    false => summary
                        .rows
                        .extend(saved::rows(&row, machine.initial, &kept)),
                }
            }
        }
        true
    }

    /// Adds the object that the row is about to the summary's, and to M where the row moves it. Gives its index.
    fn add_object(&self, summary: &mut Summary, machine: &Machine) -> u32 {
        let object = summary.objects.len() as u32;
        summary.objects.push(SummaryObject {
            object: self.object.clone(),
            name: self.name.to_owned(),
            class: None,
            machine: machine.name.clone(),
            optional: self.optional,
            open: false,
            shared: false,
            left_at: Vec::new(),
            exact: true,
            alone: true,
            only_if: Vec::new(),
            or_another: false,
            leads_back: self.leads_back,
            found_in_blocks: false,
        });
        if let Root::Exit(pointer) = &self.object.root {
            let bits = match self.object.path.is_empty() {
                true => NUMBER_BITS,
                false => POINTER_BITS,
            };
            modify(summary, (**pointer).clone(), u64::from(bits / 8));
        } else if let Operation::Transition(..) = self.operation {
            // The lock's word is modified, but that is the machine's business: size 0, nothing to
            // havoc.
            modify(summary, self.object.clone(), 0);
        }
        object
    }

    /// Where the function leads from a state: for each outcome of the condition (`None`: both), the
    /// target.
    fn outcomes(&self, machine: &Machine, from: StateId) -> Vec<(Option<bool>, Target)> {
        let same = Target::State(from);
        let target = match self.operation {
            Operation::None => return Vec::new(),
            Operation::Query(_) => return vec![(Some(from != machine.initial), same)],
            Operation::Transition(_, targets) => targets.get(usize::from(from.0)),
        };
        match target {
            // A mistake, or an operation that changes nothing, is one whatever the result is.
            Some(target @ Target::Error(_)) => vec![(None, target.clone())],
            Some(target) if *target != same && self.condition.is_some() => {
                // What is left where a pointer should be is not known of a function that has failed.
                let left = match self.object.root {
                    Root::Exit(_) => otherwise(machine, &self.object).map(Target::State),
                    _ => None,
                };
                vec![
                    (Some(true), target.clone()),
                    (Some(false), left.unwrap_or(same)),
                ]
            }
            Some(target) => vec![(None, target.clone())],
            None => Vec::new(),
        }
    }
}

fn find_operation<'a>(
    row: &FunctionRow,
    property: &'a Property,
    document: &mut Document,
) -> Option<Operation<'a>> {
    if row.operation.get_ref() == "none" {
        return Some(Operation::None);
    }
    let Some(name) = &row.machine else {
        let message = format!(
            "which machine has the operation `{}`? `machine` is missing",
            row.operation.get_ref()
        );
        document.error(row.operation.span(), message);
        return None;
    };
    let Some(machine) = property.machine(name.get_ref()) else {
        let offer = expected(property.machines().map(|machine| machine.name.as_str()));
        document.error(
            name.span(),
            format!("no machine `{}`{offer}", name.get_ref()),
        );
        return None;
    };
    if row.operation.get_ref() == "query" {
        return Some(Operation::Query(machine));
    }
    let Some(targets) = machine.operations.get(row.operation.get_ref()) else {
        let offer = expected(machine.operations.keys().map(String::as_str));
        let message = format!(
            "machine `{}` has no operation `{}`{offer}",
            machine.name,
            row.operation.get_ref()
        );
        document.error(row.operation.span(), message);
        return None;
    };
    Some(Operation::Transition(machine, targets))
}

/// Keeps some objects, with their rows.
pub(super) fn retain(summary: &mut Summary, stays: impl Fn(&SummaryObject) -> bool) {
    let stays: Vec<bool> = summary.objects.iter().map(stays).collect();
    let before = |object: usize| stays[..object].iter().filter(|stays| **stays).count();
    summary.rows.retain_mut(|row| {
        let object = row.object as usize;
        let kept = stays.get(object) == Some(&true);
        if kept {
            row.object = before(object) as u32;
        }
        kept
    });
    let mut at = stays.iter();
    summary.objects.retain(|_| at.next() == Some(&true));
}

/// Adds an object to M unless it is there.
pub(super) fn modify(summary: &mut Summary, object: IObj, size: u64) {
    if !summary.modified.iter().any(|m| m.object == object) {
        summary.modified.push(Modified {
            object,
            size,
            value: None,
            pointer: Told(false),
            null: Default::default(),
            null_with: None,
            only_if: Vec::new(),
            replaced: Default::default(),
        });
    }
}

/// A row as a seed gives it.
fn given_row(
    object: u32,
    (incond, outcond): (Cube, Cube),
    (from, to): (StateId, Target),
    touched: bool,
) -> Row {
    Row {
        object,
        incond,
        from,
        outcond,
        to,
        touched,
        doubtful: false,
        reported: false,
        contested: false,
        counted: false,
        answered: false,
        trace: Vec::new(),
    }
}

/// The state that what a function returns is in where the row's condition does not hold: nothing is known of it.
fn otherwise(machine: &Machine, object: &IObj) -> Option<StateId> {
    let unknown = |state: &StateId| machine.role(*state) == Role::Unknown;
    object
        .root
        .is_output()
        .then(|| machine.state_ids().find(unknown))
        .flatten()
}

/// The entries that a row's cube over P_in needs to tell a condition.
fn summary_inputs(condition: Option<(usize, bool)>) -> usize {
    condition.map_or(0, |(index, _)| index + 1)
}

/// The index of the predicate in P_in, added if need be.
fn input(summary: &mut Summary, predicate: &IExpr) -> usize {
    if let Some(index) = summary.inputs.iter().position(|known| known == predicate) {
        return index;
    }
    summary.inputs.push(predicate.clone());
    summary.inputs.len() - 1
}

/// The index of the predicate in P_out, added if need be.
fn output(summary: &mut Summary, predicate: &IExpr) -> usize {
    if let Some(index) = summary.outputs.iter().position(|known| known == predicate) {
        return index;
    }
    summary.outputs.push(predicate.clone());
    for row in &mut summary.rows {
        row.outcond.push(None);
    }
    summary.outputs.len() - 1
}
