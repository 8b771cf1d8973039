//! `malha bench memory`

use super::figures::Figures;
use super::workspace::{VaultArgs, Workspace, run_self};

#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Notes of the generated vault; 37,500 are about 100,000 chunks
    #[arg(long, default_value_t = 37_500, value_name = "N")]
    notes: usize,
}

pub(crate) fn run(args: &Args) -> anyhow::Result<Figures> {
    let folder = tempfile::tempdir()?;
    let vault = VaultArgs {
        notes: args.notes,
        folder: Some(folder.path().to_owned()),
    };
    let workspace = Workspace::with_vault(&vault)?;
    let notes = args.notes.to_string();
    let folder = workspace.folder();
    let bench = |name: &str, more: &[&str]| {
        let mut arguments = vec!["bench", name, "--notes", &notes, "--folder"];
        let shown = folder.to_string_lossy();
        arguments.push(&shown);
        arguments.extend(more);
        let arguments: Vec<_> = arguments.iter().map(AsRef::as_ref).collect();
        run_self(&arguments)
    };
    let index = bench("index", &[])?;
    let search = bench("search", &["--questions", "50"])?;
    let mut figures = Figures::default();
    let of_index = [
        "notes",
        "chunks",
        "mentions",
        "relations",
        "notes_per_s",
        "peak_mb",
    ];
    figures.extend("index", &index, &of_index);
    figures.extend("search", &search, &["peak_mb"]);
    Ok(figures)
}
