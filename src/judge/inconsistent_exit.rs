//! An object leaves the function in different states without a difference that the caller can observe (type B of paper §5.5).
//!
//! In: how each object leaves the function. Out: one failure for each object.
//!
//! Conditions on entry values excuse it only where the function leaves the object alone on the other
//! path: a conditional lock wrapper. A function that gives the lock back on some paths and keeps it on
//! others forgot to, even if an argument decides which path is taken; unless some caller gives the lock back where it
//! has passed the argument that keeps it, which is settled later ([`super::by_argument`]).

use std::collections::BTreeSet;
use std::rc::Rc;

use super::by_argument::{self, ByArgument};
use super::explanation::another_object::{self, Elsewhere};
use super::explanation::{self, Failure, Left, What, callee, gives_back, others_as_usual};
use super::findings::{About, Findings, Place, possible_unchanged};
use super::observable::{alike, indistinguishable, open};
use crate::finding::{ExplanationKind as Kind, Finding};
use crate::property::{Event, Role, StateId, Target};
use crate::sat::oracle::Oracle;
use crate::summary::convert::Converter;
use crate::summary::infer::{Contested, Exit, Exits, Move};
use crate::summary::predicates::{self, MAX_PREDICATES, Predicate};
use crate::summary::trace;
use crate::symbolic::arena::Arena;
use crate::symbolic::execution::Execution;
use crate::symbolic::guard::Guard;
use crate::symbolic::model::Model;
use crate::symbolic::region::{RegionKind, SymbolicOffset};
use crate::symbolic::state::Object;

/// Pointers that a caller follows to a lock that it has taken before a call, and one.
const MAX_STEPS_AT_HAND: usize = 3;

/// Some ways out of the function: the state that they leave the object in, their paths, one of them.
struct WaysOut {
    state: StateId,
    paths: Guard,
    model: Rc<Model>,
}

/// Two ways out of the function that a caller cannot tell apart.
struct Ambiguity {
    entry: StateId,
    /// All the ways out that are wrong for this reason, other objects being as they may.
    wrong: (StateId, Guard),
    kept: WaysOut,
    given_back: WaysOut,
    /// All the ways out that keep the object, if an argument tells them from those that do not.
    by_argument: Option<ByArgument>,
}

/// What one function's objects have in common.
struct Others<'s> {
    exit: &'s Exit<'s>,
    elsewhere: Elsewhere,
    held: Vec<(Object, Guard)>,
}

