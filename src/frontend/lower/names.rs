//! Looking names up, and types through: typedefs, tags, layouts, sizes, compatibility.
//!
//! In: [`Type`]s as written. Out: their meaning in the unit at hand. Layouts and enumerations are
//! cached for the unit together with the look-ups they needed, which are issued again whenever the
//! cache answers: whoever records look-ups sees all that a body depends on.

use std::cell::RefCell;
use std::sync::Arc;

use rustc_hash::{FxHashMap, FxHashSet};

use super::Lowerer;
use crate::frontend::declare::{Lower, lost};
use crate::frontend::declared::{Declared, Entity};
use crate::frontend::layout::{self, MemberShape};
use crate::frontend::scope::{DeclId, TagKind};
use crate::frontend::types::{
    EnumDef, Field, FloatKind, IntKind, Kind, Lazy, Len, Name, RecordDef, Signature, Type,
};
use crate::ir::Ty;

/// One look-up in the file scope.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Look {
    Typedef(Name),
    Tag(TagKind, Name),
    Ordinary(Name),
}

/// A record's layout, members of anonymous records included by name. Offsets in bits.
#[derive(Debug)]
pub struct Layout {
    pub size: u64,
    pub align: u64,
    /// Parallel to the definition's fields.
    pub fields: Vec<Slot>,
    pub members: FxHashMap<Name, (Slot, Type)>,
}

/// Where a member lies: its first bit, and its width if it is a bit-field.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Slot {
    pub bit: u64,
    pub width: Option<u64>,
    /// Of the member itself, in bytes.
    pub align: u64,
}

/// An enumeration's type and values.
#[derive(Debug)]
pub struct EnumValues {
    pub kind: IntKind,
    /// Value and type of each enumerator.
    pub values: Vec<(i128, IntKind)>,
}

#[derive(Clone, Debug)]
struct Cached<T, D> {
    value: Lower<Arc<T>>,
    looks: Arc<[Look]>,
    /// The definition whose address is the cache's key must live as long as the entry.
    _definition: Arc<D>,
}

/// What lowering remembers of a unit's types between functions.
#[derive(Debug, Default)]
pub struct TypeCache {
    declared: RefCell<FxHashMap<DeclId, Lower<Arc<Declared>>>>,
    layouts: Table<Layout, RecordDef>,
    enums: Table<EnumValues, EnumDef>,
}

/// Cached answers by the address of the definition they are about.
type Table<T, D> = RefCell<FxHashMap<usize, Cached<T, D>>>;

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

/// How values of a type are kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Class {
    Void,
    Scalar(Ty),
    /// Bytes in memory: records, vectors, complex numbers.
    Memory(u64),
    Array,
    Function,
}

/// Size and alignment given to a member whose type is incomplete.
const OPAQUE: (u64, u64) = (64, 8);

