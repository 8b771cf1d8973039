//! Every package of the lock file has a licence of our allow-list. `deny.toml` repeats the list for
//! those who use cargo-deny.

use std::path::Path;
use std::process::Command;

const ALLOWED: [&str; 13] = [
    "0BSD",
    "Apache-2.0",
    "Apache-2.0 WITH LLVM-exception",
    "BSD-2-Clause",
    "BSD-3-Clause",
    "BSL-1.0",
    "CC0-1.0",
    "ISC",
    "MIT",
    "MIT-0",
    "Unicode-3.0",
    "Unlicense",
    "Zlib",
];

#[test]
fn every_dependency_has_a_licence_we_may_ship() {
    let metadata = metadata();
    let packages = metadata["packages"].as_array().unwrap();
    assert!(packages.len() > 50, "only {} packages", packages.len());
    let refused: Vec<String> = packages
        .iter()
        .filter_map(|package| {
            let name = format!("{} {}", package["name"], package["version"]);
            match package["license"].as_str() {
                None => Some(format!("{name}: states no licence")),
                Some(licence) if !is_allowed(licence) => Some(format!("{name}: {licence}")),
                Some(_) => None,
            }
        })
        .collect();
    assert!(refused.is_empty(), "{}", refused.join("\n"));
}

#[test]
fn cargo_deny_has_the_same_list() {
    let text = std::fs::read_to_string(root().join("deny.toml")).unwrap();
    let deny: toml::Table = toml::from_str(&text).unwrap();
    let listed: Vec<&str> = deny["licenses"]["allow"]
        .as_array()
        .unwrap()
        .iter()
        .map(|licence| licence.as_str().unwrap())
        .collect();
    assert_eq!(listed, ALLOWED);
}

#[test]
fn every_dependency_has_its_reason() {
    let read = |name| std::fs::read_to_string(root().join(name)).unwrap();
    let workspace: toml::Table = toml::from_str(&read("Cargo.toml")).unwrap();
    let reasons = read("ARCHITECTURE.md");
    let dependencies = workspace["workspace"]["dependencies"].as_table().unwrap();
    let without: Vec<&String> = dependencies
        .keys()
        .filter(|name| !name.starts_with("malha-") && !reasons.contains(&format!("`{name}`")))
        .collect();
    assert!(without.is_empty(), "not in ARCHITECTURE.md: {without:?}");
}

#[test]
fn expressions_are_understood() {
    let check = |expression, expected| assert_eq!(is_allowed(expression), expected, "{expression}");
    check("MIT", true);
    check("MIT OR GPL-3.0", true);
    check("GPL-3.0 OR MIT", true);
    check("MIT AND GPL-3.0", false);
    check("MIT/Apache-2.0", true);
    check("GPL-2.0/GPL-3.0", false);
    check("(MIT OR Apache-2.0) AND Unicode-3.0", true);
    check("(MIT OR Apache-2.0) AND GPL-3.0", false);
    check("GPL-3.0 AND ISC OR MIT", true);
    check("GPL-3.0 AND (ISC OR MIT)", false);
    check("Apache-2.0 WITH LLVM-exception OR GPL-3.0", true);
    check("GPL-3.0 WITH LLVM-exception", false);
    check("", false);
}

/// All platforms where their packages are at hand, otherwise this one: the test needs no network.
fn metadata() -> serde_json::Value {
    cargo_metadata(&[]).unwrap_or_else(|| {
        let version = Command::new("rustc").arg("-vV").output().unwrap();
        let version = String::from_utf8(version.stdout).unwrap();
        let host = version
            .lines()
            .find_map(|line| line.strip_prefix("host: "))
            .unwrap();
        println!("packages of other platforms are not at hand: checking those of {host} only");
        cargo_metadata(&["--filter-platform", host]).expect("cargo metadata runs")
    })
}

fn cargo_metadata(options: &[&str]) -> Option<serde_json::Value> {
    let output = Command::new(env!("CARGO"))
        .args(["metadata", "--format-version", "1", "--offline", "--locked"])
        .args(options)
        .current_dir(root())
        .output()
        .unwrap();
    output
        .status
        .success()
        .then(|| serde_json::from_slice(&output.stdout).unwrap())
}

fn root() -> &'static Path {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."))
}

/// Whether an SPDX expression can be met with licences of the list. OR binds weaker than AND; the old
/// form `MIT/Apache-2.0` means OR.
fn is_allowed(expression: &str) -> bool {
    let spaced = expression
        .replace('/', " OR ")
        .replace('(', " ( ")
        .replace(')', " ) ");
    let words: Vec<&str> = spaced.split_whitespace().collect();
    let mut rest = &words[..];
    any(&mut rest) && rest.is_empty()
}

fn any(rest: &mut &[&str]) -> bool {
    let mut allowed = all(rest);
    while let ["OR", after @ ..] = *rest {
        *rest = after;
        allowed |= all(rest);
    }
    allowed
}

fn all(rest: &mut &[&str]) -> bool {
    let mut allowed = one(rest);
    while let ["AND", after @ ..] = *rest {
        *rest = after;
        allowed &= one(rest);
    }
    allowed
}

fn one(rest: &mut &[&str]) -> bool {
    match **rest {
        ["(", ref after @ ..] => {
            *rest = after;
            let allowed = any(rest);
            if let [")", after @ ..] = *rest {
                *rest = after;
            }
            allowed
        }
        [licence, "WITH", exception, ref after @ ..] => {
            *rest = after;
            ALLOWED.contains(&format!("{licence} WITH {exception}").as_str())
        }
        [licence, ref after @ ..] => {
            *rest = after;
            ALLOWED.contains(&licence)
        }
        [] => false,
    }
}
