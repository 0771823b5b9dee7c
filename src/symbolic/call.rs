//! Calls (DESIGN §5): tiny leaves are inlined, others applied by summary, unknown ones make their
//! result unknown, and what their arguments point to in the caller's own storage.
//!
//! In: a call statement and the state before it. Out: the state after it.

mod unknown;

use std::sync::Arc;

use rustc_hash::FxHashSet;

use super::callee::{Answers, CallSite, CalledWith, CalleeView, Effects, INLINE_DEPTH};
use super::eval::first_members;
use super::exec::{ArgValue, Executor};
use super::frame::Frame;
use super::guard::Guard;
use super::log::{CallEvent, EndEvent, InlinedReturn, Question, Site};
use super::region::{NUMBER_BITS, RegionId, RegionKind};
use super::state::State;
use super::term::{Op, Term};
use crate::ir::{
    Arg, Body, Call, Callee, ExprKind, LocalId, POINTER_BITS, Pos, RetTy, SymbolKind, SymbolName,
    Ty,
};

/// What a call calls.
enum Meaning {
    /// A function, and whether it never returns.
    One(SymbolName, bool),
    /// One of the functions that are stored in a member or variable.
    Methods(Vec<SymbolName>),
    /// Each of several functions on other paths: `(read ? down_read : down_write)(lock)`.
    Choice(Vec<(Guard, SymbolName)>),
    Unknown,
}

/// One execution of a call statement.
struct Invocation<'c> {
    frame: &'c Frame<'c>,
    call: &'c Call,
    args: Vec<ArgValue>,
    site: Site,
}

impl Invocation<'_> {
    /// Whether nothing declares the function that is called.
    fn is_undeclared(&self) -> bool {
        let Callee::Direct(symbol) = self.call.callee else {
            return false;
        };
        matches!(
            self.frame.body.symbol(symbol).kind,
            SymbolKind::Function {
                declared: false,
                ..
            }
        )
    }
}

