//! Taking a fact or a claim back, and stating what is right instead.

use super::episode::{Episode, amendment, cut, plan_episodes, state};
use super::{conclude, writer};
use crate::engine::Engine;
use crate::memory::{Period, Writer};
use crate::pipeline;
use crate::storage::{self, Buried, NewOperation};
use crate::text::{clean_name, name_key};
use crate::types::{
    ClaimCorrection, ConflictPolicy, Correction, GivenClaim, GivenFact, Memory, MemoryReport,
    RelationId,
};
use crate::{Error, Result};

impl Engine {
    /// Takes a fact back and states the right one instead. What was corrected does not come back when a source
    /// states it again.
    ///
    /// # Errors
    /// [`Error::NotFound`] when there is no such fact; [`Error::Usage`] when it is a link of a note, which is
    /// corrected in the note.
    pub fn correct(&self, correction: &Correction) -> Result<MemoryReport> {
        let mut report = MemoryReport::default();
        let told = GivenFact {
            source: correction.source.clone(),
            relation: correction.relation.clone(),
            target: correction
                .new_target
                .clone()
                .unwrap_or_else(|| correction.target.clone()),
            fact: correction.reason.clone(),
            valid_from: correction.valid_from.clone(),
            valid_to: correction.valid_to.clone(),
            exclusive: false,
        };
        let replaces = correction.new_target.is_some()
            || correction.valid_from.is_some()
            || correction.valid_to.is_some();
        // A date that is not understood must not cost the fact it was to correct.
        let period = Period::new(told.valid_from.as_deref(), told.valid_to.as_deref());
        if let Some(unknown) = period.map_err(Error::Usage)?.unknown.first() {
            return Err(Error::Usage(format!(
                "the date {unknown:?} was not understood"
            )));
        }
        let memory = Memory {
            relations: vec![told],
            ..Memory::default()
        };
        self.run(&(), |job| {
            let lease = job
                .store
                .write_lease("malha correct", job.config.lease_wait)?;
            let memories = std::slice::from_ref(&memory);
            let episodes = if replaces {
                plan_episodes(job, memories, &mut report)?
            } else {
                Vec::new()
            };
            let amendment = amendment(&episodes, Vec::new());
            pipeline::amend(job, &lease, &amendment, &mut |scope, changes| {
                let mut writer = writer(scope, ConflictPolicy::Close)?;
                let wrong = find_facts(&writer, correction)?;
                let mut exclusive = false;
                for &id in &wrong {
                    let (source, kind) = storage::subject_of(scope.connection, id)?;
                    exclusive |= storage::is_exclusive(scope.connection, kind, source)?;
                    bury_fact(&writer, id)?;
                    writer.retract(id)?;
                }
                report.relations_retracted = wrong.len();
                for episode in &episodes {
                    let mut right = memory.relations[0].clone();
                    right.exclusive = exclusive;
                    let dates = storage::written_dates(scope.connection, wrong[0])?;
                    right.valid_from = right.valid_from.or(dates.0);
                    right.valid_to = right.valid_to.or(dates.1);
                    let memory = Memory {
                        relations: vec![right],
                        ..Memory::default()
                    };
                    let episode = Episode {
                        memory: &memory,
                        composed: episode.composed.clone(),
                        path: episode.path.clone(),
                        session: episode.session.clone(),
                        date: episode.date.clone(),
                        ..*episode
                    };
                    state(&mut writer, &episode, 1, &mut report)?;
                }
                let summary = format!(
                    "{} {} {}",
                    correction.source, correction.relation, correction.target
                );
                let operation = NewOperation {
                    summary: &cut(&summary),
                    facts: &wrong,
                    ..NewOperation::new("correct")
                };
                conclude(writer, &episodes, operation, changes, &mut report)
            })
        })?;
        Ok(report)
    }

