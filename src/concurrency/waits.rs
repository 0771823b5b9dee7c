//! Condition variables, semaphores and barriers.
//!
//! In: calls by their names. Out: results, with the state changed. A wait has two halves, each a visible step: the thread gives up
//! what it holds and sleeps, and goes on later. Nobody wakes up unasked.

use super::machine::{Datum, Machine, Run, Stop};
use super::state::{State, Sync, Wait, What};
use super::threads::{Done, ETIMEDOUT, TIMED_OUT, int, misuse};
use super::values::Value;
use crate::ir::{Call, Ty};

/// `PTHREAD_BARRIER_SERIAL_THREAD`.
const SERIAL: u128 = u128::MAX;

impl Machine<'_> {
    pub fn waits(
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
}
