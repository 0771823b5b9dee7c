//! Puts back what the preprocessor drops of who holds a lock: Sparse's annotations at a function's head, lockdep's
//! assertions in its body, which are macros without meaning to a compiler.
//!
//! In: a preprocessed unit, and the source files that its line markers name. Out: the same text with what they say as calls,
//! `__must_hold(&q->lock);` behind the body's `{` and `lockdep_assert_held(&q->lock);` where it stands, which seed data knows.
//! What cannot be put back without doubt (an argument that is itself a macro, say) stays away.

use std::borrow::Cow;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use memchr::{memchr, memchr_iter, memmem};
use parking_lot::RwLock;
use rustc_hash::FxHashMap;

use super::lex;

/// At a function's head: it is called with the lock held.
const HEADS: [&str; 2] = ["__must_hold", "__must_hold_shared"];
/// A statement of its body: the lock is held here.
pub const ASSERTS: [&str; 6] = [
    "lockdep_assert_held",
    "lockdep_assert_held_write",
    "lockdep_assert_held_read",
    "lockdep_assert_held_once",
    "assert_spin_locked",
    "assert_raw_spin_locked",
];
/// The lock is held here if one of these checks it. (Elsewhere it is only asked.)
pub const QUERIES: [&str; 3] = ["mutex_is_locked", "rwsem_is_locked", "spin_is_locked"];
pub const CHECKS: [&str; 4] = ["WARN", "BUG", "ASSERT", "assert"];
/// What such a check is put back as.
const ASSERT: &str = "lockdep_assert_held";

/// What a file must contain to be looked at more closely.
const SIGNS: [&str; 4] = ["must_hold", "lockdep_assert", "spin_locked", "_is_locked"];

/// A call that the source states and the preprocessed text may lack.
#[derive(Debug, PartialEq, Eq)]
struct Stated {
    line: u32,
    place: Stands,
    call: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stands {
    /// Between a function's head and its body.
    Head,
    /// Where a statement begins.
    Statement,
}

/// What source files state, each read once.
pub struct Annotator {
    /// Gives a file's text.
    read: fn(&Path) -> Option<Vec<u8>>,
    files: RwLock<FxHashMap<PathBuf, Arc<[Stated]>>>,
}

impl Annotator {
    pub fn new(read: fn(&Path) -> Option<Vec<u8>>) -> Self {
        Annotator {
            read,
            files: RwLock::default(),
        }
    }

    /// The text with what its sources state. `path` gives the file that a line marker names, for those to be read.
    pub fn annotate<'t>(
        &self,
        text: &'t [u8],
        path: impl Fn(&str) -> Option<PathBuf>,
    ) -> Cow<'t, [u8]> {
        let mut pass = Pass {
            text,
            out: Vec::new(),
            copied: 0,
            heads: Vec::new(),
        };
        let mut names: FxHashMap<&[u8], Arc<[Stated]>> = FxHashMap::default();
        let mut at = 0;
        let mut file: Option<&[u8]> = None;
        // The line that begins at a place.
        let (mut number, mut since) = (1, 0);
        while at < text.len() {
            if text[at] == b'#' {
                let end = line_end(text, at);
                let next = (end + 1).min(text.len());
                number = match lex::marker(&text[at..end]) {
                    Some(marker) => {
                        file = marker.file.or(file);
                        marker.line
                    }
                    None => lines_on(number, &text[since..next]),
                };
                (at, since) = (next, next);
            }
            let rest = &text[at..];
            let end = match rest.first() {
                Some(b'#') => at,
                _ => memmem::find(rest, b"\n#").map_or(text.len(), |found| at + found + 1),
            };
            if let Some(name) = file
                && end > at
            {
                let stated = names.entry(name).or_insert_with(|| {
                    let path = path(&lex::file_name(name));
                    path.map_or_else(|| Arc::from([]), |path| self.file(&path))
                });
                pass.segment(stated, number, at, end);
            }
            at = end;
        }
        pass.finish()
    }

    fn file(&self, path: &Path) -> Arc<[Stated]> {
        if let Some(known) = self.files.read().get(path) {
            return known.clone();
        }
        // What cannot be read states nothing; the preprocessor has told of it.
        let source = (self.read)(path);
        let stated: Arc<[Stated]> = source.map_or_else(Vec::new, |text| stated(&text)).into();
        self.files.write().insert(path.to_owned(), stated.clone());
        stated
    }
}

