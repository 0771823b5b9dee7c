//! Values of the machine: bits that are known, or terms over inputs and other unknowns.
//!
//! In: operations of the IR on values. Out: values; a condition that is open is decided by [`crate::sat`] under the
//! path's conditions. An unknown is named by the thread that draws it and by how many that thread has drawn before, so
//! that it is the same in all interleavings (CBUGS §3.1: the input, and what `havoc` gives).

use std::rc::Rc;

use rustc_hash::{FxHashMap, FxHashSet};

use super::environment;
use super::memory::Byte;
use crate::ir::{BinOp, CmpOp, Ty, UnOp, fold};
use crate::sat::{Budget, Outcome, Session};
use crate::symbolic::formula::Formula;
use crate::symbolic::model::Model;
use crate::symbolic::term::{Node, Op, Term, Var};

/// A scalar: its width is known from where it is used.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Value {
    Bits(u128),
    Term(Term),
}

impl Value {
    pub const ZERO: Value = Value::Bits(0);

    pub fn known(self) -> Option<u128> {
        match self {
            Value::Bits(bits) => Some(bits),
            Value::Term(_) => None,
        }
    }
}

/// What an unknown is, and its width.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub struct Drawn {
    pub source: Source,
    pub width: u16,
}

/// Where an unknown comes from.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub enum Source {
    /// A thread draws it; with its number among those that it draws.
    Thread { thread: u32, number: u32 },
    /// It is the word that was at an address before anything ran.
    Before { addr: u64 },
}

/// What can be said of a condition.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Truth {
    Always,
    Never,
    Open,
}

/// All terms of an exploration, with the solver.
pub struct Values {
    pub formula: Formula,
    session: Session,
    named: FxHashMap<Drawn, Term>,
    names: FxHashMap<Var, Drawn>,
    /// Bytes of a pointer in memory.
    pointer: u8,
    /// Where the pointers lead to that were there before anything ran.
    objects: FxHashMap<Var, u64>,
    /// What was drawn before the first thread was made: the input of CBUGS §3.
    inputs: FxHashSet<Var>,
    /// The unknowns of terms.
    vars: FxHashMap<Term, Rc<[Var]>>,
    /// Conditions under which everything is explored: an input that was chosen, or inputs that are left out.
    pub given: Vec<Term>,
    /// The solver left a question open.
    pub unknown: bool,
    /// Conditions that the solver was asked about, with those that they depend on.
    asked: u64,
}

/// Steps that take as long as one condition of a question to the solver.
const STEPS_OF_CONDITION: u64 = 2;
/// Work of the solver ([`Budget::work`]) that takes as long as one step.
const WORK_OF_STEP: u64 = 5;

impl Values {
    /// For a target with pointers of so many bytes.
    pub fn new(pointer: u8) -> Values {
        Values {
            formula: Formula::new(),
            session: Session::new(Budget::default()),
            named: FxHashMap::default(),
            names: FxHashMap::default(),
            pointer,
            objects: FxHashMap::default(),
            inputs: FxHashSet::default(),
            vars: FxHashMap::default(),
            given: Vec::new(),
            unknown: false,
            asked: 0,
        }
    }

    /// The unknown of this name.
    pub fn draw(&mut self, drawn: Drawn, input: bool) -> Value {
        let term = match self.named.get(&drawn) {
            Some(&term) => term,
            None => {
                let (var, term) = self.formula.terms.fresh(drawn.width);
                self.named.insert(drawn, term);
                self.names.insert(var, drawn);
                if input {
                    self.inputs.insert(var);
                }
                term
            }
        };
        Value::Term(term)
    }

    /// The byte that was at an address before anything ran: part of a word as wide as a pointer, so that a pointer is one unknown.
    pub fn before(&mut self, addr: u64) -> Byte {
        let word = u64::from(self.pointer);
        let source = Source::Before {
            addr: addr - addr % word,
        };
        let width = u16::from(self.pointer) * 8;
        let index = u8::try_from(addr % word).unwrap_or(0);
        match self.draw(Drawn { source, width }, true) {
            Value::Term(term) => Byte::Part(term, index),
            Value::Bits(bits) => Byte::Known(bits.to_le_bytes()[usize::from(index)]),
        }
    }

    /// The address of the object that an unknown pointer leads to: another one for each unknown.
    pub fn object_of(&mut self, var: Var) -> u64 {
        let next = environment::object(self.objects.len() as u64, self.pointer);
        *self.objects.entry(var).or_insert(next)
    }

