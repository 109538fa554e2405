-- The one way into the log. docs/decisions/0062-one-writer.md
--
-- Sequential scans are off in these functions so that a plan made while the log was empty is right when it is large. Generic plans are
-- right for every size of the log; making them again for every batch was a tenth of its time.

-- Serialises appends among all sessions until the end of the transaction. A table's lock needs a right, which an advisory lock does not.
CREATE OR REPLACE FUNCTION log.lock() RETURNS void LANGUAGE sql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
    LOCK TABLE log.append_lock IN EXCLUSIVE MODE
$$;

-- Records events behind the tail, with the commands that they answer, and ends commands that change nothing. Returns the position of the
-- first event. A unique violation means that an id or a version is taken already, HU002 that a stream has another version than expected,
-- HU003 that a condition does not hold, HU001 that a read model of the caller's is not at the tail.
-- The application has no other right to record events and commands, so it can leave no gap in the positions, and no command without the
-- version that answers it.
--
-- A request hash and an owner belong to the command of the event at their place; NULL for an event that answers none. The unchanged
-- streams have the versions that ended commands found; their commands are kept if they have a request hash. Personal members are NULL for
-- an event without any.
CREATE OR REPLACE FUNCTION log.append(
    ids uuid[], streams text[], versions integer[], types text[], formats smallint[], times timestamptz[],
    data text[], metadata text[], personal text[], read_models text[],
    request_hashes bytea[] DEFAULT '{}', owners text[] DEFAULT '{}',
    ended_ids uuid[] DEFAULT '{}', ended_request_hashes bytea[] DEFAULT '{}', ended_owners text[] DEFAULT '{}',
    unchanged_streams text[] DEFAULT '{}', unchanged_versions integer[] DEFAULT '{}',
    condition_streams text[] DEFAULT '{}', condition_ids uuid[] DEFAULT '{}'
) RETURNS bigint LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, pg_temp SET enable_seqscan = off SET plan_cache_mode = force_generic_plan AS $$
DECLARE
    tail bigint;
    inline text[];
BEGIN
    -- log.lock(), written out.
    LOCK TABLE log.append_lock IN EXCLUSIVE MODE;
    -- Here and below, a subquery a row, which no planner turns into a join over the whole log.
    IF cardinality(condition_streams) > 0 AND EXISTS (
        SELECT FROM unnest(condition_streams, condition_ids) AS c (stream, id) WHERE c.id IS DISTINCT FROM (
            SELECT r.id FROM log.recorded_events AS r WHERE r.stream = c.stream ORDER BY r.version DESC LIMIT 1
        )
    ) THEN
        RAISE EXCEPTION 'a condition of an append does not hold' USING ERRCODE = 'HU003';
    END IF;
    SELECT coalesce(max(position), 0) INTO tail FROM log.recorded_events;
    IF cardinality(unchanged_streams) > 0 THEN
        IF EXISTS (
            SELECT FROM unnest(unchanged_streams, unchanged_versions) AS e (stream, version) WHERE e.version IS DISTINCT FROM coalesce((
                SELECT r.version FROM log.recorded_events AS r WHERE r.stream = e.stream ORDER BY r.version DESC LIMIT 1
            ), 0)
        ) THEN
            RAISE EXCEPTION 'a stream has changed' USING ERRCODE = 'HU002';
        END IF;
        INSERT INTO log.commands (id, request_hash, owner, stream, version)
        SELECT e.* FROM unnest(ended_ids, ended_request_hashes, ended_owners, unchanged_streams, unchanged_versions)
            AS e (id, request_hash)
        WHERE e.request_hash IS NOT NULL;
        -- The log tells the ids of commands with an event apart, an index those of the others. This, and the like below, tell both apart.
        IF EXISTS (
            SELECT FROM unnest(ended_ids, ended_request_hashes) AS e (id, request_hash)
            WHERE e.request_hash IS NOT NULL AND EXISTS (SELECT FROM log.recorded_events AS r WHERE r.id = e.id)
        ) THEN
            RAISE unique_violation USING MESSAGE = 'an event has the id of a command without one';
        END IF;
    END IF;
    IF cardinality(ids) = 0 THEN
        RETURN tail + 1;
    END IF;
    -- unnest in FROM would copy the values of each array to a tuplestore first: 368 instead of 302 µs for 13 events (psql,
    -- 23 November 2026). An array may begin at any subscript.
    INSERT INTO log.recorded_events (position, id, stream, version, type, format, recorded_at, data, metadata, personal)
    SELECT tail + 1 - array_lower(ids, 1) + generate_subscripts(ids, 1), unnest(ids), unnest(streams), unnest(versions),
        unnest(types), unnest(formats), unnest(times), unnest(data)::json, unnest(metadata)::json,
        unnest(array_replace(append.personal, NULL, '{}'))::json;
    -- First versions cost nothing.
    IF 1 < ANY (versions) THEN
        IF EXISTS (
            SELECT FROM unnest(streams, versions) AS e (stream, version)
            WHERE e.version > 1 AND (
                SELECT r.version FROM log.recorded_events AS r WHERE r.stream = e.stream AND r.version = e.version - 1
            ) IS NULL
        ) THEN
            RAISE EXCEPTION 'a version would leave a gap in its stream' USING ERRCODE = 'HU002';
        END IF;
    END IF;
    IF cardinality(request_hashes) > 0 THEN
        IF EXISTS (SELECT FROM log.commands AS c WHERE c.id = ANY (ids)) THEN
            RAISE unique_violation USING MESSAGE = 'a command without an event has the id of one';
        END IF;
        INSERT INTO log.commands (position, request_hash, owner)
        SELECT tail + e.number, e.request_hash, e.owner
        FROM unnest(request_hashes, owners) WITH ORDINALITY AS e (request_hash, owner, number) WHERE e.request_hash IS NOT NULL;
    END IF;
    SELECT i.read_models INTO inline FROM log.inline_read_models AS i ORDER BY i.number DESC LIMIT 1;
    IF inline IS DISTINCT FROM append.read_models THEN
        PERFORM log.change_inline_read_models(append.read_models, tail, tail + cardinality(ids));
    END IF;
    RETURN tail + 1;
END
$$;
