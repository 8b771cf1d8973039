//! A small learned ranker: the order of the graph lane's candidates by what lanes and graph say of them, without
//! reading a word. Trained by `malha eval train`.

mod built_in;
mod features;
mod trees;

pub use built_in::Rankers;
pub use features::{FEATURES, Features, NAMES};
pub use trees::{Ranker, RankerError, Split, Tree};
