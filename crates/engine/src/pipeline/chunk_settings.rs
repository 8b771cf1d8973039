//! How a store's chunks are cut, as it notes it: what differs from that makes every file be read anew.

use rusqlite::Connection;

use super::{Job, PIPELINE_VERSION};
use crate::Result;
use crate::storage;
use crate::types::ChunkUnit;

/// Size and overlap of chunks, and what both are counted in.
pub(super) type ChunkSizes = (usize, usize, ChunkUnit);

/// What shapes chunks and names: a change of it makes every file be read again.
pub(super) fn settings((size, overlap, unit): ChunkSizes) -> String {
    let unit = unit.as_str();
    format!("version {PIPELINE_VERSION}, chunks of {size} with {overlap} overlap in {unit}")
}

/// The sizes in a text of [`settings`].
fn sizes_in(settings: &str) -> Option<ChunkSizes> {
    let (_, sizes) = settings.split_once(", chunks of ")?;
    let (size, rest) = sizes.split_once(" with ")?;
    let (overlap, unit) = rest.split_once(" overlap in ")?;
    let number = |text: &str| text.parse().ok();
    Some((number(size)?, number(overlap)?, ChunkUnit::parse(unit)?))
}

/// The sizes that this run cuts with, and whether that, or anything else, differs from how the store was made.
pub(super) fn chunk_sizes(
    job: &Job<'_>,
    connection: &Connection,
    namespace: i64,
) -> Result<(ChunkSizes, bool)> {
    let config = job.config;
    let stated = (config.chunk_size, config.chunk_overlap, config.chunk_unit);
    let Some(known) = storage::meta(connection, &settings_key(namespace))? else {
        return Ok((stated, false));
    };
    let sizes = match sizes_in(&known) {
        Some(kept) if config.keep_chunks => kept,
        _ => stated,
    };
    Ok((sizes, known != settings(sizes)))
}

pub(super) fn settings_key(namespace: i64) -> String {
    format!("pipeline:{namespace}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_read_as_they_are_written() {
        for sizes in [
            (1200, 200, ChunkUnit::Characters),
            (300, 0, ChunkUnit::Tokens),
        ] {
            assert_eq!(sizes_in(&settings(sizes)), Some(sizes));
        }
        for text in [
            "",
            "version 1",
            "version 1, chunks of x with 2 overlap in characters",
        ] {
            assert_eq!(sizes_in(text), None, "{text}");
        }
    }
}
