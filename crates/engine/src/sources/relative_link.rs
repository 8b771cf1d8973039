/// Splits the address of a link to another file of the same source into target and anchor, both
/// percent-decoded; `None` for web and mail addresses and for links into the same page.
pub(super) fn relative_link(address: &str) -> Option<(String, Option<String>)> {
    let address = address.trim();
    let path_end = address.find(['?', '#']).unwrap_or(address.len());
    let (path, rest) = address.split_at(path_end);
    let has_scheme = path
        .split_once(':')
        .is_some_and(|(scheme, _)| !scheme.contains('/'));
    if path.is_empty() || has_scheme || path.starts_with("//") {
        return None;
    }
    let anchor = rest
        .split_once('#')
        .map(|(_, anchor)| percent_decode(anchor))
        .filter(|anchor| !anchor.is_empty());
    let target = percent_decode(path);
    Some((
        target.strip_suffix(".md").unwrap_or(&target).to_owned(),
        anchor,
    ))
}

/// Decodes `%41`; what is not a valid escape stays as it is.
pub(super) fn percent_decode(text: &str) -> String {
    let bytes = text.as_bytes();
    let mut decoded = Vec::with_capacity(bytes.len());
    let mut at = 0;
    while at < bytes.len() {
        let escaped = (bytes[at] == b'%')
            .then(|| text.get(at + 1..at + 3))
            .flatten()
            .filter(|digits| digits.bytes().all(|digit| digit.is_ascii_hexdigit()))
            .and_then(|digits| u8::from_str_radix(digits, 16).ok());
        decoded.push(escaped.unwrap_or(bytes[at]));
        at += if escaped.is_some() { 3 } else { 1 };
    }
    String::from_utf8(decoded).unwrap_or_else(|_| text.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses() {
        let check = |address: &str, expected: Option<(&str, Option<&str>)>| {
            let found = relative_link(address);
            let found = found
                .as_ref()
                .map(|(target, anchor)| (target.as_str(), anchor.as_deref()));
            assert_eq!(found, expected, "{address}");
        };
        check("a.html", Some(("a.html", None)));
        check(
            " ../b%20c.md#Sec%C3%A7%C3%A3o ",
            Some(("../b c", Some("Secção"))),
        );
        check("a.html?x=1#", Some(("a.html", None)));
        check("a/b:c.html", Some(("a/b:c.html", None)));
        check("100%.html", Some(("100%.html", None)));
        check("a%ff%fe.html", Some(("a%ff%fe.html", None)));
        check("%", Some(("%", None)));
        check("%C", Some(("%C", None)));
        check("%é", Some(("%é", None)));
        check("https://example.org", None);
        check("//example.org/x", None);
        check("mailto:a@b.c", None);
        check("javascript:void(0)", None);
        check("#top", None);
        check("", None);
    }
}
