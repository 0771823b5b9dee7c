//! Which clauses matter, when propagation is through.
//!
//! In: clauses, what follows from them at once, literals whose values are asked for. Out: the clauses that the solver has to see. The
//! clauses that define a gate do not matter if nothing that is required depends on the gate: of the two sides of a choice whose
//! condition is known, the other one; the upper bits of a sum of which a flag is tested. Where it only matters that the gate is true
//! if the solver has it so, half of them do (Plaisted and Greenbaum's encoding). A model of these clauses has right values for the inputs, from
//! which all gates follow; the values that it has for the gates themselves may be others.

use super::cnf::Lit;
use super::propagate::{Assignment, Clauses};

/// The clauses that matter, by number, in their order. Those that hold by what is known already are none of them.
pub fn needed(clauses: &Clauses, known: &Assignment, observed: &[Lit]) -> Vec<usize> {
    let holds = |index: usize| {
        let mut literals = clauses.get(index).iter();
        literals.any(|&lit| known.value(lit) == Some(true))
    };
    let of_gates = of_gates(clauses);
    let mut matters = vec![false; clauses.len()];
    let mut open = Open {
        known,
        seen: vec![false; 2 * known.variables()],
        literals: Vec::new(),
    };
    for &lit in observed {
        open.add(lit);
        open.add(!lit);
    }
    for (index, matters) in matters.iter_mut().enumerate() {
        // A gate whose output is known restricts its inputs.
        let required = clauses
            .gate(index)
            .is_none_or(|gate| known.of_variable(gate).is_some());
        if required && !holds(index) {
            *matters = true;
            clauses.get(index).iter().for_each(|&lit| open.add(lit));
        }
    }
    while let Some(lit) = open.literals.pop() {
        for index in of_gates.get(lit.var()).cloned().unwrap_or_default() {
            let clause = clauses.get(index);
            if !matters[index] && clause.contains(&!lit) && !holds(index) {
                matters[index] = true;
                // The gate's own literal was seen: it is in the clause the other way round.
                let inputs = clause.iter().filter(|&&other| other != !lit);
                inputs.for_each(|&input| open.add(input));
            }
        }
    }
    (0..clauses.len()).filter(|&index| matters[index]).collect()
}

/// Literals that a clause may hold by, and that their gates have to account for.
struct Open<'k> {
    known: &'k Assignment,
    /// By literal.
    seen: Vec<bool>,
    literals: Vec<Lit>,
}

impl Open<'_> {
    fn add(&mut self, lit: Lit) {
        let free = self.known.value(lit).is_none();
        // What is in no clause is not among the variables.
        if let Some(seen) = self
            .seen
            .get_mut(lit.index())
            .filter(|seen| free && !**seen)
        {
            *seen = true;
            self.literals.push(lit);
        }
    }
}

/// The clauses of each gate, by variable.
fn of_gates(clauses: &Clauses) -> Vec<std::ops::Range<usize>> {
    let mut all: Vec<std::ops::Range<usize>> = Vec::new();
    for index in 0..clauses.len() {
        if let Some(gate) = clauses.gate(index) {
            if gate >= all.len() {
                all.resize(gate + 1, 0..0);
            }
            let of_gate = &mut all[gate];
            let first = match of_gate.end {
                0 => index,
                _ => of_gate.start,
            };
            *of_gate = first..index + 1;
        }
    }
    all
}
