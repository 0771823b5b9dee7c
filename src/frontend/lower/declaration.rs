//! Declarations inside functions: variables, static locals, typedefs, block-scope externs.
//!
//! In: declaration syntax. Out: locals and symbols bound in the innermost scope, initialisers lowered.

use lang_c::ast;
use lang_c::span::{Node, Span};

use super::names::Ordinary;
use super::size::Class;
use super::{Binding, Cleanup, Lowerer};
use crate::frontend::StaticObject;
use crate::frontend::declare::{self, Attributes, Lower, Specified, lost};
use crate::frontend::types::{Kind, Lazy, Len, Name, Type};
use crate::ir::image::Tables;
use crate::ir::{Image, StmtKind, SymbolId, SymbolKind, SymbolName, TermKind};

impl Lowerer<'_> {
    pub fn local_declaration(&mut self, declaration: &ast::Declaration) -> Lower<()> {
        let specified = declare::specifiers(self, &declaration.specifiers)?;
        for item in &declaration.declarators {
            self.at(item.span);
            self.local_declarator(&specified, item)?;
        }
        Ok(())
    }

    fn local_declarator(
        &mut self,
        specified: &Specified,
        item: &Node<ast::InitDeclarator>,
    ) -> Lower<()> {
        let mut attributes = specified.attributes.clone();
        let declarator = &item.node.declarator.node;
        let (name, mut ty) =
            declare::declared(self, specified.ty.clone(), declarator, &mut attributes)?;
        let Some(name) = name else {
            return Ok(());
        };
        let initializer = item.node.initializer.as_ref();
        if specified.typedef {
            if let Some(align) = attributes.aligns.pop() {
                ty.align = Some(std::sync::Arc::new(align));
            }
            self.bind(name, Binding::Typedef(ty));
            return Ok(());
        }
        if attributes.constexpr
            && let Some(ast::Initializer::Expression(expr)) = initializer.map(|node| &node.node)
        {
            let value = self.value(expr)?;
            let ty = match ty.kind {
                Kind::Auto => value.ty.clone(),
                _ => ty.clone(),
            };
            if let Class::Scalar(_) = self.class(&ty)? {
                let value = self.converted(&value, &ty)?;
                self.bind(name, Binding::Constant(value));
                return Ok(());
            }
        }
        if matches!(ty.kind, Kind::Auto) {
            return self.automatic(name, initializer, attributes);
        }
        let is_function = matches!(self.resolve(&ty)?.kind, Kind::Function(_));
        if is_function || specified.external {
            return self.block_extern(name, ty, specified, &attributes, is_function);
        }
        if specified.internal || specified.thread_local {
            let aligns = &attributes.aligns;
            return self.static_local(name, ty, specified, aligns, (initializer, item.span));
        }
        self.variable(name, ty, initializer, attributes)
    }

    /// `__auto_type x = e;`
    fn automatic(
        &mut self,
        name: Name,
        initializer: Option<&Node<ast::Initializer>>,
        attributes: Attributes,
    ) -> Lower<()> {
        let Some(ast::Initializer::Expression(expr)) = initializer.map(|node| &node.node) else {
            return lost("__auto_type without initialiser");
        };
        let value = self.value(expr)?;
        let ty = super::expr::declared(value.ty.clone());
        let id = self.declare_local(&name, &ty, attributes)?;
        let addr = self.b.addr_local(id);
        let place = super::value::Place::new(addr, ty);
        self.write(&place, &value)
    }

    fn variable(
        &mut self,
        name: Name,
        ty: Type,
        initializer: Option<&Node<ast::Initializer>>,
        attributes: Attributes,
    ) -> Lower<()> {
        let ty = self.completed(&ty, initializer.map(|node| &node.node))?;
        let id = self.declare_local(&name, &ty, attributes)?;
        if self.b.dead() {
            return Ok(());
        }
        match initializer {
            Some(initializer) => {
                let addr = self.b.addr_local(id);
                self.initialize(addr, &ty, &initializer.node)
            }
            None => {
                self.b.stmt(StmtKind::ScopeBegin(id));
                Ok(())
            }
        }
    }

    fn declare_local(
        &mut self,
        name: &Name,
        ty: &Type,
        attributes: Attributes,
    ) -> Lower<crate::ir::LocalId> {
        let id = self.new_local(name, ty)?;
        let binding = Binding::Local { id, ty: ty.clone() };
        self.bind(name.clone(), binding);
        self.align_variable(name, ty, &attributes.aligns)?;
        let live = !self.b.dead();
        if let Some(scope) = self.scopes.last_mut()
            && let Some(function) = attributes.cleanup
            && live
        {
            scope.cleanups.push(Cleanup {
                function,
                local: id,
                ty: ty.clone(),
            });
        }
        Ok(id)
    }

    fn block_extern(
        &mut self,
        name: Name,
        ty: Type,
        specified: &Specified,
        attributes: &Attributes,
        is_function: bool,
    ) -> Lower<()> {
        // The file scope knows its linkage, and may know more of its type.
        let file = match self.at_file_scope(|this| this.ordinary(&name))? {
            Some(Ordinary::Entity(entity)) => {
                let place = self.entity_place(&name, &entity)?;
                if let crate::ir::ExprKind::AddrSymbol(id) = *self.b.kind(place.addr) {
                    self.bind(name, Binding::Symbol { id, ty });
                    return Ok(());
                }
                entity.file
            }
            _ => None,
        };
        let kind = if is_function {
            SymbolKind::Function {
                noreturn: attributes.noreturn || super::call::never_returns(&name),
                declared: true,
            }
        } else {
            SymbolKind::Object {
                size: self.size_of(&ty).unwrap_or(0),
                thread_local: specified.thread_local,
            }
        };
        let symbol = SymbolName {
            name: name.to_string(),
            file,
        };
        let id = self.b.symbol(symbol, kind);
        self.bind(name, Binding::Symbol { id, ty });
        Ok(())
    }

    /// A static local is the global object `function.variable` of this file.
    fn static_local(
        &mut self,
        name: Name,
        ty: Type,
        specified: &Specified,
        aligns: &[Lazy],
        (initializer, span): (Option<&Node<ast::Initializer>>, Span),
    ) -> Lower<()> {
        let ty = self.completed(&ty, initializer.map(|node| &node.node))?;
        let ty = match (&ty.kind, initializer.map(|node| &node.node)) {
            (Kind::Array(_, Len::Unknown), None) => return lost("static array without a length"),
            _ => ty,
        };
        let places = self.static_names.entry(name.clone()).or_default();
        let nth = match places.iter().position(|at| *at == span.start) {
            Some(nth) => nth,
            None => {
                places.push(span.start);
                places.len() - 1
            }
        };
        let mut full = format!("{}.{name}", self.function);
        if nth > 0 {
            full = format!("{full}.{}", nth + 1);
        }
        let file = self.declaration.places.place(span.start).file.to_owned();
        let kind = SymbolKind::Object {
            size: self.size_of(&ty).unwrap_or(0),
            thread_local: specified.thread_local,
        };
        let symbol = SymbolName {
            name: full,
            file: Some(file),
        };
        let id = self.b.symbol(symbol.clone(), kind);
        // Bound first: an object may hold its own address.
        let binding = Binding::Symbol { id, ty: ty.clone() };
        self.bind(name.clone(), binding);
        self.align_variable(&name, &ty, aligns)?;
        if specified.attributes.once && !self.b.dead() {
            // What warns once warns now, so that paths end at a failed WARN_ONCE as at a failed WARN.
            let (dst, size) = (self.b.addr_symbol(id), self.size_of(&ty)?);
            self.b.stmt(StmtKind::Zero { dst, size });
        }
        if let Some(initializer) = initializer {
            // Not run here; a table of labels tells where a computed goto may go.
            let addr = self.b.addr_symbol(id);
            if self.statics.is_some() && self.dry_runs == 0 {
                self.static_initializer(symbol, addr, &ty, &initializer.node)?;
            } else {
                self.noting = true;
                let (image, _) = self.dry(|this| {
                    let start = this.b.current();
                    this.initialize(addr, &ty, &initializer.node).ok()?;
                    (this.b.current() == start).then(|| this.static_image(id))?
                });
                self.noting = false;
                self.keep_static(symbol, &ty, image);
            }
        } else {
            self.keep_static(symbol, &ty, Some(Image::zero()));
        }
        Ok(())
    }

    /// What the statements of the current block leave in an object.
    fn static_image(&mut self, object: SymbolId) -> Option<Image> {
        let tables = Tables {
            exprs: &self.b.exprs,
            symbols: &self.b.symbols,
            strings: &self.b.strings,
            pointer: self.model.pointer,
        };
        let stmts = &self.b.blocks[self.b.current().index()].stmts;
        self.taken.extend(tables.addresses(stmts));
        Image::of(object, tables, stmts)
    }

    /// Notes what a static variable holds. One whose initialiser is met twice is noted once.
    fn keep_static(&mut self, name: SymbolName, ty: &Type, image: Option<Image>) {
        if self.kept.iter().all(|kept| kept.name != name) {
            let kept = image.and_then(|image| StaticObject::of(name, ty, image));
            self.kept.extend(kept);
        }
    }

    /// Lowers a static local's initialiser to a body of its own.
    fn static_initializer(
        &mut self,
        name: SymbolName,
        addr: crate::ir::ExprId,
        ty: &Type,
        initializer: &ast::Initializer,
    ) -> Lower<()> {
        let resume = self.b.current();
        let first = self.b.block();
        self.b.enter(first);
        self.b.switch_to(first);
        self.static_storage = true;
        self.initialize(addr, ty, initializer)?;
        self.static_storage = false;
        self.b.terminate(TermKind::Return(None));
        let blocks = self.b.split_off(first);
        self.b.switch_to(resume);
        let body = self.b.body_of(name, blocks);
        if let Some(statics) = &mut self.statics {
            statics.push(body);
        }
        Ok(())
    }
}
