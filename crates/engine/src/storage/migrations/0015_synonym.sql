-- Vectors of names, for those who let a search step between names that mean almost the same.
CREATE TABLE name_embedding (
    space INTEGER NOT NULL REFERENCES embedding_space(id),
    entity INTEGER NOT NULL REFERENCES entity(id),
    vector BLOB NOT NULL,
    -- whether its synonyms have been looked for
    is_joined INTEGER NOT NULL DEFAULT 0,
    PRIMARY KEY (space, entity)
) WITHOUT ROWID;

-- Names that lie near one another, in both directions.
CREATE TABLE synonym (
    space INTEGER NOT NULL REFERENCES embedding_space(id),
    entity INTEGER NOT NULL REFERENCES entity(id),
    other INTEGER NOT NULL REFERENCES entity(id),
    cosine REAL NOT NULL,
    PRIMARY KEY (space, entity, other)
) WITHOUT ROWID;
