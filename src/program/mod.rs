//! The whole program: every function that the analysis needs, and which function each call names.
//!
//! [`crate::program::link`] makes it. The functions stand in the order of their places in the source, whatever the order in which
//! units were read. A tree may hold several programs: a definition that calls other functions in some of them than in others
//! is a function of its own for each such set of programs, a *variant*.

pub mod call_graph;
pub mod indirect_calls;
pub mod link;

use std::collections::{BTreeMap, BTreeSet};

use rustc_hash::FxHashSet;
use serde::Serialize;

use crate::frontend::{BodyKey, Loss, LossReason, Stage, UnitIndex};
use crate::ir::{Enumerated, FunctionHolder, Image, Methods, SymbolName};
use crate::program::link::{Objects, link};

/// A function of a [`Program`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
pub struct FunctionId(pub u32);

impl FunctionId {
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// A set of [`Program::sets`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
pub struct SetId(pub u32);

/// The programs, shared objects and modules that a function is linked into.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub enum ImageSet {
    /// Whatever it may be: a program that the tree does not hold.
    Any,
    /// These of [`Program::images`], ascending.
    Of(Vec<u32>),
}

/// A call whose meaning nothing tells: of several definitions that are as near, one was taken.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Ambiguity {
    pub name: String,
    /// The source file of a unit that calls it.
    pub caller: String,
    /// `file:line` of the definition that was taken, and of the others.
    pub taken: String,
    pub others: Vec<String>,
}

impl std::fmt::Display for Ambiguity {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Ambiguity {
            name,
            caller,
            taken,
            others,
        } = self;
        let others = others.join(", ");
        write!(
            f,
            "nothing tells which `{name}` is linked with {caller}; {taken} was taken, {others} lies as near"
        )
    }
}

/// A function that a call site names.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct CalleeRef {
    pub name: SymbolName,
    /// Its definition, if the program has one.
    pub function: Option<FunctionId>,
    /// See [`Mention`].
    pub called: bool,
    pub taken: bool,
    /// Named by no call, but stored in a member or variable that a call goes through.
    pub method: bool,
}

/// One definition of a function, as one or more units lower it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Function {
    pub name: SymbolName,
    /// File and 1-based line of the definition.
    pub file: String,
    pub line: u32,
    /// Defined in one of the tree's own files.
    pub own: bool,
    /// See [`FunctionDef::announced`].
    pub announced: bool,
    pub body: Result<BodyKey, LossReason>,
    /// See [`FunctionDef::small`].
    pub small: bool,
    /// See [`FunctionDef::returns_record`].
    pub returns_record: bool,
    /// See [`FunctionDef::results`].
    pub results: Vec<u128>,
    /// The objects that it names of [`Program::constants`], sorted.
    pub constants: Vec<SymbolName>,
    /// Functions called directly or mentioned otherwise, sorted by name, each once.
    pub callees: Vec<CalleeRef>,
    /// The functions that calls through members of records and through variables may mean; they are among the callees.
    pub methods: BTreeMap<FunctionHolder, Methods>,
    /// All its callers by name are in the tree: it is static, or linked into recorded programs alone.
    pub closed: bool,
    /// The tree stores it in an object or a member of a record, for whoever calls through that.
    pub stored: bool,
    /// The same number for all variants of one definition.
    pub definition: u32,
    /// Which of the variants, if there are several.
    pub variant: Option<u32>,
    /// The programs that this is linked into.
    pub images: SetId,
}

impl Function {
    pub fn callee(&self, name: &SymbolName) -> Option<&CalleeRef> {
        self.callees
            .binary_search_by(|callee| callee.name.cmp(name))
            .ok()
            .map(|index| &self.callees[index])
    }

    /// Whether the function's text was read, though it may not have been understood.
    pub fn parsed(&self) -> bool {
        match &self.body {
            Ok(_) => true,
            Err(reason) => reason.stage == Stage::Lower,
        }
    }
}

