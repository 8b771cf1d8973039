//! Queries in openCypher on a store: what they find, in which names and at which time, and that nothing in a
//! query, a parameter or a name can change what is stored.

#[path = "../support/asked.rs"]
mod asked;
#[path = "../support/facts.rs"]
mod facts;
#[path = "../metaqa/mod.rs"]
mod metaqa;
mod names_are_known_in_every_spelling;
mod nothing_is_changed;
mod queries_find_what_is_stored;
#[path = "../random_queries/mod.rs"]
mod random_queries;
