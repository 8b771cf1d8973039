use serde::{Deserialize, Serialize};

/// Why two names may mean one thing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum MergeRule {
    /// They differ in blanks and signs only.
    SameLetters,
    /// A text calls the one thing by both.
    StatedAlias,
    /// One is the other with "Ltd" or the like.
    LegalForm,
    /// The same words in another form: a plural, a case.
    Inflection,
    /// The same name in another script, or transcribed in another way.
    Transliteration,
    /// First letters of the other one's words.
    Acronym,
    /// The other one with names left out, or as initials.
    Initials,
    /// A person's surname or first name alone.
    PartOfName,
    /// Words that describe what the other one does.
    Description,
    /// Written almost alike.
    Similar,
    /// What is said of them is alike: their vectors are near.
    Alike,
    /// Types and descriptions that one name's readings do not share.
    SameName,
    /// The other one is a document, and this its title or one of its aliases.
    Document,
    /// Nothing but a decision.
    Decided,
}

text_names!(MergeRule {
    SameLetters => "same_letters", StatedAlias => "stated_alias", LegalForm => "legal_form",
    Inflection => "inflection", Transliteration => "transliteration", Acronym => "acronym",
    Initials => "initials", PartOfName => "part_of_name", Description => "description",
    Similar => "similar", Alike => "alike", SameName => "same_name", Document => "document",
    Decided => "decided",
});

/// What became of a pair of names.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum MergeStatus {
    /// One entity.
    Merged,
    /// Two, until somebody decides.
    Proposed,
    /// Two, as was decided.
    Apart,
}

text_names!(MergeStatus { Merged => "merged", Proposed => "proposed", Apart => "apart" });

/// A pair of names that may mean one thing.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct MergeView {
    pub id: i64,
    /// The name that goes into the other one.
    pub one: String,
    pub other: String,
    pub rule: MergeRule,
    pub status: MergeStatus,
    /// `user` or `model`; `None` where nobody decided.
    pub decided_by: Option<String>,
}
