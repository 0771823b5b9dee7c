//! Bodies as C, with a call of `step` before each step that other threads may see.
//!
//! In: the linked program. Out: definitions of its objects and functions. Values have the widths of the IR; pointers are
//! integers (`P`).

use std::fmt::Write as _;

use super::super::code::{Slot, Step};
use super::super::program::{Linked, Meaning, Program};
use super::super::step::{ATOMIC, overrides};
use super::library::{Becomes, becomes};
use crate::ir::{
    Arg, BinOp, Call, Callee, CmpOp, ExprId, ExprKind, RetTy, StmtKind, SymbolId, TermKind, Ty,
    UnOp, fold,
};

pub struct Printer<'a> {
    pub program: &'a Program<'a>,
    pub out: String,
}

/// The C type of a scalar.
fn c(ty: Ty) -> &'static str {
    match ty {
        Ty::Ptr => "P",
        Ty::Float { bits: 32 } => "float",
        Ty::Float { bits: 64 } => "double",
        Ty::Float { .. } => "long double",
        Ty::Int { bits, signed } => match (bits, signed) {
            (..=8, true) => "int8_t",
            (..=8, false) => "uint8_t",
            (..=16, true) => "int16_t",
            (..=16, false) => "uint16_t",
            (..=32, true) => "int32_t",
            (..=32, false) => "uint32_t",
            (..=64, true) => "int64_t",
            (..=64, false) => "uint64_t",
            (_, true) => "__int128",
            (_, false) => "unsigned __int128",
        },
    }
}

fn returned(ret: RetTy) -> &'static str {
    match ret {
        RetTy::Scalar(ty) => c(ty),
        RetTy::Void | RetTy::Record { .. } => "void",
    }
}

impl<'a> Printer<'a> {
    pub fn line(&mut self, text: &str) {
        self.out.push_str(text);
        self.out.push('\n');
    }

    /// All definitions.
    pub fn program(&mut self) {
        for (number, global) in self.program.globals.iter().enumerate() {
            let local = if global.thread_local {
                "_Thread_local "
            } else {
                ""
            };
            let size = global.size.max(1);
            let name = &global.name.name;
            self.line(&format!(
                "static {local}char g{number}[{size}] __attribute__((aligned(64))); /* {name} */"
            ));
        }
        let program = self.program;
        for (number, linked) in program.code.iter().enumerate() {
            let head = self.head(number, linked);
            self.line(&format!("{head};"));
        }
        for (number, linked) in program.code.iter().enumerate() {
            self.function(number, linked);
        }
        self.line("static void thread_locals(void)\n{");
        self.initialisers(true);
        self.line("}\n\nstatic void initialise(void)\n{");
        self.initialisers(false);
        self.line("}");
    }

    fn initialisers(&mut self, thread_local: bool) {
        let program = self.program;
        for number in program.initialisers.clone() {
            let name = &program.code[number].code.body.name;
            let global = program.globals.iter().find(|global| global.name == *name);
            if global.is_some_and(|global| global.thread_local) == thread_local {
                self.line(&format!("\tf{number}();"));
            }
        }
    }

    fn head(&self, number: usize, linked: &Linked<'_>) -> String {
        let body = linked.code.body;
        let mut params: Vec<String> = Vec::new();
        if let RetTy::Record { .. } = body.ret {
            params.push("P result".to_owned());
        }
        for (at, local) in body.locals.iter().take(body.params as usize).enumerate() {
            params.push(format!("{} p{at}", local.ty.map_or("P", c)));
        }
        if params.is_empty() {
            params.push("void".to_owned());
        }
        format!(
            "static {} f{number}({})",
            returned(body.ret),
            params.join(", ")
        )
    }

