-- What an operator searches the log by. A BRIN keeps a summary of every 32 pages and costs an append little: pages that are just
-- being filled are summarised later, by autovacuum, and read in any case until then. docs/decisions/0014-search.md
CREATE INDEX recorded_events_search ON log.recorded_events USING brin (
    -- As an expression, so that a stretch of positions can be asked of this index and not of the primary key.
    ((position + 0)) int8_minmax_ops,
    recorded_at timestamptz_minmax_ops,
    -- Their sizes: so many different values in 32 pages. More of them make the summary say "perhaps" more often.
    type text_bloom_ops (n_distinct_per_range = 64),
    split_part(stream, '-', 1) text_bloom_ops (n_distinct_per_range = 64),
    (metadata ->> 'request_id') text_bloom_ops (n_distinct_per_range = 800),
    (metadata ->> 'trace_id') text_bloom_ops (n_distinct_per_range = 800),
    (metadata ->> 'actor') text_bloom_ops (n_distinct_per_range = 800)
) WITH (pages_per_range = 32, autosummarize = on);
