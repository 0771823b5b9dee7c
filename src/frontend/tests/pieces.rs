//! What a unit splits into, and what is known of each piece before it is parsed.

use super::{parses, parts, pieces, rewrites, with_scope};
use crate::frontend::scope::{DeclId, Scope, TagKind};

#[test]
fn declarations_end_at_semicolons_and_bodies_at_their_brace() {
    assert_eq!(
        parts("int a; int f(void) { if (a) { ; } } struct s { int x; } y = { 1 }; int g();"),
        [
            "int a;",
            "int f(void) { if (a) { ; } }",
            "struct s { int x; } y = { 1 };",
            "int g();"
        ]
    );
}

#[test]
fn braces_that_open_no_body() {
    let bodies = |text: &str| {
        let pieces = pieces(text).pieces;
        pieces.iter().filter(|piece| piece.body.is_some()).count()
    };
    assert_eq!(bodies("struct __attribute__((packed)) { int a; } x;"), 0);
    assert_eq!(
        bodies("struct s __attribute__((aligned(8))) { int a; };"),
        0
    );
    assert_eq!(bodies("enum e : unsigned char { A } x;"), 0);
    assert_eq!(bodies("struct p o = (struct p) { 1 };"), 0);
    assert_eq!(bodies("int a[] = { 1, 2 }, b[] = { 3 };"), 0);
    assert_eq!(
        bodies("struct s { int a; } f(void) { return (struct s) { 1 }; }"),
        1
    );
    assert_eq!(bodies("struct s a =\n# 3 \"x.c\" 3 4\n { 1 };"), 0);
    assert_eq!(bodies("int a = sizeof (int[]) { 1, 2 };"), 0);
    assert_eq!(bodies("int (*f(int a))(void) { return 0; }"), 1);
    assert_eq!(bodies("void f(void) __attribute__((x(\"(\"))) { }"), 1);
    assert_eq!(bodies("int f(a, b) int a; char *b; { return a; }"), 1);
}

#[test]
fn old_style_definitions_are_one_piece() {
    let text = "int g(void);\nint f(a, b)\n int a; char *b;\n{ return a + *b; }\nint z;";
    assert_eq!(parts(text).len(), 3);
    parses(text);
    rewrites("main() { }", "int main ( ) { }");
    rewrites(
        "static f(a) register a; { return a; }",
        "static int f ( a ) register int a ; { return a ; }",
    );
}

#[test]
fn quotes_and_comments_hide_brackets() {
    let text =
        "char *s = \"};{\\\"\"; char c = '}'; /* } */ int d = 1'000; int f() { return '{'; }";
    assert_eq!(parts(text).len(), 4);
    parses(text);
}

#[test]
fn unbalanced_brackets_cost_what_they_stand_in() {
    let text = "int a;\n}\nint b;\nvoid f(void)\n{\n  if (x) {\n}\nint c;\n";
    let pieces = pieces(text);
    let messages: Vec<_> = pieces
        .losses
        .iter()
        .map(|loss| (loss.1, loss.2.message.as_str()))
        .collect();
    assert_eq!(
        messages,
        [
            (2, "closing brace without an opening one"),
            (4, "bracket that is never closed")
        ]
    );
    assert_eq!(parts(text), ["int a;", "int b;", "int c;"]);
}

#[test]
fn a_bracket_that_is_never_closed_costs_one_declaration() {
    let text = "int broken(int a { return a; }\nvoid f(void)\n{\n\tg();\nout:\n\th();\n}\nint c;\n";
    let rest = ["void f(void)\n{\n\tg();\nout:\n\th();\n}", "int c;"];
    assert_eq!(parts(text), rest);
    let text = "void broken(void)\n{\n\tif (x) {\n\t\tg();\nout:\n\th();\n}\nint c;\n";
    assert_eq!(parts(text), ["int c;"]);
    assert_eq!(parts("struct s {\n\tint a;\nint b;\n"), ["int b;"]);
}

#[test]
fn a_marker_may_name_a_file_with_a_line_feed_in_its_name() {
    let pieces = pieces("# 1 \"new\\nline\\\"x.c\"\nint a;\n");
    let file = pieces.files.get(pieces.pieces[0].file).expect("file");
    assert_eq!(file.name, "new\nline\"x.c");
}

