//! The call graph and the functions' results, for queries that follow calls.
//!
//! In: names and functions. Out: the functions that a name means, who calls whom, and what functions hold when they call.

use rusqlite::params;

use super::{FunctionRow, Reader, function_row};
use crate::ir::SymbolName;
use crate::judge::record::{FunctionResult, ResultKey};
use crate::store::StoreError;
use crate::store::results::read_result;

/// Columns of `functions`, as [`function_row`] reads them.
const COLUMNS: &str =
    "f.id, f.name, f.scope, f.file, f.line, f.own, f.body, f.outcome, f.reason, f.result,
    f.variant, f.programs, f.access_outcome, f.access_result";

impl Reader {
    /// The functions whose names match: by a glob (`uart_*`), or by any part of them.
    pub fn functions_like(&self, pattern: &str) -> Result<Vec<FunctionRow>, StoreError> {
        let (file, name) = match pattern.rsplit_once("::") {
            Some((file, name)) => (Some(file), name),
            None => (None, pattern),
        };
        let test = match is_glob(name) {
            true => "f.name GLOB ?1",
            false => "instr(f.name, ?1) > 0",
        };
        let sql = format!(
            "SELECT {COLUMNS} FROM functions f WHERE {test} ORDER BY f.name, f.own DESC, f.id"
        );
        let mut statement = self.connection.prepare(&sql)?;
        let rows = statement.query_map([name], function_row)?;
        let mut rows = rows.collect::<Result<Vec<_>, _>>()?;
        if let Some(file) = file {
            rows.retain(|row| super::ends_with_path(&row.file, file));
        }
        Ok(rows)
    }

    /// The functions that call this definition directly, by name.
    pub fn calling(&self, function: u32) -> Result<Vec<FunctionRow>, StoreError> {
        let sql = format!(
            "SELECT DISTINCT {COLUMNS} FROM calls JOIN functions f ON f.id = calls.caller
             WHERE calls.callee = ?1 ORDER BY f.name, f.file, f.line, f.id"
        );
        let mut statement = self.connection.prepare_cached(&sql)?;
        let rows = statement.query_map([function], function_row)?;
        Ok(rows.collect::<Result<_, _>>()?)
    }

    /// The functions that one calls directly, by name; those that the tree does not define by name alone.
    pub fn called(
        &self,
        function: u32,
    ) -> Result<Vec<(SymbolName, Option<FunctionRow>)>, StoreError> {
        let mut names = self.connection.prepare_cached(
            "SELECT DISTINCT name, scope, callee FROM calls WHERE caller = ?1 ORDER BY name, scope",
        )?;
        let sql = format!("SELECT {COLUMNS} FROM functions f WHERE f.id = ?1");
        let mut one = self.connection.prepare_cached(&sql)?;
        let rows = names.query_map(params![function], |row| {
            let name = SymbolName {
                name: row.get(0)?,
                file: row.get(1)?,
            };
            let callee: Option<u32> = row.get(2)?;
            let callee = callee.map(|id| one.query_row([id], function_row));
            Ok((name, callee.transpose()?))
        })?;
        Ok(rows.collect::<Result<_, _>>()?)
    }

    /// Visits the name, file and line of each function, by name; the tree's own functions come first among those of one name.
    pub fn each_name(&self, visit: &mut dyn FnMut(String, String, u32)) -> Result<(), StoreError> {
        let mut statement = self.connection.prepare(
            "SELECT DISTINCT name, file, line FROM functions ORDER BY name, own DESC, file, line",
        )?;
        let mut rows = statement.query([])?;
        while let Some(row) = rows.next()? {
            visit(row.get(0)?, row.get(1)?, row.get(2)?);
        }
        Ok(())
    }

    /// Whether a function or the trace of a finding lies in this file.
    pub fn has_file(&self, file: &str) -> Result<bool, StoreError> {
        let sql = "SELECT EXISTS (SELECT 1 FROM functions WHERE file = ?1)
            OR EXISTS (SELECT 1 FROM findings, json_each(findings.trace) AS step
                WHERE findings.file = ?1 OR step.value ->> 'file' = ?1)";
        Ok(self.connection.query_row(sql, [file], |row| row.get(0))?)
    }

    /// What became of the tree's own functions, and how many it became of; `None` of those that the run did not reach.
    pub fn outcomes(&self) -> Result<Vec<(Option<String>, u64)>, StoreError> {
        let mut statement = self.connection.prepare(
            "SELECT outcome, count(*) FROM functions WHERE own GROUP BY outcome ORDER BY 2 DESC, 1",
        )?;
        let rows = statement.query_map([], |row| {
            Ok((row.get(0)?, row.get::<_, i64>(1)?.cast_unsigned()))
        })?;
        Ok(rows.collect::<Result<_, _>>()?)
    }

    /// Another number after each change that another connection makes.
    pub fn version(&self) -> Result<i64, StoreError> {
        let sql = "PRAGMA data_version";
        Ok(self.connection.query_row(sql, [], |row| row.get(0))?)
    }

    /// Visits each function that was analysed in the last run, with its result.
    pub fn each_result(
        &self,
        visit: &mut dyn FnMut(&FunctionRow, &FunctionResult),
    ) -> Result<(), StoreError> {
        let sql = format!(
            "SELECT {COLUMNS} FROM functions f
             WHERE f.result IS NOT NULL AND coalesce(f.variant, 0) = 0 ORDER BY f.name, f.file, f.line"
        );
        let mut statement = self.connection.prepare(&sql)?;
        let mut rows = statement.query([])?;
        while let Some(row) = rows.next()? {
            let row = function_row(row)?;
            let key: Option<ResultKey> = row.result;
            let result = key.map(|key| read_result(&self.connection, key));
            if let Some(result) = result.transpose()?.flatten() {
                visit(&row, &result);
            }
        }
        Ok(())
    }
}

/// Whether a name has characters that stand for others.
pub fn is_glob(name: &str) -> bool {
    name.contains(['*', '?', '['])
}
