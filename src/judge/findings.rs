//! From a finished execution to findings: the two kinds of errors of paper §5.5.
//!
//! In: the log, and how each object leaves the function. Out: findings, one for each object and cause.
//!
//! *Type A*: an operation fails in a state that the function itself has put the object into, and for
//! the same inputs there is an error from every entry state: wrong whatever the caller does. (The paper
//! asks for errors from every entry state alone. Its own `complex_wrapper` has one from each, on
//! different inputs.)
//!
//! *Type B*: the object leaves in different states without a difference that the caller can observe.
//! Conditions on entry values excuse it only where the function leaves the object alone on the other
//! path: a conditional lock wrapper. A function that gives the lock back on some paths and keeps it on
//! others forgot to, even if an argument decides which path is taken; unless some caller gives the lock back where it
//! has passed the argument that keeps it, which is settled later ([`crate::judge::by_argument`]).

use std::collections::BTreeSet;
use std::rc::Rc;

use crate::finding::{self, Finding, Level, TraceStep};
use crate::ir::{Body, RetTy, Ty};
use crate::judge::by_argument::{self, ByArgument, Tested};
use crate::judge::explanation::{self, Elsewhere};
use crate::judge::obligation::CalleeClaim;
use crate::property::{Property, Rule, StateId, Target};
use crate::summary::convert::Converter;
use crate::summary::infer::{Contested, Exit, Exits, Feasible, Move};
use crate::summary::predicates::{self, Predicate, Side};
use crate::summary::trace;
use crate::symbolic::exec::Executor;
use crate::symbolic::guard::Guard;
use crate::symbolic::log::OpEvent;
use crate::symbolic::model::Model;
use crate::symbolic::naming::is_clear;
use crate::symbolic::region::{RegionKind, SymbolicOffset};
use crate::symbolic::state::{Object, State, Status};

/// Pointers that a caller follows to a lock that it has taken before a call, and one.
const MAX_STEPS_AT_HAND: usize = 3;

/// Collects the findings of one function.
pub struct Findings<'a> {
    body: &'a Body,
    property: &'a Property,
    pub found: Vec<Finding>,
    pub about: Vec<About>,
    /// Objects that are kept as an argument says, with the finding that tells so, by its number: one place may stand for several.
    pub contested: Vec<(Object, u32)>,
    /// Objects with a finding: what follows from a mistake is not another.
    failed: BTreeSet<Object>,
}

/// What a finding is about.
#[derive(Clone, Debug)]
pub struct About {
    pub object: Object,
    /// The function does no wrong unless it is called with the object held.
    pub held_on_entry: bool,
    /// An argument alone decides whether the object is kept, and where that is tested: callers may mean it.
    pub contested: Option<Tested>,
    /// What callees keep, and may not be meant to, without which there would be no such finding.
    pub rests_on: Vec<CalleeClaim>,
}

impl About {
    /// However it is entered.
    pub fn of(object: Object) -> About {
        About {
            object,
            held_on_entry: false,
            contested: None,
            rests_on: Vec::new(),
        }
    }

    /// The finding stands or falls with others.
    pub fn is_conditional(&self) -> bool {
        self.contested.is_some() || !self.rests_on.is_empty()
    }
}

/// Two ways out of the function that a caller cannot tell apart.
struct Ambiguity {
    entry: StateId,
    /// All the ways out that are wrong for this reason, other objects being as they may.
    wrong: (StateId, Guard),
    kept: (StateId, Guard),
    given_back: (StateId, Guard),
    /// All the ways out that keep the object, if an argument tells them from those that do not.
    by_argument: Option<ByArgument>,
}

impl<'a> Findings<'a> {
    pub fn new(body: &'a Body, property: &'a Property) -> Self {
        Findings {
            body,
            property,
            found: Vec::new(),
            about: Vec::new(),
            contested: Vec::new(),
            failed: BTreeSet::new(),
        }
    }

