//! Stores to a word of which one bit is a lock: they write that bit, too. (`rht_assign_unlock` releases the lock by storing the
//! pointer whose lowest bit it is, include/linux/rhashtable.h.)
//!
//! In: a store, and the state before it. Out: the state in which the function has released the bits of that word that it
//! held. The stored value may keep a bit set, so whether it is released is noted as unknown ([`super::execution::Execution::open`]), and no
//! finding rests on it.

use smallvec::SmallVec;

use super::exec::Executor;
use super::guard::Guard;
use super::region::Loc;
use super::state::{Object, State, Status, Tracked};

impl Executor<'_> {
    /// Releases the bit locks in the `size` bytes that are stored at a location, on the paths `place` of those that get here.
    pub fn release_stored_bits(&mut self, state: &mut State, place: Guard, loc: Loc, size: u64) {
        // Bit n of the word at p is the object p + n.
        let bits = 0..8 * size as i64;
        for index in 0..self.arena.bits.len() {
            let object = self.arena.bits[index];
            let same = (object.loc.region, object.loc.symbolic) == (loc.region, loc.symbolic);
            if same && bits.contains(&object.loc.offset.wrapping_sub(loc.offset)) {
                self.release_bit(state, place, object);
            }
        }
    }

    fn release_bit(&mut self, state: &mut State, place: Guard, object: Object) {
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
