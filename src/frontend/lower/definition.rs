//! Whole definitions: functions with their parameters, objects with their initialisers.
//!
//! In: a parsed external declaration. Out: a [`Body`].

use lang_c::ast::{self, DerivedDeclarator};
use lang_c::span::{Node, Span};
use rustc_hash::FxHashMap;

use super::{Binding, Lowered, Lowerer, TypeCache, names, tidy};
use crate::frontend::LossReason;
use crate::frontend::declare::{self, Lower, lost};
use crate::frontend::declared::Entity;
use crate::frontend::parse::Declaration;
use crate::frontend::scope::Scope;
use crate::frontend::types::{IntKind, Kind, Name, Param, Type};
use crate::ir::{Arg, Body, Local, LocalId, Pos, RetTy, SymbolKind, SymbolName, TermKind};

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

impl Lowerer<'_> {
    fn lower_definition(
        &mut self,
        definition: &ast::FunctionDefinition,
        name: SymbolName,
    ) -> Lower<Lowered> {
        self.at(definition.declarator.span);
        let pos = self.b.pos;
        self.open_scope();
        let (params, variadic) = self.parameters(definition)?;
        self.b.params = params;
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
            RetTy::Scalar(ty) if !self.b.dead() => Some(Arg::Scalar(self.b.unknown(ty))),
            _ => None,
        };
        self.b.terminate(TermKind::Return(value));
        self.finish_jumps()?;
        Ok(self.finish(name, pos, end_line, params, variadic, ret))
    }

    fn lower_initializer(
        &mut self,
        name: SymbolName,
        entity: &Entity,
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
        self.noting = true;
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
        let spellings = self.b.take_spellings();
        let b = std::mem::take(&mut self.b);
        let mut body = Body {
            name,
            pos,
            end_line,
            params,
            variadic,
            takes_pointers: b.takes_pointers,
            ret,
            pointer_size: self.model.pointer,
            hosted: false,
            locals: b.locals,
            symbols: b.symbols,
            strings: b.strings,
            names: b.names,
            files: b.files,
            exprs: b.exprs,
            blocks,
            spellings,
        };
        tidy::tidy(&mut body);
        Lowered {
            body,
            methods: std::mem::take(&mut self.methods),
            enumerated: std::mem::take(&mut self.enumerated),
            statics: std::mem::take(&mut self.kept),
            taken: std::mem::take(&mut self.taken),
        }
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
}
