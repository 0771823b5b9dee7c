//! Where the unknown values of an execution come from.

use std::rc::Rc;

use super::region::Loc;
use super::state::Object;
use super::term::{Term, Terms, Var};
use crate::property::StateId;

/// Where an unknown value comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Origin {
    /// The value of the analysed function's parameter.
    Param(u32),
    /// What a location held on entry.
    Initial { loc: Loc, size: u64 },
    /// Whether an object was in the state on entry.
    State { object: Object, state: StateId },
    /// Result of the call that this text shows.
    Call {
        text: Rc<str>,
        /// Which of the answers that the callee has got itself it is, not 0; 0: its result.
        answer: u32,
        /// The world outside the program has answered so.
        outside: bool,
    },
    /// Anything else.
    Unknown,
}

impl Origin {
    /// Whether the world outside the program has chosen the value.
    pub fn is_outside(&self) -> bool {
        matches!(self, Origin::Call { outside: true, .. })
    }
}

/// Unknown values with their origins.
#[derive(Debug, Default)]
pub struct Origins {
    by_var: Vec<Origin>,
    params: Vec<(u32, Term)>,
}

impl Origins {
    pub fn fresh(&mut self, terms: &mut Terms, width: u16, origin: Origin) -> Term {
        let (var, term) = terms.fresh(width);
        self.by_var
            .resize(self.by_var.len().max(var.0 as usize), Origin::Unknown);
        if let Origin::Param(index) = origin {
            self.params.push((index, term));
        }
        self.by_var.push(origin);
        term
    }

    /// The values of the parameters, by number.
    pub fn params(&self) -> &[(u32, Term)] {
        &self.params
    }

    pub fn of(&self, var: Var) -> &Origin {
        self.by_var.get(var.0 as usize).unwrap_or(&Origin::Unknown)
    }
}
