//! From what a reply says to what may be stored: schema, grounding, end points. An item that fails costs only
//! itself.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use serde_json::json;

use super::extracted::{ExtractedEntity, ExtractedRelation, Extraction, RejectedItem};
use super::grounding::Grounding;
use super::raw::{RawEntity, RawRelation, RawReply};
use super::schema::Schema;
use crate::text::{clean_name, name_key};

/// Checks a reply against the text it is about.
pub fn check_reply(raw: RawReply, text: &str, schema: &Schema) -> Extraction {
    let mut checker = Checker {
        schema,
        grounding: Grounding::new(text),
        out: Extraction::default(),
        by_name: BTreeMap::new(),
        by_id: BTreeMap::new(),
        refused: BTreeMap::new(),
    };
    for (number, entity) in raw.entities.into_iter().enumerate() {
        checker.entity(number, entity);
    }
    for relation in raw.relations {
        checker.relation(relation);
    }
    for item in raw.unread {
        checker.out.rejected.push(RejectedItem {
            kind: "item",
            item,
            reason: "neither an entity nor a relation".to_owned(),
        });
    }
    checker.out
}

struct Checker<'a> {
    schema: &'a Schema,
    grounding: Grounding<'a>,
    out: Extraction,
    /// Positions by key of name and aliases.
    by_name: BTreeMap<String, usize>,
    /// Positions by what the reply calls them.
    by_id: BTreeMap<String, usize>,
    /// Names of entities that were refused, with the reason.
    refused: BTreeMap<String, String>,
}

