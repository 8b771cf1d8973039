//! What extraction asks for: known before it is asked, small passages together, and nothing anew that did not change.

use std::fmt::Write as _;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use malha_engine::extraction::ExtractionSettings;
use malha_engine::language_model::{ChatModel, ChatReply, ChatRequest, ModelError, ModelErrorKind};
use malha_engine::types::{ExtractReport, ForgetRequest, SpendingLimit};
use malha_engine::{Engine, EngineConfig, ExtractionRun};
use serde_json::{Value, json};

#[path = "support/replay.rs"]
#[expect(dead_code, reason = "other tests need the rest")]
mod replay;

use replay::{documents, engine, ties};

/// Answers about one passage or several, and can be made to fail. Its tokens are a third more than ours.
#[derive(Default)]
struct Clerk {
    calls: AtomicUsize,
    /// The passages of each call.
    asked: Mutex<Vec<Vec<String>>>,
    /// A passage with this word has no part in a reply about several.
    forgets: Option<&'static str>,
    /// Replies about several passages are of no use.
    garbles: bool,
    /// Replies about several passages are cut off in the middle.
    cuts: bool,
    /// After so many answers there are none.
    fades: Option<(usize, ModelErrorKind)>,
}

/// `A knows B. C knows D.` as a model would put it.
fn said_of(passage: &str) -> Value {
    let (mut entities, mut relations) = (Vec::new(), Vec::new());
    for sentence in passage.split('.') {
        if let [source, kind, target] = sentence.split_whitespace().collect::<Vec<_>>()[..] {
            entities.push(json!({ "name": source, "type": "Person", "description": sentence }));
            entities.push(json!({ "name": target, "type": "Person" }));
            relations.push(json!({
                "source": source, "target": target, "type": kind, "quote": sentence.trim(),
            }));
        }
    }
    json!({ "entities": entities, "relations": relations })
}

impl ChatModel for Clerk {
    fn name(&self) -> &'static str {
        "clerk"
    }

    fn concurrency(&self) -> usize {
        // One after the other, so that what comes after the last answer is known.
        if self.fades.is_some() { 1 } else { 2 }
    }

    fn complete(
        &self,
        request: &ChatRequest,
        _on_text: &mut dyn FnMut(&str),
    ) -> Result<ChatReply, ModelError> {
        let user = &request.messages[1].text;
        let text_of = |part: &str| -> String {
            let (_, text) = part.split_once("Passage:\n").expect("a passage");
            text.trim().to_owned()
        };
        let several: Vec<String> = user.split("### passage ").skip(1).map(text_of).collect();
        let calls = self.calls.fetch_add(1, Ordering::Relaxed);
        if let Some((after, kind)) = self.fades.filter(|(after, _)| calls >= *after) {
            let message = format!("no answer after {after}");
            return Err(ModelError::new(kind, "clerk", message));
        }
        let (passages, text) = if several.is_empty() {
            let passage = text_of(user);
            let said = said_of(&passage).to_string();
            (vec![passage], said)
        } else {
            let parts: Vec<Value> = (1..)
                .zip(&several)
                .filter(|(_, passage)| !self.forgets.is_some_and(|word| passage.contains(word)))
                .map(|(number, passage)| {
                    let mut part = said_of(passage);
                    part["passage"] = json!(number);
                    part
                })
                .collect();
            let mut text = json!({ "passages": parts }).to_string();
            if self.garbles {
                "I would rather not.".clone_into(&mut text);
            } else if self.cuts {
                text.truncate(text.len() * 2 / 3);
            }
            (several, text)
        };
        let is_truncated = self.cuts && passages.len() > 1;
        self.asked.lock().unwrap().push(passages);
        let prompt: usize = request.messages.iter().map(|m| m.text.len()).sum();
        Ok(ChatReply {
            input_tokens: Some(prompt as u64 / 3),
            output_tokens: Some(text.len() as u64 / 3),
            text,
            is_truncated,
            ..ChatReply::default()
        })
    }
}

impl Clerk {
    fn calls(&self) -> usize {
        self.calls.load(Ordering::Relaxed)
    }
}

fn together() -> ExtractionSettings {
    ExtractionSettings {
        together_tokens: 600,
        ..ExtractionSettings::default()
    }
}

fn extract(engine: &Engine, model: &Clerk, settings: &ExtractionSettings) -> ExtractReport {
    engine.extract(&run(model, settings), &()).unwrap()
}

fn run<'a>(model: &'a Clerk, settings: &'a ExtractionSettings) -> ExtractionRun<'a> {
    ExtractionRun::new(model, settings)
}

