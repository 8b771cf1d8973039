//! Apache Parquet as data frames write it, read into rows: flat columns and lists, plain or dictionary encoding,
//! without compression or with snappy or gzip. Whatever a file says of itself is checked: none makes us panic or
//! take more memory than its pages can fill.

mod levels;
mod snappy;
mod thrift;

use std::io::Read;

use serde_json::{Map, Value};

use levels::runs;
use thrift::{Field, Reader};

/// Bytes of a page, unpacked.
const LARGEST_PAGE: usize = 1 << 28;
/// Values of a page.
const MOST_VALUES: usize = 1 << 26;

/// A leaf of the schema.
struct Leaf {
    /// Name of its outermost column.
    name: String,
    kind: i64,
    /// A list, or a single value; deeper columns are not read.
    is_list: bool,
    is_read: bool,
    /// Definition level of a value that is there, and of an element that is there, null or not.
    present: usize,
    element: usize,
    repetition: usize,
}

/// All rows of a file; columns of structs are left out.
pub(super) fn read(bytes: &[u8]) -> Result<Vec<Map<String, Value>>, String> {
    let end = bytes
        .len()
        .checked_sub(8)
        .filter(|_| bytes.ends_with(b"PAR1"))
        .ok_or("no end mark")?;
    let length = u32::from_le_bytes(bytes[end..end + 4].try_into().expect("four bytes")) as usize;
    let start = end
        .checked_sub(length)
        .ok_or("its metadata is longer than the file")?;
    let metadata = Reader::new(&bytes[start..end]).structure(0)?;
    let leaves = leaves(metadata.list(2))?;
    let mut rows: Vec<Map<String, Value>> = Vec::new();
    for group in metadata.list(4) {
        let from = rows.len();
        for (leaf, chunk) in leaves.iter().zip(group.list(1)) {
            if !leaf.is_read {
                continue;
            }
            let chunk = chunk.field(3).ok_or("a column without metadata")?;
            let values = column(bytes, leaf, chunk)
                .map_err(|reason| format!("column {}: {reason}", leaf.name))?;
            for (at, value) in values.into_iter().enumerate() {
                if rows.len() == from + at {
                    rows.push(Map::new());
                }
                rows[from + at].insert(leaf.name.clone(), value);
            }
        }
    }
    Ok(rows)
}

fn leaves(schema: &[Field]) -> Result<Vec<Leaf>, String> {
    let mut leaves = Vec::new();
    // Children still to come of each open group, with the levels inside it.
    let mut open: Vec<(i64, usize, usize, usize)> = Vec::new();
    let mut path: Vec<String> = Vec::new();
    for (at, element) in schema.iter().enumerate() {
        let children = element.number(5).unwrap_or(0);
        if at == 0 {
            open.push((children, 0, 0, 0));
            continue;
        }
        let (left, definition, repetition, repeated_at) =
            *open.last().ok_or("a schema with loose ends")?;
        open.last_mut().expect("looked at above").0 = left - 1;
        let kind = element.number(3).unwrap_or(0);
        let definition = definition + usize::from(kind != 0);
        let repetition = repetition + usize::from(kind == 2);
        let repeated_at = if kind == 2 { definition } else { repeated_at };
        path.push(element.text(4).unwrap_or_default());
        if children > 0 {
            open.push((children, definition, repetition, repeated_at));
        } else {
            leaves.push(Leaf {
                name: path[0].clone(),
                kind: element.number(1).unwrap_or(-1),
                is_list: repetition == 1,
                is_read: repetition <= 1 && path.len() <= if repetition == 1 { 3 } else { 1 },
                present: definition,
                element: repeated_at,
                repetition,
            });
            path.pop();
        }
        while open.len() > 1 && open.last().is_some_and(|group| group.0 == 0) {
            open.pop();
            path.pop();
        }
        if open.len() > 64 {
            return Err("a schema too deep".to_owned());
        }
    }
    Ok(leaves)
}

