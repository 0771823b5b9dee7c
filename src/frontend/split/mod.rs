//! Splits a preprocessed unit into external declarations (C11 6.9), by bracket depth alone.
//!
//! In: the bytes of the unit. Out: [`Pieces`]: for each external declaration its byte range, the
//! place it starts at, whether it defines a function, and a hash of its content by which units share
//! all that is derived from it. This is the only pass over every byte of a unit.
//!
//! A function definition ends at its body's `}`, anything else at `;`. Brackets that do not match are
//! recorded; splitting goes on where the layout shows another declaration.

mod head;

use memchr::{memchr, memmem};
use xxhash_rust::xxh3::xxh3_128_with_seed;

use self::head::{matching_close, names_parameters, opens_body};
use super::dialect::Dialect;
pub use super::files::{Files, SourceFile, Tree};
use super::keywords::is_keyword;
use super::lex::{self, Start};
use super::{LossReason, Stage};

/// An external declaration of the unit, not yet lexed.
#[derive(Clone, Copy, Debug)]
pub struct Piece {
    pub start: u32,
    pub end: u32,
    pub line: u32,
    /// 1-based.
    pub column: u32,
    /// Index into [`Pieces::files`].
    pub file: u32,
    /// For a function definition, where its body's `{` stands.
    pub body: Option<u32>,
    /// Alignment that `#pragma pack` sets here, 0 for none.
    pub pack: u8,
    /// Hash of the content: file, dialect and text, for function definitions also lines and columns.
    pub raw: u128,
    /// Hash of file and text of what comes before the body.
    pub head: u128,
}

impl Piece {
    pub fn place(&self) -> Start {
        Start {
            file: self.file,
            line: self.line,
            column: self.column,
        }
    }
}

/// The unit's external declarations in order, its files, and what did not split.
pub struct Pieces<'a> {
    pub pieces: Vec<Piece>,
    pub files: Files<'a>,
    pub dialect: Dialect,
    /// File, line and reason of each place where brackets do not match.
    pub losses: Vec<(u32, u32, LossReason)>,
}

/// Splits the text of a unit whose main file is `source`.
pub fn split<'a>(text: &[u8], source: &str, tree: &'a dyn Tree) -> Pieces<'a> {
    let mut files = Files::new(tree);
    let dialect = tree.dialect();
    let file = files.id(source.as_bytes());
    let mut scanner = Scanner {
        // Offsets are 32 bits wide.
        text: &text[..text.len().min(u32::MAX as usize)],
        at: 0,
        line: 1,
        line_start: 0,
        file,
        pack: dialect.model.pack,
        packs: Vec::new(),
        dialect: dialect.number(),
        restarts: 0,
        markers: Vec::new(),
        scratch: Vec::new(),
        pieces: Pieces {
            pieces: Vec::with_capacity(text.len() / 128),
            files,
            dialect,
            losses: Vec::new(),
        },
    };
    if text.len() > scanner.text.len() {
        scanner.loss(1, "text beyond 4 GiB");
    }
    scanner.run();
    scanner.pieces
}

/// Each restart reads the rest of the unit again.
const MAX_RESTARTS: u32 = 8;

/// What a byte may mean to the splitter.
#[derive(Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
enum Class {
    Other,
    Newline,
    Quote,
    Apostrophe,
    Open,
    Close,
    Semicolon,
    Slash,
    Digraph,
}

const CLASSES: [Class; 256] = {
    let mut classes = [Class::Other; 256];
    classes[b'\n' as usize] = Class::Newline;
    classes[b'"' as usize] = Class::Quote;
    classes[b'\'' as usize] = Class::Apostrophe;
    classes[b'(' as usize] = Class::Open;
    classes[b'[' as usize] = Class::Open;
    classes[b'{' as usize] = Class::Open;
    classes[b')' as usize] = Class::Close;
    classes[b']' as usize] = Class::Close;
    classes[b'}' as usize] = Class::Close;
    classes[b';' as usize] = Class::Semicolon;
    classes[b'/' as usize] = Class::Slash;
    classes[b'<' as usize] = Class::Digraph;
    classes[b'%' as usize] = Class::Digraph;
    classes[b':' as usize] = Class::Digraph;
    classes
};

struct Scanner<'t, 'a> {
    text: &'t [u8],
    at: usize,
    line: u32,
    line_start: usize,
    file: u32,
    pack: u8,
    packs: Vec<u8>,
    /// The number of the unit's dialect.
    dialect: u64,
    /// How often splitting started again after a bracket that is never closed.
    restarts: u32,
    /// Byte ranges of the directives inside the piece at hand.
    markers: Vec<(usize, usize)>,
    scratch: Vec<u8>,
    pieces: Pieces<'a>,
}

