//! Where pointers may lead (Andersen's analysis).
//!
//! In: a linked program. Out: for each register and each object the objects whose addresses it may hold, and the functions that a call
//! may enter. What a number is made into a pointer from is not followed: the machine does not follow it either.

use std::collections::{BTreeMap, BTreeSet};

use super::{At, call_at, steps};
use crate::concurrency::code::{Slot, Step};
use crate::concurrency::program::{Meaning, Program};
use crate::ir::{Arg, Call, Callee, ExprId, ExprKind, StmtKind, SymbolId, TermKind};

/// A piece of memory, as far as the analysis tells pieces apart.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Object {
    /// By its number among the program's globals.
    Global(usize),
    /// A local in memory, in all calls of its function: the code, and the place among its locals in memory.
    Local(usize, usize),
    /// What a call allocates.
    Heap(At),
    /// String literals.
    Text,
    Function(usize),
    /// The values of all threads' keys.
    Keys,
    /// What threads return.
    Results,
}

/// What holds a pointer.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
enum Holder {
    Register(usize, usize),
    Memory(Object),
    /// What a function returns.
    Result(usize),
}

pub type Objects = BTreeSet<Object>;

/// How the arguments of a call reach a function: the call's argument with the number of the parameter that takes it.
pub type Passing = Vec<(usize, usize)>;

pub struct PointsTo<'r, 'p> {
    program: &'r Program<'p>,
    held: BTreeMap<Holder, Objects>,
    changed: bool,
}

/// Functions of the library that give a new object.
const ALLOCATES: &[&str] = &[
    "malloc",
    "calloc",
    "realloc",
    "strdup",
    "aligned_alloc",
    "memalign",
    "valloc",
    "xmalloc",
    "alloca",
    "__cassini_nondet_pointer",
];

impl<'r, 'p> PointsTo<'r, 'p> {
    pub fn new(program: &'r Program<'p>) -> PointsTo<'r, 'p> {
        let mut analysis = PointsTo {
            program,
            held: BTreeMap::new(),
            changed: true,
        };
        while std::mem::take(&mut analysis.changed) {
            for (at, step) in steps(program) {
                analysis.step(at, step);
            }
        }
        analysis
    }

    /// What an expression may point to.
    pub fn pointers(&self, code: usize, expr: ExprId) -> Objects {
        let linked = &self.program.code[code];
        match &linked.code.body.expr(expr).kind {
            ExprKind::AddrLocal(local) => match linked.code.slots[local.index()] {
                Slot::Memory(index) => Objects::from([Object::Local(code, index)]),
                Slot::Register(_) => Objects::new(),
            },
            ExprKind::AddrString(_) => Objects::from([Object::Text]),
            ExprKind::AddrSymbol(symbol) => self.symbol(code, *symbol).into_iter().collect(),
            ExprKind::Load { addr, .. } => match linked.code.register_at(*addr) {
                Some(register) => self.of(Holder::Register(code, register)),
                None => self.contents(&self.pointers(code, *addr)),
            },
            ExprKind::Compare { .. } => Objects::new(),
            kind => {
                let parts = kind.operands();
                parts.flat_map(|part| self.pointers(code, part)).collect()
            }
        }
    }

    /// What lies in any of these objects.
    pub fn contents(&self, objects: &Objects) -> Objects {
        let inside = objects.iter();
        inside
            .flat_map(|object| self.of(Holder::Memory(*object)))
            .collect()
    }

    /// The functions with a body that a call may enter.
    pub fn callees(&self, code: usize, call: &Call) -> Vec<usize> {
        let callee = match &call.callee {
            Callee::Direct(symbol) => self.symbol(code, *symbol).into_iter().collect(),
            Callee::Indirect { function, .. } => self.pointers(code, *function),
        };
        self.functions(&callee)
    }