    /// Type A.
    pub fn wrong_whatever_the_caller_does(
        &mut self,
        exec: &mut Executor<'_>,
        exit: Option<&State>,
        queries: &mut dyn Feasible,
    ) {
        for index in 0..exec.log.ops.len() {
            let event = &exec.log.ops[index];
            let (Some(rule), object, query) = (event.rule.clone(), event.object, event.touched)
            else {
                continue;
            };
            if query == Guard::FALSE || self.failed.contains(&object) {
                continue;
            }
            let counts = exec.machine_of(object).counts;
            if counts
                && (taken_in_rounds(exec, index)
                    || exit.is_some_and(|exit| keeps(exec, exit, object)))
            {
                continue;
            }
            let query = from_every_entry(exec, index);
            let query = exec.apart(object, query);
            let another = explanation::meant_for_another(exec, exit, index);
            let query = exec.formula.guards.and_not(query, another);
            let query = exec.undoubted(object, query);
            let exit_guard = exit.map_or(Guard::TRUE, |exit| exit.guard);
            let query = explanation::others_as_usual(exec, exit_guard, object, query);
            let (query, rests_on) = by_argument::without(exec, object, query, index, queries);
            let usual = entered_as_usual(exec, object, query);
            let model = queries.model(exec, usual);
            let Some(model) = model.or_else(|| queries.model(exec, query)) else {
                continue;
            };
            if !possible_unchanged(exec, query, queries) {
                continue;
            }
            self.failed.insert(object);
            let event = &exec.log.ops[index];
            let name = event.name.clone();
            let state = match event.from {
                Status::At(state) => exec.machine_of(object).state_name(state).to_string(),
                Status::Error(_) => String::new(),
            };
            let place = match event.stack.first() {
                Some(site) => (site.file.to_string(), site.line, site.column),
                None => continue,
            };
            let trace = trace::path(exec, &model, object, query, Some(index));
            let certain = !depends_on_outcomes(exec, object, query)
                && self.possible_by_itself(exec, (query, query), queries);
            let about = About {
                rests_on,
                ..About::of(object)
            };
            self.report(&rule, place, about, (&name, &state), trace, certain);
        }
    }

    /// Calls that may sleep while the function holds what forbids it. One for each object.
    pub fn sleeps_in_atomic(&mut self, exec: &mut Executor<'_>, queries: &mut dyn Feasible) {
        let mut reported = BTreeSet::new();
        for index in 0..exec.log.sleeps.len() {
            for (object, status, paths) in exec.log.sleeps[index].held.clone() {
                let Some(rule) = exec.machine_of(object).atomic.clone() else {
                    continue;
                };
                if reported.contains(&object) || self.failed.contains(&object) {
                    continue;
                }
                let paths = exec.apart(object, paths);
                let paths = exec.undoubted(object, paths);
                let order = exec.log.sleeps[index].order;
                let (paths, rests_on) = by_argument::without(exec, object, paths, order, queries);
                let usual = entered_as_usual(exec, object, paths);
                let Some(model) = queries.model(exec, usual) else {
                    continue;
                };
                if !possible_unchanged(exec, usual, queries) {
                    continue;
                }
                if explanation::kept_by_callee_at_times(exec, object, order)
                    || explanation::one_kind_or_the_other(exec, object, &exec.log.sleeps[index])
                {
                    continue;
                }
                reported.insert(object);
                let name = exec.name_of(object.loc);
                let state = match status {
                    Status::At(state) => exec.machine_of(object).state_name(state).to_string(),
                    Status::Error(_) => continue,
                };
                let event = &exec.log.sleeps[index];
                let Some(site) = event.stack.first() else {
                    continue;
                };
                let place = (site.file.to_string(), site.line, site.column);
                let mut trace =
                    trace::path_until(exec, &model, object, paths, (event.order, event.branches));
                trace.extend(trace::sleeping(event));
                let certain = !depends_on_outcomes(exec, object, paths)
                    && self.possible_by_itself(exec, (usual, usual), queries);
                let about = About {
                    rests_on,
                    ..About::of(object)
                };
                self.report(&rule, place, about, (&name, &state), trace, certain);
            }
        }
    }

    /// Whether callers get a record from the function, of which its summary says nothing.
    pub fn returns_record(&self) -> bool {
        matches!(self.body.ret, RetTy::Record { .. })
    }

    pub fn returns_pointer(&self) -> bool {
        self.body.ret == RetTy::Scalar(Ty::Ptr)
    }

