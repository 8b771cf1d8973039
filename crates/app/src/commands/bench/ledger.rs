//! `malha bench ledger`

use std::fs::File;
use std::io::{BufWriter, Write};
use std::time::Instant;

use anyhow::ensure;
use malha_engine::{Engine, EngineConfig};
use malha_evaluation::Rng;
use serde_json::json;

use super::figures::Figures;
use super::process::{PeakMemory, cpu_s};

/// Further turns that are appended one by one.
const APPENDED: usize = 50;

#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Size of the transcript
    #[arg(long, default_value_t = 200, value_name = "N")]
    megabytes: u64,
}

pub(crate) fn run(args: &Args) -> anyhow::Result<Figures> {
    let folder = tempfile::tempdir()?;
    let path = folder.path().join("session.jsonl");
    let mut rng = Rng::new(1);
    let mut turns = 0;
    let mut written = 0;
    {
        let mut out = BufWriter::new(File::create(&path)?);
        while written < args.megabytes * 1_000_000 {
            written += write_turn(&mut out, turns, &mut rng)?;
            turns += 1;
        }
        out.flush()?;
    }
    let store = folder.path().join("malha.db");
    let engine = Engine::create(&store, EngineConfig::default())?;
    let memory = PeakMemory::start();
    let cpu_before = cpu_s();
    let start = Instant::now();
    let report = engine.ledger_ingest(&path)?;
    let elapsed = start.elapsed();
    ensure!(
        report.turns_added == turns,
        "{} of {turns} turns",
        report.turns_added
    );
    let mut figures = Figures::default();
    figures.count("megabytes", (written / 1_000_000) as usize);
    figures.count("turns", turns);
    let hundreds = written as f64 / 1e8;
    figures.push("ingest_s_per_100_mb", elapsed.as_secs_f64() / hundreds);
    let cpu = cpu_s()
        .zip(cpu_before)
        .map(|(after, before)| (after - before) / hundreds);
    figures.push_some("ingest_cpu_s_per_100_mb", cpu);
    figures.push_some("peak_mb", memory.peak_mb());

    let mut times = Vec::new();
    for _ in 0..APPENDED {
        let mut out = File::options().append(true).open(&path)?;
        write_turn(&mut out, turns, &mut rng)?;
        turns += 1;
        // As a hook does it: a store of its own.
        let start = Instant::now();
        let engine = Engine::open(&store, EngineConfig::default())?;
        let report = engine.ledger_ingest(&path)?;
        times.push(start.elapsed());
        ensure!(report.turns_added == 1, "{report:?}");
    }
    figures.latencies("append", &times);
    Ok(figures)
}

/// A question, three calls of tools with their output, and an answer; returns its bytes.
fn write_turn(out: &mut impl Write, turn: usize, rng: &mut Rng) -> anyhow::Result<u64> {
    let mut written = 0;
    let mut line = |kind: &str, second: usize, content: serde_json::Value| -> anyhow::Result<()> {
        let minute = turn % 60;
        let (hour, day) = (turn / 60 % 24, turn / 1440);
        let at = format!(
            "20{:02}-{:02}-{:02}T{hour:02}:{minute:02}:{second:02}Z",
            20 + day / 336,
            day / 28 % 12 + 1,
            day % 28 + 1
        );
        let line = json!({
            "type": kind, "sessionId": "bench", "cwd": "/work", "timestamp": at,
            "message": { "role": kind, "content": content },
        });
        let line = format!("{line}\n");
        written += line.len() as u64;
        Ok(out.write_all(line.as_bytes())?)
    };
    line(
        "user",
        0,
        json!(format!(
            "Question {turn}: why is the index of part {} slow?",
            turn % 97
        )),
    )?;
    for call in 0..3 {
        let file = format!("src/part_{}.rs", rng.below(400));
        let input = json!({ "file_path": file, "command": format!("cargo test part_{call}") });
        line(
            "assistant",
            1 + call * 2,
            json!([{ "type": "text", "text": "I look at the file." },
                   { "type": "tool_use", "name": "Edit", "input": input }]),
        )?;
        let output = "    let value = \"a line of some file\";\n".repeat(20 + rng.below(200));
        line(
            "user",
            2 + call * 2,
            json!([{ "type": "tool_result", "content": output }]),
        )?;
    }
    line(
        "assistant",
        9,
        json!([{ "type": "text", "text": "Done.\nWe decided to use one index instead of two." }]),
    )?;
    Ok(written)
}
