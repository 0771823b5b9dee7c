//! A bounded run of what `fuzz/` does without end: whatever the bytes, the front end comes back.
//!
//! Arbitrary bytes, soups of C's tokens, fixtures cut off and fixtures changed here and there. Every body
//! that comes out must be one that later stages can walk.

use std::path::Path;
use std::time::{Duration, Instant};

use cassini::frontend::whole::{self, Program};
use cassini::ir::Body;
use proptest::prelude::*;
use proptest::sample::{Index, select};

/// More than this for a few kilobytes is a hang.
const LIMIT: Duration = Duration::from_secs(20);

const TOKENS: &[&str] = &[
    "int",
    "char",
    "void",
    "struct",
    "union",
    "enum",
    "typedef",
    "static",
    "extern",
    "const",
    "volatile",
    "unsigned",
    "long",
    "_Bool",
    "double",
    "_Complex",
    "__int128",
    "auto",
    "constexpr",
    "inline",
    "if",
    "else",
    "while",
    "do",
    "for",
    "switch",
    "case",
    "default",
    "break",
    "continue",
    "return",
    "goto",
    "sizeof",
    "_Alignof",
    "typeof",
    "_Generic",
    "_Static_assert",
    "_Alignas",
    "asm",
    "goto",
    "volatile",
    "__attribute__",
    "packed",
    "aligned",
    "cleanup",
    "vector_size",
    "__label__",
    "__auto_type",
    "__extension__",
    "__builtin_offsetof",
    "__builtin_va_arg",
    "__builtin_types_compatible_p",
    "__builtin_choose_expr",
    "__builtin_add_overflow",
    "__real__",
    "a",
    "b",
    "f",
    "s",
    "t",
    "x",
    "0",
    "1",
    "0x7fffffffffffffffffff",
    "1.5f",
    "1e999",
    "'a'",
    "'\\xfff'",
    "\"s\"",
    "L\"w\"",
    "(",
    ")",
    "(",
    ")",
    "[",
    "]",
    "{",
    "}",
    "{",
    "}",
    ";",
    ";",
    ";",
    ",",
    ",",
    ":",
    "?",
    ".",
    "->",
    "...",
    "=",
    "==",
    "!=",
    "<",
    ">",
    "<<",
    ">>",
    "+",
    "-",
    "*",
    "*",
    "/",
    "%",
    "&",
    "&&",
    "|",
    "||",
    "^",
    "~",
    "!",
    "++",
    "--",
    "+=",
    "<<=",
    "<:",
    "%>",
    "[[",
    "]]",
    "\n# 1 \"h.h\"\n",
    "\n#pragma pack(1)\n",
    "@",
    "\\",
    "$",
];

fn fixtures() -> Vec<String> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("testdata");
    let mut texts = Vec::new();
    for folder in ["lower", "lock", "demo"] {
        let mut files: Vec<_> = std::fs::read_dir(root.join(folder))
            .expect("testdata")
            .filter_map(|entry| Some(entry.ok()?.path()))
            .filter(|path| path.extension().is_some_and(|extension| extension == "c"))
            .collect();
        files.sort();
        texts.extend(
            files
                .iter()
                .map(|path| std::fs::read_to_string(path).expect("reads")),
        );
    }
    texts
}

/// Reads a text as a unit; fails if that takes too long or gives a body that cannot be walked.
fn read(text: &[u8]) -> Program {
    let start = Instant::now();
    let program = whole::program(text, "fuzz.c", Default::default());
    whole::layouts(text, "fuzz.c", Default::default());
    let spent = start.elapsed();
    assert!(
        spent < LIMIT,
        "{spent:?} for {}",
        String::from_utf8_lossy(text)
    );
    for body in program.functions.iter().chain(&program.objects) {
        check(body);
    }
    program
}

