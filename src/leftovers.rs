//! What this process must not leave behind: the programs that it runs, and its temporary folders.
//!
//! Both are the process's as a whole, and so are the signals that end it. They are therefore kept in one
//! place for all threads: a signal's thread ends the programs and removes the folders while others wait
//! for them.

use std::collections::BTreeSet;
use std::fs;
use std::io::{self, ErrorKind};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStderr, ChildStdin, ChildStdout, Command, ExitStatus};
use std::time::Duration;

use nix::sys::signal::{Signal, kill, killpg};
use nix::sys::wait::{Id, WaitPidFlag, waitid};
use nix::unistd::Pid;
use parking_lot::Mutex;
use tempfile::TempDir;
use wait4::{ResUse, Wait4};

static STATE: Mutex<State> = Mutex::new(State {
    ending: false,
    groups: BTreeSet::new(),
    builds: BTreeSet::new(),
    folders: BTreeSet::new(),
});

#[derive(Debug)]
struct State {
    /// Nothing new is begun.
    ending: bool,
    /// Leaders of the process groups of programs that run and have not been waited for.
    groups: BTreeSet<Pid>,
    /// Programs that run in this process's own group.
    builds: BTreeSet<Pid>,
    folders: BTreeSet<PathBuf>,
}

/// A program that runs in a process group of its own, so that it can be ended with all that it runs. It
/// is ended if nobody waits for it.
#[derive(Debug)]
pub struct Program {
    /// `None` once it was waited for.
    child: Option<Child>,
    pub stdin: Option<ChildStdin>,
    pub stdout: Option<ChildStdout>,
    pub stderr: Option<ChildStderr>,
}

impl Program {
    pub fn spawn(command: &mut Command) -> io::Result<Program> {
        if is_ending() {
            return Err(stopped());
        }
        let mut child = command.process_group(0).spawn()?;
        let program = Program {
            stdin: child.stdin.take(),
            stdout: child.stdout.take(),
            stderr: child.stderr.take(),
            child: Some(child),
        };
        let mut state = STATE.lock();
        state.groups.extend(program.pid());
        if state.ending {
            // `stop` was faster, and did not see this one.
            drop(state);
            drop(program);
            return Err(stopped());
        }
        Ok(program)
    }

    /// Its exit status and what it used, once it has ended; an error if a signal ends this process, too.
    pub fn wait(mut self) -> io::Result<ResUse> {
        let used = self.reap()?;
        match is_ending() {
            true => Err(stopped()),
            false => Ok(used),
        }
    }

    /// Its process id; 0 once it was waited for.
    pub fn id(&self) -> u32 {
        self.child.as_ref().map_or(0, Child::id)
    }

    fn pid(&self) -> Option<Pid> {
        self.child.as_ref().map(pid)
    }

    fn reap(&mut self) -> io::Result<ResUse> {
        drop(self.stdin.take());
        let mut child = self.child.take().ok_or(ErrorKind::NotFound)?;
        forget_when_ended(pid(&child), |state| &mut state.groups);
        child.wait4()
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        if let Some(pid) = self.pid() {
            // It may have ended by itself.
            let _ = killpg(pid, Signal::SIGKILL);
            let _ = self.reap();
        }
    }
}

/// A build that runs in this process's group, as under a shell.
#[derive(Debug)]
pub struct Build {
    child: Child,
}

impl Build {
    pub fn spawn(command: &mut Command) -> io::Result<Build> {
        let child = command.spawn()?;
        STATE.lock().builds.insert(pid(&child));
        Ok(Build { child })
    }

    pub fn wait(mut self) -> io::Result<ExitStatus> {
        forget_when_ended(pid(&self.child), |state| &mut state.builds);
        self.child.wait()
    }
}

fn pid(child: &Child) -> Pid {
    Pid::from_raw(child.id().cast_signed())
}

/// Waits for the end of a child. Its number must not be signalled once another process can have it: until
/// it is waited for in earnest, none can.
fn forget_when_ended(pid: Pid, set: impl Fn(&mut State) -> &mut BTreeSet<Pid>) {
    let flags = WaitPidFlag::WEXITED | WaitPidFlag::WNOWAIT;
    while waitid(Id::Pid(pid), flags) == Err(nix::Error::EINTR) {}
    set(&mut STATE.lock()).remove(&pid);
}

fn stopped() -> io::Error {
    io::Error::other("stopped by a signal")
}

/// A temporary folder, removed when it is dropped or when a signal ends the process.
#[derive(Debug)]
pub struct Folder {
    folder: TempDir,
}

