//! What a run stores, and what later runs and queries read of it.

use super::*;
use crate::frontend::BodyKey;
use crate::ir::SymbolName;
use crate::judge::record::{Facts, FunctionResult, Statistics};
use crate::program::{CalleeRef, Function, Unit};
use crate::store::query::{Failure, Reader};
use crate::store::results::read_result;

fn name(name: &str) -> SymbolName {
    SymbolName {
        name: name.into(),
        file: None,
    }
}

fn program() -> Program {
    let function = |n: &str, line, callees: Vec<CalleeRef>| Function {
        methods: Default::default(),
        closed: false,
        stored: false,
        definition: line,
        variant: None,
        images: Default::default(),
        name: name(n),
        file: "src/a.c".into(),
        line,
        own: true,
        announced: false,
        body: Ok(BodyKey([line as u8; 16])),
        small: false,
        returns_record: false,
        constants: Vec::new(),
        results: Vec::new(),
        callees,
    };
    let call = |n: &str, function| CalleeRef {
        method: false,
        name: name(n),
        function,
        called: true,
        taken: false,
    };
    Program {
        functions: vec![
            function("leaf", 1, vec![call("puts", None)]),
            function("root", 5, vec![call("leaf", Some(FunctionId(0)))]),
        ],
        units: vec![Unit {
            source: "src/a.c".into(),
            declarations: 4,
            function_definitions: 2,
            bytes: 100,
        }],
        ..Program::default()
    }
}

fn result(outcome: Outcome) -> FunctionResult {
    FunctionResult {
        summary: Summary {
            noreturn: true,
            params: vec!["x".into()],
            ..Summary::default()
        },
        facts: Facts {
            statistics: Statistics {
                blocks: 7,
                ..Statistics::default()
            },
            ..Facts::default()
        },
        outcome,
    }
}

fn open(folder: &Path) -> Database {
    let mut notices = Vec::new();
    let database = Database::open(folder, &mut notices).unwrap();
    assert!(notices.is_empty(), "{notices:?}");
    database
}

fn put(database: &Database, key: ResultKey, result: FunctionResult) {
    let (result, summary) = StoredResult::split(result);
    database.put(key, &result, &summary);
}

fn get(database: &Database, key: ResultKey) -> Option<FunctionResult> {
    let (result, _) = StoredResult::split(read_result(&database.connection(), key).unwrap()?);
    assert_eq!(database.get(key), Some(result));
    read_result(&database.connection(), key).unwrap()
}

fn record(disposition: Disposition, key: Option<ResultKey>) -> Record {
    Record {
        disposition,
        key,
        facts: Facts::default(),
    }
}

#[test]
fn the_program_does_not_wait_for_a_batch_to_grow_old() {
    let folder = tempfile::tempdir().unwrap();
    let database = open(folder.path());
    // A wait for the writer's transaction to end would be an error.
    let at_once = std::time::Duration::ZERO;
    database.connection().busy_timeout(at_once).unwrap();
    database.send(Message::Manifest {
        command: [1; 32],
        manifest: vec![0; 8],
    });
    database.store_program(&program()).unwrap();
    database.finish(&[]).unwrap();
}

