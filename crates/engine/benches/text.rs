//! Throughput of what every byte of a vault goes through before it is stored: language, words, terms, chunks.

use std::fmt::Write as _;

use divan::Bencher;
use divan::counter::BytesCount;
use malha_engine::chunking::{ChunkOptions, ChunkUnit, chunk};
use malha_engine::text::{Language, Tokenizer, detect_language, for_each_word, query_terms};
use malha_engine::types::{DocumentKind, Heading, ParsedDocument, TextOrigin};

fn main() {
    divan::main();
}

const NOTES: usize = 500;

/// Notes of about 2 kB: words of Zipf's frequencies, sentences, paragraphs, a heading now and then.
fn notes() -> Vec<ParsedDocument> {
    let mut state = 1_u64;
    let mut random = move |below: usize| {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as usize % below
    };
    let syllables = [
        "ra", "ti", "on", "men", "lo", "ca", "ver", "in", "de", "sur", "ing", "es", "pa", "ne",
    ];
    let words: Vec<String> = (0..30_000)
        .map(|_| {
            (0..=random(4))
                .map(|_| syllables[random(syllables.len())])
                .collect()
        })
        .collect();
    (0..NOTES)
        .map(|number| {
            let mut text = String::new();
            let mut headings = Vec::new();
            for section in 0..3 {
                let start = text.len();
                write!(text, "## Section {section} of {number}").expect("a string takes all");
                headings.push(Heading {
                    level: 2,
                    text: text[start + 3..].to_owned(),
                    start,
                    end: text.len(),
                });
                for _ in 0..2 {
                    text.push_str("\n\nThe");
                    for position in 0..45 {
                        let reach = words.len() >> random(14);
                        let end = if position % 15 == 14 { ". The" } else { "" };
                        write!(text, " {}{end}", words[random(reach.max(1))])
                            .expect("a string takes all");
                    }
                    text.push('.');
                }
                text.push_str("\n\n");
            }
            let title = format!("Note {number}");
            ParsedDocument {
                origin: TextOrigin::File,
                headings,
                ..ParsedDocument::extracted(DocumentKind::Markdown, title, text)
            }
        })
        .collect()
}

/// Runs `work` on every note of one set, once a round.
fn on_notes<T>(bencher: Bencher<'_, '_>, mut work: impl FnMut(&ParsedDocument) -> T) {
    let notes = notes();
    let bytes: usize = notes.iter().map(|note| note.text.len()).sum();
    bencher
        .counter(BytesCount::new(bytes))
        .bench_local(move || {
            for note in &notes {
                divan::black_box(work(note));
            }
        });
}

#[divan::bench]
fn language(bencher: Bencher<'_, '_>) {
    on_notes(bencher, |note| detect_language(&note.text));
}

#[divan::bench]
fn words(bencher: Bencher<'_, '_>) {
    on_notes(bencher, |note| {
        let mut letters = 0;
        for_each_word(&note.text, |word| letters += word.folded.len());
        letters
    });
}

#[divan::bench]
fn terms(bencher: Bencher<'_, '_>) {
    let mut tokenizer = Tokenizer::default();
    let mut out = String::new();
    on_notes(bencher, move |note| {
        out.clear();
        tokenizer.index_terms(&note.text, Language::English, &mut out);
        out.len()
    });
}

#[divan::bench(args = [ChunkUnit::Characters, ChunkUnit::Tokens])]
fn chunks(bencher: Bencher<'_, '_>, unit: ChunkUnit) {
    let (size, overlap) = match unit {
        ChunkUnit::Characters => (1_200, 200),
        ChunkUnit::Tokens => (300, 50),
    };
    let options = ChunkOptions::new(size, overlap, unit).expect("overlap is less than half");
    on_notes(bencher, |note| chunk(note, &options).len());
}

#[divan::bench]
fn question(bencher: Bencher<'_, '_>) {
    let languages = [Language::English, Language::Portuguese, Language::German];
    bencher.bench_local(|| {
        query_terms(
            "Which river flows through the town where the engineer of the old bridge was born?",
            divan::black_box(&languages),
        )
    });
}
