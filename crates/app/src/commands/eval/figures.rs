//! How figures look: a compact table for people, one object for programs.

use std::io::Write;

use malha_evaluation::{Comparison, Figure, Figures, Interval};
use serde_json::{Map, Value, json};

use crate::ui::{Output, Table};

/// Cut-offs such as `2,5,10`, each at least 1.
pub(super) fn parse_cut_offs(written: &str) -> Result<Vec<usize>, String> {
    let ks: Result<Vec<usize>, _> = written.split(',').map(|k| k.trim().parse()).collect();
    match ks {
        Ok(ks) if ks.iter().all(|k| *k > 0) => Ok(ks),
        _ => Err("numbers from 1 up, separated by commas, as in 2,5,10".to_owned()),
    }
}

/// `{"modes": {M: {"recall@5": …}}, …}`, values in percent. Differences are to the first mode.
pub(super) fn json(comparison: &Comparison) -> Map<String, Value> {
    let mut out = group(comparison, &comparison.all);
    let differences = by_mode(
        comparison,
        &comparison.all.differences,
        |figure| json!({"value": rounded(figure.value), "interval": interval(figure.interval)}),
    );
    out.insert("compared_with".to_owned(), json!(comparison.modes.first()));
    out.insert("differences".to_owned(), differences);
    let [first, second] = &comparison.halves;
    out.insert(
        "halves".to_owned(),
        json!({"first": group(comparison, first), "second": group(comparison, second)}),
    );
    if !comparison.parts.is_empty() {
        let parts: Map<String, Value> = comparison
            .parts
            .iter()
            .map(|(label, figures)| (label.clone(), group(comparison, figures).into()))
            .collect();
        out.insert("by".to_owned(), parts.into());
    }
    out
}

fn group(comparison: &Comparison, figures: &Figures) -> Map<String, Value> {
    let mut out = Map::new();
    let values = by_mode(comparison, &figures.modes, |figure| {
        json!(rounded(figure.value))
    });
    let intervals = by_mode(comparison, &figures.modes, |figure| {
        interval(figure.interval)
    });
    out.insert("modes".to_owned(), values);
    out.insert("n".to_owned(), json!(figures.n));
    out.insert("intervals".to_owned(), intervals);
    out
}

fn by_mode(
    comparison: &Comparison,
    figures: &[Vec<Figure>],
    show: impl Fn(&Figure) -> Value,
) -> Value {
    let modes = comparison.modes.iter().zip(figures).map(|(mode, figures)| {
        let figures: Map<String, Value> = comparison
            .metrics
            .iter()
            .zip(figures)
            .map(|(metric, figure)| (metric.clone(), show(figure)))
            .collect();
        (mode.clone(), figures.into())
    });
    Value::Object(modes.collect())
}

fn rounded(percent: f64) -> f64 {
    (percent * 100.0).round() / 100.0
}

fn interval(interval: Interval) -> Value {
    json!([rounded(interval.low), rounded(interval.high)])
}

