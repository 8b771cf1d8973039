//! Rows that follow from the replies, written by difference.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use super::call::{Called, FailedPassage};
use super::claims::{leave_out_buried_claims, save_claims};
use super::gather::{Gathered, GatheredRelation, aside};
use super::identity::Identity;
use super::plan::{Item, Plan};
use super::read::{Read, gather};
use crate::Result;
use crate::memory::{buried_fact, settle};
use crate::pipeline::{Changes, Scope, names};
use crate::storage::{self, Buried, EvidenceRow, Fact, NamespaceId, Origin, TYPE_EVIDENCE};
use crate::text::{fold, squash};
use crate::types::{
    Alias, AliasSource, EntityId, EntityKind, ExtractReport, ItemFailure, MergeStatus, Progress,
    RelationId, RelationTypeId, Timestamp,
};

/// Characters of a reply that a quarantined passage shows.
const SHOWN_REPLY: usize = 2_000;
/// Names that change hands one by one; for more, all passages are matched anew.
const FEW_FORMS: usize = 200;

/// Makes the rows of extraction what the replies say. `called` is what a run just did; without it, what
/// was put aside before stays so while it has no reply.
pub(crate) fn apply(
    scope: &Scope<'_>,
    changes: &mut Changes,
    plan: &Plan,
    read: Read,
    called: Option<&Called>,
    progress: &dyn Progress,
    report: &mut ExtractReport,
) -> Result<()> {
    let (mut gathered, identity, missing) = gather(scope.connection, scope.namespace, plan, &read)?;
    for (key, summary) in read.summaries {
        if let Some(entity) = gathered.entities.get_mut(&key) {
            entity.summary = Some(summary);
        }
    }
    let pairs = identity.rows();
    report.merged = pairs
        .iter()
        .filter(|pair| pair.status == MergeStatus::Merged)
        .count();
    report.proposed = pairs
        .iter()
        .filter(|pair| pair.status == MergeStatus::Proposed)
        .count();
    storage::save_merges(scope.connection, scope.namespace, &pairs)?;
    report.passages = plan.items.len();
    report.items_rejected = gathered.asides.len();
    report.warnings.append(&mut gathered.warnings);
    leave_out_buried(scope, &mut gathered, &identity)?;
    report.entities = gathered.entities.len();
    report.relations = gathered.relations.len();
    report.claims = gathered.claims.len();
    put_passages_aside(scope, plan, &missing, called, &mut gathered, report)?;
    storage::save_quarantine(
        scope.connection,
        scope.namespace,
        &gathered.asides,
        scope.now,
    )?;

    let entities = save_entities(scope, changes, &gathered, &identity.documents, report)?;
    save_types(scope, &gathered, &entities)?;
    let subjects = save_relations(scope, changes, &gathered, &entities, report)?;
    for (source, kind) in subjects {
        let settled = settle(scope.connection, source, kind, scope.now)?;
        for id in settled.touched {
            changes.touch_relation(id);
        }
        for conflict in settled.conflicts {
            report.warnings.push(conflict.sentence(scope.connection)?);
        }
    }
    save_claims(scope, &gathered, &entities, report)?;
    retire(scope, changes, &entities, report)?;
    if changes.forms.len() > FEW_FORMS {
        changes.bulk = true;
        changes.forms.clear();
        changes.owner_forms.clear();
        names::rebuild(scope, changes, progress)
    } else {
        names::update(scope, changes)
    }
}

