//! Seed summaries: what lock primitives do, as rows of `summaries/*.toml`.
//!
//! In: rows (functions, operation, interface object, condition on the result) and the machines that
//! they refer to. Out: a [`Summary`] for each function, of the same form as an inferred one (paper
//! §5.2, Figure 8), so that nothing later can tell them apart.

mod initial;
mod saved;
mod syntax;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use include_dir::{Dir, include_dir};
use serde::{Deserialize, Serialize};
use toml::Spanned;

use self::syntax::{Condition, When as Happens};
use super::{
    Assertion, Cube, IExpr, IObj, Modified, Offset, Root, Row, Sleep, Summary, SummaryObject,
};
use crate::ir::SymbolName;
use crate::property::load::{Document, built_in, expected};
use crate::property::{LoadError, Machine, Property, SourceFile, StateId, Target};
use crate::symbolic::term::Op;

/// What is known of one primitive.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Seed {
    pub summary: Arc<Summary>,
    /// The types that the parameter leading to the object may point to in a *definition* of this name
    /// for the seed to stand for it. Empty: the seed gives way to any definition.
    pub types: Vec<String>,
    /// The seed stands for any definition.
    pub replaces: bool,
    /// The parameter in question.
    pub param: Option<u32>,
}

impl Seed {
    /// Whether the seed stands for the function: it is not defined in the program (`None`), or its
    /// definition takes the primitive's own type. `defined_params` are the definition's parameter
    /// types as in [`crate::ir::Local::type_name`].
    pub fn applies(&self, defined_params: Option<&[String]>) -> bool {
        let Some(params) = defined_params else {
            return true;
        };
        if self.replaces {
            return true;
        }
        let defined = self.param.and_then(|index| params.get(index as usize));
        defined.is_some_and(|defined| self.types.iter().any(|ty| ty == unqualified(defined)))
    }
}

impl Seed {
    /// Takes from a row in which definitions it stands for.
    fn add(&mut self, row: &FunctionRow, effect: &Effect<'_>) {
        self.replaces |= row.replaces;
        if self.param.is_none() {
            self.param = effect.param();
        }
        for name in &row.types {
            if !self.types.contains(name) {
                self.types.push(name.clone());
            }
        }
    }
}

/// The type name without leading qualifiers.
fn unqualified(mut type_name: &str) -> &str {
    while let Some(rest) = ["const ", "volatile ", "_Atomic "]
        .iter()
        .find_map(|qualifier| type_name.strip_prefix(qualifier))
    {
        type_name = rest;
    }
    type_name.trim()
}

/// All seeds by function name.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Seeds {
    by_name: BTreeMap<String, Seed>,
    /// The types that primitives operate on.
    types: BTreeSet<String>,
    /// Enumeration constants that make an object recursive in its initialiser.
    recursive: BTreeSet<String>,
}

/// The rows that come with the program.
static SUMMARIES: Dir<'_> = include_dir!("$CARGO_MANIFEST_DIR/summaries");

impl Seeds {
    /// The seeds that come with the program and then those of `files`; a function named again in a
    /// later file is replaced. Rows that cannot be used are left out and reported. `files` are those
    /// that `property` was loaded from, which has reported what is no TOML in them.
    pub fn load(property: &Property, files: &[SourceFile]) -> (Seeds, Vec<LoadError>) {
        let built_in = built_in(&SUMMARIES);
        let mut seeds = Seeds::default();
        let mut errors = Vec::new();
        for file in built_in.iter().chain(files) {
            seeds.load_file(file, property, &mut errors);
        }
        (seeds, errors)
    }

    /// The seed of that name, whether or not it applies to a definition.
    pub fn get(&self, name: &str) -> Option<&Seed> {
        self.by_name.get(name)
    }

    /// The summary that stands for the function, if a seed does. `defined_params`: see
    /// [`Seed::applies`].
    pub fn summary(
        &self,
        name: &SymbolName,
        defined_params: Option<&[String]>,
    ) -> Option<Arc<Summary>> {
        let seed = self.get(&name.name)?;
        seed.applies(defined_params).then(|| seed.summary.clone())
    }

    /// Whether a primitive operates on objects of this type.
    pub fn is_object_type(&self, type_name: &str) -> bool {
        self.types.contains(type_name)
    }

    /// Whether an object is recursive whose initialiser has this enumeration constant.
    pub fn means_recursive(&self, constant: &str) -> bool {
        self.recursive.contains(constant)
    }

