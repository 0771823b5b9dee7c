//! Initialisers: scalars, strings, brace-enclosed lists with designators, ranges and elided braces.
//!
//! In: an object's address and type, and its initialiser. Out: the object zeroed where the list may
//! leave parts of it out, then one store or copy for each item (C11 6.7.9).

use lang_c::ast::{Designator, Expression, Initializer, InitializerListItem};
use lang_c::span::Node;

use super::Lowerer;
use super::build::Extent;
use super::names::Record;
use super::size::Class;
use super::value::{Operand, Place, Repr, Value};
use crate::frontend::declare::{Lower, lost};
use crate::frontend::types::{Kind, Len, RecordDef, Type};
use crate::ir::{Enumerated, FunctionHolder, StmtKind};

type Item = Node<InitializerListItem>;

/// A range designator that stores more elements than this makes them unknown instead.
const RANGE_LIMIT: u64 = 256;

/// The rest of a brace-enclosed list.
struct Items<'a> {
    list: &'a [Item],
    /// The first item's expression, evaluated already while looking for where it belongs.
    pending: Option<Value>,
}

/// One step of a designator: as written, or into a field found by an anonymous member's name.
#[derive(Clone, Copy)]
enum Step<'a> {
    Written(&'a Designator),
    Field(usize),
}