/// What was forgotten or rejected does not come back, whatever a model says and whatever its ends are called.
fn leave_out_buried(scope: &Scope<'_>, gathered: &mut Gathered, identity: &Identity) -> Result<()> {
    if !storage::is_anything_buried(scope.connection, scope.namespace)? {
        return Ok(());
    }
    let is_buried =
        |kind, parts: &[&str]| storage::is_buried(scope.connection, scope.namespace, kind, parts);
    let mut gone = BTreeSet::new();
    for key in gathered.entities.keys() {
        if is_buried(Buried::Entity, &[key])? {
            gone.insert(key.clone());
        }
    }
    gathered.entities.retain(|key, _| !gone.contains(key));
    let names_of = |key: &String| -> Vec<String> {
        let names = identity.members.get(key);
        names.map_or_else(
            || vec![key.clone()],
            |names| names.iter().cloned().collect(),
        )
    };
    let mut buried = Vec::new();
    for (key, relation) in &gathered.relations {
        let (source, target, _, from, to) = key;
        let mut is_gone = gone.contains(source) || gone.contains(target);
        for source in names_of(source) {
            for target in names_of(target) {
                let both = [(&source, &target), (&target, &source)];
                for (source, target) in &both[..=usize::from(relation.is_symmetric)] {
                    let parts = buried_fact(
                        source,
                        &relation.kind,
                        target,
                        from.map(Timestamp),
                        to.map(Timestamp),
                    );
                    is_gone |= is_buried(Buried::Fact, &parts.each_ref().map(String::as_str))?;
                }
            }
        }
        if is_gone {
            buried.push(key.clone());
        }
    }
    for key in buried {
        gathered.relations.remove(&key);
    }
    leave_out_buried_claims(scope, gathered, &gone, &names_of)
}

fn put_passages_aside(
    scope: &Scope<'_>,
    plan: &Plan,
    missing: &[usize],
    called: Option<&Called>,
    gathered: &mut Gathered,
    report: &mut ExtractReport,
) -> Result<()> {
    let failed: BTreeMap<(&str, usize), &FailedPassage> = called
        .iter()
        .flat_map(|called| &called.failed)
        .map(|failure| ((failure.uri.as_str(), failure.start), failure))
        .collect();
    for &at in missing {
        let item = &plan.items[at];
        // What an earlier run put aside stays so until it has a reply.
        let known = plan.aside(item);
        let failure = failed.get(&(item.uri.as_str(), item.start()));
        let Some(reason) = failure
            .map(|failure| &failure.reason)
            .or_else(|| known.map(|known| &known.reason))
        else {
            continue;
        };
        let said = failure.map(|failure| &failure.text);
        let said = said.filter(|text| !text.is_empty());
        let text = said.or_else(|| known.map(|known| &known.item));
        let shown = text.map_or_else(String::new, |text| text.chars().take(SHOWN_REPLY).collect());
        let passage = aside(item, storage::PASSAGE, shown, reason.clone());
        gathered.asides.push(passage);
    }
    let items: BTreeMap<(&str, usize), &Item> = plan
        .items
        .iter()
        .map(|item| ((item.uri.as_str(), item.start()), item))
        .collect();
    for failure in called.iter().flat_map(|called| &called.failed) {
        let item = items.get(&(failure.uri.as_str(), failure.start));
        report.failed.push(ItemFailure {
            uri: failure.uri.clone(),
            line: match item {
                Some(item) => storage::line_of_chunk(scope.connection, item.passage.parts[0].0.id)?,
                None => 0,
            },
            reason: failure.reason.clone(),
        });
    }
    Ok(())
}

