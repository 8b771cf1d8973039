use std::collections::HashSet;

use malha_engine::text::{self, WordKind};

use super::plain;
use super::style::{ACCENT, painted};

/// Words of a question, to be shown in colour where a text holds them.
pub(crate) struct Highlighter {
    words: HashSet<String>,
    /// Neighbouring characters of scripts without spaces.
    pairs: HashSet<String>,
}

impl Highlighter {
    pub(crate) fn new(question: &str) -> Self {
        let words = text::words(question);
        let pairs = words
            .windows(2)
            .filter(|pair| pair[1].kind == WordKind::Cjk && !pair[1].separated)
            .map(|pair| format!("{}{}", pair[0].folded, pair[1].folded))
            .collect();
        let words = words
            .into_iter()
            .filter(|word| word.kind != WordKind::Cjk && word.folded.chars().count() > 2)
            .map(|word| word.folded.into_string())
            .collect();
        Self { words, pairs }
    }

    /// The lines of a text, blank ones left out, harmless for a terminal, with the question's words
    /// in colour.
    pub(crate) fn lines(&self, text: &str) -> Vec<String> {
        text.lines()
            .map(str::trim)
            .filter(|line| !line.is_empty())
            .map(|line| self.paint(line))
            .collect()
    }

    fn paint(&self, line: &str) -> String {
        let mut out = String::with_capacity(line.len() + 32);
        let mut shown = 0;
        for (start, end) in self.places(line) {
            out.push_str(&plain(&line[shown..start]));
            out.push_str(&painted(ACCENT, plain(&line[start..end])));
            shown = end;
        }
        out.push_str(&plain(&line[shown..]));
        out
    }

    /// Byte ranges of the question's words, in order and apart.
    fn places(&self, line: &str) -> Vec<(usize, usize)> {
        let words = text::words(line);
        let mut marked = vec![false; words.len()];
        for (place, word) in words.iter().enumerate() {
            if word.kind != WordKind::Cjk && self.is_asked_for(&word.folded) {
                marked[place] = true;
            }
            if place > 0 && word.kind == WordKind::Cjk && !word.separated {
                let pair = format!("{}{}", words[place - 1].folded, word.folded);
                if self.pairs.contains(&pair) {
                    marked[place - 1] = true;
                    marked[place] = true;
                }
            }
        }
        let mut places: Vec<(usize, usize)> = Vec::new();
        for (word, _) in words.iter().zip(&marked).filter(|(_, marked)| **marked) {
            match places.last_mut() {
                Some(last) if last.1 == word.start => last.1 = word.end,
                _ => places.push((word.start, word.end)),
            }
        }
        places
    }

    /// Equal, or equal but for a short ending: `note` and `notes` do not differ
    /// for the reader's eye.
    fn is_asked_for(&self, folded: &str) -> bool {
        self.words.contains(folded)
            || self.words.iter().any(|word| {
                let (short, long) = if word.len() < folded.len() {
                    (word.as_str(), folded)
                } else {
                    (folded, word.as_str())
                };
                short.len() >= 4 && long.len() - short.len() <= 2 && long.starts_with(short)
            })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_of_the_question_are_marked() {
        let check = |question: &str, line: &str, expected: &str| {
            let marked = Highlighter::new(question).paint(line);
            let marked = marked.replace(&ACCENT.render().to_string(), "<");
            let marked = marked.replace(&ACCENT.render_reset().to_string(), ">");
            assert_eq!(marked, expected);
        };
        check("sao joao", "Em São João, hoje", "Em <São> <João>, hoje");
        check("the note", "Notes on the sea", "<Notes> on <the> sea");
        check("望潮茶馆", "他在望潮茶馆等潮", "他在<望潮茶馆>等潮");
        check("colour", "\u{1b}[31m colour", "␛[31m <colour>");
        check("", "nothing", "nothing");
    }

    #[test]
    fn blank_lines_go() {
        let lines = Highlighter::new("").lines("\n a \n\n b\r\n");
        assert_eq!(lines, ["a", "b"]);
    }
}
