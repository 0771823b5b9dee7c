//! A readable dump of a body, close to C: what `cassini debug ir` shows.
//!
//! In: a [`Body`]. Out: text. Reads and writes of variables, members and elements look as in C;
//! conversions are explicit.

use std::cell::Cell;
use std::fmt::Write as _;

use super::{
    Arg, BinOp, Body, Call, Callee, CmpOp, ExprId, ExprKind, LocalId, RetTy, StmtKind, SymbolKind,
    TermKind, Ty, UnOp,
};

/// Prints a whole body.
pub fn print(body: &Body) -> String {
    let mut out = String::new();
    let printer = Printer {
        body,
        for_reader: false,
        unnamed: Cell::new(false),
    };
    // Writing to a string cannot fail.
    let _ = printer.body(&mut out);
    out
}

/// An expression of a body as the source has it; `None` if it is about a variable that the source does not have.
pub fn source_text(body: &Body, id: ExprId) -> Option<String> {
    let printer = Printer {
        body,
        for_reader: true,
        unnamed: Cell::new(false),
    };
    let text = printer.value(id, 0);
    (!printer.unnamed.get()).then_some(text)
}

struct Printer<'a> {
    body: &'a Body,
    /// Variables of one name are not told apart.
    for_reader: bool,
    /// A variable without a name was printed.
    unnamed: Cell<bool>,
}

/// A type's short name: `i32`, `u8`, `ptr`, `f64`.
pub fn type_name(ty: Ty) -> String {
    match ty {
        Ty::Int { bits, signed: true } => format!("i{bits}"),
        Ty::Int { bits, .. } => format!("u{bits}"),
        Ty::Ptr => "ptr".to_owned(),
        Ty::Float { bits } => format!("f{bits}"),
    }
}

fn operator(op: BinOp) -> (&'static str, u8) {
    match op {
        BinOp::Mul => ("*", 13),
        BinOp::Div => ("/", 13),
        BinOp::Rem => ("%", 13),
        BinOp::Add => ("+", 12),
        BinOp::Sub => ("-", 12),
        BinOp::Shl => ("<<", 11),
        BinOp::Shr => (">>", 11),
        BinOp::And => ("&", 8),
        BinOp::Xor => ("^", 7),
        BinOp::Or => ("|", 6),
    }
}

fn comparison(op: CmpOp) -> (&'static str, u8) {
    match op {
        CmpOp::Lt => ("<", 10),
        CmpOp::Le => ("<=", 10),
        CmpOp::Gt => (">", 10),
        CmpOp::Ge => (">=", 10),
        CmpOp::Eq => ("==", 9),
        CmpOp::Ne => ("!=", 9),
    }
}

