//! Which lock guards which member, from the tables of the last `cassini race`.
//!
//! In: a record's name, or a part of a member's. Out: the rows of `guards` and `member_accesses`.

use rusqlite::params;

use super::{Counted, Guard, Reader, is_glob};
use crate::store::StoreError;

impl Reader {
    /// Whether the last run looked for what guards members, and found any.
    pub fn has_guards(&self) -> Result<bool, StoreError> {
        let sql = "SELECT EXISTS (SELECT 1 FROM guards)";
        Ok(self.connection.query_row(sql, [], |row| row.get(0))?)
    }

    /// The members of a record, or those that have this part or match this glob, with their locks.
    pub fn guards(&self, name: &str) -> Result<Vec<Guard>, StoreError> {
        let test = match is_glob(name) {
            true => "member GLOB ?1",
            false => "instr(member, ?1)",
        };
        let sql = format!("SELECT * FROM guards WHERE {test} ORDER BY member");
        let mut statement = self.connection.prepare(&sql)?;
        let rows = statement.query_map(params![name], |row| {
            Ok(Guard {
                member: row.get(0)?,
                lock: row.get(1)?,
                with: row.get(2)?,
                without: row.get(3)?,
                accesses_with: row.get(4)?,
                accesses_without: row.get(5)?,
                writes: row.get(6)?,
                z: row.get(7)?,
            })
        })?;
        Ok(rows.collect::<Result<_, _>>()?)
    }

    /// The accesses to a member that were counted.
    pub fn accesses_to(&self, member: &str) -> Result<Vec<Counted>, StoreError> {
        let sql = "SELECT * FROM member_accesses WHERE member = ?1 ORDER BY rowid";
        let mut statement = self.connection.prepare(sql)?;
        let rows = statement.query_map(params![member], |row| {
            let does: String = row.get(4)?;
            let locks: String = row.get(5)?;
            Ok(Counted {
                member: row.get(0)?,
                function: row.get(1)?,
                file: row.get(2)?,
                line: row.get(3)?,
                write: does == "write",
                locks: locks.lines().map(str::to_owned).collect(),
            })
        })?;
        Ok(rows.collect::<Result<_, _>>()?)
    }
}
