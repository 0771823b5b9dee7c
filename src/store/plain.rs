//! Results as rows of text and numbers, for people's own queries.
//!
//! In: what a result says in words, as whoever stores it tells. Out: rows under the result's key, written in the same transaction and forgotten with it; and
//! the views that put them beside the functions. Nothing of an analysis reads them.

use rusqlite::{Connection, params};

use crate::judge::record::ResultKey;
use crate::settle::guards::Guards;
use crate::summary::stats::Statistics;

/// What a function does with one object, on some of its paths.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TransitionRow {
    /// As the function's own source would write it.
    pub object: String,
    pub class: Option<String>,
    /// The machine: `spinlock`, `heap`, …
    pub kind: String,
    /// States on entry and on exit.
    pub before: String,
    pub after: String,
    /// In words of the source; empty if it is always so.
    pub condition: String,
    /// What these paths return: `negative`, `not zero`, …
    pub returns: Option<String>,
    /// Whether that says that the function has failed.
    pub fails: Option<bool>,
}

/// What a function does with a lock of its callers, or needs of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ActRow {
    pub act: &'static str,
    pub object: String,
    pub class: String,
    pub kind: String,
}

/// A lock is taken while another one is held.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OrderRow {
    pub outer: String,
    pub outer_name: String,
    pub inner: String,
    pub inner_name: String,
    pub file: String,
    pub line: u32,
}

/// A lock is held whenever a function is called.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HeldRow {
    pub callee: String,
    /// The file of a static function.
    pub scope: Option<String>,
    pub class: String,
}

/// What one result says.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Plain {
    pub transitions: Vec<TransitionRow>,
    pub acts: Vec<ActRow>,
    pub orders: Vec<OrderRow>,
    pub held: Vec<HeldRow>,
    /// The function counted by itself, if it operates on locks.
    pub counts: Option<Statistics>,
}

pub(super) const TABLES: &str = "
    CREATE TABLE transitions (      -- summaries: what becomes of an object, and when
        result BLOB NOT NULL,       -- as in functions
        number INTEGER NOT NULL, object TEXT NOT NULL, class TEXT, kind TEXT NOT NULL,
        before TEXT NOT NULL, after TEXT NOT NULL, condition TEXT NOT NULL, returns TEXT,
        fails INTEGER,              -- what is returned says so: 1, or not: 0; NULL: it does not tell
        PRIMARY KEY (result, number)
    ) WITHOUT ROWID;
    CREATE TABLE acts (             -- what functions do with their callers' locks, and need of them
        result BLOB NOT NULL, number INTEGER NOT NULL,
        act TEXT NOT NULL, object TEXT NOT NULL, class TEXT NOT NULL, kind TEXT NOT NULL,
        PRIMARY KEY (result, number)
    ) WITHOUT ROWID;
    CREATE INDEX acts_by_class ON acts (class);
    CREATE TABLE orders (           -- locks that are taken while another one is held
        result BLOB NOT NULL, number INTEGER NOT NULL,
        outer_class TEXT NOT NULL, outer_name TEXT NOT NULL, inner_class TEXT NOT NULL, inner_name TEXT NOT NULL,
        file TEXT NOT NULL, line INTEGER NOT NULL,
        PRIMARY KEY (result, number)
    ) WITHOUT ROWID;
    CREATE TABLE held (             -- classes of locks that are held during each call of a function
        result BLOB NOT NULL, number INTEGER NOT NULL,
        callee TEXT NOT NULL, scope TEXT, class TEXT NOT NULL,
        PRIMARY KEY (result, number)
    ) WITHOUT ROWID;
    CREATE TABLE lock_counts (      -- what `cassini query stats` counts of functions that operate on locks
        result BLOB PRIMARY KEY, several INTEGER NOT NULL, lock_wrapper INTEGER NOT NULL,
        unlock_wrapper INTEGER NOT NULL, told_by_result INTEGER NOT NULL, needs_state INTEGER NOT NULL
    ) WITHOUT ROWID;
    CREATE TABLE guards (           -- `cassini race`: the lock that each member is accessed under
        member TEXT PRIMARY KEY, lock TEXT NOT NULL,
        functions_with INTEGER NOT NULL, functions_without INTEGER NOT NULL,
        accesses_with INTEGER NOT NULL, accesses_without INTEGER NOT NULL, writes INTEGER NOT NULL,
        z REAL NOT NULL
    ) WITHOUT ROWID;
    CREATE TABLE member_accesses (  -- the accesses that count for it
        member TEXT NOT NULL, function TEXT NOT NULL, file TEXT NOT NULL, line INTEGER NOT NULL,
        access TEXT NOT NULL,       -- read, write
        locks TEXT NOT NULL         -- what is held there, one to a line
    );
    CREATE INDEX member_accesses_by_member ON member_accesses (member);
    CREATE INDEX acts_by_act ON acts (act);
    CREATE INDEX transitions_that_fail ON transitions (kind, after) WHERE fails = 1;
    CREATE INDEX functions_by_result ON functions (result, variant, outcome, name, file, line);
    CREATE INDEX functions_by_access_result ON functions (access_result);
    CREATE INDEX calls_by_callee ON calls (callee, caller);
";

/// The tables whose rows go with a result.
pub(super) const OF_RESULTS: [&str; 5] = ["transitions", "acts", "orders", "held", "lock_counts"];

