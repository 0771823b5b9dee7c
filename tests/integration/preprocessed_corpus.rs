//! Measures the front end on a folder of preprocessed files, named by `CASSINI_PREPROCESSED`; without
//! it there is nothing to do. Prints what does not parse and how long each step takes.

use std::collections::{BTreeMap, HashSet};
use std::time::{Duration, Instant};

use cassini::frontend::outline::Form;
use cassini::frontend::scope::{Scope, UnitScope};
use cassini::frontend::share::Share;
use cassini::frontend::split::{SourceFile, Tree, split};

struct Everything;

impl Tree for Everything {
    fn file(&self, marker: &str) -> SourceFile {
        SourceFile {
            name: marker.to_owned(),
            own: false,
        }
    }
}

#[test]
fn every_declaration_of_the_corpus_parses() {
    let Some(folder) = std::env::var_os("CASSINI_PREPROCESSED") else {
        return;
    };
    let mut files: Vec<_> = std::fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .collect();
    files.sort();
    let all = std::env::var_os("CASSINI_PARSE_NOTHING").is_none();
    std::thread::Builder::new()
        .stack_size(512 << 20)
        .spawn(move || measure(&files, all))
        .unwrap()
        .join()
        .unwrap();
}

fn measure(files: &[std::path::PathBuf], all: bool) {
    let share = Share::new();
    let (mut bytes, mut declarations, mut functions) = (0, 0, 0);
    let (mut splitting, mut outlining, mut parsing) =
        (Duration::ZERO, Duration::ZERO, Duration::ZERO);
    let mut seen = HashSet::new();
    let (mut parsed, mut parsed_functions, mut failed, mut failed_functions) = (0, 0, 0, 0);
    let mut reasons: BTreeMap<String, (u32, String)> = BTreeMap::new();
    for path in files {
        let text = std::fs::read(path).unwrap();
        bytes += text.len();
        let start = Instant::now();
        let pieces = split(&text, "main.c", &Everything);
        splitting += start.elapsed();
        for (file, line, reason) in &pieces.losses {
            println!("{}: {file} {line}: {}", path.display(), reason.message);
        }
        let start = Instant::now();
        let scope = UnitScope::new(&share, &text, pieces);
        outlining += start.elapsed();
        let start = Instant::now();
        for id in scope.ids() {
            let outline = scope.outline(id).unwrap();
            declarations += 1;
            functions += u32::from(outline.form == Form::Function);
            if !all || outline.form == Form::Inert || !seen.insert(scope.full_key(id)) {
                continue;
            }
            let result = if outline.form == Form::Function {
                parsed_functions += 1;
                let prototype = scope.declaration(id).map(drop);
                scope.definition(id).map(drop).and(prototype)
            } else {
                parsed += 1;
                scope.declaration(id).map(drop)
            };
            if let Err(reason) = result {
                failed += 1;
                failed_functions += u32::from(outline.form == Form::Function);
                let piece = scope.piece(id).unwrap();
                let text = &text[piece.start as usize..piece.end as usize];
                let example = format!(
                    "{}:{}: {}",
                    scope.file(id).unwrap().name,
                    piece.line,
                    String::from_utf8_lossy(&text[..text.len().min(1500)])
                );
                reasons.entry(reason.message).or_insert((0, example)).0 += 1;
            }
        }
        parsing += start.elapsed();
    }
    for (reason, (count, example)) in &reasons {
        println!("{count} × {reason}\n{example}\n");
    }
    println!(
        "{} files, {} MB, {declarations} declarations, {functions} function definitions",
        files.len(),
        bytes / 1_000_000
    );
    println!(
        "distinct: {parsed} declarations, {parsed_functions} definitions; failed {failed}, of those definitions {failed_functions}"
    );
    println!("split {splitting:?}, outline and scope {outlining:?}, parse {parsing:?}");
    println!(
        "split at {:.0} MB/s",
        bytes as f64 / 1e6 / splitting.as_secs_f64()
    );
    assert!(functions > 0, "the corpus has no functions");
    assert_eq!(failed, 0, "declarations did not parse");
}

/// Own files are those in neither the system's nor the kernel's include folders.
struct KernelTree;

impl Tree for KernelTree {
    fn file(&self, marker: &str) -> SourceFile {
        let name = marker.strip_prefix("./").unwrap_or(marker);
        SourceFile {
            own: !name.starts_with("/usr/")
                && !name.starts_with("include/")
                && !name.starts_with("arch/")
                && !name.starts_with('<'),
            name: name.to_owned(),
        }
    }
}

#[derive(Default)]
struct Counter {
    bodies: std::sync::Mutex<HashSet<cassini::frontend::BodyKey>>,
}

impl cassini::frontend::unit::BodyStore for Counter {
    fn put(&self, key: &cassini::frontend::BodyKey, _body: &cassini::ir::Body) {
        self.bodies.lock().unwrap().insert(*key);
    }
}

#[test]
fn every_function_of_the_corpus_lowers() {
    use cassini::frontend::unit::{FrontEnd, UnitSource};
    let Some(folder) = std::env::var_os("CASSINI_PREPROCESSED") else {
        return;
    };
    let mut files: Vec<_> = std::fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .collect();
    files.sort();
    let front_end = FrontEnd::new();
    let store = Counter::default();
    let (mut own, mut reached, mut failed) = (0, 0, 0);
    let mut reasons: BTreeMap<String, (u32, String)> = BTreeMap::new();
    let start = Instant::now();
    for path in &files {
        let text = std::fs::read(path).unwrap();
        let name = path
            .file_stem()
            .unwrap()
            .to_string_lossy()
            .replace("__", "/")
            + ".c";
        let index = front_end.unit(
            &UnitSource {
                source: &name,
                text: &text,
                tree: &KernelTree,
                tree_key: [0; 32],
            },
            &store,
        );
        for function in &index.functions {
            own += u32::from(function.own);
            reached += u32::from(!function.own);
            failed += u32::from(function.body.is_err());
        }
        for loss in index.losses {
            let place = format!("{}:{} {:?}", loss.file, loss.line, loss.name);
            reasons.entry(loss.reason.message).or_insert((0, place)).0 += 1;
        }
    }
    for (reason, (count, example)) in &reasons {
        println!("{count} × {reason}: {example}");
    }
    println!(
        "{own} own functions, {reached} reached, {failed} failed, {} bodies, {:?}",
        store.bodies.lock().unwrap().len(),
        start.elapsed()
    );
    assert!(own > 0, "the corpus has no functions");
    assert_eq!(failed, 0, "functions were not lowered");
}
