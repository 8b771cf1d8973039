//! Names as a chunk's text proposes them, without a model: capitalised sequences, quoted names, identifiers,
//! and phrases that repeat. Case only discovers names; they are compared folded.

use rustc_hash::FxHashSet;

use super::phrases::repeated_phrases;
use super::vocabulary::LONGEST_NAME;
use crate::text::{Language, Word, WordKind, fold, is_stop_word_here, words};

/// A name that a text proposes.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct NameCandidate {
    /// Bytes in the chunk's text.
    pub start: usize,
    pub end: usize,
    /// [`crate::text::fold`] of the name.
    pub folded: String,
    /// As in the text, every run of white space one space.
    pub written: String,
}

/// Names found in fewer chunks than this say nothing about connections: they are no vocabulary. With 1, the
/// graphs of the multi-hop sets have three times as many entities and no better recall.
pub const FREQUENT_ENOUGH: u32 = 2;

/// Whether a proposed name that `chunks` current chunks propose becomes part of the vocabulary. Depends on
/// nothing else, so that one changed chunk never changes the fate of names it does not propose.
pub fn is_vocabulary(chunks: u32) -> bool {
    chunks >= FREQUENT_ENOUGH
}

/// The names that `text`, one chunk, proposes: ordered by place, each place once. Depends on nothing else.
pub fn discover(text: &str, language: Language) -> Vec<NameCandidate> {
    let words = words(text);
    let capitals = words
        .iter()
        .map(|word| word.kind == WordKind::Word && has_capital(&text[word.start..word.end]))
        .collect();
    let scan = Scan {
        text,
        language,
        words,
        capitals,
    };
    let mut places = Places::default();
    scan.capitalised(&mut places);
    scan.quoted(&mut places);
    scan.identifiers(&mut places);
    scan.latin_among_cjk(&mut places);
    repeated_phrases(text, &scan.words, language, |from, to| {
        places.push(from, to);
    });
    places.0.sort_unstable();
    places.0.dedup();
    let as_written = |from: usize, to: usize| &text[scan.words[from].start..scan.words[to - 1].end];
    places
        .0
        .iter()
        .map(|&(from, to)| {
            let written = as_written(from, to);
            NameCandidate {
                start: scan.words[from].start,
                end: scan.words[to - 1].end,
                folded: fold(written),
                written: written.split_whitespace().collect::<Vec<_>>().join(" "),
            }
        })
        .collect()
}

fn has_capital(written: &str) -> bool {
    if written.is_ascii() {
        return written.bytes().any(|byte| byte.is_ascii_uppercase());
    }
    written.contains(char::is_uppercase)
}

/// Ranges of words.
#[derive(Default)]
struct Places(Vec<(usize, usize)>);

impl Places {
    fn push(&mut self, from: usize, to: usize) {
        if from < to && to - from <= LONGEST_NAME {
            self.0.push((from, to));
        }
    }
}

/// Words that stand inside names, in languages that write them small.
const CONNECTORS: &[&str] = &[
    "of", "the", "de", "da", "do", "das", "dos", "del", "della", "di", "du", "des", "la", "le",
    "el", "los", "las", "van", "von", "der", "den", "zu", "zur", "ter", "af", "av", "al", "bin",
    "bint", "ibn", "y",
];

/// Words that stand inside names (`Simon and Garfunkel`) or between them (`Spain and Portugal`): the whole
/// and its parts are proposed, and how often each is said decides.
const LOOSE_CONNECTORS: &[&str] = &[
    "and", "for", "in", "on", "at", "to", "a", "with", "from", "e", "et", "und", "para", "por",
    "em", "no", "na", "en", "im", "am", "fur", "s",
];

/// Written before a name with a full stop that ends no sentence.
const ABBREVIATIONS: &[&str] = &[
    "mr", "mrs", "ms", "dr", "dra", "st", "jr", "sr", "sra", "prof", "gen", "col", "lt", "capt",
    "rev", "no", "vs", "etc", "inc", "ltd", "co",
];

