//! What functions' names say of when they run: before others know an object, or when they do no longer.
//!
//! In: a name. Out: whether such functions set up what they are given, or tear it down. What a body shows says more ([`super::concurrent`]); names are asked
//! for what a body does not show: that nobody else works on the object at that time.

const SETTING_UP: [&str; 9] = [
    "init",
    "initialize",
    "initialise",
    "setup",
    "alloc",
    "allocate",
    "create",
    "new",
    "probe",
];
/// Words for what is done once, before anybody else works on what is global.
const INITIALISING: [&str; 4] = ["init", "initialize", "initialise", "setup"];
const TEARING_DOWN: [&str; 20] = [
    "free",
    "destroy",
    "release",
    "unregister",
    "deregister",
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
    "uninit",
    "teardown",
    "unbind",
];

/// The words of a name. `probe2` does the second part of what `probe` does.
fn words(name: &str) -> impl DoubleEndedIterator<Item = &str> {
    let words = name.split('_').filter(|word| !word.is_empty());
    words.map(|word| word.trim_end_matches(|last: char| last.is_ascii_digit()))
}

fn is_one_of(word: &str, words: &[&str]) -> bool {
    words.iter().any(|known| word.eq_ignore_ascii_case(known))
}

fn has_word(name: &str, known: &[&str]) -> bool {
    words(name).any(|word| is_one_of(word, known))
}

/// Whether a word stands at the name's end (`queue_init`) or at its beginning (`init_queue`): in between it is said of some part.
fn is_named(name: &str, known: &[&str]) -> bool {
    let mut words = words(name);
    let (first, last) = (words.next(), words.next_back());
    [first, last]
        .into_iter()
        .flatten()
        .any(|word| is_one_of(word, known))
}

/// Whether functions of this name set something up that nobody else works on yet.
pub fn sets_up(name: &str) -> bool {
    has_word(name, &SETTING_UP)
}

/// Whether functions of this name tear something down that nobody else works on any more: they are called once for it.
pub fn tears_down(name: &str) -> bool {
    has_word(name, &TEARING_DOWN)
}

/// Whether that is said of the object that they are given: `allocate_page` sets up a page of it.
pub fn is_set_up(name: &str) -> bool {
    let last = words(name).next_back();
    last.is_some_and(|word| is_one_of(word, &SETTING_UP))
}

/// Whether that is said of the object that they are given.
pub fn is_tear_down(name: &str) -> bool {
    is_named(name, &TEARING_DOWN)
}

/// Whether functions of this name set up what is global.
pub fn initialises(name: &str) -> bool {
    is_named(name, &INITIALISING)
}