    fn function(&mut self, number: usize, linked: &'a Linked<'a>) {
        let code = &linked.code;
        let body = code.body;
        let head = self.head(number, linked);
        self.line(&format!("\n/* {} */\n{head}\n{{", body.name));
        for (register, ty) in registers(linked) {
            self.line(&format!("\t{} r{register} = 0;", c(ty)));
        }
        self.line(&format!("\t__int128 result{} = 0;", code.result));
        for (index, size) in code.memory.iter().enumerate() {
            self.line(&format!(
                "\tchar m{index}[{}] __attribute__((aligned(16)));",
                size.max(&1)
            ));
        }
        for (step, _) in &code.steps {
            if let Step::Fetch(id) = step {
                let text = format!("\t{} t{} = 0;", c(body.expr(*id).ty), id.0);
                if !self.out.ends_with(&format!("{text}\n")) && !self.declared(&text) {
                    self.line(&text);
                }
            }
        }
        for (at, local) in body.locals.iter().take(body.params as usize).enumerate() {
            match (code.slots[at], local.ty) {
                (Slot::Register(register), _) => self.line(&format!("\tr{register} = p{at};")),
                (Slot::Memory(index), Some(ty)) => {
                    self.line(&format!("\t*({} *)m{index} = p{at};", c(ty)));
                }
                (Slot::Memory(index), None) => {
                    let size = local.size;
                    self.line(&format!("\tmemcpy(m{index}, (void *)p{at}, {size});"));
                }
            }
        }
        for (at, (step, pos)) in code.steps.iter().enumerate() {
            for (block, start) in code.starts.iter().enumerate() {
                if *start as usize == at {
                    self.line(&format!("b{block}:;"));
                }
            }
            if pos.line > 0 {
                self.line(&format!("\t/* line {} */", pos.line));
            }
            self.step(linked, step);
        }
        self.line("}");
    }

    /// Whether the function being printed has this declaration.
    fn declared(&self, text: &str) -> bool {
        let start = self.out.rfind("\n{\n").unwrap_or(0);
        self.out[start..].contains(&format!("{text}\n"))
    }

    fn step(&mut self, linked: &'a Linked<'a>, step: &Step<'a>) {
        let counts = linked
            .code
            .counts(step, |symbol| match linked.symbols[symbol.index()] {
                Meaning::Address(addr) => self.program.is_primitive(addr),
                Meaning::ThreadLocal(_) => false,
            });
        if counts {
            self.line("\tstep();");
        }
        let body = linked.code.body;
        match step {
            Step::Fetch(id) => {
                if let ExprKind::Load { addr, .. } = body.expr(*id).kind {
                    let addr = self.value(linked, addr);
                    let ty = c(body.expr(*id).ty);
                    self.line(&format!("\tt{} = *({ty} volatile *)({addr});", id.0));
                }
            }
            Step::Result(local) => {
                if let (Slot::Memory(index), Some(ty)) =
                    (linked.code.slots[local.index()], body.local(*local).ty)
                {
                    let register = linked.code.result;
                    self.line(&format!(
                        "\t*({} volatile *)m{index} = ({})result{register};",
                        c(ty),
                        c(ty)
                    ));
                }
            }
            Step::Statement(StmtKind::Call(call)) => self.call(linked, call),
            Step::Statement(kind) => self.statement(linked, kind),
            Step::End(kind) => self.end(linked, kind),
        }
    }

    fn statement(&mut self, linked: &'a Linked<'a>, kind: &StmtKind) {
        let body = linked.code.body;
        let text = match kind {
            StmtKind::Store { addr, value } => {
                let ty = c(body.expr(*value).ty);
                let value = self.value(linked, *value);
                match linked.code.register_at(*addr) {
                    Some(register) => format!("\tr{register} = {value};"),
                    None => {
                        let addr = self.value(linked, *addr);
                        format!("\t*({ty} volatile *)({addr}) = {value};")
                    }
                }
            }
            StmtKind::Copy { dst, src, size } => format!(
                "\tmemmove((void *)({}), (void *)({}), {size});",
                self.value(linked, *dst),
                self.value(linked, *src)
            ),
            StmtKind::Zero { dst, size } => {
                format!(
                    "\tmemset((void *)({}), 0, {size});",
                    self.value(linked, *dst)
                )
            }
            StmtKind::Assert(cond) => {
                format!("\tif (!({})) abort();", self.value(linked, *cond))
            }
            _ => return,
        };
        self.line(&text);
    }

    fn end(&mut self, linked: &'a Linked<'a>, kind: &TermKind) {
        let text = match kind {
            TermKind::Goto(next) => format!("\tgoto b{};", next.0),
            TermKind::Branch {
                cond, then, els, ..
            } => format!(
                "\tif ({}) goto b{}; else goto b{};",
                self.value(linked, *cond),
                then.0,
                els.0
            ),
            TermKind::Switch {
                value,
                cases,
                default,
            } => {
                let value = self.value(linked, *value);
                let mut text = String::new();
                for (low, high, target) in cases {
                    _ = writeln!(
                        text,
                        "\tif ({value} >= {low} && {value} <= {high}) goto b{};",
                        target.0
                    );
                }
                _ = write!(text, "\tgoto b{};", default.0);
                text
            }
            TermKind::Return(Some(Arg::Scalar(expr))) => {
                format!("\treturn {};", self.value(linked, *expr))
            }
            TermKind::Return(Some(Arg::Record { addr, size })) => format!(
                "\tmemcpy((void *)result, (void *)({}), {size}); return;",
                self.value(linked, *addr)
            ),
            TermKind::Return(None) => match linked.code.body.ret {
                RetTy::Scalar(_) => "\treturn 0;".to_owned(),
                _ => "\treturn;".to_owned(),
            },
            TermKind::Nondet(_) | TermKind::Unreachable => "\tabort();".to_owned(),
        };
        self.line(&text);
    }

