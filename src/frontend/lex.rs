//! Tokens of one declaration of a preprocessed unit (C11 6.4 and the GNU extensions).
//!
//! In: the bytes of the unit, a byte range and the place it starts at. Out: [`Token`]s, which hold
//! byte ranges and places, not text. White space, comments, line markers and pragmas disappear; any
//! byte that starts no token is skipped, so that no input is refused here.

use memchr::memchr;

/// What kind of token the bytes are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    Ident,
    Number,
    /// String literal with its prefix.
    Str,
    /// Character constant with its prefix.
    Char,
    Punct,
}

/// A token: a byte range of the unit and its place in the source.
#[derive(Clone, Copy, Debug)]
pub struct Token {
    pub kind: Kind,
    pub start: u32,
    pub end: u32,
    /// Index into the caller's table of files.
    pub file: u32,
    pub line: u32,
    pub column: u16,
}

/// A `# 12 "file"` or `#line` directive.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Marker<'t> {
    /// The number of the line that follows.
    pub line: u32,
    /// The name between the quotes, escapes and all; `None` when only the line changes.
    pub file: Option<&'t [u8]>,
}

/// Reads a directive line without its newline; `None` when it is no line marker.
pub fn marker(line: &[u8]) -> Option<Marker<'_>> {
    let rest = line.strip_prefix(b"#")?.trim_ascii_start();
    let rest = match rest.strip_prefix(b"line") {
        Some(rest) => rest.trim_ascii_start(),
        None => rest,
    };
    let digits = rest.iter().take_while(|b| b.is_ascii_digit()).count();
    if digits == 0 {
        return None;
    }
    let number = rest[..digits].iter().fold(0u32, |n, b| {
        n.saturating_mul(10).saturating_add(u32::from(b - b'0'))
    });
    let rest = rest[digits..].trim_ascii_start();
    let file = rest.strip_prefix(b"\"").and_then(|rest| {
        let end = closing_quote(rest, b'"');
        (end < rest.len()).then(|| &rest[..end])
    });
    Some(Marker { line: number, file })
}

