-- The log: every domain event that was ever recorded, in the order of its commit. Append-only.
CREATE SCHEMA log;

CREATE TABLE log.recorded_events (
    -- Contiguous from 1 and in commit order; see log.append. The primary key makes a writer that bypasses it fail loudly.
    position bigint PRIMARY KEY CHECK (position > 0),
    id uuid NOT NULL CONSTRAINT recorded_events_id UNIQUE,
    stream text COLLATE "C" NOT NULL,
    version integer NOT NULL CHECK (version > 0),
    type text NOT NULL,
    format smallint NOT NULL CHECK (format > 0),
    recorded_at timestamptz NOT NULL,
    -- json, not jsonb: the exact bytes that were written.
    data json NOT NULL,
    metadata json NOT NULL,
    CONSTRAINT recorded_events_stream_version UNIQUE (stream, version)
);

CREATE FUNCTION log.refuse_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION 'log.recorded_events is append-only: % is refused', TG_OP USING ERRCODE = 'insufficient_privilege';
END
$$;

CREATE TRIGGER refuse_change BEFORE UPDATE OR DELETE OR TRUNCATE ON log.recorded_events
    FOR EACH STATEMENT EXECUTE FUNCTION log.refuse_change();
-- ALWAYS: also where session_replication_role would switch ordinary triggers off.
ALTER TABLE log.recorded_events ENABLE ALWAYS TRIGGER refuse_change;

-- How far each copy of a read model has followed the log. A projection keeps its tables in the schema named here.
CREATE TABLE log.checkpoints (
    schema text PRIMARY KEY,
    version integer NOT NULL,
    position bigint NOT NULL
);

-- Serialises appends among all sessions until the end of the transaction: 'humon', as bytes, and 1.
CREATE FUNCTION log.lock() RETURNS void LANGUAGE sql AS $$
    SELECT pg_advisory_xact_lock(x'0068756d6f6e01'::bigint)
$$;

-- The position of the last recorded event; 0 for an empty log.
-- Sequential scans are off in these functions so that a plan made while the log was empty is right when it is large.
CREATE FUNCTION log.tail() RETURNS bigint LANGUAGE plpgsql STABLE SET enable_seqscan = off AS $$
BEGIN
    RETURN (SELECT coalesce(max(position), 0) FROM log.recorded_events);
END
$$;

-- Records events behind the tail and moves the checkpoints of the read models that the caller changes in the same
-- transaction. Answers the position of the first. A unique violation means that an id or a version is taken already,
-- HU002 that the version before is not there.
CREATE FUNCTION log.append(
    ids uuid[], streams text[], versions integer[], types text[], formats smallint[], times timestamptz[],
    data text[], metadata text[], read_models text[], read_model_versions integer[]
) RETURNS bigint LANGUAGE plpgsql SET enable_seqscan = off AS $$
DECLARE
    tail bigint;
    moved integer;
BEGIN
    PERFORM log.lock();
    tail := log.tail();
    INSERT INTO log.recorded_events (position, id, stream, version, type, format, recorded_at, data, metadata)
    SELECT tail + e.ordinal, e.id, e.stream, e.version, e.type, e.format, e.recorded_at, e.data::json, e.metadata::json
    FROM unnest(ids, streams, versions, types, formats, times, data, metadata) WITH ORDINALITY
        AS e (id, stream, version, type, format, recorded_at, data, metadata, ordinal);
    -- A subquery a row, which no planner turns into a join over the whole log; first versions cost nothing.
    IF EXISTS (
        SELECT FROM unnest(streams, versions) AS e (stream, version)
        WHERE e.version > 1 AND (
            SELECT r.version FROM log.recorded_events AS r WHERE r.stream = e.stream AND r.version = e.version - 1
        ) IS NULL
    ) THEN
        RAISE EXCEPTION 'a version would leave a gap in its stream' USING ERRCODE = 'HU002';
    END IF;
    UPDATE log.checkpoints AS c SET position = tail + cardinality(ids)
    FROM unnest(read_models, read_model_versions) AS m (schema, version)
    WHERE c.schema = m.schema AND c.version = m.version AND c.position = tail;
    GET DIAGNOSTICS moved = ROW_COUNT;
    IF moved <> cardinality(read_models) THEN
        RAISE EXCEPTION 'a read model is missing, behind the log, or of another version'
            USING ERRCODE = 'HU001', HINT = 'run: humon projections rebuild';
    END IF;
    RETURN tail + 1;
END
$$;

-- Which of these ids are recorded already, and as what.
CREATE FUNCTION log.recorded(ids uuid[])
RETURNS TABLE (id uuid, "position" bigint, stream text, version integer)
LANGUAGE plpgsql STABLE SET enable_seqscan = off AS $$
BEGIN
    RETURN QUERY SELECT r.id, r.position, r.stream, r.version
    FROM unnest(ids) AS wanted (id)
    CROSS JOIN LATERAL (SELECT * FROM log.recorded_events AS e WHERE e.id = wanted.id LIMIT 1) AS r;
END
$$;

-- The versions that these streams have; no row for a stream that does not exist.
CREATE FUNCTION log.versions(streams text[])
RETURNS TABLE (stream text, version integer)
LANGUAGE plpgsql STABLE SET enable_seqscan = off AS $$
BEGIN
    RETURN QUERY SELECT wanted.stream, r.version
    FROM unnest(streams) AS wanted (stream)
    CROSS JOIN LATERAL (
        SELECT e.version FROM log.recorded_events AS e WHERE e.stream = wanted.stream ORDER BY e.version DESC LIMIT 1
    ) AS r;
END
$$;
