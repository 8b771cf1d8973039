//! HTML to text: a WHATWG tokenizer and a few rules about elements, no tree.

use encoding_rs::Encoding;
use html5gum::{HtmlString, StartTag, State, Token, Tokenizer, naive_next_state};

use super::document_date::date_stated;
use super::extracted::{Gap, TextBuilder};
use super::relative_link::relative_link;
use super::title::file_stem;
use crate::types::{DocumentKind, ParsedDocument, Warning};

/// How lenient to be with `<script/>` and the like.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Dialect {
    /// A web page: only the HTML standard's void elements are empty.
    Html,
    /// A chapter of an EPUB: XML, where any element may be empty.
    Xhtml,
}

/// What a page says about itself.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct PageHead {
    pub(super) title: String,
    /// From `<meta>`: when the page says it was published.
    pub(super) date: Option<String>,
}

/// The encoding named in a page's first bytes (`<meta charset=…>` or an XML declaration).
pub(super) fn declared_encoding(bytes: &[u8]) -> Option<&'static Encoding> {
    let head = String::from_utf8_lossy(&bytes[..bytes.len().min(1024)]).to_ascii_lowercase();
    let (_, label) = head
        .split_once("charset=")
        .or_else(|| head.split_once("encoding="))?;
    let label = label.trim_start_matches(['"', '\'']);
    let end = label
        .find(['"', '\'', ';', ' ', '/', '>', '?'])
        .unwrap_or(label.len());
    Encoding::for_label(&label.as_bytes()[..end])
}

/// Reads one page.
pub(super) fn read_html(text: &str, uri: &str, warnings: Vec<Warning>) -> ParsedDocument {
    let (builder, head) = extract(text, Dialect::Html);
    let title = [
        head.title.as_str(),
        builder.first_heading().unwrap_or_default(),
    ]
    .into_iter()
    .find(|title| !title.is_empty())
    .map_or_else(|| file_stem(uri).to_owned(), str::to_owned);
    ParsedDocument {
        date: date_stated(head.date.as_deref(), uri),
        ..builder.document(DocumentKind::Html, title, warnings)
    }
}

