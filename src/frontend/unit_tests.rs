//! Whole units through the driver: what is lowered, shared, stored and lost.

use std::collections::HashMap;
use std::sync::Mutex;

use proptest::prelude::*;
use rayon::prelude::*;

use super::split::{SourceFile, Tree};
use super::unit::{BodyStore, FrontEnd, UnitKey, UnitSource};
use super::{BodyKey, UnitIndex};
use crate::ir::{Body, Enumerated, Scalar, Step};

/// Headers lie under `/`, all else is the tree's own.
struct OwnTree;

impl Tree for OwnTree {
    fn file(&self, marker: &str) -> SourceFile {
        SourceFile {
            name: marker.to_owned(),
            own: !marker.starts_with('/'),
        }
    }
}

#[derive(Default)]
struct Memory {
    bodies: Mutex<HashMap<BodyKey, Body>>,
    units: Mutex<HashMap<UnitKey, UnitIndex>>,
    /// How often a body was lowered.
    puts: Mutex<u32>,
}

impl BodyStore for Memory {
    fn put(&self, key: &BodyKey, body: &Body) {
        *self.puts.lock().expect("lock") += 1;
        let old = self.bodies.lock().expect("lock").insert(*key, body.clone());
        assert!(old.is_none_or(|old| old == *body), "one key, two bodies");
    }

    fn unit(&self, key: &UnitKey) -> Option<UnitIndex> {
        self.units.lock().expect("lock").get(key).cloned()
    }

    fn put_unit(&self, key: &UnitKey, index: &UnitIndex) {
        self.units.lock().expect("lock").insert(*key, index.clone());
    }
}

fn index(front_end: &FrontEnd, store: &Memory, source: &str, text: &str) -> UnitIndex {
    let unit = UnitSource {
        source,
        text: text.as_bytes(),
        tree: &OwnTree,
        tree_key: [0; 32],
    };
    front_end.unit(&unit, store)
}

fn key(index: &UnitIndex, name: &str) -> BodyKey {
    let function = index.functions.iter().find(|f| f.name.name == name);
    *function
        .unwrap_or_else(|| panic!("{name} is not in {}", index.source))
        .body
        .as_ref()
        .unwrap_or_else(|reason| panic!("{name}: {reason:?}"))
}

const HEADER: &str = "# 1 \"/lock.h\"\nstruct lock { word_t held; struct lock *next; };\n\
    static inline int busy(struct lock *l) { return l->held; }\n\
    static inline int unused(struct lock *l) { return busy(l) + 1; }\n";

fn unit(word: &str, body: &str) -> String {
    format!("# 1 \"/word.h\"\ntypedef {word} word_t;\n{HEADER}# 1 \"main.c\" 2\n{body}")
}

#[test]
fn own_functions_and_what_they_reach_are_lowered() {
    let store = Memory::default();
    let text = unit("int", "int f(struct lock *l) { return busy(l); }");
    let index = index(&FrontEnd::new(), &store, "main.c", &text);
    let names: Vec<_> = index
        .functions
        .iter()
        .map(|f| (f.name.to_string(), f.own, f.line))
        .collect();
    assert_eq!(
        names,
        [
            ("f".to_owned(), true, 1),
            ("/lock.h::busy".to_owned(), false, 2)
        ]
    );
    assert_eq!((index.declarations, index.function_definitions), (5, 3));
    assert!(index.losses.is_empty(), "{:?}", index.losses);
}

#[test]
fn a_header_function_is_lowered_once_for_all_units() {
    let store = Memory::default();
    let front_end = FrontEnd::new();
    let f = index(
        &front_end,
        &store,
        "main.c",
        &unit("int", "int f(struct lock *l) { return busy(l); }"),
    );
    // Another unit, where unrelated names mean other things and lines differ above.
    let other = unit(
        "int",
        "typedef long other_t;\n\n\nint g(struct lock *l) { return !busy(l); }",
    );
    let g = index(&front_end, &store, "other.c", &other);
    assert_eq!(key(&f, "busy"), key(&g, "busy"));
    assert_eq!(*store.puts.lock().expect("lock"), 3);
}

#[test]
fn a_name_that_means_something_else_makes_another_body() {
    let store = Memory::default();
    let front_end = FrontEnd::new();
    let f = index(
        &front_end,
        &store,
        "a.c",
        &unit("int", "int f(struct lock *l) { return busy(l); }"),
    );
    let g = index(
        &front_end,
        &store,
        "b.c",
        &unit("char", "int g(struct lock *l) { return busy(l); }"),
    );
    assert_ne!(key(&f, "busy"), key(&g, "busy"));
}

