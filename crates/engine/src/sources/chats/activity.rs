//! `MyActivity.json` of Gemini: one item a question with its answer, in no conversation. Those of a day, in UTC, are
//! one.

use std::collections::BTreeMap;

use serde_json::Value;

use super::{ChatTurn, Conversation, USER, checked_id, text_of, time_of};
use crate::sources::html::read_html;

/// What the product puts before a question.
const PREFIXES: [&str; 3] = ["Prompted ", "Said ", "Asked "];

/// Turns by day.
#[derive(Debug, Default)]
pub(super) struct Days {
    days: BTreeMap<String, Vec<(String, Vec<ChatTurn>)>>,
}

impl Days {
    /// Takes an item of an activity. False when it is none.
    pub(super) fn take(&mut self, item: &Value) -> bool {
        let (Some(header), Some(title)) = (item["header"].as_str(), item["title"].as_str()) else {
            return false;
        };
        let Some(time) = time_of(item.get("time")) else {
            return false;
        };
        let is_gemini = |name: &str| {
            let name = name.to_lowercase();
            name.contains("gemini") || name.contains("bard")
        };
        let products = item["products"].as_array().into_iter().flatten();
        if !is_gemini(header) && !products.filter_map(Value::as_str).any(is_gemini) {
            return true;
        }
        let question = PREFIXES
            .iter()
            .find_map(|prefix| title.strip_prefix(prefix))
            .unwrap_or(title);
        // Two questions of one second are told apart by their words.
        let raw = item["time"].as_str().unwrap_or_default();
        let id = checked_id(&format!("{raw} {question}"));
        let answers = item["safeHtmlItem"].as_array().into_iter().flatten();
        let answer: Vec<String> = answers
            .map(|html| plain(&text_of(html.get("html"))))
            .collect();
        let said = |id: String, speaker: &str, text: String| ChatTurn {
            id,
            speaker: speaker.to_owned(),
            time: Some(time.clone()),
            text,
        };
        let mut turns = vec![said(format!("{id}-q"), USER, question.to_owned())];
        let answer = answer.join("\n\n");
        if !answer.trim().is_empty() {
            turns.push(said(format!("{id}-a"), "Gemini", answer));
        }
        let day = time.split('T').next().unwrap_or_default().to_owned();
        self.days
            .entry(day)
            .or_default()
            .push((raw.to_owned(), turns));
        true
    }

    /// A conversation a day, first to last: exports have the latest first.
    pub(super) fn conversations(self) -> impl Iterator<Item = Conversation> {
        self.days.into_iter().map(|(day, mut items)| {
            items.sort_by(|a, b| a.0.cmp(&b.0));
            Conversation {
                id: format!("gemini/{day}"),
                title: day,
                turns: items.into_iter().flat_map(|(_, turns)| turns).collect(),
                left_out: 0,
            }
        })
    }
}

fn plain(html: &str) -> String {
    read_html(html, "", Vec::new()).text.trim().to_owned()
}