/// Entities and their names. `documents`: keys that stand for one. Returns row ids by key.
fn save_entities(
    scope: &Scope<'_>,
    changes: &mut Changes,
    gathered: &Gathered,
    documents: &BTreeMap<String, EntityId>,
    report: &mut ExtractReport,
) -> Result<BTreeMap<String, EntityId>> {
    let connection = scope.connection;
    let namespace = (scope.namespace, scope.namespace_name);
    let known = storage::concepts(connection, scope.namespace)?;
    let mut ids = BTreeMap::new();
    let mut wanted: BTreeMap<(EntityId, String), Alias> = BTreeMap::new();
    for (key, entity) in &gathered.entities {
        let shown = entity.shown(key);
        let (description, properties) = (entity.description(), entity.properties());
        let said = (description.as_deref(), properties.as_ref());
        let row = known.get(key);
        let is_known = row.is_some_and(|row| row.is_as(shown, said));
        let id = if let Some(&id) = documents.get(key) {
            // It is called what the document calls it.
            if storage::save_extracted(connection, id, said)? {
                changes.touched_entities.insert(id);
            }
            id
        } else if let Some(row) = row.filter(|_| is_known) {
            row.id
        } else {
            let (id, is_new) = storage::ensure_entity(
                connection,
                namespace,
                EntityKind::Concept,
                key,
                shown,
                scope.now,
            )?;
            report.entities_added += usize::from(is_new);
            // A name that was given directly is shown as it was given.
            if !row.is_some_and(|row| row.is_stated) {
                storage::rename_entity(connection, id, shown)?;
            }
            let is_changed = storage::save_extracted(connection, id, said)?;
            if is_new || is_changed {
                changes.touched_entities.insert(id);
            }
            id
        };
        // The shown spelling first: of equal forms it is the one that is kept.
        let spellings = [shown].into_iter();
        let others = entity.spellings.keys().chain(&entity.aliases);
        for written in spellings.chain(others.map(String::as_str)) {
            let folded = fold(written);
            if !folded.is_empty() {
                wanted.entry((id, folded.clone())).or_insert_with(|| Alias {
                    written: written.to_owned(),
                    squashed: squash(written),
                    folded,
                    entity: id,
                    source: AliasSource::Extracted,
                });
            }
        }
        ids.insert(key.clone(), id);
    }
    for alias in storage::extracted_aliases(connection, scope.namespace)? {
        let slot = (alias.entity, alias.folded.clone());
        if wanted.get(&slot) == Some(&alias) {
            wanted.remove(&slot);
        } else if !wanted.contains_key(&slot) {
            storage::delete_alias(connection, scope.namespace, &alias)?;
            changes.change_owner(&alias.folded);
        }
    }
    for alias in wanted.into_values() {
        storage::insert_alias(connection, scope.namespace, &alias)?;
        changes.change_owner(&alias.folded);
    }
    Ok(ids)
}

fn save_types(
    scope: &Scope<'_>,
    gathered: &Gathered,
    entities: &BTreeMap<String, EntityId>,
) -> Result<()> {
    let mut wanted: BTreeSet<(EntityId, &str, &str)> = BTreeSet::new();
    for (key, entity) in &gathered.entities {
        for (kind, uri) in &entity.kinds {
            wanted.insert((entities[key], kind, uri));
        }
    }
    let known = storage::extracted_types(scope.connection, scope.namespace)?;
    for (entity, kind, uri) in &known {
        if !wanted.remove(&(*entity, kind.as_str(), uri.as_str())) {
            let evidence = format!("{TYPE_EVIDENCE}{uri}");
            storage::delete_type(scope.connection, *entity, kind, &evidence)?;
        }
    }
    for (entity, kind, uri) in wanted {
        let evidence = format!("{TYPE_EVIDENCE}{uri}");
        storage::add_type(scope.connection, entity, kind, &evidence)?;
    }
    Ok(())
}

type RowKey = (EntityId, EntityId, RelationTypeId, Option<i64>, Option<i64>);

