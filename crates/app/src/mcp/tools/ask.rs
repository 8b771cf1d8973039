//! Tools that answer questions: `recall`, `search`, `ask`, `communities`, `cypher`.

use std::time::Instant;

use malha_engine::chunking::estimate_tokens;
use malha_engine::types::{
    AskMode, AskRequest, CommunityLevel, CommunityRequest, CypherRequest, Evidence, RecallRequest,
    SearchRequest,
};
use serde_json::{Value, json};

use super::super::arguments::Refused;
use super::super::schema::{answer, date, flag, number, object, paged, text};
use super::{Access, BUDGET, MOST_TOKENS, Tool, quoted};
use crate::telemetry;

pub(super) const TOOLS: &[Tool] = &[
    Tool {
        name: "recall",
        title: "Recall",
        description: "What is known about a question, in one call and within a budget of tokens: passages, the \
                      entities it names, and how they are related. Never fails; `notes` says what could not be had.",
        access: Access::Reads,
        input: || {
            object(
                &["query"],
                &json!({
                    "query": text("The question"),
                    "budget": number("Tokens the answer may take; 2000 if not said"),
                    "hops": number("How far to walk from the named entities; 2 if not said"),
                    "limit": number("Passages at most; 10 if not said"),
                    "history": flag("Show relations that have ended too"),
                    "as_of": date("What held then"),
                    "known_at": date("As it was known then"),
                }),
            )
        },
        output: || {
            answer(&json!({
                "trust": "string", "query": "string", "entrypoint_roots": ["string"],
                "entities": [{"name": "string", "type": "string", "description": "string", "id": "string"}],
                "relations": [{"from": "string", "to": "string", "relation": "string", "context": "string",
                    "valid_from": "string?", "valid_to": "string?", "confidence": "number",
                    "confidence_now": "number", "source": "string?"}],
                "claims": [{"id": "string", "subject": "string", "object": "string?", "type": "string",
                    "status": "string", "description": "string", "confidence": "number", "source": "string?"}],
                "evidence": [{"rank": "integer", "uri": "string", "line": "integer", "title": "string",
                    "said_at": "string?", "text": "string"}],
                "tokens": "integer", "cut": "boolean", "record": ["object"], "notes": ["string"]
            }))
        },
        run: |engine, given| {
            let request = RecallRequest {
                budget: given.number("budget", 2_000, MOST_TOKENS)?,
                max_hops: given.number("hops", 2, 6)? as u32,
                limit: given.number("limit", 10, 100)?,
                prefer_present: !given.flag("history")?,
                ..RecallRequest::new(given.text("query")?)
            };
            quoted(given.at(engine)?.recall(&request))
        },
    },
    Tool {
        name: "search",
        title: "Search",
        description: "Ranked passages for a question or words, with file, line, quote and how each is connected \
                      with the question.",
        access: Access::Reads,
        input: || {
            paged(
                &["query"],
                json!({
                    "query": text("The question, or words to look for"),
                    "limit": number("Passages of a page; 10 if not said"),
                    "budget": number("Tokens the answer may take; 4000 if not said"),
                    "as_of": date("What held then"),
                    "known_at": date("As it was known then"),
                }),
            )
        },
        output: || {
            answer(&json!({
                "trust": "string", "query": "string", "entry_entities": ["object"], "gate": "any",
                "results": [{"rank": "integer", "uri": "string", "line": "integer", "title": "string",
                    "heading_path": ["string"], "text": "string", "quote": "string", "connections": "array"}],
                "cut": "boolean", "record": ["object"], "notes": ["string"], "next_cursor": "string?",
            }))
        },
        run: |engine, given| {
            let page = given.page(10, 100)?;
            let mut request = SearchRequest {
                // One more tells whether there is a next page.
                limit: page.end() + 1,
                ..SearchRequest::new(given.text("query")?)
            };
            let start = Instant::now();
            let mut found = given.at(engine)?.search(&request)?;
            let took = start.elapsed();
            let has_more = found.results.len() > page.end();
            found.results.truncate(page.end());
            let shown = &found.results[page.start.min(found.results.len())..];
            let (results, cut) = within(shown, given.number("budget", BUDGET, MOST_TOKENS)?);
            // What the budget left out comes first on the next page.
            let next = page.next(
                results.len(),
                has_more || cut && results.len() < shown.len(),
            );
            let answer = quoted(json!({
                "query": found.query, "entry_entities": found.entry_entities, "gate": found.gate,
                "results": results, "cut": cut, "record": found.record, "notes": found.notes,
                "next_cursor": next,
            }));
            if given.is_of_the_present() && page.start == 0 {
                request.limit = page.length;
                telemetry::beside_answer(engine, request, found, took);
            }
            answer
        },
    },
    Tool {
        name: "ask",
        title: "Ask",
        description: "An answer of sentences from the documents, each with its place, or a refusal when the store \
                      holds no evidence. `cypher` asks the graph by queries, for numbers, lists and paths; the \
                      configured chat model, if there is one, writes them.",
        access: Access::Reads,
        input: || {
            object(
                &["question"],
                &json!({
                    "question": text("The question"),
                    "mode": {"type": "string", "enum": ["auto", "hybrid", "local", "global", "drift", "cypher"],
                        "description": "How to look for the evidence; auto if not said"},
                    "budget": number("Tokens of evidence to look at; 4000 if not said"),
                    "as_of": date("What held then"),
                    "known_at": date("As it was known then"),
                }),
            )
        },
        output: || {
            answer(&json!({
                "trust": "string", "question": "string", "mode": "string", "reason": "string", "text": "string",
                "sentences": [{"text": "string", "markers": ["integer"], "is_supported": "boolean"}],
                "citations": [{"uri": "string", "title": "string", "line": "integer", "start": "integer",
                    "end": "integer", "quote": "string"}],
                "is_refusal": "boolean", "suggestions": ["string"], "notes": ["string"],
            }))
        },
        run: |engine, given| {
            let mode = given.maybe_text("mode")?;
            let mode = mode.as_deref().unwrap_or("auto");
            let Some(mode) = AskMode::parse(mode) else {
                let known = "auto, hybrid, local, global, drift, cypher";
                return Err(Refused(format!("{mode:?} is none of {known}")));
            };
            quoted(given.at(engine)?.ask(&AskRequest {
                mode,
                budget: Some(given.number("budget", BUDGET, MOST_TOKENS)?),
                ..AskRequest::new(given.text("question")?)
            })?)
        },
    },
    Tool {
        name: "communities",
        title: "Communities",
        description: "What belongs together in the store, coarse to fine, or the communities of one entity; with \
                      `report`, what a community of that number is about, with quotes.",
        access: Access::Reads,
        input: || {
            paged(
                &[],
                json!({
                    "level": {"type": "string", "enum": ["coarse", "middle", "fine"]},
                    "entity": text("Only the communities of this entity"),
                    "limit": number("Communities of a page, the largest first; 10 if not said"),
                    "report": number("The number of a community to tell about"),
                }),
            )
        },
        output: || {
            answer(&json!({
                "trust": "string",
                "communities?": [{"id": "integer", "level": "string", "title": "string", "size": "integer",
                    "members": [{"name": "string", "public_id": "string"}]}],
                "total": "integer?", "community": "integer?", "title": "string?", "summary": "string?",
                "next_cursor": "string?",
            }))
        },
        run: |engine, given| {
            let report = given.number("report", 0, usize::MAX >> 1)?;
            if report > 0 {
                return quoted(engine.community_report(report as i64)?);
            }
            let level = given.maybe_text("level")?.unwrap_or_default();
            let page = given.page(10, 500)?;
            let mut found = engine.communities(&CommunityRequest {
                level: match level.as_str() {
                    "" => CommunityLevel::Coarse,
                    name => CommunityLevel::parse(name).ok_or_else(|| {
                        Refused(format!("{name:?} is none of coarse, middle, fine"))
                    })?,
                },
                entity: given.maybe_text("entity")?,
                limit: page.end() + 1,
                members: 8,
            })?;
            let has_more = found.communities.len() > page.end();
            found.communities.truncate(page.end());
            found
                .communities
                .drain(..page.start.min(found.communities.len()));
            let next = page.next(found.communities.len(), has_more);
            let mut answer = quoted(found)?;
            answer["next_cursor"] = json!(next);
            Ok(answer)
        },
    },
    Tool {
        name: "cypher",
        title: "Query the graph",
        description: "Rows of an openCypher query over the graph: entities by type, Document, Chunk, MENTIONS, \
                      and relations by type. `CALL db.labels()` and `CALL show_tables()` show what there is. \
                      Nothing in a query can write.",
        access: Access::Reads,
        input: || {
            object(
                &["query"],
                &json!({
                    "query": text("The query"),
                    "limit": number("Rows at most, an error beyond; 100 if not said"),
                    "as_of": date("What held then"),
                    "known_at": date("As it was known then"),
                }),
            )
        },
        output: || answer(&json!({"trust": "string", "columns": ["string"], "rows": ["array"]})),
        run: |engine, given| {
            quoted(given.at(engine)?.cypher(&CypherRequest {
                max_rows: given.number("limit", 100, 10_000)? as u64,
                ..CypherRequest::new(given.text("query")?)
            })?)
        },
    },
];

/// Passages as long as the budget lasts: whole, or their best sentence.
fn within(results: &[Evidence], budget: usize) -> (Vec<Value>, bool) {
    let (mut left, mut cut) = (budget, false);
    let mut shown = Vec::new();
    for found in results {
        let place = estimate_tokens(&found.uri) + estimate_tokens(&found.title);
        let whole = estimate_tokens(&found.text) + place;
        let (text, cost) = if whole <= left {
            (&found.text, whole)
        } else {
            cut = true;
            (&found.quote, estimate_tokens(&found.quote) + place)
        };
        if cost > left {
            break;
        }
        left -= cost;
        shown.push(json!({
            "rank": found.rank, "uri": found.uri, "line": found.line, "title": found.title,
            "heading_path": found.heading_path, "text": text, "quote": found.quote,
            "connections": found.connections,
        }));
    }
    cut |= shown.len() < results.len();
    (shown, cut)
}
