//! Lowering: from a parsed function to the Saturn language (paper §2, DESIGN §4).
//!
//! In: a function definition, the unit's [`Scope`] and its [`TypeCache`]. Out: a [`Body`] that stands
//! alone. Every file-scope name that the body's meaning depends on is asked of the scope, so that the
//! scope can record what the body depends on; nothing else enters the result.
//!
//! Where a name has no meaning, as behind a header that was not found, the body is a best guess: an
//! undeclared object is an `int`, a member of an incomplete record lies at an offset that only its name
//! determines. Programs that compile have no such places.
//!
//! One mechanism evaluates constants, `sizeof`, `typeof` and ordinary code: expressions are lowered
//! and folded as they are built; a constant expression is one that folds to a constant with no
//! statement emitted ([`Lowerer::dry`]).

mod assign;
mod build;
mod builtin;
mod call;
mod condition;
mod declaration;
mod expr;
mod init;
mod literal;
mod names;
mod operator;
pub mod records;
mod stmt;
mod text;
mod tidy;
mod value;

use std::sync::Arc;

use lang_c::ast::{self, DerivedDeclarator, Expression};
use lang_c::span::{Node, Span};
use rustc_hash::{FxHashMap, FxHashSet};

use self::build::Builder;
pub use self::names::TypeCache;
use self::names::{Class, Layout, Look};
use self::value::Operand;
use super::LossReason;
use super::declare::{self, Lower, TypeContext, lost};
use super::parse::Declaration;
use super::scope::{Scope, TagKind};
use super::types::{EnumDef, IntKind, Kind, Lazy, Len, Name, Param, RecordDef, Type};
use crate::ir::{
    BlockId, Body, ExprId, Local, LocalId, Pos, RetTy, SymbolId, SymbolKind, SymbolName, TermKind,
};

/// A lowered function or initialiser.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Lowered {
    pub body: Body,
}

/// What a name of a block means.
#[derive(Clone, Debug)]
enum Binding {
    Local {
        id: LocalId,
        ty: Type,
    },
    /// A static local or a block-scope `extern`.
    Symbol {
        id: SymbolId,
        ty: Type,
    },
    Enumerator(i128, IntKind),
    /// A `constexpr` scalar.
    Constant(value::Value),
    Typedef(Type),
}

/// A function to call on a variable when its scope is left.
#[derive(Clone, Debug)]
struct Cleanup {
    function: Name,
    local: LocalId,
    ty: Type,
}

#[derive(Clone, Debug, Default)]
struct BlockScope {
    /// Tells this scope from all others of the function.
    number: u32,
    names: FxHashMap<Name, Binding>,
    tags: FxHashMap<(TagKind, Name), Type>,
    cleanups: Vec<Cleanup>,
    /// Locals declared here, for the end of their storage.
    locals: Vec<LocalId>,
}

/// A record of the function: its members once they are read, its layout once it is asked for.
type LocalRecord = (Option<Arc<RecordDef>>, Option<Arc<Layout>>);

/// Where `break` and `continue` go, and how many scopes they leave standing.
#[derive(Clone, Debug)]
struct Jump {
    to_break: Option<BlockId>,
    to_continue: Option<BlockId>,
    scopes: usize,
}

/// A `switch` being lowered.
#[derive(Clone, Debug)]
struct Switch {
    ty: crate::ir::Ty,
    cases: Vec<(i128, i128, BlockId)>,
    /// Cases whose values are not known.
    unknown: Vec<BlockId>,
    default: Option<BlockId>,
    /// The value if it is constant, and whether one of the cases has it.
    constant: Option<(i128, bool)>,
    /// Whether the `switch` itself can be reached.
    live: bool,
}

/// A `goto` whose way out of scopes is known once its label is.
#[derive(Clone, Debug)]
struct PendingGoto {
    from: BlockId,
    label: String,
    /// The scopes around the `goto`, outermost first, and what leaving each calls for.
    frames: Vec<(u32, Vec<Cleanup>)>,
    pos: Pos,
}

