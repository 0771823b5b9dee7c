//! Cutting a conjunction into parts that share no unknown (the paper's automatic slicing, carried on
//! from formulas to queries): each part can be decided, and remembered, by itself.
//!
//! In: conditions and the values that they are to have. Out: the same, grouped.

use std::rc::Rc;

use rustc_hash::FxHashMap;

use crate::symbolic::formula::Formula;
use crate::symbolic::guard::Cond;
use crate::symbolic::model::Evaluator;
use crate::symbolic::term::Var;

/// A condition and its value.
pub type Literal = (Cond, bool);

/// Literals, ascending, and the unknowns that they and no others of the conjunction depend on.
#[derive(Clone, Debug, Default)]
pub struct Part {
    pub literals: Vec<Literal>,
    pub vars: Vec<Var>,
}

impl Part {
    /// Whether all literals hold under a model.
    pub fn holds(&self, f: &Formula, evaluator: &mut Evaluator) -> bool {
        let mut literals = self.literals.iter();
        literals.all(|&(cond, value)| evaluator.condition(f, cond) == value)
    }
}

/// Remembers which unknowns a condition depends on.
#[derive(Default)]
pub struct Slicer {
    vars: FxHashMap<Cond, Rc<[Var]>>,
}

impl Slicer {
    /// Groups literals, in order of the groups' first ones, by the unknowns that they share.
    pub fn parts(&mut self, f: &Formula, literals: &[Literal]) -> Vec<Part> {
        let mut parts: Vec<Option<Part>> = Vec::new();
        let mut owner: FxHashMap<Var, usize> = FxHashMap::default();
        for &literal in literals {
            let vars = self.vars(f, literal.0);
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
                    merged.literals.extend(part.literals);
                    merged.vars.extend(part.vars);
                }
            }
            merged.literals.push(literal);
            for &var in vars.iter() {
                if owner.insert(var, into).is_none() {
                    merged.vars.push(var);
                }
            }
            parts[into] = Some(merged);
        }
        let mut parts: Vec<Part> = parts.into_iter().flatten().collect();
        for part in &mut parts {
            part.literals.sort_unstable();
            part.vars.sort_unstable();
        }
        parts.sort_by_key(|part| part.literals.first().copied());
        parts
    }

    fn vars(&mut self, f: &Formula, cond: Cond) -> Rc<[Var]> {
        let entry = self.vars.entry(cond);
        entry
            .or_insert_with(|| f.vars(f.cond_term(cond)).into())
            .clone()
    }
}
