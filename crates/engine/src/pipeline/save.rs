//! Prepared documents into rows: what is the same stays, what is new is added, what is gone is closed.

use std::collections::BTreeMap;

use rusqlite::Connection;
use rustc_hash::FxHashMap;

use super::names::distinct_names;
use super::prepare::{Outcome, Prepared, PreparedDocument, observed_at};
use super::title::{is_shared_title, last_segment};
use super::{Changes, Scope};
use crate::Result;
use crate::graph::{link_key, quote_span};
use crate::storage::{
    self, Buried, ChunkRow, DocumentRow, DocumentValues, FileRow, FileStatus, LinkPlace,
    chunks_of_document, documents_of_file,
};
use crate::text::{Language, fold};
use crate::types::{
    DocumentId, EntityId, EntityKind, IssueSeverity, ItemFailure, PublicId, Skipped, TextOrigin,
};

/// What is said of a document whose uri belongs to another one.
const TAKEN: &str =
    "another document has this uri already (an import, or a document handed over); rename the file";

/// What is said of a document that was forgotten.
const FORGOTTEN: &str =
    "it was forgotten; `malha forget --allow URI` lets it come back with the next run";

/// Saves one file: its row, its issues, its documents.
/// `has_rows`: an earlier run may have left rows of it; `moved_from` names the path it had
/// before, when its content was seen to move.
pub(super) fn save_file(
    scope: &Scope<'_>,
    changes: &mut Changes,
    prepared: Prepared,
    has_rows: bool,
    moved_from: Option<&str>,
) -> Result<()> {
    let connection = scope.connection;
    let Prepared {
        source,
        path,
        size,
        mtime_ns,
        hash,
        outcome,
    } = prepared;
    let Outcome::Read {
        documents,
        mut failures,
        mut skipped,
    } = outcome
    else {
        changes.report.unchanged += 1;
        return storage::touch_file(connection, source, &path, size, mtime_ns);
    };
    let existing = match moved_from {
        Some(old_path) => documents_of_file(connection, source, old_path)?,
        None if has_rows => documents_of_file(connection, source, &path)?,
        None => Vec::new(),
    };
    let mut existing: BTreeMap<String, DocumentRow> = existing
        .into_iter()
        .map(|row| (fragment_of(&row.uri).to_owned(), row))
        .collect();
    let mut paired = Vec::new();
    for document in documents {
        let old = existing.remove(&document.parsed.fragment);
        if is_forgotten(scope, &document)? {
            skipped.push(Skipped {
                uri: document.uri,
                reason: FORGOTTEN.to_owned(),
            });
            existing.extend(old.map(|row| (document.parsed.fragment, row)));
            continue;
        }
        // An imported or handed-over document may have the uri already; it keeps it.
        if old.is_none()
            && storage::document_by_uri(connection, scope.namespace, &document.uri)?.is_some()
        {
            failures.push(ItemFailure {
                uri: document.uri,
                line: 0,
                reason: TAKEN.to_owned(),
            });
            continue;
        }
        paired.push((document, old));
    }
    if let Some(old_path) = moved_from {
        storage::remove_file(connection, source, old_path)?;
        changes.note_moved(old_path);
    } else if has_rows {
        storage::clear_issues(connection, source, &path)?;
    }
    let status = match (paired.is_empty(), failures.is_empty()) {
        (false, _) => FileStatus::Indexed,
        (true, false) => FileStatus::Failed,
        (true, true) => FileStatus::Skipped,
    };
    let file = FileRow {
        path: path.clone(),
        size,
        mtime_ns,
        content_hash: hash,
        status,
    };
    storage::save_file(connection, source, &file)?;
    // Links lead to it whether it is a note or not.
    changes.note_moved(&path);
    let read: Vec<&PreparedDocument> = paired.iter().map(|(document, _)| document).collect();
    save_issues(connection, changes, source, &path, &read, failures, skipped)?;

    let place = Place {
        source,
        path: &path,
        mtime_ns,
    };
    for (mut document, old) in paired {
        match (&old, moved_from) {
            (Some(_), Some(_)) => changes.report.renamed += 1,
            (Some(_), None) => changes.report.changed += 1,
            (None, _) => changes.report.added += 1,
        }
        save_document(scope, changes, &place, &mut document, old.as_ref())?;
    }
    for row in existing.into_values() {
        changes.report.removed += 1;
        retire_document(scope, changes, &row)?;
    }
    Ok(())
}

