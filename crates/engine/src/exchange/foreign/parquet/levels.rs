//! Small numbers as runs and as packed bits.

/// `count` numbers of `width` bits.
pub(super) fn runs(bytes: &[u8], width: u32, count: usize) -> Result<Vec<u32>, String> {
    if width == 0 {
        return Ok(vec![0; count]);
    }
    if width > 32 {
        return Err("numbers of more than 32 bits".to_owned());
    }
    let mut out = Vec::new();
    let mut rest = bytes;
    while out.len() < count {
        let header = variable(&mut rest).ok_or("fewer numbers than it says")?;
        let missing = count - out.len();
        if header & 1 == 0 {
            let size = width.div_ceil(8) as usize;
            let (value, after) = rest
                .split_at_checked(size)
                .ok_or("a run without its number")?;
            let mut number = [0; 4];
            number[..size].copy_from_slice(value);
            rest = after;
            let length = usize::try_from(header >> 1)
                .unwrap_or(usize::MAX)
                .min(missing);
            out.resize(out.len() + length, u32::from_le_bytes(number));
        } else {
            let groups = usize::try_from(header >> 1).unwrap_or(usize::MAX);
            // The last group may be cut off at the end of the page.
            let size = groups.saturating_mul(width as usize).min(rest.len());
            let (packed, after) = rest.split_at(size);
            rest = after;
            let held = packed.len() * 8 / width as usize;
            if held == 0 {
                return Err("fewer numbers than it says".to_owned());
            }
            out.extend(
                (0..held.min(missing).min(groups.saturating_mul(8)))
                    .map(|at| bits(packed, at, width)),
            );
        }
    }
    Ok(out)
}

fn bits(packed: &[u8], at: usize, width: u32) -> u32 {
    let from = at * width as usize;
    let bit = |place: usize| u32::from(packed[place / 8] >> (place % 8) & 1);
    (0..width as usize).fold(0, |number, place| number | bit(from + place) << place)
}

/// Seven bits a byte, the lowest first.
pub(super) fn variable(rest: &mut &[u8]) -> Option<u64> {
    let mut value = 0;
    for place in 0..10 {
        let (&byte, after) = rest.split_first()?;
        *rest = after;
        value |= u64::from(byte & 0x7f) << (7 * place);
        if byte < 0x80 {
            return Some(value);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_and_packed_bits() {
        let check = |bytes: &[u8], width: u32, expected: &[u32]| {
            assert_eq!(runs(bytes, width, expected.len()).unwrap(), expected);
        };
        check(&[8, 1], 1, &[1, 1, 1, 1]);
        check(
            &[3, 0b1000_1000, 0b1100_0110, 0b1111_1010],
            3,
            &[0, 1, 2, 3, 4, 5, 6, 7],
        );
        check(&[], 0, &[0, 0]);
        assert!(runs(&[], 1, 1).is_err());
        assert!(runs(&[2], 9, 1).is_err());
        assert!(runs(&[0, 1, 0, 1], 1, 9).is_err());
    }
}
