use crate::support::Vault;

/// Notes are data: whatever they hold, a terminal that shows them does nothing but show.
#[test]
fn escape_sequences_never_reach_the_terminal() {
    let vault = Vault::new(&[
        (
            "evil.md",
            "# Title \u{1b}]0;owned\u{7} here\n\nlanterns \u{1b}[2J\u{1b}[31mred \u{9b}31m \u{202e}txet [[Miss\u{1b}[5ming]] \u{7f}\n",
        ),
        ("other.md", "A link to [[evil]] with lanterns.\n"),
    ]);
    vault.index();
    for arguments in [
        &["search", "lanterns"][..],
        &["search", "lanterns", "--json"],
        &["graph", "hubs"],
        &["graph", "hubs", "--json"],
        &["graph", "unresolved"],
        &["graph", "unresolved", "--json"],
        &["graph", "neighbors", "other", "--evidence"],
        &["graph", "entity", "evil"],
        &[
            "sql",
            "SELECT c.text, d.title FROM chunk c JOIN document d ON d.id = c.document",
        ],
        &["sql", "--json", "SELECT text FROM chunk"],
    ] {
        let ran = vault.malha(arguments).expect(0);
        for text in [&ran.stdout, &ran.stderr] {
            let acting = text
                .chars()
                .find(|c| (c.is_control() && !matches!(c, '\n' | '\t')) || *c == '\u{202e}');
            assert_eq!(acting, None, "{arguments:?} printed\n{text:?}");
        }
        assert!(!ran.stdout.is_empty(), "{arguments:?} shows something");
    }
    // The text is not lost: JSON gives it back as it is.
    let json = vault.malha(&["search", "lanterns", "--json"]).json();
    let texts = json["results"].to_string();
    assert!(texts.contains("[2J"), "{texts}");
    let result = json["results"]
        .as_array()
        .unwrap()
        .iter()
        .find(|r| r["uri"] == "evil.md");
    assert!(
        result.unwrap()["text"]
            .as_str()
            .unwrap()
            .contains("\u{1b}[31mred \u{9b}31m")
    );
}

/// Even where colour is forced, the only escape sequences are our own colours.
#[test]
fn forced_colour_adds_only_our_own() {
    let vault = Vault::new(&[("evil.md", "lanterns \u{1b}[2J\u{1b}]0;x\u{7}\n")]);
    vault.index();
    let mut command = vault.command(&["search", "lanterns"]);
    let output = command.env("CLICOLOR_FORCE", "1").output().unwrap();
    let stdout = String::from_utf8(output.stdout).unwrap();
    assert!(stdout.contains("\u{1b}["), "no colour at all: {stdout:?}");
    assert!(!stdout.contains("\u{1b}[2J"), "{stdout:?}");
    assert!(!stdout.contains("\u{1b}]"), "{stdout:?}");
}
