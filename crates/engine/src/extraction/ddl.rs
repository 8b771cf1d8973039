//! Node and relationship tables of Cypher's data definition, as a schema. The words may be English or, as a
//! text translated by machine has them, Portuguese.

use super::schema::{EntityType, RelationType, Schema};

/// Reads `CREATE NODE TABLE …` and `CREATE REL TABLE …`. Of other statements nothing is kept; they are
/// returned as warnings.
///
/// # Errors
/// A table that cannot be read, with its line; or no table at all.
pub fn schema_of_ddl(text: &str) -> Result<(Schema, Vec<String>), String> {
    let mut schema = Schema::default();
    let mut warnings = Vec::new();
    for (line, statement) in statements(text) {
        let tokens = tokens(&statement);
        let words: Vec<String> = tokens.iter().map(|token| token.to_lowercase()).collect();
        let at = |position: usize| words.get(position).map_or("", String::as_str);
        let is_create = matches!(at(0), "create" | "criar" | "crie");
        // `CREATE NODE TABLE`, `CRIAR TABELA DE NÓ`, `CREATE TABLE NODE`.
        let kind = words.iter().take(5).find_map(|word| match word.as_str() {
            "node" | "nó" | "no" | "nodo" => Some(true),
            "rel" | "relationship" | "relação" | "relacao" | "relacionamento" => Some(false),
            _ => None,
        });
        let (Some(is_node), true) = (kind, is_create) else {
            warnings.push(format!("line {line}: not a table: {}", start(&statement)));
            continue;
        };
        let open = tokens
            .iter()
            .position(|token| token == "(")
            .ok_or_else(|| format!("line {line}: no opening bracket in {}", start(&statement)))?;
        let name = tokens
            .get(open.wrapping_sub(1))
            .filter(|_| open > 2)
            .ok_or_else(|| format!("line {line}: the table has no name"))?
            .clone();
        let columns = columns(&tokens[open + 1..])
            .ok_or_else(|| format!("line {line}: no closing bracket in {}", start(&statement)))?;
        if is_node {
            schema.entity.insert(name, node(&columns));
        } else {
            let relation = relation(&columns).ok_or_else(|| {
                format!("line {line}: {name} says not FROM what TO what it leads")
            })?;
            match schema.relation.entry(name) {
                std::collections::btree_map::Entry::Vacant(entry) => {
                    entry.insert(relation);
                }
                std::collections::btree_map::Entry::Occupied(mut entry) => {
                    let known = entry.get_mut();
                    add_new(&mut known.source, relation.source);
                    add_new(&mut known.target, relation.target);
                    add_new(&mut known.properties, relation.properties);
                }
            }
        }
    }
    if schema.is_free() {
        return Err("no CREATE NODE TABLE or CREATE REL TABLE in it".to_owned());
    }
    Ok((schema, warnings))
}

fn add_new(to: &mut Vec<String>, from: Vec<String>) {
    for word in from {
        if !to.contains(&word) {
            to.push(word);
        }
    }
}

fn start(statement: &str) -> String {
    statement
        .split_whitespace()
        .take(6)
        .collect::<Vec<_>>()
        .join(" ")
}

/// Statements with the line they start at, without comments.
fn statements(text: &str) -> Vec<(usize, String)> {
    let mut out = Vec::new();
    let mut current = String::new();
    let mut line_of_current = 1;
    for (number, line) in text.lines().enumerate() {
        let code = line.split("//").next().unwrap_or_default();
        let code = code.split("--").next().unwrap_or_default();
        for (part, piece) in code.split(';').enumerate() {
            if part > 0 && !current.trim().is_empty() {
                out.push((line_of_current, std::mem::take(&mut current)));
            }
            if current.trim().is_empty() {
                line_of_current = number + 1;
            }
            current.push_str(piece);
            current.push(' ');
        }
    }
    if !current.trim().is_empty() {
        out.push((line_of_current, current));
    }
    out
}

/// Words, quoted names and brackets.
fn tokens(statement: &str) -> Vec<String> {
    let mut out: Vec<String> = Vec::new();
    let mut word = String::new();
    let mut quoted = false;
    for c in statement.chars() {
        if c == '`' {
            quoted = !quoted;
        } else if !quoted && (c.is_whitespace() || "(),|".contains(c)) {
            if !word.is_empty() {
                out.push(std::mem::take(&mut word));
            }
            if "(),|".contains(c) {
                out.push(c.to_string());
            }
        } else {
            word.push(c);
        }
    }
    if !word.is_empty() {
        out.push(word);
    }
    out
}

