//! One number for the current content of a namespace.
//!
//! Two stores have the same digest exactly when they hold the same documents, chunks, entities,
//! aliases, name counts, mentions, links, relations and claims with their evidence, and issues, whatever the
//! history that led there. Row ids, public ids, clocks, vectors and insertion order play no part: a
//! row is hashed with what it refers to by identity, and the rows of a table are combined by adding
//! their SHA-256 values modulo 2^256. Addition needs no order and no memory, and unlike XOR it does
//! not lose rows that stand there twice.

use rusqlite::types::ValueRef;
use rusqlite::{Connection, Row};
use rustc_hash::FxHashMap;
use sha2::{Digest as _, Sha256};

use super::hex::hex;
use super::{NamespaceId, Store};
use crate::Result;
use crate::types::Namespace;

/// Changed with every change of what goes into a digest.
const RECIPE: &str = "malha content 2";

/// A current relation: not retracted, and not ended by a run that no longer found it (such an end
/// is a clock's, a stated one is written).
const CURRENT_RELATION: &str =
    "r.retracted_at IS NULL AND (r.valid_to IS NULL OR r.valid_to_written IS NOT NULL)";

type Hash = [u8; 32];

impl Store {
    /// `sha256:` and 64 hexadecimal digits that depend only on the current content of the namespace.
    /// One that holds nothing has a digest too.
    pub fn digest(&self, namespace: &Namespace) -> Result<String> {
        let _state = self.read()?;
        let mut whole = Sha256::new();
        whole.update(RECIPE);
        if let Some(id) = self.namespace(namespace)? {
            for (name, table) in tables(self.connection(), id)? {
                whole.update(name);
                whole.update(table.rows.to_le_bytes());
                for limb in table.sum {
                    whole.update(limb.to_le_bytes());
                }
            }
        }
        Ok(format!("sha256:{}", hex(&whole.finalize())))
    }
}

/// Number and sum of the row hashes of one table, as 64-bit limbs from the lowest up.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
struct TableDigest {
    rows: u64,
    sum: [u64; 4],
}

impl TableDigest {
    fn add(&mut self, hash: &Hash) {
        self.rows += 1;
        let mut carry = false;
        for (limb, bytes) in self.sum.iter_mut().zip(hash.chunks_exact(8)) {
            let value = u64::from_le_bytes(bytes.try_into().expect("eight bytes"));
            let (sum, over) = limb.overflowing_add(value);
            let (sum, over_again) = sum.overflowing_add(u64::from(carry));
            *limb = sum;
            carry = over || over_again;
        }
    }
}

/// One row, field by field; every field with its kind and length, so that no two rows read alike.
struct Line(Sha256);

impl Line {
    fn new() -> Self {
        Self(Sha256::new())
    }

    fn value(&mut self, value: ValueRef<'_>) {
        let (kind, bytes): (u8, &[u8]) = match value {
            ValueRef::Null => (0, &[]),
            ValueRef::Integer(number) => return self.field(1, &number.to_le_bytes()),
            ValueRef::Real(number) => return self.field(2, &number.to_bits().to_le_bytes()),
            ValueRef::Text(text) => (3, text),
            ValueRef::Blob(bytes) => (4, bytes),
        };
        self.field(kind, bytes);
    }

    fn field(&mut self, kind: u8, bytes: &[u8]) {
        self.0.update([kind]);
        self.0.update((bytes.len() as u64).to_le_bytes());
        self.0.update(bytes);
    }

    fn finish(self) -> Hash {
        self.0.finalize().into()
    }
}

/// Hashes of identities by row id.
type Identities = FxHashMap<i64, Hash>;

fn identity(identities: &Identities, id: i64) -> &[u8] {
    // A row that refers to nothing current is a violation that `verify` names; here it is only
    // different from every sound row.
    identities.get(&id).map_or(&[], |hash| hash.as_slice())
}

