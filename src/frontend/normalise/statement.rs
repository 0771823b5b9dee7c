//! The walk over a declaration's tokens: brackets, statements, and what is rewritten at their start.

use super::{Context, Done, Kind, Normaliser, identifier, lost};
use crate::frontend::LossReason;
use crate::frontend::keywords::is_tag_name;

impl Normaliser<'_> {
    /// Emits `from..to`, which stands in `context`. Brackets are entered recursively; their nesting
    /// is bounded.
    pub(super) fn sequence(&mut self, from: usize, to: usize, context: Context) -> Done {
        let (labels, nested) = (self.local_labels.len(), self.nested.len());
        let done = self.tokens_of(from, to, context);
        self.local_labels.truncate(labels);
        self.nested.truncate(nested);
        done
    }

    fn tokens_of(&mut self, from: usize, to: usize, context: Context) -> Done {
        let mut at = from;
        // The last token that was not left out.
        let mut previous: Option<usize> = None;
        // A statement or external declaration starts here.
        let mut start = true;
        while at < to {
            if start {
                if let Some(next) = self.statement(at, to, context)? {
                    // Labels, too, are followed by a statement.
                    previous = Some(next - 1);
                    at = next;
                    continue;
                }
                if matches!(context, Context::File | Context::Block) {
                    self.insert_int = self.implicit_int(at, to, context == Context::File);
                }
            }
            let starts = std::mem::take(&mut start);
            if self.dropped.binary_search(&at).is_ok() {
                start = starts;
                at += 1;
                continue;
            }
            if let Some(end) = self.attribute_end(at) {
                let end = self.past_attributes(end);
                // Attributes between a function's parameters and its body have no place in the tree.
                if self.body != Some(end) || context != Context::File {
                    self.emit_attributes(at, end, false)?;
                }
                at = end;
                continue;
            }
            let spelling = self.spelling(at);
            match (self.kind(at), spelling) {
                (Some(Kind::Punct), b"(" | b"[") => {
                    let close = self.mate(at);
                    self.emit_token(at);
                    let first = self.past_forward_parameters(at, close);
                    // C23's `f(...)` is `f()` in the tree.
                    let only_dots = close == at + 2 && self.spelling(at + 1) == b"...";
                    if !only_dots {
                        self.sequence(first, close, Context::Inner)?;
                    }
                    self.emit_token(close);
                    start = match context {
                        Context::Block => self.is_control(at),
                        // An old-style definition's declarations of parameters.
                        Context::File => self.body.is_some(),
                        _ => false,
                    };
                    previous = Some(close);
                    at = close + 1;
                }
                (Some(Kind::Punct), b"{") => {
                    let inner = if starts && context == Context::Block {
                        Context::Block
                    } else {
                        self.brace_context(at, previous, context)?
                    };
                    self.braces(at, inner)?;
                    previous = Some(self.mate(at));
                    at = self.mate(at) + 1;
                    start = inner == Context::Block && context != Context::Inner;
                }
                (Some(Kind::Punct), b";") => {
                    if !(context == Context::Record && self.is_stray(previous)) {
                        self.emit_token(at);
                    }
                    previous = Some(at);
                    at += 1;
                    start = true;
                }
                (Some(Kind::Ident), b"else" | b"do") => {
                    self.emit_token(at);
                    previous = Some(at);
                    at += 1;
                    start = true;
                }
                _ => {
                    let next = self.expression(at, to, previous)?;
                    previous = Some(next.max(at + 1) - 1);
                    at = next.max(at + 1);
                }
            }
        }
        Ok(())
    }

    /// Emits the braces at `open` and what they hold.
    pub(super) fn braces(&mut self, open: usize, inner: Context) -> Done {
        let close = self.mate(open);
        self.emit_token(open);
        if inner == Context::Initialiser && close == open + 1 {
            self.add("__cassini_empty");
        }
        self.sequence(open + 1, close, inner)?;
        self.emit_token(close);
        Ok(())
    }

    /// Where the parameters in the brackets at `open` begin: past GNU C's forward declarations of them,
    /// which end in `;`.
    fn past_forward_parameters(&self, open: usize, close: usize) -> usize {
        let mut first = open + 1;
        if self.spelling(open) != b"(" || self.is_control(open) {
            return first;
        }
        let mut at = first;
        while at < close {
            if self.spelling(at) == b";" {
                first = at + 1;
            }
            at = self.mate(at).max(at) + 1;
        }
        first
    }

    /// A `;` that ends nothing.
    fn is_stray(&self, previous: Option<usize>) -> bool {
        previous.is_none_or(|previous| self.spelling(previous) == b";")
    }

    /// Whether the bracket at `open` belongs to `if`, `while`, `for` or `switch`.
    fn is_control(&self, open: usize) -> bool {
        open > 0
            && matches!(
                self.spelling(open - 1),
                b"if" | b"while" | b"for" | b"switch"
            )
    }

    /// What the brace at `at` opens.
    fn brace_context(
        &self,
        at: usize,
        previous: Option<usize>,
        context: Context,
    ) -> Result<Context, LossReason> {
        if context == Context::File && self.body == Some(at) {
            return Ok(Context::Block);
        }
        let Some(previous) = previous else {
            return Ok(match context {
                Context::Initialiser => Context::Initialiser,
                _ => Context::Block,
            });
        };
        Ok(match (self.spelling(previous), context) {
            (_, Context::Initialiser | Context::Record | Context::Enum) => Context::Initialiser,
            (b"=" | b",", _) => Context::Initialiser,
            (b")", _) => {
                let open = self.mate(previous);
                if context == Context::Block && self.is_control(open) {
                    return Ok(Context::Block);
                }
                Context::Initialiser
            }
            (_, Context::File) => Context::Initialiser,
            _ => Context::Block,
        })
    }

    /// What is special at the start of a statement, member or external declaration: emits it and
    /// gives the index past it, where another statement starts.
    fn statement(
        &mut self,
        at: usize,
        to: usize,
        context: Context,
    ) -> Result<Option<usize>, LossReason> {
        if !matches!(context, Context::Block | Context::Record) {
            return Ok(None);
        }
        let spelling = self.spelling(at);
        if matches!(spelling, b"_Static_assert" | b"static_assert") && self.spelling(at + 1) == b"("
        {
            let close = self.mate(at + 1);
            if context == Context::Block {
                self.emit(at, ";");
            }
            let ends = self.spelling(close + 1) == b";";
            return Ok(Some(close + 1 + usize::from(ends)));
        }
        if context == Context::Record {
            return Ok(None);
        }
        let past = self.past_attributes(at);
        if past != at && self.spelling(past) == b";" {
            // `__attribute__((fallthrough));`
            self.emit(past, ";");
            return Ok(Some(past + 1));
        }
        Ok(match spelling {
            b"__extension__" => Some(at + 1),
            b"__label__" => {
                let mut end = at + 1;
                while end < to && self.spelling(end) != b";" {
                    if self.is_name(end) {
                        let name = self.spelling(end);
                        let text = format!("{}__{}", identifier(name), self.renamed);
                        self.renamed += 1;
                        self.local_labels.push((name, text));
                    }
                    end += 1;
                }
                Some(end + 1)
            }
            b"goto" if self.is_name(at + 1) => {
                let label = self.label(at + 1);
                self.emit_token(at);
                self.emit(at + 1, &label);
                self.add(";");
                Some(at + 2 + usize::from(self.spelling(at + 2) == b";"))
            }
            b"goto" if self.spelling(at + 1) == b"*" => {
                let mut end = at + 2;
                while end < to && self.spelling(end) != b";" {
                    end = self.mate(end) + 1;
                }
                self.emit(at, "__cassini_goto (");
                self.sequence(at + 2, end, Context::Inner)?;
                self.add(") ;");
                Some(end + 1)
            }
            b"asm" | b"__asm__" | b"__asm" => Some(self.asm(at)?),
            b"case" => {
                let colon = self.case_colon(at + 1, to);
                self.emit_token(at);
                self.sequence(at + 1, colon, Context::Inner)?;
                Some(self.label_end(colon, to))
            }
            b"default" if self.spelling(at + 1) == b":" => {
                self.emit_token(at);
                Some(self.label_end(at + 1, to))
            }
            _ if self.is_name(at) && self.spelling(at + 1) == b":" => {
                let label = self.label(at);
                self.emit(at, &label);
                Some(self.label_end(at + 1, to))
            }
            _ if let Some(function) = self.nested_function(at, to) => {
                Some(self.nested_declaration(at, function)?)
            }
            // What is left of a macro that a missing header defines: `for_each (x) { … }`.
            _ if self.is_unknown_loop(at) => {
                let close = self.mate(at + 1);
                self.emit(at, "while (");
                self.emit_token(at);
                self.emit_token(at + 1);
                self.sequence(at + 2, close, Context::Inner)?;
                self.emit_token(close);
                self.add(")");
                Some(close + 1)
            }
            _ => None,
        })
    }

    /// GNU C's function inside a function, which starts at `at`: its name, and its body's brace.
    fn nested_function(&self, at: usize, to: usize) -> Option<(usize, usize)> {
        let mut end = at;
        let mut name = None;
        while end < to && !matches!(self.spelling(end), b";" | b"=" | b"{" | b"}") {
            let open = self.spelling(end) == b"(";
            if let Some(past) = self.attribute_end(end) {
                end = past;
                continue;
            }
            if open && end > at + 1 && self.is_name(end - 1) && name.is_none() {
                name = Some(end - 1);
            } else if name.is_some() {
                return None;
            }
            end = self.mate(end).max(end) + 1;
        }
        let name = name.filter(|_| self.starts_declaration(at))?;
        (self.spelling(end) == b"{").then_some((name, end))
    }

    /// Emits a nested function as a declaration under a name that no other function has; its body is
    /// left out.
    fn nested_declaration(
        &mut self,
        at: usize,
        (name, body): (usize, usize),
    ) -> Result<usize, LossReason> {
        let spelling = self.spelling(name);
        let text = format!("{}__nested_{}", identifier(spelling), self.renamed);
        self.renamed += 1;
        self.skipped.push(name);
        self.nested.push((spelling, text));
        self.sequence(at, self.mate(name + 1) + 1, Context::Inner)?;
        self.add(";");
        Ok(self.mate(body) + 1)
    }

    /// A call that a block or another statement follows without `;`.
    fn is_unknown_loop(&self, at: usize) -> bool {
        if !self.is_name(at) || self.is_typedef(at) || self.spelling(at + 1) != b"(" {
            return false;
        }
        let next = self.mate(at + 1) + 1;
        self.spelling(next) == b"{"
            || self.is_name(next)
            || matches!(
                self.spelling(next),
                b"if" | b"for" | b"while" | b"do" | b"switch" | b"return" | b"break" | b"goto"
            )
    }

    /// The colon that ends `case`.
    fn case_colon(&self, from: usize, to: usize) -> usize {
        let mut conditionals = 0usize;
        let mut at = from;
        while at < to {
            match self.spelling(at) {
                b"?" => conditionals += 1,
                b":" if conditionals == 0 => return at,
                b":" => conditionals -= 1,
                _ => {}
            }
            at = self.mate(at).max(at) + 1;
        }
        to
    }

    /// Emits the colon of a label; and, where C23 allows a declaration or nothing after it, an
    /// empty statement. Gives the index past it.
    fn label_end(&mut self, colon: usize, to: usize) -> usize {
        if colon >= to {
            return to;
        }
        self.emit_token(colon);
        let mut next = self.past_attributes(colon + 1);
        if self.spelling(next) == b"__extension__" {
            next += 1;
        }
        if next >= to || (self.spelling(next) != b";" && self.starts_declaration(next)) {
            self.add(";");
            return colon + 1;
        }
        // Attributes of the label.
        if self.spelling(next) == b";" {
            next
        } else {
            self.past_attributes(colon + 1)
        }
    }

    /// An `asm` statement: its operands are kept, clobbers dropped, labels become jumps.
    fn asm(&mut self, at: usize) -> Result<usize, LossReason> {
        let mut open = at + 1;
        let (mut jumps, mut volatile) = (false, false);
        while self.kind(open) == Some(Kind::Ident) {
            let word = self.spelling(open);
            jumps |= word == b"goto";
            volatile |= matches!(word, b"volatile" | b"__volatile" | b"__volatile__");
            open += 1;
        }
        if self.spelling(open) != b"(" {
            return Err(lost("asm without operands"));
        }
        let close = self.mate(open);
        let sections = self.sections(open + 1, close);
        let end = close + 1 + usize::from(self.spelling(close + 1) == b";");
        let labels: &[(usize, usize)] = if jumps { &sections[4..] } else { &[] };
        if jumps {
            self.emit(at, "{");
        }
        // One without outputs is there for what it does, and so is one that says that it writes memory.
        let (outputs, clobbers) = (sections[1], sections[3]);
        volatile |= jumps || outputs.0 == outputs.1;
        volatile |= (clobbers.0..clobbers.1).any(|at| self.spelling(at) == b"\"memory\"");
        self.emit(at, "__asm__");
        if volatile {
            self.add("volatile");
        }
        self.add("(");
        if sections[0].0 == sections[0].1 {
            self.add("\"\"");
        }
        self.sequence(sections[0].0, sections[0].1, Context::Inner)?;
        if sections[1].0 > 0 {
            for section in &sections[1..3] {
                self.add(":");
                self.sequence(section.0, section.1, Context::Inner)?;
            }
        }
        self.add(") ;");
        for &(from, to) in labels {
            for label in from..to {
                if self.is_name(label) {
                    let name = self.label(label);
                    self.emit(label, "if ( __cassini_nondet ) goto");
                    self.emit(label, &name);
                    self.add(";");
                }
            }
        }
        if jumps {
            self.add("}");
        }
        Ok(end)
    }

    /// The five parts of an asm's operands between colons; `(0, 0)` for one that is missing.
    fn sections(&self, from: usize, to: usize) -> [(usize, usize); 5] {
        let mut sections = [(0, 0); 5];
        let mut index = 0;
        let mut begin = from;
        let mut at = from;
        while at < to {
            if self.spelling(at) == b":" && index < 4 {
                sections[index] = (begin, at);
                index += 1;
                begin = at + 1;
            }
            at = self.mate(at).max(at) + 1;
        }
        sections[index] = (begin, to);
        sections
    }

    /// A record or enumeration specifier: attributes before the body move behind it, where the
    /// tree has them. Gives the index past it.
    pub(super) fn tag(&mut self, at: usize) -> Result<usize, LossReason> {
        let enumeration = self.spelling(at) == b"enum";
        self.emit_token(at);
        let mut next = self.past_attributes(at + 1);
        let mut kept = self.kept(at + 1, next);
        if self.kind(next) == Some(Kind::Ident) && is_tag_name(self.spelling(next)) {
            self.emit_token(next);
            let past = self.past_attributes(next + 1);
            if self.spelling(past) == b"{" {
                kept.extend(self.kept(next + 1, past));
                next = past;
            } else {
                next += 1;
            }
        }
        let dialect = &self.setting.dialect;
        if dialect.packed && !enumeration || dialect.model.short_enums && enumeration {
            kept.push(("packed", None));
        }
        let mut underlying = None;
        if enumeration && self.spelling(next) == b":" {
            // C23: the underlying type, unless this is the width of a bit-field.
            let from = next + 1;
            let mut end = from;
            while self.is_type_word(end) || self.is_typedef(end) && end == from {
                end += 1;
            }
            if end > from {
                underlying = (self.spelling(end) == b"{").then_some((from, end));
                next = end;
            }
        }
        if self.spelling(next) != b"{" {
            return Ok(next);
        }
        let close = self.mate(next);
        let inner = if enumeration {
            Context::Enum
        } else {
            Context::Record
        };
        self.braces(next, inner)?;
        if let Some((from, end)) = underlying {
            self.add("__attribute__((__cassini_underlying(sizeof(");
            self.sequence(from, end, Context::Inner)?;
            self.add("))))");
        }
        self.emit_kept(close, &kept, !enumeration)?;
        Ok(close + 1)
    }
}
