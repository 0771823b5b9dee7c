//! What an initialiser leaves in an object of static storage.
//!
//! In: the statements that lowering makes of an initialiser. Out: an [`Image`], from which scalars are read.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::{Expr, ExprId, ExprKind, Stmt, StmtKind, Symbol, SymbolId, SymbolKind, SymbolName, Ty};

/// An image of more cells is not kept.
const MAX_CELLS: usize = 64;
/// Bytes of a string that a pointer in an image leads to.
const MAX_TEXT: usize = 256;

/// What a scalar of an image is.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Scalar {
    Bits(u128),
    /// So many bytes past the beginning of an object or a function.
    Address {
        symbol: SymbolName,
        offset: i64,
    },
    /// The address of a string literal.
    Text(Vec<u8>),
    /// Nothing that is known.
    Unknown,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
struct Cell {
    bytes: u64,
    value: Scalar,
}

/// The contents of an object: zero but for its cells, which do not overlap.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Image {
    cells: BTreeMap<u64, Cell>,
    /// There is no initialiser.
    pub implicit: bool,
}

/// The tables that expressions refer to.
#[derive(Clone, Copy)]
pub struct Tables<'a> {
    pub exprs: &'a [Expr],
    pub symbols: &'a [Symbol],
    pub strings: &'a [Vec<u8>],
    /// Bytes of a pointer.
    pub pointer: u8,
}

impl Image {
    /// What an object without an initialiser holds.
    pub fn zero() -> Image {
        Image {
            implicit: true,
            ..Image::default()
        }
    }

    /// What these statements leave in an object that was zero; `None` if they do more than to fill it with constants, or if
    /// it has too many.
    pub fn of(object: SymbolId, tables: Tables<'_>, stmts: &[Stmt]) -> Option<Image> {
        let mut image = Image::default();
        for stmt in stmts {
            match &stmt.kind {
                StmtKind::Zero { dst, size } => {
                    let at = tables.within(*dst, object)?;
                    image.clear(at, *size);
                }
                StmtKind::Havoc { dst, size } => {
                    let at = tables.within(*dst, object)?;
                    image.set(at, *size, Scalar::Unknown);
                }
                StmtKind::Store { addr, value } => {
                    let at = tables.within(*addr, object)?;
                    let bytes = tables.exprs[value.index()].ty.size(tables.pointer);
                    let value = tables.scalar(*value, object, &image);
                    image.set(at, bytes, value);
                }
                StmtKind::Copy { dst, src, size } => {
                    let at = tables.within(*dst, object)?;
                    match tables.exprs[src.index()].kind {
                        ExprKind::AddrString(id) => {
                            image.set_text(at, *size, &tables.strings[id.index()]);
                        }
                        _ => image.set(at, *size, Scalar::Unknown),
                    }
                }
                _ => return None,
            }
            if image.cells.len() > MAX_CELLS {
                return None;
            }
        }
        Some(image)
    }

    /// The scalar of so many bytes at an offset.
    pub fn read(&self, offset: u64, bytes: u64) -> Scalar {
        if let Some(cell) = self.cells.get(&offset)
            && cell.bytes == bytes
        {
            return cell.value.clone();
        }
        if bytes > 16 {
            return Scalar::Unknown;
        }
        let mut value = 0u128;
        for (&start, cell) in self.overlapping(offset, bytes) {
            let Scalar::Bits(bits) = cell.value else {
                return Scalar::Unknown;
            };
            for byte in start.max(offset)..(start + cell.bytes).min(offset + bytes) {
                let one = bits >> ((byte - start) * 8) & 0xff;
                value |= one << ((byte - offset) * 8);
            }
        }
        Scalar::Bits(value)
    }

    /// What is not zero: offsets, bytes and scalars.
    pub fn cells(&self) -> impl Iterator<Item = (u64, u64, &Scalar)> {
        let cells = self.cells.iter();
        cells.map(|(offset, cell)| (*offset, cell.bytes, &cell.value))
    }

    /// The objects and functions that it holds addresses of.
    pub fn addresses(&self) -> impl Iterator<Item = &SymbolName> {
        self.cells.values().filter_map(|cell| match &cell.value {
            Scalar::Address { symbol, .. } => Some(symbol),
            _ => None,
        })
    }

    /// Whether an object of one integer has this image.
    pub fn is_integer(stmts: &[Stmt], exprs: &[Expr]) -> bool {
        let [only] = stmts else { return false };
        let StmtKind::Store { addr, value } = only.kind else {
            return false;
        };
        matches!(exprs[addr.index()].kind, ExprKind::AddrSymbol(_))
            && matches!(exprs[value.index()].ty, Ty::Int { .. })
    }

    fn overlapping(&self, offset: u64, bytes: u64) -> impl Iterator<Item = (&u64, &Cell)> {
        let end = offset.saturating_add(bytes);
        let cells = self.cells.range(..end);
        cells.filter(move |(start, cell)| *start + cell.bytes > offset)
    }

    /// Makes bytes zero. Of a cell that is cut in two nothing is known any more.
    fn clear(&mut self, offset: u64, bytes: u64) {
        let cut: Vec<u64> = self
            .overlapping(offset, bytes)
            .map(|(start, _)| *start)
            .collect();
        for start in cut {
            let Some(mut cell) = self.cells.remove(&start) else {
                continue;
            };
            let inside = start >= offset && start + cell.bytes <= offset.saturating_add(bytes);
            if !inside {
                cell.value = Scalar::Unknown;
                self.cells.insert(start, cell);
            }
        }
    }

