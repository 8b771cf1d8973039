//! `malha eval retrieval --corpus FILE… --queries FILE --mode M[,M…]`

use std::fmt::Write as _;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use malha_engine::language_model::Embedder;
use malha_engine::ranker::Rankers;
use malha_engine::types::Mode;
use malha_evaluation::{
    BrokenRow, CachedEmbedder, Comparison, Exclusion, Metrics, ModeRun, Passage, PassageFields,
    Question, QuestionFields, QuestionSet, RunLog, Variant, read_ids, read_passages,
    read_questions, restrict, run_modes, write_predictions,
};
use serde_json::{Map, Value, json};

use super::figures::{self, parse_cut_offs};
use crate::config::{ModeName, Settings};
use crate::exit::Exit;
use crate::ui::{Output, count, stderr};

/// Seed of the bootstrap: the same figures on every run.
pub(super) const BOOTSTRAP_SEED: u64 = 1;

#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Files of passages: JSONL, plain or gzip, rows {id, title?, text}
    #[arg(long, value_name = "FILE", required = true, num_args = 1..)]
    pub(super) corpus: Vec<PathBuf>,
    /// File of questions: JSONL, plain or gzip, rows {qid, question, gold}
    #[arg(long, value_name = "FILE")]
    pub(super) queries: PathBuf,
    /// Recipes to compare; differences are to the first
    #[arg(
        long,
        value_enum,
        value_delimiter = ',',
        required = true,
        value_name = "MODE"
    )]
    pub(super) mode: Vec<ModeName>,
    /// Cut-offs
    #[arg(long, default_value = "2,5,10", value_name = "K,…", value_parser = CutOffs::parse)]
    k: CutOffs,
    /// Field of a passage that holds its text
    #[arg(long, default_value = "text", value_name = "FIELD")]
    text_field: String,
    /// Field of a question row that holds the question
    #[arg(long, default_value = "question", value_name = "FIELD")]
    query_field: String,
    /// Field of a question row that lists the ids of the right passages
    #[arg(long, default_value = "gold", value_name = "FIELD")]
    gold_field: String,
    /// Field of both: a question only searches the passages with its own value of it
    #[arg(long, value_name = "FIELD")]
    scope_field: Option<String>,
    /// Only the passages and questions whose ids are in this file (one a line, or JSON; m0..m99 is a range)
    #[arg(long, value_name = "FILE")]
    include_ids: Option<PathBuf>,
    /// Leave out questions with this value of a field; repeatable
    #[arg(long, value_name = "FIELD=VALUE")]
    exclude: Vec<Exclusion>,
    /// Entities and triples by passage id that another program found (see `malha import --format openie`)
    #[arg(long, value_name = "FILE")]
    openie: Option<PathBuf>,
    /// Show the questions of each value of this field apart
    #[arg(long, value_name = "FIELD")]
    by: Option<String>,
    /// Compare each recipe with itself without one of its parts as well
    #[arg(long)]
    ablate: bool,
    #[command(flatten)]
    vectors: VectorOptions,
    /// Write the first mode's ranking here, and that of a further mode M beside it as NAME.M.jsonl
    #[arg(long, value_name = "PRED.jsonl")]
    out: Option<PathBuf>,
}

/// A list of cut-offs; a type of its own, so that clap takes it as one value.
#[derive(Debug, Clone)]
pub(super) struct CutOffs(pub(super) Vec<usize>);

impl CutOffs {
    pub(super) fn parse(written: &str) -> Result<Self, String> {
        parse_cut_offs(written).map(Self)
    }
}

/// Where the vectors of an evaluation come from.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, clap::ValueEnum)]
pub(super) enum EmbedderName {
    #[default]
    None,
    /// The model of `[embedding]`
    #[value(alias = "local")]
    Configured,
}

