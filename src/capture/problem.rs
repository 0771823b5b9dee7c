//! What a person should know about how a tree was read.

use std::collections::HashMap;
use std::fmt;
use std::path::Path;

use serde::{Deserialize, Serialize};

/// How grave a [`Problem`] is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Severity {
    /// Something of the program is lost.
    Error,
    /// Something was guessed.
    Warning,
    /// Worth knowing.
    Note,
}

/// A place in a file; line and column are 1-based, 0 when unknown.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Place {
    pub file: String,
    pub line: u32,
    pub column: u32,
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.file)?;
        for number in [self.line, self.column] {
            if number == 0 {
                break;
            }
            write!(f, ":{number}")?;
        }
        Ok(())
    }
}

/// Something that a person should know about how the tree was read.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Problem {
    pub severity: Severity,
    pub place: Option<Place>,
    pub message: String,
}

impl Problem {
    pub fn new(severity: Severity, place: Option<Place>, message: impl Into<String>) -> Self {
        Problem {
            severity,
            place,
            message: message.into(),
        }
    }

    /// A problem with a whole file.
    pub(super) fn about(severity: Severity, path: &Path, message: impl Into<String>) -> Self {
        let place = Place {
            file: path.display().to_string(),
            line: 0,
            column: 0,
        };
        Problem::new(severity, Some(place), message)
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(place) = &self.place {
            write!(f, "{place}: ")?;
        }
        let severity = match self.severity {
            Severity::Error => "error",
            Severity::Warning => "warning",
            Severity::Note => "note",
        };
        write!(f, "{severity}: {}", self.message)
    }
}

/// Each problem once: of those that say the same, the first is kept and says how often it came up.
pub fn distinct(problems: Vec<Problem>) -> Vec<Problem> {
    let mut kept: Vec<(Problem, usize)> = Vec::with_capacity(problems.len());
    let mut known: HashMap<(Severity, String), usize> = HashMap::new();
    for problem in problems {
        let key = (problem.severity, problem.message.clone());
        match known.get(&key) {
            Some(&index) => kept[index].1 += 1,
            None => {
                known.insert(key, kept.len());
                kept.push((problem, 1));
            }
        }
    }
    let with_count = |(problem, count): (Problem, usize)| match count {
        1 => problem,
        _ => Problem {
            message: format!("{} ({count} times)", problem.message),
            ..problem
        },
    };
    kept.into_iter().map(with_count).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_said_often_is_said_once_with_its_first_place() {
        let at =
            |file: &str, message: &str| Problem::about(Severity::Warning, Path::new(file), message);
        let problems = vec![
            at("a.c", "x"),
            at("b.c", "y"),
            at("b.c", "x"),
            at("a.c", "x"),
        ];
        let told: Vec<_> = distinct(problems).iter().map(Problem::to_string).collect();
        assert_eq!(told, ["a.c: warning: x (3 times)", "b.c: warning: y"]);
    }
}