#[derive(Clone, Debug)]
struct LabelAt {
    block: BlockId,
    /// The scopes around the label, outermost first, and how many cleanups each had by then.
    frames: Vec<(u32, usize)>,
}

pub(crate) struct Lowerer<'a> {
    scope: &'a dyn Scope,
    cache: &'a TypeCache,
    declaration: &'a Declaration,
    b: Builder,
    /// Block scopes, innermost last; empty while file-scope text is evaluated.
    scopes: Vec<BlockScope>,
    scope_count: u32,
    jumps: Vec<Jump>,
    switches: Vec<Switch>,
    /// A `__label__` of a macro is defined once for each use of the macro.
    labels: FxHashMap<String, Vec<LabelAt>>,
    gotos: Vec<PendingGoto>,
    /// Labels whose address is taken, and the computed gotos that may go to them.
    addressed: Vec<String>,
    computed: Vec<BlockId>,
    local_records: Vec<LocalRecord>,
    static_names: FxHashMap<Name, Vec<usize>>,
    /// Inside the initialiser of an object with static storage.
    static_storage: bool,
    static_literals: u32,
    /// The initialisers of static locals, if they are wanted.
    statics: Option<Vec<Body>>,
    enumerating: Vec<FxHashMap<Name, i128>>,
    looks: Vec<Vec<Look>>,
    /// Locals whose address the program takes.
    address_taken: FxHashSet<LocalId>,
    function: String,
    ret: Type,
    depth: usize,
    prototypes: u32,
    /// Above zero while code is lowered only for its type or value.
    dry_runs: u32,
}

/// Lowers a function definition. The scope is asked for exactly the file-scope names that the body's
/// meaning depends on.
pub fn lower_function(
    declaration: &Declaration,
    scope: &dyn Scope,
    cache: &TypeCache,
) -> Result<Lowered, LossReason> {
    Ok(lowered(declaration, scope, cache, None)?.0)
}

/// Lowers a function definition, and the initialisers of its static locals to bodies of their own.
pub fn lower_function_with_statics(
    declaration: &Declaration,
    scope: &dyn Scope,
    cache: &TypeCache,
) -> Result<(Lowered, Vec<Body>), LossReason> {
    lowered(declaration, scope, cache, Some(Vec::new()))
}

fn lowered(
    declaration: &Declaration,
    scope: &dyn Scope,
    cache: &TypeCache,
    statics: Option<Vec<Body>>,
) -> Result<(Lowered, Vec<Body>), LossReason> {
    let ast::ExternalDeclaration::FunctionDefinition(definition) = &declaration.ast.node else {
        return lost("not a function definition");
    };
    let definition = &definition.node;
    let declared = declaration.declared()?;
    let Some((name, entity)) = declared.entities.iter().next() else {
        return lost("function definition without a name");
    };
    let mut lowerer = Lowerer::new(declaration, scope, cache, name.to_string());
    let mut symbol = SymbolName {
        name: name.to_string(),
        file: entity.file.clone(),
    };
    // An earlier declaration may have made it static.
    if symbol.file.is_none()
        && let Some(names::Ordinary::Entity(seen)) = lowerer.ordinary(name)?
    {
        symbol.file = seen.file;
    }
    lowerer.statics = statics;
    let body = lowerer.lower_definition(definition, symbol)?;
    Ok((body, lowerer.statics.unwrap_or_default()))
}

/// Lowers the initialiser of a file-scope object: a body without parameters that stores it, or `None`
/// if the declaration does not initialise `name`.
pub fn lower_object(
    declaration: &Declaration,
    name: &str,
    scope: &dyn Scope,
    cache: &TypeCache,
) -> Result<Option<Lowered>, LossReason> {
    let ast::ExternalDeclaration::Declaration(node) = &declaration.ast.node else {
        return Ok(None);
    };
    let declared = declaration.declared()?;
    let Some(entity) = declared.entities.get(name) else {
        return Ok(None);
    };
    for item in &node.node.declarators {
        let Some(initializer) = &item.node.initializer else {
            continue;
        };
        if declarator_name(&item.node.declarator.node) != Some(name) {
            continue;
        }
        let mut lowerer = Lowerer::new(declaration, scope, cache, name.to_owned());
        let symbol = SymbolName {
            name: name.to_owned(),
            file: entity.file.clone(),
        };
        return lowerer
            .lower_initializer(symbol, entity, initializer, item.span)
            .map(Some);
    }
    Ok(None)
}

