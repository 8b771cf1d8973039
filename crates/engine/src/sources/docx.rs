//! Word documents: paragraphs, headings by style, lists, tables, links, notes.
//!
//! Left out on purpose: headers and footers (repeated on every page), comments, deleted text.

use std::collections::BTreeMap;

use super::document_date::date_stated;
use super::encoding::decode;
use super::extracted::{Gap, TextBuilder};
use super::relative_link::relative_link;
use super::title::file_stem;
use super::xml::{Event, Tag, events, text_of};
use super::zip_archive::ZipArchive;
use crate::types::{DocumentKind, ParsedDocument, Warning};

/// Styles that are based on others are followed this far.
const MAX_STYLE_CHAIN: usize = 16;

/// Reads one document.
///
/// # Errors
/// The reason why it cannot be read.
pub(super) fn read_docx(bytes: &[u8], uri: &str) -> Result<ParsedDocument, String> {
    let mut archive = ZipArchive::open(bytes)?;
    let mut warnings = Vec::new();
    let main = main_part(&mut archive)?;
    let (folder, name) = main.rsplit_once('/').unwrap_or(("", &main));
    let beside = |name: &str| match folder {
        "" => name.to_owned(),
        folder => format!("{folder}/{name}"),
    };
    let body = part(&mut archive, &main)?.ok_or_else(|| format!("{main} is missing"))?;
    let mut optional = |name: String| {
        part(&mut archive, &name).unwrap_or_else(|message| {
            warnings.push(Warning { line: 0, message });
            None
        })
    };
    let styles = optional(beside("styles.xml")).map(|xml| read_styles(&xml));
    let links = optional(beside(&format!("_rels/{name}.rels"))).map(|xml| link_targets(&xml));
    let notes = [beside("footnotes.xml"), beside("endnotes.xml")].map(&mut optional);
    let title = optional("docProps/core.xml".to_owned()).and_then(|xml| text_of(&xml, "title"));

    let mut reader = Reader {
        styles: styles.unwrap_or_default(),
        links: links.unwrap_or_default(),
        ..Reader::default()
    };
    reader.read(&body);
    for note in notes.into_iter().flatten() {
        reader.read(&note);
    }
    let builder = reader.builder;
    let title = title
        .as_deref()
        .or_else(|| builder.first_heading())
        .unwrap_or_else(|| file_stem(uri))
        .to_owned();
    // The date in its properties is often that of the template it was made from.
    Ok(ParsedDocument {
        date: date_stated(None, uri),
        ..builder.document(DocumentKind::Docx, title, warnings)
    })
}

/// The part that the package names as its document; writers other than Word name it freely.
fn main_part(archive: &mut ZipArchive<'_>) -> Result<String, String> {
    let relations = part(archive, "_rels/.rels")?.unwrap_or_default();
    for event in events(&relations) {
        if let Event::Start(tag) = event
            && tag
                .attribute("type")
                .is_some_and(|kind| kind.ends_with("/officeDocument"))
            && let Some(target) = tag.attribute("target")
        {
            return Ok(target.trim_start_matches('/').to_owned());
        }
    }
    Ok("word/document.xml".to_owned())
}

fn part(archive: &mut ZipArchive<'_>, name: &str) -> Result<Option<String>, String> {
    let Some(content) = archive.read(name) else {
        return Ok(None);
    };
    let decoded = decode(&content?).map_err(|reason| format!("{name}: {reason}"))?;
    Ok(Some(decoded.without_mark()))
}

/// What a paragraph style makes of its paragraphs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Style {
    /// A heading of this level.
    Heading(u8),
    ListItem,
}

