use std::fs;

use malha_engine::sources::{Format, ReadOptions, WalkOptions, read, walk};

/// Bug log D30.1, at the level of the readers: what holds nothing is named, between good files.
#[test]
fn empty_and_blank_files_between_good_ones() {
    let root = tempfile::tempdir().unwrap();
    let files: [(&str, &[u8]); 9] = [
        ("a good.md", b"text"),
        ("b empty.md", b""),
        ("c blank.txt", b" \r\n\t\xc2\xa0"),
        ("d mark.md", b"\xef\xbb\xbf"),
        ("e header.md", b"---\ntags: [x]\n---\n\n"),
        ("f binary.md", b"\x00\x01\x02"),
        ("g page.html", b"<script>x()</script>"),
        ("h rows.csv", b"a,b\n"),
        ("z good.txt", b"text"),
    ];
    for (name, content) in files {
        fs::write(root.path().join(name), content).unwrap();
    }
    let found = walk(root.path(), &WalkOptions::default()).unwrap();
    let (mut documents, mut reasons) = (Vec::new(), Vec::new());
    for file in &found.files {
        let bytes = fs::read(&file.path).unwrap();
        let outcome = read(
            &bytes,
            &file.uri,
            file.format.unwrap(),
            &ReadOptions::default(),
        );
        documents.extend(outcome.documents.iter().map(|_| file.uri.clone()));
        let skipped = outcome.skipped.into_iter().map(|row| (row.uri, row.reason));
        let failed = outcome
            .failures
            .into_iter()
            .map(|row| (row.uri, row.reason));
        reasons.extend(skipped.chain(failed));
    }
    // Notes without text stay documents: links may lead to them.
    assert_eq!(
        documents,
        [
            "a good.md",
            "b empty.md",
            "d mark.md",
            "e header.md",
            "z good.txt"
        ]
    );
    let reasons: Vec<_> = reasons
        .iter()
        .map(|(uri, reason)| (uri.as_str(), reason.as_str()))
        .collect();
    assert_eq!(
        reasons,
        [
            ("b empty.md", "empty (0 bytes)"),
            ("c blank.txt", "only white space"),
            ("d mark.md", "empty (only a byte order mark)"),
            ("e header.md", "only front matter, no text"),
            (
                "f binary.md",
                "binary data, not text (it contains NUL bytes)"
            ),
            ("g page.html", "no text in it"),
            ("h rows.csv", "it holds no rows"),
        ]
    );
    for (name, content) in files {
        assert_eq!(
            fs::read(root.path().join(name)).unwrap(),
            content,
            "{name} was changed"
        );
    }
}

/// Bug log D19: control characters reach the store as they are.
#[test]
fn control_characters_are_kept() {
    let text = "# A\u{1}b \u{1b}[31mred\u{c} ]]> < & \u{fffe}\n\ttext\n";
    let outcome = read(
        text.as_bytes(),
        "a.md",
        Format::Markdown,
        &ReadOptions::default(),
    );
    assert_eq!(outcome.documents[0].text, text);
    let json = br#"{"title":"half \ud83d","text":"a\u0001b"}"#;
    let outcome = read(json, "a.json", Format::Json, &ReadOptions::default());
    assert_eq!(outcome.documents[0].text, "a\u{1}b");
    assert_eq!(outcome.documents[0].title, "half \u{fffd}");
}
