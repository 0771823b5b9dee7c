//! Trees that come from anywhere: checking one runs nothing of it, writes nothing outside the database's
//! folder, and ends.
//!
//! Each case is a tree in which something would run, or write, if the compiler, an argument, a file's name or
//! a setting of the tree were taken at its word. The real program checks it, and all that lies around is compared
//! with what was there before. Cases that are `armed` are checked with `--trust-tree`, too, where the same thing
//! must happen that must not happen otherwise: so the trees do threaten what they are meant to.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::{FileTypeExt, PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::Command as Process;
use std::sync::OnceLock;
use std::time::Duration;

use assert_cmd::Command;
use tempfile::TempDir;

const SOURCE: &str = "int f(void) { return 0; }\n";

/// A program that shows that it was run.
const PROGRAM: &str = "#!/bin/sh\ntouch \"$CANARY\"\nexit 1\n";

/// Stands for the text of a library that shows that it was loaded.
const LIBRARY: &str = "LIBRARY";

/// Stands for the text of a named pipe.
const PIPE: &str = "PIPE";

/// A hostile tree, with `a.c` beside `files`.
struct Case {
    name: &'static str,
    /// The command of `a.c` in compile_commands.json; a bare tree without one.
    command: Option<&'static str>,
    /// Names below the folder that holds all, and texts: [`PROGRAM`], [`LIBRARY`], [`PIPE`], `-> target`.
    files: &'static [(&'static str, &'static str)],
    /// What the user's environment has besides.
    environment: &'static [(&'static str, &'static str)],
    /// What is told.
    told: &'static [&'static str],
    armed: bool,
}

const CASE: Case = Case {
    name: "",
    command: None,
    files: &[],
    environment: &[],
    told: &[],
    armed: true,
};

const NOT_RUN: &str = "came with the tree and is not run";
const NO_COMPILER: &str = "has not the name of a C compiler and is not run";
const LIBRARY_HERE: &[(&str, &str)] = &[("tree/evil.so", LIBRARY)];

