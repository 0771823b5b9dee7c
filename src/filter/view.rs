//! One function as the filters see it (DESIGN §6): the locations that its branches lead to, and its checks, each with the guard under which
//! it is reached and fails. An assertion that fails ends the execution (ACSpec §2.1): nothing behind it is reached.
//!
//! In: a frozen execution, its oracle, the body for what stands in each block, and failures at the exit. Out: a [`View`].

use rustc_hash::{FxHashMap, FxHashSet};

use super::machine::{self, Operation};
use crate::ir::{BlockId, Body, StmtKind, TermKind};
use crate::sat::oracle::{Oracle, OutOfBudget};
use crate::symbolic::execution::Execution;
use crate::symbolic::guard::{Cond, Guard};
use crate::symbolic::log::{Asserted, AssertionEvent, BranchEvent, Site, UseEvent};
use crate::symbolic::origin::Origin;
use crate::symbolic::state::Object;
use crate::symbolic::term::Term;

/// Nodes of a guard beyond which a function is not filtered.
const MAX_GUARD: usize = 4_000;
/// Operations, and accesses, of a function that is looked at as a whole.
const MAX_SMALL: usize = 40;
/// Checks and places of one function that are looked at.
const MAX_EVENTS: usize = 2_000;

/// What is checked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Event {
    /// An access of the log by its number: the pointer is not null.
    Use(usize),
    /// An operation of the log, by the number of its first row: it is allowed in the object's state.
    Operation(usize),
    /// An assertion of the user's, by its number in the log.
    Assertion(usize),
    /// Something that is so when the function returns, by its number among those handed in.
    Exit(usize),
}

/// A check, which fails on some paths.
#[derive(Clone, Debug)]
pub struct Check {
    pub event: Event,
    /// The last row of the log that belongs to it, and one.
    end: usize,
    pub site: Site,
    pub text: String,
    pub fails: Guard,
    /// Where it fails, be there earlier failures on the way or not.
    pub alone: Guard,
    /// The conditions that the check itself asks for, not the branches that lead to it.
    pub asserted: Vec<Cond>,
    /// The conditions that there is an object that is lost: no specification says that there is none.
    pub exists: Vec<Cond>,
}

/// Where a branch of the source leads.
#[derive(Clone, Debug)]
pub struct Location {
    pub site: Site,
    pub side: Side,
    /// Where it is reached, if nothing has failed before.
    pub reach: Guard,
    /// The same, be there earlier failures or not.
    pub alone: Guard,
    /// No specification is to make it dead: the branch says itself that a pointer is null, or the user says so.
    pub angelic: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Side {
    /// The condition holds.
    Then,
    /// It does not.
    Else,
    /// A case of a `switch`, by its block.
    Case(u32),
    /// The pointer that is compared with null is null.
    Null,
    /// The function's beginning.
    Start,
    /// What an angelic assertion of the user's asks for does not hold.
    Asserted,
}

/// A failure at the function's end: an object that is lost.
#[derive(Clone, Debug)]
pub struct AtExit {
    pub site: Site,
    pub text: String,
    pub paths: Guard,
    pub object: Object,
}

/// Which checks a view has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scope<'e> {
    /// All accesses and operations.
    All,
    /// Those by pointers that the function compares with null, or that may be null for what is known of libraries, and all operations; in a
    /// large function only those about the same pointers and objects as these events.
    Around(&'e [Event]),
}

/// What the checks of a view are about.
struct About {
    /// `None`: everything.
    pointers: Option<FxHashSet<Option<Term>>>,
    objects: Option<FxHashSet<Object>>,
}

impl About {
    fn of(execution: &Execution, scope: Scope<'_>) -> About {
        let log = &execution.log;
        let small = log.ops.len() <= MAX_SMALL && log.uses.len() <= MAX_SMALL;
        let events = match scope {
            Scope::Around(events) if !small => events,
            _ => {
                return About {
                    pointers: None,
                    objects: None,
                };
            }
        };
        let pointers = events.iter().filter_map(|event| match event {
            Event::Use(index) => Some(log.uses.get(*index)?.base),
            _ => None,
        });
        let objects = events.iter().filter_map(|event| match event {
            Event::Operation(index) => Some(log.ops.get(*index)?.object),
            _ => None,
        });
        About {
            pointers: Some(pointers.collect()),
            objects: Some(objects.collect()),
        }
    }

