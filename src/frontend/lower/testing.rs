//! For tests: lowers what a C text defines, through the whole front end.

use super::{TypeCache, lower_function};
use crate::frontend::LossReason;
use crate::frontend::dialect::Dialect;
use crate::frontend::model::Model;
use crate::frontend::scope::{Recorder, UnitScope};
use crate::frontend::share::{Dep, Share};
use crate::frontend::split::split;
use crate::frontend::whole::{self, Program, Whole};
use crate::ir::Body;

/// Lowers all that a preprocessed text defines, which must all be read.
pub fn program(source: &str) -> Result<Program, LossReason> {
    program_for(Model::LP64, source)
}

/// The same for a target.
pub fn program_for(model: Model, source: &str) -> Result<Program, LossReason> {
    let dialect = Dialect {
        model,
        ..Dialect::default()
    };
    let mut program = whole::program(source.as_bytes(), "test.c", dialect);
    match program.losses.pop() {
        Some(loss) => Err(loss.reason),
        None => Ok(program),
    }
}

/// Lowers the last function of a text.
pub fn last_function(source: &str) -> Result<Body, LossReason> {
    let functions = program(source)?.functions;
    Ok(functions.into_iter().next_back().expect("a function"))
}

/// What the last function of a text looked up: lowered first if `warm`, so that the type cache answers.
pub fn look_ups(source: &str, warm: bool) -> Box<[Dep]> {
    let share = Share::new();
    let tree = Whole::default();
    let pieces = split(source.as_bytes(), "test.c", &tree);
    let scope = UnitScope::new(&share, source.as_bytes(), pieces);
    let cache = TypeCache::default();
    let id = scope.ids().last().expect("a declaration");
    let definition = scope.definition(id).expect("parses");
    if warm {
        lower_function(&definition, &scope, &cache).expect("lowers");
    }
    let recorder = Recorder::new(&scope);
    lower_function(&definition, &recorder, &cache).expect("lowers");
    recorder.deps()
}
