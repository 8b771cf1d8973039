/// Where something stands, as editors understand it: `uri:line`, or the uri alone for the whole file.
pub(crate) fn place(uri: &str, line: usize) -> String {
    if line == 0 {
        uri.to_owned()
    } else {
        format!("{uri}:{line}")
    }
}
