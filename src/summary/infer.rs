//! Summary generation (paper §5.4, Figure 10).
//!
//! In: the execution of a function up to its exit. Out: its summary ⟨P_in, P_out, M, R⟩.
//!
//! Beyond the paper, P_in and P_out are mined: from the conditions under which the object's exit state
//! differs, as far as they can be said over entry values, and from the usual conditions on results and
//! out-parameters. Only those that tell exits apart are kept ([`select`](self::predicates)).

mod apart;
mod by_argument;
mod by_result;
mod fails_when;
mod modified;
mod rows;
mod told;

use std::collections::BTreeMap;
use std::rc::Rc;

use self::by_argument::by_argument;
pub use self::fails_when::fails_when;
use self::modified::modified;
pub(super) use self::rows::for_any_answers;
use self::rows::rows;
use self::told::told_by_result;
use super::convert::Converter;
use super::handles::{Handle, handles};
use super::memory::is_told;
use super::predicates::{
    Predicate, inputs, most_predicates, moved_on, needed, of_flags, select, small_outputs,
};
use super::{IExpr, IObj, Root, Row, Summary, SummaryObject, Told, Unnamed, When};
use crate::ir::{Counted, POINTER_BITS};
use crate::property::{StateId, Target};
use crate::sat::oracle::Oracle;
use crate::symbolic::arena::Arena;
use crate::symbolic::class::Class;
use crate::symbolic::execution::Execution;
use crate::symbolic::guard::Guard;
use crate::symbolic::region::Loc;
use crate::symbolic::state::{MachineId, Object, State, Status};
use crate::symbolic::term::Term;

/// Objects beyond this number are left out: the elements of a table in a loop.
const MAX_OBJECTS: usize = 40;
/// Pointers from a root to a block that is told of only because it is not known how callees leave it.
const MAX_PATH_OF_IDLE: usize = 2;
/// Classes of objects without a name.
const MAX_UNNAMED: usize = 16;
/// Calls down to where they are moved.
const MAX_CALLS_UNNAMED: u8 = 3;

/// The exit of a function, with everything that queries about it need.
pub struct Exit<'s> {
    pub state: &'s State,
    /// The scalar result.
    pub result: Option<Term>,
    /// The pointers that the caller receives.
    pub handles: Rc<[Handle]>,
}

impl<'s> Exit<'s> {
    pub fn new(arena: &mut Arena<'_>, state: &'s State, result: Option<Term>) -> Self {
        let handles = handles(arena, state, result).into();
        Exit {
            state,
            result,
            handles,
        }
    }
}

/// One way through the function for an object.
#[derive(Clone, Debug)]
pub struct Move {
    pub from: StateId,
    pub to: Target,
    pub paths: Guard,
    /// See [`Row::reported`].
    pub reported: bool,
}

/// How an object leaves the function: for each entry state and target the paths between them.
#[derive(Clone, Debug)]
pub struct Exits {
    pub object: Object,
    /// The address by which the function operates on it.
    pub at: Loc,
    /// Exclusive, in order of entry states.
    pub moves: Vec<Move>,
    /// The paths on which the function operates on the object.
    pub touched: Guard,
    /// See [`Row::contested`].
    pub contested: Option<Contested>,
    /// The state on entry from which the function leaves the object in one state or another, and callers cannot tell in which.
    pub undecided: Option<StateId>,
}

/// Ways out of the function that keep an object and that only an argument tells from others that give it back.
#[derive(Clone, Copy, Debug)]
pub struct Contested {
    pub from: StateId,
    pub paths: Guard,
}

impl Exits {
    /// The paths of a move that is no part of a reported mistake; `FALSE` if there is none.
    pub fn paths(&self, from: StateId, to: StateId) -> Guard {
        let same =
            |entry: &&Move| entry.from == from && entry.to == Target::State(to) && !entry.reported;
        self.moves
            .iter()
            .find(same)
            .map_or(Guard::FALSE, |entry| entry.paths)
    }

