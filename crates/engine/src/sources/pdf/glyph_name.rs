//! Names of glyphs in fonts (`aacute`, `uni4E2D`, `f_i`) as characters.

use unicode_normalization::UnicodeNormalization;

/// The text that a glyph name stands for, by Adobe's rules for names
/// (<https://github.com/adobe-type-tools/agl-specification>).
pub(super) fn character_of(name: &str) -> Option<String> {
    let name = name.split('.').next().unwrap_or(name);
    let parts: Option<String> = name.split('_').map(component).collect();
    parts.filter(|text| !text.is_empty()).map(plain_letters)
}

/// Ligatures as their letters, so that words with them are found.
pub(super) fn plain_letters(text: String) -> String {
    let is_ligature = |character: char| matches!(character, '\u{fb00}'..='\u{fb06}');
    if text.contains(is_ligature) {
        text.nfkc().collect()
    } else {
        text
    }
}

fn component(name: &str) -> Option<String> {
    if let Some(digits) = name.strip_prefix("uni")
        && digits.len() >= 4
        && digits.len().is_multiple_of(4)
        && digits.is_ascii()
    {
        return (0..digits.len())
            .step_by(4)
            .map(|at| hexadecimal(&digits[at..at + 4]))
            .collect();
    }
    if let Some(digits) = name.strip_prefix('u')
        && (4..=6).contains(&digits.len())
        && let Some(character) = hexadecimal(digits)
    {
        return Some(character.to_string());
    }
    let mut characters = name.chars();
    if let (Some(letter), None) = (characters.next(), characters.next()) {
        return Some(letter.to_string());
    }
    let listed = NAMES
        .split_ascii_whitespace()
        .collect::<Vec<_>>()
        .chunks(2)
        .find_map(|pair| (pair[0] == name).then(|| pair[1].to_owned()));
    listed.or_else(|| match name {
        "space" | "nbspace" | "nonbreakingspace" => Some(" ".to_owned()),
        "softhyphen" | "sfthyphen" => Some("-".to_owned()),
        _ => greek(name).or_else(|| accented(name)),
    })
}

fn hexadecimal(digits: &str) -> Option<char> {
    let is_digit = |byte: u8| byte.is_ascii_digit() || (b'A'..=b'F').contains(&byte);
    if !digits.bytes().all(is_digit) {
        return None;
    }
    let character = char::from_u32(u32::from_str_radix(digits, 16).ok()?)?;
    (character != '\0').then_some(character)
}

/// `Aacute`, `ccaron`: a letter and the name of its accent.
fn accented(name: &str) -> Option<String> {
    const ACCENTS: [(&str, char); 14] = [
        ("acute", '\u{301}'),
        ("grave", '\u{300}'),
        ("circumflex", '\u{302}'),
        ("dieresis", '\u{308}'),
        ("tilde", '\u{303}'),
        ("caron", '\u{30c}'),
        ("ring", '\u{30a}'),
        ("cedilla", '\u{327}'),
        ("ogonek", '\u{328}'),
        ("macron", '\u{304}'),
        ("breve", '\u{306}'),
        ("dotaccent", '\u{307}'),
        ("hungarumlaut", '\u{30b}'),
        ("commaaccent", '\u{326}'),
    ];
    let letter = name.chars().next().filter(char::is_ascii_alphabetic)?;
    let (_, accent) = ACCENTS.iter().find(|(accent, _)| *accent == &name[1..])?;
    Some([letter, *accent].into_iter().nfc().collect())
}

fn greek(name: &str) -> Option<String> {
    const LETTERS: [(&str, &str); 24] = [
        ("alpha", "αΑ"),
        ("beta", "βΒ"),
        ("gamma", "γΓ"),
        ("delta", "δΔ"),
        ("epsilon", "εΕ"),
        ("zeta", "ζΖ"),
        ("eta", "ηΗ"),
        ("theta", "θΘ"),
        ("iota", "ιΙ"),
        ("kappa", "κΚ"),
        ("lambda", "λΛ"),
        ("mu", "μΜ"),
        ("nu", "νΝ"),
        ("xi", "ξΞ"),
        ("omicron", "οΟ"),
        ("pi", "πΠ"),
        ("rho", "ρΡ"),
        ("sigma", "σΣ"),
        ("tau", "τΤ"),
        ("upsilon", "υΥ"),
        ("phi", "φΦ"),
        ("chi", "χΧ"),
        ("psi", "ψΨ"),
        ("omega", "ωΩ"),
    ];
    let is_capital = name.starts_with(|letter: char| letter.is_ascii_uppercase());
    let lower = name.to_ascii_lowercase();
    let (_, pair) = LETTERS.iter().find(|(letter, _)| *letter == lower)?;
    let letter = pair.chars().nth(usize::from(is_capital))?;
    Some(letter.to_string())
}

