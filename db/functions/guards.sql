-- The functions of the triggers that guard the append-only tables. The migrations create the triggers.

CREATE OR REPLACE FUNCTION log.refuse_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION '%.% is append-only: % is refused', TG_TABLE_SCHEMA, TG_TABLE_NAME, TG_OP
        USING ERRCODE = 'insufficient_privilege';
END
$$;

-- An archive of a log with another command could not be imported. The import, which the owner runs, checks all commands by itself.
-- The function has no settings of its own, which take time: the sessions of the application have them.
CREATE OR REPLACE FUNCTION log.refuse_unanswered() RETURNS trigger LANGUAGE plpgsql AS $$
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
