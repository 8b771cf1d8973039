//! Which characters the codes of a font stand for, and how wide they are.

use std::collections::BTreeMap;

use encoding_rs::{
    BIG5, EUC_JP, EUC_KR, Encoding, GB18030, MACINTOSH, SHIFT_JIS, UTF_16BE, WINDOWS_1252,
};
use hayro_cmap::{BfString, CMap};
use hayro_syntax::object::{Array, Dict, Name, Number, Object, Stream};

use super::glyph_name::{character_of, plain_letters, standard_encoding};

/// Widths listed for one font; a font has no more glyphs.
const MAX_WIDTHS: usize = 0x1_0000;

/// One font of a document.
#[derive(Debug)]
pub(super) struct Font {
    codes: Codes,
    to_unicode: Option<CMap>,
    widths: Widths,
    is_vertical: bool,
}

/// A code of a string that is shown.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Glyph {
    /// `None` when the font does not say.
    pub(super) text: Option<String>,
    /// Thousandths of the font size.
    pub(super) width: f64,
    /// Word spacing applies to it.
    pub(super) is_space: bool,
}

/// How bytes of a string become codes, and codes characters where there is no map to Unicode.
#[derive(Debug)]
enum Codes {
    /// One byte a code.
    Bytes(Box<[Option<String>; 256]>),
    /// Two bytes a code: an index of glyphs that means nothing outside the font.
    Pairs,
    /// The font's own map, with codes of one to four bytes.
    Own(Box<CMap>),
    /// A national or Unicode encoding under one of Adobe's names.
    National(&'static Encoding),
}

/// A font that cannot be found: the most common encoding, and no widths.
impl Default for Font {
    fn default() -> Self {
        Self {
            codes: Codes::Bytes(Box::new(table(WINDOWS_1252))),
            to_unicode: None,
            widths: Widths::constant(500.0),
            is_vertical: false,
        }
    }
}

impl Font {
    pub(super) fn read(font: &Dict<'_>) -> Self {
        let to_unicode = font
            .get::<Stream<'_>>("ToUnicode")
            .and_then(|map| parse_map(&map));
        let is_composite = font
            .get::<Name<'_>>("Subtype")
            .is_some_and(|kind| kind.as_ref() == b"Type0");
        if !is_composite {
            return Self {
                codes: Codes::Bytes(Box::new(simple_encoding(font))),
                to_unicode,
                widths: Widths::simple(font),
                is_vertical: false,
            };
        }
        let descendant = font
            .get::<Array<'_>>("DescendantFonts")
            .and_then(|fonts| fonts.iter::<Dict<'_>>().next())
            .unwrap_or_default();
        let name = font.get::<Name<'_>>("Encoding");
        let name = name.as_ref().map_or(&b""[..], |name| name.as_ref());
        let codes = match font
            .get::<Stream<'_>>("Encoding")
            .and_then(|map| parse_map(&map))
        {
            Some(map) => Codes::Own(Box::new(map)),
            None => national_encoding(name).map_or(Codes::Pairs, Codes::National),
        };
        Self {
            codes,
            to_unicode,
            widths: Widths::composite(&descendant),
            is_vertical: name.ends_with(b"-V"),
        }
    }

    pub(super) fn is_vertical(&self) -> bool {
        self.is_vertical
    }

    /// The glyphs of a string.
    pub(super) fn glyphs(&self, bytes: &[u8]) -> Vec<Glyph> {
        match &self.codes {
            Codes::Bytes(table) => bytes
                .iter()
                .map(|&byte| {
                    let code = u32::from(byte);
                    let text = self
                        .unicode(code)
                        .or_else(|| table[usize::from(byte)].clone());
                    self.glyph(text, code, byte == b' ')
                })
                .collect(),
            Codes::Pairs => bytes
                .chunks(2)
                .map(|pair| {
                    let code = pair
                        .iter()
                        .fold(0, |code, byte| code << 8 | u32::from(*byte));
                    self.glyph(self.unicode(code), code, false)
                })
                .collect(),
            Codes::Own(map) => self.own_glyphs(map, bytes),
            Codes::National(encoding) => national_glyphs(encoding, bytes),
        }
    }

    fn own_glyphs(&self, map: &CMap, bytes: &[u8]) -> Vec<Glyph> {
        let mut glyphs = Vec::new();
        let mut rest = bytes;
        while !rest.is_empty() {
            let found = (1..=rest.len().min(4)).find_map(|length| {
                let code = rest[..length]
                    .iter()
                    .fold(0, |code, byte| code << 8 | u32::from(*byte));
                let glyph = map.lookup_cid_code(code, length as u8)?;
                Some((length, code, glyph))
            });
            // Codes outside the map are taken as pairs.
            let (length, code, glyph) = found.unwrap_or((rest.len().min(2), 0, 0));
            let is_space = length == 1 && code == 32;
            glyphs.push(self.glyph(self.unicode(code), glyph, is_space));
            rest = &rest[length..];
        }
        glyphs
    }

    fn glyph(&self, text: Option<String>, code: u32, is_space: bool) -> Glyph {
        Glyph {
            text,
            width: self.widths.of(code),
            is_space,
        }
    }

    fn unicode(&self, code: u32) -> Option<String> {
        let text = match self.to_unicode.as_ref()?.lookup_bf_string(code)? {
            BfString::Char(character) => character.to_string(),
            BfString::String(text) => text,
        };
        Some(plain_letters(text.replace('\0', "")))
    }
}

/// Characters are cut from the decoded string, since these encodings mix lengths.
fn national_glyphs(encoding: &'static Encoding, bytes: &[u8]) -> Vec<Glyph> {
    let (text, _) = encoding.decode_without_bom_handling(bytes);
    text.chars()
        .map(|character| Glyph {
            text: Some(character.to_string()),
            width: if character.is_ascii() { 500.0 } else { 1000.0 },
            is_space: false,
        })
        .collect()
}

fn parse_map(stream: &Stream<'_>) -> Option<CMap> {
    CMap::parse(&stream.decoded_data().ok()?, |_| None)
}

fn national_encoding(name: &[u8]) -> Option<&'static Encoding> {
    let name = std::str::from_utf8(name).ok()?;
    let has = |part: &str| name.contains(part);
    Some(match name {
        _ if has("UCS2") || has("UTF16") => UTF_16BE,
        _ if has("GBK") || has("GBpc") || name.starts_with("GB-EUC") => GB18030,
        _ if has("B5") => BIG5,
        _ if has("RKSJ") => SHIFT_JIS,
        _ if has("KSC") => EUC_KR,
        _ if name.starts_with("EUC-") => EUC_JP,
        _ => return None,
    })
}

type Table = [Option<String>; 256];

fn simple_encoding(font: &Dict<'_>) -> Table {
    let named = |name: &[u8]| match name {
        b"WinAnsiEncoding" => Some(table(WINDOWS_1252)),
        b"MacRomanEncoding" => Some(table(MACINTOSH)),
        b"StandardEncoding" => Some(standard_encoding()),
        _ => None,
    };
    let is_truetype = font
        .get::<Name<'_>>("Subtype")
        .is_some_and(|kind| kind.as_ref() == b"TrueType");
    let default = || {
        if is_truetype {
            return table(WINDOWS_1252);
        }
        let mut codes = standard_encoding();
        add_built_in(font, &mut codes);
        codes
    };
    if let Some(name) = font.get::<Name<'_>>("Encoding") {
        return named(name.as_ref()).unwrap_or_else(default);
    }
    let Some(encoding) = font.get::<Dict<'_>>("Encoding") else {
        return default();
    };
    let base = encoding.get::<Name<'_>>("BaseEncoding");
    let mut codes = base
        .and_then(|name| named(name.as_ref()))
        .unwrap_or_else(default);
    if let Some(differences) = encoding.get::<Array<'_>>("Differences") {
        let mut code = 0;
        for item in differences.iter::<Object<'_>>() {
            match item {
                Object::Number(number) => code = number.as_i64(),
                Object::Name(name) => {
                    if let Ok(at) = usize::try_from(code)
                        && let Some(slot) = codes.get_mut(at)
                    {
                        *slot = character_of(name.as_str());
                    }
                    code = code.saturating_add(1);
                }
                _ => {}
            }
        }
    }
    codes
}