/// Views by name. The program's own connections take no view from a file, which may have come with a tree: they make these anew.
const VIEWS: [(&str, &str); 9] = [
    (
        "function_transitions",
        "SELECT f.id AS function_id, f.name AS function, f.file, f.line, t.object, t.class, t.kind,
             t.before, t.after, t.condition, t.returns, t.fails
         FROM functions f JOIN transitions t ON t.result = f.result OR t.result = f.access_result",
    ),
    (
        "function_locks",
        "SELECT f.id AS function_id, f.name AS function, f.file, f.line, a.act, a.object, a.class, a.kind
         FROM functions f JOIN acts a ON a.result = f.result",
    ),
    (
        "requirements",
        "SELECT f.id AS function_id, f.name AS function, f.file, f.line, a.act AS needs, a.object, a.class, a.kind
         FROM functions f JOIN acts a ON a.result = f.result WHERE a.act IN ('needs held', 'needs free')",
    ),
    (
        "lock_classes",
        "SELECT a.class, a.kind, count(DISTINCT f.id) AS functions
         FROM functions f JOIN acts a ON a.result = f.result WHERE a.class <> '' GROUP BY a.class, a.kind",
    ),
    (
        "lock_orders",
        "SELECT f.id AS function_id, f.name AS function, o.outer_class, o.outer_name, o.inner_class, o.inner_name,
             o.file, o.line
         FROM functions f JOIN orders o ON o.result = f.result",
    ),
    (
        "calls_under_locks",
        "SELECT f.id AS function_id, f.name AS function, f.file, f.line, h.callee, h.scope, h.class
         FROM functions f JOIN held h ON h.result = f.result",
    ),
    (
        "function_calls",
        "SELECT f.id AS caller_id, f.name AS caller, f.file AS caller_file, c.callee AS callee_id, c.name AS callee,
             g.file AS callee_file
         FROM calls c JOIN functions f ON f.id = c.caller LEFT JOIN functions g ON g.id = c.callee",
    ),
    (
        "finding_steps",
        "SELECT f.fingerprint, s.key + 1 AS number, s.value ->> 'file' AS file, s.value ->> 'line' AS line,
             s.value ->> 'function' AS function, s.value ->> 'depth' AS depth, s.value ->> 'message' AS message
         FROM findings f, json_each(f.trace) s",
    ),
    (
        "finding_explanations",
        "SELECT f.fingerprint, e.key + 1 AS number, e.value ->> 'kind' AS kind, e.value ->> 'text' AS text
         FROM findings f, json_each(f.explanations) e",
    ),
];

/// The statements that make the views; `kind` is nothing, or `TEMP`.
pub(super) fn views(kind: &str) -> String {
    let view = |(name, query)| format!("CREATE {kind} VIEW IF NOT EXISTS {name} AS {query};\n");
    VIEWS.into_iter().map(view).collect()
}

/// Writes the rows of a result.
pub(super) fn write(
    connection: &Connection,
    key: ResultKey,
    plain: &Plain,
) -> Result<(), rusqlite::Error> {
    let mut transition = connection.prepare_cached(
        "INSERT OR REPLACE INTO transitions VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)",
    )?;
    for (number, row) in plain.transitions.iter().enumerate() {
        transition.execute(params![
            key.0,
            number,
            row.object,
            row.class,
            row.kind,
            row.before,
            row.after,
            row.condition,
            row.returns,
            row.fails
        ])?;
    }
    let mut act =
        connection.prepare_cached("INSERT OR REPLACE INTO acts VALUES (?1, ?2, ?3, ?4, ?5, ?6)")?;
    for (number, row) in plain.acts.iter().enumerate() {
        act.execute(params![
            key.0, number, row.act, row.object, row.class, row.kind
        ])?;
    }
    let mut order = connection
        .prepare_cached("INSERT OR REPLACE INTO orders VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)")?;
    for (number, row) in plain.orders.iter().enumerate() {
        order.execute(params![
            key.0,
            number,
            row.outer,
            row.outer_name,
            row.inner,
            row.inner_name,
            row.file,
            row.line
        ])?;
    }
    write_uses(connection, key, plain)
}

/// Writes what is held during calls, and what is counted.
fn write_uses(
    connection: &Connection,
    key: ResultKey,
    plain: &Plain,
) -> Result<(), rusqlite::Error> {
    let mut held =
        connection.prepare_cached("INSERT OR REPLACE INTO held VALUES (?1, ?2, ?3, ?4, ?5)")?;
    for (number, row) in plain.held.iter().enumerate() {
        held.execute(params![key.0, number, row.callee, row.scope, row.class])?;
    }
    if let Some(counts) = &plain.counts {
        connection
            .prepare_cached("INSERT OR REPLACE INTO lock_counts VALUES (?1, ?2, ?3, ?4, ?5, ?6)")?
            .execute(params![
                key.0,
                counts.on_several.cast_signed(),
                counts.lock_wrappers.cast_signed(),
                counts.unlock_wrappers.cast_signed(),
                counts.told_by_result.cast_signed(),
                counts.need_state.cast_signed()
            ])?;
    }
    Ok(())
}

/// Replaces the locks that guard members, and the accesses that tell.
pub(super) fn write_guards(
    connection: &Connection,
    guards: &Guards,
) -> Result<(), rusqlite::Error> {
    connection.execute_batch("DELETE FROM guards; DELETE FROM member_accesses;")?;
    let mut guard = connection
        .prepare_cached("INSERT OR REPLACE INTO guards VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)")?;
    for row in &guards.guards {
        guard.execute(params![
            row.member,
            row.lock,
            row.with,
            row.without,
            row.accesses_with,
            row.accesses_without,
            row.writes,
            row.z
        ])?;
    }
    let mut access =
        connection.prepare_cached("INSERT INTO member_accesses VALUES (?1, ?2, ?3, ?4, ?5, ?6)")?;
    for row in &guards.accesses {
        let does = if row.write { "write" } else { "read" };
        let locks = row.locks.join("\n");
        access.execute(params![
            row.member,
            row.function,
            row.file,
            row.line,
            does,
            locks
        ])?;
    }
    Ok(())
}
