//! Stems of folded words, cached.

use rust_stemmers::{Algorithm, Stemmer};
use rustc_hash::FxHashMap;

use super::Language;

/// Stems kept per language; all are dropped when there are more, so that memory stays bounded.
const CACHE_LIMIT: usize = 1 << 16;
/// Longer words are identifiers or encoded data and have no stem.
const LONGEST: usize = 32;
/// Longer words are stemmed anew each time.
const LONGEST_CACHED: usize = 16;

struct Cached {
    stemmer: Stemmer,
    /// By the bytes of the word, padded with zeros.
    stems: FxHashMap<(u64, u64), Stem>,
}

/// A stem as a change to its word: how many bytes stay, and what follows them (padded with zeros).
#[derive(Clone, Copy)]
struct Stem {
    kept: u8,
    added: [u8; 3],
}

/// Stems words of any language; one per thread.
#[derive(Default)]
pub(super) struct Stems {
    languages: [Option<Cached>; Language::LATIN.len()],
}

impl Stems {
    /// Appends the stem of a folded word: [Snowball](https://snowballstem.org) with the accents that its
    /// suffix rules need restored, so that a text without accents gets the same stems as one with them.
    pub(super) fn push_stem(&mut self, folded: &str, language: Language, out: &mut String) {
        let Some(algorithm) = algorithm(language) else {
            return out.push_str(folded);
        };
        let bytes = folded.as_bytes();
        if bytes.len() < 3 || bytes.len() > LONGEST || !bytes.iter().all(u8::is_ascii_lowercase) {
            return out.push_str(folded);
        }
        let cached = self.languages[language as usize].get_or_insert_with(|| Cached {
            stemmer: Stemmer::create(algorithm),
            stems: FxHashMap::default(),
        });
        let key = cache_key(bytes);
        if let Some(stem) = key.and_then(|key| cached.stems.get(&key)) {
            return stem.push(folded, out);
        }
        let accented = restore_accents(folded, language);
        let stem = super::fold(&cached.stemmer.stem(accented.as_deref().unwrap_or(folded)));
        out.push_str(&stem);
        if let Some(key) = key
            && let Some(stem) = Stem::of(folded, &stem)
        {
            if cached.stems.len() >= CACHE_LIMIT {
                cached.stems.clear();
            }
            cached.stems.insert(key, stem);
        }
    }
}

fn cache_key(word: &[u8]) -> Option<(u64, u64)> {
    if word.len() > LONGEST_CACHED {
        return None;
    }
    let mut key = [0; LONGEST_CACHED];
    key[..word.len()].copy_from_slice(word);
    let (low, high) = key.split_at(8);
    let number = |half: &[u8]| u64::from_le_bytes(half.try_into().expect("eight bytes"));
    Some((number(low), number(high)))
}

impl Stem {
    /// `None` when the stem differs from the word by more than a few ASCII letters at its end.
    fn of(word: &str, stem: &str) -> Option<Self> {
        let kept = word
            .bytes()
            .zip(stem.bytes())
            .take_while(|(word, stem)| word == stem)
            .count();
        let rest = &stem.as_bytes()[kept..];
        let mut added = [0; 3];
        if rest.len() > added.len() || !rest.is_ascii() {
            return None;
        }
        added[..rest.len()].copy_from_slice(rest);
        Some(Self {
            kept: kept as u8,
            added,
        })
    }

    fn push(self, word: &str, out: &mut String) {
        out.push_str(&word[..usize::from(self.kept)]);
        for byte in self.added {
            if byte == 0 {
                return;
            }
            out.push(char::from(byte));
        }
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
const PORTUGUESE: [(&str, &str); 14] = [
    ("coes", "ção"),
    ("cao", "ção"),
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

    /// The stem, which is the same when it comes from the cache.
    fn stem(stems: &mut Stems, word: &str, language: Language) -> String {
        let [first, second] = [(), ()].map(|()| {
            let mut out = String::new();
            stems.push_stem(&super::super::fold(word), language, &mut out);
            out
        });
        assert_eq!(first, second, "{word}");
        first
    }

    #[test]
    fn forms_of_a_word_share_a_stem() {
        let mut stems = Stems::default();
        let mut check = |language, words: &[&str]| {
            let all: Vec<String> = words
                .iter()
                .map(|word| stem(&mut stems, word, language))
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
        check(Language::English, &["happy", "happiness"]);
        check(
            Language::English,
            &["internationalisations", "internationalisation"],
        );
        check(Language::Other, &["word"]);
    }

    #[test]
    fn leaves_alone_what_has_no_stem() {
        let mut stems = Stems::default();
        let mut check = |word: &str| assert_eq!(stem(&mut stems, word, Language::English), word);
        check("as");
        check("x86");
        check("語");
        check(&"ings".repeat(20));
    }
}