/// Where a piece starts, and the state to go back to when it has no end.
#[derive(Clone, Copy)]
struct Begin {
    at: usize,
    line: u32,
    column: u32,
    file: u32,
    pack: u8,
}

impl Scanner<'_, '_> {
    fn run(&mut self) {
        while self.skip_space() {
            self.piece();
        }
    }

    fn loss(&mut self, line: u32, message: &str) {
        self.pieces.losses.push((
            self.file,
            line,
            LossReason {
                stage: Stage::Split,
                message: message.to_owned(),
            },
        ));
    }

    /// Moves to the first byte of the next declaration; false at the end.
    fn skip_space(&mut self) -> bool {
        if self.at == 0 {
            self.directives();
        }
        while let Some(&byte) = self.text.get(self.at) {
            match byte {
                b'\n' => self.newline(),
                b'/' if self.text[self.at..].starts_with(b"/*") => self.comment(),
                b';' | b' ' | b'\t' | b'\r' | 0x0b | 0x0c => self.at += 1,
                _ => return true,
            }
        }
        false
    }

    #[inline]
    fn newline(&mut self) {
        self.at += 1;
        self.line = self.line.wrapping_add(1);
        self.line_start = self.at;
        if self.text.get(self.at) == Some(&b'#') {
            self.directives();
        }
    }

    /// Reads the directives that stand at the start of a line.
    fn directives(&mut self) {
        let start = self.at;
        while self.text.get(self.at) == Some(&b'#') {
            let rest = &self.text[self.at..];
            let line = &rest[..memchr(b'\n', rest).unwrap_or(rest.len())];
            self.line = self.line.wrapping_add(1);
            if let Some(marker) = lex::marker(line) {
                self.line = marker.line;
                if let Some(name) = marker.file {
                    self.file = self.pieces.files.id(name);
                }
            } else {
                self.pragma(line);
            }
            self.at = (self.at + line.len() + 1).min(self.text.len());
        }
        self.line_start = self.at;
        self.markers.push((start, self.at));
    }

    /// Follows `#pragma pack`, which changes the layout of records, unless an option packs them all.
    fn pragma(&mut self, line: &[u8]) {
        if self.pieces.dialect.packed {
            return;
        }
        let Some(arguments) = line[1..]
            .trim_ascii_start()
            .strip_prefix(b"pragma")
            .and_then(|rest| rest.trim_ascii_start().strip_prefix(b"pack"))
            .and_then(|rest| rest.trim_ascii_start().strip_prefix(b"("))
        else {
            return;
        };
        let inside = &arguments[..memchr(b')', arguments).unwrap_or(arguments.len())];
        let mut sets = None;
        let mut pushes_or_pops = false;
        for word in inside.split(|b| *b == b',').map(<[u8]>::trim_ascii) {
            match word {
                b"push" => {
                    self.packs.push(self.pack);
                    pushes_or_pops = true;
                }
                b"pop" => {
                    sets = Some(self.packs.pop().unwrap_or(self.pieces.dialect.model.pack));
                    pushes_or_pops = true;
                }
                _ => {
                    let number = std::str::from_utf8(word).ok().and_then(|w| w.parse().ok());
                    sets = number.or(sets);
                }
            }
        }
        if let Some(pack) = sets {
            self.pack = pack;
        } else if !pushes_or_pops {
            self.pack = self.pieces.dialect.model.pack;
        }
    }

    fn comment(&mut self) {
        let rest = &self.text[self.at + 2..];
        let length = memmem::find(rest, b"*/").map_or(rest.len(), |end| end + 2);
        for (offset, _) in rest[..length]
            .iter()
            .enumerate()
            .filter(|(_, b)| **b == b'\n')
        {
            self.line = self.line.wrapping_add(1);
            self.line_start = self.at + 2 + offset + 1;
        }
        self.at += 2 + length;
    }

    fn literal(&mut self, quote: u8) {
        let inside = self.at + 1;
        let end = inside + lex::closing_quote(&self.text[inside..], quote);
        let closed = self.text.get(end) == Some(&quote);
        self.at = end + usize::from(closed);
    }

