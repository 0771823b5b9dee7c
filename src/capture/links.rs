//! What a build links: programs, shared objects, relocatable objects and archives, and of which objects.
//!
//! In: the link records beside a compile_commands.json, and the outputs of its commands. Out: [`Link`]s, whose inputs are
//! compile commands and other links. A file that cannot be used is reported and passed over.
//!
//! `cassini capture` records links in a file named as the database, with `links.json` at its end: an array of
//! `{"kind": "program" | "shared" | "relocatable" | "archive", "output": "/path", "inputs": ["/path", …]}`, the inputs in
//! the order in which they are linked. An input is an object of a compile command (its `output`), a source file that is
//! compiled on the way, or the output of another record. What CMake and meson leave beside their databases is read if there is
//! no such file ([`super::generated`]).

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use serde::Deserialize;

use super::compile_commands::Moved;
use super::tree::normalise;
use super::{CompileCommand, Problem, Severity, Tree, generated};
use crate::source::read_regular;

/// Bytes of a file of links.
const LIMIT: u64 = 1 << 30;

/// A file that a build links of others.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Link {
    pub kind: LinkKind,
    /// The output as reports name it: relative to the tree if it lies there.
    pub name: String,
    /// In the order in which they are linked.
    pub inputs: Vec<LinkInput>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum LinkKind {
    Program,
    Shared,
    /// One object made of others, as a kernel's modules are.
    Relocatable,
    Archive,
}

/// A part of a [`Link`], by its number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum LinkInput {
    /// One of [`super::Capture::commands`].
    Unit(usize),
    /// One of [`super::Capture::links`].
    Link(usize),
}

/// Gives the units in links other numbers; those that are gone are left out.
pub fn renumber(links: &mut [Link], numbers: &[Option<usize>]) {
    for link in links {
        let inputs = link.inputs.iter().filter_map(|input| match *input {
            LinkInput::Unit(unit) => numbers[unit].map(LinkInput::Unit),
            LinkInput::Link(link) => Some(LinkInput::Link(link)),
        });
        link.inputs = inputs.collect();
    }
}

/// A link as it is recorded.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub(super) struct Record {
    pub kind: LinkKind,
    pub output: PathBuf,
    pub inputs: Vec<PathBuf>,
}

/// The compile commands of a database, by what they make and of what.
#[derive(Debug, Default)]
pub(super) struct Objects {
    /// The commands by their outputs. Of several that write one file the last counts.
    pub outputs: HashMap<PathBuf, usize>,
    pub moved: Option<Moved>,
}

/// Reads the links beside a database.
pub(super) fn read(
    database: &Path,
    tree: &Tree,
    commands: &[CompileCommand],
    objects: &Objects,
    problems: &mut Vec<Problem>,
) -> Vec<Link> {
    let file = database.with_extension("links.json");
    let records = match read_regular(&file, LIMIT) {
        Ok(text) => match serde_json::from_slice::<Vec<Record>>(&text) {
            Ok(records) => records,
            Err(error) => {
                let message =
                    format!("passed over: {error}; which objects are linked with which is guessed");
                problems.push(Problem::about(Severity::Warning, &file, message));
                return Vec::new();
            }
        },
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
            generated::records(database, objects.outputs.keys().map(PathBuf::as_path))
        }
        Err(error) => {
            problems.push(Problem::about(Severity::Warning, &file, error.to_string()));
            return Vec::new();
        }
    };
    let here = database.parent().unwrap_or(Path::new("/"));
    let place = |path: &Path| {
        let moved = match (&objects.moved, path.to_str()) {
            (Some(moved), Some(text)) => PathBuf::from(moved.replace(text)),
            _ => path.to_owned(),
        };
        normalise(&here.join(moved))
    };
    let records = records.into_iter().map(|record| Record {
        kind: record.kind,
        output: place(&record.output),
        inputs: record.inputs.iter().map(|input| place(input)).collect(),
    });
    resolve(records.collect(), tree, commands, &objects.outputs)
}

/// Finds the inputs among commands and records. What is neither, as the C library, is left out.
fn resolve(
    records: Vec<Record>,
    tree: &Tree,
    commands: &[CompileCommand],
    outputs: &HashMap<PathBuf, usize>,
) -> Vec<Link> {
    // A file that was linked again is what it was in the end.
    let mut last: HashMap<&Path, usize> = HashMap::new();
    for (index, record) in records.iter().enumerate() {
        last.insert(&record.output, index);
    }
    let mut kept: Vec<usize> = last.into_values().collect();
    kept.sort_unstable();
    let number: HashMap<&Path, usize> = kept
        .iter()
        .enumerate()
        .map(|(number, index)| (records[*index].output.as_path(), number))
        .collect();
    // A library is linked by a name that may be a link to the file which was made: `libx.so` to `libx.so.1.2`.
    let mut by_content: HashMap<PathBuf, usize> = HashMap::new();
    let mut by_stem: HashMap<&Path, Option<usize>> = HashMap::new();
    for (output, number) in &number {
        if let Ok(path) = output.canonicalize() {
            by_content.insert(path, *number);
        }
        if let Some(stem) = unversioned(output) {
            let one = by_stem.entry(stem).or_insert(Some(*number));
            *one = one.filter(|known| known == number);
        }
    }
    let mut sources: HashMap<&Path, usize> = HashMap::new();
    for (index, command) in commands.iter().enumerate() {
        sources.entry(&command.source).or_insert(index);
    }
    let input = |path: &PathBuf, output: &PathBuf| {
        let link = || {
            let exact = number.get(path.as_path()).copied();
            let same = || by_content.get(&path.canonicalize().ok()?).copied();
            let versioned = || by_stem.get(path.as_path()).copied().flatten();
            exact.or_else(same).or_else(versioned).map(LinkInput::Link)
        };
        // A source that is compiled and linked in one go: its command may say that it makes the program.
        let source = || {
            let by_output = outputs
                .get(output)
                .filter(|&&at| commands[at].source == *path);
            let unit = by_output.or_else(|| sources.get(path.as_path()));
            unit.copied().map(LinkInput::Unit)
        };
        let object = outputs.get(path).copied().map(LinkInput::Unit);
        object.or_else(link).or_else(source)
    };
    let links = kept.iter().map(|&index| {
        let Record {
            kind,
            output,
            inputs,
        } = &records[index];
        Link {
            kind: *kind,
            name: tree.name_path(output).shown,
            inputs: inputs
                .iter()
                .filter_map(|path| input(path, output))
                .collect(),
        }
    });
    links.collect()
}