    /// The unknown that a term is, made as wide as values of pointers are.
    pub fn pointer_var(&self, term: Term) -> Option<Var> {
        let terms = &self.formula.terms;
        let width = u16::from(self.pointer) * 8;
        let is_pointer = |term: Term| match terms.node(term) {
            Node::Var(var) if terms.width(term) == width => Some(*var),
            _ => None,
        };
        match terms.node(term) {
            Node::Op {
                op: Op::Sext | Op::Zext,
                args,
            } => is_pointer(*args.first()?),
            _ => is_pointer(term),
        }
    }

    /// An address with a number in the place of the unknown pointer that it is computed from.
    pub fn placed(&mut self, term: Term, var: Var, addr: u64) -> Value {
        let node = self.formula.terms.node(term).clone();
        let Node::Linear { constant, terms } = node else {
            return Value::Bits(u128::from(addr));
        };
        let is_pointer =
            |(by, part): &(u128, Term)| *by == 1 && self.pointer_var(*part) == Some(var);
        let others: Vec<(u128, Term)> = terms
            .iter()
            .copied()
            .filter(|part| !is_pointer(part))
            .collect();
        let width = self.formula.terms.width(term);
        let constant = constant.wrapping_add(u128::from(addr));
        let sum = self.formula.terms.linear(width, constant, &others);
        self.value(sum)
    }

    /// The unknowns that a term depends on.
    pub fn vars(&mut self, term: Term) -> Rc<[Var]> {
        let formula = &self.formula;
        let known = self.vars.entry(term);
        Rc::clone(known.or_insert_with(|| formula.vars(term).into()))
    }

    pub fn is_input(&self, var: Var) -> bool {
        self.inputs.contains(&var)
    }

    /// The inputs, in the order in which they are drawn.
    pub fn inputs(&self) -> Vec<(Drawn, Var)> {
        let mut inputs: Vec<(Drawn, Var)> = self
            .inputs
            .iter()
            .filter_map(|var| Some((*self.names.get(var)?, *var)))
            .collect();
        inputs.sort_unstable();
        inputs
    }

    pub fn term(&mut self, value: Value, width: u16) -> Term {
        match value {
            Value::Bits(bits) => self.formula.terms.constant(bits, width),
            Value::Term(term) => {
                let has = self.formula.terms.width(term);
                if has > width {
                    self.formula.terms.extract(term, 0, width)
                } else if has < width {
                    self.formula.terms.zext(term, width)
                } else {
                    term
                }
            }
        }
    }

    /// A term as a value.
    pub fn value(&self, term: Term) -> Value {
        match self.formula.terms.as_const(term) {
            Some(bits) => Value::Bits(bits),
            None => Value::Term(term),
        }
    }

    pub fn unary(&mut self, op: UnOp, value: Value, ty: Ty) -> Option<Value> {
        if let Value::Bits(bits) = value {
            return fold::unary(op, bits, ty).map(|bits| Value::Bits(fold::truncate(bits, ty)));
        }
        if matches!(ty, Ty::Float { .. }) {
            return None;
        }
        let term = self.term(value, ty.bits());
        let term = match op {
            UnOp::Neg => self.formula.terms.neg(term),
            UnOp::Not => self.formula.terms.not(term),
        };
        Some(self.value(term))
    }

    /// `None` where the result is not computed here; a division by zero is for the caller to see.
    pub fn binary(&mut self, op: BinOp, ty: Ty, l: Value, right: Ty, r: Value) -> Option<Value> {
        if let (Value::Bits(l), Value::Bits(r)) = (l, r) {
            return fold::binary(op, ty, l, right, r)
                .map(|bits| Value::Bits(fold::truncate(bits, ty)));
        }
        if matches!(ty, Ty::Float { .. }) || matches!(right, Ty::Float { .. }) {
            return None;
        }
        let width = ty.bits();
        let (l, r) = (self.term(l, width), self.term(r, width));
        let signed = ty.signed();
        let op = match op {
            BinOp::Add => return Some(self.sum(l, r)),
            BinOp::Sub => {
                let term = self.formula.terms.sub(l, r);
                return Some(self.value(term));
            }
            BinOp::Mul => Op::Mul,
            BinOp::Div if signed => Op::Sdiv,
            BinOp::Div => Op::Udiv,
            BinOp::Rem if signed => Op::Srem,
            BinOp::Rem => Op::Urem,
            BinOp::And => Op::And,
            BinOp::Or => Op::Or,
            BinOp::Xor => Op::Xor,
            BinOp::Shl => Op::Shl,
            BinOp::Shr if signed => Op::Ashr,
            BinOp::Shr => Op::Lshr,
        };
        let term = self.formula.terms.op(op, width, &[l, r]);
        Some(self.value(term))
    }

    fn sum(&mut self, l: Term, r: Term) -> Value {
        let term = self.formula.terms.add(l, r);
        self.value(term)
    }

