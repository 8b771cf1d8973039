//! Documents, entities and reports of communities as resources.

use malha_engine::Engine;
use rmcp::model::{ListResourcesResult, Resource, ResourceContents, ResourceTemplate};

use super::arguments::Refused;

const DOCUMENT: &str = "malha://document/";
const ENTITY: &str = "malha://entity/";
const REPORT: &str = "malha://report/";
/// Resources of one page.
const PAGE: usize = 100;

/// A page of documents; the cursor is the uri of the last one.
pub(super) fn list(engine: &Engine, cursor: Option<&str>) -> Result<ListResourcesResult, Refused> {
    let documents = engine.documents("", cursor, PAGE)?;
    let next = (documents.len() == PAGE)
        .then(|| documents.last().map(|document| document.uri.clone()))
        .flatten();
    let resources = documents
        .into_iter()
        .map(|document| {
            let title = if document.title.is_empty() {
                document.uri.clone()
            } else {
                document.title
            };
            Resource::new(format!("{DOCUMENT}{}", document.uri), title)
                .with_description(document.kind.as_str())
                .with_mime_type("text/plain")
        })
        .collect();
    let mut page = ListResourcesResult::with_all_items(resources);
    page.next_cursor = next;
    Ok(page)
}

pub(super) fn templates() -> Vec<ResourceTemplate> {
    vec![
        ResourceTemplate::new(format!("{DOCUMENT}{{+uri}}"), "document")
            .with_description("The text of a document, by its uri"),
        ResourceTemplate::new(format!("{ENTITY}{{+name}}"), "entity")
            .with_description("All that is known of an entity, by name, alias or public id"),
        ResourceTemplate::new(format!("{REPORT}{{number}}"), "report")
            .with_description("What a community is about, by its number in `communities`"),
    ]
}

/// The contents of a resource; `None` when there is no such one.
pub(super) fn read(engine: &Engine, uri: &str) -> Result<Option<ResourceContents>, Refused> {
    let text = if let Some(document) = uri.strip_prefix(DOCUMENT) {
        engine.document_text(document)
    } else if let Some(name) = uri.strip_prefix(ENTITY) {
        match engine.describe(name) {
            Ok(described) => Ok(serde_json::to_string_pretty(&described)?),
            Err(error) => Err(error),
        }
    } else if let Some(number) = uri.strip_prefix(REPORT) {
        let Ok(number) = number.parse() else {
            return Ok(None);
        };
        match engine.community_report(number) {
            Ok(report) => Ok(serde_json::to_string_pretty(&report)?),
            Err(error) => Err(error),
        }
    } else {
        return Ok(None);
    };
    match text {
        Ok(text) => Ok(Some(ResourceContents::text(text, uri))),
        Err(malha_engine::Error::NotFound { .. }) => Ok(None),
        Err(error) => Err(error.into()),
    }
}