    /// The exits as the caller sees them that has the object in its hands on some paths only: on the
    /// others nothing happens to it.
    fn seen_on(&self, arena: &mut Arena<'_>, paths: Guard) -> Exits {
        let mut seen = self.clone();
        if paths == Guard::TRUE {
            return seen;
        }
        seen.moves.clear();
        let mut unseen: Vec<Move> = Vec::new();
        for entry in &self.moves {
            let guards = &mut arena.formula.guards;
            let (inside, outside) = (
                guards.and(entry.paths, paths),
                guards.and_not(entry.paths, paths),
            );
            if inside != Guard::FALSE {
                seen.moves.push(Move {
                    paths: inside,
                    ..entry.clone()
                });
            }
            match unseen.iter_mut().find(|other| other.from == entry.from) {
                Some(other) => other.paths = guards.or(other.paths, outside),
                None => unseen.push(Move {
                    from: entry.from,
                    to: Target::State(entry.from),
                    paths: outside,
                    reported: false,
                }),
            }
        }
        for idle in unseen {
            let same = |entry: &&mut Move| {
                (entry.from, &entry.to, entry.reported) == (idle.from, &idle.to, false)
            };
            match seen.moves.iter_mut().find(same) {
                Some(known) => known.paths = arena.formula.guards.or(known.paths, idle.paths),
                None if idle.paths != Guard::FALSE => seen.moves.push(idle),
                None => {}
            }
        }
        seen.moves.sort_by_key(|entry| entry.from);
        seen
    }

    /// Adds how another object leaves that callers see in this one's place on some paths.
    fn join(&mut self, arena: &mut Arena<'_>, other: Exits, paths: Guard) {
        let guards = &mut arena.formula.guards;
        for entry in &mut self.moves {
            if entry.to == Target::State(entry.from) {
                entry.paths = guards.and_not(entry.paths, paths);
            }
        }
        for mut entry in other.moves {
            entry.paths = guards.and(entry.paths, paths);
            let same = |known: &&mut Move| {
                (known.from, &known.to, known.reported) == (entry.from, &entry.to, entry.reported)
            };
            match self.moves.iter_mut().find(same) {
                Some(known) => known.paths = guards.or(known.paths, entry.paths),
                None => self.moves.push(entry),
            }
        }
        self.moves.retain(|entry| entry.paths != Guard::FALSE);
        self.moves.sort_by_key(|entry| entry.from);
        let touched = guards.and(other.touched, paths);
        self.touched = guards.or(self.touched, touched);
    }

    /// Marks some of the paths of a move as part of a reported mistake.
    pub fn report(&mut self, arena: &mut Arena<'_>, from: StateId, to: StateId, paths: Guard) {
        let to = Target::State(to);
        let at = self
            .moves
            .iter()
            .position(|entry| entry.from == from && entry.to == to && !entry.reported);
        if let Some(at) = at {
            let entry = &mut self.moves[at];
            entry.paths = arena.formula.guards.and_not(entry.paths, paths);
            let marked = Move {
                from,
                to,
                paths,
                reported: true,
            };
            if entry.paths == Guard::FALSE {
                *entry = marked;
            } else {
                self.moves.insert(at + 1, marked);
            }
        }
    }
}

/// What the function does to each object it touches.
pub fn exits(execution: &Execution, arena: &mut Arena<'_>, state: &State) -> Vec<Exits> {
    let mut all = Vec::new();
    for (object, tracked) in &state.objects {
        arena.formula.reserve_names();
        let entry = arena.entry_state(*object);
        let mut moves: Vec<Move> = Vec::new();
        // Where its pointer is null there is no object to speak of.
        let exists = arena.exists(object.loc);
        let exit = arena.formula.guards.and(state.guard, exists);
        let exit = arena.on_valid_pointers(state, exit);
        for &(from, held) in &entry.set {
            let Status::At(from) = from else { continue };
            for &(status, guard) in &tracked.set {
                let paths = arena.formula.guards.and(exit, guard);
                let paths = arena.formula.guards.and(paths, held);
                let paths = arena.on_valid_pointers(state, paths);
                let paths = arena.apart(*object, paths);
                if paths == Guard::FALSE {
                    continue;
                }
                let (to, reported) = match status {
                    Status::At(to) => (Target::State(to), false),
                    Status::Error(event) => {
                        let event = &execution.log.ops[event as usize];
                        let ours = event.rule.is_some() && event.touched != Guard::FALSE;
                        (Target::Error(event.rule.clone()), ours)
                    }
                };
                let known = moves.iter_mut().find(|known| {
                    known.from == from && known.to == to && known.reported == reported
                });
                match known {
                    Some(known) => known.paths = arena.formula.guards.or(known.paths, paths),
                    None => moves.push(Move {
                        from,
                        to,
                        paths,
                        reported,
                    }),
                }
            }
        }
        all.push(Exits {
            object: *object,
            at: object.loc,
            moves,
            touched: tracked.touched,
            contested: None,
            undecided: None,
        });
    }
    all
}

/// A summary, and for each of its rows the object and the paths in the execution that it was made from.
pub struct Inferred {
    pub summary: Summary,
    pub row_paths: Vec<(Object, Guard)>,
}

