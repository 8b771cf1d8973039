use std::collections::BTreeSet;
use std::fs::File;
use std::io::{BufRead, BufReader, Read};
use std::path::Path;

use rusqlite::Connection;
use rustc_hash::FxHashMap;

use super::TripleSyntax;
use super::checked::Checked;
use super::file::{guess_syntax, hash, skip_line};
use super::line::{Line, LineReader};
use super::report::{TripleOptions, TripleReport};
use crate::memory::{buried_fact, settle};
use crate::storage::{
    self, Buried, Fact, FactDocument, FactLine, NamespaceId, Origin, WriteTransaction, relation_key,
};
use crate::text::{fold, is_better_name, name_key, squash};
use crate::types::{
    Alias, AliasSource, DocumentId, EntityId, EntityKind, ItemFailure, Namespace, RelationId,
    RelationTypeId, Timestamp,
};
use crate::{Error, Result};

/// Lines reported one by one; of the rest only the number is kept.
const LISTED: usize = 1_000;
/// Bytes of a line that are kept as its quote.
const LONGEST_QUOTE: usize = 2_000;
/// A line longer than this is no fact.
const LONGEST_LINE: u64 = 1 << 20;

/// Loads the file at `path`, inside `transaction`. `uri` names the file in the store: loading another
/// content under the same uri replaces what was stated before.
pub fn import_triples(
    transaction: &WriteTransaction<'_>,
    namespace: &Namespace,
    path: &Path,
    uri: &str,
    options: &TripleOptions,
    now: Timestamp,
) -> Result<TripleReport> {
    let io_error = |source| Error::Io {
        path: path.to_owned(),
        source,
    };
    let mut file = File::open(path).map_err(io_error)?;
    let mut content_hash = hash(&mut file).map_err(io_error)?;
    if options.exact_names {
        // The same lines make another graph.
        content_hash.push(1);
    }
    let connection = transaction.connection();
    let id = transaction.namespace(namespace)?;
    if storage::loaded_facts(connection, id, uri)?.as_deref() == Some(content_hash.as_slice()) {
        return Ok(TripleReport {
            unchanged: true,
            ..TripleReport::default()
        });
    }
    for mark in [uri, &storage::hex(&content_hash[..32])] {
        if storage::is_buried(connection, id.0, Buried::Document, &[mark])? {
            return Err(Error::Usage(format!(
                "{uri:?} was forgotten; `malha forget --allow {uri:?}` lets it come back"
            )));
        }
    }
    let syntax = match options.syntax {
        Some(syntax) => syntax,
        None => guess_syntax(path, &mut file).map_err(io_error)?,
    };
    let title = uri.rsplit(['/', ':']).next().unwrap_or(uri);
    let mut loader = Loader {
        connection,
        namespace: (id, namespace.as_str()),
        now,
        uri,
        title,
        content_hash: &content_hash,
        allow_self_loops: options.allow_self_loops,
        exact_names: options.exact_names,
        exclusive: options
            .exclusive
            .iter()
            .map(|name| relation_key(name))
            .collect(),
        subjects: BTreeSet::new(),
        touched: storage::withdraw_facts(connection, id, uri, now)?
            .into_iter()
            .collect(),
        documents: FxHashMap::default(),
        entities: FxHashMap::default(),
        report: TripleReport::default(),
    };
    loader.document(None)?;
    loader.read(path, syntax, file)?;
    loader.finish()
}

/// Loads the lines of one file.
struct Loader<'a> {
    connection: &'a Connection,
    namespace: (NamespaceId, &'a str),
    now: Timestamp,
    uri: &'a str,
    title: &'a str,
    content_hash: &'a [u8],
    allow_self_loops: bool,
    exact_names: bool,
    /// Keys of the relation types that are exclusive.
    exclusive: BTreeSet<String>,
    /// Subjects and relations whose facts may end one another anew.
    subjects: BTreeSet<(EntityId, RelationTypeId)>,
    /// Relations that lost a line, or gained one besides their first.
    touched: BTreeSet<RelationId>,
    /// The file's document, and one for each source that its lines name.
    documents: FxHashMap<Option<String>, (DocumentId, String)>,
    entities: FxHashMap<String, Spelled>,
    report: TripleReport,
}

/// An entity and the ways its name was written.
struct Spelled {
    id: EntityId,
    spellings: BTreeSet<String>,
    changed: bool,
}

/// A line with its place in the file.
struct Place<'a> {
    number: usize,
    start: u64,
    end: u64,
    text: &'a str,
}