/// The tables: every mode; its difference to the first one; the two halves; the parts.
pub(super) fn write(
    out: &mut Output,
    comparison: &Comparison,
    ks: &[usize],
) -> std::io::Result<()> {
    // The cut-off that everything beside recall is shown at.
    let main = if ks.contains(&5) { 5 } else { ks[0] };
    let column = |name: String| comparison.metric(&name);
    let recalls: Vec<usize> = ks
        .iter()
        .filter_map(|k| column(format!("recall@{k}")))
        .collect();
    let beside: Vec<usize> = ["all", "hit", "group"]
        .iter()
        .filter_map(|metric| column(format!("{metric}@{main}")))
        .chain(column("mrr@10".to_owned()))
        .collect();
    let Some(key) = column(format!("recall@{main}")) else {
        return Ok(());
    };
    let name = |column: &usize| format!(">{}", comparison.metrics[*column]);

    let mut heads = vec!["mode".to_owned()];
    heads.extend(
        recalls
            .iter()
            .flat_map(|column| [name(column), "95 %".to_owned()]),
    );
    heads.extend(beside.iter().map(name));
    if comparison.modes.len() > 1 {
        heads.push(format!(
            ">{} − {}",
            comparison.metrics[key], comparison.modes[0]
        ));
        heads.push("95 %".to_owned());
    }
    let mut table = table(&heads);
    for (m, mode) in comparison.modes.iter().enumerate() {
        let figures = &comparison.all.modes[m];
        let mut row = vec![mode.clone()];
        row.extend(
            recalls
                .iter()
                .flat_map(|&column| with_interval(figures[column], false)),
        );
        row.extend(
            beside
                .iter()
                .map(|&column| format!("{:.1}", figures[column].value)),
        );
        if m > 0 {
            row.extend(with_interval(comparison.all.differences[m][key], true));
        }
        table.row(row);
    }
    table.write(out)?;
    writeln!(out, "{} questions", comparison.all.n)?;

    let [first, second] = &comparison.halves;
    if first.n > 0 && second.n > 0 {
        // Scopes are told apart by what was held back from them: every cut-off is shown.
        let columns = if comparison.halves_of_scopes {
            recalls.clone()
        } else {
            vec![key]
        };
        let of_halves = if comparison.halves_of_scopes {
            [
                ("first half of scopes", first),
                ("second half of scopes", second),
            ]
        } else {
            [("first half", first), ("second half", second)]
        };
        parts(out, comparison, &of_halves, &columns)?;
    }
    let of_parts: Vec<(&str, &Figures)> = comparison
        .parts
        .iter()
        .map(|(label, figures)| (label.as_str(), figures))
        .collect();
    if !of_parts.is_empty() {
        parts(out, comparison, &of_parts, &[recalls, beside].concat())?;
    }
    Ok(())
}

fn parts(
    out: &mut Output,
    comparison: &Comparison,
    parts: &[(&str, &Figures)],
    columns: &[usize],
) -> std::io::Result<()> {
    writeln!(out)?;
    let one = columns.len() == 1;
    let mut heads = vec!["part".to_owned(), ">n".to_owned(), "mode".to_owned()];
    for &column in columns {
        heads.push(format!(">{}", comparison.metrics[column]));
        if one {
            heads.push("95 %".to_owned());
        }
    }
    let mut table = table(&heads);
    for (label, figures) in parts {
        for (mode, values) in comparison.modes.iter().zip(&figures.modes) {
            let mut row = vec![(*label).to_owned(), figures.n.to_string(), mode.clone()];
            for &column in columns {
                if one {
                    row.extend(with_interval(values[column], false));
                } else if comparison.metrics[column].starts_with("group@") && !figures.groups {
                    row.push("–".to_owned());
                } else {
                    row.push(format!("{:.1}", values[column].value));
                }
            }
            table.row(row);
        }
    }
    table.write(out)
}

fn table(heads: &[String]) -> Table {
    let heads: Vec<&str> = heads.iter().map(String::as_str).collect();
    Table::new(&heads)
}

/// A figure and its interval as two cells.
fn with_interval(figure: Figure, signed: bool) -> [String; 2] {
    let Interval { low, high } = figure.interval;
    if signed {
        [
            format!("{:+.1}", figure.value),
            format!("[{low:+.1}, {high:+.1}]"),
        ]
    } else {
        [
            format!("{:.1}", figure.value),
            format!("[{low:.1}, {high:.1}]"),
        ]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cut_offs_are_numbers_from_one() {
        let check = |written, expected: Option<&[usize]>| {
            assert_eq!(
                parse_cut_offs(written).ok().as_deref(),
                expected,
                "{written}"
            );
        };
        check("2,5,10", Some(&[2, 5, 10]));
        check(" 3 ", Some(&[3]));
        check("0,5", None);
        check("", None);
        check("five", None);
    }
}
