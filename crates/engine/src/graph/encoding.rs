//! Little-endian numbers in streams of bytes. Lists take one, two or four bytes a number, as their greatest
//! number needs. Every read is checked, and lists are read through a small buffer straight to their place,
//! because touching memory a second time costs more than the disk does.

use std::io::{self, Read, Write};

use super::index::RowId;

/// Why numbers cannot be read.
#[derive(Debug)]
pub(super) enum Unreadable {
    /// The bytes do not hold what they should.
    Malformed,
    Io(io::Error),
}

/// Bytes that are read or written at once: a multiple of every width.
const BLOCK: usize = 64 * 1024;

#[derive(Debug)]
pub(super) struct Writer<W> {
    out: W,
    sum: Checksum,
}

impl<W: Write> Writer<W> {
    pub(super) fn new(out: W) -> Self {
        Self {
            out,
            sum: Checksum::default(),
        }
    }

    /// What was written to, how many bytes were, and their checksum.
    pub(super) fn finish(self) -> (W, u64, u64) {
        let length = self.sum.length;
        (self.out, length, self.sum.finish())
    }

    fn put(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.sum.update(bytes);
        self.out.write_all(bytes)
    }

    pub(super) fn u64(&mut self, number: u64) -> io::Result<()> {
        self.put(&number.to_le_bytes())
    }

    fn i64(&mut self, number: i64) -> io::Result<()> {
        self.put(&number.to_le_bytes())
    }

    pub(super) fn u8s(&mut self, list: &[u8]) -> io::Result<()> {
        self.u64(list.len() as u64)?;
        self.put(list)
    }

    fn fixed<T: Copy, const N: usize>(
        &mut self,
        list: &[T],
        bytes: impl Fn(T) -> [u8; N],
    ) -> io::Result<()> {
        let mut block = Vec::with_capacity(BLOCK);
        for part in list.chunks(BLOCK / N) {
            block.clear();
            for &number in part {
                block.extend_from_slice(&bytes(number));
            }
            self.put(&block)?;
        }
        Ok(())
    }

    pub(super) fn u32s(&mut self, list: &[u32]) -> io::Result<()> {
        let greatest = list.iter().copied().max().unwrap_or(0);
        self.u64(list.len() as u64)?;
        if u8::try_from(greatest).is_ok() {
            self.put(&[1])?;
            self.fixed(list, |number| [number as u8])
        } else if u16::try_from(greatest).is_ok() {
            self.put(&[2])?;
            self.fixed(list, |number| (number as u16).to_le_bytes())
        } else {
            self.put(&[4])?;
            self.fixed(list, u32::to_le_bytes)
        }
    }

    /// Whole numbers below 256 take a byte each when all are such, as weights and counts mostly are.
    pub(super) fn f32s(&mut self, list: &[f32]) -> io::Result<()> {
        let small = |&number: &f32| f32::from(number as u8).to_bits() == number.to_bits();
        self.u64(list.len() as u64)?;
        if list.iter().all(small) {
            self.put(&[1])?;
            self.fixed(list, |number| [number as u8])
        } else {
            self.put(&[4])?;
            self.fixed(list, f32::to_le_bytes)
        }
    }

    /// As distances from the least, where they fit in 32 bits.
    pub(super) fn i64s(&mut self, list: &[i64]) -> io::Result<()> {
        let least = list.iter().copied().min().unwrap_or(0);
        let greatest = list.iter().copied().max().unwrap_or(0);
        if u32::try_from(greatest.abs_diff(least)).is_ok() {
            self.put(&[4])?;
            self.i64(least)?;
            let distances: Vec<u32> = list.iter().map(|id| id.abs_diff(least) as u32).collect();
            self.u32s(&distances)
        } else {
            self.put(&[8])?;
            self.u64(list.len() as u64)?;
            self.fixed(list, i64::to_le_bytes)
        }
    }

    pub(super) fn ids<T: RowId>(&mut self, list: impl Iterator<Item = T>) -> io::Result<()> {
        let rows: Vec<i64> = list.map(RowId::row).collect();
        self.i64s(&rows)
    }

    /// Numbers in ascending order, as the steps between them.
    pub(super) fn ascending(&mut self, list: &[u32]) -> io::Result<()> {
        let mut before = 0;
        let steps: Vec<u32> = list
            .iter()
            .map(|&number| number - std::mem::replace(&mut before, number))
            .collect();
        self.u32s(&steps)
    }
}

#[derive(Debug)]
pub(super) struct Reader<R> {
    input: R,
    /// Bytes that are still to come: no list can be longer.
    left: u64,
    sum: Checksum,
    block: Vec<u8>,
}

impl<R: Read> Reader<R> {
    /// Reads `length` bytes of `input` at most.
    pub(super) fn new(input: R, length: u64) -> Self {
        Self {
            input,
            left: length,
            sum: Checksum::default(),
            block: Vec::new(),
        }
    }

    pub(super) fn is_at_end(&self) -> bool {
        self.left == 0
    }

    /// Checksum of what was read.
    pub(super) fn checksum(self) -> u64 {
        self.sum.finish()
    }

