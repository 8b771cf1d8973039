//! Short lists of function words, in folded form.

use std::sync::LazyLock;

use rustc_hash::FxHashMap;

use super::Language;

const PORTUGUESE: &str = "a ao aos aquela aquelas aquele aqueles aquilo as ate com como da das de dela delas dele \
    deles desde dessa dessas desse desses desta destas deste destes disso disto do dos e ela elas ele eles em entao \
    entre era eram essa essas esse esses esta estao estas estava este estes eu foi foram ha isso isto ja la lhe lhes \
    lo mais mas me mesma mesmo meu meus minha minhas muito na nao nas nem nessa nesse nesta neste no nos nossa nossas \
    nosso nossos num numa o onde os ou para pela pelas pelo pelos por porque pois qual quais quando quanto quantos \
    quantas que quem se seja sem ser sera seu seus so sobre sua suas tambem tao te tem tendo ter teve tinha um uma \
    umas uns voce voces";

const ENGLISH: &str = "a about after again all also am an and any are as at be because been before being between both \
    but by can could d did do does doing don down during each few for from further had has have having he her here \
    hers him his how i if in into is it its itself just ll me more most my no nor not now of off on once only or other \
    our ours out over own re s same she should so some such t than that the their theirs them then there these they \
    this those through to too under until up upon us ve very was we were what when where which while who whom whose \
    why will with would you your yours";

const SPANISH: &str = "a al algo ante antes aquel aquella aquellas aquello aquellos asi aun aunque cada como con cual \
    cuales cuando cuanta cuantas cuanto cuantos de del desde donde dos e el ella ellas ellos en entre era eran es esa \
    esas ese eso esos esta estaba estan estas este esto estos fue fueron ha habia han hasta hay la las le les lo los \
    mas me mi mis mucho muy ni no nos nosotros o otra otras otro otros para pero poco por porque pues que quien \
    quienes se sea ser si sido sin sobre son su sus tambien tan tanto te tiene tienen todo tu tus un una unas uno unos \
    usted ustedes y ya yo";

const GERMAN: &str = "aber alle allem allen aller alles als also am an auch auf aus bei beim bin bis bist da damit dann \
    das dass dem den denn der des dessen deren die dies diese diesem diesen dieser dieses doch dort du durch ein eine \
    einem einen einer eines er es euch fur gegen hat hatte hatten habe haben hier ich ihm ihn ihnen ihr ihre ihrem \
    ihren ihrer im in ins ist ja jede jedem jeden jeder jedes jene kann kein keine keinen konnen konnte mehr mein \
    meine mich mir mit nach nicht noch nun nur ob oder ohne sehr sein seine seinem seinen seiner sich sie sind so \
    solche soll sondern sonst uber um und uns unter vom von vor wann war waren warum was welche welchem welchen \
    welcher welches wem wen wenn wer werden wessen wie wieder wieviel will wir wird wo wurde wurden zu zum zur zwischen";

const FRENCH: &str = "a ai au aux avait avec avoir c ce ceci cela celle celles celui ces cet cette ceux chez comme \
    comment d dans de des du elle elles en encore entre es est et etaient etait ete etre eu eux fait il ils j je jusqu \
    l la le les leur leurs lui m ma mais me meme mes moi mon n ne ni nos notre nous on ont ou par parce pas pendant \
    peu peut plus pour pourquoi qu quand que quel quelle quelles quels qui quoi s sa sans se ses si soi son sont sous \
    sur t ta te tes toi ton tous tout toute toutes tres tu un une vers vos votre vous y";

/// Function characters of Chinese; a pair of them is a stop word too.
const CHINESE: &str =
    "的了是在和与及或而也就都又还把被从向对于这那哪什么谁吗呢吧啊其之以为所何并但由有没不个们";

/// Particles of Japanese; a pair of them is a stop word too.
const JAPANESE: &str = "のはがをにへとでもやかなねよしてだるれたいそこあ";

/// Particles of Korean.
const KOREAN: &str = "은는이가을를의에도와과로";

type Set = u8;

static WORDS: LazyLock<FxHashMap<&'static str, Set>> = LazyLock::new(|| {
    let mut sets = FxHashMap::default();
    for (language, list) in [
        (Language::Portuguese, PORTUGUESE),
        (Language::English, ENGLISH),
        (Language::Spanish, SPANISH),
        (Language::German, GERMAN),
        (Language::French, FRENCH),
    ] {
        for word in list.split_whitespace() {
            *sets.entry(word).or_default() |= bit(language);
        }
    }
    sets
});

fn bit(language: Language) -> Set {
    1 << language as u8
}

/// No stop word of a Latin language is longer.
const LONGEST: usize = 10;

/// Languages that have this folded word as a stop word, a bit each (see [`votes_for`]).
pub(super) fn stop_set(folded: &str) -> Set {
    if folded.len() > LONGEST {
        return 0;
    }
    WORDS.get(folded).copied().unwrap_or_default()
}

/// Whether a set of [`stop_set`] contains the language.
pub(super) fn votes_for(set: Set, language: Language) -> bool {
    set & bit(language) != 0
}

/// Whether a folded word (or a term of one or two characters of a script without spaces) carries no
/// meaning of its own in this language.
pub fn is_stop_word(folded: &str, language: Language) -> bool {
    match language {
        Language::Chinese => all_in(folded, CHINESE),
        Language::Japanese => all_in(folded, JAPANESE),
        Language::Korean => all_in(folded, KOREAN),
        Language::Other => false,
        _ => votes_for(stop_set(folded), language),
    }
}

/// Whether a folded word is a stop word in this language or in English, words of which stand in texts of every
/// language.
pub fn is_stop_word_here(folded: &str, language: Language) -> bool {
    let set = stop_set(folded);
    votes_for(set, Language::English)
        || match language {
            Language::Chinese | Language::Japanese | Language::Korean => {
                is_stop_word(folded, language)
            }
            Language::Other => false,
            _ => votes_for(set, language),
        }
}

fn all_in(folded: &str, list: &str) -> bool {
    !folded.is_empty() && folded.chars().all(|c| list.contains(c))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stop_words_by_language() {
        let check = |word, language, expected| {
            assert_eq!(
                is_stop_word(word, language),
                expected,
                "{word} {language:?}"
            );
        };
        check("the", Language::English, true);
        check("the", Language::Portuguese, false);
        check("nao", Language::Portuguese, true);
        check("die", Language::German, true);
        check("die", Language::English, false);
        check("qui", Language::French, true);
        check("del", Language::Spanish, true);
        check("的", Language::Chinese, true);
        check("的是", Language::Chinese, true);
        check("的人", Language::Chinese, false);
        check("", Language::Chinese, false);
        check("the", Language::Other, false);
    }

    #[test]
    fn lists_are_written_in_folded_form() {
        for list in [PORTUGUESE, ENGLISH, SPANISH, GERMAN, FRENCH] {
            for word in list.split_whitespace() {
                assert_eq!(super::super::fold(word), word);
                assert!(word.len() <= LONGEST, "{word}");
            }
        }
    }
}
