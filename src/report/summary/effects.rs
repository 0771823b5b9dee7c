//! What a function does besides moving objects from state to state.
//!
//! In: a summary. Out: a line for each effect: what it returns, sets, may set, keeps and frees, where it sleeps, what it needs.

use std::collections::{BTreeMap, BTreeSet};

use super::lifetimes::Lifetime;
use super::words::{Words, is_pointer};
use super::{Conditions, Extent, MAX_CONDITION};
use crate::ir::POINTER_BITS;
use crate::property::{Key, Role, Target};
use crate::summary::{Cube, IExpr, IObj, Modified, Root, Summary, When};
use crate::symbolic::naming::is_clear;
use crate::symbolic::term::Op;

/// A longer value is told by the values that it is one of.
const MAX_VALUE: usize = 60;
/// Of these many at most.
const MAX_CHOICES: usize = 4;
/// Longer lists are cut.
const MAX_LINES: usize = 6;
/// Columns of the words that lines begin with.
const INDENT: usize = 9;

/// Something that is said of a place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Item {
    pub text: String,
    /// The source has a name for the place.
    pub clear: bool,
}

/// A line for each effect, and what can be said of it.
pub struct Effects {
    extent: Extent,
    /// The result is known to be a pointer.
    pointer: bool,
    lists: Vec<(String, Vec<Item>)>,
    /// What is told in one line.
    flags: BTreeSet<&'static str>,
    /// Machines of objects that callers have no name for.
    unnamed: BTreeSet<String>,
}

const NO_RETURN: &str = "does not return";
const OPAQUE: &str = "may change all that it gets pointers to: too little of it is known";

impl Effects {
    pub fn new(summaries: &[&Summary], extent: Extent) -> Self {
        let mut summaries = summaries.iter();
        Effects {
            extent,
            pointer: summaries.any(|summary| returns_pointer(summary)),
            lists: Vec::new(),
            flags: BTreeSet::new(),
            unnamed: BTreeSet::new(),
        }
    }

    /// Adds what is said under a word, each thing once.
    fn list(&mut self, verb: &str, items: impl IntoIterator<Item = Item>) {
        let at = self.lists.iter().position(|(known, _)| known == verb);
        let at = at.unwrap_or_else(|| {
            self.lists.push((verb.to_owned(), Vec::new()));
            self.lists.len() - 1
        });
        for item in items {
            if !self.lists[at].1.contains(&item) {
                self.lists[at].1.push(item);
            }
        }
    }

    pub fn add_lifetimes(&mut self, ways: Vec<Lifetime>) {
        for Lifetime { state, item } in ways {
            self.list(&state, [item]);
        }
    }

    /// Adds an object that is as it was when the function returns.
    pub fn add_use(&mut self, name: String) {
        let clear = is_clear(&name);
        self.list("uses", [Item { text: name, clear }]);
    }

    /// Adds what a summary says besides its objects' ways from state to state.
    pub fn add(&mut self, words: &Words<'_>, conditions: &Conditions<'_>) {
        let (summary, extent) = (words.summary, self.extent);
        if let Some(result) = &summary.result
            && !self.lists.iter().any(|(verb, _)| verb == "returns")
            && let Some(text) = told(
                words,
                (&returned(), result, self.pointer),
                &|_| false,
                extent,
            )
        {
            self.list("returns", [plain(text)]);
        }
        if summary.noreturn {
            self.flags.insert(NO_RETURN);
        }
        for (verb, items) in modified(words, extent) {
            self.list(verb, items);
        }
        self.list("frees", freed(words, extent));
        let sleeps: Vec<&Cube> = summary.sleeps.iter().map(|sleep| &sleep.incond).collect();
        if !sleeps.is_empty() {
            let sleeps = conditions.inputs(words, &sleeps);
            let items = sleeps.into_iter().map(|text| Item {
                clear: text.chars().count() <= MAX_CONDITION && !text.contains("(char *)"),
                text,
            });
            self.list("may sleep", items);
        }
        if extent != Extent::Short {
            self.list("tells", told_by_result(words).into_iter().map(plain));
        }
        self.list("needs", needed(words, conditions).into_iter().map(plain));
        self.list("makes", initialised(words).into_iter().map(plain));
        for one in &summary.unnamed {
            let machine = words.property.machine(&one.machine);
            if extent == Extent::Short && machine.is_some_and(|one| one.key != Key::Location) {
                self.unnamed.insert(one.machine.clone());
                continue;
            }
            let text = format!(
                "{} ({}), which callers have no name for",
                one.class, one.machine
            );
            self.list("moves", [plain(text)]);
        }
        if summary.opaque {
            self.flags.insert(OPAQUE);
        }
    }

