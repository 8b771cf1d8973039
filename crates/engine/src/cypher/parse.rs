//! Text → syntax tree, by the `open-cypher` crate; before it, what would be too deep for any of us.

use open_cypher::ast::{Query, StatementKind};
use open_cypher::{Diagnostic, DiagnosticCode, Token, TokenKind};

use super::error::{CypherError, ErrorKind, Result};

/// Longest query, in bytes.
const MOST_BYTES: usize = 100_000;
/// Most operators and brackets that an expression may lie in.
const MOST_DEPTH: usize = 120;
/// Most opening brackets times words and signs of a query: from each bracket the parser looks ahead for its end.
const MOST_LOOKS_AHEAD: usize = 20_000_000;
/// Words that begin a clause that writes, or manages what is stored.
const WRITING: &[&str] = &[
    "CREATE",
    "MERGE",
    "DELETE",
    "DETACH",
    "NODETACH",
    "SET",
    "REMOVE",
    "FOREACH",
    "INSERT",
    "DROP",
    "ALTER",
    "LOAD",
    "COPY",
    "GRANT",
    "REVOKE",
    "DENY",
    "IMPORT",
    "EXPORT",
    "ATTACH",
    "INSTALL",
    "TRUNCATE",
    "UPDATE",
    "START",
    "STOP",
    "TERMINATE",
    "RENAME",
];

/// Reads one query.
pub(super) fn parse(source: &str) -> Result<Query> {
    if source.len() > MOST_BYTES {
        return Err(CypherError::syntax(
            "QueryTooLong",
            format!(
                "a query may have {MOST_BYTES} bytes, this one has {}",
                source.len()
            ),
        ));
    }
    let lexed = open_cypher::lex(source);
    check_depth(source, &lexed.tokens)?;
    check_chains(source, &lexed.tokens)?;
    let mut parsed = match open_cypher::parse(source) {
        Ok(parsed) => parsed,
        Err(errors) => return Err(refusal(source, &lexed.tokens, errors.diagnostics())),
    };
    match parsed
        .program
        .statements
        .pop()
        .map(|statement| statement.kind)
    {
        Some(StatementKind::Query(statement)) => match statement.mode {
            None => Ok(statement.query),
            Some(mode) => Err(CypherError::syntax(
                "UnexpectedSyntax",
                "EXPLAIN and PROFILE are not offered",
            )
            .at((mode.span.start, mode.span.end))),
        },
        _ => Err(CypherError::syntax("UnexpectedSyntax", "there is no query")),
    }
}

/// Clauses that a query may have: each is run inside the one before it.
const MOST_CLAUSES: usize = 100;
/// Subscripts and maps that follow a value, and alternatives of a type, as many as a query may
/// have of each: the tree hangs each on the one before it.
const MOST_IN_A_CHAIN: usize = 200;

/// Refuses long chains, which the tree nests as brackets would.
fn check_chains(source: &str, tokens: &[Token]) -> Result<()> {
    let (mut clauses, mut subscripts, mut alternatives) = (0, 0, 0);
    let mut follows_a_value = false;
    for token in tokens {
        if matches!(
            token.kind,
            TokenKind::Whitespace | TokenKind::LineComment | TokenKind::BlockComment
        ) {
            continue;
        }
        let text = token.text(source).unwrap_or_default();
        let (count, most) = match text {
            "[" | "{" if follows_a_value => (&mut subscripts, MOST_IN_A_CHAIN),
            "|" => (&mut alternatives, MOST_IN_A_CHAIN),
            _ if is_clause(text) => (&mut clauses, MOST_CLAUSES),
            _ => {
                follows_a_value = ends_a_value(text);
                continue;
            }
        };
        *count += 1;
        if *count > most {
            return Err(CypherError::syntax(
                "QueryTooDeep",
                format!("more than {most} clauses, subscripts or alternatives in one query"),
            )
            .at((token.span.start, token.span.end)));
        }
        follows_a_value = false;
    }
    Ok(())
}

fn ends_a_value(text: &str) -> bool {
    text.ends_with(|last: char| last.is_alphanumeric() || "_])}`'\"".contains(last))
}

fn is_clause(text: &str) -> bool {
    const WORDS: &[&str] = &[
        "MATCH", "WITH", "RETURN", "UNWIND", "CALL", "UNION", "ORDER",
    ];
    WORDS.iter().any(|word| text.eq_ignore_ascii_case(word))
}

/// The tree is walked by recursion, so its depth is bounded before it is built: brackets inside each other,
/// and operators of one expression, which hang on each other.
fn check_depth(source: &str, tokens: &[Token]) -> Result<()> {
    let mut open: Vec<usize> = vec![0];
    let mut total = 0;
    let mut brackets = 0;
    for token in tokens {
        let text = token.text(source).unwrap_or_default();
        match text {
            "(" | "[" | "{" => {
                open.push(0);
                brackets += 1;
            }
            ")" | "]" | "}" if open.len() > 1 => {
                total -= open.pop().unwrap_or(0);
            }
            "," | ";" | "|" => total -= std::mem::take(open.last_mut().expect("one stays")),
            _ if is_operator(token.kind, text) => {
                *open.last_mut().expect("one stays") += 1;
                total += 1;
            }
            _ if begins_a_part(text) => {
                total -= std::mem::take(open.last_mut().expect("one stays"));
            }
            _ => {}
        }
        if total + open.len() > MOST_DEPTH {
            return Err(CypherError::syntax(
                "QueryTooDeep",
                format!("more than {MOST_DEPTH} brackets and operators lie in each other here"),
            )
            .at((token.span.start, token.span.end)));
        }
    }
    if brackets * tokens.len() > MOST_LOOKS_AHEAD {
        return Err(CypherError::syntax(
            "QueryTooDeep",
            format!(
                "{brackets} brackets among {} words and signs are too many for one query: give long lists as parameters",
                tokens.len()
            ),
        ));
    }
    Ok(())
}

