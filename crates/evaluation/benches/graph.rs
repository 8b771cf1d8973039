//! The graph at 100,000 entities, a million relations, 100,000 chunks and two million mentions: walks against
//! the recursive query, snapshot and deltas; linking among a million aliases.

use std::sync::LazyLock;

use divan::{Bencher, black_box};
use malha_engine::graph::{
    AliasTable, Appended, ChunkRow, DocumentRow, Graph, GraphBuilder, GraphDelta, MentionFlags,
    MentionRow, Moment, PathSearch, RelationRow, SnapshotFiles, Traversal, Window, link,
};
use malha_engine::text::Language;
use malha_engine::types::{
    ChunkId, Direction, DocumentId, EntityId, RelationId, RelationTypeId, Timestamp,
};
use malha_evaluation::generate::{EdgeList, PlantedGraph};
use malha_evaluation::{RecursiveCte, Rng};
use tempfile::TempDir;

fn main() {
    divan::main();
}

const CHUNKS: i64 = 100_000;
const MENTIONS_A_CHUNK: usize = 20;

static EDGES: LazyLock<EdgeList> = LazyLock::new(|| PlantedGraph::large().draw());
static RELATIONS: LazyLock<Vec<RelationRow>> = LazyLock::new(relations);
static CHUNK_ROWS: LazyLock<Vec<ChunkRow>> = LazyLock::new(chunks);
static GRAPH: LazyLock<Graph> = LazyLock::new(build);
static ALIASES: LazyLock<AliasTable> = LazyLock::new(aliases);

fn now() -> Moment {
    Moment::present(Timestamp(1_700_000_000_000))
}

fn entity(index: u32) -> EntityId {
    EntityId(i64::from(index) + 1)
}

fn relations() -> Vec<RelationRow> {
    let mut rng = Rng::new(2);
    let pairs = EDGES.sources.iter().zip(&EDGES.targets);
    pairs
        .zip(1..)
        .map(|((&source, &target), id)| RelationRow {
            id: RelationId(id),
            source: entity(source),
            target: entity(target),
            relation_type: RelationTypeId(rng.below(8) as i64),
            weight: 1.0 + rng.below(3) as f32,
            window: Window::new(None, None, Timestamp(rng.below(50) as i64), None),
        })
        .collect()
}

/// Every chunk mentions entities drawn by their degree.
fn chunks() -> Vec<ChunkRow> {
    let mut rng = Rng::new(3);
    (1..=CHUNKS)
        .map(|id| {
            let mut mentions: Vec<MentionRow<EntityId>> = (0..MENTIONS_A_CHUNK)
                .map(|_| MentionRow {
                    entity: entity(*rng.pick(&EDGES.targets)),
                    count: 1.0 + rng.below(3) as f32,
                    how: MentionFlags::NAME,
                })
                .collect();
            mentions.sort_by_key(|mention| mention.entity);
            mentions.dedup_by_key(|mention| mention.entity);
            ChunkRow {
                id: ChunkId(id),
                document: DocumentId((id + 1) / 2),
                ordinal: (id % 2) as u32,
                mentions,
            }
        })
        .collect()
}

fn build() -> Graph {
    let documents = (1..=CHUNKS / 2).map(|id| DocumentRow {
        id: DocumentId(id),
        title: Some(EntityId(id)),
    });
    let entities = (0..EDGES.nodes).map(entity).collect();
    let mut builder = GraphBuilder::new(1, entities, documents.collect());
    RELATIONS.iter().for_each(|row| builder.relation(row));
    CHUNK_ROWS.iter().for_each(|row| builder.chunk(row));
    builder.build().0
}

#[divan::bench(args = [2, 3])]
fn walk(bencher: Bencher<'_, '_>, hops: u32) {
    let graph = &*GRAPH;
    let mut rng = Rng::new(1);
    bencher
        .with_inputs(|| Traversal {
            max_hops: hops,
            max_nodes: usize::MAX,
            ..Traversal::new(vec![rng.below(EDGES.nodes as usize) as u32], now())
        })
        .bench_local_refs(|walk| walk.nodes(&graph.relations));
}

/// With the default limits, and with the relations among the nodes.
#[divan::bench(args = [2, 3])]
fn neighborhood(bencher: Bencher<'_, '_>, hops: u32) {
    let graph = &*GRAPH;
    let mut rng = Rng::new(1);
    bencher
        .with_inputs(|| Traversal {
            max_hops: hops,
            ..Traversal::new(vec![rng.below(EDGES.nodes as usize) as u32], now())
        })
        .bench_local_refs(|walk| walk.run(&graph.relations));
}

/// Two relation types, as of a moment before some relations were recorded.
#[divan::bench(args = [2, 3])]
fn walk_filtered(bencher: Bencher<'_, '_>, hops: u32) {
    let graph = &*GRAPH;
    let mut rng = Rng::new(1);
    let at = Moment {
        known: Timestamp(40),
        ..now()
    };
    bencher
        .with_inputs(|| Traversal {
            max_hops: hops,
            max_nodes: usize::MAX,
            direction: Direction::Both,
            relation_types: Some(vec![RelationTypeId(1), RelationTypeId(5)]),
            ..Traversal::new(vec![rng.below(EDGES.nodes as usize) as u32], at)
        })
        .bench_local_refs(|walk| walk.nodes(&graph.relations));
}

