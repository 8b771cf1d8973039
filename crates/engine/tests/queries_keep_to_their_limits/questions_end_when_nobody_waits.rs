//! Whoever gives up stops the work of every question, and of no write.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use malha_engine::language_model::{
    ChatModel, ChatReply, ChatRequest, Embedder, EmbeddingSpace, ModelError, Reranker, TextRole,
};
use malha_engine::text_to_cypher::Prompts;
use malha_engine::types::{
    AskMode, AskRequest, Budget, Cancel, Clock, CommunityRequest, ConflictPolicy, ContextRequest,
    CypherRequest, DocumentFilter, ForgetRequest, Memory, NeighborRequest, RecallRequest,
    SearchRequest, SpendingLimit, TimelineRequest, Timestamp,
};
use malha_engine::{Engine, Error, QueryWriter, Result};

use crate::facts::{SEED, engine};
use crate::village::village;

type Question = Box<dyn Fn(&Engine) -> Result<()>>;

/// Every question that an agent can ask, over the village.
fn questions() -> Vec<(&'static str, Question)> {
    fn one<T>(
        name: &'static str,
        ask: impl Fn(&Engine) -> Result<T> + 'static,
    ) -> (&'static str, Question) {
        (name, Box::new(move |engine| ask(engine).map(drop)))
    }
    let asked = |mode: AskMode| {
        move |engine: &Engine| {
            engine.ask(&AskRequest {
                mode,
                ..AskRequest::new("Who built the Kiln?")
            })
        }
    };
    vec![
        one("search", |engine| {
            engine.search(&SearchRequest::new("kiln"))
        }),
        one("context", |engine| {
            engine.context(&ContextRequest::new("kiln", Budget::tokens(500)))
        }),
        one("ask", asked(AskMode::Auto)),
        one("ask hybrid", asked(AskMode::Hybrid)),
        one("ask local", asked(AskMode::Local)),
        one("ask global", asked(AskMode::Global)),
        one("ask drift", asked(AskMode::Drift)),
        one("ask cypher", asked(AskMode::Cypher)),
        one("ask_graph", |engine| engine.ask_graph("Who is Ana Prado?")),
        one("cypher", |engine| {
            engine.cypher(&CypherRequest::new("MATCH (n) RETURN n"))
        }),
        one("entity", |engine| engine.entity("Kiln")),
        one("describe", |engine| engine.describe("Kiln")),
        one("neighbors", |engine| {
            engine.neighbors(&NeighborRequest::new("Kiln"))
        }),
        one("paths", |engine| engine.paths("Kiln", "Ana Prado", 4, 3)),
        one("timeline", |engine| {
            engine.timeline(&TimelineRequest::new("Kiln"))
        }),
        one("diff", |engine| {
            engine.diff(Timestamp(0), Timestamp(i64::MAX / 2), false, 10)
        }),
        one("hubs", |engine| engine.hubs(5)),
        one("entities", |engine| engine.entities(0, 5)),
        one("orphans", Engine::orphans),
        one("open_links", Engine::open_links),
        one("communities", |engine| {
            engine.communities(&CommunityRequest::default())
        }),
        one("community_report", |engine| engine.community_report(1)),
        one("documents", |engine| engine.documents("", None, 5)),
        one("document_text", |engine| {
            engine.document_text("notes/kiln.md")
        }),
        one("documents_matching", |engine| {
            engine.documents_matching(&DocumentFilter::default())
        }),
        one("stats", Engine::stats),
        one("operations", |engine| engine.operations(5)),
        one("graph_report", |engine| engine.graph_report(7)),
        one("preview_forget", |engine| {
            engine.preview_forget(&ForgetRequest {
                entities: vec!["Kiln".to_owned()],
                ..ForgetRequest::default()
            })
        }),
    ]
}

