-- Oldest program that runs on a database with this migration: any.
--
-- A vacuum after insertions freezes no row that is younger than 50 million transactions. So it left the log's pages to the vacuum that
-- prevents wraparound, which wrote all of them again at once. The rows of these tables never change, so each page is frozen by the first
-- vacuum that sees it full. Pages that an earlier vacuum left are frozen once, by the next vacuum of the whole table.
ALTER TABLE log.recorded_events SET (autovacuum_freeze_min_age = 0, toast.autovacuum_freeze_min_age = 0);
ALTER TABLE log.commands SET (
    autovacuum_freeze_min_age = 0, autovacuum_vacuum_insert_scale_factor = 0, autovacuum_vacuum_insert_threshold = 200000);
