//! Keys of a person, one at a time.
//!
//! In: standard input, a terminal or a pipe. Out: characters as they are typed, without a line end to wait for, and lines where
//! a text is asked for.

use std::io::{self, BufRead, IsTerminal, Read};

use nix::sys::termios::{self, LocalFlags, SetArg, SpecialCharacterIndices, Termios};

/// What ends a walk: Ctrl-C and Ctrl-D, which a terminal in this mode hands on.
const CONTROL_C: u8 = 3;
const CONTROL_D: u8 = 4;

/// Standard input, key by key. A terminal gets its own settings back in the end.
pub(super) struct Keys {
    before: Option<Termios>,
}

impl Keys {
    pub(super) fn new() -> io::Result<Keys> {
        let input = io::stdin();
        if !input.is_terminal() {
            return Ok(Keys { before: None });
        }
        let before = termios::tcgetattr(&input)?;
        let keys = Keys {
            before: Some(before),
        };
        keys.by_key()?;
        Ok(keys)
    }

    /// The next key; `None` when there are no more.
    pub(super) fn next(&mut self) -> io::Result<Option<char>> {
        loop {
            let mut byte = [0];
            if io::stdin().lock().read(&mut byte)? == 0 {
                return Ok(None);
            }
            match byte[0] {
                CONTROL_C | CONTROL_D => return Ok(None),
                // A pipe may have a line for each key.
                b'\n' | b'\r' | b' ' => {}
                byte => return Ok(Some(char::from(byte))),
            }
        }
    }

    /// A line of text.
    pub(super) fn line(&mut self) -> io::Result<String> {
        if let Some(before) = &self.before {
            termios::tcsetattr(io::stdin(), SetArg::TCSADRAIN, before)?;
        }
        let mut bytes = Vec::new();
        io::stdin().lock().read_until(b'\n', &mut bytes)?;
        if self.before.is_some() {
            self.by_key()?;
        }
        Ok(String::from_utf8_lossy(&bytes).trim().to_owned())
    }

    fn by_key(&self) -> io::Result<()> {
        let Some(before) = &self.before else {
            return Ok(());
        };
        let mut own = before.clone();
        own.local_flags
            .remove(LocalFlags::ICANON | LocalFlags::ECHO | LocalFlags::ISIG);
        own.control_chars[SpecialCharacterIndices::VMIN as usize] = 1;
        own.control_chars[SpecialCharacterIndices::VTIME as usize] = 0;
        Ok(termios::tcsetattr(io::stdin(), SetArg::TCSADRAIN, &own)?)
    }
}

impl Drop for Keys {
    fn drop(&mut self) {
        if let Some(before) = &self.before {
            // A terminal that is gone needs nothing.
            let _ = termios::tcsetattr(io::stdin(), SetArg::TCSADRAIN, before);
        }
    }
}
