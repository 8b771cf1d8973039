//! Candidates into a context that keeps its budget.

use std::collections::BTreeMap;
use std::ops::Range;

use super::budget::{joint, measure};
use super::passages::Sentences;
use crate::types::{Budget, ContextItem, ContextKind, Cut, DocumentId};

/// Share of the budget that entities and relations may take before passages have had their turn.
const ENTITY_SHARE: f64 = 0.08;
const RELATION_SHARE: f64 = 0.12;
const CLAIM_SHARE: f64 = 0.05;
const REPORT_SHARE: f64 = 0.05;
/// Pieces tried after the first that does not fit: a shorter one may.
const TRIES: usize = 200;
/// Rounds of filling what merging neighbours has freed.
const ROUNDS: usize = 4;

/// What may stand in a context, each kind best first.
#[derive(Debug, Default)]
pub(crate) struct Candidates {
    pub entities: Vec<ContextItem>,
    pub relations: Vec<ContextItem>,
    pub claims: Vec<ContextItem>,
    pub reports: Vec<ContextItem>,
    pub sentences: Sentences,
}

/// Items whose texts, one a line, are no longer than the budget, how much of it they take, and what was left out.
/// Entities, relations, claims and reports get a small share, sentences the rest, and what those leave goes to more of
/// them. Sentences that touch become one passage; no byte of a document stands there twice.
pub(crate) fn pack(candidates: Candidates, budget: Budget) -> (Vec<ContextItem>, usize, Vec<Cut>) {
    let Candidates {
        entities,
        relations,
        claims,
        reports,
        sentences,
    } = candidates;
    let share = |share: f64| (budget.amount as f64 * share) as usize;
    let mut lines = Lines::new(budget);
    lines.take(&entities, share(ENTITY_SHARE));
    lines.take(&relations, share(RELATION_SHARE));
    lines.take(&claims, share(CLAIM_SHARE));
    lines.take(&reports, share(REPORT_SHARE));
    let mut chosen = Chosen::new(&sentences);
    let mut passages = Vec::new();
    let mut used = lines.used;
    for _ in 0..ROUNDS {
        if !chosen.fill(budget, budget.amount.saturating_sub(used)) {
            break;
        }
        passages = chosen.passages();
        used = lines.used
            + passages
                .iter()
                .map(|item| measure(&item.text, budget.unit) + joint(budget.unit))
                .sum::<usize>();
    }
    lines.used = used;
    lines.take(&entities, usize::MAX);
    lines.take(&relations, usize::MAX);
    lines.take(&claims, usize::MAX);
    lines.take(&reports, usize::MAX);
    let mut items = lines.items;
    items.sort_by_key(|item| item.kind);
    items.extend(passages);
    // A vocabulary may count the whole as more than the sum of its parts, if rarely.
    let mut length = whole(&items, budget);
    while length > budget.amount && items.pop().is_some() {
        length = whole(&items, budget);
    }
    let stands = |kind| items.iter().filter(|item| item.kind == kind).count();
    let left_out = |kind, candidates: &[ContextItem]| (kind, candidates.len() - stands(kind));
    let cut = [
        left_out(ContextKind::Entity, &entities),
        left_out(ContextKind::Relation, &relations),
        left_out(ContextKind::Claim, &claims),
        left_out(ContextKind::Report, &reports),
        (ContextKind::Passage, chosen.left_out()),
    ]
    .into_iter()
    .filter(|(_, left_out)| *left_out > 0)
    .map(|(kind, left_out)| Cut { kind, left_out })
    .collect();
    (items, length, cut)
}

fn whole(items: &[ContextItem], budget: Budget) -> usize {
    let texts: Vec<&str> = items.iter().map(|item| item.text.as_str()).collect();
    measure(&texts.join("\n"), budget.unit)
}

/// Whole lines, taken until a limit.
struct Lines {
    budget: Budget,
    used: usize,
    items: Vec<ContextItem>,
}

impl Lines {
    const fn new(budget: Budget) -> Self {
        Self {
            budget,
            used: 0,
            items: Vec::new(),
        }
    }

