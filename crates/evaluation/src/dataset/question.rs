use std::collections::{BTreeMap, HashSet};
use std::path::Path;

use serde_json::Value;

use super::rows::{BrokenRow, Row, read_rows};
use crate::rng::mix;
use crate::{Error, Result};

/// A question with the ids of the passages that answer it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Question {
    pub qid: String,
    pub text: String,
    /// Each id once; never empty.
    pub gold: Vec<String>,
    /// One hit in each group is enough; empty when the set has no groups.
    pub groups: Vec<Vec<String>>,
    pub scope: Option<String>,
    /// Value of the field that results are split by.
    pub part: Option<String>,
}

impl Question {
    /// Which half of a set the question belongs to, by a hash of its id: one half may be used for tuning,
    /// the other shows whether the tuning carries over.
    pub fn half(&self) -> Half {
        if spread(&self.qid) & 1 == 0 {
            Half::First
        } else {
            Half::Second
        }
    }
}

/// FNV-1a, then a finaliser, because FNV's lowest bit only sees the lowest bits of the bytes.
fn spread(text: &str) -> u64 {
    let hash = text.bytes().fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3)
    });
    mix(hash)
}

/// The half of every question. Where questions have several scopes, a scope is in one half as a whole: what suits one
/// conversation is then shown by others. Scopes come in the order of their hashes, each to the half with fewer
/// questions so far.
pub(crate) fn halves(questions: &[Question]) -> Vec<Half> {
    let mut scopes: BTreeMap<&str, usize> = BTreeMap::new();
    for scope in questions.iter().filter_map(|q| q.scope.as_deref()) {
        *scopes.entry(scope).or_default() += 1;
    }
    if scopes.len() < 2 {
        return questions.iter().map(Question::half).collect();
    }
    let mut order: Vec<(u64, &str, usize)> = scopes
        .into_iter()
        .map(|(scope, count)| (spread(scope), scope, count))
        .collect();
    order.sort_unstable();
    let mut first: HashSet<&str> = HashSet::new();
    let (mut in_first, mut in_second) = (0, 0);
    for (_, scope, count) in order {
        if in_first <= in_second {
            first.insert(scope);
            in_first += count;
        } else {
            in_second += count;
        }
    }
    let half = |question: &Question| match question.scope.as_deref() {
        Some(scope) if first.contains(scope) => Half::First,
        Some(_) => Half::Second,
        None => question.half(),
    };
    questions.iter().map(half).collect()
}

/// One of the two halves of a set.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Half {
    First,
    Second,
}

/// `FIELD=VALUE`: questions to leave out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Exclusion {
    pub field: String,
    pub value: String,
}

impl std::str::FromStr for Exclusion {
    type Err = String;

    fn from_str(written: &str) -> Result<Self, String> {
        let (field, value) = written
            .split_once('=')
            .ok_or_else(|| format!("`{written}` is not FIELD=VALUE"))?;
        Ok(Self {
            field: field.to_owned(),
            value: value.to_owned(),
        })
    }
}

/// Which fields of a question row are used.
#[derive(Debug, Clone)]
pub struct QuestionFields {
    pub query: String,
    pub gold: String,
    pub scope: Option<String>,
    pub by: Option<String>,
    pub exclude: Vec<Exclusion>,
}

/// The questions of a file, and what was left out of it.
#[derive(Debug, Default)]
pub struct QuestionSet {
    pub questions: Vec<Question>,
    pub broken: Vec<BrokenRow>,
    /// Rows with an empty gold list.
    pub no_gold: usize,
    pub excluded: usize,
}

/// Reads the questions of a file.
pub fn read_questions(path: &Path, fields: &QuestionFields) -> Result<QuestionSet> {
    let rows = read_rows(path)?;
    let mut set = QuestionSet {
        broken: rows.broken,
        ..QuestionSet::default()
    };
    let mut seen = HashSet::new();
    for row in rows.rows {
        if fields.exclude.iter().any(|e| excluded(&row, e)) {
            set.excluded += 1;
            continue;
        }
        match question(&row, fields) {
            Ok(question) if question.gold.is_empty() => set.no_gold += 1,
            Ok(question) if !seen.insert(question.qid.clone()) => {
                set.broken
                    .push(row.broken(format!("qid {} is there twice", question.qid)));
            }
            Ok(question) => set.questions.push(question),
            Err(reason) => set.broken.push(row.broken(reason)),
        }
    }
    if set.questions.is_empty() {
        return Err(Error::Usage(match set.broken.first() {
            Some(broken) => {
                format!("no question to score; the first row that was refused: {broken}")
            }
            None => format!(
                "{}: no question to score ({} without gold in field `{}`, {} excluded)",
                path.display(),
                set.no_gold,
                fields.gold,
                set.excluded
            ),
        }));
    }
    Ok(set)
}

fn excluded(row: &Row, exclusion: &Exclusion) -> bool {
    // Truth values may be written as in JSON or as the scoring scripts print them.
    let json = match row.fields.get(&exclusion.field) {
        Some(Value::Bool(true)) => "true",
        Some(Value::Bool(false)) => "false",
        _ => return row.label(&exclusion.field) == exclusion.value,
    };
    json == exclusion.value || row.label(&exclusion.field) == exclusion.value
}

