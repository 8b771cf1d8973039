use std::fmt;

use super::Value;

/// As openCypher writes it; nodes and relationships only by number, for what is in them only the graph knows.
impl fmt::Display for Value {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Null => formatter.write_str("null"),
            Self::Boolean(value) => write!(formatter, "{value}"),
            Self::Integer(value) => write!(formatter, "{value}"),
            Self::Float(value) => formatter.write_str(&float_text(*value)),
            Self::String(text) => {
                write!(
                    formatter,
                    "'{}'",
                    text.replace('\\', "\\\\").replace('\'', "\\'")
                )
            }
            Self::List(list) => {
                formatter.write_str("[")?;
                for (place, item) in list.items.iter().enumerate() {
                    if place > 0 {
                        formatter.write_str(", ")?;
                    }
                    write!(formatter, "{item}")?;
                }
                formatter.write_str("]")
            }
            Self::Map(map) => {
                formatter.write_str("{")?;
                for (place, (key, value)) in map.entries.iter().enumerate() {
                    if place > 0 {
                        formatter.write_str(", ")?;
                    }
                    write!(formatter, "{key}: {value}")?;
                }
                formatter.write_str("}")
            }
            Self::Node(id) => write!(formatter, "(#{})", id.0),
            Self::Relationship(id) => write!(formatter, "[#{}]", id.0),
            Self::Path(path) => {
                write!(formatter, "<(#{})", path.nodes[0].0)?;
                for (relationship, node) in path.relationships.iter().zip(&path.nodes[1..]) {
                    write!(formatter, "-[#{}]-(#{})", relationship.0, node.0)?;
                }
                formatter.write_str(">")
            }
            Self::Temporal(temporal) => write!(formatter, "{temporal}"),
            Self::Duration(duration) => write!(formatter, "{duration}"),
        }
    }
}

/// A float that reads as a float: with a point or an exponent, large and small ones as `1.0E10`.
pub(in crate::cypher) fn float_text(value: f64) -> String {
    if value.is_nan() {
        return "NaN".to_owned();
    }
    if value.is_infinite() {
        return if value > 0.0 { "Infinity" } else { "-Infinity" }.to_owned();
    }
    let size = value.abs();
    if size != 0.0 && !(1e-3..1e7).contains(&size) {
        let text = format!("{value:E}");
        return match text.split_once('E') {
            Some((digits, exponent)) if !digits.contains('.') => format!("{digits}.0E{exponent}"),
            _ => text,
        };
    }
    let text = format!("{value}");
    if text.contains('.') {
        text
    } else {
        format!("{text}.0")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn floats_read_as_floats() {
        #[track_caller]
        fn check(value: f64, expected: &str) {
            assert_eq!(float_text(value), expected);
        }
        check(1.0, "1.0");
        check(-0.5, "-0.5");
        check(1e10, "1.0E10");
        check(1.25e-9, "1.25E-9");
        check(f64::NAN, "NaN");
    }
}
