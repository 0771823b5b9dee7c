//! For tests: lowers what a C text defines, through the whole front end.

use lang_c::ast;

use super::{Lowered, TypeCache, lower_function, lower_object};
use crate::frontend::LossReason;
use crate::frontend::outline::Form;
use crate::frontend::scope::{Recorder, Scope, UnitScope};
use crate::frontend::share::{Dep, Share};
use crate::frontend::split::{SourceFile, Tree, split};
use crate::ir::Body;

struct OneFile;

impl Tree for OneFile {
    fn file(&self, marker: &str) -> SourceFile {
        SourceFile {
            name: marker.to_owned(),
            own: true,
        }
    }
}

/// Bodies of the functions and of the initialisers of the objects that a text defines.
pub struct Program {
    pub functions: Vec<Body>,
    pub objects: Vec<Body>,
}

/// Lowers all that a preprocessed text defines.
pub fn program(source: &str) -> Result<Program, LossReason> {
    let share = Share::new();
    let pieces = split(source.as_bytes(), "test.c", &OneFile);
    let scope = UnitScope::new(&share, source.as_bytes(), pieces);
    let cache = TypeCache::default();
    let mut program = Program {
        functions: Vec::new(),
        objects: Vec::new(),
    };
    for id in scope.ids() {
        let Some(outline) = scope.outline(id) else {
            continue;
        };
        if outline.form == Form::Function {
            let Lowered { body } = lower_function(&scope.definition(id)?, &scope, &cache)?;
            program.functions.push(body);
            continue;
        }
        let declaration = scope.declaration(id)?;
        let ast::ExternalDeclaration::Declaration(node) = &declaration.ast.node else {
            continue;
        };
        for item in &node.node.declarators {
            let name = super::declarator_name(&item.node.declarator.node).unwrap_or("");
            let lowered = lower_object(&declaration, name, &scope, &cache)?;
            program.objects.extend(lowered.map(|lowered| lowered.body));
        }
    }
    Ok(program)
}

/// Lowers the last function of a text.
pub fn last_function(source: &str) -> Result<Body, LossReason> {
    let functions = program(source)?.functions;
    Ok(functions.into_iter().next_back().expect("a function"))
}

/// What the last function of a text looked up: lowered first if `warm`, so that the type cache answers.
pub fn look_ups(source: &str, warm: bool) -> Box<[Dep]> {
    let share = Share::new();
    let pieces = split(source.as_bytes(), "test.c", &OneFile);
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