    /// Each thing that is said, with the word for it.
    pub fn told(self) -> Vec<(String, String)> {
        let flags = self
            .flags
            .into_iter()
            .map(|flag| (flag.to_owned(), String::new()));
        let lists = self
            .lists
            .into_iter()
            .flat_map(|(verb, items)| items.into_iter().map(move |item| (verb.clone(), item.text)));
        flags.chain(lists).collect()
    }

    /// All of it, in the order in which it was added; the result first.
    pub fn lines(mut self) -> Vec<String> {
        if !self.unnamed.is_empty() {
            let kinds: Vec<String> = std::mem::take(&mut self.unnamed).into_iter().collect();
            let text = format!(
                "objects ({}) that callers have no name for",
                kinds.join(", ")
            );
            self.list("moves", [plain(text)]);
        }
        self.lists.sort_by_key(|(verb, _)| rank(verb));
        let mut lines = Vec::new();
        if self.flags.contains(NO_RETURN) {
            lines.push(NO_RETURN.to_owned());
        }
        for (verb, items) in &mut self.lists {
            drop_implied(items);
            list(verb, items, self.extent, &mut lines);
        }
        if self.flags.contains(OPAQUE) {
            lines.push(OPAQUE.to_owned());
        }
        lines
    }
}

/// Whether the result is known to be a pointer: callers ask for it as one, or the function makes objects behind it.
fn returns_pointer(summary: &Summary) -> bool {
    let mut found = false;
    for condition in &summary.outputs {
        condition.each(&mut |part| {
            if let IExpr::Value {
                object, pointer, ..
            } = part
            {
                found |= pointer.0 && object.root == Root::Return && object.path.is_empty();
            }
        });
    }
    let mut objects = summary.objects.iter();
    found || objects.any(|one| one.object.root == Root::Return && !one.object.path.is_empty())
}

/// The order of the words that lines begin with; states come behind the result.
fn rank(verb: &str) -> usize {
    const ORDER: [&str; 10] = [
        "uses",
        "sets",
        "may set",
        "keeps",
        "frees",
        "may sleep",
        "tells",
        "needs",
        "makes",
        "moves",
    ];
    match ORDER.iter().position(|known| *known == verb) {
        Some(at) => 2 + at,
        None => usize::from(verb != "returns"),
    }
}

/// Leaves out what another item says of more cases, or for certain.
fn drop_implied(items: &mut Vec<Item>) {
    let texts: Vec<String> = items.iter().map(|item| item.text.clone()).collect();
    let mut at = 0;
    items.retain(|item| {
        at += 1;
        !texts.iter().enumerate().any(|(other, text)| {
            other != at - 1
                && says_more(text, &item.text)
                && (!says_more(&item.text, text) || other < at - 1)
        })
    });
}

