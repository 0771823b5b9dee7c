//! The summary and report database of a run.
//!
//! In: the linked program, results as they come, the findings at the end. Out: results of earlier
//! runs under their keys. [`Reader`](super::query::Reader) answers queries.

use std::path::Path;
use std::time::Duration;

use parking_lot::{Mutex, MutexGuard};
use rusqlite::{Connection, OptionalExtension, params};
use serde::Serialize;

use super::writer::{Message, Writer};
use super::{DATABASE, StoreError, schema};
use crate::engine::analysis::{Disposition, Record, ResultKey, Results};
use crate::engine::function::{FunctionResult, Outcome, Statistics};
use crate::engine::ledger::Reading;
use crate::engine::program::{FunctionId, Program};
use crate::report::Finding;

/// Key in `meta` of what was read, as JSON.
pub(super) const READING: &str = "reading";

#[derive(Debug)]
pub struct Database {
    connection: Mutex<Connection>,
    writer: Writer,
    /// What the database says of each function already, when the program is that of the last run.
    stored: Mutex<Vec<Option<StoredOutcome>>>,
}

#[derive(Debug, PartialEq, Eq)]
struct StoredOutcome {
    outcome: String,
    key: Option<ResultKey>,
}

impl Database {
    pub(super) fn open(folder: &Path) -> Result<Self, StoreError> {
        let file = folder.join(DATABASE);
        let open = || -> Result<Connection, rusqlite::Error> {
            let connection = Connection::open(&file)?;
            connection.busy_timeout(Duration::from_secs(30))?;
            connection.pragma_update(None, "journal_mode", "WAL")?;
            connection.pragma_update(None, "synchronous", "NORMAL")?;
            Ok(connection)
        };
        let damaged = |error: rusqlite::Error| StoreError::Damaged {
            file: file.clone(),
            error: error.to_string(),
        };
        let connection = open().map_err(damaged)?;
        let version: i64 = connection
            .query_row("PRAGMA user_version", [], |row| row.get(0))
            .map_err(damaged)?;
        if version == 0 {
            schema::create(&connection)?;
        }
        Ok(Database {
            writer: Writer::start(open().map_err(damaged)?),
            connection: Mutex::new(connection),
            stored: Mutex::default(),
        })
    }

    pub(super) fn connection(&self) -> MutexGuard<'_, Connection> {
        self.connection.lock()
    }

    pub(super) fn send(&self, message: Message) {
        self.writer.send(message);
    }

    /// Makes `program` the one that queries are about. Its functions have no outcome until they are
    /// done, unless it is the same program as in the last run.
    pub fn store_program(&self, program: &Program) -> Result<(), StoreError> {
        let bytes = postcard::to_stdvec(program).unwrap_or_default();
        let fingerprint = blake3::hash(&bytes).to_hex().to_string();
        let mut connection = self.connection.lock();
        let known: Option<String> = connection
            .query_row("SELECT value FROM meta WHERE key = 'program'", [], |row| {
                row.get(0)
            })
            .optional()?;
        if known.as_deref() == Some(&fingerprint) {
            *self.stored.lock() = stored_outcomes(&connection)?;
            return Ok(());
        }
        self.stored.lock().clear();
        let transaction = connection.transaction()?;
        transaction.execute_batch(
            "DELETE FROM units; DELETE FROM functions; DELETE FROM calls;
             DELETE FROM losses; DELETE FROM duplicates; DELETE FROM findings;",
        )?;
        insert_program(&transaction, program)?;
        for (key, value) in [
            ("program", &fingerprint),
            (READING, &json(&Reading::new(program))),
        ] {
            transaction.execute("INSERT OR REPLACE INTO meta VALUES (?1, ?2)", [key, value])?;
        }
        transaction.commit()?;
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
                    "INSERT INTO findings VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11)",
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
                    finding.specification,
                    json(&finding.trace),
                ])?;
        }
        forget_old_results(&transaction)?;
        transaction.commit()?;
        Ok(())
    }

    /// Returns when all results so far are on disk.
    pub fn commit(&self) -> Result<(), StoreError> {
        Ok(self.writer.commit()?)
    }
}

