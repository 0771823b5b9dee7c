//! Reads the summary database: what `cassini query` and `cassini debug` ask.

mod graph;
mod guards;
pub mod locks;
mod units;

use std::path::Path;

use rusqlite::hooks::{AuthAction, AuthContext, Authorization};
use rusqlite::types::{Type, ValueRef};
use rusqlite::{Connection, ErrorCode, OptionalExtension, Row, params};

use super::database::{ABOUT, READING, ROOT};
use super::results::read_result;
use super::{Bodies, StoreError, plain, schema};
use crate::engine::ledger::Reading;
use crate::finding::Finding;
use crate::frontend::BodyKey;
use crate::ir::SymbolName;
use crate::judge::record::{FunctionResult, ResultKey};
use crate::program::Ambiguity;
use crate::triage::{self, Entry, Judged};

pub use self::graph::is_glob;
pub use crate::settle::guards::{Counted, Guard};

/// A function as the last run left it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FunctionRow {
    pub id: u32,
    pub name: SymbolName,
    pub file: String,
    pub line: u32,
    pub own: bool,
    pub body: Option<BodyKey>,
    /// `None` when the run was stopped before it.
    pub outcome: Option<String>,
    pub reason: Option<String>,
    pub result: Option<ResultKey>,
    /// Which of the definition's variants, if it calls others in some programs than in others; and those programs,
    /// none if it may be linked into any.
    pub variant: Option<u32>,
    pub programs: Vec<String>,
    /// Outcome, its reason and result of the pass that checks accesses to memory, if there was one.
    pub access_outcome: Option<String>,
    pub access_reason: Option<String>,
    pub access_result: Option<ResultKey>,
}

/// Outcomes of functions that were read, but not analysed as a whole.
const NOT_WHOLE: [&str; 3] = ["analysed in part", "out of budget", "failed"];

impl FunctionRow {
    /// Outcome and result of one of the two passes.
    pub fn of_pass(&self, accesses: bool) -> (Option<&str>, Option<ResultKey>) {
        match accesses {
            true => (self.access_outcome.as_deref(), self.access_result),
            false => (self.outcome.as_deref(), self.result),
        }
    }

    /// Outcome and reason of the pass that people are told of: the one that lost something, or else the one that
    /// checks accesses to memory, which looks at all functions.
    pub fn told_outcome(&self) -> (Option<&str>, Option<&str>) {
        let locks = (self.outcome.as_deref(), self.reason.as_deref());
        let accesses = (
            self.access_outcome.as_deref(),
            self.access_reason.as_deref(),
        );
        let has_lost = locks
            .0
            .is_some_and(|outcome| outcome == "lost" || NOT_WHOLE.contains(&outcome));
        match accesses.0 {
            Some(_) if !has_lost => accesses,
            _ => locks,
        }
    }
}

/// A call edge seen from one end.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Neighbour {
    pub name: SymbolName,
    /// File and line of the definition, if the tree has one.
    pub place: Option<(String, u32)>,
}

/// A function and where it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Definition {
    pub id: u32,
    pub name: String,
    pub file: String,
    pub line: u32,
}

impl Definition {
    /// What functions are listed by: their name, then where they are.
    pub fn order(&self) -> (&str, &str, u32, u32) {
        (&self.name, &self.file, self.line, self.id)
    }
}

/// A finding, as far as its function's page tells it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FoundIn {
    pub level: String,
    pub rule: String,
    pub message: String,
    pub file: String,
    pub line: u32,
}

/// Something that was lost or that a person should know.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failure {
    /// `parse`, `lower`, `out of budget`, …
    pub kind: String,
    pub file: String,
    pub line: u32,
    pub name: Option<String>,
    pub message: String,
}

/// SQLite's measure for 32 MB of pages that are kept in memory.
const CACHE: i64 = -32_768;

/// The database, open for reading beside a run.
#[derive(Debug)]
pub struct Reader {
    connection: Connection,
}

