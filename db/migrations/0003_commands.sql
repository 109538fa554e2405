-- Commands whose callers gave them an idempotency key: what a repetition is told by, and answered with. Kept for ever.
CREATE TABLE log.commands (
    -- Derived from the user and their key; also the id of the recorded event, where the command recorded one.
    id uuid PRIMARY KEY,
    -- SHA-256 of the request.
    fingerprint bytea NOT NULL CHECK (length(fingerprint) = 32),
    -- The recorded event that answers it. No foreign key: the log is append-only, and a check would lock its rows.
    stream text COLLATE "C" NOT NULL,
    version integer NOT NULL
);

CREATE TRIGGER refuse_change BEFORE UPDATE OR DELETE OR TRUNCATE ON log.commands
    FOR EACH STATEMENT EXECUTE FUNCTION log.refuse_change();
ALTER TABLE log.commands ENABLE ALWAYS TRIGGER refuse_change;

CREATE OR REPLACE FUNCTION log.refuse_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION '%.% is append-only: % is refused', TG_TABLE_SCHEMA, TG_TABLE_NAME, TG_OP
        USING ERRCODE = 'insufficient_privilege';
END
$$;

-- What became of these commands; no row for one that is not known.
CREATE FUNCTION log.outcomes(ids uuid[])
RETURNS TABLE (id uuid, fingerprint bytea, "position" bigint, stream text, version integer)
LANGUAGE plpgsql STABLE SET enable_seqscan = off AS $$
BEGIN
    RETURN QUERY SELECT c.id, c.fingerprint, r.position, c.stream, c.version
    FROM unnest(ids) AS wanted (id)
    CROSS JOIN LATERAL (SELECT * FROM log.commands AS k WHERE k.id = wanted.id LIMIT 1) AS c
    CROSS JOIN LATERAL (
        SELECT e.position FROM log.recorded_events AS e WHERE e.stream = c.stream AND e.version = c.version LIMIT 1
    ) AS r;
END
$$;
