//! Where the store and the configuration are: upwards from a folder, as git finds its repository.

use std::path::{Path, PathBuf};

/// Folder of the store inside a vault.
pub(crate) const STORE_FOLDER: &str = ".malha";
/// File name of the store in that folder.
pub(crate) const STORE_FILE: &str = "malha.db";
/// File name of the configuration.
pub(crate) const CONFIG_FILE: &str = "malha.toml";

/// The nearest `.malha/malha.db` in `from` or above it.
pub(crate) fn store_upwards(from: &Path) -> Option<PathBuf> {
    upwards(from, &Path::new(STORE_FOLDER).join(STORE_FILE))
}

/// The nearest `malha.toml` in `from` or above it.
pub(crate) fn config_upwards(from: &Path) -> Option<PathBuf> {
    upwards(from, Path::new(CONFIG_FILE))
}

/// The `malha.toml` beside a store: in the folder that holds `.malha/`, or in the store's own folder.
pub(crate) fn config_beside(store: &Path) -> Option<PathBuf> {
    let candidate = base_of(store)?.join(CONFIG_FILE);
    candidate.is_file().then_some(candidate)
}

/// The folder a store belongs to: the one that holds `.malha/`, otherwise the store's own.
pub(crate) fn base_of(store: &Path) -> Option<PathBuf> {
    let folder = store.parent()?;
    if folder.file_name().is_some_and(|name| name == STORE_FOLDER) {
        folder.parent().map(Path::to_owned)
    } else {
        Some(folder.to_owned())
    }
}

fn upwards(from: &Path, what: &Path) -> Option<PathBuf> {
    from.ancestors()
        .map(|folder| folder.join(what))
        .find(|candidate| candidate.is_file())
}

/// The models folder where none is configured: below the user's data folder, else below the working directory.
pub(crate) fn models_folder() -> PathBuf {
    let variable = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty());
    let data = variable("XDG_DATA_HOME")
        .or_else(|| variable("LOCALAPPDATA"))
        .map(PathBuf::from)
        .or_else(|| Some(PathBuf::from(variable("HOME")?).join(".local/share")));
    data.unwrap_or_default().join("malha").join("models")
}
