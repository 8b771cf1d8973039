//! Facts as people, agents and files give them: named, dated, ended by what follows them, taken back, undone.

mod episode;
mod exclusive;
mod period;
mod statement;

pub(crate) use episode::{Composed, compose};
pub(crate) use exclusive::settle;
pub(crate) use period::Period;
pub(crate) use statement::{Stated, UNTYPED, Writer, Written, buried_fact};
