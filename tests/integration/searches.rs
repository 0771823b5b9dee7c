//! The searches of a program's interleavings give one answer: for small programs with threads, written at random.

use std::fmt::Write as _;

use cassini::concurrency::differ::{Question, Search, differ};
use cassini::concurrency::program::Program;
use cassini::concurrency::search::Limits;
use cassini::frontend::dialect::Dialect;
use cassini::frontend::whole;
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;

/// A statement of a thread.
#[derive(Clone, Debug)]
enum Statement {
    Assign(&'static str, String),
    /// Through a pointer to one of the variables.
    Store(String),
    If(String, Vec<Statement>, Vec<Statement>),
    Locked(&'static str, Vec<Statement>),
    Tried(Vec<Statement>),
    Atomic(Vec<Statement>),
    Twice(Vec<Statement>),
    Assert(String),
}

fn variable() -> impl Strategy<Value = &'static str> {
    select(&["x", "y", "z"][..])
}

fn value() -> impl Strategy<Value = String> {
    prop_oneof![
        (0..4u8).prop_map(|number| number.to_string()),
        variable().prop_map(str::to_owned),
        (variable(), 0..3u8).prop_map(|(name, number)| format!("{name} + {number}")),
        (variable(), select(&["+", "-", "^"][..]), variable())
            .prop_map(|(left, sign, right)| format!("{left} {sign} {right}")),
    ]
}

fn condition() -> impl Strategy<Value = String> {
    (variable(), select(&["==", "!=", "<", ">"][..]), 0..4u8)
        .prop_map(|(name, sign, number)| format!("{name} {sign} {number}"))
}

fn simple() -> impl Strategy<Value = Statement> {
    prop_oneof![
        4 => (variable(), value()).prop_map(|(name, value)| Statement::Assign(name, value)),
        1 => value().prop_map(Statement::Store),
        1 => condition().prop_map(Statement::Assert),
    ]
}

fn statement() -> impl Strategy<Value = Statement> {
    let few = || vec(simple(), 1..3);
    prop_oneof![
        6 => simple(),
        3 => (condition(), few(), vec(simple(), 0..2))
            .prop_map(|(cond, then, els)| Statement::If(cond, then, els)),
        1 => (select(&["m", "n"][..]), few()).prop_map(|(lock, body)| Statement::Locked(lock, body)),
        1 => few().prop_map(Statement::Tried),
        1 => few().prop_map(Statement::Atomic),
        1 => vec(simple(), 1).prop_map(Statement::Twice),
    ]
}

fn print(statements: &[Statement], out: &mut String) {
    for statement in statements {
        match statement {
            Statement::Assign(name, value) => _ = writeln!(out, "{name} = {value};"),
            Statement::Store(value) => _ = writeln!(out, "*p = {value};"),
            Statement::If(cond, then, els) => {
                _ = writeln!(out, "if ({cond}) {{");
                print(then, out);
                out.push_str("} else {\n");
                print(els, out);
                out.push_str("}\n");
            }
            Statement::Locked(lock, body) => {
                _ = writeln!(out, "pthread_mutex_lock(&{lock});");
                print(body, out);
                _ = writeln!(out, "pthread_mutex_unlock(&{lock});");
            }
            Statement::Tried(body) => {
                out.push_str("if (pthread_mutex_trylock(&m) == 0) {\n");
                print(body, out);
                out.push_str("pthread_mutex_unlock(&m);\n}\n");
            }
            Statement::Atomic(body) => {
                out.push_str("__VERIFIER_atomic_begin();\n");
                print(body, out);
                out.push_str("__VERIFIER_atomic_end();\n");
            }
            Statement::Twice(body) => {
                out.push_str("for (int i = 0; i < 2; i++) {\n");
                print(body, out);
                out.push_str("}\n");
            }
            Statement::Assert(cond) => _ = writeln!(out, "__cassini_assert(!({cond}));"),
        }
    }
}

const HEAD: &str =
    "typedef unsigned long pthread_t; typedef struct { long words[5]; } pthread_mutex_t;
int pthread_create(pthread_t *, const void *, void *(*)(void *), void *);
int pthread_join(pthread_t, void **);
int pthread_mutex_lock(pthread_mutex_t *);
int pthread_mutex_trylock(pthread_mutex_t *);
int pthread_mutex_unlock(pthread_mutex_t *);
void __VERIFIER_atomic_begin(void); void __VERIFIER_atomic_end(void); void __cassini_assert(int);
int x, y = 1, z; pthread_mutex_t m, n;
";

/// A program with threads, and perhaps something that `main` does beside them.
fn program() -> impl Strategy<Value = String> {
    let threads = vec(vec(statement(), 1..4), 2..4);
    (
        variable(),
        threads,
        vec(simple(), 0..2),
        any::<bool>(),
        condition(),
    )
        .prop_map(|(target, threads, beside, joined, cond)| {
            let mut text = format!("{HEAD}int *p = &{target};\n");
            for (number, body) in threads.iter().enumerate() {
                _ = writeln!(text, "void *t{number}(void *a)\n{{");
                print(body, &mut text);
                text.push_str("return a;\n}\n");
            }
            _ = writeln!(text, "int main(void)\n{{\npthread_t h[{}];", threads.len());
            for number in 0..threads.len() {
                _ = writeln!(text, "pthread_create(&h[{number}], 0, t{number}, 0);");
            }
            print(&beside, &mut text);
            for number in (0..threads.len()).filter(|_| joined) {
                _ = writeln!(text, "pthread_join(h[{number}], 0);");
            }
            _ = writeln!(text, "__cassini_assert(!({cond}));\nreturn 0;\n}}");
            text
        })
}

/// Whether a search finds a failure; `None` if it does not come to its end.
fn fails(text: &str, search: Search) -> Option<bool> {
    let unit = whole::program(text.as_bytes(), "t.c", Dialect::default());
    assert!(unit.losses.is_empty(), "{text}");
    let program = Program::link(&unit.functions, &unit.objects);
    let main = program.function("main").unwrap();
    let question = Question {
        entry: main,
        filter_entry: main,
        limits: Limits {
            states: 100_000,
            steps: 20_000_000,
            preemptions: None,
        },
        all: false,
        search: Some(search),
        targets: &[],
    };
    let (outcome, _) = differ(&program, question);
    let ended = outcome.explored.exhausted && outcome.explored.cut.is_empty();
    match outcome.found.is_empty() {
        false => Some(true),
        true if ended => Some(false),
        true => None,
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 150, max_shrink_iters: 200, failure_persistence: None, ..ProptestConfig::default() })]
    #[test]
    fn all_searches_agree(text in program()) {
        let all = [Search::Preemptions, Search::Slices, Search::DepthFirst];
        let answers = all.map(|search| fails(&text, search));
        let known: Vec<bool> = answers.into_iter().flatten().collect();
        prop_assert!(known.windows(2).all(|two| two[0] == two[1]), "{answers:?}\n{text}");
    }
}
