//! `cassini check`: analyse a tree.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde::Serialize;

use super::asked::{Asked, Wanted};
use super::format::{self, Format};
use super::output::{self, ERROR_LABEL, NOTE_LABEL, WARNING_LABEL};
use super::progress::Bar;
use super::{CLEAN, FAILED, FOUND};
use super::{baseline, calls, signals};
use crate::capture::{Place, Problem, Severity};
use crate::engine::ledger::Ledger;
use crate::engine::timings::Row;
use crate::finding::Level;
use crate::report::{self, Baseline, Contents, Places};
use crate::run::{self, Run, RunError, Settings, Times};
use crate::source::{self, Inert};
use crate::store::StoreError;
use crate::triage::owners::Owners;
use crate::triage::{self, LeftOut};

/// Problems shown before the rest is only counted.
const SHOWN_PROBLEMS: usize = 20;

#[derive(Debug, clap::Args)]
pub struct Arguments {
    #[command(flatten)]
    asked: Asked,
    #[arg(long, value_enum, default_value_t = Format::Text)]
    format: Format,
    /// Write the report here instead of to standard output
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Leave out what this earlier report (of `--format json` or `sarif`) has already
    #[arg(long, value_name = "FILE")]
    baseline: Option<PathBuf>,
    /// Only read the tree (`cassini query frontend` tells what was read)
    #[arg(long, conflicts_with_all = ["checkers", "baseline", "unroll", "time_limit"])]
    no_analysis: bool,
    /// Exit with 2 if a file, declaration or function was lost
    #[arg(long)]
    strict: bool,
    /// Write CPU times, memory and counts here, as JSON
    #[arg(long, value_name = "FILE")]
    statistics: Option<PathBuf>,
    /// No progress bar
    #[arg(long)]
    no_progress: bool,
    /// Say nothing but the report and errors
    #[arg(short, long, conflicts_with = "verbose")]
    quiet: bool,
    /// Say all that was guessed, and where the time went
    #[arg(short, long)]
    verbose: bool,
    /// It is `cassini race`: what guards members is looked for, and nothing else.
    #[arg(skip)]
    members: bool,
}

impl Arguments {
    /// A run that looks for accesses without the lock that guards what is accessed.
    pub fn of_members(
        asked: Asked,
        (format, output): (Format, Option<PathBuf>),
        verbose: bool,
    ) -> Arguments {
        Arguments {
            asked,
            format,
            output,
            baseline: None,
            no_analysis: false,
            strict: false,
            statistics: None,
            no_progress: false,
            quiet: false,
            verbose,
            members: true,
        }
    }
}

pub fn run(arguments: Arguments) -> anyhow::Result<u8> {
    let Wanted {
        settings,
        level,
        baseline,
        notices,
    } = arguments.asked.wanted(Path::new("."))?;
    for notice in notices.iter().filter(|_| !arguments.quiet) {
        anstream::eprintln!("{WARNING_LABEL}: {}", Inert(notice));
    }
    let baseline = arguments.baseline.clone().or(baseline);
    let mut settings = Settings {
        analyse: !arguments.no_analysis,
        look_for_calls: arguments.verbose,
        ..settings
    };
    if arguments.members {
        settings.options.execution.members = true;
        settings.checkers = vec!["lock".to_owned(), "race".to_owned()];
    }
    let received = signals::end_in_order()?;
    let progress = Bar::new(!arguments.no_progress && !arguments.quiet);
    let result = run::run(&settings, &progress, &received.raised);
    progress.finish();
    let run = match result {
        Ok(run) => run,
        Err(RunError::Interrupted) => {
            anstream::eprintln!("{ERROR_LABEL}: {}", RunError::Interrupted);
            return Ok(received.status().unwrap_or(FAILED));
        }
        Err(RunError::Store(
            error @ (StoreError::Sql { .. } | StoreError::Stuck(_) | StoreError::Lost { .. }),
        )) => {
            let folder = settings.folder();
            anyhow::bail!(
                "{}: {error}; --db DIR puts the database elsewhere",
                folder.display()
            );
        }
        Err(error) => return Err(error.into()),
    };
    let places = Places::here(&run.root);
    tell_problems(&run.problems, &places, &arguments);
    if run.interrupted {
        anstream::eprintln!(
            "{ERROR_LABEL}: interrupted; what was done is kept, the next run goes on from here"
        );
        return Ok(received.status().unwrap_or(FAILED));
    }
    report(run, level, baseline.as_deref(), &settings, &arguments)
}

