//! Which names stand beside which places in a function's text.
//!
//! In: the text. Out: pairs such as `it_flags` and `ITEM_LINKED` of `it->it_flags & ITEM_LINKED`, `state = CLOSED` or `switch (state) { case
//! CLOSED:`. Whether a name stands for a number is for others to say.

use std::collections::BTreeSet;

use crate::report::summary::constants::RESULT;

/// A token of C, as far as this is about them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Token<'t> {
    Name(&'t str),
    Number(i128),
    Sign(&'t str),
}

/// Tokens that are looked at for what belongs together: longer expressions are no source of people's.
const NEAR: usize = 96;

/// Signs that a place and a name stand on both sides of.
const BETWEEN: &[&str] = &[
    "==", "!=", "<=", ">=", "&=", "|=", "^=", "<", ">", "&", "|", "^", "=",
];
/// Longer signs come first.
const SIGNS: &[&str] = &[
    "<<=", ">>=", "...", "==", "!=", "<=", ">=", "&=", "|=", "^=", "+=", "-=", "*=", "/=", "->",
    "&&", "||", "<<", ">>", "++", "--",
];

/// The tokens of a text: without comments, strings and directives.
pub fn tokens(text: &str) -> Vec<Token<'_>> {
    let mut found = Vec::new();
    let mut rest = text;
    let mut line_start = true;
    while let Some(first) = rest.chars().next() {
        let length = match first {
            '\n' => {
                line_start = true;
                rest = &rest[1..];
                continue;
            }
            // A line that goes on.
            one if one.is_whitespace() || one == '\\' => {
                rest = &rest[one.len_utf8()..];
                continue;
            }
            '#' if line_start => end_of_line(rest),
            '/' if rest.starts_with("//") => end_of_line(rest),
            '/' if rest.starts_with("/*") => rest[2..].find("*/").map_or(rest.len(), |end| end + 4),
            '"' | '\'' => {
                let length = quoted(rest);
                if let Some(number) = character(&rest[..length]) {
                    found.push(Token::Number(number));
                }
                length
            }
            one if one.is_ascii_digit() => {
                let length = word(rest);
                found.extend(number(&rest[..length]).map(Token::Number));
                length
            }
            one if one.is_alphabetic() || one == '_' => {
                let length = word(rest);
                found.push(Token::Name(&rest[..length]));
                length
            }
            one => {
                let sign = SIGNS.iter().find(|sign| rest.starts_with(**sign));
                let length = sign.map_or(one.len_utf8(), |sign| sign.len());
                found.push(Token::Sign(&rest[..length]));
                length
            }
        };
        line_start = false;
        rest = &rest[length..];
    }
    found
}

/// Where the first line of a text ends, with those that it goes on in.
pub fn end_of_line(text: &str) -> usize {
    let mut from = 0;
    while let Some(end) = text[from..].find('\n') {
        let end = from + end;
        if !text[..end].trim_end_matches('\r').ends_with('\\') {
            return end;
        }
        from = end + 1;
    }
    text.len()
}

/// Bytes of a string or a character, with its quotes.
fn quoted(text: &str) -> usize {
    let bytes = text.as_bytes();
    let mut at = 1;
    while at < bytes.len() && bytes[at] != b'\n' {
        match bytes[at] {
            b'\\' => at += 1,
            one if one == bytes[0] => return at + 1,
            _ => {}
        }
        at += 1;
    }
    let mut end = at.min(text.len());
    while !text.is_char_boundary(end) {
        end += 1;
    }
    end
}

fn word(text: &str) -> usize {
    let part = |one: char| one.is_alphanumeric() || one == '_' || one == '.';
    let name = |one: char| one.is_alphanumeric() || one == '_';
    let number = text.starts_with(|one: char| one.is_ascii_digit());
    text.find(|one| !if number { part(one) } else { name(one) })
        .unwrap_or(text.len())
}

/// `'a'`
fn character(text: &str) -> Option<i128> {
    let inside = text.strip_prefix('\'')?.strip_suffix('\'')?;
    let mut letters = inside.chars();
    match (letters.next()?, letters.next()) {
        ('\\', Some('0')) => Some(0),
        ('\\', _) => None,
        (one, None) if one.is_ascii() => Some(i128::from(one as u32)),
        _ => None,
    }
}

/// `0x40UL`
pub fn number(text: &str) -> Option<i128> {
    let lower = text.to_ascii_lowercase();
    let digits = lower.trim_end_matches(['u', 'l']);
    match digits.strip_prefix("0x") {
        Some(digits) => i128::from_str_radix(digits, 16).ok(),
        None if digits.len() > 1 && digits.starts_with('0') => {
            i128::from_str_radix(&digits[1..], 8).ok()
        }
        None => digits.parse().ok(),
    }
}