/// Whether a text says what another one does, and of more cases: `x if a` of `x if a and b (perhaps)`.
fn says_more(text: &str, other: &str) -> bool {
    const PERHAPS: &str = " (perhaps)";
    let (certain, other_certain) = (!text.ends_with(PERHAPS), !other.ends_with(PERHAPS));
    let (text, other) = (
        text.trim_end_matches(PERHAPS),
        other.trim_end_matches(PERHAPS),
    );
    let Some(rest) = other.strip_prefix(text) else {
        return false;
    };
    // An alternative says less.
    let narrower = ["", " if ", " and ", ", and then "]
        .iter()
        .any(|more| match *more {
            "" => rest.is_empty(),
            more => rest.starts_with(more) && !rest.contains(" or "),
        });
    narrower && (certain || !other_certain)
}

fn plain(text: String) -> Item {
    Item { text, clear: true }
}

fn line(verb: &str, what: &str) -> String {
    format!("{verb:<INDENT$} {what}").trim_end().to_owned()
}

/// The lines of one kind, the verb before the first. In short, places without a name in the source are only counted.
fn list(verb: &str, items: &[Item], extent: Extent, lines: &mut Vec<String>) {
    let mut shown: Vec<&Item> = items.iter().collect();
    if extent == Extent::Short {
        shown.retain(|item| item.clear);
        // What would be cut is more than the line that says so.
        if shown.len() > MAX_LINES + 1 {
            shown.truncate(MAX_LINES);
        }
    }
    let rest = items.len() - shown.len();
    let more = (rest > 0).then(|| match shown.is_empty() {
        true if verb == "may sleep" => "in some cases (--full)".to_owned(),
        true if rest == 1 => "a place without a name in the source (--full)".to_owned(),
        true => format!("{rest} places without a name in the source (--full)"),
        false => format!("… and {rest} more (--full)"),
    });
    let texts = shown.into_iter().map(|item| item.text.clone()).chain(more);
    let verbs = std::iter::once(verb).chain(std::iter::repeat(""));
    lines.extend(verbs.zip(texts).map(|(verb, text)| line(verb, &text)));
}

/// M by what happens to each place.
fn modified(words: &Words<'_>, extent: Extent) -> [(&'static str, Vec<Item>); 3] {
    let (mut sets, mut may_set, mut keeps) = (Vec::new(), Vec::new(), Vec::new());
    let places = words.summary.modified.iter().chain(&words.summary.contents);
    for Modified {
        object,
        value,
        pointer,
        ..
    } in places.filter(|place| !is_result(place))
    {
        let place = words.object(object);
        let clear = is_clear(&place);
        let Some(value) = value else {
            may_set.push(Item { text: place, clear });
            continue;
        };
        let mut leaves = Vec::new();
        choices(value, &mut leaves);
        let kept = leaves.iter().copied().filter(|leaf| is_argument(leaf));
        keeps.extend(kept.map(|kept| Item {
            text: format!("{} in {place}", words.value(kept, When::Entry)),
            clear,
        }));
        let unchanged = |leaf: &IExpr| is_unchanged(leaf, object);
        let list = match leaves.iter().any(|leaf| unchanged(leaf)) {
            true => &mut may_set,
            false => &mut sets,
        };
        let text = match told(words, (object, value, pointer.0), &unchanged, extent) {
            Some(text) => format!("{place} = {text}"),
            None => place,
        };
        list.push(Item { text, clear });
    }
    keeps.extend(kept_elsewhere(words).map(plain));
    [("sets", sets), ("may set", may_set), ("keeps", keeps)]
}

/// The parameters that the function keeps, and those that lead to what it keeps, at places that it does not tell.
fn kept_elsewhere(words: &Words<'_>) -> impl Iterator<Item = String> {
    let summary = words.summary;
    let name = |&param: &u32| summary.params.get(param as usize);
    let unless = move |param: &u32| {
        let mut unless = summary.keeps_unless.iter();
        let unless = unless.find(|(other, _, _)| other == param);
        unless.map_or(String::new(), |(_, condition, holds)| {
            format!(
                ", unless {}",
                words.condition(condition, *holds, When::Exit)
            )
        })
    };
    let whole = summary.keeps.iter();
    let whole = whole.filter_map(move |param| Some((name(param)?, unless(param))));
    let contents = summary.keeps_contents.iter();
    let contents = contents.filter(|param| !summary.keeps.contains(param));
    let contents = contents.filter_map(name);
    let whole = whole.map(|(param, unless)| format!("{param} somewhere{unless}"));
    whole.chain(contents.map(|param| format!("what {param} leads to somewhere")))
}

