//! Properties as data: finite state machines over interface objects (paper §5), loaded from
//! `checkers/*.toml`.
//!
//! In: checker files. Out: a [`Property`], the [`Checker`]s with machines, operations and rules,
//! checked at load. Knows nothing of C.

pub(crate) mod document;
mod load;

use std::collections::BTreeMap;

use include_dir::{Dir, include_dir};
use serde::{Deserialize, Serialize};

use crate::finding::Level;
pub use document::{LoadError, SourceFile};

/// The checkers that come with the program.
static CHECKERS: Dir<'_> = include_dir!("$CARGO_MANIFEST_DIR/checkers");

/// A state of a machine, an index into [`Machine::states`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct StateId(pub u8);

/// Some states of a machine. Those beyond the 64th are left out.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize,
)]
pub struct States(u64);

impl States {
    pub fn insert(&mut self, state: StateId) {
        self.0 |= 1u64.checked_shl(u32::from(state.0)).unwrap_or(0);
    }

    pub fn contains(self, state: StateId) -> bool {
        1u64.checked_shl(u32::from(state.0))
            .is_some_and(|bit| self.0 & bit != 0)
    }
}

/// Where an operation leads.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Target {
    State(StateId),
    /// The error state, with the id of the rule that names the mistake; `None` when the mistake is
    /// recorded in summaries but not reported (a trylock on a lock already held).
    Error(Option<String>),
}

/// What a state means for who answers for an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Role {
    /// Nobody has it.
    Free,
    /// Whoever has put it there must see to it that it leaves this state.
    Held,
    /// Nothing can be done with it any more, and nobody need do anything.
    Dead,
    /// Nothing follows from it.
    Unknown,
}

/// A state of a machine.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct State {
    pub name: String,
    pub role: Role,
    /// As messages have it: `read-locked`.
    pub text: String,
}

/// What a rule of a machine is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Event {
    /// The function returns with the object in different states without a difference that its caller can observe (Type B).
    ExitsDiffer,
    /// The function returns with the object in such a state, has put it there, and neither it nor any caller ends that.
    Exit,
    /// The function ends such a state, in which neither it nor any caller has put the object.
    Release,
    /// Something sleeps while the object is in such a state.
    Sleep,
    /// Objects are taken in different orders in different places.
    Order,
    /// An object is taken again that the program has not initialised as recursive.
    TakenAgain,
    /// Bytes of the object are read or written, or handed to a function that does so, while it is in such a state.
    Use,
    /// The object, in such a state, is handed to a function of which nothing is known.
    Handed,
    /// The last pointer to the object goes while it is in such a state.
    Lost,
    /// An operation gets an address within the object that is not its first.
    Inside,
}

/// What tells the objects of a machine apart.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Key {
    /// Their address: a lock is where it lies.
    #[default]
    Location,
    /// The whole of what a pointer leads into: any address in a block of memory is the block's.
    Region,
    /// The value of an `int` that the system has given out: a file descriptor, wherever copies of it are.
    Value,
}

/// Words in the names of functions that put objects into a held state for their callers, or end one. (`lock` is no word of `block` or
/// `clock`.)
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Names {
    pub held: Vec<String>,
    pub required: Vec<String>,
    /// Those that count, too, for a function that is stored as a method: what is stored as `release` releases more than locks.
    pub stored: Vec<String>,
    /// Those of functions that get an object and leave it as they found it (`cond_wait(&cond, &mutex)`).
    pub kept: Vec<String>,
    /// Words of functions that make objects, each between underscores; `*` stands for what may come before it.
    pub made: Vec<String>,
}

impl Names {
    /// Whether a function's name says that what it returns is new.
    pub fn makes(&self, name: &str) -> bool {
        let is_word = |part: &str| {
            let mut words = self.made.iter();
            words.any(|word| match word.strip_prefix('*') {
                Some(end) => part.ends_with(end),
                None => part == word,
            })
        };
        name.split('_').any(is_word)
    }

    /// Whether a function's name has one of the words in it, and not as a part of `block` or `clock`; nor of `unlocked`, which says
    /// what is not held when the function is called.
    pub fn say(words: &[String], name: &str) -> bool {
        let name = name.replace("unlocked", "");
        let says = |word: &String| {
            let mut found = name.match_indices(word.as_str()).map(|(at, _)| &name[..at]);
            found.any(|before| word != "lock" || !before.ends_with(['b', 'c']))
        };
        words.iter().any(says)
    }
}

/// A rule of a machine: the event that breaks it, and in which states.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct MachineRule {
    pub event: Event,
    pub when: States,
    pub id: String,
}

