//! The Snappy format: literals, and copies of what came before.

use super::levels::variable;

/// The unpacked bytes, at most `limit` of them.
pub(super) fn unpack(bytes: &[u8], limit: usize) -> Result<Vec<u8>, String> {
    const SHORT: &str = "compressed data ends too soon";
    let mut rest = bytes;
    let size = variable(&mut rest).ok_or(SHORT)? as usize;
    if size > limit {
        return Err("a page too large".to_owned());
    }
    let mut out: Vec<u8> = Vec::new();
    let number = |rest: &mut &[u8], bytes: usize| -> Result<usize, String> {
        let (number, after) = rest.split_at_checked(bytes).ok_or(SHORT)?;
        *rest = after;
        Ok(number
            .iter()
            .rev()
            .fold(0, |whole, &byte| whole << 8 | usize::from(byte)))
    };
    while let Some((&tag, after)) = rest.split_first() {
        rest = after;
        let (length, offset) = match tag & 3 {
            0 => {
                let short = usize::from(tag >> 2);
                let length = if short < 60 {
                    short
                } else {
                    number(&mut rest, short - 59)?
                };
                let (literal, after) = rest
                    .split_at_checked(length.saturating_add(1))
                    .ok_or(SHORT)?;
                out.extend(literal);
                rest = after;
                (0, 1)
            }
            1 => {
                let low = number(&mut rest, 1)?;
                (
                    4 + usize::from(tag >> 2 & 7),
                    usize::from(tag >> 5) << 8 | low,
                )
            }
            2 => (1 + usize::from(tag >> 2), number(&mut rest, 2)?),
            _ => (1 + usize::from(tag >> 2), number(&mut rest, 4)?),
        };
        if length > 0 {
            let from = out.len().checked_sub(offset).filter(|_| offset > 0);
            let from = from.ok_or("a copy of what was never there")?;
            // A copy may overlap what it makes.
            for at in from..from + length {
                out.push(out[at]);
            }
        }
        if out.len() > size {
            return Err("more data than it says".to_owned());
        }
    }
    if out.len() < size {
        return Err(SHORT.to_owned());
    }
    Ok(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn literals_and_copies() {
        let check = |bytes: &[u8], expected: &str| {
            assert_eq!(unpack(bytes, 100).unwrap(), expected.as_bytes());
        };
        check(&[3, 8, b'a', b'b', b'c'], "abc");
        // "ab", then six bytes from two back.
        check(&[8, 4, b'a', b'b', 0b0000_1001, 2], "abababab");
        check(&[5, 0, b'x', 0b0000_1111, 1, 0, 0, 0], "xxxxx");
        for broken in [
            &[9, 8, b'a'][..],
            &[4, 0b0000_0001, 9],
            &[200, 1],
            &[],
            &[1, 4, b'a', b'b'],
        ] {
            assert!(unpack(broken, 100).is_err(), "{broken:?}");
        }
    }
}
