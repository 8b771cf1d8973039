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
    }

    /// [`RawReply::extend`] by a reply whose numbers mean its own entities: they become names first.
    pub fn extend_numbered(&mut self, mut other: Self) {
        let mut names: BTreeMap<String, String> = BTreeMap::new();
        for (number, entity) in other.entities.iter_mut().enumerate() {
            names.insert(number.to_string(), entity.name.clone());
            if let Some(id) = entity.id.take() {
                names.insert(id, entity.name.clone());
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
    /// room would make it say more. The last item may have been cut off.
    pub fn goes_round(&self) -> bool {
        fn is_stuck<T: PartialEq>(items: &[T]) -> bool {
            let [before @ .., last, _cut] = items else {
                return false;
            };
            before.iter().filter(|item| *item == last).count() + 1 >= OVER_AND_OVER
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

#[cfg(test)]
mod tests {
    use super::super::reply::read_reply;

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
