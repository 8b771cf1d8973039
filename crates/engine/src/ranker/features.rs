//! What a candidate is judged by: numbers of the lanes and of the graph, none of its text.

/// How many features there are.
pub const FEATURES: usize = 20;

/// Their names, in the order of [`Features`]; weights name the ones they were trained with.
pub const NAMES: [&str; FEATURES] = [
    "walk_mass",
    "near_mass",
    "word_mass",
    "walk_rank",
    "keyword_rank",
    "keyword_score",
    "vector_rank",
    "vector_score",
    "to_title",
    "from_title",
    "shared_name",
    "title_asked",
    "names_held",
    "names_missing",
    "bridge_mass",
    "title_mass",
    "link_distance",
    "mentions",
    "names_asked",
    "best_rarity",
];

/// The features of one candidate.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Features {
    /// Logarithm of its mass as a share of the best one, in the walk of the recipe.
    pub walk_mass: f64,
    /// The same in a walk that returns to the question's names more often and hardly starts at words.
    pub near_mass: f64,
    /// The same in a walk that starts at words as much as at names.
    pub word_mass: f64,
    /// 1 / rank by mass, 0 beyond the candidates of the walk.
    pub walk_rank: f64,
    /// 1 / rank in the keyword lane, and its score as a share of the best one; 0 where it did not find it.
    pub keyword_rank: f64,
    pub keyword_score: f64,
    /// 1 / rank in the vector lane, and how much less near than the nearest passage it is; 0 without vectors.
    pub vector_rank: f64,
    pub vector_score: f64,
    /// Connections to the best chunks, see `retrieval/bridge.rs`.
    pub to_title: f64,
    pub from_title: f64,
    pub shared_name: f64,
    /// 1 when the question names its title.
    pub title_asked: f64,
    /// Share of the question's names that it mentions or bears, by specificity, and how many it lacks.
    pub names_held: f64,
    pub names_missing: f64,
    /// Logarithm of the mass that stands at the names it mentions, and of that at its title.
    pub bridge_mass: f64,
    pub title_mass: f64,
    /// 1 / (1 + relations between its title and a name of the question); 0 when there is no short way.
    pub link_distance: f64,
    /// Logarithm of the number of names that it mentions.
    pub mentions: f64,
    /// The same for every candidate of a question: its names, and the rarity of the surest one.
    pub names_asked: f64,
    pub best_rarity: f64,
}

impl Features {
    /// In the order of [`NAMES`].
    pub fn values(&self) -> [f64; FEATURES] {
        [
            self.walk_mass,
            self.near_mass,
            self.word_mass,
            self.walk_rank,
            self.keyword_rank,
            self.keyword_score,
            self.vector_rank,
            self.vector_score,
            self.to_title,
            self.from_title,
            self.shared_name,
            self.title_asked,
            self.names_held,
            self.names_missing,
            self.bridge_mass,
            self.title_mass,
            self.link_distance,
            self.mentions,
            self.names_asked,
            self.best_rarity,
        ]
    }
}
