//! The summary and report database of a run.
//!
//! In: the linked program, results as they come, the findings at the end. Out: results of earlier
//! runs under their keys. [`Reader`](super::query::Reader) answers queries.

use std::path::{Path, PathBuf};

use parking_lot::{Mutex, MutexGuard};
use rusqlite::{Connection, OptionalExtension, params};
use rustc_hash::FxHashMap;
use serde::Serialize;

use super::plain::{self, Plain};
use super::results::{ResultRow, read_row, read_rows, read_summary};
use super::writer::{Message, Writer};
use super::{Part, StoreError, checked, file, schema, verdicts};
use crate::engine::analysis::{Results, StoredResult};
use crate::engine::ledger::Reading;
use crate::finding::Filter;
use crate::judge::record::Outcome;
use crate::judge::record::{Disposition, Record, ResultKey};
use crate::program::{Ambiguity, FunctionId, Program};
use crate::settle::guards::Guards;
use crate::summary::Summary;
use crate::triage::{Entry, Judged};

/// Key in `meta` of the tree's folder, as it is named from the database's.
pub(super) const ROOT: &str = "root";

/// Key in `meta` of what reports say of the run, as JSON; there only if it went through to the end.
pub(super) const ABOUT: &str = "about";

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
        let secured = schema::secure(folder, notices)?;
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
        if let Some(aside) = &secured.aside {
            notices.extend(verdicts::rescue(aside, &connection)?);
        }
        if secured.examined {
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
        transaction.execute("DELETE FROM meta WHERE key = ?1", [ABOUT])?;
        transaction.execute(
            "INSERT OR REPLACE INTO meta VALUES (?1, ?2)",
            [READING, &json(&Reading::new(program))],
        )?;
        transaction.commit()?;
        Ok(())
    }

    /// Forgets what the pass that checks accesses to memory said in an earlier run, for a run without that pass.
    pub fn forget_accesses(&self) -> Result<(), StoreError> {
        self.connection.lock().execute(
            "UPDATE functions SET access_outcome = NULL, access_reason = NULL, access_result = NULL
             WHERE access_outcome IS NOT NULL",
            [],
        )?;
        Ok(())
    }

    /// Keeps which folder the program's files are relative to, as it is named from the database's folder.
    pub fn store_root(&self, root: &str) -> Result<(), StoreError> {
        let connection = self.connection.lock();
        connection.execute("INSERT OR REPLACE INTO meta VALUES (?1, ?2)", [ROOT, root])?;
        Ok(())
    }

    /// The verdicts that people have given.
    pub fn verdicts(&self) -> Result<Vec<Judged>, StoreError> {
        Ok(verdicts::read(&self.connection.lock())?)
    }

    /// Keeps what reports say of a run that went through to the end, as JSON.
    pub fn store_about(&self, about: &str) -> Result<(), StoreError> {
        let connection = self.connection.lock();
        connection.execute(
            "INSERT OR REPLACE INTO meta VALUES (?1, ?2)",
            [ABOUT, about],
        )?;
        Ok(())
    }

    /// Replaces what is known of the locks that guard members.
    pub fn store_guards(&self, guards: &Guards) -> Result<(), StoreError> {
        let mut connection = self.connection.lock();
        let transaction = connection.transaction()?;
        plain::write_guards(&transaction, guards)?;
        transaction.commit()?;
        Ok(())
    }

    /// Ends a run that went through to the end: its findings replace the last run's, and results that
    /// no function has used for long are forgotten. Verdicts stay; one whose finding has another fingerprint now goes with it.
    pub fn finish(&self, entries: &[Entry]) -> Result<(), StoreError> {
        self.commit()?;
        let mut connection = self.connection.lock();
        let transaction = connection.transaction()?;
        transaction.execute("DELETE FROM findings", [])?;
        for entry in entries {
            insert_finding(&transaction, entry)?;
        }
        verdicts::follow(&transaction, entries)?;
        forget_old_results(&transaction)?;
        transaction.commit()?;
        Ok(())
    }

    /// Notes what became of a function in the pass that checks accesses to memory.
    pub fn finished_accesses(&self, id: FunctionId, record: &Record) {
        let (outcome, reason) = outcome(record);
        self.writer.send(Message::FinishedAccesses {
            function: id.0,
            outcome,
            reason,
            key: record.key,
        });
    }

    /// Keeps a result, with what it says in words.
    pub fn put_with(&self, key: ResultKey, result: &StoredResult, summary: &Summary, plain: Plain) {
        let (Ok(summary), Ok(findings), Ok(obligations), Ok(lock_order), Ok(recursion)) = (
            checked::encode(&key.0, summary),
            postcard::to_stdvec(&result.facts.findings),
            postcard::to_stdvec(&result.facts.obligations),
            postcard::to_stdvec(&result.facts.lock_order),
            postcard::to_stdvec(&(
                &result.facts.recursion,
                &result.facts.results,
                &result.facts.excluded,
                &result.facts.accesses,
            )),
        ) else {
            return;
        };
        let (outcome, reason) = match &result.outcome {
            Outcome::Analysed => ("analysed", None),
            Outcome::Reduced(what) => ("analysed in part", Some(what.clone())),
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
            statistics: result.facts.statistics,
        };
        self.writer.send(Message::Result {
            key,
            check: row.check(key),
            row: Box::new(row),
            summary,
            plain: Box::new(plain),
        });
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
        self.put_with(key, result, summary, Plain::default());
    }

    fn finished(&self, id: FunctionId, record: &Record) {
        let (outcome, reason) = outcome(record);
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

fn insert_finding(connection: &Connection, entry: &Entry) -> Result<(), rusqlite::Error> {
    let finding = &entry.finding;
    let mut insert = connection.prepare_cached(
        "INSERT INTO findings VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16)",
    )?;
    insert.execute(params![
        finding.fingerprint,
        finding.rule,
        finding.level.name(),
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
        finding.filter().map(Filter::name),
        json(&finding.filtered),
        entry.ignored,
    ])?;
    Ok(())
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

/// What became of a function, in the words of the table, and why.
fn outcome(record: &Record) -> (&'static str, Option<String>) {
    match &record.disposition {
        Disposition::Analysed => ("analysed", None),
        Disposition::NoOp => ("no-op", None),
        Disposition::Seeded => ("seeded", None),
        Disposition::Reduced(what) => ("analysed in part", Some(what.clone())),
        Disposition::OutOfBudget(what) => ("out of budget", Some(what.clone())),
        Disposition::Failed(why) => ("failed", Some(why.clone())),
        Disposition::Lost(reason) => ("lost", Some(reason.message.clone())),
    }
}

/// Keeps results of earlier states of the tree (one switches branches), but not for ever.
fn forget_old_results(connection: &Connection) -> Result<(), rusqlite::Error> {
    const USED: &str = "SELECT result FROM functions WHERE result IS NOT NULL
                        UNION SELECT access_result FROM functions WHERE access_result IS NOT NULL";
    let count = |sql: &str| connection.query_row(sql, [], |row| row.get::<_, i64>(0));
    let kept = count("SELECT count(*) FROM results")?;
    let used = count(&format!("SELECT count(*) FROM ({USED})"))?;
    if kept > 1000 + 4 * used {
        for table in ["results", "summaries"] {
            let unused = format!("key NOT IN ({USED})");
            connection.execute(&format!("DELETE FROM {table} WHERE {unused}"), [])?;
        }
        for table in plain::OF_RESULTS {
            let unused = format!("result NOT IN ({USED})");
            connection.execute(&format!("DELETE FROM {table} WHERE {unused}"), [])?;
        }
    }
    Ok(())
}

fn json<T: Serialize>(value: &T) -> String {
    serde_json::to_string(value).unwrap_or_default()
}

#[cfg(test)]
mod tests;
