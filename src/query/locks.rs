//! What functions do with locks, need of them, and in which order they take them.
//!
//! In: the results of the last check. Out: one row for each thing that a function does with a lock of its callers, or each lock that it takes while it
//! holds another.

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
            if pattern.matches(&role.class) || pattern.matches(&role.object) {
                add(role, None);
            }
        }
        for nested in &result.facts.lock_order.nested {
            let Inner::Taken { class: inner, .. } = &nested.inner else {
                continue;
            };
            let (outer, inner) = (nested.outer.to_string(), inner.to_string());
            if pattern.matches(&outer) || pattern.matches(&inner) {
                let role = Role {
                    act: Act::Uses,
                    object: nested.inner_name.clone(),
                    class: inner,
                    machine: String::new(),
                };
                add(role, Some(outer));
            }
        }
    })?;
    Ok(found)
}
