//! Every constructor against a reference that works on lists of bits and shares no code with it.

use proptest::prelude::*;

use super::{Op, Term, Terms, Var};
use crate::ir::POINTER_BITS;
use crate::symbolic::formula::Formula;
use crate::symbolic::model::Model;

/// Little-endian bits.
type Bits = Vec<bool>;

pub(crate) fn bits(value: u128, width: u16) -> Bits {
    (0..width)
        .map(|i| value.checked_shr(u32::from(i)).unwrap_or(0) & 1 == 1)
        .collect()
}

pub(crate) fn number(bits: &Bits) -> u128 {
    bits.iter()
        .enumerate()
        .map(|(i, &b)| u128::from(b) << i)
        .sum()
}

fn add(a: &Bits, b: &Bits) -> Bits {
    let mut carry = false;
    a.iter()
        .zip(b)
        .map(|(&x, &y)| {
            let count = u8::from(x) + u8::from(y) + u8::from(carry);
            carry = count >= 2;
            count % 2 == 1
        })
        .collect()
}

fn neg(a: &Bits) -> Bits {
    let inverted: Bits = a.iter().map(|b| !b).collect();
    add(&inverted, &bits(1, a.len() as u16))
}

fn shift_up(a: &Bits, by: usize) -> Bits {
    (0..a.len()).map(|i| i >= by && a[i - by]).collect()
}

fn shift_down(a: &Bits, by: usize, fill: bool) -> Bits {
    (0..a.len())
        .map(|i| a.get(i + by).copied().unwrap_or(fill))
        .collect()
}

fn mul(a: &Bits, b: &Bits) -> Bits {
    let mut sum = vec![false; a.len()];
    for (i, &bit) in b.iter().enumerate() {
        if bit {
            sum = add(&sum, &shift_up(a, i));
        }
    }
    sum
}

fn less(a: &Bits, b: &Bits) -> bool {
    a.iter().rev().lt(b.iter().rev())
}

/// School division from the top bit; by zero, all ones and the dividend.
fn divide(a: &Bits, b: &Bits) -> (Bits, Bits) {
    if !b.contains(&true) {
        return (vec![true; a.len()], a.clone());
    }
    let mut quotient = vec![false; a.len()];
    let mut rest = vec![false; a.len() + 1];
    let mut wide = b.clone();
    wide.push(false);
    for i in (0..a.len()).rev() {
        rest = shift_up(&rest, 1);
        rest[0] = a[i];
        if !less(&rest, &wide) {
            rest = add(&rest, &neg(&wide));
            quotient[i] = true;
        }
    }
    rest.pop();
    (quotient, rest)
}

fn sign(a: &Bits) -> bool {
    a.last().copied().unwrap_or(false)
}

fn signed_divide(a: &Bits, b: &Bits) -> (Bits, Bits) {
    let magnitude = |x: &Bits| if sign(x) { neg(x) } else { x.clone() };
    let (quotient, rest) = divide(&magnitude(a), &magnitude(b));
    let quotient = if sign(a) != sign(b) {
        neg(&quotient)
    } else {
        quotient
    };
    let rest = if sign(a) { neg(&rest) } else { rest };
    (quotient, rest)
}

fn amount(b: &Bits, width: usize) -> usize {
    number(b).min(width as u128) as usize
}

