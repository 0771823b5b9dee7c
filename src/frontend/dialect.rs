//! Compiler options that change what a preprocessed text means.
//!
//! In: a compilation's compiler and arguments. Out: [`Dialect`], which the normaliser writes out in the text: `unsigned char`
//! for `char`, `packed` on enumerations. Options that show in the text (`-std`, `-D`) are not here.

/// Machines whose `char` is unsigned under Linux, by the beginning of a target's name.
const UNSIGNED_CHAR: &[&str] = &["aarch64-", "arm", "powerpc", "ppc", "riscv", "s390"];

/// What the options make of the language; gcc's defaults for x86-64 unless they, or the compiler's
/// name, say otherwise.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Dialect {
    /// `char` is unsigned.
    pub unsigned_char: bool,
    /// An enumeration is as small as its values allow.
    pub short_enums: bool,
    /// The elements of `L"…"` have 16 bits.
    pub short_wchar: bool,
}

impl Dialect {
    /// Of several options that contradict each other, the last counts.
    pub fn of<'a>(compiler: &str, arguments: impl IntoIterator<Item = &'a str>) -> Dialect {
        let of_target = |target: &str| {
            UNSIGNED_CHAR
                .iter()
                .any(|machine| target.starts_with(machine))
        };
        let compiler = compiler.rsplit('/').next().unwrap_or(compiler);
        let mut machine_unsigned = of_target(compiler);
        let mut unsigned_char = None;
        let mut dialect = Dialect::default();
        let mut arguments = arguments.into_iter();
        while let Some(argument) = arguments.next() {
            match argument {
                "-funsigned-char" | "-fno-signed-char" => unsigned_char = Some(true),
                "-fsigned-char" | "-fno-unsigned-char" => unsigned_char = Some(false),
                "-fshort-enums" => dialect.short_enums = true,
                "-fno-short-enums" => dialect.short_enums = false,
                "-fshort-wchar" => dialect.short_wchar = true,
                "-fno-short-wchar" => dialect.short_wchar = false,
                "-target" | "--target" => {
                    machine_unsigned = arguments.next().is_some_and(of_target);
                }
                _ => {
                    if let Some(target) = argument.strip_prefix("--target=") {
                        machine_unsigned = of_target(target);
                    }
                }
            }
        }
        dialect.unsigned_char = unsigned_char.unwrap_or(machine_unsigned);
        dialect
    }

    /// A number of its own for each dialect.
    pub fn bits(self) -> u8 {
        u8::from(self.unsigned_char)
            | u8::from(self.short_enums) << 1
            | u8::from(self.short_wchar) << 2
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_option_counts() {
        let options = ["-funsigned-char", "-fshort-enums", "-c", "-fsigned-char"];
        let dialect = Dialect::of("gcc", options);
        assert!(!dialect.unsigned_char && dialect.short_enums && !dialect.short_wchar);
        assert_ne!(dialect.bits(), Dialect::default().bits());
    }

    #[test]
    fn the_target_says_whether_char_is_signed() {
        let unsigned = |compiler, options: &[&str]| {
            Dialect::of(compiler, options.iter().copied()).unsigned_char
        };
        assert!(unsigned("/usr/bin/aarch64-linux-gnu-gcc-12", &[]));
        assert!(!unsigned("aarch64-linux-gnu-gcc", &["-fsigned-char"]));
        assert!(unsigned("clang", &["--target=riscv64-linux-gnu"]));
        assert!(unsigned("clang", &["-target", "armv7-linux"]));
        assert!(!unsigned("x86_64-linux-gnu-gcc", &[]));
    }
}