/// A compiler, or what is said to be one.
const COMPILERS: &[Case] = &[
    Case {
        name: "a compiler in the tree by a relative path",
        command: Some("./gcc -c a.c"),
        files: &[("tree/gcc", PROGRAM)],
        told: &[
            "./gcc came with the tree and is not run",
            "--trust-tree runs it",
        ],
        ..CASE
    },
    Case {
        name: "a compiler in the tree by an absolute path",
        command: Some("@W/tree/bin/gcc -c a.c"),
        files: &[("tree/bin/gcc", PROGRAM)],
        told: &[NOT_RUN],
        ..CASE
    },
    Case {
        name: "a compiler in the tree by a path that leaves it and comes back",
        command: Some("../other/../tree/gcc -c a.c"),
        files: &[("tree/gcc", PROGRAM), ("other/x", "")],
        told: &[NOT_RUN],
        ..CASE
    },
    Case {
        name: "a compiler in the tree behind env",
        command: Some("env A=b ./gcc -c a.c"),
        files: &[("tree/gcc", PROGRAM)],
        told: &[NOT_RUN],
        ..CASE
    },
    Case {
        name: "a compiler in the tree behind ccache",
        command: Some("ccache ./gcc -c a.c"),
        files: &[("tree/gcc", PROGRAM)],
        told: &[NOT_RUN],
        ..CASE
    },
    Case {
        name: "a launcher in the tree",
        command: Some("./ccache gcc -c a.c"),
        files: &[("tree/ccache", PROGRAM)],
        armed: false,
        ..CASE
    },
    Case {
        name: "a library to be preloaded",
        command: Some("env LD_PRELOAD=./evil.so gcc -c a.c"),
        files: LIBRARY_HERE,
        armed: false,
        ..CASE
    },
    Case {
        name: "a search path in the command",
        command: Some("env PATH=. gcc -c a.c"),
        files: &[("tree/gcc", PROGRAM)],
        armed: false,
        ..CASE
    },
    Case {
        name: "a link in the tree to a shell, by a compiler's name",
        command: Some("./gcc -c a.c"),
        files: &[("tree/gcc", "-> /bin/sh")],
        told: &[NOT_RUN],
        armed: false,
        ..CASE
    },
    Case {
        name: "a folder of the tree that is a link to where a compiler is",
        command: Some("./bin/gcc -no-canonical-prefixes -c a.c"),
        files: &[("tree/bin", "-> /usr/bin")],
        told: &[NOT_RUN],
        armed: false,
        ..CASE
    },
    Case {
        name: "a shell of the system's with a script of the tree's",
        command: Some("/bin/sh ./evil.sh a.c"),
        files: &[("tree/evil.sh", PROGRAM)],
        told: &[NO_COMPILER],
        armed: false,
        ..CASE
    },
    Case {
        name: "a shell by name",
        command: Some("sh -fx evil.sh a.c"),
        files: &[("tree/evil.sh", PROGRAM)],
        told: &[NO_COMPILER],
        armed: false,
        ..CASE
    },
    Case {
        name: "a compiler in the folder that the process runs in",
        command: Some("/proc/self/cwd/gcc -c a.c"),
        files: &[("tree/gcc", PROGRAM)],
        armed: false,
        ..CASE
    },
    Case {
        name: "a compiler beside a compile_commands.json in a build folder",
        files: &[
            ("tree/build/gcc", PROGRAM),
            (
                "tree/build/compile_commands.json",
                r#"[{"directory": ".", "file": "../a.c", "command": "./gcc -c ../a.c"}]"#,
            ),
        ],
        told: &[NOT_RUN],
        ..CASE
    },
    Case {
        name: "a compiler beside a compile_commands.json above the tree",
        files: &[
            ("gcc", PROGRAM),
            (
                "compile_commands.json",
                r#"[{"directory": "tree", "file": "a.c", "command": "../gcc -c a.c"}]"#,
            ),
        ],
        told: &[NOT_RUN],
        ..CASE
    },
    Case {
        name: "folders of the tree in the user's search path",
        command: Some("gcc -c a.c"),
        files: &[
            ("tree/gcc", PROGRAM),
            ("tree/bin/gcc", PROGRAM),
            ("tree/cc1", PROGRAM),
        ],
        environment: &[("PATH", ":.:@W/tree/bin:@PATH")],
        armed: false,
        ..CASE
    },
    Case {
        name: "relative folders in the user's other search paths",
        command: Some("gcc -c a.c"),
        files: &[
            ("tree/cc1", PROGRAM),
            ("tree/libz.so.1", LIBRARY),
            ("tree/evil.so", LIBRARY),
        ],
        environment: &[
            ("COMPILER_PATH", ":."),
            ("LD_LIBRARY_PATH", ":/usr/lib"),
            ("GCC_EXEC_PREFIX", "./"),
        ],
        ..CASE
    },
    Case {
        name: "a dependency file that the user's environment asks for",
        command: Some("gcc -c a.c"),
        environment: &[
            ("DEPENDENCIES_OUTPUT", "written.d"),
            ("SUNPRO_DEPENDENCIES", "w.d"),
        ],
        ..CASE
    },
];

