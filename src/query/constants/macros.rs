//! Numbers that macros stand for.
//!
//! In: the texts of the files that a unit was made of. Out: the value of a macro without parameters that is a constant expression of numbers
//! and of other such macros. One that is defined in two ways has none: which of them is in force is for the preprocessor to say.

use std::cell::Cell;

use rustc_hash::FxHashMap;

use super::text::{self, Token};

/// Macros within macros, and brackets within brackets.
const MAX_DEPTH: u32 = 16;

/// Bytes of a macro of several lines.
const MAX_TEXT: usize = 8 << 10;
/// Macros and numbers that one value may be made of.
const MAX_PARTS: u32 = 1_000;

/// In place of the text of a macro with parameters.
const PARAMETERS: &str = "?";

/// The macros of some files.
#[derive(Default)]
pub struct Macros<'t> {
    texts: FxHashMap<&'t str, Option<&'t str>>,
    /// The texts of those with parameters, in any of their definitions.
    calls: FxHashMap<&'t str, &'t str>,
}

impl<'t> Macros<'t> {
    /// Adds the macros that a file defines.
    pub fn add(&mut self, file: &'t str) {
        let mut rest = file;
        while let Some(line) = rest.lines().next() {
            let all = rest;
            rest = &rest[(line.len() + 1).min(rest.len())..];
            if !line.trim_start().starts_with('#') {
                continue;
            }
            let whole = match line.trim_end_matches('\r').ends_with('\\') {
                true => first_line(all),
                false => line,
            };
            let Some((name, text)) = definition(whole) else {
                continue;
            };
            if text == PARAMETERS {
                self.calls.entry(name).or_insert(whole.trim_start());
            }
            let known = self.texts.entry(name).or_insert(Some(text));
            if *known != Some(text) {
                *known = None;
            }
        }
    }

    /// What a macro with parameters stands for, from its name on.
    pub fn call(&self, name: &str) -> Option<&'t str> {
        let line = self.calls.get(name)?;
        let at = line.find(name)?;
        Some(&line[at..])
    }

    /// A macro's value, or an enumerator's.
    pub fn value(&self, name: &str, enumerators: &FxHashMap<&str, i128>) -> Option<i128> {
        let known = Known {
            macros: self,
            enumerators,
            parts: Cell::new(0),
        };
        known.value(name, 0)
    }
}

/// The first line of a text with those that it goes on in, up to a limit.
fn first_line(text: &str) -> &str {
    let mut most = text.len().min(MAX_TEXT);
    while !text.is_char_boundary(most) {
        most -= 1;
    }
    &text[..text::end_of_line(&text[..most])]
}

/// The name and the text of `#define NAME TEXT`.
fn definition(line: &str) -> Option<(&str, &str)> {
    let rest = line.trim_start().strip_prefix('#')?.trim_start();
    let rest = rest.strip_prefix("define")?;
    let rest = rest.strip_prefix([' ', '\t'])?.trim_start();
    let end = rest.find(|one: char| !(one.is_alphanumeric() || one == '_'));
    let (name, text) = rest.split_at(end.unwrap_or(rest.len()));
    let text = match text.starts_with('(') {
        // It is no number, not even if another definition has no parameters.
        true => PARAMETERS,
        false => text.trim(),
    };
    (!name.is_empty()).then_some((name, text))
}

struct Known<'m, 't> {
    macros: &'m Macros<'t>,
    enumerators: &'m FxHashMap<&'m str, i128>,
    parts: Cell<u32>,
}

impl Known<'_, '_> {
    fn value(&self, name: &str, depth: u32) -> Option<i128> {
        if let Some(value) = self.enumerators.get(name) {
            return Some(*value);
        }
        if depth > MAX_DEPTH {
            return None;
        }
        let text = self.macros.texts.get(name).copied().flatten()?;
        let tokens = text::tokens(text);
        let mut rest = &tokens[..];
        let value = self.binary(&mut rest, 0, depth + 1)?;
        rest.is_empty().then_some(value)
    }

