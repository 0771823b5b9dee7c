//! Names that a program's source has for numbers: enumeration constants and macros.
//!
//! In: which name stands beside which place, with its value: `flags & ITEM_LINKED` says that 1 is `ITEM_LINKED` beside `flags`. Out: the name for a
//! number beside a place. A number that two names stand for there, or none, has no name.

use std::collections::BTreeMap;

use crate::summary::{IExpr, IObj};
use crate::symbolic::term::Op;

/// What a function's result is called.
pub const RESULT: &str = "ret";

/// Names by the last member or the variable that they stand beside, and their value.
type Names = BTreeMap<(String, i128), Option<String>>;

/// Names in texts: those of a function's own text come before those of its callees.
#[derive(Clone, Debug, Default)]
pub struct Constants {
    own: Names,
    callees: Names,
}

/// No names.
pub static NO_CONSTANTS: Constants = Constants {
    own: BTreeMap::new(),
    callees: BTreeMap::new(),
};

impl Constants {
    /// Adds that a name stands beside a place, in the function's own text or a callee's.
    pub fn add(&mut self, own: bool, beside: &str, name: &str, value: i128) {
        let names = match own {
            true => &mut self.own,
            false => &mut self.callees,
        };
        let known = names.entry((beside.to_owned(), value));
        let known = known.or_insert_with(|| Some(name.to_owned()));
        if known.as_deref() != Some(name) {
            *known = None;
        }
    }

    /// The name for a number of so many bits beside a place.
    pub fn name(&self, beside: &str, value: u128, width: u16) -> Option<&str> {
        [&self.own, &self.callees].into_iter().find_map(|names| {
            let mut known = names.range((beside.to_owned(), i128::MIN)..);
            let same = |known: i128| known.cast_unsigned() & mask(width) == value & mask(width);
            let mut of_place = known
                .by_ref()
                .take_while(|((place, _), _)| place == beside)
                .filter(|((_, number), _)| same(*number));
            of_place.next()?.1.as_deref()
        })
    }

    /// Bits by their names, `ITEM_LINKED | ITEM_SLABBED`: one for all, or one for each.
    pub fn bits(&self, beside: &str, bits: u128, width: u16) -> Option<String> {
        if let Some(name) = self.name(beside, bits, width) {
            return Some(name.to_owned());
        }
        let bits = bits & mask(width);
        if bits.count_ones() > MOST_BITS {
            return None;
        }
        let each = (0..width).filter(|bit| bits >> bit & 1 == 1);
        let each = each.map(|bit| self.name(beside, 1 << bit, width));
        let each = each.collect::<Option<Vec<&str>>>()?;
        (!each.is_empty()).then(|| each.join(" | "))
    }

    /// A text with the names of numbers that are compared with places in it: `q->length != QUEUE_MAX`.
    pub fn in_text(&self, text: &str) -> String {
        let mut told = String::new();
        for line in text.split_inclusive('\n') {
            let mut words: Vec<String> = line.split(' ').map(str::to_owned).collect();
            for at in 2..words.len() {
                let compared = matches!(&*words[at - 1], "==" | "!=" | "<" | "<=" | ">" | ">=");
                let number = words[at].trim_end_matches([')', '\n']);
                if let Ok(value) = number.parse::<i128>()
                    && compared
                    && let Some(place) = last_name(&words[at - 2])
                    && let Some(name) = self.name(place, value.cast_unsigned(), 128)
                {
                    words[at] = words[at].replacen(number, name, 1);
                }
            }
            told += &words.join(" ");
        }
        told
    }

    pub fn is_empty(&self) -> bool {
        self.own.is_empty() && self.callees.is_empty()
    }
}

/// So many bits are told one by one.
const MOST_BITS: u32 = 4;

fn mask(width: u16) -> u128 {
    match width {
        128.. => u128::MAX,
        _ => (1 << width) - 1,
    }
}

/// The object that a value is read from, perhaps masked or widened: what stands beside a number in the source.
pub fn place(expr: &IExpr) -> Option<&IObj> {
    match expr {
        IExpr::Value { object, .. } => Some(object),
        IExpr::Op {
            op: Op::Zext | Op::Sext | Op::Extract { lo: 0 } | Op::Not,
            args,
            ..
        } => place(args.first()?),
        IExpr::Op {
            op: Op::And | Op::Or,
            args,
            ..
        } => {
            let mut places = args.iter().filter_map(place);
            let constant = args.iter().any(|arg| matches!(arg, IExpr::Const { .. }));
            places
                .next()
                .filter(|_| constant && places.next().is_none())
        }
        _ => None,
    }
}

/// The last member or variable of a name: `flags` of `items[i]->flags`, `state` of `conns[…].state[2]`.
pub fn last_name(name: &str) -> Option<&str> {
    let mut name = name.trim_end_matches(')');
    while let Some(open) = name.strip_suffix(']').and_then(|_| opening(name)) {
        name = &name[..open];
    }
    let mut letters = name.char_indices().rev();
    let before = letters.find(|(_, one)| !(one.is_alphanumeric() || *one == '_'));
    let last = &name[before.map_or(0, |(at, one)| at + one.len_utf8())..];
    (!last.is_empty()).then_some(last)
}

/// Where the bracket opens that a name ends with.
fn opening(name: &str) -> Option<usize> {
    let mut depth = 0i32;
    name.char_indices().rev().find_map(|(at, one)| {
        depth += i32::from(one == ']') - i32::from(one == '[');
        (depth == 0).then_some(at)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_has_the_one_name_that_stands_beside_the_place() {
        let mut constants = Constants::default();
        constants.add(true, "flags", "LINKED", 1);
        constants.add(false, "flags", "OTHER", 1);
        constants.add(false, "flags", "CAS", 2);
        constants.add(false, "state", "OPEN", 2);
        constants.add(false, "state", "READY", 2);
        constants.add(true, "state", "FAILED", -1);
        assert_eq!(constants.name("flags", 1, 16), Some("LINKED"));
        assert_eq!(constants.name("flags", 2, 16), Some("CAS"));
        assert_eq!(constants.name("state", 2, 32), None);
        assert_eq!(constants.name("state", 0xffff_ffff, 32), Some("FAILED"));
        assert_eq!(constants.name("other", 1, 32), None);
        assert_eq!(constants.bits("flags", 3, 16), Some("LINKED | CAS".into()));
        assert_eq!(constants.bits("flags", 5, 16), None);
        let text = constants.in_text("  (q->flags == 1 || q->state != -1)\n  x == 1\n");
        assert_eq!(
            text,
            "  (q->flags == LINKED || q->state != FAILED)\n  x == 1\n"
        );
    }

    #[test]
    fn the_last_name_is_the_member() {
        for (name, last) in [
            ("item->it_flags", Some("it_flags")),
            ("flags", Some("flags")),
            ("conns[i]->state", Some("state")),
            ("tokens[map[1]].types[…]", Some("types")),
            ("old(item->refcount)", Some("refcount")),
            ("*(item + 40)", Some("40")),
            ("(…", None),
            ("…]", None),
            ("größe", Some("größe")),
            ("", None),
        ] {
            assert_eq!(last_name(name), last, "{name}");
        }
    }
}
