//! Whether a question asks for one thing by its name. The links of a person or a tool lead to everything they have
//! to do with, which is noise to someone who only wants that note; a topic lives from them. By the question's words
//! alone, and careful: what is not surely a name leaves the gate open.

mod class;
mod pieces;

pub use self::class::class_of;
use self::pieces::{Piece, pieces};
use crate::text::{Language, detect_language, fold, is_stop_word_here};
use crate::types::{GateDecision, GateRule, GateSettings};

/// Languages whose function words are tried, where a question is too short to tell.
const TRIED: [Language; 5] = [
    Language::English,
    Language::Portuguese,
    Language::Spanish,
    Language::French,
    Language::German,
];

/// Decides for a question to documents in these languages, most frequent first.
pub fn decide(question: &str, languages: &[Language], settings: &GateSettings) -> GateDecision {
    if settings.rules.is_empty() {
        return open("no rule may close it".to_owned());
    }
    let pieces = pieces(question);
    let detected = detect_language(question);
    // A bare name is in the language of most documents; function words tell another one.
    let first = languages.first().copied().unwrap_or(Language::Other);
    let decision = decide_in(&pieces, first, settings);
    let names_only = |piece: &Piece<'_>| rule_of(piece, Language::Other, settings).is_some();
    if !decision.open || pieces.iter().all(names_only) {
        return decision;
    }
    [detected]
        .iter()
        .chain(&TRIED)
        .map(|&language| decide_in(&pieces, language, settings))
        .find(|decision| !decision.open)
        .unwrap_or(decision)
}

