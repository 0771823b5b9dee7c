//! What follows from clauses one literal at a time, before the solver proper sees any of them.
//!
//! In: clauses. Out: a contradiction, or the literals that must hold and the clauses that are left. Most of what
//! a path's conditions come to is comparisons with constants, and those are settled here; reading all the
//! clauses would cost the solver more than deciding them.

use super::cnf::Lit;

/// Clauses, one after the other.
#[derive(Default)]
pub struct Clauses {
    literals: Vec<Lit>,
    /// Where in `literals` each clause ends.
    ends: Vec<u32>,
    /// For each clause the variable of the gate that it defines, if it does.
    gates: Vec<Option<usize>>,
}

impl Clauses {
    /// Adds a clause that is required, or one that helps to define a gate.
    pub fn add(&mut self, gate: Option<usize>, literals: impl IntoIterator<Item = Lit>) {
        self.literals.extend(literals);
        self.ends.push(self.literals.len() as u32);
        self.gates.push(gate);
    }

    /// The gate that a clause defines.
    pub fn gate(&self, index: usize) -> Option<usize> {
        self.gates[index]
    }

    pub fn len(&self) -> usize {
        self.ends.len()
    }

    pub fn get(&self, index: usize) -> &[Lit] {
        let start = match index {
            0 => 0,
            _ => self.ends[index - 1] as usize,
        };
        &self.literals[start..self.ends[index] as usize]
    }

    pub fn iter(&self) -> impl Iterator<Item = &[Lit]> {
        (0..self.len()).map(|index| self.get(index))
    }
}

/// The variables that have a value.
pub struct Assignment(Vec<Option<bool>>);

impl Assignment {
    pub fn value(&self, lit: Lit) -> Option<bool> {
        match lit.as_constant() {
            Some(value) => Some(value),
            None => self
                .of_variable(lit.var())
                .map(|value| value != lit.negated()),
        }
    }

    /// The value of a variable.
    pub fn of_variable(&self, variable: usize) -> Option<bool> {
        self.0.get(variable).copied().flatten()
    }

    /// Their number, those without a value among them.
    pub fn variables(&self) -> usize {
        self.0.len()
    }

    fn set(&mut self, lit: Lit) {
        self.0[lit.var()] = Some(!lit.negated());
    }
}

/// The literals that follow; `None` if the clauses contradict each other.
pub fn propagate(clauses: &Clauses) -> Option<Assignment> {
    let vars = clauses.literals.iter().map(|lit| lit.var() + 1).max();
    let occurrences = Occurrences::new(clauses, 2 * vars.unwrap_or(0));
    let mut assignment = Assignment(vec![None; vars.unwrap_or(0)]);
    // Literals of each clause that are not known to be false.
    let mut open: Vec<u32> = clauses.iter().map(|clause| clause.len() as u32).collect();
    let mut queue: Vec<Lit> = Vec::new();
    for clause in clauses.iter() {
        match clause {
            [] => return None,
            [unit] => queue.push(*unit),
            _ => {}
        }
    }
    while let Some(lit) = queue.pop() {
        match assignment.value(lit) {
            Some(true) => continue,
            Some(false) => return None,
            None => assignment.set(lit),
        }
        for &clause in occurrences.of(!lit) {
            let left = &mut open[clause as usize];
            *left -= 1;
            if *left > 1 {
                continue;
            }
            let literals = clauses.get(clause as usize);
            if literals.iter().any(|&l| assignment.value(l) == Some(true)) {
                continue;
            }
            let last = literals.iter().find(|&&l| assignment.value(l).is_none());
            queue.push(*last?);
        }
    }
    Some(assignment)
}

/// For each literal the clauses that it is in.
struct Occurrences {
    starts: Vec<u32>,
    clauses: Vec<u32>,
}

impl Occurrences {
    fn new(clauses: &Clauses, literals: usize) -> Occurrences {
        let mut starts = vec![0u32; literals + 1];
        for lit in &clauses.literals {
            starts[lit.index() + 1] += 1;
        }
        for index in 1..starts.len() {
            starts[index] += starts[index - 1];
        }
        let mut next = starts.clone();
        let mut places = vec![0u32; clauses.literals.len()];
        for (index, clause) in clauses.iter().enumerate() {
            for lit in clause {
                let at = &mut next[lit.index()];
                places[*at as usize] = index as u32;
                *at += 1;
            }
        }
        Occurrences {
            starts,
            clauses: places,
        }
    }

    fn of(&self, lit: Lit) -> &[u32] {
        let index = lit.index();
        &self.clauses[self.starts[index] as usize..self.starts[index + 1] as usize]
    }
}
