//! `malha bench vectors`

use std::io::Write;
use std::path::PathBuf;
use std::time::Instant;

use malha_engine::vectors::VectorIndex;
use malha_evaluation::Rng;

use super::figures::Figures;
use super::process;

#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Vectors
    #[arg(long, default_value_t = 100_000, value_name = "N")]
    vectors: usize,
    /// Dimensions of each
    #[arg(long, default_value_t = 384, value_name = "N")]
    dimensions: usize,
    /// Questions
    #[arg(long, default_value_t = 200, value_name = "N")]
    questions: usize,
    /// Write vectors and questions to DIR, so that other programs can search the same ones
    #[arg(long, value_name = "DIR")]
    write: Option<PathBuf>,
    /// Search through a graph of neighbours, whatever the number of vectors
    #[cfg(feature = "hnsw")]
    #[arg(long)]
    neighbours: bool,
}

#[cfg(feature = "hnsw")]
fn index(args: &Args, index: VectorIndex) -> std::io::Result<VectorIndex> {
    if args.neighbours {
        index.with_neighbours()
    } else {
        Ok(index)
    }
}

#[cfg(not(feature = "hnsw"))]
#[expect(clippy::unnecessary_wraps, reason = "with the feature it may fail")]
const fn index(_: &Args, index: VectorIndex) -> std::io::Result<VectorIndex> {
    Ok(index)
}

#[cfg(feature = "hnsw")]
fn neighbours_mb(index: &VectorIndex) -> f64 {
    index.neighbours_bytes() as f64 / 1e6
}

#[cfg(not(feature = "hnsw"))]
const fn neighbours_mb(_: &VectorIndex) -> f64 {
    0.0
}

/// Themes that vectors gather around, as those of real texts do.
const THEMES: usize = 1000;
const NEAREST: usize = 10;

pub(crate) fn run(args: &Args) -> anyhow::Result<Figures> {
    let mut rng = Rng::new(3);
    let themes: Vec<Vec<f32>> = (0..THEMES)
        .map(|_| random(&mut rng, args.dimensions))
        .collect();
    let mut near = |spread: f32| {
        let theme = &themes[rng.below(THEMES)];
        let mut vector = random(&mut rng, args.dimensions);
        for (value, theme) in vector.iter_mut().zip(theme) {
            *value = theme + spread * *value;
        }
        normalise(&mut vector);
        vector
    };
    let vectors: Vec<Vec<f32>> = (0..args.vectors).map(|_| near(1.0)).collect();
    let questions: Vec<Vec<f32>> = (0..args.questions).map(|_| near(1.0)).collect();
    if let Some(folder) = &args.write {
        for (name, rows) in [("vectors.f32", &vectors), ("questions.f32", &questions)] {
            let mut out = std::io::BufWriter::new(std::fs::File::create(folder.join(name))?);
            for value in rows.iter().flatten() {
                out.write_all(&value.to_le_bytes())?;
            }
            out.flush()?;
        }
    }
    let start = Instant::now();
    let codes = VectorIndex::new(args.dimensions, (0..).zip(vectors.iter().cloned()));
    let index = index(args, codes)?;
    let build_s = start.elapsed().as_secs_f64();
    let mut times = Vec::new();
    let mut found = 0;
    let cpu_before = process::cpu_s();
    let mut all_hits = Vec::new();
    for question in &questions {
        let start = Instant::now();
        let hits = index.search(question, NEAREST, |_| true)?;
        times.push(start.elapsed());
        all_hits.push(hits);
    }
    let cpu_ms = process::cpu_s()
        .zip(cpu_before)
        .map(|(after, before)| (after - before) * 1000.0 / args.questions.max(1) as f64);
    for (question, hits) in questions.iter().zip(all_hits) {
        let mut exact: Vec<(f32, i64)> = vectors
            .iter()
            .zip(0..)
            .map(|(vector, owner)| (vector.iter().zip(question).map(|(a, b)| a * b).sum(), owner))
            .collect();
        exact.sort_by(|a, b| b.0.total_cmp(&a.0));
        exact.truncate(NEAREST);
        found += hits
            .iter()
            .filter(|hit| exact.iter().any(|&(_, owner)| owner == hit.owner))
            .count();
    }
    let wanted = NEAREST.min(args.vectors) * args.questions;
    let mut figures = Figures::default();
    figures.count("vectors", args.vectors);
    figures.count("dimensions", args.dimensions);
    figures.push("build_s", build_s);
    figures.push("recall_at_10", found as f64 / wanted.max(1) as f64);
    figures.latencies("search", &times);
    figures.push_some("search_cpu_ms", cpu_ms);
    figures.push("code_mb", index.code_bytes() as f64 / 1e6);
    figures.push("neighbours_mb", neighbours_mb(&index));
    Ok(figures)
}

/// Each number the sum of four uniform ones: close enough to a normal distribution.
fn random(rng: &mut Rng, dimensions: usize) -> Vec<f32> {
    const STEPS: usize = 1 << 16;
    let mut vector: Vec<f32> = (0..dimensions)
        .map(|_| {
            let sum: f32 = (0..4).map(|_| rng.below(STEPS) as f32 / STEPS as f32).sum();
            sum - 2.0
        })
        .collect();
    normalise(&mut vector);
    vector
}

fn normalise(vector: &mut [f32]) {
    let length = vector.iter().map(|value| value * value).sum::<f32>().sqrt();
    for value in vector {
        *value /= length;
    }
}