#[test]
fn results_come_back_in_a_later_run_and_answer_queries() {
    let folder = tempfile::tempdir().unwrap();
    let (one, two) = (ResultKey([1; 16]), ResultKey([2; 16]));
    let failed = result(Outcome::Failed("no such block".into()));
    {
        let database = open(folder.path());
        database.store_program(&program()).unwrap();
        put(&database, one, result(Outcome::Analysed));
        put(&database, two, failed.clone());
        database.finished(FunctionId(0), &record(Disposition::Analysed, Some(one)));
        let why = Disposition::Failed("no such block".into());
        database.finished(FunctionId(1), &record(why, Some(two)));
        database.finish(&[]).unwrap();
    }
    let database = open(folder.path());
    database.load_results().unwrap();
    assert_eq!(get(&database, one), Some(result(Outcome::Analysed)));
    assert_eq!(get(&database, two), Some(failed));
    assert_eq!(database.get(ResultKey([3; 16])), None);
    assert_eq!(
        get(&database, one),
        Some(result(Outcome::Analysed)),
        "again"
    );

    let reader = Reader::open(folder.path()).unwrap();
    let leaf = &reader.functions("a.c::leaf").unwrap()[0];
    assert_eq!(leaf.outcome.as_deref(), Some("analysed"));
    assert_eq!(leaf.result, Some(one));
    assert!(reader.functions("b.c::leaf").unwrap().is_empty());
    assert_eq!(reader.callers(leaf.id).unwrap()[0].name, name("root"));
    assert_eq!(reader.callees(leaf.id).unwrap()[0].place, None);
    assert_eq!(
        reader.callers_of_undefined("puts").unwrap()[0].name,
        name("leaf")
    );
    assert_eq!(reader.similar("leef").unwrap(), ["leaf"]);
    let failures = reader.failures().unwrap();
    assert_eq!((failures.len(), failures[0].line), (1, 5));
    assert_eq!(failures[0].message, "no such block");
    assert_eq!(reader.unfinished().unwrap(), 0);
}

#[test]
fn what_either_pass_lost_is_told() {
    let folder = tempfile::tempdir().unwrap();
    let database = open(folder.path());
    database.store_program(&program()).unwrap();
    database.finished(FunctionId(0), &record(Disposition::NoOp, None));
    database.finished(
        FunctionId(1),
        &record(Disposition::OutOfBudget("too many blocks".into()), None),
    );
    database.finished_accesses(
        FunctionId(0),
        &record(Disposition::Reduced("too complex".into()), None),
    );
    database.finished_accesses(FunctionId(1), &record(Disposition::Analysed, None));
    database.finish(&[]).unwrap();

    let reader = Reader::open(folder.path()).unwrap();
    let told = |failure: Failure| (failure.kind, failure.name.unwrap(), failure.message);
    let failures = reader.failures().unwrap().into_iter().map(told);
    let expected = [
        ("out of budget", "root", "too many blocks"),
        ("analysed in part", "leaf", "too complex"),
    ];
    let mut failures: Vec<_> = failures.collect();
    failures.sort_by(|a, b| b.cmp(a));
    assert_eq!(
        failures,
        expected.map(|(kind, name, message)| (
            kind.to_owned(),
            name.to_owned(),
            message.to_owned()
        ))
    );
    for (name, outcome) in [("leaf", "analysed in part"), ("root", "out of budget")] {
        let row = &reader.functions(name).unwrap()[0];
        assert_eq!(row.told_outcome().0, Some(outcome), "{name}");
    }

    // The next run has no pass that checks accesses.
    database.forget_accesses().unwrap();
    let failures = reader.failures().unwrap();
    let names: Vec<_> = failures.into_iter().map(|failure| failure.name).collect();
    assert_eq!(names, [Some("root".to_owned())]);
    let leaf = &reader.functions("leaf").unwrap()[0];
    assert_eq!(leaf.told_outcome().0, Some("no-op"));
}

#[test]
fn a_killed_run_leaves_what_it_had_committed() {
    let folder = tempfile::tempdir().unwrap();
    let key = ResultKey([1; 16]);
    {
        let database = open(folder.path());
        database.store_program(&program()).unwrap();
        put(&database, key, result(Outcome::Analysed));
        database.finished(FunctionId(0), &record(Disposition::Analysed, Some(key)));
        database.commit().unwrap();
        // Killed here: `finish` is never called.
    }
    let database = open(folder.path());
    database.store_program(&program()).unwrap();
    assert_eq!(get(&database, key), Some(result(Outcome::Analysed)));
    assert_eq!(
        Reader::open(folder.path()).unwrap().unfinished().unwrap(),
        2,
        "rows without a seal are written anew"
    );
}

#[test]
fn another_program_replaces_the_last_one_but_not_its_results() {
    let folder = tempfile::tempdir().unwrap();
    let database = open(folder.path());
    let key = ResultKey([1; 16]);
    database.store_program(&program()).unwrap();
    put(&database, key, result(Outcome::Analysed));
    database.commit().unwrap();
    let mut edited = program();
    edited.functions.pop();
    database.store_program(&edited).unwrap();
    let reader = Reader::open(folder.path()).unwrap();
    assert!(reader.functions("root").unwrap().is_empty());
    assert!(database.get(key).is_some());
}

