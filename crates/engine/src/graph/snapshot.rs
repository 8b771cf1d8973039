//! The graph as files beside the store: a base and a list of deltas. They are a cache; whatever is wrong with
//! them is a reason to build the graph from the store again, never an error of the user's.

use std::fs::{self, OpenOptions};
use std::io::{self, ErrorKind, Read, Write};
use std::path::{Path, PathBuf};

use super::Graph;
use super::builder::Dangling;
use super::delta::{Changes, GraphDelta};
use super::encoding::{Malformed, Reader, Writer, checksum};
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
        let mut writer = Writer::default();
        for number in [
            self.magic,
            VERSION,
            self.generation,
            self.length,
            self.checksum,
        ] {
            writer.u64(number);
        }
        writer.u64(checksum(&writer.bytes));
        writer.bytes
    }

    fn read(bytes: &[u8]) -> Result<Self, Malformed> {
        let mut reader = Reader::new(bytes);
        let magic = reader.u64()?;
        let version = reader.u64()?;
        let header = Self {
            magic,
            generation: reader.u64()?,
            length: reader.u64()?,
            checksum: reader.u64()?,
        };
        if version != VERSION || reader.u64()? != checksum(&bytes[..HEADER - 8]) {
            return Err(Malformed);
        }
        Ok(header)
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
        let payload = graph.write();
        let header = Header {
            magic: BASE_MAGIC,
            generation: graph.generation,
            length: payload.len() as u64,
            checksum: checksum(&payload),
        };
        replace(&self.base, &[&header.bytes(), &payload])?;
        match fs::remove_file(&self.deltas) {
            Err(error) if error.kind() != ErrorKind::NotFound => Err(error),
            _ => Ok(()),
        }
    }

    /// The graph of this generation: the base, or the base with deltas. A generation number must never stand
    /// for two different contents of the store; numbers need no order.
    pub fn load(&self, generation: u64) -> Result<Graph, Unusable> {
        let bytes = fs::read(&self.base).map_err(|error| match error.kind() {
            ErrorKind::NotFound => Unusable::Missing,
            _ => Unusable::Io(error),
        })?;
        let damaged = |_| Unusable::Damaged("the base does not have its form");
        let header = Header::read(&bytes).map_err(damaged)?;
        let payload = &bytes[HEADER..];
        if header.magic != BASE_MAGIC || header.length != payload.len() as u64 {
            return Err(Unusable::Damaged("the base was cut"));
        }
        if header.checksum != checksum(payload) {
            return Err(Unusable::Damaged("the base has a wrong checksum"));
        }
        let changes = if header.generation == generation {
            None
        } else {
            Some(self.changes(header, generation)?)
        };
        let mut parts = Parts::read(payload, header.generation).map_err(damaged)?;
        drop(bytes);
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
        let payload = delta.write();
        let mut record = Writer::default();
        record.u64(payload.len() as u64);
        record.u64(checksum(&payload));
        record.bytes.extend_from_slice(&payload);
        let room = (base.length / DELTA_SHARE).max(DELTA_BYTES);
        let Some((deltas, size)) = self.read_deltas(base)? else {
            // None yet, or of an older base.
            if delta.from != base.generation || record.bytes.len() as u64 > room {
                return Ok(Appended::RebuildNeeded);
            }
            let header = Header {
                magic: DELTA_MAGIC,
                ..base
            };
            replace(&self.deltas, &[&header.bytes(), &record.bytes])?;
            return Ok(Appended::Written);
        };
        let whole = HEADER + deltas.iter().map(|delta| delta.len() + 16).sum::<usize>();
        let last = deltas.last().map(|last| GraphDelta::read(last));
        let reached = match last {
            None => base.generation,
            Some(Ok(last)) => last.to,
            Some(Err(_)) => return Ok(Appended::RebuildNeeded),
        };
        let too_many = size as u64 + record.bytes.len() as u64 > room;
        if whole != size || reached != delta.from || too_many {
            return Ok(Appended::RebuildNeeded);
        }
        let mut file = OpenOptions::new().append(true).open(&self.deltas)?;
        file.write_all(&record.bytes)?;
        Ok(Appended::Written)
    }

    fn base_header(&self) -> io::Result<Option<Header>> {
        let mut bytes = [0; HEADER];
        let read = fs::File::open(&self.base).and_then(|mut file| file.read_exact(&mut bytes));
        match read {
            Ok(()) => Ok(Header::read(&bytes)
                .ok()
                .filter(|header| header.magic == BASE_MAGIC)),
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
        if Header::read(&bytes) != Ok(header) {
            return Ok(None);
        }
        let mut reader = Reader::new(&bytes[HEADER..]);
        let mut records = Vec::new();
        while let Ok(record) = read_record(&mut reader) {
            records.push(record.to_vec());
        }
        Ok(Some((records, bytes.len())))
    }
}

