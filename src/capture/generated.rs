//! The links of a build that CMake or meson have written down for another program: a `build.ninja` beside the
//! database, or a `link.txt` in the folder of each target of a Makefile.
//!
//! In: the database's path and the outputs of its commands. Out: records as `cassini capture` makes them. Nothing is run; what is not
//! understood is left out, and the heuristics for trees without records have it.

use std::collections::{BTreeSet, HashMap};
use std::path::{Path, PathBuf};

use super::links::{LinkKind, Record};
use crate::source::read_regular;

/// Bytes of a file that is read.
const LIMIT: u64 = 1 << 28;

/// The links that are written down beside a database.
pub(super) fn records<'a>(database: &Path, outputs: impl Iterator<Item = &'a Path>) -> Vec<Record> {
    let here = database.parent().unwrap_or(Path::new("/"));
    let read = |file: PathBuf| String::from_utf8(read_regular(&file, LIMIT).ok()?).ok();
    if let Some(text) = read(here.join("build.ninja")) {
        return ninja(&text, here);
    }
    // CMake compiles to `x/CMakeFiles/target.dir/y.o` and links as `x/CMakeFiles/target.dir/link.txt` says, in `x`.
    let targets: BTreeSet<&Path> = outputs
        .flat_map(Path::ancestors)
        .filter(|folder| {
            folder.extension().is_some_and(|e| e == "dir")
                && folder
                    .parent()
                    .is_some_and(|parent| parent.ends_with("CMakeFiles"))
        })
        .collect();
    let texts = targets.into_iter().filter_map(|target| {
        let text = read(target.join("link.txt"))?;
        Some((text, target.ancestors().nth(2)?))
    });
    let lines = texts.flat_map(|(text, folder)| {
        let lines: Vec<Record> = text
            .lines()
            .filter_map(|line| command(line, folder))
            .collect();
        lines
    });
    lines.collect()
}

/// The link that a command does in a folder.
fn command(line: &str, folder: &Path) -> Option<Record> {
    let words = shlex::split(line)?;
    let (program, rest) = words.split_first()?;
    let program = Path::new(program).file_name()?.to_str()?;
    let place = |word: &String| folder.join(word);
    let is_file = |word: &&String| {
        let library = word.contains(".so.") || word.ends_with(".so");
        !word.starts_with('-') && (word.ends_with(".o") || word.ends_with(".a") || library)
    };
    if program == "ar" || program.ends_with("-ar") {
        let mut files = rest.iter().filter(is_file).map(place);
        return Some(Record {
            kind: LinkKind::Archive,
            output: files.next()?,
            inputs: files.collect(),
        });
    }
    let output = rest.iter().position(|word| word == "-o")? + 1;
    let inputs = rest.iter().enumerate().filter(|(at, _)| *at != output);
    let inputs = inputs.map(|(_, word)| word).filter(is_file).map(place);
    let has = |option: &str| rest.iter().any(|word| word == option);
    Some(Record {
        kind: match () {
            () if has("-shared") => LinkKind::Shared,
            () if has("-r") => LinkKind::Relocatable,
            () => LinkKind::Program,
        },
        output: place(rest.get(output)?),
        inputs: inputs.collect(),
    })
}

/// The links of a `build.ninja`: its `build OUTPUTS: RULE INPUTS | IMPLICIT || ORDER` lines with rules for linking.
fn ninja(text: &str, folder: &Path) -> Vec<Record> {
    let text = text.replace("$\n", "");
    let lines = text.lines().filter_map(|line| line.strip_prefix("build "));
    let mut records = Vec::new();
    // The kind of each library whose objects are archived under another name than it is linked by.
    let mut aliases: HashMap<PathBuf, PathBuf> = HashMap::new();
    for line in lines {
        let words = words(line);
        let Some(colon) = words.iter().position(|word| word == ":") else {
            continue;
        };
        let explicit = |words: &[String]| {
            let words = words
                .iter()
                .take_while(|word| *word != "|" && *word != "||");
            words.map(|word| folder.join(word)).collect::<Vec<_>>()
        };
        let outputs = explicit(&words[..colon]);
        let (Some(output), Some(rule)) = (outputs.first(), words.get(colon + 1)) else {
            continue;
        };
        // With what the rule depends on besides: libraries are given as variables.
        let inputs = words[colon + 2..].iter().take_while(|word| *word != "||");
        let inputs = inputs
            .filter(|word| *word != "|")
            .map(|word| folder.join(word));
        let inputs: Vec<PathBuf> = inputs.collect();
        let Some(kind) = kind_of(rule, output) else {
            if rule.contains("SYMLINK")
                && let [input] = inputs.as_slice()
            {
                aliases.extend(outputs.into_iter().map(|output| (output, input.clone())));
            }
            continue;
        };
        records.push(Record {
            kind,
            output: output.clone(),
            inputs,
        });
    }
    for input in records.iter_mut().flat_map(|record| &mut record.inputs) {
        if let Some(target) = aliases.get(input) {
            *input = target.clone();
        }
    }
    records
}

