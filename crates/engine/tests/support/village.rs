//! Four notes about a kiln and a mill, for tests of answers.

use malha_engine::{DocumentInput, Engine, EngineConfig};

pub(crate) fn document(uri: &str, title: &str, text: &str) -> DocumentInput {
    DocumentInput {
        uri: uri.to_owned(),
        title: title.to_owned(),
        text: text.to_owned(),
    }
}

pub(crate) const KILN: &str =
    "The red kiln was built by [[Ana Prado]] in 1911. It burns wood {x} from the northern forest.";

const MILL: &str =
    "The old mill stands by the river. [[Bento Sá]] repaired its wheel after the flood.";

pub(crate) fn village() -> Engine {
    let engine = Engine::in_memory(EngineConfig::default()).unwrap();
    engine
        .index_documents("notes", &notes_with(MILL), &())
        .unwrap();
    engine
}

/// The notes of the village, with this one about the mill.
pub(crate) fn notes_with(mill: &str) -> [DocumentInput; 4] {
    [
        document("kiln.md", "Kiln", KILN),
        document(
            "ana.md",
            "Ana Prado",
            "Ana Prado taught pottery in Lisbon. She sold the [[Kiln]] to the village council.",
        ),
        document("mill.md", "Mill", mill),
        document(
            "bento.md",
            "Bento Sá",
            "Bento Sá runs the [[Mill]] with two apprentices.",
        ),
    ]
}