/// Decides for a question in this language.
fn decide_in(pieces: &[Piece<'_>], language: Language, settings: &GateSettings) -> GateDecision {
    let mut names: Vec<GateRule> = Vec::new();
    // Whether names follow one another without a word between them: `Ana Prado` is one name.
    let mut is_joined = false;
    let mut is_between = false;
    for piece in pieces {
        let rule = rule_of(piece, language, settings);
        if let Some(rule) = rule {
            is_joined |= is_between && !names.is_empty();
            is_between = false;
            names.push(rule);
        } else if is_function_word(piece, language) {
            is_between |= joins(piece.text);
        } else {
            return open("a word of it is not surely a name".to_owned());
        }
    }
    let Some(rule) = names.iter().copied().min() else {
        return open("nothing in it is a name".to_owned());
    };
    if is_joined {
        return open("it names several things: what joins them may be linked".to_owned());
    }
    // Words of the question are not repeated: it stands beside this.
    let what = match rule {
        GateRule::Tool => "a known tool",
        GateRule::SnakeCase | GateRule::CamelCase => "an identifier",
        GateRule::ProperName => "a proper name",
    };
    GateDecision {
        open: false,
        rule: Some(rule),
        reason: format!("only {what} is asked for"),
    }
}

fn open(reason: String) -> GateDecision {
    GateDecision {
        open: true,
        rule: None,
        reason,
    }
}

fn rule_of(piece: &Piece<'_>, language: Language, settings: &GateSettings) -> Option<GateRule> {
    let folded = fold(piece.text);
    let holds = |rule: GateRule| match rule {
        GateRule::Tool => settings.tools.iter().any(|tool| fold(tool) == folded),
        GateRule::SnakeCase => is_snake_case(piece.text),
        GateRule::CamelCase => is_camel_case(piece.text),
        GateRule::ProperName => {
            piece.is_quoted
                || !settings
                    .capital_nouns
                    .iter()
                    .any(|name| name == language.as_str())
                    && is_capitalised(piece.text)
                    && !is_function_word(piece, language)
        }
    };
    settings.rules.iter().copied().find(|&rule| holds(rule))
}

fn is_snake_case(word: &str) -> bool {
    let parts: Vec<&str> = word.split('_').collect();
    parts.len() > 1 && parts.iter().filter(|part| !part.is_empty()).count() > 1
}

/// A capital after a small letter. `LLMs` is an acronym in the plural.
fn is_camel_case(word: &str) -> bool {
    let mut letters = word.chars().zip(word.chars().skip(1));
    letters.any(|(a, b)| a.is_lowercase() && b.is_uppercase())
}

/// Begins with a capital and is no acronym, in the plural neither.
fn is_capitalised(word: &str) -> bool {
    let singular = word.strip_suffix("'s").unwrap_or(word);
    let singular = singular.strip_suffix('s').unwrap_or(singular);
    word.starts_with(char::is_uppercase) && singular.chars().any(char::is_lowercase)
}

fn is_function_word(piece: &Piece<'_>, language: Language) -> bool {
    if piece.is_quoted {
        return false;
    }
    // `What's` asks as `What` does.
    let word = piece.text.split(['\'', '’']).next().unwrap_or_default();
    let folded = fold(word);
    is_stop_word_here(&folded, language) || pieces::is_asking_word(&folded)
}

/// Words that stand between two things.
fn joins(word: &str) -> bool {
    const JOINING: [&str; 16] = [
        "and", "or", "vs", "versus", "between", "with", "e", "ou", "entre", "com", "y", "et",
        "und", "和", "与", "或",
    ];
    JOINING.contains(&fold(word).as_str())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn gate() -> GateSettings {
        GateSettings {
            tools: vec!["ripgrep".to_owned()],
            ..GateSettings::default()
        }
    }

    #[test]
    fn only_what_is_surely_one_name_closes_the_gate() {
        let check = |question: &str, expected: Option<GateRule>| {
            let decision = decide(question, &[Language::English], &gate());
            assert_eq!(decision.rule, expected, "{question}: {}", decision.reason);
            assert_eq!(decision.open, expected.is_none(), "{question}");
            assert!(!decision.reason.is_empty());
        };
        for (question, rule) in [
            ("ripgrep", GateRule::Tool),
            ("what is Ripgrep?", GateRule::Tool),
            ("parse_config", GateRule::SnakeCase),
            ("NotebookLM", GateRule::CamelCase),
            ("What is PyTorch", GateRule::CamelCase),
            ("o que é o PyTorch?", GateRule::CamelCase),
            ("PyTorch是什么？", GateRule::CamelCase),
            ("Obsidian", GateRule::ProperName),
            ("Ana Prado", GateRule::ProperName),
            ("Who is Ana Prado?", GateRule::ProperName),
            ("What's Obsidian?", GateRule::ProperName),
            ("Quem é a Ana de Sá?", GateRule::ProperName),
            ("Obsidian 是什么", GateRule::ProperName),
            ("《海边的灯塔》是什么？", GateRule::ProperName),
            ("介绍一下 Obsidian", GateRule::ProperName),
        ] {
            check(question, Some(rule));
        }
        for question in [
            "",
            "?",
            "AI",
            "RAG",
            "LLMs",
            "what is it about",
            "agent memory",
            "Agent memory patterns",
            "agent memory 的几种做法",
            "how do I tune PyTorch data loading",
            "Ana and Rui",
            "What links Ana with Rui?",
            "o que une a Ana e o Rui",
            "灯塔的历史",
            "snake _ case",
        ] {
            check(question, None);
        }
    }

    #[test]
    fn capitals_say_nothing_where_every_noun_has_one() {
        let rule =
            |question: &str, languages: &[Language]| decide(question, languages, &gate()).rule;
        assert_eq!(rule("Leuchtturm", &[Language::German]), None);
        assert_eq!(rule("Was ist der Leuchtturm?", &[Language::English]), None);
        assert_eq!(
            rule("NotebookLM", &[Language::German]),
            Some(GateRule::CamelCase)
        );
        assert_eq!(rule("Leuchtturm", &[]), Some(GateRule::ProperName));
    }

    #[test]
    fn rules_can_be_left_out() {
        let rules = |rules: &[GateRule]| GateSettings {
            rules: rules.to_vec(),
            ..gate()
        };
        let none = decide("Obsidian", &[], &rules(&[]));
        assert!(none.open && none.reason.contains("no rule"));
        assert!(decide("Obsidian", &[], &rules(&[GateRule::Tool])).open);
        assert!(!decide("ripgrep", &[], &rules(&[GateRule::Tool])).open);
    }
}
