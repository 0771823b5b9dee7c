//! Looking names up, and types through: typedefs, tags, enumerations.
//!
//! In: [`Type`]s as written. Out: their meaning in the unit at hand. Layouts and enumerations are
//! cached for the unit together with the look-ups they needed, which are issued again whenever the
//! cache answers: whoever records look-ups sees all that a body depends on.

use std::cell::RefCell;
use std::sync::Arc;

use rustc_hash::{FxHashMap, FxHashSet};

use super::Lowerer;
use super::size::Layout;
use crate::frontend::declare::{Lower, lost};
use crate::frontend::declared::{Declared, Entity};
use crate::frontend::scope::{DeclId, TagKind};
use crate::frontend::types::{EnumDef, IntKind, Kind, Len, Name, RecordDef, Signature, Type};

/// One look-up in the file scope.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Look {
    Typedef(Name),
    Tag(TagKind, Name),
    Ordinary(Name),
}

/// An enumeration's type and values.
#[derive(Debug)]
pub struct EnumValues {
    pub kind: IntKind,
    /// Value and type of each enumerator.
    pub values: Vec<(i128, IntKind)>,
}

#[derive(Clone, Debug)]
pub(super) struct Cached<T, D> {
    value: Lower<Arc<T>>,
    looks: Arc<[Look]>,
    /// The definition whose address is the cache's key must live as long as the entry.
    _definition: Arc<D>,
}

/// What lowering remembers of a unit's types between functions.
#[derive(Debug, Default)]
pub struct TypeCache {
    declared: RefCell<FxHashMap<DeclId, Lower<Arc<Declared>>>>,
    pub(super) layouts: Table<Layout, RecordDef>,
    enums: Table<EnumValues, EnumDef>,
}

/// Cached answers by the address of the definition they are about.
pub(super) type Table<T, D> = RefCell<FxHashMap<usize, Cached<T, D>>>;

/// A record type looked through: where its members are described.
#[derive(Clone, Debug)]
pub enum Record {
    File(Arc<RecordDef>),
    Local(u32, Arc<RecordDef>),
}

impl Record {
    pub fn def(&self) -> &Arc<RecordDef> {
        match self {
            Record::File(def) | Record::Local(_, def) => def,
        }
    }
}

/// The meaning of an ordinary identifier at file scope.
#[derive(Clone, Debug)]
pub enum Ordinary {
    Entity(Entity),
    Enumerator(i128, IntKind),
}

pub(super) const LOOK_LIMIT: usize = 200;
/// Definitions at file scope within one another.
const DEFINITION_LIMIT: usize = 48;

