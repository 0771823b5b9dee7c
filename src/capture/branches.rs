//! Which calls of given functions a file holds, and under which conditions the preprocessor leaves them in.
//!
//! In: a file's text and names of functions. Out: a [`Scan`]: the calls, the `#define`s of the names and the
//! `#include`s, each with the condition of all the `#if`s around it. Comments and literals are passed over.

use aho_corasick::AhoCorasick;
use rustc_hash::FxHashSet;

use super::condition::Condition;

/// The functions whose calls are looked for.
pub(super) struct Names<'n> {
    all: FxHashSet<&'n str>,
    /// Finds any of them in a text at once; most files hold none.
    anywhere: AhoCorasick,
}

impl<'n> Names<'n> {
    pub(super) fn new(names: impl IntoIterator<Item = &'n str>) -> Names<'n> {
        let all: FxHashSet<&str> = names.into_iter().collect();
        let anywhere = AhoCorasick::new(&all).expect("names stay far below 2^31 bytes");
        Names { all, anywhere }
    }
}

/// A call of one of the functions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Call {
    pub name: String,
    /// 1-based.
    pub line: u32,
    pub condition: Condition,
    /// The innermost `#if` around it, as the file has it.
    pub branch: Option<String>,
    /// The macro whose body it stands in.
    pub within: Option<String>,
}

/// What one file holds.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Scan {
    pub calls: Vec<Call>,
    /// Names of functions that the file defines as macros.
    pub macros: Vec<(String, Condition)>,
    /// The last components of the names of included files.
    pub includes: Vec<(String, Condition)>,
}

impl Scan {
    pub(super) fn of(text: &[u8], names: &Names<'_>) -> Scan {
        let named = names.anywhere.is_match(text);
        // So are most headers of a large tree: tables of registers.
        if !named && !has_include(text) {
            return Scan::default();
        }
        let text = String::from_utf8_lossy(text);
        let text = without_comments(&text);
        let mut scanner = Scanner {
            names: named.then_some(names),
            found: Scan::default(),
            open: Vec::new(),
            before: Before::Other,
        };
        let mut lines = text.lines().zip(1..).peekable();
        while let Some((line, number)) = lines.next() {
            let Some(directive) = line.trim_start().strip_prefix('#') else {
                scanner.words(line, number, None);
                continue;
            };
            let mut directive = directive.trim_start().to_owned();
            while directive.ends_with('\\')
                && let Some((more, _)) = lines.next()
            {
                directive.pop();
                directive.push('\n');
                directive.push_str(more);
            }
            let next = lines.peek().map_or("", |(line, _)| line);
            scanner.directive(&directive, number, next);
        }
        scanner.found
    }
}

/// An `#if` whose `#endif` is to come.
struct Open {
    /// Of the branch that is being read.
    condition: Condition,
    /// Of those before it.
    earlier: Vec<Condition>,
    text: String,
}

/// What stands before a name.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Before {
    /// A name or a star: the next name is declared, not called.
    Type,
    Other,
}

struct Scanner<'a> {
    /// Nothing if the text has none of them.
    names: Option<&'a Names<'a>>,
    found: Scan,
    open: Vec<Open>,
    before: Before,
}

