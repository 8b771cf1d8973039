//! Claims as people and agents see them, at a moment.

use std::collections::BTreeMap;

use super::explore::Explorer;
use crate::Result;
use crate::graph::Moment;
use crate::storage::{self, ClaimRow};
use crate::types::{
    ClaimView, ContextItem, ContextKind, EntityId, EntryEntity, PublicId, Standing,
};

/// Most passages shown for one claim.
const EVIDENCE_SHOWN: usize = 5;

impl Explorer<'_> {
    /// Claims about these entities or that concern them, by their starts; with `history`, those that were taken back
    /// too.
    pub(super) fn claims_of(
        &self,
        entities: &[EntityId],
        history: bool,
    ) -> Result<Vec<(Standing, ClaimRow)>> {
        let mut found: Vec<(Standing, ClaimRow)> = Vec::new();
        for &entity in entities {
            for row in storage::claims_of_entity(self.connection, entity, self.at.known)? {
                let standing = self.standing_of(&row);
                let is_shown = history || standing != Standing::Retracted;
                if is_shown && !found.iter().any(|(_, known)| known.id == row.id) {
                    found.push((standing, row));
                }
            }
        }
        found.sort_by_key(|(_, row)| (row.from, row.to, row.id));
        Ok(found)
    }

    /// Claims of [`Explorer::claims_of`] as they are shown.
    pub(super) fn claim_views(
        &self,
        entities: &[EntityId],
        history: bool,
    ) -> Result<Vec<ClaimView>> {
        self.claims_of(entities, history)?
            .into_iter()
            .map(|(standing, row)| self.claim_view(standing, row))
            .collect()
    }

    /// A claim as it is shown.
    pub(super) fn claim_view(&self, standing: Standing, row: ClaimRow) -> Result<ClaimView> {
        let subject = storage::entity(self.connection, row.subject)?;
        let object = match row.object {
            Some(id) => Some(storage::entity(self.connection, id)?),
            None => None,
        };
        Ok(ClaimView {
            id: row.public_id,
            subject: subject.name,
            subject_id: subject.public_id,
            object_id: object.as_ref().map(|object| object.public_id.clone()),
            object: object.map(|object| object.name),
            claim_type: row.kind,
            status: row.status,
            description: row.description,
            confidence: row.confidence,
            standing,
            times: row.times,
            evidence: storage::evidence_of_claim(self.connection, row.id, EVIDENCE_SHOWN)?,
        })
    }

    /// Claims about what a question names, in their order.
    pub(super) fn claims_around(&self, entries: &[EntryEntity]) -> Result<Vec<ContextItem>> {
        let mut ids = Vec::new();
        for entry in entries {
            let id = &entry.public_id.0;
            let row = storage::entity_by_public_id(self.connection, self.namespace, id)?;
            ids.extend(row.map(|row| row.id));
        }
        Ok(claim_lines(&self.claim_views(&ids, false)?))
    }

    /// Claims that hold at one of two moments and not at the other, by what they say.
    pub(super) fn claims_between(&self, from: Moment, to: Moment) -> Result<ClaimsBetween> {
        let all = storage::claims_of_namespace(self.connection, self.namespace)?;
        let at = |moment: Moment| -> BTreeMap<&PublicId, &ClaimRow> {
            let rows = all.iter().filter(|row| {
                row.recorded_at <= moment.known && standing(row, moment) == Standing::Current
            });
            rows.map(|row| (&row.public_id, row)).collect()
        };
        let (before, after) = (at(from), at(to));
        let only = |one: &BTreeMap<&PublicId, &ClaimRow>,
                    other: &BTreeMap<&PublicId, &ClaimRow>| {
            let rows = one.iter().filter(|(id, _)| !other.contains_key(*id));
            rows.map(|(_, row)| (*row).clone()).collect::<Vec<_>>()
        };
        Ok(ClaimsBetween {
            unchanged: before.keys().filter(|id| after.contains_key(*id)).count(),
            began: only(&after, &before),
            ended: only(&before, &after),
        })
    }

    /// The first of these claims as they are shown.
    pub(super) fn views_of(&self, rows: Vec<ClaimRow>, limit: usize) -> Result<Vec<ClaimView>> {
        rows.into_iter()
            .take(limit)
            .map(|row| self.claim_view(self.standing_of(&row), row))
            .collect()
    }

    fn standing_of(&self, row: &ClaimRow) -> Standing {
        standing(row, self.at)
    }
}

/// What differs between two moments.
pub(super) struct ClaimsBetween {
    pub(super) began: Vec<ClaimRow>,
    pub(super) ended: Vec<ClaimRow>,
    pub(super) unchanged: usize,
}

/// How a claim stands to a moment.
fn standing(row: &ClaimRow, at: Moment) -> Standing {
    if row.retracted_at.is_some_and(|end| end <= at.known) {
        Standing::Retracted
    } else if row.from.is_some_and(|from| at.valid < from) {
        Standing::Future
    } else if row.to.is_some_and(|to| to <= at.valid) {
        Standing::Past
    } else {
        Standing::Current
    }
}

/// `(Ana), (Orion) [accusation, suspected]: …`, what holds only.
fn claim_lines(claims: &[ClaimView]) -> Vec<ContextItem> {
    let current: Vec<&ClaimView> = claims
        .iter()
        .filter(|claim| claim.standing == Standing::Current)
        .collect();
    let count = current.len().max(1) as f64;
    current
        .iter()
        .enumerate()
        .map(|(place, claim)| {
            let object = claim
                .object
                .as_ref()
                .map_or(String::new(), |object| format!(", ({object})"));
            ContextItem {
                kind: ContextKind::Claim,
                text: format!(
                    "({}){object} [{}, {}]: {}",
                    claim.subject,
                    claim.claim_type,
                    claim.status.as_str(),
                    claim.description
                ),
                score: 1.0 - place as f64 / count,
                citation: None,
            }
        })
        .collect()
}
