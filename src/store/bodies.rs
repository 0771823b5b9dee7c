//! The body cache: lowered functions, and indexes of whole units, under their content hashes, in SQLite.
//!
//! In: what the front end made. Out: the same, in this run or a later one. Small bodies, which callers
//! inline again and again, also stay decoded in memory, up to a bound.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use parking_lot::Mutex;
use quick_cache::sync::Cache;
use rusqlite::{Connection, OpenFlags};
use rustc_hash::{FxHashMap, FxHashSet};
use serde::{Deserialize, Serialize};

use super::cache::{self, Connected, Table};
use super::file::{self, Fault, Verdict};
use super::{Part, StoreError, checked};
use crate::engine::analysis;
use crate::frontend::outline::NameId;
use crate::frontend::unit::{BodyStore, UnitKey};
use crate::frontend::{BodyKey, FunctionDef, Loss, StaticObject, UnitIndex};
use crate::ir::{Body, Enumerated, Method, SymbolName};

/// KiB of SQLite's own page cache.
const PAGE_CACHE: i64 = 64 << 10;
/// So many bodies are kept whether or not they are in use.
const KEPT: i64 = 20_000;
/// Small bodies kept decoded.
const DECODED: usize = 8192;

pub struct Bodies {
    file: PathBuf,
    /// The only one in this process: no other can open the file meanwhile.
    connected: Mutex<Connected>,
    known: Mutex<Known>,
    decoded: Cache<BodyKey, Arc<Body>>,
    /// Units that this run has asked for.
    used: Mutex<FxHashSet<UnitKey>>,
}

/// Hash of a definition's encoding.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
struct DefinitionKey([u8; 16]);

/// A [`UnitIndex`] as it is kept.
#[derive(Debug, Serialize, Deserialize)]
struct StoredUnit {
    source: String,
    functions: Vec<DefinitionKey>,
    pointer_size: u8,
    methods: Vec<Method>,
    stored: Vec<SymbolName>,
    enumerated: Vec<Enumerated>,
    objects_defined: Vec<NameId>,
    objects_needed: Vec<NameId>,
    objects: Vec<StaticObject>,
    objects_taken: Vec<NameId>,
    declared_outside: Vec<NameId>,
    declarations: u64,
    function_definitions: u64,
    bytes: u64,
    losses: Vec<Loss>,
}

/// Definitions that this run has read or written.
#[derive(Debug, Default)]
struct Known {
    /// The encodings of those that earlier runs have kept and this one has not asked for: reading all
    /// in their order costs less than looking up most of them.
    kept: FxHashMap<DefinitionKey, Arc<[u8]>>,
    by_key: FxHashMap<DefinitionKey, Arc<FunctionDef>>,
    /// Those written, by address, which is a definition's own for as long as it is held here.
    by_address: FxHashMap<usize, (DefinitionKey, Arc<FunctionDef>)>,
}

/// A definition, or its encoding.
enum Found {
    Decoded(Arc<FunctionDef>),
    Encoded(Arc<[u8]>),
}

impl Known {
    fn find(&self, key: &DefinitionKey) -> Option<Found> {
        if let Some(definition) = self.by_key.get(key) {
            return Some(Found::Decoded(Arc::clone(definition)));
        }
        self.kept.get(key).cloned().map(Found::Encoded)
    }

    /// The definition under a key: this one, if no other thread was faster.
    fn add(&mut self, key: DefinitionKey, definition: FunctionDef) -> Arc<FunctionDef> {
        self.kept.remove(&key);
        let held = self.by_key.entry(key);
        Arc::clone(held.or_insert_with(|| Arc::new(definition)))
    }

    fn insert(&mut self, key: DefinitionKey, definition: &Arc<FunctionDef>) {
        let held = (key, Arc::clone(definition));
        self.by_address.insert(Arc::as_ptr(definition).addr(), held);
        let first = self.by_key.entry(key);
        first.or_insert_with(|| Arc::clone(definition));
    }

    fn key(&self, definition: &Arc<FunctionDef>) -> Option<DefinitionKey> {
        let held = self.by_address.get(&Arc::as_ptr(definition).addr());
        held.map(|(key, _)| *key)
    }
}

impl std::fmt::Debug for Bodies {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Bodies").finish_non_exhaustive()
    }
}

fn failed(error: rusqlite::Error) -> StoreError {
    let part = Part::Bodies;
    StoreError::Sql { part, error }
}

