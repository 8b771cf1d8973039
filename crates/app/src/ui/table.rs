use std::io::{self, Write};

use unicode_width::UnicodeWidthStr;

use super::plain_line;
use super::style::{DIM, painted};

/// No cell makes its column wider than this for all others; a longer one pushes only its own row.
const WIDEST: usize = 60;

/// Columns set flush by the width that a terminal gives them.
pub(crate) struct Table {
    header: Vec<String>,
    rows: Vec<Vec<String>>,
    /// Columns of numbers stand to the right.
    right: Vec<bool>,
}

impl Table {
    /// A table with these column heads; a head that starts with `>` makes a column of numbers.
    pub(crate) fn new(header: &[&str]) -> Self {
        Self {
            right: header.iter().map(|head| head.starts_with('>')).collect(),
            header: header
                .iter()
                .map(|head| plain_line(head.trim_start_matches('>')))
                .collect(),
            rows: Vec::new(),
        }
    }

    /// Adds a row; cells are made harmless and single-lined here.
    pub(crate) fn row<C: AsRef<str>>(&mut self, cells: impl IntoIterator<Item = C>) {
        let row = cells.into_iter().map(|cell| plain_line(cell.as_ref()));
        self.rows.push(row.collect());
    }

    pub(crate) fn write(&self, out: &mut impl Write) -> io::Result<()> {
        let widths: Vec<usize> = (0..self.header.len())
            .map(|column| {
                let cells = self.rows.iter().filter_map(|row| row.get(column));
                cells
                    .chain([&self.header[column]])
                    .map(|cell| cell.width())
                    .max()
                    .unwrap_or(0)
                    .min(WIDEST)
            })
            .collect();
        writeln!(out, "{}", painted(DIM, self.line(&self.header, &widths)))?;
        for row in &self.rows {
            writeln!(out, "{}", self.line(row, &widths))?;
        }
        Ok(())
    }

    fn line(&self, cells: &[String], widths: &[usize]) -> String {
        let mut line = String::new();
        for (column, cell) in cells.iter().enumerate() {
            let padding = " ".repeat(widths[column].saturating_sub(cell.width()));
            if column > 0 {
                line.push_str("  ");
            }
            if self.right[column] {
                line.push_str(&padding);
                line.push_str(cell);
            } else {
                line.push_str(cell);
                line.push_str(&padding);
            }
        }
        line.truncate(line.trim_end().len());
        line
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_long_cell_leaves_the_others_where_they_are() {
        let mut table = Table::new(&["name", ">n"]);
        let long = "x".repeat(WIDEST + 5);
        table.row([long.as_str(), "7"]);
        table.row(["short", "12"]);
        let mut out = Vec::new();
        table.write(&mut out).unwrap();
        let text = String::from_utf8(anstream::adapter::strip_bytes(&out).into_vec()).unwrap();
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(lines[1], format!("{long}   7"));
        assert_eq!(lines[2].len(), WIDEST + 4);
    }

    #[test]
    fn wide_letters_count_twice() {
        let mut table = Table::new(&["name", ">n"]);
        table.row(["望潮", "7"]);
        table.row(["a\u{1b}[1m\nb", "12"]);
        let mut out = Vec::new();
        table.write(&mut out).unwrap();
        let text = anstream::adapter::strip_bytes(&out).into_vec();
        assert_eq!(
            String::from_utf8(text).unwrap(),
            "name      n\n望潮      7\na␛[1m b  12\n"
        );
    }
}
