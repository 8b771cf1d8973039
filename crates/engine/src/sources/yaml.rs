//! YAML of a front matter as JSON, with the place of every scalar.

use std::ops::Range;

use saphyr_parser::{Event, Parser, ScalarStyle, Span, Tag};
use serde_json::{Map, Number, Value};

/// Deeper nesting than this is refused: no front matter needs it, and it bounds the work.
const MAX_DEPTH: usize = 64;
/// Values that `*alias` references may copy in all; bounds the expansion of nested references.
const MAX_COPIES: usize = 10_000;

/// A parsed front matter.
#[derive(Debug, Default)]
pub(super) struct Yaml {
    pub(super) value: Value,
    /// Scalars in value position, in order.
    pub(super) scalars: Vec<Scalar>,
    /// Keys that occur again in the same mapping, with the line of the repetition (from 1).
    pub(super) repeated: Vec<(usize, String)>,
}

/// A scalar in value position.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Scalar {
    /// Bytes of the source, quotes included.
    pub(super) range: Range<usize>,
    /// Innermost mapping key above it; empty without one.
    pub(super) key: String,
}

/// Why a text is no front matter.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct YamlError {
    /// From 1.
    pub(super) line: usize,
    pub(super) message: String,
}

enum Frame {
    Map {
        entries: Map<String, Value>,
        key: Option<String>,
        start: usize,
        anchor: usize,
        /// A key is itself a mapping or a list, as in the template placeholder `{{date}}`:
        /// the whole value is then kept as written.
        as_written: bool,
    },
    Seq {
        items: Vec<Value>,
        anchor: usize,
    },
}

/// Parses `source`, which must hold one mapping or nothing.
///
/// A repeated key keeps all its values, as a list.
pub(super) fn parse(source: &str) -> Result<Yaml, YamlError> {
    let mut builder = Builder::new(source);
    let mut parser = Parser::new_from_str(source);
    let mut documents = 0;
    while let Some(event) = parser.next_event() {
        let (event, span) = event.map_err(|error| {
            let line = error.marker().line();
            YamlError {
                line: if error.info().contains("tab") {
                    line_with_tab(source, line)
                } else {
                    line
                },
                message: error.info().to_owned(),
            }
        })?;
        if matches!(event, Event::DocumentStart(_)) {
            documents += 1;
        }
        if documents > 1 {
            return Err(YamlError {
                line: span.start.line(),
                message: "a second document starts here".to_owned(),
            });
        }
        builder.take(event, span)?;
    }
    match builder.root.take() {
        None | Some(Value::Null) => builder.yaml.value = Value::Object(Map::new()),
        Some(value @ Value::Object(_)) => builder.yaml.value = value,
        Some(_) => {
            return Err(YamlError {
                line: 1,
                message: "not a list of `key: value` lines".to_owned(),
            });
        }
    }
    Ok(builder.yaml)
}

struct Builder<'a> {
    source: &'a str,
    /// Byte of every character, when characters and bytes differ.
    bytes: Option<Vec<usize>>,
    stack: Vec<Frame>,
    anchors: Vec<(usize, Value)>,
    copies: usize,
    root: Option<Value>,
    yaml: Yaml,
}

impl<'a> Builder<'a> {
    fn new(source: &'a str) -> Self {
        let bytes = (!source.is_ascii()).then(|| {
            source
                .char_indices()
                .map(|(byte, _)| byte)
                .chain([source.len()])
                .collect()
        });
        Self {
            source,
            bytes,
            stack: Vec::new(),
            anchors: Vec::new(),
            copies: 0,
            root: None,
            yaml: Yaml::default(),
        }
    }

    fn byte(&self, character: usize) -> usize {
        match &self.bytes {
            None => character.min(self.source.len()),
            Some(bytes) => bytes.get(character).copied().unwrap_or(self.source.len()),
        }
    }

