//! `printf`: a format with its arguments as text.
//!
//! In: the format's bytes and the arguments behind it. Out: the bytes printed.

use super::{Datum, Machine, Run, Stop};
use crate::ir::{Ty, fold};

#[derive(Default)]
struct Conversion {
    left: bool,
    plus: bool,
    space: bool,
    alternate: bool,
    zero: bool,
    width: usize,
    precision: Option<usize>,
    /// Bits of an integer argument.
    bits: u16,
}

impl Machine<'_> {
    pub(super) fn format(&mut self, format: &[u8], arguments: &[Datum]) -> Run<Vec<u8>> {
        let mut out = Vec::new();
        let mut arguments = arguments.iter();
        let mut rest = format.iter().copied().peekable();
        while let Some(byte) = rest.next() {
            if byte != b'%' {
                out.push(byte);
                continue;
            }
            let mut spec = Conversion {
                bits: 32,
                ..Conversion::default()
            };
            loop {
                match rest.peek() {
                    Some(b'-') => spec.left = true,
                    Some(b'+') => spec.plus = true,
                    Some(b' ') => spec.space = true,
                    Some(b'#') => spec.alternate = true,
                    Some(b'0') => spec.zero = true,
                    _ => break,
                }
                rest.next();
            }
            let number = |rest: &mut std::iter::Peekable<_>,
                          arguments: &mut std::slice::Iter<Datum>| {
                if rest.peek() == Some(&b'*') {
                    rest.next();
                    return Ok(integer(arguments.next(), 32, true)?.max(0) as usize);
                }
                let mut value = 0usize;
                while let Some(digit) = rest.peek().copied().filter(u8::is_ascii_digit) {
                    value = value * 10 % 100_000 + usize::from(digit - b'0');
                    rest.next();
                }
                Ok(value)
            };
            spec.width = number(&mut rest, &mut arguments)?;
            if rest.peek() == Some(&b'.') {
                rest.next();
                spec.precision = Some(number(&mut rest, &mut arguments)?);
            }
            while let Some(letter) = rest.peek() {
                match letter {
                    b'h' => spec.bits /= 2,
                    b'l' | b'z' | b'j' | b't' | b'q' => spec.bits = 64,
                    b'L' => return Err(super::FLOAT),
                    _ => break,
                }
                rest.next();
            }
            let text = match rest.next() {
                Some(b'%') => b"%".to_vec(),
                Some(b'c') => vec![integer(arguments.next(), 8, false)? as u8],
                Some(b's') => {
                    let addr = integer(arguments.next(), 64, false)? as u64;
                    let mut text = self.memory.string(addr)?;
                    text.truncate(spec.precision.unwrap_or(usize::MAX));
                    text
                }
                Some(letter @ (b'd' | b'i' | b'u' | b'x' | b'X' | b'o' | b'p')) => {
                    spec.integer(letter, arguments.next())?.into_bytes()
                }
                Some(letter @ (b'f' | b'F' | b'e' | b'E' | b'g' | b'G')) => {
                    spec.float(letter, arguments.next())?.into_bytes()
                }
                _ => return Err(Stop::Unknown("a conversion of printf")),
            };
            let padding = spec.width.saturating_sub(text.len());
            if spec.left {
                out.extend(text);
                out.resize(out.len() + padding, b' ');
            } else {
                out.resize(out.len() + padding, b' ');
                out.extend(text);
            }
        }
        Ok(out)
    }
}

/// An integer argument of this width.
pub(super) fn integer(argument: Option<&Datum>, bits: u16, signed: bool) -> Run<i128> {
    match argument {
        Some(Datum::Scalar(value, ty)) if !matches!(ty, Ty::Float { .. }) => {
            let ty = Ty::Int { bits, signed };
            Ok(fold::value(fold::truncate(*value, ty), ty))
        }
        Some(Datum::Unknown(_)) => Err(Stop::Unknown("an argument")),
        _ => Err(Stop::Undefined("argument of another type")),
    }
}

impl Conversion {
    fn integer(&self, letter: u8, argument: Option<&Datum>) -> Run<String> {
        let signed = matches!(letter, b'd' | b'i');
        let bits = if letter == b'p' { 64 } else { self.bits };
        let value = integer(argument, bits, signed)?;
        let magnitude = value.unsigned_abs();
        let mut digits = match letter {
            b'x' | b'p' => format!("{magnitude:x}"),
            b'X' => format!("{magnitude:X}"),
            b'o' => format!("{magnitude:o}"),
            _ => magnitude.to_string(),
        };
        if self.precision == Some(0) && value == 0 {
            digits.clear();
        }
        let prefix = match letter {
            b'p' => "0x",
            b'x' if self.alternate && value != 0 => "0x",
            b'X' if self.alternate && value != 0 => "0X",
            b'o' if self.alternate && !digits.starts_with('0') => "0",
            _ if value < 0 => "-",
            _ if signed && self.plus => "+",
            _ if signed && self.space => " ",
            _ => "",
        };
        let least = match self.precision {
            Some(precision) => precision,
            None if self.zero && !self.left => self.width.saturating_sub(prefix.len()),
            None => 0,
        };
        Ok(format!("{prefix}{digits:0>least$}"))
    }

    fn float(&self, letter: u8, argument: Option<&Datum>) -> Run<String> {
        let value = match argument {
            Some(Datum::Scalar(bits, ty)) => fold::float_value(*bits, *ty),
            _ => None,
        };
        let value = value.ok_or(super::FLOAT)?;
        let precision = self.precision.unwrap_or(6);
        let text = match letter {
            b'f' | b'F' if value.is_finite() => format!("{:.precision$}", value.abs()),
            _ => return Err(Stop::Unknown("a conversion of printf")),
        };
        let sign = match (value.is_sign_negative(), self.plus, self.space) {
            (true, ..) => "-",
            (_, true, _) => "+",
            (.., true) => " ",
            _ => "",
        };
        let least = if self.zero && !self.left {
            self.width.saturating_sub(sign.len())
        } else {
            0
        };
        Ok(format!("{sign}{text:0>least$}"))
    }
}
