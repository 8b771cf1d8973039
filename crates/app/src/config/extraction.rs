//! `[extraction]`: what may be extracted, and how it is asked for.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use malha_engine::extraction::{ExtractionSettings, Prompts, Schema};
use serde::Deserialize;

use crate::exit::{Exit, Refusal};

/// `[extraction]` as written.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(super) struct Extraction {
    pub(super) schema: Option<PathBuf>,
    pub(super) prompts: Option<PathBuf>,
    language: Option<String>,
    passage_tokens: Option<usize>,
    together_tokens: Option<usize>,
    max_output_tokens: Option<u32>,
    second_pass: Option<bool>,
    judge: Option<bool>,
    summarize: Option<bool>,
}

/// `[extraction]`, checked; the files it names are read when a command needs them.
#[derive(Debug, Clone, PartialEq, Eq)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "settings that have nothing to do with one another"
)]
pub(crate) struct ExtractionFiles {
    pub(crate) schema: PathBuf,
    /// The user named the file: it has to be there.
    schema_is_stated: bool,
    prompts: Option<PathBuf>,
    language: String,
    /// Neighbouring passages are joined up to this many tokens.
    pub(crate) passage_tokens: usize,
    together_tokens: usize,
    max_output_tokens: u32,
    second_pass: bool,
    judge: bool,
    summarize: bool,
}

impl Extraction {
    pub(super) fn overlaid_by(self, over: Self) -> Self {
        Self {
            schema: over.schema.or(self.schema),
            prompts: over.prompts.or(self.prompts),
            language: over.language.or(self.language),
            passage_tokens: over.passage_tokens.or(self.passage_tokens),
            together_tokens: over.together_tokens.or(self.together_tokens),
            max_output_tokens: over.max_output_tokens.or(self.max_output_tokens),
            second_pass: over.second_pass.or(self.second_pass),
            judge: over.judge.or(self.judge),
            summarize: over.summarize.or(self.summarize),
        }
    }

    /// Without a stated place, the schema stands beside the configuration. Prompts come from a stated folder only: a
    /// vault may well have a folder of that name.
    pub(super) fn check(self, base: &Path) -> Result<ExtractionFiles, String> {
        const SET: &str = "the example file sets every key of [extraction] but the paths";
        let passage_tokens = self.passage_tokens.expect(SET);
        if passage_tokens == 0 {
            return Err("extraction.passage_tokens is 0; at least 1 is needed".to_owned());
        }
        Ok(ExtractionFiles {
            schema_is_stated: self.schema.is_some(),
            schema: self.schema.unwrap_or_else(|| base.join("schema.toml")),
            prompts: self.prompts,
            language: self.language.expect(SET),
            passage_tokens,
            together_tokens: self.together_tokens.expect(SET),
            max_output_tokens: self.max_output_tokens.expect(SET),
            second_pass: self.second_pass.expect(SET),
            judge: self.judge.expect(SET),
            summarize: self.summarize.expect(SET),
        })
    }

    /// The value of `MALHA_EXTRACTION_…`; `None` when there is no such setting.
    pub(super) fn set(&mut self, name: &str, value: &str) -> Option<Result<(), String>> {
        let number = |value: &str| value.trim().parse::<u32>();
        let wrong = |_| format!("`{value}` is not a whole number");
        let switch = |place: &mut Option<bool>| match value.trim().parse() {
            Ok(on) => {
                *place = Some(on);
                Ok(())
            }
            Err(_) => Err("neither `true` nor `false`".to_owned()),
        };
        Some(match name {
            "SCHEMA" => {
                self.schema = Some(value.into());
                Ok(())
            }
            "PROMPTS" => {
                self.prompts = Some(value.into());
                Ok(())
            }
            "LANGUAGE" => {
                self.language = Some(value.to_owned());
                Ok(())
            }
            "PASSAGE_TOKENS" => number(value)
                .map(|n| self.passage_tokens = Some(n as usize))
                .map_err(wrong),
            "TOGETHER_TOKENS" => number(value)
                .map(|n| self.together_tokens = Some(n as usize))
                .map_err(wrong),
            "MAX_OUTPUT_TOKENS" => number(value)
                .map(|n| self.max_output_tokens = Some(n))
                .map_err(wrong),
            "SECOND_PASS" => switch(&mut self.second_pass),
            "JUDGE" => switch(&mut self.judge),
            "SUMMARIZE" => switch(&mut self.summarize),
            _ => return None,
        })
    }
}

impl ExtractionFiles {
    /// Reads schema and prompts.
    pub(crate) fn load(&self) -> anyhow::Result<ExtractionSettings> {
        let schema = if self.schema.is_file() || self.schema_is_stated {
            read_schema(&self.schema)?
        } else {
            Schema::default()
        };
        let prompts = read_prompts(self.prompts.as_deref(), &Prompts::FILES, Prompts::new)?;
        Ok(ExtractionSettings {
            schema,
            prompts,
            language: (!self.language.is_empty()).then(|| self.language.clone()),
            passage_tokens: self.passage_tokens,
            together_tokens: self.together_tokens,
            max_output_tokens: self.max_output_tokens,
            second_pass: self.second_pass,
            judge: self.judge,
            summarize: self.summarize,
            ..ExtractionSettings::default()
        })
    }
}

/// The files of these names that are in a folder of prompts, checked here, where the folder's name is known.
pub(super) fn read_prompts<P>(
    folder: Option<&Path>,
    names: &[&str],
    check: impl Fn(&BTreeMap<String, String>) -> Result<P, String>,
) -> anyhow::Result<BTreeMap<String, String>> {
    let mut prompts = BTreeMap::new();
    let Some(folder) = folder else {
        return Ok(prompts);
    };
    if !folder.is_dir() {
        let message = format!("{}: there is no such folder of prompts", folder.display());
        return Err(bad(message).into());
    }
    for name in names {
        let file = folder.join(name);
        if file.is_file() {
            prompts.insert((*name).to_owned(), read(&file)?);
        }
    }
    check(&prompts).map_err(|reason| bad(format!("{}: {reason}", folder.display())))?;
    Ok(prompts)
}

/// Reads a schema; an error names file and line.
pub(crate) fn read_schema(path: &Path) -> anyhow::Result<Schema> {
    let text = read(path)?;
    toml::from_str(&text).map_err(|error| {
        let start = error.span().map_or(0, |span| span.start).min(text.len());
        let before = text.get(..start).unwrap_or_default();
        let line = 1 + before.matches('\n').count();
        let reason = error.message().trim();
        bad(format!("{}:{line}: {reason}", path.display())).into()
    })
}

fn read(path: &Path) -> anyhow::Result<String> {
    std::fs::read_to_string(path)
        .map_err(|error| bad(format!("{}: {error}", path.display())).into())
}

fn bad(message: String) -> Refusal {
    Refusal::new(Exit::Configuration, message)
}
