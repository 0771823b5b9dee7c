//! Building a body: hash-consed, constant-folded expressions and open basic blocks.
//!
//! In: the lowering's requests. Out: the tables of a [`Body`](crate::ir::Body), tidied by
//! [`super::tidy`]. Code that cannot be reached is dropped as it is built. Expressions are in [`expression`].

mod expression;

use rustc_hash::FxHashMap;

pub use self::expression::Extent;
use self::expression::Nature;
use crate::ir::{
    Block, BlockId, Body, Expr, ExprId, ExprKind, Local, LocalId, MemberOffset, Pos, RetTy, Says,
    Spellings, Stmt, StmtKind, StringId, Symbol, SymbolId, SymbolKind, SymbolName, TermKind,
    Terminator, Ty,
};

/// A block under construction.
#[derive(Debug)]
pub struct OpenBlock {
    pub stmts: Vec<Stmt>,
    pub term: Option<Terminator>,
    /// Edges into the block from code that can be reached; the entry and labels count one more.
    pub preds: u32,
}

#[derive(Debug, Default)]
pub struct Builder {
    /// Bytes of a pointer in memory.
    pointer_size: u8,
    pub exprs: Vec<Expr>,
    natures: Vec<Nature>,
    cons: FxHashMap<Expr, ExprId>,
    pub blocks: Vec<OpenBlock>,
    current: u32,
    pub locals: Vec<Local>,
    /// The first locals, which are the function's parameters.
    pub params: u32,
    /// See [`Body::takes_pointers`].
    pub takes_pointers: bool,
    pub symbols: Vec<Symbol>,
    symbol_ids: FxHashMap<SymbolName, SymbolId>,
    pub strings: Vec<Vec<u8>>,
    string_ids: FxHashMap<Vec<u8>, StringId>,
    pub names: Vec<String>,
    name_ids: FxHashMap<String, u32>,
    pub files: Vec<String>,
    file_ids: FxHashMap<String, u16>,
    pub pos: Pos,
    /// In the order of the text, until the body is finished.
    spellings: Spellings,
}

/// A way out of a branch.
#[derive(Clone, Copy, Debug)]
pub struct Way {
    pub to: BlockId,
    /// What taking it says of the condition as the source has it.
    says: Option<bool>,
}

impl Way {
    pub fn holds(to: BlockId) -> Way {
        let says = Some(true);
        Way { to, says }
    }

    pub fn fails(to: BlockId) -> Way {
        let says = Some(false);
        Way { to, says }
    }

    /// The rest of the condition decides.
    pub fn open(to: BlockId) -> Way {
        Way { to, says: None }
    }
}

impl Builder {
    /// A builder whose entry block is current.
    pub fn new(pointer_size: u8) -> Builder {
        let mut builder = Builder {
            pointer_size,
            ..Builder::default()
        };
        let entry = builder.block();
        builder.enter(entry);
        builder
    }

    // ---- tables ----

    pub fn local(&mut self, local: Local) -> LocalId {
        self.locals.push(local);
        LocalId(narrow(self.locals.len() - 1))
    }

    /// A nameless local for an intermediate value.
    pub fn temporary(&mut self, ty: Ty) -> LocalId {
        self.local(Local {
            name: String::new(),
            size: ty.size(self.pointer_size),
            ty: Some(ty),
            type_name: String::new(),
        })
    }

    /// A nameless local of `size` bytes.
    pub fn temporary_memory(&mut self, size: u64, type_name: String) -> LocalId {
        self.local(Local {
            name: String::new(),
            size,
            ty: None,
            type_name,
        })
    }

    pub fn symbol(&mut self, name: SymbolName, kind: SymbolKind) -> SymbolId {
        if let Some(id) = self.symbol_ids.get(&name) {
            return *id;
        }
        let id = SymbolId(narrow(self.symbols.len()));
        self.symbol_ids.insert(name.clone(), id);
        self.symbols.push(Symbol { name, kind });
        id
    }

