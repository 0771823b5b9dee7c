//! What a function does besides moving objects from state to state.
//!
//! In: a summary. Out: a line for each effect: what it returns, sets, may set, keeps and frees, where it sleeps, what it needs.

use std::collections::{BTreeMap, BTreeSet};

use super::words::{Words, is_pointer};
use super::{Conditions, Extent};
use crate::property::{Role, Target};
use crate::summary::{Cube, IExpr, IObj, Modified, Root, Summary, When};
use crate::symbolic::term::Op;

/// A longer value is told by the values that it is one of.
const MAX_VALUE: usize = 60;
/// Of these many at most.
const MAX_CHOICES: usize = 4;
/// Longer lists are cut.
const MAX_LINES: usize = 6;
/// Columns of the words that lines begin with.
const INDENT: usize = 9;

pub fn lines(
    words: &Words<'_>,
    conditions: &Conditions<'_>,
    extent: Extent,
    lines: &mut Vec<String>,
) {
    let summary = words.summary;
    if let Some(result) = &summary.result {
        let result = told(words, (result, false), &|_| false, extent);
        lines.extend(result.map(|result| line("returns", &result)));
    }
    if summary.noreturn {
        lines.push("does not return".to_owned());
    }
    for (verb, items) in modified(words, extent) {
        list(verb, items, extent, lines);
    }
    list("frees", freed(words), extent, lines);
    let sleeps: Vec<&Cube> = summary.sleeps.iter().map(|sleep| &sleep.incond).collect();
    if !sleeps.is_empty() {
        let sleeps = conditions.inputs(words, &sleeps);
        lines.extend(sleeps.iter().map(|when| line("may sleep", when)));
    }
    list("needs", needed(words, conditions), extent, lines);
    list("makes", initialised(words), extent, lines);
    let unnamed = summary.unnamed.iter();
    let unnamed = unnamed.map(|one| {
        format!(
            "{} ({}), which callers have no name for",
            one.class, one.machine
        )
    });
    list("moves", unnamed.collect(), extent, lines);
    if summary.opaque {
        lines.push("may change all that it gets pointers to: too little of it is known".to_owned());
    }
}

fn line(verb: &str, what: &str) -> String {
    format!("{verb:<INDENT$} {what}").trim_end().to_owned()
}

/// The lines of one kind, the verb before the first.
fn list(verb: &str, items: Vec<String>, extent: Extent, lines: &mut Vec<String>) {
    let most = match extent {
        // What would be cut is more than the line that says so.
        Extent::Short if items.len() > MAX_LINES + 1 => MAX_LINES,
        _ => items.len(),
    };
    let verbs = std::iter::once(verb).chain(std::iter::repeat(""));
    let shown = verbs.zip(&items[..most]);
    lines.extend(shown.map(|(verb, item)| line(verb, item)));
    if most < items.len() {
        let rest = items.len() - most;
        lines.push(line("", &format!("… and {rest} more (--full)")));
    }
}

/// M by what happens to each place.
fn modified(words: &Words<'_>, extent: Extent) -> [(&'static str, Vec<String>); 3] {
    let (mut sets, mut may_set, mut keeps) = (Vec::new(), Vec::new(), Vec::new());
    let places = words.summary.modified.iter();
    for Modified {
        object,
        value,
        pointer,
        ..
    } in places.filter(|place| !is_result(place))
    {
        let place = words.object(object);
        let Some(value) = value else {
            may_set.push(place);
            continue;
        };
        let mut leaves = Vec::new();
        choices(value, &mut leaves);
        let kept = leaves.iter().copied().filter(|leaf| is_argument(leaf));
        keeps.extend(kept.map(|kept| format!("{} in {place}", words.value(kept, When::Entry))));
        let unchanged = |leaf: &IExpr| is_unchanged(leaf, object);
        let list = match leaves.iter().any(|leaf| unchanged(leaf)) {
            true => &mut may_set,
            false => &mut sets,
        };
        list.push(match told(words, (value, pointer.0), &unchanged, extent) {
            Some(text) => format!("{place} = {text}"),
            None => place,
        });
    }
    let lists = [("sets", sets), ("may set", may_set), ("keeps", keeps)];
    lists.map(|(verb, mut items)| {
        let mut seen = BTreeSet::new();
        items.retain(|item| seen.insert(item.clone()));
        (verb, items)
    })
}

