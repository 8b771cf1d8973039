//! Full text of the current chunks in FTS5: terms of our own tokenizer in, BM25 out.
//!
//! What loading costs is sorting and merging what was gathered: with few large transactions and 32 MB of terms
//! gathered at a time instead of 1 MB, half of it. Other settings (`automerge`, `crisismerge`, an `optimize` at
//! the end) make neither loading nor questions faster, so they stay.

use rusqlite::types::Value;
use rusqlite::{Connection, OptionalExtension, params, params_from_iter};

use crate::Result;
use crate::text::QueryTerm;
use crate::types::{ChunkId, DocumentId};

/// BM25 with its usual constants (`k1` 1.2, `b` 0.75). A word of the title counts three times: against equal
/// weights that gives two points of recall@5 on the sets with titles and costs none elsewhere.
const SCORE: &str = "-bm25(chunk_fts, 3.0, 1.0, 1.0)";
/// Chunks up to which no question is too long: all of them are scored in about ten milliseconds.
const SMALL_STORE: i64 = 16_000;
/// Hits that are scored at most, words counted one by one, in a larger store.
const MOST_HITS: i64 = 12_000;

/// Adds a chunk's terms, blank-separated.
pub(crate) fn insert(
    connection: &Connection,
    chunk: ChunkId,
    title: &str,
    heading: &str,
    body: &str,
) -> Result<()> {
    connection
        .prepare_cached(
            "INSERT INTO chunk_fts (rowid, title, heading, body) VALUES (?1, ?2, ?3, ?4)",
        )?
        .execute(params![chunk.0, title, heading, body])?;
    Ok(())
}

/// Takes a chunk out.
pub(crate) fn delete(connection: &Connection, chunk: ChunkId) -> Result<()> {
    connection
        .prepare_cached("DELETE FROM chunk_fts WHERE rowid = ?1")?
        .execute([chunk.0])?;
    Ok(())
}

/// Chunks by BM25, best first, ties by row id. `documents` restricts the search; user text never
/// reaches the FTS grammar, only quoted terms do.
///
/// Stop words are left out unless nothing else is left, and in a large store the commonest words too
/// (see [`affordable`]).
pub(crate) fn search(
    connection: &Connection,
    namespace: i64,
    terms: &[QueryTerm],
    documents: Option<&[DocumentId]>,
    limit: usize,
) -> Result<Vec<(ChunkId, f64)>> {
    let mut words: Vec<&[String]> = terms
        .iter()
        .filter(|term| !term.stop)
        .map(|term| term.alternatives.as_slice())
        .collect();
    if words.is_empty() {
        words = terms
            .iter()
            .map(|term| term.alternatives.as_slice())
            .collect();
    }
    let words = affordable(connection, words)?;
    let query: Vec<String> = words
        .into_iter()
        .flatten()
        .map(|term| quoted(term))
        .collect();
    if query.is_empty() {
        return Ok(Vec::new());
    }
    let query = query.join(" OR ");
    // Looking up the document of every hit costs as much as scoring it: only where it tells them apart.
    let sql = if documents.is_none() && is_only_namespace(connection, namespace)? {
        format!(
            "SELECT f.rowid, {SCORE} AS score FROM chunk_fts f WHERE chunk_fts MATCH ?1
             ORDER BY score DESC, f.rowid LIMIT ?2"
        )
    } else {
        let filter = match documents {
            Some(_) => "AND d.id IN (SELECT value FROM json_each(?4))",
            None => "AND ?4 IS NULL",
        };
        format!(
            "SELECT f.rowid, {SCORE} AS score FROM chunk_fts f
             JOIN chunk c ON c.id = f.rowid JOIN document d ON d.id = c.document
             WHERE chunk_fts MATCH ?1 AND d.namespace = ?3 {filter}
             ORDER BY score DESC, f.rowid LIMIT ?2"
        )
    };
    let mut statement = connection.prepare_cached(&sql)?;
    statement.raw_bind_parameter(1, query)?;
    statement.raw_bind_parameter(2, limit as i64)?;
    if statement.parameter_count() > 2 {
        let documents = documents.map(|ids| {
            serde_json::Value::from(ids.iter().map(|id| id.0).collect::<Vec<_>>()).to_string()
        });
        statement.raw_bind_parameter(3, namespace)?;
        statement.raw_bind_parameter(4, documents)?;
    }
    let mut rows = statement.raw_query();
    let mut hits = Vec::new();
    while let Some(row) = rows.next()? {
        hits.push((ChunkId(row.get(0)?), row.get(1)?));
    }
    Ok(hits)
}

