use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use malha_engine::sources::{Format, Walk, WalkOptions, walk};

fn write(root: &Path, path: &str, text: &str) {
    let path = root.join(path);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, text).unwrap();
}

fn walk_default(root: &Path) -> Walk {
    walk(root, &WalkOptions::default()).unwrap()
}

fn uris(found: &Walk) -> Vec<&str> {
    found.files.iter().map(|file| file.uri.as_str()).collect()
}

fn reasons(found: &Walk) -> BTreeMap<&str, &str> {
    found
        .skipped
        .iter()
        .map(|row| (row.uri.as_str(), row.reason.as_str()))
        .collect()
}

#[test]
fn a_bad_rule_is_told_without_the_folder_it_stands_in() {
    let root = tempfile::tempdir().unwrap();
    write(root.path(), "note.md", "text");
    write(root.path(), ".malhaignore", "draft.md\na{\n");
    write(root.path(), "draft.md", "text");
    let found = walk_default(root.path());
    assert_eq!(uris(&found), ["note.md"]);
    let folder = root.path().display().to_string();
    let told: Vec<&str> = found
        .skipped
        .iter()
        .map(|row| row.reason.as_str())
        .filter(|reason| reason.contains("left out"))
        .collect();
    assert_eq!(told.len(), 1);
    assert!(
        told[0].contains("line 2") && !told[0].contains(&folder),
        "{told:?}"
    );
}

#[test]
fn notes_and_attachments_are_listed_in_order() {
    let root = tempfile::tempdir().unwrap();
    for path in [
        "b.md",
        "a/z.md",
        "a/image.png",
        "Ação/plano.txt",
        "board.canvas",
    ] {
        write(root.path(), path, "text");
    }
    let found = walk_default(root.path());
    assert_eq!(
        uris(&found),
        [
            "Ação/plano.txt",
            "a/image.png",
            "a/z.md",
            "b.md",
            "board.canvas"
        ]
    );
    assert_eq!(found.skipped, []);
    assert_eq!(found.files[1].format, None);
    assert_eq!(found.files[2].format, Some(Format::Markdown));
    assert_eq!(found.files[2].size, 4);
    assert!(found.files[2].mtime_ns > 1_500_000_000_000_000_000);
    assert_eq!(fs::read(&found.files[2].path).unwrap(), b"text");
}

#[test]
fn every_rule_leaves_a_reason() {
    let root = tempfile::tempdir().unwrap();
    let root = root.path();
    write(root, "kept.md", "text");
    write(root, ".obsidian/app.json", "{}");
    write(root, ".obsidian/deep/er.json", "{}");
    write(root, ".trash/old.md", "text");
    write(root, ".stversions/kept.md", "text");
    write(root, ".private/diary.md", "text");
    write(root, ".hidden.md", "text");
    write(
        root,
        "kept.sync-conflict-20240131-101500-ABCDEFG.md",
        "text",
    );
    write(
        root,
        "kept (cópia em conflito de Ana 2024-01-31).md",
        "text",
    );
    write(root, ".gitignore", "/build/\n*.log\n");
    write(root, ".malhaignore", "drafts/\n");
    write(root, "build/out.md", "text");
    write(root, "drafts/idea.md", "text");
    write(root, "sub/x.log", "text");
    write(root, "big.md", "0123456789");

    let found = walk(root, &WalkOptions { max_file_size: 9 }).unwrap();
    assert_eq!(uris(&found), ["kept.md"]);
    let expected = [
        (".gitignore", "a hidden file"),
        (".hidden.md", "a hidden file"),
        (".malhaignore", "a hidden file"),
        (".obsidian", "Obsidian's settings"),
        (".private", "a hidden folder"),
        (".stversions", "Syncthing's old versions"),
        (".trash", "the trash"),
        ("big.md", "10 bytes, more than the limit of 9"),
        ("build", "ignored by .gitignore: /build/"),
        ("drafts", "ignored by .malhaignore: drafts/"),
        (
            "kept (cópia em conflito de Ana 2024-01-31).md",
            "a copy made by a sync conflict; merge it by hand or delete it",
        ),
        (
            "kept.sync-conflict-20240131-101500-ABCDEFG.md",
            "a copy made by a sync conflict; merge it by hand or delete it",
        ),
        ("sub/x.log", "ignored by .gitignore: *.log"),
    ];
    assert_eq!(reasons(&found).into_iter().collect::<Vec<_>>(), expected);
}

#[test]
fn the_nearer_and_the_stronger_ignore_file_wins() {
    let root = tempfile::tempdir().unwrap();
    let root = root.path();
    write(root, ".gitignore", "*.txt\nsecret.md\n");
    write(root, ".malhaignore", "!wanted.txt\n");
    write(root, "a/.gitignore", "!secret.md\n");
    for path in [
        "wanted.txt",
        "other.txt",
        "secret.md",
        "a/secret.md",
        "b/secret.md",
    ] {
        write(root, path, "text");
    }
    assert_eq!(uris(&walk_default(root)), ["a/secret.md", "wanted.txt"]);
}

