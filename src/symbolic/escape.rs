//! Where pointers to blocks of memory, and numbers of open files, go (DESIGN §4, Escape).
//!
//! In: values that are stored, and values that are handed to callees. Out: [`EscapeEvent`]s for what the function has made, and
//! for what its parameters lead to.

use rustc_hash::FxHashSet;

use super::arena::Arena;
use super::exec::{ArgValue, Executor};
use super::frame::Frame;
use super::guard::Guard;
use super::log::{Disturbance, EscapeEvent, Holder};
use super::origin::Origin;
use super::region::{Loc, NUMBER_BITS, RegionId, RegionKind};
use super::state::State;
use super::term::{Node, Op, Term};
use crate::ir::{ExprId, POINTER_BITS};

/// Bytes of a record of the function's own that are searched for pointers.
const MAX_SEARCHED: u64 = 4096;
/// Pointers followed from a block to what escapes.
const MAX_PATH: usize = 6;
/// Parts of a value that are looked at for a number.
const MAX_PARTS: usize = 64;
/// Bytes of a list's head: two pointers.
const EMPTY_HEAD: i64 = 16;
/// Parts of a pointer that are looked at for what it leads to.
const MAX_LEADING_PARTS: usize = 2_000;

/// What a value may lead to.
#[derive(Default)]
struct Leads {
    /// A block that is followed.
    followed: bool,
    /// A variable of the function's own.
    local: bool,
}

