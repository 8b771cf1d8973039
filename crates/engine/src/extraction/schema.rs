//! What may be extracted: entity types, relation types with what they join, properties.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::claim::ClaimType;
use crate::text::{fold, squash};

/// More entity types than this blur one another.
const MANY_TYPES: usize = 10;

/// The declared shape of a graph. An empty one leaves types free.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Schema {
    /// By name.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub entity: BTreeMap<String, EntityType>,
    /// By name.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub relation: BTreeMap<String, RelationType>,
    /// By name. None: claims are not asked for.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub claim: BTreeMap<String, ClaimType>,
}

/// Names of properties in other languages, by property and language code.
pub type PropertyLabels = BTreeMap<String, BTreeMap<String, String>>;

/// A kind of thing.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct EntityType {
    /// One sentence for the model: what counts, what does not.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub description: String,
    /// Other words for it, as texts and models write them.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub aliases: Vec<String>,
    /// Its name by language code, for display; also read in replies.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub labels: BTreeMap<String, String>,
    /// Names of properties worth noting.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub properties: Vec<String>,
    /// Names of its properties in other languages; replies and queries may use them.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub property_labels: PropertyLabels,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub examples: Vec<String>,
}

/// A kind of tie.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct RelationType {
    #[serde(skip_serializing_if = "String::is_empty")]
    pub description: String,
    /// Entity types it may start at; empty: any.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub source: Vec<String>,
    /// Entity types it may lead to; empty: any.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub target: Vec<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub aliases: Vec<String>,
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub labels: BTreeMap<String, String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub properties: Vec<String>,
    /// Names of its properties in other languages; replies and queries may use them.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub property_labels: PropertyLabels,
    /// A subject has it to one thing at a time: the next one ends the last one.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub exclusive: bool,
    /// It holds in both directions.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub symmetric: bool,
    /// A thing may have it to itself.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub reflexive: bool,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub examples: Vec<String>,
}

/// What [`Schema::check`] found.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct SchemaFindings {
    /// It cannot be used.
    pub errors: Vec<String>,
    /// It can, but better not like this.
    pub warnings: Vec<String>,
}

impl Schema {
    /// True when any type may be extracted.
    pub fn is_free(&self) -> bool {
        self.entity.is_empty() && self.relation.is_empty()
    }

    /// What is wrong with it, and what is unwise.
    pub fn check(&self) -> SchemaFindings {
        let mut found = SchemaFindings::default();
        if self.is_free() {
            let words = "no types are declared: every document will invent its own; \
                         `malha schema infer` proposes some";
            found.warnings.push(words.to_owned());
        }
        if self.entity.len() > MANY_TYPES {
            found.warnings.push(format!(
                "{} entity types; more than {MANY_TYPES} blur one another, and every call pays for them",
                self.entity.len()
            ));
        }
        let mut names: BTreeMap<String, &str> = BTreeMap::new();
        for (name, kind) in &self.entity {
            for form in forms(name, &kind.aliases, &kind.labels) {
                if let Some(other) = names.insert(squash(form), name)
                    && other != name
                {
                    found.errors.push(format!(
                        "entity types {other} and {name} share the name {form:?}"
                    ));
                }
            }
        }
        let mut ties: BTreeMap<String, &str> = BTreeMap::new();
        for (name, kind) in &self.relation {
            for form in forms(name, &kind.aliases, &kind.labels) {
                if let Some(other) = ties.insert(squash(form), name)
                    && other != name
                {
                    found.errors.push(format!(
                        "relations {other} and {name} share the name {form:?}"
                    ));
                }
            }
            for end in kind.source.iter().chain(&kind.target) {
                if self.entity_type(end).is_none() {
                    found.errors.push(format!(
                        "relation {name} names the entity type {end}, which is not declared"
                    ));
                }
            }
            if kind.symmetric && kind.exclusive {
                found.warnings.push(format!(
                    "relation {name} is symmetric and exclusive: only one of its sides can be"
                ));
            }
            if kind.source.is_empty() || kind.target.is_empty() {
                found.warnings.push(format!(
                    "relation {name} says not what it joins: nothing of it can be checked"
                ));
            }
        }
        found.errors.extend(self.claim_errors());
        if !self.entity.is_empty() && self.relation.is_empty() {
            found
                .warnings
                .push("no relation is declared: entities alone answer little".to_owned());
        }
        found
    }

