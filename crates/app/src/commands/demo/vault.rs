//! The notes of the demo, embedded in the program. People, places and events are invented.

use std::path::Path;

macro_rules! note {
    ($path:literal) => {
        ($path, include_str!(concat!("vault/", $path)))
    };
}

/// Path in the vault and content of every note.
const NOTES: [(&str, &str); 19] = [
    note!("boats/Grey Heron.md"),
    note!("boats/Maud Tarrant.md"),
    note!("boats/Osric Penhale.md"),
    note!("boats/Salt Wren.md"),
    note!("cidade/Farol da Ponta Rasa.md"),
    note!("cidade/Forno da Ilha de Sarça.md"),
    note!("cidade/Mercado das Redes.md"),
    note!("cidade/Porto Bravio.md"),
    note!("journal/2019-11-23 The storm.md"),
    note!("journal/2024-03-09 Maré baixa.md"),
    note!("observatory/Cinder Hill Observatory.md"),
    note!("observatory/Plate 1911-B.md"),
    note!("pessoas/Belmira Fontoura.md"),
    note!("pessoas/Inácio Quaresma.md"),
    note!("港口/望潮茶馆.md"),
    note!("港口/林砚秋.md"),
    note!("港口/潮信录.md"),
    note!("港口/盐仓巷.md"),
    note!("港口/陶阿满.md"),
];

/// Writes the vault to a folder.
pub(super) fn write_to(folder: &Path) -> std::io::Result<()> {
    for (path, content) in NOTES {
        let path = folder.join(path);
        if let Some(parent) = path.parent() {
            std::fs::create_dir_all(parent)?;
        }
        std::fs::write(path, content)?;
    }
    Ok(())
}
