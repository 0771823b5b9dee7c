//! Seed summaries: what lock primitives do, as rows of `summaries/*.toml`.
//!
//! In: rows (functions, operation, interface object, condition on the result) and the machines that
//! they refer to. Out: a [`Summary`] for each function, of the same form as an inferred one (paper
//! §5.2, Figure 8), so that nothing later can tell them apart.

mod effect;
mod initial;
mod library;
mod saved;
mod syntax;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use include_dir::{Dir, include_dir};
use serde::{Deserialize, Serialize};
use toml::Spanned;

use self::effect::{Effect, FunctionRow};
use super::{Assertion, Cube, IExpr, IObj, Sleep, Summary, SummaryObject};
use crate::ir::{Body, SymbolName};
use crate::property::document::{Document, built_in};
use crate::property::{LoadError, Property, SourceFile};

/// What is known of one primitive.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Seed {
    pub summary: Arc<Summary>,
    /// The types that the parameter leading to the object may point to in a *definition* of this name
    /// for the seed to stand for it. Empty: the seed gives way to any definition.
    pub types: Vec<String>,
    /// The definitions that the seed stands for, whatever types their parameters have.
    pub replaces: Replaces,
    /// The parameter in question.
    pub param: Option<u32>,
}

/// Which definitions a row stands for: `replaces = true`, or `replaces = "freestanding"` for those of a kernel.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "ReplacesValue")]
pub enum Replaces {
    #[default]
    None,
    /// Those in a unit that includes no header of a hosted program ([`crate::ir::Body::hosted`]): a program's own function of the
    /// name of a kernel's is another one.
    Freestanding,
    All,
}

/// [`Replaces`] as written.
#[derive(Deserialize)]
#[serde(untagged)]
enum ReplacesValue {
    All(bool),
    Some(String),
}

impl TryFrom<ReplacesValue> for Replaces {
    type Error = String;

    fn try_from(value: ReplacesValue) -> Result<Self, String> {
        match value {
            ReplacesValue::All(false) => Ok(Replaces::None),
            ReplacesValue::All(true) => Ok(Replaces::All),
            ReplacesValue::Some(word) if word == "freestanding" => Ok(Replaces::Freestanding),
            ReplacesValue::Some(word) => Err(format!(
                "`{word}` says of no definitions that they are replaced: `true`, `false` or `\"freestanding\"`"
            )),
        }
    }
}

/// A definition of a function, as far as it decides whether a seed stands for it.
#[derive(Clone, Copy)]
pub struct Defined<'d> {
    /// The parameters' types as in [`crate::ir::Local::type_name`].
    pub params: &'d [String],
    /// As in [`crate::ir::Body::hosted`].
    pub hosted: bool,
}

impl Seed {
    /// Whether the seed stands for the function: it is not defined in the program (`None`), or its
    /// definition takes the primitive's own type.
    pub fn applies(&self, defined: Option<Defined<'_>>) -> bool {
        let Some(Defined { params, hosted }) = defined else {
            return true;
        };
        match self.replaces {
            Replaces::All => return true,
            Replaces::Freestanding if !hosted => return true,
            _ => {}
        }
        let defined = self.param.and_then(|index| params.get(index as usize));
        defined.is_some_and(|defined| self.types.iter().any(|ty| ty == unqualified(defined)))
    }
}

impl Seed {
    /// Takes from a row in which definitions it stands for.
    fn add(&mut self, row: &FunctionRow, effect: &Effect<'_>) {
        self.replaces = self.replaces.max(row.replaces);
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

/// What gnulib puts before the name of a function of the C library to name its own: `#define fopen rpl_fopen`.
const REPLACEMENT: &str = "rpl_";

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
        Seeds::load_all(property, &built_in(&SUMMARIES), files)
    }

    /// The same, and beside them what is known of the functions of libraries that allocate, open, access and free: where it says more of a
    /// function than that it changes no lock, that counts.
    pub fn load_with_libraries(
        property: &Property,
        files: &[SourceFile],
    ) -> (Seeds, Vec<LoadError>) {
        let mut all = built_in(&SUMMARIES);
        if let Some(libraries) = SUMMARIES.get_dir("libraries") {
            all.extend(built_in(libraries));
        }
        Seeds::load_all(property, &all, files)
    }

    fn load_all(
        property: &Property,
        built_in: &[SourceFile],
        files: &[SourceFile],
    ) -> (Seeds, Vec<LoadError>) {
        let mut seeds = Seeds::default();
        let mut errors = Vec::new();
        for file in built_in.iter().chain(files) {
            seeds.load_file(file, property, &mut errors);
        }
        (seeds, errors)
    }

