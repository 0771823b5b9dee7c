//! Statistics over the summaries of a program (paper §6.2).
//!
//! In: summaries, one after another. Out: how many functions operate on objects, and in which ways.

use super::{IExpr, Root, Row, Summary};
use crate::property::{Property, Target};

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Statistics {
    /// Functions that operate on an object, directly or through others.
    pub operating: u64,
    /// On more than one.
    pub on_several: u64,
    /// That return with an object held that was not on entry, whatever the conditions.
    pub lock_wrappers: u64,
    /// That give an object back that was held on entry, whatever the conditions.
    pub unlock_wrappers: u64,
    /// Whose result tells what has become of an object.
    pub told_by_result: u64,
    /// That fail in some state of an object on entry.
    pub need_state: u64,
}

impl Statistics {
    /// The counts, and in words what the functions do that each counts.
    pub fn lines(self) -> [(u64, &'static str); 6] {
        [
            (
                self.operating,
                "operate on locks, directly or through others",
            ),
            (self.on_several, "on more than one"),
            (
                self.lock_wrappers,
                "always return with one held: lock wrappers",
            ),
            (
                self.unlock_wrappers,
                "always give one back: unlock wrappers",
            ),
            (
                self.told_by_result,
                "tell by their result what has become of one",
            ),
            (self.need_state, "need one in a certain state on entry"),
        ]
    }

    /// Counts one function. What is saved beside locks (interrupts) is no object of its own.
    pub fn add(&mut self, summary: &Summary, property: &Property) {
        let mut objects = 0;
        let mut wraps = (false, false);
        let (mut told, mut needs) = (false, false);
        for (index, object) in summary.objects.iter().enumerate() {
            let Some(machine) = property.machine(&object.machine) else {
                continue;
            };
            let rows: Vec<&Row> = of_object(summary, index).collect();
            if machine.saved.is_some() || rows.is_empty() {
                continue;
            }
            objects += 1;
            let held = |to: &Target| matches!(to, Target::State(to) if *to != machine.initial);
            let free = Target::State(machine.initial);
            wraps.0 |= always(
                &rows,
                |row| row.from == machine.initial,
                |row| held(&row.to),
            );
            wraps.1 |= always(
                &rows,
                |row| row.from != machine.initial,
                |row| row.to == free,
            );
            told |= is_told_by_result(summary, &rows);
            needs |= rows.iter().any(|row| matches!(row.to, Target::Error(_)));
        }
        self.operating += u64::from(objects > 0);
        self.on_several += u64::from(objects > 1);
        self.lock_wrappers += u64::from(wraps.0);
        self.unlock_wrappers += u64::from(wraps.1);
        self.told_by_result += u64::from(told);
        self.need_state += u64::from(needs);
    }
}

fn of_object(summary: &Summary, index: usize) -> impl Iterator<Item = &Row> {
    let rows = summary.rows.iter();
    rows.filter(move |row| row.object as usize == index)
}

/// Whether an object always goes from these states to the state wanted, or the function does not return.
fn always(rows: &[&Row], from: impl Fn(&Row) -> bool, there: impl Fn(&Row) -> bool) -> bool {
    let returns = |row: &&&Row| matches!(row.to, Target::State(_)) && from(row);
    let mut returning = rows.iter().filter(returns).peekable();
    returning.peek().is_some() && returning.all(|row| there(row))
}

/// Whether two ways out with different states differ in a condition on the result.
fn is_told_by_result(summary: &Summary, rows: &[&Row]) -> bool {
    let differ = |one: &Row, other: &Row| {
        let mut conditions = one.outcond.iter().zip(&other.outcond).zip(&summary.outputs);
        conditions.any(|((one, other), output)| {
            matches!((one, other), (Some(one), Some(other)) if one != other)
                && is_about_result(output)
        })
    };
    let moves = |row: &Row| matches!(row.to, Target::State(_));
    rows.iter().enumerate().any(|(index, one)| {
        let mut others = rows[index + 1..].iter();
        others.any(|other| {
            let apart = one.from == other.from && one.to != other.to;
            apart && moves(one) && moves(other) && differ(one, other)
        })
    })
}

fn is_about_result(condition: &IExpr) -> bool {
    let mut found = false;
    condition.each(&mut |part| {
        found |= matches!(part, IExpr::Value { object, .. } if object.root == Root::Return && object.path.is_empty());
    });
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ir::SymbolName;
    use crate::summary::seeds::Seeds;

    /// Statistics over primitives alone.
    fn of(names: &[&str]) -> Statistics {
        let (property, errors) = Property::load(&[]);
        assert!(errors.is_empty());
        let (seeds, errors) = Seeds::load(&property, &[]);
        assert!(errors.is_empty());
        let mut statistics = Statistics::default();
        for name in names {
            let name = SymbolName {
                name: (*name).to_owned(),
                file: None,
            };
            let summary = seeds.summary(&name, None).expect("a known primitive");
            statistics.add(&summary, &property);
        }
        statistics
    }

    #[test]
    fn a_lock_operation_is_a_wrapper_of_itself() {
        let expected = Statistics {
            operating: 1,
            lock_wrappers: 1,
            need_state: 1,
            ..Statistics::default()
        };
        assert_eq!(of(&["mutex_lock"]), expected);
        // Interrupts go along with it, but are no second object.
        assert_eq!(of(&["spin_lock_irq"]), expected);
    }

    #[test]
    fn an_unlock_operation_needs_the_lock() {
        let expected = Statistics {
            operating: 1,
            unlock_wrappers: 1,
            need_state: 1,
            ..Statistics::default()
        };
        assert_eq!(of(&["mutex_unlock"]), expected);
    }

    #[test]
    fn a_trylock_tells_by_its_result() {
        let expected = Statistics {
            operating: 1,
            told_by_result: 1,
            need_state: 1,
            ..Statistics::default()
        };
        assert_eq!(of(&["mutex_trylock"]), expected);
    }

    #[test]
    fn what_touches_no_object_does_not_count() {
        assert_eq!(of(&["_printk", "msleep"]), Statistics::default());
    }
}
