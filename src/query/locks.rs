//! What functions do with locks, need of them, and in which order they take them.
//!
//! In: the results of the last check. Out: one row for each thing that a function does with a lock of its callers, or each lock that it takes while it
//! holds another.

use std::collections::{BTreeMap, BTreeSet};

use super::names::Pattern;
use crate::judge::lock_order::Inner;
use crate::property::Property;
use crate::report::roles::{Act, Role, roles};
use crate::store::query::{FunctionRow, Reader};

/// What one function does with a lock.
#[derive(Clone, Debug)]
pub struct Doing {
    pub role: Role,
    /// The class of the lock that the function holds meanwhile, where this is about the order of the two.
    pub outer: Option<String>,
    pub function: FunctionRow,
}

impl Doing {
    /// In words.
    pub fn act(&self) -> String {
        match &self.outer {
            Some(outer) => format!("takes while holding {outer}"),
            None => self.role.act.name().to_owned(),
        }
    }
}

/// The functions that do one of these things with a lock, by function.
pub fn doing(
    reader: &Reader,
    property: &Property,
    wanted: fn(Act) -> bool,
) -> anyhow::Result<Vec<Doing>> {
    let mut found = Vec::new();
    reader.each_result(&mut |function, result| {
        let roles = roles(&result.summary, property).into_iter();
        found.extend(roles.filter(|role| wanted(role.act)).map(|role| Doing {
            role,
            outer: None,
            function: function.clone(),
        }));
    })?;
    Ok(found)
}

/// Who takes, releases, needs and orders the locks of this name: the class's, or as the source writes it; whole, a part, or a glob.
pub fn of_lock(reader: &Reader, property: &Property, name: &str) -> anyhow::Result<Vec<Doing>> {
    let pattern = Pattern::new(name)?;
    let is_wanted = |doing: &Doing| {
        let name_of = match &doing.outer {
            Some(outer) => outer,
            None => &doing.role.object,
        };
        pattern.matches(&doing.role.class) || pattern.matches(name_of)
    };
    let mut found = all(reader, property)?;
    found.retain(is_wanted);
    Ok(found)
}

/// All that functions do with locks of their callers, and the orders in which they take two, by function.
pub fn all(reader: &Reader, property: &Property) -> anyhow::Result<Vec<Doing>> {
    let mut found = Vec::new();
    reader.each_result(&mut |function, result| {
        let mut add = |role: Role, outer: Option<String>| {
            found.push(Doing {
                role,
                outer,
                function: function.clone(),
            });
        };
        for role in roles(&result.summary, property) {
            add(role, None);
        }
        for nested in &result.facts.lock_order.nested {
            let Inner::Taken { class: inner, .. } = &nested.inner else {
                continue;
            };
            let role = Role {
                act: Act::Uses,
                object: nested.inner_name.clone(),
                class: inner.to_string(),
                machine: String::new(),
            };
            add(role, Some(nested.outer.to_string()));
        }
    })?;
    Ok(found)
}

/// A lock class, and how many rows speak of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ClassRow {
    pub name: String,
    /// Functions that do something with such a lock of their callers.
    pub functions: usize,
    /// Orders that it is the first or the second of.
    pub orders: usize,
}

/// The classes that these rows speak of, by name.
pub fn classes(doings: &[Doing]) -> Vec<ClassRow> {
    let mut counts: BTreeMap<&str, (BTreeSet<u32>, usize)> = BTreeMap::new();
    for doing in doings {
        let own = counts.entry(&doing.role.class).or_default();
        match &doing.outer {
            None => _ = own.0.insert(doing.function.id),
            Some(outer) => {
                own.1 += 1;
                counts.entry(outer).or_default().1 += 1;
            }
        }
    }
    let named = counts.into_iter().filter(|(name, _)| !name.is_empty());
    let rows = named.map(|(name, (functions, orders))| ClassRow {
        name: name.to_owned(),
        functions: functions.len(),
        orders,
    });
    rows.collect()
}
