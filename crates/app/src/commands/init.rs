//! `malha init [FOLDER]`

use std::path::PathBuf;

use malha_engine::Engine;

use crate::config::Settings;
use crate::exit::{Exit, Refusal};
use crate::locate;
use crate::ui::stderr;

#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Folder of your notes; the store is made in `.malha/` inside it
    #[arg(value_name = "FOLDER")]
    folder: Option<PathBuf>,
}

pub(crate) fn run(args: &Args, settings: &Settings) -> anyhow::Result<Exit> {
    let store = match &args.folder {
        Some(folder) => in_folder(folder)?,
        None if settings.store_is_stated => settings.store.clone(),
        // Inside a vault whose store lies further up, `init` still means this folder.
        None => in_folder(&std::env::current_dir()?)?,
    };
    if store.is_file() {
        Engine::open(&store, settings.engine.clone())?;
        let message = format!("the store is already there: {}", store.display());
        stderr::note(settings.verbosity, &message);
        return Ok(Exit::Success);
    }
    create(&store, settings)?;
    let message = format!("made {}; `malha index` fills it", store.display());
    stderr::note(settings.verbosity, &message);
    Ok(Exit::Success)
}

/// Makes the store and keeps a `.malha/` folder of ours out of version control.
pub(crate) fn create(store: &std::path::Path, settings: &Settings) -> anyhow::Result<Engine> {
    if let Some(folder) = store.parent() {
        std::fs::create_dir_all(folder).map_err(|source| malha_engine::Error::Io {
            path: folder.to_owned(),
            source,
        })?;
        let ignore = folder.join(".gitignore");
        if folder.ends_with(locate::STORE_FOLDER) && !ignore.exists() {
            std::fs::write(&ignore, "*\n").map_err(|source| malha_engine::Error::Io {
                path: ignore,
                source,
            })?;
        }
    }
    Ok(Engine::create(store, settings.engine.clone())?)
}

fn in_folder(folder: &std::path::Path) -> Result<PathBuf, Refusal> {
    let folder = std::path::absolute(folder).unwrap_or_else(|_| folder.to_owned());
    if !folder.is_dir() {
        let message = format!("{} is not a folder", folder.display());
        return Err(Refusal::new(Exit::NotFound, message));
    }
    Ok(folder.join(locate::STORE_FOLDER).join(locate::STORE_FILE))
}