/// Notes of one or two facts each, of different lengths.
fn notes(count: usize) -> Vec<(String, String)> {
    (0..count)
        .map(|n| {
            let mut text = format!("Ana{n} knows Bea{n}.");
            for more in 0..n / 3 % 4 {
                write!(text, " Caio{n}x{more} knows Duda{n}.").unwrap();
            }
            (format!("n{n:03}"), text)
        })
        .collect()
}

fn engine_of(notes: &[(String, String)]) -> Engine {
    let borrowed: Vec<(&str, &str)> = notes
        .iter()
        .map(|(uri, text)| (uri.as_str(), text.as_str()))
        .collect();
    engine(&borrowed)
}

#[test]
fn an_estimate_with_a_sample_is_what_the_run_takes() {
    let notes = notes(120);
    let check = |settings: &ExtractionSettings, not_counted: usize| {
        let engine = engine_of(&notes);
        let model = Clerk::default();
        let run = run(&model, settings);
        let blind = engine.estimate_extraction(&run, 0, &()).unwrap();
        assert_eq!((model.calls(), blind.learned_from), (0, 0));
        // Two at once, each half a second and 80 tokens of reply in a second.
        let each = 0.5 + blind.output_tokens as f64 / (blind.calls as f64 * 80.0);
        let seconds = each * blind.calls.div_ceil(2) as f64;
        assert!(
            (blind.seconds / seconds - 1.0).abs() < 0.01,
            "{}",
            blind.seconds
        );
        assert!(!blind.seconds_are_measured);
        assert_eq!(
            blind.not_counted.len(),
            not_counted,
            "{:?}",
            blind.not_counted
        );
        let estimate = engine.estimate_extraction(&run, 12, &()).unwrap();
        assert_eq!(estimate.known, 12);
        assert!(estimate.seconds_are_measured);
        assert_eq!(estimate.sampled.calls as usize, model.calls());
        let report = engine.extract(&run, &()).unwrap();
        assert_eq!(
            report.spent.calls, estimate.calls,
            "the sample is not paid for again"
        );
        for (what, guessed, real) in [
            ("input", estimate.input_tokens, report.spent.input_tokens),
            ("output", estimate.output_tokens, report.spent.output_tokens),
        ] {
            let off = guessed as f64 / real as f64 - 1.0;
            assert!(off.abs() < 0.1, "{what}: {guessed} for {real}");
        }
        let nothing = engine.estimate_extraction(&run, 5, &()).unwrap();
        assert_eq!(
            (nothing.calls, nothing.sampled.calls, nothing.known),
            (0, 0, 120)
        );
    };
    check(&ExtractionSettings::default(), 1);
    check(&together(), 1);
    let twice = ExtractionSettings {
        second_pass: true,
        summarize: true,
        ..ExtractionSettings::default()
    };
    check(&twice, 2);
}

#[test]
fn small_passages_share_calls_and_say_the_same() {
    let notes = notes(60);
    let (alone, shared) = (engine_of(&notes), engine_of(&notes));
    let (one, many) = (Clerk::default(), Clerk::default());
    let first = extract(&alone, &one, &ExtractionSettings::default());
    let second = extract(&shared, &many, &together());
    assert_eq!(one.calls(), 60);
    assert!(many.calls() <= 10, "{} calls", many.calls());
    assert!(second.spent.input_tokens * 2 < first.spent.input_tokens);
    assert_eq!(first.relations, second.relations);
    assert_eq!(shared.digest().unwrap(), alone.digest().unwrap());
    // Whether small passages share calls is no reason to ask again.
    let calls = many.calls();
    extract(&shared, &many, &ExtractionSettings::default());
    extract(&shared, &many, &together());
    assert_eq!(many.calls(), calls);
}

#[test]
fn every_fact_has_its_evidence_in_its_own_passage() {
    // Both passages name both; each says only its own fact.
    let engine = engine(&[
        ("a", "Ana knows Bea. Caio rests."),
        ("b", "Caio knows Ana. Bea rests."),
    ]);
    extract(&engine, &Clerk::default(), &together());
    assert_eq!(ties(&engine, "Ana"), ["Ana knows Bea", "Caio knows Ana"]);
    let facts = engine.facts_to_review(10, 0).unwrap();
    let mut places: Vec<String> = facts
        .iter()
        .map(|fact| format!("{}: {}", fact.uri, fact.quote))
        .collect();
    places.sort();
    assert_eq!(
        places,
        ["notes/a: Ana knows Bea.", "notes/b: Caio knows Ana."]
    );
}