/// A place's last member or variable, and a name that stands beside it, perhaps with a minus.
type Pair<'t> = (&'t str, Spelled<'t>);

/// `EIO` or `-EIO`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Spelled<'t> {
    minus: bool,
    name: &'t str,
}

impl<'t> Spelled<'t> {
    fn plain(name: &'t str) -> Self {
        Spelled { minus: false, name }
    }
}

/// The pairs of a function's text.
pub fn pairs(text: &str) -> Vec<(String, String)> {
    let tokens = tokens(text);
    let mut found: Vec<Pair<'_>> = Vec::new();
    let mut switches: Vec<(&str, i32)> = Vec::new();
    let mut depth = 0;
    let mut returned = Vec::new();
    for (at, token) in tokens.iter().enumerate() {
        match *token {
            Token::Sign("{") => depth += 1,
            Token::Sign("}") => {
                depth -= 1;
                switches.retain(|(_, inside)| *inside <= depth);
            }
            Token::Name("switch") => {
                let place = switched(&tokens, at + 1);
                switches.extend(place.map(|place| (place, depth + 1)));
            }
            Token::Name("case") => {
                if let (Some((place, _)), Some(Token::Name(name))) =
                    (switches.last(), tokens.get(at + 1))
                {
                    found.push((place, Spelled::plain(name)));
                }
            }
            Token::Name("return") => {
                let names = chosen(&tokens[at + 1..]);
                found.extend(names.iter().map(|name| (RESULT, *name)));
                returned.extend(names.iter().map(|spelled| spelled.name));
            }
            Token::Sign(sign) if BETWEEN.contains(&sign) => {
                around(&tokens, at, &mut found);
            }
            _ => {}
        }
    }
    // What is stored in a variable that is returned is a result.
    let results = found.iter().filter(|(place, _)| returned.contains(place));
    let results: Vec<Pair<'_>> = results.map(|(_, spelled)| (RESULT, *spelled)).collect();
    found.extend(results);
    let owned = |(place, spelled): Pair<'_>| {
        let minus = if spelled.minus { "-" } else { "" };
        (place.to_owned(), format!("{minus}{}", spelled.name))
    };
    let mut found: Vec<_> = found.into_iter().map(owned).collect();
    found.sort_unstable();
    found.dedup();
    found
}

/// The names that are called in a text: of functions, or of macros with parameters.
pub fn called(text: &str) -> BTreeSet<&str> {
    let tokens = tokens(text);
    let calls = tokens.windows(2).filter_map(|two| match two {
        [Token::Name(name), Token::Sign("(")] => Some(*name),
        _ => None,
    });
    calls.collect()
}

/// The functions whose results a text returns, perhaps by way of a variable.
pub fn answering(text: &str) -> BTreeSet<&str> {
    let tokens = tokens(text);
    let returned = tokens.windows(3).filter_map(|three| match three {
        [Token::Name("return"), Token::Name(name), Token::Sign(";")] => Some(*name),
        _ => None,
    });
    let returned: BTreeSet<&str> = returned.collect();
    let direct = tokens.windows(3).filter_map(|three| match three {
        [Token::Name("return"), Token::Name(name), Token::Sign("(")] => Some(*name),
        _ => None,
    });
    let stored = tokens.windows(4).filter_map(|four| match four {
        [
            Token::Name(kept),
            Token::Sign("="),
            Token::Name(name),
            Token::Sign("("),
        ] => returned.contains(kept).then_some(*name),
        _ => None,
    });
    direct.chain(stored).collect()
}

/// The place that a `switch` is about, from its bracket on: `state` of `(conn->state)`, `mode` of `(node->mode & TYPE)`.
fn switched<'t>(tokens: &[Token<'t>], from: usize) -> Option<&'t str> {
    let end = closing(tokens, from)?;
    let mut inside = from..end;
    let masked = inside.find(|at| tokens[*at] == Token::Sign("&") && *at > from + 1);
    place_before(tokens, masked.unwrap_or(end))
}

/// The pairs around a sign.
fn around<'t>(tokens: &[Token<'t>], at: usize, found: &mut Vec<Pair<'t>>) {
    if let Some(place) = place_before(tokens, at) {
        found.extend(
            names_after(&tokens[at + 1..])
                .into_iter()
                .map(|name| (place, name)),
        );
        if tokens[at] == Token::Sign("=") {
            let names = chosen(&tokens[at + 1..]);
            found.extend(names.into_iter().map(|name| (place, name)));
        }
    }
    if let Some(Token::Name(name)) = at.checked_sub(1).map(|before| tokens[before])
        && let Some(place) = place_after(&tokens[at + 1..])
    {
        found.push((place, Spelled::plain(name)));
    }
}

