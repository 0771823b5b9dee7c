//! Which pointers the analysed function compares with null, and what that says.
//!
//! In: a branch's condition, and the state there. Out: notes of the comparisons; of those that come where all paths have followed the
//! pointer already, too ([`LateTest`]).

use super::exec::Executor;
use super::frame::{Frame, Progress};
use super::guard::Guard;
use super::log::{LateTest, Site, Tested, UseEvent};
use super::state::State;
use super::term::Term;
use super::unroll::Instance;
use crate::ir::{BlockId, Body, ExprId, ExprKind, LocalId, Says, TermKind};

impl Executor<'_> {
    /// The guard of a branch's condition, with note of the pointers that the analysed function itself compares with null by it.
    pub(super) fn test(
        &mut self,
        frame: &Frame<'_>,
        instance: &Instance,
        state: &mut State,
        (cond, targets, says): (ExprId, [BlockId; 2], Says),
    ) -> Guard {
        let guard = self.condition(frame, state, cond);
        if !self.arena.watches || !self.stack.is_empty() {
            return guard;
        }
        let plain = !ends_loop(frame, instance, targets);
        self.note_conditions(guard, plain);
        if plain {
            self.note_tested(guard, state.guard);
        }
        for (compared, if_null) in frame.body.compared_with_null(cond) {
            let pointer = self.eval(frame, state, compared);
            let (ways, decides) = match if_null {
                true => (targets, says.els.is_some()),
                false => ([targets[1], targets[0]], says.then.is_some()),
            };
            let mut here = self.execution.log.uses[frame.uses..].iter();
            let followed = here.any(|event| event.address == pointer);
            let telling = tells_of_before(frame, instance, (compared, decides, followed), ways)
                && !self.is_read_anew(frame, state, compared, pointer);
            let late = telling
                && self.is_followed(state, pointer)
                && !frame.body.null_may_reach(instance.block, compared);
            let place = (instance.block, compared);
            if telling && !late && self.may_be_null(pointer) {
                self.execution.log.early_tests.insert(place);
            }
            self.note_compared(pointer, state.guard, (plain, late.then_some(place)));
            if telling {
                self.note_too_late(pointer, state.guard, place);
            }
        }
        guard
    }

    /// What was logged so far.
    fn progress(&self) -> Progress {
        let log = &self.execution.log;
        Progress {
            uses: log.uses.len(),
            disturbed: log.disturbed.len(),
            by_call: false,
        }
    }

    /// Notes that the analysed function stores a pointer, be it in a variable.
    pub(super) fn note_assigned(
        &mut self,
        frame: &mut Frame<'_>,
        state: &mut State,
        variable: Term,
        value: ExprId,
    ) {
        if self.arena.watches && self.stack.is_empty() {
            let by_call = self.is_of_call(frame, state, value);
            let now = self.progress();
            frame.assigned.insert(variable, Progress { by_call, ..now });
        }
    }

    /// Notes that the analysed function has a pointer in a variable that a call has returned.
    pub(super) fn note_returned(&mut self, frame: &mut Frame<'_>, variable: LocalId) {
        if self.arena.watches && self.stack.is_empty() {
            let place = self.arena.local(frame.id, variable);
            let arena = &mut self.arena;
            let address = arena.regions.address(&mut arena.formula.terms, place);
            let now = self.progress();
            let by_call = true;
            frame.assigned.insert(address, Progress { by_call, ..now });
        }
    }

    /// Whether a value is that of a variable which was last assigned what a call has returned.
    fn is_of_call(&mut self, frame: &Frame<'_>, state: &mut State, value: ExprId) -> bool {
        match frame.body.expr(value).kind {
            ExprKind::Load { addr, .. } if is_local(frame.body, addr) => {
                let variable = self.eval(frame, state, addr);
                let assigned = frame.assigned.get(&variable);
                assigned.is_some_and(|assigned| assigned.by_call)
            }
            ExprKind::Cast { arg } => self.is_of_call(frame, state, arg),
            _ => false,
        }
    }

    /// Whether a pointer that is compared with null is what a call has returned since it was followed, or has been read from memory once more
    /// after a call that may have put another one there: the comparison says nothing of the one that was there before (`p = f(p); if (!p)`,
    /// `f(s); if (!s->p)`). For a variable of static storage any call counts of a function that may write to memory: no summary tells what signal
    /// handlers do meanwhile, and that of a function analysed in part may not tell all that it writes.
    fn is_read_anew(
        &mut self,
        frame: &Frame<'_>,
        state: &mut State,
        compared: ExprId,
        pointer: Term,
    ) -> bool {
        let now = self.progress();
        let read = match frame.body.expr(compared).kind {
            ExprKind::Load { addr, .. } if is_local(frame.body, addr) => {
                let variable = self.eval(frame, state, addr);
                frame.assigned.get(&variable).copied().unwrap_or_default()
            }
            _ => now,
        };
        let log = &self.execution.log;
        let is_followed =
            |event: &UseEvent| [event.base, Some(event.address)].contains(&Some(pointer));
        let Some(last) = log.uses.iter().rposition(is_followed) else {
            return false;
        };
        if last >= read.uses || read.by_call {
            return last < read.uses;
        }
        if last < log.uses_before_writes && is_static(frame.body, compared) {
            return true;
        }
        let Some(cell) = self.arena.found_at(pointer) else {
            return false;
        };
        let mut since = log.disturbed[..read.disturbed].iter();
        since.any(|event| {
            event.open
                && event.region == cell.region
                && event.order >= log.uses[last].order
                && !self.arena.formula.guards.excludes(event.guard, state.guard)
        })
    }

    /// Whether all paths to a state have followed a pointer, whichever of several it is. Of one that leads into objects of the
    /// program's alone nothing is known here; where it is a null constant, it was not followed, and is compared for that reason.
    fn is_followed(&mut self, state: &State, pointer: Term) -> bool {
        let null = self.arena.chosen_null(pointer);
        if !self.arena.formula.guards.excludes(state.guard, null) {
            return false;
        }
        let places = self.arena.locations(pointer);
        places
            .iter()
            .any(|(_, loc)| self.arena.regions.base(loc.region).is_some())
            && places.iter().all(|&(guard, loc)| {
                let Some(base) = self.arena.regions.base(loc.region) else {
                    return true;
                };
                let here = self.arena.formula.guards.and(state.guard, guard);
                state.nonnull.contains(&base) || self.arena.is_dereferenced_on(base, here)
            })
    }

    /// Whether a pointer is null or may be, for all that is known of it.
    fn may_be_null(&mut self, pointer: Term) -> bool {
        let places = self.arena.locations(pointer);
        let mut bases = places
            .iter()
            .filter_map(|(_, loc)| self.arena.regions.base(loc.region));
        bases.next().is_some() || self.arena.formula.terms.as_const(pointer) == Some(0)
    }

    /// Notes a comparison of a pointer with null where all paths on which it is null have ended, since it was followed on them.
    fn note_too_late(&mut self, pointer: Term, paths: Guard, place: (BlockId, ExprId)) {
        let ended = self.arena.followed_null.get(&pointer).copied();
        let (Some(ended), Some(site)) = (ended, self.site.clone()) else {
            return;
        };
        let null = self.arena.chosen_null(pointer);
        if ended == Guard::FALSE || !self.arena.formula.guards.excludes(paths, null) {
            return;
        }
        let guard = self.arena.formula.guards.or(paths, ended);
        self.note_late(pointer, place, guard, site);
    }

    /// Notes a comparison of a pointer with null that comes after it was followed.
    fn note_late(&mut self, pointer: Term, place: (BlockId, ExprId), guard: Guard, site: Site) {
        let log = &mut self.execution.log;
        log.late_tests.push(LateTest {
            pointer,
            place,
            guard,
            site,
            order: log.ops.len(),
            branches: log.branches.len(),
        });
    }

    /// Notes that the function compares a pointer with null here; `plain`: not to end a loop; `late`: all paths have followed it, which is compared there.
    fn note_compared(
        &mut self,
        pointer: Term,
        paths: Guard,
        (plain, late): (bool, Option<(BlockId, ExprId)>),
    ) {
        let Some(site) = self.site.clone() else {
            return;
        };
        if let Some(place) = late {
            self.note_late(pointer, place, paths, site.clone());
        }
        let tested = Tested {
            plain,
            site,
            guard: paths,
        };
        let known = self.arena.tested.entry(pointer);
        let known = known.or_insert_with(|| tested.clone());
        let guard = self.arena.formula.guards.or(known.guard, paths);
        if plain && !known.plain {
            *known = tested;
        }
        known.guard = guard;
    }

    /// Notes the conditions that the analysed function itself tests; `plain`: not to end a loop.
    pub(super) fn note_conditions(&mut self, test: Guard, plain: bool) {
        if self.arena.watches && self.stack.is_empty() {
            for &condition in self.arena.formula.guards.support(test) {
                *self.arena.own_conditions.entry(condition).or_default() |= plain;
            }
        }
    }

    /// Notes the paths on which the analysed function itself comes to a test.
    pub(super) fn note_tested(&mut self, test: Guard, paths: Guard) {
        if !self.arena.watches || !self.stack.is_empty() {
            return;
        }
        let formula = &mut self.arena.formula;
        for condition in formula.guards.support(test).to_vec() {
            let known = self.arena.tested_on.entry(condition).or_default();
            *known = formula.guards.or(*known, paths);
        }
    }
}

