//! Search terms of texts and of questions: the same code for both.

use std::cell::RefCell;

use super::Language;
use super::stem::Stems;
use super::stop_words::{is_stop_word, stop_set, votes_for};
use super::words::{Word, WordKind, WordRef, for_each_word, words};

/// Longest term in bytes; what is longer is cut, in texts and questions alike.
const LONGEST_TERM: usize = 64;
/// An identifier joined from more words than this has only its parts as terms.
const LONGEST_IDENTIFIER: usize = 8;

/// A word of a question as the full-text index knows it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct QueryTerm {
    /// The folded word (or identifier, or piece of a text without spaces).
    pub word: String,
    /// Its terms in the languages of the store, distinct; any one of them is a hit. Letters and digits only.
    pub alternatives: Vec<String>,
    /// A function word, to be left out unless nothing else is left.
    pub stop: bool,
}

/// Makes search terms and keeps the stems it has seen. One per thread.
#[derive(Default)]
pub struct Tokenizer {
    stems: Stems,
}

impl Tokenizer {
    /// Appends the terms of `text`, each followed by a space: stems of its words, characters and pairs
    /// of characters where a script has no spaces, identifiers in parts and whole.
    pub fn index_terms(&mut self, text: &str, language: Language, out: &mut String) {
        out.reserve(text.len());
        each_term(text, |term, _| {
            self.stems.push_stem(term, language, out);
            out.push(' ');
        });
    }

    /// The words of a question, each once. `languages` are those of the documents to be found; all when
    /// empty.
    pub fn query_terms(&mut self, query: &str, languages: &[Language]) -> Vec<QueryTerm> {
        let languages = if languages.is_empty() {
            &Language::ALL
        } else {
            languages
        };
        let spoken = spoken_languages(query, languages);
        let mut terms: Vec<QueryTerm> = Vec::new();
        each_term(query, |term, origin| {
            // Pairs say more than the characters in them, which were seen just before.
            match origin {
                Origin::FirstPair => terms.truncate(terms.len() - 2),
                Origin::NextPair => terms.truncate(terms.len() - 1),
                Origin::Other => {}
            }
            let mut alternatives: Vec<String> = Vec::new();
            for &language in languages {
                let mut stem = String::new();
                self.stems.push_stem(term, language, &mut stem);
                if !alternatives.contains(&stem) {
                    alternatives.push(stem);
                }
            }
            terms.push(QueryTerm {
                word: term.to_owned(),
                alternatives,
                stop: spoken.iter().any(|&language| is_stop_word(term, language)),
            });
        });
        let mut seen = rustc_hash::FxHashSet::default();
        terms.retain(|term| seen.insert(term.word.clone()));
        terms
    }
}

thread_local! {
    static TOKENIZER: RefCell<Tokenizer> = RefCell::default();
}

/// [`Tokenizer::index_terms`] with the thread's tokenizer.
pub fn index_terms(text: &str, language: Language, out: &mut String) {
    TOKENIZER.with_borrow_mut(|tokenizer| tokenizer.index_terms(text, language, out));
}

/// [`Tokenizer::query_terms`] with the thread's tokenizer.
pub fn query_terms(query: &str, languages: &[Language]) -> Vec<QueryTerm> {
    TOKENIZER.with_borrow_mut(|tokenizer| tokenizer.query_terms(query, languages))
}

/// The languages whose stop words count in a question: of the Latin ones, those with the most stop words
/// in it; of the others, all.
fn spoken_languages(query: &str, languages: &[Language]) -> Vec<Language> {
    let mut votes = [0_u32; Language::LATIN.len()];
    for_each_word(query, |word| {
        let set = stop_set(word.folded);
        for language in Language::LATIN {
            votes[language as usize] += u32::from(votes_for(set, language));
        }
    });
    let votes_of = |language: &Language| votes.get(*language as usize).copied();
    let most = languages.iter().filter_map(votes_of).max();
    languages
        .iter()
        .copied()
        .filter(|language| votes_of(language).is_none_or(|votes| Some(votes) == most))
        .collect()
}