    fn fill(&mut self, bytes: &mut [u8]) -> Result<(), Unreadable> {
        let length = bytes.len() as u64;
        self.left = self.left.checked_sub(length).ok_or(Unreadable::Malformed)?;
        self.input
            .read_exact(bytes)
            .map_err(|error| match error.kind() {
                io::ErrorKind::UnexpectedEof => Unreadable::Malformed,
                _ => Unreadable::Io(error),
            })?;
        self.sum.update(bytes);
        Ok(())
    }

    fn array<const N: usize>(&mut self) -> Result<[u8; N], Unreadable> {
        let mut bytes = [0; N];
        self.fill(&mut bytes)?;
        Ok(bytes)
    }

    pub(super) fn u64(&mut self) -> Result<u64, Unreadable> {
        self.array().map(u64::from_le_bytes)
    }

    fn i64(&mut self) -> Result<i64, Unreadable> {
        self.array().map(i64::from_le_bytes)
    }

    /// `length` numbers of `N` bytes each.
    fn fixed<T, const N: usize>(
        &mut self,
        length: u64,
        number: impl Fn([u8; N]) -> T,
    ) -> Result<Vec<T>, Unreadable> {
        let bytes = length.checked_mul(N as u64);
        if bytes.is_none_or(|bytes| bytes > self.left) {
            return Err(Unreadable::Malformed);
        }
        let mut list = Vec::with_capacity(length as usize);
        let mut block = std::mem::take(&mut self.block);
        let mut left = length as usize * N;
        while left > 0 {
            let part = left.min(BLOCK);
            block.resize(part, 0);
            self.fill(&mut block)?;
            list.extend(block.as_chunks::<N>().0.iter().map(|&bytes| number(bytes)));
            left -= part;
        }
        self.block = block;
        Ok(list)
    }

    pub(super) fn u8s(&mut self) -> Result<Vec<u8>, Unreadable> {
        let length = self.u64()?;
        self.fixed(length, u8::from_le_bytes)
    }

    pub(super) fn u32s(&mut self) -> Result<Vec<u32>, Unreadable> {
        let length = self.u64()?;
        match self.array()? {
            [1] => self.fixed(length, |bytes| u8::from_le_bytes(bytes).into()),
            [2] => self.fixed(length, |bytes| u16::from_le_bytes(bytes).into()),
            [4] => self.fixed(length, u32::from_le_bytes),
            _ => Err(Unreadable::Malformed),
        }
    }

    /// A list of numbers below `bound`.
    pub(super) fn indices(&mut self, bound: usize) -> Result<Vec<u32>, Unreadable> {
        let list = self.u32s()?;
        let greatest = list.iter().copied().max();
        if greatest.is_some_and(|greatest| greatest as usize >= bound) {
            return Err(Unreadable::Malformed);
        }
        Ok(list)
    }

    pub(super) fn f32s(&mut self) -> Result<Vec<f32>, Unreadable> {
        let length = self.u64()?;
        match self.array()? {
            [1] => self.fixed(length, |bytes| u8::from_le_bytes(bytes).into()),
            [4] => self.fixed(length, f32::from_le_bytes),
            _ => Err(Unreadable::Malformed),
        }
    }

    pub(super) fn i64s(&mut self) -> Result<Vec<i64>, Unreadable> {
        match self.array()? {
            [4] => {
                let least = self.i64()?;
                let distances = self.u32s()?.into_iter();
                distances
                    .map(|distance| least.checked_add(distance.into()))
                    .collect::<Option<_>>()
                    .ok_or(Unreadable::Malformed)
            }
            [8] => {
                let length = self.u64()?;
                self.fixed(length, i64::from_le_bytes)
            }
            _ => Err(Unreadable::Malformed),
        }
    }

    pub(super) fn ids<T: RowId>(&mut self) -> Result<Vec<T>, Unreadable> {
        Ok(self.i64s()?.into_iter().map(T::from_row).collect())
    }

    /// What [`Writer::ascending`] wrote.
    pub(super) fn ascending(&mut self) -> Result<Vec<u32>, Unreadable> {
        let mut steps = self.u32s()?;
        let mut sum = 0_u32;
        for step in &mut steps {
            sum = sum.checked_add(*step).ok_or(Unreadable::Malformed)?;
            *step = sum;
        }
        Ok(steps)
    }
}

/// Tells damaged bytes from sound ones: four lanes of xor, odd multiplication and rotation, each of which
/// can be undone, so a change of one word always shows. It is no defence against an attacker.
#[derive(Debug)]
struct Checksum {
    lanes: [u64; 4],
    /// Bytes that do not fill a word of each lane yet.
    rest: Vec<u8>,
    length: u64,
}

impl Default for Checksum {
    fn default() -> Self {
        Self {
            lanes: [1, 2, 3, 4],
            rest: Vec::with_capacity(32),
            length: 0,
        }
    }
}

impl Checksum {
    fn mix(lane: u64, word: u64) -> u64 {
        (lane ^ word)
            .wrapping_mul(0x9E37_79B9_7F4A_7C15)
            .rotate_left(29)
    }

