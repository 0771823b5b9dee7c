//! The solver: the only module that knows which one it is.
//!
//! In: clauses, a budget. Out: whether a model exists, and the model. varisat has no
//! limit of its own; what it writes as a proof shows the clauses that it learns, and refusing to take
//! more of the proof stops it.

use std::cell::Cell;
use std::io;
use std::rc::Rc;

use smallvec::SmallVec;
use varisat::{ExtendFormula, ProofFormat, Solver as Varisat};

use super::cnf::Lit;

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
pub struct Solver {
    inner: Varisat<'static>,
    left: Rc<Cell<u64>>,
    values: Vec<bool>,
}

impl Default for Solver {
    fn default() -> Solver {
        Solver::new()
    }
}

fn external(lit: Lit) -> varisat::Lit {
    varisat::Lit::from_index(lit.var(), !lit.negated())
}

impl Solver {
    pub fn new() -> Solver {
        let left = Rc::new(Cell::new(u64::MAX));
        let mut inner = Varisat::new();
        let meter = Meter {
            left: left.clone(),
            at: Position::Step,
            added: false,
        };
        inner.write_proof(meter, ProofFormat::BinaryDrat);
        Solver {
            inner,
            left,
            values: Vec::new(),
        }
    }

    pub fn add_clause(&mut self, literals: &[Lit]) {
        let clause: SmallVec<[varisat::Lit; 16]> = literals.iter().map(|&l| external(l)).collect();
        self.inner.add_clause(&clause);
    }

    /// Decides the clauses; `budget` is how many more clauses may be learned, give or take what fits
    /// into the proof's buffer. Also says how many were.
    pub fn solve(&mut self, budget: u64) -> (Answer, u64) {
        self.left.set(budget);
        let answer = self.answer();
        (answer, budget - self.left.get())
    }

    fn answer(&mut self) -> Answer {
        match self.inner.solve() {
            Ok(true) => {
                self.values.clear();
                for lit in self.inner.model().unwrap_or_default() {
                    let index = lit.index();
                    if index >= self.values.len() {
                        self.values.resize(index + 1, false);
                    }
                    self.values[index] = lit.is_positive();
                }
                Answer::Sat
            }
            Ok(false) => Answer::Unsat,
            Err(_) => Answer::Stopped,
        }
    }

    /// A literal's value in the last model.
    pub fn value(&self, lit: Lit) -> bool {
        let value = match lit.as_constant() {
            Some(value) => return value,
            None => self.values.get(lit.var()).copied().unwrap_or(false),
        };
        value != lit.negated()
    }
}
