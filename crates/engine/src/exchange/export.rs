//! The formats in which the content of a namespace goes out, by name.

use std::collections::BTreeMap;
use std::fmt;
use std::io::Write;
use std::path::Path;
use std::str::FromStr;

use serde::Serialize;

use super::output::{Out, write_file, write_folder};
use super::{
    cypher_script, export_malha, gexf, graphml, html, jsonld, ladybug, neo4j_csv, neptune_csv,
    ntriples, obsidian, parquet,
};
use crate::storage::Store;
use crate::storage::graph_table::GraphReader;
use crate::types::{Namespace, Progress};
use crate::{Error, Result};

/// A format of an export: our own, or one of other programs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ExportFormat {
    /// Everything, as JSON lines that [`import_malha`](super::import_malha) reads.
    Malha,
    /// A script of Cypher statements.
    Cypher,
    /// CSV files for `neo4j-admin database import`.
    Neo4jCsv,
    /// Tables, CSV files and a script for Ladybug (Kuzu's successor).
    Ladybug,
    /// `GraphML`.
    Graphml,
    /// GEXF, for Gephi.
    Gexf,
    /// JSON-LD.
    Jsonld,
    /// RDF as N-Triples.
    Ntriples,
    /// A vault with a note an entity.
    Obsidian,
    /// One HTML file that shows the graph offline.
    Html,
    /// Parquet files, one a table.
    Parquet,
    /// CSV files for Amazon Neptune.
    NeptuneCsv,
}

impl ExportFormat {
    /// All of them.
    pub const ALL: [Self; 12] = [
        Self::Malha,
        Self::Cypher,
        Self::Neo4jCsv,
        Self::Ladybug,
        Self::Graphml,
        Self::Gexf,
        Self::Jsonld,
        Self::Ntriples,
        Self::Obsidian,
        Self::Html,
        Self::Parquet,
        Self::NeptuneCsv,
    ];

    /// The name on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Self::Malha => "malha",
            Self::Cypher => "cypher",
            Self::Neo4jCsv => "neo4j-csv",
            Self::Ladybug => "ladybug",
            Self::Graphml => "graphml",
            Self::Gexf => "gexf",
            Self::Jsonld => "jsonld",
            Self::Ntriples => "ntriples",
            Self::Obsidian => "obsidian",
            Self::Html => "html",
            Self::Parquet => "parquet",
            Self::NeptuneCsv => "neptune-csv",
        }
    }

    /// Whether it is a folder of files rather than one file.
    pub fn is_folder(self) -> bool {
        matches!(
            self,
            Self::Neo4jCsv | Self::Ladybug | Self::Obsidian | Self::Parquet | Self::NeptuneCsv
        )
    }
}

impl fmt::Display for ExportFormat {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for ExportFormat {
    type Err = Error;

    fn from_str(name: &str) -> Result<Self> {
        let found = Self::ALL.into_iter().find(|format| format.name() == name);
        found.ok_or_else(|| Error::Usage(format!("no export format is called {name:?}")))
    }
}

/// What went out.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ExportReport {
    /// Rows by table: `Entity`, `Relation`, `MENTIONS`, … as far as the format has them; `record` for
    /// the format `malha`.
    pub rows: BTreeMap<&'static str, u64>,
}

/// Writes the content of the namespace to `path`: a file, or a folder when the format is one. It appears
/// whole or not at all. The same content gives the same bytes. `history` adds what was retracted.
///
/// # Errors
/// [`Error::Usage`] for a folder that holds anything but a former export; [`Error::Interrupted`] when
/// `progress` says so.
pub fn export(
    store: &Store,
    namespace: &Namespace,
    format: ExportFormat,
    history: bool,
    path: &Path,
    progress: &dyn Progress,
) -> Result<ExportReport> {
    if format.is_folder() {
        let _state = store.read()?;
        let id = store.namespace(namespace)?;
        let reader = GraphReader::new(store.connection(), id, history, progress);
        write_folder(path, format.name(), |folder| match format {
            ExportFormat::Neo4jCsv => neo4j_csv::write(&reader, folder),
            ExportFormat::Ladybug => ladybug::write(&reader, folder),
            ExportFormat::Obsidian => obsidian::write(&reader, folder),
            ExportFormat::NeptuneCsv => neptune_csv::write(&reader, folder),
            _ => parquet::write(&reader, folder),
        })?;
        return Ok(ExportReport {
            rows: reader.counts(),
        });
    }
    write_file(path, |out| {
        write_one(store, namespace, format, history, path, out, progress)
    })
}

/// Writes a format that is one file to `out`, which errors call `name`.
///
/// # Errors
/// [`Error::Usage`] for a format that is a folder; otherwise as [`export`].
pub fn export_to(
    store: &Store,
    namespace: &Namespace,
    format: ExportFormat,
    history: bool,
    name: &Path,
    out: impl Write,
    progress: &dyn Progress,
) -> Result<ExportReport> {
    let mut out = Out::new(name, out);
    let report = write_one(store, namespace, format, history, name, &mut out, progress)?;
    out.flush()?;
    Ok(report)
}

fn write_one(
    store: &Store,
    namespace: &Namespace,
    format: ExportFormat,
    history: bool,
    name: &Path,
    out: &mut Out<'_>,
    progress: &dyn Progress,
) -> Result<ExportReport> {
    let _state = store.read()?;
    let id = store.namespace(namespace)?;
    let reader = GraphReader::new(store.connection(), id, history, progress);
    match format {
        ExportFormat::Malha if history => {
            return Err(Error::Usage(
                "the format malha has no history; `malha backup` keeps everything".to_owned(),
            ));
        }
        ExportFormat::Malha => {
            let records = export_malha(store, namespace, name, out)?;
            return Ok(ExportReport {
                rows: BTreeMap::from([("record", records)]),
            });
        }
        ExportFormat::Cypher => cypher_script::write(&reader, out)?,
        ExportFormat::Graphml => graphml::write(&reader, out)?,
        ExportFormat::Gexf => gexf::write(&reader, out)?,
        ExportFormat::Jsonld => jsonld::write(&reader, namespace.as_str(), out)?,
        ExportFormat::Ntriples => ntriples::write(&reader, namespace.as_str(), out)?,
        ExportFormat::Html => html::write(&reader, out)?,
        ExportFormat::Neo4jCsv
        | ExportFormat::Ladybug
        | ExportFormat::Obsidian
        | ExportFormat::Parquet
        | ExportFormat::NeptuneCsv => {
            return Err(Error::Usage(format!(
                "{format} is a folder of files; say where to write it"
            )));
        }
    }
    Ok(ExportReport {
        rows: reader.counts(),
    })
}
