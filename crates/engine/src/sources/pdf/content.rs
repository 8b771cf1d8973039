//! The content streams of a page: where which characters stand.

use std::collections::HashMap;
use std::rc::Rc;

use hayro_syntax::content::TypedIter;
use hayro_syntax::content::ops::TypedInstruction as Op;
use hayro_syntax::object::{Array, Dict, Name, Number, ObjRef, Object, Stream};
use hayro_syntax::page::{Page, Resources};

use super::font::Font;
use super::layout::Placed;
use super::matrix::Matrix;

/// Forms inside forms are followed this deep.
const MAX_FORM_DEPTH: usize = 12;
/// Graphics states saved inside one another.
const MAX_SAVED: usize = 512;
/// Operators of one file: forms may call forms many times over.
const MAX_OPERATORS: usize = 50_000_000;
/// Characters of one file.
const MAX_CHARACTERS: usize = 64_000_000;

/// Reads pages one after the other, keeping their fonts.
#[derive(Default)]
pub(super) struct Interpreter {
    fonts: HashMap<ObjRef, Rc<Font>>,
    placed: Vec<Placed>,
    unknown: usize,
    operators: usize,
    characters: usize,
}

impl Interpreter {
    /// The characters of a page, in the order of its content.
    pub(super) fn page(&mut self, page: &Page<'_>) -> Vec<Placed> {
        let content = contents(page.raw());
        self.run(
            &content,
            page.resources(),
            Matrix::IDENTITY,
            &mut Vec::new(),
        );
        std::mem::take(&mut self.placed)
    }

    /// Characters whose font does not say which they are.
    pub(super) fn unknown_characters(&self) -> usize {
        self.unknown
    }

    /// A limit was reached and something left out.
    pub(super) fn is_exhausted(&self) -> bool {
        self.operators >= MAX_OPERATORS || self.characters >= MAX_CHARACTERS
    }

    fn run(
        &mut self,
        content: &[u8],
        resources: &Resources<'_>,
        matrix: Matrix,
        open_forms: &mut Vec<(u32, i32)>,
    ) {
        let mut state = State {
            matrix,
            ..State::default()
        };
        let mut saved = Vec::new();
        let mut operators = TypedIter::new(content);
        while let Some(operator) = operators.next() {
            self.operators += 1;
            if self.is_exhausted() {
                return;
            }
            match operator {
                Op::SaveState(_) if saved.len() < MAX_SAVED => saved.push(state.clone()),
                Op::RestoreState(_) => state = saved.pop().unwrap_or(state),
                Op::Transform(m) => {
                    state.matrix = matrix_of([m.0, m.1, m.2, m.3, m.4, m.5]).then(state.matrix);
                }
                Op::BeginText(_) => state.start_line_at(Matrix::IDENTITY),
                Op::CharacterSpacing(value) => state.character_spacing = value.0.as_f64(),
                Op::WordSpacing(value) => state.word_spacing = value.0.as_f64(),
                Op::HorizontalScaling(value) => state.stretch = value.0.as_f64() / 100.0,
                Op::TextLeading(value) => state.leading = value.0.as_f64(),
                Op::TextRise(value) => state.rise = value.0.as_f64(),
                Op::TextFont(font) => {
                    state.size = font.1.as_f64();
                    state.font = self.font(font.0, resources);
                }
                Op::NextLine(by) => state.next_line(by.0.as_f64(), by.1.as_f64()),
                Op::NextLineAndSetLeading(by) => {
                    state.leading = -by.1.as_f64();
                    state.next_line(by.0.as_f64(), by.1.as_f64());
                }
                Op::NextLineUsingLeading(_) => state.next_line(0.0, -state.leading),
                Op::SetTextMatrix(m) => {
                    state.start_line_at(matrix_of([m.0, m.1, m.2, m.3, m.4, m.5]));
                }
                Op::ShowText(text) => self.show(&mut state, text.0.as_bytes()),
                Op::NextLineAndShowText(text) => {
                    state.next_line(0.0, -state.leading);
                    self.show(&mut state, text.0.as_bytes());
                }
                Op::ShowTextWithParameters(text) => {
                    state.word_spacing = text.0.as_f64();
                    state.character_spacing = text.1.as_f64();
                    state.next_line(0.0, -state.leading);
                    self.show(&mut state, text.2.as_bytes());
                }
                Op::ShowTexts(parts) => {
                    for part in parts.0.iter::<Object<'_>>() {
                        match part {
                            Object::String(text) => self.show(&mut state, text.as_bytes()),
                            Object::Number(gap) => state.shift(-gap.as_f64() / 1000.0 * state.size),
                            _ => {}
                        }
                    }
                }
                Op::XObject(name) => self.form(name.0, resources, state.matrix, open_forms),
                _ => {}
            }
        }
    }

    fn form(
        &mut self,
        name: &Name<'_>,
        resources: &Resources<'_>,
        matrix: Matrix,
        open_forms: &mut Vec<(u32, i32)>,
    ) {
        let Some(form) = resources.get_x_object(name) else {
            return;
        };
        let id = (form.obj_id().obj_number, form.obj_id().gen_number);
        let dictionary = form.dict();
        let is_form = dictionary
            .get::<Name<'_>>("Subtype")
            .is_some_and(|kind| kind.as_ref() == b"Form");
        if !is_form || open_forms.len() >= MAX_FORM_DEPTH || open_forms.contains(&id) {
            return;
        }
        let Ok(content) = form.decoded_data() else {
            return;
        };
        let own = dictionary.get::<Array<'_>>("Matrix").and_then(|array| {
            let numbers: Vec<Number> = array.iter::<Number>().take(6).collect();
            numbers.try_into().ok().map(matrix_of)
        });
        let matrix = own.unwrap_or(Matrix::IDENTITY).then(matrix);
        open_forms.push(id);
        match dictionary.get::<Dict<'_>>("Resources") {
            Some(own) => self.run(&content, &Resources::new(own), matrix, open_forms),
            None => self.run(&content, resources, matrix, open_forms),
        }
        open_forms.pop();
    }

    fn font(&mut self, name: &Name<'_>, resources: &Resources<'_>) -> Option<Rc<Font>> {
        let Some(reference) = resources.fonts.get_ref(name) else {
            return resources
                .get_font(name)
                .map(|font| Rc::new(Font::read(&font)));
        };
        if let Some(font) = self.fonts.get(&reference) {
            return Some(Rc::clone(font));
        }
        let font = Rc::new(Font::read(&resources.get_font(name)?));
        self.fonts.insert(reference, Rc::clone(&font));
        Some(font)
    }

    fn show(&mut self, state: &mut State, bytes: &[u8]) {
        let font = state.font.get_or_insert_with(Rc::default);
        let font = Rc::clone(font);
        for glyph in font.glyphs(bytes) {
            if self.characters >= MAX_CHARACTERS {
                return;
            }
            self.characters += 1;
            let word_spacing = if glyph.is_space {
                state.word_spacing
            } else {
                0.0
            };
            let spacing = state.character_spacing + word_spacing;
            let advance = glyph.width / 1000.0 * state.size;
            let start = state.place(0.0);
            let end = state.place(advance);
            let size = state.height();
            state.shift(advance + spacing);
            let text = glyph.text.unwrap_or_else(|| {
                self.unknown += 1;
                "\u{fffd}".to_owned()
            });
            if !text.is_empty() {
                self.placed.push(Placed {
                    text,
                    start,
                    end,
                    size,
                    is_vertical: font.is_vertical(),
                });
            }
        }
    }
}

