//! What a function that prints by a format reads: the text of each `%s`.
//!
//! In: the summary, the call site and the state before the call. Out: the accesses, checked. Null is none of them: C libraries print
//! something for it.

use super::literal;
use crate::ir::POINTER_BITS;
use crate::summary::Summary;
use crate::symbolic::access::{Accessor, Way};
use crate::symbolic::callee::CallSite;
use crate::symbolic::exec::{ArgValue, Executor};
use crate::symbolic::state::State;

/// Conversions of one format that are looked at.
const MAX_CONVERSIONS: usize = 32;

/// Checks the texts that the call reads.
pub(super) fn check_texts(
    exec: &mut Executor<'_>,
    state: &mut State,
    summary: &Summary,
    site: &CallSite<'_>,
) {
    let Some(at) = summary.format.filter(|_| exec.arena.watches) else {
        return;
    };
    let first = at as usize + 1;
    let Some(format) = literal::text(exec, site, at as usize) else {
        return;
    };
    for argument in texts(&format) {
        let Some(ArgValue::Scalar(value)) = site.args.get(first + argument) else {
            continue;
        };
        if exec.arena.formula.terms.width(*value) == POINTER_BITS {
            let way = Way {
                argument: Some((first + argument) as u32),
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

/// The arguments behind a format, by number, that are text for it: those of `%s`. Of a format that numbers its arguments itself
/// (`%2$s`), none.
fn texts(format: &[u8]) -> Vec<usize> {
    let (mut found, mut next) = (Vec::new(), 0);
    let mut rest = format.iter().copied().take_while(|&byte| byte != 0);
    for _ in 0..MAX_CONVERSIONS {
        if !rest.by_ref().any(|byte| byte == b'%') {
            break;
        }
        let mut wide = false;
        for byte in rest.by_ref() {
            match byte {
                b'%' => break,
                b'*' => next += 1,
                b'$' => return Vec::new(),
                b'l' | b'L' => wide = true,
                b'0'..=b'9'
                | b'.'
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
                b's' if !wide => {
                    found.push(next);
                    next += 1;
                    break;
                }
                _ => {
                    next += 1;
                    break;
                }
            }
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::texts;

    #[test]
    fn texts_of_formats() {
        let cases: [(&[u8], &[usize]); 6] = [
            (b"%s\n", &[0]),
            (b"%d of %5.2f: %-10s%%%s", &[2, 3]),
            (b"%.*s|%s", &[1, 2]),
            (b"%2$s %1$s", &[]),
            (b"%ls %p %s\0%s", &[2]),
            (b"100%", &[]),
        ];
        for (format, found) in cases {
            assert_eq!(texts(format), found, "{}", String::from_utf8_lossy(format));
        }
    }
}
