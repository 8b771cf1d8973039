//! Names that are never notes: what editors, sync tools and systems leave in a folder.

/// Why a name is left out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct SkipRule(pub(super) &'static str);

const CONFLICT: SkipRule =
    SkipRule("a copy made by a sync conflict; merge it by hand or delete it");

/// A reason to leave out a folder, by its name and its path below the root.
pub(super) fn skip_folder(name: &str, uri: &str) -> Option<SkipRule> {
    let reason = match name {
        ".malha" => "malha's own store",
        ".obsidian" => "Obsidian's settings",
        ".trash" | ".Trash" | ".Trashes" | "$RECYCLE.BIN" => "the trash",
        ".stversions" => "Syncthing's old versions",
        ".git" | ".hg" | ".svn" | ".jj" => "a version control folder",
        "@eaDir" | "__MACOSX" | "System Volume Information" => "made by the system, not by you",
        "bak" | "version-files" if is_in_logseq(uri) => "Logseq's backups",
        _ if name.starts_with('.') => "a hidden folder",
        _ => return None,
    };
    Some(SkipRule(reason))
}

fn is_in_logseq(uri: &str) -> bool {
    uri.rsplit('/').nth(1) == Some("logseq")
}

/// A reason to leave out a file, by its name and those beside it.
pub(super) fn skip_file(name: &str, has_sibling: impl Fn(&str) -> bool) -> Option<SkipRule> {
    if name.starts_with('.') {
        let placeholder = name.ends_with(".icloud");
        return Some(SkipRule(if placeholder {
            "not downloaded from iCloud yet"
        } else {
            "a hidden file"
        }));
    }
    if name.starts_with("~$") || name.starts_with(".~lock.") {
        return Some(SkipRule("a lock file of an open document"));
    }
    if name.starts_with("~syncthing~") {
        return Some(SkipRule("a file that Syncthing is still writing"));
    }
    is_conflict_copy(name, has_sibling).then_some(CONFLICT)
}

/// Words that Dropbox, Nextcloud, Obsidian Sync and others put between brackets, lower-cased.
const CONFLICT_WORDS: [&str; 16] = [
    "conflicted copy",
    "conflict copy",
    "case conflict",
    "sfconflict",
    "cópia em conflito",
    "cópia conflitante",
    "cópia conflituosa",
    "copia en conflicto",
    "copia in conflitto",
    "copie en conflit",
    "in konflikt stehende kopie",
    "冲突副本",
    "衝突複本",
    "衝突的複本",
    "冲突的副本",
    "競合コピー",
];

fn is_conflict_copy(name: &str, has_sibling: impl Fn(&str) -> bool) -> bool {
    // Syncthing: `note.sync-conflict-20240131-101500-ABCDEFG.md`; older ownCloud:
    // `note_conflict-20240131-101500.md`.
    for mark in [".sync-conflict-", "_conflict-"] {
        if let Some((_, rest)) = name.split_once(mark)
            && rest.starts_with(|character: char| character.is_ascii_digit())
        {
            return true;
        }
    }
    let opened = name.rfind(['(', '（', '[']);
    if let Some(open) = opened {
        // macOS writes accents decomposed.
        let bracket: String = unicode_normalization::UnicodeNormalization::nfc(&name[open..])
            .flat_map(char::to_lowercase)
            .collect();
        if CONFLICT_WORDS.iter().any(|words| bracket.contains(words)) {
            return true;
        }
    }
    // OneDrive appends the computer's name; only Windows' own names are safe to recognise, and
    // only beside the original: `note-DESKTOP-1A2B3C4.md` next to `note.md`.
    let (stem, extension) = name.rsplit_once('.').unwrap_or((name, ""));
    ["-DESKTOP-", "-LAPTOP-"].iter().any(|mark| {
        stem.rsplit_once(mark).is_some_and(|(original, id)| {
            (7..=8).contains(&id.len())
                && id
                    .bytes()
                    .all(|byte| byte.is_ascii_uppercase() || byte.is_ascii_digit())
                && has_sibling(&format!("{original}.{extension}"))
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn conflict_copies() {
        let check = |name: &str, expected: bool| {
            let skipped = skip_file(name, |sibling| sibling == "note.md") == Some(CONFLICT);
            assert_eq!(skipped, expected, "{name}");
        };
        check("note.sync-conflict-20240131-101500-ABCDEFG.md", true);
        check("note_conflict-20240131-101500.md", true);
        check("note (Ana's conflicted copy 2024-01-31).md", true);
        check("note (conflicted copy 2024-01-31 101500).md", true);
        check("note (Conflicted copy phone 202401311015).md", true);
        check("nota (cópia em conflito de Ana 2024-01-31).md", true);
        check("nota (Co\u{301}pia em conflito de Ana 2024-01-31).md", true);
        check("nota (Copia en conflicto de Ana 2024-01-31).md", true);
        check("笔记 (小明 的冲突副本 2024-01-31).md", true);
        check("筆記（小明的衝突複本 2024-01-31）.md", true);
        check(
            "note (SFConflict ana@example.org 2024-01-31-10-15-00).md",
            true,
        );
        check("note-DESKTOP-1A2B3C4.md", true);
        check("other-DESKTOP-1A2B3C4.md", false);
        check("note.md", false);
        check("note 2.md", false);
        check("note (1).md", false);
        check("How to merge a conflicted copy.md", false);
        check("the.sync-conflict-problem.md", false);
    }

    #[test]
    fn folders_by_name() {
        let check = |name: &str, uri: &str, expected: Option<&str>| {
            assert_eq!(skip_folder(name, uri).map(|rule| rule.0), expected, "{uri}");
        };
        check(".obsidian", "a/.obsidian", Some("Obsidian's settings"));
        check(".trash", ".trash", Some("the trash"));
        check(
            ".stversions",
            ".stversions",
            Some("Syncthing's old versions"),
        );
        check(".private", "a/.private", Some("a hidden folder"));
        check("bak", "logseq/bak", Some("Logseq's backups"));
        check("bak", "projects/bak", None);
        check("node_modules", "node_modules", None);
        check("notes", "notes", None);
    }

    #[test]
    fn files_by_name() {
        let check = |name: &str, expected: Option<&str>| {
            assert_eq!(
                skip_file(name, |_| false).map(|rule| rule.0),
                expected,
                "{name}"
            );
        };
        check(".DS_Store", Some("a hidden file"));
        check(".note.md.icloud", Some("not downloaded from iCloud yet"));
        check("~$report.docx", Some("a lock file of an open document"));
        check(
            "~syncthing~note.md.tmp",
            Some("a file that Syncthing is still writing"),
        );
        check("note.md", None);
        check("image.png", None);
    }
}
