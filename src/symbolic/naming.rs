//! Names for locations, as the source would write them.
//!
//! In: the member, element and variable expressions that the executor evaluates. Out: for an address
//! term an lvalue such as `dev->lock`.

mod namer;
mod told;

use std::rc::Rc;
use std::sync::Arc;

use rustc_hash::{FxHashMap, FxHashSet};
use smallvec::SmallVec;

use super::class::Class;
use super::term::{Node, Op, Term, Terms};
use crate::ir::MemberOffset;

pub use namer::{Namer, in_record, is_before, is_clear, member_of, through_call};

const MAX_DEPTH: u32 = 12;
/// Choices one within the other.
const MAX_CHOICE: u32 = 4;

#[derive(Debug)]
pub(super) enum Link {
    Member { base: Base, name: Rc<str> },
    Element { base: Base, index: Term },
}

impl Link {
    fn base(&self) -> &Base {
        let (Link::Member { base, .. } | Link::Element { base, .. }) = self;
        base
    }
}

/// What contains a member or an element: the object at an address, or its first member, the first member of that and
/// so on.
#[derive(Debug)]
pub(super) struct Base {
    pub(super) address: Term,
    pub(super) first: Vec<String>,
}

/// A member of a record: `i_rwsem`, some bytes into a `struct inode`.
#[derive(Debug)]
pub(super) struct Part {
    /// Empty for a record without a name.
    pub(super) record: Rc<str>,
    pub(super) name: Rc<str>,
    pub(super) offset: u64,
}

/// What a callee calls a place: some members and elements behind a pointer.
#[derive(Debug)]
struct Within {
    base: Term,
    members: Arc<str>,
    /// Of the element that the way leads through, if the callee has an index of its own there.
    index: Option<Term>,
}

/// An index by which a callee gets to an element: as many bytes as one has, and how far from it the place is.
#[derive(Clone, Copy, Debug)]
pub struct Index {
    pub value: Term,
    pub size: i64,
    pub rest: i64,
}

/// What is named at an address, where a record begins there: the whole of it, or the scalar that its first member is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Named {
    Whole,
    Scalar,
}

/// The first name seen for each address wins: it is the outermost member at that address.
#[derive(Debug, Default)]
pub struct Names {
    roots: FxHashMap<Term, String>,
    links: FxHashMap<Term, Link>,
    /// Names of members at offset 0, whose address is that of the record.
    first_members: FxHashMap<Term, Rc<str>>,
    /// Its first members at an address, one within the other, as far in as the source goes: `list.next`.
    innermost: FxHashMap<Term, Rc<str>>,
    /// The members that begin at an address, outermost first.
    parts: FxHashMap<Term, SmallVec<[Part; 1]>>,
    variables: FxHashMap<Term, String>,
    /// Where a callee has left a pointer.
    left: FxHashMap<Term, Term>,
    /// Names that callees have for objects, in the caller's terms.
    objects: FxHashMap<Term, String>,
    /// What callees call places that they do not operate on.
    within: FxHashMap<Term, Within>,
    /// Bytes of an element, by the array's address.
    sizes: FxHashMap<Term, i64>,
    /// What the source calls a place in an element, by the array's address and how far the place is from the element's.
    in_elements: FxHashMap<(Term, i64), Arc<str>>,
    /// Addresses that are choices, by each of what they may be.
    chosen_from: FxHashMap<Term, SmallVec<[Term; 1]>>,
    /// Values that callees take for pointers, or that are returned as such.
    pointers: FxHashSet<Term>,
    /// Addresses where a pointer was stored that does not look like one: null.
    pointer_places: FxHashSet<Term>,
    /// The records that begin at addresses, as expressions that name members of theirs have them.
    records: FxHashMap<Term, Rc<str>>,
    /// Pointers that functions have made of their argument, by a sum: the function and the argument.
    converted: FxHashMap<Term, (Term, Rc<str>)>,
    /// Names are for a person alone: a callee's where the function's own source has no clear one.
    pub prefer_retold: bool,
    /// What callees call what the function's own source has no clear name for, by the name that it has.
    retold: FxHashMap<String, Option<String>>,
    /// Offsets that the function's text names.
    offsets: Vec<MemberOffset>,
    /// Classes that callees give objects.
    classes: FxHashMap<Term, Class>,
    /// Classes of objects that an address which the source names may lead to, among others.
    choices: FxHashMap<Term, Class>,
}

