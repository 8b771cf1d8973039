//! Facts with dates: both bounds, all precisions, what replaces what, and what a question about another
//! moment may see.

use std::fs;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

use malha_engine::exchange::{TripleOptions, TripleReport};
use malha_engine::types::{
    Clock, Direction, NeighborRequest, SearchRequest, Standing, TimelineRequest, Times, Timestamp,
};
use malha_engine::{Engine, EngineConfig, SourceSpec, parse_moment, parse_times};
use tempfile::TempDir;

/// A clock that the test sets.
#[derive(Clone, Default)]
struct Hand(Arc<AtomicI64>);

impl Hand {
    fn set(&self, date: &str) {
        self.0
            .store(parse_moment(date).unwrap().0, Ordering::Relaxed);
    }
}

impl Clock for Hand {
    fn now(&self) -> Timestamp {
        Timestamp(self.0.load(Ordering::Relaxed))
    }
}

struct World {
    folder: TempDir,
    clock: Hand,
    engine: Engine,
}

impl World {
    fn new() -> Self {
        let clock = Hand::default();
        clock.set("2024-06-01");
        let folder = tempfile::tempdir().unwrap();
        let engine = Engine::create(&folder.path().join("store.db"), EngineConfig::default())
            .unwrap()
            .with_clock(clock.clone());
        Self {
            folder,
            clock,
            engine,
        }
    }

    fn path(&self) -> &Path {
        self.folder.path()
    }

    fn load(&self, name: &str, lines: &[&str], exclusive: &[&str]) -> TripleReport {
        let path = self.path().join(name);
        fs::write(&path, lines.join("\n")).unwrap();
        let options = TripleOptions {
            exclusive: exclusive.iter().map(|&name| name.to_owned()).collect(),
            ..TripleOptions::default()
        };
        let report = self.engine.import_triples(&path, name, &options).unwrap();
        let violations = self.engine.verify().unwrap().violations;
        assert!(violations.is_empty(), "{violations:?}");
        report
    }

    /// The objects of what a subject is shown to have, by name.
    fn objects(&self, times: Times, subject: &str) -> Vec<String> {
        let found = self
            .engine
            .at(times)
            .neighbors(&NeighborRequest {
                max_hops: 1,
                direction: Direction::Out,
                ..NeighborRequest::new(subject)
            })
            .unwrap();
        let start = found.nodes[0].entity.public_id.clone();
        let mut names: Vec<String> = found
            .relations
            .into_iter()
            .filter(|relation| relation.source_id == start)
            .map(|relation| relation.target)
            .collect();
        names.sort();
        names
    }

    fn as_of(&self, date: &str, subject: &str) -> Vec<String> {
        self.objects(parse_times(Some(date), None).unwrap(), subject)
    }

    fn known_at(&self, date: &str, subject: &str) -> Vec<String> {
        self.objects(parse_times(None, Some(date)).unwrap(), subject)
    }

    /// `2019–2021 Whitefield past`, oldest first.
    fn timeline(&self, subject: &str, history: bool) -> Vec<String> {
        let timeline = self.engine.timeline(&TimelineRequest {
            history,
            ..TimelineRequest::new(subject)
        });
        let written = |date: Option<String>| date.unwrap_or_default();
        timeline
            .unwrap()
            .entries
            .into_iter()
            .map(|entry| {
                let relation = entry.relation;
                let cause = relation.ended_by.map(|cause| format!(" by {cause}"));
                format!(
                    "{}–{} {} {}{}",
                    written(relation.times.valid_from_written),
                    written(relation.times.valid_to_written),
                    relation.target,
                    entry.standing.as_str(),
                    cause.unwrap_or_default()
                )
            })
            .collect()
    }
}

