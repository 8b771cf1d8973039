-- What other programs found in documents: read like a model's reply about the whole document.
CREATE TABLE imported (
    namespace INTEGER NOT NULL REFERENCES namespace(id),
    document INTEGER NOT NULL REFERENCES document(id),
    -- msgraphrag | lightrag | nano | openie
    format TEXT NOT NULL,
    -- of the document when it was imported: it says nothing about another text
    content_hash BLOB NOT NULL,
    reply TEXT NOT NULL,
    PRIMARY KEY (document, format)
) WITHOUT ROWID;
CREATE INDEX imported_namespace ON imported (namespace);