fn line_end(text: &[u8], at: usize) -> usize {
    memchr(b'\n', &text[at..]).map_or(text.len(), |end| at + end)
}

/// The number of the line behind a text that begins on line `number`.
fn lines_on(number: u32, text: &[u8]) -> u32 {
    number.wrapping_add(memchr_iter(b'\n', text).count() as u32)
}

/// The text being written.
struct Pass<'t> {
    text: &'t [u8],
    out: Vec<u8>,
    /// So much of the text is in `out`.
    copied: usize,
    /// Calls for the next body that begins.
    heads: Vec<String>,
}

impl<'t> Pass<'t> {
    /// Reads the lines of one file from `number` on.
    fn segment(&mut self, stated: &[Stated], number: u32, start: usize, end: usize) {
        let first = stated.partition_point(|one| one.line < number);
        let mut stated = stated[first..].iter().peekable();
        let (mut at, mut number) = (start, number);
        while at < end && (stated.peek().is_some() || !self.heads.is_empty()) {
            let line = line_end(self.text, at).min(end);
            while let Some(one) = stated.next_if(|one| one.line <= number) {
                match one.place {
                    Stands::Head => self.heads.push(one.call.clone()),
                    Stands::Statement if one.line == number => self.statement(at, &one.call),
                    Stands::Statement => {}
                }
            }
            if !self.heads.is_empty() {
                self.head(at, line);
            }
            at = line + 1;
            number = number.wrapping_add(1);
        }
    }

    /// Puts a call before the statement that begins on a line, if one does.
    fn statement(&mut self, line: usize, call: &str) {
        let mut before = self.text[..line].trim_ascii_end();
        while let start = before
            .iter()
            .rposition(|&b| b == b'\n')
            .map_or(0, |at| at + 1)
            && before.get(start) == Some(&b'#')
        {
            before = before[..start].trim_ascii_end();
        }
        let begins = matches!(before.last(), Some(b';' | b'{' | b'}' | b':'));
        if begins {
            self.insert(line, call);
        }
    }

    /// Puts the calls of a head into the body that begins on a line, if one does; a declaration's are dropped.
    fn head(&mut self, line: usize, end: usize) {
        let ends = |byte: &u8| matches!(byte, b'{' | b';');
        if let Some(found) = self.text[line..end].iter().position(ends) {
            let calls = std::mem::take(&mut self.heads);
            if self.text[line + found] == b'{' {
                self.insert(line + found + 1, &calls.join(" "));
            }
        }
    }

    fn insert(&mut self, at: usize, call: &str) {
        self.out.extend_from_slice(&self.text[self.copied..at]);
        self.out.push(b' ');
        self.out.extend_from_slice(call.as_bytes());
        self.copied = at;
    }

    fn finish(mut self) -> Cow<'t, [u8]> {
        if self.copied == 0 {
            return Cow::Borrowed(self.text);
        }
        self.out.extend_from_slice(&self.text[self.copied..]);
        Cow::Owned(self.out)
    }
}

/// What a source file states, by line.
fn stated(source: &[u8]) -> Vec<Stated> {
    if !SIGNS
        .iter()
        .any(|sign| memmem::find(source, sign.as_bytes()).is_some())
    {
        return Vec::new();
    }
    let text = without_comments(&String::from_utf8_lossy(source));
    let mut all = Vec::new();
    let mut of_directive = false;
    for (number, line) in (1..).zip(text.lines()) {
        let directive = of_directive || line.trim_start().starts_with('#');
        of_directive = directive && line.ends_with('\\');
        if directive {
            continue;
        }
        let heads = HEADS.iter().flat_map(|word| {
            let arguments = calls_of(line, word);
            arguments.map(move |argument| (Stands::Head, *word, argument))
        });
        let asserted = asserted(line.trim_start());
        let asserted = asserted.map(|(word, argument)| (Stands::Statement, word, argument));
        for (place, word, argument) in heads.chain(asserted) {
            if is_plain(argument) {
                let call = format!("{word}({argument});");
                all.push(Stated {
                    line: number,
                    place,
                    call,
                });
            }
        }
    }
    all
}