const ARGUMENTS: &[Case] = &[
    Case {
        name: "-B in one word",
        command: Some("gcc -B. -c a.c"),
        files: &[("tree/cc1", PROGRAM)],
        told: &["-B is not known to be harmless", "--trust-tree"],
        ..CASE
    },
    Case {
        name: "-B in two words",
        command: Some("gcc -B ./bin/ -c a.c"),
        files: &[("tree/bin/cc1", PROGRAM)],
        told: &["-B is not known to be harmless"],
        ..CASE
    },
    Case {
        name: "-specs",
        command: Some("gcc -specs=evil.specs -c a.c"),
        files: &[
            (
                "tree/evil.specs",
                "*cpp_unique_options:\n+ -fplugin=./evil.so\n\n",
            ),
            ("tree/evil.so", LIBRARY),
        ],
        told: &["-specs is not known to be harmless"],
        ..CASE
    },
    Case {
        name: "--specs",
        command: Some("gcc --specs=./evil.specs -c a.c"),
        files: &[(
            "tree/evil.specs",
            "*cpp_unique_options:\n+ -MD written.d\n\n",
        )],
        told: &["--specs is not known to be harmless"],
        ..CASE
    },
    Case {
        name: "-wrapper",
        command: Some("gcc -wrapper ./evil -c a.c"),
        files: &[("tree/evil", PROGRAM)],
        told: &["-wrapper is not known to be harmless"],
        armed: false,
        ..CASE
    },
    Case {
        name: "-fplugin",
        command: Some("gcc -fplugin=./evil.so -c a.c"),
        files: LIBRARY_HERE,
        told: &["-fplugin is not known to be harmless"],
        armed: false,
        ..CASE
    },
    Case {
        name: "-fplugin handed to the preprocessor",
        command: Some("gcc -Xpreprocessor -fplugin=./evil.so -c a.c"),
        files: LIBRARY_HERE,
        told: &["-fplugin is not known to be harmless"],
        ..CASE
    },
    Case {
        name: "-MD handed to the preprocessor",
        command: Some("gcc -Xpreprocessor -MD -Xpreprocessor written.d -c a.c"),
        ..CASE
    },
    Case {
        name: "-o handed to the preprocessor",
        command: Some("gcc -Xpreprocessor -o -Xpreprocessor written -c a.c"),
        ..CASE
    },
    Case {
        name: "-fplugin with a comma",
        command: Some("gcc -Wp,-fplugin=./evil.so -c a.c"),
        files: LIBRARY_HERE,
        told: &["-fplugin is not known to be harmless"],
        armed: false,
        ..CASE
    },
    Case {
        name: "dependency files and outputs of all kinds",
        command: Some(
            "gcc -Wp,-MD,w1.d -MD -MF w2.d -MMD -o w3 -save-temps -aux-info w4 -dumpbase w5 -dumpdir w6 \
             -fdump-tree-all -fcallgraph-info -fstack-usage -fopt-info-all=w7 -fsave-optimization-record \
             -fprofile-generate -ftest-coverage -fdump-go-spec=w8 -fcompare-debug -c a.c",
        ),
        armed: false,
        ..CASE
    },
    Case {
        name: "outputs of clang's and later versions'",
        command: Some(
            "gcc -MJ w1 -ftime-trace=w2 -fproc-stat-report=w3 -fdeps-file=w4 -index-store-path w5 -c a.c",
        ),
        told: &["-fdeps-file is not known to be harmless"],
        armed: false,
        ..CASE
    },
    Case {
        name: "a response file",
        command: Some("gcc @flags -c a.c"),
        files: &[("tree/flags", "-B."), ("tree/cc1", PROGRAM)],
        told: &["-B is not known to be harmless"],
        ..CASE
    },
    Case {
        name: "a response file in a response file",
        command: Some("gcc @outer -c a.c"),
        files: &[
            ("tree/outer", "-DA '@inner'"),
            ("tree/inner", "-Xpreprocessor -fplugin=./evil.so"),
            ("tree/evil.so", LIBRARY),
        ],
        told: &["-fplugin is not known to be harmless"],
        ..CASE
    },
    Case {
        name: "a response file handed to the preprocessor",
        command: Some("gcc -Wp,-I,@flags -c a.c"),
        files: &[("tree/flags", "x -B."), ("tree/cc1", PROGRAM)],
        told: &["-I is not known to be harmless"],
        ..CASE
    },
    Case {
        name: "a response file as the value of a flag",
        command: Some("gcc -Xpreprocessor -I -Xpreprocessor @flags -c a.c"),
        files: &[("tree/flags", "x -B."), ("tree/cc1", PROGRAM)],
        told: &["-B is not known to be harmless"],
        ..CASE
    },
    Case {
        name: "response files that name each other again and again",
        command: Some("gcc @flags -c a.c"),
        files: &[(
            "tree/flags",
            "@flags @flags @flags @flags @flags @flags @flags @flags @flags @flags",
        )],
        told: &["response file flags cannot be read"],
        armed: false,
        ..CASE
    },
    Case {
        name: "a response file that is a pipe",
        command: Some("gcc @flags -c a.c"),
        files: &[("tree/flags", PIPE)],
        told: &["response file flags cannot be read"],
        armed: false,
        ..CASE
    },
    Case {
        name: "a flag as the value of one that gcc does not know",
        command: Some("gcc -target -fplugin=./evil.so -c a.c"),
        files: LIBRARY_HERE,
        told: &["-target is not known to be harmless"],
        armed: false,
        ..CASE
    },
    Case {
        name: "a plugin by its name",
        command: Some("gcc -iplugindir=. -fplugin=evil -c a.c"),
        files: LIBRARY_HERE,
        told: &["-iplugindir is not known to be harmless"],
        armed: false,
        ..CASE
    },
    Case {
        name: "a plugin of clang's, and a file with flags",
        command: Some(
            "clang -Xclang -load -Xclang ./evil.so -fpass-plugin=./evil.so --config ./evil.cfg -c a.c",
        ),
        files: &[
            ("tree/evil.so", LIBRARY),
            ("tree/evil.cfg", "-fplugin=./evil.so"),
        ],
        told: &[
            "-Xclang is not known to be harmless",
            "--config is not known to be harmless",
        ],
        armed: false,
        ..CASE
    },
    Case {
        name: "flags within flags",
        command: Some(
            "gcc -fcompare-debug=-fplugin=./evil.so -fmodule-mapper=|./evil -Wa,-o,w -Wl,-o,w -c a.c",
        ),
        files: &[("tree/evil.so", LIBRARY), ("tree/evil", PROGRAM)],
        armed: false,
        ..CASE
    },
    Case {
        name: "a preprocessor of its own",
        command: Some("gcc -no-integrated-cpp -B. -c a.c"),
        files: &[("tree/cc1", PROGRAM)],
        told: &["-B is not known to be harmless"],
        ..CASE
    },
];