    /// Type B.
    pub fn ambiguous_exits(
        &mut self,
        exec: &mut Executor<'_>,
        exit: &Exit<'_>,
        exits: &mut [Exits],
        queries: &mut dyn Feasible,
    ) {
        // What is in a record (a guard, with the lock that it holds or not) is beyond a summary, not beyond a caller.
        if self.returns_record() {
            return;
        }
        let elsewhere = Elsewhere::new(exec);
        let held = explanation::held(exec, exit.state);
        for object in exits {
            let key = object.object;
            let Some(rule) = exec.machine_of(key).inconsistent_exit.clone() else {
                continue;
            };
            if self.failed.contains(&key) || exec.regions.is_local(key.loc.region) {
                continue;
            }
            let name = Converter::new(exit).object(exec, key.loc);
            let named = name.is_some();
            // An element that the interface cannot name is chosen by something unknown, and may be
            // another one at each mention.
            if !named && key.loc.symbolic != SymbolicOffset::NONE {
                continue;
            }
            // A caller cannot have had its hands on what only this function finds.
            let at_hand = name.is_some_and(|name| {
                !name.root.is_received() && name.path.len() <= MAX_STEPS_AT_HAND
            });
            // What a callee may keep by mistake is no mistake of this function's, if there is another.
            let apart = exec.contested(key, usize::MAX);
            let mut find = |exec: &mut Executor<'_>, apart: Guard| {
                let others = (&elsewhere, &held[..], apart);
                ambiguity(exec, exit, object, at_hand, others, queries)
            };
            let found = match find(exec, apart) {
                None if apart != Guard::FALSE => find(exec, Guard::FALSE),
                found => found,
            };
            let Some((ambiguity, kept, given_back)) = found else {
                continue;
            };
            self.failed.insert(key);
            let Ambiguity {
                entry,
                kept: (state, paths),
                ..
            } = ambiguity;
            let (_, rests_on) = by_argument::without(exec, key, paths, usize::MAX, queries);
            // Callers that have no name for the object cannot give it back either.
            let by_argument = ambiguity.by_argument.filter(|_| named);
            if let Some(ByArgument { paths, .. }) = &by_argument {
                object.contested = Some(Contested {
                    from: entry,
                    paths: *paths,
                });
            } else {
                object.report(exec, entry, ambiguity.wrong.0, ambiguity.wrong.1);
                if state != ambiguity.wrong.0 {
                    object.report(exec, entry, state, paths);
                }
            }
            let Some(place) = trace::returns(exec, &kept).cloned() else {
                continue;
            };
            let target = Target::State(ambiguity.kept.0);
            let mut trace = trace::path(exec, &kept, key, ambiguity.kept.1, None);
            let name = exec.name_of(key.loc);
            trace.push(trace::return_step(exec, &name, &place, key, &target));
            if let Some(other) = trace::returns(exec, &given_back) {
                let target = Target::State(ambiguity.given_back.0);
                let mut step = trace::return_step(exec, &name, other, key, &target);
                step.message = format!("but on another path {}", step.message);
                trace.push(step);
            }
            let state = exec
                .machine_of(key)
                .state_name(ambiguity.kept.0)
                .to_string();
            let place = (
                place.site.file.to_string(),
                place.site.line,
                place.site.column,
            );
            let initial = exec.machine_of(key).initial;
            let both = [ambiguity.kept.1, ambiguity.given_back.1];
            let not_given_away = explanation::not_given_away_instead(exec, key, both);
            // One that never gives it back may be half of a pair.
            let certain = entry == initial
                && gives_back(exec, key)
                && explanation::returns_no_failure_by_chance(exec, exit, both, queries)
                && !both
                    .iter()
                    .any(|&paths| depends_on_outcomes(exec, key, paths))
                && !explanation::another_element_given_back(exec, key, ambiguity.kept.1)
                && !explanation::perhaps_given_back_by_callee(exec, key, both[0])
                && !exec.moves_another_unnamed(key.machine, both[1], both[0])
                && !explanation::another_left_open(exec, key, both)
                && self.possible_by_itself(exec, (both[0], not_given_away), queries);
            let given_back = ambiguity.given_back.1;
            let mut tested = |by_argument: &ByArgument| {
                by_argument::tested(exec, self.body, key, (by_argument, given_back))
            };
            let about = About {
                object: key,
                held_on_entry: entry != initial,
                contested: by_argument.as_ref().map(&mut tested),
                rests_on,
            };
            let (file, line) = (place.0.clone(), place.1);
            self.report(&rule, place, about, (&name, &state), trace, certain);
            let told =
                |found: &Finding| (&found.rule, &found.file, found.line) == (&rule, &file, line);
            if by_argument.is_some()
                && let Some((index, _)) = (0..).zip(&self.found).find(|(_, found)| told(found))
            {
                self.contested.push((key, index));
            }
        }
    }

    /// Whether some of these paths, which are among such as are known to be possible, may be taken even if no callee has
    /// changed a flag of the function's, and no field has its one value that it is not compared with.
    pub fn possible_by_itself(
        &self,
        exec: &mut Executor<'_>,
        (known, paths): (Guard, Guard),
        queries: &mut dyn Feasible,
    ) -> bool {
        let unchanged = exec.with_flags_unchanged(paths, self.body);
        let unchanged = explanation::with_values_in_use(exec, unchanged);
        explanation::still_possible(exec, known, unchanged, queries)
    }

    fn report(
        &mut self,
        rule: &str,
        place: (String, u32, u32),
        about: About,
        (name, state): (&str, &str),
        trace: Vec<TraceStep>,
        certain: bool,
    ) {
        let finding = self.finding(rule, place, name, state, trace);
        self.keep(finding, about, certain);
    }

    /// Keeps a finding, if there is one, unless there is another of its rule in its place.
    pub fn keep(&mut self, finding: Option<Finding>, about: About, certain: bool) {
        let Some(mut finding) = finding else { return };
        let same = |other: &Finding| {
            (&other.rule, &other.file, other.line) == (&finding.rule, &finding.file, finding.line)
        };
        if self.found.iter().any(same) {
            return;
        }
        if !certain {
            finding.level = Level::Note;
        }
        self.found.push(finding);
        self.about.push(about);
    }

    /// Notes that a finding about the object was made.
    pub fn fail(&mut self, object: Object) {
        self.failed.insert(object);
    }

    /// Whether a finding about the object was made.
    pub fn has_failed(&self, object: Object) -> bool {
        self.failed.contains(&object)
    }

    /// The finding about the object, by its number, if it says only what becomes of one that is held on entry.
    pub fn of_held_on_entry(&self, object: Object) -> Option<u32> {
        let mut about = (0..).zip(&self.about);
        let found = about.find(|(_, about)| about.object == object && about.held_on_entry);
        found.map(|(index, _)| index)
    }

    /// The finding about the object, by its number, if an argument decides whether the object is kept.
    pub fn of_contested(&self, object: Object) -> Option<u32> {
        let mut contested = self.contested.iter();
        contested
            .find(|known| known.0 == object)
            .map(|known| known.1)
    }

    /// A finding in the function; `None` for a rule that does not exist.
    pub fn finding(
        &self,
        rule: &str,
        place: (String, u32, u32),
        object: &str,
        state: &str,
        trace: Vec<TraceStep>,
    ) -> Option<Finding> {
        let known = self.property.rule(rule)?;
        let message = known.message_for(object, state, &self.body.name.name);
        Some(self.with_message(known, message, place, object, trace))
    }

    /// A finding about a call that needs an object held.
    pub fn call_finding(
        &self,
        rule: &str,
        place: (String, u32, u32),
        (object, called): (&str, &str),
        trace: Vec<TraceStep>,
    ) -> Option<Finding> {
        let known = self.property.rule(rule)?;
        let message = known.message_for_call(object, called, &self.body.name.name);
        Some(self.with_message(known, message, place, object, trace))
    }

    fn with_message(
        &self,
        rule: &Rule,
        message: String,
        (file, line, column): (String, u32, u32),
        object: &str,
        trace: Vec<TraceStep>,
    ) -> Finding {
        let function = self.body.name.name.clone();
        let fingerprint = finding::fingerprint(&rule.id, &self.body.name, object, &trace);
        Finding {
            rule: rule.id.clone(),
            // What a reader cannot find in the source has been less often right.
            level: match is_clear(object) {
                true => rule.level,
                false => Level::Note,
            },
            message,
            file,
            line,
            column,
            function,
            object: object.to_string(),
            fingerprint,
            specification: None,
            programs: Vec::new(),
            trace,
        }
    }
}

