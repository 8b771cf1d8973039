use std::path::Path;
use std::process::Command;

use crate::support::Vault;

/// The README's console block is a transcript: each command, run in a copy of the demo's vault, prints
/// what stands below it.
#[test]
fn the_readme_shows_what_is_printed() {
    let project = Path::new(env!("CARGO_MANIFEST_DIR"));
    let readme = std::fs::read_to_string(project.join("../../README.md")).unwrap();
    let block = readme
        .split("```console\n")
        .find(|block| block.starts_with("$ cd ~/notes && malha index"))
        .and_then(|block| block.split("```").next())
        .expect("the block of five commands");

    let vault = Vault::new(&[]);
    copy(&project.join("src/commands/demo/vault"), &vault.root);
    let root = vault.root.to_str().unwrap();
    let programs = Path::new(env!("CARGO_BIN_EXE_malha")).parent().unwrap();
    let search_path = format!("{}:{}", programs.display(), std::env::var("PATH").unwrap());
    let has_jq = Command::new("jq").arg("--version").output().is_ok();
    if !has_jq {
        println!("skipped: the command of the README that needs jq, which is not installed");
    }
    for step in block.split("$ ").filter(|step| !step.is_empty()) {
        let (command, expected) = step.split_once('\n').unwrap();
        if command.contains("jq ") && !has_jq {
            continue;
        }
        let mut shell = Command::new("sh");
        shell.args([
            "-c",
            &format!("exec 2>&1; {}", command.replace("~/notes", ".")),
        ]);
        shell.current_dir(&vault.root).env("PATH", &search_path);
        for (name, _) in std::env::vars_os() {
            if name.to_string_lossy().starts_with("MALHA_") {
                shell.env_remove(name);
            }
        }
        let output = shell.output().unwrap();
        assert!(output.status.success(), "{command}: {output:?}");
        let printed = String::from_utf8(output.stdout).unwrap();
        let printed = printed.replace(root, "/home/me/notes");
        assert_eq!(without_time(&printed), without_time(expected), "{command}");
    }
}

/// Without the seconds a run took, and without blank lines at the end.
fn without_time(text: &str) -> String {
    let lines: Vec<&str> = text
        .trim_end()
        .lines()
        .map(|line| {
            line.rsplit_once(" (")
                .filter(|(_, end)| end.ends_with(" s)"))
                .map_or(line, |(line, _)| line)
        })
        .collect();
    lines.join("\n")
}

fn copy(from: &Path, to: &Path) {
    std::fs::create_dir_all(to).unwrap();
    for entry in std::fs::read_dir(from).unwrap() {
        let path = entry.unwrap().path();
        let target = to.join(path.file_name().unwrap());
        if path.is_dir() {
            copy(&path, &target);
        } else {
            std::fs::copy(&path, &target).unwrap();
        }
    }
}
