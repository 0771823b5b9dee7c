//! Reading of files whose names come from a tree.

use std::fs::OpenOptions;
use std::io::{self, Read};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

/// Longer texts are no sane source.
pub const LIMIT: u64 = 1 << 29;

/// The content of a file. A pipe, a device or a terminal is an error: it may never end, or wait for somebody
/// to write. So is a file of more than `limit` bytes.
pub fn read_regular(path: &Path, limit: u64) -> io::Result<Vec<u8>> {
    // Without waiting for a pipe's other end, and without becoming the terminal's process.
    let file = OpenOptions::new()
        .read(true)
        .custom_flags(libc::O_NONBLOCK | libc::O_NOCTTY)
        .open(path)?;
    let data = file.metadata()?;
    if !data.is_file() {
        return Err(io::Error::other("it is no regular file"));
    }
    let too_long = || io::Error::other(format!("it has more than {limit} bytes"));
    if data.len() > limit {
        return Err(too_long());
    }
    let mut text = Vec::with_capacity(usize::try_from(data.len()).unwrap_or(0));
    file.take(limit + 1).read_to_end(&mut text)?;
    match text.len() as u64 > limit {
        true => Err(too_long()),
        false => Ok(text),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    #[test]
    fn only_regular_files_of_a_sane_length_are_read() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("f");
        fs::write(&file, "text").unwrap();
        assert_eq!(read_regular(&file, 4).unwrap(), b"text");
        let error = |path: &Path| read_regular(path, 3).unwrap_err().to_string();
        assert_eq!(error(&file), "it has more than 3 bytes");
        assert_eq!(error(folder.path()), "it is no regular file");
        assert_eq!(error(Path::new("/dev/zero")), "it is no regular file");
        let pipe = folder.path().join("p");
        let made = std::process::Command::new("mkfifo").arg(&pipe).status();
        assert!(made.unwrap().success());
        assert_eq!(error(&pipe), "it is no regular file");
    }
}
