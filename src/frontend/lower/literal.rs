//! Literals: integer, floating and character constants, string literals.
//!
//! In: lang-c's constants and the raw spelling of strings. Out: values with their C types, and bytes.

use lang_c::ast;

use crate::frontend::declare::{Lower, lost};
use crate::frontend::model::Model;
use crate::frontend::types::{FloatKind, IntKind};

/// The value and type of an integer constant (C11 6.4.4.1).
pub fn integer(constant: &ast::Integer, model: &Model) -> Lower<(u128, IntKind)> {
    let digits: String = constant.number.chars().filter(|c| *c != '\'').collect();
    let (radix, decimal) = match constant.base {
        ast::IntegerBase::Decimal => (10, true),
        ast::IntegerBase::Octal => (8, false),
        ast::IntegerBase::Hexadecimal => (16, false),
        ast::IntegerBase::Binary => (2, false),
    };
    let digits = match radix {
        16 => digits.trim_start_matches("0x").trim_start_matches("0X"),
        2 => digits.trim_start_matches("0b").trim_start_matches("0B"),
        _ => digits.as_str(),
    };
    let value = if digits.is_empty() {
        0
    } else {
        match u128::from_str_radix(digits, radix) {
            Ok(value) => value,
            Err(_) => return lost(format!("integer constant {digits}")),
        }
    };
    use IntKind::*;
    let long = model.long();
    let ladder = [Int, UInt, long, long.unsigned(), LongLong, ULongLong];
    let ladder = match constant.suffix.size {
        ast::IntegerSize::Int => &ladder[..],
        ast::IntegerSize::Long => &ladder[2..],
        ast::IntegerSize::LongLong => &ladder[4..],
    };
    let fits = |kind: &&IntKind| {
        let allowed = if constant.suffix.unsigned {
            !kind.signed()
        } else {
            kind.signed() || !decimal
        };
        allowed && i128::try_from(value).is_ok_and(|value| kind.holds(value))
    };
    let kind = ladder.iter().find(fits).copied();
    let too_large = if constant.suffix.unsigned {
        UInt128
    } else {
        Int128
    };
    // gcc takes a decimal constant beyond long as __int128.
    Ok((value, kind.unwrap_or(too_large)))
}

/// The value and type of a floating constant, the value rounded to double.
pub fn float(constant: &ast::Float) -> (Option<f64>, FloatKind) {
    let kind = match &constant.suffix.format {
        ast::FloatFormat::Float => FloatKind::Float,
        ast::FloatFormat::Double => FloatKind::Double,
        ast::FloatFormat::LongDouble => FloatKind::LongDouble,
        ast::FloatFormat::TS18661Format(format) => match format.width {
            16 => FloatKind::Half,
            32 => FloatKind::Float,
            64 => FloatKind::Double,
            _ => FloatKind::Quad,
        },
    };
    let value = match constant.base {
        ast::FloatBase::Decimal => constant.number.parse().ok(),
        ast::FloatBase::Hexadecimal => hexadecimal_float(&constant.number),
    };
    (value, kind)
}

fn hexadecimal_float(text: &str) -> Option<f64> {
    let text = text.to_ascii_lowercase();
    let text = text.strip_prefix("0x").unwrap_or(&text);
    let (mantissa, exponent) = text.split_once('p')?;
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let mut value = 0.0f64;
    for digit in whole.chars().chain(fraction.chars()) {
        value = value * 16.0 + f64::from(digit.to_digit(16)?);
    }
    let exponent: i32 = exponent.parse().ok()?;
    let scale = i32::try_from(fraction.len()).ok()?.checked_mul(4)?;
    Some(value * 2f64.powi(exponent.checked_sub(scale)?))
}

/// The element type of a string or character literal by its prefix.
fn element<'a>(raw: &'a str, model: &Model) -> (IntKind, &'a str) {
    if let Some(rest) = raw.strip_prefix("u8") {
        (model.char(), rest)
    } else if let Some(rest) = raw.strip_prefix('L') {
        (model.wide, rest)
    } else if let Some(rest) = raw.strip_prefix('U') {
        (IntKind::UInt, rest)
    } else if let Some(rest) = raw.strip_prefix('u') {
        (IntKind::UShort, rest)
    } else {
        (model.char(), raw)
    }
}

/// One unit of a literal after escapes: a numeric escape is a code unit, the rest code points.
enum Unit {
    Code(u32),
    Point(char),
}

fn units(text: &str) -> Vec<Unit> {
    let mut out = Vec::new();
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        if c != '\\' {
            out.push(Unit::Point(c));
            continue;
        }
        let Some(escape) = chars.next() else { break };
        let unit = match escape {
            'n' => Unit::Code(10),
            't' => Unit::Code(9),
            'r' => Unit::Code(13),
            'a' => Unit::Code(7),
            'b' => Unit::Code(8),
            'f' => Unit::Code(12),
            'v' => Unit::Code(11),
            'e' | 'E' => Unit::Code(27),
            'x' => {
                let mut value = 0u32;
                while let Some(digit) = chars.peek().and_then(|c| c.to_digit(16)) {
                    value = value.wrapping_mul(16).wrapping_add(digit);
                    chars.next();
                }
                Unit::Code(value)
            }
            'u' | 'U' => {
                let mut value = 0u32;
                for _ in 0..if escape == 'u' { 4 } else { 8 } {
                    let Some(digit) = chars.peek().and_then(|c| c.to_digit(16)) else {
                        break;
                    };
                    value = value.wrapping_mul(16).wrapping_add(digit);
                    chars.next();
                }
                Unit::Point(char::from_u32(value).unwrap_or('\u{fffd}'))
            }
            '0'..='7' => {
                let mut value = escape.to_digit(8).unwrap_or(0);
                for _ in 0..2 {
                    let Some(digit) = chars.peek().and_then(|c| c.to_digit(8)) else {
                        break;
                    };
                    value = value * 8 + digit;
                    chars.next();
                }
                Unit::Code(value)
            }
            other => Unit::Point(other),
        };
        out.push(unit);
    }
    out
}

