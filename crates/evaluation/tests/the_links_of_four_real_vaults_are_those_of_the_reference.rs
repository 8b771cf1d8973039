//! Wikilinks and embeds of real vaults agree with a reference graph made by another program. The vaults are no
//! part of this repository.

use std::path::{Path, PathBuf};

use malha_evaluation::evaluate_links;

fn vaults() -> PathBuf {
    std::env::var_os("MALHA_DATA_DIR")
        .map_or_else(
            || Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data"),
            PathBuf::from,
        )
        .join("vaults")
}

/// `differences`: most links that only one side may have, by cause in `docs/links.md`.
fn check(vault: &str, differences: usize) {
    let folder = vaults().join(vault);
    let gold = folder.join("links_obsidiantools.json.gz");
    if !gold.is_file() {
        println!("skipped: no {} (set MALHA_DATA_DIR)", gold.display());
        return;
    }
    let report = evaluate_links(&folder, &gold).expect("the vault is readable");
    assert!(report.failures.is_empty(), "{:?}", report.failures);
    assert!(report.notes >= report.reference_notes);
    for (field, score) in [("wikilinks", report.wikilinks), ("embeds", report.embedded)] {
        assert!(score.precision >= 99.5, "{vault}, {field}: {score:?}");
        assert!(score.recall >= 99.5, "{vault}, {field}: {score:?}");
    }
    assert!(report.equal >= 99.5, "{vault}: {}", report.equal);
    assert!(
        report.differences.len() <= differences,
        "{vault}: {:?}",
        report.causes
    );
}

#[test]
fn an_english_garden_of_full_paths() {
    check("jackyzha0_garden", 0);
}

#[test]
fn a_chinese_garden() {
    check("oldwinter_garden_zh", 10);
}

#[test]
fn a_portuguese_vault_with_byte_order_marks() {
    check("aretw0_vault_seed_pt", 0);
}

#[test]
fn a_vault_of_front_matter_links() {
    check("kepano_obsidian", 0);
}