/// Figure 10.
pub fn infer(
    execution: &Execution,
    oracle: &mut Oracle<'_>,
    exit: &Exit<'_>,
    exits: &[Exits],
    params: Vec<String>,
) -> Inferred {
    let mut row_paths = Vec::new();
    let mut summary = Summary {
        params,
        ..Summary::default()
    };
    let mut converter = Converter::new(exit);
    let mut unnamed: BTreeMap<(Class, MachineId), u8> = BTreeMap::new();
    // For each of the summary's objects, those of the execution that it is on some paths.
    let mut stand_for: Vec<Vec<(Object, Loc)>> = Vec::new();
    let exits = by_address(oracle, exits);
    let on_exit = small_outputs(execution, oracle, exit);
    let room = oracle.formula.guards.room();
    for (index, object) in exits.iter().enumerate() {
        if stand_for
            .iter()
            .flatten()
            .any(|one| *one == (object.object, object.at))
        {
            continue;
        }
        let interface = match summary.objects.len() < MAX_OBJECTS {
            true => converter.object(oracle, object.at),
            false => None,
        };
        let Some(interface) = interface else {
            let class = class_of_moved(oracle, object);
            unnamed.extend(class.map(|class| ((class, object.object.machine), 0)));
            continue;
        };
        let (object, objects) =
            &seen_by_callers(oracle, &mut converter, &interface, &exits[index..]);
        let idle = object
            .moves
            .iter()
            .all(|entry| entry.to == Target::State(entry.from));
        // Of a block that no row moves, that a callee may have ended it matters to a caller who has made it; that one is near.
        let watched = oracle.machine_of(object.object).watches_accesses();
        let far = watched && interface.path.len() > MAX_PATH_OF_IDLE;
        let open = !(idle && far) && is_open(execution, oracle, exit, object.object);
        if idle && !open && object.moves.len() == oracle.entry_state(object.object).set.len() {
            continue;
        }
        let inputs = inputs(oracle, &mut converter, &object.moves);
        let candidates: Vec<_> = on_exit.iter().cloned().chain(inputs).collect();
        let most = most_predicates(oracle.formula.guards.room(), room);
        let chosen = select(oracle, &candidates, &object.moves, most);
        let index = summary.objects.len() as u32;
        let name = converter.name(oracle, &interface, object.object.loc);
        let optional = !oracle.surely_exists(exit.state, object.object.loc);
        let events = execution.log.ops.iter();
        let moves = || events.clone().filter(|event| event.object == object.object);
        let only_if = match watched && interface.root.is_output() {
            true => {
                let moved = moved_on(oracle, &object.moves);
                let mut needed = needed(oracle, &mut converter, moved);
                needed.extend(of_flags(oracle, moved));
                needed
            }
            false => Vec::new(),
        };
        let returned = *interface.root.first() == Root::Return && !only_if.is_empty();
        let or_another = returned && returns_another(oracle, exit, &object.moves);
        summary.objects.push(SummaryObject {
            object: interface,
            name,
            class: oracle.class_of(object.object.loc),
            machine: oracle.machine_of(object.object).name.clone(),
            optional,
            open,
            shared: false,
            left_at: Vec::new(),
            exact: !execution.cut && moves().all(|event| event.primitive),
            alone: !execution.cut && moves().all(|event| event.primitive || event.alone),
            only_if,
            or_another,
            leads_back: oracle.leads_back.contains(&object.object.loc.region),
            found_in_blocks: false,
        });
        let root = &summary.objects[index as usize].object.root;
        let mut of_result = match watched && root.is_left_in_memory() {
            true => super::predicates::on_result(oracle, exit, &candidates),
            false => Vec::new(),
        };
        of_result.retain(|known| !chosen.contains(known));
        let predicates = (&chosen[..], &of_result[..]);
        let paths = rows(execution, oracle, &mut summary, index, object, predicates);
        // How it is left by mistake, which is told here, callers are not told: what follows from that is not another mistake.
        let mut own = summary.rows.iter().filter(|row| row.object == index);
        let told =
            own.any(|row| row.reported && matches!(row.to, Target::State(to) if to != row.from));
        // Who raises a semaphore, and what for, is another question than who holds it.
        let counts = oracle.machine_of(object.object).counts;
        summary.objects[index as usize].open |= told && !watched && !counts;
        row_paths.extend(paths.into_iter().map(|paths| (object.object, paths)));
        stand_for.push(objects.clone());
    }
    summary.moves_more = execution.more || !execution.unnamed.is_empty() || !unnamed.is_empty();
    summary.unnamed = moved_unnamed(execution, oracle, exit, unnamed);
    super::sleep::add(execution, oracle, &mut summary);
    super::assertion::add(execution, oracle, &mut summary);
    super::initialisation::add(execution, oracle, &mut summary, exit);
    super::memory::add_before(execution, oracle, &mut summary, exit.state.guard);
    // R speaks of objects only; a function without any keeps the rest for its callers' precision.
    align(&mut summary);
    // What is counted is told for more rounds than were executed, too.
    let told_for = match execution.counted {
        Some(_) => Guard::TRUE,
        None => exit.state.guard,
    };
    let mut converter = converter.with_unknowns(told_for);
    let result = exit.result.map(|result| pointer_on(oracle, exit, result));
    let result = result.map(|result| match execution.counted {
        Some(counted) => counted_on(oracle, exit.state.guard, (result, counted)),
        None => result,
    });
    summary.result = result.and_then(|term| {
        let told = converter.expr(oracle, term)?;
        Some(by_argument(oracle, &mut converter, exit, term, told))
    });
    let mut of_result = match oracle.watches {
        true => on_exit,
        false => Vec::new(),
    };
    of_result.retain(Predicate::is_of_result);
    modified(
        execution,
        oracle,
        &mut converter,
        (exit, &of_result),
        &mut summary,
    );
    // An argument that is in no value of M counts as kept, which is found out behind this.
    super::unknowns::simplify(&mut summary);
    super::unknowns::limit(&mut summary);
    if oracle.watches {
        if !is_told(summary.result.as_ref()) {
            summary.result_tells = told_by_result(execution, oracle, exit, &of_result);
        }
        summary.contents = super::contents::contents(oracle, &mut converter, exit);
        super::shared::add(execution, oracle, &mut summary, (&stand_for, exit));
    }
    super::memory::add_behind(execution, oracle, &mut summary, exit);
    // Whether a mistake is made may be told to callers by the result alone: then some of the conditions under which the result has
    // its values are better than none.
    let told_by_exit = |row: &Row| row.outcond.iter().any(Option::is_some);
    let mistake = |row: &Row| matches!(row.to, Target::Error(_)) && told_by_exit(row);
    if let (None, Some(result)) = (&summary.result, result)
        && summary.rows.iter().any(mistake)
    {
        let mut converter = converter.in_part();
        let told = converter.expr(oracle, result);
        summary.result = told.map(|told| by_argument(oracle, &mut converter, exit, result, told));
        super::unknowns::simplify(&mut summary);
    }
    Inferred { summary, row_paths }
}

