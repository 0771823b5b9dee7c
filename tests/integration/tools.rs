//! Tools that tests need of the machine.

/// Tells that something is not compared because a tool is missing. In continuous integration (`CI` is set), which installs what it
/// needs, that is a failure.
#[track_caller]
pub fn missing(tool: &str) {
    assert!(std::env::var_os("CI").is_none(), "no {tool}");
    eprintln!("no {tool}: not compared");
}
