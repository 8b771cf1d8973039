-- Of which document a part of a shared reply is, so that forgetting one document leaves the replies about others, and
-- how many parts were asked for. 0: an older version of this program did not note it, and the part does not count.
ALTER TABLE llm_part ADD COLUMN document TEXT;
ALTER TABLE llm_part ADD COLUMN parts INTEGER NOT NULL DEFAULT 0;
CREATE INDEX llm_part_call ON llm_part (call);
