//! Random histories of facts that are stated, stated late, corrected, taken back and undone, against a list of
//! everything that was known after each step. `MALHA_HISTORIES` says how many histories are played.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

use malha_engine::types::{
    Clock, ConflictPolicy, Correction, Direction, GivenFact, Memory, NeighborRequest, Times,
    Timestamp,
};
use malha_engine::{Engine, EngineConfig, Error, parse_moment};

const SUBJECTS: [&str; 2] = ["Kiran Rao", "Maya Bell"];
const RELATIONS: [&str; 2] = ["lives in", "knows of"];
const OBJECTS: [&str; 3] = ["Whitefield", "Electronic City", "Mysore"];
const YEARS: std::ops::Range<u64> = 2001..2009;
const STEPS: u64 = 12;
const START: i64 = 1_717_200_000_000;

/// A clock that the test sets.
#[derive(Clone, Default)]
struct Hand(Arc<AtomicI64>);

impl Clock for Hand {
    fn now(&self) -> Timestamp {
        Timestamp(self.0.load(Ordering::Relaxed))
    }
}

/// Numbers that look random, the same for a seed everywhere.
struct Dice(u64);

impl Dice {
    fn below(&mut self, end: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (z ^ (z >> 31)) % end
    }

    fn pick<T: Copy>(&mut self, from: &[T]) -> T {
        from[self.below(from.len() as u64) as usize]
    }

    fn year(&mut self) -> u64 {
        YEARS.start + self.below(YEARS.end - YEARS.start)
    }
}

fn year(year: u64) -> i64 {
    parse_moment(&year.to_string()).unwrap().0
}

/// A fact as stated.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
struct Fact {
    subject: &'static str,
    relation: &'static str,
    object: &'static str,
    from: Option<i64>,
    /// Whether the start is a date, and not the moment at which it was said.
    dated: bool,
    to: Option<i64>,
}

impl Fact {
    fn buried(&self) -> Self {
        Self {
            from: self.from.filter(|_| self.dated),
            dated: true,
            ..self.clone()
        }
    }

    fn is_exclusive(&self) -> bool {
        self.relation == RELATIONS[0]
    }
}

/// The naive side: what is stated by which operations, and a copy of it after each step.
#[derive(Default)]
struct Model {
    stated: BTreeMap<Fact, BTreeSet<i64>>,
    buried: BTreeSet<Fact>,
    undone: BTreeSet<i64>,
    /// What each correction took back, with what had stated it.
    taken: BTreeMap<i64, Vec<(Fact, BTreeSet<i64>)>>,
    versions: Vec<(i64, Vec<Fact>)>,
}

impl Model {
    fn state(&mut self, mut fact: Fact, said_at: i64, operation: i64) {
        if self.buried.contains(&fact.buried()) {
            return;
        }
        let others = self.stated.keys().any(|known| {
            (known.subject, known.relation) == (fact.subject, fact.relation)
                && known.object != fact.object
        });
        let goes_on = fact.to.is_none_or(|to| said_at < to);
        if fact.is_exclusive() && fact.from.is_none() && goes_on && others {
            fact.from = Some(said_at);
            fact.dated = false;
        }
        self.stated.entry(fact).or_default().insert(operation);
    }

    fn take_back(&mut self, subject: &str, relation: &str, object: &str, operation: i64) {
        let wrong: Vec<Fact> = self
            .stated
            .keys()
            .filter(|fact| {
                (fact.subject, fact.relation, fact.object) == (subject, relation, object)
            })
            .cloned()
            .collect();
        for fact in wrong {
            let by = self.stated.remove(&fact).unwrap();
            self.buried.insert(fact.buried());
            self.taken.entry(operation).or_default().push((fact, by));
        }
    }

    fn undo(&mut self, operation: i64) {
        self.undone.insert(operation);
        for by in self.stated.values_mut() {
            by.remove(&operation);
        }
        self.stated.retain(|_, by| !by.is_empty());
        for (fact, by) in self.taken.remove(&operation).unwrap_or_default() {
            self.buried.remove(&fact.buried());
            let by: BTreeSet<i64> = by.difference(&self.undone).copied().collect();
            if !by.is_empty() {
                self.stated.insert(fact, by);
            }
        }
    }

    /// Each fact with the end that follows from the others.
    fn remember(&mut self, now: i64) {
        let facts: Vec<Fact> = self.stated.keys().cloned().collect();
        let ended = facts
            .iter()
            .map(|fact| {
                let next = facts
                    .iter()
                    .filter(|other| {
                        fact.is_exclusive()
                            && (other.subject, other.relation) == (fact.subject, fact.relation)
                            && other.object != fact.object
                            && other.from > fact.from
                    })
                    .filter_map(|other| other.from)
                    .min();
                let to = [fact.to, next].into_iter().flatten().min();
                Fact { to, ..fact.clone() }
            })
            .collect();
        self.versions.push((now, ended));
    }

    fn seen(&self, subject: &str, valid: i64, known: i64) -> Vec<String> {
        let version = self.versions.iter().rev().find(|(at, _)| *at <= known);
        let mut seen: Vec<String> = version
            .into_iter()
            .flat_map(|(_, facts)| facts)
            .filter(|fact| {
                fact.subject == subject
                    && fact.from.is_none_or(|from| from <= valid)
                    && fact.to.is_none_or(|to| valid < to)
            })
            .map(|fact| format!("{} {}", fact.relation, fact.object))
            .collect();
        seen.sort();
        seen
    }
}

