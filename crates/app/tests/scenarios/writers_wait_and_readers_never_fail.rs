use std::process::Command;
use std::time::{Duration, Instant};

use crate::support::{Ran, Vault};

/// D30.7: many writers and readers at once, and one writer killed: all the others finish.
#[test]
fn writers_wait_and_readers_never_fail() {
    let vault = Vault::with_notes(80);
    vault.index();
    vault.write("more.md", "One more note, linked to [[note-1]].\n");
    let mut killed = vault.start(&["index"]);
    let writers: Vec<_> = (0..4)
        .map(|_| {
            let mut command = vault.command(&["index"]);
            command.env("MALHA_INDEX_LEASE_WAIT_MS", "120000");
            std::thread::spawn(move || Ran::new(command.output().unwrap()))
        })
        .collect();
    let readers: Vec<_> = (0..4)
        .map(|_| {
            let mut command = vault.command(&["search", "--json", "Harbour Light"]);
            std::thread::spawn(move || Ran::new(command.output().unwrap()))
        })
        .collect();
    killed.kill().unwrap();
    killed.wait().unwrap();
    for reader in readers {
        let ran = reader.join().unwrap().expect(0);
        assert!(!ran.uris().is_empty());
        assert!(!ran.stderr.contains("locked"), "{}", ran.stderr);
    }
    for writer in writers {
        let ran = writer.join().unwrap().expect(0);
        assert!(!ran.stderr.contains("locked"), "{}", ran.stderr);
    }
    vault.malha(&["verify"]).expect(0);
    assert_eq!(vault.digest(), vault.fresh_digest());
}

/// A reader that comes while the very first run is making the store is neither refused nor told a
/// story about an old format.
#[test]
fn a_store_in_the_making_is_waited_for() {
    for _ in 0..8 {
        let vault = Vault::with_notes(40);
        let mut first = vault.start(&["index"]);
        while !vault.root.join(".malha/malha.db").is_file() {
            std::thread::yield_now();
        }
        let ran = vault
            .malha(&["search", "--json", "Harbour Light"])
            .expect(0);
        assert!(ran.json()["results"].is_array());
        assert!(first.wait().unwrap().success());
    }
}

/// Who does not want to wait is told who holds the store. The holder is stopped in the middle of its
/// run, so that nobody can miss it.
#[cfg(unix)]
#[test]
fn an_impatient_writer_is_told_who_writes() {
    let vault = Vault::with_notes(2000);
    // A store that is only just being made has no readers yet.
    vault.malha(&["init"]).expect(0);
    let mut holder = vault.start(&["index"]);
    let process = holder.id().to_string();
    let signal = |name: &str| {
        let sent = Command::new("kill").args([name, &process]).status();
        assert!(sent.unwrap().success());
    };
    let started = Instant::now();
    loop {
        assert!(started.elapsed() < Duration::from_mins(1), "never wrote");
        if vault.writer().is_some() {
            signal("-STOP");
            std::thread::sleep(Duration::from_millis(100));
            // Stopped between two leases? Then on to the next one.
            if vault.writer().is_some() {
                break;
            }
            signal("-CONT");
        }
    }
    let mut command = vault.command(&["index"]);
    let output = command.env("MALHA_INDEX_LEASE_WAIT_MS", "50").output();
    let refused = Ran::new(output.unwrap()).expect(75);
    for part in [process.as_str(), "hint: "] {
        assert!(refused.stderr.contains(part), "{part}: {}", refused.stderr);
    }
    assert!(!refused.stderr.contains("locked"), "{}", refused.stderr);
    // Readers do not mind.
    vault.malha(&["stats"]).expect(0);
    vault
        .malha(&["search", "--json", "Harbour Light"])
        .expect(0);
    signal("-CONT");
    assert!(holder.wait().unwrap().success());
    assert_eq!(vault.malha(&["stats", "--json"]).json()["documents"], 2000);
}