#[test]
fn a_change_in_a_callees_body_leaves_its_callers_key() {
    let store = Memory::default();
    let front_end = FrontEnd::new();
    let caller = "int f(struct lock *l) { return busy(l); }";
    let f = index(&front_end, &store, "main.c", &unit("int", caller));
    let changed = unit("int", caller).replace("return l->held", "return !l->held");
    let g = index(&front_end, &store, "main.c", &changed);
    assert_ne!(key(&f, "busy"), key(&g, "busy"));
    assert_eq!(key(&f, "f"), key(&g, "f"));
    // Nor does a line inserted above a header's types.
    let moved = unit("int", caller).replace("# 1 \"/word.h\"", "# 9 \"/word.h\"");
    let h = index(&front_end, &store, "main.c", &moved);
    assert_eq!(key(&f, "f"), key(&h, "f"));
}

#[test]
fn a_unit_seen_before_is_not_read_again() {
    let store = Memory::default();
    let text = unit("int", "int f(struct lock *l) { return busy(l); }");
    let first = index(&FrontEnd::new(), &store, "main.c", &text);
    let lowered = *store.puts.lock().expect("lock");
    let second = index(&FrontEnd::new(), &store, "main.c", &text);
    assert_eq!(first, second);
    assert_eq!(*store.puts.lock().expect("lock"), lowered);
}

#[test]
fn threads_and_order_change_nothing() {
    let units: Vec<(String, String)> = (0..24)
        .map(|n| {
            let word = ["int", "char", "long"][n % 3];
            let body = format!("int f{n}(struct lock *l) {{ return busy(l) + {n}; }}");
            (format!("{n}.c"), unit(word, &body))
        })
        .collect();
    let run = |reversed: bool| {
        let (front_end, store) = (FrontEnd::new(), Memory::default());
        let mut order: Vec<usize> = (0..units.len()).collect();
        if reversed {
            order.reverse();
        }
        let mut indexes: Vec<(usize, UnitIndex)> = order
            .par_iter()
            .map(|&n| (n, index(&front_end, &store, &units[n].0, &units[n].1)))
            .collect();
        indexes.sort_by_key(|(n, _)| *n);
        indexes
    };
    assert_eq!(run(false), run(true));
}

#[test]
fn what_is_lost_is_listed_with_its_place() {
    let store = Memory::default();
    let text = "# 1 \"main.c\"\nint good;\nint bad = ;\nint f(void) { int g(void) { return 1; } return g(); }\n\
        # 5 \"/h.h\"\nint unread = ;\n";
    let index = index(&FrontEnd::new(), &store, "main.c", text);
    let losses: Vec<_> = index
        .losses
        .iter()
        .map(|loss| {
            let name = loss.name.as_deref().unwrap_or("");
            format!(
                "{}:{} {name}: {}",
                loss.file, loss.line, loss.reason.message
            )
        })
        .collect();
    assert_eq!(
        losses,
        [
            "main.c:2 bad: syntax error before `;`",
            "main.c:3 f: nested function"
        ]
    );
    assert!(index.functions[0].body.is_ok());
}

#[test]
fn static_on_an_earlier_declaration_counts() {
    let store = Memory::default();
    let text = "static int h(void);\nint f(void) { return h(); }\nint h(void) { return 1; }\n";
    let index = index(&FrontEnd::new(), &store, "main.c", text);
    let names: Vec<_> = index.functions.iter().map(|f| f.name.to_string()).collect();
    assert_eq!(names, ["f", "main.c::h"]);
    assert_eq!(index.functions[0].callees[0].name.to_string(), "main.c::h");
}

#[test]
fn constants_of_system_headers_are_found_in_initialisers() {
    let text = "# 1 \"/pthread.h\"\nenum { RECURSIVE = 1 };\n\
        typedef union { struct kind { int count; int kind; } data; long align; } mutex_t;\n\
        # 1 \"main.c\" 2\nenum { OWN = 1 };\nstruct s { int n; mutex_t lock; };\n\
        static struct s all[2] = { { 0 }, { .lock = { { 0, RECURSIVE } }, .n = OWN } };\n\
        int f(void) { static mutex_t one = { { 0, RECURSIVE } }; return one.data.kind; }\n";
    let index = index(&FrontEnd::new(), &Memory::default(), "main.c", text);
    let shown = |enumerated: &[Enumerated]| -> Vec<String> {
        let way = |step: &Step| {
            format!(
                "{}+{}:{}.{}",
                step.at, step.offset, step.member.0, step.member.1
            )
        };
        enumerated
            .iter()
            .map(|one| {
                let way: Vec<_> = one.way.iter().map(way).collect();
                format!("{} in {} at {}", one.constant, one.object, way.join(" "))
            })
            .collect()
    };
    assert_eq!(
        shown(&index.enumerated),
        ["RECURSIVE in main.c::all at 16+8:struct s.lock 24+0:mutex_t.data 24+4:struct kind.kind"]
    );
    let of_function = shown(&index.functions[0].enumerated);
    assert_eq!(of_function.len(), 1);
    assert!(
        of_function[0].ends_with("at 0+0:mutex_t.data 0+4:struct kind.kind"),
        "{of_function:?}"
    );
}

