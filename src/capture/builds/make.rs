//! Definitions in a makefile, or in one for automake.

use std::collections::{BTreeMap, HashMap};
use std::path::Path;

use super::{Macros, definitions};
use crate::source::{self, read_regular};

/// So deep do makefiles include others.
const DEPTH: u32 = 4;

/// The definitions in the variables for the compiler's flags, by the part of the program that a variable is for:
/// `LIB_CFLAGS` is for `lib`, `CFLAGS` for all, which has no name.
pub(super) fn macros(text: &str, folder: &Path) -> BTreeMap<String, Macros> {
    let mut reader = Reader {
        folder,
        variables: HashMap::new(),
        found: BTreeMap::new(),
    };
    reader.read(text, DEPTH);
    reader.found
}

struct Reader<'a> {
    folder: &'a Path,
    variables: HashMap<String, String>,
    found: BTreeMap<String, Macros>,
}

/// The part of the program that a variable holds flags for; `None` if it holds no flags for a C compiler.
fn part(variable: &str) -> Option<String> {
    const FLAGS: &[&str] = &[
        "CPPFLAGS", "CFLAGS", "CDEFINES", "DEFINES", "CDEFS", "DEFS", "COPTS",
    ];
    const ALL: &[&str] = &[
        "", "am", "all", "my", "local", "extra", "base", "basic", "common", "global", "our", "xc",
        "std",
    ];
    let prefix = FLAGS
        .iter()
        .find_map(|flags| variable.strip_suffix(flags))?;
    let prefix = prefix.trim_matches('_').to_lowercase();
    Some(match ALL.contains(&prefix.as_str()) {
        true => String::new(),
        false => prefix,
    })
}

/// Whether a line begins a rule: a colon that is no part of an assignment.
fn is_rule(line: &str) -> bool {
    let colon = line.find(':');
    colon.is_some_and(|at| !line[at + 1..].starts_with([':', '=']) && !line[..at].contains('='))
}

