//! What functions' names say of when they run: before others know an object, or when they do no longer.
//!
//! In: a name. Out: whether such functions set up what they are given, or tear it down. What a body shows says more ([`super::concurrent`]); names are asked
//! for what a body does not show: that nobody else works on the object at that time.

const SETTING_UP: [&str; 8] = [
    "init",
    "initialize",
    "initialise",
    "setup",
    "alloc",
    "allocate",
    "create",
    "new",
];
const TEARING_DOWN: [&str; 17] = [
    "free",
    "destroy",
    "release",
    "unregister",
    "remove",
    "delete",
    "del",
    "close",
    "stop",
    "shutdown",
    "disconnect",
    "detach",
    "cleanup",
    "exit",
    "fini",
    "deinit",
    "unbind",
];

fn has_word(name: &str, words: &[&str]) -> bool {
    name.split('_')
        .any(|word| words.iter().any(|known| word.eq_ignore_ascii_case(known)))
}

/// Whether functions of this name set up an object that nobody else works on yet.
pub fn sets_up(name: &str) -> bool {
    has_word(name, &SETTING_UP)
}

/// Whether functions of this name tear down an object that nobody else works on any more: they are called once for it.
pub fn tears_down(name: &str) -> bool {
    has_word(name, &TEARING_DOWN)
}
