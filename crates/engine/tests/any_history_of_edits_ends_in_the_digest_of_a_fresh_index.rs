//! The main invariant: after any sequence of edits the store holds what a fresh index of the final files holds.
use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::Path;

use malha_engine::extraction::{ExtractionSettings, RelationType, Schema};
use malha_engine::types::{Mode, SearchRequest};
use malha_engine::{Engine, EngineConfig, ExtractionRun, SourceSpec};
use serde_json::{Value, json};

#[path = "support/replay.rs"]
#[expect(dead_code, reason = "other tests need the rest")]
mod replay;

use replay::{Replay, reply};

/// A small generator (Steele, Lea, Flood 2014: splitmix64), so that a failing seed can be run again.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    fn below(&mut self, n: usize) -> usize {
        (self.next() % n as u64) as usize
    }

    fn pick<'a, T: ?Sized>(&mut self, of: &[&'a T]) -> &'a T {
        of[self.below(of.len())]
    }
}

const PATHS: &[&str] = &[
    "Harbour.md",
    "Farol Norte.md",
    "people/Ana Prado.md",
    "people/Bruno.md",
    "archive/Bruno.md",
    "projects/Tide Gate.md",
    "projects/alpha/plan.md",
    "projects/beta/plan.md",
    "港口.md",
    "notes.txt",
    "rows.csv",
    "deep/er/Harbour.md",
    "São João.md",
];
const LINKS: &[&str] = &[
    "[[Harbour]]",
    "[[Farol Norte|the light]]",
    "[[Ana Prado]]",
    "[[Bruno]]",
    "[[projects/alpha/plan]]",
    "[[plan]]",
    "[[港口]]",
    "[[São João#Festa]]",
    "![[Tide Gate]]",
    "[[map.png]]",
    "[[Nobody Yet]]",
    "[[The Keeper]]",
    "depends_on:: [[Tide Gate]]",
    "[a link](people/Ana%20Prado.md)",
];
const SENTENCES: &[&str] = &[
    "Ana Prado met Bruno Tavares at the Harbour.",
    "The Tide Gate was built by Bruno Tavares.",
    "O Farol Norte fica perto de São João.",
    "港口的灯塔由王小明管理。",
    "Carla Dias wrote to Ana Prado about the Tide Gate in 1987.",
    "nothing of note here",
    "The Keeper lives at Farol Norte, says Carla Dias.",
    "王小明去了港口。",
    "Nobody Yet has seen `tide_gate_v2` run.",
];

fn front_matter(random: &mut Random) -> String {
    let mut lines = Vec::new();
    if random.below(3) == 0 {
        lines.push(format!(
            "aliases: [{}]",
            random.pick(&["The Keeper", "Gatekeeper", "Bruno", "Carla Dias"])
        ));
    }
    if random.below(3) == 0 {
        lines.push(format!(
            "tags: [{}]",
            random.pick(&["sea", "work", "Harbour", "人物"])
        ));
    }
    if random.below(4) == 0 {
        lines.push(format!(
            "date: {}",
            random.pick(&["2021-03-04", "2019", "2024-11-30T10:00:00-03:00"])
        ));
    }
    if random.below(5) == 0 {
        lines.push("owner: \"[[Ana Prado]]\"".to_owned());
    }
    if lines.is_empty() {
        return String::new();
    }
    format!("---\n{}\n---\n", lines.join("\n"))
}

fn note(random: &mut Random) -> String {
    let mut text = front_matter(random);
    if random.below(2) == 0 {
        text.push_str(random.pick(&[
            "# Harbour\n\n",
            "# The Keeper\n\n",
            "# 港口\n\n",
            "# Report\n\n",
        ]));
    }
    for _ in 0..random.below(5) {
        for _ in 0..=random.below(3) {
            text.push_str(random.pick(SENTENCES));
            text.push(' ');
            if random.below(2) == 0 {
                text.push_str(random.pick(LINKS));
                text.push(' ');
            }
        }
        text.push_str(random.pick(&["\n\n", "\n## Part\n\n", "\n\n## Festa\n\n", " #sea\n\n"]));
    }
    text
}

