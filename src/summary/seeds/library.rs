//! `[[library]]` rows: what functions of a library do with the pointers that they get and return.
//!
//! In: a row as written. Out: the uses, the kept parameters and the result of the summaries of its functions.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde::Deserialize;
use toml::Spanned;

use super::effect::{ResultType, modify};
use super::{Replaces, Seed, syntax};
use crate::ir::POINTER_BITS;
use crate::property::document::Document;
use crate::summary::{
    Choice, Comparison, Fill, IExpr, IObj, NullResult, Offset, Root, Summary, SummaryObject, Told,
    Use, When,
};
use crate::symbolic::callee::Answers;
use crate::symbolic::term::Op;

/// A `[[library]]` row as written.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct LibraryRow {
    names: Vec<Spanned<String>>,
    /// Parameters, pointers, that lead to what the functions access.
    #[serde(default)]
    uses: Vec<u32>,
    /// The same where they are not null.
    #[serde(default)]
    uses_unless_null: Vec<u32>,
    /// The parameter that says how much they access.
    size: Option<u32>,
    /// Where the functions leave null instead of a pointer.
    #[serde(default)]
    clears: Vec<Spanned<String>>,
    /// Where they may leave any pointer.
    #[serde(default)]
    changes: Vec<Spanned<String>>,
    /// Where they leave an error if they fail, which is where their result is null or 0; else there is none.
    error: Option<Spanned<String>>,
    /// Parameters, numbers of open files, of which the functions access what they name.
    #[serde(default)]
    uses_number: Vec<u32>,
    /// The parameter that leads to what the functions write: as many bytes as `size` says.
    writes: Option<u32>,
    /// The one that leads to what they copy there.
    copies: Option<u32>,
    /// Parameters that may be found elsewhere afterwards.
    #[serde(default)]
    keeps: Vec<u32>,
    /// Parameters that lead to pointers which may be found elsewhere afterwards.
    #[serde(default)]
    keeps_contents: Vec<u32>,
    /// Whether the result may be null.
    #[serde(default)]
    null: NullResult,
    /// Bits of an argument by which it may.
    null_when: Option<Spanned<String>>,
    /// The parameter that is the result.
    returns: Option<u32>,
    /// The parameter that is the result, unless that is null.
    returns_or_null: Option<u32>,
    /// The same, where the parameter is not null itself: then the result is something else.
    returns_if_given: Option<u32>,
    /// The parameter that leads to what the result leads into, unless that is null.
    within: Option<u32>,
    /// The parameter that leads to the string that the result is the length of.
    length: Option<u32>,
    /// The result says how the strings compare that the first two parameters lead to.
    compares: Option<Comparison>,
    /// The parameter that is a format: of the arguments behind it, those for which it has `%s` lead to text that is read.
    format: Option<u32>,
    /// The least result, a signed number.
    at_least: Option<i32>,
    /// The parameter that the result is never greater than.
    at_most: Option<u32>,
    /// What the functions add to a number in memory, in one step.
    adds: Option<Addition>,
    /// The result leads to the number of the last error.
    #[serde(default)]
    error_number: bool,
    /// The result is what the world outside the program answers.
    #[serde(default)]
    outside: bool,
    /// Asked again with the same arguments, the functions answer the same until something changes that.
    #[serde(default)]
    repeats: bool,
    /// The functions change what others answer that repeat themselves.
    #[serde(default)]
    changes_answers: bool,
    /// The functions write to nothing that they get a pointer to.
    #[serde(default)]
    reads: bool,
    #[serde(default)]
    noreturn: bool,
    /// What an argument is where control does not come back.
    noreturn_if: Option<Spanned<String>>,
    /// Whatever the tree's own definition of the function does.
    #[serde(default)]
    replaces: Replaces,
}

/// What functions add to a number in memory that several threads may count with.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Addition {
    /// The parameter that leads to the number.
    to: u32,
    number: i32,
    /// The type of the number in memory.
    #[serde(default, rename = "type")]
    of: ResultType,
    result: Option<Answer>,
}

/// What the result of an addition tells.
#[derive(Clone, Copy, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Answer {
    Old,
    New,
    /// Whether the new number is 0, a `_Bool`.
    Zero,
}

