-- A vacuum writes the summaries that recorded_events_search lacks. By default PostgreSQL vacuums a table of insertions after it has
-- grown by a fifth, and a search reads all pages without a summary. The interval is a number of rows here, so that a search in a long
-- log stays fast. docs/decisions/0014-search.md
ALTER TABLE log.recorded_events SET (autovacuum_vacuum_insert_scale_factor = 0, autovacuum_vacuum_insert_threshold = 200000);
-- Autovacuum wrote single summaries too. It asks for the same lock as the vacuum and ends it after a second. A vacuum that ends while it
-- writes a summary leaves a placeholder in its place. PostgreSQL 15 then reads all pages behind the placeholder in every search, until
-- REINDEX INDEX CONCURRENTLY log.recorded_events_search.
ALTER INDEX log.recorded_events_search SET (autosummarize = off);