fn rows(random: &mut Random) -> String {
    let mut text = "title,text\n".to_owned();
    for _ in 0..random.below(4) {
        let title = random.pick(&[
            "Harbour",
            "Ana Prado",
            "Mercury (planet)",
            "Mercury (metal)",
            "",
        ]);
        writeln!(text, "{title},\"{}\"", random.pick(SENTENCES)).unwrap();
    }
    text
}

fn has_extension(path: &str, extension: &str) -> bool {
    Path::new(path)
        .extension()
        .is_some_and(|found| found == extension)
}

fn write(root: &Path, path: &str, text: &str) {
    let path = root.join(path);
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(path, text).unwrap();
}

fn edit(
    random: &mut Random,
    root: &Path,
    files: &mut BTreeMap<String, String>,
    bin: &mut Vec<(String, String)>,
) -> String {
    let known: Vec<String> = files.keys().cloned().collect();
    let some = (!known.is_empty()).then(|| known[random.below(known.len())].clone());
    match (random.below(8), some) {
        (0, Some(path)) => {
            let text = files.remove(&path).unwrap();
            std::fs::remove_file(root.join(&path)).unwrap();
            bin.push((path.clone(), text));
            format!("delete {path}")
        }
        (1, Some(path)) if !has_extension(&path, "csv") => {
            let to = random.pick(&["moved/", "people/", ""]).to_owned()
                + random.pick(&["Moved.md", "Bruno.md", "Harbour.md", "New Name.md"]);
            if files.contains_key(&to) || has_extension(&path, "png") {
                return "nothing".to_owned();
            }
            let text = files.remove(&path).unwrap();
            std::fs::create_dir_all(root.join(&to).parent().unwrap()).unwrap();
            std::fs::rename(root.join(&path), root.join(&to)).unwrap();
            files.insert(to.clone(), text);
            format!("move {path} to {to}")
        }
        (2, _) if !bin.is_empty() => {
            let (path, text) = bin.swap_remove(random.below(bin.len()));
            write(root, &path, &text);
            files.insert(path.clone(), text);
            format!("restore {path}")
        }
        (3, _) => {
            let path = random.pick(&["map.png", "img/map.png"]);
            write(root, path, "PNG");
            files.insert(path.to_owned(), "PNG".to_owned());
            format!("attach {path}")
        }
        (4, Some(path)) if has_extension(&path, "md") => {
            let text = format!(
                "{}\n{} {}\n",
                files[&path],
                random.pick(SENTENCES),
                random.pick(LINKS)
            );
            write(root, &path, &text);
            files.insert(path.clone(), text);
            format!("append to {path}")
        }
        _ => {
            let path = random.pick(PATHS);
            let text = if has_extension(path, "csv") {
                rows(random)
            } else {
                note(random)
            };
            write(root, path, &text);
            files.insert(path.to_owned(), text);
            format!("write {path}")
        }
    }
}

fn spec(root: &Path) -> Vec<SourceSpec> {
    vec![SourceSpec {
        root: root.to_owned(),
        convention: None,
    }]
}

fn fresh(root: &Path) -> Engine {
    let engine = Engine::in_memory(EngineConfig::default()).unwrap();
    engine.index(&spec(root), &()).unwrap();
    engine
}