fn question(row: &Row, fields: &QuestionFields) -> Result<Question, String> {
    let qid = row.text("qid").ok_or("no `qid`")?;
    let text = row.text(&fields.query).ok_or_else(|| {
        format!(
            "no question in field `{}`; choose it with --query-field",
            fields.query
        )
    })?;
    let scope = match &fields.scope {
        None => None,
        Some(field) => Some(
            row.text(field)
                .ok_or_else(|| format!("no scope in field `{field}`"))?,
        ),
    };
    let groups = match row.fields.get("gold_groups") {
        Some(Value::Array(groups)) => groups.iter().map(ids).collect(),
        _ => Vec::new(),
    };
    Ok(Question {
        qid,
        text,
        gold: once(row.list(&fields.gold)),
        groups,
        scope,
        part: fields
            .by
            .as_ref()
            .map(|field| format!("{field}={}", row.label(field))),
    })
}

fn ids(group: &Value) -> Vec<String> {
    match group {
        Value::Array(items) => items
            .iter()
            .filter_map(|item| item.as_str().map(str::to_owned))
            .collect(),
        _ => Vec::new(),
    }
}

/// The items without repeats, in the order of their first place.
fn once(items: Vec<String>) -> Vec<String> {
    let mut seen = HashSet::new();
    items
        .into_iter()
        .filter(|item| seen.insert(item.clone()))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fields() -> QuestionFields {
        QuestionFields {
            query: "question".into(),
            gold: "gold".into(),
            scope: None,
            by: Some("hops".into()),
            exclude: vec!["kind=other".parse().unwrap(), "kept=true".parse().unwrap()],
        }
    }

    fn read(content: &str, fields: &QuestionFields) -> Result<QuestionSet> {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("queries.jsonl");
        std::fs::write(&path, content).unwrap();
        read_questions(&path, fields)
    }

    #[test]
    fn rows_are_kept_excluded_or_listed() {
        let set = read(
            concat!(
                "{\"qid\": \"1\", \"question\": \"a?\", \"gold\": [\"x\", \"y\", \"x\"], \"hops\": 2}\n",
                "{\"qid\": \"2\", \"question\": \"b?\", \"gold\": []}\n",
                "{\"qid\": \"3\", \"question\": \"c?\", \"gold\": [\"x\"], \"kind\": \"other\"}\n",
                "{\"qid\": \"4\", \"question\": \"c?\", \"gold\": [\"x\"], \"kept\": true}\n",
                "{\"qid\": \"5\", \"gold\": [\"x\"]}\n",
                "{\"qid\": \"1\", \"question\": \"again?\", \"gold\": [\"x\"]}\n",
                "{\"qid\": \"6\", \"question\": \"d?\", \"gold\": \"z\", \"gold_groups\": [[\"z\"], [\"w\", \"v\"]]}\n",
            ),
            &fields(),
        )
        .unwrap();
        assert_eq!((set.excluded, set.no_gold), (2, 1));
        assert_eq!(
            set.broken.iter().map(|b| b.line).collect::<Vec<_>>(),
            [5, 6]
        );
        assert_eq!(set.questions.len(), 2);
        assert_eq!(set.questions[0].gold, ["x", "y"]);
        assert_eq!(set.questions[0].part.as_deref(), Some("hops=2"));
        assert_eq!(set.questions[1].gold, ["z"]);
        assert_eq!(set.questions[1].groups, [vec!["z"], vec!["w", "v"]]);
        assert_eq!(set.questions[1].part.as_deref(), Some("hops=None"));
    }

    #[test]
    fn nothing_to_score_is_an_error_that_says_why() {
        let error = read("{\"qid\": \"1\", \"question\": \"a?\"}\n", &fields()).unwrap_err();
        assert!(error.to_string().contains("1 without gold"), "{error}");
        let error = read("{\"qid\": \"1\"}\n", &fields()).unwrap_err();
        assert!(error.to_string().contains("--query-field"), "{error}");
    }

    #[test]
    fn the_halves_are_halves_and_do_not_follow_the_last_digit() {
        let question = |n: usize| Question {
            qid: format!("q{n}"),
            text: String::new(),
            gold: Vec::new(),
            groups: Vec::new(),
            scope: None,
            part: None,
        };
        let first = |step: usize| {
            (0..2_000)
                .step_by(step)
                .filter(|&n| question(n).half() == Half::First)
                .count()
        };
        assert!((930..1_070).contains(&first(1)), "{}", first(1));
        assert!((450..550).contains(&first(2)), "{}", first(2));
    }

    #[test]
    fn a_scope_is_in_one_half_as_a_whole() {
        let question = |n: usize, scopes: usize| Question {
            qid: format!("q{n}"),
            text: String::new(),
            gold: Vec::new(),
            groups: Vec::new(),
            scope: (scopes > 0).then(|| format!("s{}", n % scopes)),
            part: None,
        };
        let of = |scopes: usize| -> Vec<Half> {
            let all: Vec<Question> = (0..70).map(|n| question(n, scopes)).collect();
            halves(&all)
        };
        let seven = of(7);
        assert!((0..70).all(|n| seven[n] == seven[n % 7]));
        let first = seven.iter().filter(|half| **half == Half::First).count();
        assert!([30, 40].contains(&first), "{first}");
        // One scope, or none, leaves the questions to their own ids.
        assert_eq!(of(1), of(0));
    }

    #[test]
    fn an_exclusion_needs_an_equals_sign() {
        assert!("kind".parse::<Exclusion>().is_err());
        assert_eq!("a=b=c".parse::<Exclusion>().unwrap().value, "b=c");
    }
}