    /// Scans one piece, which starts here.
    fn piece(&mut self) {
        self.markers.clear();
        let begin = Begin {
            at: self.at,
            line: self.line,
            column: (self.at - self.line_start + 1) as u32,
            file: self.file,
            pack: self.pack,
        };
        let mut open: Vec<u8> = Vec::new();
        let mut body = None;
        while let Some(&byte) = self.text.get(self.at) {
            match CLASSES[usize::from(byte)] {
                Class::Other => {
                    let rest = &self.text[self.at + 1..];
                    let is_other = |b: &&u8| CLASSES[usize::from(**b)] == Class::Other;
                    self.at += 1 + rest.iter().take_while(is_other).count();
                }
                Class::Newline => self.newline(),
                Class::Quote => self.literal(b'"'),
                Class::Apostrophe => {
                    if lex::is_digit_separator(&self.text[begin.at..self.at]) {
                        self.at += 1;
                    } else {
                        self.literal(b'\'');
                    }
                }
                Class::Slash => {
                    if self.text.get(self.at + 1) == Some(&b'*') {
                        self.comment();
                    } else {
                        self.at += 1;
                    }
                }
                Class::Semicolon => {
                    self.at += 1;
                    if open.is_empty() {
                        return self.finish(begin, None);
                    }
                }
                class => {
                    let next = self.text.get(self.at + 1).copied();
                    let (bracket, length) = match (class, byte, next) {
                        (Class::Digraph, b'<', Some(b'%')) => (b'{', 2),
                        (Class::Digraph, b'<', Some(b':')) => (b'[', 2),
                        (Class::Digraph, b'%', Some(b'>')) => (b'}', 2),
                        (Class::Digraph, b':', Some(b'>')) => (b']', 2),
                        (Class::Digraph, ..) => {
                            self.at += 1;
                            continue;
                        }
                        _ => (byte, 1),
                    };
                    let before = self.at;
                    self.at += length;
                    if matches!(bracket, b'(' | b'[' | b'{') {
                        if bracket == b'{' && open.is_empty() && body.is_none() {
                            self.gather(begin.at, before);
                            let head = &self.scratch;
                            if head.trim_ascii().is_empty() || opens_body(head) {
                                body = Some(before);
                            }
                        }
                        open.push(bracket);
                    } else if !close(&mut open, bracket) {
                        if bracket == b'}' {
                            // A `}` too many ends whatever it stands in.
                            self.loss(begin.line, "closing brace without an opening one");
                            return;
                        }
                    } else if open.is_empty() && bracket == b'}' && body.is_some() {
                        return self.finish(begin, body);
                    }
                }
            }
        }
        self.unfinished(begin, &open);
    }

    /// The text ended inside a piece.
    fn unfinished(&mut self, begin: Begin, open: &[u8]) {
        let resume = self.next_declaration(begin.at);
        self.file = begin.file;
        self.line = begin.line;
        self.pack = begin.pack;
        if open.is_empty() {
            self.loss(begin.line, "declaration without an end");
            self.at = self.text.len();
            return;
        }
        self.loss(begin.line, "bracket that is never closed");
        self.restarts += 1;
        if self.restarts > MAX_RESTARTS {
            self.at = self.text.len();
            return;
        }
        self.at = begin.at;
        while self.at < resume {
            match self.text[self.at] {
                b'\n' => self.newline(),
                _ => self.at += 1,
            }
        }
    }

    /// Where what looks like another declaration begins, by its layout: behind a `}` in the first column, or
    /// with a word in the first column after a line that ends a statement or a block.
    fn next_declaration(&self, from: usize) -> usize {
        let mut at = from;
        let mut ended = false;
        for line in self.text[from..].split_inclusive(|&b| b == b'\n') {
            let word = line.iter().take_while(|b| lex::is_word(**b)).count();
            let is_label = line[word..].trim_ascii_start().starts_with(b":");
            if at > from && line.starts_with(b"}") {
                return at + 1;
            }
            if at > from && ended && word > 0 && !is_label {
                return at;
            }
            let text = line.trim_ascii_end();
            if !text.is_empty() && !text.starts_with(b"#") {
                ended = text.ends_with(b";") || text.ends_with(b"}");
            }
            at += line.len();
        }
        self.text.len()
    }

    fn finish(&mut self, begin: Begin, body: Option<usize>) {
        let (mut begin, mut body) = (begin, body);
        if body == Some(begin.at) {
            // A body without a head: that of a K&R definition, whose parameter declarations were
            // taken for declarations of their own.
            let Some(first) = self.old_style_head(begin.file) else {
                return self.loss(begin.line, "block outside of any function");
            };
            let head = self.pieces.pieces[first];
            self.pieces.pieces.truncate(first);
            begin = Begin {
                at: head.start as usize,
                line: head.line,
                column: head.column,
                file: head.file,
                pack: head.pack,
            };
            body = body.map(|at| at.max(begin.at));
        }
        if let Some(body) = body {
            begin = self.past_leftovers(begin, body);
        }
        let how = self.dialect.rotate_left(8) ^ u64::from(begin.pack);
        let seed = self.pieces.files.hash(begin.file) ^ how;
        let place = (u64::from(begin.line) << 20) ^ u64::from(begin.column);
        let whole = &self.text[begin.at..self.at];
        let (raw, head) = match body {
            None => {
                let raw = self.hash_text(begin.at, self.at, seed);
                (raw, raw)
            }
            Some(body) => (
                xxh3_128_with_seed(whole, seed ^ place.wrapping_mul(0x9e37_79b9_7f4a_7c15)),
                self.hash_text(begin.at, body, !seed),
            ),
        };
        self.pieces.pieces.push(Piece {
            start: begin.at as u32,
            end: self.at as u32,
            line: begin.line,
            column: begin.column,
            file: begin.file,
            body: body.map(|at| at as u32),
            pack: begin.pack,
            raw,
            head,
        });
    }

