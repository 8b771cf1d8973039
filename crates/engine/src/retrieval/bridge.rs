//! Connections between candidates: evidence of several steps hangs together by names that the question does
//! not say, so a chunk counts more when a good one leads to it.

use rustc_hash::FxHashSet;

use super::graph::GraphIndex;
use crate::graph::Graph;

/// A chunk that others may be connected to.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Hit {
    pub chunk: u32,
    /// 0 to 1.
    pub strength: f64,
}

/// How a chunk is connected to the anchors, each kind from 0 to 1.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct Bridge {
    /// An anchor mentions the chunk's title.
    pub to_title: f64,
    /// The chunk mentions an anchor's title.
    pub from_title: f64,
    /// Both mention a rare name that is no title of theirs.
    pub shared_name: f64,
    /// Entity, anchor (`None`: the question) and strength.
    found: Vec<(u32, Option<u32>, f64)>,
}

impl Bridge {
    /// The strongest connections, each entity once.
    pub(super) fn connections(mut self, limit: usize) -> Vec<(u32, Option<u32>)> {
        self.found
            .sort_by(|a, b| b.2.total_cmp(&a.2).then(a.0.cmp(&b.0)).then(a.1.cmp(&b.1)));
        let mut seen = FxHashSet::default();
        self.found.retain(|connection| seen.insert(connection.0));
        self.found
            .into_iter()
            .take(limit)
            .map(|(entity, through, _)| (entity, through))
            .collect()
    }
}

/// Connections to a set of anchors.
pub(super) struct Bridges<'a> {
    graph: &'a Graph,
    index: &'a GraphIndex,
    /// Entities that the question names: they connect to it, and not chunks to each other.
    asked: &'a FxHashSet<u32>,
    anchors: &'a [Hit],
}

impl<'a> Bridges<'a> {
    pub(super) fn new(
        graph: &'a Graph,
        index: &'a GraphIndex,
        asked: &'a FxHashSet<u32>,
        anchors: &'a [Hit],
    ) -> Self {
        Self {
            graph,
            index,
            asked,
            anchors,
        }
    }

    /// The connections of one chunk.
    pub(super) fn of(&self, chunk: u32) -> Bridge {
        let mut bridge = Bridge::default();
        let entities = self.graph.mentions.entities(chunk);
        let title = self.graph.title_of_chunk(chunk);
        for &entity in entities.iter().chain(&title) {
            if self.asked.contains(&entity) {
                // Stronger than any other connection.
                let strength = 1.0 + self.index.specificity(entity);
                bridge.found.push((entity, None, strength));
            }
        }
        let document = self.graph.chunk_document[chunk as usize];
        for anchor in self.anchors {
            if self.graph.chunk_document[anchor.chunk as usize] == document {
                continue;
            }
            self.connect(&mut bridge, anchor, entities, title);
        }
        bridge
    }

    fn connect(&self, bridge: &mut Bridge, anchor: &Hit, entities: &[u32], title: Option<u32>) {
        let theirs = self.graph.mentions.entities(anchor.chunk);
        let their_title = self.graph.title_of_chunk(anchor.chunk);
        if let Some(title) = title
            && theirs.binary_search(&title).is_ok()
        {
            let strength = anchor.strength / self.bearers(title);
            bridge.to_title = bridge.to_title.max(strength);
            bridge.found.push((title, Some(anchor.chunk), strength));
        }
        if let Some(title) = their_title
            && !self.asked.contains(&title)
            && entities.binary_search(&title).is_ok()
        {
            let strength = anchor.strength / self.bearers(title);
            bridge.from_title = bridge.from_title.max(strength);
            bridge.found.push((title, Some(anchor.chunk), strength));
        }
        for &entity in common(entities, theirs) {
            if Some(entity) == title || Some(entity) == their_title || self.asked.contains(&entity)
            {
                continue;
            }
            let rarity = self.index.rarity(entity);
            let strength = anchor.strength * rarity * rarity;
            bridge.shared_name = bridge.shared_name.max(strength);
            bridge.found.push((entity, Some(anchor.chunk), strength));
        }
    }
}

impl Bridges<'_> {
    /// Documents that share a title share what points to it.
    fn bearers(&self, title: u32) -> f64 {
        self.graph.title_documents.row(title).len() as f64
    }
}

/// Members of both sorted lists.
fn common<'a>(mut a: &'a [u32], mut b: &'a [u32]) -> impl Iterator<Item = &'a u32> {
    std::iter::from_fn(move || {
        while let (Some((first, rest)), Some((other, others))) = (a.split_first(), b.split_first())
        {
            match first.cmp(other) {
                std::cmp::Ordering::Less => a = rest,
                std::cmp::Ordering::Greater => b = others,
                std::cmp::Ordering::Equal => {
                    (a, b) = (rest, others);
                    return Some(first);
                }
            }
        }
        None
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn common_members_of_sorted_lists() {
        let check = |a: &[u32], b: &[u32], expected: &[u32]| {
            let found: Vec<u32> = common(a, b).copied().collect();
            assert_eq!(found, expected);
        };
        check(&[], &[1], &[]);
        check(&[1, 3, 5], &[2, 3, 5, 9], &[3, 5]);
        check(&[7], &[7], &[7]);
        check(&[1, 2], &[3, 4], &[]);
    }

    #[test]
    fn each_entity_connects_once_by_its_strongest_way() {
        let bridge = Bridge {
            found: vec![
                (1, Some(4), 0.2),
                (2, None, 5.0),
                (1, Some(9), 0.7),
                (3, Some(4), 0.1),
            ],
            ..Bridge::default()
        };
        assert_eq!(bridge.connections(2), [(2, None), (1, Some(9))]);
    }
}
