//! The body cache: lowered functions, and indexes of whole units, under their content hashes, in sled.
//!
//! In: what the front end made. Out: the same, in this run or a later one. Small bodies, which callers
//! inline again and again, also stay decoded in memory, up to a bound.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use parking_lot::Mutex;
use quick_cache::sync::Cache;
use rustc_hash::{FxHashMap, FxHashSet};
use serde::{Deserialize, Serialize};

use crate::engine::analysis;
use crate::frontend::unit::{BodyStore, UnitKey};
use crate::frontend::{BodyKey, FunctionDef, Loss, UnitIndex};
use crate::ir::{Body, Method, SymbolName};

/// Bytes of sled's own page cache.
const PAGE_CACHE: u64 = 64 << 20;
/// Names of sled's trees.
const BODIES: &str = concat!("bodies-", env!("CASSINI_BUILD"));
const UNITS: &str = concat!("units-", env!("CASSINI_BUILD"));
const DEFINITIONS: &str = concat!("definitions-", env!("CASSINI_BUILD"));
/// So many bodies are kept whether or not they are in use.
const KEPT: usize = 20_000;
/// Small bodies kept decoded.
const DECODED: usize = 8192;

pub struct Bodies {
    database: sled::Db,
    bodies: sled::Tree,
    units: sled::Tree,
    /// What the units' indexes name: a header's functions are in a thousand of them.
    definitions: sled::Tree,
    known: Mutex<Known>,
    /// The first write that failed: a cache that cannot be written to costs the functions that were
    /// to be read from it.
    error: Mutex<Option<sled::Error>>,
    decoded: Cache<BodyKey, Arc<Body>>,
    /// Units that this run has asked for.
    used: Mutex<FxHashSet<UnitKey>>,
    /// This run has put a body.
    written: AtomicBool,
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
    kept: FxHashMap<DefinitionKey, sled::IVec>,
    by_key: FxHashMap<DefinitionKey, Arc<FunctionDef>>,
    /// Those written, by address, which is a definition's own for as long as it is held here.
    by_address: FxHashMap<usize, (DefinitionKey, Arc<FunctionDef>)>,
}

/// A definition, or its encoding.
enum Found {
    Decoded(Arc<FunctionDef>),
    Encoded(sled::IVec),
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

impl Bodies {
    pub fn open(path: &Path) -> Result<Self, sled::Error> {
        let database = sled::Config::new()
            .path(path)
            .cache_capacity(PAGE_CACHE)
            .flush_every_ms(Some(2000))
            .open()?;
        // Another build's may be encoded otherwise, and are worth no more than the time to make them
        // again.
        let names = [BODIES, UNITS, DEFINITIONS].map(str::as_bytes);
        for tree in database.tree_names() {
            let kinds = ["bodies-", "units-", "definitions-"];
            let ours = kinds.iter().any(|kind| tree.starts_with(kind.as_bytes()));
            if ours && !names.contains(&&*tree) {
                database.drop_tree(tree)?;
            }
        }
        Ok(Bodies {
            bodies: database.open_tree(BODIES)?,
            units: database.open_tree(UNITS)?,
            definitions: database.open_tree(DEFINITIONS)?,
            known: Mutex::default(),
            database,
            error: Mutex::default(),
            decoded: Cache::new(DECODED),
            used: Mutex::default(),
            written: AtomicBool::new(false),
        })
    }

    /// The body of this key, if it was ever put and can still be read.
    pub fn get(&self, key: BodyKey) -> Option<Arc<Body>> {
        self.try_get(key).ok().flatten()
    }

    /// Writes everything out, so that a later kill loses nothing; or tells the first error there was.
    pub fn flush(&self) -> Result<(), sled::Error> {
        match self.error.lock().take() {
            Some(error) => Err(error),
            None => self.database.flush().map(drop),
        }
    }

    /// Forgets what this run did not use, once that is most of what there is: earlier states of a tree
    /// are worth keeping (one switches branches), but not for ever. `used` are the keys of the bodies
    /// in use.
    pub fn forget_old(&self, used: impl Iterator<Item = BodyKey>) -> Result<(), sled::Error> {
        let used: FxHashSet<BodyKey> = used.collect();
        // Counting them all takes time, too.
        if !self.written.load(Ordering::Relaxed) || self.bodies.len() < KEPT + 4 * used.len() {
            return Ok(());
        }
        // An index must not outlive the bodies that it names.
        let units = self.used.lock();
        remove_keys(&self.units, |key| units.contains(&UnitKey(key)))?;
        let known = self.known.lock();
        remove_keys(&self.definitions, |key| {
            known.by_key.contains_key(&DefinitionKey(key))
        })?;
        remove_keys(&self.bodies, |key| used.contains(&BodyKey(key)))
    }