/// A value in words. In short a long one is the values that it is one of, those that `left_out` says aside; `None` if
/// nothing can be said of it.
fn told(
    words: &Words<'_>,
    (place, value, pointer): (&IObj, &IExpr, bool),
    left_out: &dyn Fn(&IExpr) -> bool,
    extent: Extent,
) -> Option<String> {
    let short = |text: &String| text.chars().count() <= MAX_VALUE && !text.contains('…');
    let mut leaves = Vec::new();
    choices(value, &mut leaves);
    // A number among them says that it is none, whatever else looks like one.
    let is_number = |leaf: &&IExpr| is_number(leaf);
    let pointer = pointer && !leaves.iter().any(is_number);
    let whole = match value {
        IExpr::Const { value: 0, .. } if pointer => "NULL".to_owned(),
        IExpr::Const { value, width } => words.number(Some(place), *value, *width),
        value => words.value(value, When::Entry),
    };
    // Null is a number beside what is not known to be a pointer.
    let is_null = |leaf: &&IExpr| matches!(leaf, IExpr::Const { value: 0, .. });
    let null = pointer && leaves.len() > 1 && leaves.iter().any(is_null);
    if extent == Extent::Full || short(&whole) && !null {
        return Some(whole);
    }
    let pointer = pointer || is_pointer(value) && !leaves.iter().any(is_number);
    leaves.retain(|leaf| !left_out(leaf));
    let texts = leaves.iter().map(|leaf| match leaf {
        IExpr::Const { value: 0, .. } if pointer => "NULL".to_owned(),
        IExpr::Const { value, width } => words.number(Some(place), *value, *width),
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

/// Whether a value is surely no pointer: a small number, one that is no address's width, or a sum of numbers.
fn is_number(value: &IExpr) -> bool {
    match value {
        IExpr::Const { value, width } => *width != POINTER_BITS || (1..=0xfff).contains(value),
        IExpr::Value { width, .. } => *width != POINTER_BITS,
        IExpr::Linear { terms, .. } => terms.iter().all(|(_, part)| match part {
            IExpr::Value { pointer, .. } => !pointer.0,
            _ => false,
        }),
        _ => false,
    }
}

/// The result as a place.
fn returned() -> IObj {
    IObj {
        root: Root::Return,
        path: Vec::new(),
    }
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

/// The objects that are over when the function returns; in short those that have no line of their own for that.
fn freed(words: &Words<'_>, extent: Extent) -> Vec<Item> {
    let Summary { objects, rows, .. } = words.summary;
    let ended = objects.iter().enumerate().filter(|&(index, object)| {
        let Some(machine) = words.property.machine(&object.machine) else {
            return false;
        };
        if extent == Extent::Short && machine.key != Key::Location {
            return false;
        }
        rows.iter().any(|row| {
            row.object as usize == index
                && matches!(row.to, Target::State(to) if machine.role(to) == Role::Dead)
                && machine.role(row.from) != Role::Dead
        })
    });
    ended
        .map(|(_, object)| plain(object.name.clone()))
        .collect()
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

fn told_by_result(words: &Words<'_>) -> Vec<String> {
    let tells = words.summary.result_tells.iter().map(|tells| {
        let mut held = Vec::new();
        for (condition, holds) in &tells.entry {
            held.push(words.condition(condition, *holds, When::Entry));
        }
        let (result, holds) = &tells.result;
        let result = words.condition(result, *holds, When::Exit);
        format!("if {result}, then before {}", held.join(" and "))
    });
    tells.collect()
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