#[divan::bench(args = [2, 3], sample_count = 20, sample_size = 1)]
fn walk_by_recursive_query(bencher: Bencher<'_, '_>, hops: u32) {
    static CTE: LazyLock<(TempDir, std::path::PathBuf)> = LazyLock::new(|| {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let path = folder.path().join("graph.db");
        RecursiveCte::build(&path, &EDGES).expect("a database");
        (folder, path)
    });
    let cte = RecursiveCte::open(&CTE.1).expect("the database just built");
    let mut rng = Rng::new(1);
    bencher
        .with_inputs(|| rng.below(EDGES.nodes as usize) as u32)
        .bench_local_values(|seed| cte.walk(seed, hops).expect("a walk"));
}

#[divan::bench(sample_count = 50, sample_size = 1)]
fn paths(bencher: Bencher<'_, '_>) {
    let graph = &*GRAPH;
    let mut rng = Rng::new(4);
    let mut node = move || rng.below(EDGES.nodes as usize) as u32;
    bencher
        .with_inputs(|| PathSearch::new(node(), node(), now()))
        .bench_local_refs(|search| search.run(&graph.relations));
}

#[divan::bench(sample_count = 10, sample_size = 1)]
fn rebuild() -> Graph {
    black_box((&*RELATIONS, &*CHUNK_ROWS));
    build()
}

fn files() -> (TempDir, SnapshotFiles) {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let files = SnapshotFiles::beside(&folder.path().join("malha.db"));
    files.save(&GRAPH).expect("a snapshot");
    (folder, files)
}

#[divan::bench(sample_count = 20, sample_size = 1)]
fn save_snapshot(bencher: Bencher<'_, '_>) {
    let (_folder, files) = files();
    bencher.bench_local(|| files.save(&GRAPH));
}

#[divan::bench(sample_count = 20, sample_size = 1)]
fn load_snapshot(bencher: Bencher<'_, '_>) {
    let (_folder, files) = files();
    bencher.bench_local(|| files.load(1).expect("a sound snapshot"));
}

/// What one edited note changes: its two chunks, some relations, a new entity.
fn edit() -> GraphDelta {
    let new = entity(EDGES.nodes);
    let mut relations: Vec<RelationRow> = RELATIONS[500..510].to_vec();
    for row in &mut relations[..5] {
        row.window.retracted_at = 60;
    }
    for (row, id) in relations[5..].iter_mut().zip(2_000_000..) {
        row.id = RelationId(id);
        row.target = new;
    }
    let mut chunks = vec![CHUNK_ROWS[600].clone(), CHUNK_ROWS[601].clone()];
    for (chunk, id) in chunks.iter_mut().zip(CHUNKS + 1..) {
        chunk.id = ChunkId(id);
    }
    GraphDelta {
        from: 1,
        to: 2,
        entities: vec![new],
        removed_chunks: vec![CHUNK_ROWS[600].id, CHUNK_ROWS[601].id],
        chunks,
        relations,
        ..GraphDelta::default()
    }
}

#[divan::bench(sample_count = 20, sample_size = 1)]
fn append_delta(bencher: Bencher<'_, '_>) {
    let (_folder, files) = files();
    bencher
        .with_inputs(|| {
            files.save(&GRAPH).expect("a snapshot");
            edit()
        })
        .bench_local_refs(|delta| {
            assert_eq!(files.append(delta).expect("a delta"), Appended::Written);
        });
}

#[divan::bench(sample_count = 20, sample_size = 1)]
fn load_snapshot_with_delta(bencher: Bencher<'_, '_>) {
    let (_folder, files) = files();
    files.append(&edit()).expect("a delta");
    bencher.bench_local(|| files.load(2).expect("a sound snapshot"));
}

/// In a process that keeps the graph.
#[divan::bench(sample_count = 20, sample_size = 1)]
fn apply_delta(bencher: Bencher<'_, '_>) {
    bencher
        .with_inputs(|| (GRAPH.clone(), edit()))
        .bench_local_values(|(graph, delta)| graph.apply(delta));
}

/// An entity in the middle goes, so every index behind it changes.
#[divan::bench(sample_count = 20, sample_size = 1)]
fn apply_removal(bencher: Bencher<'_, '_>) {
    bencher
        .with_inputs(|| {
            let delta = GraphDelta {
                removed_entities: vec![entity(70_000)],
                ..edit()
            };
            (GRAPH.clone(), delta)
        })
        .bench_local_values(|(graph, delta)| graph.apply(delta));
}

const SYLLABLES: [&str; 24] = [
    "ba", "bren", "ca", "clo", "da", "dri", "fe", "flo", "ga", "gri", "ho", "ja", "lu", "mar",
    "ne", "pi", "plan", "qui", "ra", "sto", "ta", "tri", "ve", "zon",
];

fn word(rng: &mut Rng) -> String {
    (0..2 + rng.below(2))
        .map(|_| *rng.pick(&SYLLABLES))
        .collect()
}

/// One to three words of about 14,000.
fn phrase(rng: &mut Rng, words: usize) -> String {
    let words: Vec<String> = (0..words).map(|_| word(rng)).collect();
    words.join(" ")
}

fn aliases() -> AliasTable {
    let mut rng = Rng::new(5);
    AliasTable::new((0..1_000_000).map(move |id| {
        let words = 1 + rng.below(3);
        (phrase(&mut rng, words), EntityId(id))
    }))
}

#[divan::bench(args = [1, 2, 4, 12, 40])]
fn link_phrase(bencher: Bencher<'_, '_>, words: usize) {
    let aliases = &*ALIASES;
    let mut rng = Rng::new(6);
    bencher
        .with_inputs(|| phrase(&mut rng, words))
        .bench_local_refs(|phrase| link(phrase, &[Language::English], aliases, |_| false));
}
