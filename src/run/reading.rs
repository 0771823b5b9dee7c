//! Reads a tree's translation units: preprocess and front end, unit by unit on all cores.
//!
//! In: a [`Capture`]. Out: the units' indexes and the problems met, both in the order of the compile
//! commands; bodies go to the store. A unit that cannot be read is a problem and costs itself. One of
//! which nothing has changed on the disk is not even preprocessed.

use std::ffi::OsString;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};

use rayon::prelude::*;
use xxhash_rust::xxh3::Xxh3;

use crate::capture::{
    self, Archive, Capture, CommandKey, CompileCommand, Link, Manifests, NoCompiler, Preprocessed,
    Preprocessor, Problem, Severity,
};
use crate::cpu_time::Meter;
use crate::frontend::annotate::Annotator;
use crate::frontend::dialect::Dialect;
use crate::frontend::model::QUESTIONS;
use crate::frontend::split::{self, SourceFile};
use crate::frontend::unit::{BodyStore, FrontEnd, UnitKey, UnitSource};
use crate::frontend::{Loss, LossReason, Stage, UnitIndex};
use crate::panics::contained;
use crate::run::Progress;
use crate::source;

/// What reading needs besides the tree.
pub struct Context<'a> {
    pub store: &'a dyn BodyStore,
    /// What units' texts came from.
    pub archive: &'a dyn Archive,
    /// Arguments for the compiler of the user's own.
    pub compiler_arguments: Vec<OsString>,
    /// Atomic operations are sections, for `cassini race`.
    pub atomic_sections: bool,
    /// A folder for what is gone when the run ends.
    pub temporary: &'a Path,
    pub progress: &'a dyn Progress,
    /// Raised to stop early: units not yet begun are left out.
    pub cancel: &'a AtomicBool,
    pub preprocessing: &'a Meter,
    pub front_end: &'a Meter,
}

/// Units that could be read, and what went wrong.
#[derive(Debug, Default)]
pub struct Units {
    pub indexes: Vec<UnitIndex>,
    /// For each of those a hash of the flags that it is compiled with.
    pub flags: Vec<u64>,
    /// What the build links, with units numbered as in `indexes`.
    pub links: Vec<Link>,
    /// Units that could not be read at all.
    pub failed: Vec<Loss>,
    pub problems: Vec<Problem>,
}

/// Reads all units in the current rayon pool.
pub fn read(capture: &Capture, context: &Context<'_>) -> Result<Units, NoCompiler> {
    let arguments = context.compiler_arguments.clone();
    let preprocessor =
        Preprocessor::new(&capture.tree, arguments).with_temporary(context.temporary);
    let mut units = Units {
        indexes: Vec::with_capacity(capture.commands.len()),
        problems: capture.problems.clone(),
        ..Units::default()
    };
    units
        .problems
        .extend(preprocessor.check(&capture.commands)?);
    let load = || {
        let commands = capture.commands.iter();
        let keys = commands.map(|command| {
            let key = preprocessor.key(command)?;
            Some(match context.atomic_sections {
                true => key.for_threads(),
                false => key,
            })
        });
        let keys: Vec<Option<CommandKey>> = keys.collect();
        let known: Vec<CommandKey> = keys.iter().copied().flatten().collect();
        let manifests = Manifests::load(&capture.tree, context.archive, &known);
        (keys, manifests)
    };
    let ((keys, manifests), ()) = rayon::join(load, || context.store.prepare());
    let reader = Reader {
        context,
        preprocessor: &preprocessor,
        manifests,
        tree: &capture.tree,
        front_end: FrontEnd::new(),
        // One that cannot be read states nothing; the preprocessor has told of it.
        annotator: Annotator::new(|path| source::read_regular(path, source::LIMIT).ok()),
    };
    context
        .progress
        .stage("reading", capture.commands.len() as u64);
    let read: Vec<Option<UnitOutcome>> = capture
        .commands
        .par_iter()
        .zip(keys)
        .map(|(command, key)| {
            let outcome = reader.unit(command, key);
            context.progress.step();
            outcome
        })
        .collect();
    let mut numbers = vec![None; capture.commands.len()];
    for (at, outcome) in read.into_iter().enumerate() {
        let Some((index, problems)) = outcome else {
            continue;
        };
        match index {
            Ok(index) => {
                numbers[at] = Some(units.indexes.len());
                units.flags.push(flags(&capture.commands[at]));
                units.indexes.push(index);
            }
            Err(loss) => units.failed.push(loss),
        }
        units.problems.extend(problems);
    }
    units.links = capture.links.clone();
    capture::renumber(&mut units.links, &numbers);
    units.problems = capture::distinct(units.problems);
    Ok(units)
}

