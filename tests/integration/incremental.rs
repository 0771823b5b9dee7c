//! A run over an edited tree, with what earlier runs have left, reports what a run from scratch does.

use std::fs;
use std::path::Path;
use std::time::Duration;

use assert_cmd::Command;
use proptest::prelude::*;
use tempfile::TempDir;

const LOCK: &str = "\
typedef struct { int word; } spinlock_t;
void spin_lock(spinlock_t *lock);
void spin_unlock(spinlock_t *lock);
struct device { int state; spinlock_t lock; };
";

const API: &str = "\
#include <lock.h>
void take(struct device *dev);
static inline void leave(struct device *dev) { spin_unlock(&dev->lock); }
#define ENTER(dev) take(dev)
";

const TAKE: &str = "\
#include \"api.h\"
void take(struct device *dev)
{
	spin_lock(&dev->lock);
}
";

const USE: &str = "\
#include \"api.h\"
#if __has_include(<extra.h>)
#include <extra.h>
#else
#define EXTRA(dev) do { } while (0)
#endif
int probe(struct device *dev, int flag)
{
	ENTER(dev);
	if (flag)
		EXTRA(dev);
	leave(dev);
	return TWICE ? probe(dev, 0) : 0;
}
";

/// What a person might do to the tree; each is a file and the texts it may have. `None` is no file.
const EDITS: &[(&str, &[Option<&str>])] = &[
    ("second/api.h", &[Some(API)]),
    (
        "first/api.h",
        &[
            None,
            // Found first, and does not lock.
            Some(
                "#include <lock.h>\n#define ENTER(dev) do { } while (0)\n\
                 static inline void leave(struct device *dev) { dev->state = 0; }\n\
                 void take(struct device *dev);\n",
            ),
        ],
    ),
    (
        "second/extra.h",
        &[
            None,
            Some("#define EXTRA(dev) take(dev)\n"),
            Some("#define EXTRA(dev) return 1\n"),
        ],
    ),
    (
        "take.c",
        &[
            Some(TAKE),
            Some("#include \"api.h\"\nvoid take(struct device *dev)\n{\n\tdev->state++;\n}\n"),
            // The same, further down.
            Some(
                "#include \"api.h\"\nint first(void)\n{\n\treturn 1;\n}\n\nvoid take(struct device *dev)\n{\n\tspin_lock(&dev->lock);\n}\n",
            ),
        ],
    ),
    ("use.c", &[Some(USE)]),
    (
        "other.c",
        &[
            Some(
                "#include \"api.h\"\nvoid other(struct device *dev)\n{\n\ttake(dev);\n\ttake(dev);\n}\n",
            ),
            Some("int other;\n"),
        ],
    ),
];

fn commands(tree: &Path, twice: bool) -> String {
    let flags = format!("-Ifirst -Isecond -DTWICE={}", i32::from(twice));
    let command = |file: &str| {
        serde_json::json!({
            "directory": tree, "file": file, "command": format!("cc {flags} -c {file}")
        })
    };
    let commands = ["take.c", "use.c", "other.c"].map(command);
    serde_json::Value::from(commands.to_vec()).to_string()
}

fn write(path: &Path, text: Option<&str>) {
    match text {
        Some(text) => {
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        None => {
            let _ = fs::remove_file(path);
        }
    }
}

fn tree() -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    for (file, texts) in EDITS {
        write(&folder.path().join(file), texts[0]);
    }
    write(&folder.path().join("second/lock.h"), Some(LOCK));
    let commands = commands(folder.path(), false);
    write(
        &folder.path().join("compile_commands.json"),
        Some(&commands),
    );
    folder
}

fn report(tree: &Path, database: &Path) -> String {
    let mut command = Command::cargo_bin("cassini").expect("the binary is built for this test");
    command.arg("check").arg(tree).args(["-q", "--db"]);
    let output = command.arg(database).output().unwrap();
    assert!(matches!(output.status.code(), Some(0 | 1)), "{output:?}");
    String::from_utf8(output.stdout).unwrap()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 4, max_shrink_iters: 16, ..ProptestConfig::default() })]

    #[test]
    fn incremental_equals_scratch(
        edits in prop::collection::vec((0..EDITS.len() + 1, 0usize..6), 1..7)
    ) {
        let tree = tree();
        let tree = tree.path();
        let kept = tree.join(".cassini");
        for (edit, choice) in std::iter::once((0, 0)).chain(edits) {
            match EDITS.get(edit) {
                Some((file, texts)) => write(&tree.join(file), texts[choice % texts.len()]),
                None => {
                    let commands = commands(tree, choice % 2 == 0);
                    write(&tree.join("compile_commands.json"), Some(&commands));
                }
            }
            // What was written just now is not trusted to stay.
            std::thread::sleep(Duration::from_millis(20));
            let scratch = tempfile::tempdir().unwrap();
            let incremental = report(tree, &kept);
            prop_assert_eq!(&incremental, &report(tree, scratch.path()));
            prop_assert_eq!(&incremental, &report(tree, &kept), "again");
        }
    }
}

#[test]
fn the_edits_make_a_difference() {
    let tree = tree();
    let kept = tree.path().join(".cassini");
    let mut reports = vec![report(tree.path(), &kept)];
    for (file, text) in [
        (EDITS[2].0, EDITS[2].1[1]),
        (EDITS[1].0, EDITS[1].1[1]),
        (EDITS[3].0, EDITS[3].1[1]),
    ] {
        write(&tree.path().join(file), text);
        std::thread::sleep(Duration::from_millis(20));
        reports.push(report(tree.path(), &kept));
    }
    for pair in reports.windows(2) {
        assert_ne!(pair[0], pair[1]);
    }
}