/// Whether an address is that of one of the function's variables.
fn is_local(body: &Body, address: ExprId) -> bool {
    matches!(body.expr(address).kind, ExprKind::AddrLocal(_))
}

/// Whether a value is read from a variable of static storage.
fn is_static(body: &Body, value: ExprId) -> bool {
    match body.expr(value).kind {
        ExprKind::Load { addr, .. } => matches!(body.expr(addr).kind, ExprKind::AddrSymbol(_)),
        ExprKind::Cast { arg } => is_static(body, arg),
        _ => false,
    }
}

/// Whether a comparison of a pointer with null says that the pointer may have been null before: `if (!p) return -1;` does, and
/// `if (p) p->count++;`, and `if (p) found = 1;`, which asks for nothing else; `if (p) free(p);` only spares a test elsewhere, `p && p->count` is asked
/// for the sake of what follows (by macros, too), and that a loop goes on as long as it is not null says nothing of what was done with it in the round before.
/// `decides`: the whole condition is decided if it is not null. `followed`: the same block has followed it, in the same round.
fn tells_of_before(
    frame: &Frame<'_>,
    instance: &Instance,
    (pointer, decides, followed): (ExprId, bool, bool),
    [if_null, if_not]: [BlockId; 2],
) -> bool {
    let header = frame.unrolling.innermost_header(instance);
    let header = header.map(|header| header.block);
    let of_loop = ends_loop(frame, instance, [if_null, if_not]);
    let begins = header.is_some_and(|header| is_asked_first(frame, instance, header));
    if of_loop && !followed && (begins || header == Some(if_null) || header == Some(if_not)) {
        return false;
    }
    let body = frame.body;
    !body.leads_to(if_not, if_null, header)
        || decides
            && (body.follows_between(if_not, if_null, pointer)
                || !body.mentions_between(if_not, if_null, pointer)
                    && !body.condition_follows(instance.block, pointer))
}

/// Whether a block ends in a part of the condition that its loop begins with: there are other parts only before it.
fn is_asked_first(frame: &Frame<'_>, instance: &Instance, header: BlockId) -> bool {
    let mut block = header;
    // A part for each block at most.
    for _ in &frame.body.blocks {
        if block == instance.block {
            return true;
        }
        let TermKind::Branch { then, els, .. } = frame.body.block(block).term.kind else {
            return false;
        };
        let leaves = |target| frame.unrolling.leaves_loop(block, target);
        block = match (leaves(then), leaves(els)) {
            (true, false) => els,
            (false, true) => then,
            _ => return false,
        };
        if !frame.body.block(block).stmts.is_empty() {
            return false;
        }
    }
    false
}

/// Whether just one of a branch's edges leaves the loop that it is in.
fn ends_loop(frame: &Frame<'_>, instance: &Instance, targets: [BlockId; 2]) -> bool {
    let [one, other] = targets.map(|target| frame.unrolling.leaves_loop(instance.block, target));
    one != other
}