#[test]
fn a_start_counts_and_an_end_does_not_whatever_the_precision() {
    let world = World::new();
    let report = world.load(
        "facts.tsv",
        &[
            "subject\trelation\tobject\tvalid_from\tvalid_to",
            "P\tplays for\tOne year\t2006\t2006",
            "P\tplays for\tMonths\t2006-02\t2006-03",
            "P\tplays for\tDays\t2006-02-10\t2006-02-10",
            "P\tplays for\tInstant\t2006-02-10T10:00:00-03:00\t2006-02-10T14:00:00Z",
            "P\tplays for\tUnknown end\t2006\t",
            "P\tplays for\tUnknown start\t\t2006",
            "P\tplays for\tUnreadable end\t2007\tnot a date",
            "P\tplays for\tBackwards\t2009\t2008",
            "P\tplays for\tNothing\t2009-01-01T10:00:00Z\t2009-01-01T10:00:00Z",
        ],
        &[],
    );
    assert_eq!((report.facts, report.failed), (7, 2));
    let reasons: Vec<_> = report.failures.iter().map(|f| f.line).collect();
    assert_eq!(reasons, [9, 10], "both backwards periods are listed");
    assert!(report.warnings[0].reason.contains("not a date"));

    let check = |date: &str, expected: &[&str]| {
        assert_eq!(world.as_of(date, "P"), expected, "as of {date}");
    };
    check("2005-12-31T23:59:59Z", &["Unknown start"]);
    check("2006-01-01", &["One year", "Unknown end", "Unknown start"]);
    // "2006" as an end means until 2007.
    check(
        "2006-12-31T23:59:59Z",
        &["One year", "Unknown end", "Unknown start"],
    );
    check("2007-01-01", &["Unknown end", "Unreadable end"]);
    let all_of = |more: &[&'static str]| {
        let mut names = vec!["Months", "One year", "Unknown end", "Unknown start"];
        names.extend(more);
        names.sort_unstable();
        names
    };
    check("2006-02-01", &all_of(&[]));
    check("2006-03-31T23:59:59Z", &all_of(&[]));
    check("2006-04-01", &["One year", "Unknown end", "Unknown start"]);
    check("2006-02-10T00:00:00Z", &all_of(&["Days"]));
    check("2006-02-10T12:59:59Z", &all_of(&["Days"]));
    // The offset is part of the moment.
    check("2006-02-10T13:00:00Z", &all_of(&["Days", "Instant"]));
    check("2006-02-10T10:30:00-03:00", &all_of(&["Days", "Instant"]));
    check("2006-02-10T14:00:00Z", &all_of(&["Days"]));
    check("2006-02-11", &all_of(&[]));
}

#[test]
fn dates_with_and_without_a_zone_are_orderable_and_keep_their_precision() {
    let world = World::new();
    let dates = [
        "2025-03-30",
        "2025-03-30T01:30",
        "2025-03-30T01:30:00Z",
        "2025-03-30T01:30:00-03:00",
        "2025-03-30T02:30:00+01:00[Europe/Paris]",
        "0001",
        "not a date",
    ];
    let lines: Vec<String> = (0..)
        .zip(dates)
        .map(|(n, date)| {
            serde_json::json!({"s": "S", "r": "r", "o": format!("o{n}"), "start": date}).to_string()
        })
        .collect();
    let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
    let report = world.load("facts.jsonl", &lines, &[]);
    assert_eq!((report.facts, report.warnings.len()), (7, 1));
    let timeline = world.engine.timeline(&TimelineRequest::new("S")).unwrap();
    let found: Vec<(String, Option<String>, Option<String>)> = timeline
        .entries
        .into_iter()
        .map(|entry| {
            let times = entry.relation.times;
            (
                entry.relation.target,
                times.valid_from,
                times.valid_from_written,
            )
        })
        .collect();
    let expect = |object: &str, at: Option<&str>, written: Option<&str>| {
        let text = |text: Option<&str>| text.map(str::to_owned);
        (object.to_owned(), text(at), text(written))
    };
    assert_eq!(
        found,
        [
            // What is no date is unknown, never now.
            expect("o6", None, None),
            expect("o5", Some("0001-01-01T00:00:00Z"), Some("0001")),
            expect("o0", Some("2025-03-30T00:00:00Z"), Some(dates[0])),
            // A time without an offset is UTC.
            expect("o1", Some("2025-03-30T01:30:00Z"), Some(dates[1])),
            expect("o2", Some("2025-03-30T01:30:00Z"), Some(dates[2])),
            expect("o4", Some("2025-03-30T01:30:00Z"), Some(dates[4])),
            expect("o3", Some("2025-03-30T04:30:00Z"), Some(dates[3])),
        ]
    );
}

