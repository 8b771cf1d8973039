//! Links are looked up in the whole vault, not only beside the note or by full path (bug log D27).

use malha_engine::graph::{NoteIndex, NoteRef};
use malha_engine::types::{DocumentId, LinkConvention, LinkKind, Resolution, ResolutionRule};

const NOTES: [&str; 7] = [
    "Maps/start.md",
    "Concepts/hub.md",
    "People/equipe.md",
    "projects/alpha/plan.md",
    "Lugares/São João.md",
    "x/twin.md",
    "y/twin.md",
];

fn resolve(target: &str) -> Resolution {
    let aliases = ["Team Training".to_owned()];
    let index = NoteIndex::new(
        NOTES.iter().enumerate().map(|(row, uri)| NoteRef {
            document: DocumentId(row as i64),
            uri,
            aliases: if *uri == "People/equipe.md" {
                &aliases
            } else {
                &[]
            },
        }),
        [],
    );
    index.resolve(
        "Maps/start.md",
        target,
        LinkKind::Wikilink,
        LinkConvention::Obsidian,
    )
}

#[test]
fn each_way_to_write_a_target_finds_its_note() {
    let check = |target: &str, uri: &str, rule: ResolutionRule| {
        let row = NOTES.iter().position(|note| *note == uri).expect(uri);
        let expected = Resolution::Resolved {
            document: DocumentId(row as i64),
            rule,
        };
        assert_eq!(resolve(target), expected, "{target}");
    };
    check("hub", "Concepts/hub.md", ResolutionRule::UniqueStem);
    // Obsidian leaves a bare alias open; resolving a unique one is ours, and the rule says so.
    check("Team Training", "People/equipe.md", ResolutionRule::Alias);
    check(
        "projects/alpha/plan",
        "projects/alpha/plan.md",
        ResolutionRule::FullPath,
    );
    check(
        "alpha/plan",
        "projects/alpha/plan.md",
        ResolutionRule::PathSuffix,
    );
    check("PLAN", "projects/alpha/plan.md", ResolutionRule::UniqueStem);
    check(
        "Sa\u{303}o Joa\u{303}o",
        "Lugares/São João.md",
        ResolutionRule::UniqueStem,
    );
}

#[test]
fn a_name_that_stands_in_two_folders_stays_open_and_names_both() {
    assert_eq!(
        resolve("twin"),
        Resolution::Ambiguous {
            candidates: vec![DocumentId(5), DocumentId(6)]
        }
    );
}

#[test]
fn a_target_that_is_not_there_is_reported() {
    assert_eq!(resolve("nowhere"), Resolution::Unresolved);
    assert_eq!(resolve("Concepts/plan"), Resolution::Unresolved);
}
