//! A ZIP archive in memory, read with limits: DOCX and EPUB files are ZIP archives.

use std::collections::BTreeMap;
use std::io::Read;

use flate2::Crc;
use flate2::read::DeflateDecoder;

/// All parts of an archive together may not unfold to more. Bytes.
const MAX_UNPACKED: u64 = 256 * 1024 * 1024;
/// The end record is at most this far from the end: itself and the longest comment.
const END_RECORD_REACH: usize = 22 + 0xffff;

/// An opened archive.
#[derive(Debug)]
pub(super) struct ZipArchive<'a> {
    bytes: &'a [u8],
    entries: BTreeMap<String, Entry>,
    /// Bytes that may still be unpacked.
    budget: u64,
}

#[derive(Debug, Clone, Copy)]
struct Entry {
    is_encrypted: bool,
    method: u16,
    crc: u32,
    compressed: usize,
    offset: usize,
}

impl<'a> ZipArchive<'a> {
    /// Reads the list of parts.
    ///
    /// # Errors
    /// The reason why these bytes are no usable archive.
    pub(super) fn open(bytes: &'a [u8]) -> Result<Self, String> {
        let archive = Self::list(bytes).ok_or_else(|| {
            let what = if bytes.starts_with(b"\xd0\xcf\x11\xe0") {
                "it is an older or password-protected Office file"
            } else if bytes.starts_with(b"PK") {
                "the ZIP archive is cut off or damaged"
            } else {
                "it is not a ZIP archive"
            };
            what.to_owned()
        })?;
        Ok(archive)
    }

    fn list(bytes: &'a [u8]) -> Option<Self> {
        let reach = bytes.len().saturating_sub(END_RECORD_REACH);
        let end = reach
            + bytes[reach..]
                .windows(4)
                .rposition(|mark| mark == b"PK\x05\x06")?;
        let count = u16_at(bytes, end + 10)?;
        let size = u32_at(bytes, end + 12)? as usize;
        let offset = u32_at(bytes, end + 16)? as usize;
        let mut at = end.checked_sub(size)?;
        // Offsets are off by whatever was put before the archive.
        let shift = at.checked_sub(offset)?;
        let mut entries = BTreeMap::new();
        for _ in 0..count {
            if bytes.get(at..at + 4)? != b"PK\x01\x02" {
                return None;
            }
            let name_length = u16_at(bytes, at + 28)? as usize;
            let extra = u16_at(bytes, at + 30)? as usize + u16_at(bytes, at + 32)? as usize;
            let name = String::from_utf8_lossy(bytes.get(at + 46..at + 46 + name_length)?);
            let entry = Entry {
                is_encrypted: u16_at(bytes, at + 8)? & 1 == 1,
                method: u16_at(bytes, at + 10)?,
                crc: u32_at(bytes, at + 16)?,
                compressed: u32_at(bytes, at + 20)? as usize,
                offset: (u32_at(bytes, at + 42)? as usize).checked_add(shift)?,
            };
            entries.insert(name.replace('\\', "/"), entry);
            at += 46 + name_length + extra;
        }
        Some(Self {
            bytes,
            entries,
            budget: MAX_UNPACKED,
        })
    }

    /// Names of all parts, in order.
    pub(super) fn names(&self) -> impl Iterator<Item = &str> {
        self.entries.keys().map(String::as_str)
    }

    /// Unpacks one part; `None` when the archive has no such part.
    ///
    /// # Errors
    /// The reason why the part cannot be read.
    pub(super) fn read(&mut self, name: &str) -> Option<Result<Vec<u8>, String>> {
        let entry = *self.entries.get(name)?;
        let found = self
            .unpack(entry)
            .map_err(|reason| format!("{name}: {reason}"));
        if let Ok(content) = &found {
            self.budget -= content.len() as u64;
        }
        Some(found)
    }

    fn unpack(&self, entry: Entry) -> Result<Vec<u8>, String> {
        if entry.is_encrypted {
            return Err("protected by a password".to_owned());
        }
        let packed = self.packed(entry).ok_or("cut off")?;
        // One byte more than allowed tells a full budget from an exceeded one.
        let limit = self.budget + 1;
        let mut content = Vec::new();
        let read = match entry.method {
            0 => packed.take(limit).read_to_end(&mut content),
            8 => DeflateDecoder::new(packed)
                .take(limit)
                .read_to_end(&mut content),
            method => return Err(format!("packed by an unusual method (number {method})")),
        };
        read.map_err(|error| format!("damaged ({error})"))?;
        if content.len() as u64 > self.budget {
            return Err(format!("unfolds to more than {MAX_UNPACKED} bytes"));
        }
        let mut crc = Crc::new();
        crc.update(&content);
        if crc.sum() != entry.crc {
            return Err("damaged (its checksum is wrong)".to_owned());
        }
        Ok(content)
    }

    fn packed(&self, entry: Entry) -> Option<&'a [u8]> {
        let at = entry.offset;
        let name = u16_at(self.bytes, at.checked_add(26)?)? as usize;
        let extra = u16_at(self.bytes, at + 28)? as usize;
        let start = at + 30 + name + extra;
        self.bytes.get(start..start.checked_add(entry.compressed)?)
    }
}

fn u16_at(bytes: &[u8], at: usize) -> Option<u16> {
    Some(u16::from_le_bytes(
        bytes.get(at..at.checked_add(2)?)?.try_into().ok()?,
    ))
}

