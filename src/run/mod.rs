//! A whole run: from a tree on disk to its findings.
//!
//! In: [`Settings`]. Out: a [`Run`]: findings in order, the ledger, what went wrong on the way. One
//! bad file is reported and counted, and does not stop the run.

mod beside;
mod checks;
mod comments;
mod findings;
mod plain;
mod primitives;
mod problems;
mod reading;

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

pub use self::checks::{Pass, all_rules, load_property, passes};
use self::problems::{errors, linking_problems};
use self::reading::Units;
use crate::cpu_time::Meter;
use crate::engine::analysis::{self, StoredResult};
use crate::engine::function::Options;
use crate::engine::ledger::Ledger;
use crate::engine::timings::{Row, Timings};
use crate::judge::record::{Record, ResultKey};
use crate::program::link::{Objects, link};
use crate::program::{FunctionId, Program};

use crate::capture::hidden::{self, Calls};
use crate::capture::{
    self, Capture, CaptureError, Exclude, NoCompiler, Preprocessor, Problem, Scope, Severity,
};
use crate::finding::Filter;
use crate::frontend::BodyKey;
use crate::ir::Body;
use crate::property::Property;
use crate::report;
use crate::settle::guards;
use crate::store::{Part, Store, StoreError, default_folder, refuse_links};
use crate::summary::Summary;
use crate::triage::{self, Entry};

/// Stack of a worker: parser and executor recurse as deep as the program nests.
const STACK: usize = 64 << 20;

/// So often a run is started before a database that fails again and again ends it.
const ATTEMPTS: u32 = 3;

/// Slow functions told of.
const SLOWEST: usize = 20;

/// What to check, and how.
#[derive(Clone, Debug)]
pub struct Settings {
    pub scope: Scope,
    /// Files that are not read as translation units, and in which nothing is reported.
    pub exclude: Exclude,
    pub compile_commands: Option<PathBuf>,
    /// Compilers and arguments that come with the tree are run and passed whatever they do.
    pub trust_tree: bool,
    /// The database's folder; by default within the tree.
    pub database: Option<PathBuf>,
    /// Names of checkers to use, or files that define some; empty: all that come with the program.
    pub checkers: Vec<String>,
    pub options: Options,
    /// The filter that findings must pass; by default the one that is in force for their rule.
    pub filter: Option<Filter>,
    /// Threads; by default one for each core.
    pub jobs: Option<usize>,
    /// Arguments for the compiler of the user's own.
    pub compiler_arguments: Vec<OsString>,
    /// False: the tree is read, and that is all.
    pub analyse: bool,
    /// Look for calls of lock functions that the preprocessor leaves out, even if some functions touch locks.
    pub look_for_calls: bool,
}

impl Settings {
    /// The database's folder.
    pub fn folder(&self) -> PathBuf {
        let default = || default_folder(self.scope.folder());
        self.database.clone().unwrap_or_else(default)
    }

    /// What to capture.
    fn capture(&self) -> capture::Options {
        capture::Options {
            scope: self.scope.clone(),
            exclude: self.exclude.clone(),
            compile_commands: self.compile_commands.clone(),
            trust_tree: self.trust_tree,
        }
    }
}

/// What became of a run.
#[derive(Debug)]
pub struct Run {
    /// The folder that files are relative to.
    pub root: PathBuf,
    /// The findings in order, with what people say of them.
    pub entries: Vec<Entry>,
    /// The rules that there are, with their manual pages.
    pub rules: Property,
    pub ledger: Ledger,
    /// What reports say of the run.
    pub about: report::About,
    /// What was lost or guessed while the tree was read.
    pub problems: Vec<Problem>,
    pub times: Times,
    pub program: Program,
    /// The functions whose analysis took longest, that one first.
    pub slowest: Vec<(FunctionId, Duration)>,
    /// What the filters have taken, stage by stage.
    pub filters: Vec<Row>,
    /// Function results taken from the database.
    pub reused: u64,
    /// The calls of lock functions in the files, if they were looked for.
    pub lock_calls: Option<Calls>,
    /// The run was stopped; what it had done is in the database.
    pub interrupted: bool,
}

/// CPU time by stage, summed over threads and children.
#[derive(Clone, Copy, Debug, Default, serde::Serialize)]
pub struct Times {
    pub preprocess: Duration,
    pub front_end: Duration,
    pub analysis: Duration,
}

