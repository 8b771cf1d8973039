//! Words that stand for something and name nothing.

use crate::text::{Language, fold, is_stop_word};

/// Words that point at what was named before or after, in folded form.
const POINTING: &str = "i me my mine myself he him his himself she her hers herself it its itself we us our ours ourselves \
    they them their theirs themselves you your yours yourself this that these those who whom whose which what someone \
    somebody everyone everybody one ones both \
    eu tu ele ela eles elas voce voces isto isso aquilo este esta estes estas esse essa esses essas aquele aquela aqueles \
    aquelas quem seu sua seus suas dele dela deles delas ambos ambas \
    yo usted ustedes ellos ellas ello nosotros nosotras quien quienes aquel aquella \
    je il ils elle elles nous vous ceci cela celui celle ceux celles lui leur \
    ich er sie wir ihr ihm ihnen dieser diese dieses diesem diesen jener jene jenes";

/// Characters that do the same in Chinese, Japanese and Korean, with those that make them many or whose.
const POINTING_CHARACTERS: &str = "我你您他她它咱俺们這这那此其彼己某僕私女これそあ그녀나너";

/// Whether a name stands for something without naming it: "she", "他", "of the". What is written in capitals is a name
/// made of initials.
pub(super) fn is_nameless(name: &str) -> bool {
    let is_capital = |c: char| c.is_uppercase() || !c.is_alphabetic();
    if name.is_ascii() && name != "I" && name.chars().all(is_capital) {
        return false;
    }
    let folded = fold(name);
    if !folded.is_ascii() {
        return folded.chars().all(|c| POINTING_CHARACTERS.contains(c));
    }
    let mut words = folded.split(|c: char| !c.is_alphanumeric()).peekable();
    let is_pointing = |word: &str| POINTING.split_whitespace().any(|known| known == word);
    // "Will" may be somebody; "will" is not.
    let is_small = !name.contains(char::is_uppercase);
    let is_function = |word: &str| {
        is_small
            && Language::ALL
                .iter()
                .any(|&language| is_stop_word(word, language))
    };
    words.peek().is_some() && words.all(|word| is_pointing(word) || is_function(word))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_points_is_told_from_what_names() {
        let check = |name: &str, expected: bool| assert_eq!(is_nameless(name), expected, "{name}");
        for name in [
            "She",
            "she",
            "Ela",
            "eles",
            "Elle",
            "It",
            "I",
            "他",
            "她们",
            "これ",
            "of the",
            "the other",
            "Who",
            "isso",
            "He himself",
        ] {
            check(name, true);
        }
        for name in [
            "Ana",
            "IT",
            "WHO",
            "US",
            "C",
            "A",
            "Will",
            "The Who",
            "Al",
            "Ma",
            "她的城市",
            "那霸",
            "Ela Prado",
            "1984",
            "他山之石",
            "B2",
            "?",
        ] {
            check(name, false);
        }
    }
}