impl Lowerer<'_> {
    /// Initialises an object.
    pub fn initialize(
        &mut self,
        addr: crate::ir::ExprId,
        ty: &Type,
        initializer: &Initializer,
    ) -> Lower<()> {
        match initializer {
            Initializer::List(list) => self.initialize_list(addr, ty, list),
            Initializer::Expression(expr) => {
                let place = Place::new(addr, ty.clone());
                if self.string_initializer(&place, expr)? {
                    return Ok(());
                }
                let value = self.value(expr)?;
                self.at(expr.span);
                self.write(&place, &value)
            }
        }
    }

    /// Initialises an object from a brace-enclosed list.
    pub fn initialize_list(
        &mut self,
        addr: crate::ir::ExprId,
        ty: &Type,
        list: &[Item],
    ) -> Lower<()> {
        let place = Place::new(addr, ty.clone());
        if !matches!(self.class(ty)?, Class::Scalar(_)) {
            let dst = addr;
            let Ok(size) = self.size_of(ty) else {
                // An incomplete type: nothing is known of its members.
                return Ok(());
            };
            if size > 0 {
                self.b.stmt(StmtKind::Zero { dst, size });
            }
        }
        self.braced(&place, list)
    }

    /// A braced list for an object that is zero already.
    fn braced(&mut self, place: &Place, list: &[Item]) -> Lower<()> {
        let list = without_mark(list);
        if let [only] = list
            && only.node.designation.is_empty()
            && let Initializer::Expression(expr) = &only.node.initializer.node
            && self.string_initializer(place, expr)?
        {
            return Ok(());
        }
        match self.class(&place.ty)? {
            Class::Scalar(_) => match list.first() {
                Some(item) => self.initialize_place(place, &item.node.initializer.node),
                None => {
                    let zero = self.unknown_int();
                    let zero = Value {
                        repr: Repr::Scalar(self.b.int(0, crate::ir::Ty::INT)),
                        ..zero
                    };
                    self.write(place, &zero)
                }
            },
            _ => {
                let mut items = Items {
                    list,
                    pending: None,
                };
                self.aggregate(place, &mut items, true, &[])
            }
        }
    }

    fn initialize_place(&mut self, place: &Place, initializer: &Initializer) -> Lower<()> {
        match initializer {
            Initializer::List(list) => self.braced(place, list),
            Initializer::Expression(expr) => {
                let value = self.value(expr)?;
                self.at(expr.span);
                self.note_enumerator(place, expr);
                self.write(place, &value)
            }
        }
    }

    /// Fills an aggregate's members in order from a list. `top` is the list's own aggregate, the only
    /// one its designators speak of; `steps` lead the first item further down.
    fn aggregate(
        &mut self,
        place: &Place,
        items: &mut Items,
        top: bool,
        steps: &[Step],
    ) -> Lower<()> {
        let shape = self.shape_of(&place.ty)?;
        let mut steps = steps.to_vec();
        let mut next = 0u64;
        while let Some(item) = items.list.first() {
            let mut path = std::mem::take(&mut steps);
            if path.is_empty() && items.pending.is_none() && !item.node.designation.is_empty() {
                if !top {
                    return Ok(());
                }
                let written = item.node.designation.iter();
                path = written.map(|node| Step::Written(&node.node)).collect();
            }
            let (low, high) = match path.first() {
                Some(step) => {
                    let (low, high, more) = self.pick(&shape, *step, &place.ty)?;
                    path.splice(0..1, more);
                    (low, high)
                }
                None => {
                    let Some(at) = shape.at_or_after(next) else {
                        if !top {
                            return Ok(());
                        }
                        // More items than members: evaluated, not stored.
                        items.list = items.list.get(1..).unwrap_or(&[]);
                        continue;
                    };
                    (at, at)
                }
            };
            let before = (items.list, items.pending.clone());
            if high.saturating_sub(low) > RANGE_LIMIT {
                self.forget_range(place, low, high)?;
                items.list = items.list.get(1..).unwrap_or(&[]);
            } else {
                for index in low..=high {
                    (items.list, items.pending) = before.clone();
                    let member = self.member_at(place, &shape, index)?;
                    if path.is_empty() {
                        self.item(&member, items)?;
                    } else {
                        self.aggregate(&member, items, false, &path)?;
                    }
                }
            }
            next = high + 1;
            if shape.union {
                next = u64::MAX;
            }
        }
        Ok(())
    }

    /// Initialises one member from the next item, or from as many as it takes with elided braces.
    fn item(&mut self, place: &Place, items: &mut Items) -> Lower<()> {
        let Some((item, rest)) = items.list.split_first() else {
            return Ok(());
        };
        let expr = match &item.node.initializer.node {
            Initializer::List(list) => {
                items.list = rest;
                return self.braced(place, list);
            }
            Initializer::Expression(expr) => expr,
        };
        if items.pending.is_none() && self.string_initializer(place, expr)? {
            items.list = rest;
            return Ok(());
        }
        let value = match items.pending.take() {
            Some(value) => value,
            None => self.value(expr)?,
        };
        let scalar = matches!(self.class(&place.ty)?, Class::Scalar(_));
        let whole = matches!(value.repr, Repr::Memory(_)) && {
            let record = self.resolve(&place.ty)?;
            !matches!(record.kind, Kind::Array(..)) && self.compatible(&value.ty, &record)?
        };
        let opaque = matches!(
            self.resolve(&place.ty)?.kind,
            Kind::Complex(_) | Kind::Vector(..)
        );
        if scalar || whole || opaque {
            items.list = rest;
            self.at(expr.span);
            self.note_enumerator(place, expr);
            return self.write(place, &value);
        }
        items.pending = Some(value);
        let left = items.list.len();
        self.aggregate(place, items, false, &[])?;
        if items.list.len() == left {
            // An empty aggregate took nothing: the item has no place.
            items.pending = None;
            items.list = rest;
        }
        Ok(())
    }

    /// Notes an enumeration constant, or what may be one, in the initialiser of an object of static storage.
    fn note_enumerator(&mut self, place: &Place, expr: &Node<Expression>) {
        if let Expression::Identifier(id) = &expr.node
            && self.noting
            && let Some((object, way)) = self.b.way_to(place.addr)
        {
            self.enumerated.push(Enumerated {
                constant: id.node.name.clone(),
                object,
                way,
            });
        }
    }

    fn forget_range(&mut self, place: &Place, low: u64, high: u64) -> Lower<()> {
        let Some(of) = self.element_type(&place.ty)? else {
            return Ok(());
        };
        let size = self.size_of(&of)?;
        let first = self.b.bits(u128::from(low), crate::ir::Ty::SSIZE);
        let dst = self.b.index(place.addr, first, size);
        let size = size.saturating_mul(high - low + 1);
        self.b.stmt(StmtKind::Havoc { dst, size });
        Ok(())
    }

    /// A string literal for an array of characters.
    fn string_initializer(&mut self, place: &Place, expr: &Node<Expression>) -> Lower<bool> {
        let Expression::StringLiteral(parts) = &expr.node else {
            return Ok(false);
        };
        let Some(of) = self.element_type(&place.ty)? else {
            return Ok(false);
        };
        if !matches!(self.resolve(&of)?.kind, Kind::Int(_)) {
            return Ok(false);
        }
        let string = self.string_place(&parts.node);
        let given = self.size_of(&string.ty)?;
        let room = self.size_of(&place.ty).unwrap_or(given);
        let dst = place.addr;
        if room > given {
            self.b.stmt(StmtKind::Zero { dst, size: room });
        }
        let size = room.min(given);
        if size > 0 {
            let src = string.addr;
            self.b.stmt(StmtKind::Copy { dst, src, size });
        }
        Ok(true)
    }

    // ---- the members of an aggregate ----

    fn shape_of(&mut self, ty: &Type) -> Lower<Shape> {
        let resolved = self.resolve(ty)?;
        match &resolved.kind {
            Kind::Array(_, len) => Ok(Shape {
                record: None,
                count: match len {
                    Len::Known(len) => *len,
                    _ => u64::MAX,
                },
                union: false,
            }),
            Kind::Vector(of, _) => {
                let (whole, element) = (self.size_of(&resolved)?, self.size_of(of)?);
                Ok(Shape {
                    record: None,
                    count: whole / element.max(1),
                    union: false,
                })
            }
            _ => match self.record(&resolved)? {
                Some(record) => Ok(Shape {
                    count: record.def().fields.len() as u64,
                    union: record.def().union,
                    record: Some(record),
                }),
                None => lost(format!("initialiser list for {ty}")),
            },
        }
    }

    /// The members that a designator's first step names, and what is left of it inside them.
    fn pick<'s>(
        &mut self,
        shape: &Shape,
        step: Step<'s>,
        ty: &Type,
    ) -> Lower<(u64, u64, Vec<Step<'s>>)> {
        let index = |value: i128| u64::try_from(value).or_else(|_| lost("negative designator"));
        match step {
            Step::Field(field) => Ok((field as u64, field as u64, Vec::new())),
            Step::Written(Designator::Index(expr)) => {
                let at = index(self.integer_constant(expr)?)?;
                Ok((at, at, Vec::new()))
            }
            Step::Written(Designator::Range(range)) => {
                let low = index(self.integer_constant(&range.node.from)?)?;
                let high = index(self.integer_constant(&range.node.to)?)?;
                Ok((low, high, Vec::new()))
            }
            Step::Written(Designator::Member(id)) => {
                let name = &id.node.name;
                let path = match &shape.record {
                    Some(record) => self.field_path(record.def().clone().as_ref(), name)?,
                    None => None,
                };
                let Some((first, rest)) = path.as_deref().and_then(<[usize]>::split_first) else {
                    return lost(format!("{ty} has no member {name}"));
                };
                let rest = rest.iter().map(|field| Step::Field(*field)).collect();
                Ok((*first as u64, *first as u64, rest))
            }
        }
    }

    /// The fields that lead to a member, through anonymous records.
    fn field_path(&mut self, def: &RecordDef, name: &str) -> Lower<Option<Vec<usize>>> {
        for (i, field) in def.fields.iter().enumerate() {
            if field.name.as_deref() == Some(name) {
                return Ok(Some(vec![i]));
            }
        }
        for (i, field) in def.fields.iter().enumerate() {
            if field.name.is_some() || field.width.is_some() {
                continue;
            }
            let Some(inner) = self.record(&field.ty)? else {
                continue;
            };
            if let Some(path) = self.field_path(inner.def().clone().as_ref(), name)? {
                let path = std::iter::once(i).chain(path).collect();
                return Ok(Some(path));
            }
        }
        Ok(None)
    }

    fn member_at(&mut self, place: &Place, shape: &Shape, index: u64) -> Lower<Place> {
        let Some(record) = &shape.record else {
            let resolved = self.resolve(&place.ty)?;
            let (Kind::Array(of, _) | Kind::Vector(of, _)) = resolved.kind else {
                return lost("initialiser list");
            };
            let size = self.size_of(&of)?;
            let index = self.b.bits(u128::from(index), crate::ir::Ty::SSIZE);
            let addr = self.b.index(place.addr, index, size);
            return Ok(Place::new(addr, of.as_ref().clone()));
        };
        let layout = self.layout(record)?;
        let at = usize::try_from(index).unwrap_or(usize::MAX);
        let (Some(field), Some(slot)) = (record.def().fields.get(at), layout.fields.get(at)) else {
            return lost("designator out of range");
        };
        // An anonymous record's members are reached in one step: its own address gets no name.
        match &field.name {
            Some(name) => {
                let ty = field.ty.clone();
                let record = self.record_name(&place.ty)?;
                // The initialiser of an object of static storage is never executed: its members' records may have names.
                let of = match self.noting {
                    true => self.record_spelling(&place.ty, &record)?,
                    false => String::new(),
                };
                let mut member = self.slot_place(place.addr, *slot, (&of, name), ty)?;
                member.holder = Some(FunctionHolder::Member((record, name.to_string())));
                Ok(member)
            }
            None => self.anonymous(place, slot.bit / 8, &field.ty),
        }
    }

    fn anonymous(&mut self, place: &Place, offset: u64, ty: &Type) -> Lower<Place> {
        let addr = if offset == 0 {
            place.addr
        } else {
            self.b.member(place.addr, Extent::at(offset), "", "")
        };
        Ok(Place::new(addr, ty.clone()))
    }

    // ---- lengths left open ----

    /// An object's type, an array's length taken from its initialiser where it is left open.
    pub fn completed(&mut self, ty: &Type, initializer: Option<&Initializer>) -> Lower<Type> {
        match initializer {
            Some(Initializer::List(list)) => self.completed_by_list(ty, list),
            Some(Initializer::Expression(expr)) => {
                let resolved = self.resolve(ty)?;
                if let Kind::Array(of, Len::Unknown) = &resolved.kind
                    && let Expression::StringLiteral(_) = &expr.node
                {
                    return self.string_length(of.as_ref().clone(), expr);
                }
                Ok(ty.clone())
            }
            None => Ok(ty.clone()),
        }
    }

    fn string_length(&mut self, of: Type, expr: &Node<Expression>) -> Lower<Type> {
        let Operand::Place(string) = self.operand(expr)? else {
            return lost("string");
        };
        match string.ty.kind {
            Kind::Array(_, len) => Ok(Type::array(of, len)),
            _ => lost("string"),
        }
    }

    pub fn completed_by_list(&mut self, ty: &Type, list: &[Item]) -> Lower<Type> {
        let resolved = self.resolve(ty)?;
        let Kind::Array(of, Len::Unknown) = &resolved.kind else {
            return Ok(ty.clone());
        };
        let list = without_mark(list);
        if let [only] = list
            && let Initializer::Expression(expr) = &only.node.initializer.node
            && let Expression::StringLiteral(_) = &expr.node
            && matches!(self.resolve(of)?.kind, Kind::Int(_))
        {
            return self.string_length(of.as_ref().clone(), expr);
        }
        let mut longest = 0u64;
        let mut next = 0u64;
        let mut rest = list;
        while let Some(item) = rest.first() {
            match item.node.designation.first().map(|node| &node.node) {
                Some(Designator::Index(expr)) => {
                    next = u64::try_from(self.integer_constant(expr)?).unwrap_or(0);
                }
                Some(Designator::Range(range)) => {
                    next = u64::try_from(self.integer_constant(&range.node.to)?).unwrap_or(0);
                }
                _ => {}
            }
            let taken = if item.node.designation.len() > 1 {
                1
            } else {
                self.items_taken(of, rest)?
            };
            rest = rest.get(taken.max(1)..).unwrap_or(&[]);
            next = next.saturating_add(1);
            longest = longest.max(next);
        }
        let mut complete = Type::array(of.as_ref().clone(), Len::Known(longest));
        complete.align = resolved.align.clone();
        Ok(complete)
    }

    /// How many items of a list one object of type `ty` takes, braces elided or not.
    fn items_taken(&mut self, ty: &Type, list: &[Item]) -> Lower<usize> {
        let Some(item) = list.first() else {
            return Ok(0);
        };
        let Initializer::Expression(expr) = &item.node.initializer.node else {
            return Ok(1);
        };
        if matches!(self.class(ty)?, Class::Scalar(_)) {
            return Ok(1);
        }
        let resolved = self.resolve(ty)?;
        if let Kind::Array(..) = resolved.kind {
            if matches!(expr.node, Expression::StringLiteral(_)) {
                return Ok(1);
            }
        } else {
            let given = self.type_of_value(expr)?;
            if self.compatible(&given, &resolved)? {
                return Ok(1);
            }
        }
        let shape = self.shape_of(&resolved)?;
        let mut taken = 0;
        let mut index = 0;
        while let Some(at) = shape.at_or_after(index) {
            let rest = list.get(taken..).unwrap_or(&[]);
            if rest.is_empty() || (taken > 0 && !rest[0].node.designation.is_empty()) {
                break;
            }
            let member = match &shape.record {
                Some(record) => record
                    .def()
                    .fields
                    .get(usize::try_from(at).unwrap_or(usize::MAX))
                    .map(|field| field.ty.clone()),
                None => self.element_type(&resolved)?.map(|of| of.as_ref().clone()),
            };
            let Some(member) = member else { break };
            taken += self.items_taken(&member, rest)?.max(1);
            if shape.union {
                break;
            }
            index = at + 1;
        }
        Ok(taken.max(1))
    }
}

/// What a list can fill: the elements of an array or the fields of a record.
struct Shape {
    record: Option<Record>,
    count: u64,
    union: bool,
}

impl Shape {
    /// The first member from `index` on that takes an item: unnamed bit-fields do not.
    fn at_or_after(&self, index: u64) -> Option<u64> {
        let Some(record) = &self.record else {
            return (index < self.count).then_some(index);
        };
        let from = usize::try_from(index).ok()?;
        let fields = record.def().fields.iter().enumerate().skip(from);
        let takes = |(_, field): &(usize, &crate::frontend::types::Field)| {
            field.name.is_some() || field.width.is_none()
        };
        fields.into_iter().find(takes).map(|(i, _)| i as u64)
    }
}

/// The mark for `{}` is no item.
fn without_mark(list: &[Item]) -> &[Item] {
    let mark = |item: &Item| match &item.node.initializer.node {
        Initializer::Expression(expr) => matches!(
            &expr.node,
            Expression::Identifier(id) if id.node.name == "__cassini_empty"
        ),
        Initializer::List(_) => false,
    };
    match list {
        [only] if mark(only) => &[],
        _ => list,
    }
}
