//! The modules of `src/` use each other in one direction only.
//!
//! Reads the tokens of every source file, tests included, for paths that begin at the crate's root
//! (`crate::…`, or enough `super::`) and holds the modules that they lead to against [`MODULES`].

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use proc_macro2::{Delimiter, TokenStream, TokenTree};

/// Every module of the crate's root, lowest first, and what it may use: only modules above it in this list, so that
/// there can be no circle.
const MODULES: &[(&str, &[&str])] = &[
    ("ir", &[]),
    ("source", &[]),
    // Programs and temporary folders of the process.
    ("leftovers", &[]),
    ("cpu_time", &[]),
    ("panics", &[]),
    ("capture", &["source", "leftovers"]),
    ("finding", &["ir"]),
    ("frontend", &["ir"]),
    // Functions, and which function a call means: by what the build links ([`capture`]), or a guess.
    ("program", &["ir", "capture", "frontend"]),
    ("property", &["finding"]),
    // What people say of findings. Neither the database nor how reports look.
    ("triage", &["source", "finding"]),
    // Neither summaries nor checkers' files: what is asked of callees is a trait of its own.
    ("symbolic", &["ir", "finding", "property"]),
    ("sat", &["symbolic"]),
    ("summary", &["ir", "finding", "property", "symbolic", "sat"]),
    // Executes the IR itself: of the symbolic side only terms and the solver.
    ("concurrency", &["ir", "finding", "symbolic", "sat"]),
    (
        "judge",
        &[
            "ir", "finding", "frontend", "program", "property", "symbolic", "sat", "summary",
        ],
    ),
    // Knows nothing of judges, machines' rules and the database.
    (
        "filter",
        &["ir", "cpu_time", "finding", "property", "symbolic", "sat"],
    ),
    // Reads records, and no execution.
    (
        "settle",
        &[
            "ir", "source", "finding", "frontend", "program", "property", "symbolic", "summary",
            "judge",
        ],
    ),
    (
        "engine",
        &[
            "ir", "cpu_time", "panics", "finding", "frontend", "program", "property", "symbolic",
            "sat", "summary", "judge", "filter",
        ],
    ),
    (
        "store",
        &[
            "ir",
            "leftovers",
            "capture",
            "finding",
            "frontend",
            "program",
            "property",
            "symbolic",
            "summary",
            "judge",
            "settle",
            "engine",
            "triage",
        ],
    ),
    // Not the database: what is shown is handed in.
    (
        "report",
        &[
            "ir", "source", "finding", "program", "property", "symbolic", "summary", "judge",
            "engine", "triage",
        ],
    ),
    // A whole run, from a tree to its findings.
    (
        "run",
        &[
            "ir",
            "source",
            "cpu_time",
            "panics",
            "capture",
            "finding",
            "frontend",
            "program",
            "property",
            "summary",
            "concurrency",
            "judge",
            "settle",
            "engine",
            "store",
            "report",
            "triage",
        ],
    ),
    // Answers about the last run, for the command line and the web page alike.
    (
        "query",
        &[
            "source", "ir", "finding", "property", "symbolic", "summary", "judge", "engine",
            "store", "triage", "report", "run",
        ],
    ),
    // Neither the command line nor what an analysis is made of: answers, as pages.
    (
        "web",
        &[
            "source", "ir", "finding", "property", "summary", "engine", "store", "triage",
            "report", "run", "query",
        ],
    ),
    // The editor's view: the same, without pages.
    (
        "lsp",
        &[
            "source", "finding", "store", "triage", "report", "run", "query",
        ],
    ),
    (
        "cli",
        &[
            "ir",
            "source",
            "leftovers",
            "capture",
            "finding",
            "frontend",
            "program",
            "property",
            "symbolic",
            "sat",
            "summary",
            "concurrency",
            "judge",
            "engine",
            "store",
            "report",
            "run",
            "triage",
            "query",
            "web",
            "lsp",
        ],
    ),
];

/// Uses against the direction that are known: file, module, why.
const KNOWN: &[(&str, &str, &str)] = &[];

/// One mention of a module of the crate's root.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Mention {
    line: usize,
    module: String,
}

/// The modules of the crate's root that a file mentions, which is itself so many modules below the root.
fn mentions(text: &str, depth: usize) -> Vec<Mention> {
    let tokens: TokenStream = text.parse().expect("Rust");
    let mut found = Vec::new();
    collect(tokens, depth, &mut found);
    found
}

fn collect(tokens: TokenStream, depth: usize, found: &mut Vec<Mention>) {
    let tokens: Vec<TokenTree> = tokens.into_iter().collect();
    let mut at = 0;
    while at < tokens.len() {
        if let Some((ups, after)) = start(&tokens, at)
            && ups.is_none_or(|ups| ups >= depth)
        {
            at = after;
            match tokens.get(at) {
                Some(TokenTree::Group(group)) if group.delimiter() == Delimiter::Brace => {
                    firsts(group.stream(), found);
                }
                Some(TokenTree::Ident(module)) => found.push(Mention {
                    line: module.span().start().line,
                    module: module.to_string(),
                }),
                _ => {}
            }
        } else if let TokenTree::Group(group) = &tokens[at] {
            let module = at >= 2 && is(&tokens[at - 2], "mod");
            collect(group.stream(), depth + usize::from(module), found);
        }
        at += 1;
    }
}

