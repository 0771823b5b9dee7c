//! What is rewritten inside expressions and specifiers.

use super::{Context, Kind, Normaliser, is_keyword, is_specifier_keyword, is_type_keyword};
use crate::frontend::LossReason;

impl Normaliser<'_> {
    /// Emits the token at `at` with whatever belongs to it; gives the index past that.
    pub(super) fn expression(
        &mut self,
        at: usize,
        to: usize,
        previous: Option<usize>,
    ) -> Result<usize, LossReason> {
        match self.kind(at) {
            Some(Kind::Punct) => self.punctuator(at, previous),
            Some(Kind::Ident) => self.word(at, to, previous),
            _ => {
                self.emit_token(at);
                Ok(at + 1)
            }
        }
    }

    fn punctuator(&mut self, at: usize, previous: Option<usize>) -> Result<usize, LossReason> {
        match self.spelling(at) {
            b"?" if self.spelling(at + 1) == b":" => {
                self.emit_token(at);
                self.add("__cassini_elvis");
            }
            b"&&" if self.is_name(at + 1) && !self.ends_operand(previous) => {
                let label = self.label(at + 1);
                self.emit(at, &format!("__cassini_label ( \"{label}\" )"));
                return Ok(at + 2);
            }
            _ => self.emit_token(at),
        }
        Ok(at + 1)
    }

    /// Whether a binary operator can follow the token.
    fn ends_operand(&self, at: Option<usize>) -> bool {
        let Some(at) = at else {
            return false;
        };
        match (self.kind(at), self.spelling(at)) {
            // A cast `(void *)` is no operand; a call and `sizeof (int)` are.
            (_, b")") => {
                let open = self.mate(at);
                let before = open.saturating_sub(1);
                let applied = open > 0
                    && (self.ends_operand(Some(before)) || is_measure(self.spelling(before)));
                applied || !self.starts_type(open + 1)
            }
            (_, b"]" | b"}" | b"++" | b"--") => true,
            (Some(Kind::Punct), _) => false,
            (Some(Kind::Ident), spelling) => !is_keyword(spelling),
            _ => true,
        }
    }

    fn word(&mut self, at: usize, to: usize, previous: Option<usize>) -> Result<usize, LossReason> {
        let spelling = self.spelling(at);
        let member =
            previous.is_some_and(|previous| matches!(self.spelling(previous), b"." | b"->"));
        if member {
            self.emit_token(at);
            return Ok(at + 1);
        }
        let plain = match spelling {
            b"struct" | b"union" | b"enum" => return self.tag(at),
            // Not at a statement's start: the symbol or register of a declarator.
            b"asm" | b"__asm__" | b"__asm" | b"_Pragma" | b"__pragma" => {
                return Ok(self.past_call(at));
            }
            b"__extension__" | b"__seg_gs" | b"__seg_fs" | b"_Nonnull" | b"_Nullable"
            | b"_Null_unspecified" | b"__cdecl" | b"__stdcall" | b"__fastcall" | b"__thiscall"
            | b"__vectorcall" | b"__unaligned" | b"__ptr32" | b"__ptr64" | b"__w64" => {
                return Ok(at + 1);
            }
            b"typeof" | b"__typeof__" | b"__typeof" | b"typeof_unqual" | b"__typeof_unqual__"
            | b"__typeof_unqual"
                if self.spelling(at + 1) == b"(" =>
            {
                return self.typeof_type(at);
            }
            b"_Alignof" | b"alignof" | b"__alignof__" | b"__alignof" => {
                return self.alignof(at, to);
            }
            b"sizeof" if self.spelling(at + 1) == b"(" => return self.sizeof(at, to),
            b"__builtin_types_compatible_p" if self.spelling(at + 1) == b"(" => {
                return self.call_on_types(at, "__cassini_types_compatible", true);
            }
            b"__builtin_convertvector" if self.spelling(at + 1) == b"(" => {
                return self.call_on_types(at, "__cassini_convertvector", false);
            }
            b"__real__" | b"__real" => return self.unary(at, to, "__cassini_real"),
            b"__imag__" | b"__imag" => return self.unary(at, to, "__cassini_imag"),
            b"inline" | b"__inline" | b"__inline__" | b"__forceinline" => "inline",
            b"__const" | b"__const__" => "const",
            b"__volatile" | b"__volatile__" => "volatile",
            b"restrict" | b"__restrict" | b"__restrict__" => "restrict",
            b"__signed" | b"__signed__" => "signed",
            b"__complex" | b"__complex__" => "_Complex",
            b"__thread" | b"thread_local" => "_Thread_local",
            b"_Alignas" | b"alignas" if self.spelling(at + 1) == b"(" => {
                return self.alignas(at);
            }
            b"static_assert" => "_Static_assert",
            b"nullptr" if !self.names_nullptr() => "( ( void * ) 0 )",
            b"__null" => "( ( void * ) 0 )",
            b"constexpr" => "const __attribute__((__cassini_constexpr))",
            b"bool" if !self.is_typedef(at) && self.is_type_position(at, previous) => "_Bool",
            b"char" if self.setting.dialect.model.unsigned_char && !self.has_sign(at) => {
                "unsigned char"
            }
            b"__auto_type" => self.encode("__cassini_auto"),
            b"auto" if self.infers(at) => self.encode("__cassini_auto"),
            b"__float128" => self.encode("__cassini_float128"),
            b"__bf16" | b"__fp16" => self.encode("__cassini_float16"),
            b"__float80" => "long double",
            b"__int64" => "long long",
            b"__int32" => "int",
            b"__int16" => "short",
            b"__int8" => "char",
            b"__int128" | b"__int128_t" | b"__uint128_t" | b"_BitInt" => match self.wide_type(at) {
                "" => return self.words(at),
                name => name,
            },
            _ => {
                self.emit_token(at);
                return Ok(at + 1);
            }
        };
        self.emit(at, plain);
        Ok(at + 1)
    }

    /// Whether the declaration gives something else the name `nullptr`, as it may before C23.
    fn names_nullptr(&self) -> bool {
        (1..self.tokens.len()).any(|at| {
            let before = self.spelling(at - 1);
            self.spelling(at) == b"nullptr"
                && (matches!(before, b"*" | b"const" | b"volatile")
                    || is_type_keyword(before)
                    || self.is_typedef(at - 1))
        })
    }

    /// Whether `auto` stands for a type: none is given before the name that is initialised.
    fn infers(&self, at: usize) -> bool {
        let word = |at: usize| {
            let spelling = self.spelling(at);
            is_specifier_keyword(spelling) || spelling == b"constexpr"
        };
        let before = (0..at).rev().find(|at| !word(*at));
        let typed =
            before.is_some_and(|at| self.is_typedef(at) || is_type_keyword(self.spelling(at)));
        let name = (at + 1..).find(|at| !word(*at)).unwrap_or(at);
        let name = self.past_attributes(name);
        let next = self.past_attributes(name + 1);
        !typed && self.is_name(name) && self.spelling(next) == b"="
    }

    fn wide_type(&self, at: usize) -> &'static str {
        match self
            .extended
            .binary_search_by_key(&at, |extended| extended.0)
        {
            Ok(index) => self.extended[index].1,
            Err(_) => "__cassini_int128",
        }
    }

    /// A `_BitInt` of which only size and alignment are kept, as gcc has them for x86.
    fn words(&mut self, at: usize) -> Result<usize, LossReason> {
        // The words that more than 64 bits are kept in have 64 themselves, or 32.
        let (words, align) = match self.setting.dialect.model.wide_words {
            true => ("+ 63 ) / 64 * 8 ,", "<= 32 ? 4 : 8"),
            false => ("+ 31 ) / 32 * 4 ,", "<= 16 ? 2 : 4"),
        };
        let size =
            ["<= 8 ? 1 :", "<= 16 ? 2 :", "<= 32 ? 4 :", "<= 64 ? 8 :"].map(|rest| ("(", rest));
        let align = ["<= 8 ? 1 :", "<= 16 ? 2 :", align].map(|rest| ("(", rest));
        let close = self.mate(at + 1);
        self.emit(at, "unsigned long long __attribute__((__cassini_words(");
        for (before, rest) in size.into_iter().chain([("( (", words)]).chain(align) {
            self.add(before);
            self.sequence(at + 2, close, Context::Inner)?;
            self.add(")");
            self.add(rest);
        }
        self.add(")))");
        Ok(close + 1)
    }

    /// Whether `bool` here is C23's type, not a name that a program gives.
    fn is_type_position(&self, at: usize, previous: Option<usize>) -> bool {
        let after = matches!(
            self.spelling(at + 1),
            b"*" | b")" | b"(" | b"," | b"[" | b"const"
        ) || self.kind(at + 1) == Some(Kind::Ident);
        let named = previous.is_some_and(|previous| {
            let before = self.spelling(previous);
            is_type_keyword(before) || before == b"*"
        });
        after && !named
    }

    fn past_call(&self, at: usize) -> usize {
        let mut open = at + 1;
        while self.kind(open) == Some(Kind::Ident) && is_keyword(self.spelling(open)) {
            open += 1;
        }
        if self.spelling(open) == b"(" {
            self.mate(open) + 1
        } else {
            at + 1
        }
    }

    /// `typeof` in the one spelling that the parser knows.
    fn typeof_type(&mut self, at: usize) -> Result<usize, LossReason> {
        let open = at + 1;
        let close = self.mate(open);
        self.emit(at, "__typeof (");
        self.sequence(open + 1, close, Context::Inner)?;
        self.emit_token(close);
        if self.spelling(at).ends_with(b"unqual") || self.spelling(at).ends_with(b"unqual__") {
            self.add("__attribute__((__cassini_unqualified))");
        }
        Ok(close + 1)
    }

    fn alignof(&mut self, at: usize, to: usize) -> Result<usize, LossReason> {
        if self.spelling(at + 1) != b"(" || !self.starts_type(at + 2) {
            return self.unary(at, to, "__cassini_alignof");
        }
        let close = self.mate(at + 1);
        let least = self.spelling(at).ends_with(b"lignof");
        let (before, after) = self.alignment(least && self.spelling(at) != b"__alignof");
        self.emit(at, before);
        self.sequence(at + 2, close, Context::Inner)?;
        self.add(after);
        Ok(close + 1)
    }

    /// What is written around a type for its alignment, or for the `least` one that it has anywhere: for some targets
    /// members of records are aligned less than other objects, and C's own `_Alignof` tells that.
    fn alignment(&self, least: bool) -> (&'static str, &'static str) {
        let model = &self.setting.dialect.model;
        match least && model.member_align < model.scalar_align {
            true => ("__cassini_least_alignof ( sizeof (", ") )"),
            false => ("_Alignof (", ")"),
        }
    }

    /// As an attribute, which the tree has among a member's specifiers too.
    fn alignas(&mut self, at: usize) -> Result<usize, LossReason> {
        let close = self.mate(at + 1);
        let is_type = self.starts_type(at + 2);
        self.emit(at, "__attribute__((aligned(");
        let (before, after) = if is_type {
            self.alignment(true)
        } else {
            ("(", ")")
        };
        self.add(before);
        self.sequence(at + 2, close, Context::Inner)?;
        self.add(after);
        self.add(")))");
        Ok(close + 1)
    }

    fn starts_type(&self, at: usize) -> bool {
        is_type_keyword(self.spelling(at))
            || matches!(self.spelling(at), b"const" | b"volatile")
            || self.is_typedef(at)
    }

    /// `sizeof (T) { … }` is the size of a compound literal.
    fn sizeof(&mut self, at: usize, to: usize) -> Result<usize, LossReason> {
        let close = self.mate(at + 1);
        if self.is_build_assertion(at + 2, close) {
            self.emit(at, "0UL");
            return Ok(close + 1);
        }
        if close + 1 < to && self.spelling(close + 1) == b"{" {
            self.emit(at, "sizeof ( (");
            self.sequence(at + 2, close, Context::Inner)?;
            self.add(")");
            self.braces(close + 1, Context::Initialiser)?;
            self.add(")");
            return Ok(self.mate(close + 1) + 1);
        }
        self.emit_token(at);
        Ok(at + 1)
    }

    /// `struct { int : (-!!(e)); }`: of no size, or the unit would not compile. Linux has
    /// hundreds of them in an expression, each a record type of its own.
    fn is_build_assertion(&self, from: usize, to: usize) -> bool {
        let open = [
            b"struct".as_slice(),
            b"{",
            b"int",
            b":",
            b"(",
            b"-",
            b"!",
            b"!",
            b"(",
        ];
        let spelled = open
            .iter()
            .zip(from..)
            .all(|(&word, at)| self.spelling(at) == word);
        if !spelled || from + open.len() >= to {
            return false;
        }
        let width = self.mate(from + 4);
        self.mate(from + 8) + 1 == width
            && self.spelling(width + 1) == b";"
            && self.mate(from + 1) == width + 2
            && width + 3 == to
    }

    /// A builtin over types: they become `sizeof(type)`. The first argument is one if `first`.
    fn call_on_types(&mut self, at: usize, name: &str, first: bool) -> Result<usize, LossReason> {
        let open = at + 1;
        let close = self.mate(open);
        let mut comma = open + 1;
        while comma < close && self.spelling(comma) != b"," {
            comma = self.mate(comma).max(comma) + 1;
        }
        self.emit(at, name);
        self.add(if first { "( sizeof (" } else { "(" });
        self.sequence(open + 1, comma, Context::Inner)?;
        self.add(if first { ") , sizeof (" } else { ", sizeof (" });
        self.sequence((comma + 1).min(close), close, Context::Inner)?;
        self.add(") )");
        Ok(close + 1)
    }

    fn unary(&mut self, at: usize, to: usize, name: &str) -> Result<usize, LossReason> {
        let end = self.operand_end(at + 1, to);
        self.emit(at, name);
        self.add("(");
        self.sequence(at + 1, end, Context::Inner)?;
        self.add(")");
        Ok(end)
    }

    /// Index past the unary expression at `at`.
    fn operand_end(&self, at: usize, to: usize) -> usize {
        let mut end = at;
        while end < to
            && matches!(
                self.spelling(end),
                b"*" | b"&" | b"-" | b"+" | b"~" | b"!" | b"++" | b"--" | b"sizeof"
            )
        {
            end += 1;
        }
        if end < to {
            end = self.mate(end).max(end) + 1;
        }
        while end < to {
            end = match self.spelling(end) {
                b"(" | b"[" => self.mate(end) + 1,
                b"." | b"->" => end + 2,
                b"++" | b"--" => end + 1,
                _ => break,
            };
        }
        end.min(to)
    }
}

/// Words that make an operand of a type in brackets.
fn is_measure(word: &[u8]) -> bool {
    matches!(
        word,
        b"sizeof" | b"_Alignof" | b"alignof" | b"__alignof__" | b"__alignof"
    )
}
