//! Looks for damage and for rows that break our own invariants.

use rusqlite::types::ValueRef;

use super::Store;
use crate::Result;

/// Violations listed of one check; the rest are counted.
const LISTED: usize = 20;

/// One broken rule.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
pub struct Violation {
    /// Name of the check.
    pub check: String,
    /// The row, as `table id`, or what the check says of it.
    pub item: String,
}

/// What a check of the store found.
#[derive(Debug, Clone, Default, PartialEq, Eq, serde::Serialize)]
pub struct Verification {
    /// Checks made.
    pub checks: usize,
    /// Broken rules, the first of every check.
    pub violations: Vec<Violation>,
    /// Broken rules that are not listed.
    pub more: usize,
}

/// An invariant: its name, and a query that yields the rows that break it.
struct Check(&'static str, &'static str);

/// Every invariant of the schema that the schema itself cannot enforce.
const CHECKS: &[Check] = &[
    Check(
        "a document has one current row for each uri and a current entity",
        "SELECT 'document ' || d.id FROM document d JOIN entity e ON e.id = d.entity
         WHERE d.retracted_at IS NULL AND (e.retracted_at IS NOT NULL OR e.namespace <> d.namespace)",
    ),
    Check(
        "a current chunk belongs to a current document",
        "SELECT 'chunk ' || c.id FROM chunk c JOIN document d ON d.id = c.document
         WHERE c.retracted_at IS NULL AND d.retracted_at IS NOT NULL",
    ),
    Check(
        "the chunks of a document are numbered from 0 without gaps",
        "SELECT 'document ' || document FROM chunk WHERE retracted_at IS NULL GROUP BY document
         HAVING min(ordinal) <> 0 OR max(ordinal) <> count(*) - 1",
    ),
    Check(
        "a chunk's byte range is as long as its text",
        "SELECT 'chunk ' || id FROM chunk
         WHERE start < 0 OR end - start <> length(CAST(text AS BLOB))",
    ),
    Check(
        "a chunk's text is what stands at its byte range",
        "SELECT 'chunk ' || c.id FROM chunk c JOIN document d ON d.id = c.document
         WHERE c.retracted_at IS NULL AND d.text IS NOT NULL
           AND substr(CAST(d.text AS BLOB), c.start + 1, c.end - c.start) <> CAST(c.text AS BLOB)",
    ),
    Check(
        "every current chunk is in the full-text index",
        "SELECT 'chunk ' || id FROM chunk WHERE retracted_at IS NULL
           AND id NOT IN (SELECT id FROM chunk_fts_docsize)",
    ),
    Check(
        "the full-text index holds only current chunks",
        "SELECT 'chunk ' || f.id FROM chunk_fts_docsize f LEFT JOIN chunk c ON c.id = f.id
         WHERE c.id IS NULL OR c.retracted_at IS NOT NULL",
    ),
    Check(
        "a mention lies within its chunk",
        "SELECT 'mention ' || m.chunk || ':' || m.start FROM mention m JOIN chunk c ON c.id = m.chunk
         WHERE m.start < 0 OR m.end < m.start OR m.end > length(CAST(c.text AS BLOB))",
    ),
    Check(
        "a mention is of a current chunk and a current entity",
        "SELECT 'mention ' || m.chunk || ':' || m.start FROM mention m
         JOIN chunk c ON c.id = m.chunk JOIN entity e ON e.id = m.entity
         WHERE c.retracted_at IS NOT NULL OR e.retracted_at IS NOT NULL",
    ),
    Check(
        "an alias names a current entity of its namespace",
        "SELECT 'alias ' || a.folded || ' of entity ' || a.entity FROM alias a
         LEFT JOIN entity e ON e.id = a.entity
         WHERE e.id IS NULL OR e.retracted_at IS NOT NULL OR e.namespace <> a.namespace",
    ),
    Check(
        "a name is counted in at least one chunk",
        "SELECT 'name ' || folded FROM name_count WHERE chunks < 1",
    ),
    Check(
        "a link is resolved exactly when it has a target",
        "SELECT 'link ' || id FROM link WHERE (status = 'resolved') <> (resolved IS NOT NULL)",
    ),
    Check(
        "a link of a current document leads to a current one",
        "SELECT 'link ' || l.id FROM link l JOIN document d ON d.id = l.document
         JOIN document t ON t.id = l.resolved
         WHERE d.retracted_at IS NULL AND t.retracted_at IS NOT NULL",
    ),
    Check(
        "a current relation joins current entities of its namespace",
        "SELECT 'relation ' || r.id FROM relation r
         JOIN entity a ON a.id = r.source JOIN entity b ON b.id = r.target
         JOIN relation_type t ON t.id = r.type
         WHERE r.retracted_at IS NULL
           AND (a.retracted_at IS NOT NULL OR b.retracted_at IS NOT NULL
                OR a.namespace <> r.namespace OR b.namespace <> r.namespace
                OR t.namespace <> r.namespace)",
    ),
    Check(
        "a current relation has current evidence",
        "SELECT 'relation ' || r.id FROM relation r WHERE r.retracted_at IS NULL AND NOT EXISTS
             (SELECT 1 FROM evidence v WHERE v.relation = r.id AND v.retracted_at IS NULL)",
    ),
    Check(
        "a closed relation keeps its evidence",
        "SELECT 'relation ' || r.id FROM relation r WHERE r.retracted_at IS NOT NULL
           AND NOT EXISTS (SELECT 1 FROM evidence v WHERE v.relation = r.id)",
    ),
    Check(
        "current evidence is of a current document",
        "SELECT 'evidence ' || v.relation || ' in document ' || v.document FROM evidence v
         JOIN document d ON d.id = v.document JOIN relation r ON r.id = v.relation
         WHERE v.retracted_at IS NULL AND r.retracted_at IS NULL AND d.retracted_at IS NOT NULL",
    ),
    Check(
        "a quote stands where its evidence says",
        "SELECT 'evidence ' || v.relation || ' in document ' || v.document FROM evidence v
         JOIN document d ON d.id = v.document
         WHERE v.retracted_at IS NULL AND d.text IS NOT NULL AND d.retracted_at IS NULL
           AND substr(CAST(d.text AS BLOB), v.start + 1, length(CAST(v.quote AS BLOB)))
               <> CAST(v.quote AS BLOB)",
    ),
    Check(
        "a relation ends after it starts",
        "SELECT 'relation ' || id FROM relation WHERE valid_to < valid_from
             OR retracted_at < recorded_at",
    ),
    Check(
        "a current claim is about current entities of its namespace",
        "SELECT 'claim ' || c.id FROM claim c JOIN entity s ON s.id = c.subject LEFT JOIN entity o ON o.id = c.object
         WHERE c.retracted_at IS NULL
           AND (s.retracted_at IS NOT NULL OR o.retracted_at IS NOT NULL OR s.namespace <> c.namespace
                OR o.namespace <> c.namespace)",
    ),
    Check(
        "a current claim has current evidence",
        "SELECT 'claim ' || c.id FROM claim c WHERE c.retracted_at IS NULL AND NOT EXISTS
             (SELECT 1 FROM claim_evidence v WHERE v.claim = c.id AND v.retracted_at IS NULL)",
    ),
    Check(
        "a claim is made where its evidence says",
        "SELECT 'claim ' || v.claim || ' in document ' || v.document FROM claim_evidence v
         JOIN document d ON d.id = v.document JOIN claim c ON c.id = v.claim
         WHERE v.retracted_at IS NULL AND c.retracted_at IS NULL
           AND (d.retracted_at IS NOT NULL OR (d.text IS NOT NULL
               AND substr(CAST(d.text AS BLOB), v.start + 1, length(CAST(v.quote AS BLOB)))
                   <> CAST(v.quote AS BLOB)))",
    ),
    Check(
        "two entities have one public id each",
        "SELECT 'entity ' || min(id) || ' and ' || max(id) FROM entity
         GROUP BY namespace, public_id HAVING count(*) > 1",
    ),
];