fn matrix_of(numbers: [Number; 6]) -> Matrix {
    Matrix::new(numbers.map(|number| number.as_f64()))
}

/// The page's streams, joined. The page's own cache of them is not used: it would keep the
/// unpacked content of every page.
fn contents(page: &Dict<'_>) -> Vec<u8> {
    let mut joined = Vec::new();
    let mut add = |stream: &Stream<'_>| {
        if let Ok(content) = stream.decoded_data() {
            joined.extend_from_slice(&content);
            joined.push(b'\n');
        }
    };
    if let Some(stream) = page.get::<Stream<'_>>("Contents") {
        add(&stream);
    } else if let Some(streams) = page.get::<Array<'_>>("Contents") {
        streams.iter::<Stream<'_>>().for_each(|stream| add(&stream));
    }
    joined
}

/// What operators have set.
#[derive(Clone)]
struct State {
    matrix: Matrix,
    text: Matrix,
    line: Matrix,
    font: Option<Rc<Font>>,
    size: f64,
    character_spacing: f64,
    word_spacing: f64,
    stretch: f64,
    leading: f64,
    rise: f64,
}

impl Default for State {
    fn default() -> Self {
        Self {
            matrix: Matrix::IDENTITY,
            text: Matrix::IDENTITY,
            line: Matrix::IDENTITY,
            font: None,
            size: 1.0,
            character_spacing: 0.0,
            word_spacing: 0.0,
            stretch: 1.0,
            leading: 0.0,
            rise: 0.0,
        }
    }
}

impl State {
    fn start_line_at(&mut self, matrix: Matrix) {
        (self.text, self.line) = (matrix, matrix);
    }

    fn next_line(&mut self, x: f64, y: f64) {
        self.start_line_at(Matrix::shift(x, y).then(self.line));
    }

    /// The offset of a distance along the text, in text space.
    fn along(&self, distance: f64) -> (f64, f64) {
        match &self.font {
            Some(font) if font.is_vertical() => (0.0, -distance),
            _ => (distance * self.stretch, 0.0),
        }
    }

    fn shift(&mut self, distance: f64) {
        let (x, y) = self.along(distance);
        self.text = Matrix::shift(x, y).then(self.text);
    }

    /// The point this far along the text, on the page.
    fn place(&self, distance: f64) -> (f64, f64) {
        let (x, y) = self.along(distance);
        self.text.then(self.matrix).point(x, y + self.rise)
    }

    fn height(&self) -> f64 {
        self.size.abs() * self.text.then(self.matrix).height()
    }
}