    fn blocks(&mut self, blocks: &[[u8; 32]]) {
        let mut lanes = self.lanes;
        for block in blocks {
            for (lane, word) in lanes.iter_mut().zip(block.as_chunks::<8>().0) {
                *lane = Self::mix(*lane, u64::from_le_bytes(*word));
            }
        }
        self.lanes = lanes;
    }

    fn update(&mut self, mut bytes: &[u8]) {
        self.length += bytes.len() as u64;
        if !self.rest.is_empty() {
            let missing = bytes.len().min(32 - self.rest.len());
            self.rest.extend_from_slice(&bytes[..missing]);
            bytes = &bytes[missing..];
            if self.rest.len() < 32 {
                return;
            }
            let rest = std::mem::take(&mut self.rest);
            self.blocks(rest.as_chunks().0);
        }
        let (blocks, rest) = bytes.as_chunks();
        self.blocks(blocks);
        self.rest.extend_from_slice(rest);
    }

    fn finish(self) -> u64 {
        let mut first = self.lanes[0];
        for byte in self.rest {
            first = Self::mix(first, byte.into());
        }
        let lanes = [first, self.lanes[1], self.lanes[2], self.lanes[3]];
        let mix = |sum, lane: &u64| Self::mix(sum, *lane);
        let sum = lanes.iter().fold(self.length, mix);
        sum ^ (sum >> 32)
    }
}

/// Checksum of some bytes.
pub(super) fn checksum(bytes: &[u8]) -> u64 {
    let mut sum = Checksum::default();
    sum.update(bytes);
    sum.finish()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::types::EntityId;

    #[test]
    fn lists_longer_than_a_block_are_read_whole() {
        let list: Vec<u32> = (0..100_000).map(|n| n * 7).collect();
        let mut writer = Writer::new(Vec::new());
        writer.u32s(&list).unwrap();
        let (bytes, length, _) = writer.finish();
        assert_eq!(Reader::new(&bytes[..], length).u32s().unwrap(), list);
        assert!(Reader::new(&bytes[..], length - 1).u32s().is_err());
        assert!(
            Reader::new(&bytes[..bytes.len() - 1], length)
                .u32s()
                .is_err()
        );
    }

    proptest! {
        #[test]
        fn what_is_written_is_read(
            wide in proptest::collection::vec(any::<u32>(), 0..40),
            narrow in proptest::collection::vec(0_u32..300, 0..40),
            floats in proptest::collection::vec(-1000_f32..1000.0, 0..20),
            counts in proptest::collection::vec(0_u8..=255, 0..20),
            ids in proptest::collection::vec(any::<i64>(), 0..20),
        ) {
            let counts: Vec<f32> = counts.into_iter().map(f32::from).collect();
            let mut ascending = narrow.clone();
            ascending.sort_unstable();
            let mut writer = Writer::new(Vec::new());
            writer.u32s(&wide).unwrap();
            writer.u32s(&narrow).unwrap();
            writer.f32s(&floats).unwrap();
            writer.f32s(&counts).unwrap();
            writer.ids(ids.iter().copied().map(EntityId)).unwrap();
            writer.ascending(&ascending).unwrap();
            writer.u8s(b"how").unwrap();
            let (bytes, length, sum) = writer.finish();
            prop_assert_eq!(length, bytes.len() as u64);
            prop_assert_eq!(sum, checksum(&bytes));
            let mut reader = Reader::new(&bytes[..], length);
            prop_assert_eq!(reader.u32s().unwrap(), wide);
            prop_assert_eq!(reader.u32s().unwrap(), narrow);
            prop_assert_eq!(reader.f32s().unwrap(), floats);
            prop_assert_eq!(reader.f32s().unwrap(), counts);
            prop_assert_eq!(reader.i64s().unwrap(), ids);
            prop_assert_eq!(reader.ascending().unwrap(), ascending);
            prop_assert_eq!(reader.u8s().unwrap(), b"how");
            prop_assert!(reader.is_at_end());
            prop_assert_eq!(reader.checksum(), sum);
        }

        #[test]
        fn any_bytes_are_refused_or_read(bytes in proptest::collection::vec(any::<u8>(), 0..60)) {
            let _ = Reader::new(&bytes[..], bytes.len() as u64).u32s();
            let _ = Reader::new(&bytes[..], bytes.len() as u64).f32s();
            let _ = Reader::new(&bytes[..], bytes.len() as u64).i64s();
            let _ = Reader::new(&bytes[..], bytes.len() as u64).ascending();
        }

        #[test]
        fn a_changed_byte_changes_the_checksum(
            bytes in proptest::collection::vec(any::<u8>(), 1..200),
            place in any::<proptest::sample::Index>(),
            change in 1_u8..=255,
        ) {
            let before = checksum(&bytes);
            let mut changed = bytes;
            let place = place.index(changed.len());
            changed[place] ^= change;
            prop_assert_ne!(checksum(&changed), before);
        }
    }
}
