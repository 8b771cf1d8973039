//! Lines of a triple file: JSON objects, JSON arrays, or fields separated by tabs.

use serde_json::Value;

/// The columns of a file of tab-separated fields that does not name them.
const COLUMNS: &[&str] = &[
    "subject",
    "relation",
    "object",
    "subject_type",
    "object_type",
    "valid_from",
    "valid_to",
    "source",
    "fact",
    "exclusive",
];

/// A fact as its line spells it. Only the first three are never empty.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Line {
    pub(super) subject: String,
    pub(super) relation: String,
    pub(super) object: String,
    pub(super) subject_type: Option<String>,
    pub(super) object_type: Option<String>,
    pub(super) valid_from: Option<String>,
    pub(super) valid_to: Option<String>,
    /// Where the fact was found, in the words of the file.
    pub(super) source: Option<String>,
    /// The fact as a sentence.
    pub(super) fact: Option<String>,
    /// The subject has this relation to one thing at a time.
    pub(super) exclusive: bool,
}

/// How the lines of a file are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TripleSyntax {
    /// `{"subject": …, "relation": …, "object": …}` or `["…", "…", "…"]`, one a line.
    Jsonl,
    /// Fields separated by tabs; the first line may name the columns.
    Tsv,
}

/// Reads line after line; remembers the columns that the first one names.
#[derive(Debug)]
pub(super) struct LineReader {
    syntax: TripleSyntax,
    columns: Vec<String>,
    first: bool,
}

impl LineReader {
    pub(super) fn new(syntax: TripleSyntax) -> Self {
        Self {
            syntax,
            columns: COLUMNS.iter().map(|&name| name.to_owned()).collect(),
            first: true,
        }
    }

    /// The fact of a line; `None` for blanks, comments and the line that names the columns. The error
    /// says what is wrong.
    pub(super) fn read(&mut self, text: &str) -> Result<Option<Line>, String> {
        let first = std::mem::replace(&mut self.first, false);
        let text = if first {
            text.trim_start_matches('\u{feff}')
        } else {
            text
        };
        if text.trim().is_empty() {
            self.first = first;
            return Ok(None);
        }
        let line = match self.syntax {
            TripleSyntax::Jsonl => parse_json(text)?,
            // One JSON line among lines of fields is no reason to lose it.
            TripleSyntax::Tsv if text.starts_with(['{', '[']) && !text.contains('\t') => {
                parse_json(text)?
            }
            TripleSyntax::Tsv => {
                if text.starts_with('#') {
                    self.first = first;
                    return Ok(None);
                }
                let fields: Vec<&str> = text.split('\t').map(str::trim).collect();
                if first && self.take_columns(&fields)? {
                    return Ok(None);
                }
                self.parse_fields(&fields)?
            }
        };
        for (name, value) in [
            ("subject", &line.subject),
            ("relation", &line.relation),
            ("object", &line.object),
        ] {
            if value.trim().is_empty() {
                return Err(format!("the {name} is missing or empty"));
            }
        }
        Ok(Some(line))
    }

    /// Whether the line names the columns.
    fn take_columns(&mut self, fields: &[&str]) -> Result<bool, String> {
        let names: Vec<String> = fields.iter().map(|name| name.to_lowercase()).collect();
        if !["subject", "relation", "object"]
            .iter()
            .all(|needed| names.iter().any(|name| name == needed))
        {
            return Ok(false);
        }
        if let Some(unknown) = names.iter().find(|name| !COLUMNS.contains(&name.as_str())) {
            return Err(unknown_field(unknown));
        }
        self.columns = names;
        Ok(true)
    }

    fn parse_fields(&self, fields: &[&str]) -> Result<Line, String> {
        if fields.len() > self.columns.len() {
            return Err(format!(
                "{} fields, but only {} columns are known",
                fields.len(),
                self.columns.len()
            ));
        }
        let mut line = Line::default();
        for (name, &value) in self.columns.iter().zip(fields) {
            set(&mut line, name, value.to_owned())?;
        }
        Ok(line)
    }
}

