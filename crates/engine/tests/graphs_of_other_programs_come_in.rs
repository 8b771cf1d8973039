//! What other programs found comes in as a model's reply does: checked against the passages, listed where it fails.
//! The files are of a text of our own, written by `fixtures/foreign.py`.

use std::path::{Path, PathBuf};

use malha_engine::exchange::{ForeignFormat, read_foreign};
use malha_engine::types::{
    ClaimStatus, CommunityLevel, CommunityRequest, ForeignReport, TimelineRequest,
};
use malha_engine::{DocumentInput, Engine, EngineConfig, Error};
use serde_json::json;

#[path = "support/replay.rs"]
#[expect(dead_code, reason = "other tests use the rest")]
mod replay;

use replay::{Replay, extract, reply, ties};

fn fixture(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/fixtures/foreign")
        .join(name)
}

fn import(format: ForeignFormat, name: &str) -> (Engine, ForeignReport) {
    let engine = Engine::in_memory(EngineConfig::default()).unwrap();
    let report = engine
        .import_foreign(format, &fixture(name), "import/x", &())
        .unwrap();
    assert!(engine.verify().unwrap().violations.is_empty());
    (engine, report)
}

fn reasons(report: &ForeignReport) -> Vec<&str> {
    report
        .failures
        .iter()
        .map(|failure| failure.reason.as_str())
        .collect()
}

#[test]
fn tables_of_microsoft_graphrag_come_in_with_claims_and_communities() {
    let (engine, report) = import(ForeignFormat::GraphRag, "msgraphrag");
    assert_eq!(
        (report.passages, report.matched, report.entities),
        (2, 2, 4)
    );
    assert_eq!(
        reasons(&report),
        ["NOWHERE: none of its text units is there"]
    );
    assert_eq!(
        ties(&engine, "Northwind"),
        [
            "ANA PRADO RELATED_TO NORTHWIND",
            "BRUNO REIS RELATED_TO NORTHWIND",
        ]
    );
    assert_eq!(engine.entity("Ana Prado").unwrap()[0].types, ["PERSON"]);
    // What no passage says is listed, not stored.
    let aside = engine.quarantine().unwrap();
    assert_eq!(aside.len(), 2, "{aside:?}");
    assert!(aside.iter().any(|item| item.item.contains("SERRA")));
    assert!(
        aside.iter().any(|item| item.kind == "claim"),
        "no quote bears it out"
    );
    // Covariates are claims.
    let claims = engine
        .timeline(&TimelineRequest::new("Bruno Reis"))
        .unwrap()
        .claims;
    assert_eq!(claims.len(), 1);
    assert_eq!(
        (claims[0].status, claims[0].claim_type.as_str()),
        (ClaimStatus::True, "LEADERSHIP")
    );
    assert_eq!(
        claims[0].times.valid_from_written.as_deref(),
        Some("2021-01-01")
    );
    // Levels keep their meaning: 0 is the coarsest.
    let communities = engine
        .communities(&CommunityRequest {
            limit: 10,
            members: 10,
            ..CommunityRequest::default()
        })
        .unwrap();
    assert_eq!(report.communities, 3);
    assert_eq!(communities.communities.len(), 1);
    assert_eq!(communities.communities[0].size, 4);
    let found = engine
        .community_report(communities.communities[0].id)
        .unwrap();
    assert_eq!(found.title, "Northwind and its people");
    assert_eq!(found.summary, "A rope maker, its founder and its head.");
    // The passages are documents.
    assert_eq!(engine.stats().unwrap().documents, 2);
}

#[test]
fn folders_of_light_rag_and_nano_graphrag_come_in() {
    for (format, name) in [
        (ForeignFormat::LightRag, "lightrag"),
        (ForeignFormat::Nano, "nano"),
    ] {
        let (engine, report) = import(format, name);
        assert_eq!(
            (report.matched, report.entities, report.relations),
            (2, 3, 2),
            "{name}"
        );
        assert!(report.failures.is_empty(), "{report:?}");
        let northwind = &engine.entity("Northwind").unwrap()[0];
        assert_eq!(
            northwind.description.as_deref(),
            Some("A maker of ropes. A firm that Bruno Reis leads.")
        );
        assert_eq!(northwind.types.len(), 1);
        assert_eq!(ties(&engine, "Ana Prado").len(), 1, "{name}");
        assert_eq!(report.communities, usize::from(name == "nano"));
    }
}

