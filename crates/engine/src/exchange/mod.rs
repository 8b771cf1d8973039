//! Import and export formats. Formats are here; every statement they lead to is in `storage`.

mod malha;
mod triples;

pub use malha::{export_malha, import_malha};
pub use triples::{TripleOptions, TripleReport, TripleSyntax, import_triples};
