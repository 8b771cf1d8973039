//! Which names a document gives the entity that stands for it.

use crate::storage::DocumentRow;
use crate::text::{fold, squash};
use crate::types::{Alias, AliasSource, DocumentKind, EntityId};

/// Whether documents of this kind share one entity when they share this title.
pub(super) fn is_shared_title(kind: DocumentKind, title: &str) -> bool {
    kind == DocumentKind::Row && !fold(title).is_empty()
}

/// The aliases that one document gives its entity: title, title without bracketed qualifier,
/// file stem, and what its front matter says.
pub(super) fn document_aliases(entity: EntityId, document: &DocumentRow) -> Vec<Alias> {
    let mut aliases = Vec::new();
    let mut titles = vec![document.title.as_str()];
    if !matches!(document.kind, DocumentKind::Row | DocumentKind::Episode) {
        titles.push(stem_of(&document.uri));
    }
    for title in titles {
        aliases.extend(alias(entity, title, AliasSource::Title));
        if let Some(unqualified) = without_qualifier(title) {
            aliases.extend(alias(entity, unqualified, AliasSource::Unqualified));
        }
    }
    for written in &document.aliases {
        aliases.extend(alias(entity, written, AliasSource::FrontMatter));
    }
    aliases
}

/// An alias with its search forms; `None` when nothing is left of it after folding.
pub(super) fn alias(entity: EntityId, written: &str, source: AliasSource) -> Option<Alias> {
    let folded = fold(written);
    (!folded.is_empty()).then(|| Alias {
        written: written.to_owned(),
        squashed: squash(written),
        folded,
        entity,
        source,
    })
}

/// What follows the last `/` of a link's target.
pub(super) fn last_segment(target: &str) -> &str {
    target.rsplit('/').next().unwrap_or(target).trim()
}

/// File name without folders, fragment and extension.
fn stem_of(uri: &str) -> &str {
    let uri = uri.split_once('#').map_or(uri, |(file, _)| file);
    let name = uri.rsplit_once('/').map_or(uri, |(_, name)| name);
    match name.rsplit_once('.') {
        Some((stem, _)) if !stem.is_empty() => stem,
        _ => name,
    }
}

/// `Mercury (planet)` without its qualifier.
fn without_qualifier(title: &str) -> Option<&str> {
    let open = title
        .trim_end()
        .strip_suffix([')', '）'])?
        .rfind(['(', '（'])?;
    let rest = title[..open].trim();
    (!rest.is_empty()).then_some(rest)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stems_lose_folders_fragment_and_extension() {
        #[track_caller]
        fn check(uri: &str, expected: &str) {
            assert_eq!(stem_of(uri), expected);
        }
        check("a/b/Plan.md", "Plan");
        check("Plan", "Plan");
        check("rows.csv#row-3", "rows");
        check("v1.2 notes.md", "v1.2 notes");
        check("a/.hidden", ".hidden");
    }

    #[test]
    fn qualifiers_in_brackets_are_dropped() {
        #[track_caller]
        fn check(title: &str, expected: Option<&str>) {
            assert_eq!(without_qualifier(title), expected);
        }
        check("Mercury (planet)", Some("Mercury"));
        check("水星（行星）", Some("水星"));
        check("(untitled)", None);
        check("Mercury", None);
        check("f(x) and more", None);
    }
}
