//! The functions of the C library, and built-ins without a lowering, that test programs call.
//!
//! In: a name and arguments. Out: the result, with memory changed; [`Stop::Missing`] for all others.

use super::text::integer;
use super::{Datum, Machine, Run, Stop, low_int};
use crate::ir::{Ty, fold};

/// Most bytes that a program may print.
const OUTPUT: usize = 16 << 20;

impl Machine<'_> {
    pub(super) fn library(&mut self, name: &str, arguments: &[Datum]) -> Run<Option<Datum>> {
        let plain = name.strip_prefix("__builtin_").unwrap_or(name);
        let signed = |index: usize| integer(arguments.get(index), 64, true);
        let word =
            |index: usize| integer(arguments.get(index), 64, false).map(|value| value as u64);
        let result = match plain {
            "abort" | "__assert_fail" | "trap" => return Err(Stop::Abort),
            "exit" | "_exit" | "_Exit" => match arguments {
                [Datum::Scalar(bits, ty), ..] => return Err(Stop::Exit(low_int(*bits, *ty))),
                _ => return Err(Stop::Undefined("exit without a status")),
            },
            "printf" | "__printf_chk" => {
                let skip = usize::from(plain != "printf");
                return self.print(skip, arguments);
            }
            "fprintf" => {
                let format = self.memory.string(word(1)?)?;
                let text = self.format(&format, &arguments[2..])?;
                int(text.len() as i128)
            }
            "sprintf" | "snprintf" => {
                let bounded = plain == "snprintf";
                let at = 1 + usize::from(bounded);
                let format = self.memory.string(word(at)?)?;
                let text = self.format(&format, arguments.get(at + 1..).unwrap_or(&[]))?;
                let room = if bounded { word(1)? } else { u64::MAX };
                if let Some(most) = usize::try_from(room).unwrap_or(usize::MAX).checked_sub(1) {
                    let kept = &text[..text.len().min(most)];
                    self.memory.write_bytes(word(0)?, kept)?;
                    self.memory.write(word(0)? + kept.len() as u64, 0, 8)?;
                }
                int(text.len() as i128)
            }
            "puts" => {
                let mut text = self.memory.string(word(0)?)?;
                text.push(b'\n');
                self.say(&text)?;
                int(0)
            }
            "putchar" => {
                self.say(&[word(0)? as u8])?;
                int(signed(0)?)
            }
            "fflush" | "free" | "setbuf" | "setvbuf" => int(0),
            "malloc" | "alloca" => pointer(self.memory.allocate(word(0)?)?),
            "calloc" => {
                let size = word(0)?.checked_mul(word(1)?).ok_or(Stop::Memory)?;
                pointer(self.memory.allocate(size)?)
            }
            "memset" => {
                self.memory.fill(word(0)?, word(2)?, word(1)? as u8)?;
                pointer(word(0)?)
            }
            "bzero" => {
                self.memory.fill(word(0)?, word(1)?, 0)?;
                int(0)
            }
            "memcpy" | "memmove" | "mempcpy" => {
                self.memory.copy(word(0)?, word(1)?, word(2)?)?;
                let moved = if plain == "mempcpy" { word(2)? } else { 0 };
                pointer(word(0)? + moved)
            }
            "memcmp" | "bcmp" => {
                let a = self.known_bytes(word(0)?, word(2)?)?;
                let b = self.known_bytes(word(1)?, word(2)?)?;
                int(a.cmp(&b) as i128)
            }
            "strlen" => size(self.memory.string(word(0)?)?.len() as u64),
            "strcpy" | "stpcpy" => {
                let mut text = self.memory.string(word(1)?)?;
                text.push(0);
                self.memory.write_bytes(word(0)?, &text)?;
                let moved = if plain == "stpcpy" {
                    text.len() as u64 - 1
                } else {
                    0
                };
                pointer(word(0)? + moved)
            }
            "strncpy" => {
                let mut text = self.memory.string(word(1)?)?;
                text.resize(usize::try_from(word(2)?).map_err(|_| Stop::Memory)?, 0);
                self.memory.write_bytes(word(0)?, &text)?;
                pointer(word(0)?)
            }
            "strcat" => {
                let mut text = self.memory.string(word(1)?)?;
                text.push(0);
                let end = self.memory.string(word(0)?)?.len() as u64;
                self.memory.write_bytes(word(0)? + end, &text)?;
                pointer(word(0)?)
            }
            "strcmp" | "strncmp" => {
                let (mut a, mut b) = (self.memory.string(word(0)?)?, self.memory.string(word(1)?)?);
                if plain == "strncmp" {
                    let most = usize::try_from(word(2)?).unwrap_or(usize::MAX);
                    a.truncate(most);
                    b.truncate(most);
                }
                int(a.cmp(&b) as i128)
            }
            "strchr" | "index" | "strrchr" | "rindex" => {
                let mut text = self.memory.string(word(0)?)?;
                text.push(0);
                let byte = word(1)? as u8;
                let found = match plain {
                    "strchr" | "index" => text.iter().position(|b| *b == byte),
                    _ => text.iter().rposition(|b| *b == byte),
                };
                pointer(match found {
                    Some(at) => word(0)? + at as u64,
                    None => 0,
                })
            }
            "abs" => int(i128::from(low(signed(0)?).wrapping_abs())),
            "labs" | "llabs" => {
                let value = fold::truncate(signed(0)?.wrapping_abs().cast_unsigned(), Ty::SSIZE);
                Some(Datum::Scalar(value, Ty::SSIZE))
            }
            "fabs" | "fabsf" | "isnan" | "isinf" | "signbit" | "signbitf" | "sqrt" | "floor"
            | "ceil" | "copysign" | "copysignf" => float(plain, arguments)?,
            _ => match counted(plain, arguments)? {
                Some(result) => Some(result),
                None => return Err(Stop::Missing(name.to_owned())),
            },
        };
        Ok(result)
    }

    fn print(&mut self, skip: usize, arguments: &[Datum]) -> Run<Option<Datum>> {
        let format = integer(arguments.get(skip), 64, false)? as u64;
        let format = self.memory.string(format)?;
        let text = self.format(&format, arguments.get(skip + 1..).unwrap_or(&[]))?;
        self.say(&text)?;
        Ok(int(text.len() as i128))
    }

    fn say(&mut self, text: &[u8]) -> Run<()> {
        if self.output.len() + text.len() > OUTPUT {
            return Err(Stop::Memory);
        }
        self.output.extend_from_slice(text);
        Ok(())
    }

    fn known_bytes(&mut self, addr: u64, size: u64) -> Run<Vec<u8>> {
        match self.memory.bytes(addr, size)? {
            Some(bytes) => Ok(bytes.to_vec()),
            None => Err(Stop::Unknown("what is in memory")),
        }
    }
}