/// The identifier that a declarator declares.
pub fn declarator_name(declarator: &ast::Declarator) -> Option<&str> {
    match &declarator.kind.node {
        ast::DeclaratorKind::Abstract => None,
        ast::DeclaratorKind::Identifier(id) => Some(&id.node.name),
        ast::DeclaratorKind::Declarator(inner) => declarator_name(&inner.node),
    }
}

/// The parameter list of a function definition's declarator: the suffix nearest to the name.
fn parameter_suffix(declarator: &ast::Declarator) -> Option<&DerivedDeclarator> {
    let inner = match &declarator.kind.node {
        ast::DeclaratorKind::Declarator(inner) => parameter_suffix(&inner.node),
        _ => None,
    };
    inner.or_else(|| {
        declarator
            .derived
            .iter()
            .map(|derived| &derived.node)
            .find(|derived| !matches!(derived, DerivedDeclarator::Pointer(_)))
    })
}

/// Whether a parameter is declared as an array.
fn is_array(parameter: &ast::ParameterDeclaration) -> bool {
    let derived = parameter
        .declarator
        .iter()
        .flat_map(|node| &node.node.derived);
    let mut kinds = derived.map(|node| &node.node);
    kinds.any(|derived| matches!(derived, DerivedDeclarator::Array(_)))
}