/// Writes the report and tells of the run. Answers the exit status.
fn report(
    mut run: Run,
    level: Level,
    baseline: Option<&Path>,
    settings: &Settings,
    arguments: &Arguments,
) -> anyhow::Result<u8> {
    let places = Places::here(&run.root);
    let mut entries = std::mem::take(&mut run.entries);
    let fixed = match baseline {
        Some(file) => Some(baseline::compare(&mut entries, file, &run.root)?),
        None => None,
    };
    let left_out = triage::select(&mut entries, level, fixed.is_some());
    let contents = Contents {
        root: &run.root,
        places: &places,
        about: &run.about,
        rules: &run.rules,
        entries: &entries,
        owners: &Owners::load(&run.root),
        left_out,
        baseline: fixed.as_deref().map(|fixed| Baseline {
            fixed,
            whole: false,
        }),
    };
    if !arguments.no_analysis {
        format::write(arguments.format, arguments.output.as_deref(), &contents)?;
    }
    if !arguments.quiet {
        tell_ledger(&run, (&contents, level), arguments);
        let folder = settings.folder();
        let folder = folder.canonicalize().unwrap_or(folder);
        let here = std::env::current_dir().unwrap_or_default();
        let folder = report::from(&here, &folder);
        anstream::eprintln!("database: {}", Inert(&folder));
    }
    if let Some(file) = &arguments.statistics {
        write_statistics(&run, &contents, file)?;
    }
    if arguments.strict && (run.ledger.has_losses() || has_errors(&run.problems)) {
        anstream::eprintln!("{ERROR_LABEL}: --strict: something was lost, see above");
        return Ok(FAILED);
    }
    Ok(match contents.shown().next() {
        None => CLEAN,
        Some(_) => FOUND,
    })
}

fn errors(problems: &[Problem]) -> impl Iterator<Item = &Problem> {
    problems.iter().filter(|p| p.severity == Severity::Error)
}

fn has_errors(problems: &[Problem]) -> bool {
    errors(problems).next().is_some()
}

/// Says what went wrong while the tree was read: all of it if asked, else the beginning.
fn tell_problems(problems: &[Problem], places: &Places, arguments: &Arguments) {
    let told = |problem: &&Problem| match problem.severity {
        Severity::Error => true,
        Severity::Warning => !arguments.quiet,
        Severity::Note => arguments.verbose,
    };
    let mut told: Vec<&Problem> = problems.iter().filter(told).collect();
    // Errors first: warnings can be many.
    told.sort_by_key(|problem| problem.severity);
    let shown = if arguments.verbose {
        told.len()
    } else {
        SHOWN_PROBLEMS
    };
    for problem in told.iter().take(shown) {
        let label = match problem.severity {
            Severity::Error => ERROR_LABEL,
            Severity::Warning => WARNING_LABEL,
            Severity::Note => NOTE_LABEL,
        };
        match &problem.place {
            Some(place) => {
                let file = places.name(&place.file).into_owned();
                let place = Place {
                    file,
                    ..place.clone()
                };
                let place = place.to_string();
                let (place, message) = (Inert(&place), Inert(&problem.message));
                anstream::eprintln!("{place}: {label}: {message}");
            }
            None => anstream::eprintln!("{label}: {}", Inert(&problem.message)),
        }
    }
    if told.len() > shown {
        anstream::eprintln!("… and {} more (-v shows them)", told.len() - shown);
    }
}

