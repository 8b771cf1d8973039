//! Names into entities, and chunks matched against the vocabulary.
//!
//! A folded form belongs to the notes, titles, tags and concepts that bear it as an alias. A form that
//! nobody bears becomes an entity of its own when it was discovered often enough or when a link waits for it.

use std::collections::BTreeMap;

use rayon::prelude::*;
use rustc_hash::FxHashSet;

use super::title::last_segment;
use super::{Changes, Scope};
use crate::Result;
use crate::graph::names::{discover, is_vocabulary};
use crate::graph::vocabulary::{NameMatch, Vocabulary, find_names};
use crate::loading::StoredNames;
use crate::storage::{self, ChunkText, MentionWriter};
use crate::text::{Language, fold, query_terms, squash};
use crate::types::{
    Alias, AliasSource, ChunkId, EntityId, EntityKind, Mention, MentionHow, Progress,
};

/// Chunks that are read and matched at a time in a large run.
const BLOCK: usize = 4096;

/// The names discovered in a chunk, each once, in the spelling it had first.
pub(super) fn distinct_names(text: &str, language: Language) -> Vec<(String, String)> {
    let mut seen = FxHashSet::default();
    discover(text, language)
        .into_iter()
        .filter(|name| seen.insert(name.folded.clone()))
        .map(|name| (name.folded, name.written))
        .collect()
}

/// Follows the forms that this run touched: names come and go, and the chunks that hold a form whose owners
/// changed are matched again, as are the new chunks.
pub(super) fn update(scope: &Scope<'_>, changes: &mut Changes) -> Result<()> {
    let connection = scope.connection;
    let mut counts: Vec<_> = std::mem::take(&mut changes.name_counts)
        .into_iter()
        .collect();
    counts.sort_unstable();
    for ((folded, written), change) in counts {
        if change != 0 {
            storage::add_name_count(connection, scope.namespace, &folded, &written, change)?;
        }
    }
    for form in std::mem::take(&mut changes.forms) {
        if update_name(scope, changes, &form)? {
            changes.owner_forms.insert(form);
        }
    }
    let languages = storage::languages(connection, scope.namespace)?;
    for form in &changes.owner_forms {
        let groups: Vec<Vec<String>> = query_terms(form, &languages)
            .into_iter()
            .map(|term| term.alternatives)
            .collect();
        if !groups.is_empty() {
            changes.chunks.extend(storage::full_text::chunks_with_all(
                connection,
                scope.namespace,
                &groups,
            )?);
        }
    }
    let mut lookup = StoredNames {
        connection,
        namespace: scope.namespace,
    };
    for &chunk in &changes.chunks {
        let row = storage::chunk_text(connection, chunk)?;
        storage::delete_mentions(connection, chunk, MentionHow::Name)?;
        for place in find_names(&row.text, row.language, &mut lookup)? {
            let form = fold(&row.text[place.clone()]);
            for entity in storage::entities_of_form(connection, scope.namespace, &form)? {
                changes.report.mentions += 1;
                let mention = mention(chunk, place.start as u32, place.end as u32, entity);
                storage::insert_mention(connection, &mention)?;
            }
        }
    }
    Ok(())
}

const fn mention(chunk: ChunkId, start: u32, end: u32, entity: EntityId) -> Mention {
    Mention {
        chunk,
        start,
        end,
        entity,
        how: MentionHow::Name,
    }
}

/// Creates, renames or retires the name entity of a form. True when its mentions change hands.
fn update_name(scope: &Scope<'_>, changes: &mut Changes, form: &str) -> Result<bool> {
    let connection = scope.connection;
    let existing = storage::find_entity(connection, scope.namespace, EntityKind::Name, form)?;
    let existing = existing.filter(|row| row.current);
    let wanted = if storage::form_has_owner(connection, scope.namespace, form)? {
        None
    } else {
        wanted_name(scope, form)?
    };
    match (existing, wanted) {
        (None, None) => Ok(false),
        (Some(row), Some(written)) => {
            if row.name != written {
                storage::rename_entity(connection, row.id, &written)?;
                storage::insert_alias(
                    connection,
                    scope.namespace,
                    &name_alias(row.id, form, &written),
                )?;
            }
            Ok(false)
        }
        (None, Some(written)) => {
            changes
                .touched_entities
                .insert(add_name(scope, form, &written)?);
            changes.report.entities_added += 1;
            Ok(true)
        }
        (Some(row), None) => {
            changes.touched_entities.insert(row.id);
            storage::retire_entity(connection, row.id, scope.now)?;
            changes.report.entities_removed += 1;
            Ok(true)
        }
    }
}

/// How the name of a form is written, if the form is a name.
fn wanted_name(scope: &Scope<'_>, form: &str) -> Result<Option<String>> {
    if let Some((chunks, written)) = storage::name_count(scope.connection, scope.namespace, form)?
        && is_vocabulary(chunks as u32)
    {
        return Ok(Some(written));
    }
    let target = storage::open_target(scope.connection, scope.namespace, form)?;
    Ok(target.map(|target| last_segment(&target).to_owned()))
}

fn add_name(scope: &Scope<'_>, form: &str, written: &str) -> Result<EntityId> {
    let namespace = (scope.namespace, scope.namespace_name);
    let (id, _) = storage::ensure_entity(
        scope.connection,
        namespace,
        EntityKind::Name,
        form,
        written,
        scope.now,
    )?;
    storage::insert_alias(
        scope.connection,
        scope.namespace,
        &name_alias(id, form, written),
    )?;
    Ok(id)
}

