use std::time::{Duration, Instant};

use crate::support::Vault;

/// `kill -9` at twenty moments of an indexing run, each followed by a whole run: the store is whole, and
/// its content is that of a fresh index.
#[test]
fn a_killed_run_costs_nothing() {
    let vault = Vault::with_notes(150);
    let started = Instant::now();
    let mut expected = vault.fresh_digest();
    let whole = started.elapsed();
    let mut random = 0x2545_f491_4f6c_dd1d_u64;
    for round in 0..20 {
        let fresh = round % 2 == 0;
        if fresh {
            let _ = std::fs::remove_dir_all(vault.root.join(".malha"));
        } else {
            // An update that changes, adds and removes.
            vault.write(
                "f1/note-1.md",
                format!("# Note 1\n\nRewritten in round {round}: [[note-2]].\n"),
            );
            vault.write(
                &format!("new/round-{round}.md"),
                "# New\n\nLinks to [[note-3]].\n",
            );
            let _ = std::fs::remove_file(vault.root.join(format!("f3/note-{}.md", 3 + 9 * round)));
            expected = vault.fresh_digest();
        }
        random = random
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1);
        let wait = whole.as_secs_f64() * (random >> 40) as f64 / f64::from(1_u32 << 24);
        let mut child = vault.start(&["index", "."]);
        std::thread::sleep(Duration::from_secs_f64(wait));
        child.kill().unwrap();
        child.wait().unwrap();
        vault.malha(&["index", "."]).expect(0);
        vault.malha(&["verify"]).expect(0);
        assert_eq!(
            vault.digest(),
            expected,
            "round {round}, killed after {wait:.3} s"
        );
    }
}
