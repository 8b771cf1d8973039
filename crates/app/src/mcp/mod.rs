//! The store as a server of the Model Context Protocol, on stdin and stdout or over HTTP.
//!
//! Calls run on threads of their own; the asynchronous runtime only moves messages.

mod arguments;
mod prompts;
mod reference;
mod resources;
mod schema;
mod server;
mod setup;
mod tools;

use std::net::SocketAddr;
use std::sync::Arc;

use malha_engine::Engine;
use rmcp::ServiceExt;
use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;
use rmcp::transport::streamable_http_server::{StreamableHttpServerConfig, StreamableHttpService};

pub(crate) use setup::SETUP;

use server::Server;

/// Largest body of an HTTP request in bytes.
const LARGEST_BODY: usize = 8 << 20;

/// Answers on stdin and stdout until stdin ends.
pub(crate) fn serve_stdio(engine: Engine, read_only: bool) -> anyhow::Result<()> {
    let server = Server::new(Arc::new(engine), read_only);
    runtime()?.block_on(async {
        let running = match server.serve(rmcp::transport::stdio()).await {
            Ok(running) => running,
            // The other side went away before it said anything: nothing to do.
            Err(rmcp::service::ServerInitializeError::ConnectionClosed(_)) => return Ok(()),
            Err(error) => return Err(error.into()),
        };
        running.waiting().await?;
        Ok(())
    })
}

/// Answers at `http://ADDRESS/mcp` until Ctrl-C. `started` is told the address.
pub(crate) fn serve_http(
    engine: Engine,
    read_only: bool,
    address: SocketAddr,
    started: impl FnOnce(SocketAddr),
) -> anyhow::Result<()> {
    let engine = Arc::new(engine);
    runtime()?.block_on(async {
        let listener = tokio::net::TcpListener::bind(address).await?;
        let address = listener.local_addr()?;
        let mut config =
            StreamableHttpServerConfig::default().with_max_request_body_bytes(LARGEST_BODY);
        if !address.ip().is_loopback() {
            // Who binds another address decides who may reach it; the default only admits names of this machine.
            config = config.with_allowed_hosts([address.ip().to_string(), address.to_string()]);
        }
        let service = StreamableHttpService::new(
            move || Ok(Server::new(Arc::clone(&engine), read_only)),
            Arc::new(LocalSessionManager::default()),
            config,
        );
        let router = axum::Router::new().nest_service("/mcp", service);
        started(address);
        axum::serve(listener, router)
            .with_graceful_shutdown(async {
                // Without the signal there is nothing to wait for: the server ends with the process.
                let _ = tokio::signal::ctrl_c().await;
            })
            .await?;
        Ok(())
    })
}

fn runtime() -> anyhow::Result<tokio::runtime::Runtime> {
    Ok(tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        // Queries nest: as much as the main thread of a program has, and more.
        .thread_stack_size(16 << 20)
        .enable_all()
        .build()?)
}
