//! The checkers that come with the program, files of a user, and the place of every mistake.

use crate::finding::Level;
use crate::property::{Event, Property, SourceFile, StateId, Target};

fn errors_of(text: &str) -> Vec<String> {
    let (_, errors) = Property::load(&[SourceFile::new("my.toml", text)]);
    errors.iter().map(ToString::to_string).collect()
}

#[test]
fn the_built_in_checkers_load_without_errors() {
    let (property, errors) = Property::load(&[]);
    assert_eq!(errors, []);
    let names: Vec<_> = property.machines().map(|m| m.name.as_str()).collect();
    assert_eq!(
        names,
        [
            "file",
            "descriptor",
            "heap",
            "mapping",
            "mutex",
            "spinlock",
            "thread_mutex",
            "bitlock",
            "rwlock",
            "rwspinlock",
            "semaphore",
            "interrupts"
        ]
    );
    for rule in property.rules() {
        assert!(rule.explanation.starts_with(&format!("# {}\n", rule.id)));
    }
}

#[test]
fn a_trylock_on_a_held_lock_is_an_error_without_a_rule() {
    let (property, _) = Property::load(&[]);
    let mutex = property.machine("mutex").unwrap();
    assert_eq!(
        mutex.operations["trylock"],
        [Target::State(StateId(1)), Target::Error(None)]
    );
    assert_eq!(
        mutex.operations["lock"][1],
        Target::Error(Some("lock/double-lock".into()))
    );
}

#[test]
fn a_machine_like_another_has_all_of_it_and_what_it_says_itself() {
    let (property, _) = Property::load(&[]);
    let mutex = property.machine("mutex").unwrap();
    let spinlock = property.machine("spinlock").unwrap();
    assert_eq!(spinlock.operations, mutex.operations);
    assert_eq!(spinlock.rule(Event::Exit), mutex.rule(Event::Exit));
    assert_eq!(spinlock.rule(Event::Sleep), Some("lock/sleep-in-atomic"));
    assert_eq!(mutex.rule(Event::Sleep), None);
    assert_eq!(
        errors_of("[[machine]]\nname = \"m\"\nlike = \"x\"\n"),
        ["my.toml:3:8: no machine `x`"]
    );
}

#[test]
fn two_nested_readers_come_back_to_where_they_started() {
    let (property, _) = Property::load(&[]);
    let rwlock = property.machine("rwlock").unwrap();
    let mut state = rwlock.state("unlocked").unwrap();
    for operation in ["read_lock", "read_lock", "read_unlock", "unlock"] {
        match rwlock.operations[operation][usize::from(state.0)] {
            Target::State(next) => state = next,
            Target::Error(_) => panic!("{operation} fails in {}", rwlock.state_name(state)),
        }
    }
    assert_eq!(rwlock.state_name(state), "unlocked");
}

#[test]
fn a_user_file_adds_a_machine_and_a_rule() {
    let text = r#"
            [[rule]]
            id = "socket/leak"
            level = "warning"
            message = "`{object}` is not closed"
            explanation = "Close it."

            [[machine]]
            name = "socket"
            states = ["closed", "open"]
            rules = [{ event = "exits-differ", id = "lock/inconsistent-exit" }]
            operations.open = { closed = "open", open = "error socket/leak" }
        "#;
    let (property, errors) = Property::load(&[SourceFile::new("a/my.toml", text)]);
    assert_eq!(errors, []);
    assert_eq!(property.checkers.last().unwrap().name, "my");
    assert_eq!(property.rule("socket/leak").unwrap().level, Level::Warning);
    assert!(property.machine("socket").is_some());
}

#[test]
fn an_unknown_state_is_reported_at_its_place_and_costs_its_operation_only() {
    let text = "[[machine]]\nname = \"m\"\nstates = [\"a\", \"b\"]\n\
                operations.bad = { a = \"b\", b = \"c\" }\n\
                operations.good = { a = \"b\", b = \"a\" }\n";
    let (property, errors) = Property::load(&[SourceFile::new("my.toml", text)]);
    assert_eq!(
        errors[0].to_string(),
        "my.toml:4:33: this machine has no state `c`; expected one of a, b"
    );
    let machine = property.machine("m").unwrap();
    assert_eq!(machine.operations.keys().collect::<Vec<_>>(), ["good"]);
}

#[test]
fn mistakes_name_what_was_expected() {
    let machine = |rest: &str| format!("[[machine]]\nname = \"m\"\nstates = [\"a\"]\n{rest}\n");
    for (text, message) in [
        (
            machine("operations.o = { a = \"error no/rule\" }"),
            "my.toml:4:22: no rule `no/rule`",
        ),
        (
            machine("operations.o = { }"),
            "my.toml:4:16: operation `o` does not say what happens in state `a`",
        ),
        (
            machine("operations = {}\ninitial = \"x\""),
            "my.toml:5:11: this machine has no state `x`; expected a",
        ),
        (
            "[[rule]]\nid = \"a/b\"\nlevel = \"grave\"\nmessage = \"\"\nexplanation = \"\"".into(),
            "my.toml:3:9: in this rule: unknown variant `grave`, expected one of `error`, `warning`, `note`",
        ),
        (
            "[[rule]]\nid = \"a/b\"\nlevel = \"note\"\nmessage = \"{lock}\"\nexplanation = \"\""
                .into(),
            "my.toml:4:11: the message mentions `{lock}`; expected one of {object}, {state}, {function}, {held}, {callee}",
        ),
        (
            "[[machines]]".into(),
            "my.toml:1:3: unknown key `machines`; expected one of name, in_force, pointers, locals, checks, machine, rule, function, library, sleep, initialise, write, initialiser, assert",
        ),
        (
            machine("operations = {}\nsaved = { b = 1 }"),
            "my.toml:5:11: this machine has no state `b`; expected a",
        ),
        (
            "[[machine]]\nname = \"m\"\nstates = [\"a\", \"b\"]\noperations = {}\n\
             saved = { a = 1, b = 1 }"
                .into(),
            "my.toml:5:9: two states are saved as the same value",
        ),
        (
            "[[machine]]\nname = \"mutex\"\nstates = [\"a\"]\noperations = {}".into(),
            "my.toml:2:8: machine `mutex` is already defined",
        ),
    ] {
        assert_eq!(errors_of(&text), [message]);
    }
}

#[test]
fn broken_toml_is_reported_where_it_breaks() {
    let errors = errors_of("[[rule]]\nid = \n");
    assert!(
        errors.iter().any(|error| error.starts_with("my.toml:2:")),
        "{errors:?}"
    );
}
