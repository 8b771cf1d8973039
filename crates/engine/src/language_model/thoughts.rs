/// The text without `<think>…</think>` and its like. A block that never ends takes the rest of the text.
pub(crate) fn without_thoughts(text: &str) -> (String, bool) {
    const TAGS: [&str; 4] = ["think", "thinking", "thought", "reasoning"];
    let mut out = text.to_owned();
    let mut had_thoughts = false;
    for tag in TAGS {
        let (open, close) = (format!("<{tag}>"), format!("</{tag}>"));
        // Servers that strip the opening tag leave the closing one.
        if let Some(end) = out.find(&close)
            && out.find(&open).is_none_or(|start| end < start)
        {
            out.replace_range(..end + close.len(), "");
            had_thoughts = true;
        }
        while let Some(start) = out.find(&open) {
            let end = out[start..]
                .find(&close)
                .map_or(out.len(), |end| start + end + close.len());
            out.replace_range(start..end, "");
            had_thoughts = true;
        }
    }
    (out, had_thoughts)
}