const FILES: &[Case] = &[
    Case {
        name: "a source whose name begins as a response file's",
        files: &[
            (
                "tree/compile_commands.json",
                r#"[{"directory": ".", "file": "@b.c", "command": "gcc -c ./@b.c"},
                    {"directory": ".", "file": "@b.c", "arguments": ["gcc", "-DA", "-c"]},
                    {"directory": ".", "file": "a.c", "command": "gcc -c a.c"}]"#,
            ),
            ("tree/@b.c", "/* -B. a.c */ int g(void) { return 0; }\n"),
            ("tree/cc1", PROGRAM),
        ],
        armed: false,
        ..CASE
    },
    Case {
        name: "a source whose name is a flag",
        files: &[
            (
                "tree/compile_commands.json",
                r#"[{"directory": ".", "file": "-owritten.c", "command": "gcc -c"}]"#,
            ),
            ("tree/-owritten.c", SOURCE),
        ],
        armed: false,
        ..CASE
    },
    Case {
        name: "names of a bare tree",
        files: &[
            ("tree/@b.c", "-B."),
            ("tree/-oc.c", SOURCE),
            ("tree/\n'$(touch x)\".c", SOURCE),
            ("tree/cc1", PROGRAM),
        ],
        told: &["4 translation units"],
        armed: false,
        ..CASE
    },
    Case {
        name: "a pipe that line markers name",
        files: &[
            ("tree/b.c", "#line 1 \"pipe\"\nint g(void) { return 0; }\n"),
            ("tree/pipe", PIPE),
        ],
        told: &["2 translation units"],
        armed: false,
        ..CASE
    },
    Case {
        name: "a compile_commands.json that is a pipe, and a source that is one",
        files: &[
            ("tree/compile_commands.json", PIPE),
            ("tree/b.c", PIPE),
            ("tree/c.c", "-> /dev/zero"),
        ],
        armed: false,
        ..CASE
    },
    Case {
        name: "a template that is a pipe",
        files: &[
            ("tree/b.c", "#include <config.h>\n"),
            ("tree/config.h.in", PIPE),
        ],
        told: &["config.h cannot be found"],
        armed: false,
        ..CASE
    },
    Case {
        name: "a database elsewhere",
        files: &[("tree/cassini.toml", "db = \"../elsewhere\"\nunroll = 3\n")],
        told: &["`db` is not applied", "--trust-tree"],
        ..CASE
    },
    Case {
        name: "arguments of a setting",
        files: &[
            (
                "tree/cassini.toml",
                "compiler-arguments = [\"-DA\", \"-B.\", \"@flags\"]\n",
            ),
            ("tree/cc1", PROGRAM),
            ("tree/flags", "-fplugin=./evil.so"),
        ],
        told: &["-B, @flags of `compiler-arguments` is not known to be harmless"],
        ..CASE
    },
    Case {
        name: "settings that name pipes and devices",
        files: &[
            (
                "tree/cassini.toml",
                "compile-commands = \"pipe\"\nbaseline = \"/dev/zero\"\ncheckers = [\"pipe.toml\"]\n",
            ),
            ("tree/pipe", PIPE),
            ("tree/pipe.toml", PIPE),
        ],
        told: &[
            "`compile-commands` is not applied",
            "`baseline` is",
            "`checkers` is",
        ],
        armed: false,
        ..CASE
    },
];

