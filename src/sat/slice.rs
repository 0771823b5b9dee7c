//! Cutting a query into parts that share no unknown (the paper's automatic slicing, carried on from
//! formulas to queries): each part can be decided, and remembered, by itself.
//!
//! In: guards and terms that are to hold at once. Out: the constraints that they come to, grouped.
//! A path's guard is mostly a conjunction of literals, and those of two queries about one exit
//! mostly the same, so that little of each query is new.

use std::rc::Rc;

use rustc_hash::{FxHashMap, FxHashSet};

use crate::symbolic::formula::Formula;
use crate::symbolic::guard::{Cond, Guard};
use crate::symbolic::term::{Node, Op, Term, Var};

/// One conjunct of a query.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub enum Constraint {
    Holds(Term),
    Fails(Term),
    /// The guard, where the literals that it implies hold.
    Residual(Guard),
}

/// Constraints, ascending, and the unknowns that they and no other constraints of the query depend
/// on.
#[derive(Clone, Debug, Default)]
pub struct Part {
    pub constraints: Vec<Constraint>,
    pub vars: Vec<Var>,
}

/// Remembers which unknowns a term or guard depends on.
#[derive(Default)]
pub struct Slicer {
    vars: FxHashMap<Constraint, Rc<[Var]>>,
}

/// The conjuncts of a query, ascending; `None` if two contradict each other.
pub fn conjuncts(f: &Formula, guards: &[Guard], terms: &[Term]) -> Option<Vec<Constraint>> {
    let mut found = Vec::new();
    let mut pending: Vec<(Term, bool)> = terms.iter().map(|&t| (t, true)).collect();
    for &g in guards {
        add_guard(f, g, &mut found, &mut pending)?;
    }
    while let Some((t, value)) = pending.pop() {
        match f.terms.node(t) {
            Node::Const(k) => {
                if (*k == 1) != value {
                    return None;
                }
            }
            Node::Guard(g) if value => add_guard(f, *g, &mut found, &mut pending)?,
            Node::Op { op, args } => match (op, &args[..]) {
                (Op::Not, &[a]) => pending.push((a, !value)),
                (Op::And, &[a, b]) if value => pending.extend([(a, true), (b, true)]),
                (Op::Or, &[a, b]) if !value => pending.extend([(a, false), (b, false)]),
                _ => found.push(unit(t, value)),
            },
            _ => found.push(unit(t, value)),
        }
    }
    found.sort_unstable();
    found.dedup();
    let contradictory = found.iter().any(
        |&c| matches!(c, Constraint::Holds(t) if found.binary_search(&Constraint::Fails(t)).is_ok()),
    );
    if contradictory { None } else { Some(found) }
}

fn unit(t: Term, value: bool) -> Constraint {
    if value {
        Constraint::Holds(t)
    } else {
        Constraint::Fails(t)
    }
}

fn add_guard(
    f: &Formula,
    g: Guard,
    found: &mut Vec<Constraint>,
    pending: &mut Vec<(Term, bool)>,
) -> Option<()> {
    if g == Guard::FALSE {
        return None;
    }
    let implied = f.guards.implied(g);
    pending.extend(
        implied
            .iter()
            .map(|&(cond, value)| (f.cond_term(cond), value)),
    );
    if implied.len() < f.guards.support(g).len() {
        found.push(Constraint::Residual(g));
    }
    Some(())
}

/// The conditions that are left of a guard once those of its implied literals are taken out.
pub fn residual_conds(f: &Formula, g: Guard) -> impl Iterator<Item = Cond> + '_ {
    let implied = f.guards.implied(g);
    let fixed = move |cond: Cond| implied.binary_search_by_key(&cond, |l| l.0).is_ok();
    let support = f.guards.support(g).iter().copied();
    support.filter(move |&cond| !fixed(cond))
}

impl Slicer {
    /// Groups constraints by the unknowns that they share, in order of their first constraints.
    pub fn parts(&mut self, f: &Formula, constraints: &[Constraint]) -> Vec<Part> {
        let mut parts: Vec<Option<Part>> = Vec::new();
        let mut owner: FxHashMap<Var, usize> = FxHashMap::default();
        for &constraint in constraints {
            let vars = self.vars(f, constraint);
            let mut touched: Vec<usize> =
                vars.iter().filter_map(|v| owner.get(v).copied()).collect();
            touched.sort_unstable();
            touched.dedup();
            // The largest part takes in the others, so that few variables change their owner.
            let size = |&i: &usize| parts[i].as_ref().map_or(0, |p| p.vars.len());
            let into = touched.iter().copied().max_by_key(size);
            let into = into.unwrap_or_else(|| {
                parts.push(Some(Part::default()));
                parts.len() - 1
            });
            let mut merged = parts[into].take().unwrap_or_default();
            for i in touched {
                if let Some(part) = parts[i].take() {
                    owner.extend(part.vars.iter().map(|&var| (var, into)));
                    merged.constraints.extend(part.constraints);
                    merged.vars.extend(part.vars);
                }
            }
            merged.constraints.push(constraint);
            for &var in vars.iter() {
                if owner.insert(var, into).is_none() {
                    merged.vars.push(var);
                }
            }
            parts[into] = Some(merged);
        }
        let mut parts: Vec<Part> = parts.into_iter().flatten().collect();
        for part in &mut parts {
            part.constraints.sort_unstable();
            part.vars.sort_unstable();
        }
        parts.sort_by_key(|part| part.constraints.first().copied());
        parts
    }

    fn vars(&mut self, f: &Formula, constraint: Constraint) -> Rc<[Var]> {
        let key = match constraint {
            Constraint::Fails(t) => Constraint::Holds(t),
            other => other,
        };
        self.vars
            .entry(key)
            .or_insert_with(|| cone(f, key).into())
            .clone()
    }
}

/// The variables that a constraint depends on, ascending.
fn cone(f: &Formula, constraint: Constraint) -> Vec<Var> {
    let mut stack: Vec<Term> = match constraint {
        Constraint::Holds(t) | Constraint::Fails(t) => vec![t],
        Constraint::Residual(g) => residual_conds(f, g).map(|cond| f.cond_term(cond)).collect(),
    };
    let mut seen: FxHashSet<Term> = FxHashSet::default();
    let mut vars = Vec::new();
    while let Some(t) = stack.pop() {
        if !seen.insert(t) {
            continue;
        }
        match f.terms.node(t) {
            Node::Const(_) => {}
            Node::Var(var) => vars.push(*var),
            Node::Op { args, .. } => stack.extend(args),
            Node::Linear { terms, .. } => stack.extend(terms.iter().map(|&(_, x)| x)),
            Node::Guard(g) => {
                let conds = f.guards.support(*g).iter();
                stack.extend(conds.map(|&cond| f.cond_term(cond)));
            }
        }
    }
    vars.sort_unstable();
    vars
}