impl Arena<'_> {
    /// Whether it matters where the pointer to a region goes: the function has made what is there, or a parameter leads to it.
    fn is_followed(&self, region: RegionId) -> bool {
        let Some(base) = self.regions.base(region) else {
            return false;
        };
        let param = match *self.formula.terms.node(base) {
            Node::Var(var) => matches!(self.origins.of(var), Origin::Param(_)),
            _ => false,
        };
        param || self.owned.contains_key(&base)
    }

    /// The block in which the pointer to a region was found, if that leads back to the block.
    fn led_back_to(&self, region: RegionId) -> Option<RegionId> {
        let block = self.read_from(region)?.region;
        self.leads_back.contains(&block).then_some(block)
    }

    /// The blocks that a value leads to and the objects whose number is in it, of those that are followed, each with its paths.
    pub fn followed(&mut self, value: Term) -> Vec<(Guard, RegionId)> {
        let mut found = self.numbers_in(value);
        // Half of a pointer is stored where the type of a member is not known.
        let pointer = match self.formula.terms.node(value) {
            Node::Op {
                op: Op::Extract { lo: 0 },
                args,
            } => args[0],
            _ => value,
        };
        if self.formula.terms.width(pointer) != POINTER_BITS
            || self.formula.terms.as_const(pointer).is_some()
            || !self.leads(pointer).followed
        {
            return found;
        }
        let places = self.locations(pointer);
        let mut covered = self.invalid_on.get(&pointer).copied().unwrap_or_default();
        for &(guard, loc) in places.iter() {
            covered = self.formula.guards.or(covered, guard);
            if self.is_followed(loc.region) {
                found.push((guard, loc.region));
            } else if let Some(block) = self.led_back_to(loc.region) {
                found.push((guard, block));
            } else if let RegionKind::Environment { base } = *self.regions.kind(loc.region)
                && !matches!(self.formula.terms.node(base), Node::Var(_))
                && !self.owned.is_empty()
            {
                // A pointer that is computed from another one, as where it is aligned.
                self.hidden_in(base, &mut found);
            }
        }
        if covered != Guard::TRUE && !self.owned.is_empty() {
            self.hidden_in(pointer, &mut found);
        }
        found
    }

    /// The paths on which a pointer leads somewhere that is not told, since its choices are too many, and blocks that may lie there.
    fn untold(&mut self, pointer: Term) -> Vec<(Guard, RegionId)> {
        let mut found = Vec::new();
        if !self.has_untold_places(pointer) {
            return found;
        }
        let places = self.locations(pointer);
        let mut told = self.invalid_on.get(&pointer).copied().unwrap_or_default();
        for &(guard, _) in places.iter() {
            told = self.formula.guards.or(told, guard);
        }
        let untold = self.formula.guards.not(told);
        if untold != Guard::FALSE {
            self.hidden_in(pointer, &mut found);
            for (guard, _) in &mut found {
                *guard = untold;
            }
        }
        found
    }

    /// What a value may lead to, whatever its conditions: looked at before its places are told apart, which costs much.
    fn leads(&self, value: Term) -> Leads {
        let mut leads = Leads::default();
        let mut seen: FxHashSet<Term> = FxHashSet::default();
        let mut work = vec![value];
        while let Some(part) = work.pop() {
            if seen.len() > MAX_LEADING_PARTS {
                return Leads {
                    followed: true,
                    local: true,
                };
            }
            leads.followed |= self.owned.contains_key(&part);
            match self.formula.terms.node(part) {
                Node::Const(address) => leads.local |= self.is_in_local(*address),
                Node::Var(var) => {
                    leads.followed |= match self.origins.of(*var) {
                        Origin::Param(_) => true,
                        Origin::Initial { loc, .. } => self.leads_back.contains(&loc.region),
                        _ => false,
                    };
                }
                Node::Guard(_) => {}
                _ if !seen.insert(part) => {}
                Node::Op { op: Op::Ite, args } => work.extend(&args[1..]),
                Node::Op { args, .. } => work.extend(args.iter()),
                Node::Linear { constant, terms } => {
                    leads.local |= self.is_in_local(*constant);
                    work.extend(terms.iter().map(|&(_, part)| part));
                }
            }
        }
        leads
    }

    /// Whether a number is an address in some variable of the function's own.
    fn is_in_local(&self, address: u128) -> bool {
        let region = self.regions.region_of(address as u64);
        region.is_some_and(|region| self.regions.is_local(region))
    }

    /// The places in variables of the function's own that a value leads to.
    fn places_in_locals(&mut self, value: Term) -> Vec<Loc> {
        if self.formula.terms.width(value) != POINTER_BITS || !self.leads(value).local {
            return Vec::new();
        }
        let places = self.locations(value);
        let places = places.iter().map(|&(_, loc)| loc);
        places
            .filter(|loc| self.regions.is_local(loc.region))
            .collect()
    }

    /// Adds the blocks that a value may lead to, among them those that its choices are too many to tell.
    fn hidden_in(&mut self, value: Term, found: &mut Vec<(Guard, RegionId)>) {
        for var in self.formula.vars(value) {
            let base = self.formula.terms.var_term(var);
            if self.owned.contains_key(&base) {
                let region = self.regions.at_base(&self.formula.terms, base).region;
                found.push((Guard::TRUE, region));
            }
        }
    }

    /// The objects whose number can be told from a value: it is the number, widened or not, or is made from it. Of a choice, or of a
    /// test's outcome, the condition tells none.
    fn numbers_in(&mut self, value: Term) -> Vec<(Guard, RegionId)> {
        let mut found = Vec::new();
        if !self.follows_values || !self.leads(value).followed {
            return found;
        }
        let mut work = vec![(Guard::TRUE, value)];
        let mut left = MAX_PARTS;
        while let Some((guard, part)) = work.pop()
            && left > 0
        {
            left -= 1;
            match self.formula.terms.node(part).clone() {
                _ if self.formula.terms.width(part) == 1 => {}
                Node::Const(_) | Node::Guard(_) => {}
                Node::Var(_) if self.formula.terms.width(part) == NUMBER_BITS => {
                    let region = self.regions.at_base(&self.formula.terms, part).region;
                    if self.is_followed(region) {
                        found.push((guard, region));
                    }
                }
                Node::Var(_) => {}
                Node::Op { op: Op::Ite, args } => {
                    let condition = self.formula.guard_of(args[0]);
                    let guards = &mut self.formula.guards;
                    work.push((guards.and(guard, condition), args[1]));
                    work.push((guards.and_not(guard, condition), args[2]));
                }
                Node::Op { args, .. } => work.extend(args.iter().map(|&arg| (guard, arg))),
                Node::Linear { terms, .. } => {
                    work.extend(terms.iter().map(|&(_, part)| (guard, part)));
                }
            }
        }
        found.retain(|&(guard, _)| guard != Guard::FALSE);
        found
    }
}

