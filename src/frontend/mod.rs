//! The C front end: from preprocessed text to IR bodies; declarations, not files, are the unit.
//!
//! In: the preprocessed text of a translation unit. Out: a [`UnitIndex`], saying which functions the
//! unit defines or reaches and what was lost, and the bodies themselves in the body cache.
//!
//! Steps: [`lex`] → [`split`] → [`normalise`] → [`parse`] (one declaration at a time, into lang-c's
//! syntax tree) → [`scope`] (what each name means in this unit) → [`lower`].

pub mod annotate;
pub mod declare;
pub mod declared;
pub mod dialect;
pub mod files;
pub mod keywords;
pub mod layout;
pub mod lex;
pub mod lower;
pub mod model;
pub mod normalise;
pub mod outline;
pub mod parse;
pub mod parser;
pub mod scope;
pub mod share;
pub mod split;
pub mod types;
pub mod unit;
pub mod whole;

#[cfg(test)]
mod tests;
#[cfg(test)]
mod unit_tests;

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use self::outline::NameId;
use self::types::Type;
use crate::ir::{Enumerated, FunctionHolder, Image, Mention, Method, ObjectUse, SymbolName};

/// Content hash that names a lowered body in the cache.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct BodyKey(pub [u8; 16]);

/// A function definition of a unit that the analysis needs: one of the tree's own files, or one that
/// those reach.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FunctionDef {
    pub name: SymbolName,
    /// File and 1-based line of the definition.
    pub file: String,
    pub line: u32,
    /// Defined in one of the tree's own files.
    pub own: bool,
    /// A header declares it: other files may call it.
    pub announced: bool,
    /// Declared `weak`: any other definition that is linked with it goes before it.
    pub weak: bool,
    /// The lowered body, or why there is none.
    pub body: Result<BodyKey, LossReason>,
    /// Functions called directly or mentioned otherwise.
    pub callees: Vec<Mention>,
    /// It calls through a pointer.
    pub calls_indirectly: bool,
    /// The members of records and the variables that it calls functions through, and what it stores there.
    pub holders_called: Vec<FunctionHolder>,
    pub methods: Vec<Method>,
    /// The enumeration constants that files outside the tree define, in the initialisers of its static objects.
    pub enumerated: Vec<Enumerated>,
    /// Bytes of a pointer: functions whose pointers differ are no part of one program.
    pub pointer_size: u8,
    /// [`crate::ir::Body::is_small`] of the body: a caller may inline it.
    pub small: bool,
    /// It returns a record.
    pub returns_record: bool,
    /// [`crate::ir::constant_results`] of the body.
    pub results: Vec<u128>,
    /// [`crate::ir::Body::objects`] of the body.
    pub objects: Vec<ObjectUse>,
    /// Its static variables.
    pub statics: Vec<StaticObject>,
}

/// An object of static storage that keeps what its initialiser gives it, unless something in the program changes it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct StaticObject {
    pub name: SymbolName,
    /// `const`: nothing may change it.
    pub constant: bool,
    pub image: Image,
}

impl StaticObject {
    /// An object of a type with these contents; `None` if it is `volatile`, so that anything may change it.
    fn of(name: SymbolName, ty: &Type, image: Image) -> Option<StaticObject> {
        let quals = ty.element_quals();
        (!quals.volatile).then_some(StaticObject {
            name,
            constant: quals.constant,
            image,
        })
    }
}

/// Why a declaration or function was lost.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LossReason {
    /// The stage that gave up.
    pub stage: Stage,
    /// One line for a person, without the place.
    pub message: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Stage {
    Preprocess,
    Split,
    Parse,
    Lower,
}

/// A declaration that was lost.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Loss {
    pub file: String,
    pub line: u32,
    /// The declared name, if one could be made out.
    pub name: Option<String>,
    pub reason: LossReason,
}

/// All that later stages read of a translation unit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnitIndex {
    /// The main source file.
    pub source: String,
    /// Shared: a header's function is one definition in a thousand units.
    pub functions: Vec<Arc<FunctionDef>>,
    /// Bytes of a pointer.
    pub pointer_size: u8,
    /// The functions in the initialisers of the tree's own records, by member.
    pub methods: Vec<Method>,
    /// All functions in the initialisers of the tree's own objects.
    pub stored: Vec<SymbolName>,
    /// The enumeration constants that files outside the tree define, in the initialisers of the tree's own objects.
    pub enumerated: Vec<Enumerated>,
    /// Objects of external linkage that the unit defines, and those of other units that its main file names: what
    /// makes a linker take a unit that no call leads to.
    pub objects_defined: Vec<NameId>,
    pub objects_needed: Vec<NameId>,
    /// What the objects hold that it defines, as far as nothing in the unit changes them.
    pub objects: Vec<StaticObject>,
    /// Objects of external linkage whose address stands in an initialiser, or in what was lost.
    pub objects_taken: Vec<NameId>,
    /// Functions that it names and that files outside the tree declare, as the C library's headers.
    pub declared_outside: Vec<NameId>,
    /// External declarations seen, and how many of those were function definitions.
    pub declarations: u64,
    pub function_definitions: u64,
    /// Bytes of preprocessed text.
    pub bytes: u64,
    /// Declarations that did not parse or lower. A function definition among them is in `functions`
    /// too if it is one of the tree's own or reached.
    pub losses: Vec<Loss>,
}
