use crate::support::Vault;

/// D24: free text is never a query language.
#[test]
fn punctuation_in_a_query_is_just_text() {
    let vault = Vault::new(&[
        (
            "paths.md",
            "Files land in Downloads/transcripts every night.\n",
        ),
        ("agents.md", "Please don't use agents here.\n"),
        ("multi.md", "A multi-agent setup.\n"),
        ("status.md", "The status: done and dusted.\n"),
        ("timeout.md", "It ended with timeout \"error today.\n"),
        ("retry.md", "First retry OR give up.\n"),
        ("near.md", "We live NEAR( the sea.\n"),
        ("ab.md", "The a-b test.\n"),
        ("cpp.md", "Written in C++ mostly.\n"),
    ]);
    vault.index();
    for (query, uri) in [
        ("Downloads/transcripts", "paths.md"),
        ("don't use agents", "agents.md"),
        ("multi-agent", "multi.md"),
        ("status: done", "status.md"),
        ("timeout \"error", "timeout.md"),
        ("retry OR", "retry.md"),
        ("NEAR(", "near.md"),
        ("a-b", "ab.md"),
        ("C++", "cpp.md"),
    ] {
        let ran = vault
            .malha(&["search", "--json", "--mode", "keyword", query])
            .expect(0);
        assert_eq!(
            ran.uris().first().map(String::as_str),
            Some(uri),
            "{query}: {}",
            ran.stdout
        );
    }
    for query in ["*", "", "   ", "\"", "(((", "AND", "^", "col:", "--"] {
        let ran = vault.malha(&["search", "--json", "--", query]).expect(0);
        assert!(ran.json()["results"].is_array(), "{query}");
    }
    for blank in ["", "   "] {
        assert!(
            vault
                .malha(&["search", "--json", blank])
                .expect(0)
                .uris()
                .is_empty()
        );
    }
}

/// D25: parts of words in scripts without spaces; letters with and without marks.
#[test]
fn every_script_is_found_by_its_parts() {
    let vault = Vault::new(&[
        ("zh.md", "今天玩成语接龙游戏\n"),
        ("ja.md", "今日は成語しりとりをした\n"),
        ("ko.md", "오늘 끝말잇기 게임을 했다\n"),
        ("pt.md", "A ação decorre em São João.\n"),
    ]);
    vault.index();
    for (query, uri) in [
        ("成语接龙", "zh.md"),
        ("接龙", "zh.md"),
        ("しりとり", "ja.md"),
        ("끝말잇기", "ko.md"),
        ("ação", "pt.md"),
        ("acao", "pt.md"),
        ("São João", "pt.md"),
        ("sao joao", "pt.md"),
    ] {
        let ran = vault
            .malha(&["search", "--json", "--mode", "keyword", query])
            .expect(0);
        assert_eq!(ran.uris(), [uri], "{query}");
    }
}
