//! The trees are those of lang-c's own parser; and what that parser cannot do.

use std::time::{Duration, Instant};

use lang_c::ast::{Expression, ExternalDeclaration, Initializer};
use lang_c::driver::{Config, Flavor, parse_preprocessed};
use lang_c::span::Node;

use super::{SyntaxError, parse};

/// The tree that lang-c's parser gives, and by how much its offsets are off.
fn reference(text: &str, types: &[&str]) -> Option<(Node<ExternalDeclaration>, usize)> {
    let config = Config {
        cpp_command: String::new(),
        cpp_options: Vec::new(),
        flavor: Flavor::GnuC11,
    };
    let prelude = match types {
        [] => String::new(),
        _ => format!("typedef int {};\n", types.join(",")),
    };
    let shift = prelude.len();
    let parsed = parse_preprocessed(&config, prelude + text).ok()?;
    let mut declarations = parsed.unit.0.into_iter().skip(usize::from(shift > 0));
    let first = declarations.next()?;
    declarations.next().is_none().then_some((first, shift))
}

/// A tree in words, with where each node starts. (Ends differ: lang-c's take in white space.)
fn words(tree: &Node<ExternalDeclaration>, shift: usize) -> String {
    let all = format!("{tree:?}");
    let mut parts = all.split('…');
    let mut out = parts.next().unwrap_or("").to_owned();
    for part in parts {
        let digits = out.len() - out.trim_end_matches(|c: char| c.is_ascii_digit()).len();
        let start = out.split_off(out.len() - digits);
        let start = start.parse::<usize>().expect("an offset") - shift;
        out.push_str(&start.to_string());
        out.push_str(part.trim_start_matches(|c: char| c.is_ascii_digit()));
    }
    out
}

#[track_caller]
fn same(text: &str, types: &[&str]) {
    let ours = parse(text, types.iter().copied());
    let ours = ours.unwrap_or_else(|error| panic!("{}: {text}", &text[error.offset..]));
    let theirs = reference(text, types);
    let (theirs, shift) = theirs.unwrap_or_else(|| panic!("lang-c refuses {text}"));
    assert_eq!(words(&ours, 0), words(&theirs, shift), "{text}");
}

/// In a function's body.
#[track_caller]
fn same_statement(statement: &str) {
    let text = format!("int f(int a, T *p, struct s *q) {{ {statement} }}");
    same(&text, &["T", "U"]);
}

/// Where the text stops being C.
#[track_caller]
fn stops(text: &str, types: &[&str]) -> String {
    let Err(SyntaxError { offset }) = parse(text, types.iter().copied()) else {
        panic!("parsed: {text}");
    };
    assert!(reference(text, types).is_none(), "lang-c parses it: {text}");
    text[offset..].to_owned()
}

#[test]
fn declarations() {
    for text in [
        "int x;",
        "int x, *y = &x, z[3] = { 1, 2, 3 };",
        "extern unsigned long long int const volatile x;",
        "static _Thread_local int x;",
        "T x, (*f)(T, U *), g(T x), *h(void);",
        "T (x);",
        "unsigned T;",
        "typedef unsigned T;",
        "typedef int (*U)(int (*)(void), ...), V[3];",
        "typedef void (name)(int);",
        "int (*(*f(int))(void))[3];",
        "int f(int, char *[], int (*)(int), int (), void (*)(void));",
        "int f(int a[], int b[const 3], int c[static 3], int d[*], int n, int e[n][n]);",
        "int f();",
        "int f(a, b);",
        "void f(void) __attribute__((noreturn, nonnull(1, 2)));",
        "__attribute__((malloc)) void *f(int x __attribute__((unused)));",
        "int __attribute__((aligned(8))) *__attribute__((x)) p, __attribute__(( )) q;",
        "int x __asm__(\"y\") __attribute__((weak)) = 3;",
        "_Noreturn static inline void f(void);",
        "_Atomic int x; ",
        "_Atomic(int) x;",
        "__builtin_va_list x;",
        "_Complex double x;",
        "_Float64 x; ",
        "_Float32x x; ;",
        "long int T;",
    ] {
        same(text, &["T", "U"]);
    }
}

