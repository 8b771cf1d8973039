//! Facts as people, agents and files give them: named, dated, ended by what follows them, taken back, undone.

mod claim;
mod confidence;
mod episode;
mod exclusive;
mod likeness;
mod period;
mod statement;

pub(crate) use claim::buried_claim;
pub(crate) use confidence::faded;
pub(crate) use episode::{Composed, compose};
pub(crate) use exclusive::settle;
pub(crate) use likeness::{likeness, terms};
pub(crate) use period::Period;
pub(crate) use statement::{Stated, UNTYPED, Writer, Written, buried_fact, entity_of_name};
