//! Runs the real program: reports in each format, from a check and from the database, and compared with an earlier one.

use std::fs;
use std::path::Path;

use assert_cmd::Command;
use assert_cmd::assert::Assert;
use predicates::prelude::*;
use predicates::str::contains;
use serde_json::Value;
use tempfile::TempDir;

use crate::tools::missing;

/// A function that takes the lock twice.
const TWICE: &str = "\
void NAME(spinlock_t *lock)
{
	spin_lock(lock);
	if (lock->word < 3 && \"<b>&amp;</b>\")
		spin_lock(lock); /* <script>alert(1)</script> \u{1b}[31m */
	spin_unlock(lock);
}
";

const HEAD: &str = "\
typedef struct { int word; } spinlock_t;
void spin_lock(spinlock_t *lock);
void spin_unlock(spinlock_t *lock);
";

/// A file with these functions.
fn source(names: &[&str]) -> String {
    let functions = names.iter().map(|name| TWICE.replace("NAME", name));
    HEAD.to_owned() + &functions.collect::<String>()
}

/// A folder with the markup and terminal escapes in its name that some file has.
const HOSTILE: &str = "dir'\"<i>&\u{1b}[31m\u{202e}.c";

fn tree(files: &[(&str, String)]) -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    for (name, text) in files {
        fs::write(folder.path().join(name), text).unwrap();
    }
    folder
}

fn cassini(folder: &Path, arguments: &[&str]) -> Assert {
    let mut command = Command::cargo_bin("cassini").expect("the binary is built for this test");
    command.current_dir(folder).args(arguments).assert()
}

fn stdout(assert: Assert) -> String {
    String::from_utf8(assert.get_output().stdout.clone()).unwrap()
}

fn json(text: &str) -> Value {
    serde_json::from_str(text).unwrap()
}

const FORMATS: [&str; 5] = ["text", "json", "sarif", "html", "markdown"];

#[test]
fn a_report_from_the_database_is_the_checks_own() {
    let tree = tree(&[
        ("a.c", source(&["f", "g"])),
        ("bad.c", "int f( {\n".to_owned()),
    ]);
    let here = tree.path();
    for format in FORMATS {
        let checked = stdout(cassini(here, &["check", ".", "--format", format, "-q"]).code(1));
        let told = stdout(cassini(here, &["report", "--format", format]).code(0));
        assert_eq!(told, checked, "{format}");
        assert!(!told.is_empty(), "{format}");
        cassini(here, &["report", "--format", format, "-o", "report"])
            .code(0)
            .stdout("");
        assert_eq!(fs::read_to_string(here.join("report")).unwrap(), told);
    }
    cassini(here, &["check", ".", "--no-analysis"]).code(0);
    cassini(here, &["report"])
        .code(2)
        .stderr(contains("did not analyse: run `cassini check` again"));
}

#[test]
fn what_a_tree_holds_is_inert_in_every_format() {
    let tree = tree(&[(HOSTILE, source(&["f"]))]);
    let here = tree.path();
    let listed = stdout(cassini(here, &["check", ".", "--format", "json"]).code(1));
    let id = json(&listed)["findings"][0]["fingerprint"]
        .as_str()
        .unwrap()
        .to_owned();
    let note = "<script>\u{1b}]0;x\u{7} \u{202e} `_*[x](y)";
    cassini(here, &["triage", "set", &id, "bug", "--note", note]).code(0);
    let control = |c: &char| c.is_control() && *c != '\n' && *c != '\t' || *c == '\u{202e}';
    for format in FORMATS {
        let assert = cassini(here, &["check", ".", "--format", format]).code(1);
        let stderr = String::from_utf8(assert.get_output().stderr.clone()).unwrap();
        let told = stdout(assert);
        assert_eq!(told.chars().find(control), None, "{format}: {told}");
        assert_eq!(stderr.chars().find(control), None, "{format}: {stderr}");
        if format == "html" || format == "markdown" {
            let source = "&lt;script&gt;alert(1)&lt;/script&gt;";
            let fenced = "/* <script>alert(1)</script> ";
            // In a fence Markdown has no markup.
            assert!(told.contains(source) || told.contains(fenced), "{told}");
            let outside = told.replace(fenced, "");
            assert!(
                !outside.contains("<script") && !outside.contains("<i>"),
                "{told}"
            );
        }
    }
    for arguments in [
        &["triage", "list"][..],
        &["triage", "list", "--format", "csv"],
        &["triage", "list", "--format", "json"],
        &["triage", "export"],
        &["triage", "show", &id],
        &["query", "callees", "f"],
        &["query", "callers", "spin_lock"],
        &["query", "function", "f"],
        &["query", "frontend"],
        &["query", "sql", "SELECT file, message, trace FROM findings"],
        &["query", "function", "\u{1b}[31m"],
        &["query", "why", "\u{1b}[31m:1"],
    ] {
        let assert = cassini(here, arguments);
        for bytes in [&assert.get_output().stdout, &assert.get_output().stderr] {
            let told = String::from_utf8(bytes.clone()).unwrap();
            assert_eq!(told.chars().find(control), None, "{arguments:?}: {told}");
        }
    }
}

