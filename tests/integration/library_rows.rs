//! What `summaries/libraries/` says of the functions of libraries, beside what their headers say.
//!
//! A library whose headers are not installed is left out. The kernel's are looked for in the source trees that `CASSINI_LINUX` names, with
//! colons between them: a function must be declared in one of them.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use toml::{Table, Value};

/// A row: its file, its kind, and what is in it.
struct Row {
    file: String,
    kind: &'static str,
    keys: Table,
}

impl Row {
    fn names(&self) -> impl Iterator<Item = &str> {
        let names = self.keys["names"].as_array().unwrap().iter();
        names.map(|name| name.as_str().unwrap())
    }

    /// The parameters that it speaks of.
    fn params(&self) -> Vec<usize> {
        let mut params = Vec::new();
        for (key, value) in &self.keys {
            match (key.as_str(), value) {
                ("names" | "types" | "when", _) => {}
                ("returns" | "within" | "length", Value::Integer(param))
                    if self.kind == "library" =>
                {
                    params.push(usize::try_from(*param).unwrap());
                }
                (_, Value::Array(values)) => {
                    for value in values {
                        match value {
                            Value::Integer(param) => params.push(usize::try_from(*param).unwrap()),
                            Value::String(text) => params.extend(params_in(text)),
                            _ => {}
                        }
                    }
                }
                (_, Value::String(text)) => params.extend(params_in(text)),
                _ => {}
            }
        }
        params
    }
}

/// The numbers behind `param` and `out`.
fn params_in(text: &str) -> Vec<usize> {
    let starts = ["param", "out"].iter();
    let ends = starts.flat_map(|word| text.match_indices(word).map(|(at, _)| at + word.len()));
    let digits = |at: usize| {
        let rest = &text[at..];
        let end = rest.find(|c: char| !c.is_ascii_digit());
        rest[..end.unwrap_or(rest.len())].parse().ok()
    };
    ends.filter_map(digits).collect()
}

fn rows() -> Vec<Row> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("summaries/libraries");
    let mut rows = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let file = path.file_stem().unwrap().to_str().unwrap().to_owned();
        let text: Table = fs::read_to_string(&path).unwrap().parse().unwrap();
        for kind in ["function", "library"] {
            let of_kind = text.get(kind).and_then(Value::as_array);
            for keys in of_kind.into_iter().flatten() {
                rows.push(Row {
                    file: file.clone(),
                    kind,
                    keys: keys.as_table().unwrap().clone(),
                });
            }
        }
    }
    rows
}

/// A function may have several rows, which add up, but none of them says otherwise what another one has said.
#[test]
fn no_function_has_two_rows_that_contradict_each_other() {
    let mut twice = Vec::new();
    let mut seen: BTreeMap<(String, String), String> = BTreeMap::new();
    for row in rows() {
        let about: Vec<String> = match row.kind {
            "library" => {
                let keys = row.keys.keys().filter(|key| *key != "names");
                keys.filter(|key| *key != "reads")
                    .map(|key| format!("library {key}"))
                    .collect()
            }
            _ => vec![format!(
                "{:?} {}",
                row.keys.get("machine"),
                row.keys["object"]
            )],
        };
        for (name, about) in row
            .names()
            .flat_map(|name| about.iter().map(move |key| (name, key)))
        {
            let what = (name.to_owned(), about.clone());
            if let Some(file) = seen.insert(what, row.file.clone()) {
                twice.push(format!("`{name}`: {about}: {file} and {}", row.file));
            }
        }
    }
    assert!(twice.is_empty(), "{}", twice.join("\n"));
}

#[test]
fn what_is_never_null_is_not_asked_for() {
    for row in rows() {
        let never = row.keys.get("null").and_then(Value::as_str) == Some("never");
        assert!(!(never && row.keys.contains_key("null_when")));
    }
}

/// The functions that a text declares, with the most parameters that any declaration has; `usize::MAX` where any number may follow.
fn declared(text: &str) -> BTreeMap<String, usize> {
    let mut found = BTreeMap::new();
    let mut depth = 0;
    let mut statement = String::new();
    let mut chars = text.chars();
    while let Some(c) = chars.next() {
        match c {
            '"' | '\'' => {
                // What is quoted declares nothing.
                while let Some(quoted) = chars.next().filter(|quoted| *quoted != c) {
                    if quoted == '\\' {
                        chars.next();
                    }
                }
            }
            '{' => {
                if depth == 0 {
                    declarations(&statement, &mut found);
                    statement.clear();
                }
                depth += 1;
            }
            '}' => depth = i32::max(depth - 1, 0),
            ';' if depth == 0 => {
                declarations(&statement, &mut found);
                statement.clear();
            }
            c if depth == 0 => statement.push(c),
            _ => {}
        }
    }
    found
}

