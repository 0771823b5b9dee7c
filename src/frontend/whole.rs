//! A whole unit lowered at once, every function and initialiser of it: for running programs and for
//! looking at what the front end makes of them.
//!
//! In: preprocessed text. Out: [`Program`]; what could not be read is in its losses.

use lang_c::ast;

use super::dialect::Dialect;
use super::lower::records::{self, Layouts};
use super::lower::{TypeCache, lower_function_with_statics, lower_object};
use super::outline::Form;
use super::scope::{DeclId, Scope, UnitScope};
use super::share::Share;
use super::split::{SourceFile, Tree, split};
use super::unit::with_stack;
use super::{Loss, LossReason};
use crate::ir::Body;

/// Bodies of the functions and of the initialisers of the objects that a unit defines.
#[derive(Default)]
pub struct Program {
    pub functions: Vec<Body>,
    /// Those of static locals too.
    pub objects: Vec<Body>,
    pub losses: Vec<Loss>,
}

/// Takes every file of the unit for the tree's own.
#[derive(Default)]
pub struct Whole(pub Dialect);

impl Tree for Whole {
    fn file(&self, marker: &str) -> SourceFile {
        SourceFile {
            name: marker.to_owned(),
            own: true,
        }
    }

    fn dialect(&self) -> Dialect {
        self.0
    }
}

/// Lowers all that a preprocessed text defines.
pub fn program(text: &[u8], source: &str, dialect: Dialect) -> Program {
    with_stack(|| {
        let share = Share::new();
        let tree = Whole(dialect);
        let pieces = split(text, source, &tree);
        let mut program = Program::default();
        for (file, line, reason) in &pieces.losses {
            program.losses.push(Loss {
                file: pieces
                    .files
                    .get(*file)
                    .map_or(String::new(), |file| file.name.clone()),
                line: *line,
                name: None,
                reason: reason.clone(),
            });
        }
        let scope = UnitScope::new(&share, text, pieces);
        let cache = TypeCache::default();
        for id in scope.ids() {
            if let Err(reason) = add(&mut program, &scope, &cache, id) {
                let outline = scope.outline(id);
                program.losses.push(Loss {
                    file: scope
                        .file(id)
                        .map_or(String::new(), |file| file.name.clone()),
                    line: scope.piece(id).map_or(0, |piece| piece.line),
                    name: outline.and_then(|outline| outline.name.as_deref().map(str::to_owned)),
                    reason,
                });
            }
        }
        program
    })
}

fn add(
    program: &mut Program,
    scope: &UnitScope<'_>,
    cache: &TypeCache,
    id: DeclId,
) -> Result<(), LossReason> {
    let Some(outline) = scope.outline(id) else {
        return Ok(());
    };
    match outline.form {
        Form::Inert => return Ok(()),
        Form::Function => {
            let (lowered, statics) =
                lower_function_with_statics(&scope.definition(id)?, scope, cache)?;
            program.functions.push(lowered.body);
            program.objects.extend(statics);
            return Ok(());
        }
        Form::Declaration => {}
    }
    let declaration = scope.declaration(id)?;
    let ast::ExternalDeclaration::Declaration(node) = &declaration.ast.node else {
        return Ok(());
    };
    for item in &node.node.declarators {
        let name = super::lower::declarator_name(&item.node.declarator.node).unwrap_or("");
        let lowered = lower_object(&declaration, name, scope, cache)?;
        program.objects.extend(lowered.map(|lowered| lowered.body));
    }
    Ok(())
}

/// The layouts of all types that a preprocessed text defines at file scope.
pub fn layouts(text: &[u8], source: &str, dialect: Dialect) -> Layouts {
    with_stack(|| {
        let share = Share::new();
        let tree = Whole(dialect);
        let scope = UnitScope::new(&share, text, split(text, source, &tree));
        let cache = TypeCache::default();
        let mut all = Layouts::default();
        for id in scope.ids() {
            if scope
                .outline(id)
                .is_none_or(|outline| outline.form != Form::Declaration)
            {
                continue;
            }
            let declaration = scope.declaration(id);
            match declaration.and_then(|declaration| records::layouts(&declaration, &scope, &cache))
            {
                Ok(mut layouts) => {
                    all.types.append(&mut layouts.types);
                    all.constants.append(&mut layouts.constants);
                    all.failures.append(&mut layouts.failures);
                }
                Err(reason) => {
                    let line = scope.piece(id).map_or(0, |piece| piece.line);
                    let file = scope.file(id).map_or("", |file| file.name.as_str());
                    all.failures
                        .push((format!("{file}:{line}"), reason.message));
                }
            }
        }
        all
    })
}