fn read_record<'a>(reader: &mut Reader<'a>) -> Result<&'a [u8], Malformed> {
    let length = usize::try_from(reader.u64()?).map_err(|_| Malformed)?;
    let sum = reader.u64()?;
    let record = reader.take(length)?;
    if checksum(record) == sum {
        Ok(record)
    } else {
        Err(Malformed)
    }
}

/// Writes a file beside `path` and renames it over.
fn replace(path: &Path, parts: &[&[u8]]) -> io::Result<()> {
    let mut name = path.file_name().unwrap_or_default().to_owned();
    name.push(format!(".new-{}", std::process::id()));
    let fresh = path.with_file_name(name);
    let written = fs::File::create(&fresh).and_then(|mut file| {
        for part in parts {
            file.write_all(part)?;
        }
        fs::rename(&fresh, path)
    });
    if written.is_err() {
        // The first error is the one that matters.
        let _ = fs::remove_file(&fresh);
    }
    written
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use proptest::prelude::*;

    use super::*;
    use crate::graph::{
        ChunkRow, DocumentRow, GraphBuilder, MentionFlags, MentionRow, RelationRow, Window,
    };
    use crate::types::{ChunkId, DocumentId, EntityId, RelationId, RelationTypeId, Timestamp};

    /// A small store: what rows there are.
    #[derive(Debug, Clone, Default)]
    struct Rows {
        entities: BTreeMap<i64, ()>,
        documents: BTreeMap<i64, DocumentRow>,
        chunks: BTreeMap<i64, ChunkRow>,
        relations: BTreeMap<i64, RelationRow>,
    }

    /// One random change: which table, which id, what it holds.
    type Step = (u8, i64, [i64; 3], bool);

    impl Rows {
        fn build(&self, generation: u64) -> Graph {
            let mut builder = GraphBuilder::new(
                generation,
                self.entities.keys().map(|&id| EntityId(id)).collect(),
                self.documents.values().copied().collect(),
            );
            self.chunks.values().for_each(|row| builder.chunk(row));
            self.relations
                .values()
                .for_each(|row| builder.relation(row));
            let (graph, dangling) = builder.build();
            assert_eq!(dangling, Dangling::default());
            graph
        }

        /// Makes the changes that leave the rows sound, and tells them as a delta.
        fn change(&mut self, steps: &[Step], from: u64, to: u64) -> GraphDelta {
            let before = self.clone();
            for &step in steps {
                self.step(step);
            }
            fn gone<T>(before: &BTreeMap<i64, T>, after: &BTreeMap<i64, T>) -> Vec<i64> {
                before
                    .keys()
                    .filter(|id| !after.contains_key(id))
                    .copied()
                    .collect()
            }
            fn new<T: PartialEq + Clone>(
                before: &BTreeMap<i64, T>,
                after: &BTreeMap<i64, T>,
            ) -> Vec<T> {
                let changed = |(id, row): &(&i64, &T)| before.get(id) != Some(*row);
                after
                    .iter()
                    .filter(changed)
                    .map(|(_, row)| row.clone())
                    .collect()
            }
            let entities = self
                .entities
                .keys()
                .filter(|id| !before.entities.contains_key(id));
            GraphDelta {
                from,
                to,
                removed_entities: gone(&before.entities, &self.entities)
                    .into_iter()
                    .map(EntityId)
                    .collect(),
                entities: entities.map(|&id| EntityId(id)).collect(),
                removed_documents: gone(&before.documents, &self.documents)
                    .into_iter()
                    .map(DocumentId)
                    .collect(),
                documents: new(&before.documents, &self.documents),
                removed_chunks: gone(&before.chunks, &self.chunks)
                    .into_iter()
                    .map(ChunkId)
                    .collect(),
                chunks: new(&before.chunks, &self.chunks),
                removed_relations: gone(&before.relations, &self.relations)
                    .into_iter()
                    .map(RelationId)
                    .collect(),
                relations: new(&before.relations, &self.relations),
            }
        }

        fn step(&mut self, (table, id, [a, b, c], remove): Step) {
            let used_by_document = |id| {
                self.documents
                    .values()
                    .any(|row| row.title == Some(EntityId(id)))
            };
            match (table, remove) {
                (0, false) => drop(self.entities.insert(id, ())),
                (0, true) if !used_by_document(id) => {
                    self.entities.remove(&id);
                    self.relations
                        .retain(|_, row| row.source.0 != id && row.target.0 != id);
                    for chunk in self.chunks.values_mut() {
                        chunk.mentions.retain(|mention| mention.entity.0 != id);
                    }
                }
                (1, false) => {
                    let title = self.entities.contains_key(&a).then_some(EntityId(a));
                    self.documents.insert(
                        id,
                        DocumentRow {
                            id: DocumentId(id),
                            title,
                        },
                    );
                }
                (1, true) => {
                    self.documents.remove(&id);
                    self.chunks.retain(|_, row| row.document.0 != id);
                }
                (2, false) if self.documents.contains_key(&a) => {
                    let named = [b, c]
                        .into_iter()
                        .filter(|id| self.entities.contains_key(id));
                    let mut mentions: Vec<_> = named
                        .map(|entity| MentionRow {
                            entity: EntityId(entity),
                            count: a as f32 / 2.0,
                            how: MentionFlags(b as u8),
                        })
                        .collect();
                    mentions.sort_by_key(|mention| mention.entity);
                    mentions.dedup_by_key(|mention| mention.entity);
                    let row = ChunkRow {
                        id: ChunkId(id),
                        document: DocumentId(a),
                        ordinal: c as u32,
                        mentions,
                    };
                    self.chunks.insert(id, row);
                }
                (2, true) => drop(self.chunks.remove(&id)),
                (_, false) if self.entities.contains_key(&a) && self.entities.contains_key(&b) => {
                    let row = RelationRow {
                        id: RelationId(id),
                        source: EntityId(a),
                        target: EntityId(b),
                        relation_type: RelationTypeId(c),
                        weight: b as f32,
                        window: Window::new(None, Some(Timestamp(c)), Timestamp(a), None),
                    };
                    self.relations.insert(id, row);
                }
                (3, true) => drop(self.relations.remove(&id)),
                _ => (),
            }
        }
    }

    fn files() -> (tempfile::TempDir, SnapshotFiles) {
        let folder = tempfile::tempdir().unwrap();
        let files = SnapshotFiles::beside(&folder.path().join("malha.db"));
        (folder, files)
    }

    fn steps(count: std::ops::Range<usize>) -> impl Strategy<Value = Vec<Step>> {
        let step = (
            0_u8..4,
            0_i64..12,
            [0_i64..12, 0_i64..12, 0_i64..12],
            any::<bool>(),
        );
        // Building up first gives later steps something to change.
        proptest::collection::vec(
            step.prop_map(|(t, id, v, gone)| (t, id, v, gone && id % 2 == 0)),
            count,
        )
    }

    proptest! {
        #[test]
        fn base_and_deltas_equal_a_fresh_build(
            first in steps(0..120),
            updates in proptest::collection::vec(steps(0..12), 0..6),
        ) {
            let (_folder, files) = files();
            let mut rows = Rows::default();
            rows.change(&first, 0, 1);
            let base = rows.build(1);
            files.save(&base).unwrap();
            prop_assert_eq!(&files.load(1).unwrap(), &base);
            let mut in_memory = base;
            for (update, from) in updates.iter().zip(1..) {
                let delta = rows.change(update, from, from + 1);
                prop_assert_eq!(GraphDelta::read(&delta.write()), Ok(delta.clone()));
                prop_assert_eq!(files.append(&delta).unwrap(), Appended::Written);
                let fresh = rows.build(from + 1);
                prop_assert_eq!(&files.load(from + 1).unwrap(), &fresh);
                let (applied, dangling) = in_memory.apply(delta);
                prop_assert_eq!(dangling, Dangling::default());
                prop_assert_eq!(&applied, &fresh);
                in_memory = applied;
            }
            // An older state can still be read while readers use it.
            prop_assert_eq!(files.load(1).unwrap().generation, 1);
        }

        #[test]
        fn a_damaged_file_is_refused(first in steps(0..80), place in any::<prop::sample::Index>(), cut in any::<bool>()) {
            let (_folder, files) = files();
            let mut rows = Rows::default();
            rows.change(&first, 0, 1);
            files.save(&rows.build(1)).unwrap();
            let mut bytes = fs::read(&files.base).unwrap();
            let place = place.index(bytes.len());
            if cut {
                bytes.truncate(place);
            } else {
                bytes[place] ^= 64;
            }
            fs::write(&files.base, bytes).unwrap();
            prop_assert!(matches!(files.load(1), Err(Unusable::Damaged(_))));
        }

        #[test]
        fn bytes_of_any_kind_never_panic(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
            let _ = Parts::read(&bytes, 1);
            let _ = GraphDelta::read(&bytes);
            let _ = Header::read(&bytes);
        }
    }

    fn entity_delta(from: u64, to: u64) -> GraphDelta {
        GraphDelta {
            from,
            to,
            entities: vec![EntityId(to as i64)],
            ..GraphDelta::default()
        }
    }

    #[test]
    fn a_torn_record_is_ignored_and_asks_for_a_rebuild() {
        let (_folder, files) = files();
        assert!(matches!(files.load(1), Err(Unusable::Missing)));
        assert_eq!(
            files.append(&entity_delta(1, 2)).unwrap(),
            Appended::RebuildNeeded
        );
        files.save(&Graph::empty(1)).unwrap();
        for from in 1..3 {
            assert_eq!(
                files.append(&entity_delta(from, from + 1)).unwrap(),
                Appended::Written
            );
        }
        let whole = fs::read(&files.deltas).unwrap();
        fs::write(&files.deltas, &whole[..whole.len() - 1]).unwrap();
        assert!(matches!(files.load(3), Err(Unusable::Stale)));
        assert_eq!(files.load(2).unwrap().entities.len(), 1);
        assert_eq!(
            files.append(&entity_delta(2, 3)).unwrap(),
            Appended::RebuildNeeded
        );
        // A new base drops the deltas.
        files.save(&Graph::empty(3)).unwrap();
        assert!(!files.deltas.exists());
        assert_eq!(files.load(3).unwrap().generation, 3);
        assert!(matches!(files.load(2), Err(Unusable::Stale)));
    }

    #[test]
    fn deltas_must_follow_one_another_and_their_base() {
        let (_folder, files) = files();
        files.save(&Graph::empty(1)).unwrap();
        assert_eq!(
            files.append(&entity_delta(2, 3)).unwrap(),
            Appended::RebuildNeeded
        );
        assert_eq!(
            files.append(&entity_delta(1, 2)).unwrap(),
            Appended::Written
        );
        assert_eq!(
            files.append(&entity_delta(1, 2)).unwrap(),
            Appended::RebuildNeeded
        );
        assert_eq!(
            files.append(&entity_delta(2, 3)).unwrap(),
            Appended::Written
        );
        // Deltas left over from a base that was replaced belong to no one.
        let deltas = fs::read(&files.deltas).unwrap();
        files.save(&Graph::empty(2)).unwrap();
        fs::write(&files.deltas, deltas).unwrap();
        assert!(matches!(files.load(3), Err(Unusable::Stale)));
        assert_eq!(
            files.append(&entity_delta(2, 3)).unwrap(),
            Appended::Written
        );
        assert_eq!(files.load(3).unwrap().entities.len(), 1);
    }

    #[test]
    fn too_many_deltas_ask_for_a_rebuild() {
        let (_folder, files) = files();
        files.save(&Graph::empty(1)).unwrap();
        let large = |from| GraphDelta {
            entities: (0..8_000).map(|id| EntityId(id * 70)).collect(),
            ..entity_delta(from, from + 1)
        };
        assert_eq!(files.append(&large(1)).unwrap(), Appended::Written);
        assert_eq!(files.append(&large(2)).unwrap(), Appended::Written);
        assert_eq!(files.append(&large(3)).unwrap(), Appended::RebuildNeeded);
        assert_eq!(files.load(3).unwrap().entities.len(), 8_000);
    }
}
