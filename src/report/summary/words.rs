//! Objects, values and conditions of a summary in words of the source.
//!
//! In: interface expressions, with the members that the source names on the way to each object. Out: C expressions such as
//! `state->uart_port != NULL`. Casts that keep the value are left out.

use super::constants::{Constants, last_name, place};
use crate::ir::POINTER_BITS;
use crate::property::Property;
use crate::summary::{IExpr, IObj, Offset, Root, Summary, When};
use crate::symbolic::naming::{in_record, is_before, is_clear};
use crate::symbolic::term::Op;
use crate::symbolic::validity::MAX_ERRNO;

/// Names things as the function's source would.
pub struct Words<'a> {
    pub summary: &'a Summary,
    pub property: &'a Property,
    pub constants: &'a Constants,
}

/// The left side of a comparison, the operator, its opposite and the right side.
struct Comparison<'e> {
    left: &'e IExpr,
    holds: &'static str,
    fails: &'static str,
    right: &'e IExpr,
}

impl Words<'_> {
    /// A condition that holds, or does not. `now` is the moment that goes without saying.
    pub fn condition(&self, expr: &IExpr, holds: bool, now: When) -> String {
        let IExpr::Op { op, args, .. } = expr else {
            return self.truth(expr, holds, now);
        };
        match (op, args.as_slice()) {
            (Op::Not, [inner]) => self.condition(inner, !holds, now),
            (Op::Eq, [value, other]) => self.equality(value, other, holds, now),
            (Op::Ult, [last, value]) if is_last_before_errors(last) => {
                let is = if holds { "is" } else { "is not" };
                let what = match is_pointer(value) {
                    true => "an error pointer",
                    false => "an error number",
                };
                format!("{} {is} {what}", self.value(value, now))
            }
            (Op::Ult | Op::Slt | Op::Ule | Op::Sle, [left, right]) => {
                self.comparison(*op, (left, right), holds, now)
            }
            (Op::And | Op::Or, parts) => {
                // Not both is one or the other not.
                let both = (*op == Op::And) == holds;
                let parts = parts
                    .iter()
                    .map(|part| self.condition_within(part, holds, now));
                let parts: Vec<String> = parts.collect();
                parts.join(if both { " && " } else { " || " })
            }
            _ => self.truth(expr, holds, now),
        }
    }

    fn condition_within(&self, expr: &IExpr, holds: bool, now: When) -> String {
        let text = self.condition(expr, holds, now);
        match text.contains(" && ") || text.contains(" || ") || text.contains(" ? ") {
            true => format!("({text})"),
            false => text,
        }
    }

    /// Any other expression of one bit.
    fn truth(&self, expr: &IExpr, holds: bool, now: When) -> String {
        match (expr, holds) {
            (IExpr::InState { .. }, false) => self.value(expr, now).replacen(" is ", " is not ", 1),
            (_, true) => self.value(expr, now),
            (_, false) => format!("!{}", self.operand(expr, now)),
        }
    }

    fn equality(&self, value: &IExpr, other: &IExpr, holds: bool, now: When) -> String {
        let (value, other) = match value {
            IExpr::Const { .. } => (other, value),
            _ => (value, other),
        };
        let zero = is_zero(other);
        match value {
            // A flag, or one of some.
            _ if zero && is_masked(value) => {
                let masked = self.value(value, now);
                return match holds {
                    true => format!("!({masked})"),
                    false => masked,
                };
            }
            IExpr::Op {
                op: Op::Extract { .. },
                width: 1,
                ..
            } => {
                let bit = self.value(value, now);
                return match zero == holds {
                    true => format!("!({bit})"),
                    false => bit,
                };
            }
            IExpr::Op { width: 1, .. } if matches!(other, IExpr::Const { .. }) => {
                return self.condition(value, zero != holds, now);
            }
            IExpr::Op {
                op: Op::Zext | Op::Sext,
                args,
                ..
            } if zero => return self.equality(&args[0], &of_width_of(other, &args[0]), holds, now),
            _ => {}
        }
        let right = match (zero && is_pointer(value), other) {
            (true, _) => "NULL".to_owned(),
            (
                false,
                IExpr::Const {
                    value: number,
                    width,
                },
            ) => match is_masked(value) {
                true => self.bits(place(value), *number, *width),
                false => self.number(place(value), *number, *width),
            },
            (false, other) => self.compared(other, now),
        };
        let symbol = if holds { "==" } else { "!=" };
        format!("{} {symbol} {right}", self.compared(value, now))
    }

    /// A number beside a place, by its name if the source has one there.
    pub fn number(&self, beside: Option<&IObj>, value: u128, width: u16) -> String {
        let name = beside.and_then(|beside| {
            self.named(beside, |constants, place| {
                constants.name(place, value, width).map(str::to_owned)
            })
        });
        name.unwrap_or_else(|| constant(value, width))
    }

    /// Bits of a place: those that are not set where these are fewer.
    fn bits(&self, beside: Option<&IObj>, bits: u128, width: u16) -> String {
        let all = signed(bits, width).cast_unsigned();
        let named = beside.and_then(|beside| {
            self.named(beside, |constants, place| {
                let those = |bits| constants.bits(place, bits, width);
                let but = |bits| match those(bits) {
                    Some(names) if names.contains(' ') => Some(format!("~({names})")),
                    names => Some(format!("~{}", names?)),
                };
                those(bits).or_else(|| but(!all))
            })
        });
        match named {
            Some(names) if names.contains(' ') && !names.starts_with('~') => format!("({names})"),
            Some(names) => names,
            None => mask(bits, width),
        }
    }

    /// What the names of numbers say of a place.
    fn named(
        &self,
        place: &IObj,
        find: impl Fn(&Constants, &str) -> Option<String>,
    ) -> Option<String> {
        if self.constants.is_empty() {
            return None;
        }
        find(self.constants, last_name(&self.object(place))?)
    }

    /// A side of a comparison: sums need no parentheses there.
    pub fn compared(&self, expr: &IExpr, now: When) -> String {
        match expr {
            IExpr::Linear { .. } => self.value(expr, now),
            _ => self.operand(expr, now),
        }
    }

    fn comparison(
        &self,
        op: Op,
        (left, right): (&IExpr, &IExpr),
        holds: bool,
        now: When,
    ) -> String {
        let strict = matches!(op, Op::Ult | Op::Slt);
        let compared = match (strict, matches!(left, IExpr::Const { .. })) {
            (true, false) => Comparison {
                left,
                holds: "<",
                fails: ">=",
                right,
            },
            (false, false) => Comparison {
                left,
                holds: "<=",
                fails: ">",
                right,
            },
            // The constant comes last.
            (true, true) => Comparison {
                left: right,
                holds: ">",
                fails: "<=",
                right: left,
            },
            (false, true) => Comparison {
                left: right,
                holds: ">=",
                fails: "<",
                right: left,
            },
        };
        let symbol = if holds {
            compared.holds
        } else {
            compared.fails
        };
        let right = match compared.right {
            IExpr::Const { value, width } => self.number(place(compared.left), *value, *width),
            right => self.compared(right, now),
        };
        let left = self.compared(compared.left, now);
        format!("{left} {symbol} {right}")
    }

    /// A value as C has it.
    pub fn value(&self, expr: &IExpr, now: When) -> String {
        match expr {
            IExpr::Const { value, width } => constant(*value, *width),
            IExpr::Unknown { .. } => "…".to_string(),
            IExpr::Value { object, when, .. } => {
                let name = self.object(object);
                match (*when, now) {
                    (When::Entry, When::Exit) => format!("old({name})"),
                    (When::Exit, When::Entry) => format!("new({name})"),
                    _ => name,
                }
            }
            IExpr::InState {
                object,
                machine,
                state,
            } => {
                let machine = self.property.machine(machine);
                let state = machine.map_or("?", |machine| machine.state_name(*state));
                format!("{} is {state}", self.object(object))
            }
            IExpr::Address(object) => {
                let name = self.object(object);
                match name.strip_prefix('*') {
                    Some(pointer) if !pointer.contains(' ') => pointer.to_owned(),
                    _ => format!("&{name}"),
                }
            }
            IExpr::Op { op, args, width } => self.operation(*op, *width, args, now),
            IExpr::Linear {
                constant,
                terms,
                width,
            } => self.sum(*constant, terms, *width, now),
        }
    }

    /// A value as part of a larger expression.
    fn operand(&self, expr: &IExpr, now: When) -> String {
        let text = self.value(expr, now);
        let whole = match expr {
            IExpr::Op {
                op: Op::Zext | Op::Sext,
                args,
                ..
            } => return self.operand(&args[0], now),
            IExpr::Op { .. } | IExpr::Linear { .. } | IExpr::InState { .. } => {
                !text.contains(' ') || text.starts_with('(') && text.ends_with(')')
            }
            _ => true,
        };
        if whole { text } else { format!("({text})") }
    }

    fn operation(&self, op: Op, width: u16, args: &[IExpr], now: When) -> String {
        let arg = |index: usize| {
            args.get(index)
                .map_or_else(|| "?".to_owned(), |arg| self.operand(arg, now))
        };
        if width == 1
            && let Op::Not | Op::Eq | Op::Ult | Op::Ule | Op::Slt | Op::Sle | Op::And | Op::Or = op
        {
            let whole = IExpr::Op {
                op,
                width,
                args: args.to_vec(),
            };
            return self.condition(&whole, true, now);
        }
        match (op, args) {
            (Op::Not, _) => format!("~{}", arg(0)),
            (Op::Ite, [condition, yes, no]) => {
                let condition = self.condition_within(condition, true, now);
                let arm = |arm: &IExpr, other: &IExpr| match is_zero(arm) && is_pointer(other) {
                    true => "NULL".to_owned(),
                    false => self.operand(arm, now),
                };
                match (yes, no) {
                    (IExpr::Const { value: 1, .. }, no) if is_zero(no) => condition,
                    _ => format!("{condition} ? {} : {}", arm(yes, no), arm(no, yes)),
                }
            }
            (Op::Extract { lo }, [of]) if width < 64 && !(lo == 0 && width.is_multiple_of(8)) => {
                let bits = ((1u128 << width) - 1) << lo;
                let mask = match width {
                    1 => self.bits(place(of), bits, 64),
                    _ => mask(bits, 128),
                };
                match width {
                    1 => format!("{} & {mask}", self.operand(of, now)),
                    _ => format!("({} & {mask}) >> {lo}", self.operand(of, now)),
                }
            }
            (Op::Extract { lo: 0 }, _) => format!("(int{width}_t){}", arg(0)),
            (Op::Extract { lo }, _) => format!("(int{width}_t)({} >> {lo})", arg(0)),
            (Op::Zext | Op::Sext, [inner]) => self.value(inner, now),
            (Op::Concat, _) => format!("{}:{}", arg(0), arg(1)),
            _ => {
                let beside = args.iter().find_map(place);
                let arg = |at: &IExpr| match (op, at) {
                    (Op::And | Op::Or | Op::Xor, IExpr::Const { value, width }) => {
                        self.bits(beside, *value, *width)
                    }
                    _ => self.operand(at, now),
                };
                let args: Vec<String> = args.iter().map(arg).collect();
                args.join(&format!(" {} ", infix(op)))
            }
        }
    }

    fn sum(&self, constant_term: u128, terms: &[(u128, IExpr)], width: u16, now: When) -> String {
        let mut text = String::new();
        // What is added comes first.
        let negative = |coefficient: u128| signed(coefficient, width) < 0;
        let (less, more): (Vec<_>, Vec<_>) = terms.iter().partition(|(c, _)| negative(*c));
        for (coefficient, term) in more.into_iter().chain(less) {
            let name = self.operand(term, now);
            let magnitude = signed(*coefficient, width).unsigned_abs();
            text.push_str(match (text.is_empty(), negative(*coefficient)) {
                (true, false) => "",
                (true, true) => "-",
                (false, false) => " + ",
                (false, true) => " - ",
            });
            if magnitude != 1 {
                text.push_str(&format!("{magnitude} * "));
            }
            text.push_str(&name);
        }
        match signed(constant_term, width) {
            0 if !text.is_empty() => text,
            value if text.is_empty() => value.to_string(),
            value if value < 0 => format!("{text} - {}", value.unsigned_abs()),
            value => format!("{text} + {value}"),
        }
    }

    /// The object's name: as the analysis recorded it, else by the members on the way to it.
    pub fn object(&self, object: &IObj) -> String {
        let known = self.summary.objects.iter().find(|o| o.object == *object);
        if let Some(known) = known.filter(|known| is_clear(&known.name) && !is_before(&known.name))
        {
            return known.name.clone();
        }
        let Some((last, path)) = object.path.split_last() else {
            return self.root(&object.root);
        };
        // A global's first offset is within its own storage.
        if path.is_empty() && matches!(object.root, Root::Global(_)) {
            let name = self.root(&object.root);
            return match (&last.members.0, self.offset(last)) {
                (Some(members), _) => in_record(&name, members, "."),
                (None, Some(offset)) => format!("*((char *)&{name} + {offset})"),
                (None, None) => name,
            };
        }
        let inner = IObj {
            root: object.root.clone(),
            path: path.to_vec(),
        };
        let pointer = self.object(&inner);
        match (&last.members.0, self.offset(last)) {
            (Some(members), _) => match pointer.starts_with('*') {
                true => in_record(&format!("({pointer})"), members, "->"),
                false => in_record(&pointer, members, "->"),
            },
            (None, Some(offset)) => match index(last) {
                Some(index) => format!("{pointer}[{}]", self.value(index, When::Entry)),
                None => format!("*({pointer} + {offset})"),
            },
            (None, None) => format!("*{pointer}"),
        }
    }

    /// What leads to a block of memory, or to a file: the pointer that it is freed by.
    pub fn pointer_to(&self, object: &IObj) -> String {
        // Callers know a block that is returned as the result, not by the call that has made it.
        if object.root == Root::Return
            && object.path.len() == 1
            && self.offset(&object.path[0]).is_none()
        {
            return self.root(&object.root);
        }
        let whole = self.object(object);
        if let Some(pointer) = whole.strip_prefix('*').filter(|name| is_clear(name)) {
            let call = pointer
                .strip_prefix('(')
                .and_then(|of| of.strip_suffix(')'));
            return call.unwrap_or(pointer).to_owned();
        }
        // A block's first member has the block's name.
        if let Some((last, path)) = object.path.split_last()
            && last.constant == 0
            && last.terms.is_empty()
            && !matches!((&object.root, path), (Root::Global(_), []))
        {
            let pointer = self.object(&IObj {
                root: object.root.clone(),
                path: path.to_vec(),
            });
            if is_clear(&pointer) {
                return pointer;
            }
        }
        whole
    }

    fn root(&self, root: &Root) -> String {
        match root {
            Root::Param(index) => match self.summary.params.get(*index as usize) {
                Some(name) if !name.is_empty() => name.clone(),
                _ => format!("param{index}"),
            },
            Root::Global(name) => name.name.clone(),
            Root::Return => "ret".to_owned(),
            Root::Exit(pointer) => format!("new({})", self.object(pointer)),
            Root::Entry(place) => self.object(place),
        }
    }

    /// The offset in bytes; `None` for 0.
    fn offset(&self, offset: &Offset) -> Option<String> {
        let mut parts: Vec<String> = offset
            .terms
            .iter()
            .map(|(coefficient, term)| match coefficient {
                1 => self.operand(term, When::Entry),
                _ => format!("{coefficient} * {}", self.operand(term, When::Entry)),
            })
            .collect();
        if offset.constant != 0 {
            parts.push(offset.constant.to_string());
        }
        (!parts.is_empty()).then(|| parts.join(" + "))
    }
}

