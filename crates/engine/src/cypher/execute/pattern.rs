//! `=~`: whether a regular expression matches a whole text, in time that can be stopped.

use regex::{Regex, RegexBuilder};
use regex_automata::nfa::thompson::{NFA, State, WhichCaptures};
use regex_automata::util::primitives::StateID;

use crate::cypher::budget::Budget;
use crate::cypher::error::{CypherError, Result};

/// Most bytes that an expression may take once it is read.
const MOST_BYTES: usize = 1 << 20;
/// States of an expression times bytes of a text up to which matching is not interrupted: a fraction of a second at
/// worst.
const AT_ONCE: usize = 4 << 20;

/// A regular expression over whole texts.
pub(super) struct Pattern {
    source: String,
    fast: Regex,
    /// The same as states, to be followed step by step.
    states: NFA,
}

impl Pattern {
    pub(super) fn new(source: &str) -> Result<Self> {
        let wrong = |error: &dyn std::fmt::Display| {
            CypherError::argument(format!("{source} is no regular expression: {error}"))
        };
        let read = |text: &str| RegexBuilder::new(text).size_limit(MOST_BYTES).build();
        // Alone first: a bracket of its own must not close the one around it.
        read(source).map_err(|error| wrong(&error))?;
        let mut whole = format!("^(?:{source})$");
        let mut fast = read(&whole);
        if fast.is_err() {
            // A comment at its end takes the rest of the line with it.
            whole = format!("^(?:{source}\n)$");
            fast = read(&whole);
        }
        let fast = fast.map_err(|error| wrong(&error))?;
        let states = NFA::compiler()
            .configure(
                NFA::config()
                    .nfa_size_limit(Some(MOST_BYTES))
                    .which_captures(WhichCaptures::None),
            )
            .build(&whole)
            .map_err(|error| wrong(&error))?;
        Ok(Self {
            source: source.to_owned(),
            fast,
            states,
        })
    }

    /// Whether it was read from this.
    pub(super) fn is_of(&self, source: &str) -> bool {
        self.source == source
    }

    /// Whether it matches all of a text.
    pub(super) fn matches(&self, text: &str, budget: &Budget) -> Result<bool> {
        let work = self.states.states().len().saturating_mul(text.len());
        if work <= AT_ONCE {
            return Ok(self.fast.is_match(text));
        }
        self.follow(text.as_bytes(), budget)
    }

    /// All states at once, a byte at a time (Thompson 1968).
    fn follow(&self, text: &[u8], budget: &Budget) -> Result<bool> {
        let mut now = States::new(self.states.states().len());
        let mut next = States::new(self.states.states().len());
        self.add(self.states.start_anchored(), text, 0, &mut now);
        for (&byte, at) in text.iter().zip(1..) {
            budget.ticks(1 + now.list.len() / 4)?;
            next.list.clear();
            next.round += 1;
            for &id in &now.list {
                let to = match self.states.state(id) {
                    State::ByteRange { trans } if trans.matches_byte(byte) => Some(trans.next),
                    State::Sparse(sparse) => sparse.matches_byte(byte),
                    State::Dense(dense) => dense.matches_byte(byte),
                    _ => None,
                };
                if let Some(to) = to {
                    self.add(to, text, at, &mut next);
                }
            }
            std::mem::swap(&mut now, &mut next);
            if now.list.is_empty() {
                return Ok(false);
            }
        }
        let ends = |id: &StateID| matches!(self.states.state(*id), State::Match { .. });
        Ok(now.list.iter().any(ends))
    }

    /// Adds a state and those that are reached from it without a byte.
    fn add(&self, from: StateID, text: &[u8], at: usize, states: &mut States) {
        states.waiting.push(from);
        while let Some(id) = states.waiting.pop() {
            if std::mem::replace(&mut states.rounds[id], states.round) == states.round {
                continue;
            }
            match self.states.state(id) {
                State::Look { look, next } => {
                    if self.states.look_matcher().matches(*look, text, at) {
                        states.waiting.push(*next);
                    }
                }
                State::Union { alternates } => states.waiting.extend(alternates.iter()),
                State::BinaryUnion { alt1, alt2 } => states.waiting.extend([*alt1, *alt2]),
                State::Capture { next, .. } => states.waiting.push(*next),
                State::Fail => {}
                _ => states.list.push(id),
            }
        }
    }
}

/// A set of states that is cleared by counting on.
struct States {
    list: Vec<StateID>,
    rounds: Vec<u32>,
    round: u32,
    waiting: Vec<StateID>,
}

impl States {
    fn new(states: usize) -> Self {
        Self {
            list: Vec::new(),
            rounds: vec![0; states],
            round: 1,
            waiting: Vec::new(),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, Instant};

    use super::*;
    use crate::cypher::budget::Limits;

    #[test]
    fn both_ways_of_matching_agree() {
        let budget = Budget::new(Limits::default());
        let texts = [
            "", "a", "ab", "aab", "ção", "a\nb", "Ana Bia", "AB", "x-1", "aaaa",
        ];
        for source in [
            "",
            "a*b",
            "a|ab|ção",
            ".",
            ".*",
            "(?s).*",
            r"\w+ \w+",
            r"\bAna\b.*",
            "(?i)ab",
            "[^a]+",
            r"\p{L}-\d",
            "(a{1,2}){2}",
            "^a$",
            "$a",
            r"(?m)^a$.^b$",
            "(?:a|b)*?",
        ] {
            let pattern = Pattern::new(source).unwrap();
            for text in texts {
                let expected = pattern.fast.is_match(text);
                let followed = pattern.follow(text.as_bytes(), &budget).unwrap();
                assert_eq!(followed, expected, "{source} on {text:?}");
            }
        }
    }

    #[test]
    fn an_expression_stands_for_itself() {
        let budget = Budget::new(Limits::default());
        assert!(Pattern::new("a)|(?:b").is_err());
        assert!(Pattern::new("(").is_err());
        let commented = Pattern::new("(?x)a # c").unwrap();
        assert!(commented.matches("a", &budget).unwrap());
        assert!(!commented.matches("a # c", &budget).unwrap());
    }

    #[test]
    fn a_long_match_stops_at_the_time_limit() {
        let limits = Limits {
            time: Duration::from_millis(50),
            ..Limits::default()
        };
        let pattern = Pattern::new("(a{1,60}){1,60}b").unwrap();
        let text = "a".repeat(20 << 20);
        let began = Instant::now();
        let error = pattern.matches(&text, &Budget::new(limits)).unwrap_err();
        assert_eq!(error.detail, "TimeLimit");
        assert!(began.elapsed() < Duration::from_secs(5));
    }
}
