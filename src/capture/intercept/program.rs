//! The links of a build, as they are written beside its compile commands.
//!
//! In: the compilations and events that were noted. Out: [`Linked`], one for each program, library, relocatable
//! object and archive, with its inputs in link order. An input that is a copy of a recorded object, or was
//! taken out of an archive, is named by the object that the compilation wrote.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::ffi::OsString;
use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::event::{Edited, Event, Hash, Part, What, place};
use super::folder::{Call, Id};
use super::interceptor::{is_test, is_tried};
use super::invocation::Invocation;
use super::link::Kind;

/// A file that was linked or archived.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Linked {
    pub kind: Kind,
    /// Absolute.
    pub output: String,
    /// Absolute, in link order; an archive's members.
    pub inputs: Vec<String>,
}

/// Reads links that [`write`] wrote.
pub fn read(file: &Path) -> io::Result<Vec<Linked>> {
    let text = fs::read(file)?;
    serde_json::from_slice(&text).map_err(io::Error::other)
}

/// Writes links, sorted by output, each once.
pub fn write(out: &mut dyn Write, linked: &[Linked]) -> io::Result<()> {
    serde_json::to_writer_pretty(&mut *out, linked)?;
    writeln!(out)
}

/// `new` beside those that are `known`: an archive that was changed is the one that it became.
pub fn merged(known: Vec<Linked>, new: Vec<Linked>) -> Vec<Linked> {
    let changed: BTreeSet<String> = new
        .iter()
        .filter(|linked| linked.kind == Kind::Archive)
        .map(|linked| linked.output.clone())
        .collect();
    let is_kept =
        |linked: &Linked| linked.kind != Kind::Archive || !changed.contains(&linked.output);
    let mut all: Vec<Linked> = known.into_iter().filter(is_kept).chain(new).collect();
    all.sort_by(|a, b| (&a.output, a).cmp(&(&b.output, b)));
    all.dedup();
    all
}

/// What a build linked that was started in `start`. `known` says what its archives held before.
pub fn of_events(
    calls: &[(Id, Call)],
    mut events: Vec<Event>,
    known: &[Linked],
    start: &Path,
) -> Vec<Linked> {
    events.sort_by_key(|event| event.at);
    let mut history = History::new(calls, &events, start);
    for linked in known.iter().filter(|linked| linked.kind == Kind::Archive) {
        let members = linked.inputs.iter().map(PathBuf::from);
        let archive = PathBuf::from(&linked.output);
        history
            .archives
            .insert(archive, members.map(Member::of).collect());
    }
    for event in events {
        history.follow(event.what);
    }
    history.linked()
}

/// A member of an archive.
#[derive(Clone, Debug)]
struct Member {
    name: OsString,
    file: PathBuf,
}

impl Member {
    fn of(file: PathBuf) -> Member {
        Member {
            name: file.file_name().unwrap_or_default().to_owned(),
            file,
        }
    }
}

struct History {
    /// The objects of compilations.
    objects: HashMap<Id, PathBuf>,
    /// Those whose sources are still there.
    lasting: BTreeSet<PathBuf>,
    /// Files that recorded calls make.
    outputs: BTreeSet<PathBuf>,
    by_hash: HashMap<Hash, PathBuf>,
    copies: HashMap<PathBuf, PathBuf>,
    archives: BTreeMap<PathBuf, Vec<Member>>,
    touched: BTreeSet<PathBuf>,
    links: Vec<(Kind, PathBuf, Vec<PathBuf>)>,
}

impl History {
    fn new(calls: &[(Id, Call)], events: &[Event], start: &Path) -> Self {
        let mut history = History {
            objects: HashMap::new(),
            lasting: BTreeSet::new(),
            outputs: BTreeSet::new(),
            by_hash: HashMap::new(),
            copies: HashMap::new(),
            archives: BTreeMap::new(),
            touched: BTreeSet::new(),
            links: Vec::new(),
        };
        for (id, call) in calls {
            let Some((source, object)) = compilation(call) else {
                continue;
            };
            if source.is_file() && !is_test(&source, start) && !is_tried(call.directory()) {
                history.lasting.insert(object.clone());
            }
            history.outputs.insert(object.clone());
            history.objects.insert(id.clone(), object);
        }
        for event in events {
            match &event.what {
                What::Link { output, .. } => history.outputs.insert(output.into()),
                What::Archive { archive, .. } => history.outputs.insert(archive.into()),
                What::Copy { .. } => false,
            };
        }
        history.know_contents(events);
        history
    }