    fn has_pointer(&self, base: Option<Term>) -> bool {
        let pointers = self.pointers.as_ref();
        pointers.is_none_or(|pointers| pointers.contains(&base))
    }

    fn has_object(&self, object: Object) -> bool {
        let objects = self.objects.as_ref();
        objects.is_none_or(|objects| objects.contains(&object))
    }
}

pub struct View {
    /// In the order of the source.
    pub locations: Vec<Location>,
    /// In the order of the execution.
    pub checks: Vec<Check>,
    /// What holds of all inputs.
    pub axioms: Guard,
    /// Conditions that are known to go either way: a library's function may fail.
    pub facts: FxHashSet<Cond>,
    /// What fails earlier was taken off. In a large function it is not, and each failure is looked at by itself.
    pub in_order: bool,
}

/// Where in the log something lies: operations and branches before it, and what comes first between the same two.
type Position = (usize, usize, u8);
const OF_USE: u8 = 0;
const OF_BRANCH: u8 = 1;
const OF_OPERATION: u8 = 2;

/// A place that is reached, or a check, before what fails earlier is taken off.
enum Part {
    Location(usize, Guard),
    Check(Check),
}

impl View {
    pub fn of(
        body: &Body,
        execution: &Execution,
        oracle: &mut Oracle<'_>,
        at_exit: &[AtExit],
        scope: Scope<'_>,
    ) -> Result<View, OutOfBudget> {
        let mut locations = Locations::default();
        let mut parts: Vec<(Position, Part)> = Vec::new();
        locations.add(body, execution, oracle, &mut parts);
        let about = About::of(execution, scope);
        let (operations, congruent) =
            machine::operations(execution, oracle, &|event| about.has_object(event.object));
        let there = operated_on_what_is_there(&operations, oracle);
        let axioms = oracle.formula.guards.and(congruent, there);
        for operation in operations {
            parts.extend(of_operation(execution, oracle, operation));
        }
        let mut facts = FxHashSet::default();
        for (index, event) in execution.log.uses.iter().enumerate() {
            if about.has_pointer(event.base) {
                parts.extend(of_use(oracle, index, event, scope, &mut facts));
            }
        }
        for (index, event) in execution.log.user_assertions.iter().enumerate() {
            parts.extend(of_assertion(index, event));
        }
        for (index, failure) in at_exit.iter().enumerate() {
            let check = Check {
                event: Event::Exit(index),
                end: index + 1,
                site: failure.site.clone(),
                text: failure.text.clone(),
                fails: failure.paths,
                alone: failure.paths,
                asserted: Vec::new(),
                exists: given(execution, oracle, failure),
            };
            parts.push(((usize::MAX, usize::MAX, 0), Part::Check(check)));
        }
        if parts.len() > MAX_EVENTS {
            return Err(OutOfBudget);
        }
        parts.sort_by_key(|(position, _)| *position);
        let mut view = View {
            locations: locations.found,
            checks: Vec::new(),
            axioms,
            facts,
            in_order: false,
        };
        view.in_order = view.run(oracle, parts).is_ok();
        Ok(view)
    }

