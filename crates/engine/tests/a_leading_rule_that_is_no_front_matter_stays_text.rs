//! A file whose first lines only look like a front matter is never dropped (bug log D29).

use std::fs;

use malha_engine::sources::{Format, ReadOptions, read};
use malha_engine::types::ParsedDocument;

fn parse(text: &str) -> ParsedDocument {
    let outcome = read(
        text.as_bytes(),
        "a/note.md",
        Format::Markdown,
        &ReadOptions::default(),
    );
    assert!(outcome.failures.is_empty(), "{text:?}");
    assert!(outcome.skipped.is_empty(), "{text:?}");
    let document = outcome.documents.into_iter().next().expect("one document");
    assert_eq!(document.text, text, "byte for byte");
    document
}

#[test]
fn a_banner_is_text_with_a_warning() {
    let banner = "---\n**OLIVEIRA ADVOGADOS**\nRua das Flores\n---\nO parecer cita [[Lei 1]].\n";
    let check = |text: &str, line: usize| {
        let document = parse(text);
        assert!(document.front_matter.is_null(), "{text:?}");
        let bom = if text.starts_with('\u{feff}') { 3 } else { 0 };
        assert_eq!(document.body_start, bom, "the whole file is body: {text:?}");
        assert_eq!(document.warnings.len(), 1, "{text:?}");
        assert_eq!(document.warnings[0].line, line, "{text:?}");
        assert!(!document.warnings[0].message.is_empty());
        document
    };
    let document = check(banner, 2);
    assert_eq!(document.links[0].target, "Lei 1");
    check(&banner.replace('\n', "\r\n"), 2);
    check(&format!("\u{feff}{banner}"), 2);
    check("---\nRua das Flores\n---\ntext\n", 2);
    check("---\nnever closed [[X]]\n", 1);
    check("---\ntitle: x\n\tsub: y\n---\ntext\n", 3);
    check("---\n- a\n- list\n---\ntext\n", 2);
    check("---\na: \"open\n---\ntext\n", 2);
}

#[test]
fn a_good_block_is_read_whatever_its_line_ends_and_marks() {
    let check = |text: &str, key: &str, body: &str| {
        let document = parse(text);
        assert_eq!(document.front_matter[key], "Água", "{text:?}");
        assert_eq!(&document.text[document.body_start..], body, "{text:?}");
        assert!(document.warnings.is_empty(), "{text:?}");
    };
    check("---\ntitle: Água\n---\nbody\n", "title", "body\n");
    check("---\r\ntitle: Água\r\n---\r\nbody\r\n", "title", "body\r\n");
    check("\u{feff}---\ntitle: Água\n---\nbody\n", "title", "body\n");
    check("--- \ntitle: Água\n---\t\nbody\n", "title", "body\n");
    check("---\ntitle:\tÁgua\n---\nbody\n", "title", "body\n");
}

#[test]
fn an_empty_pair_is_an_empty_front_matter() {
    for text in ["---\n---\nbody", "---\n\n---\nbody", "---\r\n---\r\nbody"] {
        let document = parse(text);
        assert_eq!(&document.text[document.body_start..], "body");
        assert!(document.warnings.is_empty(), "{:?}", document.warnings);
    }
}

#[test]
fn repeated_keys_keep_every_value_and_warn_with_their_line() {
    let document = parse("---\naliases: A\ntags: [x]\naliases: [B, C]\n---\nbody");
    assert_eq!(document.aliases, ["A", "B", "C"]);
    assert_eq!(document.tags, ["x"]);
    assert_eq!(document.warnings.len(), 1);
    assert_eq!(document.warnings[0].line, 4);
    assert!(document.warnings[0].message.contains("aliases"));
}

#[test]
fn reading_changes_no_file() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("note.md");
    let bytes = b"\xef\xbb\xbf---\r\n**ACME**\r\n---\r\ntext\r\n";
    fs::write(&path, bytes).expect("written");
    let read_bytes = fs::read(&path).expect("read");
    read(
        &read_bytes,
        "note.md",
        Format::Markdown,
        &ReadOptions::default(),
    );
    assert_eq!(fs::read(&path).expect("read"), bytes);
}
