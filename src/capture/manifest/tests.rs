use std::fs;
use std::time::Duration;

use parking_lot::Mutex;
use tempfile::TempDir;

use super::*;
use crate::capture::{Options, Preprocessor, capture};

/// An archive in memory.
#[derive(Default)]
struct Memory {
    states: Mutex<Vec<(StateId, State)>>,
    manifests: Mutex<Vec<(CommandKey, Manifest)>>,
}

impl Archive for Memory {
    fn load(&self) -> Archived {
        Archived {
            states: self.states.lock().clone(),
            manifests: self.manifests.lock().clone(),
        }
    }

    fn put_state(&self, id: StateId, state: &State) {
        self.states.lock().push((id, state.clone()));
    }

    fn put_manifest(&self, key: &CommandKey, manifest: &Manifest) {
        let mut manifests = self.manifests.lock();
        manifests.retain(|(known, _)| known != key);
        manifests.push((*key, manifest.clone()));
    }

    fn forget(&self, manifests: &[CommandKey], states: &[StateId]) {
        let mut kept = self.manifests.lock();
        kept.retain(|(key, _)| !manifests.contains(key));
        self.states.lock().retain(|(id, _)| !states.contains(id));
    }
}

/// A tree with one unit, `src/a.c`, and what was kept of it.
struct World {
    folder: TempDir,
    archive: Memory,
}

impl World {
    fn new(flags: &str, files: &[(&str, &str)]) -> World {
        let folder = tempfile::tempdir().unwrap();
        let database = format!(
            r#"[{{"file": "src/a.c", "directory": {:?}, "command": "cc {flags} -c src/a.c"}}]"#,
            folder.path()
        );
        let world = World {
            folder,
            archive: Memory::default(),
        };
        for (name, text) in files {
            world.write(name, text);
        }
        world.write("compile_commands.json", &database);
        world
    }