#[derive(Debug, thiserror::Error)]
pub enum RunError {
    #[error(transparent)]
    Capture(#[from] CaptureError),
    #[error(transparent)]
    NoCompiler(#[from] NoCompiler),
    #[error(transparent)]
    Store(#[from] StoreError),
    #[error("no C translation unit found in {0}")]
    NoUnits(String),
    #[error("all translation units found in {0} are left out by --exclude")]
    AllExcluded(String),
    #[error("none of the {count} translation units could be read; the first: {first}")]
    AllUnitsFailed { count: usize, first: String },
    #[error("there is no checker `{name}`; there are: {known}")]
    NoSuchChecker { name: String, known: String },
    #[error("{}: {error}", file.display())]
    CheckerFile {
        file: PathBuf,
        error: std::io::Error,
    },
    #[error("cannot start threads: {0}")]
    Threads(#[from] rayon::ThreadPoolBuildError),
    /// Before anything could be analysed.
    #[error("interrupted; the next run goes on from here")]
    Interrupted,
}

/// Told how far the run is.
pub trait Progress: Sync {
    fn stage(&self, name: &'static str, total: u64);
    fn step(&self);
    /// Something to be told at once.
    fn notice(&self, text: &str);
}

/// Checks a tree. Raising `cancel` ends the run early, with what it has done in the database.
pub fn run(
    settings: &Settings,
    progress: &dyn Progress,
    cancel: &AtomicBool,
) -> Result<Run, RunError> {
    let capture = capture::capture(&settings.capture())?;
    let (passes, errors) = passes(&settings.checkers, capture.is_hosted())?;
    for error in errors {
        progress.notice(&format!("{error} (row left out)"));
    }
    if capture.commands.is_empty() {
        for problem in &capture.problems {
            progress.notice(&problem.to_string());
        }
        let paths = settings.scope.named().to_owned();
        return Err(match capture.excluded {
            0 => RunError::NoUnits(paths),
            _ => RunError::AllExcluded(paths),
        });
    }
    let folder = settings.folder();
    refuse_links(&folder, settings.database.is_some() || settings.trust_tree)?;
    let mut pool = rayon::ThreadPoolBuilder::new().stack_size(STACK);
    if let Some(jobs) = settings.jobs {
        pool = pool.num_threads(jobs);
    }
    let pool = pool.build()?;
    let tell = |notices: Vec<String>| notices.iter().for_each(|text| progress.notice(text));
    let (mut store, notices) = Store::open(&folder)?;
    tell(notices);
    let mut attempts = 1;
    loop {
        let task = Task {
            settings,
            passes: &passes,
            store: &store,
            progress,
            cancel,
            lost: OnceLock::new(),
            preprocessing: Meter::default(),
            front_end: Meter::default(),
            analysis: Timings::default(),
        };
        let result = pool.install(|| task.run(&capture));
        // What a file lost while it was in use is missing from the result: with a new file it is not.
        if let Err(RunError::Store(error)) = &result
            && let Some(part) = error.failed_part()
            && attempts < ATTEMPTS
            && !task.cancelled()
        {
            attempts += 1;
            let (renewed, notices) = store.renew(part, &error.to_string())?;
            store = renewed;
            tell(notices);
            continue;
        }
        tell(store.close().into_iter().collect());
        return result;
    }
}

struct Task<'a> {
    settings: &'a Settings,
    passes: &'a [Pass],
    store: &'a Store,
    progress: &'a dyn Progress,
    cancel: &'a AtomicBool,
    /// The first part of the store that was to be read back and could not.
    lost: OnceLock<(Part, String)>,
    preprocessing: Meter,
    front_end: Meter,
    analysis: Timings,
}

impl Task<'_> {
    fn run(&self, capture: &Capture) -> Result<Run, RunError> {
        let root = capture.tree.root().to_path_buf();
        let (program, mut problems) = self.read(capture)?;
        self.store.database.store_program(&program)?;
        if let Ok(folder) = self.settings.folder().canonicalize() {
            let root = report::from(&folder, &root);
            self.store.database.store_root(&root)?;
        }
        let mut reused = 0;
        let mut records = Vec::new();
        if self.settings.analyse {
            self.store.database.load_results()?;
            let mut passes = self.passes.iter();
            if !passes.any(|pass| pass.property.watches_accesses()) {
                self.store.database.forget_accesses()?;
            }
            for (number, pass) in self.passes.iter().enumerate() {
                let (of_pass, known) = self.analyse(&program, pass, number == 0);
                records.push((pass.property.watches_accesses(), of_pass));
                reused += known;
            }
        } else {
            records.push((false, vec![None; program.functions.len()]));
        }
        if let Some((part, what)) = self.lost.get().cloned() {
            return Err(StoreError::Lost { part, what }.into());
        }
        let interrupted = self.cancelled();
        let found = match interrupted || !self.settings.analyse {
            true => {
                self.store.database.commit()?;
                Vec::new()
            }
            false => self.settle(&program, &records, &root, &mut problems)?,
        };
        let ledger = Ledger {
            units_excluded: capture.excluded as u64,
            ..Ledger::new(&program, &records)
        };
        let about = report::About {
            root: self.settings.scope.shown().to_string_lossy().into_owned(),
            ledger: ledger.clone(),
            failures: errors(&problems),
        };
        if !interrupted && self.settings.analyse {
            let about = serde_json::to_string(&about).unwrap_or_default();
            self.store.database.store_about(&about)?;
        }
        let without = ledger.functions.analysed == 0;
        let mut passes = self.passes.iter();
        let of_locks = passes.any(|pass| !pass.property.watches_accesses());
        let wanted = self.settings.analyse && of_locks && (without || self.settings.look_for_calls);
        Ok(Run {
            lock_calls: match wanted && !interrupted {
                true => Some(self.lock_calls(capture)),
                false => None,
            },
            ledger,
            root,
            about,
            entries: found,
            rules: all_rules(&self.settings.checkers)?,
            problems,
            times: Times {
                preprocess: self.preprocessing.total(),
                front_end: self.front_end.total(),
                analysis: self.analysis.total.total(),
            },
            program,
            slowest: self.analysis.slowest(SLOWEST),
            filters: self.analysis.of_filters(),
            reused,
            interrupted,
        })
    }

    /// Reads the units and puts them together; with what was lost or guessed on the way.
    fn read(&self, capture: &Capture) -> Result<(Program, Vec<Problem>), RunError> {
        let Units {
            indexes,
            flags,
            links,
            failed,
            mut problems,
        } = reading::read(
            capture,
            &reading::Context {
                store: &self.store.bodies,
                archive: &self.store.database,
                atomic_sections: self.settings.options.execution.members,
                temporary: self.store.temporary(),
                compiler_arguments: self.settings.compiler_arguments.clone(),
                progress: self.progress,
                cancel: self.cancel,
                preprocessing: &self.preprocessing,
                front_end: &self.front_end,
            },
        )?;
        self.store.bodies.flush()?;
        if self.cancelled() {
            return Err(RunError::Interrupted);
        }
        if indexes.is_empty() {
            let first = problems.iter().find(|p| p.severity == Severity::Error);
            return Err(RunError::AllUnitsFailed {
                count: capture.commands.len(),
                first: first.map_or_else(|| "no reason known".to_owned(), Problem::to_string),
            });
        }
        let objects = Objects {
            units: indexes,
            flags,
            links,
            failed,
        };
        let program = self.front_end.measure(|| link(objects));
        problems.extend(linking_problems(&program));
        Ok((program, problems))
    }

    /// The findings of a finished run, which are stored with all that the next one may reuse.
    fn settle(
        &self,
        program: &Program,
        records: &[(bool, Vec<Option<Record>>)],
        root: &Path,
        problems: &mut Vec<Problem>,
    ) -> Result<Vec<Entry>, RunError> {
        let mut found = Vec::new();
        for (pass, (_, records)) in self.passes.iter().zip(records) {
            if self.settings.options.execution.members {
                let guards = guards::settle(program, records, &pass.property, root);
                self.store.database.store_guards(&guards)?;
                let context = beside::Context {
                    program,
                    bodies: &self.store.bodies,
                    property: &pass.property,
                    seeds: &pass.seeds,
                };
                let beside = beside::run(&context, &guards.pairs, &|| self.cancelled());
                problems.extend(beside.problem());
                let own = guards.findings.into_iter().chain(beside.findings);
                let own = own.filter(|(id, _)| program.function(*id).own);
                found.extend(own.map(|(_, finding)| finding));
                continue;
            }
            let filter = self.settings.filter;
            found.extend(findings::of(program, records, pass, filter, root));
        }
        let mut found = report::arrange(found, root);
        found.retain(|finding| !self.settings.exclude.leaves_out(&finding.file));
        let (ignored, complaints) = comments::apply(self, program, &found, root)?;
        problems.extend(complaints);
        let verdicts = self.store.database.verdicts()?;
        let gone = |file: &str| !root.join(file).exists();
        let entries = triage::entries(found, &verdicts, ignored, &gone);
        self.store.database.finish(&entries)?;
        let keys = program
            .functions
            .iter()
            .filter_map(|f| f.body.as_ref().ok());
        self.store.bodies.forget_old(keys.copied())?;
        Ok(entries)
    }

    /// Looks in the files for calls of the functions that operate on the machines' objects.
    fn lock_calls(&self, capture: &Capture) -> Calls {
        let of_locks = || {
            let passes = self.passes.iter();
            passes.filter(|pass| !pass.property.watches_accesses())
        };
        let operates = |name: &&str| {
            let mut seeds = of_locks().map(|pass| pass.seeds.get(name));
            seeds.any(|seed| seed.is_some_and(|seed| !seed.summary.rows.is_empty()))
        };
        let names = of_locks().flat_map(|pass| pass.seeds.names());
        let names: BTreeSet<&str> = names.filter(operates).collect();
        let arguments = self.settings.compiler_arguments.clone();
        let preprocessor =
            Preprocessor::new(&capture.tree, arguments).with_temporary(self.store.temporary());
        hidden::calls(capture, &preprocessor, &names)
    }

    fn cancelled(&self) -> bool {
        self.cancel.load(Ordering::Relaxed)
    }

    /// `told`: the database says of each function what became of it in this pass.
    fn analyse(&self, program: &Program, pass: &Pass, told: bool) -> (Vec<Option<Record>>, u64) {
        let stage = match pass.property.watches_accesses() {
            true => "analysing memory",
            false => "analysing locks",
        };
        self.progress.stage(stage, program.functions.len() as u64);
        let results = Tracked {
            task: self,
            told,
            accesses: pass.property.watches_accesses(),
            property: &pass.property,
            reused: std::sync::atomic::AtomicU64::new(0),
        };
        let records = analysis::analyse(&analysis::Inputs {
            program,
            bodies: &results,
            seeds: &pass.seeds,
            results: &results,
            property: &pass.property,
            options: &self.settings.options,
            cancel: &|| self.cancelled() || self.lost.get().is_some(),
            timings: &self.analysis,
        });
        (records, results.reused.into_inner())
    }
}

/// The store, with progress told and reuse counted. After a loss nothing is kept of what rests on it.
struct Tracked<'a> {
    task: &'a Task<'a>,
    told: bool,
    /// It is the pass that checks accesses to memory.
    accesses: bool,
    property: &'a Property,
    reused: std::sync::atomic::AtomicU64,
}

impl analysis::Results for Tracked<'_> {
    fn get(&self, key: ResultKey) -> Option<StoredResult> {
        let result = self.task.store.database.get(key);
        if result.is_some() {
            self.reused.fetch_add(1, Ordering::Relaxed);
        }
        result
    }

    fn summary(&self, key: ResultKey) -> Option<Summary> {
        // Only summaries that the database had a result for are asked for.
        let summary = self.task.store.database.summary(key);
        if summary.is_none() {
            let what = "a summary cannot be read back".to_owned();
            let _ = self.task.lost.set((Part::Database, what));
        }
        summary
    }

    fn put(&self, key: ResultKey, result: &StoredResult, summary: &Summary) {
        if self.task.lost.get().is_none() {
            let plain = plain::rows(result, summary, self.property, self.accesses);
            self.task
                .store
                .database
                .put_with(key, result, summary, plain);
        }
    }

    fn finished(&self, id: FunctionId, record: &Record) {
        if self.told {
            self.task.store.database.finished(id, record);
        }
        if self.accesses {
            self.task.store.database.finished_accesses(id, record);
        }
        self.task.progress.step();
    }
}

impl analysis::Bodies for Tracked<'_> {
    fn body(&self, key: BodyKey) -> Result<Arc<Body>, String> {
        let body = analysis::Bodies::body(&self.task.store.bodies, key);
        if let Err(what) = &body {
            let _ = self.task.lost.set((Part::Bodies, what.clone()));
        }
        body
    }
}
