//! Values of numbers (C11 6.4.4): base, digits and suffix.
//!
//! In: a number's spelling. Out: the constant, or `None` if it is none.

use lang_c::ast::{
    Constant, Float, FloatBase, FloatFormat, FloatSuffix, Integer, IntegerBase, IntegerSize,
    IntegerSuffix, TS18661FloatFormat, TS18661FloatType,
};

pub fn number(spelling: &str) -> Option<Constant> {
    let lower = spelling.as_bytes();
    let (prefix, rest) = match lower {
        [b'0', b'x' | b'X', ..] => (IntegerBase::Hexadecimal, &spelling[2..]),
        [b'0', b'b' | b'B', ..] => (IntegerBase::Binary, &spelling[2..]),
        [b'0', b'0'..=b'9', ..] => (IntegerBase::Octal, &spelling[1..]),
        _ => (IntegerBase::Decimal, spelling),
    };
    let marks: &[u8] = match prefix {
        IntegerBase::Hexadecimal => b".pP",
        IntegerBase::Binary => b"",
        IntegerBase::Octal | IntegerBase::Decimal => b".eE",
    };
    if rest.bytes().any(|byte| marks.contains(&byte)) {
        return match prefix {
            IntegerBase::Hexadecimal => float(FloatBase::Hexadecimal, rest),
            _ => float(FloatBase::Decimal, spelling),
        };
    }
    let is_digit = |byte: u8| match prefix {
        IntegerBase::Hexadecimal => byte.is_ascii_hexdigit(),
        IntegerBase::Binary => matches!(byte, b'0' | b'1'),
        IntegerBase::Octal => matches!(byte, b'0'..=b'7'),
        IntegerBase::Decimal => byte.is_ascii_digit(),
    };
    let digits = rest.bytes().take_while(|byte| is_digit(*byte)).count();
    if digits == 0 {
        return None;
    }
    Some(Constant::Integer(Integer {
        base: prefix,
        number: rest[..digits].into(),
        suffix: integer_suffix(&rest[digits..])?,
    }))
}

fn integer_suffix(text: &str) -> Option<IntegerSuffix> {
    let mut suffix = IntegerSuffix {
        size: IntegerSize::Int,
        unsigned: false,
        imaginary: false,
    };
    let mut rest = text.as_bytes();
    while let [byte, tail @ ..] = rest {
        rest = tail;
        match byte {
            b'l' | b'L' if suffix.size == IntegerSize::Int => {
                suffix.size = IntegerSize::Long;
                if tail.first() == Some(byte) {
                    suffix.size = IntegerSize::LongLong;
                    rest = &tail[1..];
                }
            }
            b'u' | b'U' if !suffix.unsigned => suffix.unsigned = true,
            b'i' | b'I' | b'j' | b'J' if !suffix.imaginary => suffix.imaginary = true,
            _ => return None,
        }
    }
    Some(suffix)
}

/// A floating constant, without the `0x` of a hexadecimal one.
fn float(base: FloatBase, text: &str) -> Option<Constant> {
    let bytes = text.as_bytes();
    let hexadecimal = base == FloatBase::Hexadecimal;
    let run = |from: usize, hexadecimal: bool| {
        let is_digit = |byte: &&u8| match hexadecimal {
            true => byte.is_ascii_hexdigit(),
            false => byte.is_ascii_digit(),
        };
        bytes[from..].iter().take_while(is_digit).count()
    };
    let mut end = run(0, hexadecimal);
    let mut digits = end;
    if bytes.get(end) == Some(&b'.') {
        let fraction = run(end + 1, hexadecimal);
        digits += fraction;
        end += 1 + fraction;
    }
    if digits == 0 {
        return None;
    }
    let exponent: &[u8] = if hexadecimal { b"pP" } else { b"eE" };
    match bytes.get(end) {
        Some(byte) if exponent.contains(byte) => {
            end += 1 + usize::from(matches!(bytes.get(end + 1), Some(b'+' | b'-')));
            let power = run(end, false);
            if power == 0 {
                return None;
            }
            end += power;
        }
        _ if hexadecimal => return None,
        _ => {}
    }
    Some(Constant::Float(Float {
        base,
        number: text[..end].into(),
        suffix: float_suffix(&text[end..])?,
    }))
}

fn float_suffix(text: &str) -> Option<FloatSuffix> {
    let is_imaginary = |c: char| matches!(c, 'i' | 'I' | 'j' | 'J');
    let rest = match text.strip_prefix(is_imaginary) {
        Some(rest) => rest,
        None => text.strip_suffix(is_imaginary).unwrap_or(text),
    };
    let ts18661 = |format, width| FloatFormat::TS18661Format(TS18661FloatType { format, width });
    let format = match rest {
        "" => FloatFormat::Double,
        "f" | "F" => FloatFormat::Float,
        "l" | "L" => FloatFormat::LongDouble,
        "df" | "DF" => ts18661(TS18661FloatFormat::DecimalInterchange, 32),
        "dd" | "DD" => ts18661(TS18661FloatFormat::DecimalInterchange, 64),
        "dl" | "DL" => ts18661(TS18661FloatFormat::DecimalInterchange, 128),
        _ => {
            let binary = rest.starts_with(['f', 'F']);
            if !binary && !rest.starts_with(['d', 'D']) {
                return None;
            }
            let (width, extended) = match rest[1..].strip_suffix('x') {
                Some(width) => (width, true),
                None => (&rest[1..], false),
            };
            let width = width.parse().ok()?;
            let format = match (binary, extended) {
                (true, false) => TS18661FloatFormat::BinaryInterchange,
                (true, true) => TS18661FloatFormat::BinaryExtended,
                (false, false) => TS18661FloatFormat::DecimalInterchange,
                (false, true) => TS18661FloatFormat::DecimalExtended,
            };
            ts18661(format, width)
        }
    };
    Some(FloatSuffix {
        format,
        imaginary: rest.len() != text.len(),
    })
}
