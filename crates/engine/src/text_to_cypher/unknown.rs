use crate::text::Language;

/// What is said when the graph does not hold the answer, in the language of the question. No model is asked.
pub fn unknown(language: Language) -> &'static str {
    match language {
        Language::Portuguese => "O grafo não sabe responder a esta pergunta.",
        Language::Spanish => "El grafo no sabe responder a esta pregunta.",
        Language::German => "Der Graph weiß darauf keine Antwort.",
        Language::French => "Le graphe ne connaît pas la réponse à cette question.",
        Language::Chinese => "图中没有这个问题的答案。",
        Language::Japanese => "グラフにはこの質問の答えがありません。",
        Language::Korean => "그래프에는 이 질문의 답이 없습니다.",
        Language::English | Language::Other => "The graph does not know.",
    }
}
