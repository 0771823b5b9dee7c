//! What one external declaration declares: typedefs, tags, functions, objects, enumerators.
//!
//! In: a parsed declaration. Out: [`Declared`], in which names and numbers stay symbolic, so that it
//! holds in every unit that has the declaration.

use std::sync::Arc;

use lang_c::ast::{self, Expression};
use lang_c::span::Node;
use rustc_hash::FxHashMap;

use super::declare::{Lower, Specified, TypeContext, declared, specifiers};
use super::model::Model;
use super::parse::Declaration;
use super::scope::TagKind;
use super::types::{EnumDef, Kind, Lazy, Len, Name, RecordDef, Type};

/// A file-scope function or object.
#[derive(Clone, Debug)]
pub struct Entity {
    pub ty: Type,
    /// The file of the declaration when it has internal linkage.
    pub file: Option<String>,
    pub thread_local: bool,
    pub noreturn: bool,
    /// What `aligned` gives the object itself.
    pub aligns: Vec<Lazy>,
    /// The initialiser's element count where the array type leaves it open.
    pub open_length: Option<Arc<Node<ast::Initializer>>>,
    /// The initialiser of a `constexpr` object.
    pub constant: Option<Arc<Node<ast::Initializer>>>,
}

/// Everything that one external declaration declares.
#[derive(Debug, Default)]
pub struct Declared {
    pub typedefs: FxHashMap<Name, Type>,
    pub records: FxHashMap<(TagKind, Name), Arc<RecordDef>>,
    pub enums: FxHashMap<Name, Arc<EnumDef>>,
    pub entities: FxHashMap<Name, Entity>,
    /// Enumerators: their enumeration and index in it.
    pub enumerators: FxHashMap<Name, (Arc<EnumDef>, usize)>,
}

impl Declared {
    /// Reads an external declaration. A function definition contributes its own name and the tags of
    /// its specifiers, not what its body declares.
    pub fn of(declaration: &Declaration) -> Lower<Declared> {
        let mut out = Declared::default();
        let mut cx = FileContext {
            model: declaration.model,
            out: &mut out,
        };
        match &declaration.ast.node {
            ast::ExternalDeclaration::StaticAssert(_) => {}
            ast::ExternalDeclaration::FunctionDefinition(function) => {
                let function = &function.node;
                let specified = specifiers(&mut cx, &function.specifiers)?;
                let at = function.declarator.span.start;
                entity(
                    &mut cx,
                    declaration,
                    &specified,
                    &function.declarator.node,
                    at,
                    None,
                )?;
            }
            ast::ExternalDeclaration::Declaration(node) => {
                let specified = specifiers(&mut cx, &node.node.specifiers)?;
                for item in &node.node.declarators {
                    let at = item.span.start;
                    let initializer = item.node.initializer.as_ref();
                    let declarator = &item.node.declarator.node;
                    entity(
                        &mut cx,
                        declaration,
                        &specified,
                        declarator,
                        at,
                        initializer,
                    )?;
                }
            }
        }
        Ok(out)
    }
}

fn entity(
    cx: &mut FileContext,
    declaration: &Declaration,
    specified: &Specified,
    declarator: &ast::Declarator,
    at: usize,
    initializer: Option<&Node<ast::Initializer>>,
) -> Lower<()> {
    let mut attributes = specified.attributes.clone();
    let (name, mut ty) = declared(cx, specified.ty.clone(), declarator, &mut attributes)?;
    let Some(name) = name else {
        return Ok(());
    };
    if specified.typedef {
        if let Some(align) = attributes.aligns.pop() {
            ty.align = Some(Arc::new(align));
        }
        cx.out.typedefs.insert(name, ty);
        return Ok(());
    }
    let internal = specified.internal || attributes.constexpr;
    let file = internal.then(|| declaration.places.place(at).file.to_owned());
    let open = matches!(
        ty.kind,
        Kind::Array(_, Len::Unknown) | Kind::Typedef(_) | Kind::Auto | Kind::TypeOf(_)
    );
    let open_length = initializer.filter(|_| open).cloned().map(Arc::new);
    let entity = Entity {
        ty,
        file,
        thread_local: specified.thread_local,
        noreturn: attributes.noreturn,
        aligns: attributes.aligns,
        open_length,
        constant: initializer
            .filter(|_| attributes.constexpr)
            .cloned()
            .map(Arc::new),
    };
    cx.out.entities.insert(name, entity);
    Ok(())
}

/// File scope: everything stays symbolic.
struct FileContext<'a> {
    model: Model,
    out: &'a mut Declared,
}

impl TypeContext for FileContext<'_> {
    fn model(&self) -> Model {
        self.model
    }

    fn number(&mut self, expr: &Node<Expression>) -> Lower<Lazy> {
        Ok(Lazy::Expr(Arc::new(expr.clone())))
    }

    fn length(&mut self, expr: &Node<Expression>) -> Lower<Len> {
        Ok(Len::Lazy(Arc::new(expr.clone())))
    }

    fn type_of(&mut self, expr: &Node<Expression>) -> Lower<Type> {
        Ok(Type::new(Kind::TypeOf(Arc::new(expr.clone()))))
    }

    fn typedef(&mut self, name: &str) -> Lower<Type> {
        Ok(Type::new(Kind::Typedef(Name::from(name))))
    }

    fn tag(&mut self, kind: TagKind, name: &str) -> Lower<Type> {
        Ok(Type::new(Kind::Tag(kind, Name::from(name))))
    }

    fn begin_record(&mut self, _: TagKind, _: Option<&str>) -> Option<u32> {
        None
    }

    fn end_record(&mut self, _: Option<u32>, kind: TagKind, def: RecordDef) -> Type {
        let def = Arc::new(def);
        match def.tag.clone() {
            Some(tag) => {
                self.out.records.insert((kind, tag.clone()), def);
                Type::new(Kind::Tag(kind, tag))
            }
            None => Type::new(Kind::Record(def)),
        }
    }

    fn define_enum(&mut self, tag: Option<&str>, def: EnumDef) -> Lower<Type> {
        let def = Arc::new(def);
        for (i, (name, _)) in def.enumerators.iter().enumerate() {
            let entry = (Arc::clone(&def), i);
            self.out.enumerators.insert(Name::clone(name), entry);
        }
        Ok(match tag {
            Some(tag) => {
                let tag = Name::from(tag);
                self.out.enums.insert(tag.clone(), def);
                Type::new(Kind::Tag(TagKind::Enum, tag))
            }
            None => Type::new(Kind::Enum(def)),
        })
    }

    fn prototype(&mut self, _: bool) {}
}
