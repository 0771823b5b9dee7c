//! The summary and report database of a run.
//!
//! In: the linked program, results as they come, the findings at the end. Out: results of earlier
//! runs under their keys. [`Reader`](super::query::Reader) answers queries.

use std::path::{Path, PathBuf};

use parking_lot::{Mutex, MutexGuard};
use rusqlite::{Connection, OptionalExtension, params};
use rustc_hash::FxHashMap;
use serde::Serialize;

use super::results::{ResultRow, read_row, read_rows, read_summary};
use super::writer::{Message, Writer};
use super::{Part, StoreError, checked, file, schema};
use crate::engine::analysis::{Results, StoredResult};
use crate::engine::ledger::Reading;
use crate::finding::Finding;
use crate::judge::record::Outcome;
use crate::judge::record::{Disposition, Record, ResultKey};
use crate::program::{Ambiguity, FunctionId, Program};
use crate::summary::Summary;

/// Key in `meta` of the tree's folder, as it is named from the database's.
pub(super) const ROOT: &str = "root";

/// Key in `meta` of what was read, as JSON.
pub(super) const READING: &str = "reading";

#[derive(Debug)]
pub struct Database {
    file: PathBuf,
    connection: Mutex<Connection>,
    writer: Writer,
    /// What the database says of each function already.
    stored: Mutex<Vec<Option<StoredOutcome>>>,
    /// Results of earlier runs that nobody has asked for yet.
    results: Mutex<FxHashMap<ResultKey, ResultRow>>,
}

#[derive(Debug, PartialEq, Eq)]
struct StoredOutcome {
    outcome: String,
    key: Option<ResultKey>,
}

impl Database {
    /// Opens the database of a folder whose lock is held.
    pub(super) fn open(folder: &Path, notices: &mut Vec<String>) -> Result<Self, StoreError> {
        let file = Part::Database.file(folder);
        let examined = schema::secure(folder, notices)?;
        let connect = || -> Result<Connection, rusqlite::Error> {
            let connection = file::open(&file, file::WRITE)?;
            connection.pragma_update(None, "journal_mode", "WAL")?;
            connection.pragma_update(None, "synchronous", "NORMAL")?;
            Ok(connection)
        };
        let connection = connect()?;
        if schema::version_of(&connection)? == 0 {
            schema::create(&connection)?;
        }
        if examined {
            // No hash tells that the program's rows are those that were written.
            connection.execute("DELETE FROM fingerprints", [])?;
        }
        let writer = Writer::start(connect()?);
        Ok(Database {
            file,
            writer,
            connection: Mutex::new(connection),
            stored: Mutex::default(),
            results: Mutex::default(),
        })
    }

    /// Closes the file, so that the next run can tell that it is whole.
    pub(super) fn close(self) -> Result<(), StoreError> {
        self.writer.close()?;
        Ok(file::close(&self.file, self.connection.into_inner())?)
    }

    pub(super) fn connection(&self) -> MutexGuard<'_, Connection> {
        self.connection.lock()
    }

    pub(super) fn send(&self, message: Message) {
        self.writer.send(message);
    }

    /// Reads all results, for a run that is about to ask for most of them.
    pub fn load_results(&self) -> Result<(), StoreError> {
        *self.results.lock() = read_rows(&self.connection.lock())?;
        Ok(())
    }

    /// Makes `program` the one that queries are about. Functions that were not in the last run's have
    /// no outcome until they are done.
    pub fn store_program(&self, program: &Program) -> Result<(), StoreError> {
        let fingerprints: Vec<Fingerprint> =
            program.ids().map(|id| fingerprint(program, id)).collect();
        // Else the write would wait until the writer's batch is old enough to be committed.
        self.commit()?;
        let mut connection = self.connection.lock();
        let transaction = connection.transaction()?;
        transaction.execute_batch(
            "DELETE FROM units; DELETE FROM losses; DELETE FROM ambiguous; DELETE FROM findings;",
        )?;
        insert_reading(&transaction, program)?;
        update_functions(&transaction, program, &fingerprints)?;
        *self.stored.lock() = stored_outcomes(&transaction)?;
        transaction.execute(
            "INSERT OR REPLACE INTO meta VALUES (?1, ?2)",
            [READING, &json(&Reading::new(program))],
        )?;
        transaction.commit()?;
        Ok(())
    }

    /// Keeps which folder the program's files are relative to, as it is named from the database's folder.
    pub fn store_root(&self, root: &str) -> Result<(), StoreError> {
        let connection = self.connection.lock();
        connection.execute("INSERT OR REPLACE INTO meta VALUES (?1, ?2)", [ROOT, root])?;
        Ok(())
    }

    /// Ends a run that went through to the end: its findings replace the last run's, and results that
    /// no function has used for long are forgotten.
    pub fn finish(&self, findings: &[Finding]) -> Result<(), StoreError> {
        self.commit()?;
        let mut connection = self.connection.lock();
        let transaction = connection.transaction()?;
        transaction.execute("DELETE FROM findings", [])?;
        for finding in findings {
            transaction
                .prepare_cached(
                    "INSERT INTO findings VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13)",
                )?
                .execute(params![
                    finding.fingerprint,
                    finding.rule,
                    json(&finding.level).trim_matches('"'),
                    finding.message,
                    finding.file,
                    finding.line,
                    finding.column,
                    finding.function,
                    finding.object,
                    finding.specification(),
                    json(&finding.explanations),
                    json(&finding.trace),
                    json(&finding.programs),
                ])?;
        }
        forget_old_results(&transaction)?;
        transaction.commit()?;
        Ok(())
    }

    /// Returns when all results so far are on disk.
    pub fn commit(&self) -> Result<(), StoreError> {
        self.writer.commit()
    }
}

