use super::line::Line;
use crate::memory::Period;
use crate::text::clean_name;

/// A line whose names and dates are usable.
pub(super) struct Checked<'a> {
    pub(super) subject: String,
    pub(super) relation: String,
    pub(super) object: String,
    pub(super) subject_type: Option<&'a str>,
    pub(super) object_type: Option<&'a str>,
    pub(super) source: Option<&'a str>,
    pub(super) fact: Option<&'a str>,
    pub(super) period: Period,
}

impl<'a> Checked<'a> {
    pub(super) fn new(line: &'a Line) -> Result<Self, String> {
        let name = |what: &str, written: &str| {
            clean_name(written).map_err(|reason| format!("the {what} {reason}"))
        };
        let plain = |what: &str, text: &'a Option<String>| -> Result<Option<&'a str>, String> {
            let text = text.as_deref().map(str::trim);
            match text {
                Some(text) => clean_name(text)
                    .map(|_| Some(text))
                    .map_err(|reason| format!("the {what} {reason}")),
                None => Ok(None),
            }
        };
        Ok(Self {
            subject: name("subject", &line.subject)?,
            relation: name("relation", &line.relation)?,
            object: name("object", &line.object)?,
            subject_type: plain("subject type", &line.subject_type)?,
            object_type: plain("object type", &line.object_type)?,
            source: plain("source", &line.source)?,
            fact: plain("fact", &line.fact)?,
            period: Period::new(line.valid_from.as_deref(), line.valid_to.as_deref())?,
        })
    }
}
