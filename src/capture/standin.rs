//! Stand-ins for headers that cannot be found.
//!
//! In: the name in an `#include` that failed. Out: a file by that name in a folder of the unit's own,
//! searched last: empty, or what can be made of the header's template (`config.h.in`). Each unit has
//! its own folder, so that no unit's `__has_include` sees what another unit lacked.

use std::fs;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::path::{Component, Path, PathBuf};

use tempfile::TempDir;

/// Marks the stand-ins' folders in paths, for [`shown`].
const MARK: &str = "cassini-missing-";

/// Stands for the stand-ins' folder in text and in what people read.
const MISSING: &str = "<missing>";

/// So many folders lie between a unit's folder and the one that is searched, so that `../x.h` stays inside.
const DEPTH: usize = 8;

/// The stand-ins of one unit.
pub(super) struct StandIns {
    folder: TempDir,
}

impl StandIns {
    pub(super) fn new() -> io::Result<Self> {
        let folder = tempfile::Builder::new().prefix(MARK).tempdir()?;
        let stand_ins = StandIns { folder };
        fs::create_dir_all(stand_ins.search())?;
        Ok(stand_ins)
    }

    /// The stand-ins of a unit, made when the first is needed.
    pub(super) fn get(stand_ins: &mut Option<StandIns>) -> io::Result<&StandIns> {
        Ok(match stand_ins {
            Some(folder) => folder,
            none => none.insert(StandIns::new()?),
        })
    }

    /// The folder to search.
    pub(super) fn search(&self) -> PathBuf {
        self.folder.path().join(["d"; DEPTH].join("/"))
    }

    /// Takes the folder's name, which differs from run to run, out of a preprocessed text.
    pub(super) fn anonymise(&self, text: Vec<u8>) -> Vec<u8> {
        let folder = self.folder.path().as_os_str().as_bytes();
        let mut out = Vec::with_capacity(text.len());
        let mut copied = 0;
        for start in memchr::memmem::find_iter(&text, folder) {
            out.extend_from_slice(&text[copied..start]);
            out.extend_from_slice(MISSING.as_bytes());
            copied = start + folder.len();
        }
        out.extend_from_slice(&text[copied..]);
        out
    }

    /// Makes `name` exist with this text. False if it does already, or cannot.
    pub(super) fn add(&self, name: &Path, text: &str) -> io::Result<bool> {
        let mut path = self.search();
        let mut depth = DEPTH;
        let mut components = name.components().peekable();
        while let Some(component) = components.next() {
            match component {
                Component::CurDir => {}
                Component::ParentDir if depth > 0 => {
                    path.pop();
                    depth -= 1;
                }
                Component::Normal(part) => {
                    path.push(part);
                    depth += 1;
                    // `a/../b.h` needs `a` to exist.
                    if components.peek().is_some() {
                        fs::create_dir_all(&path)?;
                    }
                }
                _ => return Ok(false),
            }
        }
        match fs::File::create_new(&path) {
            Ok(mut file) => io::Write::write_all(&mut file, text.as_bytes()).map(|()| true),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(false),
            Err(error) => Err(error),
        }
    }
}

/// How a stand-in is named to people; `None` if the path is none.
pub(super) fn shown(path: &str) -> Option<String> {
    let name = match path.strip_prefix(MISSING) {
        Some(name) => name.strip_prefix('/')?,
        None => path.split_once(MARK)?.1.split_once('/')?.1,
    };
    Some(format!("{MISSING}/{}", name.trim_start_matches("d/")))
}

/// What can be made of a header's template: `config.h.in` of autoconf or CMake, `version.h.in`.
///
/// What the template leaves to the machine is decided by the preprocessor where it can (a header is
/// there or not) and by what holds on any LP64 Unix otherwise.
pub(super) fn from_template(template: &str) -> String {
    let mut out = String::with_capacity(template.len() * 2);
    for line in template.lines() {
        let trimmed = line.trim_start();
        let directive = trimmed.strip_prefix('#').map(str::trim_start).unwrap_or("");
        let mut words = directive.split_whitespace();
        match (words.next(), words.next()) {
            (Some("undef" | "cmakedefine" | "cmakedefine01" | "mesondefine"), Some(name)) => {
                out.push_str(&define(name));
            }
            (Some("include"), _) => out.push_str(&substitute(line, Some(""))),
            _ => out.push_str(&substitute(line, None)),
        }
        out.push('\n');
    }
    out
}

