//! Calls that the preprocessor leaves out, and the definitions that would bring them in.
//!
//! In: the files of a run, and names of functions. Out: how many calls of those the files hold, and which are
//! left out, by what would have to be defined. Whether a definition helps is tried: the preprocessor is run with
//! it on a unit.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::path::{Path, PathBuf};

use rayon::prelude::*;

use super::branches::{Names, Scan};
use super::condition::{Condition, Definitions};
use super::{Capture, CompileCommand, Place, Preprocessor};
use crate::source::{self, read_regular};

/// So many units are tried for a call that stands in a header.
const TRIED: usize = 24;
/// So many ways to define macros are tried.
const GROUPS: usize = 4;

/// The calls of a tree.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Calls {
    /// In all files of the run.
    pub all: usize,
    /// Those left out, by what would bring them in; the most first.
    pub left_out: Vec<Group>,
    /// Those left out that nothing is known for, by the innermost `#if` around them; the most first.
    pub others: Vec<(String, Sites)>,
}

/// Calls that one set of definitions brings in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Group {
    /// Arguments for the compiler: `-DWITH_THREADS`.
    pub arguments: Vec<String>,
    pub sites: Sites,
    /// The arguments were tried on a unit, and calls came in.
    pub helps: bool,
}

/// Places of calls.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sites {
    pub count: usize,
    /// The first, in the order of files and lines.
    pub first: Place,
}

impl Sites {
    fn add(known: Option<Sites>, place: Place) -> Sites {
        match known {
            Some(Sites { count, first }) => Sites {
                count: count + 1,
                first,
            },
            None => Sites {
                count: 1,
                first: place,
            },
        }
    }
}

/// Looks for calls of the functions `names` in the files of a run.
pub fn calls(capture: &Capture, preprocessor: &Preprocessor<'_>, names: &BTreeSet<&str>) -> Calls {
    let names = &Names::new(names.iter().copied());
    let scans = scan(capture, names);
    let all = scans.iter().map(|(_, scan)| scan.calls.len()).sum();
    if all == 0 {
        return Calls::default();
    }
    let replaced = replaced(&scans);
    let macros = macros(capture, preprocessor, &scans);
    let known = |name: &str| macros.get(name).map(String::as_str);
    let mut groups: BTreeMap<Vec<(String, i64)>, (Sites, Origin)> = BTreeMap::new();
    let mut others: BTreeMap<String, Sites> = BTreeMap::new();
    for (file, scan) in &scans {
        for call in &scan.calls {
            let place = Place {
                file: capture.tree.name_path(file).shown,
                line: call.line,
                column: 0,
            };
            let mut all = vec![call.condition.clone()];
            all.extend(replaced.get(call.name.as_str()).cloned());
            match Condition::And(all).settle(true, &known) {
                Some(needed) if needed.is_empty() => {}
                Some(needed) => {
                    let key: Vec<(String, i64)> = needed.into_iter().collect();
                    let known = groups.remove(&key);
                    let (sites, mut origin) = match known {
                        Some((sites, origin)) => (Some(sites), origin),
                        None => (None, Origin::default()),
                    };
                    origin.files.insert(file.clone());
                    origin.macros.extend(call.within.clone());
                    groups.insert(key, (Sites::add(sites, place), origin));
                }
                None => {
                    let branch = call.branch.clone().unwrap_or_default();
                    let sites = Sites::add(others.remove(&branch), place);
                    others.insert(branch, sites);
                }
            }
        }
    }
    let mut left_out: Vec<(Group, Origin)> = groups
        .into_iter()
        .map(|(definitions, (sites, origin))| {
            let definitions: Definitions = definitions.into_iter().collect();
            let group = Group {
                arguments: arguments(&definitions),
                sites,
                helps: false,
            };
            (group, origin)
        })
        .collect();
    left_out.sort_by_key(|(group, _)| std::cmp::Reverse(group.sites.count));
    for (group, origin) in left_out.iter_mut().take(GROUPS) {
        group.helps = helps(capture, preprocessor, names, (&group.arguments, origin));
    }
    let mut others: Vec<(String, Sites)> = others.into_iter().collect();
    others.sort_by_key(|(_, sites)| std::cmp::Reverse(sites.count));
    Calls {
        all,
        left_out: left_out.into_iter().map(|(group, _)| group).collect(),
        others,
    }
}

fn arguments(definitions: &Definitions) -> Vec<String> {
    let argument = |(name, value): (&String, &i64)| match value {
        1 => format!("-D{name}"),
        value => format!("-D{name}={value}"),
    };
    definitions.iter().map(argument).collect()
}

