//! Paths of notes and targets as links compare them.

use unicode_normalization::{UnicodeNormalization, is_nfc_quick};

use super::link_key::name_of;
use crate::types::ResolutionRule;

/// The target as a path, and the rule it stands for if it is a whole one. `None` when `../` leaves
/// the source.
pub(super) fn address(
    target: &str,
    from: &str,
    root: &str,
) -> Option<(String, Option<ResolutionRule>)> {
    let target = plain_name(target.trim());
    let target = target.trim_end_matches('/');
    if let Some(path) = target.strip_prefix('/') {
        let path = join(root, path);
        let rule = ResolutionRule::FullPath;
        return Some((without_extension(&path).to_owned(), Some(rule)));
    }
    let is_relative = target == ".."
        || target.starts_with("./")
        || target.starts_with("../")
        || target.contains("/../");
    if !is_relative {
        return Some((without_extension(target).to_owned(), None));
    }
    let mut segments: Vec<&str> = folder_of(from)
        .split('/')
        .filter(|part| !part.is_empty())
        .collect();
    let floor = root.split('/').filter(|part| !part.is_empty()).count();
    for segment in target.split('/') {
        match segment {
            "" | "." => {}
            ".." if segments.len() > floor => {
                segments.pop();
            }
            ".." => return None,
            name => segments.push(name),
        }
    }
    let path = segments.join("/");
    let rule = ResolutionRule::RelativePath;
    Some((without_extension(&path).to_owned(), Some(rule)))
}

/// A uri as paths are compared: NFC, plain blanks, no leading `/`, no `.md`.
pub(super) fn plain_path(uri: &str) -> String {
    let path = plain_name(uri.trim_start_matches('/'));
    let length = without_extension(&path).len();
    let mut path = path;
    path.truncate(length);
    path
}

/// NFC with plain blanks: Obsidian writes and reads no-break blanks as blanks, too.
fn plain_name(text: &str) -> String {
    if text.is_ascii() {
        return text.to_owned();
    }
    let is_composed = is_nfc_quick(text.chars()) == unicode_normalization::IsNormalized::Yes;
    let composed = if is_composed {
        text.to_owned()
    } else {
        text.nfc().collect()
    };
    composed.replace(['\u{a0}', '\u{202f}'], " ")
}

/// A path without the extension of notes.
pub(super) fn without_extension(path: &str) -> &str {
    for extension in [".md", ".markdown"] {
        if let Some(cut) = path.len().checked_sub(extension.len())
            && path.is_char_boundary(cut)
            && path[cut..].eq_ignore_ascii_case(extension)
            && !name_of(&path[..cut]).is_empty()
        {
            return &path[..cut];
        }
    }
    path
}

pub(super) fn folder_of(path: &str) -> &str {
    path.rsplit_once('/').map_or("", |(folder, _)| folder)
}

pub(super) fn join(folder: &str, name: &str) -> String {
    if folder.is_empty() {
        name.to_owned()
    } else {
        format!("{folder}/{name}")
    }
}

pub(super) fn is_below(path: &str, folder: &str) -> bool {
    path.strip_prefix(folder)
        .is_some_and(|rest| rest.starts_with('/'))
}

pub(super) fn ends_with_path(path: &str, target: &str) -> bool {
    path.strip_suffix(target)
        .is_some_and(|rest| rest.is_empty() || rest.ends_with('/'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses() {
        let check = |target: &str, expected: Option<(&str, Option<ResolutionRule>)>| {
            let found = address(target, "vault/a/b.md", "vault");
            let found = found.as_ref().map(|(path, rule)| (path.as_str(), *rule));
            assert_eq!(found, expected, "{target}");
        };
        let relative = Some(ResolutionRule::RelativePath);
        check("c", Some(("c", None)));
        check("c/d.md", Some(("c/d", None)));
        check("/c", Some(("vault/c", Some(ResolutionRule::FullPath))));
        check("./c", Some(("vault/a/c", relative)));
        check("../c.markdown", Some(("vault/c", relative)));
        check("x/../c", Some(("vault/a/c", relative)));
        check("../../c", None);
        check("e\u{301}\u{a0}f", Some(("é f", None)));
    }

    #[test]
    fn extensions() {
        let check = |path: &str, expected: &str| assert_eq!(without_extension(path), expected);
        check("a/b.MD", "a/b");
        check("a.pdf", "a.pdf");
        check(".md", ".md");
        check("水.md", "水");
        check("水d", "水d");
    }
}
