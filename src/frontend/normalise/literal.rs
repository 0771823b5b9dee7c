//! Numbers, strings and character constants as C11 has them.
//!
//! In: a literal's spelling. Out: one of the same value in C11 without extensions: no digit
//! separators, no suffixes of C23 and GNU, no escapes beyond C11's simple, octal and hexadecimal ones,
//! only ASCII in narrow literals (other bytes become octal escapes, so that none is lost).

/// A number without digit separators and with a suffix of C11's.
pub fn number(spelling: &[u8]) -> String {
    let text: String = spelling
        .iter()
        .filter(|b| **b != b'\'')
        .map(|b| char::from(*b))
        .collect();
    let lower = text.to_ascii_lowercase();
    let hexadecimal = lower.starts_with("0x");
    let floating = if hexadecimal {
        lower.contains('p')
    } else {
        lower.contains(['.', 'e']) && !lower.starts_with("0b")
    };
    let cut = |suffix: &str, to: &str| -> Option<String> {
        lower
            .ends_with(suffix)
            .then(|| format!("{}{to}", &text[..text.len() - suffix.len()]))
    };
    if floating {
        let exotic = [("bf16", "f"), ("q", "l"), ("w", "l")];
        let exotic = exotic.iter().find_map(|(from, to)| cut(from, to));
        return exotic.unwrap_or(text);
    }
    cut("uwb", "ull")
        .or_else(|| cut("wbu", "ull"))
        .or_else(|| cut("wb", "ll"))
        .or_else(|| cut("uz", "ul"))
        .or_else(|| cut("zu", "ul"))
        .unwrap_or(text)
}

/// A string literal.
pub fn string(spelling: &[u8]) -> String {
    let (prefix, inside) = open(spelling, b'"');
    let wide = matches!(prefix, "L" | "u" | "U");
    format!("{prefix}\"{}\"", contents(inside, wide, '"'))
}

/// A character constant.
pub fn character(spelling: &[u8]) -> String {
    let (prefix, inside) = open(spelling, b'\'');
    let wide = matches!(prefix, "L" | "u" | "U");
    let prefix = if wide { prefix } else { "" };
    let contents = contents(inside, wide, '\'');
    if contents.is_empty() {
        return format!("{prefix}'\\000'");
    }
    format!("{prefix}'{contents}'")
}

fn open(spelling: &[u8], quote: u8) -> (&'static str, &[u8]) {
    let at = spelling.iter().position(|b| *b == quote).unwrap_or(0);
    let inside = spelling.get(at + 1..).unwrap_or(b"");
    let inside = inside.strip_suffix(&[quote]).unwrap_or(inside);
    let prefix = match &spelling[..at] {
        b"L" => "L",
        b"u" => "u",
        b"U" => "U",
        b"u8" => "u8",
        _ => "",
    };
    (prefix, inside)
}

/// The inside of a literal, escapes rewritten.
fn contents(inside: &[u8], wide: bool, quote: char) -> String {
    let mut out = String::with_capacity(inside.len() + 8);
    let mut rest = inside;
    while let Some((&byte, tail)) = rest.split_first() {
        rest = tail;
        match byte {
            b'\\' => rest = escape(&mut out, tail, wide, quote),
            0x20..=0x7e => out.push(char::from(byte)),
            b'\t' => out.push_str("\\t"),
            _ if wide => {
                let all = &inside[inside.len() - tail.len() - 1..];
                let (value, length) = decode(all);
                code(&mut out, value, true, quote);
                rest = &all[length..];
            }
            _ => octal(&mut out, byte),
        }
    }
    out
}

/// The code point at the front of the bytes and its length; a byte by itself if it is no UTF-8.
fn decode(bytes: &[u8]) -> (u32, usize) {
    let upto = bytes.len().min(4);
    for length in 1..=upto {
        if let Ok(text) = std::str::from_utf8(&bytes[..length])
            && let Some(c) = text.chars().next()
        {
            return (u32::from(c), length);
        }
    }
    (bytes.first().copied().map_or(0, u32::from), 1)
}