#[test]
fn every_question_ends_and_only_those_that_were_given_up() {
    let engine = village();
    let (given_up, waited_for) = (Cancel::default(), Cancel::default());
    let (stopped, other) = (
        engine.until(given_up.clone()),
        engine.until(waited_for.clone()),
    );
    engine.communities(&CommunityRequest::default()).unwrap();
    for (name, ask) in questions() {
        ask(&stopped).unwrap_or_else(|error| panic!("{name} before: {error}"));
    }
    given_up.cancel();
    for (name, ask) in questions() {
        let answer = ask(&stopped);
        assert!(
            matches!(answer, Err(Error::Interrupted)),
            "{name}: {answer:?}"
        );
        ask(&other).unwrap_or_else(|error| panic!("{name} after: {error}"));
    }
    let recalled = stopped.recall(&RecallRequest::new("kiln"));
    assert_eq!(recalled.notes.len(), 2, "{recalled:?}");
    assert!(recalled.evidence.is_empty() && recalled.relations.is_empty());
}

/// Looks at the clock as at any other, and gives up at the look of this number.
struct GivingUp {
    cancel: Cancel,
    looks: AtomicUsize,
    at: usize,
}

impl Clock for GivingUp {
    fn now(&self) -> Timestamp {
        if self.looks.fetch_add(1, Ordering::SeqCst) == self.at {
            self.cancel.cancel();
        }
        Timestamp(1_700_000_000_000)
    }
}

/// Communities are found between safe points, and found anew by whoever asks next.
#[test]
fn communities_that_nobody_waits_for_are_not_found() {
    let cancel = Cancel::default();
    let engine = village().with_clock(GivingUp {
        cancel: cancel.clone(),
        looks: AtomicUsize::new(0),
        at: 0,
    });
    let all = CommunityRequest::default();
    let until = engine.until(cancel.clone());
    let stopped = until.communities(&all);
    assert!(cancel.is_cancelled(), "it was begun");
    assert!(matches!(stopped, Err(Error::Interrupted)), "{stopped:?}");
    let found = engine.communities(&all).unwrap();
    assert!(found.total > 0 && !found.is_stale);
}

/// Gives up in the middle of its first call.
struct Model {
    cancel: Cancel,
    space: EmbeddingSpace,
    calls: AtomicUsize,
}

impl Model {
    fn new(cancel: &Cancel) -> Arc<Self> {
        Arc::new(Self {
            cancel: cancel.clone(),
            space: EmbeddingSpace {
                model: "model".to_owned(),
                dimensions: 4,
                query_prefix: String::new(),
                passage_prefix: String::new(),
                pooling: "mean".to_owned(),
                is_normalized: false,
            },
            calls: AtomicUsize::new(0),
        })
    }

    fn calls(&self) -> usize {
        self.calls.load(Ordering::SeqCst)
    }
}

impl Embedder for Model {
    fn space(&self) -> &EmbeddingSpace {
        &self.space
    }

    fn embed(
        &self,
        texts: &[&str],
        role: TextRole,
    ) -> std::result::Result<Vec<Vec<f32>>, ModelError> {
        if role == TextRole::Query {
            self.calls.fetch_add(1, Ordering::SeqCst);
            self.cancel.cancel();
        }
        Ok(texts.iter().map(|_| vec![1.0, 0.5, 0.25, 0.0]).collect())
    }
}

impl Reranker for Model {
    fn name(&self) -> &'static str {
        "model"
    }

    fn rerank(&self, _: &str, passages: &[&str]) -> std::result::Result<Vec<f32>, ModelError> {
        self.calls.fetch_add(1, Ordering::SeqCst);
        Ok(vec![1.0; passages.len()])
    }
}

#[test]
fn after_one_model_no_other_is_asked() {
    let cancel = Cancel::default();
    let (embedder, reranker) = (Model::new(&cancel), Model::new(&cancel));
    let (vectors, order) = (Arc::clone(&embedder), Arc::clone(&reranker));
    let engine = village()
        .with_embedder(Box::new(move || Ok(vectors.clone())))
        .with_reranker(Box::new(move || Ok(order.clone())));
    engine.embed(&()).unwrap();
    let until = engine.until(cancel.clone());
    let found = until.search(&SearchRequest::new("Who built the kiln?"));
    assert!(matches!(found, Err(Error::Interrupted)), "{found:?}");
    assert_eq!((embedder.calls(), reranker.calls()), (1, 0));
    // Whoever waits has both.
    engine.search(&SearchRequest::new("pottery")).unwrap();
    assert_eq!((embedder.calls(), reranker.calls()), (2, 1));
}

