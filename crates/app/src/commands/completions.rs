//! `malha completions SHELL`

use std::io::Write;

use clap::CommandFactory;
use clap_complete::Shell;

use crate::cli::Cli;
use crate::exit::Exit;
use crate::ui::Output;

#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Shell that will read them
    #[arg(value_enum)]
    shell: Shell,
}

pub(crate) fn run(args: &Args) -> anyhow::Result<Exit> {
    // clap_complete panics when its writer fails, so it writes to memory.
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut Cli::command(), "malha", &mut script);
    let mut out = Output::new();
    out.write_all(&script)?;
    out.flush()?;
    Ok(Exit::Success)
}
