//! The items of a list in a JSON file one after the other, so that an export of years is never all in memory as
//! values; a file that is no list is one item.

use std::fmt;

use serde::de::{Deserializer as _, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Value};

/// Hands over every item. The error says where the file stops being JSON; what came before was handed over.
pub(super) fn read(text: &str, each: impl FnMut(Value)) -> Result<(), String> {
    let mut json = serde_json::Deserializer::from_str(text);
    json.deserialize_any(Items { each })
        .and_then(|()| json.end())
        .map_err(|error| error.to_string())
}

struct Items<F> {
    each: F,
}

impl<'de, F: FnMut(Value)> Visitor<'de> for Items<F> {
    type Value = ();

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("a list of conversations, or one")
    }

    fn visit_seq<A: SeqAccess<'de>>(mut self, mut items: A) -> Result<(), A::Error> {
        while let Some(item) = items.next_element()? {
            (self.each)(item);
        }
        Ok(())
    }

    fn visit_map<A: MapAccess<'de>>(mut self, mut fields: A) -> Result<(), A::Error> {
        let mut item = Map::new();
        while let Some((name, value)) = fields.next_entry::<String, Value>()? {
            item.insert(name, value);
        }
        // `{"conversations": [...]}` is a list too.
        match item.get_mut("conversations").map(Value::take) {
            Some(Value::Array(items)) => items.into_iter().for_each(&mut self.each),
            Some(other) => {
                item.insert("conversations".to_owned(), other);
                (self.each)(Value::Object(item));
            }
            None => (self.each)(Value::Object(item)),
        }
        Ok(())
    }
}
