//! Entries of the bug log about vaults, each through the whole engine: files in, the store's answers out.

mod links_lead_where_they_say;
mod names_stay_who_they_are;
mod texts_come_back_as_they_were;
#[path = "../support/vault.rs"]
mod vault;
