//! Conditions of `#if` and its kin, and which macros make one come out as wanted.
//!
//! In: the text after `#if`. Out: a [`Condition`], and the definitions ([`Condition::settle`]) that a compiler
//! would have to be given for it. What is no question about macros is [`Condition::Unknown`].

use std::collections::BTreeMap;

/// A condition over macros.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Condition {
    Constant(bool),
    Defined(String),
    /// A macro's value compared with a number.
    Compare(String, Comparison, i64),
    Not(Box<Condition>),
    And(Vec<Condition>),
    Or(Vec<Condition>),
    Unknown,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Comparison {
    Equal,
    NotEqual,
    Less,
    LessOrEqual,
    Greater,
    GreaterOrEqual,
}

impl Comparison {
    const ALL: [(&'static str, Comparison); 6] = [
        ("==", Comparison::Equal),
        ("!=", Comparison::NotEqual),
        ("<=", Comparison::LessOrEqual),
        (">=", Comparison::GreaterOrEqual),
        ("<", Comparison::Less),
        (">", Comparison::Greater),
    ];

    fn holds(self, left: i64, right: i64) -> bool {
        match self {
            Comparison::Equal => left == right,
            Comparison::NotEqual => left != right,
            Comparison::Less => left < right,
            Comparison::LessOrEqual => left <= right,
            Comparison::Greater => left > right,
            Comparison::GreaterOrEqual => left >= right,
        }
    }
}

/// Macros and the values to give them.
pub(super) type Definitions = BTreeMap<String, i64>;

/// What is known of macros: the value's text, `None` if the macro is not defined.
pub(super) type Known<'a> = &'a dyn Fn(&str) -> Option<&'a str>;

impl Condition {
    /// Reads the text after `#if` or `#elif`, without comments.
    pub(super) fn parse(text: &str) -> Condition {
        let mut parser = Parser {
            tokens: tokens(text),
            at: 0,
            depth: 0,
        };
        let condition = parser.or();
        match parser.at == parser.tokens.len() {
            true => condition,
            false => Condition::Unknown,
        }
    }

    pub(super) fn not(condition: Condition) -> Condition {
        Condition::Not(Box::new(condition))
    }

    /// The fewest definitions that make the condition come out as `wanted`; `None` if none do, or that cannot be
    /// told.
    pub(super) fn settle(&self, wanted: bool, known: Known<'_>) -> Option<Definitions> {
        let nothing = Definitions::new;
        match self {
            Condition::Unknown => None,
            Condition::Constant(value) => (*value == wanted).then(nothing),
            Condition::Defined(name) => match (wanted, known(name)) {
                (true, Some(_)) | (false, None) => Some(nothing()),
                (true, None) if is_choice(name) => Some(Definitions::from([(name.clone(), 1)])),
                _ => None,
            },
            Condition::Compare(name, comparison, number) => {
                let now = match known(name) {
                    Some(value) => number_of(value)?,
                    None => 0,
                };
                let right = |value: i64| comparison.holds(value, *number) == wanted;
                if right(now) {
                    return Some(nothing());
                }
                let values = [1, *number, number.saturating_add(1), 0];
                let value = values.into_iter().find(|&value| right(value))?;
                (known(name).is_none() && is_choice(name))
                    .then(|| Definitions::from([(name.clone(), value)]))
            }
            Condition::Not(condition) => condition.settle(!wanted, known),
            Condition::And(all) if wanted => together(all, true, known),
            Condition::Or(all) if !wanted => together(all, false, known),
            Condition::And(any) | Condition::Or(any) => any
                .iter()
                .filter_map(|condition| condition.settle(wanted, known))
                .min_by_key(BTreeMap::len),
        }
    }
}

fn together(all: &[Condition], wanted: bool, known: Known<'_>) -> Option<Definitions> {
    let mut definitions = Definitions::new();
    for condition in all {
        for (name, value) in condition.settle(wanted, known)? {
            let other = definitions.insert(name, value);
            if other.is_some_and(|other| other != value) {
                return None;
            }
        }
    }
    Some(definitions)
}

/// Whether whoever builds the program chooses if the macro is defined, and not the compiler or the system.
pub(super) fn is_choice(name: &str) -> bool {
    const SYSTEMS: &[&str] = &[
        "WIN32", "WIN64", "WINDOWS", "WINCE", "MSVC", "MSC_VER", "MINGW", "CYGWIN", "APPLE",
        "DARWIN", "MACOS", "MAC_OS", "BSD", "SOLARIS", "SUNOS", "HPUX", "AIX", "VMS", "OS2",
        "AMIGA", "BEOS", "HAIKU", "ANDROID", "MSDOS", "BORLAND", "WATCOM", "NOVELL", "QNX",
        "VXWORKS", "FREERTOS",
    ];
    !name.starts_with("__")
        && !SYSTEMS
            .iter()
            .any(|system| name.to_uppercase().contains(system))
}

/// The number that a macro's text is, if it is one.
fn number_of(text: &str) -> Option<i64> {
    let text = text.trim().trim_start_matches('(').trim_end_matches(')');
    let text = text.trim_end_matches(['u', 'U', 'l', 'L']);
    match text.strip_prefix("0x").or(text.strip_prefix("0X")) {
        Some(digits) => i64::from_str_radix(digits, 16).ok(),
        None => text.parse().ok(),
    }
}

/// Words, numbers and operators.
fn tokens(text: &str) -> Vec<&str> {
    let mut tokens = Vec::new();
    let mut rest = text.trim_start();
    while let Some(first) = rest.chars().next() {
        let is_word = |c: char| c.is_alphanumeric() || c == '_';
        let length = if is_word(first) {
            rest.find(|c| !is_word(c)).unwrap_or(rest.len())
        } else if ["&&", "||", "==", "!=", "<=", ">="]
            .iter()
            .any(|o| rest.starts_with(o))
        {
            2
        } else {
            first.len_utf8()
        };
        tokens.push(&rest[..length]);
        rest = rest[length..].trim_start();
    }
    tokens
}

struct Parser<'a> {
    tokens: Vec<&'a str>,
    at: usize,
    depth: u32,
}

