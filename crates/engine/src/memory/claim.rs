//! Claims given directly, with the line of the episode that makes them.

use super::Period;
use super::statement::{Stated, Writer};
use crate::Result;
use crate::storage::{self, Buried, ClaimRow, ClaimValues, EvidenceRow, Origin};
use crate::text::{clean_name, fold, name_key};
use crate::types::{ClaimId, ClaimStatus, DocumentId, GivenClaim, Timestamp};

/// What a claim is known by when it must not come back: keys of the names, type, status, words, dates.
pub(crate) fn buried_claim(
    (subject, object): (&str, &str),
    kind: &str,
    status: ClaimStatus,
    description: &str,
    (from, to): (Option<Timestamp>, Option<Timestamp>),
) -> [String; 7] {
    let date = |at: Option<Timestamp>| at.map_or(String::new(), |at| at.0.to_string());
    [
        subject.to_owned(),
        object.to_owned(),
        storage::relation_key(kind),
        status.as_str().to_owned(),
        fold(description),
        date(from),
        date(to),
    ]
}

impl Writer<'_> {
    /// States a claim. The inner error is the item's own.
    pub(crate) fn claim(
        &mut self,
        given: &GivenClaim,
        stated: &Stated<'_>,
    ) -> Result<Result<(), String>> {
        let kind = match clean_name(&given.kind) {
            Ok(kind) => kind,
            Err(reason) => return Ok(Err(format!("the type {reason}"))),
        };
        let description = given
            .description
            .split_whitespace()
            .collect::<Vec<_>>()
            .join(" ");
        if description.is_empty() {
            return Ok(Err("there is no description".to_owned()));
        }
        let period = match Period::new(given.valid_from.as_deref(), given.valid_to.as_deref()) {
            Ok(period) => period,
            Err(reason) => return Ok(Err(reason)),
        };
        if let Some(unknown) = period.unknown.first() {
            return Ok(Err(format!("the date {unknown:?} was not understood")));
        }
        let object = given.object.as_deref().map(str::trim);
        let object = object.filter(|name| !name.is_empty());
        let time = |end: &Option<(Timestamp, String)>| end.as_ref().map(|(at, _)| *at);
        let parts = buried_claim(
            (
                &name_key(given.subject.trim()),
                &object.map(name_key).unwrap_or_default(),
            ),
            &kind,
            given.status,
            &description,
            (time(&period.from), time(&period.to)),
        );
        if self.is_buried(Buried::Claim, &parts.each_ref().map(String::as_str))? {
            let about = given.subject.trim();
            self.written
                .suppressed
                .push(format!("{about} {kind}: {description}"));
            return Ok(Ok(()));
        }
        let subject = match self.end(&given.subject, stated)? {
            Ok(subject) => subject,
            Err(reason) => return Ok(Err(reason)),
        };
        let object = match object.map(|name| self.end(name, stated)).transpose()? {
            None => None,
            Some(Ok(object)) if object == subject => {
                return Ok(Err("its subject and its object are one entity".to_owned()));
            }
            Some(Ok(object)) => Some(object),
            Some(Err(reason)) => return Ok(Err(reason)),
        };
        let values = ClaimValues {
            subject,
            object,
            kind: &kind,
            status: given.status,
            description: &description,
            confidence: 1.0,
            from: period
                .from
                .as_ref()
                .map(|(at, written)| (*at, written.as_str())),
            to: period
                .to
                .as_ref()
                .map(|(at, written)| (*at, written.as_str())),
            observed_at: Some(stated.at),
            origin: Origin::Stated,
        };
        let (id, is_new) =
            storage::ensure_claim(self.connection, self.namespace.0.0, &values, self.now)?;
        let evidence = EvidenceRow {
            document: stated.document,
            start: stated.start,
            end: stated.end,
            chunk: None,
            quote: stated.quote.to_owned(),
        };
        storage::add_claim_evidence(self.connection, id, &evidence)?;
        if is_new {
            self.written.claims_added += 1;
        } else {
            self.written.claims_repeated += 1;
        }
        Ok(Ok(()))
    }

    /// Takes back what a document claims; those that something else claims too stay.
    pub(crate) fn withdraw_claims(&mut self, document: DocumentId) -> Result<usize> {
        let gone = storage::withdraw_claims(self.connection, document, self.now)?;
        for &id in &gone {
            self.release(&storage::claim(self.connection, id)?)?;
        }
        Ok(gone.len())
    }

    /// Takes a claim back and keeps it from coming back.
    pub(crate) fn bury_claim(&mut self, row: &ClaimRow) -> Result<()> {
        let parts = self.claim_parts(row)?;
        self.bury(Buried::Claim, &parts.each_ref().map(String::as_str))?;
        storage::retract_claim(self.connection, row.id, self.now)?;
        self.release(row)
    }

    /// Records a claim anew that was taken back. False when nothing makes it any more.
    pub(crate) fn restore_claim(&mut self, id: ClaimId) -> Result<bool> {
        let row = storage::claim(self.connection, id)?;
        let parts = self.claim_parts(&row)?;
        storage::unbury(
            self.connection,
            self.namespace.0.0,
            Buried::Claim,
            &parts.each_ref().map(String::as_str),
        )?;
        let Some(_) = storage::record_claim_again(self.connection, id, self.now)? else {
            return Ok(false);
        };
        for entity in std::iter::once(row.subject).chain(row.object) {
            storage::bring_back_entity(self.connection, entity)?;
            let name = storage::entity(self.connection, entity)?.name;
            self.alias(entity, &name)?;
            self.written.entities.insert(entity);
        }
        Ok(true)
    }

    fn claim_parts(&self, row: &ClaimRow) -> Result<[String; 7]> {
        let key = |id| -> Result<String> {
            let name = storage::entity(self.connection, id)?.name;
            Ok(name_key(&name))
        };
        let object = row.object.map(key).transpose()?;
        Ok(buried_claim(
            (&key(row.subject)?, &object.unwrap_or_default()),
            &row.kind,
            row.status,
            &row.description,
            (row.from, row.to),
        ))
    }

    /// Closes the entities of a claim that nothing else holds: their names are matched again.
    fn release(&mut self, row: &ClaimRow) -> Result<()> {
        for entity in std::iter::once(row.subject).chain(row.object) {
            self.written.entities.insert(entity);
            for alias in storage::aliases_of_entity(self.connection, entity)? {
                self.written.forms.insert(alias.folded);
            }
        }
        storage::retire_unheld_of_claim(self.connection, row.subject, row.object, self.now)
    }
}
