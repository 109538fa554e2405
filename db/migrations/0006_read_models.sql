-- Read models carry their version in the name of their schema, so that two versions can stand beside each other.
DO $$
DECLARE
    copy record;
BEGIN
    FOR copy IN SELECT schema, version FROM log.checkpoints WHERE to_regnamespace(schema) IS NOT NULL LOOP
        IF copy.schema LIKE '%\_before' OR copy.schema LIKE '%\_rebuild' THEN
            EXECUTE format('DROP SCHEMA %I CASCADE', copy.schema);
            DELETE FROM log.checkpoints WHERE schema = copy.schema;
        ELSE
            EXECUTE format('ALTER SCHEMA %I RENAME TO %I', copy.schema, copy.schema || '_v' || copy.version);
            UPDATE log.checkpoints SET schema = copy.schema || '_v' || copy.version WHERE schema = copy.schema;
        END IF;
    END LOOP;
END
$$;

ALTER TABLE log.checkpoints
    ADD COLUMN built_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    -- When a server last said that it answers from these tables.
    ADD COLUMN served_at timestamptz NOT NULL DEFAULT '-infinity';

-- Copies of read models that somebody fills, to take over or to compare.
CREATE TABLE log.shadows (
    schema text PRIMARY KEY,
    -- Who fills it, and until when that is certain. By this server's clock alone.
    builder uuid NOT NULL,
    leased_until timestamptz NOT NULL,
    began_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    -- Where and when the present builder began, or went on.
    resumed_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    resumed_from bigint NOT NULL DEFAULT 0,
    has_indexes boolean NOT NULL DEFAULT false,
    -- Somebody wants the builder to stop and to drop it.
    is_to_be_aborted boolean NOT NULL DEFAULT false
);