impl Addition {
    fn add_to(&self, summary: &mut Summary) {
        let width = self.of.width();
        let object = pointed_to(self.to);
        let old = IExpr::Value {
            object: object.clone(),
            width,
            when: When::Entry,
            narrow: false,
            pointer: Told(false),
        };
        let mask = u128::MAX >> (128 - u32::from(width));
        let new = IExpr::Linear {
            width,
            constant: i128::from(self.number) as u128 & mask,
            terms: vec![(1, old.clone())],
        };
        leave(summary, &object, u64::from(width / 8), &new);
        summary.result = self.result.map(|result| match result {
            Answer::Old => old,
            Answer::New => new,
            Answer::Zero => IExpr::is_zero(new, width),
        });
    }
}

impl LibraryRow {
    pub(super) fn add_to(
        &self,
        before: &BTreeMap<String, Seed>,
        seeds: &mut BTreeMap<String, Seed>,
        document: &mut Document,
    ) {
        let Some(null_when) = self.null_when(document) else {
            return;
        };
        let Some(ends_when) = self.ends_when(document) else {
            return;
        };
        let error = self.error.as_slice();
        let (Some(cleared), Some(changed), Some(error)) = (
            places(&self.clears, document),
            places(&self.changes, document),
            places(error, document),
        ) else {
            return;
        };
        for name in &self.names {
            if !syntax::is_identifier(name.get_ref()) {
                let message = format!("`{}` is no C function name", name.get_ref());
                document.error(name.span(), message);
                continue;
            }
            let known = before.get(name.get_ref());
            let seed = seeds
                .entry(name.get_ref().clone())
                .or_insert_with(|| known.cloned().unwrap_or_default());
            seed.replaces = seed.replaces.max(self.replaces);
            let summary = Arc::make_mut(&mut seed.summary);
            self.complete(summary);
            clear(summary, &cleared);
            for place in &changed {
                modify(summary, place.clone(), u64::from(POINTER_BITS / 8));
            }
            for place in &error {
                leave_error(summary, place);
            }
            if let Some(condition) = &null_when {
                summary.null_when = Some(condition.clone());
            }
            if let Some(ends) = &ends_when {
                let returns = (ends.predicate.clone(), !ends.holds);
                summary.returns_when.push(returns);
            }
        }
    }

    /// `Some(None)`: whatever the arguments are; `None`: what is written is no condition, which is reported.
    fn null_when(&self, document: &mut Document) -> Option<Option<IExpr>> {
        let Some(when) = &self.null_when else {
            return Some(None);
        };
        let condition = syntax::argument(when.get_ref())
            .map_err(|message| document.error(when.span(), message))
            .ok()?;
        Some(Some(match condition.holds {
            true => condition.predicate,
            false => IExpr::Op {
                op: Op::Not,
                width: 1,
                args: vec![condition.predicate],
            },
        }))
    }

    /// The same of the argument by which control does not come back.
    fn ends_when(&self, document: &mut Document) -> Option<Option<syntax::Condition>> {
        let Some(when) = &self.noreturn_if else {
            return Some(None);
        };
        syntax::argument(when.get_ref())
            .map_err(|message| document.error(when.span(), message))
            .ok()
            .map(Some)
    }

    fn complete(&self, summary: &mut Summary) {
        for &param in &self.uses {
            add_use(summary, param);
        }
        for &param in &self.uses_unless_null {
            let mut access = used(summary, param);
            access.incond.push(Some(true));
            summary
                .inputs
                .push(IExpr::is_nonzero(pointer(param), POINTER_BITS));
            summary.uses.push(access);
        }
        for &param in &self.uses_number {
            let mut number = used(summary, param);
            number.object.path = Vec::new();
            summary.uses.push(number);
        }
        summary.keeps.extend(&self.keeps);
        summary.keeps_contents.extend(&self.keeps_contents);
        summary.opaque |= !self.reads && self.writes.is_none();
        let fill = self.writes.map(|to| Fill {
            to,
            from: self.copies,
        });
        summary.fills = fill.or(summary.fills);
        summary.noreturn |= self.noreturn;
        summary.outside |= self.outside;
        summary.repeats |= self.repeats;
        summary.error_number |= self.error_number;
        if self.changes_answers {
            summary.changes_answers = Answers::All;
        }
        if self.null != NullResult::Unknown {
            summary.null_result = self.null;
        }
        summary.size = self.size.or(summary.size);
        summary.length_of = self.length.or(summary.length_of);
        summary.compares = self.compares.or(summary.compares);
        summary.format = self.format.or(summary.format);
        summary.range.least = self.at_least.or(summary.range.least);
        summary.range.most = self.at_most.or(summary.range.most);
        if let Some(param) = self.returns {
            summary.result = Some(pointer(param));
        }
        if let Some(param) = self.returns_or_null {
            summary.result = Some(unless_null(pointer(param)));
        }
        if let Some(param) = self.returns_if_given {
            summary.result = Some(if_given(pointer(param)));
        }
        if let Some(param) = self.within {
            summary.result = Some(pointer_within(param));
        }
        if let Some(addition) = &self.adds {
            addition.add_to(summary);
        }
    }
}

