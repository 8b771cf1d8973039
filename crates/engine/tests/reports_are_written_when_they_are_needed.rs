//! Reports that a chat model writes about communities, and answers made from them.

#[path = "support/script.rs"]
mod script;
#[path = "support/village.rs"]
mod village;

use std::sync::Mutex;

use malha_engine::answer::AnswerSettings;
use malha_engine::language_model::{ChatModel, ChatRequest};
use malha_engine::types::{Answer, AskMode, AskRequest, SpendingLimit};
use malha_engine::{AnswerRun, Engine, EngineConfig};
use script::{Script, answer, answer_to, answer_with, cite_all, number_of, step, steps};
use village::{KILN, document, notes_with, village};

const WHOLE: &str = "What are the main themes of these notes?";

/// A report about whatever is shown, with one finding that cites the first quote and one that cites nothing shown.
fn report(request: &ChatRequest) -> String {
    let first = request.messages[1]
        .text
        .lines()
        .find(|line| line.starts_with("1| "))
        .unwrap();
    format!(
        "{{\"title\": \"About {}\", \"summary\": \"It is about this.\", \"rating\": 7, \"rating_reason\": \"Much.\", \
         \"findings\": [{{\"text\": \"It says something.\", \"evidence\": [1]}}, \
         {{\"text\": \"Invented.\", \"evidence\": [99]}}]}}",
        first.trim_start_matches("1| ").replace('"', "")
    )
}

/// The answer of a model to a question in this mode, with reports of another one.
fn asked(
    engine: &Engine,
    model: &dyn ChatModel,
    reports: &dyn ChatModel,
    mode: AskMode,
    question: &str,
) -> Answer {
    let request = AskRequest {
        mode,
        ..AskRequest::new(question)
    };
    answer_with(
        engine,
        model,
        Some(reports),
        &request,
        SpendingLimit::default(),
    )
    .0
}

#[test]
fn a_question_about_the_whole_reads_every_community() {
    let engine = village();
    let model = Script::new(|request| {
        let (kiln, mill) = (
            number_of(request, "red kiln was built"),
            number_of(request, "old mill"),
        );
        format!(
            "They tell of the red kiln built by Ana Prado [{kiln}]. The old mill stands by the river [{mill}]."
        )
    });
    let (answer, _) = answer(&engine, &model, "What are the main themes of these notes?");
    assert_eq!(answer.mode, AskMode::Global);
    let (read, total) = answer.communities.unwrap();
    assert!(read >= 2 && read <= total);
    assert!(
        answer
            .sentences
            .iter()
            .all(|sentence| sentence.is_supported),
        "{:?}",
        answer.sentences
    );
}

#[test]
fn reports_are_written_when_needed_and_again_only_when_stale() {
    let engine = village();
    let writer = Script::new(report);
    let model = Script::new(cite_all);
    let ask = |question: &str| asked(&engine, &model, &writer, AskMode::Global, question);
    let first = ask(WHOLE);
    assert!(first.notes.is_empty(), "{:?}", first.notes);
    let written = writer.asked().len();
    assert!(written >= 2, "one a community: {written}");
    assert_eq!(first.spent.calls as usize, written + 1);
    let shown = &model.asked()[0].messages[1].text;
    assert!(
        shown.contains("| About The red kiln was built"),
        "the model's title: {shown}"
    );
    assert!(shown.contains("| It says something."), "{shown}");
    assert!(
        !shown.contains("Invented"),
        "a finding needs evidence: {shown}"
    );
    assert!(
        first.sentences.iter().all(|sentence| sentence.is_supported),
        "{:?}",
        first.sentences
    );

    ask("What are the most important topics of all these notes?");
    assert_eq!(writer.asked().len(), written, "kept for the next question");

    let mill =
        "The old mill stands by the river. [[Bento Sá]] repaired its wheel after the great flood.";
    engine
        .index_documents("notes", &notes_with(mill), &())
        .unwrap();
    ask(WHOLE);
    let again = &writer.asked()[written..];
    assert_eq!(again.len(), 1, "only the community of the mill");
    assert!(again[0].messages[1].text.contains("great flood"));
}

