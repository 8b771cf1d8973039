//! The safetensors format: a length, a JSON header, the numbers.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::Read;
use std::path::Path;

use serde::Deserialize;

use super::error::LoadError;
use super::tensor_file::{Encoding, Tensor, TensorFile, truncated};

/// Longer headers are not read: no model has one.
const MAX_HEADER: u64 = 100 << 20;

#[derive(Deserialize)]
struct Entry {
    dtype: String,
    shape: Vec<usize>,
    data_offsets: [u64; 2],
}

/// Opens a file; tensors of other types than floating point are left out.
pub(super) fn open(path: &Path) -> Result<TensorFile, LoadError> {
    let io = |error: std::io::Error| LoadError::new(path, error.to_string());
    let mut file = File::open(path).map_err(io)?;
    let mut length = [0; 8];
    file.read_exact(&mut length)
        .map_err(|_| truncated(path, "header"))?;
    let length = u64::from_le_bytes(length);
    if length > MAX_HEADER {
        return Err(LoadError::new(path, "this is no safetensors file"));
    }
    let mut header = vec![0; length as usize];
    file.read_exact(&mut header)
        .map_err(|_| truncated(path, "header"))?;
    let entries: BTreeMap<String, serde_json::Value> = serde_json::from_slice(&header)
        .map_err(|error| LoadError::new(path, format!("its header is no JSON: {error}")))?;
    let mut tensors = BTreeMap::new();
    for (name, entry) in entries {
        if name == "__metadata__" {
            continue;
        }
        let entry: Entry = serde_json::from_value(entry)
            .map_err(|error| LoadError::new(path, format!("tensor `{name}`: {error}")))?;
        let encoding = match entry.dtype.as_str() {
            "F32" => Encoding::F32,
            "F16" => Encoding::F16,
            "BF16" => Encoding::Bf16,
            _ => continue,
        };
        let numbers = entry
            .shape
            .iter()
            .try_fold(1_usize, |product, &side| product.checked_mul(side));
        let size = entry.data_offsets[1].checked_sub(entry.data_offsets[0]);
        match numbers {
            Some(numbers) if encoding.bytes(numbers).map(|bytes| bytes as u64) == size => {
                let offset = 8 + length + entry.data_offsets[0];
                tensors.insert(
                    name,
                    Tensor {
                        encoding,
                        numbers,
                        offset,
                    },
                );
            }
            _ => {
                return Err(LoadError::new(
                    path,
                    format!("tensor `{name}`: its shape and its size do not agree"),
                ));
            }
        }
    }
    TensorFile::new(path, file, tensors)
}