/// Whether an evaluation has vectors.
#[derive(Debug, clap::Args)]
pub(super) struct VectorOptions {
    /// Give the passages vectors of the configured model (`configured`), or none
    #[arg(long, value_enum, default_value_t, value_name = "WHICH")]
    embedder: EmbedderName,
    /// Keep the vectors in this file, for the next run
    #[arg(long, value_name = "FILE")]
    vector_cache: Option<PathBuf>,
}

impl VectorOptions {
    pub(super) fn embedder(
        &self,
        settings: &Settings,
    ) -> malha_evaluation::Result<Option<Arc<dyn Embedder>>> {
        if self.embedder == EmbedderName::None {
            return Ok(None);
        }
        let model = settings.search_models.embedder()().map_err(malha_engine::Error::from)?;
        Ok(Some(match &self.vector_cache {
            Some(path) => Arc::new(CachedEmbedder::open(model, path)?),
            None => model,
        }))
    }
}

impl Args {
    /// Makes relative paths start at `folder`.
    pub(super) fn below(&mut self, folder: &Path) {
        let paths = self.corpus.iter_mut().chain([&mut self.queries]);
        for path in paths.chain(&mut self.include_ids).chain(&mut self.openie) {
            *path = folder.join(&*path);
        }
    }
}

/// What an evaluation gave.
pub(super) struct Outcome {
    pub(super) comparison: Comparison,
    passages: usize,
    set: QuestionSet,
    broken: Vec<BrokenRow>,
    runs: Vec<ModeRun>,
    log: RunLog,
}

/// What an evaluation reads: passages, questions, and the rows that could not be used.
pub(super) fn read_set(
    args: &Args,
) -> malha_evaluation::Result<(Vec<Passage>, QuestionSet, Vec<BrokenRow>)> {
    let (mut passages, mut broken) = read_passages(
        &args.corpus,
        &PassageFields {
            text: args.text_field.clone(),
            scope: args.scope_field.clone(),
        },
    )?;
    let mut set = read_questions(
        &args.queries,
        &QuestionFields {
            query: args.query_field.clone(),
            gold: args.gold_field.clone(),
            scope: args.scope_field.clone(),
            by: args.by.clone(),
            exclude: args.exclude.clone(),
        },
    )?;
    broken.append(&mut set.broken);
    if let Some(path) = &args.include_ids {
        restrict(&read_ids(path)?, &mut passages, &mut set.questions)?;
    }
    Ok((passages, set, broken))
}

/// Indexes the corpus, asks the questions, scores the answers.
pub(super) fn evaluate(args: &Args, settings: &Settings) -> malha_evaluation::Result<Outcome> {
    let (passages, set, broken) = read_set(args)?;
    let questions = &set.questions;
    let metrics = Metrics::new(&args.k.0, questions);
    let variants = variants(&args.mode, args.ablate);
    let (runs, log) = run_modes(
        &passages,
        questions,
        &variants,
        metrics.depth(),
        &settings.engine,
        args.vectors.embedder(settings)?.as_ref(),
        args.openie.as_deref(),
    )?;
    if let Some(path) = &args.out {
        write_runs(path, questions, &runs)?;
    }
    Ok(Outcome {
        comparison: Comparison::new(&metrics, questions, &runs, BOOTSTRAP_SEED),
        passages: passages.len(),
        set,
        broken,
        runs,
        log,
    })
}