fn low(value: i128) -> i32 {
    value as i32
}

fn int(value: i128) -> Option<Datum> {
    Some(Datum::Scalar(
        fold::truncate(value.cast_unsigned(), Ty::INT),
        Ty::INT,
    ))
}

fn size(value: u64) -> Option<Datum> {
    Some(Datum::Scalar(u128::from(value), Ty::SIZE))
}

fn pointer(addr: u64) -> Option<Datum> {
    Some(Datum::Scalar(u128::from(addr), Ty::Ptr))
}

fn float(name: &str, arguments: &[Datum]) -> Run<Option<Datum>> {
    let mut values = Vec::new();
    for argument in arguments {
        let Datum::Scalar(bits, from) = argument else {
            return Err(super::FLOAT);
        };
        values.push(fold::float_value(*bits, *from).ok_or(super::FLOAT)?);
    }
    let (Some(x), y) = (
        values.first().copied(),
        values.get(1).copied().unwrap_or(0.0),
    ) else {
        return Err(super::FLOAT);
    };
    let result = match name {
        "isnan" => return Ok(int(i128::from(x.is_nan()))),
        "isinf" => {
            return Ok(int(
                i128::from(x.is_infinite()) * if x > 0.0 { 1 } else { -1 }
            ));
        }
        "signbit" | "signbitf" => return Ok(int(i128::from(x.is_sign_negative()))),
        "fabs" | "fabsf" => x.abs(),
        "sqrt" => x.sqrt(),
        "floor" => x.floor(),
        "ceil" => x.ceil(),
        _ => x.copysign(y),
    };
    let single = matches!(name, "fabsf" | "copysignf");
    let ty = Ty::Float {
        bits: if single { 32 } else { 64 },
    };
    let bits = fold::float_bits(result, ty).ok_or(super::FLOAT)?;
    Ok(Some(Datum::Scalar(bits, ty)))
}

/// `clz` and its kin, `bswap`.
fn counted(name: &str, arguments: &[Datum]) -> Run<Option<Datum>> {
    let stem = name.trim_end_matches('l');
    let bits = match name {
        "bswap16" => 16,
        "bswap32" => 32,
        "bswap64" => 64,
        "bswap128" => 128,
        _ if name.len() > stem.len() => 64,
        _ => 32,
    };
    let known = ["ffs", "clz", "ctz", "popcount", "parity", "clrsb"];
    if !known.contains(&stem) && !name.starts_with("bswap") {
        return Ok(None);
    }
    let ty = Ty::Int {
        bits,
        signed: false,
    };
    let value = match arguments {
        [Datum::Scalar(value, from)] => fold::cast(*value, *from, ty).ok_or(super::FLOAT)?,
        _ => return Err(Stop::Unknown("an argument")),
    };
    let value = fold::truncate(value, ty);
    let unused = 128 - u32::from(bits);
    let signed = fold::value(value, Ty::Int { bits, signed: true });
    let result = match stem {
        "ffs" if value == 0 => 0,
        "ffs" => value.trailing_zeros() + 1,
        "clz" | "ctz" if value == 0 => return Err(Stop::Undefined("bits of zero counted")),
        "clz" => value.leading_zeros() - unused,
        "ctz" => value.trailing_zeros(),
        "popcount" => value.count_ones(),
        "parity" => value.count_ones() % 2,
        "clrsb" => {
            let folded = if signed < 0 { !signed } else { signed };
            folded.leading_zeros() - unused - 1
        }
        _ => return Ok(Some(Datum::Scalar(value.swap_bytes() >> unused, ty))),
    };
    Ok(int(i128::from(result)))
}
