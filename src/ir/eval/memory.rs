//! The machine's memory: globals and heap below, the stack above, a mark for each byte that is unknown.
//!
//! In: addresses and sizes. Out: bytes, or [`Stop::Wild`] where nothing was allocated. What is allocated
//! stays until the end, but for the stack's frames.

use super::{Run, Stop};

const HEAP: u64 = 0x1_0000;
/// Below what a pointer of 32 bits can say.
const STACK: u64 = 1 << 29;
/// Most bytes that either may have.
const LIMIT: u64 = 256 << 20;

/// A run of addresses.
struct Region {
    base: u64,
    bytes: Vec<u8>,
    unknown: Vec<bool>,
}

pub struct Memory {
    heap: Region,
    stack: Region,
}

impl Region {
    fn new(base: u64) -> Region {
        Region {
            base,
            bytes: Vec::new(),
            unknown: Vec::new(),
        }
    }

    /// Appends room; its bytes are zero.
    fn grow(&mut self, size: u64) -> Run<u64> {
        let at = self.bytes.len() as u64;
        let end = at.checked_add(size).filter(|end| *end <= LIMIT);
        let end = usize::try_from(end.ok_or(Stop::Memory)?).map_err(|_| Stop::Memory)?;
        self.bytes.resize(end, 0);
        self.unknown.resize(end, false);
        Ok(self.base + at)
    }

    fn range(&self, addr: u64, size: u64) -> Run<std::ops::Range<usize>> {
        let wild = Stop::Wild(addr);
        let at = addr
            .checked_sub(self.base)
            .and_then(|at| usize::try_from(at).ok());
        let size = usize::try_from(size).ok();
        let (Some(at), Some(size)) = (at, size) else {
            return Err(wild);
        };
        match at.checked_add(size) {
            Some(end) if end <= self.bytes.len() => Ok(at..end),
            _ => Err(wild),
        }
    }
}

impl Memory {
    pub fn new() -> Memory {
        Memory {
            heap: Region::new(HEAP),
            stack: Region::new(STACK),
        }
    }

    /// A new object of the heap, aligned to 16 bytes, with room around it.
    pub fn allocate(&mut self, size: u64) -> Run<u64> {
        let size = size.checked_next_multiple_of(16).ok_or(Stop::Memory)?;
        self.heap.grow(size.saturating_add(16))
    }

    /// A new frame; its bytes are zero.
    pub fn push(&mut self, size: u64) -> Run<u64> {
        self.stack.grow(size)
    }

    /// Gives back the frame at `base` and those above it.
    pub fn pop(&mut self, base: u64) {
        let length = usize::try_from(base.saturating_sub(STACK)).unwrap_or(0);
        self.stack.bytes.truncate(length);
        self.stack.unknown.truncate(length);
    }

    fn region(&mut self, addr: u64) -> &mut Region {
        if addr >= STACK {
            &mut self.stack
        } else {
            &mut self.heap
        }
    }

    pub fn read(&mut self, addr: u64, bits: u16) -> Run<u128> {
        let size = u64::from(bits.div_ceil(8));
        let region = self.region(addr);
        let range = region.range(addr, size)?;
        if region.unknown[range.clone()].contains(&true) {
            return Err(Stop::Unknown("what is in memory"));
        }
        let mut bytes = [0; 16];
        let length = range.len().min(16);
        bytes[..length].copy_from_slice(&region.bytes[range][..length]);
        Ok(u128::from_le_bytes(bytes))
    }

    pub fn write(&mut self, addr: u64, value: u128, bits: u16) -> Run<()> {
        let size = usize::from(bits.div_ceil(8)).min(16);
        self.write_bytes(addr, &value.to_le_bytes()[..size])
    }

    pub fn write_bytes(&mut self, addr: u64, bytes: &[u8]) -> Run<()> {
        let region = self.region(addr);
        let range = region.range(addr, bytes.len() as u64)?;
        region.unknown[range.clone()].fill(false);
        region.bytes[range].copy_from_slice(bytes);
        Ok(())
    }

    /// Bytes, `None` if one of them is unknown.
    pub fn bytes(&mut self, addr: u64, size: u64) -> Run<Option<&[u8]>> {
        let region = self.region(addr);
        if size == 0 {
            return Ok(Some(&[]));
        }
        let range = region.range(addr, size)?;
        let unknown = region.unknown[range.clone()].contains(&true);
        Ok((!unknown).then(|| &region.bytes[range]))
    }

    pub fn copy(&mut self, dst: u64, src: u64, size: u64) -> Run<()> {
        if size == 0 {
            return Ok(());
        }
        let from = self.region(src);
        let range = from.range(src, size)?;
        let bytes = from.bytes[range.clone()].to_vec();
        let unknown = from.unknown[range].to_vec();
        let to = self.region(dst);
        let range = to.range(dst, size)?;
        to.bytes[range.clone()].copy_from_slice(&bytes);
        to.unknown[range].copy_from_slice(&unknown);
        Ok(())
    }

    pub fn fill(&mut self, dst: u64, size: u64, byte: u8) -> Run<()> {
        if size == 0 {
            return Ok(());
        }
        let region = self.region(dst);
        let range = region.range(dst, size)?;
        region.bytes[range.clone()].fill(byte);
        region.unknown[range].fill(false);
        Ok(())
    }

    pub fn forget(&mut self, dst: u64, size: u64) -> Run<()> {
        if size == 0 {
            return Ok(());
        }
        let region = self.region(dst);
        let range = region.range(dst, size)?;
        region.unknown[range].fill(true);
        Ok(())
    }

    /// The bytes of a string without its zero.
    pub fn string(&mut self, addr: u64) -> Run<Vec<u8>> {
        let mut bytes = Vec::new();
        loop {
            match self.read(addr.wrapping_add(bytes.len() as u64), 8)? {
                0 => return Ok(bytes),
                byte => bytes.push(byte as u8),
            }
        }
    }
}