fn name_alias(entity: EntityId, form: &str, written: &str) -> Alias {
    Alias {
        written: written.to_owned(),
        folded: form.to_owned(),
        squashed: squash(form),
        entity,
        source: AliasSource::Name,
    }
}

/// Counts names, decides the vocabulary and matches every chunk, from nothing. The mentions of links and tags
/// go too: [`super::links::relate`] makes them anew.
pub(super) fn rebuild(
    scope: &Scope<'_>,
    changes: &mut Changes,
    progress: &dyn Progress,
) -> Result<()> {
    if changes.recount {
        storage::clear_mentions(scope.connection, scope.namespace)?;
        count_names(scope, changes)?;
    }
    save_counts(scope, changes)?;
    decide_names(scope, changes)?;
    match_all(scope, changes, progress)
}

fn for_each_block(
    scope: &Scope<'_>,
    mut each: impl FnMut(Vec<ChunkText>) -> Result<()>,
) -> Result<()> {
    let mut after = ChunkId(0);
    loop {
        let block = storage::chunk_texts_after(scope.connection, scope.namespace, after, BLOCK)?;
        let Some(last) = block.last() else {
            return Ok(());
        };
        after = last.id;
        each(block)?;
    }
}

fn count_names(scope: &Scope<'_>, changes: &mut Changes) -> Result<()> {
    for_each_block(scope, |block| {
        let found: Vec<Vec<(String, String)>> = block
            .par_iter()
            .map(|chunk| distinct_names(&chunk.text, chunk.language))
            .collect();
        for name in found.into_iter().flatten() {
            *changes.name_counts.entry(name).or_default() += 1;
        }
        Ok(())
    })
}

fn save_counts(scope: &Scope<'_>, changes: &mut Changes) -> Result<()> {
    let mut counts: Vec<_> = std::mem::take(&mut changes.name_counts)
        .into_iter()
        .collect();
    counts.sort_unstable();
    storage::clear_name_counts(scope.connection, scope.namespace)?;
    for ((folded, written), chunks) in counts {
        storage::insert_name_count(scope.connection, scope.namespace, &folded, &written, chunks)?;
    }
    Ok(())
}

/// Makes the name entities those that counts, open links and owners call for.
fn decide_names(scope: &Scope<'_>, changes: &mut Changes) -> Result<()> {
    let connection = scope.connection;
    let mut wanted: BTreeMap<String, String> = BTreeMap::new();
    for (form, target) in storage::open_targets(connection, scope.namespace)? {
        if !form.is_empty() {
            wanted.insert(form, last_segment(&target).to_owned());
        }
    }
    storage::for_each_name_count(connection, scope.namespace, |form, chunks, written| {
        if is_vocabulary(chunks as u32) {
            wanted.insert(form.to_owned(), written.to_owned());
        }
    })?;
    for form in storage::owned_forms(connection, scope.namespace)? {
        wanted.remove(&form);
    }
    let existing: BTreeMap<String, EntityId> =
        storage::entities_of_kind(connection, scope.namespace, EntityKind::Name)?
            .into_iter()
            .collect();
    for (_, &id) in existing
        .iter()
        .filter(|(form, _)| !wanted.contains_key(*form))
    {
        storage::retire_entity(connection, id, scope.now)?;
        changes.report.entities_removed += 1;
    }
    for (form, written) in &wanted {
        if let Some(&id) = existing.get(form) {
            storage::rename_entity(connection, id, written)?;
            storage::insert_alias(connection, scope.namespace, &name_alias(id, form, written))?;
        } else {
            add_name(scope, form, written)?;
            changes.report.entities_added += 1;
        }
    }
    Ok(())
}

fn match_all(scope: &Scope<'_>, changes: &mut Changes, progress: &dyn Progress) -> Result<()> {
    let connection = scope.connection;
    let mut forms: Vec<String> = Vec::new();
    let mut owners: Vec<Vec<EntityId>> = Vec::new();
    storage::for_each_alias(connection, scope.namespace, |form, entity| {
        if forms.last().is_some_and(|last| last == form) {
            owners
                .last_mut()
                .expect("as many owners as forms")
                .push(entity);
        } else {
            forms.push(form.to_owned());
            owners.push(vec![entity]);
        }
    })?;
    let vocabulary = Vocabulary::new(&forms);
    let mut writer = MentionWriter::new(connection)?;
    // While the mentions of one block are written, the next one is matched.
    let matches = |block: &[ChunkText]| -> Vec<Vec<NameMatch>> {
        block
            .par_iter()
            .map(|chunk| vocabulary.matches(&chunk.text, chunk.language))
            .collect()
    };
    let mut write = |block: &[ChunkText], found: Vec<Vec<NameMatch>>| -> Result<()> {
        for (chunk, matches) in block.iter().zip(found) {
            for place in matches {
                for &entity in &owners[place.name as usize] {
                    changes.report.mentions += 1;
                    let mention = mention(chunk.id, place.start as u32, place.end as u32, entity);
                    writer.insert(&mention)?;
                }
            }
        }
        progress.advance(block.len());
        Ok(())
    };
    let mut block: Vec<ChunkText> = Vec::new();
    let mut found = Vec::new();
    for_each_block(scope, |next| {
        found = std::thread::scope(|threads| -> Result<_> {
            let matching = threads.spawn(|| matches(&next));
            write(&block, std::mem::take(&mut found))?;
            Ok(matching.join().expect("matching ends"))
        })?;
        block = next;
        Ok(())
    })?;
    write(&block, found)
}