impl Names {
    /// A variable's address.
    pub fn root(&mut self, address: Term, name: &str) {
        if !name.is_empty() && !self.roots.contains_key(&address) {
            self.roots.insert(address, name.to_string());
        }
    }

    /// What lies at an address is what the source calls as the variable at the other one.
    pub fn root_as_at(&mut self, address: Term, variable: Term) {
        if let Some(name) = self.roots.get(&variable).cloned() {
            self.roots.entry(address).or_insert(name);
        }
    }

    /// The name of a callee's object at an address. A name that the caller's own expressions give it
    /// is preferred.
    pub fn object(&mut self, address: Term, name: &str) {
        if !self.links.contains_key(&address) && !self.first_members.contains_key(&address) {
            self.objects
                .entry(address)
                .or_insert_with(|| name.to_string());
        }
    }

    /// What a callee calls the place at an address that it finds behind the pointer `base`.
    /// Its parameter may be the address of the first members `first`.
    pub fn within(
        &mut self,
        address: Term,
        base: Term,
        (first, members): (&str, &Arc<str>),
        index: Option<Index>,
    ) {
        if let Some(index) = index
            && first.is_empty()
        {
            self.element_told(base, members, index);
        }
        if address == base {
            if index.is_some() {
                return;
            }
            let innermost = self.innermost.entry(address);
            innermost.or_insert_with(|| joined(first, members).into());
            return;
        }
        self.within.entry(address).or_insert_with(|| Within {
            base,
            index: index.map(|index| index.value),
            members: match first.is_empty() {
                true => members.clone(),
                false => joined(first, members).into(),
            },
        });
    }

    /// A callee has named a place in an element of the array at an address.
    fn element_told(&mut self, array: Term, members: &Arc<str>, index: Index) {
        if let Some((inside, rest)) = members.strip_prefix('[').and_then(|of| of.split_once(']'))
            && !inside.contains('[')
            && index.size > 1
            && (0..index.size).contains(&index.rest)
        {
            self.sizes.entry(array).or_insert(index.size);
            let rest = rest.strip_prefix('.').unwrap_or(rest);
            let place = self.in_elements.entry((array, index.rest));
            place.or_insert_with(|| rest.into());
        }
    }

    /// Notes of an address that is a choice what it may be, for the names that are given to what lies behind it.
    pub fn choice_of(&mut self, terms: &Terms, address: Term) {
        let Node::Op { op: Op::Ite, .. } = terms.node(address) else {
            return;
        };
        let mut work = vec![(address, MAX_CHOICE)];
        while let Some((part, depth)) = work.pop() {
            match terms.node(part) {
                Node::Op { op: Op::Ite, args } if depth > 0 => {
                    work.extend(args[1..].iter().map(|&arm| (arm, depth - 1)));
                }
                Node::Var(_) | Node::Linear { .. } => {
                    let choices = self.chosen_from.entry(part).or_default();
                    if !choices.contains(&address) {
                        choices.push(address);
                    }
                }
                _ => {}
            }
        }
    }

    /// The source has this value as a pointer.
    pub fn pointer(&mut self, value: Term) {
        self.pointers.insert(value);
    }

    pub fn is_pointer(&self, value: Term) -> bool {
        self.pointers.contains(&value)
    }

    /// The source keeps a pointer at an address, be it null.
    pub fn pointer_kept(&mut self, address: Term) {
        self.pointer_places.insert(address);
    }

