//! Sentences that a model writes, checked one by one as they come.

use super::Engine;
use crate::Result;
use crate::answer::{
    Draft, drafts, is_no_evidence, is_supported, narrowed, numbers_stand, settled,
};
use crate::language_model::without_thoughts;
use crate::text::{Language, detect_language};
use crate::types::{AnswerSentence, Citation};

/// Sentences of a reply, each with the quotes that it rests on.
pub(super) struct Checker<'a> {
    engine: &'a Engine,
    offered: &'a [Citation],
    language: Language,
    heard: Vec<Draft>,
    pub sentences: Vec<AnswerSentence>,
    pub citations: Vec<Citation>,
    /// Markers that point to nothing.
    pub unknown: usize,
    /// The model says that the evidence answers nothing.
    pub found_nothing: bool,
    /// Vectors could not tell of one sentence; the others do not wait for them again.
    without_vectors: bool,
}

impl<'a> Checker<'a> {
    pub(super) fn new(engine: &'a Engine, offered: &'a [Citation], question: &str) -> Self {
        Self {
            engine,
            offered,
            language: detect_language(question),
            heard: Vec::new(),
            sentences: Vec::new(),
            citations: Vec::new(),
            unknown: 0,
            found_nothing: false,
            without_vectors: false,
        }
    }

    /// Takes in all of the reply so far; `is_whole` when nothing follows.
    pub(super) fn hear(
        &mut self,
        reply: &str,
        is_whole: bool,
        on_sentence: &mut dyn FnMut(&AnswerSentence),
    ) -> Result<()> {
        let (answer, _) = without_thoughts(reply);
        if is_no_evidence(&answer) {
            self.found_nothing = true;
            return Ok(());
        }
        let mut found = drafts(&answer);
        if !is_whole {
            found.truncate(settled(&found));
        }
        // A thought whose end came without its beginning: what was heard so far was no answer.
        if !found.starts_with(&self.heard) && (is_whole || found.len() >= self.heard.len()) {
            self.heard.clear();
            self.sentences.clear();
            self.citations.clear();
            self.unknown = 0;
        }
        for draft in found.into_iter().skip(self.heard.len()) {
            let sentence = self.check(&draft)?;
            on_sentence(&sentence);
            self.sentences.push(sentence);
            self.heard.push(draft);
        }
        Ok(())
    }

    fn is_alike(&mut self, sentence: &str, quotes: &str) -> Result<bool> {
        if self.without_vectors {
            return Ok(false);
        }
        let told = self.engine.is_alike(sentence, quotes)?;
        self.without_vectors = told.is_none();
        Ok(told == Some(true))
    }

    /// Resolves the markers of a sentence. One without any gets the evidence that supports it, if there is one.
    fn check(&mut self, draft: &Draft) -> Result<AnswerSentence> {
        let mut cited: Vec<&Citation> = Vec::new();
        for &marker in &draft.markers {
            match marker.checked_sub(1).and_then(|at| self.offered.get(at)) {
                Some(citation) => cited.push(citation),
                None => self.unknown += 1,
            }
        }
        if cited.is_empty() {
            let supports =
                |citation: &&Citation| is_supported(&draft.text, &citation.quote, self.language);
            cited.extend(self.offered.iter().find(supports));
        }
        let mut stands = true;
        let mut markers = Vec::new();
        for citation in &cited {
            let narrow = narrow(citation, &draft.text, self.language);
            stands &= self.engine.stands(&narrow)?;
            let at = self.citations.iter().position(|known| *known == narrow);
            let at = at.unwrap_or_else(|| {
                self.citations.push(narrow);
                self.citations.len() - 1
            });
            if !markers.contains(&(at + 1)) {
                markers.push(at + 1);
            }
        }
        let together = cited
            .iter()
            .map(|one| one.quote.as_str())
            .collect::<Vec<_>>()
            .join("\n");
        let is_supported = !cited.is_empty()
            && stands
            && (is_supported(&draft.text, &together, self.language)
                || (numbers_stand(&draft.text, &together)
                    && self.is_alike(&draft.text, &together)?));
        Ok(AnswerSentence {
            is_supported,
            text: draft.text.clone(),
            markers,
            rows: Vec::new(),
        })
    }
}

/// The sentence of a quote that a sentence rests on.
fn narrow(citation: &Citation, sentence: &str, language: Language) -> Citation {
    let range = narrowed(sentence, &citation.quote, language);
    let lines_before = citation.quote[..range.start]
        .bytes()
        .filter(|&byte| byte == b'\n')
        .count();
    Citation {
        line: citation.line + lines_before,
        start: citation.start + range.start,
        end: citation.start + range.end,
        quote: citation.quote[range].to_owned(),
        ..citation.clone()
    }
}