impl Bodies {
    /// Opens the cache of a folder whose lock is held.
    pub(super) fn open(folder: &Path, notices: &mut Vec<String>) -> Result<Self, StoreError> {
        let file = Part::Bodies.file(folder);
        let secured = file::secure(&file, Part::Bodies, |connection| {
            let this = cache::is_this_builds(connection);
            match this.map_err(|error| Fault::of(Part::Bodies, error))? {
                true => Ok(Verdict::Use),
                false => Ok(Verdict::Discard),
            }
        })?;
        notices.extend(secured.notice);
        let connect = || {
            let connection = file::open(&file, file::WRITE)?;
            // The log's index is then kept in this process's memory and not in a file that others could
            // change beneath it.
            connection.pragma_update(None, "locking_mode", "EXCLUSIVE")?;
            connection.pragma_update(None, "journal_mode", "WAL")?;
            // After a power failure the file is examined: there is nothing to wait for the disk for.
            connection.pragma_update(None, "synchronous", "OFF")?;
            connection.pragma_update(None, "cache_size", -PAGE_CACHE)?;
            cache::create(&connection)?;
            Ok(connection)
        };
        let connection = connect().map_err(failed)?;
        Ok(Bodies::new(file, connection))
    }

    /// Opens the cache for reading, beside no run.
    pub(super) fn open_to_read(folder: &Path) -> Result<Self, StoreError> {
        let file = Part::Bodies.file(folder);
        let connection = file::open(&file, OpenFlags::SQLITE_OPEN_READ_ONLY).map_err(failed)?;
        if !cache::is_this_builds(&connection).map_err(failed)? {
            return Err(StoreError::OtherBuild(folder.to_owned()));
        }
        Ok(Bodies::new(file, connection))
    }

    fn new(file: PathBuf, connection: Connection) -> Self {
        Bodies {
            file,
            connected: Mutex::new(Connected::new(connection)),
            known: Mutex::default(),
            decoded: Cache::new(DECODED),
            used: Mutex::default(),
        }
    }

    /// The body of this key, if it was ever put and can still be read.
    pub fn get(&self, key: BodyKey) -> Option<Arc<Body>> {
        self.try_get(key).ok().flatten()
    }

    /// Ends the reading of units: what was put is there for a later run even if this one is killed; or
    /// tells the first error there was.
    pub fn flush(&self) -> Result<(), StoreError> {
        self.known.lock().kept = FxHashMap::default();
        let mut connected = self.connected.lock();
        match connected.error.take() {
            Some(error) => Err(failed(error)),
            None => connected.commit().map_err(failed),
        }
    }

    /// Forgets what this run did not use, once that is most of what there is: earlier states of a tree
    /// are worth keeping (one switches branches), but not for ever. `used` are the keys of the bodies
    /// in use.
    pub fn forget_old(&self, used: impl Iterator<Item = BodyKey>) -> Result<(), StoreError> {
        let used: FxHashSet<BodyKey> = used.collect();
        let connected = self.connected.lock();
        // Counting them all takes time, too.
        if !connected.written {
            return Ok(());
        }
        let forget = || {
            let count = "SELECT count(*) FROM bodies";
            let count: i64 = connected
                .connection
                .query_row(count, [], |row| row.get(0))?;
            if count < KEPT + 4 * used.len() as i64 {
                return Ok(());
            }
            connected.connection.execute_batch("BEGIN IMMEDIATE")?;
            // An index must not outlive the bodies that it names.
            let units = self.used.lock();
            connected.retain(Table::Units, |key| units.contains(&UnitKey(key)))?;
            let known = self.known.lock();
            connected.retain(Table::Definitions, |key| {
                known.by_key.contains_key(&DefinitionKey(key))
            })?;
            connected.retain(Table::Bodies, |key| used.contains(&BodyKey(key)))?;
            connected.connection.execute_batch("COMMIT")
        };
        forget().map_err(failed)
    }

    /// Closes the file, so that the next run can tell that it is whole.
    pub(super) fn close(self) -> Result<(), StoreError> {
        self.flush()?;
        let connected = self.connected.into_inner();
        file::close(&self.file, connected.connection).map_err(failed)
    }

    fn insert<T: Serialize>(&self, table: Table, key: &[u8], value: &T) {
        // Sequences of unknown length are the only values without an encoding.
        if let Ok(bytes) = checked::encode(key, value) {
            self.connected.lock().put(table, key, &bytes);
        }
    }

