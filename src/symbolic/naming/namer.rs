//! Makes names of what [`Names`] has collected.
//!
//! In: an address or a value. Out: the lvalue or the expression that the source would have for it.

use super::{Base, Link, MAX_DEPTH, Named, Names, joined};
use crate::ir::{MemberOffset, POINTER_BITS};
use crate::symbolic::origin::{Origin, Origins};
use crate::symbolic::region::Regions;
use crate::symbolic::term::{Node, Op, Term, Terms, eval};

/// Alternatives that are looked at for the way to an element.
const MAX_ARMS: usize = 64;

/// Everything a name is made from.
pub struct Namer<'a> {
    pub names: &'a Names,
    pub terms: &'a mut Terms,
    pub regions: &'a mut Regions,
    pub origins: &'a Origins,
    /// The addresses whose names are being made.
    pub open: Vec<Term>,
    /// A place that only callees have a name for is told by that, and what a function makes of a pointer by its call.
    pub by_callees: bool,
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

    /// A place as somebody calls it, this function or a callee, if anybody does.
    pub fn clear_lvalue(&mut self, address: Term, start: Term) -> Option<String> {
        self.by_callees = true;
        let name = self.lvalue(address);
        if is_clear(&name) && !is_before(&name) {
            return Some(name);
        }
        let members = self.members(address, start, Named::Scalar)?;
        let pointer = self.value(start);
        let name = match pointer.strip_prefix('&') {
            Some(record) => in_record(record, &members, "."),
            None if pointer.contains(' ') => return None,
            None => in_record(&pointer, &members, "->"),
        };
        is_clear(&name).then_some(name)
    }

    /// A value as somebody calls it, this function or a callee, if anybody does.
    pub fn clear_value(&mut self, value: Term) -> Option<String> {
        self.by_callees = true;
        let name = self.value(value);
        is_clear(&name).then_some(name)
    }

    fn lvalue_at(&mut self, address: Term, depth: u32) -> String {
        if depth > MAX_DEPTH {
            return "…".into();
        }
        if let Some(root) = self.names.roots.get(&address) {
            return root.clone();
        }
        if self.by_callees
            && let Some(pointer) = self.made_of_pointer(address, depth)
        {
            return format!("*{pointer}");
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
        if self.by_callees
            && let Some(name) = self.lvalue_by_callees(address, depth)
        {
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

    /// A place by what a callee calls it.
    fn lvalue_by_callees(&mut self, address: Term, depth: u32) -> Option<String> {
        let names = self.names;
        let within = names.within.get(&address)?;
        if self.open.contains(&within.base) {
            return None;
        }
        let members = match within.index {
            None => within.members.to_string(),
            Some(index) => {
                let index = self.value_at(index, depth + 1);
                with_index(&within.members, &index)?
            }
        };
        self.open.push(address);
        let pointer = self.value_at(within.base, depth + 1);
        self.open.pop();
        Some(match pointer.strip_prefix('&') {
            Some(record) => in_record(record, &members, "."),
            None => in_record(&pointer, &members, "->"),
        })
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
        self.by_callees = true;
        let direct = self.members_between(address, start, what);
        if direct.is_some() || address == start {
            return direct;
        }
        if let Some(text) = self.members_of_choice(address, start, what) {
            return Some(text);
        }
        // What is chosen may be an element.
        let elements = self.names.chosen_from.keys();
        let mut elements: Vec<Term> = elements
            .copied()
            .filter(|arm| match self.terms.node(*arm) {
                Node::Linear { terms, .. } => terms.contains(&(1, start)),
                _ => false,
            })
            .collect();
        elements.sort_unstable();
        elements.into_iter().take(MAX_ARMS).find_map(|arm| {
            let element = self.element_of(arm, start)?;
            let text = self.members_of_choice(address, arm, what)?;
            Some(joined(&element, &text))
        })
    }

    /// The same from one of the addresses that a choice is of, as the source gets there from the choice.
    fn members_of_choice(&mut self, address: Term, arm: Term, what: Named) -> Option<String> {
        let choices = self.names.chosen_from.get(&arm)?;
        let minus_one = u128::from(u64::MAX);
        choices.iter().find_map(|&choice| {
            let parts = [(1, address), (minus_one, arm), (1, choice)];
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
            if let Some(way) = self.way_of_pointer(at, start) {
                return Some(joined(&way, &text));
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
                    match within.index {
                        None => within.members.to_string(),
                        Some(index) => {
                            let index = self.value_at(index, 0);
                            with_index(&within.members, &index)?
                        }
                    }
                }
                (None, None) => {
                    let element = self.element_of(at, start)?;
                    return Some(joined(&element, &text));
                }
            };
            text = joined(&outer, &text);
        }
        None
    }

    /// The way from `start` to an address that no expression leads to: an element as many bytes on as an index tells, `[index]`, or the
    /// record that has `start` as a member.
    fn element_of(&mut self, at: Term, start: Term) -> Option<String> {
        let minus_one = u128::from(u64::MAX);
        let between = self
            .terms
            .linear(POINTER_BITS, 0, &[(1, at), (minus_one, start)]);
        let (constant, parts) = match self.terms.node(between) {
            Node::Linear { constant, terms } => (*constant, terms.clone()),
            Node::Const(distance) => {
                let distance = signed(*distance, POINTER_BITS);
                return self.element_at(start, distance);
            }
            _ => return None,
        };
        let [(size, index)] = parts[..] else {
            return None;
        };
        let (size, constant) = (signed(size, POINTER_BITS), signed(constant, POINTER_BITS));
        if size <= 1 {
            return None;
        }
        let rest = constant.rem_euclid(size);
        let place = match (self.names.in_elements.get(&(start, rest)), rest) {
            (_, 0) => "",
            (Some(place), _) => &**place,
            (None, _) => return None,
        };
        let index = self.value_at(index, 0);
        let index = match constant.div_euclid(size) {
            0 => format!("[{index}]"),
            less @ ..0 => format!("[{index} - {}]", less.unsigned_abs()),
            more => format!("[{index} + {more}]"),
        };
        Some(joined(&index, place))
    }

    /// An element, or a place in one, so many bytes from the beginning of an array.
    fn element_at(&self, array: Term, distance: i64) -> Option<String> {
        let size = *self.names.sizes.get(&array)?;
        let (index, rest) = (distance.div_euclid(size), distance.rem_euclid(size));
        let known = self.names.in_elements.get(&(array, rest));
        match (known, rest) {
            (Some(place), _) => Some(joined(&format!("[{index}]"), place)),
            (None, 0) => Some(format!("[{index}]")),
            (None, _) => None,
        }
    }

    /// How a function or `container_of` makes an address of the pointer `start`: `node_of()`, `container_of(, struct node, inode)`.
    fn way_of_pointer(&mut self, at: Term, start: Term) -> Option<String> {
        if at == start {
            return None;
        }
        if let Some((of, function)) = self.names.converted.get(&at)
            && *of == start
        {
            return Some(format!("{function}()"));
        }
        let (told, member) = self.containing(at)?;
        let (record, name) = (&told.record, &told.member);
        (member == start).then(|| format!("container_of(, {record}, {name})"))
    }

    /// The member of the record at an address that the function's text names the offset of, and where it is: a pointer by itself.
    fn containing(&mut self, record: Term) -> Option<(&MemberOffset, Term)> {
        let names = self.names;
        let named = names.records.get(&record)?;
        names.offsets.iter().find_map(|told| {
            let same = *told.record == **named && told.offset > 0;
            let member = same.then(|| {
                let offset = u128::from(told.offset);
                self.terms.linear(POINTER_BITS, offset, &[(1, record)])
            })?;
            let pointer = matches!(self.terms.node(member), Node::Var(_));
            pointer.then_some((told, member))
        })
    }

    /// What a function or `container_of` has made of a pointer, as the call has it.
    fn made_of_pointer(&mut self, address: Term, depth: u32) -> Option<String> {
        if let Some((of, function)) = self.names.converted.get(&address) {
            let of = self.value_at(*of, depth + 1);
            return Some(format!("{function}({of})"));
        }
        let (told, member) = self.containing(address)?;
        let call = format!(", {}, {})", told.record, told.member);
        let pointer = self.value_at(member, depth + 1);
        Some(format!("container_of({pointer}{call}"))
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
                    (
                        Origin::Call {
                            text, answer: 0, ..
                        },
                        None,
                    ) => text.to_string(),
                    (origin, None) => match (self.names.left.get(&value), origin) {
                        (Some(&address), _) => self.object_at(address, depth + 1),
                        (None, Origin::Call { text, .. }) => text.to_string(),
                        (None, _) => "…".into(),
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
            Node::Linear { constant, terms } => {
                let made = match self.by_callees {
                    true => self.made_of_pointer(value, depth),
                    false => None,
                };
                made.unwrap_or_else(|| self.sum_at((constant, &terms), value, depth))
            }
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

/// Whether a name leads to what lies before what it is made of, `inode[-296]` or `*(inode - 40)`: that is another record's member, as a rule.
pub fn is_before(name: &str) -> bool {
    name.contains("[-") || outside_indices(name).contains(" - ")
}

/// A name without what is between brackets.
fn outside_indices(name: &str) -> String {
    let mut depth = 0i32;
    let outside = |&symbol: &char| {
        depth += i32::from(symbol == '[') - i32::from(symbol == ']');
        depth == 0
    };
    name.chars().filter(outside).collect()
}

/// Whether a reader finds in the source what a name says: no offset stands for a member, nothing is left
/// out but an index.
pub fn is_clear(name: &str) -> bool {
    let told = outside_indices(name);
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

/// A member of what a name stands for, an element, or what a function makes of a pointer to it.
pub fn in_record(name: &str, members: &str, arrow: &str) -> String {
    if let Some((function, rest)) = call_of_way(members) {
        let pointer = match (arrow, name.strip_prefix('(')) {
            ("->", Some(name)) => name.trim_end_matches(')').to_owned(),
            ("->", None) => name.to_owned(),
            _ => format!("&{name}"),
        };
        return format!("{function}{pointer}{rest}");
    }
    match members.starts_with('[') {
        true => format!("{name}{members}"),
        false => format!("{name}{arrow}{members}"),
    }
}

/// Where the pointer goes in a way that begins with a call, such as `container_of(, struct inode, i_lock)->i_state` or
/// `EXT4_I()->i_flags`.
fn call_of_way(members: &str) -> Option<(&str, &str)> {
    let (function, rest) = members.split_at(members.find('(')? + 1);
    let of_name = |one: char| one.is_alphanumeric() || one == '_' || one == '(';
    function.chars().all(of_name).then_some((function, rest))
}

/// A callee's members with the index of the caller in place of the callee's own: the one that is no number.
fn with_index(members: &str, index: &str) -> Option<String> {
    let parts = members.match_indices('[').filter_map(|(start, _)| {
        let length = members[start..].find(']')?;
        let inside = &members[start + 1..start + length];
        let number = inside.contains('[') || inside.chars().all(|one| one.is_ascii_digit());
        (!number).then_some((start + 1, start + length))
    });
    let parts: Vec<(usize, usize)> = parts.collect();
    match parts[..] {
        [(start, end)] => Some(format!("{}{index}{}", &members[..start], &members[end..])),
        _ => None,
    }
}
