//! A program to run: bodies, linked.
//!
//! In: what the front end made of each unit of a closed program; or functions of an open one, with the objects that nothing changes. Out: one table
//! of functions and objects, with addresses. Of several definitions of one name the first counts, as a linker takes the first that it meets.

use std::collections::BTreeMap;

use rustc_hash::FxHashMap;

use super::code::Code;
use super::memory::Memory;
use crate::ir::{Body, Image, Scalar, SymbolKind, SymbolName};

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
    /// What it holds, if no initialiser among the bodies says it.
    pub image: Option<BTreeMap<u64, (u64, u128)>>,
}

/// What a primitive does to the lock that a parameter leads to.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Primitive {
    pub parameter: u32,
    pub takes: Takes,
}

/// Whether a primitive takes a lock.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Takes {
    Always,
    /// With one result it has taken it, with the other it has not.
    With {
        success: u128,
        failure: u128,
    },
    Releases,
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
    /// The program is part of one whose past is not known: what no initialiser or image says is any value ([`super::environment`]).
    pub open: bool,
    /// Locks of an open program that the machine does not know by itself.
    pub primitives: FxHashMap<String, Primitive>,
    /// `abort` ends an execution that is of no interest, as in SV-COMP's programs, and is no failure.
    pub abort_is_quiet: bool,
}

impl<'a> Program<'a> {
    pub fn link(
        functions: impl IntoIterator<Item = &'a Body>,
        objects: impl IntoIterator<Item = &'a Body>,
    ) -> Program<'a> {
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
            open: false,
            primitives: FxHashMap::default(),
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

    /// Some functions of an open program, and what the objects hold that nothing in it changes.
    pub fn link_open(
        functions: impl IntoIterator<Item = &'a Body>,
        constants: &BTreeMap<SymbolName, Image>,
        primitives: FxHashMap<String, Primitive>,
    ) -> Program<'a> {
        let mut program = Program::link(functions, []);
        program.open = true;
        program.primitives = primitives;
        let addresses: FxHashMap<SymbolName, u64> = program
            .globals
            .iter()
            .map(|global| (global.name.clone(), global.base))
            .chain(
                (0..)
                    .zip(&program.functions)
                    .map(|(number, name)| (name.clone(), FUNCTIONS + number * STRIDE)),
            )
            .collect();
        for at in 0..program.globals.len() {
            let Some(image) = constants.get(&program.globals[at].name) else {
                continue;
            };
            let mut cells = BTreeMap::new();
            for (offset, bytes, scalar) in image.cells() {
                let bits = match scalar {
                    Scalar::Bits(bits) => Some(*bits),
                    Scalar::Address { symbol, offset } => {
                        let base = addresses.get(symbol);
                        base.map(|base| u128::from(base.wrapping_add_signed(*offset)))
                    }
                    Scalar::Text(text) => Some(u128::from(program.string(text))),
                    Scalar::Unknown => None,
                };
                if let Some(bits) = bits {
                    cells.insert(offset, (bytes, bits));
                }
            }
            program.globals[at].image = Some(cells);
        }
        program
    }

    /// Gives a string literal its place.
    fn string(&mut self, bytes: &[u8]) -> u64 {
        let addr = self.end;
        self.strings.push((addr, bytes.to_vec()));
        self.end += Memory::room(bytes.len() as u64);
        addr
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
                    image: None,
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
            strings.push(self.string(bytes));
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
                || self.is_atomic(name)
                || name.starts_with(super::step::ATOMIC)
        })
    }

    /// Whether a function of this name is an atomic operation of the kernel's. A closed program is executed as it is written.
    pub fn is_atomic(&self, name: &str) -> bool {
        self.open && super::atomics::is_atomic(name)
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
