//! A folder of notes, and the program run inside it.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};

use serde_json::Value;

/// A temporary vault.
pub(crate) struct Vault {
    _folder: tempfile::TempDir,
    pub(crate) root: PathBuf,
}

impl Vault {
    pub(crate) fn new(notes: &[(&str, &str)]) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap().join("vault");
        std::fs::create_dir(&root).unwrap();
        let vault = Self {
            _folder: folder,
            root,
        };
        for (path, text) in notes {
            vault.write(path, text);
        }
        vault
    }

    /// A vault of `count` linked notes with some text each.
    pub(crate) fn with_notes(count: usize) -> Self {
        let vault = Self::new(&[]);
        for number in 0..count {
            let next = (number * 7 + 1) % count;
            let other = (number * 13 + 5) % count;
            let text = format!(
                "---\ntags: [t{}]\n---\n# Note {number}\n\nThe Harbour Light number {number} leads to \
                 [[note-{next}]].\n\n## More\n\nSee also [[note-{other}]] and the Old Pier of Lane {}.\n",
                number % 5,
                number % 17,
            );
            vault.write(&format!("f{}/note-{number}.md", number % 9), &text);
        }
        vault
    }

    pub(crate) fn write(&self, path: &str, text: impl AsRef<[u8]>) {
        let path = self.root.join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }

    /// Adds lines to the configuration.
    pub(crate) fn configure(&self, more: &str) {
        let known = std::fs::read_to_string(self.root.join("malha.toml")).unwrap();
        self.write("malha.toml", known + more);
    }

    /// The program with these arguments, in the vault's folder.
    pub(crate) fn command(&self, arguments: &[&str]) -> Command {
        command_in(&self.root, arguments)
    }

    pub(crate) fn malha(&self, arguments: &[&str]) -> Ran {
        Ran::new(self.command(arguments).output().unwrap())
    }

    /// Starts the program and does not wait for it.
    pub(crate) fn start(&self, arguments: &[&str]) -> Child {
        self.command(arguments)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap()
    }

    /// What the lease of the store says of the process that writes to it.
    pub(crate) fn writer(&self) -> Option<String> {
        let lease = std::fs::read_to_string(self.root.join(".malha/malha.db-lease")).ok()?;
        (!lease.is_empty()).then_some(lease)
    }

    /// Indexes the vault and expects success.
    pub(crate) fn index(&self) -> Ran {
        self.malha(&["index"]).expect(0)
    }

    pub(crate) fn digest(&self) -> String {
        self.malha(&["verify", "--digest"]).expect(0).stdout
    }

    /// The digest of a fresh index of a copy of these files.
    pub(crate) fn fresh_digest(&self) -> String {
        let copy = Self::new(&[]);
        for (path, text) in self.files() {
            copy.write(
                path.strip_prefix(&self.root).unwrap().to_str().unwrap(),
                text,
            );
        }
        copy.index();
        copy.digest()
    }

    /// Every file but the store's, with its content.
    pub(crate) fn files(&self) -> BTreeMap<PathBuf, Vec<u8>> {
        let mut files = self.all_files();
        files.retain(|path, _| !path.starts_with(self.root.join(".malha")));
        files
    }

    /// Every file, those of the store too.
    pub(crate) fn all_files(&self) -> BTreeMap<PathBuf, Vec<u8>> {
        let mut files = BTreeMap::new();
        collect(&self.root, &mut files);
        files
    }
}

fn collect(folder: &Path, files: &mut BTreeMap<PathBuf, Vec<u8>>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            collect(&path, files);
        } else {
            files.insert(path.clone(), std::fs::read(path).unwrap());
        }
    }
}

/// The program with these arguments in a folder, untouched by the environment of the test run.
pub(crate) fn command_in(folder: &Path, arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_malha"));
    command.args(arguments).current_dir(folder);
    for (name, _) in std::env::vars_os() {
        let name = name.to_string_lossy().into_owned();
        if name.starts_with("MALHA_") || name.starts_with("CLICOLOR") {
            command.env_remove(name);
        }
    }
    command
}

/// What a run of the program did.
#[derive(Debug)]
pub(crate) struct Ran {
    /// Exit code; -1 when a signal ended it.
    pub(crate) code: i32,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl Ran {
    pub(crate) fn new(output: Output) -> Self {
        Self {
            code: output.status.code().unwrap_or(-1),
            stdout: String::from_utf8(output.stdout).unwrap(),
            stderr: String::from_utf8(output.stderr).unwrap(),
        }
    }

    #[track_caller]
    pub(crate) fn expect(self, code: i32) -> Self {
        assert_eq!(self.code, code, "{self:#?}");
        assert!(!self.stderr.contains("panicked"), "{}", self.stderr);
        self
    }

    #[track_caller]
    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.stdout)
            .unwrap_or_else(|error| panic!("{error} in {}", self.stdout))
    }

    /// Uris of the results of a `search --json`, in order.
    #[track_caller]
    pub(crate) fn uris(&self) -> Vec<String> {
        let json = self.json();
        let results = json["results"].as_array().unwrap();
        results
            .iter()
            .map(|result| result["uri"].as_str().unwrap().to_owned())
            .collect()
    }
}
