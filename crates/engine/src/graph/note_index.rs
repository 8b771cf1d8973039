//! Notes and attachments by name: what a link's target is looked up in.

use rustc_hash::FxHashMap;
use unicode_normalization::UnicodeNormalization;

use super::link_key::{fold, name_of};
use super::link_path::{is_below, plain_path};
use crate::types::DocumentId;

/// A document that links may mean.
#[derive(Debug, Clone, Copy)]
pub struct NoteRef<'a> {
    pub document: DocumentId,
    pub uri: &'a str,
    pub aliases: &'a [String],
}

/// All notes and attachments by name, ready to resolve links.
#[derive(Debug, Default)]
pub struct NoteIndex {
    /// Notes first, then attachments.
    pub(super) places: Vec<Place>,
    /// Folded last segment of the path -> the last place of that name.
    by_name: FxHashMap<String, u32>,
    pub(super) by_alias: FxHashMap<String, Vec<u32>>,
    /// Labels of sources, longest first.
    roots: Vec<String>,
}

#[derive(Debug)]
pub(super) struct Place {
    /// `None`: an attachment.
    pub(super) document: Option<DocumentId>,
    /// As handed in.
    pub(super) uri: String,
    /// NFC, without `.md` and a leading `/`.
    pub(super) path: String,
    pub(super) folded: String,
    /// The place before this one with the same name.
    previous: Option<u32>,
}

impl NoteIndex {
    /// Indexes notes and the paths of files that are no notes.
    pub fn new<'a>(
        notes: impl IntoIterator<Item = NoteRef<'a>>,
        attachments: impl IntoIterator<Item = &'a str>,
    ) -> Self {
        let mut index = Self::default();
        for note in notes {
            let place = index.add(Some(note.document), note.uri);
            for alias in note.aliases {
                let places = index.by_alias.entry(fold(alias.trim())).or_default();
                if places.last() != Some(&place) {
                    places.push(place);
                }
            }
        }
        for path in attachments {
            index.add(None, path);
        }
        index
    }

    /// Names the labels under which several sources stand: a path from the root starts below its
    /// label, and a link looks in its own source first.
    #[must_use]
    pub fn with_roots(mut self, labels: impl IntoIterator<Item = String>) -> Self {
        self.roots = labels
            .into_iter()
            .map(|label| label.trim_matches('/').nfc().collect())
            .filter(|label: &String| !label.is_empty())
            .collect();
        self.roots
            .sort_by(|a, b| b.len().cmp(&a.len()).then_with(|| a.cmp(b)));
        self
    }

    fn add(&mut self, document: Option<DocumentId>, uri: &str) -> u32 {
        let place = self.places.len() as u32;
        let path = plain_path(uri);
        let folded = fold(&path);
        let previous = self.by_name.insert(name_of(&folded).to_owned(), place);
        self.places.push(Place {
            document,
            uri: uri.to_owned(),
            path,
            folded,
            previous,
        });
        place
    }

    /// The places with this folded name, the last first.
    pub(super) fn named(&self, name: &str) -> impl Iterator<Item = u32> + '_ {
        let mut next = self.by_name.get(name).copied();
        std::iter::from_fn(move || {
            let place = next?;
            next = self.places[place as usize].previous;
            Some(place)
        })
    }

    pub(super) fn root_of<'a>(&'a self, path: &str) -> &'a str {
        self.roots
            .iter()
            .find(|root| is_below(path, root))
            .map_or("", String::as_str)
    }

    pub(super) fn own_or_all(&self, places: Vec<u32>, root: &str) -> Vec<u32> {
        let own: Vec<u32> = places
            .iter()
            .copied()
            .filter(|&place| self.root_of(&self.places[place as usize].path) == root)
            .collect();
        if own.is_empty() { places } else { own }
    }
}