    /// Takes in the locations and checks, and takes off what comes after a failure.
    fn run(
        &mut self,
        oracle: &mut Oracle<'_>,
        parts: Vec<(Position, Part)>,
    ) -> Result<(), OutOfBudget> {
        // The conditions under which nothing has failed yet; unknown once they have grown too large.
        let mut going_on = Some(self.axioms);
        for (_, part) in parts {
            let guards = &mut oracle.formula.guards;
            let mut still = |guard| guards.try_and(guard, going_on?, MAX_GUARD);
            match part {
                Part::Location(index, guard) => {
                    let reached = still(guard);
                    let location = &mut self.locations[index];
                    location.alone = guards.or(location.alone, guard);
                    location.reach = guards.or(location.reach, reached.unwrap_or_default());
                    going_on = reached.and(going_on);
                }
                Part::Check(mut check) => {
                    let fails = still(check.fails);
                    check.fails = fails.unwrap_or_default();
                    going_on = going_on.filter(|_| fails.is_some());
                    going_on = going_on.and_then(|before| {
                        guards.try_and(before, guards.not(check.fails), MAX_GUARD)
                    });
                    if check.alone != Guard::FALSE {
                        self.checks.push(check);
                    }
                }
            }
        }
        going_on.map(|_| ()).ok_or(OutOfBudget)
    }

    /// The check that a row of the log, or an access, belongs to.
    pub fn check(&self, event: Event) -> Option<usize> {
        self.checks
            .iter()
            .position(|check| match (check.event, event) {
                (Event::Operation(first), Event::Operation(row)) => {
                    (first..check.end).contains(&row)
                }
                (known, asked) => known == asked,
            })
    }
}

/// The pointers that objects are operated on by are not null, where nothing in the function asks for that: `free(NULL)` is allowed, and not what
/// is meant.
fn operated_on_what_is_there(operations: &[Operation], oracle: &mut Oracle<'_>) -> Guard {
    let mut there = Guard::TRUE;
    for operation in operations.iter().filter(|operation| operation.may_fail()) {
        let Some(base) = oracle.regions.base(operation.object.loc.region) else {
            continue;
        };
        let pointer = oracle.formula.terms.is_pointer(base);
        if pointer && !oracle.nullable.contains(&base) && !oracle.tested.contains_key(&base) {
            let null = oracle.null_paths(base);
            there = oracle.formula.guards.and_not(there, null);
        }
    }
    there
}

/// The conditions of some paths that the pointer to an object, or the number that names it, takes part in: those that say whether there is one.
pub fn about_pointer(oracle: &Oracle<'_>, paths: Guard, object: Object) -> Vec<Cond> {
    let Some(base) = oracle.regions.base(object.loc.region) else {
        return Vec::new();
    };
    let pointer = oracle.formula.vars(base);
    let literal = |condition| oracle.formula.guards.literal(condition, true);
    let conditions = oracle.formula.guards.support(paths).iter().copied();
    let about = conditions.filter(|&condition| {
        let vars = oracle.formula.vars(oracle.formula.cond_term(condition));
        let compared = oracle.compared_with_null(literal(condition));
        vars == pointer || compared.contains(&base)
    });
    about.collect()
}

/// What an object that is lost rests on: that there is one, and that the call that made it has done so.
fn given(execution: &Execution, oracle: &Oracle<'_>, failure: &AtExit) -> Vec<Cond> {
    let mut given = about_pointer(oracle, failure.paths, failure.object);
    let mut ops = execution.log.ops.iter();
    let made = ops.find(|event| event.object == failure.object && event.moves());
    let Some(made) = made else { return given };
    let conditions = oracle.formula.guards.support(made.guard).iter().copied();
    given.extend(conditions.filter(|&condition| {
        let vars = oracle.formula.vars(oracle.formula.cond_term(condition));
        let mut origins = vars.iter().map(|&var| oracle.origins.of(var));
        origins.any(|origin| matches!(origin, Origin::Call { text } if **text == *made.text))
    }));
    given
}

fn of_operation(
    execution: &Execution,
    oracle: &Oracle<'_>,
    operation: Operation,
) -> Option<(Position, Part)> {
    let first = &execution.log.ops[operation.events.0];
    let check = Check {
        event: Event::Operation(operation.events.0),
        end: operation.events.1,
        site: first.stack.first()?.clone(),
        text: format!("{} ({})", first.text, first.name),
        fails: operation.fails,
        alone: operation.fails,
        asserted: operation.asserted,
        exists: about_pointer(oracle, operation.fails, operation.object),
    };
    let position = (operation.events.0, usize::MAX, OF_OPERATION);
    Some((position, Part::Check(check)))
}

fn of_assertion(index: usize, event: &AssertionEvent) -> Option<(Position, Part)> {
    if event.kind == Asserted::Angelic {
        return None;
    }
    let text = event.text.as_deref().unwrap_or("assertion");
    let check = Check {
        event: Event::Assertion(index),
        end: index + 1,
        site: event.stack.first()?.clone(),
        text: format!("`{text}` holds"),
        fails: event.guard,
        alone: event.guard,
        asserted: event.asked.clone(),
        exists: Vec::new(),
    };
    let position = (event.order, event.branches, OF_USE);
    Some((position, Part::Check(check)))
}

fn of_use(
    oracle: &mut Oracle<'_>,
    index: usize,
    event: &UseEvent,
    scope: Scope<'_>,
    facts: &mut FxHashSet<Cond>,
) -> Option<(Position, Part)> {
    let mut asserted = Vec::new();
    let fails = match event.base {
        None => event.null,
        Some(base) => {
            let may_fail = oracle.nullable.contains(&base);
            if !(scope == Scope::All || may_fail || oracle.tested.contains_key(&base)) {
                return None;
            }
            let null = oracle.null_paths(base);
            let null = oracle.formula.guards.as_literal(null);
            asserted.extend(null.map(|(condition, _)| condition));
            if may_fail {
                facts.extend(&asserted);
            }
            let null = oracle.null_at_start(event.address, base);
            oracle.formula.guards.and(event.guard, null)
        }
    };
    let name = match event.base {
        Some(base) => oracle.name_of_value(base),
        None => "NULL".to_owned(),
    };
    let check = Check {
        event: Event::Use(index),
        end: index + 1,
        site: event.stack.first()?.clone(),
        text: format!("`{name}` is followed"),
        fails,
        alone: fails,
        asserted,
        exists: Vec::new(),
    };
    let position = (event.order, event.branches, OF_USE);
    Some((position, Part::Check(check)))
}

/// What of a condition (`a && b`) leads to a location.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Extent {
    Part,
    Whole,
}