#[test]
fn imported_reports_stay_until_their_members_change() {
    let (engine, _) = import(ForeignFormat::GraphRag, "msgraphrag");
    let shown = |level| {
        let list = engine.communities(&CommunityRequest {
            level,
            limit: 10,
            members: 10,
            ..CommunityRequest::default()
        });
        let mut shown: Vec<(i64, usize, String)> = list
            .unwrap()
            .communities
            .into_iter()
            .map(|community| (community.id, community.size, community.title))
            .collect();
        shown.sort();
        shown
    };
    let (coarse, middle) = (shown(CommunityLevel::Coarse), shown(CommunityLevel::Middle));
    assert_eq!(coarse[0].2, "Northwind and its people");
    // What comes later has communities of its own, and neither its names nor more about the old ones change a report.
    let note = |uri: &str, text: &str| DocumentInput {
        uri: uri.to_owned(),
        title: uri.to_owned(),
        text: text.to_owned(),
    };
    let notes = [
        note(
            "a.md",
            "# Tides\n\n[[Harbour]] and [[Pier]] wait for Northwind.",
        ),
        note("b.md", "# Pier\n\nThe [[Harbour]] pays Ana Prado."),
    ];
    engine.index_documents("notes", &notes, &()).unwrap();
    for (level, before) in [
        (CommunityLevel::Coarse, &coarse),
        (CommunityLevel::Middle, &middle),
    ] {
        let now = shown(level);
        assert_eq!(now[..before.len()], before[..], "{level:?}");
        assert!(now.len() > before.len(), "{now:?}");
    }
    let report = engine.community_report(coarse[0].0).unwrap();
    assert_eq!(report.summary, "A rope maker, its founder and its head.");
    assert_eq!(report.model.as_deref(), Some("msgraphrag"));
    assert_eq!(
        engine
            .communities(&CommunityRequest::default())
            .unwrap()
            .total,
        shown(CommunityLevel::Coarse).len()
    );
    // Bruno Reis goes: the report that speaks of him does too, that of the others stays theirs.
    let kept = [note(
        "u0",
        "Ana Prado founded Northwind in Lagoa. Northwind makes ropes.",
    )];
    engine.index_documents("import/x", &kept, &()).unwrap();
    let now = shown(CommunityLevel::Coarse);
    assert_eq!((now[0].0, now[0].1), (coarse[0].0, 3), "{now:?}");
    assert_eq!(engine.community_report(now[0].0).unwrap().model, None);
    assert!(engine.verify().unwrap().violations.is_empty());
}

#[test]
fn communities_that_are_left_out_are_counted() {
    let folder = tempfile::tempdir().unwrap();
    for file in std::fs::read_dir(fixture("nano")).unwrap() {
        let file = file.unwrap();
        std::fs::copy(file.path(), folder.path().join(file.file_name())).unwrap();
    }
    let community = |level: usize, node: &str| json!({ "level": level, "nodes": [node], "report_json": { "title": node, "summary": "Paid for." } });
    let reports = json!({
        "0": community(0, "ANA PRADO"), "1": community(3, "ANA PRADO"), "2": community(4, "NORTHWIND"),
        "3": community(1, "NOBODY"),
    });
    let path = folder.path().join("kv_store_community_reports.json");
    std::fs::write(path, reports.to_string()).unwrap();
    let engine = Engine::in_memory(EngineConfig::default()).unwrap();
    let report = engine
        .import_foreign(ForeignFormat::Nano, folder.path(), "import/x", &())
        .unwrap();
    assert_eq!(
        (
            report.communities,
            report.communities_too_fine,
            report.communities_unknown
        ),
        (1, 2, 1)
    );
}

