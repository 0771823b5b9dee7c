//! Contains a panic of ours: it costs the function at hand, not the run.

use std::cell::{Cell, RefCell};
use std::panic::{self, AssertUnwindSafe};
use std::sync::Once;

thread_local! {
    static CONTAINED: Cell<bool> = const { Cell::new(false) };
    static MESSAGE: RefCell<Option<String>> = const { RefCell::new(None) };
}

/// Runs `work`; a panic in it becomes an error with its message and place, and is not printed.
pub fn contained<T>(work: impl FnOnce() -> T) -> Result<T, String> {
    install_hook();
    let outer = CONTAINED.replace(true);
    // What `work` was building is dropped with the panic; shared state is behind locks and
    // write-once cells.
    let result = panic::catch_unwind(AssertUnwindSafe(work));
    CONTAINED.set(outer);
    result.map_err(|_| {
        MESSAGE
            .take()
            .unwrap_or_else(|| "panic without a message".to_owned())
    })
}

fn install_hook() {
    static HOOK: Once = Once::new();
    HOOK.call_once(|| {
        let previous = panic::take_hook();
        panic::set_hook(Box::new(move |info| {
            if !CONTAINED.get() {
                return previous(info);
            }
            let text = info.payload_as_str().unwrap_or("unknown");
            let message = match info.location() {
                Some(place) => format!("panic at {}:{}: {text}", place.file(), place.line()),
                None => format!("panic: {text}"),
            };
            MESSAGE.set(Some(message));
        }));
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_panic_becomes_an_error_with_its_message_and_place() {
        let error = contained(|| -> u32 { panic!("no such block {}", 7) }).unwrap_err();
        assert!(error.starts_with("panic at src/panics.rs:"), "{error}");
        assert!(error.ends_with("no such block 7"), "{error}");
        assert_eq!(contained(|| 3), Ok(3));
    }
}
