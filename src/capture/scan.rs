//! What a source file asks the preprocessor for, as far as its text tells.
//!
//! In: a file's bytes. Out: [`Asks`]: every name in an `#include` or `__has_include`, in whatever
//! branch it stands, and whether the file asks for what cannot be told from files and names.

use std::collections::BTreeSet;

use memchr::memmem;

/// What one file asks for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Asks {
    /// Names in quotes, which are looked for beside the file first, and then like the others.
    pub quoted: BTreeSet<Vec<u8>>,
    /// Names in angle brackets.
    pub angled: BTreeSet<Vec<u8>>,
    /// An `#include` names its file by a macro.
    pub computed: bool,
    /// The text depends on more than files and names: the time, an embedded file, a
    /// `__has_include` of a macro's.
    pub volatile: bool,
}

/// The macros that tell of the time.
const TIMES: &[&[u8]] = &[b"__DATE__", b"__TIME__", b"__TIMESTAMP__"];

impl Asks {
    pub(super) fn of(text: &[u8]) -> Asks {
        let mut asks = Asks {
            volatile: TIMES.iter().any(|name| has_word(text, name)),
            ..Asks::default()
        };
        for word in ["include", "import"] {
            for at in memmem::find_iter(text, word) {
                asks.include(&text[..at], &text[at + word.len()..]);
            }
        }
        let mut embeds = memmem::find_iter(text, b"embed");
        asks.volatile |=
            embeds.any(|at| is_directive(&text[..at]) || text[..at].ends_with(b"__has_"));
        asks
    }

    /// The text before and after the word `include`.
    fn include(&mut self, before: &[u8], after: &[u8]) {
        let after = after.strip_prefix(b"_next").unwrap_or(after);
        let directive = is_directive(before);
        let rest = if directive {
            skip_blanks(after)
        } else if before.ends_with(b"__has_") {
            let after = after.strip_prefix(b"__").unwrap_or(after);
            // Without an argument it is only asked whether there is such a thing.
            let Some(argument) = skip_blanks(after).strip_prefix(b"(") else {
                return;
            };
            skip_blanks(argument)
        } else {
            return;
        };
        let line = &rest[..memchr::memchr(b'\n', rest).unwrap_or(rest.len())];
        let name = |open: u8, close: u8| {
            let name = line.strip_prefix(&[open])?;
            Some(name[..memchr::memchr(close, name)?].to_vec())
        };
        if let Some(name) = name(b'"', b'"') {
            self.quoted.insert(name);
        } else if let Some(name) = name(b'<', b'>') {
            self.angled.insert(name);
        } else if directive {
            self.computed = true;
        } else {
            self.volatile = true;
        }
    }

    /// All names.
    pub(super) fn names(&self) -> impl Iterator<Item = &[u8]> {
        self.quoted.iter().chain(&self.angled).map(Vec::as_slice)
    }
}

/// The names that a path consists of, without `.` and `..`.
pub(super) fn components(path: &[u8]) -> impl Iterator<Item = &[u8]> {
    path.split(|&byte| byte == b'/')
        .filter(|name| !matches!(*name, b"" | b"." | b".."))
}

fn is_directive(before: &[u8]) -> bool {
    let before = trim_blanks_end(before);
    before.ends_with(b"#") || before.ends_with(b"%:")
}

fn trim_blanks_end(text: &[u8]) -> &[u8] {
    let end = text.iter().rposition(|byte| !matches!(byte, b' ' | b'\t'));
    &text[..end.map_or(0, |end| end + 1)]
}

/// Skips blanks, comments and spliced lines.
fn skip_blanks(mut text: &[u8]) -> &[u8] {
    loop {
        text = match text {
            [b' ' | b'\t', rest @ ..] | [b'\\', b'\n', rest @ ..] => rest,
            [b'/', b'*', rest @ ..] => match memmem::find(rest, b"*/") {
                Some(end) => &rest[end + 2..],
                None => return text,
            },
            _ => return text,
        };
    }
}

fn has_word(text: &[u8], word: &[u8]) -> bool {
    let is_word = |byte: Option<&u8>| byte.is_some_and(|b| b.is_ascii_alphanumeric() || *b == b'_');
    memmem::find_iter(text, word).any(|at| {
        let before = at.checked_sub(1).and_then(|before| text.get(before));
        !is_word(before) && !is_word(text.get(at + word.len()))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(text: &str) -> (Vec<String>, Vec<String>) {
        let asks = Asks::of(text.as_bytes());
        let texts = |names: &BTreeSet<Vec<u8>>| {
            let texts = names.iter().map(|name| String::from_utf8_lossy(name));
            texts.map(|name| name.into_owned()).collect()
        };
        (texts(&asks.quoted), texts(&asks.angled))
    }

    #[test]
    fn every_include_is_seen_in_whatever_branch_and_spelling() {
        let text = "#include <a.h>\n#if 0\n # \tinclude\t\"b/c.h\" // x\n#endif\n\
                    #include_next <d.h>\n#include /* why */ <e.h>\n#include \\\n <f.h>\n\
                    int include; /* includes */\n#if defined(__has_include) && __has_include(<g.h>)\n";
        let (quoted, angled) = names(text);
        assert_eq!(quoted, ["b/c.h"]);
        assert_eq!(angled, ["a.h", "d.h", "e.h", "f.h", "g.h"]);
        let asks = Asks::of(text.as_bytes());
        assert!(!asks.computed && !asks.volatile);
    }

    #[test]
    fn what_the_text_does_not_tell_is_told() {
        assert!(Asks::of(b"#include HEADER(x)\n").computed);
        for text in [
            "#define HAS(x) __has_include(x)\n",
            "puts(__DATE__ \" \" __TIME__);",
            "#embed \"logo.png\"\n",
        ] {
            assert!(Asks::of(text.as_bytes()).volatile, "{text}");
        }
        for text in [
            "#define A__TIME__B 1\n",
            "int embedded;",
            "#ifdef __has_include\n",
        ] {
            assert!(!Asks::of(text.as_bytes()).volatile, "{text}");
        }
    }

    #[test]
    fn components_leave_out_what_names_nothing() {
        let found: Vec<&[u8]> = components(b"../a/./b.h").collect();
        assert_eq!(found, [b"a" as &[u8], b"b.h"]);
    }
}
