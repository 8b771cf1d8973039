//! What rows of CSV, JSON and JSONL have in common: fields become a document.

use rustc_hash::FxHashSet;
use serde_json::{Map, Value};

use super::document_date::date_of_fields;
use super::row_text::{MAX_NAME, all_fields, cut, one_line, plain};
use super::title::file_stem;
use super::{ReadOptions, ReadOutcome};
use crate::types::{DocumentKind, ItemFailure, ParsedDocument, Skipped, Warning};

/// Rows after this many are left out (and the file says so).
const MAX_ROWS: usize = 1_000_000;
/// Rows after this much text are left out: column names repeat in every row, so that a small
/// file may unfold to a large text. Bytes.
const MAX_TEXT: usize = 256 * 1024 * 1024;

/// Names by which a field is known as the row's id, where the options name none.
const ID_NAMES: &[&str] = &[
    "id",
    "_id",
    "uid",
    "uuid",
    "doc_id",
    "docid",
    "identifier",
    "编号",
    "編號",
];
/// … as its title.
const TITLE_NAMES: &[&str] = &[
    "title",
    "name",
    "titulo",
    "título",
    "nome",
    "nombre",
    "titel",
    "titre",
    "nom",
    "headline",
    "subject",
    "标题",
    "標題",
    "题目",
    "名称",
    "名稱",
    "タイトル",
    "제목",
];
/// … as its text.
const TEXT_NAMES: &[&str] = &[
    "text",
    "content",
    "contents",
    "body",
    "passage",
    "page_content",
    "texto",
    "conteudo",
    "conteúdo",
    "contenido",
    "inhalt",
    "texte",
    "contenu",
    "正文",
    "内容",
    "內容",
    "文本",
    "本文",
    "내용",
];

/// Collects the documents of one file's rows.
pub(super) struct Rows<'a> {
    uri: &'a str,
    options: &'a ReadOptions,
    outcome: ReadOutcome,
    fragments: FxHashSet<String>,
    text_bytes: usize,
    full: bool,
}

impl<'a> Rows<'a> {
    pub(super) fn new(uri: &'a str, options: &'a ReadOptions) -> Self {
        Self {
            uri,
            options,
            outcome: ReadOutcome::default(),
            fragments: FxHashSet::default(),
            text_bytes: 0,
            full: false,
        }
    }

    /// Reports a row (or the file, with line 0) as failed.
    pub(super) fn fail(&mut self, line: usize, reason: String) {
        self.outcome.failures.push(ItemFailure {
            uri: self.uri.to_owned(),
            line,
            reason,
        });
    }

    /// A limit was reached; no row is taken any more.
    pub(super) fn is_full(&self) -> bool {
        self.full
    }

    /// Adds the row with this number (from 1) on this line (0 where lines mean nothing).
    pub(super) fn add(&mut self, number: usize, line: usize, row: Value, warnings: Vec<Warning>) {
        let date = date_of_fields(&row, self.uri);
        let fields = match row {
            Value::Object(fields) => fields,
            other => Map::from_iter([("text".to_owned(), other)]),
        };
        let named = [
            (&self.options.text_field, "text"),
            (&self.options.title_field, "title"),
        ];
        for (field, meaning) in named {
            if let Some(field) = field
                && !fields.contains_key(field)
            {
                let keys: Vec<_> = fields.keys().take(20).map(|key| cut(key)).collect();
                let keys = keys.join(", ");
                let reason = format!("no field `{field}` for the {meaning}; it has: {keys}");
                return self.fail(line, reason);
            }
        }
        if let Some(mut document) = self.document(number, line, fields, warnings) {
            document.date = date;
            self.outcome.documents.push(document);
        }
    }

