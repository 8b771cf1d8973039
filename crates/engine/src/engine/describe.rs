//! All that is known of an entity.

use super::Engine;
use super::explore::Explorer;
use crate::Result;
use crate::storage;
use crate::types::{
    ChunkId, ClaimView, Description, EntityId, RecalledPassage, Standing, TimelineRequest,
};

/// Relations, claims and passages of a description.
const DESCRIBED: usize = 30;

impl Engine {
    /// All that is known of the entities of a name: what holds, what held, and the passages that mention them.
    ///
    /// # Errors
    /// [`crate::Error::NotFound`] when the name is unknown.
    pub fn describe(&self, name: &str) -> Result<Vec<Description>> {
        self.explore(|explorer| explorer.describe(name))
    }
}

impl Explorer<'_> {
    fn describe(&self, name: &str) -> Result<Vec<Description>> {
        self.known(name)?
            .into_iter()
            .map(|id| self.description(id))
            .collect()
    }

    fn description(&self, id: EntityId) -> Result<Description> {
        let entity = self.view(id)?;
        let timeline = self.timeline(&TimelineRequest {
            limit: usize::MAX,
            ..TimelineRequest::new(entity.public_id.0.clone())
        })?;
        let (current, mut history): (Vec<_>, Vec<_>) = timeline
            .entries
            .into_iter()
            .partition(|entry| entry.standing == Standing::Current);
        let mut relations: Vec<_> = current.into_iter().map(|entry| entry.relation).collect();
        relations.sort_by(|a, b| b.weight.total_cmp(&a.weight));
        relations.truncate(DESCRIBED);
        history.drain(..history.len().saturating_sub(DESCRIBED));
        let mut chunks: Vec<ChunkId> = Vec::new();
        if let Some(index) = self.graph.entities.get(id) {
            let mentioned = self.graph.mentions.chunks(index).iter().copied();
            let own = self.graph.title_chunks(index);
            chunks.extend(
                own.chain(mentioned)
                    .take(DESCRIBED)
                    .map(|chunk| self.graph.chunks.id(chunk)),
            );
        }
        let mut passages = Vec::new();
        for chunk in chunks {
            let Some(found) = storage::evidence_chunk(self.connection, chunk)? else {
                continue;
            };
            passages.push(RecalledPassage {
                rank: passages.len() + 1,
                uri: found.uri,
                line: found.line,
                title: found.title,
                said_at: storage::said_at(self.connection, found.document)?,
                text: found.text,
            });
        }
        Ok(Description {
            community: storage::community_of(self.connection, id)?,
            claims: self.described_claims(id)?,
            entity,
            relations,
            history,
            passages,
        })
    }

    /// Claims about an entity: those that hold first, each part by start.
    fn described_claims(&self, id: EntityId) -> Result<Vec<ClaimView>> {
        let mut claims = self.claim_views(&[id], false)?;
        claims.sort_by_key(|claim| claim.standing != Standing::Current);
        claims.truncate(DESCRIBED);
        Ok(claims)
    }
}
