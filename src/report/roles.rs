//! What functions do with locks, as rows of a table.
//!
//! In: a function's summary and the machines that it speaks of. Out: for each object one [`Role`] for each thing that the function does to it for
//! its callers, or needs of it.

use super::summary::{NO_CONSTANTS, Words};
use crate::property::{Machine, Property, Target};
use crate::summary::{Row, Summary};
use crate::symbolic::naming::is_before;

/// What a function does with an object, or needs of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Act {
    /// Returns with it held, always.
    Locks,
    /// Returns with it held, on some paths or for some callers.
    MayLock,
    /// Gives it back, always.
    Unlocks,
    MayUnlock,
    /// Takes it and gives it back.
    Uses,
    /// Must be called with it held, or not held.
    NeedsHeld,
    NeedsFree,
}

impl Act {
    pub const ALL: [Act; 7] = [
        Act::Locks,
        Act::MayLock,
        Act::Unlocks,
        Act::MayUnlock,
        Act::Uses,
        Act::NeedsHeld,
        Act::NeedsFree,
    ];

    /// The act of this name.
    pub fn parse(name: &str) -> Option<Act> {
        Act::ALL.into_iter().find(|act| act.name() == name)
    }

    pub fn name(self) -> &'static str {
        match self {
            Act::Locks => "locks",
            Act::MayLock => "may lock",
            Act::Unlocks => "unlocks",
            Act::MayUnlock => "may unlock",
            Act::Uses => "uses",
            Act::NeedsHeld => "needs held",
            Act::NeedsFree => "needs free",
        }
    }

    /// Whether callers can use the function in place of the operation.
    pub fn wraps(self) -> bool {
        matches!(self, Act::Locks | Act::Unlocks)
    }

    pub fn needs(self) -> bool {
        matches!(self, Act::NeedsHeld | Act::NeedsFree)
    }
}

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Role {
    pub act: Act,
    /// As the function's own source would write it.
    pub object: String,
    /// What it has in common with other instances: `struct inode.i_rwsem`; empty if the function does not tell.
    pub class: String,
    /// The kind of lock.
    pub machine: String,
}

/// What a function does with the objects of its callers, and needs of them.
pub fn roles(summary: &Summary, property: &Property) -> Vec<Role> {
    let mut found = Vec::new();
    let words = Words {
        summary,
        property,
        constants: &NO_CONSTANTS,
    };
    for (index, object) in summary.objects.iter().enumerate() {
        let Some(machine) = property.machine(&object.machine) else {
            continue;
        };
        // What is saved beside locks (interrupts) is no object of its own.
        if machine.saved.is_some() {
            continue;
        }
        let rows = summary
            .rows
            .iter()
            .filter(|row| row.object as usize == index);
        let rows: Vec<&Row> = rows.collect();
        let class = object.class.as_ref().map(ToString::to_string);
        let mut add = |act| {
            found.push(Role {
                act,
                object: match is_before(&object.name) {
                    true => words.object(&object.object),
                    false => object.name.clone(),
                },
                class: class.clone().unwrap_or_default(),
                machine: object.machine.clone(),
            });
        };
        acts(&rows, machine).into_iter().for_each(&mut add);
    }
    for assertion in &summary.assertions {
        let class = assertion.class.as_ref().map(ToString::to_string);
        found.push(Role {
            act: Act::NeedsHeld,
            object: assertion.name.clone(),
            class: class.unwrap_or_default(),
            machine: String::new(),
        });
    }
    found.sort();
    found.dedup();
    found
}

/// What the rows of one object say.
fn acts(rows: &[&Row], machine: &Machine) -> Vec<Act> {
    let initial = machine.initial;
    let free = |row: &&&Row| row.from == initial;
    let fails = |row: &&Row| matches!(row.to, Target::Error(_));
    let ends_free = |row: &&Row| row.to == Target::State(initial);
    let mut acts = Vec::new();
    let mut side = |from_free: bool, always: Act, sometimes: Act, needs: Act| {
        let from: Vec<&Row> = rows
            .iter()
            .filter(|row| free(row) == from_free)
            .copied()
            .collect();
        let returning: Vec<&Row> = from.iter().filter(|row| !fails(row)).copied().collect();
        let moved = |row: &&&Row| ends_free(row) != from_free;
        match returning.iter().filter(moved).count() {
            0 if returning.is_empty() && !from.is_empty() => acts.push(needs),
            0 => {}
            count if count == returning.len() => acts.push(always),
            _ => acts.push(sometimes),
        }
    };
    side(true, Act::Locks, Act::MayLock, Act::NeedsHeld);
    side(false, Act::Unlocks, Act::MayUnlock, Act::NeedsFree);
    if acts.iter().all(|act| act.needs()) && rows.iter().any(|row| free(&row) && ends_free(row)) {
        acts.push(Act::Uses);
    }
    acts
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ir::SymbolName;
    use crate::summary::seeds::Seeds;

    #[test]
    fn primitives_have_the_roles_that_their_names_say() {
        let (property, _) = Property::load(&[]);
        let (seeds, _) = Seeds::load(&property, &[]);
        let acts = |name: &str| {
            let name = SymbolName {
                name: name.to_owned(),
                file: None,
            };
            let summary = seeds.summary(&name, None).unwrap();
            let roles = roles(&summary, &property);
            roles.into_iter().map(|role| role.act).collect::<Vec<Act>>()
        };
        assert_eq!(acts("mutex_lock"), [Act::Locks, Act::NeedsFree]);
        assert_eq!(acts("mutex_unlock"), [Act::Unlocks, Act::NeedsHeld]);
        assert_eq!(acts("mutex_trylock")[0], Act::MayLock);
        assert_eq!(acts("_printk"), []);
    }
}
