//! What threads do with each other: POSIX and C11 threads, and the words of harnesses.
//!
//! In: a call of a function by its name. Out: its result, with the state changed; [`Stop::Blocked`] where the thread has to
//! wait. Each call is one visible step, but that the release of a mutex which nobody only tries to lock is none: no
//! other thread can do more before it than behind it. Locks succeed, and nobody wakes up unasked.

use super::failure::Kind;
use super::machine::{Datum, Machine, Run, Stop};
use super::state::{Birth, MutexKind, State, Sync, Wait, What};
use super::values::Value;
use crate::ir::{Call, Ty};

const EPERM: u128 = 1;
const ESRCH: u128 = 3;
const EBUSY: u128 = 16;
const EDEADLK: u128 = 35;
const ETIMEDOUT: u128 = 110;
/// `PTHREAD_BARRIER_SERIAL_THREAD`.
const SERIAL: u128 = u128::MAX;
/// `thrd_busy`, `thrd_timedout`.
const BUSY: u128 = 1;
const TIMED_OUT: u128 = 4;

/// How a lock is asked for.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Asking {
    Wait,
    Try,
    Timed,
}

/// What a primitive did: the result, or `None` if it has entered another call.
pub type Done = Option<Option<Datum>>;

fn int(number: u128) -> Run<Done> {
    Ok(Some(Some(Datum::Scalar(
        Value::Bits(number & 0xffff_ffff),
        Ty::INT,
    ))))
}

fn misuse(text: &str) -> Stop {
    Stop::Failed(Kind::Misuse(text.to_owned()))
}

