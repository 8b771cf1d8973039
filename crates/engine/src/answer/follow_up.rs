//! Questions that only make sense after another one.

use crate::text::{Language, detect_language, words};

/// Words that stand for somebody or something named before. Words that a question may hold for other reasons, such as
/// `it` or `that`, only count where it names nothing.
const PRONOUNS: &[&str] = &[
    "he", "she", "they", "him", "her", "them", "his", "hers", "their", "theirs", "ele", "ela",
    "eles", "elas", "dele", "dela", "deles", "delas", "nele", "nela",
];
const PRONOUNS_CHINESE: &[&str] = &["他", "她", "它", "其"];

/// The question with what it is about, where it does not say so itself: it names nothing known, or has a pronoun.
/// `None` where it stands alone, or nothing was named before.
pub fn standalone(question: &str, names: usize, subject: &[String]) -> Option<String> {
    if subject.is_empty() || (names > 0 && !has_pronoun(question)) {
        return None;
    }
    Some(format!("{} ({})", question.trim(), subject.join(", ")))
}

fn has_pronoun(question: &str) -> bool {
    if detect_language(question) == Language::Chinese {
        return PRONOUNS_CHINESE.iter().any(|word| question.contains(word));
    }
    words(question)
        .iter()
        .any(|word| PRONOUNS.contains(&&*word.folded))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_question_leaves_out_comes_from_the_one_before() {
        let subject = ["Kiln".to_owned(), "Ana Prado".to_owned()];
        let check = |question: &str, names, expected: Option<&str>| {
            assert_eq!(standalone(question, names, &subject).as_deref(), expected);
        };
        check("And when?", 0, Some("And when? (Kiln, Ana Prado)"));
        check(
            "What did she sell to the Council?",
            1,
            Some("What did she sell to the Council? (Kiln, Ana Prado)"),
        );
        check(
            "O que ela vendeu?",
            0,
            Some("O que ela vendeu? (Kiln, Ana Prado)"),
        );
        check("她卖了什么？", 1, Some("她卖了什么？ (Kiln, Ana Prado)"));
        check("Who runs the Mill?", 1, None);
        assert_eq!(standalone("And when?", 0, &[]), None);
    }
}
