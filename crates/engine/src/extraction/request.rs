//! The request about a passage.

use std::fmt::Write as _;

use serde_json::{Value, json};

use super::claim;
use super::passage::Passage;
use super::prompt::Prompts;
use super::schema::Schema;
use crate::language_model::{ChatRequest, Message, Role};

/// Names that are offered as candidates at most.
const CANDIDATES: usize = 24;

/// What a request says besides the passage itself.
#[derive(Debug, Clone, Copy)]
pub struct Subject<'a> {
    /// Title of the document.
    pub title: &'a str,
    /// The day the document speaks from, as it states it.
    pub date: Option<&'a str>,
    /// Names that were found in the passage without a model.
    pub candidates: &'a [String],
}

/// Makes requests that differ in nothing but the passage.
#[derive(Debug, Clone)]
pub struct Requests {
    prompts: Prompts,
    system: String,
    reply_schema: Value,
    max_output_tokens: u32,
}

impl Requests {
    /// `language`: of descriptions; `None`: the passage's own.
    pub fn new(
        prompts: Prompts,
        schema: &Schema,
        language: Option<&str>,
        max_output_tokens: u32,
    ) -> Self {
        let language = language.map_or_else(
            || "in the language of the passage".to_owned(),
            |language| format!("in {language}"),
        );
        let listed = schema.as_prompt();
        let system = prompts
            .extract
            .fill(&[("schema", &listed), ("language", &language)]);
        Self {
            prompts,
            system,
            reply_schema: reply_schema(schema),
            max_output_tokens,
        }
    }

    /// Asks for what a passage says.
    pub fn extract(&self, subject: &Subject<'_>, passage: &Passage) -> ChatRequest {
        self.request(vec![
            message(Role::System, &self.system),
            message(Role::User, &self.question(subject, passage)),
        ])
    }