/// The encoding inside an embedded Type 1 font: lines `dup 65 /A put` in its clear part.
fn add_built_in(font: &Dict<'_>, codes: &mut Table) {
    let program = font
        .get::<Dict<'_>>("FontDescriptor")
        .and_then(|descriptor| descriptor.get::<Stream<'_>>("FontFile"))
        .and_then(|stream| Some(stream.decoded_data().ok()?.into_owned()));
    let Some(program) = program else { return };
    let clear = program.windows(5).position(|word| word == b"eexec");
    let clear = String::from_utf8_lossy(&program[..clear.unwrap_or(program.len())]);
    let mut words = clear.split_ascii_whitespace();
    while let Some(word) = words.next() {
        if word == "dup"
            && let Some(Ok(code)) = words.next().map(str::parse::<u8>)
            && let Some(name) = words.next().and_then(|name| name.strip_prefix('/'))
        {
            codes[usize::from(code)] = character_of(name);
        }
    }
}

fn table(encoding: &'static Encoding) -> Table {
    std::array::from_fn(|code| {
        let byte = [code as u8];
        let (text, bad) = encoding.decode_without_bom_handling(&byte);
        (!bad && code >= 32).then(|| text.into_owned())
    })
}

/// Widths of glyphs, in thousandths of the font size.
#[derive(Debug)]
struct Widths {
    listed: BTreeMap<u32, f64>,
    /// First and last glyph of ranges with one width.
    ranges: Vec<(u32, u32, f64)>,
    other: f64,
}

impl Widths {
    fn constant(other: f64) -> Self {
        Self {
            listed: BTreeMap::new(),
            ranges: Vec::new(),
            other,
        }
    }

    fn simple(font: &Dict<'_>) -> Self {
        let missing = font
            .get::<Dict<'_>>("FontDescriptor")
            .and_then(|descriptor| descriptor.get::<Number>("MissingWidth"))
            .map_or(0.0, |width| width.as_f64());
        // The standard fonts need not list theirs; half the size is right on average.
        let Some(listed) = font.get::<Array<'_>>("Widths") else {
            return Self::constant(if missing > 0.0 { missing } else { 500.0 });
        };
        // Fonts made of drawings have their own unit.
        let unit = font
            .get::<Array<'_>>("FontMatrix")
            .and_then(|matrix| matrix.iter::<Number>().next())
            .map_or(1.0, |scale| scale.as_f64() * 1000.0);
        let first = font
            .get::<Number>("FirstChar")
            .map_or(0, |code| code.as_i64());
        let first = u32::try_from(first).unwrap_or(0);
        let widths = listed.iter::<Number>().map(|width| width.as_f64() * unit);
        Self {
            listed: (first..).zip(widths).take(256).collect(),
            ..Self::constant(missing)
        }
    }

    /// `W` is a list of `first [width width …]` and `first last width`.
    fn composite(font: &Dict<'_>) -> Self {
        let other = font
            .get::<Number>("DW")
            .map_or(1000.0, |width| width.as_f64());
        let mut widths = Self::constant(other);
        let Some(list) = font.get::<Array<'_>>("W") else {
            return widths;
        };
        let mut pending: Vec<f64> = Vec::new();
        for item in list.iter::<Object<'_>>() {
            if widths.listed.len() + widths.ranges.len() > MAX_WIDTHS {
                break;
            }
            match item {
                Object::Array(list) => {
                    let first = pending.pop().unwrap_or(0.0) as u32;
                    let listed = list.iter::<Number>().map(|width| width.as_f64());
                    widths.listed.extend((first..).zip(listed).take(MAX_WIDTHS));
                    pending.clear();
                }
                Object::Number(number) => {
                    pending.push(number.as_f64());
                    if let [first, last, width] = pending[..] {
                        widths.ranges.push((first as u32, last as u32, width));
                        pending.clear();
                    }
                }
                _ => pending.clear(),
            }
        }
        widths
    }

    fn of(&self, glyph: u32) -> f64 {
        self.listed.get(&glyph).copied().unwrap_or_else(|| {
            let range = self
                .ranges
                .iter()
                .find(|(first, last, _)| (*first..=*last).contains(&glyph));
            range.map_or(self.other, |(_, _, width)| *width)
        })
    }
}