/// Scans the sources of the run and the headers of the tree, in order.
fn scan(capture: &Capture, names: &Names<'_>) -> Vec<(PathBuf, Scan)> {
    let is_header = |file: &&PathBuf| file.extension().is_some_and(|e| e == "h");
    let headers = capture.tree.project_files().list.iter().filter(is_header);
    let sources = capture.commands.iter().map(|command| &command.source);
    let files: BTreeSet<&PathBuf> = sources.chain(headers).collect();
    let files: Vec<&PathBuf> = files.into_iter().collect();
    let scanned = files.into_par_iter().filter_map(|file| {
        // What cannot be read was told of.
        let text = read_regular(file, source::LIMIT).ok()?;
        Some((file.clone(), Scan::of(&text, names)))
    });
    scanned.collect()
}

/// For functions that the tree defines as macros: the condition that it does not.
fn replaced(scans: &[(PathBuf, Scan)]) -> HashMap<&str, Condition> {
    let mut included: HashMap<&str, Vec<Condition>> = HashMap::new();
    for (header, condition) in scans.iter().flat_map(|(_, scan)| &scan.includes) {
        let conditions = included.entry(header).or_default();
        conditions.push(condition.clone());
    }
    let mut replaced: HashMap<&str, Vec<Condition>> = HashMap::new();
    for (file, scan) in scans {
        let name = file.file_name().and_then(|name| name.to_str());
        let included = name.and_then(|name| included.get(name));
        for (function, condition) in &scan.macros {
            let reached = match included {
                Some(any) => Condition::Or(any.clone()),
                None => Condition::Constant(true),
            };
            let here = Condition::And(vec![reached, condition.clone()]);
            let conditions = replaced.entry(function).or_default();
            conditions.push(Condition::not(here));
        }
    }
    let all = replaced.into_iter();
    all.map(|(name, conditions)| (name, Condition::And(conditions)))
        .collect()
}

/// The macros of the unit with the most calls, by their names.
fn macros(
    capture: &Capture,
    preprocessor: &Preprocessor<'_>,
    scans: &[(PathBuf, Scan)],
) -> BTreeMap<String, String> {
    let calls: HashMap<&Path, usize> = scans
        .iter()
        .map(|(file, scan)| (file.as_path(), scan.calls.len()))
        .collect();
    let count = |command: &&CompileCommand| calls.get(command.source.as_path()).copied();
    // The first of several.
    let unit = capture.commands.iter().rev().max_by_key(count);
    let Some(unit) = unit else {
        return BTreeMap::new();
    };
    let text = preprocessor.preprocess(&with(unit, &["-dM".to_owned()]));
    let text = text.map(|done| done.text).unwrap_or_default();
    let text = String::from_utf8_lossy(&text);
    let definitions = text.lines().filter_map(|line| {
        let definition = line.strip_prefix("#define ")?;
        let (name, value) = definition.split_once(' ').unwrap_or((definition, ""));
        Some((name.to_owned(), value.to_owned()))
    });
    definitions.collect()
}

/// Where the calls of a group stand.
#[derive(Debug, Default)]
struct Origin {
    files: BTreeSet<PathBuf>,
    /// The macros in whose bodies they stand.
    macros: BTreeSet<String>,
}

/// Whether calls come in, in one of the files or in a unit that uses one of the macros, if these arguments are
/// given.
fn helps(
    capture: &Capture,
    preprocessor: &Preprocessor<'_>,
    names: &Names<'_>,
    (arguments, origin): (&[String], &Origin),
) -> bool {
    let uses = |command: &&CompileCommand| {
        let text = read_regular(&command.source, source::LIMIT).unwrap_or_default();
        let mut macros = origin.macros.iter();
        macros.any(|name| memchr::memmem::find(&text, name.as_bytes()).is_some())
    };
    let commands = &capture.commands;
    let own = commands.iter().filter(|c| origin.files.contains(&c.source));
    let users = commands.iter().filter(uses);
    let mut units: Vec<&CompileCommand> = own.chain(users).take(TRIED).collect();
    if units.is_empty() {
        units = commands.iter().take(TRIED).collect();
    }
    let count = |command: &CompileCommand| {
        let done = preprocessor.preprocess(command).ok()?;
        Some(Scan::of(&done.text, names).calls.len())
    };
    units.into_par_iter().any(|unit| {
        let brought = count(&with(unit, arguments));
        brought.unwrap_or(0) > count(unit).unwrap_or(0)
    })
}

/// The command with further arguments.
fn with(command: &CompileCommand, arguments: &[String]) -> CompileCommand {
    let mut command = command.clone();
    command.arguments.extend(arguments.iter().map(Into::into));
    command
}
