//! Values in memory that a callee's summary leaves unknown, taken to be unchanged. Such a summary means "not computed" far more often than
//! "changed": a function that tests `running(dev)` before it takes a lock and again before it releases it means the
//! same `dev` both times, although a callee in between may write to it.
//!
//! In: what the calls of one execution may have written, and a guard over such values. Out: the guard's paths on which these values are as before
//! the calls. The function's own variables are left out, since a callee writes to them only where it is asked to: by a flag it
//! returns something that its summary may not express.

use std::cell::OnceCell;

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
/// Writes on whose old values a newer one depends, one after the other.
const MAX_DEPENDENCY_STEPS: usize = 3;
/// Nested conditions of a written value.
const MAX_CHOICES: usize = 6;

/// A write of a callee whose value its summary leaves unknown.
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

/// The writes of one execution's calls, in order.
#[derive(Default)]
pub(super) struct CalleeWrites {
    all: Vec<CalleeWrite>,
    /// For each the unknowns that its new value depends on, of which it matters; made when the first guard is asked about.
    unknowns: OnceCell<Vec<Box<[Var]>>>,
}

impl CalleeWrites {
    fn unknowns(&self, arena: &Arena<'_>) -> &[Box<[Var]>] {
        self.unknowns.get_or_init(|| {
            let of = |write: &CalleeWrite| {
                let mut vars = arena.formula.vars(write.rewrite.new);
                vars.retain(|&var| match write.what {
                    What::Variable(_) | What::Preset => var >= write.rewrite.made,
                    What::Other => is_made_for(arena, &write.rewrite, var),
                });
                vars.into()
            };
            self.all.iter().map(of).collect()
        })
    }
}

/// What a callee writes to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum What {
    /// A variable of the function's own.
    Variable(LocalId),
    /// Where the function has stored a constant before the call, for the callee to change.
    Preset,
    Other,
}

impl Executor<'_> {
    /// Notes that a callee writes to a location.
    pub fn note_callee_write(&mut self, loc: Loc, rewrite: Rewrite) {
        let Rewrite { old, new, .. } = rewrite;
        let terms = &self.arena.formula.terms;
        let alike = terms.width(old) == terms.width(new) && old != new;
        let constant = terms.as_const(old).is_some();
        // A pointer leads elsewhere, which has a lock of its own.
        if !alike || terms.is_pointer(old) {
            return;
        }
        // Nor is a variable that holds a pointer a flag: `node = NULL; find(list, &node)` asks for the other one.
        if self.arena.watches && self.arena.keeps_pointer(loc, Some(new)) {
            return;
        }
        let what = match *self.arena.regions.kind(loc.region) {
            RegionKind::Local {
                frame: FrameId(0), ..
            } if constant => What::Preset,
            RegionKind::Local {
                frame: FrameId(0),
                local,
            } => What::Variable(local),
            RegionKind::Local { .. } => return,
            _ if constant => What::Preset,
            _ => What::Other,
        };
        self.execution
            .writes
            .all
            .push(CalleeWrite { rewrite, what });
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
            What::Preset | What::Other => true,
        })
    }

    fn unchanged_among(
        &self,
        arena: &mut Arena<'_>,
        guard: Guard,
        counts: impl Fn(What) -> bool,
    ) -> Guard {
        let mut known = arena.formula.unknowns(&[guard]);
        let unknowns = self.writes.unknowns(arena);
        let mut open: Vec<(&CalleeWrite, &[Var])> = self
            .writes
            .all
            .iter()
            .zip(unknowns)
            .filter(|(write, vars)| counts(write.what) && !vars.is_empty())
            .map(|(write, vars)| (write, &vars[..]))
            .collect();
        // Flags first, of which there are few.
        open.sort_by_key(|(rewritten, _)| rewritten.what == What::Other);
        let mut paths = guard;
        let mut left = MAX_WRITES;
        for _ in 0..MAX_DEPENDENCY_STEPS {
            let (matter, rest): (Vec<_>, Vec<_>) = open
                .into_iter()
                .partition(|(_, vars)| vars.iter().any(|var| known.contains(var)));
            open = rest;
            if matter.is_empty() {
                break;
            }
            for (&CalleeWrite { rewrite, what }, _) in matter {
                if left == 0 {
                    return paths;
                }
                left -= 1;
                known.extend(arena.formula.vars(rewrite.old));
                // Even a known new value of a flag counts: the paths on which the callee sets it are of interest.
                let new = match what {
                    What::Variable(_) | What::Preset => rewrite.new,
                    What::Other => {
                        let matters = |var: &Var| known.contains(var);
                        only_unknowns_changed(arena, &rewrite, &matters, (rewrite.new, MAX_CHOICES))
                    }
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

/// The new value, with the old one wherever the summary says what is written: `closing ? unknown : users + 1` need
/// not be `users`. So it is where what is written does not matter to the guard: only that it is written does.
fn only_unknowns_changed(
    arena: &mut Arena<'_>,
    rewrite: &Rewrite,
    matters: &impl Fn(&Var) -> bool,
    (new, choices): (Term, usize),
) -> Term {
    if let Node::Op { op: Op::Ite, args } = arena.formula.terms.node(new)
        && let [condition, yes, no] = args[..]
    {
        let Some(choices) = choices.checked_sub(1) else {
            return rewrite.old;
        };
        let yes = only_unknowns_changed(arena, rewrite, matters, (yes, choices));
        let no = only_unknowns_changed(arena, rewrite, matters, (no, choices));
        return arena.formula.terms.ite(condition, yes, no);
    }
    let vars = arena.formula.vars(new);
    let unknown = vars.iter().all(|&var| is_made_for(arena, rewrite, var));
    match unknown && vars.iter().any(matters) {
        true => new,
        false => rewrite.old,
    }
}
