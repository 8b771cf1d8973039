//! The graph as files beside the store: a base and a list of deltas. They are a cache; whatever is wrong with
//! them is a reason to build the graph from the store again, never an error of the user's.

use std::fs::{self, File, OpenOptions};
use std::io::{self, BufWriter, ErrorKind, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use super::Graph;
use super::builder::Dangling;
use super::delta::{Changes, GraphDelta};
use super::encoding::{Reader, Unreadable, Writer, checksum};
use super::parts::Parts;

/// Where the files of a store's graph are.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SnapshotFiles {
    base: PathBuf,
    deltas: PathBuf,
}

/// Why the files cannot be used and the graph has to be built from the store.
#[derive(Debug, thiserror::Error)]
pub enum Unusable {
    /// There is no snapshot yet.
    #[error("there is no graph snapshot")]
    Missing,
    /// The files do not lead to the generation asked for.
    #[error("the graph snapshot shows another state of the store")]
    Stale,
    /// The bytes are not what was written.
    #[error("the graph snapshot is damaged: {0}")]
    Damaged(&'static str),
    /// The files could not be read.
    #[error("the graph snapshot cannot be read: {0}")]
    Io(#[from] io::Error),
}

/// What became of a delta.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Appended {
    /// The files now lead to the delta's generation.
    Written,
    /// They do not, because they are unusable, lead to another generation than the delta starts from, or
    /// would hold too many deltas: build the graph from the store and save it.
    RebuildNeeded,
}

const BASE_MAGIC: u64 = u64::from_le_bytes(*b"malhagrf");
const DELTA_MAGIC: u64 = u64::from_le_bytes(*b"malhadlt");
/// Of both files; a file of another version is rebuilt.
const VERSION: u64 = 1;
const HEADER: usize = 48;
/// Deltas may take this share of the base before it is rebuilt, and this many bytes in any case.
const DELTA_SHARE: u64 = 20;
const DELTA_BYTES: u64 = 64 * 1024;

/// Both files start with one: of the base it tells generation, length and checksum of what follows, of the
/// deltas those of the base that they belong to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Header {
    magic: u64,
    generation: u64,
    length: u64,
    checksum: u64,
}

impl Header {
    fn bytes(self) -> Vec<u8> {
        let numbers = [
            self.magic,
            VERSION,
            self.generation,
            self.length,
            self.checksum,
        ];
        let mut bytes: Vec<u8> = numbers.into_iter().flat_map(u64::to_le_bytes).collect();
        bytes.extend(checksum(&bytes).to_le_bytes());
        bytes
    }

    /// `None` when the first bytes are no header of `magic`.
    fn read(bytes: &[u8], magic: u64) -> Option<Self> {
        let (numbers, sum) = bytes.get(..HEADER)?.split_at(HEADER - 8);
        let (numbers, _) = numbers.as_chunks::<8>();
        let number = |place: usize| u64::from_le_bytes(numbers[place]);
        let header = Self {
            magic: number(0),
            generation: number(2),
            length: number(3),
            checksum: number(4),
        };
        let sound = header.magic == magic
            && number(1) == VERSION
            && sum == checksum(&bytes[..HEADER - 8]).to_le_bytes();
        sound.then_some(header)
    }
}

impl SnapshotFiles {
    /// `malha.db` has its graph in `malha.graph` and `malha.graph-delta`.
    pub fn beside(store: &Path) -> Self {
        Self {
            base: store.with_extension("graph"),
            deltas: store.with_extension("graph-delta"),
        }
    }

    /// Replaces the base by this graph and drops the deltas. A reader at the same time sees the old base or
    /// the new one.
    pub fn save(&self, graph: &Graph) -> io::Result<()> {
        replace(&self.base, |file| {
            let mut out = BufWriter::new(file);
            out.write_all(&[0; HEADER])?;
            let mut writer = Writer::new(out);
            graph.write(&mut writer)?;
            let (mut out, length, checksum) = writer.finish();
            let header = Header {
                magic: BASE_MAGIC,
                generation: graph.generation,
                length,
                checksum,
            };
            out.seek(SeekFrom::Start(0))?;
            out.write_all(&header.bytes())?;
            out.flush()
        })?;
        match fs::remove_file(&self.deltas) {
            Err(error) if error.kind() != ErrorKind::NotFound => Err(error),
            _ => Ok(()),
        }
    }

    /// The graph of this generation: the base, or the base with deltas. A generation number must never stand
    /// for two different contents of the store; numbers need no order.
    pub fn load(&self, generation: u64) -> Result<Graph, Unusable> {
        let mut file = match File::open(&self.base) {
            Err(error) if error.kind() == ErrorKind::NotFound => return Err(Unusable::Missing),
            file => file?,
        };
        let length = file.metadata()?.len();
        let mut header = [0; HEADER];
        let header = match file.read_exact(&mut header) {
            Err(error) if error.kind() == ErrorKind::UnexpectedEof => None,
            read => read.map(|()| Header::read(&header, BASE_MAGIC))?,
        };
        let header = header.ok_or(Unusable::Damaged("the base has no header"))?;
        if length.checked_sub(HEADER as u64) != Some(header.length) {
            return Err(Unusable::Damaged("the base was cut"));
        }
        let changes = if header.generation == generation {
            None
        } else {
            Some(self.changes(header, generation)?)
        };
        let mut reader = Reader::new(file, header.length);
        let mut parts =
            Parts::read(&mut reader, header.generation).map_err(|error| match error {
                Unreadable::Malformed => Unusable::Damaged("the base does not have its form"),
                Unreadable::Io(error) => Unusable::Io(error),
            })?;
        if reader.checksum() != header.checksum {
            return Err(Unusable::Damaged("the base has a wrong checksum"));
        }
        if let Some(changes) = changes
            && parts.apply(&changes, generation) != Dangling::default()
        {
            return Err(Unusable::Damaged(
                "a delta points to rows that are not there",
            ));
        }
        Ok(parts.assemble())
    }