/// The columns of a table, split at its commas; `None` without a closing bracket.
fn columns(tokens: &[String]) -> Option<Vec<Vec<String>>> {
    let mut out = vec![Vec::new()];
    let mut depth = 1;
    for token in tokens {
        match token.as_str() {
            "(" => depth += 1,
            ")" => depth -= 1,
            "," if depth == 1 => {
                out.push(Vec::new());
                continue;
            }
            _ => {}
        }
        if depth == 0 {
            return Some(out);
        }
        out.last_mut().expect("never empty").push(token.clone());
    }
    None
}

fn node(columns: &[Vec<String>]) -> EntityType {
    let is_key = |word: &str| matches!(word, "primary" | "chave" | "primária" | "primaria");
    let key = columns.iter().find_map(|column| {
        let first = column.first()?.to_lowercase();
        let open = column.iter().position(|token| token == "(")?;
        is_key(&first).then(|| column.get(open + 1).cloned())?
    });
    let properties = columns.iter().filter_map(|column| {
        let name = column.first()?;
        let has_key = column.iter().any(|word| is_key(&word.to_lowercase()));
        // The key is the entity's name, which is asked for anyway.
        (!has_key && Some(name) != key.as_ref()).then(|| name.clone())
    });
    EntityType {
        properties: properties.collect(),
        ..EntityType::default()
    }
}

fn relation(columns: &[Vec<String>]) -> Option<RelationType> {
    let mut relation = RelationType::default();
    for column in columns {
        let lower: Vec<String> = column.iter().map(|word| word.to_lowercase()).collect();
        if matches!(lower.first().map(String::as_str), Some("from" | "de")) {
            let to = lower
                .iter()
                .position(|word| matches!(word.as_str(), "to" | "para"))?;
            let names = |part: &[String]| -> Vec<String> {
                part.iter().filter(|token| *token != "|").cloned().collect()
            };
            add_new(&mut relation.source, names(&column[1..to]));
            add_new(&mut relation.target, names(&column[to + 1..]));
        } else if let Some(name) = column.first()
            && !(column.len() == 1 && lower[0].contains('_'))
        {
            relation.properties.push(name.clone());
        }
    }
    let is_whole = !relation.source.is_empty() && !relation.target.is_empty();
    is_whole.then_some(relation)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tables_in_two_languages() {
        let (schema, warnings) = schema_of_ddl(
            "// people\nCREATE NODE TABLE Pessoa(nome STRING, idade INT64, PRIMARY KEY(nome));\n\
             CREATE NODE TABLE IF NOT EXISTS Projeto(nome STRING PRIMARY KEY, status STRING);\n\
             CREATE REL TABLE TRABALHA_EM(DE Pessoa PARA Projeto, papel STRING);\n\
             CREATE REL TABLE LIDERA(FROM Pessoa TO Projeto, MANY_ONE);\n\
             LOAD EXTENSION json;",
        )
        .unwrap();
        assert_eq!(schema.entity["Pessoa"].properties, ["idade"]);
        assert_eq!(schema.entity["Projeto"].properties, ["status"]);
        let tie = &schema.relation["TRABALHA_EM"];
        assert_eq!(
            (tie.source.as_slice(), tie.target.as_slice()),
            (
                ["Pessoa".to_owned()].as_slice(),
                ["Projeto".to_owned()].as_slice()
            )
        );
        assert_eq!(tie.properties, ["papel"]);
        assert!(schema.relation["LIDERA"].properties.is_empty());
        assert_eq!(warnings.len(), 1);
        assert_eq!(schema.check().errors, Vec::<String>::new());
    }

    #[test]
    fn what_cannot_be_read_names_its_line() {
        let check = |text: &str, expected: &str| {
            let error = schema_of_ddl(text).unwrap_err();
            assert!(error.contains(expected), "{error}");
        };
        check("\nCREATE NODE TABLE A(name STRING", "line 2: no closing");
        check("CREATE REL TABLE A(x STRING)", "FROM");
        check("MATCH (n) RETURN n", "no CREATE NODE TABLE");
        check("", "no CREATE NODE TABLE");
    }
}
