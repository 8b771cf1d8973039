//! What was asked, and what the graph was good for.

use rusqlite::{Connection, params};

use crate::Result;
use crate::types::{GateRule, GraphReportRow, LoggedQuery, Timestamp};

/// Questions kept of a namespace.
const MOST_QUERIES: i64 = 20_000;

/// Adds a search to the log, and drops the oldest ones beyond the limit.
pub(crate) fn insert_query(
    connection: &Connection,
    namespace: i64,
    query: &LoggedQuery,
    now: Timestamp,
) -> Result<()> {
    connection
        .prepare_cached(
            "INSERT INTO query (namespace, asked_at, question, mode, class, gate_open, gate_rule, results, search_us)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)",
        )?
        .execute(params![
            namespace,
            now.0,
            query.question,
            query.mode.as_str(),
            query.class.as_str(),
            query.gate.open,
            query.gate.rule.map(GateRule::as_str),
            query.results as i64,
            query.search_us as i64,
        ])?;
    let id = connection.last_insert_rowid();
    if let Some(comparison) = &query.comparison {
        connection
            .prepare_cached(
                "INSERT INTO ab_recall (query, shown, added, entered, by_graph, uris, with_us, without_us)
                 VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)",
            )?
            .execute(params![
                id,
                comparison.shown as i64,
                comparison.added as i64,
                comparison.entered.len() as i64,
                comparison.by_graph as i64,
                serde_json::to_string(&comparison.entered).expect("strings are plain JSON"),
                comparison.with_us as i64,
                comparison.without_us as i64,
            ])?;
    }
    for sql in [
        "DELETE FROM ab_recall WHERE query IN (SELECT id FROM query WHERE namespace = ?1
             ORDER BY id DESC LIMIT -1 OFFSET ?2)",
        "DELETE FROM query WHERE id IN (SELECT id FROM query WHERE namespace = ?1
             ORDER BY id DESC LIMIT -1 OFFSET ?2)",
    ] {
        connection
            .prepare_cached(sql)?
            .execute([namespace, MOST_QUERIES])?;
    }
    Ok(())
}

/// Erases the log of a namespace: a question may quote anything. Returns the number of questions.
pub(crate) fn erase_queries(connection: &Connection, namespace: i64) -> Result<usize> {
    connection.execute(
        "DELETE FROM ab_recall WHERE query IN (SELECT id FROM query WHERE namespace = ?1)",
        [namespace],
    )?;
    Ok(connection.execute("DELETE FROM query WHERE namespace = ?1", [namespace])?)
}

/// One statement that says what the graph was good for since a moment; it runs in `malha sql` as it stands.
pub(crate) fn graph_report_sql(namespace: i64, since: Timestamp) -> String {
    format!(
        "SELECT q.class, coalesce(q.gate_rule, 'open') AS gate, count(*) AS queries, round(avg(a.added), 1) AS added,
       sum(a.entered) AS entered, sum(a.by_graph) AS by_graph,
       round(100.0 * avg(a.by_graph > 0), 1) AS helped, round(avg(q.search_us) / 1000.0, 2) AS search_ms,
       round(avg(a.with_us - a.without_us) / 1000.0, 2) AS graph_ms
FROM query q JOIN ab_recall a ON a.query = q.id
WHERE q.namespace = {namespace} AND q.asked_at >= {}
GROUP BY 1, 2 ORDER BY 1, 2",
        since.0
    )
}

/// The rows of [`graph_report_sql`].
pub(crate) fn graph_report(connection: &Connection, sql: &str) -> Result<Vec<GraphReportRow>> {
    let mut statement = connection.prepare(sql)?;
    let rows = statement.query_map([], |row| {
        Ok(GraphReportRow {
            class: row.get(0)?,
            gate: row.get(1)?,
            queries: row.get::<_, i64>(2)? as usize,
            added: row.get(3)?,
            entered: row.get::<_, i64>(4)? as usize,
            by_graph: row.get::<_, i64>(5)? as usize,
            helped: row.get(6)?,
            search_ms: row.get(7)?,
            graph_ms: row.get(8)?,
        })
    })?;
    Ok(rows.collect::<rusqlite::Result<_>>()?)
}
