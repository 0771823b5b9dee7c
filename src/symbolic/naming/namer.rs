//! Makes names of what [`Names`] has collected.
//!
//! In: an address or a value. Out: the lvalue or the expression that the source would have for it.

use super::{Base, Link, MAX_DEPTH, Named, Names, joined};
use crate::ir::POINTER_BITS;
use crate::symbolic::origin::{Origin, Origins};
use crate::symbolic::region::Regions;
use crate::symbolic::term::{Node, Op, Term, Terms, eval};

/// Everything a name is made from.
pub struct Namer<'a> {
    pub names: &'a Names,
    pub terms: &'a mut Terms,
    pub regions: &'a mut Regions,
    pub origins: &'a Origins,
    /// The addresses whose names are being made.
    pub open: Vec<Term>,
}

impl Namer<'_> {
    /// The lvalue at an address.
    pub fn lvalue(&mut self, address: Term) -> String {
        if let Some(name) = self.names.objects.get(&address) {
            return name.clone();
        }
        let name = self.lvalue_at(address, 0);
        match self.names.first_members.get(&address) {
            Some(first) => member_of(&name, first),
            None => name,
        }
    }

    /// The value as an rvalue: `dev`, `&dev->lock`.
    pub fn value(&mut self, value: Term) -> String {
        if self.names.roots.contains_key(&value) || self.names.links.contains_key(&value) {
            return format!("&{}", self.lvalue_at(value, 0));
        }
        self.value_at(value, 0)
    }

    fn lvalue_at(&mut self, address: Term, depth: u32) -> String {
        if depth > MAX_DEPTH {
            return "…".into();
        }
        if let Some(root) = self.names.roots.get(&address) {
            return root.clone();
        }
        let names = self.names;
        // `container_of` names a record by its member, which is named by its record elsewhere.
        let link = names.links.get(&address);
        if let Some(link) = link.filter(|link| !self.open.contains(&link.base().address)) {
            self.open.push(address);
            let name = self.linked(link, depth);
            self.open.pop();
            return name;
        }
        let value = self.value_at(address, depth + 1);
        if let Some(object) = value.strip_prefix('&') {
            return object.to_string();
        }
        if value.contains(' ') {
            format!("*({value})")
        } else {
            format!("*{value}")
        }
    }

    fn linked(&mut self, link: &Link, depth: u32) -> String {
        let object = self.base(link.base(), depth + 1);
        match link {
            Link::Member { name, .. } => member_of(&object, name),
            Link::Element { index, .. } => {
                let array = object.strip_prefix('*').unwrap_or(&object);
                format!("{array}[{}]", self.value_at(*index, depth + 1))
            }
        }
    }

    /// The members and elements by which the source gets from `start` to an address: `port.flags`, `[3].lock`.
    /// `None` if it does not get there by these, or by none.
    pub fn members(&mut self, address: Term, start: Term, what: Named) -> Option<String> {
        let direct = self.members_between(address, start, what);
        if direct.is_some() || address == start {
            return direct;
        }
        let choices = self.names.chosen_from.get(&start)?;
        let minus_one = u128::from(u64::MAX);
        choices.iter().find_map(|&choice| {
            let parts = [(1, address), (minus_one, start), (1, choice)];
            let chosen = self.terms.linear(POINTER_BITS, 0, &parts);
            self.members_between(chosen, choice, what)
        })
    }

    fn members_between(&mut self, address: Term, start: Term, what: Named) -> Option<String> {
        let names = self.names;
        let inner = names.innermost.get(&address);
        let inner = inner.filter(|_| what == Named::Scalar);
        let mut text = inner.map_or_else(String::new, |inner| inner.to_string());
        let mut at = address;
        for _ in 0..MAX_DEPTH {
            if at == start {
                return (!text.is_empty()).then_some(text);
            }
            let outer = match (names.links.get(&at), names.within.get(&at)) {
                (Some(link), _) => {
                    let base = link.base();
                    at = base.address;
                    let first = base.first.join(".");
                    match link {
                        Link::Member { name, .. } => joined(&first, name),
                        Link::Element { index, .. } => {
                            joined(&first, &format!("[{}]", self.value_at(*index, 0)))
                        }
                    }
                }
                (None, Some(within)) => {
                    at = within.base;
                    within.members.to_string()
                }
                (None, None) => return None,
            };
            text = joined(&outer, &text);
        }
        None
    }

    fn base(&mut self, base: &Base, depth: u32) -> String {
        let object = self.lvalue_at(base.address, depth);
        let first = base.first.iter();
        first.fold(object, |object, member| member_of(&object, member))
    }

    /// A value as an rvalue.
    fn value_at(&mut self, value: Term, depth: u32) -> String {
        if depth > MAX_DEPTH {
            return "…".into();
        }
        match self.terms.node(value).clone() {
            Node::Const(number) => match self.regions.locate(self.terms, value) {
                Some(loc) if loc.offset != number as u64 as i64 => {
                    let base = self.regions.address(self.terms, loc.plus(-loc.offset));
                    match (self.names.roots.get(&base), loc.offset) {
                        (Some(root), 0) => format!("&{root}"),
                        (Some(root), offset) => format!("(char *)&{root} + {offset}"),
                        (None, _) => "&…".into(),
                    }
                }
                _ => signed(number, self.terms.width(value)).to_string(),
            },
            Node::Var(var) => {
                let known = self.names.variables.get(&value);
                match (self.origins.of(var).clone(), known) {
                    (Origin::Initial { loc, .. }, _) => {
                        let place = self.regions.address(self.terms, loc);
                        let left = self.names.left.get(&value).copied();
                        let address = left.unwrap_or(place);
                        // The region of this cell may be the pointer itself only through itself.
                        match address == value {
                            true => "…".into(),
                            false => self.object_at(address, depth + 1),
                        }
                    }
                    (_, Some(name)) => name.clone(),
                    (Origin::Param(index), None) => format!("param{index}"),
                    (Origin::Call { text, .. }, None) => text.to_string(),
                    (_, None) => match self.names.left.get(&value) {
                        Some(&address) => self.object_at(address, depth + 1),
                        None => "…".into(),
                    },
                }
            }
            Node::Op {
                op: Op::Zext | Op::Sext | Op::Extract { lo: 0 },
                args,
            } => self.value_at(args[0], depth + 1),
            // Of a pointer or null, the pointer.
            Node::Op { op: Op::Ite, args } => match self.terms.as_const(args[1]) {
                Some(_) => self.value_at(args[2], depth + 1),
                None => self.value_at(args[1], depth + 1),
            },
            Node::Linear { constant, terms } => self.sum_at((constant, &terms), value, depth),
            _ => match self.names.variables.get(&value) {
                Some(name) => name.clone(),
                None => "…".into(),
            },
        }
    }

    /// A sum, `constant + Σ coefficient · part`.
    fn sum_at(
        &mut self,
        (constant, parts): (u128, &[(u128, Term)]),
        value: Term,
        depth: u32,
    ) -> String {
        let width = self.terms.width(value);
        let mut text = String::new();
        for &(coefficient, part) in parts {
            let part = self.value_at(part, depth + 1);
            let sign = if text.is_empty() { "" } else { " + " };
            text += sign;
            if coefficient == 1 {
                text += &part;
            } else {
                text += &format!("{} * {part}", signed(coefficient, width));
            }
        }
        let number = self.terms.constant(constant, width);
        let symbol = self.regions.locate(self.terms, number);
        let symbol = symbol.is_some_and(|loc| self.regions.is_program(loc.region));
        match signed(constant, width) {
            0 => text,
            _ if symbol => {
                let start = self.value_at(number, depth + 1);
                match start.strip_prefix('&').filter(|name| is_clear(name)) {
                    // Which element a computed offset leads to is not known (`this_cpu_ptr(&bases)`).
                    Some(global) => format!("&{global}[…]"),
                    None => format!("{start} + {text}"),
                }
            }
            negative @ ..0 => format!("{text} - {}", negative.unsigned_abs()),
            positive => format!("{text} + {positive}"),
        }
    }

    /// The object a value was read from; a record's first member is named if the record is.
    fn object_at(&mut self, address: Term, depth: u32) -> String {
        let name = self.lvalue_at(address, depth);
        match self.names.first_members.get(&address) {
            Some(first) => member_of(&name, first),
            None => name,
        }
    }
}

