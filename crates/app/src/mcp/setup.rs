//! What `malha mcp --help-setup` prints.

/// The set-up page of the documentation.
pub(crate) const SETUP: &str = include_str!("../../../../docs/agents/setup.md");
