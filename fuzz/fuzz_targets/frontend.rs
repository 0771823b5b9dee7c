//! Any bytes as a preprocessed unit: split, normalised, parsed, lowered, laid out.
#![no_main]

use cassini::frontend::whole;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &[u8]| {
    whole::program(text, "fuzz.c", Default::default());
    whole::layouts(text, "fuzz.c", Default::default());
});
