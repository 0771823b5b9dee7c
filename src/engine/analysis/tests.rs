//! Programs in memory: what is analysed, what is taken from an earlier run, how far an edit reaches.

use std::collections::BTreeMap;

use parking_lot::Mutex;

use super::*;
use crate::frontend::{FunctionDef, UnitIndex};
use crate::ir::{
    Block, Call, Callee, ExprId, Local, Pos, RetTy, Stmt, StmtKind, Symbol, SymbolId, SymbolKind,
    TermKind, Terminator, Ty,
};
use crate::property::InForce;

fn name(name: &str) -> SymbolName {
    SymbolName {
        name: name.into(),
        file: None,
    }
}

/// `void name(mutex *m) { callee(m); … }`
fn body(function: &str, param: &str, callees: &[&str]) -> Body {
    let call = |index: u32| Stmt {
        kind: StmtKind::Call(Box::new(Call {
            callee: Callee::Direct(SymbolId(index)),
            args: vec![crate::ir::Arg::Scalar(ExprId(1))],
            ret: RetTy::Void,
            dst: None,
            text: String::new(),
        })),
        pos: Pos::default(),
    };
    Body {
        name: name(function),
        pos: Pos::default(),
        end_line: 9,
        params: 1,
        variadic: false,
        takes_pointers: false,
        ret: RetTy::Void,
        pointer_size: 8,
        hosted: false,
        spellings: crate::ir::Spellings::default(),
        locals: vec![Local {
            name: "m".into(),
            size: 8,
            ty: Some(Ty::Ptr),
            type_name: param.into(),
        }],
        symbols: callees
            .iter()
            .map(|callee| Symbol {
                name: name(callee),
                kind: SymbolKind::Function {
                    noreturn: false,
                    declared: true,
                },
            })
            .collect(),
        strings: Vec::new(),
        names: Vec::new(),
        files: vec!["a.c".into()],
        exprs: vec![
            crate::ir::Expr {
                kind: crate::ir::ExprKind::AddrLocal(crate::ir::LocalId(0)),
                ty: Ty::Ptr,
            },
            crate::ir::Expr {
                kind: crate::ir::ExprKind::Load {
                    addr: ExprId(0),
                    volatile: false,
                },
                ty: Ty::Ptr,
            },
        ],
        blocks: vec![Block {
            stmts: (0..callees.len() as u32).map(call).collect(),
            term: Terminator {
                kind: TermKind::Return(None),
                pos: Pos::default(),
            },
        }],
    }
}

/// A program in memory, and what was done to it.
#[derive(Default)]
struct World {
    defs: Vec<FunctionDef>,
    bodies: BTreeMap<BodyKey, Body>,
    read: Mutex<Vec<String>>,
    results: Mutex<BTreeMap<ResultKey, (StoredResult, Summary)>>,
    /// Summaries read.
    summaries: Mutex<usize>,
    /// Results taken from `results`, and put there.
    reused: Mutex<usize>,
    stored: Mutex<usize>,
}

impl World {
    fn define(&mut self, body: Body, small: bool) {
        let bytes = blake3::hash(&encode(&body));
        let mut key = BodyKey([0; 16]);
        key.0.copy_from_slice(&bytes.as_bytes()[..16]);
        self.defs.retain(|def| def.name != body.name);
        self.defs.push(FunctionDef {
            name: body.name.clone(),
            file: "a.c".into(),
            line: self.defs.len() as u32 + 1,
            own: true,
            announced: false,
            weak: false,
            body: Ok(key),
            callees: body.mentions(),
            calls_indirectly: false,
            holders_called: body.holders_called(),
            methods: Vec::new(),
            enumerated: Vec::new(),
            pointer_size: 8,
            small,
            returns_record: false,
            objects: Vec::new(),
            statics: Vec::new(),
            results: Vec::new(),
        });
        self.bodies.insert(key, body);
    }

    fn run(&self) -> BTreeMap<String, Disposition> {
        *self.reused.lock() = 0;
        *self.stored.lock() = 0;
        *self.summaries.lock() = 0;
        self.read.lock().clear();
        let unit = UnitIndex {
            pointer_size: 8,
            methods: Vec::new(),
            stored: Vec::new(),
            enumerated: Vec::new(),
            objects_defined: Vec::new(),
            objects_needed: Vec::new(),
            objects: Vec::new(),
            objects_taken: Vec::new(),
            declared_outside: Vec::new(),
            source: "a.c".into(),
            functions: self.defs.iter().cloned().map(Arc::new).collect(),
            declarations: 0,
            function_definitions: 0,
            bytes: 0,
            losses: Vec::new(),
        };
        let program = Program::link(vec![unit], Vec::new());
        let (mut property, errors) = Property::load(&[]);
        property
            .checkers
            .retain(|checker| checker.in_force == InForce::Always);
        assert!(errors.is_empty());
        let (seeds, _) = Seeds::load(&property, &[]);
        let records = analyse(&Inputs {
            program: &program,
            bodies: self,
            seeds: &seeds,
            results: self,
            property: &property,
            options: &Options::default(),
            cancel: &|| false,
            timings: &Timings::default(),
        });
        let names = program.functions.iter().map(|f| f.name.to_string());
        names
            .zip(records)
            .map(|(name, record)| (name, record.expect("not cancelled").disposition))
            .collect()
    }
}

impl Bodies for World {
    fn body(&self, key: BodyKey) -> Result<Arc<Body>, String> {
        let body = self.bodies.get(&key).ok_or("no such body")?;
        self.read.lock().push(body.name.name.clone());
        assert!(body.name.name != "bomb", "the bomb went off");
        Ok(Arc::new(body.clone()))
    }
}