    /// All names in order.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.by_name.keys().map(String::as_str)
    }

    fn load_file(&mut self, file: &SourceFile, property: &Property, errors: &mut Vec<LoadError>) {
        let mut document = Document::parse(file);
        let mut seeds: BTreeMap<String, Seed> = BTreeMap::new();
        for row in document.rows::<FunctionRow>("function") {
            let Some(effect) = Effect::check(&row, property, &mut document) else {
                continue;
            };
            for name in &row.names {
                if !syntax::is_identifier(name.get_ref()) {
                    let message = format!("`{}` is no C function name", name.get_ref());
                    document.error(name.span(), message);
                    continue;
                }
                let known = self.by_name.get(name.get_ref());
                let seed = seeds.entry(name.get_ref().clone()).or_insert_with(|| {
                    known.map_or_else(Seed::default, |known| effect.beside(known, property))
                });
                seed.add(&row, &effect);
                if !effect.add_to(Arc::make_mut(&mut seed.summary)) {
                    let message = format!(
                        "`{}` already has an operation on this object",
                        name.get_ref()
                    );
                    document.error(name.span(), message);
                }
            }
        }
        for row in document.rows::<SleepRow>("sleep") {
            let Some(input) = row.condition(&mut document) else {
                continue;
            };
            for name in &row.names {
                let known = self.by_name.get(name.get_ref()).cloned();
                let seed = seeds.entry(name.get_ref().clone()).or_insert_with(|| {
                    known.unwrap_or_else(|| Seed {
                        summary: Arc::new(Summary {
                            opaque: true,
                            ..Summary::default()
                        }),
                        types: Vec::new(),
                        replaces: row.replaces,
                        param: None,
                    })
                });
                let summary = Arc::make_mut(&mut seed.summary);
                let mut incond: Cube = vec![None; summary.inputs.len()];
                if let Some(input) = &input {
                    summary.inputs.push(input.clone());
                    incond.push(Some(true));
                }
                summary.sleeps.push(Sleep {
                    incond,
                    there: Vec::new(),
                    trace: Vec::new(),
                });
            }
        }
        for row in document.rows::<AssertRow>("assert") {
            let Some(object) = row.check(property, &mut document) else {
                continue;
            };
            for name in &row.names {
                let seed = seeds.entry(name.get_ref().clone()).or_default();
                let summary = Arc::make_mut(&mut seed.summary);
                summary.assertions.push(Assertion {
                    object: object.clone(),
                    name: syntax::name(row.object.get_ref()).to_owned(),
                    class: None,
                    rule: row.rule.get_ref().clone(),
                    incond: vec![None; summary.inputs.len()],
                    trace: Vec::new(),
                });
            }
        }
        for row in document.rows::<initial::WriteRow>("write") {
            row.add_to(&mut seeds, &mut document);
        }
        for row in document.rows::<initial::InitialiseRow>("initialise") {
            row.add_to(&mut seeds, &mut document);
        }
        for row in document.rows::<initial::ConstantRow>("initialiser") {
            self.recursive.extend(row.recursive);
        }
        let types = seeds.values().flat_map(|seed| &seed.types);
        self.types.extend(types.cloned());
        self.by_name.extend(seeds);
        errors.extend(document.into_row_errors());
    }
}

/// A `[[function]]` row as written.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct FunctionRow {
    names: Vec<Spanned<String>>,
    object: Spanned<String>,
    machine: Option<Spanned<String>>,
    /// An operation of the machine; `none`: the function has no effect on any object; `query`: it has
    /// none either, but `when` holds exactly if the object is not in the machine's initial state.
    operation: Spanned<String>,
    /// The condition on the result under which the operation has happened; `always` if missing.
    when: Option<Spanned<String>>,
    /// The result's type.
    #[serde(default)]
    result: ResultType,
    /// All results there are, where they are few.
    returns: Option<Returns>,
    #[serde(default)]
    types: Vec<String>,
    /// Whatever the tree's own definition of the function says.
    #[serde(default)]
    replaces: bool,
    /// Where the function keeps the state in which it found the object.
    saves: Option<Spanned<String>>,
    /// A value of that kind: the operation leads to the state that it tells.
    restores: Option<Spanned<String>>,
}

/// A `[[sleep]]` row as written: functions that may sleep.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct SleepRow {
    names: Vec<Spanned<String>>,
    /// A bit of an argument that is set where they may; `always` if missing.
    when: Option<Spanned<String>>,
    /// Whatever the tree's own definition of the function does.
    #[serde(default)]
    replaces: bool,
}

impl SleepRow {
    /// `Some(None)`: always; `None`: what is written is no condition, which is reported.
    fn condition(&self, document: &mut Document) -> Option<Option<IExpr>> {
        let Some(when) = &self.when else {
            return Some(None);
        };
        syntax::bits(when.get_ref())
            .map_err(|message| document.error(when.span(), message))
            .ok()
            .map(Some)
    }
}

