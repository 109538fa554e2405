-- The one change that the log knows: the end of personal members. docs/decisions/0059-personal-members.md

-- Whether the last recorded event of a stream is an erasure of the present transaction, such as UserErased.
CREATE OR REPLACE FUNCTION log.is_erasing(erased text) RETURNS boolean LANGUAGE plpgsql SET enable_seqscan = off AS $$
BEGIN
    RETURN (
        SELECT e.type LIKE '%Erased' AND e.xmin = pg_current_xact_id()::xid
        FROM log.recorded_events AS e WHERE e.stream = erased ORDER BY e.version DESC LIMIT 1
    );
END
$$;

-- Ends the personal members and the commands of streams to which the same transaction appended an erasure.
CREATE OR REPLACE FUNCTION log.erase(streams text[]) RETURNS void LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, pg_temp SET enable_seqscan = off AS $$
BEGIN
    UPDATE log.recorded_events SET personal = NULL WHERE stream = ANY (streams) AND personal IS NOT NULL;
    DELETE FROM log.commands WHERE stream = ANY (streams);
    -- The reason is the text of an error.
    UPDATE log.parked_streams SET reason = 'the stream was erased' WHERE stream = ANY (streams);
END
$$;
