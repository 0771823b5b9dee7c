//! From the executor's names to interface names: [[·]]⁻¹args of paper §5.1.
//!
//! In: locations and terms of a finished execution. Out: interface objects and expressions over entry
//! values, where they can be named from parameters and globals.

use std::rc::Rc;

use rustc_hash::FxHashMap;

use super::handles::{Handle, from_output};
use super::infer::Exit;
use super::{Choice, IExpr, IObj, Offset, Root, Told, When};
use crate::ir::Ty;
use crate::symbolic::arena::Arena;
use crate::symbolic::class::Class;
use crate::symbolic::guard::Guard;
use crate::symbolic::memory::Memory;
use crate::symbolic::naming::{self, Named};
use crate::symbolic::origin::Origin;
use crate::symbolic::region::{Loc, NUMBER_BITS, RegionId, RegionKind};
use crate::symbolic::term::{Node, Op, Term, Var};

/// Conditions with more nodes are not kept in summaries.
const MAX_NODES: u32 = 24;
/// Values with more nodes are left unknown from there on.
const MAX_VALUE_NODES: u32 = 64;
/// A place whose array indices have more nodes than this has no name in a summary of what happens to memory: callers hardly ever compute such
/// an index themselves, and each such place costs them conditions.
const MAX_INDEX_NODES: u32 = 8;
/// Pointers followed from a root.
const MAX_PATH: usize = 6;

/// Names the objects and terms of one finished execution.
pub struct Converter {
    /// What was converted before for which paths, with the nodes it took; `None` for what has no name.
    exprs: FxHashMap<(Term, Guard), Option<(IExpr, u32)>>,
    /// Whether what has no name may stand in an expression as unknown.
    unknowns: bool,
    /// Whether of what is too large as a whole the conditions are told that fit.
    in_part: bool,
    /// The paths that the values are told for.
    paths: Guard,
    handles: Rc<[Handle]>,
    /// What is in memory where the function returns.
    memory: Option<Memory>,
}

impl Converter {
    pub fn new(exit: &Exit<'_>) -> Self {
        Converter {
            handles: exit.handles.clone(),
            memory: Some(exit.state.memory.clone()),
            ..Converter::of_entry()
        }
    }

    /// A converter for what the caller can name before the call.
    pub fn of_entry() -> Self {
        Converter {
            exprs: FxHashMap::default(),
            unknowns: false,
            in_part: false,
            paths: Guard::TRUE,
            handles: Rc::new([]),
            memory: None,
        }
    }

    /// A converter that leaves what has no name in an expression, or would make it too large, as
    /// unknown. `err ? err : 0` for a callee's `err` says that the result is 0 or that other unknown,
    /// and what else depends on `err` has the same. The values are told for these paths only.
    pub fn with_unknowns(self, paths: Guard) -> Self {
        Converter {
            exprs: FxHashMap::default(),
            unknowns: true,
            paths,
            ..self
        }
    }

    /// A converter with unknowns that tells of a large value what fits: the values that can be chosen, and the conditions that are
    /// decided first.
    pub fn in_part(self) -> Self {
        let paths = self.paths;
        Converter {
            in_part: true,
            ..self.with_unknowns(paths)
        }
    }

    /// The interface object at a location.
    pub fn object(&mut self, arena: &mut Arena<'_>, loc: Loc) -> Option<IObj> {
        self.named(arena, loc).map(|(object, _)| object)
    }

    /// The paths on which the name that [`Self::object`] gives a location leads there.
    pub fn reach(&mut self, arena: &mut Arena<'_>, loc: Loc) -> Guard {
        self.named(arena, loc)
            .map_or(Guard::TRUE, |(_, reach)| reach)
    }

    fn named(&mut self, arena: &mut Arena<'_>, loc: Loc) -> Option<(IObj, Guard)> {
        let mut budget = MAX_NODES;
        self.object_within(arena, loc, MAX_PATH, &mut budget)
    }

