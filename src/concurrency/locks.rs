//! Mutexes, spin locks and read-write locks.
//!
//! In: calls by their names. Out: results, with the state changed. The release of a mutex which nobody only tries to lock is
//! no visible step: no other thread can do more before it than behind it. Locks do not fail.

use super::machine::{Datum, Machine, Run, Stop};
use super::program::{Primitive, Takes};
use super::search::footprint::Touched;
use super::state::{MutexKind, State, Sync, What};
use super::threads::{Done, EDEADLK, ETIMEDOUT, TIMED_OUT, int, misuse};
use super::values::Value;
use crate::ir::{Call, Ty};

const EPERM: u128 = 1;
const EBUSY: u128 = 16;
/// `thrd_busy`.
const BUSY: u128 = 1;

/// How a lock is asked for.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Asking {
    Wait,
    Try,
    Timed,
}

impl Machine<'_> {
    pub fn locks(
        &mut self,
        state: &mut State,
        thread: usize,
        name: &str,
        arguments: &[Datum],
        call: &Call,
    ) -> Run<Option<Done>> {
        use Asking::{Timed, Try, Wait};
        let asked = match name {
            "pthread_mutex_lock" | "pthread_spin_lock" | "mtx_lock" => Wait,
            "pthread_mutex_trylock" | "pthread_spin_trylock" | "mtx_trylock" => Try,
            "pthread_mutex_timedlock" | "pthread_mutex_clocklock" | "mtx_timedlock" => Timed,
            "pthread_mutex_unlock" | "pthread_spin_unlock" | "mtx_unlock" => {
                return self.unlock(state, thread, arguments, call).map(Some);
            }
            "pthread_mutex_init" | "pthread_spin_init" | "mtx_init" => {
                return self.mutex_init(state, name, arguments).map(Some);
            }
            "pthread_mutexattr_settype" => {
                let attribute = self.number(state, arguments, 0)?;
                let kind = self.number(state, arguments, 1)?;
                let kind = Value::Bits(u128::from(kind));
                self.store(state, thread, attribute, Ty::INT, kind)?;
                return int(0).map(Some);
            }
            "pthread_mutexattr_init" => {
                let attribute = self.number(state, arguments, 0)?;
                self.store(state, thread, attribute, Ty::INT, Value::ZERO)?;
                return int(0).map(Some);
            }
            "pthread_mutex_destroy"
            | "pthread_spin_destroy"
            | "mtx_destroy"
            | "pthread_rwlock_destroy" => {
                return self.destroy(state, thread, arguments, call).map(Some);
            }
            _ => return self.read_write(state, thread, name, arguments, call),
        };
        let standard = name.starts_with("mtx");
        self.lock(state, thread, arguments, asked, standard, call)
            .map(Some)
    }

    /// The address of an object to synchronise by, which must be there.
    pub fn object(&mut self, state: &mut State, arguments: &[Datum]) -> Run<u64> {
        let addr = self.number(state, arguments, 0)?;
        self.touch(Touched::Object(addr));
        match state.memory.check(addr, 1, false) {
            Ok(_) => Ok(addr),
            Err(fault) => Err(Stop::Failed(super::access::fault_kind(fault))),
        }
    }

    /// What a mutex is that was only initialised by its declaration.
    pub fn mutex(&mut self, state: &State, addr: u64) -> (Option<usize>, u32, MutexKind) {
        match state.sync.get(&addr) {
            Some(Sync::Mutex { owner, depth, kind }) => (*owner, *depth, *kind),
            _ => {
                let at = addr + if self.program.pointer == 8 { 16 } else { 12 };
                let known = match state.memory.check(at, 4, false) {
                    Ok((_, object)) => state.memory.read(&mut self.values, at, object.fill, 4),
                    Err(_) => None,
                };
                let kind = known.and_then(Value::known).unwrap_or(0);
                (None, 0, mutex_kind(kind))
            }
        }
    }

    fn mutex_init(&mut self, state: &mut State, name: &str, arguments: &[Datum]) -> Run<Done> {
        let addr = self.object(state, arguments)?;
        let kind = match name {
            "pthread_mutex_init" => match self.number(state, arguments, 1)? {
                0 => 0,
                attribute => match state.memory.check(attribute, 4, false) {
                    Ok((_, object)) => {
                        let known = state
                            .memory
                            .read(&mut self.values, attribute, object.fill, 4);
                        known.and_then(Value::known).unwrap_or(0)
                    }
                    Err(_) => 0,
                },
            },
            "mtx_init" => u128::from(self.number(state, arguments, 1)? & 1),
            _ => 0,
        };
        let kind = mutex_kind(kind);
        let mutex = Sync::Mutex {
            owner: None,
            depth: 0,
            kind,
        };
        state.sync.insert(addr, mutex);
        int(0)
    }

    fn lock(
        &mut self,
        state: &mut State,
        thread: usize,
        arguments: &[Datum],
        asked: Asking,
        standard: bool,
        call: &Call,
    ) -> Run<Done> {
        self.visible(state, thread)?;
        let addr = self.object(state, arguments)?;
        self.usable(state, addr)?;
        if asked != Asking::Wait && self.tried.insert(addr) {
            self.changed = true;
        }
        let (owner, depth, kind) = self.mutex(state, addr);
        let own = owner == Some(thread);
        let failed = match (owner, kind) {
            (None, _) => None,
            (Some(_), MutexKind::Recursive) if own => None,
            (Some(_), MutexKind::ErrorCheck) if own && asked == Asking::Wait => Some(EDEADLK),
            _ => match asked {
                Asking::Wait if own => {
                    return Err(misuse("a thread locks a mutex that it holds already"));
                }
                Asking::Wait => return Err(Stop::Blocked),
                Asking::Try if standard => Some(BUSY),
                Asking::Try => Some(EBUSY),
                Asking::Timed if standard => Some(TIMED_OUT),
                Asking::Timed => Some(ETIMEDOUT),
            },
        };
        self.taken(state, thread);
        self.event(state, thread, What::Call(call.text.clone()));
        if let Some(error) = failed {
            return int(error);
        }
        let held = Sync::Mutex {
            owner: Some(thread),
            depth: depth + 1,
            kind,
        };
        state.sync.insert(addr, held);
        int(0)
    }

    /// A lock that seed data describes. It may be taken again by whoever holds it: what is wrong with that is for others to say.
    pub fn seeded_lock(
        &mut self,
        state: &mut State,
        thread: usize,
        primitive: Primitive,
        arguments: &[Datum],
        call: &Call,
    ) -> Run<Done> {
        self.visible(state, thread)?;
        let addr = self.number(state, arguments, primitive.parameter as usize)?;
        self.touch(Touched::Object(addr));
        let (owner, depth, kind) = match state.sync.get(&addr) {
            Some(Sync::Mutex { owner, depth, kind }) => (*owner, *depth, *kind),
            _ => (None, 0, MutexKind::Recursive),
        };
        let is_free = owner.is_none_or(|owner| owner == thread);
        if primitive.takes == Takes::Always && !is_free {
            return Err(Stop::Blocked);
        }
        self.taken(state, thread);
        self.event(state, thread, What::Call(call.text.clone()));
        if primitive.takes == Takes::Releases {
            if owner == Some(thread) {
                self.release(state, addr, thread, depth - 1, kind);
            }
            return int(0);
        }
        if is_free {
            let held = Sync::Mutex {
                owner: Some(thread),
                depth: depth + 1,
                kind,
            };
            state.sync.insert(addr, held);
        }
        match primitive.takes {
            Takes::With { success, .. } if is_free => int(success),
            Takes::With { failure, .. } => int(failure),
            _ => int(0),
        }
    }

    fn unlock(
        &mut self,
        state: &mut State,
        thread: usize,
        arguments: &[Datum],
        call: &Call,
    ) -> Run<Done> {
        let addr = self.object(state, arguments)?;
        let tried = self.tried.contains(&addr);
        if tried || self.sequential {
            self.visible(state, thread)?;
        }
        self.usable(state, addr)?;
        let (owner, depth, kind) = self.mutex(state, addr);
        if owner != Some(thread) {
            if kind == MutexKind::ErrorCheck {
                return int(EPERM);
            }
            return Err(misuse(match owner {
                None => "a mutex is unlocked that nobody holds",
                Some(_) => "a mutex is unlocked that another thread holds",
            }));
        }
        if tried || self.sequential {
            self.taken(state, thread);
        }
        self.event(state, thread, What::Call(call.text.clone()));
        self.release(state, addr, thread, depth - 1, kind);
        int(0)
    }

    pub fn release(
        &mut self,
        state: &mut State,
        addr: u64,
        thread: usize,
        depth: u32,
        kind: MutexKind,
    ) {
        let left = Sync::Mutex {
            owner: (depth > 0).then_some(thread),
            depth,
            kind,
        };
        state.sync.insert(addr, left);
    }

    fn usable(&self, state: &State, addr: u64) -> Run<()> {
        match state.sync.get(&addr) {
            Some(Sync::Destroyed) => Err(misuse("a lock is used that was destroyed")),
            _ => Ok(()),
        }
    }

    fn destroy(
        &mut self,
        state: &mut State,
        thread: usize,
        arguments: &[Datum],
        call: &Call,
    ) -> Run<Done> {
        self.visible(state, thread)?;
        let addr = self.object(state, arguments)?;
        let held = match state.sync.get(&addr) {
            Some(Sync::Mutex { owner, .. }) => owner.is_some(),
            Some(Sync::ReadWrite { writer, readers }) => writer.is_some() || !readers.is_empty(),
            _ => false,
        };
        if held {
            return Err(misuse("a lock is destroyed that a thread holds"));
        }
        self.taken(state, thread);
        self.event(state, thread, What::Call(call.text.clone()));
        state.sync.insert(addr, Sync::Destroyed);
        int(0)
    }

    fn read_write(
        &mut self,
        state: &mut State,
        thread: usize,
        name: &str,
        arguments: &[Datum],
        call: &Call,
    ) -> Run<Option<Done>> {
        let Some(name) = name.strip_prefix("pthread_rwlock_") else {
            return Ok(None);
        };
        let (write, asked) = match name {
            "rdlock" => (false, Asking::Wait),
            "wrlock" => (true, Asking::Wait),
            "tryrdlock" => (false, Asking::Try),
            "trywrlock" => (true, Asking::Try),
            "timedrdlock" => (false, Asking::Timed),
            "timedwrlock" => (true, Asking::Timed),
            "unlock" => {
                return self
                    .read_write_unlock(state, thread, arguments, call)
                    .map(Some);
            }
            "init" => {
                let addr = self.object(state, arguments)?;
                state.sync.insert(addr, UNHELD);
                return int(0).map(Some);
            }
            _ => return Ok(None),
        };
        self.visible(state, thread)?;
        let addr = self.object(state, arguments)?;
        self.usable(state, addr)?;
        let (mut writer, mut readers) = held_by(state, addr);
        if writer == Some(thread) && asked == Asking::Wait {
            return Err(misuse(
                "a thread locks a read-write lock that it holds for writing",
            ));
        }
        let free = writer.is_none() && (!write || readers.is_empty());
        if !free && asked == Asking::Wait {
            return Err(Stop::Blocked);
        }
        self.taken(state, thread);
        self.event(state, thread, What::Call(call.text.clone()));
        if !free {
            let error = if asked == Asking::Try {
                EBUSY
            } else {
                ETIMEDOUT
            };
            return int(error).map(Some);
        }
        match write {
            true => writer = Some(thread),
            false => {
                readers.push(thread);
                readers.sort_unstable();
            }
        }
        state.sync.insert(addr, Sync::ReadWrite { writer, readers });
        int(0).map(Some)
    }

    fn read_write_unlock(
        &mut self,
        state: &mut State,
        thread: usize,
        arguments: &[Datum],
        call: &Call,
    ) -> Run<Done> {
        self.visible(state, thread)?;
        let addr = self.object(state, arguments)?;
        let (mut writer, mut readers) = held_by(state, addr);
        if writer == Some(thread) {
            writer = None;
        } else if let Some(at) = readers.iter().position(|reader| *reader == thread) {
            readers.remove(at);
        } else {
            return Err(misuse(
                "a read-write lock is unlocked that the thread does not hold",
            ));
        }
        self.taken(state, thread);
        self.event(state, thread, What::Call(call.text.clone()));
        state.sync.insert(addr, Sync::ReadWrite { writer, readers });
        int(0)
    }
}

const UNHELD: Sync = Sync::ReadWrite {
    writer: None,
    readers: Vec::new(),
};

fn held_by(state: &State, addr: u64) -> (Option<usize>, Vec<usize>) {
    match state.sync.get(&addr) {
        Some(Sync::ReadWrite { writer, readers }) => (*writer, readers.clone()),
        _ => (None, Vec::new()),
    }
}

fn mutex_kind(number: u128) -> MutexKind {
    match number & 3 {
        1 => MutexKind::Recursive,
        2 => MutexKind::ErrorCheck,
        _ => MutexKind::Normal,
    }
}
