//! Names of other scripts in Latin letters, and Latin spellings of them made alike.

use std::collections::BTreeSet;

use pinyin::ToPinyinMulti;

use crate::text::fold;

/// Readings of one Chinese name that are tried: a few of its characters have several.
const MOST_READINGS: usize = 32;
/// Characters of a Chinese name: of one alone, the sound says nothing.
const SHORTEST_HAN: usize = 2;
const LONGEST_HAN: usize = 8;

/// A folded name in Latin letters; `None` where it has letters that have no plain transcription.
pub(super) fn romanize(key: &str) -> Option<String> {
    let mut out = String::with_capacity(key.len());
    for c in key.chars() {
        if c.is_ascii() {
            out.push(c);
        } else {
            out.push_str(latin(c)?);
        }
    }
    Some(out)
}

/// The sounds of a name in Chinese characters, in letters without tones and blanks, the usual readings first;
/// none for other names.
pub(super) fn pinyin(key: &str) -> Vec<String> {
    let length = key.chars().count();
    if key.is_ascii() || !(SHORTEST_HAN..=LONGEST_HAN).contains(&length) {
        return Vec::new();
    }
    let mut found = vec![String::new()];
    for c in key.chars() {
        let Some(readings) = c.to_pinyin_multi() else {
            return Vec::new();
        };
        let mut seen = BTreeSet::new();
        let syllables: Vec<String> = readings
            .into_iter()
            .map(|reading| fold(reading.plain()))
            .filter(|syllable| seen.insert(syllable.clone()))
            .collect();
        found = syllables
            .iter()
            .flat_map(|syllable| found.iter().map(move |begun| format!("{begun}{syllable}")))
            .take(MOST_READINGS)
            .collect();
    }
    found
}

/// A Latin name as pinyin is compared: without blanks, and with the last word first, as the West writes persons.
pub(super) fn as_pinyin(key: &str) -> Vec<String> {
    if !key
        .bytes()
        .all(|byte| byte.is_ascii_lowercase() || byte == b' ')
    {
        return Vec::new();
    }
    let mut forms = vec![key.replace(' ', "")];
    if let Some((given, family)) = key.rsplit_once(' ') {
        forms.push(format!("{family}{}", given.replace(' ', "")));
    }
    forms
}

/// Cyrillic and Greek, as news write them.
fn latin(c: char) -> Option<&'static str> {
    Some(match c {
        'а' | 'α' => "a",
        'б' => "b",
        'в' | 'β' => "v",
        'г' | 'ґ' | 'γ' => "g",
        'д' | 'δ' => "d",
        'е' | 'ё' | 'э' | 'є' | 'ε' => "e",
        'ж' => "zh",
        'з' | 'ζ' => "z",
        'и' | 'й' | 'ы' | 'і' | 'ї' | 'η' | 'ι' => "i",
        'υ' => "y",
        'к' | 'κ' => "k",
        'л' | 'λ' => "l",
        'м' | 'μ' => "m",
        'н' | 'ν' => "n",
        'о' | 'ο' | 'ω' => "o",
        'п' | 'π' => "p",
        'р' | 'ρ' => "r",
        'с' | 'σ' | 'ς' => "s",
        'т' | 'τ' => "t",
        'у' | 'ў' => "u",
        'ф' | 'φ' => "f",
        'х' | 'χ' => "kh",
        'ц' => "ts",
        'ч' => "ch",
        'ш' => "sh",
        'щ' => "shch",
        'ъ' | 'ь' => "",
        'ю' => "yu",
        'я' => "ya",
        'θ' => "th",
        'ξ' => "x",
        'ψ' => "ps",
        _ => return None,
    })
}

/// Spellings of one foreign name made alike: `Tchaikovsky`, `Chaikovskii`, `Tschaikowski`.
pub(super) fn skeleton(latin: &str) -> String {
    const PAIRS: [(&str, &str); 21] = [
        ("shch", "S"),
        ("tsch", "C"),
        ("tch", "C"),
        ("sch", "S"),
        ("kh", "h"),
        ("zh", "Z"),
        ("ch", "C"),
        ("sh", "S"),
        ("ts", "c"),
        ("tz", "c"),
        ("ph", "f"),
        ("th", "t"),
        ("ck", "k"),
        ("yu", "U"),
        ("ju", "U"),
        ("ya", "A"),
        ("ja", "A"),
        ("iu", "U"),
        ("ia", "A"),
        ("ye", "e"),
        ("ou", "u"),
    ];
    let mut out = String::with_capacity(latin.len());
    let mut rest = latin;
    while let Some(c) = rest.chars().next() {
        let (written, length) = match PAIRS.iter().find(|(pair, _)| rest.starts_with(pair)) {
            Some((pair, letter)) => (letter.chars().next(), pair.len()),
            None => (plain(c), c.len_utf8()),
        };
        if let Some(letter) = written
            && !out.ends_with(letter)
        {
            // "iya" is written "ia" too.
            if matches!(letter, 'A' | 'U') && out.ends_with('i') {
                out.pop();
            }
            out.push(letter);
        }
        rest = &rest[length..];
    }
    out
}

const fn plain(c: char) -> Option<char> {
    match c {
        'w' => Some('v'),
        'y' | 'j' => Some('i'),
        'q' => Some('k'),
        '\'' => None,
        _ => Some(c),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::fold;

    #[test]
    fn spellings_of_one_foreign_name_meet() {
        let check = |one: &str, other: &str| {
            let form = |name: &str| skeleton(&romanize(&fold(name)).unwrap());
            assert_eq!(form(one), form(other), "{one} / {other}");
        };
        check("Чайковский", "Tchaikovsky");
        check("Chaikovskii", "Tschaikowsky");
        check("Лев Толстой", "Lev Tolstoy");
        check("Хрущёв", "Khrushchev");
        check("Αθήνα", "Athina");
        check("Юлия", "Yuliya");
        check("Мария", "Maria");
        assert_ne!(skeleton("mara"), skeleton("maria"));
        assert_eq!(romanize("东京"), None);
    }

    #[test]
    fn chinese_names_and_their_pinyin_meet() {
        let check = |han: &str, latin: &str, expected: bool| {
            let readings = pinyin(&fold(han));
            let meets = as_pinyin(&fold(latin))
                .iter()
                .any(|form| readings.contains(form));
            assert_eq!(meets, expected, "{han} / {latin}: {readings:?}");
        };
        check("林砚秋", "Lin Yanqiu", true);
        check("林砚秋", "Yanqiu Lin", true);
        check("北京", "Beijing", true);
        check("重庆", "Chongqing", true);
        check("重慶", "Chongqing", true);
        check("吕梁", "Lüliang", true);
        check("王伟", "Wang Wei", true);
        check("王伟", "Wang Li", false);
        check("陕西", "Shaanxi", false);
        check("王", "Wang", false);
        check("東京タワー", "Dongjing", false);
        assert!(pinyin(&"行长重乐还".repeat(2)).is_empty());
        assert!(pinyin("行长重乐还着").len() <= MOST_READINGS);
    }
}