impl Store {
    /// Checks the file (`SQLite`'s own checks, those of the full-text index among them), the
    /// references, and every invariant of ours. Reads only.
    pub fn verify(&self) -> Result<Verification> {
        let _state = self.read()?;
        let mut verification = Verification::default();
        self.check(
            "the file is whole",
            "SELECT integrity_check FROM pragma_integrity_check WHERE integrity_check <> 'ok'",
            &mut verification,
        )?;
        self.check(
            "every reference leads to a row",
            "SELECT \"table\" || ' ' || coalesce(rowid, '(no row id)') || ' to ' || parent
             FROM pragma_foreign_key_check",
            &mut verification,
        )?;
        for Check(name, sql) in CHECKS {
            self.check(name, sql, &mut verification)?;
        }
        Ok(verification)
    }

    fn check(&self, name: &str, sql: &str, verification: &mut Verification) -> Result<()> {
        verification.checks += 1;
        let mut statement = self.connection().prepare(sql)?;
        let mut rows = statement.query([])?;
        let mut listed = 0;
        while let Some(row) = rows.next()? {
            if listed == LISTED {
                verification.more += 1;
                continue;
            }
            listed += 1;
            let item = match row.get_ref(0)? {
                ValueRef::Text(text) => String::from_utf8_lossy(text).into_owned(),
                other => format!("{other:?}"),
            };
            verification.violations.push(Violation {
                check: name.to_owned(),
                item,
            });
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A sound store with one document, chunk, mention, alias, link and relation.
    const SOUND: &str = "
        INSERT INTO entity (id, namespace, public_id, kind, key, name, recorded_at)
        VALUES (1, 1, 'a', 'note', 'a.md', 'a', 1), (2, 1, 'b', 'name', 'b', 'B', 1);
        INSERT INTO document (id, namespace, public_id, uri, entity, title, kind, language, content_hash,
            text, recorded_at)
        VALUES (1, 1, 'd', 'a.md', 1, 'a', 'pdf', 'pt', x'00', 'São B.', 1);
        INSERT INTO chunk (id, document, ordinal, start, end, line, heading_path, text, tokens, hash,
            recorded_at)
        VALUES (1, 1, 0, 0, 7, 1, '[]', 'São B.', 2, x'00', 1);
        INSERT INTO chunk_fts (rowid, title, heading, body) VALUES (1, 'a', '', 'sao b');
        INSERT INTO mention VALUES (1, 5, 6, 2, 'name');
        INSERT INTO alias (namespace, folded, entity, source, written, squashed)
        VALUES (1, 'b', 2, 'name', 'B', 'b');
        INSERT INTO relation_type VALUES (1, 1, 'x', 'x');
        INSERT INTO relation (source, target, type, version, id, namespace, weight, recorded_at, origin)
        VALUES (1, 2, 1, 1, 1, 1, 1.0, 1, 'link');
        INSERT INTO evidence (relation, document, start, end, chunk, quote)
        VALUES (1, 1, 5, 6, 1, 'B');
        INSERT INTO claim (id, namespace, public_id, subject, type, status, description, recorded_at, origin)
        VALUES (1, 1, 'c', 2, 'x', 'suspected', 'It is B.', 1, 'llm');
        INSERT INTO claim_evidence (claim, document, start, end, chunk, quote) VALUES (1, 1, 5, 6, 1, 'B');
    ";

    #[test]
    fn each_rule_notices_what_breaks_it() {
        let check = |damage: &str, expected: &[&str]| {
            let store = Store::in_memory().unwrap();
            store.connection().execute_batch(SOUND).unwrap();
            store.connection().execute_batch(damage).unwrap();
            let found = store.verify().unwrap();
            let mut checks: Vec<&str> = found.violations.iter().map(|v| v.check.as_str()).collect();
            checks.dedup();
            assert_eq!(checks, expected, "{damage}");
        };
        check("", &[]);
        check(
            "UPDATE entity SET retracted_at = 9 WHERE id = 1",
            &[
                "a document has one current row for each uri and a current entity",
                "a current relation joins current entities of its namespace",
            ],
        );
        check(
            "UPDATE chunk SET end = 6",
            &[
                "a chunk's byte range is as long as its text",
                "a chunk's text is what stands at its byte range",
            ],
        );
        check(
            "UPDATE chunk SET ordinal = 1",
            &["the chunks of a document are numbered from 0 without gaps"],
        );
        check(
            "DELETE FROM chunk_fts",
            &["every current chunk is in the full-text index"],
        );
        check(
            "INSERT INTO chunk_fts (rowid, body) VALUES (7, 'x')",
            &["the full-text index holds only current chunks"],
        );
        check(
            "UPDATE mention SET end = 8",
            &["a mention lies within its chunk"],
        );
        check(
            "UPDATE mention SET entity = 77",
            &["every reference leads to a row"],
        );
        check(
            "DELETE FROM evidence",
            &["a current relation has current evidence"],
        );
        check(
            "UPDATE relation SET retracted_at = 9; DELETE FROM evidence",
            &["a closed relation keeps its evidence"],
        );
        check(
            "DELETE FROM claim_evidence",
            &["a current claim has current evidence"],
        );
        check(
            "UPDATE claim_evidence SET quote = 'C'",
            &["a claim is made where its evidence says"],
        );
        check(
            "UPDATE claim SET namespace = 9",
            &[
                "every reference leads to a row",
                "a current claim is about current entities of its namespace",
            ],
        );
        check(
            "UPDATE evidence SET quote = 'C'",
            &["a quote stands where its evidence says"],
        );
        check(
            "UPDATE relation SET valid_from = 5, valid_to = 4",
            &["a relation ends after it starts"],
        );
        check(
            "UPDATE entity SET public_id = 'a'",
            &["two entities have one public id each"],
        );
        check(
            "INSERT INTO name_count VALUES (1, 'b', 'B', 0)",
            &["a name is counted in at least one chunk"],
        );
        check(
            "INSERT INTO alias VALUES (1, 'z', 99, 'name', 'Z', 'z', 1.0)",
            &[
                "every reference leads to a row",
                "an alias names a current entity of its namespace",
            ],
        );
    }

    #[test]
    fn a_flood_is_counted_and_not_listed() {
        let store = Store::in_memory().unwrap();
        store
            .connection()
            .execute_batch(
                "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 50)
                 INSERT INTO name_count SELECT 1, 'n' || i, 'N', 0 FROM n",
            )
            .unwrap();
        let found = store.verify().unwrap();
        assert_eq!((found.violations.len(), found.more), (LISTED, 50 - LISTED));
    }
}
