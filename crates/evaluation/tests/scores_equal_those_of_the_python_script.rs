//! The data sets come with a scoring script; our figures are its figures, over real questions and rankings with
//! repeated ids, missing predictions and empty gold.

use std::path::{Path, PathBuf};
use std::process::Command;

use malha_evaluation::{
    Comparison, Metrics, ModeRun, Question, QuestionFields, Rng, read_questions, write_predictions,
};

fn data_folder() -> PathBuf {
    std::env::var_os("MALHA_DATA_DIR").map_or_else(
        || Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data"),
        PathBuf::from,
    )
}

/// Rankings that hold some of the gold, with noise, repeats and gaps.
fn made_up_run(questions: &[Question]) -> ModeRun {
    let mut rng = Rng::new(11);
    let ranked = questions
        .iter()
        .map(|question| {
            if rng.chance(0.1) {
                return Vec::new();
            }
            (0..rng.below(25))
                .map(|n| {
                    if rng.chance(0.2) {
                        rng.pick(&question.gold).clone()
                    } else {
                        format!("other{}", n / 2)
                    }
                })
                .collect()
        })
        .collect();
    ModeRun {
        mode: "made up".to_owned(),
        ranked,
    }
}

fn check(set: &str, by: &str, gold: &str, exclude: &[&str]) {
    let folder = data_folder();
    let (queries, script) = (folder.join(set), folder.join("score_retrieval.py"));
    if !queries.is_file() || !script.is_file() {
        println!("skipped: no {} (set MALHA_DATA_DIR)", queries.display());
        return;
    }
    if Command::new("python3").arg("--version").output().is_err() {
        println!("skipped: no python3");
        return;
    }
    let set = read_questions(
        &queries,
        &QuestionFields {
            query: "question".to_owned(),
            gold: gold.to_owned(),
            scope: None,
            by: Some(by.to_owned()),
            exclude: exclude.iter().map(|e| e.parse().unwrap()).collect(),
        },
    )
    .unwrap();
    assert!(set.broken.is_empty(), "{:?}", set.broken);
    let run = made_up_run(&set.questions);
    let dir = tempfile::tempdir().unwrap();
    let predictions = dir.path().join("pred.jsonl");
    write_predictions(&predictions, &set.questions, &run).unwrap();

    let mut command = Command::new("python3");
    command.args([&script, &queries, &predictions]).args([
        "--json",
        "--k",
        "2,5,20",
        "--by",
        by,
        "--gold-field",
        gold,
    ]);
    for exclusion in exclude {
        command.args(["--exclude", exclusion]);
    }
    let output = command.output().unwrap();
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    let expected: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(expected["no_gold"], set.no_gold);

    let metrics = Metrics::new(&[2, 5, 20], &set.questions);
    let comparison = Comparison::new(&metrics, &set.questions, &[run], 1);
    let expected = expected["result"].as_object().unwrap();
    assert_eq!(expected.len(), 1 + comparison.parts.len());
    let all = ("ALL".to_owned(), comparison.all.clone());
    for (label, figures) in std::iter::once(&all).chain(&comparison.parts) {
        let expected = expected[label].as_object().unwrap();
        assert_eq!(expected["n"], figures.n, "{label}");
        for (name, figure) in comparison.metrics.iter().zip(&figures.modes[0]) {
            // A part without groups has no such figure in the script's output.
            let expected = expected
                .get(name)
                .map_or(0.0, |value| value.as_f64().unwrap());
            assert!(
                (expected - figure.value).abs() < 0.006,
                "{label} {name}: {figure:?}"
            );
        }
    }
}

#[test]
fn on_several_gold_passages() {
    check(
        "musique/queries_dev.jsonl",
        "hops",
        "gold",
        &["src=ugai_train200"],
    );
}

#[test]
fn on_gold_groups_and_compressed_files() {
    check("zh_rgb/queries_dev.jsonl", "type", "gold", &[]);
    check("xquad/queries_dev_de.jsonl.gz", "lang", "gold", &[]);
}

#[test]
fn on_truth_values_and_questions_without_gold() {
    check(
        "locomo/queries_dev.jsonl",
        "zep_grade",
        "gold",
        &["category=adversarial"],
    );
}

#[test]
fn on_another_gold_field() {
    check(
        "zh_netoperator/queries_dev.jsonl",
        "absent",
        "gold_docs",
        &[],
    );
}
