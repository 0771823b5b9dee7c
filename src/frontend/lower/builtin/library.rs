//! What the C library's functions and the built-ins return where nothing declares them.

use crate::frontend::model::Model;
use crate::frontend::types::{FloatKind, IntKind, Kind, Type};

/// The C library's functions that have a built-in of the same meaning.
pub const LIBRARY: &[&str] = &[
    "abort",
    "bcmp",
    "bcopy",
    "bzero",
    "calloc",
    "exit",
    "free",
    "fprintf",
    "fputs",
    "fwrite",
    "index",
    "malloc",
    "memchr",
    "memcmp",
    "memcpy",
    "memmove",
    "mempcpy",
    "memset",
    "printf",
    "putchar",
    "puts",
    "realloc",
    "rindex",
    "snprintf",
    "sprintf",
    "stpcpy",
    "strcasecmp",
    "strcat",
    "strchr",
    "strcmp",
    "strcpy",
    "strcspn",
    "strdup",
    "strlen",
    "strncasecmp",
    "strncat",
    "strncmp",
    "strncpy",
    "strndup",
    "strnlen",
    "strpbrk",
    "strrchr",
    "strspn",
    "strstr",
    "vfprintf",
    "vprintf",
    "vsnprintf",
    "vsprintf",
];

/// The result type of a function that is not declared.
pub fn result_type(name: &str, model: &Model) -> Type {
    let Some(name) = name.strip_prefix("__builtin_") else {
        return library_type(name, model).unwrap_or_else(Type::guessed);
    };
    if let Some(ty) = library_type(name, model) {
        return ty;
    }
    let double = |kind| Type::new(Kind::Float(kind));
    match name {
        "bswap16" => Type::int(IntKind::UShort),
        "bswap32" => Type::int(IntKind::UInt),
        "bswap64" => Type::int(model.double_word().unsigned()),
        "bswap128" => Type::int(IntKind::UInt128),
        "return_address"
        | "frame_address"
        | "extract_return_addr"
        | "frob_return_addr"
        | "alloca"
        | "alloca_with_align"
        | "thread_pointer"
        | "apply"
        | "apply_args" => Type::pointer(Type::void()),
        "inf" | "huge_val" | "nan" | "nans" | "fabs" | "sqrt" | "floor" | "ceil" | "pow"
        | "copysign" | "fmin" | "fmax" | "trunc" | "round" | "rint" | "fma" => {
            double(FloatKind::Double)
        }
        "inff" | "huge_valf" | "nanf" | "fabsf" | "sqrtf" | "floorf" | "ceilf" | "powf"
        | "copysignf" | "fminf" | "fmaxf" | "truncf" | "roundf" => double(FloatKind::Float),
        "infl" | "huge_vall" | "nanl" | "fabsl" | "copysignl" => double(FloatKind::LongDouble),
        "ia32_rdtsc" | "ia32_rdpmc" | "readcyclecounter" | "ia32_readeflags_u64" => {
            Type::int(IntKind::ULongLong)
        }
        _ => Type::int(IntKind::Int),
    }
}

fn library_type(name: &str, model: &Model) -> Option<Type> {
    Some(match name {
        "strlen" | "strnlen" | "strspn" | "strcspn" | "fwrite" => Type::int(model.size),
        "malloc" | "calloc" | "realloc" | "memchr" | "memcpy" | "memmove" | "mempcpy"
        | "memset" => Type::pointer(Type::void()),
        "index" | "rindex" | "stpcpy" | "strcat" | "strchr" | "strcpy" | "strdup" | "strncat"
        | "strncpy" | "strndup" | "strpbrk" | "strrchr" | "strstr" => {
            Type::pointer(Type::int(IntKind::Char))
        }
        _ => return None,
    })
}
