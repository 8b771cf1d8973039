//! Typed links: which relation a writer gave a link, if any.
//!
//! Three ways count, all explicit; prose around a link never types it:
//! 1. a Dataview field: `depends_on:: [[X]], [[Y]]` as a whole line or list item, or
//!    `(depends_on:: [[X]])` and `[depends_on:: [[X]]]` anywhere;
//! 2. a list item that is one lower-case word and one link, as Basic Memory writes relations:
//!    `- depends_on [[X]]`, with a remark in parentheses after it if need be. A word without `_`
//!    must not be one that lists of prose begin with (`- see [[X]]`);
//! 3. under a heading `Relations` (`Relações`, `关系` …) a list item of up to five words and a link.

use std::ops::Range;

/// Longest relation type of a list item, in characters: beyond it is prose, also in scripts without blanks.
const MAX_LENGTH: usize = 60;
/// Longest relation type before `::`, which nobody writes by chance.
const MAX_FIELD: usize = 300;
/// Links further into their line, in bytes, are prose; a file of one long line costs no more for it.
const MAX_BEFORE: usize = 2000;
/// Most words in a relation type.
const MAX_WORDS: usize = 5;

/// The relation given to the link at `link` in `line`.
pub(super) fn of_link(line: &str, link: Range<usize>, under_relations: bool) -> Option<String> {
    if link.start > MAX_BEFORE {
        return None;
    }
    let before = &line[..link.start];
    field(before).or_else(|| list_item(before, &line[link.end..], under_relations))
}

/// Whether a heading opens a section of relations.
pub(super) fn opens_relations(heading: &str) -> bool {
    const NAMES: [&str; 9] = [
        "relations",
        "relationships",
        "relações",
        "relaciones",
        "beziehungen",
        "relationen",
        "关系",
        "關係",
        "関係",
    ];
    NAMES.contains(&heading.trim().to_lowercase().as_str())
}

/// `key:: ` with nothing but links between it and this one.
fn field(before: &str) -> Option<String> {
    let (head, value) = before.rsplit_once("::")?;
    if !holds_only_links(value) {
        return None;
    }
    let key = match head.rfind(['(', '[']) {
        Some(open) if !head[open..].contains([')', ']']) => &head[open + 1..],
        _ => {
            let line = without_list_marker(without_quote_marks(head));
            line.strip_prefix("[ ] ")
                .or_else(|| line.strip_prefix("[x] "))
                .unwrap_or(line)
        }
    };
    let key = key.trim().trim_matches(['*', '_', '`']).trim();
    is_name(key, MAX_FIELD).then(|| key.to_owned())
}

fn holds_only_links(value: &str) -> bool {
    let mut rest = value;
    while let Some(open) = rest.find("[[") {
        if !is_separator(&rest[..open]) {
            return false;
        }
        match rest[open..].find("]]") {
            Some(close) => rest = &rest[open + close + 2..],
            None => return false,
        }
    }
    is_separator(rest)
}

fn is_separator(text: &str) -> bool {
    text.chars()
        .all(|letter| letter.is_whitespace() || matches!(letter, ',' | ';' | '、' | '，' | '；'))
}

fn list_item(before: &str, after: &str, under_relations: bool) -> Option<String> {
    let line = without_quote_marks(before);
    let item = without_list_marker(line);
    if item.len() == line.len() || !item.ends_with([' ', '\t']) || !is_remark(after) {
        return None;
    }
    let name = item.trim().trim_matches(['*', '`']);
    if under_relations && is_name(name, MAX_LENGTH) && !name.starts_with('[') {
        return Some(name.to_owned());
    }
    let is_word = is_name(name, MAX_LENGTH)
        && name
            .chars()
            .all(|letter| letter.is_alphanumeric() || matches!(letter, '_' | '-'))
        && !name.chars().any(char::is_uppercase);
    let is_typed = name.contains('_')
        || name
            .chars()
            .all(|letter| letter.is_lowercase() || letter == '-')
            && !PROSE.contains(&name);
    (is_word && is_typed).then(|| name.to_owned())
}

/// Nothing, or a remark in parentheses.
fn is_remark(after: &str) -> bool {
    let after = after.trim();
    after.is_empty() || after.starts_with('(') && after.ends_with(')')
}

fn is_name(text: &str, longest: usize) -> bool {
    text.starts_with(|first: char| first.is_alphanumeric() || !first.is_ascii())
        && text.chars().count() <= longest
        && text.split_whitespace().count() <= MAX_WORDS
        && text.chars().all(|letter| {
            letter.is_alphanumeric()
                || matches!(letter, ' ' | '_' | '-' | '/' | '\'')
                || !letter.is_ascii()
        })
}

fn without_quote_marks(line: &str) -> &str {
    line.trim_start_matches([' ', '\t', '>'])
}

/// The line without `- `, `* `, `+ `, `1. ` or `1) `.
fn without_list_marker(line: &str) -> &str {
    let digits = line.bytes().take_while(u8::is_ascii_digit).count();
    let marker = match line.as_bytes().get(digits) {
        Some(b'-' | b'*' | b'+') if digits == 0 => 1,
        Some(b'.' | b')') if digits > 0 => digits + 1,
        _ => return line,
    };
    let rest = &line[marker..];
    if rest.starts_with([' ', '\t']) {
        rest.trim_start()
    } else {
        line
    }
}

