use super::*;
use crate::text::{Language, name_key};
use crate::types::MergeRule;

/// `name | type | documents | alias, alias | description`, all but the name may be missing.
fn named(line: &str) -> Named {
    let mut fields = line.split('|').map(str::trim);
    let name = fields.next().unwrap();
    let kind = fields.next().unwrap_or_default();
    let documents = fields.next().unwrap_or_default();
    let aliases = fields.next().unwrap_or_default();
    Named {
        key: name_key(name),
        spellings: [name.to_owned()].into(),
        aliases: aliases
            .split(',')
            .map(str::trim)
            .filter(|a| !a.is_empty())
            .map(str::to_owned)
            .collect(),
        kinds: (!kind.is_empty())
            .then(|| kind.to_owned())
            .into_iter()
            .collect(),
        documents: documents
            .split_whitespace()
            .map(|number| number.parse().unwrap())
            .collect(),
        languages: [Language::English].into(),
        count: documents.split_whitespace().count().max(1),
        ..Named::default()
    }
}

fn run(lines: &[&str], decisions: &Decisions) -> Resolved {
    let mut names: Vec<Named> = lines.iter().map(|line| named(line)).collect();
    names.sort_by(|one, other| one.key.cmp(&other.key));
    resolve(&names, decisions)
}

/// `one > other` for what is joined, `one ? other` for what is proposed.
fn shown(resolved: &Resolved) -> Vec<String> {
    let mut out: Vec<String> = resolved
        .into
        .iter()
        .map(|(one, other)| format!("{one} > {other}"))
        .collect();
    for merge in resolved
        .merges
        .iter()
        .filter(|merge| merge.status == MergeStatus::Proposed)
    {
        out.push(format!("{} ? {}", merge.one, merge.other));
    }
    out
}

#[track_caller]
fn check(lines: &[&str], expected: &[&str]) {
    assert_eq!(
        shown(&run(lines, &Decisions::default())),
        expected,
        "{lines:?}"
    );
}

#[test]
fn the_same_letters_are_one_name() {
    check(
        &["Graph RAG | Technology | 1 2", "GraphRAG | Concept | 3"],
        &["graphrag > graph rag"],
    );
    check(
        &["Graph RAG | Place | 1", "GraphRAG | Person | 2"],
        &["graphrag ? graph rag"],
    );
    check(&["a b c", "abc"], &[]);
}

#[test]
fn initials_and_surnames_are_one_person_where_texts_say_so() {
    check(
        &[
            "João Silva | Person | 1 2",
            "J. Silva | Person | 1",
            "Silva | Person | 2",
        ],
        &["j silva > joao silva", "silva > joao silva"],
    );
    // No text names both: somebody has to say so.
    check(
        &["João Silva | Person | 1", "J. Silva | Person | 2"],
        &["j silva ? joao silva"],
    );
    // Two persons it may be.
    check(
        &[
            "João Silva | Person | 1",
            "José Silva | Person | 1",
            "J. Silva | Person | 1",
            "Silva | Person | 1",
        ],
        &["j silva ? joao silva", "j silva ? jose silva"],
    );
    check(
        &[
            "João Pedro Silva | Person | 1",
            "João Silva | Person | 1",
            "J. P. Silva | Person | 1",
        ],
        &[
            "j p silva > joao pedro silva",
            "joao silva ? joao pedro silva",
        ],
    );
    check(&["Rua Silva | Place | 1", "Silva | Person | 1"], &[]);
    check(
        &["João Silva | Person | 1", "João Silva Júnior | Person | 1"],
        &[],
    );
}

#[test]
fn acronyms_are_their_long_forms() {
    check(
        &[
            "National Health Service | Organization | 1",
            "NHS | Organization | 1 2",
        ],
        &["nhs > national health service"],
    );
    check(
        &[
            "National Health Service | Organization | 1",
            "NHS | Organization | 2",
        ],
        &["nhs ? national health service"],
    );
    check(
        &[
            "National Health Service | Organization | 1",
            "North Harbour Society | Organization | 1",
            "NHS | | 1",
        ],
        &[
            "nhs ? national health service",
            "nhs ? north harbour society",
        ],
    );
    check(
        &[
            "National Health Service | Organization | 1",
            "NHS | Person | 1",
        ],
        &[],
    );
}

#[test]
fn what_a_text_calls_a_thing_besides_is_the_thing() {
    check(
        &[
            "Acme Works | Company | 1 | The Anvil",
            "The Anvil | Organization | 2",
        ],
        &["the anvil > acme works"],
    );
    check(
        &[
            "Acme Works | Company | 1 | The Shop",
            "Bolt Works | Company | 2 | The Shop",
            "The Shop | Company | 3",
        ],
        &["the shop ? acme works", "the shop ? bolt works"],
    );
}

