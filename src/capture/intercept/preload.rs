//! The library that is preloaded into the programs of a build, so that compilers are seen by whatever path
//! they are called.
//!
//! In: the capture's folder. Out: the library, compiled of `preload.c` by a C compiler that is there, and the
//! environment that a build needs for it. Where it cannot be made, or does not do its work, interceptors in
//! `PATH` have to do.

use std::ffi::{OsStr, OsString};
use std::fs;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use super::folder::Folder;
use super::{INTERCEPT, LOAD, stub, tools};

const SOURCE: &str = include_str!("preload.c");

/// Compilers that may make the library, in the order in which they are tried.
const COMPILERS: &[&str] = &["cc", "gcc", "clang"];

/// Makes the library; none if no compiler can or it does not work here.
pub fn make(folder: &Folder, record_only: bool) -> io::Result<Option<PathBuf>> {
    let library = folder.library();
    let source = folder.scratch().join("preload.c");
    fs::write(&source, text(folder, record_only)?)?;
    let compiles = |compiler: &str| {
        let status = Command::new(compiler)
            .args(["-w", "-O2", "-fPIC", "-shared", "-o"])
            .args([&library, &source])
            .arg("-ldl")
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .status();
        status.is_ok_and(|status| status.success())
    };
    let made = COMPILERS.iter().any(|compiler| compiles(compiler));
    Ok((made && works(folder, &library)?).then_some(library))
}

fn text(folder: &Folder, record_only: bool) -> io::Result<String> {
    let names: String = tools::names().map(|name| format!("\"{name}\", ")).collect();
    let copiers: String = tools::FILE_COPIERS
        .iter()
        .map(|name| format!("\"{name}\", "))
        .collect();
    let mut text = format!(
        "#define PROGRAM {}\n#define FOLDER {}\n#define LIBRARY {}\n#define MODE \"{INTERCEPT}\"\n\
         #define NAMES {names}\n#define COPIERS {copiers}\n",
        literal(std::env::current_exe()?.as_os_str()),
        literal(folder.path().as_os_str()),
        literal(folder.library().as_os_str()),
    );
    if record_only {
        let mark = literal(OsStr::from_bytes(stub::MARK));
        text.push_str(&format!("#define LOAD \"{LOAD}\"\n#define MARK {mark}\n"));
    }
    text.push_str(SOURCE);
    Ok(text)
}

/// Whether a shell with the library preloaded runs an interceptor for a compiler.
fn works(folder: &Folder, library: &Path) -> io::Result<bool> {
    let trial = folder.scratch().join("trial");
    fs::create_dir_all(&trial)?;
    let compiler = trial.join("cc");
    super::redirect::write_script(&compiler, b"exit 0\n")?;
    let status = Command::new("sh")
        .args(["-c", "\"$0\"; exit 0"])
        .arg(&compiler)
        .envs(environment(library))
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status();
    Ok(status.is_ok_and(|status| status.success()) && folder.forget_called()?)
}

/// The variables that a build needs so that its programs have the library.
pub fn environment(library: &Path) -> Vec<(OsString, OsString)> {
    let joined = |first: &OsStr, variable: &str| {
        let mut value = first.to_owned();
        if let Some(old) = std::env::var_os(variable).filter(|old| !old.is_empty()) {
            value.push(":");
            value.push(old);
        }
        (OsString::from(variable), value)
    };
    vec![
        joined(library.as_os_str(), "LD_PRELOAD"),
        // Programs with an address sanitizer refuse to run otherwise.
        joined(OsStr::new("verify_asan_link_order=0"), "ASAN_OPTIONS"),
    ]
}

/// A C string literal.
pub fn literal(word: &OsStr) -> String {
    let bytes = word.as_bytes().iter();
    let digits: String = bytes.map(|byte| format!("\\{byte:03o}")).collect();
    format!("\"{digits}\"")
}
