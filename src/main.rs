use std::process::ExitCode;

/// Syntax trees and terms are many small allocations, which the system's allocator is slow at.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    cassini::cli::main()
}