/// A number as C prints it; a truth value is 0 or 1.
fn signed(number: u128, width: u16) -> i64 {
    match width {
        1 => number as i64,
        _ => eval::signed(number, width) as i64,
    }
}

/// Whether a reader finds in the source what a name says: no offset stands for a member, nothing is left
/// out but an index.
pub fn is_clear(name: &str) -> bool {
    let mut depth = 0i32;
    let outside = |&symbol: &char| {
        depth += i32::from(symbol == '[') - i32::from(symbol == ']');
        depth == 0
    };
    let told: String = name.chars().filter(outside).collect();
    !told.contains(['…', '+'])
        && !told.starts_with(|first: char| first.is_ascii_digit() || first == '-')
}

/// `record.member`, or `pointer->member` where the record is `*pointer`.
pub fn member_of(record: &str, member: &str) -> String {
    match record.strip_prefix('*') {
        Some(pointer) => format!("{pointer}->{member}"),
        None => format!("{record}.{member}"),
    }
}

/// A callee's name for an object, `dev->lock`, where its parameter `dev` is bound to `arg`. `None` if
/// the name does not start at the parameter or the argument has no name worth showing.
pub fn through_call(name: &str, param: &str, arg: &str) -> Option<String> {
    if param.is_empty() || arg.contains(['…', ' ']) {
        return None;
    }
    let pointer = name.trim_start_matches('*');
    let stars = &name[..name.len() - pointer.len()];
    let rest = pointer.strip_prefix(param)?;
    match (stars, rest, arg.strip_prefix('&')) {
        (_, "", Some(record)) => Some(format!("{}{record}", stars.strip_prefix('*')?)),
        (_, "", None) => (!stars.is_empty()).then(|| format!("{stars}{arg}")),
        (_, rest, Some(record)) => Some(format!("{stars}{record}.{}", rest.strip_prefix("->")?)),
        (_, rest, None) => rest
            .starts_with("->")
            .then(|| format!("{stars}{arg}{rest}")),
    }
}