    /// The declared entity type that a reply means by this word.
    pub fn entity_type(&self, written: &str) -> Option<&str> {
        let wanted = squash(written);
        self.entity
            .iter()
            .find(|(name, kind)| {
                forms(name, &kind.aliases, &kind.labels).any(|form| squash(form) == wanted)
            })
            .map(|(name, _)| name.as_str())
    }

    /// The declared relation that a reply means by this word.
    pub fn relation_type(&self, written: &str) -> Option<(&str, &RelationType)> {
        let wanted = squash(written);
        self.relation
            .iter()
            .find(|(name, kind)| {
                forms(name, &kind.aliases, &kind.labels).any(|form| squash(form) == wanted)
            })
            .map(|(name, kind)| (name.as_str(), kind))
    }

    /// Whether a relation may join things of these types: one of each has to fit. Something without a type may be of any.
    pub(super) fn joins_any(
        &self,
        kind: &RelationType,
        source: &BTreeSet<String>,
        target: &BTreeSet<String>,
    ) -> bool {
        let allows = |ends: &[String], found: &BTreeSet<String>| {
            let is_one_of = |found: &String| {
                let mut ends = ends.iter();
                ends.any(|end| self.entity_type(end) == Some(found.as_str()))
            };
            ends.is_empty() || found.is_empty() || found.iter().any(is_one_of)
        };
        allows(&kind.source, source) && allows(&kind.target, target)
    }

    /// The types as the prompt lists them.
    pub fn as_prompt(&self) -> String {
        let mut out = String::new();
        if self.is_free() {
            out.push_str(
                "Use short, general types (Person, Organization …) and relations in UPPER_CASE.\n",
            );
            out.push_str(&self.claims_as_prompt());
            return out;
        }
        out.push_str("Entity types:\n");
        for (name, kind) in &self.entity {
            let _ = write!(out, "- {name}");
            if !kind.description.is_empty() {
                let _ = write!(out, ": {}", kind.description);
            }
            list(&mut out, "properties", &kind.properties);
            list(&mut out, "e.g.", &kind.examples);
            out.push('\n');
        }
        out.push_str("Relations:\n");
        for (name, kind) in &self.relation {
            let ends = |ends: &[String]| {
                if ends.is_empty() {
                    "any".to_owned()
                } else {
                    ends.join("|")
                }
            };
            let _ = write!(
                out,
                "- {name} ({} → {})",
                ends(&kind.source),
                ends(&kind.target)
            );
            if !kind.description.is_empty() {
                let _ = write!(out, ": {}", kind.description);
            }
            list(&mut out, "properties", &kind.properties);
            list(&mut out, "e.g.", &kind.examples);
            out.push('\n');
        }
        out.push_str(&self.claims_as_prompt());
        out
    }

    /// Whether a reply to a prompt with this schema holds all that `wanted` asks for, given the entity
    /// types it found. Types that went, and words about types, need no new reply; a new type does, except a
    /// relation whose ends the reply did not find.
    pub fn covers(&self, wanted: &Self, found_types: &BTreeSet<String>) -> bool {
        if self.is_free() || wanted.is_free() {
            return self == wanted;
        }
        let entities = wanted.entity.iter().all(|(name, kind)| {
            self.entity
                .get(name)
                .is_some_and(|own| kind.properties.iter().all(|p| own.properties.contains(p)))
        });
        let has =
            |ends: &[String]| ends.is_empty() || ends.iter().any(|end| found_types.contains(end));
        entities
            && self.covers_claims(wanted, has)
            && wanted.relation.iter().all(|(name, kind)| {
                let known = self.relation.get(name).is_some_and(|own| {
                    let includes = |own: &[String], wanted: &[String]| {
                        own.is_empty()
                            || (!wanted.is_empty() && wanted.iter().all(|end| own.contains(end)))
                    };
                    includes(&own.source, &kind.source)
                        && includes(&own.target, &kind.target)
                        && kind.properties.iter().all(|p| own.properties.contains(p))
                });
                known || !(has(&kind.source) && has(&kind.target))
            })
    }
}

