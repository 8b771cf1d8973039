//! Words that say what kind of thing is meant and not which: "the company", "该公司".

use std::collections::BTreeSet;

use super::type_family::is_type_word;
use crate::text::{fold, squash};

/// Articles and the like before a noun, folded.
const POINTERS: &str = "the this that these those said our its his her their o a os as este esta esse essa aquele aquela \
    nosso nossa seu sua el la los las su nuestro nuestra l le les ce cet cette der die das den dieser diese dieses";

/// Nouns for kinds of things besides the words for types, folded.
const NOUNS: &str = "companhia compania sociedade sociedad societe entreprise unternehmen gesellschaft firma fundacao \
    foundation instituto institute associacao association startup tribunal court comissao commission comite committee \
    ministerio ministry conselho council man woman homem mulher hombre mujer ship navio";

/// The same in Chinese: what may stand before them, and they.
const CHINESE_POINTERS: [&str; 11] = [
    "这家", "这个", "这位", "那家", "那个", "該", "该", "本", "此", "这", "那",
];
const CHINESE_NOUNS: &str = "公司 集团 企业 机构 组织 大学 学校 学院 医院 银行 部门 团队 项目 城市 国家 政府 地区 系统 \
    平台 产品 协会 基金会 委员会 法院 人 人士 男子 女子 书 会 局 院 校 司 社 厂 店 市 县 国 地";
/// Each of them a word of its own.
const WHOLE: &str = "同社 当社 弊社 我社 我司 贵司 本社 당사 동사 본사";

/// Whether a name points at something by its kind; `kinds`: the types of what it is said to name.
pub fn is_descriptor(name: &str, kinds: &BTreeSet<String>) -> bool {
    let folded = fold(name);
    let is_of = |list: &str, word: &str| list.split_whitespace().any(|known| known == word);
    if is_of(WHOLE, &folded) {
        return true;
    }
    let after = CHINESE_POINTERS
        .iter()
        .find_map(|pointer| folded.strip_prefix(pointer));
    if after.is_some_and(|noun| is_of(CHINESE_NOUNS, noun)) {
        return true;
    }
    let mut words = folded.split(|c: char| !c.is_alphanumeric());
    if !words.next().is_some_and(|word| is_of(POINTERS, word)) {
        return false;
    }
    let nouns: Vec<&str> = words.filter(|word| !word.is_empty()).collect();
    let is_noun = |word: &&str| is_of(NOUNS, word) || is_type_word(word);
    let is_kind = || kinds.iter().any(|kind| squash(kind) == nouns.concat());
    !nouns.is_empty() && (nouns.iter().all(is_noun) || is_kind())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_company_is_told_from_the_anvil() {
        let check = |name: &str, expected: bool| {
            let kinds = ["Lighthouse".to_owned()].into();
            assert_eq!(is_descriptor(name, &kinds), expected, "{name}");
        };
        for name in [
            "The Company",
            "the company",
            "This Organization",
            "A Empresa",
            "o projeto",
            "la Compañía",
            "L'Entreprise",
            "Die Firma",
            "The Lighthouse",
            "该公司",
            "本公司",
            "这家银行",
            "此人",
            "同社",
            "当社",
        ] {
            check(name, true);
        }
        for name in [
            "the Anvil",
            "The Times",
            "Company",
            "The Beatles",
            "A Bola",
            "本田",
            "该隐",
            "本·拉登",
            "北京大学",
            "The",
            "",
            "Acme Company",
        ] {
            check(name, false);
        }
    }
}
