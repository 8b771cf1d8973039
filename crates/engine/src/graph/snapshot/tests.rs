//! Files lead to the graph that a fresh build gives, or to none.

use std::collections::{BTreeMap, BTreeSet};

use proptest::prelude::*;

use super::*;
use crate::graph::{
    ChunkRow, DocumentRow, GraphBuilder, MentionFlags, MentionRow, RelationRow, Window,
};
use crate::types::{ChunkId, DocumentId, EntityId, RelationId, RelationTypeId, Timestamp};

/// A small store: what rows there are.
#[derive(Debug, Clone, Default)]
struct Rows {
    entities: BTreeSet<i64>,
    documents: BTreeMap<i64, DocumentRow>,
    chunks: BTreeMap<i64, ChunkRow>,
    relations: BTreeMap<i64, RelationRow>,
}

/// One random change: which table, which id, what it holds.
type Step = (u8, i64, [i64; 3], bool);

fn gone<T>(before: &BTreeMap<i64, T>, after: &BTreeMap<i64, T>) -> Vec<i64> {
    before
        .keys()
        .filter(|id| !after.contains_key(id))
        .copied()
        .collect()
}
fn new<T: PartialEq + Clone>(before: &BTreeMap<i64, T>, after: &BTreeMap<i64, T>) -> Vec<T> {
    let changed = |(id, row): &(&i64, &T)| before.get(id) != Some(*row);
    after
        .iter()
        .filter(changed)
        .map(|(_, row)| row.clone())
        .collect()
}

impl Rows {
    fn build(&self, generation: u64) -> Graph {
        let mut builder = GraphBuilder::new(
            generation,
            self.entities.iter().map(|&id| EntityId(id)).collect(),
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
        let ids = |ids: Vec<&i64>| ids.into_iter().copied().map(EntityId).collect();
        GraphDelta {
            from,
            to,
            removed_entities: ids(before.entities.difference(&self.entities).collect()),
            entities: ids(self.entities.difference(&before.entities).collect()),
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
            (0, false) => _ = self.entities.insert(id),
            (0, true) if !used_by_document(id) => {
                self.entities.remove(&id);
                self.relations
                    .retain(|_, row| row.source.0 != id && row.target.0 != id);
                for chunk in self.chunks.values_mut() {
                    chunk.mentions.retain(|mention| mention.entity.0 != id);
                }
            }
            (1, false) => {
                let title = self.entities.contains(&a).then_some(EntityId(a));
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
                let named = [b, c].into_iter().filter(|id| self.entities.contains(id));
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
            (_, false) if self.entities.contains(&a) && self.entities.contains(&b) => {
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

fn record_of(delta: &GraphDelta) -> Vec<u8> {
    let mut writer = Writer::new(Vec::new());
    delta.write(&mut writer).unwrap();
    writer.finish().0
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
            prop_assert_eq!(GraphDelta::read(&record_of(&delta)).unwrap(), delta.clone());
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
        let _ = Parts::read(&mut Reader::new(&bytes[..], bytes.len() as u64), 1);
        let _ = GraphDelta::read(&bytes);
        let _ = Header::read(&bytes, BASE_MAGIC);
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