#[test]
fn what_is_stored_of_an_edited_program_is_what_is_stored_of_it_from_scratch() {
    let call = |n: &str, function| CalleeRef {
        method: false,
        name: name(n),
        function,
        called: true,
        taken: false,
    };
    let wide = |count: u32| {
        let mut program = program();
        for line in 10..10 + count {
            let mut function = program.functions[0].clone();
            function.name = name(&format!("f{line}"));
            function.line = line;
            program.functions.push(function);
        }
        program
    };
    let mut edited = wide(8);
    edited.functions[4].callees = vec![call("root", Some(FunctionId(1))), call("gets", None)];
    edited.functions[5].line = 99;
    let rows = |folder: &Path| {
        let reader = Reader::open(folder).unwrap();
        let table = |query| reader.sql(query).unwrap();
        let functions = "SELECT id, name, file, line, hex(body) FROM functions ORDER BY id";
        let calls = "SELECT * FROM calls ORDER BY caller, name";
        (table(functions), table(calls), table("SELECT * FROM units"))
    };
    let folder = tempfile::tempdir().unwrap();
    let database = open(folder.path());
    database.store_program(&wide(10)).unwrap();
    let done = record(Disposition::NoOp, None);
    for id in wide(10).ids() {
        database.finished(id, &done);
    }
    database.commit().unwrap();
    for next in [&edited, &wide(9), &program(), &edited] {
        database.store_program(next).unwrap();
        let scratch = tempfile::tempdir().unwrap();
        let other = open(scratch.path());
        other.store_program(next).unwrap();
        assert_eq!(rows(folder.path()), rows(scratch.path()));
    }
    let reader = Reader::open(folder.path()).unwrap();
    assert_eq!(
        reader.functions("leaf").unwrap()[0].outcome.as_deref(),
        None
    );
}

#[test]
fn functions_that_are_what_they_were_keep_their_outcome() {
    let folder = tempfile::tempdir().unwrap();
    let database = open(folder.path());
    database.store_program(&program()).unwrap();
    for id in program().ids() {
        database.finished(id, &record(Disposition::NoOp, None));
    }
    database.commit().unwrap();
    let mut edited = program();
    edited.functions[1].line = 6;
    database.store_program(&edited).unwrap();
    let reader = Reader::open(folder.path()).unwrap();
    let outcome = |name: &str| reader.functions(name).unwrap()[0].outcome.clone();
    assert_eq!(outcome("leaf").as_deref(), Some("no-op"));
    assert_eq!(outcome("root"), None);
}

#[test]
fn a_damaged_row_is_computed_again() {
    let folder = tempfile::tempdir().unwrap();
    let database = open(folder.path());
    let key = ResultKey([1; 16]);
    put(&database, key, result(Outcome::Analysed));
    database.commit().unwrap();
    assert!(database.get(key).is_some() && database.summary(key).is_some());
    let damage = |sql| database.connection().execute(sql, []).unwrap();
    assert_eq!(damage("UPDATE results SET blocks = 8"), 1);
    assert_eq!(database.get(key), None);
    assert_eq!(damage("UPDATE results SET blocks = 7"), 1);
    assert!(database.get(key).is_some());
    let flip = "UPDATE summaries SET summary = CAST(replace(summary, 'x', 'y') AS BLOB)";
    assert_eq!(damage(flip), 1);
    assert_eq!(database.summary(key), None);
}

#[test]
fn what_cannot_be_written_is_told_once_and_nothing_waits() {
    let folder = tempfile::tempdir().unwrap();
    let database = open(folder.path());
    database
        .connection()
        .execute_batch("DROP TABLE results")
        .unwrap();
    for number in 0..100 {
        put(
            &database,
            ResultKey([number; 16]),
            result(Outcome::Analysed),
        );
    }
    let error = database.commit().unwrap_err();
    assert!(error.to_string().contains("results"), "{error}");
}
