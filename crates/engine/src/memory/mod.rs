//! Facts as people and agents give them: stated, ended by what follows them, taken back, undone.

mod exclusive;

pub(crate) use exclusive::settle;
