//! Attempts to preprocess a unit, each with what the compiler complained of before mended.
//!
//! In: a [`CompileCommand`]. Out: the text of the first attempt that succeeds and what had to be mended (a missing header, an
//! unknown flag, a definition of the build files that does not belong), or the complaint that cannot be.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::{Origin, Preprocessor, TEXT_LIMIT, is_preprocessed};
use crate::capture::branches::Scan;
use crate::capture::command::{self, CompileCommand};
use crate::capture::complaint::{Complaint, Mend};
use crate::capture::standin::StandIns;
use crate::capture::template::{self, System};
use crate::capture::{Place, Problem, Severity};
use crate::source::{self, read_regular};

/// So often a folder of stand-ins is made that somebody removes meanwhile.
const SUPPLIES: usize = 20;
/// So many missing headers and unknown flags are mended in one unit.
const MENDING_LIMIT: usize = 200;

impl Preprocessor<'_> {
    /// Runs the compiler, mending what it complains of, until it succeeds or nothing can be mended.
    pub(super) fn attempts(
        &self,
        command: &CompileCommand,
        cpu: &mut Duration,
        notes: &mut Vec<Problem>,
    ) -> Result<(Vec<u8>, Option<Origin>), Problem> {
        let at_source = |severity, message: String| {
            let place = Place {
                file: command.name.clone(),
                line: 0,
                column: 0,
            };
            Problem::new(severity, Some(place), message)
        };
        let failed = |error: io::Error| at_source(Severity::Error, error.to_string());
        if is_preprocessed(&command.source) {
            let text = read_regular(&command.source, TEXT_LIMIT).map_err(failed)?;
            return Ok((text, None));
        }
        let compiler = self
            .compilers
            .of(command)
            .map_err(|e| at_source(Severity::Error, e.to_string()))?;
        let mut arguments = self.arguments(&compiler, command);
        let given = arguments.clone();
        let mut optional = command.optional.clone();
        let mut missing: Vec<PathBuf> = Vec::new();
        let mut stand_ins: Option<StandIns> = None;
        for (name, place) in &command.ungenerated {
            missing.push(name.clone());
            let system = self.system(&compiler, &given);
            let added = self.supply(&mut stand_ins, &missing, &system);
            if let Some(message) = added.map_err(failed)? {
                notes.push(Problem::new(
                    Severity::Warning,
                    Some(place.clone()),
                    message,
                ));
            }
        }

        for _ in 0..MENDING_LIMIT {
            let run = self
                .run(&compiler, command, &arguments, stand_ins.as_ref())
                .map_err(failed)?;
            *cpu += run.cpu;
            let origin = run.search.map(|search| Origin {
                search,
                arguments: given.clone(),
                missing: missing.clone(),
            });
            if stand_ins.as_ref().is_some_and(|folder| !folder.are_there()) {
                // Removed under the run: a text without them is another one.
                stand_ins = None;
                let system = self.system(&compiler, &given);
                self.supply(&mut stand_ins, &missing, &system)
                    .map_err(failed)?;
                continue;
            }
            if run.success {
                return Ok((finish(stand_ins, run.text), origin));
            }
            let first = Complaint::first(&run.messages).ok_or_else(|| {
                let program = compiler.program.display();
                at_source(
                    Severity::Error,
                    format!("{program} failed without a message"),
                )
            })?;
            let fatal = Complaint::fatal(&run.messages);
            let cause = fatal.as_ref().unwrap_or(&first);
            let mend = cause.mend();
            let blamed = match &mend {
                Some(Mend::Header(name)) => asks_for(command, cause, name, &optional),
                _ => None,
            };
            let mended = match mend {
                Some(Mend::Header(name)) if let_go(&mut arguments, &mut optional, &blamed) => {
                    let blamed = blamed.unwrap_or_default();
                    let (name, blamed) = (name.display(), blamed.display());
                    Some(format!(
                        "{name} cannot be found; read without the build files' {blamed}, which asks for it"
                    ))
                }
                Some(Mend::Header(name)) => {
                    missing.push(name.clone());
                    let system = self.system(&compiler, &given);
                    let added = self.supply(&mut stand_ins, &missing, &system);
                    match added.map_err(failed)? {
                        None if command::drop_include(&mut arguments, &name) => {
                            Some(format!("{} cannot be found; not included", name.display()))
                        }
                        added => added,
                    }
                }
                Some(Mend::Flag(flag)) => {
                    let before = arguments.len();
                    arguments.retain(|argument| argument.to_str() != Some(&flag));
                    let program = compiler.program.display();
                    (arguments.len() < before)
                        .then(|| format!("{program} does not know {flag}; left out"))
                }
                None => None,
            };
            if let Some(message) = mended {
                let problem = self.problem(command, cause);
                notes.push(Problem {
                    severity: Severity::Warning,
                    message,
                    ..problem
                });
                continue;
            }
            let problem = self.problem(command, &first);
            // A definition of the build files may belong to another part of the program.
            if !optional.is_empty() {
                optional.clear();
                arguments.retain(|argument| !command.optional.contains(argument));
                let message = format!("without what the build files define: {}", problem.message);
                notes.push(Problem {
                    severity: Severity::Warning,
                    message,
                    ..problem
                });
                continue;
            }
            // What was made up may be what the program objects to (`#error "run configure"`), and the
            // compiler goes on to the end after an error that is not fatal.
            if fatal.is_some() || !(command.guessed || stand_ins.is_some()) {
                return Err(problem);
            }
            notes.push(Problem {
                severity: Severity::Warning,
                ..problem
            });
            return Ok((finish(stand_ins, run.text), origin));
        }
        Err(at_source(
            Severity::Error,
            format!("more than {MENDING_LIMIT} headers cannot be found"),
        ))
    }

    /// Makes the last of the missing headers exist and says how; and all of them, if the folder is new. The
    /// folder may be removed meanwhile, with the database's.
    fn supply(
        &self,
        stand_ins: &mut Option<StandIns>,
        missing: &[PathBuf],
        system: &System,
    ) -> io::Result<Option<String>> {
        for _ in 1..SUPPLIES {
            match self.try_supply(stand_ins, missing, system) {
                Err(error) if error.kind() == io::ErrorKind::NotFound => *stand_ins = None,
                supplied => return supplied,
            }
        }
        self.try_supply(stand_ins, missing, system)
    }

    fn try_supply(
        &self,
        stand_ins: &mut Option<StandIns>,
        missing: &[PathBuf],
        system: &System,
    ) -> io::Result<Option<String>> {
        let there = match stand_ins {
            Some(_) => missing.len().saturating_sub(1),
            None => 0,
        };
        let folder = StandIns::get(stand_ins, &self.temporary)?;
        let mut last = None;
        for name in &missing[there..] {
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

/// Takes an argument out; false if there is none.
fn let_go(
    arguments: &mut Vec<OsString>,
    optional: &mut Vec<OsString>,
    blamed: &Option<OsString>,
) -> bool {
    if let Some(blamed) = blamed {
        arguments.retain(|other| other != blamed);
        optional.retain(|other| other != blamed);
    }
    blamed.is_some()
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
    let includes = Scan::of(&text, &BTreeSet::new()).includes;
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
