//! The values of one column of a row group, and the page they become.

use std::io::Write;

use flate2::Compression;
use flate2::write::GzEncoder;

use super::thrift::{Struct, variable};
use crate::storage::graph_table::{Cell, ColumnKind};

/// Number of the compression in Parquet's metadata.
pub(super) const GZIP: i32 = 2;

pub(super) struct ColumnBuffer {
    kind: ColumnKind,
    /// How deep each value is defined: 0 for none, the maximum for one that is there.
    definition: Levels,
    /// 1 for a further element of the same list.
    repetition: Levels,
    values: Vec<u8>,
    /// Truth values, packed into the last byte of `values`.
    bits: usize,
}

pub(super) struct Page {
    pub(super) bytes: Vec<u8>,
    /// Size of header and content before compression.
    pub(super) uncompressed: usize,
    pub(super) values: usize,
}

impl ColumnBuffer {
    pub(super) fn new(kind: ColumnKind) -> Self {
        Self {
            kind,
            definition: Levels::default(),
            repetition: Levels::default(),
            values: Vec::new(),
            bits: 0,
        }
    }

    pub(super) fn bytes(&self) -> usize {
        self.values.len() + self.definition.bytes.len() + self.repetition.bytes.len()
    }

    /// A cell of another kind than the column's counts as none.
    pub(super) fn push(&mut self, cell: &Cell) {
        match (self.kind, cell) {
            (ColumnKind::Texts, Cell::Texts(texts)) if texts.is_empty() => self.level(1, 0),
            (ColumnKind::Texts, Cell::Texts(texts)) => {
                for (index, text) in texts.iter().enumerate() {
                    self.level(2, u8::from(index > 0));
                    self.binary(text);
                }
            }
            (ColumnKind::Floats, Cell::Floats(numbers)) if numbers.is_empty() => self.level(1, 0),
            (ColumnKind::Floats, Cell::Floats(numbers)) => {
                for (index, number) in numbers.iter().enumerate() {
                    self.level(2, u8::from(index > 0));
                    self.values.extend(number.to_le_bytes());
                }
            }
            (ColumnKind::Text, Cell::Text(text)) | (ColumnKind::Json, Cell::Json(text)) => {
                self.level(1, 0);
                self.binary(text);
            }
            (ColumnKind::Integer, Cell::Integer(number))
            | (ColumnKind::Time, Cell::Time(number)) => {
                self.level(1, 0);
                self.values.extend(number.to_le_bytes());
            }
            (ColumnKind::Real, Cell::Real(number)) => {
                self.level(1, 0);
                self.values.extend(number.to_le_bytes());
            }
            (ColumnKind::Boolean, Cell::Boolean(truth)) => {
                self.level(1, 0);
                if self.bits.is_multiple_of(8) {
                    self.values.push(0);
                }
                let last = self.values.last_mut().expect("it was pushed");
                *last |= u8::from(*truth) << (self.bits % 8);
                self.bits += 1;
            }
            _ => self.level(0, 0),
        }
    }

    fn is_list(&self) -> bool {
        matches!(self.kind, ColumnKind::Texts | ColumnKind::Floats)
    }

    fn level(&mut self, definition: u8, repetition: u8) {
        self.definition.push(definition);
        if self.is_list() {
            self.repetition.push(repetition);
        }
    }

    fn binary(&mut self, text: &str) {
        self.values.extend((text.len() as u32).to_le_bytes());
        self.values.extend(text.as_bytes());
    }

    /// Everything pushed so far as one page; the buffer is empty afterwards.
    pub(super) fn take_page(&mut self) -> Page {
        let full = std::mem::replace(self, Self::new(self.kind));
        let values = full.definition.count;
        let mut content = Vec::with_capacity(full.bytes() + 16);
        if self.is_list() {
            full.repetition.finish(&mut content);
        }
        full.definition.finish(&mut content);
        content.extend(full.values);
        let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
        let packed = encoder.write_all(&content).and_then(|()| encoder.finish());
        let packed = packed.expect("memory takes every byte");
        let data = Struct::new()
            .int(1, values as i32)
            .int(2, 0)
            .int(3, 3)
            .int(4, 3);
        let mut bytes = Struct::new()
            .int(1, 0)
            .int(2, content.len() as i32)
            .int(3, packed.len() as i32)
            .inner(5, data)
            .bytes();
        let uncompressed = bytes.len() + content.len();
        bytes.extend(packed);
        Page {
            bytes,
            uncompressed,
            values,
        }
    }
}

/// Small numbers as runs of equal ones.
#[derive(Default)]
struct Levels {
    bytes: Vec<u8>,
    last: u8,
    run: u64,
    count: usize,
}

impl Levels {
    fn push(&mut self, level: u8) {
        if self.run > 0 && self.last != level {
            self.end_run();
        }
        self.last = level;
        self.run += 1;
        self.count += 1;
    }

    fn end_run(&mut self) {
        variable(&mut self.bytes, self.run << 1);
        self.bytes.push(self.last);
        self.run = 0;
    }

    fn finish(mut self, out: &mut Vec<u8>) {
        if self.run > 0 {
            self.end_run();
        }
        out.extend((self.bytes.len() as u32).to_le_bytes());
        out.extend(self.bytes);
    }
}