fn is_operator(kind: TokenKind, text: &str) -> bool {
    const WORDS: &[&str] = &[
        "AND", "OR", "XOR", "NOT", "IN", "STARTS", "ENDS", "CONTAINS", "IS", "CASE", "WHEN",
        "UNION", "CALL",
    ];
    if matches!(
        kind,
        TokenKind::Whitespace | TokenKind::LineComment | TokenKind::BlockComment
    ) {
        return false;
    }
    let is_sign = !text.is_empty() && text.bytes().all(|byte| b"+-*/%^=<>.:!&~".contains(&byte));
    is_sign || WORDS.iter().any(|word| text.eq_ignore_ascii_case(word))
}

fn begins_a_part(text: &str) -> bool {
    const WORDS: &[&str] = &[
        "MATCH", "OPTIONAL", "WITH", "RETURN", "UNWIND", "WHERE", "ORDER", "THEN",
    ];
    WORDS.iter().any(|word| text.eq_ignore_ascii_case(word))
}

/// The parser's words for what it could not read; a clause that writes is refused by its name instead.
fn refusal(source: &str, tokens: &[Token], diagnostics: &[Diagnostic]) -> CypherError {
    if let Some(refused) = writing_word(source, tokens) {
        return refused;
    }
    let Some(first) = diagnostics
        .iter()
        .find(|diagnostic| diagnostic.code != DiagnosticCode::UnclosedDelimiter)
        .or(diagnostics.first())
    else {
        return CypherError::syntax("UnexpectedSyntax", "the query can not be read");
    };
    let detail = match first.code {
        DiagnosticCode::InvalidNumber => "InvalidNumberLiteral",
        DiagnosticCode::InvalidEscape => "InvalidUnicodeLiteral",
        DiagnosticCode::InvalidToken => "InvalidUnicodeCharacter",
        _ => "UnexpectedSyntax",
    };
    let mut message = offered(&first.message);
    if let Some(help) = &first.help {
        message = format!("{message} ({help})");
    }
    CypherError::syntax(detail, message).at((first.primary_span.start, first.primary_span.end))
}

/// Words that the grammar could go on with, but that are not offered here.
const NOT_OFFERED: &[&str] = &[
    "USE", "LET", "FILTER", "FOR", "NEXT", "FINISH", "EXPLAIN", "PROFILE", "CYPHER",
];
/// Most words that are told to be expected.
const MOST_EXPECTED: usize = 12;

/// The parser's message, without words among those expected that would be refused.
fn offered(message: &str) -> String {
    let Some((start, expected)) = message.split_once("; expected ") else {
        return message.to_owned();
    };
    let words = expected.split('`').skip(1).step_by(2);
    let mut words: Vec<String> = words
        .filter(|word| {
            let first = word.split(' ').next().unwrap_or_default();
            !WRITING.contains(&first) && !NOT_OFFERED.contains(&first)
        })
        .map(|word| format!("`{word}`"))
        .collect();
    let more = words.len() > MOST_EXPECTED;
    words.truncate(MOST_EXPECTED);
    match (words.as_slice(), more) {
        ([], _) => start.to_owned(),
        (words, true) => format!("{start}; expected {}, …", words.join(", ")),
        ([one], _) => format!("{start}; expected {one}"),
        ([head @ .., last], _) => format!("{start}; expected {} or {last}", head.join(", ")),
    }
}

/// In a query that does not parse: the first word at the start of a clause or behind an opening brace or a
/// bar that would write. Full-width letters and other forms that look the same count as the same.
fn writing_word(source: &str, tokens: &[Token]) -> Option<CypherError> {
    use unicode_normalization::UnicodeNormalization;
    let mut previous = String::new();
    for token in tokens {
        let text = token.text(source).unwrap_or_default();
        if matches!(
            token.kind,
            TokenKind::Whitespace | TokenKind::LineComment | TokenKind::BlockComment
        ) {
            continue;
        }
        let plain = text.nfkc().collect::<String>().to_uppercase();
        let is_name = matches!(previous.as_str(), "." | ":" | "AS" | "$" | "(" | "[" | ",");
        if !is_name && let Some(word) = WRITING.iter().find(|word| **word == plain) {
            return Some(refused(word).at((token.span.start, token.span.end)));
        }
        previous = plain;
    }
    None
}

/// The error for a clause that writes.
pub(super) fn refused(clause: &str) -> CypherError {
    CypherError::compile(
        ErrorKind::WriteRefused,
        "ReadOnly",
        format!("{clause} would write, and queries here only read"),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_expected_is_what_is_offered() {
        #[track_caller]
        fn check(message: &str, expected: &str) {
            assert_eq!(offered(message), expected);
        }
        check("extra token", "extra token");
        check("x; expected `CREATE`", "x");
        check("x; expected `,`", "x; expected `,`");
        check(
            "x; expected `CALL`, `CREATE`, `DETACH DELETE`, `LOAD CSV`, `MATCH`, or `WITH`",
            "x; expected `CALL`, `MATCH` or `WITH`",
        );
        let refused = parse("MATCH (n) RETRN n").unwrap_err();
        assert!(refused.message.contains("expected"), "{refused}");
        for word in WRITING {
            let quoted = format!("`{word}`");
            assert!(!refused.message.contains(&quoted), "{refused}");
        }
    }
}