    /// A name from a parameter or a global if that is a simple one, else from an output pointer that leads there; and
    /// the paths on which it does.
    fn object_within(
        &mut self,
        arena: &mut Arena<'_>,
        loc: Loc,
        steps: usize,
        budget: &mut u32,
    ) -> Option<(IObj, Guard)> {
        let entry = self.object_on_entry(arena, loc, steps, budget);
        let simple = |object: &IObj| {
            !object.root.is_output() && object.path.iter().all(|step| step.terms.is_empty())
        };
        if entry.as_ref().is_some_and(|(object, _)| simple(object)) {
            return entry;
        }
        from_output(&self.handles, arena, loc).or(entry)
    }

    fn object_on_entry(
        &mut self,
        arena: &mut Arena<'_>,
        loc: Loc,
        steps: usize,
        budget: &mut u32,
    ) -> Option<(IObj, Guard)> {
        let steps = steps.checked_sub(1)?;
        if let RegionKind::Value { of } = *arena.regions.kind(loc.region) {
            return self.number_on_entry(arena, of, steps, budget);
        }
        let offset = self.offset(arena, loc, budget)?;
        let root = |root: Root| {
            let path = Vec::new();
            (IObj { root, path }, Guard::TRUE)
        };
        let (mut object, reach) = match arena.regions.kind(loc.region).clone() {
            RegionKind::Symbol(name) => root(Root::Global(name)),
            RegionKind::Environment { base } => {
                let Node::Var(var) = *arena.formula.terms.node(base) else {
                    return None;
                };
                match arena.origins.of(var).clone() {
                    Origin::Param(index) => root(Root::Param(index)),
                    Origin::Initial { loc: pointer, size } if size == arena.pointer_size => {
                        let holder = self.object_within(arena, pointer, steps, budget)?;
                        // Who looks there behind the call finds another pointer.
                        let output = holder.0.root.is_output();
                        if output && self.is_overwritten(arena, pointer, base) {
                            return None;
                        }
                        holder
                    }
                    _ => return None,
                }
            }
            _ => return None,
        };
        object.path.push(told(arena, offset, loc));
        Some((object, reach))
    }

    /// Whether a pointer that was somewhere is not there any more, on some paths at least, where the function returns.
    fn is_overwritten(&self, arena: &mut Arena<'_>, place: Loc, pointer: Term) -> bool {
        let Some(memory) = &self.memory else {
            return false;
        };
        let shape = arena.shape(Ty::Ptr);
        memory.read(&mut arena.heap(), place, shape) != pointer
    }

    /// What a number names that is an argument, or was in memory on entry.
    fn number_on_entry(
        &mut self,
        arena: &mut Arena<'_>,
        number: Term,
        steps: usize,
        budget: &mut u32,
    ) -> Option<(IObj, Guard)> {
        let number = match arena.formula.terms.node(number) {
            // `(int)(intptr_t)data`.
            Node::Op {
                op: Op::Extract { lo: 0 },
                args,
            } => args[0],
            _ => number,
        };
        let Node::Var(var) = *arena.formula.terms.node(number) else {
            return None;
        };
        let (root, reach) = match arena.origins.of(var).clone() {
            Origin::Param(index) => (Root::Param(index), Guard::TRUE),
            Origin::Initial { loc, size } if size == u64::from(NUMBER_BITS / 8) => {
                let (place, reach) = self.object_within(arena, loc, steps, budget)?;
                let known = !place.root.is_output();
                (known.then(|| Root::Entry(Box::new(place)))?, reach)
            }
            _ => return None,
        };
        let path = Vec::new();
        Some((IObj { root, path }, reach))
    }

    /// The paths on which an output pointer leads to a location, or to a pointer there.
    pub fn output_paths(&mut self, arena: &mut Arena<'_>, loc: Loc) -> Guard {
        let mut paths = match self.named(arena, loc) {
            Some((object, reach)) if object.root.is_output() => reach,
            _ => Guard::FALSE,
        };
        for handle in &*self.handles {
            for &(guard, place) in &*arena.locations(handle.pointer) {
                if (place.region, place.symbolic) == (loc.region, loc.symbolic) {
                    paths = arena.formula.guards.or(paths, guard);
                }
            }
        }
        paths
    }