    /// The functions that a step enters, calls or starts in a thread, with how its arguments reach them.
    pub fn entered(&self, at: At) -> Vec<(usize, Passing)> {
        let Some(call) = call_at(self.program, at) else {
            return Vec::new();
        };
        let all = |skipped: usize| -> Passing {
            let count = call.args.len().saturating_sub(skipped);
            (0..count)
                .map(|number| (number + skipped, number))
                .collect()
        };
        let (function, passing) = match self.primitive(at.code, call) {
            Some("pthread_create") => (2, vec![(3, 0)]),
            Some("thrd_create") => (1, vec![(2, 0)]),
            Some("__cassini_async") => (0, all(1)),
            Some("pthread_once" | "call_once") => (1, Vec::new()),
            Some(_) => return Vec::new(),
            None => {
                let callees = self.callees(at.code, call).into_iter();
                return callees.map(|callee| (callee, all(0))).collect();
            }
        };
        let pointers = self.argument(at.code, call, function);
        let entered = self.functions(&pointers).into_iter();
        entered.map(|entry| (entry, passing.clone())).collect()
    }

    /// Whether a step starts a thread.
    pub fn starts_thread(&self, at: At) -> bool {
        let call = call_at(self.program, at);
        let name = call.and_then(|call| self.primitive(at.code, call));
        matches!(
            name,
            Some("pthread_create" | "thrd_create" | "__cassini_async")
        )
    }