    /// Takes candidates in order, as long as they take no more than `most` and the whole fits the budget.
    fn take(&mut self, candidates: &[ContextItem], most: usize) {
        let mut left = most;
        for item in candidates {
            if self.items.contains(item) {
                continue;
            }
            // The last line has no line break after it, so the first costs none.
            let is_first = self.used == 0;
            let cost = measure(&item.text, self.budget.unit)
                + if is_first { 0 } else { joint(self.budget.unit) };
            if cost > left || self.used + cost > self.budget.amount {
                break;
            }
            left -= cost;
            self.used += cost;
            self.items.push(item.clone());
        }
    }
}

/// Sentences that are in, and where to go on.
struct Chosen<'a> {
    pool: &'a Sentences,
    /// Best first.
    order: Vec<usize>,
    is_in: Vec<bool>,
    /// Bytes of each document that stand in the context, by start.
    taken: BTreeMap<(DocumentId, usize), usize>,
}

impl<'a> Chosen<'a> {
    fn new(pool: &'a Sentences) -> Self {
        let mut order: Vec<usize> = (0..pool.all.len()).collect();
        order.sort_by(|&a, &b| (pool.all[b].score.total_cmp(&pool.all[a].score)).then(a.cmp(&b)));
        Self {
            pool,
            order,
            is_in: vec![false; pool.all.len()],
            taken: BTreeMap::new(),
        }
    }

    /// Adds sentences that take no more than `room`. False when none fits.
    fn fill(&mut self, budget: Budget, room: usize) -> bool {
        let mut left = room;
        let mut tries = 0;
        let mut has_added = false;
        for at in 0..self.order.len() {
            let number = self.order[at];
            if self.is_in[number] {
                continue;
            }
            let sentence = &self.pool.all[number];
            let chunk = &self.pool.chunks[sentence.chunk];
            let range = chunk.start + sentence.range.start..chunk.start + sentence.range.end;
            if self.is_taken(chunk.document, &range) {
                continue;
            }
            let cost = measure(&chunk.text[sentence.range.clone()], budget.unit)
                + joint(budget.unit).max(self.gap(number, budget));
            if cost > left {
                tries += 1;
                if tries > TRIES {
                    break;
                }
                continue;
            }
            left -= cost;
            has_added = true;
            self.is_in[number] = true;
            self.taken.insert((chunk.document, range.start), range.end);
        }
        has_added
    }

    /// Length of what stands between a sentence and the ones beside it: it comes with them when they are merged.
    fn gap(&self, number: usize, budget: Budget) -> usize {
        let sentence = &self.pool.all[number];
        let text = &self.pool.chunks[sentence.chunk].text;
        let after = self
            .pool
            .all
            .get(number + 1)
            .filter(|next| next.chunk == sentence.chunk)
            .map_or("", |next| &text[sentence.range.end..next.range.start]);
        measure(after, budget.unit)
    }

    fn is_taken(&self, document: DocumentId, range: &Range<usize>) -> bool {
        let before = self.taken.range(..(document, range.end)).next_back();
        before.is_some_and(|(&(other, _), &end)| other == document && end > range.start)
    }

    /// Sentences that follow each other in a chunk, with only blanks between them, as one passage; best first.
    fn passages(&self) -> Vec<ContextItem> {
        let mut runs: Vec<(usize, Range<usize>, f64)> = Vec::new();
        for (number, sentence) in self.pool.all.iter().enumerate() {
            if !self.is_in[number] {
                continue;
            }
            let text = &self.pool.chunks[sentence.chunk].text;
            if let Some((chunk, range, score)) = runs.last_mut()
                && *chunk == sentence.chunk
                && text[range.end..sentence.range.start].trim().is_empty()
            {
                range.end = sentence.range.end;
                *score = score.max(sentence.score);
            } else {
                runs.push((sentence.chunk, sentence.range.clone(), sentence.score));
            }
        }
        runs.sort_by(|a, b| {
            b.2.total_cmp(&a.2)
                .then((a.0, a.1.start).cmp(&(b.0, b.1.start)))
        });
        runs.into_iter()
            .map(|(chunk, range, score)| {
                let citation = self.pool.citation(chunk, range);
                ContextItem {
                    kind: ContextKind::Passage,
                    text: citation.quote.clone(),
                    score,
                    citation: Some(citation),
                }
            })
            .collect()
    }

