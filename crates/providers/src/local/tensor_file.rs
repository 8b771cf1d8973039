//! Tensors in a file, read when they are asked for.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use super::error::LoadError;

/// How the numbers of a tensor are stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Encoding {
    F32,
    F16,
    Bf16,
    /// Blocks of 32 numbers: a half-precision scale, then 16 bytes; byte `j` holds number `j` in its lower and
    /// number `j + 16` in its upper half, each plus 8 (ggml `Q4_0`).
    Q4,
}

/// Numbers in a block of [`Encoding::Q4`], and its bytes.
const BLOCK: usize = 32;
const BLOCK_BYTES: usize = 18;

impl Encoding {
    /// Bytes of so many numbers; `None` when they do not fill whole blocks.
    pub(super) fn bytes(self, numbers: usize) -> Option<usize> {
        match self {
            Self::F32 => numbers.checked_mul(4),
            Self::F16 | Self::Bf16 => numbers.checked_mul(2),
            Self::Q4 => numbers
                .is_multiple_of(BLOCK)
                .then(|| (numbers / BLOCK).checked_mul(BLOCK_BYTES))?,
        }
    }

    fn decode(self, bytes: &[u8], numbers: &mut Vec<f32>) {
        match self {
            Self::F32 => numbers.extend(
                bytes
                    .as_chunks::<4>()
                    .0
                    .iter()
                    .map(|&bytes| f32::from_le_bytes(bytes)),
            ),
            Self::F16 => numbers.extend(
                bytes
                    .as_chunks::<2>()
                    .0
                    .iter()
                    .map(|&bytes| half(u16::from_le_bytes(bytes))),
            ),
            Self::Bf16 => numbers.extend(
                bytes
                    .as_chunks::<2>()
                    .0
                    .iter()
                    .map(|&[low, high]| f32::from_le_bytes([0, 0, low, high])),
            ),
            Self::Q4 => {
                for block in bytes.as_chunks::<BLOCK_BYTES>().0 {
                    let scale = half(u16::from_le_bytes([block[0], block[1]]));
                    let number = |half: u8| (f32::from(half) - 8.0) * scale;
                    numbers.extend(block[2..].iter().map(|byte| number(byte & 15)));
                    numbers.extend(block[2..].iter().map(|byte| number(byte >> 4)));
                }
            }
        }
    }
}

/// Half precision (IEEE 754 binary16) to single.
fn half(bits: u16) -> f32 {
    let bits = u32::from(bits);
    let (sign, exponent, fraction) = ((bits & 0x8000) << 16, bits >> 10 & 31, bits & 1023);
    match exponent {
        0 => f32::from_bits(sign | 0x3f80_0000) * fraction as f32 / 16_777_216.0,
        31 => f32::from_bits(sign | 0x7f80_0000 | fraction << 13),
        _ => f32::from_bits(sign | (exponent + 112) << 23 | fraction << 13),
    }
}

/// Where a tensor lies.
#[derive(Debug, Clone, Copy)]
pub(super) struct Tensor {
    pub encoding: Encoding,
    pub numbers: usize,
    /// First byte in the file.
    pub offset: u64,
}

/// A file of named tensors.
#[derive(Debug)]
pub(super) struct TensorFile {
    path: PathBuf,
    file: Mutex<File>,
    tensors: BTreeMap<String, Tensor>,
}