impl Findings<'_> {
    /// Ways out that callers cannot tell apart. One failure for each object.
    pub fn ambiguous_exits(
        &mut self,
        execution: &Execution,
        oracle: &mut Oracle<'_>,
        exit: &Exit<'_>,
        exits: &mut [Exits],
    ) {
        // What is in a record (a guard, with the lock that it holds or not) is beyond a summary, not beyond a caller.
        if self.returns_record() {
            return;
        }
        let asked = |exits: &Exits| {
            let machine = oracle.machine_of(exits.object);
            machine.rule(Event::ExitsDiffer).is_some()
        };
        if !exits.iter().any(asked) {
            return;
        }
        let others = Others::new(execution, oracle, exit);
        for object in exits {
            self.ambiguous_exit(execution, oracle, &others, object);
        }
    }

    /// Finds which of the ways out that explanations cover wholly callers could not tell apart without them. Comes after all
    /// else, so that what it asks of the solver takes nothing from findings.
    pub fn tell_covered_exits(
        &mut self,
        execution: &Execution,
        oracle: &mut Oracle<'_>,
        exit: &Exit<'_>,
        exits: &[Exits],
    ) {
        if self.covered_exits.is_empty() {
            return;
        }
        let others = Others::new(execution, oracle, exit);
        for (object, by) in std::mem::take(&mut self.covered_exits) {
            let exits = exits.iter().find(|exits| exits.object == object);
            let Some(exits) = exits.filter(|_| !self.has_failed(object)) else {
                continue;
            };
            let Some(rule) = oracle
                .machine_of(object)
                .rule(Event::ExitsDiffer)
                .map(str::to_owned)
            else {
                continue;
            };
            let at_hand = is_at_hand(oracle, exit, object);
            let mut search = Search::new(execution, oracle, &others, exits, at_hand, Guard::FALSE);
            search.regardless = true;
            if let Some(ambiguity) = search.run(execution, oracle) {
                let finding = self.ambiguous(execution, oracle, &rule, object, &ambiguity);
                let by: Vec<Kind> = by.into_iter().collect();
                self.explained(finding, &by);
            }
        }
    }

    fn ambiguous_exit(
        &mut self,
        execution: &Execution,
        oracle: &mut Oracle<'_>,
        others: &Others<'_>,
        exits: &mut Exits,
    ) {
        let object = exits.object;
        let rule = oracle.machine_of(object).rule(Event::ExitsDiffer);
        let Some(rule) = rule.map(str::to_owned) else {
            return;
        };
        if self.has_failed(object) || oracle.regions.is_local(object.loc.region) {
            return;
        }
        let interface = Converter::new(others.exit).object(oracle, object.loc);
        // An element that the interface cannot name is chosen by something unknown, and may be
        // another one at each mention.
        if interface.is_none() && object.loc.symbolic != SymbolicOffset::NONE {
            return;
        }
        let found = find_ambiguity(execution, oracle, others, exits);
        let mut ambiguity = match found {
            Ok(ambiguity) => ambiguity,
            Err(covered_by) => {
                self.cover_exit(object, covered_by);
                return;
            }
        };
        // Callers that have no name for the object cannot give it back either.
        if interface.is_none() {
            ambiguity.by_argument = None;
        }
        self.fail(object);
        mark(oracle, exits, &ambiguity);
        self.tell_ambiguity(
            execution,
            oracle,
            (&rule, object),
            (&ambiguity, others.exit),
        );
    }

    /// Reports two ways out that callers cannot tell apart.
    fn tell_ambiguity(
        &mut self,
        execution: &Execution,
        oracle: &mut Oracle<'_>,
        (rule, object): (&str, Object),
        (ambiguity, exit): (&Ambiguity, &Exit<'_>),
    ) {
        let paths = ambiguity.kept.paths;
        let (_, rests_on) = by_argument::without(execution, oracle, object, paths, usize::MAX);
        let Some(finding) = self.ambiguous(execution, oracle, rule, object, ambiguity) else {
            return;
        };
        let initial = oracle.machine_of(object).initial;
        let given_back = ambiguity.given_back.paths;
        let left = Left {
            object,
            what: What::of_exit(ambiguity.entry == initial),
            paths,
            other: Some((given_back, exit)),
        };
        let readings = explanation::readings(execution, oracle, &left, self.body);
        let contested = ambiguity.by_argument.as_ref().map(|by_argument| {
            let decided = (by_argument, given_back);
            by_argument::tested(execution, oracle, self.body, object, decided)
        });
        let told = |found: &Finding| {
            (&found.rule, &found.file, found.line) == (&finding.rule, &finding.file, finding.line)
        };
        let known = (0..).zip(&self.found).find(|(_, found)| told(found));
        let index = known.map_or(self.found.len() as u32, |(index, _)| index);
        if contested.is_some() {
            self.contested.push((object, index));
        }
        let about = About {
            object,
            held_on_entry: ambiguity.entry != initial,
            contested,
            rests_on,
            operation: None,
        };
        self.keep(Some(finding), about, &readings);
    }

    /// The finding for two ways out, with one path of each.
    fn ambiguous(
        &self,
        execution: &Execution,
        arena: &mut Arena<'_>,
        rule: &str,
        object: Object,
        ambiguity: &Ambiguity,
    ) -> Option<Finding> {
        let Ambiguity {
            kept, given_back, ..
        } = ambiguity;
        let place = trace::returns(execution, arena, &kept.model).cloned()?;
        let target = Target::State(kept.state);
        let mut trace = trace::path(execution, arena, &kept.model, object, kept.paths, None);
        let ways = [kept, given_back].map(|way| (&*way.model, way.paths));
        trace::mark_parting(execution, arena, &mut trace, ways[0], ways[1]);
        let name = arena.name_of(object.loc);
        trace.push(trace::return_step(arena, &name, &place, object, &target));
        if let Some(other) = trace::returns(execution, arena, &given_back.model) {
            let target = Target::State(given_back.state);
            let mut step = trace::return_step(arena, &name, other, object, &target);
            step.message = format!("but on another path {}", step.message);
            trace.push(step);
        }
        let state = arena.machine_of(object).state_text(kept.state).to_string();
        self.finding(rule, Place::of(&place.site), &name, &state, trace)
    }
}

