//! Output tables of Microsoft `GraphRAG`, with the names of version 1 and of older ones: entities, relationships,
//! `text_units`, and where they are there documents, covariates, communities and their reports.

use std::collections::BTreeMap;
use std::path::Path;

use serde_json::{Map, Value};

use super::table::{self, Table, text, texts};
use super::{ForeignCommunity, ForeignGraph, ForeignPassage, Found, Passages, UNTYPED, item};
use crate::Result;

pub(super) fn read(folder: &Path) -> Result<ForeignGraph> {
    let units = table::need(folder, &["text_units", "create_final_text_units"])?;
    let entities = table::need(folder, &["entities", "create_final_entities"])?;
    let relations = table::need(folder, &["relationships", "create_final_relationships"])?;
    let documents = table::find(folder, &["documents", "create_final_documents"])?;
    let mut passages = Passages::new(passages_of(&units, documents.as_ref()));
    for table in [&units, &entities, &relations]
        .into_iter()
        .chain(&documents)
    {
        for (line, reason) in &table.broken {
            passages.fail(&table.file, *line, reason.clone());
        }
    }
    for (line, row) in &entities.rows {
        let Some(name) = text(row, &["title", "name"]) else {
            passages.fail(&entities.file, *line, "an entity without a title");
            continue;
        };
        let kind = text(row, &["type"]);
        let description: Vec<String> = text(row, &["description"])
            .map(std::borrow::Cow::into_owned)
            .into_iter()
            .collect();
        let sources = texts(row, &["text_unit_ids"]);
        // A description of several passages together: once is enough.
        let (first, rest) = sources.split_at(sources.len().min(1));
        let entity = |description: Option<&str>| {
            item(&[
                ("name", Some(&name)),
                ("type", kind.as_deref()),
                ("description", description),
            ])
        };
        let is_first = passages.hand_out(first, &description, Found::Entity, entity);
        if !passages.hand_out(rest, &[], Found::Entity, entity) && !is_first {
            passages.fail(
                &entities.file,
                *line,
                format!("{name}: none of its text units is there"),
            );
        }
    }
    for (line, row) in &relations.rows {
        let (Some(source), Some(target)) = (text(row, &["source"]), text(row, &["target"])) else {
            passages.fail(&relations.file, *line, "a relationship without an end");
            continue;
        };
        let fact: Vec<String> = text(row, &["description"])
            .map(std::borrow::Cow::into_owned)
            .into_iter()
            .collect();
        let found = passages.hand_out(
            &texts(row, &["text_unit_ids"]),
            &fact,
            Found::Relation,
            |fact| {
                item(&[
                    ("source", Some(&source)),
                    ("target", Some(&target)),
                    ("type", Some(UNTYPED)),
                    ("fact", fact),
                ])
            },
        );
        if !found {
            let reason = format!("{source} – {target}: none of its text units is there");
            passages.fail(&relations.file, *line, reason);
        }
    }
    if let Some(claims) = table::find(folder, &["covariates", "create_final_covariates"])? {
        read_claims(&claims, &mut passages);
    }
    if let Some(communities) = table::find(folder, &["communities", "create_final_communities"])? {
        let reports = table::find(
            folder,
            &["community_reports", "create_final_community_reports"],
        )?;
        passages.graph.communities = communities_of(&communities, reports.as_ref(), &entities);
    }
    Ok(passages.graph)
}

fn passages_of(units: &Table, documents: Option<&Table>) -> Vec<ForeignPassage> {
    let titles: BTreeMap<String, String> = documents
        .into_iter()
        .flat_map(|table| &table.rows)
        .filter_map(|(_, row)| {
            Some((
                text(row, &["id"])?.into_owned(),
                text(row, &["title"])?.into_owned(),
            ))
        })
        .collect();
    let passage = |row: &Map<String, Value>| {
        let document = text(row, &["document_id"])
            .map(std::borrow::Cow::into_owned)
            .or_else(|| texts(row, &["document_ids"]).into_iter().next());
        ForeignPassage {
            id: text(row, &["id"]).unwrap_or_default().into_owned(),
            title: document
                .and_then(|id| titles.get(&id).cloned())
                .unwrap_or_default(),
            text: text(row, &["text"]).map(std::borrow::Cow::into_owned),
            ..ForeignPassage::default()
        }
    };
    units.rows.iter().map(|(_, row)| passage(row)).collect()
}

/// Covariates are claims.
fn read_claims(claims: &Table, passages: &mut Passages) {
    for (line, row) in &claims.rows {
        let Some(subject) = text(row, &["subject_id"]) else {
            passages.fail(&claims.file, *line, "a claim about nothing");
            continue;
        };
        let day =
            |name: &str| text(row, &[name]).map(|date| date.chars().take(10).collect::<String>());
        let (from, to) = (day("start_date"), day("end_date"));
        let sources: Vec<String> = text(row, &["text_unit_id"])
            .map(std::borrow::Cow::into_owned)
            .into_iter()
            .collect();
        let found = passages.hand_out(&sources, &[], Found::Claim, |_| {
            item(&[
                ("subject", Some(&subject)),
                ("object", text(row, &["object_id"]).as_deref()),
                ("type", text(row, &["type"]).as_deref()),
                ("status", text(row, &["status"]).as_deref()),
                ("description", text(row, &["description"]).as_deref()),
                ("quote", text(row, &["source_text"]).as_deref()),
                ("valid_from", from.as_deref()),
                ("valid_to", to.as_deref()),
            ])
        });
        if !found {
            passages.fail(&claims.file, *line, "its text unit is not there");
        }
    }
}

fn communities_of(
    communities: &Table,
    reports: Option<&Table>,
    entities: &Table,
) -> Vec<ForeignCommunity> {
    let names: BTreeMap<String, String> = entities
        .rows
        .iter()
        .filter_map(|(_, row)| {
            Some((
                text(row, &["id"])?.into_owned(),
                text(row, &["title", "name"])?.into_owned(),
            ))
        })
        .collect();
    let reported: BTreeMap<String, &Map<String, Value>> = reports
        .into_iter()
        .flat_map(|table| &table.rows)
        .filter_map(|(_, row)| Some((text(row, &["community"])?.into_owned(), row)))
        .collect();
    communities
        .rows
        .iter()
        .map(|(_, row)| {
            let id = text(row, &["community", "id"])
                .unwrap_or_default()
                .into_owned();
            let report = reported.get(&id);
            let of = |name: &str| {
                report
                    .and_then(|report| text(report, &[name]))
                    .map(std::borrow::Cow::into_owned)
            };
            ForeignCommunity {
                level: row.get("level").and_then(Value::as_u64).unwrap_or_default() as usize,
                parent: text(row, &["parent"])
                    .filter(|parent| parent != "-1")
                    .map(std::borrow::Cow::into_owned),
                title: of("title")
                    .or_else(|| text(row, &["title"]).map(std::borrow::Cow::into_owned))
                    .unwrap_or_default(),
                summary: of("summary").unwrap_or_default(),
                members: texts(row, &["entity_ids"])
                    .iter()
                    .filter_map(|id| names.get(id).cloned())
                    .collect(),
                id,
            }
        })
        .collect()
}
