//! `cassini race`: failures of a closed program that only some interleavings of its threads have; and in an open one, accesses without the
//! lock that is held elsewhere.
//!
//! A file is a closed program, which is run; a folder is an open one, which is looked at function by function. `--as` says otherwise.

mod compare;

use std::path::{Path, PathBuf};

use anyhow::{Context, bail};

use crate::capture::{self, Preprocessor};
use crate::cli::asked::Asked;
use crate::cli::check;
use crate::cli::format::{self, Format};
use crate::cli::output::{self, NOTE_LABEL, WARNING_LABEL};
use crate::cli::{CLEAN, FAILED, FOUND};
use crate::concurrency::differ::{self, Outcome, Question, Search};
use crate::concurrency::flow::At;
use crate::concurrency::flow::facts::Flow;
use crate::concurrency::machine::Machine;
use crate::concurrency::program::Program;
use crate::concurrency::replay;
use crate::concurrency::search::Limits;
use crate::concurrency::story::{self, Story};
use crate::finding::Finding;
use crate::frontend::dialect::Dialect;
use crate::frontend::model::{Model, QUESTIONS};
use crate::frontend::whole;
use crate::ir::Body;
use crate::report::{About, Contents, Places, arrange};
use crate::run::all_rules;
use crate::source::{self, Inert};
use crate::triage::owners::Owners;
use crate::triage::{Entry, LeftOut};

#[derive(Debug, clap::Args)]
pub struct Arguments {
    #[command(flatten)]
    asked: Asked,
    /// What the path is: a closed program with a `main`, which is run, or an open one, whose functions anybody may call
    /// [default: closed for a C file or a preprocessed one (.i), open for a folder]
    #[arg(long = "as", value_enum, value_name = "KIND")]
    kind: Option<Kind>,
    /// Begin with this function instead of `main`
    #[arg(long, value_name = "FUNCTION", default_value = "main")]
    entry: String,
    /// Leave out inputs on which a sequential run of this function fails [default: the entry]
    #[arg(long, value_name = "FUNCTION")]
    filter_entry: Option<String>,
    /// Most states to explore
    #[arg(long, value_name = "N", default_value_t = 300_000)]
    states: usize,
    /// Most steps to execute
    #[arg(long, value_name = "N", default_value_t = 60_000_000)]
    steps: u64,
    /// Most preemptions of an interleaving [default: no bound]
    #[arg(long, value_name = "N")]
    preemptions: Option<u32>,
    /// Write a C program that runs the first failure's interleaving, and fails
    #[arg(long, value_name = "FILE")]
    replay: Option<PathBuf>,
    /// Look for further failures after the first
    #[arg(long)]
    all: bool,
    /// How interleavings are searched [default: in all ways in turn, until one comes to its end]
    #[arg(long, value_enum, conflicts_with = "compare")]
    search: Option<Search>,
    /// Search by slices for what can fail in this line, instead of all that can fail
    #[arg(long, value_name = "FILE:LINE", value_parser = place)]
    target: Option<(String, u32)>,
    /// Print the states and the time of each search, side by side, instead of reports
    #[arg(long, conflicts_with_all = ["all", "replay", "output", "format"])]
    compare: bool,
    /// Say all that was guessed or left out, and where the time went, for an open program
    #[arg(short, long)]
    verbose: bool,
    #[arg(long, value_enum, default_value_t = Format::Text)]
    format: Format,
    /// Write the report here instead of to standard output
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
}

/// What a path is taken to be.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum Kind {
    Closed,
    Open,
}

/// A closed program to run.
struct Harness<'a> {
    path: &'a Path,
    arguments: &'a Arguments,
}

/// The bodies of a program's units.
struct Units {
    functions: Vec<Body>,
    objects: Vec<Body>,
    /// The folder that files are relative to.
    root: PathBuf,
}

pub fn run(arguments: Arguments) -> anyhow::Result<u8> {
    let path = arguments.asked.path();
    let is_file = path.is_some_and(|path| !path.is_dir());
    let closed = match arguments.kind {
        Some(kind) => kind == Kind::Closed,
        None => is_file,
    };
    match path {
        Some(path) if closed => {
            let harness = Harness {
                path,
                arguments: &arguments,
            };
            run_closed(&harness)
        }
        None if closed => bail!("a closed program is one C file or one folder"),
        _ => {
            let output = (arguments.format, arguments.output);
            let verbose = arguments.verbose;
            check::run(check::Arguments::of_members(
                arguments.asked,
                output,
                verbose,
            ))
        }
    }
}