#[test]
fn the_present_is_shown_unless_another_time_is_asked_for() {
    let world = World::new();
    let mut lines = Vec::new();
    for n in 0..25 {
        lines.push(format!("S\tuses\tclosed {n:02}\t2020\t2022"));
    }
    for n in 0..3 {
        lines.push(format!("S\tuses\topen {n}\t2021\t"));
    }
    for n in 0..2 {
        lines.push(format!("S\tuses\ttomorrow {n}\t2024-06-02\t"));
    }
    let head = "subject\trelation\tobject\tvalid_from\tvalid_to";
    let lines: Vec<&str> = std::iter::once(head)
        .chain(lines.iter().map(String::as_str))
        .collect();
    world.load("facts.tsv", &lines, &[]);
    let open = ["open 0", "open 1", "open 2"];
    assert_eq!(world.objects(Times::default(), "S"), open);
    // A small page is filled with what holds.
    let page = world.engine.neighbors(&NeighborRequest {
        max_nodes: 4,
        ..NeighborRequest::new("S")
    });
    assert_eq!(page.unwrap().relations.len(), 3);
    assert_eq!(world.as_of("2024-05-31", "S"), open);
    assert_eq!(world.as_of("2023-01-01", "S"), open);
    assert_eq!(world.as_of("2022-12-31", "S").len(), 28);
    assert_eq!(world.as_of("2020-06-01", "S").len(), 25);
    assert_eq!(world.as_of("2024-06-02", "S").len(), 5);
    let history = world.engine.timeline(&TimelineRequest::new("S")).unwrap();
    let count = |standing| {
        let entries = history.entries.iter();
        entries.filter(|entry| entry.standing == standing).count()
    };
    assert_eq!(
        [Standing::Past, Standing::Current, Standing::Future].map(count),
        [25, 3, 2]
    );
}

#[test]
fn an_exclusive_fact_ends_where_the_next_one_of_its_subject_begins() {
    let world = World::new();
    world.load(
        "facts.tsv",
        &[
            "subject\trelation\tobject\tvalid_from",
            "Kiran\tlives in\tWhitefield\t2019",
            "Whitefield\thas\tnew library\t2020",
            "Maya\tlives in\tWhitefield\t2018",
            "Kiran\tis assigned to\tPayments\t2020",
            "Kiran\tfriend of\tMaya\t2020",
            "Kiran\tfriend of\tJoana\t2021",
        ],
        &["lives in", "IS ASSIGNED TO"],
    );
    world.clock.set("2024-06-02");
    let report = world.load(
        "moves.tsv",
        &[
            "subject\trelation\tobject\tvalid_from",
            "Kiran\tlives in\tElectronic City\t2023",
            "Kiran\tis assigned to\tSearch\t2024-05",
        ],
        &[],
    );
    assert_eq!((report.relations_ended, report.conflicts), (2, 0));
    assert_eq!(
        world.timeline("Kiran", false),
        [
            "2019–2023 Whitefield past by Kiran lives in Electronic City",
            "2020–2024-05 Payments past by Kiran is assigned to Search",
            "2020– Maya current",
            "2021– Joana current",
            "2023– Electronic City current",
            "2024-05– Search current",
        ]
    );
    assert_eq!(world.objects(Times::default(), "Maya"), ["Whitefield"]);
    assert_eq!(
        world.objects(Times::default(), "Whitefield"),
        ["new library"]
    );
    // What was known before is still there to be asked for.
    let before = parse_times(None, Some("2024-06-01")).unwrap();
    assert_eq!(
        world.objects(before, "Kiran"),
        ["Joana", "Maya", "Payments", "Whitefield"]
    );

    // A late fact finds its place in the past.
    world.clock.set("2024-06-03");
    world.load(
        "late.tsv",
        &[
            "subject\trelation\tobject\tvalid_from",
            "Kiran\tlives in\tMysore\t2021",
        ],
        &[],
    );
    assert_eq!(
        world.as_of("2020", "Kiran"),
        ["Maya", "Payments", "Whitefield"]
    );
    assert!(world.as_of("2022", "Kiran").contains(&"Mysore".to_owned()));
    assert!(
        !world
            .as_of("2022", "Kiran")
            .contains(&"Whitefield".to_owned())
    );
    assert!(
        world
            .as_of("2023", "Kiran")
            .contains(&"Electronic City".to_owned())
    );

    // What is no longer stated lets its predecessor go on.
    world.clock.set("2024-06-04");
    world.load("moves.tsv", &["Kiran\tuses\tTram"], &[]);
    assert!(
        world
            .objects(Times::default(), "Kiran")
            .contains(&"Mysore".to_owned())
    );
    assert!(
        world
            .objects(Times::default(), "Kiran")
            .contains(&"Payments".to_owned())
    );
    assert_eq!(
        world.known_at("2024-06-03", "Kiran"),
        ["Electronic City", "Joana", "Maya", "Search"]
    );

    // Two at once: neither ends the other, and it is said.
    let report = world.load(
        "conflict.tsv",
        &[
            "subject\trelation\tobject\tvalid_from",
            "Kiran\tlives in\tHubli\t2021",
        ],
        &[],
    );
    assert_eq!(report.conflicts, 1);
    assert!(report.warnings[0].reason.contains("Mysore"), "{report:?}");
}