    pub(super) fn is_retold(&self, name: &str) -> bool {
        self.retold.contains_key(name)
    }

    pub(super) fn retell(&mut self, name: &str, clear: Option<String>) {
        // Indices that are left out may differ.
        let clear = clear.filter(|_| !name.contains('…'));
        self.retold.insert(name.to_owned(), clear);
    }

    /// A name for whoever it is for.
    pub(super) fn preferred(&self, name: String) -> String {
        match self.retold(&name) {
            Some(clear) if self.prefer_retold => clear.to_owned(),
            _ => name,
        }
    }

    /// What a callee calls what has such a name here.
    pub fn retold(&self, name: &str) -> Option<&str> {
        self.retold.get(name)?.as_deref()
    }

    /// A function of one argument has returned what lies some bytes from it: `EXT4_I(inode)`.
    pub fn converted(&mut self, terms: &Terms, result: Term, of: Term, function: &str) {
        if matches!(terms.node(result), Node::Linear { .. })
            && !self.converted.contains_key(&result)
        {
            self.converted.insert(result, (of, function.into()));
        }
    }

    /// The function's text names offsets of members.
    pub fn offsets(&mut self, offsets: &[MemberOffset]) {
        self.offsets.extend_from_slice(offsets);
    }

    pub fn keeps_pointer(&self, address: Term) -> bool {
        self.pointer_places.contains(&address)
    }

    /// The class that a callee's object at an address has there.
    pub fn class(&mut self, address: Term, class: &Class) {
        self.classes.entry(address).or_insert_with(|| class.clone());
    }

    /// The class of a place that an address which the source names may lead to.
    pub(super) fn choice(&mut self, address: Term, class: &Class) {
        self.choices.entry(address).or_insert_with(|| class.clone());
    }

    pub(super) fn chosen(&self, address: Term) -> Option<&Class> {
        self.choices.get(&address)
    }

    pub(super) fn class_of(&self, address: Term) -> Option<&Class> {
        self.classes.get(&address)
    }

    /// The members that begin at an address, outermost first.
    pub(super) fn parts(&self, address: Term) -> Option<&[Part]> {
        self.parts.get(&address).map(SmallVec::as_slice)
    }

    pub(super) fn link(&self, address: Term) -> Option<&Link> {
        self.links.get(&address)
    }

    /// The innermost member at an address that is no member of an object itself, nor of a record without a name: what that is a
    /// member of names it.
    pub(super) fn innermost(
        &self,
        address: Term,
        is_object: &dyn Fn(&str) -> bool,
    ) -> Option<&Part> {
        let parts = self.parts.get(&address)?;
        let named = |part: &&Part| !part.record.is_empty() && !is_object(&part.record);
        parts.iter().rfind(named)
    }

    /// Whether the source names a member at this very address: a record lies there.
    pub fn is_record(&self, address: Term) -> bool {
        self.first_members.contains_key(&address)
    }

    /// A value read from a variable.
    pub fn variable(&mut self, terms: &Terms, value: Term, name: &str) {
        if !name.is_empty()
            && matches!(terms.node(value), Node::Var(_))
            && !self.variables.contains_key(&value)
        {
            self.variables.insert(value, name.to_string());
        }
    }

    /// A callee has left a pointer at an address.
    pub fn left_at(&mut self, pointer: Term, address: Term) {
        if pointer != address {
            self.left.entry(pointer).or_insert(address);
        }
    }

