//! Facts from files: merged on load, dated, reported line by line, harmless whatever they are called.

use std::path::Path;
use std::time::Duration;

use malha_engine::exchange::{TripleOptions, TripleReport, import_triples};
use malha_engine::storage::{SqlLimits, Store};
use malha_engine::types::{Namespace, Timestamp};
use malha_engine::{DocumentInput, Engine, EngineConfig, Error};

const NOW: Timestamp = Timestamp(1_700_000_000_000);

struct Files {
    folder: tempfile::TempDir,
    store: Store,
}

impl Files {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::create_or_open(&folder.path().join("malha.db")).unwrap();
        Self { folder, store }
    }

    fn load_with(&self, name: &str, text: &str, options: &TripleOptions) -> TripleReport {
        let path = self.folder.path().join(name);
        std::fs::write(&path, text).unwrap();
        let lease = self.store.write_lease("test", Duration::ZERO).unwrap();
        let transaction = lease.transaction().unwrap();
        let uri = format!("import:{name}");
        let report = import_triples(
            &transaction,
            &Namespace::default(),
            &path,
            &uri,
            options,
            NOW,
        )
        .unwrap();
        transaction.commit().unwrap();
        assert_eq!(self.store.verify().unwrap().violations, []);
        report
    }

    fn load(&self, name: &str, text: &str) -> TripleReport {
        self.load_with(name, text, &TripleOptions::default())
    }

    fn digest(&self) -> String {
        self.store.digest(&Namespace::default()).unwrap()
    }

    /// The rows of a query, fields joined by `|`.
    fn rows(&self, sql: &str) -> Vec<String> {
        let mut store = Store::open_read_only(self.path()).unwrap();
        let mut rows = Vec::new();
        store
            .sql(
                sql,
                SqlLimits::default(),
                || false,
                |_, row| {
                    let fields: Vec<String> = row
                        .iter()
                        .map(|value| value.as_str().map_or(value.to_string(), str::to_owned))
                        .collect();
                    rows.push(fields.join("|"));
                    Ok(())
                },
            )
            .unwrap();
        rows
    }

    fn path(&self) -> &Path {
        self.store.path().unwrap()
    }
}

#[test]
fn three_times_the_same_file_and_once_a_copy() {
    let files = Files::new();
    let text = "A\tUSES\tB\nA\tUSES\tB\nB\tUSES\tC\n";
    let first = files.load("facts.tsv", text);
    assert_eq!(
        (first.lines, first.facts, first.repeated),
        (3, 2, 1),
        "{first:?}"
    );
    let digest = files.digest();
    for _ in 0..2 {
        let again = files.load("facts.tsv", text);
        assert!(again.unchanged);
        assert_eq!(files.digest(), digest);
    }
    let copy = files.load("copy.tsv", text);
    assert_eq!((copy.relations_added, copy.entities_added), (0, 0));
    assert_eq!(
        files.rows("SELECT src <> dst, rel, weight FROM edges ORDER BY src"),
        ["1|USES|2.0", "1|USES|2.0"],
        "the copy is a second provenance of the same facts"
    );
}

#[test]
fn an_edited_file_replaces_what_it_said_before() {
    let files = Files::new();
    files.load("facts.tsv", "A\tUSES\tB\nB\tUSES\tC\nC\tUSES\tD\n");
    let report = files.load("facts.tsv", "C\tUSES\tD\nA\tUSES\tB\n");
    assert_eq!((report.relations_added, report.relations_closed), (0, 1));
    let fresh = Files::new();
    fresh.load("facts.tsv", "C\tUSES\tD\nA\tUSES\tB\n");
    assert_eq!(files.digest(), fresh.digest());
    files.load("facts.tsv", "# nothing left\n");
    assert_eq!(
        files.rows("SELECT count(*) FROM edges UNION ALL SELECT count(*) FROM relation"),
        ["0", "3"],
        "history stays"
    );
    assert_eq!(files.rows("SELECT name FROM nodes"), ["facts.tsv"]);
}

