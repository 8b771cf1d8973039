//! EPUB books: the chapters in reading order.

use std::collections::{BTreeMap, BTreeSet};

use super::document_date::date_stated;
use super::encoding::decode;
use super::extracted::TextBuilder;
use super::html::{Dialect, extract};
use super::relative_link::percent_decode;
use super::title::file_stem;
use super::xml::{Event, events, local, text_of};
use super::zip_archive::ZipArchive;
use crate::types::{DocumentKind, ParsedDocument, Warning};

/// Reads one book. A chapter that cannot be read is a warning; the others are kept.
///
/// # Errors
/// The reason why the book cannot be read.
pub(super) fn read_epub(bytes: &[u8], uri: &str) -> Result<ParsedDocument, String> {
    let mut archive = ZipArchive::open(bytes)?;
    let container = required(&mut archive, "META-INF/container.xml")?;
    let package_path = events(&container)
        .find_map(|event| match event {
            Event::Start(tag) if tag.local() == "rootfile" => tag.attribute("full-path"),
            _ => None,
        })
        .ok_or("META-INF/container.xml names no book")?;
    let xml = required(&mut archive, &package_path)?;
    let package = Package::read(&xml, &package_path);
    let encrypted = encrypted_parts(&mut archive);
    let labels = labels(&mut archive, &package);

    let mut builder = TextBuilder::default();
    let mut warnings = Vec::new();
    for chapter in &package.chapters {
        let text = if encrypted.contains(chapter) {
            Err(format!("{chapter}: locked by copy protection"))
        } else {
            required(&mut archive, chapter)
        };
        match text {
            Ok(text) => append_chapter(&mut builder, &text, labels.get(chapter)),
            Err(message) => warnings.push(Warning { line: 0, message }),
        }
    }
    if builder.is_empty()
        && let Some(first) = warnings.first()
    {
        return Err(format!(
            "no chapter can be read; the first: {}",
            first.message
        ));
    }
    let title = text_of(&xml, "title")
        .or_else(|| builder.first_heading().map(str::to_owned))
        .unwrap_or_else(|| file_stem(uri).to_owned());
    let mut document = builder.document(DocumentKind::Epub, title, warnings);
    // They lead from one chapter to another of the same document.
    document.links.clear();
    document.date = date_stated(text_of(&xml, "date").as_deref(), uri);
    Ok(document)
}

/// A chapter without a heading of its own is put under its name in the table of contents.
fn append_chapter(builder: &mut TextBuilder, text: &str, label: Option<&String>) {
    let (chapter, _) = extract(text, Dialect::Xhtml);
    if chapter.is_empty() {
        return;
    }
    if let Some(label) = label
        && chapter.first_heading().is_none()
    {
        builder.unwritten_heading(1, label.clone());
    }
    builder.append(chapter);
}

fn required(archive: &mut ZipArchive<'_>, name: &str) -> Result<String, String> {
    let content = archive
        .read(name)
        .ok_or_else(|| format!("{name} is missing"))??;
    let decoded = decode(&content).map_err(|reason| format!("{name}: {reason}"))?;
    Ok(decoded.without_mark())
}

/// The book's list of parts.
#[derive(Debug, Default)]
struct Package {
    /// Paths in reading order, the table of contents left out.
    chapters: Vec<String>,
    /// Paths of the tables of contents, the newer format first.
    contents: Vec<String>,
}

