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
        "What did the skipper",
        "boats/Grey Heron.md:",
        "[[Maud Tarrant]]",
        "boats/Maud Tarrant.md:",
        "ground mirrors",
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
    let mut answers = ran.stdout.split("\n\n").collect::<Vec<_>>().join("\n");
    for [question, ..] in EXPECTED {
        answers = answers.replace(question, &format!("\u{0}{question}"));
    }
    let answers: Vec<&str> = answers.split('\0').skip(1).collect();
    assert_eq!(answers.len(), 3, "{}", ran.stdout);
    for (answer, [_, parts @ ..]) in answers.iter().zip(EXPECTED) {
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
    assert_eq!(answers[1]["results"][0]["uri"], "boats/Grey Heron.md");
}
