//! The layers of the engine: a module imports from layers below its own, never sideways or upwards,
//! and a stage never touches the store. ARCHITECTURE.md says why.

use std::collections::BTreeSet;
use std::path::Path;

/// From the bottom up. A new module of the engine gets a place here.
const LAYERS: &[(Layer, &[&str])] = &[
    (Layer::Vocabulary, &["error", "language_model", "types"]),
    (Layer::Text, &["text"]),
    (Layer::Storage, &["storage"]),
    (
        Layer::Stage,
        &[
            "sources",
            "chunking",
            "extraction",
            "resolution",
            "graph",
            "communities",
            "cypher",
            "ledger",
            "answer",
            "router",
            "gate",
            "ranker",
            "text_to_cypher",
            "vectors",
        ],
    ),
    (Layer::Loading, &["loading", "memory", "replies"]),
    (Layer::Operation, &["pipeline", "retrieval", "exchange"]),
    (Layer::Door, &["engine"]),
];

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Layer {
    Vocabulary,
    Text,
    Storage,
    Stage,
    Loading,
    Operation,
    Door,
}

#[test]
fn modules_import_only_downward() {
    let src = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut files = Vec::new();
    rust_files(&src, &mut files);
    let mut arrows = 0;
    let mut wrong = Vec::new();
    for file in files {
        let relative = file.strip_prefix(&src).unwrap();
        let path = module_path(relative);
        let Some(module) = path.first() else {
            continue; // lib.rs is above all layers
        };
        let text = std::fs::read_to_string(&file).unwrap();
        for target in imports(&text, path.len()) {
            arrows += 1;
            if let Err(reason) = check(module, &target) {
                wrong.push(format!("{}: {reason}", relative.display()));
            }
        }
    }
    assert!(
        arrows > 20,
        "only {arrows} imports found: is this test still reading them?"
    );
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Whether `module` may import from `target`, both top-level modules of the engine.
fn check(module: &str, target: &str) -> Result<(), String> {
    if module == target {
        return Ok(());
    }
    let (from, to) = (layer(module)?, layer(target)?);
    // A stage turns one type into the next; `pipeline` loads and saves for it.
    let stage_touches_store = from == Layer::Stage && to == Layer::Storage;
    // The error type and the vocabulary know each other.
    let within_vocabulary = from == Layer::Vocabulary && to == Layer::Vocabulary;
    if stage_touches_store || (to >= from && !within_vocabulary) {
        return Err(format!("{module} ({from:?}) imports {target} ({to:?})"));
    }
    Ok(())
}

fn layer(module: &str) -> Result<Layer, String> {
    LAYERS
        .iter()
        .find(|(_, modules)| modules.contains(&module))
        .map(|(layer, _)| *layer)
        .or(match module {
            // What `lib.rs` re-exports: the error type, and the door's own types.
            "Error" | "Result" => Some(Layer::Vocabulary),
            _ if module.starts_with(char::is_uppercase) => Some(Layer::Door),
            _ => None,
        })
        .ok_or_else(|| format!("module {module} has no layer in this test"))
}

/// `["storage", "lease"]` for `storage/lease.rs`, `["storage"]` for `storage/mod.rs`, nothing for `lib.rs`.
fn module_path(relative: &Path) -> Vec<String> {
    let mut parts: Vec<String> = relative
        .with_extension("")
        .components()
        .map(|part| part.as_os_str().to_string_lossy().into_owned())
        .collect();
    if matches!(parts.last().map(String::as_str), Some("mod" | "lib")) {
        parts.pop();
    }
    parts
}

/// Top-level modules that a file at this depth names after `crate::` or after enough `super::`. The
/// tests at a file's foot may use what they like.
fn imports(text: &str, depth: usize) -> BTreeSet<String> {
    let code: String = text
        .lines()
        .take_while(|line| !line.starts_with("#[cfg(test)]"))
        .map(|line| line.split("//").next().unwrap_or_default())
        .collect::<Vec<_>>()
        .join("\n");
    let up = "super::".repeat(depth);
    let mut found = BTreeSet::new();
    for root in ["crate::", up.as_str()] {
        for (at, _) in code.match_indices(root) {
            let before = code[..at].chars().next_back();
            // `$crate::` and `some_crate::` are other things, and `super::super::` is counted once.
            if before.is_some_and(|c| c.is_alphanumeric() || c == '_' || c == '$' || c == ':') {
                continue;
            }
            first_names(&code[at + root.len()..], &mut found);
        }
    }
    found
}

/// The first name after a path's root, or the first names of a group `{a::b, c}`.
fn first_names(rest: &str, found: &mut BTreeSet<String>) {
    let Some(group) = rest.strip_prefix('{') else {
        add(rest, found);
        return;
    };
    let mut nesting = 0;
    let mut start = 0;
    for (at, c) in group.char_indices() {
        match c {
            '{' => nesting += 1,
            '}' if nesting == 0 => {
                add(&group[start..at], found);
                return;
            }
            '}' => nesting -= 1,
            ',' if nesting == 0 => {
                add(&group[start..at], found);
                start = at + 1;
            }
            _ => {}
        }
    }
}

fn add(path: &str, found: &mut BTreeSet<String>) {
    let name: String = path
        .trim_start()
        .chars()
        .take_while(|c| c.is_alphanumeric() || *c == '_')
        .collect();
    if !matches!(name.as_str(), "" | "super" | "self") {
        found.insert(name);
    }
}

fn rust_files(folder: &Path, files: &mut Vec<std::path::PathBuf>) {
    let mut entries: Vec<_> = std::fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .collect();
    entries.sort();
    for path in entries {
        if path.is_dir() {
            rust_files(&path, files);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            files.push(path);
        }
    }
}

#[test]
fn imports_are_read() {
    let check = |text, depth, expected: &[&str]| {
        let found: Vec<String> = imports(text, depth).into_iter().collect();
        assert_eq!(found, expected, "{text}");
    };
    check("use crate::types::Chunk;", 1, &["types"]);
    check(
        "use crate::{Error, Result, text::{fold, words}, storage};",
        1,
        &["Error", "Result", "storage", "text"],
    );
    check("// use crate::storage;", 1, &[]);
    check("let x = crate::storage::open();", 2, &["storage"]);
    check("use super::types;", 1, &["types"]);
    check("use super::types;", 2, &[]);
    check("use super::super::types;", 2, &["types"]);
    check("use super::*;", 1, &[]);
    check("use crate::Engine;", 1, &["Engine"]);
    check(
        "use crate::text;\n#[cfg(test)]\nuse crate::storage;",
        1,
        &["text"],
    );
}

#[test]
fn arrows_are_judged() {
    let allowed = |from, to| assert!(check(from, to).is_ok(), "{from} -> {to}");
    let refused = |from, to| assert!(check(from, to).is_err(), "{from} -> {to}");
    allowed("engine", "pipeline");
    allowed("pipeline", "storage");
    allowed("retrieval", "graph");
    allowed("graph", "text");
    allowed("types", "error");
    refused("graph", "storage");
    refused("graph", "sources");
    refused("storage", "graph");
    refused("pipeline", "engine");
    refused("retrieval", "pipeline");
    refused("text", "types_of_nobody");
}