/// Where a term comes from, as far as a question cares.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Origin {
    /// The first two characters of a run of a script without spaces; both came as terms just before.
    FirstPair,
    /// The second character of the pair came just before.
    NextPair,
    Other,
}

/// Calls `visit` with every term of `text` before stemming.
fn each_term(text: &str, mut visit: impl FnMut(&str, Origin)) {
    let bytes = text.as_bytes();
    // The run of characters without spaces that is being read: its last character, and how many.
    let mut last = String::new();
    let mut run = 0_usize;
    let mut pair = String::new();
    // The words joined without white space that are being read: where they start and end, and how many.
    let mut chain = 0..0;
    let mut chain_words = 0_usize;
    for_each_word(text, |word| {
        if word.kind == WordKind::Cjk {
            visit(word.folded, Origin::Other);
            run = if word.separated { 1 } else { run + 1 };
            if run > 1 {
                pair.clear();
                pair.push_str(&last);
                pair.push_str(word.folded);
                let origin = if run == 2 {
                    Origin::FirstPair
                } else {
                    Origin::NextPair
                };
                visit(&pair, origin);
            }
            last.clear();
            last.push_str(word.folded);
            return;
        }
        run = 0;
        each_term_of_word(&word, text, &mut visit);
        if chain_words > 0 && word.start == chain.end + 1 && level(bytes[chain.end]).is_some() {
            chain.end = word.end;
            chain_words += 1;
        } else {
            if chain_words > 1 {
                each_identifier(&text[chain.clone()], &mut visit);
            }
            chain = word.start..word.end;
            chain_words = 1;
        }
    });
    if chain_words > 1 {
        each_identifier(&text[chain], &mut visit);
    }
}

fn each_term_of_word(word: &WordRef<'_>, text: &str, visit: &mut impl FnMut(&str, Origin)) {
    let folded = cut(word.folded);
    match folded.as_bytes()[folded.len() - 1] {
        b'+' | b'#' => {
            let plain = folded.trim_end_matches(['+', '#']);
            // `C` is another name than `C++`; `Disney` is part of `Disney+`.
            if plain.len() > 1 {
                visit(plain, Origin::Other);
            }
            let spelled = folded.replace('+', "plus").replace('#', "sharp");
            visit(cut(&spelled), Origin::Other);
        }
        _ => visit(folded, Origin::Other),
    }
    if word.kind == WordKind::Word {
        let written = &text[word.start..word.end];
        each_hump(written.trim_end_matches(['+', '#']), visit);
    }
}

/// The start of a term, at most [`LONGEST_TERM`] bytes.
fn cut(term: &str) -> &str {
    &term[..term.floor_char_boundary(LONGEST_TERM)]
}

/// Parts of a `CamelCase` word, when it is one.
fn each_hump(written: &str, visit: &mut impl FnMut(&str, Origin)) {
    let bytes = written.as_bytes();
    let inner_capital = bytes
        .windows(2)
        .any(|pair| pair[0].is_ascii_lowercase() && pair[1].is_ascii_uppercase());
    if !inner_capital || bytes.len() > LONGEST_TERM || !written.is_ascii() {
        return;
    }
    let mut start = 0;
    for at in 1..=bytes.len() {
        // `parseHTTPRequest`: before a capital after a small letter, and before the last of several
        // capitals when a small letter follows.
        let ends = at == bytes.len()
            || bytes[at].is_ascii_uppercase()
                && (!bytes[at - 1].is_ascii_uppercase()
                    || bytes.get(at + 1).is_some_and(u8::is_ascii_lowercase));
        if ends {
            if at - start > 1 {
                visit(&written[start..at].to_ascii_lowercase(), Origin::Other);
            }
            start = at;
        }
    }
}

/// How loosely a character joins the words of an identifier: `snake_case` and `kebab-case` tightest, then
/// `module.name` and `1.2.3`, then `a/b`.
fn level(joiner: u8) -> Option<usize> {
    match joiner {
        b'_' | b'-' => Some(0),
        b'.' | b',' => Some(1),
        b'/' => Some(2),
        _ => None,
    }
}

