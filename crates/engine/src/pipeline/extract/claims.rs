//! Claims that follow from the replies, written by difference.

use std::collections::{BTreeMap, BTreeSet};

use super::gather::Gathered;
use crate::Result;
use crate::memory::buried_claim;
use crate::pipeline::Scope;
use crate::storage::{self, Buried, ClaimValues, EvidenceRow, Origin};
use crate::types::{EntityId, ExtractReport, PublicId, Timestamp};

/// Claims about what was forgotten, and claims that were forgotten or corrected, whatever those they are about are
/// called.
pub(super) fn leave_out_buried_claims(
    scope: &Scope<'_>,
    gathered: &mut Gathered,
    gone: &BTreeSet<String>,
    names_of: &dyn Fn(&String) -> Vec<String>,
) -> Result<()> {
    let mut buried = Vec::new();
    for (key, claim) in &gathered.claims {
        let (subject, object, _, status, _, from, to) = key;
        let mut is_gone =
            gone.contains(subject) || object.as_ref().is_some_and(|key| gone.contains(key));
        let objects = object
            .as_ref()
            .map_or_else(|| vec![String::new()], names_of);
        for subject in names_of(subject) {
            for object in &objects {
                let parts = buried_claim(
                    (&subject, object),
                    &claim.kind,
                    *status,
                    &claim.description,
                    (from.map(Timestamp), to.map(Timestamp)),
                );
                is_gone |= storage::is_buried(
                    scope.connection,
                    scope.namespace,
                    Buried::Claim,
                    &parts.each_ref().map(String::as_str),
                )?;
            }
        }
        if is_gone {
            buried.push(key.clone());
        }
    }
    for key in buried {
        gathered.claims.remove(&key);
    }
    Ok(())
}

/// Makes the claims that models found what the replies say.
pub(super) fn save_claims(
    scope: &Scope<'_>,
    gathered: &Gathered,
    entities: &BTreeMap<String, EntityId>,
    report: &mut ExtractReport,
) -> Result<()> {
    let connection = scope.connection;
    let mut wanted: BTreeMap<PublicId, (ClaimValues<'_>, Vec<EvidenceRow>)> = BTreeMap::new();
    for ((subject, object, _, status, ..), claim) in &gathered.claims {
        let values = ClaimValues {
            subject: entities[subject],
            object: object.as_ref().map(|object| entities[object]),
            kind: &claim.kind,
            status: *status,
            description: &claim.description,
            confidence: claim.confidence,
            from: claim
                .from
                .as_ref()
                .map(|(at, written)| (*at, written.as_str())),
            to: claim
                .to
                .as_ref()
                .map(|(at, written)| (*at, written.as_str())),
            observed_at: claim.observed_at,
            origin: Origin::Llm,
        };
        let identity = storage::claim_identity(connection, &values)?;
        wanted.insert(
            identity,
            (values, claim.evidence.values().cloned().collect()),
        );
    }
    for (id, identity) in storage::extracted_claims(connection, scope.namespace)? {
        if !wanted.contains_key(&identity) {
            storage::retract_claim(connection, id, scope.now)?;
            report.claims_closed += 1;
        }
    }
    for (values, evidence) in wanted.into_values() {
        let (id, is_new) = storage::ensure_claim(connection, scope.namespace, &values, scope.now)?;
        report.claims_added += usize::from(is_new);
        if !is_new {
            storage::update_claim(connection, id, values.confidence, values.observed_at)?;
        }
        if storage::current_claim_evidence(connection, id)? != evidence {
            storage::save_claim_evidence(connection, id, &evidence)?;
        }
    }
    Ok(())
}
