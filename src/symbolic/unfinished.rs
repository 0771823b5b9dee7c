//! What is known behind a loop whose rounds are not all executed.
//!
//! In: the state in which a loop is left although its test folds to another round ([`super::control`]). Out: a state in which the test says that
//! the loop is over. What the loop counts has gone on: without that, `a[i] != END` would hold behind the loop that looks for the end, and a
//! search through a table would have found what it has not looked at.

use super::exec::Executor;
use super::frame::Frame;
use super::guard::Guard;
use super::state::State;
use super::term::Term;
use crate::ir::{BlockId, Change, ExprId, LocalId, POINTER_BITS, Ty};

/// Bits of a number of steps: as many bytes as any of them are fit in an address.
const STEP_BITS: u16 = 32;

impl Executor<'_> {
    /// Sets what a test reads and its loop counts to what it may be in some later round, in which the test has the other outcome. The paths on
    /// which it has.
    pub(super) fn run_to_end(
        &mut self,
        frame: &Frame<'_>,
        [test, behind]: [BlockId; 2],
        state: &mut State,
        (cond, leaves_if): (ExprId, bool),
    ) -> Guard {
        let counted = counted_in_loop(frame, test, cond);
        // What nobody reads any more need not be true, and costs conditions.
        if !counted
            .iter()
            .any(|&(local, _)| frame.body.is_live(behind, local))
        {
            return state.guard;
        }
        let mut later = state.clone();
        for (local, change) in counted {
            self.count_on(frame, &mut later, local, change);
        }
        let holds = self.condition(frame, &mut later, cond);
        let over = match leaves_if {
            true => holds,
            false => self.arena.formula.guards.not(holds),
        };
        let paths = self.arena.formula.guards.and(later.guard, over);
        if paths == Guard::FALSE {
            // The test hangs on more than what is counted.
            return state.guard;
        }
        *state = later;
        paths
    }

    /// A variable after some more rounds.
    fn count_on(&mut self, frame: &Frame<'_>, state: &mut State, local: LocalId, change: Change) {
        let Some(ty) = frame.body.local(local).ty else {
            return;
        };
        let slot = self.arena.local(frame.id, local);
        let shape = self.arena.local_shape(frame.body.local(local));
        let now = state.memory.read(&mut self.arena.heap(), slot, shape);
        let (then, moved) = match (change, ty) {
            (Change::Counts { up }, Ty::Int { signed, .. }) => {
                let then = self.arena.unknown(self.arena.formula.terms.width(now));
                self.arena.lengths.insert(then);
                let (less, more) = if up { (now, then) } else { (then, now) };
                let terms = &mut self.arena.formula.terms;
                let moved = match signed {
                    true => terms.slt(less, more),
                    false => terms.ult(less, more),
                };
                (then, moved)
            }
            (Change::Steps(bytes), Ty::Ptr) => self.step_on(now, bytes),
            _ => return,
        };
        let moved = self.arena.guard_of(state, moved);
        state.guard = self.arena.formula.guards.and(state.guard, moved);
        state.memory.write(&self.arena.formula.terms, slot, then);
    }

    /// A pointer after some more steps of so many bytes, and that they are more than none.
    fn step_on(&mut self, now: Term, bytes: i64) -> (Term, Term) {
        let steps = self.arena.unknown(STEP_BITS);
        let terms = &mut self.arena.formula.terms;
        let none = terms.constant(0, STEP_BITS);
        let none = terms.eq(steps, none);
        let some = terms.not(none);
        let steps = terms.zext(steps, POINTER_BITS);
        let then = terms.linear(
            POINTER_BITS,
            0,
            &[(1, now), (i128::from(bytes) as u128, steps)],
        );
        (then, some)
    }
}

/// The variables that a test is made of, and that each statement of the loop around it that sets them counts on.
fn counted_in_loop(frame: &Frame<'_>, test: BlockId, cond: ExprId) -> Vec<(LocalId, Change)> {
    let changes = frame.changes.get_or_init(|| {
        let pointed_to = frame.body.pointed_to();
        let mut changes = frame.body.changes();
        changes.retain(|(_, local, _)| !pointed_to.contains(local));
        changes
    });
    let in_loop = changes
        .iter()
        .filter(|(block, ..)| !frame.unrolling.leaves_loop(test, *block));
    let mut counted: Vec<(LocalId, Change)> = Vec::new();
    for &(_, local, change) in in_loop {
        match counted.iter_mut().find(|known| known.0 == local) {
            Some(known) if known.1 != change => known.1 = Change::Other,
            Some(_) => {}
            None => counted.push((local, change)),
        }
    }
    counted.retain(|&(local, change)| change != Change::Other && frame.body.reads(cond, local));
    counted
}