/// A pointer without what it is only on paths on which the function does not return: the null that `if (!p) return ERR_PTR(-ENOMEM)` sorts out.
fn pointer_on(arena: &mut Arena<'_>, exit: &Exit<'_>, value: Term) -> Term {
    match arena.watches && arena.formula.terms.width(value) == POINTER_BITS {
        true => arena.formula.without_others(value, exit.state.guard),
        false => value,
    }
}

/// A result that is known on these paths, and that more rounds of a loop than were executed make another one.
fn counted_on(arena: &mut Arena<'_>, known: Guard, (result, counted): (Term, Counted)) -> Term {
    let width = arena.formula.terms.width(result);
    let further = match counted {
        Counted::Number => arena.unknown(width),
        Counted::Truth => {
            let truth = arena.unknown(1);
            arena.formula.terms.zext(truth, width)
        }
    };
    arena.formula.ite_guard(known, result, further)
}

/// What the function does to each object by each address: a block that it ends by one of several is told as so many objects, and nothing happens to it
/// by the one where the other is taken.
fn by_address(arena: &mut Arena<'_>, exits: &[Exits]) -> Vec<Exits> {
    let mut all = Vec::with_capacity(exits.len());
    for exits in exits {
        for (at, paths) in arena.addresses_of(exits.object) {
            let seen = exits.seen_on(arena, paths);
            all.push(Exits { at, ..seen });
        }
    }
    all
}

/// How callers see the first of some objects leave; and the others with it that they find in the same place on other paths: of two
/// attempts to open a file, the one that has succeeded.
fn seen_by_callers(
    arena: &mut Arena<'_>,
    converter: &mut Converter,
    interface: &IObj,
    exits: &[Exits],
) -> (Exits, Vec<(Object, Loc)>) {
    let first = &exits[0];
    let reach = converter.reach(arena, first.at);
    let mut seen = first.seen_on(arena, reach);
    let mut objects = vec![(first.object, first.at)];
    let machine = first.object.machine;
    if !arena.machine_at(machine).watches_accesses() || !interface.root.is_output() {
        return (seen, objects);
    }
    for other in &exits[1..] {
        if other.object.machine == machine
            && converter.object(arena, other.at).as_ref() == Some(interface)
        {
            let reach = converter.reach(arena, other.at);
            let other_seen = other.seen_on(arena, reach);
            seen.join(arena, other_seen, reach);
            objects.push((other.object, other.at));
        }
    }
    (seen, objects)
}

