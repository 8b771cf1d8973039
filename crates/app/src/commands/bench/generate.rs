//! `malha bench generate DIR`

use std::path::PathBuf;

use malha_evaluation::generate::{Vault, VaultSpec};

use super::figures::Figures;

#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Folder to write the notes to
    #[arg(value_name = "DIR")]
    folder: PathBuf,
    /// Notes to write
    #[arg(long, default_value_t = 10_000, value_name = "N")]
    notes: usize,
}

pub(crate) fn run(args: &Args) -> anyhow::Result<Figures> {
    let vault = Vault::new(VaultSpec::new(args.notes));
    vault.write(&args.folder)?;
    let mut figures = Figures::default();
    figures.count("notes", vault.len());
    Ok(figures)
}
