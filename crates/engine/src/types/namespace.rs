use std::fmt;

use unicode_normalization::UnicodeNormalization;

use crate::{Error, Result};

/// Longest name in bytes.
const MAX_BYTES: usize = 128;

/// A checked name of a separate body of knowledge in a store. What is accepted here works in every
/// operation; what is not is refused before anything is stored.
///
/// Letters, digits and combining marks of any script and `-`, `_`, `.`, `:`, `@`, `+`; at most 128
/// bytes; not only dots. Kept in Unicode form NFC, compared exactly.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Namespace(String);

impl Namespace {
    /// Name of the namespace that is used when none is given.
    pub const DEFAULT: &'static str = "default";

    /// Checks `name`. [`Error::Usage`] says what is wrong with it.
    pub fn new(name: &str) -> Result<Self> {
        let refuse = |reason: String| Err(Error::Usage(format!("namespace {name:?}: {reason}")));
        let normal: String = name.nfc().collect();
        if normal.is_empty() {
            return refuse("the name is empty".to_owned());
        }
        if normal.len() > MAX_BYTES {
            return refuse(format!("longer than {MAX_BYTES} bytes"));
        }
        if let Some(other) = normal.chars().find(|&c| !is_allowed(c)) {
            return refuse(format!(
                "{other:?} is not allowed; use letters, digits and - _ . : @ +"
            ));
        }
        if normal.chars().all(|c| c == '.') {
            return refuse("a name needs more than dots".to_owned());
        }
        Ok(Self(normal))
    }

    /// The name.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl Default for Namespace {
    fn default() -> Self {
        Self(Self::DEFAULT.to_owned())
    }
}

impl fmt::Display for Namespace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

fn is_allowed(c: char) -> bool {
    c.is_alphanumeric()
        || unicode_normalization::char::is_combining_mark(c)
        || matches!(c, '-' | '_' | '.' | ':' | '@' | '+')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn accepted_or_refused_at_the_first_call() {
        let check = |name: &str, accepted: bool| {
            assert_eq!(Namespace::new(name).is_ok(), accepted, "{name:?}");
        };
        check("my-group", true);
        check("main", true);
        check("0190b6a2-5f3e-7c1d-9a8b-2f4e6d8c0a1b", true);
        check("a:b", true);
        check("_", true);
        check("équipe", true);
        check("हिन्दी", true);
        check("AND", true);
        check("\"x\"", false);
        check("", false);
        check(" ", false);
        check("a b", false);
        check("a/b", false);
        check("..", false);
        check("a\0", false);
        check("a\u{200b}b", false);
        check(&"x".repeat(128), true);
        check(&"x".repeat(129), false);
        assert_eq!(
            Namespace::new("e\u{301}quipe").unwrap(),
            Namespace::new("équipe").unwrap()
        );
    }
}
