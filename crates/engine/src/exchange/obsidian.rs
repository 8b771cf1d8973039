//! A vault for Obsidian: a note an entity with its relations, evidence and mentions, a note a document
//! with its text, and a note a community. Text of others stands in code fences and escaped, so that
//! nothing in it is a link, a tag or markup of the vault.

use serde_json::{Value, json};

use super::cell_text::{iso_time, json_text, plain_text, text};
use super::file_name::FileNames;
use super::output::{Folder, Out};
use crate::Result;
use crate::storage::graph_note::{
    CHUNKS_OF_DOCUMENT, DOCUMENTS_OF_ENTITY, ENTITIES_OF_COMMUNITY, RELATIONS_OF_ENTITY,
};
use crate::storage::graph_table::{
    COMMUNITY, Cell, ColumnKind, DOCUMENT, ENTITY, GraphReader, GraphTable,
};

const ENTITIES: &str = "Entities";
const DOCUMENTS: &str = "Documents";
const COMMUNITIES: &str = "Communities";
/// Which file stands for which label, a line each: names of files cannot hold every text.
const INDEX: &str = "labels.jsonl";

pub(super) fn write(reader: &GraphReader<'_>, folder: &mut Folder) -> Result<()> {
    let index = folder.file(INDEX)?;
    let mut vault = Vault {
        reader,
        entities: names(reader, &ENTITY)?,
        documents: names(reader, &DOCUMENT)?,
        communities: names(reader, &COMMUNITY)?,
        index,
    };
    reader.rows(&ENTITY, |row| vault.entity(row, folder))?;
    reader.rows(&DOCUMENT, |row| vault.document(row, folder))?;
    reader.rows(&COMMUNITY, |row| vault.community(row, folder))?;
    vault.index.flush()
}

/// What a node is called: its name or title, and its id where it has none.
fn label(table: &GraphTable, row: &[Cell]) -> String {
    let at = table
        .columns
        .iter()
        .position(|column| matches!(column.name, "name" | "title"))
        .expect("every node has a name or a title");
    match text(&row[at]) {
        "" => text(&row[0]).to_owned(),
        label => label.to_owned(),
    }
}

fn names(reader: &GraphReader<'_>, table: &GraphTable) -> Result<FileNames> {
    let mut names = FileNames::default();
    reader.rows(table, |row| {
        names.see(&label(table, row));
        Ok(())
    })?;
    Ok(names)
}

struct Vault<'a> {
    reader: &'a GraphReader<'a>,
    entities: FileNames,
    documents: FileNames,
    communities: FileNames,
    index: Out<'static>,
}

impl Vault<'_> {
    fn entity(&mut self, row: &[Cell], folder: &mut Folder) -> Result<()> {
        let label = label(&ENTITY, row);
        let id = text(&row[0]);
        let mut out = self.note(
            ENTITIES,
            &self.entities.name(&label, id),
            &label,
            id,
            folder,
        )?;
        head(&ENTITY, row, &label, &mut out)?;
        let mut heading = Some("\n## Relations\n");
        self.reader.rows_of(&RELATIONS_OF_ENTITY, id, |row| {
            out.text(heading.take().unwrap_or_default())?;
            self.relation(row, &mut out)
        })?;
        let mut heading = Some("\n## Documents\n\n");
        self.reader.rows_of(&DOCUMENTS_OF_ENTITY, id, |row| {
            out.text(heading.take().unwrap_or_default())?;
            let link = self.document_link(text(&row[1]), text(&row[0]));
            let about = if row[3] == Cell::Boolean(true) {
                ", which it stands for"
            } else {
                ""
            };
            let mentions = plain_text(&row[2]).unwrap_or_default();
            writeln!(out, "- {link}: mentions: {mentions}{about}")
        })?;
        out.flush()
    }

    fn relation(&self, row: &[Cell], out: &mut Out<'_>) -> Result<()> {
        let arrow = if row[0] == Cell::Boolean(true) {
            "→"
        } else {
            "←"
        };
        let name = self.entities.name(text(&row[3]), text(&row[2]));
        let link = link(ENTITIES, &name, text(&row[3]));
        writeln!(out, "\n### {} {arrow} {link}", inline_code(text(&row[1])))?;
        for (word, cell) in [
            ("from", &row[5]),
            ("until", &row[6]),
            ("retracted", &row[7]),
        ] {
            if let Cell::Time(ms) = cell
                && let Some(time) = iso_time(*ms)
            {
                writeln!(out, "- {word} {time}")?;
            }
        }
        if let Cell::Text(fact) = &row[4] {
            writeln!(out, "- {}", escaped(fact))?;
        }
        let quotes: Vec<(String, String, String)> =
            serde_json::from_str(text(&row[8])).unwrap_or_default();
        for (id, title, quote) in quotes {
            writeln!(
                out,
                "\n{}\n{}",
                self.document_link(&title, &id),
                fence(&quote)
            )?;
        }
        Ok(())
    }

    fn document(&mut self, row: &[Cell], folder: &mut Folder) -> Result<()> {
        let label = label(&DOCUMENT, row);
        let id = text(&row[0]);
        let mut out = self.note(
            DOCUMENTS,
            &self.documents.name(&label, id),
            &label,
            id,
            folder,
        )?;
        head(&DOCUMENT, row, &label, &mut out)?;
        self.reader.rows_of(&CHUNKS_OF_DOCUMENT, id, |row| {
            let line = plain_text(&row[0]).unwrap_or_default();
            let path: Vec<String> = match &row[1] {
                Cell::Texts(path) => path.iter().map(|heading| escaped(heading)).collect(),
                _ => Vec::new(),
            };
            writeln!(out, "\n## Line {line} {}", path.join(" › "))?;
            writeln!(out, "\n{}", fence(text(&row[2])))
        })?;
        out.flush()
    }

    fn community(&mut self, row: &[Cell], folder: &mut Folder) -> Result<()> {
        let label = label(&COMMUNITY, row);
        let id = text(&row[0]);
        let name = self.communities.name(&label, id);
        let mut out = self.note(COMMUNITIES, &name, &label, id, folder)?;
        head(&COMMUNITY, row, &label, &mut out)?;
        out.text("\n## Entities\n\n")?;
        self.reader.rows_of(&ENTITIES_OF_COMMUNITY, id, |row| {
            let name = self.entities.name(text(&row[1]), text(&row[0]));
            writeln!(out, "- {}", link(ENTITIES, &name, text(&row[1])))
        })?;
        out.flush()
    }

    fn document_link(&self, title: &str, id: &str) -> String {
        let label = if title.is_empty() { id } else { title };
        link(DOCUMENTS, &self.documents.name(label, id), label)
    }

    fn note(
        &mut self,
        kind: &str,
        name: &str,
        label: &str,
        id: &str,
        folder: &mut Folder,
    ) -> Result<Out<'static>> {
        let file = format!("{kind}/{name}.md");
        let line = json!({ "file": file, "id": id, "label": label });
        writeln!(self.index, "{}", json_text(&line))?;
        folder.file(&file)
    }
}