/// What lies around a tree, and the tree.
struct World {
    folder: TempDir,
}

impl World {
    fn new(case: &Case) -> World {
        let world = World {
            folder: tempfile::tempdir().unwrap(),
        };
        for name in ["tree", "home", "tmp", "here"] {
            fs::create_dir(world.at(name)).unwrap();
        }
        world.write("tree/a.c", SOURCE);
        if let Some(command) = case.command {
            let entry = [("directory", "."), ("file", "a.c"), ("command", command)];
            let entry: BTreeMap<_, _> = entry.into_iter().collect();
            let database = serde_json::to_string(&[entry]).unwrap();
            world.write("tree/compile_commands.json", &database);
        }
        for (name, text) in case.files {
            world.write(name, text);
        }
        world
    }

    fn at(&self, name: &str) -> PathBuf {
        self.folder.path().canonicalize().unwrap().join(name)
    }

    /// `@W` means the folder.
    fn expand(&self, text: &str) -> String {
        let path = std::env::var("PATH").unwrap();
        text.replace("@W", self.at("").to_str().unwrap().trim_end_matches('/'))
            .replace("@PATH", &path)
    }

    fn write(&self, name: &str, text: &str) {
        let file = self.at(name);
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        if text == PIPE {
            assert!(
                Process::new("mkfifo")
                    .arg(&file)
                    .status()
                    .unwrap()
                    .success()
            );
        } else if text == LIBRARY {
            fs::copy(library(), &file).unwrap();
        } else if let Some(target) = text.strip_prefix("-> ") {
            symlink(target, &file).unwrap();
        } else {
            fs::write(&file, self.expand(text)).unwrap();
            if text.starts_with("#!") {
                fs::set_permissions(&file, fs::Permissions::from_mode(0o755)).unwrap();
            }
        }
    }

    /// Everything but the database, each with what it is.
    fn snapshot(&self) -> BTreeMap<PathBuf, String> {
        let mut found = BTreeMap::new();
        let mut folders = vec![self.at("")];
        while let Some(folder) = folders.pop() {
            for entry in fs::read_dir(folder).unwrap() {
                let path = entry.unwrap().path();
                let kind = path.symlink_metadata().unwrap().file_type();
                let what = if kind.is_symlink() {
                    format!("link to {}", fs::read_link(&path).unwrap().display())
                } else if kind.is_dir() {
                    if path == self.at("tree/.cassini") {
                        continue;
                    }
                    folders.push(path.clone());
                    "folder".to_owned()
                } else if kind.is_fifo() {
                    "pipe".to_owned()
                } else {
                    format!("{:?}", fs::read(&path).unwrap())
                };
                found.insert(path, what);
            }
        }
        found
    }

