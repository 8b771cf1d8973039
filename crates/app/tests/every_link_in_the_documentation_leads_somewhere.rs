//! Relative links of our own Markdown files point to files that are there.

use std::path::{Path, PathBuf};

#[test]
fn every_link_in_the_documentation_leads_somewhere() {
    let root = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."));
    let mut files: Vec<PathBuf> = Vec::new();
    for folder in [root.to_owned(), root.join("docs")] {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.extension().is_some_and(|extension| extension == "md") {
                files.push(path);
            }
        }
    }
    assert!(files.len() >= 6, "{files:?}");
    let mut dead = Vec::new();
    for file in &files {
        let text = std::fs::read_to_string(file).unwrap();
        for target in targets(&text) {
            if !file.parent().unwrap().join(&target).exists() {
                dead.push(format!("{}: {target}", file.display()));
            }
        }
    }
    assert!(dead.is_empty(), "{}", dead.join("\n"));
}

/// Targets of `[text](target)` outside code, without anchors; addresses are left out.
fn targets(text: &str) -> Vec<String> {
    let mut found = Vec::new();
    let mut fenced = false;
    for line in text.lines() {
        fenced ^= line.trim_start().starts_with("```");
        let prose: String = line.split('`').step_by(2).collect();
        for (at, _) in prose.match_indices("](") {
            let rest = &prose[at + 2..];
            let Some(end) = rest.find(')').filter(|_| !fenced) else {
                continue;
            };
            let target = rest[..end].split('#').next().unwrap_or_default();
            if !target.is_empty() && !target.contains("://") {
                found.push(target.to_owned());
            }
        }
    }
    found
}

#[test]
fn links_are_read() {
    let text = "a [b](c.md#d) [e](#f) `[g](h.md)` [i](https://j)\n```\n[k](l.md)\n```\n[m](n/o.md)";
    assert_eq!(targets(text), ["c.md", "n/o.md"]);
}