    fn document(
        &mut self,
        number: usize,
        line: usize,
        mut fields: Map<String, Value>,
        mut warnings: Vec<Warning>,
    ) -> Option<ParsedDocument> {
        let id_key = find(&fields, self.options.id_field.as_deref(), ID_NAMES);
        let id = id_key
            .map(|key| one_line(&fields[&key]))
            .unwrap_or_default();
        let title_key = find(&fields, self.options.title_field.as_deref(), TITLE_NAMES);
        let title = title_key
            .map(|key| one_line(&fields[&key]))
            .unwrap_or_default();

        let text_key = find(&fields, self.options.text_field.as_deref(), TEXT_NAMES);
        let (text, front_matter) = match text_key {
            Some(key) => {
                let text = fields
                    .remove(&key)
                    .map(|value| plain(&value))
                    .unwrap_or_default();
                let rest = (!fields.is_empty()).then_some(Value::Object(fields));
                (text, rest.unwrap_or(Value::Null))
            }
            None => (all_fields(&fields), Value::Null),
        };
        let text = without_nul(text, line, &mut warnings);

        let fragment = self.fragment(&id, number, line, &mut warnings);
        if text.trim().is_empty() {
            self.outcome.skipped.push(Skipped {
                uri: format!("{}#{fragment}", self.uri),
                reason: "the row has no text".to_owned(),
            });
            return None;
        }
        self.text_bytes += text.len();
        if self.outcome.documents.len() >= MAX_ROWS || self.text_bytes > MAX_TEXT {
            self.full = true;
            let reason = format!(
                "too large: rows from here on were left out (limits: {MAX_ROWS} rows, \
                 {MAX_TEXT} bytes of text); split the file"
            );
            self.fail(line, reason);
            return None;
        }
        let title = [title, id]
            .into_iter()
            .find(|title| !title.is_empty())
            .unwrap_or_else(|| format!("{} {number}", file_stem(self.uri)));
        Some(ParsedDocument {
            fragment,
            front_matter,
            warnings,
            ..ParsedDocument::extracted(DocumentKind::Row, title, text)
        })
    }

    /// The row's id where it is usable and new, otherwise its number.
    fn fragment(
        &mut self,
        id: &str,
        number: usize,
        line: usize,
        warnings: &mut Vec<Warning>,
    ) -> String {
        if !id.is_empty() && id.len() <= MAX_NAME && self.fragments.insert(id.to_owned()) {
            return id.to_owned();
        }
        if !id.is_empty() {
            let problem = if id.len() > MAX_NAME {
                "is too long"
            } else {
                "is repeated"
            };
            warnings.push(Warning {
                line,
                message: format!("the id `{}` {problem}; the row number is used", cut(id)),
            });
        }
        let mut fragment = format!("row-{number}");
        while !self.fragments.insert(fragment.clone()) {
            fragment.push('~');
        }
        fragment
    }

    pub(super) fn finish(mut self) -> ReadOutcome {
        let outcome = &mut self.outcome;
        if outcome.documents.is_empty() && outcome.failures.is_empty() && outcome.skipped.is_empty()
        {
            outcome.skipped.push(Skipped {
                uri: self.uri.to_owned(),
                reason: "it holds no rows".to_owned(),
            });
        }
        self.outcome
    }

    /// The document added last.
    pub(super) fn warn_last(&mut self, warning: Warning) {
        if let Some(document) = self.outcome.documents.last_mut() {
            document.warnings.push(warning);
        }
    }
}

/// The key named by the options, or the first of the known names that the row has.
fn find(fields: &Map<String, Value>, named: Option<&str>, known: &[&str]) -> Option<String> {
    if let Some(named) = named {
        return fields.contains_key(named).then(|| named.to_owned());
    }
    known.iter().find_map(|name| {
        fields
            .keys()
            .find(|key| key.trim().to_lowercase() == *name)
            .cloned()
    })
}

