//! The SQL of the article that malha started from ("`GraphRAG` do zero", ../shared/seeds) runs unchanged
//! on our file, in the `sqlite3` shell. The article prints results for a graph that it never lists; the
//! nine edges below, from the README beside it, meet all of them. Skips where there is no shell.

use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use malha_engine::exchange::{TripleOptions, import_triples};
use malha_engine::storage::Store;
use malha_engine::types::{Namespace, Timestamp};

const EDGES: &str = "\
ServicoAutenticacao\tDEPENDE_DE\tModuloPagamento\tServico\tServico
ServicoAutenticacao\tDEPENDE_DE\tStoreSessao\tServico\tServico
ServicoAutenticacao\tDELEGADO_A\tTimeIAM\tServico\tTime
TimeIAM\tADMINISTRA\tServicoAutenticacao
ModuloPagamento\tEXECUTA_EM\tClusterDB\tServico\tInfra
ModuloPagamento\tEXECUTA_EM\tClusterK8sAlpha\tServico\tInfra
StoreSessao\tEXECUTA_EM\tClusterK8sAlpha
ServicoLogs\tEXECUTA_EM\tClusterDB\tServico
ServicoLogs\tEXECUTA_EM\tClusterK8sAlpha
";

/// The statement of the article's `traverse`, with its three places filled in.
fn traverse(seeds: &str, hops: u32, relations: &str) -> String {
    let clause = if relations.is_empty() {
        String::new()
    } else {
        format!("AND UPPER(e.rel) IN ({relations})")
    };
    format!(
        "
    WITH RECURSIVE walk(id, depth) AS (
        SELECT id, 0 FROM nodes WHERE id IN ({seeds})
        UNION
        SELECT CASE WHEN e.src = w.id THEN e.dst ELSE e.src END, w.depth + 1
        FROM walk w
        JOIN edges e ON (e.src = w.id OR e.dst = w.id)
        WHERE w.depth < {hops} {clause}
    )
    SELECT id, MIN(depth) AS depth FROM walk
    GROUP BY id ORDER BY depth, id
    "
    )
}

/// What the shell prints for a statement, line by line; `None` where there is no shell.
fn shell(store: &Path, sql: &str) -> Option<Vec<String>> {
    let mut child = Command::new("sqlite3")
        .args(["-readonly", "-bail"])
        .arg(store)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .ok()?;
    let mut input = child.stdin.take().unwrap();
    writeln!(input, "{sql};").unwrap();
    drop(input);
    let output = child.wait_with_output().unwrap();
    assert!(
        output.status.success(),
        "{sql}: {}",
        String::from_utf8_lossy(&output.stderr)
    );
    let text = String::from_utf8(output.stdout).unwrap();
    Some(text.lines().map(str::to_owned).collect())
}

#[test]
fn k_hop_filter_degrees_and_linking_print_the_articles_results() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("malha.db");
    let facts = folder.path().join("edges.tsv");
    std::fs::write(&facts, EDGES).unwrap();
    let store = Store::create_or_open(&path).unwrap();
    let lease = store.write_lease("test", Duration::ZERO).unwrap();
    let transaction = lease.transaction().unwrap();
    let report = import_triples(
        &transaction,
        &Namespace::default(),
        &facts,
        "import:edges.tsv",
        &TripleOptions::default(),
        Timestamp(0),
    )
    .unwrap();
    transaction.commit().unwrap();
    assert_eq!((report.facts, report.entities_added), (9, 7));
    drop(lease);
    drop(store);

    let Some(auth) = shell(
        &path,
        "SELECT node_id FROM aliases WHERE alias = 'servicoautenticacao'",
    ) else {
        eprintln!("skipped: there is no sqlite3 shell");
        return;
    };
    let seed = format!("'{}'", auth[0]);
    let rows = |sql: &str| shell(&path, sql).unwrap();
    let walk = |hops, relations: &str| {
        rows(&format!(
            "SELECT w.depth || ' ' || n.name || ' ' || n.degree FROM ({}) w
             JOIN nodes n ON n.id = w.id ORDER BY w.depth, n.name",
            traverse(&seed, hops, relations)
        ))
    };
    assert_eq!(
        rows(&traverse(&seed, 0, "")),
        [format!("{}|0", auth[0])],
        "as it stands"
    );
    let two_hops = [
        "0 ServicoAutenticacao 4",
        "1 ModuloPagamento 3",
        "1 StoreSessao 2",
        "1 TimeIAM 2",
        "2 ClusterDB 2",
        "2 ClusterK8sAlpha 3",
    ];
    assert_eq!(walk(2, ""), two_hops);
    assert_eq!(
        rows(&format!(
            "WITH w AS (SELECT id FROM ({})) SELECT count(*) FROM edges
             WHERE src IN (SELECT id FROM w) AND dst IN (SELECT id FROM w)",
            traverse(&seed, 2, "")
        )),
        ["7"]
    );
    let three_hops = walk(3, "");
    assert_eq!(three_hops.len(), 7);
    assert_eq!(three_hops[6], "3 ServicoLogs 2");
    assert_eq!(
        walk(2, "'DEPENDE_DE'"),
        [
            "0 ServicoAutenticacao 4",
            "1 ModuloPagamento 3",
            "1 StoreSessao 2"
        ]
    );
    // The look-ups of the article's entity linking, with the forms its code derives.
    let linked = |sql: &str| {
        rows(&format!(
            "SELECT name FROM nodes WHERE degree > 0 AND id IN ({sql})"
        ))
    };
    assert_eq!(
        linked("SELECT node_id FROM aliases WHERE alias_sq = 'servicoautenticacao'"),
        ["ServicoAutenticacao"]
    );
    assert_eq!(
        linked("SELECT node_id FROM aliases WHERE alias_sq = 'clusterdb'"),
        ["ClusterDB"]
    );
    assert_eq!(
        linked("SELECT node_id FROM aliases WHERE alias = 'modulopagamento'"),
        ["ModuloPagamento"]
    );
    assert_eq!(
        rows("SELECT label, count(*) FROM nodes WHERE degree > 0 GROUP BY label ORDER BY label"),
        ["Infra|2", "Servico|4", "Time|1"]
    );
    for sql in [
        "SELECT community_id, title, summary FROM communities WHERE level = 1",
        "SELECT node_id, community_id, level FROM memberships",
        "SELECT id, text, vector FROM chunks",
        "SELECT source_chunk FROM edges WHERE source_chunk IS NOT NULL",
    ] {
        assert!(rows(sql).is_empty(), "{sql}");
    }
}
