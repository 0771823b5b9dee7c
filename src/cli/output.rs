//! Where reports go: a terminal, a pipe or a file.

use std::fmt;
use std::io::{self, ErrorKind, Write};
use std::path::Path;

use anstyle::{AnsiColor, Style};

use crate::source::inert;

/// `error`, in red where colours are shown.
pub const ERROR_LABEL: Label = Label("error", AnsiColor::Red.on_default().bold());
pub const WARNING_LABEL: Label = Label("warning", AnsiColor::Yellow.on_default().bold());
pub const NOTE_LABEL: Label = Label("note", AnsiColor::Cyan.on_default().bold());

pub struct Label(&'static str, Style);

impl fmt::Display for Label {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Label(text, style) = self;
        write!(f, "{style}{text}{style:#}")
    }
}

/// Writes what `render` writes to `file`, or to standard output without one. Styles are stripped
/// unless a terminal shows them. A reader who has seen enough (a closed pipe) is no error.
pub fn write(
    file: Option<&Path>,
    render: impl FnOnce(&mut dyn Write) -> io::Result<()>,
) -> anyhow::Result<()> {
    let Some(path) = file else {
        let mut out = io::BufWriter::new(anstream::stdout().lock());
        return match render(&mut out).and_then(|()| out.flush()) {
            Err(error) if error.kind() == ErrorKind::BrokenPipe => Ok(()),
            other => Ok(other?),
        };
    };
    let mut out = anstream::StripStream::new(Vec::new());
    render(&mut out)?;
    std::fs::write(path, out.into_inner())
        .map_err(|error| anyhow::anyhow!("cannot write {}: {error}", path.display()))
}

/// The same for text without styles, made inert: it may hold names and messages of a tree.
pub fn write_plain(
    file: Option<&Path>,
    render: impl FnOnce(&mut dyn Write) -> io::Result<()>,
) -> anyhow::Result<()> {
    let mut text = Vec::new();
    render(&mut text)?;
    let shown = |out: &mut dyn Write| {
        let text = String::from_utf8_lossy(&text);
        text.split_inclusive('\n').try_for_each(|line| {
            let (line, end) = match line.strip_suffix('\n') {
                Some(line) => (line, "\n"),
                None => (line, ""),
            };
            write!(out, "{}{end}", inert(line))
        })
    };
    match file {
        Some(_) => write(file, shown),
        None => write_inert(shown),
    }
}

/// Writes to standard output what has no styles and nothing that a terminal would obey.
pub fn write_inert(render: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> anyhow::Result<()> {
    let mut out = io::BufWriter::with_capacity(1 << 16, io::stdout().lock());
    match render(&mut out).and_then(|()| out.flush()) {
        Err(error) if error.kind() == ErrorKind::BrokenPipe => Ok(()),
        other => Ok(other?),
    }
}

pub fn is_broken_pipe(error: &anyhow::Error) -> bool {
    error
        .downcast_ref::<io::Error>()
        .is_some_and(|error| error.kind() == ErrorKind::BrokenPipe)
}

/// An error and its causes on one line, without the causes that an error above them tells itself.
pub fn message(error: &anyhow::Error) -> String {
    let mut text = String::new();
    for cause in error.chain() {
        let cause = cause.to_string();
        if !text.contains(&cause) {
            let separator = if text.is_empty() { "" } else { ": " };
            text = format!("{text}{separator}{cause}");
        }
    }
    text
}
