//! Names of the store's graph as queries may write them: exactly, in other spelling, or in another language.

use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, OnceLock};

use rustc_hash::FxHashMap;

use super::store_graph::StoreGraph;
use crate::Result;
use crate::extraction::Schema;
use crate::graph::Graph;
use crate::storage::graph_property;
use crate::text::{fold, near_names};
use crate::types::RelationTypeId;

/// Labels that every store has, with their names in other languages.
pub(super) const LABELS: [(&str, &[&str]); 4] = [
    ("Entity", &["entidade", "实体"]),
    ("Document", &["documento", "文档"]),
    ("Chunk", &["trecho", "passage", "片段"]),
    ("Community", &["comunidade", "社区"]),
];
pub(super) const ENTITY: u32 = 0;
pub(super) const DOCUMENT: u32 = 1;
pub(super) const CHUNK: u32 = 2;
pub(super) const COMMUNITY: u32 = 3;

/// Relationship types that every store has.
pub(super) const TYPES: [&str; 4] = ["MENTIONS", "PART_OF", "NEXT", "IN_COMMUNITY"];
pub(super) const MENTIONS: u32 = 0;
pub(super) const PART_OF: u32 = 1;
pub(super) const NEXT: u32 = 2;
pub(super) const IN_COMMUNITY: u32 = 3;

/// Names of one type of entity in several languages: what is asked for in one finds what is stored in another.
const SAME_TYPES: &[&[&str]] = &[
    &["person", "pessoa", "人物"],
    &["project", "projeto", "项目"],
    &["organization", "organisation", "organizacao", "组织"],
    &["company", "empresa", "公司"],
    &["place", "location", "lugar", "local", "地点"],
    &["event", "evento", "事件"],
    &["concept", "conceito", "概念"],
    &["product", "produto", "产品"],
    &["team", "equipe", "time", "团队"],
    &["service", "servico", "服务"],
    &["technology", "tecnologia", "技术"],
    &["tool", "ferramenta", "工具"],
    &["work", "obra", "作品"],
];

/// Properties by the name that the store has for them, with their names in other languages.
const PROPERTIES: &[(&str, &[&str])] = &[
    ("name", &["nome", "名称"]),
    ("title", &["titulo", "título", "标题"]),
    ("description", &["descricao", "descrição", "描述"]),
    ("text", &["texto", "文本"]),
    ("uri", &["caminho", "路径"]),
    ("kind", &["tipo", "类型"]),
    ("language", &["idioma", "lingua", "语言"]),
    ("weight", &["peso", "权重"]),
    ("fact", &["fato", "事实"]),
    ("confidence", &["confianca", "confiança", "置信度"]),
    ("summary", &["resumo", "摘要"]),
    ("level", &["nivel", "nível", "层级"]),
    ("degree", &["grau", "度"]),
];
/// Properties that are computed.
pub(super) const COMPUTED: &[&str] = &["degree", "mentions", "aliases", "uri", "title", "size"];

/// The names of a generation of the store.
#[derive(Debug)]
pub(crate) struct GraphNames {
    pub generation: u64,
    /// Types of entities, each with its entities by index.
    pub entity_types: Vec<(Arc<str>, Vec<u32>)>,
    pub relation_types: Vec<(RelationTypeId, Arc<str>)>,
    /// Properties that entities and relations were given.
    pub given: Vec<Arc<str>>,
    /// Names of types in other languages, and of properties.
    schemas: Vec<Arc<Schema>>,
    property_labels: FxHashMap<String, Arc<str>>,
    by_exact_type: FxHashMap<Arc<str>, u32>,
    /// Names read one by one so far; past [`FEW_READS`] all are read at once.
    reads: AtomicU32,
    entity_names: OnceLock<Vec<Arc<str>>>,
}

/// So many names are read one by one before it pays to read them all.
const FEW_READS: u32 = 200;

/// A label of a query: one that every store has, types of entities, or both.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct Label {
    pub own: Option<u32>,
    /// Places in [`GraphNames::entity_types`].
    pub types: Vec<u32>,
}

