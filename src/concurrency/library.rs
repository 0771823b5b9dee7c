//! Functions without a body: the words of harnesses, the part of the C library that programs with threads use, and all others.
//!
//! In: a call by its name. Out: the result, with memory changed. A function that is not known changes nothing, gives an
//! unknown value, and is told.

use super::failure::Kind;
use super::machine::{Datum, Machine, Run, Stop};
use super::memory::{Byte, Fill, Storage};
use super::state::{State, What};
use super::threads::Done;
use super::values::Value;
use crate::ir::{BinOp, Call, RetTy, Ty};

/// Bytes of a block, and of what is copied or set, in an open program that does not tell.
const UNKNOWN_BLOCK: u64 = 1 << 16;
const UNKNOWN_PART: u64 = 16;

/// Functions that do nothing of interest. Those of the first list return 0.
pub const SUCCEED: &[&str] = &[
    "usleep",
    "sleep",
    "nanosleep",
    "sched_yield",
    "pthread_yield",
    "thrd_yield",
    "thrd_sleep",
    "fflush",
    "srand",
    "srandom",
    "setvbuf",
    "setbuf",
    "pthread_attr_init",
    "pthread_attr_destroy",
    "pthread_attr_setdetachstate",
    "pthread_attr_setstacksize",
    "pthread_attr_setscope",
    "pthread_mutexattr_destroy",
    "pthread_condattr_init",
    "pthread_condattr_destroy",
    "pthread_condattr_setclock",
    "pthread_rwlockattr_init",
    "pthread_rwlockattr_destroy",
    "pthread_barrierattr_init",
    "pthread_barrierattr_destroy",
    "pthread_mutexattr_setpshared",
    "pthread_mutexattr_setprotocol",
    "pthread_setcancelstate",
    "pthread_setcanceltype",
    "pthread_testcancel",
    "pthread_setconcurrency",
    "pthread_setname_np",
    "pthread_setaffinity_np",
    "atexit",
    "signal",
    "__VERIFIER_assume_end",
    "fclose",
    "close",
    "fputs",
    "fputc",
    "pthread_sigmask",
    "sigemptyset",
    "sigaddset",
    "alarm",
    "setlocale",
];
const HARMLESS: &[&str] = &[
    "printf",
    "fprintf",
    "puts",
    "putchar",
    "perror",
    "vprintf",
    "vfprintf",
    "putc",
    "fwrite",
    "write",
    "rand",
    "random",
    "time",
    "clock",
    "getpid",
    "getppid",
    "gettid",
    "syscall",
    "rand_r",
    "putchar_unlocked",
    "__printf_chk",
    "__fprintf_chk",
    "strerror",
    "getenv",
    "gettimeofday",
    "clock_gettime",
    "sysconf",
    "snprintf",
    "sprintf",
    "__errno_location",
    "timespec_get",
    "__VERIFIER_print",
    "drand48",
    "lrand48",
    "__builtin_va_start",
    "__builtin_va_end",
];

/// Whether a call changes nothing that the machine knows of, and waits for nothing.
pub fn does_nothing(name: &str) -> bool {
    SUCCEED.contains(&name) || HARMLESS.contains(&name)
}

/// Whether a function without a body is one by which threads are made, ended or ordered.
pub fn synchronises(name: &str) -> bool {
    const PREFIXES: &[&str] = &[
        "pthread_",
        "thrd_",
        "mtx_",
        "cnd_",
        "sem_",
        "tss_",
        "call_once",
    ];
    const WORDS: &[&str] = &["__cassini_async", "atomic_begin", "atomic_end"];
    PREFIXES.iter().any(|prefix| name.starts_with(prefix))
        || WORDS.iter().any(|word| name.ends_with(word))
}

/// Whether a primitive fails where a thread does what it may not do with its object.
pub fn can_be_misused(name: &str) -> bool {
    const PARTS: &[&str] = &[
        "lock",
        "_destroy",
        "cond_wait",
        "cnd_wait",
        "timedwait",
        "_join",
    ];
    PARTS.iter().any(|part| name.contains(part)) && !name.contains("attr")
}

pub fn int(number: i128) -> Done {
    let bits = number.cast_unsigned() & 0xffff_ffff;
    Some(Some(Datum::Scalar(Value::Bits(bits), Ty::INT)))
}

pub fn pointer(addr: u64) -> Done {
    Some(Some(Datum::Scalar(Value::Bits(u128::from(addr)), Ty::Ptr)))
}

