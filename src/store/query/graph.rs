//! The call graph and the functions' results, for queries that follow calls.
//!
//! In: names and functions. Out: the functions that a name means, who calls whom, and what functions hold when they call.

use rusqlite::{OptionalExtension, params};

use super::{COLUMNS, FoundIn, FunctionRow, Reader, function_row};
use crate::ir::SymbolName;
use crate::store::StoreError;

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

    /// What the last run reports in a function: its findings but for those that an explanation covers, the gravest first.
    pub fn found_in(&self, function: &FunctionRow) -> Result<Vec<FoundIn>, StoreError> {
        let mut statement = self.connection.prepare_cached(
            "SELECT level, rule, message, file, line FROM findings
             WHERE function = ?1 AND file = ?2 AND level <> 'explained'
             ORDER BY CASE level WHEN 'error' THEN 0 WHEN 'warning' THEN 1 ELSE 2 END, line, rule",
        )?;
        let name = &function.name.name;
        let rows = statement.query_map([name, &function.file], |row| {
            Ok(FoundIn {
                level: row.get(0)?,
                rule: row.get(1)?,
                message: row.get(2)?,
                file: row.get(3)?,
                line: row.get(4)?,
            })
        })?;
        Ok(rows.collect::<Result<_, _>>()?)
    }

    /// Visits the name, file and line of each function, by name; the tree's own functions come first among those of one name.
    pub fn each_name(&self, visit: &mut dyn FnMut(String, String, u32)) -> Result<(), StoreError> {
        let mut statement = self.connection.prepare(
            "SELECT name, file, line FROM functions INDEXED BY functions_by_name
             ORDER BY name, own DESC, file, line",
        )?;
        let mut rows = statement.query([])?;
        // A function compiled in two ways is two functions of one place.
        let mut last: Option<(String, String, u32)> = None;
        while let Some(row) = rows.next()? {
            let found = (row.get(0)?, row.get(1)?, row.get(2)?);
            if last.as_ref() != Some(&found) {
                visit(found.0.clone(), found.1.clone(), found.2);
                last = Some(found);
            }
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

    /// The function of this id.
    pub fn function(&self, id: u32) -> Result<Option<FunctionRow>, StoreError> {
        let sql = format!("SELECT {COLUMNS} FROM functions f WHERE f.id = ?1");
        let mut statement = self.connection.prepare_cached(&sql)?;
        Ok(statement.query_row([id], function_row).optional()?)
    }

    /// All calls between functions of the tree: callee and caller, in order.
    pub fn edges(&self) -> Result<Vec<(u32, u32)>, StoreError> {
        // The index has them in order.
        let mut statement = self.connection.prepare(
            "SELECT callee, caller FROM calls INDEXED BY calls_by_callee WHERE callee IS NOT NULL
             ORDER BY callee, caller",
        )?;
        let rows = statement.query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?;
        let mut edges = rows.collect::<Result<Vec<(u32, u32)>, _>>()?;
        edges.dedup();
        Ok(edges)
    }

    /// The functions that call a name which the tree does not define, by id.
    pub fn calling_undefined(&self, name: &str) -> Result<Vec<(u32, SymbolName)>, StoreError> {
        let mut statement = self.connection.prepare(
            "SELECT DISTINCT caller, name, scope FROM calls WHERE name = ?1 AND callee IS NULL ORDER BY 1",
        )?;
        let rows = statement.query_map([name], |row| {
            let (name, file) = (row.get(1)?, row.get(2)?);
            Ok((row.get(0)?, SymbolName { name, file }))
        })?;
        Ok(rows.collect::<Result<_, _>>()?)
    }

    /// The last of the tree's own functions that begins at this line of a file that is meant, or before it.
    pub fn function_before(
        &self,
        is_meant: &dyn Fn(&str) -> bool,
        line: u32,
    ) -> Result<Option<FunctionRow>, StoreError> {
        let mut files = self
            .connection
            .prepare("SELECT DISTINCT file FROM functions ORDER BY file")?;
        let files = files.query_map([], |row| row.get::<_, String>(0))?;
        let sql = format!(
            "SELECT {COLUMNS} FROM functions f WHERE f.file = ?1 AND f.line <= ?2 AND f.own
             ORDER BY f.line DESC, f.id DESC LIMIT 1"
        );
        let mut last = self.connection.prepare(&sql)?;
        let mut found: Option<FunctionRow> = None;
        for file in files {
            let file = file?;
            if !is_meant(&file) {
                continue;
            }
            let row = last
                .query_row(params![file, line], function_row)
                .optional()?;
            if let Some(row) = row
                && found.as_ref().is_none_or(|best| row.line >= best.line)
            {
                found = Some(row);
            }
        }
        Ok(found)
    }
}

/// Whether a name has characters that stand for others.
pub fn is_glob(name: &str) -> bool {
    name.contains(['*', '?', '['])
}
