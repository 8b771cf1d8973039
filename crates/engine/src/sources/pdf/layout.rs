//! Placed characters become lines and paragraphs.
//!
//! The order of the content stream is kept: writers emit text in reading order, column by column,
//! and sorting by position would mix the columns.

/// A character (or a ligature's characters) as placed on a page.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Placed {
    pub(super) text: String,
    /// Where it starts and where the next one would, in page units.
    pub(super) start: (f64, f64),
    pub(super) end: (f64, f64),
    /// Height of the font in page units.
    pub(super) size: f64,
    /// A vertical line of text; otherwise a horizontal one in the text's own direction.
    pub(super) is_vertical: bool,
}

/// A wider gap between characters is a space; in font sizes.
const SPACE: f64 = 0.18;
/// Text that starts farther back than this starts a new line.
const BACK: f64 = 1.0;
/// Characters farther from the line than this are on another one.
const LINE: f64 = 0.45;
/// Lines farther apart than this are of different paragraphs.
const PARAGRAPH: f64 = 1.75;

/// Paragraphs, each as its lines.
pub(super) fn paragraphs(page: Vec<Placed>) -> Vec<Vec<String>> {
    let mut paragraphs = Vec::new();
    let mut paragraph: Vec<String> = Vec::new();
    let mut line = String::new();
    let mut last: Option<Placed> = None;
    for placed in page {
        match last.as_ref().map(|last| step(last, &placed)) {
            None | Some(Step::Next) => {}
            Some(Step::Space) => line.push(' '),
            Some(step) => {
                end_line(&mut paragraph, &mut line);
                if step == Step::Paragraph && !paragraph.is_empty() {
                    paragraphs.push(std::mem::take(&mut paragraph));
                }
            }
        }
        line.push_str(&placed.text);
        last = Some(placed);
    }
    end_line(&mut paragraph, &mut line);
    if !paragraph.is_empty() {
        paragraphs.push(paragraph);
    }
    paragraphs
}

fn end_line(paragraph: &mut Vec<String>, line: &mut String) {
    let words = line.split_whitespace().collect::<Vec<_>>().join(" ");
    line.clear();
    if !words.is_empty() {
        paragraph.push(words);
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Step {
    Next,
    Space,
    Line,
    Paragraph,
}

/// What lies between two characters.
fn step(last: &Placed, next: &Placed) -> Step {
    let size = last.size.max(next.size).max(f64::MIN_POSITIVE);
    let direction = (last.end.0 - last.start.0, last.end.1 - last.start.1);
    let length = direction.0.hypot(direction.1);
    let (x, y) = if length > f64::MIN_POSITIVE {
        (direction.0 / length, direction.1 / length)
    } else {
        (1.0, 0.0)
    };
    let moved = (next.start.0 - last.end.0, next.start.1 - last.end.1);
    let along = (moved.0 * x + moved.1 * y) / size;
    let across = (moved.1 * x - moved.0 * y).abs() / size;
    if last.is_vertical != next.is_vertical || !across.is_finite() || across > PARAGRAPH {
        Step::Paragraph
    } else if across > LINE || along < -BACK {
        Step::Line
    } else if along > SPACE && !next.is_vertical {
        Step::Space
    } else {
        Step::Next
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(text: &str, x: f64, y: f64) -> Placed {
        Placed {
            text: text.to_owned(),
            start: (x, y),
            end: (x + 5.0 * text.len() as f64, y),
            size: 10.0,
            is_vertical: false,
        }
    }

    #[test]
    fn steps() {
        let check = |next: Placed, expected: Step| {
            let last = at("ab", 100.0, 500.0);
            assert_eq!(step(&last, &next), expected, "{next:?}");
        };
        check(at("c", 110.0, 500.0), Step::Next);
        check(at("c", 111.0, 500.0), Step::Next);
        check(at("c", 113.0, 500.0), Step::Space);
        check(at("c", 300.0, 500.0), Step::Space);
        check(at("2", 110.0, 503.0), Step::Next);
        check(at("c", 100.0, 488.0), Step::Line);
        check(at("c", 20.0, 500.0), Step::Line);
        check(at("c", 100.0, 470.0), Step::Paragraph);
        check(at("c", 300.0, 700.0), Step::Paragraph);
        check(at("c", f64::NAN, f64::NAN), Step::Paragraph);
    }

    #[test]
    fn pages() {
        let page = vec![
            at("One", 0.0, 500.0),
            at("line", 20.0, 500.0),
            at("two", 0.0, 488.0),
            at(" ", 0.0, 476.0),
            at("New", 0.0, 440.0),
        ];
        assert_eq!(paragraphs(page), [vec!["One line", "two"], vec!["New"]]);
        assert_eq!(paragraphs(vec![]), Vec::<Vec<String>>::new());
    }
}
