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

mod access;
mod align;
mod asm;
mod assign;
mod build;
mod builtin;
mod call;
mod compatible;
mod condition;
mod context;
mod declaration;
mod definition;
mod expr;
mod init;
mod jump;
mod literal;
mod names;
mod operator;
pub mod records;
mod size;
mod stmt;
mod switch;
mod text;
mod tidy;
mod value;

use std::sync::Arc;

use lang_c::ast::{self, Expression};
use lang_c::span::{Node, Span};
use rustc_hash::FxHashMap;

use self::build::Builder;
pub use self::definition::{
    declarator_name, lower_function, lower_function_with_statics, lower_object,
};
use self::names::Look;
pub use self::names::TypeCache;
use self::size::{Class, Layout};
use self::value::Operand;
use super::declare::{Lower, lost};
use super::model::Model;
use super::parse::Declaration;
use super::scope::{Scope, TagKind};
use super::types::{IntKind, Kind, Name, RecordDef, Type};
use crate::frontend::StaticObject;
use crate::ir::{
    BlockId, Body, Enumerated, ExprId, Local, LocalId, Method, Pos, RetTy, SymbolId, SymbolName,
};

/// A lowered function or initialiser.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Lowered {
    pub body: Body,
    /// The functions that it stores in members of records.
    pub methods: Vec<Method>,
    /// The enumeration constants in the initialisers of its objects of static storage.
    pub enumerated: Vec<Enumerated>,
    /// The function's static variables, and the objects whose addresses stand in their initialisers.
    pub statics: Vec<StaticObject>,
    pub taken: Vec<SymbolName>,
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
    /// What `aligned` gives the objects declared here.
    aligns: FxHashMap<Name, u64>,
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
    model: Model,
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
    /// See [`Lowered`].
    kept: Vec<StaticObject>,
    taken: Vec<SymbolName>,
    /// Functions stored in members so far.
    methods: Vec<Method>,
    /// What is lowered is the initialiser of an object of static storage.
    noting: bool,
    enumerated: Vec<Enumerated>,
    enumerating: Vec<FxHashMap<Name, i128>>,
    looks: Vec<Vec<Look>>,
    function: String,
    ret: Type,
    depth: usize,
    /// Definitions at file scope that are being looked into.
    definitions: usize,
    prototypes: u32,
    /// Above zero while code is lowered only for its type or value.
    dry_runs: u32,
    /// What the assembly before decides by, where that is known.
    asm_choice: Option<asm::AsmChoice>,
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
            model: declaration.model,
            b: Builder::new(declaration.model.pointer),
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
            kept: Vec::new(),
            taken: Vec::new(),
            methods: Vec::new(),
            noting: false,
            enumerated: Vec::new(),
            enumerating: Vec::new(),
            looks: Vec::new(),
            function,
            ret: Type::void(),
            depth: 0,
            definitions: 0,
            prototypes: 0,
            dry_runs: 0,
            asm_choice: None,
        }
    }

    /// A local variable of a complete type.
    fn new_local(&mut self, name: &str, ty: &Type) -> Lower<LocalId> {
        let local = self.local_of(name, ty)?;
        Ok(self.b.local(local))
    }

    fn local_of(&mut self, name: &str, ty: &Type) -> Lower<Local> {
        let (size, scalar) = match self.class(ty)? {
            Class::Scalar(scalar) => (scalar.size(self.model.pointer), Some(scalar)),
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
            let (value, _) = literal::integer(integer, &self.model)?;
            return Ok(value.cast_signed());
        }
        let folded = self.fold_constant(expr)?;
        match folded.and_then(|value| self.b.constant(value)) {
            Some(value) => Ok(value),
            None => lost(format!("not a constant: {}", text::expression(expr, 40))),
        }
    }

    /// An expression's type, without evaluating it.
    fn type_of_expression(&mut self, expr: &Node<Expression>) -> Lower<Type> {
        let (ty, _) = self.dry(|this| {
            Ok(match this.operand(expr)? {
                Operand::Place(place) => place.ty,
                Operand::Value(value) => value.ty,
            })
        });
        Ok(expr::declared(ty?))
    }
}

#[cfg(test)]
mod testing;
#[cfg(test)]
mod tests;