fn tables(
    connection: &Connection,
    namespace: NamespaceId,
) -> Result<Vec<(&'static str, TableDigest)>> {
    let scan = Scan {
        connection,
        namespace,
    };
    let none = Identities::default();
    let documents = scan.identities(
        "SELECT d.id, d.uri FROM document d WHERE d.namespace = ?1 AND d.retracted_at IS NULL",
    )?;
    // A note goes by its present uri, so that a rename makes no difference; the rest by their key.
    let entities = scan.identities(
        "SELECT e.id, e.kind, coalesce(
             (SELECT min(d.uri) FROM document d
              WHERE d.entity = e.id AND d.retracted_at IS NULL AND e.kind = 'note'),
             e.key)
         FROM entity e WHERE e.namespace = ?1 AND e.retracted_at IS NULL",
    )?;
    let chunks = scan.identities(
        "SELECT c.id, d.uri, c.ordinal FROM chunk c JOIN document d ON d.id = c.document
         WHERE d.namespace = ?1 AND c.retracted_at IS NULL AND d.retracted_at IS NULL",
    )?;
    let relations = scan.identities_with(
        &format!(
            "SELECT r.id, r.source, r.target, t.key, r.origin, r.valid_from_written, r.valid_to_written
             FROM relation r JOIN relation_type t ON t.id = r.type
             WHERE r.namespace = ?1 AND {CURRENT_RELATION}"
        ),
        &[(1, &entities), (2, &entities)],
    )?;
    let claims = scan.identities_with(
        "SELECT c.id, c.subject, c.object, c.type, c.status, c.description, c.origin, c.valid_from_written,
                c.valid_to_written
         FROM claim c WHERE c.namespace = ?1 AND c.retracted_at IS NULL",
        &[(1, &entities), (2, &entities)],
    )?;
    Ok(vec![
        (
            "document",
            scan.sum(
                "SELECT d.entity, d.uri, d.title, d.kind, d.language, d.content_hash, d.front_matter,
                        d.aliases, d.valid_from_written
                 FROM document d WHERE d.namespace = ?1 AND d.retracted_at IS NULL",
                &[(0, &entities)],
            )?,
        ),
        (
            "tag",
            scan.sum(
                "SELECT t.document, t.folded, t.written FROM document_tag t
                 JOIN document d ON d.id = t.document
                 WHERE d.namespace = ?1 AND d.retracted_at IS NULL",
                &[(0, &documents)],
            )?,
        ),
        (
            "chunk",
            scan.sum(
                "SELECT c.id, c.start, c.end, c.line, c.heading_path, c.tokens, c.text FROM chunk c
                 JOIN document d ON d.id = c.document
                 WHERE d.namespace = ?1 AND c.retracted_at IS NULL AND d.retracted_at IS NULL",
                &[(0, &chunks)],
            )?,
        ),
        (
            "entity",
            scan.sum(
                "SELECT e.id, e.kind, e.name, e.description, e.properties FROM entity e
                 WHERE e.namespace = ?1 AND e.retracted_at IS NULL",
                &[(0, &entities)],
            )?,
        ),
        (
            "entity_type",
            scan.sum(
                "SELECT DISTINCT t.entity, t.type FROM entity_type t JOIN entity e ON e.id = t.entity
                 WHERE e.namespace = ?1 AND e.retracted_at IS NULL",
                &[(0, &entities)],
            )?,
        ),
        (
            "alias",
            scan.sum(
                "SELECT a.entity, a.folded, a.squashed, a.written, a.source, a.confidence FROM alias a
                 WHERE a.namespace = ?1",
                &[(0, &entities)],
            )?,
        ),
        (
            "name_count",
            scan.sum(
                "SELECT folded, written, chunks FROM name_count WHERE namespace = ?1",
                &[(usize::MAX, &none)],
            )?,
        ),
        (
            "mention",
            scan.sum(
                "SELECT m.chunk, m.entity, m.start, m.end, m.how FROM mention m
                 JOIN chunk c ON c.id = m.chunk JOIN document d ON d.id = c.document
                 WHERE d.namespace = ?1 AND c.retracted_at IS NULL AND d.retracted_at IS NULL",
                &[(0, &chunks), (1, &entities)],
            )?,
        ),
        (
            "link",
            scan.sum(
                "SELECT l.document, l.resolved, l.start, l.end, l.line, l.kind, l.target, l.anchor, l.label,
                        l.relation, l.status, l.rule, l.candidates
                 FROM link l JOIN document d ON d.id = l.document
                 WHERE d.namespace = ?1 AND d.retracted_at IS NULL",
                &[(0, &documents), (1, &documents)],
            )?,
        ),
        (
            "relation",
            scan.sum(
                &format!(
                    "SELECT r.id, r.weight, r.confidence, r.fact, r.properties FROM relation r
                     WHERE r.namespace = ?1 AND {CURRENT_RELATION}"
                ),
                &[(0, &relations)],
            )?,
        ),
        (
            "evidence",
            scan.sum(
                &format!(
                    "SELECT v.relation, v.document, v.start, v.end, v.quote FROM evidence v
                     JOIN relation r ON r.id = v.relation
                     WHERE r.namespace = ?1 AND v.retracted_at IS NULL AND {CURRENT_RELATION}"
                ),
                &[(0, &relations), (1, &documents)],
            )?,
        ),
        (
            "claim",
            scan.sum(
                "SELECT c.id, c.confidence FROM claim c
                 WHERE c.namespace = ?1 AND c.retracted_at IS NULL",
                &[(0, &claims)],
            )?,
        ),
        (
            "claim_evidence",
            scan.sum(
                "SELECT v.document, v.claim, v.start, v.end, v.quote FROM claim_evidence v
                 JOIN claim c ON c.id = v.claim
                 WHERE c.namespace = ?1 AND c.retracted_at IS NULL AND v.retracted_at IS NULL",
                &[(0, &documents), (1, &claims)],
            )?,
        ),
        (
            "issue",
            scan.sum(
                "SELECT s.label, i.path, i.severity, i.line, i.reason FROM issue i
                 JOIN source s ON s.id = i.source WHERE s.namespace = ?1",
                &[(usize::MAX, &none)],
            )?,
        ),
    ])
}