#[test]
fn a_report_that_cannot_be_read_costs_no_question_and_is_retried_alone() {
    let engine = village();
    let is_broken = Mutex::new(true);
    let writer = Script::new(|request| {
        if *is_broken.lock().unwrap() && request.messages[1].text.contains("old mill") {
            "I am sorry. {\"broken\": [1, 2".to_owned()
        } else {
            report(request)
        }
    });
    let model = Script::new(cite_all);
    let ask = |mode, question: &str| asked(&engine, &model, &writer, mode, question);
    let global = ask(AskMode::Global, WHOLE);
    assert!(!global.sentences.is_empty() && global.failure.is_none());
    assert!(
        global.text.contains("old mill stands"),
        "its sentences stand in: {}",
        global.text
    );
    assert!(
        global.notes.iter().any(|note| note.contains("is missing")),
        "{:?}",
        global.notes
    );
    let local = ask(AskMode::Local, "Who repaired the wheel of the old mill?");
    assert!(local.text.contains("repaired its wheel"), "{}", local.text);
    let asked = writer.asked().len();
    let again = ask(AskMode::Global, "What are the main themes of all notes?");
    assert!(
        again.notes.iter().any(|note| note.contains("is missing")),
        "{:?}",
        again.notes
    );
    assert_eq!(
        writer.asked().len(),
        asked,
        "a question does not pay for it again"
    );

    let settings = AnswerSettings::default();
    let run = AnswerRun {
        model: &model,
        reports: Some(&writer),
        router: None,
        settings: &settings,
        limit: SpendingLimit::default(),
    };
    let still = engine.write_reports(&run).unwrap();
    assert_eq!((still.written, still.missing.len()), (0, 1), "{still:?}");
    *is_broken.lock().unwrap() = false;
    let before = writer.asked().len();
    let mended = engine.write_reports(&run).unwrap();
    let logged = &engine.runs(1).unwrap()[0];
    assert_eq!(logged.kind, "reports");
    assert_eq!(logged.report["written"], mended.written);
    assert_eq!((mended.written, mended.missing.len()), (1, 0), "{mended:?}");
    assert_eq!(writer.asked().len(), before + 1, "only that one");
    assert!(ask(AskMode::Global, WHOLE).notes.is_empty());
}

#[test]
fn what_does_not_fit_is_read_in_parts_and_what_is_not_covered_is_named() {
    let engine = village();
    let model = Script::new(|request| match step(request) {
        "map" if request.messages[1].text.contains("old mill") => "{\"points\": []}".to_owned(),
        "map" => {
            "{\"points\": [{\"text\": \"Kilns.\", \"rating\": 80, \"evidence\": [1]}]}".to_owned()
        }
        _ => cite_all(request),
    });
    let request = AskRequest {
        mode: AskMode::Global,
        budget: Some(110),
        ..AskRequest::new(WHOLE)
    };
    let (answer, _) = answer_to(&engine, &model, &request, SpendingLimit::default());
    let sections = answer.sections.clone().unwrap();
    assert!(sections.total >= 2, "{sections:?}");
    assert_eq!(
        (sections.not_supported, sections.failed),
        (1, 0),
        "{sections:?}"
    );
    assert!(
        sections
            .not_covered
            .iter()
            .any(|title| title.contains("Mill")),
        "{sections:?}"
    );
    assert!(
        !sections
            .not_covered
            .iter()
            .any(|title| title.contains("Kiln")),
        "{sections:?}"
    );
    assert_eq!(
        steps(&model.asked())
            .iter()
            .filter(|step| **step == "answer")
            .count(),
        1
    );
    let last = model.asked().pop().unwrap();
    assert!(last.messages[1].text.contains("| (80) Kilns."), "{last:?}");
    assert!(answer.context.used <= 110);

    // One part fails: the others answer, and it is told.
    let model = Script::new(|request| match step(request) {
        "map" if request.messages[1].text.contains("old mill") => "FAIL".to_owned(),
        "map" => {
            "{\"points\": [{\"text\": \"Kilns!\", \"rating\": 80, \"evidence\": [1]}]}".to_owned()
        }
        _ => cite_all(request),
    });
    let request = AskRequest {
        question: "What are the main topics of all notes?".to_owned(),
        ..request
    };
    let (answer, _) = answer_to(&engine, &model, &request, SpendingLimit::default());
    assert_eq!(answer.sections.unwrap().failed, 1);
    assert!(
        answer
            .notes
            .iter()
            .any(|note| note.contains("out of order")),
        "{:?}",
        answer.notes
    );
    assert!(!answer.sentences.is_empty());
}

#[test]
fn nothing_of_a_forgotten_document_stays_in_reports_or_conversations() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("malha.db");
    let engine = Engine::create(&path, EngineConfig::default()).unwrap();
    let documents = [
        document("kiln.md", "Kiln", KILN),
        document(
            "ana.md",
            "Ana Prado",
            "Ana Prado sold the [[Kiln]] to the council.",
        ),
        document(
            "secret.md",
            "Note",
            "The Kiln of Ana Prado hides a zweihander under its floor.",
        ),
    ];
    engine.index_documents("notes", &documents, &()).unwrap();
    let model = Script::new(cite_all);
    let request = AskRequest {
        session: Some("talk".to_owned()),
        ..AskRequest::new("What does the Kiln of Ana Prado hide?")
    };
    let (answer, _) = answer_with(
        &engine,
        &model,
        Some(&Script::new(report)),
        &request,
        SpendingLimit::default(),
    );
    assert!(answer.text.contains("zweihander"), "{}", answer.text);
    asked(
        &engine,
        &model,
        &Script::new(report),
        AskMode::Global,
        WHOLE,
    );
    assert!(!engine.absence("zweihander").unwrap().found.is_empty());
    engine
        .forget(&malha_engine::types::ForgetRequest {
            documents: vec!["notes/secret.md".to_owned()],
            ..malha_engine::types::ForgetRequest::default()
        })
        .unwrap();
    let traces = engine.absence("zweihander").unwrap();
    assert!(traces.found.is_empty(), "{traces:?}");
}
