//! What a result says, in words, for the database's plain tables.
//!
//! In: a function's result and summary, and the machines that they speak of. Out: rows of text.

use crate::engine::analysis::StoredResult;
use crate::judge::lock_order::Inner;
use crate::property::Property;
use crate::report::roles::roles;
use crate::report::summary::constants::NO_CONSTANTS;
use crate::report::summary::transitions;
use crate::store::plain::{ActRow, HeldRow, OrderRow, Plain, TransitionRow};
use crate::summary::Summary;
use crate::summary::stats::Statistics;

/// The longest condition that is kept, in characters.
const LONGEST: usize = 300;

/// The rows of one result. What functions do with locks is told of the pass over locks alone.
pub(super) fn rows(
    result: &StoredResult,
    summary: &Summary,
    property: &Property,
    accesses: bool,
) -> Plain {
    let transitions = transitions(summary, (property, &NO_CONSTANTS))
        .into_iter()
        .map(|way| TransitionRow {
            object: way.object,
            class: way.class,
            kind: way.machine,
            before: way.before,
            after: way.after,
            condition: cut(way.condition),
            returns: way.returns,
            fails: way.fails,
        });
    let mut plain = Plain {
        transitions: transitions.collect(),
        ..Plain::default()
    };
    if accesses {
        return plain;
    }
    let roles = roles(summary, property).into_iter().map(|role| ActRow {
        act: role.act.name(),
        object: role.object,
        class: role.class,
        kind: role.machine,
    });
    plain.acts = roles.collect();
    for nested in &result.facts.lock_order.nested {
        if let Inner::Taken { class, .. } = &nested.inner {
            plain.orders.push(OrderRow {
                outer: nested.outer.to_string(),
                outer_name: nested.outer_name.clone(),
                inner: class.to_string(),
                inner_name: nested.inner_name.clone(),
                file: nested.site.0.clone(),
                line: nested.site.1,
            });
        }
    }
    for (callee, classes) in &result.facts.lock_order.under {
        plain.held.extend(classes.iter().map(|class| HeldRow {
            callee: callee.name.clone(),
            scope: callee.file.clone(),
            class: class.to_string(),
        }));
    }
    let mut counts = Statistics::default();
    counts.add(summary, property);
    plain.counts = (counts.operating > 0).then_some(counts);
    plain
}

fn cut(text: String) -> String {
    match text.char_indices().nth(LONGEST) {
        Some((at, _)) => format!("{}…", &text[..at]),
        None => text,
    }
}