    fn check(&self, case: &Case, arguments: &[&str]) -> std::process::Output {
        let mut command = Command::cargo_bin("cassini").unwrap();
        command
            .current_dir(self.at("here"))
            .env("HOME", self.at("home"))
            .env("TMPDIR", self.at("tmp"))
            .env("CANARY", self.at("canary"));
        for (name, value) in case.environment {
            command.env(name, self.expand(value));
        }
        // Nothing waits: the bound is for a machine that has much else to do.
        command.timeout(Duration::from_secs(60));
        command.args(["check", "../tree"]).args(arguments);
        command.output().unwrap()
    }
}

/// A shared library that writes a file when it is loaded.
fn library() -> &'static Path {
    static BUILT: OnceLock<(TempDir, PathBuf)> = OnceLock::new();
    let (_, library) = BUILT.get_or_init(|| {
        let folder = tempfile::tempdir().unwrap();
        let (source, library) = (folder.path().join("evil.c"), folder.path().join("evil.so"));
        let text = "#include <fcntl.h>\n#include <stdlib.h>\n\
                    __attribute__((constructor)) static void run(void) { creat(getenv(\"CANARY\"), 0600); }\n";
        fs::write(&source, text).unwrap();
        let mut gcc = Process::new("gcc");
        gcc.args(["-shared", "-fPIC", "-o"]).arg(&library).arg(&source);
        assert!(gcc.status().unwrap().success());
        (folder, library)
    });
    library
}

fn stays_data(case: &Case) {
    let world = World::new(case);
    let before = world.snapshot();
    let output = world.check(case, &[]);
    let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
    let name = case.name;
    assert_eq!(
        world.snapshot(),
        before,
        "{name}: something was run or written\n{stderr}"
    );
    assert_eq!(output.status.code(), Some(0), "{name}: {stderr}");
    assert!(
        stderr.contains(" translation units") && !stderr.contains("more failed"),
        "{name}: {stderr}"
    );
    for told in case.told {
        assert!(
            stderr.contains(told),
            "{name}: `{told}` is not in:\n{stderr}"
        );
    }
    if case.armed {
        let world = World::new(case);
        let before = world.snapshot();
        world.check(case, &["--trust-tree"]);
        assert_ne!(
            world.snapshot(),
            before,
            "{name}: the tree threatens nothing"
        );
    }
}

#[test]
fn compilers_of_a_tree_are_not_run() {
    COMPILERS.iter().for_each(stays_data);
}

#[test]
fn arguments_of_a_tree_run_nothing_and_write_nothing() {
    ARGUMENTS.iter().for_each(stays_data);
}

#[test]
fn files_and_settings_of_a_tree_run_nothing_and_write_nothing() {
    FILES.iter().for_each(stays_data);
}

/// Puts a compiler where `name` says that writes down its words, and then does as gcc does.
fn recorder(world: &World, name: &str) -> PathBuf {
    let log = world.at("log");
    let text = format!(
        "#!/bin/sh\nfor word; do echo \"$word\"; done >>'{}'\nexec gcc \"$@\"\n",
        log.display()
    );
    world.write(name, &text);
    log
}

#[test]
fn what_is_harmless_reaches_the_compiler() {
    let case = Case {
        command: Some(
            "gcc-99 -DA='\"x y\"' -D B=1 -U C -Iinc -I inc -isystem sys -include k.h -std=gnu11 -O2 -m64 -fPIC -pthread \
             -Wp,-D_FORTIFY_SOURCE=2 -Xpreprocessor -DX -ffile-prefix-map=@W=. -fno-strict-aliasing -Wall -g -c a.c -o a.o",
        ),
        files: &[("tree/k.h", ""), ("tree/inc/x", ""), ("tree/sys/x", "")],
        environment: &[("PATH", "@W/tools:@PATH")],
        ..CASE
    };
    let world = World::new(&case);
    let log = recorder(&world, "tools/gcc-99");
    let output = world.check(&case, &["--strict"]);
    let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(0), "{stderr}");
    assert!(!stderr.contains("harmless"), "{stderr}");
    let words = fs::read_to_string(log).unwrap();
    let preprocessed = words
        .split("\na.c\n")
        .find(|run| run.contains("\n-E\n"))
        .unwrap();
    let expected = format!(
        "-DA=\"x y\"\n-D\nB=1\n-U\nC\n-Iinc\n-I\ninc\n-isystem\nsys\n-include\nk.h\n-std=gnu11\n-O2\n-m64\n-fPIC\n\
         -pthread\n-D_FORTIFY_SOURCE=2\n-DX\n-ffile-prefix-map={}=.\n-fno-strict-aliasing\n-w\n-E\n-v",
        world.at("").display().to_string().trim_end_matches('/')
    );
    assert!(preprocessed.ends_with(&expected), "{preprocessed}");
}

