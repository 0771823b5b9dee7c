//! Satisfiability of guards and terms: bit-blasting a cone, the solver behind it, models.

pub mod model;
