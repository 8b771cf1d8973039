//! File names from any text: legal on every system, unique without regard to case, and the same each
//! time.

use rustc_hash::FxHashSet;
use unicode_normalization::UnicodeNormalization;

/// Longest name before the extension, in bytes: room for the id and for systems that count differently.
const MAX_BYTES: usize = 120;
/// Digits of the id that follow a name which needs one.
const ID_DIGITS: usize = 12;

/// Names that Windows keeps for devices, whatever the extension.
const RESERVED: [&str; 22] = [
    "con", "prn", "aux", "nul", "com1", "com2", "com3", "com4", "com5", "com6", "com7", "com8",
    "com9", "lpt1", "lpt2", "lpt3", "lpt4", "lpt5", "lpt6", "lpt7", "lpt8", "lpt9",
];

/// Gives files their names. Every label is shown to it once before the first name is asked for.
#[derive(Debug, Default)]
pub(super) struct FileNames {
    seen: FxHashSet<u64>,
    /// Names of more than one label, as hashes: what must be held grows with the number of labels, not
    /// with their length.
    ambiguous: FxHashSet<u64>,
}

impl FileNames {
    pub(super) fn see(&mut self, label: &str) {
        let hash = folded_hash(&safe(label));
        if !self.seen.insert(hash) {
            self.ambiguous.insert(hash);
        }
    }

    /// The name of the file for `label`, without extension. A label that is no file name as it is, or
    /// that is not the only one of its name, is followed by the beginning of its id.
    pub(super) fn name(&self, label: &str, id: &str) -> String {
        let safe = safe(label);
        let is_unique = !self.ambiguous.contains(&folded_hash(&safe));
        if is_unique && safe == label && !ends_like_an_id(label) {
            safe
        } else {
            format!("{safe} ({})", &id[..id.len().min(ID_DIGITS)])
        }
    }
}

/// The label without what some system or a wikilink cannot have in a file's name.
fn safe(label: &str) -> String {
    let mut name: String = label
        .nfc()
        .map(|c| match c {
            '<' | '>' | ':' | '"' | '/' | '\\' | '|' | '?' | '*' | '#' | '^' | '[' | ']' | '%' => {
                '-'
            }
            c if c.is_control() || c.is_whitespace() && c != ' ' => ' ',
            '\u{200b}'..='\u{200f}'
            | '\u{202a}'..='\u{202e}'
            | '\u{2066}'..='\u{2069}'
            | '\u{feff}'
            | '\u{fff0}'..='\u{ffff}' => '-',
            c => c,
        })
        .collect();
    let mut end = name.len().min(MAX_BYTES);
    while !name.is_char_boundary(end) {
        end -= 1;
    }
    name.truncate(end);
    let name = name.trim_matches([' ', '.']);
    let stem = name.split('.').next().unwrap_or_default().trim_end();
    if name.is_empty() {
        "unnamed".to_owned()
    } else if RESERVED.contains(&stem.to_lowercase().as_str()) {
        format!("_{name}")
    } else {
        name.to_owned()
    }
}

/// Whether a label looks like a name that was given an id.
fn ends_like_an_id(label: &str) -> bool {
    let Some((_, id)) = label
        .strip_suffix(')')
        .and_then(|rest| rest.rsplit_once(" ("))
    else {
        return false;
    };
    id.len() == ID_DIGITS && id.bytes().all(|byte| byte.is_ascii_hexdigit())
}

fn folded_hash(name: &str) -> u64 {
    use std::hash::{Hash, Hasher};
    let mut hasher = rustc_hash::FxHasher::default();
    name.to_uppercase().to_lowercase().hash(&mut hasher);
    hasher.finish()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_legal_and_unique_on_every_system() {
        let labels = [
            ("Ana", "Ana"),
            ("São Paulo", "São Paulo"),
            ("今天", "今天"),
            ("CON", "_CON (0123456789ab)"),
            ("nul.txt", "_nul.txt (0123456789ab)"),
            ("a/b", "a-b (0123456789ab)"),
            ("a:b", "a-b (0123456789ab)"),
            ("..", "unnamed (0123456789ab)"),
            ("", "unnamed (0123456789ab)"),
            (".hidden. ", "hidden (0123456789ab)"),
            ("Case", "Case (0123456789ab)"),
            ("CASE", "CASE (0123456789ab)"),
            ("[[x]]|#^", "--x----- (0123456789ab)"),
            ("esc\u{1b}[1m\u{1}\n", "esc -1m (0123456789ab)"),
            ("x\u{fffe}", "x- (0123456789ab)"),
            ("X (0123456789ab)", "X (0123456789ab) (0123456789ab)"),
        ];
        let mut names = FileNames::default();
        for (label, _) in labels {
            names.see(label);
        }
        for (label, expected) in labels {
            assert_eq!(names.name(label, "0123456789abcdef"), expected, "{label:?}");
        }
        let long = "é".repeat(300);
        assert!(names.name(&long, "0123456789abcdef").len() < 150);
    }
}
