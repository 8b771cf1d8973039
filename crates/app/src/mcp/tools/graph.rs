//! Tools about entities and how they hang together: `entity`, `neighbors`, `path`, `timeline`, `stats`.

use malha_engine::chunking::estimate_tokens;
use malha_engine::types::{Direction, NeighborRequest, TimelineRequest};
use serde_json::{Value, json};

use super::super::arguments::Refused;
use super::super::schema::{answer, date, flag, name, number, object, paged};
use super::{Access, BUDGET, Tool, quoted, value};

pub(super) const TOOLS: &[Tool] = &[
    Tool {
        name: "entity",
        title: "Describe an entity",
        description: "All that is known of an entity: its types, what holds, what held, and passages that mention it.",
        access: Access::Reads,
        input: || {
            object(
                &["name"],
                &json!({"name": name(), "as_of": date("What held then"), "known_at": date("As it was known then")}),
            )
        },
        output: || {
            answer(&json!({
                "trust": "string",
                "entities": [{"entity": entity_like(), "community": "string?", "relations": [relation_like()],
                    "history": ["object"], "claims": [claim_like()], "passages": [{"uri": "string",
                    "line": "integer", "text": "string"}]}],
            }))
        },
        run: |engine, given| {
            let mut entities = given.at(engine)?.describe(&given.text("name")?)?;
            for entity in &mut entities {
                let mut left = BUDGET;
                entity.passages.retain(|passage| {
                    let cost = estimate_tokens(&passage.text);
                    left = left.saturating_sub(cost);
                    left > 0
                });
            }
            quoted(json!({ "entities": entities }))
        },
    },
    Tool {
        name: "neighbors",
        title: "Neighbours",
        description: "What is around an entity, by hops.",
        access: Access::Reads,
        input: || {
            object(
                &["name"],
                &json!({
                    "name": name(),
                    "hops": number("How far; 1 if not said"),
                    "limit": number("Entities at most; 30 if not said"),
                    "direction": {"type": "string", "enum": ["out", "in", "both"]},
                    "relation": {"type": "array", "items": {"type": "string"}, "description": "Relations to follow"},
                    "as_of": date("What held then"),
                    "known_at": date("As it was known then"),
                }),
            )
        },
        output: || {
            answer(&json!({
                "trust": "string", "nodes": [{"depth": "integer", "entity": entity_like()}],
                "relations": [relation_like()], "cut": "boolean",
            }))
        },
        run: |engine, given| {
            let direction = match given.maybe_text("direction")?.as_deref() {
                Some("out") => Direction::Out,
                Some("in") => Direction::In,
                None | Some("both") => Direction::Both,
                Some(other) => return Err(Refused(format!("{other:?} is none of out, in, both"))),
            };
            quoted(given.at(engine)?.neighbors(&NeighborRequest {
                max_hops: given.number("hops", 1, 6)? as u32,
                max_nodes: given.number("limit", 30, 500)?,
                direction,
                relation_types: given.texts("relation")?,
                ..NeighborRequest::new(given.text("name")?)
            })?)
        },
    },
    Tool {
        name: "path",
        title: "Path",
        description: "How two entities are connected: the shortest paths between them, with evidence.",
        access: Access::Reads,
        input: || {
            object(
                &["from", "to"],
                &json!({
                    "from": name(), "to": name(),
                    "hops": number("Longest path; 6 if not said"),
                    "limit": number("Paths at most; 3 if not said"),
                    "as_of": date("What held then"),
                    "known_at": date("As it was known then"),
                }),
            )
        },
        output: || {
            answer(&json!({
                "trust": "string", "paths": [{"nodes": [entity_like()], "relations": [relation_like()]}],
            }))
        },
        run: |engine, given| {
            let (from, to) = (given.text("from")?, given.text("to")?);
            let hops = given.number("hops", 6, 12)? as u32;
            let paths = given
                .at(engine)?
                .paths(&from, &to, hops, given.number("limit", 3, 50)?)?;
            quoted(json!({ "paths": paths }))
        },
    },
    Tool {
        name: "timeline",
        title: "Timeline",
        description: "An entity's relations through time, with what ended each.",
        access: Access::Reads,
        input: || {
            paged(
                &["name"],
                json!({
                    "name": name(),
                    "history": flag("Show what was taken back too"),
                    "limit": number("Relations of a page, the latest first; 50 if not said"),
                    "known_at": date("As it was known then"),
                }),
            )
        },
        output: || {
            answer(&json!({
                "trust": "string", "entities": [entity_like()],
                "entries": [{"standing": "string", "source": "string", "relation_type": "string", "target": "string"}],
                "claims": [claim_like()], "cut": "boolean", "next_cursor": "string?",
            }))
        },
        run: |engine, given| {
            let page = given.page(50, 1_000)?;
            let mut found = given.at(engine)?.timeline(&TimelineRequest {
                history: given.flag("history")?,
                limit: page.end(),
                ..TimelineRequest::new(given.text("name")?)
            })?;
            // Entries come by their starts, and the latest are those of the first page.
            let all = found.entries.len();
            found.entries.truncate(all.saturating_sub(page.start));
            let next = page.next(found.entries.len(), found.cut);
            if page.start > 0 {
                found.claims.clear();
            }
            let mut answer = quoted(found)?;
            answer["next_cursor"] = json!(next);
            Ok(answer)
        },
    },
    Tool {
        name: "stats",
        title: "Statistics",
        description: "Counts of what the store holds.",
        access: Access::Reads,
        input: || object(&[], &json!({})),
        output: || {
            answer(
                &json!({"documents": "integer", "chunks": "integer", "entities": "integer", "relations": "integer", "claims": "integer"}),
            )
        },
        run: |engine, _| value(engine.stats()?),
    },
];

fn entity_like() -> Value {
    json!({"public_id": "string", "kind": "string", "name": "string", "types": ["string"], "description": "string?"})
}

fn relation_like() -> Value {
    json!({"source": "string", "relation_type": "string", "target": "string", "fact": "string?",
        "confidence": "number", "valid_from": "string?", "valid_to": "string?", "evidence": ["object"]})
}

fn claim_like() -> Value {
    json!({"id": "string", "subject": "string", "object": "string?", "claim_type": "string", "status": "string",
        "description": "string", "standing": "string", "evidence": ["object"]})
}
