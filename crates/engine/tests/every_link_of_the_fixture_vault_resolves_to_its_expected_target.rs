//! The rules of `docs/links.md`, one by one, on a small vault in three languages.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use malha_engine::graph::{EMBEDS, LINKS_TO, NoteIndex, NoteRef, quote_span};
use malha_engine::sources::{Format, ReadOptions, WalkOptions, read, walk};
use malha_engine::types::{DocumentId, LinkConvention, LinkKind, ParsedDocument, Resolution};
use malha_engine::{Engine, EngineConfig, SourceSpec};

/// Note, link as written, where it leads and by which rule, relation type (blank: no edge).
const EXPECTED: &str = "
Budget.md | [[Budget]] | Budget.md by full_path |
Concepts/Equipe.md | [[Água]] | Concepts/Água.md by same_folder | links_to
Concepts/Equipe.md | [[#Equipe]] | Concepts/Equipe.md by same_document |
Concepts/Equipe.md | [[安娜]] | 人物/安娜.md by unique_stem | ensina
Concepts/Equipe.md | [[Kiln log]] | Concepts/Kiln log.md by same_folder | aprende com
Concepts/Kiln log.md | [[#First firing]] | Concepts/Kiln log.md by same_document |
Concepts/Kiln log.md | [[#^firing]] | Concepts/Kiln log.md by same_document |
Concepts/hub.md | [[Home]] | Home.md by full_path | up
Concepts/hub.md | [[Kiln log|the log]] | Concepts/Kiln log.md by same_folder | related
Concepts/hub.md | [[no such note]] | unresolved |
Concepts/hub.md | ![[near]] | Concepts/near.md by same_folder | embeds
Concepts/Água.md | [[Equipe]] | Concepts/Equipe.md by same_folder | links_to
Concepts/Água.md | [[Budget#Q3#Costs|terceiro trimestre]] | Budget.md by full_path | links_to
Diário/2024-05-01.md | [[安娜]] | 人物/安娜.md by unique_stem | links_to
Home.md | [[start|the map]] | Maps/start.md by unique_stem | links_to
Home.md | [[Budget#Costs]] | Budget.md by full_path | links_to
Home.md | [[Diário/2024-05-01|diary]] | Diário/2024-05-01.md by full_path | links_to
Home.md | [[安娜]] | 人物/安娜.md by unique_stem | links_to
Home.md | [[plan]] | projects/alpha/plan.md by unique_stem | depends_on
Home.md | [[hub]] | Concepts/hub.md by unique_stem | links_to
Home.md | [[Água]] | Concepts/Água.md by unique_stem | supports
Home.md | [[人物/安娜]] | 人物/安娜.md by full_path | supports
Maps/near.md | [[start]] | Maps/start.md by same_folder | links_to
Maps/near.md | [[Home.md|home]] | Home.md by full_path | links_to
Maps/start.md | [[hub]] | Concepts/hub.md by unique_stem | links_to
Maps/start.md | [[Team Training]] | Concepts/Equipe.md by alias | links_to
Maps/start.md | [[projects/alpha/plan]] | projects/alpha/plan.md by full_path | links_to
Maps/start.md | [[PLAN]] | projects/alpha/plan.md by unique_stem | links_to
Maps/start.md | [[A\u{301}gua]] | Concepts/Água.md by unique_stem | links_to
Maps/start.md | [[twin]] | ambiguous: a/twin.md, b/twin.md |
Maps/start.md | [[a/twin]] | a/twin.md by full_path | links_to
Maps/start.md | [[near]] | Maps/near.md by same_folder | links_to
Maps/start.md | [[./near]] | Maps/near.md by relative_path | links_to
Maps/start.md | [[../Concepts/hub]] | Concepts/hub.md by relative_path | links_to
Maps/start.md | [[/Concepts/hub]] | Concepts/hub.md by full_path | links_to
Maps/start.md | [[beta/notes]] | archive/projects/beta/notes.md by path_suffix | links_to
Maps/start.md | [[nowhere]] | unresolved |
Maps/start.md | [[阿娜]] | 人物/安娜.md by alias | links_to
Maps/start.md | [[Shared name]] | ambiguous: Concepts/Equipe.md, Concepts/hub.md |
Maps/start.md | [back home](../Home.md) | Home.md by relative_path | links_to
Maps/start.md | [near by](near.md) | Maps/near.md by same_folder | links_to
Maps/start.md | [with blanks](<../Concepts/Kiln log.md>) | Concepts/Kiln log.md by relative_path | links_to
Maps/start.md | [encoded](../Concepts/Kiln%20log.md#First%20firing) | Concepts/Kiln log.md by relative_path | links_to
Maps/start.md | [by reference][kiln] | Concepts/Kiln log.md by relative_path | links_to
Maps/start.md | [the web](https://example.org/kiln.md) | external |
Maps/start.md | ![[kiln.png|300]] | file files/kiln.png |
Maps/start.md | ![plan of the kiln](../files/kiln.png) | file files/kiln.png |
Maps/start.md | ![[Budget#Costs]] | Budget.md by full_path | embeds
archive/projects/beta/notes.md | [[plan]] | projects/alpha/plan.md by unique_stem | links_to
b/twin.md | [[twin]] | b/twin.md by same_folder |
projects/alpha/plan.md | [[Kiln log\\|log]] | Concepts/Kiln log.md by unique_stem | links_to
projects/alpha/plan.md | [[hub]] | Concepts/hub.md by unique_stem | links_to
人物/安娜.md | [[Água|水]] | Concepts/Água.md by unique_stem | links_to
人物/安娜.md | [[Equipe]] | Concepts/Equipe.md by unique_stem | links_to
人物/安娜.md | [[Budget]] | Budget.md by full_path | 作者
人物/安娜.md | [[2024-05-01]] | Diário/2024-05-01.md by unique_stem | links_to
";

fn vault() -> (Vec<(String, ParsedDocument)>, Vec<String>) {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/vault");
    let found = walk(&root, &WalkOptions::default()).expect("the fixture vault is there");
    let (mut notes, mut attachments) = (Vec::new(), Vec::new());
    for file in found.files {
        if file.format == Some(Format::Markdown) {
            let bytes = fs::read(&file.path).expect("readable");
            let outcome = read(&bytes, &file.uri, Format::Markdown, &ReadOptions::default());
            assert!(outcome.failures.is_empty(), "{}", file.uri);
            for document in outcome.documents {
                assert!(document.warnings.is_empty(), "{}", file.uri);
                notes.push((file.uri.clone(), document));
            }
        } else {
            attachments.push(file.uri);
        }
    }
    (notes, attachments)
}

#[test]
fn every_link_leads_where_the_table_says() {
    let (notes, attachments) = vault();
    let index = NoteIndex::new(
        notes
            .iter()
            .enumerate()
            .map(|(row, (uri, document))| NoteRef {
                document: DocumentId(row as i64),
                uri,
                aliases: &document.aliases,
            }),
        attachments.iter().map(String::as_str),
    );
    let uri = |document: DocumentId| notes[document.0 as usize].0.as_str();
    let mut found = String::from("\n");
    for (row, (from, document)) in notes.iter().enumerate() {
        for link in &document.links {
            let resolution = index.resolve(from, &link.target, link.kind, LinkConvention::Obsidian);
            let shown = match &resolution {
                Resolution::Resolved { document, rule } => {
                    format!("{} by {}", uri(*document), rule.as_str())
                }
                Resolution::Ambiguous { candidates } => {
                    let candidates: Vec<_> = candidates.iter().map(|&one| uri(one)).collect();
                    format!("ambiguous: {}", candidates.join(", "))
                }
                Resolution::Unresolved => "unresolved".to_owned(),
                Resolution::Attachment { path } => format!("file {path}"),
                Resolution::External => "external".to_owned(),
            };
            let relation = match &resolution {
                Resolution::Resolved { document, .. } if *document != DocumentId(row as i64) => {
                    let quote =
                        &notes[row].1.text[quote_span(&notes[row].1.text, link.start..link.end)];
                    assert!(
                        quote.contains(&notes[row].1.text[link.start..link.end]),
                        "{quote}"
                    );
                    assert!(!quote.contains('\n'), "{quote}");
                    let default = match link.kind {
                        LinkKind::Embed | LinkKind::MarkdownEmbed => EMBEDS,
                        _ => LINKS_TO,
                    };
                    Some(link.relation.as_deref().unwrap_or(default))
                }
                _ => None,
            };
            let relation = relation.map(|relation| format!(" {relation}"));
            writeln!(
                found,
                "{from} | {} | {shown} |{}",
                &document.text[link.start..link.end],
                relation.unwrap_or_default()
            )
            .expect("a string takes all");
        }
    }
    let differing: Vec<_> = found
        .lines()
        .zip(EXPECTED.lines())
        .filter(|(found, expected)| found != expected)
        .collect();
    assert!(differing.is_empty(), "{differing:#?}");
    assert_eq!(found, EXPECTED);
}

/// A uri without its source's label.
fn bare(uri: &str) -> &str {
    uri.strip_prefix("vault/").unwrap_or(uri)
}

/// The same table out of the store: what the pipeline saves is what the reader and the index say, and
/// each relation type between two notes is one relation.
#[test]
fn the_store_holds_the_same_links_and_their_relations() {
    let folder = tempfile::tempdir().unwrap();
    let store = folder.path().join("malha.db");
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/vault");
    let engine = Engine::create(&store, EngineConfig::default()).unwrap();
    let source = SourceSpec {
        root: root.clone(),
        convention: None,
    };
    engine.index(&[source], &()).unwrap();
    let reader = Engine::open_read_only(&store, EngineConfig::default()).unwrap();
    let rows = reader.sql(
        "SELECT d.uri, l.start, l.end, l.status, l.rule, t.uri, l.candidates, l.kind, l.relation
         FROM link l JOIN document d ON d.id = l.document LEFT JOIN document t ON t.id = l.resolved
         ORDER BY d.uri, l.id",
    );
    let mut found = String::from("\n");
    let mut stated = BTreeSet::new();
    for row in rows.unwrap().rows {
        let text = |column: usize| row[column].as_str().map(bare).unwrap_or_default();
        let number = |column: usize| row[column].as_u64().unwrap() as usize;
        let (from, target) = (text(0), text(5));
        let note = fs::read_to_string(root.join(from)).unwrap();
        let shown = match text(3) {
            "resolved" => format!("{target} by {}", text(4)),
            "ambiguous" => {
                let candidates: Vec<String> = serde_json::from_str(text(6)).unwrap();
                let candidates: Vec<&str> = candidates.iter().map(|uri| bare(uri)).collect();
                format!("ambiguous: {}", candidates.join(", "))
            }
            "attachment" => {
                let candidates: Vec<String> = serde_json::from_str(text(6)).unwrap();
                format!("file {}", bare(&candidates[0]))
            }
            other => other.to_owned(),
        };
        let mut relation = String::new();
        if !target.is_empty() && target != from {
            let default = if text(7).contains("embed") {
                EMBEDS
            } else {
                LINKS_TO
            };
            let name = row[8].as_str().unwrap_or(default);
            stated.insert(format!("{from} {name} {target}"));
            relation = format!(" {name}");
        }
        let written = &note[number(1)..number(2)];
        writeln!(found, "{from} | {written} | {shown} |{relation}").unwrap();
    }
    assert_eq!(found, EXPECTED);

    let rows = reader.sql(
        "SELECT s.uri, y.name, t.uri FROM relation r
         JOIN document s ON s.entity = r.source JOIN document t ON t.entity = r.target
         JOIN relation_type y ON y.id = r.type WHERE r.retracted_at IS NULL",
    );
    let relations: BTreeSet<String> = rows
        .unwrap()
        .rows
        .iter()
        .map(|row| {
            let cells = row.iter().map(|cell| bare(cell.as_str().unwrap()));
            cells.collect::<Vec<_>>().join(" ")
        })
        .collect();
    assert_eq!(relations, stated);
}

#[test]
fn every_note_has_its_title_names_tags_and_date() {
    let (notes, _) = vault();
    let check = |uri: &str, title: &str, aliases: &[&str], tags: &[&str], date: Option<&str>| {
        let (_, document) = notes.iter().find(|note| note.0 == uri).expect(uri);
        assert_eq!(document.title, title, "{uri}");
        assert_eq!(document.aliases, aliases, "{uri}");
        assert_eq!(document.tags, tags, "{uri}");
        let found = document.date.as_ref().map(|(date, _)| {
            let moment = std::time::Duration::from_millis(date.start.0 as u64);
            moment.as_secs() / 86_400
        });
        // Days since the epoch.
        let expected = date.map(|date| match date {
            "2024-03-10" => 19_792,
            "2024-05-01" => 19_844,
            "2024-06-05" => 19_879,
            other => panic!("{other}"),
        });
        assert_eq!(found, expected, "{uri}");
    };
    check(
        "Home.md",
        "The workshop",
        &[],
        &["home", "projeto/oficina", "workshop", "cerâmica/forno"],
        Some("2024-03-10"),
    );
    check("Concepts/hub.md", "hub", &["Shared name"], &[], None);
    check(
        "Concepts/Equipe.md",
        "Equipe",
        &["Team Training", "Shared name"],
        &[],
        None,
    );
    check(
        "Concepts/Água.md",
        "Água",
        &[],
        &["água", "barro"],
        Some("2024-06-05"),
    );
    check(
        "人物/安娜.md",
        "安娜",
        &["阿娜"],
        &["人物/陶艺"],
        Some("2024-05-01"),
    );
    check(
        "Diário/2024-05-01.md",
        "2024-05-01",
        &[],
        &[],
        Some("2024-05-01"),
    );
}
