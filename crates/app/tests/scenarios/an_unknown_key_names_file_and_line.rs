use crate::support::Vault;

#[test]
fn an_unknown_key_names_file_and_line() {
    let vault = Vault::new(&[
        ("a.md", "text"),
        ("malha.toml", "[search]\nlimit = 5\nlimt = 5\n"),
    ]);
    let ran = vault.malha(&["index"]).expect(78);
    assert!(
        ran.stderr.contains("malha.toml:3: unknown field `limt`"),
        "{}",
        ran.stderr
    );
    assert!(ran.stderr.contains("\nhint: "), "{}", ran.stderr);
    assert_eq!(ran.stdout, "");
}

#[test]
fn the_example_is_a_configuration() {
    let vault = Vault::new(&[("a.md", "Some text about lanterns.\n")]);
    let example = include_str!("../../../../malha.example.toml");
    vault.index();
    let plain = vault
        .malha(&["search", "--json", "lanterns"])
        .expect(0)
        .stdout;
    let config = vault.root.with_file_name("example.toml");
    std::fs::write(&config, example).unwrap();
    let ran = vault
        .malha(&[
            "--config",
            config.to_str().unwrap(),
            "search",
            "--json",
            "lanterns",
        ])
        .expect(0);
    assert_eq!(ran.stdout, plain);
}

#[test]
fn settings_that_cannot_work_are_refused() {
    let vault = Vault::new(&[("a.md", "text")]);
    let check = |config: &str, code, part: &str| {
        vault.write("malha.toml", config);
        let ran = vault.malha(&["index"]).expect(code);
        assert!(ran.stderr.contains(part), "{}", ran.stderr);
    };
    check("[chunk]\nsize = 50\noverlap = 50\n", 78, "chunk overlap 50");
    check("[index]\nconvention = \"roam\"\n", 78, "malha.toml:2: ");
    check("\nnamespace = \"\"\n", 78, "malha.toml:2: namespace");
    check("[chunk]\nsize = 0\n", 78, "malha.toml:2: ");
    check("[search]\n\nlimit = 0\n", 78, "malha.toml:3: ");
    check("[index]\nsources = [\"missing\"]\n", 3, "missing");
    vault.write("malha.toml", "");
    vault.malha(&["--config", "other.toml", "index"]).expect(78);
    vault
        .malha(&["index", "--chunk-size", "50", "--chunk-overlap", "49"])
        .expect(2);
    assert!(
        !vault.root.join(".malha").exists(),
        "refused before a store is made"
    );
}

#[test]
fn a_mistyped_variable_is_named() {
    let vault = Vault::new(&[("a.md", "text")]);
    let mut command = vault.command(&["index"]);
    let output = command.env("MALHA_SERCH_LIMIT", "3").output().unwrap();
    let stderr = String::from_utf8(output.stderr).unwrap();
    assert!(
        stderr.contains("MALHA_SERCH_LIMIT is not a setting"),
        "{stderr}"
    );
    let mut command = vault.command(&["index"]);
    for value in ["three", "0", "-1"] {
        let output = command.env("MALHA_SEARCH_LIMIT", value).output().unwrap();
        assert_eq!(output.status.code(), Some(78), "{value}");
    }
}

/// Passages may be measured in tokens; another unit cuts every document anew.
#[test]
fn passages_are_measured_in_the_unit_that_is_set() {
    let text = "Eine Zeile über Leuchttürme und 2,048 Boote. 灯塔和船。 ".repeat(60);
    let vault = Vault::new(&[("a.md", &text)]);
    vault.index();
    let longest = |what: &str| {
        let query =
            format!("SELECT max({what}) AS n, count(*) AS c FROM chunk WHERE retracted_at IS NULL");
        let rows = vault.malha(&["sql", "--json", &query]).expect(0).json();
        (
            rows[0]["n"].as_u64().unwrap(),
            rows[0]["c"].as_u64().unwrap(),
        )
    };
    let (characters, few) = longest("length(text)");
    assert!((600..=1_200).contains(&characters), "{characters}");
    vault.write(
        "malha.toml",
        "[chunk]\nunit = \"tokens\"\nsize = 50\noverlap = 10\n",
    );
    vault.index();
    let (tokens, many) = longest("tokens");
    assert!((30..=50).contains(&tokens), "{tokens}");
    assert!(many > few);
    vault.write("malha.toml", "[chunk]\nunit = \"words\"\n");
    vault.malha(&["index"]).expect(78);
}
