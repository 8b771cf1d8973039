//! The graph lane: question names and keyword hits start a walk over names and chunks; what it reaches is
//! ordered by mass, by keyword rank and by how it connects to the best of the rest.

use rustc_hash::{FxHashMap, FxHashSet};

use super::bridge::{Bridges, Hit};
use super::judge::Judge;
pub use super::synonyms::Synonyms;
use super::walk::Walk;
use crate::graph::pagerank::{Push, personalised};
use crate::graph::{Graph, Moment};
use crate::ranker::{Features, Ranker};

/// Constants of the graph lane. The defaults serve every corpus and language; `docs/retrieval.md` says how
/// they were found.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct GraphRecipe {
    /// How the walk goes.
    pub push: Push,
    /// Weight of the edge between a title and its document, shared by the document's chunks. A mention weighs
    /// `ln(1 + count)` times the entity's specificity, that is about 0.7 to 15.
    pub title_edge: f64,
    /// Places in the text that bearing a title counts as.
    pub title_count: f64,
    /// Weight of a relation's edge for each `ln(1 + its weight)`.
    pub relation_edge: f64,
    /// Weight of a step between two names whose vectors are the same; it falls to nothing at `synonym_least`.
    pub synonym_edge: f64,
    /// Cosine of two names up to which there is no step between them.
    pub synonym_least: f64,
    /// Exponent of the specificity of the question's names in the start.
    pub name_exponent: f64,
    /// Exponent of the surest name's rarity (see [`GraphIndex::rarity`]) in the mass that the names start with:
    /// names that stand everywhere lead nowhere.
    pub trust_exponent: f64,
    /// Mass that the keyword hits start with; names of one chunk start with 1.
    pub keyword_mass: f64,
    /// Keyword hits that start with mass, in proportion to their squared scores.
    pub keyword_seeds: usize,
    /// The same for what is near by meaning, in proportion to the squared lead over the last of them.
    pub vector_mass: f64,
    pub vector_seeds: usize,
    /// Chunks of the walk, of the keyword lane, and of the vector lane, that are put in order.
    pub walk_candidates: usize,
    pub keyword_candidates: usize,
    pub vector_candidates: usize,
    /// Best chunks of the walk that others may be connected to.
    pub anchors: usize,
    /// Added to the logarithm of the mass for a full connection of each kind, and for the first keyword rank.
    pub to_title: f64,
    pub from_title: f64,
    pub shared_name: f64,
    pub keyword_rank: f64,
}

impl Default for GraphRecipe {
    fn default() -> Self {
        Self {
            push: Push {
                damping: 0.85,
                threshold: 1e-5,
            },
            title_edge: 30.0,
            title_count: 2.0,
            relation_edge: 3.0,
            synonym_edge: 30.0,
            synonym_least: 0.92,
            name_exponent: 1.5,
            trust_exponent: 3.0,
            keyword_mass: 0.2,
            keyword_seeds: 50,
            vector_mass: 0.2,
            vector_seeds: 20,
            walk_candidates: 60,
            keyword_candidates: 20,
            vector_candidates: 20,
            anchors: 8,
            to_title: 2.5,
            from_title: 1.0,
            shared_name: 1.0,
            keyword_rank: 2.25,
        }
    }
}

impl GraphRecipe {
    /// The score by the recipe's own weights.
    fn weigh(&self, features: &Features) -> f64 {
        features.walk_mass
            + self.to_title * features.to_title
            + self.from_title * features.from_title
            + self.shared_name * features.shared_name
            + self.keyword_rank * features.keyword_rank
    }
}

/// What ranking needs beside the graph; cheap to make, once for each graph.
#[derive(Debug, Clone)]
pub struct GraphIndex {
    /// By entity: `ln(1 + chunks / chunks that mention or bear it)`.
    specificity: Vec<f32>,
    /// Specificity of an entity of a single chunk.
    highest: f64,
}

impl GraphIndex {
    pub fn new(graph: &Graph) -> Self {
        let chunks = graph.chunks.len() as f64;
        let specificity = (0..graph.entities.len() as u32)
            .map(|entity| {
                let mentioned = graph.mentions.chunks(entity);
                let titled = graph
                    .title_chunks(entity)
                    .filter(|chunk| mentioned.binary_search(chunk).is_err())
                    .count();
                libm::log(1.0 + chunks / (mentioned.len() + titled).max(1) as f64) as f32
            })
            .collect();
        Self {
            specificity,
            highest: libm::log1p(chunks),
        }
    }

    /// How much a mention of the entity tells: 0.7 for one in every chunk, more the rarer it is.
    pub fn specificity(&self, entity: u32) -> f64 {
        f64::from(self.specificity[entity as usize])
    }