fn column(bytes: &[u8], leaf: &Leaf, chunk: &Field) -> Result<Vec<Value>, String> {
    let codec = chunk.number(4).unwrap_or(0);
    let total = chunk.number(5).unwrap_or(0).max(0) as usize;
    let first = chunk
        .number(11)
        .or_else(|| chunk.number(9))
        .ok_or("it has no place")?;
    let mut at = usize::try_from(first).map_err(|_| "it has no place")?;
    let mut dictionary: Vec<Value> = Vec::new();
    let mut rows = Vec::new();
    let mut seen = 0;
    while seen < total {
        let rest = bytes.get(at..).ok_or("it ends beyond the file")?;
        let mut reader = Reader::new(rest);
        let header = reader.structure(0)?;
        let size = header
            .number(3)
            .and_then(|size| usize::try_from(size).ok())
            .ok_or("a page without a size")?;
        let body = reader
            .rest()
            .get(..size)
            .ok_or("a page ends beyond the file")?;
        at += reader.position() + size;
        let unpacked = header.number(2).unwrap_or(0).max(0) as usize;
        match header.number(1) {
            Some(2) => {
                let count = values_of(header.field(7))?;
                let body = unpack(body, codec, unpacked)?;
                dictionary = plain(&body, leaf.kind, count)?;
            }
            Some(0) => {
                let page = header.field(5);
                let count = values_of(page)?;
                let body = unpack(body, codec, unpacked)?;
                let mut rest = body.as_slice();
                let repetition = prefixed(&mut rest, leaf.repetition, count)?;
                let definition = prefixed(&mut rest, leaf.present, count)?;
                let encoding = page.and_then(|page| page.number(2)).unwrap_or(0);
                assemble(
                    leaf,
                    &repetition,
                    &definition,
                    rest,
                    encoding,
                    &dictionary,
                    &mut rows,
                )?;
                seen += count;
            }
            Some(3) => {
                let page = header.field(8).ok_or("a page without a header")?;
                let count = values_of(Some(page))?;
                let length = |number| page.number(number).unwrap_or(0).max(0) as usize;
                let (definitions, repetitions) = (length(5), length(6));
                let levels = definitions
                    .checked_add(repetitions)
                    .filter(|&end| end <= body.len());
                let levels = levels.ok_or("levels longer than their page")?;
                let repetition = runs(&body[..repetitions], width(leaf.repetition), count)?;
                let definition = runs(&body[repetitions..levels], width(leaf.present), count)?;
                let is_packed = !matches!(page.field(7), Some(Field::Bool(false)));
                let packed = &body[levels..];
                let values = if is_packed {
                    unpack(packed, codec, unpacked.saturating_sub(levels))?
                } else {
                    packed.to_vec()
                };
                let encoding = page.number(4).unwrap_or(0);
                assemble(
                    leaf,
                    &repetition,
                    &definition,
                    &values,
                    encoding,
                    &dictionary,
                    &mut rows,
                )?;
                seen += count;
            }
            _ => {}
        }
    }
    Ok(rows)
}

fn values_of(page: Option<&Field>) -> Result<usize, String> {
    let count = page
        .and_then(|page| page.number(1))
        .ok_or("a page without values")?;
    usize::try_from(count)
        .ok()
        .filter(|&count| count <= MOST_VALUES)
        .ok_or_else(|| "too many values".to_owned())
}

/// Bits of a level.
fn width(highest: usize) -> u32 {
    usize::BITS - highest.leading_zeros()
}

/// Levels with their length before them; none where there is only one level.
fn prefixed(rest: &mut &[u8], highest: usize, count: usize) -> Result<Vec<u32>, String> {
    if highest == 0 {
        return Ok(vec![0; count]);
    }
    let (length, after) = rest
        .split_at_checked(4)
        .ok_or("a page without its levels")?;
    let length = u32::from_le_bytes(length.try_into().expect("four bytes")) as usize;
    let (levels, after) = after
        .split_at_checked(length)
        .ok_or("levels longer than their page")?;
    *rest = after;
    runs(levels, width(highest), count)
}