    /// 0 or 1 as `int`.
    pub fn compare(&mut self, op: CmpOp, ty: Ty, l: Value, r: Value) -> Option<Value> {
        if let (Value::Bits(l), Value::Bits(r)) = (l, r) {
            return fold::compare(op, ty, l, r).map(|truth| Value::Bits(u128::from(truth)));
        }
        if matches!(ty, Ty::Float { .. }) {
            return None;
        }
        let (l, r) = (self.term(l, ty.bits()), self.term(r, ty.bits()));
        let terms = &mut self.formula.terms;
        let truth = match (op, ty.signed()) {
            (CmpOp::Eq, _) => terms.eq(l, r),
            (CmpOp::Ne, _) => {
                let same = terms.eq(l, r);
                terms.not(same)
            }
            (CmpOp::Lt, true) => terms.slt(l, r),
            (CmpOp::Lt, false) => terms.ult(l, r),
            (CmpOp::Le, true) => terms.sle(l, r),
            (CmpOp::Le, false) => terms.ule(l, r),
            (CmpOp::Gt, true) => terms.slt(r, l),
            (CmpOp::Gt, false) => terms.ult(r, l),
            (CmpOp::Ge, true) => terms.sle(r, l),
            (CmpOp::Ge, false) => terms.ule(r, l),
        };
        let wide = terms.zext(truth, Ty::INT.bits());
        Some(self.value(wide))
    }

    pub fn cast(&mut self, value: Value, from: Ty, to: Ty) -> Option<Value> {
        if let Value::Bits(bits) = value {
            return fold::cast(bits, from, to).map(|bits| Value::Bits(fold::truncate(bits, to)));
        }
        let floats = [from, to].map(|ty| matches!(ty, Ty::Float { .. }));
        if floats != [false, false] {
            return (from == to).then_some(value);
        }
        let term = self.term(value, from.bits());
        let terms = &mut self.formula.terms;
        let term = if to.bits() <= from.bits() {
            terms.extract(term, 0, to.bits())
        } else if from.signed() {
            terms.sext(term, to.bits())
        } else {
            terms.zext(term, to.bits())
        };
        Some(self.value(term))
    }

    /// `base + index * scale + offset` as an address.
    pub fn displaced(&mut self, base: Value, index: Value, scale: u64, offset: u64) -> Value {
        if let (Value::Bits(base), Value::Bits(index)) = (base, index) {
            let step = index.wrapping_mul(u128::from(scale));
            let sum = base.wrapping_add(step).wrapping_add(u128::from(offset));
            return Value::Bits(sum & u128::from(u64::MAX));
        }
        let (base, index) = (self.term(base, 64), self.term(index, 64));
        let parts = [(1, base), (u128::from(scale), index)];
        let term = self.formula.terms.linear(64, u128::from(offset), &parts);
        self.value(term)
    }

    pub fn select(&mut self, cond: Value, ty: Ty, then: Value, els: Value, of: Ty) -> Value {
        match cond {
            Value::Bits(0) => els,
            Value::Bits(_) => then,
            Value::Term(_) => {
                let holds = self.holds(cond, ty);
                let (then, els) = (self.term(then, of.bits()), self.term(els, of.bits()));
                let term = self.formula.terms.ite(holds, then, els);
                self.value(term)
            }
        }
    }

    /// The term of width 1 that says that a value is not 0.
    pub fn holds(&mut self, value: Value, ty: Ty) -> Term {
        let term = self.term(value, ty.bits());
        let zero = self.formula.terms.constant(0, ty.bits());
        let same = self.formula.terms.eq(term, zero);
        self.formula.terms.not(same)
    }

    /// The term of width 1 that says that a value is this number.
    pub fn is(&mut self, value: Value, width: u16, number: u128) -> Term {
        let term = self.term(value, width);
        let number = self.formula.terms.constant(number, width);
        self.formula.terms.eq(term, number)
    }

    /// Byte `index` of a term.
    pub fn byte(&mut self, term: Term, index: u8) -> Term {
        let low = u16::from(index) * 8;
        let width = self.formula.terms.width(term);
        if low >= width {
            return self.formula.terms.constant(0, 8);
        }
        let has = (width - low).min(8);
        let part = self.formula.terms.extract(term, low, has);
        self.formula.terms.zext(part, 8)
    }

    /// Bytes put together, the lowest first.
    pub fn joined(&mut self, bytes: &[Term]) -> Value {
        let mut bytes = bytes.iter();
        let Some(&first) = bytes.next() else {
            return Value::ZERO;
        };
        let whole = bytes.fold(first, |low, &high| self.formula.terms.concat(high, low));
        self.value(whole)
    }

    /// Whether a condition can hold under others.
    pub fn possible(&mut self, path: &[Term], cond: Term) -> bool {
        match self.check(path, cond) {
            Outcome::Sat(_) => true,
            Outcome::Unsat => false,
            Outcome::Unknown => {
                self.unknown = true;
                true
            }
        }
    }