/// Adobe's `StandardEncoding`, the encoding of Type 1 fonts that name no other (PDF 1.7, annex D).
pub(super) fn standard_encoding() -> [Option<String>; 256] {
    const HIGH: &str = "¡¢£⁄¥ƒ§¤'“«‹›ﬁﬂ\u{0}–†‡·\u{0}¶•‚„”»…‰\u{0}¿\u{0}`´ˆ˜¯˘˙¨\u{0}˚¸\u{0}˝˛ˇ—";
    const HIGHEST: [(usize, &str); 13] = [
        (225, "Æ"),
        (227, "ª"),
        (232, "Ł"),
        (233, "Ø"),
        (234, "Œ"),
        (235, "º"),
        (241, "æ"),
        (245, "ı"),
        (248, "ł"),
        (249, "ø"),
        (250, "œ"),
        (251, "ß"),
        (39, "’"),
    ];
    let mut codes = std::array::from_fn(|code| {
        let character = char::from(code as u8);
        (' '..='~')
            .contains(&character)
            .then(|| character.to_string())
    });
    for (code, character) in (161..).zip(HIGH.chars()) {
        codes[code] = (character != '\0').then(|| plain_letters(character.to_string()));
    }
    for (code, text) in HIGHEST {
        codes[code] = Some(text.to_owned());
    }
    codes[96] = Some("‘".to_owned());
    codes
}

/// Names that no rule gives, each before its character.
const NAMES: &str = "
    exclam ! quotedbl \" numbersign # dollar $ percent % ampersand & quotesingle ' parenleft (
    parenright ) asterisk * plus + comma , hyphen - minus − period . slash / zero 0 one 1 two 2
    three 3 four 4 five 5 six 6 seven 7 eight 8 nine 9 colon : semicolon ; less < equal = greater >
    question ? at @ bracketleft [ backslash \\ bracketright ] asciicircum ^ underscore _ grave `
    braceleft { bar | braceright } asciitilde ~ quoteright ’ quoteleft ‘ exclamdown ¡ cent ¢
    sterling £ fraction ⁄ yen ¥ florin ƒ section § currency ¤ quotedblleft “ guillemotleft «
    guilsinglleft ‹ guilsinglright › fi fi fl fl ff ff ffi ffi ffl ffl endash – dagger † daggerdbl ‡
    periodcentered · middot · paragraph ¶ bullet • quotesinglbase ‚ quotedblbase „ quotedblright ”
    guillemotright » ellipsis … perthousand ‰ questiondown ¿ acute ´ circumflex ˆ tilde ˜ macron ¯
    breve ˘ dotaccent ˙ dieresis ¨ ring ˚ cedilla ¸ hungarumlaut ˝ ogonek ˛ caron ˇ emdash — AE Æ
    ordfeminine ª Lslash Ł Oslash Ø OE Œ ordmasculine º ae æ dotlessi ı lslash ł oslash ø oe œ
    germandbls ß Eth Ð eth ð Thorn Þ thorn þ Dcroat Đ dcroat đ copyright © registered ® trademark ™
    degree ° plusminus ± multiply × divide ÷ mu µ brokenbar ¦ logicalnot ¬ onehalf ½ onequarter ¼
    threequarters ¾ onesuperior ¹ twosuperior ² threesuperior ³ Euro € sigma1 ς theta1 ϑ phi1 ϕ
    omega1 ϖ summation ∑ product ∏ integral ∫ infinity ∞ notequal ≠ lessequal ≤ greaterequal ≥
    approxequal ≈ partialdiff ∂ radical √ element ∈ arrowright → arrowleft ← arrowup ↑ arrowdown ↓
    lozenge ◊ dotlessj ȷ Zcaron Ž zcaron ž Scaron Š scaron š Germandbls ẞ";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names() {
        let check = |name: &str, expected: Option<&str>| {
            assert_eq!(character_of(name).as_deref(), expected, "{name}");
        };
        check("A", Some("A"));
        check("aacute", Some("á"));
        check("Ccedilla", Some("Ç"));
        check("atilde", Some("ã"));
        check("ccaron", Some("č"));
        check("hyphen", Some("-"));
        check("seven", Some("7"));
        check("quoteright", Some("’"));
        check("space", Some(" "));
        check("fi", Some("fi"));
        check("f_f_i", Some("ffi"));
        check("uniFB01", Some("fi"));
        check("uni4E2D6587", Some("中文"));
        check("u1F600", Some("😀"));
        check("a.sc", Some("a"));
        check("Omega", Some("Ω"));
        check("mu", Some("µ"));
        check("g123", None);
        check("uniZZZZ", None);
        check("u0000", None);
        check(".notdef", None);
        check("émacute", None);
        check("", None);
    }

    #[test]
    fn standard_codes() {
        let codes = standard_encoding();
        let check = |code: usize, expected: Option<&str>| {
            assert_eq!(codes[code].as_deref(), expected, "{code}");
        };
        check(65, Some("A"));
        check(39, Some("’"));
        check(96, Some("‘"));
        check(174, Some("fi"));
        check(176, None);
        check(180, Some("·"));
        check(191, Some("¿"));
        check(193, Some("`"));
        check(208, Some("—"));
        check(251, Some("ß"));
        check(31, None);
        check(255, None);
    }
}