    /// Where a function definition starts, past macro calls that a missing header leaves before it:
    /// `G_DEFINE_TYPE(A, b) static int f(void) {`. Old-style definitions look alike, but have a `;`
    /// before their body.
    fn past_leftovers(&self, begin: Begin, body: usize) -> Begin {
        let mut next = begin;
        loop {
            let head = &self.text[next.at.min(body)..body];
            let word = head.iter().take_while(|b| lex::is_word(**b)).count();
            if is_keyword(&head[..word]) {
                let old_style = memchr(b';', head).is_some();
                return if old_style { begin } else { next };
            }
            let after_word = head[word..].trim_ascii_start();
            if word == 0 || !after_word.starts_with(b"(") {
                return begin;
            }
            let open = head.len() - after_word.len();
            let Some(close) = matching_close(after_word) else {
                return begin;
            };
            next = self.past_lines(next, next.at + open + close + 1);
        }
    }

    /// The first byte at or after `to` that is no white space, and its place.
    fn past_lines(&self, begin: Begin, to: usize) -> Begin {
        let mut begin = begin;
        let mut line_start = (begin.at + 1).saturating_sub(begin.column as usize);
        while let Some(&byte) = self.text.get(begin.at) {
            if begin.at >= to && !byte.is_ascii_whitespace() {
                break;
            }
            begin.at += 1;
            if byte != b'\n' {
                continue;
            }
            begin.line = begin.line.wrapping_add(1);
            while self.text.get(begin.at) == Some(&b'#') {
                let rest = &self.text[begin.at..];
                let line = &rest[..memchr(b'\n', rest).unwrap_or(rest.len())];
                begin.line = begin.line.wrapping_add(1);
                if let Some(marker) = lex::marker(line) {
                    begin.line = marker.line;
                    let file = marker.file.and_then(|name| self.pieces.files.find(name));
                    begin.file = file.unwrap_or(begin.file);
                }
                begin.at = (begin.at + line.len() + 1).min(self.text.len());
            }
            line_start = begin.at;
        }
        begin.column = (begin.at + 1).saturating_sub(line_start) as u32;
        begin
    }

    /// Hash of a byte range without the directives in it: a header's declaration is the same
    /// whatever its line.
    fn hash_text(&mut self, from: usize, to: usize, seed: u64) -> u128 {
        if self.markers.is_empty() {
            return xxh3_128_with_seed(&self.text[from..to], seed);
        }
        self.gather(from, to);
        xxh3_128_with_seed(&self.scratch, seed)
    }

    /// Copies a byte range without the directives in it to `scratch`.
    fn gather(&mut self, from: usize, to: usize) {
        self.scratch.clear();
        let mut at = from;
        for &(start, end) in &self.markers {
            if start >= at && end <= to {
                self.scratch.extend_from_slice(&self.text[at..start]);
                at = end;
            }
        }
        self.scratch.extend_from_slice(&self.text[at..to]);
    }

    /// The piece that a K&R definition's head starts with, if the pieces before the body are one:
    /// `int f(a, b) int a;` and declarations of further parameters.
    fn old_style_head(&self, file: u32) -> Option<usize> {
        let pieces = &self.pieces.pieces;
        let oldest = pieces.len().saturating_sub(64);
        for index in (oldest..pieces.len()).rev() {
            let piece = &pieces[index];
            let text = &self.text[piece.start as usize..piece.end as usize];
            if piece.body.is_some() || piece.file != file {
                return None;
            }
            if names_parameters(text) {
                return Some(index);
            }
        }
        None
    }
}

/// Pops the bracket that `close` closes, and those inside it that were left open; false if none.
fn close(open: &mut Vec<u8>, close: u8) -> bool {
    let wanted = match close {
        b')' => b'(',
        b']' => b'[',
        _ => b'{',
    };
    if open.last() == Some(&wanted) {
        open.pop();
        return true;
    }
    // Only a brace closes over other brackets, only as far as the innermost brace.
    match open.iter().rposition(|bracket| *bracket == b'{') {
        Some(at) if wanted == b'{' => {
            open.truncate(at);
            true
        }
        _ => false,
    }
}