/// Style id to what it makes, for the styles that matter.
fn read_styles(xml: &str) -> BTreeMap<String, Style> {
    let mut styles: BTreeMap<String, Style> = BTreeMap::new();
    let mut parents: BTreeMap<String, String> = BTreeMap::new();
    let mut current = String::new();
    for event in events(xml) {
        let Event::Start(tag) = event else { continue };
        match tag.name.as_str() {
            "w:style" => current = tag.attribute("w:styleid").unwrap_or_default(),
            "w:name" => {
                // Built-in styles keep their English name whatever the language of Word is.
                let name = tag.attribute("w:val").unwrap_or_default().to_lowercase();
                let level = match name.strip_prefix("heading ").map(str::parse) {
                    Some(Ok(level)) => Some(level),
                    _ => (name == "title").then_some(1),
                };
                if let Some(level) = level {
                    styles.insert(current.clone(), Style::Heading(level));
                }
            }
            "w:basedon" => {
                parents.insert(current.clone(), tag.attribute("w:val").unwrap_or_default());
            }
            "w:outlinelvl" => {
                if let Some(level) = outline_level(&tag) {
                    styles.insert(current.clone(), Style::Heading(level));
                }
            }
            // Numbered headings are headings.
            "w:numpr" => {
                styles.entry(current.clone()).or_insert(Style::ListItem);
            }
            _ => {}
        }
    }
    let inherited: Vec<(String, Style)> = parents
        .keys()
        .filter(|style| !styles.contains_key(*style))
        .filter_map(|style| {
            let chain = std::iter::successors(Some(style), |style| parents.get(*style));
            let found = chain
                .take(MAX_STYLE_CHAIN)
                .find_map(|style| styles.get(style))?;
            Some((style.clone(), *found))
        })
        .collect();
    styles.extend(inherited);
    styles
}

/// Levels are counted from 0; 9 means body text.
fn outline_level(tag: &Tag) -> Option<u8> {
    let level: u8 = tag.attribute("w:val")?.parse().ok()?;
    (level < 9).then_some(level + 1)
}

/// Relation id to the address of a link.
fn link_targets(xml: &str) -> BTreeMap<String, String> {
    events(xml)
        .filter_map(|event| match event {
            Event::Start(tag)
                if tag
                    .attribute("type")
                    .is_some_and(|kind| kind.ends_with("/hyperlink")) =>
            {
                Some((tag.attribute("id")?, tag.attribute("target")?))
            }
            _ => None,
        })
        .collect()
}

#[derive(Default)]
struct Reader {
    styles: BTreeMap<String, Style>,
    links: BTreeMap<String, String>,
    builder: TextBuilder,
    paragraph: Paragraph,
    was_list: bool,
    tables: usize,
    /// Inside a copy of what was already read, for older programs.
    fallback: usize,
    is_text: bool,
}

/// What the properties of the current paragraph say.
#[derive(Default)]
struct Paragraph {
    heading: Option<u8>,
    /// Depth of the list item, from 0.
    list: Option<usize>,
    has_text: bool,
}

impl Reader {
    fn read(&mut self, xml: &str) {
        for event in events(xml) {
            match event {
                Event::Start(tag) if tag.name == "mc:fallback" => self.fallback += 1,
                Event::End(name) if name == "mc:fallback" => {
                    self.fallback = self.fallback.saturating_sub(1);
                }
                _ if self.fallback > 0 => {}
                Event::Start(tag) => self.start(&tag),
                Event::End(name) => self.end(&name),
                Event::Text(text) if self.is_text => self.text(&text),
                Event::Text(_) => {}
            }
        }
        self.builder.close_link();
        self.builder.close_heading();
        self.builder.close_block();
        (self.tables, self.fallback, self.is_text) = (0, 0, false);
    }