#[test]
fn a_compiler_at_a_path_outside_the_tree_is_used_and_one_inside_if_the_tree_is_trusted() {
    for (place, arguments, used) in [
        ("tools/gcc", &[][..], true),
        ("tree/tools/gcc", &[], false),
        ("tree/tools/gcc", &["--trust-tree"], true),
    ] {
        let command: &'static str = match place {
            "tools/gcc" => "@W/tools/gcc -c a.c",
            _ => "./tools/gcc -c a.c",
        };
        let world = World::new(&CASE);
        let log = recorder(&world, place);
        let database = format!(r#"[{{"directory": ".", "file": "a.c", "command": "{command}"}}]"#);
        world.write("tree/compile_commands.json", &database);
        let output = world.check(&CASE, arguments);
        assert_eq!(output.status.code(), Some(0), "{output:?}");
        assert_eq!(log.exists(), used, "{place} {arguments:?}");
    }
}

#[test]
fn a_setting_file_that_is_a_pipe_is_an_error() {
    let case = Case {
        files: &[("tree/cassini.toml", PIPE)],
        ..CASE
    };
    let world = World::new(&case);
    let output = world.check(&case, &[]);
    let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(2), "{stderr}");
    assert!(
        stderr.contains("cassini.toml: it is no regular file"),
        "{stderr}"
    );
}

#[test]
fn a_compiler_that_waits_for_a_pipe_is_stopped_and_the_other_units_are_read() {
    let case = Case {
        files: &[
            ("tree/b.c", "#define NAME \"pipe.h\"\n#include NAME\n"),
            ("tree/pipe.h", PIPE),
        ],
        ..CASE
    };
    let world = World::new(&case);
    let before = world.snapshot();
    let output = world.check(&case, &[]);
    let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(world.snapshot(), before, "{stderr}");
    assert_eq!(output.status.code(), Some(0), "{stderr}");
    for told in [
        "was stopped: it waited for something",
        "1 translation units (1 more failed)",
    ] {
        assert!(stderr.contains(told), "{stderr}");
    }
}

#[test]
fn a_database_folder_with_links_is_refused() {
    for (link, target) in [
        (".cassini", "../elsewhere"),
        (".cassini/lock", "../../elsewhere/file"),
        (".cassini/cassini.sqlite", "../../elsewhere/new"),
        (".cassini/cassini.sqlite-wal", "../../elsewhere/new"),
    ] {
        let case = Case {
            files: &[("elsewhere/file", "precious")],
            ..CASE
        };
        let world = World::new(&case);
        world.write(&format!("tree/{link}"), &format!("-> {target}"));
        let before = world.snapshot();
        let output = world.check(&case, &[]);
        let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(world.snapshot(), before, "{link}: {stderr}");
        assert_eq!(output.status.code(), Some(2), "{link}: {stderr}");
        assert!(
            stderr.contains(&format!("{link} is a symbolic link")),
            "{stderr}"
        );
        assert!(stderr.contains("--db DIR"), "{stderr}");
        let output = world.check(&case, &["--db", world.at("mine").to_str().unwrap()]);
        assert_eq!(output.status.code(), Some(0), "{link}: {output:?}");
    }
}