/// `/x/liba.so` for `/x/liba.so.1.2`.
fn unversioned(path: &Path) -> Option<&Path> {
    let text = path.to_str()?;
    let end = text.rfind(".so.")? + ".so".len();
    Some(Path::new(&text[..end]))
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;
    use crate::capture::{Capture, Options, capture};

    /// A tree with files and a database of these entries, and what is linked there.
    fn captured(files: &[&str], entries: &str, links: &str) -> (tempfile::TempDir, Capture) {
        let folder = tempfile::tempdir().unwrap();
        for file in files {
            let file = folder.path().join(file);
            fs::create_dir_all(file.parent().unwrap()).unwrap();
            fs::write(file, "").unwrap();
        }
        let here = folder.path().to_str().unwrap().to_owned();
        let database = folder.path().join("compile_commands.json");
        fs::write(&database, entries.replace("HERE", &here)).unwrap();
        let links = links.replace("HERE", &here);
        fs::write(folder.path().join("compile_commands.links.json"), links).unwrap();
        let captured = capture(&Options::of(folder.path()).unwrap()).unwrap();
        (folder, captured)
    }

    const ENTRIES: &str = r#"[
        {"directory": "HERE/lib", "file": "a.c", "command": "cc -c a.c", "output": "a.o"},
        {"directory": "HERE", "file": "main.c", "command": "cc main.c -o prog -Lx", "output": "prog"},
        {"directory": "HERE", "file": "b.c", "command": "cc -c b.c -o obj/b.o"}]"#;

    #[test]
    fn inputs_are_found_by_outputs_sources_and_the_names_of_libraries() {
        let links = r#"[
            {"kind": "archive", "output": "HERE/libx.a", "inputs": ["HERE/gone.o"]},
            {"kind": "archive", "output": "HERE/libx.a", "inputs": ["HERE/lib/a.o"]},
            {"kind": "shared", "output": "HERE/liby.so.1.2", "inputs": ["HERE/obj/b.o"]},
            {"kind": "program", "output": "HERE/prog",
             "inputs": ["HERE/main.c", "HERE/libx.a", "HERE/liby.so", "/usr/lib/libc.so"]}]"#;
        let (_folder, captured) = captured(&["lib/a.c", "main.c", "b.c"], ENTRIES, links);
        assert!(captured.problems.is_empty(), "{:?}", captured.problems);
        let shown: Vec<_> = captured
            .links
            .iter()
            .map(|link| link.name.as_str())
            .collect();
        assert_eq!(shown, ["libx.a", "liby.so.1.2", "prog"]);
        assert_eq!(captured.links[0].inputs, [LinkInput::Unit(0)]);
        assert_eq!(captured.links[1].inputs, [LinkInput::Unit(2)]);
        let inputs = [LinkInput::Unit(1), LinkInput::Link(0), LinkInput::Link(1)];
        assert_eq!(captured.links[2].inputs, inputs);
        assert_eq!(captured.links[2].kind, LinkKind::Program);
    }

    #[test]
    fn a_broken_file_of_links_is_told_and_passed_over() {
        for links in ["[{\"kind\": \"program\"}]", "[", "{}", ""] {
            let (_folder, captured) = captured(&["lib/a.c", "main.c", "b.c"], ENTRIES, links);
            assert_eq!(captured.commands.len(), 3);
            assert!(captured.links.is_empty());
            let problem = captured.problems[0].to_string();
            assert!(
                problem.contains("links.json: warning: passed over"),
                "{problem}"
            );
        }
    }

    #[test]
    fn the_links_of_a_tree_that_has_moved_are_read_as_of_here() {
        let moved = |text: &str| text.replace("HERE", "/gone/w");
        let links = r#"[{"kind": "program", "output": "HERE/prog", "inputs": ["HERE/main.c", "HERE/lib/a.o"]}]"#;
        let files = ["lib/a.c", "main.c", "b.c"];
        let (_folder, captured) = captured(&files, &moved(ENTRIES), &moved(links));
        assert_eq!(captured.links[0].name, "prog");
        let inputs = [LinkInput::Unit(1), LinkInput::Unit(0)];
        assert_eq!(captured.links[0].inputs, inputs);
    }
}
