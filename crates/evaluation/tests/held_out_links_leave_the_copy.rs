//! A question made of a link must not find the link itself in what is indexed.

use std::fs;
use std::path::Path;

use malha_evaluation::hold_out;

const NOTES: &[(&str, &str)] = &[
    (
        "Lantern.md",
        "# Lantern\n\nThe lantern in the tower was lit by [[Orla Venn|the keeper]] every evening\nuntil the harbour was closed. See [[Harbour]].\n",
    ),
    (
        "people/Orla Venn.md",
        "---\nseen: \"[[Lantern]]\"\n---\nShe kept a journal of every ship and of the weather, and gave it to the [[Harbour]] office.\n\n- [[Lantern]]\n",
    ),
    ("Harbour.md", "A harbour with two piers.\n"),
    (
        "one/Twin.md",
        "The first of two notes with one name, and a long enough sentence around [[Twin]] itself.\n",
    ),
    ("two/Twin.md", "The second of them.\n"),
    ("data.csv", "a,b\n1,2\n"),
];

fn vault(folder: &Path) {
    for (path, text) in NOTES {
        let path = folder.join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
}

#[test]
fn the_paragraph_asks_and_the_copy_does_not_answer() {
    let (from, copy) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    vault(from.path());
    let held_out = hold_out(from.path(), copy.path(), 10, 1).unwrap();
    assert_eq!(held_out.notes, 5);
    // Lantern → Orla Venn and Harbour, Orla Venn → Harbour; the list item says too little, Twin is two notes.
    assert_eq!(held_out.candidates, 3);
    assert_eq!(held_out.sources, ["Lantern.md", "people/Orla Venn.md"]);

    let of_orla = &held_out.questions[1];
    assert_eq!(of_orla.gold, ["Harbour.md"]);
    assert_eq!(
        of_orla.text,
        "She kept a journal of every ship and of the weather, and gave it to the office."
    );
    let copied = fs::read_to_string(copy.path().join("people/Orla Venn.md")).unwrap();
    assert!(
        !copied.contains("Harbour") && copied.contains("[[Lantern]]"),
        "{copied}"
    );

    let of_lantern = &held_out.questions[0];
    let copied = fs::read_to_string(copy.path().join("Lantern.md")).unwrap();
    match of_lantern.gold[0].as_str() {
        "Harbour.md" => {
            assert!(
                of_lantern
                    .text
                    .contains("lit by the keeper every evening until"),
                "{of_lantern:?}"
            );
            assert!(!copied.contains("[[Harbour]]") && copied.contains("[[Orla Venn|the keeper]]"));
        }
        "people/Orla Venn.md" => {
            assert!(of_lantern.text.ends_with("See Harbour."), "{of_lantern:?}");
            assert!(!copied.contains("Orla Venn") && !copied.contains("the keeper"));
        }
        other => panic!("{other}"),
    }
    // The other notes are copied byte for byte.
    assert_eq!(
        fs::read(copy.path().join("data.csv")).unwrap(),
        b"a,b\n1,2\n"
    );
    assert_eq!(
        fs::read_to_string(copy.path().join("one/Twin.md")).unwrap(),
        NOTES[3].1
    );
}

#[test]
fn a_seed_always_holds_out_the_same_links() {
    let from = tempfile::tempdir().unwrap();
    vault(from.path());
    let questions = |seed| {
        let copy = tempfile::tempdir().unwrap();
        hold_out(from.path(), copy.path(), 1, seed)
            .unwrap()
            .questions
    };
    assert_eq!(questions(3), questions(3));
    assert_eq!(questions(3).len(), 1);
}
