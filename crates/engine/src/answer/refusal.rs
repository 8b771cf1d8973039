use crate::text::Language;

/// What is said when the store holds no evidence, in the language of the question. Fixed texts: no model is asked.
pub fn refusal(language: Language, suggestions: &[String]) -> String {
    let (sentence, nearest) = match language {
        Language::Portuguese => (
            "Não encontrei nos documentos nada que responda a esta pergunta.",
            "O mais próximo:",
        ),
        Language::Spanish => (
            "No encontré en los documentos nada que responda a esta pregunta.",
            "Lo más cercano:",
        ),
        Language::German => (
            "In den Dokumenten steht nichts, was diese Frage beantwortet.",
            "Am nächsten kommt:",
        ),
        Language::French => (
            "Je n'ai rien trouvé dans les documents qui réponde à cette question.",
            "Le plus proche :",
        ),
        Language::Chinese => ("文档中没有找到能回答这个问题的内容。", "最接近的："),
        Language::Japanese => (
            "この質問に答える内容は文書にありませんでした。",
            "最も近いもの：",
        ),
        Language::Korean => (
            "이 질문에 답하는 내용을 문서에서 찾지 못했습니다.",
            "가장 가까운 것:",
        ),
        _ => (
            "I found nothing in the documents that answers this question.",
            "Nearest:",
        ),
    };
    if suggestions.is_empty() {
        return sentence.to_owned();
    }
    format!("{sentence} {nearest} {}", suggestions.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_speaks_the_questions_language() {
        let check = |language, expected: &str| {
            assert!(refusal(language, &[]).contains(expected));
        };
        check(Language::English, "nothing in the documents");
        check(Language::Portuguese, "Não encontrei");
        check(Language::Chinese, "没有找到");
        let near = refusal(Language::English, &["Kiln".to_owned(), "Oven".to_owned()]);
        assert!(near.ends_with("Nearest: Kiln, Oven"));
    }
}