impl Machine<'_> {
    /// A call of a function without a body.
    pub fn primitive(
        &mut self,
        state: &mut State,
        thread: usize,
        name: &str,
        arguments: &[Datum],
        call: &Call,
    ) -> Run<Done> {
        if let Some(done) = self.threads(state, thread, name, arguments, call)? {
            return Ok(done);
        }
        if let Some(primitive) = self.program.primitives.get(name).copied() {
            return self.seeded_lock(state, thread, primitive, arguments, call);
        }
        if self.program.open
            && let Some(done) = self.atomic(state, thread, name, arguments)?
        {
            return Ok(done);
        }
        if let Some(done) = self.harness(state, thread, name, arguments, call)? {
            return Ok(done);
        }
        if let Some(done) = self.library(state, thread, name, arguments)? {
            return Ok(done);
        }
        if SUCCEED.contains(&name) {
            return Ok(int(0));
        }
        if !HARMLESS.contains(&name) {
            self.told.insert(format!(
                "{name} is not modelled: it changes nothing and gives an unknown value"
            ));
        }
        Ok(Some(None))
    }

    /// An argument as a number, which may have to be chosen.
    pub fn number(&mut self, state: &mut State, arguments: &[Datum], at: usize) -> Run<u64> {
        match arguments.get(at) {
            Some(Datum::Scalar(value, ty)) => {
                let wide = self.values.cast(*value, *ty, Ty::SIZE).unwrap_or(*value);
                self.address(state, wide)
            }
            _ => Ok(0),
        }
    }

    /// A number of bytes. In an open program an unknown one is taken to be `unknown`, so that it is neither too small nor too large.
    fn bytes_asked(
        &mut self,
        state: &mut State,
        arguments: &[Datum],
        at: usize,
        unknown: u64,
    ) -> Run<u64> {
        match arguments.get(at) {
            Some(Datum::Scalar(Value::Term(_), _)) if self.program.open => Ok(unknown),
            _ => self.number(state, arguments, at),
        }
    }

    fn harness(
        &mut self,
        state: &mut State,
        thread: usize,
        name: &str,
        arguments: &[Datum],
        call: &Call,
    ) -> Run<Option<Done>> {
        let assertion = |text: String| Err(Stop::Failed(Kind::Assertion(text)));
        let done = match name {
            "__assert_fail" | "__assert" | "__assert_rtn" => {
                let text = self.number(state, arguments, 0)?;
                return assertion(self.text(state, text));
            }
            "reach_error" | "__VERIFIER_error" => return assertion(format!("{name}()")),
            "__VERIFIER_assert" | "__cassini_assert" | "assert" => {
                if let Some(Datum::Scalar(value, ty)) = arguments.first()
                    && !self.truth(state, *value, *ty)
                {
                    return assertion(call.text.clone());
                }
                Some(None)
            }
            "__VERIFIER_assume" | "__cassini_assume" => {
                if let Some(Datum::Scalar(value, ty)) = arguments.first() {
                    if !matches!(value, Value::Bits(bits) if *bits != 0) {
                        self.last_step(state, thread)?;
                    }
                    self.assume(state, *value, *ty)?;
                }
                Some(None)
            }
            "__cassini_inputs_end" => {
                state.inputs = false;
                Some(None)
            }
            "__cassini_nondet_pointer" => self.input_pointer(state, thread, arguments)?,
            "abort" => {
                if self.program.abort_is_quiet {
                    self.last_step(state, thread)?;
                }
                return Err(match self.program.abort_is_quiet {
                    true => Stop::Over,
                    false => Stop::Failed(Kind::Aborted),
                });
            }
            "exit" | "_exit" | "_Exit" | "quick_exit" => {
                self.last_step(state, thread)?;
                return Err(Stop::Over);
            }
            _ if name.starts_with("__VERIFIER_nondet_")
                || name.starts_with("__cassini_nondet_") =>
            {
                let RetTy::Scalar(ty) = call.ret else {
                    return Ok(Some(Some(None)));
                };
                let value = self.draw(state, thread, ty.bits());
                state.thread_mut(thread).given.push_back(value);
                if name.ends_with("bool") {
                    let one = Value::Bits(1);
                    let bit = self.values.binary(BinOp::And, ty, value, ty, one);
                    Some(Some(Datum::Scalar(bit.unwrap_or(value), ty)))
                } else {
                    Some(Some(Datum::Scalar(value, ty)))
                }
            }
            _ => return Ok(None),
        };
        Ok(Some(done))
    }

    /// A null pointer, or one to an object of so many unknown bytes.
    fn input_pointer(
        &mut self,
        state: &mut State,
        thread: usize,
        arguments: &[Datum],
    ) -> Run<Done> {
        let size = self.number(state, arguments, 0)?;
        let choice = self.draw(state, thread, 8);
        let null = self.values.is(choice, 8, 0);
        let is_null = self.decide(state, null);
        state.thread_mut(thread).given.push_back(choice);
        if is_null {
            return Ok(pointer(0));
        }
        let base = self.allocate(state, thread, size, Storage::Heap, Fill::Zero)?;
        let mut at = 0;
        while at < size {
            let part = (size - at).min(8);
            let width = u16::try_from(part * 8).unwrap_or(8);
            let value = self.draw(state, thread, width);
            state.thread_mut(thread).given.push_back(value);
            state
                .memory
                .write(&mut self.values, base + at, Fill::Zero, part, value);
            at += part;
        }
        Ok(pointer(base))
    }

    fn library(
        &mut self,
        state: &mut State,
        thread: usize,
        name: &str,
        arguments: &[Datum],
    ) -> Run<Option<Done>> {
        let plain = name.strip_prefix("__builtin_").unwrap_or(name);
        let plain = plain
            .strip_prefix("__")
            .map_or(plain, |rest| rest.strip_suffix("_chk").unwrap_or(plain));
        let done = match plain {
            "malloc" | "valloc" | "xmalloc" | "alloca" | "aligned_alloc" | "memalign"
            | "kmalloc" | "kvmalloc_node" | "vmalloc" => {
                let at = usize::from(matches!(plain, "aligned_alloc" | "memalign"));
                let size = self.bytes_asked(state, arguments, at, UNKNOWN_BLOCK)?;
                let storage = match plain {
                    "alloca" => Storage::Stack,
                    _ => Storage::Heap,
                };
                pointer(self.allocate(state, thread, size, storage, Fill::Unset)?)
            }
            "calloc" => {
                let count = self.bytes_asked(state, arguments, 0, 1)?;
                let size = self.bytes_asked(state, arguments, 1, UNKNOWN_BLOCK)?;
                let size = size.saturating_mul(count);
                pointer(self.allocate(state, thread, size, Storage::Heap, Fill::Zero)?)
            }
            "posix_memalign" => {
                let to = self.number(state, arguments, 0)?;
                let size = self.bytes_asked(state, arguments, 2, UNKNOWN_BLOCK)?;
                let base = self.allocate(state, thread, size, Storage::Heap, Fill::Unset)?;
                self.store(state, thread, to, Ty::Ptr, Value::Bits(u128::from(base)))?;
                int(0)
            }
            "realloc" => self.realloc(state, thread, arguments)?,
            "free" | "cfree" | "kfree" | "kvfree" | "vfree" | "kfree_sensitive" => {
                let addr = self.number(state, arguments, 0)?;
                self.free(state, thread, addr)?;
                Some(None)
            }
            "memset" | "bzero" => {
                let dst = self.number(state, arguments, 0)?;
                let zeroes = plain == "bzero";
                let at = if zeroes { 1 } else { 2 };
                let size = self.bytes_asked(state, arguments, at, UNKNOWN_PART)?;
                let byte = if zeroes {
                    0
                } else {
                    self.number(state, arguments, 1)?
                };
                self.fill(state, thread, dst, size, Byte::Known(byte.to_le_bytes()[0]))?;
                pointer(dst)
            }
            "memcpy" | "memmove" | "mempcpy" => {
                let dst = self.number(state, arguments, 0)?;
                let src = self.number(state, arguments, 1)?;
                let size = self.bytes_asked(state, arguments, 2, UNKNOWN_PART)?;
                self.copy(state, thread, dst, src, size)?;
                pointer(if plain == "mempcpy" { dst + size } else { dst })
            }
            "fork" | "vfork" | "_Fork" => {
                let text = "what a process does that fork has made is not followed";
                self.told.insert(text.to_owned());
                // Any number but 0: an odd one says as much.
                let drawn = self.draw(state, thread, Ty::INT.bits());
                let one = Value::Bits(1);
                let odd = self.values.binary(BinOp::Or, Ty::INT, drawn, Ty::INT, one);
                Some(Some(Datum::Scalar(odd.unwrap_or(one), Ty::INT)))
            }
            "abs" | "labs" => {
                let value = self.number(state, arguments, 0)?;
                int(i128::from(value as u32 as i32).abs())
            }
            _ => return self.strings(state, thread, plain, arguments),
        };
        Ok(Some(done))
    }

    fn realloc(&mut self, state: &mut State, thread: usize, arguments: &[Datum]) -> Run<Done> {
        let old = self.number(state, arguments, 0)?;
        let size = self.bytes_asked(state, arguments, 1, UNKNOWN_BLOCK)?;
        let new = self.allocate(state, thread, size, Storage::Heap, Fill::Unset)?;
        if let Some((base, object)) = state.memory.object(old)
            && object.start(base) == old
            && !object.freed
        {
            let most = base + object.size - old;
            self.copy(state, thread, new, old, most.min(size))?;
        }
        self.free(state, thread, old)?;
        Ok(pointer(new))
    }

    fn free(&mut self, state: &mut State, thread: usize, addr: u64) -> Run<()> {
        if addr == 0 {
            return Ok(());
        }
        match state.memory.object(addr) {
            Some((base, object))
                if object.start(base) == addr && object.storage == Storage::Heap =>
            {
                if object.freed {
                    return Err(Stop::Failed(Kind::DoubleFree));
                }
                self.access_whole(state, thread, base, object.size)?;
                if state.threads.len() > 1 {
                    self.event(state, thread, What::Call("free".to_owned()));
                }
                state.memory.free(base);
                Ok(())
            }
            _ => Err(Stop::Failed(Kind::BadFree)),
        }
    }
}