    /// What the seeds say of a property's machines and of accesses to memory, and nothing else. A function that operates on an object of another
    /// machine, a lock, accesses it.
    pub fn about_memory(&self, property: &Property) -> Seeds {
        let mut seeds = self.clone();
        for seed in seeds.by_name.values_mut() {
            let summary = Arc::make_mut(&mut seed.summary);
            let known = |object: &SummaryObject| property.machine(&object.machine).is_some();
            let others = summary.objects.iter().filter(|object| !known(object));
            let accessed: Vec<u32> = others.filter_map(library::accessed_argument).collect();
            for param in accessed {
                library::add_use(summary, param);
            }
            effect::retain(summary, known);
            summary.sleeps.clear();
            summary.assertions.clear();
            summary.initialises.clear();
        }
        seeds
    }

    /// The seed of that name, whether or not it applies to a definition.
    pub fn get(&self, name: &str) -> Option<&Seed> {
        self.by_name.get(name)
    }

    /// The summary that stands for the function, if a seed does ([`Seed::applies`]). What replaces a function of the C library, and is not
    /// defined here, does what that does.
    pub fn summary(&self, name: &SymbolName, defined: Option<Defined<'_>>) -> Option<Arc<Summary>> {
        let replaced = || {
            let name = name.name.strip_prefix(REPLACEMENT)?;
            self.get(name).filter(|_| defined.is_none())
        };
        let seed = self.get(&name.name).or_else(replaced)?;
        seed.applies(defined).then(|| seed.summary.clone())
    }

    /// The summary that stands for a function, if a seed does; `body` is `None` if its definition was not read, and `own` says whether
    /// that lies in the tree. What a header of the system defines (`fgets`, which then calls `__fgets_chk`) is the library's function.
    pub fn in_place_of(
        &self,
        name: &SymbolName,
        (body, own): (Option<&Body>, bool),
    ) -> Option<Arc<Summary>> {
        // Where nothing is known of its parameters, it is seeded by its name alone.
        let Some(body) = body.filter(|_| own) else {
            return self.summary(name, None);
        };
        let params = body.locals.iter().take(body.params as usize);
        let params: Vec<String> = params.map(|local| local.type_name.clone()).collect();
        let (params, hosted) = (params.as_slice(), body.hosted);
        self.summary(name, Some(Defined { params, hosted }))
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
            self.add_function(&row, property, &mut seeds, &mut document);
        }
        for row in document.rows::<SleepRow>("sleep") {
            self.add_sleep(&row, &mut seeds, &mut document);
        }
        for row in document.rows::<library::LibraryRow>("library") {
            row.add_to(&self.by_name, &mut seeds, &mut document);
        }
        for row in document.rows::<AssertRow>("assert") {
            row.add_to(property, &mut seeds, &mut document);
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
        for seed in seeds.values_mut() {
            Arc::make_mut(&mut seed.summary).given = true;
        }
        self.by_name.extend(seeds);
        errors.extend(document.into_row_errors());
    }

    fn add_function(
        &self,
        row: &FunctionRow,
        property: &Property,
        seeds: &mut BTreeMap<String, Seed>,
        document: &mut Document,
    ) {
        let Some(effect) = Effect::check(row, property, document) else {
            return;
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
            seed.add(row, &effect);
            if !effect.add_to(Arc::make_mut(&mut seed.summary)) {
                let message = format!(
                    "`{}` already has an operation on this object",
                    name.get_ref()
                );
                document.error(name.span(), message);
            }
        }
    }

    fn add_sleep(
        &self,
        row: &SleepRow,
        seeds: &mut BTreeMap<String, Seed>,
        document: &mut Document,
    ) {
        let Some(input) = row.condition(document) else {
            return;
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
    replaces: Replaces,
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
    fn add_to(
        &self,
        property: &Property,
        seeds: &mut BTreeMap<String, Seed>,
        document: &mut Document,
    ) {
        let Some(object) = self.check(property, document) else {
            return;
        };
        for name in &self.names {
            let seed = seeds.entry(name.get_ref().clone()).or_default();
            let summary = Arc::make_mut(&mut seed.summary);
            summary.assertions.push(Assertion {
                object: object.clone(),
                name: syntax::name(self.object.get_ref()).to_owned(),
                class: None,
                rule: self.rule.get_ref().clone(),
                incond: vec![None; summary.inputs.len()],
                trace: Vec::new(),
            });
        }
    }

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

#[cfg(test)]
mod tests;
