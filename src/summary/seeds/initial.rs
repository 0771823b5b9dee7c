//! Seed rows of how objects are initialised: `[[write]]`, `[[initialise]]` and `[[initialiser]]`.
//!
//! In: such rows. Out: what they say, in the seeds of the functions that they name.

use std::collections::BTreeMap;

use serde::Deserialize;
use toml::Spanned;

use super::Seed;
use super::effect::modify;
use super::syntax::{self, INT_BITS};
use crate::ir::POINTER_BITS;
use crate::property::document::Document;
use crate::summary::{IExpr, IObj, Initialisation, Root, Told, When};
use crate::symbolic::term::Op;

/// A `[[write]]` row as written: functions that store an `int`.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct WriteRow {
    names: Vec<Spanned<String>>,
    object: Spanned<String>,
    /// An argument, or a number.
    value: Spanned<String>,
    #[serde(default)]
    types: Vec<String>,
}

impl WriteRow {
    pub(super) fn add_to(&self, seeds: &mut BTreeMap<String, Seed>, document: &mut Document) {
        let Some(object) = object(&self.object, document) else {
            return;
        };
        let Some(value) = value(self.value.get_ref()) else {
            let text = self.value.get_ref();
            let message = format!("`{text}` is no value; expected something like `param1` or `0`");
            document.error(self.value.span(), message);
            return;
        };
        for name in functions(&self.names, document) {
            let summary = &mut seed(seeds, name, &self.types, &object).summary;
            let summary = std::sync::Arc::make_mut(summary);
            modify(summary, object.clone(), u64::from(INT_BITS / 8));
            let written = summary.modified.iter_mut();
            for modified in written.filter(|modified| modified.object == object) {
                modified.value = Some(value.clone());
            }
        }
    }
}

/// An `[[initialise]]` row as written: functions that initialise objects, and say which are recursive.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct InitialiseRow {
    names: Vec<Spanned<String>>,
    object: Spanned<String>,
    /// The number that says so: an argument (`param1`), or an `int` that one points to (`*param1`); 0 where that pointer is null. None if no object
    /// is recursive that they initialise.
    kind: Option<Spanned<String>>,
    /// The numbers that mean a recursive object.
    #[serde(default)]
    recursive: Vec<u32>,
    /// Bits of which one is set in those.
    #[serde(default)]
    recursive_bits: u32,
    #[serde(default)]
    types: Vec<String>,
}

impl InitialiseRow {
    pub(super) fn add_to(&self, seeds: &mut BTreeMap<String, Seed>, document: &mut Document) {
        let Some(object) = object(&self.object, document) else {
            return;
        };
        let kind = match &self.kind {
            Some(kind) => match self.kind(kind, document) {
                Some(kind) => Some(kind),
                None => return,
            },
            None => None,
        };
        let recursive = match &kind {
            Some(kind) => self.condition(kind),
            None => constant(0, 1),
        };
        let kept_in = kind.filter(|kind| !kind.path.is_empty());
        for name in functions(&self.names, document) {
            let summary = &mut seed(seeds, name, &self.types, &object).summary;
            let summary = std::sync::Arc::make_mut(summary);
            summary.initialises.push(Initialisation {
                object: object.clone(),
                name: syntax::name(self.object.get_ref()).to_owned(),
                class: None,
                recursive: Some(recursive.clone()),
                kept_in: kept_in.clone(),
            });
        }
    }

    /// Where the number lies that says what an object is initialised as.
    fn kind(&self, kind: &Spanned<String>, document: &mut Document) -> Option<IObj> {
        let place = match syntax::place(kind.get_ref()) {
            Ok(place) if !place.root.is_output() => place,
            Ok(_) => {
                let message = "what an object is initialised as is known before the call";
                document.error(kind.span(), message);
                return None;
            }
            Err(message) => {
                document.error(kind.span(), message);
                return None;
            }
        };
        if self.recursive.is_empty() && self.recursive_bits == 0 {
            let message =
                "which numbers mean a recursive object? `recursive` or `recursive_bits` is missing";
            document.error(kind.span(), message);
            return None;
        }
        Some(place)
    }

    /// Whether the object is recursive.
    fn condition(&self, kind: &IObj) -> IExpr {
        let number = read(kind.clone(), INT_BITS);
        let is = |value: &u32| op(Op::Eq, vec![number.clone(), constant(*value, INT_BITS)]);
        let mut means: Vec<IExpr> = self.recursive.iter().map(is).collect();
        if self.recursive_bits != 0 {
            let bits = vec![number.clone(), constant(self.recursive_bits, INT_BITS)];
            let bits = IExpr::Op {
                op: Op::And,
                width: INT_BITS,
                args: bits,
            };
            means.push(IExpr::is_nonzero(bits, INT_BITS));
        }
        let one = |one: IExpr, other: IExpr| op(Op::Or, vec![one, other]);
        let recursive = means.into_iter().reduce(one);
        let recursive = recursive.unwrap_or_else(|| constant(0, 1));
        let mut pointer = kind.clone();
        match pointer.path.pop() {
            Some(_) => {
                let there = IExpr::is_nonzero(read(pointer, POINTER_BITS), POINTER_BITS);
                op(Op::And, vec![there, recursive])
            }
            None => recursive,
        }
    }
}

/// An `[[initialiser]]` row as written.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ConstantRow {
    /// The enumeration constants by which an initialiser makes an object recursive.
    pub recursive: Vec<String>,
}

fn object(text: &Spanned<String>, document: &mut Document) -> Option<IObj> {
    syntax::object(text.get_ref())
        .map_err(|message| document.error(text.span(), message))
        .ok()
}

/// The names that C functions can have.
fn functions<'n>(names: &'n [Spanned<String>], document: &mut Document) -> Vec<&'n str> {
    let mut functions = Vec::new();
    for name in names {
        match syntax::is_identifier(name.get_ref()) {
            true => functions.push(name.get_ref().as_str()),
            false => {
                let message = format!("`{}` is no C function name", name.get_ref());
                document.error(name.span(), message);
            }
        }
    }
    functions
}

/// The seed of a function, made if there is none.
fn seed<'s>(
    seeds: &'s mut BTreeMap<String, Seed>,
    name: &str,
    types: &[String],
    object: &IObj,
) -> &'s mut Seed {
    seeds.entry(name.to_owned()).or_insert_with(|| Seed {
        types: types.to_vec(),
        param: match object.root {
            Root::Param(index) => Some(index),
            Root::Global(_) | Root::Return | Root::Exit(_) | Root::Entry(_) => None,
        },
        ..Seed::default()
    })
}

/// Reads `param1` or a number.
fn value(text: &str) -> Option<IExpr> {
    if let Ok(number) = text.parse() {
        return Some(constant(number, INT_BITS));
    }
    let place = syntax::place(text).ok()?;
    let param = place.path.is_empty() && matches!(place.root, Root::Param(_));
    param.then(|| read(place, INT_BITS))
}

fn read(object: IObj, width: u16) -> IExpr {
    IExpr::Value {
        object,
        width,
        when: When::Entry,
        narrow: false,
        pointer: Told(false),
    }
}

fn constant(value: u32, width: u16) -> IExpr {
    IExpr::Const {
        value: u128::from(value),
        width,
    }
}

fn op(op: Op, args: Vec<IExpr>) -> IExpr {
    IExpr::Op { op, width: 1, args }
}
