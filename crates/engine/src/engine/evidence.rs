//! Where a relation is stated, and the heading that its link leads to.

use rusqlite::Connection;

use crate::Result;
use crate::graph::find_heading;
use crate::sources::{Format, ReadOptions, read};
use crate::storage::{self, Anchor};
use crate::types::{DocumentKind, EvidenceView, HeadingView, RelationId};

/// Up to `limit` passages that state a relation, by uri.
pub(super) fn evidence_of(
    connection: &Connection,
    relation: RelationId,
    limit: usize,
) -> Result<Vec<EvidenceView>> {
    storage::evidence_of_relation(connection, relation, limit)?
        .into_iter()
        .map(|(evidence, anchor)| {
            let heading = match anchor {
                Some(anchor) => heading_of(connection, &anchor)?,
                None => None,
            };
            Ok(EvidenceView {
                heading,
                ..evidence
            })
        })
        .collect()
}

/// The heading that an anchor names; `None` for a block and for a heading that is not there.
fn heading_of(connection: &Connection, anchor: &Anchor) -> Result<Option<HeadingView>> {
    let Some(document) = storage::current_document(connection, anchor.document)? else {
        return Ok(None);
    };
    if document.kind != DocumentKind::Markdown {
        return Ok(None);
    }
    // The text of a file is not kept, its passages are; between them stand only blanks and front matter.
    let passages = storage::passages_of_document(connection, anchor.document)?;
    let mut text = String::new();
    for (start, _, passage) in &passages {
        if let Some(gap) = start.checked_sub(text.len()) {
            text.extend(std::iter::repeat_n('\n', gap));
            text.push_str(passage);
        } else if let Some(rest) = passage.get(text.len() - start..) {
            text.push_str(rest);
        }
    }
    let outcome = read(
        text.as_bytes(),
        &document.uri,
        Format::Markdown,
        &ReadOptions::default(),
    );
    let headings = outcome
        .documents
        .into_iter()
        .next()
        .map(|parsed| parsed.headings)
        .unwrap_or_default();
    let Some(place) = find_heading(&headings, &anchor.written) else {
        return Ok(None);
    };
    let heading = &headings[place];
    let line = passages
        .iter()
        .rfind(|(start, _, _)| *start <= heading.start)
        .map_or(0, |(start, line, passage)| {
            let before = passage.get(..heading.start - start).unwrap_or(passage);
            line + before.matches('\n').count()
        });
    Ok(Some(HeadingView {
        uri: document.uri,
        line,
        text: heading.text.clone(),
    }))
}
