//! docs/known-failures.md names tests; each is there.

use std::path::Path;

#[test]
fn every_known_failure_has_its_test() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let page = std::fs::read_to_string(root.join("docs/known-failures.md")).unwrap();
    let mut sources = String::new();
    read_all(&root.join("crates"), &mut sources);
    let rows: Vec<&str> = page
        .lines()
        .filter(|line| line.starts_with("| ") && !line.starts_with("| what"))
        .collect();
    assert!(rows.len() >= 14, "{} rows", rows.len());
    for row in rows {
        let tests: Vec<&str> = row
            .rsplit('|')
            .nth(1)
            .unwrap()
            .split('`')
            .skip(1)
            .step_by(2)
            .collect();
        assert!(!tests.is_empty(), "no test: {row}");
        for test in tests {
            assert!(
                sources.contains(&format!("fn {test}()")),
                "no test is called {test}"
            );
        }
    }
}

fn read_all(folder: &Path, out: &mut String) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            read_all(&path, out);
        } else if path.extension().is_some_and(|ending| ending == "rs") {
            out.push_str(&std::fs::read_to_string(&path).unwrap());
        }
    }
}