/// A hash that is the same for commands which compile in the same way.
fn flags(command: &CompileCommand) -> u64 {
    let mut hasher = Xxh3::new();
    for argument in &command.arguments {
        hasher.update(argument.as_encoded_bytes());
        hasher.update(&[0]);
    }
    hasher.digest()
}

/// What became of a unit, and what was guessed on the way.
type UnitOutcome = (Result<UnitIndex, Loss>, Vec<Problem>);

struct Reader<'a> {
    context: &'a Context<'a>,
    preprocessor: &'a Preprocessor<'a>,
    manifests: Manifests<'a>,
    tree: &'a capture::Tree,
    front_end: FrontEnd,
    annotator: Annotator,
}

impl Reader<'_> {
    /// What became of a unit; `None` if the run is to end.
    fn unit(&self, command: &CompileCommand, key: Option<CommandKey>) -> Option<UnitOutcome> {
        if self.context.cancel.load(Ordering::Relaxed) {
            return None;
        }
        if let Some(unchanged) = key.and_then(|key| self.unchanged(&key)) {
            return Some(unchanged);
        }
        let preprocessed = match self.preprocessor.preprocess(command) {
            Ok(preprocessed) => preprocessed,
            Err(error) => {
                self.context.preprocessing.add(error.cpu);
                let message = format!("not preprocessed: {}", error.problem.message);
                let problem = Problem {
                    message: format!("{}: {message}", error.file),
                    ..error.problem
                };
                return Some((
                    Err(failed(command, Stage::Preprocess, message)),
                    vec![problem],
                ));
            }
        };
        self.context.preprocessing.add(preprocessed.cpu);
        let index = || contained(|| self.index(command, key, &preprocessed));
        let index = self.context.front_end.measure(index);
        let mut problems = preprocessed.notes;
        let index = index.map_err(|panic| {
            let message = format!("not read: {panic}");
            problems.push(Problem {
                severity: Severity::Error,
                place: None,
                message: format!("{}: {message}", command.name),
            });
            failed(command, Stage::Split, message)
        });
        Some((index, problems))
    }

    /// A unit that an earlier run has read, if its text would be the same now.
    fn unchanged(&self, key: &CommandKey) -> Option<UnitOutcome> {
        let manifest = self.manifests.unchanged(key)?;
        let index = || self.context.store.unit(&UnitKey(manifest.outcome));
        let index = self.context.front_end.measure(index)?;
        Some((Ok(index), manifest.notes.clone()))
    }

    fn index(
        &self,
        command: &CompileCommand,
        key: Option<CommandKey>,
        preprocessed: &Preprocessed,
    ) -> UnitIndex {
        let own = self.context.compiler_arguments.iter();
        let arguments = command.arguments.iter().chain(own);
        let mut dialect = Dialect::of(
            self.preprocessor.ask(command, QUESTIONS).as_deref(),
            &command.compiler.to_string_lossy(),
            arguments.filter_map(|argument| argument.to_str()),
        );
        dialect.model.atomic_sections = self.context.atomic_sections;
        let tree = UnitTree {
            tree: self.tree,
            directory: &command.directory,
            dialect,
        };
        let text = self.annotator.annotate(&preprocessed.text, |marker| {
            let name = self.tree.name(&command.directory, marker);
            name.own.then(|| self.tree.root().join(name.shown))
        });
        let unit = UnitSource {
            source: &command.name,
            text: &text,
            tree: &tree,
            tree_key: tree.key(),
        };
        let unit_key = unit.key();
        let store = self.context.store;
        let index = self.front_end.unit_of_key(unit_key, &unit, store);
        if let Some(key) = key {
            self.manifests
                .record(&key, command, preprocessed, unit_key.0);
        }
        index
    }
}

/// A unit as the ledger has it when nothing of it was read.
fn failed(command: &CompileCommand, stage: Stage, message: String) -> Loss {
    Loss {
        file: command.name.clone(),
        line: 0,
        name: None,
        reason: LossReason { stage, message },
    }
}

/// What a unit's line markers mean.
struct UnitTree<'a> {
    tree: &'a capture::Tree,
    directory: &'a Path,
    dialect: Dialect,
}

impl split::Tree for UnitTree<'_> {
    fn file(&self, marker: &str) -> SourceFile {
        let name = self.tree.name(self.directory, marker);
        SourceFile {
            name: name.shown,
            own: name.own,
        }
    }

    fn dialect(&self) -> Dialect {
        self.dialect
    }
}

impl UnitTree<'_> {
    /// Hash of what the answers depend on.
    fn key(&self) -> [u8; 32] {
        let mut hasher = blake3::Hasher::new();
        for path in [self.tree.root(), self.directory] {
            hasher.update(path.as_os_str().as_encoded_bytes());
            hasher.update(&[0]);
        }
        hasher.update(&self.dialect.number().to_le_bytes());
        *hasher.finalize().as_bytes()
    }
}
