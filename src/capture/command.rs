//! A compile command, reduced to what preprocessing needs.
//!
//! In: the words of a compiler's command line. Out: a [`CompileCommand`], or what it compiles instead
//! of C. Outputs, warnings, dependency files and linking are left out, so that two commands that
//! differ only there are equal. What is not known to do no harm ([`flags`]) is left out of the commands
//! of a tree that is not trusted, and told.

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use super::Place;
use super::flags::{self, Class, Fate};
use super::tree::normalise;

pub(super) use super::flags::takes_value;
pub(super) use super::response::{RESPONSE_DEPTH, expand_response_files};

/// How one translation unit is preprocessed.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct CompileCommand {
    /// The main source file, absolute.
    pub source: PathBuf,
    /// The source as reports name it: relative to the tree if it lies there.
    pub name: String,
    /// The folder that the command runs in, absolute.
    pub directory: PathBuf,
    /// The compiler as the command names it.
    pub compiler: OsString,
    /// The flags that bear on preprocessing, without the source.
    pub arguments: Vec<OsString>,
    /// The source as the command spells it, which `__FILE__` and the line markers repeat.
    pub spelling: OsString,
    /// Made up for a file of a bare tree, so that what goes wrong may be the guess's fault.
    pub guessed: bool,
    /// Headers that a build would make of templates and that are not there, each with the place that
    /// asks for it.
    pub ungenerated: Vec<(PathBuf, Place)>,
    /// Further arguments, which are left out if the unit does not preprocess with them.
    pub optional: Vec<OsString>,
}

/// A command line taken apart.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Parsed {
    pub compiler: OsString,
    pub arguments: Vec<OsString>,
    /// The argument that names the source, if one does.
    pub spelling: Option<OsString>,
    /// Response files that could not be read.
    pub unread: Vec<OsString>,
    /// Flags that were left out because they might do harm, as people are told of them.
    pub doubtful: Vec<String>,
}

/// Why a command is no translation unit of ours.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Refused {
    /// C++, assembler, a header, …
    NotC,
    /// No word is left that could be a compiler.
    NoCompiler,
}

/// Programs that run the compiler named after them.
const LAUNCHERS: &[&str] = &["env", "nice", "ionice", "time", "nohup"];

/// Options of those whose value is the next word.
const LAUNCHER_OPTIONS: &[&str] = &["-n", "-u", "-c", "--unset", "--tag"];

/// Compiler caches and distributors: they run the compiler named after them, or stand in for it under
/// its name.
pub(super) const WRAPPERS: &[&str] =
    &["ccache", "sccache", "cachepot", "distcc", "icecc", "gomacc"];

/// Takes a command line apart. `file` is the source as the compile database names it. Flags that might do
/// harm are kept if the tree is `trusted`.
pub(super) fn parse(
    words: Vec<OsString>,
    directory: &Path,
    file: &Path,
    trusted: bool,
) -> Result<Parsed, Refused> {
    let mut unread = Vec::new();
    let words = expand_response_files(words, directory, RESPONSE_DEPTH, &mut unread);
    let mut words = skip_launchers(&words).iter();
    let compiler = words.next().ok_or(Refused::NoCompiler)?.clone();

    let source = normalise(&directory.join(file));
    let mut kept = Kept::new(trusted);
    let mut spelling = None;
    // gcc lets `-x` govern the files after it.
    let mut language: Option<OsString> = None;
    let mut source_language = None;
    while let Some(word) = words.next() {
        let bytes = word.as_bytes();
        if bytes.first() != Some(&b'-') || bytes == b"-" {
            if spelling.is_none() && normalise(&directory.join(word)) == source {
                spelling = Some(word.clone());
                source_language = Some(language.clone());
            }
        } else if bytes == b"-x" {
            let Some(value) = words.next() else { break };
            language = Some(value.clone());
        } else if let Some(value) = bytes.strip_prefix(b"-x") {
            language = Some(OsStr::from_bytes(value).to_owned());
        } else {
            kept.flag(word, &mut words);
        }
    }
    let (mut arguments, doubtful) = kept.finish();
    let language = source_language
        .unwrap_or(language)
        .filter(|name| name != "none");
    match language {
        Some(name) if name == "c" => arguments.extend(["-x".into(), "c".into()]),
        Some(name) if name == "cpp-output" => {}
        Some(_) => return Err(Refused::NotC),
        None if is_c_file(file) && !is_cxx_compiler(&compiler) => {}
        None => return Err(Refused::NotC),
    }
    Ok(Parsed {
        compiler,
        arguments,
        spelling,
        unread,
        doubtful,
    })
}