/// One finite state machine: a kind of lock, say.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Machine {
    /// Unique over all checkers: `mutex`, `rwlock`, `semaphore`.
    pub name: String,
    pub states: Vec<State>,
    /// The state of an object that the function itself creates, and that callers are taken to leave it in.
    pub initial: StateId,
    /// For each operation the target from each state, in the order of `states`.
    pub operations: BTreeMap<String, Vec<Target>>,
    pub key: Key,
    /// The value in which a program keeps each state, in the order of `states`: `flags` of
    /// `local_irq_save(flags)`.
    pub saved: Option<Vec<u64>>,
    /// The objects may count something (semaphores): releasing one that is not held is no mistake, one that
    /// a function takes and keeps is no lock, and a function may well do just one half.
    pub counts: bool,
    /// The objects are bits of words, which a store to the word changes, too.
    pub bits: bool,
    /// What is wrong beyond operations that fail; one rule for an event.
    pub rules: Vec<MachineRule>,
    /// What names say of functions that do one half for their callers.
    pub names: Names,
}

/// A rule of a checker; its documentation is the manual page shown by `cassini explain`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Rule {
    pub id: String,
    pub level: Level,
    /// One line, with `{object}`, `{state}` and `{function}` filled in; `{held}` is what else is held, for
    /// a rule about order.
    pub message: String,
    /// The same where what breaks the rule is a call of something that states what it needs.
    pub call_message: Option<String>,
    /// The manual page, Markdown: what it does, why it is bad, example, what it does not see.
    pub explanation: String,
}

/// The rules about pointers that lead nowhere.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PointerRules {
    /// A pointer is followed where it is null.
    pub null: String,
    /// The result of a function that may return null is followed without a test.
    pub unchecked: String,
}

/// The rule about assertions that the user has written.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct AssertionRule {
    pub rule: String,
    /// The functions that are called where an assertion fails.
    pub failed: Vec<String>,
    /// The functions whose argument no specification may make true always (angelic assertions).
    pub angelic: Vec<String>,
}

/// When a checker is in force though nobody asks for it by name.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum InForce {
    #[default]
    Always,
    /// In programs that run on an operating system, not in kernels and firmware.
    Hosted,
    /// Never.
    Asked,
}

/// One checker file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Checker {
    pub name: String,
    pub in_force: InForce,
    pub pointers: Option<PointerRules>,
    /// The rule for a function that returns the address of a variable of its own.
    pub returned_local: Option<String>,
    pub assertions: Option<AssertionRule>,
    pub machines: Vec<Machine>,
    pub rules: Vec<Rule>,
}

/// Everything that is checked: the checkers in force.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Property {
    pub checkers: Vec<Checker>,
}

impl Property {
    /// The checkers that come with the program and then those of `files`. Rows that cannot be used
    /// are left out and reported.
    pub fn load(files: &[SourceFile]) -> (Property, Vec<LoadError>) {
        let mut property = Property::default();
        let built_in = document::built_in(&CHECKERS);
        let mut errors = load::load(&built_in, &mut property);
        errors.extend(load::load(files, &mut property));
        (property, errors)
    }

    pub fn machines(&self) -> impl Iterator<Item = &Machine> {
        self.checkers.iter().flat_map(|checker| &checker.machines)
    }

    pub fn rules(&self) -> impl Iterator<Item = &Rule> {
        self.checkers.iter().flat_map(|checker| &checker.rules)
    }

    /// The rules about pointers, if a checker has some.
    pub fn pointers(&self) -> Option<&PointerRules> {
        self.checkers
            .iter()
            .find_map(|checker| checker.pointers.as_ref())
    }

    /// The rule for a function that returns the address of a variable of its own, if a checker has one.
    pub fn returned_local(&self) -> Option<&str> {
        let mut checkers = self.checkers.iter();
        checkers.find_map(|checker| checker.returned_local.as_deref())
    }

    /// The rule about assertions, if a checker has one.
    pub fn assertions(&self) -> Option<&AssertionRule> {
        let mut checkers = self.checkers.iter();
        checkers.find_map(|checker| checker.assertions.as_ref())
    }

    /// Whether something is checked wherever memory is accessed, so that all functions are to be executed.
    pub fn watches_accesses(&self) -> bool {
        self.checkers.iter().any(Checker::watches_accesses)
    }

    pub fn machine(&self, name: &str) -> Option<&Machine> {
        self.machines().find(|machine| machine.name == name)
    }

    /// The name of the checker that a machine belongs to.
    pub fn checker_of(&self, machine: &str) -> Option<&str> {
        let has = |checker: &&Checker| checker.machines.iter().any(|own| own.name == machine);
        let checker = self.checkers.iter().find(has);
        checker.map(|checker| checker.name.as_str())
    }

