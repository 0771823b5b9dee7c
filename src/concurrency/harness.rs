//! Two functions of an open program as a program to run: a `main` that calls both asynchronously.
//!
//! In: two bodies, and which of their parameters are to have one value. Out: a body, after CBUGS (§2): a harness without preconditions, since the
//! sequential runs of the same two calls on the same input say what goes without saying.

use crate::ir::{
    Arg, Block, Body, Call, Callee, Expr, ExprId, ExprKind, Local, LocalId, Pos, RetTy, Spellings,
    Stmt, StmtKind, Symbol, SymbolId, SymbolKind, SymbolName, TermKind, Terminator, Ty,
};

/// The harness's name: no function of C can have it.
pub const NAME: &str = "<harness>";
const ASYNC: &str = "__cassini_async";

/// A call in a harness: the function, and for each parameter the variable of the harness that it gets.
struct Calls<'a> {
    bodies: [&'a Body; 2],
    variables: [Vec<LocalId>; 2],
}

/// The harness for two functions. `shared`: a parameter of the first, and the one of the second that has the same value.
pub fn harness(first: &Body, second: &Body, shared: &[(u32, u32)]) -> Body {
    let mut locals: Vec<Local> = Vec::new();
    let mut variable = |of: &Local| {
        let id = LocalId(u32::try_from(locals.len()).unwrap_or(u32::MAX));
        locals.push(of.clone());
        id
    };
    let parameters = |body: &Body| body.locals[..body.params as usize].to_vec();
    let own: Vec<LocalId> = parameters(first).iter().map(&mut variable).collect();
    // Numbers of one name are one: a slot, a key.
    let is_alike = |one: &Local, other: &Local| {
        matches!(one.ty, Some(Ty::Int { .. })) && (&one.name, one.ty) == (&other.name, other.ty)
    };
    let other = (0..).zip(parameters(second)).map(|(number, parameter)| {
        let same = shared.iter().find(|(_, second)| *second == number);
        let same = same.map(|(first, _)| *first as usize);
        let mut mine = first.locals[..first.params as usize].iter();
        let same = same.or_else(|| mine.position(|own| is_alike(own, &parameter)));
        same.and_then(|first| own.get(first).copied())
            .unwrap_or_else(|| variable(&parameter))
    });
    let other: Vec<LocalId> = other.collect();
    let calls = Calls {
        bodies: [first, second],
        variables: [own, other],
    };
    calls.body(locals)
}

impl Calls<'_> {
    fn body(&self, locals: Vec<Local>) -> Body {
        let [first, second] = self.bodies;
        let function = |name: SymbolName| Symbol {
            name,
            kind: SymbolKind::Function {
                noreturn: false,
                declared: true,
            },
        };
        let external = SymbolName {
            name: ASYNC.to_owned(),
            file: None,
        };
        let symbols = vec![
            function(external),
            function(first.name.clone()),
            function(second.name.clone()),
        ];
        let mut exprs = Vec::new();
        let mut stmts = Vec::new();
        // Values that both calls share are unknowns of their own, so that they are drawn before either call.
        for (number, local) in (0..).zip(&locals) {
            let Some(ty) = local.ty else { continue };
            let addr = push(&mut exprs, ExprKind::AddrLocal(LocalId(number)), Ty::Ptr);
            let value = push(&mut exprs, ExprKind::Unknown, ty);
            stmts.push(stmt(StmtKind::Store { addr, value }));
        }
        for (number, variables) in (1..).zip(&self.variables) {
            let function = push(&mut exprs, ExprKind::AddrSymbol(SymbolId(number)), Ty::Ptr);
            let mut args = vec![Arg::Scalar(function)];
            for variable in variables {
                let local = &locals[variable.index()];
                let addr = push(&mut exprs, ExprKind::AddrLocal(*variable), Ty::Ptr);
                args.push(match local.ty {
                    Some(ty) => {
                        let load = ExprKind::Load {
                            addr,
                            volatile: false,
                        };
                        Arg::Scalar(push(&mut exprs, load, ty))
                    }
                    None => Arg::Record {
                        addr,
                        size: local.size,
                    },
                });
            }
            stmts.push(stmt(StmtKind::Call(Box::new(Call {
                callee: Callee::Direct(SymbolId(0)),
                args,
                ret: RetTy::Void,
                dst: None,
                text: format!("{ASYNC}({})", self.bodies[number as usize - 1].name.name),
            }))));
        }
        let block = Block {
            stmts,
            term: Terminator {
                kind: TermKind::Return(None),
                pos: Pos::default(),
            },
        };
        Body {
            name: SymbolName {
                name: NAME.to_owned(),
                file: None,
            },
            pos: Pos::default(),
            end_line: 0,
            params: 0,
            variadic: false,
            takes_pointers: false,
            ret: RetTy::Void,
            pointer_size: first.pointer_size,
            hosted: first.hosted,
            locals,
            symbols,
            strings: Vec::new(),
            names: Vec::new(),
            files: first.files.iter().take(1).cloned().collect(),
            exprs,
            blocks: vec![block],
            spellings: Spellings::default(),
        }
    }
}

fn push(exprs: &mut Vec<Expr>, kind: ExprKind, ty: Ty) -> ExprId {
    exprs.push(Expr { kind, ty });
    ExprId(u32::try_from(exprs.len() - 1).unwrap_or(u32::MAX))
}

fn stmt(kind: StmtKind) -> Stmt {
    Stmt {
        kind,
        pos: Pos::default(),
    }
}