pub(crate) fn run(args: &Args, settings: &Settings) -> anyhow::Result<Exit> {
    let outcome = evaluate(args, settings)?;
    let Outcome { runs, set, log, .. } = &outcome;
    let without_result = runs
        .iter()
        .map(|run| run.ranked.iter().filter(|ranked| ranked.is_empty()).count());

    let mut out = Output::new();
    if settings.json {
        let mut object = figures::json(&outcome.comparison);
        let without_result: Map<String, Value> = runs
            .iter()
            .map(|run| run.mode.clone())
            .zip(without_result.map(Into::into))
            .collect();
        object.extend([
            ("passages".to_owned(), json!(outcome.passages)),
            ("chunks".to_owned(), json!(log.chunks)),
            ("no_gold".to_owned(), json!(set.no_gold)),
            ("excluded".to_owned(), json!(set.excluded)),
            ("no_prediction".to_owned(), without_result.into()),
            ("broken_rows".to_owned(), json!(outcome.broken)),
            ("refused_passages".to_owned(), json!(log.refused)),
        ]);
        if settings.engine.use_ranker {
            object.insert("in_sample".to_owned(), json!(is_in_sample(&args.corpus)));
        }
        out.json(&object)?;
    } else {
        figures::write(&mut out, &outcome.comparison, &args.k.0)?;
        for (run, n) in runs.iter().zip(without_result) {
            if n > 0 {
                let questions = count(n as u64, "question", "questions");
                writeln!(out, "{}: {questions} without a result (scored 0)", run.mode)?;
            }
        }
        if set.no_gold + set.excluded > 0 {
            writeln!(
                out,
                "left out: {} without gold, {} excluded",
                set.no_gold, set.excluded
            )?;
        }
    }
    out.flush()?;
    outcome.report(settings);
    Ok(outcome.exit())
}

/// Whether the learned ranker was trained on the set that lies in this folder.
fn is_in_sample(corpus: &[PathBuf]) -> bool {
    let trained_on = &Rankers::built_in().words.trained_on;
    let mut folders = corpus.iter().filter_map(|path| path.parent());
    folders.any(|folder| trained_on.iter().any(|set| folder.ends_with(set)))
}

/// Each mode, followed by what is left of it without each of its parts where that is wanted.
pub(super) fn variants(names: &[ModeName], ablate: bool) -> Vec<Variant> {
    let of = |mode: Mode| {
        if ablate {
            Variant::ablations(mode)
        } else {
            vec![mode.into()]
        }
    };
    distinct(names).into_iter().flat_map(of).collect()
}

/// The modes in the order given, each once.
pub(super) fn distinct(names: &[ModeName]) -> Vec<Mode> {
    let mut modes: Vec<Mode> = Vec::new();
    for name in names {
        let mode = Mode::from(*name);
        if !modes.contains(&mode) {
            modes.push(mode);
        }
    }
    modes
}

fn write_runs(
    path: &Path,
    questions: &[Question],
    runs: &[ModeRun],
) -> malha_evaluation::Result<()> {
    for (n, run) in runs.iter().enumerate() {
        let path = if n == 0 {
            path.to_owned()
        } else {
            let stem = path.file_stem().unwrap_or_default().to_string_lossy();
            path.with_file_name(format!("{stem}.{}.jsonl", run.mode))
        };
        write_predictions(&path, questions, run)?;
    }
    Ok(())
}

impl Outcome {
    /// Says on stderr what went on, and what could not be used.
    pub(super) fn report(&self, settings: &Settings) {
        let log = &self.log;
        for row in &self.broken {
            let place = format!("{}:{}", row.path.display(), row.line);
            stderr::failed(&place, &row.reason);
        }
        for passage in &log.refused {
            stderr::warning(settings.verbosity, &format!("passage {passage}"));
        }
        if log.without_passages > 0 {
            let n = count(
                log.without_passages as u64,
                "question has",
                "questions have",
            );
            stderr::warning(settings.verbosity, &format!("{n} no passage in scope"));
        }
        let mut line = format!(
            "{} in {}, indexed in {:.1} s",
            count(self.passages as u64, "passage", "passages"),
            count(log.chunks as u64, "chunk", "chunks"),
            log.index_time.as_secs_f64()
        );
        for (run, time) in self.runs.iter().zip(&log.search_time) {
            let mean = time.as_secs_f64() * 1000.0 / self.set.questions.len() as f64;
            let _ = write!(line, "; {} {mean:.1} ms a question", run.mode);
        }
        stderr::note(settings.verbosity, &line);
    }

    pub(super) fn exit(&self) -> Exit {
        if self.broken.is_empty() {
            Exit::Success
        } else {
            Exit::Partial
        }
    }
}
