//! Values as the kit writes them in tables, both ways brought into one form to be compared.

use std::collections::BTreeMap;

use malha_engine::cypher::{MemoryGraph, PropertyGraph, Value};

/// A value in a form that only its meaning decides.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Shown {
    Null,
    Boolean(bool),
    Integer(i64),
    Float(f64),
    Text(String),
    List(Vec<Shown>),
    Map(BTreeMap<String, Shown>),
    Node(Vec<String>, BTreeMap<String, Shown>),
    Relationship(String, BTreeMap<String, Shown>),
    /// Nodes, and relationships with whether they point along the path.
    Path(Vec<Shown>, Vec<(Shown, bool)>),
}

/// What our reader gave.
pub(crate) fn of_value(graph: &MemoryGraph, value: &Value) -> Shown {
    let named = |properties: Vec<(std::sync::Arc<str>, Value)>| {
        let properties = properties.into_iter();
        properties
            .map(|(key, value)| (key.to_string(), of_value(graph, &value)))
            .collect()
    };
    match value {
        Value::Null => Shown::Null,
        Value::Boolean(value) => Shown::Boolean(*value),
        Value::Integer(value) => Shown::Integer(*value),
        Value::Float(value) => Shown::Float(*value),
        Value::String(text) => Shown::Text(text.to_string()),
        Value::List(_) => {
            let items = value.as_list().unwrap().iter();
            Shown::List(items.map(|item| of_value(graph, item)).collect())
        }
        Value::Map(_) => {
            let entries = value.as_map().unwrap().iter();
            let entries = entries.map(|(key, value)| (key.to_string(), of_value(graph, value)));
            Shown::Map(entries.collect())
        }
        Value::Node(id) => {
            let mut labels: Vec<String> = graph
                .labels(*id)
                .unwrap()
                .iter()
                .map(ToString::to_string)
                .collect();
            labels.sort();
            Shown::Node(labels, named(graph.node_properties(*id).unwrap()))
        }
        Value::Relationship(id) => Shown::Relationship(
            graph.type_name(*id).unwrap().to_string(),
            named(graph.relationship_properties(*id).unwrap()),
        ),
        Value::Path(path) => Shown::Path(
            path.nodes
                .iter()
                .map(|id| of_value(graph, &Value::Node(*id)))
                .collect(),
            path.relationships
                .iter()
                .zip(&path.nodes)
                .map(|(id, from)| {
                    let shown = of_value(graph, &Value::Relationship(*id));
                    (shown, graph.ends(*id).0 == *from)
                })
                .collect(),
        ),
        Value::Temporal(temporal) => Shown::Text(temporal.to_string()),
        Value::Duration(duration) => Shown::Text(duration.to_string()),
    }
}

/// Lists without their order.
pub(crate) fn without_order(shown: Shown) -> Shown {
    match shown {
        Shown::List(items) => {
            let mut items: Vec<Shown> = items.into_iter().map(without_order).collect();
            items.sort_by_key(|item| format!("{item:?}"));
            Shown::List(items)
        }
        other => other,
    }
}

/// What a table says.
pub(crate) fn read(text: &str) -> Result<Shown, String> {
    let mut reader = Reader {
        letters: text.chars().collect(),
        place: 0,
    };
    let shown = reader.value()?;
    reader.blanks();
    if reader.place == reader.letters.len() {
        Ok(shown)
    } else {
        Err(format!("{text}: more than a value"))
    }
}

struct Reader {
    letters: Vec<char>,
    place: usize,
}

impl Reader {
    fn peek(&self) -> Option<char> {
        self.letters.get(self.place).copied()
    }

    fn blanks(&mut self) {
        while self.peek().is_some_and(char::is_whitespace) {
            self.place += 1;
        }
    }

    fn take(&mut self, wanted: &str) -> bool {
        self.blanks();
        let rest: String = self.letters[self.place..]
            .iter()
            .take(wanted.len())
            .collect();
        let is_there = rest == wanted;
        if is_there {
            self.place += wanted.chars().count();
        }
        is_there
    }

