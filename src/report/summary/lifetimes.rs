//! What becomes of objects that are made and ended: blocks of memory, files, mappings.
//!
//! In: an object of a summary. Out: that it is allocated, that it is freed, and when: what a table of all ways from state to state says of such an
//! object in ten lines of which eight are the same for all of them. That a block must be allocated to be freed goes without saying.

use super::effects::Item;
use super::words::Words;
use super::{Conditions, cut, ends};
use crate::property::{Key, Role, StateId, Target};
use crate::symbolic::naming::is_clear;

/// So many cases are told one by one.
const MAX_CASES: usize = 2;

/// Something that becomes of an object: the name of the state that it is left in, and what there is to say.
pub struct Lifetime {
    pub state: String,
    pub item: Item,
}

/// What becomes of an object; `None` if a table has to say it.
pub fn of(words: &Words<'_>, conditions: &Conditions<'_>, index: usize) -> Option<Vec<Lifetime>> {
    let object = words.summary.objects.get(index)?;
    let machine = words.property.machine(&object.machine)?;
    let has = |role| machine.states.iter().any(|state| state.role == role);
    if machine.key == Key::Location || !has(Role::Held) || !has(Role::Dead) {
        return None;
    }
    let mut ways: Vec<(StateId, Vec<String>, &'static str)> = Vec::new();
    for (end, cube) in ends(conditions, words.summary, index) {
        let to = match end.to {
            Target::State(to) => *to,
            // It is no mistake of the function's that its callers must hand over what is allocated.
            Target::Error(_) if machine.role(end.from) != Role::Held => continue,
            Target::Error(_) => return None,
        };
        let tells = match (machine.role(end.from), machine.role(to)) {
            (from, to) if from == to => false,
            (_, Role::Free | Role::Unknown) => false,
            (from, Role::Held) => from == Role::Free,
            (_, Role::Dead) => true,
        };
        if !tells {
            continue;
        }
        let when = conditions.text(words, &cube);
        match ways.iter_mut().find(|way| way.0 == to && way.2 == end.note) {
            Some((_, cases, _)) if cases.contains(&when) => {}
            Some((_, cases, _)) => cases.push(when),
            None => ways.push((to, vec![when], end.note)),
        }
    }
    let name = match machine.key {
        Key::Region => words.pointer_to(&object.object),
        _ => words.object(&object.object),
    };
    let told = ways.iter().filter(|(to, _, note)| {
        // What is so for certain need not be told as a guess, too.
        note.is_empty()
            || !ways
                .iter()
                .any(|other| other.0 == *to && other.2.is_empty())
    });
    let told = told.map(|(to, cases, note)| Lifetime {
        state: machine.states[usize::from(to.0)].text.clone(),
        item: Item {
            text: format!("{name}{}{note}", cases_text(cases)),
            clear: is_clear(&name),
        },
    });
    Some(told.collect())
}

fn cases_text(cases: &[String]) -> String {
    if cases.iter().any(String::is_empty) {
        return String::new();
    }
    match cases.len() {
        0..=MAX_CASES => format!(" {}", cut(cases.join(", or "))),
        several => format!(" in {several} cases"),
    }
}
