use crate::support::{Ran, Vault, command_in};

#[test]
fn the_store_is_found_upwards() {
    let vault = Vault::new(&[("deep/er/a.md", "A note about lanterns.\n")]);
    vault.index();
    assert!(vault.root.join(".malha/malha.db").is_file());
    let below = vault.root.join("deep/er");
    let ran = Ran::new(
        command_in(&below, &["search", "--json", "lanterns"])
            .output()
            .unwrap(),
    );
    assert_eq!(ran.expect(0).uris(), ["deep/er/a.md"]);
    // Indexing from below means the vault, not a new store.
    vault.write("b.md", "Another note.\n");
    Ran::new(command_in(&below, &["index"]).output().unwrap()).expect(0);
    assert!(!below.join(".malha").exists());
    let found = vault.malha(&["search", "--json", "another"]).expect(0);
    assert_eq!(found.uris(), ["b.md"]);
}

#[test]
fn flag_beats_environment_beats_configuration() {
    let vault = Vault::new(&[("a.md", "A note about lanterns.\n")]);
    let outside = vault.root.parent().unwrap().to_owned();
    let place = |name: &str| outside.join(name);
    vault.write("malha.toml", format!("store = {:?}\n", place("config.db")));
    vault.malha(&["index", "."]).expect(0);
    assert!(place("config.db").is_file());
    let run = |arguments: &[&str]| {
        let mut command = vault.command(arguments);
        let output = command.env("MALHA_STORE", place("environment.db")).output();
        Ran::new(output.unwrap()).expect(0)
    };
    run(&["index", "."]);
    assert!(place("environment.db").is_file());
    run(&["--store", place("flag.db").to_str().unwrap(), "index", "."]);
    assert!(place("flag.db").is_file());
    assert!(!vault.root.join(".malha").exists());
}

#[test]
fn init_makes_an_empty_store_once() {
    let vault = Vault::new(&[("a.md", "A note about lanterns.\n")]);
    vault.malha(&["init"]).expect(0);
    let ignored = std::fs::read_to_string(vault.root.join(".malha/.gitignore")).unwrap();
    assert_eq!(ignored, "*\n");
    let again = vault.malha(&["init"]).expect(0);
    assert!(again.stderr.contains("already there"), "{}", again.stderr);
    // The first `index` of an empty store means the folder that holds it.
    vault.index();
    let found = vault.malha(&["search", "--json", "lanterns"]).expect(0);
    assert_eq!(found.uris(), ["a.md"]);
    vault.malha(&["init", "missing"]).expect(3);
}
