//! Settings that variables state.

use std::path::PathBuf;

use super::{NamespaceName, Raw, bad};
use crate::exit::Refusal;

/// Variables that belong to the tests and are no settings.
const FOREIGN_VARIABLES: [&str; 2] = ["MALHA_DATA_DIR", "MALHA_TCK_DIR"];

/// What the `MALHA_*` variables say.
#[derive(Debug, Default)]
pub(in crate::config) struct Environment {
    pub(in crate::config) settings: Raw,
    pub(in crate::config) config: Option<PathBuf>,
    /// Variables that look like settings and are none.
    pub(in crate::config) unknown: Vec<String>,
}

impl Environment {
    pub(in crate::config) fn read(
        variables: impl Iterator<Item = (String, String)>,
    ) -> Result<Self, Refusal> {
        let mut found = Self::default();
        for (name, value) in variables.filter(|(name, _)| name.starts_with("MALHA_")) {
            let settings = &mut found.settings;
            match name.as_str() {
                "MALHA_CONFIG" => found.config = Some(value.into()),
                "MALHA_STORE" => settings.store = Some(value.into()),
                "MALHA_ALLOW_NETWORK_FILE_SYSTEM" => {
                    let value = value.trim().parse();
                    settings.allow_network_file_system = Some(
                        value.map_err(|_| bad(format!("{name}: neither `true` nor `false`")))?,
                    );
                }
                "MALHA_NAMESPACE" => {
                    settings.namespace = Some(NamespaceName::try_from(value).map_err(bad)?);
                }
                "MALHA_INDEX_SOURCES" => {
                    settings.index.sources = Some(std::env::split_paths(&value).collect());
                }
                "MALHA_INDEX_CONVENTION" => settings.index.convention = Some(named(&name, &value)?),
                "MALHA_INDEX_LEASE_WAIT_MS" => {
                    settings.index.lease_wait_ms = Some(number(&name, &value)?);
                }
                "MALHA_INDEX_WATCH_QUIET_MS" => {
                    settings.index.watch_quiet_ms = Some(number(&name, &value)?);
                }
                "MALHA_CHUNK_SIZE" => settings.chunk.size = Some(number(&name, &value)?),
                "MALHA_CHUNK_OVERLAP" => settings.chunk.overlap = Some(number(&name, &value)?),
                "MALHA_CHUNK_UNIT" => settings.chunk.unit = Some(named(&name, &value)?),
                "MALHA_SEARCH_MODE" => settings.search.mode = Some(named(&name, &value)?),
                "MALHA_SEARCH_LIMIT" => settings.search.limit = Some(number(&name, &value)?),
                _ if name.starts_with("MALHA_MODELS_") => {
                    let rest = &name["MALHA_MODELS_".len()..];
                    match settings.models.set(rest, &value) {
                        Some(result) => {
                            result.map_err(|reason| bad(format!("{name}: {reason}")))?;
                        }
                        None => found.unknown.push(name),
                    }
                }
                "MALHA_SEARCH_LEARNED_RANKER" => {
                    let value = value.trim().parse();
                    settings.search.learned_ranker = Some(
                        value.map_err(|_| bad(format!("{name}: neither `true` nor `false`")))?,
                    );
                }
                "MALHA_SEARCH_SYNONYMS" => {
                    let value = value.trim().parse();
                    settings.search.synonyms = Some(
                        value.map_err(|_| bad(format!("{name}: neither `true` nor `false`")))?,
                    );
                }
                "MALHA_AB_LOG" => {
                    let value = value.trim().parse();
                    settings.ab.log = Some(
                        value.map_err(|_| bad(format!("{name}: neither `true` nor `false`")))?,
                    );
                }
                _ if name.starts_with("MALHA_GATE_") => {
                    match settings.gate.set(&name["MALHA_GATE_".len()..], &value) {
                        Some(result) => {
                            result.map_err(|reason| bad(format!("{name}: {reason}")))?;
                        }
                        None => found.unknown.push(name),
                    }
                }
                _ if name.starts_with("MALHA_MEMORY_") => {
                    match settings.memory.set(&name["MALHA_MEMORY_".len()..], &value) {
                        Some(result) => {
                            result.map_err(|reason| bad(format!("{name}: {reason}")))?;
                        }
                        None => found.unknown.push(name),
                    }
                }
                _ if name.starts_with("MALHA_EXTRACTION_") => {
                    let rest = &name["MALHA_EXTRACTION_".len()..];
                    match settings.extraction.set(rest, &value) {
                        Some(result) => {
                            result.map_err(|reason| bad(format!("{name}: {reason}")))?;
                        }
                        None => found.unknown.push(name),
                    }
                }
                _ if ["MALHA_LOCAL_MODELS_", "MALHA_EMBEDDING_", "MALHA_RERANK_"]
                    .iter()
                    .any(|prefix| name.starts_with(prefix)) =>
                {
                    let mut models = settings.search_models();
                    match models.set(&name["MALHA_".len()..], &value) {
                        Some(result) => {
                            result.map_err(|reason| bad(format!("{name}: {reason}")))?;
                            settings.set_search_models(models);
                        }
                        None => found.unknown.push(name),
                    }
                }
                _ if name.starts_with("MALHA_ANSWERS_") => {
                    let rest = &name["MALHA_ANSWERS_".len()..];
                    match settings.answers.set(rest, &value) {
                        Some(result) => {
                            result.map_err(|reason| bad(format!("{name}: {reason}")))?;
                        }
                        None => found.unknown.push(name),
                    }
                }
                _ if FOREIGN_VARIABLES.contains(&name.as_str()) => {}
                _ => found.unknown.push(name),
            }
        }
        found.unknown.sort();
        Ok(found)
    }
}

fn number<N: std::str::FromStr>(name: &str, value: &str) -> Result<N, Refusal> {
    value.trim().parse().map_err(|_| {
        bad(format!(
            "{name}: `{value}` is not a whole number that is possible here"
        ))
    })
}

fn named<V: clap::ValueEnum>(name: &str, value: &str) -> Result<V, Refusal> {
    V::from_str(value.trim(), true).map_err(|_| {
        let names: Vec<String> = V::value_variants()
            .iter()
            .filter_map(clap::ValueEnum::to_possible_value)
            .map(|possible| possible.get_name().to_owned())
            .collect();
        bad(format!("{name}: `{value}` is none of {}", names.join(", ")))
    })
}
