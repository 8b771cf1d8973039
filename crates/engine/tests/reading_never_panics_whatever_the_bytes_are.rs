//! Arbitrary bytes, and good files that were cut or changed, give documents with exact ranges, or reasons.

use std::collections::BTreeSet;

use flate2::Crc;
use malha_engine::sources::{Format, ReadOptions, ReadOutcome, read};
use malha_engine::types::TextOrigin;
use proptest::prelude::*;

const FORMATS: [Format; 9] = [
    Format::Markdown,
    Format::PlainText,
    Format::Html,
    Format::Pdf,
    Format::Docx,
    Format::Epub,
    Format::Csv,
    Format::Json,
    Format::JsonLines,
];

fn check(bytes: &[u8], format: Format) -> ReadOutcome {
    let outcome = read(bytes, "folder/file.x", format, &ReadOptions::default());
    let mut fragments = BTreeSet::new();
    for document in &outcome.documents {
        let text = &document.text;
        assert!(text.is_char_boundary(document.body_start));
        let headings = document
            .headings
            .iter()
            .map(|heading| heading.start..heading.end);
        let links = document.links.iter().map(|link| link.start..link.end);
        for range in headings.chain(links).chain(document.blocks.iter().cloned()) {
            assert!(text.get(range.clone()).is_some(), "{range:?} of {text:?}");
        }
        assert!(!text.contains('\0'), "{format:?}");
        assert!(!document.title.is_empty(), "{format:?}");
        assert!(fragments.insert(document.fragment.clone()), "{format:?}");
        if document.origin == TextOrigin::File {
            assert_eq!(text.as_bytes(), bytes);
        }
    }
    let is_accounted_for = !outcome.documents.is_empty()
        || !outcome.failures.is_empty()
        || !outcome.skipped.is_empty();
    assert!(is_accounted_for, "{format:?} left nothing behind");
    outcome
}

/// A ZIP archive of uncompressed parts.
fn zip(parts: &[(&str, &str)]) -> Vec<u8> {
    let (mut archive, mut list) = (Vec::new(), Vec::new());
    for (name, content) in parts {
        let mut crc = Crc::new();
        crc.update(content.as_bytes());
        let mut common = vec![20, 0, 0, 0, 0, 0, 0, 0, 0, 0];
        common.extend(crc.sum().to_le_bytes());
        common.extend((content.len() as u32).to_le_bytes());
        common.extend((content.len() as u32).to_le_bytes());
        common.extend((name.len() as u32).to_le_bytes());
        let offset = archive.len() as u32;
        archive.extend(b"PK\x03\x04");
        archive.extend(&common);
        archive.extend(name.bytes().chain(content.bytes()));
        list.extend(b"PK\x01\x02\x14\x00");
        list.extend(&common);
        list.extend([0; 10]);
        list.extend(offset.to_le_bytes());
        list.extend(name.bytes());
    }
    let offset = archive.len() as u32;
    archive.extend(&list);
    archive.extend(b"PK\x05\x06\x00\x00\x00\x00");
    archive.extend((parts.len() as u16).to_le_bytes());
    archive.extend((parts.len() as u16).to_le_bytes());
    archive.extend((list.len() as u32).to_le_bytes());
    archive.extend(offset.to_le_bytes());
    archive.extend([0, 0]);
    archive
}

/// One small good file of every format.
fn good(format: Format) -> Vec<u8> {
    match format {
        Format::Markdown => b"---\ntitle: T\n---\n# H\nSee [[Other#a|b]] #tag\n".to_vec(),
        Format::PlainText => "olá, São João\n".as_bytes().to_vec(),
        Format::Html => b"<title>T</title><h1>H</h1><table><tr><td>a<td>b</table><pre>x</pre><a href=y.html>y</a>".to_vec(),
        Format::Csv => b"id,name,text\n1,A,\"x, y\"\n2,B,z\n".to_vec(),
        Format::Json => br#"[{"id":1,"title":"A","text":"x"},{"a":{"b":[1,2]}}]"#.to_vec(),
        Format::JsonLines => b"{\"id\":1,\"text\":\"x\"}\n{\"id\":2,\"text\":\"y\"}\n".to_vec(),
        Format::Docx => zip(&[(
            "word/document.xml",
            "<w:body><w:p><w:r><w:t>Hello</w:t></w:r></w:p><w:tbl><w:tr><w:tc><w:p><w:t>c</w:t></w:p></w:tc></w:tr></w:tbl></w:body>",
        )]),
        Format::Epub => zip(&[
            ("META-INF/container.xml", "<rootfile full-path='b.opf'/>"),
            (
                "b.opf",
                "<dc:title>B</dc:title><item id='c' href='c.xhtml'/><itemref idref='c'/>",
            ),
            ("c.xhtml", "<h1>One</h1><p>Hello</p>"),
        ]),
        Format::Pdf => {
            let content = "BT /F1 12 Tf 50 700 Td (Hello) Tj ET";
            format!(
                "%PDF-1.4\n1 0 obj << /Type /Catalog /Pages 2 0 R >> endobj\n\
                 2 0 obj << /Type /Pages /Kids [3 0 R] /Count 1 /MediaBox [0 0 600 800] >> endobj\n\
                 3 0 obj << /Type /Page /Parent 2 0 R /Contents 4 0 R /Resources << /Font << /F1 \
                 << /Subtype /Type1 /BaseFont /Helvetica >> >> >> >> endobj\n\
                 4 0 obj << /Length {} >>\nstream\n{content}\nendstream endobj\n\
                 trailer << /Root 1 0 R >>\n%%EOF",
                content.len()
            )
            .into_bytes()
        }
    }
}

#[test]
fn good_files_are_read_and_cut_ones_are_survived() {
    for format in FORMATS {
        let bytes = good(format);
        let outcome = check(&bytes, format);
        assert!(
            !outcome.documents.is_empty(),
            "{format:?}: {:?}",
            outcome.failures
        );
        assert!(
            outcome.failures.is_empty(),
            "{format:?}: {:?}",
            outcome.failures
        );
        for end in 0..bytes.len() {
            check(&bytes[..end], format);
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 500, ..ProptestConfig::default() })]

    #[test]
    fn arbitrary_bytes(bytes in prop::collection::vec(any::<u8>(), 0..400)) {
        for format in FORMATS {
            check(&bytes, format);
        }
    }

    #[test]
    fn arbitrary_text(text in "\\PC{0,200}") {
        for format in FORMATS {
            check(text.as_bytes(), format);
        }
    }

    #[test]
    fn changed_files(
        changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..8)
    ) {
        for format in FORMATS {
            let mut bytes = good(format);
            for (at, byte) in &changes {
                let at = at.index(bytes.len());
                bytes[at] = *byte;
            }
            check(&bytes, format);
        }
    }
}
