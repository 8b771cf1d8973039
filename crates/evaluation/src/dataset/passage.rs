use std::collections::HashMap;
use std::fmt::Write as _;
use std::path::PathBuf;

use super::rows::{BrokenRow, Row, read_rows};
use crate::Result;

/// A row of a corpus: what is indexed and ranked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Passage {
    pub id: String,
    /// Empty when the row has none.
    pub title: String,
    pub text: String,
    /// Value of the scope field: questions of one scope only search its passages.
    pub scope: Option<String>,
    /// A turn of a conversation.
    pub turn: Option<PassageTurn>,
}

/// Who said a passage in which session, and when.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PassageTurn {
    pub speaker: String,
    pub session: String,
    pub time: Option<String>,
}

/// Which fields of a corpus row are used.
#[derive(Debug, Clone)]
pub struct PassageFields {
    pub text: String,
    pub scope: Option<String>,
}

/// The passages of several files, in order, each id once.
pub fn read_passages(
    paths: &[PathBuf],
    fields: &PassageFields,
) -> Result<(Vec<Passage>, Vec<BrokenRow>)> {
    let mut passages = Vec::new();
    let mut broken = Vec::new();
    let mut first: HashMap<String, String> = HashMap::new();
    for path in paths {
        let rows = read_rows(path)?;
        broken.extend(rows.broken);
        for row in rows.rows {
            match passage(&row, fields) {
                Ok(passage) => {
                    let place = format!("{}:{}", row.path.display(), row.line);
                    if let Some(earlier) = first.insert(passage.id.clone(), place) {
                        broken
                            .push(row.broken(format!("id {} is already in {earlier}", passage.id)));
                        first.insert(passage.id, earlier);
                    } else {
                        passages.push(passage);
                    }
                }
                Err(reason) => broken.push(row.broken(reason)),
            }
        }
    }
    Ok((passages, broken))
}

fn passage(row: &Row, fields: &PassageFields) -> Result<Passage, String> {
    let id = row.text("id").ok_or("no `id`")?;
    let text = row.text(&fields.text).ok_or_else(|| {
        format!(
            "no text in field `{}`; choose it with --text-field",
            fields.text
        )
    })?;
    let scope = match &fields.scope {
        None => None,
        Some(field) => Some(
            row.text(field)
                .ok_or_else(|| format!("no scope in field `{field}`"))?,
        ),
    };
    Ok(Passage {
        id,
        title: row.text("title").unwrap_or_default(),
        text: spoken(row, text),
        turn: turn(row, scope.as_deref()),
        scope,
    })
}

/// A row with a speaker and a session is a turn; sessions of different scopes are different.
fn turn(row: &Row, scope: Option<&str>) -> Option<PassageTurn> {
    let session = row.text("session")?;
    Some(PassageTurn {
        speaker: row.text("speaker")?,
        session: match scope {
            Some(scope) => format!("{scope} {session}"),
            None => session,
        },
        time: row.text("date_time"),
    })
}

/// A turn of a conversation is read with the name of who speaks before it and the caption of a shared
/// picture after it; other rows are their text.
fn spoken(row: &Row, text: String) -> String {
    let mut spoken = match row.text("speaker") {
        Some(speaker) => format!("{speaker}: {text}"),
        None => return text,
    };
    if let Some(caption) = row.text("image_caption") {
        let _ = write!(spoken, " [{caption}]");
    }
    spoken
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(content: &str, text: &str, scope: Option<&str>) -> (Vec<Passage>, Vec<BrokenRow>) {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("corpus.jsonl");
        std::fs::write(&path, content).unwrap();
        let fields = PassageFields {
            text: text.to_owned(),
            scope: scope.map(str::to_owned),
        };
        read_passages(&[path], &fields).unwrap()
    }

    #[test]
    fn text_title_and_scope_come_from_their_fields() {
        let (passages, broken) = read(
            r#"{"id": "a", "title": "Ponte", "text_pt": "sobre o rio", "part": "one"}"#,
            "text_pt",
            Some("part"),
        );
        assert!(broken.is_empty());
        assert_eq!(
            passages,
            [Passage {
                id: "a".into(),
                title: "Ponte".into(),
                text: "sobre o rio".into(),
                scope: Some("one".into()),
                turn: None,
            }]
        );
    }

    #[test]
    fn a_turn_is_read_with_speaker_and_caption() {
        for (row, text) in [
            (r#"{"id": "1", "text": "Hello."}"#, "Hello."),
            (
                r#"{"id": "1", "speaker": "Ana", "text": "Hello."}"#,
                "Ana: Hello.",
            ),
            (
                r#"{"id": "1", "speaker": "Ana", "text": "Look.", "image_caption": "a boat"}"#,
                "Ana: Look. [a boat]",
            ),
        ] {
            assert_eq!(read(row, "text", None).0[0].text, text);
        }
    }

    #[test]
    fn unusable_rows_are_listed_and_cost_no_other() {
        let (passages, broken) = read(
            "{\"text\": \"no id\"}\n{\"id\": \"a\"}\n{\"id\": \"b\", \"text\": \"x\"}\n{\"id\": \"b\", \"text\": \"y\"}\n{\"id\": \"c\", \"text\": \"z\"}\n",
            "text",
            None,
        );
        let ids: Vec<_> = passages
            .iter()
            .map(|p| (p.id.as_str(), p.text.as_str()))
            .collect();
        assert_eq!(ids, [("b", "x"), ("c", "z")]);
        let reasons: Vec<_> = broken.iter().map(|b| (b.line, b.reason.as_str())).collect();
        assert_eq!(reasons[0], (1, "no `id`"));
        assert_eq!(reasons[1].0, 2);
        assert!(reasons[1].1.contains("--text-field"));
        assert_eq!(reasons[2].0, 4);
        assert!(reasons[2].1.ends_with("corpus.jsonl:3"), "{}", reasons[2].1);
    }
}