    /// The specificity as a share of the highest: 1 for an entity of a single chunk.
    pub fn rarity(&self, entity: u32) -> f64 {
        self.specificity(entity) / self.highest
    }
}

/// A chunk as the graph lane ranked it.
#[derive(Debug, Clone, PartialEq)]
pub struct GraphHit {
    /// Chunk index.
    pub chunk: u32,
    pub score: f64,
    /// Share of the walk's mass, for the record.
    pub mass: f64,
    /// What the ranker judges it by.
    pub features: Features,
    /// Entities (by index) that connect it to the question (`None`) or to another ranked chunk (its index).
    pub connections: Vec<(u32, Option<u32>)>,
}

/// What the graph lane found.
#[derive(Debug, Clone, PartialEq)]
pub struct GraphRanking {
    /// Entities that the question names, with their share of the start, most first.
    pub entries: Vec<(u32, f64)>,
    /// Best first.
    pub hits: Vec<GraphHit>,
}

/// Most connections that a hit lists.
const CONNECTIONS: usize = 3;

/// Gives the chunks (by index) that have vectors, with how near each is.
pub type Nearness<'a> = dyn Fn(&[u32]) -> Vec<(u32, f64)> + 'a;

/// What a question starts from.
pub struct Start<'a> {
    /// For each name of the question, the entities it may stand for.
    pub names: &'a [Vec<u32>],
    /// Hits of the keyword lane and of the vector lane, best first, as (chunk index, score).
    pub keyword: &'a [(u32, f64)],
    pub vector: &'a [(u32, f64)],
    /// Nearness of these chunks, as far as they have vectors.
    pub nearness: &'a Nearness<'a>,
    /// Steps between names that mean almost the same.
    pub synonyms: Option<&'a Synonyms>,
}

/// Ranks chunks for a question. Only chunks that `admits` are returned. `None` when no name leads into the graph:
/// then the order of the other lanes is the answer.
pub fn rank(
    graph: &Graph,
    index: &GraphIndex,
    start: &Start<'_>,
    admits: impl Fn(u32) -> bool,
    at: Moment,
    recipe: &GraphRecipe,
    ranker: Option<&Ranker>,
) -> Option<GraphRanking> {
    let Start {
        keyword, vector, ..
    } = *start;
    let walk = Walk::new(graph, index, at, recipe).with_synonyms(start.synonyms);
    let entries = walk.entries(start.names);
    if entries.is_empty() {
        return None;
    }
    let reached = personalised(&walk, &walk.reset(&entries, keyword, vector), recipe.push);
    let chunks = graph.chunks.len();
    let chunk_nodes = reached.partition_point(|&(node, _)| (node as usize) < chunks);
    let mut by_mass: Vec<(u32, f64)> = reached[..chunk_nodes]
        .iter()
        .copied()
        .filter(|&(chunk, mass)| mass > 0.0 && admits(chunk))
        .collect();
    let order = |a: &(u32, f64), b: &(u32, f64)| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0));
    let wanted = recipe.walk_candidates.max(recipe.anchors);
    if by_mass.len() > wanted {
        by_mass.select_nth_unstable_by(wanted, order);
        by_mass.truncate(wanted);
    }
    by_mass.sort_unstable_by(order);
    let best = by_mass.first().map_or(1.0, |hit| hit.1);

    let mass: FxHashMap<u32, f64> = reached[..chunk_nodes].iter().copied().collect();
    let of_lane = |lane: &'_ [(u32, f64)], most: usize| -> Vec<u32> {
        let admitted = lane.iter().map(|hit| hit.0).filter(|&chunk| admits(chunk));
        admitted.take(most).collect()
    };
    let mut seen: FxHashSet<u32> = FxHashSet::default();
    let candidates: Vec<u32> = by_mass
        .iter()
        .take(recipe.walk_candidates)
        .map(|hit| hit.0)
        .chain(of_lane(keyword, recipe.keyword_candidates))
        .chain(of_lane(vector, recipe.vector_candidates))
        .filter(|&chunk| seen.insert(chunk))
        .collect();
    let nearness: FxHashMap<u32, f64> = (start.nearness)(&candidates).into_iter().collect();
    let nearest = nearness.values().copied().fold(f64::NEG_INFINITY, f64::max);
    let furthest = nearness.values().copied().fold(f64::INFINITY, f64::min);
    let keyword_rank = ranks(keyword);
    let keyword_score: FxHashMap<u32, f64> = keyword.iter().copied().collect();
    let vector_rank = ranks(vector);

    let asked: FxHashSet<u32> = entries.iter().map(|entry| entry.0).collect();
    let anchors: Vec<Hit> = by_mass
        .iter()
        .take(recipe.anchors)
        .map(|&(chunk, mass)| Hit {
            chunk,
            strength: (mass / best).sqrt(),
        })
        .collect();
    let bridges = Bridges::new(graph, index, &asked, &anchors);
    let judge = ranker.map(|ranker| {
        let how = (at, recipe);
        (
            Judge::new(graph, index, start, &entries, &asked, &reached, how),
            ranker,
        )
    });
    let best_keyword = keyword.first().map_or(1.0, |hit| hit.1);
    let walk_rank = ranks(&by_mass);
    let mut hits: Vec<GraphHit> = candidates
        .into_iter()
        .map(|chunk| {
            let mass = mass.get(&chunk).copied().unwrap_or(0.0);
            let bridge = bridges.of(chunk);
            let part = |rank: Option<&usize>| rank.map_or(0.0, |&rank| 1.0 / rank as f64);
            let mut features = Features {
                walk_mass: libm::log(mass / best + LEAST_MASS),
                walk_rank: part(walk_rank.get(&chunk)),
                keyword_rank: part(keyword_rank.get(&chunk)),
                keyword_score: keyword_score.get(&chunk).copied().unwrap_or(0.0) / best_keyword,
                vector_rank: part(vector_rank.get(&chunk)),
                to_title: bridge.to_title,
                from_title: bridge.from_title,
                shared_name: bridge.shared_name,
                ..Features::default()
            };
            if !nearness.is_empty() {
                // A chunk that has no vector yet counts as the furthest one that has.
                let near = nearness.get(&chunk).copied().unwrap_or(furthest);
                features.vector_score = near - nearest;
            }
            let mut score = recipe.weigh(&features);
            if let Some((judge, ranker)) = &judge {
                features = judge.complete(chunk, features);
                score = ranker.score(score, &features);
            }
            GraphHit {
                chunk,
                score,
                mass,
                features,
                connections: bridge.connections(CONNECTIONS),
            }
        })
        .collect();
    hits.sort_unstable_by(|a, b| b.score.total_cmp(&a.score).then(a.chunk.cmp(&b.chunk)));
    Some(GraphRanking { entries, hits })
}

