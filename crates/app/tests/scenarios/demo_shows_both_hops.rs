use crate::support::Vault;

/// Question's part, the note it names, the words there that lead on, the note that answers, its words.
const EXPECTED: [[&str; 5]; 3] = [
    [
        "Onde se formou",
        "cidade/Farol da Ponta Rasa.md:",
        "[[Inácio Quaresma]]",
        "pessoas/Inácio Quaresma.md:",
        "Formou-se no [[Forno da Ilha de Sarça]]",
    ],
    [
        "Which trade ruined",
        "boats/Grey Heron.md:",
        "[[Maud Tarrant]]",
        "boats/Maud Tarrant.md:",
        "as a mirror grinder",
    ],
    [
        "重抄",
        "港口/潮信录.md:",
        "[[林砚秋]]",
        "港口/林砚秋.md:",
        "[[盐仓巷]]",
    ],
];

#[test]
fn demo_shows_both_hops() {
    let elsewhere = Vault::new(&[("malha.toml", "this = \"is not read by demo\"")]);
    let ran = elsewhere.malha(&["demo"]).expect(0);
    let starts: Vec<usize> = EXPECTED
        .iter()
        .map(|[question, ..]| ran.stdout.find(question).expect(question))
        .chain([ran.stdout.len()])
        .collect();
    for (place, [_, parts @ ..]) in EXPECTED.iter().enumerate() {
        let answer = &ran.stdout[starts[place]..starts[place + 1]];
        for part in parts {
            assert!(answer.contains(part), "{part} is missing in\n{answer}");
        }
    }
    assert_eq!(ran.stderr, "");
    assert_eq!(elsewhere.files().len(), 1, "the demo leaves nothing behind");
}

#[test]
fn demo_speaks_json() {
    let ran = Vault::new(&[]).malha(&["demo", "--json"]).expect(0);
    let answers = ran.json();
    assert_eq!(answers.as_array().unwrap().len(), 3);
    assert_eq!(answers[1]["entry_entities"][0]["name"], "Grey Heron");
    let nodes = answers[1]["connections"][0]["nodes"].as_array().unwrap();
    assert!(nodes.len() >= 2, "{nodes:?}");
}
