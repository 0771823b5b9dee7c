//! Calls of which nothing, or not everything, is known (DESIGN §5).
//!
//! In: a call and the state before it. Out: an unknown result, and unknown contents of what the callee may have changed: optimistically,
//! the caller's own variables that it gets a pointer to.

use std::sync::Arc;

use super::Invocation;
use crate::ir::{Arg, Callee, ExprKind, POINTER_BITS, RetTy, SymbolName};
use crate::symbolic::access::{Accessor, Way};
use crate::symbolic::exec::{ArgValue, Executor};
use crate::symbolic::guard::Guard;
use crate::symbolic::log::{MayEnd, UnknownCall};
use crate::symbolic::origin::Origin;
use crate::symbolic::region::RegionKind;
use crate::symbolic::state::State;
use crate::symbolic::term::Term;

impl Executor<'_> {
    /// A call of which nothing is known. Optimistic: it changes nothing but the caller's own variables
    /// that it gets a pointer to, as an out-parameter (DESIGN §5).
    pub(super) fn unknown_call(&mut self, at: &Invocation<'_>, state: &mut State) -> Option<Term> {
        self.havoc_arguments(at, state);
        self.unknown_result(at, state)
    }

    /// Who finds one of the caller's own variables, because a callee keeps its address or copies it, finds what is in it before the call.
    pub(super) fn hand_contents_of_kept(
        &mut self,
        at: &Invocation<'_>,
        state: &State,
        kept: &[u32],
    ) {
        if !self.arena.watches {
            return;
        }
        for &param in kept {
            if let Some(ArgValue::Scalar(value)) = at.args.get(param as usize) {
                self.hand_contents_of_locals(state, *value);
            }
        }
    }

    /// Makes unknown the caller's own variables whose addresses a callee passes on to others.
    pub(super) fn havoc_kept(&mut self, at: &Invocation<'_>, state: &mut State, kept: &[u32]) {
        for &param in kept {
            if let Some(ArgValue::Scalar(value)) = at.args.get(param as usize) {
                self.havoc_out_parameter(at.frame.id, state, *value);
            }
        }
    }

    pub(super) fn havoc_arguments(&mut self, at: &Invocation<'_>, state: &mut State) {
        self.havoc_out_parameters(at.frame.id, state, &at.args);
        self.havoc_variables_in_records(at.frame.id, state);
        match self.arena.watches {
            true => self.havoc_passed_places(at.frame.body, state, &at.call.args, &at.args),
            false => self.havoc_pointers_to_given_back(state, &at.args),
        }
    }

    /// A call of a function that may do anything to what it gets hold of: nothing is assumed of it, but
    /// no finding should rest on that.
    pub(super) fn logged_call(
        &mut self,
        at: &Invocation<'_>,
        state: &mut State,
        indirect: bool,
    ) -> Option<Term> {
        let terms = self.arena.formula.terms.len();
        let escapes = self.execution.log.escapes.len();
        self.note_handed(state, &at.args);
        let escapes = escapes..self.execution.log.escapes.len();
        if self.arena.watches {
            self.disturb(state, &at.args, true);
        }
        let result = self.unknown_call(at, state);
        let made = self.arena.formula.terms.len();
        let (mut given, mut itself, mut reached) = (Vec::new(), Vec::new(), Vec::new());
        for (arg, written) in at.args.iter().zip(&at.call.args) {
            if let ArgValue::Scalar(address) = arg
                && self.arena.formula.terms.width(*address) == POINTER_BITS
            {
                let is_record = self.arena.names.is_record(*address) && !names_member(at, written);
                for &(_, loc) in &*self.arena.locations(*address) {
                    given.push(loc);
                    itself.extend(Some(loc).filter(|_| !is_record));
                    reached.push(loc.region);
                    if let RegionKind::Symbol(name) = self.arena.regions.kind(loc.region) {
                        self.execution.handed_out.insert(name.clone());
                    }
                }
            }
        }
        let holder = match &at.call.callee {
            Callee::Indirect { holder, .. } => holder.clone(),
            Callee::Direct(_) => None,
        };
        self.execution.log.unknown_calls.push(UnknownCall {
            holder,
            guard: state.guard,
            indirect,
            given,
            itself,
            reached,
            result,
            terms,
            made,
            order: self.execution.log.ops.len(),
            escapes,
            disturbed: self.execution.log.disturbed.len(),
            text: at.call.text.as_str().into(),
        });
        result
    }

    /// Checks what a function of which nothing is known is given pointers to. A macro of a header that is missing may do nothing with its arguments.
    pub(super) fn check_all_handed(
        &mut self,
        at: &Invocation<'_>,
        state: &State,
        name: SymbolName,
    ) {
        if !self.arena.watches || at.is_undeclared() {
            return;
        }
        let name = Arc::new(name);
        let site = self.call_site(at, &name, state);
        for (argument, (arg, written)) in (0..).zip(at.args.iter().zip(&at.call.args)) {
            let Some(pointer) = arg.value() else { continue };
            if self.arena.formula.terms.width(pointer) == POINTER_BITS {
                let way = Way {
                    argument: Some(argument),
                    ..Way::default()
                };
                let within = names_member(at, written);
                self.check_handed(state, (pointer, within), Accessor::Callee(&site, way));
            }
        }
    }

    /// What nothing declares and nothing defines may be a macro of a header that is missing, or a function that it declares never to
    /// return: a variable that it gets may have another value behind it, if it is a constant before
    /// (`T *t = NULL; Data_Get_Struct(value, T, t);`), and control may not come back (`if (!t) rb_raise(…)`).
    pub(super) fn call_undeclared(&mut self, at: &Invocation<'_>, state: &mut State) {
        if !at.is_undeclared() {
            return;
        }
        let body = at.frame.body;
        self.note_may_end(state.guard, &at.args, false);
        for arg in &at.call.args {
            let Arg::Scalar(value) = *arg else { continue };
            let ExprKind::Load { addr, .. } = body.expr(value).kind else {
                continue;
            };
            let ExprKind::AddrLocal(local) = body.expr(addr).kind else {
                continue;
            };
            let before = self.eval(at.frame, state, value);
            if self.arena.formula.terms.as_const(before).is_some() {
                let loc = self.arena.local(at.frame.id, local);
                let shape = self.arena.local_shape(body.local(local));
                state.memory.havoc(&mut self.arena.heap(), loc, shape.bytes);
            }
        }
    }

    /// Notes a call behind which the program may have ended; `told`: see [`MayEnd::told`].
    pub(super) fn note_may_end(&mut self, guard: Guard, args: &[ArgValue], told: bool) {
        self.execution.log.may_end.push(MayEnd {
            guard,
            told,
            args: args.iter().filter_map(ArgValue::value).collect(),
            order: self.execution.log.ops.len(),
        });
    }

    pub(super) fn unknown_result(
        &mut self,
        at: &Invocation<'_>,
        state: &mut State,
    ) -> Option<Term> {
        match at.call.ret {
            RetTy::Void => None,
            RetTy::Scalar(ty) => {
                let origin = Origin::Call {
                    text: at.call.text.as_str().into(),
                    answer: 0,
                    outside: false,
                };
                Some(self.arena.call_result(state, ty.bits(), origin))
            }
            RetTy::Record { size } => {
                if let Some(dst) = at.call.dst {
                    let loc = self.arena.local(at.frame.id, dst);
                    state.memory.havoc(&mut self.arena.heap(), loc, size);
                }
                None
            }
        }
    }
}

/// Whether an argument is the address of a member, as it is written.
fn names_member(at: &Invocation<'_>, arg: &Arg) -> bool {
    let Arg::Scalar(mut written) = *arg else {
        return false;
    };
    let body = at.frame.body;
    while let ExprKind::Cast { arg } = body.expr(written).kind {
        written = arg;
    }
    matches!(body.expr(written).kind, ExprKind::Member { .. })
}
