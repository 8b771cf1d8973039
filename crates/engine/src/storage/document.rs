//! Documents and their tags.

use rusqlite::{Connection, OptionalExtension, Row, Statement, params};

use crate::Result;
use crate::text::{Language, fold};
use crate::types::{DocumentId, DocumentKind, DocumentView, EntityId, PublicId, Timestamp};

/// A current document as runs compare it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct DocumentRow {
    pub id: DocumentId,
    pub uri: String,
    pub entity: EntityId,
    pub title: String,
    pub kind: DocumentKind,
    pub language: Language,
    pub aliases: Vec<String>,
}

/// Everything that is written of a document.
#[derive(Debug, Clone)]
pub(crate) struct DocumentValues<'a> {
    pub uri: &'a str,
    pub source: i64,
    pub path: &'a str,
    pub entity: EntityId,
    pub title: &'a str,
    pub kind: DocumentKind,
    pub language: Language,
    pub content_hash: &'a [u8],
    pub front_matter: Option<&'a str>,
    pub aliases: Option<&'a str>,
    pub text: Option<&'a str>,
    pub valid_from: Option<(Timestamp, &'a str)>,
    pub observed_at: Option<Timestamp>,
}

const COLUMNS: &str = "id, uri, entity, title, kind, language, aliases";

fn read_row(row: &Row<'_>) -> rusqlite::Result<DocumentRow> {
    let kind: String = row.get(4)?;
    let language: String = row.get(5)?;
    let aliases: Option<String> = row.get(6)?;
    Ok(DocumentRow {
        id: DocumentId(row.get(0)?),
        uri: row.get(1)?,
        entity: EntityId(row.get(2)?),
        title: row.get(3)?,
        kind: DocumentKind::parse(&kind).unwrap_or(DocumentKind::PlainText),
        language: language.parse().unwrap_or(Language::Other),
        aliases: aliases
            .and_then(|json| serde_json::from_str(&json).ok())
            .unwrap_or_default(),
    })
}

/// What [`DocumentValues`] fill, and the parameters they are bound to.
const VALUES: &str = "uri, source, path, entity, title, kind, language, content_hash, front_matter, aliases, \
    text, valid_from, valid_from_written, observed_at";
const PLACES: &str = "?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14";

impl DocumentValues<'_> {
    fn bind(&self, statement: &mut Statement<'_>) -> rusqlite::Result<()> {
        statement.raw_bind_parameter(1, self.uri)?;
        statement.raw_bind_parameter(2, self.source)?;
        statement.raw_bind_parameter(3, self.path)?;
        statement.raw_bind_parameter(4, self.entity.0)?;
        statement.raw_bind_parameter(5, self.title)?;
        statement.raw_bind_parameter(6, self.kind.as_str())?;
        statement.raw_bind_parameter(7, self.language.as_str())?;
        statement.raw_bind_parameter(8, self.content_hash)?;
        statement.raw_bind_parameter(9, self.front_matter)?;
        statement.raw_bind_parameter(10, self.aliases)?;
        statement.raw_bind_parameter(11, self.text)?;
        statement.raw_bind_parameter(12, self.valid_from.map(|(at, _)| at.0))?;
        statement.raw_bind_parameter(13, self.valid_from.map(|(_, written)| written))?;
        statement.raw_bind_parameter(14, self.observed_at.map(|at| at.0))
    }
}

/// Inserts a document under a fresh row id.
pub(crate) fn insert_document(
    connection: &Connection,
    namespace: i64,
    public_id: &PublicId,
    values: &DocumentValues<'_>,
    now: Timestamp,
) -> Result<DocumentId> {
    let mut statement = connection.prepare_cached(&format!(
        "INSERT INTO document ({VALUES}, namespace, public_id, recorded_at) VALUES ({PLACES}, ?15, ?16, ?17)"
    ))?;
    values.bind(&mut statement)?;
    statement.raw_bind_parameter(15, namespace)?;
    statement.raw_bind_parameter(16, public_id.0.as_str())?;
    statement.raw_bind_parameter(17, now.0)?;
    statement.raw_execute()?;
    Ok(DocumentId(connection.last_insert_rowid()))
}