impl Results for World {
    fn get(&self, key: ResultKey) -> Option<StoredResult> {
        let result = self.results.lock().get(&key).cloned();
        *self.reused.lock() += usize::from(result.is_some());
        result.map(|(result, _)| result)
    }

    fn summary(&self, key: ResultKey) -> Option<Summary> {
        *self.summaries.lock() += 1;
        let results = self.results.lock();
        results.get(&key).map(|(_, summary)| summary.clone())
    }

    fn put(&self, key: ResultKey, result: &StoredResult, summary: &Summary) {
        *self.stored.lock() += 1;
        let result = (result.clone(), summary.clone());
        self.results.lock().insert(key, result);
    }

    fn finished(&self, _: FunctionId, _: &Record) {}
}

#[test]
fn what_touches_no_lock_is_not_even_read() {
    let mut world = World::default();
    world.define(
        body("quiet", "struct mutex", &["printf", "also_quiet"]),
        false,
    );
    world.define(body("also_quiet", "struct mutex", &["quiet"]), false);
    world.define(
        body("locks", "struct mutex", &["mutex_lock", "quiet"]),
        false,
    );
    let outcome = world.run();
    assert_eq!(outcome["quiet"], Disposition::NoOp);
    assert_eq!(outcome["also_quiet"], Disposition::NoOp);
    assert_eq!(outcome["locks"], Disposition::Analysed);
    assert_eq!(*world.read.lock(), ["locks"]);
}

#[test]
fn a_primitive_defined_in_the_tree_keeps_its_seed_if_its_type_fits() {
    let mut world = World::default();
    world.define(body("mutex_lock", "struct mutex", &["mutex_unlock"]), false);
    world.define(body("mutex_unlock", "struct queue", &[]), false);
    let outcome = world.run();
    assert_eq!(outcome["mutex_lock"], Disposition::Seeded);
    assert_eq!(outcome["mutex_unlock"], Disposition::NoOp);
}

#[test]
fn what_a_header_of_the_system_defines_keeps_its_seed() {
    let mut world = World::default();
    world.define(body("mutex_lock", "struct queue", &[]), false);
    world.define(body("fclose", "struct queue", &["mutex_lock"]), false);
    for def in &mut world.defs {
        def.own = def.name.name == "fclose";
    }
    let outcome = world.run();
    assert_eq!(outcome["mutex_lock"], Disposition::Seeded);
    assert_eq!(outcome["fclose"], Disposition::Analysed);
}

#[test]
fn a_panic_costs_one_function() {
    let mut world = World::default();
    world.define(body("bomb", "struct mutex", &["mutex_lock"]), false);
    world.define(body("user", "struct mutex", &["bomb", "mutex_lock"]), false);
    let outcome = world.run();
    let Disposition::Failed(why) = &outcome["bomb"] else {
        panic!("{outcome:?}");
    };
    assert!(why.contains("the bomb went off"), "{why}");
    assert_eq!(outcome["user"], Disposition::Analysed);
}

#[test]
fn an_unchanged_program_is_not_analysed_again_and_an_edit_reaches_as_far_as_it_must() {
    let mut world = World::default();
    world.define(body("tiny", "struct mutex", &[]), true);
    world.define(body("large", "struct mutex", &[]), false);
    world.define(body("a", "struct mutex", &["mutex_lock", "tiny"]), false);
    world.define(body("b", "struct mutex", &["mutex_lock", "large"]), false);
    let first = world.run();
    assert_eq!((*world.reused.lock(), *world.stored.lock()), (0, 2));
    assert_eq!(world.run(), first);
    assert_eq!((*world.reused.lock(), *world.stored.lock()), (2, 0));
    // Nobody sees into a function that is neither inlined nor has a summary.
    world.define(body("large", "struct mutex", &["puts"]), false);
    world.run();
    assert_eq!((*world.reused.lock(), *world.stored.lock()), (2, 0));
    // A tiny leaf is inlined, so its callers depend on its text.
    world.define(body("tiny", "struct other", &[]), true);
    world.run();
    assert_eq!((*world.reused.lock(), *world.stored.lock()), (1, 1));
}

#[test]
fn only_the_summaries_that_an_edited_caller_asks_for_are_read() {
    let mut world = World::default();
    world.define(body("inner", "struct mutex", &["mutex_lock"]), false);
    world.define(body("outer", "struct mutex", &["inner"]), false);
    world.define(body("other", "struct mutex", &["inner"]), false);
    world.run();
    assert_eq!(*world.summaries.lock(), 0, "they were at hand");
    world.run();
    assert_eq!(*world.summaries.lock(), 0, "nobody asks");
    let edited = body("outer", "struct mutex", &["inner", "puts"]);
    world.define(edited.clone(), false);
    let incremental = world.run();
    assert_eq!((*world.stored.lock(), *world.summaries.lock()), (1, 1));
    // What comes of it is what a run from scratch gives.
    let kept = std::mem::take(&mut *world.results.lock());
    assert_eq!(world.run(), incremental);
    for (key, result) in &*world.results.lock() {
        assert_eq!(kept.get(key), Some(result));
    }
}

#[test]
fn recursive_functions_are_analysed_and_kept_together() {
    let mut world = World::default();
    world.define(body("even", "struct mutex", &["odd", "mutex_lock"]), false);
    world.define(body("odd", "struct mutex", &["even"]), false);
    let first = world.run();
    assert_eq!(first["odd"], Disposition::Analysed);
    // What is below is not settled after the second pass: each locks what the other has locked.
    assert_eq!(
        world.read.lock().len(),
        6,
        "three passes over two functions"
    );
    assert_eq!(world.run(), first);
    assert_eq!((*world.reused.lock(), *world.stored.lock()), (2, 0));
}