/// The definition, if any, of a macro that a configure script would have decided on.
fn define(name: &str) -> String {
    if let Some(header) = name
        .strip_prefix("HAVE_")
        .and_then(|name| name.strip_suffix("_H"))
    {
        let header = header.to_lowercase();
        let nested = header.replacen('_', "/", 1);
        return format!(
            "#if __has_include(<{header}.h>) || __has_include(<{nested}.h>)\n#define {name} 1\n#endif"
        );
    }
    let value = match name {
        "STDC_HEADERS" | "TIME_WITH_SYS_TIME" | "_GNU_SOURCE" | "HAVE_PTHREAD"
        | "HAVE_PTHREADS" | "HAVE_LIBPTHREAD" | "HAVE_STDBOOL" | "HAVE__BOOL" => "1",
        "SIZEOF_CHAR" => "1",
        "SIZEOF_SHORT" | "SIZEOF_SHORT_INT" => "2",
        "SIZEOF_INT" | "SIZEOF_FLOAT" => "4",
        "SIZEOF_LONG" | "SIZEOF_LONG_INT" | "SIZEOF_LONG_LONG" | "SIZEOF_SIZE_T"
        | "SIZEOF_VOID_P" | "SIZEOF_VOIDP" | "SIZEOF_OFF_T" | "SIZEOF_TIME_T" | "SIZEOF_DOUBLE" => {
            "8"
        }
        "PACKAGE" | "VERSION" | "PACKAGE_NAME" | "PACKAGE_VERSION" | "PACKAGE_STRING"
        | "PACKAGE_TARNAME" | "PACKAGE_BUGREPORT" | "PACKAGE_URL" => "\"\"",
        _ => return format!("/* {name} */"),
    };
    format!("#define {name} {value}")
}

/// `@NAME@` becomes `value`, or else 0 outside string literals and stays inside.
fn substitute(line: &str, value: Option<&str>) -> String {
    let mut out = String::with_capacity(line.len());
    let mut quoted = false;
    let mut rest = line;
    while let Some(at) = rest.find(['@', '"']) {
        out.push_str(&rest[..at]);
        let tail = &rest[at + 1..];
        rest = match tail.find('@') {
            _ if rest[at..].starts_with('"') => {
                quoted = !quoted;
                out.push('"');
                tail
            }
            Some(end) if is_name(&tail[..end]) => {
                let kept = if quoted {
                    &rest[at..=at + 1 + end]
                } else {
                    "0"
                };
                out.push_str(value.unwrap_or(kept));
                &tail[end + 1..]
            }
            _ => {
                out.push('@');
                tail
            }
        };
    }
    out + rest
}

fn is_name(text: &str) -> bool {
    !text.is_empty()
        && text
            .bytes()
            .all(|byte| byte == b'_' || byte.is_ascii_alphanumeric())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stand_ins_stay_in_their_folder() {
        let stand_ins = StandIns::new().unwrap();
        assert!(stand_ins.add(Path::new("a/../b/c.h"), "x").unwrap());
        assert!(
            !stand_ins.add(Path::new("b/c.h"), "y").unwrap(),
            "there already"
        );
        assert_eq!(
            fs::read_to_string(stand_ins.search().join("b/c.h")).unwrap(),
            "x"
        );
        assert!(stand_ins.add(Path::new("../../up.h"), "").unwrap());
        assert!(stand_ins.search().join("../../up.h").is_file());
        assert!(
            !stand_ins
                .add(
                    Path::new(&"../".repeat(DEPTH + 1)).join("x.h").as_path(),
                    ""
                )
                .unwrap()
        );
        assert!(!stand_ins.add(Path::new("/etc/x.h"), "").unwrap());
    }

    #[test]
    fn a_stand_in_is_shown_without_its_place() {
        let stand_ins = StandIns::new().unwrap();
        let path = stand_ins.search().join("a/b.h");
        assert_eq!(
            shown(path.to_str().unwrap()).as_deref(),
            Some("<missing>/a/b.h")
        );
        assert_eq!(shown("/usr/include/stdio.h"), None);
        let text = stand_ins.anonymise(format!("# 1 \"{}\"\nint a;", path.display()).into());
        let marker = "# 1 \"<missing>/d/d/d/d/d/d/d/d/a/b.h\"\nint a;";
        assert_eq!(String::from_utf8(text).unwrap(), marker);
        assert_eq!(
            shown("<missing>/d/d/a/b.h").as_deref(),
            Some("<missing>/a/b.h")
        );
    }

    #[test]
    fn a_template_is_filled_in_as_far_as_can_be_told() {
        let text = from_template(
            "/* Define if. */\n#undef HAVE_SYS_TYPES_H\n#  undef PACKAGE\n#cmakedefine SIZEOF_LONG ${X}\n\
             #undef HAVE_ODD_THING\n#define N @N@\n#define V \"@V@\" /* a@b */\n#include \"x@S@.h\"",
        );
        assert!(text.contains("__has_include(<sys/types.h>)\n#define HAVE_SYS_TYPES_H 1"));
        assert!(text.contains(
            "#define PACKAGE \"\"\n#define SIZEOF_LONG 8\n/* HAVE_ODD_THING */\n#define N 0\n"
        ));
        assert!(
            text.contains("#define V \"@V@\" /* a@b */\n#include \"x.h\"\n"),
            "{text}"
        );
    }
}