impl Checker<'_> {
    fn entity(&mut self, number: usize, raw: RawEntity) {
        let shown = shown_entity(&raw);
        match self.checked_entity(&raw) {
            Ok(entity) => {
                let at = self.add(entity);
                for id in raw.id.into_iter().chain([number.to_string()]) {
                    self.by_id.entry(id).or_insert(at);
                }
                self.by_name.entry(name_key(&raw.name)).or_insert(at);
            }
            Err(reason) => {
                self.refused.insert(name_key(&raw.name), reason.clone());
                self.out.rejected.push(RejectedItem {
                    kind: "entity",
                    item: shown,
                    reason,
                });
            }
        }
    }

    fn checked_entity(&self, raw: &RawEntity) -> Result<ExtractedEntity, String> {
        let name = clean_name(&raw.name).map_err(|reason| format!("the name {reason}"))?;
        let mut kinds = BTreeSet::new();
        if let Some(kind) = &raw.kind {
            if self.schema.entity.is_empty() {
                kinds.extend(clean_name(kind));
            } else if let Some(known) = self.schema.entity_type(kind) {
                kinds.insert(known.to_owned());
            } else {
                return Err(format!("the type {kind:?} is not in the schema"));
            }
        }
        let (name, mut places) = self.grounded(name);
        let mut aliases = Vec::new();
        for alias in &raw.aliases {
            let Ok(alias) = clean_name(alias) else {
                continue;
            };
            let found = self.grounding.places(&alias);
            // An alias that the passage does not have is the model's own knowledge, if not its invention.
            if !found.is_empty() && name_key(&alias) != name_key(&name) {
                places.extend(found);
                aliases.push(alias);
            }
        }
        if places.is_empty() {
            return Err("the passage does not name it".to_owned());
        }
        places.sort_by_key(|place| (place.start, place.end));
        places.dedup();
        Ok(ExtractedEntity {
            name,
            aliases,
            kinds,
            description: raw.description.as_deref().and_then(sentence),
            properties: raw.properties.clone(),
            places,
        })
    }

    /// Adds an entity, or what is new about one that is there under the same name.
    fn add(&mut self, entity: ExtractedEntity) -> usize {
        let key = name_key(&entity.name);
        if let Some(&at) = self.by_name.get(&key) {
            let known = &mut self.out.entities[at];
            known.kinds.extend(entity.kinds);
            for alias in entity.aliases {
                if !known.aliases.contains(&alias) {
                    known.aliases.push(alias);
                }
            }
            if entity.name != known.name && !known.aliases.contains(&entity.name) {
                known.aliases.push(entity.name);
            }
            known.description = known.description.take().or(entity.description);
            for (name, value) in entity.properties {
                known.properties.entry(name).or_insert(value);
            }
            return at;
        }
        let at = self.out.entities.len();
        for alias in &entity.aliases {
            self.by_name.entry(name_key(alias)).or_insert(at);
        }
        self.by_name.insert(key, at);
        self.out.entities.push(entity);
        at
    }

    fn relation(&mut self, raw: RawRelation) {
        let shown = shown_relation(&raw);
        match self.checked_relation(raw) {
            Ok(relation) => {
                let is_known = self.out.relations.iter().any(|known| {
                    (
                        known.source,
                        known.target,
                        &known.kind,
                        &known.valid_from,
                        &known.quote,
                    ) == (
                        relation.source,
                        relation.target,
                        &relation.kind,
                        &relation.valid_from,
                        &relation.quote,
                    )
                });
                if !is_known {
                    self.out.relations.push(relation);
                }
            }
            Err(reason) => self.out.rejected.push(RejectedItem {
                kind: "relation",
                item: shown,
                reason,
            }),
        }
    }

    fn checked_relation(&mut self, raw: RawRelation) -> Result<ExtractedRelation, String> {
        if let Some(status) = &raw.status
            && is_no_fact(status)
        {
            return Err(format!("not a fact: {status}"));
        }
        let written = clean_name(&raw.kind).map_err(|reason| format!("the type {reason}"))?;
        let is_closed = !self.schema.relation.is_empty();
        let declared = self.schema.relation_type(&written);
        if is_closed && declared.is_none() {
            return Err(format!("the relation {written:?} is not in the schema"));
        }
        let (kind, rules) = declared.map_or((written.as_str(), None), |(name, rules)| {
            (name, Some(rules))
        });
        let kind = kind.to_owned();
        let rules = rules.cloned();
        let mut source = self.end("source", &raw.source)?;
        let mut target = self.end("target", &raw.target)?;
        if source == target && !rules.as_ref().is_some_and(|rules| rules.reflexive) {
            return Err("it leads from a thing to itself".to_owned());
        }
        if let Some(rules) = &rules {
            let fits = |source: usize, target: usize| {
                let any_fits = |at: usize| -> Vec<Option<String>> {
                    let kinds = &self.out.entities[at].kinds;
                    if kinds.is_empty() {
                        vec![None]
                    } else {
                        kinds.iter().cloned().map(Some).collect()
                    }
                };
                any_fits(source).iter().any(|one| {
                    any_fits(target)
                        .iter()
                        .any(|other| self.schema.joins(rules, one.as_deref(), other.as_deref()))
                })
            };
            if !fits(source, target) {
                // Models turn relations around; where only one direction fits, it is the one they meant.
                if fits(target, source) {
                    std::mem::swap(&mut source, &mut target);
                } else {
                    let types = |at: usize| {
                        let kinds = &self.out.entities[at].kinds;
                        kinds
                            .iter()
                            .map(String::as_str)
                            .collect::<Vec<_>>()
                            .join("|")
                    };
                    return Err(format!(
                        "{kind} does not lead from {} to {}",
                        types(source),
                        types(target)
                    ));
                }
            }
        }
        let given = raw
            .quote
            .as_deref()
            .and_then(|quote| self.grounding.quote(quote));
        let is_quoted = given.is_some();
        let quote = given
            .or_else(|| {
                let [source, target] =
                    [source, target].map(|at| self.out.entities[at].places.as_slice());
                self.grounding.sentences_with(source, target)
            })
            .ok_or("the passage does not have its quote, nor both names near each other")?;
        let is_implied = raw.status.as_deref().is_some_and(|status| {
            matches!(
                status.to_lowercase().as_str(),
                "implied" | "inferred" | "implicit" | "implícito" | "inferido"
            )
        });
        Ok(ExtractedRelation {
            source,
            target,
            kind,
            fact: raw.fact.as_deref().and_then(sentence),
            quote,
            is_quoted,
            is_implied,
            is_exclusive: rules.is_some_and(|rules| rules.exclusive),
            valid_from: raw.valid_from,
            valid_to: raw.valid_to,
            properties: raw.properties,
        })
    }

    /// The entity that an end point names: one of the reply's, or one that the passage itself names.
    fn end(&mut self, what: &str, written: &str) -> Result<usize, String> {
        let key = name_key(written);
        if let Some(&at) = self.by_name.get(&key) {
            return Ok(at);
        }
        // A year may be a name.
        if let Some(reason) = self.refused.get(&key) {
            return Err(format!("its {what} {written:?} was refused: {reason}"));
        }
        if let Some(&at) = self.by_id.get(written) {
            return Ok(at);
        }
        let name = clean_name(written).map_err(|reason| format!("its {what} {reason}"))?;
        // A number is what the reply calls an entity by, and it has none of that number.
        let is_reference = name.chars().all(|c| c.is_ascii_digit()) && !self.by_id.is_empty();
        let (name, places) = self.grounded(name);
        if is_reference || places.is_empty() {
            return Err(format!("its {what} {written:?} is none of the entities"));
        }
        let at = self.add(ExtractedEntity {
            name,
            places,
            ..ExtractedEntity::default()
        });
        self.by_name.entry(key).or_insert(at);
        Ok(at)
    }

    /// A name with its places in the passage. Models write names as identifiers, `Ana_Prado`, and add what tells
    /// them apart, `Ana (singer)`: then the name is what the passage has of it.
    fn grounded(&self, name: String) -> (String, Vec<Range<usize>>) {
        let spaced = name.replace('_', " ");
        let bare = spaced.split(" (").next().unwrap_or_default().trim();
        for form in [name.as_str(), spaced.as_str(), bare] {
            let places = self.grounding.places(form);
            if let Some(first) = places.first() {
                // An identifier of the passage itself stays one.
                let is_own = self.grounding.text[first.clone()].contains('_');
                let is_plain = form != name || is_own;
                let form = if is_plain { form } else { spaced.as_str() };
                return (form.to_owned(), places);
            }
        }
        (name, Vec::new())
    }
}

