//! Tokens of a text as language models count them.

/// Number of tokens in the vocabulary cl100k, which is near enough to what most models bill: exact
/// for those that use it, within a tenth or two for others. The vocabulary is loaded at first use, in about
/// a tenth of a second.
pub fn count_tokens(text: &str) -> usize {
    tiktoken_rs::cl100k_base_singleton().count_ordinary(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_are_those_of_the_vocabulary() {
        let check = |text, expected| assert_eq!(count_tokens(text), expected, "{text}");
        check("", 0);
        check("hello world", 2);
        check("The lighthouse keeper", 4);
        check("<|endoftext|>", 7);
        check("São João", 4);
    }
}
