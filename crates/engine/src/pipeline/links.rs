//! Links into relations: resolve what may have changed, then bring relations and link mentions in line.

use std::collections::{BTreeMap, BTreeSet};

use rusqlite::Connection;
use rustc_hash::FxHashMap;

use super::{Changes, Scope};
use crate::Result;
use crate::graph::{EMBEDS, LINKS_TO, NoteIndex, NoteRef, link_key};
use crate::storage::{
    self, ChunkRow, DocumentRow, EvidenceRow, LinkOutcome, LinkRow, Origin, RelationValues,
    chunks_of_document,
};
use crate::types::{
    ChunkId, DocumentId, DocumentKind, EntityId, EntityKind, LinkKind, LinkStatus, Mention,
    MentionHow, RelationId, Resolution, Timestamp,
};

/// Resolves every link that this run may have changed, and stores what became different.
pub(super) fn resolve(scope: &Scope<'_>, changes: &mut Changes) -> Result<()> {
    let connection = scope.connection;
    let links = if changes.bulk {
        storage::current_links(connection, scope.namespace)?
    } else {
        touched_links(scope, changes)?
    };
    if links.is_empty() {
        return Ok(());
    }
    let documents = storage::current_documents(connection, scope.namespace)?;
    let uris: BTreeMap<DocumentId, &DocumentRow> =
        documents.iter().map(|row| (row.id, row)).collect();
    let attachments = storage::attachments(connection, scope.namespace)?;
    let index = NoteIndex::new(
        documents
            .iter()
            .filter(|row| !matches!(row.kind, DocumentKind::Row | DocumentKind::Episode))
            .map(|row| NoteRef {
                document: row.id,
                uri: &row.uri,
                aliases: &row.aliases,
            }),
        attachments.iter().map(String::as_str),
    )
    .with_roots(scope.conventions.iter().map(|(label, _)| label.clone()));
    for link in links {
        let Some(document) = uris.get(&link.document) else {
            continue;
        };
        let convention = scope.convention_of(&document.uri);
        let resolution = index.resolve(&document.uri, &link.target, link.kind, convention);
        let outcome = outcome_of(resolution, &uris);
        if outcome != link.outcome {
            storage::save_outcome(connection, link.id, &outcome)?;
            changes.documents.insert(link.document);
            changes.touch_form(link.form);
        }
    }
    Ok(())
}

/// The links of changed documents, and those whose target may have appeared, moved or gone.
fn touched_links(scope: &Scope<'_>, changes: &Changes) -> Result<Vec<LinkRow>> {
    let connection = scope.connection;
    let mut links: BTreeMap<i64, LinkRow> = BTreeMap::new();
    let mut add = |rows: Vec<LinkRow>| links.extend(rows.into_iter().map(|row| (row.id, row)));
    for &document in &changes.documents {
        add(storage::links_of_document(connection, document)?);
    }
    for key in &changes.link_keys {
        add(storage::links_of_key(connection, scope.namespace, key)?);
    }
    for &document in &changes.moved_documents {
        add(storage::links_to_document(connection, document)?);
    }
    Ok(links.into_values().collect())
}

fn outcome_of(
    resolution: Resolution,
    documents: &BTreeMap<DocumentId, &DocumentRow>,
) -> LinkOutcome {
    let mut outcome = LinkOutcome::open();
    match resolution {
        Resolution::Resolved { document, rule } => {
            outcome.status = LinkStatus::Resolved;
            outcome.rule = Some(rule);
            outcome.resolved = Some(document);
        }
        Resolution::Ambiguous { candidates } => {
            outcome.status = LinkStatus::Ambiguous;
            outcome.candidates = candidates
                .iter()
                .filter_map(|id| documents.get(id).map(|row| row.uri.clone()))
                .collect();
        }
        Resolution::Attachment { path } => {
            outcome.status = LinkStatus::Attachment;
            outcome.candidates = vec![path];
        }
        Resolution::External => outcome.status = LinkStatus::External,
        Resolution::Unresolved => {}
    }
    outcome
}

/// A relation that the current links of an entity state.
#[derive(Debug, Default)]
struct Stated {
    name: String,
    /// Stated start: the earliest date of a note that states it.
    valid_from: Option<(Timestamp, String)>,
    evidence: BTreeSet<EvidenceRow>,
    passages: BTreeSet<(DocumentId, Option<ChunkId>)>,
}