/// A description or fact worth keeping, on one line.
fn sentence(text: &str) -> Option<String> {
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let visible: String = line.chars().filter(|c| !c.is_control()).collect();
    (!visible.is_empty()).then_some(visible)
}

/// What is denied, asked, planned or only possible is no fact.
fn is_no_fact(status: &str) -> bool {
    const WORDS: [&str; 12] = [
        "negat",
        "denied",
        "hypothe",
        "possib",
        "plann",
        "specul",
        "question",
        "uncertain",
        "false",
        "negad",
        "hipot",
        "否",
    ];
    let status = status.to_lowercase();
    WORDS.iter().any(|word| status.contains(word))
}

fn shown_entity(raw: &RawEntity) -> String {
    json!({ "name": raw.name, "type": raw.kind }).to_string()
}

fn shown_relation(raw: &RawRelation) -> String {
    json!({
        "source": raw.source, "type": raw.kind, "target": raw.target, "quote": raw.quote,
    })
    .to_string()
}

#[cfg(test)]
mod tests {
    use serde_json::Value;

    use super::super::reply::read_reply;
    use super::super::schema::{EntityType, RelationType};
    use super::*;

    fn checked(reply: &str, text: &str, schema: &Schema) -> Extraction {
        check_reply(read_reply(reply).unwrap(), text, schema)
    }

    fn ties(found: &Extraction) -> Vec<String> {
        let name = |at: usize| &found.entities[at].name;
        found
            .relations
            .iter()
            .map(|tie| format!("{} {} {}", name(tie.source), tie.kind, name(tie.target)))
            .collect()
    }

