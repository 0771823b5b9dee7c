//! Runs that do not end as they should: signals, databases that are damaged or removed. The next report
//! is the same, and nothing is left behind.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use tempfile::TempDir;

/// Longer than any of these runs takes on a busy machine.
const LIMIT: Duration = Duration::from_secs(60);

const LOCK: &str = "\
typedef struct { int word; } spinlock_t;
void spin_lock(spinlock_t *lock);
void spin_unlock(spinlock_t *lock);
";

fn program(name: &str) -> String {
    format!(
        "#include \"lock.h\"\n#include <missing.h>\nstatic spinlock_t lock;\n\
         static void take(void) {{ spin_lock(&lock); }}\n\
         void {name}(void)\n{{\n\ttake();\n\tspin_lock(&lock);\n\tspin_unlock(&lock);\n}}\n"
    )
}

/// A tree with a bug in each of its files, and a folder for temporary files.
struct Fixture {
    folder: TempDir,
}

impl Fixture {
    fn new(files: usize) -> Fixture {
        let folder = tempfile::tempdir().unwrap();
        let fixture = Fixture { folder };
        for made in [fixture.tree(), fixture.temporary()] {
            fs::create_dir(made).unwrap();
        }
        fs::write(fixture.tree().join("lock.h"), LOCK).unwrap();
        for file in 0..files {
            let text = program(&format!("probe_{file}"));
            fs::write(fixture.tree().join(format!("f{file}.c")), text).unwrap();
        }
        fixture
    }

    fn tree(&self) -> PathBuf {
        self.folder.path().join("tree")
    }

    fn database(&self) -> PathBuf {
        self.folder.path().join("db")
    }

    fn temporary(&self) -> PathBuf {
        self.folder.path().join("tmp")
    }

    /// Has every compiler call take long: a compiler of this name runs in PATH before all others.
    fn slow_compiler(&self) -> String {
        let bin = self.folder.path().join("bin");
        fs::create_dir_all(&bin).unwrap();
        let cc = bin.join("cc");
        let marker = self.folder.path().join("called");
        let script = format!(
            "#!/bin/sh\necho $$ >> {}\nsleep 300 & wait\n",
            marker.display()
        );
        fs::write(&cc, script).unwrap();
        fs::set_permissions(&cc, fs::Permissions::from_mode(0o755)).unwrap();
        format!("{}:{}", bin.display(), std::env::var("PATH").unwrap())
    }

    fn cassini(&self, arguments: &[&str]) -> Command {
        // A shell's background job ignores SIGINT, and so would all that it starts.
        let mut command = Command::new("env");
        command
            .arg("--default-signal=INT,TERM,HUP")
            .arg(assert_cmd::cargo::cargo_bin("cassini"))
            .args(arguments)
            .current_dir(self.folder.path())
            .env("TMPDIR", self.temporary())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        command
    }

    fn check(&self) -> Command {
        let mut command = self.cassini(&["check", "--format", "json", "--db"]);
        command.arg(self.database()).arg(self.tree());
        command
    }

    /// The report of a run from scratch.
    fn report(&self) -> Vec<u8> {
        let mut command = self.cassini(&["check", "-q", "--format", "json", "--db", "scratch"]);
        let output = bounded(command.arg(self.tree()).spawn().unwrap());
        assert_eq!(output.status.code(), Some(1), "{output:?}");
        output.stdout
    }

    fn nothing_is_left(&self) {
        assert_eq!(fs::read_dir(self.temporary()).unwrap().count(), 0);
        for entry in fs::read_dir(self.database()).into_iter().flatten() {
            let name = entry.unwrap().file_name().into_string().unwrap();
            assert!(
                !name.starts_with("tmp-") && !name.ends_with("-wal"),
                "{name}"
            );
        }
    }
}