/// NUL ends a text for many tools, so it may not enter the store.
fn without_nul(text: String, line: usize, warnings: &mut Vec<Warning>) -> String {
    if !text.contains('\0') {
        return text;
    }
    warnings.push(Warning {
        line,
        message: "NUL characters are shown as \u{fffd}".to_owned(),
    });
    text.replace('\0', "\u{fffd}")
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn read(rows: Vec<Value>, options: &ReadOptions) -> ReadOutcome {
        let mut found = Rows::new("dir/people.json", options);
        for (at, row) in rows.into_iter().enumerate() {
            found.add(at + 1, at + 1, row, Vec::new());
        }
        found.finish()
    }

    #[test]
    fn fields_become_title_text_and_fragment() {
        let check = |row: Value, expected: [&str; 3]| {
            let outcome = read(vec![row.clone()], &ReadOptions::default());
            let document = &outcome.documents[0];
            let found = [&document.fragment, &document.title, &document.text];
            assert_eq!(found, expected, "{row}");
        };
        check(
            json!({"id": 7, "title": "Ana", "text": "x"}),
            ["7", "Ana", "x"],
        );
        check(
            json!({"标题": "安娜", "内容": "正文"}),
            ["row-1", "安娜", "正文"],
        );
        check(
            json!({"Título": "Ana", "cidade": "Recife", "ano": 1990, "vazio": "", "nada": null}),
            ["row-1", "Ana", "Título: Ana\ncidade: Recife\nano: 1990"],
        );
        check(
            json!({"a": {"b": [1, 2], "c": {"d": true}}}),
            ["row-1", "people 1", "a.b: 1, 2\na.c.d: true"],
        );
        check(
            json!({"a": [{"b": 1}, {"b": 2}]}),
            ["row-1", "people 1", "a.b: 1\na.b: 2"],
        );
        check(json!("just text"), ["row-1", "people 1", "just text"]);
        check(
            json!({"id": "x\ny", "text": ["p", "q"]}),
            ["x y", "x y", "p\nq"],
        );
        check(
            json!({"id": "", "text": "a\u{0}b"}),
            ["row-1", "people 1", "a\u{fffd}b"],
        );
    }

    #[test]
    fn other_fields_are_kept_as_front_matter() {
        let row = json!({"id": 1, "title": "T", "text": "x", "year": 2001});
        let outcome = read(vec![row], &ReadOptions::default());
        assert_eq!(
            outcome.documents[0].front_matter,
            json!({"id": 1, "title": "T", "year": 2001})
        );
    }

    #[test]
    fn options_name_the_fields() {
        let options = ReadOptions {
            text_field: Some("q".to_owned()),
            title_field: Some("head".to_owned()),
            id_field: Some("n".to_owned()),
            ..ReadOptions::default()
        };
        let outcome = read(
            vec![
                json!({"q": "asked", "head": "H", "n": "n1", "text": "other"}),
                json!({"text": "other", "head": "H"}),
            ],
            &options,
        );
        assert_eq!(outcome.documents.len(), 1);
        assert_eq!(outcome.documents[0].text, "asked");
        assert_eq!(outcome.documents[0].title, "H");
        assert_eq!(outcome.documents[0].fragment, "n1");
        assert_eq!(outcome.failures[0].line, 2);
        assert_eq!(
            outcome.failures[0].reason,
            "no field `q` for the text; it has: text, head"
        );
    }

    #[test]
    fn fragments_are_unique() {
        let row = |id: Value| json!({"id": id, "text": "x"});
        let rows = vec![
            row(json!("a")),
            row(json!("a")),
            row(json!("row-4")),
            row(json!("")),
        ];
        let outcome = read(rows, &ReadOptions::default());
        let fragments: Vec<_> = outcome
            .documents
            .iter()
            .map(|d| d.fragment.as_str())
            .collect();
        assert_eq!(fragments, ["a", "row-2", "row-4", "row-4~"]);
        assert_eq!(
            outcome.documents[1].warnings[0].message,
            "the id `a` is repeated; the row number is used"
        );
    }

    #[test]
    fn rows_without_text_are_listed() {
        let outcome = read(
            vec![json!({"text": " "}), json!({})],
            &ReadOptions::default(),
        );
        let uris: Vec<_> = outcome.skipped.iter().map(|row| row.uri.as_str()).collect();
        assert_eq!(uris, ["dir/people.json#row-1", "dir/people.json#row-2"]);
        assert_eq!(
            read(vec![], &ReadOptions::default()).skipped[0].reason,
            "it holds no rows"
        );
    }
}
