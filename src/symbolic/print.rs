//! Terms and guards as text, for `cassini debug terms`.

use super::formula::Formula;
use super::guard::Guard;
use super::origin::{Origin, Origins};
use super::term::{Node, Op, Term, Var};

/// Deeper parts of a term are cut.
const MAX_DEPTH: u32 = 12;

/// Deeper guards are cut, which may have hundreds of conditions each.
const MAX_GUARDS: u32 = 1;

/// Prints terms of one execution.
pub struct Printer<'a> {
    pub formula: &'a Formula,
    pub origins: &'a Origins,
}

impl Printer<'_> {
    pub fn term(&self, term: Term) -> String {
        self.term_at(term, 0)
    }

    /// A guard as nested choices over its conditions.
    pub fn guard(&self, guard: Guard) -> String {
        self.guard_at(guard, 0)
    }

    /// What a condition stands for may be a guard again, so that the depth goes on.
    fn guard_at(&self, guard: Guard, depth: u32) -> String {
        if guard == Guard::TRUE {
            return "true".into();
        }
        if guard == Guard::FALSE {
            return "false".into();
        }
        let conditions: Vec<String> = self
            .formula
            .guards
            .support(guard)
            .iter()
            .map(|&condition| self.term_at(self.formula.cond_term(condition), depth))
            .collect();
        match self.formula.guards.as_literal(guard) {
            Some((_, true)) => conditions.join(", "),
            Some((_, false)) => format!("!({})", conditions.join(", ")),
            None => format!("f({})", conditions.join(", ")),
        }
    }

    fn var(&self, var: Var) -> String {
        match self.origins.of(var) {
            Origin::Param(index) => format!("param{index}"),
            Origin::Initial { loc, size } => {
                let symbolic = if loc.symbolic == super::region::SymbolicOffset::NONE {
                    ""
                } else {
                    "+…"
                };
                format!("entry({:?}{:+}{symbolic}:{size})", loc.region, loc.offset)
            }
            Origin::State { object, state } => {
                format!("{:?} in state {}", object.loc.region, state.0)
            }
            Origin::Call { text, .. } => format!("⟦{text}⟧{}", var.0),
            Origin::Unknown => format!("x{}", var.0),
        }
    }

    fn term_at(&self, term: Term, depth: u32) -> String {
        if depth > MAX_DEPTH {
            return "…".into();
        }
        let terms = &self.formula.terms;
        let inner = |term: Term| self.term_at(term, depth + 1);
        match terms.node(term) {
            Node::Const(value) => match terms.width(term) {
                1 => (*value == 1).to_string(),
                width if width <= 64 && *value >> (width - 1) == 1 => {
                    (*value as i128 - (1i128 << width)).to_string()
                }
                _ => value.to_string(),
            },
            Node::Var(var) => self.var(*var),
            Node::Guard(_) if depth > MAX_GUARDS => "…".into(),
            Node::Guard(guard) => self.guard_at(*guard, depth + 1),
            Node::Linear {
                constant,
                terms: sum,
            } => {
                let mut text: Vec<String> = sum
                    .iter()
                    .map(|&(coefficient, part)| match coefficient {
                        1 => inner(part),
                        _ => format!("{coefficient}*{}", inner(part)),
                    })
                    .collect();
                if *constant != 0 {
                    text.push(constant.to_string());
                }
                format!("({})", text.join(" + "))
            }
            Node::Op { op, args } => {
                let args: Vec<String> = args.iter().map(|&arg| inner(arg)).collect();
                let infix = |sign: &str| format!("({})", args.join(sign));
                match op {
                    Op::Not => format!("!{}", args[0]),
                    Op::And => infix(" & "),
                    Op::Or => infix(" | "),
                    Op::Xor => infix(" ^ "),
                    Op::Shl => infix(" << "),
                    Op::Lshr => infix(" >>u "),
                    Op::Ashr => infix(" >>s "),
                    Op::Mul => infix(" * "),
                    Op::Udiv => infix(" /u "),
                    Op::Urem => infix(" %u "),
                    Op::Sdiv => infix(" /s "),
                    Op::Srem => infix(" %s "),
                    Op::Eq => infix(" == "),
                    Op::Ult => infix(" <u "),
                    Op::Ule => infix(" <=u "),
                    Op::Slt => infix(" <s "),
                    Op::Sle => infix(" <=s "),
                    Op::Ite => format!("({} ? {} : {})", args[0], args[1], args[2]),
                    Op::Concat => infix(" ++ "),
                    Op::Extract { lo } => {
                        format!(
                            "{}[{lo}..{}]",
                            args[0],
                            u32::from(*lo) + u32::from(terms.width(term))
                        )
                    }
                    Op::Zext => format!("zext{}({})", terms.width(term), args[0]),
                    Op::Sext => format!("sext{}({})", terms.width(term), args[0]),
                }
            }
        }
    }
}
