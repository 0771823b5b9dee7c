//! What a C compiler complains of, and what can be done about it.
//!
//! In: the messages of gcc or clang, in the C locale. Out: the first error, with what would mend it.

use std::path::PathBuf;

/// An error that a compiler reports.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Complaint {
    /// As the compiler spells it; the compiler's own name when it has no place in a file.
    pub file: String,
    /// 1-based; 0 when it has no place in a file.
    pub line: u32,
    pub column: u32,
    pub message: String,
    /// The compiler stopped there.
    pub fatal: bool,
}

/// What would make a complaint go away.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Mend {
    /// A header that cannot be found.
    Header(PathBuf),
    /// A flag that the compiler does not know.
    Flag(String),
}

impl Complaint {
    /// The first error among a compiler's messages. If no line is marked as one, the first line.
    pub(super) fn first(messages: &str) -> Option<Complaint> {
        messages.lines().find_map(Complaint::parse).or_else(|| {
            let line = messages.lines().find(|line| !line.trim().is_empty())?;
            Some(Complaint {
                file: String::new(),
                line: 0,
                column: 0,
                message: line.trim().to_owned(),
                fatal: true,
            })
        })
    }

    /// The error at which the compiler stopped, if it did.
    pub(super) fn fatal(messages: &str) -> Option<Complaint> {
        let mut complaints = messages.lines().filter_map(Complaint::parse);
        complaints.find(|complaint| complaint.fatal)
    }

    /// `FILE:LINE:COLUMN: error: MESSAGE`, or `gcc: error: MESSAGE`, which no text follows.
    fn parse(line: &str) -> Option<Complaint> {
        let (place, message, fatal) = match line.split_once(": fatal error: ") {
            Some((place, message)) => (place, message, true),
            None => line
                .split_once(": error: ")
                .map(|(place, message)| (place, message, false))?,
        };
        let mut parts = place.rsplitn(3, ':');
        let mut number = || parts.next().and_then(|part| part.parse().ok());
        let (file, line, column) = match (number(), number(), parts.next()) {
            (Some(column), Some(line), Some(file)) => (file, line, column),
            _ => (place, 0, 0),
        };
        Some(Complaint {
            file: file.to_owned(),
            line,
            column,
            message: message.to_owned(),
            fatal: fatal || line == 0,
        })
    }

    /// What to do about it, if anything.
    pub(super) fn mend(&self) -> Option<Mend> {
        let message = self.message.as_str();
        let unquoted = |text: &str| text.trim().trim_matches(['\'', '"', '`']).to_owned();
        if let Some(name) = message.strip_suffix(": No such file or directory") {
            return Some(Mend::Header(PathBuf::from(name)));
        }
        if let Some(name) = message.strip_suffix(" file not found") {
            return Some(Mend::Header(PathBuf::from(unquoted(name))));
        }
        let flag = [
            "unrecognized command-line option ",
            "unrecognized command line option ",
            "unknown argument: ",
            "unsupported option ",
        ]
        .into_iter()
        .find_map(|start| message.strip_prefix(start))?;
        Some(Mend::Flag(unquoted(flag.split(';').next().unwrap_or(flag))))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_error_and_the_one_that_stopped_the_compiler_may_differ() {
        let messages = "In file included from b.c:3:\na:b.h:1:2: error: #error no\n\
                        b.c:9:10: fatal error: x/y.h: No such file or directory\ncompilation terminated.\n";
        let first = Complaint::first(messages).unwrap();
        assert_eq!(
            (first.file.as_str(), first.line, first.column),
            ("a:b.h", 1, 2)
        );
        assert_eq!((first.message.as_str(), first.mend()), ("#error no", None));
        let fatal = Complaint::fatal(messages).unwrap();
        assert_eq!(fatal.mend(), Some(Mend::Header("x/y.h".into())));
    }

    #[test]
    fn gcc_and_clang_say_alike_things_differently() {
        let mend = |message: &str| Complaint::first(message).unwrap().mend();
        let header = || Some(Mend::Header("g.h".into()));
        let flag = || Some(Mend::Flag("-fodd".into()));
        assert_eq!(
            mend("a.c:1:1: fatal error: g.h: No such file or directory"),
            header()
        );
        assert_eq!(mend("a.c:1:1: fatal error: 'g.h' file not found"), header());
        assert_eq!(
            mend("cc1: fatal error: g.h: No such file or directory"),
            header()
        );
        assert_eq!(
            mend("gcc: error: unrecognized command-line option '-fodd'; did you mean '-fold'?"),
            flag()
        );
        assert_eq!(mend("clang: error: unknown argument: '-fodd'"), flag());
    }

    #[test]
    fn messages_that_are_no_errors_still_say_something() {
        let complaint = Complaint::first("\n  odd: thing\n").unwrap();
        assert_eq!(complaint.message, "odd: thing");
        assert_eq!(Complaint::first(" \n"), None);
    }
}