    /// Where the output pointers to just this location are left; `None` stands for the result.
    pub fn pointers_to(&self, arena: &mut Arena<'_>, loc: Loc) -> Vec<Option<Loc>> {
        self.left_where(arena, |place| place == loc)
    }

    /// The same for output pointers anywhere into a region.
    pub fn pointers_into(&self, arena: &mut Arena<'_>, region: RegionId) -> Vec<Option<Loc>> {
        self.left_where(arena, |place| place.region == region)
    }

    fn left_where(&self, arena: &mut Arena<'_>, wanted: impl Fn(Loc) -> bool) -> Vec<Option<Loc>> {
        let here = |handle: &&Handle| {
            let places = arena.locations(handle.pointer);
            places.iter().any(|(_, place)| wanted(*place))
        };
        let handles = self.handles.iter().filter(here);
        handles.map(|handle| handle.left).collect()
    }

    /// The object's class, that of the member that it is if it lies in a global, or by which the source names it where it is one of
    /// several (none if it has no class else), and those of the pointers to it that the function leaves.
    pub fn classes(&self, arena: &mut Arena<'_>, loc: Loc) -> Vec<Class> {
        let mut classes: Vec<Class> = arena.class_of(loc).into_iter().collect();
        let chosen = arena.class_by_choice(loc).filter(|_| !classes.is_empty());
        for member in [arena.member_class(loc), chosen] {
            classes.extend(member.filter(|member| !classes.contains(member)));
        }
        for pointer in self.pointers_to(arena, loc) {
            let pointer = pointer.and_then(|loc| arena.class_of(loc));
            classes.extend(pointer.map(Class::pointed_to));
        }
        classes
    }

    /// An object's name in the function's source. What an output pointer leads to is named from where the caller
    /// finds the pointer.
    pub fn name(&self, arena: &mut Arena<'_>, object: &IObj, loc: Loc) -> String {
        let name = arena.name_of(loc);
        let handle = self
            .handles
            .iter()
            .find(|handle| handle.root == object.root);
        let Some(handle) = handle else { return name };
        for &(_, place) in arena.locations(handle.pointer).iter() {
            let pointer = arena.regions.address(&mut arena.formula.terms, place);
            let inside = arena.name_of_value(pointer);
            if let Some(outside) = naming::through_call(&name, &inside, &handle.name) {
                return outside;
            }
        }
        if object.path.is_empty() {
            return handle.name.clone();
        }
        let inside = arena.name_of_value(handle.pointer);
        naming::through_call(&name, &inside, &handle.name).unwrap_or(name)
    }

    fn offset(&mut self, arena: &mut Arena<'_>, loc: Loc, budget: &mut u32) -> Option<Offset> {
        let before = *budget;
        let mut terms = Vec::new();
        for (coefficient, term) in arena.regions.symbolic(loc.symbolic).to_vec() {
            let value = self.expr_within(arena, term, budget)?;
            if mentions_unknown(&value) {
                return None;
            }
            terms.push((coefficient, value));
        }
        if arena.watches && before - *budget > MAX_INDEX_NODES {
            return None;
        }
        terms.sort();
        Some(Offset {
            constant: loc.offset,
            terms,
            ..Offset::default()
        })
    }

    /// A term over entry values, and unknowns if this converter leaves any.
    pub fn expr(&mut self, arena: &mut Arena<'_>, term: Term) -> Option<IExpr> {
        let mut budget = match self.unknowns {
            true => MAX_VALUE_NODES,
            false => MAX_NODES,
        };
        self.expr_within(arena, term, &mut budget)
    }

    fn expr_within(
        &mut self,
        arena: &mut Arena<'_>,
        term: Term,
        budget: &mut u32,
    ) -> Option<IExpr> {
        let key = (term, self.paths);
        if let Some(known) = self.exprs.get(&key) {
            let (expr, nodes) = known.as_ref()?;
            *budget = budget.checked_sub(*nodes)?;
            return Some(expr.clone());
        }
        let before = *budget;
        let converted = match budget.checked_sub(1) {
            Some(left) => {
                *budget = left;
                self.convert(arena, term, budget)
            }
            None => None,
        };
        let converted = converted.or_else(|| self.unknown(arena, term));
        // That the budget is spent says nothing about the parts of the term.
        let whole = match self.unknowns {
            true => *budget > 0,
            false => converted.is_some() || *budget > 0,
        };
        if whole {
            let nodes = before - *budget;
            self.exprs
                .insert(key, converted.clone().map(|expr| (expr, nodes)));
        }
        converted
    }

