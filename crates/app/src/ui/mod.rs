//! How results and messages look. Results go to stdout through [`Output`]; everything else goes to
//! stderr through [`stderr`]. Text of documents passes [`plain`] on its way to a terminal.

mod output;
mod place;
mod plain;
mod progress;
mod snippet;
pub(crate) mod stderr;
mod style;
mod table;

pub(crate) use output::Output;
pub(crate) use place::place;
pub(crate) use plain::{plain, plain_line};
pub(crate) use progress::Bar;
pub(crate) use snippet::Highlighter;
pub(crate) use style::{ACCENT, DIM, PATH, STRONG, count, painted};
pub(crate) use table::Table;