/// Relations and their evidence. Returns the subjects whose exclusive facts may end one another anew.
fn save_relations(
    scope: &Scope<'_>,
    changes: &mut Changes,
    gathered: &Gathered,
    entities: &BTreeMap<String, EntityId>,
    report: &mut ExtractReport,
) -> Result<BTreeSet<(EntityId, RelationTypeId)>> {
    let connection = scope.connection;
    let mut wanted: BTreeMap<RowKey, &GatheredRelation> = BTreeMap::new();
    for ((source, target, key, from, to), relation) in &gathered.relations {
        let kind = storage::relation_type_id(connection, scope.namespace, key, &relation.kind)?;
        wanted.insert(
            (entities[source], entities[target], kind, *from, *to),
            relation,
        );
    }
    let mut subjects = BTreeSet::new();
    let known_evidence = storage::evidence_of_models(connection, scope.namespace)?;
    for row in storage::extracted_relations(connection, scope.namespace)? {
        let slot = (row.source, row.target, row.kind, row.from, row.to);
        let Some(relation) = wanted.remove(&slot) else {
            storage::retract_extracted(connection, row.id, scope.now)?;
            report.relations_closed += 1;
            changes.touch_relation(row.id);
            subjects.insert((row.source, row.kind));
            continue;
        };
        let properties = properties(relation);
        let weight = relation.passages.len() as f64;
        let is_equal = row.fact == relation.fact
            && row.properties == properties
            && row.weight.to_bits() == weight.to_bits()
            && row.confidence.to_bits() == relation.confidence.to_bits()
            && row.exclusive == relation.exclusive
            && row.observed_at == relation.observed_at;
        if !is_equal {
            set_values(scope, row.id, relation)?;
            changes.touch_relation(row.id);
            subjects.insert((row.source, row.kind));
        }
        let known = known_evidence.get(&row.id).map_or(&[][..], Vec::as_slice);
        if !known.iter().eq(relation.evidence.values()) {
            let evidence: Vec<EvidenceRow> = relation.evidence.values().cloned().collect();
            storage::save_evidence(connection, row.id, &evidence, false)?;
        }
    }
    for ((source, target, kind, ..), relation) in wanted {
        let end = |end: &Option<(Timestamp, String)>| {
            end.as_ref().map(|(at, written)| (*at, written.clone()))
        };
        let (from, to) = (end(&relation.from), end(&relation.to));
        let fact = Fact {
            source,
            target,
            kind,
            from: from.as_ref().map(|(at, written)| (*at, written.as_str())),
            to: to.as_ref().map(|(at, written)| (*at, written.as_str())),
            sentence: relation.fact.as_deref(),
            exclusive: relation.exclusive,
            observed_at: relation.observed_at,
            origin: Origin::Llm,
        };
        let (id, _) =
            storage::ensure_fact(connection, NamespaceId(scope.namespace), &fact, scope.now)?;
        set_values(scope, id, relation)?;
        let evidence: Vec<EvidenceRow> = relation.evidence.values().cloned().collect();
        storage::save_evidence(connection, id, &evidence, true)?;
        report.relations_added += 1;
        changes.touch_relation(id);
        subjects.insert((source, kind));
    }
    Ok(subjects)
}

fn set_values(scope: &Scope<'_>, id: RelationId, relation: &GatheredRelation) -> Result<()> {
    storage::update_extracted(
        scope.connection,
        id,
        &storage::ExtractedValues {
            fact: relation.fact.as_deref(),
            properties: properties(relation).as_deref(),
            weight: relation.passages.len() as f64,
            confidence: relation.confidence,
            exclusive: relation.exclusive,
            observed_at: relation.observed_at,
        },
    )
}

fn properties(relation: &GatheredRelation) -> Option<String> {
    (!relation.properties.is_empty())
        .then(|| Value::Object(relation.properties.clone()).to_string())
}

/// Takes back what was said of things that no passage names any more, and closes concepts that nothing else holds.
fn retire(
    scope: &Scope<'_>,
    changes: &mut Changes,
    entities: &BTreeMap<String, EntityId>,
    report: &mut ExtractReport,
) -> Result<()> {
    let connection = scope.connection;
    let meant: BTreeSet<EntityId> = entities.values().copied().collect();
    for id in storage::described_documents(connection, scope.namespace)? {
        if !meant.contains(&id) && storage::save_extracted(connection, id, (None, None))? {
            changes.touched_entities.insert(id);
        }
    }
    let unheld = storage::unheld_concepts(connection, scope.namespace)?;
    for (key, row) in storage::concepts(connection, scope.namespace)? {
        if entities.contains_key(&key) {
            continue;
        }
        let was_described =
            row.is_said_of() && storage::save_extracted(connection, row.id, (None, None))?;
        if !unheld.contains(&row.id) {
            if was_described {
                changes.touched_entities.insert(row.id);
            }
            continue;
        }
        storage::retire_entity(connection, row.id, scope.now)?;
        changes.touched_entities.insert(row.id);
        report.entities_removed += 1;
    }
    Ok(())
}