/// Takes a page's text out of its markup.
///
/// Navigation, buttons and hidden parts are left out, unless nothing else is left or such an
/// element never ends (its closing tag is missing, and half of the page would be lost with it).
pub(super) fn extract(text: &str, dialect: Dialect) -> (TextBuilder, PageHead) {
    let mut page = Page::run(text, dialect, Noise::Dropped);
    if page.noise.is_some() || page.builder.is_empty() {
        page = Page::run(text, dialect, Noise::Kept);
    }
    (page.builder, page.head)
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Noise {
    Kept,
    Dropped,
}

/// Elements whose content is never text of the page.
const RAW: [&str; 8] = [
    "script", "style", "noscript", "iframe", "noembed", "noframe", "textarea", "template",
];

/// Elements around a page's text.
const NOISE: [&str; 7] = [
    "nav", "button", "select", "svg", "canvas", "object", "dialog",
];

/// Elements without an end tag.
const VOID: [&str; 14] = [
    "area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "param", "source",
    "track", "wbr",
];

struct Page {
    builder: TextBuilder,
    head: PageHead,
    dialect: Dialect,
    /// The element whose text is being dropped, and how many of its name are open.
    raw: Option<(String, usize)>,
    noise: Option<(String, usize)>,
    drops: Noise,
    in_title: bool,
    verbatim: usize,
    lists: usize,
    tables: usize,
}

impl Page {
    fn run(text: &str, dialect: Dialect, drops: Noise) -> Self {
        let mut page = Self {
            builder: TextBuilder::default(),
            head: PageHead::default(),
            dialect,
            raw: None,
            noise: None,
            drops,
            in_title: false,
            verbatim: 0,
            lists: 0,
            tables: 0,
        };
        let mut tokens = Tokenizer::new(text);
        while let Some(Ok(token)) = tokens.next() {
            match token {
                Token::StartTag(tag) => {
                    if let Some(state) = page.start(&tag) {
                        tokens.set_state(state);
                    }
                }
                Token::EndTag(tag) => page.end(&name_of(&tag.name)),
                Token::String(value) => page.text(&String::from_utf8_lossy(&value)),
                _ => {}
            }
        }
        page.builder.close_link();
        page.builder.close_heading();
        page.builder.close_block();
        page
    }

    /// Handles a start tag; returns the state the tokenizer must switch to, if any.
    fn start(&mut self, tag: &StartTag<()>) -> Option<State> {
        let name = name_of(&tag.name);
        let name = name.as_str();
        let is_empty = VOID.contains(&name) || (self.dialect == Dialect::Xhtml && tag.self_closing);
        let state = if is_empty {
            None
        } else {
            naive_next_state(name.as_bytes())
        };
        for dropped in [&mut self.raw, &mut self.noise].into_iter().flatten() {
            if dropped.0 == name && !is_empty {
                dropped.1 += 1;
            }
        }
        if self.raw.is_some() || self.noise.is_some() {
            return state;
        }
        if !is_empty && RAW.contains(&name) {
            self.raw = Some((name.to_owned(), 1));
            return state;
        }
        if !is_empty && self.drops == Noise::Dropped && is_noise(name, tag) {
            self.noise = Some((name.to_owned(), 1));
            return state;
        }
        self.open(name, tag, is_empty);
        state
    }

    fn open(&mut self, name: &str, tag: &StartTag<()>, is_empty: bool) {
        match name {
            "title" if !is_empty => self.in_title = true,
            "meta" => self.meta(tag),
            "br" if self.verbatim > 0 => self.builder.verbatim("\n"),
            "br" => self.builder.gap(Gap::Line),
            "img" => {
                if let Some(description) = attribute(tag, "alt") {
                    self.builder.words(&description);
                }
            }
            "h1" | "h2" | "h3" | "h4" | "h5" | "h6" if !is_empty => {
                self.builder.open_heading(name.as_bytes()[1] - b'0');
            }
            "a" if !is_empty => {
                if let Some((target, anchor)) =
                    attribute(tag, "href").and_then(|href| relative_link(&href))
                {
                    self.builder.open_link(target, anchor);
                }
            }
            "ul" | "ol" | "menu" if !is_empty => {
                self.gap(if self.lists == 0 {
                    Gap::Paragraph
                } else {
                    Gap::Line
                });
                self.lists += 1;
            }
            "li" => {
                self.builder.gap(Gap::Line);
                let depth = self.lists.clamp(1, 8) - 1;
                self.builder.mark(&format!("{}- ", "  ".repeat(depth)));
            }
            "table" if !is_empty => {
                self.gap(Gap::Paragraph);
                self.tables += 1;
                self.builder.open_block();
            }
            "tr" => self.builder.open_row(),
            "td" | "th" => self.builder.open_cell(),
            "pre" | "xmp" | "listing" if !is_empty => {
                self.gap(Gap::Paragraph);
                self.verbatim += 1;
                self.builder.open_block();
            }
            _ => self.gap(gap_around(name)),
        }
    }

    fn end(&mut self, name: &str) {
        for dropped in [&mut self.raw, &mut self.noise] {
            if let Some((open, depth)) = dropped
                && open == name
            {
                *depth -= 1;
                if *depth == 0 {
                    *dropped = None;
                    self.builder.gap(Gap::Space);
                }
                return;
            }
        }
        if self.raw.is_some() || self.noise.is_some() {
            return;
        }
        match name {
            "title" => self.in_title = false,
            "h1" | "h2" | "h3" | "h4" | "h5" | "h6" => self.builder.close_heading(),
            "a" => self.builder.close_link(),
            "ul" | "ol" | "menu" => {
                self.lists = self.lists.saturating_sub(1);
                self.gap(if self.lists == 0 {
                    Gap::Paragraph
                } else {
                    Gap::Line
                });
            }
            "table" => {
                self.tables = self.tables.saturating_sub(1);
                if self.tables == 0 && self.verbatim == 0 {
                    self.builder.close_block();
                }
                self.gap(Gap::Paragraph);
            }
            "pre" | "xmp" | "listing" => {
                self.verbatim = self.verbatim.saturating_sub(1);
                if self.verbatim == 0 && self.tables == 0 {
                    self.builder.close_block();
                }
                self.gap(Gap::Paragraph);
            }
            _ => self.gap(gap_around(name)),
        }
    }

    /// Paragraphs inside a table's cells would tear its rows apart.
    fn gap(&mut self, gap: Gap) {
        self.builder.gap(if self.tables > 0 {
            gap.min(Gap::Line)
        } else {
            gap
        });
    }

    fn text(&mut self, text: &str) {
        if self.raw.is_some() || self.noise.is_some() {
            return;
        }
        if self.in_title {
            if self.head.title.is_empty() {
                self.head.title = collapse(text);
            }
        } else if self.verbatim > 0 {
            self.builder.verbatim(&text.replace("\r\n", "\n"));
        } else {
            self.builder.words(text);
        }
    }

    fn meta(&mut self, tag: &StartTag<()>) {
        let key = ["name", "property", "itemprop"]
            .iter()
            .find_map(|key| attribute(tag, key))
            .unwrap_or_default()
            .to_ascii_lowercase();
        let Some(content) = attribute(tag, "content") else {
            return;
        };
        match key.as_str() {
            "og:title" if self.head.title.is_empty() => self.head.title = collapse(&content),
            "article:published_time" | "date" | "dc.date" | "dcterms.created" | "datepublished"
                if self.head.date.is_none() =>
            {
                self.head.date = Some(content);
            }
            _ => {}
        }
    }
}

fn gap_around(name: &str) -> Gap {
    match name {
        "p" | "blockquote" | "figure" | "article" | "section" | "main" | "header" | "footer"
        | "aside" | "hr" | "dl" | "details" | "fieldset" | "address" => Gap::Paragraph,
        "div" | "dt" | "dd" | "figcaption" | "caption" | "summary" | "body" | "head" | "html"
        | "form" | "legend" | "option" | "center" | "tbody" | "thead" | "tfoot" => Gap::Line,
        _ => Gap::None,
    }
}

fn is_noise(name: &str, tag: &StartTag<()>) -> bool {
    let hidden = || {
        tag.attributes.contains_key("hidden".as_bytes())
            || attribute(tag, "aria-hidden").as_deref() == Some("true")
            || attribute(tag, "role").as_deref() == Some("navigation")
    };
    NOISE.contains(&name) || (name != "body" && name != "html" && hidden())
}

fn name_of(name: &HtmlString) -> String {
    let name = String::from_utf8_lossy(name).into_owned();
    // EPUB chapters may write their elements with a prefix.
    match name.rsplit_once(':') {
        Some((_, local)) => local.to_owned(),
        None => name,
    }
}

fn attribute(tag: &StartTag<()>, name: &str) -> Option<String> {
    let value = tag.attributes.get(name.as_bytes())?;
    Some(String::from_utf8_lossy(value).into_owned())
}

fn collapse(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(html: &str) -> ParsedDocument {
        read_html(html, "folder/page.html", Vec::new())
    }

    #[test]
    fn text() {
        let check = |html: &str, expected: &str| assert_eq!(read(html).text, expected, "{html}");
        check("<p>One<p>Two", "One\n\nTwo");
        check("a<br>b<br/>c", "a\nb\nc");
        check(
            "x &amp; y &lt;z&gt; &copy; &#8364; &eacute;",
            "x & y <z> © € é",
        );
        check("<p>a <b>bold</b>, <i>it</i>alic</p>", "a bold, italic");
        check(
            "<script>var x = '<p>no</p>'</script>yes<style>p{}</style>",
            "yes",
        );
        check("<nav><a href=x>Home</a></nav><p>Body</p>", "Body");
        check("<div hidden>secret <div>deep</div></div>shown", "shown");
        check("<nav>only this", "only this");
        check(
            "<nav>never closed <p>the whole page</p>",
            "never closed\n\nthe whole page",
        );
        check(
            "<ul><li>one<li>two<ul><li>deep</ul></ul>end",
            "- one\n- two\n  - deep\n\nend",
        );
        check(
            "<table><tr><th>a<th>b</tr><tr><td><p>1</p><td>2</table>",
            "a | b\n1 | 2",
        );
        check(
            "<table><tr><td><td>x<td></tr><tr><td>y</table>after",
            "| x\ny\n\nafter",
        );
        check(
            "<pre>fn  x() {\n  y\n}</pre>after",
            "fn  x() {\n  y\n}\n\nafter",
        );
        check("<img src=x alt='a cat'> sat", "a cat sat");
        check("<!-- no --><![CDATA[x]]>yes", "yes");
        check("", "");
        check("<p>unclosed <b", "unclosed");
        check("知识\n图谱", "知识图谱");
    }

    #[test]
    fn title() {
        let check = |html: &str, expected: &str| assert_eq!(read(html).title, expected, "{html}");
        check("<title>A &amp;\n B</title><h1>C</h1>", "A & B");
        check("<h1>Head <i>ing</i></h1>", "Head ing");
        check("<meta property='og:title' content='Shared'><p>x", "Shared");
        check("<p>x", "page");
        check("<svg><title>icon</title></svg><p>x", "page");
    }

    #[test]
    fn headings_and_links_have_exact_ranges() {
        let page = read(
            "<h1>Top</h1><p>See <a href='../other%20page.html#part'>the other</a>, \
             <a href='https://example.org/'>the web</a>, <a href='mailto:a@b.c'>mail</a>, \
             <a href='#here'>here</a>.<h2> Sub <a href=\"x.html\">linked</a> </h2>text",
        );
        let cut = |start: usize, end: usize| &page.text[start..end];
        let headings: Vec<_> = page
            .headings
            .iter()
            .map(|heading| {
                (
                    heading.level,
                    heading.text.as_str(),
                    cut(heading.start, heading.end),
                )
            })
            .collect();
        assert_eq!(
            headings,
            [(1, "Top", "Top"), (2, "Sub linked", "Sub linked")]
        );
        let links: Vec<_> = page
            .links
            .iter()
            .map(|link| {
                (
                    link.target.as_str(),
                    link.anchor.as_deref(),
                    cut(link.start, link.end),
                )
            })
            .collect();
        assert_eq!(
            links,
            [
                ("../other page.html", Some("part"), "the other"),
                ("x.html", None, "linked")
            ]
        );
    }

    #[test]
    fn declared_encodings() {
        let check = |html: &str, expected: Option<&str>| {
            let found = declared_encoding(html.as_bytes()).map(Encoding::name);
            assert_eq!(found, expected, "{html}");
        };
        check("<meta charset=gb2312>", Some("GBK"));
        check(
            "<meta content='text/html; charset=ISO-8859-1'>",
            Some("windows-1252"),
        );
        check(
            "<?xml version='1.0' encoding='Shift_JIS'?>",
            Some("Shift_JIS"),
        );
        check("<meta charset=nonsense>", None);
        check("<p>none", None);
    }

    #[test]
    fn empty_elements_of_xhtml_do_not_swallow_the_chapter() {
        let html =
            "<html><head><title/><script src='x'/></head><body><a id='p1'/><p>Text</p></body>";
        let (builder, _) = extract(html, Dialect::Xhtml);
        assert_eq!(
            builder
                .document(DocumentKind::Epub, String::new(), vec![])
                .text,
            "Text"
        );
    }
}