fn parse_json(text: &str) -> Result<Line, String> {
    let value: Value = serde_json::from_str(text).map_err(|error| format!("no JSON: {error}"))?;
    let mut line = Line::default();
    match value {
        Value::Object(fields) => {
            for (name, value) in fields {
                if !value.is_null() {
                    set(&mut line, &name, scalar(&name, &value)?)?;
                }
            }
        }
        Value::Array(fields) if fields.len() == 3 => {
            for (name, value) in COLUMNS.iter().zip(&fields) {
                set(&mut line, name, scalar(name, value)?)?;
            }
        }
        _ => {
            return Err("neither an object nor a list of subject, relation and object".to_owned());
        }
    }
    Ok(line)
}

/// Numbers are names too: a year, for example.
fn scalar(name: &str, value: &Value) -> Result<String, String> {
    match value {
        Value::String(text) => Ok(text.clone()),
        Value::Number(number) => Ok(number.to_string()),
        Value::Bool(flag) if name == "exclusive" => Ok(flag.to_string()),
        _ => Err(format!("{name} is neither text nor a number")),
    }
}

fn set(line: &mut Line, name: &str, value: String) -> Result<(), String> {
    let optional = |value: String| (!value.trim().is_empty()).then_some(value);
    match name {
        "subject" | "s" => line.subject = value,
        "relation" | "r" | "predicate" | "p" => line.relation = value,
        "object" | "o" => line.object = value,
        "subject_type" => line.subject_type = optional(value),
        "object_type" => line.object_type = optional(value),
        "valid_from" | "start" => line.valid_from = optional(value),
        "valid_to" | "end" => line.valid_to = optional(value),
        "source" => line.source = optional(value),
        "fact" => line.fact = optional(value),
        "exclusive" => {
            line.exclusive = match value.trim() {
                "true" | "yes" | "1" => true,
                "false" | "no" | "0" | "" => false,
                other => return Err(format!("exclusive is {other:?}; say true or false")),
            };
        }
        other => return Err(unknown_field(other)),
    }
    Ok(())
}

fn unknown_field(name: &str) -> String {
    format!("unknown field {name:?}; known are {}", COLUMNS.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fact(line: &Line) -> String {
        [&line.subject, &line.relation, &line.object]
            .map(String::as_str)
            .join("|")
    }

    fn check(syntax: TripleSyntax, lines: &[&str], expected: &[&str]) {
        let mut reader = LineReader::new(syntax);
        let found: Vec<String> = lines
            .iter()
            .map(|line| match reader.read(line) {
                Ok(Some(line)) => fact(&line),
                Ok(None) => "-".to_owned(),
                Err(reason) => reason,
            })
            .collect();
        assert_eq!(found.len(), expected.len());
        for (found, expected) in found.iter().zip(expected) {
            assert!(found.contains(expected), "{found} / {expected}");
        }
    }

    #[test]
    fn json_lines() {
        check(
            TripleSyntax::Jsonl,
            &[
                r#"{"subject":"A","relation":"has space","object":"B","valid_from":"2006"}"#,
                "",
                r#"["A","r",2006]"#,
                r#"{"subject":"A","relation":"","object":"B"}"#,
                r#"{"subject":"A","object":"B"}"#,
                r#"{"subject":"A","relation":"r","object":{"x":1}}"#,
                r#"{"subject":"A","relation":"r","object":"B","colour":"red"}"#,
                "\"none\"",
                "{half",
                r#"{"subject":"\ud800","relation":"r","object":"B"}"#,
            ],
            &[
                "A|has space|B",
                "-",
                "A|r|2006",
                "relation is missing",
                "relation is missing",
                "neither text nor a number",
                "unknown field \"colour\"",
                "neither an object",
                "no JSON",
                "no JSON",
            ],
        );
    }

    #[test]
    fn tab_separated_fields() {
        check(
            TripleSyntax::Tsv,
            &[
                "\u{feff}# facts",
                "",
                "A\tr\tB",
                "A\tr",
                "A\tr\tB\tX\tY\t1\t2\ts\tf\tno\tz",
                r#"{"subject":"A","relation":"q","object":"C"}"#,
                "{A}\tr\t[B]",
            ],
            &[
                "-",
                "-",
                "A|r|B",
                "object is missing",
                "11 fields",
                "A|q|C",
                "{A}|r|[B]",
            ],
        );
        check(
            TripleSyntax::Tsv,
            &["Object\tSubject\tRelation", "B\tA\tr"],
            &["-", "A|r|B"],
        );
        check(
            TripleSyntax::Tsv,
            &["subject\trelation\tobject\tcolour"],
            &["unknown field \"colour\""],
        );
    }
}