#[test]
fn legal_forms_inflection_and_script_are_no_difference() {
    check(
        &["Northwind | Company | 1", "Northwind Ltd | Company | 2"],
        &["northwind ltd > northwind"],
    );
    check(
        &[
            "Northwind | Company | 1",
            "Northwind Ltd | Company | 2",
            "Northwind GmbH | Company | 3",
        ],
        &["northwind gmbh ? northwind", "northwind ltd ? northwind"],
    );
    check(
        &["Lev Tolstoy | Person | 1", "Лев Толстой | Person | 2"],
        &["лев толстои > lev tolstoy"],
    );
    check(
        &["Trade Unions | Group | 1", "Trade Union | Group | 1"],
        &["trade union ? trade unions"],
    );
    check(
        &["Tchaikovsky | Person | 1", "Chaikovskii | Person | 2"],
        &["tchaikovsky ? chaikovskii"],
    );
}

#[test]
fn likeness_alone_joins_nothing() {
    check(
        &[
            "Northwind Traders | Company | 1",
            "Nortwhind Traders | Company | 1",
        ],
        &["nortwhind traders ? northwind traders"],
    );
    check(&["Model 3 | Product | 1", "Model 4 | Product | 1"], &[]);
    check(&["Python 3.11 | Tool | 1", "Python 3.12 | Tool | 1"], &[]);
    check(
        &["North Korea | Country | 1", "South Korea | Country | 1"],
        &[],
    );
    check(&["Apple | Company | 1", "Apple Pie | Dish | 1"], &[]);
    check(&["York | City | 1", "New York | City | 1"], &[]);
}

#[test]
fn a_description_is_proposed_for_what_does_the_same() {
    let tie = |name: &str, line: &str| Named {
        ties: [("MAKES".to_owned(), true, "kafka".to_owned())].into(),
        ..named(&format!("{name}{line}"))
    };
    let names = [
        named("Kafka | Product | 1"),
        tie("Northwind", " | Company | 1"),
        tie("the company that makes Kafka", " | Company | 2"),
    ];
    let resolved = resolve(&names, &Decisions::default());
    assert_eq!(
        shown(&resolved),
        ["the company that makes kafka ? northwind"]
    );
    assert_eq!(resolved.merges[0].rule, MergeRule::Description);
}

#[test]
fn decisions_hold_against_every_rule() {
    let lines = [
        "João Silva | Person | 1",
        "J. Silva | Person | 1",
        "Silva | Person | 1",
    ];
    let mut decisions = Decisions::default();
    decisions.insert("joao silva", "j silva", false);
    // Two persons now, and nobody knows which of them a surname means.
    assert_eq!(shown(&run(&lines, &decisions)), [""; 0]);
    decisions.insert("j silva", "silva", true);
    decisions.insert("joao silva", "silva", true);
    // One with both, which are apart: a group never holds a rejected pair.
    let resolved = run(&lines, &decisions);
    assert_eq!(shown(&resolved), ["silva > j silva", "silva ? joao silva"]);
    // What no rule finds can still be decided.
    let mut decisions = Decisions::default();
    decisions.insert("acme", "the anvil", true);
    assert_eq!(
        shown(&run(
            &["Acme | Company | 1", "The Anvil | Place | 2"],
            &decisions
        )),
        ["acme > the anvil"]
    );
    // Names that are gone are no trouble.
    assert_eq!(shown(&run(&["Acme | Company | 1"], &decisions)), [""; 0]);
}

#[test]
fn a_middle_initial_is_the_persons_own() {
    // Two presidents in one text.
    check(
        &[
            "George W. Bush | Person | 1",
            "George H. W. Bush | Person | 1",
        ],
        &["george w bush ? george h w bush"],
    );
    check(
        &[
            "Ana B. Costa | Person | 1",
            "Ana Beatriz Costa | Person | 1",
        ],
        &["ana b costa > ana beatriz costa"],
    );
    check(
        &[
            "J. R. Tolkien | Person | 1",
            "J. R. R. Tolkien | Person | 1",
        ],
        &["j r tolkien ? j r r tolkien"],
    );
    // Who writes out both in one text may mean a mother and her daughter.
    check(
        &["Maria Silva | Person | 1", "Maria Clara Silva | Person | 1"],
        &["maria silva ? maria clara silva"],
    );
    // Two texts, and the same work in both.
    let of = |line: &str| Named {
        ties: [("WORKS_AT".to_owned(), true, "porto clinic".to_owned())].into(),
        ..named(line)
    };
    let names = [
        of("Maria Clara Silva | Person | 1"),
        of("Maria Silva | Person | 2"),
    ];
    assert_eq!(
        shown(&resolve(&names, &Decisions::default())),
        ["maria silva > maria clara silva"]
    );
}