impl GraphNames {
    pub(super) fn load(
        connection: &rusqlite::Connection,
        namespace: i64,
        graph: &Graph,
        schemas: Vec<Arc<Schema>>,
    ) -> Result<Self> {
        let mut entity_types: Vec<(Arc<str>, Vec<u32>)> = Vec::new();
        for (name, entity) in graph_property::typed_entities(connection, namespace)? {
            let Some(index) = graph.entities.get(entity) else {
                continue;
            };
            match entity_types.last_mut() {
                Some((last, entities)) if **last == *name => entities.push(index),
                _ => entity_types.push((Arc::from(name), vec![index])),
            }
        }
        let relation_types: Vec<(RelationTypeId, Arc<str>)> =
            graph_property::relation_type_names(connection, namespace)?
                .into_iter()
                .map(|(id, name)| (id, Arc::from(name)))
                .collect();
        let given = graph_property::given_properties(connection, namespace)?
            .into_iter()
            .map(Arc::from)
            .collect();
        let by_exact_type = relation_types
            .iter()
            .zip(0..)
            .map(|((_, name), place)| (Arc::clone(name), place))
            .collect();
        Ok(Self {
            generation: graph.generation,
            entity_types,
            relation_types,
            given,
            property_labels: property_labels(&schemas),
            schemas,
            by_exact_type,
            reads: AtomicU32::new(0),
            entity_names: OnceLock::new(),
        })
    }

    /// Name of an entity.
    pub(super) fn entity_name(&self, of: &StoreGraph<'_>, entity: u32) -> Result<Arc<str>> {
        if let Some(names) = self.entity_names.get() {
            return Ok(Arc::clone(&names[entity as usize]));
        }
        if self.reads.fetch_add(1, Ordering::Relaxed) < FEW_READS {
            let id = of.graph.entities.id(entity);
            return Ok(Arc::from(graph_property::entity_name(of.connection, id)?));
        }
        let mut names: Vec<Arc<str>> = vec![Arc::from(""); of.graph.entities.len()];
        for (id, name) in graph_property::entity_names(of.connection, of.namespace)? {
            if let Some(index) = of.graph.entities.get(id) {
                names[index as usize] = Arc::from(name);
            }
        }
        let names = self.entity_names.get_or_init(|| names);
        Ok(Arc::clone(&names[entity as usize]))
    }

    /// What a label stands for, or names near it.
    pub(super) fn label(&self, name: &str) -> Result<Label, Vec<String>> {
        let plain = plain(name);
        let own = LABELS
            .iter()
            .position(|(own, others)| self::plain(own) == plain || others.contains(&plain.as_str()))
            .map(|place| place as u32);
        let types = |fits: &dyn Fn(&str) -> bool| -> Vec<u32> {
            let types = self.entity_types.iter().zip(0..);
            types
                .filter(|((known, _), _)| fits(known))
                .map(|(_, place)| place)
                .collect()
        };
        let mut found = types(&|known| known == name);
        if found.is_empty() {
            found = types(&|known| self::plain(known) == plain);
        }
        if found.is_empty() {
            found = types(&|known| self.is_same_type(name, known));
        }
        if found.is_empty() && own.is_none() {
            let same = SAME_TYPES
                .iter()
                .find(|names| names.contains(&plain.as_str()));
            found = types(&|known| same.is_some_and(|names| names.contains(&&*self::plain(known))));
        }
        if own.is_none() && found.is_empty() {
            let known = LABELS.iter().map(|(own, _)| (*own).to_owned());
            let known = known.chain(self.entity_types.iter().map(|(name, _)| name.to_string()));
            return Err(near(name, known));
        }
        Ok(Label { own, types: found })
    }

    /// Number of a relationship type, or names near it.
    pub(super) fn relation_type(&self, name: &str) -> Result<u32, Vec<String>> {
        if let Some(place) = self.by_exact_type.get(name) {
            return Ok(place + TYPES.len() as u32);
        }
        let plain = plain(name);
        if let Some(place) = TYPES.iter().position(|known| self::plain(known) == plain) {
            return Ok(place as u32);
        }
        let types = |fits: &dyn Fn(&str) -> bool| -> Vec<u32> {
            let types = self.relation_types.iter().zip(0..);
            types
                .filter(|((_, known), _)| fits(known))
                .map(|(_, place)| place)
                .collect()
        };
        let mut same = types(&|known| self::plain(known) == plain);
        if same.is_empty() {
            same = types(&|known| self.is_same_relation(name, known));
        }
        if let [place] = same.as_slice() {
            return Ok(place + TYPES.len() as u32);
        }
        let known = TYPES.iter().map(|known| (*known).to_owned());
        let known = known.chain(self.relation_types.iter().map(|(_, name)| name.to_string()));
        Err(near(name, known))
    }