fn octal(out: &mut String, byte: u8) {
    out.push_str(&format!("\\{byte:03o}"));
}

/// Appends a code point: UTF-8 bytes in a narrow literal, one element in a wide one.
fn code(out: &mut String, value: u32, wide: bool, quote: char) {
    if wide {
        out.push_str(&format!("\\x{value:x}"));
        if quote == '"' {
            // Ends the escape, whatever digit follows.
            out.push_str("\" L\"");
        }
        return;
    }
    let c = char::from_u32(value).unwrap_or(char::REPLACEMENT_CHARACTER);
    let mut buffer = [0; 4];
    for byte in c.encode_utf8(&mut buffer).bytes() {
        octal(out, byte);
    }
}

/// Rewrites the escape whose backslash was just read; gives what follows it.
fn escape<'t>(out: &mut String, rest: &'t [u8], wide: bool, quote: char) -> &'t [u8] {
    let Some((&byte, tail)) = rest.split_first() else {
        out.push_str("\\\\");
        return rest;
    };
    match byte {
        b'\'' | b'"' | b'?' | b'\\' | b'a' | b'b' | b'f' | b'n' | b'r' | b't' | b'v' => {
            out.push('\\');
            out.push(char::from(byte));
            tail
        }
        b'0'..=b'7' => {
            let digits = rest
                .iter()
                .take(3)
                .take_while(|b| (b'0'..=b'7').contains(*b))
                .count();
            out.push('\\');
            out.extend(rest[..digits].iter().map(|b| char::from(*b)));
            &rest[digits..]
        }
        b'x' => {
            let digits = tail.iter().take_while(|b| b.is_ascii_hexdigit()).count();
            if digits == 0 {
                out.push('x');
                return tail;
            }
            let value = tail[..digits].iter().fold(0u32, |n, b| {
                n.wrapping_mul(16)
                    .wrapping_add(char::from(*b).to_digit(16).unwrap_or(0))
            });
            if wide {
                out.push_str(&format!("\\x{value:x}"));
            } else {
                octal(out, value.to_le_bytes()[0]);
            }
            &tail[digits..]
        }
        b'e' | b'E' => {
            out.push_str("\\033");
            tail
        }
        b'u' | b'U' => {
            let most = if byte == b'u' { 4 } else { 8 };
            let digits = tail
                .iter()
                .take(most)
                .take_while(|b| b.is_ascii_hexdigit())
                .count();
            let value = tail[..digits].iter().fold(0u32, |n, b| {
                n.wrapping_mul(16)
                    .wrapping_add(char::from(*b).to_digit(16).unwrap_or(0))
            });
            code(out, value, wide, quote);
            &tail[digits..]
        }
        // An unknown escape is the character itself.
        _ => rest,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_lose_separators_and_new_suffixes() {
        assert_eq!(number(b"1'000'000"), "1000000");
        assert_eq!(number(b"0x1'FuL"), "0x1FuL");
        assert_eq!(number(b"7uwb"), "7ull");
        assert_eq!(number(b"1.5q"), "1.5l");
        assert_eq!(number(b"0xe"), "0xe");
        assert_eq!(number(b"0b101"), "0b101");
    }

    #[test]
    fn escapes_are_those_of_c11() {
        assert_eq!(string(br#""\e[0m""#), r#""\033[0m""#);
        assert_eq!(string(br#""\u00e9""#), r#""\303\251""#);
        assert_eq!(string(br#""a\%b""#), r#""a%b""#);
        assert_eq!(string(br#""\x41F""#), r#""\257""#.replace("257", "037"));
        assert_eq!(string(b"\"\xff\""), r#""\377""#);
        assert_eq!(string("L\"é\"".as_bytes()), "L\"\\xe9\" L\"\"");
        assert_eq!(character(b"'\\''"), r"'\''");
        assert_eq!(character(b"u8'a'"), "'a'");
    }
}
