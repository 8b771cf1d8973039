//! Indexing and searching a made-up vault of 1,000 notes in a store in memory.

use std::sync::LazyLock;

use divan::{Bencher, black_box};
use malha_engine::types::{Mode, SearchRequest};
use malha_engine::{DocumentInput, Engine, EngineConfig};
use malha_evaluation::generate::{Vault, VaultSpec};

fn main() {
    divan::main();
}

const NOTES: usize = 1_000;

static VAULT: LazyLock<Vault> = LazyLock::new(|| Vault::new(VaultSpec::new(NOTES)));
static DOCUMENTS: LazyLock<Vec<DocumentInput>> = LazyLock::new(documents);

fn documents() -> Vec<DocumentInput> {
    (0..NOTES)
        .map(|n| {
            let note = VAULT.note(n);
            DocumentInput {
                uri: note.path,
                title: note.title,
                text: note.text,
            }
        })
        .collect()
}

fn engine() -> Engine {
    Engine::in_memory(EngineConfig::default()).expect("a store in memory opens")
}

fn indexed(documents: &[DocumentInput]) -> Engine {
    let engine = engine();
    engine
        .index_documents("", documents, &())
        .expect("made-up notes can be read");
    engine
}

#[divan::bench(sample_count = 5, sample_size = 1)]
fn index(bencher: Bencher<'_, '_>) {
    bencher
        .counter(divan::counter::ItemsCount::new(NOTES))
        .bench_local(|| indexed(black_box(&DOCUMENTS)));
}

#[divan::bench(sample_count = 20, sample_size = 1)]
fn index_again_after_one_edit(bencher: Bencher<'_, '_>) {
    let engine = indexed(&DOCUMENTS);
    let mut documents = DOCUMENTS.clone();
    bencher.bench_local(|| {
        documents[17]
            .text
            .push_str("One more sentence about the harbour. ");
        engine
            .index_documents("", &documents, &())
            .expect("made-up notes can be read")
    });
}

#[divan::bench(args = ["keyword", "graph", "notes"])]
fn search(bencher: Bencher<'_, '_>, mode: &str) {
    let engine = indexed(&DOCUMENTS);
    let mode = Mode::parse(mode).expect("the bench names modes");
    let questions: Vec<String> = (0..NOTES).step_by(11).map(|n| VAULT.question(n)).collect();
    let mut next = 0;
    bencher.bench_local(|| {
        next = (next + 1) % questions.len();
        let request = SearchRequest {
            mode,
            ..SearchRequest::new(questions[next].as_str())
        };
        engine.search(&request).expect("a question can be asked")
    });
}
