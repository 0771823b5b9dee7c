//! The lock primitives of seed data, for running functions beside each other.
//!
//! In: the summary of a primitive (`down_read`, `_raw_spin_lock`). Out: what it does to the lock that a parameter leads to. Readers and writers are not
//! told apart: readers that exclude each other have fewer interleavings, and none that others do not have.

use crate::concurrency::program::{Primitive, Takes};
use crate::property::{Event, Property, Target};
use crate::summary::{IExpr, IObj, Offset, Root, Row, Summary};

/// Results that primitives may have.
const RESULTS: [u128; 4] = [0, 1, u128::MAX, u128::MAX - 3];

/// What a primitive of a lock's does, if this is one.
pub(super) fn primitive(property: &Property, summary: &Summary) -> Option<Primitive> {
    let mut objects = (0..).zip(&summary.objects);
    objects.find_map(|(number, object)| {
        let mut machines = property.machines();
        let machine = machines.find(|machine| machine.name == object.machine)?;
        // Only what excludes other threads has an order.
        if machine.rules.iter().all(|rule| rule.event != Event::Order) {
            return None;
        }
        let parameter = pointed_to(&object.object)?;
        let free = machine.initial;
        let between = |row: &&Row, frees: bool| match row.to {
            Target::State(to) => {
                row.object == number && (row.from == free) != frees && (to == free) == frees
            }
            Target::Error(_) => false,
        };
        let rows = || summary.rows.iter();
        let takes = match rows().find(|row| between(row, false)) {
            Some(row) => taken_by(summary, row)?,
            None if rows().any(|row| between(&row, true)) => Takes::Releases,
            None => return None,
        };
        Some(Primitive { parameter, takes })
    })
}

/// The parameter that points to an object.
fn pointed_to(object: &IObj) -> Option<u32> {
    match (&object.root, object.path.as_slice()) {
        (Root::Param(number), [at]) if *at == Offset::bytes(0) => Some(*number),
        _ => None,
    }
}

/// Whether the lock is taken in any case, or with what result it is and is not.
fn taken_by(summary: &Summary, row: &Row) -> Option<Takes> {
    let mut conditions = row.outcond.iter().zip(&summary.outputs);
    let asked: Vec<(bool, &IExpr)> = conditions
        .by_ref()
        .filter_map(|(wanted, condition)| Some(((*wanted)?, condition)))
        .collect();
    if asked.is_empty() {
        return Some(Takes::Always);
    }
    let taken = |result: &u128| {
        let mut asked = asked.iter();
        asked.all(|(wanted, condition)| condition.with_result(*result) == Some(u128::from(*wanted)))
    };
    Some(Takes::With {
        success: *RESULTS.iter().find(|result| taken(result))?,
        failure: *RESULTS.iter().find(|result| !taken(result))?,
    })
}
