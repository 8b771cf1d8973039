//! From words to entities: what a phrase names, and which names stand in a question.

use std::collections::BTreeMap;

use crate::Result;
use crate::text::{Language, Word, fold, is_stop_word, squash, words};
use crate::types::EntityId;

/// The aliases of a store, as linking asks for them. Several entities may share an alias.
pub trait AliasIndex {
    /// Entities with this folded alias.
    fn exact(&self, folded: &str) -> Result<Vec<EntityId>>;

    /// Entities with this squashed alias.
    fn squashed(&self, form: &str) -> Result<Vec<EntityId>>;

    /// Squashed aliases that contain `form` or are contained in it, of at least [`SHORTEST`] characters,
    /// where the shorter one has at least [`LEAST_RATIO`] of the characters of the longer one.
    fn overlapping(&self, form: &str) -> Result<Vec<Overlap>>;
}

/// An alias found by containment.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Overlap {
    pub entity: EntityId,
    /// Characters of the shorter one / characters of the longer one.
    pub ratio: f64,
}

/// Shorter aliases are contained in too much.
pub const SHORTEST: usize = 4;
/// What overlaps less is another name.
pub const LEAST_RATIO: f64 = 0.5;

/// The step that found an entity, strictest first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum LinkStep {
    /// The whole phrase is an alias.
    Exact,
    /// It is one but for spaces, order or stop words.
    Squashed,
    /// One of its words is an alias.
    Word,
    /// It overlaps with one.
    Overlap,
}

/// An entity that a phrase may name.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Linked {
    pub entity: EntityId,
    /// 10 for the whole phrase; 9, 8, 7 for its squashed forms; 7 for a word; up to 3 for an overlap.
    pub score: f64,
    pub step: LinkStep,
}

/// Links a phrase in four steps, from the strictest to the most tolerant; the best step of each entity
/// counts. Best first, equal scores by row id. Entities that `isolated` names are left out: nothing can be
/// reached from them. `languages` are those whose stop words are skipped.
pub fn link(
    phrase: &str,
    languages: &[Language],
    aliases: &impl AliasIndex,
    isolated: impl Fn(EntityId) -> bool,
) -> Result<Vec<Linked>> {
    let tokens = content_words(phrase, languages);
    let mut best: BTreeMap<EntityId, Linked> = BTreeMap::new();
    let mut add = |entity: EntityId, score: f64, step: LinkStep| {
        let found = Linked {
            entity,
            score,
            step,
        };
        let known = best.entry(entity).or_insert(found);
        if score > known.score {
            *known = found;
        }
    };
    for entity in non_empty(&fold(phrase), |folded| aliases.exact(folded))? {
        add(entity, 10.0, LinkStep::Exact);
    }
    // Names are often written as one word, and a preposition in the middle breaks them: so without stop
    // words, then also without order, then the phrase as it is.
    let mut sorted = tokens.clone();
    sorted.sort_unstable();
    let mut forms = vec![(tokens.concat(), 9.0)];
    for (form, score) in [(sorted.concat(), 8.0), (squash(phrase), 7.0)] {
        if forms.iter().all(|(known, _)| *known != form) {
            forms.push((form, score));
        }
    }
    for (form, score) in &forms {
        for entity in non_empty(form, |form| aliases.squashed(form))? {
            add(entity, *score, LinkStep::Squashed);
        }
    }
    sorted.dedup();
    for token in &sorted {
        for entity in aliases.exact(token)? {
            add(entity, 7.0, LinkStep::Word);
        }
    }
    for (form, _) in &forms {
        for overlap in non_empty(form, |form| aliases.overlapping(form))? {
            add(overlap.entity, overlap.ratio * 3.0, LinkStep::Overlap);
        }
    }
    let mut linked: Vec<Linked> = best
        .into_values()
        .filter(|found| !isolated(found.entity))
        .collect();
    linked.sort_by(|a, b| b.score.total_cmp(&a.score).then(a.entity.cmp(&b.entity)));
    Ok(linked)
}

/// No text names nothing.
fn non_empty<T>(text: &str, look_up: impl Fn(&str) -> Result<Vec<T>>) -> Result<Vec<T>> {
    if text.is_empty() {
        Ok(Vec::new())
    } else {
        look_up(text)
    }
}

/// The folded words of a phrase without stop words, or all of them when it has nothing else.
fn content_words(phrase: &str, languages: &[Language]) -> Vec<String> {
    let all = words(phrase);
    let content = |word: &&Word| !is_stop(&word.folded, languages);
    let mut tokens: Vec<String> = all
        .iter()
        .filter(content)
        .map(|word| word.folded.to_string())
        .collect();
    if tokens.is_empty() {
        tokens = all.iter().map(|word| word.folded.to_string()).collect();
    }
    tokens
}

