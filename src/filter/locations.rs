//! The locations of a function: where its branches lead (ACSpec §2.3).
//!
//! In: the branches, cases and assertions of an execution's log. Out: [`Location`]s, with the paths that reach each and where in the log.

use rustc_hash::FxHashMap;

use super::view::{Location, OF_BRANCH, Part, Position, Side};
use crate::ir::{BlockId, Body, Stmt, StmtKind, TermKind};
use crate::sat::oracle::Oracle;
use crate::symbolic::execution::Execution;
use crate::symbolic::guard::Guard;
use crate::symbolic::log::{Asserted, BranchEvent, Site};

/// What of a condition (`a && b`) leads to a location.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Extent {
    Part,
    Whole,
}

/// The locations of a function by what the source has there: each part of a condition (`a && b`) and the condition as a whole; the rounds of a
/// loop are one.
#[derive(Default)]
pub struct Locations {
    pub found: Vec<Location>,
    known: FxHashMap<(BlockId, Side, Extent), usize>,
    /// For a block that is the second part of a condition, the block of the first.
    first_part: FxHashMap<BlockId, BlockId>,
}

impl Locations {
    pub fn add(
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
                if only_ends(body, execution, target) {
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
            if case.depth > 0 || only_ends(body, execution, case.target) {
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
/// not expect to get there (ACSpec §5.1.3). A block whose calls follow pointers (`usage(stderr)`) is meant to be reached: the calls may fail there.
fn only_ends(body: &Body, execution: &Execution, block: BlockId) -> bool {
    let block = body.block(block);
    let calls = |kind: &StmtKind| matches!(kind, StmtKind::Call(_) | StmtKind::ScopeBegin(_));
    matches!(block.term.kind, TermKind::Unreachable)
        && block.stmts.iter().all(|stmt| calls(&stmt.kind))
        && !block
            .stmts
            .iter()
            .any(|stmt| follows(body, execution, stmt))
}

/// Whether a statement follows pointers, itself or in what it calls.
fn follows(body: &Body, execution: &Execution, stmt: &Stmt) -> bool {
    let file = body.files.get(usize::from(stmt.pos.file));
    let is_here =
        |site: &Site| site.is_at(stmt.pos) && file.is_some_and(|file| *file == *site.file);
    let mut uses = execution.log.uses.iter();
    uses.any(|event| event.stack.first().is_some_and(is_here))
}

/// Whether a branch says on this side that a pointer is null.
fn null_side(oracle: &Oracle<'_>, guard: Guard, taken: bool) -> bool {
    let Some((condition, value)) = oracle.formula.guards.as_literal(guard) else {
        return false;
    };
    let literal = oracle.formula.guards.literal(condition, true);
    value == taken && !oracle.compared_with_null(literal).is_empty()
}