fn check(body: &Body) {
    assert!(!body.blocks.is_empty());
    for block in &body.blocks {
        for next in block.term.successors() {
            assert!(next.index() < body.blocks.len(), "{}", body.name);
        }
    }
    assert!(body.params as usize <= body.locals.len());
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, max_shrink_iters: 200, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn arbitrary_bytes(bytes in prop::collection::vec(any::<u8>(), 0..2000)) {
        read(&bytes);
    }

    #[test]
    fn soups_of_tokens(tokens in prop::collection::vec(select(TOKENS), 0..150)) {
        read(tokens.join(" ").as_bytes());
    }

    #[test]
    fn soups_in_a_function(tokens in prop::collection::vec(select(TOKENS), 0..100)) {
        let text = format!(
            "typedef int t; struct s {{ int a; t b : 3; }}; int f(int a, struct s *x) {{ {} ; }}",
            tokens.join(" "),
        );
        read(text.as_bytes());
    }

    #[test]
    fn soups_as_an_expression(tokens in prop::collection::vec(select(&TOKENS[32..]), 1..12)) {
        let text = format!(
            "typedef int t; struct s {{ int a; t b : 3; }}; long f(int a, struct s *x) {{ double b; return {}; }}",
            tokens.join(" "),
        );
        read(text.as_bytes());
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 60, max_shrink_iters: 50, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn files_cut_off(file in any::<Index>(), at in any::<Index>()) {
        let texts = fixtures();
        let text = file.get(&texts).as_bytes();
        read(&text[..at.index(text.len())]);
    }

    #[test]
    fn files_with_changed_bytes(
        file in any::<Index>(),
        changes in prop::collection::vec((any::<Index>(), any::<u8>()), 1..20),
    ) {
        let texts = fixtures();
        let mut text = file.get(&texts).clone().into_bytes();
        for (at, byte) in changes {
            let at = at.index(text.len());
            text[at] = byte;
        }
        read(&text);
    }

    #[test]
    fn files_with_changed_words(
        file in any::<Index>(),
        changes in prop::collection::vec((any::<Index>(), any::<Index>(), select(TOKENS), 0..4), 1..20),
    ) {
        let texts = fixtures();
        let mut words: Vec<&str> = file.get(&texts).split_inclusive([' ', '(', ')', ';', ',', '\n']).collect();
        for (at, other, token, what) in changes {
            let (at, other) = (at.index(words.len()), other.index(words.len()));
            match what {
                0 => words[at] = token,
                1 => words.swap(at, other),
                2 => words.insert(at, words[other]),
                _ => words[at] = "",
            }
        }
        read(words.concat().as_bytes());
    }
}

#[test]
fn deep_and_long_texts() {
    let repeated = |left: &str, middle: &str, right: &str, times: usize| {
        format!("{}{middle}{}", left.repeat(times), right.repeat(times))
    };
    let body = |text: String| format!("int f(int a) {{ return {text}; }}");
    for times in [150, 5_000, 100_000] {
        for text in [
            body(repeated("(", "a", ")", times)),
            body(repeated("!", "a", "", times)),
            body(repeated("- ", "a", "", times)),
            body(repeated("a + ", "a", "", times)),
            body(repeated("a = ", "a", "", times)),
            body(repeated("a ? a : ", "a", "", times)),
            body(repeated("a ?: ", "a", "", times)),
            body(repeated("a, ", "a", "", times)),
            body(repeated("(int)", "a", "", times)),
            body(repeated("sizeof ", "a", "", times)),
            body(repeated("a[", "a", "]", times)),
            body(repeated("a.a", "", "", times)),
            body(repeated("a(", "a", ")", times)),
            body(repeated("({", "a;", "})", times)),
            body(repeated("sizeof(int[", "1", "])", times)),
            format!("int f(int a) {{ {} }}", repeated("{", ";", "}", times)),
            format!("int f(int a) {{ {} }}", repeated("if (a) ", ";", "", times)),
            format!(
                "int f(int a) {{ {} }}",
                repeated("if (a) ; else ", ";", "", times)
            ),
            format!(
                "int f(int a) {{ {} }}",
                repeated("for (;;) ", ";", "", times)
            ),
            format!("int f(int a) {{ {} }}", repeated("l: ", ";", "", times)),
            format!(
                "int f(int a) {{ switch (a) {{ {} }} }}",
                repeated("case 1: ", ";", "", times)
            ),
            repeated("struct { ", "int a;", " };", times),
            format!("int {} a;", repeated("*", "", "", times)),
            format!("int {};", repeated("(", "a", ")", times)),
            format!("int a{};", repeated("[1]", "", "", times)),
            format!("int a = {};", repeated("{", "1", "}", times)),
            format!("int f({});", repeated("int (*)(", "int", ")", times)),
            format!("enum {{ {} }};", repeated("A,", "B", "", times)),
            format!(
                "typedef int t0; {}",
                (0..times.min(5_000))
                    .map(|i| format!("typedef t{i} t{};", i + 1))
                    .collect::<String>()
            ),
            repeated("[[", "int a;", "]]", times),
            repeated("\"s\" ", ";", "", times),
        ] {
            read(text.as_bytes());
        }
    }
}

#[test]
fn types_that_are_too_large_or_contain_themselves() {
    for text in [
        "struct s { struct s s; }; int f(void) { return sizeof(struct s); }",
        "typedef t t; int f(void) { t a; return sizeof a; }",
        "int a[1ul << 62][1ul << 62]; long f(void) { return sizeof a + (long)&a[1][1]; }",
        "struct s { char c[1ul << 63]; int b; } g; long f(void) { g.b = 1; return sizeof g; }",
        "enum { A = A, B = 1 << 100, C = 1 / 0, D = -1 % 0, E = 1 << -1 }; int f(void) { return B; }",
        "int f(void) { int x = x; switch (x) { case 0 ... 0x7fffffffffffffff: ; case -1 ... -2: ; } return x; }",
        "int a[] = { [0xffffffffffffff] = 1 }; int b[] = { [-1] = 2 }; int c[9] = { [0 ... 1ul << 40] = 3 };",
        "struct s { int a : 1000; int b : -1; int c : 0; }; int f(struct s *s) { return s->a + s->b; }",
        "typeof(f) f; typeof(a) a; int g(void) { return a + f(); }",
        "struct s { int n; __attribute__((aligned(0))) int a; __attribute__((aligned(3))) int b; int c __attribute__((aligned(1ul << 63))); } g;",
        "typedef int v __attribute__((vector_size(0))); v a; v f(v b) { return a + b; }",
        "union u { union u u; } x; union u f(union u a) { return a.u.u; }",
        "#pragma pack(200)\nstruct s { long a; } g;\n#pragma pack(pop)\n#pragma pack(3)\nstruct t { long a; } h;",
    ] {
        read(text.as_bytes());
    }
}
