-- The generation of the store that the communities of a namespace were found in.
CREATE TABLE community_state (
    namespace INTEGER PRIMARY KEY REFERENCES namespace(id),
    generation INTEGER NOT NULL
);
-- Stands for what is around the entity: tells which entities a later run has to look at.
ALTER TABLE membership ADD COLUMN signature INTEGER NOT NULL DEFAULT 0;
CREATE INDEX membership_community ON membership (community, level);
CREATE INDEX community_namespace ON community (namespace, level);