/// The index of an element of one byte, which a number of bytes is.
fn index(offset: &Offset) -> Option<&IExpr> {
    match offset.terms.as_slice() {
        [(1, term)] if offset.constant == 0 => Some(term),
        _ => None,
    }
}

pub fn is_zero(expr: &IExpr) -> bool {
    matches!(expr, IExpr::Const { value: 0, .. })
}

/// The largest number below those that stand for errors.
pub fn is_last_before_errors(expr: &IExpr) -> bool {
    matches!(expr, IExpr::Const { value, width: 64 } if *value == u128::from(u64::MAX) - MAX_ERRNO)
}

/// Whether a value is known to be a pointer.
pub fn is_pointer(expr: &IExpr) -> bool {
    match expr {
        IExpr::Value { pointer, width, .. } => pointer.0 && *width == POINTER_BITS,
        IExpr::Address(_) => true,
        IExpr::Op {
            op: Op::Ite, args, ..
        } => args[1..].iter().any(is_pointer),
        _ => false,
    }
}

/// The number 0 as wide as another value.
fn of_width_of(zero: &IExpr, other: &IExpr) -> IExpr {
    match other {
        IExpr::Const { width, .. }
        | IExpr::Value { width, .. }
        | IExpr::Unknown { width, .. }
        | IExpr::Op { width, .. }
        | IExpr::Linear { width, .. } => IExpr::Const {
            value: 0,
            width: *width,
        },
        IExpr::InState { .. } | IExpr::Address(_) => zero.clone(),
    }
}