/// Reads tables of one namespace.
struct Scan<'connection> {
    connection: &'connection Connection,
    namespace: NamespaceId,
}

/// Columns that hold row ids, with the identities to hash in their place.
type References<'a> = [(usize, &'a Identities)];

impl Scan<'_> {
    fn identities(&self, sql: &str) -> Result<Identities> {
        self.identities_with(sql, &[])
    }

    /// Hashes all columns but the first, which is the row id.
    fn identities_with(&self, sql: &str, references: &References<'_>) -> Result<Identities> {
        let mut identities = Identities::default();
        self.for_each(sql, |row, columns| {
            identities.insert(row.get(0)?, hash_row(row, 1..columns, references)?);
            Ok(())
        })?;
        Ok(identities)
    }

    fn sum(&self, sql: &str, references: &References<'_>) -> Result<TableDigest> {
        let mut table = TableDigest::default();
        self.for_each(sql, |row, columns| {
            table.add(&hash_row(row, 0..columns, references)?);
            Ok(())
        })?;
        Ok(table)
    }

    fn for_each(
        &self,
        sql: &str,
        mut each: impl FnMut(&Row<'_>, usize) -> Result<()>,
    ) -> Result<()> {
        let mut statement = self.connection.prepare(sql)?;
        let columns = statement.column_count();
        let mut rows = statement.query([self.namespace.0])?;
        while let Some(row) = rows.next()? {
            each(row, columns)?;
        }
        Ok(())
    }
}