impl Loader<'_> {
    fn read(&mut self, path: &Path, syntax: TripleSyntax, file: File) -> Result<()> {
        let mut reader = LineReader::new(syntax);
        let mut input = BufReader::new(file);
        let mut bytes = Vec::new();
        let mut start = 0;
        for number in 1.. {
            bytes.clear();
            let read = |input: &mut BufReader<File>, bytes: &mut Vec<u8>| {
                input.take(LONGEST_LINE).read_until(b'\n', bytes)
            };
            let mut length = read(&mut input, &mut bytes).map_err(|source| Error::Io {
                path: path.to_owned(),
                source,
            })? as u64;
            if length == 0 {
                break;
            }
            let outcome = if length == LONGEST_LINE && bytes.last() != Some(&b'\n') {
                length += skip_line(&mut input).map_err(|source| Error::Io {
                    path: path.to_owned(),
                    source,
                })?;
                Err(format!("longer than {LONGEST_LINE} bytes"))
            } else {
                self.read_line(&mut reader, number, start, &bytes)?
            };
            if let Err(reason) = outcome {
                self.report.lines += 1;
                self.report.failed += 1;
                if self.report.failures.len() < LISTED {
                    self.report.failures.push(self.failure(number, reason));
                }
            }
            start += length;
        }
        Ok(())
    }

    /// Reads one line; the inner error is the line's own.
    fn read_line(
        &mut self,
        reader: &mut LineReader,
        number: usize,
        start: u64,
        bytes: &[u8],
    ) -> Result<Result<(), String>> {
        let Ok(text) = std::str::from_utf8(bytes) else {
            return Ok(Err("no UTF-8 text".to_owned()));
        };
        let text = text.trim_end_matches(['\n', '\r']);
        match reader.read(text) {
            Ok(None) => Ok(Ok(())),
            Err(reason) => Ok(Err(reason)),
            Ok(Some(line)) => self.load(
                &line,
                &Place {
                    number,
                    start,
                    end: start + text.len() as u64,
                    text,
                },
            ),
        }
    }

    fn load(&mut self, line: &Line, place: &Place<'_>) -> Result<Result<(), String>> {
        let checked = match Checked::new(line) {
            Ok(checked) => checked,
            Err(reason) => return Ok(Err(reason)),
        };
        self.report.lines += 1;
        for date in &checked.period.unknown {
            self.warn(
                place.number,
                format!("the date {date:?} was not understood; the fact has no such bound"),
            );
        }
        if !self.allow_self_loops && self.key(&checked.subject) == self.key(&checked.object) {
            self.report.self_loops += 1;
            return Ok(Ok(()));
        }
        let time = |end: &Option<(Timestamp, String)>| end.as_ref().map(|(at, _)| *at);
        let parts = buried_fact(
            &name_key(&checked.subject),
            &checked.relation,
            &name_key(&checked.object),
            time(&checked.period.from),
            time(&checked.period.to),
        );
        let parts = parts.each_ref().map(String::as_str);
        let namespace = self.namespace.0.0;
        let gone =
            |kind, parts: &[&str]| storage::is_buried(self.connection, namespace, kind, parts);
        if gone(Buried::Fact, &parts)?
            || gone(Buried::Entity, &parts[..1])?
            || gone(Buried::Entity, &parts[2..3])?
        {
            self.report.suppressed += 1;
            return Ok(Ok(()));
        }
        let (document, evidence) = self.document(checked.source)?;
        let source = self.entity(&checked.subject, checked.subject_type, &evidence)?;
        let target = self.entity(&checked.object, checked.object_type, &evidence)?;
        let relation_key = relation_key(&checked.relation);
        let kind = storage::relation_type_id(
            self.connection,
            self.namespace.0.0,
            &relation_key,
            &checked.relation,
        )?;
        let fact = Fact {
            source,
            target,
            kind,
            from: end(checked.period.from.as_ref()),
            to: end(checked.period.to.as_ref()),
            sentence: checked.fact,
            exclusive: line.exclusive || self.exclusive.contains(&relation_key),
            observed_at: None,
            origin: Origin::Import,
        };
        let (relation, new) =
            storage::ensure_fact(self.connection, self.namespace.0, &fact, self.now)?;
        let quote = FactLine {
            document,
            start: place.start,
            end: place.end,
            line: Some(place.number),
            quote: cut(place.text, LONGEST_QUOTE),
        };
        if !new {
            if storage::states_fact(self.connection, relation, document)? {
                self.report.repeated += 1;
                return Ok(Ok(()));
            }
            self.touched.insert(relation);
        }
        storage::add_fact_line(self.connection, relation, &quote)?;
        if new || fact.exclusive {
            self.subjects.insert((source, kind));
        }
        self.report.relations_added += usize::from(new);
        self.report.facts += 1;
        Ok(Ok(()))
    }

    /// The document that stands for the file, or for a source that it names, with its uri.
    fn document(&mut self, source: Option<&str>) -> Result<(DocumentId, String)> {
        let slot = source.map(str::to_owned);
        if let Some((id, uri)) = self.documents.get(&slot) {
            return Ok((*id, uri.clone()));
        }
        let uri = match source {
            None => self.uri.to_owned(),
            Some(source) => format!("{}#{source}", self.uri),
        };
        let title = source.unwrap_or(self.title);
        let (entity, _) = storage::ensure_entity(
            self.connection,
            (self.namespace.0.0, self.namespace.1),
            EntityKind::Title,
            &uri,
            title,
            self.now,
        )?;
        let id = storage::ensure_fact_document(
            self.connection,
            self.namespace,
            entity,
            &FactDocument {
                uri: &uri,
                title,
                content_hash: self.content_hash,
            },
            self.now,
        )?;
        self.documents.insert(slot, (id, uri.clone()));
        Ok((id, uri))
    }

    /// Equal keys are one entity.
    fn key(&self, name: &str) -> String {
        if self.exact_names {
            name.to_owned()
        } else {
            name_key(name)
        }
    }

    fn entity(&mut self, name: &str, kind: Option<&str>, evidence: &str) -> Result<EntityId> {
        let key = self.key(name);
        if !self.entities.contains_key(&key) {
            let (id, new) = storage::ensure_entity(
                self.connection,
                (self.namespace.0.0, self.namespace.1),
                EntityKind::Concept,
                &key,
                name,
                self.now,
            )?;
            self.report.entities_added += usize::from(new);
            let mut spellings: BTreeSet<String> = storage::spellings(self.connection, id)?
                .into_iter()
                .collect();
            spellings.insert(storage::entity(self.connection, id)?.name);
            self.entities.insert(
                key.clone(),
                Spelled {
                    id,
                    spellings,
                    changed: true,
                },
            );
        }
        let known = self.entities.get_mut(&key).expect("inserted above");
        if !known.spellings.contains(name) {
            known.spellings.insert(name.to_owned());
            known.changed = true;
        }
        if let Some(kind) = kind {
            storage::add_type(self.connection, known.id, kind, evidence)?;
        }
        Ok(known.id)
    }

    fn finish(mut self) -> Result<TripleReport> {
        let mut entities: Vec<&Spelled> = self
            .entities
            .values()
            .filter(|entity| entity.changed)
            .collect();
        entities.sort_unstable_by_key(|entity| entity.id);
        for entity in entities {
            self.save_names(entity)?;
        }
        for &relation in &self.touched {
            if storage::settle_fact(self.connection, relation, self.now)? {
                self.report.relations_closed += 1;
            }
            self.subjects
                .insert(storage::subject_of(self.connection, relation)?);
        }
        for (source, kind) in std::mem::take(&mut self.subjects) {
            let settled = settle(self.connection, source, kind, self.now)?;
            self.report.relations_ended += settled.ended;
            self.report.conflicts += settled.conflicts.len();
            for conflict in settled.conflicts {
                self.warn(0, conflict.sentence(self.connection)?);
            }
        }
        storage::retire_withdrawn_documents(self.connection, self.namespace.0, self.uri, self.now)?;
        // Texts may hold the new names: the next run matches them.
        storage::set_pending(self.connection, self.namespace.0.0, true)?;
        Ok(self.report)
    }

    fn save_names(&self, entity: &Spelled) -> Result<()> {
        let mut shown = entity.spellings.first().expect("every name is spelled");
        for spelling in &entity.spellings {
            if is_better_name(spelling, shown) {
                shown = spelling;
            }
        }
        let others: Vec<String> = entity
            .spellings
            .iter()
            .filter(|&spelling| spelling != shown)
            .cloned()
            .collect();
        storage::rename_entity(self.connection, entity.id, shown)?;
        storage::save_spellings(self.connection, entity.id, &others)?;
        let alias = Alias {
            written: shown.clone(),
            folded: fold(shown),
            squashed: squash(shown),
            entity: entity.id,
            source: AliasSource::Stated,
        };
        if alias.folded.is_empty() {
            // Signs alone: nothing that a text or a question could be matched by.
            return Ok(());
        }
        storage::insert_alias(self.connection, self.namespace.0.0, &alias)
    }

    fn failure(&self, line: usize, reason: String) -> ItemFailure {
        ItemFailure {
            uri: self.uri.to_owned(),
            line,
            reason,
        }
    }

    fn warn(&mut self, line: usize, reason: String) {
        if self.report.warnings.len() < LISTED {
            self.report.warnings.push(self.failure(line, reason));
        }
    }
}

fn end(end: Option<&(Timestamp, String)>) -> storage::StatedEnd<'_> {
    end.map(|(at, written)| (*at, written.as_str()))
}

/// The longest start of `text` of at most `length` bytes.
fn cut(text: &str, length: usize) -> &str {
    &text[..text.floor_char_boundary(length)]
}