    fn take(&mut self, event: Event<'_>, span: Span) -> Result<(), YamlError> {
        let fail = |message: &str| {
            Err(YamlError {
                line: span.start.line(),
                message: message.to_owned(),
            })
        };
        let start = self.byte(span.start.index());
        match event {
            Event::Nothing
            | Event::StreamStart
            | Event::StreamEnd
            | Event::DocumentStart(_)
            | Event::DocumentEnd => {}
            Event::MappingStart(anchor, _) | Event::SequenceStart(anchor, _)
                if self.stack.len() >= MAX_DEPTH =>
            {
                let _ = anchor;
                return fail("nested too deep");
            }
            Event::MappingStart(anchor, _) => self.stack.push(Frame::Map {
                entries: Map::new(),
                key: None,
                start,
                anchor,
                as_written: false,
            }),
            Event::SequenceStart(anchor, _) => self.stack.push(Frame::Seq {
                items: Vec::new(),
                anchor,
            }),
            Event::MappingEnd => {
                let end = self.byte(span.end.index());
                if let Some(Frame::Map {
                    entries,
                    start,
                    anchor,
                    as_written,
                    ..
                }) = self.stack.pop()
                {
                    let value = if as_written {
                        let text = self.source.get(start..end).unwrap_or_default();
                        Value::String(text.trim().to_owned())
                    } else {
                        Value::Object(entries)
                    };
                    self.complete(value, anchor, span);
                }
            }
            Event::SequenceEnd => {
                if let Some(Frame::Seq { items, anchor }) = self.stack.pop() {
                    self.complete(Value::Array(items), anchor, span);
                }
            }
            Event::Scalar(text, style, anchor, tag) => {
                let end = self.byte(span.end.index());
                if !self.awaits_key()
                    && let Some(range) = (start <= end).then_some(start..end)
                {
                    let key = self.key().to_owned();
                    self.yaml.scalars.push(Scalar { range, key });
                }
                let value = scalar(&text, style, tag.as_deref());
                if self.awaits_key() {
                    // A key is a name: `2024:` stays "2024", `yes:` stays "yes".
                    self.complete(Value::String(text.into_owned()), anchor, span);
                } else {
                    self.complete(value, anchor, span);
                }
            }
            Event::Alias(id) => {
                let value = self
                    .anchors
                    .iter()
                    .find(|(anchor, _)| *anchor == id)
                    .map(|(_, value)| value.clone());
                let Some(value) = value else {
                    return fail("a reference to itself");
                };
                self.copies += size(&value);
                if self.copies > MAX_COPIES {
                    return fail("references copy too much");
                }
                self.complete(value, 0, span);
            }
        }
        Ok(())
    }

    fn awaits_key(&self) -> bool {
        matches!(self.stack.last(), Some(Frame::Map { key: None, .. }))
    }

    fn key(&self) -> &str {
        self.stack
            .iter()
            .rev()
            .find_map(|frame| match frame {
                Frame::Map { key, .. } => key.as_deref(),
                Frame::Seq { .. } => None,
            })
            .unwrap_or_default()
    }

    fn complete(&mut self, value: Value, anchor: usize, span: Span) {
        if anchor > 0 {
            self.anchors.push((anchor, value.clone()));
        }
        match self.stack.last_mut() {
            None => self.root = Some(value),
            Some(Frame::Seq { items, .. }) => items.push(value),
            Some(Frame::Map {
                entries,
                key,
                as_written,
                ..
            }) => match key.take() {
                None => {
                    let name = match value {
                        Value::String(text) => text,
                        other => {
                            *as_written = true;
                            other.to_string()
                        }
                    };
                    if entries.contains_key(&name) {
                        self.yaml.repeated.push((span.start.line(), name.clone()));
                    }
                    *key = Some(name);
                }
                Some(name) => {
                    let value = match entries.remove(&name) {
                        None | Some(Value::Null) => value,
                        Some(earlier) if value.is_null() => earlier,
                        Some(Value::Array(mut all)) => {
                            match value {
                                Value::Array(more) => all.extend(more),
                                one => all.push(one),
                            }
                            Value::Array(all)
                        }
                        Some(earlier) => match value {
                            Value::Array(more) => {
                                Value::Array([earlier].into_iter().chain(more).collect())
                            }
                            one => Value::Array(vec![earlier, one]),
                        },
                    };
                    entries.insert(name, value);
                }
            },
        }
    }
}

/// The first line from `line` on that is indented by a tab: the parser points to where the value
/// before it started.
fn line_with_tab(source: &str, line: usize) -> usize {
    let is_indented_by_tab = |text: &str| {
        let indent = text.len() - text.trim_start_matches([' ', '\t']).len();
        text[..indent].contains('\t')
    };
    source
        .lines()
        .skip(line.saturating_sub(1))
        .position(is_indented_by_tab)
        .map_or(line, |further| line + further)
}

fn size(value: &Value) -> usize {
    match value {
        Value::Array(items) => 1 + items.iter().map(size).sum::<usize>(),
        Value::Object(entries) => 1 + entries.values().map(size).sum::<usize>(),
        _ => 1,
    }
}

