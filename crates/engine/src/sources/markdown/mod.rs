//! A markdown note becomes a document: front matter, headings, links, tags, its own date.
//!
//! A `CommonMark` parser says where code, comments and math are; wikilinks and tags, which it does
//! not know, are then read from the text around them. `docs/links.md` states every rule.

mod convention;
mod relation;
mod structure;
mod tags;

use std::ops::Range;

use rustc_hash::FxHashSet;
use serde_json::{Map, Value};

use super::ReadOptions;
use super::document_date::date_of_fields;
use super::front_matter::{self, FrontMatter};
use super::title::file_stem;
use super::wikilink::{self, Hidden};
use crate::types::{
    DocumentKind, Heading, LinkConvention, LinkDraft, LinkKind, ParsedDocument, TextOrigin,
};

use convention::ID_LENGTH;

pub use convention::detect_convention;

/// Parses one markdown file.
///
/// `text` is never blank. With [`TextOrigin::File`] it is the file byte for byte and may start with
/// a byte order mark (U+FEFF), which `body_start` skips; with [`TextOrigin::Extracted`] it was
/// transcoded and has none. `uri` is the file's path relative to its root, with `/`.
pub(super) fn read_markdown(
    text: String,
    origin: TextOrigin,
    uri: &str,
    options: &ReadOptions,
) -> ParsedDocument {
    let convention = options.convention;
    let FrontMatter {
        mut value,
        body_start,
        links: sites,
        warnings,
    } = front_matter::read(&text);
    let structure = structure::read(&text, body_start, convention);
    let mut body_links = wikilink::scan(&text, body_start, &structure.hidden, convention);
    type_links(&text, body_start, &structure.headings, &mut body_links);
    if convention == LinkConvention::Logseq {
        add_properties(&mut value, convention::page_properties(&text[body_start..]));
        body_links.extend(block_references(&text, body_start, &structure.hidden));
    }
    let mut links: Vec<LinkDraft> = sites
        .iter()
        .filter_map(|site| {
            let content = &text[site.start + 2..site.end - 2];
            let parts = wikilink::parts(content, LinkKind::FrontMatter, convention)?;
            Some(LinkDraft {
                kind: LinkKind::FrontMatter,
                start: site.start,
                end: site.end,
                target: parts.target,
                anchor: parts.anchor,
                label: parts.label,
                relation: Some(site.key.clone()).filter(|key| !key.is_empty()),
            })
        })
        .collect();
    let markdown_links = outside(structure.links, &body_links);
    links.extend(body_links);
    links.extend(markdown_links);
    links.sort_by_key(|link| (link.start, link.end));

    let mut tags = tags_of(&value);
    tags::scan(
        &text,
        body_start,
        &covered(&structure.hidden, &links),
        &mut tags,
    );
    let stem = file_stem(uri);
    ParsedDocument {
        fragment: String::new(),
        kind: DocumentKind::Markdown,
        title: title(&value, &structure.headings, stem),
        origin,
        body_start,
        headings: structure.headings,
        blocks: structure.blocks,
        aliases: aliases(&value, convention),
        tags,
        links,
        date: date_of_fields(&value, uri),
        warnings,
        front_matter: value,
        text,
    }
}

/// Front-matter title, else the first heading if it is of level 1, else the file's name. A lower
/// first heading is a section (`## Tasks`), which would name many notes alike.
fn title(front_matter: &Value, headings: &[Heading], stem: &str) -> String {
    front_matter::texts(front_matter, &["title"])
        .into_iter()
        .find(|title| !title.is_empty())
        .or_else(|| {
            headings
                .first()
                .filter(|heading| heading.level == 1 && !heading.text.is_empty())
                .map(|heading| heading.text.clone())
        })
        .unwrap_or_else(|| stem.to_owned())
}

/// `aliases` and `alias`: a list, or a text with commas. A Logseq page goes by its title, too.
fn aliases(front_matter: &Value, convention: LinkConvention) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    let mut add = |alias: &str| {
        let alias = alias
            .trim()
            .trim_start_matches("[[")
            .trim_end_matches("]]")
            .trim();
        if !alias.is_empty() && !found.iter().any(|known| known == alias) {
            found.push(alias.to_owned());
        }
    };
    for (_, value) in front_matter::entries(front_matter, &["aliases", "alias"]) {
        match value {
            Value::String(text) => text.split([',', '，']).for_each(&mut add),
            list => front_matter::texts_in(list)
                .iter()
                .for_each(|alias| add(alias)),
        }
    }
    if convention == LinkConvention::Logseq {
        let titles = front_matter::texts(front_matter, &["title"]);
        for title in &titles {
            add(title);
        }
    }
    found
}