#[test]
fn a_bad_part_costs_only_itself() {
    let notes = notes(8);
    let whole = engine_of(&notes);
    extract(&whole, &Clerk::default(), &ExtractionSettings::default());
    let check = |model: Clerk, most: usize| {
        let engine = engine_of(&notes);
        let report = extract(&engine, &model, &together());
        assert_eq!(report.failed, []);
        assert_eq!(engine.digest().unwrap(), whole.digest().unwrap());
        assert!(model.calls() <= most, "{} calls", model.calls());
        let calls = model.calls();
        extract(&engine, &model, &together());
        assert_eq!(model.calls(), calls, "nothing is asked twice");
    };
    check(Clerk::default(), 1);
    check(
        Clerk {
            forgets: Some("Ana3"),
            ..Clerk::default()
        },
        2,
    );
    check(
        Clerk {
            cuts: true,
            ..Clerk::default()
        },
        6,
    );
    check(
        Clerk {
            garbles: true,
            ..Clerk::default()
        },
        9,
    );
}

#[test]
fn a_changed_note_is_asked_about_and_none_that_shared_its_call() {
    let mut notes = notes(30);
    let engine = engine_of(&notes);
    let model = Clerk::default();
    extract(&engine, &model, &together());
    let edit = |notes: &[(String, String)]| {
        let borrowed: Vec<(&str, &str)> = notes
            .iter()
            .map(|(uri, text)| (uri.as_str(), text.as_str()))
            .collect();
        engine
            .index_documents("notes", &documents(&borrowed), &())
            .unwrap();
    };
    notes[4].1 = "Ana4 knows Eva.".to_owned();
    notes.remove(9);
    notes.push(("n100".to_owned(), "Rui knows Eva.".to_owned()));
    edit(&notes);
    model.asked.lock().unwrap().clear();
    extract(&engine, &model, &together());
    let asked: Vec<String> = model.asked.lock().unwrap().concat();
    assert_eq!(asked, ["Ana4 knows Eva.", "Rui knows Eva."]);
    let fresh = engine_of(&notes);
    extract(&fresh, &Clerk::default(), &ExtractionSettings::default());
    assert_eq!(engine.digest().unwrap(), fresh.digest().unwrap());
}

#[test]
fn what_is_forgotten_is_in_no_shared_reply() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("malha.db");
    let engine = Engine::create(&path, EngineConfig::default()).unwrap();
    let texts = [("a", "Ana knows Zuleica."), ("b", "Bea knows Caio.")];
    engine
        .index_documents("notes", &documents(&texts), &())
        .unwrap();
    let model = Clerk::default();
    extract(&engine, &model, &together());
    assert_eq!(model.calls(), 1);
    engine
        .forget(&ForgetRequest {
            documents: vec!["notes/a".to_owned()],
            ..ForgetRequest::default()
        })
        .unwrap();
    assert_eq!(engine.absence("Zuleica").unwrap().found, []);
    extract(&engine, &model, &together());
    assert_eq!(ties(&engine, "Bea"), ["Bea knows Caio"]);
}

#[test]
fn forgetting_one_document_leaves_the_replies_about_others() {
    let notes = notes(48);
    let engine = engine_of(&notes);
    let model = Clerk::default();
    extract(&engine, &model, &together());
    let asked = model.asked.lock().unwrap().clone();
    assert!(asked.len() > 3, "{asked:?}");
    let shared = asked
        .iter()
        .find(|passages| passages.contains(&notes[20].1))
        .unwrap();
    engine
        .forget(&ForgetRequest {
            documents: vec![format!("notes/{}", notes[20].0)],
            ..ForgetRequest::default()
        })
        .unwrap();
    model.asked.lock().unwrap().clear();
    extract(&engine, &model, &together());
    let mut again = model.asked.lock().unwrap().concat();
    let mut wanted: Vec<String> = shared.clone();
    wanted.retain(|text| *text != notes[20].1);
    again.sort();
    wanted.sort();
    assert_eq!(again, wanted, "only what shared its call");
}

#[test]
fn two_engines_on_one_store_share_the_calls() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("malha.db");
    let notes = notes(40);
    let borrowed: Vec<(&str, &str)> = notes
        .iter()
        .map(|(uri, text)| (uri.as_str(), text.as_str()))
        .collect();
    let first = Engine::create(&path, EngineConfig::default()).unwrap();
    first
        .index_documents("notes", &documents(&borrowed), &())
        .unwrap();
    let second = Engine::open(&path, EngineConfig::default()).unwrap();
    let model = Clerk::default();
    let settings = together();
    std::thread::scope(|scope| {
        scope.spawn(|| extract(&first, &model, &settings));
        scope.spawn(|| extract(&second, &model, &settings));
    });
    let mut asked = model.asked.lock().unwrap().concat();
    asked.sort();
    let mut wanted: Vec<String> = notes.into_iter().map(|(_, text)| text).collect();
    wanted.sort();
    assert_eq!(asked, wanted, "each passage once");
}

