//! `malha eval all --data DIR`

use std::io::Write;
use std::path::{Path, PathBuf};

use clap::Parser;
use malha_evaluation::{Comparison, Figure};
use serde_json::{Map, Value};

use super::{figures, retrieval};
use crate::config::{ModeName, Settings};
use crate::exit::{Exit, Refusal};
use crate::ui::{Output, Table, stderr};

#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Folder of the data sets
    #[arg(long, value_name = "DIR")]
    data: PathBuf,
    /// Only sets whose name starts with one of these
    #[arg(long, value_delimiter = ',', value_name = "NAME,…")]
    only: Vec<String>,
    /// Recipes to compare; differences are to the first
    #[arg(
        long,
        value_enum,
        value_delimiter = ',',
        default_value = "keyword,graph,auto",
        value_name = "MODE"
    )]
    mode: Vec<ModeName>,
}

/// The public sets: a name, and the options of `malha eval retrieval` with paths below the data folder.
const SETS: &[(&str, &str)] = &[
    (
        "musique",
        "--corpus musique/corpus.jsonl.gz --queries musique/queries_dev.jsonl --by hops",
    ),
    (
        "musique, published part",
        "--corpus musique/corpus.jsonl.gz --queries musique/queries_dev.jsonl --include-ids musique/subcorpus.json \
         --exclude src=migres_dev200 --exclude src=ugai_train200",
    ),
    (
        "2wiki",
        "--corpus 2wiki/corpus.jsonl.gz 2wiki/corpus_extra.jsonl.gz --queries 2wiki/queries_dev.jsonl --by src",
    ),
    (
        "2wiki, published part",
        "--corpus 2wiki/corpus.jsonl.gz --queries 2wiki/queries_dev.jsonl --exclude src=migres_dev200",
    ),
    (
        "hotpotqa",
        "--corpus hotpotqa/corpus.jsonl.gz --queries hotpotqa/queries_dev.jsonl --by type",
    ),
    (
        "locomo",
        "--corpus locomo/turns.jsonl.gz --queries locomo/queries_dev.jsonl --scope-field conv --k 2,5,10,20 \
         --exclude category=adversarial --by category",
    ),
    (
        "zh_cmrc2018",
        "--corpus zh_cmrc2018/corpus.jsonl.gz --queries zh_cmrc2018/queries_dev.jsonl",
    ),
    (
        "zh_netoperator",
        "--corpus zh_netoperator/docs.jsonl.gz --queries zh_netoperator/queries_dev.jsonl --gold-field gold_docs",
    ),
    (
        "zh_rgb single",
        "--corpus zh_rgb/corpus.jsonl.gz --queries zh_rgb/queries_dev.jsonl --exclude type=integration",
    ),
    (
        "zh_rgb integration",
        "--corpus zh_rgb/corpus.jsonl.gz --queries zh_rgb/queries_dev.jsonl --exclude type=single",
    ),
    (
        "pt_faquad",
        "--corpus pt_faquad/corpus.jsonl.gz --queries pt_faquad/queries_dev.jsonl",
    ),
    (
        "pt_pira pt-pt",
        "--corpus pt_pira/corpus.jsonl.gz --queries pt_pira/queries_dev.jsonl --text-field text_pt \
         --query-field question_pt",
    ),
    (
        "pt_pira en-en",
        "--corpus pt_pira/corpus.jsonl.gz --queries pt_pira/queries_dev.jsonl --text-field text_en \
         --query-field question_en",
    ),
    (
        "pt_pira pt-en",
        "--corpus pt_pira/corpus.jsonl.gz --queries pt_pira/queries_dev.jsonl --text-field text_en \
         --query-field question_pt",
    ),
    (
        "xquad en",
        "--corpus xquad/corpus_en.jsonl.gz --queries xquad/queries_dev_en.jsonl.gz",
    ),
    (
        "xquad zh",
        "--corpus xquad/corpus_zh.jsonl.gz --queries xquad/queries_dev_zh.jsonl.gz",
    ),
    (
        "xquad es",
        "--corpus xquad/corpus_es.jsonl.gz --queries xquad/queries_dev_es.jsonl.gz",
    ),
    (
        "xquad de",
        "--corpus xquad/corpus_de.jsonl.gz --queries xquad/queries_dev_de.jsonl.gz",
    ),
    (
        "xquad zh-en",
        "--corpus xquad/corpus_en.jsonl.gz --queries xquad/queries_dev_zh.jsonl.gz",
    ),
];