/// The assertion that a statement begins with: what to put back for it, and of what.
fn asserted(statement: &str) -> Option<(&'static str, &str)> {
    let word = statement.split(|c: char| !is_name(c)).next()?;
    let argument = up_to_end(statement[word.len()..].trim_start().strip_prefix('(')?)?;
    if let Some(word) = ASSERTS.iter().find(|known| **known == word) {
        return Some((word, argument));
    }
    if !CHECKS.iter().any(|check| word.starts_with(check)) {
        return None;
    }
    // `WARN_ON(!mutex_is_locked(&q->lock))`, `assert(mutex_is_locked(&q->lock))`.
    let fails_if_true = word.starts_with("WARN") || word.starts_with("BUG");
    let question = match argument.trim_start().strip_prefix('!') {
        Some(question) if fails_if_true => question.trim(),
        None if !fails_if_true => argument.trim(),
        _ => return None,
    };
    let query = QUERIES.iter().find(|query| question.starts_with(**query))?;
    let of = question[query.len()..].trim_start().strip_prefix('(')?;
    let argument = up_to_end(of)?;
    let whole = of[argument.len() + 1..].trim().is_empty();
    whole.then_some((ASSERT, argument))
}

/// The arguments that a word is followed by, wherever it stands in a line.
fn calls_of<'l>(line: &'l str, word: &str) -> impl Iterator<Item = &'l str> {
    let length = word.len();
    let places = line.match_indices(word).map(|(at, _)| at);
    let places: Vec<usize> = places
        .filter(|&at| !line[..at].ends_with(is_name))
        .collect();
    places.into_iter().filter_map(move |at| {
        let behind = line[at + length..].trim_start();
        up_to_end(behind.strip_prefix('(')?)
    })
}