    fn start(&mut self, tag: &Tag) {
        match tag.name.as_str() {
            "w:p" => {
                self.builder.gap(if self.tables > 0 {
                    Gap::Space
                } else {
                    Gap::Line
                });
                self.paragraph = Paragraph::default();
            }
            "w:pstyle" => {
                let style = tag.attribute("w:val").unwrap_or_default();
                match self.styles.get(&style) {
                    Some(Style::Heading(level)) => self.paragraph.heading = Some(*level),
                    Some(Style::ListItem) => self.paragraph.list = Some(0),
                    None => {}
                }
            }
            "w:outlinelvl" => self.paragraph.heading = outline_level(tag),
            "w:numpr" => self.paragraph.list = Some(0),
            "w:ilvl" => {
                let depth = tag.attribute("w:val").and_then(|depth| depth.parse().ok());
                self.paragraph.list = depth.or(Some(0));
            }
            "w:t" | "m:t" => self.is_text = true,
            "w:tab" | "w:ptab" if self.paragraph.has_text => self.builder.gap(Gap::Space),
            "w:br" | "w:cr" if self.tables > 0 => self.builder.gap(Gap::Space),
            "w:br" | "w:cr" => self.builder.gap(Gap::Line),
            "w:nobreakhyphen" => self.text("-"),
            "w:hyperlink" => {
                let address = tag.attribute("r:id").and_then(|id| self.links.get(&id));
                if let Some((target, anchor)) = address.and_then(|found| relative_link(found)) {
                    self.builder.open_link(target, anchor);
                }
            }
            "w:tbl" => {
                if self.tables == 0 {
                    self.builder.gap(Gap::Paragraph);
                    self.builder.open_block();
                }
                self.tables += 1;
            }
            "w:tr" => self.builder.open_row(),
            "w:tc" => self.builder.open_cell(),
            _ => {}
        }
    }

    fn end(&mut self, name: &str) {
        match name {
            "w:t" | "m:t" => self.is_text = false,
            "w:p" => {
                self.builder.close_link();
                if self.paragraph.has_text {
                    self.was_list = self.paragraph.list.is_some();
                    if self.paragraph.heading.is_some() && self.tables == 0 {
                        self.builder.close_heading();
                    }
                }
            }
            "w:hyperlink" => self.builder.close_link(),
            "w:tbl" => {
                self.tables = self.tables.saturating_sub(1);
                if self.tables == 0 {
                    self.builder.close_block();
                    self.builder.gap(Gap::Paragraph);
                }
            }
            _ => {}
        }
    }

    fn text(&mut self, text: &str) {
        if !self.paragraph.has_text && !text.trim().is_empty() {
            self.paragraph.has_text = true;
            self.begin_paragraph();
        }
        self.builder.words(text);
    }