/// Waits for a run, not for ever.
fn bounded(mut child: Child) -> Output {
    let start = Instant::now();
    while child.try_wait().unwrap().is_none() {
        if start.elapsed() > LIMIT {
            child.kill().unwrap();
            panic!("no end after {LIMIT:?}");
        }
        std::thread::sleep(Duration::from_millis(10));
    }
    child.wait_with_output().unwrap()
}

fn wait_for(what: impl Fn() -> bool) {
    let start = Instant::now();
    while !what() {
        assert!(start.elapsed() < LIMIT);
        std::thread::sleep(Duration::from_millis(5));
    }
}

fn send(child: &Child, signal: Signal) {
    kill(Pid::from_raw(child.id().cast_signed()), signal).unwrap();
}

fn runs(pid: &str) -> bool {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat"));
    stat.is_ok_and(|stat| !stat.contains(") Z "))
}

#[test]
fn each_signal_ends_a_check_with_its_compilers_and_temporary_files() {
    let fixture = Fixture::new(3);
    let called = fixture.folder.path().join("called");
    for (signal, status) in [
        (Signal::SIGINT, 130),
        (Signal::SIGTERM, 143),
        (Signal::SIGHUP, 129),
    ] {
        let mut command = fixture.check();
        let child = command
            .env("PATH", fixture.slow_compiler())
            .spawn()
            .unwrap();
        let pids = || fs::read_to_string(&called).unwrap_or_default();
        wait_for(|| !pids().is_empty());
        send(&child, signal);
        let output = bounded(child);
        assert_eq!(output.status.code(), Some(status), "{output:?}");
        for pid in pids().lines() {
            wait_for(|| !runs(pid));
        }
        fs::remove_file(&called).unwrap();
        fixture.nothing_is_left();
    }
    let output = bounded(fixture.check().spawn().unwrap());
    assert_eq!(output.stdout, fixture.report());
}

#[test]
fn a_signal_to_a_capture_ends_the_build_and_leaves_no_temporary_file() {
    let fixture = Fixture::new(1);
    let script = "cc -c tree/f0.c -Itree -include /dev/null; echo $$ > called; sleep 300";
    for (signal, status) in [(Signal::SIGTERM, 143), (Signal::SIGHUP, 129)] {
        let called = fixture.folder.path().join("called");
        let mut command = fixture.cassini(&["capture", "--record-only", "--", "sh", "-c", script]);
        let child = command.spawn().unwrap();
        wait_for(|| fs::read_to_string(&called).is_ok_and(|text| text.ends_with('\n')));
        let build = fs::read_to_string(&called).unwrap();
        send(&child, signal);
        let output = bounded(child);
        assert_eq!(output.status.code(), Some(status), "{output:?}");
        wait_for(|| !runs(build.trim()));
        fs::remove_file(&called).unwrap();
        fixture.nothing_is_left();
        // What was compiled until then is kept.
        let commands = fs::read_to_string(fixture.folder.path().join("compile_commands.json"));
        assert!(commands.unwrap().contains("f0.c"));
    }
}

#[test]
fn what_a_killed_run_leaves_is_removed_by_the_next() {
    let fixture = Fixture::new(3);
    let called = fixture.folder.path().join("called");
    let mut command = fixture.check();
    let mut child = command
        .env("PATH", fixture.slow_compiler())
        .spawn()
        .unwrap();
    wait_for(|| called.exists());
    child.kill().unwrap();
    child.wait().unwrap();
    for pid in fs::read_to_string(&called).unwrap().lines() {
        let _ = nix::sys::signal::killpg(Pid::from_raw(pid.parse().unwrap()), Signal::SIGKILL);
    }
    let is_temporary = |path: &Path| path.to_string_lossy().contains("/tmp-");
    let entries = || fs::read_dir(fixture.database()).unwrap().flatten();
    assert!(entries().any(|entry| is_temporary(&entry.path())));
    let output = bounded(fixture.check().spawn().unwrap());
    assert_eq!(output.stdout, fixture.report());
    fixture.nothing_is_left();
}

