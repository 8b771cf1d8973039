//! Every format, with labels and texts that it cannot hold as they are, read back by a parser that is
//! not ours: nothing is lost and nothing becomes markup. `scripts/check-exports.py` does the same with
//! the programs that the formats are for.

mod a_script_says_nothing_else;
mod each_namespace_goes_out_alone;
mod every_text_is_held;
#[path = "../support/labels.rs"]
mod labels;