impl Folder {
    /// Makes a folder in `within`, which is made if need be, with a name that begins with `prefix`.
    pub fn create(prefix: &str, within: &Path) -> io::Result<Folder> {
        fs::create_dir_all(within)?;
        let mut state = STATE.lock();
        if state.ending {
            return Err(stopped());
        }
        let folder = tempfile::Builder::new().prefix(prefix).tempdir_in(within)?;
        state.folders.insert(folder.path().to_owned());
        Ok(Folder { folder })
    }

    pub fn path(&self) -> &Path {
        self.folder.path()
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        remove(self.path());
        STATE.lock().folders.remove(self.path());
    }
}

/// Removes a folder, again if a program that is about to end writes into it meanwhile.
fn remove(folder: &Path) {
    for _ in 0..5 {
        match fs::remove_dir_all(folder) {
            Err(error) if error.kind() != ErrorKind::NotFound => {
                std::thread::sleep(Duration::from_millis(10));
            }
            _ => return,
        }
    }
}

fn is_ending() -> bool {
    STATE.lock().ending
}

/// Asks all programs to end, and begins no new one.
pub fn stop() {
    let mut state = STATE.lock();
    state.ending = true;
    for &group in &state.groups {
        let _ = killpg(group, Signal::SIGTERM);
    }
}

/// Sends a signal to the builds and all that they run.
pub fn forward(signal: Signal) {
    let state = STATE.lock();
    for &build in &state.builds {
        for process in with_descendants(build) {
            let _ = kill(process, signal);
        }
    }
}

/// Ends all programs at once and removes all folders: the last thing that a process does.
pub fn clear() {
    let mut state = STATE.lock();
    state.ending = true;
    for &group in &state.groups {
        let _ = killpg(group, Signal::SIGKILL);
    }
    for &build in &state.builds {
        for process in with_descendants(build) {
            let _ = kill(process, Signal::SIGKILL);
        }
    }
    state.folders.iter().for_each(|folder| remove(folder));
}

/// A process and those that it has started and they in turn, as far as the system tells.
fn with_descendants(ancestor: Pid) -> Vec<Pid> {
    let mut parents: Vec<(Pid, Pid)> = Vec::new();
    for entry in fs::read_dir("/proc").into_iter().flatten().flatten() {
        let name = entry.file_name();
        let Some(pid) = name.to_str().and_then(|name| name.parse().ok()) else {
            continue;
        };
        let stat = fs::read_to_string(entry.path().join("stat")).unwrap_or_default();
        // `pid (name) state parent …`; the name may hold anything.
        let fields = stat.rsplit_once(')').map_or("", |(_, fields)| fields);
        if let Some(parent) = fields.split_whitespace().nth(1)
            && let Ok(parent) = parent.parse()
        {
            parents.push((Pid::from_raw(pid), Pid::from_raw(parent)));
        }
    }
    let mut found = vec![ancestor];
    let mut next = 0;
    while let Some(&parent) = found.get(next) {
        found.extend(
            parents
                .iter()
                .filter(|(_, of)| *of == parent)
                .map(|(pid, _)| *pid),
        );
        next += 1;
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::process::Stdio;
    use std::time::Instant;

    #[test]
    fn a_program_that_nobody_waits_for_is_ended_with_what_it_runs() {
        let mut command = Command::new("sh");
        command
            .args(["-c", "sleep 100 & echo $!; wait"])
            .stdout(Stdio::piped());
        let mut program = Program::spawn(&mut command).unwrap();
        let mut line = String::new();
        let stdout = program.stdout.take().unwrap();
        io::BufRead::read_line(&mut io::BufReader::new(stdout), &mut line).unwrap();
        let grandchild = Pid::from_raw(line.trim().parse().unwrap());
        let started = with_descendants(program.pid().unwrap());
        assert!(started.contains(&grandchild), "{started:?}");
        drop(program);
        let start = Instant::now();
        // Who adopts it may take a moment to wait for it.
        let runs = || {
            let stat = fs::read_to_string(format!("/proc/{grandchild}/stat"));
            stat.is_ok_and(|stat| !stat.contains(") Z "))
        };
        while runs() {
            assert!(start.elapsed() < Duration::from_secs(10));
            std::thread::sleep(Duration::from_millis(5));
        }
    }

    #[test]
    fn a_program_tells_its_status_and_a_folder_goes_with_its_owner() {
        let program = Program::spawn(&mut Command::new("false")).unwrap();
        assert_eq!(program.wait().unwrap().status.code(), Some(1));
        let within = tempfile::tempdir().unwrap();
        let folder = Folder::create("tmp-", &within.path().join("made")).unwrap();
        fs::write(folder.path().join("a"), "").unwrap();
        let path = folder.path().to_owned();
        drop(folder);
        assert!(!path.exists() && within.path().join("made").exists());
    }
}
