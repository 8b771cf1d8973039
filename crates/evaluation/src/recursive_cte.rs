use std::path::Path;

use rusqlite::{Connection, params};

use crate::generate::EdgeList;
use crate::{Error, Result};

/// What malha is compared with in `malha bench khop`: a graph in two `SQLite` tables with text keys, walked by one
/// recursive query, as small projects without a graph engine do it.
pub struct RecursiveCte {
    connection: Connection,
}

impl RecursiveCte {
    /// Writes the graph into a new database file: text ids, one row an edge, an index on each end.
    pub fn build(path: &Path, graph: &EdgeList) -> Result<Self> {
        let mut connection = Connection::open(path).map_err(engine)?;
        connection
            .execute_batch(
                "PRAGMA journal_mode = WAL;
                 CREATE TABLE nodes (
                     id TEXT PRIMARY KEY, label TEXT NOT NULL, name TEXT NOT NULL, type TEXT, desc TEXT, degree INTEGER
                 );
                 CREATE TABLE edges (
                     src TEXT NOT NULL, dst TEXT NOT NULL, rel TEXT NOT NULL, weight REAL, source_chunk TEXT,
                     PRIMARY KEY (src, dst, rel)
                 );",
            )
            .map_err(engine)?;
        let transaction = connection.transaction().map_err(engine)?;
        {
            let mut insert = transaction
                .prepare("INSERT INTO nodes (id, label, name) VALUES (?1, 'Entity', ?1)")
                .map_err(engine)?;
            for node in 0..graph.nodes {
                insert.execute([id(node)]).map_err(engine)?;
            }
            let mut insert = transaction
                .prepare(
                    "INSERT INTO edges (src, dst, rel, weight) VALUES (?1, ?2, 'RELATED_TO', 1.0)",
                )
                .map_err(engine)?;
            for (source, target) in graph.sources.iter().zip(&graph.targets) {
                insert
                    .execute(params![id(*source), id(*target)])
                    .map_err(engine)?;
            }
        }
        transaction.commit().map_err(engine)?;
        connection
            .execute_batch(
                "CREATE INDEX idx_edges_src ON edges (src);
                 CREATE INDEX idx_edges_dst ON edges (dst);
                 ANALYZE;",
            )
            .map_err(engine)?;
        Ok(Self { connection })
    }

    /// Opens what [`Self::build`] wrote.
    pub fn open(path: &Path) -> Result<Self> {
        let connection = Connection::open(path).map_err(engine)?;
        Ok(Self { connection })
    }

    /// Every node within `hops` edges of `seed`, in either direction, with its least depth; by depth, then node.
    pub fn walk(&self, seed: u32, hops: u32) -> Result<Vec<(u32, u32)>> {
        let mut statement = self
            .connection
            .prepare_cached(
                "WITH RECURSIVE reached (id, depth) AS (
                     VALUES (?1, 0)
                     UNION
                     SELECT iif(e.src = r.id, e.dst, e.src), r.depth + 1
                     FROM reached r JOIN edges e ON e.src = r.id OR e.dst = r.id
                     WHERE r.depth < ?2
                 )
                 SELECT id, min(depth) FROM reached GROUP BY id",
            )
            .map_err(engine)?;
        let rows = statement
            .query_map(params![id(seed), hops], |row| {
                Ok((row.get::<_, String>(0)?, row.get::<_, u32>(1)?))
            })
            .map_err(engine)?;
        let mut reached = Vec::new();
        for row in rows {
            let (written, depth) = row.map_err(engine)?;
            let node = written[1..].parse().expect("ids are written by `id`");
            reached.push((node, depth));
        }
        reached.sort_unstable_by_key(|&(node, depth)| (depth, node));
        Ok(reached)
    }
}

fn id(node: u32) -> String {
    format!("n{node:07}")
}

fn engine(error: rusqlite::Error) -> Error {
    Error::Engine(error.into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn least_depths_in_both_directions() {
        let dir = tempfile::tempdir().unwrap();
        let graph = EdgeList {
            nodes: 6,
            sources: vec![0, 2, 2, 3, 0],
            targets: vec![1, 1, 3, 4, 3],
        };
        let cte = RecursiveCte::build(&dir.path().join("graph.db"), &graph).unwrap();
        let check = |hops, expected: &[(u32, u32)]| {
            assert_eq!(cte.walk(1, hops).unwrap(), expected);
        };
        check(0, &[(1, 0)]);
        check(1, &[(1, 0), (0, 1), (2, 1)]);
        check(2, &[(1, 0), (0, 1), (2, 1), (3, 2)]);
        check(3, &[(1, 0), (0, 1), (2, 1), (3, 2), (4, 3)]);
    }
}
