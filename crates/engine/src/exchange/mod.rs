//! Import and export formats, a file each. Every statement they lead to is in `storage`.

mod cell_text;
mod csv_row;
mod cypher_script;
mod export;
mod file_name;
mod foreign;
mod gexf;
mod graphml;
mod html;
mod jsonld;
mod ladybug;
mod malha;
mod neo4j_csv;
mod neptune_csv;
mod ntriples;
mod obsidian;
mod output;
mod parquet;
mod partial;
mod rdf;
mod triples;
mod xml_text;

pub use export::{ExportFormat, ExportReport, export, export_to};
pub use foreign::{ForeignCommunity, ForeignFormat, ForeignGraph, ForeignPassage, read_foreign};
pub use malha::{export_malha, import_malha};
pub use triples::{TripleOptions, TripleReport, TripleSyntax, import_triples};
