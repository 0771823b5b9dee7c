//! The data model: what the target of a compilation makes of C's types.
//!
//! In: a compiler's answer to [`QUESTIONS`], or the name of a target. Out: [`Model`]. The compiler knows best: what it
//! says holds for cross compilers and for every option that changes a type.

use super::types::IntKind;

/// A unit whose assembly has the answers: for each `cassini:NAME=VALUE;`. Nothing in it needs a header, and nothing but
/// the options of the target changes an answer.
pub const QUESTIONS: &str = r#"
struct cassini_integer { char c; long long m; };
struct cassini_real { char c; double m; };
struct cassini_long_real { char c; long double m; };
struct cassini_unnamed { char c; int : 4; };
enum cassini_enum { CASSINI_ENUMERATOR };
typedef int cassini_word __attribute__((mode(word)));
static char cassini_strict __attribute__((aligned));
#define ASK(name, value) __asm__ volatile(".ascii \"cassini:" name "=%c0;\"" : : "i"((int)(value)))
#define IS(type, other) __builtin_types_compatible_p(type, other)
#define KIND(type) (IS(type, short) ? 1 : IS(type, unsigned short) ? 2 : IS(type, int) ? 3 : IS(type, unsigned) ? 4 \
    : IS(type, long) ? 5 : IS(type, unsigned long) ? 6 : IS(type, long long) ? 7 : IS(type, unsigned long long) ? 8 : 0)
void cassini_questions(__builtin_va_list list)
{
	ASK("pointer", sizeof(void *));
	ASK("int", sizeof(int));
	ASK("long", sizeof(long));
	ASK("word", sizeof(cassini_word));
	ASK("size", KIND(__SIZE_TYPE__));
	ASK("difference", KIND(__PTRDIFF_TYPE__));
	ASK("wide", KIND(__WCHAR_TYPE__));
	ASK("char", (char)-1 > 0);
	ASK("enum", sizeof(enum cassini_enum));
	ASK("integer", __alignof__(long long));
	ASK("member", __builtin_offsetof(struct cassini_integer, m));
	ASK("real", __alignof__(double));
	ASK("real_member", __builtin_offsetof(struct cassini_real, m));
	ASK("long_real", sizeof(long double));
	ASK("long_real_align", __alignof__(long double));
	ASK("long_real_member", __builtin_offsetof(struct cassini_long_real, m));
	ASK("unnamed", __alignof__(struct cassini_unnamed));
	ASK("strictest", __alignof__(cassini_strict));
	ASK("list", sizeof(__builtin_va_list));
	ASK("list_argument", sizeof(list));
	ASK("list_pointer", IS(__builtin_va_list, char *) || IS(__builtin_va_list, void *));
}
"#;

/// How arguments that a function has no names for are gone through.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum VaList {
    Pointer,
    /// A record of so many bytes.
    Record(u8),
    /// An array of one such record.
    Array(u8),
}

/// The function that is called where an atomic section begins ([`Model::atomic_sections`]).
pub const ATOMIC_BEGIN: &str = "__cassini_atomic_begin";

/// Sizes and alignments in bytes. `int` has four, `long long` and `double` have eight.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Model {
    pub pointer: u8,
    /// `long` is as wide as `int`.
    pub narrow_long: bool,
    /// The mode `word` has 64 bits.
    pub wide_words: bool,
    /// `size_t`, `ptrdiff_t` and `wchar_t`.
    pub size: IntKind,
    pub difference: IntKind,
    pub wide: IntKind,
    pub unsigned_char: bool,
    /// An enumeration is as small as its values allow.
    pub short_enums: bool,
    /// The strictest alignment of an integer or `double`, by itself and as a member of a record.
    pub scalar_align: u8,
    pub member_align: u8,
    pub long_double: u8,
    pub long_double_align: u8,
    /// `__attribute__((aligned))`
    pub strictest: u8,
    /// Unnamed bit-fields align their record like named ones.
    pub unnamed_fields_align: bool,
    pub va_list: VaList,
    /// What `#pragma pack` sets at the beginning, 0 for nothing: no question, but an option.
    pub pack: u8,
    /// Atomic operations stand between calls of `__cassini_atomic_begin` and `__cassini_atomic_end`, for
    /// an execution of several threads: no question, but an option.
    pub atomic_sections: bool,
}

impl Model {
    /// x86-64 under System V.
    pub const LP64: Model = Model {
        pointer: 8,
        narrow_long: false,
        wide_words: true,
        size: IntKind::ULong,
        difference: IntKind::Long,
        wide: IntKind::Int,
        unsigned_char: false,
        short_enums: false,
        scalar_align: 16,
        member_align: 16,
        long_double: 16,
        long_double_align: 16,
        strictest: 16,
        unnamed_fields_align: false,
        va_list: VaList::Array(24),
        pack: 0,
        atomic_sections: false,
    };

