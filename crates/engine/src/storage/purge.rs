//! Forgetting: rows that go for good, with everything that was derived from them.
//!
//! What is doomed is listed in temporary tables. Rows of any table that refer to a doomed row go with it, as
//! the schema declares it, so that a table a later format adds is not forgotten here.

use std::time::Duration;

use rusqlite::{Connection, params};

use super::Store;
use super::hex::hex;
use super::store::BUSY_TIMEOUT;
use crate::Result;
use crate::text::{Language, Tokenizer, fold};
use crate::types::{Absence, DocumentId, EntityId, FoundTrace, RelationId};

/// How long a sweep waits for readers to let go of the log.
const READER_WAIT: Duration = Duration::from_secs(1);

/// Tables whose rows can be doomed, in the order in which one dooms the other.
const PARENTS: [&str; 5] = ["document", "entity", "relation", "chunk", "claim"];

/// What forgetting touches.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Doomed {
    pub(crate) documents: Vec<DocumentId>,
    pub(crate) entities: Vec<EntityId>,
    /// Turns of the ledger.
    pub(crate) turns: Vec<i64>,
}

/// Documents, current or not, by what is asked for: a uri, a session, or a text in one of their passages.
pub(crate) fn documents_to_forget(
    connection: &Connection,
    namespace: i64,
    by: &str,
    value: &str,
) -> Result<Vec<(DocumentId, String)>> {
    let condition = match by {
        "uri" => "d.uri = ?2",
        "session" => {
            "d.id IN (SELECT e.document FROM episode e JOIN session s ON s.id = e.session
                      WHERE s.namespace = ?1 AND s.name = ?2)"
        }
        "text" => {
            "(instr(d.title, ?2) OR instr(coalesce(d.text, ''), ?2)
              OR EXISTS (SELECT 1 FROM chunk c WHERE c.document = d.id AND instr(c.text, ?2)))"
        }
        "prefix" => "substr(d.uri, 1, length(?2)) = ?2",
        _ => "?2 = ''",
    };
    let mut statement = connection.prepare(&format!(
        "SELECT d.id, d.uri FROM document d WHERE d.namespace = ?1 AND {condition} ORDER BY d.uri, d.id"
    ))?;
    let rows = statement.query_map(params![namespace, value], |row| {
        Ok((DocumentId(row.get(0)?), row.get(1)?))
    })?;
    Ok(rows.collect::<rusqlite::Result<_>>()?)
}

/// Turns of the ledger by a session, by a text in them, or all of the namespace.
pub(crate) fn turns_to_forget(
    connection: &Connection,
    namespace: i64,
    by: &str,
    value: &str,
) -> Result<Vec<i64>> {
    let condition = match by {
        "session" => "t.session = ?2",
        "text" => {
            "(instr(t.question, ?2) OR instr(t.answer, ?2) OR instr(t.commands, ?2) OR instr(t.tools, ?2)
              OR EXISTS (SELECT 1 FROM turn_file f WHERE f.turn = t.id AND instr(f.path, ?2))
              OR EXISTS (SELECT 1 FROM turn_decision d WHERE d.turn = t.id AND instr(d.text, ?2)))"
        }
        _ => "?2 = ''",
    };
    let mut statement = connection.prepare(&format!(
        "SELECT t.id FROM turn t WHERE t.namespace = ?1 AND {condition} ORDER BY t.id"
    ))?;
    let rows = statement.query_map(params![namespace, value], |row| row.get(0))?;
    Ok(rows.collect::<rusqlite::Result<_>>()?)
}

/// Uri and content hash of a document: what it is kept from coming back by.
pub(crate) fn document_marks(
    connection: &Connection,
    document: DocumentId,
) -> Result<(String, String)> {
    Ok(connection
        .prepare_cached("SELECT uri, content_hash FROM document WHERE id = ?1")?
        .query_row([document.0], |row| {
            let hash: Vec<u8> = row.get(1)?;
            Ok((row.get(0)?, hex(&hash)))
        })?)
}

