//! Makes a build call interceptors where it would call compilers, linkers and archivers by name.
//!
//! In: the search path, the build's command and environment. Out: a folder with a script for each name
//! of such a tool in the search path, and the paths of compilers in `CC=…` and the like replaced by
//! scripts of their own. Needed where no library can be preloaded ([`super::preload`]).

use std::collections::BTreeSet;
use std::ffi::{OsStr, OsString};
use std::fs;
use std::io;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use super::INTERCEPT;
use super::folder::Folder;
use super::interceptor::is_program;
use super::tools::{self, Tool};
use crate::capture::command::base_name;

/// Script that only shows that scripts run.
const TRIAL: &str = "trial.sh";

pub struct Redirect<'a> {
    folder: &'a Folder,
    /// This program.
    program: PathBuf,
    /// Compilers that were given by their paths.
    paths: usize,
}

impl<'a> Redirect<'a> {
    /// Interceptors for the C compilers of a search path.
    pub fn new(folder: &'a Folder, path: &OsStr) -> io::Result<Self> {
        let redirect = Redirect {
            folder,
            program: std::env::current_exe()?,
            paths: 0,
        };
        let mut names = BTreeSet::new();
        for searched in std::env::split_paths(path) {
            // What cannot be read cannot be searched.
            for entry in fs::read_dir(searched).into_iter().flatten().flatten() {
                let name = entry.file_name();
                if tools::tool(&name).is_some_and(|tool| tool != Tool::Copier)
                    && is_program(&entry.path())
                {
                    names.insert(name);
                }
            }
        }
        for name in &names {
            redirect.write(&folder.interceptors().join(name), name)?;
        }
        Ok(redirect)
    }

    /// A program to be run: an interceptor if it is the path of a compiler.
    pub fn program(&mut self, program: &OsStr) -> io::Result<OsString> {
        if !program.as_bytes().contains(&b'/') || !tools::is_driver(program) {
            return Ok(program.to_owned());
        }
        let path = std::path::absolute(program)?;
        if !is_program(&path) {
            return Ok(program.to_owned());
        }
        // The name stays, for builds that go by it.
        let folder = self
            .folder
            .path()
            .join("paths")
            .join(self.paths.to_string());
        self.paths += 1;
        fs::create_dir_all(&folder)?;
        let script = folder.join(OsStr::from_bytes(base_name(program)));
        self.write(&script, path.as_os_str())?;
        Ok(script.into())
    }

    /// A word of the build's command, with the compilers' paths in `CC=…` replaced.
    pub fn assignment(&mut self, word: &OsStr) -> io::Result<OsString> {
        let bytes = word.as_bytes();
        let Some(equals) = bytes.iter().position(|&byte| byte == b'=') else {
            return Ok(word.to_owned());
        };
        let (name, value) = (&bytes[..equals], &bytes[equals + 1..]);
        if !names_compiler(name) {
            return Ok(word.to_owned());
        }
        let value = self.value(OsStr::from_bytes(value))?;
        Ok(OsString::from_vec([name, b"=", value.as_bytes()].concat()))
    }

    /// The variables of the environment that name compilers by their paths, with those replaced.
    pub fn environment(&mut self) -> io::Result<Vec<(OsString, OsString)>> {
        let mut replaced = Vec::new();
        for (name, value) in std::env::vars_os() {
            if names_compiler(name.as_bytes()) {
                let value = self.value(&value)?;
                replaced.push((name, value));
            }
        }
        Ok(replaced)
    }

    /// `ccache /usr/bin/gcc -m32` with the compiler's path replaced.
    fn value(&mut self, value: &OsStr) -> io::Result<OsString> {
        let mut words = Vec::new();
        for word in value.as_bytes().split(|&byte| byte == b' ') {
            words.push(self.program(OsStr::from_bytes(word))?.into_vec());
        }
        Ok(OsString::from_vec(words.join(&b' ')))
    }

