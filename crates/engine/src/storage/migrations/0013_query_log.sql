-- What was asked, and what the graph was good for: kept on this machine only, erased by forgetting.
CREATE TABLE query (
    id INTEGER PRIMARY KEY,
    namespace INTEGER NOT NULL REFERENCES namespace(id),
    asked_at INTEGER NOT NULL,
    question TEXT NOT NULL,
    mode TEXT NOT NULL,
    -- topic | name | relation | point
    class TEXT NOT NULL,
    gate_open INTEGER NOT NULL,
    -- the rule that closed the gate
    gate_rule TEXT,
    results INTEGER NOT NULL,
    search_us INTEGER NOT NULL
);
CREATE INDEX query_of_namespace ON query (namespace, asked_at);

-- The same question asked with the graph (gate held open) and without it. Counts are of documents.
CREATE TABLE ab_recall (
    query INTEGER PRIMARY KEY REFERENCES query(id),
    -- results shown
    shown INTEGER NOT NULL,
    -- candidates that only the graph brought
    added INTEGER NOT NULL,
    -- among the shown ones, but not without the graph
    entered INTEGER NOT NULL,
    -- of these, the ones that were no candidates at all without it
    by_graph INTEGER NOT NULL,
    -- uris of those that entered, as JSON
    uris TEXT NOT NULL,
    with_us INTEGER NOT NULL,
    without_us INTEGER NOT NULL
);
