//! Which language a text is written in, as far as stemming and stop words care.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use super::script::{is_han, is_hangul, is_kana};
use super::stop_words::{stop_set, votes_for};
use super::words::for_each_word;

/// Language of a document.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Language {
    Portuguese,
    English,
    Spanish,
    German,
    French,
    Chinese,
    Japanese,
    Korean,
    /// Any other; words are matched as they stand.
    Other,
}

impl Language {
    /// Every language, in the order of the enumeration.
    pub const ALL: [Self; 9] = [
        Self::Portuguese,
        Self::English,
        Self::Spanish,
        Self::German,
        Self::French,
        Self::Chinese,
        Self::Japanese,
        Self::Korean,
        Self::Other,
    ];

    /// The languages that have stemmers and stop words.
    pub(super) const LATIN: [Self; 5] = [
        Self::Portuguese,
        Self::English,
        Self::Spanish,
        Self::German,
        Self::French,
    ];

    /// Name as stored and printed.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Portuguese => "portuguese",
            Self::English => "english",
            Self::Spanish => "spanish",
            Self::German => "german",
            Self::French => "french",
            Self::Chinese => "chinese",
            Self::Japanese => "japanese",
            Self::Korean => "korean",
            Self::Other => "other",
        }
    }
}

impl fmt::Display for Language {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// The name is none of [`Language::as_str`].
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "unknown language {0:?}; known are portuguese, english, spanish, german, french, chinese, japanese, korean, other"
)]
pub struct UnknownLanguage(String);

impl FromStr for Language {
    type Err = UnknownLanguage;

    fn from_str(name: &str) -> Result<Self, Self::Err> {
        Self::ALL
            .into_iter()
            .find(|language| language.as_str() == name)
            .ok_or_else(|| UnknownLanguage(name.to_owned()))
    }
}

/// Bytes of a text that are looked at.
const PREFIX: usize = 1_200;

/// Language of a text, from its first 1,200 bytes: by script, else by function words, else (a
/// short text) by its letters. Text in Latin letters that says nothing more is taken for English.
pub fn detect_language(text: &str) -> Language {
    let prefix = &text[..text.floor_char_boundary(PREFIX)];
    if !prefix.is_ascii()
        && let Some(language) = by_script(prefix)
    {
        return language;
    }
    by_function_words(prefix)
}

fn by_script(text: &str) -> Option<Language> {
    let (mut han, mut kana, mut hangul, mut latin_words, mut other) = (0, 0, 0, 0, 0);
    let mut in_word = false;
    for c in text.chars() {
        let latin = c.is_ascii_alphabetic()
            || matches!(c as u32, 0xC0..=0x24F | 0x300..=0x36F | 0x1E00..=0x1EFF);
        if latin && !in_word {
            latin_words += 1;
        }
        in_word = latin;
        if latin || c.is_ascii() {
        } else if is_kana(c) {
            kana += 1;
        } else if is_han(c) {
            han += 1;
        } else if is_hangul(c) {
            hangul += 1;
        } else if c.is_alphabetic() {
            other += 1;
        }
    }
    // A Latin word weighs like a character of the scripts without spaces, and four letters of others.
    let cjk = han + kana + hangul;
    if cjk.max(other / 4) <= latin_words {
        return None;
    }
    Some(if other / 4 > cjk {
        Language::Other
    } else if hangul * 2 > cjk {
        Language::Korean
    } else if kana * 20 > cjk {
        Language::Japanese
    } else {
        Language::Chinese
    })
}

