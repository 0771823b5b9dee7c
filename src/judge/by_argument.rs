//! Ways out of a function that keep an object and that only an argument tells from others that give it back.
//!
//! In: two such ways out, and what callees keep of that kind. Out: whether arguments alone tell them apart, how the function
//! tests them, and which findings rest on what a callee keeps so.
//!
//! `if (!keep) unlock(…)` and a forgotten `unlock` after `if (n < 0) return` have one form. In any C program the
//! difference is what callers do: where the argument is part of the contract, some caller gives back what it has asked to be
//! kept, for else it stays held for ever. So the function's finding waits for its callers
//! ([`crate::settle`]), its summary says what it does, and what callers do wrong under one argument is found in them.

use std::collections::BTreeSet;

use crate::ir::{Block, BlockId, Body, StmtKind, TermKind};
use crate::judge::obligation::{CalleeObligation, Kind};
use crate::judge::observable::{indistinguishable, open};
use crate::property::{StateId, Target};
use crate::sat::oracle::Oracle;
use crate::summary::infer::{Exits, Move};
use crate::summary::predicates::{self, MAX_PREDICATES, Predicate, Side};
use crate::symbolic::arena::Arena;
use crate::symbolic::execution::Execution;
use crate::symbolic::guard::Guard;
use crate::symbolic::state::{Object, Status};
use crate::symbolic::term::Var;

/// Blocks that follow one another on one side of a branch.
const MAX_BLOCKS: usize = 16;

/// What the test of an argument decides that decides whether an object is kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tested {
    /// Whether the object is given back, and nothing else: the argument is there for that.
    ForRelease,
    /// More than that, or it cannot be seen.
    ForMore,
}

/// Ways out that an argument tells from those that give an object back.
pub struct ByArgument {
    pub paths: Guard,
    /// The conditions on arguments that do.
    telling: Vec<Guard>,
}

/// The paths from one entry state that keep an object and have the same result as others that do not, if arguments tell all
/// that keep it (`away`) from all that do not (`there`). `chosen`: what callers see that tells the ways out apart as far as it
/// does; `candidates`: all that might.
pub fn by_argument(
    oracle: &mut Oracle<'_>,
    exits: &Exits,
    (entry, chosen): (StateId, &[Predicate]),
    (away, there): (Guard, Guard),
    candidates: &[Predicate],
) -> Option<ByArgument> {
    let known =
        |predicate: &&Predicate| predicate.side == Side::Output || predicate.is_of_arguments();
    let known: Vec<Predicate> = candidates.iter().filter(known).cloned().collect();
    let moved = |to: StateId, paths: Guard| Move {
        from: entry,
        to: Target::State(to),
        paths,
        reported: false,
    };
    // Two states other than each other will do.
    let machine = oracle.machine_of(exits.object);
    let held = machine.state_ids().find(|&state| state != entry)?;
    let pair = [moved(held, away), moved(entry, there)];
    let telling = predicates::select(oracle, &known, &pair, MAX_PREDICATES);
    if let Some(left) = open(oracle, away, there, &telling)
        && indistinguishable(oracle, left, &known).is_some()
    {
        return None;
    }
    let others = machine.state_ids().filter(|&state| state != entry);
    let kept: Vec<Guard> = others.map(|to| exits.paths(entry, to)).collect();
    let mut paths = Guard::FALSE;
    for kept in kept {
        let alike = all_open(oracle, kept, there, chosen);
        paths = oracle.formula.guards.or(paths, alike);
    }
    let telling = telling.iter().filter(|known| known.side == Side::Input);
    let telling = telling.map(|known| known.guard).collect();
    Some(ByArgument { paths, telling })
}

/// The paths on the left that have the same conditions as some on the right.
fn all_open(oracle: &mut Oracle<'_>, left: Guard, right: Guard, chosen: &[Predicate]) -> Guard {
    if left == Guard::FALSE || !oracle.possible(left) || !oracle.possible(right) {
        return Guard::FALSE;
    }
    let Some((predicate, rest)) = chosen.split_first() else {
        return left;
    };
    let mut all = Guard::FALSE;
    for holds in [true, false] {
        let mut narrow = |paths: Guard| match holds {
            true => oracle.formula.guards.and(paths, predicate.guard),
            false => oracle.formula.guards.and_not(paths, predicate.guard),
        };
        let (left, right) = (narrow(left), narrow(right));
        let part = all_open(oracle, left, right, rest);
        all = oracle.formula.guards.or(all, part);
    }
    all
}

