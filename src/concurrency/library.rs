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
use crate::ir::{Call, RetTy, Ty};

/// Bytes of a string that are looked at.
const TEXT: u64 = 4096;
/// Bytes of a string, of a block, and of what is copied or set, in an open program that does not tell.
const UNKNOWN_TEXT: u64 = 256;
const UNKNOWN_BLOCK: u64 = 1 << 16;
const UNKNOWN_PART: u64 = 16;
const BYTE: Ty = Ty::Int {
    bits: 8,
    signed: false,
};

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

fn int(number: i128) -> Done {
    let bits = number.cast_unsigned() & 0xffff_ffff;
    Some(Some(Datum::Scalar(Value::Bits(bits), Ty::INT)))
}

fn pointer(addr: u64) -> Done {
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
                    let bit = self
                        .values
                        .binary(crate::ir::BinOp::And, ty, value, ty, one);
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
            "malloc" | "valloc" | "xmalloc" | "alloca" | "aligned_alloc" | "memalign" => {
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
            "free" | "cfree" => {
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

    fn strings(
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
