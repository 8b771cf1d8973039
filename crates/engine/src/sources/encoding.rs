//! Bytes of a text file become text, whatever encoding they are in.

use std::ops::RangeInclusive;

use chardetng::{EncodingDetector, Iso2022JpDetection, Utf8Detection};
use encoding_rs::{Encoding, UTF_8, UTF_16BE, UTF_16LE};

use crate::types::{TextOrigin, Warning};

const UTF_8_BOM: &[u8] = b"\xEF\xBB\xBF";

/// Guessing reads no more than this: enough for any statistics, little for a huge file.
const GUESS_LIMIT: usize = 256 * 1024;

/// Text of a file.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Decoded {
    /// With [`TextOrigin::File`] the file byte for byte (a byte order mark included);
    /// transcoded, and without the mark, with [`TextOrigin::Extracted`].
    pub(super) text: String,
    pub(super) origin: TextOrigin,
    pub(super) warnings: Vec<Warning>,
}

impl Decoded {
    /// The text without its byte order mark, for parts of archives.
    pub(super) fn without_mark(self) -> String {
        match self.text.strip_prefix('\u{feff}') {
            Some(text) => text.to_owned(),
            None => self.text,
        }
    }
}

/// Decodes UTF-8, UTF-16 (with or without a mark) and whatever older encoding the bytes look like.
///
/// # Errors
/// The reason why these bytes are no text.
pub(super) fn decode(bytes: &[u8]) -> Result<Decoded, String> {
    decode_as(bytes, None)
}

/// Like [`decode`], but takes the file's word for its encoding where it is not evidently wrong.
pub(super) fn decode_as(
    bytes: &[u8],
    declared: Option<&'static Encoding>,
) -> Result<Decoded, String> {
    if let Some((encoding, mark)) = Encoding::for_bom(bytes)
        && encoding != UTF_8
    {
        return transcode(&bytes[mark..], encoding, Vec::new());
    }
    if let Ok(text) = std::str::from_utf8(bytes)
        && !text.contains('\0')
    {
        return Ok(Decoded {
            text: text.to_owned(),
            origin: TextOrigin::File,
            warnings: Vec::new(),
        });
    }
    if bytes.contains(&0) {
        return match unmarked_utf16(bytes) {
            Some(encoding) => transcode(bytes, encoding, vec![guessed(encoding)]),
            None => Err("binary data, not text (it contains NUL bytes)".to_owned()),
        };
    }
    if controls(bytes) * 20 > bytes.len() {
        return Err("binary data, not text (it is full of control characters)".to_owned());
    }
    if bytes.starts_with(UTF_8_BOM) || is_nearly_utf8(bytes) {
        return transcode(bytes, UTF_8, Vec::new());
    }
    if let Some(encoding) = declared {
        return transcode(bytes, encoding, Vec::new());
    }
    let mut detector = EncodingDetector::new(Iso2022JpDetection::Deny);
    let sample = &bytes[..bytes.len().min(GUESS_LIMIT)];
    detector.feed(sample, sample.len() == bytes.len());
    let encoding = detector.guess(None, Utf8Detection::Deny);
    transcode(bytes, encoding, vec![guessed(encoding)])
}

fn guessed(encoding: &'static Encoding) -> Warning {
    Warning {
        line: 0,
        message: format!("not UTF-8; read as {}", encoding.name()),
    }
}

fn transcode(
    bytes: &[u8],
    encoding: &'static Encoding,
    mut warnings: Vec<Warning>,
) -> Result<Decoded, String> {
    let (text, lossy) = encoding.decode_without_bom_handling(bytes);
    let text = text.strip_prefix('\u{feff}').unwrap_or(&text).to_owned();
    if text.contains('\0') {
        return Err("binary data, not text (it contains NUL characters)".to_owned());
    }
    if lossy {
        let first = text.find('\u{fffd}').unwrap_or(0);
        warnings.push(Warning {
            line: 1 + text[..first].matches('\n').count(),
            message: format!(
                "some bytes are not valid {}; they are shown as \u{fffd}",
                encoding.name()
            ),
        });
    }
    Ok(Decoded {
        text,
        origin: TextOrigin::Extracted,
        warnings,
    })
}

/// Control characters that no text file has (tab, line breaks, form feed and escape are fine).
fn controls(bytes: &[u8]) -> usize {
    let is_odd = |byte: &&u8| matches!(byte, 0..=8 | 14..=26 | 28..=31 | 127);
    bytes.iter().filter(is_odd).count()
}

/// UTF-8 with a few broken bytes (cut at the end, or pasted from elsewhere): most of what is not
/// ASCII must be well formed.
pub(super) fn is_nearly_utf8(bytes: &[u8]) -> bool {
    let (mut good, mut bad) = (0, 0);
    for part in bytes.utf8_chunks() {
        good += part
            .valid()
            .chars()
            .filter(|character| !character.is_ascii())
            .count();
        bad += usize::from(!part.invalid().is_empty());
    }
    bad == 0 || good > 4 * bad
}