    fn convert(&mut self, arena: &mut Arena<'_>, term: Term, budget: &mut u32) -> Option<IExpr> {
        let width = arena.formula.terms.width(term);
        match arena.formula.terms.node(term).clone() {
            Node::Const(value) => {
                let region = arena
                    .regions
                    .locate(&arena.formula.terms, term)
                    .filter(|_| width == crate::ir::POINTER_BITS)
                    .map(|loc| (loc, arena.regions.kind(loc.region).clone()));
                match region {
                    Some((loc, RegionKind::Symbol(_))) => Some(IExpr::Address(
                        self.object_within(arena, loc, MAX_PATH, budget)?.0,
                    )),
                    Some((_, RegionKind::Local { .. } | RegionKind::String(_))) => None,
                    _ => Some(IExpr::Const { value, width }),
                }
            }
            Node::Var(var) => self.variable(arena, term, var, budget),
            // The values that can be chosen matter more than the condition, but for what is left of it when they are large.
            Node::Op { op: Op::Ite, args } => {
                let reserved = match self.in_part {
                    true => *budget / 3,
                    false => 0,
                };
                *budget -= reserved;
                let then = self.operand(arena, args[1], (args[0], true), budget)?;
                let els = self.operand(arena, args[2], (args[0], false), budget)?;
                *budget += reserved;
                let condition = self.expr_within(arena, args[0], budget)?;
                Some(match condition {
                    IExpr::Const { value: 1, .. } => then,
                    IExpr::Const { .. } => els,
                    condition => IExpr::either(condition, [then, els]),
                })
            }
            Node::Op { op: Op::Not, args } if width == 1 => {
                let negated = self.expr_within(arena, args[0], budget)?;
                Some(IExpr::choice(negated, [false, true].map(IExpr::truth)))
            }
            Node::Op { op, args } if width == 1 && matches!(op, Op::And | Op::Or) => {
                // The second one matters where the first does not decide.
                let first = self.expr_within(arena, args[0], budget)?;
                let second = self.operand(arena, args[1], (args[0], op == Op::And), budget)?;
                let sides = match op {
                    Op::And => [second, IExpr::truth(false)],
                    _ => [IExpr::truth(true), second],
                };
                Some(IExpr::choice(first, sides))
            }
            Node::Op { op, args } => {
                let mut converted = Vec::with_capacity(args.len());
                for arg in args {
                    converted.push(self.expr_within(arena, arg, budget)?);
                }
                Some(IExpr::Op {
                    op,
                    width,
                    args: converted,
                })
            }
            Node::Linear { constant, terms } => {
                let mut converted = Vec::with_capacity(terms.len());
                for (coefficient, part) in terms {
                    converted.push((coefficient, self.expr_within(arena, part, budget)?));
                }
                // The constant may be where the program keeps something.
                let number = arena.formula.terms.constant(constant, width);
                let number = self.expr_within(arena, number, budget)?;
                let constant = match number {
                    IExpr::Const { value, .. } => value,
                    address => {
                        converted.push((1, address));
                        0
                    }
                };
                Some(IExpr::Linear {
                    width,
                    constant,
                    terms: converted,
                })
            }
            Node::Guard(guard) => {
                let guard = arena.formula.guards.simplified_on(guard, self.paths);
                self.guard(arena, guard, budget)
            }
        }
    }

    /// An operand that matters only where a condition has a value.
    fn operand(
        &mut self,
        arena: &mut Arena<'_>,
        operand: Term,
        (condition, value): (Term, bool),
        budget: &mut u32,
    ) -> Option<IExpr> {
        let outer = self.paths;
        if outer != Guard::TRUE
            && let Some(condition) = arena.formula.known_guard(condition)
        {
            let holds = condition.negated_if(!value);
            self.paths = arena.formula.guards.narrowed(outer, holds);
        }
        let converted = self.expr_within(arena, operand, budget);
        self.paths = outer;
        converted
    }

