-- A large run writes 40 MB of terms or so for every 10,000 notes: gathered in fewer, larger pieces they are sorted and
-- merged less often.
INSERT INTO chunk_fts (chunk_fts, rank) VALUES ('hashsize', 33554432);
