//! The messages of the language server protocol, as bytes.
//!
//! In: what the editor writes. Out: messages, and a complaint for each that is none. Bytes that are no message end nothing: the next
//! header line is looked for.

use std::io::{self, BufRead, Read, Write};

use lsp_server::Message;

/// The longest message that is read, in bytes.
const LONGEST: u64 = 64 << 20;
/// The longest line of a header, in bytes.
const LONGEST_LINE: u64 = 4 << 10;

/// What was read.
#[derive(Debug)]
pub(super) enum Incoming {
    Message(Message),
    Malformed(String),
    Closed,
}

/// Reads the next message.
pub(super) fn read(from: &mut dyn BufRead) -> io::Result<Incoming> {
    let mut length: Option<u64> = None;
    loop {
        let mut line = Vec::new();
        if from.take(LONGEST_LINE).read_until(b'\n', &mut line)? == 0 {
            return Ok(Incoming::Closed);
        }
        let line = String::from_utf8_lossy(&line);
        let line = line.trim();
        if line.is_empty() {
            match length {
                Some(_) => break,
                None => continue,
            }
        }
        let Some((name, value)) = line.split_once(':') else {
            return Ok(malformed("a header line has no colon"));
        };
        if name.eq_ignore_ascii_case("Content-Length") {
            length = value.trim().parse().ok();
            if length.is_none() {
                return Ok(malformed("the length is no number"));
            }
        }
    }
    let length = length.unwrap_or(0);
    if length > LONGEST {
        io::copy(&mut from.take(length), &mut io::sink())?;
        return Ok(malformed("the message is too long"));
    }
    let mut text = Vec::new();
    if (from.take(length).read_to_end(&mut text)? as u64) < length {
        return Ok(Incoming::Closed);
    }
    Ok(match serde_json::from_slice(&text) {
        Ok(message) => Incoming::Message(message),
        Err(error) => malformed(&error.to_string()),
    })
}

fn malformed(why: &str) -> Incoming {
    Incoming::Malformed(format!("a message cannot be read: {why}"))
}

pub(super) fn write(to: &mut dyn Write, message: Message) -> io::Result<()> {
    message.write(&mut { to })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all(mut bytes: &[u8]) -> Vec<String> {
        let mut found = Vec::new();
        loop {
            found.push(match read(&mut bytes).unwrap() {
                Incoming::Closed => return found,
                Incoming::Malformed(why) => why,
                Incoming::Message(Message::Notification(one)) => one.method,
                Incoming::Message(other) => format!("{other:?}"),
            });
        }
    }

    #[test]
    fn what_is_no_message_is_told_and_the_next_one_is_read() {
        let good = "Content-Length: 40\r\n\r\n{\"jsonrpc\":\"2.0\",\"method\":\"a\",\"params\":1}";
        let good = good
            .replace("40", "41")
            .replace("\"params\":1", "\"params\":[]");
        let body = good.split_once("\r\n\r\n").unwrap().1.len();
        let good = good.replace("41", &body.to_string());
        let long = "x".repeat(usize::try_from(LONGEST).unwrap() + 1);
        for bad in [
            "no header at all\r\n",
            "Content-Length: many\r\n\r\n",
            "Content-Length: 99999999999999999999999\r\n\r\n",
            "Content-Length: 3\r\n\r\n{\u{1}}",
            "Content-Length: 2\r\n\r\n[]",
            &format!("content-length: {}\r\n\r\n{long}", long.len()),
        ] {
            let found = all(format!("{bad}{good}").as_bytes());
            assert_eq!(found.len(), 2, "{found:?}");
            assert!(found[0].contains("cannot be read"), "{found:?}");
            assert_eq!(found[1], "a", "{}", &bad[..bad.len().min(60)]);
        }
        assert_eq!(all(b"Content-Length: 100\r\n\r\n{\"cut"), [""; 0]);
    }
}