    fn set(&mut self, offset: u64, bytes: u64, value: Scalar) {
        self.clear(offset, bytes);
        if bytes > 0 && value != Scalar::Bits(0) && self.overlapping(offset, bytes).next().is_none()
        {
            self.cells.insert(offset, Cell { bytes, value });
        }
    }

    fn set_text(&mut self, offset: u64, size: u64, text: &[u8]) {
        self.clear(offset, size);
        let used = text.len().min(usize::try_from(size).unwrap_or(usize::MAX));
        for (index, part) in (0u64..).zip(text[..used].chunks(8)) {
            let value = part
                .iter()
                .rev()
                .fold(0, |value, byte| value << 8 | u128::from(*byte));
            self.set(offset + index * 8, part.len() as u64, Scalar::Bits(value));
        }
    }
}

impl Tables<'_> {
    /// The objects whose addresses these statements store.
    pub fn addresses(&self, stmts: &[Stmt]) -> Vec<SymbolName> {
        let mut open: Vec<ExprId> = Vec::new();
        for stmt in stmts {
            match stmt.kind {
                StmtKind::Store { value, .. } => open.push(value),
                StmtKind::Copy { src, .. } => open.push(src),
                _ => {}
            }
        }
        let mut found = Vec::new();
        while let Some(value) = open.pop() {
            match &self.exprs[value.index()].kind {
                ExprKind::AddrSymbol(symbol) if self.is_object(*symbol) => {
                    found.push(self.symbols[symbol.index()].name.clone());
                }
                // A bit-field is put together of the word that it lies in.
                ExprKind::Load { .. } => {}
                kind => open.extend(kind.operands()),
            }
        }
        found.sort();
        found.dedup();
        found
    }

    /// How far within an object an address lies.
    fn within(&self, address: ExprId, object: SymbolId) -> Option<u64> {
        let (found, offset) = self.address(address)?;
        (found == object)
            .then(|| u64::try_from(offset).ok())
            .flatten()
    }

    /// The object that a constant address leads into, and how far.
    fn address(&self, address: ExprId) -> Option<(SymbolId, i64)> {
        match &self.exprs[address.index()].kind {
            ExprKind::AddrSymbol(symbol) => Some((*symbol, 0)),
            ExprKind::Member { base, offset, .. } => {
                let (object, at) = self.address(*base)?;
                Some((object, at.checked_add_unsigned(*offset)?))
            }
            ExprKind::Index { base, index, scale } => {
                let (object, at) = self.address(*base)?;
                let ExprKind::Const(index) = self.exprs[index.index()].kind else {
                    return None;
                };
                let step = (index as i64).checked_mul(i64::try_from(*scale).ok()?)?;
                Some((object, at.checked_add(step)?))
            }
            ExprKind::Cast { arg } if self.exprs[address.index()].ty == Ty::Ptr => {
                self.address(*arg)
            }
            _ => None,
        }
    }

    /// What a value of an initialiser is, in an object that has come so far.
    fn scalar(&self, value: ExprId, object: SymbolId, image: &Image) -> Scalar {
        if let Some(bits) = self.bits(value, object, image) {
            return Scalar::Bits(bits);
        }
        if let ExprKind::AddrString(id) = self.exprs[value.index()].kind
            && self.strings[id.index()].len() <= MAX_TEXT
        {
            return Scalar::Text(self.strings[id.index()].clone());
        }
        match self.address(value) {
            Some((symbol, offset)) => Scalar::Address {
                symbol: self.symbols[symbol.index()].name.clone(),
                offset,
            },
            None => Scalar::Unknown,
        }
    }

    fn is_object(&self, symbol: SymbolId) -> bool {
        matches!(self.symbols[symbol.index()].kind, SymbolKind::Object { .. })
    }

    /// A number; bit-fields are put together of the word that they lie in.
    fn bits(&self, value: ExprId, object: SymbolId, image: &Image) -> Option<u128> {
        let Expr { kind, ty } = &self.exprs[value.index()];
        if let Ty::Float { .. } = ty {
            return None;
        }
        let of = |id: &ExprId| {
            let bits = self.bits(*id, object, image)?;
            Some((bits, self.exprs[id.index()].ty))
        };
        match kind {
            ExprKind::Const(bits) => Some(super::fold::truncate(*bits, *ty)),
            ExprKind::Load { addr, .. } => {
                let at = self.within(*addr, object)?;
                match image.read(at, ty.size(self.pointer)) {
                    Scalar::Bits(bits) => Some(bits),
                    _ => None,
                }
            }
            ExprKind::Unary { op, arg } => {
                let (bits, from) = of(arg)?;
                super::fold::unary(*op, bits, from)
            }
            ExprKind::Binary { op, lhs, rhs } => {
                let ((left, ty), (right, with)) = (of(lhs)?, of(rhs)?);
                super::fold::binary(*op, ty, left, with, right)
            }
            ExprKind::Cast { arg } => {
                let (bits, from) = of(arg)?;
                super::fold::cast(bits, from, *ty)
            }
            _ => None,
        }
    }
}
