//! What runs in a compiler's place during a capture.
//!
//! In: the words that the compiler was called with. Notes what is compiled, and then becomes the real
//! compiler, with its standard streams, signals and exit status; or, for `--record-only`, answers in its
//! stead. Where our part fails, the real compiler is run all the same: a capture never breaks a build.

use std::ffi::{OsStr, OsString};
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};

use super::folder::{Call, Folder, Id, Kind, Plan};
use super::invocation::{Invocation, Step};
use super::{deferred, stub};
use crate::capture::command::{WRAPPERS, base_name, has};
use crate::capture::tree::normalise;

/// Does what the compiler `name` was called for. Comes back when there is nothing left to do, or with
/// the error that kept the real compiler from being run.
pub fn intercept(folder: &Folder, name: &OsStr, arguments: &[OsString]) -> io::Result<()> {
    let search = Search::new(folder);
    let program = search.find(name, |_| true).ok_or_else(|| {
        io::Error::new(
            io::ErrorKind::NotFound,
            format!("{}: command not found", name.display()),
        )
    })?;
    if answered(folder, &search, name, arguments).unwrap_or(false) {
        return Ok(());
    }
    // Called as it was, a compiler speaks of itself as it would have.
    let shown = OsStr::from_bytes(base_name(name));
    Err(folder.command(program).arg0(shown).args(arguments).exec())
}

/// Notes a call. True if nothing is left to do.
fn answered(
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
    let is_compiler = |file: &Path| {
        !file
            .canonicalize()
            .is_ok_and(|file| has(WRAPPERS, base_name(file.as_os_str())))
    };
    let Some(compiler) = search.find(&call.compiler, is_compiler) else {
        return Ok(false);
    };
    let mut noted: Vec<Id> = Vec::new();
    for source in call.sources() {
        let alone = Call::new(&directory, &compiler, &call.arguments_for(source));
        noted.push(folder.note(Kind::Compilations, &alone)?);
    }
    let plan = folder.plan()?;
    if !plan.record_only {
        return Ok(false);
    }
    if can_be_empty(&call, &directory, &plan) {
        let template = stub::template(folder, &compiler, &call)?;
        for (source, id) in call.sources().zip(&noted) {
            stub::write(&template, id, &directory.join(call.object(source)))?;
            stub::write_dependencies(&call, source, &directory)?;
        }
        return Ok(true);
    }
    let writes_file = call.output.as_deref().is_none_or(is_plain_output);
    if call.step == Step::Executable && !call.inputs.is_empty() && writes_file {
        let whole = Call::new(&directory, &compiler, &call.arguments);
        return deferred::put_off(folder, &whole, &call);
    }
    Ok(false)
}

/// Whether an empty object does for what the call is to make.
fn can_be_empty(call: &Invocation, directory: &Path, plan: &Plan) -> bool {
    let sources: Vec<PathBuf> = call
        .sources()
        .map(|input| normalise(&directory.join(call.spelling(input))))
        .collect();
    call.step == Step::Object
        && !sources.is_empty()
        && sources.len() == call.inputs.len()
        && (sources.len() == 1 || call.output.is_none())
        && call.output.as_deref().is_none_or(is_plain_output)
        && sources
            .iter()
            .all(|source| source.is_file() && !is_test(source, Path::new(&plan.start)))
}

/// Whether an output is a file of its own, not `/dev/null` or the standard output.
fn is_plain_output(output: &Path) -> bool {
    output != Path::new("-") && !output.starts_with("/dev")
}

/// Whether a source is one that a configuration tries the compiler on: its outcome is asked for.
pub fn is_test(source: &Path, start: &Path) -> bool {
    const FOLDERS: &[&str] = &[
        "CMakeTmp",
        "CMakeScratch",
        "CompilerIdC",
        "meson-private",
        "config-temp",
    ];
    let temporary = [std::env::temp_dir(), "/tmp".into(), "/var/tmp".into()];
    let name = source.file_name().map_or(&b""[..], OsStr::as_bytes);
    name.starts_with(b"conftest")
        || source
            .components()
            .any(|part| FOLDERS.iter().any(|folder| part.as_os_str() == *folder))
        || temporary
            .iter()
            .any(|folder| source.starts_with(folder) && !start.starts_with(folder))
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
