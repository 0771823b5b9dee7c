//! The tree that an editor has open: its findings, and a check of it.
//!
//! In: what is to be checked, and the database of the last check. Out: the findings that reports show, by file; verdicts in the database.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use anyhow::bail;

use crate::finding::Level;
use crate::query;
use crate::run::Settings;
use crate::store::query::Reader;
use crate::store::verdicts::Verdicts;
use crate::store::{StoreError, find};
use crate::triage::baseline::{self, Known};
use crate::triage::{Entry, Judged, State, Verdict};

/// What is to be checked, and what of its findings is shown.
#[derive(Debug)]
pub struct Workspace {
    pub settings: Settings,
    pub level: Level,
    /// The findings of an earlier report, which are not told again.
    pub known: Option<Vec<Known>>,
    /// What a person should know of the settings.
    pub notices: Vec<String>,
}

#[derive(Debug)]
pub(super) struct Tree {
    workspace: Workspace,
    folder: PathBuf,
    /// The folder that the findings' files are relative to.
    pub root: PathBuf,
    /// What the last check that went through to its end has found and reports show.
    pub entries: Vec<Entry>,
    /// Where in these the findings of each file are.
    by_file: BTreeMap<PathBuf, Vec<usize>>,
    /// When the database was written that they were read from.
    written: Option<SystemTime>,
}

impl Tree {
    pub fn new(workspace: Workspace) -> Tree {
        Tree {
            folder: workspace.settings.folder(),
            root: workspace.settings.scope.folder().to_path_buf(),
            workspace,
            entries: Vec::new(),
            by_file: BTreeMap::new(),
            written: None,
        }
    }

    pub fn settings(&self) -> &Settings {
        &self.workspace.settings
    }

    /// Reads the findings, if the database has others than those that were read before. While a check is under way, those of the one
    /// before stay. Answers whether there is a database.
    pub fn load(&mut self) -> anyhow::Result<bool> {
        let written = find::written(&self.folder);
        if written.is_some() && written == self.written {
            return Ok(true);
        }
        let reader = match Reader::open(&self.folder) {
            Ok(reader) => reader,
            Err(StoreError::Missing(_)) => return Ok(false),
            Err(error) => return Err(error.into()),
        };
        if reader.about()?.is_none() {
            return Ok(true);
        }
        let root = query::root(&reader, &self.folder)?;
        self.root = root.canonicalize().unwrap_or(root);
        let mut entries = reader.entries()?;
        if let Some(known) = &self.workspace.known {
            let gone = |file: &str| !self.root.join(file).exists();
            baseline::compare(&mut entries, known.clone(), &gone);
        }
        let level = self.workspace.level;
        entries.retain(|entry| {
            let known = entry.state == Some(State::Unchanged);
            entry.finding.level <= level && !entry.is_silenced() && !known
        });
        self.by_file.clear();
        for (at, entry) in entries.iter().enumerate() {
            let file = self.root.join(&entry.finding.file);
            self.by_file.entry(file).or_default().push(at);
        }
        // An editor names files without the links in their names.
        let names: Vec<PathBuf> = self.by_file.keys().cloned().collect();
        for name in names {
            if let Some(real) = real(&name).filter(|real| *real != name) {
                let moved = self.by_file.remove(&name).unwrap_or_default();
                self.by_file.entry(real).or_default().extend(moved);
            }
        }
        self.entries = entries;
        self.written = written;
        Ok(true)
    }

    /// The findings of a file.
    pub fn of_file(&self, file: &Path) -> Vec<&Entry> {
        let places = self.by_file.get(file).into_iter().flatten();
        places.map(|&at| &self.entries[at]).collect()
    }

    /// Keeps a verdict on a finding, or takes it back.
    pub fn judge(&self, fingerprint: &str, verdict: Option<Verdict>) -> anyhow::Result<()> {
        let mut entries = self.entries.iter();
        let Some(entry) = entries.find(|entry| entry.finding.fingerprint == fingerprint) else {
            bail!("the last check has no finding `{fingerprint}`");
        };
        let mut verdicts = Verdicts::open(&self.folder)?;
        let kept = match verdict {
            Some(verdict) => verdicts.put(&[Judged::of(&entry.finding, verdict)]),
            None => verdicts.remove(fingerprint).map(|_| ()),
        };
        // Whatever went wrong, the file is closed.
        verdicts.close()?;
        Ok(kept?)
    }
}

/// The name of a file without links, if it is there.
pub(super) fn real(file: &Path) -> Option<PathBuf> {
    file.canonicalize().ok()
}
