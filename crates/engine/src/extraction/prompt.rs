//! Prompts: files beside the stage, each replaceable by one of the user's own, checked when loaded.

use std::collections::BTreeMap;

/// A text with `{{places}}` to be filled. Any other brace is just text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Template {
    text: String,
}

impl Template {
    /// Checks that every `{{place}}` is one of `known`, and that all of `needed` are there. `name` is what
    /// an error calls the file.
    ///
    /// # Errors
    /// An unknown place, with its line; or a missing one.
    pub fn new(name: &str, text: &str, known: &[&str], needed: &[&str]) -> Result<Self, String> {
        for (at, place) in places(text) {
            if !known.contains(&place) {
                let line = 1 + text[..at].matches('\n').count();
                return Err(format!(
                    "{name}:{line}: unknown placeholder {{{{{place}}}}}; known: {}",
                    known.join(", ")
                ));
            }
        }
        for place in needed {
            if !places(text).any(|(_, found)| found == *place) {
                return Err(format!(
                    "{name}: the placeholder {{{{{place}}}}} is missing"
                ));
            }
        }
        Ok(Self {
            text: text.to_owned(),
        })
    }

    /// The text with its places filled. What is filled in is never looked at again, so braces in a document
    /// stay as they are.
    pub fn fill(&self, values: &[(&str, &str)]) -> String {
        let mut out = String::with_capacity(self.text.len() + 1024);
        let mut from = 0;
        for (at, place) in places(&self.text) {
            out.push_str(&self.text[from..at]);
            let value = values.iter().find(|(name, _)| *name == place);
            out.push_str(value.map_or("", |(_, value)| value));
            from = at + place.len() + 4;
        }
        out.push_str(&self.text[from..]);
        out
    }
}

/// `{{word}}` in order, with the byte of its first brace: word characters only, so that JSON is no place.
fn places(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let mut from = 0;
    std::iter::from_fn(move || {
        while let Some(found) = text[from..].find("{{") {
            let at = from + found;
            let inner = &text[at + 2..];
            let length = inner
                .find(|c: char| !(c.is_ascii_lowercase() || c == '_'))
                .unwrap_or(inner.len());
            if length > 0 && inner[length..].starts_with("}}") {
                from = at + length + 4;
                return Some((at, &inner[..length]));
            }
            from = at + 1;
        }
        None
    })
}

/// The prompts of extraction.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Prompts {
    /// System message: `{{schema}}`, `{{language}}`.
    pub extract: Template,
    /// User message: `{{context}}`, `{{candidates}}`, `{{text}}`.
    pub passage: Template,
    /// Asks for what a first pass missed.
    pub again: Template,
    /// Asks for a readable reply: `{{reason}}`.
    pub repair: Template,
    /// Proposes a schema: `{{language}}`.
    pub infer: Template,
}

impl Prompts {
    /// Names of the files that may replace one of ours.
    pub const FILES: [&'static str; 5] = [
        "extract.md",
        "passage.md",
        "again.md",
        "repair.md",
        "infer.md",
    ];

    /// Our own prompts.
    pub fn builtin() -> Self {
        Self::new(&BTreeMap::new()).expect("our own prompts are read by a test")
    }

    /// Our own prompts but for those given by file name.
    ///
    /// # Errors
    /// An unknown or a missing placeholder, with file and line; a name that is none of [`Prompts::FILES`].
    pub fn new(own: &BTreeMap<String, String>) -> Result<Self, String> {
        if let Some(name) = own
            .keys()
            .find(|name| !Self::FILES.contains(&name.as_str()))
        {
            return Err(format!("{name} is none of {}", Self::FILES.join(", ")));
        }
        let load = |name: &str, builtin: &str, known: &[&str], needed: &[&str]| {
            let text = own.get(name).map_or(builtin, String::as_str);
            // A file ends with a line break; a message does not.
            Template::new(name, text.trim_end(), known, needed)
        };
        Ok(Self {
            extract: load(
                "extract.md",
                include_str!("prompts/extract.md"),
                &["schema", "language"],
                &[],
            )?,
            passage: load(
                "passage.md",
                include_str!("prompts/passage.md"),
                &["context", "candidates", "text"],
                &["text"],
            )?,
            again: load("again.md", include_str!("prompts/again.md"), &[], &[])?,
            repair: load(
                "repair.md",
                include_str!("prompts/repair.md"),
                &["reason"],
                &[],
            )?,
            infer: load(
                "infer.md",
                include_str!("prompts/infer.md"),
                &["language"],
                &[],
            )?,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn braces_of_texts_and_samples_stay() {
        let text = "Sample: {\"a\": {}} {{ text }} {{text}} }} {x}";
        let template = Template::new("p.md", text, &["text"], &["text"]).unwrap();
        let document = "{ }} {name} {{x}} {{text}} %s ${HOME} {\"a\":1}";
        assert_eq!(
            template.fill(&[("text", document)]),
            format!("Sample: {{\"a\": {{}}}} {{{{ text }}}} {document} }}}} {{x}}")
        );
    }

    #[test]
    fn an_unknown_placeholder_is_named_with_its_line() {
        let error = Template::new("p.md", "a\n\n{{txet}}", &["text"], &[]).unwrap_err();
        assert_eq!(error, "p.md:3: unknown placeholder {{txet}}; known: text");
        let error = Template::new("p.md", "a", &["text"], &["text"]).unwrap_err();
        assert!(error.contains("{{text}} is missing"), "{error}");
        let own = [("extrat.md".to_owned(), String::new())].into();
        assert!(Prompts::new(&own).unwrap_err().contains("extrat.md"));
    }

    #[test]
    fn the_prompt_as_it_is_sent() {
        let prompts = Prompts::builtin();
        let filled = prompts.extract.fill(&[
            ("schema", "Entity types:\n- Person\n"),
            ("language", "in the language of the passage"),
        ]);
        assert!(
            filled.starts_with("You extract a knowledge graph"),
            "{filled}"
        );
        assert!(
            filled.contains("\nEntity types:\n- Person\n\nRules:"),
            "{filled}"
        );
        assert!(
            filled.ends_with("one sentence, in the language of the passage."),
            "{filled}"
        );
        assert!(!filled.contains("{{"), "{filled}");
        let user = prompts
            .passage
            .fill(&[("context", "Document: A\n"), ("text", "B {{text}}")]);
        assert_eq!(user, "Document: A\nPassage:\nB {{text}}");
    }
}