    /// The unknown that stands for a term without a name, the same at each occurrence.
    fn unknown(&self, arena: &Arena<'_>, term: Term) -> Option<IExpr> {
        let choice = || match arena.is_from_outside(term) {
            true => Choice::Outside,
            false if arena.is_link(term) => Choice::Link,
            false if arena.nullable.contains_key(&term) => Choice::MayBeNull,
            false => Choice::Any,
        };
        self.unknowns.then(|| IExpr::Unknown {
            id: term.index() as u32,
            width: arena.formula.terms.width(term),
            choice: choice(),
        })
    }

    /// A variable that stands for an entry value.
    fn variable(
        &mut self,
        arena: &mut Arena<'_>,
        term: Term,
        var: Var,
        budget: &mut u32,
    ) -> Option<IExpr> {
        let width = arena.formula.terms.width(term);
        let pointer = Told(arena.is_told_pointer(term, 0));
        let mut narrow = false;
        let object = match arena.origins.of(var).clone() {
            Origin::Param(index) => IObj {
                root: Root::Param(index),
                path: Vec::new(),
            },
            Origin::Initial { loc, size } => {
                narrow = size * 8 < u64::from(width);
                self.object_within(arena, loc, MAX_PATH, budget)?.0
            }
            Origin::State { object, state } => {
                let machine = arena.machine_of(object).name.clone();
                let object = self.object_within(arena, object.loc, MAX_PATH, budget)?.0;
                return (!object.root.is_output()).then_some(IExpr::InState {
                    object,
                    machine,
                    state,
                });
            }
            Origin::Call { .. } | Origin::Unknown => return None,
        };
        (!object.root.is_output()).then_some(IExpr::Value {
            object,
            width,
            when: When::Entry,
            narrow,
            pointer,
        })
    }

    /// One side of a choice; what does not fit any more is unknown, so that the conditions above it are told all the same.
    fn branch(&mut self, arena: &mut Arena<'_>, guard: Guard, budget: &mut u32) -> Option<IExpr> {
        let whole = self.guard(arena, guard, budget);
        if whole.is_some() || !self.in_part {
            return whole;
        }
        let term = arena.formula.term_of(guard);
        self.unknown(arena, term)
    }

    /// A guard as nested choices over its conditions (Shannon expansion).
    fn guard(&mut self, arena: &mut Arena<'_>, guard: Guard, budget: &mut u32) -> Option<IExpr> {
        if guard == Guard::TRUE || guard == Guard::FALSE {
            return Some(IExpr::truth(guard == Guard::TRUE));
        }
        *budget = budget.checked_sub(1)?;
        let first = *arena.formula.guards.support(guard).first()?;
        let then = arena.formula.guards.restrict(guard, &[(first, true)]);
        let els = arena.formula.guards.restrict(guard, &[(first, false)]);
        let term = arena.formula.cond_term(first);
        let cond = self.expr_within(arena, term, budget)?;
        let then = self.branch(arena, then, budget)?;
        let els = self.branch(arena, els, budget)?;
        Some(IExpr::choice(cond, [then, els]))
    }
}

/// An offset with what the source calls it.
fn told(arena: &mut Arena<'_>, offset: Offset, loc: Loc) -> Offset {
    let members = arena.members_of(loc, Named::Scalar);
    Offset {
        members: Told(members.map(Into::into)),
        member: Told(arena.member_of(loc).cloned()),
        ..offset
    }
}

fn mentions_unknown(expr: &IExpr) -> bool {
    match expr {
        IExpr::Unknown { .. } => true,
        // The offsets in an object's path are never unknown.
        IExpr::Const { .. } | IExpr::Value { .. } | IExpr::InState { .. } | IExpr::Address(_) => {
            false
        }
        IExpr::Op { args, .. } => args.iter().any(mentions_unknown),
        IExpr::Linear { terms, .. } => terms.iter().any(|(_, part)| mentions_unknown(part)),
    }
}