const LOOK_LIMIT: usize = 200;
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
    fn cached<T, D>(
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
        let value = compute(self).map(Arc::new);
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
                    None => Type::int(IntKind::Int),
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

    /// The file-scope enumeration that a type is.
    fn enumeration(&mut self, ty: &Type) -> Lower<Option<Kind>> {
        let mut current = ty.clone();
        for _ in 0..LOOK_LIMIT {
            current = match &current.kind {
                Kind::Typedef(name) => match self.typedef_target(name)? {
                    Some(target) => target,
                    None => return Ok(None),
                },
                Kind::Enum(_) | Kind::Tag(TagKind::Enum, _) => return Ok(Some(current.kind)),
                _ => return Ok(None),
            };
        }
        Ok(None)
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

    pub fn layout(&mut self, record: &Record) -> Lower<Arc<Layout>> {
        match record {
            Record::File(def) => self.cached(
                def,
                |cache| &cache.layouts,
                |this| this.at_file_scope(|this| this.lay_out(def)),
            ),
            Record::Local(id, def) => {
                if let Some((_, Some(known))) = self.local_records.get(*id as usize) {
                    return Ok(Arc::clone(known));
                }
                let layout = Arc::new(self.lay_out(def)?);
                if let Some(entry) = self.local_records.get_mut(*id as usize) {
                    entry.1 = Some(Arc::clone(&layout));
                }
                Ok(layout)
            }
        }
    }

    fn lay_out(&mut self, def: &RecordDef) -> Lower<Layout> {
        self.depth += 1;
        let layout = if self.depth > LOOK_LIMIT {
            lost("record contains itself")
        } else {
            self.lay_out_members(def)
        };
        self.depth -= 1;
        layout
    }

    fn lay_out_members(&mut self, def: &RecordDef) -> Lower<Layout> {
        let limit = match &def.pack {
            Some(pack) => Some(self.lazy(pack)?.max(1)),
            None => None,
        };
        let mut shapes = Vec::with_capacity(def.fields.len());
        for field in &def.fields {
            let shape = self.shape(field, def.packed)?;
            // What closes a unit heeds no pragma, but the option.
            let limit = match (shape.width, self.model.pack) {
                (Some(0), 0) => None,
                (Some(0), pack) => Some(pack.into()),
                _ => limit,
            };
            shapes.push(MemberShape { limit, ..shape });
        }
        // The last counts; of a member it is the strictest.
        let minimum = match def.aligns.last() {
            Some(align) => self.lazy(align)?,
            None => 1,
        };
        let placed = layout::lay_out(def.union, minimum, &shapes);
        let mut members = FxHashMap::default();
        let mut fields = Vec::with_capacity(def.fields.len());
        for ((field, shape), at) in def.fields.iter().zip(&shapes).zip(&placed.members) {
            let slot = Slot {
                bit: at.bit,
                width: shape.width,
                align: at.align,
            };
            fields.push(slot);
            if let Some(name) = &field.name {
                members.insert(name.clone(), (slot, field.ty.clone()));
            } else if field.width.is_none()
                && let Some(inner) = self.record(&field.ty)?
            {
                let inner = self.layout(&inner)?;
                for (name, (slot, ty)) in &inner.members {
                    let slot = Slot {
                        bit: slot.bit + at.bit,
                        ..*slot
                    };
                    let ty = ty.clone().with_quals(field.ty.quals);
                    members.insert(name.clone(), (slot, ty));
                }
            }
        }
        Ok(Layout {
            size: placed.size,
            align: placed.align,
            fields,
            members,
        })
    }

    fn shape(&mut self, field: &Field, packed: bool) -> Lower<MemberShape> {
        let resolved = self.resolve(&field.ty)?;
        // A flexible array member takes no room.
        let (size, align) = match &resolved.kind {
            Kind::Array(of, Len::Unknown) => (0, self.size_align(of).unwrap_or(OPAQUE).1),
            _ => self.size_align(&resolved).unwrap_or(OPAQUE),
        };
        let most = self.most_as_member(&resolved)?;
        let width = match &field.width {
            Some(width) => Some(self.lazy(width)?),
            None => None,
        };
        if width.is_some_and(|width| width > size.saturating_mul(8)) {
            return lost("bit-field wider than its type");
        }
        Ok(MemberShape {
            size,
            align: align.min(most),
            most: most.saturating_mul(8),
            width,
            aligns_record: field.name.is_some() || self.model.unnamed_fields_align,
            packed: packed || field.packed,
            requested: self.largest(&field.aligns)?,
            limit: None,
        })
    }

    fn largest(&mut self, aligns: &[Lazy]) -> Lower<Option<u64>> {
        let mut largest = None;
        for align in aligns {
            largest = largest.max(Some(self.lazy(align)?));
        }
        Ok(largest)
    }

    pub fn lazy(&mut self, lazy: &Lazy) -> Lower<u64> {
        match lazy {
            Lazy::Value(value) => Ok(*value),
            Lazy::AlignOf(ty) => self.member_align(ty),
            Lazy::Expr(expr) => {
                let value = self.at_file_scope(|this| this.integer_constant(expr))?;
                u64::try_from(value).or_else(|_| lost("negative size"))
            }
        }
    }

    /// Size and alignment in bytes. Incomplete and variable-length types have none.
    pub fn size_align(&mut self, ty: &Type) -> Lower<(u64, u64)> {
        let ty = self.resolve(ty)?;
        let (size, align) = match &ty.kind {
            Kind::Void | Kind::Function(_) => (1, 1),
            Kind::Int(kind) => {
                let bytes = u64::from(kind.bits() / 8);
                (bytes, bytes.min(self.model.scalar_align.into()))
            }
            Kind::Float(kind) => {
                let bytes = u64::from(kind.size(&self.model));
                let align = match kind {
                    FloatKind::LongDouble => self.model.long_double_align.into(),
                    FloatKind::Quad => bytes,
                    _ => bytes.min(self.model.scalar_align.into()),
                };
                (bytes, align)
            }
            Kind::Pointer(_) => {
                let bytes = u64::from(self.model.pointer);
                (bytes, bytes.min(self.model.scalar_align.into()))
            }
            Kind::Complex(of) => {
                let (size, align) = self.size_align(of)?;
                (size * 2, align)
            }
            Kind::Vector(_, bytes) => {
                let bytes = self.lazy(bytes)?;
                (bytes, bytes.max(1))
            }
            Kind::Array(of, len) => {
                let (size, align) = self.size_align(of)?;
                match len {
                    Len::Known(len) => (size.saturating_mul(*len), align),
                    Len::Variable(_) => return lost("size of a variable-length array"),
                    Len::Unknown | Len::Lazy(_) => return lost("size of an incomplete array"),
                }
            }
            _ => match self.record(&ty)? {
                Some(record) => {
                    let layout = self.layout(&record)?;
                    (layout.size, layout.align)
                }
                None => return lost(format!("incomplete type {ty}")),
            },
        };
        match ty.align.clone() {
            Some(given) => Ok((size, self.lazy(&given)?.max(1))),
            None => Ok((size, align)),
        }
    }

    /// Alignment in bytes, which an array has whether or not it is complete.
    pub fn align_of(&mut self, ty: &Type) -> Lower<u64> {
        let ty = self.resolve(ty)?;
        match (&ty.kind, &ty.align) {
            (Kind::Array(of, _), None) => self.align_of(of),
            _ => Ok(self.size_align(&ty)?.1),
        }
    }

    /// The strictest alignment that a member of this type has by itself: some targets align integers and `double` less in
    /// records, unless the program asks for more.
    fn most_as_member(&mut self, ty: &Type) -> Lower<u64> {
        let model = self.model;
        if model.member_align >= model.scalar_align {
            return Ok(u64::MAX);
        }
        let ty = self.resolve(ty)?;
        Ok(match &ty.kind {
            _ if ty.align.is_some() => u64::MAX,
            Kind::Array(of, _) => self.most_as_member(of)?,
            Kind::Int(_) | Kind::Float(FloatKind::Double) | Kind::Pointer(_) => {
                model.member_align.into()
            }
            Kind::Complex(of) => match self.resolve(of)?.kind {
                Kind::Int(_) | Kind::Float(FloatKind::Double) => model.member_align.into(),
                _ => u64::MAX,
            },
            _ => u64::MAX,
        })
    }

    /// The alignment that a type has as a member of a record, and nowhere less.
    pub fn member_align(&mut self, ty: &Type) -> Lower<u64> {
        Ok(self.align_of(ty)?.min(self.most_as_member(ty)?))
    }

    pub fn size_of(&mut self, ty: &Type) -> Lower<u64> {
        Ok(self.size_align(ty)?.0)
    }

    /// How values of a type are kept.
    pub fn class(&mut self, ty: &Type) -> Lower<Class> {
        let ty = self.resolve(ty)?;
        Ok(match &ty.kind {
            Kind::Void => Class::Void,
            Kind::Int(kind) => Class::Scalar(kind.ty()),
            Kind::Float(kind) => Class::Scalar(kind.ty(&self.model)),
            Kind::Pointer(_) => Class::Scalar(Ty::Ptr),
            Kind::Array(..) => Class::Array,
            Kind::Function(_) => Class::Function,
            // Of unknown size if it is incomplete.
            _ if Self::is_record(&ty) && self.record(&ty)?.is_none() => Class::Memory(0),
            _ => Class::Memory(self.size_of(&ty)?),
        })
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

    /// `__builtin_types_compatible_p`, qualifiers of the types themselves ignored.
    pub fn compatible(&mut self, a: &Type, b: &Type) -> Lower<bool> {
        // Two enumerations are two types even where one integer type holds both.
        if let (Some(a), Some(b)) = (self.enumeration(a)?, self.enumeration(b)?) {
            return Ok(match (&a, &b) {
                (Kind::Enum(a), Kind::Enum(b)) => Arc::ptr_eq(a, b),
                (Kind::Tag(_, a), Kind::Tag(_, b)) => a == b,
                _ => false,
            });
        }
        let (a, b) = (self.resolve(a)?, self.resolve(b)?);
        Ok(match (&a.kind, &b.kind) {
            (Kind::Void, Kind::Void) => true,
            (Kind::Int(a), Kind::Int(b)) => a == b,
            (Kind::Float(a), Kind::Float(b)) => a == b,
            (Kind::Pointer(a), Kind::Pointer(b)) => a.quals == b.quals && self.compatible(a, b)?,
            (Kind::Array(a, m), Kind::Array(b, n)) => {
                let same = match (m, n) {
                    (Len::Known(m), Len::Known(n)) => m == n,
                    _ => true,
                };
                same && self.compatible(a, b)?
            }
            (Kind::Function(a), Kind::Function(b)) => {
                let (a, b) = (Arc::clone(a), Arc::clone(b));
                if !self.compatible(&a.ret, &b.ret)? {
                    return Ok(false);
                }
                if !a.prototyped || !b.prototyped {
                    return Ok(true);
                }
                if a.params.len() != b.params.len() || a.variadic != b.variadic {
                    return Ok(false);
                }
                for (a, b) in a.params.iter().zip(&b.params) {
                    if !self.compatible(&a.ty, &b.ty)? {
                        return Ok(false);
                    }
                }
                true
            }
            (Kind::Tag(k, a), Kind::Tag(l, b)) => k == l && a == b,
            (Kind::Record(a), Kind::Record(b)) => {
                Arc::ptr_eq(a, b) || (a.tag.is_some() && a.tag == b.tag)
            }
            (Kind::LocalRecord(a), Kind::LocalRecord(b)) => a == b,
            (Kind::Complex(a), Kind::Complex(b)) => self.compatible(a, b)?,
            (Kind::Vector(a, _), Kind::Vector(b, _)) => {
                let (a, b) = (Arc::clone(a), Arc::clone(b));
                self.compatible(&a, &b)?
            }
            _ => false,
        })
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
