//! Tells whether a database file is as the last run left it.
//!
//! A run that ends writes beside each of its files a seal: the file's size and a hash of its bytes.
//! The next run compares them before SQLite reads a byte, and removes the seal for as long as it
//! writes. A sealed file that differs is therefore damaged. A file without a seal was left by a run
//! that was killed, and may be sound: SQLite then has to examine it.
//!
//! A query does not read a big file whole to read a little of it: it takes the seal's word for a file that was not written to since it
//! was sealed, which the time of its last change tells. A run always compares the bytes.

use std::fs::{self, File};
use std::io::{self, ErrorKind, Read};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use xxhash_rust::xxh3::{Xxh3, xxh3_64};

/// Bytes read at a time.
const CHUNK: usize = 1 << 20;

/// From this size on, in bytes, hashing a file takes longer than a time of change is exact.
const BIG: u64 = 64 << 20;

/// How a file compares with its seal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Condition {
    Absent,
    /// It is byte for byte what the last run left.
    Sound,
    /// It was sealed and is something else now.
    Damaged,
    /// There is no seal, or none that can be read.
    Unsealed,
}

/// Compares a file with its seal.
pub(super) fn examine(file: &Path) -> io::Result<Condition> {
    match fs::symlink_metadata(file) {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Condition::Absent),
        Err(error) => return Err(error),
        Ok(data) if data.is_dir() => return Ok(Condition::Damaged),
        Ok(_) => {}
    }
    let Some((seal, _)) = read(file) else {
        return Ok(Condition::Unsealed);
    };
    if Seal::of(file)? == seal {
        return Ok(Condition::Sound);
    }
    // A run that began meanwhile has taken the seal away and may have written.
    Ok(match read(file) {
        Some((again, _)) if again == seal => Condition::Damaged,
        _ => Condition::Unsealed,
    })
}

/// The same for a query, which takes the seal's word for a big file that was not written to since it was sealed.
pub(super) fn examine_to_read(file: &Path) -> io::Result<Condition> {
    if let Some((seal, stamp)) = read(file)
        && seal.size >= BIG
        && Stamp::of(file).is_ok_and(|now| now.size == seal.size && now.text() == stamp)
    {
        return Ok(Condition::Sound);
    }
    examine(file)
}

/// Removes a file's seal: from now on the file may change.
pub(super) fn remove(file: &Path) -> io::Result<()> {
    match fs::remove_file(path(file)) {
        Err(error) if error.kind() != ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}

/// Seals a file that nobody writes any more.
pub(super) fn put(file: &Path) -> io::Result<()> {
    // A file that is written to while it is hashed has another stamp afterwards.
    let stamp = Stamp::of(file)?;
    let text = Seal::of(file)?.to_text(&stamp.text());
    // A reader must never see half of a seal.
    let new = path(file).with_extension("seal-new");
    fs::write(&new, text)?;
    fs::rename(new, path(file))
}

/// Where the seal of a file is.
pub(super) fn path(file: &Path) -> PathBuf {
    let mut name = file.as_os_str().to_owned();
    name.push(".seal");
    name.into()
}

/// The seal of a file, and the stamp that the file had then.
fn read(file: &Path) -> Option<(Seal, String)> {
    Seal::parse(&fs::read_to_string(path(file)).ok()?)
}

/// What changes whenever a file is written to, or another one is put in its place.
struct Stamp {
    size: u64,
    file: u64,
    changed: (i64, i64),
}

impl Stamp {
    fn of(file: &Path) -> io::Result<Stamp> {
        let data = fs::metadata(file)?;
        Ok(Stamp {
            size: data.size(),
            file: data.ino(),
            changed: (data.ctime(), data.ctime_nsec()),
        })
    }

    fn text(&self) -> String {
        let (seconds, rest) = self.changed;
        format!("{}.{seconds}.{rest}", self.file)
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Seal {
    size: u64,
    hash: u128,
}

impl Seal {
    fn of(file: &Path) -> io::Result<Seal> {
        let mut file = File::open(file)?;
        let mut hasher = Xxh3::new();
        let mut size = 0;
        let mut chunk = vec![0; CHUNK];
        loop {
            let read = match file.read(&mut chunk) {
                Ok(0) => break,
                Ok(read) => read,
                Err(error) if error.kind() == ErrorKind::Interrupted => continue,
                Err(error) => return Err(error),
            };
            size += read as u64;
            hasher.update(&chunk[..read]);
        }
        let hash = hasher.digest128();
        Ok(Seal { size, hash })
    }

    /// Size, hash and stamp, and a hash of these: a damaged seal must not condemn a sound file.
    fn to_text(self, stamp: &str) -> String {
        let words = format!("{} {:032x} {stamp}", self.size, self.hash);
        format!("{words} {:016x}\n", xxh3_64(words.as_bytes()))
    }

    fn parse(text: &str) -> Option<(Seal, String)> {
        let (words, check) = text.trim_end().rsplit_once(' ')?;
        if u64::from_str_radix(check, 16).ok()? != xxh3_64(words.as_bytes()) {
            return None;
        }
        let (words, stamp) = words.rsplit_once(' ')?;
        let (size, hash) = words.split_once(' ')?;
        let seal = Seal {
            size: size.parse().ok()?,
            hash: u128::from_str_radix(hash, 16).ok()?,
        };
        Some((seal, stamp.to_owned()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_change_of_a_sealed_file_is_seen_and_a_damaged_seal_condemns_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("a.sqlite");
        assert_eq!(examine(&file).unwrap(), Condition::Absent);
        fs::write(&file, vec![7; 3 * CHUNK / 2]).unwrap();
        assert_eq!(examine(&file).unwrap(), Condition::Unsealed);
        put(&file).unwrap();
        assert_eq!(examine(&file).unwrap(), Condition::Sound);

        let mut bytes = fs::read(&file).unwrap();
        bytes[CHUNK + 5] ^= 1;
        fs::write(&file, &bytes).unwrap();
        assert_eq!(examine(&file).unwrap(), Condition::Damaged);
        bytes[CHUNK + 5] ^= 1;
        fs::write(&file, &bytes[..CHUNK]).unwrap();
        assert_eq!(examine(&file).unwrap(), Condition::Damaged, "truncated");
        fs::write(&file, &bytes).unwrap();
        assert_eq!(examine(&file).unwrap(), Condition::Sound);

        let seal = fs::read_to_string(path(&file)).unwrap();
        fs::write(path(&file), seal.replacen(char::is_numeric, "x", 1)).unwrap();
        assert_eq!(examine(&file).unwrap(), Condition::Unsealed);
        remove(&file).unwrap();
        remove(&file).unwrap();
        assert_eq!(examine(&file).unwrap(), Condition::Unsealed);
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
    }
}
