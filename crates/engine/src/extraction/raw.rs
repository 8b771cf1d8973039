//! What a reply says, before anything is checked.

use std::collections::BTreeMap;

use serde_json::{Map, Value};

/// A reply read.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct RawReply {
    pub entities: Vec<RawEntity>,
    pub relations: Vec<RawRelation>,
    /// What was odd about the reply, in words.
    pub oddities: Vec<&'static str>,
    /// Items that are neither, as they stood.
    pub unread: Vec<String>,
}

/// A thing as the model named it.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct RawEntity {
    /// What relations may refer to it by, besides its name.
    pub id: Option<String>,
    pub name: String,
    pub kind: Option<String>,
    pub aliases: Vec<String>,
    pub description: Option<String>,
    pub properties: Map<String, Value>,
}

/// A tie as the model stated it.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct RawRelation {
    pub source: String,
    pub target: String,
    pub kind: String,
    pub fact: Option<String>,
    pub quote: Option<String>,
    /// `stated`, `implied`, `negated` and the like.
    pub status: Option<String>,
    pub valid_from: Option<String>,
    pub valid_to: Option<String>,
    pub properties: Map<String, Value>,
}

impl RawReply {
    /// Adds what another reply says: a second pass, the next piece of a text.
    pub fn extend(&mut self, other: Self) {
        self.entities.extend(other.entities);
        self.relations.extend(other.relations);
        self.oddities.extend(other.oddities);
        self.unread.extend(other.unread);
    }

    /// [`RawReply::extend`] by a reply whose numbers mean its own entities: they become names first.
    pub fn extend_numbered(&mut self, mut other: Self) {
        let mut names: BTreeMap<String, String> = BTreeMap::new();
        for (number, entity) in other.entities.iter_mut().enumerate() {
            names.insert(number.to_string(), entity.name.clone());
            if let Some(id) = entity.id.take() {
                names.insert(id, entity.name.clone());
            }
        }
        let is_name = |written: &str| names.values().any(|name| name == written);
        for relation in &mut other.relations {
            for end in [&mut relation.source, &mut relation.target] {
                if let Some(name) = names.get(end).filter(|_| !is_name(end)) {
                    end.clone_from(name);
                }
            }
        }
        self.extend(other);
    }

    /// True when it says nothing.
    pub fn is_empty(&self) -> bool {
        self.entities.is_empty() && self.relations.is_empty()
    }
}
