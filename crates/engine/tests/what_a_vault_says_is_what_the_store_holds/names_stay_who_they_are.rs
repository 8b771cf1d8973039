use crate::vault::Vault;

/// D12: quotation marks, blanks, HTML escapes and zero-width spaces are no part of a name.
#[test]
fn spellings_of_a_name_in_text_are_one_entity() {
    let vault = Vault::new(&[
        ("a.md", "They said \"ROMAN EMPIRE \" fell.\n"),
        ("b.md", "Then the ROMAN EMPIRE fell.\n"),
        ("c.md", "Then the “Roman Empire” fell.\n"),
        ("d.md", "Then the Roman  Empire fell.\n"),
        ("e.md", "Then the &quot;Roman Empire&quot; fell.\n"),
        ("f.md", "Then the Roman\u{200b} Empire fell.\n"),
    ]);
    for name in ["roman empire", "“ROMAN EMPIRE”", " Roman\u{200b}  Empire "] {
        let found = vault.engine.entity(name).unwrap();
        assert_eq!(found.len(), 1, "{name}: {found:?}");
        assert_eq!(found[0].name, "Roman Empire");
        assert_eq!(found[0].mentions, 6);
    }
    // Front matter: the same spellings are other names of the note, and lead to it.
    let vault = Vault::new(&[(
        "rome.md",
        "---\ntitle: Roman Empire\naliases: [\"ROMAN EMPIRE \", \"“Roman Empire”\", \"Imperium\"]\n---\nText.\n",
    )]);
    for name in ["roman empire", "Imperium", "rome"] {
        assert_eq!(vault.engine.entity(name).unwrap().len(), 1, "{name}");
    }
}

/// Renamed notes keep their identity and their open relations, in a small run and in a large one, which
/// derives everything anew.
#[test]
fn a_renamed_note_stays_who_it_is() {
    const IDENTITY: &str =
        "SELECT d.public_id, e.public_id FROM document d JOIN entity e ON e.id = d.entity
         WHERE d.retracted_at IS NULL ORDER BY d.public_id";
    const WINDOWS: &str =
        "SELECT s.public_id, t.public_id, r.version, r.recorded_at, r.retracted_at FROM relation r
         JOIN entity s ON s.id = r.source JOIN entity t ON t.id = r.target ORDER BY s.public_id";
    let vault = Vault::new(&[
        ("Old.md", "This one leads to [[B]].\n"),
        ("B.md", "b\n"),
        ("C.md", "From here to [[Old]].\n"),
    ]);
    let id = vault.engine.entity("Old").unwrap()[0].public_id.clone();
    let before = vault.rows(IDENTITY);
    // Into a folder, under its own name: every link still leads there.
    let windows = vault.rows(WINDOWS);
    vault.rename("Old.md", "sub/Old.md");
    assert_eq!(vault.index().renamed, 1);
    assert_eq!(vault.rows(IDENTITY), before);
    assert_eq!(vault.rows(WINDOWS), windows, "neither closed nor opened");
    // Under another name: what it says stays, what called it by name is open.
    vault.rename("sub/Old.md", "sub/New.md");
    assert_eq!(vault.index().renamed, 1);
    assert_eq!(vault.engine.entity("New").unwrap()[0].public_id, id);
    assert_eq!(vault.rows(IDENTITY), before);
    assert_eq!(vault.relations(), ["New links_to B"]);
    assert_eq!(vault.engine.open_links().unwrap()[0].target, "Old");

    let many: Vec<(String, String)> = (0..100)
        .map(|n| (format!("n{n}.md"), format!("Note {n} leads to [[hub]].\n")))
        .collect();
    let mut notes: Vec<(&str, &str)> = many
        .iter()
        .map(|(path, text)| (path.as_str(), text.as_str()))
        .collect();
    notes.push(("hub.md", "all\n"));
    let vault = Vault::new(&notes);
    let (before, windows) = (vault.rows(IDENTITY), vault.rows(WINDOWS));
    for n in 0..60 {
        vault.rename(&format!("n{n}.md"), &format!("moved/m{n}.md"));
    }
    assert_eq!(vault.index().renamed, 60);
    assert_eq!(vault.rows(IDENTITY), before);
    assert_eq!(vault.rows(WINDOWS), windows);
}