    /// Whether a schema declares both words for one type of entity.
    pub(super) fn is_same_type(&self, left: &str, right: &str) -> bool {
        let mut schemas = self.schemas.iter();
        schemas.any(|schema| {
            let declared = schema.entity_type(left);
            declared.is_some() && declared == schema.entity_type(right)
        })
    }

    /// Whether a schema declares both words for one relation.
    pub(super) fn is_same_relation(&self, left: &str, right: &str) -> bool {
        let mut schemas = self.schemas.iter();
        schemas.any(|schema| {
            let name = |written| schema.relation_type(written).map(|(name, _)| name);
            let declared = name(left);
            declared.is_some() && declared == name(right)
        })
    }

    /// Other words that schemas declare for a relation.
    pub(super) fn words_of_relation<'n>(&'n self, known: &'n str) -> impl Iterator<Item = &'n str> {
        self.schemas.iter().flat_map(move |schema| {
            let declared = schema.relation_type(known).map(|(_, kind)| kind);
            declared
                .into_iter()
                .flat_map(|kind| kind.aliases.iter().chain(kind.labels.values()))
                .map(String::as_str)
        })
    }

    /// The given name of a property that a schema names in another language.
    pub(super) fn given_property(&self, name: &str) -> Option<&str> {
        if self.property_labels.is_empty() {
            return None;
        }
        let found = self.property_labels.get(&plain(name))?;
        Some(found)
    }

    /// Name of a relationship type by its number.
    pub(super) fn type_name(&self, number: u32) -> Arc<str> {
        match TYPES.get(number as usize) {
            Some(own) => Arc::from(*own),
            None => Arc::clone(&self.relation_types[number as usize - TYPES.len()].1),
        }
    }

    /// Whether nodes or relationships may have a property of this name; names near it if not.
    pub(super) fn property(&self, name: &str) -> Result<(), Vec<String>> {
        let is_own = own_property(name).is_some();
        let is_given = self.given.iter().any(|given| **given == *name);
        if is_own || is_given || self.given_property(name).is_some() {
            return Ok(());
        }
        let known = own_properties().map(str::to_owned);
        let known = known.chain(self.given.iter().map(ToString::to_string));
        Err(near(name, known))
    }
}

/// What schemas call properties in other languages, to the names that are stored.
fn property_labels(schemas: &[Arc<Schema>]) -> FxHashMap<String, Arc<str>> {
    let mut names = FxHashMap::default();
    for schema in schemas {
        let of_entities = schema.entity.values().map(|kind| &kind.property_labels);
        let of_relations = schema.relation.values().map(|kind| &kind.property_labels);
        for (property, labels) in of_entities.chain(of_relations).flatten() {
            for label in labels.values() {
                names
                    .entry(plain(label))
                    .or_insert_with(|| Arc::from(property.as_str()));
            }
        }
    }
    names
}

/// Names of the properties that the store has of itself.
pub(super) fn own_properties() -> impl Iterator<Item = &'static str> {
    let mut names: Vec<&'static str> = [
        graph_property::ENTITY_CELLS,
        graph_property::RELATION_CELLS,
        graph_property::DOCUMENT_CELLS,
        graph_property::CHUNK_CELLS,
        graph_property::COMMUNITY_CELLS,
        COMPUTED,
    ]
    .concat();
    names.sort_unstable();
    names.dedup();
    names.into_iter().filter(|name| *name != "properties")
}

/// The store's name of a property that a query may write in another language.
pub(super) fn own_property(name: &str) -> Option<&'static str> {
    own_properties().find(|own| *own == name).or_else(|| {
        let same = PROPERTIES.iter().find(|(_, others)| others.contains(&name));
        same.map(|(own, _)| *own)
    })
}

/// Whether two plain names are those of one type in two languages.
pub(super) fn same_type(left: &str, right: &str) -> bool {
    let mut groups = SAME_TYPES.iter();
    groups.any(|names| names.contains(&left) && names.contains(&right))
}

/// Without case, diacritics and signs between words.
pub(super) fn plain(name: &str) -> String {
    fold(&name.replace(['_', '-'], " "))
}

fn near(name: &str, known: impl Iterator<Item = String>) -> Vec<String> {
    near_names(name, known, plain)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn properties_are_known_in_other_languages() {
        #[track_caller]
        fn check(name: &str, expected: Option<&str>) {
            assert_eq!(own_property(name), expected);
        }
        check("titulo", Some("title"));
        check("nome", Some("name"));
        check("name", Some("name"));
        check("properties", None);
    }
}