impl Lowerer<'_> {
    fn issue(&mut self, look: &Look) -> Option<DeclId> {
        if let Some(looks) = self.looks.last_mut() {
            looks.push(look.clone());
        }
        match look {
            Look::Typedef(name) => self.scope.typedef(name),
            Look::Tag(kind, name) => self.scope.tag(*kind, name),
            Look::Ordinary(name) => self.scope.ordinary(name),
        }
    }

    fn declared(&mut self, look: &Look) -> Lower<Option<Arc<Declared>>> {
        let Some(id) = self.issue(look) else {
            return Ok(None);
        };
        if let Some(known) = self.cache.declared.borrow().get(&id) {
            return known.clone().map(Some);
        }
        let declared = self
            .scope
            .declaration(id)
            .and_then(|declaration| declaration.declared());
        self.cache
            .declared
            .borrow_mut()
            .insert(id, declared.clone());
        declared.map(Some)
    }

    /// A file-scope typedef's type, if there is such a typedef.
    pub fn typedef_target(&mut self, name: &Name) -> Lower<Option<Type>> {
        let declared = self.declared(&Look::Typedef(name.clone()))?;
        Ok(declared.and_then(|declared| declared.typedefs.get(name).cloned()))
    }

    /// A file-scope function, object or enumerator.
    pub fn ordinary(&mut self, name: &str) -> Lower<Option<Ordinary>> {
        let name = Name::from(name);
        let Some(declared) = self.declared(&Look::Ordinary(name.clone()))? else {
            return Ok(None);
        };
        if let Some(entity) = declared.entities.get(&name) {
            let mut entity = entity.clone();
            if entity.file.is_none()
                && self.scope.internal(&name)
                && let Some(id) = self.scope.ordinary(&name)
            {
                // `static` stands on another of its declarations.
                let declaration = self.scope.declaration(id)?;
                entity.file = declaration.places.files.first().cloned();
            }
            return Ok(Some(Ordinary::Entity(entity)));
        }
        if let Some((def, index)) = declared.enumerators.get(&name) {
            let values = self.enum_values(def)?;
            return Ok(values
                .values
                .get(*index)
                .map(|(value, kind)| Ordinary::Enumerator(*value, *kind)));
        }
        Ok(None)
    }

    /// Runs `compute` unless the unit's cache has the answer, and issues its look-ups either way.
    pub(super) fn cached<T, D>(
        &mut self,
        definition: &Arc<D>,
        table: fn(&TypeCache) -> &Table<T, D>,
        compute: impl FnOnce(&mut Self) -> Lower<T>,
    ) -> Lower<Arc<T>> {
        let key = Arc::as_ptr(definition) as usize;
        let known = table(self.cache)
            .borrow()
            .get(&key)
            .map(|entry| (entry.value.clone(), Arc::clone(&entry.looks)));
        if let Some((value, looks)) = known {
            for look in looks.iter() {
                self.issue(look);
            }
            return value;
        }
        self.looks.push(Vec::new());
        let told = self.b.told();
        let value = compute(self).map(Arc::new);
        // Only the first to ask comes to what the definition mentions.
        self.b.untell(told);
        let looks = self.looks.pop().unwrap_or_default();
        let mut seen = FxHashSet::default();
        let looks: Arc<[Look]> = looks
            .into_iter()
            .filter(|look| seen.insert(look.clone()))
            .collect();
        if let Some(outer) = self.looks.last_mut() {
            outer.extend(looks.iter().cloned());
        }
        let entry = Cached {
            value: value.clone(),
            looks,
            _definition: Arc::clone(definition),
        };
        table(self.cache).borrow_mut().insert(key, entry);
        value
    }

    /// The type and values of an enumeration (gcc's choice of type).
    pub fn enum_values(&mut self, def: &Arc<EnumDef>) -> Lower<Arc<EnumValues>> {
        self.cached(
            def,
            |cache| &cache.enums,
            |this| this.at_file_scope(|this| this.enumerate(def, |_, _, _| {})),
        )
    }

    /// Computes an enumeration's values, telling `bind` of each enumerator as it becomes known.
    pub fn enumerate(
        &mut self,
        def: &EnumDef,
        mut bind: impl FnMut(&mut Self, &Name, i128),
    ) -> Lower<EnumValues> {
        let mut numbers = Vec::with_capacity(def.enumerators.len());
        let mut next = 0i128;
        // Enumerators may refer to earlier ones, which are not in any table yet.
        self.enumerating.push(FxHashMap::default());
        for (name, expr) in &def.enumerators {
            let value = match expr {
                Some(expr) => self.integer_constant(expr),
                None => Ok(next),
            };
            // Not a constant where a name in it is not declared.
            let value = value.unwrap_or(next);
            if let Some(table) = self.enumerating.last_mut() {
                table.insert(name.clone(), value);
            }
            bind(self, name, value);
            numbers.push(value);
            next = value.wrapping_add(1);
        }
        self.enumerating.pop();
        if let Some(given) = &def.underlying
            && let Kind::Int(kind) = self.resolve(given)?.kind
        {
            let values = numbers.into_iter().map(|value| (value, kind)).collect();
            return Ok(EnumValues { kind, values });
        }
        let least = numbers.iter().copied().min().unwrap_or(0);
        let most = numbers.iter().copied().max().unwrap_or(0);
        use IntKind::*;
        let signed = self.model.double_word();
        let choices: &[IntKind] = match (def.packed, least < 0) {
            (true, true) => &[SChar, Short, Int, signed],
            (true, false) => &[UChar, UShort, UInt, signed.unsigned()],
            (false, true) => &[Int, signed],
            (false, false) => &[UInt, signed.unsigned()],
        };
        let holds = |kind: &&IntKind| kind.holds(least) && kind.holds(most);
        let fitting = choices
            .iter()
            .find(holds)
            .copied()
            .unwrap_or(signed.unsigned());
        let kind = match def.mode {
            Some(mode) if least < 0 => mode,
            Some(mode) => mode.unsigned(),
            None => fitting,
        };
        let values = numbers
            .into_iter()
            .map(|value| {
                (
                    value,
                    if Int.holds(value) {
                        Int
                    } else {
                        fitting.promoted()
                    },
                )
            })
            .collect();
        Ok(EnumValues { kind, values })
    }

    /// Looks a type through to what it is: never a typedef, an enumeration or `typeof`.
    pub fn resolve(&mut self, ty: &Type) -> Lower<Type> {
        let mut current = ty.clone();
        for _ in 0..LOOK_LIMIT {
            let (quals, align) = (current.quals, current.align.clone());
            let next = match current.kind {
                Kind::Typedef(ref name) => match self.typedef_target(name)? {
                    Some(ty) => ty,
                    None => Type::guessed(),
                },
                Kind::Tag(TagKind::Enum, ref tag) => {
                    let declared = self.declared(&Look::Tag(TagKind::Enum, tag.clone()))?;
                    match declared.and_then(|declared| declared.enums.get(tag).cloned()) {
                        Some(def) => Type::int(self.enum_values(&def)?.kind),
                        // A forward enumeration.
                        None => Type::int(IntKind::UInt),
                    }
                }
                Kind::Enum(ref def) => {
                    let def = Arc::clone(def);
                    Type::int(self.enum_values(&def)?.kind)
                }
                Kind::TypeOf(ref expr) => {
                    let expr = Arc::clone(expr);
                    self.at_file_scope(|this| this.type_of_expression(&expr))?
                }
                Kind::Array(ref of, Len::Lazy(ref expr)) => {
                    let (of, expr) = (Arc::clone(of), Arc::clone(expr));
                    let len = self.at_file_scope(|this| this.integer_constant(&expr));
                    let len = match len.map(u64::try_from) {
                        Ok(Ok(len)) => Len::Known(len),
                        Ok(Err(_)) => return lost("array of negative size"),
                        // A name in it is not declared.
                        Err(_) => Len::Unknown,
                    };
                    Type::new(Kind::Array(of, len))
                }
                Kind::Array(of, len) if quals != Default::default() => {
                    let of = Arc::unwrap_or_clone(of).with_quals(quals);
                    current = Type::array(of, len);
                    current.align = align;
                    return Ok(current);
                }
                Kind::Auto => return lost("__auto_type without initialiser"),
                _ => return Ok(current),
            };
            current = next.with_quals(quals);
            current.align = align.or(current.align);
        }
        lost("type refers to itself")
    }

    /// The record that a type is, if it is one that is complete.
    pub fn record(&mut self, ty: &Type) -> Lower<Option<Record>> {
        let ty = self.resolve(ty)?;
        match &ty.kind {
            Kind::Record(def) => Ok(Some(Record::File(Arc::clone(def)))),
            Kind::LocalRecord(id) => match self.local_records.get(*id as usize) {
                Some((Some(def), _)) => Ok(Some(Record::Local(*id, Arc::clone(def)))),
                _ => Ok(None),
            },
            Kind::Tag(kind, tag) => {
                let declared = self.declared(&Look::Tag(*kind, tag.clone()))?;
                let key = (*kind, tag.clone());
                let def = declared.and_then(|declared| declared.records.get(&key).cloned());
                // A block may give the members after it has named the type.
                let local = || {
                    self.scopes
                        .iter()
                        .rev()
                        .find_map(|scope| scope.tags.get(&key))
                };
                match (def, local().cloned()) {
                    (Some(def), _) => Ok(Some(Record::File(def))),
                    (None, Some(local)) => self.record(&local),
                    (None, None) => Ok(None),
                }
            }
            _ => Ok(None),
        }
    }

    pub fn is_record(ty: &Type) -> bool {
        matches!(
            ty.kind,
            Kind::Record(_) | Kind::LocalRecord(_) | Kind::Tag(TagKind::Struct | TagKind::Union, _)
        )
    }

    /// The signature of a function type or of a pointer to one.
    pub fn signature(&mut self, ty: &Type) -> Lower<Option<Arc<Signature>>> {
        let ty = self.resolve(ty)?;
        match &ty.kind {
            Kind::Function(signature) => Ok(Some(Arc::clone(signature))),
            Kind::Pointer(to) => {
                let to = self.resolve(to)?;
                match &to.kind {
                    Kind::Function(signature) => Ok(Some(Arc::clone(signature))),
                    _ => Ok(None),
                }
            }
            _ => Ok(None),
        }
    }

    /// Runs `f` where no local name is visible. A definition at file scope that leads to others and back
    /// to itself is an error.
    pub fn at_file_scope<T>(&mut self, f: impl FnOnce(&mut Self) -> Lower<T>) -> Lower<T> {
        if self.definitions >= DEFINITION_LIMIT {
            return lost("defined in terms of itself");
        }
        self.definitions += 1;
        let scopes = std::mem::take(&mut self.scopes);
        let result = f(self);
        self.scopes = scopes;
        self.definitions -= 1;
        result
    }
}
