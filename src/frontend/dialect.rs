//! What a compiler and its options make of a preprocessed text: the target's data model, and options that change the
//! layout of types without showing in the text.
//!
//! In: the compiler's answer to [`super::model::QUESTIONS`], its name and its arguments. Out: [`Dialect`]. Where the compiler
//! gives no answer, its name and the options are read. Options that show in the text (`-std`, `-D`) are not here.

use std::hash::{Hash, Hasher};

use rustc_hash::FxHasher;

use super::model::Model;
use super::types::IntKind;

/// Machines whose `char` is unsigned under Linux, by the beginning of a target's name.
const UNSIGNED_CHAR: &[&str] = &["aarch64", "arm", "powerpc", "ppc", "riscv", "s390"];

/// Machines with pointers of 32 bits that are no i386.
const NARROW: &[&str] = &[
    "arm-",
    "armv",
    "armeb",
    "thumb",
    "mips-",
    "mipsel-",
    "powerpc-",
    "ppc-",
    "riscv32",
    "sparc-",
    "m68k",
    "sh4",
    "hppa-",
    "xtensa",
    "microblaze",
    "or1k",
];

const I386: &[&str] = &["i386", "i486", "i586", "i686"];

/// What compiler and options make of the language; gcc's defaults for x86-64 unless they say otherwise.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Dialect {
    pub model: Model,
    /// `-fpack-struct`: every record is packed.
    pub packed: bool,
}

impl Default for Dialect {
    fn default() -> Dialect {
        Dialect {
            model: Model::LP64,
            packed: false,
        }
    }
}

impl Dialect {
    /// Of several options that contradict each other, the last counts.
    pub fn of<'a>(
        answer: Option<&str>,
        compiler: &str,
        arguments: impl IntoIterator<Item = &'a str>,
    ) -> Dialect {
        let compiler = compiler.rsplit('/').next().unwrap_or(compiler);
        let mut guessed = of_target(compiler);
        let mut unsigned_char = None;
        let mut dialect = Dialect::default();
        let mut short_wchar = false;
        let mut short_enums = false;
        let mut record_pack = 0;
        let mut arguments = arguments.into_iter();
        while let Some(argument) = arguments.next() {
            match argument {
                "-funsigned-char" | "-fno-signed-char" => unsigned_char = Some(true),
                "-fsigned-char" | "-fno-unsigned-char" => unsigned_char = Some(false),
                "-fshort-enums" => short_enums = true,
                "-fno-short-enums" => short_enums = false,
                "-fshort-wchar" => short_wchar = true,
                "-fno-short-wchar" => short_wchar = false,
                "-fpack-struct" => dialect.packed = true,
                "-fno-pack-struct" => dialect.packed = false,
                "-m32" | "-m16" => guessed = with_words(guessed, Model::I386),
                "-mx32" => guessed = with_words(guessed, Model::X32),
                "-m64" => guessed = with_words(guessed, Model::LP64),
                "-target" | "--target" => guessed = of_target(arguments.next().unwrap_or_default()),
                _ => {
                    if let Some(target) = argument.strip_prefix("--target=") {
                        guessed = of_target(target);
                    } else if let Some(pack) = argument.strip_prefix("-fpack-struct=") {
                        record_pack = pack.parse().unwrap_or(0);
                    }
                }
            }
        }
        if short_wchar {
            guessed.wide = IntKind::UShort;
        }
        guessed.short_enums = short_enums;
        guessed.unsigned_char = unsigned_char.unwrap_or(guessed.unsigned_char);
        dialect.model = answer.and_then(Model::of_answer).unwrap_or(guessed);
        dialect.model.pack = record_pack;
        dialect
    }

    /// A number of its own for each dialect, the same in every run.
    pub fn number(&self) -> u64 {
        let mut hasher = FxHasher::default();
        self.hash(&mut hasher);
        hasher.finish()
    }
}

/// What is known of a machine by the name of a target or of a compiler for it.
fn of_target(name: &str) -> Model {
    let begins = |machines: &[&str]| machines.iter().any(|machine| name.starts_with(machine));
    let model = if begins(I386) {
        Model::I386
    } else if name.starts_with("x86_64") && name.contains("x32") {
        Model::X32
    } else if begins(NARROW) {
        Model::ILP32
    } else {
        Model::LP64
    };
    Model {
        unsigned_char: begins(UNSIGNED_CHAR),
        ..model
    }
}

/// The model that an option for the width of words makes of the target's.
fn with_words(target: Model, words: Model) -> Model {
    Model {
        unsigned_char: target.unsigned_char,
        ..words
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn model(compiler: &str, options: &[&str]) -> Model {
        Dialect::of(None, compiler, options.iter().copied()).model
    }

    #[test]
    fn the_last_option_counts() {
        let options = ["-funsigned-char", "-fshort-enums", "-c", "-fsigned-char"];
        let dialect = Dialect::of(None, "gcc", options);
        assert!(!dialect.model.unsigned_char && dialect.model.short_enums);
        assert_eq!(dialect.model.wide, IntKind::Int);
        assert_ne!(dialect.number(), Dialect::default().number());
        assert_eq!(model("gcc", &["-m32", "-m64"]), Model::LP64);
        assert_eq!(model("gcc", &["-m64", "-m16"]), Model::I386);
        let packed = Dialect::of(
            None,
            "gcc",
            ["-fpack-struct", "-fpack-struct=4", "-fno-pack-struct"],
        );
        assert_eq!((packed.packed, packed.model.pack), (false, 4));
    }

    #[test]
    fn without_an_answer_the_target_says_what_types_are() {
        assert!(model("/usr/bin/aarch64-linux-gnu-gcc-12", &[]).unsigned_char);
        assert!(!model("aarch64-linux-gnu-gcc", &["-fsigned-char"]).unsigned_char);
        assert!(model("clang", &["--target=riscv64-linux-gnu"]).unsigned_char);
        assert!(model("clang", &["-target", "armv7-linux"]).unsigned_char);
        assert_eq!(model("clang", &["--target=i386-linux-gnu"]), Model::I386);
        assert_eq!(model("arm-linux-gnueabi-gcc", &[]).pointer, 4);
        assert_eq!(model("x86_64-linux-gnux32-gcc", &[]), Model::X32);
        assert_eq!(model("x86_64-linux-gnu-gcc", &[]), Model::LP64);
    }

    #[test]
    fn the_compiler_knows_better_than_its_options() {
        let answer = "cassini:pointer=4;cassini:long=4;";
        assert_eq!(
            Dialect::of(Some(answer), "gcc", []),
            Dialect::default(),
            "no whole answer"
        );
    }
}