#[test]
fn a_folder_of_a_repository_obeys_the_rules_above_it() {
    let root = tempfile::tempdir().unwrap();
    let root = root.path();
    write(root, "outside/.gitignore", "*.md\n");
    write(root, "outside/repo/.git/HEAD", "ref");
    write(root, "outside/repo/.gitignore", "/docs/private/\n");
    write(root, "outside/repo/docs/private/a.md", "text");
    write(root, "outside/repo/docs/b.md", "text");
    let found = walk_default(&root.join("outside/repo/docs"));
    assert_eq!(uris(&found), ["b.md"]);
    assert_eq!(
        reasons(&found)["private"],
        "ignored by .gitignore: /docs/private/"
    );
    // Without a repository, rules above the root say nothing about it.
    fs::remove_dir_all(root.join("outside/repo/.git")).unwrap();
    let found = walk_default(&root.join("outside/repo/docs"));
    assert_eq!(uris(&found), ["b.md", "private/a.md"]);
}

#[test]
fn a_bad_ignore_rule_is_listed_and_the_others_apply() {
    let root = tempfile::tempdir().unwrap();
    write(root.path(), "a/.malhaignore", "{broken\n*.txt\n");
    write(root.path(), "a/x.txt", "text");
    write(root.path(), "a/y.md", "text");
    let found = walk_default(root.path());
    assert_eq!(uris(&found), ["a/y.md"]);
    let row = found
        .skipped
        .iter()
        .find(|row| row.uri == "a/.malhaignore" && row.reason.contains("a rule"))
        .unwrap();
    assert!(row.reason.contains("{broken"), "{}", row.reason);
}

#[cfg(unix)]
#[test]
fn links_are_not_followed_and_loops_end() {
    use std::os::unix::fs::symlink;
    let outside = tempfile::tempdir().unwrap();
    write(outside.path(), "secret.md", "text");
    let root = tempfile::tempdir().unwrap();
    let root = root.path();
    write(root, "a/note.md", "text");
    symlink(root, root.join("a/loop")).unwrap();
    symlink(outside.path(), root.join("out")).unwrap();
    symlink(root.join("a/note.md"), root.join("alias.md")).unwrap();
    symlink(root.join("nowhere.md"), root.join("broken.md")).unwrap();
    let found = walk_default(root);
    assert_eq!(uris(&found), ["a/note.md"]);
    let rows = reasons(&found);
    assert_eq!(rows.len(), 4);
    assert!(rows["a/loop"].contains("links are not followed"));
    assert!(rows["out"].contains("links are not followed"));
    assert!(rows["alias.md"].contains("links are not followed"));
    assert!(rows["broken.md"].contains("does not exist"));
    // The root itself may be a link.
    symlink(root.join("a"), root.join("root")).unwrap();
    assert_eq!(uris(&walk_default(&root.join("root"))), ["note.md"]);
}

#[cfg(target_os = "linux")]
#[test]
fn strange_entries_are_listed() {
    use std::ffi::OsStr;
    use std::os::unix::ffi::OsStrExt;
    let root = tempfile::tempdir().unwrap();
    let root = root.path();
    write(root, "kept.md", "text");
    fs::write(root.join(OsStr::from_bytes(b"caf\xe9.md")), "text").unwrap();
    let _listener = std::os::unix::net::UnixListener::bind(root.join("pipe.md")).unwrap();
    let mut deep = root.to_owned();
    for _ in 0..140 {
        deep.push("d");
    }
    fs::create_dir_all(&deep).unwrap();
    fs::write(deep.join("deep.md"), "text").unwrap();

    let found = walk_default(root);
    assert_eq!(uris(&found), ["kept.md"]);
    let rows = reasons(&found);
    assert_eq!(rows.len(), 3);
    assert!(rows["caf\u{fffd}.md"].contains("not valid UTF-8"));
    assert!(rows["pipe.md"].contains("not a regular file"));
    assert!(
        rows.values()
            .any(|reason| reason.contains("deeper than 128"))
    );
}

#[test]
fn one_file_is_a_source_too() {
    let root = tempfile::tempdir().unwrap();
    write(root.path(), "rows.csv", "a,b\n1,2\n");
    let found = walk_default(&root.path().join("rows.csv"));
    assert_eq!(uris(&found), ["rows.csv"]);
    assert_eq!(found.files[0].format, Some(Format::Csv));
    assert!(walk(&root.path().join("absent"), &WalkOptions::default()).is_err());
}
