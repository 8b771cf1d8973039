//! Rows of comma-separated values as the bulk loaders read them: a text is always quoted, so that an
//! empty one differs from none.

use super::output::Out;
use crate::Result;

/// One field.
pub(super) enum Field<'a> {
    /// Nothing at all between the commas.
    Empty,
    /// Written as it is: numbers, dates, headers of our own.
    Bare(&'a str),
    Quoted(&'a str),
}

pub(super) fn write_row<'a>(
    out: &mut Out<'_>,
    fields: impl IntoIterator<Item = Field<'a>>,
) -> Result<()> {
    for (index, field) in fields.into_iter().enumerate() {
        if index > 0 {
            out.text(",")?;
        }
        match field {
            Field::Empty => {}
            Field::Bare(text) => out.text(text)?,
            Field::Quoted(text) => {
                out.text("\"")?;
                out.text(&text.replace('"', "\"\""))?;
                out.text("\"")?;
            }
        }
    }
    out.text("\n")
}