fn seen(engine: &Engine, subject: &str, times: Times) -> Vec<String> {
    let found = engine.at(times).neighbors(&NeighborRequest {
        max_hops: 1,
        direction: Direction::Out,
        ..NeighborRequest::new(subject)
    });
    let found = match found {
        Ok(found) => found,
        Err(Error::NotFound { .. }) => return Vec::new(),
        Err(error) => panic!("{error}"),
    };
    let mut seen: Vec<String> = found
        .relations
        .iter()
        .filter(|relation| relation.source == subject)
        .map(|relation| format!("{} {}", relation.relation_type, relation.target))
        .collect();
    seen.sort();
    seen
}

fn play(seed: u64) {
    let mut dice = Dice(seed);
    let clock = Hand::default();
    let engine = Engine::in_memory(EngineConfig::default())
        .unwrap()
        .with_clock(clock.clone());
    let mut model = Model::default();
    let mut log: Vec<String> = Vec::new();
    let mut operations: Vec<i64> = Vec::new();
    for step in 0..2 + dice.below(STEPS) {
        let now = START + 10 * step as i64;
        clock.0.store(now, Ordering::Relaxed);
        let (subject, relation, object) = (
            dice.pick(&SUBJECTS),
            dice.pick(&RELATIONS),
            dice.pick(&OBJECTS),
        );
        let from = (dice.below(4) > 0).then(|| dice.year());
        let to = (dice.below(3) == 0).then(|| from.unwrap_or(YEARS.start) + dice.below(5));
        let fact = |object, from: Option<u64>, to: Option<u64>| Fact {
            subject,
            relation,
            object,
            from: from.map(year),
            dated: true,
            to: to.map(|to| year(to + 1)),
        };
        let text = |year: Option<u64>| year.map(|year| year.to_string());
        let report = match dice.below(10) {
            0..5 => {
                log.push(format!(
                    "state {subject} {relation} {object} {from:?} {to:?}"
                ));
                let given = GivenFact {
                    source: subject.to_owned(),
                    relation: relation.to_owned(),
                    target: object.to_owned(),
                    valid_from: text(from),
                    valid_to: text(to),
                    exclusive: relation == RELATIONS[0],
                    ..GivenFact::default()
                };
                let memory = Memory {
                    relations: vec![given],
                    ..Memory::default()
                };
                let report = engine.remember(&[memory], ConflictPolicy::Close).unwrap();
                assert_eq!(report.failed, [], "{log:#?}");
                let operation = report.operation.unwrap();
                model.state(fact(object, from, to), now, operation);
                Some(operation)
            }
            5..8 => {
                let new = (dice.below(2) == 0).then(|| dice.pick(&OBJECTS));
                let (from, to) = (dice.year(), YEARS.end + dice.below(3));
                log.push(format!(
                    "correct {subject} {relation} {object} to {new:?} {from} {to}"
                ));
                let dates = new.map(|_| (from.to_string(), to.to_string()));
                let corrected = engine.correct(&Correction {
                    source: subject.to_owned(),
                    relation: relation.to_owned(),
                    target: object.to_owned(),
                    new_target: new.map(str::to_owned),
                    valid_from: dates.as_ref().map(|dates| dates.0.clone()),
                    valid_to: dates.map(|dates| dates.1),
                    reason: None,
                });
                match corrected {
                    Ok(report) => {
                        let operation = report.operation.unwrap();
                        model.take_back(subject, relation, object, operation);
                        if let Some(new) = new {
                            model.state(fact(new, Some(from), Some(to)), now, operation);
                        }
                        Some(operation)
                    }
                    Err(Error::NotFound { .. }) => None,
                    Err(error) => panic!("{error}\n{log:#?}"),
                }
            }
            _ if operations.is_empty() => None,
            _ => {
                let place = dice.below(operations.len() as u64) as usize;
                let operation = operations.remove(place);
                log.push(format!("undo {operation}"));
                engine.undo(operation).unwrap();
                model.undo(operation);
                None
            }
        };
        if let Some(operation) = report {
            log.push(format!("  operation {operation} at {now}"));
            operations.push(operation);
        }
        model.remember(now);
    }
    let violations = engine.verify().unwrap().violations;
    assert!(
        violations.is_empty(),
        "seed {seed}: {violations:?}\n{log:#?}"
    );
    for _ in 0..24 {
        let valid = match dice.below(3) {
            0 => START + dice.below(150) as i64,
            _ => year(dice.year() + dice.below(6)) - dice.below(2) as i64,
        };
        let known = START - 5 + dice.below(160) as i64;
        for subject in SUBJECTS {
            let times = Times {
                as_of: Some(Timestamp(valid)),
                known_at: Some(Timestamp(known)),
            };
            assert_eq!(
                seen(&engine, subject, times),
                model.seen(subject, valid, known),
                "seed {seed}, {subject} at {valid}, known at {known}\n{log:#?}"
            );
        }
    }
}

#[test]
fn what_was_known_then_is_what_a_list_of_versions_says() {
    let histories = std::env::var("MALHA_HISTORIES")
        .ok()
        .and_then(|number| number.parse().ok())
        .unwrap_or(60);
    for seed in 0..histories {
        play(seed);
    }
}
