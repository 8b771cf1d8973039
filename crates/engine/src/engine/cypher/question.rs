//! Questions of people as queries, by templates over the names of the graph: who, what, which, how many, what
//! lies between. No model is asked.

use super::kinds::NodeKind;
use super::names::{LABELS, plain, same_type};
use super::rows;
use super::store_graph::StoreGraph;
use crate::cypher::{Budget, Parameters, PropertyGraph, Result, Value};
use crate::storage;
use crate::text::{Language, fold, is_stop_word};
use crate::types::GraphAnswer;

/// Languages of the templates.
const LANGUAGES: [Language; 3] = [Language::English, Language::Portuguese, Language::Chinese];
/// Longest name that is looked for, in words, or in characters where words are not separated.
const LONGEST_NAME: usize = 8;
/// Most rows of an answer.
const ROWS: usize = 50;

const COUNTING: &[&str] = &[
    "how many",
    "number of",
    "quantos",
    "quantas",
    "numero de",
    "多少",
    "几个",
    "几位",
];
const BETWEEN: &[&str] = &[
    "between",
    "connect",
    "path",
    "related to",
    "entre",
    "ligacao",
    "ligad",
    "caminho",
    "conect",
    "relacao",
    "之间",
    "关系",
    "联系",
];

/// What of a question the graph has names for.
#[derive(Debug, Default)]
struct Parts {
    /// Entity indices, in the order of the question.
    entities: Vec<u32>,
    relation: Option<String>,
    label: Option<String>,
}

/// Runs the first template that fits. Nothing is run when the question names nothing that the graph knows.
pub(super) fn ask(
    graph: &StoreGraph<'_>,
    question: &str,
    now: i128,
    budget: &Budget,
) -> Result<GraphAnswer> {
    let folded = fold(question);
    let parts = parts(graph, &folded)?;
    let mut answer = GraphAnswer {
        question: question.to_owned(),
        ..GraphAnswer::default()
    };
    if let Some((query, names)) = template(&parts, &folded) {
        let parameters: Parameters = names
            .iter()
            .map(|(name, entity)| {
                let id = graph.node_name(NodeKind::Entity(*entity).id())?;
                Ok(((*name).to_owned(), Value::String(id)))
            })
            .collect::<Result<_>>()?;
        rows::run(
            (graph, now, budget),
            &query,
            &parameters,
            &parts.entities,
            &mut answer,
        )?;
    }
    Ok(answer)
}

/// The entities that a question names, in its order.
pub(super) fn named(graph: &StoreGraph<'_>, question: &str) -> Result<Vec<u32>> {
    Ok(parts(graph, &fold(question))?.entities)
}

/// Whether a question names labels, relationship types or several entities of the graph.
pub(super) fn is_structural(graph: &StoreGraph<'_>, question: &str) -> Result<bool> {
    let parts = parts(graph, &fold(question))?;
    Ok(parts.label.is_some() || parts.relation.is_some() || parts.entities.len() > 1)
}