#[test]
fn a_baseline_tells_what_is_new_what_is_unchanged_and_what_is_fixed() {
    let tree = tree(&[("a.c", source(&["stays", "goes"]))]);
    let here = tree.path();
    cassini(here, &["check", ".", "--format", "json", "-o", "old.json"]).code(1);
    cassini(here, &["report", "--format", "sarif", "-o", "old.sarif"]).code(0);
    fs::remove_file(here.join("a.c")).unwrap();
    fs::write(here.join("b.c"), source(&["comes", "stays"])).unwrap();
    for old in ["old.json", "old.sarif"] {
        cassini(here, &["check", ".", "--baseline", old])
            .code(1)
            .stdout(contains("b.c:8").and(contains("b.c:15").not()))
            .stderr(contains("1 finding, not counting 1 of the baseline\n"));
        let baseline = ["report", "--baseline", old];
        cassini(here, &baseline).code(0).stdout(
            contains("b.c:8:3: error:")
                .and(contains("unchanged: b.c:15:3: "))
                .and(contains("fixed: a.c:15: ")),
        );
        let report = |format| {
            stdout(cassini(
                here,
                &[&baseline[..], &["--format", format]].concat(),
            ))
        };
        let told = json(&report("json"));
        let states: Vec<&str> = told["findings"]
            .as_array()
            .unwrap()
            .iter()
            .map(|f| f["state"].as_str().unwrap())
            .collect();
        assert_eq!(states, ["new", "unchanged"]);
        assert_eq!(told["fixed"][0]["function"], "goes");
        let told = json(&report("sarif"));
        let results = told["runs"][0]["results"].as_array().unwrap();
        let states: Vec<&str> = results
            .iter()
            .map(|r| r["baselineState"].as_str().unwrap())
            .collect();
        assert_eq!(states, ["new", "unchanged", "absent"]);
        for format in ["html", "markdown"] {
            assert!(
                report(format).contains("1 new, 1 unchanged, 1 fixed"),
                "{format}"
            );
        }
    }
    cassini(here, &["report", "--format", "json", "-o", "new.json"]).code(0);
    let arguments = ["check", ".", "--baseline", "new.json"];
    cassini(here, &arguments)
        .code(0)
        .stdout("")
        .stderr(contains("0 findings, not counting 2"));
    fs::write(
        here.join("foreign.sarif"),
        r#"{"runs":[{"results":[{"message":{"text":"x"}}]}]}"#,
    )
    .unwrap();
    cassini(here, &["report", "--baseline", "foreign.sarif"])
        .code(2)
        .stderr(contains("foreign.sarif is a SARIF report of another tool"));
}

/// Reads a schema and reports, and says which of these are not valid.
const VALIDATE: &str = "
import json, sys, jsonschema
schema = json.load(open(sys.argv[1]))
validator = jsonschema.validators.validator_for(schema)(schema)
wrong = [f'{name}: {error.json_path}: {error.message}' for name in sys.argv[2:]
         for error in validator.iter_errors(json.load(open(name)))]
print('\\n'.join(wrong))
sys.exit(len(wrong) > 0)
";

#[test]
fn sarif_reports_are_valid() {
    let tree = tree(&[
        (HOSTILE, source(&["f", "stays"])),
        ("bad.c", "#error no\n".to_owned()),
    ]);
    let here = tree.path();
    cassini(
        here,
        &[
            "check",
            ".",
            "--format",
            "sarif",
            "-o",
            "a.sarif",
            "--level",
            "explained",
        ],
    )
    .code(1);
    let text = fs::read_to_string(here.join("a.sarif")).unwrap();
    let log = json(&text);
    let run = &log["runs"][0];
    let result = &run["results"][0];
    let flow = result["codeFlows"][0]["threadFlows"][0]["locations"]
        .as_array()
        .unwrap();
    assert!(flow.len() > 1, "{text}");
    assert_eq!(
        flow[0]["location"]["physicalLocation"]["region"]["startLine"],
        6
    );
    let rule = result["ruleIndex"].as_u64().unwrap() as usize;
    assert_eq!(run["tool"]["driver"]["rules"][rule]["id"], result["ruleId"]);
    assert_eq!(result["suppressions"].as_array().unwrap().len(), 0);

    let id = result["partialFingerprints"]["cassiniFingerprint/v1"]
        .as_str()
        .unwrap();
    cassini(
        here,
        &["triage", "set", id, "false-positive", "--note", "why"],
    )
    .code(0);
    fs::write(here.join("new.c"), source(&["comes"])).unwrap();
    let ignored = source(&["quiet"]).replace(
        "</script> ",
        "</script> */ /* cassini: ignore lock/double-lock because so ",
    );
    fs::write(here.join("quiet.c"), ignored).unwrap();
    let arguments = [
        "check",
        ".",
        "--format",
        "sarif",
        "-o",
        "b.sarif",
        "--baseline",
        "a.sarif",
    ];
    cassini(here, &arguments).code(1);
    let log = json(&fs::read_to_string(here.join("b.sarif")).unwrap());
    let mut suppressed: Vec<&str> = Vec::new();
    for result in log["runs"][0]["results"].as_array().unwrap() {
        for suppression in result["suppressions"].as_array().unwrap() {
            suppressed.push(suppression["kind"].as_str().unwrap());
            suppressed.push(suppression["justification"].as_str().unwrap());
        }
    }
    suppressed.sort_unstable();
    assert!(
        suppressed.starts_with(&["external", "inSource"]),
        "{suppressed:?}"
    );
    assert_eq!(suppressed.last(), Some(&"why"));
    let schema =
        Path::new(env!("CARGO_MANIFEST_DIR")).join("testdata/sarif/sarif-schema-2.1.0.json");
    let python = std::process::Command::new("python3")
        .args(["-c", VALIDATE])
        .arg(schema)
        .args([here.join("a.sarif"), here.join("b.sarif")])
        .output();
    match python {
        Ok(output) if String::from_utf8_lossy(&output.stderr).contains("No module named") => {
            missing("jsonschema for python3");
        }
        Err(_) => missing("python3"),
        Ok(output) => {
            let told = String::from_utf8_lossy(&output.stdout);
            let error = String::from_utf8_lossy(&output.stderr);
            assert!(output.status.success(), "{told}{error}");
        }
    }
}