/// What may happen to a file: its name, and how it is done.
type Damage = (&'static str, fn(&Path));

const DAMAGES: &[Damage] = &[
    ("a flipped byte in the middle", |file| {
        let mut bytes = fs::read(file).unwrap();
        let middle = bytes.len() / 2;
        bytes[middle] ^= 0x55;
        fs::write(file, bytes).unwrap();
    }),
    ("a zeroed head", |file| {
        let mut bytes = fs::read(file).unwrap();
        bytes[..512].fill(0);
        fs::write(file, bytes).unwrap();
    }),
    ("half of it gone", |file| {
        let bytes = fs::read(file).unwrap();
        fs::write(file, &bytes[..bytes.len() / 2]).unwrap();
    }),
    ("nothing in it", |file| fs::write(file, "").unwrap()),
    ("not there", |file| fs::remove_file(file).unwrap()),
    ("a folder in its place", |file| {
        fs::remove_file(file).unwrap();
        fs::create_dir_all(file.join("sub")).unwrap();
    }),
];

#[test]
fn a_damaged_database_is_moved_aside_and_the_report_stays_the_same() {
    let fixture = Fixture::new(3);
    let expected = fixture.report();
    // One run's database, to be put back for each case.
    let whole = fixture.folder.path().join("scratch");
    for name in ["cassini.sqlite", "bodies.sqlite"] {
        for (case, (how, damage)) in DAMAGES.iter().enumerate() {
            let _ = fs::remove_dir_all(fixture.database());
            fs::create_dir(fixture.database()).unwrap();
            for entry in fs::read_dir(&whole).unwrap().flatten() {
                fs::copy(entry.path(), fixture.database().join(entry.file_name())).unwrap();
            }
            damage(&fixture.database().join(name));
            // Without a seal, as if the run had been killed, every other time.
            let sealed = (case + usize::from(name.starts_with('b'))) % 2 == 0;
            if !sealed {
                fs::remove_file(fixture.database().join(format!("{name}.seal"))).unwrap();
            }
            let output = bounded(fixture.check().spawn().unwrap());
            let messages = String::from_utf8_lossy(&output.stderr);
            let case = format!("{name}: {how}, sealed: {sealed}: {messages}");
            assert_eq!(output.status.code(), Some(1), "{case}");
            assert!(output.stdout == expected, "{case}");
            assert!(!messages.contains("panicked"), "{case}");
            if sealed && *how != "not there" {
                assert!(messages.contains(&format!("{name}.damaged")), "{case}");
            }
            fixture.nothing_is_left();
        }
    }
}

#[test]
fn a_query_says_that_a_database_is_damaged() {
    let fixture = Fixture::new(1);
    bounded(fixture.check().spawn().unwrap());
    for (how, damage) in &DAMAGES[..3] {
        damage(&fixture.database().join("cassini.sqlite"));
        let mut query = fixture.cassini(&["query", "--db", "db", "function", "probe_0"]);
        let output = bounded(query.spawn().unwrap());
        let messages = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{how}: {messages}");
        assert!(messages.contains("is damaged"), "{how}: {messages}");
    }
}

#[test]
fn a_database_that_is_removed_under_a_run_costs_nothing_but_itself() {
    let fixture = Fixture::new(20);
    let expected = fixture.report();
    for wait in [0, 30, 100, 200] {
        let _ = fs::remove_dir_all(fixture.database());
        let child = fixture.check().spawn().unwrap();
        wait_for(|| fixture.database().join("bodies.sqlite").exists());
        std::thread::sleep(Duration::from_millis(wait));
        let _ = fs::remove_dir_all(fixture.database());
        let output = bounded(child);
        let messages = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(1), "{messages}");
        assert!(output.stdout == expected, "{messages}");
        assert!(
            messages.contains("was removed") || fixture.database().exists(),
            "{messages}"
        );
    }
}
