//! Facts from files: `subject, relation, object` a line, as JSON or separated by tabs.
//!
//! Names that are spelled alike up to case, accents, quotation marks and invisible characters are one
//! entity. A fact that is stated again gains evidence, not a twin: a file loaded twice changes
//! nothing, and one loaded after an edit replaces what it said before. The evidence of a fact is its
//! line. A line that cannot be used is reported and costs none of the others.

mod checked;
mod file;
mod line;
mod load;
mod report;

pub use line::TripleSyntax;
pub use load::import_triples;
pub use report::{TripleOptions, TripleReport};