/// Uris of current documents whose text names one of these entities.
pub(crate) fn documents_naming(
    connection: &Connection,
    entities: &[EntityId],
) -> Result<Vec<String>> {
    let mut uris = Vec::new();
    for entity in entities {
        let mut statement = connection.prepare_cached(
            "SELECT DISTINCT d.uri FROM mention m JOIN chunk c ON c.id = m.chunk
             JOIN document d ON d.id = c.document WHERE m.entity = ?1 ORDER BY d.uri",
        )?;
        let rows = statement.query_map([entity.0], |row| row.get(0))?;
        uris.extend(rows.collect::<rusqlite::Result<Vec<String>>>()?);
    }
    uris.sort();
    uris.dedup();
    Ok(uris)
}

/// Current facts at an entity, and its hand-made links.
pub(crate) fn relations_at(connection: &Connection, entity: EntityId) -> Result<Vec<RelationId>> {
    let mut statement = connection.prepare_cached(
        "SELECT id FROM relation WHERE (source = ?1 OR target = ?1) AND retracted_at IS NULL ORDER BY id",
    )?;
    let rows = statement.query_map([entity.0], |row| row.get(0).map(RelationId))?;
    Ok(rows.collect::<rusqlite::Result<_>>()?)
}

/// Deletes the doomed rows, those derived from them, and whatever quotes them. What is left of them in the file
/// goes with [`Store::sweep`]. Returns the number of rows deleted.
pub(crate) fn purge(connection: &Connection, namespace: i64, doomed: &Doomed) -> Result<usize> {
    for parent in PARENTS {
        connection.execute_batch(&format!(
            "CREATE TEMP TABLE IF NOT EXISTS doomed_{parent} (id INTEGER PRIMARY KEY);
             DELETE FROM temp.doomed_{parent};"
        ))?;
    }
    let doom = |table: &str, id: i64| {
        connection
            .prepare_cached(&format!(
                "INSERT OR IGNORE INTO temp.doomed_{table} VALUES (?1)"
            ))?
            .execute([id])
    };
    for document in &doomed.documents {
        doom("document", document.0)?;
    }
    for entity in &doomed.entities {
        doom("entity", entity.0)?;
    }
    let in_namespace = |sql: &str| sql.replace("$namespace", &namespace.to_string());
    connection.execute_batch(&in_namespace(SPREAD))?;
    for sql in QUOTES {
        connection.prepare(sql)?.execute(params![namespace])?;
    }
    let mut rows = delete_references(connection)?;
    for parent in PARENTS {
        rows += connection.execute(
            &format!("DELETE FROM {parent} WHERE id IN (SELECT id FROM temp.doomed_{parent})"),
            [],
        )?;
    }
    for turn in &doomed.turns {
        for sql in [
            "DELETE FROM turn_fts WHERE rowid = ?1",
            "DELETE FROM turn_file WHERE turn = ?1",
            "DELETE FROM turn_decision WHERE turn = ?1",
            "DELETE FROM turn WHERE id = ?1",
        ] {
            rows += connection.prepare_cached(sql)?.execute([turn])?;
        }
    }
    connection.execute_batch(&in_namespace(LEFT_OVER))?;
    for parent in PARENTS {
        connection.execute_batch(&format!("DROP TABLE temp.doomed_{parent}"))?;
    }
    Ok(rows)
}

