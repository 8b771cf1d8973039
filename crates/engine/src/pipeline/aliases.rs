//! Entities and their aliases, brought in line with the documents that give them.

use std::collections::{BTreeMap, BTreeSet};

use super::title::document_aliases;
use super::{Changes, Scope};
use crate::types::{Alias, AliasSource, EntityId, EntityKind};
use crate::{Result, storage};

/// Brings the aliases and the name of every touched document entity in line with its documents.
pub(super) fn refresh_entities(scope: &Scope<'_>, changes: &mut Changes) -> Result<()> {
    for entity in changes.entities.clone() {
        refresh_entity(scope, changes, entity)?;
    }
    Ok(())
}

/// Brings the entity of every touched tag in line with the documents that bear it.
pub(super) fn refresh_tags(scope: &Scope<'_>, changes: &mut Changes) -> Result<()> {
    if changes.bulk {
        changes
            .tags
            .extend(storage::tags(scope.connection, scope.namespace)?);
        let known = storage::entities_of_kind(scope.connection, scope.namespace, EntityKind::Tag)?;
        changes
            .tags
            .extend(known.into_iter().map(|(folded, _)| folded));
    }
    for tag in std::mem::take(&mut changes.tags) {
        refresh_tag(scope, changes, &tag)?;
    }
    Ok(())
}

fn refresh_entity(scope: &Scope<'_>, changes: &mut Changes, entity: EntityId) -> Result<()> {
    let connection = scope.connection;
    changes.touched_entities.insert(entity);
    let documents = storage::documents_of_entity(connection, entity)?;
    let mut wanted: BTreeMap<(String, AliasSource), Alias> = BTreeMap::new();
    let mut name: Option<&str> = None;
    for document in &documents {
        if name.is_none_or(|name| document.title.as_str() < name) {
            name = Some(&document.title);
        }
        for alias in document_aliases(entity, document) {
            let slot = wanted
                .entry((alias.folded.clone(), alias.source))
                .or_insert_with(|| alias.clone());
            if alias.written < slot.written {
                *slot = alias;
            }
        }
    }
    let wanted: Vec<Alias> = wanted.into_values().collect();
    diff_aliases(scope, changes, entity, &wanted)?;
    match name {
        Some(name) => storage::rename_entity(connection, entity, name)?,
        None => storage::retire_entity(connection, entity, scope.now)?,
    }
    Ok(())
}

fn refresh_tag(scope: &Scope<'_>, changes: &mut Changes, folded: &str) -> Result<()> {
    let connection = scope.connection;
    let namespace = (scope.namespace, scope.namespace_name);
    let spelling = storage::tag_spelling(connection, scope.namespace, folded)?;
    let Some(written) = spelling else {
        if let Some(row) =
            storage::find_entity(connection, scope.namespace, EntityKind::Tag, folded)?
        {
            changes.touched_entities.insert(row.id);
            diff_aliases(scope, changes, row.id, &[])?;
            storage::retire_entity(connection, row.id, scope.now)?;
        }
        return Ok(());
    };
    let (id, _) = storage::ensure_entity(
        connection,
        namespace,
        EntityKind::Tag,
        folded,
        &written,
        scope.now,
    )?;
    changes.touched_entities.insert(id);
    storage::rename_entity(connection, id, &written)?;
    let alias = super::title::alias(id, &written, AliasSource::Title);
    diff_aliases(scope, changes, id, alias.as_slice())
}

/// Makes the aliases that a document or tag gives its entity equal to `wanted`; without any the entity goes, and all
/// of its aliases.
fn diff_aliases(
    scope: &Scope<'_>,
    changes: &mut Changes,
    entity: EntityId,
    wanted: &[Alias],
) -> Result<()> {
    let mut stored = storage::aliases_of_entity(scope.connection, entity)?;
    if !wanted.is_empty() {
        // What it is called by others is theirs to take back.
        stored
            .retain(|alias| !matches!(alias.source, AliasSource::Stated | AliasSource::Extracted));
    }
    let stored_keys: BTreeSet<(&str, AliasSource, &str)> = stored.iter().map(key_of).collect();
    let wanted_keys: BTreeSet<(&str, AliasSource, &str)> = wanted.iter().map(key_of).collect();
    for alias in stored
        .iter()
        .filter(|alias| !wanted_keys.contains(&key_of(alias)))
    {
        storage::delete_alias(scope.connection, scope.namespace, alias)?;
        changes.change_owner(&alias.folded);
    }
    for alias in wanted
        .iter()
        .filter(|alias| !stored_keys.contains(&key_of(alias)))
    {
        storage::insert_alias(scope.connection, scope.namespace, alias)?;
        changes.change_owner(&alias.folded);
    }
    Ok(())
}

fn key_of(alias: &Alias) -> (&str, AliasSource, &str) {
    (&alias.folded, alias.source, &alias.written)
}
