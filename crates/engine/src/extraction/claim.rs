//! Claims in schema, prompt and reply: what is said of somebody or something, and whether it is true, false or
//! suspected. Asked for where the schema declares types of them (covariates of Microsoft `GraphRAG`).

use std::collections::BTreeMap;
use std::fmt::Write as _;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use super::raw::RawClaim;
use super::reply_item::text;
use super::schema::{Schema, forms, list};
use crate::text::squash;
use crate::types::ClaimStatus;

/// A kind of claim. Declaring one asks for it.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct ClaimType {
    /// One sentence for the model: what counts, what does not.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub description: String,
    /// Entity types it may be about; empty: any.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub subject: Vec<String>,
    /// Entity types it may concern besides; empty: any.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub object: Vec<String>,
    /// Other words for it, as texts and models write them.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub aliases: Vec<String>,
    /// Its name by language code; also read in replies.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub labels: BTreeMap<String, String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub examples: Vec<String>,
}

impl Schema {
    /// The declared kind of claim that a reply means by this word.
    pub fn claim_type(&self, written: &str) -> Option<(&str, &ClaimType)> {
        let wanted = squash(written);
        self.claim
            .iter()
            .find(|(name, kind)| {
                forms(name, &kind.aliases, &kind.labels).any(|form| squash(form) == wanted)
            })
            .map(|(name, kind)| (name.as_str(), kind))
    }

    /// Errors in the declared kinds of claims.
    pub(super) fn claim_errors(&self) -> Vec<String> {
        let mut errors = Vec::new();
        let mut names: BTreeMap<String, &str> = BTreeMap::new();
        for (name, kind) in &self.claim {
            for form in forms(name, &kind.aliases, &kind.labels) {
                if let Some(other) = names.insert(squash(form), name)
                    && other != name
                {
                    errors.push(format!("claims {other} and {name} share the name {form:?}"));
                }
            }
            for end in kind.subject.iter().chain(&kind.object) {
                if self.entity_type(end).is_none() {
                    errors.push(format!(
                        "claim {name} names the entity type {end}, which is not declared"
                    ));
                }
            }
        }
        errors
    }

    /// What the prompt says of claims; nothing where none are declared, so that no request changes.
    pub(super) fn claims_as_prompt(&self) -> String {
        let mut out = String::new();
        if self.claim.is_empty() {
            return out;
        }
        out.push_str(
            "Claims, in a further list of the object: \"claims\":[{\"subject\":\"\",\"object\":\"\",\"type\":\"\",\
             \"status\":\"\",\"description\":\"\",\"quote\":\"\",\"valid_from\":\"\",\"valid_to\":\"\"}]. subject and \
             object are names of your entities; object may be empty. status is \"true\" where the passage \
             establishes the claim, \"false\" where it refutes it, \"suspected\" where somebody only says so. \
             description: the claim as one sentence. quote and dates as for relations. What is claimed and not \
             established is a claim, not a relation. Types of claims:\n",
        );
        for (name, kind) in &self.claim {
            let ends = |ends: &[String]| match ends {
                [] => "any".to_owned(),
                ends => ends.join("|"),
            };
            let _ = write!(out, "- {name} (about {}", ends(&kind.subject));
            if !kind.object.is_empty() {
                let _ = write!(out, ", concerns {}", ends(&kind.object));
            }
            out.push(')');
            if !kind.description.is_empty() {
                let _ = write!(out, ": {}", kind.description);
            }
            list(&mut out, "e.g.", &kind.examples);
            out.push('\n');
        }
        out
    }

    /// Whether a reply to a prompt with this schema holds all claims that `wanted` asks for, given which entity
    /// types were found (`has`).
    pub(super) fn covers_claims(&self, wanted: &Self, has: impl Fn(&[String]) -> bool) -> bool {
        wanted.claim.iter().all(|(name, kind)| {
            let includes = |own: &[String], wanted: &[String]| {
                own.is_empty() || (!wanted.is_empty() && wanted.iter().all(|end| own.contains(end)))
            };
            let known = self.claim.get(name).is_some_and(|own| {
                includes(&own.subject, &kind.subject) && includes(&own.object, &kind.object)
            });
            known || !has(&kind.subject)
        })
    }
}

