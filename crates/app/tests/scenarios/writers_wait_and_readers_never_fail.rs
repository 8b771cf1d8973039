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

/// Who does not want to wait is told who holds the store.
#[test]
fn an_impatient_writer_is_told_who_writes() {
    let vault = Vault::with_notes(3000);
    // Should it get its turn before the big run has started, it is soon done.
    let small = vault.root.with_file_name("small");
    std::fs::create_dir(&small).unwrap();
    std::fs::write(small.join("one.md"), "One small note.\n").unwrap();
    let mut holder = vault.start(&["index", "."]);
    let started = Instant::now();
    let refused = loop {
        assert!(started.elapsed() < Duration::from_mins(1), "never busy");
        assert!(
            holder.try_wait().unwrap().is_none(),
            "the run ended before it was met"
        );
        if vault.writer().is_none() {
            std::thread::sleep(Duration::from_millis(5));
            continue;
        }
        let mut command = vault.command(&["index", small.to_str().unwrap()]);
        command.env("MALHA_INDEX_LEASE_WAIT_MS", "0");
        let ran = Ran::new(command.output().unwrap());
        assert!(!ran.stderr.contains("locked"), "{}", ran.stderr);
        if ran.code == 75 {
            break ran;
        }
    };
    let process = holder.id().to_string();
    assert!(
        refused.stderr.contains(&process),
        "{process} is not named: {}",
        refused.stderr
    );
    assert!(refused.stderr.contains("hint: "), "{}", refused.stderr);
    // Readers do not mind.
    vault.malha(&["stats"]).expect(0);
    assert!(holder.wait().unwrap().success());
}