/// The paths to a failing operation on which the function fails from every other entry state, too; or
/// which begin in the machine's initial state, from which the function itself has moved the object. (A
/// reader that releases twice only fails if its caller was no reader, but no caller means that.)
fn from_every_entry(exec: &mut Executor<'_>, event: usize) -> Guard {
    let failing = &exec.log.ops[event];
    let (object, mut errors, touched) = (failing.object, failing.errors, failing.touched);
    let initial = Status::At(exec.machine_of(object).initial);
    let mut moved = Guard::FALSE;
    for index in 0..event {
        let earlier = &exec.log.ops[index];
        if earlier.object != object {
            continue;
        }
        let (paths, moves) = (earlier.guard, earlier.moves());
        let left_alone = earlier.to.is_none() && earlier.rule.is_none() && {
            let same_call =
                |other: &&OpEvent| other.object == object && other.stack == earlier.stack;
            let mut others = exec.log.ops.iter().filter(same_call);
            earlier.source.is_some() && !others.any(OpEvent::moves)
        };
        let guards = &mut exec.formula.guards;
        if moves {
            moved = guards.or(moved, paths);
        }
        // A callee has tried for it, to see that it is held.
        if left_alone {
            errors = guards.and_not(errors, paths);
        }
    }
    let entries = exec.entry_state(object);
    let from_initial = exec.formula.guards.and(moved, entries.guard_of(initial));
    let mut everywhere = Guard::TRUE;
    for (_, entry) in entries.set {
        let literals = exec.formula.guards.implied_literals(entry);
        let from_here = exec.formula.guards.restrict(errors, &literals);
        everywhere = exec.formula.guards.and(everywhere, from_here);
    }
    let wrong = exec.formula.guards.or(everywhere, from_initial);
    exec.formula.guards.and(touched, wrong)
}