#[test]
fn types_of_missing_headers_do_not_cost_the_function() {
    let store = Memory::default();
    let text =
        "void f(GtkWidget *w, guint n) { GList *l = w; guint m = (guint) n; use(l, m + 1); }\n";
    let index = index(&FrontEnd::new(), &store, "main.c", text);
    assert_eq!(index.functions[0].body.as_ref().err(), None);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn no_tokens_make_the_driver_panic(
        tokens in prop::collection::vec(prop::sample::select(TOKENS), 0..60),
    ) {
        let text = format!("{HEADER}# 1 \"main.c\"\nint f(struct lock *x, int y) {{ {} }}", tokens.join(" "));
        let index = index(&FrontEnd::new(), &Memory::default(), "main.c", &text);
        for loss in index.losses {
            prop_assert!(!loss.reason.message.contains("panic"), "{text}");
        }
    }
}

const TOKENS: &[&str] = &[
    "x",
    "y",
    "x->held",
    "busy(x)",
    "1",
    "0",
    "\"s\"",
    "+",
    "-",
    "*",
    "&",
    "&&",
    "||",
    "?",
    ":",
    "=",
    "(",
    ")",
    "{",
    "}",
    ";",
    ";",
    ";",
    ",",
    "[1]",
    "if (y)",
    "else",
    "while (y)",
    "do",
    "for (;;)",
    "switch (y)",
    "case 1:",
    "default:",
    "break;",
    "continue;",
    "goto l;",
    "l:",
    "return",
    "int z;",
    "struct lock a;",
    "int v[y];",
    "sizeof",
    "typeof(y) w;",
    "(long)",
    "({ y; })",
    "(struct lock){ 0 }",
    ".held",
    "->next",
    "++",
    "asm goto (\"\" : : : : l);",
    "goto *x;",
    "&&l",
    "enum { A, B = A };",
    "__auto_type q = y;",
    "__label__ l;",
    "y ?: 1;",
];

/// The objects of a unit that nothing in it changes, with what lies at their beginning.
fn constants(text: &str) -> Vec<(String, Scalar)> {
    let index = index(&FrontEnd::new(), &Memory::default(), "main.c", text);
    assert!(index.losses.is_empty(), "{:?}", index.losses);
    let functions = index.functions.iter();
    let statics = functions.flat_map(|function| &function.statics);
    let all = index.objects.iter().chain(statics);
    all.map(|object| (object.name.name.clone(), object.image.read(0, 4)))
        .collect()
}

#[test]
fn objects_hold_what_their_initialisers_give_them_unless_something_changes_them() {
    let text = "static int zero; static int five = 5; static int written = 1; static int *p = &five;\n\
        static int taken = 2, asked = 3; static volatile int clock = 1; int shared = 7; int *set_elsewhere = 0;\n\
        const char name[] = \"abcdef\"; static struct { int a : 3, b : 5; short c; } bits = {1, 2, 3};\n\
        int f(int n) { static const int once = 9; static int calls; written = n; calls++;\n\
            return zero + *p + (p == &asked) + asked + once + bits.b + clock; }\n\
        int *g(void) { return &taken; }";
    let expected = [
        ("zero", Scalar::Bits(0)),
        ("asked", Scalar::Bits(3)),
        ("shared", Scalar::Bits(7)),
        ("name", Scalar::Bits(0x6463_6261)),
        ("bits", Scalar::Bits(0x0003_0011)),
        ("f.once", Scalar::Bits(9)),
        ("f.calls", Scalar::Bits(0)),
    ];
    let mut found = constants(text);
    // A pointer of eight bytes: half of it is nothing that is known.
    let p = found.iter().position(|(name, _)| name == "p").expect("p");
    assert_eq!(found.remove(p).1, Scalar::Unknown);
    let expected: Vec<(String, Scalar)> = expected
        .map(|(name, value)| (name.to_owned(), value))
        .into();
    assert_eq!(found, expected);
}

#[test]
fn a_function_that_is_lost_may_change_what_it_names() {
    let text = "static int level = 3; static int other = 4;\n\
        int f(void) { return level + other; }\n\
        void g(void) { level = @; }";
    let index = index(&FrontEnd::new(), &Memory::default(), "main.c", text);
    assert_eq!(index.losses.len(), 1);
    let names = index.objects.iter().map(|object| object.name.name.as_str());
    assert_eq!(names.collect::<Vec<_>>(), ["other"]);
}