pub fn is_name(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

/// The text up to the parenthesis that closes what is open before it.
pub fn up_to_end(text: &str) -> Option<&str> {
    let mut depth = 0;
    let end = text.find(|c| {
        depth += match c {
            '(' => 1,
            ')' => -1,
            _ => 0,
        };
        depth < 0
    });
    Some(&text[..end?])
}

/// Whether an argument can be read without the preprocessor: an expression of names, members and indexes, and not one
/// name that looks like a macro's.
fn is_plain(argument: &str) -> bool {
    let allowed = |c: char| {
        is_name(c) || matches!(c, '&' | '*' | '-' | '>' | '.' | '[' | ']' | '(' | ')' | ' ')
    };
    let mut names = argument
        .split(|c: char| !is_name(c))
        .filter(|name| !name.is_empty());
    let is_macro = |name: &str| !name.contains(|c: char| c.is_lowercase());
    let is_type = |name: &str| matches!(name, "struct" | "union" | "enum" | "sizeof" | "typeof");
    argument.chars().all(allowed)
        && names.clone().next().is_some_and(|name| !is_macro(name))
        && !names.any(is_type)
}

/// The text with blanks for comments, line by line as before.
fn without_comments(text: &str) -> String {
    let mut clean = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find(['/', '"', '\'']) {
        let (before, from) = rest.split_at(at);
        clean.push_str(before);
        let length = if let Some(comment) = from.strip_prefix("/*") {
            comment.find("*/").map_or(from.len(), |end| end + 4)
        } else if from.starts_with("//") {
            from.find('\n').unwrap_or(from.len())
        } else if let Some(behind) = from.strip_prefix('/') {
            clean.push('/');
            rest = behind;
            continue;
        } else {
            let quote = from.as_bytes()[0];
            (lex::closing_quote(&from.as_bytes()[1..], quote) + 2).min(from.len())
        };
        // A literal may end within a character that is not of the source's encoding.
        let length = (length..=from.len()).find(|&end| from.is_char_boundary(end));
        let (gone, next) = from.split_at(length.unwrap_or(from.len()));
        clean.extend(gone.chars().map(|c| if c == '\n' { c } else { ' ' }));
        rest = next;
    }
    clean.push_str(rest);
    clean
}

#[cfg(test)]
mod tests {
    use super::*;

    fn annotated(source: &str, preprocessed: &str) -> String {
        let annotator = Annotator::new(|_| None);
        let path = PathBuf::from("a.c");
        let all = stated(source.as_bytes()).into();
        annotator.files.write().insert(path, all);
        let text = annotator.annotate(preprocessed.as_bytes(), |name| Some(PathBuf::from(name)));
        String::from_utf8(text.into_owned()).unwrap()
    }

    #[test]
    fn an_annotation_comes_back_in_the_body_and_an_assertion_where_it_stands() {
        let source = "#define __must_hold(x)\nvoid f(struct q *q) __must_hold(&q->lock); /* __must_hold(y) */\n\
                      void f(struct q *q)\n\t__must_hold(&q->lock)\n{\n\tg(q);\n\tlockdep_assert_held(&q->wait);\n}\n";
        let text = "# 1 \"a.c\"\n\nvoid f(struct q *q) ;\nvoid f(struct q *q)\n\n{\n\tg(q);\n\tdo { (void)(&q->wait); } while (0);\n}\n";
        assert_eq!(
            annotated(source, text),
            "# 1 \"a.c\"\n\nvoid f(struct q *q) ;\nvoid f(struct q *q)\n\n{ __must_hold(&q->lock);\n\tg(q);\n \
             lockdep_assert_held(&q->wait);\tdo { (void)(&q->wait); } while (0);\n}\n"
        );
    }

    #[test]
    fn a_pragma_is_a_line_like_others() {
        let source =
            "void f(void)\n{\n#pragma GCC unroll 2\n\tg();\n\tlockdep_assert_held(&l);\n}\n";
        let text = "# 1 \"a.c\"\nvoid f(void)\n{\n#pragma GCC unroll 2\n\tg();\n\t;\n}\n";
        let expected = text.replace("\t;", " lockdep_assert_held(&l);\t;");
        assert_eq!(annotated(source, text), expected);
    }

    #[test]
    fn a_check_that_it_is_held_is_an_assertion_and_a_question_is_none() {
        for (line, expected) in [
            ("WARN_ON(!mutex_is_locked(&q->lock));", Some("&q->lock")),
            ("assert(spin_is_locked(&q->lock));", Some("&q->lock")),
            ("WARN_ON(mutex_is_locked(&q->lock));", None),
            ("WARN_ON(!mutex_is_locked(&q->lock) && busy);", None),
            ("if (mutex_is_locked(&q->lock))", None),
            ("assert_spin_locked(&q->lock);", Some("&q->lock")),
            ("my_lockdep_assert_held(&q->lock);", None),
        ] {
            assert_eq!(asserted(line).map(|(_, of)| of), expected, "{line}");
        }
    }

    #[test]
    fn what_only_the_preprocessor_knows_stays_away() {
        for argument in ["RCU", "", "&((struct q *)p)->lock", "a, b", "\"x\""] {
            assert!(!is_plain(argument), "{argument}");
        }
        assert!(is_plain("&q->table[0].lock"));
        let source =
            "void f(void)\n\t__must_hold(RCU)\n{\n\tif (x)\n\t\tlockdep_assert_held(&l);\n}\n";
        let text = "# 1 \"a.c\"\nvoid f(void)\n\n{\n\tif (x)\n\t\tdo { } while (0);\n}\n";
        assert_eq!(annotated(source, text), text);
    }

    proptest::proptest! {
        #[test]
        fn any_text_is_read_and_only_added_to(
            source in "([a-z#{};\"'/*\\\\\n é]|lockdep_assert_held\\(|__must_hold\\(&l\\)|\\)){0,40}",
            text in "([a-z{};:\n é]|# 1 \"a.c\"\n|#\n){0,40}",
        ) {
            let annotated = annotated(&source, &text);
            let mut rest = annotated.chars();
            proptest::prop_assert!(text.chars().all(|c| rest.any(|other| other == c)));
        }
    }
}