/// What searches and walks show; the store's row ids are no part of it.
fn seen(engine: &Engine) -> Vec<String> {
    let mut seen = Vec::new();
    for query in [
        "who met Ana Prado at the Harbour?",
        "Tide Gate",
        "港口的灯塔",
        "nothing known",
    ] {
        for mode in [Mode::Graph, Mode::Keyword, Mode::Notes] {
            let request = SearchRequest {
                mode,
                // All of them: which of equal ones come last depends on row ids.
                limit: 200,
                ..SearchRequest::new(query)
            };
            let mut lines: Vec<String> = engine
                .search(&request)
                .unwrap()
                .results
                .iter()
                .map(|hit| {
                    // The walk stops at a threshold, so its mass depends a little on the order of row ids.
                    let score = if mode == Mode::Graph { 0.0 } else { hit.score };
                    format!(
                        "{query} {mode:?} {score:.9} {} {} {}",
                        hit.uri, hit.line, hit.quote
                    )
                })
                .collect();
            // Equal scores are ordered by row id.
            lines.sort();
            seen.append(&mut lines);
        }
    }
    let mut hubs: Vec<String> = engine
        .hubs(1000)
        .unwrap()
        .iter()
        .map(|hub| format!("{} {:?} {}", hub.name, hub.uri, hub.degree))
        .collect();
    hubs.sort();
    seen.append(&mut hubs);
    seen.extend(
        engine
            .orphans()
            .unwrap()
            .iter()
            .map(|note| format!("orphan {:?}", note.uri)),
    );
    seen.extend(
        engine
            .open_links()
            .unwrap()
            .iter()
            .map(|link| format!("{link:?}")),
    );
    seen
}

#[test]
fn any_history_of_edits_ends_in_the_digest_of_a_fresh_index() {
    let histories: u64 = std::env::var("MALHA_HISTORIES")
        .ok()
        .and_then(|n| n.parse().ok())
        .unwrap_or(12);
    for seed in 0..histories {
        let mut random = Random(seed);
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().join("vault");
        std::fs::create_dir_all(&root).unwrap();
        let store = folder.path().join("store.db");
        let engine = Engine::create(&store, EngineConfig::default()).unwrap();
        let (mut files, mut bin) = (BTreeMap::new(), Vec::new());
        let mut history = Vec::new();
        for _ in 0..14 {
            for _ in 0..=random.below(4) {
                history.push(edit(&mut random, &root, &mut files, &mut bin));
            }
            history.push("index".to_owned());
            let report = engine.index(&spec(&root), &()).unwrap();
            assert_eq!(report.failed, [], "seed {seed}: {history:#?}");
            let fresh = fresh(&root);
            assert_eq!(
                engine.digest().unwrap(),
                fresh.digest().unwrap(),
                "seed {seed}: {history:#?}"
            );
            // Another process reads the snapshot with its deltas.
            let reader = Engine::open_read_only(&store, EngineConfig::default()).unwrap();
            assert_eq!(seen(&reader), seen(&fresh), "seed {seed}: {history:#?}");
            let again = engine.index(&spec(&root), &()).unwrap();
            assert_eq!(
                (again.added, again.changed, again.removed),
                (0, 0, 0),
                "seed {seed}: {history:#?}"
            );
        }
    }
}

/// Names that a model finds, with the types it gives them.
const NAMED: &[(&str, &str)] = &[
    ("Ana Prado", "Person"),
    ("Bruno Tavares", "Person"),
    ("Bruno", "Person"),
    ("Carla Dias", "Person"),
    ("The Keeper", "Person"),
    ("Harbour", "Place"),
    ("Tide Gate", "Place"),
    ("Farol Norte", "Place"),
    ("São João", "Place"),
    ("港口", "Place"),
    ("王小明", "Person"),
];

/// A model that says of every sentence what ties its first two names, of one passage or of several.
fn model() -> Replay {
    Replay::new(|asked, _| {
        let mut parts: Vec<Value> = asked
            .split("\n### passage ")
            .map(|part| said_of(part.split_once("Passage:\n").map_or(part, |(_, text)| text)))
            .collect();
        reply(if parts.len() == 1 {
            parts.remove(0)
        } else {
            json!({ "passages": parts })
        })
    })
}

