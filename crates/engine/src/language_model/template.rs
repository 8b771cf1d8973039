//! A prompt with places to be filled.

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
    }
}