/// The reference semantics.
pub(crate) fn reference(op: Op, width: u16, args: &[Bits]) -> Bits {
    let zip = |f: fn(bool, bool) -> bool| -> Bits {
        args[0]
            .iter()
            .zip(&args[1])
            .map(|(&x, &y)| f(x, y))
            .collect()
    };
    let signed_less = || {
        let (a, b) = (&args[0], &args[1]);
        if sign(a) == sign(b) {
            less(a, b)
        } else {
            sign(a)
        }
    };
    match op {
        Op::Not => args[0].iter().map(|b| !b).collect(),
        Op::And => zip(|x, y| x && y),
        Op::Or => zip(|x, y| x || y),
        Op::Xor => zip(|x, y| x != y),
        Op::Shl => shift_up(&args[0], amount(&args[1], args[0].len())),
        Op::Lshr => shift_down(&args[0], amount(&args[1], args[0].len()), false),
        Op::Ashr => shift_down(&args[0], amount(&args[1], args[0].len()), sign(&args[0])),
        Op::Mul => mul(&args[0], &args[1]),
        Op::Udiv => divide(&args[0], &args[1]).0,
        Op::Urem => divide(&args[0], &args[1]).1,
        Op::Sdiv => signed_divide(&args[0], &args[1]).0,
        Op::Srem => signed_divide(&args[0], &args[1]).1,
        Op::Eq => vec![args[0] == args[1]],
        Op::Ult => vec![less(&args[0], &args[1])],
        Op::Ule => vec![!less(&args[1], &args[0])],
        Op::Slt => vec![signed_less()],
        Op::Sle => vec![signed_less() || args[0] == args[1]],
        Op::Ite => args[if args[0][0] { 1 } else { 2 }].clone(),
        Op::Concat => args[1].iter().chain(&args[0]).copied().collect(),
        Op::Extract { lo } => args[0][usize::from(lo)..usize::from(lo + width)].to_vec(),
        Op::Zext => (0..usize::from(width))
            .map(|i| args[0].get(i).copied().unwrap_or(false))
            .collect(),
        Op::Sext => (0..usize::from(width))
            .map(|i| args[0].get(i).copied().unwrap_or(sign(&args[0])))
            .collect(),
    }
}

/// One instruction of a random program: which operator, which operands.
#[derive(Clone, Debug)]
pub(crate) struct Step {
    op: u8,
    picks: [u16; 3],
    detail: u16,
}

pub(crate) fn step() -> impl Strategy<Value = Step> {
    (any::<u8>(), any::<[u16; 3]>(), any::<u16>()).prop_map(|(op, picks, detail)| Step {
        op,
        picks,
        detail,
    })
}

/// Numbers at which operators change their behaviour come up more often.
pub(crate) fn value() -> impl Strategy<Value = u128> {
    prop_oneof![
        0u128..4,
        (0u128..4).prop_map(|v| u128::MAX - v),
        (0u32..128).prop_map(|i| 1u128 << i),
        (0u32..128).prop_map(|i| (1u128 << i) - 1),
        any::<u128>(),
    ]
}

/// A random DAG, with the reference value of each term under each assignment.
pub(crate) struct Sample {
    pub formula: Formula,
    pub vars: Vec<Var>,
    /// For each assignment, the values of `vars`.
    pub assignments: Vec<Vec<u128>>,
    /// Each term with its value under each assignment.
    pub terms: Vec<(Term, Vec<u128>)>,
}

impl Sample {
    pub(crate) fn model(&self, assignment: usize) -> Model {
        let values = &self.assignments[assignment];
        Model::new(self.vars.iter().copied().zip(values.iter().copied()))
    }

    fn pick(&self, n: u16, fits: impl Fn(u16) -> bool) -> Option<usize> {
        let fitting: Vec<usize> = (0..self.terms.len())
            .filter(|&i| fits(self.formula.terms.width(self.terms[i].0)))
            .collect();
        fitting.get(usize::from(n) % fitting.len().max(1)).copied()
    }
}

pub(crate) fn sample(
    widths: &[u16],
    steps: &[Step],
    constants: &[u128],
    values: &[Vec<u128>],
) -> Sample {
    let mut s = Sample {
        formula: Formula::new(),
        vars: Vec::new(),
        assignments: vec![Vec::new(); values.len()],
        terms: Vec::new(),
    };
    for (i, &width) in widths.iter().enumerate() {
        let (var, term) = s.formula.terms.fresh(width);
        s.vars.push(var);
        let mut own = Vec::new();
        for (assignment, values) in s.assignments.iter_mut().zip(values) {
            let value = values[i % values.len()] & super::mask(width);
            assignment.push(value);
            own.push(value);
        }
        s.terms.push((term, own));
    }
    for (i, &k) in constants.iter().enumerate() {
        let width = widths[i % widths.len()];
        let term = s.formula.terms.constant(k, width);
        s.terms
            .push((term, vec![k & super::mask(width); values.len()]));
    }
    for step in steps {
        apply_step(&mut s, step);
    }
    s
}