/// What else goes: passages of the documents; relations and claims that only they state, or that are of a
/// doomed entity;
/// entities that are history and joined to nothing else: names and tags that no text has any more.
const SPREAD: &str = "
    INSERT OR IGNORE INTO temp.doomed_chunk
        SELECT id FROM chunk WHERE document IN (SELECT id FROM temp.doomed_document);
    INSERT OR IGNORE INTO temp.doomed_relation
        SELECT relation FROM evidence v WHERE document IN (SELECT id FROM temp.doomed_document)
            AND NOT EXISTS (SELECT 1 FROM evidence o WHERE o.relation = v.relation
                AND o.document NOT IN (SELECT id FROM temp.doomed_document));
    INSERT OR IGNORE INTO temp.doomed_relation
        SELECT id FROM relation WHERE source IN (SELECT id FROM temp.doomed_entity)
            OR target IN (SELECT id FROM temp.doomed_entity);
    INSERT OR IGNORE INTO temp.doomed_claim
        SELECT claim FROM claim_evidence v WHERE document IN (SELECT id FROM temp.doomed_document)
            AND NOT EXISTS (SELECT 1 FROM claim_evidence o WHERE o.claim = v.claim
                AND o.document NOT IN (SELECT id FROM temp.doomed_document));
    INSERT OR IGNORE INTO temp.doomed_claim
        SELECT id FROM claim WHERE subject IN (SELECT id FROM temp.doomed_entity)
            OR object IN (SELECT id FROM temp.doomed_entity);
    INSERT OR IGNORE INTO temp.doomed_entity
        SELECT e.id FROM entity e WHERE e.retracted_at IS NOT NULL AND e.namespace = $namespace
            AND NOT EXISTS (SELECT 1 FROM relation r WHERE (r.source = e.id OR r.target = e.id)
                AND r.id NOT IN (SELECT id FROM temp.doomed_relation))
            AND NOT EXISTS (SELECT 1 FROM claim c WHERE (c.subject = e.id OR c.object = e.id)
                AND c.id NOT IN (SELECT id FROM temp.doomed_claim))
            AND NOT EXISTS (SELECT 1 FROM document d WHERE d.entity = e.id
                AND d.id NOT IN (SELECT id FROM temp.doomed_document));
";

