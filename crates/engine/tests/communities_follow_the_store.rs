//! Communities are found on first need, kept through edits, and readable under the names of the first scripts.

use std::collections::{BTreeMap, BTreeSet};

use malha_engine::types::{CommunityLevel, CommunityList, CommunityRequest};
use malha_engine::{DocumentInput, Engine, EngineConfig, Error};

fn request(level: CommunityLevel) -> CommunityRequest {
    CommunityRequest {
        level,
        entity: None,
        limit: 100,
        members: 100,
    }
}

/// Two groups of notes that do not know each other: bakers and divers.
fn notes() -> Vec<DocumentInput> {
    let group = |names: &[&str], place: &str| -> Vec<DocumentInput> {
        names
            .iter()
            .enumerate()
            .map(|(at, name)| {
                let other = names[(at + 1) % names.len()];
                let (third, fourth) = (names[(at + 2) % 4], names[(at + 3) % 4]);
                DocumentInput {
                    uri: format!("{name}.md"),
                    title: (*name).to_owned(),
                    text: format!(
                        "{name} works with [[{other}]], [[{third}]] and [[{fourth}]] at the {place}."
                    ),
                }
            })
            .collect()
    };
    let bakers = ["Amelia Crust", "Bento Rye", "Clara Dough", "Dario Oven"];
    let divers = ["Egon Reef", "Flora Tide", "Gaspar Deep", "Hilda Wave"];
    [
        group(&bakers, "Golden Bakery"),
        group(&divers, "Coral Harbour"),
    ]
    .concat()
}

fn members(list: &CommunityList) -> BTreeMap<i64, BTreeSet<String>> {
    list.communities
        .iter()
        .map(|community| {
            let names = community.members.iter().map(|member| member.name.clone());
            (community.id, names.collect())
        })
        .collect()
}

fn community_of(list: &CommunityList, name: &str) -> i64 {
    let of_name: Vec<i64> = members(list)
        .into_iter()
        .filter(|(_, names)| names.contains(name))
        .map(|(id, _)| id)
        .collect();
    assert_eq!(of_name.len(), 1, "{name} is in one community: {list:?}");
    of_name[0]
}

#[test]
fn groups_are_found_nested_and_kept_through_an_edit() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("malha.db");
    let engine = Engine::create(&path, EngineConfig::default()).unwrap();
    let mut documents = notes();
    engine.index_documents("notes", &documents, &()).unwrap();
    let digest = engine.digest().unwrap();

    let coarse = engine
        .communities(&request(CommunityLevel::Coarse))
        .unwrap();
    assert!(!coarse.is_stale);
    let bakers = community_of(&coarse, "Bento Rye");
    let divers = community_of(&coarse, "Flora Tide");
    assert_ne!(bakers, divers);
    assert_eq!(community_of(&coarse, "Dario Oven"), bakers);
    assert_eq!(community_of(&coarse, "Hilda Wave"), divers);
    // Finer levels divide the coarser ones.
    let names_of = |level| -> Vec<BTreeSet<String>> {
        let list = engine.communities(&request(level)).unwrap();
        members(&list).into_values().collect()
    };
    let (top, middle, fine) = (
        names_of(CommunityLevel::Coarse),
        names_of(CommunityLevel::Middle),
        names_of(CommunityLevel::Fine),
    );
    for (finer, coarser) in [(&middle, &top), (&fine, &middle)] {
        for part in finer {
            assert_eq!(
                coarser.iter().filter(|whole| part.is_subset(whole)).count(),
                1
            );
        }
        let count = |parts: &[BTreeSet<String>]| parts.iter().map(BTreeSet::len).sum::<usize>();
        assert_eq!(count(finer), count(coarser));
    }
    assert_eq!(
        engine.digest().unwrap(),
        digest,
        "derived, so no part of the content"
    );

    // A fifth diver: the bakers' community stays what it is, the divers' keeps its id.
    documents.push(DocumentInput {
        uri: "Ivo Shell.md".to_owned(),
        title: "Ivo Shell".to_owned(),
        text: "Ivo Shell works with [[Egon Reef]] and [[Gaspar Deep]] at the Coral Harbour."
            .to_owned(),
    });
    engine.index_documents("notes", &documents, &()).unwrap();
    let reader = Engine::open_read_only(&path, EngineConfig::default()).unwrap();
    let stale = reader
        .communities(&request(CommunityLevel::Coarse))
        .unwrap();
    assert!(stale.is_stale, "a reader cannot bring it up to date");
    assert_eq!(community_of(&stale, "Bento Rye"), bakers);
    let after = engine
        .communities(&request(CommunityLevel::Coarse))
        .unwrap();
    assert_eq!(members(&after)[&bakers], members(&coarse)[&bakers]);
    assert_eq!(community_of(&after, "Ivo Shell"), divers);

    // The first scripts' SQL.
    let rows = Engine::open_read_only(&path, EngineConfig::default())
        .unwrap()
        .sql(
            "SELECT count(DISTINCT m.community_id), count(*) FROM memberships m
             JOIN nodes n ON n.id = m.node_id JOIN communities c ON c.community_id = m.community_id
             WHERE m.level = 0",
        )
        .unwrap();
    assert_eq!(rows.rows[0][0], serde_json::json!(after.total));
    let people: usize = members(&after).values().map(BTreeSet::len).sum();
    assert_eq!(rows.rows[0][1], serde_json::json!(people));

    // Without its last note a community is gone.
    documents.truncate(4);
    engine.index_documents("notes", &documents, &()).unwrap();
    let left = engine
        .communities(&request(CommunityLevel::Coarse))
        .unwrap();
    assert!(!members(&left).contains_key(&divers));
    assert_eq!(community_of(&left, "Clara Dough"), bakers);
    assert!(engine.verify().unwrap().violations.is_empty());
}

#[test]
fn an_entity_has_its_communities_from_coarse_to_fine() {
    let engine = Engine::in_memory(EngineConfig::default()).unwrap();
    engine.index_documents("notes", &notes(), &()).unwrap();
    let of = |name: &str| {
        engine.communities(&CommunityRequest {
            entity: Some(name.to_owned()),
            ..request(CommunityLevel::Coarse)
        })
    };
    let list = of("egon reef").unwrap();
    assert!(!list.communities.is_empty());
    for community in &list.communities {
        assert!(
            community
                .members
                .iter()
                .any(|member| member.name == "Egon Reef")
        );
    }
    assert!(matches!(of("Nobody Known"), Err(Error::NotFound { .. })));
}

#[test]
fn a_store_with_nothing_connected_has_no_communities() {
    let engine = Engine::in_memory(EngineConfig::default()).unwrap();
    let empty = engine.communities(&request(CommunityLevel::Fine)).unwrap();
    assert_eq!((empty.total, empty.is_stale), (0, false));
    let ok = |uri: &str, text: &str| DocumentInput {
        uri: uri.to_owned(),
        title: uri.to_owned(),
        text: text.to_owned(),
    };
    let documents = [ok("a.md", "ok"), ok("b.md", "…")];
    engine.index_documents("notes", &documents, &()).unwrap();
    let lone = engine
        .communities(&request(CommunityLevel::Coarse))
        .unwrap();
    assert!(
        lone.communities.iter().all(|community| community.size == 1),
        "{lone:?}"
    );
}
