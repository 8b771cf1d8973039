use serde_json::Value;

use crate::language_model::{lenient_json, without_thoughts};

/// Queries of one reply that are run.
const MOST_QUERIES: usize = 3;
/// Sentences of one answer that are told.
const MOST_SENTENCES: usize = 12;

/// A sentence of an answer, and the rows that it says it from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Sentence {
    pub text: String,
    /// From 1.
    pub rows: Vec<usize>,
}

/// The queries of a reply: of a JSON object, of a fenced block, or the reply itself where it begins like a query.
/// None: the model says that there is nothing to ask.
///
/// # Errors
/// There is no query in it.
pub fn read_queries(text: &str) -> Result<Vec<String>, String> {
    let (answer, _) = without_thoughts(text);
    let listed = objects(&answer).find_map(|value| {
        let found = value.get("queries").or_else(|| value.get("query"))?;
        Some(match found {
            Value::Array(items) => items.iter().filter_map(query_of).collect(),
            one => query_of(one).into_iter().collect::<Vec<_>>(),
        })
    });
    let mut queries = match listed {
        Some(queries) => queries,
        None => blocks(&answer),
    };
    if queries.is_empty() && begins_like_a_query(&answer) {
        queries.push(answer.trim().to_owned());
    }
    let is_said = objects(&answer).any(|value| value.get("queries").is_some());
    if queries.is_empty() && !is_said {
        return Err("there is no query in the reply".to_owned());
    }
    queries.truncate(MOST_QUERIES);
    Ok(queries)
}

/// The sentences of an answer. None: the model says that the rows do not answer.
///
/// # Errors
/// There is no answer in it.
pub fn read_sentences(text: &str) -> Result<Vec<Sentence>, String> {
    let (answer, _) = without_thoughts(text);
    let listed = objects(&answer).find_map(|value| match value.get("sentences") {
        Some(Value::Array(items)) => Some(items.iter().filter_map(sentence).collect::<Vec<_>>()),
        _ => None,
    });
    let mut sentences = listed.ok_or_else(|| "there are no sentences in the reply".to_owned())?;
    sentences.truncate(MOST_SENTENCES);
    Ok(sentences)
}

fn sentence(value: &Value) -> Option<Sentence> {
    let text = value.get("text")?.as_str()?.trim();
    let number = |value: &Value| match value {
        Value::Number(number) => number.as_u64(),
        Value::String(text) => text.trim_matches(['[', ']', ' ']).parse().ok(),
        _ => None,
    };
    let rows = match value.get("rows") {
        Some(Value::Array(items)) => items.iter().filter_map(number).collect(),
        Some(one) => number(one).into_iter().collect(),
        None => Vec::new(),
    };
    (!text.is_empty()).then(|| Sentence {
        text: text.to_owned(),
        rows: rows.into_iter().map(|row| row as usize).collect(),
    })
}

fn query_of(value: &Value) -> Option<String> {
    let text = match value {
        Value::String(text) => text,
        Value::Object(entries) => ["query", "cypher"]
            .iter()
            .find_map(|name| entries.get(*name)?.as_str())?,
        _ => return None,
    };
    let text = text.trim();
    (!text.is_empty()).then(|| text.to_owned())
}

/// JSON objects of a text, with whatever stands around them.
fn objects(text: &str) -> impl Iterator<Item = Value> + '_ {
    let mut at = 0;
    std::iter::from_fn(move || {
        while let Some(found) = text.get(at..)?.find('{') {
            let start = at + found;
            match lenient_json::parse(&text[start..]) {
                Some(read) => {
                    at = text.ceil_char_boundary(start + read.length.max(1));
                    return Some(read.value);
                }
                None => at = start + 1,
            }
        }
        None
    })
}

/// Blocks between three back ticks, without the name of their language.
fn blocks(text: &str) -> Vec<String> {
    text.split("```")
        .skip(1)
        .step_by(2)
        .map(|block| {
            let first = block.lines().next().unwrap_or_default();
            let is_name = !first.trim().contains(' ') && !begins_like_a_query(first);
            let body = if is_name {
                &block[first.len()..]
            } else {
                block
            };
            body.trim().to_owned()
        })
        .filter(|block| begins_like_a_query(block))
        .collect()
}

fn begins_like_a_query(text: &str) -> bool {
    const WORDS: [&str; 6] = ["MATCH", "OPTIONAL", "CALL", "UNWIND", "WITH", "RETURN"];
    let mut words = text.split(|c: char| c.is_whitespace() || c == '(');
    let first = words.find(|word| !word.is_empty()).unwrap_or_default();
    WORDS.iter().any(|word| word.eq_ignore_ascii_case(first))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn queries_are_read_in_every_dress() {
        #[track_caller]
        fn check(reply: &str, expected: Result<&[&str], ()>) {
            let read = read_queries(reply).map_err(|_| ());
            let expected = expected.map(|texts| {
                texts
                    .iter()
                    .map(|text| (*text).to_owned())
                    .collect::<Vec<_>>()
            });
            assert_eq!(read, expected, "{reply}");
        }
        check(
            r#"{"queries":["RETURN 1"," RETURN 2 "]}"#,
            Ok(&["RETURN 1", "RETURN 2"]),
        );
        check(
            r#"<think>{"queries":["no"]}</think>Sure: {"queries":[{"cypher":"RETURN 1"}],} done"#,
            Ok(&["RETURN 1"]),
        );
        check(r#"{"query":"RETURN {a: 1}"}"#, Ok(&["RETURN {a: 1}"]));
        check(r#"{"queries":["A","B","C","D"]}"#, Ok(&["A", "B", "C"]));
        check(r#"{"queries":[]}"#, Ok(&[]));
        check(
            "```cypher\nMATCH (n {a: 1}) RETURN n\n```",
            Ok(&["MATCH (n {a: 1}) RETURN n"]),
        );
        check("```\nmatch (n) RETURN n```", Ok(&["match (n) RETURN n"]));
        check("MATCH (n)\nRETURN n", Ok(&["MATCH (n)\nRETURN n"]));
        check("I do not know.", Err(()));
        check("", Err(()));
        check(r#"{"queries":["RETURN 'cut"#, Ok(&["RETURN 'cut"]));
    }

    #[test]
    fn sentences_say_their_rows() {
        #[track_caller]
        fn check(reply: &str, expected: Result<&[(&str, &[usize])], ()>) {
            let read = read_sentences(reply).map_err(|_| ());
            let expected = expected.map(|sentences| {
                let sentences = sentences.iter().map(|(text, rows)| Sentence {
                    text: (*text).to_owned(),
                    rows: rows.to_vec(),
                });
                sentences.collect::<Vec<_>>()
            });
            assert_eq!(read, expected, "{reply}");
        }
        check(
            r#"{"sentences":[{"text":"Ana.","rows":[1,"[2]"]},{"text":" "},{"text":"Bia.","rows":3}]}"#,
            Ok(&[("Ana.", &[1, 2]), ("Bia.", &[3])]),
        );
        check(r#"{"sentences":[]}"#, Ok(&[]));
        check("Ana.", Err(()));
    }
}