    pub fn string(&mut self, bytes: Vec<u8>) -> StringId {
        if let Some(id) = self.string_ids.get(&bytes) {
            return *id;
        }
        let id = StringId(narrow(self.strings.len()));
        self.string_ids.insert(bytes.clone(), id);
        self.strings.push(bytes);
        id
    }

    pub fn name(&mut self, name: &str) -> u32 {
        if let Some(id) = self.name_ids.get(name) {
            return *id;
        }
        let id = narrow(self.names.len());
        self.name_ids.insert(name.to_owned(), id);
        self.names.push(name.to_owned());
        id
    }

    /// The text has a name for a number.
    pub fn tell_constant(&mut self, name: &str, value: i128) {
        self.spellings.constants.push((name.to_owned(), value));
    }

    pub fn tell_offset(&mut self, record: String, member: String, offset: u64) {
        let offset = MemberOffset {
            record,
            member,
            offset,
        };
        self.spellings.offsets.push(offset);
    }

    /// How much is told so far, for [`Self::untell`].
    pub fn told(&self) -> (usize, usize) {
        (self.spellings.constants.len(), self.spellings.offsets.len())
    }

    /// Takes back what has been told since then: it belongs to another text.
    pub fn untell(&mut self, (constants, offsets): (usize, usize)) {
        self.spellings.constants.truncate(constants);
        self.spellings.offsets.truncate(offsets);
    }

    /// All spellings, each once.
    pub fn take_spellings(&mut self) -> Spellings {
        let mut told = std::mem::take(&mut self.spellings);
        told.constants.sort_unstable();
        told.constants.dedup();
        told.offsets.sort_unstable();
        told.offsets.dedup();
        told
    }

    pub fn file(&mut self, file: &str) -> u16 {
        if let Some(id) = self.file_ids.get(file) {
            return *id;
        }
        let id = u16::try_from(self.files.len()).unwrap_or(u16::MAX);
        self.file_ids.insert(file.to_owned(), id);
        self.files.push(file.to_owned());
        id
    }

    // ---- blocks ----

    /// A new, empty block that nothing leads to yet.
    pub fn block(&mut self) -> BlockId {
        self.blocks.push(OpenBlock {
            stmts: Vec::new(),
            term: None,
            preds: 0,
        });
        BlockId(narrow(self.blocks.len() - 1))
    }

    pub fn current(&self) -> BlockId {
        BlockId(self.current)
    }

    pub fn switch_to(&mut self, block: BlockId) {
        self.current = block.0;
    }

    /// Counts an edge into `block` that is no terminator: the entry, a label.
    pub fn enter(&mut self, block: BlockId) {
        self.blocks[block.index()].preds += 1;
    }

    /// Whether nothing leads to the current block.
    pub fn dead(&self) -> bool {
        self.blocks[self.current as usize].preds == 0
    }

    pub fn reached(&self, block: BlockId) -> bool {
        self.blocks[block.index()].preds > 0
    }

    pub fn stmt(&mut self, kind: StmtKind) {
        let pos = self.pos;
        if !self.dead() {
            self.blocks[self.current as usize]
                .stmts
                .push(Stmt { kind, pos });
        }
    }

    pub fn store(&mut self, addr: ExprId, value: ExprId) {
        self.stmt(StmtKind::Store { addr, value });
    }

    /// Ends the current block; what follows is unreachable until [`Builder::switch_to`].
    pub fn terminate(&mut self, kind: TermKind) {
        let at = self.current();
        self.terminate_block(at, kind);
        let next = self.block();
        self.switch_to(next);
    }

    /// Ends `block`, which must be open.
    pub fn terminate_block(&mut self, block: BlockId, kind: TermKind) {
        let pos = self.pos;
        let term = Terminator { kind, pos };
        if self.blocks[block.index()].preds > 0 {
            for successor in term.successors() {
                self.enter(successor);
            }
        }
        self.blocks[block.index()].term = Some(term);
    }