/// Overwrites a current document whose source changed or moved; its ids stay.
pub(crate) fn update_document(
    connection: &Connection,
    id: DocumentId,
    values: &DocumentValues<'_>,
) -> Result<()> {
    let mut statement = connection.prepare_cached(&format!(
        "UPDATE document SET ({VALUES}) = ({PLACES}) WHERE id = ?15"
    ))?;
    values.bind(&mut statement)?;
    statement.raw_bind_parameter(15, id.0)?;
    statement.raw_execute()?;
    Ok(())
}

/// Closes a document that is gone.
pub(crate) fn retire_document(
    connection: &Connection,
    id: DocumentId,
    now: Timestamp,
) -> Result<()> {
    connection
        .prepare_cached("UPDATE document SET retracted_at = ?2 WHERE id = ?1")?
        .execute(params![id.0, now.0])?;
    Ok(())
}

/// The current documents of a file, by row id.
pub(crate) fn documents_of_file(
    connection: &Connection,
    source: i64,
    path: &str,
) -> Result<Vec<DocumentRow>> {
    let mut statement = connection.prepare_cached(&format!(
        "SELECT {COLUMNS} FROM document WHERE source = ?1 AND path = ?2 AND retracted_at IS NULL ORDER BY id"
    ))?;
    let rows = statement.query_map(params![source, path], read_row)?;
    Ok(rows.collect::<rusqlite::Result<_>>()?)
}

/// The current documents that an entity stands for, by uri.
pub(crate) fn documents_of_entity(
    connection: &Connection,
    entity: EntityId,
) -> Result<Vec<DocumentRow>> {
    let mut statement = connection.prepare_cached(&format!(
        "SELECT {COLUMNS} FROM document WHERE entity = ?1 AND retracted_at IS NULL ORDER BY uri"
    ))?;
    let rows = statement.query_map([entity.0], read_row)?;
    Ok(rows.collect::<rusqlite::Result<_>>()?)
}

/// Every current document of a namespace, by uri.
pub(crate) fn current_documents(
    connection: &Connection,
    namespace: i64,
) -> Result<Vec<DocumentRow>> {
    let mut statement = connection.prepare_cached(&format!(
        "SELECT {COLUMNS} FROM document WHERE namespace = ?1 AND retracted_at IS NULL ORDER BY uri"
    ))?;
    let rows = statement.query_map([namespace], read_row)?;
    Ok(rows.collect::<rusqlite::Result<_>>()?)
}

/// The document of this row id, if it is current.
pub(crate) fn current_document(
    connection: &Connection,
    id: DocumentId,
) -> Result<Option<DocumentRow>> {
    Ok(connection
        .prepare_cached(&format!(
            "SELECT {COLUMNS} FROM document WHERE id = ?1 AND retracted_at IS NULL"
        ))?
        .query_row([id.0], read_row)
        .optional()?)
}

/// The current document of this uri.
pub(crate) fn document_by_uri(
    connection: &Connection,
    namespace: i64,
    uri: &str,
) -> Result<Option<DocumentRow>> {
    Ok(connection
        .prepare_cached(&format!(
            "SELECT {COLUMNS} FROM document WHERE namespace = ?1 AND uri = ?2 AND retracted_at IS NULL"
        ))?
        .query_row(params![namespace, uri], read_row)
        .optional()?)
}

/// Up to `limit` current documents whose uris start with `prefix`, by uri, after the uri `after`.
pub(crate) fn documents_after(
    connection: &Connection,
    namespace: i64,
    prefix: &str,
    after: &str,
    limit: usize,
) -> Result<Vec<DocumentView>> {
    let mut statement = connection.prepare_cached(
        "SELECT uri, title, kind FROM document
         WHERE namespace = ?1 AND retracted_at IS NULL AND uri > ?3 AND uri >= ?2
             AND substr(uri, 1, length(?2)) = ?2 ORDER BY uri LIMIT ?4",
    )?;
    let rows = statement.query_map(params![namespace, prefix, after, limit as i64], |row| {
        let kind: String = row.get(2)?;
        Ok(DocumentView {
            uri: row.get(0)?,
            title: row.get(1)?,
            kind: DocumentKind::parse(&kind).unwrap_or(DocumentKind::PlainText),
        })
    })?;
    Ok(rows.collect::<rusqlite::Result<_>>()?)
}