/// The form of the list, for providers that can hold a model to one.
pub(super) fn reply_schema(schema: &Schema) -> Value {
    let text = json!({ "type": "string" });
    let kinds: Vec<&String> = schema.claim.keys().collect();
    json!({ "type": "array", "items": {
        "type": "object",
        "properties": {
            "subject": text, "object": text, "type": { "type": "string", "enum": kinds },
            "status": { "type": "string", "enum": ["true", "false", "suspected"] },
            "description": text, "quote": text, "valid_from": text, "valid_to": text,
        },
        "required": ["subject", "type", "status", "description", "quote"],
    } })
}

/// A claim under the names that models give its fields.
pub(super) fn claim_of(map: &Map<String, Value>) -> Option<RawClaim> {
    let some = |names: &[&str]| {
        let found = text(map, names)?;
        let is_none = matches!(found.to_lowercase().as_str(), "none" | "null" | "n/a" | "-");
        (!is_none).then_some(found)
    };
    Some(RawClaim {
        subject: some(&["subject", "subject_id", "source", "entity", "about"])?,
        object: some(&["object", "object_id", "target", "concerns"]),
        kind: some(&["type", "claim_type", "category", "covariate_type", "kind"])
            .unwrap_or_else(|| "CLAIM".to_owned()),
        status: status_text(map),
        description: some(&[
            "description",
            "claim",
            "claim_description",
            "fact",
            "statement",
        ]),
        quote: some(&[
            "quote",
            "source_text",
            "evidence",
            "supporting_text",
            "citation",
        ]),
        valid_from: some(&["valid_from", "start_date", "date", "since"]),
        valid_to: some(&["valid_to", "end_date", "until"]),
    })
}

/// `"status": true` is as good as `"status": "TRUE"`.
fn status_text(map: &Map<String, Value>) -> Option<String> {
    match map.get("status") {
        Some(Value::Bool(flag)) => Some(flag.to_string()),
        _ => text(map, &["status", "claim_status", "truth", "verdict"]),
    }
}

/// What a word of a reply says about a claim's standing; `None` for a word that says nothing of it.
pub(super) fn status_of(written: &str) -> Option<ClaimStatus> {
    const WORDS: [(ClaimStatus, &[&str]); 3] = [
        (
            ClaimStatus::Suspected,
            &[
                "suspect",
                "suspeit",
                "alleg",
                "alegad",
                "unverif",
                "unconfirm",
                "claimed",
                "report",
                "rumo",
                "possib",
                "unknown",
                "não confirm",
                "疑",
            ],
        ),
        (
            ClaimStatus::False,
            &[
                "fals",
                "refut",
                "denied",
                "disprov",
                "untrue",
                "incorrect",
                "negat",
                "negad",
                "desment",
                "否",
                "假",
            ],
        ),
        (
            ClaimStatus::True,
            &[
                "true",
                "confirm",
                "establish",
                "proven",
                "stated",
                "fact",
                "verdad",
                "verified",
                "comprovad",
                "真",
                "是",
            ],
        ),
    ];
    let written = written.trim().to_lowercase();
    WORDS
        .iter()
        .find(|(_, words)| words.iter().any(|word| written.contains(word)))
        .map(|(status, _)| *status)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_of_models_tell_how_a_claim_stands() {
        let check = |written: &str, expected: Option<ClaimStatus>| {
            assert_eq!(status_of(written), expected, "{written}");
        };
        check("TRUE", Some(ClaimStatus::True));
        check("Confirmed", Some(ClaimStatus::True));
        check("unconfirmed", Some(ClaimStatus::Suspected));
        check("FALSE", Some(ClaimStatus::False));
        check("untrue", Some(ClaimStatus::False));
        check("SUSPECTED", Some(ClaimStatus::Suspected));
        check("alleged by others", Some(ClaimStatus::Suspected));
        check("suspeita", Some(ClaimStatus::Suspected));
        check("verdadeiro", Some(ClaimStatus::True));
        check("blue", None);
    }

    #[test]
    fn a_claim_is_read_under_many_names() {
        let check = |value: Value, expected: Option<(&str, Option<&str>, Option<&str>)>| {
            let read = claim_of(value.as_object().unwrap());
            let found = read.as_ref().map(|raw| {
                (
                    raw.subject.as_str(),
                    raw.object.as_deref(),
                    raw.status.as_deref(),
                )
            });
            assert_eq!(found, expected, "{value}");
        };
        check(
            json!({"subject": "Ana", "object": "NONE", "status": true}),
            Some(("Ana", None, Some("true"))),
        );
        check(
            json!({"subject_id": "ANA", "object_id": "ORION", "claim_status": "TRUE"}),
            Some(("ANA", Some("ORION"), Some("TRUE"))),
        );
        check(json!({"description": "nobody"}), None);
    }
}
