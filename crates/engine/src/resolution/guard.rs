//! What keeps names apart, however alike they look.

use std::collections::BTreeSet;

use crate::text::simplify;

/// Words that make another thing of a name: "the younger", "north", "lite".
const QUALIFIERS: &[&str] = &[
    "jr",
    "junior",
    "sr",
    "senior",
    "filho",
    "neto",
    "sobrinho",
    "hijo",
    "fils",
    "pere",
    "elder",
    "younger",
    "north",
    "south",
    "east",
    "west",
    "northern",
    "southern",
    "eastern",
    "western",
    "central",
    "upper",
    "lower",
    "norte",
    "sul",
    "sur",
    "leste",
    "este",
    "oeste",
    "nord",
    "sud",
    "est",
    "ouest",
    "ost",
    "sudeste",
    "nordeste",
    "noroeste",
    "sudoeste",
    "superior",
    "inferior",
    "alto",
    "baixo",
    "new",
    "old",
    "novo",
    "nova",
    "velho",
    "velha",
    "nuevo",
    "nueva",
    "viejo",
    "neu",
    "alt",
    "nouveau",
    "nouvelle",
    "great",
    "little",
    "grande",
    "pequeno",
    "first",
    "second",
    "third",
    "primeiro",
    "primeira",
    "segundo",
    "segunda",
    "terceiro",
    "terceira",
    "alpha",
    "beta",
    "gamma",
    "delta",
    "pro",
    "plus",
    "max",
    "mini",
    "lite",
    "light",
    "ultra",
    "premium",
    "enterprise",
    "community",
    "classic",
    "legacy",
    "preview",
    "dev",
    "test",
    "staging",
    "prod",
    "production",
    "male",
    "female",
    "men",
    "women",
    "masculino",
    "feminino",
    "anti",
    "non",
    "ex",
    "former",
    "vice",
    "pre",
    "post",
    "sub",
    "inner",
    "outer",
    "internal",
    "external",
    "interno",
    "externo",
    "summer",
    "winter",
];

/// Chinese characters that make another thing of a name: directions, new and old, deputy and former, ordinals and
/// numerals. Chinese puts no blanks around them, and they stand in many a name of one piece.
const HAN_QUALIFIERS: &str =
    "东南西北新旧老副前原上下大小男女内外非反第〇零一二三四五六七八九十百千";

/// What a company calls its form, as folding leaves it.
const LEGAL_FORMS: &[&str] = &[
    "inc",
    "incorporated",
    "corp",
    "corporation",
    "co",
    "company",
    "llc",
    "llp",
    "lp",
    "ltd",
    "limited",
    "plc",
    "gmbh",
    "ag",
    "kg",
    "ohg",
    "ug",
    "se",
    "sa",
    "s a",
    "sas",
    "sarl",
    "srl",
    "spa",
    "s p a",
    "bv",
    "nv",
    "ab",
    "as",
    "oy",
    "oyj",
    "aps",
    "ltda",
    "me",
    "epp",
    "eireli",
    "cia",
    "companhia",
    "sl",
    "pty",
    "pte",
    "kk",
    "ооо",
    "ао",
];

/// Whether two names differ in a number, a version or a qualifier: never one thing by name alone.
pub(super) fn differ(one: &str, other: &str) -> bool {
    numbers(one) != numbers(other)
        || qualifiers(one) != qualifiers(other)
        || differ_in_han(one, other)
}

/// Whether two names are the same but for Chinese qualifiers: 北京大学 and 南京大学, but not 小米 and 北京小米科技.
fn differ_in_han(one: &str, other: &str) -> bool {
    if one.is_ascii() || other.is_ascii() {
        return false;
    }
    let (one, other) = (simplify(one), simplify(other));
    let rest = |name: &str| -> String {
        name.chars()
            .filter(|&c| !HAN_QUALIFIERS.contains(c))
            .collect()
    };
    one != other && rest(&one) == rest(&other)
}

/// Runs of digits, Roman numerals after the first word, and single letters at the end ("plan b"), in order.
fn numbers(key: &str) -> Vec<&str> {
    let mut found = Vec::new();
    let words: Vec<&str> = key.split(' ').collect();
    for (at, word) in words.iter().enumerate() {
        let is_last = at + 1 == words.len();
        if word.contains(|c: char| c.is_ascii_digit()) {
            found.extend(
                word.split(|c: char| !c.is_ascii_digit())
                    .filter(|run| !run.is_empty()),
            );
        } else {
            let is_letter = is_last && word.len() == 1;
            if at > 0 && (is_roman(word) || is_letter) || word.contains(char::is_numeric) {
                found.push(*word);
            }
        }
    }
    found
}

fn is_roman(word: &str) -> bool {
    const NUMERALS: [&str; 19] = [
        "ii", "iii", "iv", "vi", "vii", "viii", "ix", "xi", "xii", "xiii", "xiv", "xv", "xvi",
        "xvii", "xviii", "xix", "xx", "xxi", "xxii",
    ];
    NUMERALS.contains(&word)
}

fn qualifiers(key: &str) -> BTreeSet<&str> {
    key.split(' ')
        .filter(|word| QUALIFIERS.contains(word))
        .collect()
}

/// A company's name without its legal form; `None` when it bears none or consists of nothing else.
pub(super) fn without_legal_form(key: &str) -> Option<&str> {
    LEGAL_FORMS.iter().find_map(|form| {
        let rest = key.strip_suffix(form)?.strip_suffix(' ')?;
        (!rest.is_empty()).then(|| without_legal_form(rest).unwrap_or(rest))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_digit_a_version_or_a_qualifier_keeps_apart() {
        let check = |one: &str, other: &str, expected: bool| {
            assert_eq!(differ(one, other), expected, "{one} / {other}");
            assert_eq!(differ(other, one), expected, "{other} / {one}");
        };
        check("gpt 3", "gpt 4", true);
        check("python 3.11", "python 3.12", true);
        check("henry iv", "henry v", true);
        check("henry ii", "henry iii", true);
        check("iphone 12", "iphone 12 pro", true);
        check("joao silva", "joao silva junior", true);
        check("north korea", "south korea", true);
        check("york", "new york", true);
        check("plan a", "plan b", true);
        check("covid19", "covid 19", false);
        check("joao silva", "j silva", false);
        check("billing api", "billingapi", false);
        check("北京大学", "南京大学", true);
        check("東莞市", "西莞市", true);
        check("市第一人民医院", "市第二人民医院", true);
        check("第一中学", "中学", true);
        check("新大阪站", "大阪站", true);
        check("副总统", "总统", true);
        check("老城区", "新城区", true);
        check("廣東省人民醫院", "广西省人民医院", true);
        check("臺灣大學", "台湾大学", false);
        check("小米", "北京小米科技", false);
        check("一汽", "中国第一汽车", false);
    }

    #[test]
    fn legal_forms_are_no_part_of_a_name() {
        let check = |key: &str, expected: Option<&str>| {
            assert_eq!(without_legal_form(key), expected, "{key}");
        };
        check("northwind ltd", Some("northwind"));
        check("padaria lagoa s a", Some("padaria lagoa"));
        check("northwind gmbh co kg", Some("northwind"));
        check("northwind", None);
        check("company", None);
        check("sa", None);
    }
}