    /// Keeps a definition.
    fn put_definition(&self, definition: &Arc<FunctionDef>) -> DefinitionKey {
        if let Some(key) = self.known.lock().key(definition) {
            return key;
        }
        let bytes = postcard::to_stdvec(&**definition).unwrap_or_default();
        let key = DefinitionKey(xxhash_rust::xxh3::xxh3_128(&bytes).to_le_bytes());
        self.known.lock().insert(key, definition);
        let bytes = checked::sealed(&key.0, bytes);
        self.connected
            .lock()
            .put(Table::Definitions, &key.0, &bytes);
        key
    }

    fn try_get(&self, key: BodyKey) -> Result<Option<Arc<Body>>, StoreError> {
        if let Some(body) = self.decoded.get(&key) {
            return Ok(Some(body));
        }
        let found = self.connected.lock().get(Table::Bodies, &key.0);
        let Some(bytes) = found.map_err(failed)? else {
            return Ok(None);
        };
        let Some(body) = checked::decode::<Body>(&key.0, &bytes) else {
            return Ok(None);
        };
        let body = Arc::new(body);
        if body.is_small() {
            self.decoded.insert(key, Arc::clone(&body));
        }
        Ok(Some(body))
    }

    /// All definitions that are kept.
    fn definitions(&self) -> Result<FxHashMap<DefinitionKey, Arc<[u8]>>, rusqlite::Error> {
        let connected = self.connected.lock();
        let mut select = connected
            .connection
            .prepare("SELECT key, value FROM definitions")?;
        let rows = select.query_map([], |row| {
            Ok((
                DefinitionKey(row.get(0)?),
                row.get_ref(1)?.as_blob()?.into(),
            ))
        })?;
        rows.collect()
    }
}

impl BodyStore for Bodies {
    fn prepare(&self) {
        // Without them units are read again.
        self.known.lock().kept = self.definitions().unwrap_or_default();
    }

    fn put(&self, key: &BodyKey, body: &Body) {
        self.insert(Table::Bodies, &key.0, body);
        self.connected.lock().written = true;
    }

    fn unit(&self, key: &UnitKey) -> Option<UnitIndex> {
        self.used.lock().insert(*key);
        let bytes = self.connected.lock().get(Table::Units, &key.0).ok()??;
        let stored: StoredUnit = checked::decode(&key.0, &bytes)?;
        let keys = stored.functions.iter();
        let found: Vec<Found> = {
            let known = self.known.lock();
            keys.clone()
                .map(|key| known.find(key))
                .collect::<Option<_>>()?
        };
        let functions = keys.zip(found).map(|(key, found)| match found {
            Found::Decoded(definition) => Some(definition),
            Found::Encoded(bytes) => {
                let definition = checked::decode(&key.0, &bytes)?;
                Some(self.known.lock().add(*key, definition))
            }
        });
        Some(UnitIndex {
            functions: functions.collect::<Option<_>>()?,
            source: stored.source,
            pointer_size: stored.pointer_size,
            methods: stored.methods,
            stored: stored.stored,
            enumerated: stored.enumerated,
            objects_defined: stored.objects_defined,
            objects_needed: stored.objects_needed,
            objects: stored.objects,
            objects_taken: stored.objects_taken,
            declared_outside: stored.declared_outside,
            declarations: stored.declarations,
            function_definitions: stored.function_definitions,
            bytes: stored.bytes,
            losses: stored.losses,
        })
    }

    fn put_unit(&self, key: &UnitKey, index: &UnitIndex) {
        let functions = index.functions.iter();
        let stored = StoredUnit {
            functions: functions
                .map(|definition| self.put_definition(definition))
                .collect(),
            source: index.source.clone(),
            pointer_size: index.pointer_size,
            methods: index.methods.clone(),
            stored: index.stored.clone(),
            enumerated: index.enumerated.clone(),
            objects_defined: index.objects_defined.clone(),
            objects_needed: index.objects_needed.clone(),
            objects: index.objects.clone(),
            objects_taken: index.objects_taken.clone(),
            declared_outside: index.declared_outside.clone(),
            declarations: index.declarations,
            function_definitions: index.function_definitions,
            bytes: index.bytes,
            losses: index.losses.clone(),
        };
        self.insert(Table::Units, &key.0, &stored);
    }
}

