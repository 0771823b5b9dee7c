//! The layouts of a unit's types, laid open for comparing them with a compiler's.
//!
//! In: one external declaration. Out: the records that it defines with their size, alignment and members,
//! its enumerations and their constants.

use super::names::{Ordinary, Record};
use super::{Lowerer, TypeCache};
use crate::frontend::declare::Lower;
use crate::frontend::parse::Declaration;
use crate::frontend::scope::{Scope, TagKind};
use crate::frontend::types::{IntKind, Kind, Len, Name, Type};

/// A type as the unit can name it, sizes in bytes.
#[derive(Debug)]
pub struct TypeLayout {
    /// `struct s`, `t`, or `__typeof__(((struct s *)0)->m)` where it has no name.
    pub spelling: String,
    pub size: u64,
    pub align: u64,
    /// By place, those of anonymous records included; none for an enumeration.
    pub members: Vec<Member>,
}

/// A member of a record, its place in bits.
#[derive(Debug)]
pub struct Member {
    pub name: Name,
    pub bit: u64,
    /// Of a bit-field, and whether it is a `_Bool`.
    pub width: Option<(u64, bool)>,
}

/// What a declaration declares, laid out.
#[derive(Debug, Default)]
pub struct Layouts {
    pub types: Vec<TypeLayout>,
    /// Enumerators with their values.
    pub constants: Vec<(Name, i128)>,
    /// Types without a layout, and why.
    pub failures: Vec<(String, String)>,
}

/// Members of members deeper than this are not looked at.
const DEPTH: usize = 8;

/// Lays out the types that a declaration defines.
pub fn layouts(declaration: &Declaration, scope: &dyn Scope, cache: &TypeCache) -> Lower<Layouts> {
    let declared = declaration.declared()?;
    let mut lowerer = Lowerer::new(declaration, scope, cache, String::new());
    let mut out = Layouts::default();
    let mut named: Vec<(String, Type)> = Vec::new();
    for (kind, tag) in declared.records.keys() {
        let ty = Type::new(Kind::Tag(*kind, tag.clone()));
        named.push((ty.to_string(), ty));
    }
    for tag in declared.enums.keys() {
        let ty = Type::new(Kind::Tag(TagKind::Enum, tag.clone()));
        named.push((ty.to_string(), ty));
    }
    for (name, ty) in &declared.typedefs {
        if !matches!(ty.kind, Kind::Tag(..)) {
            named.push((name.to_string(), Type::new(Kind::Typedef(name.clone()))));
        }
    }
    named.sort_by(|a, b| a.0.cmp(&b.0));
    for (spelling, ty) in named {
        // An incomplete type has no layout.
        let resolved = lowerer.resolve(&ty)?;
        let open_array = matches!(resolved.kind, Kind::Array(_, Len::Unknown));
        let opaque = Lowerer::is_record(&resolved) && lowerer.record(&resolved)?.is_none();
        if open_array || opaque || matches!(resolved.kind, Kind::Function(_) | Kind::Void) {
            continue;
        }
        lowerer.open(&mut out, spelling, &ty, 0);
    }
    let mut constants: Vec<&Name> = declared.enumerators.keys().collect();
    constants.sort();
    for name in constants {
        if let Ok(Some(Ordinary::Enumerator(value, _))) = lowerer.ordinary(name) {
            out.constants.push((name.clone(), value));
        }
    }
    Ok(out)
}

impl Lowerer<'_> {
    /// Adds a type, and the nameless records that its members have.
    fn open(&mut self, out: &mut Layouts, spelling: String, ty: &Type, depth: usize) {
        match self.opened(&spelling, ty) {
            Ok((layout, inner)) => {
                out.types.push(layout);
                for (spelling, ty) in inner {
                    if depth < DEPTH {
                        self.open(out, spelling, &ty, depth + 1);
                    }
                }
            }
            Err(reason) => out.failures.push((spelling, reason.message)),
        }
    }

    fn opened(&mut self, spelling: &str, ty: &Type) -> Lower<(TypeLayout, Vec<(String, Type)>)> {
        let (size, align) = self.size_align(ty)?;
        let mut open = TypeLayout {
            spelling: spelling.to_owned(),
            size,
            align,
            members: Vec::new(),
        };
        let mut inner = Vec::new();
        let Some(record) = self.record(ty)? else {
            return Ok((open, inner));
        };
        let layout = self.layout(&record)?;
        let mut members: Vec<_> = layout.members.iter().collect();
        members.sort_by_key(|(name, (slot, _))| (slot.bit, Name::clone(name)));
        for (name, (slot, ty)) in members {
            let resolved = self.resolve(ty)?;
            let truth = matches!(resolved.kind, Kind::Int(IntKind::Bool));
            open.members.push(Member {
                name: name.clone(),
                bit: slot.bit,
                width: slot.width.map(|width| (width, truth)),
            });
            // Records without a name of their own.
            let mut element = resolved;
            let mut index = String::new();
            while let Kind::Array(of, _) = &element.kind {
                element = self.resolve(&of.clone())?;
                index.push_str("[0]");
            }
            let nameless = matches!(&element.kind, Kind::Record(def) if def.tag.is_none());
            if nameless && matches!(self.record(&element)?, Some(Record::File(_))) {
                let path = format!("__typeof__((({spelling} *)0)->{name}{index})");
                inner.push((path, element));
            }
        }
        Ok((open, inner))
    }
}