/// The text of a current document: the one that is kept, else its passages in their order, each without what
/// the one before it had. `None` when there is no such document.
pub(crate) fn text_of_document(
    connection: &Connection,
    namespace: i64,
    uri: &str,
) -> Result<Option<String>> {
    let Some((id, text)) = connection
        .prepare_cached(
            "SELECT id, text FROM document WHERE namespace = ?1 AND uri = ?2 AND retracted_at IS NULL",
        )?
        .query_row(params![namespace, uri], |row| {
            Ok((row.get::<_, i64>(0)?, row.get::<_, Option<String>>(1)?))
        })
        .optional()?
    else {
        return Ok(None);
    };
    if text.is_some() {
        return Ok(text);
    }
    let mut statement = connection.prepare_cached(
        "SELECT start, text FROM chunk WHERE document = ?1 AND retracted_at IS NULL ORDER BY ordinal",
    )?;
    let mut rows = statement.query([id])?;
    let (mut whole, mut end) = (String::new(), 0);
    while let Some(row) = rows.next()? {
        let start = row.get::<_, i64>(0)? as usize;
        let passage: String = row.get(1)?;
        if start > end && !whole.is_empty() {
            whole.push('\n');
        }
        whole.push_str(passage.get(end.saturating_sub(start)..).unwrap_or_default());
        end = end.max(start + passage.len());
    }
    Ok(Some(whole))
}

/// Replaces the tags of a document: pairs of folded and written form.
pub(crate) fn save_tags(
    connection: &Connection,
    document: DocumentId,
    tags: &[(String, String)],
) -> Result<()> {
    connection
        .prepare_cached("DELETE FROM document_tag WHERE document = ?1")?
        .execute([document.0])?;
    let mut insert = connection.prepare_cached(
        "INSERT OR IGNORE INTO document_tag (document, folded, written) VALUES (?1, ?2, ?3)",
    )?;
    for (folded, written) in tags {
        insert.execute(params![document.0, folded, written])?;
    }
    Ok(())
}

/// The tags of a document, by folded form.
pub(crate) fn tags_of_document(
    connection: &Connection,
    document: DocumentId,
) -> Result<Vec<String>> {
    let mut statement = connection
        .prepare_cached("SELECT folded FROM document_tag WHERE document = ?1 ORDER BY folded")?;
    let rows = statement.query_map([document.0], |row| row.get(0))?;
    Ok(rows.collect::<rusqlite::Result<_>>()?)
}

/// The most frequent spelling of a tag among the current documents (ties: the smaller one);
/// `None` when no document bears it.
pub(crate) fn tag_spelling(
    connection: &Connection,
    namespace: i64,
    folded: &str,
) -> Result<Option<String>> {
    Ok(connection
        .prepare_cached(
            "SELECT t.written FROM document_tag t JOIN document d ON d.id = t.document
             WHERE t.folded = ?2 AND d.namespace = ?1 AND d.retracted_at IS NULL
             GROUP BY t.written ORDER BY count(*) DESC, t.written LIMIT 1",
        )?
        .query_row(params![namespace, folded], |row| row.get(0))
        .optional()?)
}

/// The folded forms of every tag of the current documents, sorted.
pub(crate) fn tags(connection: &Connection, namespace: i64) -> Result<Vec<String>> {
    let mut statement = connection.prepare_cached(
        "SELECT DISTINCT t.folded FROM document_tag t JOIN document d ON d.id = t.document
         WHERE d.namespace = ?1 AND d.retracted_at IS NULL ORDER BY t.folded",
    )?;
    let rows = statement.query_map([namespace], |row| row.get(0))?;
    Ok(rows.collect::<rusqlite::Result<_>>()?)
}

