//! What each name means in one translation unit.
//!
//! In: the unit's split declarations. Out: for a typedef name, a tag or an ordinary identifier, the
//! external declaration that gives it its meaning, parsed on demand and shared between units.

use std::sync::Arc;

use super::LossReason;
use super::parse::Declaration;

/// Which kind of tag a name is looked up as.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum TagKind {
    Struct,
    Union,
    Enum,
}

/// An external declaration of the unit at hand.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct DeclId(pub u32);

/// File-scope name look-up in one unit. Look-up is flat: C allows one file-scope meaning for each name
/// and name space in a unit, so order does not matter to lowering.
pub trait Scope {
    /// The declaration that declares this typedef name.
    fn typedef(&self, name: &str) -> Option<DeclId>;
    /// The declaration that defines (gives the members or enumerators of) this tag.
    fn tag(&self, kind: TagKind, name: &str) -> Option<DeclId>;
    /// The declaration of a function, object or enumerator: the definition if the unit has it, else
    /// the most complete declaration.
    fn ordinary(&self, name: &str) -> Option<DeclId>;
    /// The parsed declaration.
    fn declaration(&self, id: DeclId) -> Result<Arc<Declaration>, LossReason>;
}
