//! Accesses to memory, where they fail (DESIGN §4): the pointer is null, or leads into a block that is gone.
//!
//! In: the address of an access, before it is assumed to be valid, and the state. Out: a [`UseEvent`] for each pointer that is
//! followed for the first time, and an [`OpEvent`] that fails for each block in a state in which it must not be used.

use std::borrow::Cow;
use std::sync::Arc;

use super::arena::Arena;
use super::callee::CallSite;
use super::dereference::Locations;
use super::exec::Executor;
use super::guard::{Cond, Guard};
use super::log::{OpEvent, Site, UseEvent};
use super::member::MemberOf;
use super::region::{Loc, RegionId, SymbolicOffset};
use super::state::{MachineId, Object, State, Status};
use super::term::{Node, Term};
use super::validity::is_invalid;
use crate::finding::TraceStep;
use crate::ir::{ExprId, POINTER_BITS};
use crate::property::{Event, Key};

/// Nested choices of a value that are looked at.
const MAX_CHOICES: u32 = 6;

/// Who makes an access.
#[derive(Clone, Copy)]
pub enum Accessor<'s> {
    /// The statement being executed, by this expression.
    Statement(Option<ExprId>),
    /// The function called at this site.
    Callee(&'s CallSite<'s>, Way<'s>),
}

impl Accessor<'_> {
    /// See [`Way::ends`].
    fn ends_program(self) -> bool {
        matches!(self, Accessor::Callee(_, Way { ends: true, .. }))
    }

    /// The paths that reach the call in which it is made.
    fn called_on(self) -> Option<Guard> {
        match self {
            Accessor::Statement(_) => None,
            Accessor::Callee(site, _) => Some(site.reached_on),
        }
    }

    /// The expression for the address, if the analysed function makes the access or the call itself. `stack`: where it is made.
    fn written(self, stack: &[Site]) -> Option<ExprId> {
        match self {
            Accessor::Statement(expr) => expr.filter(|_| stack.len() == 1),
            Accessor::Callee(site, way) => way.argument.and_then(|arg| site.written(arg)),
        }
    }
}

/// How a callee comes to an access.
#[derive(Clone, Copy, Default)]
pub struct Way<'s> {
    pub steps: &'s [TraceStep],
    /// The number of the argument that it follows itself; none where that is something else.
    pub argument: Option<u32>,
    /// It ends the program behind it, and comes back on other ways: it has failed, and what it says of that is no mistake of its callers'.
    pub ends: bool,
}