fn infix(op: Op) -> &'static str {
    match op {
        Op::And => "&",
        Op::Or => "|",
        Op::Xor => "^",
        Op::Shl => "<<",
        Op::Lshr | Op::Ashr => ">>",
        Op::Mul => "*",
        Op::Udiv | Op::Sdiv => "/",
        Op::Urem | Op::Srem => "%",
        _ => "?",
    }
}

/// The value as two's complement.
pub fn signed(value: u128, width: u16) -> i128 {
    let unused = 128u32.saturating_sub(u32::from(width)).min(127);
    value.cast_signed() << unused >> unused
}

/// Whether a value is some of another's bits.
fn is_masked(value: &IExpr) -> bool {
    let IExpr::Op {
        op: Op::And, args, ..
    } = value
    else {
        return false;
    };
    args.iter().any(|arg| matches!(arg, IExpr::Const { .. }))
}

/// Bits: those that are not set where these are fewer.
fn mask(bits: u128, width: u16) -> String {
    let unset = signed(bits, width).cast_unsigned();
    match !unset {
        unset @ 1..0xffff if unset.count_ones() < 8 => format!("~{}", mask(unset, 128)),
        _ if bits > 9 => format!("{bits:#x}"),
        _ => bits.to_string(),
    }
}

/// Small negative numbers are shown as such.
pub fn constant(value: u128, width: u16) -> String {
    let number = signed(value, width);
    if width > 1 && (-4096..0).contains(&number) {
        return number.to_string();
    }
    if value > 0xffff {
        format!("{value:#x}")
    } else {
        value.to_string()
    }
}