    fn insert<T: Serialize>(&self, tree: &sled::Tree, key: &[u8], value: &T) {
        let inserted = postcard::to_stdvec(value)
            .map_err(|error| sled::Error::Unsupported(error.to_string()))
            .and_then(|bytes| tree.insert(key, bytes));
        if let Err(error) = inserted {
            self.error.lock().get_or_insert(error);
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
        if let Err(error) = self.definitions.insert(key.0, bytes) {
            self.error.lock().get_or_insert(error);
        }
        key
    }

    fn try_get(&self, key: BodyKey) -> Result<Option<Arc<Body>>, String> {
        if let Some(body) = self.decoded.get(&key) {
            return Ok(Some(body));
        }
        let Some(bytes) = self.bodies.get(key.0).map_err(|e| e.to_string())? else {
            return Ok(None);
        };
        let body: Body = postcard::from_bytes(&bytes).map_err(|e| e.to_string())?;
        let body = Arc::new(body);
        if body.is_small() {
            self.decoded.insert(key, Arc::clone(&body));
        }
        Ok(Some(body))
    }
}

/// Removes the keys that are not kept.
fn remove_keys<const N: usize>(
    tree: &sled::Tree,
    keep: impl Fn([u8; N]) -> bool,
) -> Result<(), sled::Error> {
    for key in tree.iter().keys() {
        let key = key?;
        if !<[u8; N]>::try_from(&*key).is_ok_and(&keep) {
            tree.remove(key)?;
        }
    }
    Ok(())
}

impl BodyStore for Bodies {
    fn prepare(&self) {
        let entries = self.definitions.iter().filter_map(Result::ok);
        let entries = entries.filter_map(|(key, bytes)| {
            let key = <[u8; 16]>::try_from(&*key).ok()?;
            Some((DefinitionKey(key), bytes))
        });
        let kept: FxHashMap<DefinitionKey, sled::IVec> = entries.collect();
        self.known.lock().kept = kept;
    }

    fn put(&self, key: &BodyKey, body: &Body) {
        self.written.store(true, Ordering::Relaxed);
        self.insert(&self.bodies, &key.0, body);
    }

    fn unit(&self, key: &UnitKey) -> Option<UnitIndex> {
        self.used.lock().insert(*key);
        let bytes = self.units.get(key.0).ok().flatten()?;
        let stored: StoredUnit = postcard::from_bytes(&bytes).ok()?;
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
                let definition = postcard::from_bytes(&bytes).ok()?;
                Some(self.known.lock().add(*key, definition))
            }
        });
        Some(UnitIndex {
            functions: functions.collect::<Option<_>>()?,
            source: stored.source,
            pointer_size: stored.pointer_size,
            methods: stored.methods,
            stored: stored.stored,
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
            declarations: index.declarations,
            function_definitions: index.function_definitions,
            bytes: index.bytes,
            losses: index.losses.clone(),
        };
        self.insert(&self.units, &key.0, &stored);
    }
}

impl analysis::Bodies for Bodies {
    fn body(&self, key: BodyKey) -> Result<Arc<Body>, String> {
        match self.try_get(key) {
            Ok(Some(body)) => Ok(body),
            Ok(None) => Err("its body is missing from the body cache".to_owned()),
            Err(error) => Err(format!("body cache: {error}")),
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
            ret: RetTy::Void,
            pointer_size: 8,
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

    #[test]
    fn a_body_comes_back_in_a_later_run() {
        let folder = tempfile::tempdir().unwrap();
        let key = BodyKey([3; 16]);
        {
            let bodies = Bodies::open(folder.path()).unwrap();
            bodies.put(&key, &body("f"));
            assert_eq!(*bodies.get(key).unwrap(), body("f"));
            bodies.flush().unwrap();
        }
        let bodies = Bodies::open(folder.path()).unwrap();
        assert_eq!(*bodies.get(key).unwrap(), body("f"));
        assert_eq!(bodies.get(BodyKey([4; 16])), None);
    }

    #[test]
    fn what_is_not_in_use_is_forgotten_once_it_is_most_of_all() {
        let folder = tempfile::tempdir().unwrap();
        let bodies = Bodies::open(folder.path()).unwrap();
        let key = |n: usize| {
            let mut key = BodyKey([0; 16]);
            key.0[..8].copy_from_slice(&n.to_le_bytes());
            key
        };
        for n in 0..KEPT {
            bodies.put(&key(n), &body("f"));
        }
        let used = || (0..10).map(key);
        bodies.forget_old(used()).unwrap();
        assert_eq!(bodies.bodies.len(), KEPT);
        for n in KEPT..KEPT + 40 {
            bodies.put(&key(n), &body("f"));
        }
        bodies.forget_old(used()).unwrap();
        assert_eq!(bodies.bodies.len(), 10);
        assert!(bodies.get(key(3)).is_some() && bodies.get(key(11)).is_none());
    }

    #[test]
    fn another_builds_bodies_are_not_read() {
        let folder = tempfile::tempdir().unwrap();
        {
            let database = sled::open(folder.path()).unwrap();
            let tree = database.open_tree("bodies-other").unwrap();
            tree.insert([3; 16], b"some other encoding").unwrap();
        }
        let bodies = Bodies::open(folder.path()).unwrap();
        assert_eq!(bodies.get(BodyKey([3; 16])), None);
        assert!(
            !bodies
                .database
                .tree_names()
                .contains(&sled::IVec::from("bodies-other"))
        );
    }
}