    /// i386 under System V.
    pub const I386: Model = Model {
        pointer: 4,
        narrow_long: true,
        wide_words: false,
        size: IntKind::UInt,
        difference: IntKind::Int,
        wide: IntKind::NarrowLong,
        member_align: 4,
        long_double: 12,
        long_double_align: 4,
        va_list: VaList::Pointer,
        ..Model::LP64
    };

    /// x86-64 with pointers of 32 bits.
    pub const X32: Model = Model {
        pointer: 4,
        narrow_long: true,
        size: IntKind::UInt,
        difference: IntKind::Int,
        wide: IntKind::NarrowLong,
        va_list: VaList::Array(16),
        ..Model::LP64
    };

    /// Other machines with pointers of 32 bits, most of them.
    pub const ILP32: Model = Model {
        wide: IntKind::UInt,
        member_align: 16,
        long_double: 8,
        long_double_align: 8,
        strictest: 8,
        va_list: VaList::Pointer,
        ..Model::I386
    };

    /// Reads a compiler's answer. `None` if there is none, or it is of a machine that is not modelled.
    pub fn of_answer(assembly: &str) -> Option<Model> {
        let number = |name: &str| -> Option<u8> {
            let (_, rest) = assembly.split_once(&format!("cassini:{name}="))?;
            let (digits, _) = rest.split_once(';')?;
            digits.trim_start_matches(['$', '#']).parse().ok()
        };
        let truth = |name: &str| number(name).map(|value| value != 0);
        let (pointer, long) = (number("pointer")?, number("long")?);
        if number("int")? != 4 || !matches!(pointer, 4 | 8) || !matches!(long, 4 | 8) {
            return None;
        }
        let narrow_long = long == 4;
        let kind = |name: &str| {
            Some(match number(name)? {
                1 => IntKind::Short,
                2 => IntKind::UShort,
                3 => IntKind::Int,
                4 => IntKind::UInt,
                5 if narrow_long => IntKind::NarrowLong,
                5 => IntKind::Long,
                6 if narrow_long => IntKind::NarrowULong,
                6 => IntKind::ULong,
                7 => IntKind::LongLong,
                8 => IntKind::ULongLong,
                // `char`, signed or not.
                _ => IntKind::UChar,
            })
        };
        // What is aligned to its size of eight may be of sixteen, too.
        let aligned = |integer: u8, real: u8| {
            if integer.min(real) == 8 {
                16
            } else {
                integer.min(real)
            }
        };
        let (list, argument) = (number("list")?, number("list_argument")?);
        Some(Model {
            pointer,
            narrow_long,
            wide_words: number("word")? == 8,
            size: kind("size")?,
            difference: kind("difference")?,
            wide: kind("wide")?,
            unsigned_char: truth("char")?,
            short_enums: number("enum")? == 1,
            scalar_align: aligned(number("integer")?, number("real")?),
            member_align: aligned(number("member")?, number("real_member")?),
            long_double: number("long_real")?,
            long_double_align: number("long_real_align")?.min(number("long_real_member")?),
            strictest: number("strictest")?,
            unnamed_fields_align: number("unnamed")? > 1,
            va_list: match truth("list_pointer")? {
                true => VaList::Pointer,
                false if list == argument => VaList::Record(list),
                false => VaList::Array(list),
            },
            pack: 0,
            atomic_sections: false,
        })
    }

    pub fn long(&self) -> IntKind {
        if self.narrow_long {
            IntKind::NarrowLong
        } else {
            IntKind::Long
        }
    }

    /// The signed integer of 64 bits that a machine mode names.
    pub fn double_word(&self) -> IntKind {
        if self.narrow_long {
            IntKind::LongLong
        } else {
            IntKind::Long
        }
    }

    /// The type of the elements of a plain string literal.
    pub fn char(&self) -> IntKind {
        if self.unsigned_char {
            IntKind::UChar
        } else {
            IntKind::Char
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_is_read_whatever_marks_the_machine_gives_its_numbers() {
        let answer = "cassini:pointer=4;\n#APP\n\tcassini:int=$4;cassini:long=#4;cassini:word=4;cassini:size=4;cassini:difference=3;\
                      cassini:wide=5;cassini:char=0;cassini:enum=4;cassini:integer=8;cassini:member=4;\
                      cassini:real=8;cassini:real_member=4;cassini:long_real=12;cassini:long_real_align=4;\
                      cassini:long_real_member=4;cassini:unnamed=1;cassini:strictest=16;cassini:list=4;\
                      cassini:list_argument=4;cassini:list_pointer=1;";
        assert_eq!(Model::of_answer(answer), Some(Model::I386));
        assert_eq!(Model::of_answer(&answer.replace("int=$4", "int=2")), None);
        assert_eq!(Model::of_answer("cassini:pointer=4;"), None);
    }
}
