//! What the units of the last run were made of.
//!
//! In: a file. Out: the files of a unit that it is one of.

use std::path::{Path, PathBuf};

use rusqlite::OptionalExtension;

use super::Reader;
use crate::capture::{Manifest, State, StateId};
use crate::store::{StoreError, checked};

impl Reader {
    /// The files that the text of some unit came from which has `file` among them: the same unit at each call. None if that is not kept.
    pub fn files_of_unit_with(&self, file: &Path) -> Result<Vec<PathBuf>, StoreError> {
        if self.manifests_build()?.as_deref() != Some(env!("CASSINI_BUILD")) {
            return Ok(Vec::new());
        }
        let Some(wanted) = self.state_of(file)? else {
            return Ok(Vec::new());
        };
        let sql = "SELECT command, manifest FROM manifests ORDER BY command";
        let mut statement = self.connection.prepare(sql)?;
        let mut rows = statement.query([])?;
        while let Some(row) = rows.next()? {
            let (Ok(key), Ok(value)) = (row.get_ref(0)?.as_blob(), row.get_ref(1)?.as_blob())
            else {
                continue;
            };
            let manifest: Option<Manifest> = checked::decode(key, value);
            if let Some(manifest) = manifest.filter(|manifest| manifest.states().contains(&wanted))
            {
                return self.files_of(&manifest);
            }
        }
        Ok(Vec::new())
    }

    fn manifests_build(&self) -> Result<Option<String>, StoreError> {
        let sql = "SELECT value FROM meta WHERE key = 'manifests'";
        let build = self.connection.query_row(sql, [], |row| row.get(0));
        Ok(build.optional()?)
    }

    /// The state that stands for a file, if units were made of it.
    fn state_of(&self, file: &Path) -> Result<Option<StateId>, StoreError> {
        let name = file.file_name().unwrap_or_default().as_encoded_bytes();
        let name = memchr::memmem::Finder::new(name);
        let mut statement = self.connection.prepare("SELECT id, state FROM states")?;
        let mut rows = statement.query([])?;
        let mut found = None;
        while let Some(row) = rows.next()? {
            let id = row.get(0)?;
            // The path stands in it as the preprocessor spelled it (`tree/./a.c`), perhaps longer, but with the file's name: most
            // states need not be decoded.
            let bytes = row.get_ref(1)?.as_blob().unwrap_or_default();
            let most = 2 * file.as_os_str().len() + BEFORE_PATH;
            if name.find(&bytes[..bytes.len().min(most)]).is_some()
                && path_of(id, bytes).is_some_and(|path| path == file)
            {
                found = Some(StateId(id));
            }
        }
        Ok(found)
    }

    fn files_of(&self, manifest: &Manifest) -> Result<Vec<PathBuf>, StoreError> {
        let sql = "SELECT state FROM states WHERE id = ?1";
        let mut statement = self.connection.prepare(sql)?;
        let mut paths = Vec::new();
        for id in manifest.states() {
            let mut rows = statement.query([id.0])?;
            if let Some(row) = rows.next()? {
                let bytes = row.get_ref(0)?.as_blob().unwrap_or_default();
                paths.extend(path_of(id.0, bytes));
            }
        }
        Ok(paths)
    }
}

/// A path begins at most so many bytes behind the beginning of a state.
const BEFORE_PATH: usize = 16;

/// The path of a file's state.
fn path_of(id: u32, bytes: &[u8]) -> Option<PathBuf> {
    let state: State = checked::decode(&id.to_le_bytes(), bytes)?;
    Some(state.file()?.to_owned())
}
