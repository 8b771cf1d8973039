//! The links our reader finds in a vault against a reference made by another program.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::Read as _;
use std::path::Path;

use flate2::read::GzDecoder;
use malha_engine::sources::{Format, ReadOptions, read};
use malha_engine::types::{LinkKind, ParsedDocument};
use serde::{Deserialize, Serialize};

use crate::error::{Error, Result};

/// How the links of one vault compare with the reference, repeats counted.
///
/// The reference program does not see a front matter that follows a byte order mark and reads its
/// links as links of the body. Only `equal`, `precision`, `recall` and the fields compare such notes
/// with their front-matter links counted in; `strict_equal` does not, and `front_matter_as_body`
/// says how many links that concerns.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct LinkReport {
    /// `100 * tp / (tp + fp + fn)` over both fields.
    pub equal: f64,
    /// Percent.
    pub precision: f64,
    /// Percent.
    pub recall: f64,
    /// `equal` with links of the body alone on our side.
    pub strict_equal: f64,
    pub wikilinks: FieldScore,
    pub embedded: FieldScore,
    /// Front-matter links after a byte order mark, counted as links of the body.
    pub front_matter_as_body: usize,
    /// Markdown notes in the vault, and those of them that the reference knows.
    pub notes: usize,
    pub reference_notes: usize,
    /// Notes whose links agree exactly in both fields.
    pub notes_equal: usize,
    /// Notes of the reference that could not be read, with the reason.
    pub failures: Vec<String>,
    /// Number of differing links by cause.
    pub causes: BTreeMap<String, usize>,
    /// Every differing link.
    pub differences: Vec<LinkDifference>,
}

/// Agreement in one field.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize)]
pub struct FieldScore {
    pub tp: usize,
    pub fp: usize,
    #[serde(rename = "fn")]
    pub fn_: usize,
    /// Percent.
    pub precision: f64,
    /// Percent.
    pub recall: f64,
    /// `100 * tp / (tp + fp + fn)`.
    pub equal: f64,
}

/// A link that only one side has.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct LinkDifference {
    /// Path of the note in the vault.
    pub note: String,
    /// `wikilinks` or `embedded`.
    pub field: &'static str,
    pub target: String,
    /// `missed`: only the reference has it; `extra`: only we have it.
    pub side: &'static str,
    pub cause: &'static str,
}

#[derive(Deserialize)]
struct Reference {
    notes: BTreeMap<String, ReferenceNote>,
}

#[derive(Deserialize)]
struct ReferenceNote {
    path: String,
    #[serde(default)]
    wikilinks: Vec<String>,
    #[serde(default)]
    embedded: Vec<String>,
}

/// Reads every note of the folder `vault` (or of the `vault.tar.gz` in it) and compares its body's
/// links with `gold`, a file as in `links_obsidiantools.json.gz` (plain or gzip).
pub fn evaluate_links(vault: &Path, gold: &Path) -> Result<LinkReport> {
    let reference = read_reference(gold)?;
    let files = read_vault(vault)?;
    let mut report = LinkReport {
        reference_notes: reference.notes.len(),
        notes: files.len(),
        ..LinkReport::default()
    };
    let mut notes: Vec<ReferenceNote> = reference.notes.into_values().collect();
    notes.sort_by(|a, b| a.path.cmp(&b.path));
    for note in notes {
        let document = match read_note(&files, &note.path) {
            Ok(document) => document,
            Err(reason) => {
                report.failures.push(format!("{}: {reason}", note.path));
                None
            }
        };
        compare(&note, document.as_ref(), &mut report);
    }
    report.wikilinks.finish();
    report.embedded.finish();
    report.strict_equal = {
        let moved = report.front_matter_as_body;
        let tp = report.wikilinks.tp + report.embedded.tp - moved;
        let wrong = report.wikilinks.wrong() + report.embedded.wrong() + moved;
        share(tp, tp + wrong)
    };
    let mut both = FieldScore {
        tp: report.wikilinks.tp + report.embedded.tp,
        fp: report.wikilinks.fp + report.embedded.fp,
        fn_: report.wikilinks.fn_ + report.embedded.fn_,
        ..FieldScore::default()
    };
    both.finish();
    (report.equal, report.precision, report.recall) = (both.equal, both.precision, both.recall);
    for difference in &report.differences {
        *report
            .causes
            .entry(difference.cause.to_owned())
            .or_default() += 1;
    }
    Ok(report)
}

