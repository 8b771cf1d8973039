-- Claims: what is said of an entity, and whether it is true, false or suspected. Two times, as relations have.
CREATE TABLE claim (
    id INTEGER PRIMARY KEY,
    namespace INTEGER NOT NULL REFERENCES namespace(id),
    -- over subject, object, type, status, description, dates and origin: versions of one claim share it
    public_id TEXT NOT NULL,
    subject INTEGER NOT NULL REFERENCES entity(id),
    object INTEGER REFERENCES entity(id),
    type TEXT NOT NULL,
    -- true | false | suspected
    status TEXT NOT NULL,
    description TEXT NOT NULL,
    confidence REAL NOT NULL DEFAULT 1.0,
    valid_from INTEGER,
    valid_from_written TEXT,
    valid_to INTEGER,
    valid_to_written TEXT,
    recorded_at INTEGER NOT NULL,
    retracted_at INTEGER,
    observed_at INTEGER,
    -- stated | llm
    origin TEXT NOT NULL
);
CREATE UNIQUE INDEX claim_current ON claim (namespace, public_id) WHERE retracted_at IS NULL;
CREATE INDEX claim_subject ON claim (subject);
CREATE INDEX claim_object ON claim (object) WHERE object IS NOT NULL;

-- No claim without evidence.
CREATE TABLE claim_evidence (
    claim INTEGER NOT NULL REFERENCES claim(id),
    document INTEGER NOT NULL REFERENCES document(id),
    -- bytes in the document's text
    start INTEGER NOT NULL,
    end INTEGER NOT NULL,
    chunk INTEGER REFERENCES chunk(id),
    quote TEXT NOT NULL,
    retracted_at INTEGER,
    PRIMARY KEY (claim, document, start)
) WITHOUT ROWID;
CREATE INDEX claim_evidence_document ON claim_evidence (document);

-- The claims that an operation took back.
CREATE TABLE operation_claim (
    operation INTEGER NOT NULL REFERENCES operation(id),
    claim INTEGER NOT NULL REFERENCES claim(id),
    PRIMARY KEY (operation, claim)
) WITHOUT ROWID;