/// The locations of a function by what the source has there: each part of a condition (`a && b`) and the condition as a whole; the rounds of a
/// loop are one.
#[derive(Default)]
struct Locations {
    found: Vec<Location>,
    known: FxHashMap<(BlockId, Side, Extent), usize>,
    /// For a block that is the second part of a condition, the block of the first.
    first_part: FxHashMap<BlockId, BlockId>,
}

impl Locations {
    fn add(
        &mut self,
        body: &Body,
        execution: &Execution,
        oracle: &mut Oracle<'_>,
        parts: &mut Vec<(Position, Part)>,
    ) {
        let at = self.at(
            (BlockId(0), Side::Start, Extent::Whole),
            &beginning(body),
            false,
        );
        parts.push(((0, 0, 0), Part::Location(at, Guard::TRUE)));
        let branches = &execution.log.branches;
        let own = branches
            .iter()
            .enumerate()
            .filter(|(_, branch)| branch.depth == 0);
        for (index, branch) in own {
            let first = self.first_part.get(&branch.block).copied();
            let first = first.unwrap_or(branch.block);
            let position = (branch.order, index, OF_BRANCH);
            let guards = &mut oracle.formula.guards;
            let taken = guards.and(branch.path, branch.guard);
            let not = guards.and_not(branch.path, branch.guard);
            let says = [branch.says.then, branch.says.els];
            let told = says.iter().any(Option::is_some);
            for (way, guard) in [taken, not].into_iter().enumerate() {
                let target = branch.targets[way];
                // What is open after this part of a condition is decided by the next.
                if told && says[way].is_none() && is_part(branches, target) {
                    self.first_part.insert(target, first);
                    continue;
                }
                if only_ends(body, target) {
                    continue;
                }
                let side = match says[way].unwrap_or(way == 0) {
                    true => Side::Then,
                    false => Side::Else,
                };
                let null = null_side(oracle, branch.guard, way == 0);
                // That `p` is null in `p && p->x` is asked for the sake of what follows: it says less than a test of its own.
                let goes_on =
                    told && says[1 - way].is_none() && is_part(branches, branch.targets[1 - way]);
                let of_part = (branch.block, side, Extent::Part);
                let whole = (first, side, Extent::Whole);
                let wanted = [
                    (of_part, !(null && goes_on)),
                    (whole, goes_on || first != branch.block),
                ];
                for (key, _) in wanted.into_iter().filter(|(_, wanted)| *wanted) {
                    let at = self.at(key, &branch.site, null && !goes_on);
                    parts.push((position, Part::Location(at, guard)));
                }
            }
        }
        for case in &execution.log.cases {
            if only_ends(body, case.target) {
                continue;
            }
            let key = (case.block, Side::Case(case.target.0), Extent::Whole);
            let at = self.at(key, &case.site, false);
            let position = (case.order, case.branches, OF_BRANCH);
            parts.push((position, Part::Location(at, case.guard)));
        }
        self.add_angelic(execution, parts);
        for test in &execution.log.late_tests {
            let null = oracle.null_paths(test.pointer);
            let guard = oracle.formula.guards.and(test.guard, null);
            self.found.push(Location {
                site: test.site.clone(),
                side: Side::Null,
                reach: Guard::FALSE,
                alone: Guard::FALSE,
                angelic: true,
            });
            let position = (test.order, test.branches, OF_BRANCH);
            parts.push((position, Part::Location(self.found.len() - 1, guard)));
        }
    }