fn is_stop(folded: &str, languages: &[Language]) -> bool {
    languages
        .iter()
        .any(|&language| is_stop_word(folded, language))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::graph::AliasTable;

    const LANGUAGES: [Language; 2] = [Language::Portuguese, Language::English];

    fn table(aliases: &[(&str, i64)]) -> AliasTable {
        AliasTable::new(
            aliases
                .iter()
                .map(|&(alias, id)| (fold(alias), EntityId(id))),
        )
    }

    /// The example of the seed article: names written as one word.
    fn example() -> AliasTable {
        table(&[
            ("ServicoAutenticacao", 1),
            ("ModuloPagamento", 2),
            ("StoreSessao", 3),
            ("TimeIAM", 4),
            ("ClusterDB", 5),
            ("ClusterK8sAlpha", 6),
            ("ServicoLogs", 7),
        ])
    }

    #[track_caller]
    fn check(aliases: &AliasTable, phrase: &str, expected: &[(i64, f64)]) {
        let linked = link(phrase, &LANGUAGES, aliases, |_| false).unwrap();
        let found: Vec<_> = linked
            .iter()
            .map(|found| (found.entity.0, found.score))
            .collect();
        assert_eq!(found, expected, "{phrase}");
    }

    #[test]
    fn the_example_links_as_printed() {
        let aliases = example();
        for (phrase, entity) in [
            // Bug 1 (a name written as one word) and bug 2 (a preposition in the middle).
            ("servico de autenticacao", 1),
            ("Cluster DB", 5),
            ("modulo pagamento", 2),
            ("Serviço de Autenticação", 1),
        ] {
            let linked = link(phrase, &LANGUAGES, &aliases, |_| false).unwrap();
            assert_eq!(linked[0].entity, EntityId(entity), "{phrase}");
            assert!(linked[0].score >= 3.0 * LEAST_RATIO, "{phrase}");
        }
        check(&aliases, "servico de autenticacao", &[(1, 9.0)]);
        check(&aliases, "Cluster DB", &[(5, 9.0)]);
        check(&aliases, "modulo pagamento", &[(2, 9.0)]);
    }

    #[test]
    fn each_step_has_its_score() {
        let aliases = table(&[
            ("rate limiter", 1),
            ("limiter rate of", 2),
            ("rate", 3),
            ("ratelimiters", 4),
            ("limit", 5),
            ("abc", 6),
        ]);
        // Exact beats the squashed form of the same alias; its words and overlaps follow.
        check(
            &aliases,
            "Rate Limiter",
            &[(1, 10.0), (3, 7.0), (4, 33.0 / 12.0), (2, 33.0 / 13.0)],
        );
        // Tokens sorted.
        let aliases = table(&[("limiterrate", 1)]);
        check(&aliases, "the rate limiter", &[(1, 8.0)]);
        // The phrase as it is, stop words and all.
        let aliases = table(&[("therateof", 1)]);
        check(&aliases, "the rate of", &[(1, 7.0)]);
        // Containment both ways, from a half on.
        let aliases = table(&[
            ("pagamentos", 1),
            ("paga", 2),
            ("pag", 3),
            ("pagamentosfuturo", 4),
            ("pagamentosfuturos", 5),
        ]);
        check(&aliases, "pagament", &[(1, 3.0 * 0.8), (2, 1.5), (4, 1.5)]);
        check(&table(&[("abc", 1), ("xabcx", 2)]), "abcd", &[]);
    }

    #[test]
    fn an_alias_may_name_several_and_ties_go_by_row_id() {
        let aliases = table(&[("mercury", 9), ("mercury", 2), ("mercury", 9), ("venus", 1)]);
        check(&aliases, "Mercury", &[(2, 10.0), (9, 10.0)]);
        check(
            &aliases,
            "mercury and venus",
            &[(1, 7.0), (2, 7.0), (9, 7.0)],
        );
    }

    #[test]
    fn isolated_entities_are_left_out() {
        let aliases = table(&[("mercury", 2), ("mercury", 9)]);
        let linked = link("mercury", &LANGUAGES, &aliases, |entity| entity.0 == 2).unwrap();
        assert_eq!(linked.len(), 1);
        assert_eq!(linked[0].entity, EntityId(9));
    }

    #[test]
    fn a_phrase_without_words_links_nothing_and_stop_words_may_be_names() {
        let aliases = table(&[("the who", 1), ("it", 2), ("c++", 3), ("的", 4)]);
        for phrase in ["", "  ", "?!", "\u{200b}"] {
            check(&aliases, phrase, &[]);
        }
        check(&aliases, "it", &[(2, 10.0)]);
        check(&aliases, "The Who", &[(1, 10.0)]);
        check(&aliases, "C++", &[(3, 10.0)]);
    }
}
