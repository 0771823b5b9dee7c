//! What threads do with each other: POSIX and C11 threads, and the words of harnesses.
//!
//! In: a call of a function by its name. Out: its result, with the state changed; [`Stop::Blocked`] where the thread has to
//! wait. Each call is one visible step. Locks are in [`super::locks`], condition variables, semaphores and barriers in [`super::waits`].

use super::failure::Kind;
use super::machine::{Datum, Machine, Run, Stop};
use super::search::footprint::Touched;
use super::state::{Birth, State, Sync, What};
use super::values::Value;
use crate::ir::{Call, Ty};

/// Threads that are made in one transition.
const AT_ONCE: usize = 16;

const ESRCH: u128 = 3;
pub const EDEADLK: u128 = 35;
pub const ETIMEDOUT: u128 = 110;
/// `thrd_timedout`.
pub const TIMED_OUT: u128 = 4;
/// What a primitive did: the result, or `None` if it has entered another call.
pub type Done = Option<Option<Datum>>;

pub fn int(number: u128) -> Run<Done> {
    Ok(Some(Some(Datum::Scalar(
        Value::Bits(number & 0xffff_ffff),
        Ty::INT,
    ))))
}

pub fn misuse(text: &str) -> Stop {
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

    // ---- threads ----

    fn pthread_create(
        &mut self,
        state: &mut State,
        thread: usize,
        arguments: &[Datum],
        [handle, function, argument]: [usize; 3],
        call: &Call,
    ) -> Run<Done> {
        self.before_creation(state, thread)?;
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
        self.created(state, thread);
        let number = self.create(state, thread, Birth::Thread, function, vec![argument])?;
        self.event(state, thread, What::Created(number));
        _ = call;
        int(0)
    }

    /// That a thread is made is a visible step of sequential versions, which choose there. Otherwise what the others do before it they can
    /// do behind it as well; but a loop that makes threads without an end must not keep them from running.
    fn before_creation(&mut self, state: &State, thread: usize) -> Run<()> {
        match self.sequential || self.made >= AT_ONCE {
            true => self.visible(state, thread),
            false => Ok(()),
        }
    }

    fn created(&mut self, state: &mut State, thread: usize) {
        self.made += 1;
        if state.thread(thread).permit {
            self.taken(state, thread);
        }
    }

    fn asynchronous(
        &mut self,
        state: &mut State,
        thread: usize,
        arguments: &[Datum],
        call: &Call,
    ) -> Run<Done> {
        self.before_creation(state, thread)?;
        let function = self.function(state, arguments, 0)?;
        let given = arguments.get(1..).unwrap_or(&[]).to_vec();
        self.created(state, thread);
        let number = self.create(state, thread, Birth::Async, function, given)?;
        self.event(state, thread, What::Created(number));
        _ = call;
        Ok(Some(None))
    }

    fn function(&mut self, state: &mut State, arguments: &[Datum], at: usize) -> Run<usize> {
        let addr = self.number(state, arguments, at)?;
        self.program
            .function_at(addr)
            .ok_or(Stop::Failed(match addr {
                0 => Kind::NullDereference,
                _ => Kind::WildAccess("a call of what is no function"),
            }))
    }

    fn thread_of(&mut self, state: &mut State, arguments: &[Datum]) -> Run<Option<usize>> {
        let handle = self.number(state, arguments, 0)?;
        let number = usize::try_from(handle)
            .ok()
            .and_then(|handle| handle.checked_sub(1));
        let number = number.filter(|number| *number < state.threads.len());
        if let Some(number) = number {
            self.touch(Touched::Thread(number));
        }
        Ok(number)
    }

    fn join(
        &mut self,
        state: &mut State,
        thread: usize,
        arguments: &[Datum],
        call: &Call,
    ) -> Run<Done> {
        let joining = self.thread_of(state, arguments)?;
        let ended = joining.is_some_and(|number| state.thread(number).finished);
        state.thread_mut(thread).joining = joining.filter(|_| !ended);
        if !ended || self.sequential {
            self.visible(state, thread)?;
        }
        let Some(number) = joining else {
            return int(ESRCH);
        };
        if number == thread {
            return int(EDEADLK);
        }
        if state.thread(number).joined.is_some() {
            return Err(misuse("a thread is joined twice"));
        }
        if !ended {
            return Err(Stop::Blocked);
        }
        let result = state.thread(number).result;
        let to = self.number(state, arguments, 1)?;
        if state.thread(thread).permit {
            self.taken(state, thread);
        }
        if to != 0 {
            let ty = match call_name(call) {
                "thrd_join" => Ty::INT,
                _ => Ty::Ptr,
            };
            self.store(state, thread, to, ty, result)?;
        }
        let threads = state.threads.len();
        state.thread_mut(number).joined = Some((thread, threads));
        let mut others = (0..threads).filter(|other| *other != thread);
        if others.all(|other| state.thread(other).finished) {
            for other in (0..threads).filter(|other| *other != thread) {
                state.thread_mut(other).recent = imbl::OrdMap::new();
            }
        }
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
            if let Some(footprint) = &mut self.footprint {
                footprint.whole = true;
            }
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
            return Err(Stop::Cut(
                "a function without a body is run once".to_owned(),
            ));
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

    pub fn keys(
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

fn call_name(call: &Call) -> &str {
    call.text.split('(').next().unwrap_or("").trim()
}