    /// An expression whose operators bind at least so tightly.
    fn binary(&self, rest: &mut &[Token<'_>], least: u32, depth: u32) -> Option<i128> {
        let mut left = self.unary(rest, depth)?;
        while let Some(Token::Sign(sign)) = rest.first()
            && let Some(rank) = rank(sign).filter(|rank| *rank >= least)
        {
            *rest = &rest[1..];
            let right = self.binary(rest, rank + 1, depth)?;
            let shift = u32::try_from(right).ok().filter(|shift| *shift < 64);
            left = match *sign {
                "|" => left | right,
                "^" => left ^ right,
                "&" => left & right,
                "<<" => left.checked_shl(shift?)?,
                ">>" => left.checked_shr(shift?)?,
                "+" => left.checked_add(right)?,
                "-" => left.checked_sub(right)?,
                "*" => left.checked_mul(right)?,
                _ => return None,
            };
        }
        Some(left)
    }

    fn unary(&self, rest: &mut &[Token<'_>], depth: u32) -> Option<i128> {
        self.parts.set(self.parts.get() + 1);
        if depth > MAX_DEPTH || self.parts.get() > MAX_PARTS {
            return None;
        }
        let (first, after) = rest.split_first()?;
        *rest = after;
        match *first {
            Token::Number(number) => Some(number),
            Token::Sign("-") => self.unary(rest, depth + 1)?.checked_neg(),
            Token::Sign("~") => Some(!self.unary(rest, depth + 1)?),
            Token::Sign("(") => {
                let value = self.binary(rest, 0, depth + 1)?;
                let (close, after) = rest.split_first()?;
                *rest = after;
                (*close == Token::Sign(")")).then_some(value)
            }
            // As the kernel writes flags.
            Token::Name("BIT" | "BIT_ULL" | "_BITUL" | "_BITULL") => {
                let bit = self.unary(rest, depth + 1)?;
                let bit = u32::try_from(bit).ok().filter(|bit| *bit < 64)?;
                Some(1 << bit)
            }
            Token::Name(name) => self.value(name, depth + 1),
            Token::Sign(_) => None,
        }
    }
}

fn rank(sign: &str) -> Option<u32> {
    Some(match sign {
        "|" => 1,
        "^" => 2,
        "&" => 3,
        "<<" | ">>" => 4,
        "+" | "-" => 5,
        "*" => 6,
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn value(file: &str, name: &str) -> Option<i128> {
        let mut macros = Macros::default();
        macros.add(file);
        let enumerators = FxHashMap::from_iter([("FIRST", 7)]);
        macros.value(name, &enumerators)
    }

    #[test]
    fn macros_are_constant_expressions() {
        for (text, expected) in [
            ("0x40", Some(64)),
            ("(1UL << 3)", Some(8)),
            ("(A | 2)  /* both */", Some(3)),
            ("BIT(4)", Some(16)),
            ("-22", Some(-22)),
            ("~0x1", Some(-2)),
            ("'a'", Some(97)),
            ("1 + 2 * 3", Some(7)),
            ("FIRST", Some(7)),
            ("X", None),
            ("1 <<", None),
            ("f(1)", None),
            ("1.5", None),
            ("(1", None),
            ("", None),
        ] {
            let file = format!("#define A 1\n # define X {text}\n");
            assert_eq!(value(&file, "X"), expected, "{text}");
        }
        assert_eq!(value("#define X 1\n#define X 2\n", "X"), None);
        assert_eq!(value("#define X(a) 1\n", "X"), None);
        let lines = "#define B 2\n#define X (1 | \\\n  B)\nint x;\n";
        assert_eq!(value(lines, "X"), Some(3));
        let mut macros = Macros::default();
        macros.add("#define SET(i, v) { \\\n  if ((i)->flags & A) \\\n  f(v); }\nint x;\n");
        let call = macros.call("SET").unwrap();
        assert!(call.starts_with("SET(i, v)") && call.ends_with("f(v); }"));
        assert_eq!(macros.call("f"), None);
        // Each is a thousand of the one before.
        let mut wide = "#define A0 1\n".to_owned();
        for n in 1..16 {
            let sum = vec![format!("A{}", n - 1); 1000].join(" + ");
            wide += &format!("#define A{n} {sum}\n");
        }
        assert_eq!(value(&wide, "A15"), None);
        let deep = format!("#define X {}1", "(".repeat(100_000));
        assert_eq!(value(&deep, "X"), None);
    }
}
