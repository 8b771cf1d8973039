//! A relational memory for an agent: entities and relations in, the neighbourhood of a question out. No model.
//!
//! `cargo run -p malha-engine --example relational_memory`

use malha_engine::types::{ConflictPolicy, Memory, RecallRequest};
use malha_engine::{Engine, EngineConfig};
use serde_json::json;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let engine = Engine::in_memory(EngineConfig::default())?;
    let memory: Memory = serde_json::from_value(json!({"entities": [
        {"name": "AgentAlpha", "type": "SoftwareAgent", "description": "Orchestrates microservices"},
        {"name": "DatabaseCluster", "type": "Infrastructure", "description": "Highly available database"},
        {"name": "BillingAPI", "type": "Service", "description": "Invoices and recurring payments"},
        {"name": "SecurityPolicy", "type": "Governance", "description": "Compliance and access control"},
    ], "relations": [
        {"from": "AgentAlpha", "to": "BillingAPI", "relation": "invokes", "context": "AgentAlpha starts the invoicing"},
        {"from": "BillingAPI", "to": "DatabaseCluster", "relation": "stores_in", "context": "BillingAPI writes the records"},
        {"from": "SecurityPolicy", "to": "AgentAlpha", "relation": "audits", "context": "Rules that the agent is held to"},
    ]}))?;
    engine.remember(&[memory], ConflictPolicy::Close)?;
    let recalled = engine.recall(&RecallRequest::new(
        "What is the relation between AgentAlpha and DatabaseCluster?",
    ));
    println!("{}", serde_json::to_string_pretty(&recalled)?);
    Ok(())
}
