//! `malha eval train --data DIR`

use std::io::Write;
use std::path::PathBuf;

use malha_evaluation::{Boosting, Comparison, Figure, JudgedSet, Metrics, RunLog, train_without};
use serde_json::{Value, json};

use super::retrieval::{self, BOOTSTRAP_SEED, VectorOptions};
use super::{all, figures};
use crate::config::Settings;
use crate::exit::{Exit, Refusal};
use crate::ui::{Output, Table, stderr};

#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Folder of the data sets
    #[arg(long, value_name = "DIR")]
    data: PathBuf,
    /// Sets to train on; each is also judged by a ranker of the others
    #[arg(
        long,
        value_delimiter = ',',
        value_name = "NAME,…",
        default_value = "musique,2wiki,hotpotqa"
    )]
    sets: Vec<String>,
    #[command(flatten)]
    vectors: VectorOptions,
    /// Write the weights of a ranker of all the sets here
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
}

/// Sets whose licence does not allow weights made from them to be shipped.
const NOT_TO_LEARN_FROM: [&str; 2] = ["locomo", "zh_rgb"];
const CUT_OFFS: [usize; 3] = [2, 5, 10];

pub(crate) fn run(args: &Args, settings: &Settings) -> anyhow::Result<Exit> {
    let mut sets = Vec::new();
    let embedder = args.vectors.embedder(settings)?;
    for name in &args.sets {
        if NOT_TO_LEARN_FROM.iter().any(|set| name.starts_with(set)) {
            let message = format!("{name} may not be trained on: its licence is non-commercial");
            return Err(Refusal::new(Exit::Usage, message).into());
        }
        let Some(options) = all::set_named(name, &args.data) else {
            let message = format!("no set is called {name}");
            return Err(Refusal::new(Exit::Usage, message)
                .hint("`malha eval all` lists the sets")
                .into());
        };
        let (passages, set, _) = retrieval::read_set(&options)?;
        stderr::note(
            settings.verbosity,
            &format!("{name}: {} questions", set.questions.len()),
        );
        let mut log = RunLog::default();
        sets.push(JudgedSet::gather(
            name,
            &passages,
            set.questions,
            &settings.engine,
            embedder.as_ref(),
            &mut log,
        )?);
    }
    let boosting = Boosting::default();
    let of_all = train_without(&sets, None, &boosting);
    let mut out = Output::new();
    let mut rows = Vec::new();
    let mut table = Table::new(&[
        "set",
        ">n",
        "order",
        "trained on",
        ">R@2",
        ">R@5",
        "95 %",
        ">R@10",
        ">R@5 −",
        "95 %",
    ]);
    for set in &sets {
        let unseen = train_without(&sets, Some(&set.name), &boosting);
        for (ranker, in_sample) in [(&unseen, false), (&of_all, true)] {
            let metrics = Metrics::new(&CUT_OFFS, &set.questions);
            let runs = set.runs(ranker);
            let comparison = Comparison::new(&metrics, &set.questions, &runs, BOOTSTRAP_SEED);
            let trained_on = if in_sample {
                "all (in sample)".to_owned()
            } else {
                ranker.trained_on.join(", ")
            };
            show(&mut table, &set.name, &comparison, &trained_on, in_sample);
            rows.push(json!({
                "set": set.name,
                "in_sample": in_sample,
                "trained_on": ranker.trained_on,
                "figures": figures::json(&comparison),
            }));
        }
    }
    if settings.json {
        out.json(&Value::Array(rows))?;
    } else {
        table.write(&mut out)?;
    }
    out.flush()?;
    if let Some(path) = &args.out {
        let mut json = serde_json::to_string(&of_all)?;
        json.push('\n');
        std::fs::write(path, json)?;
    }
    Ok(Exit::Success)
}

/// The order of the lanes once, then each ranker.
fn show(table: &mut Table, name: &str, comparison: &Comparison, trained_on: &str, in_sample: bool) {
    let at = |metric: &str, row: &[Figure]| comparison.metric(metric).map(|column| row[column]);
    let value =
        |figure: Option<Figure>| figure.map_or_else(String::new, |f| format!("{:.1}", f.value));
    let between = |figure: Option<Figure>| {
        figure.map_or_else(String::new, |f| {
            format!("[{:+.1}, {:+.1}]", f.interval.low, f.interval.high)
        })
    };
    for (m, mode) in comparison.modes.iter().enumerate() {
        if m == 0 && in_sample {
            continue;
        }
        let row = &comparison.all.modes[m];
        let difference = at("recall@5", &comparison.all.differences[m]).filter(|_| m > 0);
        table.row([
            name.to_owned(),
            comparison.all.n.to_string(),
            mode.clone(),
            if m == 0 {
                String::new()
            } else {
                trained_on.to_owned()
            },
            value(at("recall@2", row)),
            value(at("recall@5", row)),
            between(at("recall@5", row)),
            value(at("recall@10", row)),
            difference.map_or_else(String::new, |f| format!("{:+.1}", f.value)),
            between(difference),
        ]);
    }
}