impl Scanner<'_> {
    /// The condition of all the branches around a place.
    fn condition(&self) -> Condition {
        Condition::And(
            self.open
                .iter()
                .map(|open| open.condition.clone())
                .collect(),
        )
    }

    /// A directive after its `#`; `next` is the line after it.
    fn directive(&mut self, directive: &str, line: u32, next: &str) {
        let (word, rest) = word(directive);
        let rest = rest.trim();
        let one_line = || rest.split_whitespace().collect::<Vec<_>>().join(" ");
        match word {
            "if" => self.open(Condition::parse(rest), format!("#if {}", one_line())),
            "ifdef" => self.open(defined(rest), format!("#ifdef {}", one_line())),
            "ifndef" => {
                let guard = next.trim_start().strip_prefix('#').map(str::trim_start);
                let guard = guard
                    .and_then(|next| next.strip_prefix("define"))
                    .map(str::trim);
                // A header's guard, or a default for a macro, leaves nothing out.
                let condition = match guard.is_some_and(|name| word_of(name) == word_of(rest)) {
                    true => Condition::Constant(true),
                    false => Condition::not(defined(rest)),
                };
                self.open(condition, format!("#ifndef {}", one_line()));
            }
            "elif" => self.next_branch(Condition::parse(rest), format!("#elif {}", one_line())),
            "elifdef" => self.next_branch(defined(rest), format!("#elifdef {}", one_line())),
            "elifndef" => {
                let condition = Condition::not(defined(rest));
                self.next_branch(condition, format!("#elifndef {}", one_line()));
            }
            "else" => {
                let text = self
                    .open
                    .last()
                    .map(|open| format!("#else of {}", open.text));
                self.next_branch(Condition::Constant(true), text.unwrap_or_default());
            }
            "endif" => {
                self.open.pop();
            }
            "include" => {
                let name = rest.trim_matches(['"', '<', '>']);
                let name = name.rsplit('/').next().unwrap_or(name).to_owned();
                let condition = self.condition();
                self.found.includes.push((name, condition));
            }
            "define" => {
                let name = word_of(rest);
                if self.names.is_some_and(|names| names.all.contains(name)) {
                    let condition = self.condition();
                    self.found.macros.push((name.to_owned(), condition));
                }
                let body = &rest[name.len()..];
                for (text, line) in body.split('\n').zip(line..) {
                    self.before = Before::Other;
                    self.words(text, line, Some(name));
                }
                self.before = Before::Other;
            }
            _ => {}
        }
    }

    fn open(&mut self, condition: Condition, text: String) {
        self.open.push(Open {
            condition,
            earlier: Vec::new(),
            text,
        });
    }

    fn next_branch(&mut self, condition: Condition, text: String) {
        let Some(open) = self.open.last_mut() else {
            return;
        };
        let last = std::mem::replace(&mut open.condition, Condition::Unknown);
        // What the branch before it was is part of `earlier` but for its own condition.
        let own = match last {
            Condition::And(mut all) if !open.earlier.is_empty() => {
                all.pop().unwrap_or(Condition::Unknown)
            }
            other => other,
        };
        open.earlier.push(Condition::not(own));
        let all = open.earlier.iter().cloned().chain([condition]);
        open.condition = Condition::And(all.collect());
        open.text = text;
    }

    /// Calls in a line of text. The body of a macro (`within`) may only name the function.
    fn words(&mut self, line: &str, number: u32, within: Option<&str>) {
        let Some(names) = self.names else {
            return;
        };
        if !names.anywhere.is_match(line) {
            self.before = ending(line).unwrap_or(self.before);
            return;
        }
        let mut rest = line;
        while let Some(c) = rest.chars().next() {
            if !is_word(c) {
                rest = &rest[c.len_utf8()..];
                if !c.is_whitespace() {
                    self.before = match c {
                        '*' => Before::Type,
                        _ => Before::Other,
                    };
                }
                continue;
            }
            let (name, after) = word(rest);
            rest = after;
            let called = within.is_some() || after.trim_start().starts_with('(');
            if called && self.before == Before::Other && names.all.contains(name) {
                self.found.calls.push(Call {
                    name: name.to_owned(),
                    line: number,
                    condition: self.condition(),
                    branch: self.open.last().map(|open| open.text.clone()),
                    within: within.map(str::to_owned),
                });
            }
            self.before = behind(name);
        }
    }
}

/// What a word is to a name behind it.
fn behind(word: &str) -> Before {
    let statement = matches!(word, "return" | "else" | "do" | "case" | "goto" | "sizeof");
    match statement || word.starts_with(|c: char| c.is_ascii_digit()) {
        true => Before::Other,
        false => Before::Type,
    }
}

/// What the end of a line is to a name behind it; nothing if the line is blank.
fn ending(line: &str) -> Option<Before> {
    let line = line.trim_end();
    let last = line.chars().next_back()?;
    let before = line.trim_end_matches(is_word);
    Some(match (is_word(last), last) {
        (true, _) => behind(&line[before.len()..]),
        (false, '*') => Before::Type,
        (false, _) => Before::Other,
    })
}

fn is_word(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '_'
}

/// Whether some `#include` may stand in a text.
fn has_include(text: &[u8]) -> bool {
    memchr::memmem::find_iter(text, "include").any(|at| {
        let mut before = text[..at].iter().rev();
        before.find(|byte| !matches!(byte, b' ' | b'\t')) == Some(&b'#')
    })
}

fn defined(rest: &str) -> Condition {
    Condition::Defined(word_of(rest).to_owned())
}

/// The word that a text begins with, and what follows it.
fn word(text: &str) -> (&str, &str) {
    let end = text.find(|c: char| !is_word(c));
    text.split_at(end.unwrap_or(text.len()))
}

