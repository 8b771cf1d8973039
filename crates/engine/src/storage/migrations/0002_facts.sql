-- Facts that end one another.

-- The end as its source states it, on a relation that the beginning of another one ended earlier
-- (`superseded_by`): what holds again when that one is taken back.
ALTER TABLE relation ADD COLUMN stated_to INTEGER;
ALTER TABLE relation ADD COLUMN stated_to_written TEXT;
