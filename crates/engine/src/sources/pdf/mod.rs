//! PDF to text.
//!
//! `hayro-syntax` reads the file (also repairing broken ones); fonts, placement and paragraphs are
//! done here, since text needs a small part of what drawing needs. Pages become headings that are
//! not part of the text (`Page 3`), so that a passage can be found in the printed document.

mod bomb;
mod content;
mod font;
mod glyph_name;
mod layout;
mod matrix;

use std::panic::{AssertUnwindSafe, catch_unwind};

use encoding_rs::{UTF_16BE, WINDOWS_1252};
use hayro_syntax::{LoadPdfError, Pdf};

use self::content::Interpreter;
use self::layout::paragraphs;
use super::document_date::date_stated;
use super::extracted::{Gap, TextBuilder};
use super::title::file_stem;
use crate::types::{DocumentKind, ParsedDocument, Warning};

/// Pages after this many are left out (and the document says so).
const MAX_PAGES: usize = 20_000;

/// Reads one document.
///
/// # Errors
/// The reason why it cannot be read.
pub(super) fn read_pdf(bytes: &[u8], uri: &str) -> Result<ParsedDocument, String> {
    // The reader is fuzzed by its authors, but a PDF is the most hostile of formats.
    catch_unwind(AssertUnwindSafe(|| extract(bytes, uri)))
        .unwrap_or_else(|_| Err("the PDF is damaged in a way that the reader cannot handle".into()))
}

fn extract(bytes: &[u8], uri: &str) -> Result<ParsedDocument, String> {
    bomb::check(bytes)?;
    let pdf = Pdf::new(bytes.to_vec()).map_err(|error| match error {
        LoadPdfError::Decryption(_) => "protected by a password".to_owned(),
        LoadPdfError::Invalid => "not a PDF, or cut off or damaged beyond repair".to_owned(),
    })?;
    let mut builder = TextBuilder::default();
    let mut interpreter = Interpreter::default();
    for (at, page) in pdf.pages().iter().take(MAX_PAGES).enumerate() {
        builder.unwritten_heading(1, format!("Page {}", at + 1));
        for paragraph in paragraphs(interpreter.page(page)) {
            builder.gap(Gap::Paragraph);
            builder.lines(&paragraph);
        }
    }

    let mut warnings = Vec::new();
    let mut warn = |message: String| warnings.push(Warning { line: 0, message });
    let unknown = interpreter.unknown_characters();
    if unknown > 0 {
        warn(format!(
            "{unknown} characters are shown as \u{fffd}: their fonts do not say which they are"
        ));
    }
    if interpreter.is_exhausted() {
        warn("too much content; the rest was left out".to_owned());
    }
    if pdf.pages().len() > MAX_PAGES {
        warn(format!("only the first {MAX_PAGES} pages were read"));
    }
    let title = pdf.metadata().title.as_deref().map(decode_title);
    let title = title
        .filter(|title| is_meant(title))
        .unwrap_or_else(|| file_stem(uri).to_owned());
    // The date in its properties is that of the last export.
    Ok(ParsedDocument {
        date: date_stated(None, uri),
        ..builder.document(DocumentKind::Pdf, title, warnings)
    })
}