    /// Collects which content is whose, as it was seen, and as it is now if that may tell more.
    fn know_contents(&mut self, events: &[Event]) {
        let parts = || events.iter().flat_map(|event| event.what.parts());
        let is_output = |part: &Part| self.outputs.contains(Path::new(&part.path));
        let mut seen: Vec<(Hash, PathBuf)> = parts()
            .filter(|part| is_output(part))
            .filter_map(|part| Some((part.hash?, PathBuf::from(&part.path))))
            .collect();
        let known: HashSet<Hash> = seen.iter().map(|(hash, _)| *hash).collect();
        let is_unknown =
            |part: &Part| !is_output(part) && part.hash.is_some_and(|hash| !known.contains(&hash));
        if parts().any(is_unknown) {
            for output in &self.outputs {
                if let Ok(content) = fs::read(output) {
                    seen.push((*blake3::hash(&content).as_bytes(), output.clone()));
                }
            }
        }
        // Of several files with the same content, one is as good as another.
        seen.sort();
        for (hash, path) in seen {
            self.by_hash.entry(hash).or_insert(path);
        }
    }

    fn follow(&mut self, what: What) {
        match what {
            What::Link {
                kind,
                output,
                inputs,
            } => {
                let inputs = inputs.iter().map(|part| self.named(part)).collect();
                self.links.push((kind, output.into(), inputs));
            }
            What::Archive {
                archive,
                existed,
                edit,
            } => self.edit(archive.into(), existed, edit),
            What::Copy { from, to } => {
                let from = self.named(&from);
                if self.outputs.contains(&from) {
                    self.copies.insert(to.into(), from);
                }
            }
        }
    }

    fn edit(&mut self, archive: PathBuf, existed: bool, edit: Edited) {
        let mut members = match existed {
            true => self.archives.remove(&archive).unwrap_or_default(),
            false => Vec::new(),
        };
        match edit {
            Edited::Deleted(names) => {
                members.retain(|member| !names.contains(&member.name));
            }
            Edited::Added {
                parts,
                replaces,
                flattens,
            } => {
                let before = members.len();
                let mut replaced = BTreeSet::new();
                for part in &parts {
                    let file = self.named(part);
                    if let Some(others) = self.archives.get(&file).filter(|_| flattens) {
                        members.extend(others.iter().cloned());
                        continue;
                    }
                    let name = Path::new(&part.path).file_name().unwrap_or_default();
                    let member = Member {
                        name: name.to_owned(),
                        file,
                    };
                    let mut old = members.iter().take(before).enumerate();
                    let same = old.find(|(index, old)| {
                        replaces && old.name == member.name && !replaced.contains(index)
                    });
                    match same.map(|(index, _)| index) {
                        Some(index) => {
                            replaced.insert(index);
                            members[index] = member;
                        }
                        None => members.push(member),
                    }
                }
            }
        }
        self.touched.insert(archive.clone());
        self.archives.insert(archive, members);
    }

    /// The file that a part is named by.
    fn named(&self, part: &Part) -> PathBuf {
        let path = Path::new(&part.path);
        let real = part.real.as_deref().map(Path::new);
        if let [mark] = &part.marks[..]
            && let Some(object) = self.objects.get(mark)
        {
            return object.clone();
        }
        if let Some(original) = self.copies.get(path) {
            return original.clone();
        }
        let known = [Some(path), real].into_iter().flatten();
        let mut known = known.filter(|path| self.outputs.contains(*path));
        if let Some(path) = known.next() {
            return path.to_path_buf();
        }
        let original = part.hash.and_then(|hash| self.by_hash.get(&hash));
        match original.or_else(|| self.copies.get(real?)) {
            Some(original) => original.clone(),
            None => real.unwrap_or(path).to_path_buf(),
        }
    }

    /// What was made that is still there, or that was made of a source that is.
    fn kept(&self) -> BTreeSet<PathBuf> {
        let mut kept: BTreeSet<PathBuf> = self.lasting.clone();
        loop {
            let before = kept.len();
            for (_, output, inputs) in &self.links {
                if is_tried(output) {
                    continue;
                }
                let is_kept = |input: &PathBuf| kept.contains(input) || input.is_file();
                if output.is_file() || inputs.iter().any(is_kept) {
                    kept.insert(output.clone());
                }
            }
            if kept.len() == before {
                return kept;
            }
        }
    }

    /// All that was made, sorted. What only tests of a configuration made is gone, with all it was made of.
    fn linked(mut self) -> Vec<Linked> {
        for archive in std::mem::take(&mut self.touched) {
            let members = self.archives.get(&archive).into_iter().flatten();
            let members = members.map(|member| member.file.clone()).collect();
            self.links.push((Kind::Archive, archive, members));
        }
        let text = |path: &Path| path.to_string_lossy().into_owned();
        let kept = self.kept();
        let kept = self
            .links
            .iter()
            .filter(|(_, output, _)| kept.contains(output));
        let linked = kept.map(|(kind, output, inputs)| Linked {
            kind: *kind,
            output: text(output),
            inputs: inputs.iter().map(|input| text(input)).collect(),
        });
        merged(Vec::new(), linked.collect())
    }
}

/// The source of a noted compilation and the file that it makes of it.
fn compilation(call: &Call) -> Option<(PathBuf, PathBuf)> {
    let directory = call.directory();
    let parsed = Invocation::parse(&call.words(), directory)?;
    let source = parsed.compiled().next()?;
    let object = place(&directory.join(parsed.made(source)?));
    Some((directory.join(parsed.spelling(source)), object))
}