/// The paths that a reader would think of first: where it goes without saying how the object was found.
fn entered_as_usual(exec: &mut Executor<'_>, object: Object, paths: Guard) -> Guard {
    if !exec.is_saved(object.machine) {
        return paths;
    }
    let initial = Status::At(exec.machine_of(object).initial);
    let entered = exec.entry_state(object).guard_of(initial);
    exec.formula.guards.and(paths, entered)
}

/// Whether an operation takes what the same statement has taken before: a semaphore that is lowered in a loop counts.
fn taken_in_rounds(exec: &mut Executor<'_>, event: usize) -> bool {
    let Executor { log, formula, .. } = exec;
    let failing = &log.ops[event];
    let mut before = log.ops[..event].iter();
    before.any(|other| {
        let same = other.object == failing.object && other.stack == failing.stack;
        same && other.moves() && !formula.guards.excludes(other.guard, failing.touched)
    })
}

/// Whether the function may return with an object held that was not on entry. A semaphore that it keeps
/// counts something, and is no lock.
fn keeps(exec: &mut Executor<'_>, exit: &State, object: Object) -> bool {
    let initial = Status::At(exec.machine_of(object).initial);
    let Some(tracked) = exit.objects.get(&object) else {
        return false;
    };
    let entered = exec.entry_state(object).guard_of(initial);
    let entered = exec.formula.guards.and(entered, exit.guard);
    tracked.set.iter().any(|&(status, held)| {
        let held_on = matches!(status, Status::At(_)) && status != initial;
        held_on && !exec.formula.guards.excludes(entered, held)
    })
}

/// Whether paths may be taken even if callees change nothing of what decides that.
pub fn possible_unchanged(
    exec: &mut Executor<'_>,
    paths: Guard,
    queries: &mut dyn Feasible,
) -> bool {
    let unchanged = exec.unchanged(paths);
    unchanged == paths || queries.possible(exec, unchanged)
}

/// Whether the function gives an object back on some path.
fn gives_back(exec: &Executor<'_>, object: Object) -> bool {
    let initial = Status::At(exec.machine_of(object).initial);
    let mut events = exec.log.ops.iter();
    events.any(|event| event.object == object && event.gives_back(initial))
}

/// Whether it depends on how a callee has ended what becomes of an object on these paths: its summary, if
/// it has one, may know less of that than its source.
pub fn depends_on_outcomes(exec: &mut Executor<'_>, object: Object, paths: Guard) -> bool {
    let unnamed = exec.perhaps_moved_unnamed(object, paths);
    let guards = &mut exec.formula.guards;
    if unnamed || !guards.excludes(paths, exec.log.lost) {
        return true;
    }
    let mut events = exec.log.ops.iter();
    events.any(|event| event.object == object && event.open && !guards.excludes(paths, event.guard))
}

