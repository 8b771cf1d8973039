//! Flags that limit what a command may spend on a chat model.

use malha_engine::language_model::ChatModel;
use malha_engine::types::SpendingLimit;

use crate::config::Settings;
use crate::exit::{Exit, Refusal};

/// How much may be spent at most.
#[derive(Debug, Clone, clap::Args)]
#[group(id = "spending")]
#[command(next_help_heading = "Spending")]
pub(crate) struct SpendingArgs {
    /// Stop before this much money is spent (prices: [[models.price]]); exit code 5. A call is made where the most it
    /// can cost has room
    #[arg(long = "max-cost", value_name = "MONEY", value_parser = money)]
    cost: Option<f64>,
    /// Stop before this many tokens are used: prompts and replies, each call with all the room for its reply
    #[arg(long = "max-tokens", value_name = "TOKENS")]
    tokens: Option<u64>,
    /// Stop before this many calls are made
    #[arg(long = "max-calls", value_name = "CALLS")]
    calls: Option<u64>,
}

impl SpendingArgs {
    /// Whether any limit is set.
    pub(crate) const fn is_stated(&self) -> bool {
        self.cost.is_some() || self.tokens.is_some() || self.calls.is_some()
    }

    /// The limit, which money can only be where every model that may be asked has a price.
    pub(crate) fn limit(
        &self,
        models: &[&dyn ChatModel],
        settings: &Settings,
    ) -> anyhow::Result<SpendingLimit> {
        let prices = &settings.engine.prices;
        let has_price = |name: &&str| prices.iter().any(|price| price.model == *name);
        let mut names = models.iter().flat_map(|model| model.names());
        if self.cost.is_some()
            && let Some(name) = names.find(|name| !has_price(name))
        {
            let message = format!("{name} has no price: --max-cost cannot stop it");
            return Err(Refusal::new(Exit::Configuration, message)
                .hint("set it under [[models.price]] in malha.toml")
                .into());
        }
        Ok(SpendingLimit {
            calls: self.calls,
            tokens: self.tokens,
            cost: self.cost,
        })
    }
}

/// An amount that a sum can be compared with.
fn money(text: &str) -> Result<f64, String> {
    let amount: f64 = text.parse().map_err(|_| "it is no number".to_owned())?;
    if amount.is_finite() && amount >= 0.0 {
        Ok(amount)
    } else {
        Err("it is not a number from 0 up".to_owned())
    }
}