#[test]
fn triples_by_passage_come_in_with_or_without_their_texts() {
    let (engine, report) = import(ForeignFormat::OpenIe, "openie.json");
    assert_eq!((report.matched, report.relations), (2, 3));
    assert_eq!(
        reasons(&report),
        [
            "no entity: 7",
            "no triple of three texts: [\"Bruno Reis\",\"grew up\"]"
        ]
    );
    assert_eq!(ties(&engine, "Bruno Reis"), ["Bruno Reis leads Northwind"]);
    // Without texts, the documents of the store are looked up by id.
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("triples.jsonl");
    let line =
        r#"{"id":"p0","entities":["Ana Prado"],"triples":[["Ana Prado","founded","Northwind"]]}"#;
    std::fs::write(
        &path,
        format!("{line}\n{{\"id\":\"p9\",\"triples\":[]}}\nno json\n"),
    )
    .unwrap();
    let engine = Engine::in_memory(EngineConfig::default()).unwrap();
    let documents = [DocumentInput {
        uri: "p0".to_owned(),
        title: String::new(),
        text: "Ana Prado founded Northwind in 1963.".to_owned(),
    }];
    engine.index_documents("notes", &documents, &()).unwrap();
    let report = engine
        .import_foreign(ForeignFormat::OpenIe, &path, "triples", &())
        .unwrap();
    assert_eq!(
        (report.passages, report.matched, report.failures.len()),
        (2, 1, 2)
    );
    assert_eq!(ties(&engine, "Northwind"), ["Ana Prado founded Northwind"]);
    // A second time changes nothing, and nobody is asked about what is known.
    let digest = engine.digest().unwrap();
    engine
        .import_foreign(ForeignFormat::OpenIe, &path, "triples", &())
        .unwrap();
    assert_eq!(engine.digest().unwrap(), digest);
    let model = Replay::new(|_, _| reply("{}"));
    assert_eq!(extract(&engine, &model).known, 1);
    assert_eq!((model.total(), engine.digest().unwrap()), (0, digest));
    // It says nothing about another text.
    let changed = [DocumentInput {
        text: "Ana Prado left Northwind.".to_owned(),
        ..documents[0].clone()
    }];
    engine.index_documents("notes", &changed, &()).unwrap();
    assert!(ties(&engine, "Northwind").is_empty());
}

#[test]
fn files_that_are_none_of_it_say_so() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path();
    for format in [
        ForeignFormat::GraphRag,
        ForeignFormat::LightRag,
        ForeignFormat::Nano,
    ] {
        let error = read_foreign(format, path).unwrap_err();
        assert!(
            matches!(&error, Error::Usage(reason) if reason.contains("there is no")),
            "{error}"
        );
    }
    std::fs::write(path.join("text_units.parquet"), b"PAR1 and nothing PAR1").unwrap();
    let error = read_foreign(ForeignFormat::GraphRag, path).unwrap_err();
    assert!(error.to_string().contains("text_units.parquet"), "{error}");
    std::fs::write(path.join("x.json"), "neither").unwrap();
    assert!(read_foreign(ForeignFormat::OpenIe, &path.join("x.json")).is_err());
}

#[test]
fn a_damaged_table_is_an_error_and_never_a_panic() {
    let whole = std::fs::read(fixture("msgraphrag").join("entities.parquet")).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let source = fixture("msgraphrag");
    for name in ["text_units", "relationships"] {
        let file = format!("{name}.parquet");
        std::fs::copy(source.join(&file), folder.path().join(&file)).unwrap();
    }
    let path = folder.path().join("entities.parquet");
    for at in 0..whole.len() {
        for change in [0x01, 0x80, 0xff] {
            let mut bytes = whole.clone();
            bytes[at] ^= change;
            std::fs::write(&path, &bytes).unwrap();
            let _ = read_foreign(ForeignFormat::GraphRag, folder.path());
        }
    }
    for length in (0..whole.len()).step_by(7) {
        std::fs::write(&path, &whole[..length]).unwrap();
        let _ = read_foreign(ForeignFormat::GraphRag, folder.path());
    }
}
