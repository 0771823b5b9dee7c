//! The database as the pages see it, open as long as the server runs.
//!
//! In: the database's folder. Out: what the pages ask, read again only when another program has changed the database or put another in its place.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::property::Property;
use crate::query;
use crate::query::locks::{self, Doing};
use crate::report::{About, Places};
use crate::run::{all_rules, load_property};
use crate::store::query::Reader;
use crate::store::{self, StoreError};
use crate::summary::seeds::Seeds;
use crate::summary::stats::Statistics;
use crate::triage::Entry;

use super::names::Names;

#[derive(Debug)]
pub struct Session {
    pub folder: PathBuf,
    pub reader: Reader,
    /// The tree that the database is about.
    pub root: PathBuf,
    pub places: Places,
    /// All rules that there are, and those of the locks' checkers with what is known of primitives.
    pub rules: Property,
    pub locks: Property,
    pub seeds: Seeds,
    /// Which file is open, and which of its states the values below are of.
    identity: Option<(u64, u64)>,
    version: i64,
    entries: Option<Arc<Vec<Entry>>>,
    names: Option<Arc<Names>>,
    statistics: Option<Statistics>,
    uses: Option<Arc<Vec<Doing>>>,
}

impl Session {
    pub fn open(folder: &Path) -> anyhow::Result<Session> {
        let identity = store::identity(folder);
        let reader = Reader::open(folder)?;
        let root = query::root(&reader, folder)?;
        let (locks, seeds, _) = load_property(&[])?;
        Ok(Session {
            folder: folder.to_path_buf(),
            // The tree's own folder is where a reader of the page stands.
            places: Places::new(&root, &root),
            version: reader.version()?,
            rules: all_rules(&[])?,
            locks,
            seeds,
            identity,
            reader,
            root,
            entries: None,
            names: None,
            statistics: None,
            uses: None,
        })
    }

    /// Forgets what is not so any more.
    pub fn refresh(&mut self) -> Result<(), StoreError> {
        let identity = store::identity(&self.folder);
        if identity != self.identity {
            self.reader = Reader::open(&self.folder)?;
            self.identity = identity;
            self.forget();
        }
        let version = self.reader.version()?;
        if version != self.version {
            self.version = version;
            self.forget();
        }
        Ok(())
    }

    fn forget(&mut self) {
        self.entries = None;
        self.names = None;
        self.statistics = None;
        self.uses = None;
    }

    /// All findings, by file and line.
    pub fn entries(&mut self) -> Result<Arc<Vec<Entry>>, StoreError> {
        if let Some(entries) = &self.entries {
            return Ok(Arc::clone(entries));
        }
        let entries = Arc::new(self.reader.entries()?);
        Ok(Arc::clone(self.entries.insert(entries)))
    }

    /// The names of all functions.
    pub fn names(&mut self) -> Result<Arc<Names>, StoreError> {
        if let Some(names) = &self.names {
            return Ok(Arc::clone(names));
        }
        let names = Arc::new(Names::read(&self.reader)?);
        Ok(Arc::clone(self.names.insert(names)))
    }

    /// What functions do with locks, and the orders in which they take them.
    pub fn uses(&mut self) -> anyhow::Result<Arc<Vec<Doing>>> {
        if let Some(uses) = &self.uses {
            return Ok(Arc::clone(uses));
        }
        let uses = Arc::new(locks::all(&self.reader, &self.rules)?);
        Ok(Arc::clone(self.uses.insert(uses)))
    }

    /// How functions use locks.
    pub fn statistics(&mut self) -> Result<Statistics, StoreError> {
        if let Some(statistics) = self.statistics {
            return Ok(statistics);
        }
        let mut statistics = Statistics::default();
        let locks = &self.locks;
        self.reader
            .each_summary(&mut |summary| statistics.add(summary, locks))?;
        Ok(*self.statistics.insert(statistics))
    }

    /// What is said of the last run, if it went through to its end.
    pub fn about(&self) -> Result<Option<About>, StoreError> {
        let about = self.reader.about()?;
        Ok(about.and_then(|about| serde_json::from_str(&about).ok()))
    }
}
