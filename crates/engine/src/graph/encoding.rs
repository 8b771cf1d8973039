//! Little-endian numbers in byte strings. Lists take one, two or four bytes a number, as their greatest
//! number needs; every read is checked.

use super::index::RowId;

/// Bytes that do not hold what they should.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Malformed;

#[derive(Debug, Default)]
pub(super) struct Writer {
    pub(super) bytes: Vec<u8>,
}

impl Writer {
    pub(super) fn u64(&mut self, number: u64) {
        self.bytes.extend_from_slice(&number.to_le_bytes());
    }

    pub(super) fn i64(&mut self, number: i64) {
        self.bytes.extend_from_slice(&number.to_le_bytes());
    }

    pub(super) fn u32s(&mut self, list: &[u32]) {
        let greatest = list.iter().copied().max().unwrap_or(0);
        self.u64(list.len() as u64);
        self.bytes.reserve(list.len() * 4 + 1);
        if u8::try_from(greatest).is_ok() {
            self.bytes.push(1);
            self.bytes.extend(list.iter().map(|&number| number as u8));
        } else if u16::try_from(greatest).is_ok() {
            self.bytes.push(2);
            for &number in list {
                self.bytes.extend_from_slice(&(number as u16).to_le_bytes());
            }
        } else {
            self.bytes.push(4);
            for &number in list {
                self.bytes.extend_from_slice(&number.to_le_bytes());
            }
        }
    }

    /// Whole numbers below 256 take a byte each when all are such, as weights and counts mostly are.
    pub(super) fn f32s(&mut self, list: &[f32]) {
        let small = |&number: &f32| f32::from(number as u8).to_bits() == number.to_bits();
        if list.iter().all(small) {
            self.bytes.push(1);
            let numbers: Vec<u32> = list.iter().map(|&number| number as u32).collect();
            self.u32s(&numbers);
        } else {
            self.bytes.push(4);
            let bits: Vec<u32> = list.iter().map(|number| number.to_bits()).collect();
            self.u32s(&bits);
        }
    }

    /// As distances from the least, where they fit in 32 bits.
    pub(super) fn i64s(&mut self, list: &[i64]) {
        let least = list.iter().copied().min().unwrap_or(0);
        let greatest = list.iter().copied().max().unwrap_or(0);
        if u32::try_from(greatest.abs_diff(least)).is_ok() {
            self.bytes.push(4);
            self.i64(least);
            let distances: Vec<u32> = list.iter().map(|id| id.abs_diff(least) as u32).collect();
            self.u32s(&distances);
        } else {
            self.bytes.push(8);
            self.u64(list.len() as u64);
            for &number in list {
                self.i64(number);
            }
        }
    }

    pub(super) fn ids<T: RowId>(&mut self, list: impl Iterator<Item = T>) {
        let rows: Vec<i64> = list.map(RowId::row).collect();
        self.i64s(&rows);
    }

    /// Numbers in ascending order, as the steps between them.
    pub(super) fn ascending(&mut self, list: &[u32]) {
        let mut before = 0;
        let steps: Vec<u32> = list
            .iter()
            .map(|&number| number - std::mem::replace(&mut before, number))
            .collect();
        self.u32s(&steps);
    }
}

#[derive(Debug)]
pub(super) struct Reader<'a> {
    bytes: &'a [u8],
}

impl<'a> Reader<'a> {
    pub(super) fn new(bytes: &'a [u8]) -> Self {
        Self { bytes }
    }

    pub(super) fn is_at_end(&self) -> bool {
        self.bytes.is_empty()
    }

