//! Questions about some of the documents: which ones, exactly, and what each of them says.

use super::Engine;
use super::global::Section;
use crate::memory::Period;
use crate::retrieval::document_sentences;
use crate::storage;
use crate::text::fold;
use crate::types::{AskRequest, DocumentCounts, DocumentFilter, DocumentId};
use crate::{Error, Result};

/// Documents of a filter that a question about the whole reads at most; the others are named.
const DOCUMENTS: usize = 500;
/// Sentences of each.
const SENTENCES: usize = 3;

impl Engine {
    /// The documents that a filter lets through, in the order of their paths, and how many it leaves out because
    /// they state no date.
    ///
    /// # Errors
    /// [`Error::Usage`] for a date that cannot be read, or a period that ends before it starts.
    pub fn documents_matching(
        &self,
        filter: &DocumentFilter,
    ) -> Result<(Vec<DocumentId>, DocumentCounts)> {
        let period = Period::new(filter.since.as_deref(), filter.until.as_deref())
            .map_err(|reason| Error::Usage(format!("--since and --until: {reason}")))?;
        if let Some(unknown) = period.unknown.first() {
            return Err(Error::Usage(format!(
                "{unknown:?} is no date; write 2024-05-01, 2024-05 or 2024"
            )));
        }
        let (from, to) = (period.from.map(|from| from.0), period.to.map(|to| to.0));
        let tags: Vec<String> = filter
            .tags
            .iter()
            .map(|tag| fold(tag.trim_start_matches('#')))
            .collect();
        let is_under = |uri: &str| {
            filter.under.is_empty()
                || filter.under.iter().any(|path| {
                    let path = path.trim_start_matches("./").trim_end_matches('/');
                    uri.strip_prefix(path)
                        .is_some_and(|rest| rest.is_empty() || rest.starts_with(['/', '#']))
                })
        };
        let store = self.asked()?;
        let Some(namespace) = store.namespace(&self.namespace)? else {
            return Ok((Vec::new(), DocumentCounts::default()));
        };
        let mut counts = DocumentCounts::default();
        let mut matching = Vec::new();
        for row in storage::dated_documents(store.connection(), namespace.0)? {
            let is_of_kind = filter.kinds.is_empty() || filter.kinds.contains(&row.kind);
            if !is_of_kind || !is_under(&row.uri) {
                continue;
            }
            if !tags.is_empty() && !storage::has_tag(store.connection(), row.id, &tags)? {
                continue;
            }
            if from.is_some() || to.is_some() {
                let Some(at) = row.dated else {
                    counts.undated += 1;
                    continue;
                };
                if from.is_some_and(|from| at < from) || to.is_some_and(|to| at >= to) {
                    continue;
                }
            }
            matching.push(row.id);
        }
        counts.matching = matching.len();
        Ok((matching, counts))
    }

    /// The request with its filter turned into documents, and how many those are.
    pub(super) fn filtered(
        &self,
        request: &AskRequest,
    ) -> Result<(AskRequest, Option<DocumentCounts>)> {
        if request.filter.is_empty() {
            return Ok((request.clone(), None));
        }
        let (mut documents, counts) = self.documents_matching(&request.filter)?;
        if let Some(given) = &request.documents {
            documents.retain(|id| given.contains(id));
        }
        let request = AskRequest {
            documents: Some(documents),
            ..request.clone()
        };
        Ok((request, Some(counts)))
    }

    /// What each of these documents says to a question, in their order.
    pub(super) fn document_sections(
        &self,
        question: &str,
        documents: &[DocumentId],
    ) -> Result<Vec<Section>> {
        self.read(|reader| {
            let mut sections = Vec::new();
            for &document in documents.iter().take(DOCUMENTS) {
                let quotes = document_sentences(reader, question, document, SENTENCES)?;
                if let Some(first) = quotes.first() {
                    let title = if first.title.is_empty() {
                        first.uri.clone()
                    } else {
                        first.title.clone()
                    };
                    sections.push(Section {
                        title,
                        background: Vec::new(),
                        quotes,
                    });
                }
            }
            Ok(sections)
        })
    }
}
