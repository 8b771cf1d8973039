//! The folder a bench works in: a vault and its store.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::Context;
use malha_engine::{Engine, EngineConfig, SourceSpec};
use malha_evaluation::generate::VaultSpec;
use serde_json::{Map, Value};
use tempfile::TempDir;

/// The vault of a bench.
#[derive(Debug, Clone, clap::Args)]
pub(crate) struct VaultArgs {
    /// Notes of the generated vault
    #[arg(long, default_value_t = 10_000, value_name = "N")]
    pub(super) notes: usize,
    /// Work in this folder and keep it; a vault and a store already in it are used as they are
    #[arg(long, value_name = "DIR")]
    pub(super) folder: Option<PathBuf>,
}

impl VaultArgs {
    pub(super) fn spec(&self) -> VaultSpec {
        VaultSpec::new(self.notes)
    }
}

/// A folder with `vault/` and `malha.db`, removed at the end unless the user named it.
pub(super) struct Workspace {
    folder: PathBuf,
    _temporary: Option<TempDir>,
}

impl Workspace {
    /// The folder, with the vault in it. The vault is written by another process, so that this one's memory and time
    /// are those of the work alone.
    pub(super) fn with_vault(args: &VaultArgs) -> anyhow::Result<Self> {
        let temporary = match &args.folder {
            Some(_) => None,
            None => Some(TempDir::new()?),
        };
        let folder = args
            .folder
            .as_deref()
            .or(temporary.as_ref().map(TempDir::path));
        let workspace = Self {
            // Absolute, because processes are started in other folders.
            folder: std::path::absolute(folder.expect("one of them is there"))?,
            _temporary: temporary,
        };
        if !workspace.vault().is_dir() {
            let notes = args.notes.to_string();
            let vault = workspace.vault();
            run_self(&[
                "bench".as_ref(),
                "generate".as_ref(),
                vault.as_path(),
                "--notes".as_ref(),
                notes.as_ref(),
            ])?;
        }
        Ok(workspace)
    }

    /// The folder with the vault and a store of it, indexed by another process where it is not there yet.
    pub(super) fn indexed(args: &VaultArgs) -> anyhow::Result<Self> {
        let workspace = Self::with_vault(args)?;
        if !workspace.store().is_file() {
            let (store, vault) = (workspace.store(), workspace.vault());
            run_self(&[
                "--store".as_ref(),
                store.as_path(),
                "index".as_ref(),
                vault.as_path(),
            ])?;
        }
        Ok(workspace)
    }

    pub(super) fn folder(&self) -> &Path {
        &self.folder
    }

    pub(super) fn vault(&self) -> PathBuf {
        self.folder.join("vault")
    }

    pub(super) fn store(&self) -> PathBuf {
        self.folder.join("malha.db")
    }

    pub(super) fn source(&self) -> SourceSpec {
        SourceSpec {
            root: self.vault(),
            convention: None,
        }
    }

    pub(super) fn open(&self, config: &EngineConfig) -> malha_engine::Result<Engine> {
        Engine::open_read_only(&self.store(), config.clone())
    }
}

/// Runs this very program and gives its JSON.
pub(super) fn run_self(arguments: &[&Path]) -> anyhow::Result<Map<String, Value>> {
    let program = std::env::current_exe()?;
    let output = Command::new(program)
        .args(arguments)
        .arg("--json")
        .stderr(Stdio::inherit())
        .output()?;
    anyhow::ensure!(output.status.success(), "{arguments:?}: {}", output.status);
    serde_json::from_slice(&output.stdout).with_context(|| format!("{arguments:?}: no JSON"))
}