fn apply_step(s: &mut Sample, step: &Step) {
    use Op::*;
    let all = [
        Not,
        And,
        Or,
        Xor,
        Shl,
        Lshr,
        Ashr,
        Mul,
        Udiv,
        Urem,
        Sdiv,
        Srem,
        Eq,
        Ult,
        Ule,
        Slt,
        Sle,
        Ite,
        Ite,
        Concat,
        Extract { lo: 0 },
        Zext,
        Sext,
        And,
        Eq,
        Ite,
    ];
    // Sums have no operator; the last three choices build them.
    let choice = usize::from(step.op) % (all.len() + 3);
    let Some(a) = s.pick(step.picks[0], |_| true) else {
        return;
    };
    let width = s.formula.terms.width(s.terms[a].0);
    let Some(b) = s.pick(step.picks[1], |w| w == width) else {
        return;
    };
    let (mut result_width, mut operands) = (width, vec![a, b]);
    let op = all.get(choice).copied();
    let op = match op {
        Some(Not) => {
            operands = vec![a];
            Some(Not)
        }
        Some(Eq | Ult | Ule | Slt | Sle) => {
            result_width = 1;
            op
        }
        Some(Ite) => {
            let Some(c) = s.pick(step.picks[2], |w| w == 1) else {
                return;
            };
            operands = vec![c, a, b];
            op
        }
        Some(Concat) => {
            let Some(c) = s.pick(step.picks[2], |w| w + width <= 128) else {
                return;
            };
            operands = vec![a, c];
            result_width = width + s.formula.terms.width(s.terms[c].0);
            op
        }
        Some(Extract { .. }) => {
            let lo = step.detail % width;
            result_width = 1 + step.picks[1] % (width - lo);
            operands = vec![a];
            Some(Extract { lo })
        }
        Some(Zext | Sext) => {
            result_width = width + step.detail % (129 - width);
            operands = vec![a];
            op
        }
        other => other,
    };
    let terms: Vec<Term> = operands.iter().map(|&i| s.terms[i].0).collect();
    let built = match (op, choice - all.len().min(choice)) {
        (Some(op), _) => s.formula.terms.op(op, result_width, &terms),
        (None, 0) => s.formula.terms.add(terms[0], terms[1]),
        (None, 1) => s.formula.terms.sub(terms[0], terms[1]),
        (None, _) => s.formula.terms.neg(terms[0]),
    };
    let values = (0..s.assignments.len())
        .map(|i| {
            let args: Vec<Bits> = operands
                .iter()
                .map(|&o| bits(s.terms[o].1[i], s.formula.terms.width(s.terms[o].0)))
                .collect();
            number(&match (op, choice - all.len().min(choice)) {
                (Some(op), _) => reference(op, result_width, &args),
                (None, 0) => add(&args[0], &args[1]),
                (None, 1) => add(&args[0], &neg(&args[1])),
                (None, _) => neg(&args[0]),
            })
        })
        .collect();
    assert_eq!(s.formula.terms.width(built), result_width, "{op:?}");
    s.terms.push((built, values));
}