impl<'a> Parser<'a> {
    fn peek(&self) -> Option<&'a str> {
        self.tokens.get(self.at).copied()
    }

    fn next(&mut self) -> Option<&'a str> {
        self.at += 1;
        self.tokens.get(self.at - 1).copied()
    }

    fn take(&mut self, token: &str) -> bool {
        let taken = self.peek() == Some(token);
        self.at += usize::from(taken);
        taken
    }

    fn or(&mut self) -> Condition {
        let mut any = vec![self.and()];
        while self.take("||") {
            any.push(self.and());
        }
        one_or(any, Condition::Or)
    }

    fn and(&mut self) -> Condition {
        let mut all = vec![self.unary()];
        while self.take("&&") {
            all.push(self.unary());
        }
        one_or(all, Condition::And)
    }

    fn unary(&mut self) -> Condition {
        // Nothing that a person wrote nests deeper.
        const DEPTH: u32 = 100;
        self.depth += 1;
        let condition = match self.next() {
            _ if self.depth > DEPTH => Condition::Unknown,
            Some("!") => Condition::not(self.unary()),
            Some("(") => {
                let inner = self.or();
                match self.take(")") {
                    true => inner,
                    false => Condition::Unknown,
                }
            }
            Some("defined") => {
                let bracket = self.take("(");
                let name = self.next().unwrap_or_default();
                match !bracket || self.take(")") {
                    true if is_name(name) => Condition::Defined(name.to_owned()),
                    _ => Condition::Unknown,
                }
            }
            Some(word) if is_name(word) && self.peek() != Some("(") => self.compared(word),
            Some(word) => match (number_of(word), self.peek()) {
                (Some(number), None | Some(")" | "&&" | "||")) => Condition::Constant(number != 0),
                _ => Condition::Unknown,
            },
            None => Condition::Unknown,
        };
        self.depth -= 1;
        condition
    }

    fn compared(&mut self, name: &str) -> Condition {
        let comparison = self.peek().and_then(|token| {
            let mut all = Comparison::ALL.into_iter();
            all.find(|(text, _)| *text == token)
        });
        let Some((_, comparison)) = comparison else {
            return Condition::Compare(name.to_owned(), Comparison::NotEqual, 0);
        };
        self.at += 1;
        match self.next().and_then(number_of) {
            Some(number) => Condition::Compare(name.to_owned(), comparison, number),
            None => Condition::Unknown,
        }
    }
}

fn one_or(mut list: Vec<Condition>, join: fn(Vec<Condition>) -> Condition) -> Condition {
    match list.pop() {
        Some(only) if list.is_empty() => only,
        Some(last) => {
            list.push(last);
            join(list)
        }
        None => Condition::Unknown,
    }
}

fn is_name(word: &str) -> bool {
    word.starts_with(|c: char| c.is_alphabetic() || c == '_')
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The definitions that make the condition hold where `A` is 1, `Z` is 0 and nothing else is defined.
    fn needs(text: &str) -> Option<String> {
        let known = |name: &str| match name {
            "A" => Some("1"),
            "Z" => Some("0"),
            _ => None,
        };
        let definitions = Condition::parse(text).settle(true, &known)?;
        let shown = definitions
            .iter()
            .map(|(name, value)| format!("{name}={value}"));
        Some(shown.collect::<Vec<_>>().join(" "))
    }

    #[test]
    fn the_fewest_definitions_that_make_a_condition_hold_are_found() {
        for (text, expected) in [
            ("defined(X)", Some("X=1")),
            ("defined X && !defined( Y )", Some("X=1")),
            ("defined(A)", Some("")),
            ("!defined(A)", None),
            ("X", Some("X=1")),
            ("Z", None),
            ("(A || X) && Y", Some("Y=1")),
            ("X && Y || W", Some("W=1")),
            ("X == 3 && Y > 2", Some("X=3 Y=3")),
            ("X == 3 && X == 4", None),
            ("!(X < 2)", Some("X=2")),
            ("1", Some("")),
            ("0 || defined(X)", Some("X=1")),
            ("defined(_WIN32)", None),
            ("defined(__linux__)", None),
            ("VERSION(1, 2) > 3", None),
            ("X +", None),
            ("", None),
        ] {
            assert_eq!(needs(text).as_deref(), expected, "{text}");
        }
        let deep = "(".repeat(100_000);
        assert_eq!(Condition::parse(&deep).settle(true, &|_| None), None);
    }
}
