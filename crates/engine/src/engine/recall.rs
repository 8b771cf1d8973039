//! What memory holds about a question: passages, entities, relations and claims within a budget.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

use super::Engine;
use super::explore::Explorer;
use crate::Result;
use crate::chunking::estimate_tokens;
use crate::graph::{Edge, EdgeFilter, Traversal};
use crate::memory::{UNTYPED, faded};
use crate::storage::{self, ClaimRow};
use crate::text::{Tokenizer, detect_language, query_terms};
use crate::types::{
    Direction, EntityId, EntryEntity, Evidence, HalfLives, RecallRequest, Recalled, RecalledClaim,
    RecalledEntity, RecalledPassage, RecalledRelation, SearchRequest, Standing,
};

/// Entities that a walk starts from at most.
const ROOTS: usize = 5;
/// Roots found by likeness, when the question names nothing.
const ROOTS_BY_LIKENESS: usize = 2;
/// Passages whose entities are asked when the question names nothing.
const LIKE_PASSAGES: usize = 3;
/// Entities of a walk, and the degree from which it does not pass through one.
const NODES: usize = 60;
const HUB: u32 = 200;
/// Relations that take their turn between two passages.
const TURN: usize = 4;

impl Engine {
    /// What is known about a question: passages, the entities it names and what is around them, within a
    /// budget of tokens. Never fails: what could not be done is in the notes.
    pub fn recall(&self, request: &RecallRequest) -> Recalled {
        let mut recalled = Recalled {
            query: request.query.clone(),
            ..Recalled::default()
        };
        let (mut passages, mut entries) = (Vec::new(), Vec::new());
        match self.search(&SearchRequest {
            limit: request.limit.max(1),
            ..SearchRequest::new(request.query.clone())
        }) {
            Ok(found) => {
                recalled.record = found.record;
                recalled.notes = found.notes;
                passages = found.results;
                entries = found.entry_entities;
            }
            Err(error) => recalled
                .notes
                .push(format!("passages were not searched: {error}")),
        }
        let walked = self.explore(|explorer| {
            let gathered =
                explorer.gather(request, &entries, &passages, &self.config.half_lives)?;
            explorer.fill(request, &gathered, &passages, &mut recalled)
        });
        if let Err(error) = walked {
            recalled
                .notes
                .push(format!("the graph was not asked: {error}"));
        }
        recalled
    }
}

/// What a recall may show, best first. Relations and claims come with the confidence that is left of them.
struct Gathered {
    roots: Vec<EntityId>,
    edges: Vec<(Edge, f64)>,
    claims: Vec<(ClaimRow, f64)>,
}

