//! Text as the whole engine sees it: one code for documents, names and questions.
//!
//! - [`fold`] and [`squash`]: canonical forms for comparing names; [`simplify`]: traditional Chinese as simplified.
//! - [`words`] and [`for_each_word`]: words with their byte spans and folded forms.
//! - [`index_terms`] and [`query_terms`]: plain search terms, already stemmed, for the full-text index.
//! - [`near_names`]: which known names one that is not known may mean.
//! - [`detect_language`], [`is_stop_word`].

mod fold;
mod language;
mod likeness;
mod name;
mod script;
mod sentences;
mod simplified;
mod stem;
mod stop_words;
mod terms;
mod token_count;
mod words;

pub use fold::{fold, squash};
pub use language::{Language, detect_language};
pub use likeness::{letters_apart, near_names};
pub use name::{clean_name, is_better_name, name_key};
pub use sentences::sentences;
pub use simplified::simplify;
pub use stop_words::{is_stop_word, is_stop_word_here};
pub use terms::{QueryTerm, Tokenizer, index_terms, query_terms};
pub use token_count::count_tokens;
pub use words::{Word, WordKind, WordRef, for_each_word, words};