fn folds_like_reference(widths: &[u16], steps: &[Step], ks: &[u128], values: &[Vec<u128>]) {
    let mut s = sample(widths, steps, ks, values);
    for i in 0..s.assignments.len() {
        let model = s.model(i);
        for n in 0..s.terms.len() {
            let (t, values) = &s.terms[n];
            let expected = values[i];
            let t = *t;
            assert_eq!(
                model.eval(&s.formula, t),
                expected,
                "{:?}",
                s.formula.terms.node(t)
            );
            if s.formula.terms.width(t) == 1 {
                let g = s.formula.guard_of(t);
                assert_eq!(model.eval_guard(&s.formula, g), expected == 1);
                let again = s.formula.term_of(g);
                assert_eq!(model.eval(&s.formula, again), expected);
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig {
        failure_persistence: None,
        ..ProptestConfig::with_cases(600)
    })]

    #[test]
    fn small_words_fold_like_the_reference(
        steps in prop::collection::vec(step(), 1..40),
        constants in prop::collection::vec(value(), 4),
        values in prop::collection::vec(prop::collection::vec(value(), 7), 6),
    ) {
        folds_like_reference(&[1, 1, 2, 2, 3, 3, 4], &steps, &constants, &values);
    }

    #[test]
    fn machine_words_fold_like_the_reference(
        steps in prop::collection::vec(step(), 1..30),
        constants in prop::collection::vec(value(), 7),
        values in prop::collection::vec(prop::collection::vec(value(), 9), 4),
    ) {
        folds_like_reference(&[1, 8, 8, 16, 32, 32, 64, 64, 128], &steps, &constants, &values);
    }
}

proptest! {
    #![proptest_config(ProptestConfig {
        failure_persistence: None,
        ..ProptestConfig::with_cases(200)
    })]

    /// Sums too long to be taken apart are compared as they are.
    #[test]
    fn long_sums_compare_like_their_values(
        left in prop::collection::vec((value(), value()), 1..120),
        right in prop::collection::vec((value(), value()), 1..120),
        k in value(),
        exact in any::<bool>(),
    ) {
        for width in [8, 32, 64] {
            let mut f = Formula::new();
            let mut values = Vec::new();
            let mut sum_of = |summands: &[(u128, u128)]| {
                let (mut sum, mut total) = (f.terms.constant(k, width), k);
                for &(coefficient, value) in summands {
                    let (var, term) = f.terms.fresh(width);
                    values.push((var, value));
                    let coefficient = number(&bits(coefficient, width));
                    sum = f.terms.linear(width, 0, &[(1, sum), (coefficient, term)]);
                    let value = number(&bits(value, width));
                    total = total.wrapping_add(coefficient.wrapping_mul(value));
                }
                (sum, number(&bits(total, width)))
            };
            let ((a, left), (b, right)) = (sum_of(&left), sum_of(&right));
            let number = number(&bits(if exact { left } else { k }, width));
            let constant = f.terms.constant(number, width);
            let model = Model::new(values);
            for (y, other) in [(b, right), (constant, number)] {
                let equal = f.terms.eq(a, y);
                prop_assert_eq!(model.eval(&f, equal) == 1, left == other);
                let less = f.terms.ult(a, y);
                prop_assert_eq!(model.eval(&f, less) == 1, left < other);
                let again = f.terms.eq(y, a);
                prop_assert_eq!(model.eval(&f, again), model.eval(&f, equal));
            }
        }
    }
}

/// Terms over a few 32-bit unknowns.
fn with_words(test: impl FnOnce(&mut Terms, Term, Term, Term)) {
    let mut terms = Terms::new();
    let (x, y, c) = (terms.fresh(32).1, terms.fresh(32).1, terms.fresh(1).1);
    test(&mut terms, x, y, c);
}

#[test]
fn sums_cancel() {
    with_words(|t, x, y, _| {
        let sum = t.add(x, y);
        assert_eq!(t.sub(sum, y), x);
        let zero = t.sub(x, x);
        assert_eq!(t.as_const(zero), Some(0));
        let seven = t.constant(7, 32);
        let (a, b) = (t.add(x, seven), t.add(y, seven));
        let (shifted, plain) = (t.eq(a, b), t.eq(x, y));
        assert_eq!(shifted, plain);
        assert_eq!(t.eq(a, x), Term::FALSE);
    });
}

#[test]
fn multiples_of_eight_never_differ_by_four() {
    with_words(|t, x, y, _| {
        let (eight_x, eight_y) = (t.linear(32, 4, &[(8, x)]), t.linear(32, 0, &[(8, y)]));
        assert_eq!(t.eq(eight_x, eight_y), Term::FALSE);
    });
}

#[test]
fn a_truth_value_widened_and_tested_is_itself() {
    with_words(|t, _, _, c| {
        let (one, zero) = (t.constant(1, 32), t.constant(0, 32));
        let flag = t.ite(c, one, zero);
        let is_zero = t.eq(flag, zero);
        assert_eq!(t.not(is_zero), c);
        assert_eq!(t.eq(flag, one), c);
        assert_eq!(t.slt(flag, zero), Term::FALSE);
    });
}

