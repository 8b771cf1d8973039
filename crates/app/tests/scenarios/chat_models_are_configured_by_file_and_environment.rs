use serde_json::json;

use crate::stub::{Answer, Stub};
use crate::support::Vault;

const KEY: &str = "sk-never-shown";

#[test]
fn doctor_asks_every_configured_model_for_one_word() {
    let stub = Stub::start(|request| {
        let key = ("authorization".to_owned(), format!("Bearer {KEY}"));
        if request.headers.contains(&key) {
            Answer::chat("ready")
        } else {
            Answer::error(401, "no key")
        }
    });
    let vault = Vault::new(&[
        ("a.md", "A note about lanterns.\n"),
        ("malha.toml", "[models]\nmodel = \"small\"\n"),
    ]);
    vault.index();
    let doctor = |key: &str| {
        let mut command = vault.command(&["doctor", "--models", "--json"]);
        command.env("OPENAI_BASE_URL", &stub.url);
        command.env("OPENAI_API_KEY", key);
        command.output().unwrap()
    };
    let good = doctor(KEY);
    let text = String::from_utf8(good.stdout).unwrap();
    assert_eq!(good.status.code(), Some(0), "{text}");
    assert_eq!(text.matches("small answers: ready").count(), 3, "{text}");

    let bad = doctor("sk-wrong-and-secret");
    let text = String::from_utf8(bad.stdout).unwrap();
    assert_eq!(bad.status.code(), Some(1), "{text}");
    assert!(text.contains("HTTP 401"), "{text}");
    assert!(!text.contains("sk-wrong-and-secret"), "{text}");
}

#[test]
fn without_a_model_nothing_is_sent_and_the_bill_is_empty() {
    let vault = Vault::new(&[("a.md", "A note about lanterns.\n")]);
    vault.index();
    let ran = vault.malha(&["usage", "--json"]).expect(0);
    let usage: serde_json::Value = serde_json::from_str(&ran.stdout).unwrap();
    assert_eq!(usage["lines"], json!([]));
    assert_eq!(usage["total"]["calls"], 0);
    vault.malha(&["usage", "--by", "colour"]).expect(2);
    let ran = vault.malha(&["doctor"]).expect(0);
    assert!(ran.stdout.contains("no chat model"), "{}", ran.stdout);
}

#[test]
fn a_bad_setting_of_models_is_named() {
    let vault = Vault::new(&[("malha.toml", "[models]\nmodel = \"m\"\nprovider = \"x\"\n")]);
    let ran = vault.malha(&["stats"]).expect(78);
    assert!(
        ran.stderr.contains("none of openai, anthropic, ollama"),
        "{}",
        ran.stderr
    );
    vault.write("malha.toml", "[models]\nmodle = \"m\"\n");
    let ran = vault.malha(&["stats"]).expect(78);
    assert!(
        ran.stderr.contains("malha.toml:2: unknown field `modle`"),
        "{}",
        ran.stderr
    );
}