/// The places that a row names; `None`: something there is none, which is reported.
fn places(texts: &[Spanned<String>], document: &mut Document) -> Option<Vec<IObj>> {
    let mut places = Vec::new();
    for text in texts {
        match syntax::object(text.get_ref()) {
            Ok(place) => places.push(place),
            Err(message) => {
                document.error(text.span(), message);
                return None;
            }
        }
    }
    Some(places)
}

/// The parameter that leads to an object which the function operates on in any case.
pub(super) fn accessed_argument(object: &SummaryObject) -> Option<u32> {
    match object.object.root {
        Root::Param(param) if object.object == pointed_to(param) => {
            (!object.optional).then_some(param)
        }
        _ => None,
    }
}

/// Adds that the function accesses what a parameter leads to.
pub(super) fn add_use(summary: &mut Summary, param: u32) {
    let access = used(summary, param);
    if !summary.uses.contains(&access) {
        summary.uses.push(access);
    }
}

/// The access to what a parameter leads to.
fn used(summary: &Summary, param: u32) -> Use {
    Use {
        object: pointed_to(param),
        name: format!("param{param}"),
        incond: vec![None; summary.inputs.len()],
        answered: false,
        changed: false,
        ends: false,
        trace: Vec::new(),
    }
}

/// Adds that these places hold null afterwards.
fn clear(summary: &mut Summary, places: &[IObj]) {
    for place in places {
        leave(summary, place, u64::from(POINTER_BITS / 8), &null());
    }
}

/// Adds that a place leads to an error where the result is null or 0. Else there is none, as there was none before.
fn leave_error(summary: &mut Summary, place: &IObj) {
    let result = syntax::returned(POINTER_BITS);
    let error = unknown(0, POINTER_BITS);
    let failed = IExpr::is_zero(result, POINTER_BITS);
    let left = IExpr::either(failed, [error, null()]);
    leave(summary, place, u64::from(POINTER_BITS / 8), &left);
}

/// Adds that a place of so many bytes holds a value afterwards.
fn leave(summary: &mut Summary, place: &IObj, size: u64, value: &IExpr) {
    modify(summary, place.clone(), size);
    let written = summary.modified.iter_mut();
    for modified in written.filter(|modified| modified.object == *place) {
        modified.value = Some(value.clone());
    }
}

/// What a parameter leads to.
fn pointed_to(param: u32) -> IObj {
    IObj {
        root: Root::Param(param),
        path: vec![Offset::bytes(0)],
    }
}

fn null() -> IExpr {
    IExpr::Const {
        value: 0,
        width: POINTER_BITS,
    }
}

/// The value of a parameter that is a pointer.
fn pointer(param: u32) -> IExpr {
    syntax::passed(param, POINTER_BITS)
}

/// Null, or some way further on than a parameter.
fn pointer_within(param: u32) -> IExpr {
    unless_null(IExpr::Linear {
        width: POINTER_BITS,
        constant: 0,
        terms: vec![(1, pointer(param)), (1, unknown(1, POINTER_BITS))],
    })
}

/// Null, or a pointer where that is not null; else something unknown.
fn if_given(pointer: IExpr) -> IExpr {
    let is_null = IExpr::is_zero(pointer.clone(), POINTER_BITS);
    IExpr::either(is_null, [unknown(1, POINTER_BITS), unless_null(pointer)])
}

/// Null, or a pointer.
fn unless_null(pointer: IExpr) -> IExpr {
    IExpr::either(unknown(0, 1), [pointer, null()])
}

/// A value of so many bits of which nothing is known.
fn unknown(id: u32, width: u16) -> IExpr {
    let choice = Choice::Any;
    IExpr::Unknown { id, width, choice }
}