/// The summary of a function that control has not come back from: what it accesses before. Unless it never comes back (`noreturn`), the function goes
/// on behind loops of more rounds than are executed, and nothing is known of what it does there.
pub fn without_exit(
    execution: &Execution,
    oracle: &mut Oracle<'_>,
    params: Vec<String>,
    noreturn: bool,
) -> Summary {
    let mut summary = Summary {
        params,
        noreturn,
        ..Summary::default()
    };
    super::memory::add_before(execution, oracle, &mut summary, Guard::FALSE);
    if !noreturn {
        summary.open();
    }
    align(&mut summary);
    summary
}

/// Gives all conditions of a summary a column for each of its predicates.
fn align(summary: &mut Summary) {
    let predicates = (summary.inputs.len(), summary.outputs.len());
    for row in &mut summary.rows {
        row.incond.resize(predicates.0, None);
        row.outcond.resize(predicates.1, None);
    }
    let sleeps = summary.sleeps.iter_mut().map(|sleep| &mut sleep.incond);
    let assertions = summary.assertions.iter_mut();
    let uses = summary.uses.iter_mut();
    let inconds = sleeps
        .chain(assertions.map(|assertion| &mut assertion.incond))
        .chain(uses.map(|access| &mut access.incond));
    for incond in inconds {
        incond.resize(predicates.0, None);
    }
}

/// The class of an object that leaves the function in another state; if it has none, that of all such. What the function has from a call
/// that made it is none that its callers know.
fn class_of_moved(arena: &mut Arena<'_>, object: &Exits) -> Option<Class> {
    let mut moves = object.moves.iter();
    let moved = moves.any(|entry| matches!(entry.to, Target::State(to) if to != entry.from));
    let loc = object.object.loc;
    let new = arena.regions.is_local(loc.region) || arena.is_owned(loc.region);
    match moved && !new {
        true => Some(arena.class_or_any(object.object)),
        false => None,
    }
}

/// These objects, and those that callees have moved.
fn moved_unnamed(
    execution: &Execution,
    arena: &mut Arena<'_>,
    exit: &Exit<'_>,
    mut found: BTreeMap<(Class, MachineId), u8>,
) -> Vec<Unnamed> {
    let guards = &mut arena.formula.guards;
    for (class, &(calls, paths)) in &execution.unnamed {
        if calls + 1 < MAX_CALLS_UNNAMED && !guards.excludes(exit.state.guard, paths) {
            found.entry(class.clone()).or_insert(calls + 1);
        }
    }
    let unnamed = found.into_iter().map(|((class, machine), calls)| Unnamed {
        class,
        machine: arena.machine_at(machine).name.clone(),
        calls,
    });
    unnamed.take(MAX_UNNAMED).collect()
}

/// Whether the function returns on paths on which it is not known how a callee has left an object.
fn is_open(execution: &Execution, arena: &mut Arena<'_>, exit: &Exit<'_>, object: Object) -> bool {
    let given = execution.given_to_unknown(arena, object, None);
    let taken = execution.perhaps_taken_by_unknown(arena, object);
    let guards = &mut arena.formula.guards;
    let given = guards.or(given, taken);
    let unknown = guards.or(execution.open.of(object), execution.chosen.of(object));
    let unknown = guards.or(unknown, given);
    !guards.excludes(unknown, exit.state.guard)
}

/// The condition `value != 0` over an exit value.
pub fn nonzero(object: IObj, width: u16, pointer: bool) -> IExpr {
    let value = IExpr::Value {
        object,
        width,
        when: When::Exit,
        narrow: false,
        pointer: Told(pointer),
    };
    IExpr::is_nonzero(value, width)
}

/// Whether the result may be another pointer than null on paths on which an object is not moved.
fn returns_another(oracle: &mut Oracle<'_>, exit: &Exit<'_>, moves: &[Move]) -> bool {
    let Some(result) = exit.result else {
        return false;
    };
    let null = oracle.null_paths(result);
    let moved = moved_on(oracle, moves);
    let guards = &mut oracle.formula.guards;
    let others = guards.and_not(exit.state.guard, moved);
    let others = guards.and_not(others, null);
    oracle.possible(others)
}
