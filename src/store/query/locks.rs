//! What functions do with locks, from the plain tables.
//!
//! In: what is asked of the tables `acts`, `orders`, `held` and `lock_counts`. Out: their rows, each with its function.

use rusqlite::{Params, Row, params};

use super::{Definition, FunctionRow, Reader, is_glob};
use crate::ir::SymbolName;
use crate::store::StoreError;
use crate::summary::stats::Statistics;

/// Columns of `functions`, as [`definition`] reads them, and how many they are.
const COLUMNS: &str = "f.id, f.name, f.file, f.line";
const OF_FUNCTION: usize = 4;

fn definition(row: &Row<'_>) -> Result<Definition, rusqlite::Error> {
    Ok(Definition {
        id: row.get(0)?,
        name: row.get(1)?,
        file: row.get(2)?,
        line: row.get(3)?,
    })
}

/// Which locks are meant.
#[derive(Clone, Copy, Debug)]
pub enum Lock<'a> {
    /// Those of this class.
    Class(&'a str),
    /// Those whose class or name in the source has this part, or matches this glob.
    Like(&'a str),
}

/// What a function does with a lock of its callers, or needs of it.
#[derive(Clone, Debug)]
pub struct ActOf {
    pub function: Definition,
    pub act: String,
    pub object: String,
    pub class: String,
    pub kind: String,
}

/// A lock that a function takes while it holds another one.
#[derive(Clone, Debug)]
pub struct OrderOf {
    pub function: Definition,
    pub outer: String,
    pub inner: String,
    pub inner_name: String,
}

/// How often a class of locks is spoken of.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ClassCount {
    pub class: String,
    pub functions: usize,
}

impl Reader {
    /// The functions that do one of these things with a lock, by name, file and line.
    pub fn acting(&self, acts: &[&str]) -> Result<Vec<ActOf>, StoreError> {
        let mut found = Vec::new();
        for act in acts {
            found.extend(self.acts("a.act = ?1", params![act])?);
        }
        Ok(by_function(found))
    }

    /// What functions do with a lock, by name, file and line.
    pub fn acts_on(&self, lock: Lock<'_>) -> Result<Vec<ActOf>, StoreError> {
        let (test, text) = match lock {
            Lock::Class(class) => ("a.class = ?1", class),
            Lock::Like(text) if is_glob(text) => ("(a.class GLOB ?1 OR a.object GLOB ?1)", text),
            Lock::Like(text) => ("(instr(a.class, ?1) OR instr(a.object, ?1))", text),
        };
        Ok(by_function(self.acts(test, params![text])?))
    }

    /// In the order of their results and numbers.
    fn acts(&self, test: &str, values: impl Params) -> Result<Vec<ActOf>, StoreError> {
        // The join's order is that of the words: what is asked is asked of the acts.
        let sql = format!(
            "SELECT {COLUMNS}, a.act, a.object, a.class, a.kind
             FROM acts a CROSS JOIN functions f ON f.result = a.result
             WHERE {test} AND coalesce(f.variant, 0) = 0"
        );
        let mut statement = self.connection.prepare(&sql)?;
        let rows = statement.query_map(values, |row| {
            Ok(ActOf {
                function: definition(row)?,
                act: row.get(OF_FUNCTION)?,
                object: row.get(OF_FUNCTION + 1)?,
                class: row.get(OF_FUNCTION + 2)?,
                kind: row.get(OF_FUNCTION + 3)?,
            })
        })?;
        Ok(rows.collect::<Result<_, _>>()?)
    }

    /// The orders that a lock is the first or the second of, by the function that takes both.
    pub fn orders(&self, lock: Lock<'_>) -> Result<Vec<OrderOf>, StoreError> {
        let (test, text) = match lock {
            Lock::Class(class) => ("?1 IN (o.outer_class, o.inner_class)", class),
            Lock::Like(text) if is_glob(text) => {
                ("(o.outer_class GLOB ?1 OR o.inner_class GLOB ?1)", text)
            }
            Lock::Like(text) => (
                "(instr(o.outer_class, ?1) OR instr(o.inner_class, ?1))",
                text,
            ),
        };
        let sql = format!(
            "SELECT {COLUMNS}, o.outer_class, o.inner_class, o.inner_name
             FROM orders o CROSS JOIN functions f ON f.result = o.result
             WHERE {test} AND coalesce(f.variant, 0) = 0
             ORDER BY f.name, f.file, f.line, f.id, o.number"
        );
        let mut statement = self.connection.prepare(&sql)?;
        let rows = statement.query_map([text], |row| {
            Ok(OrderOf {
                function: definition(row)?,
                outer: row.get(OF_FUNCTION)?,
                inner: row.get(OF_FUNCTION + 1)?,
                inner_name: row.get(OF_FUNCTION + 2)?,
            })
        })?;
        Ok(rows.collect::<Result<_, _>>()?)
    }