/// The options of one set as `malha eval retrieval` reads them.
#[derive(Debug, Parser)]
#[command(no_binary_name = true)]
struct SetOptions {
    #[command(flatten)]
    args: retrieval::Args,
}

pub(crate) fn run(args: &Args, settings: &Settings) -> anyhow::Result<Exit> {
    let wanted = |name: &str| {
        args.only.is_empty()
            || args
                .only
                .iter()
                .any(|start| name.starts_with(start.as_str()))
    };
    let sets: Vec<_> = SETS.iter().filter(|(name, _)| wanted(name)).collect();
    if sets.is_empty() {
        let names: Vec<_> = SETS.iter().map(|(name, _)| *name).collect();
        let refusal = Refusal::new(Exit::Usage, "no set of that name");
        return Err(refusal
            .hint(format!("the sets: {}", names.join(", ")))
            .into());
    }
    let mut exit = Exit::Success;
    let mut object = Map::new();
    let mut table = Table::new(&[
        "set",
        ">n",
        "mode",
        ">R@2",
        ">R@5",
        "95 %",
        ">R@10",
        ">all@5",
        ">hit@5",
        ">halves R@5",
        ">R@5 −",
        "95 %",
    ]);
    for (name, options) in sets {
        let set = set_args(options, &args.data, &args.mode);
        if let Some(missing) = set
            .corpus
            .iter()
            .chain([&set.queries])
            .find(|path| !path.is_file())
        {
            stderr::warning(
                settings.verbosity,
                &format!("{name} left out: no {}", missing.display()),
            );
            exit = Exit::Partial;
            continue;
        }
        stderr::note(settings.verbosity, &format!("{name}: {options}"));
        let outcome = retrieval::evaluate(&set, settings)?;
        outcome.report(settings);
        if outcome.exit() != Exit::Success {
            exit = outcome.exit();
        }
        if settings.json {
            object.insert(
                (*name).to_owned(),
                figures::json(&outcome.comparison).into(),
            );
        } else {
            rows(&mut table, name, &outcome.comparison);
        }
    }
    let mut out = Output::new();
    if settings.json {
        out.json(&Value::Object(object))?;
    } else {
        table.write(&mut out)?;
    }
    out.flush()?;
    Ok(exit)
}

/// The options of the set of this name.
pub(super) fn set_named(name: &str, data: &Path) -> Option<retrieval::Args> {
    let (_, options) = SETS.iter().find(|set| set.0 == name)?;
    Some(set_args(options, data, &[ModeName::Auto]))
}

fn set_args(options: &str, data: &Path, modes: &[ModeName]) -> retrieval::Args {
    let words = options.split_whitespace().chain(["--mode", "auto"]);
    let mut args = SetOptions::try_parse_from(words)
        .expect("the options of every set are read by a test")
        .args;
    args.mode = modes.to_vec();
    args.below(data);
    args
}

fn rows(table: &mut Table, name: &str, comparison: &Comparison) {
    let at =
        |metric: &str, figures: &[Figure]| comparison.metric(metric).map(|column| figures[column]);
    let shown =
        |figure: Option<Figure>| figure.map_or_else(String::new, |f| format!("{:.1}", f.value));
    let between = |figure: Option<Figure>| {
        figure.map_or_else(String::new, |f| {
            format!("[{:.1}, {:.1}]", f.interval.low, f.interval.high)
        })
    };
    for (m, mode) in comparison.modes.iter().enumerate() {
        let figures = &comparison.all.modes[m];
        let halves = comparison
            .halves
            .each_ref()
            .map(|half| shown(at("recall@5", &half.modes[m])));
        let difference = at("recall@5", &comparison.all.differences[m]).filter(|_| m > 0);
        table.row([
            name.to_owned(),
            comparison.all.n.to_string(),
            mode.clone(),
            shown(at("recall@2", figures)),
            shown(at("recall@5", figures)),
            between(at("recall@5", figures)),
            shown(at("recall@10", figures)),
            shown(at("all@5", figures)),
            shown(at("hit@5", figures)),
            halves.join(" / "),
            difference.map_or_else(String::new, |f| format!("{:+.1}", f.value)),
            between(difference),
        ]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_options_of_every_set_are_read() {
        for (name, options) in SETS {
            let args = set_args(
                options,
                Path::new("data"),
                &[ModeName::Keyword, ModeName::Graph],
            );
            assert!(args.queries.starts_with("data"), "{name}");
        }
    }
}