/// Brings the relations of every touched entity in line with its links: what vanished is closed,
/// what is new is opened, nothing is overwritten.
pub(super) fn relate(scope: &Scope<'_>, changes: &mut Changes) -> Result<()> {
    let connection = scope.connection;
    let mut documents_of: BTreeMap<EntityId, Vec<DocumentId>> = BTreeMap::new();
    let mut entities = Entities::default();
    let mut next_id = storage::next_relation_id(connection)?;
    if changes.bulk {
        for row in storage::current_documents(connection, scope.namespace)? {
            documents_of.entry(row.entity).or_default().push(row.id);
            entities.0.insert(row.id, row.entity);
        }
        // What lost its last document has relations to close.
        for entity in storage::linked_sources(connection, scope.namespace)? {
            documents_of.entry(entity).or_default();
        }
    } else {
        for &document in &changes.documents {
            changes.entities.insert(entities.of(connection, document)?);
        }
        for &entity in &changes.entities {
            let documents = storage::documents_of_entity(connection, entity)?;
            documents_of.insert(entity, documents.into_iter().map(|row| row.id).collect());
        }
    }
    for (entity, documents) in documents_of {
        let mut stated = BTreeMap::new();
        for document in documents {
            let links = storage::links_of_document(connection, document)?;
            let tags = storage::tags_of_document(connection, document)?;
            let is_changed = changes.bulk || changes.documents.contains(&document);
            if links.is_empty() && tags.is_empty() && (changes.bulk || !is_changed) {
                continue;
            }
            let chunks = chunks_of_document(connection, document)?;
            if is_changed {
                if !changes.bulk {
                    for chunk in &chunks {
                        storage::delete_mentions(connection, chunk.id, MentionHow::Link)?;
                        storage::delete_mentions(connection, chunk.id, MentionHow::Tag)?;
                    }
                }
                save_mentions(scope, &links, &tags, &chunks, &mut entities)?;
            }
            state_relations(
                connection,
                entity,
                document,
                links,
                &chunks,
                &mut entities,
                &mut stated,
            )?;
        }
        save_relations(scope, changes, entity, stated, &mut next_id)?;
    }
    Ok(())
}

/// The entity of each document, looked up once.
#[derive(Debug, Default)]
struct Entities(FxHashMap<DocumentId, EntityId>);

impl Entities {
    fn of(&mut self, connection: &Connection, document: DocumentId) -> Result<EntityId> {
        if let Some(&entity) = self.0.get(&document) {
            return Ok(entity);
        }
        let entity = storage::entity_of_document(connection, document)?;
        self.0.insert(document, entity);
        Ok(entity)
    }
}

/// Adds what the links of one document state about `entity`, which it stands for.
fn state_relations(
    connection: &Connection,
    entity: EntityId,
    document: DocumentId,
    links: Vec<LinkRow>,
    chunks: &[ChunkRow],
    entities: &mut Entities,
    stated: &mut BTreeMap<(EntityId, String), Stated>,
) -> Result<()> {
    if links.iter().all(|link| link.outcome.resolved.is_none()) {
        return Ok(());
    }
    let date = storage::stated_date(connection, document)?;
    for link in links {
        let Some(resolved) = link.outcome.resolved else {
            continue;
        };
        let target = entities.of(connection, resolved)?;
        if target == entity {
            continue;
        }
        let name = link.relation.as_deref().unwrap_or(default_type(link.kind));
        let row = stated
            .entry((target, storage::relation_key(name)))
            .or_default();
        if row.name.is_empty() || name < row.name.as_str() {
            name.clone_into(&mut row.name);
        }
        if let Some(date) = &date
            && row.valid_from.as_ref().is_none_or(|known| date < known)
        {
            row.valid_from = Some(date.clone());
        }
        let chunk = chunks
            .iter()
            .find(|chunk| chunk.start <= link.start && link.end <= chunk.end)
            .map(|chunk| chunk.id);
        row.passages.insert((document, chunk));
        row.evidence.insert(EvidenceRow {
            document,
            start: link.quote_start,
            end: link.quote_start + link.quote.len(),
            chunk,
            quote: link.quote,
        });
    }
    Ok(())
}