#[test]
fn a_failing_endpoint_is_no_reason_to_lose_a_passage() {
    struct Down(AtomicUsize);
    impl ChatModel for Down {
        fn name(&self) -> &'static str {
            "clerk"
        }
        fn complete(
            &self,
            _request: &ChatRequest,
            _on_text: &mut dyn FnMut(&str),
        ) -> Result<ChatReply, ModelError> {
            self.0.fetch_add(1, Ordering::Relaxed);
            Err(ModelError::new(
                ModelErrorKind::Transient { retry_after: None },
                "clerk",
                "down",
            ))
        }
    }
    let engine = engine_of(&notes(6));
    let settings = together();
    let down = Down(AtomicUsize::new(0));
    let report = engine
        .extract(&ExtractionRun::new(&down, &settings), &())
        .unwrap();
    assert_eq!(report.failed.len(), 6);
    let model = Clerk::default();
    let report = extract(&engine, &model, &settings);
    assert_eq!((report.failed.len(), model.calls()), (0, 1));
}

#[test]
fn a_model_that_falls_silent_ends_the_run_and_the_next_one_goes_on() {
    let check = |kind: ModelErrorKind, most: usize| {
        let engine = engine_of(&notes(60));
        let settings = ExtractionSettings::default();
        let model = Clerk {
            fades: Some((10, kind)),
            ..Clerk::default()
        };
        let report = extract(&engine, &model, &settings);
        assert_eq!((report.extracted, report.left), (10, 50), "{kind:?}");
        assert_eq!(report.failed, [], "nothing is wrong with the passages");
        assert!(report.stopped.unwrap().contains("no answer after 10"));
        assert_eq!(model.calls(), 10 + most, "{kind:?}");
        let model = Clerk::default();
        let report = extract(&engine, &model, &settings);
        assert_eq!(
            (report.known, report.extracted, model.calls()),
            (10, 50, 50)
        );
        assert_eq!(report.stopped, None);
    };
    check(ModelErrorKind::Permanent, 5);
    let hour = Some(std::time::Duration::from_hours(1));
    check(ModelErrorKind::Transient { retry_after: hour }, 5);
    check(ModelErrorKind::Transient { retry_after: None }, 20);
}

#[test]
fn a_model_that_will_not_answer_some_is_asked_about_the_others() {
    let engine = engine_of(&notes(30));
    let model = Clerk {
        fades: Some((10, ModelErrorKind::Refused)),
        ..Clerk::default()
    };
    let report = extract(&engine, &model, &ExtractionSettings::default());
    assert_eq!((report.extracted, report.failed.len()), (10, 20));
    assert_eq!((report.left, report.stopped), (0, None));
}

#[test]
fn every_run_is_in_the_log_from_its_start() {
    /// Looks into the log while it is asked.
    struct Witness<'a>(&'a Engine, Clerk);
    impl ChatModel for Witness<'_> {
        fn name(&self) -> &'static str {
            "clerk"
        }
        fn complete(
            &self,
            request: &ChatRequest,
            on_text: &mut dyn FnMut(&str),
        ) -> Result<ChatReply, ModelError> {
            let now = &self.0.runs(1).unwrap()[0];
            assert_eq!((now.finished_at, &now.report), (None, &Value::Null));
            if request.messages[1].text.starts_with("Passage 1:") {
                return Err(ModelError::new(ModelErrorKind::Permanent, "clerk", "no"));
            }
            self.1.complete(request, on_text)
        }
    }
    let engine = engine_of(&notes(9));
    let model = Witness(&engine, Clerk::default());
    let settings = ExtractionSettings::default();
    let run = ExtractionRun::new(&model, &settings);
    engine.estimate_extraction(&run, 0, &()).unwrap();
    engine.estimate_extraction(&run, 2, &()).unwrap();
    engine.extract(&run, &()).unwrap();
    let limit = SpendingLimit::default();
    engine
        .infer_schema(&model, &settings, 3, limit)
        .unwrap_err();
    let runs = engine.runs(10).unwrap();
    let kinds: Vec<&str> = runs.iter().rev().map(|run| run.kind.as_str()).collect();
    assert_eq!(kinds, ["index", "estimate", "extract", "schema"]);
    assert!(runs.iter().all(|run| run.finished_at.is_some()));
    assert_eq!(runs[2].report["sampled"]["calls"], 2);
    assert_eq!(runs[1].report["spent"]["calls"], 7);
    assert!(runs[0].report["error"].is_string(), "{}", runs[0].report);
}