impl FieldScore {
    fn wrong(&self) -> usize {
        self.fp + self.fn_
    }

    fn finish(&mut self) {
        self.precision = share(self.tp, self.tp + self.fp);
        self.recall = share(self.tp, self.tp + self.fn_);
        self.equal = share(self.tp, self.tp + self.wrong());
    }
}

/// Percent; all of nothing is 100.
fn share(part: usize, whole: usize) -> f64 {
    if whole == 0 {
        100.0
    } else {
        100.0 * part as f64 / whole as f64
    }
}

fn compare(note: &ReferenceNote, document: Option<&ParsedDocument>, report: &mut LinkReport) {
    let links = document.map_or(&[][..], |document| &document.links);
    let is_marked = document.is_some_and(|document| document.text.starts_with('\u{feff}'));
    let mut is_equal = true;
    let fields = [
        ("wikilinks", &note.wikilinks, LinkKind::Wikilink),
        ("embedded", &note.embedded, LinkKind::Embed),
    ];
    for (field, wanted, kind) in fields {
        // Target -> times in the reference, in the body, in a front matter that counts as body.
        let mut counts: BTreeMap<&str, [usize; 3]> = BTreeMap::new();
        for target in wanted {
            counts.entry(target).or_default()[0] += 1;
        }
        for link in links {
            if link.kind == kind {
                counts.entry(&link.target).or_default()[1] += 1;
            } else if is_marked && kind == LinkKind::Wikilink && link.kind == LinkKind::FrontMatter
            {
                counts.entry(&link.target).or_default()[2] += 1;
            }
        }
        let score = match kind {
            LinkKind::Embed => &mut report.embedded,
            _ => &mut report.wikilinks,
        };
        let only_there: Vec<&str> = counts
            .iter()
            .filter(|(_, [wanted, body, front])| *wanted > body + front)
            .map(|(target, _)| *target)
            .collect();
        for (target, &[wanted, body, front]) in &counts {
            let found = body + front;
            let same = wanted.min(found);
            score.tp += same;
            score.fn_ += wanted - same;
            score.fp += found - same;
            report.front_matter_as_body += same - wanted.min(body);
            is_equal &= wanted == found;
            let side = if wanted > found { "missed" } else { "extra" };
            for _ in 0..wanted.abs_diff(found) {
                report.differences.push(LinkDifference {
                    note: note.path.clone(),
                    field,
                    target: (*target).to_owned(),
                    side,
                    cause: cause(target, side, &only_there, document),
                });
            }
        }
    }
    report.notes_equal += usize::from(is_equal);
}

/// Why only one side has a link, as far as the note's text shows it.
fn cause(
    target: &str,
    side: &str,
    only_there: &[&str],
    document: Option<&ParsedDocument>,
) -> &'static str {
    if side == "extra" {
        let is_canvas = Path::new(target)
            .extension()
            .is_some_and(|extension| extension.eq_ignore_ascii_case("canvas"));
        return if is_canvas {
            "the reference leaves out links to canvas files"
        } else if only_there.iter().any(|there| there.trim() == target) {
            "the reference keeps a blank before or after the target"
        } else {
            "the reference lost the link on its way through HTML"
        };
    }
    let Some(document) = document else {
        return "the note could not be read";
    };
    if target.trim() != target {
        "the reference keeps a blank before or after the target"
    } else if target.is_empty() {
        "the reference counts a link without target"
    } else if document.text.contains(&format!("[[{target}")) {
        "code, math, a comment or an escape for us, prose for the reference"
    } else {
        "the reference changed the target on its way through HTML"
    }
}

fn read_note(files: &Files, path: &str) -> Result<Option<ParsedDocument>, String> {
    let bytes = files.get(path).ok_or("not in the vault")?;
    let outcome = read(bytes, path, Format::Markdown, &ReadOptions::default());
    if let Some(failure) = outcome.failures.first() {
        return Err(failure.reason.clone());
    }
    // An empty note is skipped: it has no links.
    Ok(outcome.documents.into_iter().next())
}

fn read_reference(path: &Path) -> Result<Reference> {
    let bytes = std::fs::read(path).map_err(Error::io(path))?;
    let mut text = String::new();
    if bytes.starts_with(&[0x1f, 0x8b]) {
        GzDecoder::new(&bytes[..])
            .read_to_string(&mut text)
            .map_err(Error::io(path))?;
    } else {
        text = String::from_utf8_lossy(&bytes).into_owned();
    }
    serde_json::from_str(&text).map_err(|error| {
        Error::Usage(format!(
            "{}: not a reference of links ({error}); expected {{\"notes\": {{name: {{\"path\", \
             \"wikilinks\", \"embedded\"}}}}}}",
            path.display()
        ))
    })
}