/// The file name of a marker as text: escapes resolved.
pub fn file_name(raw: &[u8]) -> String {
    let mut bytes = Vec::with_capacity(raw.len());
    let mut rest = raw;
    while let Some((&byte, tail)) = rest.split_first() {
        rest = tail;
        if byte != b'\\' {
            bytes.push(byte);
            continue;
        }
        let octal = rest
            .iter()
            .take(3)
            .take_while(|b| (b'0'..=b'7').contains(*b))
            .count();
        if octal > 0 {
            let value = rest[..octal]
                .iter()
                .fold(0u32, |n, b| n * 8 + u32::from(b - b'0'));
            bytes.push(value.to_le_bytes()[0]);
            rest = &rest[octal..];
        } else if let Some((&escaped, tail)) = rest.split_first() {
            // Of letters, compilers escape the line feed's alone.
            bytes.push(if escaped == b'n' { b'\n' } else { escaped });
            rest = tail;
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

/// Offset of the quote that ends a literal whose inside is at the front of `text`; the end of the
/// line or of the text when it is not closed.
pub fn closing_quote(text: &[u8], quote: u8) -> usize {
    let mut at = 0;
    while let Some(&byte) = text.get(at) {
        match byte {
            b'\\' if text.get(at + 1).is_some_and(|next| *next != b'\n') => at += 2,
            b'\n' => return at,
            _ if byte == quote => return at,
            _ => at += 1,
        }
    }
    text.len()
}

/// Whether the byte can be part of an identifier (`$` and non-ASCII bytes are GNU and C11 6.4.2).
pub fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'$' || byte >= 0x80
}

/// Whether a quote after these bytes is a digit separator of a C23 number, not a character constant.
pub fn is_digit_separator(before: &[u8]) -> bool {
    let word = before
        .iter()
        .rev()
        .take_while(|b| is_word(**b) || **b == b'\'' || **b == b'.')
        .count();
    before[before.len() - word..]
        .first()
        .is_some_and(u8::is_ascii_digit)
}

/// Where a range of the unit starts in the source.
#[derive(Clone, Copy, Debug)]
pub struct Start {
    pub file: u32,
    pub line: u32,
    /// 1-based.
    pub column: u32,
}

/// Lexes `text[from..to]`; `file` gives the index of a file named by a marker.
pub fn tokens(
    text: &[u8],
    from: usize,
    to: usize,
    start: Start,
    file: &mut dyn FnMut(&[u8]) -> u32,
) -> Vec<Token> {
    let to = to.min(text.len());
    let mut lexer = Lexer {
        text: &text[..to],
        at: from,
        file: start.file,
        line: start.line,
        // Columns count from the line's first byte, which may lie before `from`.
        line_start: (from + 1).saturating_sub(start.column as usize),
        tokens: Vec::with_capacity(to.saturating_sub(from) / 4),
    };
    lexer.run(file);
    lexer.tokens
}

struct Lexer<'t> {
    text: &'t [u8],
    at: usize,
    file: u32,
    line: u32,
    line_start: usize,
    tokens: Vec<Token>,
}

impl Lexer<'_> {
    fn peek(&self, ahead: usize) -> u8 {
        self.text.get(self.at + ahead).copied().unwrap_or(0)
    }

    fn push(&mut self, kind: Kind, end: usize) {
        let column = u16::try_from(self.at - self.line_start + 1).unwrap_or(u16::MAX);
        self.tokens.push(Token {
            kind,
            start: self.at as u32,
            end: end as u32,
            file: self.file,
            line: self.line,
            column,
        });
        self.at = end;
    }

    fn run(&mut self, file: &mut dyn FnMut(&[u8]) -> u32) {
        while let Some(&byte) = self.text.get(self.at) {
            match byte {
                b'\n' => self.newline(file),
                b'/' if self.peek(1) == b'*' => self.comment(),
                b'"' | b'\'' => self.literal(0),
                b'0'..=b'9' => self.number(),
                b'.' if self.peek(1).is_ascii_digit() => self.number(),
                _ if is_word(byte) => self.word(),
                _ => match punctuator(&self.text[self.at..]) {
                    0 => self.at += 1,
                    length => self.push(Kind::Punct, self.at + length),
                },
            }
        }
    }

    fn newline(&mut self, file: &mut dyn FnMut(&[u8]) -> u32) {
        self.at += 1;
        self.line = self.line.saturating_add(1);
        while self.peek(0) == b'#' {
            let rest = &self.text[self.at..];
            let line = &rest[..memchr(b'\n', rest).unwrap_or(rest.len())];
            self.line = self.line.saturating_add(1);
            if let Some(marker) = marker(line) {
                self.line = marker.line;
                if let Some(name) = marker.file {
                    self.file = file(name);
                }
            }
            self.at = (self.at + line.len() + 1).min(self.text.len());
        }
        self.line_start = self.at;
    }

    fn comment(&mut self) {
        self.at += 2;
        while self.at < self.text.len() && !self.text[self.at..].starts_with(b"*/") {
            if self.text[self.at] == b'\n' {
                self.line = self.line.saturating_add(1);
                self.line_start = self.at + 1;
            }
            self.at += 1;
        }
        self.at = (self.at + 2).min(self.text.len());
    }

    /// A literal whose prefix is `prefix` bytes long.
    fn literal(&mut self, prefix: usize) {
        let quote = self.peek(prefix);
        let inside = self.at + prefix + 1;
        let end = inside + closing_quote(&self.text[inside..], quote);
        let closed = self.text.get(end) == Some(&quote);
        let kind = if quote == b'"' { Kind::Str } else { Kind::Char };
        self.push(kind, end + usize::from(closed));
    }

    fn number(&mut self) {
        let mut end = self.at + 1;
        while let Some(&byte) = self.text.get(end) {
            let sign = matches!(byte, b'+' | b'-')
                && matches!(self.text[end - 1], b'e' | b'E' | b'p' | b'P')
                && (matches!(self.text[end - 1], b'p' | b'P') || !self.hexadecimal());
            let separator = byte == b'\''
                && self
                    .text
                    .get(end + 1)
                    .is_some_and(u8::is_ascii_alphanumeric);
            if !(is_word(byte) || byte == b'.' || sign || separator) {
                break;
            }
            end += 1;
        }
        self.push(Kind::Number, end);
    }

    fn hexadecimal(&self) -> bool {
        self.peek(0) == b'0' && matches!(self.peek(1), b'x' | b'X')
    }

    fn word(&mut self) {
        let rest = &self.text[self.at..];
        let length = rest.iter().take_while(|b| is_word(**b)).count();
        let quoted = matches!(rest.get(length), Some(b'"' | b'\''));
        if quoted && matches!(&rest[..length], b"L" | b"u" | b"U" | b"u8") {
            self.literal(length);
        } else {
            self.push(Kind::Ident, self.at + length);
        }
    }
}

/// Length of the punctuator at the front, 0 if there is none. `::` is two tokens: it only occurs in
/// `asm` and in C23 attributes, where two are as good.
fn punctuator(text: &[u8]) -> usize {
    let at = |i: usize| text.get(i).copied().unwrap_or(0);
    match (at(0), at(1), at(2)) {
        (b'.', b'.', b'.') | (b'<', b'<', b'=') | (b'>', b'>', b'=') => 3,
        (b'-', b'>' | b'-' | b'=', _)
        | (b'+', b'+' | b'=', _)
        | (b'&', b'&' | b'=', _)
        | (b'|', b'|' | b'=', _)
        | (b'<', b'<' | b'=' | b':' | b'%', _)
        | (b'>', b'>' | b'=', _)
        | (b'=' | b'!' | b'*' | b'/' | b'^', b'=', _)
        | (b'%', b'=' | b'>', _)
        | (b':', b'>', _) => 2,
        (
            b'(' | b')' | b'[' | b']' | b'{' | b'}' | b';' | b',' | b'.' | b'&' | b'*' | b'+'
            | b'-' | b'~' | b'!' | b'/' | b'%' | b'<' | b'>' | b'^' | b'|' | b'?' | b':' | b'='
            | b'@',
            _,
            _,
        ) => 1,
        _ => 0,
    }
}

/// The spelling that a digraph stands for, other spellings unchanged (C11 6.4.6).
pub fn undigraph(spelling: &[u8]) -> &[u8] {
    match spelling {
        b"<:" => b"[",
        b":>" => b"]",
        b"<%" => b"{",
        b"%>" => b"}",
        other => other,
    }
}