    // ---- calls ----

    fn call(&mut self, linked: &'a Linked<'a>, call: &Call) {
        let mut args: Vec<String> = Vec::new();
        let mut types: Vec<&str> = Vec::new();
        for arg in &call.args {
            types.push(match arg {
                Arg::Scalar(expr) => c(linked.code.body.expr(*expr).ty),
                Arg::Record { .. } => "P",
            });
            args.push(self.value(linked, arg.expr()));
        }
        let (target, text) = match &call.callee {
            Callee::Direct(symbol) => {
                let name = &linked.code.body.symbol(*symbol).name.name;
                let number = self.function_of(linked, *symbol);
                match number.filter(|_| !overrides(name)) {
                    Some(number) => (Some(format!("&f{number}")), None),
                    None => match becomes(name, &args) {
                        Becomes::Itself => (Some(format!("&{name}")), None),
                        Becomes::Nothing => (None, Some("0".to_owned())),
                        Becomes::Drawn => {
                            let drawn = call.dst.is_some() || name.contains("_nondet_");
                            (None, drawn.then(|| "draw()".to_owned()))
                        }
                        Becomes::Text(text) => (None, Some(text)),
                    },
                }
            }
            Callee::Indirect { function, .. } => (Some(self.value(linked, *function)), None),
        };
        let text = match (target, text) {
            (Some(target), _) => {
                if let RetTy::Record { .. } = call.ret {
                    let place = call
                        .dst
                        .map_or("0".to_owned(), |dst| self.address_of(linked, dst));
                    types.insert(0, "P");
                    args.insert(0, place);
                }
                let signature = if types.is_empty() {
                    "void".to_owned()
                } else {
                    types.join(", ")
                };
                let ret = returned(call.ret);
                format!("(({ret} (*)({signature}))({target}))({})", args.join(", "))
            }
            (None, Some(text)) => text,
            (None, None) => return,
        };
        let whole = match &call.callee {
            Callee::Direct(symbol) => {
                let name = &linked.code.body.symbol(*symbol).name.name;
                name.starts_with(ATOMIC) && !overrides(name)
            }
            Callee::Indirect { .. } => false,
        };
        if whole {
            self.line("\tinside++;");
        }
        self.called(linked, call, &text);
        if whole {
            self.line("\tinside--;");
        }
    }

    /// A call whose result goes where it is wanted.
    fn called(&mut self, linked: &'a Linked<'a>, call: &Call, text: &str) {
        match (call.dst, call.ret) {
            (Some(dst), RetTy::Scalar(ty)) => match linked.code.register(dst) {
                Some(register) => self.line(&format!("\tr{register} = ({})({text});", c(ty))),
                None => {
                    let register = linked.code.result;
                    self.line(&format!("\t{{ {} value = {text};", c(ty)));
                    self.line(&format!("\t  result{register} = (__int128)value; }}"));
                }
            },
            _ => self.line(&format!("\t(void)({text});")),
        }
    }

    fn address_of(&self, linked: &Linked<'_>, local: crate::ir::LocalId) -> String {
        match linked.code.slots[local.index()] {
            Slot::Memory(index) => format!("(P)m{index}"),
            Slot::Register(register) => format!("(P)&r{register}"),
        }
    }

    /// The body that a symbol means.
    fn function_of(&self, linked: &Linked<'_>, symbol: SymbolId) -> Option<usize> {
        match linked.symbols[symbol.index()] {
            Meaning::Address(addr) => {
                let number = self.program.function_at(addr)?;
                (number < self.program.initialisers.start).then_some(number)
            }
            Meaning::ThreadLocal(_) => None,
        }
    }

    // ---- expressions ----