/// The languages of the current documents, most frequent first.
pub(crate) fn languages(connection: &Connection, namespace: i64) -> Result<Vec<Language>> {
    let mut statement = connection.prepare_cached(
        "SELECT language FROM document WHERE namespace = ?1 AND retracted_at IS NULL
         GROUP BY language ORDER BY count(*) DESC, language",
    )?;
    let rows = statement.query_map([namespace], |row| row.get::<_, String>(0))?;
    let mut languages = Vec::new();
    for row in rows {
        languages.extend(row?.parse::<Language>());
    }
    Ok(languages)
}

/// The entity that stands for a document.
pub(crate) fn entity_of_document(connection: &Connection, id: DocumentId) -> Result<EntityId> {
    Ok(connection
        .prepare_cached("SELECT entity FROM document WHERE id = ?1")?
        .query_row([id.0], |row| Ok(EntityId(row.get(0)?)))?)
}

/// The date that a document states of itself, with its written form.
pub(crate) fn stated_date(
    connection: &Connection,
    id: DocumentId,
) -> Result<Option<(Timestamp, String)>> {
    let (at, written): (Option<i64>, Option<String>) = connection
        .prepare_cached("SELECT valid_from, valid_from_written FROM document WHERE id = ?1")?
        .query_row([id.0], |row| Ok((row.get(0)?, row.get(1)?)))?;
    Ok(at.map(Timestamp).zip(written))
}

/// What kind of document it is, and the date it states of itself as written.
pub(crate) fn document_source(
    connection: &Connection,
    id: DocumentId,
) -> Result<(DocumentKind, Option<String>)> {
    Ok(connection
        .prepare_cached("SELECT kind, valid_from_written FROM document WHERE id = ?1")?
        .query_row([id.0], |row| {
            let kind: String = row.get(0)?;
            let kind = DocumentKind::parse(&kind).unwrap_or(DocumentKind::PlainText);
            Ok((kind, row.get(1)?))
        })?)
}

/// A current document and the date it states of itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct DatedDocument {
    pub id: DocumentId,
    pub uri: String,
    pub dated: Option<Timestamp>,
    pub kind: DocumentKind,
}

/// The current documents with their dates, by path.
pub(crate) fn dated_documents(
    connection: &Connection,
    namespace: i64,
) -> Result<Vec<DatedDocument>> {
    let mut statement = connection.prepare_cached(
        "SELECT d.id, d.uri, coalesce(d.valid_from, e.said_at), d.kind FROM document d LEFT JOIN episode e ON e.document = d.id
         WHERE d.namespace = ?1 AND d.retracted_at IS NULL ORDER BY d.uri, d.id",
    )?;
    let rows = statement.query_map([namespace], |row| {
        Ok(DatedDocument {
            id: DocumentId(row.get(0)?),
            uri: row.get(1)?,
            dated: row.get::<_, Option<i64>>(2)?.map(Timestamp),
            kind: DocumentKind::parse(&row.get::<_, String>(3)?).unwrap_or(DocumentKind::PlainText),
        })
    })?;
    Ok(rows.collect::<rusqlite::Result<_>>()?)
}

/// Whether a document has one of these tags, in their folded form, or one below it (`a` has `a/b`).
pub(crate) fn has_tag(
    connection: &Connection,
    document: DocumentId,
    folded: &[String],
) -> Result<bool> {
    let mut statement =
        connection.prepare_cached("SELECT written FROM document_tag WHERE document = ?1")?;
    let rows = statement.query_map([document.0], |row| row.get::<_, String>(0))?;
    for row in rows {
        let tag = row?;
        let parents = tag.match_indices('/').map(|(at, _)| &tag[..at]);
        if parents
            .chain([tag.as_str()])
            .any(|tag| folded.contains(&fold(tag)))
        {
            return Ok(true);
        }
    }
    Ok(false)
}