fn word_of(text: &str) -> &str {
    word(text).0
}

/// The text with blanks for comments and for what literals hold; lines stay where they are.
fn without_comments(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = memchr::memchr3(b'/', b'"', b'\'', rest.as_bytes()) {
        out.push_str(&rest[..at]);
        rest = &rest[at..];
        let length = if rest.starts_with("/*") {
            rest.find("*/").map_or(rest.len(), |end| end + 2)
        } else if rest.starts_with("//") {
            rest.find('\n').unwrap_or(rest.len())
        } else if rest.starts_with(['"', '\'']) && !is_include(&out) {
            literal(rest)
        } else {
            out.push_str(&rest[..1]);
            rest = &rest[1..];
            continue;
        };
        out.push(' ');
        let lines = rest[..length].matches('\n').count();
        out.extend(std::iter::repeat_n('\n', lines));
        rest = &rest[length..];
    }
    out.push_str(rest);
    out
}

/// Whether the last line of a text is an `#include` so far.
fn is_include(text: &str) -> bool {
    let line = text.rfind('\n').map_or(text, |end| &text[end + 1..]);
    line.trim_start().starts_with('#') && line.contains("include")
}

/// The length of the literal that a text begins with; it ends with its line at the latest.
fn literal(text: &str) -> usize {
    let bytes = text.as_bytes();
    let mut at = 1;
    while let Some(&byte) = bytes.get(at) {
        match byte {
            b'\n' => return at,
            b'\\' => at += 1,
            _ if byte == bytes[0] => return at + 1,
            _ => {}
        }
        at += 1;
    }
    // A backslash may be the last byte, or stand before a character of several.
    text.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn scan(text: &str) -> Scan {
        Scan::of(text.as_bytes(), &Names::new(["lock", "unlock"]))
    }

    /// The lines of the calls, and what each needs where nothing is defined.
    fn calls(text: &str) -> Vec<(u32, Option<String>)> {
        let calls = scan(text).calls.into_iter();
        let needs = |call: Call| {
            let definitions = call.condition.settle(true, &|_| None)?;
            Some(definitions.into_keys().collect::<Vec<_>>().join(" "))
        };
        calls.map(|call| (call.line, needs(call))).collect()
    }

    #[test]
    fn a_call_knows_all_conditions_around_it() {
        let text = "#ifndef A_H\n#define A_H\n#ifdef T\n lock(a);\n# if defined(U) \\\n  && !V\n  unlock (a);\n\
                    # else\n lock(b);\n#endif\n#elif W\n lock(c);\n#else\nlock(d);\n#endif\nlock(e);\n#endif\n";
        let need = |text: &str| Some(text.to_owned());
        assert_eq!(
            calls(text),
            [
                (4, need("T")),
                (7, need("T U")),
                (9, need("T")),
                (12, need("W")),
                (14, need("")),
                (16, need("")),
            ]
        );
        assert_eq!(
            scan(text).calls[1].branch.as_deref(),
            Some("#if defined(U) && !V")
        );
    }

    #[test]
    fn only_calls_count() {
        let text = "void lock(int *);\nint *unlock(int *p)\n{\n// lock(a)\n/* lock(b)\n lock(c) */ puts(\"lock(d)\");\n\
                    int lock; if (x) lock(e); else lock(f); return unlock(g);\nx = '\"'; lock(h);\n}\n";
        let lines: Vec<u32> = calls(text).into_iter().map(|(line, _)| line).collect();
        assert_eq!(lines, [7, 7, 7, 8]);
    }

    #[test]
    fn macros_and_includes_have_conditions_too() {
        let text = "#ifdef T\n#include <sys/real.h>\n#else\n#include \"dummy.h\"\n#define lock(x)\n#endif\n\
                    #define LOCK(x) do { \\\n  lock(x); } while (0)\n";
        let found = scan(text);
        let needs = |condition: &Condition| condition.settle(true, &|_| None).map(|d| d.len());
        assert_eq!(found.includes[0].0, "real.h");
        assert_eq!(needs(&found.includes[0].1), Some(1));
        assert_eq!(found.includes[1].0, "dummy.h");
        assert_eq!(needs(&found.includes[1].1), Some(0));
        assert_eq!(found.macros[0].0, "lock");
        assert_eq!(found.calls.len(), 1);
        assert_eq!(found.calls[0].line, 8);
        assert_eq!(found.calls[0].within.as_deref(), Some("LOCK"));
    }
}
