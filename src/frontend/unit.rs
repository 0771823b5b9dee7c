//! The front end of one translation unit, from preprocessed text to lowered bodies (DESIGN §3).
//!
//! In: preprocessed bytes, the unit's path, and who knows which files are the tree's own. Out: a
//! [`UnitIndex`]; bodies go to a [`BodyStore`]. Own functions are lowered, then the functions of headers
//! that they reach. A function that some unit lowered already, with the same meaning of every name that
//! its lowering asked for, is neither parsed nor lowered again.

mod objects;

use std::collections::VecDeque;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use lang_c::ast;
use rustc_hash::FxHashSet;

use super::lower::{Lowered, TypeCache, declarator_name, lower_function, lower_object};
use super::outline::{Alias, Form, NameId, Space, rank};
use super::parse::Declaration;
use super::scope::{DeclId, Recorder, Scope, UnitScope};
use super::share::{Share, Variant};
use super::split::{Tree, split};
use super::{BodyKey, FunctionDef, Loss, LossReason, Stage, UnitIndex};
use crate::ir::{Body, Enumerated, RetTy, SymbolKind, SymbolName, constant_results};

/// Hash of all that a unit's index depends on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct UnitKey(pub [u8; 32]);

/// Where lowered bodies, and whole units, are kept.
pub trait BodyStore: Sync {
    fn put(&self, key: &BodyKey, body: &Body);
    /// To be called before the first unit is asked for.
    fn prepare(&self) {}
    /// The index of a unit whose text was seen before; its bodies are in the store.
    fn unit(&self, _key: &UnitKey) -> Option<UnitIndex> {
        None
    }
    fn put_unit(&self, _key: &UnitKey, _index: &UnitIndex) {}
}

/// A preprocessed translation unit.
pub struct UnitSource<'a> {
    /// The main source file as the tree names it.
    pub source: &'a str,
    pub text: &'a [u8],
    pub tree: &'a dyn Tree,
    /// Hash of what the answers of `tree` depend on.
    pub tree_key: [u8; 32],
}

/// The front ends of all units of a run. Units may be indexed on many threads at once; the result
/// does not depend on their order.
#[derive(Default)]
pub struct FrontEnd {
    share: Share,
}

/// Stack that a unit's work runs on: syntax trees are parsed, lowered and dropped recursively.
const STACK: usize = 256 << 20;
/// Less stack than this is not enough to start on.
const RED_ZONE: usize = 192 << 20;

/// Runs `work` on a stack that is large enough for what syntax trees of bounded nesting ask for.
pub fn with_stack<T>(work: impl FnOnce() -> T) -> T {
    stacker::maybe_grow(RED_ZONE, STACK, work)
}

impl FrontEnd {
    pub fn new() -> FrontEnd {
        FrontEnd::default()
    }

    /// Indexes a unit, from the store if its text was seen before.
    pub fn unit(&self, unit: &UnitSource<'_>, store: &dyn BodyStore) -> UnitIndex {
        self.unit_of_key(unit.key(), unit, store)
    }

    /// The same for a unit whose key is known.
    pub fn unit_of_key(
        &self,
        key: UnitKey,
        unit: &UnitSource<'_>,
        store: &dyn BodyStore,
    ) -> UnitIndex {
        if let Some(index) = store.unit(&key) {
            return index;
        }
        let index = with_stack(|| {
            let pieces = split(unit.text, unit.source, unit.tree);
            let scope = UnitScope::new(&self.share, unit.text, pieces);
            Driver {
                share: &self.share,
                scope: &scope,
                types: TypeCache::default(),
                store,
                queue: VecDeque::new(),
                queued: FxHashSet::default(),
                index: UnitIndex {
                    source: unit.source.to_owned(),
                    functions: Vec::new(),
                    pointer_size: scope.pieces().dialect.model.pointer,
                    methods: Vec::new(),
                    stored: Vec::new(),
                    enumerated: Vec::new(),
                    objects_defined: Vec::new(),
                    objects_needed: Vec::new(),
                    objects: Vec::new(),
                    objects_taken: Vec::new(),
                    declared_outside: Vec::new(),
                    declarations: 0,
                    function_definitions: 0,
                    bytes: unit.text.len() as u64,
                    losses: Vec::new(),
                },
            }
            .run()
        });
        store.put_unit(&key, &index);
        index
    }
}

