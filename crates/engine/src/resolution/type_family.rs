//! Types as evidence: which of them can be one thing's.

use std::collections::BTreeSet;

use crate::text::{fold, squash};

/// How well the types of two names go together.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Fit {
    /// Known, and nothing in common.
    Unrelated,
    /// One of them has none, or one that says little.
    Unknown,
    /// Words for much the same.
    Related,
    Same,
}

/// Words that say little: anything may be one.
const VAGUE: &str = "entity entidade thing coisa object objeto other outro misc unknown concept conceito concepto \
    topic tema term termo category item element";

/// Words for much the same, a line a family.
const FAMILIES: &[&str] = &[
    PERSON,
    ORGANIZATION,
    "place loc gpe location local lugar city cidade ciudad country pais state estado region regiao town village address \
     geography geo municipality continent ort stadt land lieu ville",
    "event evento incident meeting reuniao conference acontecimento happening",
    "work obra book livro film filme movie song article artigo paper publication document documento report relatorio",
    "technology tecnologia software tool ferramenta product produto system sistema library framework platform \
     plataforma application aplicativo app service servico program programa language method metodo model algorithm \
     technique standard component module api project projeto",
    "date data time tempo period periodo year ano",
    "animal species especie plant planta organism",
    "substance substancia chemical metal material element elemento compound drug medicine",
    "planet planeta star estrela moon lua celestialbody galaxy",
    "disease doenca illness symptom condition disorder",
    "role cargo job occupation position profissao title",
];

const PERSON: &str = "person per pessoa persona people human character personagem personaje individual author autor \
    employee funcionario politician actor personne mensch customer cliente speaker";

const ORGANIZATION: &str = "organization organisation organizacao organizacion org company empresa corporation \
    institution instituicao agency agencia university universidade team equipe group grupo department departamento \
    business firm school hospital government governo party partido bank banco club clube";

/// How well two sets of types go together.
pub(super) fn fit(one: &BTreeSet<String>, other: &BTreeSet<String>) -> Fit {
    if one.is_empty() || other.is_empty() {
        return Fit::Unknown;
    }
    let pairs = one
        .iter()
        .flat_map(|one| other.iter().map(move |other| (one, other)));
    pairs
        .map(|(one, other)| fit_of(one, other))
        .max()
        .unwrap_or(Fit::Unknown)
}

fn fit_of(one: &str, other: &str) -> Fit {
    let (one, other) = (squash(one), squash(other));
    if one == other {
        return Fit::Same;
    }
    if is_in(VAGUE, &one) || is_in(VAGUE, &other) {
        return Fit::Unknown;
    }
    let is_related = FAMILIES
        .iter()
        .any(|family| is_in(family, &one) && is_in(family, &other))
        || one.contains(&other)
        || other.contains(&one);
    // A type of the user's own that no family knows may be a kind of any.
    let is_known = |kind: &str| FAMILIES.iter().any(|family| is_in(family, kind));
    match (is_related, is_known(&one) && is_known(&other)) {
        (true, _) => Fit::Related,
        (false, true) => Fit::Unrelated,
        (false, false) => Fit::Unknown,
    }
}

fn is_in(family: &str, kind: &str) -> bool {
    family.split_whitespace().any(|word| word == kind)
}

/// Whether a folded word is one for types.
pub(super) fn is_type_word(word: &str) -> bool {
    is_in(VAGUE, word) || FAMILIES.iter().any(|family| is_in(family, word))
}

/// Whether these types say that something is a person; `None` where they say nothing.
pub(super) fn is_person(kinds: &BTreeSet<String>) -> Option<bool> {
    is_of(kinds, PERSON)
}

/// Whether these types say that something is an organization; `None` where they say nothing.
pub(super) fn is_organization(kinds: &BTreeSet<String>) -> Option<bool> {
    is_of(kinds, ORGANIZATION)
}

fn is_of(kinds: &BTreeSet<String>, family: &str) -> Option<bool> {
    if kinds.is_empty() {
        return None;
    }
    Some(kinds.iter().any(|kind| {
        let folded = fold(kind);
        folded.split(' ').any(|word| is_in(family, word)) || is_in(family, &squash(kind))
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kinds(words: &str) -> BTreeSet<String> {
        words.split_whitespace().map(str::to_owned).collect()
    }

    #[test]
    fn types_that_can_be_one_things() {
        let check = |one: &str, other: &str, expected: Fit| {
            assert_eq!(fit(&kinds(one), &kinds(other)), expected, "{one} / {other}");
        };
        check("Organization", "Company", Fit::Related);
        check("Concept", "Technology", Fit::Unknown);
        check("Planet", "Metal", Fit::Unrelated);
        check("Person", "PESSOA", Fit::Related);
        check("Person", "Place", Fit::Unrelated);
        check("Person", "", Fit::Unknown);
        check("Ship", "Person", Fit::Unknown);
        check("Person Company", "Organization", Fit::Related);
        check("ResearchInstitution", "Institution", Fit::Related);
        assert_eq!(is_person(&kinds("Pessoa")), Some(true));
        assert_eq!(is_person(&kinds("Ship")), Some(false));
        assert_eq!(is_organization(&kinds("")), None);
    }
}
