//! The text of an episode, and where each of its statements stands in it.

use std::ops::Range;

use super::statement::UNTYPED;
use crate::types::{GivenClaim, GivenEntity, GivenFact, Memory};

/// Longest text of an episode in bytes; what is longer is a document.
const LONGEST: usize = 1 << 20;

/// An episode's text. What is given without a text is put into words, a line a statement.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Composed {
    pub(crate) text: String,
    /// Bytes of each relation's statement, in their order.
    pub(crate) facts: Vec<Range<usize>>,
    /// Bytes of each claim, in their order.
    pub(crate) claims: Vec<Range<usize>>,
}

/// Puts an episode into words. The error says why there is nothing to remember.
pub(crate) fn compose(memory: &Memory) -> Result<Composed, String> {
    let said = memory.text.trim();
    if said.len() > LONGEST {
        return Err(format!(
            "{} bytes of text; an episode has at most {LONGEST}, index longer ones as a file",
            said.len()
        ));
    }
    let is_empty =
        memory.entities.is_empty() && memory.relations.is_empty() && memory.claims.is_empty();
    if said.is_empty() && is_empty {
        return Err("there is no text, no entity, no relation and no claim in it".to_owned());
    }
    let mut text = String::new();
    if !said.is_empty() {
        if let Some(speaker) = memory.speaker.as_deref().map(str::trim)
            && !speaker.is_empty()
            && !said.starts_with(&format!("{speaker}:"))
        {
            text.push_str(speaker);
            text.push_str(": ");
        }
        text.push_str(said);
    }
    let whole = text.len();
    for entity in &memory.entities {
        // A text that names it already says so better.
        if whole == 0 || entity.description.is_some() {
            add_line(&mut text, &entity_sentence(entity));
        }
    }
    let facts = memory
        .relations
        .iter()
        .map(|fact| {
            let sentence = fact_sentence(fact);
            match text.find(&sentence) {
                Some(start) => start..start + sentence.len(),
                None if whole > 0 && fact.fact.is_none() => 0..whole,
                None => add_line(&mut text, &sentence),
            }
        })
        .collect();
    let claims = memory
        .claims
        .iter()
        .map(|claim| {
            let sentence = claim_sentence(claim);
            match text.find(&sentence) {
                Some(start) => start..start + sentence.len(),
                None => add_line(&mut text, &sentence),
            }
        })
        .collect();
    Ok(Composed {
        text,
        facts,
        claims,
    })
}

fn add_line(text: &mut String, line: &str) -> Range<usize> {
    if !text.is_empty() {
        text.push('\n');
    }
    let start = text.len();
    text.push_str(line);
    start..text.len()
}

fn entity_sentence(entity: &GivenEntity) -> String {
    let kind = entity.kind.as_deref().unwrap_or(UNTYPED);
    let mut line = format!("{} ({kind})", entity.name.trim());
    if let Some(description) = entity.description.as_deref().map(str::trim)
        && !description.is_empty()
    {
        line.push_str(": ");
        line.push_str(description);
    }
    single_line(&line)
}

fn fact_sentence(fact: &GivenFact) -> String {
    match fact.fact.as_deref().map(str::trim) {
        Some(sentence) if !sentence.is_empty() => single_line(sentence),
        _ => single_line(&format!(
            "{} {} {}",
            fact.source.trim(),
            fact.relation.trim(),
            fact.target.trim()
        )),
    }
}

/// A claim in words: that it is only suspected, or false, is part of them.
fn claim_sentence(claim: &GivenClaim) -> String {
    let (subject, kind) = (claim.subject.trim(), claim.kind.trim());
    let about = match claim.object.as_deref().map(str::trim) {
        Some(object) if !object.is_empty() => format!("{subject}, {object}"),
        _ => subject.to_owned(),
    };
    let status = claim.status.as_str();
    single_line(&format!(
        "{about} ({kind}, {status}): {}",
        claim.description.trim()
    ))
}

fn single_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fact(sentence: Option<&str>) -> GivenFact {
        GivenFact {
            source: "A".to_owned(),
            relation: "knows".to_owned(),
            target: "B".to_owned(),
            fact: sentence.map(str::to_owned),
            ..GivenFact::default()
        }
    }

    #[test]
    fn every_statement_stands_where_it_is_said_to() {
        let check = |text: &str, facts: &[Option<&str>], expected: &str, quotes: &[&str]| {
            let memory = Memory {
                text: text.to_owned(),
                speaker: Some("Ana".to_owned()),
                relations: facts.iter().map(|&sentence| fact(sentence)).collect(),
                ..Memory::default()
            };
            let composed = compose(&memory).unwrap();
            assert_eq!(composed.text, expected);
            let found: Vec<&str> = composed
                .facts
                .iter()
                .map(|range| &composed.text[range.clone()])
                .collect();
            assert_eq!(found, quotes);
        };
        check("", &[None], "A knows B", &["A knows B"]);
        check("Hello", &[None], "Ana: Hello", &["Ana: Hello"]);
        check(
            "So A met B, long ago.",
            &[Some("A met B"), Some("B knew")],
            "Ana: So A met B, long ago.\nB knew",
            &["A met B", "B knew"],
        );
        assert!(compose(&Memory::default()).is_err());
    }
}
