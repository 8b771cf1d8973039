//! Tools that change what is known: `remember`, `correct`, `undo`, `forget`.

use malha_engine::types::{
    ClaimCorrection, ClaimStatus, ConflictPolicy, Correction, DocumentFilter, ForgetRequest, Memory,
};
use serde_json::{Value, json};

use super::super::arguments::{Arguments, Refused};
use super::super::schema::{answer, date, flag, list, list_of, name, number, object, one_of, text};
use super::{Access, Tool, value};

/// How claims may stand.
const STATUSES: &[&str] = &["true", "false", "suspected"];

pub(super) const TOOLS: &[Tool] = &[
    Tool {
        name: "remember",
        title: "Remember",
        description: "Store a text, entities, relations and claims as they are given. Unknown entities are made. The \
                      result names the operation that `undo` takes, and what is known that comes near.",
        access: Access::Adds,
        input: || {
            object(
                &[],
                &json!({
                    "text": text("What was said or found out"),
                    "speaker": text("Who said it"),
                    "time": date("When it was said; now if not said"),
                    "session": text("The conversation it belongs to"),
                    "id": text("A name of its own; one that is there is replaced"),
                    "entities": list_of(&["name"], &json!({
                        "name": text("Name"), "type": text("Type"), "description": text("What it is"),
                        "aliases": list("Other names"),
                    })),
                    "relations": list_of(&["from", "relation", "to"], &json!({
                        "from": name(), "relation": text("How"), "to": name(),
                        "context": text("The fact as a sentence"), "valid_from": date("Since when"),
                        "valid_to": date("Until when"),
                        "exclusive": flag("The first has this relation to one thing at a time: the one before ends"),
                    })),
                    "claims": list_of(&["subject", "type", "description"], &json!({
                        "subject": name(), "object": name(), "type": text("Kind of claim, such as accusation"),
                        "status": one_of(STATUSES, "suspected if not said"),
                        "description": text("The claim as a sentence"), "valid_from": date("Since when"),
                        "valid_to": date("Until when"),
                    })),
                    "on_conflict": one_of(&["close", "ask"],
                        "What a contradiction of an exclusive relation does; close if not said"),
                }),
            )
        },
        output: memory_report,
        run: |engine, given| {
            let policy = match given.maybe_text("on_conflict")?.as_deref() {
                None | Some("close") => ConflictPolicy::Close,
                Some("ask") => ConflictPolicy::Ask,
                Some(other) => return Err(Refused(format!("{other:?} is none of close, ask"))),
            };
            let mut memory = given.given.clone();
            memory.remove("on_conflict");
            let memory: Memory = Arguments::new(memory).read(None)?;
            value(engine.remember(&[memory], policy)?)
        },
    },
    Tool {
        name: "correct",
        title: "Correct",
        description: "Take a fact back and state what is right instead, or a claim, by its id. It does not come back \
                      when a source states it again.",
        access: Access::Destroys,
        input: || {
            object(
                &[],
                &json!({
                    "from": name(), "relation": text("The relation of the wrong fact"), "to": name(),
                    "new_target": text("What is right instead of `to`; without it and without dates the fact is only taken back"),
                    "valid_from": date("Since when the right fact holds"),
                    "valid_to": date("Until when it holds"),
                    "reason": text("Why"),
                    "claim": text("The id of a wrong claim, instead of a fact"),
                    "status": one_of(STATUSES, "How the claim stands instead"),
                    "description": text("What is right instead of the claim's sentence"),
                }),
            )
        },
        output: memory_report,
        run: |engine, given| {
            let Some(id) = given.maybe_text("claim")? else {
                for name in ["from", "relation", "to"] {
                    given.text(name)?;
                }
                let correction: Correction = given.read(None)?;
                return value(engine.correct(&correction)?);
            };
            let status = given.maybe_text("status")?;
            let status = status.map(|name| {
                ClaimStatus::parse(&name)
                    .ok_or_else(|| Refused(format!("{name:?} is none of {}", STATUSES.join(", "))))
            });
            value(engine.correct_claim(&ClaimCorrection {
                id,
                status: status.transpose()?,
                description: given.maybe_text("description")?,
            })?)
        },
    },
    Tool {
        name: "undo",
        title: "Undo",
        description: "Take back an operation of `remember` or `correct`; without a number, list the latest ones.",
        access: Access::Destroys,
        input: || object(&[], &json!({"operation": number("Its number")})),
        output: || {
            answer(&json!({
                "operation": "integer?",
                "operations?": [{"id": "integer", "at": "string", "kind": "string", "summary": "string"}],
            }))
        },
        run: |engine, given| {
            if given.given.contains_key("operation") {
                let operation = given.number("operation", 1, i64::MAX as usize)?;
                value(engine.undo(operation as i64)?)
            } else {
                value(json!({ "operations": engine.operations(20)? }))
            }
        },
    },
    Tool {
        name: "forget",
        title: "Forget",
        description: "Delete documents, entities or sessions for good, with all that was derived from them. Shows what \
                      would go unless `confirm` is true.",
        access: Access::Destroys,
        input: || {
            object(
                &[],
                &json!({
                    "documents": list("Uris"), "entities": list("Names"), "sessions": list("Names"),
                    "texts": list("Documents that hold one of these texts"),
                    "under": list("Documents at or below these paths"),
                    "tags": list("Documents with one of these tags; with `under`, both count"),
                    "since": date("Documents dated then or later"),
                    "until": date("Documents dated no later"),
                    "confirm": flag("Do it"),
                }),
            )
        },
        output: || {
            answer(&json!({
                "purge": "string", "documents": ["string"], "entities": ["string"], "relations": "integer",
                "turns": "integer", "rows": "integer", "still_named_in": ["string"],
            }))
        },
        run: |engine, given| {
            let request = ForgetRequest {
                documents: given.texts("documents")?,
                entities: given.texts("entities")?,
                sessions: given.texts("sessions")?,
                texts: given.texts("texts")?,
                filter: DocumentFilter {
                    under: given.texts("under")?,
                    tags: given.texts("tags")?,
                    since: given.maybe_text("since")?,
                    until: given.maybe_text("until")?,
                    ..DocumentFilter::default()
                },
                everything: false,
            };
            value(if given.flag("confirm")? {
                engine.forget(&request)?
            } else {
                engine
                    .until(given.cancel.clone())
                    .preview_forget(&request)?
            })
        },
    },
];

/// What became of a change.
fn memory_report() -> Value {
    answer(&json!({
        "operation": "integer?", "episodes": ["string"], "entities_added": "integer", "relations_added": "integer",
        "relations_repeated": "integer", "relations_retracted": "integer", "claims_added": "integer",
        "claims_repeated": "integer", "claims_retracted": "integer", "ended": ["string"], "conflicts": ["string"],
        "suppressed": ["string"], "near": ["object"], "failed": [{"line": "integer", "reason": "string"}],
    }))
}
