//! Attempts to preprocess a unit, each with what the compiler complained of before mended.
//!
//! In: a [`CompileCommand`]. Out: the text of the first attempt that succeeds and what had to be mended (a missing header, an
//! unknown flag, a definition of the build files that does not belong), or the complaint that cannot be.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::{Origin, Preprocessor, TEXT_LIMIT, is_preprocessed};
use crate::capture::branches::{Names, Scan};
use crate::capture::command::{self, CompileCommand};
use crate::capture::compiler::Compiler;
use crate::capture::complaint::{Complaint, Mend};
use crate::capture::standin::StandIns;
use crate::capture::template::{self, System};
use crate::capture::{Place, Problem, Severity};
use crate::source::{self, read_regular};

/// So often a folder of stand-ins is made that somebody removes meanwhile.
const SUPPLIES: usize = 20;
/// So many missing headers and unknown flags are mended in one unit.
const MENDING_LIMIT: usize = 200;

/// What is asked of the compiler, as far as it is mended.
struct Request<'c> {
    command: &'c CompileCommand,
    compiler: Compiler,
    /// The arguments before anything was mended.
    given: Vec<OsString>,
    arguments: Vec<OsString>,
    /// Those of the arguments that the unit may do without.
    optional: Vec<OsString>,
    /// Headers that have stand-ins, or were to have one.
    missing: Vec<PathBuf>,
    stand_ins: Option<StandIns>,
}

impl Request<'_> {
    /// Takes an argument out.
    fn let_go(&mut self, blamed: &OsString) {
        self.arguments.retain(|other| other != blamed);
        self.optional.retain(|other| other != blamed);
    }
}

impl Preprocessor<'_> {
    /// Runs the compiler, mending what it complains of, until it succeeds or nothing can be mended.
    pub(super) fn attempts(
        &self,
        command: &CompileCommand,
        cpu: &mut Duration,
        notes: &mut Vec<Problem>,
    ) -> Result<(Vec<u8>, Option<Origin>), Problem> {
        let failed = |error: io::Error| about(command, error.to_string());
        if is_preprocessed(&command.source) {
            let text = read_regular(&command.source, TEXT_LIMIT).map_err(failed)?;
            return Ok((text, None));
        }
        let mut request = self.request(command, notes)?;
        for _ in 0..MENDING_LIMIT {
            let run = self
                .run(
                    &request.compiler,
                    command,
                    &request.arguments,
                    request.stand_ins.as_ref(),
                )
                .map_err(failed)?;
            *cpu += run.cpu;
            let origin = run.search.map(|search| Origin {
                search,
                arguments: request.given.clone(),
                missing: request.missing.clone(),
            });
            let stand_ins = request.stand_ins.as_ref();
            if stand_ins.is_some_and(|folder| !folder.are_there()) {
                // Removed under the run: a text without them is another one.
                request.stand_ins = None;
                self.supply(&mut request).map_err(failed)?;
                continue;
            }
            if run.success {
                return Ok((finish(request.stand_ins, run.text), origin));
            }
            let first = Complaint::first(&run.messages).ok_or_else(|| {
                let program = request.compiler.program.display();
                about(command, format!("{program} failed without a message"))
            })?;
            let fatal = Complaint::fatal(&run.messages);
            let cause = fatal.as_ref().unwrap_or(&first);
            if let Some(message) = self.mend(&mut request, cause).map_err(failed)? {
                notes.push(warning(self.problem(command, cause), message));
                continue;
            }
            let problem = self.problem(command, &first);
            // A definition of the build files may belong to another part of the program.
            if !request.optional.is_empty() {
                request.optional.clear();
                let arguments = &mut request.arguments;
                arguments.retain(|argument| !command.optional.contains(argument));
                let message = format!("without what the build files define: {}", problem.message);
                notes.push(warning(problem, message));
                continue;
            }
            // What was made up may be what the program objects to (`#error "run configure"`), and the
            // compiler goes on to the end after an error that is not fatal.
            if fatal.is_some() || !(command.guessed || request.stand_ins.is_some()) {
                return Err(problem);
            }
            notes.push(Problem {
                severity: Severity::Warning,
                ..problem
            });
            return Ok((finish(request.stand_ins, run.text), origin));
        }
        Err(about(
            command,
            format!("more than {MENDING_LIMIT} headers cannot be found"),
        ))
    }

    /// What is asked of the compiler first, with stand-ins for the headers that a build would make.
    fn request<'c>(
        &self,
        command: &'c CompileCommand,
        notes: &mut Vec<Problem>,
    ) -> Result<Request<'c>, Problem> {
        let compiler = self
            .compilers
            .of(command)
            .map_err(|error| about(command, error.to_string()))?;
        let arguments = self.arguments(&compiler, command);
        let mut request = Request {
            command,
            compiler,
            given: arguments.clone(),
            arguments,
            optional: command.optional.clone(),
            missing: Vec::new(),
            stand_ins: None,
        };
        for (name, place) in &command.ungenerated {
            request.missing.push(name.clone());
            let added = self.supply(&mut request);
            let added = added.map_err(|error| about(command, error.to_string()))?;
            if let Some(message) = added {
                notes.push(Problem::new(
                    Severity::Warning,
                    Some(place.clone()),
                    message,
                ));
            }
        }
        Ok(request)
    }

    /// Changes the request such that the compiler need not complain of this again, and says how; `None` if that cannot be
    /// done.
    fn mend(&self, request: &mut Request<'_>, cause: &Complaint) -> io::Result<Option<String>> {
        Ok(match cause.mend() {
            Some(Mend::Header(name)) => {
                if let Some(blamed) = asks_for(request.command, cause, &name, &request.optional) {
                    request.let_go(&blamed);
                    let (name, blamed) = (name.display(), blamed.display());
                    return Ok(Some(format!(
                        "{name} cannot be found; read without the build files' {blamed}, which asks for it"
                    )));
                }
                request.missing.push(name.clone());
                match self.supply(request)? {
                    None if command::drop_include(&mut request.arguments, &name) => {
                        Some(format!("{} cannot be found; not included", name.display()))
                    }
                    added => added,
                }
            }
            Some(Mend::Flag(flag)) => {
                let arguments = &mut request.arguments;
                let before = arguments.len();
                arguments.retain(|argument| argument.to_str() != Some(&flag));
                let program = request.compiler.program.display();
                (arguments.len() < before)
                    .then(|| format!("{program} does not know {flag}; left out"))
            }
            None => None,
        })
    }

    /// Makes the last of the missing headers exist and says how; and all of them, if the folder is new. The
    /// folder may be removed meanwhile, with the database's.
    fn supply(&self, request: &mut Request<'_>) -> io::Result<Option<String>> {
        let system = self.system(&request.compiler, &request.given);
        for _ in 1..SUPPLIES {
            match self.try_supply(request, &system) {
                Err(error) if error.kind() == io::ErrorKind::NotFound => request.stand_ins = None,
                supplied => return supplied,
            }
        }
        self.try_supply(request, &system)
    }

    fn try_supply(&self, request: &mut Request<'_>, system: &System) -> io::Result<Option<String>> {
        let there = match request.stand_ins {
            Some(_) => request.missing.len().saturating_sub(1),
            None => 0,
        };
        let folder = StandIns::get(&mut request.stand_ins, &self.temporary)?;
        let mut last = None;
        for name in &request.missing[there..] {
            last = self.add_stand_in(folder, name, system)?;
        }
        Ok(last)
    }

    /// Makes a missing header exist and says how; `None` if that cannot be done.
    fn add_stand_in(
        &self,
        folder: &StandIns,
        name: &Path,
        system: &System,
    ) -> io::Result<Option<String>> {
        let template = self.tree.template(name);
        let text = template.as_ref().map_or(String::new(), |template| {
            template::fill(&template.text, system, &template.settled)
        });
        let what = match template {
            Some(template) => template.told.clone(),
            None => "taken as empty".to_owned(),
        };
        let added = folder.add(name, &text)?;
        Ok(added.then(|| format!("{} cannot be found; {what}", name.display())))
    }

    /// A complaint with its place as reports have it: the unit when the compiler names none.
    fn problem(&self, command: &CompileCommand, complaint: &Complaint) -> Problem {
        let (line, column) = (complaint.line, complaint.column);
        let file = match line {
            0 => command.name.clone(),
            _ => self.tree.name(&command.directory, &complaint.file).shown,
        };
        let place = Place { file, line, column };
        Problem::new(Severity::Error, Some(place), complaint.message.clone())
    }
}

