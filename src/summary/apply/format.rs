//! What a function that prints by a format reads, the text of each `%s`, and the least that it prints.
//!
//! In: the summary, the call site and the state before the call. Out: the format, if it is a literal, and the accesses, checked. Null is no
//! text that is accessed: C libraries print something for it.

use super::literal;
use crate::ir::POINTER_BITS;
use crate::summary::Summary;
use crate::symbolic::access::{Accessor, Way};
use crate::symbolic::callee::CallSite;
use crate::symbolic::exec::{ArgValue, Executor};
use crate::symbolic::state::State;

/// Conversions of one format that are looked at.
const MAX_CONVERSIONS: usize = 32;

/// What the format says that a call prints by, if it is a literal.
pub(super) fn of_call(
    exec: &mut Executor<'_>,
    summary: &Summary,
    site: &CallSite<'_>,
) -> Option<Format> {
    let at = summary.format? as usize;
    let text = literal::text(exec, site, at)?;
    Some(read(&text, at + 1))
}

/// Checks the texts that the call reads.
pub(super) fn check_texts(
    exec: &mut Executor<'_>,
    state: &mut State,
    format: &Format,
    site: &CallSite<'_>,
) {
    if !exec.arena.watches {
        return;
    }
    for &argument in &format.texts {
        let Some(ArgValue::Scalar(value)) = site.args.get(argument) else {
            continue;
        };
        if exec.arena.formula.terms.width(*value) == POINTER_BITS {
            let way = Way {
                argument: Some(argument as u32),
                ..Way::default()
            };
            let accessor = Accessor::Callee(site, way);
            match exec.arena.record_of(*value) == *value {
                true => exec.check_read(state, *value, accessor),
                // A library prints something for null, but not for the address of a member of a record at null.
                false => {
                    let locations = exec.arena.locations(*value);
                    exec.check_access(state, (*value, &locations), state.guard, accessor);
                    exec.dereference(state, &locations);
                }
            }
        }
    }
}

/// What a format says.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Format {
    /// The arguments, by number, that are text for it: those of `%s`. Where it numbers its arguments itself (`%2$s`), none.
    texts: Vec<usize>,
    /// The least number of characters that are printed: one by `asprintf(&text, "%d", n)`.
    pub(super) least: u32,
}

/// `first`: the number of the argument behind it.
fn read(format: &[u8], first: usize) -> Format {
    let mut found = Format::default();
    let (mut next, mut conversions) = (first, 0);
    let mut numbered = false;
    let mut rest = format.iter().copied().take_while(|&byte| byte != 0);
    while let Some(byte) = rest.next() {
        if byte != b'%' {
            found.least += 1;
            continue;
        }
        conversions += 1;
        if conversions > MAX_CONVERSIONS {
            break;
        }
        let (mut wide, mut precise) = (false, false);
        for byte in rest.by_ref() {
            match byte {
                b'*' => next += 1,
                b'$' => numbered = true,
                b'l' | b'L' => wide = true,
                b'.' => precise = true,
                b'0'..=b'9'
                | b'-'
                | b'+'
                | b' '
                | b'#'
                | b'\''
                | b'h'
                | b'q'
                | b'j'
                | b'z'
                | b't' => {}
                b'%' => {
                    found.least += 1;
                    break;
                }
                _ => {
                    // A number has a digit, unless it is 0 and no digit is asked for (`%.0d`).
                    let number =
                        matches!(byte, b'd' | b'i' | b'u' | b'o' | b'x' | b'X') && !precise;
                    let printed = number || byte == b'c' && !wide;
                    found.least += u32::from(printed || matches!(byte, b'e' | b'f' | b'g' | b'p'));
                    if byte == b's' && !wide {
                        found.texts.push(next);
                    }
                    next += 1;
                    break;
                }
            }
        }
    }
    if numbered {
        found.texts.clear();
    }
    found
}

#[cfg(test)]
mod tests {
    use super::{Format, read};

    #[test]
    fn what_formats_say() {
        let cases: [(&[u8], &[usize], u32); 8] = [
            (b"%s\n", &[0], 1),
            (b"%d of %5.2f: %-10s%%%s", &[2, 3], 9),
            (b"%.*s|%s", &[1, 2], 1),
            (b"%2$s %1$s", &[], 1),
            (b"%ls %p %s\0%s", &[2], 3),
            (b"100%", &[], 3),
            (b"%s%.0d%lc", &[0], 0),
            (b"%zu", &[], 1),
        ];
        for (format, texts, least) in cases {
            let texts = texts.to_vec();
            let text = String::from_utf8_lossy(format);
            assert_eq!(read(format, 0), Format { texts, least }, "{text}");
        }
    }
}
