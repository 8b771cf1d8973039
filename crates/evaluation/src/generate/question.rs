use super::lexicon::{Tongue, Words};
use crate::rng::Rng;

/// A question around two names.
pub(super) fn ask(tongue: Tongue, words: &Words, one: &str, two: &str, rng: &mut Rng) -> String {
    let mut word = || words.draw_rare(rng).to_owned();
    let (a, b, c) = (word(), word(), word());
    match (tongue, rng.below(3)) {
        (Tongue::English, 0) => {
            format!("What did {one} say about the {a} and the {b} of {two} in that year?")
        }
        (Tongue::English, 1) => {
            format!("Which {a} was used by {one} when they came to the {b} near {two}?")
        }
        (Tongue::English, _) => {
            format!("How is the {a} of {two} related to the work on {b} and {c} by {one}?")
        }
        (Tongue::Portuguese, 0) => {
            format!("O que {one} disse sobre {a} e {b} quando chegou à casa de {two}?")
        }
        (Tongue::Portuguese, 1) => {
            format!("Qual foi a parte de {a} que {one} fez no trabalho com {two} e {b}?")
        }
        (Tongue::Portuguese, _) => {
            format!("Como {two} está relacionado com {a}, {b} e {c} no tempo em que {one} vivia?")
        }
        (Tongue::Chinese, 0) => {
            format!("{one}在什么时候提到了{two}的{a}和{b}，当时的情况是怎样的？")
        }
        (Tongue::Chinese, 1) => format!("关于{two}的{a}，{one}做了哪些和{b}有关的工作？"),
        (Tongue::Chinese, _) => format!("为什么{one}认为{two}的{a}和{b}以及{c}有关系？"),
    }
}