/// What went wrong with a unit as a whole.
fn about(command: &CompileCommand, message: String) -> Problem {
    let place = Place {
        file: command.name.clone(),
        line: 0,
        column: 0,
    };
    Problem::new(Severity::Error, Some(place), message)
}

/// A problem that costs nothing but what the message says.
fn warning(problem: Problem, message: String) -> Problem {
    Problem {
        severity: Severity::Warning,
        message,
        ..problem
    }
}

/// The definition among `optional` without which the file that includes the header would not.
fn asks_for(
    command: &CompileCommand,
    cause: &Complaint,
    header: &Path,
    optional: &[OsString],
) -> Option<OsString> {
    if optional.is_empty() {
        return None;
    }
    let text = read_regular(&command.directory.join(&cause.file), source::LIMIT).ok()?;
    let includes = Scan::of(&text, &Names::new([])).includes;
    let header = header.file_name()?.to_str()?;
    let (_, condition) = includes.iter().find(|(name, _)| name == header)?;
    let split = |argument: &OsString| {
        let definition = argument.to_str()?.strip_prefix("-D")?.to_owned();
        let (name, value) = definition.split_once('=').unwrap_or((&definition, "1"));
        Some((name.to_owned(), value.to_owned()))
    };
    let needs = |argument: &&OsString| {
        let others = optional.iter().filter(|other| other != argument);
        let others: BTreeMap<String, String> = others.filter_map(split).collect();
        let known = |name: &str| others.get(name).map(String::as_str);
        let needed = condition.settle(true, &known).unwrap_or_default();
        split(argument).is_some_and(|(name, _)| needed.contains_key(&name))
    };
    optional.iter().find(needs).cloned()
}

/// The text without what differs from run to run.
fn finish(stand_ins: Option<StandIns>, text: Vec<u8>) -> Vec<u8> {
    match stand_ins {
        Some(stand_ins) => stand_ins.anonymise(text),
        None => text,
    }
}