/// Bytes of the markdown files of a vault, by path with `/`.
type Files = BTreeMap<String, Vec<u8>>;

fn read_vault(folder: &Path) -> Result<Files> {
    let packed = folder.join("vault.tar.gz");
    if packed.is_file() {
        unpack(&packed).map_err(Error::io(packed))
    } else {
        read_folder(folder)
    }
}

fn unpack(packed: &Path) -> std::io::Result<Files> {
    let mut archive = tar::Archive::new(GzDecoder::new(File::open(packed)?));
    let mut files = Files::new();
    for entry in archive.entries()? {
        let mut entry = entry?;
        let path = entry.path()?.into_owned();
        if entry.header().entry_type().is_file() && is_markdown(&path) {
            let mut bytes = Vec::new();
            entry.read_to_end(&mut bytes)?;
            files.insert(vault_path(&path), bytes);
        }
    }
    Ok(files)
}

fn read_folder(root: &Path) -> Result<Files> {
    let mut files = Files::new();
    let mut folders = vec![root.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(&folder).map_err(Error::io(&folder))? {
            let path = entry.map_err(Error::io(&folder))?.path();
            if path.is_dir() {
                folders.push(path);
            } else if is_markdown(&path) {
                let bytes = std::fs::read(&path).map_err(Error::io(&path))?;
                files.insert(vault_path(path.strip_prefix(root).unwrap_or(&path)), bytes);
            }
        }
    }
    Ok(files)
}

fn is_markdown(path: &Path) -> bool {
    path.extension()
        .is_some_and(|extension| extension.eq_ignore_ascii_case("md"))
}

fn vault_path(path: &Path) -> String {
    let path = path.to_string_lossy().replace('\\', "/");
    path.trim_start_matches("./").to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn multisets_are_compared_and_differences_explained() {
        let folder = tempfile::tempdir().expect("a folder");
        let write = |name: &str, text: &str| {
            std::fs::write(folder.path().join(name), text).expect("written");
        };
        write(
            "a.md",
            "[[X]] [[X]] ![[p.png]] [[b.canvas]] [[ Y ]] `[[Z]]`",
        );
        write("b.md", "\u{feff}---\nup: \"[[X]]\"\n---\n[[Y]]");
        write(
            "gold.json",
            r#"{"notes": {
                "a": {"path": "a.md", "wikilinks": ["X", " Y", "Z"], "embedded": ["p.png"]},
                "b": {"path": "b.md", "wikilinks": ["X", "Y"]},
                "c": {"path": "c.md", "wikilinks": ["Q"]}}}"#,
        );
        let report = evaluate_links(folder.path(), &folder.path().join("gold.json")).expect("runs");
        let (links, embeds) = (report.wikilinks, report.embedded);
        assert_eq!((links.tp, links.fp, links.fn_), (3, 3, 3));
        assert_eq!((embeds.tp, embeds.fp, embeds.fn_), (1, 0, 0));
        assert!((report.equal - 40.0).abs() < 1e-9, "{}", report.equal);
        assert!(
            (report.strict_equal - 30.0).abs() < 1e-9,
            "{}",
            report.strict_equal
        );
        assert_eq!(
            (report.notes, report.reference_notes, report.notes_equal),
            (2, 3, 1)
        );
        assert_eq!(report.front_matter_as_body, 1);
        assert_eq!(report.failures.len(), 1);
        let causes: Vec<_> = report.causes.values().copied().collect();
        assert_eq!(causes.iter().sum::<usize>(), 6);
        assert_eq!(
            report.causes["the reference keeps a blank before or after the target"],
            2
        );
        assert_eq!(
            report.causes["the reference leaves out links to canvas files"],
            1
        );
    }

    #[test]
    fn a_wrong_reference_is_named() {
        let folder = tempfile::tempdir().expect("a folder");
        let gold = folder.path().join("gold.json");
        std::fs::write(&gold, "[]").expect("written");
        let error = evaluate_links(folder.path(), &gold).expect_err("refused");
        assert!(error.to_string().contains("gold.json"), "{error}");
    }
}