    /// The member `name` of the `record` at `base`, within the first members `first` of what lies there,
    /// outermost first; `offset` bytes into the record.
    pub fn member<'n>(
        &mut self,
        address: Term,
        base: Term,
        first: impl Iterator<Item = &'n str>,
        (record, name, offset): (&str, &str, u64),
    ) {
        let same = |part: &Part| *part.record == *record && *part.name == *name;
        let parts = self.parts.get(&address);
        if parts.is_some_and(|parts| parts.iter().any(same)) {
            return;
        }
        if !record.is_empty() && !self.records.contains_key(&base) {
            self.records.insert(base, record.into());
        }
        let first = self.first_members(base, record, first.collect());
        if address == base {
            self.first_of(address, &first, name);
        }
        if first.is_empty()
            && let Some(Link::Element { base: array, .. }) = self.links.get(&base)
            && array.first.is_empty()
        {
            let place = (array.address, offset.cast_signed());
            let place = self.in_elements.entry(place);
            place.or_insert_with(|| name.into());
        }
        let name: Rc<str> = name.into();
        self.parts.entry(address).or_default().push(Part {
            record: record.into(),
            name: name.clone(),
            offset,
        });
        if address == base {
            self.first_members.entry(address).or_insert(name);
        } else {
            let base = Base {
                address: base,
                first,
            };
            let link = Link::Member { base, name };
            self.links.entry(address).or_insert(link);
        }
    }

    /// The first members that lie between an address and a member of the record there, of which an expression names those
    /// that are `told`. A function that is given the address of a first member does not say what that is a member of.
    fn first_members(&self, base: Term, record: &str, told: SmallVec<[&str; 2]>) -> Vec<String> {
        let owned = |names: &[&str]| names.iter().map(|&name| name.to_owned()).collect();
        match self.outer_members(base, record) {
            Some(outer) if outer.ends_with(&told) => owned(&outer),
            _ => owned(&told),
        }
    }

    /// The first members at the address of a record that one of its own is a member of, as far out as the source goes.
    fn outer_members(&self, base: Term, record: &str) -> Option<SmallVec<[&str; 2]>> {
        let parts = self.parts.get(&base).filter(|_| !record.is_empty())?;
        let first = parts.iter().filter(|part| part.offset == 0);
        let outer = first.take_while(|part| *part.record != *record);
        let mut records: SmallVec<[&str; 2]> = SmallVec::new();
        let mut names: SmallVec<[&str; 2]> = SmallVec::new();
        for part in outer {
            // One of a union: it is not known which.
            if records.contains(&&*part.record) {
                return None;
            }
            records.push(&part.record);
            names.push(&part.name);
        }
        Some(names)
    }

    /// The member `name` at offset 0 of what lies at an address, within its first members `first`.
    fn first_of(&mut self, address: Term, first: &[String], name: &str) {
        match self.innermost.get(&address) {
            // Once more, or another member of a union.
            Some(_) if first.is_empty() => {}
            Some(known) if **known != *first.join(".") => {}
            _ => {
                let outer = first.iter().map(String::as_str);
                let members: Vec<&str> = outer.chain([name]).collect();
                self.innermost.insert(address, members.join(".").into());
            }
        }
    }

    /// An element of the array at `base`; `first` as for [`Self::member`].
    pub fn element<'n>(
        &mut self,
        address: Term,
        base: Term,
        first: impl Iterator<Item = &'n str>,
        (index, size): (Term, u64),
    ) {
        if size > 1 {
            self.sizes.entry(base).or_insert(size.cast_signed());
        }
        if address != base {
            self.links.entry(address).or_insert_with(|| Link::Element {
                base: Base::new(base, first),
                index,
            });
        }
    }
}

impl Base {
    fn new<'n>(address: Term, first: impl Iterator<Item = &'n str>) -> Self {
        Base {
            address,
            first: first.map(str::to_string).collect(),
        }
    }
}

/// Members and elements, and those within: `port` and `flags`, `table` and `[3].lock`.
fn joined(outer: &str, inner: &str) -> String {
    match outer.is_empty() || inner.is_empty() || inner.starts_with('[') {
        true => format!("{outer}{inner}"),
        false if outer.ends_with(')') => format!("{outer}->{inner}"),
        false => format!("{outer}.{inner}"),
    }
}