#[test]
fn a_name_that_an_indexed_document_bears_is_refused() {
    let files = Files::new();
    let engine = Engine::open(files.path(), EngineConfig::default()).unwrap();
    let document = DocumentInput {
        uri: "facts.tsv".to_owned(),
        title: "Facts".to_owned(),
        text: "Nothing but text.".to_owned(),
    };
    engine.index_documents("import:", &[document], &()).unwrap();
    drop(engine);
    let uri = files.rows("SELECT uri FROM document").remove(0);
    let before = files.digest();
    let path = files.folder.path().join("f.tsv");
    std::fs::write(&path, "A\tUSES\tB\n").unwrap();
    let lease = files.store.write_lease("test", Duration::ZERO).unwrap();
    let transaction = lease.transaction().unwrap();
    let options = TripleOptions::default();
    let refused = import_triples(
        &transaction,
        &Namespace::default(),
        &path,
        &uri,
        &options,
        NOW,
    );
    assert!(matches!(refused, Err(Error::Usage(_))), "{refused:?}");
    drop(transaction);
    assert_eq!(files.digest(), before);
}

#[test]
fn sources_named_by_the_lines_count_each() {
    let files = Files::new();
    files.load(
        "f.jsonl",
        r#"{"subject":"A","relation":"r","object":"B","source":"book 1"}
{"subject":"A","relation":"r","object":"B","source":"book 2"}
{"subject":"A","relation":"r","object":"B","source":"book 2"}
"#,
    );
    assert_eq!(files.rows("SELECT weight FROM edges"), ["2.0"]);
    files.load(
        "f.jsonl",
        r#"{"subject":"A","relation":"r","object":"B","source":"book 2"}"#,
    );
    assert_eq!(files.rows("SELECT weight FROM edges"), ["1.0"]);
}