/// Rows that stay, and words in them that came from what goes. `?1` is the namespace.
const QUOTES: &[&str] = &[
    // A fact that others state too keeps no sentence that may be of the forgotten one.
    "UPDATE relation SET fact = NULL, properties = NULL WHERE namespace = ?1
         AND id NOT IN (SELECT id FROM temp.doomed_relation)
         AND id IN (SELECT relation FROM evidence WHERE document IN (SELECT id FROM temp.doomed_document))",
    "UPDATE relation SET superseded_by = NULL, valid_to_written = stated_to_written
         WHERE namespace = ?1 AND superseded_by IN (SELECT id FROM temp.doomed_relation)",
    "UPDATE entity SET description = NULL WHERE namespace = ?1 AND description IS NOT NULL
         AND EXISTS (SELECT 1 FROM document d WHERE d.id IN (SELECT id FROM temp.doomed_document)
             AND instr(coalesce(d.text, ''), entity.description))",
    "UPDATE episode SET speaker = NULL WHERE ?1 IS NOT NULL
         AND speaker IN (SELECT id FROM temp.doomed_entity)",
    "DELETE FROM entity_type WHERE entity IN (SELECT id FROM entity WHERE namespace = ?1) AND evidence IN
         (SELECT uri FROM document WHERE namespace = ?1 AND id IN (SELECT id FROM temp.doomed_document))",
    // A report may quote any document that names one of its entities, and so may the report of what holds it.
    "UPDATE community SET title = NULL, summary = NULL, report = NULL, stale = 1 WHERE namespace = ?1",
    // Answers in a conversation may, too.
    "DELETE FROM conversation WHERE namespace = ?1",
    // Replies of models about them, and about several documents with one of them, or with who knows which.
    "DELETE FROM llm_call WHERE namespace = ?1 AND (
         document IN (SELECT uri FROM document WHERE id IN (SELECT id FROM temp.doomed_document))
         OR (document IS NULL AND (
             NOT EXISTS (SELECT 1 FROM llm_part p WHERE p.call = llm_call.id)
             OR EXISTS (SELECT 1 FROM llm_part p WHERE p.call = llm_call.id AND (p.document IS NULL OR p.document IN
                 (SELECT uri FROM document WHERE id IN (SELECT id FROM temp.doomed_document)))))))",
    "DELETE FROM llm_part WHERE namespace = ?1 AND call NOT IN (SELECT id FROM llm_call)",
    // Read anew from the replies that are left.
    "DELETE FROM derivation WHERE namespace = ?1",
    "DELETE FROM operation_fact WHERE operation IN (SELECT o.id FROM operation o, json_each(o.episodes) p
         WHERE o.namespace = ?1 AND 'memory/' || p.value IN
             (SELECT uri FROM document WHERE id IN (SELECT id FROM temp.doomed_document)))",
    "DELETE FROM operation WHERE namespace = ?1 AND (id IN (SELECT o.id FROM operation o, json_each(o.episodes) p
             WHERE 'memory/' || p.value IN
                 (SELECT uri FROM document WHERE id IN (SELECT id FROM temp.doomed_document)))
         OR id IN (SELECT operation FROM operation_fact WHERE relation IN (SELECT id FROM temp.doomed_relation))
         OR id IN (SELECT operation FROM operation_claim WHERE claim IN (SELECT id FROM temp.doomed_claim)))",
    "DELETE FROM operation_claim WHERE operation NOT IN (SELECT id FROM operation) AND ?1 IS NOT NULL",

    // Caches of the vectors hold those of the forgotten passages.
    "UPDATE embedding_space SET generation = generation + 1 WHERE namespace = ?1",
    // Names that only the forgotten documents have.
    "DELETE FROM merge WHERE namespace = ?1
         AND EXISTS (SELECT 1 FROM document d WHERE d.id IN (SELECT id FROM temp.doomed_document)
             AND (instr(d.text, merge.one) OR instr(d.text, merge.other)))
         AND NOT EXISTS (SELECT 1 FROM chunk c JOIN document d ON d.id = c.document
             WHERE d.namespace = ?1 AND c.retracted_at IS NULL
                 AND c.id NOT IN (SELECT id FROM temp.doomed_chunk)
                 AND (instr(c.text, merge.one) OR instr(c.text, merge.other)))",
    "DELETE FROM issue WHERE (source, path) IN
         (SELECT source, path FROM document WHERE namespace = ?1 AND id IN (SELECT id FROM temp.doomed_document))",
    "DELETE FROM file WHERE (source, path) IN
         (SELECT source, path FROM document WHERE namespace = ?1 AND id IN (SELECT id FROM temp.doomed_document))",
    // What a run reported may quote any file.
    "UPDATE run SET report = NULL WHERE (namespace = ?1 OR namespace IS NULL) AND report IS NOT NULL",
];

/// Names that nothing bears any more.
const LEFT_OVER: &str = "
    DELETE FROM relation_type WHERE id NOT IN (SELECT type FROM relation);
    DELETE FROM session WHERE id NOT IN (SELECT session FROM episode);
    DELETE FROM alias WHERE entity NOT IN (SELECT id FROM entity);
    UPDATE relation SET weight = max(1, (SELECT count(*) FROM evidence v
            WHERE v.relation = relation.id AND v.retracted_at IS NULL))
        WHERE namespace = $namespace AND origin <> 'link' AND retracted_at IS NULL;
";

/// Deletes the rows of every table that refer to a doomed row.
fn delete_references(connection: &Connection) -> Result<usize> {
    let mut statement = connection.prepare(
        "SELECT t.name, f.\"from\", f.\"table\" FROM sqlite_schema t, pragma_foreign_key_list(t.name) f
         WHERE t.type = 'table' ORDER BY t.name, f.id",
    )?;
    let references: Vec<(String, String, String)> = statement
        .query_map([], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)))?
        .collect::<rusqlite::Result<_>>()?;
    let mut rows = 0;
    for (table, column, parent) in references {
        if !PARENTS.contains(&parent.as_str()) || PARENTS.contains(&table.as_str()) {
            continue;
        }
        rows += connection.execute(
            &format!(
                "DELETE FROM \"{table}\" WHERE \"{column}\" IN (SELECT id FROM temp.doomed_{parent})"
            ),
            [],
        )?;
    }
    Ok(rows)
}

