//! The weights of this repository, as `malha eval train` wrote them.

use std::sync::LazyLock;

use super::Ranker;

/// Rankers for stores without vectors and with them: the features of the vector lane mean nothing in the former.
#[derive(Debug, Clone, PartialEq)]
pub struct Rankers {
    pub words: Ranker,
    pub vectors: Ranker,
}

static BUILT_IN: LazyLock<Rankers> = LazyLock::new(|| {
    let read = |json| Ranker::from_json(json).expect("a test reads the weights of this repository");
    Rankers {
        words: read(include_str!("words.json")),
        vectors: read(include_str!("vectors.json")),
    }
});

impl Rankers {
    /// Those that come with the program.
    pub fn built_in() -> &'static Self {
        &BUILT_IN
    }

    /// The same ranker in both cases.
    pub fn both(ranker: Ranker) -> Self {
        Self {
            words: ranker.clone(),
            vectors: ranker,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_weights_of_this_repository_are_whole() {
        let rankers = Rankers::built_in();
        for ranker in [&rankers.words, &rankers.vectors] {
            assert!(!ranker.trees.is_empty());
            assert_eq!(ranker.trained_on, ["musique", "2wiki", "hotpotqa"]);
        }
        assert_ne!(rankers.words, rankers.vectors);
    }
}
