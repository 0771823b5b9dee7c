//! Text that comes from elsewhere, as text and nothing else.
//!
//! In: names, paths, messages, source lines, notes. Out: the same with control characters made visible, so that a terminal does not obey them, and
//! with those that change the order in which text is read.

use std::borrow::Cow;
use std::fmt::{self, Write};

/// Whether a character is shown as it is wherever it stands. Tabs and line ends are not.
pub fn is_inert(c: char) -> bool {
    !c.is_control()
        && !matches!(c,
            // Change the direction of text, or break lines.
            '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}'
            | '\u{2028}' | '\u{2029}' | '\u{feff}')
}

/// The text with what is not inert as `\u{…}`. Tabs stay.
pub fn inert(text: &str) -> Cow<'_, str> {
    let stays = |c: char| is_inert(c) || c == '\t';
    // Nearly all text is of these bytes, which are looked at faster than characters.
    let is_plain = |byte: u8| matches!(byte, b' '..=b'~' | b'\t');
    if text.bytes().all(is_plain) || text.chars().all(stays) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len() + 16);
    for c in text.chars() {
        match c {
            c if stays(c) => out.push(c),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            c => _ = write!(out, "\\u{{{:x}}}", u32::from(c)),
        }
    }
    Cow::Owned(out)
}

/// Shows a text inert.
#[derive(Clone, Copy, Debug)]
pub struct Inert<'a>(pub &'a str);

impl fmt::Display for Inert<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&inert(self.0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_terminal_obeys_is_made_visible() {
        assert_eq!(inert("a\tb é 漢"), "a\tb é 漢");
        let hostile = "\u{1b}[2J\u{9b}31m\r\n\u{7}\u{202e}";
        let shown = r"\u{1b}[2J\u{9b}31m\r\n\u{7}\u{202e}";
        assert_eq!(inert(hostile), shown);
        assert_eq!(format!("{}", Inert(hostile)), shown);
    }
}
