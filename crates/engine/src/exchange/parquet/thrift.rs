//! Structs in Thrift's compact protocol, as far as Parquet's metadata needs it.

/// A struct's fields in order, encoded as they are added; their numbers must grow.
#[derive(Debug, Default)]
pub(super) struct Struct {
    bytes: Vec<u8>,
    last: i16,
}

const INT: u8 = 5;
const LONG: u8 = 6;
const BINARY: u8 = 8;
const LIST: u8 = 9;
const STRUCT: u8 = 12;

impl Struct {
    pub(super) fn new() -> Self {
        Self::default()
    }

    pub(super) fn int(mut self, field: i16, value: i32) -> Self {
        self.header(field, INT);
        number(&mut self.bytes, i64::from(value));
        self
    }

    pub(super) fn long(mut self, field: i16, value: i64) -> Self {
        self.header(field, LONG);
        number(&mut self.bytes, value);
        self
    }

    pub(super) fn text(mut self, field: i16, value: &str) -> Self {
        self.header(field, BINARY);
        binary(&mut self.bytes, value);
        self
    }

    pub(super) fn inner(mut self, field: i16, value: Self) -> Self {
        self.header(field, STRUCT);
        self.bytes.extend(value.bytes());
        self
    }

    pub(super) fn ints(mut self, field: i16, values: &[i32]) -> Self {
        self.list(field, INT, values.len());
        for value in values {
            number(&mut self.bytes, i64::from(*value));
        }
        self
    }

    pub(super) fn texts(mut self, field: i16, values: &[&str]) -> Self {
        self.list(field, BINARY, values.len());
        for value in values {
            binary(&mut self.bytes, value);
        }
        self
    }

    pub(super) fn structs(mut self, field: i16, values: Vec<Self>) -> Self {
        self.list(field, STRUCT, values.len());
        for value in values {
            self.bytes.extend(value.bytes());
        }
        self
    }

    /// The encoded struct.
    pub(super) fn bytes(mut self) -> Vec<u8> {
        self.bytes.push(0);
        self.bytes
    }

    fn header(&mut self, field: i16, kind: u8) {
        let step = field - self.last;
        debug_assert!((1..=15).contains(&step), "fields are added in order");
        self.bytes.push((step as u8) << 4 | kind);
        self.last = field;
    }

    fn list(&mut self, field: i16, kind: u8, length: usize) {
        self.header(field, LIST);
        if length < 15 {
            self.bytes.push((length as u8) << 4 | kind);
        } else {
            self.bytes.push(0xf0 | kind);
            variable(&mut self.bytes, length as u64);
        }
    }
}

fn binary(bytes: &mut Vec<u8>, value: &str) {
    variable(bytes, value.len() as u64);
    bytes.extend(value.as_bytes());
}

/// Numbers near zero are short, whatever their sign.
fn number(bytes: &mut Vec<u8>, value: i64) {
    variable(bytes, ((value << 1) ^ (value >> 63)) as u64);
}

/// Seven bits a byte, the lowest first.
pub(super) fn variable(bytes: &mut Vec<u8>, mut value: u64) {
    while value >= 0x80 {
        bytes.push(value as u8 | 0x80);
        value >>= 7;
    }
    bytes.push(value as u8);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_are_written_as_the_protocol_says() {
        let inner = Struct::new().long(2, -1);
        let bytes = Struct::new()
            .int(1, 300)
            .text(4, "é")
            .inner(5, inner)
            .ints(6, &[0, 3]);
        assert_eq!(
            bytes.bytes(),
            [
                0x15, 0xd8, 0x04, 0x38, 2, 0xc3, 0xa9, 0x1c, 0x26, 0x01, 0, 0x19, 0x25, 0, 6, 0
            ]
        );
        let long = Struct::new().texts(1, &["a"; 20]).bytes();
        assert_eq!(long[..5], [0x19, 0xf8, 20, 1, b'a']);
    }
}
