//! Thrift's compact protocol, read into a tree.

use super::levels::variable;

/// Structs and lists inside one another at most.
const DEEPEST: usize = 16;

/// A value of Thrift.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Field {
    Bool(bool),
    Number(i64),
    Bytes(Vec<u8>),
    List(Vec<Self>),
    Struct(Vec<(i16, Self)>),
}

impl Field {
    pub(super) fn field(&self, number: i16) -> Option<&Self> {
        match self {
            Self::Struct(fields) => fields
                .iter()
                .find(|(id, _)| *id == number)
                .map(|(_, field)| field),
            _ => None,
        }
    }

    pub(super) fn number(&self, number: i16) -> Option<i64> {
        match self.field(number)? {
            Self::Number(value) => Some(*value),
            _ => None,
        }
    }

    pub(super) fn text(&self, number: i16) -> Option<String> {
        match self.field(number)? {
            Self::Bytes(bytes) => Some(String::from_utf8_lossy(bytes).into_owned()),
            _ => None,
        }
    }

    pub(super) fn list(&self, number: i16) -> &[Self] {
        match self.field(number) {
            Some(Self::List(items)) => items,
            _ => &[],
        }
    }
}

pub(super) struct Reader<'a> {
    whole: usize,
    rest: &'a [u8],
}

impl<'a> Reader<'a> {
    pub(super) const fn new(bytes: &'a [u8]) -> Self {
        Self {
            whole: bytes.len(),
            rest: bytes,
        }
    }

    pub(super) const fn rest(&self) -> &'a [u8] {
        self.rest
    }

    pub(super) const fn position(&self) -> usize {
        self.whole - self.rest.len()
    }

    pub(super) fn structure(&mut self, depth: usize) -> Result<Field, String> {
        if depth > DEEPEST {
            return Err("metadata too deep".to_owned());
        }
        let mut fields = Vec::new();
        let mut last: i16 = 0;
        loop {
            let head = self.byte()?;
            if head == 0 {
                return Ok(Field::Struct(fields));
            }
            last = match head >> 4 {
                0 => self.signed()? as i16,
                step => last.wrapping_add(i16::from(step)),
            };
            fields.push((last, self.value(head & 15, depth)?));
        }
    }

    fn value(&mut self, kind: u8, depth: usize) -> Result<Field, String> {
        Ok(match kind {
            1 => Field::Bool(true),
            2 => Field::Bool(false),
            3 => Field::Number(i64::from(self.byte()?)),
            4..=6 => Field::Number(self.signed()?),
            7 => Field::Bytes(self.bytes(8)?),
            8 => {
                let length = self.unsigned()?;
                Field::Bytes(self.bytes(length)?)
            }
            9 | 10 => {
                let head = self.byte()?;
                let length = match head >> 4 {
                    15 => self.unsigned()?,
                    length => usize::from(length),
                };
                let mut items = Vec::new();
                for _ in 0..length {
                    // A truth value of a list is a byte of its own.
                    items.push(match head & 15 {
                        1 | 2 => Field::Bool(self.byte()? == 1),
                        kind => self.value(kind, depth + 1)?,
                    });
                }
                Field::List(items)
            }
            12 => self.structure(depth + 1)?,
            other => return Err(format!("metadata of the unknown kind {other}")),
        })
    }

    fn byte(&mut self) -> Result<u8, String> {
        let (&byte, after) = self.rest.split_first().ok_or("metadata ends too soon")?;
        self.rest = after;
        Ok(byte)
    }

    fn bytes(&mut self, length: usize) -> Result<Vec<u8>, String> {
        let (bytes, after) = self
            .rest
            .split_at_checked(length)
            .ok_or("metadata ends too soon")?;
        self.rest = after;
        Ok(bytes.to_vec())
    }

    fn unsigned(&mut self) -> Result<usize, String> {
        variable(&mut self.rest)
            .and_then(|value| usize::try_from(value).ok())
            .ok_or_else(|| "metadata ends too soon".to_owned())
    }

    fn signed(&mut self) -> Result<i64, String> {
        let value = variable(&mut self.rest).ok_or("metadata ends too soon")?;
        Ok((value >> 1) as i64 ^ -((value & 1) as i64))
    }
}