/// Single words that lists of plain prose begin with: connectives, pointers and imperatives.
const PROSE: &[&str] = &[
    // English
    "a",
    "about",
    "after",
    "again",
    "all",
    "also",
    "an",
    "and",
    "another",
    "any",
    "as",
    "ask",
    "at",
    "before",
    "both",
    "but",
    "buy",
    "by",
    "call",
    "cf",
    "check",
    "compare",
    "consider",
    "discuss",
    "e",
    "each",
    "eg",
    "email",
    "especially",
    "even",
    "every",
    "explore",
    "find",
    "finish",
    "fix",
    "for",
    "from",
    "get",
    "go",
    "has",
    "have",
    "here",
    "how",
    "i",
    "if",
    "in",
    "including",
    "into",
    "is",
    "it",
    "its",
    "just",
    "keep",
    "like",
    "listen",
    "look",
    "made",
    "make",
    "many",
    "maybe",
    "meet",
    "more",
    "most",
    "my",
    "new",
    "no",
    "not",
    "note",
    "now",
    "of",
    "on",
    "one",
    "only",
    "or",
    "other",
    "our",
    "out",
    "over",
    "perhaps",
    "play",
    "plus",
    "probably",
    "read",
    "review",
    "same",
    "see",
    "so",
    "some",
    "start",
    "still",
    "such",
    "than",
    "that",
    "the",
    "their",
    "then",
    "these",
    "they",
    "this",
    "those",
    "to",
    "today",
    "todo",
    "too",
    "try",
    "two",
    "under",
    "update",
    "use",
    "using",
    "versus",
    "via",
    "visit",
    "vs",
    "was",
    "watch",
    "we",
    "were",
    "what",
    "when",
    "where",
    "which",
    "while",
    "who",
    "why",
    "with",
    "without",
    "work",
    "write",
    "you",
    "your",
    // Portuguese and Spanish
    "acerca",
    "ainda",
    "algo",
    "ao",
    "aos",
    "apenas",
    "aqui",
    "até",
    "cada",
    "com",
    "como",
    "comprar",
    "con",
    "conferir",
    "conforme",
    "cuando",
    "da",
    "das",
    "de",
    "del",
    "desde",
    "do",
    "dos",
    "el",
    "em",
    "en",
    "entre",
    "era",
    "esta",
    "este",
    "foi",
    "há",
    "hoje",
    "la",
    "las",
    "leer",
    "ler",
    "leia",
    "lo",
    "los",
    "mais",
    "mas",
    "más",
    "mirar",
    "mi",
    "na",
    "nas",
    "no",
    "nos",
    "não",
    "o",
    "os",
    "ou",
    "outro",
    "para",
    "pela",
    "pelo",
    "pero",
    "por",
    "qual",
    "quando",
    "que",
    "quem",
    "revisar",
    "se",
    "sem",
    "ser",
    "sin",
    "sobre",
    "son",
    "são",
    "sua",
    "seu",
    "su",
    "también",
    "também",
    "te",
    "todo",
    "todos",
    "um",
    "uma",
    "un",
    "una",
    "vea",
    "veja",
    "ver",
    "vide",
    "y",
    "é",
    // French and German
    "au",
    "auch",
    "auf",
    "aus",
    "aux",
    "avec",
    "bei",
    "das",
    "dans",
    "der",
    "des",
    "die",
    "du",
    "ein",
    "eine",
    "et",
    "für",
    "ist",
    "le",
    "les",
    "lesen",
    "lire",
    "mit",
    "nach",
    "nicht",
    "oder",
    "ou",
    "par",
    "pour",
    "siehe",
    "sur",
    "und",
    "une",
    "voir",
    "von",
    "wie",
    "zu",
    "zum",
    "zur",
    "über",
];

#[cfg(test)]
mod tests {
    use super::*;

    fn check_in(under_relations: bool, line: &str, expected: Option<&str>) {
        let start = line.rfind("[[").expect("a link");
        let end = line.rfind("]]").expect("a link") + 2;
        assert_eq!(
            of_link(line, start..end, under_relations).as_deref(),
            expected,
            "{line}"
        );
    }

    #[test]
    fn explicit_relations() {
        let check = |line: &str, expected| check_in(false, line, expected);
        check("- depends_on [[X]]", Some("depends_on"));
        check("* implements [[X]] (since May)", Some("implements"));
        check("1. **part_of** [[X]]", Some("part_of"));
        check("  - depende_de [[X]]", Some("depende_de"));
        check("- 依赖_于 [[X]]", Some("依赖_于"));
        check("depends_on:: [[X]]", Some("depends_on"));
        check("- up:: [[W]], [[X]]", Some("up"));
        check("**Author**:: [[X]]", Some("Author"));
        check("> 作者:: [[X]]", Some("作者"));
        check("It (depends on:: [[X]]) so", Some("depends on"));
        check("It [depends_on:: [[X]]] so", Some("depends_on"));
        let long = "r".repeat(200);
        check(&format!("{long}:: [[X]]"), Some(&long));
        check(&format!("- {long}_x [[X]]"), None);
    }

    #[test]
    fn prose_stays_untyped() {
        let check = |line: &str| check_in(false, line, None);
        check("see [[X]]");
        check("- see [[X]]");
        check("- veja [[X]]");
        check("- 参见 [[X]]");
        check("- read more in [[X]]");
        check("- Author [[X]]");
        check("- implements [[X]] and more");
        check("- [ ] call [[X]]");
        check("implements [[X]]");
        check("- implements[[X]]");
        check("- implements [[W]] [[X]]");
        check("summary:: all about [[X]]");
        check("std::vec and [[X]]");
        check("- https://a.b [[X]]");
    }

    #[test]
    fn a_section_of_relations() {
        assert!(opens_relations("Relações"));
        assert!(!opens_relations("Related"));
        let check = |line: &str, expected| check_in(true, line, expected);
        check("- is written by [[X]]", Some("is written by"));
        check("- Autora de [[X]] (1997)", Some("Autora de"));
        check("- 见 [[X]]", Some("见"));
        check("- [[X]]", None);
        check("- a very long list item about [[X]]", None);
    }
}