/// Two ways out that callers cannot tell apart; else the explanations that cover those there are.
fn find_ambiguity(
    execution: &Execution,
    oracle: &mut Oracle<'_>,
    others: &Others<'_>,
    exits: &Exits,
) -> Result<Ambiguity, BTreeSet<Kind>> {
    let object = exits.object;
    let at_hand = is_at_hand(oracle, others.exit, object);
    let find = |oracle: &mut Oracle<'_>, apart: Guard| {
        let mut search = Search::new(execution, oracle, others, exits, at_hand, apart);
        let found = search.run(execution, oracle);
        found.ok_or(search.covered_by)
    };
    // What a callee may keep by mistake is no mistake of this function's, if there is another.
    let apart = execution.contested(oracle, object, usize::MAX);
    match find(&mut *oracle, apart) {
        Err(_) if apart != Guard::FALSE => find(oracle, Guard::FALSE),
        found => found,
    }
}

/// Marks the exits that are part of a mistake, for callers not to be told it again.
fn mark(oracle: &mut Oracle<'_>, exits: &mut Exits, ambiguity: &Ambiguity) {
    let Ambiguity {
        entry, kept, wrong, ..
    } = ambiguity;
    if let Some(ByArgument { paths, .. }) = &ambiguity.by_argument {
        exits.contested = Some(Contested {
            from: *entry,
            paths: *paths,
        });
        return;
    }
    // To give up at times what is held on entry is a mistake only where a caller holds it: each caller is executed for both ways out.
    if *entry != oracle.machine_of(exits.object).initial {
        exits.undecided = Some(*entry);
        return;
    }
    exits.report(oracle, *entry, wrong.0, wrong.1);
    if kept.state != wrong.0 {
        exits.report(oracle, *entry, kept.state, kept.paths);
    }
}

impl<'s> Others<'s> {
    fn new(execution: &Execution, arena: &mut Arena<'_>, exit: &'s Exit<'s>) -> Self {
        Others {
            exit,
            elsewhere: Elsewhere::new(execution, arena),
            held: another_object::held(arena, exit.state),
        }
    }
}

/// Whether a caller may have had its hands on the object before the call: not on what only this function finds.
fn is_at_hand(arena: &mut Arena<'_>, exit: &Exit<'_>, object: Object) -> bool {
    let name = Converter::new(exit).object(arena, object.loc);
    name.is_some_and(|name| !name.root.is_output() && name.path.len() <= MAX_STEPS_AT_HAND)
}

impl What {
    /// What is wrong with an object that is not as the caller left it.
    fn of_exit(entered_free: bool) -> What {
        match entered_free {
            true => What::Kept,
            false => What::GivenUp,
        }
    }
}

/// Looks for two ways out with one object that callers cannot tell apart.
struct Search<'s> {
    exit: &'s Exit<'s>,
    exits: &'s Exits,
    /// A caller may have taken the object before the call.
    at_hand: bool,
    /// The paths on which an operation on the object was on another one.
    another: Guard,
    held: &'s [(Object, Guard)],
    /// The paths that rest on a callee's mistake.
    apart: Guard,
    /// The paths on which the function has changed the object's state at some time.
    moved: Guard,
    outputs: Vec<Predicate>,
    /// All that callers see, with conditions on what they have passed.
    with_inputs: Option<Vec<Predicate>>,
    /// The explanations that cover some of the ways out.
    covered_by: BTreeSet<Kind>,
    /// No explanation counts.
    regardless: bool,
}

/// The ways from one state to another that are looked at.
#[derive(Clone, Copy)]
struct Away {
    entry: StateId,
    kept: StateId,
    /// Other objects being as they may.
    wrong: Guard,
    paths: Guard,
}