/// The place that ends before a token: `flags` of `it->flags`, `state` of `conns[i].state[2]`.
fn place_before<'t>(tokens: &[Token<'t>], mut end: usize) -> Option<&'t str> {
    loop {
        match *tokens.get(end.checked_sub(1)?)? {
            Token::Name(name) => return Some(name),
            Token::Sign("]") => {
                end = opening(tokens, end, ("[", "]"))?;
            }
            // `(mode & TYPE)`, but not `type_of(mode)`.
            Token::Sign(")") => {
                let opening = opening(tokens, end, ("(", ")"))?;
                let before = opening.checked_sub(1).map(|before| tokens[before]);
                return match before {
                    Some(Token::Name(name)) if !is_keyword(name) => None,
                    _ => place_after(&tokens[opening..end]),
                };
            }
            _ => return None,
        }
    }
}

/// Whether a word stands before a bracket that is no call's.
fn is_keyword(word: &str) -> bool {
    matches!(word, "if" | "while" | "for" | "switch" | "return" | "case")
}

/// The pairs of a macro with parameters where a text uses it: `i_mode` and `S_IFREG` of `S_ISREG(inode->i_mode)`. `definition` begins with the
/// macro's name; `inside` are its own pairs.
pub fn pairs_of_uses(
    text: &str,
    definition: &str,
    inside: &[(String, String)],
) -> Vec<(String, String)> {
    let head = tokens(definition);
    let [Token::Name(name), Token::Sign("("), rest @ ..] = &head[..] else {
        return Vec::new();
    };
    let parameters = rest
        .iter()
        .take_while(|token| **token != Token::Sign(")"))
        .filter_map(|token| match token {
            Token::Name(name) => Some(*name),
            _ => None,
        });
    let parameters: Vec<&str> = parameters.collect();
    if !inside
        .iter()
        .any(|(place, _)| parameters.contains(&place.as_str()))
    {
        return Vec::new();
    }
    let tokens = tokens(text);
    let mut found = Vec::new();
    for at in 0..tokens.len() {
        if tokens[at] != Token::Name(name) || tokens.get(at + 1) != Some(&Token::Sign("(")) {
            continue;
        }
        for (parameter, argument) in parameters.iter().zip(arguments(&tokens[at + 2..])) {
            let Some(place) = place_after(argument) else {
                continue;
            };
            let here = inside.iter().filter(|(inner, _)| inner == parameter);
            found.extend(here.map(|(_, name)| (place.to_owned(), name.clone())));
        }
    }
    found
}

/// The arguments of a call, from behind its bracket on.
fn arguments<'a, 't>(tokens: &'a [Token<'t>]) -> Vec<&'a [Token<'t>]> {
    let mut found = Vec::new();
    let (mut depth, mut start) = (0, 0);
    for (at, token) in tokens.iter().enumerate().take(NEAR) {
        match token {
            Token::Sign("(" | "[") => depth += 1,
            Token::Sign(")") if depth == 0 => {
                // With the bracket, at which the last argument's place ends.
                found.push(&tokens[start..=at]);
                break;
            }
            Token::Sign(")" | "]") => depth -= 1,
            Token::Sign(",") if depth == 0 => {
                found.push(&tokens[start..=at]);
                start = at + 1;
            }
            _ => {}
        }
    }
    found
}

/// The place that begins a text.
fn place_after<'t>(tokens: &[Token<'t>]) -> Option<&'t str> {
    let mut last = None;
    let mut rest = tokens.iter().copied().take(NEAR);
    loop {
        match rest.next()? {
            Token::Sign("*" | "(") if last.is_none() => {}
            Token::Sign("->" | ".") => {}
            Token::Name(name) => last = Some(name),
            _ => return last,
        }
    }
}

/// The names behind a sign: `A`, `-A`, `~(A | B)`.
fn names_after<'t>(tokens: &[Token<'t>]) -> Vec<Spelled<'t>> {
    let mut found = Vec::new();
    let mut minus = false;
    let mut rest = tokens.iter().copied().take(NEAR).peekable();
    while let Some(token) = rest.next() {
        match token {
            Token::Sign("-") if found.is_empty() => minus = true,
            Token::Sign("~" | "(" | "|") => {}
            Token::Name(name) => match rest.peek() {
                Some(Token::Sign("(" | "->" | "." | "[")) => break,
                _ => found.push(Spelled { minus, name }),
            },
            _ => break,
        }
    }
    found
}