/// UTF-16 without a mark: decodes cleanly, and to text. Of the two byte orders the one with more
/// ASCII in it, since line breaks and blanks are ASCII in every language.
fn unmarked_utf16(bytes: &[u8]) -> Option<&'static Encoding> {
    // Text of one byte a character with a stray NUL: in UTF-16 either every other byte is NUL, or
    // at most some two thirds of the bytes look like ASCII by chance.
    let count =
        |range: RangeInclusive<u8>| bytes.iter().filter(|byte| range.contains(byte)).count();
    let nuls = count(0..=0);
    let ascii = count(b' '..=b'~');
    let is_single_bytes = nuls * 4 < bytes.len() && ascii * 4 > bytes.len() * 3;
    if !bytes.len().is_multiple_of(2) || is_single_bytes {
        return None;
    }
    let ascii = |encoding: &'static Encoding| {
        let text = encoding.decode_without_bom_handling_and_without_replacement(bytes)?;
        let is_text = |character: char| match character {
            '\t' | '\n' | '\r' | '\u{c}' => true,
            _ => {
                !character.is_control()
                    && !matches!(character, '\u{e000}'..='\u{f8ff}' | '\u{fffe}'..='\u{ffff}')
            }
        };
        text.chars()
            .all(is_text)
            .then(|| text.chars().filter(char::is_ascii).count())
    };
    [UTF_16LE, UTF_16BE]
        .into_iter()
        .filter_map(|encoding| Some((ascii(encoding)?, encoding)))
        .max_by_key(|(count, _)| *count)
        .filter(|(count, _)| *count > 0)
        .map(|(_, encoding)| encoding)
}

#[cfg(test)]
mod tests {
    use encoding_rs::{BIG5, GB18030, SHIFT_JIS, WINDOWS_1252};

    use super::*;

    fn utf16(text: &str, bytes_of: fn(u16) -> [u8; 2]) -> Vec<u8> {
        text.encode_utf16().flat_map(bytes_of).collect()
    }

    #[test]
    fn the_file_itself_is_kept_byte_for_byte() {
        let check = |bytes: &[u8]| {
            let decoded = decode(bytes).unwrap();
            assert_eq!(decoded.text.as_bytes(), bytes);
            assert_eq!(
                (decoded.origin, decoded.warnings),
                (TextOrigin::File, vec![])
            );
        };
        check(b"");
        check(b"plain\r\ntext");
        check("ação 中文".as_bytes());
        check("\u{feff}ação".as_bytes());
        check("a\u{1}b\u{1b}[31m\u{c}c".as_bytes());
    }

    #[test]
    fn other_encodings_are_transcoded() {
        let check = |bytes: &[u8], expected: &str, warnings: &[&str]| {
            let decoded = decode(bytes).unwrap();
            let messages: Vec<_> = decoded
                .warnings
                .iter()
                .map(|w| w.message.as_str())
                .collect();
            assert_eq!(decoded.text, expected);
            assert_eq!(decoded.origin, TextOrigin::Extracted);
            assert_eq!(messages, warnings, "{expected}");
        };
        let text = "Título: ação e coração\nsegunda linha, João e Conceição\n";
        check(
            &utf16(&format!("\u{feff}{text}"), u16::to_le_bytes),
            text,
            &[],
        );
        check(
            &utf16(&format!("\u{feff}{text}"), u16::to_be_bytes),
            text,
            &[],
        );
        check(
            &utf16(text, u16::to_le_bytes),
            text,
            &["not UTF-8; read as UTF-16LE"],
        );
        check(
            &utf16(text, u16::to_be_bytes),
            text,
            &["not UTF-8; read as UTF-16BE"],
        );
        let chinese = "今天玩成语接龙游戏\n知识图谱与检索增强生成的结合越来越受到关注。\n";
        check(
            &utf16(chinese, u16::to_be_bytes),
            chinese,
            &["not UTF-8; read as UTF-16BE"],
        );
        check(
            &WINDOWS_1252.encode(text).0,
            text,
            &["not UTF-8; read as windows-1252"],
        );
        check(
            &GB18030.encode(chinese).0,
            chinese,
            &["not UTF-8; read as GBK"],
        );
        let taiwan = "知識圖譜與檢索增強生成的結合越來越受到關注，資料庫裡的文件很多。\n";
        check(&BIG5.encode(taiwan).0, taiwan, &["not UTF-8; read as Big5"]);
        let japanese = "今日は成語しりとりをした。ナレッジグラフの記事を書きました。\n";
        check(
            &SHIFT_JIS.encode(japanese).0,
            japanese,
            &["not UTF-8; read as Shift_JIS"],
        );
    }

    #[test]
    fn a_few_broken_bytes_do_not_change_the_encoding() {
        let mut bytes = "ação\ncoração, não\nmaçã e João".as_bytes().to_vec();
        bytes.extend(b"\nfim \xC3");
        let decoded = decode(&bytes).unwrap();
        assert!(decoded.text.ends_with("\nfim \u{fffd}"));
        assert_eq!(decoded.origin, TextOrigin::Extracted);
        assert_eq!(decoded.warnings[0].line, 4);
        assert!(decoded.warnings[0].message.contains("not valid UTF-8"));
    }

    #[test]
    fn binary_data_is_refused() {
        let check = |bytes: &[u8]| {
            let error = decode(bytes).unwrap_err();
            assert!(error.starts_with("binary data"), "{error}");
        };
        check(b"\x00");
        check(b"text\x00text, odd");
        check(b"\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR\x00\x00");
        check(b"PK\x03\x04\x14\x00\x08\x00\x08\x00\x9a\xff");
        check(b"\xff\xfe\x00\x00\x41\x00\x00\x00");
        check(b"\x01\x02\xff\x03\x04\xfe\x05\x06");
    }
}