impl<'s> Search<'s> {
    fn new(
        execution: &Execution,
        arena: &mut Arena<'_>,
        others: &'s Others<'_>,
        exits: &'s Exits,
        at_hand: bool,
        apart: Guard,
    ) -> Self {
        let mut moved = Guard::FALSE;
        for event in &execution.log.ops {
            if event.object == exits.object && event.moves() {
                moved = arena.formula.guards.or(moved, event.guard);
            }
        }
        let mut outputs = predicates::outputs(execution, arena, others.exit);
        outputs.push(predicates::has_output_pointer(
            arena,
            others.exit,
            exits.object,
        ));
        Search {
            exit: others.exit,
            exits,
            at_hand,
            another: others.elsewhere.than(exits.object),
            held: &others.held,
            apart,
            moved,
            outputs,
            with_inputs: None,
            covered_by: BTreeSet::new(),
            regardless: false,
        }
    }

    fn run(&mut self, execution: &Execution, oracle: &mut Oracle<'_>) -> Option<Ambiguity> {
        let entries: BTreeSet<StateId> = self.exits.moves.iter().map(|entry| entry.from).collect();
        let machine = oracle.machine_of(self.exits.object);
        let initial = machine.initial;
        for entry in entries {
            if !self.is_own_business(execution, oracle, entry) {
                continue;
            }
            for kept in machine.state_ids() {
                // A lock that the caller holds is given up; what is taken again is no business of its.
                let held = |state| machine.role(state) == Role::Held;
                let counts = entry == initial && held(kept) || kept == initial && held(entry);
                if !counts {
                    continue;
                }
                if let Some(away) = self.away(execution, oracle, entry, kept)
                    && let Some(found) = self.beside(execution, oracle, away)
                {
                    return Some(found);
                }
            }
        }
        None
    }

    /// Whether what becomes of an object that is entered in this state is for this function to answer.
    fn is_own_business(&self, execution: &Execution, arena: &Arena<'_>, entry: StateId) -> bool {
        let object = self.exits.object;
        let machine = arena.machine_of(object);
        if entry != machine.initial {
            // What is done to interrupts that are off already, or to a semaphore, is the caller's business.
            let one_half = machine.counts || machine.saved.is_some();
            return !one_half
                && self.at_hand
                && !execution.log.takes_what_is_held(object, entry, machine);
        }
        // One that takes a global object, or turns interrupts off, and leaves it to others to undo that, is
        // judged by what they do.
        let region = arena.regions.kind(object.loc.region);
        let global = matches!(region, RegionKind::Symbol(_));
        !(global || machine.saved.is_some()) || gives_back(execution, arena, object)
    }

    /// The ways from one state to another that nothing else explains.
    fn away(
        &mut self,
        execution: &Execution,
        arena: &mut Arena<'_>,
        entry: StateId,
        kept: StateId,
    ) -> Option<Away> {
        let object = self.exits.object;
        let initial = arena.machine_of(object).initial;
        let paths = self.exits.paths(entry, kept);
        let paths = arena.formula.guards.and_not(paths, self.apart);
        let failure = Failure {
            object,
            what: What::of_exit(entry == initial),
            exit: Some(self.exit.state),
        };
        let left = explanation::uncovered_however_entered(execution, arena, &failure, paths);
        self.covered_by.extend(left.covered_by);
        let wrong = if self.regardless { paths } else { left.paths };
        let usual = others_as_usual(arena, self.exit.state.guard, object, wrong);
        let paths = self.leave(Kind::OthersHeld, wrong, usual);
        (paths != Guard::FALSE).then_some(Away {
            entry,
            kept,
            wrong,
            paths,
        })
    }

    /// The paths that an explanation leaves, which covers the others, if it counts.
    fn leave(&mut self, kind: Kind, paths: Guard, left: Guard) -> Guard {
        if left != paths {
            self.covered_by.insert(kind);
        }
        if self.regardless { paths } else { left }
    }

