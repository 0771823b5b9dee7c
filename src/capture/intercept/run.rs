//! Runs a build and listens to what it says, to tell what failed first.
//!
//! In: the build's command. Out: how it ended, and the target of make's, ninja's or a configuration's first
//! error. What the build writes is passed on as it comes. A terminal is left to the build itself, which
//! writes in colour and draws progress only there: its user has seen the error.

use std::fs::File;
use std::io::{self, IsTerminal, PipeReader, Read, Write};
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::fs::MetadataExt;
use std::process::{Command, ExitStatus, Stdio};
use std::sync::mpsc::{self, Sender};
use std::thread;
use std::time::Duration;

use crate::leftovers::Build;

/// How a build ended.
#[derive(Debug)]
pub struct Ended {
    pub status: ExitStatus,
    /// What failed first, as the build named it.
    pub failed: Option<String>,
}

/// What may still be on its way when the build has ended. A program that the build has left running may hold
/// its output open for ever.
const GRACE: Duration = Duration::from_secs(1);

/// Longest line that is looked at.
const LINE: usize = 64 * 1024;

/// One of our own streams.
#[derive(Clone, Copy)]
enum Stream {
    Output,
    Error,
}

pub fn run(command: &mut Command) -> io::Result<Ended> {
    let (said, heard) = mpsc::channel();
    let to_terminal = (io::stdout().is_terminal(), io::stderr().is_terminal());
    let mut listeners = 0;
    let mut listen = |stream: Stream| -> io::Result<Stdio> {
        let (reader, writer) = io::pipe()?;
        let said = said.clone();
        thread::spawn(move || pass_on(reader, stream, &said));
        listeners += 1;
        Ok(Stdio::from(OwnedFd::from(writer)))
    };
    match to_terminal {
        // Lines of one file stay in their order if they come through one pipe.
        (false, false) if is_same_file() => {
            let (reader, writer) = io::pipe()?;
            let said = said.clone();
            command.stdout(writer.try_clone()?).stderr(writer);
            thread::spawn(move || pass_on(reader, Stream::Output, &said));
            listeners = 1;
        }
        (output, error) => {
            if !output {
                command.stdout(listen(Stream::Output)?);
            }
            if !error {
                command.stderr(listen(Stream::Error)?);
            }
        }
    }
    drop(said);
    let build = Build::spawn(command)?;
    // Our own ends of the pipes have to go, or no end is ever seen.
    command.stdout(Stdio::inherit()).stderr(Stdio::inherit());
    let status = build.wait()?;
    let mut failed = None;
    for _ in 0..listeners {
        match heard.recv_timeout(GRACE) {
            Ok(said) => failed = failed.or(said),
            Err(_) => break,
        }
    }
    Ok(Ended { status, failed })
}

fn is_same_file() -> bool {
    let file = |stream: io::Result<OwnedFd>| File::from(stream.ok()?).metadata().ok();
    let output = file(io::stdout().as_fd().try_clone_to_owned());
    let error = file(io::stderr().as_fd().try_clone_to_owned());
    match (output, error) {
        (Some(output), Some(error)) => output.dev() == error.dev() && output.ino() == error.ino(),
        _ => false,
    }
}

/// Passes on what comes until its end, or until nobody wants it; then says what failed first.
fn pass_on(mut from: PipeReader, to: Stream, said: &Sender<Option<String>>) {
    let mut buffer = [0; 8192];
    let mut listener = Listener::default();
    loop {
        let text = match from.read(&mut buffer) {
            Ok(0) => break,
            Ok(count) => &buffer[..count],
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(_) => break,
        };
        listener.hear(text);
        let written = match to {
            Stream::Output => {
                let mut out = io::stdout().lock();
                out.write_all(text).and_then(|()| out.flush())
            }
            Stream::Error => io::stderr().lock().write_all(text),
        };
        if written.is_err() {
            break;
        }
    }
    // The capture may have gone on without us.
    let _ = said.send(listener.failed);
}

/// Looks for the first error among lines.
#[derive(Default)]
struct Listener {
    line: Vec<u8>,
    failed: Option<String>,
}

impl Listener {
    fn hear(&mut self, text: &[u8]) {
        for part in text.split_inclusive(|&byte| byte == b'\n') {
            if self.failed.is_some() {
                return;
            }
            if self.line.len() + part.len() <= LINE {
                self.line.extend_from_slice(part);
            }
            if part.ends_with(b"\n") {
                self.failed = failure(&String::from_utf8_lossy(&self.line));
                self.line.clear();
            }
        }
    }
}

/// What a line says that failed, if it does.
fn failure(line: &str) -> Option<String> {
    let line = line.trim_end();
    if let Some((_, rest)) = line.split_once("*** [") {
        let target = rest.rsplit_once(']').map_or(rest, |(target, _)| target);
        return Some(target.to_owned());
    }
    if let Some((_, rest)) = line.split_once("*** No rule") {
        return Some(format!("no rule{}", rest.trim_end_matches("  Stop.")));
    }
    if let Some(rest) = line.strip_prefix("FAILED: ") {
        return Some(rest.trim().to_owned());
    }
    let is_configuration = line.starts_with("configure: error:")
        || line.starts_with("CMake Error")
        || line.contains("meson.build:") && line.contains(": ERROR: ");
    is_configuration.then(|| line.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_failure_is_known_whoever_tells_it() {
        for (line, expected) in [
            (
                "make: *** [Makefile:12: a.o] Error 1",
                Some("Makefile:12: a.o"),
            ),
            ("make[2]: *** [x/y.o] Error 127", Some("x/y.o")),
            (
                "make: *** No rule to make target 'b', needed by 'a'.  Stop.",
                Some("no rule to make target 'b', needed by 'a'."),
            ),
            ("FAILED: src/a.p/b.c.o ", Some("src/a.p/b.c.o")),
            (
                "configure: error: no zlib",
                Some("configure: error: no zlib"),
            ),
            ("a.c:1:2: error: *** x", None),
            ("checking whether it FAILED: no", None),
        ] {
            assert_eq!(failure(line).as_deref(), expected, "{line}");
        }
        let mut listener = Listener::default();
        for part in [
            "ok\nmake: ***",
            " [M:1: a",
            "] Error 1\nmake: *** [M:2: b] Error 1\n",
        ] {
            listener.hear(part.as_bytes());
        }
        assert_eq!(listener.failed.as_deref(), Some("M:1: a"));
    }
}