fn u32_at(bytes: &[u8], at: usize) -> Option<u32> {
    Some(u32::from_le_bytes(
        bytes.get(at..at.checked_add(4)?)?.try_into().ok()?,
    ))
}

/// Writes archives for tests.
#[cfg(test)]
pub(super) mod writing {
    use std::io::Write;

    use flate2::Compression;
    use flate2::write::DeflateEncoder;

    use super::Crc;

    /// Packs parts; every second one is stored as it is, so that both methods are met.
    pub(in super::super) fn zip(parts: &[(&str, &[u8])]) -> Vec<u8> {
        let (mut archive, mut list) = (Vec::new(), Vec::new());
        for (at, (name, content)) in parts.iter().enumerate() {
            let mut crc = Crc::new();
            crc.update(content);
            let packed = if at % 2 == 0 {
                let mut encoder = DeflateEncoder::new(Vec::new(), Compression::default());
                encoder.write_all(content).unwrap();
                encoder.finish().unwrap()
            } else {
                content.to_vec()
            };
            let mut common = Vec::new();
            common.extend(20_u16.to_le_bytes());
            common.extend(0_u16.to_le_bytes());
            common.extend((if at % 2 == 0 { 8_u16 } else { 0 }).to_le_bytes());
            common.extend([0; 4]);
            common.extend(crc.sum().to_le_bytes());
            common.extend((packed.len() as u32).to_le_bytes());
            common.extend((content.len() as u32).to_le_bytes());
            common.extend((name.len() as u16).to_le_bytes());
            common.extend(0_u16.to_le_bytes());
            let offset = archive.len() as u32;
            archive.extend(b"PK\x03\x04");
            archive.extend(&common);
            archive.extend(name.as_bytes());
            archive.extend(packed);
            list.extend(b"PK\x01\x02\x14\x00");
            list.extend(&common);
            list.extend([0; 10]);
            list.extend(offset.to_le_bytes());
            list.extend(name.as_bytes());
        }
        let offset = archive.len() as u32;
        archive.extend(&list);
        archive.extend(b"PK\x05\x06\x00\x00\x00\x00");
        archive.extend((parts.len() as u16).to_le_bytes());
        archive.extend((parts.len() as u16).to_le_bytes());
        archive.extend((list.len() as u32).to_le_bytes());
        archive.extend(offset.to_le_bytes());
        archive.extend(0_u16.to_le_bytes());
        archive
    }
}

#[cfg(test)]
mod tests {
    use super::writing::zip;
    use super::*;

    #[test]
    fn parts_are_read() {
        let bytes = zip(&[("a/x.txt", b"hello"), ("b", b"stored"), ("empty", b"")]);
        let mut archive = ZipArchive::open(&bytes).unwrap();
        assert_eq!(archive.read("a/x.txt").unwrap().unwrap(), b"hello");
        assert_eq!(archive.read("b").unwrap().unwrap(), b"stored");
        assert_eq!(archive.read("empty").unwrap().unwrap(), b"");
        assert!(archive.read("absent").is_none());
        let mut shifted = b"junk before".to_vec();
        shifted.extend(bytes);
        let mut archive = ZipArchive::open(&shifted).unwrap();
        assert_eq!(archive.read("b").unwrap().unwrap(), b"stored");
    }

    #[test]
    fn damage_is_named() {
        let bytes = zip(&[("a", b"hello hello hello"), ("b", b"stored")]);
        let check = |bytes: &[u8], expected: &str| {
            let found = match ZipArchive::open(bytes) {
                Ok(mut archive) => archive.read("b").unwrap().unwrap_err(),
                Err(reason) => reason,
            };
            assert_eq!(found, expected);
        };
        check(
            &bytes[..bytes.len() / 2],
            "the ZIP archive is cut off or damaged",
        );
        check(b"", "it is not a ZIP archive");
        check(
            b"\xd0\xcf\x11\xe0rest",
            "it is an older or password-protected Office file",
        );
        let mut changed = bytes.clone();
        let at = bytes.windows(6).position(|part| part == b"stored").unwrap();
        changed[at] = b'S';
        check(&changed, "b: damaged (its checksum is wrong)");
    }

    #[test]
    fn a_bomb_is_refused() {
        let zeros = vec![0; 5_000_001];
        let bytes = zip(&[("bomb", &zeros)]);
        assert!(bytes.len() < 10_000);
        let mut archive = ZipArchive::open(&bytes).unwrap();
        assert_eq!(archive.budget, MAX_UNPACKED);
        archive.budget = 5_000_000;
        let reason = archive.read("bomb").unwrap().unwrap_err();
        assert_eq!(reason, "bomb: unfolds to more than 268435456 bytes");
    }

    #[test]
    fn many_small_bombs_are_refused() {
        let zeros = vec![0; 1_000_000];
        let bytes = zip(&[
            ("a", &zeros),
            ("-", b""),
            ("b", &zeros),
            ("-", b""),
            ("c", &zeros),
        ]);
        let mut archive = ZipArchive::open(&bytes).unwrap();
        archive.budget = 2_000_000;
        assert!(archive.read("a").unwrap().is_ok());
        assert!(archive.read("b").unwrap().is_ok());
        assert!(archive.read("c").unwrap().is_err());
    }
}
