use std::process::ExitCode;

/// Syntax trees and terms are many small allocations, which the system's allocator is slow at.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// The number of the allocator's option `purge_delay`, for which its bindings have no name.
const PURGE_DELAY: libmimalloc_sys::mi_option_t = 15;

fn main() -> ExitCode {
    // The analysis of each function frees memory that the next one allocates again. To return it to the system in between takes a
    // sixth of the CPU time.
    // SAFETY: an option is a number, and nothing else runs yet.
    unsafe { libmimalloc_sys::mi_option_set(PURGE_DELAY, -1) };
    cassini::cli::main()
}