fn decode_title(bytes: &[u8]) -> String {
    let text = match bytes {
        [0xfe, 0xff, rest @ ..] => UTF_16BE.decode_without_bom_handling(rest).0,
        [0xef, 0xbb, 0xbf, rest @ ..] => String::from_utf8_lossy(rest),
        _ => match std::str::from_utf8(bytes) {
            Ok(text) => text.into(),
            // Nearly the same as PDF's own encoding.
            Err(_) => WINDOWS_1252.decode_without_bom_handling(bytes).0,
        },
    };
    let printable = text.replace(char::is_control, " ");
    printable.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Programs write their own idea of a title where the author gave none.
fn is_meant(title: &str) -> bool {
    let title = title.to_lowercase();
    !title.is_empty()
        && !["untitled", "microsoft word -", "powerpoint presentation"]
            .iter()
            .any(|start| title.starts_with(start))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Writes a PDF of these objects (from number 1 on; 1 is the catalogue, 2 the pages).
    fn pdf(objects: &[&str]) -> Vec<u8> {
        let mut file = b"%PDF-1.4\n".to_vec();
        let mut offsets = Vec::new();
        for (at, object) in objects.iter().enumerate() {
            offsets.push(file.len());
            file.extend(format!("{} 0 obj\n{object}\nendobj\n", at + 1).bytes());
        }
        let start = file.len();
        file.extend(format!("xref\n0 {}\n0000000000 65535 f \n", offsets.len() + 1).bytes());
        for offset in &offsets {
            file.extend(format!("{offset:010} 00000 n \n").bytes());
        }
        let size = offsets.len() + 1;
        let trailer = format!(
            "trailer\n<< /Size {size} /Root 1 0 R /Info << /Title (A \\351t\\351) >> >>\nstartxref\n{start}\n%%EOF"
        );
        file.extend(trailer.bytes());
        file
    }

    fn stream(content: &str) -> String {
        format!(
            "<< /Length {} >>\nstream\n{content}\nendstream",
            content.len()
        )
    }

    /// One page with this content; objects 5 and on are the caller's.
    fn page(content: &str, resources: &str, more: &[&str]) -> Vec<u8> {
        let page =
            format!("<< /Type /Page /Parent 2 0 R /Contents 4 0 R /Resources << {resources} >> >>");
        let content = stream(content);
        let mut objects = vec![
            "<< /Type /Catalog /Pages 2 0 R >>",
            "<< /Type /Pages /Kids [3 0 R] /Count 1 /MediaBox [0 0 600 800] >>",
            &page,
            &content,
        ];
        objects.extend(more);
        pdf(&objects)
    }

    const HELVETICA: &str = "/Font << /F1 << /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding >> >>";

    #[test]
    fn text() {
        let check = |content: &str, expected: &str| {
            let document = read_pdf(&page(content, HELVETICA, &[]), "a.pdf").unwrap();
            assert_eq!(document.text, expected, "{content}");
        };
        check("BT /F1 12 Tf 50 700 Td (Hello world) Tj ET", "Hello world");
        check(
            "BT /F1 12 Tf 50 700 Td (A\\347\\343o) Tj 0 -14 Td (two) Tj ET",
            "Ação\ntwo",
        );
        check(
            "BT /F1 12 Tf 50 700 Td (One) Tj 0 -40 Td (Two) Tj ET",
            "One\n\nTwo",
        );
        check(
            "BT /F1 12 Tf 50 700 Td [(Hel) 20 (lo) -400 (you)] TJ ET",
            "Hello you",
        );
        check(
            "BT /F1 12 Tf 14 TL 50 700 Td (a) Tj (b) ' T* (c) Tj ET",
            "a\nb\nc",
        );
        check(
            "BT /F1 12 Tf 50 700 Td (exam-) Tj 0 -14 Td (ple) Tj ET",
            "example",
        );
        check(
            "BT /F1 12 Tf 1 0 0 1 50 700 Tm (left) Tj 1 0 0 1 200 700 Tm (right) Tj ET",
            "left right",
        );
        check(
            "q 2 0 0 2 0 0 cm BT /F1 6 Tf 25 350 Td (scaled) Tj ET Q",
            "scaled",
        );
        check(
            "BT /F1 12 Tf 0 1 -1 0 50 100 Tm (up) Tj (wards) Tj ET",
            "upwards",
        );
        check("BT /Missing 12 Tf 50 700 Td (no font) Tj ET", "no font");
    }

    #[test]
    fn title_and_pages() {
        let document = read_pdf(&page("BT /F1 9 Tf (x) Tj ET", HELVETICA, &[]), "a.pdf").unwrap();
        assert_eq!(document.title, "A été");
        assert_eq!(document.headings[0].text, "Page 1");
        assert_eq!(
            (document.headings[0].start, document.headings[0].end),
            (0, 0)
        );
        for (title, expected) in [
            ("untitled", false),
            ("Microsoft Word - x.doc", false),
            ("T", true),
        ] {
            assert_eq!(is_meant(title), expected);
        }
        assert_eq!(decode_title(b"\xfe\xff\x00A\x65\x87"), "A文");
    }

    #[test]
    fn fonts_say_which_characters_they_draw() {
        let check = |font: &str, more: &[&str], string: &str, expected: &str| {
            let content = format!("BT /F1 12 Tf 50 700 Td {string} Tj ET");
            let font = format!("/Font << /F1 << /Type /Font {font} >> >>");
            let document = read_pdf(&page(&content, &font, more), "a.pdf").unwrap();
            assert_eq!(document.text, expected, "{font}");
        };
        check(
            "/Subtype /Type1 /BaseFont /X /Encoding << /Differences [65 /fi /uni4E2D /aacute /f_l /Omega] >>",
            &[],
            "(ABCDE)",
            "fi中áflΩ",
        );
        let map = stream(
            "/CIDInit /ProcSet findresource begin 12 dict begin begincmap\n\
             1 begincodespacerange <0000> <ffff> endcodespacerange\n\
             2 beginbfrange <0001> <0003> <4E00> <0010> <0011> [<00660069> <D83DDE00>] endbfrange\n\
             1 beginbfchar <0020> <0041> endbfchar endcmap end end",
        );
        check(
            "/Subtype /Type0 /BaseFont /X /Encoding /Identity-H /ToUnicode 5 0 R /DescendantFonts \
             [<< /Type /Font /Subtype /CIDFontType2 /DW 1000 /W [1 [900 900] 3 5 500] >>]",
            &[&map],
            "<000100020003001000110020>",
            "一丁丂fi😀A",
        );
        check(
            "/Subtype /Type0 /BaseFont /X /Encoding /GBK-EUC-H /DescendantFonts [<< /Subtype /CIDFontType0 >>]",
            &[],
            "<D6D0CEC441>",
            "中文A",
        );
        check(
            "/Subtype /Type0 /BaseFont /X /Encoding /UniGB-UCS2-H /DescendantFonts [<< /Subtype /CIDFontType0 >>]",
            &[],
            "<4E2D6587>",
            "中文",
        );
    }

    #[test]
    fn unknown_characters_are_counted() {
        let font = "/Font << /F1 << /Subtype /Type0 /BaseFont /X /Encoding /Identity-H /DescendantFonts [<< /DW 1000 >>] >> >>";
        let content = "BT /F1 12 Tf 50 700 Td <00010002> Tj ET";
        let document = read_pdf(&page(content, font, &[]), "a.pdf").unwrap();
        assert_eq!(document.text, "\u{fffd}\u{fffd}");
        assert!(document.warnings[0].message.starts_with("2 characters"));
    }

    #[test]
    fn forms_are_read_and_loops_end() {
        let form = |content: &str| {
            format!(
                "<< /Type /XObject /Subtype /Form /Resources << {HELVETICA} /XObject << /Me 5 0 R >> >> /Length {} >>\nstream\n{content}\nendstream",
                content.len()
            )
        };
        let resources = "/XObject << /Me 5 0 R >>";
        let once = form("BT /F1 12 Tf 50 700 Td (in a form) Tj ET");
        let document = read_pdf(&page("/Me Do", resources, &[&once]), "a.pdf").unwrap();
        assert_eq!(document.text, "in a form");
        let endless = form("BT /F1 12 Tf 50 700 Td (x) Tj ET /Me Do /Me Do /Me Do /Me Do");
        let document = read_pdf(&page("/Me Do", resources, &[&endless]), "a.pdf").unwrap();
        assert_eq!(document.text, "x");
    }

    #[test]
    fn broken_files_are_reported_or_repaired() {
        let good = page("BT /F1 12 Tf 50 700 Td (Hello) Tj ET", HELVETICA, &[]);
        let check = |bytes: &[u8], expected: &str| {
            assert_eq!(read_pdf(bytes, "a.pdf").unwrap_err(), expected);
        };
        check(b"", "not a PDF, or cut off or damaged beyond repair");
        check(
            b"%PDF-1.7\ngarbage",
            "not a PDF, or cut off or damaged beyond repair",
        );
        check(
            &good[..60],
            "not a PDF, or cut off or damaged beyond repair",
        );
        // Without its table of offsets the objects are still found.
        let cut = good.windows(4).position(|part| part == b"xref").unwrap();
        assert_eq!(read_pdf(&good[..cut], "a.pdf").unwrap().text, "Hello");
        for end in 0..good.len() {
            let _ = read_pdf(&good[..end], "a.pdf");
        }
    }
}
