//! Graphs that other programs paid a model for, checked like any model's reply.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use super::Engine;
use super::communities::{IMPORTED, content_hash};
use crate::Result;
use crate::exchange::{ForeignCommunity, ForeignFormat, ForeignGraph, read_foreign};
use crate::memory::entity_of_name;
use crate::storage::{self, CommunityRow, Membership, StoredReport};
use crate::types::{
    CommunityLevel, CommunityReport, DocumentInput, EntityId, ForeignReport, ItemFailure, Progress,
};

impl Engine {
    /// Takes in what another program made of texts. Its passages become documents under `label`, unless it keeps
    /// none: then they are looked for among the documents of the store, by id. What it found in them is checked
    /// as a model's reply is: a name that a passage does not have is put aside. Communities stay as
    /// they came for the entities they hold, and a report until its community loses some.
    ///
    /// # Errors
    /// [`crate::Error::Usage`]: the files are not of this format.
    pub fn import_foreign(
        &self,
        format: ForeignFormat,
        path: &Path,
        label: &str,
        progress: &dyn Progress,
    ) -> Result<ForeignReport> {
        let graph = read_foreign(format, path)?;
        self.logged("import", || {
            let report = self.take_in(format, graph, label, progress)?;
            Ok((report.clone(), report))
        })
    }

    fn take_in(
        &self,
        format: ForeignFormat,
        graph: ForeignGraph,
        label: &str,
        progress: &dyn Progress,
    ) -> Result<ForeignReport> {
        let mut report = ForeignReport {
            passages: graph.passages.len(),
            failures: graph.failures,
            ..ForeignReport::default()
        };
        let documents: Vec<DocumentInput> = graph
            .passages
            .iter()
            .filter_map(|passage| {
                Some(DocumentInput {
                    uri: passage.id.clone(),
                    title: passage.title.clone(),
                    text: passage.text.clone()?,
                })
            })
            .collect();
        if !documents.is_empty() {
            let indexed = self.index_documents(label, &documents, progress)?;
            report.documents_added = indexed.added;
            report.failures.extend(indexed.failed);
            report
                .failures
                .extend(indexed.skipped.into_iter().map(|skipped| ItemFailure {
                    uri: skipped.uri,
                    line: 0,
                    reason: skipped.reason,
                }));
        }
        {
            let store = self.store();
            let lease = store.write_lease("malha import", self.config.lease_wait)?;
            let transaction = lease.transaction()?;
            let namespace = transaction.namespace(&self.namespace)?.0;
            let connection = transaction.connection();
            for passage in &graph.passages {
                let uri = match &passage.text {
                    Some(_) => format!("{label}/{}", passage.id),
                    None => passage.id.clone(),
                };
                let Some(document) = storage::document_named(connection, namespace, &uri)? else {
                    report.failures.push(ItemFailure {
                        uri: passage.id.clone(),
                        line: 0,
                        reason: "no document of this id is in the store, and the file has no text for it".to_owned(),
                    });
                    continue;
                };
                storage::save_imported(
                    connection,
                    namespace,
                    document,
                    format.as_str(),
                    &passage.reply(),
                )?;
                report.matched += 1;
            }
            storage::set_unfollowed(connection, namespace, true)?;
            transaction.commit()?;
        }
        let extracted = self.follow_documents(progress)?;
        report.entities = extracted.entities;
        report.relations = extracted.relations;
        report.rejected = extracted.items_rejected;
        self.import_communities(format, &graph.communities, &mut report)?;
        Ok(report)
    }

    /// Keeps communities as they came: three levels, the coarsest first; what is not split further stands in the
    /// finer levels too.
    fn import_communities(
        &self,
        format: ForeignFormat,
        communities: &[ForeignCommunity],
        report: &mut ForeignReport,
    ) -> Result<()> {
        if communities.is_empty() {
            return Ok(());
        }
        let store = self.store();
        let lease = store.write_lease("malha import", self.config.lease_wait)?;
        let transaction = lease.transaction()?;
        let namespace = transaction.namespace(&self.namespace)?.0;
        let connection = transaction.connection();
        let mut next = storage::last_community(connection)?;
        let mut ids: BTreeMap<&str, i64> = BTreeMap::new();
        let mut places: BTreeMap<EntityId, BTreeMap<usize, i64>> = BTreeMap::new();
        let mut ordered: Vec<&ForeignCommunity> = communities
            .iter()
            .filter(|community| community.level < CommunityLevel::ALL.len())
            .collect();
        ordered.sort_by_key(|community| community.level);
        report.communities_too_fine = communities.len() - ordered.len();
        for community in ordered {
            let mut members: BTreeSet<EntityId> = BTreeSet::new();
            for name in &community.members {
                members.extend(entity_of_name(connection, namespace, name)?);
            }
            if members.is_empty() {
                report.communities_unknown += 1;
                continue;
            }
            next += 1;
            report.communities += 1;
            ids.insert(&community.id, next);
            storage::upsert_community(
                connection,
                namespace,
                &CommunityRow {
                    id: next,
                    level: community.level,
                    parent: community
                        .parent
                        .as_deref()
                        .and_then(|parent| ids.get(parent).copied()),
                    content_hash: content_hash(members.iter().map(|&member| (member, IMPORTED))),
                },
            )?;
            if !community.summary.is_empty() {
                let report = CommunityReport {
                    community: next,
                    title: community.title.clone(),
                    summary: community.summary.clone(),
                    rating: None,
                    rating_reason: String::new(),
                    findings: Vec::new(),
                    // The other program does not say which.
                    model: Some(format.as_str().to_owned()),
                    failure: None,
                };
                let text = StoredReport {
                    title: report.title.clone(),
                    summary: report.summary.clone(),
                    report: serde_json::to_string(&report).expect("a report is plain JSON"),
                };
                storage::set_report(connection, next, &text)?;
            }
            for member in members {
                places
                    .entry(member)
                    .or_default()
                    .insert(community.level, next);
            }
        }
        for (entity, levels) in places {
            storage::remove_memberships(connection, entity)?;
            let mut last = None;
            for level in 0..CommunityLevel::ALL.len() {
                last = levels.get(&level).copied().or(last);
                if let Some(community) = last {
                    let row = Membership {
                        entity,
                        level,
                        community,
                        signature: IMPORTED,
                    };
                    storage::set_membership(connection, &row)?;
                }
            }
        }
        storage::remove_empty_communities(connection, namespace)?;
        storage::set_community_generation(connection, namespace, store.generation()?)?;
        transaction.commit_bookkeeping()
    }
}
