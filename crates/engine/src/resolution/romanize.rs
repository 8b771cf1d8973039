//! Names of other scripts in Latin letters, and Latin spellings of them made alike.

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
}