fn encode(unit: &Unit, kind: IntKind, out: &mut Vec<u8>) {
    match (unit, kind.bits()) {
        (Unit::Code(code), 8) => out.push(code.to_le_bytes()[0]),
        (Unit::Point(point), 8) => {
            let mut buffer = [0; 4];
            out.extend_from_slice(point.encode_utf8(&mut buffer).as_bytes());
        }
        (Unit::Code(code), 16) => out.extend_from_slice(&code.to_le_bytes()[..2]),
        (Unit::Point(point), 16) => {
            let mut buffer = [0; 2];
            for word in point.encode_utf16(&mut buffer) {
                out.extend_from_slice(&word.to_le_bytes());
            }
        }
        (Unit::Code(code), _) => out.extend_from_slice(&code.to_le_bytes()),
        (Unit::Point(point), _) => out.extend_from_slice(&u32::from(*point).to_le_bytes()),
    }
}

/// The bytes of adjacent string literals with the terminating zero, and their element type.
pub fn string(parts: &[String], model: &Model) -> (Vec<u8>, IntKind) {
    let kind = parts
        .iter()
        .map(|part| element(part, model).0)
        .find(|kind| *kind != model.char())
        .unwrap_or(model.char());
    let mut bytes = Vec::new();
    for part in parts {
        let quoted = element(part, model).1;
        let text = quoted.strip_prefix('"').unwrap_or(quoted);
        let text = text.strip_suffix('"').unwrap_or(text);
        for unit in units(text) {
            encode(&unit, kind, &mut bytes);
        }
    }
    bytes.resize(bytes.len() + usize::from(kind.bits() / 8), 0);
    (bytes, kind)
}

/// The value and type of a character constant; several characters make a big-endian `int` as in gcc.
pub fn character(raw: &str, model: &Model) -> (i128, IntKind) {
    let (kind, quoted) = element(raw, model);
    let text = quoted.strip_prefix('\'').unwrap_or(quoted);
    let text = text.strip_suffix('\'').unwrap_or(text);
    let units = units(text);
    if kind == model.char() {
        let mut bytes = Vec::new();
        for unit in &units {
            encode(unit, kind, &mut bytes);
        }
        let value = match bytes.as_slice() {
            [single] if model.unsigned_char => i128::from(*single),
            [single] => i128::from(single.cast_signed()),
            several => {
                let word = several
                    .iter()
                    .fold(0u32, |word, byte| word << 8 | u32::from(*byte));
                i128::from(word.cast_signed())
            }
        };
        return (value, IntKind::Int);
    }
    let value = match units.first() {
        Some(Unit::Code(code)) => *code,
        Some(Unit::Point(point)) => u32::from(*point),
        None => 0,
    };
    let value = match (kind.bits(), kind.signed()) {
        (16, _) => i128::from(value & 0xffff),
        (_, true) => i128::from(value.cast_signed()),
        _ => i128::from(value),
    };
    (value, kind)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn number(base: ast::IntegerBase, digits: &str, unsigned: bool) -> (u128, IntKind) {
        let constant = ast::Integer {
            base,
            number: digits.into(),
            suffix: ast::IntegerSuffix {
                size: ast::IntegerSize::Int,
                unsigned,
                imaginary: false,
            },
        };
        integer(&constant, &Model::LP64).unwrap()
    }

    #[test]
    fn integer_constants_take_the_first_type_that_holds_them() {
        use ast::IntegerBase::{Decimal, Hexadecimal};
        assert_eq!(number(Decimal, "2147483648", false).1, IntKind::Long);
        assert_eq!(number(Hexadecimal, "80000000", false).1, IntKind::UInt);
        assert_eq!(number(Decimal, "1", true).1, IntKind::UInt);
        let largest = number(Hexadecimal, "ffffffffffffffff", false);
        assert_eq!(largest, (u128::from(u64::MAX), IntKind::ULong));
    }

    #[test]
    fn escapes_and_prefixes_give_the_bytes_that_gcc_gives() {
        assert_eq!(
            string(&["\"a\\n\\0\\x41\"".into()], &Model::LP64).0,
            b"a\n\0A\0"
        );
        assert_eq!(
            string(&["\"a\"".into(), "\"b\"".into()], &Model::LP64).0,
            b"ab\0"
        );
        assert_eq!(
            string(&["L\"a\"".into()], &Model::LP64).0,
            [97, 0, 0, 0, 0, 0, 0, 0]
        );
        assert_eq!(character("'\\xff'", &Model::LP64), (-1, IntKind::Int));
        assert_eq!(character("'ab'", &Model::LP64), (0x6162, IntKind::Int));
    }
}
