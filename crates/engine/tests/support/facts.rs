//! A store of a few facts.

use malha_engine::exchange::TripleOptions;
use malha_engine::{Engine, EngineConfig};

/// Facts with types, as a file holds them.
pub(crate) const SEED: &str = "\
Ata de maio: a paralisação\tmenciona_projeto\tPonte\tDocumento\tProjeto
Ata de maio: a paralisação\tmenciona_projeto\tTúnel\tDocumento\tProjeto
Orçamento\tmenciona_projeto\tTúnel\tDocumento\tProjeto
Ana\ttrabalha_em\tPonte\tPessoa\tProjeto
Bia\ttrabalha_em\tTúnel\tPessoa\tProjeto
Bia\tnon-compliant\tAna\tPessoa\tPessoa
";

/// A new store that holds the facts of a file, and the folder that it lies in.
pub(crate) fn engine(facts: &str) -> (tempfile::TempDir, Engine) {
    let folder = tempfile::tempdir().unwrap();
    let engine = Engine::create(&folder.path().join("malha.db"), EngineConfig::default()).unwrap();
    let file = folder.path().join("facts.tsv");
    std::fs::write(&file, facts).unwrap();
    engine
        .import_triples(&file, "import:facts", &TripleOptions::default())
        .unwrap();
    (folder, engine)
}