/// Quotation marks around names.
const QUOTES: &[(&str, &str)] = &[
    ("“", "”"),
    ("„", "“"),
    ("\"", "\""),
    ("«", "»"),
    ("``", "''"),
    ("《", "》"),
    ("〈", "〉"),
    ("「", "」"),
    ("『", "』"),
];

/// Longest quotation that is taken for a name, in words (characters where a script has no spaces twice so).
const LONGEST_QUOTED: usize = 8;

struct Scan<'a> {
    text: &'a str,
    language: Language,
    words: Vec<Word>,
    /// By word: whether it has a capital letter.
    capitals: Vec<bool>,
}

impl Scan<'_> {
    fn written(&self, word: usize) -> &str {
        &self.text[self.words[word].start..self.words[word].end]
    }

    /// What stands between a word and the one before it.
    fn gap(&self, word: usize) -> &str {
        &self.text[self.words[word - 1].end..self.words[word].start]
    }

    fn is_stop(&self, word: usize) -> bool {
        is_stop_word_here(&self.words[word].folded, self.language)
    }

    /// A capital somewhere: `Ana`, `NATO`, `iPhone`.
    fn is_capitalised(&self, word: usize) -> bool {
        self.capitals[word]
    }

    fn is_number(&self, word: usize) -> bool {
        self.words[word].kind == WordKind::Number
    }

    /// An initial or an abbreviation, whose full stop ends no sentence.
    fn is_abbreviation(&self, word: usize) -> bool {
        let folded = &*self.words[word].folded;
        folded.chars().nth(1).is_none() || ABBREVIATIONS.contains(&folded)
    }

    /// The `A.` of `A. Prado`, which is no article.
    fn is_initial_letter(&self, word: usize) -> bool {
        self.is_capitalised(word)
            && self.written(word).chars().nth(1).is_none()
            && self.text[self.words[word].end..].starts_with('.')
    }

    /// Whether a sentence, line or clause starts here, so that a capital says nothing.
    fn is_initial(&self, word: usize) -> bool {
        if word == 0 {
            return true;
        }
        let gap = self.gap(word);
        gap.contains([
            '!', '?', ':', ';', '\n', '"', '“', '«', '(', '`', '•', '|', '*', '。',
        ]) || gap.contains('.') && !self.is_abbreviation(word - 1)
    }

    /// Whether a name may go on from the word before to this one.
    fn continues(&self, word: usize) -> bool {
        match self.gap(word) {
            " " | "\u{a0}" | "-" | "‑" | "–" | "- " | "'" | "’" | " & " | "&" => true,
            "." | ". " => self.is_abbreviation(word - 1),
            _ => false,
        }
    }

    fn capitalised(&self, places: &mut Places) {
        let count = self.words.len();
        // Capitals that stand inside a sentence somewhere.
        let certain: FxHashSet<&str> = (0..count)
            .filter(|&word| self.is_capitalised(word) && !self.is_initial(word))
            .map(|word| &*self.words[word].folded)
            .collect();
        let mut at = 0;
        while at < count {
            let starts = self.is_capitalised(at)
                || self.is_number(at)
                    && at + 1 < count
                    && self.continues(at + 1)
                    && self.is_capitalised(at + 1);
            if !starts {
                at += 1;
                continue;
            }
            let end = self.end_of_capitalised(at);
            self.push_trimmed(at, end, &certain, places);
            self.push_parts(at, end, &certain, places);
            at = end;
        }
    }

    /// End of the capitalised sequence that starts at a word: connectors belong to it only between capitals.
    fn end_of_capitalised(&self, start: usize) -> usize {
        let mut end = start + 1;
        let mut at = end;
        while at < self.words.len() && self.continues(at) {
            let folded = &*self.words[at].folded;
            if self.is_capitalised(at) || self.is_number(at) {
                at += 1;
                end = at;
            } else if at - end < 2
                && (CONNECTORS.contains(&folded) || LOOSE_CONNECTORS.contains(&folded))
            {
                at += 1;
            } else {
                break;
            }
        }
        end
    }

    /// The parts of a sequence between its loose connectors, if it has any.
    fn push_parts(&self, from: usize, to: usize, certain: &FxHashSet<&str>, places: &mut Places) {
        let mut start = from;
        for word in from + 1..to {
            let connector =
                !self.is_capitalised(word) && LOOSE_CONNECTORS.contains(&&*self.words[word].folded);
            if connector || self.gap(word).contains('&') {
                self.push_trimmed(start, word, certain, places);
                start = if connector { word + 1 } else { word };
            }
        }
        if start > from {
            self.push_trimmed(start, to, certain, places);
        }
    }

    /// Without function words at its ends; a single word only when its capital means something.
    fn push_trimmed(
        &self,
        mut from: usize,
        mut to: usize,
        certain: &FxHashSet<&str>,
        places: &mut Places,
    ) {
        while from < to && self.is_stop(from) && !self.is_initial_letter(from) {
            from += 1;
        }
        while from < to && self.is_stop(to - 1) {
            to -= 1;
        }
        if to == from + 1 {
            let word = &self.words[from];
            let mut characters = self.written(from).chars();
            characters.next();
            let more_capitals = characters.any(|c| c.is_uppercase() || c.is_numeric());
            let too_short = word.folded.chars().nth(1).is_none()
                || word.folded.chars().nth(2).is_none() && !more_capitals;
            let doubtful =
                self.is_initial(from) && !certain.contains(&*word.folded) && !more_capitals;
            if word.kind == WordKind::Number || too_short || doubtful {
                return;
            }
        }
        places.push(from, to);
    }

    fn quoted(&self, places: &mut Places) {
        for &(open, close) in QUOTES {
            let mut at = 0;
            while let Some(found) = self.text[at..].find(open) {
                let start = at + found + open.len();
                let Some(length) = self.text[start..].find(close) else {
                    break;
                };
                let end = start + length;
                at = end + close.len();
                if !self.text[start..end].contains(['.', '?', '!', '。', '\n', '：']) {
                    self.push_quoted(start, end, places);
                }
            }
        }
    }

    fn push_quoted(&self, start: usize, end: usize, places: &mut Places) {
        let from = self.words.partition_point(|word| word.start < start);
        let to = self.words.partition_point(|word| word.end <= end);
        if from >= to {
            return;
        }
        let (limit, shortest) = match self.words[from].kind {
            WordKind::Cjk => (2 * LONGEST_QUOTED, 2),
            _ => (LONGEST_QUOTED, 1),
        };
        let one_plain_word = to == from + 1
            && (self.is_stop(from)
                || self.is_number(from)
                || self.words[from].folded.chars().nth(2).is_none());
        if to - from <= limit && to - from >= shortest && !one_plain_word {
            places.push(from, to);
        }
    }

    /// `snake_case`, `std::fs`, `gpt-4o`, `utf8`.
    fn identifiers(&self, places: &mut Places) {
        let count = self.words.len();
        let mut from = 0;
        while from < count {
            let mut to = from + 1;
            let mut code = false;
            while to < count && matches!(self.gap(to), "_" | "::" | "-" | "." | "/") {
                code |= matches!(self.gap(to), "_" | "::");
                to += 1;
            }
            let written = &self.text[self.words[from].start..self.words[to - 1].end];
            let mixed = written.starts_with(char::is_alphabetic)
                && written.chars().any(|c| c.is_ascii_digit())
                && !written.contains(['.', '/']);
            if self.words[from].kind == WordKind::Word
                && written.chars().nth(2).is_some()
                && (code || mixed)
                && to - from <= LONGEST_QUOTED
            {
                places.push(from, to);
            }
            from = to;
        }
    }

    /// Latin words in a text without spaces are names or terms.
    fn latin_among_cjk(&self, places: &mut Places) {
        let cjk = |word: usize| {
            self.words
                .get(word)
                .is_some_and(|word| word.kind == WordKind::Cjk)
        };
        let mut from = 0;
        while from < self.words.len() {
            if self.words[from].kind != WordKind::Word {
                from += 1;
                continue;
            }
            let mut to = from + 1;
            while to < self.words.len()
                && self.words[to].kind != WordKind::Cjk
                && matches!(self.gap(to), " " | "-" | "." | "_")
            {
                to += 1;
            }
            let among = from > 0 && cjk(from - 1) || cjk(to);
            let short = to == from + 1 && self.words[from].folded.chars().nth(1).is_none();
            if among && !short && to - from <= 4 && !(to == from + 1 && self.is_stop(from)) {
                places.push(from, to);
            }
            from = to;
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn written(text: &str, language: Language) -> Vec<String> {
        let mut names: Vec<String> = discover(text, language)
            .into_iter()
            .map(|name| name.written)
            .collect();
        names.sort();
        names.dedup();
        names
    }

    #[test]
    fn names_are_proposed_as_the_text_writes_them() {
        #[track_caller]
        fn check(text: &str, language: Language, expected: &[&str]) {
            assert_eq!(written(text, language), expected, "{text}");
        }
        use Language::{Chinese, English, German, Japanese, Portuguese, Spanish};
        check("", English, &[]);
        check("Nothing here. Nor there.", English, &[]);
        check(
            "We saw Ana Prado in Lisbon.",
            English,
            &["Ana Prado", "Ana Prado in Lisbon", "Lisbon"],
        );
        check(
            "The University of Porto grew.",
            English,
            &["University of Porto"],
        );
        check("and A. P. J. Silva spoke", English, &["A. P. J. Silva"]);
        check("it was Dr. Melo", English, &["Dr. Melo"]);
        check(
            "Both Spain and Portugal agreed",
            English,
            &["Portugal", "Spain", "Spain and Portugal"],
        );
        check(
            "at Ana's Garden",
            English,
            &["Ana", "Ana's Garden", "Garden"],
        );
        check("the 2022 River Cup began", English, &["2022 River Cup"]);
        check(
            "read ``The Long Field'' now",
            English,
            &["Long Field", "The Long Field"],
        );
        check(
            "call read_all or std::fs, gpt-4o, utf8",
            English,
            &["gpt-4o", "read_all", "std::fs", "utf8"],
        );
        check("10-year plan, v1.2, 19th, e-mail", English, &[]);
        // A capital at the start counts when the word stands capitalised inside a sentence too.
        check("Lima grew. We like Lima.", English, &["Lima"]);
        check(
            "o rio São Francisco e a cidade do Crato",
            Portuguese,
            &["Crato", "São Francisco"],
        );
        check(
            "a Universidade Federal do Ceará",
            Portuguese,
            &["Universidade Federal do Ceará"],
        );
        check("el barrio de San Telmo", Spanish, &["San Telmo"]);
        check("bei Anna von der Heide", German, &["Anna von der Heide"]);
        check("他写了《长夜漫漫》和“白马”", Chinese, &["白马", "长夜漫漫"]);
        check("我们用Rust和GPU", Chinese, &["GPU", "Rust"]);
        check("彼は「青い鳥」を読んだ", Japanese, &["青い鳥"]);
    }

    #[test]
    fn a_name_of_one_chunk_is_no_vocabulary() {
        assert!(!is_vocabulary(0) && !is_vocabulary(1));
        assert!(is_vocabulary(2) && is_vocabulary(u32::MAX));
    }

    proptest! {
        #[test]
        fn spans_hold_what_they_say(text in any::<String>()) {
            let names = discover(&text, Language::English);
            prop_assert!(names.is_sorted());
            for name in names {
                prop_assert_eq!(fold(&text[name.start..name.end]), name.folded.clone());
                prop_assert!(!name.folded.is_empty());
                prop_assert_eq!(fold(&name.written), name.folded);
            }
        }

        #[test]
        fn anything_made_of_pieces_of_names_is_read(
            pieces in prop::collection::vec(
                prop::sample::select(vec!["Ana", "de", " ", "-", ".", "“", "”", "《", "》", "东京", "x1", "_", "&", "\n", "S"]),
                0..30,
            ),
        ) {
            let text = pieces.concat();
            for name in discover(&text, Language::Chinese) {
                prop_assert_eq!(fold(&text[name.start..name.end]), name.folded);
            }
        }
    }
}
