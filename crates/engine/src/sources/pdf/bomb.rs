use std::io::{Read, copy, sink};

use flate2::read::ZlibDecoder;

/// Text, fonts and tables of one file together may not unfold to more. Bytes.
const MAX_UNPACKED: u64 = 512 * 1024 * 1024;

/// Refuses a file whose compressed streams unfold beyond the limit: the PDF reader unpacks them
/// into memory without one. Pictures are never unpacked, so they do not count.
pub(super) fn check(bytes: &[u8]) -> Result<(), String> {
    let mut budget = MAX_UNPACKED;
    for (start, dictionary) in streams(bytes) {
        // The first byte of zlib data says method and window.
        if bytes.get(start).is_none_or(|first| first & 0x0f != 8) || is_picture(dictionary) {
            continue;
        }
        let mut unpacked = ZlibDecoder::new(&bytes[start..]).take(budget + 1);
        let before = unpacked.limit();
        // Damage ends the stream; what it unfolded to until then counts.
        let _ = copy(&mut unpacked, &mut sink());
        let size = before - unpacked.limit();
        if size > budget {
            return Err(format!("unfolds to more than {MAX_UNPACKED} bytes"));
        }
        budget -= size;
    }
    Ok(())
}

/// Every place where stream data starts, and the bytes of its dictionary before it.
fn streams(bytes: &[u8]) -> impl Iterator<Item = (usize, &[u8])> {
    const WORD: &[u8] = b"stream";
    let mut at = 0;
    std::iter::from_fn(move || {
        loop {
            let found = at + find(&bytes[at..], WORD)?;
            at = found + WORD.len();
            let line_break = match bytes.get(at..) {
                Some([b'\r', b'\n', ..]) => 2,
                Some([b'\n' | b'\r', ..]) => 1,
                _ => continue,
            };
            if bytes[..found].ends_with(b"end") {
                continue;
            }
            let before = &bytes[found.saturating_sub(1024)..found];
            let dictionary = before
                .windows(3)
                .rposition(|word| word == b"obj")
                .map_or(before, |start| &before[start..]);
            return Some((at + line_break, dictionary));
        }
    })
}

fn is_picture(dictionary: &[u8]) -> bool {
    let without_blanks: Vec<u8> = dictionary
        .iter()
        .copied()
        .filter(|byte| !byte.is_ascii_whitespace())
        .collect();
    find(&without_blanks, b"/Subtype/Image").is_some()
}

/// Looks for the word's first byte, which is fast, then for the word.
fn find(bytes: &[u8], word: &[u8]) -> Option<usize> {
    let mut at = 0;
    while let Some(found) = bytes[at..].iter().position(|byte| *byte == word[0]) {
        at += found;
        if bytes[at..].starts_with(word) {
            return Some(at);
        }
        at += 1;
    }
    None
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use flate2::Compression;
    use flate2::write::ZlibEncoder;

    use super::*;

    fn zlib(size: u64) -> Vec<u8> {
        let mut encoder = ZlibEncoder::new(Vec::new(), Compression::fast());
        let zeros = vec![0; 1 << 20];
        for _ in 0..size >> 20 {
            encoder.write_all(&zeros).unwrap();
        }
        encoder.finish().unwrap()
    }

    fn object(dictionary: &str, data: &[u8]) -> Vec<u8> {
        let mut object = format!("1 0 obj << {dictionary} >>\nstream\r\n").into_bytes();
        object.extend(data);
        object.extend(b"\nendstream\nendobj\n");
        object
    }

    #[test]
    fn the_sum_counts_and_pictures_do_not() {
        let half = zlib(MAX_UNPACKED / 2);
        let mut file = object("/Length 1", &half);
        file.extend(object("/Subtype /Image", &half));
        file.extend(object("", &half));
        assert_eq!(check(&file), Ok(()));
        file.extend(object("", &zlib(1 << 20)));
        assert!(
            check(&file)
                .unwrap_err()
                .starts_with("unfolds to more than")
        );
    }

    #[test]
    fn other_data_is_no_bomb() {
        for file in [
            &b""[..],
            b"stream",
            b"stream\n",
            b"endstream\n\x78",
            b"stream\n\x78\x9c\xff",
        ] {
            assert_eq!(check(file), Ok(()));
        }
    }
}