impl Results for Database {
    fn get(&self, key: ResultKey) -> Option<FunctionResult> {
        // A result that cannot be read is computed again.
        read_result(&self.connection.lock(), key).ok().flatten()
    }

    fn put(&self, key: ResultKey, result: &FunctionResult) {
        let (Ok(summary), Ok(findings), Ok(custody), Ok(nesting)) = (
            postcard::to_stdvec(&result.summary),
            postcard::to_stdvec(&result.findings),
            postcard::to_stdvec(&result.custody),
            postcard::to_stdvec(&result.nesting),
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
        self.writer.send(Message::Result {
            key,
            outcome,
            reason,
            summary,
            findings,
            custody,
            nesting,
            statistics: result.statistics,
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

/// The stored result of this key.
pub(super) fn read_result(
    connection: &Connection,
    key: ResultKey,
) -> Result<Option<FunctionResult>, rusqlite::Error> {
    connection
        .prepare_cached(
            "SELECT outcome, reason, summary, findings, custody, nesting, blocks, terms, queries,
                 solver_calls
             FROM results WHERE key = ?1",
        )?
        .query_row([key.0], |row| {
            let outcome: String = row.get(0)?;
            let reason: String = row.get::<_, Option<String>>(1)?.unwrap_or_default();
            let count = |column| -> Result<u64, rusqlite::Error> {
                Ok(row.get::<_, i64>(column)?.cast_unsigned())
            };
            Ok(FunctionResult {
                summary: blob(row, 2)?,
                findings: blob(row, 3)?,
                custody: blob(row, 4)?,
                nesting: blob(row, 5)?,
                outcome: match outcome.as_str() {
                    "analysed" => Outcome::Analysed,
                    "out of budget" => Outcome::OutOfBudget(reason),
                    _ => Outcome::Failed(reason),
                },
                statistics: Statistics {
                    blocks: count(6)?,
                    terms: count(7)?,
                    queries: count(8)?,
                    solver_calls: count(9)?,
                },
            })
        })
        .optional()
}

fn blob<T: serde::de::DeserializeOwned>(
    row: &rusqlite::Row<'_>,
    column: usize,
) -> Result<T, rusqlite::Error> {
    let bytes = row.get_ref(column)?.as_blob()?;
    postcard::from_bytes(bytes).map_err(|error| {
        rusqlite::Error::FromSqlConversionFailure(
            column,
            rusqlite::types::Type::Blob,
            Box::new(error),
        )
    })
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

fn insert_program(connection: &Connection, program: &Program) -> Result<(), rusqlite::Error> {
    let mut insert = connection.prepare("INSERT INTO units VALUES (?1, ?2, ?3, ?4)")?;
    for unit in &program.units {
        insert.execute(params![
            unit.source,
            unit.declarations.cast_signed(),
            unit.function_definitions.cast_signed(),
            unit.bytes.cast_signed()
        ])?;
    }
    let mut insert = connection.prepare(
        "INSERT INTO functions (id, name, scope, file, line, own, body)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)",
    )?;
    let mut insert_call = connection.prepare("INSERT INTO calls VALUES (?1, ?2, ?3, ?4)")?;
    for (id, function) in program.ids().zip(&program.functions) {
        insert.execute(params![
            id.0,
            function.name.name,
            function.name.file,
            function.file,
            function.line,
            function.own,
            function.body.as_ref().ok().map(|key| key.0)
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
    let mut insert = connection.prepare("INSERT INTO duplicates VALUES (?1, ?2)")?;
    for (name, places) in &program.duplicates {
        for place in places {
            insert.execute([name, place])?;
        }
    }
    Ok(())
}

/// Keeps results of earlier states of the tree (one switches branches), but not for ever.
fn forget_old_results(connection: &Connection) -> Result<(), rusqlite::Error> {
    let count = |sql| connection.query_row(sql, [], |row| row.get::<_, i64>(0));
    let kept = count("SELECT count(*) FROM results")?;
    let used = count("SELECT count(DISTINCT result) FROM functions WHERE result IS NOT NULL")?;
    if kept > 1000 + 4 * used {
        connection.execute(
            "DELETE FROM results WHERE key NOT IN
             (SELECT result FROM functions WHERE result IS NOT NULL)",
            [],
        )?;
    }
    Ok(())
}

fn json<T: Serialize>(value: &T) -> String {
    serde_json::to_string(value).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::program::{CalleeRef, Function, Unit};
    use crate::frontend::BodyKey;
    use crate::ir::SymbolName;
    use crate::store::query::Reader;
    use crate::summary::Summary;

    fn name(name: &str) -> SymbolName {
        SymbolName {
            name: name.into(),
            file: None,
        }
    }

    fn program() -> Program {
        let function = |n: &str, line, callees: Vec<CalleeRef>| Function {
            name: name(n),
            file: "src/a.c".into(),
            line,
            own: true,
            body: Ok(BodyKey([line as u8; 16])),
            small: false,
            callees,
        };
        let call = |n: &str, function| CalleeRef {
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
            custody: Default::default(),
            nesting: Default::default(),
            outcome,
            statistics: Statistics {
                blocks: 7,
                ..Statistics::default()
            },
        }
    }

    fn record(disposition: Disposition, key: Option<ResultKey>) -> Record {
        Record {
            disposition,
            key,
            findings: Vec::new(),
            custody: Default::default(),
            nesting: Default::default(),
            statistics: Statistics::default(),
        }
    }

    #[test]
    fn results_come_back_in_a_later_run_and_answer_queries() {
        let folder = tempfile::tempdir().unwrap();
        let (one, two) = (ResultKey([1; 16]), ResultKey([2; 16]));
        let failed = result(Outcome::Failed("no such block".into()));
        {
            let database = Database::open(folder.path()).unwrap();
            database.store_program(&program()).unwrap();
            database.put(one, &result(Outcome::Analysed));
            database.put(two, &failed);
            database.finished(FunctionId(0), &record(Disposition::Analysed, Some(one)));
            let why = Disposition::Failed("no such block".into());
            database.finished(FunctionId(1), &record(why, Some(two)));
            database.finish(&[]).unwrap();
        }
        let database = Database::open(folder.path()).unwrap();
        assert_eq!(database.get(one), Some(result(Outcome::Analysed)));
        assert_eq!(database.get(two), Some(failed));
        assert_eq!(database.get(ResultKey([3; 16])), None);

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
            let database = Database::open(folder.path()).unwrap();
            database.store_program(&program()).unwrap();
            database.put(key, &result(Outcome::Analysed));
            database.finished(FunctionId(0), &record(Disposition::Analysed, Some(key)));
            database.commit().unwrap();
            // Killed here: `finish` is never called.
        }
        let database = Database::open(folder.path()).unwrap();
        database.store_program(&program()).unwrap();
        assert_eq!(database.get(key), Some(result(Outcome::Analysed)));
        assert_eq!(
            Reader::open(folder.path()).unwrap().unfinished().unwrap(),
            1
        );
    }

    #[test]
    fn another_program_replaces_the_last_one_but_not_its_results() {
        let folder = tempfile::tempdir().unwrap();
        let database = Database::open(folder.path()).unwrap();
        let key = ResultKey([1; 16]);
        database.store_program(&program()).unwrap();
        database.put(key, &result(Outcome::Analysed));
        database.commit().unwrap();
        let mut edited = program();
        edited.functions.pop();
        database.store_program(&edited).unwrap();
        let reader = Reader::open(folder.path()).unwrap();
        assert!(reader.functions("root").unwrap().is_empty());
        assert!(database.get(key).is_some());
    }
}