    /// The classes of locks that functions share with their callers, by name, and how many functions do something with each.
    pub fn lock_classes(&self) -> Result<Vec<ClassCount>, StoreError> {
        let mut statement = self.connection.prepare(
            "SELECT a.class, count(DISTINCT f.id) FROM acts a CROSS JOIN functions f ON f.result = a.result
             WHERE a.class <> '' AND coalesce(f.variant, 0) = 0 GROUP BY a.class",
        )?;
        let rows = statement.query_map([], |row| {
            Ok(ClassCount {
                class: row.get(0)?,
                functions: usize::try_from(row.get::<_, i64>(1)?).unwrap_or(0),
            })
        })?;
        Ok(rows.collect::<Result<_, _>>()?)
    }

    /// The classes of each lock that is taken while another one is held: that one's, and its own; as often as functions do so.
    pub fn ordered_classes(&self) -> Result<Vec<(String, String)>, StoreError> {
        let mut statement = self.connection.prepare(
            "SELECT o.outer_class, o.inner_class
             FROM orders o CROSS JOIN functions f ON f.result = o.result WHERE coalesce(f.variant, 0) = 0",
        )?;
        let rows = statement.query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?;
        Ok(rows.collect::<Result<_, _>>()?)
    }

    /// The classes of locks that a function holds during each call of another one.
    pub fn held_during(
        &self,
        caller: &FunctionRow,
        callee: &SymbolName,
    ) -> Result<Vec<String>, StoreError> {
        let mut statement = self.connection.prepare_cached(
            "SELECT class FROM held WHERE result = ?1 AND callee = ?2 AND scope IS ?3 ORDER BY number",
        )?;
        let key = caller.result.map(|key| key.0);
        let rows = statement.query_map(params![key, callee.name, callee.file], |row| row.get(0))?;
        Ok(rows.collect::<Result<_, _>>()?)
    }

    /// All calls during which a lock is held: caller, callee and class.
    pub fn calls_under_locks(&self) -> Result<Vec<(u32, u32, String)>, StoreError> {
        let mut statement = self.connection.prepare(
            "SELECT c.caller, c.callee, h.class FROM held h CROSS JOIN functions f ON f.result = h.result
             CROSS JOIN calls c ON c.caller = f.id AND c.name = h.callee AND c.scope IS h.scope
             WHERE c.callee IS NOT NULL ORDER BY 1, 2, h.number",
        )?;
        let rows = statement.query_map([], |row: &Row<'_>| {
            Ok((row.get(0)?, row.get(1)?, row.get(2)?))
        })?;
        Ok(rows.collect::<Result<_, _>>()?)
    }

    /// How the functions that were analysed use locks.
    pub fn lock_counts(&self) -> Result<Statistics, StoreError> {
        let sql = "SELECT count(*), coalesce(sum(several), 0), coalesce(sum(lock_wrapper), 0), coalesce(sum(unlock_wrapper), 0),
                coalesce(sum(told_by_result), 0), coalesce(sum(needs_state), 0)
            FROM lock_counts l CROSS JOIN functions f ON f.result = l.result
            WHERE f.outcome = 'analysed' AND coalesce(f.variant, 0) = 0";
        Ok(self.connection.query_row(sql, [], |row| {
            let count = |column: usize| -> Result<u64, rusqlite::Error> {
                Ok(row.get::<_, i64>(column)?.cast_unsigned())
            };
            Ok(Statistics {
                operating: count(0)?,
                on_several: count(1)?,
                lock_wrappers: count(2)?,
                unlock_wrappers: count(3)?,
                told_by_result: count(4)?,
                need_state: count(5)?,
            })
        })?)
    }
}

/// Puts rows in the order of their functions; those of one function stay in theirs. That is faster here than in SQLite.
fn by_function(mut rows: Vec<ActOf>) -> Vec<ActOf> {
    rows.sort_by(|a, b| a.function.order().cmp(&b.function.order()));
    rows
}