impl Reader<'_> {
    fn read(&mut self, text: &str, depth: u32) {
        let text = text.replace("\\\r\n", " ").replace("\\\n", " ");
        // For each conditional: whether its branch is read, and whether a branch before may have been.
        let mut open: Vec<(bool, bool)> = Vec::new();
        let mut in_rule = false;
        for line in text.lines() {
            // Before the first rule a tab is a blank like others.
            if line.starts_with('\t') && in_rule {
                continue;
            }
            let line = line.split('#').next().unwrap_or("").trim();
            let (word, rest) = line.split_once(char::is_whitespace).unwrap_or((line, ""));
            match word {
                "ifeq" | "ifneq" | "ifdef" | "ifndef" | "if" => {
                    let holds = self.holds(word, rest.trim());
                    open.push((holds == Some(true), holds != Some(false)));
                }
                "else" => {
                    let again = rest.trim().split_once(char::is_whitespace);
                    let holds =
                        again.map_or(Some(true), |(word, rest)| self.holds(word, rest.trim()));
                    if let Some((read, before)) = open.last_mut() {
                        *read = !*before && holds == Some(true);
                        *before |= holds != Some(false);
                    }
                }
                "endif" => {
                    open.pop();
                }
                _ if open.iter().any(|(read, _)| !read) => {}
                "include" | "-include" | "sinclude" if depth > 0 => {
                    let name = self.expand(rest.trim());
                    let is_plain = !name.is_empty() && !name.contains(['$', ' ', '*', '/']);
                    let included = self.folder.join(name);
                    if is_plain && let Ok(text) = read_regular(&included, source::LIMIT) {
                        self.read(&String::from_utf8_lossy(&text), depth - 1);
                    }
                }
                _ => {
                    in_rule = is_rule(line) || in_rule && line.is_empty();
                    self.assignment(line);
                }
            }
        }
    }

    fn assignment(&mut self, line: &str) {
        let Some((name, value)) = line.split_once('=') else {
            return;
        };
        let (name, value) = (name.trim_end(), value.trim());
        let bare = name.trim_end_matches([':', '+', '?']).trim_end();
        let bare = ["override ", "export "]
            .iter()
            .fold(bare, |name, word| name.strip_prefix(word).unwrap_or(name));
        if bare.contains([' ', '\t', ':', '$', '(']) {
            return;
        }
        if name.ends_with('?') && self.variables.contains_key(bare) {
            return;
        }
        if let Some(part) = part(bare) {
            let words = shlex::split(value).unwrap_or_default();
            let found = definitions(words.iter().map(String::as_str));
            self.found.entry(part).or_default().extend(found);
        }
        let value = self.expand(value);
        match name.ends_with('+') {
            true => {
                let known = self.variables.entry(bare.to_owned()).or_default();
                known.push(' ');
                known.push_str(&value);
            }
            false => {
                self.variables.insert(bare.to_owned(), value);
            }
        }
    }

    /// The text with the values of variables that are known. The others stay.
    fn expand(&self, text: &str) -> String {
        let mut out = String::new();
        let mut rest = text;
        while let Some(at) = rest.find("$(") {
            out.push_str(&rest[..at]);
            let tail = &rest[at + 2..];
            let end = tail.find(')');
            let known = end.and_then(|end| Some((self.variables.get(&tail[..end])?, end)));
            match known {
                Some((value, end)) if out.len() < 4096 => {
                    out.push_str(value);
                    rest = &tail[end + 1..];
                }
                _ => {
                    out.push_str("$(");
                    rest = tail;
                }
            }
        }
        out + rest
    }

    /// Whether a conditional holds; `None` if that cannot be told.
    fn holds(&self, word: &str, rest: &str) -> Option<bool> {
        match word {
            // A variable that no file sets is empty, unless the user gives it.
            "ifdef" => Some(self.variables.contains_key(rest)),
            "ifndef" => Some(!self.variables.contains_key(rest)),
            "ifeq" | "ifneq" => {
                let both = rest
                    .strip_prefix('(')
                    .and_then(|rest| rest.strip_suffix(')'));
                let (left, right) = both?.split_once(',')?;
                let (left, right) = (self.expand(left.trim()), self.expand(right.trim()));
                if left.contains('$') || right.contains('$') {
                    return None;
                }
                Some((left == right) == (word == "ifeq"))
            }
            // Automake's conditions are decided by the configure script.
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    fn names(text: &str, folder: &Path) -> Vec<String> {
        let parts = macros(text, folder).into_iter();
        let names = parts.flat_map(|(part, macros)| {
            let names = macros.into_keys();
            names.map(move |name| match part.as_str() {
                "" => name,
                part => format!("{part}: {name}"),
            })
        });
        names.collect()
    }

    #[test]
    fn options_of_an_included_makefile_decide() {
        let folder = tempfile::tempdir().unwrap();
        let options = "WITH_THREADS:=yes\nWITH_X ?= no\nLIB_CFLAGS = -Wall\n\
            ifeq ($(WITH_THREADS),yes)\n\tLIB_CFLAGS:=$(LIB_CFLAGS) -DWITH_THREADS\nendif\n\
            ifeq ($(WITH_X),yes)\nCFLAGS += -DX\nelse\nCFLAGS += -DNO_X\nendif\nifneq ($(UNAME),Linux)\nCFLAGS+=-DOTHER\nendif\n";
        fs::write(folder.path().join("config.mk"), options).unwrap();
        let text = "include config.mk\nCPPFLAGS += -DV=\\\"1.0\\\" \\\n  -DW=2 # -DC\nall:\n\n\tCFLAGS=-DNOT_HERE ./make\n";
        assert_eq!(
            names(text, folder.path()),
            ["NO_X", "V", "W", "lib: WITH_THREADS"]
        );
        let automake = "AM_CPPFLAGS = -DA -I$(srcdir)\nif WITH_B\nAM_CFLAGS = -DB\nelse\nAM_CFLAGS = -DC\nendif\n";
        assert_eq!(names(automake, folder.path()), ["A"]);
        fs::write(
            folder.path().join("config.mk"),
            "include config.mk\nDEFS = -DD\n",
        )
        .unwrap();
        assert_eq!(names("include config.mk\n", folder.path()), ["D"]);
    }
}