impl Explorer<'_> {
    fn gather(
        &self,
        request: &RecallRequest,
        entries: &[EntryEntity],
        passages: &[Evidence],
        half_lives: &HalfLives,
    ) -> Result<Gathered> {
        let mut roots = Vec::new();
        for entry in entries.iter().take(ROOTS) {
            let row =
                storage::entity_by_public_id(self.connection, self.namespace, &entry.public_id.0)?;
            roots.extend(row.map(|row| row.id));
        }
        if roots.is_empty() {
            roots = self.like(&request.query, passages)?;
        }
        if roots.is_empty() {
            roots = self.resolve(&request.query)?;
            roots.truncate(ROOTS_BY_LIKENESS);
        }
        let seeds: Vec<u32> = roots
            .iter()
            .filter_map(|&id| self.graph.entities.get(id))
            .collect();
        let walk = Traversal {
            max_hops: request.max_hops,
            max_nodes: NODES,
            hub_limit: Some(HUB),
            ..Traversal::new(seeds, self.at)
        };
        let walked = walk.run(&self.graph.relations);
        let depth: BTreeMap<u32, u32> = walked
            .nodes
            .iter()
            .map(|node| (node.entity, node.depth))
            .collect();
        let edges: Vec<Edge> = if request.prefer_present {
            walked.edges
        } else {
            self.of_all_times(&depth)
        };
        let distance = |edge: &Edge| {
            let ends = [edge.source, edge.target];
            ends.iter().filter_map(|end| depth.get(end)).min().copied()
        };
        let mut edges: Vec<(Edge, f64)> = edges
            .into_iter()
            .map(|edge| Ok((edge, self.faded_edge(&edge, half_lives)?)))
            .collect::<Result<_>>()?;
        // Near the question first, then what is still to be relied on, then what was said last.
        edges.sort_by_key(|(edge, confidence)| {
            let freshness = if request.prefer_present {
                edge.window.valid_from.max(edge.window.recorded_at)
            } else {
                0
            };
            let grade = Reverse(grade(*confidence));
            (distance(edge), grade, Reverse(freshness), edge.relation)
        });
        let claims = self.claims_to_recall(&roots, request.prefer_present, half_lives)?;
        Ok(Gathered {
            roots,
            edges,
            claims,
        })
    }

    /// What is left of the confidence in a relation at this moment.
    fn faded_edge(&self, edge: &Edge, half_lives: &HalfLives) -> Result<f64> {
        let (confidence, observed_at) = storage::confidence_of(self.connection, edge.relation)?;
        let kind = self.graph.relations.type_ids()[edge.relation_type as usize];
        let kind = storage::relation_type_name(self.connection, kind)?;
        Ok(faded(
            confidence,
            observed_at,
            self.at.valid,
            half_lives.of(&kind),
        ))
    }

    /// Claims about the entries, those to be relied on first; without history only what holds.
    fn claims_to_recall(
        &self,
        roots: &[EntityId],
        prefer_present: bool,
        half_lives: &HalfLives,
    ) -> Result<Vec<(ClaimRow, f64)>> {
        let mut claims: Vec<(ClaimRow, f64)> = self
            .claims_of(roots, false)?
            .into_iter()
            .filter(|(standing, _)| !prefer_present || *standing == Standing::Current)
            .map(|(_, row)| {
                let observed_at = row.observed_at.unwrap_or(row.recorded_at);
                let half_life = half_lives.of(&row.kind);
                let left = faded(row.confidence, observed_at, self.at.valid, half_life);
                (row, left)
            })
            .collect();
        claims.sort_by_key(|(row, confidence)| {
            (
                Reverse(grade(*confidence)),
                Reverse(row.from.unwrap_or(row.recorded_at)),
                row.id,
            )
        });
        Ok(claims)
    }

    /// Of the entities in the passages that are most like the question, those whose name, type and description
    /// share most words with it, then those that the fewest passages mention.
    fn like(&self, query: &str, passages: &[Evidence]) -> Result<Vec<EntityId>> {
        let asked: BTreeSet<String> = query_terms(query, &self.languages)
            .into_iter()
            .filter(|term| !term.stop)
            .flat_map(|term| term.alternatives)
            .collect();
        let mut tokenizer = Tokenizer::default();
        let mut found: BTreeSet<(Reverse<usize>, usize, EntityId)> = BTreeSet::new();
        for passage in passages.iter().take(LIKE_PASSAGES) {
            let Some(chunk) = self.graph.chunks.get(passage.chunk) else {
                continue;
            };
            for &entity in self.graph.mentions.entities(chunk) {
                if self.graph.relations.degree(entity, self.at) == 0 {
                    continue;
                }
                let id = self.graph.entities.id(entity);
                let row = storage::entity(self.connection, id)?;
                let types = storage::types_of_entity(self.connection, id)?.join(" ");
                let known = [row.name, types, row.description.unwrap_or_default()].join("\n");
                let mut terms = String::new();
                tokenizer.index_terms(&known, detect_language(&known), &mut terms);
                let terms: BTreeSet<&str> = terms.split(' ').collect();
                let shared = asked.iter().filter(|term| terms.contains(term.as_str()));
                let mentions = self.graph.mentions.chunks(entity).len();
                found.insert((Reverse(shared.count()), mentions, id));
            }
        }
        Ok(found
            .into_iter()
            .take(ROOTS_BY_LIKENESS)
            .map(|(_, _, id)| id)
            .collect())
    }

    /// What holds, held or will hold between the entities walked to, and whatever the entries had a relation to:
    /// no relation of the present may lead there.
    fn of_all_times(&self, depth: &BTreeMap<u32, u32>) -> Vec<Edge> {
        let relations = &self.graph.relations;
        let everything = EdgeFilter::of_all_times(relations, Direction::Both, None);
        let mut positions = BTreeSet::new();
        for (&node, &steps) in depth {
            relations.each_neighbor(node, &everything, |other, position| {
                if steps == 0 || depth.contains_key(&other) {
                    positions.insert(position);
                }
            });
        }
        let known = self.at.known.0;
        positions
            .into_iter()
            .map(|position| relations.edge(position))
            .filter(|edge| edge.window.recorded_at <= known && known < edge.window.retracted_at)
            .collect()
    }

    /// Roots, then relations and passages in turn, until the budget is spent.
    fn fill(
        &self,
        request: &RecallRequest,
        gathered: &Gathered,
        passages: &[Evidence],
        recalled: &mut Recalled,
    ) -> Result<()> {
        let mut budget = Budget {
            left: request.budget,
            cut: false,
        };
        let mut shown = BTreeSet::new();
        for &root in &gathered.roots {
            self.add_entity(root, &mut budget, &mut shown, recalled)?;
        }
        for root in &gathered.roots {
            let name = storage::entity(self.connection, *root)?.name;
            if !recalled.entrypoint_roots.contains(&name) {
                recalled.entrypoint_roots.push(name);
            }
        }
        let mut edges = gathered.edges.iter();
        let mut claims = gathered.claims.iter();
        let mut passages = passages.iter();
        loop {
            let mut ran_dry = true;
            for (edge, confidence) in edges.by_ref().take(TURN) {
                ran_dry = false;
                self.add_relation((edge, *confidence), &mut budget, &mut shown, recalled)?;
            }
            if let Some((claim, confidence)) = claims.next() {
                ran_dry = false;
                self.add_claim((claim, *confidence), &mut budget, recalled)?;
            }
            if let Some(passage) = passages.next() {
                ran_dry = false;
                self.add_passage(passage, &mut budget, recalled)?;
            }
            if ran_dry || budget.left == 0 {
                break;
            }
        }
        recalled.tokens = request.budget - budget.left;
        recalled.cut = budget.cut
            || edges.next().is_some()
            || claims.next().is_some()
            || passages.next().is_some();
        Ok(())
    }

    fn add_entity(
        &self,
        id: EntityId,
        budget: &mut Budget,
        shown: &mut BTreeSet<EntityId>,
        recalled: &mut Recalled,
    ) -> Result<bool> {
        if shown.contains(&id) {
            return Ok(true);
        }
        let row = storage::entity(self.connection, id)?;
        let types = storage::types_of_entity(self.connection, id)?;
        let entity = RecalledEntity {
            name: row.name,
            kind: types
                .into_iter()
                .next()
                .unwrap_or_else(|| UNTYPED.to_owned()),
            description: row.description.unwrap_or_default(),
            id: row.public_id,
        };
        if !budget.take(&[&entity.name, &entity.kind, &entity.description]) {
            return Ok(false);
        }
        shown.insert(id);
        recalled.entities.push(entity);
        Ok(true)
    }

    fn add_relation(
        &self,
        (edge, confidence_now): (&Edge, f64),
        budget: &mut Budget,
        shown: &mut BTreeSet<EntityId>,
        recalled: &mut Recalled,
    ) -> Result<()> {
        let view = self.relation(edge)?;
        let relation = RecalledRelation {
            from: view.source,
            to: view.target,
            relation: view.relation_type,
            context: view.fact.unwrap_or_default(),
            valid_from: view.times.valid_from_written.or(view.times.valid_from),
            valid_to: view.times.valid_to_written.or(view.times.valid_to),
            confidence: view.confidence,
            confidence_now: rounded(confidence_now),
            source: view.evidence.into_iter().next().map(|stated| stated.uri),
        };
        if !budget.take(&[
            &relation.from,
            &relation.relation,
            &relation.to,
            &relation.context,
        ]) {
            return Ok(());
        }
        for end in [edge.source, edge.target] {
            self.add_entity(self.graph.entities.id(end), budget, shown, recalled)?;
        }
        recalled.relations.push(relation);
        Ok(())
    }

    fn add_claim(
        &self,
        (row, confidence_now): (&ClaimRow, f64),
        budget: &mut Budget,
        recalled: &mut Recalled,
    ) -> Result<()> {
        let view = self.claim_view(Standing::Current, row.clone())?;
        let claim = RecalledClaim {
            id: view.id,
            subject: view.subject,
            object: view.object,
            kind: view.claim_type,
            status: view.status,
            description: view.description,
            valid_from: view.times.valid_from_written.or(view.times.valid_from),
            valid_to: view.times.valid_to_written.or(view.times.valid_to),
            confidence: view.confidence,
            confidence_now: rounded(confidence_now),
            source: view.evidence.into_iter().next().map(|stated| stated.uri),
        };
        let object = claim.object.as_deref().unwrap_or_default();
        let texts = [&claim.subject, object, &claim.kind, &claim.description];
        if budget.take(&texts) {
            recalled.claims.push(claim);
        }
        Ok(())
    }

    fn add_passage(
        &self,
        passage: &Evidence,
        budget: &mut Budget,
        recalled: &mut Recalled,
    ) -> Result<()> {
        // A passage that is too long is cut to what answers the question.
        let fits = estimate_tokens(&passage.text) <= budget.left;
        let text = if fits { &passage.text } else { &passage.quote };
        if !budget.take(&[text, &passage.uri]) {
            return Ok(());
        }
        budget.cut |= !fits;
        recalled.evidence.push(RecalledPassage {
            rank: passage.rank,
            uri: passage.uri.clone(),
            line: if fits {
                passage.line
            } else {
                passage.quote_line
            },
            title: passage.title.clone(),
            said_at: storage::said_at(self.connection, passage.document)?,
            text: text.clone(),
        });
        Ok(())
    }
}
/// Confidence for ranking, in tenths: a few days make no difference.
fn grade(confidence: f64) -> i64 {
    (confidence * 10.0).round() as i64
}

/// Confidence as shown.
fn rounded(confidence: f64) -> f64 {
    (confidence * 1e4).round() / 1e4
}

/// Tokens that are left, by estimate.
struct Budget {
    left: usize,
    cut: bool,
}

impl Budget {
    /// Takes what these texts cost; nothing, and notes the cut, when they cost more than is left.
    fn take(&mut self, texts: &[&str]) -> bool {
        let cost: usize = texts.iter().map(|text| 1 + estimate_tokens(text)).sum();
        if cost > self.left {
            self.cut = true;
            return false;
        }
        self.left -= cost;
        true
    }
}