impl<'a> Lowerer<'a> {
    fn new(
        declaration: &'a Declaration,
        scope: &'a dyn Scope,
        cache: &'a TypeCache,
        function: String,
    ) -> Lowerer<'a> {
        Lowerer {
            scope,
            cache,
            declaration,
            b: Builder::new(),
            scopes: Vec::new(),
            scope_count: 0,
            jumps: Vec::new(),
            switches: Vec::new(),
            labels: FxHashMap::default(),
            gotos: Vec::new(),
            addressed: Vec::new(),
            computed: Vec::new(),
            local_records: Vec::new(),
            static_names: FxHashMap::default(),
            static_storage: false,
            static_literals: 0,
            statics: None,
            enumerating: Vec::new(),
            looks: Vec::new(),
            address_taken: FxHashSet::default(),
            function,
            ret: Type::void(),
            depth: 0,
            prototypes: 0,
            dry_runs: 0,
        }
    }

    fn lower_definition(
        &mut self,
        definition: &ast::FunctionDefinition,
        name: SymbolName,
    ) -> Lower<Lowered> {
        self.at(definition.declarator.span);
        let pos = self.b.pos;
        self.open_scope();
        let (params, variadic) = self.parameters(definition)?;
        let specified = declare::specifiers(self, &definition.specifiers)?;
        let mut attributes = specified.attributes;
        let (_, ty) = declare::declared(
            self,
            specified.ty,
            &definition.declarator.node,
            &mut attributes,
        )?;
        self.ret = match self.signature(&ty)? {
            Some(signature) => signature.ret.clone(),
            None => return lost("function definition without a function type"),
        };
        let ret = self.return_type(&self.ret.clone())?;
        self.statement(&definition.statement)?;
        let end = definition.statement.span.end.saturating_sub(1);
        let end_line = self.declaration.places.place(end).line;
        self.at(Span::span(end, end));
        self.close_scope()?;
        // Falling off the end returns an unspecified value.
        let value = match ret {
            RetTy::Scalar(ty) if !self.b.dead() => Some(crate::ir::Arg::Scalar(self.b.unknown(ty))),
            _ => None,
        };
        self.b.terminate(TermKind::Return(value));
        self.finish_jumps()?;
        Ok(self.finish(name, pos, end_line, params, variadic, ret))
    }

    fn lower_initializer(
        &mut self,
        name: SymbolName,
        entity: &super::declared::Entity,
        initializer: &Node<ast::Initializer>,
        span: Span,
    ) -> Lower<Lowered> {
        self.at(span);
        let pos = self.b.pos;
        self.open_scope();
        let ty = self.completed(&entity.ty, Some(&initializer.node))?;
        let kind = SymbolKind::Object {
            size: self.size_of(&ty).unwrap_or(0),
            thread_local: entity.thread_local,
        };
        let symbol = self.b.symbol(name.clone(), kind);
        let addr = self.b.addr_symbol(symbol);
        self.static_storage = true;
        self.initialize(addr, &ty, &initializer.node)?;
        self.close_scope()?;
        self.b.terminate(TermKind::Return(None));
        self.finish_jumps()?;
        let end_line = self.declaration.places.place(span.end).line;
        Ok(self.finish(name, pos, end_line, 0, false, RetTy::Void))
    }

    fn finish(
        &mut self,
        name: SymbolName,
        pos: Pos,
        end_line: u32,
        params: u32,
        variadic: bool,
        ret: RetTy,
    ) -> Lowered {
        let blocks = self.b.take_blocks();
        let b = std::mem::take(&mut self.b);
        let mut body = Body {
            name,
            pos,
            end_line,
            params,
            variadic,
            ret,
            locals: b.locals,
            symbols: b.symbols,
            strings: b.strings,
            names: b.names,
            files: b.files,
            exprs: b.exprs,
            blocks,
        };
        tidy::tidy(&mut body);
        Lowered { body }
    }

    /// Declares the parameters as the first locals: how many, and whether more may follow.
    fn parameters(&mut self, definition: &ast::FunctionDefinition) -> Lower<(u32, bool)> {
        let (params, variadic) = match parameter_suffix(&definition.declarator.node) {
            Some(DerivedDeclarator::Function(function)) => {
                let nodes = &function.node.parameters;
                // Lengths of variable-length parameters are locals too: the parameters come first.
                let slots = self.reserve(nodes.len());
                let mut count = 0;
                // Lengths of arrays may speak of parameters that GNU C declares forward.
                let (arrays, others): (Vec<_>, Vec<_>) = nodes
                    .iter()
                    .zip(slots)
                    .partition(|(node, _)| is_array(&node.node));
                for (node, slot) in others.into_iter().chain(arrays) {
                    let param = declare::parameter(self, &node.node)?;
                    if param.name.is_none() && matches!(self.resolve(&param.ty)?.kind, Kind::Void) {
                        continue;
                    }
                    self.bind_parameter(&param, slot)?;
                    count += 1;
                }
                let variadic = function.node.ellipsis == ast::Ellipsis::Some;
                (count, variadic)
            }
            Some(DerivedDeclarator::KRFunction(names)) => {
                let params = self.old_parameters(names, &definition.declarations)?;
                let slots = self.reserve(params.len());
                for (param, slot) in params.iter().zip(slots) {
                    self.bind_parameter(param, slot)?;
                }
                (params.len(), false)
            }
            _ => return lost("function definition without parameters"),
        };
        Ok((u32::try_from(params).unwrap_or(u32::MAX), variadic))
    }

    /// The parameters of a K&R definition; those not declared are `int`.
    fn old_parameters(
        &mut self,
        names: &[Node<ast::Identifier>],
        declarations: &[Node<ast::Declaration>],
    ) -> Lower<Vec<Param>> {
        let mut types: FxHashMap<Name, Type> = FxHashMap::default();
        for declaration in declarations {
            let specified = declare::specifiers(self, &declaration.node.specifiers)?;
            for item in &declaration.node.declarators {
                let mut attributes = specified.attributes.clone();
                let declarator = &item.node.declarator.node;
                let declared =
                    declare::declared(self, specified.ty.clone(), declarator, &mut attributes)?;
                if let (Some(name), ty) = declared {
                    types.insert(name, ty.adjusted());
                }
            }
        }
        Ok(names
            .iter()
            .map(|id| {
                let name = Name::from(id.node.name.as_str());
                let ty = types.remove(&name);
                Param {
                    name: Some(name),
                    ty: ty.unwrap_or_else(|| Type::int(IntKind::Int)),
                }
            })
            .collect())
    }

    /// The first locals, to be filled in with parameters.
    fn reserve(&mut self, count: usize) -> Vec<LocalId> {
        let empty = || Local {
            name: String::new(),
            size: 0,
            ty: None,
            type_name: String::new(),
        };
        (0..count).map(|_| self.b.local(empty())).collect()
    }

    fn bind_parameter(&mut self, param: &Param, slot: LocalId) -> Lower<()> {
        let ty = self.resolve(&param.ty)?.adjusted();
        let kept = match ty.kind {
            Kind::Pointer(_) if !matches!(param.ty.kind, Kind::Pointer(_)) => ty,
            _ => param.ty.clone(),
        };
        let name = param.name.as_deref().unwrap_or("");
        let local = self.local_of(name, &kept)?;
        if let Some(place) = self.b.locals.get_mut(slot.index()) {
            *place = local;
        }
        if let Some(name) = &param.name {
            self.bind(name.clone(), Binding::Local { id: slot, ty: kept });
        }
        Ok(())
    }

    /// A local variable of a complete type.
    fn new_local(&mut self, name: &str, ty: &Type) -> Lower<LocalId> {
        let local = self.local_of(name, ty)?;
        Ok(self.b.local(local))
    }

    fn local_of(&mut self, name: &str, ty: &Type) -> Lower<Local> {
        let (size, scalar) = match self.class(ty)? {
            Class::Scalar(scalar) => (u64::from(scalar.bits()).div_ceil(8), Some(scalar)),
            Class::Memory(size) => (size, None),
            Class::Array => match self.size_of(ty) {
                Ok(size) => (size, None),
                Err(_) if self.is_variable(ty)? => (0, None),
                Err(reason) => return Err(reason),
            },
            Class::Void | Class::Function => return lost(format!("variable {name} of type {ty}")),
        };
        let type_name = self.type_name(ty)?;
        Ok(Local {
            name: name.to_owned(),
            size,
            ty: scalar,
            type_name,
        })
    }

    /// What `Local::type_name` shows: for a pointer, the type pointed to.
    fn type_name(&mut self, ty: &Type) -> Lower<String> {
        let resolved = self.resolve(ty)?;
        Ok(match &resolved.kind {
            Kind::Pointer(to) => self.spelling(to),
            _ => self.spelling(ty),
        })
    }

    /// A type's name with local records spelt by their tag.
    fn spelling(&self, ty: &Type) -> String {
        if let Kind::LocalRecord(id) = ty.kind
            && let Some((Some(def), _)) = self.local_records.get(id as usize)
            && let Some(tag) = &def.tag
        {
            let keyword = if def.union { "union" } else { "struct" };
            return format!("{keyword} {tag}");
        }
        ty.spelling()
    }

    /// What a function of this result type returns.
    fn return_type(&mut self, ty: &Type) -> Lower<RetTy> {
        Ok(match self.class(ty)? {
            Class::Scalar(ty) => RetTy::Scalar(ty),
            Class::Memory(size) => RetTy::Record { size },
            Class::Void => RetTy::Void,
            Class::Array | Class::Function => return lost("function returning an array"),
        })
    }

    /// Sets the position of what is emitted next.
    fn at(&mut self, span: Span) {
        // Text of other declarations has no place in this function.
        if self.dry_runs > 0 || (self.scopes.is_empty() && self.b.pos.line != 0) {
            return;
        }
        let place = self.declaration.places.place(span.start);
        let file = self.b.file(place.file);
        self.b.pos = Pos {
            file,
            line: place.line,
            column: u16::try_from(place.column).unwrap_or(0),
        };
    }

    // ---- names of blocks ----

    fn open_scope(&mut self) {
        self.scope_count += 1;
        self.scopes.push(BlockScope {
            number: self.scope_count,
            ..BlockScope::default()
        });
    }

    fn bind(&mut self, name: Name, binding: Binding) {
        if let Some(scope) = self.scopes.last_mut() {
            scope.names.insert(name, binding);
        }
    }

    fn local_binding(&self, name: &str) -> Option<&Binding> {
        self.scopes
            .iter()
            .rev()
            .find_map(|scope| scope.names.get(name))
    }

    // ---- constants and types of expressions ----

    /// Runs `f` on code that is not to be executed, and takes back what it emitted. Says whether that
    /// was nothing at all.
    fn dry<T>(&mut self, f: impl FnOnce(&mut Self) -> T) -> (T, bool) {
        let blocks = self.b.blocks.len();
        let locals = self.b.locals.len();
        let resume = self.b.current();
        let scopes = self.scopes.len();
        let jumps = self.jumps.len();
        let switches = self.switches.len();
        let gotos = self.gotos.len();
        let computed = self.computed.len();
        let labels = std::mem::take(&mut self.labels);
        let start = self.b.block();
        self.b.enter(start);
        self.b.switch_to(start);
        self.dry_runs += 1;
        let result = f(self);
        self.dry_runs -= 1;
        let quiet = self.b.current() == start && self.b.blocks[start.index()].stmts.is_empty();
        self.b.switch_to(resume);
        self.b.blocks.truncate(blocks);
        self.b.locals.truncate(locals);
        self.scopes.truncate(scopes);
        self.jumps.truncate(jumps);
        self.switches.truncate(switches);
        self.gotos.truncate(gotos);
        self.computed.truncate(computed);
        self.labels = labels;
        (result, quiet)
    }

    /// An expression's value as a constant, if it is one.
    fn fold_constant(&mut self, expr: &Node<Expression>) -> Lower<Option<ExprId>> {
        let (value, quiet) = self.dry(|this| {
            let operand = this.operand(expr)?;
            match operand {
                // Reading a variable gives no constant; an array decays to an address.
                Operand::Value(value) => Ok(value.scalar()),
                Operand::Place(place) => {
                    let value = this.rvalue(Operand::Place(place))?;
                    Ok(value.scalar())
                }
            }
        });
        Ok(value?.filter(|_| quiet))
    }

    /// The value of an integer constant expression.
    fn integer_constant(&mut self, expr: &Node<Expression>) -> Lower<i128> {
        if let Expression::Constant(constant) = &expr.node
            && let ast::Constant::Integer(integer) = &constant.node
        {
            let (value, _) = literal::integer(integer)?;
            return Ok(value.cast_signed());
        }
        let folded = self.fold_constant(expr)?;
        match folded.and_then(|value| self.b.constant(value)) {
            Some(value) => Ok(value),
            None => lost(format!("not a constant: {}", text::expression(expr, 40))),
        }
    }

    /// lang-c reads `typeof(T)` and `typeof(T[n])` as expressions: the type, if it is one.
    fn type_as_expression(&mut self, expr: &Node<Expression>) -> Lower<Option<Type>> {
        match &expr.node {
            Expression::Identifier(id) => {
                let name = &id.node.name;
                match self.local_binding(name) {
                    Some(Binding::Typedef(ty)) => return Ok(Some(ty.clone())),
                    Some(_) => return Ok(None),
                    None => {}
                }
                if self.scope.ordinary(name).is_some() || name.starts_with("__func") {
                    return Ok(None);
                }
                self.typedef_target(&Name::from(name.as_str()))
            }
            Expression::BinaryOperator(binary)
                if binary.node.operator.node == ast::BinaryOperator::Index =>
            {
                let Some(of) = self.type_as_expression(&binary.node.lhs)? else {
                    return Ok(None);
                };
                let len = self.length(&binary.node.rhs)?;
                Ok(Some(Type::array(of, len)))
            }
            _ => Ok(None),
        }
    }

    /// An expression's type, without evaluating it.
    fn type_of_expression(&mut self, expr: &Node<Expression>) -> Lower<Type> {
        if let Some(ty) = self.type_as_expression(expr)? {
            return Ok(ty);
        }
        let (ty, _) = self.dry(|this| {
            Ok(match this.operand(expr)? {
                Operand::Place(place) => place.ty,
                Operand::Value(value) => value.ty,
            })
        });
        Ok(expr::declared(ty?))
    }
}