    #[test]
    fn edges_to_nowhere_and_to_oneself_are_rejected_with_reasons() {
        let text = "The Billing API writes to the Ledger. Also known as billing-api.";
        let reply = r#"{"entities":[{"name":"Billing API"},{"name":"Ledger"},{"name":"billing-api"}],
            "relations":[{"source":0,"target":1,"type":"WRITES"},{"source":0,"target":23,"type":"WRITES"},
            {"source":1,"target":1,"type":"WRITES"},{"source":"Billing API","target":"billing-api","type":"WRITES"}]}"#;
        let found = checked(reply, text, &Schema::default());
        assert_eq!(ties(&found), ["Billing API WRITES Ledger"]);
        let reasons: Vec<&str> = found.rejected.iter().map(|r| r.reason.as_str()).collect();
        assert_eq!(
            reasons,
            [
                "its target \"23\" is none of the entities",
                "it leads from a thing to itself",
                "it leads from a thing to itself",
            ]
        );
    }

    #[test]
    fn only_what_the_passage_says_is_kept() {
        let text = "Ana leads Orion. She lives in Porto.";
        let reply = r#"{"entities":[{"name":"Ana"},{"name":"Orion","aliases":["Project O"]},{"name":"NASA"},{"name":"Porto"}],
            "relations":[{"source":"Ana","target":"Orion","type":"LEADS","quote":"Ana leads Orion"},
            {"source":"Ana","target":"NASA","type":"WORKS_AT"},
            {"source":"Ana","target":"Porto","type":"LIVES_IN","quote":"Ana resides in Porto, Portugal"},
            {"source":"Ana","target":"Orion","type":"LEFT","status":"hypothetical"}]}"#;
        let found = checked(reply, text, &Schema::default());
        assert_eq!(ties(&found), ["Ana LEADS Orion", "Ana LIVES_IN Porto"]);
        assert!(
            found.entities[1].aliases.is_empty(),
            "the passage has no such alias"
        );
        assert_eq!(&text[found.relations[0].quote.clone()], "Ana leads Orion.");
        assert!(!found.relations[1].is_quoted);
        assert_eq!(&text[found.relations[1].quote.clone()], text);
        assert_eq!(found.rejected.len(), 3);
    }

    #[test]
    fn a_schema_decides_types_and_directions() {
        let tie = RelationType {
            source: vec!["Person".to_owned()],
            target: vec!["Project".to_owned()],
            exclusive: true,
            ..RelationType::default()
        };
        let schema = Schema {
            entity: [
                ("Person".to_owned(), EntityType::default()),
                ("Project".to_owned(), EntityType::default()),
            ]
            .into(),
            relation: [("LEADS".to_owned(), tie)].into(),
        };
        let text = "Ana leads Orion near Mars.";
        let reply = r#"{"entities":[{"name":"Ana","type":"person"},{"name":"Orion","type":"Project"},{"name":"Mars","type":"Planet"}],
            "relations":[{"source":"Orion","target":"Ana","type":"leads"},{"source":"Ana","target":"Mars","type":"LEADS"},
            {"source":"Ana","target":"Orion","type":"LIKES"},{"source":"Ana","target":"Ana","type":"LEADS"}]}"#;
        let found = checked(reply, text, &schema);
        assert_eq!(ties(&found), ["Ana LEADS Orion"]);
        assert!(found.relations[0].is_exclusive);
        let reasons: Vec<&str> = found.rejected.iter().map(|r| r.reason.as_str()).collect();
        assert_eq!(
            reasons,
            [
                "the type \"Planet\" is not in the schema",
                "its target \"Mars\" was refused: the type \"Planet\" is not in the schema",
                "the relation \"LIKES\" is not in the schema",
                "it leads from a thing to itself",
            ]
        );
    }

    #[test]
    fn one_spelling_of_a_name_is_one_entity() {
        let text = "“ROMAN EMPIRE ” and Roman  Empire and Roman\u{200b} Empire";
        let names = [
            "\"ROMAN EMPIRE \"",
            "ROMAN EMPIRE",
            "“Roman Empire”",
            "Roman  Empire",
            "&quot;Roman Empire&quot;",
            "Roman\u{200b} Empire",
        ];
        let entities: Vec<Value> = names.iter().map(|name| json!({ "name": name })).collect();
        let found = checked(
            &json!({ "entities": entities }).to_string(),
            text,
            &Schema::default(),
        );
        assert_eq!(found.entities.len(), 1, "{found:?}");
        assert_eq!(found.rejected, Vec::new());
    }

    #[test]
    fn two_types_of_one_name_are_both_kept() {
        let reply = r#"{"entities":[{"name":"A1","type":"Concept"},{"name":"a1","type":"Tool"}]}"#;
        let found = checked(reply, "A1", &Schema::default());
        assert_eq!(found.entities.len(), 1);
        assert_eq!(found.entities[0].kinds.len(), 2);
    }

    #[test]
    fn identifiers_and_brackets_of_models_are_no_part_of_a_name() {
        let text = "Ana Prado wrote Arion. Ana Prado (singer) is another, see ana_id.";
        let check = |written: &str, expected: &[&str]| {
            let reply = json!({ "entities": [{ "name": written }] }).to_string();
            let found = checked(&reply, text, &Schema::default());
            let names: Vec<&str> = found
                .entities
                .iter()
                .map(|entity| entity.name.as_str())
                .collect();
            assert_eq!(names, expected, "{written}");
        };
        check("Ana_Prado", &["Ana Prado"]);
        check("Arion (comics character)", &["Arion"]);
        check("Arion_(comicsCharacter)", &["Arion"]);
        check("Ana Prado (singer)", &["Ana Prado (singer)"]);
        check("Ana_Reis", &[]);
        check("ana_id", &["ana_id"]);
        let reply = r#"{"relations":[{"source":"Arion_(comicsCharacter)","type":"creator","target":"Ana_Prado"}]}"#;
        assert_eq!(
            ties(&checked(reply, text, &Schema::default())),
            ["Arion creator Ana Prado"]
        );
    }
}
