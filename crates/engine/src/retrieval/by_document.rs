//! What one document says to a question.

use super::Reader;
use super::passages::score_sentences;
use super::quote::states_something;
use super::search::search;
use crate::Result;
use crate::storage;
use crate::text::sentences;
use crate::types::{Citation, DocumentId, Mode, SearchRequest};

/// Passages of the document that are looked at.
const CHUNKS: usize = 3;
/// A sentence longer than this many bytes is cut at a blank.
const LONGEST: usize = 600;

/// At most `most` sentences of the document, those that say most of what was asked first; its first sentence when it
/// says nothing of it, so that every document is heard.
pub(crate) fn document_sentences(
    reader: &Reader<'_>,
    question: &str,
    document: DocumentId,
    most: usize,
) -> Result<Vec<Citation>> {
    let found = search(
        reader,
        &SearchRequest {
            mode: Mode::Keyword,
            limit: CHUNKS,
            documents: Some(vec![document]),
            ..SearchRequest::new(question)
        },
    )?;
    let scored = score_sentences(reader, question, &found.results)?;
    let mut order: Vec<usize> = (0..scored.all.len())
        .filter(|&at| {
            scored.all[at].words != 0 && scored.chunks[scored.all[at].chunk].document == document
        })
        .collect();
    order.sort_by(|&a, &b| {
        scored.all[b]
            .score
            .total_cmp(&scored.all[a].score)
            .then(a.cmp(&b))
    });
    let mut quotes: Vec<Citation> = Vec::new();
    for at in order {
        let sentence = &scored.all[at];
        let quote = scored.citation(sentence.chunk, sentence.range.clone());
        if quotes.len() < most && quotes.iter().all(|known| known.quote != quote.quote) {
            quotes.push(quote);
        }
    }
    if quotes.is_empty() {
        quotes.extend(first_sentence(reader, document)?);
    }
    Ok(quotes)
}

fn first_sentence(reader: &Reader<'_>, document: DocumentId) -> Result<Option<Citation>> {
    for chunk in storage::chunks_of_document(reader.connection, document)? {
        if reader.hidden.chunks.contains(&chunk.id) {
            continue;
        }
        let Some(row) = storage::evidence_chunk(reader.connection, chunk.id)? else {
            continue;
        };
        let first = sentences(&row.text, LONGEST)
            .into_iter()
            .find(|range| states_something(&row.text[range.clone()]));
        if let Some(range) = first {
            return Ok(Some(row.citation(range)));
        }
    }
    Ok(None)
}
