//! What to check, and how: the arguments that `check` and `lsp` share.
//!
//! In: the command line and the tree's `cassini.toml`, which the command line goes before. Out: the settings of a run.

use std::borrow::Cow;
use std::ffi::OsString;
use std::ops::RangeInclusive;
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::config::Config;
use crate::capture::{Exclude, Scope};
use crate::engine::function::Options;
use crate::finding::{Filter, Level};
use crate::run::Settings;

/// What `--jobs` may be.
pub const JOBS: RangeInclusive<i64> = 1..=1024;
/// What `--unroll` may be.
pub const UNROLL: RangeInclusive<i64> = 1..=64;

#[derive(Debug, clap::Args)]
pub struct Asked {
    /// What to check: folders and C files. The tree is the folder that holds them all [default: .]
    #[arg(value_name = "PATH")]
    paths: Vec<PathBuf>,
    /// Leave out files that match this glob, as in a .gitignore in the tree's folder (may be given again)
    #[arg(long, value_name = "GLOB")]
    exclude: Vec<String>,
    /// Use this compile_commands.json [default: one in, above or below the tree, if there is one]
    #[arg(short = 'p', long, value_name = "FILE")]
    compile_commands: Option<PathBuf>,
    /// Run the compilers and apply the arguments and settings that come with the tree, whatever they do
    #[arg(long)]
    trust_tree: bool,
    /// The database's folder [default: .cassini in the tree]
    #[arg(long = "db", value_name = "DIR")]
    database: Option<PathBuf>,
    /// Checkers to use, by name, or TOML files that define some
    #[arg(long, value_name = "LIST", value_delimiter = ',')]
    checkers: Vec<String>,
    /// Threads [default: one for each core]
    #[arg(short, long, value_name = "N", value_parser = clap::value_parser!(u32).range(JOBS))]
    jobs: Option<u32>,
    /// How often a loop's body is executed [default: 2]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(UNROLL))]
    unroll: Option<u32>,
    /// Give a function up after this time; results then depend on the machine
    #[arg(long, value_name = "SECONDS")]
    time_limit: Option<u64>,
    /// Leave out what this reading of unknown inputs and callees excludes [default: by rule]
    #[arg(long, value_enum)]
    filter: Option<Filter>,
    /// Leave out what is less certain than this [default: warning]
    #[arg(long, value_enum)]
    level: Option<Level>,
    /// Take defaults from this file [default: the tree's cassini.toml, if there is one]
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,
    /// Further arguments for the C compiler
    #[arg(last = true, value_name = "CC ARGUMENTS")]
    compiler_arguments: Vec<OsString>,
}

/// The settings of a run, and what of its findings is shown.
pub struct Wanted {
    pub settings: Settings,
    pub level: Level,
    /// The configuration's earlier report.
    pub baseline: Option<PathBuf>,
    /// What was not applied of the tree's configuration.
    pub notices: Vec<String>,
}

/// A choice of the command line, else the configuration's.
fn either<T: Clone>(argument: &[T], configured: Vec<T>) -> Vec<T> {
    if argument.is_empty() {
        configured
    } else {
        argument.to_vec()
    }
}

impl Asked {
    /// The path, if there is just one.
    pub fn path(&self) -> Option<&Path> {
        match self.paths.as_slice() {
            [path] => Some(path),
            _ => None,
        }
    }

    pub fn compiler_arguments(&self) -> &[OsString] {
        &self.compiler_arguments
    }

    /// The command that checks the same paths again, up to the compiler's arguments.
    pub fn again(&self) -> String {
        let paths = match self.paths.as_slice() {
            [] => vec![Cow::from(".")],
            paths => paths.iter().map(|path| path.to_string_lossy()).collect(),
        };
        let own = self.compiler_arguments.iter().map(|a| a.to_string_lossy());
        let words = [Cow::from("cassini"), Cow::from("check")].into_iter();
        let words: Vec<Cow<'_, str>> = words
            .chain(paths)
            .chain([Cow::from("--")])
            .chain(own)
            .collect();
        // A name with a null byte can be no argument.
        shlex::try_join(words.iter().map(|word| &**word)).unwrap_or_else(|_| words.join(" "))
    }

    /// What a run needs; `here` is checked if no path was named.
    pub fn wanted(&self, here: &Path) -> anyhow::Result<Wanted> {
        let scope = match self.paths.as_slice() {
            [] => Scope::new(&[here.to_path_buf()])?,
            paths => Scope::new(paths)?,
        };
        let asked = self.config.as_deref();
        let (config, notices) = Config::load(asked, scope.folder(), self.trust_tree)?;
        Ok(Wanted {
            level: self.level.or(config.level).unwrap_or(Level::Warning),
            baseline: config.baseline.clone(),
            settings: self.settings(scope, config)?,
            notices,
        })
    }

    /// Fills what the command line leaves open from the configuration.
    fn settings(&self, scope: Scope, config: Config) -> anyhow::Result<Settings> {
        let configured = config.compiler_arguments.into_iter().map(OsString::from);
        let mut options = Options::default();
        options.execution.time_limit = self.time_limit.map(Duration::from_secs);
        if let Some(unroll) = self.unroll.or(config.unroll) {
            options.execution.unroll = unroll;
        }
        // The command line's come last, so that they can take back (`!glob`) what the tree leaves out.
        let globs = config.exclude.into_iter().chain(self.exclude.clone());
        Ok(Settings {
            scope,
            exclude: Exclude::new(&globs.collect::<Vec<_>>())?,
            compile_commands: self.compile_commands.clone().or(config.compile_commands),
            trust_tree: self.trust_tree,
            database: self.database.clone().or(config.db),
            checkers: either(&self.checkers, config.checkers),
            options,
            filter: self.filter.or(config.filter),
            jobs: self.jobs.or(config.jobs).map(|jobs| jobs as usize),
            analyse: true,
            look_for_calls: false,
            compiler_arguments: either(&self.compiler_arguments, configured.collect()),
        })
    }
}
