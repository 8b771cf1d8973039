//! Stems of folded words, cached.

use rust_stemmers::{Algorithm, Stemmer};
use rustc_hash::FxHashMap;

use super::Language;

/// Cached stems of one language; emptied when full, so that memory stays bounded.
const CACHE_LIMIT: usize = 1 << 16;
/// Longer words are identifiers or encoded data: they have no stem, and are not worth caching.
const LONGEST: usize = 32;

struct Cached {
    stemmer: Stemmer,
    stems: FxHashMap<Box<str>, Box<str>>,
}

/// Stems words of any language; one per thread.
#[derive(Default)]
pub(super) struct Stems {
    languages: [Option<Cached>; Language::LATIN.len()],
}

impl Stems {
    /// The stem of a folded word: [Snowball](https://snowballstem.org) with the accents that its suffix
    /// rules need restored, so that a text without accents gets the same stems as one with them.
    pub(super) fn stem<'a>(&'a mut self, folded: &'a str, language: Language) -> &'a str {
        let Some(algorithm) = algorithm(language) else {
            return folded;
        };
        if folded.len() < 3
            || folded.len() > LONGEST
            || !folded.bytes().all(|b| b.is_ascii_lowercase())
        {
            return folded;
        }
        let cached = self.languages[language as usize].get_or_insert_with(|| Cached {
            stemmer: Stemmer::create(algorithm),
            stems: FxHashMap::default(),
        });
        if !cached.stems.contains_key(folded) {
            if cached.stems.len() >= CACHE_LIMIT {
                cached.stems.clear();
            }
            let accented = restore_accents(folded, language);
            let stem = super::fold(&cached.stemmer.stem(accented.as_deref().unwrap_or(folded)));
            cached.stems.insert(folded.into(), stem.into());
        }
        &cached.stems[folded]
    }
}

fn algorithm(language: Language) -> Option<Algorithm> {
    match language {
        Language::Portuguese => Some(Algorithm::Portuguese),
        Language::English => Some(Algorithm::English),
        Language::Spanish => Some(Algorithm::Spanish),
        Language::German => Some(Algorithm::German),
        Language::French => Some(Algorithm::French),
        Language::Chinese | Language::Japanese | Language::Korean | Language::Other => None,
    }
}

/// Endings without accents, and as the stemmers' rules know them; the first that fits. Snowball leaves
/// Portuguese plurals in `-ões`, `-ns` and `-is` apart from their singulars, so they become those.
const PORTUGUESE: [(&str, &str); 12] = [
    ("oes", "ão"),
    ("ao", "ão"),
    ("avel", "ável"),
    ("aveis", "ável"),
    ("ivel", "ível"),
    ("iveis", "ível"),
    ("encia", "ência"),
    ("encias", "ência"),
    ("ancia", "ância"),
    ("ancias", "ância"),
    ("ais", "al"),
    ("ns", "m"),
];
const SPANISH: [(&str, &str); 4] = [
    ("cion", "ción"),
    ("sion", "sión"),
    ("logia", "logía"),
    ("logias", "logías"),
];
const FRENCH: [(&str, &str); 4] = [
    ("ee", "ée"),
    ("ees", "ées"),
    ("ite", "ité"),
    ("ites", "ités"),
];

fn restore_accents(folded: &str, language: Language) -> Option<String> {
    let suffixes: &[(&str, &str)] = match language {
        Language::Portuguese => &PORTUGUESE,
        Language::Spanish => &SPANISH,
        Language::French => &FRENCH,
        _ => return None,
    };
    suffixes.iter().find_map(|(plain, accented)| {
        folded
            .strip_suffix(plain)
            .map(|stem| format!("{stem}{accented}"))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn forms_of_a_word_share_a_stem() {
        let mut stems = Stems::default();
        let mut check = |language, words: &[&str]| {
            let all: Vec<String> = words
                .iter()
                .map(|word| stems.stem(&super::super::fold(word), language).to_owned())
                .collect();
            assert!(
                all.windows(2).all(|pair| pair[0] == pair[1]),
                "{words:?}: {all:?}"
            );
        };
        check(Language::Portuguese, &["ação", "acao", "ações", "acoes"]);
        check(
            Language::Portuguese,
            &["informação", "informações", "informacao"],
        );
        check(
            Language::Portuguese,
            &["construída", "construídas", "construido"],
        );
        check(
            Language::English,
            &["connection", "connections", "connected"],
        );
        check(Language::Spanish, &["nación", "naciones", "nacion"]);
        check(Language::German, &["Häuser", "hauser"]);
        check(Language::French, &["parlée", "parlées", "parlee"]);
        check(Language::Other, &["word"]);
    }

    #[test]
    fn leaves_alone_what_has_no_stem() {
        let mut stems = Stems::default();
        let mut check = |word: &str| assert_eq!(stems.stem(word, Language::English), word);
        check("as");
        check("x86");
        check("語");
        check(&"ings".repeat(20));
    }
}
