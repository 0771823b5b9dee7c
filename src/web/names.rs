//! The names of all functions, for search as you type.
//!
//! In: the functions of the last run. Out: those whose names have a text in them, the likeliest first. The names are kept in memory, in lower case one
//! after another: looking through those of 100,000 functions takes about a millisecond.

use memchr::memmem::Finder;

use crate::store::StoreError;
use crate::store::query::Reader;

/// A function that a search has found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Name {
    pub name: String,
    pub file: String,
    pub line: u32,
}

#[derive(Debug, Default)]
pub struct Names {
    functions: Vec<Name>,
    lower: Vec<String>,
}

/// How well a name fits: the whole, its beginning, the beginning of a word in it, any part.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Fit {
    Whole,
    Beginning,
    Word,
    Part,
}

impl Names {
    pub fn read(reader: &Reader) -> Result<Names, StoreError> {
        let mut names = Names::default();
        reader.each_name(&mut |name, file, line| {
            names.lower.push(name.to_lowercase());
            names.functions.push(Name { name, file, line });
        })?;
        Ok(names)
    }

    /// At most so many functions whose names have this text in them, whatever the case of its letters, and how many there are.
    pub fn search(&self, text: &str, most: usize) -> (Vec<&Name>, usize) {
        let text = text.trim().to_lowercase();
        if text.is_empty() {
            return (Vec::new(), 0);
        }
        let finder = Finder::new(text.as_bytes());
        let names = self.lower.iter().enumerate();
        let found = names.filter_map(|(index, name)| {
            let fit = fit(name, &text, &finder)?;
            Some((fit, name.len(), index))
        });
        let mut found: Vec<(Fit, usize, usize)> = found.collect();
        let count = found.len();
        if count > most {
            found.select_nth_unstable(most);
            found.truncate(most);
        }
        found.sort_unstable();
        let found = found
            .into_iter()
            .map(|(_, _, index)| &self.functions[index]);
        (found.collect(), count)
    }
}

fn fit(name: &str, text: &str, finder: &Finder<'_>) -> Option<Fit> {
    let at = finder.find(name.as_bytes())?;
    let is_word = |at: usize| at == 0 || name.as_bytes()[at - 1] == b'_';
    let mut places = finder.find_iter(name.as_bytes());
    Some(match at {
        0 if name.len() == text.len() => Fit::Whole,
        0 => Fit::Beginning,
        _ if places.any(is_word) => Fit::Word,
        _ => Fit::Part,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::{Duration, Instant};

    fn names(names: &[&str]) -> Names {
        let function = |name: &&str| Name {
            name: (*name).to_owned(),
            file: "a.c".to_owned(),
            line: 1,
        };
        Names {
            functions: names.iter().map(function).collect(),
            lower: names.iter().map(|name| name.to_lowercase()).collect(),
        }
    }

    #[test]
    fn the_likeliest_come_first() {
        let names = names(&[
            "unlock",
            "spin_lock_irq",
            "lock",
            "lock_page",
            "spin_lock",
            "Clocks",
            "read",
        ]);
        let found = |text: &str, most| {
            let (found, count) = names.search(text, most);
            (
                found.iter().map(|name| &*name.name).collect::<Vec<_>>(),
                count,
            )
        };
        let all = [
            "lock",
            "lock_page",
            "spin_lock",
            "spin_lock_irq",
            "unlock",
            "Clocks",
        ];
        assert_eq!(found("LOCK", 10), (all.to_vec(), 6));
        assert_eq!(found("lock", 2), (all[..2].to_vec(), 6));
        assert_eq!(found("zzz", 2), (vec![], 0));
        assert_eq!(found(" ", 2), (vec![], 0));
    }

    #[test]
    fn a_hundred_thousand_names_are_searched_between_two_keys() {
        let all: Vec<String> = (0..120_000)
            .map(|number| format!("driver_{number}_probe_locked"))
            .collect();
        let all: Vec<&str> = all.iter().map(String::as_str).collect();
        let names = names(&all);
        let begun = Instant::now();
        assert_eq!(names.search("e", 30).1, 120_000);
        let taken = begun.elapsed();
        assert!(taken < Duration::from_millis(500), "{taken:?}");
    }
}
