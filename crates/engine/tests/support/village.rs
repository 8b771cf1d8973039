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

pub(crate) fn village() -> Engine {
    let engine = Engine::in_memory(EngineConfig::default()).unwrap();
    let documents = [
        document("kiln.md", "Kiln", KILN),
        document(
            "ana.md",
            "Ana Prado",
            "Ana Prado taught pottery in Lisbon. She sold the [[Kiln]] to the village council.",
        ),
        document(
            "mill.md",
            "Mill",
            "The old mill stands by the river. [[Bento Sá]] repaired its wheel after the flood.",
        ),
        document(
            "bento.md",
            "Bento Sá",
            "Bento Sá runs the [[Mill]] with two apprentices.",
        ),
    ];
    engine.index_documents("notes", &documents, &()).unwrap();
    engine
}
