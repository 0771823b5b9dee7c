//! Attributes: which are kept, in which spelling, and where.
//!
//! In: `__attribute__((…))`, `[[…]]`, `__declspec(…)` in a token sequence. Out: one
//! `__attribute__((…))` with those that change layout, control flow or resource rules; the rest goes.

use super::{Context, Done, Normaliser};
use crate::frontend::LossReason;

/// Words that are followed by a bracketed list and may stand among specifiers.
pub(super) fn takes_list(word: &[u8]) -> bool {
    matches!(word, b"__attribute__" | b"__attribute" | b"__declspec")
}

/// Attributes that mean something to lowering, layout or a property.
const KEPT: &[&str] = &[
    "aligned",
    "cleanup",
    "gnu_inline",
    "malloc",
    "mode",
    "nonnull",
    "noreturn",
    "packed",
    "returns_nonnull",
    "transparent_union",
    "vector_size",
    "warn_unused_result",
];

/// The section of the flags that Linux sets when a warning is given for the first time.
const ONCE_SECTION: &[u8] = b"\".data.once\"";

impl Normaliser<'_> {
    /// Index past the attributes at `at`, nothing emitted.
    pub(super) fn past_attributes(&self, at: usize) -> usize {
        let mut at = at;
        while let Some(end) = self.attribute_end(at) {
            at = end;
        }
        at
    }

    /// Index past the one attribute specifier at `at`, `None` if there is none.
    pub(super) fn attribute_end(&self, at: usize) -> Option<usize> {
        let spelling = self.spelling(at);
        if takes_list(spelling) && self.spelling(at + 1) == b"(" {
            return Some(self.mate(at + 1) + 1);
        }
        // C23: two adjacent brackets open and close.
        let doubled = spelling == b"["
            && self.spelling(at + 1) == b"["
            && self.mate(at + 1) + 1 == self.mate(at);
        doubled.then(|| self.mate(at) + 1)
    }

    /// The kept attributes of the specifiers in `from..to`, as `(name, arguments' bracket)`.
    pub(super) fn kept(&self, from: usize, to: usize) -> Vec<(&'static str, Option<usize>)> {
        let mut kept = Vec::new();
        let mut at = from;
        while at < to {
            let Some(end) = self.attribute_end(at) else {
                break;
            };
            if self.spelling(at) != b"__declspec" {
                let inside = if self.spelling(at) == b"[" {
                    at + 2
                } else {
                    at + 3
                };
                self.kept_in_list(inside, end - 2, &mut kept);
            }
            at = end;
        }
        kept
    }

    fn kept_in_list(&self, from: usize, to: usize, kept: &mut Vec<(&'static str, Option<usize>)>) {
        let mut at = from;
        while at < to {
            // `gnu::packed`: the part after the name space counts.
            while self.spelling(at + 1) == b":" && self.spelling(at + 2) == b":" {
                at += 3;
            }
            let arguments = (self.spelling(at + 1) == b"(").then_some(at + 1);
            if let Some(name) = kept_name(self.spelling(at)) {
                kept.push((name, arguments));
            } else if arguments.is_some_and(|open| self.spelling(open + 1) == ONCE_SECTION) {
                kept.push(("__cassini_once", None));
            }
            at = arguments.map_or(at, |open| self.mate(open)) + 1;
            while at < to && self.spelling(at) != b"," {
                at += 1;
            }
            at += 1;
        }
    }

    /// Emits the kept attributes of `from..to` as one specifier.
    pub(super) fn emit_attributes(&mut self, from: usize, to: usize, packing: bool) -> Done {
        let kept = self.kept(from, to);
        self.emit_kept(from, &kept, packing)
    }

    pub(super) fn emit_kept(
        &mut self,
        at: usize,
        kept: &[(&'static str, Option<usize>)],
        packing: bool,
    ) -> Result<(), LossReason> {
        let pack = if packing { self.setting.pack } else { 0 };
        if kept.is_empty() && pack == 0 {
            return Ok(());
        }
        self.emit(at, "__attribute__((");
        for (index, (name, arguments)) in kept.iter().enumerate() {
            if index > 0 {
                self.add(",");
            }
            self.add(name);
            if let Some(open) = *arguments {
                self.add("(");
                self.sequence(open + 1, self.mate(open), Context::Inner)?;
                self.add(")");
            }
        }
        if pack > 0 {
            if !kept.is_empty() {
                self.add(",");
            }
            self.add(&format!("__cassini_pack({pack})"));
        }
        self.add("))");
        Ok(())
    }
}

/// The attribute's plain spelling if it is kept: `__packed__` is `packed`.
fn kept_name(spelling: &[u8]) -> Option<&'static str> {
    let plain = spelling
        .strip_prefix(b"__")
        .and_then(|name| name.strip_suffix(b"__"))
        .unwrap_or(spelling);
    let plain: &[u8] = if plain == b"_Noreturn" {
        b"noreturn"
    } else {
        plain
    };
    KEPT.iter().copied().find(|name| name.as_bytes() == plain)
}