    fn expect(&mut self, wanted: &str) -> Result<(), String> {
        if self.take(wanted) {
            return Ok(());
        }
        let text: String = self.letters.iter().collect();
        Err(format!("{text}: {wanted} expected at {}", self.place))
    }

    fn word(&mut self) -> String {
        let start = self.place;
        while self
            .peek()
            .is_some_and(|letter| letter.is_alphanumeric() || "_+-.".contains(letter))
        {
            self.place += 1;
        }
        self.letters[start..self.place].iter().collect()
    }

    fn value(&mut self) -> Result<Shown, String> {
        self.blanks();
        match self.peek() {
            Some('\'') => self.text().map(Shown::Text),
            Some('[') => {
                self.place += 1;
                if self.take(":") {
                    self.place -= 2;
                    return self.relationship();
                }
                let mut items = Vec::new();
                while !self.take("]") {
                    items.push(self.value()?);
                    self.take(",");
                }
                Ok(Shown::List(items))
            }
            Some('{') => self.map().map(Shown::Map),
            Some('(') => self.node(),
            Some('<') => self.path(),
            _ => {
                let word = self.word();
                Ok(match word.as_str() {
                    "null" => Shown::Null,
                    "true" => Shown::Boolean(true),
                    "false" => Shown::Boolean(false),
                    "NaN" => Shown::Float(f64::NAN),
                    "Inf" | "Infinity" => Shown::Float(f64::INFINITY),
                    "-Inf" | "-Infinity" => Shown::Float(f64::NEG_INFINITY),
                    number => match number.parse::<i64>() {
                        Ok(integer) => Shown::Integer(integer),
                        Err(_) => Shown::Float(
                            number
                                .parse()
                                .map_err(|_| format!("{number:?} is no value"))?,
                        ),
                    },
                })
            }
        }
    }

    fn text(&mut self) -> Result<String, String> {
        self.expect("'")?;
        let mut text = String::new();
        loop {
            match self.peek() {
                None => return Err("a text without an end".to_owned()),
                Some('\'') => {
                    self.place += 1;
                    return Ok(text);
                }
                Some('\\') => {
                    self.place += 1;
                    let letter = self.peek().ok_or("a text without an end")?;
                    text.push(match letter {
                        'n' => '\n',
                        't' => '\t',
                        'r' => '\r',
                        other => other,
                    });
                    self.place += 1;
                }
                Some(other) => {
                    text.push(other);
                    self.place += 1;
                }
            }
        }
    }

    fn map(&mut self) -> Result<BTreeMap<String, Shown>, String> {
        self.expect("{")?;
        let mut map = BTreeMap::new();
        while !self.take("}") {
            self.blanks();
            let key = if self.peek() == Some('`') {
                self.place += 1;
                let key = self.word();
                self.expect("`")?;
                key
            } else {
                self.word()
            };
            self.expect(":")?;
            map.insert(key, self.value()?);
            self.take(",");
        }
        Ok(map)
    }

    fn node(&mut self) -> Result<Shown, String> {
        self.expect("(")?;
        let mut labels = Vec::new();
        while self.take(":") {
            labels.push(self.word());
        }
        labels.sort();
        self.blanks();
        let map = if self.peek() == Some('{') {
            self.map()?
        } else {
            BTreeMap::new()
        };
        self.expect(")")?;
        Ok(Shown::Node(labels, map))
    }

    fn relationship(&mut self) -> Result<Shown, String> {
        self.expect("[")?;
        self.expect(":")?;
        let kind = self.word();
        self.blanks();
        let map = if self.peek() == Some('{') {
            self.map()?
        } else {
            BTreeMap::new()
        };
        self.expect("]")?;
        Ok(Shown::Relationship(kind, map))
    }

    fn path(&mut self) -> Result<Shown, String> {
        self.expect("<")?;
        let mut nodes = vec![self.node()?];
        let mut relationships = Vec::new();
        while !self.take(">") {
            let points_back = self.take("<-");
            if !points_back {
                self.expect("-")?;
            }
            let relationship = self.relationship()?;
            self.expect(if points_back { "-" } else { "->" })?;
            relationships.push((relationship, !points_back));
            nodes.push(self.node()?);
        }
        Ok(Shown::Path(nodes, relationships))
    }
}