    /// Writes the script that stands for `compiler`, a name or a path.
    fn write(&self, script: &Path, compiler: &OsStr) -> io::Result<()> {
        let words = [
            self.program.as_os_str(),
            OsStr::new(INTERCEPT),
            self.folder.path().as_os_str(),
            compiler,
            OsStr::from_bytes(base_name(compiler)),
        ];
        let words: Vec<Vec<u8>> = words
            .iter()
            .map(|word| shell_quoted(word.as_bytes()))
            .collect();
        let text = [b"exec ", &words.join(&b' ')[..], b" \"$@\"\n"].concat();
        write_script(script, &text)
    }
}

/// Whether scripts can be run where the interceptors are.
pub fn try_out(folder: &Folder) -> io::Result<()> {
    let script = folder.scratch().join(TRIAL);
    write_script(&script, b"exit 0\n")?;
    Command::new(script).stdin(Stdio::null()).status().map(drop)
}

/// Runs `program`, or the interceptor of the compiler that it is: nothing is preloaded into ourselves.
pub fn directly(folder: &Folder, program: &OsStr) -> io::Result<Command> {
    if tools::tool(program).is_none_or(|tool| tool == Tool::Copier) {
        return Ok(Command::new(program));
    }
    let mut command = Command::new(std::env::current_exe()?);
    command
        .arg(INTERCEPT)
        .arg(folder.path())
        .args([program, program]);
    Ok(command)
}

pub fn write_script(script: &Path, text: &[u8]) -> io::Result<()> {
    fs::write(script, [b"#!/bin/sh\n", text].concat())?;
    fs::set_permissions(script, fs::Permissions::from_mode(0o755))
}

fn shell_quoted(word: &[u8]) -> Vec<u8> {
    let mut out = vec![b'\''];
    for &byte in word {
        match byte {
            b'\'' => out.extend(b"'\\''"),
            _ => out.push(byte),
        }
    }
    out.push(b'\'');
    out
}

/// Whether a variable of this name holds a C compiler.
fn names_compiler(name: &[u8]) -> bool {
    let plain = name
        .iter()
        .all(|&byte| byte == b'_' || byte.is_ascii_alphanumeric());
    plain && (name.ends_with(b"CC") || name.ends_with(b"CC_FOR_BUILD") || name == b"CLANG")
}

#[cfg(test)]
mod tests {
    use super::super::folder::Plan;
    use super::*;

    #[test]
    fn a_compilers_path_is_replaced_where_it_names_the_compiler_and_nowhere_else() {
        let temporary = tempfile::tempdir().unwrap();
        let tools = temporary.path().join("it's here");
        fs::create_dir(&tools).unwrap();
        let gcc = tools.join("gcc-99");
        write_script(&gcc, b"exit 0\n").unwrap();
        let plan = Plan {
            start: "/".into(),
            record_only: false,
            since: 0,
        };
        let folder = Folder::create(&temporary.path().join("c"), &plan).unwrap();
        let mut redirect = Redirect::new(&folder, tools.as_os_str()).unwrap();
        try_out(&folder).unwrap();
        assert!(folder.interceptors().join("gcc-99").is_file());

        let link = temporary.path().join("gcc-99");
        std::os::unix::fs::symlink(&gcc, &link).unwrap();
        let link = link.display();
        let mut assigned = |word: &str| {
            redirect
                .assignment(OsStr::new(word))
                .unwrap()
                .into_string()
                .unwrap()
        };
        let script = |n: u32| {
            folder
                .path()
                .join(format!("paths/{n}/gcc-99"))
                .display()
                .to_string()
        };
        assert_eq!(
            assigned(&format!("CC={link} -m32")),
            format!("CC={} -m32", script(0))
        );
        assert_eq!(
            assigned(&format!("HOSTCC=ccache {link}")),
            format!("HOSTCC=ccache {}", script(1))
        );
        for same in [
            format!("CFLAGS={link}"),
            "CC=gcc".into(),
            "CC=/gone/gcc".into(),
            "all".into(),
        ] {
            assert_eq!(assigned(&same), same);
        }
        let text = fs::read_to_string(script(0)).unwrap();
        assert!(
            text.contains(" \"$@\"\n") && text.contains(&format!("'{link}'")),
            "{text}"
        );
    }
}