    pub fn rule(&self, id: &str) -> Option<&Rule> {
        self.rules().find(|rule| rule.id == id)
    }
}

impl Checker {
    /// Whether it is about accesses to memory, and not only about the functions that move objects.
    pub fn watches_accesses(&self) -> bool {
        let mut machines = self.machines.iter();
        self.pointers.is_some()
            || self.assertions.is_some()
            || machines.any(Machine::watches_accesses)
    }
}

impl Machine {
    /// Whether its objects are blocks of memory, or named by values, and no places in memory.
    pub fn watches_accesses(&self) -> bool {
        self.key != Key::Location
    }

    /// The rule that an event breaks, whatever the state.
    pub fn rule(&self, event: Event) -> Option<&str> {
        let mut rules = self.rules.iter();
        let rule = rules.find(|rule| rule.event == event);
        rule.map(|rule| rule.id.as_str())
    }

    /// The rule that an event breaks in this state.
    pub fn rule_in(&self, event: Event, state: StateId) -> Option<&str> {
        let mut rules = self.rules.iter();
        let rule = rules.find(|rule| rule.event == event && rule.when.contains(state));
        rule.map(|rule| rule.id.as_str())
    }

    /// What a state means; [`Role::Unknown`] for an id of another machine.
    pub fn role(&self, state: StateId) -> Role {
        let state = self.states.get(usize::from(state.0));
        state.map_or(Role::Unknown, |state| state.role)
    }

    /// The bits by which saved states differ.
    pub fn saved_mask(&self) -> u64 {
        self.saved
            .iter()
            .flatten()
            .fold(0, |mask, bits| mask | bits)
    }

    /// Whether a rule is about taking what is held: the operation that breaks it would wait if another
    /// thread held the object.
    pub fn is_about_taking(&self, rule: &str) -> bool {
        self.operations.values().any(|targets| {
            let takes = targets
                .get(usize::from(self.initial.0))
                .is_some_and(|to| matches!(to, Target::State(to) if *to != self.initial));
            let breaks = |to: &Target| matches!(to, Target::Error(Some(broken)) if broken == rule);
            takes && targets.iter().any(breaks)
        })
    }

    /// Whether an operation that takes a free object leads from one of these states to the other: one more
    /// reader.
    pub fn takes_again(&self, from: StateId, to: StateId) -> bool {
        from != to
            && self.operations.values().any(|targets| {
                let taken = targets.get(usize::from(self.initial.0));
                let takes = matches!(taken, Some(Target::State(taken)) if *taken != self.initial);
                takes && targets.get(usize::from(from.0)) == Some(&Target::State(to))
            })
    }

    /// The state of an object that a caller leads to, for all that is known: nobody hands over what is gone.
    pub fn expected(&self) -> StateId {
        let mut states = self.state_ids();
        let held = states.find(|&state| self.role(state) == Role::Held);
        held.unwrap_or(self.initial)
    }

    /// The state's name; empty for an id of another machine.
    pub fn state_name(&self, state: StateId) -> &str {
        self.states
            .get(usize::from(state.0))
            .map_or("", |state| &state.name)
    }

    /// The state in the words of messages; empty for an id of another machine.
    pub fn state_text(&self, state: StateId) -> &str {
        self.states
            .get(usize::from(state.0))
            .map_or("", |state| &state.text)
    }

    /// The state of that name.
    pub fn state(&self, name: &str) -> Option<StateId> {
        let index = self.states.iter().position(|state| state.name == name)?;
        u8::try_from(index).ok().map(StateId)
    }

    /// All states in order.
    pub fn state_ids(&self) -> impl Iterator<Item = StateId> + use<> {
        // The loader admits at most 255 states.
        (0..self.states.len() as u8).map(StateId)
    }
}

impl Rule {
    /// The message with its blanks filled in; `state` stands for `{held}`, too. `{callee}` is left: who knows the callee fills in what it may do.
    pub fn message_for(&self, object: &str, state: &str, function: &str) -> String {
        fill(&self.message, object, state, function)
    }

    /// The message about a call that is not allowed, if the rule has one.
    pub fn message_for_call(&self, object: &str, state: &str, function: &str) -> String {
        let message = self.call_message.as_ref().unwrap_or(&self.message);
        fill(message, object, state, function)
    }
}

fn fill(message: &str, object: &str, state: &str, function: &str) -> String {
    message
        .replace("{object}", object)
        .replace("{state}", state)
        .replace("{held}", state)
        .replace("{function}", function)
}