impl UnitSource<'_> {
    pub fn key(&self) -> UnitKey {
        let mut hasher = blake3::Hasher::new();
        hasher.update(env!("CASSINI_BUILD").as_bytes());
        hasher.update(&self.tree_key);
        hasher.update(self.source.as_bytes());
        hasher.update(&[0]);
        hasher.update(self.text);
        UnitKey(*hasher.finalize().as_bytes())
    }
}

struct Driver<'a> {
    share: &'a Share,
    scope: &'a UnitScope<'a>,
    types: TypeCache,
    store: &'a dyn BodyStore,
    queue: VecDeque<DeclId>,
    queued: FxHashSet<DeclId>,
    index: UnitIndex,
}

impl Driver<'_> {
    fn run(mut self) -> UnitIndex {
        self.split_losses();
        let scope = self.scope;
        let mut aliases = Vec::new();
        for id in scope.ids() {
            let Some(outline) = scope.outline(id) else {
                continue;
            };
            aliases.extend(outline.aliases.iter().map(|alias| (id, alias)));
            self.index.declarations += 1;
            self.index.function_definitions += u64::from(outline.form == Form::Function);
            if !scope.file(id).is_some_and(|file| file.own) {
                continue;
            }
            match outline.form {
                Form::Function => self.enqueue(id),
                Form::Declaration => {
                    self.objects(id);
                    let declaration = scope.declaration(id);
                    let stored = declaration.and_then(|declaration| self.stored(&declaration, id));
                    if let Err(reason) = stored {
                        self.takes(id);
                        self.loss(id, reason);
                    }
                }
                Form::Inert => {}
            }
        }
        while let Some(id) = self.queue.pop_front() {
            self.needs(id);
            self.function(id);
        }
        self.aliases(aliases);
        objects::finish(&mut self.index, self.scope);
        for names in [
            &mut self.index.objects_defined,
            &mut self.index.objects_needed,
            &mut self.index.objects_taken,
            &mut self.index.declared_outside,
        ] {
            names.sort_unstable();
            names.dedup();
        }
        self.index
    }

    /// Adds the functions of the unit by the other names that declarations give them.
    fn aliases(&mut self, aliases: Vec<(DeclId, &Alias)>) {
        let scope = self.scope;
        for (id, alias) in aliases {
            let named = |name: &str| {
                self.index
                    .functions
                    .iter()
                    .find(|function| function.name.name == name)
            };
            let (Some(defined), None) = (named(&alias.defined), named(&alias.name)) else {
                continue;
            };
            let function = FunctionDef {
                name: self.symbol(id, &alias.name),
                weak: scope.is_weak(NameId::of(alias.name.as_bytes())),
                announced: scope.is_announced(NameId::of(alias.name.as_bytes())),
                ..FunctionDef::clone(defined)
            };
            self.index.functions.push(Arc::new(function));
        }
    }

    /// Notes the objects that a declaration defines, and those that its initialisers name.
    fn objects(&mut self, id: DeclId) {
        let scope = self.scope;
        let Some(outline) = scope.outline(id) else {
            return;
        };
        let declared = outline.declared.iter().filter(|declared| {
            declared.space == Space::Ordinary
                && matches!(declared.rank, rank::TENTATIVE | rank::INITIALISED)
        });
        let mut initialised = false;
        for declared in declared {
            initialised |= declared.rank == rank::INITIALISED;
            if !scope.is_internal(declared.name) {
                self.index.objects_defined.push(declared.name);
            }
        }
        if initialised {
            self.needs(id);
        }
    }

    /// Notes the objects of other units that a declaration of the main file names. (What a header's functions name is
    /// left out: most units that include it never call them.)
    fn needs(&mut self, id: DeclId) {
        let scope = self.scope;
        if scope.is_shared(id) {
            return;
        }
        let idents = scope.outline(id).map_or(&[][..], |outline| &outline.idents);
        let needed = idents
            .iter()
            .filter(|&&name| scope.is_object_elsewhere(name));
        self.index.objects_needed.extend(needed);
    }

    fn enqueue(&mut self, id: DeclId) {
        if self.queued.insert(id) {
            self.queue.push_back(id);
        }
    }

    /// Notes the functions in the initialisers of a declaration, which become reachable, and enumeration constants of files
    /// outside the tree.
    fn stored(&mut self, declaration: &Declaration, id: DeclId) -> Result<(), LossReason> {
        let scope = self.scope;
        let ast::ExternalDeclaration::Declaration(node) = &declaration.ast.node else {
            return Ok(());
        };
        let declarators = &node.node.declarators;
        let zero = objects::zero(declaration, id, scope)?;
        self.index.objects.extend(zero);
        if declarators
            .iter()
            .all(|item| item.node.initializer.is_none())
        {
            return Ok(());
        }
        let idents = scope.outline(id).map_or(&[][..], |outline| &outline.idents);
        let tells = |&name: &NameId| scope.is_function(name) || scope.is_enumerator_outside(name);
        if !idents.iter().any(tells) && !objects::is_short(scope, id) {
            self.takes(id);
            return Ok(());
        }
        let functions = idents.iter().filter_map(|&name| scope.function(name));
        functions.for_each(|id| self.enqueue(id));
        for item in declarators {
            let name = declarator_name(&item.node.declarator.node).unwrap_or("");
            let lowered = contained(|| lower_object(declaration, name, scope, &self.types))?;
            let Some(lowered) = lowered else { continue };
            let kept = objects::initialised(declaration, &lowered.body, scope)?;
            self.index.objects.extend(kept);
            let taken = objects::taken(&lowered.body);
            self.index.objects_taken.extend(taken);
            let named = lowered.body.mentions().into_iter();
            self.index.stored.extend(named.map(|mention| mention.name));
            self.index.methods.extend(lowered.methods);
            let enumerated = self.of_outside(lowered.enumerated);
            self.index.enumerated.extend(enumerated);
        }
        Ok(())
    }

    /// Takes all objects that a declaration names to be changed: nothing is known of what it does with them.
    fn takes(&mut self, id: DeclId) {
        let scope = self.scope;
        let idents = scope.outline(id).map_or(&[][..], |outline| &outline.idents);
        let objects = idents.iter().filter(|&&name| scope.is_object(name));
        self.index.objects_taken.extend(objects);
    }

    /// Those of these constants that files outside the tree define.
    fn of_outside(&self, mut enumerated: Vec<Enumerated>) -> Vec<Enumerated> {
        enumerated.retain(|one| {
            let name = NameId::of(one.constant.as_bytes());
            self.scope.is_enumerator_outside(name)
        });
        enumerated
    }

    fn split_losses(&mut self) {
        let pieces = self.scope.pieces();
        for (file, line, reason) in &pieces.losses {
            self.index.losses.push(Loss {
                file: pieces
                    .files
                    .get(*file)
                    .map_or(String::new(), |file| file.name.clone()),
                line: *line,
                name: None,
                reason: reason.clone(),
            });
        }
    }

    fn loss(&mut self, id: DeclId, reason: LossReason) {
        let outline = self.scope.outline(id);
        self.index.losses.push(Loss {
            file: self
                .scope
                .file(id)
                .map_or(String::new(), |file| file.name.clone()),
            line: self.scope.piece(id).map_or(0, |piece| piece.line),
            name: outline.and_then(|outline| outline.name.as_deref().map(str::to_owned)),
            reason,
        });
    }

    fn function(&mut self, id: DeclId) {
        let key = self.scope.full_key(id);
        let known = self.share.variants(&key);
        let known = known
            .iter()
            .find(|variant| self.scope.body_key(key, &variant.deps) == variant.key)
            .cloned();
        let variant = match known {
            Some(variant) => variant,
            None => {
                let variant = Arc::new(self.lower(id));
                if self.scope.is_shared(id) {
                    self.share.add_variant(key, Arc::clone(&variant));
                }
                variant
            }
        };
        self.index.objects_taken.extend(&variant.taken);
        if let Err(reason) = &variant.definition.body {
            self.takes(id);
            self.loss(id, reason.clone());
        }
        for line in &variant.nested {
            self.index.losses.push(Loss {
                file: variant.definition.file.clone(),
                line: *line,
                name: Some(variant.definition.name.name.clone()),
                reason: LossReason {
                    stage: Stage::Lower,
                    message: "nested function".to_owned(),
                },
            });
        }
        for mention in &variant.mentions {
            if self.scope.is_declared_outside(*mention) {
                self.index.declared_outside.push(*mention);
            }
            if let Some(id) = self.scope.function(*mention) {
                self.enqueue(id);
            }
        }
        self.index.functions.push(Arc::clone(&variant.definition));
    }

    /// Parses and lowers a function definition.
    fn lower(&self, id: DeclId) -> Variant {
        let recorder = Recorder::new(self.scope);
        let declaration = self.scope.definition(id);
        let nested = match &declaration {
            Ok(declaration) => declaration.nested.as_slice().into(),
            Err(_) => Box::default(),
        };
        let body = declaration.and_then(|declaration| {
            contained(|| lower_function(&declaration, &recorder, &self.types))
        });
        let deps = recorder.deps();
        let key = self.scope.body_key(self.scope.full_key(id), &deps);
        let file = self.scope.file(id);
        let place = self.scope.piece(id);
        let name = self.name(id);
        let mut definition = FunctionDef {
            announced: self.scope.is_announced(NameId::of(name.name.as_bytes())),
            weak: self.scope.is_weak(NameId::of(name.name.as_bytes())),
            name,
            file: file.map_or(String::new(), |file| file.name.clone()),
            line: place.map_or(0, |piece| piece.line),
            own: file.is_some_and(|file| file.own),
            body: Ok(key),
            callees: Vec::new(),
            calls_indirectly: false,
            holders_called: Vec::new(),
            methods: Vec::new(),
            enumerated: Vec::new(),
            pointer_size: self.scope.pieces().dialect.model.pointer,
            small: false,
            returns_record: false,
            results: Vec::new(),
            objects: Vec::new(),
            statics: Vec::new(),
        };
        let mut mentions = Vec::new();
        let mut taken = Vec::new();
        match body {
            Ok(Lowered {
                mut body,
                methods,
                enumerated,
                statics,
                taken: objects_taken,
            }) => {
                let names = objects_taken.iter();
                taken.extend(names.map(|object| NameId::of(object.name.as_bytes())));
                definition.objects = body.objects();
                definition.statics = statics;
                definition.enumerated = self.of_outside(enumerated);
                definition.calls_indirectly = body.calls_indirectly();
                definition.holders_called = body.holders_called();
                definition.methods = methods;
                definition.name = body.name.clone();
                definition.line = body.pos.line;
                definition.small = body.is_small();
                definition.returns_record = matches!(body.ret, RetTy::Record { .. });
                definition.results = constant_results(&body);
                definition.callees = body.mentions();
                mentions.extend(
                    body.symbols
                        .iter()
                        .filter(|symbol| matches!(symbol.kind, SymbolKind::Function { .. }))
                        .map(|symbol| NameId::of(symbol.name.name.as_bytes())),
                );
                body.hosted = self.scope.is_hosted();
                self.store.put(&key, &body);
            }
            Err(reason) => definition.body = Err(reason),
        }
        Variant {
            deps,
            key,
            definition: Arc::new(definition),
            mentions: mentions.into_boxed_slice(),
            taken: taken.into_boxed_slice(),
            nested,
        }
    }

    /// The name of a function that could not be lowered.
    fn name(&self, id: DeclId) -> SymbolName {
        let outline = self.scope.outline(id);
        let name = outline.and_then(|outline| outline.name.as_deref());
        self.symbol(id, name.unwrap_or(""))
    }

    /// A name that a declaration gives, with its linkage.
    fn symbol(&self, id: DeclId, name: &str) -> SymbolName {
        let internal = self.scope.is_internal(NameId::of(name.as_bytes()));
        let file = self.scope.file(id).filter(|_| internal);
        SymbolName {
            name: name.to_owned(),
            file: file.map(|file| file.name.clone()),
        }
    }
}

/// Lowers a function or an object; a panic costs that alone.
fn contained<T>(lower: impl FnOnce() -> Result<T, LossReason>) -> Result<T, LossReason> {
    catch_unwind(AssertUnwindSafe(lower)).unwrap_or_else(|_| {
        Err(LossReason {
            stage: Stage::Lower,
            message: "lowering panicked".to_owned(),
        })
    })
}