/// The names that a value may be: `a ? B : C`, up to the end of the statement.
fn chosen<'t>(tokens: &[Token<'t>]) -> Vec<Spelled<'t>> {
    let mut found = Vec::new();
    let (mut begins, mut minus) = (true, false);
    for (at, token) in tokens.iter().enumerate().take(NEAR) {
        match *token {
            Token::Sign(";" | "{" | "}") => break,
            Token::Sign("?" | ":" | "(") => (begins, minus) = (true, false),
            Token::Sign("-") if begins => minus = true,
            Token::Name(name) if begins => {
                begins = false;
                if let None | Some(Token::Sign(";" | ":" | ")" | ",")) = tokens.get(at + 1) {
                    found.push(Spelled { minus, name });
                }
            }
            _ => begins = false,
        }
    }
    found
}

/// Where the bracket opens that is closed before a token.
fn opening(tokens: &[Token<'_>], end: usize, (open, close): (&str, &str)) -> Option<usize> {
    let mut depth = 0;
    (end.saturating_sub(NEAR)..end).rev().find(|&at| {
        depth += i32::from(tokens[at] == Token::Sign(close));
        depth -= i32::from(tokens[at] == Token::Sign(open));
        depth == 0
    })
}

/// Where the bracket closes that a token opens.
fn closing(tokens: &[Token<'_>], open: usize) -> Option<usize> {
    let mut depth = 0;
    (open..tokens.len().min(open + NEAR)).find(|&at| {
        depth += i32::from(tokens[at] == Token::Sign("("));
        depth -= i32::from(tokens[at] == Token::Sign(")"));
        depth == 0
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_macro_speaks_of_its_arguments() {
        let regular = "S_ISREG(m) (((m) & S_IFMT) == S_IFREG)";
        let text = "if (S_ISREG(inode->i_mode)) f(S_ISREG(st.st_mode), 1);";
        let found = pairs_of_uses(text, regular, &pairs(regular));
        for place in ["i_mode", "st_mode"] {
            for name in ["S_IFMT", "S_IFREG"] {
                let pair = (place.to_owned(), name.to_owned());
                assert!(found.contains(&pair), "{place} {name}");
            }
        }
        let other = "S_ISREG(m) other(m)";
        assert!(pairs_of_uses("S_ISREG(x)", other, &pairs(other)).is_empty());
    }

    fn has(text: &str, place: &str, name: &str) -> bool {
        pairs(text).contains(&(place.to_owned(), name.to_owned()))
    }

    #[test]
    fn names_stand_beside_places() {
        for (text, place, name) in [
            ("if (it->it_flags & ITEM_LINKED)", "it_flags", "ITEM_LINKED"),
            ("(it->flags & (A|B)) == 0", "flags", "B"),
            ("x.flags &= ~(A);", "flags", "A"),
            ("c[i]->state = CLOSED;", "state", "CLOSED"),
            ("table[f(x)].kind[2] == LAST", "kind", "LAST"),
            ("if (OPEN == c->state && d)", "state", "OPEN"),
            (
                "switch (c->state) { case A: x(); case B: break; }",
                "state",
                "B",
            ),
            (
                "switch (node->mode & TYPE) { case LINK: x(); }",
                "mode",
                "LINK",
            ),
            ("s = good ? YES : NO;", "s", "NO"),
            ("return bad ? FAILED : DONE;", RESULT, "FAILED"),
            ("int r = DONE; return r;", RESULT, "DONE"),
            ("r = -EIO; return r;", RESULT, "-EIO"),
            ("return x ? -EIO : -(ENOMEM);", RESULT, "-EIO"),
            ("if (err == -ENOENT) y();", "err", "-ENOENT"),
        ] {
            assert!(has(text, place, name), "{text}");
        }
    }

    #[test]
    fn results_are_handed_on() {
        let text = "r = f(x); y = g(x); if (y) return h(y); return r;";
        assert_eq!(answering(text), BTreeSet::from(["f", "h"]));
        assert!(called(text).contains("g"));
    }

    #[test]
    fn what_is_no_code_and_no_name_is_left_out() {
        for (text, place, name) in [
            ("/* x == A */ y", "x", "A"),
            ("\"x == A\"", "x", "A"),
            ("#define X x == A\ny", "x", "A"),
            ("x == A(1)", "x", "A"),
            ("x == a->b", "x", "a"),
            (
                "switch (x) { case A: ; } switch (f(y)) { case B: ; }",
                "x",
                "B",
            ),
        ] {
            assert!(!has(text, place, name), "{text}");
        }
        assert_eq!(pairs("\"unclosed \\"), []);
        assert_eq!(pairs("'\\"), []);
        assert_eq!(pairs("x == 'ä"), []);
    }
}
