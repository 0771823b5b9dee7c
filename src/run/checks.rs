//! What is checked: the checkers in force, in passes of their own, and what is known of primitives.
//!
//! In: names of checkers, and files that define some. Out: [`Pass`]es. What is about the functions that move objects (locks) needs only those to be
//! executed; what is about accesses to memory needs all. The two are kept apart, so that neither changes what the other finds.

use super::RunError;
use crate::property::{Checker, InForce, LoadError, Property, SourceFile};
use crate::summary::seeds::Seeds;

/// Checkers for which functions are executed together.
#[derive(Debug)]
pub struct Pass {
    pub property: Property,
    pub seeds: Seeds,
}

/// All checkers that there are or that are named, the seeds of primitives, and what was wrong in the user's files.
pub fn load_property(checkers: &[String]) -> Result<(Property, Seeds, Vec<LoadError>), RunError> {
    let (files, names) = named(checkers)?;
    let (mut property, mut errors) = Property::load(&files);
    let (seeds, seed_errors) = Seeds::load(&property, &files);
    errors.extend(seed_errors);
    select(&mut property, &names)?;
    Ok((property, seeds, errors))
}

/// All rules that there are: of the checkers that come with the program, and of the user's files.
pub fn all_rules(checkers: &[String]) -> Result<Property, RunError> {
    let (files, _) = named(checkers)?;
    Ok(Property::load(&files).0)
}

/// The passes over the functions: of the checkers that are named, or else of those that are in force by themselves in a hosted program, or in another
/// one.
pub fn passes(checkers: &[String], hosted: bool) -> Result<(Vec<Pass>, Vec<LoadError>), RunError> {
    let (files, names) = named(checkers)?;
    let (all, mut errors) = Property::load(&files);
    let mut chosen = all.clone();
    select(&mut chosen, &names)?;
    if names.is_empty() {
        chosen.checkers.retain(|checker| match checker.in_force {
            InForce::Always => true,
            InForce::Hosted => hosted,
            InForce::Asked => false,
        });
    }
    let (of_accesses, of_objects): (Vec<Checker>, Vec<Checker>) = chosen
        .checkers
        .into_iter()
        .partition(Checker::watches_accesses);
    let (seeds, seed_errors) = Seeds::load(&all, &files);
    errors.extend(seed_errors);
    let mut passes = Vec::new();
    if !of_objects.is_empty() || of_accesses.is_empty() {
        let property = Property {
            checkers: of_objects,
        };
        passes.push(Pass { property, seeds });
    }
    if !of_accesses.is_empty() {
        let property = Property {
            checkers: of_accesses,
        };
        let (seeds, _) = Seeds::load_with_libraries(&all, &files);
        let seeds = seeds.about_memory(&property);
        passes.push(Pass { property, seeds });
    }
    Ok((passes, errors))
}

/// The files that define checkers, and the names of others.
fn named(checkers: &[String]) -> Result<(Vec<SourceFile>, Vec<&str>), RunError> {
    let mut files = Vec::new();
    let mut names: Vec<&str> = Vec::new();
    for checker in checkers {
        if !checker.ends_with(".toml") {
            names.push(checker);
            continue;
        }
        let text = std::fs::read_to_string(checker).map_err(|error| RunError::CheckerFile {
            file: checker.into(),
            error,
        })?;
        files.push(SourceFile::new(checker.as_str(), text));
    }
    Ok((files, names))
}

/// Keeps the checkers of these names, if there are any names.
fn select(property: &mut Property, names: &[&str]) -> Result<(), RunError> {
    let exists = |name: &&&str| {
        let mut checkers = property.checkers.iter();
        !checkers.any(|checker| checker.name == **name)
    };
    if let Some(name) = names.iter().find(exists) {
        let known: Vec<&str> = property.checkers.iter().map(|c| c.name.as_str()).collect();
        return Err(RunError::NoSuchChecker {
            name: (*name).to_owned(),
            known: known.join(", "),
        });
    }
    if !names.is_empty() {
        let wanted = |checker: &Checker| names.contains(&checker.name.as_str());
        property.checkers.retain(wanted);
    }
    Ok(())
}