/// The words of a question that FTS5 can score in time, in the order given. It takes about 0.7 µs for
/// every chunk that has any of them, so in a store of more than [`SMALL_STORE`] chunks the rarest words
/// are kept as long as their chunks together are no more than [`MOST_HITS`]. The rarest always stays.
fn affordable<'a>(connection: &Connection, words: Vec<&'a [String]>) -> Result<Vec<&'a [String]>> {
    let last_chunk: Option<i64> = connection
        .prepare_cached("SELECT max(id) FROM chunk")?
        .query_row([], |row| row.get(0))?;
    if last_chunk.unwrap_or(0) <= SMALL_STORE {
        return Ok(words);
    }
    let mut by_frequency = Vec::with_capacity(words.len());
    for (place, word) in words.into_iter().enumerate() {
        let mut chunks = 0;
        for term in word {
            chunks += document_frequency(connection, term)?;
        }
        by_frequency.push((chunks, place, word));
    }
    by_frequency.sort_unstable_by_key(|&(chunks, place, _)| (chunks, place));
    let mut hits = 0;
    let mut first = true;
    by_frequency.retain(|&(chunks, _, _)| {
        hits += chunks;
        std::mem::take(&mut first) || hits <= MOST_HITS
    });
    by_frequency.sort_unstable_by_key(|&(_, place, _)| place);
    Ok(by_frequency.into_iter().map(|(_, _, word)| word).collect())
}

/// In how many chunks of all namespaces a term stands; deleted chunks are not counted.
pub(crate) fn document_frequency(connection: &Connection, term: &str) -> Result<i64> {
    Ok(connection
        .prepare_cached("SELECT doc FROM chunk_fts_term WHERE term = ?1")?
        .query_row([term], |row| row.get(0))
        .optional()?
        .unwrap_or(0))
}

/// False too for a namespace that the store does not know.
fn is_only_namespace(connection: &Connection, namespace: i64) -> Result<bool> {
    Ok(connection
        .prepare_cached("SELECT count(*) = 1 AND max(id) IS ?1 FROM namespace")?
        .query_row([namespace], |row| row.get(0))?)
}

/// Current chunks that hold, of every group, at least one term.
pub(crate) fn chunks_with_all(
    connection: &Connection,
    namespace: i64,
    groups: &[Vec<String>],
) -> Result<Vec<ChunkId>> {
    if groups.is_empty() || groups.iter().any(Vec::is_empty) {
        return Ok(Vec::new());
    }
    let query = groups
        .iter()
        .map(|group| {
            let terms: Vec<String> = group.iter().map(|term| quoted(term)).collect();
            format!("({})", terms.join(" OR "))
        })
        .collect::<Vec<_>>()
        .join(" AND ");
    let mut statement = connection.prepare_cached(
        "SELECT f.rowid FROM chunk_fts f JOIN chunk c ON c.id = f.rowid JOIN document d ON d.id = c.document
         WHERE chunk_fts MATCH ?1 AND d.namespace = ?2 ORDER BY f.rowid",
    )?;
    let rows = statement.query_map(
        params_from_iter([Value::from(query), Value::from(namespace)]),
        |row| Ok(ChunkId(row.get(0)?)),
    )?;
    Ok(rows.collect::<rusqlite::Result<_>>()?)
}

/// A term as an FTS5 string.
fn quoted(term: &str) -> String {
    format!("\"{}\"", term.replace('"', "\"\""))
}

#[cfg(test)]
mod tests {
    use super::super::Store;
    use super::*;

    /// Chunks from id 1 on, in documents of the same id; the third is of another namespace.
    fn store(bodies: &[&str]) -> Store {
        let store = Store::in_memory().unwrap();
        let c = store.connection();
        c.execute_batch(
            "INSERT INTO entity (id, namespace, public_id, kind, key, name, recorded_at)
             VALUES (1, 1, 'e', 'note', 'e', 'e', 1)",
        )
        .unwrap();
        for (id, body) in (1..).zip(bodies) {
            add(c, id, 1, body);
        }
        store
    }