fn run_closed(harness: &Harness<'_>) -> anyhow::Result<u8> {
    let arguments = harness.arguments;
    let units = read(harness)?;
    let program = Program::link(&units.functions, &units.objects);
    let entry = function(&program, &arguments.entry, harness.path)?;
    let filter_entry = match &arguments.filter_entry {
        Some(name) => function(&program, name, harness.path)?,
        None => entry,
    };
    let targets = match &arguments.target {
        Some(place) => targets(&program, place)?,
        None => Vec::new(),
    };
    let question = Question {
        entry,
        filter_entry,
        limits: Limits {
            states: arguments.states,
            steps: arguments.steps,
            preemptions: arguments.preemptions,
        },
        all: arguments.all,
        search: arguments
            .search
            .or_else(|| arguments.target.as_ref().map(|_| Search::Slices)),
        targets: &targets,
    };
    if arguments.compare {
        let found = compare::compare(&program, question)?;
        return Ok(if found { FOUND } else { CLEAN });
    }
    let (outcome, mut machine) = differ::differ(&program, question);
    let stories = outcome.found.iter();
    let stories: Vec<Story> = stories
        .map(|found| story::story(&mut machine, found))
        .collect();
    if let (Some(file), Some(found)) = (&arguments.replay, outcome.found.first()) {
        let text = replay::replay(&machine, found, entry);
        std::fs::write(file, text).with_context(|| format!("cannot write {}", file.display()))?;
    }
    write(harness, &units.root, &stories)?;
    tell(&outcome, &machine);
    if !stories.is_empty() {
        return Ok(FOUND);
    }
    let alone = outcome.explored.threads <= 1 && arguments.filter_entry.is_none();
    if alone && outcome.left_out.is_empty() && outcome.explored.exhausted {
        bail!(
            "{}: the program makes no thread, so nothing interleaves",
            harness.path.display()
        );
    }
    if outcome.explored.states == 0 && !outcome.explored.cut.is_empty() {
        return Ok(FAILED);
    }
    Ok(CLEAN)
}

/// The file and the line of `FILE:LINE`.
fn place(text: &str) -> Result<(String, u32), String> {
    let parts = text.rsplit_once(':');
    let place = parts.and_then(|(file, line)| Some((file.to_owned(), line.parse().ok()?)));
    place.ok_or_else(|| format!("`{text}` is not FILE:LINE"))
}

/// The steps in a line that may fail.
fn targets(program: &Program<'_>, (file, line): &(String, u32)) -> anyhow::Result<Vec<At>> {
    let mut targets = Flow::new(program).failing();
    targets.retain(|at| {
        let code = &program.code[at.code].code;
        let pos = code.steps[at.step].1;
        let name = code.body.files.get(usize::from(pos.file));
        pos.line == *line && name.is_some_and(|name| Path::new(name).ends_with(file))
    });
    if targets.is_empty() {
        bail!("nothing can fail at {file}:{line}");
    }
    Ok(targets)
}

fn function(program: &Program<'_>, name: &str, harness: &Path) -> anyhow::Result<usize> {
    program
        .function(name)
        .with_context(|| format!("{}: there is no function `{name}`", harness.display()))
}

/// Tells on standard error what was explored and what was not.
fn tell(outcome: &Outcome, machine: &Machine<'_>) {
    let explored = &outcome.explored;
    let note = |text: &str| anstream::eprintln!("{NOTE_LABEL}: {}", Inert(text));
    for text in &outcome.told {
        note(text);
    }
    for why in &explored.cut {
        note(&format!("not followed to the end: {why}"));
    }
    for (failure, filter) in &outcome.left_out {
        note(&format!(
            "left out, since a sequential order fails on the same input ({}): {} at line {}",
            filter.name(),
            failure.kind.message(),
            failure.pos.line
        ));
    }
    let extent = match (explored.exhausted, explored.complete_to) {
        (true, _) if explored.cut.is_empty() && !machine.values.unknown => {
            "all interleavings".to_owned()
        }
        (true, _) => "all interleavings but those".to_owned(),
        (false, Some(0)) => "complete without preemptions".to_owned(),
        (false, Some(1)) => "complete to 1 preemption".to_owned(),
        (false, Some(bound)) => format!("complete to {bound} preemptions"),
        (false, None) => "not complete for any number of preemptions".to_owned(),
    };
    note(&format!(
        "explored {} states by {} transitions of {} threads: {extent}",
        explored.states, explored.transitions, explored.threads
    ));
    if !explored.exhausted && outcome.found.is_empty() {
        let text =
            "the search ended at its limits (--states, --steps, --preemptions): there may be more";
        anstream::eprintln!("{WARNING_LABEL}: {text}");
    }
}