const fn default_type(kind: LinkKind) -> &'static str {
    match kind {
        LinkKind::Embed | LinkKind::MarkdownEmbed => EMBEDS,
        LinkKind::Wikilink | LinkKind::Markdown | LinkKind::FrontMatter => LINKS_TO,
    }
}

fn save_relations(
    scope: &Scope<'_>,
    changes: &mut Changes,
    source: EntityId,
    stated: BTreeMap<(EntityId, String), Stated>,
    next_id: &mut RelationId,
) -> Result<()> {
    let connection = scope.connection;
    let mut current: BTreeMap<_, _> = storage::current_relations(connection, source, Origin::Link)?
        .into_iter()
        .map(|row| ((row.target, row.kind), row))
        .collect();
    for ((target, key), row) in stated {
        let kind = storage::relation_type_id(connection, scope.namespace, &key, &row.name)?;
        let weight = row.passages.len() as f64;
        let written = row.valid_from.as_ref().map(|(_, written)| written.as_str());
        let known = current.remove(&(target, kind));
        let is_new = known.is_none();
        let id = if let Some(old) = known {
            let dated = row.valid_from.as_ref().map(|(at, _)| *at);
            let restated = match dated {
                Some(at)
                    if old.valid_from != Some(at)
                        || old.valid_from_written.as_deref() != written =>
                {
                    Some((at, written))
                }
                // The note lost its date: the window starts when we first saw it.
                None if old.valid_from_written.is_some() => Some((old.recorded_at, None)),
                _ => None,
            };
            if weight.to_bits() != old.weight.to_bits() || restated.is_some() {
                storage::update_relation(connection, old.id, weight, restated)?;
                changes.touch_relation(old.id);
            }
            old.id
        } else {
            changes.report.relations_added += 1;
            let id = *next_id;
            next_id.0 += 1;
            let values = RelationValues {
                id,
                namespace: scope.namespace,
                source,
                target,
                kind,
                weight,
                valid_from: row.valid_from.as_ref().map_or(scope.now, |(at, _)| *at),
                valid_from_written: written,
                observed_at: None,
                origin: Origin::Link,
            };
            storage::insert_relation(connection, &values, scope.now)?;
            changes.touch_relation(id);
            id
        };
        let evidence: Vec<EvidenceRow> = row.evidence.into_iter().collect();
        storage::save_evidence(connection, id, &evidence, is_new)?;
    }
    for row in current.into_values() {
        changes.report.relations_closed += 1;
        changes.touch_relation(row.id);
        storage::close_relation(connection, row.id, scope.now)?;
    }
    Ok(())
}

/// Stores the mentions that a document's links and front-matter tags make.
fn save_mentions(
    scope: &Scope<'_>,
    links: &[LinkRow],
    tags: &[String],
    chunks: &[ChunkRow],
    entities: &mut Entities,
) -> Result<()> {
    let connection = scope.connection;
    for link in links {
        let Some(resolved) = link.outcome.resolved else {
            continue;
        };
        let entity = entities.of(connection, resolved)?;
        for chunk in chunks
            .iter()
            .filter(|chunk| chunk.start <= link.start && link.end <= chunk.end)
        {
            let mention = Mention {
                chunk: chunk.id,
                start: (link.start - chunk.start) as u32,
                end: (link.end - chunk.start) as u32,
                entity,
                how: MentionHow::Link,
            };
            storage::insert_mention(connection, &mention)?;
        }
    }
    let Some(first) = chunks.first() else {
        return Ok(());
    };
    for tag in tags {
        let Some(row) = storage::find_entity(connection, scope.namespace, EntityKind::Tag, tag)?
        else {
            continue;
        };
        let mention = Mention {
            chunk: first.id,
            start: 0,
            end: 0,
            entity: row.id,
            how: MentionHow::Tag,
        };
        storage::insert_mention(connection, &mention)?;
    }
    Ok(())
}

/// The keys of links that may point to a note or attachment of this uri, or to an alias.
pub(super) fn keys_of_uri(uri: &str) -> Option<String> {
    let key = link_key(uri);
    (!key.is_empty()).then_some(key)
}
