-- Names that may mean one thing, and what was decided about them.

CREATE TABLE merge (
    id INTEGER PRIMARY KEY,
    namespace INTEGER NOT NULL REFERENCES namespace(id),
    -- keys of both names, the smaller one first
    low TEXT NOT NULL,
    high TEXT NOT NULL,
    -- as they are shown: the first goes into the other
    one TEXT NOT NULL,
    other TEXT NOT NULL,
    rule TEXT NOT NULL,
    -- merged | proposed | apart; derived by every run
    status TEXT NOT NULL,
    -- 1: one thing, 0: two; NULL: nobody knows
    is_same INTEGER,
    -- user | model
    decided_by TEXT,
    decided_at INTEGER,
    UNIQUE (namespace, low, high)
);