/// Those of a tree's own arguments for the compiler that do no harm, and the others as people are told of
/// them.
pub fn harmless(words: &[OsString]) -> (Vec<OsString>, Vec<String>) {
    let mut kept = Kept::new(false);
    let mut words = words.iter();
    while let Some(word) = words.next() {
        match word.as_bytes() {
            [b'-', _, ..] => kept.flag(word, &mut words),
            other => kept.leave_out(other),
        }
    }
    kept.finish()
}

/// The flags kept of a command.
struct Kept {
    trusted: bool,
    arguments: Vec<OsString>,
    doubtful: Vec<String>,
    /// The words handed to the preprocessor alone by `-Xpreprocessor` so far.
    handed: Vec<OsString>,
}

impl Kept {
    fn new(trusted: bool) -> Kept {
        Kept {
            trusted,
            arguments: Vec::new(),
            doubtful: Vec::new(),
            handed: Vec::new(),
        }
    }

    /// One flag, with its value from `rest` if it takes one.
    fn flag<'a>(&mut self, word: &'a OsString, rest: &mut impl Iterator<Item = &'a OsString>) {
        let bytes = word.as_bytes();
        if bytes == b"-Xpreprocessor" && !self.trusted {
            self.handed.extend(rest.next().cloned());
            return;
        }
        self.take_handed();
        if let Some(handed) = bytes.strip_prefix(b"-Wp,") {
            let handed = handed.split(|&byte| byte == b',');
            let handed: Vec<_> = handed.map(|word| OsStr::from_bytes(word).into()).collect();
            self.preprocessor_flags(&handed);
            return;
        }
        let Class { fate, takes_value } = flags::class(bytes);
        let value = match takes_value {
            false => None,
            true => match rest.next() {
                None => return,
                value => value,
            },
        };
        let is_kept = match fate {
            Fate::Left => return,
            _ if self.trusted => fate == Fate::Kept || flags::bears_on_preprocessing(bytes),
            Fate::Kept => value.is_none_or(|value| flags::is_value(bytes, value.as_bytes())),
            Fate::Doubtful => false,
        };
        if is_kept {
            self.arguments.push(word.clone());
            self.arguments.extend(value.cloned());
        } else if !self.trusted {
            self.leave_out(bytes);
        }
    }

    /// What is handed to the preprocessor: there, a dependency file is the next word.
    fn preprocessor_flags(&mut self, words: &[OsString]) {
        let mut words = words.iter().peekable();
        while let Some(word) = words.next() {
            let bytes = word.as_bytes();
            if has(&["-MD", "-MMD"], bytes) {
                words.next_if(|next| !next.as_bytes().starts_with(b"-"));
            } else if bytes.starts_with(b"-") && !begins(&["-Wp,", "-Xpreprocessor"], bytes) {
                self.flag(word, &mut words);
            } else {
                self.leave_out(bytes);
            }
        }
    }

    fn take_handed(&mut self) {
        if !self.handed.is_empty() {
            let handed = std::mem::take(&mut self.handed);
            self.preprocessor_flags(&handed);
        }
    }

    fn leave_out(&mut self, word: &[u8]) {
        let shown = flags::shown(word);
        if !self.doubtful.contains(&shown) {
            self.doubtful.push(shown);
        }
    }

    fn finish(mut self) -> (Vec<OsString>, Vec<String>) {
        self.take_handed();
        (self.arguments, self.doubtful)
    }
}

/// By its name, a C source file or one already preprocessed.
pub(super) fn is_c_file(file: &Path) -> bool {
    file.extension()
        .is_some_and(|extension| extension == "c" || extension == "i")
}

pub(super) fn is_cxx_compiler(compiler: &OsStr) -> bool {
    base_name(compiler).windows(2).any(|pair| pair == b"++")
}

pub(super) fn has(list: &[&str], word: &[u8]) -> bool {
    list.iter().any(|entry| entry.as_bytes() == word)
}

pub(super) fn begins(list: &[&str], word: &[u8]) -> bool {
    list.iter().any(|entry| word.starts_with(entry.as_bytes()))
}

pub(super) fn base_name(word: &OsStr) -> &[u8] {
    let bytes = word.as_bytes();
    bytes.rsplit(|&byte| byte == b'/').next().unwrap_or(bytes)
}