#[test]
fn a_choice_between_constants_is_decided_by_its_condition() {
    with_words(|t, x, _, c| {
        let (fail, zero) = (t.constant(12u128.wrapping_neg(), 32), t.constant(0, 32));
        let result = t.ite(c, fail, zero);
        assert_eq!(t.slt(result, zero), c);
        let not_c = t.not(c);
        assert_eq!(t.eq(result, zero), not_c);
        let five = t.constant(5, 32);
        assert_eq!(t.eq(result, five), Term::FALSE);
        // One arm open: the condition and the test of that arm.
        let result = t.ite(c, fail, x);
        let (test, rest) = (t.eq(result, zero), t.eq(x, zero));
        assert_eq!(test, t.and(not_c, rest));
    });
}

#[test]
fn an_error_number_survives_the_trip_through_a_pointer() {
    with_words(|t, x, _, _| {
        // IS_ERR(ERR_PTR(x)) iff x in -4095..=-1
        let pointer = t.sext(x, 64);
        let limit = t.constant(4095u128.wrapping_neg(), 64);
        let is_err = t.ule(limit, pointer);
        let low = t.constant(4095u128.wrapping_neg(), 32);
        assert_eq!(is_err, t.ule(low, x));
    });
}

#[test]
fn bytes_stored_and_read_back_join_to_the_word() {
    with_words(|t, x, _, _| {
        let bytes: Vec<Term> = (0..4).map(|i| t.extract(x, 8 * i, 8)).collect();
        let low = t.concat(bytes[1], bytes[0]);
        let high = t.concat(bytes[3], bytes[2]);
        assert_eq!(t.concat(high, low), x);
        let low = t.concat(bytes[2], low);
        assert_eq!(t.concat(bytes[3], low), x);
    });
}

#[test]
fn negated_comparisons_share_a_condition() {
    let mut f = Formula::new();
    let (x, y) = (f.terms.fresh(32).1, f.terms.fresh(32).1);
    let (less, at_least) = (f.terms.slt(x, y), f.terms.sle(y, x));
    let (g, h) = (f.guard_of(less), f.guard_of(at_least));
    assert_eq!(f.guards.not(g), h);
    assert_eq!(f.guards.conds(), 1);
}

#[test]
fn a_long_chain_of_choices_does_not_exhaust_the_stack() {
    let mut f = Formula::new();
    let mut value = f.terms.constant(0, 32);
    for i in 0..20_000 {
        let c = f.terms.fresh(1).1;
        let k = f.terms.constant(i + 1, 32);
        value = f.terms.ite(c, k, value);
    }
    let zero = f.terms.constant(0, 32);
    let test = f.terms.eq(value, zero);
    assert_eq!(Model::default().eval(&f, test), 1);
}

/// Two values that are exchanged or counted up again and again: the choices share all their parts.
#[test]
fn comparing_nested_choices_costs_no_more_than_their_parts() {
    let mut terms = Terms::new();
    let (_, mut x) = terms.fresh(32);
    let (_, mut y) = terms.fresh(32);
    for i in 0..400 {
        let [exchanged, set, other] = [(); 3].map(|()| terms.fresh(1).1);
        let number = terms.constant(i, 32);
        let kept = terms.ite(set, number, x);
        let left = terms.ite(exchanged, y, kept);
        y = terms.ite(other, x, y);
        x = left;
    }
    let k = terms.constant(7, 32);
    for compare in [Terms::eq, Terms::ult, Terms::slt] {
        compare(&mut terms, x, k);
    }
    assert!(terms.len() < 100_000, "{}", terms.len());
}

/// Each pointer is at one of two distances from the one before.
#[test]
fn comparing_pointers_at_nested_distances_costs_no_more_than_their_parts() {
    let mut terms = Terms::new();
    let (_, mut at) = terms.fresh(POINTER_BITS);
    for i in 0..18 {
        let (_, far) = terms.fresh(1);
        let [near, further] = [1, 3].map(|k| terms.linear(POINTER_BITS, k << i, &[(1, at)]));
        at = terms.ite(far, further, near);
    }
    let (_, end) = terms.fresh(POINTER_BITS);
    terms.eq(at, end);
    assert!(terms.len() < 1_000, "{}", terms.len());
}
