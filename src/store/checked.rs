//! Values that carry a hash of themselves and of their key, so that a damaged one is seen.
//!
//! SQLite notices damage to its own structures, not to the bytes between them. A value that fails its
//! check counts as one that is not there.

use serde::Serialize;
use serde::de::DeserializeOwned;
use xxhash_rust::xxh3::{xxh3_64, xxh3_64_with_seed};

const CHECK: usize = size_of::<u64>();

/// The encoding of a value, with its check behind it.
pub(super) fn encode<T: Serialize>(key: &[u8], value: &T) -> Result<Vec<u8>, postcard::Error> {
    let bytes = postcard::to_stdvec(value)?;
    Ok(sealed(key, bytes))
}

/// The value; `None` if its bytes are not those that were written under this key.
pub(super) fn decode<T: DeserializeOwned>(key: &[u8], bytes: &[u8]) -> Option<T> {
    postcard::from_bytes(opened(key, bytes)?).ok()
}

/// Bytes with their check behind them.
pub(super) fn sealed(key: &[u8], mut bytes: Vec<u8>) -> Vec<u8> {
    let check = check(key, &bytes);
    bytes.extend_from_slice(&check);
    bytes
}

fn opened<'b>(key: &[u8], bytes: &'b [u8]) -> Option<&'b [u8]> {
    let (value, found) = bytes.split_last_chunk::<CHECK>()?;
    (check(key, value) == *found).then_some(value)
}

fn check(key: &[u8], value: &[u8]) -> [u8; CHECK] {
    xxh3_64_with_seed(value, xxh3_64(key)).to_le_bytes()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_is_its_own_only_whole_and_under_its_key() {
        let bytes = encode(b"key", &("value", 7u32)).unwrap();
        let decode = |key: &[u8], bytes: &[u8]| decode::<(String, u32)>(key, bytes);
        assert_eq!(decode(b"key", &bytes), Some(("value".to_owned(), 7)));
        assert_eq!(decode(b"other", &bytes), None);
        assert_eq!(decode(b"key", &bytes[..bytes.len() - 1]), None);
        assert_eq!(decode(b"key", b""), None);
        for bit in 0..bytes.len() * 8 {
            let mut damaged = bytes.clone();
            damaged[bit / 8] ^= 1 << (bit % 8);
            assert_eq!(decode(b"key", &damaged), None);
        }
    }
}
