//! Steps between names that mean almost the same (synonym edges of `HippoRAG`, Gutiérrez et al., 2024).

use crate::graph::Graph;
use crate::types::EntityId;

/// By entity index: the others whose names lie near, and how near.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Synonyms {
    offsets: Vec<u32>,
    others: Vec<(u32, f32)>,
}

impl Synonyms {
    /// From pairs in ascending order of the first, both directions; pairs that the graph does not have are left
    /// out.
    pub(crate) fn new(graph: &Graph, pairs: &[(EntityId, EntityId, f64)]) -> Self {
        let mut offsets = vec![0_u32; graph.entities.len() + 1];
        let mut others = Vec::new();
        for &(entity, other, cosine) in pairs {
            let place = graph.entities.get(entity).zip(graph.entities.get(other));
            if let Some((entity, other)) = place {
                offsets[entity as usize + 1] += 1;
                others.push((other, cosine as f32));
            }
        }
        for place in 1..offsets.len() {
            offsets[place] += offsets[place - 1];
        }
        Self { offsets, others }
    }

    /// Synonyms of an entity.
    pub(super) fn of(&self, entity: u32) -> &[(u32, f32)] {
        let place = entity as usize;
        match self.offsets.get(place..=place + 1) {
            Some(&[from, to]) => &self.others[from as usize..to as usize],
            _ => &[],
        }
    }
}
