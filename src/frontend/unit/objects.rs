//! What the unit's objects of static storage hold, as far as nothing in the unit changes them.
//!
//! In: the parsed declarations of objects, and their lowered initialisers. Out: [`StaticObject`]s. The linker looks at what the
//! other units do with those of external linkage.
//!
//! An object is constant if it is `const`, or if nothing that is read writes to it or takes its address. A variable of external
//! linkage is taken to be one only if it is an integer with an initialiser: others are mostly set by code that is not in the
//! tree, of which the tree is a part.

use rustc_hash::FxHashSet;

use super::super::declared::Entity;
use super::super::outline::{NameId, rank};
use super::super::parse::Declaration;
use super::super::scope::{DeclId, UnitScope};
use super::super::{LossReason, StaticObject, UnitIndex};
use crate::ir::image::Tables;
use crate::ir::{Body, Image, SymbolId, SymbolName};

/// An initialiser of more bytes is not looked into for its values.
const MAX_INITIALISER: u32 = 4096;

/// Whether a declaration is short enough to be lowered for the values in its initialisers.
pub(super) fn is_short(scope: &UnitScope<'_>, id: DeclId) -> bool {
    scope
        .piece(id)
        .is_some_and(|piece| piece.end - piece.start <= MAX_INITIALISER)
}

/// The objects of a declaration that it leaves zero: static ones without an initialiser.
pub(super) fn zero(
    declaration: &Declaration,
    id: DeclId,
    scope: &UnitScope<'_>,
) -> Result<Vec<StaticObject>, LossReason> {
    let declared = declaration.declared()?;
    let tentative = scope
        .outline(id)
        .map_or(&[][..], |outline| &outline.declared);
    let tentative: FxHashSet<NameId> = tentative
        .iter()
        .filter(|one| one.rank == rank::TENTATIVE && scope.is_tentative(one.name))
        .map(|one| one.name)
        .collect();
    let objects = declared.entities.iter().filter(|(name, entity)| {
        tentative.contains(&NameId::of(name.as_bytes())) && entity.file.is_some()
    });
    let objects = objects.filter_map(|(name, entity)| object(name, entity, Image::zero()));
    let mut objects: Vec<StaticObject> = objects.collect();
    objects.sort_by(|a, b| a.name.cmp(&b.name));
    Ok(objects)
}

/// What an initialiser leaves in the object that it is for.
pub(super) fn initialised(
    declaration: &Declaration,
    body: &Body,
    scope: &UnitScope<'_>,
) -> Result<Option<StaticObject>, LossReason> {
    let declared = declaration.declared()?;
    let name = body.name.name.as_str();
    let (Some(entity), [block]) = (declared.entities.get(name), body.blocks.as_slice()) else {
        return Ok(None);
    };
    let mut symbols = (0..).map(SymbolId).zip(&body.symbols);
    let Some((id, _)) = symbols.find(|(_, symbol)| symbol.name == body.name) else {
        return Ok(None);
    };
    let external = entity.file.is_none() && !entity.ty.element_quals().constant;
    if external && !Image::is_integer(&block.stmts, &body.exprs)
        || scope.is_weak(NameId::of(name.as_bytes()))
    {
        return Ok(None);
    }
    let image = Image::of(id, tables(body), &block.stmts);
    Ok(image.and_then(|image| object(name, entity, image)))
}

fn object(name: &str, entity: &Entity, image: Image) -> Option<StaticObject> {
    let name = SymbolName {
        name: name.to_owned(),
        file: entity.file.clone(),
    };
    StaticObject::of(name, &entity.ty, image)
}

/// The objects whose addresses an initialiser holds.
pub(super) fn taken(body: &Body) -> Vec<NameId> {
    let tables = tables(body);
    let blocks = body.blocks.iter();
    let addresses = blocks.flat_map(|block| tables.addresses(&block.stmts));
    addresses
        .map(|name| NameId::of(name.name.as_bytes()))
        .collect()
}

fn tables(body: &Body) -> Tables<'_> {
    Tables {
        exprs: &body.exprs,
        symbols: &body.symbols,
        strings: &body.strings,
        pointer: body.pointer_size,
    }
}

/// Forgets the objects that the unit changes, and the names of static objects, which matter to no other unit.
pub(super) fn finish(index: &mut UnitIndex, scope: &UnitScope<'_>) {
    let taken: FxHashSet<NameId> = index.objects_taken.drain(..).collect();
    let uses = index
        .functions
        .iter()
        .flat_map(|function| &function.objects);
    let changed: FxHashSet<&SymbolName> = uses
        .filter(|object| object.changed)
        .map(|object| &object.name)
        .collect();
    index.objects.retain(|object| {
        let name = NameId::of(object.name.name.as_bytes());
        object.constant || !taken.contains(&name) && !changed.contains(&object.name)
    });
    let external = taken.into_iter().filter(|name| !scope.is_internal(*name));
    index.objects_taken.extend(external);
}