/// Front matter with every cell as it is, and a heading.
fn head(table: &GraphTable, row: &[Cell], label: &str, out: &mut Out<'_>) -> Result<()> {
    out.text("---\n")?;
    for (column, cell) in table.columns.iter().zip(row) {
        let value = match cell {
            Cell::Null => continue,
            Cell::Texts(texts) => texts.as_slice().into(),
            Cell::Integer(number) => Value::from(*number),
            other => plain_text(other).into(),
        };
        // Obsidian reads `tags` and `aliases` as its own, and a tag cannot be any text.
        let name = match (column.name, column.kind) {
            ("tags", ColumnKind::Texts) => "source_tags",
            (name, _) => name,
        };
        // JSON is YAML.
        writeln!(out, "{name}: {}", json_text(&value))?;
    }
    writeln!(out, "---\n# {}", escaped(label))
}

fn link(folder: &str, name: &str, label: &str) -> String {
    let label: String = label
        .chars()
        .map(|c| match c {
            '[' => '(',
            ']' => ')',
            '|' | '`' | '<' | '\\' => ' ',
            c if c.is_control() => ' ',
            c => c,
        })
        .collect();
    match label.trim() {
        "" => format!("[[{folder}/{name}]]"),
        label => format!("[[{folder}/{name}|{label}]]"),
    }
}

/// One line of text in which no character is markup.
fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        if c.is_control() {
            out.push(' ');
        } else {
            if c.is_ascii_punctuation() {
                out.push('\\');
            }
            out.push(c);
        }
    }
    out
}

fn longest_run(text: &str) -> usize {
    let runs = text.split(|c| c != '`').map(str::len);
    runs.max().unwrap_or_default()
}

fn inline_code(text: &str) -> String {
    let ticks = "`".repeat(longest_run(text) + 1);
    let text = text.replace(char::is_control, " ");
    format!("{ticks} {text} {ticks}")
}

/// The text as it is in a code block that it cannot end.
fn fence(text: &str) -> String {
    let ticks = "`".repeat(longest_run(text).max(2) + 1);
    format!("{ticks}text\n{text}\n{ticks}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_of_others_is_no_markup() {
        assert_eq!(escaped("[[a]] #b\n*c*"), r"\[\[a\]\] \#b \*c\*");
        assert_eq!(inline_code("x` SET"), "`` x` SET ``");
        assert_eq!(fence("a\n````\nb"), "`````text\na\n````\nb\n`````");
        assert_eq!(link("E", "n", "a|b]]"), "[[E/n|a b))]]");
        assert_eq!(link("E", "n", "\u{1}"), "[[E/n]]");
    }
}
