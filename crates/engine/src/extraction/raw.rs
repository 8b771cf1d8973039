//! What a reply says, before anything is checked.

use std::collections::BTreeMap;

use serde_json::{Map, Value};

/// How often a model says one thing when it has lost itself.
const OVER_AND_OVER: usize = 3;

/// A reply read.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct RawReply {
    pub entities: Vec<RawEntity>,
    pub relations: Vec<RawRelation>,
    pub claims: Vec<RawClaim>,
    /// What was odd about the reply, in words.
    pub oddities: Vec<&'static str>,
    /// Items that are neither, as they stood.
    pub unread: Vec<String>,
    /// It ends in the middle.
    pub is_cut: bool,
}

/// A thing as the model named it.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct RawEntity {
    /// What relations may refer to it by, besides its name.
    pub id: Option<String>,
    pub name: String,
    pub kind: Option<String>,
    pub aliases: Vec<String>,
    pub description: Option<String>,
    pub properties: Map<String, Value>,
    /// What stood where properties were due, when none could be made of it.
    pub unread_properties: Option<String>,
}

/// A tie as the model stated it.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct RawRelation {
    pub source: String,
    pub target: String,
    pub kind: String,
    pub fact: Option<String>,
    pub quote: Option<String>,
    /// `stated`, `implied`, `negated` and the like.
    pub status: Option<String>,
    pub valid_from: Option<String>,
    pub valid_to: Option<String>,
    pub properties: Map<String, Value>,
    /// What stood where properties were due, when none could be made of it.
    pub unread_properties: Option<String>,
}

/// A claim as the model made it.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct RawClaim {
    pub subject: String,
    pub object: Option<String>,
    pub kind: String,
    pub status: Option<String>,
    pub description: Option<String>,
    pub quote: Option<String>,
    pub valid_from: Option<String>,
    pub valid_to: Option<String>,
}

impl RawReply {
    /// Adds what another reply says: a second pass, the next piece of a text.
    pub fn extend(&mut self, other: Self) {
        self.entities.extend(other.entities);
        self.relations.extend(other.relations);
        self.claims.extend(other.claims);
        self.oddities.extend(other.oddities);
        self.unread.extend(other.unread);
        self.is_cut |= other.is_cut;
    }

    /// [`RawReply::extend`] by a reply whose numbers mean its own entities: they become names first.
    pub fn extend_numbered(&mut self, mut other: Self) {
        let mut names: BTreeMap<String, String> = BTreeMap::new();
        for (ids, entity) in ids(&other.entities).into_iter().zip(&mut other.entities) {
            entity.id = None;
            for id in ids {
                names.entry(id).or_insert_with(|| entity.name.clone());
            }
        }
        let is_name = |written: &str| names.values().any(|name| name == written);
        for relation in &mut other.relations {
            for end in [&mut relation.source, &mut relation.target] {
                if let Some(name) = names.get(end).filter(|_| !is_name(end)) {
                    end.clone_from(name);
                }
            }
        }
        for claim in &mut other.claims {
            for end in [Some(&mut claim.subject), claim.object.as_mut()]
                .into_iter()
                .flatten()
            {
                if let Some(name) = names.get(end).filter(|_| !is_name(end)) {
                    end.clone_from(name);
                }
            }
        }
        self.extend(other);
    }

    /// Whether it says one thing over and over at its end, as small models do that have lost themselves: no more
    /// room would make it say more. The last item may be where it was cut off.
    pub fn goes_round(&self) -> bool {
        fn is_stuck<T: PartialEq>(items: &[T]) -> bool {
            let count = |wanted: &T| items.iter().filter(|item| *item == wanted).count();
            let mut last = items.iter().rev().take(2);
            last.any(|item| count(item) >= OVER_AND_OVER)
        }
        let names: Vec<&str> = self.entities.iter().map(|entity| &*entity.name).collect();
        let ties: Vec<(&str, &str, &str)> = self
            .relations
            .iter()
            .map(|tie| (&*tie.source, &*tie.kind, &*tie.target))
            .collect();
        is_stuck(&ties) || (ties.is_empty() && is_stuck(&names))
    }

    /// True when it says nothing.
    pub fn is_empty(&self) -> bool {
        self.entities.is_empty() && self.relations.is_empty() && self.claims.is_empty()
    }
}

/// What the relations of a reply may call each of its entities by, besides its name: its id, and its position where no
/// id is a number.
pub(super) fn ids(entities: &[RawEntity]) -> Vec<Vec<String>> {
    let mut given = entities.iter().filter_map(|entity| entity.id.as_ref());
    let is_numbered = given.any(|id| id.chars().all(|c| c.is_ascii_digit()));
    let of = |(position, entity): (usize, &RawEntity)| {
        let position = (!is_numbered).then(|| position.to_string());
        entity.id.clone().into_iter().chain(position).collect()
    };
    entities.iter().enumerate().map(of).collect()
}

#[cfg(test)]
mod tests {
    use super::super::reply::read_reply;
    use super::RawReply;

    #[test]
    fn numbers_of_a_second_pass_mean_its_own_entities() {
        let check = |reply: &str, expected: &str| {
            let mut whole = RawReply::default();
            whole.extend_numbered(read_reply(reply).unwrap());
            let tie = &whole.relations[0];
            assert_eq!(
                format!("{} {}", tie.source, tie.target),
                expected,
                "{reply}"
            );
        };
        let relation = r#""relations":[{"source":1,"target":2,"type":"T"}]"#;
        check(
            &format!(
                r#"{{"entities":[{{"id":"1","name":"A"}},{{"id":"2","name":"B"}},{{"id":"3","name":"C"}}],{relation}}}"#
            ),
            "A B",
        );
        check(
            &format!(r#"{{"entities":[{{"name":"A"}},{{"name":"B"}},{{"name":"C"}}],{relation}}}"#),
            "B C",
        );
        check(
            &format!(
                r#"{{"entities":[{{"id":"x","name":"A"}},{{"id":"y","name":"B"}},{{"name":"C"}}],{relation}}}"#
            ),
            "B C",
        );
    }

    #[test]
    fn a_model_that_lost_itself_is_told_from_one_with_much_to_say() {
        let check = |relations: &[&str], expected: bool| {
            let written: Vec<String> = relations
                .iter()
                .map(|pair| {
                    let (source, target) = pair.split_once(' ').unwrap();
                    format!(r#"{{"source":"{source}","target":"{target}","type":"T"}}"#)
                })
                .collect();
            let reply = read_reply(&format!(r#"{{"relations":[{}"#, written.join(","))).unwrap();
            assert_eq!(reply.goes_round(), expected, "{relations:?}");
        };
        check(&["a b", "b c", "c d", "d e", "e f"], false);
        check(&["a b", "a b", "c d", "d e"], false);
        check(&["a b", "c d", "c d", "c d", "c x"], true);
        check(&["a b", "c d", "a b", "c d", "a b", "c d"], true);
        check(&["a b"], false);
        let names = r#"{"entities":["A","B","B","B","B"#;
        assert!(read_reply(names).unwrap().goes_round());
    }
}
