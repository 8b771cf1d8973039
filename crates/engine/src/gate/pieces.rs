//! A question in pieces: words, identifiers whole, names in their quotation marks, runs of Chinese without the
//! phrases that only ask.

/// Marks that enclose names.
const QUOTES: [(char, char); 6] = [
    ('《', '》'),
    ('「', '」'),
    ('『', '』'),
    ('“', '”'),
    ('«', '»'),
    ('"', '"'),
];

/// Phrases of Chinese questions that ask and name nothing, longest first.
const ASKING_PHRASES: [&str; 20] = [
    "是什么意思",
    "什么是",
    "是什么",
    "怎么样",
    "介绍一下",
    "讲一讲",
    "说一说",
    "有哪些",
    "是谁",
    "谁是",
    "介绍",
    "关于",
    "请问",
    "什么",
    "一下",
    "告诉我",
    "的",
    "吗",
    "呢",
    "是",
];

/// Words that ask and name nothing, beyond function words; folded.
const ASKING_WORDS: [&str; 22] = [
    "tell",
    "know",
    "show",
    "find",
    "define",
    "definition",
    "explain",
    "describe",
    "meaning",
    "please",
    "fale",
    "conte",
    "explique",
    "descreva",
    "defina",
    "definicao",
    "significa",
    "mostre",
    "explica",
    "define",
    "parle",
    "hable",
];

/// A part of a question.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Piece<'a> {
    pub text: &'a str,
    /// It stood in marks for names.
    pub is_quoted: bool,
    /// It is written in characters without capitals or blanks.
    pub is_han: bool,
}

pub(super) fn is_asking_word(folded: &str) -> bool {
    ASKING_WORDS.contains(&folded)
}

/// The pieces in their order.
pub(super) fn pieces(question: &str) -> Vec<Piece<'_>> {
    let mut found = Vec::new();
    let mut rest = question;
    while let Some(first) = rest.chars().next() {
        if let Some((quoted, after)) = quoted(rest, first) {
            if !quoted.trim().is_empty() {
                found.push(Piece {
                    text: quoted.trim(),
                    is_quoted: true,
                    is_han: false,
                });
            }
            rest = after;
            continue;
        }
        let kind = kind_of(first);
        let end = rest
            .char_indices()
            .find(|&(_, c)| kind_of(c) != kind || closes_word(kind, c))
            .map_or(rest.len(), |(at, _)| at.max(first.len_utf8()));
        let (run, after) = rest.split_at(end);
        match kind {
            Kind::Word => {
                let text = run.trim_matches(|c: char| !c.is_alphanumeric());
                if !text.is_empty() {
                    found.push(Piece {
                        text,
                        is_quoted: false,
                        is_han: false,
                    });
                }
            }
            Kind::Han => without_asking(run, &mut found),
            Kind::Other => {}
        }
        rest = after;
    }
    found
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Word,
    Han,
    Other,
}

fn kind_of(c: char) -> Kind {
    match c {
        '\u{3040}'..='\u{30ff}' | '\u{3400}'..='\u{9fff}' | '\u{ac00}'..='\u{d7af}' => Kind::Han,
        '_' | '-' | '.' | '\'' | '’' | '+' | '#' => Kind::Word,
        c if c.is_alphanumeric() => Kind::Word,
        _ => Kind::Other,
    }
}

/// A quotation mark ends a run, whatever it is made of.
fn closes_word(kind: Kind, c: char) -> bool {
    kind == Kind::Other && QUOTES.iter().any(|&(opening, _)| opening == c)
}

fn quoted(rest: &str, first: char) -> Option<(&str, &str)> {
    let &(_, closing) = QUOTES.iter().find(|quotes| quotes.0 == first)?;
    rest[first.len_utf8()..].split_once(closing)
}

fn without_asking<'a>(run: &'a str, found: &mut Vec<Piece<'a>>) {
    let mut rest = run;
    let mut start = 0;
    let mut at = 0;
    let mut push = |from: usize, to: usize| {
        if from < to {
            found.push(Piece {
                text: &run[from..to],
                is_quoted: false,
                is_han: true,
            });
        }
    };
    while let Some(first) = rest.chars().next() {
        if let Some(phrase) = ASKING_PHRASES
            .iter()
            .find(|phrase| rest.starts_with(**phrase))
        {
            push(start, at);
            at += phrase.len();
            start = at;
        } else {
            at += first.len_utf8();
        }
        rest = &run[at..];
    }
    push(start, at);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn questions_fall_into_pieces() {
        let check = |question: &str, expected: &[&str]| {
            let found: Vec<&str> = pieces(question).iter().map(|piece| piece.text).collect();
            assert_eq!(found, expected, "{question}");
        };
        check("", &[]);
        check("What's parse_config?", &["What's", "parse_config"]);
        check("a, b; (c)", &["a", "b", "c"]);
        check("PyTorch是什么？", &["PyTorch"]);
        check("什么是灯塔的历史", &["灯塔", "历史"]);
        check("《红 楼》和Ana", &["红 楼", "和", "Ana"]);
        check("say \"New York\" now", &["say", "New York", "now"]);
        check("an \"open quote", &["an", "open", "quote"]);
        check("《》 ...", &[]);
        assert!(pieces("「名」")[0].is_quoted);
    }
}