#[test]
fn records_and_enumerations() {
    for text in [
        "struct s;",
        "struct s { int a, *b; T c : 3, : 0; struct { int x; }; union { T y; } z; };",
        "struct { } x;",
        "struct s { int a;; T T; } __attribute__((packed)) x, *y;",
        "union u { int a __attribute__((aligned(4))); int b : 3 __attribute__((packed)); };",
        "enum e { A, B = 3, C __attribute__((deprecated)) = sizeof(T), };",
        "enum { A } x = A;",
        "enum e x;",
        "struct T { struct T *T; } T;",
    ] {
        same(text, &["T", "U"]);
    }
}

#[test]
fn initialisers() {
    for text in [
        "int x[] = { 1, 2, };",
        "int x[] = { [3] = 4, [4 ... 7] = 5, [8] 9 };",
        "struct s x = { .a = 1, .b.c[2] = { 3 }, d: 4, { 5 } };",
        "struct s x = { };",
        "struct s *x = &(struct s) { 1, .y = (int [2]) { 1, 2 }[0] };",
        "char s[] = \"a\" \"b\" L\"c\";",
    ] {
        same(text, &["T"]);
    }
}

#[test]
fn expressions() {
    for expression in [
        "a + a * a - a / a % a",
        "a << 1 >> 2 < 3 > 4 <= 5 >= 6 == 7 != 8",
        "a & 1 ^ 2 | 3 && 4 || 5",
        "a = a += a -= a *= a /= a %= a <<= a >>= a &= a ^= a |= a",
        "a ? a, a : a ? a : a",
        "(T) a + (T *) p + (a) + (a)(a)",
        "(T) (U) - (T) + (T) & a",
        "sizeof a + sizeof (a) + sizeof (T) + sizeof (T *) + sizeof - a + sizeof (a)[0]",
        "_Alignof (T [3])",
        "- + ~ ! * & a ++ --",
        "++ -- a",
        "p -> x . y [ a ] ( a , a ) ( )",
        "((a, a), (p))->x",
        "({ int T = 3; T + 1; }) + 'a' + L'\\n'",
        "({ ; })",
        "_Generic (a, int: 1, T *: 2, default: 3)",
        "__builtin_offsetof (T, a.b[3].c)",
        "__builtin_va_arg (a, T *)",
        "(T (*)(int, U)) p",
        "(T (*[3])[4]) p",
        "(T (*(*)(void))()) p",
        "(struct s { int x; }) { 1 } . x",
        "a, a, a",
        "0 + 07 + 0x1fUL + 1lu + 2LL + 0b11 + 3i",
        "1. + .5 + 1.5e3f + 1e-5L + 0x1.8p3 + 0x.8p-1f + 1.0f16 + 1.0F32x + 1.0dd + 2.0i",
        "(unsigned char) '\\'' + \"\\\"\"[0]",
        "(void *) 0",
        "(const volatile T * restrict const *) p",
        "(a) ? (T) { 0 } : (T) { 1 }",
    ] {
        same_statement(&format!("{expression};"));
        same_statement(&format!("return {expression};"));
    }
}