#[test]
fn chinese_names_meet_in_either_script_and_in_letters() {
    check(
        &["聯合國 | Organization | 1", "联合国 | Organization | 2"],
        &["聯合國 > 联合国"],
    );
    check(
        &["聯合國 | Place | 1", "联合国 | Person | 2"],
        &["聯合國 ? 联合国"],
    );
    check(
        &["北京 | City | 1", "Beijing | City | 2"],
        &["北京 > beijing"],
    );
    // Persons of one sound are many: a text has to name both.
    check(
        &["王伟 | Person | 1", "Wang Wei | Person | 2"],
        &["王伟 ? wang wei"],
    );
    check(
        &["林砚秋 | Person | 1", "Yanqiu Lin | Person | 1"],
        &["林砚秋 > yanqiu lin"],
    );
    check(
        &[
            "王伟 | Person | 1",
            "汪维 | Person | 1",
            "Wang Wei | Person | 1",
        ],
        &["汪维 ? wang wei", "王伟 ? wang wei"],
    );
    check(&["王伟 | Person | 1", "Wang Wei | Company | 1"], &[]);
    // Whatever a text calls them, these are two.
    check(
        &[
            "市第一人民医院 | Hospital | 1 | 市第二人民医院",
            "市第二人民医院 | Hospital | 1",
        ],
        &[],
    );
    check(
        &["北京大学 | School | 1", "南京大学 | School | 1 | 北京大学"],
        &[],
    );
    check(
        &["北京小米科技 | Company | 1 | 小米", "小米 | Company | 1"],
        &["小米 > 北京小米科技"],
    );
}

/// What [`resolve`] looks at for these names.
fn compared(names: &mut [Named], decisions: &Decisions) -> usize {
    names.sort_by(|one, other| one.key.cmp(&other.key));
    resolve_counted(names, decisions).1
}

/// A graph in which nothing is spread evenly: all of `size` names have the same tie, two of them have ties to all
/// others, a tenth describes what the tie leads to, and as many pairs are decided to be apart as there are names.
fn uneven(size: usize) -> (Vec<Named>, Decisions) {
    let tie = |end: String| ("LIVES_IN".to_owned(), true, end);
    let mut names: Vec<Named> = (0..size)
        .map(|n| Named {
            ties: [tie("brazil".to_owned())].into(),
            ..if n % 10 == 0 {
                named(&format!(
                    "the man of the number {n} in brazil | Person | {n}"
                ))
            } else {
                named(&format!("Ana{} Surname{n} | Person | {n}", n % 97))
            }
        })
        .collect();
    for (name, from) in [("Clara Hub", size), ("C. Hub", 2 * size)] {
        names.push(Named {
            ties: (from..from + size)
                .map(|n| tie(format!("end {n}")))
                .collect(),
            ..named(&format!("{name} | Person | {from}"))
        });
    }
    // Pairs to join, one for every tenth name, so that every rejection could matter to each of them.
    for n in (1..size).step_by(10) {
        names.push(named(&format!("A. Surname{n} | Person | {n}")));
    }
    let mut decisions = Decisions::default();
    for n in 1..size {
        decisions.insert(&names[n - 1].key, &names[n].key, false);
    }
    (names, decisions)
}

#[test]
fn work_grows_with_the_names_however_unevenly_they_are_tied() {
    let of = |size| {
        let (mut names, decisions) = uneven(size);
        compared(&mut names, &decisions)
    };
    let (some, many) = (of(2_000), of(20_000));
    // A few looks for each name and tie; each of a shared end, two hubs and the rejections used to cost the square.
    assert!(many < 20_000 * 30, "{many}");
    assert!(
        many < some * 12,
        "{some} for 2,000 names, {many} for 20,000"
    );
}

/// `cargo test -p malha-engine --release --lib a_million_names -- --ignored --nocapture`
#[test]
#[ignore = "takes minutes without optimization"]
fn a_million_names() {
    let (mut names, decisions) = uneven(1_000_000);
    let start = std::time::Instant::now();
    let compared = compared(&mut names, &decisions);
    println!(
        "{} names, {compared} compared, {:.1} s",
        names.len(),
        start.elapsed().as_secs_f64()
    );
    assert!(compared < 30 * names.len());
}
