//! `malha mcp`

use std::io::Write;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};

use malha_engine::types::SpendingLimit;

use super::index::open_or_create;
use crate::config::Settings;
use crate::exit::Exit;
use crate::mcp;
use crate::ui::{Output, stderr};

#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Answer over HTTP at this port instead of stdin and stdout (0: any free one)
    #[arg(long, value_name = "PORT")]
    http: Option<u16>,
    /// Address to bind; other machines reach what is not loopback, without any password
    #[arg(long, value_name = "ADDRESS", requires = "http", default_value_t = IpAddr::V4(Ipv4Addr::LOCALHOST))]
    bind: IpAddr,
    /// Offer only the tools that read
    #[arg(long)]
    read_only: bool,
    /// Show how the common agents are set up, and end
    #[arg(long)]
    help_setup: bool,
}

pub(crate) fn run(args: &Args, settings: &Settings) -> anyhow::Result<Exit> {
    if args.help_setup {
        let mut out = Output::new();
        write!(out, "{}", mcp::SETUP)?;
        out.flush()?;
        return Ok(Exit::Success);
    }
    let engine = if args.read_only {
        settings.open_read_only()?
    } else {
        open_or_create(settings)?
    };
    let engine = settings.with_graph_questions(engine, SpendingLimit::default())?;
    match args.http {
        None => mcp::serve_stdio(engine, args.read_only)?,
        Some(port) => {
            let address = SocketAddr::new(args.bind, port);
            mcp::serve_http(engine, args.read_only, address, |address| {
                let message = format!("http://{address}/mcp");
                stderr::note(settings.verbosity, &message);
            })?;
        }
    }
    Ok(Exit::Success)
}