fn write(harness: &Harness<'_>, root: &Path, stories: &[Story]) -> anyhow::Result<()> {
    let arguments = harness.arguments;
    let findings: Vec<Finding> = stories.iter().map(Story::finding).collect();
    let entries: Vec<Entry> = arrange(findings, root)
        .into_iter()
        .map(|finding| Entry {
            finding,
            judged: None,
            ignored: None,
            state: None,
        })
        .collect();
    let places = Places::here(root);
    let about = About {
        root: harness.path.display().to_string(),
        ..About::default()
    };
    let rules = all_rules(&[])?;
    let contents = Contents {
        root,
        places: &places,
        about: &about,
        rules: &rules,
        entries: &entries,
        owners: &Owners::load(root),
        left_out: LeftOut::default(),
        baseline: None,
    };
    format::write(arguments.format, arguments.output.as_deref(), &contents)?;
    if arguments.format == Format::Text && arguments.output.is_none() {
        for story in stories {
            output::write_plain(None, |out| writeln!(out, "{}", story.columns()))?;
        }
    }
    Ok(())
}

// ---- reading ----

/// The model of the target, with atomic operations as sections.
fn threaded(mut dialect: Dialect) -> Dialect {
    dialect.model.atomic_sections = true;
    dialect
}

fn read(harness: &Harness<'_>) -> anyhow::Result<Units> {
    let preprocessed = harness
        .path
        .extension()
        .is_some_and(|extension| extension == "i");
    let mut units = Units {
        functions: Vec::new(),
        objects: Vec::new(),
        root: std::env::current_dir().unwrap_or_default(),
    };
    if preprocessed && harness.path.is_file() {
        read_preprocessed(harness.path, &mut units)?;
    } else {
        read_tree(harness, &mut units)?;
    }
    if units.functions.is_empty() {
        bail!("{}: there is no function in it", harness.path.display());
    }
    Ok(units)
}

fn read_preprocessed(file: &Path, units: &mut Units) -> anyhow::Result<()> {
    let text = source::read_regular(file, source::LIMIT)
        .with_context(|| format!("cannot read {}", file.display()))?;
    // The text was made for a target with pointers of 32 bits if its `size_t` is that wide.
    let narrow = memchr::memmem::find(&text, b"typedef unsigned int size_t").is_some();
    let mut dialect = Dialect::default();
    if narrow {
        dialect.model = Model::I386;
    }
    let name = file.to_string_lossy().into_owned();
    add(units, &text, &name, threaded(dialect), &|_| name.clone());
    Ok(())
}

fn read_tree(harness: &Harness<'_>, units: &mut Units) -> anyhow::Result<()> {
    let compiler = harness.arguments.asked.compiler_arguments();
    let found = capture::capture(&capture::Options::of(harness.path)?)?;
    if found.commands.is_empty() {
        bail!("{}: there is no C file in it", harness.path.display());
    }
    units.root = found.tree.root().to_path_buf();
    let preprocessor = Preprocessor::new(&found.tree, compiler.to_vec());
    preprocessor.check(&found.commands)?;
    for command in &found.commands {
        let preprocessed = preprocessor
            .preprocess(command)
            .map_err(|error| anyhow::anyhow!("{error}"))?;
        let all = command.arguments.iter().chain(compiler);
        let dialect = Dialect::of(
            preprocessor.ask(command, QUESTIONS).as_deref(),
            &command.compiler.to_string_lossy(),
            all.filter_map(|argument| argument.to_str()),
        );
        let shown = |marker: &str| found.tree.name(&command.directory, marker).shown;
        add(
            units,
            &preprocessed.text,
            &command.name,
            threaded(dialect),
            &shown,
        );
    }
    Ok(())
}

/// Adds the bodies of a unit, with the names of files as reports have them.
fn add(
    units: &mut Units,
    text: &[u8],
    name: &str,
    dialect: Dialect,
    shown: &dyn Fn(&str) -> String,
) {
    let mut program = whole::program(text, name, dialect);
    for loss in &program.losses {
        let place = format!("{}:{}", shown(&loss.file), loss.line);
        anstream::eprintln!(
            "{WARNING_LABEL}: {}: not read: {}",
            Inert(&place),
            Inert(&loss.reason.message)
        );
    }
    for body in program.functions.iter_mut().chain(&mut program.objects) {
        for file in &mut body.files {
            *file = shown(file);
        }
    }
    units.functions.append(&mut program.functions);
    units.objects.append(&mut program.objects);
}
