//! The database as the pages see it, open as long as the server runs.
//!
//! In: the database's folder. Out: a connection for each of the requests that are answered at the same time, and what all of them share: the
//! findings and the names, read again only when another program has changed the database or put another in its place.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::SystemTime;

use parking_lot::Mutex;

use crate::property::Property;
use crate::query;
use crate::query::locks::{self, ClassRow};
use crate::report::{About, Places};
use crate::run::{all_rules, load_property};
use crate::store::query::Reader;
use crate::store::{self, StoreError};
use crate::summary::seeds::Seeds;
use crate::triage::Entry;
use crate::triage::owners::Owners;

use super::names::Names;

/// Connections that are kept while nobody uses them.
const IDLE: usize = 4;

/// Which file is open, and when it was written.
type Stamp = (Option<(u64, u64)>, Option<SystemTime>);

/// A value, and what the database was when it was read.
type Known<T> = Mutex<Option<(Stamp, Arc<T>)>>;

/// What all connections share.
#[derive(Debug)]
pub struct Shared {
    /// All rules that there are, and those of the locks' checkers with what is known of primitives.
    pub rules: Property,
    pub locks: Property,
    pub seeds: Seeds,
    entries: Known<Vec<Entry>>,
    names: Known<Names>,
    classes: Known<Vec<ClassRow>>,
    owners: Mutex<Option<(PathBuf, Arc<Owners>)>>,
}

impl Shared {
    /// The owners of a tree's files, read once.
    fn owners(&self, root: &Path) -> Arc<Owners> {
        let mut kept = self.owners.lock();
        match &*kept {
            Some((of, owners)) if of == root => Arc::clone(owners),
            _ => {
                let owners = Arc::new(Owners::load(root));
                *kept = Some((root.to_path_buf(), Arc::clone(&owners)));
                owners
            }
        }
    }
}

/// The connections.
#[derive(Debug)]
pub struct Pool {
    folder: PathBuf,
    shared: Arc<Shared>,
    idle: Mutex<Vec<Session>>,
}

impl Pool {
    pub fn open(folder: &Path) -> anyhow::Result<Pool> {
        let (locks, seeds, _) = load_property(&[])?;
        let shared = Arc::new(Shared {
            rules: all_rules(&[])?,
            locks,
            seeds,
            entries: Mutex::default(),
            names: Mutex::default(),
            classes: Mutex::default(),
            owners: Mutex::default(),
        });
        let first = Session::open(folder, &shared)?;
        Ok(Pool {
            folder: folder.to_path_buf(),
            shared,
            idle: Mutex::new(vec![first]),
        })
    }

    /// A connection to the database as it is now, for one request.
    pub fn take(&self) -> anyhow::Result<Session> {
        let idle = self.idle.lock().pop();
        match idle {
            Some(session) if session.stamp.0 == store::identity(&self.folder) => {
                let stamp = stamp(&self.folder);
                Ok(Session { stamp, ..session })
            }
            _ => Session::open(&self.folder, &self.shared),
        }
    }

    pub fn give_back(&self, session: Session) {
        let mut idle = self.idle.lock();
        if idle.len() < IDLE {
            idle.push(session);
        }
    }
}

fn stamp(folder: &Path) -> Stamp {
    (store::identity(folder), store::find::written(folder))
}

/// A connection, and the tree that the database is about.
#[derive(Debug)]
pub struct Session {
    pub folder: PathBuf,
    pub reader: Reader,
    pub root: PathBuf,
    pub places: Places,
    /// Whose code the tree's files are.
    pub owners: Arc<Owners>,
    pub shared: Arc<Shared>,
    stamp: Stamp,
}

impl Session {
    fn open(folder: &Path, shared: &Arc<Shared>) -> anyhow::Result<Session> {
        let stamp = stamp(folder);
        let reader = Reader::open(folder)?;
        let root = query::root(&reader, folder)?;
        Ok(Session {
            folder: folder.to_path_buf(),
            // The tree's own folder is where a reader of the page stands.
            places: Places::new(&root, &root),
            owners: shared.owners(&root),
            shared: Arc::clone(shared),
            reader,
            root,
            stamp,
        })
    }

    /// All findings, by file and line.
    pub fn entries(&self) -> Result<Arc<Vec<Entry>>, StoreError> {
        self.known(&self.shared.entries, Reader::entries)
    }

    /// The names of all functions.
    pub fn names(&self) -> Result<Arc<Names>, StoreError> {
        self.known(&self.shared.names, Names::read)
    }

    /// All classes of locks.
    pub fn classes(&self) -> Result<Arc<Vec<ClassRow>>, StoreError> {
        self.known(&self.shared.classes, locks::classes)
    }

    /// What was read of the database as it is, or is read now. Who needs it meanwhile waits.
    fn known<T>(
        &self,
        kept: &Known<T>,
        read: impl Fn(&Reader) -> Result<T, StoreError>,
    ) -> Result<Arc<T>, StoreError> {
        let mut kept = kept.lock();
        if let Some((stamp, value)) = &*kept
            && *stamp == self.stamp
        {
            return Ok(Arc::clone(value));
        }
        let value = Arc::new(read(&self.reader)?);
        *kept = Some((self.stamp, Arc::clone(&value)));
        Ok(value)
    }

    /// What is said of the last run, if it went through to its end.
    pub fn about(&self) -> Result<Option<About>, StoreError> {
        let about = self.reader.about()?;
        Ok(about.and_then(|about| serde_json::from_str(&about).ok()))
    }
}
