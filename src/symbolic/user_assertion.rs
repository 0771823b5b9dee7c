//! Assertions that the user has written: calls of functions that a property names for it.
//!
//! In: a call, and the state there. Out: an [`AssertionEvent`] with the conditions that the assertion asks for.

use std::sync::Arc;

use super::exec::{ArgValue, Executor};
use super::guard::{Cond, Guard};
use super::log::{Asserted, AssertionEvent, BranchEvent, Site};
use super::state::State;
use crate::ir::SymbolName;

/// Parts of one condition: `assert(a && b && c)`.
const MAX_PARTS: usize = 16;
/// Cases of `switch` statements before an assertion that are looked at.
const MAX_CASES: usize = 64;

impl Executor<'_> {
    /// Logs the call of a function that tells of an assertion.
    pub(super) fn check_assertion(
        &mut self,
        (args, site): (&[ArgValue], &Site),
        state: &State,
        callee: &SymbolName,
    ) {
        let Some(rule) = self.arena.assertions else {
            return;
        };
        let named = |names: &[String]| names.contains(&callee.name);
        let (kind, guard, reached, asked) = if named(&rule.failed) {
            let (reached, asked) = self.led_here(state.guard);
            (Asserted::Plain, state.guard, reached, asked)
        } else if named(&rule.angelic) {
            let Some(fails) = self.fails_to_hold(args, state) else {
                return;
            };
            let asked = self.arena.formula.guards.support(fails).to_vec();
            (Asserted::Angelic, fails, state.guard, asked)
        } else {
            return;
        };
        if guard == Guard::FALSE {
            return;
        }
        let text = args.first().and_then(|arg| self.literal(arg));
        let mut stack = self.stack.clone();
        stack.push(site.clone());
        let log = &mut self.execution.log;
        log.user_assertions.push(AssertionEvent {
            kind,
            guard,
            reached,
            asked,
            text,
            order: log.ops.len(),
            branches: log.branches.len(),
            before: log.unknowns(),
            stack,
        });
    }

    /// The paths on which a call's first argument is zero.
    fn fails_to_hold(&mut self, args: &[ArgValue], state: &State) -> Option<Guard> {
        let value = args.first()?.value()?;
        let terms = &mut self.arena.formula.terms;
        let zero = terms.constant(0, terms.width(value));
        let fails = terms.eq(value, zero);
        let fails = self.arena.formula.guard_of(fails);
        Some(self.arena.formula.guards.and(state.guard, fails))
    }

    /// The paths to the branches whose one way leads here and nowhere else, and their conditions. Where the last of them decides
    /// nothing, because the function has asked for the same before (`if (!ok) { if (strict) assert(ok); return 1; }`), the paths to
    /// where it did: to one branch or `switch`, or to the tests by which a loop is left (`while (p->kind) …; assert(p->kind);`).
    fn led_here(&mut self, here: Guard) -> (Guard, Vec<Cond>) {
        let depth = self.stack.len() as u32;
        // Where it fails may be executed after what comes behind it where it holds.
        let guards = &mut self.arena.formula.guards;
        let branches = self.execution.log.branches.iter().rev();
        let branches: Vec<&BranchEvent> = branches
            .filter(|branch| branch.depth == depth && !guards.excludes(branch.path, here))
            .take(MAX_PARTS)
            .collect();
        let (mut reached, mut before) = (Guard::FALSE, here);
        let mut asked = Vec::new();
        // The ways of earlier branches on the same that lead here, each some of the paths, and the paths to these branches.
        let (mut parts, mut before_parts) = (Guard::FALSE, Guard::FALSE);
        // The place of the branch that decides nothing; what a macro has asked before lies there, too.
        let mut undecided: Option<Site> = None;
        for branch in branches {
            let guards = &mut self.arena.formula.guards;
            let ways = [
                guards.and(branch.path, branch.guard),
                guards.and_not(branch.path, branch.guard),
            ];
            if let Some(site) = &undecided {
                let mut conditions = guards.support(branch.guard).iter();
                let asks = conditions.any(|condition| asked.contains(condition));
                let led = ways.iter().any(|&way| guards.implies(here, way));
                if led && (asks || branch.site == *site) {
                    before = guards.or(before, branch.path);
                }
                if led && asks {
                    break;
                }
                let some = |&&way: &&Guard| way != Guard::FALSE && guards.implies(way, here);
                if asks && let Some(&way) = ways.iter().find(some) {
                    parts = guards.or(parts, way);
                    before_parts = guards.or(before_parts, branch.path);
                }
                continue;
            }
            let mut taken = ways.into_iter().filter(|&way| way != Guard::FALSE);
            let Some(way) = taken.find(|&way| guards.implies(way, here)) else {
                break;
            };
            asked.extend(guards.support(branch.guard));
            reached = guards.or(reached, way);
            before = guards.or(before, branch.path);
            undecided = (way == branch.path).then(|| branch.site.clone());
            if reached == here && undecided.is_none() {
                break;
            }
        }
        asked.sort_unstable();
        asked.dedup();
        let guards = &mut self.arena.formula.guards;
        let ways = (guards.or(reached, parts), before_parts);
        let (led, before_them) = self.switched_here(here, &asked, ways);
        if led == here {
            before = self.arena.formula.guards.or(before, before_them);
        }
        (before, asked)
    }

    /// Adds the cases that lead here and nowhere else to the ways that do, and the paths to their `switch`. Where a `switch` asks for one of
    /// these conditions, the case that all paths have taken is enough.
    fn switched_here(
        &mut self,
        here: Guard,
        asked: &[Cond],
        (mut led, mut before): (Guard, Guard),
    ) -> (Guard, Guard) {
        let depth = self.stack.len() as u32;
        let guards = &mut self.arena.formula.guards;
        let cases = self.execution.log.cases.iter().rev();
        for case in cases.filter(|case| case.depth == depth).take(MAX_CASES) {
            if guards.implies(case.guard, here) {
                led = guards.or(led, case.guard);
                before = guards.or(before, case.path);
            } else if guards.implies(here, case.guard) {
                let mut conditions = guards.support(case.guard).iter();
                if conditions.any(|condition| asked.contains(condition)) {
                    return (here, guards.or(before, case.path));
                }
            }
        }
        (led, before)
    }

    /// The string literal that an argument points to.
    fn literal(&mut self, arg: &ArgValue) -> Option<Arc<str>> {
        let ArgValue::Scalar(value) = *arg else {
            return None;
        };
        let locations = self.arena.locations(value);
        let [(_, loc)] = locations[..] else {
            return None;
        };
        let text = self.arena.regions.literal(loc.region)?;
        Some(text.into())
    }
}
