use std::process::ExitCode;

fn main() -> ExitCode {
    cassini::cli::main()
}