#[test]
fn a_question_about_another_time_sees_no_passage_from_after_it() {
    let world = World::new();
    let vault = world.path().join("vault");
    fs::create_dir(&vault).unwrap();
    let index = |date: &str| {
        world.clock.set(date);
        let source = SourceSpec {
            root: vault.clone(),
            convention: None,
        };
        world.engine.index(&[source], &()).unwrap();
    };
    fs::write(vault.join("pier.md"), "The old pier, see [[harbour]].").unwrap();
    fs::write(vault.join("harbour.md"), "The harbour and its pier.").unwrap();
    index("2024-07-01");
    fs::write(
        vault.join("plan.md"),
        "---\ndate: 2030-01-01\n---\nA new pier.",
    )
    .unwrap();
    fs::write(vault.join("pier.md"), "The old pier was torn down.").unwrap();
    index("2024-08-01");
    let uris = |as_of: Option<&str>, known_at: Option<&str>| {
        let engine = world.engine.at(parse_times(as_of, known_at).unwrap());
        let found = engine.search(&SearchRequest::new("pier")).unwrap();
        let mut uris: Vec<String> = found.results.into_iter().map(|hit| hit.uri).collect();
        uris.sort();
        (uris.join(" "), found.notes.join(" "))
    };
    let all = "vault/harbour.md vault/pier.md vault/plan.md";
    assert_eq!(uris(None, None).0, all);
    assert_eq!(uris(Some("2030"), None).0, all);
    assert_eq!(
        uris(Some("2024-09-01"), None).0,
        "vault/harbour.md vault/pier.md"
    );
    let (then, note) = uris(None, Some("2024-07-15"));
    assert_eq!(then, "vault/harbour.md");
    assert!(note.contains("1 passages of that time"), "{note}");

    // The link went with the edit: it held until then, and that stays known.
    let pier = "vault/pier.md";
    assert_eq!(world.objects(Times::default(), pier), Vec::<String>::new());
    assert_eq!(world.as_of("2024-07-15", pier), ["harbour"]);
    assert_eq!(world.known_at("2024-07-15", pier), ["harbour"]);
    assert_eq!(world.as_of("2024-08-01", pier), Vec::<String>::new());
    assert_eq!(world.as_of("2024-06-30", pier), Vec::<String>::new());

    let diff = |knowledge| {
        let (from, to) = (parse_moment("2024-07-15"), parse_moment("2024-08-15"));
        let found = world.engine.diff(from.unwrap(), to.unwrap(), knowledge, 10);
        let found = found.unwrap();
        (found.began.len(), found.ended.len())
    };
    assert_eq!(diff(false), (0, 1));
    // A note that is gone can still be asked for as of a time when it was there.
    fs::remove_file(vault.join("harbour.md")).unwrap();
    index("2024-09-01");
    assert_eq!(world.as_of("2024-07-15", pier), ["harbour"]);
    let then = world
        .engine
        .at(parse_times(Some("2024-07-15"), None).unwrap());
    let gone = then.timeline(&TimelineRequest::new("harbour")).unwrap();
    assert_eq!(gone.entries.len(), 1);
}
