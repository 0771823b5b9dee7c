//! Strings of the C library, and text for messages.
//!
//! In: calls by their names. Out: results, with memory changed. The bytes of a string are made numbers, so that each string has a length; in an
//! open program they are not looked at.

use super::library::{int, pointer};
use super::machine::{Datum, Machine, Run, Stop};
use super::memory::{Byte, Fill, Storage};
use super::state::State;
use super::threads::Done;
use super::values::Value;
use crate::ir::Ty;

/// Bytes of a string that are looked at.
const TEXT: u64 = 4096;
/// Bytes of a string in an open program, which does not tell.
const UNKNOWN_TEXT: u64 = 256;
const BYTE: Ty = Ty::Int {
    bits: 8,
    signed: false,
};

impl Machine<'_> {
    /// A string literal, for messages.
    pub fn text(&mut self, state: &State, addr: u64) -> String {
        let mut bytes = Vec::new();
        for at in addr..addr.saturating_add(TEXT) {
            let Ok((_, object)) = state.memory.check(at, 1, false) else {
                break;
            };
            match state.memory.byte(&mut self.values, at, object.fill) {
                Byte::Known(0) => break,
                Byte::Known(byte) => bytes.push(byte),
                _ => break,
            }
        }
        String::from_utf8_lossy(&bytes).into_owned()
    }

    pub fn strings(
        &mut self,
        state: &mut State,
        thread: usize,
        name: &str,
        arguments: &[Datum],
    ) -> Run<Option<Done>> {
        let known = [
            "strlen", "strcpy", "strncpy", "strcmp", "strncmp", "strcat", "strdup", "atoi", "atol",
            "memcmp", "strchr",
        ];
        if !known.contains(&name) {
            return Ok(None);
        }
        let first = self.number(state, arguments, 0)?;
        if self.program.open {
            return self.unknown_text(state, thread, name, arguments, first);
        }
        let done = match name {
            "strlen" => {
                let length = self.string(state, thread, first)?.len() as u128;
                Some(Some(Datum::Scalar(Value::Bits(length), Ty::SIZE)))
            }
            "strcpy" | "strcat" | "strncpy" => {
                let from = self.number(state, arguments, 1)?;
                let mut text = self.string(state, thread, from)?;
                text.push(0);
                let at = match name {
                    "strcat" => first + self.string(state, thread, first)?.len() as u64,
                    _ => first,
                };
                if name == "strncpy" {
                    let most = usize::try_from(self.number(state, arguments, 2)?).unwrap_or(0);
                    text.resize(most.min(TEXT as usize), 0);
                }
                self.put(state, thread, at, &text)?;
                pointer(first)
            }
            "strdup" => {
                let mut text = self.string(state, thread, first)?;
                text.push(0);
                let size = text.len() as u64;
                let base = self.allocate(state, thread, size, Storage::Heap, Fill::Unset)?;
                self.put(state, thread, base, &text)?;
                pointer(base)
            }
            "atoi" | "atol" => {
                let text = self.string(state, thread, first)?;
                let text = String::from_utf8_lossy(&text).trim().to_owned();
                int(text.parse::<i64>().map_or(0, i128::from))
            }
            "strchr" => {
                let wanted = self.number(state, arguments, 1)?.to_le_bytes()[0];
                let mut text = self.string(state, thread, first)?;
                text.push(0);
                let at = text.iter().position(|byte| *byte == wanted);
                pointer(at.map_or(0, |at| first + at as u64))
            }
            "memcmp" => {
                let second = self.number(state, arguments, 1)?;
                let size = self.number(state, arguments, 2)?;
                let a = self.bytes(state, thread, first, size)?;
                let b = self.bytes(state, thread, second, size)?;
                int(a.cmp(&b) as i128)
            }
            _ => {
                let second = self.number(state, arguments, 1)?;
                let mut a = self.string(state, thread, first)?;
                let mut b = self.string(state, thread, second)?;
                if name == "strncmp" {
                    let most = usize::try_from(self.number(state, arguments, 2)?).unwrap_or(0);
                    a.truncate(most);
                    b.truncate(most);
                }
                int(a.cmp(&b) as i128)
            }
        };
        Ok(Some(done))
    }

    /// Text of an open program is not known: a function reads and writes its first byte, and gives what it may.
    fn unknown_text(
        &mut self,
        state: &mut State,
        thread: usize,
        name: &str,
        arguments: &[Datum],
        first: u64,
    ) -> Run<Option<Done>> {
        let writes = matches!(name, "strcpy" | "strcat" | "strncpy");
        self.access(state, thread, first, 1, writes)?;
        if matches!(name, "strcmp" | "strncmp" | "memcmp") || writes {
            let second = self.number(state, arguments, 1)?;
            self.access(state, thread, second, 1, false)?;
        }
        Ok(Some(match name {
            "strdup" => {
                let base =
                    self.allocate(state, thread, UNKNOWN_TEXT, Storage::Heap, Fill::Unset)?;
                pointer(base)
            }
            _ if writes => pointer(first),
            _ => Some(None),
        }))
    }

    /// The bytes of a string without its zero.
    fn string(&mut self, state: &mut State, thread: usize, addr: u64) -> Run<Vec<u8>> {
        let mut text = Vec::new();
        for at in addr..addr.saturating_add(TEXT) {
            match self.bytes(state, thread, at, 1)?.first() {
                Some(0) | None => return Ok(text),
                Some(byte) => text.push(*byte),
            }
        }
        Err(Stop::Cut("a string is too long".to_owned()))
    }

    fn bytes(&mut self, state: &mut State, thread: usize, addr: u64, size: u64) -> Run<Vec<u8>> {
        let mut bytes = Vec::new();
        for at in addr..addr.saturating_add(size.min(TEXT)) {
            let value = self.load(state, thread, at, BYTE)?;
            let byte = self.concrete(state, value, 8)?;
            bytes.push(byte.to_le_bytes()[0]);
        }
        Ok(bytes)
    }

    fn put(&mut self, state: &mut State, thread: usize, addr: u64, text: &[u8]) -> Run<()> {
        let fill = self.access(state, thread, addr, text.len() as u64, true)?;
        for (at, byte) in (addr..).zip(text) {
            state.memory.set(at, fill, Byte::Known(*byte));
        }
        Ok(())
    }
}