fn by_function_words(text: &str) -> Language {
    let mut votes = [0_u32; Language::LATIN.len()];
    let mut letters = 0;
    for_each_word(text, |word| {
        letters += word.folded.len();
        let set = stop_set(word.folded);
        // A word of one language only says more than one of several.
        let vote = if set.is_power_of_two() { 3 } else { 1 };
        for (language, votes) in Language::LATIN.iter().zip(&mut votes) {
            if votes_for(set, *language) {
                *votes += vote;
            }
        }
    });
    for c in text.chars().filter(|c| !c.is_ascii()) {
        let hints: &[Language] = match c {
            'ã' | 'õ' | 'Ã' | 'Õ' => &[Language::Portuguese],
            'ç' | 'Ç' | 'ê' | 'â' | 'à' => &[Language::Portuguese, Language::French],
            'á' | 'í' | 'ó' | 'ú' | 'Á' | 'Í' | 'Ó' | 'Ú' => {
                &[Language::Portuguese, Language::Spanish]
            }
            'ñ' | 'Ñ' | '¿' | '¡' => &[Language::Spanish],
            'ß' | 'ä' | 'ö' | 'ü' | 'Ä' | 'Ö' | 'Ü' => &[Language::German],
            'è' | 'œ' | 'ù' | 'î' | 'û' | 'É' => &[Language::French],
            'é' => &[Language::Portuguese, Language::Spanish, Language::French],
            _ => &[],
        };
        for language in hints {
            votes[*language as usize] += if hints.len() == 1 { 2 } else { 1 };
        }
    }
    let best = votes.iter().copied().max().unwrap_or_default();
    let mut winners = Language::LATIN
        .into_iter()
        .zip(votes)
        .filter(|&(_, votes)| votes == best)
        .map(|(language, _)| language);
    let winner = winners.next().unwrap_or(Language::English);
    if best > 0 && winners.next().is_none() {
        return winner;
    }
    by_letters(text, letters).unwrap_or(Language::English)
}

/// A guess by letter statistics; only for texts long enough that it is better than the default.
fn by_letters(text: &str, letters: usize) -> Option<Language> {
    if letters < 24 {
        return None;
    }
    let detector = whatlang::Detector::with_allowlist(vec![
        whatlang::Lang::Por,
        whatlang::Lang::Eng,
        whatlang::Lang::Spa,
        whatlang::Lang::Deu,
        whatlang::Lang::Fra,
    ]);
    let info = detector.detect(text)?;
    if !info.is_reliable() {
        return None;
    }
    match info.lang() {
        whatlang::Lang::Por => Some(Language::Portuguese),
        whatlang::Lang::Spa => Some(Language::Spanish),
        whatlang::Lang::Deu => Some(Language::German),
        whatlang::Lang::Fra => Some(Language::French),
        _ => Some(Language::English),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn detects_the_language() {
        let check = |text: &str, expected| assert_eq!(detect_language(text), expected, "{text:?}");
        check(
            "A ponte foi construída pelos engenheiros da cidade em 1932.",
            Language::Portuguese,
        );
        check(
            "a reuniao foi marcada para a proxima semana",
            Language::Portuguese,
        );
        check("Reunião", Language::Portuguese);
        check(
            "The bridge was built by the engineers of the town.",
            Language::English,
        );
        check(
            "El puente fue construido por los ingenieros de la ciudad.",
            Language::Spanish,
        );
        check(
            "Die Brücke wurde von den Ingenieuren der Stadt gebaut.",
            Language::German,
        );
        check(
            "Le pont a été construit par les ingénieurs de la ville.",
            Language::French,
        );
        check("今天玩成语接龙游戏", Language::Chinese);
        check("今日は成語しりとりをした", Language::Japanese);
        check("오늘 끝말잇기 게임을 했다", Language::Korean);
        check(
            "用 Rust 写一个搜索引擎 (search engine) 的笔记",
            Language::Chinese,
        );
        check("The word 成语 is Chinese", Language::English);
        check("Мост построили инженеры города", Language::Other);
        check("", Language::English);
        check("ok", Language::English);
        check("12345 !!!", Language::English);
    }

    #[test]
    fn names_are_read_back() {
        for language in Language::ALL {
            assert_eq!(language.as_str().parse(), Ok(language));
            assert_eq!(serde_json::json!(language), language.as_str());
        }
        assert!("klingon".parse::<Language>().is_err());
    }

    #[test]
    fn the_prefix_ends_on_a_character() {
        assert_eq!(
            detect_language(&format!("x{}", "語".repeat(5_000))),
            Language::Chinese
        );
    }
}
