//! Deep, long, broken and random text: it is read or refused, in little time.

use std::time::{Duration, Instant};

use proptest::prelude::*;

use super::{failures, parses, rewrites, rewritten};

#[test]
fn deep_nesting_is_refused_and_long_chains_are_not() {
    let deep = format!("int x = {}1{};", "(".repeat(5000), ")".repeat(5000));
    assert_eq!(failures(deep.as_bytes()), ["brackets nested too deeply"]);
    let nested = format!("int x = {}1{};", "(".repeat(150), ")".repeat(150));
    parses(&nested);
    let chain = "else if (x) y(); ".repeat(3000);
    parses(&format!("void f(void) {{ if (x) y(); {chain} }}"));
    parses(&format!("int x = 1{};", " + 1".repeat(10_000)));
    parses(&format!("int x = {}1;", "!".repeat(3000)));
    parses(&format!("int x = {}1;", "a ? b : ".repeat(3000)));
    parses(&format!("int x[] = {{ {} }};", "{ 1, 2 }, ".repeat(10_000)));
    let cases: String = (0..3000).map(|i| format!("case {i}: ")).collect();
    parses(&format!("void f(int x) {{ switch (x) {{ {cases} ; }} }}"));
}

#[test]
fn nested_macros_do_not_take_exponential_time() {
    let mut min = "a".to_owned();
    let mut cast = "a".to_owned();
    let mut size = "a".to_owned();
    for i in 0..9 {
        min = format!(
            "({{ __auto_type x{i} = ({min}); typeof(b) y{i} = (b); (void)(&x{i} == &y{i}); x{i} < y{i} ? x{i} : y{i}; }})"
        );
        cast = format!(
            "(*(const volatile typeof(_Generic((a), int: 1, default: ({cast}))) *)&({cast_a}))",
            cast_a = "a"
        );
        size = format!("sizeof(typeof({size}))");
    }
    let start = Instant::now();
    parses(&format!("int f(int a, int b) {{ return {min}; }}"));
    parses(&format!("int f(int a, int b) {{ return {cast}; }}"));
    parses(&format!("int f(int a, int b) {{ return {size}; }}"));
    assert!(start.elapsed() < Duration::from_secs(20));
}

#[test]
fn assertions_within_assertions_take_no_time() {
    let asserted = |e: &str| format!("((int)(sizeof(struct {{ int:(-!!({e})); }})))");
    let nested = (0..12).fold("x".to_owned(), |e, _| asserted(&format!("{e} == 0")));
    let start = Instant::now();
    parses(&format!("enum {{ x }}; int a = {nested};"));
    assert!(start.elapsed() < Duration::from_secs(5));
    rewrites("int a = sizeof(struct { int:(-!!(1)); });", "int a = 0UL ;");
    // Those that are no assertion keep their size.
    for kept in [
        "struct { int:(-!!(1)); int b; }",
        "struct { int:(-!!(1) + 3); }",
        "struct { int b:(-!!(1)); }",
    ] {
        assert!(
            rewritten(&format!("int a = sizeof({kept});")).contains("struct"),
            "{kept}"
        );
    }
}

#[test]
fn a_word_that_lacks_its_brackets_ends_with_those_around_it() {
    for word in [
        "__attribute__",
        "__declspec",
        "_Alignas",
        "alignas",
        "typeof",
        "asm",
        "goto *",
    ] {
        let text = format!("int f(void) {{ ({{ {word} }}); ( {word} ); [ {word} ] }}");
        assert!(!failures(text.as_bytes()).is_empty(), "{text}");
    }
}

#[test]
fn strings_in_a_row_are_not_nested() {
    parses(&format!("char s[] = {};", "\"a\" ".repeat(300_000)));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn any_bytes_are_read(bytes in prop::collection::vec(any::<u8>(), 0..400)) {
        failures(&bytes);
    }

    #[test]
    fn any_tokens_are_read(tokens in prop::collection::vec(prop::sample::select(TOKENS), 0..80)) {
        failures(tokens.join(" ").as_bytes());
    }
}

const TOKENS: &[&str] = &[
    "int",
    "struct",
    "enum",
    "typedef",
    "static",
    "x",
    "T",
    "f",
    "1",
    "'a'",
    "\"s\"",
    "(",
    ")",
    "(",
    ")",
    "{",
    "}",
    "{",
    "}",
    "[",
    "]",
    ";",
    ";",
    ",",
    "=",
    "*",
    "&&",
    "?",
    ":",
    ":",
    "goto",
    "if",
    "else",
    "case",
    "default",
    "asm",
    "__attribute__",
    "((",
    "))",
    "[[",
    "]]",
    "packed",
    "sizeof",
    "typeof",
    "__alignof__",
    "__int128",
    "unsigned",
    "__builtin_types_compatible_p",
    "__real__",
    "_Static_assert",
    "__label__",
    "...",
    "<%",
    "%>",
    "auto",
    "constexpr",
    "\n# 3 \"a.h\"\n",
    "\n#pragma pack(push, 1)\n",
    "/*",
    "*/",
    "_Generic",
    "return",
    "_BitInt",
    "bool",
    "::",
];