    pub(super) fn take(&mut self, count: usize) -> Result<&'a [u8], Malformed> {
        let (taken, rest) = self.bytes.split_at_checked(count).ok_or(Malformed)?;
        self.bytes = rest;
        Ok(taken)
    }

    fn array<const N: usize>(&mut self) -> Result<[u8; N], Malformed> {
        let taken = self.take(N)?;
        Ok(taken.try_into().expect("take gives as many bytes as asked"))
    }

    pub(super) fn u64(&mut self) -> Result<u64, Malformed> {
        self.array().map(u64::from_le_bytes)
    }

    pub(super) fn i64(&mut self) -> Result<i64, Malformed> {
        self.array().map(i64::from_le_bytes)
    }

    fn u8(&mut self) -> Result<u8, Malformed> {
        self.array().map(u8::from_le_bytes)
    }

    /// A list's length and its bytes, `width` each.
    fn list(&mut self, length: u64, width: usize) -> Result<&'a [u8], Malformed> {
        let length = usize::try_from(length).map_err(|_| Malformed)?;
        self.take(length.checked_mul(width).ok_or(Malformed)?)
    }

    pub(super) fn u32s(&mut self) -> Result<Vec<u32>, Malformed> {
        let length = self.u64()?;
        match self.u8()? {
            1 => Ok(self
                .list(length, 1)?
                .iter()
                .map(|&b| u32::from(b))
                .collect()),
            2 => {
                let bytes = self.list(length, 2)?.as_chunks().0;
                let number = |&pair: &[u8; 2]| u32::from(u16::from_le_bytes(pair));
                Ok(bytes.iter().map(number).collect())
            }
            4 => {
                let bytes = self.list(length, 4)?.as_chunks().0;
                Ok(bytes.iter().map(|&four| u32::from_le_bytes(four)).collect())
            }
            _ => Err(Malformed),
        }
    }

    /// A list of numbers below `bound`.
    pub(super) fn indices(&mut self, bound: usize) -> Result<Vec<u32>, Malformed> {
        let list = self.u32s()?;
        let greatest = list.iter().copied().max();
        if greatest.is_some_and(|greatest| greatest as usize >= bound) {
            return Err(Malformed);
        }
        Ok(list)
    }

    pub(super) fn f32s(&mut self) -> Result<Vec<f32>, Malformed> {
        match self.u8()? {
            1 => Ok(self
                .u32s()?
                .into_iter()
                .map(|number| number as f32)
                .collect()),
            4 => Ok(self.u32s()?.into_iter().map(f32::from_bits).collect()),
            _ => Err(Malformed),
        }
    }

    pub(super) fn i64s(&mut self) -> Result<Vec<i64>, Malformed> {
        match self.u8()? {
            4 => {
                let least = self.i64()?;
                let distances = self.u32s()?.into_iter();
                distances
                    .map(|distance| least.checked_add(i64::from(distance)).ok_or(Malformed))
                    .collect()
            }
            8 => {
                let length = self.u64()?;
                let bytes = self.list(length, 8)?.as_chunks().0;
                Ok(bytes
                    .iter()
                    .map(|&eight| i64::from_le_bytes(eight))
                    .collect())
            }
            _ => Err(Malformed),
        }
    }

    pub(super) fn ids<T: RowId>(&mut self) -> Result<Vec<T>, Malformed> {
        Ok(self.i64s()?.into_iter().map(T::from_row).collect())
    }

    /// What [`Writer::ascending`] wrote.
    pub(super) fn ascending(&mut self) -> Result<Vec<u32>, Malformed> {
        let mut steps = self.u32s()?;
        let mut sum = 0_u32;
        for step in &mut steps {
            sum = sum.checked_add(*step).ok_or(Malformed)?;
            *step = sum;
        }
        Ok(steps)
    }
}

/// Tells damaged bytes from sound ones: four lanes of xor, odd multiplication and rotation, each of which
/// can be undone, so a change of one word always shows. It is no defence against an attacker.
pub(super) fn checksum(bytes: &[u8]) -> u64 {
    const ODD: u64 = 0x9E37_79B9_7F4A_7C15;
    let mix = |lane: u64, word: u64| (lane ^ word).wrapping_mul(ODD).rotate_left(29);
    let mut lanes = [1_u64, 2, 3, 4];
    let (blocks, rest) = bytes.as_chunks::<32>();
    for block in blocks {
        for (lane, word) in lanes.iter_mut().zip(block.as_chunks::<8>().0) {
            *lane = mix(*lane, u64::from_le_bytes(*word));
        }
    }
    for &byte in rest {
        lanes[0] = mix(lanes[0], u64::from(byte));
    }
    let sum = lanes
        .iter()
        .fold(bytes.len() as u64, |sum, &lane| mix(sum, lane));
    sum ^ (sum >> 32)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::types::EntityId;

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
            let mut writer = Writer::default();
            writer.u32s(&wide);
            writer.u32s(&narrow);
            writer.f32s(&floats);
            writer.f32s(&counts);
            writer.ids(ids.iter().copied().map(EntityId));
            writer.ascending(&ascending);
            let mut reader = Reader::new(&writer.bytes);
            prop_assert_eq!(reader.u32s(), Ok(wide));
            prop_assert_eq!(reader.u32s(), Ok(narrow));
            prop_assert_eq!(reader.f32s(), Ok(floats));
            prop_assert_eq!(reader.f32s(), Ok(counts));
            prop_assert_eq!(reader.i64s(), Ok(ids));
            prop_assert_eq!(reader.ascending(), Ok(ascending));
            prop_assert!(reader.is_at_end());
        }

        #[test]
        fn any_bytes_are_refused_or_read(bytes in proptest::collection::vec(any::<u8>(), 0..60)) {
            let _ = Reader::new(&bytes).u32s();
            let _ = Reader::new(&bytes).f32s();
            let _ = Reader::new(&bytes).i64s();
            let _ = Reader::new(&bytes).ascending();
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