/// An `[[assert]]` row as written: functions that state that an object is held.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct AssertRow {
    names: Vec<Spanned<String>>,
    object: Spanned<String>,
    /// The rule that a call breaks where the object is not held.
    rule: Spanned<String>,
}

impl AssertRow {
    /// The object; `None` if something in the row does not exist, which is reported.
    fn check(&self, property: &Property, document: &mut Document) -> Option<IObj> {
        if property.rule(self.rule.get_ref()).is_none() {
            let message = format!("no rule `{}`", self.rule.get_ref());
            document.error(self.rule.span(), message);
            return None;
        }
        syntax::object(self.object.get_ref())
            .map_err(|message| document.error(self.object.span(), message))
            .ok()
    }
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
        let choice = |rest: IExpr, (id, value): (usize, &i64)| IExpr::Op {
            op: Op::Ite,
            width,
            args: vec![
                IExpr::Unknown {
                    id: id as u32,
                    width: 1,
                },
                constant(*value),
                rest,
            ],
        };
        Some(others.iter().enumerate().fold(constant(*last), choice))
    }
}

#[derive(Clone, Copy, Default, Deserialize)]
#[serde(rename_all = "lowercase")]
enum ResultType {
    Bool,
    #[default]
    Int,
    Long,
    Pointer,
}

impl ResultType {
    /// Bits.
    fn width(self) -> u16 {
        match self {
            ResultType::Bool => 8,
            ResultType::Int => 32,
            ResultType::Long | ResultType::Pointer => 64,
        }
    }
}

/// A row that has been checked: what each of its functions does.
struct Effect<'a> {
    object: IObj,
    name: &'a str,
    operation: Operation<'a>,
    /// `None`: always.
    condition: Option<Condition>,
    result: ResultType,
    returns: Option<Returns>,
    saves: Option<IObj>,
    restores: Option<IObj>,
}

/// What a row's `operation` names.
#[derive(Clone, Copy)]
enum Operation<'a> {
    None,
    Query(&'a Machine),
    Transition(&'a Machine, &'a [Target]),
}

impl<'a> Effect<'a> {
    /// Looks up what the row mentions; reports what does not exist or does not parse.
    fn check(
        row: &'a FunctionRow,
        property: &'a Property,
        document: &mut Document,
    ) -> Option<Self> {
        let object = syntax::object(row.object.get_ref())
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
        let operation = find_operation(row, property, document)?;
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
            condition,
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
    fn beside(&self, known: &Seed, property: &Property) -> Seed {
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
    fn param(&self) -> Option<u32> {
        match self.object.root {
            Root::Param(index) => Some(index),
            Root::Global(_) | Root::Return | Root::Exit(_) => None,
        }
    }

    /// Adds the object and its rows of R; false if the summary has the object already.
    fn add_to(&self, summary: &mut Summary) -> bool {
        let Some(machine) = self.machine() else {
            return summary.objects.is_empty();
        };
        let known =
            |other: &SummaryObject| other.object == self.object && other.machine == machine.name;
        if summary.objects.iter().any(known) {
            return false;
        }
        let object = summary.objects.len() as u32;
        summary.objects.push(SummaryObject {
            object: self.object.clone(),
            name: self.name.to_owned(),
            class: None,
            machine: machine.name.clone(),
            optional: false,
            open: false,
            exact: true,
        });
        if let Operation::Transition(..) = self.operation {
            // The lock's word is modified, but that is the machine's business: size 0, nothing to
            // havoc.
            modify(summary, self.object.clone(), 0);
        }
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
        for from in machine.state_ids() {
            for (outcome, to) in self.outcomes(machine, from) {
                let mut outcond: Cube = vec![None; summary.outputs.len()];
                if let (Some(outcome), Some((index, holds))) = (outcome, happened) {
                    outcond[index] = Some(outcome == holds);
                }
                let row = Row {
                    object,
                    incond: Vec::new(),
                    from,
                    outcond,
                    to,
                    touched: true,
                    doubtful: false,
                    reported: false,
                    contested: false,
                    trace: Vec::new(),
                };
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
                vec![(Some(true), target.clone()), (Some(false), same)]
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
fn retain(summary: &mut Summary, stays: impl Fn(&SummaryObject) -> bool) {
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
fn modify(summary: &mut Summary, object: IObj, size: u64) {
    if !summary.modified.iter().any(|m| m.object == object) {
        summary.modified.push(Modified {
            object,
            size,
            value: None,
        });
    }
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

#[cfg(test)]
mod tests;