impl Package {
    fn read(xml: &str, path: &str) -> Self {
        let mut parts: BTreeMap<String, String> = BTreeMap::new();
        let mut package = Self::default();
        let mut order = Vec::new();
        for event in events(xml) {
            let Event::Start(tag) = event else { continue };
            match tag.local() {
                "item" => {
                    let (Some(id), Some(address)) = (tag.attribute("id"), tag.attribute("href"))
                    else {
                        continue;
                    };
                    let part = resolve(path, &address);
                    let kind = tag.attribute("media-type").unwrap_or_default();
                    let properties = tag.attribute("properties").unwrap_or_default();
                    if properties
                        .split_whitespace()
                        .any(|property| property == "nav")
                    {
                        package.contents.insert(0, part);
                    } else if kind == "application/x-dtbncx+xml" {
                        package.contents.push(part);
                    } else {
                        parts.insert(id, part);
                    }
                }
                "itemref" => order.extend(tag.attribute("idref")),
                _ => {}
            }
        }
        // A part listed twice is read once.
        let mut seen = BTreeSet::new();
        order.retain(|id| seen.insert(id.clone()));
        package.chapters = order
            .iter()
            .filter_map(|id| parts.get(id).cloned())
            .collect();
        package
    }
}

/// Names of the chapters: path to its first label in the table of contents.
fn labels(archive: &mut ZipArchive<'_>, package: &Package) -> BTreeMap<String, String> {
    let mut labels = BTreeMap::new();
    for path in &package.contents {
        let Ok(xml) = required(archive, path) else {
            continue;
        };
        let (mut label, mut address) = (String::new(), None);
        for event in events(&xml) {
            match event {
                Event::Start(tag) => match tag.local() {
                    // The newer format: <a href="…">label</a>.
                    "a" => {
                        label.clear();
                        address = tag.attribute("href");
                    }
                    // The older one: <navLabel><text>label</text></navLabel><content src="…"/>.
                    "navlabel" => label.clear(),
                    "content" => {
                        if let Some(address) = tag.attribute("src") {
                            add_label(&mut labels, path, &address, &label);
                        }
                    }
                    _ => {}
                },
                Event::Text(text) => label.push_str(&text),
                Event::End(name) if local(&name) == "a" => {
                    if let Some(address) = address.take() {
                        add_label(&mut labels, path, &address, &label);
                    }
                }
                Event::End(_) => {}
            }
        }
    }
    labels
}

fn add_label(labels: &mut BTreeMap<String, String>, base: &str, address: &str, label: &str) {
    let label = label.split_whitespace().collect::<Vec<_>>().join(" ");
    if !label.is_empty() {
        labels.entry(resolve(base, address)).or_insert(label);
    }
}

/// Parts that copy protection has encrypted (fonts often are, and do not matter here).
fn encrypted_parts(archive: &mut ZipArchive<'_>) -> BTreeSet<String> {
    let Ok(xml) = required(archive, "META-INF/encryption.xml") else {
        return BTreeSet::new();
    };
    events(&xml)
        .filter_map(|event| match event {
            Event::Start(tag) if tag.local() == "cipherreference" => {
                Some(resolve("", &tag.attribute("uri")?))
            }
            _ => None,
        })
        .collect()
}

/// Path of `address` as written in the part `base`, without its anchor.
fn resolve(base: &str, address: &str) -> String {
    let address = address.split('#').next().unwrap_or(address);
    let mut path: Vec<&str> = base.split('/').collect();
    path.pop();
    let address = percent_decode(address);
    for step in address.split('/') {
        match step {
            "" | "." => {}
            ".." => {
                path.pop();
            }
            step => path.push(step),
        }
    }
    path.join("/")
}

#[cfg(test)]
mod tests {
    use super::super::zip_archive::writing::zip;
    use super::*;

