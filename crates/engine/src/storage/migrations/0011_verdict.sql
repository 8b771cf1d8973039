-- What people say of facts that a model stated: precision is reckoned from it.
CREATE TABLE verdict (
    namespace INTEGER NOT NULL REFERENCES namespace(id),
    -- keyed hash of the fact, as in `tombstone`
    hash BLOB NOT NULL,
    -- name of the relation's type
    type TEXT NOT NULL,
    is_right INTEGER NOT NULL,
    at INTEGER NOT NULL,
    PRIMARY KEY (namespace, hash)
) WITHOUT ROWID;