#[test]
fn places_follow_line_markers() {
    let text = "# 1 \"main.c\"\n# 1 \"/usr/a.h\" 1\nint a;\n\n  int b;\n# 7 \"main.c\" 2\nint\n f(void)\n{ return\n# 42 \"other.c\"\n a; }";
    let pieces = pieces(text);
    let places: Vec<_> = pieces
        .pieces
        .iter()
        .map(|piece| {
            let file = pieces.files.get(piece.file).expect("file");
            (file.name.as_str(), file.own, piece.line, piece.column)
        })
        .collect();
    assert_eq!(
        places,
        [
            ("/usr/a.h", false, 1, 1),
            ("/usr/a.h", false, 3, 3),
            ("main.c", true, 7, 1)
        ]
    );
    with_scope(text.as_bytes(), |scope| {
        let definition = scope.definition(DeclId(2)).expect("parses");
        let last = definition.places.place(usize::MAX);
        assert_eq!((last.file, last.line, last.column), ("other.c", 42, 5));
        let name = definition.places.place(definition.ast.span.start + 4);
        assert_eq!((name.file, name.line, name.column), ("main.c", 8, 2));
    });
}

#[test]
fn a_declaration_of_a_header_is_shared_whatever_its_line() {
    let key = |text: &str| with_scope(text.as_bytes(), |scope| scope.full_key(DeclId(0)));
    let here = key("# 3 \"a.h\"\nint x;");
    assert_eq!(here, key("# 9 \"a.h\"\nint x;"));
    assert_ne!(here, key("# 3 \"b.h\"\nint x;"));
    // A body carries its lines.
    assert_ne!(
        key("# 3 \"a.h\"\nint f() { return 0; }"),
        key("# 4 \"a.h\"\nint f() { return 0; }")
    );
}

#[test]
fn the_key_covers_which_names_are_types() {
    let key = |text: &str| with_scope(text.as_bytes(), |scope| scope.full_key(DeclId(1)));
    assert_ne!(
        key("typedef int t; int f(int a) { return (t) + a; }"),
        key("extern int t; int f(int a) { return (t) + a; }")
    );
}

#[test]
fn names_are_found_in_every_kind_of_declaration() {
    let text = "typedef bool (predicate)(int), *boolp; typedef struct tag { enum { RED, GREEN = 2 } c; struct inner { int i; } in; } tag_t;\
        typedef int (*callback)(void (*)(int)), vector[4]; typedef __typeof__(1) one;\
        extern int printf(const char *, ...), errno; int (*table[3])(int); static struct tag *p, q = { 0 };\
        enum { A, B = (1, 2), C }; foo_t bar(void); union u { int a; }; int (parenthesised)(void); T (*pointer);";
    with_scope(text.as_bytes(), |scope| {
        for name in ["predicate", "boolp", "tag_t", "callback", "vector", "one"] {
            assert!(scope.typedef(name).is_some(), "{name}");
            assert!(scope.ordinary(name).is_none(), "{name}");
        }
        for name in [
            "RED",
            "GREEN",
            "printf",
            "errno",
            "table",
            "p",
            "q",
            "A",
            "B",
            "C",
            "bar",
            "parenthesised",
            "pointer",
        ] {
            assert!(scope.ordinary(name).is_some(), "{name}");
            assert!(scope.typedef(name).is_none(), "{name}");
        }
        assert!(scope.tag(TagKind::Struct, "tag").is_some());
        assert!(scope.tag(TagKind::Struct, "inner").is_some());
        assert!(scope.tag(TagKind::Union, "u").is_some());
        assert!(scope.tag(TagKind::Struct, "u").is_none());
        assert!(scope.ordinary("foo_t").is_none());
        assert!(scope.internal("p") && !scope.internal("errno"));
    });
}

#[test]
fn what_macros_of_missing_headers_leave_is_no_name() {
    let text = "static void PRINTF(3, 0) NONNULL((3)) say(int status) { } API(int) T *make(void); void run(int a) MARK(1);\
        int RUN(a) int a; { return a; }";
    with_scope(text.as_bytes(), |scope| {
        for name in ["say", "make", "run", "RUN"] {
            assert!(scope.ordinary(name).is_some(), "{name}");
        }
        for name in ["PRINTF", "NONNULL", "API", "MARK"] {
            assert!(scope.ordinary(name).is_none(), "{name}");
        }
        assert!(scope.internal("say"));
    });
}

#[test]
fn the_declaration_that_says_most_is_found() {
    let text = "extern int a[]; int a[4]; int f(); int f(int x); int f(int x) { return x; } int f(int);\
        void die(void) __attribute__((noreturn)); void die(void) { for (;;); } static int h(void); int h(void) { return 1; }";
    with_scope(text.as_bytes(), |scope| {
        assert_eq!(scope.ordinary("a"), Some(DeclId(1)));
        assert_eq!(scope.ordinary("f"), Some(DeclId(4)));
        assert!(scope.noreturn("die") && !scope.noreturn("f"));
        assert!(scope.internal("h"));
    });
}
