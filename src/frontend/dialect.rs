//! Compiler options that change what a preprocessed text means.
//!
//! In: a compilation's arguments. Out: [`Dialect`], which the normaliser writes out in the text: `unsigned char`
//! for `char`, `packed` on enumerations. Options that show in the text (`-std`, `-D`) are not here.

/// What the options make of the language; gcc's defaults for x86-64 unless they say otherwise.
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
    pub fn of<'a>(arguments: impl IntoIterator<Item = &'a str>) -> Dialect {
        let mut dialect = Dialect::default();
        for argument in arguments {
            match argument {
                "-funsigned-char" | "-fno-signed-char" => dialect.unsigned_char = true,
                "-fsigned-char" | "-fno-unsigned-char" => dialect.unsigned_char = false,
                "-fshort-enums" => dialect.short_enums = true,
                "-fno-short-enums" => dialect.short_enums = false,
                "-fshort-wchar" => dialect.short_wchar = true,
                "-fno-short-wchar" => dialect.short_wchar = false,
                _ => {}
            }
        }
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
        let dialect = Dialect::of(["-funsigned-char", "-fshort-enums", "-c", "-fsigned-char"]);
        assert!(!dialect.unsigned_char && dialect.short_enums && !dialect.short_wchar);
        assert_ne!(dialect.bits(), Dialect::default().bits());
    }
}