impl Results for Database {
    fn get(&self, key: ResultKey) -> Option<StoredResult> {
        let row = self.results.lock().remove(&key);
        // A result that cannot be read is computed again.
        match row {
            Some(row) => row.decode(),
            None => read_row(&self.connection.lock(), key).ok()??.decode(),
        }
    }

    fn summary(&self, key: ResultKey) -> Option<Summary> {
        read_summary(&self.connection.lock(), key).ok().flatten()
    }

    fn put(&self, key: ResultKey, result: &StoredResult, summary: &Summary) {
        let (Ok(summary), Ok(findings), Ok(obligations), Ok(lock_order), Ok(recursion)) = (
            checked::encode(&key.0, summary),
            postcard::to_stdvec(&result.findings),
            postcard::to_stdvec(&result.obligations),
            postcard::to_stdvec(&result.lock_order),
            postcard::to_stdvec(&result.recursion),
        ) else {
            return;
        };
        let (outcome, reason) = match &result.outcome {
            Outcome::Analysed => ("analysed", None),
            Outcome::OutOfBudget(what) => ("out of budget", Some(what.clone())),
            // Depends on the machine.
            Outcome::OutOfTime => return,
            Outcome::Failed(why) => ("failed", Some(why.clone())),
        };
        let row = ResultRow {
            outcome,
            reason,
            identity: *result.identity.as_bytes(),
            active: result.active,
            findings,
            obligations,
            lock_order,
            recursion,
            statistics: result.statistics,
        };
        self.writer.send(Message::Result {
            key,
            check: row.check(key),
            row,
            summary,
        });
    }

    fn finished(&self, id: FunctionId, record: &Record) {
        let (outcome, reason) = match &record.disposition {
            Disposition::Analysed => ("analysed", None),
            Disposition::NoOp => ("no-op", None),
            Disposition::Seeded => ("seeded", None),
            Disposition::OutOfBudget(what) => ("out of budget", Some(what.clone())),
            Disposition::Failed(why) => ("failed", Some(why.clone())),
            Disposition::Lost(reason) => ("lost", Some(reason.message.clone())),
        };
        if let Some(Some(stored)) = self.stored.lock().get(id.index())
            && stored.outcome == outcome
            && stored.key == record.key
        {
            return;
        }
        self.writer.send(Message::Finished {
            function: id.0,
            outcome,
            reason,
            key: record.key,
        });
    }
}

fn stored_outcomes(connection: &Connection) -> Result<Vec<Option<StoredOutcome>>, rusqlite::Error> {
    connection
        .prepare("SELECT outcome, result FROM functions ORDER BY id")?
        .query_map([], |row| {
            let outcome: Option<String> = row.get(0)?;
            let key: Option<[u8; 16]> = row.get(1)?;
            Ok(outcome.map(|outcome| StoredOutcome {
                outcome,
                key: key.map(ResultKey),
            }))
        })?
        .collect()
}

/// Tells whether a function's rows are the same.
type Fingerprint = [u8; 16];

fn fingerprint(program: &Program, id: FunctionId) -> Fingerprint {
    let row = (program.function(id), program.programs_of(id));
    let bytes = postcard::to_stdvec(&row).unwrap_or_default();
    xxhash_rust::xxh3::xxh3_128(&bytes).to_le_bytes()
}

