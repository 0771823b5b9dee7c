//! A closed program: the bodies of its units, linked.
//!
//! In: what the front end made of each unit. Out: one table of functions and objects, with addresses. Of several definitions
//! of one name the first counts, as a linker takes the first that it meets.

use rustc_hash::FxHashMap;

use super::code::Code;
use super::memory::Memory;
use crate::ir::{Body, SymbolKind, SymbolName};

/// Where functions lie: no data is ever there.
const FUNCTIONS: u64 = 1 << 30;
/// Distance between functions.
const STRIDE: u64 = 16;
/// Where objects of static storage begin.
const STATICS: u64 = 0x1_0000;

/// An object of static storage.
pub struct Global {
    pub name: SymbolName,
    pub size: u64,
    pub thread_local: bool,
    pub base: u64,
}

/// What a symbol of a body means.
#[derive(Clone, Copy, Debug)]
pub enum Meaning {
    Address(u64),
    /// The thread's own copy of a global.
    ThreadLocal(usize),
}

pub struct Linked<'a> {
    pub code: Code<'a>,
    pub symbols: Vec<Meaning>,
    pub strings: Vec<u64>,
}

pub struct Program<'a> {
    /// Functions with a body first, then initialisers.
    pub code: Vec<Linked<'a>>,
    pub initialisers: std::ops::Range<usize>,
    /// The names of all functions, those with a body first.
    pub functions: Vec<SymbolName>,
    pub globals: Vec<Global>,
    /// String literals with their addresses.
    pub strings: Vec<(u64, Vec<u8>)>,
    /// Addresses from here on are free.
    pub end: u64,
    /// Bytes of a pointer.
    pub pointer: u8,
    /// `abort` ends an execution that is of no interest, as in SV-COMP's programs, and is no failure.
    pub abort_is_quiet: bool,
}

impl<'a> Program<'a> {
    pub fn link(functions: &'a [Body], objects: &'a [Body]) -> Program<'a> {
        let mut names: FxHashMap<SymbolName, usize> = FxHashMap::default();
        let mut bodies: Vec<&Body> = Vec::new();
        for body in functions {
            if !names.contains_key(&body.name) {
                names.insert(body.name.clone(), bodies.len());
                bodies.push(body);
            }
        }
        let with_body = bodies.len();
        let mut program = Program {
            functions: bodies.iter().map(|body| body.name.clone()).collect(),
            code: Vec::new(),
            initialisers: 0..0,
            globals: Vec::new(),
            strings: Vec::new(),
            end: STATICS,
            pointer: bodies.first().map_or(8, |body| body.pointer_size),
            abort_is_quiet: false,
        };
        let mut seen: Vec<&SymbolName> = Vec::new();
        for body in objects {
            if !seen.contains(&&body.name) {
                seen.push(&body.name);
                bodies.push(body);
            }
        }
        let globals = program.place(&bodies);
        for body in &bodies {
            let linked = program.linked(body, &globals, &mut names);
            program.code.push(linked);
        }
        program.initialisers = with_body..bodies.len();
        program.abort_is_quiet = program
            .functions
            .iter()
            .any(|name| name.name == "reach_error" || name.name.starts_with("__VERIFIER_"));
        program
    }

    /// Gives each object its place, large enough for the largest mention.
    fn place(&mut self, bodies: &[&Body]) -> FxHashMap<SymbolName, usize> {
        let mut index: FxHashMap<SymbolName, usize> = FxHashMap::default();
        for symbol in bodies.iter().flat_map(|body| &body.symbols) {
            let SymbolKind::Object { size, thread_local } = symbol.kind else {
                continue;
            };
            let at = *index.entry(symbol.name.clone()).or_insert_with(|| {
                self.globals.push(Global {
                    name: symbol.name.clone(),
                    size: 0,
                    thread_local: false,
                    base: 0,
                });
                self.globals.len() - 1
            });
            let global = &mut self.globals[at];
            global.size = global.size.max(size);
            global.thread_local |= thread_local;
        }
        for global in &mut self.globals {
            global.base = self.end;
            self.end += Memory::room(global.size);
        }
        index
    }

    fn linked(
        &mut self,
        body: &'a Body,
        globals: &FxHashMap<SymbolName, usize>,
        names: &mut FxHashMap<SymbolName, usize>,
    ) -> Linked<'a> {
        let mut symbols = Vec::with_capacity(body.symbols.len());
        for symbol in &body.symbols {
            symbols.push(match symbol.kind {
                SymbolKind::Object { .. } => match globals.get(&symbol.name) {
                    Some(at) if self.globals[*at].thread_local => Meaning::ThreadLocal(*at),
                    Some(at) => Meaning::Address(self.globals[*at].base),
                    None => Meaning::Address(0),
                },
                SymbolKind::Function { .. } => {
                    let number = *names.entry(symbol.name.clone()).or_insert_with(|| {
                        self.functions.push(symbol.name.clone());
                        self.functions.len() - 1
                    });
                    Meaning::Address(FUNCTIONS + number as u64 * STRIDE)
                }
            });
        }
        let mut strings = Vec::with_capacity(body.strings.len());
        for bytes in &body.strings {
            strings.push(self.end);
            self.strings.push((self.end, bytes.clone()));
            self.end += Memory::room(bytes.len() as u64);
        }
        Linked {
            code: Code::new(body),
            symbols,
            strings,
        }
    }

    /// The function at an address.
    pub fn function_at(&self, addr: u64) -> Option<usize> {
        let offset = addr.checked_sub(FUNCTIONS)?;
        let number = usize::try_from(offset / STRIDE).ok()?;
        (offset.is_multiple_of(STRIDE) && number < self.functions.len()).then_some(number)
    }

    /// Whether a call of this address is visible by itself: of a function that the machine knows, or of an atomic one.
    pub fn is_primitive(&self, addr: u64) -> bool {
        self.function_at(addr).is_some_and(|number| {
            let name = &self.functions[number].name;
            number >= self.initialisers.start
                || super::step::overrides(name)
                || name.starts_with(super::step::ATOMIC)
        })
    }

    /// The function of a name that has a body.
    pub fn function(&self, name: &str) -> Option<usize> {
        let bodies = &self.functions[..self.initialisers.start];
        bodies.iter().position(|known| known.name == name)
    }

    /// The name of what lies at an address of static storage, with how far it is into it.
    pub fn global_at(&self, addr: u64) -> Option<(&Global, u64)> {
        let found = self
            .globals
            .iter()
            .find(|global| (global.base..global.base + global.size.max(1)).contains(&addr))?;
        Some((found, addr - found.base))
    }
}
