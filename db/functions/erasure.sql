-- The one change that the log knows: the end of personal members. docs/decisions/0059-personal-members.md

-- Whether the last recorded event of a stream is its erasure, such as UserErased of user-7. The name is that of the category, so that
-- no other type ends a stream.
CREATE OR REPLACE FUNCTION log.is_erased(erased text) RETURNS boolean
LANGUAGE sql VOLATILE SET search_path = pg_catalog, pg_temp SET enable_seqscan = off AS $$
    SELECT coalesce((
        SELECT e.type = upper(left(erased, 1)) || substr(split_part(erased, '-', 1), 2) || 'Erased'
        FROM log.recorded_events AS e WHERE e.stream = erased ORDER BY e.version DESC LIMIT 1
    ), false)
$$;

-- Ends personal members of erased streams, and commands of an erased person: no more rows than the limit of each. Returns their number, 0
-- if nothing is left. The triggers refuse what belongs to a stream without its erasure. Takes no lock that an append waits for.
CREATE OR REPLACE FUNCTION log.erase(streams text[], row_limit integer, person text DEFAULT '')
RETURNS bigint LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, pg_temp SET enable_seqscan = off AS $$
DECLARE
    members bigint;
    owned bigint;
BEGIN
    UPDATE log.recorded_events SET personal = NULL WHERE position = ANY (ARRAY(
        SELECT e.position FROM unnest(streams) AS s (stream)
        CROSS JOIN LATERAL (
            SELECT r.position FROM log.recorded_events AS r WHERE r.stream = s.stream AND r.personal::text <> '{}' LIMIT row_limit
        ) AS e LIMIT row_limit
    )) AND personal::text <> '{}';
    GET DIAGNOSTICS members = ROW_COUNT;
    DELETE FROM log.commands WHERE ctid = ANY (ARRAY(
        SELECT c.ctid FROM log.commands AS c WHERE c.owner = person LIMIT row_limit
    ));
    GET DIAGNOSTICS owned = ROW_COUNT;
    -- The reason is the text of an error.
    UPDATE log.parked_streams SET reason = 'the stream was erased'
    WHERE stream = ANY (streams) AND reason <> 'the stream was erased' AND log.is_erased(stream);
    RETURN members + owned;
END
$$;
