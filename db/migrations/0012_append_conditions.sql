-- Returns the conditions that do not hold. A condition holds if the last recorded event of the stream has the id.
CREATE FUNCTION log.failing_conditions(streams text[], ids uuid[])
RETURNS TABLE (stream text, id uuid)
LANGUAGE plpgsql VOLATILE SET enable_seqscan = off SET plan_cache_mode = force_generic_plan AS $$
BEGIN
    -- A subquery a row, which no planner turns into a join over the whole log.
    RETURN QUERY SELECT wanted.stream, wanted.id FROM unnest(streams, ids) AS wanted (stream, id)
    WHERE (
        SELECT e.id FROM log.recorded_events AS e WHERE e.stream = wanted.stream ORDER BY e.version DESC LIMIT 1
    ) IS DISTINCT FROM wanted.id;
END
$$;

-- Takes the log's lock, and fails unless all conditions hold.
CREATE FUNCTION log.require(streams text[], ids uuid[]) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    PERFORM log.lock();
    IF EXISTS (SELECT FROM log.failing_conditions(streams, ids)) THEN
        RAISE EXCEPTION 'a stream does not end with the event that an append requires' USING ERRCODE = 'HU003';
    END IF;
END
$$;
