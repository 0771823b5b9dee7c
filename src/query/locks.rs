//! What functions do with locks, need of them, and in which order they take them.
//!
//! In: the database's tables of the last check. Out: one row for each thing that a function does with a lock of its callers, or each lock that it
//! takes while it holds another.

use std::collections::BTreeMap;

use crate::report::roles::{Act, Role};
use crate::store::StoreError;
use crate::store::query::locks::{ActOf, ClassCount, Lock, OrderOf};
use crate::store::query::{Definition, Reader};

/// Functions that use a lock and leave it as it was, in a short answer: of a kernel's `struct inode.i_lock` there are 49,000.
const USES: usize = 200;

/// What one function does with a lock.
#[derive(Clone, Debug)]
pub struct Doing {
    pub role: Role,
    /// The class of the lock that the function holds meanwhile, where this is about the order of the two.
    pub outer: Option<String>,
    pub function: Definition,
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

/// A row of acts; `None` if no version of this program has written it.
fn act(row: ActOf) -> Option<Doing> {
    Some(Doing {
        role: Role {
            act: Act::parse(&row.act)?,
            object: row.object,
            class: row.class,
            machine: row.kind,
        },
        outer: None,
        function: row.function,
    })
}

fn taken(row: OrderOf) -> Doing {
    Doing {
        role: Role {
            act: Act::Uses,
            object: row.inner_name,
            class: row.inner,
            machine: String::new(),
        },
        outer: Some(row.outer),
        function: row.function,
    }
}

/// The functions that do one of these things with a lock, by function.
pub fn doing(reader: &Reader, wanted: fn(Act) -> bool) -> Result<Vec<Doing>, StoreError> {
    let acts = Act::ALL.into_iter().filter(|act| wanted(*act));
    let names: Vec<&str> = acts.map(Act::name).collect();
    let found = reader.acting(&names)?.into_iter();
    Ok(found.filter_map(act).collect())
}

/// Who takes, releases, needs and orders the locks of this name: the class's, or as the source writes it; whole, a part, or a glob.
pub fn of_lock(reader: &Reader, name: &str) -> Result<Vec<Doing>, StoreError> {
    of(reader, Lock::Like(name))
}

/// Leaves out those that use such a lock and leave it as it was, but for the first few; and says how many.
pub fn shorten(found: &mut Vec<Doing>) -> usize {
    let before = found.len();
    let mut uses = 0;
    found.retain(|doing| {
        let use_alone = doing.outer.is_none() && doing.role.act == Act::Uses;
        uses += usize::from(use_alone);
        !use_alone || uses <= USES
    });
    before - found.len()
}

/// The same of all locks of a class.
pub fn of_class(reader: &Reader, class: &str) -> Result<Vec<Doing>, StoreError> {
    of(reader, Lock::Class(class))
}

fn of(reader: &Reader, lock: Lock<'_>) -> Result<Vec<Doing>, StoreError> {
    let acts = reader.acts_on(lock)?.into_iter();
    let mut found: Vec<Doing> = acts.filter_map(act).collect();
    found.extend(reader.orders(lock)?.into_iter().map(taken));
    // What a function does comes before the orders in which it takes two.
    found.sort_by(|a, b| a.function.order().cmp(&b.function.order()));
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

/// All classes, by name.
pub fn classes(reader: &Reader) -> Result<Vec<ClassRow>, StoreError> {
    let mut counts: BTreeMap<String, (usize, usize)> = BTreeMap::new();
    for ClassCount { class, functions } in reader.lock_classes()? {
        counts.insert(class, (functions, 0));
    }
    for (outer, inner) in reader.ordered_classes()? {
        counts.entry(outer).or_default().1 += 1;
        counts.entry(inner).or_default().1 += 1;
    }
    let row = |(name, (functions, orders))| ClassRow {
        name,
        functions,
        orders,
    };
    Ok(counts.into_iter().map(row).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn doing(id: u32, act: Act, outer: Option<&str>) -> Doing {
        let [object, class, machine] = ["*l", "struct box.lock", "mutex"].map(String::from);
        Doing {
            role: Role {
                act,
                object,
                class,
                machine,
            },
            outer: outer.map(String::from),
            function: Definition {
                id,
                name: format!("f{id}"),
                file: "box.c".into(),
                line: id,
            },
        }
    }

    #[test]
    fn only_what_uses_a_lock_is_left_out() {
        let mut found: Vec<Doing> = (0..USES as u32 + 7)
            .map(|id| doing(id, Act::Uses, None))
            .collect();
        found.push(doing(1000, Act::Uses, Some("struct box.other")));
        found.push(doing(1001, Act::Locks, None));
        assert_eq!(shorten(&mut found), 7);
        assert_eq!(found.len(), USES + 2);
        assert_eq!(shorten(&mut found), 0);
    }
}
