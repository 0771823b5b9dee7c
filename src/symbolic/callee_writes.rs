//! What callees may have written, taken to be as it was: a summary that does not know what becomes of a value
//! says that it is unknown, which is seldom to say that it changes. A function that tests `running(dev)`
//! before it takes a lock and again before it gives it back means the same `dev`.
//!
//! In: a guard over such values. Out: that guard where they are what they were before the calls. A function's
//! own variables are left out: what a callee writes there, it was asked to. By a flag of the function's own it tells
//! something that its summary may not know.

use rustc_hash::FxHashSet;

use crate::ir::{Body, LocalId};

use super::arena::Arena;
use super::exec::Executor;
use super::execution::Execution;
use super::guard::Guard;
use super::origin::Origin;
use super::region::{FrameId, Loc, RegionKind};
use super::term::{Node, Op, Term, Var};

/// Writes looked at for one guard.
const MAX_WRITES: usize = 64;
/// How often what older values depend on is looked at in turn.
const ROUNDS: usize = 3;
/// Conditions that a written value depends on, one within the other.
const MAX_CHOICES: usize = 6;

/// A write of a callee whose value its summary does not tell.
#[derive(Clone, Copy, Debug)]
pub struct Rewrite {
    pub old: Term,
    pub new: Term,
    /// Unknowns from this one on were made for the call.
    pub made: Var,
}

/// A [`Rewrite`] that may matter.
#[derive(Clone, Copy, Debug)]
pub(super) struct CalleeWrite {
    rewrite: Rewrite,
    what: What,
}

/// What a callee writes to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum What {
    /// A variable of the function's own.
    Variable(LocalId),
    /// Where the function has put a constant for the callee to change.
    Asked,
    Other,
}

impl Executor<'_> {
    /// Notes that a callee writes to a location.
    pub fn rewritten(&mut self, loc: Loc, rewrite: Rewrite) {
        let Rewrite { old, new, .. } = rewrite;
        let terms = &self.arena.formula.terms;
        let alike = terms.width(old) == terms.width(new) && old != new;
        // A pointer leads elsewhere, which has a lock of its own.
        if !alike || terms.is_pointer(old) {
            return;
        }
        let what = match *self.arena.regions.kind(loc.region) {
            RegionKind::Local {
                frame: FrameId(0), ..
            } if terms.as_const(old).is_some() => What::Asked,
            RegionKind::Local {
                frame: FrameId(0),
                local,
            } => What::Variable(local),
            RegionKind::Local { .. } => return,
            _ if terms.as_const(old).is_some() => What::Asked,
            _ => What::Other,
        };
        self.execution.writes.push(CalleeWrite { rewrite, what });
    }
}

impl Execution {
    /// A guard's paths on which callees have changed none of what it depends on.
    pub fn unchanged(&self, arena: &mut Arena<'_>, guard: Guard) -> Guard {
        self.unchanged_among(arena, guard, |what| what == What::Other)
    }

    /// A guard's paths on which no callee has changed a flag of the function's either: a variable that it sets to one
    /// constant here and to another there, or a constant that it has put elsewhere.
    pub fn with_flags_unchanged(&self, arena: &mut Arena<'_>, guard: Guard, body: &Body) -> Guard {
        let flags = body.flags();
        self.unchanged_among(arena, guard, |what| match what {
            What::Variable(local) => flags.contains(&local),
            What::Asked | What::Other => true,
        })
    }

    fn unchanged_among(
        &self,
        arena: &mut Arena<'_>,
        guard: Guard,
        counts: impl Fn(What) -> bool,
    ) -> Guard {
        let mut known: FxHashSet<Var> = FxHashSet::default();
        for &cond in arena.formula.guards.support(guard) {
            known.extend(arena.formula.vars(arena.formula.cond_term(cond)));
        }
        let rewrites = self.writes.iter();
        let mut open: Vec<(CalleeWrite, Vec<Var>)> = rewrites
            .filter(|rewritten| counts(rewritten.what))
            .map(|rewritten| {
                let mut vars = arena.formula.vars(rewritten.rewrite.new);
                vars.retain(|&var| match rewritten.what {
                    What::Variable(_) | What::Asked => var >= rewritten.rewrite.made,
                    What::Other => is_made_for(arena, &rewritten.rewrite, var),
                });
                (*rewritten, vars)
            })
            .collect();
        // There are few flags.
        open.sort_by_key(|(rewritten, _)| rewritten.what == What::Other);
        let mut paths = guard;
        let mut left = MAX_WRITES;
        for _ in 0..ROUNDS {
            let (matter, rest): (Vec<_>, Vec<_>) = open
                .into_iter()
                .partition(|(_, vars)| vars.iter().any(|var| known.contains(var)));
            open = rest;
            if matter.is_empty() {
                break;
            }
            for (CalleeWrite { rewrite, what }, _) in matter {
                if left == 0 {
                    return paths;
                }
                left -= 1;
                known.extend(arena.formula.vars(rewrite.old));
                // When a flag is changed says something, be it known to what.
                let new = match what {
                    What::Variable(_) | What::Asked => rewrite.new,
                    What::Other => untold(arena, &rewrite, rewrite.new, MAX_CHOICES),
                };
                let same = arena.formula.terms.eq(rewrite.old, new);
                let same = arena.formula.guard_of(same);
                paths = arena.formula.guards.and(paths, same);
            }
        }
        paths
    }
}

fn is_made_for(arena: &Arena<'_>, rewrite: &Rewrite, var: Var) -> bool {
    let unknown = matches!(arena.origins.of(var), Origin::Unknown | Origin::Call { .. });
    var >= rewrite.made && unknown
}

/// The new value, the old one wherever the summary tells what is written: `closing ? unknown : users + 1` need
/// not be `users`.
fn untold(arena: &mut Arena<'_>, rewrite: &Rewrite, new: Term, choices: usize) -> Term {
    if let Node::Op { op: Op::Ite, args } = arena.formula.terms.node(new)
        && let [condition, yes, no] = args[..]
    {
        let Some(choices) = choices.checked_sub(1) else {
            return rewrite.old;
        };
        let yes = untold(arena, rewrite, yes, choices);
        let no = untold(arena, rewrite, no, choices);
        return arena.formula.terms.ite(condition, yes, no);
    }
    let vars = arena.formula.vars(new);
    match !vars.is_empty() && vars.iter().all(|&var| is_made_for(arena, rewrite, var)) {
        true => new,
        false => rewrite.old,
    }
}
