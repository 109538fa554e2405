-- Oldest program that runs on a database with this migration: the one of 0008_inline_read_models, the first that does not use the view
-- log.checkpoints. It goes on inserting into log.commands.

-- A command can also be answered by the version 0 of a stream: it changed nothing, and the stream did not exist. The position is then
-- the log's tail, as in the first response, so that a client that keeps the last position does not go back.
CREATE OR REPLACE FUNCTION log.outcomes(ids uuid[])
RETURNS TABLE (id uuid, fingerprint bytea, "position" bigint, stream text, version integer)
LANGUAGE plpgsql STABLE SET enable_seqscan = off AS $$
BEGIN
    RETURN QUERY SELECT c.id, c.fingerprint, coalesce(r.position, log.tail()), c.stream, c.version
    FROM unnest(ids) AS wanted (id)
    CROSS JOIN LATERAL (SELECT * FROM log.commands AS k WHERE k.id = wanted.id LIMIT 1) AS c
    LEFT JOIN LATERAL (
        SELECT e.position FROM log.recorded_events AS e WHERE e.stream = c.stream AND e.version = c.version LIMIT 1
    ) AS r ON true;
END
$$;

-- The application records events by this function alone, so that it can leave no gap in the positions.
ALTER FUNCTION log.append(
    uuid[], text[], integer[], text[], smallint[], timestamptz[], text[], text[], text[], integer[]
) SECURITY DEFINER SET search_path = pg_catalog, pg_temp;

-- An archive of a log with another command could not be imported. The import, which the owner runs, checks all commands by itself.
-- The function has no settings of its own, which take time: the sessions of the application have them.
CREATE FUNCTION log.refuse_unanswered() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF EXISTS (
        SELECT FROM added WHERE version < 0 OR version > 0 AND (
            SELECT e.version FROM log.recorded_events AS e WHERE e.stream = added.stream AND e.version = added.version
        ) IS NULL
    ) THEN
        RAISE EXCEPTION 'a command needs the recorded event that answers it' USING ERRCODE = 'check_violation';
    END IF;
    RETURN NULL;
END
$$;

CREATE TRIGGER refuse_unanswered AFTER INSERT ON log.commands REFERENCING NEW TABLE AS added
    FOR EACH STATEMENT WHEN (current_user = 'humon_app') EXECUTE FUNCTION log.refuse_unanswered();
ALTER TABLE log.commands ENABLE ALWAYS TRIGGER refuse_unanswered;

-- A role that may only read held the log's lock by a SELECT from this view.
DROP VIEW log.checkpoints;
DROP FUNCTION log.change_checkpoint();
DROP FUNCTION log.held_position(text);

-- Here and not only in db/grants.sql, which comes a moment later: servers append meanwhile, and others must not.
REVOKE EXECUTE ON FUNCTION log.append FROM PUBLIC;
DO $$
BEGIN
    IF EXISTS (SELECT FROM pg_roles WHERE rolname = 'humon_app') THEN
        GRANT EXECUTE ON FUNCTION log.append TO humon_app;
        REVOKE INSERT ON log.recorded_events FROM humon_app;
    END IF;
END
$$;
