//! Scenarios of a feature file, each example row a scenario of its own.

/// A table of cells, or a text between `"""`.
#[derive(Debug, Clone, Default)]
pub(crate) struct Step {
    pub text: String,
    pub document: Option<String>,
    pub table: Vec<Vec<String>>,
}

#[derive(Debug, Clone)]
pub(crate) struct Scenario {
    pub name: String,
    pub steps: Vec<Step>,
}

#[derive(Default)]
struct Block {
    name: String,
    steps: Vec<Step>,
    examples: Vec<Vec<Vec<String>>>,
    is_ignored: bool,
}

/// Reads the scenarios of a feature file.
pub(crate) fn read(text: &str) -> Vec<Scenario> {
    let mut background: Vec<Step> = Vec::new();
    let mut blocks: Vec<Block> = Vec::new();
    let mut in_background = false;
    let mut in_examples = false;
    let mut is_ignored = false;
    let mut lines = text.lines();
    while let Some(line) = lines.next() {
        let line_text = line.trim();
        if line_text.is_empty() || line_text.starts_with('#') || line_text.starts_with("Feature:") {
            continue;
        }
        if line_text.starts_with('@') {
            is_ignored |= line_text.split_whitespace().any(|tag| tag == "@ignore");
            continue;
        }
        if line_text.starts_with("Background:") {
            in_background = true;
            continue;
        }
        let title = line_text
            .strip_prefix("Scenario Outline:")
            .or(line_text.strip_prefix("Scenario:"));
        if let Some(title) = title {
            in_background = false;
            in_examples = false;
            blocks.push(Block {
                name: title.trim().to_owned(),
                is_ignored: std::mem::take(&mut is_ignored),
                ..Block::default()
            });
            continue;
        }
        if line_text.starts_with("Examples:") {
            in_examples = true;
            if let Some(block) = blocks.last_mut() {
                block.examples.push(Vec::new());
            }
            continue;
        }
        let steps = if in_background {
            &mut background
        } else if let Some(block) = blocks.last_mut() {
            if in_examples && line_text.starts_with('|') {
                let rows = block
                    .examples
                    .last_mut()
                    .expect("an Examples line came before");
                rows.push(cells(line_text));
                continue;
            }
            &mut block.steps
        } else {
            continue;
        };
        if line_text.starts_with("\"\"\"") {
            let mut document = String::new();
            for line in lines.by_ref() {
                if line.trim() == "\"\"\"" {
                    break;
                }
                document.push_str(line);
                document.push('\n');
            }
            if let Some(step) = steps.last_mut() {
                step.document = Some(document);
            }
        } else if line_text.starts_with('|') {
            if let Some(step) = steps.last_mut() {
                step.table.push(cells(line_text));
            }
        } else {
            let text = ["Given ", "When ", "Then ", "And ", "But "]
                .iter()
                .find_map(|word| line_text.strip_prefix(word))
                .unwrap_or(line_text);
            steps.push(Step {
                text: text.trim().to_owned(),
                ..Step::default()
            });
        }
    }
    blocks
        .into_iter()
        .filter(|block| !block.is_ignored)
        .flat_map(|block| expand(&background, block))
        .collect()
}

fn expand(background: &[Step], block: Block) -> Vec<Scenario> {
    let steps: Vec<Step> = background.iter().chain(&block.steps).cloned().collect();
    if block.examples.is_empty() {
        return vec![Scenario {
            name: block.name,
            steps,
        }];
    }
    let mut scenarios = Vec::new();
    for rows in &block.examples {
        let Some((header, rows)) = rows.split_first() else {
            continue;
        };
        for (row, number) in rows.iter().zip(1..) {
            let fill = |text: &str| {
                header
                    .iter()
                    .zip(row)
                    .fold(text.to_owned(), |text, (name, value)| {
                        text.replace(&format!("<{name}>"), value)
                    })
            };
            scenarios.push(Scenario {
                name: format!("{} #{number}", fill(&block.name)),
                steps: steps
                    .iter()
                    .map(|step| Step {
                        text: fill(&step.text),
                        document: step.document.as_deref().map(fill),
                        table: step
                            .table
                            .iter()
                            .map(|row| row.iter().map(|cell| fill(cell)).collect())
                            .collect(),
                    })
                    .collect(),
            });
        }
    }
    scenarios
}

fn cells(line: &str) -> Vec<String> {
    let mut cells = Vec::new();
    let mut cell = String::new();
    let mut letters = line.trim().trim_start_matches('|').chars();
    while let Some(letter) = letters.next() {
        match letter {
            '|' => cells.push(std::mem::take(&mut cell).trim().to_owned()),
            '\\' => match letters.next() {
                Some('|') => cell.push('|'),
                Some('n') => cell.push('\n'),
                Some('\\') | None => cell.push('\\'),
                Some(other) => {
                    cell.push('\\');
                    cell.push(other);
                }
            },
            other => cell.push(other),
        }
    }
    cells
}