/// Every name in a declaration that parentheses follow, with what is in these.
fn declarations(statement: &str, found: &mut BTreeMap<String, usize>) {
    let word = |c: char| c.is_ascii_alphanumeric() || c == '_';
    for (open, _) in statement.match_indices('(') {
        let before = statement[..open].trim_end();
        // `(g_object_ref) (…)` keeps a macro away.
        let before = before.strip_suffix(')').unwrap_or(before).trim_end();
        let start = before.rfind(|c| !word(c)).map_or(0, |at| at + 1);
        let name = &before[start..];
        if name.is_empty() {
            continue;
        }
        let mut depth = 0;
        let mut params = 1;
        let mut end = statement.len();
        for (at, c) in statement[open + 1..].char_indices() {
            match c {
                '(' => depth += 1,
                ')' if depth == 0 => {
                    end = open + 1 + at;
                    break;
                }
                ')' => depth -= 1,
                ',' if depth == 0 => params += 1,
                _ => {}
            }
        }
        let inside = &statement[open + 1..end];
        let params = match inside.trim() {
            "" | "void" => 0,
            text if text.ends_with("...") => usize::MAX,
            _ => params,
        };
        let most = found.entry(name.to_owned()).or_insert(0);
        *most = params.max(*most);
    }
}

/// The rows of a file whose functions are not declared so.
fn not_declared(file: &str, declared: &BTreeMap<String, usize>) -> Vec<String> {
    let mut wrong = BTreeSet::new();
    for row in rows().iter().filter(|row| row.file == file) {
        let most = row.params().into_iter().max();
        for name in row.names() {
            match (declared.get(name), most) {
                (None, _) => {
                    wrong.insert(format!("`{name}` is not declared"));
                }
                (Some(params), Some(most)) if *params <= most => {
                    wrong.insert(format!("`{name}` has {params} parameters, no {most}"));
                }
                _ => {}
            }
        }
    }
    wrong.into_iter().collect()
}

/// Preprocesses the headers of a package; `None` if they are not there.
fn headers(package: &str, headers: &[&str]) -> Option<String> {
    let flags = Command::new("pkg-config")
        .args(["--cflags", package])
        .output();
    let flags = flags.ok().filter(|output| output.status.success());
    let Some(flags) = flags else {
        eprintln!("no headers of {package}: not compared");
        return None;
    };
    let flags = String::from_utf8(flags.stdout).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let source = folder.path().join("all.c");
    let lines = headers.iter().map(|name| format!("#include <{name}>\n"));
    fs::write(&source, lines.collect::<String>()).unwrap();
    let output = Command::new("gcc")
        .args(["-E", "-P", "-D_LARGEFILE64_SOURCE=1"])
        .args(flags.split_whitespace())
        .arg(&source)
        .output()
        .unwrap();
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    Some(String::from_utf8(output.stdout).unwrap())
}

fn check(file: &str, package: &str, names: &[&str]) {
    let Some(text) = headers(package, names) else {
        return;
    };
    let wrong = not_declared(file, &declared(&text));
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn glib_has_the_functions() {
    let names = ["glib.h", "glib-object.h", "glib/gstdio.h"];
    check("glib", "gobject-2.0", &names);
}

#[test]
fn openssl_has_the_functions() {
    let names = [
        "ssl", "hmac", "cmac", "kdf", "ocsp", "pkcs12", "cms", "ui", "rand", "md5", "sha", "err",
    ];
    let names = names.map(|name| format!("openssl/{name}.h"));
    check("openssl", "openssl", &names.each_ref().map(String::as_str));
}

#[test]
fn zlib_has_the_functions() {
    check("zlib", "zlib", &["zlib.h"]);
}

#[test]
fn sqlite_has_the_functions() {
    check("sqlite", "sqlite3", &["sqlite3.h"]);
}

#[test]
fn linux_has_the_functions() {
    let Ok(trees) = std::env::var("CASSINI_LINUX") else {
        eprintln!("no sources of Linux: not compared");
        return;
    };
    let mut all: BTreeMap<String, usize> = BTreeMap::new();
    for tree in trees.split(':') {
        for folder in [
            "include/linux",
            "include/net",
            "include/crypto",
            "include/asm-generic",
            "arch/x86/include/asm",
        ] {
            let mut headers = Vec::new();
            collect(&Path::new(tree).join(folder), &mut headers);
            for header in headers {
                let text = String::from_utf8_lossy(&fs::read(header).unwrap()).into_owned();
                for (name, params) in declared(&code(&text)) {
                    let most = all.entry(name).or_insert(0);
                    *most = params.max(*most);
                }
            }
        }
    }
    let wrong = not_declared("linux", &all);
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

fn collect(folder: &Path, headers: &mut Vec<PathBuf>) {
    let Ok(entries) = fs::read_dir(folder) else {
        return;
    };
    for entry in entries {
        let path = entry.unwrap().path();
        if path.is_dir() {
            collect(&path, headers);
        } else if path.extension().is_some_and(|extension| extension == "h") {
            headers.push(path);
        }
    }
}

/// A header without comments and directives.
fn code(text: &str) -> String {
    let mut code = String::new();
    let mut rest = text;
    while let Some(at) = rest.find("/*") {
        code += &rest[..at];
        let comment = &rest[at..];
        rest = comment.find("*/").map_or("", |end| &comment[end + 2..]);
    }
    code += rest;
    let code = code.replace("\\\n", " ");
    let lines = code
        .lines()
        .filter(|line| !line.trim_start().starts_with('#'));
    let lines = lines.map(|line| line.split("//").next().unwrap_or_default());
    lines.collect::<Vec<_>>().join("\n")
}
