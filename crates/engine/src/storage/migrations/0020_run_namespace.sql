-- Whose a run is: what it read and left out is for nobody else. Of earlier runs it is known where there is one namespace.
ALTER TABLE run ADD COLUMN namespace INTEGER REFERENCES namespace (id);
UPDATE run SET namespace = (SELECT id FROM namespace) WHERE (SELECT count(*) FROM namespace) = 1;
