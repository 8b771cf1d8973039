/// The file's name without its folder and extension: the title of a document that has no other.
pub(super) fn file_stem(uri: &str) -> &str {
    let name = uri.rsplit('/').next().unwrap_or(uri);
    match name.rsplit_once('.') {
        Some((stem, _)) if !stem.is_empty() => stem,
        _ => name,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stem() {
        let check = |uri, expected| assert_eq!(file_stem(uri), expected);
        check("a/b.md", "b");
        check("Ação.final.txt", "Ação.final");
        check("README", "README");
        check("a.b/.md", ".md");
        check("", "");
    }
}