fn hash_row(
    row: &Row<'_>,
    columns: std::ops::Range<usize>,
    references: &References<'_>,
) -> Result<Hash> {
    let mut line = Line::new();
    for column in columns {
        let value = row.get_ref(column)?;
        match (
            references.iter().find(|(number, _)| *number == column),
            value,
        ) {
            (Some((_, identities)), ValueRef::Integer(id)) => {
                line.field(5, identity(identities, id));
            }
            _ => line.value(value),
        }
    }
    Ok(line.finish())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A small content, written with row ids and times that must not matter.
    fn store(first_id: i64, clock: i64, reverse: bool) -> Store {
        let store = Store::in_memory().unwrap();
        let c = store.connection();
        let mut rows = vec!["a.md", "b.md"];
        if reverse {
            rows.reverse();
        }
        for (at, uri) in (first_id..).zip(&rows) {
            c.execute(
                "INSERT INTO entity (id, namespace, public_id, kind, key, name, recorded_at)
                 VALUES (?1, 1, ?1, 'note', ?2, ?2, ?3)",
                rusqlite::params![at, uri, clock],
            )
            .unwrap();
            c.execute(
                "INSERT INTO document (id, namespace, public_id, uri, entity, title, kind, language,
                     content_hash, recorded_at) VALUES (?1, 1, ?1, ?2, ?1, ?2, 'markdown', 'en', x'00', ?3)",
                rusqlite::params![at, uri, clock],
            )
            .unwrap();
            c.execute(
                "INSERT INTO chunk (id, document, ordinal, start, end, line, heading_path, text, tokens,
                     hash, recorded_at) VALUES (?1, ?1, 0, 0, 4, 1, '[]', 'text', 1, x'', ?2)",
                rusqlite::params![at, clock],
            )
            .unwrap();
        }
        let id = |uri: &str| first_id + rows.iter().position(|row| *row == uri).unwrap() as i64;
        c.execute_batch(&format!(
            "INSERT INTO relation_type (id, namespace, key, name) VALUES ({first_id}, 1, 'link', 'link');
             INSERT INTO relation (source, target, type, version, id, namespace, weight, recorded_at,
                 valid_from, origin)
             VALUES ({a}, {b}, {first_id}, {first_id}, {first_id}, 1, 1.0, {clock}, {clock}, 'link');
             INSERT INTO evidence (relation, document, start, end, chunk, quote)
             VALUES ({first_id}, {a}, 0, 4, {a}, 'text');
             INSERT INTO mention (chunk, start, end, entity, how) VALUES ({a}, 0, 4, {b}, 'link');",
            a = id("a.md"),
            b = id("b.md"),
        ))
        .unwrap();
        store
    }

    fn digest(store: &Store) -> String {
        store.digest(&Namespace::default()).unwrap()
    }

    #[test]
    fn ids_clocks_and_order_do_not_matter() {
        let expected = digest(&store(1, 1000, false));
        assert!(expected.starts_with("sha256:") && expected.len() == 71);
        assert_eq!(digest(&store(40, 77, true)), expected);
    }

    #[test]
    fn every_kind_of_change_matters_and_history_does_not() {
        let expected = digest(&store(1, 1000, false));
        let check = |sql: &str, same: bool| {
            let store = store(1, 1000, false);
            store.connection().execute_batch(sql).unwrap();
            assert_eq!(digest(&store) == expected, same, "{sql}");
        };
        for change in [
            "UPDATE document SET title = 'x' WHERE id = 1",
            "UPDATE document SET front_matter = '{}' WHERE id = 1",
            "UPDATE chunk SET text = 'TEXT' WHERE id = 1",
            "UPDATE entity SET name = 'x' WHERE id = 2",
            "UPDATE mention SET entity = 1",
            "UPDATE mention SET end = 3",
            "UPDATE relation SET weight = 2",
            "UPDATE relation SET source = 2, target = 1",
            "UPDATE relation SET retracted_at = 5",
            "UPDATE relation SET valid_from_written = '2020'",
            "UPDATE evidence SET quote = 'x'",
            "INSERT INTO name_count VALUES (1, 'ana', 'Ana', 2)",
            "INSERT INTO document_tag VALUES (1, 'x', 'X')",
            "INSERT INTO alias VALUES (1, 'a', 1, 'title', 'A', 'a', 1.0)",
            "INSERT INTO entity_type VALUES (1, 'Person', 'a.md')",
            "INSERT INTO claim (namespace, public_id, subject, type, status, description, recorded_at, origin)
             VALUES (1, 'c', 1, 'x', 'true', 'd', 1, 'llm')",
            "INSERT INTO source (id, namespace, label, root) VALUES (1, 1, '', '/x');
             INSERT INTO issue VALUES (1, 'c.md', 0, 'skipped', 0, 'empty')",
        ] {
            check(change, false);
        }
        for change in [
            "UPDATE meta SET value = '99'",
            "UPDATE relation SET valid_from = 7",
            "INSERT INTO embedding VALUES (1, 1, x'00')",
            "INSERT INTO relation_type (namespace, key, name) VALUES (1, 'unused', 'unused')",
            "INSERT INTO chunk (document, ordinal, start, end, line, heading_path, text, tokens, hash,
                 recorded_at, retracted_at) VALUES (1, 0, 0, 1, 1, '[]', 'x', 1, x'', 1, 2)",
            "INSERT INTO namespace VALUES (2, 'other');
             INSERT INTO name_count VALUES (2, 'ana', 'Ana', 2)",
        ] {
            check(change, true);
        }
    }

    #[test]
    fn sums_carry() {
        let mut table = TableDigest::default();
        table.add(&[0xff; 32]);
        let mut one = [0; 32];
        one[0] = 1;
        table.add(&one);
        assert_eq!((table.rows, table.sum), (2, [0; 4]));
    }
}