    /// Asks for what each of several passages says: [`super::read_part`] reads the reply.
    pub fn together(&self, passages: &[(Subject<'_>, &Passage)]) -> ChatRequest {
        let mut user = String::new();
        for (number, (subject, passage)) in (1..).zip(passages) {
            let gap = if number > 1 { "\n\n" } else { "" };
            let question = self.question(subject, passage);
            let _ = write!(user, "{gap}### passage {number}\n{question}");
        }
        let system = format!("{}\n\n{}", self.system, self.prompts.several.fill(&[]));
        let mut request = self.request(vec![
            message(Role::System, &system),
            message(Role::User, &user),
        ]);
        request.reply_schema = Some(reply_schema_of_several(&self.reply_schema));
        request
    }

    fn question(&self, subject: &Subject<'_>, passage: &Passage) -> String {
        let mut context = String::new();
        let headings = passage.heading_path().join(" > ");
        if !subject.title.is_empty() {
            let _ = write!(context, "Document: {}", one_line(subject.title));
            if let Some(date) = subject.date {
                let _ = write!(context, " ({})", one_line(date));
            }
            context.push('\n');
        }
        if !headings.is_empty() && headings != subject.title {
            let _ = writeln!(context, "Section: {}", one_line(&headings));
        }
        let mut candidates = String::new();
        if !subject.candidates.is_empty() {
            let shown = subject.candidates.iter().take(CANDIDATES);
            let names: Vec<String> = shown.map(|name| one_line(name)).collect();
            let _ = writeln!(candidates, "Names seen in it: {}", names.join("; "));
        }
        self.prompts.passage.fill(&[
            ("context", &context),
            ("candidates", &candidates),
            ("text", &passage.text),
        ])
    }

    /// Asks for what the first reply missed.
    pub fn again(&self, first: &ChatRequest, reply: &str) -> ChatRequest {
        let again = self.prompts.again.fill(&[]);
        self.follow_up(first, reply, &again)
    }

    /// Asks once more, saying what was wrong with the first reply, which is not shown: a model that lost
    /// itself would only do so again. A reply that was cut gets twice the room.
    pub fn repair(&self, first: &ChatRequest, reason: &str, is_truncated: bool) -> ChatRequest {
        let words = self.prompts.repair.fill(&[("reason", reason)]);
        let mut request = first.clone();
        if let Some(system) = request.messages.first_mut() {
            system.text = format!("{}\n\n{words}", system.text);
        }
        if is_truncated {
            request.max_output_tokens *= 2;
        }
        request
    }

    fn follow_up(&self, first: &ChatRequest, reply: &str, words: &str) -> ChatRequest {
        let mut messages = first.messages.clone();
        let said = if reply.trim().is_empty() {
            "(nothing)"
        } else {
            reply
        };
        messages.push(message(Role::Assistant, said));
        messages.push(message(Role::User, words));
        self.request(messages)
    }

    fn request(&self, messages: Vec<Message>) -> ChatRequest {
        ChatRequest {
            messages,
            max_output_tokens: self.max_output_tokens,
            temperature: 0.0,
            reply_schema: Some(self.reply_schema.clone()),
        }
    }
}

fn message(role: Role, text: &str) -> Message {
    Message {
        role,
        text: text.to_owned(),
    }
}

/// Titles and names may hold line breaks that would look like lines of the prompt.
fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// The form of a reply, for providers that can hold a model to one.
pub fn reply_schema(schema: &Schema) -> Value {
    let text = json!({ "type": "string" });
    let mut entity_type = text.clone();
    if !schema.entity.is_empty() {
        entity_type["enum"] = schema.entity.keys().cloned().collect();
    }
    let mut relation_type = text.clone();
    if !schema.relation.is_empty() {
        relation_type["enum"] = schema.relation.keys().cloned().collect();
    }
    let mut reply = json!({
        "type": "object",
        "properties": {
            "entities": { "type": "array", "items": {
                "type": "object",
                "properties": {
                    "name": text, "type": entity_type, "description": text,
                    "aliases": { "type": "array", "items": text },
                    "properties": { "type": "object" },
                },
                "required": ["name", "type"],
            } },
            "relations": { "type": "array", "items": {
                "type": "object",
                "properties": {
                    "source": text, "target": text, "type": relation_type, "fact": text, "quote": text,
                    "status": { "type": "string", "enum": ["stated", "implied"] },
                    "valid_from": text, "valid_to": text,
                    "properties": { "type": "object" },
                },
                "required": ["source", "target", "type", "quote"],
            } },
        },
        "required": ["entities", "relations"],
    });
    if !schema.claim.is_empty() {
        reply["properties"]["claims"] = claim::reply_schema(schema);
        reply["required"] = json!(["entities", "relations", "claims"]);
    }
    reply
}

/// The form of a reply about several passages: that of a reply about one, for each.
fn reply_schema_of_several(one: &Value) -> Value {
    let mut item = one.clone();
    item["properties"]["passage"] = json!({ "type": "integer" });
    if let Some(required) = item["required"].as_array_mut() {
        required.insert(0, "passage".into());
    }
    json!({
        "type": "object",
        "properties": { "passages": { "type": "array", "items": item } },
        "required": ["passages"],
    })
}

#[cfg(test)]
mod tests {
    use super::super::infer::infer_request;
    use super::super::judge::{JudgedName, judge_request};
    use super::super::passage::{PassageChunk, group};
    use super::super::schema::{EntityType, RelationType};
    use super::super::summary::summary_request;
    use super::*;
    use crate::types::ChunkId;

    /// Every request as it is sent: what a change of a prompt changes shows in the file. `MALHA_BLESS=1` writes it anew.
    #[test]
    fn the_requests_as_they_are_sent() {
        let person = EntityType {
            description: "a human being".to_owned(),
            examples: vec!["Ana Prado".to_owned()],
            ..EntityType::default()
        };
        let tie = RelationType {
            source: vec!["Person".to_owned()],
            target: vec!["Project".to_owned()],
            ..RelationType::default()
        };
        let schema = Schema {
            entity: [
                ("Person".to_owned(), person),
                ("Project".to_owned(), EntityType::default()),
            ]
            .into(),
            relation: [("WORKS_ON".to_owned(), tie)].into(),
            ..Schema::default()
        };
        let requests = Requests::new(Prompts::builtin(), &schema, None, 4096);
        let chunk = |text: &str, heading: &str| PassageChunk {
            id: ChunkId(1),
            start: 0,
            end: text.len(),
            text: text.to_owned(),
            tokens: 10,
            heading_path: vec![heading.to_owned()],
        };
        let passage = |text: &str, heading: &str| {
            let mut passages = group(vec![chunk(text, heading)], 100);
            passages.remove(0)
        };
        let (first, second) = (
            passage("Ana Prado works on Orion {{text}}.", "Team"),
            passage("王小明 cuida do projeto Arara.", "Notas"),
        );
        let names = ["Ana Prado".to_owned(), "Orion".to_owned()];
        let of_first = Subject {
            title: "Plan",
            date: Some("2024-05-01"),
            candidates: &names,
        };
        let of_second = Subject {
            title: "Notas",
            date: None,
            candidates: &[],
        };
        let one = requests.extract(&of_first, &first);
        let shown = |title: &str, request: &ChatRequest| {
            let mut out = format!("==== {title}\n");
            for message in &request.messages {
                let _ = writeln!(out, "---- {:?}\n{}", message.role, message.text);
            }
            let form = request.reply_schema.as_ref();
            let _ = writeln!(
                out,
                "---- {} tokens at most, form: {}",
                request.max_output_tokens,
                form.map_or_else(|| "any".to_owned(), Value::to_string)
            );
            out
        };
        let prompts = Prompts::builtin();
        let judged = |name: &str, about: &str| JudgedName {
            name: name.to_owned(),
            about: about.to_owned(),
        };
        let pairs = [
            (
                judged("Ana Prado", "Person; an engineer"),
                judged("A. Prado", "Person"),
            ),
            (judged("Orion", ""), judged("Órion", "Project")),
        ];
        let text = [
            shown("one passage", &one),
            shown(
                "several passages",
                &requests.together(&[(of_first, &first), (of_second, &second)]),
            ),
            shown("a second pass", &requests.again(&one, "{\"entities\":[]}")),
            shown(
                "a repair",
                &requests.repair(&one, "there is no JSON in it", true),
            ),
            shown(
                "a schema",
                &infer_request(&prompts, None, &[&first, &second], 4096),
            ),
            shown("two pairs of names", &judge_request(&prompts, &pairs)),
            shown(
                "one description of many",
                &summary_request(
                    &prompts,
                    Some("English"),
                    "Ana Prado",
                    &["An engineer.", "Leads Orion {{language}}."],
                ),
            ),
        ]
        .join("\n");
        let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR"))
            .join("src/extraction/prompts/as_sent.txt");
        if std::env::var_os("MALHA_BLESS").is_some() {
            std::fs::write(&path, &text).unwrap();
        }
        let known = std::fs::read_to_string(&path).unwrap();
        assert_eq!(text, known, "MALHA_BLESS=1 writes {} anew", path.display());
    }
}
