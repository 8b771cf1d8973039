//! Sentences that state a decision, by words that go with it in several languages.

use crate::text::fold;

/// Words as they fold, with blanks around them: lower case, no accents.
const WORDS: &[&str] = &[
    // English
    " decided ",
    " decision ",
    " we will use ",
    " i will use ",
    " chose ",
    " chosen ",
    " opted ",
    " instead of ",
    " settled on ",
    " going with ",
    // Portuguese
    " decidi ",
    " decidimos ",
    " decisao ",
    " optei ",
    " optamos ",
    " escolhi ",
    " escolhemos ",
    " vamos usar ",
    " em vez de ",
    // Spanish
    " decidimos ",
    " elegi ",
    " elegimos ",
    " vamos a usar ",
    " en lugar de ",
    " en vez de ",
    // German
    " entschieden ",
    " entscheidung ",
    " stattdessen ",
    " statt ",
    // French
    " decide de ",
    " avons decide ",
    " ai choisi ",
    " avons choisi ",
    " au lieu de ",
    // Italian
    " deciso ",
    " decisione ",
    " scelto ",
    " invece di ",
];
/// Where words are not set apart by blanks.
const UNSPACED: &[&str] = &[
    "决定",
    "選擇",
    "选择",
    "改用",
    "決定",
    "に決め",
    "採用する",
    "하기로",
];
/// Letters of a sentence that are kept.
const MOST_LETTERS: usize = 300;

/// The lines of `text` that state a decision, outside code blocks.
pub(super) fn decisions(text: &str) -> Vec<String> {
    let mut in_code = false;
    let mut found = Vec::new();
    for line in text.lines() {
        if line.trim_start().starts_with("```") {
            in_code = !in_code;
        } else if !in_code && states_decision(line) {
            let line = line.trim().trim_start_matches(['-', '*', '#', '>', ' ']);
            found.push(line.chars().take(MOST_LETTERS).collect());
        }
    }
    found
}

fn states_decision(line: &str) -> bool {
    let folded: String = fold(line)
        .chars()
        .map(|c| if c.is_alphanumeric() { c } else { ' ' })
        .collect();
    let words: Vec<&str> = folded.split_whitespace().collect();
    let padded = format!(" {} ", words.join(" "));
    WORDS.iter().any(|word| padded.contains(word))
        || UNSPACED.iter().any(|word| line.contains(word))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn decisions_of_several_languages() {
        let check = |text: &str, expected: &[&str]| assert_eq!(decisions(text), expected, "{text}");
        check(
            "I read the file.\n- **Decision:** use SQLite.\nDone.",
            &["Decision:** use SQLite."],
        );
        check("Optei por um índice só.", &["Optei por um índice só."]);
        check("Tomei a decisão de parar", &["Tomei a decisão de parar"]);
        check(
            "Wir haben uns entschieden.",
            &["Wir haben uns entschieden."],
        );
        check("我们决定改用它", &["我们决定改用它"]);
        check("The undecided chosenness of it", &[]);
        check("```\nlet decision = 1; // decided\n```\nfine", &[]);
    }
}