#[test]
fn spellings_of_a_name_are_one_node() {
    let lines = [
        "\"ROMAN EMPIRE \"",
        "ROMAN EMPIRE",
        "“Roman Empire”",
        "Roman  Empire",
        "&quot;Roman Empire&quot;",
        "Ro\u{200b}man Empire",
    ];
    let mut digests = Vec::new();
    for reverse in [false, true] {
        let mut lines: Vec<String> = lines
            .iter()
            .map(|name| format!("{name}\tfell in\t476"))
            .collect();
        if reverse {
            lines.reverse();
        }
        let files = Files::new();
        let report = files.load("f.tsv", &lines.join("\n"));
        assert_eq!(report.failed, 0);
        assert_eq!(
            files.rows("SELECT name, degree FROM nodes WHERE degree > 0 ORDER BY name"),
            ["476|1", "Roman Empire|1"]
        );
        assert_eq!(
            files.rows("SELECT properties FROM entity WHERE key = 'roman empire'"),
            [r#"{"spellings":["ROMAN EMPIRE"]}"#]
        );
        digests.push(files.rows(
            "SELECT kind, key, name, properties FROM entity WHERE kind = 'concept' ORDER BY key",
        ));
    }
    assert_eq!(digests[0], digests[1]);
}

#[test]
fn loops_to_oneself_are_rejected_and_counted() {
    let text = "Billing API\tUSES\tLedger\nLedger\tUSES\tLedger\nBilling API\tUSES\tbilling-api\n";
    let files = Files::new();
    let report = files.load("f.tsv", text);
    assert_eq!(
        (report.lines, report.facts, report.self_loops),
        (3, 1, 2),
        "{report:?}"
    );
    let files = Files::new();
    let options = TripleOptions {
        allow_self_loops: true,
        ..TripleOptions::default()
    };
    let report = files.load_with("f.tsv", text, &options);
    assert_eq!((report.facts, report.self_loops), (3, 0));
}

#[test]
fn exact_names_stay_apart_and_the_same_file_is_read_anew_for_them() {
    let text =
        "Rocky\tTAGGED\tboxing\nMotel\tTAGGED\trocky\n+1\tTAGGED\tparty\n1\tTAGGED\tnumbers\n";
    let names =
        "SELECT count(*) FROM entity WHERE kind = 'concept' AND retracted_at IS NULL AND key IN
         ('Rocky', 'rocky', '+1', '1')";
    let files = Files::new();
    let folded = files.load("f.tsv", text);
    assert_eq!((folded.facts, folded.entities_added), (4, 6));
    assert_eq!(files.rows(names), ["2"]);
    let options = TripleOptions {
        exact_names: true,
        ..TripleOptions::default()
    };
    let exact = files.load_with("f.tsv", text, &options);
    assert!(!exact.unchanged);
    assert_eq!(exact.facts, 4);
    assert_eq!(files.rows(names), ["4"]);
    assert!(files.load_with("f.tsv", text, &options).unchanged);
}

#[test]
fn relation_types_keep_their_spelling() {
    let long = "x".repeat(200);
    let names = [
        "non-compliant",
        "co-worker",
        "definiert_icp-kriterien_für",
        "2nd_of",
        "has space",
        "",
        &long,
    ];
    let lines: Vec<String> = names.iter().map(|name| format!("A\t{name}\tB")).collect();
    let files = Files::new();
    let report = files.load("f.tsv", &lines.join("\n"));
    assert_eq!(report.failed, 1);
    assert_eq!(report.failures[0].line, 6);
    let mut stored = files.rows("SELECT rel FROM edges");
    let mut expected: Vec<&str> = names.into_iter().filter(|name| !name.is_empty()).collect();
    stored.sort();
    expected.sort_unstable();
    assert_eq!(stored, expected);
    files.load("g.tsv", "A\tNON-COMPLIANT\tB\n");
    assert_eq!(
        files.rows("SELECT weight FROM edges WHERE rel = 'non-compliant'"),
        ["2.0"],
        "the same relation in other case"
    );
}

#[test]
fn names_that_look_like_statements_are_only_strange_names() {
    let files = Files::new();
    files.load("f.tsv", "A\tUSES\tB\tService\tService\n");
    let before = files.rows("SELECT name, sql FROM sqlite_schema ORDER BY name");
    let labels = [
        "x` SET n.admin = true //",
        "'; DROP TABLE entity; --",
        "\") DETACH DELETE n",
        "a\nb",
        "// c",
        "C\0D",
    ];
    let lines: Vec<String> = labels
        .iter()
        .enumerate()
        .map(|(i, label)| {
            serde_json::json!({
                "subject": format!("S{i}"), "relation": label, "object": format!("O {label}"),
                "subject_type": label,
            })
            .to_string()
        })
        .collect();
    let report = files.load("g.jsonl", &lines.join("\n"));
    assert_eq!((report.facts, report.failed), (5, 1), "{report:?}");
    assert_eq!(report.failures[0].line, 6, "the one with NUL");
    assert_eq!(
        files.rows("SELECT name, sql FROM sqlite_schema ORDER BY name"),
        before
    );
    assert_eq!(
        files.rows("SELECT label FROM nodes WHERE name = 'S1'"),
        [labels[1]]
    );
    assert_eq!(
        files.rows("SELECT count(*) FROM edges WHERE rel = 'USES'"),
        ["1"]
    );
}

#[test]
fn bad_lines_are_named_and_the_others_kept() {
    let files = Files::new();
    let mut bytes = Vec::new();
    for line in [
        b"\xef\xbb\xbfsubject\trelation\tobject\tvalid_from\tvalid_to\r\n".as_slice(),
        b"A\tworks at\tB\t2001\t2003\r\n",
        b"A\tworks at\tB\t2005\tnot a date\r\n",
        b"A\tworks at\tB\t2009\t2008\r\n",
        b"A\tworks at\r\n",
        b"A\t\xff\tB\r\n",
        b"\r\n",
        b"A\tworks at\tC",
    ] {
        bytes.extend_from_slice(line);
    }
    let path = files.folder.path().join("f.tsv");
    std::fs::write(&path, &bytes).unwrap();
    let lease = files.store.write_lease("test", Duration::ZERO).unwrap();
    let transaction = lease.transaction().unwrap();
    let options = TripleOptions::default();
    let report = import_triples(
        &transaction,
        &Namespace::default(),
        &path,
        "import:f.tsv",
        &options,
        NOW,
    )
    .unwrap();
    transaction.commit().unwrap();
    drop(lease);
    let lines: Vec<usize> = report.failures.iter().map(|failure| failure.line).collect();
    assert_eq!(lines, [4, 5, 6]);
    assert_eq!((report.lines, report.facts, report.failed), (6, 3, 3));
    assert_eq!(report.warnings[0].line, 3);
    assert_eq!(
        files.rows(
            "SELECT valid_from_written, valid_to_written FROM relation
             WHERE valid_from IS NOT NULL ORDER BY valid_from"
        ),
        ["2001|2003", "2005|null"],
        "two periods of one relation, an unknown end stays open"
    );
    assert_eq!(
        files.rows("SELECT count(*) FROM edges WHERE weight = 1"),
        ["2"],
        "the present: the open period and the undated fact"
    );
    let quotes = files.rows("SELECT start, quote FROM evidence ORDER BY start");
    for quote in quotes {
        let (start, text) = quote.split_once('|').unwrap();
        let start: usize = start.parse().unwrap();
        assert_eq!(&bytes[start..start + text.len()], text.as_bytes());
    }
}