    fn add(c: &Connection, id: i64, namespace: i64, body: &str) {
        c.execute(
            "INSERT INTO document (id, namespace, public_id, uri, entity, title, kind, language,
                 content_hash, recorded_at) VALUES (?1, ?2, ?1, ?1, 1, '', 'row', 'en', x'', 1)",
            [id, namespace],
        )
        .unwrap();
        c.execute(
            "INSERT INTO chunk (id, document, ordinal, start, end, line, heading_path, text, tokens, hash,
                 recorded_at) VALUES (?1, ?1, 0, 0, 0, 1, '[]', '', 0, x'', 1)",
            [id],
        )
        .unwrap();
        insert(c, ChunkId(id), "", "", body).unwrap();
    }

    fn terms(text: &str) -> Vec<QueryTerm> {
        text.split_whitespace()
            .map(|word| QueryTerm {
                word: word.to_owned(),
                alternatives: word.split('|').map(str::to_owned).collect(),
                stop: word == "the",
            })
            .collect()
    }

    fn found(store: &Store, query: &str, documents: Option<&[DocumentId]>) -> Vec<i64> {
        let hits = search(store.connection(), 1, &terms(query), documents, 10).unwrap();
        assert!(hits.is_sorted_by(|a, b| a.1 >= b.1));
        hits.into_iter().map(|hit| hit.0.0).collect()
    }

    #[test]
    fn best_first_and_ties_by_id() {
        let store = store(&["river the", "river tejo", "river", "the end", "runs"]);
        let check = |query: &str, expected: &[i64]| {
            assert_eq!(found(&store, query, None), expected, "{query}");
        };
        check("tejo river", &[2, 3, 1]);
        check("run|runs", &[5]);
        check("the tejo", &[2]);
        check("the", &[1, 4]);
        check("nowhere", &[]);
        check("", &[]);
        check("\" OR NEAR( * ^ title: -", &[]);
        delete(store.connection(), ChunkId(2)).unwrap();
        check("tejo river", &[3, 1]);
    }

    #[test]
    fn documents_and_namespaces_narrow_the_hits() {
        let store = store(&["a b", "a", "a"]);
        assert_eq!(
            found(&store, "a", Some(&[DocumentId(3), DocumentId(1)])),
            [3, 1]
        );
        assert_eq!(found(&store, "a", Some(&[])), [0_i64; 0]);
        let unknown = search(store.connection(), 0, &terms("a"), None, 10).unwrap();
        assert_eq!(unknown, [], "a namespace the store does not know");
        store
            .connection()
            .execute_batch("INSERT INTO namespace VALUES (2, 'other')")
            .unwrap();
        add(store.connection(), 4, 2, "a b secret");
        assert_eq!(found(&store, "a", None), [2, 3, 1]);
        assert_eq!(found(&store, "secret", None), [0_i64; 0]);
        let groups = vec![vec!["secret".to_owned()]];
        let all = |namespace| chunks_with_all(store.connection(), namespace, &groups).unwrap();
        assert_eq!((all(1), all(2)), (vec![], vec![ChunkId(4)]));
    }

    #[test]
    fn of_every_group_one_term_must_be_there() {
        let store = store(&["a b", "a c", "b c"]);
        let check = |groups: &[&[&str]], expected: &[i64]| {
            let groups: Vec<Vec<String>> = groups
                .iter()
                .map(|group| group.iter().map(|&term| term.to_owned()).collect())
                .collect();
            let found = chunks_with_all(store.connection(), 1, &groups).unwrap();
            assert_eq!(found.iter().map(|c| c.0).collect::<Vec<_>>(), expected);
        };
        check(&[&["a"]], &[1, 2]);
        check(&[&["a"], &["b", "c"]], &[1, 2]);
        check(&[&["a"], &["c"]], &[2]);
        check(&[], &[]);
        check(&[&["a"], &[]], &[]);
    }

    #[test]
    fn a_large_store_leaves_out_what_is_common_and_keeps_the_rarest() {
        let store = store(&[]);
        let c = store.connection();
        c.execute_batch("BEGIN").unwrap();
        for id in 1..=SMALL_STORE + 4_000 {
            let mut body = "common ".to_owned();
            for (step, word) in [(2, "half"), (5, "fifth"), (4_000, "rare")] {
                if id % step == 0 {
                    body.push_str(word);
                    body.push(' ');
                }
            }
            insert(c, ChunkId(id), "", "", &body).unwrap();
        }
        c.execute(
            "INSERT INTO chunk (id, document, ordinal, start, end, line, heading_path, text, tokens, hash,
                 recorded_at) VALUES (?1, 1, 0, 0, 0, 1, '[]', '', 0, x'', 1)",
            [SMALL_STORE + 4_000],
        )
        .unwrap();
        c.execute_batch("COMMIT").unwrap();
        let check = |query: &str, expected: &str| {
            let terms = terms(query);
            let words = terms.iter().map(|term| term.alternatives.as_slice());
            let kept: Vec<String> = affordable(c, words.collect())
                .unwrap()
                .iter()
                .map(|word| word.join("|"))
                .collect();
            assert_eq!(kept.join(" "), expected, "{query}");
        };
        check("common rare", "rare");
        check("common half fifth rare", "fifth rare");
        check("half rare", "half rare");
        check("common", "common");
        check("common common", "common");
        check("half|fifth rare", "rare");
        check("unknown half", "unknown half");
        delete(c, ChunkId(4_000)).unwrap();
        assert_eq!(document_frequency(c, "rare").unwrap(), 4);
    }
}