    /// Takes a claim back, and states how it stands instead where the correction says so. It does not come back when
    /// a passage makes it again.
    ///
    /// # Errors
    /// [`Error::NotFound`] when there is no such claim.
    pub fn correct_claim(&self, correction: &ClaimCorrection) -> Result<MemoryReport> {
        let mut report = MemoryReport::default();
        self.run(&(), |job| {
            let lease = job
                .store
                .write_lease("malha correct", job.config.lease_wait)?;
            let connection = job.store.connection();
            let namespace = job.store.namespace(job.namespace)?;
            let found = match namespace {
                Some(namespace) => {
                    storage::current_claim(connection, namespace.0, correction.id.trim())?
                }
                None => None,
            };
            let wrong = found.ok_or_else(|| Error::NotFound {
                kind: "claim",
                name: correction.id.clone(),
            })?;
            let name = |id| -> Result<String> { Ok(storage::entity(connection, id)?.name) };
            let right = GivenClaim {
                subject: name(wrong.subject)?,
                object: wrong.object.map(name).transpose()?,
                kind: wrong.kind.clone(),
                status: correction.status.unwrap_or(wrong.status),
                description: correction
                    .description
                    .clone()
                    .unwrap_or_else(|| wrong.description.clone()),
                valid_from: wrong.times.valid_from_written.clone(),
                valid_to: wrong.times.valid_to_written.clone(),
            };
            let summary = format!("{} {}: {}", right.subject, right.kind, wrong.description);
            let replaces = correction.status.is_some() || correction.description.is_some();
            let memories = [Memory {
                claims: vec![right],
                ..Memory::default()
            }];
            let episodes = if replaces {
                plan_episodes(job, &memories, &mut report)?
            } else {
                Vec::new()
            };
            let amendment = amendment(&episodes, Vec::new());
            pipeline::amend(job, &lease, &amendment, &mut |scope, changes| {
                let mut writer = writer(scope, ConflictPolicy::Close)?;
                for episode in &episodes {
                    // Before the wrong one goes: whom it is about is held meanwhile.
                    state(&mut writer, episode, 1, &mut report)?;
                }
                writer.bury_claim(&wrong)?;
                report.claims_retracted += 1;
                let operation = NewOperation {
                    summary: &cut(&summary),
                    claims: &[wrong.id],
                    ..NewOperation::new("correct")
                };
                conclude(writer, &episodes, operation, changes, &mut report)
            })
        })?;
        Ok(report)
    }
}
/// The current facts that a correction means.
fn find_facts(writer: &Writer<'_>, correction: &Correction) -> Result<Vec<RelationId>> {
    let not_found = || Error::NotFound {
        kind: "fact",
        name: format!(
            "{} {} {}",
            correction.source, correction.relation, correction.target
        ),
    };
    let name = |written: &str| {
        clean_name(written).map_err(|reason| Error::Usage(format!("the name {reason}")))
    };
    let source = writer
        .known(&name(&correction.source)?)?
        .ok_or_else(not_found)?;
    let target = writer
        .known(&name(&correction.target)?)?
        .ok_or_else(not_found)?;
    let kinds = storage::relation_types_of(
        writer.connection,
        writer.namespace.0.0,
        &correction.relation,
    )?;
    let mut facts = Vec::new();
    for kind in kinds {
        for fact in storage::facts_of(writer.connection, source, kind)? {
            if fact.target == target {
                facts.push(fact.id);
            }
        }
        if facts.is_empty() && storage::has_link(writer.connection, source, kind, target)? {
            return Err(Error::Usage(
                "this is a link of a note; edit the note and index it again".to_owned(),
            ));
        }
    }
    if facts.is_empty() {
        return Err(not_found());
    }
    Ok(facts)
}

fn bury_fact(writer: &Writer<'_>, id: RelationId) -> Result<()> {
    let parts = fact_parts(writer, id)?;
    writer.bury(Buried::Fact, &parts.each_ref().map(String::as_str))
}

/// Lets a fact come back.
pub(super) fn unbury_fact(writer: &Writer<'_>, id: RelationId) -> Result<()> {
    let parts = fact_parts(writer, id)?;
    storage::unbury(
        writer.connection,
        writer.namespace.0.0,
        Buried::Fact,
        &parts.each_ref().map(String::as_str),
    )?;
    Ok(())
}

/// What a fact is known by when it must not come back.
fn fact_parts(writer: &Writer<'_>, id: RelationId) -> Result<[String; 5]> {
    let named = storage::named_fact(writer.connection, id)?;
    Ok(crate::memory::buried_fact(
        &name_key(&named.source),
        &named.relation,
        &name_key(&named.target),
        named.from,
        named.to,
    ))
}
