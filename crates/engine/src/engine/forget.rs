//! Forgetting: hidden in one transaction, then gone from the files, and kept from coming back.

use std::collections::BTreeSet;

use super::Engine;
use super::memory::{EPISODES, is_numbered};
use crate::memory::{Writer, Written};
use crate::pipeline::{self, Amendment, GraphChange};
use crate::storage::{self, Buried, Doomed, NamespaceId};
use crate::text::name_key;
use crate::types::{
    Absence, ConflictPolicy, DocumentId, EntityId, ForgetReport, ForgetRequest, PurgeState,
    RelationId,
};
use crate::{Error, Result};

impl Engine {
    /// What [`Engine::forget`] would do.
    ///
    /// # Errors
    /// [`Error::NotFound`] for a document, entity or session that is not there.
    pub fn preview_forget(&self, request: &ForgetRequest) -> Result<ForgetReport> {
        Ok(self.doomed(request)?.1)
    }

    /// Forgets documents, entities, sessions, or everything: one transaction hides them from every question,
    /// another one deletes them with all that was derived from them (passages, relations, evidence, replies of
    /// models, reports), and then the files are swept. What was forgotten does not come back with the next
    /// indexing run; [`Engine::allow`] lets it.
    ///
    /// # Errors
    /// As [`Engine::preview_forget`]; a busy or read-only store.
    pub fn forget(&self, request: &ForgetRequest) -> Result<ForgetReport> {
        let (doomed, mut report) = self.doomed(request)?;
        if doomed != Doomed::default() {
            self.run(&(), |job| {
                let lease = job
                    .store
                    .write_lease("malha forget", job.config.lease_wait)?;
                let amendment = Amendment {
                    label: EPISODES,
                    ..Amendment::default()
                };
                let mut indexed =
                    pipeline::amend(job, &lease, &amendment, &mut |scope, changes| {
                        let mut writer = Writer {
                            connection: scope.connection,
                            namespace: (NamespaceId(scope.namespace), scope.namespace_name),
                            now: scope.now,
                            policy: ConflictPolicy::Close,
                            written: Written::default(),
                        };
                        for &document in &doomed.documents {
                            let (uri, hash) = storage::document_marks(scope.connection, document)?;
                            bury_document(&writer, &uri, &hash)?;
                            let lost =
                                storage::withdraw_document(scope.connection, document, scope.now)?;
                            storage::forget_types_of(scope.connection, scope.namespace, &uri)?;
                            writer.withdraw_claims(document)?;
                            let lost = facts_of(&writer, &lost)?;
                            writer.settle_withdrawn(&lost)?;
                        }
                        pipeline::retire_documents(scope, changes, &doomed.documents)?;
                        for &entity in &doomed.entities {
                            let row = storage::entity(scope.connection, entity)?;
                            // All names that it was joined of: each would come back on its own.
                            let key = name_key(&row.name);
                            let keys =
                                storage::joined_keys(scope.connection, scope.namespace, &key)?;
                            for key in &keys {
                                writer.bury(Buried::Entity, &[key])?;
                            }
                            storage::forget_merges(scope.connection, scope.namespace, &keys)?;
                            let facts = storage::relations_at(scope.connection, entity)?;
                            for fact in facts_of(&writer, &facts)? {
                                writer.retract(fact)?;
                            }
                            for claim in
                                storage::claims_of_entity(scope.connection, entity, scope.now)?
                            {
                                storage::retract_claim(scope.connection, claim.id, scope.now)?;
                            }
                            for alias in storage::aliases_of_entity(scope.connection, entity)? {
                                changes.change_owner(&alias.folded);
                            }
                            storage::retire_entity(scope.connection, entity, scope.now)?;
                        }
                        for form in &writer.written.forms {
                            changes.change_owner(form);
                        }
                        Ok(())
                    })?;
                let transaction = lease.transaction()?;
                let namespace = transaction.namespace(job.namespace)?.0;
                report.rows = storage::purge(transaction.connection(), namespace, &doomed)?;
                transaction.commit()?;
                // Caches beside the store are written anew.
                indexed.graph = GraphChange::Everything;
                Ok(indexed)
            })?;
            report.rows += self.purge_left_names()?;
        }
        let store = self.store();
        let lease = store.write_lease("malha forget", self.config.lease_wait)?;
        self.drop_vector_caches(&store)?;
        // A question may quote what is forgotten.
        if let Some(namespace) = store.namespace(&self.namespace)? {
            let transaction = lease.transaction()?;
            storage::erase_queries(store.connection(), namespace.0)?;
            transaction.commit_bookkeeping()?;
        }
        let is_swept = store.sweep()?;
        drop(lease);
        report.purge = if is_swept {
            PurgeState::Done
        } else {
            PurgeState::Pending
        };
        Ok(report)
    }

    /// Names that models found and that nothing forgotten holds any more go too. Where another process writes, its run,
    /// or the next one, takes them back, and the next [`Engine::forget`] deletes them.
    fn purge_left_names(&self) -> Result<usize> {
        let purge = || -> Result<usize> {
            self.follow_documents(&())?;
            let store = self.store();
            let lease = store.write_lease("malha forget", self.config.lease_wait)?;
            let transaction = lease.transaction()?;
            let namespace = transaction.namespace(&self.namespace)?.0;
            let rows = storage::purge(transaction.connection(), namespace, &Doomed::default())?;
            transaction.commit()?;
            drop(lease);
            self.follow_graph(&store, GraphChange::Everything)?;
            Ok(rows)
        };
        match purge() {
            Err(Error::Busy { .. }) => Ok(0),
            done => done,
        }
    }