/// Ranks from 1, by chunk.
fn ranks(hits: &[(u32, f64)]) -> FxHashMap<u32, usize> {
    (1..).zip(hits).map(|(rank, hit)| (hit.0, rank)).collect()
}

/// Share of the best mass below which mass makes no difference.
pub(super) const LEAST_MASS: f64 = 1e-5;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::graph::{ChunkRow, DocumentRow, GraphBuilder};
    use crate::types::{ChunkId, DocumentId, EntityId, Mention, MentionHow, Timestamp};

    /// A corpus of one chunk a document: its title's entity, if any, and what its text mentions.
    fn corpus(documents: &[(Option<i64>, &[i64])]) -> Graph {
        let entities = documents
            .iter()
            .flat_map(|(title, mentions)| title.iter().chain(mentions.iter()))
            .map(|&entity| EntityId(entity))
            .collect();
        let rows = (0..).zip(documents).map(|(id, document)| DocumentRow {
            id: DocumentId(id),
            title: document.0.map(EntityId),
        });
        let mut builder = GraphBuilder::new(1, entities, rows.collect());
        for (id, (_, mentions)) in (0..).zip(documents) {
            let mentions: Vec<Mention> = (0..)
                .zip(mentions.iter())
                .map(|(place, &entity)| Mention {
                    chunk: ChunkId(id),
                    start: 2 * place,
                    end: 2 * place + 1,
                    entity: EntityId(entity),
                    how: MentionHow::Name,
                })
                .collect();
            builder.chunk(&ChunkRow::new(ChunkId(id), DocumentId(id), 0, &mentions));
        }
        builder.build().0
    }

    fn ranked(
        graph: &Graph,
        names: &[Vec<u32>],
        keyword: &[(u32, f64)],
        admits: impl Fn(u32) -> bool,
    ) -> Option<GraphRanking> {
        rank(
            graph,
            &GraphIndex::new(graph),
            &Start {
                names,
                keyword,
                vector: &[],
                nearness: &|_| Vec::new(),
                synonyms: None,
            },
            admits,
            Moment::present(Timestamp(0)),
            &GraphRecipe::default(),
            None,
        )
    }

    /// Entity indices are the ids here: 0 a film, 1 its director, 2 a city, 3 an actor, 4 a country.
    fn films() -> Graph {
        corpus(&[
            (Some(0), &[1, 3, 4]),
            (Some(1), &[2, 4]),
            (Some(3), &[0, 4]),
            (None, &[4]),
            (Some(2), &[4]),
            (None, &[4, 4]),
        ])
    }

    fn order(ranking: &GraphRanking) -> Vec<u32> {
        ranking.hits.iter().map(|hit| hit.chunk).collect()
    }

    #[test]
    fn the_second_step_is_found_without_a_word_of_the_question() {
        let graph = films();
        // "When was the director of <film> born?": only the film's own chunk shares words with it.
        let ranking = ranked(&graph, &[vec![0]], &[(0, 9.0), (5, 2.0)], |_| true).unwrap();
        assert_eq!(ranking.entries, [(0, 1.0)]);
        assert_eq!(order(&ranking)[0], 0);
        let second_step = order(&ranking).iter().position(|&chunk| chunk == 1);
        assert!(second_step.unwrap() <= 2, "{ranking:?}");
        let director = ranking.hits.iter().find(|hit| hit.chunk == 1).unwrap();
        assert_eq!(director.connections[0], (1, Some(0)));
        let film = &ranking.hits[0];
        assert_eq!(film.connections[0], (0, None));
    }

    #[test]
    fn a_step_between_synonyms_reaches_what_nothing_else_joins() {
        let graph = corpus(&[(Some(0), &[2]), (Some(1), &[3]), (None, &[2]), (None, &[3])]);
        let pairs = [
            (EntityId(0), EntityId(1), 0.97),
            (EntityId(1), EntityId(0), 0.97),
        ];
        let synonyms = Synonyms::new(&graph, &pairs);
        let chunks = |synonyms: Option<&Synonyms>| {
            let names = [vec![0]];
            let start = Start {
                names: &names,
                keyword: &[],
                vector: &[],
                nearness: &|_| Vec::new(),
                synonyms,
            };
            let index = GraphIndex::new(&graph);
            let at = Moment::present(Timestamp(0));
            let recipe = GraphRecipe::default();
            let ranking = rank(&graph, &index, &start, |_| true, at, &recipe, None);
            order(&ranking.unwrap())
        };
        assert_eq!(chunks(None), [0, 2]);
        assert_eq!(chunks(Some(&synonyms))[..2], [0, 1]);
        // Far apart is no synonym, whatever is stored.
        let far = Synonyms::new(&graph, &[(EntityId(0), EntityId(1), 0.85)]);
        assert_eq!(chunks(Some(&far)), [0, 2]);
    }

    #[test]
    fn a_question_without_names_is_left_to_the_keyword_lane() {
        let graph = films();
        assert_eq!(ranked(&graph, &[], &[(0, 9.0)], |_| true), None);
        assert_eq!(ranked(&graph, &[vec![]], &[(0, 9.0)], |_| true), None);
        let empty = Graph::empty(1);
        assert_eq!(ranked(&empty, &[], &[], |_| true), None);
    }

    #[test]
    fn a_name_works_without_any_keyword_hit() {
        let ranking = ranked(&films(), &[vec![1]], &[], |_| true).unwrap();
        assert_eq!(order(&ranking)[0], 1);
    }

    #[test]
    fn only_admitted_chunks_are_ranked() {
        let keyword = [(0, 9.0), (3, 4.0), (5, 2.0)];
        let ranking = ranked(&films(), &[vec![0]], &keyword, |chunk| chunk % 2 == 1).unwrap();
        assert!(!ranking.hits.is_empty());
        assert!(ranking.hits.iter().all(|hit| hit.chunk % 2 == 1));
    }

    #[test]
    fn names_that_share_a_form_share_its_weight() {
        let ranking = ranked(&films(), &[vec![0, 3]], &[], |_| true).unwrap();
        let total: f64 = ranking.entries.iter().map(|entry| entry.1).sum();
        assert!((total - 1.0).abs() < 1e-12 && ranking.entries.len() == 2);
        // The country stands in every chunk: it hardly counts beside a film.
        let ranking = ranked(&films(), &[vec![0], vec![4]], &[], |_| true).unwrap();
        assert_eq!(ranking.entries[0].0, 0);
        assert!(ranking.entries[0].1 > 0.6, "{:?}", ranking.entries);
    }

    #[test]
    fn the_same_question_gets_the_same_answer_to_the_bit() {
        let graph = films();
        let once = ranked(&graph, &[vec![0], vec![2]], &[(4, 3.0), (1, 2.0)], |_| true);
        assert!(once.is_some());
        for _ in 0..3 {
            let again = ranked(&graph, &[vec![0], vec![2]], &[(4, 3.0), (1, 2.0)], |_| true);
            assert_eq!(again, once);
        }
    }
}
