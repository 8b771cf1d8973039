//! What a run has touched.

use std::collections::BTreeSet;

use rustc_hash::FxHashMap;

use super::links::keys_of_uri;
use crate::types::{ChunkId, DocumentId, EntityId, IngestReport, RelationId};

/// What a run has touched so far: later stages look only there.
#[derive(Debug, Default)]
pub(crate) struct Changes {
    /// Everything derived is computed anew; the sets below stay small.
    pub bulk: bool,
    /// Of a large run: there were chunks before it, so that names are counted in every chunk at the end and not
    /// while chunks come, and what was recognised in them is cleared first.
    pub recount: bool,
    pub report: IngestReport,
    /// Documents that were added or changed, or whose links resolve differently.
    pub documents: BTreeSet<DocumentId>,
    /// Documents that moved or went: links that resolved to them are looked at.
    pub moved_documents: BTreeSet<DocumentId>,
    /// Entities of documents that changed or went.
    pub entities: BTreeSet<EntityId>,
    /// Link keys under which a note or attachment appeared, moved or went.
    pub link_keys: BTreeSet<String>,
    /// Folded forms that may start or stop being a name.
    pub forms: BTreeSet<String>,
    /// Folded forms whose owners changed: chunks that hold them are matched again.
    pub owner_forms: BTreeSet<String>,
    pub tags: BTreeSet<String>,
    pub chunks: BTreeSet<ChunkId>,
    pub retired_chunks: Vec<ChunkId>,
    /// Entities and relations that came, changed or went: what a snapshot has to follow.
    pub touched_entities: BTreeSet<EntityId>,
    pub touched_relations: BTreeSet<RelationId>,
    /// Changes of how often a name, in this spelling, was discovered.
    pub name_counts: FxHashMap<(String, String), i64>,
}

impl Changes {
    pub(super) fn touch_form(&mut self, form: String) {
        if !self.bulk && !form.is_empty() {
            self.forms.insert(form);
        }
    }

    pub(crate) fn change_owner(&mut self, form: &str) {
        if !self.bulk {
            self.forms.insert(form.to_owned());
            self.owner_forms.insert(form.to_owned());
        }
    }

    pub(super) fn count_name(&mut self, folded: String, written: String, change: i64) {
        if !self.bulk {
            self.touch_form(folded.clone());
        }
        *self.name_counts.entry((folded, written)).or_default() += change;
    }

    pub(crate) fn touch_relation(&mut self, id: RelationId) {
        if !self.bulk {
            self.touched_relations.insert(id);
        }
    }

    /// A note or attachment appeared at, or went from, this uri.
    pub(super) fn note_moved(&mut self, uri: &str) {
        if !self.bulk {
            self.link_keys.extend(keys_of_uri(uri));
        }
    }
}
