//! The prompts of a stage: our own, but for the files that a user puts in their place.

use std::collections::BTreeMap;

use super::Template;

/// Texts by file name that replace some of our prompts.
#[derive(Debug)]
pub(crate) struct PromptFiles<'a>(&'a BTreeMap<String, String>);

impl<'a> PromptFiles<'a> {
    /// # Errors
    /// A name that is none of `names`.
    pub(crate) fn new(own: &'a BTreeMap<String, String>, names: &[&str]) -> Result<Self, String> {
        match own.keys().find(|name| !names.contains(&name.as_str())) {
            Some(name) => Err(format!("{name} is none of {}", names.join(", "))),
            None => Ok(Self(own)),
        }
    }

    /// The prompt of this name, `builtin` if nothing replaces it, with the placeholders that it may and must have.
    ///
    /// # Errors
    /// An unknown or a missing placeholder, with file and line.
    pub(crate) fn load(
        &self,
        name: &str,
        builtin: &str,
        known: &[&str],
        needed: &[&str],
    ) -> Result<Template, String> {
        let text = self.0.get(name).map_or(builtin, String::as_str);
        // A file ends with a line break; a message does not.
        Template::new(name, text.trim_end(), known, needed)
    }
}