/// A pair of exits of an object that neither the result nor an out-parameter tells apart, with a
/// model of each.
fn ambiguity(
    exec: &mut Executor<'_>,
    exit: &Exit<'_>,
    exits: &Exits,
    at_hand: bool,
    (elsewhere, held, apart): (&Elsewhere, &[(Object, Guard)], Guard),
    queries: &mut dyn Feasible,
) -> Option<(Ambiguity, Rc<Model>, Rc<Model>)> {
    let machine = exec.machine_of(exits.object);
    let entries: BTreeSet<StateId> = exits.moves.iter().map(|entry| entry.from).collect();
    // Paths on which the function has changed the object's state at some time.
    let mut moved = Guard::FALSE;
    for index in 0..exec.log.ops.len() {
        let event = &exec.log.ops[index];
        if event.object == exits.object && event.moves() {
            moved = exec.formula.guards.or(moved, event.guard);
        }
    }
    let gives_back = gives_back(exec, exits.object);
    let region = exec.regions.kind(exits.object.loc.region);
    let global = matches!(region, RegionKind::Symbol(_));
    let another = elsewhere.than(exits.object);
    let given_back = explanation::given_back_as_another(exec, exits.object, machine.initial);
    let taken = explanation::taken_as_another(exec, exits.object, machine.initial);
    let by_unknown = explanation::taken_by_unknown(exec, exits.object, machine.initial);
    let taken = exec.formula.guards.or(taken, by_unknown);
    let with_another = explanation::left_with_another(exec, exit.state, exits.object);
    let given_away = explanation::given_away(exec, exits.object);
    let mut outputs = predicates::outputs(exec, exit);
    outputs.push(predicates::received(exec, exit, exits.object));
    for entry in entries {
        // What is done to interrupts that are off already, or to a semaphore, is the caller's business.
        let one_half = machine.counts || machine.saved.is_some();
        let is_held = entry != machine.initial;
        let taken_inside = || exec.log.takes_what_is_held(exits.object, entry, machine);
        if is_held && (one_half || !at_hand || taken_inside()) {
            continue;
        }
        // One that takes a global object, or turns interrupts off, and leaves it to others to undo that, is
        // judged by what they do.
        if !is_held && (global || machine.saved.is_some()) && !gives_back {
            continue;
        }
        for kept in machine.state_ids() {
            // A lock that the caller holds is given up; what is taken again is no business of its.
            let counts = entry == machine.initial || kept == machine.initial;
            if kept == entry || !counts {
                continue;
            }
            let mut away = exits.paths(entry, kept);
            let explained = match entry == machine.initial {
                true => given_back,
                false => taken,
            };
            away = exec.formula.guards.and_not(away, explained);
            away = exec.formula.guards.and_not(away, with_another);
            away = exec.formula.guards.and_not(away, apart);
            away = exec.undoubted(exits.object, away);
            let wrong = (kept, away);
            away = explanation::others_as_usual(exec, exit.state.guard, exits.object, away);
            if away == Guard::FALSE {
                continue;
            }
            let instead = explanation::another_is_held(exec, held, exits.object, away);
            let back = exits.paths(entry, entry);
            let back = exec.formula.guards.and_not(back, instead);
            let back = match is_held {
                true => exec.formula.guards.and_not(back, given_away),
                false => back,
            };
            let undone = exec.formula.guards.and(back, moved);
            let untouched = exec.formula.guards.and_not(back, moved);
            let untouched = exec.formula.guards.and_not(untouched, another);
            // On a lock that its caller holds, a function that gives it up under a condition on its
            // arguments is taken for a conditional unlock wrapper.
            let undoes = entry == machine.initial && queries.model(exec, undone).is_some();
            let untouched = match machine.counts && !undoes {
                true => Guard::FALSE,
                false => untouched,
            };
            let mut converter = Converter::new(exit);
            let mined = predicates::mine(exec, &mut converter, exit, exits);
            let inputs = mined.into_iter().filter(|known| known.side == Side::Input);
            let with_inputs: Vec<Predicate> = outputs.iter().cloned().chain(inputs).collect();
            let others = machine.state_ids().filter(|&other| other != entry);
            // Held the one way or the other, as an argument wants it.
            let others = others.map(|other| (other, exits.paths(entry, other), false));
            let pairs = [(entry, undone, undoes), (entry, untouched, false)];
            for (other, there, undoes) in pairs.into_iter().chain(others) {
                let there = exec.undoubted(exits.object, there);
                let there =
                    explanation::others_as_usual(exec, exit.state.guard, exits.object, there);
                if other == kept || there == Guard::FALSE {
                    continue;
                }
                let candidates = if undoes { &outputs } else { &with_inputs };
                let moved = |to: StateId, paths: Guard| Move {
                    from: entry,
                    to: Target::State(to),
                    paths,
                    reported: false,
                };
                let pair = [moved(kept, away), moved(other, there)];
                let chosen = predicates::select(exec, candidates, &pair, queries);
                let Some((left, right)) = open(exec, away, there, &chosen, queries) else {
                    continue;
                };
                if let Some((left_model, right_model)) =
                    indistinguishable(exec, (left, right), candidates, queries)
                    && possible_unchanged(exec, left, queries)
                    && possible_unchanged(exec, right, queries)
                {
                    let by_argument = match undoes {
                        true => by_argument::by_argument(
                            exec,
                            exits,
                            (entry, &chosen),
                            (away, there),
                            &with_inputs,
                            queries,
                        ),
                        false => None,
                    };
                    let wrong = (wrong.0, alike(exec, wrong.1, left, &chosen));
                    let (left, right) = ((kept, left, left_model), (other, right, right_model));
                    // The exit in which something is held is the one to show.
                    let (kept, given_back) = match kept == machine.initial {
                        true => (right, left),
                        false => (left, right),
                    };
                    let ambiguity = Ambiguity {
                        entry,
                        wrong,
                        kept: (kept.0, kept.1),
                        given_back: (given_back.0, given_back.1),
                        by_argument,
                    };
                    return Some((ambiguity, kept.2, given_back.2));
                }
            }
        }
    }
    None
}

