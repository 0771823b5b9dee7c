//! A summary's names in the caller's terms: [[·]]args of paper §5.1.
//!
//! In: interface objects and expressions, the call site, a state. Out: addresses, values and guards.

use std::cell::RefCell;

use rustc_hash::FxHashMap;
use smallvec::SmallVec;

use super::null::leave_out;
use crate::ir::{POINTER_BITS, Ty};
use crate::summary::{Choice, Cube, IExpr, IObj, Offset, Root, Summary};
use crate::symbolic::callee::CallSite;
use crate::symbolic::exec::Executor;
use crate::symbolic::guard::Guard;
use crate::symbolic::naming::Index;
use crate::symbolic::origin::Origin;
use crate::symbolic::region::{Loc, NUMBER_BITS, RegionKind, SymbolicOffset};
use crate::symbolic::state::{Object, State, Status};
use crate::symbolic::term::Term;

pub(super) fn cube(exec: &mut Executor<'_>, cube: &Cube, predicates: &[Guard]) -> Guard {
    let mut guard = Guard::TRUE;
    for (wanted, &predicate) in cube.iter().zip(predicates) {
        guard = match wanted {
            None => guard,
            Some(true) => exec.arena.formula.guards.and(guard, predicate),
            Some(false) => exec.arena.formula.guards.and_not(guard, predicate),
        };
    }
    guard
}

/// How the caller gets to an object of the callee.
pub(super) struct Way {
    /// Where it lies, or the number that names it.
    pub to: Term,
    /// The pointers on the way.
    through: SmallVec<[Term; 4]>,
}

impl Way {
    /// The places that it leads to. What would be found through a null pointer is none: the callee has tested the pointer, or fails.
    pub(super) fn places(&self, exec: &mut Executor<'_>) -> Vec<(Guard, Loc)> {
        let mut places = exec.arena.locations(self.to).to_vec();
        for &pointer in &self.through {
            let null = exec.arena.chosen_null(pointer);
            if null != Guard::FALSE {
                leave_out(exec, null, &mut places);
            }
        }
        places
    }
}

/// Interface names bound to a call's arguments and result: [[·]]args of paper §5.1.
pub(super) struct Binding<'s, 'c> {
    pub site: &'s CallSite<'c>,
    /// The summary's unknowns, made up when first mentioned.
    unknowns: RefCell<FxHashMap<u32, Term>>,
    result: Option<Term>,
}

impl<'s, 'c> Binding<'s, 'c> {
    pub(super) fn new(site: &'s CallSite<'c>) -> Self {
        Binding {
            site,
            unknowns: RefCell::default(),
            result: None,
        }
    }

    /// The conditions over entry values.
    pub(super) fn inputs(
        &self,
        exec: &mut Executor<'_>,
        state: &mut State,
        summary: &Summary,
    ) -> Vec<Guard> {
        let inputs = summary.inputs.iter();
        inputs
            .map(|input| self.condition(exec, state, input))
            .collect()
    }

    /// A condition that cannot be evaluated here (a missing argument) is unknown.
    pub(super) fn condition(
        &self,
        exec: &mut Executor<'_>,
        state: &mut State,
        expr: &IExpr,
    ) -> Guard {
        match self.value(exec, state, expr) {
            Some(term) if exec.arena.formula.terms.width(term) == 1 => {
                exec.arena.guard_of(state, term)
            }
            _ => exec.arena.choice(),
        }
    }

    /// The paths on which a condition has the outcome; where nothing is known of it, some of them.
    pub(super) fn outcome(
        &self,
        exec: &mut Executor<'_>,
        state: &mut State,
        (condition, holds): &(IExpr, bool),
    ) -> Guard {
        self.condition(exec, state, condition).negated_if(!holds)
    }

    /// Those of the paths on which all of these conditions have their outcomes.
    pub(super) fn outcomes(
        &self,
        exec: &mut Executor<'_>,
        state: &mut State,
        paths: Guard,
        conditions: &[(IExpr, bool)],
    ) -> Guard {
        conditions.iter().fold(paths, |paths, condition| {
            let here = self.outcome(exec, state, condition);
            exec.arena.formula.guards.and(paths, here)
        })
    }

    /// The caller's value of what the function returns, known from now on.
    pub(super) fn returns(&mut self, result: Option<Term>) {
        self.result = result;
    }

