//! `malha bench cypher`

use std::time::{Duration, Instant};

use malha_engine::types::CypherRequest;
use serde_json::Value;

use super::figures::Figures;
use crate::commands::cypher::parameter;
use crate::config::Settings;
use crate::exit::{Exit, Refusal};

#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// A query in openCypher, asked of the store
    query: String,
    /// Ask once for each value of a list: $NAME is each of them in turn
    #[arg(long, value_name = "NAME=LIST", value_parser = parameter)]
    each: Option<(String, Value)>,
    /// Rounds that are measured, after one that warms up
    #[arg(long, default_value_t = 9, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    rounds: u32,
}

pub(crate) fn run(args: &Args, settings: &Settings) -> anyhow::Result<Figures> {
    let request = || CypherRequest {
        max_rows: u64::MAX,
        ..CypherRequest::new(&args.query)
    };
    let requests: Vec<CypherRequest> = match &args.each {
        None => vec![request()],
        Some((name, Value::Array(values))) if !values.is_empty() => {
            let requests = values.iter().map(|value| CypherRequest {
                parameters: [(name.clone(), value.clone())].into(),
                ..request()
            });
            requests.collect()
        }
        Some((name, _)) => {
            let message = format!("--each {name}: write a list, as in '{name}=[\"a\",\"b\"]'");
            return Err(Refusal::new(Exit::Usage, message).into());
        }
    };
    let engine = settings.with_schema(settings.open_read_only()?)?;
    let ask = || {
        let (mut time, mut rows) = (Duration::ZERO, 0);
        for request in &requests {
            let began = Instant::now();
            let answer = engine.cypher(request)?;
            time += began.elapsed();
            rows += answer.rows.len();
        }
        anyhow::Ok((time / requests.len() as u32, rows))
    };
    let (first, rows) = ask()?;
    let mut times = Vec::new();
    for _ in 0..args.rounds {
        times.push(ask()?.0);
    }
    times.sort();
    let ms = |time: Duration| time.as_secs_f64() * 1_000.0;
    let mut figures = Figures::default();
    figures.count("queries", requests.len());
    figures.count("rows", rows);
    figures.count("rounds", args.rounds as usize);
    figures.push_precise("query_first_round_ms", ms(first));
    figures.push_precise("query_median_ms", ms(times[times.len() / 2]));
    figures.push_precise("query_slowest_round_ms", ms(times[times.len() - 1]));
    Ok(figures)
}