impl analysis::Bodies for Bodies {
    fn body(&self, key: BodyKey) -> Result<Arc<Body>, String> {
        match self.try_get(key) {
            Ok(Some(body)) => Ok(body),
            Ok(None) => Err("a body that was put cannot be read back".to_owned()),
            Err(error) => Err(error.to_string()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ir::{Block, Pos, RetTy, SymbolName, TermKind, Terminator};

    fn body(name: &str) -> Body {
        Body {
            name: SymbolName {
                name: name.into(),
                file: None,
            },
            pos: Pos::default(),
            end_line: 1,
            params: 0,
            variadic: false,
            takes_pointers: false,
            ret: RetTy::Void,
            pointer_size: 8,
            hosted: false,
            spellings: crate::ir::Spellings::default(),
            locals: Vec::new(),
            symbols: Vec::new(),
            strings: Vec::new(),
            names: Vec::new(),
            files: vec!["a.c".into()],
            exprs: Vec::new(),
            blocks: vec![Block {
                stmts: Vec::new(),
                term: Terminator {
                    kind: TermKind::Return(None),
                    pos: Pos::default(),
                },
            }],
        }
    }

    fn open(folder: &Path) -> Bodies {
        let mut notices = Vec::new();
        let bodies = Bodies::open(folder, &mut notices).unwrap();
        assert!(notices.is_empty(), "{notices:?}");
        bodies
    }

    #[test]
    fn a_body_comes_back_in_a_later_run() {
        let folder = tempfile::tempdir().unwrap();
        let key = BodyKey([3; 16]);
        {
            let bodies = open(folder.path());
            bodies.put(&key, &body("f"));
            assert_eq!(*bodies.get(key).unwrap(), body("f"));
            bodies.flush().unwrap();
        }
        let bodies = open(folder.path());
        assert_eq!(*bodies.get(key).unwrap(), body("f"));
        assert_eq!(bodies.get(BodyKey([4; 16])), None);
    }

    #[test]
    fn what_is_not_in_use_is_forgotten_once_it_is_most_of_all() {
        let folder = tempfile::tempdir().unwrap();
        let bodies = open(folder.path());
        let key = |n: i64| {
            let mut key = BodyKey([0; 16]);
            key.0[..8].copy_from_slice(&n.to_le_bytes());
            key
        };
        for n in 0..KEPT {
            bodies.put(&key(n), &body("f"));
        }
        let used = || (0..10).map(key);
        let count = || {
            let connected = bodies.connected.lock();
            let count = "SELECT count(*) FROM bodies";
            connected
                .connection
                .query_row(count, [], |row| row.get::<_, i64>(0))
                .unwrap()
        };
        bodies.flush().unwrap();
        bodies.forget_old(used()).unwrap();
        assert_eq!(count(), KEPT);
        for n in KEPT..KEPT + 40 {
            bodies.put(&key(n), &body("f"));
        }
        bodies.flush().unwrap();
        bodies.forget_old(used()).unwrap();
        assert_eq!(count(), 10);
        assert!(bodies.get(key(3)).is_some() && bodies.get(key(11)).is_none());
    }

    #[test]
    fn another_builds_bodies_are_not_read() {
        let folder = tempfile::tempdir().unwrap();
        let key = BodyKey([3; 16]);
        let bodies = open(folder.path());
        bodies.put(&key, &body("f"));
        bodies.flush().unwrap();
        let rename = "UPDATE build SET name = 'another'";
        bodies
            .connected
            .lock()
            .connection
            .execute(rename, [])
            .unwrap();
        bodies.close().unwrap();
        assert!(matches!(
            Bodies::open_to_read(folder.path()),
            Err(StoreError::OtherBuild(_))
        ));
        assert_eq!(open(folder.path()).get(key), None);
    }

    #[test]
    fn a_damaged_value_is_none() {
        let folder = tempfile::tempdir().unwrap();
        let bodies = open(folder.path());
        let key = BodyKey([3; 16]);
        bodies.put(&key, &body("f"));
        bodies.flush().unwrap();
        let damage = "UPDATE bodies SET value = CAST(replace(value, 'a.c', 'b.c') AS BLOB)";
        let changed = bodies.connected.lock().connection.execute(damage, []);
        assert_eq!(changed.unwrap(), 1);
        assert_eq!(bodies.get(key), None);
        assert!(analysis::Bodies::body(&bodies, key).is_err());
    }
}
