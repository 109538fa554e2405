-- What the log has.

-- The position of the last recorded event; 0 for an empty log.
CREATE OR REPLACE FUNCTION log.tail() RETURNS bigint LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp AS $$
    SELECT coalesce(max(position), 0) FROM log.recorded_events
$$;

-- What became of these commands; no row for one that is not known. A command can also be answered by the version 0 of a stream: it
-- changed nothing, and the stream did not exist. The position is then the log's tail, as in the first response, so that a client that
-- keeps the last position does not go back. Sequential scans are off so that a plan made while the log was empty is right when it is large.
CREATE OR REPLACE FUNCTION log.idempotency_records(ids uuid[])
RETURNS TABLE (id uuid, request_hash bytea, "position" bigint, stream text, version integer)
LANGUAGE plpgsql STABLE SET search_path = pg_catalog, pg_temp SET enable_seqscan = off AS $$
BEGIN
    -- Each LIMIT keeps the planner from a join over the whole log.
    RETURN QUERY SELECT wanted.id, c.request_hash, e.position, e.stream, e.version
    FROM unnest(ids) AS wanted (id)
    CROSS JOIN LATERAL (SELECT * FROM log.recorded_events AS r WHERE r.id = wanted.id LIMIT 1) AS e
    CROSS JOIN LATERAL (SELECT * FROM log.commands AS k WHERE k.position = e.position LIMIT 1) AS c;
    RETURN QUERY SELECT c.id, c.request_hash, coalesce(e.position, log.tail()), c.stream, c.version
    FROM unnest(ids) AS wanted (id)
    CROSS JOIN LATERAL (SELECT * FROM log.commands AS k WHERE k.id = wanted.id LIMIT 1) AS c
    LEFT JOIN LATERAL (
        SELECT r.position FROM log.recorded_events AS r WHERE r.stream = c.stream AND r.version = c.version LIMIT 1
    ) AS e ON true;
END
$$;