impl Machine<'_> {
    /// A call of a primitive for threads; `None` if the name is none.
    pub fn threads(
        &mut self,
        state: &mut State,
        thread: usize,
        name: &str,
        arguments: &[Datum],
        call: &Call,
    ) -> Run<Option<Done>> {
        let done = match name {
            "pthread_create" => self.pthread_create(state, thread, arguments, [0, 2, 3], call)?,
            "thrd_create" => self.pthread_create(state, thread, arguments, [0, 1, 2], call)?,
            "__cassini_async" => self.asynchronous(state, thread, arguments, call)?,
            "pthread_join" | "thrd_join" => self.join(state, thread, arguments, call)?,
            "pthread_exit" | "thrd_exit" => return self.exit(state, thread, arguments),
            "pthread_detach" | "thrd_detach" => {
                let number = self.thread_of(state, arguments)?;
                if let Some(number) = number {
                    state.thread_mut(number).detached = number != 0;
                }
                int(0)?
            }
            "pthread_self" | "thrd_current" => Some(Some(Datum::Scalar(
                Value::Bits(thread as u128 + 1),
                Ty::SIZE,
            ))),
            "pthread_equal" | "thrd_equal" => {
                let left = self.number(state, arguments, 0)?;
                let right = self.number(state, arguments, 1)?;
                int(u128::from(left == right))?
            }
            "__VERIFIER_atomic_begin" | "__cassini_atomic_begin" => {
                self.begin_atomic(state, thread)?;
                Some(None)
            }
            "__VERIFIER_atomic_end" | "__cassini_atomic_end" => {
                self.end_atomic(state, thread);
                Some(None)
            }
            "pthread_once" | "call_once" => self.once(state, thread, arguments, call)?,
            _ => match self.locks(state, thread, name, arguments, call)? {
                Some(done) => done,
                None => return self.waits(state, thread, name, arguments, call),
            },
        };
        Ok(Some(done))
    }

    fn locks(
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
            "pthread_mutex_destroy" | "pthread_spin_destroy" | "mtx_destroy"
            | "pthread_rwlock_destroy" => {
                return self.destroy(state, thread, arguments, call).map(Some);
            }
            _ => return self.read_write(state, thread, name, arguments, call),
        };
        let standard = name.starts_with("mtx");
        self.lock(state, thread, arguments, asked, standard, call)
            .map(Some)
    }

    // ---- threads ----

    fn pthread_create(
        &mut self,
        state: &mut State,
        thread: usize,
        arguments: &[Datum],
        [handle, function, argument]: [usize; 3],
        call: &Call,
    ) -> Run<Done> {
        self.visible(state, thread)?;
        let handle = self.number(state, arguments, handle)?;
        let function = self.function(state, arguments, function)?;
        let argument = arguments.get(argument).cloned();
        let argument = argument.unwrap_or(Datum::Scalar(Value::ZERO, Ty::Ptr));
        let number = state.threads.len();
        let word = Ty::Int {
            bits: u16::from(self.program.pointer) * 8,
            signed: false,
        };
        if handle != 0 {
            self.store(state, thread, handle, word, Value::Bits(number as u128 + 1))?;
        }
        self.taken(state, thread);
        let number = self.create(state, Birth::Thread, function, vec![argument])?;
        self.event(state, thread, What::Created(number));
        _ = call;
        int(0)
    }

    fn asynchronous(
        &mut self,
        state: &mut State,
        thread: usize,
        arguments: &[Datum],
        call: &Call,
    ) -> Run<Done> {
        self.visible(state, thread)?;
        let function = self.function(state, arguments, 0)?;
        let given = arguments.get(1..).unwrap_or(&[]).to_vec();
        self.taken(state, thread);
        let number = self.create(state, Birth::Async, function, given)?;
        self.event(state, thread, What::Created(number));
        _ = call;
        Ok(Some(None))
    }

    fn function(&mut self, state: &mut State, arguments: &[Datum], at: usize) -> Run<usize> {
        let addr = self.number(state, arguments, at)?;
        self.program.function_at(addr).ok_or(Stop::Failed(match addr {
            0 => Kind::NullDereference,
            _ => Kind::WildAccess("a call of what is no function"),
        }))
    }

    fn thread_of(&mut self, state: &mut State, arguments: &[Datum]) -> Run<Option<usize>> {
        let handle = self.number(state, arguments, 0)?;
        let number = usize::try_from(handle).ok().and_then(|handle| handle.checked_sub(1));
        Ok(number.filter(|number| *number < state.threads.len()))
    }

    fn join(
        &mut self,
        state: &mut State,
        thread: usize,
        arguments: &[Datum],
        call: &Call,
    ) -> Run<Done> {
        self.visible(state, thread)?;
        let Some(number) = self.thread_of(state, arguments)? else {
            return int(ESRCH);
        };
        if number == thread {
            return int(EDEADLK);
        }
        if state.thread(number).joined {
            return Err(misuse("a thread is joined twice"));
        }
        if !state.thread(number).finished {
            return Err(Stop::Blocked);
        }
        let result = state.thread(number).result;
        let to = self.number(state, arguments, 1)?;
        self.taken(state, thread);
        if to != 0 {
            let ty = match call_name(call) {
                "thrd_join" => Ty::INT,
                _ => Ty::Ptr,
            };
            self.store(state, thread, to, ty, result)?;
        }
        let joined = state.thread_mut(number);
        joined.joined = true;
        joined.recent = imbl::OrdMap::new();
        self.event(state, thread, What::Call(call.text.clone()));
        int(0)
    }

    /// Ends the thread: `main` without the process.
    fn exit(&mut self, state: &mut State, thread: usize, arguments: &[Datum]) -> Run<Option<Done>> {
        let own = state.thread_mut(thread);
        if let Some(Datum::Scalar(value, _)) = arguments.first() {
            own.result = *value;
        }
        own.detached |= thread == 0;
        let frames = std::mem::take(&mut own.frames);
        for base in frames.iter().flat_map(|frame| &frame.memory) {
            state.memory.remove(*base);
        }
        if state.atomic.is_some_and(|(inside, _)| inside == thread) {
            state.atomic = None;
        }
        Err(Stop::Finished)
    }

    pub fn begin_atomic(&mut self, state: &mut State, thread: usize) -> Run<()> {
        if let Some((inside, depth)) = state.atomic
            && inside == thread
        {
            state.atomic = Some((thread, depth + 1));
            return Ok(());
        }
        self.visible(state, thread)?;
        if state.atomic.is_some() {
            return Err(Stop::Blocked);
        }
        self.taken(state, thread);
        state.atomic = Some((thread, 1));
        Ok(())
    }

    pub fn end_atomic(&mut self, state: &mut State, thread: usize) {
        if let Some((inside, depth)) = state.atomic
            && inside == thread
        {
            state.atomic = (depth > 1).then_some((thread, depth - 1));
            if depth == 1 {
                state.thread_mut(thread).recent = imbl::OrdMap::new();
            }
        }
    }

    // ---- mutexes ----

    /// The address of an object to synchronise by, which must be there.
    fn object(&mut self, state: &mut State, arguments: &[Datum]) -> Run<u64> {
        let addr = self.number(state, arguments, 0)?;
        match state.memory.check(addr, 1, false) {
            Ok(_) => Ok(addr),
            Err(fault) => Err(Stop::Failed(super::machine::fault_kind(fault))),
        }
    }

    /// What a mutex is that was only initialised by its declaration.
    fn mutex(&mut self, state: &State, addr: u64) -> (Option<usize>, u32, MutexKind) {
        match state.sync.get(&addr) {
            Some(Sync::Mutex { owner, depth, kind }) => (*owner, *depth, *kind),
            _ => {
                let at = addr + if self.program.pointer == 8 { 16 } else { 12 };
                let known = match state.memory.check(at, 4, false) {
                    Ok((_, object)) => state.memory.read(&mut self.values, at, object.zero, 4),
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
                        let known = state.memory.read(&mut self.values, attribute, object.zero, 4);
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
        let inside = state.atomic.is_some_and(|(inside, _)| inside == thread);
        if !inside {
            state.thread_mut(thread).recent = imbl::OrdMap::new();
        }
        self.release(state, addr, thread, depth - 1, kind);
        int(0)
    }

    fn release(&mut self, state: &mut State, addr: u64, thread: usize, depth: u32, kind: MutexKind) {
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
            "unlock" => return self.read_write_unlock(state, thread, arguments, call).map(Some),
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
            return Err(misuse("a thread locks a read-write lock that it holds for writing"));
        }
        let free = writer.is_none() && (!write || readers.is_empty());
        if !free && asked == Asking::Wait {
            return Err(Stop::Blocked);
        }
        self.taken(state, thread);
        self.event(state, thread, What::Call(call.text.clone()));
        if !free {
            let error = if asked == Asking::Try { EBUSY } else { ETIMEDOUT };
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
            return Err(misuse("a read-write lock is unlocked that the thread does not hold"));
        }
        self.taken(state, thread);
        self.event(state, thread, What::Call(call.text.clone()));
        state.sync.insert(addr, Sync::ReadWrite { writer, readers });
        int(0)
    }

    // ---- conditions, semaphores, barriers ----

    fn waits(
        &mut self,
        state: &mut State,
        thread: usize,
        name: &str,
        arguments: &[Datum],
        call: &Call,
    ) -> Run<Option<Done>> {
        let done = match name {
            "pthread_cond_wait" | "cnd_wait" => {
                self.condition_wait(state, thread, arguments, None, call)?
            }
            "pthread_cond_timedwait" | "pthread_cond_clockwait" => {
                self.condition_wait(state, thread, arguments, Some(ETIMEDOUT), call)?
            }
            "cnd_timedwait" => {
                self.condition_wait(state, thread, arguments, Some(TIMED_OUT), call)?
            }
            "pthread_cond_signal" | "cnd_signal" => {
                self.signal(state, thread, arguments, false, call)?
            }
            "pthread_cond_broadcast" | "cnd_broadcast" => {
                self.signal(state, thread, arguments, true, call)?
            }
            "pthread_cond_init" | "pthread_cond_destroy" | "cnd_init" | "cnd_destroy" => {
                self.object(state, arguments)?;
                int(0)?
            }
            "sem_init" => {
                let addr = self.object(state, arguments)?;
                let count = self.number(state, arguments, 2)?;
                state.sync.insert(addr, Sync::Semaphore { count });
                int(0)?
            }
            "sem_destroy" | "pthread_barrier_destroy" => int(0)?,
            "sem_wait" | "sem_trywait" | "sem_timedwait" | "sem_post" | "sem_getvalue" => {
                self.semaphore(state, thread, name, arguments, call)?
            }
            "pthread_barrier_init" => {
                let addr = self.object(state, arguments)?;
                let needed = self.number(state, arguments, 2)?;
                let barrier = Sync::Barrier {
                    needed,
                    waiting: 0,
                    round: 0,
                };
                state.sync.insert(addr, barrier);
                int(0)?
            }
            "pthread_barrier_wait" => self.barrier(state, thread, arguments, call)?,
            _ => return self.keys(state, thread, name, arguments),
        };
        Ok(Some(done))
    }

    fn condition_wait(
        &mut self,
        state: &mut State,
        thread: usize,
        arguments: &[Datum],
        timeout: Option<u128>,
        call: &Call,
    ) -> Run<Done> {
        self.visible(state, thread)?;
        let cond = self.object(state, arguments)?;
        let mutex = self.object(state, arguments.get(1..).unwrap_or(&[]))?;
        let (owner, depth, kind) = self.mutex(state, mutex);
        let Some(Wait::Condition { signalled, .. }) = state.thread(thread).wait else {
            if owner != Some(thread) {
                return Err(misuse("a thread waits without the mutex that it names"));
            }
            self.taken(state, thread);
            self.event(state, thread, What::Call(call.text.clone()));
            self.release(state, mutex, thread, depth - 1, kind);
            let wait = Wait::Condition {
                cond,
                signalled: false,
            };
            state.thread_mut(thread).wait = Some(wait);
            return Err(Stop::Blocked);
        };
        if !signalled && timeout.is_none() || owner.is_some() {
            return Err(Stop::Blocked);
        }
        self.taken(state, thread);
        let text = match signalled {
            true => format!("{} returns", call.text),
            false => format!("{} times out", call.text),
        };
        self.event(state, thread, What::Call(text));
        state.thread_mut(thread).wait = None;
        let held = Sync::Mutex {
            owner: Some(thread),
            depth: 1,
            kind,
        };
        state.sync.insert(mutex, held);
        match (signalled, timeout) {
            (false, Some(error)) => int(error),
            _ => int(0),
        }
    }

    fn signal(
        &mut self,
        state: &mut State,
        thread: usize,
        arguments: &[Datum],
        all: bool,
        call: &Call,
    ) -> Run<Done> {
        self.visible(state, thread)?;
        let cond = self.object(state, arguments)?;
        let asleep = Wait::Condition {
            cond,
            signalled: false,
        };
        let mut waiting: Vec<usize> = (0..state.threads.len())
            .filter(|number| state.thread(*number).wait == Some(asleep))
            .collect();
        if !all && waiting.len() > 1 {
            let way = self.pick(state, thread, waiting.len());
            waiting = waiting.get(way).copied().into_iter().collect();
        }
        self.taken(state, thread);
        self.event(state, thread, What::Call(call.text.clone()));
        for number in waiting {
            state.thread_mut(number).wait = Some(Wait::Condition {
                cond,
                signalled: true,
            });
        }
        int(0)
    }

    fn semaphore(
        &mut self,
        state: &mut State,
        thread: usize,
        name: &str,
        arguments: &[Datum],
        call: &Call,
    ) -> Run<Done> {
        self.visible(state, thread)?;
        let addr = self.object(state, arguments)?;
        let count = match state.sync.get(&addr) {
            Some(Sync::Semaphore { count }) => *count,
            _ => 0,
        };
        let left = match name {
            "sem_post" => count + 1,
            "sem_getvalue" => {
                let to = self.number(state, arguments, 1)?;
                let value = Value::Bits(u128::from(count));
                self.store(state, thread, to, Ty::INT, value)?;
                count
            }
            _ if count > 0 => count - 1,
            "sem_wait" => return Err(Stop::Blocked),
            _ => {
                self.taken(state, thread);
                self.event(state, thread, What::Call(call.text.clone()));
                return int(u128::MAX);
            }
        };
        self.taken(state, thread);
        self.event(state, thread, What::Call(call.text.clone()));
        state.sync.insert(addr, Sync::Semaphore { count: left });
        int(0)
    }

    fn barrier(
        &mut self,
        state: &mut State,
        thread: usize,
        arguments: &[Datum],
        call: &Call,
    ) -> Run<Done> {
        self.visible(state, thread)?;
        let addr = self.object(state, arguments)?;
        let Some(Sync::Barrier {
            needed,
            waiting,
            round,
        }) = state.sync.get(&addr).cloned()
        else {
            return Err(misuse("a barrier is used that was not initialised"));
        };
        match state.thread(thread).wait {
            Some(Wait::Barrier { round: begun, .. }) => {
                if begun == round {
                    return Err(Stop::Blocked);
                }
                self.taken(state, thread);
                state.thread_mut(thread).wait = None;
                self.event(state, thread, What::Call(format!("{} returns", call.text)));
                int(0)
            }
            _ => {
                self.taken(state, thread);
                self.event(state, thread, What::Call(call.text.clone()));
                let full = waiting + 1 >= needed;
                let barrier = Sync::Barrier {
                    needed,
                    waiting: if full { 0 } else { waiting + 1 },
                    round: round + u64::from(full),
                };
                state.sync.insert(addr, barrier);
                if full {
                    return int(SERIAL);
                }
                let wait = Wait::Barrier {
                    barrier: addr,
                    round,
                };
                state.thread_mut(thread).wait = Some(wait);
                Err(Stop::Blocked)
            }
        }
    }

    // ---- once, keys ----

    fn once(
        &mut self,
        state: &mut State,
        thread: usize,
        arguments: &[Datum],
        call: &Call,
    ) -> Run<Done> {
        self.visible(state, thread)?;
        let addr = self.object(state, arguments)?;
        let function = self.function(state, arguments, 1)?;
        let (running, done) = match state.sync.get(&addr) {
            Some(Sync::Once { running, done }) => (*running, *done),
            _ => (None, false),
        };
        if running.is_some() {
            return Err(Stop::Blocked);
        }
        self.taken(state, thread);
        self.event(state, thread, What::Call(call.text.clone()));
        if done {
            return int(0);
        }
        if function >= self.program.initialisers.start {
            return Err(Stop::Cut("a function without a body is run once".to_owned()));
        }
        let begun = Sync::Once {
            running: Some(thread),
            done: false,
        };
        state.sync.insert(addr, begun);
        super::step::advance(state, thread);
        let zero = Datum::Scalar(Value::ZERO, Ty::INT);
        self.hand_over(state, thread, call.dst, Some(zero));
        self.enter(state, thread, function, Vec::new(), None)?;
        if let Some(frame) = state.thread_mut(thread).frames.last_mut() {
            frame.once = Some(addr);
        }
        Ok(None)
    }

    pub fn once_done(&mut self, state: &mut State, addr: u64) {
        let done = Sync::Once {
            running: None,
            done: true,
        };
        state.sync.insert(addr, done);
    }

    fn keys(
        &mut self,
        state: &mut State,
        thread: usize,
        name: &str,
        arguments: &[Datum],
    ) -> Run<Option<Done>> {
        let done = match name {
            "pthread_key_create" | "tss_create" => {
                let to = self.number(state, arguments, 0)?;
                let key = Value::Bits(u128::from(state.next_key));
                self.store(state, thread, to, Ty::INT, key)?;
                state.next_key += 1;
                int(0)?
            }
            "pthread_setspecific" | "tss_set" => {
                let key = self.number(state, arguments, 0)?;
                if let Some(Datum::Scalar(value, _)) = arguments.get(1) {
                    state.thread_mut(thread).keys.insert(key, *value);
                }
                int(0)?
            }
            "pthread_getspecific" | "tss_get" => {
                let key = self.number(state, arguments, 0)?;
                let value = state.thread(thread).keys.get(&key).copied();
                let value = value.unwrap_or(Value::ZERO);
                Some(Some(Datum::Scalar(value, Ty::Ptr)))
            }
            "pthread_key_delete" | "tss_delete" => int(0)?,
            _ => return Ok(None),
        };
        Ok(Some(done))
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

fn call_name(call: &Call) -> &str {
    call.text.split('(').next().unwrap_or("").trim()
}