/// A query and the entities that its parameters stand for.
type Template = (String, Vec<(&'static str, u32)>);

fn template(parts: &Parts, folded: &str) -> Option<Template> {
    let has = |words: &[&str]| words.iter().any(|word| folded.contains(word));
    let label = parts
        .label
        .as_deref()
        .map_or_else(String::new, quoted_label);
    let of_type = parts
        .relation
        .as_deref()
        .map_or_else(String::new, quoted_label);
    let counts = has(COUNTING);
    match parts.entities.as_slice() {
        [a, b, ..] if has(BETWEEN) || parts.relation.is_none() => Some((
            "MATCH p = shortestPath((a:Entity {id: $a})-[*..6]-(b:Entity {id: $b})) \
             RETURN [n IN nodes(p) | n.name] AS names, p AS path"
                .to_owned(),
            vec![("a", *a), ("b", *b)],
        )),
        [a, b, ..] => Some((
            format!(
                "MATCH (a:Entity {{id: $a}})-[r{of_type}]-(b:Entity {{id: $b}}) \
                 RETURN startNode(r).name AS source, type(r) AS relation, endNode(r).name AS target, r"
            ),
            vec![("a", *a), ("b", *b)],
        )),
        [a] if counts => Some((
            format!(
                "MATCH (a:Entity {{id: $a}})-[r{of_type}]-(b:Entity) {} \
                 RETURN count(DISTINCT b) AS count, collect(r)[..{ROWS}] AS relations",
                condition(&label)
            ),
            vec![("a", *a)],
        )),
        [a] => Some((
            format!(
                "MATCH (a:Entity {{id: $a}})-[r{of_type}]-(b:Entity) {} \
                 RETURN b.name AS name, type(r) AS relation, r ORDER BY relation, name LIMIT {ROWS}",
                condition(&label)
            ),
            vec![("a", *a)],
        )),
        [] if parts.label.is_some() && counts => Some((
            format!("MATCH (n{label}) RETURN count(n) AS count"),
            Vec::new(),
        )),
        [] if parts.label.is_some() => Some((
            format!("MATCH (n{label}) RETURN n.name AS name ORDER BY name LIMIT {ROWS}"),
            Vec::new(),
        )),
        [] => None,
    }
}

fn condition(label: &str) -> String {
    if label.is_empty() {
        String::new()
    } else {
        format!("WHERE b{label}")
    }
}

/// `:` and a name between back ticks.
fn quoted_label(name: &str) -> String {
    format!(":`{}`", name.replace('`', "``"))
}

fn parts(graph: &StoreGraph<'_>, folded: &str) -> Result<Parts> {
    let mut parts = Parts::default();
    let words: Vec<&str> = folded.split_whitespace().collect();
    let mut rest: Vec<&str> = Vec::new();
    let mut place = 0;
    while place < words.len() {
        let longest = LONGEST_NAME.min(words.len() - place);
        let mut found = None;
        for length in (1..=longest).rev() {
            let name = words[place..place + length].join(" ");
            if let Some(entity) = entity(graph, &name)? {
                found = Some((entity, length));
                break;
            }
        }
        match found {
            Some((entity, length)) if !is_common(words[place], length) => {
                if !parts.entities.contains(&entity) {
                    parts.entities.push(entity);
                }
                place += length;
            }
            _ => {
                of_characters(graph, words[place], &mut parts)?;
                rest.push(words[place]);
                place += 1;
            }
        }
    }
    parts.relation = relation(graph, &rest);
    parts.label = label(graph, &rest);
    Ok(parts)
}

/// Names in a run of characters without spaces, the longest first.
fn of_characters(graph: &StoreGraph<'_>, word: &str, parts: &mut Parts) -> Result<()> {
    if word.is_ascii() {
        return Ok(());
    }
    let letters: Vec<char> = word.chars().collect();
    let mut place = 0;
    while place < letters.len() {
        let longest = LONGEST_NAME.min(letters.len() - place);
        let mut step = 1;
        for length in (2..=longest).rev() {
            let name: String = letters[place..place + length].iter().collect();
            if let Some(entity) = entity(graph, &name)? {
                if !parts.entities.contains(&entity) {
                    parts.entities.push(entity);
                }
                step = length;
                break;
            }
        }
        place += step;
    }
    Ok(())
}

/// One word that any question may have is no name.
fn is_common(word: &str, length: usize) -> bool {
    length == 1
        && (word.chars().count() < 2
            || LANGUAGES
                .iter()
                .any(|language| is_stop_word(word, *language)))
}

/// The current entity of a folded name: of several the one with most relations.
fn entity(graph: &StoreGraph<'_>, folded: &str) -> Result<Option<u32>> {
    let ids = storage::entities_of_form(graph.connection, graph.namespace, folded)?;
    let entities = ids
        .into_iter()
        .filter_map(|id| graph.graph.entities.get(id));
    let degree = |entity: &u32| graph.graph.relations.degree(*entity, graph.at);
    Ok(entities.max_by_key(|entity| (degree(entity), std::cmp::Reverse(*entity))))
}

/// The relation type most of whose words are in the question.
fn relation(graph: &StoreGraph<'_>, words: &[&str]) -> Option<String> {
    let mut best: Option<(usize, usize, String)> = None;
    for (_, name) in &graph.names.relation_types {
        for form in std::iter::once(&**name).chain(graph.names.words_of_relation(name)) {
            let plain = plain(form);
            let own: Vec<&str> = plain.split(' ').filter(|word| word.len() > 3).collect();
            let met = own
                .iter()
                .filter(|own| words.iter().any(|word| alike(own, word)))
                .count();
            if met > 0 && met * 2 >= own.len() {
                let candidate = (met, usize::MAX - own.len(), name.to_string());
                let is_better = best
                    .as_ref()
                    .is_none_or(|best| (candidate.0, candidate.1) > (best.0, best.1));
                if is_better {
                    best = Some(candidate);
                }
            }
        }
    }
    best.map(|(_, _, name)| name)
}

/// The label that a word of the question names, in one or in many.
fn label(graph: &StoreGraph<'_>, words: &[&str]) -> Option<String> {
    let types = graph
        .names
        .entity_types
        .iter()
        .map(|(name, _)| name.to_string());
    let own = LABELS.iter().map(|(name, _)| (*name).to_owned());
    types.chain(own).find(|name| {
        let plain = plain(name);
        words.iter().any(|word| {
            let singular = word.trim_end_matches('s');
            let one = [*word, singular];
            one.iter().any(|word| {
                *word == plain || same_type(word, &plain) || graph.names.is_same_type(word, name)
            }) || (word.len() > 4 && alike(&plain, word))
        })
    })
}

/// Two words that share so long a beginning that they are forms of one.
fn alike(left: &str, right: &str) -> bool {
    let shared = left
        .chars()
        .zip(right.chars())
        .take_while(|(a, b)| a == b)
        .count();
    let longer = left.chars().count().max(right.chars().count());
    left == right || (shared >= 4 && shared + 3 >= longer)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn forms_of_a_word_are_alike() {
        #[track_caller]
        fn check(left: &str, right: &str, expected: bool) {
            assert_eq!(alike(left, right), expected);
        }
        check("works", "work", true);
        check("trabalha", "trabalham", true);
        check("directed", "director", true);
        check("in", "into", false);
        check("works", "world", false);
    }
}
