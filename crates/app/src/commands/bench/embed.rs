//! `malha bench embed`

use std::io::{BufWriter, Write};
use std::path::PathBuf;
use std::time::Instant;

use anyhow::Context;
use malha_engine::language_model::{Embedder, TextRole};
use malha_evaluation::Rng;
use malha_providers::local::LocalEmbedder;

use super::figures::Figures;
use super::process;
use crate::config::Settings;

#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The model; otherwise the configured one
    #[arg(long, value_name = "NAME")]
    model: Option<String>,
    /// Texts, one a line; otherwise made-up ones
    #[arg(long, value_name = "FILE")]
    texts: Option<PathBuf>,
    /// Write the vectors here, one JSON array a line
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
    /// Embed the texts as questions instead of passages
    #[arg(long)]
    as_queries: bool,
    /// Threads
    #[arg(long, value_name = "N")]
    threads: Option<usize>,
}

/// Made-up texts, and words of each.
const TEXTS: usize = 256;
const WORDS: usize = 120;
/// Questions whose latency is measured.
const QUESTIONS: usize = 100;

pub(crate) fn run(args: &Args, settings: &Settings) -> anyhow::Result<Figures> {
    if let Some(threads) = args.threads {
        rayon::ThreadPoolBuilder::new()
            .num_threads(threads)
            .build_global()?;
    }
    let texts = match &args.texts {
        Some(path) => std::fs::read_to_string(path)
            .with_context(|| path.display().to_string())?
            .lines()
            .map(str::to_owned)
            .collect(),
        None => made_up(),
    };
    let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
    let configured = settings.search_models.local_embedding_model();
    let name = args
        .model
        .as_deref()
        .or(configured)
        .context("the configured model is not a local one; name one with --model")?;
    let start = Instant::now();
    let embedder = LocalEmbedder::open(&settings.search_models.local.find(name)?)?;
    let load_s = start.elapsed().as_secs_f64();
    let role = if args.as_queries {
        TextRole::Query
    } else {
        TextRole::Passage
    };
    let (start, cpu_before) = (Instant::now(), process::cpu_s());
    let vectors = embedder.embed(&texts, role)?;
    let wall_s = start.elapsed().as_secs_f64();
    let cpu_s = process::cpu_s()
        .zip(cpu_before)
        .map(|(after, before)| after - before);
    let mut times = Vec::new();
    let cpu_before = process::cpu_s();
    for text in texts.iter().cycle().take(QUESTIONS) {
        let question: String = text.chars().take(60).collect();
        let start = Instant::now();
        embedder.embed(&[&question], TextRole::Query)?;
        times.push(start.elapsed());
    }
    let question_cpu_ms = process::cpu_s()
        .zip(cpu_before)
        .map(|(after, before)| (after - before) * 1000.0 / QUESTIONS as f64);
    if let Some(path) = &args.out {
        let mut out = BufWriter::new(std::fs::File::create(path)?);
        for vector in &vectors {
            writeln!(out, "{}", serde_json::to_string(vector)?)?;
        }
        out.flush()?;
    }
    let mut figures = Figures::default();
    figures.count("texts", texts.len());
    figures.count("dimensions", embedder.space().dimensions);
    figures.push("load_ms", load_s * 1000.0);
    figures.push("wall_s", wall_s);
    figures.push_some("cpu_s", cpu_s);
    figures.push("texts_per_s", texts.len() as f64 / wall_s);
    figures.push_some("texts_per_cpu_s", cpu_s.map(|cpu| texts.len() as f64 / cpu));
    figures.latencies("query", &times);
    figures.push_some("query_cpu_ms", question_cpu_ms);
    figures.push_some("peak_mb", process::peak_mb());
    Ok(figures)
}

/// Texts of pronounceable words, the same on every machine.
fn made_up() -> Vec<String> {
    const SYLLABLES: [&str; 12] = [
        "ma", "lha", "re", "de", "ti", "co", "ra", "nu", "pe", "so", "vi", "gua",
    ];
    let mut rng = Rng::new(7);
    (0..TEXTS)
        .map(|_| {
            let words: Vec<String> = (0..WORDS)
                .map(|_| {
                    (0..=1 + rng.below(2))
                        .map(|_| SYLLABLES[rng.below(SYLLABLES.len())])
                        .collect()
                })
                .collect();
            words.join(" ")
        })
        .collect()
}
