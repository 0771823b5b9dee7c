//! What runs in the place of a compiler, a linker or the like during a capture.
//!
//! In: the words that the tool was called with. Notes what is compiled, linked, archived and copied, and then
//! becomes the real tool, with its standard streams, signals and exit status; or, for `--record-only`,
//! answers in its stead. Where our part fails, the real tool is run all the same: a capture never breaks a
//! build.

use std::ffi::{OsStr, OsString};
use std::fs;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::Stdio;

use super::deferred::Deferred;
use super::folder::{Call, Folder, Id, Kind, Plan};
use super::invocation::{Invocation, Step};
use super::link::Link;
use super::tools::{self, Tool};
use super::{archive, copying, deferred, event, maker, stub};
use crate::capture::command::{WRAPPERS, base_name, has};
use crate::capture::tree::normalise;

/// Does what the tool `name`, which was shown to itself as `shown`, was called for. Comes back when there is
/// nothing left to do, or with the error that kept the real tool from being run.
pub fn intercept(
    folder: &Folder,
    name: &OsStr,
    shown: &OsStr,
    arguments: &[OsString],
) -> io::Result<()> {
    let search = Search::new(folder);
    let program = search.find(name, |_| true).ok_or_else(|| {
        io::Error::new(
            io::ErrorKind::NotFound,
            format!("{}: command not found", name.display()),
        )
    })?;
    let answered = match tools::tool(name) {
        Some(Tool::Driver) => driver(folder, &search, name, arguments),
        Some(Tool::Linker) => linker(folder, &program, arguments),
        Some(Tool::Archiver) => archiver(folder, arguments),
        Some(Tool::Copier) => copier(folder, name, &program, arguments),
        None => Ok(false),
    };
    if answered.unwrap_or(false) {
        return Ok(());
    }
    // Called as it was, a tool speaks of itself as it would have.
    Err(folder.command(program).arg0(shown).args(arguments).exec())
}

/// Notes a compiler's call. True if nothing is left to do.
fn driver(
    folder: &Folder,
    search: &Search,
    name: &OsStr,
    arguments: &[OsString],
) -> io::Result<bool> {
    folder.note_called()?;
    let directory = std::env::current_dir()?;
    let mut words = vec![name.to_owned()];
    words.extend_from_slice(arguments);
    let Some(call) = Invocation::parse(&words, &directory) else {
        return Ok(false);
    };
    let Some(compiler) = search.compiler(&call.compiler) else {
        return Ok(false);
    };
    let plan = folder.plan()?;
    let noted = note_compilations(folder, &call, &compiler, &directory)?;
    if let Some(link) = Link::of_driver(&call, &directory) {
        return linking(folder, &plan, &link, &compiler, Some(&call));
    }
    if !plan.record_only || !can_be_empty(&call, &directory, &plan) {
        note_assembled(folder, &call, &directory)?;
        return Ok(false);
    }
    let template = stub::template(folder, &compiler, &call)?;
    for (source, id) in call.compiled().zip(&noted) {
        stub::write(&template, id, &directory.join(call.object(source)))?;
        stub::write_dependencies(&call, source, &directory)?;
        stub::write_others(&call, source, &directory)?;
    }
    Ok(true)
}

/// Notes each file that a call compiles.
fn note_compilations(
    folder: &Folder,
    call: &Invocation,
    compiler: &Path,
    directory: &Path,
) -> io::Result<Vec<Id>> {
    let mut noted = Vec::new();
    for source in call.compiled() {
        let alone = Call::new(directory, compiler, &call.arguments_for(source));
        noted.push(folder.note(Kind::Compilations, &alone)?);
        if let Some(made) = call.made(source) {
            folder.note_output(&event::place(&directory.join(made)))?;
        }
    }
    Ok(noted)
}

/// Assembling what a compiler wrote is a step on the way to its object.
fn note_assembled(folder: &Folder, call: &Invocation, directory: &Path) -> io::Result<()> {
    let [input] = &call.inputs[..] else {
        return Ok(());
    };
    let source = directory.join(call.spelling(input));
    if call.step == Step::Object && folder.is_output(&event::place(&source)) {
        let object = directory.join(call.object(input));
        event::note_copy(folder, &(source, object))?;
    }
    Ok(())
}

fn linker(folder: &Folder, program: &Path, arguments: &[OsString]) -> io::Result<bool> {
    let directory = std::env::current_dir()?;
    let Some(link) = Link::of_linker(arguments, &directory) else {
        return Ok(false);
    };
    linking(folder, &folder.plan()?, &link, program, None)
}

/// Notes a link, and answers it if it would take in empty objects.
fn linking(
    folder: &Folder,
    plan: &Plan,
    link: &Link,
    program: &Path,
    driver: Option<&Invocation>,
) -> io::Result<bool> {
    if !link.makes_file() {
        return Ok(false);
    }
    let start = Path::new(&plan.start);
    let directory = std::env::current_dir()?;
    let mut inputs = link.inputs.iter();
    let is_test = is_tried(&link.output)
        || is_tried(&directory)
        || inputs.any(|input| match input.is_source {
            true => is_test(&input.path, start),
            false => is_tried(&input.path),
        });
    if !is_test {
        event::note_link(folder, link)?;
    }
    if !plan.record_only {
        return Ok(false);
    }
    let Some(deferred) = Deferred::new(&directory, program, link) else {
        return Ok(false);
    };
    if is_test {
        // Whether the symbols are there is what is asked for.
        return match maker::link_now(folder, &deferred) {
            Ok(()) => Ok(true),
            Err(error) => {
                anstream::eprintln!("{error}");
                std::process::exit(1)
            }
        };
    }
    deferred::answer(folder, link, &deferred, driver)
}