impl Printer<'_> {
    fn body(&self, out: &mut String) -> std::fmt::Result {
        let body = self.body;
        write!(out, "{}(", body.name)?;
        let params = body.params as usize;
        for (i, local) in body.locals.iter().take(params).enumerate() {
            let separator = if i == 0 { "" } else { ", " };
            let id = LocalId(u32::try_from(i).unwrap_or(u32::MAX));
            write!(out, "{separator}{}: ", self.local(id))?;
            self.local_type(out, local)?;
        }
        if body.variadic {
            out.push_str(", ...");
        }
        let ret = match body.ret {
            RetTy::Void => "void".to_owned(),
            RetTy::Scalar(ty) => type_name(ty),
            RetTy::Record { size } => format!("[{size}]"),
        };
        let (file, pos) = (body.file(body.pos), body.pos);
        writeln!(out, ") -> {ret}  // {file}:{}-{}", pos.line, body.end_line)?;
        for (i, local) in body.locals.iter().enumerate().skip(params) {
            let id = LocalId(u32::try_from(i).unwrap_or(u32::MAX));
            write!(out, "  local {}: ", self.local(id))?;
            self.local_type(out, local)?;
            out.push('\n');
        }
        for (i, block) in body.blocks.iter().enumerate() {
            writeln!(out, "b{i}:")?;
            for stmt in &block.stmts {
                self.line(out, stmt.pos.line, &self.stmt(&stmt.kind))?;
            }
            self.line(out, block.term.pos.line, &self.term(&block.term.kind))?;
        }
        Ok(())
    }

    fn line(&self, out: &mut String, line: u32, text: &str) -> std::fmt::Result {
        writeln!(out, "{line:>6}  {text}")
    }

    fn local_type(&self, out: &mut String, local: &super::Local) -> std::fmt::Result {
        match local.ty {
            Some(Ty::Ptr) if local.type_name.is_empty() => out.push_str("ptr"),
            Some(Ty::Ptr) => write!(out, "ptr {}", local.type_name)?,
            Some(ty) => out.push_str(&type_name(ty)),
            None => write!(out, "[{}] {}", local.size, local.type_name)?,
        }
        Ok(())
    }

    fn local(&self, id: LocalId) -> String {
        let Some(local) = self.body.locals.get(id.index()) else {
            return format!("%{}", id.0);
        };
        if self.for_reader {
            if let Some(call) = self.result_of(id).filter(|_| local.name.is_empty()) {
                return call.to_owned();
            }
            let unnamed = self.unnamed.get() || local.name.is_empty();
            self.unnamed.set(unnamed);
            return local.name.clone();
        }
        let alike = |other: &super::Local| other.name == local.name;
        if local.name.is_empty() || self.body.locals.iter().filter(|l| alike(l)).count() > 1 {
            return format!("{}%{}", local.name, id.0);
        }
        local.name.clone()
    }

    /// The one call whose result a variable is, as the source has it.
    fn result_of(&self, id: LocalId) -> Option<&str> {
        let stmts = self.body.blocks.iter().flat_map(|block| &block.stmts);
        let calls = stmts.filter_map(|stmt| match &stmt.kind {
            StmtKind::Call(call) if call.dst == Some(id) => Some(&*call.text),
            StmtKind::Store { addr, .. } => {
                let stored =
                    matches!(self.body.expr(*addr).kind, ExprKind::AddrLocal(to) if to == id);
                stored.then_some("")
            }
            _ => None,
        });
        let mut calls = calls.take(2);
        match (calls.next(), calls.next()) {
            (Some(text), None) if !text.is_empty() => Some(text),
            _ => None,
        }
    }

    fn symbol(&self, id: super::SymbolId) -> String {
        match self.body.symbols.get(id.index()) {
            Some(symbol) => symbol.name.name.clone(),
            None => format!("@{}", id.0),
        }
    }

    fn name(&self, name: u32) -> &str {
        self.body
            .names
            .get(name as usize)
            .map_or("?", String::as_str)
    }

    fn stmt(&self, kind: &StmtKind) -> String {
        match kind {
            StmtKind::Store { addr, value } => {
                format!("{} = {}", self.place(*addr), self.value(*value, 0))
            }
            StmtKind::Copy { dst, src, size } => {
                format!(
                    "copy {}, {}, {size}",
                    self.value(*dst, 0),
                    self.value(*src, 0)
                )
            }
            StmtKind::Zero { dst, size } => format!("zero {}, {size}", self.value(*dst, 0)),
            StmtKind::Havoc { dst, size } => format!("havoc {}, {size}", self.value(*dst, 0)),
            StmtKind::Expose { value, in_memory } => {
                let what = if *in_memory {
                    "expose what is at"
                } else {
                    "expose"
                };
                format!("{what} {}", self.value(*value, 0))
            }
            StmtKind::Call(call) => self.call(call),
            StmtKind::Assume(cond) => format!("assume {}", self.value(*cond, 0)),
            StmtKind::Assert(cond) => format!("assert {}", self.value(*cond, 0)),
            StmtKind::ScopeBegin(local) => format!("begin {}", self.local(*local)),
        }
    }

    fn arg(&self, arg: &Arg) -> String {
        match arg {
            Arg::Scalar(expr) => self.value(*expr, 0),
            Arg::Record { addr, size } => format!("[{size}]{}", self.place(*addr)),
        }
    }

    fn call(&self, call: &Call) -> String {
        let args: Vec<String> = call.args.iter().map(|arg| self.arg(arg)).collect();
        let callee = match &call.callee {
            Callee::Direct(id) => {
                let name = self.symbol(*id);
                match self.body.symbols.get(id.index()).map(|s| &s.kind) {
                    Some(SymbolKind::Function { noreturn: true, .. }) => format!("noreturn {name}"),
                    _ => name,
                }
            }
            Callee::Indirect { function, holder } => match holder {
                Some(holder) => format!("(*{})<{holder}>", self.value(*function, 0)),
                None => format!("(*{})", self.value(*function, 0)),
            },
        };
        let text = format!("{callee}({})", args.join(", "));
        match call.dst {
            Some(dst) => format!("{} = call {text}", self.local(dst)),
            None => format!("call {text}"),
        }
    }

    fn term(&self, kind: &TermKind) -> String {
        match kind {
            TermKind::Goto(next) => format!("goto b{}", next.0),
            TermKind::Branch {
                cond, then, els, ..
            } => {
                format!(
                    "if {} goto b{} else b{}",
                    self.value(*cond, 0),
                    then.0,
                    els.0
                )
            }
            TermKind::Switch {
                value,
                cases,
                default,
            } => {
                let mut out = format!("switch {} {{", self.value(*value, 0));
                for (low, high, target) in cases {
                    if low == high {
                        let _ = write!(out, " {low}: b{},", target.0);
                    } else {
                        let _ = write!(out, " {low}...{high}: b{},", target.0);
                    }
                }
                let _ = write!(out, " default: b{} }}", default.0);
                out
            }
            TermKind::Nondet(targets) => {
                let targets: Vec<String> = targets.iter().map(|t| format!("b{}", t.0)).collect();
                format!("goto any of {}", targets.join(", "))
            }
            TermKind::Return(None) => "return".to_owned(),
            TermKind::Return(Some(arg)) => format!("return {}", self.arg(arg)),
            TermKind::Unreachable => "unreachable".to_owned(),
        }
    }

    /// What lies at an address.
    fn place(&self, addr: ExprId) -> String {
        match &self.body.expr(addr).kind {
            ExprKind::AddrLocal(id) => self.local(*id),
            ExprKind::AddrSymbol(id) => self.symbol(*id),
            ExprKind::Member {
                base, name, offset, ..
            } => {
                let name = match self.name(*name) {
                    "" => format!("+{offset}"),
                    name => name.to_owned(),
                };
                if self.is_place(*base) {
                    format!("{}.{name}", self.place(*base))
                } else {
                    format!("{}->{name}", self.value(*base, 15))
                }
            }
            ExprKind::Index { base, index, .. } => {
                let base = if self.is_place(*base) {
                    self.place(*base)
                } else {
                    self.value(*base, 15)
                };
                format!("{base}[{}]", self.value(*index, 0))
            }
            _ => format!("*{}", self.value(addr, 14)),
        }
    }

    fn is_place(&self, addr: ExprId) -> bool {
        matches!(
            self.body.expr(addr).kind,
            ExprKind::AddrLocal(_)
                | ExprKind::AddrSymbol(_)
                | ExprKind::Member { .. }
                | ExprKind::Index { .. }
        )
    }

    fn value(&self, id: ExprId, around: u8) -> String {
        let expr = self.body.expr(id);
        let (text, own) = match &expr.kind {
            ExprKind::Const(bits) => return self.constant(*bits, expr.ty),
            ExprKind::Unknown => return format!("unknown {}", type_name(expr.ty)),
            ExprKind::Opaque { function, args } => {
                let args: Vec<String> = args.iter().map(|arg| self.value(*arg, 0)).collect();
                return format!(
                    "⟦{}⟧({})",
                    self.body.names[*function as usize],
                    args.join(", ")
                );
            }
            ExprKind::AddrString(id) => {
                let bytes = self
                    .body
                    .strings
                    .get(id.index())
                    .map_or(&[][..], Vec::as_slice);
                let text = String::from_utf8_lossy(bytes.strip_suffix(b"\0").unwrap_or(bytes));
                return format!("{text:?}");
            }
            ExprKind::AddrLocal(_)
            | ExprKind::AddrSymbol(_)
            | ExprKind::Member { .. }
            | ExprKind::Index { .. } => (format!("&{}", self.place(id)), 14),
            ExprKind::Load { addr, volatile } => {
                let place = self.place(*addr);
                if *volatile && !self.for_reader {
                    return format!("volatile({place})");
                }
                let own = if place.starts_with('*') { 14 } else { 15 };
                (place, own)
            }
            ExprKind::IsConstant { arg } => (format!("is_constant({})", self.value(*arg, 0)), 15),
            ExprKind::Unary { op, arg } => {
                let sign = match op {
                    UnOp::Neg => "-",
                    UnOp::Not => "~",
                };
                (format!("{sign}{}", self.value(*arg, 14)), 14)
            }
            ExprKind::Binary { op, lhs, rhs } => {
                let (sign, own) = operator(*op);
                let (l, r) = (self.value(*lhs, own), self.value(*rhs, own + 1));
                (format!("{l} {sign} {r}"), own)
            }
            ExprKind::Compare { op, lhs, rhs } => {
                let (sign, own) = comparison(*op);
                let (l, r) = (self.value(*lhs, own), self.value(*rhs, own + 1));
                (format!("{l} {sign} {r}"), own)
            }
            // Most conversions are not written in the source, and the others with a name that the body does not have.
            ExprKind::Cast { arg } if self.for_reader => return self.value(*arg, around),
            ExprKind::Cast { arg } => (
                format!("({}){}", type_name(expr.ty), self.value(*arg, 14)),
                14,
            ),
            ExprKind::Select { cond, then, els } => {
                let (then, els) = (self.value(*then, 3), self.value(*els, 3));
                (format!("{} ? {then} : {els}", self.value(*cond, 4)), 3)
            }
        };
        if own < around {
            format!("({text})")
        } else {
            text
        }
    }

    fn constant(&self, bits: u128, ty: Ty) -> String {
        match ty {
            Ty::Ptr if bits == 0 => "null".to_owned(),
            Ty::Ptr => format!("{bits:#x}"),
            Ty::Int {
                bits: width @ 1..=128,
                signed: true,
            } => {
                let shift = 128 - u32::from(width);
                format!("{}", (bits << shift).cast_signed() >> shift)
            }
            Ty::Float { bits: 64 } => match u64::try_from(bits) {
                Ok(bits) => format!("{:?}", f64::from_bits(bits)),
                Err(_) => format!("{bits:#x}"),
            },
            Ty::Float { bits: 32 } => match u32::try_from(bits) {
                Ok(bits) => format!("{:?}", f32::from_bits(bits)),
                Err(_) => format!("{bits:#x}"),
            },
            _ => format!("{bits}"),
        }
    }
}
