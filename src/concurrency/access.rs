//! Accesses to memory: which are visible, and what they read and write.
//!
//! In: addresses. Out: values, or the failure of an access. A word is visible once two threads were seen to access it, one of them
//! writing, without a common lock and behind their last visible steps, or once a thread spins on it.

use std::collections::BTreeSet;

use super::failure::Kind;
use super::machine::{Machine, Run, Stop};
use super::memory::{Fault, Fill, Memory, Storage};
use super::state::{Access, State, What, common, excluded};
use super::values::Value;
use crate::ir::Ty;

/// Words of one object that are visible before all of it is.
const VISIBLE_WORDS: usize = 8;

impl Machine<'_> {
    /// Checks an access, and stops before it if it is visible. Gives what bytes are that were never written.
    pub fn access(
        &mut self,
        state: &mut State,
        thread: usize,
        addr: u64,
        size: u64,
        write: bool,
    ) -> Run<Fill> {
        if size == 0 {
            return Ok(Fill::Zero);
        }
        let (base, object) = match state.memory.check(addr, size, write) {
            Ok(found) => found,
            // Objects of unknown size, at addresses that were chosen.
            Err(Fault::Wild | Fault::Outside | Fault::Constant) if self.program.open => {
                return Err(Stop::Over);
            }
            Err(fault) => {
                // Another thread may still free the object, or have freed it.
                return Err(Stop::Failed(fault_kind(fault)));
            }
        };
        self.shown = false;
        if object.storage == Storage::Constant || self.sequential || state.threads.len() < 2 {
            return Ok(object.fill);
        }
        if !self.is_point(state, thread) {
            return Ok(object.fill);
        }
        if let Some(footprint) = &mut self.footprint {
            for word in addr / 4..=(addr + size - 1) / 4 {
                footprint.word(word, write);
            }
        }
        if self.is_visible(base, addr, size) {
            self.visible(state, thread)?;
            self.taken(state, thread);
            self.shown = true;
            return Ok(object.fill);
        }
        self.note(state, thread, base, addr, size, write);
        Ok(object.fill)
    }

    fn is_visible(&self, base: u64, addr: u64, size: u64) -> bool {
        self.visible_objects.contains(&base)
            || !self.visible_words.is_empty()
                && (addr / 4..=(addr + size - 1) / 4).any(|word| self.visible_words.contains(&word))
    }

    /// Notes an access that is not visible, and makes it so if another thread's is in conflict with it.
    fn note(
        &mut self,
        state: &mut State,
        thread: usize,
        base: u64,
        addr: u64,
        size: u64,
        write: bool,
    ) {
        self.takes(size);
        let locks = state.locks_of(thread);
        let threads = state.threads.len();
        for word in addr / 4..=(addr + size - 1) / 4 {
            for (number, other) in state.threads.iter().enumerate() {
                let conflict = other.recent.get(&word).is_some_and(|access| {
                    (access.written || write)
                        && !state.made_since(number, access.threads, thread)
                        && !state.comes_after(thread, number)
                        && !excluded(&access.locks, &locks)
                });
                if number != thread && conflict {
                    self.make_visible(base, word);
                }
            }
            let known = state.thread(thread).recent.get(&word);
            let access = match known {
                None => Access {
                    written: write,
                    threads,
                    locks: locks.clone(),
                },
                Some(known)
                    if (known.written || !write)
                        && known.threads == threads
                        && known.locks == locks =>
                {
                    continue;
                }
                Some(known) => Access {
                    written: known.written || write,
                    threads,
                    locks: common(&known.locks, &locks),
                },
            };
            state.thread_mut(thread).recent.insert(word, access);
        }
    }

    pub fn make_visible(&mut self, base: u64, word: u64) {
        if !self.visible_words.insert(word) {
            return;
        }
        self.changed = true;
        let count = self.visible_count.entry(base).or_default();
        *count += 1;
        if *count >= VISIBLE_WORDS {
            self.visible_objects.insert(base);
        }
    }

    /// A free of an object counts as a write to all of it; the release is visible if any of it is.
    pub fn access_whole(
        &mut self,
        state: &mut State,
        thread: usize,
        base: u64,
        size: u64,
    ) -> Run<()> {
        let object = state.memory.object(base).map(|(_, object)| object.fill);
        if object == Some(Fill::Environment) {
            // Its size is not known: the words count that others have accessed.
            let words = (base / 4)..(base + size) / 4;
            let recent = state.threads.iter().flat_map(|other| other.recent.keys());
            let known = recent.chain(&self.visible_words).copied();
            let known: BTreeSet<u64> = known.filter(|word| words.contains(word)).collect();
            for word in known {
                self.access(state, thread, word * 4, 4, true)?;
            }
        } else if size > 0 {
            self.access(state, thread, base, size, true)?;
        }
        Ok(())
    }

    /// Reads a scalar. What was never written becomes an unknown.
    pub fn load(&mut self, state: &mut State, thread: usize, addr: u64, ty: Ty) -> Run<Value> {
        let size = ty.size(self.program.pointer);
        let fill = self.access(state, thread, addr, size, false)?;
        let value = match state.memory.read(&mut self.values, addr, fill, size) {
            Some(value) => value,
            None => {
                let width = u16::try_from(size * 8).unwrap_or(64);
                let value = self.draw(state, thread, width);
                state
                    .memory
                    .write(&mut self.values, addr, fill, size, value);
                value
            }
        };
        let word = Ty::Int {
            bits: u16::from(self.program.pointer) * 8,
            signed: true,
        };
        let value = match ty {
            Ty::Ptr => self.values.cast(value, word, ty).unwrap_or(value),
            Ty::Int { bits, .. } if u64::from(bits) < size * 8 => {
                let whole = Ty::Int {
                    bits: u16::try_from(size * 8).unwrap_or(64),
                    signed: false,
                };
                self.values.cast(value, whole, ty).unwrap_or(value)
            }
            _ => value,
        };
        if self.shown || self.inside(state, thread, addr) {
            self.event(state, thread, What::Read { addr, size, value });
        }
        Ok(value)
    }

    pub fn store(
        &mut self,
        state: &mut State,
        thread: usize,
        addr: u64,
        ty: Ty,
        value: Value,
    ) -> Run<()> {
        let size = ty.size(self.program.pointer);
        let fill = self.access(state, thread, addr, size, true)?;
        if self.program.open && matches!(ty, Ty::Int { .. }) {
            self.counted(state, value)?;
        }
        state
            .memory
            .write(&mut self.values, addr, fill, size, value);
        if self.shown || self.inside(state, thread, addr) {
            self.event(state, thread, What::Write { addr, size, value });
        }
        Ok(())
    }

    /// An access of an atomic section to an object of static storage: worth showing.
    fn inside(&self, state: &State, thread: usize, addr: u64) -> bool {
        state.atomic.is_some_and(|(inside, _)| inside == thread)
            && state.threads.len() > 1
            && self.program.global_at(addr).is_some()
    }

    /// Allocates on a thread's part of the heap, or its stack.
    pub fn allocate(
        &mut self,
        state: &mut State,
        thread: usize,
        size: u64,
        storage: Storage,
        fill: Fill,
    ) -> Run<u64> {
        let own = state.thread_mut(thread);
        let place = match storage {
            Storage::Heap => &mut own.heap,
            _ => &mut own.stack,
        };
        let base = *place;
        *place += Memory::room(size);
        if state.memory.place(base, size, storage, fill) {
            Ok(base)
        } else {
            Err(Stop::Cut("an object is too large".to_owned()))
        }
    }
}

pub fn fault_kind(fault: Fault) -> Kind {
    match fault {
        Fault::Null => Kind::NullDereference,
        Fault::Freed => Kind::UseAfterFree,
        Fault::Wild => Kind::WildAccess("an access where no object is"),
        Fault::Outside => Kind::WildAccess("an access beyond the end of an object"),
        Fault::Constant => Kind::WildAccess("a write to a constant"),
    }
}