impl Reader {
    pub fn open(folder: &Path) -> Result<Self, StoreError> {
        let connection = schema::open_to_read(folder)?;
        // A query that follows calls comes to most pages of a table, in any order.
        connection.pragma_update(None, "cache_size", CACHE)?;
        Ok(Reader { connection })
    }

    /// Whether a function's unit is of a hosted program, as its body says; one that has no body is not known to be.
    pub fn is_hosted(&self, row: &FunctionRow) -> bool {
        let folder = self
            .connection
            .path()
            .and_then(|path| Path::new(path).parent());
        let bodies = folder.and_then(|folder| open_bodies(folder).ok());
        let body = bodies
            .zip(row.body)
            .and_then(|(bodies, key)| bodies.get(key));
        body.is_some_and(|body| body.hosted)
    }

    /// The database as it is now, until what this returns is dropped. Many small queries are faster with it: SQLite locks its file once for all of
    /// them.
    pub fn snapshot(&self) -> Result<impl Drop + '_, StoreError> {
        Ok(self.connection.unchecked_transaction()?)
    }

    /// The functions of this name: `name`, or `file::name` with the file or the end of its path.
    pub fn functions(&self, name: &str) -> Result<Vec<FunctionRow>, StoreError> {
        let (file, name) = match name.rsplit_once("::") {
            Some((file, name)) => (Some(file), name),
            None => (None, name),
        };
        let sql = format!(
            "SELECT {COLUMNS} FROM functions f WHERE f.name = ?1 ORDER BY f.own DESC, f.id"
        );
        let mut statement = self.connection.prepare(&sql)?;
        let rows = statement.query_map([name], function_row)?;
        let mut functions = rows.collect::<Result<Vec<_>, _>>()?;
        if let Some(file) = file {
            functions.retain(|function| ends_with_path(&function.file, file));
        }
        Ok(functions)
    }

    /// What a call of `name` means in `caller`, or else in whatever is inlined into it.
    pub fn callee(
        &self,
        caller: u32,
        name: &SymbolName,
    ) -> Result<Option<FunctionRow>, StoreError> {
        let mut statement = self.connection.prepare_cached(&format!(
            "SELECT {COLUMNS}
             FROM functions f LEFT JOIN calls ON calls.callee = f.id AND calls.caller = ?1
             WHERE f.name = ?2 AND f.scope IS ?3
             ORDER BY calls.caller IS NULL, f.own DESC, f.id LIMIT 1"
        ))?;
        let row = statement
            .query_row(params![caller, name.name, name.file], function_row)
            .optional()?;
        Ok(row)
    }

    /// The findings of the last run that went through to the end, those that explanations cover among them, each with its
    /// verdict and the reason of the comment that silences it.
    pub fn entries(&self) -> Result<Vec<Entry>, StoreError> {
        let mut statement = self.connection.prepare(
            "SELECT fingerprint, rule, level, message, file, line, col, function, object,
                    explanations, trace, programs, filtered, ignored
             FROM findings ORDER BY rowid",
        )?;
        let rows = statement.query_map([], |row| Ok((finding_row(row)?, row.get(13)?)))?;
        let rows = rows.collect::<Result<Vec<(Finding, Option<String>)>, _>>()?;
        let (findings, ignored) = rows.into_iter().unzip();
        // The run has given verdicts on renamed files their new names.
        Ok(triage::entries(
            findings,
            &self.verdicts()?,
            ignored,
            &|_| false,
        ))
    }

    /// The verdicts that people have given, on findings that are gone, too.
    pub fn verdicts(&self) -> Result<Vec<Judged>, StoreError> {
        Ok(super::verdicts::read(&self.connection)?)
    }

    /// What reports say of the last run, as JSON; `None` if it did not go through to the end.
    pub fn about(&self) -> Result<Option<String>, StoreError> {
        let sql = "SELECT value FROM meta WHERE key = ?1";
        let about = self.connection.query_row(sql, [ABOUT], |row| row.get(0));
        Ok(about.optional()?)
    }

    pub fn result(&self, key: ResultKey) -> Result<Option<FunctionResult>, StoreError> {
        Ok(read_result(&self.connection, key)?)
    }

    /// Names of functions that look like `name`, the most alike first.
    pub fn similar(&self, name: &str) -> Result<Vec<String>, StoreError> {
        let name = name.rsplit_once("::").map_or(name, |(_, name)| name);
        let mut statement = self
            .connection
            .prepare("SELECT DISTINCT name FROM functions ORDER BY name")?;
        let names = statement.query_map([], |row| row.get(0))?;
        let mut scored: Vec<(f64, String)> = Vec::new();
        for candidate in names {
            let candidate: String = candidate?;
            let score = strsim::jaro_winkler(name, &candidate);
            if score > 0.85 {
                scored.push((score, candidate));
            }
        }
        scored.sort_by(|a, b| b.0.total_cmp(&a.0).then_with(|| a.1.cmp(&b.1)));
        Ok(scored.into_iter().take(3).map(|(_, name)| name).collect())
    }

    /// The functions called directly, by name.
    pub fn callees(&self, function: u32) -> Result<Vec<Neighbour>, StoreError> {
        self.neighbours(
            "SELECT calls.name, calls.scope, f.file, f.line FROM calls
             LEFT JOIN functions f ON f.id = calls.callee
             WHERE calls.caller = ?1 ORDER BY calls.name, calls.scope",
            params![function],
        )
    }

    /// The functions that call this definition directly, by name.
    pub fn callers(&self, function: u32) -> Result<Vec<Neighbour>, StoreError> {
        self.neighbours(
            "SELECT f.name, f.scope, f.file, f.line FROM calls
             JOIN functions f ON f.id = calls.caller
             WHERE calls.callee = ?1 ORDER BY f.name, f.file, f.line",
            params![function],
        )
    }

    /// The functions that call a name which the tree does not define.
    pub fn callers_of_undefined(&self, name: &str) -> Result<Vec<Neighbour>, StoreError> {
        self.neighbours(
            "SELECT f.name, f.scope, f.file, f.line FROM calls
             JOIN functions f ON f.id = calls.caller
             WHERE calls.name = ?1 AND calls.callee IS NULL ORDER BY f.name, f.file, f.line",
            params![name],
        )
    }

    fn neighbours(
        &self,
        sql: &str,
        params: impl rusqlite::Params,
    ) -> Result<Vec<Neighbour>, StoreError> {
        let mut statement = self.connection.prepare(sql)?;
        let rows = statement.query_map(params, |row| {
            let file: Option<String> = row.get(2)?;
            let line: Option<u32> = row.get(3)?;
            Ok(Neighbour {
                name: SymbolName {
                    name: row.get(0)?,
                    file: row.get(1)?,
                },
                place: file.zip(line),
            })
        })?;
        let mut neighbours = rows.collect::<Result<Vec<_>, _>>()?;
        // A function compiled in two ways is two functions of one place.
        neighbours.dedup();
        Ok(neighbours)
    }

    /// The folder that files are relative to, as it is named from the database's folder.
    pub fn root(&self) -> Result<Option<String>, StoreError> {
        let sql = "SELECT value FROM meta WHERE key = ?1";
        let root = self.connection.query_row(sql, [ROOT], |row| row.get(0));
        Ok(root.optional()?)
    }

    /// What the last run read.
    pub fn reading(&self) -> Result<Reading, StoreError> {
        let sql = "SELECT value FROM meta WHERE key = ?1";
        let text: Option<String> = self
            .connection
            .query_row(sql, [READING], |row| row.get(0))
            .optional()?;
        Ok(text
            .and_then(|text| serde_json::from_str(&text).ok())
            .unwrap_or_default())
    }

    /// What was not read: units and declarations, by place.
    pub fn losses(&self) -> Result<Vec<Failure>, StoreError> {
        self.select_failures(
            "SELECT DISTINCT stage, file, line, name, message FROM losses ORDER BY 2, 3, 1, 4",
        )
    }

    /// Everything that was lost, by place: units and declarations, then functions.
    pub fn failures(&self) -> Result<Vec<Failure>, StoreError> {
        let not_whole = NOT_WHOLE.map(|outcome| format!("'{outcome}'")).join(", ");
        self.select_failures(&format!(
            "SELECT DISTINCT stage, file, line, name, message FROM losses
             UNION
             SELECT DISTINCT outcome, file, line, name, reason FROM functions
             WHERE own IN (0, 1) AND outcome IN ({not_whole})
             UNION
             SELECT DISTINCT access_outcome, file, line, name, access_reason FROM functions
             WHERE access_outcome IN ({not_whole})
             ORDER BY 2, 3, 1, 4"
        ))
    }

    fn select_failures(&self, sql: &str) -> Result<Vec<Failure>, StoreError> {
        let mut statement = self.connection.prepare(sql)?;
        let rows = statement.query_map([], |row| {
            Ok(Failure {
                kind: row.get(0)?,
                file: row.get(1)?,
                line: row.get(2)?,
                name: row.get(3)?,
                message: row.get::<_, Option<String>>(4)?.unwrap_or_default(),
            })
        })?;
        Ok(rows.collect::<Result<_, _>>()?)
    }

    /// Calls whose meaning was guessed, by name.
    pub fn ambiguous(&self) -> Result<Vec<Ambiguity>, StoreError> {
        let mut statement = self
            .connection
            .prepare("SELECT name, caller, taken, others FROM ambiguous ORDER BY name")?;
        let rows = statement.query_map([], |row| {
            let others: String = row.get(3)?;
            Ok(Ambiguity {
                name: row.get(0)?,
                caller: row.get(1)?,
                taken: row.get(2)?,
                others: others.lines().map(str::to_owned).collect(),
            })
        })?;
        Ok(rows.collect::<Result<_, _>>()?)
    }

    /// The rows that any SQL query gives, below their columns' names. A query can only read, and this database only.
    pub fn sql(&self, query: &str) -> Result<(Vec<String>, Vec<Vec<Cell>>), StoreError> {
        self.connection.execute_batch(&plain::views("TEMP"))?;
        self.connection.authorizer(Some(authorize));
        let table = self.select(query);
        self.connection
            .authorizer(None::<fn(AuthContext<'_>) -> Authorization>);
        Ok(table?)
    }

    fn select(&self, query: &str) -> Result<(Vec<String>, Vec<Vec<Cell>>), rusqlite::Error> {
        let mut statement = self.connection.prepare(query)?;
        let names = statement.column_names();
        let names = names.iter().map(|name| (*name).to_owned()).collect();
        let columns = statement.column_count();
        let mut rows = statement.query([])?;
        let mut table = Vec::new();
        while let Some(row) = rows.next()? {
            let cells: Result<Vec<Cell>, rusqlite::Error> =
                (0..columns).map(|column| cell(row, column)).collect();
            table.push(cells?);
        }
        Ok((names, table))
    }

    /// How many functions the last run did not reach.
    pub fn unfinished(&self) -> Result<u64, StoreError> {
        let count: Option<i64> = self
            .connection
            .query_row(
                "SELECT count(*) FROM functions WHERE own IN (0, 1) AND outcome IS NULL",
                [],
                |row| row.get(0),
            )
            .optional()?;
        Ok(count.unwrap_or(0).cast_unsigned())
    }
}

fn finding_row(row: &Row<'_>) -> Result<Finding, rusqlite::Error> {
    Ok(Finding {
        retold: None,
        fingerprint: row.get(0)?,
        rule: row.get(1)?,
        level: from_json(&format!("\"{}\"", row.get::<_, String>(2)?), 2)?,
        message: row.get(3)?,
        file: row.get(4)?,
        line: row.get(5)?,
        column: row.get(6)?,
        function: row.get(7)?,
        object: row.get(8)?,
        explanations: from_json(&row.get::<_, String>(9)?, 9)?,
        trace: from_json(&row.get::<_, String>(10)?, 10)?,
        programs: from_json(&row.get::<_, String>(11)?, 11)?,
        filtered: from_json(&row.get::<_, String>(12)?, 12)?,
    })
}

fn from_json<T: serde::de::DeserializeOwned>(
    text: &str,
    column: usize,
) -> Result<T, rusqlite::Error> {
    serde_json::from_str(text).map_err(|error| {
        rusqlite::Error::FromSqlConversionFailure(column, Type::Text, Box::new(error))
    })
}

/// A value of a table.
#[derive(Clone, Debug, PartialEq)]
pub enum Cell {
    Null,
    Integer(i64),
    Real(f64),
    Text(String),
}

/// A value; bytes in hexadecimal.
fn cell(row: &Row<'_>, column: usize) -> Result<Cell, rusqlite::Error> {
    Ok(match row.get_ref(column)? {
        ValueRef::Null => Cell::Null,
        ValueRef::Integer(number) => Cell::Integer(number),
        ValueRef::Real(number) => Cell::Real(number),
        ValueRef::Text(text) => Cell::Text(String::from_utf8_lossy(text).into_owned()),
        ValueRef::Blob(bytes) => {
            Cell::Text(bytes.iter().map(|byte| format!("{byte:02x}")).collect())
        }
    })
}

/// What a person's query may do: read. No other file is attached, and no setting is changed.
fn authorize(context: AuthContext<'_>) -> Authorization {
    match context.action {
        AuthAction::Select
        | AuthAction::Read { .. }
        | AuthAction::Function { .. }
        | AuthAction::Recursive => Authorization::Allow,
        AuthAction::Pragma { pragma_name, .. }
            if [
                "table_info",
                "table_xinfo",
                "table_list",
                "index_list",
                "user_version",
            ]
            .contains(&pragma_name)
                && !matches!(
                    context.action,
                    AuthAction::Pragma {
                        pragma_name: "user_version",
                        pragma_value: Some(_)
                    }
                ) =>
        {
            Authorization::Allow
        }
        _ => Authorization::Deny,
    }
}

/// The body cache of `folder`, open beside no run.
pub fn open_bodies(folder: &Path) -> Result<Bodies, StoreError> {
    schema::open_to_read(folder)?;
    Bodies::open_to_read(folder).map_err(|error| match &error {
        StoreError::Sql { error: sql, .. }
            if sql.sqlite_error_code() == Some(ErrorCode::DatabaseBusy) =>
        {
            StoreError::Locked(folder.to_owned())
        }
        _ => error,
    })
}

/// Columns of `functions` by the name `f`, as [`function_row`] reads them.
const COLUMNS: &str =
    "f.id, f.name, f.scope, f.file, f.line, f.own, f.body, f.outcome, f.reason, f.result,
    f.variant, f.programs, f.access_outcome, f.access_reason, f.access_result";

fn function_row(row: &Row<'_>) -> Result<FunctionRow, rusqlite::Error> {
    Ok(FunctionRow {
        id: row.get(0)?,
        name: SymbolName {
            name: row.get(1)?,
            file: row.get(2)?,
        },
        file: row.get(3)?,
        line: row.get(4)?,
        own: row.get(5)?,
        body: row.get::<_, Option<[u8; 16]>>(6)?.map(BodyKey),
        outcome: row.get(7)?,
        reason: row.get(8)?,
        result: row.get::<_, Option<[u8; 16]>>(9)?.map(ResultKey),
        variant: row.get(10)?,
        programs: row
            .get::<_, Option<String>>(11)?
            .map(|programs| programs.lines().map(str::to_owned).collect())
            .unwrap_or_default(),
        access_outcome: row.get(12)?,
        access_reason: row.get(13)?,
        access_result: row.get::<_, Option<[u8; 16]>>(14)?.map(ResultKey),
    })
}

/// Whether `path` is `end` or ends with it, whole components only.
fn ends_with_path(path: &str, end: &str) -> bool {
    Path::new(path).ends_with(Path::new(end))
}
