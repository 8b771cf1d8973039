use crate::support::Vault;

/// D29: a leading rule that is no front matter, and headers that are no YAML.
#[test]
fn a_bad_header_is_text_and_a_warning() {
    let notes = [
        (
            "banner.md",
            "---\n**OLIVEIRA ADVOGADOS**\nRua das Flores\n---\n\nParecer sobre jacarandá.\n",
        ),
        ("unclosed.md", "---\ntitle: x\n\nTexto sobre sapucaia.\n"),
        ("empty.md", "---\n---\n\nTexto sobre embaúba.\n"),
        (
            "bom.md",
            "\u{feff}---\ntitle: Bom\n---\n\nTexto sobre quaresmeira.\n",
        ),
        (
            "crlf.md",
            "---\r\ntitle: Crlf\r\n---\r\n\r\nTexto sobre pitangueira.\r\n",
        ),
        (
            "tab.md",
            "---\ntitle:\n\t- x\n---\n\nTexto sobre jabuticaba.\n",
        ),
        (
            "twice.md",
            "---\ntitle: a\ntitle: b\n---\n\nTexto sobre grumixama.\n",
        ),
    ];
    let vault = Vault::new(&notes);
    let before = vault.files();
    let ran = vault.malha(&["index"]).expect(0);
    assert_eq!(vault.files(), before, "sources are never written to");
    for (word, uri) in [
        ("oliveira", "banner.md"),
        ("jacarandá", "banner.md"),
        ("sapucaia", "unclosed.md"),
        ("embaúba", "empty.md"),
        ("quaresmeira", "bom.md"),
        ("pitangueira", "crlf.md"),
        ("jabuticaba", "tab.md"),
        ("grumixama", "twice.md"),
    ] {
        let found = vault.malha(&["search", "--json", "--mode", "keyword", word]);
        assert_eq!(found.expect(0).uris(), [uri], "{word}");
    }
    for uri in ["banner.md:", "tab.md:", "twice.md:"] {
        assert!(
            ran.stderr.contains(uri),
            "no warning for {uri} in\n{}",
            ran.stderr
        );
    }
}
