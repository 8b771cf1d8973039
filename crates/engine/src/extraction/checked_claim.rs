//! Claims of a reply, checked against the passage: who they are about stands there, and so does the quote.

use serde_json::json;

use super::checked::{Checker, End, sentence};
use super::claim::status_of;
use super::extracted::ExtractedClaim;
use super::raw::RawClaim;
use crate::text::clean_name;
use crate::types::ClaimStatus;

impl Checker<'_> {
    pub(super) fn claim(&mut self, raw: RawClaim) {
        let shown = json!({
            "subject": raw.subject, "object": raw.object, "type": raw.kind, "status": raw.status,
            "description": raw.description, "quote": raw.quote,
        });
        match self.checked_claim(raw) {
            Ok(claim) if self.out.claims.contains(&claim) => {}
            Ok(claim) => self.out.claims.push(claim),
            Err(reason) => self.reject("claim", shown.to_string(), &reason),
        }
    }

    fn checked_claim(&mut self, raw: RawClaim) -> Result<ExtractedClaim, String> {
        let written = clean_name(&raw.kind).map_err(|reason| format!("the type {reason}"))?;
        let schema = self.schema;
        let declared = schema.claim_type(&written);
        if declared.is_none() && !schema.is_free() {
            return Err(if schema.claim.is_empty() {
                "the schema declares no claims".to_owned()
            } else {
                format!("the claim {written:?} is not in the schema")
            });
        }
        let kind = declared
            .map_or(written.as_str(), |(name, _)| name)
            .to_owned();
        let (subjects, objects) = declared.map_or((&[][..], &[][..]), |(_, kind)| {
            (&*kind.subject, &*kind.object)
        });
        let status = match raw.status.as_deref() {
            None => ClaimStatus::Suspected,
            Some(word) => {
                status_of(word).ok_or_else(|| format!("its status {word:?} says nothing"))?
            }
        };
        let description = raw
            .description
            .as_deref()
            .and_then(sentence)
            .ok_or("it says nothing: there is no description")?;
        let subject = self.end("subject", &raw.subject)?;
        let object = match &raw.object {
            Some(object) => Some((self.end("object", object)?, object.as_str())),
            None => None,
        };
        if let Some((object, _)) = &object {
            if subject.is_same(object) {
                return Err("its subject and its object are one thing".to_owned());
            }
            self.fits("object", object, objects)?;
        }
        self.fits("subject", &subject, subjects)?;
        let given = raw
            .quote
            .as_deref()
            .and_then(|quote| self.grounding.quote(quote));
        let is_quoted = given.is_some();
        let quote = given
            .or_else(|| {
                let (object, _) = object.as_ref()?;
                self.grounding
                    .sentences_with(self.places(&subject), self.places(object))
            })
            .ok_or("the passage does not have its quote")?;
        let subject = (subject, raw.subject.as_str());
        self.can_settle("subject", &subject, subjects)?;
        if let Some(object) = &object {
            self.can_settle("object", object, objects)?;
        }
        let subject = self.settle(subject, subjects);
        let object = object.map(|object| self.settle(object, objects));
        Ok(ExtractedClaim {
            subject,
            object,
            kind,
            status,
            description,
            quote,
            is_quoted,
            valid_from: raw.valid_from,
            valid_to: raw.valid_to,
        })
    }

    /// Whether an end is of one of these types; one without a type may be any.
    fn fits(&self, what: &str, end: &End, allowed: &[String]) -> Result<(), String> {
        let kinds = self.kinds(end);
        let is_allowed = |kind: &String| {
            let mut names = allowed.iter();
            names.any(|name| self.schema.entity_type(name) == Some(kind.as_str()))
        };
        if allowed.is_empty() || kinds.is_empty() || kinds.iter().any(is_allowed) {
            return Ok(());
        }
        let kinds: Vec<&str> = kinds.iter().map(String::as_str).collect();
        Err(format!("its {what} cannot be a {}", kinds.join("|")))
    }
}

#[cfg(test)]
mod tests {
    use super::super::checked::check_reply;
    use super::super::claim::ClaimType;
    use super::super::reply::read_reply;
    use super::super::schema::{EntityType, Schema};

    #[test]
    fn only_claims_that_the_passage_makes_are_kept() {
        let kind = ClaimType {
            subject: vec!["Person".to_owned()],
            aliases: vec!["accused of".to_owned()],
            ..ClaimType::default()
        };
        let schema = Schema {
            entity: [
                ("Person".to_owned(), EntityType::default()),
                ("Company".to_owned(), EntityType::default()),
            ]
            .into(),
            claim: [("ACCUSATION".to_owned(), kind)].into(),
            ..Schema::default()
        };
        let text = "Ana Prado was said to have sold Orion's papers. Orion denied it.";
        let reply = r#"{"entities":[{"name":"Ana Prado","type":"Person"},{"name":"Orion","type":"Company"}],
            "claims":[
            {"subject":"Ana Prado","object":"Orion","type":"accused of","status":"alleged","description":"Ana sold papers.","quote":"said to have sold Orion's papers"},
            {"subject":"Ana Prado","object":"NONE","type":"ACCUSATION","status":false,"description":"Ana sold nothing.","quote":"Orion denied it"},
            {"subject":"Ana Prado","type":"ACCUSATION","status":"true","description":"Ana fled.","quote":"Ana fled to Brazil"},
            {"subject":"Nina","type":"ACCUSATION","status":"true","description":"Nina fled.","quote":"Orion denied it"},
            {"subject":"Orion","type":"ACCUSATION","status":"true","description":"Orion fled.","quote":"Orion denied it"},
            {"subject":"Ana Prado","type":"PRAISE","status":"true","description":"Good.","quote":"Orion denied it"},
            {"subject":"Ana Prado","type":"ACCUSATION","status":"blue","description":"x","quote":"Orion denied it"},
            7]}"#;
        let found = check_reply(read_reply(reply).unwrap(), text, &schema);
        let claims: Vec<(&str, Option<usize>, &str)> = found
            .claims
            .iter()
            .map(|claim| {
                (
                    claim.status.as_str(),
                    claim.object,
                    &text[claim.quote.clone()],
                )
            })
            .collect();
        assert_eq!(
            claims,
            [
                ("suspected", Some(1), "said to have sold Orion's papers."),
                ("false", None, "Orion denied it."),
            ]
        );
        let reasons: Vec<&str> = found.rejected.iter().map(|r| r.reason.as_str()).collect();
        assert_eq!(
            reasons,
            [
                "the passage does not have its quote",
                "its subject \"Nina\" is none of the entities",
                "its subject cannot be a Company",
                "the claim \"PRAISE\" is not in the schema",
                "its status \"blue\" says nothing",
                "neither an entity nor a relation",
            ]
        );
    }

    #[test]
    fn claims_nobody_asked_for_are_put_aside() {
        let schema = Schema {
            entity: [("Person".to_owned(), EntityType::default())].into(),
            ..Schema::default()
        };
        let reply = r#"{"entities":[{"name":"Ana","type":"Person"}],
            "claims":[{"subject":"Ana","type":"X","status":"true","description":"d","quote":"Ana sang"}]}"#;
        let read = || read_reply(reply).unwrap();
        let found = check_reply(read(), "Ana sang.", &schema);
        assert!(found.claims.is_empty());
        assert_eq!(found.rejected[0].reason, "the schema declares no claims");
        let free = check_reply(read(), "Ana sang.", &Schema::default());
        assert_eq!(free.claims.len(), 1);
    }
}