/// A plain scalar by the core schema. A number that JSON would print otherwise (`007`, `1.10`)
/// stays text: versions, postal codes and ids are not changed.
fn scalar(text: &str, style: ScalarStyle, tag: Option<&Tag>) -> Value {
    let is_text = tag.is_some_and(|tag| tag.is_yaml_core_schema() && tag.suffix == "str");
    if style != ScalarStyle::Plain || is_text {
        return Value::String(text.to_owned());
    }
    match text {
        "" | "~" | "null" | "Null" | "NULL" => return Value::Null,
        "true" | "True" | "TRUE" => return Value::Bool(true),
        "false" | "False" | "FALSE" => return Value::Bool(false),
        _ => {}
    }
    let number = text
        .parse::<i64>()
        .map(Number::from)
        .ok()
        .or_else(|| text.parse::<f64>().ok().and_then(Number::from_f64));
    match number {
        Some(number) if number.to_string() == text => Value::Number(number),
        _ => Value::String(text.to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use std::fmt::Write as _;

    use serde_json::json;

    use super::*;

    #[test]
    fn values() {
        let check = |source: &str, expected: Value| {
            assert_eq!(
                parse(source).map(|yaml| yaml.value),
                Ok(expected),
                "{source}"
            );
        };
        check("", json!({}));
        check("# only a comment\n", json!({}));
        check("a: 1\nb: [x, 'y']\n", json!({"a": 1, "b": ["x", "y"]}));
        check(
            "version: 1.10\ncep: 01310\nyear: 2024\npi: 3.5\n",
            json!({"version": "1.10", "cep": "01310", "year": 2024, "pi": 3.5}),
        );
        check("date: 2024-05-01\n", json!({"date": "2024-05-01"}));
        check(
            "created: {{date}}\nb: x\n",
            json!({"created": "{{date}}", "b": "x"}),
        );
        check(
            "标题: 笔记\ntags:\n  - 甲/乙\n",
            json!({"标题": "笔记", "tags": ["甲/乙"]}),
        );
        check("a:\r\n  - x\r\n  - y\r\n", json!({"a": ["x", "y"]}));
        check("a: &x [1, 2]\nb: *x\n", json!({"a": [1, 2], "b": [1, 2]}));
        check("text: |\n  one\n  two\n", json!({"text": "one\ntwo\n"}));
        check("a: 1\na: 2\n", json!({"a": [1, 2]}));
        check(
            "tags: [x]\ntags: [y, z]\n",
            json!({"tags": ["x", "y", "z"]}),
        );
        check("empty:\nx: ~\n", json!({"empty": null, "x": null}));
        check("up: [[Home]]\n", json!({"up": [["Home"]]}));
    }

    #[test]
    fn no_front_matter() {
        let check = |source: &str, line: usize| {
            let error = parse(source).expect_err(source);
            assert_eq!(error.line, line, "{source}: {}", error.message);
        };
        check("just words", 1);
        check("- a\n- b\n", 1);
        check("**BOLD**\nwords\n", 1);
        check("a: 1\n\tb: 2\n", 2);
        check("a: [1\n", 2);
        check("a: b: c\n", 1);
        check("a: *nowhere\n", 1);
        check(&format!("a: {}{}\n", "[".repeat(80), "]".repeat(80)), 1);
    }

    #[test]
    fn nested_references_do_not_explode() {
        let mut source = "a0: &a0 [1, 2, 3, 4, 5, 6, 7, 8, 9]\n".to_owned();
        for level in 1..9 {
            let items = vec![format!("*a{}", level - 1); 9].join(", ");
            writeln!(source, "a{level}: &a{level} [{items}]").expect("a string takes all");
        }
        let error = parse(&source).expect_err("refused");
        assert_eq!(error.message, "references copy too much");
    }

    #[test]
    fn scalars_know_their_place_and_key() {
        let check = |source: &str, expected: &[(&str, &str)]| {
            let yaml = parse(source).expect(source);
            let found: Vec<_> = yaml
                .scalars
                .iter()
                .map(|scalar| (scalar.key.as_str(), &source[scalar.range.clone()]))
                .collect();
            assert_eq!(found, expected, "{source}");
        };
        check(
            "作者: \"[[安娜]]\"\nrelated:\n  - '[[Água]]'\n  - x\n",
            &[
                ("作者", "\"[[安娜]]\""),
                ("related", "'[[Água]]'"),
                ("related", "x"),
            ],
        );
        check(
            "links:\r\n  depends_on: \"[[A]]\"\r\n",
            &[("depends_on", "\"[[A]]\"")],
        );
    }

    #[test]
    fn repeated_keys_are_named() {
        let yaml = parse("a: 1\nb: 2\na: 3\n").expect("parses");
        assert_eq!(yaml.repeated, [(3, "a".to_owned())]);
    }
}
