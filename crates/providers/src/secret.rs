use std::fmt;

/// An API key. Its value never shows in logs, errors or debugging output.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct Secret(String);

impl Secret {
    /// Wraps a value read from the environment.
    pub fn new(value: impl Into<String>) -> Self {
        Self(value.into())
    }

    /// True when there is no key.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// What the `authorization` header says; `None` when there is no key.
    pub(crate) fn bearer(&self) -> Option<String> {
        (!self.is_empty()).then(|| format!("Bearer {}", self.0))
    }

    /// The value, for the header that carries it.
    pub(crate) fn reveal(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if self.is_empty() { "none" } else { "[secret]" })
    }
}
