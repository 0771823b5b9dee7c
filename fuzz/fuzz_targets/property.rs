//! Any text as a checker's file: loaded or refused with the place of every mistake.
#![no_main]

use cassini::property::Property;
use cassini::property::load::SourceFile;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    Property::load(&[SourceFile::new("fuzz.toml", text)]);
});