impl Arena<'_> {
    /// The object of a machine at a location: the whole block, where blocks are what counts.
    pub fn object_at(&self, loc: Loc, machine: MachineId) -> Object {
        match self.machine_at(machine).key {
            Key::Location | Key::Value => Object { loc, machine },
            Key::Region => Object {
                loc: start_of(loc.region),
                machine,
            },
        }
    }

    /// Whether the function has the pointer to a region from a call that made what is there.
    pub fn is_owned(&self, region: RegionId) -> bool {
        let base = self.regions.base(region);
        base.is_some_and(|base| self.owned.contains_key(&base))
    }

    /// Whether a call has made what is in a region as an object of another machine than this one, which frees whole blocks: a stream is none.
    pub(super) fn is_made_otherwise(&self, region: RegionId, machine: MachineId) -> bool {
        let made = self
            .regions
            .base(region)
            .and_then(|base| self.owned.get(&base));
        made.is_some_and(|made| *made != machine)
            && self.machine_at(machine).rule(Event::Inside).is_some()
    }

    /// Notes that a callee has made a pointer: whether it is null is decided there.
    pub fn made_by_callee(&mut self, value: Term) {
        if self.watches && self.formula.terms.width(value) == POINTER_BITS {
            self.callee_pointers.push(value);
        }
    }

    /// Whether a condition is one on which a callee makes a pointer null, once the function is executed. Pointers that the function has not looked at
    /// do not count: to work out where each of them leads takes long.
    pub fn is_foreign(&mut self, condition: Cond) -> bool {
        for value in std::mem::take(&mut self.callee_pointers) {
            if let Some(&null) = self.invalid_on.get(&value) {
                let conditions = self.formula.guards.support(null);
                self.foreign_conditions.extend(conditions);
            }
        }
        self.foreign_conditions.contains(&condition)
    }

    /// Notes as which member a pointer is read from memory.
    pub(super) fn note_member(&mut self, pointer: Term, member: &str) {
        let known = self.read_as.entry(pointer);
        if known.or_insert_with(|| member.to_owned()) != member {
            self.read_as_several.insert(pointer);
        }
    }

    /// Notes of which record a pointer at an address is which member. To name a member may take a new text, so that it is asked for once.
    pub(super) fn note_member_at<'b>(
        &mut self,
        address: Term,
        member: impl Fn() -> Option<(Cow<'b, str>, &'b str)>,
    ) {
        for &(_, loc) in self.locations(address).iter() {
            if !self.members_at.contains_key(&loc)
                && let Some((record, name)) = member()
            {
                let member = MemberOf {
                    record: record.as_ref().into(),
                    name: name.into(),
                };
                self.members_at.insert(loc, member);
            }
        }
    }

    /// Whether the base of an address is a pointer, or the number of an open file: not a number that is added to a null pointer.
    fn may_be_followed(&self, base: Term) -> bool {
        let is_address = self.formula.terms.width(base) == POINTER_BITS;
        !is_address || self.is_told_pointer(base, MAX_CHOICES)
    }

    /// The pointer from which an address is so near that no object has that address where the pointer is null: `p` of `&p->member`, and of the
    /// record around what `p` leads to. The address itself, if there is none.
    pub fn record_of(&self, address: Term) -> Term {
        match self.formula.terms.node(address) {
            Node::Linear { constant, terms } => match (u64::try_from(*constant), &terms[..]) {
                (Ok(offset), &[(1, pointer)]) if is_invalid(offset) => pointer,
                _ => address,
            },
            _ => address,
        }
    }

    /// The paths on which an unknown pointer is null where an address that is made from it leads to the first byte of what it
    /// points to. What lies further on is not null if the pointer is.
    pub fn null_at_start(&mut self, address: Term, base: Term) -> Guard {
        let locations = self.locations(address);
        let start = locations.iter().find(|(_, loc)| {
            *loc == start_of(loc.region) && self.regions.base(loc.region) == Some(base)
        });
        let Some(&(chosen, _)) = start else {
            return Guard::FALSE;
        };
        let null = self.null_paths(base);
        self.formula.guards.and(chosen, null)
    }

    /// The paths on which a pointer is null; none for the number of an open file. What lies further on in something, at a
    /// distance that is not known, is not null.
    pub fn null_paths(&mut self, pointer: Term) -> Guard {
        let terms = &mut self.formula.terms;
        if terms.width(pointer) != POINTER_BITS {
            return Guard::FALSE;
        }
        let zero = terms.constant(0, POINTER_BITS);
        let null = terms.eq(pointer, zero);
        let mut null = self.formula.guard_of(null);
        if matches!(null, Guard::TRUE | Guard::FALSE) {
            return null;
        }
        for &(chosen, loc) in self.locations(pointer).iter() {
            if loc.symbolic != SymbolicOffset::NONE {
                null = self.formula.guards.and_not(null, chosen);
            }
        }
        null
    }

    /// Notes that a callee names the pointer at an address so.
    pub fn note_member_told(&mut self, address: Term, member: &MemberOf) {
        for &(_, loc) in self.locations(address).iter() {
            let known = self.members_told.entry(loc);
            known.or_insert_with(|| member.clone());
        }
    }

    /// As which member of which record the source, or a callee, has the pointer at a place.
    pub fn member_of(&self, loc: Loc) -> Option<&MemberOf> {
        let known = self.members_at.get(&loc);
        known.or_else(|| self.members_told.get(&loc))
    }

    /// The paths on which a pointer is the constant null.
    pub fn chosen_null(&mut self, pointer: Term) -> Guard {
        if self.formula.terms.width(pointer) != POINTER_BITS {
            return Guard::FALSE;
        }
        self.locations(pointer);
        self.null_on.get(&pointer).copied().unwrap_or_default()
    }

    /// The same, told by which of several pointers it is: `careful ? open_surely() : open_it()` is null only where it is the second.
    pub fn null_by_choice(&mut self, pointer: Term) -> Guard {
        if self.has_untold_places(pointer) {
            return self.null_paths(pointer);
        }
        let mut null = self.chosen_null(pointer);
        for &(chosen, loc) in self.locations(pointer).iter() {
            if let Some(base) = self
                .regions
                .base(loc.region)
                .filter(|_| loc == start_of(loc.region))
            {
                let here = self.null_paths(base);
                let here = self.formula.guards.and(chosen, here);
                null = self.formula.guards.or(null, here);
            }
        }
        null
    }
}