    fn write(&self, name: &str, text: &str) {
        let path = self.folder.path().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    fn remove(&self, name: &str) {
        fs::remove_file(self.folder.path().join(name)).unwrap();
    }

    /// A run: whether the unit's text is known to be the same; if not, it is preprocessed.
    fn run(&self) -> bool {
        // So that what the test has just written is older than the run.
        std::thread::sleep(Duration::from_millis(20));
        let capture = capture(&Options::of(self.folder.path()).unwrap()).unwrap();
        let command = &capture.commands[0];
        let preprocessor = Preprocessor::new(&capture.tree, Vec::new());
        let Some(key) = preprocessor.key(command) else {
            return false;
        };
        let manifests = Manifests::load(&capture.tree, &self.archive, &[key]);
        if manifests.unchanged(&key).is_some() {
            return true;
        }
        if let Ok(preprocessed) = preprocessor.preprocess(command) {
            manifests.record(&key, command, &preprocessed, [7; 32]);
        }
        false
    }

    /// Runs until nothing is new, which takes one run.
    fn settle(&self) {
        self.run();
        assert!(self.run(), "nothing has changed");
    }
}

const FILES: &[(&str, &str)] = &[
    ("src/a.c", "#include <x/h.h>\n#include \"q.h\"\n"),
    ("second/x/h.h", "#include \"inner.h\"\n"),
    ("second/x/inner.h", "int inner;\n"),
    ("second/q.h", "int q;\n"),
];

#[test]
fn a_change_of_any_file_that_was_read_is_seen() {
    let world = World::new("-Ifirst -Isecond", FILES);
    assert!(!world.run());
    for (name, text) in FILES {
        world.settle();
        world.write(name, &format!("{text}int more;\n"));
        assert!(!world.run(), "{name}");
        world.settle();
        // The text is what counts.
        world.write(name, &format!("{text}int more;\n"));
        assert!(world.run(), "{name} was only written again");
    }
}

#[test]
fn a_header_that_comes_to_be_found_first_is_seen() {
    let world = World::new("-Ifirst -Isecond", FILES);
    for new in [
        // Neither the folder nor the one above it was there.
        "first/x/h.h",
        "first/q.h",
        "src/q.h",
    ] {
        world.settle();
        world.write(new, "int found_first;\n");
        assert!(!world.run(), "{new}");
        world.settle();
        world.remove(new);
        assert!(!world.run(), "{new} is gone");
    }
    world.settle();
    for other in ["first/y.h", "src/other.c", "second/x/unrelated.h"] {
        world.write(other, "int unrelated;\n");
    }
    assert!(world.run(), "nobody asks for the others");
}

#[test]
fn a_header_that_is_deleted_is_seen() {
    let world = World::new("-Ifirst -Isecond", FILES);
    world.settle();
    world.remove("second/x/inner.h");
    assert!(!world.run());
}

#[test]
fn a_header_that_was_asked_for_and_not_there_is_seen_when_it_comes() {
    let text = "#if __has_include(<opt/feature.h>)\nint with;\n#endif\n";
    let world = World::new("-Iinclude", &[("src/a.c", text)]);
    world.settle();
    world.write("include/opt/feature.h", "");
    assert!(!world.run());
    world.settle();
    world.remove("include/opt/feature.h");
    assert!(!world.run());
}

#[test]
fn what_a_stand_in_was_made_of_is_part_of_the_text() {
    let world = World::new("-Iinclude", &[("src/a.c", "#include \"config.h\"\n")]);
    world.settle();
    world.write("config.h.in", "#undef PACKAGE\n");
    assert!(!world.run(), "there is a template now");
    world.settle();
    world.write("config.h.in", "#undef VERSION\n");
    assert!(!world.run(), "the template has changed");
    world.settle();
    world.write("include/config.h", "int real;\n");
    assert!(!world.run(), "the header itself is there");
}

#[test]
fn a_header_named_by_a_macro_is_looked_for_like_any_other() {
    let world = World::new(
        "-Ifirst -Isecond -DWHICH='<deep/w.h>'",
        &[
            ("src/a.c", "#include WHICH\n"),
            ("second/deep/w.h", "int second;\n"),
        ],
    );
    world.settle();
    world.write("first/deep/w.h", "int first;\n");
    assert!(!world.run());
}

#[test]
fn headers_that_the_command_includes_count() {
    let files = [("src/a.c", "int a;\n"), ("inc/k.h", "int k;\n")];
    let world = World::new("-include k.h -Iinc", &files);
    world.settle();
    world.write("inc/k.h", "int other;\n");
    assert!(!world.run());
    world.settle();
    world.write("k.h", "int nearer;\n");
    assert!(!world.run());
}

#[test]
fn another_command_is_another_unit() {
    let world = World::new("-DA=1", &[("src/a.c", "int a = A;\n")]);
    world.settle();
    let file = world.folder.path().join("compile_commands.json");
    let edited = fs::read_to_string(&file).unwrap().replace("-DA=1", "-DA=2");
    fs::write(&file, edited).unwrap();
    assert!(!world.run());
    world.settle();
}

#[test]
fn what_tells_the_time_or_reads_unseen_files_is_preprocessed_again() {
    for (flags, text) in [
        ("", "const char *built = __TIMESTAMP__;\n"),
        ("-imacros src/m.h", "int a = M;\n"),
    ] {
        let world = World::new(flags, &[("src/a.c", text), ("src/m.h", "#define M 1\n")]);
        assert!(!world.run() && !world.run(), "{text}");
    }
}

#[test]
fn what_is_out_of_use_is_forgotten() {
    let key = |n: usize| {
        let mut key = CommandKey([0; 32]);
        key.0[..8].copy_from_slice(&n.to_le_bytes());
        key
    };
    let archive = Memory::default();
    for n in 0..=KEPT + 4 {
        let id = StateId(u32::try_from(n).unwrap());
        let state = State::Folder {
            path: format!("/{n}").into_bytes(),
            names: Vec::new(),
        };
        archive.put_state(id, &state);
        let manifest = Manifest {
            states: vec![id],
            asked: Vec::new(),
            notes: Vec::new(),
            outcome: [0; 32],
        };
        archive.put_manifest(&key(n), &manifest);
    }
    forget_old(&mut archive.load(), &archive, &[key(1), key(3)]);
    assert_eq!(archive.manifests.lock().len(), KEPT + 5);
    forget_old(&mut archive.load(), &archive, &[key(3)]);
    assert_eq!(archive.manifests.lock().len(), 1);
    assert_eq!(archive.states.lock().len(), 1);
    assert_eq!(archive.states.lock()[0].0, StateId(3));
}

#[test]
fn line_markers_tell_what_is_entered_and_from_where() {
    let text = "# 0 \"a.c\"\n# 1 \"x\\\\y.h\" 1\n# 1 \"/z.h\" 1 3 4\nint x;\n# 2 \"x\\\\y.h\" 2\n\
                # 9 \"gram.y\"\n# 3 \"a.c\" 2\n# 1 \"b.h\" 1\n";
    let entry = |file: &str, parent| Entry {
        file: file.into(),
        parent,
    };
    let expected = [
        entry("x\\y.h", None),
        entry("/z.h", Some(0)),
        entry("b.h", None),
    ];
    assert_eq!(entries(text.as_bytes()), expected);
}