    fn left_out(&self) -> usize {
        self.is_in.iter().filter(|is_in| !**is_in).count()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::retrieval::passages::Sentence;
    use crate::storage::EvidenceChunk;
    use crate::text::Language;
    use crate::types::BudgetUnit;

    fn line(kind: ContextKind, text: &str) -> ContextItem {
        ContextItem {
            kind,
            text: text.to_owned(),
            score: 1.0,
            citation: None,
        }
    }

    /// One chunk a document; sentences of so many letters.
    fn sentences(documents: &[Vec<usize>]) -> Sentences {
        let mut found = Sentences::default();
        for (number, lengths) in documents.iter().enumerate() {
            let mut text = String::new();
            for (at, &length) in lengths.iter().enumerate() {
                if at > 0 {
                    text.push_str(if at % 3 == 0 { "\n\n" } else { " " });
                }
                let start = text.len();
                text.extend((0..length).map(|letter| if letter % 6 == 5 { ' ' } else { 'a' }));
                text.push('.');
                found.all.push(Sentence {
                    chunk: number,
                    range: start..text.len(),
                    score: ((number * 31 + at * 17) % 23) as f64,
                    words: 0,
                });
            }
            found.chunks.push(EvidenceChunk {
                document: DocumentId(number as i64),
                uri: format!("{number}.md"),
                title: String::new(),
                language: Language::English,
                heading_path: Vec::new(),
                line: 1,
                start: 0,
                end: text.len(),
                text,
            });
        }
        found
    }

    proptest! {
        #[test]
        fn no_context_exceeds_its_budget_and_what_there_is_is_used(
            names in prop::collection::vec("[A-Za-z]{1,20}", 0..30),
            documents in prop::collection::vec(prop::collection::vec(1_usize..90, 1..12), 0..12),
            amount in 0_usize..2000,
            unit in prop_oneof![
                Just(BudgetUnit::Tokens), Just(BudgetUnit::Characters), Just(BudgetUnit::Words)
            ],
        ) {
            let lines = |kind| names.iter().map(|name| line(kind, &format!("({name})"))).collect();
            let candidates = Candidates {
                entities: lines(ContextKind::Entity),
                relations: lines(ContextKind::Relation),
                claims: lines(ContextKind::Claim),
                reports: lines(ContextKind::Report),
                sentences: sentences(&documents),
            };
            let budget = Budget { amount, unit };
            let (items, used, cut) = pack(candidates, budget);
            prop_assert_eq!(used, whole(&items, budget));
            prop_assert!(used <= amount, "{used} of {amount}");
            if amount >= 400 && cut.iter().any(|cut| cut.kind == ContextKind::Passage) {
                // Sentences of at most ninety letters were left out, so less than one of them is free.
                prop_assert!(used * 10 >= amount * 9 || amount - used < 92, "{used} of {amount}");
            }
            for item in &items {
                if let Some(citation) = &item.citation {
                    let chunk = &documents[citation.document.0 as usize];
                    prop_assert!(citation.end <= chunk.iter().sum::<usize>() + 3 * chunk.len());
                }
            }
        }
    }

    #[test]
    fn touching_sentences_are_one_passage_and_overlaps_stand_once() {
        let mut found = sentences(&[vec![10, 10, 10]]);
        // The same bytes again, as chunks that overlap have them.
        found.chunks.push(EvidenceChunk {
            start: 5,
            ..found.chunks[0].clone()
        });
        found.all.push(Sentence {
            chunk: 1,
            range: 0..11,
            score: 0.5,
            words: 0,
        });
        let candidates = Candidates {
            sentences: found,
            ..Candidates::default()
        };
        let budget = Budget {
            amount: 1000,
            unit: BudgetUnit::Characters,
        };
        let (items, _, cut) = pack(candidates, budget);
        assert_eq!(items.len(), 1, "{items:?}");
        assert_eq!(items[0].citation.as_ref().unwrap().end, 35);
        assert_eq!(cut[0].left_out, 1);
    }
}