    /// All changes from the base up to `generation`, as one.
    fn changes(&self, base: Header, generation: u64) -> Result<Changes, Unusable> {
        let mut reached = base.generation;
        let mut changes = Changes::default();
        for delta in self.read_deltas(base)?.ok_or(Unusable::Stale)?.0 {
            let delta = GraphDelta::read(&delta)
                .map_err(|_| Unusable::Damaged("a delta does not have its form"))?;
            if delta.from != reached {
                return Err(Unusable::Stale);
            }
            reached = delta.to;
            changes.add(delta);
            if reached == generation {
                return Ok(changes);
            }
        }
        Err(Unusable::Stale)
    }

    /// Adds a delta to the files. Call it after the store has committed the delta's generation: a crash in
    /// between leaves a stale snapshot, which is rebuilt.
    pub fn append(&self, delta: &GraphDelta) -> io::Result<Appended> {
        let Some(base) = self.base_header()? else {
            return Ok(Appended::RebuildNeeded);
        };
        let record = record(delta)?;
        let room = (base.length / DELTA_SHARE).max(DELTA_BYTES);
        let Some((deltas, size)) = self.read_deltas(base)? else {
            // None yet, or of an older base.
            if delta.from != base.generation || record.len() as u64 > room {
                return Ok(Appended::RebuildNeeded);
            }
            let header = Header {
                magic: DELTA_MAGIC,
                ..base
            };
            replace(&self.deltas, |mut file| {
                file.write_all(&header.bytes())?;
                file.write_all(&record)
            })?;
            return Ok(Appended::Written);
        };
        let whole = HEADER + deltas.iter().map(|delta| delta.len() + 16).sum::<usize>();
        let last = deltas.last().map(|last| GraphDelta::read(last));
        let reached = match last {
            None => base.generation,
            Some(Ok(last)) => last.to,
            Some(Err(_)) => return Ok(Appended::RebuildNeeded),
        };
        let too_many = size as u64 + record.len() as u64 > room;
        if whole != size || reached != delta.from || too_many {
            return Ok(Appended::RebuildNeeded);
        }
        let mut file = OpenOptions::new().append(true).open(&self.deltas)?;
        file.write_all(&record)?;
        Ok(Appended::Written)
    }

    fn base_header(&self) -> io::Result<Option<Header>> {
        let mut bytes = [0; HEADER];
        match File::open(&self.base).and_then(|mut file| file.read_exact(&mut bytes)) {
            Ok(()) => Ok(Header::read(&bytes, BASE_MAGIC)),
            Err(error) => match error.kind() {
                ErrorKind::NotFound | ErrorKind::UnexpectedEof => Ok(None),
                _ => Err(error),
            },
        }
    }

    /// The sound records before the first damaged or torn one, and the size of the file; `None` when there
    /// is no file or it belongs to another base.
    fn read_deltas(&self, base: Header) -> io::Result<Option<(Vec<Vec<u8>>, usize)>> {
        let bytes = match fs::read(&self.deltas) {
            Ok(bytes) => bytes,
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(error),
        };
        let header = Header {
            magic: DELTA_MAGIC,
            ..base
        };
        if Header::read(&bytes, DELTA_MAGIC) != Some(header) {
            return Ok(None);
        }
        let mut rest = &bytes[HEADER..];
        let mut records = Vec::new();
        while let Some((record, after)) = split_record(rest) {
            records.push(record.to_vec());
            rest = after;
        }
        Ok(Some((records, bytes.len())))
    }
}

/// A delta as bytes, behind their number and checksum.
fn record(delta: &GraphDelta) -> io::Result<Vec<u8>> {
    let mut writer = Writer::new(Vec::new());
    delta.write(&mut writer)?;
    let (payload, length, checksum) = writer.finish();
    let mut record = length.to_le_bytes().to_vec();
    record.extend(checksum.to_le_bytes());
    record.extend(payload);
    Ok(record)
}

/// The bytes of the first record, and what follows it.
fn split_record(bytes: &[u8]) -> Option<(&[u8], &[u8])> {
    let (length, bytes) = bytes.split_first_chunk()?;
    let (sum, bytes) = bytes.split_first_chunk()?;
    let length = usize::try_from(u64::from_le_bytes(*length)).ok()?;
    let (record, rest) = bytes.split_at_checked(length)?;
    (checksum(record) == u64::from_le_bytes(*sum)).then_some((record, rest))
}

/// Writes a file beside `path` and renames it over.
fn replace(path: &Path, write: impl FnOnce(File) -> io::Result<()>) -> io::Result<()> {
    let mut name = path.file_name().unwrap_or_default().to_owned();
    name.push(format!(".new-{}", std::process::id()));
    let fresh = path.with_file_name(name);
    let written = File::create(&fresh)
        .and_then(write)
        .and_then(|()| fs::rename(&fresh, path));
    if written.is_err() {
        // The first error is the one that matters.
        let _ = fs::remove_file(&fresh);
    }
    written
}

#[cfg(test)]
mod tests;