/// The first byte of a region.
pub fn start_of(region: RegionId) -> Loc {
    Loc {
        region,
        symbolic: SymbolicOffset::NONE,
        offset: 0,
    }
}

impl Executor<'_> {
    /// Checks an access on some paths, by a pointer to what lies at these locations. To be called before the pointers are taken
    /// to be valid.
    pub fn check_access(
        &mut self,
        state: &State,
        (pointer, locations): (Term, &Locations),
        paths: Guard,
        accessor: Accessor<'_>,
    ) {
        if !self.arena.watches || paths == Guard::FALSE {
            return;
        }
        let ends = accessor.ends_program();
        for &(guard, loc) in locations.iter() {
            let here = self.arena.formula.guards.and(paths, guard);
            if here != Guard::FALSE && !ends {
                self.check_block(state, loc.region, (here, Event::Use), accessor);
            }
        }
        let pointer = self.arena.record_of(pointer);
        let led = self.arena.locations(pointer);
        let is_pointer = self.arena.formula.terms.width(pointer) == POINTER_BITS;
        if is_pointer && let Some(&invalid) = self.arena.invalid_on.get(&pointer) {
            let null = self.arena.formula.guards.and(paths, invalid);
            self.log_use((pointer, None), (null, null), accessor);
        }
        for &(guard, loc) in led.iter() {
            let here = self.arena.formula.guards.and(paths, guard);
            if let Some(base) = self.arena.regions.base(loc.region)
                && self.arena.may_be_followed(base)
                && !state.nonnull.contains(&base)
            {
                let null = self.null_at(loc, base, here);
                self.follow((pointer, base), (here, null), accessor);
            }
        }
    }

    /// Checks that what a pointer leads to is not gone, whether the pointer is null or not.
    pub fn check_read(&mut self, state: &State, pointer: Term, accessor: Accessor<'_>) {
        self.check_led_to(state, (pointer, Event::Use), accessor);
    }

    /// Checks what a function of which nothing is known is given a pointer to. `within`: the argument is the address of a member, which the function can
    /// want for nothing but an access.
    pub fn check_handed(
        &mut self,
        state: &State,
        (pointer, within): (Term, bool),
        accessor: Accessor<'_>,
    ) {
        let event = match within {
            true => Event::Use,
            false => Event::Handed,
        };
        self.check_led_to(state, (pointer, event), accessor);
    }

    /// Checks an event at all that a pointer leads to. An object is handed by its own address only.
    fn check_led_to(
        &mut self,
        state: &State,
        (pointer, event): (Term, Event),
        accessor: Accessor<'_>,
    ) {
        for &(guard, loc) in &*self.arena.locations(pointer) {
            let here = self.arena.formula.guards.and(state.guard, guard);
            let meets = event != Event::Handed || loc == start_of(loc.region);
            if here != Guard::FALSE && meets {
                self.check_block(state, loc.region, (here, event), accessor);
            }
        }
    }

    /// The paths among these on which a pointer to a location is null, if there is a reason to ask.
    fn null_at(&mut self, loc: Loc, base: Term, paths: Guard) -> Guard {
        // What lies further on is not null if the pointer is.
        let plain = loc == start_of(loc.region);
        let in_question = self.arena.tested.contains_key(&base)
            || self.arena.nullable.contains_key(&base)
            || self.arena.null_at_times.contains_key(&base);
        match plain && in_question {
            true => {
                let null = self.arena.null_paths(base);
                self.arena.formula.guards.and(paths, null)
            }
            false => Guard::FALSE,
        }
    }

    /// Logs that an unknown pointer is followed, unless it is already known that it is on these paths.
    fn follow(
        &mut self,
        (pointer, base): (Term, Term),
        (paths, null): (Guard, Guard),
        accessor: Accessor<'_>,
    ) {
        if !self.arena.is_dereferenced_on(base, paths) {
            self.log_use((pointer, Some(base)), (paths, null), accessor);
        }
    }

    fn log_use(
        &mut self,
        (address, base): (Term, Option<Term>),
        (guard, null): (Guard, Guard),
        accessor: Accessor<'_>,
    ) {
        if guard == Guard::FALSE {
            return;
        }
        let (stack, text, inside) = self.access_site(accessor);
        let tested = base.and_then(|base| self.arena.tested.get(&base).cloned());
        let of_inlined = self.inlining.is_some_and(|(_, first)| {
            let vars = self.arena.formula.vars(base.unwrap_or(address));
            !vars.is_empty() && vars.iter().all(|var| *var >= first)
        });
        let log = &mut self.execution.log;
        log.uses.push(UseEvent {
            address,
            base,
            guard,
            null,
            tested,
            expr: accessor.written(&stack),
            order: log.ops.len(),
            branches: log.branches.len(),
            before: log.unknowns(),
            stack,
            text,
            by_method: log.by_method,
            of_inlined,
            called_on: self
                .inlining
                .map(|(paths, _)| paths)
                .or(accessor.called_on()),
            ends: accessor.ends_program(),
            inside,
        });
    }

    /// Where an access is made, in which call, and what happens within that.
    fn access_site(
        &self,
        accessor: Accessor<'_>,
    ) -> (Vec<Site>, Option<Arc<str>>, Arc<[TraceStep]>) {
        match accessor {
            Accessor::Statement(_) => {
                let mut stack = self.stack.clone();
                stack.extend(self.site.clone());
                (stack, None, Arc::default())
            }
            Accessor::Callee(site, way) => {
                (site.stack.clone(), Some(site.text.into()), way.steps.into())
            }
        }
    }

    /// Logs a failure for each object of a block that must not meet such an event in its state.
    fn check_block(
        &mut self,
        state: &State,
        region: RegionId,
        (paths, event): (Guard, Event),
        accessor: Accessor<'_>,
    ) {
        for index in 0..self.arena.of_regions.len() {
            let object = Object {
                loc: start_of(region),
                machine: self.arena.of_regions[index],
            };
            let Some(tracked) = state.objects.get(&object) else {
                continue;
            };
            let machine = self.arena.machine_of(object);
            for &(status, held) in &tracked.set {
                let Status::At(in_state) = status else {
                    continue;
                };
                let Some(rule) = machine.rule_in(event, in_state) else {
                    continue;
                };
                let guards = &mut self.arena.formula.guards;
                let guard = guards.and(paths, held);
                let touched = guards.and(guard, tracked.touched);
                if touched == Guard::FALSE {
                    continue;
                }
                self.log_failure(object, rule, status, (guard, touched), accessor);
            }
        }
    }

    /// Logs that something is done to an object in a state in which it must not be.
    pub(crate) fn log_failure(
        &mut self,
        object: Object,
        rule: &str,
        from: Status,
        (guard, touched): (Guard, Guard),
        accessor: Accessor<'_>,
    ) {
        let (stack, text, inside) = self.access_site(accessor);
        let written = accessor.written(&stack);
        let name = self.arena.name_of_block(object.loc.region);
        let log = &mut self.execution.log;
        log.ops.push(OpEvent {
            object,
            guard,
            touched,
            errors: touched,
            from,
            to: None,
            rule: Some(rule.to_owned()),
            from_states: Arc::default(),
            primitive: false,
            source: None,
            saves: false,
            alone: false,
            doubtful: false,
            open: false,
            others: Guard::TRUE,
            by_result: false,
            contested: false,
            counted: false,
            in_loop: self.in_loop,
            call: log.call,
            stack,
            text: text.unwrap_or_else(|| "used here".into()),
            name,
            written,
            inside,
        });
    }
}

impl Arena<'_> {
    /// A block as the source would write the pointer to it.
    pub fn name_of_block(&mut self, region: RegionId) -> String {
        if let Some(text) = self.regions.literal(region) {
            return format!("\"{}\"", text.escape_debug());
        }
        let address = self
            .regions
            .address(&mut self.formula.terms, start_of(region));
        self.name_of_value(address)
    }
}
