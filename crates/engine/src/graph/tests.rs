//! Building a graph: any order of rows gives the same one.

use super::*;
use crate::types::{Mention, MentionHow, RelationId, RelationTypeId, Timestamp};

fn window(valid_from: Option<i64>, valid_to: Option<i64>) -> Window {
    Window::new(
        valid_from.map(Timestamp),
        valid_to.map(Timestamp),
        Timestamp(100),
        None,
    )
}

fn relation(id: i64, source: i64, target: i64, kind: i64, window: Window) -> RelationRow {
    RelationRow {
        id: RelationId(id),
        source: EntityId(source),
        target: EntityId(target),
        relation_type: RelationTypeId(kind),
        weight: 1.0,
        window,
    }
}

fn chunk(id: i64, document: i64, ordinal: u32, names: &[(u32, i64, MentionHow)]) -> ChunkRow {
    let mentions: Vec<Mention> = names
        .iter()
        .map(|&(start, entity, how)| Mention {
            chunk: ChunkId(id),
            start,
            end: start + 3,
            entity: EntityId(entity),
            how,
        })
        .collect();
    ChunkRow::new(ChunkId(id), DocumentId(document), ordinal, &mentions)
}

fn document(id: i64, title: Option<i64>) -> DocumentRow {
    DocumentRow {
        id: DocumentId(id),
        title: title.map(EntityId),
    }
}

#[test]
fn rows_in_any_order_give_the_same_graph() {
    let relations = [
        relation(1, 10, 30, 5, window(None, None)),
        relation(2, 30, 10, 5, window(Some(50), None)),
        relation(3, 10, 30, 4, window(None, None)),
        relation(4, 20, 10, 9, window(Some(1), Some(60))),
    ];
    let chunks = [
        chunk(
            7,
            2,
            1,
            &[(0, 10, MentionHow::Name), (9, 20, MentionHow::Link)],
        ),
        chunk(
            3,
            2,
            0,
            &[(0, 30, MentionHow::Name), (5, 10, MentionHow::Name)],
        ),
        chunk(5, 1, 0, &[]),
    ];
    let build = |turn: usize| {
        let mut entities = vec![EntityId(30), EntityId(10), EntityId(20), EntityId(40)];
        entities.rotate_left(turn);
        let mut documents = vec![document(2, Some(30)), document(1, None)];
        documents.rotate_left(turn % 2);
        let mut builder = GraphBuilder::new(1, entities, documents);
        for step in 0..4 {
            builder.relation(&relations[(turn + step) % 4]);
        }
        for step in 0..3 {
            builder.chunk(&chunks[(turn + step) % 3]);
        }
        builder.build()
    };
    let (graph, dangling) = build(0);
    assert_eq!(dangling, Dangling::default());
    for turn in 1..4 {
        assert_eq!(build(turn).0, graph);
    }
    assert_eq!(graph.relations.targets(0), [2, 2]);
    assert_eq!(graph.relations.sources(0), [1, 2]);
    assert_eq!(graph.relations.type_ids().len(), 3);
    assert_eq!(graph.mentions.chunks(0), [0, 2]);
    assert_eq!(graph.mentions.entities(0), [0, 2]);
    assert_eq!(graph.document_chunks.row(1), [0, 2]);
    assert_eq!(graph.title_chunks(2).collect::<Vec<_>>(), [0, 2]);
    assert_eq!(graph.title_of_chunk(2), Some(2));
    assert_eq!(graph.title_of_chunk(1), None);

    let now = Moment::present(Timestamp(1_000));
    assert!(!graph.relations.all_visible(now));
    assert_eq!(graph.relations.degree(0, now), 3);
    assert_eq!(graph.relations.degree(1, now), 0);
    assert!(graph.is_isolated(3, now));
    assert!(!graph.is_isolated(1, now), "a chunk names it");
    assert!(!graph.is_isolated(2, now), "it has relations");
}

#[test]
fn what_points_nowhere_is_counted() {
    let mut builder = GraphBuilder::new(1, vec![EntityId(1)], vec![document(1, Some(99))]);
    builder.relation(&relation(1, 1, 2, 1, window(None, None)));
    builder.chunk(&chunk(
        1,
        1,
        0,
        &[(0, 1, MentionHow::Name), (5, 2, MentionHow::Name)],
    ));
    builder.chunk(&chunk(2, 9, 0, &[]));
    let (graph, dangling) = builder.build();
    let expected = Dangling {
        relations: 1,
        mentions: 1,
        chunks: 1,
        titles: 1,
    };
    assert_eq!(dangling, expected);
    assert_eq!(graph.chunks.len(), 1);
    assert_eq!(graph.mentions.len(), 1);
    assert!(graph.relations.is_empty());
}

#[test]
fn windows_include_their_start_and_exclude_their_end() {
    let window = Window::new(
        Some(Timestamp(10)),
        Some(Timestamp(20)),
        Timestamp(100),
        Some(Timestamp(200)),
    );
    for (valid, known, expected) in [
        (9, 150, false),
        (10, 150, true),
        (19, 150, true),
        (20, 150, false),
        (15, 99, false),
        (15, 100, true),
        (15, 199, true),
        (15, 200, false),
    ] {
        let at = Moment {
            valid: Timestamp(valid),
            known: Timestamp(known),
        };
        assert_eq!(window.contains(at), expected, "{at:?}");
    }
    assert!(!window.contains(Moment::present(Timestamp(15))));
    let open = Window::new(None, None, Timestamp(100), None);
    assert!(open.contains(Moment::present(Timestamp(0))));
}

#[test]
fn an_empty_graph_is_a_graph() {
    let graph = Graph::empty(3);
    assert_eq!(graph.generation, 3);
    assert_eq!(graph.relations.nodes(), 0);
    assert!(graph.mentions.is_empty());
    assert!(graph.relations.all_visible(Moment::present(Timestamp(0))));
}