/// Writes what is no query, so that it is asked for one again, and again.
struct Writer {
    cancel: Cancel,
    asked: Mutex<Vec<ChatRequest>>,
}

impl ChatModel for Writer {
    fn name(&self) -> &'static str {
        "writer"
    }

    fn complete(
        &self,
        request: &ChatRequest,
        _: &mut dyn FnMut(&str),
    ) -> std::result::Result<ChatReply, ModelError> {
        self.asked.lock().unwrap().push(request.clone());
        self.cancel.cancel();
        Ok(ChatReply {
            text: "I would rather not.".to_owned(),
            ..ChatReply::default()
        })
    }
}

#[test]
fn a_reply_that_nobody_waits_for_is_kept() {
    let (_folder, engine) = engine(SEED);
    let cancel = Cancel::default();
    let model = Arc::new(Writer {
        cancel: cancel.clone(),
        asked: Mutex::default(),
    });
    let writer = QueryWriter {
        model: Arc::<Writer>::clone(&model),
        prompts: Prompts::builtin(),
        limit: SpendingLimit::default(),
    };
    let until = engine.until(cancel.clone());
    let answer = until.ask_graph_by("Who works on Ponte?", &writer);
    assert!(matches!(answer, Err(Error::Interrupted)), "{answer:?}");
    let asked = || model.asked.lock().unwrap().len();
    assert_eq!(asked(), 1, "it is not asked again");
    let answer = engine.ask_graph_by("Who works on Ponte?", &writer).unwrap();
    assert!(answer.queries.is_empty(), "{answer:?}");
    assert_eq!(asked(), 3, "the first reply was paid for, and stored");
}

/// What is written is not asked through an engine that may stop, and takes no notice of those that do.
#[test]
fn writing_goes_on_beside_questions_that_end() {
    let engine = village();
    let cancel = Cancel::default();
    let until = engine.until(cancel.clone());
    cancel.cancel();
    assert!(until.stats().is_err());
    let memory = Memory {
        text: "Caio mends the roof of the mill.".to_owned(),
        ..Memory::default()
    };
    engine.remember(&[memory], ConflictPolicy::Close).unwrap();
    assert_eq!(engine.stats().unwrap().documents, 5);
}

/// A clock whose first look takes longer than a query of a question may.
#[derive(Default)]
struct Slow(AtomicUsize);

impl Clock for Slow {
    fn now(&self) -> Timestamp {
        if self.0.fetch_add(1, Ordering::SeqCst) == 0 {
            std::thread::sleep(Duration::from_millis(5_100));
        }
        Timestamp(1_700_000_000_000)
    }
}

/// Queries of questions end at their time, which begins with the question, and when nobody waits.
#[test]
fn queries_of_questions_end_too() {
    let question = "Em que projeto trabalha Ana?";
    // More than a look at the limits costs.
    let projects = (0..300).map(|n| format!("Ana\ttrabalha_em\tP{n}\tPessoa\tProjeto\n"));
    let (_folder, patient) = engine(&projects.collect::<String>());
    assert!(patient.ask_graph(question).unwrap().knows());
    let cancel = Cancel::default();
    let giving_up = patient.with_clock(GivingUp {
        cancel: cancel.clone(),
        looks: AtomicUsize::new(0),
        at: 0,
    });
    let answer = giving_up.until(cancel).ask_graph(question);
    assert!(matches!(answer, Err(Error::Interrupted)), "{answer:?}");
    let slow = giving_up.with_clock(Slow::default());
    let told = match slow.ask_graph(question) {
        Ok(answer) => answer.queries[0].error.clone().unwrap_or_default(),
        Err(error) => error.to_string(),
    };
    assert!(told.contains("took more than 5000 ms"), "{told}");
}
