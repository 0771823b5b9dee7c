//! The solver: the only module that knows which one it is.
//!
//! In: clauses, a budget. Out: whether a model exists, and the model. It gets only what propagation leaves, and of that what matters.
//! varisat has no
//! limit of its own; what it writes as a proof shows the clauses that it learns, and refusing to take
//! more of the proof stops it.

use std::cell::Cell;
use std::io;
use std::rc::Rc;

use smallvec::SmallVec;
use varisat::{ExtendFormula, ProofFormat, Solver as Varisat};

use super::cnf::Lit;
use super::needed::needed;
use super::propagate::{Assignment, Clauses, propagate};

/// Counts the learned clauses in a binary DRAT proof, and refuses more than allowed.
struct Meter {
    left: Rc<Cell<u64>>,
    at: Position,
    /// The last step added a clause of more than one literal.
    added: bool,
}

/// Where in the proof the next byte belongs: a step is `a` (add) or `d` (delete), then literals of one
/// or more bytes, all but a literal's last byte with the top bit set, then a 0.
#[derive(Clone, Copy)]
enum Position {
    Step,
    Literals { add: bool, count: u32 },
}

impl Meter {
    fn read(&mut self, byte: u8) {
        self.at = match self.at {
            Position::Step => {
                // A clause that is shortened is added and deleted, in this order.
                let add = byte == b'a';
                if self.added && add {
                    self.left.set(self.left.get().saturating_sub(1));
                }
                Position::Literals { add, count: 0 }
            }
            Position::Literals { add, count } if byte == 0 => {
                // Units follow from propagation alone.
                self.added = add && count > 1;
                Position::Step
            }
            Position::Literals { add, count } => Position::Literals {
                add,
                count: count + u32::from(byte < 0x80),
            },
        }
    }
}

impl io::Write for Meter {
    fn write(&mut self, proof: &[u8]) -> io::Result<usize> {
        for &byte in proof {
            self.read(byte);
        }
        if self.left.get() == 0 {
            return Err(io::Error::other("budget spent"));
        }
        Ok(proof.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// What a solver found.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Answer {
    Sat,
    Unsat,
    /// The budget is spent.
    Stopped,
}

/// A solver for one set of clauses.
#[derive(Default)]
pub struct Solver {
    clauses: Clauses,
    /// Literals whose values in the model matter.
    observed: Vec<Lit>,
    /// What follows at once, after [`Solver::solve`].
    implied: Option<Assignment>,
    values: Vec<bool>,
}

/// The solver's names of variables: without gaps, since it keeps room for all up to the last.
#[derive(Default)]
struct Names {
    /// By variable; [`Names::NONE`] if it has none.
    of_variables: Vec<u32>,
    /// The variables that have one, by name.
    variables: Vec<usize>,
}

impl Names {
    const NONE: u32 = u32::MAX;

    fn external(&mut self, lit: Lit) -> varisat::Lit {
        let variable = lit.var();
        if variable >= self.of_variables.len() {
            self.of_variables.resize(variable + 1, Names::NONE);
        }
        let name = &mut self.of_variables[variable];
        if *name == Names::NONE {
            *name = self.variables.len() as u32;
            self.variables.push(variable);
        }
        varisat::Lit::from_index(*name as usize, !lit.negated())
    }
}

impl Solver {
    pub fn new() -> Solver {
        Solver::default()
    }

    /// Adds a clause that is required, or one that helps to define a gate.
    pub fn add_clause(&mut self, gate: Option<usize>, literals: &[Lit]) {
        if !literals.contains(&Lit::TRUE) {
            let open = literals.iter().filter(|&&lit| lit != Lit::FALSE);
            self.clauses.add(gate, open.copied());
        }
    }

    /// Says that the value of a literal is asked for. What no required clause and no such literal depends on has any value in the model.
    pub fn observe(&mut self, literals: &[Lit]) {
        let open = literals.iter().filter(|lit| lit.as_constant().is_none());
        self.observed.extend(open);
    }

    /// Decides the clauses; `budget` is how many more clauses may be learned, give or take what fits
    /// into the proof's buffer. Also says how many were.
    pub fn solve(&mut self, budget: u64) -> (Answer, u64) {
        self.values.clear();
        self.implied = propagate(&self.clauses);
        let Some(implied) = &self.implied else {
            return (Answer::Unsat, 0);
        };
        let mut inner = Varisat::new();
        let left = Rc::new(Cell::new(budget));
        let meter = Meter {
            left: left.clone(),
            at: Position::Step,
            added: false,
        };
        inner.write_proof(meter, ProofFormat::BinaryDrat);
        let mut rest: SmallVec<[varisat::Lit; 16]> = SmallVec::new();
        let mut names = Names::default();
        for index in needed(&self.clauses, implied, &self.observed) {
            let clause = self.clauses.get(index);
            rest.clear();
            let open = clause.iter().filter(|&&lit| implied.value(lit).is_none());
            rest.extend(open.map(|&lit| names.external(lit)));
            inner.add_clause(&rest);
        }
        if names.variables.is_empty() {
            return (Answer::Sat, 0);
        }
        let answer = match inner.solve() {
            Ok(true) => {
                self.values.resize(names.of_variables.len(), false);
                for lit in inner.model().unwrap_or_default() {
                    self.values[names.variables[lit.index()]] = lit.is_positive();
                }
                Answer::Sat
            }
            Ok(false) => Answer::Unsat,
            Err(_) => Answer::Stopped,
        };
        (answer, budget - left.get())
    }

    /// A literal's value in the last model.
    pub fn value(&self, lit: Lit) -> bool {
        let implied = self.implied.as_ref().and_then(|known| known.value(lit));
        implied.unwrap_or_else(|| {
            let value = self.values.get(lit.var()).copied().unwrap_or(false);
            value != lit.negated()
        })
    }
}
