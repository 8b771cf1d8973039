//! When a document says it was written.

use serde_json::Value;

use super::front_matter;
use super::stated_date::{self, DayOrder};
use super::title::file_stem;
use crate::types::{DateSource, ValidDate};

/// Fields of a document's date, best first, and whether their language writes the day first.
const DATE_KEYS: [(&str, DayOrder); 26] = [
    ("date", DayOrder::Unknown),
    ("data", DayOrder::DayFirst),
    ("日期", DayOrder::Unknown),
    ("fecha", DayOrder::DayFirst),
    ("datum", DayOrder::DayFirst),
    ("published", DayOrder::Unknown),
    ("publishdate", DayOrder::Unknown),
    ("created", DayOrder::Unknown),
    ("created_at", DayOrder::Unknown),
    ("date created", DayOrder::Unknown),
    ("date_created", DayOrder::Unknown),
    ("creation date", DayOrder::Unknown),
    ("criado", DayOrder::DayFirst),
    ("criado em", DayOrder::DayFirst),
    ("criado_em", DayOrder::DayFirst),
    ("创建时间", DayOrder::Unknown),
    ("创建日期", DayOrder::Unknown),
    ("updated", DayOrder::Unknown),
    ("updated_at", DayOrder::Unknown),
    ("modified", DayOrder::Unknown),
    ("date modified", DayOrder::Unknown),
    ("lastmod", DayOrder::Unknown),
    ("atualizado", DayOrder::DayFirst),
    ("atualizado em", DayOrder::DayFirst),
    ("更新时间", DayOrder::Unknown),
    ("更新日期", DayOrder::Unknown),
];

/// The date that the fields of a front matter or a row state, else that of the file's name.
pub(super) fn date_of_fields(fields: &Value, uri: &str) -> Option<(ValidDate, DateSource)> {
    let fields = fields.as_object().into_iter().flatten();
    let mut dated: Vec<(usize, &Value)> = fields
        .filter_map(|(key, value)| {
            let key = key.trim().to_lowercase();
            let rank = DATE_KEYS.iter().position(|(known, _)| *known == key)?;
            Some((rank, value))
        })
        .collect();
    dated.sort_by_key(|(rank, _)| *rank);
    dated
        .into_iter()
        .find_map(|(rank, value)| {
            let texts = front_matter::texts_in(value);
            let (_, order) = DATE_KEYS[rank];
            texts
                .iter()
                .find_map(|text| stated_date::parse(text, order))
        })
        .map(|date| (date, DateSource::FrontMatter))
        .or_else(|| date_of_name(uri))
}

/// The date stated in a document's own description, else that of the file's name.
pub(super) fn date_stated(stated: Option<&str>, uri: &str) -> Option<(ValidDate, DateSource)> {
    stated
        .and_then(|text| stated_date::parse(text, DayOrder::Unknown))
        .map(|date| (date, DateSource::FrontMatter))
        .or_else(|| date_of_name(uri))
}

fn date_of_name(uri: &str) -> Option<(ValidDate, DateSource)> {
    stated_date::in_file_name(file_stem(uri)).map(|date| (date, DateSource::FileName))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn the_document_before_its_name() {
        let written = |found: Option<(ValidDate, DateSource)>| {
            found.map(|(date, source)| (date.written, source))
        };
        let check = |fields: Value, uri: &str, expected: Option<(&str, DateSource)>| {
            let expected = expected.map(|(text, source)| (text.to_owned(), source));
            assert_eq!(
                written(date_of_fields(&fields, uri)),
                expected,
                "{fields} {uri}"
            );
        };
        let (stated, named) = (DateSource::FrontMatter, DateSource::FileName);
        check(
            json!({"date": "2024-05-01"}),
            "2020-01-01.csv",
            Some(("2024-05-01", stated)),
        );
        check(
            json!({"Criado em": "01/05/2024"}),
            "a.csv",
            Some(("01/05/2024", stated)),
        );
        check(
            json!({"date": "soon"}),
            "x/2020-01-01 log.csv",
            Some(("2020-01-01", named)),
        );
        check(Value::Null, "a.csv", None);
        assert_eq!(
            written(date_stated(Some("2015-02-01T10:00:00+01:00"), "a.html")),
            Some(("2015-02-01T10:00:00+01:00".to_owned(), stated))
        );
        assert_eq!(written(date_stated(Some("?"), "a.html")), None);
    }
}