/// The paths on which the conditions hold that these others have in common.
fn alike(exec: &mut Executor<'_>, paths: Guard, others: Guard, chosen: &[Predicate]) -> Guard {
    let guards = &mut exec.formula.guards;
    chosen.iter().fold(paths, |paths, predicate| {
        let holds = !guards.excludes(others, predicate.guard);
        let fails = guards.and_not(others, predicate.guard) != Guard::FALSE;
        match (holds, fails) {
            (true, false) => guards.and(paths, predicate.guard),
            (false, true) => guards.and_not(paths, predicate.guard),
            _ => paths,
        }
    })
}

/// A model of each of two ways out that agree on all that the caller can observe: what was chosen to tell
/// them apart may be too little, if a query was given up.
pub fn indistinguishable(
    exec: &mut Executor<'_>,
    (left, right): (Guard, Guard),
    observable: &[Predicate],
    queries: &mut dyn Feasible,
) -> Option<(Rc<Model>, Rc<Model>)> {
    let mut like = |exec: &mut Executor<'_>, one: Guard, other: Guard| {
        let model = queries.model(exec, one)?;
        let mut alike = other;
        for predicate in observable {
            let holds = model.eval_guard(&exec.formula, predicate.guard);
            let guards = &mut exec.formula.guards;
            alike = match holds {
                true => guards.and(alike, predicate.guard),
                false => guards.and_not(alike, predicate.guard),
            };
        }
        Some((model, queries.model(exec, alike)?))
    };
    if let Some(models) = like(exec, left, right) {
        return Some(models);
    }
    let (right, left) = like(exec, right, left)?;
    Some((left, right))
}

/// The first combination of conditions under which both are possible.
pub fn open(
    exec: &mut Executor<'_>,
    left: Guard,
    right: Guard,
    chosen: &[Predicate],
    queries: &mut dyn Feasible,
) -> Option<(Guard, Guard)> {
    if !queries.possible(exec, left) || !queries.possible(exec, right) {
        return None;
    }
    let Some((predicate, rest)) = chosen.split_first() else {
        return Some((left, right));
    };
    let guards = &mut exec.formula.guards;
    let with = (
        guards.and(left, predicate.guard),
        guards.and(right, predicate.guard),
    );
    let without = (
        guards.and_not(left, predicate.guard),
        guards.and_not(right, predicate.guard),
    );
    open(exec, with.0, with.1, rest, queries)
        .or_else(|| open(exec, without.0, without.1, rest, queries))
}
