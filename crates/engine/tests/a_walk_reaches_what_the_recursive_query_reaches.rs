//! The oracle of every k-hop walk: one recursive query over the tables of "`GraphRAG` do Zero" (text ids, one
//! row an edge), whose way of walking is quoted here as test input.

use std::collections::BTreeSet;

use malha_engine::graph::{Graph, GraphBuilder, Moment, RelationRow, Traversal, Window};
use malha_engine::types::{EntityId, RelationId, RelationTypeId, Timestamp};
use proptest::prelude::*;
use rusqlite::{Connection, params_from_iter};

/// Source, relation type, target.
type Triple = (u8, u8, u8);
const NODES: u8 = 20;

fn name(node: u8) -> String {
    format!("n{node:02}")
}

fn tables(triples: &BTreeSet<Triple>) -> Connection {
    let connection = Connection::open_in_memory().unwrap();
    connection
        .execute_batch(
            "CREATE TABLE nodes (id TEXT PRIMARY KEY, degree INTEGER DEFAULT 0);
             CREATE TABLE edges (src TEXT, dst TEXT, rel TEXT, PRIMARY KEY (src, dst, rel));",
        )
        .unwrap();
    for node in 0..NODES {
        let insert = "INSERT INTO nodes (id) VALUES (?1)";
        connection.execute(insert, [name(node)]).unwrap();
    }
    for &(source, kind, target) in triples {
        let insert = "INSERT INTO edges VALUES (?1, ?2, ?3)";
        let row = [name(source), name(target), format!("Rel_{kind}")];
        connection.execute(insert, row).unwrap();
    }
    connection
}

/// Nodes and least depths as the article walks: both directions, relation types compared in capitals.
fn by_query(tables: &Connection, seeds: &[u8], hops: u32, kinds: &[u8]) -> Vec<(u32, String)> {
    let marks = |count: usize| vec!["?"; count].join(",");
    let filter = match kinds.len() {
        0 => String::new(),
        count => format!("AND UPPER(e.rel) IN ({})", marks(count)),
    };
    let query = format!(
        "WITH RECURSIVE walk(id, depth) AS (
             SELECT id, 0 FROM nodes WHERE id IN ({})
             UNION
             SELECT CASE WHEN e.src = w.id THEN e.dst ELSE e.src END, w.depth + 1
             FROM walk w JOIN edges e ON (e.src = w.id OR e.dst = w.id)
             WHERE w.depth < {hops} {filter}
         )
         SELECT MIN(depth) AS depth, id FROM walk GROUP BY id ORDER BY depth, id",
        marks(seeds.len())
    );
    let mut statement = tables.prepare(&query).unwrap();
    let values = seeds
        .iter()
        .map(|&seed| name(seed))
        .chain(kinds.iter().map(|kind| format!("REL_{kind}")));
    let rows = statement.query_map(params_from_iter(values), |row| {
        Ok((row.get(0)?, row.get(1)?))
    });
    rows.unwrap().collect::<Result<_, _>>().unwrap()
}

fn graph(triples: &BTreeSet<Triple>) -> Graph {
    let entities = (0..NODES).map(|node| EntityId(node.into())).collect();
    let mut builder = GraphBuilder::new(1, entities, Vec::new());
    for (&(source, kind, target), id) in triples.iter().zip(1..) {
        builder.relation(&RelationRow {
            id: RelationId(id),
            source: EntityId(source.into()),
            target: EntityId(target.into()),
            relation_type: RelationTypeId(kind.into()),
            weight: 1.0,
            window: Window::new(None, None, Timestamp(0), None),
        });
    }
    builder.build().0
}

proptest! {
    #[test]
    fn a_walk_reaches_what_the_recursive_query_reaches(
        triples in proptest::collection::btree_set((0..NODES, 0_u8..3, 0..NODES), 0..50),
        seeds in proptest::collection::vec(0..NODES, 1..4),
        hops in 0_u32..5,
        kinds in proptest::collection::vec(0_u8..4, 0..3),
        max_nodes in 1_usize..25,
    ) {
        let expected = by_query(&tables(&triples), &seeds, hops, &kinds);
        let ids = || kinds.iter().map(|&kind| RelationTypeId(kind.into())).collect();
        let walk = Traversal {
            max_hops: hops,
            max_nodes,
            relation_types: (!kinds.is_empty()).then(ids),
            ..Traversal::new(
                seeds.iter().map(|&seed| seed.into()).collect(),
                Moment::present(Timestamp(1)),
            )
        };
        let walked = walk.run(&graph(&triples).relations);
        let nodes: Vec<(u32, String)> = walked
            .nodes
            .iter()
            .map(|node| (node.depth, name(node.entity as u8)))
            .collect();
        prop_assert_eq!(walked.cut, expected.len() > max_nodes);
        prop_assert_eq!(&nodes[..], &expected[..expected.len().min(max_nodes)]);
    }
}