impl Store {
    /// Writes the full-text index anew, so that no term of a deleted passage is left in it, then the whole file,
    /// so that nothing is left where rows were deleted or rewritten before, and empties the write-ahead log.
    /// False when a reader still holds the log: what was deleted is then in it until the next
    /// call.
    pub(crate) fn sweep(&self) -> Result<bool> {
        let connection = self.connection();
        connection.execute_batch("INSERT INTO chunk_fts (chunk_fts) VALUES ('optimize')")?;
        connection.execute_batch("INSERT INTO turn_fts (turn_fts) VALUES ('optimize')")?;
        connection.execute_batch("VACUUM")?;
        connection.busy_timeout(READER_WAIT)?;
        let busy: rusqlite::Result<i64> =
            connection.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |row| row.get(0));
        connection.busy_timeout(BUSY_TIMEOUT)?;
        Ok(busy? == 0)
    }

    /// Looks for a text in every file of the store, byte by byte: as written, as it is compared, and, for a
    /// single word, as the search index has it.
    pub(crate) fn traces(&self, text: &str) -> Result<Absence> {
        let mut needles = vec![text.to_owned(), fold(text)];
        if !text.trim().contains(char::is_whitespace) {
            // Its document may have been in any language.
            for language in Language::ALL {
                let mut terms = String::new();
                Tokenizer::default().index_terms(text, language, &mut terms);
                needles.extend(terms.split(' ').map(str::to_owned));
            }
        }
        needles.retain(|needle| needle.len() >= SHORTEST);
        needles.sort();
        needles.dedup();
        let mut absence = Absence {
            searched: needles.clone(),
            ..Absence::default()
        };
        // Terms share their beginnings in the index, where bytes alone would not show them.
        for needle in &needles {
            let known = self
                .connection()
                .prepare_cached("SELECT 1 FROM chunk_fts_term WHERE term = ?1")?
                .exists([needle])?;
            if known {
                absence.found.push(FoundTrace {
                    place: "full-text index".to_owned(),
                    form: needle.clone(),
                });
            }
        }
        let Some(path) = self.path() else {
            return Ok(absence);
        };
        let (Some(folder), Some(stem)) = (path.parent(), path.file_stem()) else {
            return Ok(absence);
        };
        let io = |source| crate::Error::Io {
            path: folder.to_owned(),
            source,
        };
        let mut files: Vec<_> = std::fs::read_dir(folder)
            .map_err(io)?
            .filter_map(|entry| entry.ok().map(|entry| entry.path()))
            .filter(|file| {
                let name = file.file_name().unwrap_or_default().to_string_lossy();
                file.is_file() && name.starts_with(&*stem.to_string_lossy())
            })
            .collect();
        files.sort();
        for file in files {
            let bytes = std::fs::read(&file).map_err(|source| crate::Error::Io {
                path: file.clone(),
                source,
            })?;
            absence.files += 1;
            for needle in &needles {
                if contains(&bytes, needle.as_bytes()) {
                    absence.found.push(FoundTrace {
                        place: file.display().to_string(),
                        form: needle.clone(),
                    });
                }
            }
        }
        Ok(absence)
    }
}

/// Shorter texts stand in any file by chance.
const SHORTEST: usize = 4;

fn contains(bytes: &[u8], needle: &[u8]) -> bool {
    bytes
        .windows(needle.len())
        .any(|window| window[0] == needle[0] && window == needle)
}