impl TensorFile {
    /// `tensors` must lie within the file, which is checked.
    pub(super) fn new(
        path: &Path,
        file: File,
        tensors: BTreeMap<String, Tensor>,
    ) -> Result<Self, LoadError> {
        let length = file
            .metadata()
            .map_err(|error| LoadError::new(path, error.to_string()))?
            .len();
        for (name, tensor) in &tensors {
            let end = tensor
                .encoding
                .bytes(tensor.numbers)
                .and_then(|bytes| tensor.offset.checked_add(bytes as u64));
            if end.is_none_or(|end| end > length) {
                return Err(truncated(path, name));
            }
        }
        Ok(Self {
            path: path.to_owned(),
            file: Mutex::new(file),
            tensors,
        })
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    pub(super) fn holds(&self, name: &str) -> bool {
        self.tensors.contains_key(name)
    }

    /// All numbers of a tensor, which must be `expected` ones.
    pub(super) fn numbers(&self, name: &str, expected: usize) -> Result<Vec<f32>, LoadError> {
        let tensor = self.tensor(name)?;
        if tensor.numbers != expected {
            return Err(LoadError::new(
                &self.path,
                format!(
                    "`{name}` has {} numbers where the configuration asks for {expected}",
                    tensor.numbers
                ),
            ));
        }
        let bytes = tensor.encoding.bytes(expected).unwrap_or(0);
        let mut numbers = Vec::with_capacity(expected);
        let mut buffer = vec![0; bytes];
        self.read(tensor.offset, &mut buffer)
            .map_err(|_| truncated(&self.path, name))?;
        tensor.encoding.decode(&buffer, &mut numbers);
        Ok(numbers)
    }

    /// Rows of a table of `width` columns, one after the other. Only these are read: a vocabulary stays on disk.
    pub(super) fn rows(
        &self,
        name: &str,
        width: usize,
        rows: impl Iterator<Item = u32>,
    ) -> Result<Vec<f32>, LoadError> {
        let tensor = self.tensor(name)?;
        let row_bytes = tensor.encoding.bytes(width).ok_or_else(|| {
            LoadError::new(
                &self.path,
                format!("`{name}` has no rows of {width} numbers"),
            )
        })?;
        let mut buffer = vec![0; row_bytes];
        let mut numbers = Vec::with_capacity(width * rows.size_hint().0);
        for row in rows {
            if (row as usize + 1) * width > tensor.numbers {
                return Err(LoadError::new(
                    &self.path,
                    format!(
                        "`{name}` has no row {row}: tokenizer and weights do not belong together"
                    ),
                ));
            }
            self.read(
                tensor.offset + u64::from(row) * row_bytes as u64,
                &mut buffer,
            )
            .map_err(|_| truncated(&self.path, name))?;
            tensor.encoding.decode(&buffer, &mut numbers);
        }
        Ok(numbers)
    }

    fn tensor(&self, name: &str) -> Result<&Tensor, LoadError> {
        self.tensors
            .get(name)
            .ok_or_else(|| LoadError::new(&self.path, format!("there is no tensor `{name}`")))
    }

    fn read(&self, offset: u64, buffer: &mut [u8]) -> std::io::Result<()> {
        let mut file = self.file.lock().unwrap_or_else(PoisonError::into_inner);
        file.seek(SeekFrom::Start(offset))?;
        file.read_exact(buffer)
    }
}

pub(super) fn truncated(path: &Path, what: &str) -> LoadError {
    LoadError::new(
        path,
        format!("the file ends within `{what}`; get the model again (docs/models.md)"),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[expect(clippy::float_cmp, reason = "the conversion is exact")]
    fn half_precision_is_exact() {
        let check = |bits, expected: f32| assert_eq!(half(bits), expected, "{bits:x}");
        check(0x3c00, 1.0);
        check(0xc000, -2.0);
        check(0x0000, 0.0);
        check(0x3555, 0.333_251_95);
        check(0x0001, 5.960_464_5e-8);
        check(0x7bff, 65504.0);
        check(0x7c00, f32::INFINITY);
        assert!(half(0x7e00).is_nan());
    }

    #[test]
    fn blocks_of_four_bits_keep_their_order() {
        let mut block = vec![0x00, 0x40];
        block.extend((0..16).map(|n| n | (15 - n) << 4));
        let mut numbers = Vec::new();
        Encoding::Q4.decode(&block, &mut numbers);
        assert_eq!(numbers.len(), 32);
        assert_eq!(&numbers[..3], [-16.0, -14.0, -12.0]);
        assert_eq!(&numbers[16..19], [14.0, 12.0, 10.0]);
    }
}