    /// What the user says to be possible is a location that must not become dead.
    fn add_angelic(&mut self, execution: &Execution, parts: &mut Vec<(Position, Part)>) {
        let events = execution.log.user_assertions.iter();
        for event in events.filter(|event| event.kind == Asserted::Angelic) {
            let Some(site) = event.stack.first() else {
                continue;
            };
            self.found.push(Location {
                site: site.clone(),
                side: Side::Asserted,
                reach: Guard::FALSE,
                alone: Guard::FALSE,
                angelic: true,
            });
            let position = (event.order, event.branches, OF_BRANCH);
            parts.push((position, Part::Location(self.found.len() - 1, event.guard)));
        }
    }

    /// The location of this key, which is made if it is new.
    fn at(&mut self, key: (BlockId, Side, Extent), site: &Site, angelic: bool) -> usize {
        let next = self.found.len();
        let index = *self.known.entry(key).or_insert(next);
        if index == next {
            self.found.push(Location {
                site: site.clone(),
                side: key.1,
                reach: Guard::FALSE,
                alone: Guard::FALSE,
                angelic,
            });
        }
        index
    }
}

/// Where the function's name stands.
fn beginning(body: &Body) -> Site {
    let file = body.files.get(usize::from(body.pos.file));
    Site {
        file: file.map_or("", String::as_str).into(),
        line: body.pos.line,
        column: u32::from(body.pos.column),
        function: body.name.name.as_str().into(),
    }
}

/// Whether a block ends in a branch of the function's own.
fn is_part(branches: &[BranchEvent], block: BlockId) -> bool {
    let mut branches = branches.iter();
    branches.any(|branch| branch.depth == 0 && branch.block == block)
}

/// Whether a block does nothing but call a function that does not return: what an assertion does where it fails. The programmer does
/// not expect to get there (ACSpec §5.1.3).
fn only_ends(body: &Body, block: BlockId) -> bool {
    let block = body.block(block);
    let calls = |kind: &StmtKind| matches!(kind, StmtKind::Call(_) | StmtKind::ScopeEnd(_));
    matches!(block.term.kind, TermKind::Unreachable)
        && block.stmts.iter().all(|stmt| calls(&stmt.kind))
}

/// Whether a branch says on this side that a pointer is null.
fn null_side(oracle: &Oracle<'_>, guard: Guard, taken: bool) -> bool {
    let Some((condition, value)) = oracle.formula.guards.as_literal(guard) else {
        return false;
    };
    let literal = oracle.formula.guards.literal(condition, true);
    value == taken && !oracle.compared_with_null(literal).is_empty()
}