impl Executor<'_> {
    pub(super) fn call(&mut self, frame: &Frame<'_>, state: &mut State, call: &Call, pos: Pos) {
        let args: Vec<ArgValue> = call
            .args
            .iter()
            .map(|arg| match arg {
                Arg::Scalar(written) => {
                    let value = self.eval(frame, state, *written);
                    match self.is_mere_number(frame.body.expr(*written).ty, value) {
                        true => ArgValue::Number(value),
                        false => ArgValue::Scalar(value),
                    }
                }
                Arg::Record { addr, size } => {
                    let address = self.eval(frame, state, *addr);
                    let sources = self.arena.locations(address);
                    self.access(state, address, &sources);
                    ArgValue::Record {
                        sources,
                        size: *size,
                    }
                }
            })
            .collect();
        let at = Invocation {
            frame,
            call,
            args,
            site: frame.site(pos),
        };
        match self.callee(frame, state, call) {
            Meaning::One(name, noreturn) => {
                self.call_named(&at, state, name);
                if noreturn {
                    self.end(state, &at.site);
                }
            }
            Meaning::Methods(names) => {
                let log = &mut self.execution.log;
                let outer = (log.several, log.by_method);
                log.several |= names.len() > 1;
                log.by_method = true;
                let chosen = names
                    .into_iter()
                    .map(|name| (self.arena.choice(), name))
                    .collect();
                self.call_one_of(&at, state, chosen);
                let log = &mut self.execution.log;
                (log.several, log.by_method) = outer;
            }
            Meaning::Choice(names) => self.call_one_of(&at, state, names),
            Meaning::Unknown => {
                self.change_answers(Answers::All);
                let result = self.logged_call(&at, state, true);
                self.note_writes(Answers::All);
                self.returned(&at, state, result);
            }
        }
    }

    /// A callee may have changed what functions answer that repeat themselves.
    fn change_answers(&mut self, answers: Answers) {
        let changed = &mut self.execution.changes_answers;
        *changed = answers.max(*changed);
        if answers >= Answers::OfMemory {
            self.answers.of_memory.clear();
        }
        if answers == Answers::All {
            self.answers.of_world.clear();
        }
    }

    /// Notes that a call has come back, if the callee may have written to memory that others know.
    fn note_writes(&mut self, changes: Answers) {
        if changes >= Answers::OfMemory {
            self.execution.log.uses_before_writes = self.execution.log.uses.len();
        }
    }

    /// Whether a value as wide as a pointer is none: to look for what it leads to would make one of a size that it is added to.
    fn is_mere_number(&self, ty: Ty, value: Term) -> bool {
        let terms = &self.arena.formula.terms;
        ty != Ty::Ptr
            && terms.width(value) == POINTER_BITS
            && !self.arena.regions.is_address(terms, value)
    }

    /// A call of each of these functions on its own paths; of the last on all others.
    fn call_one_of(
        &mut self,
        at: &Invocation<'_>,
        state: &mut State,
        mut names: Vec<(Guard, SymbolName)>,
    ) {
        let last = names.pop();
        let mut others = Vec::new();
        for (chosen, name) in names {
            let mut taken = state.clone();
            taken.guard = self.arena.formula.guards.and(state.guard, chosen);
            state.guard = self.arena.formula.guards.and_not(state.guard, chosen);
            self.call_named(at, &mut taken, name);
            others.push(taken);
        }
        if let Some((_, name)) = last {
            self.call_named(at, state, name);
        }
        for other in others {
            let here = std::mem::take(state);
            *state = self.arena.merge(other, here);
        }
    }

    fn call_named(&mut self, at: &Invocation<'_>, state: &mut State, name: SymbolName) {
        self.check_assertion((&at.args, &at.site), state, &name);
        let view = self.callees.view(&name);
        self.note_given(at.frame, state, &name, &at.args);
        let asks = match &view {
            CalleeView::Known(effects) => {
                self.arena.watches && self.stack.is_empty() && effects.only_answers()
            }
            CalleeView::NoOp(_) | CalleeView::Unknown | CalleeView::Lost => false,
        };
        let asked = asks.then(|| CalledWith::new(Arc::new(name.clone()), &at.args));
        let changes = match &view {
            CalleeView::Known(effects) => effects.changes_answers(),
            CalleeView::NoOp(_) | CalleeView::Unknown | CalleeView::Lost => Answers::All,
        };
        self.change_answers(changes);
        let first = self.arena.formula.terms.next_var();
        self.call_viewed(at, state, (name, view));
        self.note_writes(changes);
        if let Some(called) = asked {
            let unknowns = first..self.arena.formula.terms.next_var();
            let question = Question { called, unknowns };
            self.execution.log.questions.push(question);
        }
    }

    /// A call of a function of which this is known.
    fn call_viewed(
        &mut self,
        at: &Invocation<'_>,
        state: &mut State,
        (name, view): (SymbolName, CalleeView),
    ) {
        let body = self.body_to_inline(at, &view, &name);
        if body.is_some()
            && let CalleeView::Known(effects) = &view
            && effects.tells_failures()
        {
            let name = Arc::new(name.clone());
            effects.note_failures(self, state, &self.call_site(at, &name, state));
        }
        self.stack.push(at.site.clone());
        if let Some(body) = body {
            let operates = matches!(&view, CalleeView::Known(effects) if !effects.is_noop());
            if operates {
                self.execution.log.call += 1;
                self.called_at(state, name, true);
            }
            let result = self.inline(at, state, &body);
            self.stack.pop();
            if let (Some(result), [ArgValue::Scalar(of)]) = (result, &at.args[..]) {
                let arena = &mut self.arena;
                let function = &body.name.name;
                arena
                    .names
                    .converted(&arena.formula.terms, result, *of, function);
            }
            // Of a callee that always returns null nothing is left open, nor of one that does not on its ways that are taken here.
            if let CalleeView::Known(effects) = &view
                && effects.may_return_null()
                && let Some(result) = result.filter(|_| self.arena.watches)
                && self.arena.formula.terms.as_const(result).is_none()
                && self.arena.chosen_null(result) != Guard::FALSE
            {
                let called = CalledWith::new(Arc::new(body.name.clone()), &at.args);
                self.arena.null_at_times.entry(result).or_insert(called);
            }
            return;
        }
        let known = match &view {
            CalleeView::Known(effects) => !effects.is_primitive(),
            CalleeView::NoOp(_) => true,
            CalleeView::Unknown | CalleeView::Lost => false,
        };
        self.execution.log.call += 1;
        if known {
            self.called_at(state, name.clone(), false);
        }
        self.stack.pop();
        let result = match view {
            CalleeView::Known(effects) => {
                let name = Arc::new(name);
                let site = self.call_site(at, &name, state);
                self.apply(at, state, &*effects, &site)
            }
            CalleeView::NoOp(results) => {
                let result = self.unknown_call(at, state);
                result.map(|result| self.one_of(at, &results, result))
            }
            CalleeView::Unknown => {
                self.check_all_handed(at, state, name);
                self.call_undeclared(at, state);
                self.logged_call(at, state, false)
            }
            CalleeView::Lost => {
                self.mark_lost(state);
                self.logged_call(at, state, false)
            }
        };
        self.returned(at, state, result);
    }

    /// Where a callee's effects are applied. The call is not on the stack.
    fn call_site<'c>(
        &self,
        at: &'c Invocation<'_>,
        name: &'c Arc<SymbolName>,
        state: &State,
    ) -> CallSite<'c> {
        let mut stack = self.stack.clone();
        stack.push(at.site.clone());
        CallSite {
            written: self.stack.is_empty().then_some(&*at.call.args),
            args: &at.args,
            first_members: first_members_of(at.frame.body, at.call),
            constants: constants_of(at.frame.body, at.call),
            rooms: rooms_of(at.frame.body, at.call),
            result_width: scalar_width(at.call.ret),
            may_return_pointer: at.call.ret == RetTy::Scalar(Ty::Ptr) || at.is_undeclared(),
            text: &at.call.text,
            callee: name,
            stack,
            reached_on: state.guard,
        }
    }

    /// The callee's body, if it is to be executed here in place of a summary.
    fn body_to_inline(
        &mut self,
        at: &Invocation<'_>,
        view: &CalleeView,
        name: &SymbolName,
    ) -> Option<Arc<Body>> {
        if self.stack.len() > usize::from(INLINE_DEPTH) {
            return None;
        }
        // What is in a record that comes back (a guard, with the lock that it holds) is beyond
        // a summary.
        let record = matches!(at.call.ret, RetTy::Record { .. });
        let summarised = match view {
            CalleeView::Known(effects) => effects.moves_objects() && !record,
            CalleeView::NoOp(_) | CalleeView::Unknown | CalleeView::Lost => false,
        };
        if !summarised {
            return self.callees.inline_body(name);
        }
        // A summary does not know what a callback does.
        if !at.args.iter().any(|arg| self.is_known(arg)) {
            return None;
        }
        self.callees.inline_body(name).filter(|body| {
            let mut called = body.called_params();
            called.any(|param| at.args.get(param).is_some_and(|arg| self.is_known(arg)))
        })
    }

    /// Applies the effects of a callee. The call's result.
    fn apply(
        &mut self,
        at: &Invocation<'_>,
        state: &mut State,
        effects: &dyn Effects,
        site: &CallSite<'_>,
    ) -> Option<Term> {
        let name = &**site.callee;
        if !effects.is_noop() && !self.execution.called.contains(name) {
            self.execution.called.insert(name.clone());
        }
        // All that callers learn of one that touches no object is what it states.
        if effects.only_asserts() && !effects.is_primitive() {
            effects.note_assertions(self, state, site);
            return self.unknown_call(at, state);
        }
        self.arena.called_at = self.arena.formula.terms.next_var();
        self.hand_contents_of_kept(at, state, effects.kept());
        self.hand_contents_of_kept(at, state, effects.kept_contents());
        if effects.is_partial() {
            // What else it does is as unknown as all that a lost function does.
            self.mark_lost(state);
            self.logged_call(at, state, false);
        } else if effects.is_opaque() {
            self.havoc_arguments(at, state);
        } else if self.arena.watches {
            self.havoc_kept(at, state, effects.kept());
        }
        let behind = effects.kept_from().filter(|_| self.arena.watches);
        let behind = behind.map_or(at.args.len(), |first| first as usize);
        if let (Some(rest), Some(written)) = (at.args.get(behind..), at.call.args.get(behind..)) {
            self.note_handed(state, rest);
            self.disturb(state, rest, true);
            self.havoc_out_parameters(at.frame.id, state, rest);
            self.havoc_passed_places(at.frame.body, state, written, rest);
        }
        if effects.may_end() && self.arena.watches {
            self.note_may_end(state.guard, &[], effects.tells_when_it_ends());
        }
        self.note_records(state, &at.args);
        let before = (
            self.execution.log.ops.len(),
            self.execution.log.escapes.len(),
        );
        let mut result = effects.apply(self, state, site);
        if effects.is_primitive() {
            self.copy_where_ended(before);
        }
        if effects.repeats() {
            let answers = match effects.is_outside() {
                true => &mut self.answers.of_world,
                false => &mut self.answers.of_memory,
            };
            result = result.map(|result| *answers.entry(site.called()).or_insert(result));
        }
        if effects.is_noreturn() {
            self.end(state, &at.site);
        }
        if result.is_none() {
            self.unknown_result(at, state);
        }
        result
    }

    /// Ends the paths to a call that does not return.
    pub(super) fn end(&mut self, state: &mut State, site: &Site) {
        if self.arena.watches && state.guard != Guard::FALSE {
            let (guard, site) = (state.guard, site.clone());
            self.execution.log.ends.push(EndEvent { guard, site });
        }
        state.guard = Guard::FALSE;
    }

    /// Ends all paths to a call but these.
    pub fn end_but(&mut self, state: &mut State, paths: Guard, site: &CallSite<'_>) {
        let ended = self.arena.formula.guards.and_not(state.guard, paths);
        if self.arena.watches
            && let Some(site) = site.stack.last()
        {
            let (guard, site) = (ended, site.clone());
            self.execution.log.ends.push(EndEvent { guard, site });
        }
        state.guard = paths;
    }

    /// Notes that these paths went through a call of a function whose analysis is missing or was cut short.
    fn mark_lost(&mut self, state: &State) {
        self.execution.log.lost = self
            .arena
            .formula
            .guards
            .or(self.execution.log.lost, state.guard);
        let order = self.execution.log.ops.len();
        self.execution.log.lost_calls.push((state.guard, order));
    }

    /// One of these constants, it is not known which; `result` where there are none.
    fn one_of(&mut self, at: &Invocation<'_>, results: &[u128], result: Term) -> Term {
        let Some((&last, others)) = results.split_last() else {
            return result;
        };
        let width = self.arena.formula.terms.width(result);
        // See `Arena::returned_as`.
        let narrow = at.is_undeclared() && width > NUMBER_BITS;
        let returned = |value: u128| match u32::try_from(value) {
            Ok(value) if narrow => i128::from(value as i32) as u128,
            _ => value,
        };
        let last = self.arena.formula.terms.constant(returned(last), width);
        others.iter().fold(last, |rest, &value| {
            let chosen = self.arena.unknown(1);
            let value = self.arena.formula.terms.constant(returned(value), width);
            self.arena
                .formula
                .terms
                .op(Op::Ite, width, &[chosen, value, rest])
        })
    }

    /// Logs a call, the innermost of the stack.
    fn called_at(&mut self, state: &State, name: SymbolName, inlined: bool) {
        self.execution.log.calls.push(CallEvent {
            callee: Arc::new(name),
            guard: state.guard,
            call: self.execution.log.call,
            order: self.execution.log.ops.len(),
            stack: self.stack.clone(),
            inlined,
        });
    }

    /// Whether an argument is the address of one global object or function.
    fn is_known(&mut self, arg: &ArgValue) -> bool {
        let ArgValue::Scalar(value) = *arg else {
            return false;
        };
        let loc = match self.arena.formula.terms.as_const(value) {
            Some(_) => self.arena.regions.locate(&self.arena.formula.terms, value),
            None => None,
        };
        loc.is_some_and(|loc| matches!(self.arena.regions.kind(loc.region), RegionKind::Symbol(_)))
    }

    fn returned(&mut self, at: &Invocation<'_>, state: &mut State, result: Option<Term>) {
        match (at.call.dst, result) {
            (Some(dst), Some(value)) => self.assign(at.frame, state, dst, value),
            // Who does not look at a number knows it: `close(0); open("/dev/null", O_RDWR);`.
            (None, Some(value)) if self.arena.formula.terms.width(value) == NUMBER_BITS => {
                self.note_handed(state, &[ArgValue::Scalar(value)]);
            }
            _ => {}
        }
    }

    fn callee(&mut self, frame: &Frame<'_>, state: &mut State, call: &Call) -> Meaning {
        match &call.callee {
            Callee::Direct(symbol) => {
                let symbol = frame.body.symbol(*symbol);
                let noreturn = matches!(symbol.kind, SymbolKind::Function { noreturn: true, .. });
                Meaning::One(symbol.name.clone(), noreturn)
            }
            Callee::Indirect { function, holder } => {
                let address = self.eval(frame, state, *function);
                let places = self.arena.locations(address);
                if self.arena.watches {
                    self.accessed = Some((*function, address));
                    self.access(state, address, &places);
                }
                let named = places.iter().map(|&(guard, loc)| {
                    let RegionKind::Symbol(name) = self.arena.regions.kind(loc.region) else {
                        return None;
                    };
                    Some((guard, name.clone()))
                });
                let named: Option<Vec<(Guard, SymbolName)>> = named.collect();
                match named.as_deref() {
                    Some([(_, name)]) => return Meaning::One(name.clone(), false),
                    Some([_, _, ..]) => return Meaning::Choice(named.unwrap_or_default()),
                    _ => {}
                }
                let holder = holder.as_ref();
                let stored = holder.and_then(|holder| self.callees.methods(holder));
                let told = stored.filter(|methods| {
                    let mut functions = methods.functions.iter();
                    functions.all(|name| self.stands_for(name, methods.open))
                });
                told.map_or(Meaning::Unknown, |methods| {
                    Meaning::Methods(methods.functions.clone())
                })
            }
        }
    }

    /// Whether a call through a pointer to this function is a call of it. If others may be there, too, of which nothing is known:
    /// what takes the place of a library's function does what that does, and what takes that of one that never returns does not return.
    fn stands_for(&self, name: &SymbolName, others: bool) -> bool {
        match self.callees.view(name) {
            CalleeView::Known(effects) => {
                !others || effects.is_primitive() || effects.is_noreturn()
            }
            CalleeView::NoOp(_) => !others,
            CalleeView::Unknown | CalleeView::Lost => false,
        }
    }

    fn assign(&mut self, frame: &Frame<'_>, state: &mut State, dst: LocalId, value: Term) {
        let local = frame.body.local(dst);
        let loc = self.arena.local(frame.id, dst);
        let shape = self.arena.local_shape(local);
        let value = self.arena.returned_as(value, shape.bits);
        state.memory.write_shape(loc, value, shape);
        if local.ty == Some(crate::ir::Ty::Ptr) {
            self.arena.mark_pointer(value, 4);
        }
    }

    /// Executes a callee's body. Its result, if that is a scalar which is used.
    fn inline(&mut self, at: &Invocation<'_>, state: &mut State, body: &Arc<Body>) -> Option<Term> {
        self.execution.keeps_listed |= !body.variadic && body.takes_pointers;
        let mut frame = self.frame(body);
        for (index, local) in body.locals.iter().take(body.params as usize).enumerate() {
            let loc = self.arena.local(frame.id, LocalId(index as u32));
            match at.args.get(index) {
                Some(ArgValue::Scalar(value) | ArgValue::Number(value)) => {
                    let shape = self.arena.local_shape(local);
                    let value = self.arena.resize(*value, shape.bits);
                    state.memory.write_shape(loc, value, shape);
                }
                Some(ArgValue::Record { sources, size }) => {
                    self.copy_record(state, loc, sources, *size);
                }
                None => {}
            }
        }
        let entered = std::mem::take(state);
        let (called, ends) = (entered.guard, self.execution.log.ends.len());
        let before = (
            self.execution.log.ops.len(),
            self.execution.log.escapes.len(),
        );
        let outer = self.inlining;
        self.inlining = outer.or(Some((entered.guard, self.arena.formula.terms.next_var())));
        let exit = self.run(&mut frame, entered);
        self.inlining = outer;
        if exit.is_some() && self.execution.log.ends.len() > ends {
            self.note_may_end(called, &[], true);
        }
        match exit {
            Some(exit) => *state = exit,
            None => {
                state.guard = Guard::FALSE;
                return None;
            }
        }
        let mut result = None;
        let slot = self.arena.result_slot(frame.id);
        match (at.call.ret, at.call.dst) {
            (RetTy::Scalar(ty), Some(dst)) => {
                let bytes = u64::from(ty.bits()).div_ceil(8);
                let memory = state.memory.clone();
                let value = memory.read(&mut self.arena.heap(), slot, bytes);
                let value = self.arena.resize(value, ty.bits());
                self.assign(at.frame, state, dst, value);
                result = Some(value);
            }
            (RetTy::Record { size }, Some(dst)) => {
                let to = self.arena.local(at.frame.id, dst);
                state.memory.copy(to, slot, size);
            }
            _ => {}
        }
        for local in (0..body.locals.len() as u32).map(LocalId) {
            let region = self.arena.local(frame.id, local).region;
            state.memory.forget(region);
        }
        state.memory.forget(slot.region);
        // A record may lead anywhere.
        if at.call.dst.is_none() || result.is_some() {
            self.note_return(state, before, result);
        }
        result
    }

    /// Notes that an inlined function returns which has got blocks. `before`: the numbers of operations and of escapes that were logged before it.
    fn note_return(&mut self, state: &State, (ops, escapes): (usize, usize), result: Option<Term>) {
        let log = &mut self.execution.log;
        let moved = log.ops[ops..].iter().filter(|event| event.moves());
        let mut made: FxHashSet<RegionId> = moved.map(|event| event.object.loc.region).collect();
        made.retain(|region| self.arena.is_owned(*region));
        if !made.is_empty() {
            log.inlined.push(InlinedReturn {
                made,
                guard: state.guard,
                result,
                escapes: escapes..log.escapes.len(),
            });
        }
    }
}

fn scalar_width(ret: RetTy) -> Option<u16> {
    match ret {
        RetTy::Scalar(ty) => Some(ty.bits()),
        RetTy::Void | RetTy::Record { .. } => None,
    }
}

/// See [`CallSite::constants`].
fn constants_of(body: &Body, call: &Call) -> Vec<u32> {
    let is_constant = |arg: &Arg| matches!(body.expr(arg.expr()).kind, ExprKind::Const(_));
    let args = (0..).zip(&call.args);
    let constants = args.filter(|(_, arg)| is_constant(arg));
    constants.map(|(index, _)| index).collect()
}

/// See [`CallSite::rooms`].
fn rooms_of(body: &Body, call: &Call) -> Vec<u64> {
    let args = call.args.iter();
    args.map(|arg| body.room_at(arg.expr())).collect()
}

/// See [`CallSite::first_members`].
fn first_members_of(body: &Body, call: &Call) -> Vec<(u32, String)> {
    let mut found = Vec::new();
    for (index, arg) in (0..).zip(&call.args) {
        if let Arg::Scalar(address) = arg {
            let first: Vec<&str> = first_members(body, *address).collect();
            if !first.is_empty() {
                found.push((index, first.join(".")));
            }
        }
    }
    found
}