/// Whether the document was forgotten, under this uri or with this content.
fn is_forgotten(scope: &Scope<'_>, document: &PreparedDocument) -> Result<bool> {
    for mark in [&document.uri, &storage::hex(&document.hash)] {
        if storage::is_buried(scope.connection, scope.namespace, Buried::Document, &[mark])? {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Closes every document of a file that is gone.
pub(super) fn remove_file(
    scope: &Scope<'_>,
    changes: &mut Changes,
    source: i64,
    path: &str,
) -> Result<()> {
    for row in documents_of_file(scope.connection, source, path)? {
        changes.report.removed += 1;
        retire_document(scope, changes, &row)?;
    }
    changes.note_moved(path);
    storage::remove_file(scope.connection, source, path)
}

struct Place<'a> {
    source: i64,
    path: &'a str,
    mtime_ns: i64,
}

fn fragment_of(uri: &str) -> &str {
    uri.split_once('#').map_or("", |(_, fragment)| fragment)
}

fn save_issues(
    connection: &Connection,
    changes: &mut Changes,
    source: i64,
    path: &str,
    documents: &[&PreparedDocument],
    failures: Vec<ItemFailure>,
    skipped: Vec<crate::types::Skipped>,
) -> Result<()> {
    let mut ordinal = 0;
    let mut add = |severity, line, reason: &str| {
        ordinal += 1;
        storage::add_issue(connection, source, path, ordinal, severity, line, reason)
    };
    for failure in &failures {
        add(IssueSeverity::Failed, failure.line, &failure.reason)?;
    }
    for skip in &skipped {
        add(IssueSeverity::Skipped, 0, &skip.reason)?;
    }
    for document in documents {
        for warning in &document.parsed.warnings {
            add(IssueSeverity::Warning, warning.line, &warning.message)?;
            changes.report.warnings.push(ItemFailure {
                uri: document.uri.clone(),
                line: warning.line,
                reason: warning.message.clone(),
            });
        }
    }
    changes.report.failed.extend(failures);
    changes.report.skipped.extend(skipped);
    Ok(())
}

fn save_document(
    scope: &Scope<'_>,
    changes: &mut Changes,
    place: &Place<'_>,
    document: &mut PreparedDocument,
    old: Option<&DocumentRow>,
) -> Result<()> {
    let connection = scope.connection;
    let parsed = &document.parsed;
    let entity = entity_of(scope, document, old)?;
    let front_matter = (!parsed.front_matter.is_null()).then(|| parsed.front_matter.to_string());
    let aliases = (!parsed.aliases.is_empty())
        .then(|| serde_json::Value::from(parsed.aliases.clone()).to_string());
    let values = DocumentValues {
        uri: &document.uri,
        source: place.source,
        path: place.path,
        entity,
        title: &parsed.title,
        kind: parsed.kind,
        language: document.language,
        content_hash: &document.hash,
        front_matter: front_matter.as_deref(),
        aliases: aliases.as_deref(),
        text: (parsed.origin == TextOrigin::Extracted).then_some(parsed.text.as_str()),
        valid_from: parsed
            .date
            .as_ref()
            .map(|(date, _)| (date.start, date.written.as_str())),
        observed_at: Some(observed_at(place.mtime_ns)),
    };
    let id = if let Some(row) = old {
        note_vanishing_links(connection, changes, row.id)?;
        if row.entity != entity {
            changes.entities.insert(row.entity);
        }
        if row.uri != document.uri {
            changes.note_moved(&row.uri);
            changes.note_moved(&document.uri);
            changes.moved_documents.insert(row.id);
        }
        for alias in row.aliases.iter().chain(&parsed.aliases) {
            changes.note_moved(alias);
        }
        changes
            .tags
            .extend(storage::tags_of_document(connection, row.id)?);
        storage::update_document(connection, row.id, &values)?;
        storage::delete_links(connection, row.id)?;
        row.id
    } else {
        changes.note_moved(&document.uri);
        for alias in &parsed.aliases {
            changes.note_moved(alias);
        }
        let public_id = PublicId::new(scope.namespace_name, "document", &document.uri);
        storage::insert_document(connection, scope.namespace, &public_id, &values, scope.now)?
    };
    changes.documents.insert(id);
    changes.entities.insert(entity);

    for (link, line) in parsed.links.iter().zip(&document.link_lines) {
        let key = link_key(&link.target);
        let form = fold(last_segment(&link.target));
        let quote = quote_span(&parsed.text, link.start..link.end);
        let place = LinkPlace {
            line: *line,
            quote_start: quote.start,
            quote: &parsed.text[quote],
        };
        storage::insert_link(connection, id, &place, (&key, &form), link)?;
        changes.touch_form(form);
    }
    if !parsed.tags.is_empty() || old.is_some() {
        let tags: Vec<(String, String)> = parsed
            .tags
            .iter()
            .map(|tag| (fold(tag), tag.clone()))
            .filter(|(folded, _)| !folded.is_empty())
            .collect();
        changes
            .tags
            .extend(tags.iter().map(|(folded, _)| folded.clone()));
        storage::save_tags(connection, id, &tags)?;
    }
    save_chunks(scope, changes, document, id, old)
}

/// The entity that stands for the document: the one it had, the one its title shares with other rows,
/// or a new one under its uri.
fn entity_of(
    scope: &Scope<'_>,
    document: &PreparedDocument,
    old: Option<&DocumentRow>,
) -> Result<EntityId> {
    let connection = scope.connection;
    let namespace = (scope.namespace, scope.namespace_name);
    let title = &document.parsed.title;
    if is_shared_title(document.parsed.kind, title) {
        let (id, _) = storage::ensure_entity(
            connection,
            namespace,
            EntityKind::Title,
            &fold(title),
            title,
            scope.now,
        )?;
        return Ok(id);
    }
    if let Some(row) = old
        && !is_shared_title(row.kind, &row.title)
    {
        return Ok(row.entity);
    }
    // A note that moved away keeps the entity of this uri; a newcomer then gets the next key.
    let mut key = document.uri.clone();
    let mut number = 1;
    while let Some(row) = storage::find_entity(connection, scope.namespace, EntityKind::Note, &key)?
    {
        if storage::documents_of_entity(connection, row.id)?.is_empty() {
            break;
        }
        number += 1;
        key = format!("{}#{number}", document.uri);
    }
    let (id, _) = storage::ensure_entity(
        connection,
        namespace,
        EntityKind::Note,
        &key,
        title,
        scope.now,
    )?;
    Ok(id)
}

fn save_chunks(
    scope: &Scope<'_>,
    changes: &mut Changes,
    document: &mut PreparedDocument,
    id: DocumentId,
    old: Option<&DocumentRow>,
) -> Result<()> {
    let connection = scope.connection;
    let mut kept: FxHashMap<Vec<u8>, Vec<ChunkRow>> = FxHashMap::default();
    if old.is_some() {
        // Reversed, so that `pop` gives equal chunks back in their order.
        for row in chunks_of_document(connection, id)?.into_iter().rev() {
            kept.entry(row.hash.clone()).or_default().push(row);
        }
    }
    for (ordinal, chunk) in document.chunks.iter_mut().enumerate() {
        let draft = &chunk.draft;
        if let Some(row) = kept.get_mut(&chunk.hash).and_then(Vec::pop) {
            if (row.ordinal, row.start, row.end, row.line)
                != (ordinal, draft.start, draft.end, draft.line)
            {
                storage::move_chunk(connection, row.id, ordinal, draft)?;
            }
            continue;
        }
        let text = &document.parsed.text[draft.start..draft.end];
        let chunk_id =
            storage::insert_chunk(connection, id, ordinal, draft, text, &chunk.hash, scope.now)?;
        storage::full_text::insert(
            connection,
            chunk_id,
            &document.title_terms,
            &chunk.heading_terms,
            &chunk.body_terms,
        )?;
        changes.report.chunks_added += 1;
        if !changes.bulk {
            changes.chunks.insert(chunk_id);
        }
        if !changes.recount {
            for (folded, written) in std::mem::take(&mut chunk.names) {
                changes.count_name(folded, written, 1);
            }
        }
    }
    let mut gone: Vec<ChunkRow> = kept.into_values().flatten().collect();
    gone.sort_by_key(|row| row.id);
    for row in gone {
        let language = old.map_or(document.language, |row| row.language);
        retire_chunk(scope, changes, &row, language)?;
    }
    Ok(())
}

/// `language` is what the document was in when the chunk's names were counted.
fn retire_chunk(
    scope: &Scope<'_>,
    changes: &mut Changes,
    row: &ChunkRow,
    language: Language,
) -> Result<()> {
    if !changes.recount {
        let old = storage::chunk_text(scope.connection, row.id)?;
        for (folded, written) in distinct_names(&old.text, language) {
            changes.count_name(folded, written, -1);
        }
        changes.chunks.remove(&row.id);
    }
    changes.retired_chunks.push(row.id);
    changes.report.chunks_closed += 1;
    storage::full_text::delete(scope.connection, row.id)?;
    storage::retire_chunk(scope.connection, row.id, scope.now)
}

pub(super) fn retire_document(
    scope: &Scope<'_>,
    changes: &mut Changes,
    row: &DocumentRow,
) -> Result<()> {
    let connection = scope.connection;
    for chunk in chunks_of_document(connection, row.id)? {
        retire_chunk(scope, changes, &chunk, row.language)?;
    }
    note_vanishing_links(connection, changes, row.id)?;
    storage::delete_links(connection, row.id)?;
    changes
        .tags
        .extend(storage::tags_of_document(connection, row.id)?);
    storage::save_tags(connection, row.id, &[])?;
    changes.note_moved(&row.uri);
    for alias in &row.aliases {
        changes.link_keys.insert(link_key(alias));
    }
    changes.moved_documents.insert(row.id);
    changes.documents.remove(&row.id);
    changes.entities.insert(row.entity);
    storage::retire_document(connection, row.id, scope.now)
}

/// The open targets of links that are about to go may stop being names.
fn note_vanishing_links(
    connection: &Connection,
    changes: &mut Changes,
    document: DocumentId,
) -> Result<()> {
    for link in storage::links_of_document(connection, document)? {
        changes.touch_form(link.form);
    }
    Ok(())
}