/// The identifiers in words joined by [`level`] characters, whole, without their joiners: of `a-b.c/d` the
/// terms `ab`, `abc`, `abcd`.
fn each_identifier(written: &str, visit: &mut impl FnMut(&str, Origin)) {
    let words = words(written);
    let joins: Vec<usize> = words
        .iter()
        .map(|word| {
            written
                .as_bytes()
                .get(word.end)
                .copied()
                .and_then(level)
                .unwrap_or(usize::MAX)
        })
        .collect();
    for level in 0..3 {
        let mut start = 0;
        while start < words.len() {
            let tighter = joins[start..]
                .iter()
                .take_while(|&&join| join <= level)
                .count();
            let end = start + tighter + 1;
            if joins[start..end - 1].contains(&level) && end - start <= LONGEST_IDENTIFIER {
                visit(cut(&joined(&words[start..end])), Origin::Other);
            }
            start = end;
        }
    }
}

fn joined(words: &[Word]) -> String {
    let folded = words
        .iter()
        .map(|word| word.folded.trim_end_matches(['+', '#']));
    let numbers = words.iter().all(|word| word.kind == WordKind::Number);
    let thousands = words[1..].iter().all(|word| word.folded.len() == 3);
    if numbers && !thousands {
        // `1.2.3` is neither 123 nor 12.3.
        folded.collect::<Vec<_>>().join("d")
    } else {
        folded.collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn terms(text: &str, language: Language) -> String {
        let mut out = String::new();
        index_terms(text, language, &mut out);
        out.trim_end().to_owned()
    }

    #[test]
    fn terms_of_a_text() {
        let check = |text: &str, expected: &str| {
            assert_eq!(terms(text, Language::Other), expected, "{text:?}");
        };
        check("", "");
        check("Plain Words", "plain words");
        check("São João", "sao joao");
        check("snake_case_name", "snake case name snakecasename");
        check("multi-agent", "multi agent multiagent");
        check("parseHTTPRequest", "parsehttprequest parse http request");
        check(
            "GraphQL YouTube NASA",
            "graphql graph ql youtube you tube nasa",
        );
        check("src/text/mod.rs", "src text mod rs modrs srctextmodrs");
        check("a-b.c/d", "a b c d ab abc abcd");
        check("version 1.2.3", "version 1 2 3 1d2d3");
        check("1,200 km", "1 200 km 1200");
        check("2024-05-17", "2024 05 17 2024d05d17");
        check("C++ C# C F#.", "cplusplus csharp c fsharp");
        check("Disney+ rocks", "disney disneyplus rocks");
        check("end. Next, one", "end next one");
        check("今天玩", "今 天 今天 玩 天玩");
        check("しりとり", "し り しり と りと り とり");
        check("끝말 잇", "끝 말 끝말 잇");
        check("用Rust写", "用 rust 写");
        check("a/b/c/d/e/f/g/h/i", "a b c d e f g h i");
        check(&"x".repeat(100), &"x".repeat(64));
        check("<b>\u{1}\"OR\" NEAR( * </b>", "b or near b");
    }

    #[test]
    fn words_are_stemmed_in_the_language_of_the_text() {
        let check = |text, language, expected: &str| {
            assert_eq!(terms(text, language), expected, "{text:?}");
        };
        check(
            "connected connections",
            Language::English,
            "connect connect",
        );
        check(
            "Donaudampfschiffahrt",
            Language::German,
            "donaudampfschiffahrt",
        );
        check("graphs", Language::Chinese, "graphs");
    }

    /// Whether every meaningful word of the query has a term in the text.
    fn finds(query: &str, text: &str, language: Language) -> bool {
        let terms = terms(text, language);
        let indexed: Vec<&str> = terms.split(' ').collect();
        let query = query_terms(query, &Language::ALL);
        let mut wanted = query.iter().filter(|term| !term.stop).peekable();
        wanted.peek().is_some()
            && wanted.all(|term| {
                term.alternatives
                    .iter()
                    .any(|term| indexed.contains(&term.as_str()))
            })
    }

    #[test]
    fn questions_with_punctuation_find_their_words() {
        let check = |query: &str, text: &str| {
            assert!(
                finds(query, text, Language::English),
                "{query:?} in {text:?}"
            );
        };
        check(
            "Downloads/transcripts",
            "moved to Downloads/transcripts today",
        );
        check("don't use agents", "please don't use agents here");
        check("multi-agent", "a multi-agent system");
        check("multi-agent", "multi-agent systems");
        check("status: done", "the status is done");
        check("timeout \"error", "an error after the timeout");
        check("retry OR", "we retry, or not");
        check("NEAR(", "it is near");
        check("a-b", "plan a-b");
        check("C++", "written in C++.");
        check("snakeCase", "the snake_case name");
        assert!(!finds("C++", "written in C.", Language::English));
        for nothing in ["", "   ", "*", "\"", "()", "\u{FFFE}", "😀"] {
            assert_eq!(
                query_terms(nothing, &[Language::English]),
                [],
                "{nothing:?}"
            );
        }
    }

    #[test]
    fn parts_of_texts_without_spaces_are_found() {
        let notes = [
            ("今天玩成语接龙游戏", Language::Chinese),
            ("今日は成語しりとりをした", Language::Japanese),
            ("오늘 끝말잇기 게임을 했다", Language::Korean),
            ("A ação de São João", Language::Portuguese),
        ];
        let check = |query: &str, expected: usize| {
            let found: Vec<usize> = (0..notes.len())
                .filter(|&note| finds(query, notes[note].0, notes[note].1))
                .collect();
            assert_eq!(found, [expected], "{query:?}");
        };
        check("成语接龙", 0);
        check("接龙", 0);
        check("しりとり", 1);
        check("끝말잇기", 2);
        check("ação", 3);
        check("acao", 3);
        check("São João", 3);
        check("sao joao", 3);
    }

    #[test]
    fn words_of_a_question() {
        let check = |query: &str, languages: &[Language], expected: &[&str]| {
            let got: Vec<String> = query_terms(query, languages)
                .iter()
                .map(|term| {
                    format!(
                        "{}{}",
                        term.alternatives.join("|"),
                        if term.stop { " -" } else { "" }
                    )
                })
                .collect();
            assert_eq!(got, expected, "{query:?}");
        };
        let english = [Language::English];
        check(
            "Who is the king, the king?",
            &english,
            &["who -", "is -", "the -", "king"],
        );
        check("猫", &[Language::Chinese], &["猫"]);
        check("猫 小犬", &[Language::Chinese], &["猫", "小犬"]);
        check("三体是", &[Language::Chinese], &["三体", "体是"]);
        check(
            "ações",
            &[Language::Portuguese, Language::Chinese],
            &["aca|acoes"],
        );
        check(
            "die hard movie",
            &[Language::English, Language::German],
            &["die -", "hard", "movi"],
        );
        check(
            "when did they die",
            &[Language::English, Language::German],
            &["when -", "did -", "they -", "die"],
        );
    }

    proptest! {
        #[test]
        fn terms_are_words_for_the_full_text_index(text in any::<String>()) {
            for term in terms(&text, Language::English).split(' ') {
                prop_assert!(term.chars().all(|c| c.is_alphanumeric() || unicode_normalization::char::is_combining_mark(c)), "{term:?}");
            }
        }

        #[test]
        fn a_text_answers_itself(text in "[a-zA-Zãç0-9 ._/+-]{0,60}") {
            let indexed = terms(&text, Language::Portuguese);
            for term in query_terms(&text, &[Language::Portuguese]) {
                let found = indexed.split(' ').any(|word| term.alternatives.iter().any(|term| term == word));
                prop_assert!(found, "{term:?} in {indexed:?}");
            }
        }
    }
}