    const CONTAINER: &str =
        r#"<container><rootfiles><rootfile full-path="OPS/book.opf"/></rootfiles></container>"#;
    const PACKAGE: &str = r#"<package><metadata><dc:title>O Livro</dc:title><dc:date>2006-05</dc:date></metadata><manifest>
        <item id="c2" href="two.xhtml" media-type="application/xhtml+xml"/>
        <item id="c1" href="text/one%20a.xhtml" media-type="application/xhtml+xml"/>
        <item id="nav" href="nav.xhtml" properties="nav" media-type="application/xhtml+xml"/></manifest>
        <spine><itemref idref="nav"/><itemref idref="c1"/><itemref idref="c2"/><itemref idref="c2"/></spine></package>"#;
    const ONE: &str = "<html><head><title/></head><body><h1>First</h1><p>Once <a href='../two.xhtml'>on</a>.</p></body></html>";
    const TWO: &str = "\u{feff}<html><body><p>The end.</p></body></html>";
    const CONTENTS: &str = "<nav><ol><li><a href='text/one%20a.xhtml'>I</a></li><li><a href='two.xhtml#x'>Second <b>one</b></a></li></ol></nav>";

    fn book<'a>(changes: &[(&'a str, &'a str)]) -> Vec<u8> {
        let mut parts = BTreeMap::from([
            ("META-INF/container.xml", CONTAINER),
            ("OPS/book.opf", PACKAGE),
            ("OPS/text/one a.xhtml", ONE),
            ("OPS/two.xhtml", TWO),
            ("OPS/nav.xhtml", CONTENTS),
        ]);
        parts.extend(changes.iter().copied());
        let parts: Vec<_> = parts
            .iter()
            .map(|(name, text)| (*name, text.as_bytes()))
            .collect();
        zip(&parts)
    }

    #[test]
    fn chapters_in_reading_order() {
        let document = read_epub(&book(&[]), "x/file.epub").unwrap();
        assert_eq!(document.title, "O Livro");
        assert_eq!(document.text, "First\n\nOnce on.\n\nThe end.");
        let headings: Vec<_> = document
            .headings
            .iter()
            .map(|h| (h.text.as_str(), &document.text[h.start..h.end], h.start))
            .collect();
        assert_eq!(headings, [("First", "First", 0), ("Second one", "", 17)]);
        assert_eq!(document.date.unwrap().0.written, "2006-05");
        assert_eq!((document.links, document.warnings), (vec![], vec![]));
    }

    #[test]
    fn older_table_of_contents() {
        let package = PACKAGE.replace(
            r#"href="nav.xhtml" properties="nav" media-type="application/xhtml+xml""#,
            r#"href="toc.ncx" media-type="application/x-dtbncx+xml""#,
        );
        let contents = "<ncx><docTitle><text>Book</text></docTitle><navMap><navPoint><navLabel><text>Zwei</text></navLabel><content src='two.xhtml'/></navPoint></navMap></ncx>";
        let bytes = book(&[("OPS/book.opf", &package), ("OPS/toc.ncx", contents)]);
        let document = read_epub(&bytes, "file.epub").unwrap();
        assert_eq!(document.headings[1].text, "Zwei");
    }

    #[test]
    fn one_bad_chapter_costs_only_itself() {
        let document = read_epub(&book(&[("OPS/two.xhtml", "\0binary")]), "file.epub").unwrap();
        assert_eq!(document.text, "First\n\nOnce on.");
        assert_eq!(
            document.warnings[0].message,
            "OPS/two.xhtml: binary data, not text (it contains NUL bytes)"
        );
    }

    #[test]
    fn what_cannot_be_read_is_named() {
        let check = |bytes: &[u8], expected: &str| {
            assert_eq!(read_epub(bytes, "file.epub").unwrap_err(), expected);
        };
        let locked = "<encryption><enc:CipherReference URI='OPS/text/one%20a.xhtml'/><enc:CipherReference URI='OPS/two.xhtml'/></encryption>";
        check(
            &book(&[("META-INF/encryption.xml", locked)]),
            "no chapter can be read; the first: OPS/text/one a.xhtml: locked by copy protection",
        );
        check(
            &book(&[("META-INF/container.xml", "<container/>")]),
            "META-INF/container.xml names no book",
        );
        check(&zip(&[("a", b"")]), "META-INF/container.xml is missing");
        check(&book(&[])[..300], "the ZIP archive is cut off or damaged");
    }
}