    fn begin_paragraph(&mut self) {
        if self.tables > 0 {
            return;
        }
        match (&self.paragraph.heading, self.paragraph.list) {
            (Some(level), _) => self.builder.open_heading(*level),
            (None, Some(depth)) => {
                if !self.was_list {
                    self.builder.gap(Gap::Paragraph);
                }
                self.builder
                    .mark(&format!("{}- ", "  ".repeat(depth.min(8))));
            }
            (None, None) => self.builder.gap(Gap::Paragraph),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::zip_archive::writing::zip;
    use super::*;

    const STYLES: &str = r#"<w:styles>
        <w:style w:styleId="Ttulo1"><w:name w:val="heading 1"/></w:style>
        <w:style w:styleId="Mine"><w:name w:val="Mine"/><w:basedOn w:val="Ttulo2"/></w:style>
        <w:style w:styleId="Ttulo2"><w:name w:val="Heading 2"/></w:style>
        <w:style w:styleId="Bullet"><w:pPr><w:numPr/></w:pPr></w:style>
        <w:style w:styleId="Loop"><w:basedOn w:val="Loop"/></w:style></w:styles>"#;
    const LINKS: &str = r#"<Relationships>
        <Relationship Id="r1" Type="http://x/hyperlink" Target="other%20file.docx"/>
        <Relationship Id="r2" Type="http://x/hyperlink" Target="https://example.org"/></Relationships>"#;

    fn read(body: &str) -> ParsedDocument {
        let body = format!("<w:document><w:body>{body}</w:body></w:document>");
        let bytes = zip(&[
            ("word/document.xml", body.as_bytes()),
            ("word/styles.xml", STYLES.as_bytes()),
            ("word/_rels/document.xml.rels", LINKS.as_bytes()),
        ]);
        read_docx(&bytes, "dir/file.docx").unwrap()
    }

    fn paragraph(style: &str, text: &str) -> String {
        format!(
            r#"<w:p><w:pPr><w:pStyle w:val="{style}"/></w:pPr><w:r><w:t>{text}</w:t></w:r></w:p>"#
        )
    }

    fn item(depth: usize, text: &str) -> String {
        format!(
            r#"<w:p><w:pPr><w:numPr><w:ilvl w:val="{depth}"/></w:numPr></w:pPr><w:r><w:t>{text}</w:t></w:r></w:p>"#
        )
    }

    #[test]
    fn text() {
        let check = |body: &str, expected: &str| assert_eq!(read(body).text, expected, "{body}");
        check(
            "<w:p><w:r><w:t>Hel</w:t></w:r><w:r><w:t xml:space='preserve'>lo &amp; </w:t><w:t>you</w:t></w:r></w:p>\
             <w:p/><w:p><w:r><w:t>a</w:t><w:tab/><w:t>b</w:t><w:br/><w:t>c</w:t></w:r></w:p>",
            "Hello & you\n\na b\nc",
        );
        let list = format!(
            "{}{}{}",
            item(0, "one"),
            item(1, "deep"),
            paragraph("", "after")
        );
        check(&list, "- one\n  - deep\n\nafter");
        let styled = format!(
            "{}{}",
            paragraph("Bullet", "one"),
            paragraph("Bullet", "two")
        );
        check(&styled, "- one\n- two");
        let cell = |text: &str| format!("<w:tc>{0}</w:tc>", paragraph("", text));
        let row = |a: &str, b: &str| format!("<w:tr>{}{}</w:tr>", cell(a), cell(b));
        let table = format!("x<w:tbl>{}{}</w:tbl>", row("a", "b<w:br/>c"), row("", "d"));
        check(&table, "a | b c\n| d");
        check(
            "<w:p><w:r><w:t>kept</w:t><w:delText>deleted</w:delText><w:instrText>PAGE</w:instrText></w:r></w:p>",
            "kept",
        );
        check(
            "<mc:AlternateContent><mc:Choice><w:p><w:t>once</w:t></w:p></mc:Choice>\
             <mc:Fallback><w:p><w:t>once</w:t></w:p></mc:Fallback></mc:AlternateContent>",
            "once",
        );
    }

    #[test]
    fn headings_title_and_links() {
        let body = format!(
            "{}{}<w:p><w:r><w:t>See </w:t></w:r><w:hyperlink r:id='r1'><w:r><w:t>the file</w:t></w:r></w:hyperlink>\
             <w:hyperlink r:id='r2'><w:r><w:t> web</w:t></w:r></w:hyperlink></w:p>{}",
            paragraph("Ttulo1", "Relatório"),
            paragraph("Mine", "Part"),
            paragraph("Loop", "end"),
        );
        let document = read(&body);
        assert_eq!(document.title, "Relatório");
        assert_eq!(
            document.text,
            "Relatório\n\nPart\n\nSee the file web\n\nend"
        );
        let headings: Vec<_> = document
            .headings
            .iter()
            .map(|h| (h.level, &document.text[h.start..h.end]))
            .collect();
        assert_eq!(headings, [(1, "Relatório"), (2, "Part")]);
        assert_eq!(document.links.len(), 1);
        assert_eq!(document.links[0].target, "other file.docx");
        assert_eq!(
            &document.text[document.links[0].start..document.links[0].end],
            "the file"
        );
    }

    #[test]
    fn package_parts() {
        let relations = r#"<Relationships><Relationship Type="http://x/officeDocument" Target="/w/doc2.xml"/></Relationships>"#;
        let bytes = zip(&[
            ("_rels/.rels", relations.as_bytes()),
            ("w/doc2.xml", b"<w:p><w:t>body</w:t></w:p>"),
            (
                "w/footnotes.xml",
                b"<w:footnote><w:p><w:t>note</w:t></w:p></w:footnote>",
            ),
            (
                "docProps/core.xml",
                b"<cp><dc:title>From properties</dc:title></cp>",
            ),
        ]);
        let document = read_docx(&bytes, "file.docx").unwrap();
        assert_eq!(document.title, "From properties");
        assert_eq!(document.text, "body\n\nnote");
        let error = read_docx(&zip(&[("x", b"y")]), "file.docx").unwrap_err();
        assert_eq!(error, "word/document.xml is missing");
    }
}
