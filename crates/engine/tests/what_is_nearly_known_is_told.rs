//! Near-duplicates at write time: found by name, by words and by vectors; what is the same gains evidence.

use std::sync::Arc;

use malha_engine::language_model::{Embedder, EmbeddingSpace, ModelError, TextRole};
use malha_engine::types::{
    ConflictPolicy, GivenFact, Memory, MemoryReport, NearBy, NeighborRequest,
};
use malha_engine::{Engine, EngineConfig};

/// Words of one meaning give one vector.
struct Meanings(EmbeddingSpace);

const MEANINGS: [&[&str]; 3] = [
    &["car", "automobile"],
    &["red", "crimson"],
    &["ship", "vessel"],
];

impl Embedder for Meanings {
    fn space(&self) -> &EmbeddingSpace {
        &self.0
    }

    fn embed(&self, texts: &[&str], _: TextRole) -> Result<Vec<Vec<f32>>, ModelError> {
        let vector = |text: &&str| {
            let text = text.to_lowercase();
            let counts = MEANINGS.iter().map(|words| {
                let found = words.iter().filter(|word| text.contains(**word)).count();
                found as f32 + 0.01
            });
            counts.collect()
        };
        Ok(texts.iter().map(vector).collect())
    }
}

fn fact(relation: &str, sentence: Option<&str>) -> Memory {
    Memory {
        relations: vec![GivenFact {
            source: "BillingAPI".to_owned(),
            relation: relation.to_owned(),
            target: "DatabaseCluster".to_owned(),
            fact: sentence.map(str::to_owned),
            ..GivenFact::default()
        }],
        ..Memory::default()
    }
}

fn text(text: &str) -> Memory {
    Memory {
        text: text.to_owned(),
        speaker: Some("Ana".to_owned()),
        ..Memory::default()
    }
}

fn remember(engine: &Engine, memory: Memory) -> MemoryReport {
    let report = engine.remember(&[memory], ConflictPolicy::Close).unwrap();
    assert!(report.failed.is_empty(), "{report:?}");
    report
}

fn ties(engine: &Engine) -> Vec<(String, f64)> {
    let around = engine
        .neighbors(&NeighborRequest::new("BillingAPI"))
        .unwrap();
    let ties = around.relations.into_iter();
    ties.map(|tie| (tie.relation_type, tie.weight)).collect()
}

#[test]
fn the_same_fact_spelled_otherwise_gains_evidence() {
    let engine = Engine::in_memory(EngineConfig::default()).unwrap();
    remember(&engine, fact("stores in", None));
    for spelled in ["stores_in", "Stores-In", "STORES IN"] {
        let report = remember(&engine, fact(spelled, None));
        assert_eq!(
            (report.relations_added, report.relations_repeated),
            (0, 1),
            "{spelled}"
        );
    }
    assert_eq!(ties(&engine), [("stores in".to_owned(), 4.0)]);
    // Another relation of the same two is another fact; one that comes near is told.
    let other = remember(&engine, fact("reads from", None));
    assert!(other.near.is_empty(), "{other:?}");
    let near = remember(&engine, fact("stores data in", None));
    assert_eq!(near.relations_added, 1);
    assert_eq!(
        (near.near.len(), near.near[0].by),
        (1, NearBy::Name),
        "{near:?}"
    );
    assert_eq!(near.near[0].uri, "memory/default/000001");
    remember(
        &engine,
        fact(
            "keeps",
            Some("The billing API keeps invoices in the cluster"),
        ),
    );
    let said = remember(
        &engine,
        fact(
            "holds",
            Some("The billing API keeps its invoices in the cluster"),
        ),
    );
    assert_eq!(said.near[0].by, NearBy::Text, "{said:?}");
    assert!(engine.verify().unwrap().violations.is_empty());
}

#[test]
fn texts_are_near_by_their_words_or_by_their_vectors() {
    let engine = Engine::in_memory(EngineConfig::default())
        .unwrap()
        .with_embedder(Box::new(|| {
            Ok(Arc::new(Meanings(EmbeddingSpace {
                model: "meanings".to_owned(),
                dimensions: 3,
                query_prefix: String::new(),
                passage_prefix: String::new(),
                pooling: "mean".to_owned(),
                is_normalized: false,
            })))
        }));
    let first = remember(
        &engine,
        text("The deploy window of the red car moved to Thursday"),
    );
    assert!(first.near.is_empty());
    let again = remember(
        &engine,
        text("The deploy window of the red car moved to a Thursday"),
    );
    assert_eq!(
        (again.near.len(), again.near[0].by),
        (1, NearBy::Text),
        "{again:?}"
    );
    assert_eq!(again.episodes.len(), 1, "it is stored all the same");
    // Without vectors nobody sees it.
    let blind = remember(
        &engine,
        text("My crimson automobile is being shipped by no vessel"),
    );
    assert!(blind.near.is_empty(), "{blind:?}");
    engine.embed(&()).unwrap();
    let seen = remember(
        &engine,
        text("Somebody drove a crimson automobile there yesterday"),
    );
    assert!(
        seen.near.iter().any(|near| near.by == NearBy::Vector),
        "{seen:?}"
    );
    let other = remember(&engine, text("A ship went out to sea at dawn"));
    assert!(other.near.is_empty(), "{other:?}");
    // A yes is no duplicate of another.
    remember(&engine, text("Yes, please."));
    assert!(remember(&engine, text("Yes, please.")).near.is_empty());
}