    pub fn goto(&mut self, target: BlockId) {
        self.terminate(TermKind::Goto(target));
    }

    /// A branch on a scalar; a constant condition becomes a jump. Says which block ends in a real
    /// branch.
    pub fn branch(&mut self, cond: ExprId, then: Way, els: Way) -> Option<BlockId> {
        match self.truth(cond) {
            Some(true) => self.goto(then.to),
            Some(false) => self.goto(els.to),
            None => {
                let at = self.current();
                let cond = match self.ty(cond) {
                    Ty::Float { .. } => self.is_true(cond),
                    _ => self.unwidened(cond),
                };
                self.terminate(TermKind::Branch {
                    cond,
                    then: then.to,
                    els: els.to,
                    says: Says {
                        then: then.says,
                        els: els.says,
                    },
                });
                return Some(at);
            }
        }
        None
    }

    /// Takes back the branch that ends `block` and makes it current again: its condition, and where
    /// it went if that held.
    pub fn reopen(&mut self, block: BlockId) -> Option<(ExprId, BlockId)> {
        let open = &mut self.blocks[block.index()];
        match open.term.take() {
            Some(Terminator {
                kind: TermKind::Branch { cond, then, .. },
                ..
            }) => {
                self.current = block.0;
                Some((cond, then))
            }
            term => {
                open.term = term;
                None
            }
        }
    }

    /// A value that may be used twice and later: spilled to a temporary unless it is constant.
    pub fn spill(&mut self, value: ExprId) -> ExprId {
        if self.bits_of(value).is_some() || matches!(self.kind(value), ExprKind::AddrLocal(_)) {
            return value;
        }
        let ty = self.ty(value);
        let temporary = self.temporary(ty);
        let addr = self.addr_local(temporary);
        self.store(addr, value);
        self.load(addr, ty, false)
    }

    /// Spills only what may not be evaluated twice.
    pub fn stable(&mut self, value: ExprId) -> ExprId {
        if self.is_stable(value) {
            value
        } else {
            self.spill(value)
        }
    }

    /// The finished blocks, still with unreachable ones among them.
    pub fn take_blocks(&mut self) -> Vec<Block> {
        self.split_off(BlockId(0))
    }

    /// Takes the finished blocks from `first` on, which nothing before them leads to; numbers start
    /// at 0 again.
    pub fn split_off(&mut self, first: BlockId) -> Vec<Block> {
        let pos = self.pos;
        self.blocks
            .split_off(first.index())
            .into_iter()
            .map(|open| Block {
                stmts: open.stmts,
                term: open.term.unwrap_or(Terminator {
                    kind: TermKind::Unreachable,
                    pos,
                }),
            })
            .map(|mut block| {
                for target in block.term.successors_mut() {
                    target.0 -= first.0;
                }
                block
            })
            .collect()
    }

    /// A body without parameters of these blocks, with copies of the tables.
    pub fn body_of(&self, name: SymbolName, blocks: Vec<Block>) -> Body {
        let mut body = Body {
            name,
            pos: self.pos,
            end_line: self.pos.line,
            params: 0,
            variadic: false,
            takes_pointers: false,
            ret: RetTy::Void,
            pointer_size: self.pointer_size,
            hosted: false,
            locals: self.locals.clone(),
            symbols: self.symbols.clone(),
            strings: self.strings.clone(),
            names: self.names.clone(),
            files: self.files.clone(),
            exprs: self.exprs.clone(),
            blocks,
            spellings: Spellings::default(),
        };
        super::tidy::tidy(&mut body);
        body
    }
}

/// Table lengths fit 32 bits: the text that fills them is far smaller.
fn narrow(index: usize) -> u32 {
    u32::try_from(index).unwrap_or(u32::MAX)
}
