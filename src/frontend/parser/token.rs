//! Tokens of normalised text.
//!
//! In: the text, which is C11 in ASCII with no comments and no directives. Out: tokens, each with its
//! byte range; a byte that starts none is a token of its own that no rule takes.

/// What a token is. Words that the grammar does not know are identifiers.
macro_rules! tags {
    (words { $($word:ident $spelling:literal)* } marks { $($mark:ident $text:literal)* }) => {
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum Tag {
            Identifier,
            Number,
            /// String literal with its prefix.
            String,
            /// Character constant with its prefix.
            Character,
            Unknown,
            /// After the last token.
            End,
            $($word,)*
            $($mark,)*
        }

        fn word(spelling: &str) -> Tag {
            match spelling {
                $($spelling => Tag::$word,)*
                _ => Tag::Identifier,
            }
        }

        /// The longest punctuator at the front.
        fn mark(text: &[u8]) -> Option<(Tag, usize)> {
            $(if text.starts_with($text) {
                return Some((Tag::$mark, $text.len()));
            })*
            None
        }
    };
}

tags! {
    words {
        Auto "auto"
        Break "break"
        Case "case"
        Char "char"
        Const "const"
        Continue "continue"
        Default "default"
        Do "do"
        Double "double"
        Else "else"
        Enum "enum"
        Extern "extern"
        Float "float"
        For "for"
        Goto "goto"
        If "if"
        Inline "inline"
        Int "int"
        Long "long"
        Register "register"
        Restrict "restrict"
        Return "return"
        Short "short"
        Signed "signed"
        Sizeof "sizeof"
        Static "static"
        Struct "struct"
        Switch "switch"
        Typedef "typedef"
        Union "union"
        Unsigned "unsigned"
        Void "void"
        Volatile "volatile"
        While "while"
        Alignof "_Alignof"
        Atomic "_Atomic"
        Bool "_Bool"
        Complex "_Complex"
        Generic "_Generic"
        Noreturn "_Noreturn"
        ThreadLocal "_Thread_local"
        Float16 "_Float16"
        Float32 "_Float32"
        Float32x "_Float32x"
        Float64 "_Float64"
        Float64x "_Float64x"
        Float128 "_Float128"
        Float128x "_Float128x"
        Decimal32 "_Decimal32"
        Decimal64 "_Decimal64"
        Decimal128 "_Decimal128"
        Attribute "__attribute__"
        Typeof "__typeof"
        Asm "__asm__"
        Offsetof "__builtin_offsetof"
        VaArg "__builtin_va_arg"
    }
    // A longer one before its beginnings.
    marks {
        Ellipsis b"..."
        ShiftLeftAssign b"<<="
        ShiftRightAssign b">>="
        Arrow b"->"
        Increment b"++"
        Decrement b"--"
        AndAnd b"&&"
        OrOr b"||"
        ShiftLeft b"<<"
        ShiftRight b">>"
        LessEqual b"<="
        GreaterEqual b">="
        EqualEqual b"=="
        NotEqual b"!="
        StarAssign b"*="
        SlashAssign b"/="
        PercentAssign b"%="
        PlusAssign b"+="
        MinusAssign b"-="
        AndAssign b"&="
        XorAssign b"^="
        OrAssign b"|="
        RoundOpen b"("
        RoundClose b")"
        SquareOpen b"["
        SquareClose b"]"
        BraceOpen b"{"
        BraceClose b"}"
        Semicolon b";"
        Comma b","
        Colon b":"
        Assign b"="
        Star b"*"
        Dot b"."
        And b"&"
        Minus b"-"
        Plus b"+"
        Not b"!"
        Tilde b"~"
        Less b"<"
        Greater b">"
        Slash b"/"
        Percent b"%"
        Xor b"^"
        Or b"|"
        Question b"?"
    }
}

#[derive(Clone, Copy, Debug)]
pub struct Token {
    pub tag: Tag,
    pub start: u32,
    pub end: u32,
}

/// The tokens of the text, [`Tag::End`] last.
pub fn tokens(text: &str) -> Vec<Token> {
    let bytes = text.as_bytes();
    let mut tokens = Vec::with_capacity(text.len() / 4 + 1);
    let mut at = 0;
    while let Some(&byte) = bytes.get(at) {
        if byte.is_ascii_whitespace() {
            at += 1;
            continue;
        }
        let rest = &bytes[at..];
        let (tag, length) = match byte {
            b'"' | b'\'' => literal(rest, 0),
            b'0'..=b'9' => (Tag::Number, number(rest)),
            b'.' if rest.get(1).is_some_and(u8::is_ascii_digit) => (Tag::Number, number(rest)),
            _ if is_word(byte) => {
                let length = rest.iter().take_while(|b| is_word(**b)).count();
                match (&rest[..length], rest.get(length)) {
                    (b"L" | b"u" | b"U" | b"u8", Some(b'"' | b'\'')) => literal(rest, length),
                    _ => (word(text.get(at..at + length).unwrap_or("")), length),
                }
            }
            _ => mark(rest).unwrap_or((Tag::Unknown, 1)),
        };
        tokens.push(Token {
            tag,
            start: at as u32,
            end: (at + length) as u32,
        });
        at += length;
    }
    tokens.push(Token {
        tag: Tag::End,
        start: at as u32,
        end: at as u32,
    });
    tokens
}

fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_'
}

/// A literal with a prefix of this length; one that is not closed is unknown.
fn literal(text: &[u8], prefix: usize) -> (Tag, usize) {
    let quote = text[prefix];
    let mut at = prefix + 1;
    while let Some(&byte) = text.get(at) {
        at += 1;
        match byte {
            b'\\' => at += 1,
            b'\n' => break,
            _ if byte == quote => {
                let tag = match quote {
                    b'"' => Tag::String,
                    _ => Tag::Character,
                };
                return (tag, at);
            }
            _ => {}
        }
    }
    (Tag::Unknown, text.len())
}

/// Length of the number at the front, as the preprocessor has it (C11 6.4.8).
fn number(text: &[u8]) -> usize {
    let hexadecimal = matches!(text, [b'0', b'x' | b'X', ..]);
    let mut end = 1;
    while let Some(&byte) = text.get(end) {
        let exponent = match text[end - 1] {
            b'e' | b'E' => !hexadecimal,
            b'p' | b'P' => true,
            _ => false,
        };
        if !(is_word(byte) || byte == b'.' || exponent && matches!(byte, b'+' | b'-')) {
            break;
        }
        end += 1;
    }
    end
}