    /// The name of the function that the machine itself executes at a call.
    pub fn primitive(&self, code: usize, call: &Call) -> Option<&'r str> {
        let Callee::Direct(symbol) = call.callee else {
            return None;
        };
        let Meaning::Address(addr) = self.program.code[code].symbols[symbol.index()] else {
            return None;
        };
        let number = self.program.function_at(addr)?;
        let name = self.program.functions[number].name.as_str();
        let own = number >= self.program.initialisers.start;
        (own || crate::concurrency::step::overrides(name)).then_some(name)
    }

    /// What an argument of a call may point to.
    pub fn argument(&self, code: usize, call: &Call, at: usize) -> Objects {
        let arg = call.args.get(at);
        arg.map_or_else(Objects::new, |arg| self.argument_pointers(code, arg))
    }

    fn argument_pointers(&self, code: usize, arg: &Arg) -> Objects {
        match arg {
            Arg::Scalar(expr) => self.pointers(code, *expr),
            Arg::Record { addr, .. } => self.contents(&self.pointers(code, *addr)),
        }
    }

    fn symbol(&self, code: usize, symbol: SymbolId) -> Option<Object> {
        match self.program.code[code].symbols[symbol.index()] {
            Meaning::ThreadLocal(number) => Some(Object::Global(number)),
            Meaning::Address(addr) => match self.program.function_at(addr) {
                Some(number) => Some(Object::Function(number)),
                None => {
                    let globals = &self.program.globals;
                    let at = globals.binary_search_by_key(&addr, |global| global.base);
                    at.ok().map(Object::Global)
                }
            },
        }
    }

    fn functions(&self, objects: &Objects) -> Vec<usize> {
        let numbers = objects.iter().filter_map(|object| match object {
            Object::Function(number) if *number < self.program.initialisers.start => Some(*number),
            _ => None,
        });
        numbers.collect()
    }

    fn of(&self, holder: Holder) -> Objects {
        self.held.get(&holder).cloned().unwrap_or_default()
    }

    fn add(&mut self, holder: Holder, objects: Objects) {
        if objects.is_empty() {
            return;
        }
        let held = self.held.entry(holder).or_default();
        let before = held.len();
        held.extend(objects);
        self.changed |= held.len() > before;
    }

    fn add_to_all(&mut self, places: &Objects, objects: &Objects) {
        for place in places {
            self.add(Holder::Memory(*place), objects.clone());
        }
    }

    fn step(&mut self, at: At, step: &Step<'_>) {
        let code = at.code;
        match step {
            Step::Fetch(_) => {}
            Step::Result(local) => {
                let linked = &self.program.code[code].code;
                let result = Holder::Register(code, linked.result);
                if let Slot::Memory(index) = linked.slots[local.index()] {
                    let place = Holder::Memory(Object::Local(code, index));
                    self.add(place, self.of(result));
                }
            }
            Step::Statement(StmtKind::Store { addr, value }) => {
                let value = self.pointers(code, *value);
                match self.program.code[code].code.register_at(*addr) {
                    Some(register) => self.add(Holder::Register(code, register), value),
                    None => {
                        let places = self.pointers(code, *addr);
                        self.add_to_all(&places, &value);
                    }
                }
            }
            Step::Statement(StmtKind::Copy { dst, src, .. }) => {
                let inside = self.contents(&self.pointers(code, *src));
                let places = self.pointers(code, *dst);
                self.add_to_all(&places, &inside);
            }
            Step::Statement(StmtKind::Call(call)) => self.call(at, call),
            Step::End(TermKind::Return(Some(arg))) => {
                let value = self.argument_pointers(code, arg);
                self.add(Holder::Memory(Object::Results), value.clone());
                self.add(Holder::Result(code), value);
            }
            Step::Statement(_) | Step::End(_) => {}
        }
    }

    fn call(&mut self, at: At, call: &Call) {
        for (callee, passing) in self.entered(at) {
            for (arg, param) in passing {
                let value = self.argument(at.code, call, arg);
                if let Some(place) = self.param(callee, param) {
                    self.add(place, value);
                }
            }
        }
        let result = match self.primitive(at.code, call) {
            Some(name) => self.library(at, call, name),
            None => {
                let callees = self.callees(at.code, call);
                let results = callees.iter();
                results
                    .flat_map(|callee| self.of(Holder::Result(*callee)))
                    .collect()
            }
        };
        let Some(dst) = call.dst else { return };
        let linked = &self.program.code[at.code].code;
        let place = match (linked.slots[dst.index()], linked.body.local(dst).ty) {
            (Slot::Register(register), _) => Holder::Register(at.code, register),
            (Slot::Memory(_), Some(_)) => Holder::Register(at.code, linked.result),
            (Slot::Memory(index), None) => Holder::Memory(Object::Local(at.code, index)),
        };
        self.add(place, result);
    }

    /// What a function of the library does with pointers, and what it hands back.
    fn library(&mut self, at: At, call: &Call, name: &str) -> Objects {
        let plain = name.strip_prefix("__builtin_").unwrap_or(name);
        let argument = |analysis: &Self, number| analysis.argument(at.code, call, number);
        match plain {
            "memcpy" | "memmove" | "mempcpy" | "strcpy" | "strncpy" | "strcat" => {
                let places = argument(self, 0);
                let inside = self.contents(&argument(self, 1));
                self.add_to_all(&places, &inside);
            }
            "realloc" => {
                let inside = self.contents(&argument(self, 0));
                self.add(Holder::Memory(Object::Heap(at)), inside);
            }
            "posix_memalign" => {
                let places = argument(self, 0);
                self.add_to_all(&places, &Objects::from([Object::Heap(at)]));
            }
            "pthread_join" | "thrd_join" => {
                let places = argument(self, 1);
                let results = self.of(Holder::Memory(Object::Results));
                self.add_to_all(&places, &results);
            }
            "pthread_exit" | "thrd_exit" => {
                let value = argument(self, 0);
                self.add(Holder::Memory(Object::Results), value);
            }
            "pthread_setspecific" | "tss_set" => {
                let value = argument(self, 1);
                self.add(Holder::Memory(Object::Keys), value);
            }
            "pthread_getspecific" | "tss_get" => return self.of(Holder::Memory(Object::Keys)),
            _ => {}
        }
        if ALLOCATES.contains(&plain) {
            return Objects::from([Object::Heap(at)]);
        }
        let args = call.args.iter();
        args.flat_map(|arg| self.argument_pointers(at.code, arg))
            .collect()
    }

    /// Where a function has a parameter.
    fn param(&self, code: usize, number: usize) -> Option<Holder> {
        let linked = &self.program.code[code].code;
        if number >= linked.body.params as usize {
            return None;
        }
        Some(match linked.slots.get(number)? {
            Slot::Register(register) => Holder::Register(code, *register),
            Slot::Memory(index) => Holder::Memory(Object::Local(code, *index)),
        })
    }
}