/// What a rule of CMake's or meson's links, if it does.
fn kind_of(rule: &str, output: &Path) -> Option<LinkKind> {
    let shared = output.to_str().is_some_and(|name| {
        name.ends_with(".so") || name.contains(".so.") || name.ends_with(".dylib")
    });
    match () {
        () if !rule.contains("LINKER") => None,
        () if rule.contains("STATIC") => Some(LinkKind::Archive),
        () if rule.contains("SHARED") || rule.contains("MODULE") || shared => {
            Some(LinkKind::Shared)
        }
        () => Some(LinkKind::Program),
    }
}

/// The words of a build line, its colon a word of its own. `$ `, `$:` and `$$` are the characters themselves.
fn words(line: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let mut colon = false;
    let mut chars = line.chars();
    while let Some(c) = chars.next() {
        match c {
            '$' => {
                if let Some(next) = chars.next()
                    && let Some(word) = words.last_mut()
                {
                    word.push(next);
                }
            }
            ' ' => words.push(String::new()),
            ':' if !colon => {
                colon = true;
                words.extend([":".to_owned(), String::new()]);
            }
            _ => {
                if let Some(word) = words.last_mut() {
                    word.push(c);
                }
            }
        }
    }
    words.retain(|word| !word.is_empty());
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    fn record(kind: LinkKind, output: &str, inputs: &[&str]) -> Record {
        Record {
            kind,
            output: Path::new("/b").join(output),
            inputs: inputs
                .iter()
                .map(|input| Path::new("/b").join(input))
                .collect(),
        }
    }

    #[test]
    fn the_links_of_a_ninja_file_are_those_of_rules_for_linking() {
        let text = "rule c_LINKER\n command = cc\n\n\
            build sub/a$ b.c.o: c_COMPILER ../a$ b.c || order\n\
            build libx.a: STATIC_LINKER sub/a$ b.c.o $\n  sub/c.c.o\n\
            build liby.so.1 | liby.so.1.p/sym: c_LINKER y.o\n\
            build liby.so: SYMLINK liby.so.1\n\
            build app$:1: C_EXECUTABLE_LINKER__app_Debug main.c.o | libx.a liby.so || phony\n\
             LINK_LIBRARIES = libx.a\n";
        assert_eq!(
            ninja(text, Path::new("/b")),
            [
                record(LinkKind::Archive, "libx.a", &["sub/a b.c.o", "sub/c.c.o"]),
                record(LinkKind::Shared, "liby.so.1", &["y.o"]),
                record(
                    LinkKind::Program,
                    "app:1",
                    &["main.c.o", "libx.a", "liby.so.1"]
                ),
            ]
        );
    }

    #[test]
    fn a_link_command_names_its_output_and_its_parts_in_their_order() {
        let folder = Path::new("/b");
        let of = |line: &str| command(line, folder);
        assert_eq!(
            of(
                "/usr/bin/cc -O2 CMakeFiles/a.dir/main.c.o -o app lib/libx.a -Wl,-rpath,/b -lm liby.so.1"
            ),
            Some(record(
                LinkKind::Program,
                "app",
                &["CMakeFiles/a.dir/main.c.o", "lib/libx.a", "liby.so.1"]
            ))
        );
        assert_eq!(
            of("/usr/bin/ar qc libx.a CMakeFiles/x.dir/a.c.o"),
            Some(record(
                LinkKind::Archive,
                "libx.a",
                &["CMakeFiles/x.dir/a.c.o"]
            ))
        );
        assert_eq!(of("/usr/bin/ranlib libx.a"), None);
        assert_eq!(
            of("cc -shared -o libx.so a.o").map(|record| record.kind),
            Some(LinkKind::Shared)
        );
    }
}