fn said_of(passage: &str) -> Value {
    let (mut entities, mut relations) = (Vec::new(), Vec::<Value>::new());
    for sentence in passage.split_inclusive(['.', '。', '\n']) {
        let mut found: Vec<(usize, &str, &str)> = NAMED
            .iter()
            .filter_map(|(name, kind)| Some((sentence.find(name)?, *name, *kind)))
            .collect();
        found.sort_unstable();
        for (_, name, kind) in &found {
            let about = sentence.trim();
            entities.push(json!({ "name": name, "type": kind, "description": about }));
        }
        if let [(_, source, _), (_, target, _), ..] = found[..] {
            let kind = if sentence.contains("1987") {
                "WROTE_TO"
            } else {
                "TIED_TO"
            };
            relations.push(json!({
                "source": source, "target": target, "type": kind, "quote": sentence.trim(),
                "valid_from": (1990 + sentence.chars().count() % 9).to_string(),
            }));
        }
    }
    json!({ "entities": entities, "relations": relations })
}

#[test]
fn any_history_with_extraction_ends_there_too() {
    let histories: u64 = std::env::var("MALHA_HISTORIES")
        .ok()
        .and_then(|n| n.parse().ok())
        .unwrap_or(6);
    for seed in 0..histories {
        let mut random = Random(1000 + seed);
        let settings = ExtractionSettings {
            // Small ones, so that several passages come from a note.
            passage_tokens: 30,
            together_tokens: [0, 90][random.below(2)],
            // The next tie of a subject ends the last one.
            schema: Schema {
                relation: [
                    (
                        "TIED_TO".to_owned(),
                        RelationType {
                            exclusive: true,
                            ..RelationType::default()
                        },
                    ),
                    ("WROTE_TO".to_owned(), RelationType::default()),
                ]
                .into(),
                ..Schema::default()
            },
            ..ExtractionSettings::default()
        };
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().join("vault");
        std::fs::create_dir_all(&root).unwrap();
        let store = folder.path().join("store.db");
        let model = model();
        let engine = Engine::create(&store, EngineConfig::default()).unwrap();
        let run = ExtractionRun::new(&model, &settings);
        let (mut files, mut bin) = (BTreeMap::new(), Vec::new());
        let mut history = Vec::new();
        for _ in 0..12 {
            for _ in 0..=random.below(3) {
                history.push(edit(&mut random, &root, &mut files, &mut bin));
            }
            if random.below(3) == 0 {
                history.push("index".to_owned());
                engine.index(&spec(&root), &()).unwrap();
                let reader = Engine::open_read_only(&store, EngineConfig::default()).unwrap();
                let copy = folder.path().join(format!("copy{}.db", history.len()));
                reader.backup(&copy).unwrap();
                // The copy has no snapshot beside it: its graph is built from the rows.
                let built = Engine::open(&copy, EngineConfig::default()).unwrap();
                assert_eq!(seen(&reader), seen(&built), "seed {seed}: {history:#?}");
                continue;
            }
            history.push("extract".to_owned());
            let (_, report) = engine.index_and_extract(&spec(&root), &run, &()).unwrap();
            assert_eq!(report.failed, [], "seed {seed}: {history:#?}");
            let fresh = Engine::in_memory(EngineConfig::default()).unwrap();
            fresh.index_and_extract(&spec(&root), &run, &()).unwrap();
            assert_eq!(
                engine.digest().unwrap(),
                fresh.digest().unwrap(),
                "seed {seed}: {history:#?}"
            );
            assert!(
                engine.verify().unwrap().violations.is_empty(),
                "seed {seed}"
            );
            let reader = Engine::open_read_only(&store, EngineConfig::default()).unwrap();
            assert_eq!(seen(&reader), seen(&fresh), "seed {seed}: {history:#?}");
            let calls = model.total();
            let (_, again) = engine.index_and_extract(&spec(&root), &run, &()).unwrap();
            assert_eq!(
                (again.relations_added, again.relations_closed, model.total()),
                (0, 0, calls),
                "seed {seed}: {history:#?}"
            );
        }
    }
}