    /// Lets a forgotten document (by uri) or entity (by name) come back with the next indexing run. False when
    /// nothing kept it away.
    pub fn allow(&self, name: &str) -> Result<bool> {
        let store = self.store();
        let lease = store.write_lease("malha forget --allow", self.config.lease_wait)?;
        let transaction = lease.transaction()?;
        let namespace = transaction.namespace(&self.namespace)?.0;
        let connection = transaction.connection();
        let document = storage::unbury(connection, namespace, Buried::Document, &[name])?;
        let key = name_key(name);
        let entity = storage::unbury(connection, namespace, Buried::Entity, &[&key])?;
        transaction.commit()?;
        Ok(document || entity)
    }

    /// Looks for a text in every file of the store.
    pub fn absence(&self, text: &str) -> Result<Absence> {
        self.store().traces(text)
    }

    fn doomed(&self, request: &ForgetRequest) -> Result<(Doomed, ForgetReport)> {
        let mut entities: BTreeSet<EntityId> = BTreeSet::new();
        for name in &request.entities {
            entities.extend(self.explore(|explorer| explorer.known(name))?);
        }
        let filtered = if request.filter.is_empty() {
            Vec::new()
        } else {
            self.documents_matching(&request.filter)?.0
        };
        let store = self.asked()?;
        let connection = store.connection();
        let namespace = store
            .namespace(&self.namespace)?
            .map_or(0, |namespace| namespace.0);
        let mut documents: BTreeSet<(String, DocumentId)> = BTreeSet::new();
        let mut add = |by: &str, kind: &'static str, value: &str| -> Result<()> {
            let found = storage::documents_to_forget(connection, namespace, by, value)?;
            if found.is_empty() && !kind.is_empty() {
                return Err(Error::NotFound {
                    kind,
                    name: value.to_owned(),
                });
            }
            documents.extend(found.into_iter().map(|(id, uri)| (uri, id)));
            Ok(())
        };
        for uri in &request.documents {
            add("uri", "document", uri)?;
        }
        for id in filtered {
            // With what stood at its uri before.
            add("uri", "", &storage::document_marks(connection, id)?.0)?;
        }
        let mut turns: BTreeSet<i64> = BTreeSet::new();
        for session in &request.sessions {
            let found = storage::turns_to_forget(connection, namespace, "session", session)?;
            // A session may be of episodes, of the ledger, or of both.
            let kind = if found.is_empty() { "session" } else { "" };
            add("session", kind, session)?;
            turns.extend(found);
        }
        for text in request.texts.iter().filter(|text| !text.is_empty()) {
            add("text", "", text)?;
            turns.extend(storage::turns_to_forget(
                connection, namespace, "text", text,
            )?);
        }
        if request.everything {
            add("all", "", "")?;
            turns.extend(storage::turns_to_forget(connection, namespace, "all", "")?);
            entities.extend(storage::entities_of_namespace(connection, namespace)?);
        }
        for &entity in &entities {
            let id = storage::entity(connection, entity)?.public_id;
            add("prefix", "", &format!("{EPISODES}/observation/{}/", id.0))?;
            // The note that stands for an entity goes with it.
            for document in storage::documents_of_entity(connection, entity)? {
                add("uri", "", &document.uri)?;
            }
        }
        let mut report = ForgetReport::default();
        let entities: Vec<EntityId> = entities.into_iter().collect();
        for &entity in &entities {
            report
                .entities
                .push(storage::entity(connection, entity)?.name);
            report.relations += storage::relations_at(connection, entity)?.len();
        }
        report.documents = documents.iter().map(|(uri, _)| uri.clone()).collect();
        report.documents.dedup();
        report.still_named_in = storage::documents_naming(connection, &entities)?;
        report
            .still_named_in
            .retain(|uri| !report.documents.contains(uri));
        let doomed = Doomed {
            documents: documents.into_iter().map(|(_, id)| id).collect(),
            entities,
            turns: turns.into_iter().collect(),
        };
        report.turns = doomed.turns.len();
        Ok((doomed, report))
    }
}

/// Keeps a document from coming back, under its uri or with its content. What is remembered again is asked for;
/// only an episode that bears a name of its own is kept away by it.
fn bury_document(writer: &Writer<'_>, uri: &str, hash: &str) -> Result<()> {
    let episode = uri
        .strip_prefix(EPISODES)
        .and_then(|path| path.strip_prefix('/'));
    match episode {
        None => {
            writer.bury(Buried::Document, &[hash])?;
            writer.bury(Buried::Document, &[uri])
        }
        Some(path) if is_numbered(path) => Ok(()),
        Some(_) => writer.bury(Buried::Document, &[uri]),
    }
}

/// Those that are facts: hand-made links follow their notes.
fn facts_of(writer: &Writer<'_>, relations: &[RelationId]) -> Result<Vec<RelationId>> {
    let mut facts = Vec::new();
    for &id in relations {
        if storage::is_fact(writer.connection, id)? {
            facts.push(id);
        }
    }
    Ok(facts)
}
