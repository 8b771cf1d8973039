//! What a model replies to requests for JSON: points of a section, a report, follow-up questions, a way to answer.

use serde_json::Value;

use crate::language_model::{lenient_json, without_thoughts};
use crate::types::AskMode;

/// Follow-up questions are no longer than this many characters.
const LONGEST_QUESTION: usize = 300;

/// Something that a model says, with the numbers of the evidence that it rests on.
#[derive(Debug, Clone, PartialEq)]
pub struct Point {
    pub text: String,
    /// As the model rates it; 0 where it does not.
    pub rating: f64,
    /// Numbers that were offered, each once.
    pub evidence: Vec<usize>,
}

/// What was kept of a reply.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Points {
    /// Highest rating first.
    pub points: Vec<Point>,
    /// Points without evidence that was offered.
    pub dropped: usize,
}

/// A report as a model wrote it.
#[derive(Debug, Clone, PartialEq)]
pub struct ReportDraft {
    pub title: String,
    pub summary: String,
    /// From 0 to 10.
    pub rating: Option<f64>,
    pub rating_reason: String,
    pub findings: Points,
}

/// Reads the points of a section of which `offered` quotes were shown. None at all is an answer: the section says
/// nothing about the question.
///
/// # Errors
/// There is no list of points in it.
pub fn read_points(reply: &str, offered: usize) -> Result<Points, String> {
    let value = object(reply, &["points"])?;
    let points = value.get("points").and_then(Value::as_array);
    let points = points.ok_or_else(|| "its JSON has no list of points".to_owned())?;
    Ok(points_of(points, offered, 100.0))
}

/// Reads a report of which `offered` quotes were shown. Findings without such evidence are dropped and counted.
///
/// # Errors
/// There is no title or no summary in it.
pub fn read_report(reply: &str, offered: usize) -> Result<ReportDraft, String> {
    let value = object(reply, &["title", "summary"])?;
    let text = |name: &str| one_line(value.get(name).and_then(Value::as_str).unwrap_or_default());
    let (title, summary) = (text("title"), text("summary"));
    if title.is_empty() || summary.is_empty() {
        return Err("its JSON has no title or no summary".to_owned());
    }
    let findings = value.get("findings").and_then(Value::as_array);
    Ok(ReportDraft {
        title,
        summary,
        rating: value
            .get("rating")
            .and_then(number)
            .map(|rating| rating.clamp(0.0, 10.0)),
        rating_reason: text("rating_reason"),
        findings: points_of(findings.map_or(&[], Vec::as_slice), offered, 10.0),
    })
}

/// Reads follow-up questions, at most `most`.
///
/// # Errors
/// There is no list of questions in it.
pub fn read_follow_ups(reply: &str, most: usize) -> Result<Vec<String>, String> {
    let value = object(reply, &["follow_ups"])?;
    let questions = value.get("follow_ups").and_then(Value::as_array);
    let questions = questions.ok_or_else(|| "its JSON has no list of follow-ups".to_owned())?;
    Ok(questions
        .iter()
        .filter_map(Value::as_str)
        .map(|question| one_line(question).chars().take(LONGEST_QUESTION).collect())
        .filter(|question: &String| !question.is_empty())
        .take(most)
        .collect())
}

/// Reads how a question is to be answered, and why.
///
/// # Errors
/// There is no such way.
pub fn read_route(reply: &str) -> Result<(AskMode, String), String> {
    let value = object(reply, &["mode"])?;
    let text = |name: &str| one_line(value.get(name).and_then(Value::as_str).unwrap_or_default());
    let named = text("mode").to_lowercase();
    match AskMode::parse(&named) {
        Some(mode) if mode != AskMode::Auto => Ok((mode, text("reason"))),
        _ => Err(format!("its mode {named:?} is none of ours")),
    }
}

/// The first object of a reply that has one of these fields.
fn object(reply: &str, fields: &[&str]) -> Result<Value, String> {
    let (answer, had_thoughts) = without_thoughts(reply);
    let mut is_json = false;
    let mut at = 0;
    while let Some(found) = answer.get(at..).and_then(|rest| rest.find('{')) {
        let start = at + found;
        let Some(read) = lenient_json::parse(&answer[start..]) else {
            at = start + 1;
            continue;
        };
        is_json = true;
        if fields.iter().any(|field| read.value.get(field).is_some()) {
            return Ok(read.value);
        }
        at = answer.ceil_char_boundary(start + read.length.max(1));
    }
    Err(if is_json {
        format!("its JSON has no {}", fields.join(" and no "))
    } else if answer.trim().is_empty() {
        let only = if had_thoughts {
            "it holds only thoughts"
        } else {
            "it is empty"
        };
        only.to_owned()
    } else {
        "there is no JSON in it".to_owned()
    })
}