/// Puts the values of a page in their rows.
fn assemble(
    leaf: &Leaf,
    repetition: &[u32],
    definition: &[u32],
    values: &[u8],
    encoding: i64,
    dictionary: &[Value],
    rows: &mut Vec<Value>,
) -> Result<(), String> {
    let present = definition
        .iter()
        .filter(|&&level| level as usize == leaf.present)
        .count();
    let values = match encoding {
        0 => plain(values, leaf.kind, present)?,
        2 | 8 => {
            let (&bits, indexes) = values.split_first().ok_or("a page without its indexes")?;
            let indexes = runs(indexes, u32::from(bits), present)?;
            let value = |&index: &u32| {
                dictionary
                    .get(index as usize)
                    .cloned()
                    .ok_or("an index beyond the dictionary")
            };
            indexes.iter().map(value).collect::<Result<_, _>>()?
        }
        other => return Err(format!("its encoding {other} is not read")),
    };
    let mut values = values.into_iter();
    for (&repeats, &level) in repetition.iter().zip(definition) {
        let level = level as usize;
        let value = if level == leaf.present {
            values.next()
        } else {
            None
        };
        if !leaf.is_list {
            rows.push(value.unwrap_or(Value::Null));
            continue;
        }
        if repeats == 0 {
            rows.push(if level + 1 < leaf.element {
                Value::Null
            } else {
                Value::Array(Vec::new())
            });
        }
        if level >= leaf.element
            && let Some(Value::Array(items)) = rows.last_mut()
        {
            items.push(value.unwrap_or(Value::Null));
        }
    }
    Ok(())
}

/// Values one after the other.
fn plain(bytes: &[u8], kind: i64, count: usize) -> Result<Vec<Value>, String> {
    const SHORT: &str = "fewer values than it says";
    let fixed = |width: usize| bytes.chunks_exact(width).take(count);
    let values: Vec<Value> = match kind {
        0 => {
            let bit = |at: usize| Some(bytes.get(at / 8)? >> (at % 8) & 1 == 1);
            (0..count).map_while(bit).map(Value::Bool).collect()
        }
        1 => fixed(4)
            .map(|b| i32::from_le_bytes(b.try_into().expect("four bytes")).into())
            .collect(),
        2 => fixed(8)
            .map(|b| i64::from_le_bytes(b.try_into().expect("eight bytes")).into())
            .collect(),
        4 => fixed(4)
            .map(|b| f64::from(f32::from_le_bytes(b.try_into().expect("four bytes"))).into())
            .collect(),
        5 => fixed(8)
            .map(|b| f64::from_le_bytes(b.try_into().expect("eight bytes")).into())
            .collect(),
        6 => {
            let mut rest = bytes;
            let mut values = Vec::new();
            while values.len() < count {
                let (length, after) = rest.split_at_checked(4).ok_or(SHORT)?;
                let length = u32::from_le_bytes(length.try_into().expect("four bytes")) as usize;
                let (text, after) = after.split_at_checked(length).ok_or(SHORT)?;
                values.push(String::from_utf8_lossy(text).into_owned().into());
                rest = after;
            }
            values
        }
        other => return Err(format!("its type {other} is not read")),
    };
    if values.len() < count {
        return Err(SHORT.to_owned());
    }
    Ok(values)
}

fn unpack(bytes: &[u8], codec: i64, size: usize) -> Result<Vec<u8>, String> {
    if size > LARGEST_PAGE {
        return Err("a page of more than 256 MB".to_owned());
    }
    match codec {
        0 => Ok(bytes.to_vec()),
        1 => snappy::unpack(bytes, LARGEST_PAGE),
        2 => {
            let mut out = Vec::new();
            let mut decoder = flate2::read::MultiGzDecoder::new(bytes).take(LARGEST_PAGE as u64);
            decoder
                .read_to_end(&mut out)
                .map_err(|error| error.to_string())?;
            Ok(out)
        }
        other => Err(format!(
            "its compression {other} is not read; snappy, gzip and none are"
        )),
    }
}