/// Types inside a function: names are resolved and numbers evaluated on the spot.
impl TypeContext for Lowerer<'_> {
    fn number(&mut self, expr: &Node<Expression>) -> Lower<Lazy> {
        let value = self.integer_constant(expr)?;
        match u64::try_from(value) {
            Ok(value) => Ok(Lazy::Value(value)),
            Err(_) => lost("negative size"),
        }
    }

    fn length(&mut self, expr: &Node<Expression>) -> Lower<Len> {
        match self.integer_constant(expr) {
            Ok(value) => match u64::try_from(value) {
                Ok(value) => Ok(Len::Known(value)),
                Err(_) => lost("array of negative size"),
            },
            // Lengths in a parameter list may speak of parameters that are not bound.
            Err(_) if self.prototypes > 0 => Ok(Len::Unknown),
            Err(_) => self.variable_length(expr),
        }
    }

    fn type_of(&mut self, expr: &Node<Expression>) -> Lower<Type> {
        self.type_of_expression(expr)
    }

    fn typedef(&mut self, name: &str) -> Lower<Type> {
        match self.local_binding(name) {
            Some(Binding::Typedef(ty)) => Ok(ty.clone()),
            _ => Ok(Type::new(Kind::Typedef(Name::from(name)))),
        }
    }

    fn tag(&mut self, kind: TagKind, name: &str) -> Lower<Type> {
        let key = (kind, Name::from(name));
        let known = self.scopes.iter().rev().find_map(|s| s.tags.get(&key));
        Ok(match known {
            Some(ty) => ty.clone(),
            None => Type::new(Kind::Tag(kind, key.1)),
        })
    }

    fn begin_record(&mut self, kind: TagKind, tag: Option<&str>) -> Option<u32> {
        let id = u32::try_from(self.local_records.len()).ok()?;
        self.local_records.push((None, None));
        if let Some(tag) = tag
            && let Some(scope) = self.scopes.last_mut()
        {
            let ty = Type::new(Kind::LocalRecord(id));
            scope.tags.insert((kind, Name::from(tag)), ty);
        }
        Some(id)
    }

    fn end_record(&mut self, begun: Option<u32>, _: TagKind, def: RecordDef) -> Type {
        let id = begun.unwrap_or_default();
        if let Some(entry) = self.local_records.get_mut(id as usize) {
            entry.0 = Some(Arc::new(def));
        }
        Type::new(Kind::LocalRecord(id))
    }

    fn define_enum(&mut self, tag: Option<&str>, def: EnumDef) -> Lower<Type> {
        let values = self.enumerate(&def, |_, _, _| {})?;
        for ((name, _), (value, kind)) in def.enumerators.iter().zip(&values.values) {
            self.bind(name.clone(), Binding::Enumerator(*value, *kind));
        }
        let ty = Type::int(values.kind);
        if let Some(tag) = tag
            && let Some(scope) = self.scopes.last_mut()
        {
            scope
                .tags
                .insert((TagKind::Enum, Name::from(tag)), ty.clone());
        }
        Ok(ty)
    }

    fn prototype(&mut self, enter: bool) {
        if enter {
            self.prototypes += 1;
        } else {
            self.prototypes -= 1;
        }
    }
}

#[cfg(test)]
mod testing;
#[cfg(test)]
mod tests;