/// Makes `functions` and `calls` those of the program. Most functions are what they were in the last
/// run, and their rows stay.
fn update_functions(
    connection: &Connection,
    program: &Program,
    fingerprints: &[Fingerprint],
) -> Result<(), rusqlite::Error> {
    let stored: Option<Vec<u8>> = connection
        .query_row("SELECT functions FROM fingerprints", [], |row| row.get(0))
        .optional()?;
    let stored = stored.unwrap_or_default();
    let stored: Vec<&[u8]> = stored.chunks_exact(size_of::<Fingerprint>()).collect();
    let changed =
        |id: &FunctionId| stored.get(id.index()).copied() != Some(&fingerprints[id.index()][..]);
    let mut changed: Vec<FunctionId> = program.ids().filter(changed).collect();
    if changed.is_empty() && stored.len() == fingerprints.len() {
        return Ok(());
    }
    if changed.len() > program.functions.len() / 2 {
        connection.execute_batch("DELETE FROM functions; DELETE FROM calls;")?;
        changed = program.ids().collect();
    } else {
        let mut delete = connection.prepare("DELETE FROM functions WHERE id = ?1")?;
        let mut delete_calls = connection.prepare("DELETE FROM calls WHERE caller = ?1")?;
        let gone = fingerprints.len() as u32..stored.len() as u32;
        for id in changed.iter().map(|id| id.0).chain(gone) {
            delete.execute([id])?;
            delete_calls.execute([id])?;
        }
    }
    let mut insert = connection.prepare(
        "INSERT INTO functions (id, name, scope, file, line, own, body, variant, programs)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)",
    )?;
    let mut insert_call = connection.prepare("INSERT INTO calls VALUES (?1, ?2, ?3, ?4)")?;
    for id in changed {
        let function = program.function(id);
        let programs = program.programs_of(id);
        let programs = (!programs.is_empty()).then(|| programs.join("\n"));
        insert.execute(params![
            id.0,
            function.name.name,
            function.name.file,
            function.file,
            function.line,
            function.own,
            function.body.as_ref().ok().map(|key| key.0),
            function.variant,
            programs
        ])?;
        for callee in &function.callees {
            insert_call.execute(params![
                id.0,
                callee.name.name,
                callee.name.file,
                callee.function.map(|id| id.0)
            ])?;
        }
    }
    connection.execute("DELETE FROM fingerprints", [])?;
    connection.execute(
        "INSERT INTO fingerprints VALUES (?1)",
        [fingerprints.concat()],
    )?;
    Ok(())
}

/// What was read, and what was not.
fn insert_reading(connection: &Connection, program: &Program) -> Result<(), rusqlite::Error> {
    let mut insert = connection.prepare("INSERT INTO units VALUES (?1, ?2, ?3, ?4)")?;
    for unit in &program.units {
        insert.execute(params![
            unit.source,
            unit.declarations.cast_signed(),
            unit.function_definitions.cast_signed(),
            unit.bytes.cast_signed()
        ])?;
    }
    let mut insert = connection.prepare("INSERT INTO losses VALUES (?1, ?2, ?3, ?4, ?5)")?;
    for loss in program.failed.iter().chain(&program.losses) {
        let stage = format!("{:?}", loss.reason.stage).to_lowercase();
        insert.execute(params![
            loss.file,
            loss.line,
            loss.name,
            stage,
            loss.reason.message
        ])?;
    }
    let mut insert = connection.prepare("INSERT INTO ambiguous VALUES (?1, ?2, ?3, ?4)")?;
    for Ambiguity {
        name,
        caller,
        taken,
        others,
    } in &program.ambiguous
    {
        insert.execute([name, caller, taken, &others.join("\n")])?;
    }
    Ok(())
}

/// Keeps results of earlier states of the tree (one switches branches), but not for ever.
fn forget_old_results(connection: &Connection) -> Result<(), rusqlite::Error> {
    let count = |sql| connection.query_row(sql, [], |row| row.get::<_, i64>(0));
    let kept = count("SELECT count(*) FROM results")?;
    let used = count("SELECT count(DISTINCT result) FROM functions WHERE result IS NOT NULL")?;
    if kept > 1000 + 4 * used {
        for table in ["results", "summaries"] {
            let unused = "key NOT IN (SELECT result FROM functions WHERE result IS NOT NULL)";
            connection.execute(&format!("DELETE FROM {table} WHERE {unused}"), [])?;
        }
    }
    Ok(())
}

fn json<T: Serialize>(value: &T) -> String {
    serde_json::to_string(value).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::frontend::BodyKey;
    use crate::ir::SymbolName;
    use crate::judge::record::{FunctionResult, Statistics};
    use crate::program::{CalleeRef, Function, Unit};
    use crate::store::query::Reader;
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
            findings: Vec::new(),
            obligations: Default::default(),
            lock_order: Default::default(),
            recursion: Default::default(),
            outcome,
            statistics: Statistics {
                blocks: 7,
                ..Statistics::default()
            },
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
            findings: Vec::new(),
            obligations: Default::default(),
            lock_order: Default::default(),
            recursion: Default::default(),
            statistics: Statistics::default(),
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
}