/// Paths on which something is wrong with an object: those that do not need a callee to have kept it by its argument, if
/// there are such; else all of them, with what those callees keep. `until`: how many operations come before.
pub fn without(
    execution: &Execution,
    oracle: &mut Oracle<'_>,
    object: Object,
    paths: Guard,
    until: usize,
) -> (Guard, Vec<CalleeObligation>) {
    let contested = execution.contested(oracle, object, until);
    let surely = oracle.formula.guards.and_not(paths, contested);
    if surely == paths || oracle.model(surely).is_some() {
        return (surely, Vec::new());
    }
    let log = &execution.log;
    let formula = &mut oracle.formula;
    let before = log.ops.iter().take(until);
    let kept = before.filter(|event| {
        event.object == object && event.contested && !formula.guards.excludes(event.guard, paths)
    });
    let obligations: BTreeSet<CalleeObligation> = kept
        .filter_map(|event| event.obligation(Kind::Held))
        .collect();
    (paths, obligations.into_iter().collect())
}

/// How the function tests what decides whether it gives an object back on some paths.
pub fn tested(
    execution: &Execution,
    arena: &mut Arena<'_>,
    body: &Body,
    object: Object,
    (by_argument, given_back): (&ByArgument, Guard),
) -> Tested {
    let initial = Status::At(arena.machine_of(object).initial);
    // Where the argument has decided before whether the object is taken, the two tests should agree.
    let of = |paths: Guard| -> Vec<Var> {
        let conditions = arena.formula.guards.support(paths).to_vec();
        let terms = conditions
            .into_iter()
            .map(|condition| arena.formula.cond_term(condition));
        terms.flat_map(|term| arena.formula.vars(term)).collect()
    };
    let arguments: Vec<Var> = by_argument
        .telling
        .iter()
        .flat_map(|&paths| of(paths))
        .collect();
    let mut takes = execution.log.ops.iter();
    let decided = takes.any(|event| {
        let taken = event.object == object && event.takes(initial);
        taken && of(event.guard).iter().any(|var| arguments.contains(var))
    });
    if decided {
        return Tested::ForMore;
    }
    let formula = &mut arena.formula;
    let releases = execution.log.ops.iter().filter(|event| {
        event.object == object
            && event.gives_back(initial)
            && !formula.guards.excludes(event.guard, given_back)
    });
    // What is inlined has its place in another body.
    let sites: BTreeSet<Place> = releases
        .filter_map(|event| event.stack.first())
        .map(|site| (site.line, site.column))
        .collect();
    let sides = Sides::new(body);
    let alone = |&site: &Place| {
        let mut branches = body.blocks.iter();
        branches.any(|block| sides.differ_in_release(block, site, &sites))
    };
    match !sites.is_empty() && sites.iter().all(alone) {
        true => Tested::ForRelease,
        false => Tested::ForMore,
    }
}

/// What comes after the branches of a body.
struct Sides<'b> {
    body: &'b Body,
    /// For each block, how many ways lead to it.
    entries: Vec<u32>,
}

/// Line and column.
type Place = (u32, u32);

impl<'b> Sides<'b> {
    fn new(body: &'b Body) -> Self {
        let mut entries = vec![0; body.blocks.len()];
        for block in &body.blocks {
            for next in block.term.successors() {
                if let Some(entries) = entries.get_mut(next.index()) {
                    *entries += 1;
                }
            }
        }
        Sides { body, entries }
    }

    /// Whether one side of a branch holds nothing but releases, one of which is here, and the other holds nothing.
    fn differ_in_release(&self, block: &Block, at: Place, all: &BTreeSet<Place>) -> bool {
        let TermKind::Branch { then, els, .. } = block.term.kind else {
            return false;
        };
        let sides = (self.only_releases(then, all), self.only_releases(els, all));
        let (Some((then, then_end)), Some((els, els_end))) = sides else {
            return false;
        };
        let (one, other) = (then.contains(&at), els.contains(&at));
        then_end == els_end && one != other && (then.is_empty() || els.is_empty())
    }

    /// The releases from a block on until another way leads there, too, and that block; `None` if anything else is done.
    fn only_releases(
        &self,
        start: BlockId,
        releases: &BTreeSet<Place>,
    ) -> Option<(BTreeSet<Place>, BlockId)> {
        let (mut found, mut at) = (BTreeSet::new(), start);
        for _ in 0..MAX_BLOCKS {
            let block = self.body.blocks.get(at.index())?;
            if self.entries[at.index()] > 1 {
                return Some((found, at));
            }
            for stmt in &block.stmts {
                let place = (stmt.pos.line, u32::from(stmt.pos.column));
                match &stmt.kind {
                    StmtKind::ScopeBegin(_) => {}
                    StmtKind::Call(_) if releases.contains(&place) => {
                        found.insert(place);
                    }
                    _ => return None,
                }
            }
            let TermKind::Goto(next) = block.term.kind else {
                return None;
            };
            at = next;
        }
        None
    }
}