    /// The ways out that leave the object otherwise; whether they give back what they have taken.
    fn others(
        &mut self,
        execution: &Execution,
        oracle: &mut Oracle<'_>,
        away: Away,
    ) -> Vec<(StateId, Guard, bool)> {
        let (object, entry) = (self.exits.object, away.entry);
        let machine = oracle.machine_of(object);
        let is_held = entry != machine.initial;
        let instead = another_object::another_is_held(oracle, self.held, object, away.paths);
        let all = self.exits.paths(entry, entry);
        let others = oracle.formula.guards.and_not(all, instead);
        let back = self.leave(Kind::AnotherInstead, all, others);
        let back = match is_held {
            true => {
                let given_away = callee::given_away(execution, oracle, object);
                let others = oracle.formula.guards.and_not(back, given_away);
                self.leave(Kind::GivenAway, back, others)
            }
            false => back,
        };
        let undone = oracle.formula.guards.and(back, self.moved);
        let all = oracle.formula.guards.and_not(back, self.moved);
        let others = oracle.formula.guards.and_not(all, self.another);
        let untouched = self.leave(Kind::OneOfSeveral, all, others);
        // On a lock that its caller holds, a function that gives it up under a condition on its
        // arguments is taken for a conditional unlock wrapper.
        let undoes = !is_held && oracle.model(undone).is_some();
        let untouched = match machine.counts && !undoes {
            true => Guard::FALSE,
            false => untouched,
        };
        let mut others = vec![(entry, undone, undoes), (entry, untouched, false)];
        // Held the one way or the other, as an argument wants it.
        let held = |state: &StateId| *state != entry && machine.role(*state) == Role::Held;
        let states = machine.state_ids().filter(held);
        others.extend(states.map(|other| (other, self.exits.paths(entry, other), false)));
        others.retain(|(other, ..)| *other != away.kept);
        others
    }

    /// Other ways out that callers cannot tell from these.
    fn beside(
        &mut self,
        execution: &Execution,
        oracle: &mut Oracle<'_>,
        away: Away,
    ) -> Option<Ambiguity> {
        let object = self.exits.object;
        for (other, there, undoes) in self.others(execution, oracle, away) {
            let known = execution.with_known_effect(oracle, object, there);
            let there = self.leave(Kind::UnknownEffect, there, known);
            let usual = others_as_usual(oracle, self.exit.state.guard, object, there);
            let there = self.leave(Kind::OthersHeld, there, usual);
            if there == Guard::FALSE {
                continue;
            }
            self.mine_inputs(oracle);
            if let Some(found) = self.alike(execution, oracle, away, (other, there, undoes)) {
                return Some(found);
            }
        }
        None
    }

    fn mine_inputs(&mut self, arena: &mut Arena<'_>) {
        if self.with_inputs.is_none() {
            let mut converter = Converter::new(self.exit);
            let inputs = predicates::inputs(arena, &mut converter, &self.exits.moves);
            self.with_inputs = Some(self.outputs.iter().cloned().chain(inputs).collect());
        }
    }

    /// One path of each of two ways out that agree on all that callers see, if there are such.
    fn alike(
        &mut self,
        execution: &Execution,
        oracle: &mut Oracle<'_>,
        away: Away,
        (other, there, undoes): (StateId, Guard, bool),
    ) -> Option<Ambiguity> {
        let Away {
            entry, kept, paths, ..
        } = away;
        let with_inputs = self.with_inputs.as_deref().unwrap_or_default();
        let candidates = if undoes { &self.outputs } else { with_inputs };
        let moved = |to: StateId, paths: Guard| Move {
            from: entry,
            to: Target::State(to),
            paths,
            reported: false,
        };
        let pair = [moved(kept, paths), moved(other, there)];
        let chosen = predicates::select(oracle, candidates, &pair, MAX_PREDICATES);
        let (left, right) = open(oracle, paths, there, &chosen)?;
        let (left_model, right_model) = indistinguishable(oracle, (left, right), candidates)?;
        if !possible_unchanged(execution, oracle, left)
            || !possible_unchanged(execution, oracle, right)
        {
            self.covered_by.insert(Kind::ChangedByCallee);
            if !self.regardless {
                return None;
            }
        }
        let by_argument = match undoes {
            true => by_argument::by_argument(
                oracle,
                self.exits,
                (entry, &chosen),
                (paths, there),
                with_inputs,
            ),
            false => None,
        };
        let wrong = (kept, alike(oracle, away.wrong, left, &chosen));
        let left = WaysOut {
            state: kept,
            paths: left,
            model: left_model,
        };
        let right = WaysOut {
            state: other,
            paths: right,
            model: right_model,
        };
        // The exit in which something is held is the one to show.
        let initial = oracle.machine_of(self.exits.object).initial;
        let (kept, given_back) = match kept == initial {
            true => (right, left),
            false => (left, right),
        };
        Some(Ambiguity {
            entry,
            wrong,
            kept,
            given_back,
            by_argument,
        })
    }
}
