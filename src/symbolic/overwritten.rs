//! Stores to the word that a lock is a bit of: whoever writes the word writes the bit, and "unlocks for free"
//! (include/linux/rhashtable.h).
//!
//! In: a store. Out: the bits that the function holds there are given back. The value may as well keep the bit, so
//! what becomes of it is open, and no finding rests on that.

use smallvec::SmallVec;

use super::exec::Executor;
use super::guard::Guard;
use super::region::Loc;
use super::state::{Object, State, Status, Tracked};

impl Executor<'_> {
    /// Accounts for a store of `size` bytes to a location, on the paths `place` of those that get here.
    pub fn overwritten(&mut self, state: &mut State, place: Guard, loc: Loc, size: u64) {
        // Bit n of the word at p is the object p + n.
        let bits = 0..8 * size as i64;
        for index in 0..self.arena.bits.len() {
            let object = self.arena.bits[index];
            let same = (object.loc.region, object.loc.symbolic) == (loc.region, loc.symbolic);
            if same && bits.contains(&object.loc.offset.wrapping_sub(loc.offset)) {
                self.give_back_bit(state, place, object);
            }
        }
    }

    fn give_back_bit(&mut self, state: &mut State, place: Guard, object: Object) {
        let Some(before) = state.objects.get(&object).cloned() else {
            return;
        };
        let initial = Status::At(self.arena.machine_of(object).initial);
        let mut after = Tracked {
            set: SmallVec::new(),
            touched: before.touched,
        };
        let ours = self.arena.formula.guards.and(place, before.touched);
        if ours == Guard::FALSE {
            return;
        }
        for &(status, held) in &before.set {
            let moved = match status {
                Status::At(_) if status != initial => self.arena.formula.guards.and(held, ours),
                _ => Guard::FALSE,
            };
            let kept = self.arena.formula.guards.and_not(held, moved);
            after.add(&mut self.arena.formula, status, kept);
            after.add(&mut self.arena.formula, initial, moved);
            let paths = self.arena.formula.guards.and(state.guard, moved);
            self.execution
                .open
                .add(&mut self.arena.formula.guards, object, paths);
        }
        state.objects.insert(object, after);
    }
}
