-- Line of the file that states an imported fact, from 1. Facts that were imported before have none until their file is
-- imported again.
ALTER TABLE evidence ADD COLUMN line INTEGER;