    fn check(&mut self, path: &[Term], cond: Term) -> Outcome {
        let mut terms: Vec<Term> = Vec::with_capacity(self.given.len() + path.len() + 1);
        terms.extend(&self.given);
        terms.extend(path);
        terms.push(cond);
        self.session.check(&mut self.formula, &[], &terms)
    }

    /// The conditions that another one depends on by way of common unknowns: the path is possible, so that the others say nothing of it.
    fn related(&mut self, path: &[Term], cond: Term) -> Vec<Term> {
        let mut live: FxHashSet<Var> = self.vars(cond).iter().copied().collect();
        let mut related = Vec::new();
        let mut open: Vec<Term> = path.to_vec();
        loop {
            let before = open.len();
            open.retain(|&other| {
                let vars = self.vars(other);
                let bears = vars.iter().any(|var| live.contains(var));
                if bears {
                    live.extend(vars.iter());
                    related.push(other);
                }
                !bears
            });
            if open.len() == before {
                return related;
            }
        }
    }

    /// What questions to the solver have taken, in steps of the machine.
    pub fn effort(&self) -> u64 {
        self.asked * STEPS_OF_CONDITION + self.session.queries.work / WORK_OF_STEP
    }

    /// What the path's conditions say of another.
    pub fn truth(&mut self, path: &[Term], cond: Term) -> Truth {
        match self.formula.terms.as_const(cond) {
            Some(0) => return Truth::Never,
            Some(_) => return Truth::Always,
            None => {}
        }
        let path = &self.related(path, cond);
        self.asked += 1 + path.len() as u64;
        let not = self.formula.terms.not(cond);
        match (self.possible(path, cond), self.possible(path, not)) {
            (true, true) => Truth::Open,
            (false, _) => Truth::Never,
            (true, false) => Truth::Always,
        }
    }

    /// Values of the unknowns under which all conditions hold.
    pub fn model(&mut self, path: &[Term]) -> Option<Model> {
        match self.check(path, Term::TRUE) {
            Outcome::Sat(model) => Some(model.as_ref().clone()),
            Outcome::Unsat => None,
            Outcome::Unknown => {
                self.unknown = true;
                None
            }
        }
    }

    /// A number that a value has under the path's conditions.
    pub fn example(&mut self, path: &[Term], value: Value) -> Option<u128> {
        match value {
            Value::Bits(bits) => Some(bits),
            Value::Term(term) => {
                let model = self.model(path)?;
                Some(model.eval(&self.formula, term))
            }
        }
    }

    /// Puts the values of a model in the place of unknowns that are no inputs, and says under which inputs the
    /// conditions then hold: `pre(Determine(t), true)` (CBUGS §3.4).
    pub fn determined(&mut self, path: &[Term], model: &Model) -> Term {
        let mut known: FxHashMap<Term, Term> = FxHashMap::default();
        for &cond in path {
            for &var in self.vars(cond).iter() {
                if !self.is_input(var) {
                    let terms = &mut self.formula.terms;
                    let value = terms.constant(model.value(var), terms.var_width(var));
                    known.insert(terms.var_term(var), value);
                }
            }
        }
        let mut all = Term::TRUE;
        for &cond in path {
            let part = self.replaced(cond, &mut known);
            all = self.formula.terms.and(all, part);
        }
        all
    }

    /// A term with others in the place of some that it is made of: `known` says which, and gets what was replaced.
    pub fn replaced(&mut self, root: Term, known: &mut FxHashMap<Term, Term>) -> Term {
        let mut stack = vec![root];
        while let Some(&term) = stack.last() {
            if known.contains_key(&term) {
                stack.pop();
                continue;
            }
            let operands = self.formula.terms.operands(term);
            let open: Vec<Term> = operands
                .iter()
                .copied()
                .filter(|part| !known.contains_key(part))
                .collect();
            if !open.is_empty() {
                stack.extend(open);
                continue;
            }
            let width = self.formula.terms.width(term);
            let new = match self.formula.terms.node(term).clone() {
                Node::Const(_) | Node::Guard(_) | Node::Var(_) => term,
                Node::Op { op, args } => {
                    let args: Vec<Term> = args.iter().map(|arg| known[arg]).collect();
                    self.formula.terms.op(op, width, &args)
                }
                Node::Linear { constant, terms } => {
                    let parts: Vec<(u128, Term)> =
                        terms.iter().map(|(by, part)| (*by, known[part])).collect();
                    self.formula.terms.linear(width, constant, &parts)
                }
            };
            known.insert(term, new);
            stack.pop();
        }
        known.get(&root).copied().unwrap_or(root)
    }
}
