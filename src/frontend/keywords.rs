//! The keywords of C and of its dialects, by what they do in a declaration.
//!
//! In: a word. Out: whether it is one of them.

/// Keywords that are or begin a type.
pub fn is_type_keyword(word: &[u8]) -> bool {
    matches!(
        word,
        b"void"
            | b"char"
            | b"short"
            | b"int"
            | b"long"
            | b"float"
            | b"double"
            | b"signed"
            | b"__signed__"
            | b"__signed"
            | b"unsigned"
            | b"_Bool"
            | b"_Complex"
            | b"__complex__"
            | b"__complex"
            | b"struct"
            | b"union"
            | b"enum"
            | b"typeof"
            | b"__typeof"
            | b"__typeof__"
            | b"typeof_unqual"
            | b"__typeof_unqual__"
            | b"__typeof_unqual"
            | b"_Atomic"
            | b"_BitInt"
            | b"__auto_type"
            | b"__int128"
            | b"__int128_t"
            | b"__uint128_t"
            | b"__builtin_va_list"
            | b"_Float16"
            | b"_Float32"
            | b"_Float64"
            | b"_Float128"
            | b"_Float32x"
            | b"_Float64x"
            | b"__float128"
            | b"__float80"
            | b"__bf16"
            | b"__fp16"
            | b"_Decimal32"
            | b"_Decimal64"
            | b"_Decimal128"
            | b"__int64"
            | b"__int32"
            | b"__int16"
            | b"__int8"
    )
}

/// Storage classes, qualifiers and function specifiers: words before a type.
pub fn is_specifier_keyword(word: &[u8]) -> bool {
    matches!(
        word,
        b"typedef"
            | b"extern"
            | b"static"
            | b"auto"
            | b"register"
            | b"_Thread_local"
            | b"__thread"
            | b"thread_local"
            | b"constexpr"
            | b"inline"
            | b"__inline"
            | b"__inline__"
            | b"__forceinline"
            | b"_Noreturn"
            | b"const"
            | b"__const"
            | b"__const__"
            | b"volatile"
            | b"__volatile"
            | b"__volatile__"
            | b"restrict"
            | b"__restrict"
            | b"__restrict__"
            | b"__extension__"
            | b"_Alignas"
            | b"alignas"
            | b"__attribute__"
            | b"__attribute"
            | b"__declspec"
    )
}

/// Whether a word can be a tag: keywords that are as young as C23 were names before.
pub fn is_tag_name(word: &[u8]) -> bool {
    !is_keyword(word)
        || matches!(
            word,
            b"thread_local" | b"constexpr" | b"alignas" | b"alignof" | b"typeof" | b"typeof_unqual"
        )
}

/// Words that are never a declared name.
pub fn is_keyword(word: &[u8]) -> bool {
    is_type_keyword(word)
        || is_specifier_keyword(word)
        || matches!(
            word,
            b"if"
                | b"else"
                | b"while"
                | b"for"
                | b"do"
                | b"switch"
                | b"case"
                | b"default"
                | b"break"
                | b"continue"
                | b"goto"
                | b"return"
                | b"sizeof"
                | b"_Alignof"
                | b"alignof"
                | b"__alignof__"
                | b"__alignof"
                | b"_Generic"
                | b"_Static_assert"
                | b"asm"
                | b"__asm__"
                | b"__asm"
                | b"__label__"
        )
}
