-- Oldest program that runs on a database with this migration: that of 0015_guarded_log.sql, for the same reason.
--
-- A session of a pooler has another role than humon_app if the role's settings are missing, as after a restore. So the guard of commands
-- is for every role but the owner and superusers, who have all rights on the table.
CREATE OR REPLACE TRIGGER refuse_unanswered AFTER INSERT ON log.commands REFERENCING NEW TABLE AS added
    FOR EACH STATEMENT WHEN (NOT has_table_privilege('log.commands'::regclass, 'TRUNCATE'))
    EXECUTE FUNCTION log.refuse_unanswered();
ALTER TABLE log.commands ENABLE ALWAYS TRIGGER refuse_unanswered;

-- log.append as before, but an array of ids that begins at another subscript than 1 leaves no gap in the positions.
CREATE OR REPLACE FUNCTION log.append(
    ids uuid[], streams text[], versions integer[], types text[], formats smallint[], times timestamptz[],
    data text[], metadata text[], read_models text[], read_model_versions integer[]
) RETURNS bigint LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, pg_temp SET enable_seqscan = off SET plan_cache_mode = force_generic_plan AS $$
DECLARE
    tail bigint;
    inline text[];
BEGIN
    -- log.lock(), written out.
    PERFORM pg_advisory_xact_lock(x'0068756d6f6e01'::bigint);
    SELECT coalesce(max(position), 0) INTO tail FROM log.recorded_events;
    INSERT INTO log.recorded_events (position, id, stream, version, type, format, recorded_at, data, metadata)
    SELECT tail + 1 - array_lower(ids, 1) + generate_subscripts(ids, 1), unnest(ids), unnest(streams), unnest(versions),
        unnest(types), unnest(formats), unnest(times), unnest(data)::json, unnest(metadata)::json;
    -- First versions cost nothing.
    IF 1 < ANY (versions) THEN
        -- A subquery a row, which no planner turns into a join over the whole log.
        IF EXISTS (
            SELECT FROM unnest(streams, versions) AS e (stream, version)
            WHERE e.version > 1 AND (
                SELECT r.version FROM log.recorded_events AS r WHERE r.stream = e.stream AND r.version = e.version - 1
            ) IS NULL
        ) THEN
            RAISE EXCEPTION 'a version would leave a gap in its stream' USING ERRCODE = 'HU002';
        END IF;
    END IF;
    SELECT i.read_models INTO inline FROM log.inline_read_models AS i ORDER BY i.number DESC LIMIT 1;
    IF inline IS DISTINCT FROM append.read_models THEN
        PERFORM log.change_inline_read_models(
            append.read_models, append.read_model_versions, tail, tail + cardinality(ids));
    END IF;
    RETURN tail + 1;
END
$$;
