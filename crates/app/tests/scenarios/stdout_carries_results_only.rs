use std::process::Stdio;

use crate::support::Vault;

#[test]
fn stdout_carries_results_only() {
    let vault = Vault::new(&[("a.md", "A note about lanterns.\n"), ("empty.md", "")]);
    assert_eq!(vault.index().stdout, "");
    assert_eq!(vault.malha(&["init", "."]).expect(0).stdout, "");
    // One JSON value and nothing else, whatever there is to say besides.
    vault.write("new.md", "Not indexed yet.\n");
    for arguments in [
        &["search", "--json", "lanterns"][..],
        &["-v", "search", "--json", "lanterns"],
        &["search", "--json", "--fresh", "lanterns"],
        &["index", "--json"],
        &["stats", "--json"],
        &["doctor", "--json"],
        &["graph", "orphans", "--json"],
    ] {
        let ran = vault.malha(arguments).expect(0);
        ran.json();
        assert_eq!(
            ran.stdout.lines().count(),
            1,
            "{arguments:?}: {}",
            ran.stdout
        );
    }
    // Quiet means quiet.
    for arguments in [
        &["-q", "index"][..],
        &["-q", "search", "zeppelin"],
        &["-q", "graph", "orphans"],
    ] {
        let ran = vault.malha(arguments).expect(0);
        assert_eq!(ran.stderr, "", "{arguments:?}");
    }
    // Errors leave stdout alone.
    assert_eq!(
        vault.malha(&["graph", "entity", "Nobody"]).expect(3).stdout,
        ""
    );
}

#[test]
fn a_reader_that_goes_away_is_no_failure() {
    let vault = Vault::with_notes(60);
    vault.index();
    for arguments in [
        &["search", "harbour", "--limit", "50"][..],
        &["search", "harbour", "--limit", "50", "--json"],
        &["graph", "orphans"],
        &["graph", "hubs"],
        &["export", "--format", "malha"],
        &["completions", "bash"],
    ] {
        let mut child = vault
            .command(arguments)
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        drop(child.stdout.take());
        let output = child.wait_with_output().unwrap();
        let stderr = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(0), "{arguments:?}: {stderr}");
        assert!(!stderr.contains("error"), "{arguments:?}: {stderr}");
        assert!(!stderr.contains("panicked"), "{arguments:?}: {stderr}");
    }
}

#[test]
fn a_pipe_gets_no_colour() {
    let vault = Vault::new(&[("a.md", "A note about lanterns.\n")]);
    vault.index();
    let ran = vault.malha(&["search", "lanterns"]).expect(0);
    assert!(!ran.stdout.contains('\u{1b}'), "{:?}", ran.stdout);
    assert!(ran.stdout.contains("a.md:1"), "{}", ran.stdout);
}
