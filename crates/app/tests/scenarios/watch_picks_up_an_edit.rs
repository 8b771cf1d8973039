#![cfg(unix)]

use std::io::{BufRead, BufReader};
use std::process::Command;
use std::time::{Duration, Instant};

use crate::support::Vault;

#[test]
fn watch_picks_up_an_edit() {
    let vault = Vault::new(&[("a.md", "A note about lanterns.\n")]);
    let mut child = vault.start(&["index", "--watch"]);
    let mut lines = BufReader::new(child.stderr.take().unwrap()).lines();
    let watching = lines.any(|line| line.unwrap().contains("watching for changes"));
    assert!(watching, "the run ended: {:?}", child.wait());
    // Keep reading, so that the program never waits for us.
    let reader = std::thread::spawn(move || lines.map_while(Result::ok).collect::<Vec<_>>());

    vault.write("folder/b.md", "A new note about anchors.\n");
    wait_for(|| {
        !vault
            .malha(&["search", "--json", "anchors"])
            .uris()
            .is_empty()
    });
    vault.write("a.md", "The note is about ropes now.\n");
    wait_for(|| {
        !vault
            .malha(&["search", "--json", "ropes"])
            .uris()
            .is_empty()
    });
    assert!(
        vault
            .malha(&["search", "--json", "lanterns"])
            .uris()
            .is_empty()
    );
    std::fs::remove_file(vault.root.join("folder/b.md")).unwrap();
    wait_for(|| {
        vault
            .malha(&["search", "--json", "anchors"])
            .uris()
            .is_empty()
    });

    let process = child.id().to_string();
    assert!(
        Command::new("kill")
            .args(["-INT", &process])
            .status()
            .unwrap()
            .success()
    );
    let status = child.wait().unwrap();
    let said = reader.join().unwrap();
    assert_eq!(status.code(), Some(130), "{said:?}");
    assert_eq!(vault.digest(), vault.fresh_digest());
    // It has not been woken by its own writes: three changes, three runs or a few more.
    let runs = said
        .iter()
        .filter(|line| line.contains(" unchanged"))
        .count();
    assert!((3..=9).contains(&runs), "{runs} runs: {said:?}");
}

#[track_caller]
fn wait_for(mut done: impl FnMut() -> bool) {
    let started = Instant::now();
    while !done() {
        assert!(
            started.elapsed() < Duration::from_mins(1),
            "waited too long"
        );
        std::thread::sleep(Duration::from_millis(100));
    }
}