/// A value in words. In short a long one is the values that it is one of, those that `left_out` says aside; `None` if
/// nothing can be said of it.
fn told(
    words: &Words<'_>,
    (value, pointer): (&IExpr, bool),
    left_out: &dyn Fn(&IExpr) -> bool,
    extent: Extent,
) -> Option<String> {
    let short = |text: &String| text.chars().count() <= MAX_VALUE && !text.contains('…');
    let whole = match value {
        IExpr::Const { value: 0, .. } if pointer => "NULL".to_owned(),
        value => words.value(value, When::Entry),
    };
    let mut leaves = Vec::new();
    choices(value, &mut leaves);
    // Null is a number beside what is not known to be a pointer.
    let is_null = |leaf: &&IExpr| matches!(leaf, IExpr::Const { value: 0, .. });
    let null = pointer && leaves.len() > 1 && leaves.iter().any(is_null);
    if extent == Extent::Full || short(&whole) && !null {
        return Some(whole);
    }
    let pointer = pointer || is_pointer(value);
    leaves.retain(|leaf| !left_out(leaf));
    let texts = leaves.iter().map(|leaf| match leaf {
        IExpr::Const { value: 0, .. } if pointer => "NULL".to_owned(),
        leaf => words.value(leaf, When::Entry),
    });
    let (mut known, unknown): (Vec<String>, Vec<String>) = texts.partition(short);
    let mut seen = BTreeSet::new();
    known.retain(|text| seen.insert(text.clone()));
    let others = !unknown.is_empty() || known.len() > MAX_CHOICES;
    known.truncate(MAX_CHOICES);
    if others && !known.is_empty() {
        known.push("another value".to_owned());
    }
    let last = known.pop()?;
    Some(match known.is_empty() {
        true => last,
        false => format!("{} or {last}", known.join(", ")),
    })
}

/// Whether a value is what was there before, or a part of that.
fn is_unchanged(value: &IExpr, object: &IObj) -> bool {
    match value {
        IExpr::Value {
            object: old,
            when: When::Entry,
            ..
        } => old == object,
        IExpr::Op {
            op: Op::Extract { lo: 0 } | Op::Zext | Op::Sext,
            args,
            ..
        } => args.iter().all(|part| is_unchanged(part, object)),
        _ => false,
    }
}

/// What a seed says of its result as of something that is changed.
fn is_result(modified: &Modified) -> bool {
    modified.object.root == Root::Return && modified.object.path.is_empty()
}

/// The values that a value is one of.
fn choices<'e>(value: &'e IExpr, leaves: &mut Vec<&'e IExpr>) {
    match value {
        IExpr::Op {
            op: Op::Ite, args, ..
        } => args[1..].iter().for_each(|arm| choices(arm, leaves)),
        leaf => leaves.push(leaf),
    }
}

/// Whether a value is a pointer that the function was given.
fn is_argument(value: &IExpr) -> bool {
    matches!(value, IExpr::Value { object, pointer, when: When::Entry, .. }
        if pointer.0 && object.path.is_empty() && matches!(object.root, Root::Param(_)))
}

/// The objects that are over when the function returns.
fn freed(words: &Words<'_>) -> Vec<String> {
    let Summary { objects, rows, .. } = words.summary;
    let role = |object: usize, state| {
        let machine = words.property.machine(&objects[object].machine)?;
        let state: &crate::property::State = machine.states.get(usize::from(state))?;
        Some(state.role)
    };
    let ended = objects.iter().enumerate().filter(|&(index, _)| {
        rows.iter().any(|row| {
            let Target::State(to) = row.to else {
                return false;
            };
            row.object as usize == index
                && role(index, to.0) == Some(Role::Dead)
                && role(index, row.from.0) != Some(Role::Dead)
        })
    });
    ended.map(|(_, object)| object.name.clone()).collect()
}

/// What is stated to be held, each object once.
fn needed(words: &Words<'_>, conditions: &Conditions<'_>) -> Vec<String> {
    let mut needed: BTreeMap<&str, Vec<&Cube>> = BTreeMap::new();
    for assertion in &words.summary.assertions {
        needed
            .entry(&assertion.name)
            .or_default()
            .push(&assertion.incond);
    }
    let lines = needed.into_iter().flat_map(|(name, inconds)| {
        let when = conditions.inputs(words, &inconds).into_iter();
        when.map(move |when| format!("{name} to be held {when}").trim_end().to_owned())
    });
    lines.collect()
}

fn initialised(words: &Words<'_>) -> Vec<String> {
    let made = words
        .summary
        .initialises
        .iter()
        .map(|made| match &made.recursive {
            Some(IExpr::Const { value: 0, .. }) => {
                format!("{} an object that is not recursive", made.name)
            }
            Some(IExpr::Const { .. }) => format!("{} recursive", made.name),
            Some(when) => format!(
                "{} recursive if {}",
                made.name,
                words.condition(when, true, When::Entry)
            ),
            None => format!("{} recursive, perhaps", made.name),
        });
    made.collect()
}