    pub(super) fn result(&self) -> Option<Term> {
        self.result
    }

    pub(super) fn root(&self, root: &Root) -> Option<Term> {
        match root {
            Root::Param(index) => self.site.args.get(*index as usize)?.value(),
            Root::Return => self.result,
            Root::Global(_) | Root::Exit(_) | Root::Entry(_) => None,
        }
    }

    /// The first members that an argument is the address of, as the caller has them.
    pub(super) fn first_members(&self, root: &Root) -> Option<&'s str> {
        let Root::Param(index) = root else {
            return None;
        };
        let mut first = self.site.first_members.iter();
        let (_, names) = first.find(|(of, _)| of == index)?;
        Some(names)
    }

    /// The number that names an object.
    fn number(&self, exec: &mut Executor<'_>, state: &mut State, root: &Root) -> Option<Way> {
        let (number, through) = match root {
            Root::Exit(place) | Root::Entry(place) => {
                let way = self.way(exec, state, place, false)?;
                let (bits, signed) = (NUMBER_BITS, true);
                let number = exec.arena.peek(state, way.to, Ty::Int { bits, signed });
                (number, way.through)
            }
            root => (self.root(root)?, SmallVec::new()),
        };
        let to = exec.arena.resize(number, NUMBER_BITS);
        Some(Way { to, through })
    }

    /// Where an object lies, or the number that names it. `dereferenced`: execution dereferences the pointers on the way. What is only looked at may be null.
    pub(super) fn address(
        &self,
        exec: &mut Executor<'_>,
        state: &mut State,
        object: &IObj,
        dereferenced: bool,
    ) -> Option<Term> {
        let way = self.way(exec, state, object, dereferenced);
        way.map(|way| way.to)
    }

    /// [`Self::address`], with the pointers on the way.
    pub(super) fn way(
        &self,
        exec: &mut Executor<'_>,
        state: &mut State,
        object: &IObj,
        dereferenced: bool,
    ) -> Option<Way> {
        let Some((last, before)) = object.path.split_last() else {
            return self.number(exec, state, &object.root);
        };
        let mut through = SmallVec::new();
        let pointer_at = |exec: &mut Executor<'_>, state: &mut State, address| match dereferenced {
            true => exec.load(state, address, Ty::Ptr),
            false => exec.arena.peek(state, address, Ty::Ptr),
        };
        let mut at = match &object.root {
            Root::Global(name) => {
                let region = exec.arena.regions.region(RegionKind::Symbol(name.clone()));
                let loc = Loc {
                    region,
                    symbolic: SymbolicOffset::NONE,
                    offset: 0,
                };
                exec.arena
                    .regions
                    .address(&mut exec.arena.formula.terms, loc)
            }
            Root::Exit(pointer) => {
                let way = self.way(exec, state, pointer, dereferenced)?;
                through = way.through;
                pointer_at(exec, state, way.to)
            }
            root => self.root(root)?,
        };
        at = exec.arena.resize(at, POINTER_BITS);
        through.push(at);
        let mut first = self.first_members(&object.root);
        for offset in before {
            let address = self.offset(exec, state, at, offset)?;
            self.tell(exec, state, offset, address, (at, first));
            first = None;
            at = pointer_at(exec, state, address);
            through.push(at);
        }
        let to = self.offset(exec, state, at, last)?;
        self.tell(exec, state, last, to, (at, first));
        Some(Way { to, through })
    }

    fn offset(
        &self,
        exec: &mut Executor<'_>,
        state: &mut State,
        base: Term,
        offset: &Offset,
    ) -> Option<Term> {
        let mut sum = vec![(1, base)];
        for (coefficient, value) in &offset.terms {
            let value = self.value(exec, state, value)?;
            sum.push((
                u128::from(*coefficient as u64),
                exec.arena.resize(value, POINTER_BITS),
            ));
        }
        let constant = u128::from(offset.constant as u64);
        Some(
            exec.arena
                .formula
                .terms
                .linear(POINTER_BITS, constant, &sum),
        )
    }

    /// Notes what the callee calls a place that is so far from a pointer. An index of its own is told as the caller has it.
    fn tell(
        &self,
        exec: &mut Executor<'_>,
        state: &mut State,
        offset: &Offset,
        address: Term,
        (base, first): (Term, Option<&str>),
    ) {
        if let Some(member) = &offset.member.0 {
            exec.arena.note_member_told(address, member);
        }
        let Some(members) = &offset.members.0 else {
            return;
        };
        let index = match offset.terms.as_slice() {
            [] => None,
            [(size, index)] => match self.value(exec, state, index) {
                Some(index) => Some(Index {
                    value: exec.arena.resize(index, POINTER_BITS),
                    size: *size,
                    rest: offset.constant,
                }),
                None => return,
            },
            _ => return,
        };
        let first = first.unwrap_or_default();
        let names = &mut exec.arena.names;
        names.within(address, base, (first, members), index);
    }

    /// [`Self::address`] as guarded locations.
    pub(super) fn locate(
        &self,
        exec: &mut Executor<'_>,
        state: &mut State,
        object: &IObj,
    ) -> Vec<(Guard, Loc)> {
        let way = self.way(exec, state, object, false);
        way.map_or_else(Vec::new, |way| way.places(exec))
    }

    /// The paths on which a condition over entry values has the outcome; `None` if nothing is known of it.
    pub(super) fn holds(
        &self,
        exec: &mut Executor<'_>,
        state: &mut State,
        (condition, holds): &(IExpr, bool),
    ) -> Option<Guard> {
        let here = self.value(exec, state, condition)?;
        Some(exec.arena.guard_of(state, here).negated_if(!holds))
    }

    /// Whether a condition over entry values surely has the other outcome.
    pub(super) fn excludes(
        &self,
        exec: &mut Executor<'_>,
        state: &mut State,
        outcome: &(IExpr, bool),
    ) -> bool {
        let here = self.holds(exec, state, outcome);
        here.is_some_and(|here| exec.arena.formula.guards.excludes(state.guard, here))
    }

    pub(super) fn value(
        &self,
        exec: &mut Executor<'_>,
        state: &mut State,
        expr: &IExpr,
    ) -> Option<Term> {
        match expr {
            IExpr::Const { value, width } => {
                Some(exec.arena.formula.terms.constant(*value, *width))
            }
            IExpr::Value {
                object,
                width,
                narrow,
                pointer,
                ..
            } => {
                if object.path.is_empty() {
                    let value = self.root(&object.root)?;
                    return Some(exec.arena.resize(value, *width));
                }
                let address = self.address(exec, state, object, false)?;
                let ty = match narrow {
                    true => Ty::Ptr,
                    false => Ty::Int {
                        bits: *width,
                        signed: false,
                    },
                };
                let value = exec.arena.peek(state, address, ty);
                if pointer.0 {
                    exec.arena.names.pointer(value);
                    exec.arena.mark_pointer(value, 4);
                }
                Some(value)
            }
            IExpr::Unknown { id, width, choice } => {
                let mut unknowns = self.unknowns.borrow_mut();
                let origin = Origin::Call {
                    text: self.site.text.into(),
                    answer: id + 1,
                    outside: *choice == Choice::Outside,
                };
                let made = || {
                    let made = exec.arena.call_result(state, *width, origin);
                    if *choice == Choice::Link {
                        exec.arena.decides_link(made, exec.arena.called_at);
                    }
                    made
                };
                Some(*unknowns.entry(*id).or_insert_with(made))
            }
            IExpr::InState {
                object,
                machine,
                state: wanted,
            } => {
                let machine = exec.arena.machine(machine)?;
                let places = self.locate(exec, state, object);
                let [(_, loc)] = places[..] else { return None };
                let now = exec.arena.now(state, Object { loc, machine });
                Some(
                    exec.arena
                        .formula
                        .term_of(now.guard_of(Status::At(*wanted))),
                )
            }
            IExpr::Address(object) => self.address(exec, state, object, false),
            IExpr::Op { op, width, args } => {
                let mut terms: SmallVec<[Term; 3]> = SmallVec::new();
                for arg in args {
                    terms.push(self.value(exec, state, arg)?);
                }
                Some(exec.arena.formula.terms.op(*op, *width, &terms))
            }
            IExpr::Linear {
                width,
                constant,
                terms,
            } => {
                let mut sum = Vec::with_capacity(terms.len());
                for (coefficient, value) in terms {
                    sum.push((*coefficient, self.value(exec, state, value)?));
                }
                Some(exec.arena.formula.terms.linear(*width, *constant, &sum))
            }
        }
    }
}
