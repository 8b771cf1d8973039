use std::fs::File;
use std::io::{BufRead, BufReader, Read, Seek};
use std::path::Path;

use sha2::{Digest, Sha256};

use super::TripleSyntax;

/// SHA-256 of the whole file, which is then at its start again.
pub(super) fn hash(file: &mut File) -> std::io::Result<Vec<u8>> {
    let mut hash = Sha256::new();
    let mut buffer = vec![0; 1 << 16];
    loop {
        match file.read(&mut buffer)? {
            0 => break,
            length => hash.update(&buffer[..length]),
        }
    }
    file.rewind()?;
    Ok(hash.finalize().to_vec())
}

/// By the file's name, then by its first character.
pub(super) fn guess_syntax(path: &Path, file: &mut File) -> std::io::Result<TripleSyntax> {
    let extension = path.extension().and_then(|extension| extension.to_str());
    match extension.map(str::to_lowercase).as_deref() {
        Some("jsonl" | "ndjson" | "json") => return Ok(TripleSyntax::Jsonl),
        Some("tsv" | "tab") => return Ok(TripleSyntax::Tsv),
        _ => {}
    }
    let mut start = [0; 512];
    let length = file.read(&mut start)?;
    file.rewind()?;
    let text = String::from_utf8_lossy(&start[..length]);
    let text = text.trim_start_matches('\u{feff}').trim_start();
    Ok(if text.starts_with(['{', '[']) {
        TripleSyntax::Jsonl
    } else {
        TripleSyntax::Tsv
    })
}

/// Passes over the rest of a line that is too long; returns its bytes.
pub(super) fn skip_line(input: &mut BufReader<File>) -> std::io::Result<u64> {
    let mut skipped = 0;
    loop {
        let buffer = input.fill_buf()?;
        let end = buffer.iter().position(|&byte| byte == b'\n');
        let length = end.map_or(buffer.len(), |at| at + 1);
        input.consume(length);
        skipped += length as u64;
        if end.is_some() || length == 0 {
            return Ok(skipped);
        }
    }
}