/// `tags` and `tag`: a list, or a text with commas or blanks.
fn tags_of(front_matter: &Value) -> Vec<String> {
    let mut found = Vec::new();
    for (_, value) in front_matter::entries(front_matter, &["tags", "tag"]) {
        let is_list = value.is_array();
        for text in front_matter::texts_in(value) {
            if text.contains("[[") {
                continue;
            }
            if is_list {
                tags::add(&text, &mut found);
            } else {
                text.split([',', '，', ' ', '\t', '\n'])
                    .for_each(|tag| tags::add(tag, &mut found));
            }
        }
    }
    found
}

fn add_properties(front_matter: &mut Value, properties: Map<String, Value>) {
    if properties.is_empty() {
        return;
    }
    match front_matter {
        Value::Object(entries) => {
            for (key, value) in properties {
                entries.entry(key).or_insert(value);
            }
        }
        other => *other = Value::Object(properties),
    }
}

/// Gives each link the relation its line states.
fn type_links(text: &str, body_start: usize, headings: &[Heading], links: &mut [LinkDraft]) {
    let mut next_heading = 0;
    let mut under_relations = false;
    let mut line = body_start..body_start;
    for link in links {
        while let Some(heading) = headings
            .get(next_heading)
            .filter(|heading| heading.end <= link.start)
        {
            under_relations = relation::opens_relations(&heading.text);
            next_heading += 1;
        }
        if link.kind != LinkKind::Wikilink {
            continue;
        }
        if link.start >= line.end {
            let start = text[line.end..link.start]
                .rfind('\n')
                .map_or(line.end, |line_break| line.end + line_break + 1);
            let end = text[link.end..]
                .find('\n')
                .map_or(text.len(), |line_break| link.end + line_break);
            line = start..end;
        }
        link.relation = relation::of_link(
            &text[line.clone()],
            link.start - line.start..link.end - line.start,
            under_relations,
        );
    }
}

/// Logseq's `((id))`: into the same page when the block stands here, else open under its id.
fn block_references(text: &str, body_start: usize, hidden: &[Hidden]) -> Vec<LinkDraft> {
    let body = &text[body_start..];
    let blocks: FxHashSet<&str> = body
        .match_indices("id:: ")
        .filter_map(|(at, mark)| body.get(at + mark.len()..at + mark.len() + ID_LENGTH))
        .collect();
    body.match_indices("((")
        .filter_map(|(at, _)| {
            let id = convention::block_reference(&body[at..])?;
            let start = body_start + at;
            let end = start + id.len() + 4;
            let is_hidden = hidden
                .iter()
                .any(|hidden| hidden.range.start < end && start < hidden.range.end);
            (!is_hidden).then(|| LinkDraft {
                kind: LinkKind::Wikilink,
                start,
                end,
                target: if blocks.contains(id) {
                    String::new()
                } else {
                    format!("(({id}))")
                },
                anchor: Some(format!("^{id}")),
                label: None,
                relation: None,
            })
        })
        .collect()
}

/// The markdown links that are no part of a wikilink: `[x]` in `[[x]]` may be a reference link.
fn outside(links: Vec<LinkDraft>, wikilinks: &[LinkDraft]) -> Vec<LinkDraft> {
    links
        .into_iter()
        .filter(|link| {
            let following = wikilinks.partition_point(|wikilink| wikilink.end < link.end);
            wikilinks
                .get(following)
                .is_none_or(|wikilink| link.start < wikilink.start)
        })
        .collect()
}

/// Hidden stretches and links, merged: sorted and disjoint.
fn covered(hidden: &[Hidden], links: &[LinkDraft]) -> Vec<Range<usize>> {
    let mut all: Vec<Range<usize>> = hidden
        .iter()
        .map(|hidden| hidden.range.clone())
        .chain(links.iter().map(|link| link.start..link.end))
        .collect();
    all.sort_by_key(|range| range.start);
    let mut merged: Vec<Range<usize>> = Vec::with_capacity(all.len());
    for range in all {
        match merged.last_mut() {
            Some(last) if range.start <= last.end => last.end = last.end.max(range.end),
            _ => merged.push(range),
        }
    }
    merged
}
