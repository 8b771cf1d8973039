//! Reading XML parts of DOCX and EPUB files with the HTML tokenizer: it never fails on what
//! sloppy writers produce, decodes entities, and saves a second parser. Names come lower-cased.

use html5gum::{Spanned, StartTag, Token, Tokenizer};

/// A piece of an XML part.
#[derive(Debug)]
pub(crate) enum Event {
    /// A start tag; an empty element's is followed by its `End`.
    Start(Tag),
    /// Name with its prefix, lower-cased.
    End(String),
    Text(String),
}

/// A start tag.
#[derive(Debug)]
pub(crate) struct Tag {
    /// With its prefix, lower-cased.
    pub(crate) name: String,
    attributes: StartTag<()>,
}

impl Tag {
    /// Value of an attribute, by its lower-cased name with prefix.
    pub(crate) fn attribute(&self, name: &str) -> Option<String> {
        let value: &Spanned<_, ()> = self.attributes.attributes.get(name.as_bytes())?;
        Some(String::from_utf8_lossy(value).into_owned())
    }

    /// The name without its prefix.
    pub(crate) fn local(&self) -> &str {
        local(&self.name)
    }
}

/// A name without its prefix.
pub(crate) fn local(name: &str) -> &str {
    name.rsplit_once(':').map_or(name, |(_, local)| local)
}

/// The pieces of an XML text, in order.
pub(crate) fn events(text: &str) -> impl Iterator<Item = Event> {
    let tokens = Tokenizer::new(text).map_while(Result::ok);
    tokens.flat_map(|token| {
        let (first, second) = match token {
            Token::StartTag(tag) => {
                let name = String::from_utf8_lossy(&tag.name).into_owned();
                let end = tag.self_closing.then(|| Event::End(name.clone()));
                let start = Event::Start(Tag {
                    name,
                    attributes: tag,
                });
                (Some(start), end)
            }
            Token::EndTag(tag) => {
                let name = String::from_utf8_lossy(&tag.name).into_owned();
                (Some(Event::End(name)), None)
            }
            Token::String(text) => {
                let text = String::from_utf8_lossy(&text).into_owned();
                (Some(Event::Text(text)), None)
            }
            _ => (None, None),
        };
        first.into_iter().chain(second)
    })
}

/// The text inside the first element of this local name.
pub(crate) fn text_of(xml: &str, name: &str) -> Option<String> {
    let mut found: Option<String> = None;
    for event in events(xml) {
        match event {
            Event::Start(tag) if tag.local() == name => found = Some(String::new()),
            Event::Text(text) => {
                if let Some(found) = &mut found {
                    found.push_str(&text);
                }
            }
            Event::End(end) if local(&end) == name && found.is_some() => break,
            _ => {}
        }
    }
    let found = found?.split_whitespace().collect::<Vec<_>>().join(" ");
    (!found.is_empty()).then_some(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn first_text() {
        let check = |xml: &str, expected: Option<&str>| {
            assert_eq!(text_of(xml, "title").as_deref(), expected, "{xml}");
        };
        check(
            "<?xml version='1.0'?><m><dc:title>A &amp; B</dc:title></m>",
            Some("A & B"),
        );
        check("<dc:title/><dc:title>second</dc:title>", None);
        check("<DC:Title>\n up\n per </DC:Title>", Some("up per"));
        check("<title>never closed", Some("never closed"));
        check("", None);
    }
}