fn tell_ledger(run: &Run, (contents, level): (&Contents<'_>, Level), arguments: &Arguments) {
    let places = contents.places;
    if arguments.no_analysis {
        anstream::eprintln!("{}", run.ledger.reading);
    } else {
        anstream::eprintln!("{}", run.ledger);
    }
    if let Some(calls) = &run.lock_calls {
        let touching = run.ledger.functions.analysed;
        calls::tell(calls, touching, places, &arguments.asked.again());
    }
    if !arguments.no_analysis {
        tell_findings(contents, level);
    }
    if run.ledger.has_losses() {
        anstream::eprintln!("what was lost, and why: cassini query failures");
    }
    if arguments.verbose {
        tell_times(run, places);
    }
}

fn tell_findings(contents: &Contents<'_>, level: Level) {
    let left_out: &LeftOut = &contents.left_out;
    let count = contents.shown().count();
    let s = if count == 1 { "" } else { "s" };
    let mut text = format!("{count} finding{s}");
    match contents
        .shown()
        .filter(|entry| entry.finding.is_in_tests())
        .count()
    {
        0 => {}
        all if all == count => text += ", in tests",
        some => text += &format!(", the last {some} in tests"),
    }
    if left_out.known > 0 {
        text += &format!(", not counting {} of the baseline", left_out.known);
    }
    let silenced = report::silenced(left_out);
    if !silenced.is_empty() {
        text += &format!("; {silenced}");
    }
    if left_out.less_certain > 0 {
        let below = match level {
            Level::Error => "--level warning or note shows",
            _ => "--level note shows",
        };
        text += &format!("; {below} {} less certain", left_out.less_certain);
    }
    anstream::eprintln!("{text}");
}

fn tell_times(run: &Run, places: &Places) {
    let Times {
        preprocess,
        front_end,
        analysis,
    } = run.times;
    anstream::eprintln!(
        "CPU seconds: preprocess {:.1}, front end {:.1}, analysis {:.1}; {} function results \
         taken from the database; peak memory {} MiB",
        preprocess.as_secs_f64(),
        front_end.as_secs_f64(),
        analysis.as_secs_f64(),
        run.reused,
        peak_memory() >> 20
    );
    for (name, seconds) in slowest(run, places)
        .take(5)
        .filter(|(_, seconds)| *seconds >= 1.0)
    {
        anstream::eprintln!("  {seconds:.1} for {}", Inert(&name));
    }
}

/// The functions whose analysis took longest, with their places, and its CPU seconds.
fn slowest<'a>(run: &'a Run, places: &'a Places) -> impl Iterator<Item = (String, f64)> + 'a {
    run.slowest.iter().map(|&(id, time)| {
        let function = run.program.function(id);
        let name = format!(
            "{}:{}: {}",
            places.name(&function.file),
            function.line,
            function.name.name
        );
        (name, time.as_secs_f64())
    })
}

/// What `--statistics` writes: for measuring, so not the same from run to run.
#[derive(Serialize)]
struct Statistics<'a> {
    /// Own source files that define functions, and their lines.
    files: usize,
    lines: usize,
    ledger: &'a Ledger,
    reused: u64,
    findings_by_rule: BTreeMap<&'a str, usize>,
    cpu_seconds: BTreeMap<&'static str, f64>,
    /// Functions and the CPU seconds of their analysis.
    slowest: Vec<(String, f64)>,
    /// What the filters have taken, stage by stage.
    filters: &'a [Row],
    peak_memory_bytes: u64,
}

fn write_statistics(run: &Run, contents: &Contents<'_>, file: &Path) -> anyhow::Result<()> {
    let mut own: Vec<&str> = run
        .program
        .functions
        .iter()
        .filter(|function| function.own)
        .map(|function| function.file.as_str())
        .chain(run.program.units.iter().map(|unit| unit.source.as_str()))
        .collect();
    own.sort_unstable();
    own.dedup();
    let lines = |file: &&str| {
        source::read_regular(&run.root.join(file), source::LIMIT)
            .map_or(0, |text| memchr::memchr_iter(b'\n', &text).count())
    };
    let mut findings_by_rule = BTreeMap::new();
    for entry in contents.shown() {
        *findings_by_rule
            .entry(entry.finding.rule.as_str())
            .or_default() += 1;
    }
    let Times {
        preprocess,
        front_end,
        analysis,
    } = run.times;
    let statistics = Statistics {
        files: own.len(),
        lines: own.iter().map(lines).sum(),
        ledger: &run.ledger,
        reused: run.reused,
        findings_by_rule,
        cpu_seconds: BTreeMap::from([
            ("preprocess", preprocess.as_secs_f64()),
            ("front_end", front_end.as_secs_f64()),
            ("analysis", analysis.as_secs_f64()),
            ("process", process_cpu().as_secs_f64()),
        ]),
        slowest: slowest(run, &Places::new(&run.root, &run.root)).collect(),
        filters: &run.filters,
        peak_memory_bytes: peak_memory(),
    };
    output::write(Some(file), |out| {
        serde_json::to_writer_pretty(&mut *out, &statistics)?;
        writeln!(out)
    })
}

/// CPU time of this process, without that of the compilers it ran.
fn process_cpu() -> Duration {
    use nix::sys::resource::{UsageWho, getrusage};
    use nix::sys::time::TimeValLike;
    let microseconds = getrusage(UsageWho::RUSAGE_SELF).map_or(0, |usage| {
        (usage.user_time() + usage.system_time()).num_microseconds()
    });
    Duration::from_micros(u64::try_from(microseconds).unwrap_or(0))
}

/// The process's largest resident size in bytes; 0 where the system cannot tell.
fn peak_memory() -> u64 {
    use nix::sys::resource::{UsageWho, getrusage};
    let kibibytes = getrusage(UsageWho::RUSAGE_SELF).map_or(0, |usage| usage.max_rss());
    u64::try_from(kibibytes).unwrap_or(0) * 1024
}