/// Gives properties the names that types have for them (`declared`: names, and their labels), and takes those out that
/// none of the types has. Where the types name no properties, any may be.
pub(super) fn name_properties<'a>(
    properties: &mut Map<String, Value>,
    declared: impl Iterator<Item = (&'a [String], &'a PropertyLabels)>,
) -> Map<String, Value> {
    let mut undeclared = Map::new();
    let mut names: BTreeMap<String, &str> = BTreeMap::new();
    let mut is_closed = false;
    for (listed, labels) in declared {
        is_closed |= !listed.is_empty();
        for name in listed.iter().chain(labels.keys()) {
            names.insert(squash(name), name);
            for label in labels.get(name).into_iter().flat_map(BTreeMap::values) {
                names.entry(squash(label)).or_insert(name);
            }
        }
    }
    for (written, value) in std::mem::take(properties) {
        if let Some(name) = names.get(&squash(&written)) {
            properties.entry(*name).or_insert(value);
        } else if is_closed {
            undeclared.insert(written, value);
        } else {
            properties.insert(written, value);
        }
    }
    undeclared
}

pub(super) fn forms<'a>(
    name: &'a str,
    aliases: &'a [String],
    labels: &'a BTreeMap<String, String>,
) -> impl Iterator<Item = &'a str> {
    std::iter::once(name)
        .chain(aliases.iter().map(String::as_str))
        .chain(labels.values().map(String::as_str))
        .filter(|form| !fold(form).is_empty())
}

pub(super) fn list(out: &mut String, what: &str, words: &[String]) {
    if !words.is_empty() {
        let _ = write!(out, " ({what} {})", words.join(", "));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn schema() -> Schema {
        let entity = |aliases: &[&str]| EntityType {
            aliases: aliases.iter().map(|a| (*a).to_owned()).collect(),
            ..EntityType::default()
        };
        Schema {
            entity: [
                ("Person".to_owned(), entity(&["Pessoa"])),
                ("Project".to_owned(), entity(&[])),
            ]
            .into(),
            relation: [(
                "WORKS_ON".to_owned(),
                RelationType {
                    source: vec!["Person".to_owned()],
                    target: vec!["Project".to_owned()],
                    ..RelationType::default()
                },
            )]
            .into(),
            ..Schema::default()
        }
    }

    #[test]
    fn types_are_found_by_any_of_their_names() {
        let schema = schema();
        assert_eq!(schema.entity_type("pessoa"), Some("Person"));
        assert_eq!(schema.entity_type("Planet"), None);
        for written in ["works on", "WORKS_ON", "worksOn"] {
            assert_eq!(schema.relation_type(written).unwrap().0, "WORKS_ON");
        }
    }

    #[test]
    fn what_is_wrong_is_said() {
        let mut schema = schema();
        assert_eq!(schema.check(), SchemaFindings::default());
        let tie = schema.relation.get_mut("WORKS_ON").unwrap();
        tie.target = vec!["Planet".to_owned()];
        assert!(schema.check().errors[0].contains("Planet"));
        schema
            .entity
            .insert("pessoa".to_owned(), EntityType::default());
        assert!(schema.check().errors.iter().any(|e| e.contains("share")));
        for number in 0..9 {
            schema
                .entity
                .insert(format!("T{number}"), EntityType::default());
        }
        assert!(schema.check().warnings[0].contains("12 entity types"));
        assert!(Schema::default().check().warnings[0].contains("no types"));
    }

    #[test]
    fn only_what_a_change_adds_needs_a_new_reply() {
        let old = schema();
        let found: BTreeSet<String> = ["Person".to_owned()].into();
        let both: BTreeSet<String> = ["Person".to_owned(), "Project".to_owned()].into();
        let mut narrower = old.clone();
        narrower.relation.clear();
        assert!(old.covers(&narrower, &both));
        let mut described = old.clone();
        described.entity.get_mut("Person").unwrap().description = "a human".to_owned();
        assert!(old.covers(&described, &both));
        let mut wider = old.clone();
        wider
            .relation
            .insert("LEADS".to_owned(), old.relation["WORKS_ON"].clone());
        assert!(!old.covers(&wider, &both));
        assert!(old.covers(&wider, &found), "no project was found there");
        let mut more = old.clone();
        more.entity
            .insert("Place".to_owned(), EntityType::default());
        assert!(!old.covers(&more, &found));
    }
}
