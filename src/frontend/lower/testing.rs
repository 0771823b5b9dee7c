//! For tests: a whole C file parsed at once, as a scope.

use std::sync::Arc;

use lang_c::ast;
use lang_c::driver::{self, Config, Flavor};
use rustc_hash::FxHashMap;

use super::{Lowered, TypeCache, lower_function, lower_object};
use crate::frontend::LossReason;
use crate::frontend::declare::Declared;
use crate::frontend::parse::{DeclKey, Declaration, Places};
use crate::frontend::scope::{DeclId, Scope, TagKind};
use crate::ir::Body;

/// The external declarations of one source text.
pub struct FileScope {
    declarations: Vec<Arc<Declaration>>,
    typedefs: FxHashMap<String, DeclId>,
    tags: FxHashMap<(TagKind, String), DeclId>,
    ordinary: FxHashMap<String, DeclId>,
    pub cache: TypeCache,
}

impl FileScope {
    /// Parses a file that needs no preprocessing and no normalising.
    pub fn parse(source: &str) -> FileScope {
        let prelude = "typedef int __cassini_auto; typedef int __cassini_int128; \
                       typedef int __cassini_uint128;\n";
        let config = Config {
            flavor: Flavor::GnuC11,
            ..Config::default()
        };
        let text = format!("{prelude}{source}");
        let parsed = driver::parse_preprocessed(&config, text).unwrap_or_else(|error| {
            panic!("{error} at {}", &source[error.offset - prelude.len()..])
        });
        let tokens = parsed
            .source
            .match_indices('\n')
            .enumerate()
            .map(|(i, (at, _))| (at as u32 + 1, 0, i as u32 + 1, 1))
            .collect::<Vec<_>>();
        let mut scope = FileScope {
            declarations: Vec::new(),
            typedefs: FxHashMap::default(),
            tags: FxHashMap::default(),
            ordinary: FxHashMap::default(),
            cache: TypeCache::default(),
        };
        for (i, ast) in parsed.unit.0.into_iter().enumerate() {
            if ast.span.start < prelude.len() - 1 {
                continue;
            }
            let defines = matches!(ast.node, ast::ExternalDeclaration::FunctionDefinition(_));
            let declaration = Declaration {
                key: DeclKey((i as u128).to_le_bytes()),
                ast,
                places: Places {
                    files: vec!["test.c".to_owned()],
                    tokens: tokens.clone(),
                },
            };
            let declared = Declared::of(&declaration).expect("declaration");
            let id = DeclId(scope.declarations.len() as u32);
            for name in declared.typedefs.keys() {
                scope.typedefs.insert(name.to_string(), id);
            }
            for (kind, tag) in declared.records.keys() {
                scope.tags.insert((*kind, tag.to_string()), id);
            }
            for tag in declared.enums.keys() {
                scope.tags.insert((TagKind::Enum, tag.to_string()), id);
            }
            for name in declared.enumerators.keys() {
                scope.ordinary.insert(name.to_string(), id);
            }
            for (name, entity) in &declared.entities {
                if defines || entity.open_length.is_some() || !scope.ordinary.contains_key(&**name)
                {
                    scope.ordinary.insert(name.to_string(), id);
                }
            }
            scope.declarations.push(Arc::new(declaration));
        }
        scope
    }

    /// Lowers the function of that name.
    pub fn lower(&self, name: &str) -> Result<Body, LossReason> {
        let id = self.ordinary[name];
        let declaration = &self.declarations[id.0 as usize];
        lower_function(declaration, self, &self.cache).map(|Lowered { body }| body)
    }

    #[allow(dead_code)]
    /// Lowers all function definitions and initialised objects.
    pub fn lower_all(&self) -> Result<(Vec<Body>, Vec<Body>), LossReason> {
        let mut functions = Vec::new();
        let mut objects = Vec::new();
        for declaration in &self.declarations {
            match &declaration.ast.node {
                ast::ExternalDeclaration::FunctionDefinition(_) => {
                    functions.push(lower_function(declaration, self, &self.cache)?.body);
                }
                ast::ExternalDeclaration::Declaration(node) => {
                    for item in &node.node.declarators {
                        let declarator = &item.node.declarator.node;
                        if let Some(name) = super::declarator_name(declarator)
                            && let Some(lowered) =
                                lower_object(declaration, name, self, &self.cache)?
                        {
                            objects.push(lowered.body);
                        }
                    }
                }
                ast::ExternalDeclaration::StaticAssert(_) => {}
            }
        }
        Ok((functions, objects))
    }
}

impl Scope for FileScope {
    fn typedef(&self, name: &str) -> Option<DeclId> {
        self.typedefs.get(name).copied()
    }

    fn tag(&self, kind: TagKind, name: &str) -> Option<DeclId> {
        self.tags.get(&(kind, name.to_owned())).copied()
    }

    fn ordinary(&self, name: &str) -> Option<DeclId> {
        self.ordinary.get(name).copied()
    }

    fn declaration(&self, id: DeclId) -> Result<Arc<Declaration>, LossReason> {
        Ok(Arc::clone(&self.declarations[id.0 as usize]))
    }
}
