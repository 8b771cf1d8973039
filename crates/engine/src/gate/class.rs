//! What kind of thing a question asks for, for telemetry.

use super::pieces::pieces;
use crate::text::fold;
use crate::types::{GateDecision, QueryClass};

/// Words of questions after one fact, folded.
const POINT_WORDS: [&str; 24] = [
    "when", "where", "who", "whom", "whose", "which", "what", "many", "much", "quando", "onde",
    "quem", "qual", "quais", "quanto", "quanta", "quantos", "quantas", "cuando", "donde", "quien",
    "cual", "wann", "wer",
];
const POINT_PHRASES: [&str; 9] = [
    "多少",
    "几个",
    "谁",
    "哪",
    "什么时候",
    "何时",
    "多长",
    "多大",
    "什么",
];
/// Words of questions after how things hang together, folded.
const RELATION_WORDS: [&str; 22] = [
    "between",
    "related",
    "relation",
    "relationship",
    "connected",
    "connection",
    "linked",
    "links",
    "depends",
    "leads",
    "entre",
    "relacao",
    "relacionado",
    "relacionada",
    "ligacao",
    "ligado",
    "liga",
    "une",
    "depende",
    "relacion",
    "zwischen",
    "verbindet",
];
const RELATION_PHRASES: [&str; 5] = ["关系", "之间", "有关", "联系", "负责人"];

/// The class of a question that the gate decided about.
pub fn class_of(question: &str, gate: &GateDecision) -> QueryClass {
    if !gate.open {
        return QueryClass::Name;
    }
    let words: Vec<String> = pieces(question)
        .iter()
        .map(|piece| fold(piece.text))
        .collect();
    let holds = |list: &[&str], phrases: &[&str]| {
        words.iter().any(|word| list.contains(&word.as_str()))
            || phrases.iter().any(|phrase| question.contains(phrase))
    };
    if holds(&RELATION_WORDS, &RELATION_PHRASES) {
        QueryClass::Relation
    } else if holds(&POINT_WORDS, &POINT_PHRASES) {
        QueryClass::Point
    } else {
        QueryClass::Topic
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gate::decide;
    use crate::types::GateSettings;

    #[test]
    fn questions_have_a_class() {
        let check = |question: &str, expected: QueryClass| {
            let gate = decide(question, &[], &GateSettings::default());
            assert_eq!(class_of(question, &gate), expected, "{question}");
        };
        check("Obsidian", QueryClass::Name);
        check("ways of keeping notes", QueryClass::Topic);
        check("formas de guardar notas", QueryClass::Topic);
        check("整理笔记的几种做法", QueryClass::Topic);
        check("笔记方法", QueryClass::Topic);
        check("how are sleep and memory connected", QueryClass::Relation);
        check("qual a relação entre sono e memória", QueryClass::Relation);
        check("睡眠和记忆的关系", QueryClass::Relation);
        check("when was the bridge built", QueryClass::Point);
        check("quantas telhas recebe o galpão", QueryClass::Point);
        check("修屋顶的钱有多少", QueryClass::Point);
    }
}