impl Executor<'_> {
    /// Notes that a value is stored at a location.
    pub fn note_stored(&mut self, loc: Loc, value: Term, paths: Guard) {
        if !self.arena.watches {
            return;
        }
        let to = match self.arena.regions.kind(loc.region) {
            RegionKind::Local { .. } if !self.arena.exposed.contains(&loc.region) => return,
            RegionKind::Local { .. } => Holder::Callee,
            _ if self.arena.is_owned(loc.region) => Holder::Block(loc),
            _ => Holder::Location(loc),
        };
        self.escapes(value, paths, to);
        // What is in a variable whose address is stored in memory is found there, too.
        if matches!(to, Holder::Block(_)) {
            self.note_own(loc, value, paths);
        } else {
            for place in self.arena.places_in_locals(value) {
                self.arena.exposed.insert(place.region);
            }
        }
        // `table[fd] = …`: the number is found as an index.
        if self.arena.follows_values {
            for (_, index) in self.arena.regions.symbolic(loc.symbolic).to_vec() {
                self.escapes(index, paths, to);
            }
        }
    }

    /// Notes that a block holds a pointer into itself, by which whoever is given what lies in it finds the block. An empty list's head, which
    /// leads to itself, is none.
    fn note_own(&mut self, loc: Loc, value: Term, paths: Guard) {
        let pointer = self.arena.formula.terms.width(value) == POINTER_BITS;
        if !pointer || !self.arena.leads(value).followed {
            return;
        }
        for &(guard, place) in &*self.arena.locations(value) {
            let head = place.offset..place.offset + EMPTY_HEAD;
            if place.region == loc.region && !head.contains(&loc.offset) {
                let guard = self.arena.formula.guards.and(paths, guard);
                self.escape_to(loc.region, guard, Holder::Block(loc));
            }
        }
    }

    /// Notes that a callee has left a pointer to what it has made at a location: nothing was read from there before.
    pub fn note_left(&mut self, loc: Loc, value: Term, paths: Guard) {
        if !self.arena.watches || !self.arena.is_owned(loc.region) {
            return self.note_stored(loc, value, paths);
        }
        for (guard, region) in self.arena.followed(value) {
            let guard = self.arena.formula.guards.and(paths, guard);
            if region != loc.region {
                self.escape_to(region, guard, Holder::Block(loc));
            }
        }
    }

    /// Notes that the pointers within some bytes are copied to a location.
    pub(super) fn note_copied(&mut self, state: &State, to: Loc, from: Loc, size: u64) {
        if !self.arena.watches || self.arena.regions.is_local(to.region) {
            return;
        }
        if self.arena.is_followed(from.region) {
            self.contents_escape(from.region, state.guard);
        }
        let size = size.min(MAX_SEARCHED);
        let scalars = state
            .memory
            .scalars_within(&mut self.arena.heap(), from, size);
        for (at, value) in scalars {
            let place = to.plus(at.offset.wrapping_sub(from.offset));
            self.note_stored(place, value, state.guard);
        }
    }

    /// Notes that a function gets arguments that it may keep, or what they lead to in the function's own variables.
    pub(super) fn note_handed(&mut self, state: &State, args: &[ArgValue]) {
        if !self.arena.watches {
            return;
        }
        for arg in args {
            match *arg {
                ArgValue::Scalar(value) => self.hand(state, value),
                ArgValue::Number(_) => {}
                ArgValue::Record { ref sources, size } => {
                    for &(_, source) in sources.iter() {
                        self.hand_words(state, source, size);
                    }
                }
            }
        }
    }

    /// Notes that code which is not modelled may store a value anywhere, or the pointers at an address.
    pub(super) fn expose(
        &mut self,
        frame: &Frame<'_>,
        state: &mut State,
        value: ExprId,
        in_memory: bool,
    ) {
        if !self.arena.watches {
            return;
        }
        let value = self.eval(frame, state, value);
        match in_memory {
            true => self.hand_contents(state, value),
            false => self.hand(state, value),
        }
    }

    /// Notes that a callee may end blocks that the pointer it gets leads to on paths that are too many to tell apart.
    pub fn hand_untold(&mut self, state: &State, pointer: Term) {
        if !self.arena.watches || self.arena.formula.terms.width(pointer) != POINTER_BITS {
            return;
        }
        for (guard, region) in self.arena.untold(pointer) {
            let guard = self.arena.formula.guards.and(state.guard, guard);
            self.escape_to(region, guard, Holder::Callee);
        }
    }

    /// Notes that a callee may keep a value.
    pub fn hand(&mut self, state: &State, value: Term) {
        self.escapes(value, state.guard, Holder::Callee);
        for loc in self.arena.places_in_locals(value) {
            self.hand_words(state, loc, MAX_SEARCHED);
        }
    }

    /// Notes that a callee gets records by value, of which nothing is known inside it.
    pub(super) fn note_records(&mut self, state: &State, args: &[ArgValue]) {
        if !self.arena.watches {
            return;
        }
        for arg in args {
            if let ArgValue::Record { sources, size } = arg {
                for &(_, source) in sources.iter() {
                    self.hand_words(state, source, *size);
                }
            }
        }
    }

    /// Notes that a function may change what its arguments lead to; `open`: perhaps otherwise than the state says.
    pub fn disturb(&mut self, state: &State, args: &[ArgValue], open: bool) {
        for arg in args {
            let ArgValue::Scalar(value) = *arg else {
                continue;
            };
            if self.arena.formula.terms.width(value) != POINTER_BITS {
                continue;
            }
            for &(guard, loc) in &*self.arena.locations(value) {
                self.disturb_region(state, loc.region, (guard, open));
            }
        }
    }

    pub fn disturb_region(&mut self, state: &State, region: RegionId, (on, open): (Guard, bool)) {
        let guard = self.arena.formula.guards.and(state.guard, on);
        let order = self.execution.log.ops.len();
        self.execution.log.disturbed.push(Disturbance {
            region,
            guard,
            order,
            call: self.execution.log.call,
            open,
        });
    }

    fn hand_words(&mut self, state: &State, loc: Loc, size: u64) {
        let size = size.min(MAX_SEARCHED);
        let scalars = state
            .memory
            .scalars_within(&mut self.arena.heap(), loc, size);
        for (_, value) in scalars {
            self.escapes(value, state.guard, Holder::Callee);
        }
    }

    /// Notes that somebody may copy the pointers found in what a value leads to.
    pub fn hand_contents(&mut self, state: &State, value: Term) {
        for (guard, region) in self.arena.followed(value) {
            let guard = self.arena.formula.guards.and(state.guard, guard);
            self.contents_escape(region, guard);
        }
        self.hand_contents_of_locals(state, value);
    }

    /// Notes the same of what a value leads to among the function's own variables.
    pub fn hand_contents_of_locals(&mut self, state: &State, value: Term) {
        for loc in self.arena.places_in_locals(value) {
            self.hand_words(state, loc, MAX_SEARCHED);
        }
    }

    /// A primitive that ends a block of which it keeps what it has in it does so where it ends it: what `realloc` cannot enlarge it leaves alone.
    /// `ops`, `escapes`: the numbers of those before its call.
    pub(super) fn copy_where_ended(&mut self, (ops, escapes): (usize, usize)) {
        let log = &mut self.execution.log;
        let guards = &mut self.arena.formula.guards;
        let contents = log.escapes[escapes..].iter_mut();
        for escape in contents.filter(|escape| escape.to == Holder::Contents) {
            let own = log.ops[ops..].iter();
            let ended = own.filter(|event| {
                event.object.loc.region == escape.region && event.to.is_some() && event.moves()
            });
            let ended: Vec<Guard> = ended.map(|event| event.guard).collect();
            if !ended.is_empty() {
                let ended = guards.union(ended);
                escape.guard = guards.and(escape.guard, ended);
            }
        }
    }

    fn contents_escape(&mut self, region: RegionId, guard: Guard) {
        self.escape_to(region, guard, Holder::Contents);
    }

    /// The blocks that are followed from which pointers that a value may be were read, or from what is found by going on from there: the blocks'
    /// contents escape. A number that is added (`&table->entry[i]`) leaves the pointer what it is.
    fn read_from_followed(&self, value: Term) -> Vec<RegionId> {
        let terms = &self.arena.formula.terms;
        let mut found = Vec::new();
        let mut work = vec![value];
        let mut left = MAX_PARTS;
        while let Some(part) = work.pop()
            && left > 0
        {
            left -= 1;
            match terms.node(part) {
                _ if terms.width(part) != POINTER_BITS => {}
                Node::Var(_) if terms.is_pointer(part) => found.extend(self.followed_before(part)),
                Node::Op { op: Op::Ite, args } => work.extend(&args[1..]),
                Node::Linear { terms, .. } => {
                    let whole = terms.iter().filter(|&&(factor, _)| factor == 1);
                    work.extend(whole.map(|&(_, part)| part));
                }
                _ => {}
            }
        }
        found.sort_unstable();
        found.dedup();
        found
    }

    /// The block that is followed from which an unknown was read, or from which one comes to where it was read.
    fn followed_before(&self, unknown: Term) -> Option<RegionId> {
        let mut value = unknown;
        for _ in 0..MAX_PATH {
            let Node::Var(var) = *self.arena.formula.terms.node(value) else {
                return None;
            };
            let Origin::Initial { loc, .. } = *self.arena.origins.of(var) else {
                return None;
            };
            if self.arena.is_followed(loc.region) {
                return Some(loc.region);
            }
            value = self.arena.regions.base(loc.region)?;
        }
        None
    }

    fn escapes(&mut self, value: Term, paths: Guard, to: Holder) {
        for region in self.read_from_followed(value) {
            self.contents_escape(region, paths);
        }
        for (guard, region) in self.arena.followed(value) {
            let guard = self.arena.formula.guards.and(paths, guard);
            if !matches!(to, Holder::Block(place) if place.region == region) {
                self.escape_to(region, guard, to);
            }
        }
    }

    fn escape_to(&mut self, region: RegionId, guard: Guard, to: Holder) {
        if guard != Guard::FALSE {
            let in_loop = self.in_loop;
            self.execution.log.escapes.push(EscapeEvent {
                region,
                guard,
                to,
                in_loop,
            });
        }
    }
}
