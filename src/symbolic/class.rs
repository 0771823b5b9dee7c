//! Lock classes: what all instances of one lock have in common, `struct inode.i_rwsem` (as in Linux's lockdep).
//!
//! In: the address of a lock or another object of a machine, and what the executor's expressions say of it ([`Names`]). Out: its [`Class`]:
//! the symbol of a global, the record and the member for anything else, or the member that points
//! to it. An object that only a variable leads to has none.

use serde::{Deserialize, Serialize};

use super::naming::{Link, Namer, Names, Part};
use super::origin::Origin;
use super::region::{Loc, RegionKind, SymbolicOffset};
use super::term::{Node, Term};
use crate::ir::SymbolName;

const MAX_DEPTH: u32 = 8;

/// A lock class.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Class {
    /// `struct inode.i_rwsem`, `fs/inode.c::inode_hash_lock`; with a star for a pointer that leads from
    /// there to the object. The elements of an array are of one class.
    name: String,
    /// Where the object lies in the record or the global: records of one tag in different files are
    /// seldom alike.
    offset: i64,
    /// There is one such object only: it is a global or lies in one.
    single: bool,
}

impl std::fmt::Display for Class {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.name)
    }
}

impl Class {
    /// All objects of a machine of which nothing else is known.
    pub fn any_of(machine: &str) -> Class {
        Class {
            name: format!("any {machine}"),
            offset: 0,
            single: false,
        }
    }

    /// The class of a member of a global, or of the global itself, that lies at this offset.
    pub fn of_global(global: &SymbolName, offset: i64, member: Option<&str>) -> Class {
        let name = match (offset, member) {
            (0, None) => global.to_string(),
            (_, Some(member)) => format!("{global}.{member}"),
            (offset, None) => format!("{global}.+{offset}"),
        };
        Class {
            name,
            offset,
            single: true,
        }
    }

    /// The class of a member of any record of this name; none if it has no name.
    pub fn of_member(record: &str, member: &str, offset: i64) -> Option<Class> {
        (!record.is_empty()).then(|| Class {
            name: format!("{record}.{member}"),
            offset,
            single: false,
        })
    }

    /// The class of what an object of this class points to.
    #[must_use]
    pub fn pointed_to(self) -> Class {
        Class {
            name: format!("*{}", self.name),
            single: false,
            ..self
        }
    }

    /// The class of a member of the record that objects of this class point to.
    #[must_use]
    pub fn pointing_to_record_of(&self, member: &Class) -> Class {
        Class {
            name: format!("{}->{}", self.name, member.name),
            offset: member.offset,
            single: false,
        }
    }

    /// Whether objects of the two classes are members of one kind of record.
    pub fn is_beside(&self, other: &Class) -> bool {
        let record = |class: &Class| {
            class
                .name
                .rsplit_once('.')
                .map(|(record, _)| record.to_owned())
        };
        !self.single && !other.single && record(self) == record(other)
    }

    /// Whether the objects are known as members or globals, and not only by a pointer to them.
    pub fn is_members(&self) -> bool {
        !self.name.starts_with('*')
    }

    /// Whether there is only one such object.
    pub fn is_single(&self) -> bool {
        self.single
    }

    /// The member's own name.
    fn last(&self) -> &str {
        self.name.rsplit('.').next().unwrap_or(&self.name)
    }
}

impl Part {
    /// The class of this member of any such record.
    fn class(&self) -> Option<Class> {
        Class::of_member(&self.record, &self.name, self.offset as i64)
    }
}

impl Names {
    /// The class of what lies at an address that is a choice, by the member that the source names there.
    pub fn class_of_choice(
        &self,
        address: Term,
        is_object: &dyn Fn(&str) -> bool,
    ) -> Option<Class> {
        self.innermost(address, is_object).and_then(Part::class)
    }
}

impl Namer<'_> {
    /// The class of the object at an address. `is_object` tells the records that are such objects
    /// themselves (`struct mutex`), whose members are not what is looked for.
    pub fn class(&mut self, address: Term, is_object: &dyn Fn(&str) -> bool) -> Option<Class> {
        self.class_at(address, is_object, 0)
    }

    /// The class of the member of a record that the object at an address is, even if it is a global or
    /// lies in one: `struct neigh_table.lock` for `arp_tbl.lock`.
    pub fn member_class(&self, address: Term, is_object: &dyn Fn(&str) -> bool) -> Option<Class> {
        let known = self.names.class_of(address).filter(|known| !known.single);
        let part = || self.names.innermost(address, is_object)?.class();
        known.cloned().or_else(part)
    }

    fn class_at(
        &mut self,
        address: Term,
        is_object: &dyn Fn(&str) -> bool,
        depth: u32,
    ) -> Option<Class> {
        if depth > MAX_DEPTH {
            return None;
        }
        let loc = self.regions.locate(self.terms, address)?;
        let names: &Names = self.names;
        let part = names.innermost(address, is_object);
        let known = names.class_of(address);
        match self.regions.kind(loc.region) {
            RegionKind::Symbol(symbol) if loc.symbolic == SymbolicOffset::NONE => {
                if let Some(known) = known.filter(|known| known.single) {
                    return Some(known.clone());
                }
                let member = part.map(|part| &*part.name);
                let member = member.or_else(|| known.map(Class::last));
                return Some(Class::of_global(symbol, loc.offset, member));
            }
            RegionKind::Local { .. } | RegionKind::String(_) => return None,
            _ => {}
        }
        // A callee gets a pointer to the record that the object is in, or to one further out.
        if let Some(known) = known {
            return Some(known.clone());
        }
        if let Some(class) = part.and_then(Part::class) {
            return Some(class);
        }
        match names.link(address) {
            Some(Link::Element { base, .. }) => {
                let array = base.address;
                return self.class_at(array, is_object, depth + 1);
            }
            // A member of a record without a name.
            Some(Link::Member { base, name }) => {
                let name = name.clone();
                let base = base.address;
                let outer = self.class_at(base, is_object, depth + 1)?;
                return Some(Class {
                    name: format!("{}.{name}", outer.name),
                    ..outer
                });
            }
            None => {}
        }
        self.pointed_to(address, is_object, depth)
    }

    /// The class of what a member or a global points to.
    fn pointed_to(
        &mut self,
        address: Term,
        is_object: &dyn Fn(&str) -> bool,
        depth: u32,
    ) -> Option<Class> {
        let Node::Var(var) = *self.terms.node(address) else {
            return None;
        };
        let Origin::Initial { loc, .. } = *self.origins.of(var) else {
            return None;
        };
        let pointer = self.address(loc);
        if pointer == address {
            return None;
        }
        let class = self.class_at(pointer, is_object, depth + 1)?;
        Some(class.pointed_to())
    }

    fn address(&mut self, loc: Loc) -> Term {
        self.regions.address(self.terms, loc)
    }
}
