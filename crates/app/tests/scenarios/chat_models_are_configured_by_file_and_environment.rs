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
fn a_secret_is_in_no_file_log_or_message_of_a_run() {
    const PASSWORD: &str = "pass-never-shown";
    // Servers repeat keys in what they say went wrong, where a cut may go through them.
    let stub = Stub::start(|request| {
        let passage = request.body["messages"][1]["content"].as_str();
        let passage = passage.unwrap_or_default();
        if passage.contains("Caio") {
            Answer::error(401, &format!("{}{KEY} may not do this", "x".repeat(395)))
        } else if passage.contains("Edu") {
            let json = ("content-type".to_owned(), "application/json".to_owned());
            let page = format!("{}{KEY} {PASSWORD}", "y".repeat(75));
            Answer::Status(200, vec![json], page)
        } else if passage.contains("Gil") {
            Answer::error(400, &format!("no access by {PASSWORD}"))
        } else {
            Answer::chat(r#"{"entities":[{"name":"Ana","type":"Person"}],"relations":[]}"#)
        }
    });
    let configured = |address: &str| {
        let address = address.replace("://", &format!("://ana:{PASSWORD}@"));
        format!("[models]\nmodel = \"small\"\nretries = 0\nbase_url = \"{address}\"\n")
    };
    let vault = Vault::new(&[
        ("a.md", "Ana knows Bea."),
        ("b.md", "Caio knows Dora."),
        ("c.md", "Edu knows Fe."),
        ("d.md", "Gil knows Hugo."),
    ]);
    vault.write("malha.toml", configured(&stub.url));
    let run = |arguments: &[&str]| {
        let mut command = vault.command(arguments);
        command.env("OPENAI_API_KEY", KEY);
        let ran = command.output().unwrap();
        let said = [ran.stdout, ran.stderr].concat();
        let said = String::from_utf8_lossy(&said).into_owned();
        for part in ["sk-ne", "pass-"] {
            assert!(!said.contains(part), "{arguments:?}: {said}");
        }
        (ran.status.code(), said)
    };
    let look = || {
        run(&["-vv", "quarantine", "list"]);
        run(&["-vv", "runs", "show"]);
        run(&["-vv", "usage", "--by", "document"]);
        run(&["-vv", "doctor"]);
        run(&["-vv", "doctor", "--models"]);
    };
    let (code, said) = run(&["-vv", "index", "--extract", "llm"]);
    assert_eq!(code, Some(4), "{said}");
    assert!(said.contains("HTTP 401"), "{said}");
    assert!(said.contains("the reply is no JSON"), "{said}");
    look();
    // Nobody answers: the error names the address.
    vault.write("malha.toml", configured("http://127.0.0.1:9"));
    let (code, said) = run(&["-vv", "index", "--extract", "llm"]);
    assert_eq!(code, Some(4), "{said}");
    assert!(said.contains("http://127.0.0.1:9"), "{said}");
    look();
    std::fs::remove_file(vault.root.join("malha.toml")).unwrap();
    let files = vault.all_files();
    assert!(files.keys().any(|path| path.ends_with("malha.db")));
    for (path, bytes) in files {
        for part in [&b"sk-ne"[..], b"pass-"] {
            let found = bytes.windows(part.len()).any(|window| window == part);
            assert!(!found, "{}", path.display());
        }
    }
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