/// What is told of a translation unit.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Unit {
    pub source: String,
    pub declarations: u64,
    pub function_definitions: u64,
    pub bytes: u64,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Program {
    pub functions: Vec<Function>,
    pub units: Vec<Unit>,
    /// Units that could not be read at all.
    pub failed: Vec<Loss>,
    /// Declarations lost, sorted by place, each once however many units it was lost in.
    pub losses: Vec<Loss>,
    /// The enumeration constants that files outside the tree define, in the initialisers of its static objects; sorted.
    pub enumerated: Vec<Enumerated>,
    /// What the objects hold that nothing in the tree changes, as far as functions name them.
    pub constants: BTreeMap<SymbolName, Image>,
    /// The names of the programs, shared objects and modules that the tree is linked into, as far as that is known.
    pub images: Vec<String>,
    pub sets: Vec<ImageSet>,
    /// Calls whose meaning is a guess, one for each name.
    pub ambiguous: Vec<Ambiguity>,
    /// Definitions with more variants than are analysed.
    pub shared_variants: u64,
    /// Programs that were not put together, because the others are too many.
    pub images_left_out: u64,
}

impl Program {
    /// Links units of which no more is known.
    pub fn link(units: Vec<UnitIndex>, failed: Vec<Loss>) -> Program {
        link(Objects {
            units,
            failed,
            ..Objects::default()
        })
    }

    /// For each function the functions that it calls or mentions.
    pub fn edges(&self) -> Vec<Vec<u32>> {
        let callees = self.functions.iter().map(|function| &function.callees);
        callees
            .map(|callees| callees.iter().filter_map(|c| Some(c.function?.0)).collect())
            .collect()
    }

    pub fn function(&self, id: FunctionId) -> &Function {
        &self.functions[id.index()]
    }

    /// The images that a function is linked into, if those are all.
    fn images_of(&self, id: FunctionId) -> Option<&[u32]> {
        match self.sets.get(self.function(id).images.0 as usize)? {
            ImageSet::Any => None,
            ImageSet::Of(images) => Some(images),
        }
    }

    /// Whether there may be a program that holds both functions.
    pub fn are_together(&self, one: FunctionId, other: FunctionId) -> bool {
        self.function(one).images == self.function(other).images
            || self.are_in_one_program(&[one, other])
    }

    /// Whether there may be a program that holds all functions.
    pub fn are_in_one_program(&self, functions: &[FunctionId]) -> bool {
        let mut known = functions.iter().filter_map(|id| self.images_of(*id));
        let Some(first) = known.next() else {
            return true;
        };
        let others: Vec<&[u32]> = known.collect();
        let holds_all = |image: &u32| others.iter().all(|set| set.binary_search(image).is_ok());
        others.is_empty() || first.iter().any(holds_all)
    }

    /// Whether a function is another one that some program holds beside the first: no variant of it.
    pub fn is_another(&self, other: FunctionId, one: FunctionId) -> bool {
        self.function(other).definition != self.function(one).definition
            && self.are_together(one, other)
    }

    /// The names of the programs that a function is linked into, if it has other variants; none, if it may be linked into any.
    pub fn programs_of(&self, id: FunctionId) -> Vec<String> {
        self.names(
            [id].into_iter()
                .filter(|id| self.function(*id).variant.is_some()),
        )
    }

    /// The same for what some variants of a function have in common; none, if those are all.
    pub fn programs_of_variants(
        &self,
        one: FunctionId,
        variants: &FxHashSet<FunctionId>,
    ) -> Vec<String> {
        let definition = self.function(one).definition;
        // The variants of a definition stand one after the other.
        let is_variant = |id: &FunctionId| {
            let function = self.functions.get(id.index());
            function.is_some_and(|function| function.definition == definition)
        };
        let before = (0..one.0).rev().map(FunctionId).take_while(is_variant);
        let after = (one.0..).map(FunctionId).take_while(is_variant);
        match before.chain(after).all(|id| variants.contains(&id)) {
            true => Vec::new(),
            false => self.names(variants.iter().copied()),
        }
    }

    /// The names of the programs that functions are linked into; none, if one may be linked into any.
    fn names(&self, functions: impl Iterator<Item = FunctionId>) -> Vec<String> {
        let mut images: BTreeSet<u32> = BTreeSet::new();
        for id in functions {
            match self.images_of(id) {
                Some(some) => images.extend(some),
                None => return Vec::new(),
            }
        }
        let names = images.iter();
        let names = names.filter_map(|image| self.images.get(*image as usize));
        names.cloned().collect()
    }

    pub fn ids(&self) -> impl Iterator<Item = FunctionId> + use<> {
        (0..self.functions.len() as u32).map(FunctionId)
    }
}