/// Where a path that begins with `crate::` (`None`) or so many `super::` goes on.
fn start(tokens: &[TokenTree], at: usize) -> Option<(Option<usize>, usize)> {
    let next = |word, at: usize| {
        let colon =
            |at: usize| matches!(tokens.get(at), Some(TokenTree::Punct(p)) if p.as_char() == ':');
        (is(tokens.get(at)?, word) && colon(at + 1) && colon(at + 2)).then_some(at + 3)
    };
    if let Some(after) = next("crate", at) {
        return Some((None, after));
    }
    let mut after = at;
    let mut ups = 0;
    while let Some(further) = next("super", after) {
        (after, ups) = (further, ups + 1);
    }
    (ups > 0).then_some((Some(ups), after))
}

fn is(token: &TokenTree, word: &str) -> bool {
    matches!(token, TokenTree::Ident(ident) if ident == word)
}

/// The first name of each path in `{a::b, c}`.
fn firsts(group: TokenStream, found: &mut Vec<Mention>) {
    let mut first = true;
    for token in group {
        match &token {
            TokenTree::Ident(module) if first => found.push(Mention {
                line: module.span().start().line,
                module: module.to_string(),
            }),
            _ => {}
        }
        first = matches!(&token, TokenTree::Punct(p) if p.as_char() == ',');
    }
}

fn source_files(folder: &Path, files: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            source_files(&path, files);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            files.push(path);
        }
    }
}

/// The path of a file's module, `[engine, settlement, met]`; none of `lib.rs` and `main.rs`.
fn module_path(file: &Path) -> Vec<String> {
    let mut path: Vec<String> = file
        .with_extension("")
        .iter()
        .map(|part| part.to_string_lossy().into_owned())
        .collect();
    if path.last().is_some_and(|last| last == "mod") {
        path.pop();
    }
    match path.as_slice() {
        [root] if root == "lib" || root == "main" => Vec::new(),
        _ => path,
    }
}

/// The modules of the crate's root, as `lib.rs` declares them.
fn declared(source: &Path) -> BTreeSet<String> {
    let text = fs::read_to_string(source.join("lib.rs")).unwrap();
    let tokens: TokenStream = text.parse().unwrap();
    let tokens: Vec<TokenTree> = tokens.into_iter().collect();
    let pairs = tokens.windows(2).filter(|pair| is(&pair[0], "mod"));
    pairs.map(|pair| pair[1].to_string()).collect()
}

#[test]
fn the_list_of_modules_is_whole_and_goes_upwards() {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let listed: BTreeSet<String> = MODULES.iter().map(|(name, _)| (*name).to_owned()).collect();
    assert_eq!(listed, declared(&source));
    for (index, (module, uses)) in MODULES.iter().enumerate() {
        for used in *uses {
            let below = MODULES[..index].iter().any(|(name, _)| name == used);
            assert!(below, "{module} may not use {used}, which is not below it");
        }
    }
}

#[test]
fn modules_use_what_is_below_them() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let source = root.join("src");
    let modules: BTreeMap<&str, &[&str]> = MODULES.iter().copied().collect();
    let mut files = Vec::new();
    source_files(&source, &mut files);
    files.sort();
    let mut wrong = Vec::new();
    let mut needed = BTreeSet::new();
    for file in files {
        let path = module_path(file.strip_prefix(&source).unwrap());
        let Some(own) = path.first() else { continue };
        let name = file.strip_prefix(root).unwrap().display().to_string();
        let text = fs::read_to_string(&file).unwrap();
        for Mention { line, module } in mentions(&text, path.len()) {
            // Macros and the like stand at the root, too.
            let allowed = modules[own.as_str()];
            if module == *own || !modules.contains_key(&*module) || allowed.contains(&&*module) {
                continue;
            }
            let known = |(file, used, _): &&(&str, &str, &str)| *file == name && *used == module;
            match KNOWN.iter().find(known) {
                Some(entry) => _ = needed.insert(entry),
                None => wrong.push(format!("{name}:{line}: {own} may not use {module}")),
            }
        }
    }
    for entry in KNOWN.iter().filter(|entry| !needed.contains(entry)) {
        wrong.push(format!(
            "{} no longer uses {}: take it out of KNOWN",
            entry.0, entry.1
        ));
    }
    assert!(wrong.is_empty(), "\n{}", wrong.join("\n"));
}

#[test]
fn mentions_are_found_wherever_they_stand() {
    let text = r#"
//! Not [`crate::comment`].
use crate::one::Thing;
pub(crate) use super::super::two::{a, b};
use super::sibling;
use crate::{
    three::{c, d},
    four,
};
fn f() -> String {
    let text = "crate::string";
    format!("{}", crate::five::g(text))
}
mod tests {
    use super::super::inner;
    use super::super::super::six;
}
"#;
    let found = mentions(text, 2);
    let found: Vec<(usize, &str)> = found.iter().map(|m| (m.line, &*m.module)).collect();
    assert_eq!(
        found,
        [
            (3, "one"),
            (4, "two"),
            (7, "three"),
            (8, "four"),
            (12, "five"),
            (16, "six")
        ]
    );
}

#[test]
fn modules_of_files() {
    let path = |file: &str| module_path(Path::new(file)).join("::");
    assert_eq!(path("lib.rs"), "");
    assert_eq!(path("finding.rs"), "finding");
    assert_eq!(path("engine/mod.rs"), "engine");
    assert_eq!(
        path("judge/obligation/collect.rs"),
        "judge::obligation::collect"
    );
}