#[test]
fn statements() {
    for statement in [
        ";",
        "if (a) a; else if (p) { } else ;",
        "if (a) if (p) a; else p;",
        "while (a) a--;",
        "do a--; while (a);",
        "for (;;) ;",
        "for (a = 1; a; a++) ;",
        "for (T i = 1, *j; i; i++) continue;",
        "switch (a) { case 1: case 2 ... 3: break; default: a; }",
        "goto x; x: y: a; T: ;",
        "T * x; T y = 1; x = T * 2;",
        "{ T T; T = 1; } T x;",
        "enum { U = 1 } x = U;",
        "for (int U = 1; U; U--) ; U x;",
        "struct s { int x; } y; y.x = 1;",
        "typedef int V; V x; { int V = 1; V = 2; } V y;",
        "static const struct s x = { 1 }, *y = &x;",
        "int f(int), g(T), (*h)(T x);",
        "__asm__ (\"nop\");",
        "__asm__ volatile (\"\" : \"=r\" (a), [x] \"+m\" (*p) : \"r\" (a));",
        "__asm__ volatile (\"\" : : \"r\" (a));",
        "__attribute__((unused)) int x;",
        "__typeof (a) y;",
        "register T x; auto int y; extern T z;",
        "return;",
    ] {
        same_statement(statement);
    }
}

#[test]
fn definitions() {
    same("int f(a, b) int a; register T *b; { return a; }", &["T"]);
    same("static T *f(T x) { return 0; }", &["T"]);
    same("int (*f(int x))(void) { return x; }", &[]);
    same("int f(void) { } ;", &[]);
}

#[test]
fn a_name_means_what_hides_it() {
    // lang-c's parser forgets parameters where the body starts, and takes `T * a` for a declaration.
    let text = "int f(int T, int a) { T * a; return (T) + 1; }";
    let tree = parse(text, ["T"]).expect("parses");
    let words = words(&tree, 0);
    assert!(words.contains("Multiply") && !words.contains("Cast("));
}

#[test]
fn an_operand_of_typeof_is_a_type_if_it_can_be() {
    for text in [
        "__typeof (T) x;",
        "__typeof (T *) x;",
        "__typeof (T [3]) x;",
        "__typeof (T (int)) *x;",
    ] {
        let tree = parse(text, ["T"]).expect("parses");
        let is_type = words(&tree, 0).contains("TypeOf(Node { node: Type(");
        assert!(is_type, "{text}");
    }
}

#[test]
fn what_is_no_c_is_refused_where_it_stops() {
    assert_eq!(stops("T x;", &[]), "T x;");
    assert_eq!(stops("int x", &[]), "");
    assert_eq!(stops("int f(const T);", &[]), "T);");
    assert_eq!(stops("int f(void) { a b; }", &[]), "b; }");
    assert_eq!(stops("int x = ;", &[]), ";");
    assert_eq!(stops("int x; int y;", &["T"]).trim(), "int y;");
    assert_eq!(stops("int x = 08;", &[]), "08;");
    assert_eq!(stops("int x = \"a;", &[]), "\"a;");
    assert_eq!(stops("", &[]), "");
}

#[test]
fn a_large_initialiser_takes_no_time() {
    let row = "{ .a = { 1, 0x2, -3 }, .b = (4 << 5) | FLAG, .c = ((((((((1)))))))) },";
    let text = format!("struct s x[] = {{ {} }};", row.repeat(20_000));
    let begin = Instant::now();
    let tree = parse(&text, []).expect("parses");
    assert!(begin.elapsed() < Duration::from_secs(5));
    let ExternalDeclaration::Declaration(declaration) = &tree.node else {
        panic!("a declaration");
    };
    let initializer = declaration.node.declarators[0].node.initializer.as_ref();
    let Some(Initializer::List(items)) = initializer.map(|node| &node.node) else {
        panic!("a list");
    };
    assert_eq!(items.len(), 20_000);
}

#[test]
fn deep_brackets_are_read_once() {
    let depth = 150;
    let text = format!(
        "int x = {}1{};",
        "f(1 ? (".repeat(depth),
        ") : 2)".repeat(depth)
    );
    let tree = parse(&text, []).expect("parses");
    let ExternalDeclaration::Declaration(declaration) = tree.node else {
        panic!("a declaration");
    };
    let initializer = declaration.node.declarators[0].node.initializer.as_ref();
    let Some(Initializer::Expression(call)) = initializer.map(|node| &node.node) else {
        panic!("an expression");
    };
    assert!(matches!(call.node, Expression::Call(_)));
}
