//! Graphs that other programs paid a model for: Microsoft `GraphRAG`, `LightRAG`, nano-graphrag, `HippoRAG`'s triples.
//!
//! Each reader turns a folder or file into one [`ForeignGraph`]: passages with what the other program found in
//! them. What is done with it is the same for all: it is checked against the passages like any model's reply.

mod graph_rag;
mod light_rag;
mod open_ie;
mod parquet;
mod table;

use std::collections::BTreeMap;
use std::path::Path;

use serde_json::{Map, Value, json};

use crate::Result;
use crate::types::ItemFailure;

/// Whose files they are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ForeignFormat {
    /// Output tables of Microsoft `GraphRAG`.
    GraphRag,
    /// Working folder of `LightRAG`.
    LightRag,
    /// Working folder of nano-graphrag.
    Nano,
    /// Entities and triples by passage, as `HippoRAG` keeps them.
    OpenIe,
}

impl ForeignFormat {
    /// What the store calls it.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::GraphRag => "msgraphrag",
            Self::LightRag => "lightrag",
            Self::Nano => "nano",
            Self::OpenIe => "openie",
        }
    }
}

/// What another program made of some texts.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ForeignGraph {
    /// In the order of the files.
    pub passages: Vec<ForeignPassage>,
    pub communities: Vec<ForeignCommunity>,
    /// Rows that could not be used.
    pub failures: Vec<ItemFailure>,
}

/// A passage with what was found in it.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ForeignPassage {
    pub id: String,
    pub title: String,
    /// `None` where the file has none: then a document of this id must be in the store.
    pub text: Option<String>,
    /// As a model's reply would list them.
    pub entities: Vec<Value>,
    pub relations: Vec<Value>,
    pub claims: Vec<Value>,
}

/// A community with its report.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ForeignCommunity {
    pub id: String,
    /// 0 is the coarsest.
    pub level: usize,
    pub parent: Option<String>,
    pub title: String,
    pub summary: String,
    /// Names of its entities.
    pub members: Vec<String>,
}

impl ForeignPassage {
    /// What was found, as a reply of a model says it.
    pub fn reply(&self) -> String {
        let mut reply = json!({ "entities": self.entities, "relations": self.relations });
        if !self.claims.is_empty() {
            reply["claims"] = self.claims.clone().into();
        }
        reply.to_string()
    }
}

/// Reads the files at `path`. Bad rows are in [`ForeignGraph::failures`].
///
/// # Errors
/// [`crate::Error::Usage`]: the files are not of this format, with the name of the file that is missing or
/// broken.
pub fn read_foreign(format: ForeignFormat, path: &Path) -> Result<ForeignGraph> {
    match format {
        ForeignFormat::GraphRag => graph_rag::read(path),
        ForeignFormat::LightRag | ForeignFormat::Nano => light_rag::read(path),
        ForeignFormat::OpenIe => open_ie::read(path),
    }
}

/// What a row is.
#[derive(Debug, Clone, Copy)]
enum Found {
    Entity,
    Relation,
    Claim,
}

/// Passages by id while entities and relations are handed out to them.
struct Passages {
    graph: ForeignGraph,
    by_id: BTreeMap<String, usize>,
}

impl Passages {
    fn new(passages: Vec<ForeignPassage>) -> Self {
        let by_id = passages
            .iter()
            .enumerate()
            .map(|(at, passage)| (passage.id.clone(), at))
            .collect();
        Self {
            graph: ForeignGraph {
                passages,
                ..ForeignGraph::default()
            },
            by_id,
        }
    }

    /// Gives a row to each of its passages: as often as `texts`, one a passage, or the first of them to all.
    /// `add` makes the item. False when none of the passages is there.
    fn hand_out(
        &mut self,
        sources: &[String],
        texts: &[String],
        what: Found,
        add: impl Fn(Option<&str>) -> Value,
    ) -> bool {
        let is_each = texts.len() == sources.len();
        let mut is_any = false;
        for (number, source) in sources.iter().enumerate() {
            let Some(&at) = self.by_id.get(source) else {
                continue;
            };
            is_any = true;
            let text = if is_each {
                texts.get(number)
            } else {
                texts.first()
            };
            let item = add(text.map(String::as_str));
            let passage = &mut self.graph.passages[at];
            match what {
                Found::Entity => passage.entities.push(item),
                Found::Relation => passage.relations.push(item),
                Found::Claim => passage.claims.push(item),
            }
        }
        is_any
    }

    fn fail(&mut self, file: &str, line: usize, reason: impl Into<String>) {
        self.graph.failures.push(ItemFailure {
            uri: file.to_owned(),
            line,
            reason: reason.into(),
        });
    }
}

/// An object without its empty values.
fn item(fields: &[(&str, Option<&str>)]) -> Value {
    let mut map = Map::new();
    for (name, value) in fields {
        if let Some(value) = value.filter(|value| !value.is_empty()) {
            map.insert((*name).to_owned(), value.into());
        }
    }
    Value::Object(map)
}

/// The relation of programs that give none a type.
const UNTYPED: &str = "RELATED_TO";
