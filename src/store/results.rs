//! Results and summaries as rows of the database, each with a hash of itself: a damaged row is none.

use rusqlite::{Connection, OptionalExtension};
use rustc_hash::FxHashMap;

use super::checked;
use crate::engine::analysis::StoredResult;
use crate::judge::record::{Facts, FunctionResult, Outcome, ResultKey, Statistics};
use crate::summary::Summary;

/// A row of `results`.
#[derive(Debug)]
pub(super) struct ResultRow {
    pub outcome: &'static str,
    pub reason: Option<String>,
    pub identity: [u8; 32],
    pub active: bool,
    pub findings: Vec<u8>,
    pub obligations: Vec<u8>,
    pub lock_order: Vec<u8>,
    /// The recursion, and the results of callees that are looked at.
    pub recursion: Vec<u8>,
    pub statistics: Statistics,
}

/// What [`ResultRow::read`] reads.
const COLUMNS: &str =
    "outcome, reason, identity, active, findings, obligations, lock_order, recursion,
     blocks, terms, queries, solver_calls, checksum, key";

impl ResultRow {
    /// The row and its key, if it is what was written.
    fn read(row: &rusqlite::Row<'_>) -> Result<Option<(ResultKey, Self)>, rusqlite::Error> {
        let count = |column| -> Result<u64, rusqlite::Error> {
            Ok(row.get::<_, i64>(column)?.cast_unsigned())
        };
        let found = ResultRow {
            outcome: match row.get_ref(0)?.as_str()? {
                "analysed" => "analysed",
                "analysed in part" => "analysed in part",
                "out of budget" => "out of budget",
                _ => "failed",
            },
            reason: row.get(1)?,
            identity: row.get(2)?,
            active: row.get(3)?,
            findings: row.get(4)?,
            obligations: row.get(5)?,
            lock_order: row.get(6)?,
            recursion: row.get(7)?,
            statistics: Statistics {
                blocks: count(8)?,
                terms: count(9)?,
                queries: count(10)?,
                solver_calls: count(11)?,
            },
        };
        let key = ResultKey(row.get(13)?);
        let sound = found.check(key) == row.get::<_, i64>(12)?;
        Ok(sound.then_some((key, found)))
    }

    /// Hash of the row and its key.
    pub fn check(&self, key: ResultKey) -> i64 {
        let mut hasher = xxhash_rust::xxh3::Xxh3::new();
        let mut add = |part: &[u8]| {
            hasher.update(&(part.len() as u64).to_le_bytes());
            hasher.update(part);
        };
        add(&key.0);
        add(self.outcome.as_bytes());
        add(self.reason.as_deref().unwrap_or_default().as_bytes());
        add(&self.identity);
        add(&[u8::from(self.active)]);
        let Statistics {
            blocks,
            terms,
            queries,
            solver_calls,
        } = self.statistics;
        for count in [blocks, terms, queries, solver_calls] {
            add(&count.to_le_bytes());
        }
        for blob in [
            &self.findings,
            &self.obligations,
            &self.lock_order,
            &self.recursion,
        ] {
            add(blob);
        }
        hasher.digest().cast_signed()
    }

    pub fn decode(self) -> Option<StoredResult> {
        let reason = self.reason.unwrap_or_default();
        let (recursion, results, excluded, accesses) =
            postcard::from_bytes(&self.recursion).ok()?;
        Some(StoredResult {
            identity: blake3::Hash::from_bytes(self.identity),
            active: self.active,
            facts: Facts {
                findings: postcard::from_bytes(&self.findings).ok()?,
                obligations: postcard::from_bytes(&self.obligations).ok()?,
                lock_order: postcard::from_bytes(&self.lock_order).ok()?,
                recursion,
                results,
                excluded,
                accesses,
                statistics: self.statistics,
            },
            outcome: match self.outcome {
                "analysed" => Outcome::Analysed,
                "analysed in part" => Outcome::Reduced(reason),
                "out of budget" => Outcome::OutOfBudget(reason),
                _ => Outcome::Failed(reason),
            },
        })
    }
}

/// A damaged row is none.
pub(super) fn read_row(
    connection: &Connection,
    key: ResultKey,
) -> Result<Option<ResultRow>, rusqlite::Error> {
    let row = connection
        .prepare_cached(&format!("SELECT {COLUMNS} FROM results WHERE key = ?1"))?
        .query_row([key.0], ResultRow::read)
        .optional()?;
    Ok(row.flatten().map(|(_, row)| row))
}

/// All results: reading them in one go costs less than looking up most of them.
pub(super) fn read_rows(
    connection: &Connection,
) -> Result<FxHashMap<ResultKey, ResultRow>, rusqlite::Error> {
    connection
        .prepare(&format!("SELECT {COLUMNS} FROM results"))?
        .query_map([], ResultRow::read)?
        .filter_map(Result::transpose)
        .collect()
}

pub(super) fn read_summary(
    connection: &Connection,
    key: ResultKey,
) -> Result<Option<Summary>, rusqlite::Error> {
    connection
        .prepare_cached("SELECT summary FROM summaries WHERE key = ?1")?
        .query_row([key.0], |row| {
            Ok(checked::decode(&key.0, row.get_ref(0)?.as_blob()?))
        })
        .optional()
        .map(Option::flatten)
}

/// The stored result of this key, with its summary.
pub(super) fn read_result(
    connection: &Connection,
    key: ResultKey,
) -> Result<Option<FunctionResult>, rusqlite::Error> {
    let (Some(row), Some(summary)) = (read_row(connection, key)?, read_summary(connection, key)?)
    else {
        return Ok(None);
    };
    Ok(row.decode().map(|result| FunctionResult {
        summary,
        facts: result.facts,
        outcome: result.outcome,
    }))
}