fn points_of(items: &[Value], offered: usize, best: f64) -> Points {
    let mut read = Points::default();
    for item in items {
        let text = ["text", "description", "explanation", "summary"]
            .iter()
            .find_map(|name| item.get(name).and_then(Value::as_str));
        let text = one_line(text.unwrap_or_default());
        let mut evidence = Vec::new();
        if let Some(numbers) = item.get("evidence") {
            collect(numbers, offered, &mut evidence);
        }
        if text.is_empty() || evidence.is_empty() {
            read.dropped += 1;
            continue;
        }
        let rating = ["rating", "score"]
            .iter()
            .find_map(|name| item.get(name).and_then(number));
        read.points.push(Point {
            text,
            rating: rating.unwrap_or(0.0).clamp(0.0, best),
            evidence,
        });
    }
    read.points.sort_by(|a, b| b.rating.total_cmp(&a.rating));
    read
}

/// Numbers as they are written: `[1, 2]`, `"[1]"`, `3`.
fn collect(value: &Value, offered: usize, found: &mut Vec<usize>) {
    match value {
        Value::Array(items) => items.iter().for_each(|item| collect(item, offered, found)),
        Value::String(text) => {
            for part in text.split(|c: char| !c.is_ascii_digit()) {
                keep(part.parse().unwrap_or(0), offered, found);
            }
        }
        _ => keep(value.as_u64().unwrap_or(0) as usize, offered, found),
    }
}

fn keep(number: usize, offered: usize, found: &mut Vec<usize>) {
    if (1..=offered).contains(&number) && !found.contains(&number) {
        found.push(number);
    }
}

fn number(value: &Value) -> Option<f64> {
    let number = value
        .as_f64()
        .or_else(|| value.as_str()?.trim().parse().ok());
    number.filter(|number| number.is_finite())
}

fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn points_need_evidence_that_was_offered() {
        let reply = "<think>{\"points\":[]}</think>Sure:\n```json\n{\"points\": [\
            {\"text\": \"a\", \"rating\": 20, \"evidence\": [1, 9]},\
            {\"text\": \"b\\nc\", \"rating\": \"90\", \"evidence\": \"[2], [2]\"},\
            {\"text\": \"d\", \"rating\": 80, \"evidence\": [0, 12]},\
            {\"rating\": 80, \"evidence\": [1]}, 7,]}\n```";
        let read = read_points(reply, 3).unwrap();
        let points: Vec<(&str, f64, &[usize])> = read
            .points
            .iter()
            .map(|point| (point.text.as_str(), point.rating, point.evidence.as_slice()))
            .collect();
        assert_eq!(points, [("b c", 90.0, &[2][..]), ("a", 20.0, &[1][..])]);
        assert_eq!(read.dropped, 3);
        assert_eq!(
            read_points("{\"points\": []}", 3).unwrap(),
            Points::default()
        );
    }

    #[test]
    fn what_is_no_reply_says_why() {
        let check = |reply: &str, expected: &str| {
            let error = read_report(reply, 3).unwrap_err();
            assert!(error.contains(expected), "{error}");
        };
        check("", "empty");
        check("<think>{\"title\": 1}", "only thoughts");
        check("I cannot do that. {\"broken\": [1, 2", "no title");
        check("Let me think about it", "no JSON");
        check("{\"title\": \"a\"}", "no title or no summary");
        assert!(
            read_points("{\"title\": \"a\"}", 3)
                .unwrap_err()
                .contains("points")
        );
        assert!(
            read_points("{\"points\": 3}", 3)
                .unwrap_err()
                .contains("points")
        );
    }

    #[test]
    fn a_report_is_read_with_what_stands_around_it() {
        let reply = "{\"title\": \"Kilns\", \"summary\": \"About kilns.\", \"rating\": 99, \"findings\": [\
            {\"text\": \"Ana built it.\", \"evidence\": [1]}, {\"summary\": \"x\", \"explanation\": \"no evidence\"}]}";
        let report = read_report(reply, 1).unwrap();
        assert_eq!(
            (report.title.as_str(), report.rating),
            ("Kilns", Some(10.0))
        );
        assert_eq!(
            (report.findings.points.len(), report.findings.dropped),
            (1, 1)
        );
    }

    #[test]
    fn a_way_is_one_of_ours() {
        let check = |reply: &str, expected: Result<(AskMode, &str), &str>| {
            let read = read_route(reply);
            let read = read.as_ref().map(|(mode, reason)| (*mode, reason.as_str()));
            assert_eq!(read.map_err(String::as_str), expected);
        };
        check(
            "{\"mode\": \"Global\", \"reason\": \"themes\"}",
            Ok((AskMode::Global, "themes")),
        );
        check("{\"mode\": \"local\"}", Ok((AskMode::Local, "")));
        check(
            "{\"mode\": \"auto\"}",
            Err("its mode \"auto\" is none of ours"),
        );
        check("global", Err("there is no JSON in it"));
    }

    #[test]
    fn follow_ups_are_few() {
        let reply = "{\"follow_ups\": [\"Who?\", \" \", 3, \"When?\", \"Where?\"]}";
        assert_eq!(read_follow_ups(reply, 2).unwrap(), ["Who?", "When?"]);
    }
}