/// Drops `ccache`, `env A=b`, `nice -n 5`, `libtool --mode=compile --tag=CC` and the like from the front.
pub(super) fn skip_launchers(words: &[OsString]) -> &[OsString] {
    let mut rest = words;
    let mut launched = false;
    while let Some((word, after)) = rest.split_first() {
        let bytes = word.as_bytes();
        let base = base_name(word);
        // A shell may run libtool's script.
        if rest
            .iter()
            .take(2)
            .any(|word| base_name(word).ends_with(b"libtool"))
            && let Some(mode) = rest.iter().position(|word| word == "--mode=compile")
        {
            rest = &rest[mode + 1..];
            launched = true;
            continue;
        }
        let assigns = bytes
            .split(|&byte| byte == b'=')
            .next()
            .filter(|name| name.len() < bytes.len())
            .is_some_and(|name| {
                name.iter()
                    .all(|&byte| byte == b'_' || byte.is_ascii_alphanumeric())
            });
        if has(LAUNCHERS, base) || has(WRAPPERS, base) {
            launched = true;
        } else if launched && has(LAUNCHER_OPTIONS, bytes) {
            rest = after.get(1..).unwrap_or_default();
            continue;
        } else if !(assigns || launched && bytes.starts_with(b"-")) {
            break;
        }
        rest = after;
    }
    rest
}

/// Drops `-include FILE` and `-imacros FILE`. False if there is none.
pub(super) fn drop_include(arguments: &mut Vec<OsString>, file: &Path) -> bool {
    let is_it = |pair: &[OsString]| {
        has(
            &["-include", "-imacros", "--include", "--imacros"],
            pair[0].as_bytes(),
        ) && Path::new(&pair[1]) == file
    };
    let found = arguments.windows(2).position(is_it);
    if let Some(start) = found {
        arguments.drain(start..start + 2);
    }
    found.is_some()
}

/// The files that `-include` names.
pub(super) fn included(arguments: &[OsString]) -> impl Iterator<Item = &OsStr> {
    let mut words = arguments.iter();
    std::iter::from_fn(move || {
        loop {
            let word = words.next()?.as_bytes();
            if has(&["-include", "--include"], word) {
                return words.next().map(OsString::as_os_str);
            }
            let joined = word.strip_prefix(b"--include=");
            if let Some(name) = joined.or_else(|| word.strip_prefix(b"-include")) {
                return Some(OsStr::from_bytes(name));
            }
            if takes_value(word) {
                words.next();
            }
        }
    })
}

/// The flags that bear on what a compiler's types are like.
pub(super) fn target_flags(arguments: &[OsString]) -> Vec<OsString> {
    const KEPT: &[&str] = &[
        "-m",
        "--target=",
        "-fshort-",
        "-fno-short-",
        "-funsigned-char",
        "-fno-unsigned-char",
        "-fsigned-char",
        "-fno-signed-char",
    ];
    let mut out = Vec::new();
    let mut words = arguments.iter();
    while let Some(word) = words.next() {
        let bytes = word.as_bytes();
        if has(&["-target", "--target", "-arch"], bytes) {
            out.push(word.clone());
            out.extend(words.next().cloned());
        } else if takes_value(bytes) {
            words.next();
        } else if begins(KEPT, bytes) {
            out.push(word.clone());
        }
    }
    out
}

/// Drops flags that another compiler than the command's own may not know, and that change no macro
/// that programs commonly ask for.
pub(super) fn portable(arguments: &[OsString]) -> Vec<OsString> {
    const KEPT: &[&str] = &[
        "-m32",
        "-m64",
        "-mx32",
        "-ffreestanding",
        "-fno-builtin",
        "-fopenmp",
        "-fPIC",
        "-fpic",
        "-fPIE",
        "-fpie",
        "-funsigned-char",
        "-fsigned-char",
        "-fshort-wchar",
        "-fshort-enums",
        "-ffast-math",
        "-fms-extensions",
        "-fgnu89-inline",
        "-fplan9-extensions",
        "-fmacro-prefix-map",
        "-ffile-prefix-map",
    ];
    let mut out = Vec::with_capacity(arguments.len());
    let mut words = arguments.iter();
    while let Some(word) = words.next() {
        let bytes = word.as_bytes();
        if has(&["-target", "-arch", "-B"], bytes) {
            words.next();
        } else if takes_value(bytes) {
            out.push(word.clone());
            out.extend(words.next().cloned());
        } else if !begins(
            &["-f", "-m", "--target", "-target", "-specs", "--specs", "-B"],
            bytes,
        ) || begins(KEPT, bytes)
        {
            out.push(word.clone());
        }
    }
    out
}

#[cfg(test)]
mod tests;
