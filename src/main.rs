use std::process::ExitCode;

/// Syntax trees and terms are many small allocations, which the system's allocator is slow at.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// The number of the allocator's option `purge_delay`, for which its bindings have no name.
const PURGE_DELAY: libmimalloc_sys::mi_option_t = 15;

fn main() -> ExitCode {
    // What one function's analysis gives back the next one's wants. To hand memory to the system, and to fetch it again, takes a
    // sixth of the time.
    // SAFETY: an option is a number, and nothing else runs yet.
    unsafe { libmimalloc_sys::mi_option_set(PURGE_DELAY, -1) };
    cassini::cli::main()
}