fn archiver(folder: &Folder, arguments: &[OsString]) -> io::Result<bool> {
    let directory = std::env::current_dir()?;
    if let Some(edit) = archive::parse(arguments, &directory) {
        event::note_edit(folder, &edit)?;
    }
    Ok(false)
}

fn copier(
    folder: &Folder,
    name: &OsStr,
    program: &Path,
    arguments: &[OsString],
) -> io::Result<bool> {
    let directory = std::env::current_dir()?;
    let copied = copying::parse(name, arguments, &directory);
    for pair in &copied {
        event::note_copy(folder, pair)?;
    }
    let is_of_objects = !has(tools::FILE_COPIERS, base_name(name));
    let [(from, to)] = &copied[..] else {
        return Ok(false);
    };
    if !is_of_objects || !folder.plan()?.record_only || deferred::marks_below(from).is_empty() {
        return Ok(false);
    }
    // What the options name is not in an empty object.
    let mut tool = folder.command(program);
    let output = tool.args(arguments).stdin(Stdio::null()).output()?;
    if !output.status.success() {
        fs::copy(from, to)?;
    }
    Ok(true)
}

/// Whether an empty object does for what the call is to make.
fn can_be_empty(call: &Invocation, directory: &Path, plan: &Plan) -> bool {
    let sources: Vec<PathBuf> = call
        .compiled()
        .map(|input| normalise(&directory.join(call.spelling(input))))
        .collect();
    let is_plain_output = |output: &Path| output != Path::new("-") && !output.starts_with("/dev");
    call.step == Step::Object
        && !sources.is_empty()
        && sources.len() == call.inputs.len()
        && (sources.len() == 1 || call.output.is_none())
        && !is_tried(directory)
        && call.output.as_deref().is_none_or(is_plain_output)
        && sources.iter().all(|source| {
            source.is_file() && !is_test(source, Path::new(&plan.start)) && !is_trial(source, plan)
        })
}

/// Whether a source is one that a configuration tries the compiler on: its outcome is asked for.
pub fn is_test(source: &Path, start: &Path) -> bool {
    let temporary = [std::env::temp_dir(), "/tmp".into(), "/var/tmp".into()];
    let is_temporary = temporary
        .iter()
        .any(|folder| source.starts_with(folder) && !start.starts_with(folder));
    is_temporary || is_tried(source)
}

/// Whether a file, or the folder that a compiler is called in, is of a configuration's test: the source
/// may be shipped with the program, or with cmake.
pub fn is_tried(path: &Path) -> bool {
    const FOLDERS: &[&str] = &[
        "CMakeTmp",
        "CMakeScratch",
        "CompilerIdC",
        "CompilerIdCXX",
        "meson-private",
        "config-temp",
        ".sconf_temp",
        ".conf_check",
    ];
    let name = path.file_name().map_or(&b""[..], OsStr::as_bytes);
    let mut parts = path.components();
    name.starts_with(b"conftest")
        || parts.any(|part| FOLDERS.iter().any(|folder| part.as_os_str() == *folder))
}

/// Whether a source may be one that the compiler is only tried on: a small one that the build has just
/// written, or one that is called so. It is compiled for real; if it is no trial after all, no harm is done.
fn is_trial(source: &Path, plan: &Plan) -> bool {
    const WRITTEN: u64 = 16 * 1024;
    const NAMED: u64 = 4 * 1024;
    const NAMES: &[&[u8]] = &[
        b"try",
        b"test",
        b"check",
        b"probe",
        b"feature",
        b"have",
        b"has",
        b"_configtest",
        b"autotest",
        b"ztest",
    ];
    let Ok(data) = source.metadata() else {
        return false;
    };
    let name = source.file_name().map_or(&b""[..], OsStr::as_bytes);
    let is_written = data.modified().is_ok_and(|time| time >= plan.start_time());
    is_written && data.len() <= WRITTEN
        || data.len() <= NAMED && NAMES.iter().any(|begin| name.starts_with(begin))
}

/// Finds programs as the build would without the interceptors.
struct Search {
    folders: Vec<PathBuf>,
}

impl Search {
    fn new(folder: &Folder) -> Search {
        let path = std::env::var_os("PATH").unwrap_or_default();
        let path = folder.without_interceptors(&path);
        Search {
            folders: std::env::split_paths(&path).collect(),
        }
    }

    /// The compiler of this name or path, absolute; the one behind it for a cache under a compiler's name.
    fn compiler(&self, name: &OsStr) -> Option<PathBuf> {
        let is_compiler = |file: &Path| {
            !file
                .canonicalize()
                .is_ok_and(|file| has(WRAPPERS, base_name(file.as_os_str())))
        };
        let found = self
            .find(name, is_compiler)
            .filter(|file| is_compiler(file));
        found.or_else(|| self.find(OsStr::from_bytes(base_name(name)), is_compiler))
    }

    /// The first wanted program of this name, absolute.
    fn find(&self, name: &OsStr, wanted: impl Fn(&Path) -> bool) -> Option<PathBuf> {
        let here = std::env::current_dir().ok()?;
        if name.as_bytes().contains(&b'/') {
            return Some(here.join(name)).filter(|file| is_program(file));
        }
        let files = self
            .folders
            .iter()
            .map(|folder| here.join(folder).join(name));
        files
            .into_iter()
            .find(|file| is_program(file) && wanted(file))
    }
}

/// Whether this is a file that can be run.
pub fn is_program(file: &Path) -> bool {
    file.metadata()
        .is_ok_and(|data| data.is_file() && data.permissions().mode() & 0o111 != 0)
}