    fn value(&self, linked: &Linked<'_>, id: ExprId) -> String {
        let body = linked.code.body;
        let expr = body.expr(id);
        let ty = c(expr.ty);
        match &expr.kind {
            ExprKind::Const(bits) => constant(*bits, expr.ty),
            ExprKind::Unknown | ExprKind::Opaque { .. } | ExprKind::IsConstant { .. } => {
                format!("({ty})0")
            }
            ExprKind::AddrLocal(local) => self.address_of(linked, *local),
            ExprKind::AddrString(id) => {
                let bytes = &body.strings[id.index()];
                let mut text = String::from("(P)\"");
                for byte in &bytes[..bytes.len().saturating_sub(1)] {
                    _ = write!(text, "\\{byte:03o}");
                }
                text.push('"');
                text
            }
            ExprKind::AddrSymbol(id) => self.symbol(linked, *id),
            ExprKind::Load { addr, .. } => match linked.code.register_at(*addr) {
                Some(register) => format!("({ty})r{register}"),
                None => format!("t{}", id.0),
            },
            ExprKind::Unary { op, arg } => {
                let op = match op {
                    UnOp::Neg => "-",
                    UnOp::Not => "~",
                };
                format!("({ty})({op}{})", self.value(linked, *arg))
            }
            ExprKind::Binary { op, lhs, rhs } => {
                let op = operator(*op);
                let (l, r) = (self.value(linked, *lhs), self.value(linked, *rhs));
                format!("({ty})({l} {op} {r})")
            }
            ExprKind::Compare { op, lhs, rhs } => {
                let op = comparison(*op);
                let (l, r) = (self.value(linked, *lhs), self.value(linked, *rhs));
                format!("({l} {op} {r})")
            }
            ExprKind::Cast { arg } => format!("({ty})({})", self.value(linked, *arg)),
            ExprKind::Member { base, offset, .. } => {
                format!("(({}) + {offset})", self.value(linked, *base))
            }
            ExprKind::Index { base, index, scale } => format!(
                "(({}) + (P)((int64_t)({}) * {scale}))",
                self.value(linked, *base),
                self.value(linked, *index)
            ),
            ExprKind::Select { cond, then, els } => format!(
                "({} ? {} : {})",
                self.value(linked, *cond),
                self.value(linked, *then),
                self.value(linked, *els)
            ),
        }
    }

    fn symbol(&self, linked: &Linked<'_>, id: SymbolId) -> String {
        let symbol = linked.code.body.symbol(id);
        if let Some(number) = self.function_of(linked, id) {
            return format!("(P)&f{number}");
        }
        let globals = &self.program.globals;
        match globals.iter().position(|global| global.name == symbol.name) {
            Some(number) => format!("(P)g{number}"),
            None => match becomes(&symbol.name.name, &[]) {
                Becomes::Itself => format!("(P)&{}", symbol.name.name),
                _ => "(P)0".to_owned(),
            },
        }
    }
}

/// The registers with their types.
fn registers(linked: &Linked<'_>) -> Vec<(usize, Ty)> {
    let code = &linked.code;
    let locals = code.body.locals.iter().zip(&code.slots);
    let registers = locals.filter_map(|(local, slot)| match slot {
        Slot::Register(register) => Some((*register, local.ty?)),
        Slot::Memory(_) => None,
    });
    registers.collect()
}

fn constant(bits: u128, ty: Ty) -> String {
    match ty {
        Ty::Float { .. } => match fold::float_value(bits, ty) {
            Some(value) if value.is_finite() => format!("({}){value:?}", c(ty)),
            _ => format!("({})0", c(ty)),
        },
        _ if u64::try_from(bits).is_ok() => format!("({}){bits}ull", c(ty)),
        _ => format!(
            "({})((unsigned __int128){}ull << 64 | {}ull)",
            c(ty),
            bits >> 64,
            bits & u128::from(u64::MAX)
        ),
    }
}

fn operator(op: BinOp) -> &'static str {
    match op {
        BinOp::Add => "+",
        BinOp::Sub => "-",
        BinOp::Mul => "*",
        BinOp::Div => "/",
        BinOp::Rem => "%",
        BinOp::And => "&",
        BinOp::Or => "|",
        BinOp::Xor => "^",
        BinOp::Shl => "<<",
        BinOp::Shr => ">>",
    }
}

fn comparison(op: CmpOp) -> &'static str {
    match op {
        CmpOp::Eq => "==",
        CmpOp::Ne => "!=",
        CmpOp::Lt => "<",
        CmpOp::Le => "<=",
        CmpOp::Gt => ">",
        CmpOp::Ge => ">=",
    }
}
